//! What a table holds: one pass over its rows.

use std::collections::HashSet;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Schema};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::categories::Categories;
use crate::column::{is_numeric, numbers, range};
use crate::identity::contents;
use crate::rows::{Block, Rows};
use crate::{Error, Result, RowIdSource, RowList, Watch};

/// Integers with at most so many distinct values are taken for categories.
pub const FEW: usize = 20;

/// A column with at most so many distinct values could be an anchor.
pub const LEVELS: usize = 32;

/// One column, as it was found.
#[derive(Debug, Clone)]
pub struct ColumnProfile {
    /// Missing values: null, or NaN.
    pub missing: u64,
    /// The smallest and the largest number.
    pub range: Option<(f64, f64)>,
    /// The number of distinct integers, if at most [`FEW`].
    pub few: Option<usize>,
    /// The number of distinct values of a column that could name groups, if at most [`LEVELS`].
    pub levels: Option<usize>,
    /// Whether integers count the rows: each is one more than the one before.
    pub counts_rows: bool,
    /// The first number that cannot be computed with, and its row.
    pub(crate) extreme: Option<(String, f64)>,
    /// Rows without a number, and rows with an infinite one.
    pub(crate) absent: RowList,
    pub(crate) infinite: RowList,
    /// The first number outside the range of a weight.
    pub(crate) no_weight: RowList,
}

/// A table, as it was found.
#[derive(Debug, Clone)]
pub struct Profile {
    /// The columns.
    pub columns: Vec<ColumnProfile>,
    /// Rows of the table.
    pub rows: u64,
    /// Rows that are augmented: those not left out.
    pub kept: u64,
    /// A hash of the names, types and values of all columns and rows.
    pub fingerprint: String,
}

impl Profile {
    /// Reads the table once.
    pub(crate) fn of(rows: &Rows<'_>, memory: u64, watch: &dyn Watch) -> Result<Self> {
        let schema = rows.table.schema();
        let mut look = ProfileAccumulator::in_order(schema.fields().len(), Categories::default());
        for block in rows.blocks() {
            let block = block?;
            watch.advance(block.rows() as u64)?;
            look.add(&block, memory)?;
        }
        Ok(look.finish(schema).0)
    }

    /// What some columns of a block hold; of the others nothing is known.
    pub(crate) fn of_columns(block: &Block, columns: &[usize]) -> Self {
        let mut scans: Vec<ColumnScan> =
            std::iter::repeat_with(ColumnScan::default).take(block.batch.num_columns()).collect();
        for &column in columns {
            scans[column].look(block.batch.column(column), &|row| block.name(row));
        }
        let rows = block.rows() as u64;
        let columns = scans.into_iter().map(|scan| scan.profile(rows)).collect();
        Self { columns, rows, kept: rows, fingerprint: String::new() }
    }
}

/// What is known of a table, or a part of it, so far.
#[derive(Serialize, Deserialize)]
pub(crate) struct ProfileAccumulator {
    scans: Vec<ColumnScan>,
    categories: Categories,
    rows: u64,
    kept: u64,
    /// The sum of the hashes of all rows, for a table without an order.
    contents: Option<u64>,
}

impl ProfileAccumulator {
    /// Nothing yet, of a whole table, read from its start. Where rows go by what they hold it has no order.
    pub(crate) fn of_table(columns: usize, categories: Categories, rows_by: &RowIdSource) -> Self {
        match rows_by {
            RowIdSource::Number => Self::in_order(columns, categories),
            RowIdSource::Column(_) | RowIdSource::Content => {
                Self::in_any_order(columns, categories)
            }
        }
    }

    /// Nothing yet, of a table whose rows come in their order.
    fn in_order(columns: usize, categories: Categories) -> Self {
        let scan = || ColumnScan { ordered: Some(Ordered::default()), ..ColumnScan::default() };
        let scans = std::iter::repeat_with(scan).take(columns).collect();
        Self { scans, categories, rows: 0, kept: 0, contents: None }
    }

    /// Nothing yet, of a table whose rows come in any order.
    pub(crate) fn in_any_order(columns: usize, categories: Categories) -> Self {
        let scans = std::iter::repeat_with(ColumnScan::default).take(columns).collect();
        Self { scans, categories, rows: 0, kept: 0, contents: Some(0) }
    }

    pub(crate) fn add(&mut self, block: &Block, memory: u64) -> Result<()> {
        let first = self.rows;
        self.scans.par_iter_mut().enumerate().for_each(|(column, scan)| {
            if let Some(ordered) = &mut scan.ordered {
                // The fingerprint is of the table, whatever rows are left out.
                ordered.hash(block.whole.column(column), first);
            }
            scan.look(block.batch.column(column), &|row| block.name(row));
        });
        if let Some(sum) = &mut self.contents {
            let hashes = contents(&block.whole);
            *sum = hashes.into_iter().fold(*sum, u64::wrapping_add);
        }
        if !self.categories.columns().is_empty() {
            self.categories.learn(&block.batch);
            self.check_categories(memory)?;
        }
        self.rows += block.whole.num_rows() as u64;
        self.kept += block.rows() as u64;
        Ok(())
    }

    /// Adds what was found in another part of the table.
    pub(crate) fn merge(&mut self, other: Self, memory: u64) -> Result<()> {
        for (scan, other) in self.scans.iter_mut().zip(other.scans) {
            scan.merge(other);
        }
        self.categories.merge(other.categories);
        self.rows += other.rows;
        self.kept += other.kept;
        self.contents = self.contents.zip(other.contents).map(|(a, b)| a.wrapping_add(b));
        self.check_categories(memory)
    }

    fn check_categories(&self, memory: u64) -> Result<()> {
        // About what a name and its place in a tree take.
        let groups = self.categories.len();
        if groups as u64 * 128 > memory / 4 {
            return Err(Error::TooManyGroups { groups, memory });
        }
        Ok(())
    }

    /// The number of distinct integers of a column so far, if at most [`FEW`].
    pub(crate) fn few(&self, column: usize) -> Option<usize> {
        self.scans[column].few()
    }

    pub(crate) fn finish(mut self, schema: &Schema) -> (Profile, Categories) {
        if self.categories.columns().is_empty() {
            // One category, of all rows.
            self.categories.learn(&RecordBatch::new_empty(Schema::empty().into()));
        }
        self.categories.settle();
        let fingerprint = self.fingerprint(schema);
        let (rows, kept) = (self.rows, self.kept);
        let columns = self.scans.into_iter().map(|scan| scan.profile(kept)).collect();
        (Profile { columns, rows, kept, fingerprint }, self.categories)
    }

    fn fingerprint(&self, schema: &Schema) -> String {
        let mut all = Xxh3::new();
        all.update(&self.rows.to_le_bytes());
        for (field, scan) in schema.fields().iter().zip(&self.scans) {
            for text in [field.name(), &field.data_type().to_string()] {
                all.update(&(text.len() as u64).to_le_bytes());
                all.update(text.as_bytes());
            }
            if let Some(ordered) = &scan.ordered {
                all.update(&ordered.values.digest128().to_le_bytes());
                all.update(&ordered.nulls.digest128().to_le_bytes());
            }
        }
        match self.contents {
            None => format!("xxh3-128:{:032x}", all.digest128()),
            // Types are those of whoever reads the table; what it holds is the same.
            Some(sum) => format!("rows-64:{}-{sum:016x}", self.rows),
        }
    }
}

/// Hashes of a column's values and of the places of those that are missing.
#[derive(Default)]
struct Ordered {
    values: Xxh3,
    nulls: Xxh3,
}

impl Ordered {
    /// Adds the values to the fingerprint, so that blocks do not matter.
    fn hash(&mut self, column: &ArrayRef, first: u64) {
        let plain = match column.data_type() {
            DataType::Dictionary(_, values) => {
                arrow_cast::cast(column, values).expect("its values")
            }
            _ => ArrayRef::clone(column),
        };
        for row in (0..plain.len()).filter(|_| plain.null_count() > 0) {
            if plain.is_null(row) {
                self.nulls.update(&(first + row as u64).to_le_bytes());
            }
        }
        match plain.data_type() {
            DataType::Float64 if plain.null_count() == 0 => {
                let values = plain.as_primitive::<Float64Type>().values();
                self.values.update(values.inner().as_slice());
            }
            DataType::Int64 if plain.null_count() == 0 => {
                let values = plain.as_primitive::<Int64Type>().values();
                self.values.update(values.inner().as_slice());
            }
            DataType::Float64 => {
                for value in plain.as_primitive::<Float64Type>() {
                    self.values.update(&value.unwrap_or(0.0).to_le_bytes());
                }
            }
            DataType::Int64 => {
                for value in plain.as_primitive::<Int64Type>() {
                    self.values.update(&value.unwrap_or(0).to_le_bytes());
                }
            }
            DataType::Utf8 => {
                for word in plain.as_string::<i32>() {
                    let word = word.unwrap_or_default();
                    self.values.update(&(word.len() as u64).to_le_bytes());
                    self.values.update(word.as_bytes());
                }
            }
            _ => {
                let options = FormatOptions::new();
                let formatter = ArrayFormatter::try_new(plain.as_ref(), &options);
                for row in 0..plain.len() {
                    let word = match &formatter {
                        Ok(formatter) => formatter.value(row).to_string(),
                        Err(_) => format!("{:?}", plain.slice(row, 1)),
                    };
                    self.values.update(&(word.len() as u64).to_le_bytes());
                    self.values.update(word.as_bytes());
                }
            }
        }
    }
}

/// What is known of a column so far.
#[derive(Default, Serialize, Deserialize)]
struct ColumnScan {
    /// Only where the rows come in their order.
    #[serde(skip)]
    ordered: Option<Ordered>,
    missing: u64,
    range: Option<(f64, f64)>,
    distinct: Vec<i128>,
    words: HashSet<String>,
    last: Option<i128>,
    jumps: bool,
    extreme: Option<(String, f64)>,
    absent: RowList,
    infinite: RowList,
    no_weight: RowList,
}

impl ColumnScan {
    fn merge(&mut self, other: Self) {
        self.ordered = None;
        self.missing += other.missing;
        self.range = match (self.range, other.range) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (one, None) | (None, one) => one,
        };
        for value in other.distinct {
            if self.distinct.len() <= LEVELS && !self.distinct.contains(&value) {
                self.distinct.push(value);
            }
        }
        self.words.extend(other.words);
        // Which part comes first is not known.
        self.jumps |= other.jumps || self.last.is_some() && other.last.is_some();
        self.last = self.last.or(other.last);
        self.extreme = self.extreme.take().or(other.extreme);
        self.absent.merge(other.absent);
        self.infinite.merge(other.infinite);
        self.no_weight.merge(other.no_weight);
    }

    fn look(&mut self, column: &ArrayRef, name: &dyn Fn(usize) -> String) {
        if is_numeric(column.data_type()) {
            self.look_at_numbers(column, name);
        } else {
            self.missing += column.logical_null_count() as u64;
            self.look_at_words(column);
        }
        if column.data_type().is_integer() {
            self.look_at_integers(column);
        }
    }

    fn look_at_numbers(&mut self, column: &ArrayRef, name: &dyn Fn(usize) -> String) {
        let values = numbers(column);
        self.missing += values.null_count() as u64;
        let found = range(&values);
        if let Some((low, high)) = found {
            let (least, most) = self.range.unwrap_or((low, high));
            self.range = Some((least.min(low), most.max(high)));
        }
        // Only a block with something to say is looked at value by value.
        if let Some((low, high)) = found
            && values.null_count() == 0
            && low > -WEIGHT
            && high <= WEIGHT
        {
            if low < 0.0 {
                let negative = (0..).zip(values.values()).filter(|(_, value)| **value < 0.0);
                let count = values.values().iter().filter(|value| **value < 0.0).count();
                self.no_weight.add(count as u64, negative.map(|(row, _)| name(row)));
            }
            return;
        }
        for row in 0..values.len() {
            if values.is_null(row) {
                self.absent.push(|| name(row));
                self.no_weight.push(|| name(row));
                continue;
            }
            let value = values.value(row);
            if !(0.0..=WEIGHT).contains(&value) {
                self.no_weight.push(|| name(row));
            }
            if value.is_infinite() {
                self.infinite.push(|| name(row));
            }
            if value.abs() >= <f64 as windlass::Real>::LIMIT && self.extreme.is_none() {
                self.extreme = Some((name(row), value));
            }
        }
    }

    fn look_at_words(&mut self, column: &ArrayRef) {
        let Ok(formatter) = ArrayFormatter::try_new(column.as_ref(), &FormatOptions::new()) else {
            return;
        };
        for row in (0..column.len())
            .filter(|&row| column.data_type() != &DataType::Null && column.is_valid(row))
        {
            if self.words.len() > LEVELS {
                return;
            }
            self.words.insert(formatter.value(row).to_string());
        }
    }

    fn look_at_integers(&mut self, column: &ArrayRef) {
        if self.distinct.len() > LEVELS && self.jumps {
            return;
        }
        // The only integers that an `i64` cannot hold.
        if column.data_type() == &DataType::UInt64 {
            let integers = column.as_primitive::<UInt64Type>().iter();
            return self.look_at_each(integers.map(|value| value.map(i128::from)));
        }
        let integers = arrow_cast::cast(column, &DataType::Int64).expect("integers");
        let integers = integers.as_primitive::<Int64Type>().iter();
        self.look_at_each(integers.map(|value| value.map(i128::from)));
    }

    fn look_at_each(&mut self, integers: impl Iterator<Item = Option<i128>>) {
        for value in integers {
            let follows = match (self.last, value) {
                (Some(last), Some(value)) => last.checked_add(1) == Some(value),
                (None, Some(_)) => true,
                (_, None) => false,
            };
            self.jumps |= !follows;
            self.last = value;
            if let Some(value) = value
                && self.distinct.len() <= LEVELS
                && !self.distinct.contains(&value)
            {
                self.distinct.push(value);
            }
            if self.jumps && self.distinct.len() > LEVELS {
                return;
            }
        }
    }

    /// Whether the column holds integers.
    fn integers(&self) -> bool {
        self.last.is_some() || !self.distinct.is_empty()
    }

    fn few(&self) -> Option<usize> {
        (self.integers() && self.distinct.len() <= FEW).then_some(self.distinct.len())
    }

    fn profile(self, rows: u64) -> ColumnProfile {
        let integers = self.integers();
        let levels = self.distinct.len().max(self.words.len());
        ColumnProfile {
            levels: (1..=LEVELS).contains(&levels).then_some(levels),
            missing: self.missing,
            range: self.range,
            few: self.few(),
            counts_rows: integers && !self.jumps && rows > 1,
            extreme: self.extreme,
            absent: self.absent,
            infinite: self.infinite,
            no_weight: self.no_weight,
        }
    }
}

/// The largest weight.
const WEIGHT: f64 = (1_u64 << 50) as f64;

/// Some rows as the numbers of some columns, side by side; missing ones are NaN.
pub(crate) fn matrix(batch: &RecordBatch, columns: &[usize]) -> ndarray::Array2<f64> {
    /// Rows at a time: they stay in the cache until the last column is written.
    const TILE: usize = 128;
    let columns: Vec<Float64Array> =
        columns.iter().map(|&column| numbers(batch.column(column))).collect();
    let mut all = Vec::with_capacity(batch.num_rows() * columns.len());
    for first in (0..batch.num_rows()).step_by(TILE) {
        let rows = TILE.min(batch.num_rows() - first);
        let start = all.len();
        all.resize(start + rows * columns.len(), f64::NAN);
        let tile = &mut all[start..];
        for (place, column) in columns.iter().enumerate() {
            let values = &column.values()[first..first + rows];
            let out = tile[place..].iter_mut().step_by(columns.len());
            match column.nulls().filter(|nulls| nulls.null_count() > 0) {
                None => out.zip(values).for_each(|(out, &value)| *out = value),
                Some(nulls) => {
                    for (row, (out, &value)) in out.zip(values).enumerate() {
                        if nulls.is_valid(first + row) {
                            *out = value;
                        }
                    }
                }
            }
        }
    }
    ndarray::Array2::from_shape_vec((batch.num_rows(), columns.len()), all)
        .expect("a value for every row and column")
}
