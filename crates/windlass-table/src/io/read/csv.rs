//! CSV: text is split into chunks of whole records, and chunks are parsed in parallel.
//!
//! The type of a column depends on all its values. It is guessed from the first chunk; if a later
//! value does not fit, it is inferred from the whole file.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

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
use super::rechunk::flatten_error;
use crate::io::format::Compression;
use crate::{Error, Result};

/// Size of a chunk in bytes.
const CHUNK: usize = 1 << 20;
/// A longer line is an error, because it would have to be held in memory.
const MAX_LINE: usize = 64 << 20;
/// Missing numbers, booleans and dates; in a column of text these are ordinary values.
const MISSING: [&str; 8] = ["", "NA", "N/A", "NaN", "nan", "NULL", "null", "None"];

#[derive(Debug, Clone)]
pub(super) struct Dialect {
    pub(super) delimiter: u8,
    pub(super) header: bool,
    /// Missing values in a column of any type.
    pub(super) nulls: Vec<String>,
    /// Read every column as text.
    pub(super) as_text: bool,
}

/// The set of kinds of values in a column, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct ValueKinds(u8);

impl ValueKinds {
    const BOOLEAN: u8 = 1;
    const INTEGER: u8 = 2;
    /// Digits that are not the text of an `i64`: with leading zeros, or too many.
    const DIGITS: u8 = 4;
    const FLOAT: u8 = 8;
    const DATE: u8 = 16;
    const TEXT: u8 = 32;

    /// The kind of one value; 0 for a missing one.
    fn classify(value: &str) -> u8 {
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

    /// The type that represents all values without loss.
    fn data_type(self) -> DataType {
        const NUMBERS: u8 = ValueKinds::INTEGER | ValueKinds::DIGITS | ValueKinds::FLOAT;
        match self.0 {
            Self::BOOLEAN => DataType::Boolean,
            Self::INTEGER => DataType::Int64,
            Self::DATE => DataType::Date32,
            kinds if kinds & Self::FLOAT != 0 && kinds & !NUMBERS == 0 => DataType::Float64,
            _ => DataType::Utf8,
        }
    }

    /// Whether a further value would give a column of text another type.
    fn changes_with(self, value: &str) -> bool {
        // Once there is a word, or a mixture, the column stays text.
        let open = self.0 & !(Self::INTEGER | Self::DIGITS) == 0;
        open && ValueKinds(self.0 | ValueKinds::classify(value)).data_type() != DataType::Utf8
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

/// The number of decimals of a number, written out without an exponent.
fn decimals(value: &str) -> u8 {
    let (digits, exponent) = value.split_once(['e', 'E']).unwrap_or((value, "0"));
    let fraction = digits.rfind(['.', ',']).map_or(0, |mark| digits[mark + 1..].trim_end().len());
    let exponent: i64 = exponent.trim_end().parse().unwrap_or(0);
    let decimals = i64::try_from(fraction).unwrap_or(i64::MAX).saturating_sub(exponent);
    u8::try_from(decimals.max(0)).unwrap_or(u8::MAX)
}

fn to_boolean(value: &str) -> Option<bool> {
    match value {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// Days since 1970; the only format is `2024-02-29`.
fn to_date(value: &str) -> Option<i32> {
    let bytes = value.as_bytes();
    let digits = |range: std::ops::Range<usize>| bytes[range].iter().all(u8::is_ascii_digit);
    let spelled = bytes.len() == 10 && bytes[4] == b'-' && bytes[7] == b'-';
    if !(spelled && digits(0..4) && digits(5..7) && digits(8..10)) {
        return None;
    }
    Date32Type::parse(value)
}

#[derive(Debug)]
pub(super) struct CsvFile {
    pub(super) input: Input,
    compression: Compression,
    names: Vec<String>,
}

impl CsvFile {
    pub(super) fn open(input: Input, compression: Compression, dialect: &Dialect) -> Result<Self> {
        let mut file = Self { input, compression, names: vec![] };
        let mut chunks = file.chunks(dialect, 4096)?;
        let Some(first) = chunks.next().transpose()? else {
            return Err(Error::EmptyFile { path: file.input.path });
        };
        let mut fields = Fields::new(&file, dialect, &first)?;
        let mut names = vec![];
        while let Some((name, _, end)) = fields.next()? {
            let number = names.len() + 1;
            names.push(if dialect.header { name.to_owned() } else { format!("column_{number}") });
            if end == End::Record {
                break;
            }
        }
        if names.is_empty() {
            return Err(Error::EmptyFile { path: file.input.path });
        }
        file.names = names;
        Ok(file)
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    fn chunks<'a>(&'a self, dialect: &'a Dialect, size: usize) -> Result<Chunks<'a>> {
        let reader = self.input.reader(self.compression)?;
        Ok(Chunks { file: self, dialect, reader, carry: vec![], line: 1, size, ended: false })
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
            chunks.unread(first);
        }
        Ok(chunks)
    }
}

/// Whole records, as bytes.
struct Chunk {
    bytes: Vec<u8>,
    /// The line number of its first line.
    line: u64,
}

struct Chunks<'a> {
    file: &'a CsvFile,
    dialect: &'a Dialect,
    reader: Box<dyn Read + Send>,
    /// The start of the next chunk.
    carry: Vec<u8>,
    line: u64,
    size: usize,
    ended: bool,
}

impl Chunks<'_> {
    /// Puts a chunk back in front of the next.
    fn unread(&mut self, mut chunk: Chunk) {
        self.line = chunk.line;
        chunk.bytes.append(&mut self.carry);
        self.carry = chunk.bytes;
    }

    fn read(&mut self) -> Result<Option<Chunk>> {
        let path = &self.file.input.path;
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
            if bytes.len() > MAX_LINE {
                let (path, line) = (path.clone(), self.line);
                return Err(Error::LineTooLong { path, line, limit: MAX_LINE });
            }
            wanted = bytes.len() * 2;
        }
    }

    /// The end of the last whole record of bytes that start with a record.
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

/// Parses the fields of a chunk.
struct Fields<'a> {
    file: &'a CsvFile,
    delimiter: u8,
    text: &'a str,
    line: u64,
    at: usize,
    begins_record: bool,
    unquoted: String,
}

impl<'a> Fields<'a> {
    fn new(file: &'a CsvFile, dialect: &Dialect, chunk: &'a Chunk) -> Result<Self> {
        let text = std::str::from_utf8(&chunk.bytes).map_err(|error| {
            let at = error.valid_up_to();
            let line = chunk.line + memchr_iter(b'\n', &chunk.bytes[..at]).count() as u64;
            Error::NotUtf8 { path: file.input.path.clone(), line, byte: chunk.bytes[at] }
        })?;
        Ok(Self {
            file,
            delimiter: dialect.delimiter,
            text,
            line: chunk.line,
            at: 0,
            begins_record: true,
            unquoted: String::new(),
        })
    }

    /// The line number at an offset of the text.
    fn line_at(&self, at: usize) -> u64 {
        self.line + memchr_iter(b'\n', &self.text.as_bytes()[..at]).count() as u64
    }

    /// The next field, whether it was quoted, and what ends it. Empty lines are skipped.
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

    /// Reads up to and including the closing quote.
    fn unquote(&mut self) -> Result<()> {
        self.unquoted.clear();
        let open = self.at;
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let Some(quote) = memchr(b'"', rest.as_bytes()) else {
                let (path, line) = (self.file.input.path.clone(), self.line_at(open));
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

/// Several files that are one table.
#[derive(Debug)]
pub(super) struct CsvTable {
    pub(super) files: Vec<CsvFile>,
    dialect: Dialect,
    kinds: Vec<ValueKinds>,
    schema: SchemaRef,
    /// The most decimals of the values parsed so far, by column.
    decimals: Vec<AtomicU8>,
}

impl CsvTable {
    /// Guesses the types of the columns from the first chunk.
    pub(super) fn open(files: Vec<CsvFile>, dialect: Dialect) -> Result<Self> {
        let schema = Schema::empty().into();
        let mut table = Self { files, dialect, kinds: vec![], schema, decimals: vec![] };
        let first = table.files[0].data(&table.dialect)?.next().transpose()?;
        let kinds = match &first {
            _ if table.dialect.as_text => {
                vec![ValueKinds(ValueKinds::TEXT); table.files[0].names.len()]
            }
            Some(chunk) => table.kinds_of(&table.files[0], chunk)?,
            None => vec![ValueKinds::default(); table.files[0].names.len()],
        };
        table.set_kinds(kinds);
        Ok(table)
    }

    fn set_kinds(&mut self, kinds: Vec<ValueKinds>) {
        let names = self.files[0].names.iter();
        let field =
            |(name, kinds): (&String, &ValueKinds)| Field::new(name, kinds.data_type(), true);
        self.schema = Schema::new(names.zip(&kinds).map(field).collect::<Vec<_>>()).into();
        self.decimals = kinds.iter().map(|_| AtomicU8::new(0)).collect();
        self.kinds = kinds;
    }

    /// The most decimals of each column of floats, after all rows were parsed.
    pub(super) fn decimals(&self) -> Vec<Option<u8>> {
        let columns = self.kinds.iter().zip(&self.decimals);
        let most = |(kinds, most): (&ValueKinds, &AtomicU8)| {
            (kinds.data_type() == DataType::Float64).then(|| most.load(Ordering::Relaxed))
        };
        columns.map(most).collect()
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Infers the types of the columns from all values.
    pub(super) fn infer_types(&mut self) -> Result<()> {
        let mut all = vec![ValueKinds::default(); self.kinds.len()];
        for file in &self.files {
            for window in windows(file.data(&self.dialect)?) {
                let per_chunk: Vec<Vec<ValueKinds>> = window?
                    .par_iter()
                    .map(|chunk| self.kinds_of(file, chunk))
                    .collect::<Result<_>>()?;
                for kinds in per_chunk {
                    for (all, kinds) in all.iter_mut().zip(kinds) {
                        all.0 |= kinds.0;
                    }
                }
            }
        }
        self.set_kinds(all);
        Ok(())
    }

    fn kinds_of(&self, file: &CsvFile, chunk: &Chunk) -> Result<Vec<ValueKinds>> {
        let mut kinds = vec![ValueKinds::default(); file.names.len()];
        self.for_each_field(file, chunk, |column, value, quoted| {
            if self.is_null(value, quoted) || kinds[column].0 & ValueKinds::TEXT != 0 {
                return true;
            }
            kinds[column].0 |= ValueKinds::classify(value);
            true
        })?;
        Ok(kinds)
    }

    /// Whether a value is missing in a column of any type.
    fn is_null(&self, value: &str, quoted: bool) -> bool {
        (value.is_empty() && !quoted) || self.dialect.nulls.iter().any(|null| null == value)
    }

    /// Calls `each` with the column, the value and whether it was quoted, until it returns `false`.
    /// Returns the number of rows, or `None` if it was stopped.
    fn for_each_field(
        &self,
        file: &CsvFile,
        chunk: &Chunk,
        mut each: impl FnMut(usize, &str, bool) -> bool,
    ) -> Result<Option<usize>> {
        let mut fields = Fields::new(file, &self.dialect, chunk)?;
        let expected = file.names.len();
        let (mut rows, mut column) = (0, 0);
        while let Some((value, quoted, end)) = fields.next()? {
            if column < expected && !each(column, value, quoted) {
                return Ok(None);
            }
            column += 1;
            if end == End::Record {
                if column != expected {
                    let (path, got) = (file.input.path.clone(), column);
                    let line = fields.line_at(fields.at.saturating_sub(1));
                    return Err(Error::Ragged { path, line, expected, got });
                }
                rows += 1;
                column = 0;
            }
        }
        Ok(Some(rows))
    }

    /// The rows of a chunk; `None` if a value does not fit the guessed type.
    fn parse(&self, file: &CsvFile, chunk: &Chunk) -> Result<Option<RecordBatch>> {
        let mut columns: Vec<ColumnBuilder> =
            self.kinds.iter().map(|&kinds| ColumnBuilder::new(kinds)).collect();
        let rows = self.for_each_field(file, chunk, |column, value, quoted| {
            let null = self.is_null(value, quoted);
            columns[column].push(if null { None } else { Some(value) })
        })?;
        let Some(rows) = rows else { return Ok(None) };
        for (column, most) in columns.iter().zip(&self.decimals) {
            if let ColumnBuilder::Float { decimals, .. } = column {
                most.fetch_max(*decimals, Ordering::Relaxed);
            }
        }
        let columns = columns.into_iter().map(ColumnBuilder::finish).collect();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let schema = Arc::clone(&self.schema);
        let batch = RecordBatch::try_new_with_options(schema, columns, &options);
        Ok(Some(batch.expect("columns of the schema's types and the same length")))
    }

    /// The rows of all files; `None` if a value does not fit the guessed types.
    pub(super) fn blocks(&self) -> impl Iterator<Item = Result<Option<RecordBatch>>> + Send + '_ {
        self.files.iter().flat_map(move |file| {
            let windows = flatten_error(file.data(&self.dialect).map(windows));
            windows.flat_map(move |window| match window {
                Ok(window) => {
                    window.par_iter().map(|chunk| self.parse(file, chunk)).collect::<Vec<_>>()
                }
                Err(error) => vec![Err(error)],
            })
        })
    }
}

/// Groups of chunks, to be parsed in parallel.
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

/// Parses the values of a column.
enum ColumnBuilder {
    Boolean(BooleanBuilder),
    Integer(Int64Builder),
    Float { values: Float64Builder, decimals: u8 },
    Date(Date32Builder),
    Text { values: StringBuilder, kinds: ValueKinds },
}

impl ColumnBuilder {
    fn new(kinds: ValueKinds) -> Self {
        match kinds.data_type() {
            DataType::Boolean => Self::Boolean(BooleanBuilder::new()),
            DataType::Int64 => Self::Integer(Int64Builder::new()),
            DataType::Float64 => Self::Float { values: Float64Builder::new(), decimals: 0 },
            DataType::Date32 => Self::Date(Date32Builder::new()),
            _ => Self::Text { values: StringBuilder::new(), kinds },
        }
    }

    /// Adds a value; whether it fits the type.
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
            Self::Float { values, decimals: most } => {
                *most = value.map_or(*most, |value| decimals(value).max(*most));
                typed!(values, to_float)
            }
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
            Self::Float { mut values, .. } => Arc::new(values.finish()),
            Self::Date(mut values) => Arc::new(values.finish()),
            Self::Text { mut values, .. } => Arc::new(values.finish()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ValueKinds, decimals};
    use arrow_schema::DataType;

    #[test]
    fn decimals_are_counted_without_an_exponent() {
        for (value, expected) in [
            ("1", 0),
            ("-2.50", 2),
            (" 0.125 ", 3),
            (".5", 1),
            ("3.", 0),
            ("1.5e-3", 4),
            ("1.25E+1", 1),
            ("2e5", 0),
            ("1e-400", 255),
            ("1,5", 1),
            ("inf", 0),
            ("None", 0),
        ] {
            assert_eq!(decimals(value), expected, "{value}");
        }
    }

    #[test]
    fn a_column_has_the_type_that_keeps_all_its_values() {
        let type_of = |values: &[&str]| {
            ValueKinds(values.iter().fold(0, |kinds, value| kinds | ValueKinds::classify(value)))
                .data_type()
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
