//! Tables that are read several times, block by block.
//!
//! A [`Table`] is one or more files of the same columns. Its blocks have the same rows whatever the format
//! and the files, so nothing behind this door knows of either. A table that is small enough is kept in
//! memory after the first reading.

mod csv;
mod file;
mod guard;
mod ipc;
mod parquet;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, FieldRef, Schema, SchemaRef};
use arrow_select::concat::concat_batches;

use crate::column::bytes_of;
use crate::format::{Compression, Format};
use crate::{Error, Result};
use csv::{CsvPart, CsvTable, Dialect};
use file::Input;
use ipc::IpcPart;
use parquet::ParquetPart;

/// How files are read.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// The format of standard input; told by its first bytes if not given.
    pub format: Option<Format>,
    /// What separates fields of text: a comma, or a tab in TSV, if not given.
    pub delimiter: Option<u8>,
    /// Whether the first record of text holds the names of the columns.
    pub header: bool,
    /// What stands for a missing value in text, besides nothing at all.
    pub nulls: Vec<String>,
    /// Whether every column of text files is text, whatever it looks like.
    pub as_text: bool,
    /// Bytes of memory to stay within.
    pub memory: u64,
}

/// 512 MiB.
pub const DEFAULT_MEMORY: u64 = 512 << 20;

/// How much of the memory a table may be kept in: all but what the work on it takes.
fn room_for_table(memory: u64) -> u64 {
    const WORK: u64 = 256 << 20;
    memory.saturating_sub(WORK).max(memory / 4)
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            delimiter: None,
            header: true,
            nulls: vec![],
            as_text: false,
            memory: DEFAULT_MEMORY,
        }
    }
}

/// A table in files.
///
/// ```
/// use windlass_table::{ReadOptions, Table};
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("cars.csv");
/// std::fs::write(&path, "mpg,origin\n18.0,usa\n31.5,japan\n").unwrap();
/// let table = Table::open(&[path], &ReadOptions::default())?;
/// let rows: usize = table.blocks().map(|block| Ok(block?.num_rows())).sum::<windlass_table::Result<_>>()?;
/// assert_eq!((rows, table.schema().field(1).name().as_str()), (2, "origin"));
/// # Ok::<(), windlass_table::Error>(())
/// ```
#[derive(Debug)]
pub struct Table {
    parts: Parts,
    schema: SchemaRef,
    format: Format,
    block_rows: usize,
    cache: Option<Vec<RecordBatch>>,
}

#[derive(Debug)]
enum Parts {
    Text(CsvTable),
    Parquet(Vec<ParquetPart>),
    Ipc(Vec<IpcPart>),
    /// Rows that were given, under this name; all of them are in the cache.
    Given(PathBuf),
}

/// Some blocks, or what went wrong.
pub(crate) type Blocks<'a> = Box<dyn Iterator<Item = Result<RecordBatch>> + Send + 'a>;

impl Table {
    /// Opens files, folders of files, or standard input (`-`) as one table.
    pub fn open(paths: &[PathBuf], options: &ReadOptions) -> Result<Self> {
        let mut inputs = vec![];
        for path in paths {
            if path.as_os_str() == "-" {
                inputs.push(told_by_bytes(Input::stdin()?, options.format)?);
            } else if path.is_dir() {
                inputs.extend(in_folder(path)?);
            } else {
                let input = Input::open(path)?;
                inputs.push(match (Format::of_path(path), options.format) {
                    (Ok((format, compression)), _) => (input, format, compression),
                    // A name without a known ending is no obstacle where the format is said.
                    (Err(Error::UnknownEnding { .. }), Some(format)) => {
                        told_by_bytes(input, Some(format))?
                    }
                    (Err(error), _) => return Err(error),
                });
            }
        }
        let Some(&(_, format, _)) = inputs.first() else {
            return Err(Error::NoTables { path: PathBuf::new() });
        };
        if let Some((other, other_format, _)) = inputs.iter().find(|input| input.1 != format) {
            return Err(Error::MixedFormats {
                path: other.path.clone(),
                format: other_format.name(),
                first: inputs[0].0.path.clone(),
                first_format: format.name(),
            });
        }
        let parts = Parts::open(inputs, format, options)?;
        let schema = parts.schema()?;
        let mut table =
            Self { block_rows: block_rows(&schema), parts, schema, format, cache: None };
        table.load(room_for_table(options.memory))?;
        let first = table.blocks().next().transpose()?;
        if first.is_none() {
            let mut names = table.schema.fields().iter().map(|field| field.name());
            let carriage_returns = names.any(|name| name.contains('\r'));
            return Err(Error::NoRows { path: table.path().to_owned(), carriage_returns });
        }
        Ok(table)
    }

    /// Rows in memory, with a name for messages.
    pub fn of(rows: &RecordBatch, name: &Path) -> Result<Self> {
        Self::of_batches(rows.schema(), vec![rows.clone()], name)
    }

    /// [`of`](Self::of) rows in batches of any sizes; nothing is copied but rows of blocks that span two.
    pub fn of_batches(schema: SchemaRef, rows: Vec<RecordBatch>, name: &Path) -> Result<Self> {
        check_names(name, schema.fields().iter().map(|field| field.name().as_str()))?;
        if rows.iter().all(|rows| rows.num_rows() == 0) {
            return Err(Error::NoRows { path: name.to_owned(), carriage_returns: false });
        }
        let block_rows = block_rows(&schema);
        let blocks = in_blocks(rows.into_iter().map(Ok), &schema).collect::<Result<_>>()?;
        let parts = Parts::Given(name.to_owned());
        Ok(Self { parts, schema, format: Format::Arrow, block_rows, cache: Some(blocks) })
    }

    /// The columns.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The format of its files.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// The first file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.paths()[0]
    }

    /// All files.
    #[must_use]
    pub fn paths(&self) -> Vec<&Path> {
        match &self.parts {
            Parts::Text(table) => table.parts.iter().map(|part| &*part.input.path).collect(),
            Parts::Parquet(parts) => parts.iter().map(|part| &*part.input.path).collect(),
            Parts::Ipc(parts) => parts.iter().map(|part| &*part.input.path).collect(),
            Parts::Given(name) => vec![name],
        }
    }

    /// What the first file's metadata say under a key.
    #[must_use]
    pub fn note(&self, key: &str) -> Option<&str> {
        match &self.parts {
            Parts::Text(_) | Parts::Given(_) => None,
            Parts::Parquet(parts) => parts[0].note(key),
            Parts::Ipc(parts) => parts[0].note(key),
        }
    }

    /// The rows, from the first to the last. Every block but the last has the same number of them.
    #[must_use]
    pub fn blocks(&self) -> Blocks<'_> {
        if let Some(cache) = &self.cache {
            return Box::new(cache.iter().cloned().map(Ok));
        }
        self.read()
    }

    fn read(&self) -> Blocks<'_> {
        let batches: Blocks<'_> = match &self.parts {
            // Types were settled when the table was opened: only a changed file has others.
            Parts::Text(table) => Box::new(table.blocks().map(|batch| {
                batch?.ok_or_else(|| Error::Changed { path: self.path().to_owned() })
            })),
            Parts::Parquet(parts) => {
                Box::new(parts.iter().flat_map(|part| or_fault(part.blocks(self.block_rows))))
            }
            Parts::Ipc(parts) => Box::new(parts.iter().flat_map(|part| or_fault(part.blocks()))),
            Parts::Given(_) => Box::new(std::iter::empty()),
        };
        Box::new(Rechunked::new(batches, Arc::clone(&self.schema), self.block_rows))
    }

    /// Keeps the table in memory if it fits, and settles the types of text.
    fn load(&mut self, most: u64) -> Result<()> {
        if let Parts::Text(table) = &mut self.parts {
            // A second try only where a value far down did not fit the first guess.
            loop {
                match load_text(table, self.block_rows, most)? {
                    Loaded::Whole(blocks) => self.cache = Some(blocks),
                    Loaded::TooLarge => {}
                    Loaded::OtherTypes => {
                        table.infer()?;
                        continue;
                    }
                }
                break;
            }
            self.schema = Arc::clone(table.schema());
        } else {
            let claimed = match &self.parts {
                Parts::Parquet(parts) => parts.iter().map(ParquetPart::claimed_bytes).sum(),
                _ => 0,
            };
            if claimed <= most {
                let mut kept = Kept::new(most);
                for block in self.read() {
                    if !kept.keep(block?) {
                        break;
                    }
                }
                self.cache = kept.blocks;
            }
        }
        Ok(())
    }
}

/// The items of an iterator, or the one fault that kept it from being made.
fn or_fault<T, I: Iterator<Item = Result<T>>>(made: Result<I>) -> impl Iterator<Item = Result<T>> {
    let (items, fault) = match made {
        Ok(items) => (Some(items), None),
        Err(error) => (None, Some(Err(error))),
    };
    fault.into_iter().chain(items.into_iter().flatten())
}

enum Loaded {
    Whole(Vec<RecordBatch>),
    TooLarge,
    OtherTypes,
}

fn load_text(table: &CsvTable, block_rows: usize, most: u64) -> Result<Loaded> {
    let mut kept = Kept::new(most);
    let mut fits = true;
    let batches = table.blocks().map_while(|batch| match batch {
        Ok(None) => {
            fits = false;
            None
        }
        Ok(Some(batch)) => Some(Ok(batch)),
        Err(error) => Some(Err(error)),
    });
    for block in Rechunked::new(batches, Arc::clone(table.schema()), block_rows) {
        kept.keep(block?);
    }
    Ok(match kept.blocks {
        _ if !fits => Loaded::OtherTypes,
        Some(blocks) => Loaded::Whole(blocks),
        None => Loaded::TooLarge,
    })
}

/// Blocks kept in memory while they fit.
struct Kept {
    blocks: Option<Vec<RecordBatch>>,
    bytes: u64,
    most: u64,
}

impl Kept {
    fn new(most: u64) -> Self {
        Self { blocks: Some(vec![]), bytes: 0, most }
    }

    fn keep(&mut self, block: RecordBatch) -> bool {
        let Some(blocks) = &mut self.blocks else { return false };
        self.bytes += bytes_of(&block);
        if self.bytes > self.most {
            self.blocks = None;
            return false;
        }
        blocks.push(block);
        true
    }
}

impl Parts {
    fn open(
        inputs: Vec<(Input, Format, Compression)>,
        format: Format,
        options: &ReadOptions,
    ) -> Result<Self> {
        Ok(match format {
            Format::Csv | Format::Tsv => {
                let usual = if format == Format::Tsv { b'\t' } else { b',' };
                let dialect = Dialect {
                    delimiter: options.delimiter.unwrap_or(usual),
                    header: options.header,
                    nulls: options.nulls.clone(),
                    as_text: options.as_text,
                };
                let parts: Vec<CsvPart> = inputs
                    .into_iter()
                    .map(|(input, _, compression)| CsvPart::open(input, compression, &dialect))
                    .collect::<Result<_>>()?;
                for part in &parts[1..] {
                    same_names(part, &parts[0])?;
                }
                check_names(&parts[0].input.path, parts[0].names().iter().map(String::as_str))?;
                Self::Text(CsvTable::open(parts, dialect)?)
            }
            Format::Parquet => {
                let open = |(input, ..): (Input, _, _)| ParquetPart::open(input);
                Self::Parquet(inputs.into_iter().map(open).collect::<Result<_>>()?)
            }
            Format::Arrow | Format::ArrowStream => {
                let open = |(input, format, compression): (Input, _, _)| {
                    let input = match compression {
                        Compression::None => input,
                        _ => input.decompressed(compression)?,
                    };
                    IpcPart::open(input, format == Format::ArrowStream)
                };
                Self::Ipc(inputs.into_iter().map(open).collect::<Result<_>>()?)
            }
        })
    }

    /// The columns that all parts agree on.
    fn schema(&self) -> Result<SchemaRef> {
        let schemas: Vec<(&Path, &SchemaRef)> = match self {
            Self::Text(table) => return Ok(Arc::clone(table.schema())),
            Self::Parquet(parts) => {
                parts.iter().map(|part| (&*part.input.path, part.schema())).collect()
            }
            Self::Ipc(parts) => {
                parts.iter().map(|part| (&*part.input.path, part.schema())).collect()
            }
            Self::Given(_) => unreachable!("not opened"),
        };
        let (first_path, first) = schemas[0];
        check_names(first_path, first.fields().iter().map(|field| field.name().as_str()))?;
        let mut fields: Vec<_> =
            first.fields().iter().map(|field| field.as_ref().clone()).collect();
        if schemas.len() > 1 {
            // The categories of several files may be more than the keys of one can count.
            for field in &mut fields {
                if let DataType::Dictionary(_, values) = field.data_type() {
                    let wide = DataType::Dictionary(Box::new(DataType::Int32), values.clone());
                    field.set_data_type(wide);
                }
            }
        }
        for (path, schema) in &schemas[1..] {
            let names = |schema: &Schema| -> Vec<String> {
                schema.fields().iter().map(|field| field.name().clone()).collect()
            };
            if let Some(why) = other_names(&names(schema), &names(first)) {
                let (path, first) = (path.to_path_buf(), first_path.to_owned());
                return Err(Error::OtherSchema { path, first, why });
            }
            for (field, other) in fields.iter_mut().zip(schema.fields()) {
                if !same_type(field.data_type(), other.data_type()) {
                    let (name, here, there) = (field.name(), other.data_type(), field.data_type());
                    let why = format!("column `{name}` holds {here} instead of {there}");
                    let (path, first) = (path.to_path_buf(), first_path.to_owned());
                    return Err(Error::OtherSchema { path, first, why });
                }
                field.set_nullable(field.is_nullable() || other.is_nullable());
            }
        }
        Ok(Schema::new(fields).into())
    }
}

/// Whether two types are one, whatever the keys of a dictionary.
fn same_type(a: &DataType, b: &DataType) -> bool {
    match (a, b) {
        (DataType::Dictionary(_, a), DataType::Dictionary(_, b)) => a == b,
        (a, b) => a == b,
    }
}

/// Rows of a block: so many that columns are long, so few that blocks of wide tables are small.
fn block_rows(schema: &Schema) -> usize {
    const VALUES: usize = 1 << 20;
    let rows = VALUES / schema.fields().len().max(1);
    (1 << rows.max(1).ilog2()).clamp(64, 1 << 16)
}

/// The format of an input without a telling name.
fn told_by_bytes(input: Input, format: Option<Format>) -> Result<(Input, Format, Compression)> {
    let compression = Compression::of_bytes(&input.first_bytes(Compression::None)?);
    let format = match format {
        Some(format) => format,
        None => Format::of_bytes(&input.first_bytes(compression)?),
    };
    Ok((input, format, compression))
}

/// The tables of a folder, in the order of their names.
fn in_folder(folder: &Path) -> Result<Vec<(Input, Format, Compression)>> {
    let entries = std::fs::read_dir(folder).map_err(Error::io("read", folder))?;
    let mut paths = vec![];
    for entry in entries {
        let path = entry.map_err(Error::io("read", folder))?.path();
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let notes = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("txt"));
        if path.is_file() && !hidden && !notes && Format::of_path(&path).is_ok() {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() {
        return Err(Error::NoTables { path: folder.to_owned() });
    }
    paths
        .into_iter()
        .map(|path| {
            let (format, compression) = Format::of_path(&path)?;
            Ok((Input::open(&path)?, format, compression))
        })
        .collect()
}

fn check_names<'a>(path: &Path, names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut seen = std::collections::HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(Error::DuplicateColumn { path: path.to_owned(), column: name.to_owned() });
        }
    }
    Ok(())
}

fn same_names(part: &CsvPart, first: &CsvPart) -> Result<()> {
    match other_names(part.names(), first.names()) {
        None => Ok(()),
        Some(why) => {
            let (path, first) = (part.input.path.clone(), first.input.path.clone());
            Err(Error::OtherSchema { path, first, why })
        }
    }
}

fn other_names(names: &[String], first: &[String]) -> Option<String> {
    if names.len() != first.len() {
        return Some(format!("it has {} columns instead of {}", names.len(), first.len()));
    }
    let place = names.iter().zip(first).position(|(name, first)| name != first)?;
    let (name, instead) = (&names[place], &first[place]);
    Some(format!("column {} is `{name}` instead of `{instead}`", place + 1))
}

/// Batches of any size as blocks of the size that suits their columns.
pub(crate) fn in_blocks(
    batches: impl Iterator<Item = Result<RecordBatch>>,
    schema: &SchemaRef,
) -> impl Iterator<Item = Result<RecordBatch>> {
    Rechunked::new(batches, Arc::clone(schema), block_rows(schema))
}

/// Batches of any size as blocks of one size.
struct Rechunked<I> {
    batches: I,
    schema: SchemaRef,
    size: usize,
    pending: Vec<RecordBatch>,
    rows: usize,
}

impl<I: Iterator<Item = Result<RecordBatch>>> Rechunked<I> {
    fn new(batches: I, schema: SchemaRef, size: usize) -> Self {
        Self { batches, schema, size, pending: vec![], rows: 0 }
    }

    /// The first rows of what is pending, as one batch.
    fn take(&mut self, rows: usize) -> Result<RecordBatch> {
        let mut taken = vec![];
        let mut missing = rows;
        while missing > 0 {
            let first = self.pending.remove(0);
            if first.num_rows() > missing {
                self.pending.insert(0, first.slice(missing, first.num_rows() - missing));
                taken.push(first.slice(0, missing));
                break;
            }
            missing -= first.num_rows();
            taken.push(first);
        }
        self.rows -= rows;
        match &taken[..] {
            [one] => Ok(one.clone()),
            several => concat_batches(&self.schema, several).map_err(unusable),
        }
    }
}

/// A batch in the types that all files of a table agree on.
fn in_types_of(schema: &SchemaRef, batch: &RecordBatch) -> Result<RecordBatch> {
    let columns = batch.columns().iter().zip(schema.fields());
    let cast = |(column, field): (&ArrayRef, &FieldRef)| match column.data_type() {
        same if same == field.data_type() => Ok(Arc::clone(column)),
        _ => arrow_cast::cast(column, field.data_type()),
    };
    let columns = columns.map(cast).collect::<std::result::Result<_, _>>();
    let batch = columns.and_then(|columns| RecordBatch::try_new(Arc::clone(schema), columns));
    batch.map_err(unusable)
}

fn unusable(error: ArrowError) -> Error {
    Error::damaged(Path::new("the table"))(error.to_string())
}

impl<I: Iterator<Item = Result<RecordBatch>>> Iterator for Rechunked<I> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.rows < self.size {
            match self.batches.next() {
                Some(Ok(batch)) if batch.num_rows() == 0 => {}
                Some(Ok(batch)) => {
                    self.rows += batch.num_rows();
                    match in_types_of(&self.schema, &batch) {
                        Ok(batch) => self.pending.push(batch),
                        Err(error) => return Some(Err(error)),
                    }
                }
                Some(Err(error)) => return Some(Err(error)),
                None => break,
            }
        }
        let rows = self.rows.min(self.size);
        (rows > 0).then(|| self.take(rows))
    }
}
