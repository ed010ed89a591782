//! Partial downloads.

use std::ffi::OsString;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::{Failure, FetchResult};
use crate::data::Error;

/// A partial download next to its target. On drop the file stays, unless it is empty.
pub(super) struct PartialDownload {
    file: File,
    path: PathBuf,
    /// The directories created for it, innermost first.
    made: Vec<PathBuf>,
}

impl PartialDownload {
    /// Opens or creates and locks the file.
    pub(super) fn open(place: &Path, ending: &str) -> FetchResult<Self> {
        let mut path = OsString::from(place);
        path.push(ending);
        let path = PathBuf::from(path);
        let failed = |source| failed("write", &path, source);
        let folders = path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        let made: Vec<PathBuf> =
            folders.take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
        if let Some(folder) = made.first() {
            std::fs::create_dir_all(folder).map_err(failed)?;
        }
        let options =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).clone();
        // A link would have its target written to; the download takes its place.
        if path.is_symlink() {
            std::fs::remove_file(&path).map_err(failed)?;
        }
        let file = options.open(&path).map_err(failed)?;
        if path.is_symlink() {
            return Err(failed(io::Error::other("it became a link while it was opened")));
        }
        match file.try_lock() {
            Ok(()) => Ok(Self { file, path, made }),
            Err(TryLockError::WouldBlock) => Err(Failure::Local(Error::Busy { path })),
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    pub(super) fn len(&self) -> FetchResult<u64> {
        self.file.metadata().map(|data| data.len()).map_err(|e| failed("read", &self.path, e))
    }

    pub(super) fn clear(&mut self) -> FetchResult<()> {
        self.file.set_len(0).map_err(|e| failed("write", &self.path, e))
    }

    /// Appends some bytes.
    pub(super) fn write(&mut self, bytes: &[u8]) -> FetchResult<()> {
        let written = self.file.seek(SeekFrom::End(0)).and_then(|_| self.file.write_all(bytes));
        written.map_err(|e| failed("write", &self.path, e))
    }

    /// The whole content.
    pub(super) fn bytes(&mut self) -> FetchResult<Vec<u8>> {
        let mut bytes = vec![];
        let read = self.file.rewind().and_then(|()| self.file.read_to_end(&mut bytes));
        read.map(|_| bytes).map_err(|e| failed("read", &self.path, e))
    }

    /// Renames it to its target, replacing any file there.
    pub(super) fn rename(&mut self, place: &Path) -> FetchResult<()> {
        let renamed = self.file.sync_all().and_then(|()| std::fs::rename(&self.path, place));
        renamed.map_err(|e| failed("write", place, e))
    }
}

impl Drop for PartialDownload {
    fn drop(&mut self) {
        // After a rename the path no longer exists; directories that are not empty stay.
        let empty = self.path.metadata().is_ok_and(|data| data.len() == 0);
        if empty && std::fs::remove_file(&self.path).is_ok() {
            for folder in &self.made {
                let _ = std::fs::remove_dir(folder);
            }
        }
    }
}

fn failed(doing: &'static str, path: &Path, source: io::Error) -> Failure {
    Failure::Local(Error::Io { doing, path: path.to_owned(), source })
}
