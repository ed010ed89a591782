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
    /// A file that cannot be read or written.
    #[error("cannot {doing} `{}`: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: std::io::Error },
    /// A field that is not what its column holds.
    #[error("`{}`, line {line}, column `{column}`: `{value}` is not {expected}", path.display())]
    BadValue { path: PathBuf, line: usize, column: String, value: String, expected: &'static str },
    /// A line that is cut off.
    #[error("`{}`, line {line} ends before column `{column}`", path.display())]
    ShortLine { path: PathBuf, line: usize, column: &'static str },
    /// A line with something after its last column.
    #[error("`{}`, line {line} goes on after its last column `{column}`", path.display())]
    LongLine { path: PathBuf, line: usize, column: &'static str },
    /// Too few or too many rows.
    #[error("`{}` ends with line {line}: expected {expected} rows, got {rows}", path.display())]
    Rows { path: PathBuf, line: usize, rows: usize, expected: usize },
    /// A file that nobody may pass on, and that is nowhere.
    #[error("`{file}` is in none of {}", listed(folders))]
    NotPut { file: &'static str, source_of: &'static str, folders: Vec<PathBuf> },
    /// A column that a file must have.
    #[error("`{}` has no column `{column}`, but {}", path.display(), columns.join(", "))]
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
    #[error("`{}` is not a whole gzip file: {why}", path.display())]
    NotGzip { path: PathBuf, why: String },
    /// Images or labels in another form.
    #[error("`{}` is not an idx file of {expected}: {why}", path.display())]
    NotIdx { path: PathBuf, expected: &'static str, why: String },
    /// Images where a table is asked for.
    #[error("data set `{name}` holds images, not a table")]
    NotATable { name: &'static str },
    /// A data set that is listed without files.
    #[error("data set `{name}` cannot be had yet")]
    Unavailable { name: &'static str, source_of: &'static str },
    /// An address that is not safe, or none.
    #[error("`{address}` is no address to fetch from: {why}")]
    BadAddress { address: String, why: &'static str },
    /// No folder to write to.
    #[error("there is no folder for data sets")]
    NoCache,
    /// A file that another process is fetching.
    #[error("`{}` is being fetched by another process", path.display())]
    Busy { path: PathBuf },
    /// A file that no address gives.
    #[error("`{file}` of data set `{name}` cannot be fetched:{}", tried(tries))]
    NotFetched {
        name: &'static str,
        file: &'static str,
        bytes: u64,
        sha256: &'static str,
        place: PathBuf,
        /// Every address, and what is wrong with it.
        tries: Vec<(String, String)>,
    },
    /// Fewer images than can be parted, or more than there are.
    #[error("{images} images cannot be parted: between {least} and {most} can")]
    Images { images: usize, least: usize, most: usize },
    /// A table without values, or with more than the memory may hold.
    #[error("a table that is made up has between 1 and {most} values")]
    MadeSize { most: usize },
    /// Something that would be written over.
    #[error("`{}` is there already", path.display())]
    Exists { path: PathBuf },
    /// Bytes other than those of the registry.
    #[error("`{}` has SHA-256 {found}, expected {expected}", path.display())]
    Checksum { path: PathBuf, found: String, expected: &'static str },
}

impl Error {
    /// What to do.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Unknown { name } if name.replace('_', "-") == "rcf-mnist" => {
                "it is made of fashion_mnist: windlass-paper data make rcf-mnist".into()
            }
            Self::Unknown { .. } => {
                let names: Vec<&str> = super::all().iter().map(|set| set.name).collect();
                format!("data sets are {}", names.join(", "))
            }
            Self::Absent { name, file, copied_from, .. } => format!(
                "fetch it: windlass-paper data get {name}; or set WINDLASS_DATA to the folder that holds `{file}`, or put it in \
                 one of these: a copy is in {copied_from}"
            ),
            Self::Io { .. } => return None,
            Self::NotATable { .. } => {
                "windlass-paper data make rcf-mnist makes a regression of it".into()
            }
            Self::Unavailable { source_of, .. } => format!("it is published at {source_of}"),
            Self::BadAddress { .. } => {
                "addresses begin with https://; http:// is taken for this computer alone, as in \
                 http://127.0.0.1:8000"
                    .into()
            }
            Self::NoCache => "set WINDLASS_DATA to a folder, or name one with --folder".into(),
            Self::Busy { .. } => "wait for it to end, and run the command again".into(),
            Self::NotFetched { bytes, sha256, place, .. } => format!(
                "try again later, what has come is kept; name a mirror with --from; or put a copy of {bytes} bytes with \
                 SHA-256 {sha256} at `{}`",
                place.display()
            ),
            Self::NotPut { file, source_of, .. } => format!(
                "it is published at {source_of}; put it under this name into one of these folders, or set WINDLASS_DATA to \
                 the folder that holds `{file}`"
            ),
            Self::NoColumn { .. } | Self::NoRowsOf { .. } => {
                "is it the file that was published? the first line names its columns".into()
            }
            Self::ShortSeries { .. } => "choose a shorter window".into(),
            Self::MadeSize { .. } => "choose other numbers of rows, sets and features".into(),
            Self::Exists { .. } => "name another folder, or remove it".into(),
            Self::Images { .. } => "choose another number of --images".into(),
            Self::Checksum { .. } => {
                "put an unchanged copy in its place; changed line ends count as a change".into()
            }
            Self::BadValue { .. }
            | Self::ShortLine { .. }
            | Self::LongLine { .. }
            | Self::Rows { .. }
            | Self::NotAWorkbook { .. }
            | Self::NotGzip { .. }
            | Self::NotIdx { .. } => {
                "the file is damaged: put an unchanged copy in its place".into()
            }
        })
    }

    /// Whether it is a fault of the system and not of what was asked for.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        matches!(self, Self::Io { .. } | Self::Busy { .. } | Self::NotFetched { .. })
    }
}

fn listed(folders: &[PathBuf]) -> String {
    let names: Vec<String> = folders.iter().map(|f| format!("`{}`", f.display())).collect();
    if names.is_empty() { "no folder at all".into() } else { names.join(", ") }
}

fn tried(tries: &[(String, String)]) -> String {
    if tries.is_empty() {
        return " no address gives these bytes".into();
    }
    let lines: Vec<String> =
        tries.iter().map(|(address, why)| format!("\n  {address}: {why}")).collect();
    lines.concat()
}
