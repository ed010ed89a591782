//! Output files: a file appears under its name when it is complete.

use std::fs::{File, Permissions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tempfile::NamedTempFile;

use crate::io::format::Compression;
use crate::{Error, Result};

/// The first system error, stored because encoders wrap it.
pub(super) type FirstError = Arc<Mutex<Option<io::Error>>>;

#[derive(Debug)]
pub(super) struct Destination {
    target: Target,
    first_error: FirstError,
}

#[derive(Debug)]
enum Target {
    /// A temporary file in the same folder, renamed when it is complete.
    Atomic {
        file: NamedTempFile,
        path: PathBuf,
    },
    /// A pipe or a device.
    Direct(File),
    Stdout(io::Stdout),
}

impl Destination {
    pub(super) fn open(path: &Path, first_error: FirstError) -> Result<Self> {
        let target =
            if path.as_os_str() == "-" { Target::Stdout(io::stdout()) } else { open(path)? };
        Ok(Self { target, first_error })
    }

    /// Renames the file to its name.
    fn commit(mut self) -> io::Result<()> {
        self.flush()?;
        match self.target {
            Target::Atomic { file, path } => {
                // A file under its name is complete, also after a power failure.
                file.as_file().sync_all()?;
                file.persist(&path).map_err(|error| error.error)?;
                sync_folder(folder_of(&path));
                Ok(())
            }
            Target::Direct(_) | Target::Stdout(_) => Ok(()),
        }
    }

    fn record<T>(&self, result: io::Result<T>) -> io::Result<T> {
        if let Err(error) = &result
            && error.kind() != io::ErrorKind::Interrupted
        {
            let copy = match error.raw_os_error() {
                Some(code) => io::Error::from_raw_os_error(code),
                None => io::Error::new(error.kind(), error.to_string()),
            };
            let mut first =
                self.first_error.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            first.get_or_insert(copy);
        }
        result
    }
}

fn open(path: &Path) -> Result<Target> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::Io { doing: "write", path, source }
    };
    // A link stays a link: the file that it points to is replaced.
    let path = path.canonicalize().unwrap_or_else(|_| match path.read_link() {
        Ok(to) => folder_of(path).join(to),
        Err(_) => path.to_owned(),
    });
    let old = std::fs::metadata(&path).ok();
    if let Some(old) = &old
        && !old.is_file()
    {
        let file = File::options().write(true).open(&path).map_err(failed(&path))?;
        return Ok(Target::Direct(file));
    }
    let folder = folder_of(&path);
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    if let Some(permissions) = old.map(|old| old.permissions()).or_else(default_permissions) {
        builder.permissions(permissions);
    }
    remove_abandoned(folder);
    let file = builder.tempfile_in(folder).map_err(|error| {
        // Do not name the temporary file.
        let kind = error.kind();
        match kind {
            io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => failed(&path)(kind.into()),
            _ => failed(&path)(error),
        }
    })?;
    // Held until the process ends, to mark that the file is not abandoned. Some file systems have no locks.
    let _ = file.as_file().try_lock();
    Ok(Target::Atomic { file, path })
}

const PREFIX: &str = ".windlass-";
const SUFFIX: &str = ".tmp";

/// Removes temporary files of killed processes: not locked, and not modified for a while.
fn remove_abandoned(folder: &Path) {
    const WHILE: Duration = Duration::from_mins(10);
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_own =
            name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        // Of the entry itself, not of what a link points to.
        let Some(metadata) = entry.metadata().ok().filter(|file| is_own && file.is_file()) else {
            continue;
        };
        let age = metadata.modified().ok().and_then(|time| time.elapsed().ok());
        if age.is_some_and(|age| age > WHILE)
            && let Ok(file) = File::options().write(true).open(entry.path())
            && file.try_lock().is_ok()
        {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// Syncs a folder, so that a new name survives a power failure, if the system supports it.
#[cfg(unix)]
fn sync_folder(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) {}

/// Whether two paths are links to the same file.
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

/// Returns an error if the folder of a path does not exist.
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

/// Permissions of a new file, before the process's umask.
#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "other systems have none")]
fn default_permissions() -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(0o666))
}

#[cfg(not(unix))]
fn default_permissions() -> Option<Permissions> {
    None
}

impl Write for Destination {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        let written = match &mut self.target {
            Target::Atomic { file, .. } => file.as_file_mut().write(buffer),
            Target::Direct(file) => file.write(buffer),
            Target::Stdout(out) => out.write(buffer),
        };
        self.record(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = match &mut self.target {
            Target::Atomic { file, .. } => file.as_file_mut().flush(),
            Target::Direct(file) => file.flush(),
            Target::Stdout(out) => out.flush(),
        };
        self.record(flushed)
    }
}

/// A buffered, possibly compressed destination.
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
