//! The values of a column as text.
//!
//! Numbers have the fewest digits that read back as the same number.

use std::io;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, Int64Array, LargeStringArray,
    StringArray, StringViewArray, UInt64Array,
};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;

/// A column whose type is matched once, not for every value.
pub(crate) enum ColumnFormatter<'a> {
    Float64(&'a Float64Array),
    Float32(&'a Float32Array),
    Signed(Int64Array),
    Unsigned(UInt64Array),
    Boolean(&'a BooleanArray),
    Text(&'a StringArray),
    LargeText(&'a LargeStringArray),
    TextView(&'a StringViewArray),
    Other(ArrayFormatter<'a>),
}

impl<'a> ColumnFormatter<'a> {
    pub(crate) fn new(array: &'a dyn Array) -> io::Result<Self> {
        Ok(match array.data_type() {
            DataType::Float64 => Self::Float64(array.as_primitive()),
            DataType::Float32 => Self::Float32(array.as_primitive()),
            integer if integer.is_signed_integer() => {
                let wide = arrow_cast::cast(array, &DataType::Int64).map_err(io::Error::other)?;
                Self::Signed(wide.as_primitive().clone())
            }
            integer if integer.is_unsigned_integer() => {
                let wide = arrow_cast::cast(array, &DataType::UInt64).map_err(io::Error::other)?;
                Self::Unsigned(wide.as_primitive().clone())
            }
            DataType::Boolean => Self::Boolean(array.as_boolean()),
            DataType::Utf8 => Self::Text(array.as_string()),
            DataType::LargeUtf8 => Self::LargeText(array.as_string()),
            DataType::Utf8View => Self::TextView(array.as_string_view()),
            _ => {
                let formatter = ArrayFormatter::try_new(array, &FormatOptions::new());
                Self::Other(formatter.map_err(io::Error::other)?)
            }
        })
    }

    /// Appends a value that is not missing. Numbers and booleans are appended as they are, all
    /// other text through `write_text`, which may quote it.
    pub(crate) fn write(
        &self,
        row: usize,
        out: &mut Vec<u8>,
        write_text: impl Fn(&str, &mut Vec<u8>),
    ) -> io::Result<()> {
        match self {
            Self::Float64(array) => {
                out.extend_from_slice(zmij::Buffer::new().format(array.value(row)).as_bytes());
            }
            Self::Float32(array) => {
                out.extend_from_slice(zmij::Buffer::new().format(array.value(row)).as_bytes());
            }
            Self::Signed(array) => {
                out.extend_from_slice(itoa::Buffer::new().format(array.value(row)).as_bytes());
            }
            Self::Unsigned(array) => {
                out.extend_from_slice(itoa::Buffer::new().format(array.value(row)).as_bytes());
            }
            Self::Boolean(array) => {
                out.extend_from_slice(if array.value(row) { b"true" } else { b"false" });
            }
            Self::Text(array) => write_text(array.value(row), out),
            Self::LargeText(array) => write_text(array.value(row), out),
            Self::TextView(array) => write_text(array.value(row), out),
            Self::Other(formatter) => {
                let text = formatter.value(row).try_to_string().map_err(io::Error::other)?;
                write_text(&text, out);
            }
        }
        Ok(())
    }
}

/// The values of a column as text; missing values stay missing.
pub(crate) fn as_text(column: &ArrayRef) -> io::Result<StringArray> {
    let formatter = ColumnFormatter::new(column.as_ref())?;
    let nulls = column.logical_nulls();
    let text = |row: usize| -> io::Result<Option<String>> {
        if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return Ok(None);
        }
        let mut out = vec![];
        formatter.write(row, &mut out, |text, out| out.extend_from_slice(text.as_bytes()))?;
        String::from_utf8(out).map(Some).map_err(io::Error::other)
    };
    (0..column.len()).map(text).collect()
}

/// The values of a column as text; values that have no text, such as lists, are missing.
#[must_use]
pub fn to_strings(column: &ArrayRef) -> StringArray {
    as_text(column).unwrap_or_else(|_| StringArray::new_null(column.len()))
}

/// A number for messages; in scientific notation if it would have many zeros.
#[must_use]
pub fn format_number(value: f64) -> String {
    let plain = value == 0.0 || !value.is_finite() || (1e-5..1e16).contains(&value.abs());
    if plain { format!("{value}") } else { format!("{value:e}") }
}
