//! The rows that are augmented: those of a table, without the ones that are left out.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch};
use arrow_schema::Schema;
use arrow_select::filter::filter_record_batch;

use crate::column::numbers;
use crate::identity::{DuplicateCounter, Names, RowIdResolver};
use crate::settings::AugmentConfig;
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
    sources: Sources,
    /// What its rows go by, if not by their number.
    pub(crate) names: Option<Names>,
}

/// Where the rows of a block stand in the table.
#[derive(Debug, Clone)]
enum Sources {
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

    /// What a row's random numbers depend on.
    pub(crate) fn id(&self, row: usize) -> u64 {
        match &self.names {
            None => self.first + row as u64,
            Some(names) => names.ids[row],
        }
    }

    /// What a row is called in a message.
    pub(crate) fn name(&self, row: usize) -> String {
        match &self.names {
            None => self.source(row).to_string(),
            Some(names) => names.name(row),
        }
    }

    /// What its rows are called in the output.
    pub(crate) fn source_column(&self) -> ArrayRef {
        if let Some(names) = &self.names {
            return Arc::clone(&names.sources);
        }
        let number = |row| i64::try_from(self.source(row)).unwrap_or(i64::MAX);
        Arc::new((0..self.rows()).map(number).collect::<Int64Array>())
    }
}

/// Which rows of a batch are augmented, and what they go by.
#[derive(Debug, Clone)]
pub(crate) struct Selector {
    /// Columns without a finite number of which a row is left out.
    needed: Vec<usize>,
    pub(crate) identify: RowIdResolver,
    /// Whether rows that hold the same are told apart.
    twins: bool,
}

impl Selector {
    pub(crate) fn new(
        needed: Vec<usize>,
        settings: &AugmentConfig,
        schema: &Schema,
    ) -> Result<Self> {
        let identify = RowIdResolver::new(&settings.rows_by, schema)?;
        Ok(Self { needed, identify, twins: settings.needs_twins() })
    }

    /// The rows of a batch, of which the first is `source` in its table, and `first` among those not left out.
    pub(crate) fn block(
        &self,
        whole: RecordBatch,
        first: u64,
        source: u64,
        twins: Option<&mut DuplicateCounter>,
    ) -> Result<Block> {
        let (batch, sources) = match self.keep(&whole) {
            None => (whole.clone(), Sources::From(source)),
            Some(keep) => {
                let sources = (source..).zip(&keep).filter(|(_, keep)| **keep).map(|(row, _)| row);
                let sources = Sources::Each(sources.collect());
                let batch = filter_record_batch(&whole, &BooleanArray::from(keep));
                (batch.expect("a word for every row"), sources)
            }
        };
        let names = self.identify.names(&batch, twins.filter(|_| self.twins))?;
        Ok(Block { batch, whole, first, sources, names })
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

/// The rows of a table that have finite targets, or all.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    pub(crate) table: &'a Table,
    selector: Selector,
    /// Rows that hold the same, where it matters which is which.
    twins: Option<DuplicateCounter>,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(table: &'a Table, selector: Selector) -> Self {
        Self { table, selector, twins: None }
    }

    /// All rows, by their number.
    pub(crate) fn all(table: &'a Table) -> Self {
        Self::finite(table, vec![])
    }

    /// The rows, by their number, in which these columns have finite numbers.
    pub(crate) fn finite(table: &'a Table, needed: Vec<usize>) -> Self {
        Self::new(table, Selector { needed, identify: RowIdResolver::Number, twins: false })
    }

    /// From here on equal rows are told apart.
    pub(crate) fn count(&mut self, twins: DuplicateCounter) {
        self.twins = Some(twins);
    }

    pub(crate) fn blocks(&self) -> impl Iterator<Item = Result<Block>> + '_ {
        let (mut seen, mut kept) = (0, 0);
        let mut twins = self.twins.clone();
        self.table.blocks().map(move |batch| {
            let block = self.selector.block(batch?, kept, seen, twins.as_mut())?;
            seen += block.whole.num_rows() as u64;
            kept += block.rows() as u64;
            Ok(block)
        })
    }
}
