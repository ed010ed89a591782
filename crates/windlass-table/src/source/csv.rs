//! The CSV door: text is cut into chunks of whole records, and chunks are parsed side by side.
//!
//! The type of a column is what all its values allow, however far down the file the last of them stands.
//! It is guessed from the first chunk; where a later value does not fit, the whole file is looked at.

use std::io::Read;
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Date32Builder, Float64Builder, Int64Builder, StringBuilder,
};
use arrow_array::types::Date32Type;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_cast::parse::Parser;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use memchr::{memchr, memchr_iter, memchr2, memrchr};
use rayon::prelude::*;

use super::file::{Input, read_error};
use super::or_fault;
use crate::format::Compression;
use crate::{Error, Result};

/// Bytes of text that are parsed at a time.
const CHUNK: usize = 1 << 20;
/// A longer line is refused: it would have to be held in memory.
const LONGEST_LINE: usize = 64 << 20;
/// What stands for a missing number, boolean or date; in a column of text these are words.
const MISSING: [&str; 8] = ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"];

/// How fields and records are told apart.
#[derive(Debug, Clone)]
pub(super) struct Dialect {
    pub(super) delimiter: u8,
    pub(super) header: bool,
    /// What stands for a missing value, in every column.
    pub(super) nulls: Vec<String>,
    /// Whether every column is text, whatever it looks like.
    pub(super) as_text: bool,
}

/// The kinds of values seen in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Kinds(u8);

impl Kinds {
    const BOOLEAN: u8 = 1;
    const INTEGER: u8 = 2;
    /// Digits that an `i64` would not give back: leading zeros, or too many.
    const DIGITS: u8 = 4;
    const FLOAT: u8 = 8;
    const DATE: u8 = 16;
    const TEXT: u8 = 32;

    /// The kind of one value; none for a missing one.
    fn of(value: &str) -> u8 {
        let value = value.trim_ascii();
        if MISSING.contains(&value) {
            return 0;
        }
        if is_digits(value) {
            return if to_integer(value).is_some() { Self::INTEGER } else { Self::DIGITS };
        }
        if to_float(value).is_some() {
            Self::FLOAT
        } else if to_boolean(value).is_some() {
            Self::BOOLEAN
        } else if to_date(value).is_some() {
            Self::DATE
        } else {
            Self::TEXT
        }
    }

    /// What holds all values without loss.
    fn data_type(self) -> DataType {
        const NUMBERS: u8 = Kinds::INTEGER | Kinds::DIGITS | Kinds::FLOAT;
        match self.0 {
            Self::BOOLEAN => DataType::Boolean,
            Self::INTEGER => DataType::Int64,
            Self::DATE => DataType::Date32,
            kinds if kinds & Self::FLOAT != 0 && kinds & !NUMBERS == 0 => DataType::Float64,
            _ => DataType::Utf8,
        }
    }

    /// Whether a further value would make a column of text something else.
    fn changes_with(self, value: &str) -> bool {
        // Once there is a word, or a mixture, text stays text.
        let open = self.0 & !(Self::INTEGER | Self::DIGITS) == 0;
        open && Kinds(self.0 | Kinds::of(value)).data_type() != DataType::Utf8
    }
}

fn is_digits(value: &str) -> bool {
    let digits = value.strip_prefix(['-', '+']).unwrap_or(value);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

fn to_integer(value: &str) -> Option<i64> {
    let digits = value.strip_prefix(['-', '+']).unwrap_or(value);
    if digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    value.parse().ok()
}

fn to_float(value: &str) -> Option<f64> {
    value.parse::<f64>().ok().filter(|number| !number.is_nan())
}

fn to_boolean(value: &str) -> Option<bool> {
    match value {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// Days since 1970 of `2024-02-29`, and of no other spelling.
fn to_date(value: &str) -> Option<i32> {
    let bytes = value.as_bytes();
    let digits = |range: std::ops::Range<usize>| bytes[range].iter().all(u8::is_ascii_digit);
    let spelled = bytes.len() == 10 && bytes[4] == b'-' && bytes[7] == b'-';
    if !(spelled && digits(0..4) && digits(5..7) && digits(8..10)) {
        return None;
    }
    Date32Type::parse(value)
}

/// One text file.
#[derive(Debug)]
pub(super) struct CsvPart {
    pub(super) input: Input,
    compression: Compression,
    names: Vec<String>,
}

impl CsvPart {
    pub(super) fn open(input: Input, compression: Compression, dialect: &Dialect) -> Result<Self> {
        let mut part = Self { input, compression, names: vec![] };
        let mut chunks = part.chunks(dialect, 4096)?;
        let Some(first) = chunks.next().transpose()? else {
            return Err(Error::EmptyFile { path: part.input.path });
        };
        let mut fields = Fields::new(&part, dialect, &first)?;
        let mut names = vec![];
        while let Some((name, _, end)) = fields.next()? {
            let number = names.len() + 1;
            names.push(if dialect.header { name.to_owned() } else { format!("column_{number}") });
            if end == End::Record {
                break;
            }
        }
        if names.is_empty() {
            return Err(Error::EmptyFile { path: part.input.path });
        }
        part.names = names;
        Ok(part)
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    fn chunks<'a>(&'a self, dialect: &'a Dialect, size: usize) -> Result<Chunks<'a>> {
        let reader = self.input.reader(self.compression)?;
        Ok(Chunks { part: self, dialect, reader, carry: vec![], line: 1, size, ended: false })
    }

    /// Chunks of whole records, without the header.
    fn data<'a>(&'a self, dialect: &'a Dialect) -> Result<Chunks<'a>> {
        let mut chunks = self.chunks(dialect, CHUNK)?;
        if dialect.header
            && let Some(mut first) = chunks.next().transpose()?
        {
            let mut fields = Fields::new(self, dialect, &first)?;
            while let Some((_, _, end)) = fields.next()? {
                if end == End::Record {
                    break;
                }
            }
            let header = fields.at;
            first.line += memchr_iter(b'\n', &first.bytes[..header]).count() as u64;
            first.bytes.drain(..header);
            chunks.ahead(first);
        }
        Ok(chunks)
    }
}

/// Whole records, as bytes.
struct Chunk {
    bytes: Vec<u8>,
    /// The number of its first line.
    line: u64,
}

struct Chunks<'a> {
    part: &'a CsvPart,
    dialect: &'a Dialect,
    reader: Box<dyn Read + Send>,
    /// The beginning of the next chunk.
    carry: Vec<u8>,
    line: u64,
    size: usize,
    ended: bool,
}

impl Chunks<'_> {
    /// Gives a chunk back, to be the beginning of the next.
    fn ahead(&mut self, mut chunk: Chunk) {
        self.line = chunk.line;
        chunk.bytes.append(&mut self.carry);
        self.carry = chunk.bytes;
    }

    fn read(&mut self) -> Result<Option<Chunk>> {
        let path = &self.part.input.path;
        let mut bytes = std::mem::take(&mut self.carry);
        let mut wanted = self.size.max(bytes.len());
        loop {
            if !self.ended {
                let missing = (wanted - bytes.len()) as u64;
                let begin = bytes.is_empty() && self.line == 1;
                let read = self.reader.by_ref().take(missing).read_to_end(&mut bytes);
                self.ended = (read.map_err(|error| read_error(path, error))? as u64) < missing;
                if begin && bytes.starts_with(b"\xef\xbb\xbf") {
                    bytes.drain(..3);
                }
            }
            let end = if self.ended { bytes.len() } else { self.last_record_end(&bytes) };
            if end > 0 {
                self.carry = bytes.split_off(end);
                let line = self.line;
                self.line += memchr_iter(b'\n', &bytes).count() as u64;
                return Ok(Some(Chunk { bytes, line }));
            }
            if self.ended {
                return Ok(None);
            }
            if bytes.len() > LONGEST_LINE {
                let (path, line) = (path.clone(), self.line);
                return Err(Error::LineTooLong { path, line, limit: LONGEST_LINE });
            }
            wanted = bytes.len() * 2;
        }
    }

    /// The end of the last whole record; bytes begin with a record.
    fn last_record_end(&self, bytes: &[u8]) -> usize {
        if memchr(b'"', bytes).is_none() {
            return memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        }
        let mut at = 0;
        let mut end = 0;
        while at < bytes.len() {
            let field = at;
            if bytes[at] == b'"' {
                at += 1;
                loop {
                    let Some(quote) = memchr(b'"', &bytes[at..]) else { return end };
                    at += quote + 1;
                    match bytes.get(at) {
                        Some(b'"') => at += 1,
                        _ => break,
                    }
                }
            }
            let Some(stop) = memchr2(self.dialect.delimiter, b'\n', &bytes[at..]) else {
                return end;
            };
            at += stop + 1;
            debug_assert!(at > field);
            if bytes[at - 1] == b'\n' {
                end = at;
            }
        }
        end
    }
}

impl Iterator for Chunks<'_> {
    type Item = Result<Chunk>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Field,
    Record,
}

/// The fields of a chunk, one after the other.
struct Fields<'a> {
    part: &'a CsvPart,
    delimiter: u8,
    text: &'a str,
    line: u64,
    at: usize,
    begins_record: bool,
    unquoted: String,
}

impl<'a> Fields<'a> {
    fn new(part: &'a CsvPart, dialect: &Dialect, chunk: &'a Chunk) -> Result<Self> {
        let text = std::str::from_utf8(&chunk.bytes).map_err(|error| {
            let at = error.valid_up_to();
            let line = chunk.line + memchr_iter(b'\n', &chunk.bytes[..at]).count() as u64;
            Error::NotUtf8 { path: part.input.path.clone(), line, byte: chunk.bytes[at] }
        })?;
        Ok(Self {
            part,
            delimiter: dialect.delimiter,
            text,
            line: chunk.line,
            at: 0,
            begins_record: true,
            unquoted: String::new(),
        })
    }

    /// The number of the line at a place in the text.
    fn line_at(&self, at: usize) -> u64 {
        self.line + memchr_iter(b'\n', &self.text.as_bytes()[..at]).count() as u64
    }

    /// The next field, whether it was quoted, and what ends it. Empty lines are passed over.
    #[inline]
    fn next(&mut self) -> Result<Option<(&str, bool, End)>> {
        let bytes = self.text.as_bytes();
        if self.begins_record {
            loop {
                match &bytes[self.at..] {
                    [b'\n', ..] => self.at += 1,
                    [b'\r', b'\n', ..] => self.at += 2,
                    [] => return Ok(None),
                    _ => break,
                }
            }
        }
        let quoted = bytes.get(self.at) == Some(&b'"');
        if quoted {
            self.unquote()?;
        }
        let start = self.at;
        let (stop, end) = match memchr2(self.delimiter, b'\n', &bytes[start..]) {
            Some(length) if bytes[start + length] == b'\n' => (start + length, End::Record),
            Some(length) => (start + length, End::Field),
            None => (bytes.len(), End::Record),
        };
        self.at = (stop + 1).min(bytes.len());
        self.begins_record = end == End::Record;
        let mut field = &self.text[start..stop];
        if end == End::Record {
            field = field.strip_suffix('\r').unwrap_or(field);
        }
        if quoted {
            self.unquoted.push_str(field);
            return Ok(Some((&self.unquoted, true, end)));
        }
        Ok(Some((field, false, end)))
    }

    /// Reads up to and over the closing quote.
    fn unquote(&mut self) -> Result<()> {
        self.unquoted.clear();
        let open = self.at;
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let Some(quote) = memchr(b'"', rest.as_bytes()) else {
                let (path, line) = (self.part.input.path.clone(), self.line_at(open));
                return Err(Error::OpenQuote { path, line });
            };
            self.unquoted.push_str(&rest[..quote]);
            self.at += quote + 1;
            if !self.text[self.at..].starts_with('"') {
                return Ok(());
            }
            self.unquoted.push('"');
            self.at += 1;
        }
    }
}

/// Several text files that are one table.
#[derive(Debug)]
pub(super) struct CsvTable {
    pub(super) parts: Vec<CsvPart>,
    dialect: Dialect,
    kinds: Vec<Kinds>,
    schema: SchemaRef,
}

impl CsvTable {
    /// Guesses the types of the columns.
    pub(super) fn open(parts: Vec<CsvPart>, dialect: Dialect) -> Result<Self> {
        let mut table = Self { parts, dialect, kinds: vec![], schema: Schema::empty().into() };
        let first = table.parts[0].data(&table.dialect)?.next().transpose()?;
        let kinds = match &first {
            _ if table.dialect.as_text => vec![Kinds(Kinds::TEXT); table.parts[0].names.len()],
            Some(chunk) => table.kinds_of(&table.parts[0], chunk)?,
            None => vec![Kinds::default(); table.parts[0].names.len()],
        };
        table.set_kinds(kinds);
        Ok(table)
    }

    fn set_kinds(&mut self, kinds: Vec<Kinds>) {
        let names = self.parts[0].names.iter();
        let field = |(name, kinds): (&String, &Kinds)| Field::new(name, kinds.data_type(), true);
        self.schema = Schema::new(names.zip(&kinds).map(field).collect::<Vec<_>>()).into();
        self.kinds = kinds;
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Looks at every value.
    pub(super) fn infer(&mut self) -> Result<()> {
        let mut all = vec![Kinds::default(); self.kinds.len()];
        for part in &self.parts {
            for window in windows(part.data(&self.dialect)?) {
                let seen: Vec<Vec<Kinds>> = window?
                    .par_iter()
                    .map(|chunk| self.kinds_of(part, chunk))
                    .collect::<Result<_>>()?;
                for kinds in seen {
                    for (all, kinds) in all.iter_mut().zip(kinds) {
                        all.0 |= kinds.0;
                    }
                }
            }
        }
        self.set_kinds(all);
        Ok(())
    }

    fn kinds_of(&self, part: &CsvPart, chunk: &Chunk) -> Result<Vec<Kinds>> {
        let mut kinds = vec![Kinds::default(); part.names.len()];
        self.records(part, chunk, |column, value, quoted| {
            if self.is_null(value, quoted) || kinds[column].0 & Kinds::TEXT != 0 {
                return true;
            }
            kinds[column].0 |= Kinds::of(value);
            true
        })?;
        Ok(kinds)
    }

    /// Whether a value is missing whatever its column's type.
    fn is_null(&self, value: &str, quoted: bool) -> bool {
        (value.is_empty() && !quoted) || self.dialect.nulls.iter().any(|null| null == value)
    }

    /// Calls `each` with the column and the value of every field, until it says no; the number of rows.
    fn records(
        &self,
        part: &CsvPart,
        chunk: &Chunk,
        mut each: impl FnMut(usize, &str, bool) -> bool,
    ) -> Result<Option<usize>> {
        let mut fields = Fields::new(part, &self.dialect, chunk)?;
        let expected = part.names.len();
        let (mut rows, mut column) = (0, 0);
        while let Some((value, quoted, end)) = fields.next()? {
            if column < expected && !each(column, value, quoted) {
                return Ok(None);
            }
            column += 1;
            if end == End::Record {
                if column != expected {
                    let (path, got) = (part.input.path.clone(), column);
                    let line = fields.line_at(fields.at.saturating_sub(1));
                    return Err(Error::Ragged { path, line, expected, got });
                }
                rows += 1;
                column = 0;
            }
        }
        Ok(Some(rows))
    }

    /// The rows of a chunk, or nothing where a value does not fit the guessed type.
    fn parse(&self, part: &CsvPart, chunk: &Chunk) -> Result<Option<RecordBatch>> {
        let mut columns: Vec<Values> = self.kinds.iter().map(|&kinds| Values::of(kinds)).collect();
        let rows = self.records(part, chunk, |column, value, quoted| {
            let null = self.is_null(value, quoted);
            columns[column].push(if null { None } else { Some(value) })
        })?;
        let Some(rows) = rows else { return Ok(None) };
        let columns = columns.into_iter().map(Values::finish).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let schema = Arc::clone(&self.schema);
        let batch = RecordBatch::try_new_with_options(schema, columns, &options);
        Ok(Some(batch.expect("columns of the schema's types and the same length")))
    }

    /// The rows of all files. `None` stands for a value that does not fit the guessed types.
    pub(super) fn blocks(&self) -> impl Iterator<Item = Result<Option<RecordBatch>>> + Send + '_ {
        self.parts.iter().flat_map(move |part| {
            let windows = or_fault(part.data(&self.dialect).map(windows));
            windows.flat_map(move |window| match window {
                Ok(window) => {
                    window.par_iter().map(|chunk| self.parse(part, chunk)).collect::<Vec<_>>()
                }
                Err(error) => vec![Err(error)],
            })
        })
    }
}

/// Chunks by the handful, to be parsed side by side.
fn windows(mut chunks: Chunks<'_>) -> impl Iterator<Item = Result<Vec<Chunk>>> + Send + '_ {
    let size = 2 * rayon::current_num_threads();
    let mut ended = false;
    std::iter::from_fn(move || {
        let mut window = vec![];
        while !ended && window.len() < size {
            match chunks.next() {
                Some(Ok(chunk)) => window.push(chunk),
                Some(Err(error)) => {
                    ended = true;
                    return Some(Err(error));
                }
                None => ended = true,
            }
        }
        (!window.is_empty()).then_some(Ok(window))
    })
}

/// The values of one column of a chunk.
enum Values {
    Boolean(BooleanBuilder),
    Integer(Int64Builder),
    Float(Float64Builder),
    Date(Date32Builder),
    Text { values: StringBuilder, kinds: Kinds },
}

impl Values {
    fn of(kinds: Kinds) -> Self {
        match kinds.data_type() {
            DataType::Boolean => Self::Boolean(BooleanBuilder::new()),
            DataType::Int64 => Self::Integer(Int64Builder::new()),
            DataType::Float64 => Self::Float(Float64Builder::new()),
            DataType::Date32 => Self::Date(Date32Builder::new()),
            _ => Self::Text { values: StringBuilder::new(), kinds },
        }
    }

    /// Adds a value; whether it fits.
    #[inline]
    fn push(&mut self, value: Option<&str>) -> bool {
        macro_rules! typed {
            ($values:expr, $parse:expr) => {{
                let parsed = value.map(|value| (value, $parse(value.trim_ascii())));
                match parsed {
                    Some((_, Some(value))) => $values.append_value(value),
                    Some((value, None)) if !MISSING.contains(&value.trim_ascii()) => return false,
                    _ => $values.append_null(),
                }
                true
            }};
        }
        match self {
            Self::Boolean(values) => typed!(values, to_boolean),
            Self::Integer(values) => typed!(values, to_integer),
            Self::Float(values) => typed!(values, to_float),
            Self::Date(values) => typed!(values, to_date),
            Self::Text { values, kinds } => {
                if value.is_some_and(|value| kinds.changes_with(value)) {
                    return false;
                }
                values.append_option(value);
                true
            }
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Self::Boolean(mut values) => Arc::new(values.finish()),
            Self::Integer(mut values) => Arc::new(values.finish()),
            Self::Float(mut values) => Arc::new(values.finish()),
            Self::Date(mut values) => Arc::new(values.finish()),
            Self::Text { mut values, .. } => Arc::new(values.finish()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Kinds;
    use arrow_schema::DataType;

    #[test]
    fn a_column_has_the_type_that_keeps_all_its_values() {
        let type_of = |values: &[&str]| {
            Kinds(values.iter().fold(0, |kinds, value| kinds | Kinds::of(value))).data_type()
        };
        for (values, expected) in [
            (&["1", "-2", "", "NA"][..], DataType::Int64),
            (&["1", "2.5", "1e-3", "inf"], DataType::Float64),
            (&["007", "12"], DataType::Utf8),
            (&["007", "1.5"], DataType::Float64),
            (&["9223372036854775808"], DataType::Utf8),
            (&["true", "False"], DataType::Boolean),
            (&["true", "1"], DataType::Utf8),
            (&["2024-02-29", "nan"], DataType::Date32),
            (&["2023-02-29"], DataType::Utf8),
            (&["2024-02-29", "3"], DataType::Utf8),
            (&["1", "one"], DataType::Utf8),
            (&["", "NA"], DataType::Utf8),
        ] {
            assert_eq!(type_of(values), expected, "{values:?}");
        }
    }
}
