//! Blocks of the rows that are augmented: all rows of a table, or those with finite targets.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, Int64Array, RecordBatch};
use arrow_schema::{DataType, Schema};
use arrow_select::filter::filter_record_batch;

use crate::bounds::Bounds;
use crate::column::{PROVENANCE, SYNTHETIC, range, to_f64};
use crate::config::AugmentConfig;
use crate::io::read::table::Table;
use crate::row_place::{RowPlace, RowPlaces};
use crate::rows::row_id::{DuplicateCounter, RowIdResolver, RowIdSource, RowIds};
use crate::{Error, Result};

/// Consecutive rows.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) batch: RecordBatch,
    /// The same rows and the dropped ones between them.
    pub(crate) unfiltered: RecordBatch,
    /// The index of the first row among the rows that are not dropped.
    pub(crate) first: u64,
    row_numbers: RowNumbers,
    /// The row identifiers, if not row numbers.
    pub(crate) row_ids: Option<RowIds>,
    /// Number of dropped rows that are synthetic.
    pub(crate) synthetic: u64,
    /// The places of the rows in the table, for messages.
    places: RowPlaces,
}

/// The row numbers of a block in its table.
#[derive(Debug, Clone)]
enum RowNumbers {
    From(u64),
    Each(Vec<u64>),
}

impl Block {
    pub(crate) fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// [`first`](Self::first) as an index into rows in memory.
    pub(crate) fn first_index(&self) -> usize {
        usize::try_from(self.first).expect("rows in memory")
    }

    /// The number of a row in the table.
    pub(crate) fn row_number(&self, row: usize) -> u64 {
        match &self.row_numbers {
            RowNumbers::From(first) => first + row as u64,
            RowNumbers::Each(numbers) => numbers[row],
        }
    }

    /// The identifier that determines the random numbers of a row.
    pub(crate) fn id(&self, row: usize) -> u64 {
        match &self.row_ids {
            None => self.first + row as u64,
            Some(ids) => ids.ids[row],
        }
    }

    /// The identifier of a row for messages.
    pub(crate) fn describe_row(&self, row: usize) -> String {
        match &self.row_ids {
            None => self.row_place(row).to_string(),
            Some(ids) => ids.describe(row),
        }
    }

    /// Returns an error for a value outside the bounds of its column.
    pub(crate) fn check_bounds(&self, bounds: &BTreeMap<String, Bounds>) -> Result<()> {
        for (name, &bounds) in bounds {
            let Some(column) = self.batch.column_by_name(name) else { continue };
            let values = to_f64(column);
            let inside = range(&values)
                .is_none_or(|(low, high)| bounds.contains(low) && bounds.contains(high));
            let outside =
                |row: &usize| values.is_valid(*row) && !bounds.contains(values.value(*row));
            if let Some(row) = (0..values.len()).filter(|_| !inside).find(outside) {
                let (column, row, value) =
                    (name.clone(), self.describe_row(row), values.value(row));
                let bounds = bounds.to_string();
                return Err(Error::OutOfBounds { column, row, value, bounds });
            }
        }
        Ok(())
    }

    fn row_place(&self, row: usize) -> RowPlace {
        self.places.place(self.row_number(row))
    }

    /// The values of `windlass_source`.
    pub(crate) fn source_column(&self) -> ArrayRef {
        match &self.row_ids {
            None => Arc::new(Int64Array::from(self.signed_row_numbers())),
            Some(ids) => Arc::clone(&ids.sources),
        }
    }

    pub(crate) fn signed_row_numbers(&self) -> Vec<i64> {
        let number = |row| i64::try_from(self.row_number(row)).unwrap_or(i64::MAX);
        (0..self.rows()).map(number).collect()
    }
}

/// Turns the batches of a table into blocks, in order: drops rows, and identifies the others.
#[derive(Debug, Clone)]
pub(crate) struct BlockReader {
    /// A row without a finite number in one of these columns is dropped.
    required: Vec<usize>,
    /// The column that marks synthetic rows, which are dropped.
    synthetic: Option<usize>,
    pub(crate) resolver: RowIdResolver,
    needs_duplicate_counts: bool,
    places: RowPlaces,
    /// Number of rows read, and number of those not dropped.
    rows_read: u64,
    rows_kept: u64,
}

impl BlockReader {
    pub(crate) fn new(
        schema: &Schema,
        settings: &AugmentConfig,
        targets: &[usize],
    ) -> Result<Self> {
        Ok(Self {
            synthetic: synthetic_column(schema)?,
            required: if settings.drop_missing_target { targets.to_vec() } else { vec![] },
            resolver: RowIdResolver::new(&settings.rows_by, schema)?,
            needs_duplicate_counts: settings.needs_duplicate_counts(),
            places: RowPlaces::default(),
            rows_read: 0,
            rows_kept: 0,
        })
    }

    /// The next block of a table. Equal rows need a `counter` [if it
    /// matters](AugmentConfig::needs_duplicate_counts).
    pub(crate) fn next(
        &mut self,
        unfiltered: RecordBatch,
        counter: Option<&mut DuplicateCounter>,
    ) -> Result<Block> {
        let first_number = self.rows_read;
        let (keep, synthetic) = self.keep(&unfiltered);
        let (batch, row_numbers) = match keep {
            None => (unfiltered.clone(), RowNumbers::From(first_number)),
            Some(keep) => {
                let numbers = (first_number..).zip(&keep).filter(|(_, keep)| **keep);
                let numbers = RowNumbers::Each(numbers.map(|(number, _)| number).collect());
                let batch = filter_record_batch(&unfiltered, &BooleanArray::from(keep));
                (batch.expect("a flag for every row"), numbers)
            }
        };
        let counter = counter.filter(|_| self.needs_duplicate_counts);
        let row_ids = self.resolver.resolve(&batch, counter)?;
        let first = self.rows_kept;
        self.rows_read += unfiltered.num_rows() as u64;
        self.rows_kept += batch.num_rows() as u64;
        let places = self.places.clone();
        Ok(Block { batch, unfiltered, first, row_numbers, row_ids, synthetic, places })
    }

    /// Which rows to keep, if not all, and how many of the others are synthetic.
    fn keep(&self, batch: &RecordBatch) -> (Option<Vec<bool>>, u64) {
        let mut keep = vec![true; batch.num_rows()];
        if let Some(marks) = self.synthetic.and_then(|place| batch.column(place).as_boolean_opt()) {
            for (mark, keep) in marks.iter().zip(&mut keep) {
                *keep = mark != Some(true);
            }
        }
        let synthetic = keep.iter().filter(|keep| !**keep).count() as u64;
        for &column in &self.required {
            let values = to_f64(batch.column(column));
            for (row, keep) in keep.iter_mut().enumerate() {
                *keep &= values.is_valid(row) && values.value(row).is_finite();
            }
        }
        (keep.contains(&false).then_some(keep), synthetic)
    }
}

/// The column that marks synthetic rows, in a table with provenance.
fn synthetic_column(schema: &Schema) -> Result<Option<usize>> {
    let marked = schema.fields().iter().find(|field| PROVENANCE.contains(&field.name().as_str()));
    let Some(marked) = marked else { return Ok(None) };
    match schema.column_with_name(SYNTHETIC) {
        Some((place, field)) if field.data_type() == &DataType::Boolean => Ok(Some(place)),
        _ => Err(Error::UnmarkedSynthetic { column: marked.name().clone() }),
    }
}

/// The blocks of a table, which can be read several times.
#[derive(Debug)]
pub(crate) struct TableRows<'a> {
    pub(crate) table: &'a Table,
    reader: BlockReader,
    counter: Option<DuplicateCounter>,
}

impl<'a> TableRows<'a> {
    pub(crate) fn new(table: &'a Table, mut reader: BlockReader) -> Self {
        reader.places = table.places().clone();
        Self { table, reader, counter: None }
    }

    /// The rows with finite numbers in the required columns, identified by row number.
    pub(crate) fn finite(table: &'a Table, required: Vec<usize>) -> Self {
        let resolver = RowIdResolver::Number;
        let reader = BlockReader {
            required,
            synthetic: None,
            resolver,
            needs_duplicate_counts: false,
            places: RowPlaces::default(),
            rows_read: 0,
            rows_kept: 0,
        };
        Self::new(table, reader)
    }

    pub(crate) fn blocks(&self) -> impl Iterator<Item = Result<Block>> + '_ {
        let (mut reader, mut counter) = (self.reader.clone(), self.counter.clone());
        self.table.blocks().map(move |batch| reader.next(batch?, counter.as_mut()))
    }

    /// Checks that identifiers are unique, after all were collected: equal keys are an error, equal
    /// rows are counted from now on.
    pub(crate) fn resolve_duplicates(&mut self, ids: IdCollector) -> Result<()> {
        let counter = DuplicateCounter::from_hashes(ids.ids);
        let Some(column) = ids.key else {
            self.counter = Some(counter);
            return Ok(());
        };
        let Some(duplicate) = counter.first_duplicate() else { return Ok(()) };
        for block in self.blocks() {
            let block = block?;
            if let Some(row) = (0..block.rows()).find(|&row| block.id(row) == duplicate) {
                return Err(Error::SameKey { column, key: block.describe_row(row) });
            }
        }
        Ok(())
    }
}

/// Collects the identifiers of all rows.
pub(crate) struct IdCollector {
    ids: Vec<u64>,
    /// The key column; none for content hashes.
    key: Option<String>,
    memory: u64,
}

impl IdCollector {
    /// `None` if row numbers identify rows, or content and no random number depends on a row.
    pub(crate) fn new(settings: &AugmentConfig, memory: u64) -> Option<Self> {
        let key = match &settings.rows_by {
            RowIdSource::Number => return None,
            RowIdSource::Column(column) => Some(column.clone()),
            RowIdSource::Content => None,
        };
        let needed = key.is_some() || settings.draws_for_rows();
        needed.then_some(Self { ids: vec![], key, memory })
    }

    pub(crate) fn add(&mut self, block: &Block) -> Result<()> {
        self.ids.extend((0..block.rows()).map(|row| block.id(row)));
        let needs = self.ids.len() as u64 * 32;
        if needs > self.memory {
            let what = "identifying rows by content";
            return Err(Error::NeedsMemory { what, needs, memory: self.memory });
        }
        Ok(())
    }
}
