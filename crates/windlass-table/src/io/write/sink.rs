//! Writing a table atomically.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, new_empty_array};
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use arrow_select::concat::concat;
use arrow_select::take::take;

use super::csv::CsvSink;
use super::existing::{OutputKind, check_existing};
use super::file::{self, Destination, FirstError, Stream};
use super::parquet::ParquetSink;
use crate::io::format::{Compression, Format};
use crate::{Error, Result};

/// How a table is written.
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// The format of standard output and of names without a known extension.
    pub format: Option<Format>,
    /// The CSV delimiter; by default a comma, in TSV a tab.
    pub delimiter: Option<u8>,
    /// Whether to write a CSV header.
    pub header: bool,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self { format: None, delimiter: None, header: true }
    }
}

/// Writes a table to a file, which appears under its name when it is [finished](Sink::finish).
/// Until then an existing file is untouched, and an unfinished output is removed.
pub struct Sink {
    encoder: Encoder,
    first_error: FirstError,
    path: PathBuf,
}

/// The error of an encoder, or of the operating system.
type EncoderError = Box<dyn std::error::Error + Send + Sync>;

enum Encoder {
    Text(Box<CsvSink>),
    Parquet(Box<ParquetSink>),
    Arrow(Box<FileWriter<Stream>>, Dictionaries),
    ArrowStream(Box<StreamWriter<Stream>>),
}

impl Sink {
    /// Begins to write to a file, or to standard output (`-`). The metadata, a key and its value,
    /// are stored in formats other than CSV.
    pub fn create(
        path: &Path,
        options: &WriteOptions,
        schema: &SchemaRef,
        metadata: Option<(&str, String)>,
    ) -> Result<Self> {
        let (format, compression) = output_format(path, options.format)?;
        if format.is_text() {
            CsvSink::check(schema, format)?;
        }
        let first_error = FirstError::default();
        let destination = Destination::open(path, Arc::clone(&first_error))?;
        let encoder = Stream::new(destination, compression)
            .map_err(Into::into)
            .and_then(|stream| Encoder::new(stream, format, options, schema, metadata))
            .map_err(|error| failed(&first_error, path, error))?;
        Ok(Self { encoder, first_error, path: path.to_owned() })
    }

    /// Whether sections may be written in any order, or interleaved.
    #[must_use]
    pub fn any_order(&self) -> bool {
        matches!(self.encoder, Encoder::Parquet(_))
    }

    /// Writes rows of a section of the table. A reader sees the sections in ascending order, in
    /// which they must be written, unless [`any_order`](Self::any_order).
    pub fn write(&mut self, section: usize, batch: &RecordBatch) -> Result<()> {
        let written = self.encoder.write(section, batch);
        written.map_err(|error| failed(&self.first_error, &self.path, error))
    }

    /// Completes the table; it appears under its name.
    pub fn finish(self) -> Result<()> {
        self.encoder.finish().map_err(|error| failed(&self.first_error, &self.path, error))
    }
}

impl Encoder {
    fn new(
        stream: Stream,
        format: Format,
        options: &WriteOptions,
        schema: &SchemaRef,
        metadata: Option<(&str, String)>,
    ) -> Result<Self, EncoderError> {
        let with_metadata = |metadata: Option<(&str, String)>| {
            let mut schema = schema.as_ref().clone();
            schema.metadata.extend(metadata.map(|(key, value)| (key.to_owned(), value)));
            schema
        };
        Ok(match format {
            Format::Csv | Format::Tsv => {
                let usual = if format == Format::Tsv { b'\t' } else { b',' };
                let header = options.header.then_some(schema.as_ref());
                let delimiter = options.delimiter.unwrap_or(usual);
                Self::Text(Box::new(CsvSink::new(stream, delimiter, header)?))
            }
            Format::Parquet => Self::Parquet(Box::new(ParquetSink::new(stream, schema, metadata)?)),
            Format::Arrow => {
                let delta =
                    IpcWriteOptions::default().with_dictionary_handling(DictionaryHandling::Delta);
                let schema = with_metadata(metadata);
                let writer = FileWriter::try_new_with_options(stream, &schema, delta)?;
                Self::Arrow(Box::new(writer), Dictionaries::default())
            }
            Format::Xlsx | Format::Ods => unreachable!("refused by `output_format`"),
            Format::ArrowStream => {
                let writer = StreamWriter::try_new(stream, &with_metadata(metadata))?;
                Self::ArrowStream(Box::new(writer))
            }
        })
    }

    fn write(&mut self, section: usize, batch: &RecordBatch) -> Result<(), EncoderError> {
        match self {
            Self::Text(sink) => sink.write(batch)?,
            Self::Parquet(sink) => sink.write(section, batch)?,
            Self::Arrow(writer, dictionaries) => {
                writer.write(&dictionaries.unify(&canonical(batch)?)?)?;
            }
            Self::ArrowStream(writer) => writer.write(&canonical(batch)?)?,
        }
        Ok(())
    }

    fn finish(self) -> Result<(), EncoderError> {
        match self {
            Self::Text(sink) => sink.finish()?,
            Self::Parquet(sink) => sink.finish()?,
            Self::Arrow(mut writer, _) => {
                writer.finish()?;
                writer.into_inner()?.commit()?;
            }
            Self::ArrowStream(mut writer) => {
                writer.finish()?;
                writer.into_inner()?.commit()?;
            }
        }
        Ok(())
    }
}

fn output_format(path: &Path, requested: Option<Format>) -> Result<(Format, Compression)> {
    match (Format::from_path(path), requested) {
        (Err(Error::UnknownEnding { .. }), Some(format)) => Ok((format, Compression::None)),
        (by_name, _) => by_name,
    }
    .and_then(|(format, compression)| {
        if format.is_read_only() {
            return Err(Error::ReadOnlyFormat { path: path.to_owned(), format: format.name() });
        }
        Ok((format, compression))
    })
}

/// Returns an error if an output cannot be written, is an input, exists and [is not
/// ours](check_existing) (unless forced), or if two outputs are the same file. Called before
/// anything is read.
///
/// A table is written in the format of its name or the requested one.
pub fn check_outputs(
    outputs: &[(&Path, OutputKind)],
    requested: Option<Format>,
    inputs: &[PathBuf],
    force: bool,
) -> Result<()> {
    let files = || outputs.iter().filter(|(path, _)| path.as_os_str() != "-");
    for (place, (path, kind)) in files().enumerate() {
        if *kind == OutputKind::Table {
            output_format(path, requested)?;
        }
        file::check_folder(path)?;
        if inputs.iter().any(|input| same_file(path, input)) {
            return Err(Error::OutputIsInput { path: path.to_path_buf() });
        }
        let joined = |input: &&PathBuf| {
            let inside = input.is_dir() && same_file(file::folder_of(path), input);
            inside && Format::from_path(path).is_ok()
        };
        if let Some(folder) = inputs.iter().find(joined) {
            let (path, folder) = (path.to_path_buf(), folder.clone());
            return Err(Error::OutputInInput { path, folder });
        }
        let same_place = |other: &Path| {
            let folder = |path: &Path| {
                path.parent().map(Path::to_owned).and_then(|folder| {
                    if folder.as_os_str().is_empty() { ".".into() } else { folder }
                        .canonicalize()
                        .ok()
                })
            };
            path.file_name() == other.file_name() && folder(path) == folder(other)
        };
        if files().skip(place + 1).any(|(other, _)| same_place(other) || same_file(path, other)) {
            return Err(Error::OneName { path: path.to_path_buf() });
        }
        if !force {
            check_existing(path, *kind)?;
        }
    }
    Ok(())
}

/// Writes a small file atomically.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<()> {
    let first_error = FirstError::default();
    let destination = Destination::open(path, Arc::clone(&first_error))?;
    let written = Stream::new(destination, Compression::None).and_then(|mut stream| {
        std::io::Write::write_all(&mut stream, bytes)?;
        stream.commit()
    });
    written.map_err(|why| failed(&first_error, path, why.into()))
}

/// Whether two paths name the same file.
fn same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) if a == b => true,
        (Ok(a), Ok(b)) => file::same_inode(&a, &b),
        _ => false,
    }
}

/// The error of the operating system if there is one, otherwise that of the encoder.
fn failed(first_error: &FirstError, path: &Path, error: EncoderError) -> Error {
    let first = first_error.lock().unwrap_or_else(PoisonError::into_inner).take();
    let source = first.unwrap_or_else(|| std::io::Error::other(error.to_string()));
    Error::Io { doing: "write", path: path.to_owned(), source }
}

/// A batch with a unique binary representation: 0 under missing values, and no validity bitmap if
/// none is missing.
fn canonical(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let column = |column: &ArrayRef| -> Result<ArrayRef, ArrowError> {
        let Some(nulls) = column.nulls() else { return Ok(Arc::clone(column)) };
        if nulls.null_count() == 0 {
            let bare = column.to_data().into_builder().nulls(None).build()?;
            return Ok(arrow_array::make_array(bare));
        }
        // Interleaving copies the values, and writes the default under missing ones.
        let rows: Vec<(usize, usize)> = (0..column.len())
            .map(|row| if nulls.is_null(row) { (0, 0) } else { (1, row) })
            .collect();
        let missing = arrow_array::new_null_array(column.data_type(), 1);
        arrow_select::interleave::interleave(&[missing.as_ref(), column.as_ref()], &rows)
    };
    let columns = batch.columns().iter().map(column).collect::<Result<_, _>>()?;
    RecordBatch::try_new(batch.schema(), columns)
}

/// The dictionaries of all columns so far: those of a file may grow, but not change.
#[derive(Default)]
struct Dictionaries {
    by_column: Vec<Option<Dictionary>>,
}

struct Dictionary {
    values: ArrayRef,
    places: std::collections::HashMap<String, usize>,
}

impl Dictionaries {
    fn unify(&mut self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        self.by_column.resize_with(batch.num_columns(), || None);
        let mut columns = batch.columns().to_vec();
        for (column, known) in columns.iter_mut().zip(&mut self.by_column) {
            let DataType::Dictionary(key, value) = column.data_type().clone() else { continue };
            let known = known.get_or_insert_with(|| Dictionary {
                values: new_empty_array(&value),
                places: std::collections::HashMap::new(),
            });
            let dictionary = column.as_any_dictionary();
            let own = dictionary.values();
            let words = arrow_cast::cast(own, &DataType::Utf8)?;
            let words = words.as_string::<i32>();
            let mut place_of = vec![None; own.len()];
            let mut new: Vec<u64> = vec![];
            for (place, slot) in place_of.iter_mut().enumerate() {
                if own.is_null(place) {
                    continue;
                }
                let word = words.value(place);
                *slot = Some(if let Some(&known) = known.places.get(word) {
                    known
                } else {
                    let next = known.values.len() + new.len();
                    new.push(place as u64);
                    known.places.insert(word.to_owned(), next);
                    next
                });
            }
            if !new.is_empty() {
                let new = take(own, &arrow_array::UInt64Array::from(new), None)?;
                known.values = concat(&[&known.values, &new])?;
            }
            let keys = dictionary.normalized_keys();
            let keys: arrow_array::UInt64Array = (0..column.len())
                .map(|row| {
                    let place = (!column.is_null(row)).then(|| place_of[keys[row]]).flatten();
                    place.map(|place| place as u64)
                })
                .collect();
            let keys = arrow_cast::cast(&keys, &key)?;
            let values = Arc::clone(&known.values);
            *column = arrow_array::make_array(
                arrow_array::Array::to_data(&keys)
                    .into_builder()
                    .data_type(column.data_type().clone())
                    .add_child_data(values.to_data())
                    .build()?,
            );
        }
        RecordBatch::try_new(batch.schema(), columns)
    }
}
