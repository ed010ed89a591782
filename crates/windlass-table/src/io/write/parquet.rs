//! Parquet. A batch is a row group. Sections of the table may be written in any order, because the
//! footer lists their row groups in the right one.
//!
//! Columns of `f64`, most of what augmentation writes, are encoded here: the memory of an array
//! already is the body of a plain page, so it is written without a copy. With the `parquet` crate's
//! writer two more copies and a slower search for the minimum and maximum took a third of the time
//! of `windlass augment`. All other columns are encoded by the `parquet` crate, each as a file in
//! memory whose pages are then copied.

use std::io::Write;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch};
use arrow_buffer::Buffer;
use arrow_schema::{DataType, Field, FieldRef, Schema, SchemaRef};
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::arrow::{ArrowSchemaConverter, ArrowWriter, add_encoded_arrow_schema_to_metadata};
use parquet::basic::{Compression, Encoding};
use parquet::errors::Result;
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, KeyValue, ParquetMetaData, ParquetMetaDataWriter,
    RowGroupMetaData,
};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::schema::types::{ColumnDescPtr, SchemaDescPtr};
use rayon::prelude::*;

use super::file::Stream;
use crate::column::{range, stored_type};

const MAGIC: &[u8] = b"PAR1";

pub(super) struct ParquetSink {
    stream: Stream,
    /// Number of bytes written.
    at: usize,
    schema: SchemaRef,
    columns: SchemaDescPtr,
    /// The leaves of every column.
    leaves: Vec<std::ops::Range<usize>>,
    metadata: Vec<KeyValue>,
    /// The row groups of every section.
    sections: Vec<Vec<RowGroupMetaData>>,
    /// The encoding of every column, chosen from the first rows.
    encodings: Vec<ColumnEncoding>,
    /// The last encoded column: columns that augmentation does not change come again with every
    /// copy.
    last: Vec<Option<(ArrayRef, Arc<Encoded>)>>,
}

#[derive(Clone, Copy, PartialEq)]
enum ColumnEncoding {
    /// Plain pages, written here.
    Plain,
    /// The encoding of the `parquet` crate.
    Library,
}

/// The pages of a column in a row group.
struct Encoded {
    bytes: Vec<Buffer>,
    /// One per leaf, with offsets from the start of `bytes`.
    leaves: Vec<ColumnChunkMetaData>,
}

impl ParquetSink {
    pub(super) fn new(
        mut stream: Stream,
        schema: &SchemaRef,
        entry: Option<(&str, String)>,
    ) -> Result<Self> {
        stream.write_all(MAGIC)?;
        let mut properties = WriterProperties::builder().build();
        add_encoded_arrow_schema_to_metadata(schema, &mut properties);
        let mut metadata = properties.key_value_metadata().cloned().unwrap_or_default();
        metadata.extend(entry.map(|(key, text)| KeyValue::new(key.to_owned(), text)));
        let stored = |field: &FieldRef| {
            field.as_ref().clone().with_data_type(stored_type(field.data_type()).into_owned())
        };
        let stored: Vec<Field> = schema.fields().iter().map(stored).collect();
        let schema = &SchemaRef::new(Schema::new(stored));
        let columns = Arc::new(ArrowSchemaConverter::new().convert(schema)?);
        let mut leaves = vec![0..0; schema.fields().len()];
        for leaf in 0..columns.num_columns() {
            let own = &mut leaves[columns.get_column_root_idx(leaf)];
            *own = if own.end == 0 { leaf } else { own.start }..leaf + 1;
        }
        Ok(Self {
            stream,
            at: MAGIC.len(),
            schema: Arc::clone(schema),
            columns,
            leaves,
            metadata,
            sections: vec![],
            encodings: vec![],
            last: schema.fields().iter().map(|_| None).collect(),
        })
    }

    pub(super) fn write(&mut self, section: usize, batch: &RecordBatch) -> Result<()> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        if self.encodings.is_empty() {
            self.encodings = batch.columns().iter().map(ColumnEncoding::choose).collect();
        }
        let encode = |place: usize| -> Result<Arc<Encoded>> {
            let column = batch.column(place);
            let field = self.schema.field(place);
            match (&self.last[place], self.encodings[place]) {
                (Some((last, encoded)), _) if Arc::ptr_eq(last, column) => Ok(Arc::clone(encoded)),
                (_, ColumnEncoding::Plain) => {
                    let leaf = self.columns.column(self.leaves[place].start);
                    encode_plain(column.as_primitive(), leaf).map(Arc::new)
                }
                (_, ColumnEncoding::Library) => {
                    let column = arrow_cast::cast(column, field.data_type())?;
                    encode_by_library(&Schema::new(vec![field.clone()]), &column).map(Arc::new)
                }
            }
        };
        let encoded =
            (0..batch.num_columns()).into_par_iter().map(encode).collect::<Result<Vec<_>>>()?;
        let (first, mut leaves, mut size) = (self.at, vec![], 0);
        for (place, encoded) in encoded.into_iter().enumerate() {
            for (leaf, index) in encoded.leaves.iter().zip(self.leaves[place].clone()) {
                size += leaf.uncompressed_size();
                leaves.push(shifted(leaf, self.columns.column(index), self.at)?);
            }
            for bytes in &encoded.bytes {
                self.stream.write_all(bytes)?;
                self.at += bytes.len();
            }
            if self.encodings[place] == ColumnEncoding::Library {
                self.last[place] = Some((Arc::clone(batch.column(place)), encoded));
            }
        }
        let group = RowGroupMetaData::builder(Arc::clone(&self.columns))
            .set_num_rows(i64::try_from(batch.num_rows()).expect("rows of a batch"))
            .set_total_byte_size(size)
            .set_file_offset(file_offset(first))
            .set_column_metadata(leaves)
            .build()?;
        self.sections.resize_with(self.sections.len().max(section + 1), Vec::new);
        self.sections[section].push(group);
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<()> {
        let groups: Vec<RowGroupMetaData> = self.sections.into_iter().flatten().collect();
        let file = FileMetaData::new(
            1,
            groups.iter().map(RowGroupMetaData::num_rows).sum(),
            Some(created_by()),
            Some(self.metadata),
            self.columns,
            None,
        );
        let index = ParquetMetaData::new(file, groups);
        ParquetMetaDataWriter::new(&mut self.stream, &index).finish()?;
        Ok(self.stream.commit()?)
    }
}

fn created_by() -> String {
    format!("windlass {}", env!("CARGO_PKG_VERSION"))
}

fn file_offset(offset: usize) -> i64 {
    i64::try_from(offset).expect("an offset in a file")
}

impl ColumnEncoding {
    fn choose(column: &ArrayRef) -> Self {
        let plain = column.data_type() == &DataType::Float64 && !is_compressible(column);
        if plain { Self::Plain } else { Self::Library }
    }
}

/// Whether compression saves a tenth of a sample; most mantissas cannot be compressed.
fn is_compressible(column: &ArrayRef) -> bool {
    const SAMPLE_BYTES: usize = 1 << 16;
    let data = column.to_data();
    let bytes = data.buffers().first().map_or(&[][..], |buffer| buffer.as_slice());
    let bytes = &bytes[..bytes.len().min(SAMPLE_BYTES)];
    let smaller = snap::raw::Encoder::new().compress_vec(bytes).map_or(usize::MAX, |out| out.len());
    smaller < bytes.len() / 10 * 9
}

/// The metadata of a leaf whose bytes start at an offset of the file.
fn shifted(
    leaf: &ColumnChunkMetaData,
    column: ColumnDescPtr,
    offset: usize,
) -> Result<ColumnChunkMetaData> {
    let offset = file_offset(offset);
    let mut built = ColumnChunkMetaData::builder(column)
        .set_encodings_mask(*leaf.encodings_mask())
        .set_num_values(leaf.num_values())
        .set_compression(leaf.compression())
        .set_total_compressed_size(leaf.compressed_size())
        .set_total_uncompressed_size(leaf.uncompressed_size())
        .set_data_page_offset(leaf.data_page_offset() + offset)
        .set_dictionary_page_offset(leaf.dictionary_page_offset().map(|page| page + offset));
    if let Some(statistics) = leaf.statistics() {
        built = built.set_statistics(statistics.clone());
    }
    built.build()
}

/// Encodes a column with the `parquet` crate.
fn encode_by_library(schema: &Schema, column: &ArrayRef) -> Result<Encoded> {
    // Moved values hardly repeat: a dictionary would be built and discarded.
    let repeats = !column.data_type().is_floating();
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(repeats)
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_max_row_group_row_count(None)
        .build();
    let options =
        ArrowWriterOptions::new().with_properties(properties).with_skip_arrow_metadata(true);
    let schema = Arc::new(schema.clone());
    let mut bytes = vec![];
    let mut writer = ArrowWriter::try_new_with_options(&mut bytes, Arc::clone(&schema), options)?;
    writer.write(&RecordBatch::try_new(schema, vec![Arc::clone(column)])?)?;
    let index = writer.close()?;
    let leaves = index.row_group(0).columns();
    let begin = |leaf: &ColumnChunkMetaData| {
        leaf.dictionary_page_offset().unwrap_or_else(|| leaf.data_page_offset())
    };
    let (first, last) = (&leaves[0], &leaves[leaves.len() - 1]);
    let (from, to) = (begin(first), begin(last) + last.compressed_size());
    let relative = leaves.iter().map(|leaf| {
        let dictionary = leaf.dictionary_page_offset().map(|page| page - from);
        let built = leaf.clone().into_builder().set_dictionary_page_offset(dictionary);
        built.set_data_page_offset(leaf.data_page_offset() - from).build()
    });
    let leaves = relative.collect::<Result<_>>()?;
    let (from, length) = (memory_offset(from), memory_offset(to - from));
    Ok(Encoded { bytes: vec![Buffer::from_vec(bytes).slice_with_length(from, length)], leaves })
}

fn memory_offset(offset: i64) -> usize {
    usize::try_from(offset).expect("an offset in memory")
}

/// Encodes a column in plain pages.
fn encode_plain(column: &Float64Array, leaf: ColumnDescPtr) -> Result<Encoded> {
    /// Number of values of a page.
    const PAGE: usize = 1 << 17;
    let (mut bytes, mut size) = (vec![], 0);
    for first in (0..column.len()).step_by(PAGE) {
        let page = column.slice(first, PAGE.min(column.len() - first));
        let mut head = vec![];
        if leaf.max_def_level() > 0 {
            head = definition_levels(&page);
        }
        let values = match page.null_count() {
            0 => page.values().inner().clone(),
            _ => page.iter().flatten().collect::<Vec<f64>>().into(),
        };
        let mut front = page_header(page.len(), head.len() + values.len());
        front.append(&mut head);
        size += front.len() + values.len();
        bytes.extend([front.into(), values]);
    }
    let (low, high) = range(column).unzip();
    // Statistics do not distinguish 0 from -0, so the bounds include both.
    let low = low.map(|low| if low == 0.0 { -0.0 } else { low });
    let high = high.map(|high| if high == 0.0 { 0.0 } else { high });
    let missing = Some(column.null_count() as u64);
    let nans = match column.null_count() {
        0 => column.values().iter().filter(|value| value.is_nan()).count(),
        _ => column.iter().flatten().filter(|value| value.is_nan()).count(),
    };
    let statistics = ValueStatistics::new(low, high, None, missing, false);
    let statistics = Statistics::Double(statistics.with_nan_count(Some(nans as u64)));
    let leaf = ColumnChunkMetaData::builder(leaf)
        .set_encodings(vec![Encoding::PLAIN, Encoding::RLE])
        .set_num_values(i64::try_from(column.len()).expect("values of a column"))
        .set_compression(Compression::UNCOMPRESSED)
        .set_total_compressed_size(file_offset(size))
        .set_total_uncompressed_size(file_offset(size))
        .set_data_page_offset(0)
        .set_statistics(statistics)
        .build()?;
    Ok(Encoded { bytes, leaves: vec![leaf] })
}

/// The definition levels: one run if no value is missing, otherwise the validity bitmap.
fn definition_levels(page: &Float64Array) -> Vec<u8> {
    let mut runs = vec![];
    match page.nulls().filter(|nulls| nulls.null_count() > 0) {
        None => {
            varint(page.len() as u64 * 2, &mut runs);
            runs.push(1);
        }
        Some(nulls) => {
            let bits = nulls.inner().sliced();
            let bytes = page.len().div_ceil(8);
            varint(bytes as u64 * 2 + 1, &mut runs);
            runs.extend(&bits.as_slice()[..bytes]);
        }
    }
    let length = u32::try_from(runs.len()).expect("a page is small");
    [&length.to_le_bytes()[..], &runs].concat()
}

/// The header of a data page of version 1, in Thrift's compact protocol.
fn page_header(values: usize, bytes: usize) -> Vec<u8> {
    /// Field headers: an `i32` with the next field id, a struct with the id after that.
    const NUMBER: u8 = 0x15;
    const STRUCT: u8 = 0x2c;
    const END: u8 = 0;
    let mut out = vec![];
    let number = |number: usize, out: &mut Vec<u8>| {
        out.push(NUMBER);
        varint(number as u64 * 2, out);
    };
    // Page type, uncompressed size, compressed size.
    for field in [0, bytes, bytes] {
        number(field, &mut out);
    }
    out.push(STRUCT);
    // Number of values, their encoding (plain), and that of the levels (RLE).
    for field in [values, 0, 3, 3] {
        number(field, &mut out);
    }
    out.extend([END, END]);
    out
}

/// LEB128: seven bits per byte, the lowest first.
fn varint(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push((number & 0x7f) as u8);
}
