//! Errors of tables, with hints.

use std::fmt::{self, Display as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use windlass::{ParamName, ParamStyle};

use crate::row_place::RowPlace;
use crate::text::format_number;

/// A result with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An invalid table or setting, or a system error. [`hint`](Error::hint) is the next step.
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
    /// A system error while reading or writing.
    #[error("cannot {doing} `{}`: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: std::io::Error },
    /// A temporary copy of a pipe or a compressed file cannot be written.
    #[error("cannot copy `{}` to the temporary folder `{}`: {source}", path.display(), folder.display())]
    Spool { path: PathBuf, folder: PathBuf, source: std::io::Error },
    /// An unknown file name extension.
    #[error("unknown format of `{}`", path.display())]
    UnknownEnding { path: PathBuf },
    /// Reading a file needs a cargo feature that this build does not have.
    #[error("`{}` {needs}, which this build does not read", path.display())]
    MissingFeature { path: PathBuf, needs: &'static str, feature: &'static str },
    /// A format that can be read but not written.
    #[error("cannot write `{}`: {format} can only be read", path.display())]
    ReadOnlyFormat { path: PathBuf, format: &'static str },
    /// A workbook has no such sheet, or none with cells.
    #[error("`{}` has no sheet {sheet}", path.display())]
    NoSheet { path: PathBuf, sheet: String, sheets: Vec<String> },
    /// A workbook with a password, or an old .xls file.
    #[error("cannot read the workbook `{}`: it has a password, or is an old .xls file", path.display())]
    Encrypted { path: PathBuf },
    /// An output exists, and is of another kind or was not written by Windlass.
    #[error("`{}` exists, and {why}", path.display())]
    Exists { path: PathBuf, why: &'static str },
    /// A compressed Parquet or Arrow file.
    #[error("cannot read `{}`: Parquet files must not be compressed as a whole", path.display())]
    CompressedParquet { path: PathBuf },
    /// A folder without files of a known format.
    #[error("the folder `{}` contains no table", path.display())]
    NoTables { path: PathBuf },
    /// A folder or list of inputs mixes formats.
    #[error(
        "`{}` is {format}, but `{}` is {first_format}: all files of a table must have one format",
        path.display(), first.display()
    )]
    MixedFormats { path: PathBuf, format: &'static str, first: PathBuf, first_format: &'static str },
    /// An empty file.
    #[error("`{}` is empty", path.display())]
    EmptyFile { path: PathBuf },
    /// A table has columns but no rows.
    #[error("`{}` has a header but no rows", path.display())]
    NoRows { path: PathBuf },
    /// Text without line feeds.
    #[error("`{}`: lines end in carriage returns alone", path.display())]
    CarriageReturns { path: PathBuf },
    /// A row has more or fewer fields than the header.
    #[error(
        "`{}`, line {line}: {got} {}, but the header has {expected}",
        path.display(), if *got == 1 { "field" } else { "fields" }
    )]
    Ragged { path: PathBuf, line: u64, expected: usize, got: usize },
    /// Text is not UTF-8.
    #[error("`{}`, line {line}: not UTF-8 (byte 0x{byte:02x})", path.display())]
    NotUtf8 { path: PathBuf, line: u64, byte: u8 },
    /// A line is longer than the limit.
    #[error("`{}`, line {line}: longer than {} MiB", path.display(), limit >> 20)]
    LineTooLong { path: PathBuf, line: u64, limit: usize },
    /// A quote is never closed.
    #[error("`{}`, line {line}: a quoted field is not closed", path.display())]
    OpenQuote { path: PathBuf, line: u64 },
    /// Text between the closing quote of a field and its end.
    #[error("`{}`, line {line}: text after the closing quote of a field", path.display())]
    TextAfterQuote { path: PathBuf, line: u64 },
    /// A damaged file.
    #[error("`{}` is damaged: {why}", path.display())]
    Damaged { path: PathBuf, why: String },
    /// A big-endian Arrow file.
    #[error("cannot read `{}`: its numbers are big-endian", path.display())]
    BigEndian { path: PathBuf },
    /// A file changed after it was opened.
    #[error("`{}` changed while it was read", path.display())]
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
    /// A column with two requested roles.
    #[error(fmt = two_roles)]
    TwoRoles { column: String, first: ParamName, second: ParamName },
    /// A column of provenance that is named as a feature, a target or another column.
    #[error(
        "column `{column}` of {param} was written by windlass: it says where synthetic rows come from"
    )]
    ProvenanceRole { column: String, param: ParamName },
    /// A column that must be numeric is not.
    #[error(fmt = not_numeric)]
    NotNumeric { column: String, param: ParamName, holds: String, example: String },
    /// A column that must be categorical is not.
    #[error(fmt = not_categories)]
    NotCategories { column: String, param: ParamName, holds: String },
    /// A column of a type that cannot be a key.
    #[error("key column `{column}` contains {holds}, which cannot identify rows")]
    NotAKey { column: String, holds: String },
    /// A key is missing.
    #[error("key column `{column}` is missing in a row")]
    MissingKey { column: String },
    /// Two rows have the same key.
    #[error("key column `{column}` is not unique: two rows have the key {key}")]
    SameKey { column: String, key: String },
    /// A value that does not belong to a fitted group.
    #[error(
        "`{value}` does not belong to a group: it was not in {columns} when the groups were fitted"
    )]
    NewValue { columns: String, value: String },
    /// A missing value in a column without missing values at fitting time.
    #[error("`{column}` is missing in row {row}, but was never missing in the fitted table")]
    NewlyMissing { column: String, row: String },
    /// The method has no fitted state that can be saved.
    #[error("{what} mixes rows of the table, so its fitted state is the table and is not saved")]
    NotSaved { what: &'static str },
    /// An invalid file of a fitted state.
    #[error("`{}` is not a fitted state: {why}", path.display())]
    BadFitted { path: PathBuf, why: String },
    /// A table with other columns than the fitted table.
    #[error("the columns of the table differ from the fitted columns: {why}")]
    OtherColumns { why: String },
    /// An invalid partial aggregate of another process.
    #[error("cannot read a partial aggregate: {why}")]
    BadPart { why: String },
    /// A target is missing or not finite.
    #[error("target `{column}` is {what} in {rows}")]
    BadTarget { column: String, what: &'static str, rows: RowList },
    /// No row has a finite target.
    #[error("no row of `{}` has a finite target", path.display())]
    NoTargets { path: PathBuf },
    /// No row that is not synthetic has a finite target.
    #[error("no original row of `{}` has a finite target: its rows are synthetic", path.display())]
    NoOriginals { path: PathBuf },
    /// A feature is infinite or too large.
    #[error("column `{column}` is {} in row {row}", format_number(*value))]
    BadFeature { column: String, row: String, value: f64 },
    /// A value is outside the bounds of its column.
    #[error("column `{column}` is {} in row {row}, outside its bounds {bounds}", format_number(*value))]
    OutOfBounds { column: String, row: String, value: f64, bounds: String },
    /// A weight is missing, negative or too large.
    #[error("weight column `{column}` must be in [0, 2^50], but is not in {rows}")]
    BadWeight { column: String, rows: RowList },
    /// No column can be augmented.
    #[error("no continuous feature: {why}")]
    NoFeatures { why: String },
    /// More clusters than rows.
    #[error("cannot form {clusters} clusters from {rows} rows")]
    MoreClustersThanRows { clusters: usize, rows: u64 },
    /// A column has the name of a provenance column.
    #[error("the table already has a column `{column}`, which provenance would add")]
    ReservedColumn { column: String },
    /// A table that Windlass wrote, without a column that marks synthetic rows.
    #[error("`{column}` was written by Windlass, but no column marks the synthetic rows")]
    UnmarkedSynthetic { column: String },
    /// An augmented file without a column that marks synthetic rows.
    #[error("`{}` already has synthetic rows, and no column marks them", path.display())]
    AlreadyAugmented { path: PathBuf },
    /// A parameter does not apply to the chosen method.
    #[error(fmt = does_not_apply)]
    DoesNotApply { param: ParamName, to: &'static str },
    /// A parameter is missing.
    #[error(fmt = needs)]
    Needs { of: &'static str, param: ParamName },
    /// A text that does not say which targets are rare.
    #[error(fmt = unknown_rare)]
    UnknownRare { text: String },
    /// An invalid file of control points of a relevance.
    #[error("`{}`{}: {why}", path.display(), row.as_ref().map_or(String::new(), |row| format!(", row {row}")))]
    BadRelevance { path: PathBuf, row: Option<String>, why: String },
    /// An invalid setting.
    #[error(transparent)]
    Setting(#[from] windlass::Error),
    /// A table is too large for a method that needs all of it.
    #[error("{what} needs the whole table in memory, {}, but the limit is {}", mebibytes(*needs), mebibytes(*memory))]
    NeedsMemory { what: &'static str, needs: u64, memory: u64 },
    /// A file cannot be read within the memory.
    #[error("`{}`: {what} needs about {}, but the limit is {}", path.display(), mebibytes(*needs), mebibytes(*memory))]
    TooLarge { path: PathBuf, what: String, needs: u64, memory: u64 },
    /// More groups than there is memory for.
    #[error("the means of {groups} groups do not fit into {}", mebibytes(*memory))]
    TooManyGroups { groups: usize, memory: u64 },
    /// An anchor matrix does not fit the table.
    #[error("the anchor matrix `{}` has {got} rows, but the table has {expected}", path.display())]
    MatrixRows { path: PathBuf, expected: u64, got: u64 },
    /// The output would overwrite an input.
    #[error("the output `{}` is also an input", path.display())]
    OutputIsInput { path: PathBuf },
    /// The output would be in an input folder.
    #[error("the output `{}` would be part of the input folder `{}`", path.display(), folder.display())]
    OutputInInput { path: PathBuf, folder: PathBuf },
    /// Two outputs with the same name.
    #[error("two outputs would be written to `{}`", path.display())]
    OneName { path: PathBuf },
    /// The folder of an output does not exist.
    #[error("cannot write `{}`: the folder `{}` does not exist", path.display(), folder.display())]
    NoFolder { folder: PathBuf, path: PathBuf },
    /// A type that a format cannot store.
    #[error("column `{column}` contains {holds}, which {format} cannot store")]
    NoSuchType { column: String, holds: String, format: &'static str },
    /// Rows of another file lack a column of the table.
    #[error("no column `{column}`, which the table has")]
    LacksColumn { column: String, columns: Vec<String> },
    /// A value of another file that cannot be converted to the type of the table's column.
    #[error("column `{column}`, row {row}: {why}")]
    OtherType { column: String, row: RowPlace, why: String },
    /// An output without a manifest.
    #[error("`{}` has no manifest", path.display())]
    NoManifest { path: PathBuf },
    /// An invalid manifest.
    #[error("cannot read the manifest of `{}`: {why}", path.display())]
    BadManifest { path: PathBuf, why: String },
    /// An output that was generated from another input.
    #[error(
        "`{}` was generated from another table: its fingerprint is {expected}, but this table has {got}",
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
    write!(f, "no such column: `{column}`, named by ")?;
    param.fmt(f)
}

fn two_roles(
    column: &str,
    first: &ParamName,
    second: &ParamName,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    write!(f, "column `{column}` is named by both ")?;
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
    write!(f, " is not numeric: it contains {holds}{example}")
}

fn not_categories(
    column: &str,
    param: &ParamName,
    holds: &str,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    write!(f, "column `{column}` of ")?;
    param.fmt(f)?;
    write!(f, " contains {holds}, not categories")
}

fn does_not_apply(param: &ParamName, to: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    param.fmt(f)?;
    write!(f, " does not apply to {to}")
}

fn needs(of: &str, param: &ParamName, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{of} needs ")?;
    param.fmt(f)
}

fn unknown_rare(text: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    ParamName("rare").fmt(f)?;
    write!(f, ": `{text}` is neither one of {} nor a file", windlass::RareSpec::WORDS)
}

impl Error {
    /// The next step for the user, with names of parameters in a style.
    #[must_use]
    #[expect(clippy::too_many_lines, reason = "one arm for each error")]
    pub fn hint(&self, style: ParamStyle) -> Option<String> {
        let param = |name| style.name(name);
        Some(match self {
            Self::UnknownEnding { .. } => format!(
                "use .csv, .tsv, .parquet, .arrow or .arrows (text also .gz, .zst; .xlsx and .ods can only be read), or set {}",
                param("format")
            ),
            Self::MissingFeature { feature, .. } => format!(
                "use the Python package or a release binary, which read it, or compile with the cargo feature `{feature}`"
            ),
            Self::ReadOnlyFormat { .. } => "write .csv or .parquet".into(),
            Self::NoSheet { sheets, .. } => format!("the sheets are {}", quoted(sheets)),
            Self::Encrypted { .. } => "save it as .xlsx without a password, or as .csv".into(),
            Self::Exists { .. } => {
                format!("choose another name, or overwrite it with {}", param("force"))
            }
            Self::CompressedParquet { .. } => "decompress it first".into(),
            Self::NoTables { .. } => {
                "a folder needs .parquet, .csv, .tsv or .arrow files, which are read as one table".into()
            }
            Self::MixedFormats { .. } => "convert the files to one format".into(),
            Self::CarriageReturns { .. } => "convert it first: tr '\\r' '\\n'".into(),
            Self::EmptyFile { .. } | Self::NoRows { .. } => {
                "a table needs a header and at least one row".into()
            }
            Self::Ragged { got: 1, .. } => {
                format!("set the delimiter with {}", param("delimiter"))
            }
            Self::Ragged { .. } => {
                "fix the line, or quote fields that contain the delimiter".into()
            }
            Self::NotUtf8 { .. } => format!(
                "the file begins as UTF-8: fix the line, or set {} latin-1",
                param("encoding")
            ),
            Self::LineTooLong { .. } => format!(
                "look for a quote that is never closed; if the line is right, raise {}",
                param("memory")
            ),
            Self::OpenQuote { .. } => "close the quote".into(),
            Self::TextAfterQuote { .. } => {
                "double the quotes inside of a quoted field: \"a 5\"\" pipe\"".into()
            }
            Self::Damaged { .. } => "check that it was copied or downloaded completely".into(),
            Self::BigEndian { .. } => "convert it by reading and writing it with pyarrow".into(),
            Self::Changed { .. } => "run the command again when no process writes to the file".into(),
            Self::DuplicateColumn { .. } => "rename one of them".into(),
            Self::NoSuchColumn { column, columns, .. }
            | Self::LacksColumn { column, columns, .. } => near(column, columns),
            Self::OtherType { .. } => "correct the value, or remove the row".into(),
            Self::TwoRoles { .. } => "omit one of them".into(),
            Self::ProvenanceRole { column, .. } => format!("omit `{column}`"),
            Self::NotNumeric { param: ParamName("target"), .. } => "targets must be numeric".into(),
            Self::NotNumeric { param: ParamName("anchors"), column, .. } => {
                format!("use column:{column}")
            }
            Self::NotNumeric { param: ParamName(name @ ("bounds" | "plot_x")), .. } => {
                format!("{} needs a numeric column", param(name))
            }
            Self::NotNumeric { .. } => {
                format!("only numbers can be augmented; copy the column with {}", param("carry"))
            }
            Self::NotCategories { param: ParamName("within"), .. } => {
                "choose a column of text or of few integers".into()
            }
            Self::NotCategories { column, .. } => {
                format!("use bins:{column} or quantiles:{column}")
            }
            Self::NotAKey { .. } => {
                format!("choose a column of integers, text or times, or {} content", param("rows_by"))
            }
            Self::MissingKey { .. } | Self::SameKey { .. } => {
                format!("choose a column with a unique value in every row, or {} content", param("rows_by"))
            }
            Self::NewValue { .. } => "fit again, on a table that contains the value".into(),
            Self::NewlyMissing { .. } => {
                "if the table may change between reads, write it to a file first, or save the fitted state and use it".into()
            }
            Self::NotSaved { .. } => "use ada with groups, whose fitted state can be saved".into(),
            Self::BadFitted { .. } => format!("use a file that {} wrote", param("save_fitted")),
            Self::OtherColumns { .. } => "use a table with the same columns".into(),
            Self::BadPart { .. } => "use the same version of windlass in all processes".into(),
            Self::BadTarget { .. } => format!("{} drops such rows", param("drop_missing_target")),
            Self::BadFeature { column, .. } => format!("fix the value, or {} {column}", param("carry")),
            Self::OutOfBounds { column, .. } => {
                format!("fix the value, or set wider bounds of `{column}` with {}", param("bounds"))
            }
            Self::BadWeight { .. } => "fix the weights, or remove the rows".into(),
            Self::NoFeatures { .. } => {
                format!("{} COLUMN makes a column of 0/1 or of dates continuous", param("continuous"))
            }
            Self::MoreClustersThanRows { .. } => format!("use {} auto", param("clusters")),
            Self::ReservedColumn { column } => {
                format!("omit it with {} {column}, or rename it", param("exclude"))
            }
            Self::UnmarkedSynthetic { column } => format!(
                "augment the original table; if all rows are original, rename `{column}` or omit it"
            ),
            Self::AlreadyAugmented { .. } => format!(
                "augment the original table, or write augmented tables with {}",
                param("provenance")
            ),
            Self::TooLarge { .. } => {
                format!("raise {}, or split the table into smaller files", param("memory"))
            }
            Self::NeedsMemory { what: "finding rare targets", .. } => {
                format!("raise {}", param("memory"))
            }
            Self::NeedsMemory { what: "training", .. } => {
                format!("raise {}, or train on a sample of the rows", param("memory"))
            }
            Self::NeedsMemory { .. } => {
                format!("raise {}, or use ada with groups, which streams the table in blocks", param("memory"))
            }
            Self::TooManyGroups { .. } => {
                format!("choose a column with fewer values, or raise {}", param("memory"))
            }
            Self::OutputInInput { .. } => "choose another folder".into(),
            Self::OutputIsInput { .. } => "choose another name; inputs are never overwritten".into(),
            Self::OneName { .. } => "choose a different name for each".into(),
            Self::NoFolder { folder, .. } => format!("create it: mkdir -p {}", folder.display()),
            Self::NoSuchType { column, .. } => {
                format!("write Parquet or Arrow, or {} {column}", param("exclude"))
            }
            Self::NoManifest { .. } => format!(
                "write the table with {}; text files also need {} FILE.json, as written by augment",
                param("provenance"),
                param("manifest")
            ),
            Self::OtherInput { .. } => "use the original table".into(),
            Self::MatrixRows { .. } => "use a matrix with one row per row of the table".into(),
            Self::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => {
                "free some space; the output was not written".into()
            }
            Self::Spool { .. } => {
                "free some space there, or set TMPDIR to a larger folder".into()
            }
            Self::NotFound { .. } => "check the spelling and the current folder".into(),
            Self::NoTargets { .. } => "check that this is the right target".into(),
            Self::NoOriginals { .. } => "augment the original table".into(),
            Self::OtherSchema { .. } => {
                "all files of a table need the same columns in the same order".into()
            }
            Self::DoesNotApply { .. } => "omit it".into(),
            Self::UnknownRare { .. } | Self::BadRelevance { .. } => {
                "a file of control points is a table with the columns y, phi and, optionally, slope".into()
            }
            Self::Needs { param: ParamName("anchors"), .. } => "use matrix:FILE".into(),
            Self::BadManifest { .. } => "use the manifest as augment wrote it".into(),
            Self::Needs { .. } | Self::Setting(_) | Self::Io { .. } | Self::Interrupted => {
                return None;
            }
        })
    }

    /// Whether this is a system error rather than invalid input.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        matches!(self, Self::Io { .. } | Self::Spool { .. })
    }

    /// Whether the reader of standard output closed the pipe.
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

    /// No row has a target; `synthetic` rows were not counted.
    pub(crate) fn no_targets(path: &Path, synthetic: u64) -> Self {
        let path = path.to_owned();
        if synthetic > 0 { Self::NoOriginals { path } } else { Self::NoTargets { path } }
    }

    pub(crate) fn bad_part(why: impl ToString) -> Self {
        Self::BadPart { why: why.to_string() }
    }

    pub(crate) fn damaged(path: &Path) -> impl Fn(String) -> Self {
        move |why| Self::Damaged { path: path.to_owned(), why }
    }
}

/// A number of rows, with the names of the first.
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

    /// Adds `count` rows; consumes only the names that are shown.
    pub(crate) fn add(&mut self, count: u64, rows: impl Iterator<Item = String>) {
        self.first.extend(rows.take(Self::SHOWN - self.first.len()));
        self.count += count;
    }

    /// Adds the rows of another partition.
    pub(crate) fn merge(&mut self, other: Self) {
        self.add(other.count, other.first.into_iter());
    }

    /// Whether the list has no rows.
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

/// A hint with the names closest to one that does not exist.
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

/// Similarity in [0, 1]: high for a common prefix and for few typing errors.
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
