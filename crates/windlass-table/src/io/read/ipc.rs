//! Arrow IPC: the file and the stream format.

use std::io::BufReader;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, SchemaRef};

use super::file::{FileCursor, Input};
use super::guard::catch_panic;
use crate::io::format::Compression;
use crate::{Error, Result};

#[derive(Debug)]
pub(super) struct IpcFile {
    pub(super) input: Input,
    stream: bool,
    pub(super) schema: SchemaRef,
}

/// A reader of either format.
type Batches = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

impl IpcFile {
    pub(super) fn open(input: Input, stream: bool) -> Result<Self> {
        if input.first_bytes(Compression::None)?.is_empty() {
            return Err(Error::EmptyFile { path: input.path });
        }
        let (schema, _) = open(&input, stream)?;
        Ok(Self { input, stream, schema })
    }

    pub(super) fn metadata(&self, key: &str) -> Option<&str> {
        self.schema.metadata().get(key).map(String::as_str)
    }

    pub(super) fn blocks(&self) -> Result<impl Iterator<Item = Result<RecordBatch>> + Send + '_> {
        let (_, mut batches) = open(&self.input, self.stream)?;
        let damaged = Error::damaged(&self.input.path);
        Ok(std::iter::from_fn(move || {
            let next = catch_panic(|| batches.next().transpose()).map_err(&damaged);
            next.and_then(|batch| batch.map_err(|error| damaged(error.to_string()))).transpose()
        }))
    }
}

fn open(input: &Input, stream: bool) -> Result<(SchemaRef, Batches)> {
    let file: BufReader<FileCursor> = BufReader::new(input.cursor()?);
    let damaged = Error::damaged(&input.path);
    let opened = catch_panic(|| -> Result<(SchemaRef, Batches), ArrowError> {
        Ok(if stream {
            let reader = StreamReader::try_new(file, None)?;
            (reader.schema(), Box::new(reader))
        } else {
            let reader = FileReader::try_new(file, None)?;
            (reader.schema(), Box::new(reader))
        })
    });
    opened.map_err(&damaged)?.map_err(|error| damaged(error.to_string()))
}
