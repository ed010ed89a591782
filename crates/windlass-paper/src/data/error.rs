//! Errors of datasets.

use std::path::PathBuf;

/// A result with this module's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An invalid, missing or unavailable dataset.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message names its fields")]
pub enum Error {
    /// A name that is not in the registry.
    #[error("unknown dataset `{name}`")]
    Unknown { name: String },
    /// A missing file.
    #[error("dataset `{name}` is missing: no `{file}` in {}", listed(folders))]
    Absent {
        name: &'static str,
        file: &'static str,
        copied_from: &'static str,
        folders: Vec<PathBuf>,
    },
    /// A file that cannot be read or written.
    #[error("cannot {doing} `{}`: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: std::io::Error },
    /// An invalid field.
    #[error("`{}`, line {line}, column `{column}`: `{value}` is not {expected}", path.display())]
    BadValue { path: PathBuf, line: usize, column: String, value: String, expected: &'static str },
    /// A line that is cut off.
    #[error("`{}`, line {line} ends before column `{column}`", path.display())]
    ShortLine { path: PathBuf, line: usize, column: &'static str },
    /// A line with something after its last column.
    #[error("`{}`, line {line} has fields after the last column `{column}`", path.display())]
    LongLine { path: PathBuf, line: usize, column: &'static str },
    /// Too few or too many rows.
    #[error("`{}` ends with line {line}: expected {expected} rows, got {rows}", path.display())]
    Rows { path: PathBuf, line: usize, rows: usize, expected: usize },
    /// A missing file that users must provide.
    #[error("`{file}` is missing in {}", listed(folders))]
    NotPut { file: &'static str, source_of: &'static str, folders: Vec<PathBuf> },
    /// A column that a file must have.
    #[error("`{}` has no column `{column}`; its columns are {}", path.display(), columns.join(", "))]
    NoColumn { path: PathBuf, column: &'static str, columns: Vec<String> },
    /// A file with too few rows of some kind.
    #[error("`{}` has no rows {what}", path.display())]
    NoRowsOf { path: PathBuf, what: &'static str },
    /// A series that is too short to be cut into windows.
    #[error("{rows} rows are too few for windows of {window} with a target {horizon} later")]
    ShortSeries { rows: usize, window: usize, horizon: usize },
    /// A workbook that cannot be opened.
    #[error("`{}` is not a workbook with a sheet: {why}", path.display())]
    NotAWorkbook { path: PathBuf, why: String },
    /// A file that does not unpack.
    #[error("`{}` is not a complete gzip file: {why}", path.display())]
    NotGzip { path: PathBuf, why: String },
    /// Images or labels in another form.
    #[error("`{}` is not an idx file of {expected}: {why}", path.display())]
    NotIdx { path: PathBuf, expected: &'static str, why: String },
    /// Images instead of a table.
    #[error("dataset `{name}` contains images, not a table")]
    NotATable { name: &'static str },
    /// A dataset that is listed without files.
    #[error("dataset `{name}` is not available yet")]
    Unavailable { name: &'static str, source_of: &'static str },
    /// An invalid or insecure address.
    #[error("cannot download from `{address}`: {why}")]
    BadAddress { address: String, why: &'static str },
    /// No folder to write to.
    #[error("no folder for datasets")]
    NoCache,
    /// A file that another process is downloading.
    #[error("another process is downloading `{}`", path.display())]
    Busy { path: PathBuf },
    /// A file that cannot be downloaded from any address.
    #[error("cannot download `{file}` of dataset `{name}`:{}", tried(tries))]
    NotFetched {
        name: &'static str,
        file: &'static str,
        bytes: u64,
        sha256: &'static str,
        place: PathBuf,
        /// Every address with its error.
        tries: Vec<(String, String)>,
    },
    /// Too few images for all splits, or more than there are.
    #[error("the number of images must be in [{least}, {most}], got {images}")]
    Images { images: usize, least: usize, most: usize },
    /// A synthetic table without values, or with too many.
    #[error("a synthetic table must have between 1 and {most} values")]
    MadeSize { most: usize },
    /// An output that exists.
    #[error("`{}` already exists", path.display())]
    Exists { path: PathBuf },
    /// A checksum that differs from the registry.
    #[error("`{}` has SHA-256 {found}, expected {expected}", path.display())]
    Checksum { path: PathBuf, found: String, expected: &'static str },
}

impl Error {
    /// The next step for the user.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Unknown { name } if name.replace('_', "-") == "rcf-mnist" => {
                "generate it from fashion_mnist: windlass-paper data make rcf-mnist".into()
            }
            Self::Unknown { .. } => {
                let names: Vec<&str> = super::all().iter().map(|set| set.name).collect();
                format!("datasets are {}", names.join(", "))
            }
            Self::Absent { name, file, copied_from, .. } => format!(
                "download it: windlass-paper data get {name}; or set WINDLASS_DATA to the folder of `{file}`, or copy it to \
                 one of these folders: a copy is at {copied_from}"
            ),
            Self::Io { .. } => return None,
            Self::NotATable { .. } => {
                "windlass-paper data make rcf-mnist generates a regression dataset from it".into()
            }
            Self::Unavailable { source_of, .. } => format!("it is published at {source_of}"),
            Self::BadAddress { .. } => {
                "use https://; http:// is allowed only for this computer, such as http://127.0.0.1:8000"
                    .into()
            }
            Self::NoCache => "set WINDLASS_DATA or --folder to a folder".into(),
            Self::Busy { .. } => "wait for it to end, and run the command again".into(),
            Self::NotFetched { bytes, sha256, place, .. } => format!(
                "try again later, which resumes the download; set a mirror with --from; or copy a file of {bytes} bytes with \
                 SHA-256 {sha256} to `{}`",
                place.display()
            ),
            Self::NotPut { file, source_of, .. } => format!(
                "it is published at {source_of}; copy it to one of these folders under this name, or set WINDLASS_DATA to \
                 the folder of `{file}`"
            ),
            Self::NoColumn { .. } | Self::NoRowsOf { .. } => {
                "use the published file, whose first line is the header".into()
            }
            Self::ShortSeries { .. } => "choose a shorter window".into(),
            Self::MadeSize { .. } => "choose other numbers of rows, sets and features".into(),
            Self::Exists { .. } => "choose another folder, or remove it".into(),
            Self::Images { .. } => "choose another number of --images".into(),
            Self::Checksum { .. } => {
                "replace it by an unchanged copy; line endings must not be converted".into()
            }
            Self::BadValue { .. }
            | Self::ShortLine { .. }
            | Self::LongLine { .. }
            | Self::Rows { .. }
            | Self::NotAWorkbook { .. }
            | Self::NotGzip { .. }
            | Self::NotIdx { .. } => {
                "the file is damaged: replace it by an unchanged copy".into()
            }
        })
    }

    /// Whether this is a system error rather than invalid input.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        matches!(self, Self::Io { .. } | Self::Busy { .. } | Self::NotFetched { .. })
    }
}

fn listed(folders: &[PathBuf]) -> String {
    let names: Vec<String> = folders.iter().map(|f| format!("`{}`", f.display())).collect();
    if names.is_empty() { "any folder".into() } else { names.join(", ") }
}

fn tried(tries: &[(String, String)]) -> String {
    if tries.is_empty() {
        return " no address has this file".into();
    }
    let lines: Vec<String> =
        tries.iter().map(|(address, why)| format!("\n  {address}: {why}")).collect();
    lines.concat()
}
