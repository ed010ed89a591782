//! CSV: text is split into chunks of whole records, and chunks are parsed in parallel.
//!
//! The type of a column depends on all its values, and the decimal mark on those of all columns.
//! They are guessed from the first chunk; if a later value does not fit, they are inferred from the
//! whole file.

use std::io::Read;
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Date32Builder, Float64Builder, Int64Builder, StringBuilder,
    TimestampMillisecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use memchr::{memchr, memchr_iter, memchr2, memrchr};
use rayon::prelude::*;

use super::encoding::Encoding;
use super::file::{Input, read_error};
use super::rechunk::{check_columns, flatten_error};
use super::separator;
use super::value::{
    DecimalMark, MISSING, ValueKinds, decimals, missing_marker, to_boolean, to_date, to_float,
    to_integer, to_time, unit,
};
use crate::io::format::Compression;
use crate::note::Note;
use crate::row_place::{LineIndex, Lines, RowPlace, RowPlaces};
use crate::{Error, Result};

/// Size of a chunk in bytes, unless rows are long.
const CHUNK: usize = 1 << 20;
/// Target number of rows in a chunk of long rows.
const LONG_ROWS: usize = 16;
const MAX_CHUNK: usize = 16 << 20;
/// Columns of all chunks that are parsed at a time: arrays of few rows take more memory than values.
const PARSED_COLUMNS: usize = 1 << 19;

#[derive(Debug, Clone)]
pub(super) struct Dialect {
    pub(super) delimiter: u8,
    pub(super) header: bool,
    /// Missing values in a column of any type.
    pub(super) nulls: Vec<String>,
    /// Read every column as text.
    pub(super) as_text: bool,
    /// Recognize times such as `2024-02-29T12:30:00`.
    pub(super) times: bool,
    /// Memory limit in bytes.
    pub(super) memory: u64,
}

impl Dialect {
    /// A longer line is an error, because it would have to be held in memory.
    fn max_line(&self) -> usize {
        usize::try_from(self.memory / 8).unwrap_or(usize::MAX).clamp(1 << 20, 64 << 20)
    }
}

#[derive(Debug)]
pub(super) struct CsvFile {
    pub(super) input: Input,
    compression: Compression,
    encoding: Encoding,
    /// Whether the encoding was detected, and may turn out to be another.
    detected: bool,
    names: Vec<String>,
}

impl CsvFile {
    /// A file whose [header](Self::read_header) is not read yet.
    pub(super) fn new(
        input: Input,
        compression: Compression,
        encoding: Option<Encoding>,
    ) -> Result<Self> {
        let encoding_or_utf8 = encoding.unwrap_or(Encoding::Utf8);
        let detected = encoding.is_none();
        let mut file =
            Self { input, compression, encoding: encoding_or_utf8, detected, names: vec![] };
        if detected {
            file.encoding = file.detect_encoding(CHUNK as u64)?;
        }
        Ok(file)
    }

    fn detect_encoding(&self, limit: u64) -> Result<Encoding> {
        let reader = self.input.reader(self.compression)?.take(limit);
        Encoding::detect(reader).map_err(|error| read_error(&self.input.path, error))
    }

    /// Switches to Latin-1 if the first character that is not ASCII is not UTF-8; returns whether it did.
    fn fall_back(&mut self) -> Result<bool> {
        if self.detected && self.encoding == Encoding::Utf8 {
            self.encoding = self.detect_encoding(u64::MAX)?;
        }
        Ok(self.encoding != Encoding::Utf8)
    }

    pub(super) fn detect_separator(&self, usual: u8) -> Result<u8> {
        let mut sample = vec![];
        let mut reader = self.reader()?.take(separator::SAMPLE as u64);
        let read = reader.read_to_end(&mut sample);
        read.map_err(|error| read_error(&self.input.path, error))?;
        Ok(separator::detect(&sample, usual))
    }

    pub(super) fn read_header(&mut self, dialect: &Dialect) -> Result<()> {
        let empty = || Error::EmptyFile { path: self.input.path.clone() };
        let first = self.chunks(dialect, 4096)?.next().transpose()?.ok_or_else(empty)?;
        let mut fields = Fields::new(self, dialect, &first)?;
        let mut names = vec![];
        while let Some((name, quoted, end)) = fields.next()? {
            if name.contains('\r') && !quoted {
                return Err(Error::CarriageReturns { path: self.input.path.clone() });
            }
            let number = names.len() + 1;
            check_columns(&self.input.path, number, dialect.memory)?;
            names.push(if dialect.header { name.to_owned() } else { format!("column_{number}") });
            if end == End::Record {
                break;
            }
        }
        if names.is_empty() {
            return Err(empty());
        }
        self.names = names;
        Ok(())
    }

    /// A reader of the text in UTF-8.
    fn reader(&self) -> Result<Box<dyn Read + Send>> {
        Ok(self.encoding.decode(self.input.reader(self.compression)?))
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    fn chunks<'a>(&'a self, dialect: &'a Dialect, size: usize) -> Result<Chunks<'a>> {
        let reader = self.reader()?;
        Ok(Chunks { file: self, dialect, reader, carry: vec![], line: 1, size, ended: false })
    }

    /// Chunks of whole records, without the header.
    fn data<'a>(&'a self, dialect: &'a Dialect) -> Result<Chunks<'a>> {
        let header: usize = self.names.iter().map(|name| name.len() + 1).sum();
        let size = header.saturating_mul(LONG_ROWS).clamp(CHUNK, MAX_CHUNK);
        let mut chunks = self.chunks(dialect, size)?;
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
                while begin && bytes.starts_with(b"\xef\xbb\xbf") {
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
            let limit = self.dialect.max_line();
            if bytes.len() > limit {
                let (path, line) = (path.clone(), self.line);
                return Err(Error::LineTooLong { path, line, limit });
            }
            wanted = (bytes.len() * 2).min(limit + 1);
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
    /// Where the current record begins.
    record: usize,
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
            record: 0,
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
            self.record = self.at;
        }
        let opened = self.at;
        let quoted = bytes.get(opened) == Some(&b'"');
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
            // Read as one text, it would lose the quotes.
            if !field.trim().is_empty() {
                let (path, line) = (self.file.input.path.clone(), self.line_at(opened));
                return Err(Error::TextAfterQuote { path, line });
            }
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
    mark: DecimalMark,
    schema: SchemaRef,
}

/// The rows of a chunk, and remarks on its columns.
pub(super) struct Parsed {
    pub(super) batch: RecordBatch,
    file: usize,
    first_line: u64,
    lines: Lines,
    columns: Vec<ColumnRemarks>,
}

/// Remarks on the values of a column.
#[derive(Default)]
struct ColumnRemarks {
    /// How often each marker of missing values occurs, by its place in [`MISSING`].
    markers: Vec<(usize, u64)>,
    numbers: u64,
    /// Values of a column of text that are not numbers.
    others: u64,
    /// The first of them, with their rows.
    first: Vec<(String, u64)>,
    /// Whether there are too many to count.
    is_text: bool,
    /// A number with a decimal comma.
    comma: Option<String>,
    /// The most decimals of a number.
    decimals: u8,
}

impl ColumnRemarks {
    const SHOWN: usize = 3;
    /// Maximum number of values that are not numbers (or a quarter) for which a column of text is reported.
    const FEW: u64 = 10;

    fn count_marker(&mut self, marker: usize, count: u64) {
        match self.markers.iter_mut().find(|(known, _)| *known == marker) {
            Some((_, all)) => *all += count,
            None => self.markers.push((marker, count)),
        }
    }

    fn add_text(&mut self, value: &str, row: u64, kind: u16, mark: DecimalMark) {
        if kind == 0 {
            return;
        }
        // Digits with leading zeros are a code, not a number.
        self.is_text |= kind == ValueKinds::DIGITS;
        if ValueKinds::is_number(kind, mark) {
            self.numbers += 1;
            return;
        }
        if self.comma.is_none() && kind & (ValueKinds::COMMA | ValueKinds::COMMA_OR_GROUP) != 0 {
            self.comma = Some(value.to_owned());
        }
        self.others += 1;
        if self.first.len() < Self::SHOWN {
            self.first.push((value.trim().to_owned(), row));
        }
        self.is_text |= self.others > Self::FEW && self.others > self.numbers;
    }

    /// Adds the remarks on later rows.
    fn merge(&mut self, later: Self, first_row: u64) {
        for (marker, count) in later.markers {
            self.count_marker(marker, count);
        }
        self.numbers += later.numbers;
        self.others += later.others;
        self.is_text |= later.is_text;
        self.comma = self.comma.take().or(later.comma);
        self.decimals = self.decimals.max(later.decimals);
        let missing = Self::SHOWN - self.first.len();
        let later = later.first.into_iter().take(missing);
        self.first.extend(later.map(|(value, row)| (value, first_row + row)));
    }

    /// The unit that the first values of a column of text have, with one of them.
    fn common_unit(&self) -> Option<(String, String)> {
        let (example, _) = self.first.first()?;
        let own = unit(example)?;
        let all = self.first.len() == Self::SHOWN && self.numbers == 0;
        let same = self.first.iter().all(|(value, _)| unit(value) == Some(own));
        (all && same).then(|| (example.clone(), own.to_owned()))
    }

    /// Whether a column of text is numeric except for a few values.
    fn is_almost_numeric(&self) -> bool {
        let values = self.numbers + self.others;
        let few = self.others <= Self::FEW.max(values / 4);
        !self.is_text && self.others > 0 && few && self.others * 2 < values
    }
}

/// Remarks on a whole table.
#[derive(Default)]
pub(super) struct Remarks {
    pub(super) lines: LineIndex,
    columns: Vec<ColumnRemarks>,
    rows: u64,
}

impl Remarks {
    pub(super) fn new(table: &CsvTable) -> Self {
        let paths = table.files.iter().map(|file| file.input.path.clone()).collect();
        let columns = std::iter::repeat_with(ColumnRemarks::default).take(table.kinds.len());
        Self { lines: LineIndex::new(paths), columns: columns.collect(), rows: 0 }
    }

    /// Adds the next rows.
    pub(super) fn add(&mut self, parsed: Parsed) -> RecordBatch {
        let rows = parsed.batch.num_rows();
        self.lines.add(parsed.file, rows, parsed.first_line, parsed.lines);
        for (all, later) in self.columns.iter_mut().zip(parsed.columns) {
            all.merge(later, self.rows);
        }
        self.rows += rows as u64;
        parsed.batch
    }

    /// The most decimals of each column of floats.
    pub(super) fn decimals(&self, table: &CsvTable) -> Vec<Option<u8>> {
        let fields = table.schema.fields().iter().zip(&self.columns);
        let is_float = |field: &Field| field.data_type() == &DataType::Float64;
        fields.map(|(field, column)| is_float(field).then_some(column.decimals)).collect()
    }

    /// The lines of the rows, and notes for the user.
    pub(super) fn finish(
        self,
        table: &CsvTable,
    ) -> (Arc<LineIndex>, impl FnOnce(&RowPlaces) -> Vec<Note>) {
        let columns = self.columns;
        (Arc::new(self.lines), move |places: &RowPlaces| notes(table, columns, places))
    }
}

fn notes(table: &CsvTable, columns: Vec<ColumnRemarks>, places: &RowPlaces) -> Vec<Note> {
    let mut notes = vec![];
    for file in table.files.iter().filter(|file| file.detected) {
        if file.encoding != Encoding::Utf8 {
            let (path, encoding) = (file.input.path.clone(), file.encoding.name());
            notes.push(Note::Encoding { path, encoding });
        }
    }
    if table.dialect.as_text {
        return notes;
    }
    if table.mark == DecimalMark::Comma {
        let example = columns.iter().find_map(|column| column.comma.clone());
        notes.push(Note::DecimalComma { example: example.unwrap_or_else(|| "0,5".into()) });
    }
    for ((field, kinds), remarks) in table.schema.fields().iter().zip(&table.kinds).zip(columns) {
        let column = || field.name().clone();
        let marker = |(marker, count): (usize, u64)| (MISSING[marker], count);
        let is_text = field.data_type() == &DataType::Utf8;
        if !remarks.markers.is_empty() {
            let markers = remarks.markers.into_iter().map(marker).collect();
            notes.push(Note::MissingMarkers { column: column(), markers });
        } else if is_text && remarks.is_almost_numeric() {
            let first = remarks.first.into_iter();
            notes.push(Note::NotNumbers {
                column: column(),
                count: remarks.others,
                values: remarks.numbers + remarks.others,
                first: first.map(|(value, row)| (value, places.place(row))).collect(),
            });
        } else if is_text
            && kinds.looks_numeric()
            && let Some(example) = remarks.comma
        {
            notes.push(Note::UnclearMark { column: column(), example });
        } else if is_text && let Some((example, unit)) = remarks.common_unit() {
            notes.push(Note::NumbersWithUnit { column: column(), example, unit });
        }
    }
    join_units(notes)
}

/// Joins notes about columns of numbers whose first value is a word: a row of units below the header.
fn join_units(notes: Vec<Note>) -> Vec<Note> {
    let unit = |note: &Note| match note {
        Note::NotNumbers { count: 1, first, .. } if first[0].1.index() == 0 => {
            Some(first[0].clone())
        }
        _ => None,
    };
    let units: Vec<(String, RowPlace)> = notes.iter().filter_map(unit).collect();
    if units.len() < 2 {
        return notes;
    }
    let row = units[0].1.clone();
    let (first, words) = (notes.iter().position(|note| unit(note).is_some()), units);
    let words = words.into_iter().map(|(word, _)| word).collect();
    let mut notes: Vec<Note> = notes.into_iter().filter(|note| unit(note).is_none()).collect();
    notes.insert(first.unwrap_or(0).min(notes.len()), Note::UnitRow { row, words });
    notes
}

impl CsvTable {
    /// Guesses the types of the columns from the first chunk.
    pub(super) fn open(files: Vec<CsvFile>, dialect: Dialect) -> Result<Self> {
        let schema = Schema::empty().into();
        let mut table = Self { files, dialect, kinds: vec![], mark: DecimalMark::Point, schema };
        table.guess_types()?;
        Ok(table)
    }

    fn guess_types(&mut self) -> Result<()> {
        let first = self.files[0].data(&self.dialect)?.next().transpose()?;
        let kinds = match &first {
            _ if self.dialect.as_text => {
                vec![ValueKinds(ValueKinds::TEXT); self.files[0].names.len()]
            }
            Some(chunk) => self.kinds_of(&self.files[0], chunk)?,
            None => vec![ValueKinds::default(); self.files[0].names.len()],
        };
        self.set_kinds(kinds);
        Ok(())
    }

    fn set_kinds(&mut self, kinds: Vec<ValueKinds>) {
        self.mark = DecimalMark::infer(&kinds, self.dialect.delimiter);
        let names = self.files[0].names.iter();
        let field = |(name, kinds): (&String, &ValueKinds)| {
            Field::new(name, kinds.data_type(self.mark), true)
        };
        self.schema = Schema::new(names.zip(&kinds).map(field).collect::<Vec<_>>()).into();
        self.kinds = kinds;
    }

    pub(super) fn has_header(&self) -> bool {
        self.dialect.header
    }

    pub(super) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Switches a file that is not UTF-8 to Latin-1; returns whether this is possible.
    pub(super) fn fall_back(&mut self, path: &std::path::Path) -> Result<bool> {
        let Some(file) = self.files.iter_mut().find(|file| file.input.path == path) else {
            return Ok(false);
        };
        if !file.fall_back()? {
            return Ok(false);
        }
        self.guess_types()?;
        Ok(true)
    }

    /// Infers the types of the columns from all values.
    pub(super) fn infer_types(&mut self) -> Result<()> {
        let mut all = vec![ValueKinds::default(); self.kinds.len()];
        for file in &self.files {
            for window in self.windows(file)? {
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
            kinds[column].0 |= ValueKinds::classify(value, self.dialect.times);
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
                    let line = fields.line_at(fields.record);
                    return Err(Error::Ragged { path, line, expected, got });
                }
                rows += 1;
                column = 0;
            }
        }
        Ok(Some(rows))
    }

    /// The rows of a chunk; `None` if a value does not fit the guessed type.
    fn parse(&self, place: usize, chunk: &Chunk) -> Result<Option<Parsed>> {
        let file = &self.files[place];
        let lines = memchr_iter(b'\n', &chunk.bytes).count() + 1;
        let mut columns: Vec<ColumnBuilder> = self
            .kinds
            .iter()
            .map(|&kinds| ColumnBuilder::new(kinds, self.mark, &self.dialect, lines))
            .collect();
        let rows = self.for_each_field(file, chunk, |column, value, quoted| {
            let null = self.is_null(value, quoted);
            columns[column].push(if null { None } else { Some(value) })
        })?;
        let Some(rows) = rows else { return Ok(None) };
        let (columns, remarks): (Vec<ArrayRef>, Vec<ColumnRemarks>) =
            columns.into_iter().map(ColumnBuilder::finish).unzip();
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let schema = Arc::clone(&self.schema);
        let batch = RecordBatch::try_new_with_options(schema, columns, &options);
        let batch = batch.expect("columns of the schema's types and the same length");
        let lines = self.lines(file, chunk, rows)?;
        Ok(Some(Parsed { batch, file: place, first_line: chunk.line, lines, columns: remarks }))
    }

    /// The lines of the rows of a chunk.
    fn lines(&self, file: &CsvFile, chunk: &Chunk, rows: usize) -> Result<Lines> {
        let ends = memchr_iter(b'\n', &chunk.bytes).count();
        if ends + usize::from(chunk.bytes.last() != Some(&b'\n')) == rows {
            return Ok(Lines::Consecutive);
        }
        let mut fields = Fields::new(file, &self.dialect, chunk)?;
        let (mut each, mut line, mut counted, mut begins) = (vec![], 0, 0, true);
        while let Some((_, _, end)) = fields.next()? {
            if begins {
                let record = fields.record;
                line += memchr_iter(b'\n', &chunk.bytes[counted..record]).count();
                counted = record;
                each.push(u32::try_from(line).unwrap_or(u32::MAX));
            }
            begins = end == End::Record;
        }
        Ok(Lines::Each(each))
    }

    /// The rows of all files; `None` if a value does not fit the guessed types.
    pub(super) fn blocks(&self) -> impl Iterator<Item = Result<Option<Parsed>>> + Send + '_ {
        self.files.iter().enumerate().flat_map(move |(place, file)| {
            let windows = flatten_error(self.windows(file));
            windows.flat_map(move |window| match window {
                Ok(window) => {
                    window.par_iter().map(|chunk| self.parse(place, chunk)).collect::<Vec<_>>()
                }
                Err(error) => vec![Err(error)],
            })
        })
    }

    /// Groups of chunks, to be parsed in parallel.
    fn windows<'a>(
        &'a self,
        file: &'a CsvFile,
    ) -> Result<impl Iterator<Item = Result<Vec<Chunk>>> + Send + 'a> {
        let mut chunks = file.data(&self.dialect)?;
        let most = 2 * rayon::current_num_threads();
        let most = most.min(PARSED_COLUMNS / file.names.len()).max(1);
        let mut ended = false;
        Ok(std::iter::from_fn(move || {
            let (mut window, mut bytes) = (vec![], 0);
            while !ended && window.len() < most && bytes < most * CHUNK {
                match chunks.next() {
                    Some(Ok(chunk)) => {
                        bytes += chunk.bytes.len();
                        window.push(chunk);
                    }
                    Some(Err(error)) => {
                        ended = true;
                        return Some(Err(error));
                    }
                    None => ended = true,
                }
            }
            (!window.is_empty()).then_some(Ok(window))
        }))
    }
}

/// Parses the values of a column.
struct ColumnBuilder {
    values: ColumnValues,
    mark: DecimalMark,
    remarks: ColumnRemarks,
    rows: u64,
}

enum ColumnValues {
    Boolean(BooleanBuilder),
    Integer(Int64Builder),
    Float(Float64Builder),
    Date(Date32Builder),
    Time(TimestampMillisecondBuilder),
    Text { values: StringBuilder, kinds: ValueKinds, times: bool },
}

impl ColumnBuilder {
    /// With capacity for `rows`.
    fn new(kinds: ValueKinds, mark: DecimalMark, dialect: &Dialect, rows: usize) -> Self {
        let values = match kinds.data_type(mark) {
            DataType::Boolean => ColumnValues::Boolean(BooleanBuilder::with_capacity(rows)),
            DataType::Int64 => ColumnValues::Integer(Int64Builder::with_capacity(rows)),
            DataType::Float64 => ColumnValues::Float(Float64Builder::with_capacity(rows)),
            DataType::Date32 => ColumnValues::Date(Date32Builder::with_capacity(rows)),
            DataType::Timestamp(..) => {
                ColumnValues::Time(TimestampMillisecondBuilder::with_capacity(rows))
            }
            _ => ColumnValues::Text {
                values: StringBuilder::with_capacity(rows, 0),
                kinds,
                times: dialect.times,
            },
        };
        let remarks = ColumnRemarks { is_text: dialect.as_text, ..ColumnRemarks::default() };
        Self { values, mark, remarks, rows: 0 }
    }

    /// Adds a value; whether it fits the type.
    #[inline]
    fn push(&mut self, value: Option<&str>) -> bool {
        macro_rules! typed {
            ($values:expr, $parse:expr) => {{
                let Some(value) = value.map(str::trim_ascii) else {
                    $values.append_null();
                    return true;
                };
                if let Some(value) = $parse(value) {
                    $values.append_value(value);
                } else if let Some(marker) = missing_marker(value) {
                    if marker > 0 {
                        self.remarks.count_marker(marker, 1);
                    }
                    $values.append_null();
                } else {
                    return false;
                }
                true
            }};
        }
        let mark = self.mark;
        match &mut self.values {
            ColumnValues::Boolean(values) => typed!(values, to_boolean),
            ColumnValues::Integer(values) => typed!(values, |value| to_integer(value, mark)),
            ColumnValues::Float(values) => typed!(values, |value: &str| {
                let number = to_float(value, mark);
                if number.is_some() {
                    self.remarks.decimals = self.remarks.decimals.max(decimals(value, mark));
                }
                if mark == DecimalMark::Comma
                    && number.is_some()
                    && self.remarks.comma.is_none()
                    && value.contains(',')
                {
                    self.remarks.comma = Some(value.to_owned());
                }
                number
            }),
            ColumnValues::Date(values) => typed!(values, to_date),
            ColumnValues::Time(values) => typed!(values, to_time),
            ColumnValues::Text { values, kinds, times } => {
                if let Some(value) = value
                    && !(self.remarks.is_text && kinds.is_closed())
                {
                    let kind = ValueKinds::classify(value, *times);
                    if kinds.changes_with(kind, mark) {
                        return false;
                    }
                    if !self.remarks.is_text {
                        self.remarks.add_text(value, self.rows, kind, mark);
                    }
                }
                self.rows += 1;
                values.append_option(value);
                true
            }
        }
    }

    fn finish(self) -> (ArrayRef, ColumnRemarks) {
        let column: ArrayRef = match self.values {
            ColumnValues::Boolean(mut values) => Arc::new(values.finish()),
            ColumnValues::Integer(mut values) => Arc::new(values.finish()),
            ColumnValues::Float(mut values) => Arc::new(values.finish()),
            ColumnValues::Date(mut values) => Arc::new(values.finish()),
            ColumnValues::Time(mut values) => Arc::new(values.finish()),
            ColumnValues::Text { mut values, .. } => Arc::new(values.finish()),
        };
        (column, self.remarks)
    }
}
