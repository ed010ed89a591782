//! What can go wrong with a table, and what to do about it.

use std::fmt::{self, Display as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use windlass::{ParamName, ParamStyle};

use crate::text::format_number;

/// The result of everything in this crate that can be refused or fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a table was refused, or what failed. [`hint`](Error::hint) says what to do.
///
/// Parameters are named in the [style](ParamStyle) of the format: `{}`, `{:#}` or `{:+}`.
///
/// Lines of a file and rows of a table are counted from 1.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message names its fields")]
pub enum Error {
    /// A file or folder does not exist.
    #[error("`{}` does not exist", path.display())]
    NotFound { path: PathBuf },
    /// The operating system refused to read or write.
    #[error("cannot {doing} `{}`: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: std::io::Error },
    /// A temporary copy of a pipe or a compressed file cannot be written.
    #[error("cannot copy `{}` to the temporary folder `{}`: {source}", path.display(), folder.display())]
    Spool { path: PathBuf, folder: PathBuf, source: std::io::Error },
    /// The ending of a name says nothing about its format.
    #[error("cannot tell the format of `{}` from its name", path.display())]
    UnknownEnding { path: PathBuf },
    /// Reading a file needs a cargo feature that this build does not have.
    #[error("`{}` {needs}, which this build does not read", path.display())]
    MissingFeature { path: PathBuf, needs: &'static str, feature: &'static str },
    /// Tables are not written in this format.
    #[error("`{}` would be {format}, which is only read", path.display())]
    ReadOnlyFormat { path: PathBuf, format: &'static str },
    /// A workbook has no such sheet, or none with cells.
    #[error("`{}` has no sheet {sheet}", path.display())]
    NoSheet { path: PathBuf, sheet: String, sheets: Vec<String> },
    /// A workbook has a password, or is of an old format.
    #[error("`{}` is not a workbook that can be read: it has a password, or is an old .xls", path.display())]
    Encrypted { path: PathBuf },
    /// An output exists, and Windlass did not write it, or it is of another kind.
    #[error("`{}` exists, and {why}", path.display())]
    Exists { path: PathBuf, why: &'static str },
    /// A compressed file is of a format that is not compressed as a whole.
    #[error("`{}`: Parquet files are compressed inside, not as a whole", path.display())]
    CompressedParquet { path: PathBuf },
    /// A folder holds nothing that can be read.
    #[error("the folder `{}` holds no table", path.display())]
    NoTables { path: PathBuf },
    /// A folder or list of inputs mixes formats.
    #[error(
        "`{}` is {format}, but `{}` is {first_format}: one table has one format",
        path.display(), first.display()
    )]
    MixedFormats { path: PathBuf, format: &'static str, first: PathBuf, first_format: &'static str },
    /// A file has no content.
    #[error("`{}` is empty", path.display())]
    EmptyFile { path: PathBuf },
    /// A table has columns but no rows.
    #[error("`{}` has a header but no rows", path.display())]
    NoRows { path: PathBuf, carriage_returns: bool },
    /// A row has more or fewer fields than the header.
    #[error(
        "`{}`, line {line}: {got} {} where the header has {expected}",
        path.display(), if *got == 1 { "field" } else { "fields" }
    )]
    Ragged { path: PathBuf, line: u64, expected: usize, got: usize },
    /// Text is not UTF-8.
    #[error("`{}`, line {line}: not UTF-8 (byte 0x{byte:02x})", path.display())]
    NotUtf8 { path: PathBuf, line: u64, byte: u8 },
    /// A line is longer than any sensible one.
    #[error("`{}`, line {line}: longer than {} MiB", path.display(), limit >> 20)]
    LineTooLong { path: PathBuf, line: u64, limit: usize },
    /// A quote is never closed.
    #[error("`{}`, line {line}: a quoted field is not closed", path.display())]
    OpenQuote { path: PathBuf, line: u64 },
    /// A file is broken.
    #[error("`{}` is damaged: {why}", path.display())]
    Damaged { path: PathBuf, why: String },
    /// The numbers of an Arrow file have their highest byte first.
    #[error("`{}` has big-endian numbers, which are not read", path.display())]
    BigEndian { path: PathBuf },
    /// A file is not what it was when it was opened.
    #[error("`{}` was changed while it was read", path.display())]
    Changed { path: PathBuf },
    /// Two columns have the same name.
    #[error("`{}`: two columns are named `{column}`", path.display())]
    DuplicateColumn { path: PathBuf, column: String },
    /// An input has other columns than the first.
    #[error("`{}` does not match `{}`: {why}", path.display(), first.display())]
    OtherSchema { path: PathBuf, first: PathBuf, why: String },
    /// A named column does not exist.
    #[error(fmt = no_such_column)]
    NoSuchColumn { column: String, param: ParamName, columns: Vec<String> },
    /// A column was given two roles.
    #[error(fmt = two_roles)]
    TwoRoles { column: String, first: ParamName, second: ParamName },
    /// A column cannot be computed with.
    #[error(fmt = not_numeric)]
    NotNumeric { column: String, param: ParamName, holds: String, example: String },
    /// A column cannot stand for a category.
    #[error(fmt = not_categories)]
    NotCategories { column: String, param: ParamName, holds: String },
    /// A column cannot tell rows apart.
    #[error("the key `{column}` holds {holds}, which cannot tell rows apart")]
    NotAKey { column: String, holds: String },
    /// A key is missing.
    #[error("the key `{column}` is missing in a row")]
    MissingKey { column: String },
    /// A key stands for more than one row.
    #[error("the key `{column}` does not tell rows apart: two rows have the same, {key}")]
    SameKey { column: String, key: String },
    /// A value that was not there when groups were found.
    #[error("`{value}` names no group: it was not in {columns} when the groups were found")]
    NewValue { columns: String, value: String },
    /// A value is missing in a column that has none.
    #[error("`{column}` is missing in row {row}, and was never missing when it was fitted")]
    NewlyMissing { column: String, row: String },
    /// What was fitted cannot be kept in a file.
    #[error(
        "{what} mixes rows of the table: what was fitted is the table itself, and is not saved"
    )]
    NotSaved { what: &'static str },
    /// A file of something fitted that cannot be understood.
    #[error("`{}` holds nothing that was fitted: {why}", path.display())]
    BadFitted { path: PathBuf, why: String },
    /// A table does not have the columns that something was fitted on.
    #[error("the table does not have the columns that were fitted: {why}")]
    OtherColumns { why: String },
    /// What another process found cannot be read.
    #[error("a part of a pass cannot be read: {why}")]
    BadPart { why: String },
    /// A target is missing or not finite.
    #[error("the target `{column}` is {what} in {rows}")]
    BadTarget { column: String, what: &'static str, rows: RowList },
    /// No row is left to be augmented.
    #[error("no row of `{}` has a finite target", path.display())]
    NoTargets { path: PathBuf },
    /// A feature is infinite or too large to be computed with.
    #[error("column `{column}` is {} in row {row}", format_number(*value))]
    BadFeature { column: String, row: String, value: f64 },
    /// A value is outside the bounds of its column.
    #[error("column `{column}` is {} in row {row}, outside its bounds {bounds}", format_number(*value))]
    OutOfBounds { column: String, row: String, value: f64, bounds: String },
    /// A weight is missing, negative or too large.
    #[error("the weight `{column}` must be in [0, 2^50]; it is not, in {rows}")]
    BadWeight { column: String, rows: RowList },
    /// Nothing is left to move.
    #[error("no continuous feature: {why}")]
    NoFeatures { why: String },
    /// More groups than rows were asked for.
    #[error("{clusters} clusters cannot be made of {rows} rows")]
    MoreClustersThanRows { clusters: usize, rows: u64 },
    /// A column of the table has a name that provenance needs.
    #[error("the table has a column `{column}` already, which provenance would add")]
    ReservedColumn { column: String },
    /// A column says that Windlass wrote the table, but not which rows are synthetic.
    #[error("`{column}` was written by Windlass, but no column tells which rows are synthetic")]
    UnmarkedSynthetic { column: String },
    /// A file says that it holds synthetic rows, but not which.
    #[error("`{}` has synthetic rows already, and no column tells which", path.display())]
    AlreadyAugmented { path: PathBuf },
    /// A parameter is of no use to the chosen method.
    #[error(fmt = does_not_apply)]
    DoesNotApply { param: ParamName, to: &'static str },
    /// A parameter is missing.
    #[error(fmt = needs)]
    Needs { of: &'static str, param: ParamName },
    /// A setting was refused by the library.
    #[error(transparent)]
    Setting(#[from] windlass::Error),
    /// A table is too large for a method that needs all of it.
    #[error("{what} needs the whole table in memory, {}, but only {} are allowed", mebibytes(*needs), mebibytes(*memory))]
    NeedsMemory { what: &'static str, needs: u64, memory: u64 },
    /// A file cannot be read within the memory.
    #[error("`{}`: {what} needs about {}, but only {} are allowed", path.display(), mebibytes(*needs), mebibytes(*memory))]
    TooLarge { path: PathBuf, what: String, needs: u64, memory: u64 },
    /// More groups than there is memory for.
    #[error("the means of {groups} groups do not fit in {}", mebibytes(*memory))]
    TooManyGroups { groups: usize, memory: u64 },
    /// An anchor matrix does not fit the table.
    #[error("the anchor matrix `{}` has {got} rows, the table {expected}", path.display())]
    MatrixRows { path: PathBuf, expected: u64, got: u64 },
    /// The output would overwrite an input.
    #[error("the output `{}` is an input", path.display())]
    OutputIsInput { path: PathBuf },
    /// The output would become a part of the input.
    #[error("the output `{}` would be part of the input folder `{}`", path.display(), folder.display())]
    OutputInInput { path: PathBuf, folder: PathBuf },
    /// Two outputs have one name.
    #[error("two outputs would be written to `{}`", path.display())]
    OneName { path: PathBuf },
    /// There is no folder to write to.
    #[error("cannot write `{}`: there is no folder `{}`", path.display(), folder.display())]
    NoFolder { folder: PathBuf, path: PathBuf },
    /// A type that a format cannot hold.
    #[error("column `{column}` holds {holds}, which {format} cannot store")]
    NoSuchType { column: String, holds: String, format: &'static str },
    /// An output says nothing about how it was made.
    #[error("`{}` does not say how it was made", path.display())]
    NoManifest { path: PathBuf },
    /// A manifest that cannot be understood.
    #[error("cannot understand the manifest of `{}`: {why}", path.display())]
    BadManifest { path: PathBuf, why: String },
    /// An output was made from another input.
    #[error(
        "`{}` was made from another table: its fingerprint is {expected}, this one's {got}",
        path.display()
    )]
    OtherInput { path: PathBuf, expected: String, got: String },
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
}

fn no_such_column(
    column: &str,
    param: &ParamName,
    _columns: &[String],
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    write!(f, "there is no column `{column}`, asked for by ")?;
    param.fmt(f)
}

fn two_roles(
    column: &str,
    first: &ParamName,
    second: &ParamName,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    write!(f, "column `{column}` is asked for by both ")?;
    first.fmt(f)?;
    f.write_str(" and ")?;
    second.fmt(f)
}

fn not_numeric(
    column: &str,
    param: &ParamName,
    holds: &str,
    example: &str,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    write!(f, "column `{column}` of ")?;
    param.fmt(f)?;
    write!(f, " is not numeric: it holds {holds}{example}")
}

fn not_categories(
    column: &str,
    param: &ParamName,
    holds: &str,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    write!(f, "column `{column}` of ")?;
    param.fmt(f)?;
    write!(f, " holds {holds}, not categories")
}

fn does_not_apply(param: &ParamName, to: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    param.fmt(f)?;
    write!(f, " does not apply to {to}")
}

fn needs(of: &str, param: &ParamName, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{of} needs ")?;
    param.fmt(f)
}

impl Error {
    /// What to do about it, with names of parameters in a style.
    #[must_use]
    #[expect(clippy::too_many_lines, reason = "one arm for each error")]
    pub fn hint(&self, style: ParamStyle) -> Option<String> {
        let param = |name| style.name(name);
        Some(match self {
            Self::UnknownEnding { .. } => format!(
                "name it .csv, .tsv, .parquet, .arrow or .arrows (text also .gz, .zst; .xlsx and .ods are only read), or set {}",
                param("format")
            ),
            Self::MissingFeature { feature, .. } => format!(
                "the Python package and release binaries read it; or `cargo install windlass-cli --features {feature}`"
            ),
            Self::ReadOnlyFormat { .. } => "write .csv or .parquet: spreadsheets open both".into(),
            Self::NoSheet { sheets, .. } => format!("the sheets are {}", quoted(sheets)),
            Self::Encrypted { .. } => "save it as .xlsx without a password, or as .csv".into(),
            Self::Exists { .. } => {
                format!("choose another name, or overwrite it with {}", param("force"))
            }
            Self::CompressedParquet { .. } => "decompress it first".into(),
            Self::NoTables { .. } => {
                "a folder is read as one table of the .parquet, .csv, .tsv or .arrow files in it".into()
            }
            Self::MixedFormats { .. } => "convert the files to one format".into(),
            Self::NoRows { carriage_returns: true, .. } => {
                "its lines end in carriage returns alone; convert it first: tr '\\r' '\\n'".into()
            }
            Self::EmptyFile { .. } | Self::NoRows { .. } => {
                "a table needs a header and at least one row".into()
            }
            Self::Ragged { got: 1, .. } => {
                format!("is the delimiter right? set it with {}", param("delimiter"))
            }
            Self::Ragged { .. } => {
                "mend the line, or quote fields that hold the delimiter".into()
            }
            Self::NotUtf8 { .. } => format!(
                "it begins as UTF-8: correct the line, or read it as another encoding with {} latin-1",
                param("encoding")
            ),
            Self::LineTooLong { .. } => format!(
                "a quote that is opened and never closed swallows lines; if the line is right, raise {}",
                param("memory")
            ),
            Self::OpenQuote { .. } => "a quote that is opened and never closed swallows lines".into(),
            Self::Damaged { .. } => "was it copied or downloaded completely?".into(),
            Self::BigEndian { .. } => "read and write it with pyarrow, which converts it".into(),
            Self::Changed { .. } => "run it again when nobody writes to the file".into(),
            Self::DuplicateColumn { .. } => "rename one of them".into(),
            Self::NoSuchColumn { column, columns, .. } => near(column, columns),
            Self::TwoRoles { .. } => "leave one of them out".into(),
            Self::NotNumeric { param: ParamName("target"), .. } => "a target is a number".into(),
            Self::NotNumeric { param: ParamName("anchors"), column, .. } => {
                format!("use column:{column}")
            }
            Self::NotNumeric { param: ParamName(name @ ("bounds" | "plot_x")), .. } => {
                format!("{} needs a column of numbers", param(name))
            }
            Self::NotNumeric { .. } => {
                format!("only numbers can be moved: carry it with {}", param("carry"))
            }
            Self::NotCategories { param: ParamName("within"), .. } => {
                "choose a column of text or of few integers".into()
            }
            Self::NotCategories { column, .. } => {
                format!("use bins:{column} or quantiles:{column}")
            }
            Self::NotAKey { .. } => {
                format!("a key is a column of integers, text or times; or {} content", param("rows_by"))
            }
            Self::MissingKey { .. } | Self::SameKey { .. } => {
                format!("a key has another value in every row; or {} content", param("rows_by"))
            }
            Self::NewValue { .. } => "fit again, on a table that has it".into(),
            Self::NewlyMissing { .. } => {
                "is the table the same whenever it is read? Write it first, or fit it and augment with what was fitted".into()
            }
            Self::NotSaved { .. } => "only ada with groups can be fitted in one place and used in another".into(),
            Self::BadFitted { .. } => format!("is it a file that {} wrote?", param("save_fitted")),
            Self::OtherColumns { .. } => "what was fitted goes with tables of the same columns".into(),
            Self::BadPart { .. } => "do all processes have the same version of windlass?".into(),
            Self::BadTarget { .. } => format!("{} leaves such rows out", param("drop_missing_target")),
            Self::BadFeature { column, .. } => format!("mend the value, or {} {column}", param("carry")),
            Self::OutOfBounds { column, .. } => {
                format!("fix the value, or set wider bounds of `{column}` with {}", param("bounds"))
            }
            Self::BadWeight { .. } => "a weight says how much a row counts".into(),
            Self::NoFeatures { .. } => {
                format!("{} COLUMN moves a column of 0 and 1 or of dates", param("continuous"))
            }
            Self::MoreClustersThanRows { .. } => format!("use {} auto", param("clusters")),
            Self::ReservedColumn { column } => {
                format!("leave it out with {} {column}, or rename it", param("exclude"))
            }
            Self::UnmarkedSynthetic { column } => format!(
                "augment the original table; if all rows are original, rename `{column}` or omit it"
            ),
            Self::AlreadyAugmented { .. } => format!(
                "augment the original table, or write augmented tables with {}",
                param("provenance")
            ),
            Self::TooLarge { .. } => {
                format!("raise {}, or write the table in smaller pieces", param("memory"))
            }
            Self::NeedsMemory { what: "training", .. } => {
                format!("raise {}, or train on a sample of the rows", param("memory"))
            }
            Self::NeedsMemory { .. } => {
                format!("raise {}, or use ada with groups, which reads the table in blocks", param("memory"))
            }
            Self::TooManyGroups { .. } => {
                format!("is the column an id? choose one with fewer values, or raise {}", param("memory"))
            }
            Self::OutputInInput { .. } => "choose another folder".into(),
            Self::OutputIsInput { .. } => "an input is never modified: choose another name".into(),
            Self::OneName { .. } => "give each a name of its own".into(),
            Self::NoFolder { folder, .. } => format!("make it first: mkdir -p {}", folder.display()),
            Self::NoSuchType { column, .. } => {
                format!("write Parquet or Arrow, or {} {column}", param("exclude"))
            }
            Self::NoManifest { .. } => format!(
                "made with {}? a CSV file needs {} FILE.json, as given to augment",
                param("provenance"),
                param("manifest")
            ),
            Self::OtherInput { .. } => "give the table that it was made from".into(),
            Self::MatrixRows { .. } => "an anchor matrix has a row for every row of the table".into(),
            Self::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => {
                "free some space; nothing was written under the output's name".into()
            }
            Self::Spool { .. } => {
                "free some space there, or set TMPDIR to a folder with more".into()
            }
            Self::NotFound { .. } => "is the name right?".into(),
            Self::NoTargets { .. } => "is this the right target?".into(),
            Self::OtherSchema { .. } => {
                "the files of one table have the same columns in the same order".into()
            }
            Self::DoesNotApply { .. } => "leave it out: it would change nothing".into(),
            Self::Needs { param: ParamName("anchors"), .. } => "name it: matrix:FILE".into(),
            Self::BadManifest { .. } => "was it changed after augment wrote it?".into(),
            Self::Needs { .. } | Self::Setting(_) | Self::Io { .. } | Self::Interrupted => {
                return None;
            }
        })
    }

    /// Whether this is a fault of the machine rather than of what was asked for.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        matches!(self, Self::Io { .. } | Self::Spool { .. })
    }

    /// Whether the reader of our output has gone away, which is no fault.
    #[must_use]
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == std::io::ErrorKind::BrokenPipe)
    }

    pub(crate) fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| match source.kind() {
            std::io::ErrorKind::NotFound if doing == "read" => {
                Self::NotFound { path: path.to_owned() }
            }
            _ => Self::Io { doing, path: path.to_owned(), source },
        }
    }

    pub(crate) fn bad_part(why: impl ToString) -> Self {
        Self::BadPart { why: why.to_string() }
    }

    pub(crate) fn damaged(path: &Path) -> impl Fn(String) -> Self {
        move |why| Self::Damaged { path: path.to_owned(), why }
    }
}

/// Some rows, by what they are called, and how many there are in all.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RowList {
    first: Vec<String>,
    count: u64,
}

impl RowList {
    const SHOWN: usize = 5;

    pub(crate) fn push(&mut self, row: impl FnOnce() -> String) {
        if self.first.len() < Self::SHOWN {
            self.first.push(row());
        }
        self.count += 1;
    }

    /// Adds so many rows; no more are looked up than are shown.
    pub(crate) fn add(&mut self, count: u64, rows: impl Iterator<Item = String>) {
        self.first.extend(rows.take(Self::SHOWN - self.first.len()));
        self.count += count;
    }

    /// Adds rows of another part of the table.
    pub(crate) fn merge(&mut self, other: Self) {
        self.add(other.count, other.first.into_iter());
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

impl std::fmt::Display for RowList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rows = &self.first;
        let more = self.count - rows.len() as u64;
        let word = if self.count == 1 { "row" } else { "rows" };
        write!(f, "{word} {}", rows.join(", "))?;
        if more > 0 { write!(f, " and {more} more") } else { Ok(()) }
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The names that are closest to one that does not exist.
fn near(column: &str, columns: &[String]) -> String {
    let wanted = column.trim().to_lowercase();
    let mut scored: Vec<(f64, &String)> = columns
        .iter()
        .map(|name| (likeness(&wanted, name.trim().to_lowercase().as_str()), name))
        .filter(|(score, _)| *score > 0.6)
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let list = |names: &mut dyn Iterator<Item = &String>| {
        names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    };
    if scored.is_empty() {
        let shown = 10;
        let more = if columns.len() > shown { ", …" } else { "" };
        return format!("the columns are {}{more}", list(&mut columns.iter().take(shown)));
    }
    format!("did you mean {}?", list(&mut scored.iter().take(3).map(|(_, name)| *name)))
}

/// 1 for the same names; names that share a beginning, or differ by a slip of the hand, are alike.
fn likeness(a: &str, b: &str) -> f64 {
    strsim::jaro_winkler(a, b).max(strsim::normalized_damerau_levenshtein(a, b))
}

fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}

#[cfg(test)]
mod tests {
    #[test]
    fn error_crosses_threads() {
        fn assert_crosses<T: Send + Sync + 'static>() {}
        assert_crosses::<super::Error>();
    }
}
