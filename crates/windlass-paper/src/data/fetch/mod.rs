//! Fetching files: whole, with the bytes of the registry, or not at all.
//!
//! What has come so far is kept in a `.part` file beside the place of the file, so that the next try goes on where
//! the last one stopped. A file appears under its name when its checksum is right.

mod http;
mod partial;
mod unpack;

use std::path::{Path, PathBuf};

use super::{DataSet, Error, File, Packaging, Result, sha256_of};
use partial::PartialDownload;

/// No archive of the registry is larger; an endless answer must end.
const MAX_ARCHIVE_BYTES: u64 = 64 << 20;

/// Fetches files to a folder.
///
/// ```
/// use windlass_paper::data::{Error, Fetch};
///
/// let refused = Fetch::new("data".into(), vec![], Some("http://example.org/data"));
/// assert!(matches!(refused, Err(Error::BadAddress { .. })));
/// ```
#[derive(Debug)]
pub struct Fetch {
    folder: PathBuf,
    searched: Vec<PathBuf>,
    mirror: Option<String>,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It was there.
    Present(PathBuf),
    /// It is there now.
    Fetched {
        /// Where it is.
        path: PathBuf,
        /// Where it came from.
        from: String,
    },
}

/// Why a try came to nothing.
enum Failure {
    /// The address does not give the file; another may.
    Source(String),
    /// It cannot be written; no other address would help.
    Local(Error),
}

type FetchResult<T> = Result<T, Failure>;

impl Fetch {
    /// Fetches to this folder what is neither there nor in those that are searched. A mirror has the paths of the
    /// registry below its address, and takes the place of all others.
    pub fn new(folder: PathBuf, searched: Vec<PathBuf>, mirror: Option<&str>) -> Result<Self> {
        if let Some(address) = mirror {
            http::check(address)
                .map_err(|why| Error::BadAddress { address: address.into(), why })?;
        }
        let mirror = mirror.map(|address| address.trim_end_matches('/').to_owned());
        Ok(Self { folder, searched, mirror })
    }

    /// Fetches a file of a data set, unless it is there. Progress is told in bytes: how many there are, and how many
    /// there will be, if that is known.
    pub fn file(
        &self,
        set: &DataSet,
        file: &File,
        progress: &dyn Fn(u64, Option<u64>),
    ) -> Result<Outcome> {
        let places = [&self.folder].into_iter().chain(&self.searched);
        let mut places = places.map(|folder| folder.join(file.path));
        if let Some(path) = places.find(|path| has_checksum(file, path)) {
            return Ok(Outcome::Present(path));
        }
        let place = self.folder.join(file.path);
        let mut tries = vec![];
        for (url, packaging) in self.addresses(file) {
            let tried = match packaging {
                Packaging::Plain => fetch_plain(&url, file, &place, progress),
                Packaging::Zip(_) | Packaging::TarGz(_) => {
                    fetch_archived(&url, packaging, file, &place, progress)
                }
            };
            match tried {
                Ok(()) => return Ok(Outcome::Fetched { path: place, from: url }),
                Err(Failure::Source(why)) => tries.push((url, why)),
                Err(Failure::Local(error)) => return Err(error),
            }
        }
        Err(Error::NotFetched {
            name: set.name,
            file: file.path,
            bytes: file.bytes,
            sha256: file.sha256,
            place,
            tries,
        })
    }

    fn addresses(&self, file: &File) -> Vec<(String, Packaging)> {
        match &self.mirror {
            Some(mirror) => vec![(format!("{mirror}/{}", file.path), Packaging::Plain)],
            None => file
                .addresses
                .iter()
                .map(|address| (address.url.into(), address.packaging))
                .collect(),
        }
    }
}

/// Whether a path holds the bytes of the registry.
fn has_checksum(file: &File, path: &Path) -> bool {
    let size = path.metadata().map(|data| data.len());
    size.is_ok_and(|size| size == file.bytes)
        && std::fs::read(path).is_ok_and(|bytes| sha256_of(&bytes) == file.sha256)
}

/// Fetches a file as it is.
fn fetch_plain(
    url: &str,
    file: &File,
    place: &Path,
    progress: &dyn Fn(u64, Option<u64>),
) -> FetchResult<()> {
    let mut partial = PartialDownload::open(place, Packaging::Plain.partial_suffix())?;
    let kept = partial.len()?;
    if kept != file.bytes {
        download(url, &mut partial, file.bytes, progress)?;
    }
    match commit(&mut partial, file, place) {
        // What was kept may be of another file: once more from the start.
        Err(Failure::Source(_)) if kept > 0 => {
            download(url, &mut partial, file.bytes, progress)?;
            commit(&mut partial, file, place)
        }
        done => done,
    }
}

/// Fetches an archive, and takes the file out of it.
fn fetch_archived(
    url: &str,
    packaging: Packaging,
    file: &File,
    place: &Path,
    progress: &dyn Fn(u64, Option<u64>),
) -> FetchResult<()> {
    let mut packed = PartialDownload::open(place, packaging.partial_suffix())?;
    download(url, &mut packed, MAX_ARCHIVE_BYTES, progress)?;
    let member = packaging.extract(&packed.bytes()?, file.bytes).map_err(Failure::Source);
    // Good or bad, there is no use for it any more.
    packed.clear()?;
    let member = member?;
    check(file, &member)?;
    let mut partial = PartialDownload::open(place, Packaging::Plain.partial_suffix())?;
    partial.clear()?;
    partial.write(&member)?;
    partial.rename(place)
}

/// Gives a part that has all bytes of the file its name, and empties one that has others.
fn commit(partial: &mut PartialDownload, file: &File, place: &Path) -> FetchResult<()> {
    let bytes = partial.bytes()?;
    let (size, all) = (bytes.len() as u64, file.bytes);
    if size < all {
        return Err(Failure::Source(format!("it ended after {size} of {all} bytes")));
    }
    if let Err(failure) = check(file, &bytes) {
        partial.clear()?;
        return Err(failure);
    }
    partial.rename(place)
}

/// Refuses bytes that are not those of the registry.
fn check(file: &File, bytes: &[u8]) -> FetchResult<()> {
    let (found, expected) = (sha256_of(bytes), file.sha256);
    if found == expected {
        return Ok(());
    }
    let why = format!("it gave other bytes: their SHA-256 is {found}, expected {expected}");
    Err(Failure::Source(why))
}

/// Appends what is missing of a partial.
fn download(
    url: &str,
    partial: &mut PartialDownload,
    most: u64,
    progress: &dyn Fn(u64, Option<u64>),
) -> FetchResult<()> {
    if partial.len()? >= most {
        partial.clear()?;
    }
    let mut answer = http::get(url, partial.len()?).map_err(Failure::Source)?;
    if answer.from == 0 {
        partial.clear()?;
    }
    let mut so_far = answer.from;
    let all = answer.length.map(|length| so_far.saturating_add(length));
    let mut block = vec![0; 1 << 16];
    loop {
        if so_far.max(all.unwrap_or(0)) > most {
            partial.clear()?;
            return Err(Failure::Source(format!("it gives more than {most} bytes")));
        }
        progress(so_far, all);
        let count = match answer.body.read(&mut block) {
            Ok(0) => return Ok(()),
            Ok(count) => count,
            Err(error) => {
                let why = format!("the connection broke after {so_far} bytes: {error}");
                return Err(Failure::Source(why));
            }
        };
        so_far += count as u64;
        // What is too much is not kept.
        if so_far <= most {
            partial.write(&block[..count])?;
        }
    }
}
