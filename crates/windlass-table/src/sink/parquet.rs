//! Parquet: the columns of a row group are encoded side by side.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, SchemaRef};
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
    file: SerializedFileWriter<Stream>,
    factory: ArrowRowGroupWriterFactory,
    schema: SchemaRef,
    /// The first of each column's leaves, and the end of the last's.
    leaves: Vec<usize>,
    groups: usize,
    open: Vec<ArrowColumnWriter>,
    blocks: usize,
}

impl ParquetSink {
    pub(super) fn new(
        stream: Stream,
        schema: &SchemaRef,
        note: Option<(&str, String)>,
    ) -> Result<Self> {
        let mut properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_data_page_row_count_limit(1 << 17)
            .set_write_batch_size(1 << 14)
            .set_created_by(format!("windlass {}", env!("CARGO_PKG_VERSION")));
        for field in schema.fields() {
            // Moved numbers hardly repeat: a dictionary would be built and thrown away.
            if matches!(field.data_type(), DataType::Float64 | DataType::Float32) {
                let column = ColumnPath::new(vec![field.name().clone()]);
                properties = properties.set_column_dictionary_enabled(column, false);
            }
        }
        if let Some((key, text)) = note {
            let note = KeyValue::new(key.to_owned(), text);
            properties = properties.set_key_value_metadata(Some(vec![note]));
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

    pub(super) fn write(&mut self, batch: &RecordBatch) -> Result<()> {
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

    pub(super) fn finish(mut self) -> Result<()> {
        self.end_group()?;
        Ok(self.file.into_inner()?.commit()?)
    }
}
