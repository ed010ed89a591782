//! The rows that are augmented: those of a table, without the ones that are left out.

use arrow_array::{Array, BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;

use crate::column::numbers;
use crate::{Result, Table};

/// Some rows, one after the other.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) batch: RecordBatch,
    /// The same rows and those left out between them.
    pub(crate) whole: RecordBatch,
    /// The number of its first row among the rows that are not left out.
    pub(crate) first: u64,
    /// The number in the table of its first row, or of each if some were left out.
    pub(crate) sources: Sources,
}

/// Where the rows of a block stand in the table.
#[derive(Debug, Clone)]
pub(crate) enum Sources {
    From(u64),
    Each(Vec<u64>),
}

impl Block {
    pub(crate) fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// The row of the table that a row of the block is.
    pub(crate) fn source(&self, row: usize) -> u64 {
        match &self.sources {
            Sources::From(first) => first + row as u64,
            Sources::Each(rows) => rows[row],
        }
    }
}

/// The rows of a table that have finite targets, or all.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    pub(crate) table: &'a Table,
    /// Columns without which a row is left out.
    needed: Vec<usize>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(table: &'a Table, needed: Vec<usize>) -> Self {
        Self { table, needed }
    }

    pub(crate) fn blocks(&self) -> impl Iterator<Item = Result<Block>> + '_ {
        let (mut seen, mut kept) = (0, 0);
        self.table.blocks().map(move |batch| {
            let block = self.select(batch?, kept, seen);
            seen += block.whole.num_rows() as u64;
            kept += block.rows() as u64;
            Ok(block)
        })
    }

    fn select(&self, whole: RecordBatch, first: u64, source: u64) -> Block {
        let Some(keep) = self.keep(&whole) else {
            return Block { batch: whole.clone(), whole, first, sources: Sources::From(source) };
        };
        let sources = (source..).zip(&keep).filter(|(_, keep)| **keep).map(|(row, _)| row);
        let sources = Sources::Each(sources.collect());
        let batch = filter_record_batch(&whole, &BooleanArray::from(keep));
        Block { batch: batch.expect("a word for every row"), whole, first, sources }
    }

    /// Which rows to keep, if not all.
    fn keep(&self, batch: &RecordBatch) -> Option<Vec<bool>> {
        let mut keep = vec![true; batch.num_rows()];
        for &column in &self.needed {
            let values = numbers(batch.column(column));
            for (row, keep) in keep.iter_mut().enumerate() {
                *keep &= values.is_valid(row) && values.value(row).is_finite();
            }
        }
        keep.contains(&false).then_some(keep)
    }
}
