//! Notes for the user on how a table was read or is augmented.

use std::fmt;
use std::path::PathBuf;

use windlass::ParamName;

use crate::row_place::RowPlace;

/// A note for the user on how a table was read or is augmented.
///
/// Parameters are named in the [style](windlass::ParamStyle) of the format, as in
/// [`Error`](crate::Error).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each text names its fields")]
pub enum Note {
    /// A file is not UTF-8.
    Encoding { path: PathBuf, encoding: &'static str },
    /// The separator is not the default.
    Separator { separator: char },
    /// Decimals follow a comma.
    DecimalComma { example: String },
    /// A column of numbers was read as text, because their decimal mark is not clear.
    UnclearMark { column: String, example: String },
    /// Markers of missing values, and how often each occurs.
    MissingMarkers { column: String, markers: Vec<(&'static str, u64)> },
    /// A column is numeric except for a few values.
    NotNumbers { column: String, count: u64, values: u64, first: Vec<(String, RowPlace)> },
    /// A column of text has numbers with a unit.
    NumbersWithUnit { column: String, example: String, unit: String },
    /// The first row has words in columns of numbers.
    UnitRow { row: RowPlace, words: Vec<String> },
    /// A workbook has several sheets.
    Sheets { path: PathBuf, sheet: String, others: Vec<String> },
    /// A row above the header of a sheet was skipped.
    Title { path: PathBuf, text: String },
    /// A moved column has integers that floats cannot represent.
    LargeIntegers { column: String },
    /// A file has synthetic rows that are not marked.
    SyntheticRows { path: PathBuf },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let param = |name: &'static str, f: &mut fmt::Formatter<'_>| ParamName(name).fmt(f);
        match self {
            Self::Encoding { path, encoding } => {
                write!(f, "`{}` is not UTF-8 and is read as {encoding}; ", path.display())?;
                param("encoding", f)?;
                f.write_str(" sets another")
            }
            Self::SyntheticRows { path } => {
                let path = path.display();
                write!(
                    f,
                    "`{path}` has synthetic rows that are not marked, so errors measured on it are too low; \
                     use the original table, or write augmented tables with "
                )?;
                param("provenance", f)
            }
            Self::Separator { separator } => {
                match separator {
                    '\t' => f.write_str("separator tab")?,
                    separator => write!(f, "separator `{separator}`")?,
                }
                f.write_str(" detected; ")?;
                param("delimiter", f)?;
                f.write_str(" sets another")
            }
            Self::DecimalComma { example } => {
                write!(f, "decimal comma detected: `{example}` is read as {}", with_point(example))
            }
            Self::UnclearMark { column, example } => {
                write!(
                    f,
                    "column `{column}` is read as text: in `{example}`, does the comma separate "
                )?;
                f.write_str("decimals or thousands? Write numbers with a decimal point only")
            }
            Self::MissingMarkers { column, markers } => {
                let each: Vec<String> =
                    markers.iter().map(|(marker, count)| format!("{count} × `{marker}`")).collect();
                write!(f, "column `{column}`: {} read as missing", each.join(", "))
            }
            Self::NotNumbers { column, count, values, first } => {
                write!(
                    f,
                    "column `{column}` is read as text because of {count} of {values} values: "
                )?;
                for (place, (value, row)) in first.iter().enumerate() {
                    let comma = if place > 0 { ", " } else { "" };
                    write!(f, "{comma}`{value}` in row {row}")?;
                }
                if *count > first.len() as u64 {
                    f.write_str(", …")?;
                }
                let example = &first[0].0;
                if example.ends_with('%') {
                    f.write_str("; write percentages without `%`")
                } else if example.contains(',') && !example.contains(char::is_alphabetic) {
                    f.write_str("; write numbers without thousands separators")
                } else {
                    f.write_str("; if it marks a missing value, set ")?;
                    param("null", f)?;
                    write!(f, " '{example}'")
                }
            }
            Self::NumbersWithUnit { column, example, unit } => write!(
                f,
                "column `{column}` is read as text because of `{unit}` in `{example}`; write numbers without it"
            ),
            Self::UnitRow { row, words } => {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                let words = words.join(", ");
                write!(
                    f,
                    "columns of numbers are read as text because of {words} in row {row}; delete the row if these \
                     are units"
                )
            }
            Self::Sheets { path, sheet, others } => {
                write!(f, "`{}`: sheet `{sheet}` is read; ", path.display())?;
                param("sheet", f)?;
                let others: Vec<String> = others.iter().map(|name| format!("`{name}`")).collect();
                write!(f, " chooses another: {}", others.join(", "))
            }
            Self::Title { path, text } => {
                write!(f, "`{}`: the row above the header was skipped: `{text}`", path.display())
            }
            Self::LargeIntegers { column } => {
                write!(
                    f,
                    "column `{column}` has integers beyond 2^53: they are moved as floats, so its \
                     synthetic values have about 16 digits; if it is an identifier: "
                )?;
                param("carry", f)?;
                write!(f, " {column}")
            }
        }
    }
}

/// A number with a decimal comma, with a point and without separators of thousands.
fn with_point(number: &str) -> String {
    const GROUPS: [char; 5] = ['.', ' ', '\'', '\u{a0}', '\u{202f}'];
    number.replace(GROUPS, "").replace(',', ".")
}
