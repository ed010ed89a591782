//! Parquet: columns are decoded in parallel, a block of rows at a time.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::file::metadata::{
    ColumnChunkMetaData, FileMetaData, ParquetMetaData, RowGroupMetaData,
};
use rayon::prelude::*;

use super::file::{FileCursor, Input};
use super::guard::catch_panic;
use super::parquet_check::{self, ParquetRefusal};
use super::rechunk::{BLOCK_BYTES, block_rows};
use crate::{Error, Result};

#[derive(Debug)]
pub(super) struct ParquetFile {
    pub(super) input: Input,
    metadata: ArrowReaderMetadata,
    pub(super) schema: SchemaRef,
    rows: u64,
}

impl ParquetFile {
    pub(super) fn open(input: Input, memory: u64) -> Result<Self> {
        let file = input.cursor()?;
        let path = input.path.clone();
        if parquet::file::reader::Length::len(&file) == 0 {
            return Err(Error::EmptyFile { path });
        }
        let damaged = Error::damaged(&path);
        parquet_check::check(&file, memory).map_err(|refusal| match refusal {
            ParquetRefusal::Damaged(why) => damaged(why),
            ParquetRefusal::LargePages(needs) => {
                let (path, what) = (path.clone(), "a page of a column".to_owned());
                Error::TooLarge { path, what, needs, memory }
            }
        })?;
        let load = |options: ArrowReaderOptions| {
            catch_panic(|| {
                let metadata = ArrowReaderMetadata::load(&file, options.clone())?;
                match with_row_count(metadata.metadata()) {
                    Some(counted) => ArrowReaderMetadata::try_new(counted.into(), options),
                    None => Ok(metadata),
                }
            })
            .map_err(&damaged)?
            .map_err(|error| damaged(error.to_string()))
        };
        let mut metadata = load(ArrowReaderOptions::new())?;
        let is_brotli =
            |column: &ColumnChunkMetaData| matches!(column.compression(), Compression::BROTLI(_));
        let mut columns =
            metadata.metadata().row_groups().iter().flat_map(RowGroupMetaData::columns);
        if !cfg!(feature = "brotli") && columns.any(is_brotli) {
            let (needs, feature) = ("has columns compressed with Brotli", "brotli");
            return Err(Error::MissingFeature { path: path.clone(), needs, feature });
        }
        let schema = Arc::clone(metadata.schema());
        if let Some(wide) = with_wide_keys(&schema) {
            metadata = load(ArrowReaderOptions::new().with_schema(wide.into()))?;
        }
        let rows = metadata.metadata().file_metadata().num_rows();
        let rows = u64::try_from(rows).map_err(|_| damaged(format!("it claims {rows} rows")))?;
        Ok(Self { input, metadata, schema, rows })
    }

    pub(super) fn metadata(&self, key: &str) -> Option<&str> {
        let entries = self.metadata.metadata().file_metadata().key_value_metadata()?;
        entries.iter().find(|entry| entry.key == key)?.value.as_deref()
    }

    pub(super) fn metadata_keys(&self) -> Vec<String> {
        let entries = self.metadata.metadata().file_metadata().key_value_metadata();
        entries.into_iter().flatten().map(|entry| entry.key.clone()).collect()
    }

    /// The size of all columns, decompressed but still encoded, according to the footer.
    pub(super) fn claimed_bytes(&self) -> u64 {
        let groups = self.metadata.metadata().row_groups().iter();
        let bytes = groups.map(|group| u64::try_from(group.total_byte_size()).unwrap_or(u64::MAX));
        bytes.fold(0, u64::saturating_add)
    }

    /// Number of rows to decode at a time: fewer if the footer says that they are long.
    fn batch_rows(&self) -> usize {
        let row_bytes = |group: &RowGroupMetaData| {
            let bytes = group.columns().iter().map(|column| {
                let text = column.unencoded_byte_array_data_bytes().unwrap_or(0);
                u64::try_from(column.uncompressed_size().max(text)).unwrap_or(0)
            });
            let rows = u64::try_from(group.num_rows()).unwrap_or(0).max(1);
            bytes.fold(0, u64::saturating_add) / rows
        };
        let longest = self.metadata.metadata().row_groups().iter().map(row_bytes).max();
        let rows = BLOCK_BYTES / 4 / longest.unwrap_or(0).max(1);
        block_rows(&self.schema).min(usize::try_from(rows).unwrap_or(usize::MAX)).max(1)
    }

    pub(super) fn blocks(&self) -> Result<ParquetBlocks<'_>> {
        let columns = self.schema.fields().len();
        let block_rows = self.batch_rows();
        // One reader per column; wide tables have fewer readers, each for several columns.
        let readers = columns.min(64);
        let file = self.input.cursor()?;
        let open = |reader: usize| {
            let roots = columns * reader / readers..columns * (reader + 1) / readers;
            let mask = ProjectionMask::roots(self.metadata.parquet_schema(), roots);
            let builder = ParquetRecordBatchReaderBuilder::<FileCursor>::new_with_metadata(
                file.clone(),
                self.metadata.clone(),
            );
            builder.with_projection(mask).with_batch_size(block_rows).build()
        };
        let damaged = Error::damaged(&self.input.path);
        let readers =
            catch_panic(|| (0..readers).map(open).collect::<parquet::errors::Result<_>>())
                .map_err(&damaged)?
                .map_err(|error| damaged(error.to_string()))?;
        Ok(ParquetBlocks { file: self, readers, rows: 0 })
    }
}

/// The metadata with the number of rows of the row groups, if the footer states another: the decoder
/// reads no more rows than that at a time, and none if it is 0.
fn with_row_count(metadata: &ParquetMetaData) -> Option<ParquetMetaData> {
    let file = metadata.file_metadata();
    let counts = metadata.row_groups().iter().map(RowGroupMetaData::num_rows);
    let rows = counts.fold(0, i64::saturating_add);
    if rows == file.num_rows() {
        return None;
    }
    let counted = FileMetaData::new(
        file.version(),
        rows,
        file.created_by().map(str::to_owned),
        file.key_value_metadata().cloned(),
        file.schema_descr_ptr(),
        file.column_orders().cloned(),
    );
    Some(ParquetMetaData::new(counted, metadata.row_groups().to_vec()))
}

/// The schema to decode with, if it differs from that of the file: the decoder does not support all
/// values of one-byte dictionary keys.
fn with_wide_keys(schema: &Schema) -> Option<Schema> {
    let narrow = |key: &DataType| matches!(key, DataType::Int8 | DataType::UInt8);
    let widened = |field: &Field| match field.data_type() {
        DataType::Dictionary(key, values) if narrow(key) => {
            let wide = DataType::Dictionary(Box::new(DataType::Int32), values.clone());
            field.clone().with_data_type(wide)
        }
        _ => field.clone(),
    };
    let fields: Vec<Field> = schema.fields().iter().map(|field| widened(field)).collect();
    let wide = Schema::new_with_metadata(fields, schema.metadata().clone());
    (wide != *schema).then_some(wide)
}

pub(super) struct ParquetBlocks<'a> {
    file: &'a ParquetFile,
    readers: Vec<ParquetRecordBatchReader>,
    rows: u64,
}

impl ParquetBlocks<'_> {
    fn decode(&mut self) -> Result<Option<RecordBatch>, String> {
        let readers = self.readers.par_iter_mut();
        let decoded: Vec<Option<RecordBatch>> = readers
            .map(|reader| {
                catch_panic(|| reader.next().transpose())?.map_err(|error| error.to_string())
            })
            .collect::<Result<_, String>>()?;
        let Some(parts) = decoded.into_iter().collect::<Option<Vec<_>>>() else {
            let (rows, claimed) = (self.rows, self.file.rows);
            let fewer = format!("it claims {claimed} rows, but holds {rows}");
            return if rows == claimed { Ok(None) } else { Err(fewer) };
        };
        let schema = &self.file.schema;
        let columns = parts.iter().flat_map(RecordBatch::columns).zip(schema.fields());
        let columns: Vec<ArrayRef> = columns
            .map(|(column, field)| {
                if column.data_type() == field.data_type() {
                    Ok(Arc::clone(column))
                } else {
                    arrow_cast::cast(column, field.data_type())
                }
            })
            .collect::<Result<_, _>>()
            .map_err(|error| error.to_string())?;
        let batch =
            RecordBatch::try_new(Arc::clone(schema), columns).map_err(|error| error.to_string())?;
        self.rows += batch.num_rows() as u64;
        Ok(Some(batch))
    }
}

impl Iterator for ParquetBlocks<'_> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let damaged = Error::damaged(&self.file.input.path);
        self.decode().map_err(damaged).transpose()
    }
}
