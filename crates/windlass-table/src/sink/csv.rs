//! Text: rows are formatted side by side and written in their order.
//!
//! Numbers have the fewest digits that read back as the same number. A missing value is an empty field, an
//! empty text a quoted one.

use std::io::{self, Write};

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float32Array, Float64Array, LargeStringArray, PrimitiveArray,
    RecordBatch, StringArray, StringViewArray,
};
use arrow_buffer::NullBuffer;
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Schema};
use memchr::memchr3;
use rayon::prelude::*;

use super::file::Stream;
use crate::format::Format;
use crate::{Error, Result};

pub(super) struct CsvSink {
    stream: Stream,
    delimiter: u8,
    /// Room for the lines of a batch, used again: fresh memory costs as much as what is written to it.
    pieces: Vec<Vec<u8>>,
}

impl CsvSink {
    pub(super) fn new(
        mut stream: Stream,
        delimiter: u8,
        header: Option<&Schema>,
    ) -> io::Result<Self> {
        if let Some(schema) = header {
            let mut line = vec![];
            for (place, field) in schema.fields().iter().enumerate() {
                if place > 0 {
                    line.push(delimiter);
                }
                write_text(field.name(), delimiter, &mut line);
            }
            line.push(b'\n');
            stream.write_all(&line)?;
        }
        Ok(Self { stream, delimiter, pieces: vec![] })
    }

    /// Refuses columns that text cannot hold.
    pub(super) fn check(schema: &Schema, format: Format) -> Result<()> {
        match schema.fields().iter().find(|field| field.data_type().is_nested()) {
            Some(field) => Err(Error::NoSuchType {
                column: field.name().clone(),
                holds: field.data_type().to_string(),
                format: format.name(),
            }),
            None => Ok(()),
        }
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> io::Result<()> {
        const ROWS: usize = 2048;
        let rows = batch.num_rows();
        let needed = rows.div_ceil(ROWS);
        self.pieces.resize_with(needed.max(self.pieces.len()), Vec::new);
        let delimiter = self.delimiter;
        let pieces = &mut self.pieces[..needed];
        pieces.par_iter_mut().enumerate().try_for_each(|(piece, out)| {
            let first = piece * ROWS;
            out.clear();
            write_lines(&batch.slice(first, ROWS.min(rows - first)), delimiter, out)
        })?;
        for piece in pieces {
            self.stream.write_all(piece)?;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> io::Result<()> {
        self.stream.commit()
    }
}

fn write_lines(batch: &RecordBatch, delimiter: u8, out: &mut Vec<u8>) -> io::Result<()> {
    let columns = batch.columns().iter();
    let nulls: Vec<Option<NullBuffer>> = columns.map(Array::logical_nulls).collect();
    let cells: Vec<Cells<'_>> = batch
        .columns()
        .iter()
        .map(|column| Cells::of(column.as_ref()))
        .collect::<Result<_, _>>()?;
    for row in 0..batch.num_rows() {
        for (place, (cells, nulls)) in cells.iter().zip(&nulls).enumerate() {
            if place > 0 {
                out.push(delimiter);
            }
            if !nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                cells.write(row, delimiter, out)?;
            }
        }
        out.push(b'\n');
    }
    Ok(())
}

/// A column, told apart once instead of for every value.
enum Cells<'a> {
    Float64(&'a Float64Array),
    Float32(&'a Float32Array),
    Int8(&'a PrimitiveArray<Int8Type>),
    Int16(&'a PrimitiveArray<Int16Type>),
    Int32(&'a PrimitiveArray<Int32Type>),
    Int64(&'a PrimitiveArray<Int64Type>),
    UInt8(&'a PrimitiveArray<UInt8Type>),
    UInt16(&'a PrimitiveArray<UInt16Type>),
    UInt32(&'a PrimitiveArray<UInt32Type>),
    UInt64(&'a PrimitiveArray<UInt64Type>),
    Boolean(&'a BooleanArray),
    Text(&'a StringArray),
    LargeText(&'a LargeStringArray),
    TextView(&'a StringViewArray),
    Other(ArrayFormatter<'a>),
}

impl<'a> Cells<'a> {
    fn of(array: &'a dyn Array) -> io::Result<Self> {
        Ok(match array.data_type() {
            DataType::Float64 => Self::Float64(array.as_primitive()),
            DataType::Float32 => Self::Float32(array.as_primitive()),
            DataType::Int8 => Self::Int8(array.as_primitive()),
            DataType::Int16 => Self::Int16(array.as_primitive()),
            DataType::Int32 => Self::Int32(array.as_primitive()),
            DataType::Int64 => Self::Int64(array.as_primitive()),
            DataType::UInt8 => Self::UInt8(array.as_primitive()),
            DataType::UInt16 => Self::UInt16(array.as_primitive()),
            DataType::UInt32 => Self::UInt32(array.as_primitive()),
            DataType::UInt64 => Self::UInt64(array.as_primitive()),
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

    /// Writes a value that is there.
    fn write(&self, row: usize, delimiter: u8, out: &mut Vec<u8>) -> io::Result<()> {
        match self {
            Self::Float64(array) => {
                out.extend_from_slice(zmij::Buffer::new().format(array.value(row)).as_bytes());
            }
            Self::Float32(array) => {
                out.extend_from_slice(zmij::Buffer::new().format(array.value(row)).as_bytes());
            }
            Self::Int8(array) => write_integer(array, row, out),
            Self::Int16(array) => write_integer(array, row, out),
            Self::Int32(array) => write_integer(array, row, out),
            Self::Int64(array) => write_integer(array, row, out),
            Self::UInt8(array) => write_integer(array, row, out),
            Self::UInt16(array) => write_integer(array, row, out),
            Self::UInt32(array) => write_integer(array, row, out),
            Self::UInt64(array) => write_integer(array, row, out),
            Self::Boolean(array) => {
                out.extend_from_slice(if array.value(row) { b"true" } else { b"false" });
            }
            Self::Text(array) => write_text(array.value(row), delimiter, out),
            Self::LargeText(array) => write_text(array.value(row), delimiter, out),
            Self::TextView(array) => write_text(array.value(row), delimiter, out),
            Self::Other(formatter) => {
                let text = formatter.value(row).try_to_string().map_err(io::Error::other)?;
                write_text(&text, delimiter, out);
            }
        }
        Ok(())
    }
}

/// What a column would be as text; missing values stay missing.
pub(crate) fn as_text(column: &ArrayRef) -> io::Result<StringArray> {
    let cells = Cells::of(column.as_ref())?;
    let nulls = column.logical_nulls();
    // A delimiter that no text has, and the quotes around those that need them taken off again.
    let text = |row: usize| -> io::Result<Option<String>> {
        if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
            return Ok(None);
        }
        let mut out = vec![];
        cells.write(row, b'"', &mut out)?;
        let text = String::from_utf8(out).map_err(io::Error::other)?;
        Ok(Some(match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
            Some(inner) => inner.replace("\"\"", "\""),
            None => text,
        }))
    };
    (0..column.len()).map(text).collect()
}

fn write_integer<T: ArrowPrimitiveType>(array: &PrimitiveArray<T>, row: usize, out: &mut Vec<u8>)
where
    T::Native: itoa::Integer,
{
    out.extend_from_slice(itoa::Buffer::new().format(array.value(row)).as_bytes());
}

fn write_text(text: &str, delimiter: u8, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    let special = memchr3(delimiter, b'"', b'\n', bytes).is_some() || bytes.contains(&b'\r');
    if !special && !bytes.is_empty() {
        return out.extend_from_slice(bytes);
    }
    out.push(b'"');
    for part in text.split_inclusive('"') {
        out.extend_from_slice(part.as_bytes());
        if part.ends_with('"') {
            out.push(b'"');
        }
    }
    out.push(b'"');
}
