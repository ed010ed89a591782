//! CSV: rows are formatted in parallel and written in order.
//!
//! A missing value is an empty field, an empty text a quoted one.

use std::io::{self, Write};

use arrow_array::{Array, RecordBatch};
use arrow_buffer::NullBuffer;
use arrow_schema::Schema;
use memchr::memchr3;
use rayon::prelude::*;

use super::file::Stream;
use crate::io::format::Format;
use crate::text::ColumnFormatter;
use crate::{Error, Result};

pub(super) struct CsvSink {
    stream: Stream,
    delimiter: u8,
    /// Buffers for the lines of a batch, reused: allocating costs as much as formatting.
    buffers: Vec<Vec<u8>>,
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
        Ok(Self { stream, delimiter, buffers: vec![] })
    }

    /// Returns an error if the type of a column cannot be written as text.
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
        self.buffers.resize_with(needed.max(self.buffers.len()), Vec::new);
        let delimiter = self.delimiter;
        let buffers = &mut self.buffers[..needed];
        buffers.par_iter_mut().enumerate().try_for_each(|(index, out)| {
            let first = index * ROWS;
            out.clear();
            write_lines(&batch.slice(first, ROWS.min(rows - first)), delimiter, out)
        })?;
        for buffer in buffers {
            self.stream.write_all(buffer)?;
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
    let formatters: Vec<ColumnFormatter<'_>> = batch
        .columns()
        .iter()
        .map(|column| ColumnFormatter::new(column.as_ref()))
        .collect::<Result<_, _>>()?;
    for row in 0..batch.num_rows() {
        for (place, (formatter, nulls)) in formatters.iter().zip(&nulls).enumerate() {
            if place > 0 {
                out.push(delimiter);
            }
            if !nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                formatter.write(row, out, |text, out| write_text(text, delimiter, out))?;
            }
        }
        out.push(b'\n');
    }
    Ok(())
}

fn write_text(text: &str, delimiter: u8, out: &mut Vec<u8>) {
    let bytes = text.as_bytes();
    // At the start of a file, a byte order mark would not be read as text.
    let special = memchr3(delimiter, b'"', b'\n', bytes).is_some()
        || bytes.contains(&b'\r')
        || text.starts_with('\u{feff}');
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
