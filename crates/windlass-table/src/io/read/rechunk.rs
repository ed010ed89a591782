//! Batches of any size as blocks of one size.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, FieldRef, Schema, SchemaRef};
use arrow_select::concat::concat_batches;

use crate::{Error, Result};

/// Number of rows of a block: large enough for long columns, small enough for wide tables.
pub(super) fn block_rows(schema: &Schema) -> usize {
    const VALUES: usize = 1 << 20;
    let rows = VALUES / schema.fields().len().max(1);
    (1 << rows.max(1).ilog2()).clamp(64, 1 << 16)
}

/// Batches of any size as blocks of [`block_rows`] rows, cast to the types of the schema.
pub(crate) fn rechunk(
    batches: impl Iterator<Item = Result<RecordBatch>>,
    schema: &SchemaRef,
) -> impl Iterator<Item = Result<RecordBatch>> {
    let (schema, size) = (Arc::clone(schema), block_rows(schema));
    Rechunk { batches, schema, size, pending: vec![], rows: 0 }
}

struct Rechunk<I> {
    batches: I,
    schema: SchemaRef,
    size: usize,
    pending: Vec<RecordBatch>,
    /// Number of pending rows.
    rows: usize,
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
        match &taken[..] {
            [one] => Ok(one.clone()),
            several => concat_batches(&self.schema, several).map_err(unusable),
        }
    }
}

impl<I: Iterator<Item = Result<RecordBatch>>> Iterator for Rechunk<I> {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.rows < self.size {
            match self.batches.next() {
                Some(Ok(batch)) if batch.num_rows() == 0 => {}
                Some(Ok(batch)) => {
                    self.rows += batch.num_rows();
                    match cast_to_schema(&batch, &self.schema) {
                        Ok(batch) => self.pending.push(batch),
                        Err(error) => return Some(Err(error)),
                    }
                }
                Some(Err(error)) => return Some(Err(error)),
                None => break,
            }
        }
        let rows = self.rows.min(self.size);
        (rows > 0).then(|| self.take(rows))
    }
}

fn cast_to_schema(batch: &RecordBatch, schema: &SchemaRef) -> Result<RecordBatch> {
    let columns = batch.columns().iter().zip(schema.fields());
    let cast = |(column, field): (&ArrayRef, &FieldRef)| match column.data_type() {
        same if same == field.data_type() => Ok(Arc::clone(column)),
        _ => arrow_cast::cast(column, field.data_type()),
    };
    let columns = columns.map(cast).collect::<std::result::Result<_, _>>();
    let batch = columns.and_then(|columns| RecordBatch::try_new(Arc::clone(schema), columns));
    batch.map_err(unusable)
}

fn unusable(error: ArrowError) -> Error {
    Error::damaged(Path::new("the table"))(error.to_string())
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
