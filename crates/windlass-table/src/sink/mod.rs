//! Writing a table, whole or not at all.

mod csv;
mod file;
mod parquet;

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, new_empty_array};
use arrow_ipc::writer::{DictionaryHandling, FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use arrow_select::concat::concat;
use arrow_select::take::take;

use crate::format::{Compression, Format};
use crate::{Error, Result};
use csv::CsvSink;
pub(crate) use csv::as_text;
use file::{Destination, Fault, Stream};
use parquet::ParquetSink;

/// How a table is written.
#[derive(Debug, Clone)]
pub struct WriteOptions {
    /// The format; told by the name's ending if not given.
    pub format: Option<Format>,
    /// What separates fields of text: a comma, or a tab in TSV, if not given.
    pub delimiter: Option<u8>,
    /// Whether text begins with the names of the columns.
    pub header: bool,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self { format: None, delimiter: None, header: true }
    }
}

/// A table being written. It appears under its name when it is [finished](Sink::finish); before that, a
/// file that had the name is untouched, and whatever ends the writing early leaves nothing behind.
pub struct Sink {
    encoder: Encoder,
    fault: Fault,
    path: PathBuf,
    schema: SchemaRef,
}

enum Encoder {
    Text(Box<CsvSink>),
    Parquet(Box<ParquetSink>),
    Arrow(Box<FileWriter<Stream>>, Dictionaries),
    ArrowStream(Box<StreamWriter<Stream>>),
}

impl Sink {
    /// Begins to write to a file, or to standard output (`-`). The note is kept in the file's metadata,
    /// where the format has any.
    pub fn create(
        path: &Path,
        options: &WriteOptions,
        schema: &SchemaRef,
        note: Option<(&str, String)>,
    ) -> Result<Self> {
        let (format, compression) = output_format(path, options.format)?;
        if format.is_text() {
            CsvSink::check(schema, format)?;
        }
        let fault = Fault::default();
        let destination = Destination::open(path, Arc::clone(&fault))?;
        let sink = |encoder| Self {
            encoder,
            fault: Arc::clone(&fault),
            path: path.to_owned(),
            schema: Arc::clone(schema),
        };
        let failed = |why: String| failed(&fault, path, why);
        let stream =
            Stream::new(destination, compression).map_err(|why| failed(why.to_string()))?;
        let noted = || match &note {
            Some((key, text)) => {
                let mut schema = schema.as_ref().clone();
                schema.metadata.insert((*key).to_owned(), text.clone());
                Arc::new(schema)
            }
            None => Arc::clone(schema),
        };
        let delta =
            || IpcWriteOptions::default().with_dictionary_handling(DictionaryHandling::Delta);
        let encoder = match format {
            Format::Csv | Format::Tsv => {
                let usual = if format == Format::Tsv { b'\t' } else { b',' };
                let header = options.header.then_some(schema.as_ref());
                CsvSink::new(stream, options.delimiter.unwrap_or(usual), header)
                    .map(|sink| Encoder::Text(Box::new(sink)))
                    .map_err(|why| why.to_string())
            }
            Format::Parquet => ParquetSink::new(stream, schema, note)
                .map(|sink| Encoder::Parquet(Box::new(sink)))
                .map_err(|why| why.to_string()),
            Format::Arrow => FileWriter::try_new_with_options(stream, &noted(), delta())
                .map(|writer| Encoder::Arrow(Box::new(writer), Dictionaries::default()))
                .map_err(|why| why.to_string()),
            Format::ArrowStream => StreamWriter::try_new(stream, &noted())
                .map(|writer| Encoder::ArrowStream(Box::new(writer)))
                .map_err(|why| why.to_string()),
        };
        encoder.map(sink).map_err(failed)
    }

    /// Whether parts may be written in any order, or a little of each in turn.
    #[must_use]
    pub fn any_order(&self) -> bool {
        matches!(self.encoder, Encoder::Parquet(_))
    }

    /// Writes some rows of a part of the table. A reader sees the parts in the order of their numbers;
    /// they must be written in it too, unless [`any_order`](Self::any_order) says otherwise.
    pub fn write(&mut self, part: usize, batch: &RecordBatch) -> Result<()> {
        let written = match &mut self.encoder {
            Encoder::Text(sink) => sink.write(batch).map_err(|why| why.to_string()),
            Encoder::Parquet(sink) => sink.write(part, batch).map_err(|why| why.to_string()),
            Encoder::Arrow(writer, dictionaries) => canonical(batch)
                .and_then(|batch| dictionaries.unify(&batch, &self.schema))
                .and_then(|batch| writer.write(&batch))
                .map_err(|why| why.to_string()),
            Encoder::ArrowStream(writer) => canonical(batch)
                .and_then(|batch| writer.write(&batch))
                .map_err(|why| why.to_string()),
        };
        written.map_err(|why| failed(&self.fault, &self.path, why))
    }

    /// Makes the table appear under its name.
    pub fn finish(self) -> Result<()> {
        let text = |why: ArrowError| why.to_string();
        let commit = |stream: Stream| stream.commit().map_err(|why| why.to_string());
        let finished = match self.encoder {
            Encoder::Text(sink) => sink.finish().map_err(|why| why.to_string()),
            Encoder::Parquet(sink) => sink.finish().map_err(|why| why.to_string()),
            Encoder::Arrow(mut writer, _) => {
                writer.finish().and_then(|()| writer.into_inner()).map_err(text).and_then(commit)
            }
            Encoder::ArrowStream(mut writer) => {
                writer.finish().and_then(|()| writer.into_inner()).map_err(text).and_then(commit)
            }
        };
        finished.map_err(|why| failed(&self.fault, &self.path, why))
    }
}

/// The format of an output: told by its name, or said.
fn output_format(path: &Path, said: Option<Format>) -> Result<(Format, Compression)> {
    match (Format::of_path(path), said) {
        (Err(Error::UnknownEnding { .. }), Some(format)) => Ok((format, Compression::None)),
        (told, _) => told,
    }
}

/// Refuses, before anything is read, outputs that cannot be written, that are an input, or that are one.
///
/// The first output is the table, in a format told by its name, or said.
pub fn check_outputs(outputs: &[&Path], said: Option<Format>, inputs: &[PathBuf]) -> Result<()> {
    let files = || outputs.iter().filter(|path| path.as_os_str() != "-");
    for (place, path) in files().enumerate() {
        if place == 0 && *path == outputs[0] {
            output_format(path, said)?;
        }
        file::check_folder(path)?;
        if inputs.iter().any(|input| same_file(path, input)) {
            return Err(Error::OutputIsInput { path: path.to_path_buf() });
        }
        let joined = |input: &&PathBuf| {
            let inside = input.is_dir() && same_file(file::folder_of(path), input);
            inside && Format::of_path(path).is_ok()
        };
        if let Some(folder) = inputs.iter().find(joined) {
            let (path, folder) = (path.to_path_buf(), folder.clone());
            return Err(Error::OutputInInput { path, folder });
        }
        let same_place = |other: &&&Path| {
            let folder = |path: &Path| {
                path.parent().map(Path::to_owned).and_then(|folder| {
                    if folder.as_os_str().is_empty() { ".".into() } else { folder }
                        .canonicalize()
                        .ok()
                })
            };
            path.file_name() == other.file_name() && folder(path) == folder(other)
        };
        if files().skip(place + 1).any(|other| same_place(&other) || same_file(path, other)) {
            return Err(Error::OneName { path: path.to_path_buf() });
        }
    }
    Ok(())
}

/// Writes a small file, whole or not at all.
pub fn write_atomic(path: &Path, bytes: &[u8]) -> Result<()> {
    let fault = Fault::default();
    let destination = Destination::open(path, Arc::clone(&fault))?;
    let written = Stream::new(destination, Compression::None).and_then(|mut stream| {
        std::io::Write::write_all(&mut stream, bytes)?;
        stream.commit()
    });
    written.map_err(|why| failed(&fault, path, why.to_string()))
}

/// Whether two names are of the same file.
fn same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) if a == b => true,
        (Ok(a), Ok(b)) => file::same_inode(&a, &b),
        _ => false,
    }
}

/// What the destination said, rather than what the encoder made of it.
fn failed(fault: &Fault, path: &Path, why: String) -> Error {
    let fault = fault.lock().unwrap_or_else(PoisonError::into_inner).take();
    let source = fault.unwrap_or_else(|| std::io::Error::other(why));
    Error::Io { doing: "write", path: path.to_owned(), source }
}

/// The same rows in the same bytes: what lies under a missing value is 0, and where none is missing
/// nothing says so.
fn canonical(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let column = |column: &ArrayRef| -> Result<ArrayRef, ArrowError> {
        let Some(nulls) = column.nulls() else { return Ok(Arc::clone(column)) };
        if nulls.null_count() == 0 {
            let bare = column.to_data().into_builder().nulls(None).build()?;
            return Ok(arrow_array::make_array(bare));
        }
        // Interleaving copies values one by one, and makes those that are missing.
        let rows: Vec<(usize, usize)> = (0..column.len())
            .map(|row| if nulls.is_null(row) { (0, 0) } else { (1, row) })
            .collect();
        let missing = arrow_array::new_null_array(column.data_type(), 1);
        arrow_select::interleave::interleave(&[missing.as_ref(), column.as_ref()], &rows)
    };
    let columns = batch.columns().iter().map(column).collect::<Result<_, _>>()?;
    RecordBatch::try_new(batch.schema(), columns)
}

/// The categories of every dictionary column so far: a file's dictionaries may grow, but not change.
#[derive(Default)]
struct Dictionaries {
    of_column: Vec<Option<Dictionary>>,
}

struct Dictionary {
    values: ArrayRef,
    places: std::collections::HashMap<String, usize>,
}

impl Dictionaries {
    fn unify(
        &mut self,
        batch: &RecordBatch,
        schema: &SchemaRef,
    ) -> Result<RecordBatch, ArrowError> {
        self.of_column.resize_with(batch.num_columns(), || None);
        let mut columns = batch.columns().to_vec();
        for (column, known) in columns.iter_mut().zip(&mut self.of_column) {
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
        RecordBatch::try_new(Arc::clone(schema), columns)
    }
}
