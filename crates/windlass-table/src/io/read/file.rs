//! Input files, which are read several times and from several threads.

use std::fs::{File, Metadata};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::io::format::Compression;
use crate::{Error, Result};

/// A file, or a temporary copy of a pipe.
#[derive(Debug, Clone)]
pub(crate) struct Input {
    pub(crate) path: PathBuf,
    /// The temporary copy of a pipe, or of a compressed file that needs random access.
    spool: Option<Arc<File>>,
    /// Modification time and length when the file was first opened, to detect changes.
    state: Option<(Option<SystemTime>, u64)>,
}

fn state_of(metadata: &Metadata) -> (Option<SystemTime>, u64) {
    (metadata.modified().ok(), metadata.len())
}

impl Input {
    /// A file is opened when it is read. A pipe is copied now, because it cannot be read twice.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let metadata = std::fs::metadata(path).map_err(Error::io("read", path))?;
        let spool = if metadata.is_file() {
            None
        } else {
            let mut pipe = File::open(path).map_err(Error::io("read", path))?;
            Some(spool(&mut pipe, path)?)
        };
        let state = spool.is_none().then(|| state_of(&metadata));
        Ok(Self { path: path.to_owned(), spool, state })
    }

    /// A copy of standard input.
    pub(crate) fn stdin() -> Result<Self> {
        let path = PathBuf::from("<stdin>");
        let spool = Some(spool(&mut io::stdin().lock(), &path)?);
        Ok(Self { path, spool, state: None })
    }

    /// A decompressed copy.
    pub(crate) fn decompressed(&self, compression: Compression) -> Result<Self> {
        let spool = Some(spool(&mut self.reader(compression)?, &self.path)?);
        Ok(Self { path: self.path.clone(), spool, state: None })
    }

    /// The same input with other content.
    pub(crate) fn with_text(&self, mut text: &[u8]) -> Result<Self> {
        let spool = Some(spool(&mut text, &self.path)?);
        Ok(Self { path: self.path.clone(), spool, state: None })
    }

    pub(crate) fn cursor(&self) -> Result<FileCursor> {
        let file = match &self.spool {
            Some(file) => Arc::clone(file),
            None => Arc::new(File::open(&self.path).map_err(Error::io("read", &self.path))?),
        };
        let metadata = file.metadata().map_err(Error::io("read", &self.path))?;
        if self.state.is_some_and(|state| state != state_of(&metadata)) {
            return Err(Error::Changed { path: self.path.clone() });
        }
        let length = metadata.len();
        Ok(FileCursor { file, length, position: 0 })
    }

    /// A reader of the decompressed bytes.
    pub(crate) fn reader(&self, compression: Compression) -> Result<Box<dyn Read + Send>> {
        let file = self.cursor()?;
        Ok(match compression {
            Compression::None => Box::new(file),
            Compression::Gzip => {
                Box::new(flate2::bufread::MultiGzDecoder::new(BufReader::new(file)))
            }
            Compression::Zstd => {
                Box::new(zstd::Decoder::new(file).map_err(|error| read_error(&self.path, error))?)
            }
        })
    }

    /// Up to 8 bytes from the start.
    pub(crate) fn first_bytes(&self, compression: Compression) -> Result<Vec<u8>> {
        let mut first = vec![];
        let mut reader = self.reader(compression)?.take(8);
        reader.read_to_end(&mut first).map_err(|error| read_error(&self.path, error))?;
        Ok(first)
    }
}

fn spool(reader: &mut impl Read, path: &Path) -> Result<Arc<File>> {
    let mut file = tempfile::tempfile().map_err(Error::io("create a temporary file for", path))?;
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = match reader.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(read_error(path, error)),
        };
        file.write_all(&buffer[..count]).map_err(|source| Error::Spool {
            path: path.to_owned(),
            folder: std::env::temp_dir(),
            source,
        })?;
    }
    Ok(Arc::new(file))
}

/// A damaged file if the decoder failed, otherwise an error of the operating system.
pub(crate) fn read_error(path: &Path, error: io::Error) -> Error {
    use io::ErrorKind::{InvalidData, InvalidInput, Other, UnexpectedEof};
    match error.kind() {
        UnexpectedEof => Error::damaged(path)("it ends too early".into()),
        InvalidData | InvalidInput | Other => Error::damaged(path)(error.to_string()),
        _ => Error::io("read", path)(error),
    }
}

/// A file with its own position: clones are independent, unlike those of a [`File`].
#[derive(Debug, Clone)]
pub(crate) struct FileCursor {
    file: Arc<File>,
    length: u64,
    position: u64,
}

impl Read for FileCursor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let count = std::os::unix::fs::FileExt::read_at(&*self.file, buffer, self.position)?;
        #[cfg(windows)]
        let count = std::os::windows::fs::FileExt::seek_read(&*self.file, buffer, self.position)?;
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for FileCursor {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.length.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

impl parquet::file::reader::Length for FileCursor {
    fn len(&self) -> u64 {
        self.length
    }
}

impl parquet::file::reader::ChunkReader for FileCursor {
    type T = BufReader<FileCursor>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        Ok(BufReader::new(Self { position: start, ..self.clone() }))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<bytes::Bytes> {
        // Nothing is allocated for bytes that the file does not have, even if its footer claims
        // them.
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            let message = format!("{length} bytes at {start} of a file of {}", self.length);
            return Err(parquet::errors::ParquetError::EOF(message));
        }
        let mut buffer = vec![0; length];
        Self { position: start, ..self.clone() }.read_exact(&mut buffer)?;
        Ok(buffer.into())
    }
}
