//! Parquet: the columns of a row group are encoded side by side.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{
    ArrowColumnWriter, ArrowRowGroupWriterFactory, ArrowWriterOptions, compute_leaves,
};
use parquet::basic::Compression;
use parquet::errors::Result;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::ColumnPath;
use rayon::prelude::*;

use super::file::Stream;

/// Blocks in a row group.
const BLOCKS: usize = 8;

pub(super) struct ParquetSink {
    schema: SchemaRef,
    /// Before the first rows: where to write, and what to note.
    waiting: Option<(Stream, Option<KeyValue>)>,
    writing: Option<Writing>,
}

impl ParquetSink {
    pub(super) fn new(stream: Stream, schema: &SchemaRef, note: Option<(&str, String)>) -> Self {
        let note = note.map(|(key, text)| KeyValue::new(key.to_owned(), text));
        Self { schema: Arc::clone(schema), waiting: Some((stream, note)), writing: None }
    }

    /// Begins the file, now that there are rows to judge its columns by.
    fn begin(&mut self, batch: &RecordBatch) -> Result<()> {
        if let Some((stream, note)) = self.waiting.take() {
            self.writing = Some(Writing::new(stream, batch, &self.schema, note)?);
        }
        Ok(())
    }

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.begin(batch)?;
        self.writing.as_mut().expect("begun").write(batch)
    }

    pub(super) fn finish(mut self) -> Result<()> {
        self.begin(&RecordBatch::new_empty(Arc::clone(&self.schema)))?;
        self.writing.expect("begun").finish()
    }
}

/// A file that was begun.
struct Writing {
    file: SerializedFileWriter<Stream>,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    /// The first of each column's leaves, and the end of the last's.
    leaves: Vec<usize>,
    groups: usize,
    open: Vec<ArrowColumnWriter>,
    blocks: usize,
}

impl Writing {
    fn new(
        stream: Stream,
        batch: &RecordBatch,
        schema: &SchemaRef,
        note: Option<KeyValue>,
    ) -> Result<Self> {
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_data_page_row_count_limit(1 << 17)
            .set_write_batch_size(1 << 14)
            .set_key_value_metadata(note.map(|note| vec![note]))
            .set_created_by(format!("windlass {}", env!("CARGO_PKG_VERSION")));
        for (field, column) in schema.fields().iter().zip(batch.columns()) {
            let path = ColumnPath::new(vec![field.name().clone()]);
            // Moved numbers hardly repeat: a dictionary would be built and thrown away.
            if field.data_type().is_floating() {
                properties = properties.set_column_dictionary_enabled(path.clone(), false);
                if !is_compressible(column) {
                    properties = properties.set_column_compression(path, Compression::UNCOMPRESSED);
                }
            }
        }
        let options = ArrowWriterOptions::new().with_properties(properties.build());
        let writer = ArrowWriter::try_new_with_options(stream, Arc::clone(schema), options)?;
        let (file, factory) = writer.into_serialized_writer()?;
        let descriptor = file.schema_descr();
        let mut leaves = vec![0; schema.fields().len() + 1];
        for leaf in 0..descriptor.num_columns() {
            leaves[descriptor.get_column_root_idx(leaf) + 1] = leaf + 1;
        }
        let schema = Arc::clone(schema);
        Ok(Self { file, factory, schema, leaves, groups: 0, open: vec![], blocks: 0 })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        if self.open.is_empty() {
            self.open = self.factory.create_column_writers(self.groups)?;
        }
        let mut rest = &mut self.open[..];
        let mut columns = vec![];
        for (column, ends) in self.leaves.windows(2).enumerate() {
            let (own, others) = rest.split_at_mut(ends[1] - ends[0]);
            columns.push((column, own));
            rest = others;
        }
        columns.into_par_iter().try_for_each(|(column, writers)| {
            let leaves = compute_leaves(self.schema.field(column), batch.column(column))?;
            leaves.iter().zip(writers).try_for_each(|(leaf, writer)| writer.write(leaf))
        })?;
        self.blocks += 1;
        if self.blocks == BLOCKS { self.end_group() } else { Ok(()) }
    }

    fn end_group(&mut self) -> Result<()> {
        let open = std::mem::take(&mut self.open);
        if open.is_empty() {
            return Ok(());
        }
        let chunks =
            open.into_par_iter().map(ArrowColumnWriter::close).collect::<Result<Vec<_>>>()?;
        let mut group = self.file.next_row_group()?;
        for chunk in chunks {
            chunk.append_to_row_group(&mut group)?;
        }
        group.close()?;
        self.groups += 1;
        self.blocks = 0;
        Ok(())
    }

    fn finish(mut self) -> Result<()> {
        self.end_group()?;
        Ok(self.file.into_inner()?.commit()?)
    }
}

/// Whether compression makes some numbers smaller by a tenth; the mantissas of most cannot be compressed.
fn is_compressible(column: &ArrayRef) -> bool {
    const LOOKED_AT: usize = 1 << 16;
    let data = column.to_data();
    let bytes = data.buffers().first().map_or(&[][..], |buffer| buffer.as_slice());
    let bytes = &bytes[..bytes.len().min(LOOKED_AT)];
    let smaller = snap::raw::Encoder::new().compress_vec(bytes).map_or(usize::MAX, |out| out.len());
    smaller < bytes.len() / 10 * 9
}
