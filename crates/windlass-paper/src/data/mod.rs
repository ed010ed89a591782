//! The public data sets of the experiments: registry, download, readers and generators.
//!
//! ```
//! use windlass_paper::data;
//!
//! let airfoil = data::named("airfoil")?;
//! assert_eq!((airfoil.rows, airfoil.target), (1503, Some("scaled_sound_pressure_level")));
//! match airfoil.load() {
//!     Ok(table) => assert_eq!(table.num_rows(), airfoil.rows),
//!     Err(error) => assert!(matches!(error, data::Error::Absent { .. })),
//! }
//! # Ok::<(), data::Error>(())
//! ```
//!
//! Files are verified by the checksums of the registry, and rows keep the order of the file. Files that users must
//! provide themselves are read by [`Series`] and [`Interactions`]. [`Fetch`] downloads files; [`cosine`], [`linear`]
//! and [`RcfMnist`] are synthetic.

mod california;
mod data_dirs;
mod error;
mod fetch;
mod gzip;
mod images;
mod interactions;
mod local_files;
mod rcf_mnist;
mod registry;
mod schemas;
mod synthetic;
mod text;
mod time_series;
mod xls;

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_schema::DataType;
use serde::Serialize;
use sha2::{Digest, Sha256};

pub use data_dirs::{download_dir, search_dirs};
pub use error::{Error, Result};
pub use fetch::{Fetch, FetchOutcome};
pub use images::{Images, MnistSplit, fashion_mnist, fashion_mnist_from};
pub use interactions::Interactions;
pub use rcf_mnist::{RcfMnist, RcfSplit};
pub use synthetic::{cosine, linear, linear_valid};
use text::TextSchema;
pub use time_series::{Series, electricity};

/// A public data set.
#[derive(Debug)]
pub struct DataSet {
    /// Its short name.
    pub name: &'static str,
    /// Its files; empty if unavailable.
    pub files: &'static [File],
    /// Where it was first published.
    pub source: &'static str,
    /// The license, as far as known.
    pub license: &'static str,
    /// How to cite it.
    pub citation: &'static str,
    /// The target column. Time series have none: every column is forecast.
    pub target: Option<&'static str>,
    /// The column of domains (integers, not a feature).
    pub domain: Option<&'static str>,
    /// The marker of missing values in the file.
    pub missing: Option<&'static str>,
    /// Number of rows or images.
    pub rows: usize,
    /// How the experiments of the ADA paper split it.
    pub split: &'static str,
    /// Remarks for users.
    pub note: Option<&'static str>,
    /// The format of its files.
    format: FileFormat,
}

/// A file of a data set.
#[derive(Debug, Serialize)]
pub struct File {
    /// Its path inside the data directory.
    pub path: &'static str,
    /// Its size.
    pub bytes: u64,
    /// Its SHA-256, in hexadecimal digits.
    pub sha256: &'static str,
    /// A public copy with the same bytes.
    pub copied_from: &'static str,
    /// Where it can be downloaded, first choice first.
    pub addresses: &'static [Address],
}

/// Where a file can be downloaded.
#[derive(Debug, Serialize)]
pub struct Address {
    /// An HTTPS address.
    pub url: &'static str,
    /// How the download contains the file.
    #[serde(rename = "within")]
    pub packaging: Packaging,
}

/// How a download contains a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Packaging {
    /// The file itself.
    #[serde(rename = "itself")]
    Plain,
    /// The member of a zip archive.
    Zip(&'static str),
    /// The member of a gzipped tar archive.
    TarGz(&'static str),
}

/// A column of a table, as it is loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DataColumn {
    /// Its name.
    pub name: &'static str,
    /// `float64`, `int64` or `utf8`.
    #[serde(rename = "type")]
    pub kind: &'static str,
}

/// The format of the files of a data set.
#[derive(Debug)]
enum FileFormat {
    /// Delimited text, one row per line.
    Text(&'static TextSchema),
    /// Gzipped text.
    GzipText(&'static TextSchema),
    /// An XLS sheet of numbers.
    Xls(&'static [&'static str]),
    /// Text from which other columns are derived.
    California,
    /// Images and their labels, in two files each.
    Images,
    /// No files yet.
    Unavailable,
}

/// The unverified bytes of a file.
struct FileBytes {
    path: PathBuf,
    bytes: Vec<u8>,
    sha256: &'static str,
}

/// Every data set.
#[must_use]
pub fn all() -> &'static [DataSet] {
    &registry::DATA_SETS
}

/// The data set of that name.
pub fn named(name: &str) -> Result<&'static DataSet> {
    let found = all().iter().find(|set| set.name == name);
    found.ok_or_else(|| Error::Unknown { name: name.into() })
}

impl DataSet {
    /// Reads it from the first of the [`search_dirs`] that has it.
    pub fn load(&self) -> Result<RecordBatch> {
        self.load_from(&search_dirs())
    }

    /// Reads it from the first of these directories that has it: numbers as `Float64`, text as `Utf8`, the domain as
    /// `Int64`, missing values as nulls. Images are not a table: see [`fashion_mnist`].
    pub fn load_from(&self, folders: &[PathBuf]) -> Result<RecordBatch> {
        let paths = self.paths(folders)?;
        let contents = self.files.iter().zip(paths).map(|(file, path)| file.read(path));
        let contents = contents.collect::<Result<Vec<_>>>()?;
        // Parse before verifying: a parse error says where the file is damaged.
        let table = match (&self.format, &contents[..]) {
            (FileFormat::Text(schema), [file]) => {
                text::read(self, &file.path, &file.bytes, schema)?
            }
            (FileFormat::GzipText(schema), [file]) => {
                text::read(self, &file.path, &gzip::decompress(file)?, schema)?
            }
            (FileFormat::Xls(columns), [file]) => xls::read(self, file, columns)?,
            (FileFormat::California, [file]) => california::read(self, file)?,
            _ => return Err(Error::NotATable { name: self.name }),
        };
        contents.iter().try_for_each(FileBytes::verify)?;
        Ok(table)
    }

    /// Where its files are, each in the first of these folders that has it.
    pub fn paths(&self, folders: &[PathBuf]) -> Result<Vec<PathBuf>> {
        self.check_available()?;
        self.files.iter().map(|file| self.path(file, folders)).collect()
    }

    fn path(&self, file: &File, folders: &[PathBuf]) -> Result<PathBuf> {
        let found = folders.iter().map(|folder| folder.join(file.path)).find(|path| path.is_file());
        found.ok_or_else(|| Error::Absent {
            name: self.name,
            file: file.path,
            copied_from: file.copied_from,
            folders: folders.to_vec(),
        })
    }

    /// Whether it is listed without files.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        matches!(self.format, FileFormat::Unavailable)
    }

    /// The columns of its table; none if it has no table.
    #[must_use]
    pub fn columns(&self) -> Vec<DataColumn> {
        let of = |names: &[&'static str], type_of: &dyn Fn(&str) -> DataType| {
            let named = |&name: &&'static str| DataColumn { name, kind: in_words(&type_of(name)) };
            names.iter().map(named).collect::<Vec<_>>()
        };
        let number = |_: &str| DataType::Float64;
        match self.format {
            FileFormat::Text(schema) | FileFormat::GzipText(schema) => {
                let kept = schema.columns.iter().copied();
                let kept: Vec<_> = kept.filter(|name| !schema.dropped.contains(name)).collect();
                of(&kept, &|name| schema.type_of(name, self.domain))
            }
            FileFormat::Xls(columns) => of(columns, &number),
            FileFormat::California => of(&california::COLUMNS, &number),
            FileFormat::Images | FileFormat::Unavailable => vec![],
        }
    }

    /// Returns an error if the dataset is unavailable.
    pub fn check_available(&self) -> Result<()> {
        if self.is_unavailable() {
            return Err(Error::Unavailable { name: self.name, source_of: self.source });
        }
        Ok(())
    }
}

fn in_words(kind: &DataType) -> &'static str {
    match kind {
        DataType::Int64 => "int64",
        DataType::Utf8 => "utf8",
        _ => "float64",
    }
}

impl File {
    fn read(&self, path: PathBuf) -> Result<FileBytes> {
        match std::fs::read(&path) {
            Ok(bytes) => Ok(FileBytes { path, bytes, sha256: self.sha256 }),
            Err(source) => Err(Error::Io { doing: "read", path, source }),
        }
    }
}

impl FileBytes {
    /// Verifies the checksum.
    fn verify(&self) -> Result<()> {
        let found = sha256_of(&self.bytes);
        if found == self.sha256 {
            return Ok(());
        }
        Err(Error::Checksum { path: self.path.clone(), found, expected: self.sha256 })
    }
}

fn sha256_of(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// Verifies the number of rows; `line` is the last line.
fn check_rows(set: &DataSet, path: &Path, rows: usize, line: usize) -> Result<()> {
    if rows == set.rows {
        return Ok(());
    }
    Err(Error::Rows { path: path.into(), line, rows, expected: set.rows })
}
