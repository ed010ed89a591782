//! Tables in delimited text files.

use std::path::Path;
use std::sync::Arc;

use arrow_array::builder::{Float64Builder, Int64Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::DataType;

use super::{DataSet, Error, Result, check_rows};

/// The schema of a text file.
#[derive(Debug)]
pub(super) struct TextSchema {
    pub(super) separator: Separator,
    /// Whether the first line is a header.
    pub(super) header: bool,
    /// All columns of the file.
    pub(super) columns: &'static [&'static str],
    /// Columns of text.
    pub(super) text: &'static [&'static str],
    /// Columns that are dropped.
    pub(super) dropped: &'static [&'static str],
}

impl TextSchema {
    /// The data type of a column.
    pub(super) fn type_of(&self, name: &str, domain: Option<&str>) -> DataType {
        if self.text.contains(&name) {
            DataType::Utf8
        } else if domain == Some(name) {
            DataType::Int64
        } else {
            DataType::Float64
        }
    }
}

/// The field separator.
#[derive(Debug, Clone, Copy)]
pub(super) enum Separator {
    Comma,
    /// Any number of spaces and tabs.
    Blanks,
}

/// The builder of a column.
enum ColumnValues {
    Numbers(Float64Builder),
    Whole(Int64Builder),
    Names(StringBuilder),
    Dropped,
}

/// Reads a table with the columns in file order.
pub(super) fn read(
    set: &DataSet,
    path: &Path,
    bytes: &[u8],
    schema: &TextSchema,
) -> Result<RecordBatch> {
    let mut columns: Vec<ColumnValues> =
        schema.columns.iter().map(|name| ColumnValues::new(set, schema, name)).collect();
    let (mut rows, mut last) = (0, 0);
    for (line, text) in (1..).zip(lines(bytes)) {
        last = line;
        if line == 1 && schema.header {
            continue;
        }
        let mut fields = schema.separator.split(text).into_iter();
        for (column, &name) in columns.iter_mut().zip(schema.columns) {
            let field = fields.next();
            let field = field.ok_or(Error::ShortLine { path: path.into(), line, column: name })?;
            column.push(field, set.missing).map_err(|expected| Error::BadValue {
                path: path.into(),
                line,
                column: name.into(),
                value: String::from_utf8_lossy(field).chars().take(40).collect(),
                expected,
            })?;
        }
        if let (Some(_), Some(&column)) = (fields.next(), schema.columns.last()) {
            return Err(Error::LongLine { path: path.into(), line, column });
        }
        rows += 1;
    }
    check_rows(set, path, rows, last)?;
    let columns = schema.columns.iter().zip(columns);
    let columns = columns.filter_map(|(&name, column)| Some((name, column.finish()?)));
    Ok(RecordBatch::try_from_iter(columns).expect("every row gave every column a value"))
}

/// The lines without line endings and trailing empty lines.
fn lines(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let text = bytes.trim_ascii_end();
    let lines = text.split(|&byte| byte == b'\n');
    lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line)).take_while(|_| !text.is_empty())
}

impl Separator {
    /// The fields of a line. No file has quoted commas.
    fn split(self, line: &[u8]) -> Vec<&[u8]> {
        match self {
            Self::Comma => line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).collect(),
            Self::Blanks => {
                let mut quoted = false;
                let fields = line.split(|&byte| {
                    quoted ^= byte == b'"';
                    !quoted && matches!(byte, b' ' | b'\t')
                });
                fields.filter(|field| !field.is_empty()).collect()
            }
        }
    }
}

impl ColumnValues {
    fn new(set: &DataSet, schema: &TextSchema, name: &str) -> Self {
        if schema.dropped.contains(&name) {
            return Self::Dropped;
        }
        match schema.type_of(name, set.domain) {
            DataType::Utf8 => Self::Names(StringBuilder::new()),
            DataType::Int64 => Self::Whole(Int64Builder::with_capacity(set.rows)),
            _ => Self::Numbers(Float64Builder::with_capacity(set.rows)),
        }
    }

    /// Appends a field; the error is what was expected.
    fn push(&mut self, field: &[u8], missing: Option<&str>) -> Result<(), &'static str> {
        let text = std::str::from_utf8(field).ok().and_then(unquoted);
        let missing = text.is_some() && text == missing;
        match self {
            Self::Numbers(values) if missing => values.append_null(),
            Self::Whole(values) if missing => values.append_null(),
            Self::Names(values) if missing => values.append_null(),
            Self::Numbers(values) => {
                let value = text.and_then(|text| text.parse().ok());
                values.append_value(value.filter(|v: &f64| v.is_finite()).ok_or("a number")?);
            }
            Self::Whole(values) => {
                let value = text.and_then(|text| text.parse().ok());
                values.append_value(value.ok_or("a whole number")?);
            }
            Self::Names(values) => {
                values.append_value(text.filter(|text| !text.is_empty()).ok_or("a name")?);
            }
            Self::Dropped => {}
        }
        Ok(())
    }

    fn finish(self) -> Option<ArrayRef> {
        match self {
            Self::Numbers(mut values) => Some(Arc::new(values.finish())),
            Self::Whole(mut values) => Some(Arc::new(values.finish())),
            Self::Names(mut values) => Some(Arc::new(values.finish())),
            Self::Dropped => None,
        }
    }
}

/// A field without quotes; `None` if they are unbalanced.
fn unquoted(field: &str) -> Option<&str> {
    match field.strip_prefix('"') {
        Some(rest) => rest.strip_suffix('"'),
        None => Some(field),
    }
}
