//! Tables that are read several times, block by block.
//!
//! A [`Table`] is one or more files of the same columns. Its blocks have the same rows whatever the
//! format and the files, so later stages depend on neither. A table that fits in memory is cached
//! after the first reading.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_schema::{DataType, Schema, SchemaRef};

use super::csv::{CsvFile, CsvTable, Dialect, Remarks};
use super::encoding::Encoding;
use super::file::Input;
use super::ipc::IpcFile;
use super::parquet::ParquetFile;
use super::rechunk::{check_columns, flatten_error, rechunk, without_runs};
use super::sheet;
use super::sheet_name::SheetName;
use crate::column::{PROVENANCE, SOURCE, SYNTHETIC, memory_size};
use crate::io::format::{Compression, Format};
use crate::manifest::Manifest;
use crate::note::Note;
use crate::row_place::RowPlaces;
use crate::{Error, Result};

/// How files are read.
#[derive(Debug, Clone)]
pub struct ReadOptions {
    /// The format of standard input and of names without a known extension; detected if not given.
    pub format: Option<Format>,
    /// The CSV delimiter; detected if not given.
    pub delimiter: Option<u8>,
    /// The encoding of CSV; detected if not given.
    pub encoding: Option<Encoding>,
    /// The sheet of a workbook; by default the first that is not empty.
    pub sheet: Option<SheetName>,
    /// Whether the first record of CSV is the header.
    pub header: bool,
    /// Additional markers of missing values in CSV columns of any type.
    pub nulls: Vec<String>,
    /// Read every CSV column as text instead of inferring its type, and detect no delimiter.
    pub as_text: bool,
    /// Memory limit in bytes.
    pub memory: u64,
}

/// 512 MiB.
pub const DEFAULT_MEMORY: u64 = 512 << 20;

/// The memory for a cached table; the rest is for the computation.
fn cache_limit(memory: u64) -> u64 {
    const WORK: u64 = 256 << 20;
    memory.saturating_sub(WORK).max(memory / 4)
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            delimiter: None,
            encoding: None,
            sheet: None,
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
    files: Files,
    schema: SchemaRef,
    format: Format,
    cache: Option<Vec<RecordBatch>>,
    /// Maximum number of decimals of each column of floats, if the files are text.
    decimals: Vec<Option<u8>>,
    notes: Vec<Note>,
    places: RowPlaces,
}

#[derive(Debug)]
enum Files {
    /// Text, or sheets as text.
    Text(CsvTable),
    Parquet(Vec<ParquetFile>),
    Ipc(Vec<IpcFile>),
    /// Batches in memory, with a name for messages; all of them are in the cache.
    InMemory(PathBuf),
}

/// A file whose format is known.
struct TypedInput {
    input: Input,
    format: Format,
    compression: Compression,
}

pub(crate) type Blocks<'a> = Box<dyn Iterator<Item = Result<RecordBatch>> + Send + 'a>;

impl Table {
    /// Opens files, folders of files, or standard input (`-`) as one table.
    pub fn open(paths: &[PathBuf], options: &ReadOptions) -> Result<Self> {
        let mut inputs = vec![];
        for path in paths {
            if path.as_os_str() == "-" {
                inputs.push(TypedInput::detect(Input::stdin()?, options.format)?);
            } else if path.is_dir() {
                inputs.extend(list_folder(path)?);
            } else {
                let input = Input::open(path)?;
                inputs.push(match (Format::from_path(path), options.format) {
                    (Ok((format, compression)), _) => TypedInput { input, format, compression },
                    (Err(Error::UnknownEnding { .. }), Some(format)) => {
                        TypedInput::detect(input, Some(format))?
                    }
                    (Err(_), _) if is_old_workbook(path) => {
                        return Err(Error::Encrypted { path: path.clone() });
                    }
                    (Err(error), _) => return Err(error),
                });
            }
        }
        let Some(first) = inputs.first() else {
            return Err(Error::NoTables { path: PathBuf::new() });
        };
        let format = first.format;
        if let Some(other) = inputs.iter().find(|input| input.format != format) {
            return Err(Error::MixedFormats {
                path: other.input.path.clone(),
                format: other.format.name(),
                first: first.input.path.clone(),
                first_format: format.name(),
            });
        }
        let path = first.input.path.clone();
        let (files, schema, notes) = Files::open(inputs, format, options)?;
        let schema = without_runs(&schema);
        check_columns(&path, schema.fields().len(), options.memory)?;
        let (decimals, places) = (vec![], RowPlaces::default());
        let mut table = Self { files, schema, format, cache: None, decimals, notes, places };
        table.fill_cache(cache_limit(options.memory))?;
        if table.synthetic_rows().is_some_and(|rows| rows != SyntheticRows::Marked) {
            table.notes.push(Note::SyntheticRows { path: table.path().to_owned() });
        }
        let first = table.blocks().next().transpose()?;
        if first.is_none() {
            return Err(Error::NoRows { path: table.path().to_owned() });
        }
        Ok(table)
    }

    /// A table in memory, with a name for messages.
    pub fn from_batch(rows: &RecordBatch, name: &Path) -> Result<Self> {
        Self::from_batches(rows.schema(), vec![rows.clone()], name)
    }

    /// [`from_batch`](Self::from_batch) for batches of any size. Only rows of blocks that span two
    /// batches are copied.
    pub fn from_batches(schema: SchemaRef, rows: Vec<RecordBatch>, name: &Path) -> Result<Self> {
        check_names(name, schema.fields().iter().map(|field| field.name().as_str()))?;
        let schema = without_runs(&schema);
        if rows.iter().all(|rows| rows.num_rows() == 0) {
            return Err(Error::NoRows { path: name.to_owned() });
        }
        let blocks = rechunk(rows.into_iter().map(Ok), &schema, name).collect::<Result<_>>()?;
        let files = Files::InMemory(name.to_owned());
        let (cache, decimals, notes) = (Some(blocks), vec![], vec![]);
        let places = RowPlaces::default();
        Ok(Self { files, schema, format: Format::Arrow, cache, decimals, notes, places })
    }

    /// The columns.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Maximum number of decimals of each column of floats in text files; empty for other formats.
    #[must_use]
    pub fn decimals(&self) -> BTreeMap<String, u8> {
        let columns = self.schema.fields().iter().zip(&self.decimals);
        columns.filter_map(|(field, most)| Some((field.name().clone(), (*most)?))).collect()
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
        match &self.files {
            Files::Text(table) => table.files.iter().map(|file| &*file.input.path).collect(),
            Files::Parquet(files) => files.iter().map(|file| &*file.input.path).collect(),
            Files::Ipc(files) => files.iter().map(|file| &*file.input.path).collect(),
            Files::InMemory(name) => vec![name],
        }
    }

    /// Notes for the user on how the table was read.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The places of its rows, for messages.
    #[must_use]
    pub fn places(&self) -> &RowPlaces {
        &self.places
    }

    /// Whether its columns have names: text without a header has none.
    pub(crate) fn has_names(&self) -> bool {
        !matches!(&self.files, Files::Text(table) if !table.has_header())
    }

    /// The value of a key in the metadata of the first file.
    #[must_use]
    pub fn metadata(&self, key: &str) -> Option<&str> {
        match &self.files {
            Files::Text(_) | Files::InMemory(_) => None,
            Files::Parquet(files) => files[0].metadata(key),
            Files::Ipc(files) => files[0].metadata(key),
        }
    }

    /// Whether a name has the extension of a table.
    #[must_use]
    pub fn has_known_extension(path: &Path) -> bool {
        Format::from_path(path).is_ok()
    }

    /// Whether the table contains rows that Windlass generated, according to its columns, metadata or manifest.
    #[must_use]
    pub fn synthetic_rows(&self) -> Option<SyntheticRows> {
        if self.schema.fields().iter().any(|field| PROVENANCE.contains(&field.name().as_str())) {
            let has = |name| self.schema.column_with_name(name).is_some();
            let complete = has(SYNTHETIC) && has(SOURCE);
            return Some(if complete { SyntheticRows::Marked } else { SyntheticRows::Incomplete });
        }
        let manifest = match &self.files {
            Files::Text(_) => Manifest::next_to(self.path()),
            _ => serde_json::from_str(self.metadata(Manifest::KEY)?).ok(),
        };
        let has_copies = |manifest: Manifest| manifest.settings.copies > 0;
        manifest.is_some_and(has_copies).then_some(SyntheticRows::Unmarked)
    }

    /// The rows in order. All blocks but the last have the same number of rows, unless text is long.
    #[must_use]
    pub fn blocks(&self) -> Blocks<'_> {
        if let Some(cache) = &self.cache {
            return Box::new(cache.iter().cloned().map(Ok));
        }
        self.read()
    }

    fn read(&self) -> Blocks<'_> {
        let batches: Blocks<'_> = match &self.files {
            // The types were inferred when the table was opened: only a changed file has others.
            Files::Text(table) => Box::new(table.blocks().map(|batch| {
                let parsed =
                    batch?.ok_or_else(|| Error::Changed { path: self.path().to_owned() })?;
                Ok(parsed.batch)
            })),
            Files::Parquet(files) => {
                Box::new(files.iter().flat_map(|file| flatten_error(file.blocks())))
            }
            Files::Ipc(files) => {
                Box::new(files.iter().flat_map(|file| flatten_error(file.blocks())))
            }
            Files::InMemory(_) => Box::new(std::iter::empty()),
        };
        Box::new(rechunk(batches, &self.schema, self.path()))
    }

    /// Caches the table if it fits, and completes the type inference of CSV.
    fn fill_cache(&mut self, limit: u64) -> Result<()> {
        if let Files::Text(table) = &mut self.files {
            let (cache, remarks) = loop {
                match load_text(table, limit) {
                    Ok(TextLoad::Loaded(cache, remarks)) => break (cache, remarks),
                    Ok(TextLoad::WrongTypes) => table.infer_types()?,
                    // The first character that is not ASCII may come late.
                    Err(Error::NotUtf8 { path, line, byte }) => {
                        if !table.fall_back(&path)? {
                            return Err(Error::NotUtf8 { path, line, byte });
                        }
                    }
                    Err(error) => return Err(error),
                }
            };
            self.cache = cache;
            self.schema = Arc::clone(table.schema());
            self.decimals = remarks.decimals(table);
            let (lines, notes) = remarks.finish(table);
            if self.format.is_text() {
                self.places = RowPlaces::new(Some(lines));
            }
            self.notes.extend(notes(&self.places));
            return Ok(());
        }
        let claimed = match &self.files {
            Files::Parquet(files) => files.iter().map(ParquetFile::claimed_bytes).sum(),
            _ => 0,
        };
        if claimed <= limit {
            let mut cache = BlockCache::new(limit);
            for block in self.read() {
                if !cache.push(block?) {
                    break;
                }
            }
            self.cache = cache.blocks;
        }
        Ok(())
    }

    /// Adds the first value that is not a number to an error about a column of text.
    pub(crate) fn with_example(&self, mut error: Error) -> Error {
        if let Error::NotNumeric { column, example, .. } = &mut error
            && let Ok(place) = self.schema.index_of(column)
        {
            let mut first = 0;
            for batch in self.blocks() {
                let Ok(batch) = batch else { break };
                let text = arrow_cast::cast(batch.column(place), &DataType::LargeUtf8);
                let Ok(text) = text else { break };
                let text = text.as_string::<i64>();
                let not_a_number = |value: &str| value.trim().parse::<f64>().is_err();
                if let Some(row) = text.iter().position(|value| value.is_some_and(not_a_number)) {
                    let place = self.places.place(first + row as u64);
                    *example = format!(", such as `{}` in row {place}", text.value(row));
                    break;
                }
                first += batch.num_rows() as u64;
            }
        }
        error
    }
}

/// Synthetic rows in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntheticRows {
    /// Provenance columns mark them.
    Marked,
    /// There are some columns of provenance, but not those that mark synthetic rows and name their sources.
    Incomplete,
    /// Only the metadata of the file, or the manifest next to it, mention them; they are not marked.
    Unmarked,
}

enum TextLoad {
    /// The types fit all values. Has the blocks if they fit in memory.
    Loaded(Option<Vec<RecordBatch>>, Remarks),
    WrongTypes,
}

fn load_text(table: &CsvTable, limit: u64) -> Result<TextLoad> {
    let mut cache = BlockCache::new(limit);
    let mut types_fit = true;
    let mut remarks = Remarks::new(table);
    let batches = table.blocks().map_while(|batch| match batch {
        Ok(None) => {
            types_fit = false;
            None
        }
        Ok(Some(parsed)) => Some(Ok(remarks.add(parsed))),
        Err(error) => Some(Err(error)),
    });
    let path = &table.files[0].input.path;
    for block in rechunk(batches, table.schema(), path) {
        cache.push(block?);
    }
    Ok(if types_fit { TextLoad::Loaded(cache.blocks, remarks) } else { TextLoad::WrongTypes })
}

/// Blocks in memory; emptied once they exceed the limit.
struct BlockCache {
    blocks: Option<Vec<RecordBatch>>,
    bytes: u64,
    limit: u64,
}

impl BlockCache {
    fn new(limit: u64) -> Self {
        Self { blocks: Some(vec![]), bytes: 0, limit }
    }

    /// Adds a block; whether all blocks still fit.
    fn push(&mut self, block: RecordBatch) -> bool {
        let Some(blocks) = &mut self.blocks else { return false };
        self.bytes += memory_size(&block);
        if self.bytes > self.limit {
            self.blocks = None;
            return false;
        }
        blocks.push(block);
        true
    }
}

impl Files {
    fn open(
        inputs: Vec<TypedInput>,
        format: Format,
        options: &ReadOptions,
    ) -> Result<(Self, SchemaRef, Vec<Note>)> {
        let inputs = inputs.into_iter();
        let mut notes = vec![];
        let (files, schema) = match format {
            Format::Csv | Format::Tsv => {
                let open =
                    |file: TypedInput| CsvFile::new(file.input, file.compression, options.encoding);
                let files: Vec<CsvFile> = inputs.map(open).collect::<Result<_>>()?;
                let usual = if format == Format::Tsv { b'\t' } else { b',' };
                let delimiter = match options.delimiter {
                    Some(delimiter) => delimiter,
                    None if options.as_text => usual,
                    None => files[0].detect_separator(usual)?,
                };
                if options.delimiter.is_none() && delimiter != usual {
                    notes.push(Note::Separator { separator: delimiter.into() });
                }
                Self::text(files, delimiter, false, options)?
            }
            Format::Xlsx | Format::Ods => {
                let wanted = options.sheet.as_ref();
                let read = |file: TypedInput| {
                    let input = sheet::to_text(
                        &file.input,
                        format,
                        wanted,
                        options.header,
                        options.memory,
                        &mut notes,
                    )?;
                    CsvFile::new(input, Compression::None, Some(Encoding::Utf8))
                };
                let files = inputs.map(read).collect::<Result<_>>()?;
                Self::text(files, b',', true, options)?
            }
            Format::Parquet => {
                let files: Vec<ParquetFile> = inputs
                    .map(|file| ParquetFile::open(file.input, options.memory))
                    .collect::<Result<_>>()?;
                let schemas = files.iter().map(|file| (&*file.input.path, &file.schema));
                let schema = common_schema(&schemas.collect::<Vec<_>>())?;
                (Self::Parquet(files), schema)
            }
            Format::Arrow | Format::ArrowStream => {
                let open = |TypedInput { input, format, compression }: TypedInput| {
                    let input = match compression {
                        Compression::None => input,
                        _ => input.decompressed(compression)?,
                    };
                    IpcFile::open(input, format == Format::ArrowStream, options.memory)
                };
                let files: Vec<IpcFile> = inputs.map(open).collect::<Result<_>>()?;
                let schemas = files.iter().map(|file| (&*file.input.path, &file.schema));
                let schema = common_schema(&schemas.collect::<Vec<_>>())?;
                (Self::Ipc(files), schema)
            }
        };
        Ok((files, schema, notes))
    }

    fn text(
        mut files: Vec<CsvFile>,
        delimiter: u8,
        times: bool,
        options: &ReadOptions,
    ) -> Result<(Self, SchemaRef)> {
        let dialect = Dialect {
            delimiter,
            header: options.header,
            nulls: options.nulls.clone(),
            as_text: options.as_text,
            times,
            memory: options.memory,
        };
        for file in &mut files {
            file.read_header(&dialect)?;
        }
        let first = &files[0];
        for file in &files[1..] {
            if let Some(why) = name_mismatch(file.names(), first.names()) {
                let (path, first) = (file.input.path.clone(), first.input.path.clone());
                return Err(Error::OtherSchema { path, first, why });
            }
        }
        check_names(&first.input.path, first.names().iter().map(String::as_str))?;
        let table = CsvTable::open(files, dialect)?;
        let schema = Arc::clone(table.schema());
        Ok((Self::Text(table), schema))
    }
}

/// The keys of the metadata of a file.
pub(crate) fn file_metadata(
    input: Input,
    format: Format,
    compression: Compression,
) -> Result<Vec<String>> {
    let input = match compression {
        Compression::None => input,
        _ => input.decompressed(compression)?,
    };
    Ok(match format {
        Format::Parquet => ParquetFile::open(input, DEFAULT_MEMORY)?.metadata_keys(),
        Format::Arrow | Format::ArrowStream => {
            let file = IpcFile::open(input, format == Format::ArrowStream, DEFAULT_MEMORY)?;
            file.schema.metadata().keys().cloned().collect()
        }
        Format::Csv | Format::Tsv | Format::Xlsx | Format::Ods => vec![],
    })
}

/// The schema that all files share; an error if the columns differ.
fn common_schema(schemas: &[(&Path, &SchemaRef)]) -> Result<SchemaRef> {
    let (first_path, first) = schemas[0];
    check_names(first_path, first.fields().iter().map(|field| field.name().as_str()))?;
    let mut fields: Vec<_> = first.fields().iter().map(|field| field.as_ref().clone()).collect();
    if schemas.len() > 1 {
        // All files together may have more categories than the key type of one allows.
        for field in &mut fields {
            if let DataType::Dictionary(_, values) = field.data_type() {
                let wide = DataType::Dictionary(Box::new(DataType::Int32), values.clone());
                field.set_data_type(wide);
            }
        }
    }
    let names = |schema: &Schema| -> Vec<String> {
        schema.fields().iter().map(|field| field.name().clone()).collect()
    };
    for (path, schema) in &schemas[1..] {
        let differs = |why| Error::OtherSchema {
            path: path.to_path_buf(),
            first: first_path.to_owned(),
            why,
        };
        if let Some(why) = name_mismatch(&names(schema), &names(first)) {
            return Err(differs(why));
        }
        for (field, other) in fields.iter_mut().zip(schema.fields()) {
            if !same_type(field.data_type(), other.data_type()) {
                let (name, here, there) = (field.name(), other.data_type(), field.data_type());
                let why = format!("column `{name}` is {here} instead of {there}");
                return Err(differs(why));
            }
            field.set_nullable(field.is_nullable() || other.is_nullable());
        }
    }
    Ok(Schema::new(fields).into())
}

/// Whether two types are the same, ignoring the key types of dictionaries.
fn same_type(a: &DataType, b: &DataType) -> bool {
    match (a, b) {
        (DataType::Dictionary(_, a), DataType::Dictionary(_, b)) => a == b,
        (a, b) => a == b,
    }
}

impl TypedInput {
    /// Detects the format and compression of an input with an unknown extension.
    fn detect(input: Input, format: Option<Format>) -> Result<Self> {
        let compression = Compression::from_magic(&input.first_bytes(Compression::None)?);
        let format = match format {
            Some(format) => format,
            None => Format::from_magic(&input.first_bytes(compression)?),
        };
        Ok(Self { input, format, compression })
    }
}

fn is_old_workbook(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("xls"))
}

/// The tables in a folder, sorted by name. Hidden files and `.txt` files are skipped.
fn list_folder(folder: &Path) -> Result<Vec<TypedInput>> {
    let entries = std::fs::read_dir(folder).map_err(Error::io("read", folder))?;
    let mut paths = vec![];
    for entry in entries {
        let path = entry.map_err(Error::io("read", folder))?.path();
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        let notes = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("txt"));
        if path.is_file() && !hidden && !notes && Format::from_path(&path).is_ok() {
            paths.push(path);
        }
    }
    paths.sort();
    if paths.is_empty() {
        return Err(Error::NoTables { path: folder.to_owned() });
    }
    let open = |path: PathBuf| {
        let (format, compression) = Format::from_path(&path)?;
        Ok(TypedInput { input: Input::open(&path)?, format, compression })
    };
    paths.into_iter().map(open).collect()
}

fn check_names<'a>(path: &Path, names: impl Iterator<Item = &'a str>) -> Result<()> {
    let mut unique = std::collections::HashSet::new();
    for name in names {
        if !unique.insert(name) {
            return Err(Error::DuplicateColumn { path: path.to_owned(), column: name.to_owned() });
        }
    }
    Ok(())
}

/// How the names of columns differ from those of the first file, if they do.
fn name_mismatch(names: &[String], first: &[String]) -> Option<String> {
    if names.len() != first.len() {
        return Some(format!("it has {} columns instead of {}", names.len(), first.len()));
    }
    let place = names.iter().zip(first).position(|(name, first)| name != first)?;
    let (name, instead) = (&names[place], &first[place]);
    Some(format!("column {} is `{name}` instead of `{instead}`", place + 1))
}
