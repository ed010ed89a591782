//! Arrow IPC: the file and the stream format.
//!
//! A batch is read as a whole. So its size, and the sizes that its compressed buffers claim, are
//! compared with the memory before anything is decoded.

use std::io::{BufReader, Read as _, Seek as _, SeekFrom};

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::{Endianness, Message, root_as_footer, root_as_message};
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
    pub(super) fn open(input: Input, stream: bool, memory: u64) -> Result<Self> {
        if input.first_bytes(Compression::None)?.is_empty() {
            return Err(Error::EmptyFile { path: input.path });
        }
        let mut check = Check { file: input.cursor()?, dictionaries: 0, memory };
        let checked = catch_panic(|| if stream { check.stream() } else { check.file() });
        checked.map_err(Error::damaged(&input.path))?.map_err(|refusal| match refusal {
            IpcRefusal::Damaged(why) => Error::damaged(&input.path)(why),
            IpcRefusal::BigEndian => Error::BigEndian { path: input.path.clone() },
            IpcRefusal::LargeBatch(needs) => {
                let (path, what) = (input.path.clone(), "a batch of rows".to_owned());
                Error::TooLarge { path, what, needs, memory }
            }
        })?;
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

/// The reason for which a file is rejected.
enum IpcRefusal {
    Damaged(String),
    BigEndian,
    /// A batch of this size in bytes is too large.
    LargeBatch(u64),
}

impl<E: ToString> From<E> for IpcRefusal {
    fn from(error: E) -> Self {
        Self::Damaged(error.to_string())
    }
}

/// Checks all messages without their bodies.
struct Check {
    file: FileCursor,
    /// The size of the dictionaries so far.
    dictionaries: u64,
    memory: u64,
}

impl Check {
    fn stream(&mut self) -> Result<(), IpcRefusal> {
        while let Some(meta) = self.metadata()? {
            let body = self.file.stream_position()?;
            let length = self.message(&meta, body)?;
            self.file.seek(SeekFrom::Start(body.saturating_add(length)))?;
        }
        Ok(())
    }

    fn file(&mut self) -> Result<(), IpcRefusal> {
        let end = self.file.seek(SeekFrom::End(-10))?;
        let mut tail = [0; 4];
        self.file.read_exact(&mut tail)?;
        let length = u32::from_le_bytes(tail);
        let start = end.checked_sub(length.into()).ok_or("its footer is longer than the file")?;
        self.file.seek(SeekFrom::Start(start))?;
        let footer = self.bytes(length.into())?;
        let footer = root_as_footer(&footer)?;
        if footer.schema().is_some_and(|schema| schema.endianness() == Endianness::Big) {
            return Err(IpcRefusal::BigEndian);
        }
        let dictionaries = footer.dictionaries().into_iter().flatten();
        for block in dictionaries.chain(footer.recordBatches().into_iter().flatten()) {
            let offset = u64::try_from(block.offset())?;
            self.file.seek(SeekFrom::Start(offset))?;
            let meta = self.metadata()?.ok_or("a batch has no metadata")?;
            let body = offset.saturating_add(u64::try_from(block.metaDataLength())?);
            let length = self.message(&meta, body)?;
            if length != u64::try_from(block.bodyLength())? {
                return Err("the length of a batch differs from the footer".into());
            }
        }
        Ok(())
    }

    /// The metadata of the message at the current place; none at the end.
    fn metadata(&mut self) -> Result<Option<Vec<u8>>, IpcRefusal> {
        const CONTINUATION: u32 = u32::MAX;
        let Ok(mut length) = self.word() else { return Ok(None) };
        if length == CONTINUATION {
            length = self.word()?;
        }
        if length == 0 { Ok(None) } else { self.bytes(length.into()).map(Some) }
    }

    fn word(&mut self) -> Result<u32, IpcRefusal> {
        let mut word = [0; 4];
        self.file.read_exact(&mut word)?;
        Ok(u32::from_le_bytes(word))
    }

    /// The next `length` bytes; allocates only for bytes that exist.
    fn bytes(&mut self, length: u64) -> Result<Vec<u8>, IpcRefusal> {
        let mut bytes = vec![];
        let read = self.file.by_ref().take(length).read_to_end(&mut bytes)?;
        if (read as u64) < length { Err("it ends too early".into()) } else { Ok(bytes) }
    }

    /// Checks a message; the length of its body.
    fn message(&mut self, meta: &[u8], body: u64) -> Result<u64, IpcRefusal> {
        let message: Message<'_> = root_as_message(meta)?;
        let length = u64::try_from(message.bodyLength())?;
        if message.header_as_schema().is_some_and(|schema| schema.endianness() == Endianness::Big) {
            return Err(IpcRefusal::BigEndian);
        }
        let dictionary = message.header_as_dictionary_batch();
        let data = dictionary.and_then(|dictionary| dictionary.data());
        let mut needs = length;
        if let Some(batch) = message.header_as_record_batch().or(data)
            && batch.compression().is_some()
        {
            for buffer in
                batch.buffers().into_iter().flatten().filter(|buffer| buffer.length() >= 8)
            {
                let offset = u64::try_from(buffer.offset())?;
                self.file.seek(SeekFrom::Start(body.saturating_add(offset)))?;
                let mut claimed = [0; 8];
                self.file.read_exact(&mut claimed)?;
                // Less than 0: not compressed.
                let claimed = u64::try_from(i64::from_le_bytes(claimed)).unwrap_or(0);
                needs = needs.saturating_add(claimed);
            }
        }
        if data.is_some() {
            self.dictionaries = self.dictionaries.saturating_add(needs);
            needs = 0;
        }
        let needs = needs.saturating_add(self.dictionaries);
        if needs > self.memory { Err(IpcRefusal::LargeBatch(needs)) } else { Ok(length) }
    }
}
