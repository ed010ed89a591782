//! Downloads files and verifies their checksums.
//!
//! A partial download stays in a `.part` file next to the target, and is resumed by the next attempt. The file
//! appears under its name only after its checksum is verified.

mod http;
mod partial;
mod unpack;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::{DataSet, Error, File, Packaging, Result, sha256_of};
use partial::PartialDownload;

/// Limit for archives, above all of the registry.
const MAX_ARCHIVE_BYTES: u64 = 64 << 20;

/// Downloads files to a directory.
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

/// The outcome for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FetchOutcome {
    /// It was present.
    Present(PathBuf),
    /// It was downloaded.
    Fetched {
        /// Its path.
        path: PathBuf,
        /// Its source.
        from: String,
    },
}

/// Why an attempt failed.
enum Failure {
    /// The server failed; another address may work.
    Source(String),
    /// The file cannot be written; no other address would help.
    Local(Error),
}

type FetchResult<T> = Result<T, Failure>;

impl Fetch {
    /// Downloads files to `folder` that are neither there nor in the `searched` directories. A mirror has the paths
    /// of the
    /// registry below its address, and replaces all other addresses.
    pub fn new(folder: PathBuf, searched: Vec<PathBuf>, mirror: Option<&str>) -> Result<Self> {
        if let Some(address) = mirror {
            http::check(address)
                .map_err(|why| Error::BadAddress { address: address.into(), why })?;
        }
        let mirror = mirror.map(|address| address.trim_end_matches('/').to_owned());
        Ok(Self { folder, searched, mirror })
    }

    /// Downloads a file unless it is present. `progress` gets the number of bytes so far and, if known, in total.
    pub fn file(
        &self,
        set: &DataSet,
        file: &File,
        progress: &dyn Fn(u64, Option<u64>),
    ) -> Result<FetchOutcome> {
        let places = [&self.folder].into_iter().chain(&self.searched);
        let mut places = places.map(|folder| folder.join(file.path));
        if let Some(path) = places.find(|path| has_checksum(file, path)) {
            return Ok(FetchOutcome::Present(path));
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
                Ok(()) => return Ok(FetchOutcome::Fetched { path: place, from: url }),
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

/// Whether a file has the size and checksum of the registry.
fn has_checksum(file: &File, path: &Path) -> bool {
    let size = path.metadata().map(|data| data.len());
    size.is_ok_and(|size| size == file.bytes)
        && std::fs::read(path).is_ok_and(|bytes| sha256_of(&bytes) == file.sha256)
}

/// Downloads a plain file.
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
        // The partial download may belong to another file: start over.
        Err(Failure::Source(_)) if kept > 0 => {
            download(url, &mut partial, file.bytes, progress)?;
            commit(&mut partial, file, place)
        }
        done => done,
    }
}

/// Downloads an archive and extracts the file.
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
    packed.clear()?;
    let member = member?;
    check(file, &member)?;
    let mut partial = PartialDownload::open(place, Packaging::Plain.partial_suffix())?;
    partial.clear()?;
    partial.write(&member)?;
    partial.rename(place)
}

/// Verifies a complete download and renames it to its target; clears it if the checksum is wrong.
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

/// Verifies the checksum.
fn check(file: &File, bytes: &[u8]) -> FetchResult<()> {
    let (found, expected) = (sha256_of(bytes), file.sha256);
    if found == expected {
        return Ok(());
    }
    let why = format!("it gave other bytes: their SHA-256 is {found}, expected {expected}");
    Err(Failure::Source(why))
}

/// The time limit of a download: ten minutes, or the time at 20 kB/s if that is longer.
fn time_limit(bytes: u64) -> Duration {
    Duration::from_mins(10) + Duration::from_secs(bytes / 20_000)
}

/// Appends the rest of a partial download.
fn download(
    url: &str,
    partial: &mut PartialDownload,
    most: u64,
    progress: &dyn Fn(u64, Option<u64>),
) -> FetchResult<()> {
    if partial.len()? >= most {
        partial.clear()?;
    }
    let deadline = Instant::now() + time_limit(most);
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
        if Instant::now() > deadline {
            let minutes = time_limit(most).as_secs() / 60;
            return Err(Failure::Source(format!(
                "it gave {so_far} bytes in {minutes} minutes; they are kept for the next attempt"
            )));
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
        if so_far <= most {
            partial.write(&block[..count])?;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::time_limit;

    #[test]
    fn a_server_that_trickles_is_given_up() {
        assert_eq!(time_limit(0), Duration::from_mins(10));
        assert!(time_limit(64 << 20) < Duration::from_hours(2));
    }
}
