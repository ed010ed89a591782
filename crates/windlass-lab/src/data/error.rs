//! What can be wrong with a data set.

use std::path::PathBuf;

/// The result of something that can be refused.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a data set cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message names its fields")]
pub enum Error {
    /// A name that the registry has not.
    #[error("there is no data set `{name}`")]
    Unknown { name: String },
    /// A file that is nowhere.
    #[error("data set `{name}` is absent: no `{file}` in {}", listed(folders))]
    Absent {
        name: &'static str,
        file: &'static str,
        copied_from: &'static str,
        folders: Vec<PathBuf>,
    },
    /// A file that cannot be read.
    #[error("cannot read `{}`", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    /// A field that is not what its column holds.
    #[error("`{}`, line {line}, column `{column}`: `{value}` is not {expected}", path.display())]
    BadValue {
        path: PathBuf,
        line: usize,
        column: &'static str,
        value: String,
        expected: &'static str,
    },
    /// A line that is cut off.
    #[error("`{}`, line {line} ends before column `{column}`", path.display())]
    ShortLine { path: PathBuf, line: usize, column: &'static str },
    /// A line with something after its last column.
    #[error("`{}`, line {line} goes on after its last column `{column}`", path.display())]
    LongLine { path: PathBuf, line: usize, column: &'static str },
    /// Too few or too many rows.
    #[error("`{}` ends with line {line}: expected {expected} rows, got {rows}", path.display())]
    Rows { path: PathBuf, line: usize, rows: usize, expected: usize },
    /// A workbook that cannot be opened.
    #[error("`{}` is not a workbook with a sheet: {why}", path.display())]
    NotAWorkbook { path: PathBuf, why: String },
    /// Bytes other than those of the registry.
    #[error("`{}` has SHA-256 {found}, expected {expected}", path.display())]
    Checksum { path: PathBuf, found: String, expected: &'static str },
}

impl Error {
    /// What to do.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Unknown { .. } => {
                let names: Vec<&str> = super::all().iter().map(|set| set.name).collect();
                format!("data sets are {}", names.join(", "))
            }
            Self::Absent { file, copied_from, .. } => format!(
                "set WINDLASS_DATA to the folder that holds `{file}`, or put it in one of these: a copy is in {copied_from}"
            ),
            Self::Io { .. } => return None,
            Self::Checksum { .. } => {
                "put an unchanged copy in its place; changed line ends count as a change".into()
            }
            Self::BadValue { .. }
            | Self::ShortLine { .. }
            | Self::LongLine { .. }
            | Self::Rows { .. }
            | Self::NotAWorkbook { .. } => {
                "the file is damaged: put an unchanged copy in its place".into()
            }
        })
    }

    /// Whether it is a fault of the system and not of what was asked for.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        matches!(self, Self::Io { .. })
    }
}

fn listed(folders: &[PathBuf]) -> String {
    let names: Vec<String> = folders.iter().map(|f| format!("`{}`", f.display())).collect();
    if names.is_empty() { "no folder at all".into() } else { names.join(", ") }
}
