//! Where output goes: a file that appears when it is complete, or a pipe.

use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tempfile::NamedTempFile;

use crate::format::Compression;
use crate::{Error, Result};

/// The first fault of a destination, kept because encoders wrap it beyond recognition.
pub(super) type Fault = Arc<Mutex<Option<io::Error>>>;

/// A place to write to.
#[derive(Debug)]
pub(super) struct Destination {
    place: Place,
    fault: Fault,
}

#[derive(Debug)]
enum Place {
    /// Written beside its name, then renamed.
    Beside {
        file: NamedTempFile,
        path: PathBuf,
    },
    /// A pipe or a device, which has no name to appear under.
    Direct(File),
    Stdout(io::Stdout),
}

impl Destination {
    pub(super) fn open(path: &Path, fault: Fault) -> Result<Self> {
        let place = if path.as_os_str() == "-" { Place::Stdout(io::stdout()) } else { open(path)? };
        Ok(Self { place, fault })
    }

    /// Makes the output appear under its name.
    fn commit(mut self) -> io::Result<()> {
        self.flush()?;
        match self.place {
            Place::Beside { file, path } => {
                file.persist(path).map(drop).map_err(|error| error.error)
            }
            Place::Direct(_) | Place::Stdout(_) => Ok(()),
        }
    }

    fn note<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result
            && error.kind() != io::ErrorKind::Interrupted
        {
            let copy = match error.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io::Error::new(error.kind(), error.to_string()),
            };
            let mut fault = self.fault.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            fault.get_or_insert(copy);
        }
        result
    }
}

fn open(path: &Path) -> Result<Place> {
    let fault = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::Io { doing: "write", path, source }
    };
    // A link stays a link: what it points to is replaced.
    let path = path.canonicalize().unwrap_or_else(|_| match path.read_link() {
        Ok(to) => folder_of(path).join(to),
        Err(_) => path.to_owned(),
    });
    let old = std::fs::metadata(&path).ok();
    if let Some(old) = &old
        && !old.is_file()
    {
        let file = File::options().write(true).open(&path).map_err(fault(&path))?;
        return Ok(Place::Direct(file));
    }
    let folder = folder_of(&path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(".windlass-").suffix(".tmp");
    if let Some(permissions) = old.map(|old| old.permissions()).or_else(usual_permissions) {
        builder.permissions(permissions);
    }
    let file = builder.tempfile_in(folder).map_err(|error| {
        // The fault names a temporary file that nobody asked for.
        let kind = error.kind();
        match kind {
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => fault(&path)(kind.into()),
            _ => fault(&path)(error),
        }
    })?;
    Ok(Place::Beside { file, path })
}

/// Whether two paths are links to one file.
#[cfg(unix)]
pub(super) fn same_inode(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |path: &Path| std::fs::metadata(path).map(|file| (file.dev(), file.ino())).ok();
    place(a).is_some() && place(a) == place(b)
}

#[cfg(not(unix))]
pub(super) fn same_inode(_: &Path, _: &Path) -> bool {
    false
}

/// Refuses a folder that does not exist.
pub(super) fn check_folder(path: &Path) -> Result<()> {
    let folder = folder_of(path);
    if folder.is_dir() {
        return Ok(());
    }
    Err(Error::NoFolder { folder: folder.to_owned(), path: path.to_owned() })
}

pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// What a new file may have; the process's mask takes its part.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have none")]
fn usual_permissions() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn usual_permissions() -> Option<Permissions> {
    None
}

impl Write for Destination {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = match &mut self.place {
            Place::Beside { file, .. } => file.as_file_mut().write(buffer),
            Place::Direct(file) => file.write(buffer),
            Place::Stdout(out) => out.write(buffer),
        };
        self.note(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = match &mut self.place {
            Place::Beside { file, .. } => file.as_file_mut().flush(),
            Place::Direct(file) => file.flush(),
            Place::Stdout(out) => out.flush(),
        };
        self.note(flushed)
    }
}

/// A destination behind a buffer and, perhaps, a compressor.
pub(super) enum Stream {
    Plain(BufWriter<Destination>),
    Gzip(flate2::write::GzEncoder<BufWriter<Destination>>),
    Zstd(zstd::Encoder<'static, BufWriter<Destination>>),
}

impl Stream {
    pub(super) fn new(destination: Destination, compression: Compression) -> io::Result<Self> {
        let buffered = BufWriter::with_capacity(1 << 16, destination);
        Ok(match compression {
            Compression::None => Self::Plain(buffered),
            Compression::Gzip => {
                Self::Gzip(flate2::write::GzEncoder::new(buffered, flate2::Compression::default()))
            }
            Compression::Zstd => Self::Zstd(zstd::Encoder::new(buffered, 0)?),
        })
    }

    pub(super) fn commit(self) -> io::Result<()> {
        let buffered = match self {
            Self::Plain(buffered) => buffered,
            Self::Gzip(encoder) => encoder.finish()?,
            Self::Zstd(encoder) => encoder.finish()?,
        };
        buffered.into_inner().map_err(io::IntoInnerError::into_error)?.commit()
    }
}

impl Write for Stream {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(buffer),
            Self::Gzip(stream) => stream.write(buffer),
            Self::Zstd(stream) => stream.write(buffer),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Gzip(stream) => stream.flush(),
            Self::Zstd(stream) => stream.flush(),
        }
    }
}
