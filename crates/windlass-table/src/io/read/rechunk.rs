//! Batches of any size as blocks of one size.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, FieldRef, Fields, Schema, SchemaRef};
use arrow_select::concat::concat_batches;

use crate::column::memory_size;
use crate::{Error, Result};

/// Number of rows of a block: large enough for long columns, small enough for wide tables.
pub(super) fn block_rows(schema: &Schema) -> usize {
    const VALUES: usize = 1 << 20;
    let rows = VALUES / schema.fields().len().max(1);
    (1 << rows.max(1).ilog2()).min(1 << 16)
}

/// Maximum memory of a block; blocks of long text have fewer rows.
pub(super) const BLOCK_BYTES: u64 = 32 << 20;

/// Returns an error if the statistics of all columns do not fit in memory.
pub(super) fn check_columns(path: &Path, columns: usize, memory: u64) -> Result<()> {
    /// About the size of the arrays of a block, statistics and names of a column.
    const COLUMN_BYTES: u64 = 4 << 10;
    let needs = columns as u64 * COLUMN_BYTES;
    if needs > memory {
        let (path, what) = (path.to_owned(), format!("a table of {columns} columns"));
        return Err(Error::TooLarge { path, what, needs, memory });
    }
    Ok(())
}

/// Batches of any size as blocks of [`block_rows`] rows, or fewer of long text, cast to the types of
/// the schema. Errors name `path`.
pub(crate) fn rechunk(
    batches: impl Iterator<Item = Result<RecordBatch>>,
    schema: &SchemaRef,
    path: &Path,
) -> impl Iterator<Item = Result<RecordBatch>> {
    let (schema, size) = (Arc::clone(schema), block_rows(schema));
    Rechunk { batches, schema, path: path.to_owned(), size, pending: vec![], rows: 0, bytes: 0 }
}

struct Rechunk<I> {
    batches: I,
    schema: SchemaRef,
    path: PathBuf,
    size: usize,
    pending: Vec<RecordBatch>,
    /// Number of pending rows, and the memory that they take.
    rows: usize,
    bytes: u64,
}

impl<I: Iterator<Item = Result<RecordBatch>>> Rechunk<I> {
    /// The first pending rows as one batch.
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
        self.bytes = self.pending.iter().map(memory_size).sum();
        // Cast only these rows: a run of equal values may be long.
        let taken = taken.iter().map(|batch| cast_to_schema(batch, &self.schema));
        let joined = taken.collect::<Result<Vec<_>, _>>().and_then(|taken| match &taken[..] {
            [one] => Ok(one.clone()),
            several => concat_batches(&self.schema, several),
        });
        joined.map_err(|error| Error::damaged(&self.path)(error.to_string()))
    }
}

impl<I: Iterator<Item = Result<RecordBatch>>> Iterator for Rechunk<I> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.rows < self.size && self.bytes < BLOCK_BYTES {
            match self.batches.next() {
                Some(Ok(batch)) if batch.num_rows() == 0 => {}
                Some(Ok(batch)) => {
                    self.rows += batch.num_rows();
                    self.bytes += memory_size(&batch);
                    self.pending.push(batch);
                }
                Some(Err(error)) => return Some(Err(error)),
                None => break,
            }
        }
        let rows = self.rows.min(self.size);
        (rows > 0).then(|| self.take(rows))
    }
}

fn cast_to_schema(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().zip(schema.fields());
    let cast = |(column, field): (&ArrayRef, &FieldRef)| match column.data_type() {
        DataType::Dictionary(_, values) if has_missing_values(column) => {
            let encoded = arrow_cast::cast(&arrow_cast::cast(column, values)?, field.data_type());
            // Lists stay as they are.
            Ok(encoded.unwrap_or_else(|_| Arc::clone(column)))
        }
        same if same == field.data_type() => Ok(Arc::clone(column)),
        _ => arrow_cast::cast(column, field.data_type()),
    };
    RecordBatch::try_new(Arc::clone(schema), columns.map(cast).collect::<Result<_, _>>()?)
}

/// Whether a dictionary has a missing value, instead of missing keys.
fn has_missing_values(column: &ArrayRef) -> bool {
    column.as_any_dictionary_opt().is_some_and(|all| all.values().null_count() > 0)
}

/// The schema of a table, whose runs of equal values are read as the values.
pub(super) fn without_runs(schema: &SchemaRef) -> SchemaRef {
    let field = |field: &FieldRef| match field.data_type() {
        DataType::RunEndEncoded(_, values) => {
            let values = values.data_type().clone();
            Arc::new(field.as_ref().clone().with_data_type(values).with_nullable(true))
        }
        _ => Arc::clone(field),
    };
    let fields: Fields = schema.fields().iter().map(field).collect();
    Schema::new_with_metadata(fields, schema.metadata().clone()).into()
}

/// The items of an iterator, or the error that prevented it.
pub(super) fn flatten_error<T, I: Iterator<Item = Result<T>>>(
    items: Result<I>,
) -> impl Iterator<Item = Result<T>> {
    let (items, error) = match items {
        Ok(items) => (Some(items), None),
        Err(error) => (None, Some(Err(error))),
    };
    error.into_iter().chain(items.into_iter().flatten())
}
