//! The public data sets that the experiments run on: where they come from, where they are, what is in them.
//!
//! ```
//! use windlass_lab::data;
//!
//! let airfoil = data::named("airfoil")?;
//! assert_eq!((airfoil.rows, airfoil.target), (1503, "scaled_sound_pressure_level"));
//! match airfoil.load() {
//!     Ok(table) => assert_eq!(table.num_rows(), airfoil.rows),
//!     Err(error) => assert!(matches!(error, data::Error::Absent { .. })),
//! }
//! # Ok::<(), data::Error>(())
//! ```
//!
//! A file is taken as it was published or not at all: its checksum is part of the registry, and rows keep the
//! order of the file, so that row numbers mean the same everywhere.

mod california;
mod error;
mod layouts;
mod made;
mod places;
mod sets;
mod sheet;
mod text;

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use sha2::{Digest, Sha256};

pub use error::{Error, Result};
pub use made::{cosine, linear, linear_valid};
pub use places::folders;

/// A public data set.
#[derive(Debug)]
pub struct DataSet {
    /// Its short name.
    pub name: &'static str,
    /// Its files.
    pub files: &'static [File],
    /// Where it was first published.
    pub source: &'static str,
    /// On which terms it may be used, as far as is known.
    pub licence: &'static str,
    /// How to cite it.
    pub citation: &'static str,
    /// The column to predict.
    pub target: &'static str,
    /// The column that says which domain a row comes from; whole numbers, and not an input.
    pub domain: Option<&'static str>,
    /// What stands for a missing value in the file, in quotes or not.
    pub missing: Option<&'static str>,
    /// How many rows it has.
    pub rows: usize,
    /// Makes a table of the files' bytes.
    reader: Reader,
}

/// A file of a data set.
#[derive(Debug)]
pub struct File {
    /// Its path inside the folder of data sets.
    pub path: &'static str,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: &'static str,
    /// A public copy with these very bytes.
    pub copied_from: &'static str,
}

type Reader = fn(&DataSet, &[Contents]) -> Result<RecordBatch>;

/// What a file holds, which may be anything.
struct Contents {
    path: PathBuf,
    bytes: Vec<u8>,
    sha256: &'static str,
}

/// Every data set.
#[must_use]
pub fn all() -> &'static [DataSet] {
    &sets::SETS
}

/// The data set of that name.
pub fn named(name: &str) -> Result<&'static DataSet> {
    let found = all().iter().find(|set| set.name == name);
    found.ok_or_else(|| Error::Unknown { name: name.into() })
}

impl DataSet {
    /// Reads it from the first of the [`folders`] that has it.
    pub fn load(&self) -> Result<RecordBatch> {
        self.load_from(&folders())
    }

    /// Reads it from the first of these folders that has it: numbers as `Float64`, names as `Utf8`, the domain as
    /// `Int64`, missing values as nulls. All columns but the target and the domain describe a row.
    pub fn load_from(&self, folders: &[PathBuf]) -> Result<RecordBatch> {
        let paths = self.paths(folders)?;
        let contents = self.files.iter().zip(paths).map(|(file, path)| file.read(path));
        let contents = contents.collect::<Result<Vec<_>>>()?;
        // Readers go first: of a damaged file they can say where.
        let table = (self.reader)(self, &contents)?;
        contents.iter().try_for_each(Contents::verify)?;
        Ok(table)
    }

    /// Where its files are, each in the first of these folders that has it.
    pub fn paths(&self, folders: &[PathBuf]) -> Result<Vec<PathBuf>> {
        let find = |file: &File| {
            let mut candidates = folders.iter().map(|folder| folder.join(file.path));
            candidates.find(|path| path.is_file()).ok_or_else(|| Error::Absent {
                name: self.name,
                file: file.path,
                copied_from: file.copied_from,
                folders: folders.to_vec(),
            })
        };
        self.files.iter().map(find).collect()
    }
}

impl File {
    fn read(&self, path: PathBuf) -> Result<Contents> {
        match std::fs::read(&path) {
            Ok(bytes) => Ok(Contents { path, bytes, sha256: self.sha256 }),
            Err(source) => Err(Error::Io { path, source }),
        }
    }
}

impl Contents {
    /// Refuses bytes that are not those of the registry.
    fn verify(&self) -> Result<()> {
        let found = format!("{:x}", Sha256::digest(&self.bytes));
        if found == self.sha256 {
            return Ok(());
        }
        Err(Error::Checksum { path: self.path.clone(), found, expected: self.sha256 })
    }
}

/// Refuses a table that is too short or too long, whose last line is this.
fn check_rows(set: &DataSet, path: &Path, rows: usize, line: usize) -> Result<()> {
    if rows == set.rows {
        return Ok(());
    }
    Err(Error::Rows { path: path.into(), line, rows, expected: set.rows })
}
