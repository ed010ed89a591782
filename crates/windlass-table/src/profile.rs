//! What a table holds: one pass over its rows.

use std::collections::HashSet;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Schema};
use rayon::prelude::*;
use xxhash_rust::xxh3::Xxh3;

use crate::categories::Categories;
use crate::column::{is_numeric, numbers, range};
use crate::rows::Rows;
use crate::{Error, Result, RowList, Watch};

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
    pub(crate) extreme: Option<(u64, f64)>,
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
    pub(crate) fn of(
        rows: &Rows<'_>,
        categories: &mut [Categories],
        memory: u64,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let schema = rows.table.schema();
        let mut scans: Vec<Scan> = schema.fields().iter().map(|_| Scan::default()).collect();
        let (mut all, mut kept) = (0, 0);
        for block in rows.blocks() {
            let block = block?;
            watch.advance(block.rows() as u64)?;
            scans.par_iter_mut().enumerate().for_each(|(column, scan)| {
                // The fingerprint is of the table, whatever rows are left out.
                scan.hash(block.whole.column(column), all);
                let source = |row| block.source(row);
                scan.look(block.batch.column(column), &source);
            });
            for categories in &mut *categories {
                categories.learn(&block.batch);
                // About what a name and its place in a tree take.
                if categories.len() as u64 * 128 > memory / 4 {
                    return Err(Error::TooManyGroups { groups: categories.len(), memory });
                }
            }
            all += block.whole.num_rows() as u64;
            kept += block.rows() as u64;
        }
        for categories in categories {
            categories.settle();
        }
        let fingerprint = fingerprint(schema, &scans, all);
        let columns = scans.into_iter().map(|scan| scan.profile(kept)).collect();
        Ok(Self { columns, rows: all, kept, fingerprint })
    }
}

fn fingerprint(schema: &Schema, scans: &[Scan], rows: u64) -> String {
    let mut all = Xxh3::new();
    all.update(&rows.to_le_bytes());
    for (field, scan) in schema.fields().iter().zip(scans) {
        for text in [field.name(), &field.data_type().to_string()] {
            all.update(&(text.len() as u64).to_le_bytes());
            all.update(text.as_bytes());
        }
        all.update(&scan.values.digest128().to_le_bytes());
        all.update(&scan.nulls.digest128().to_le_bytes());
    }
    format!("xxh3-128:{:032x}", all.digest128())
}

/// What is known of a column so far.
#[derive(Default)]
struct Scan {
    values: Xxh3,
    nulls: Xxh3,
    missing: u64,
    range: Option<(f64, f64)>,
    distinct: Vec<i128>,
    words: HashSet<String>,
    last: Option<i128>,
    jumps: bool,
    extreme: Option<(u64, f64)>,
    absent: RowList,
    infinite: RowList,
    no_weight: RowList,
}

impl Scan {
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

    fn look(&mut self, column: &ArrayRef, source: &dyn Fn(usize) -> u64) {
        if is_numeric(column.data_type()) {
            self.look_at_numbers(column, source);
        } else {
            self.missing += column.logical_null_count() as u64;
            self.look_at_words(column);
        }
        if column.data_type().is_integer() {
            self.look_at_integers(column);
        }
    }

    fn look_at_numbers(&mut self, column: &ArrayRef, source: &dyn Fn(usize) -> u64) {
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
                self.no_weight.add(count, negative.map(|(row, _)| source(row)));
            }
            return;
        }
        for row in 0..values.len() {
            if values.is_null(row) {
                self.absent.push(source(row));
                self.no_weight.push(source(row));
                continue;
            }
            let value = values.value(row);
            if !(0.0..=WEIGHT).contains(&value) {
                self.no_weight.push(source(row));
            }
            if value.is_infinite() {
                self.infinite.push(source(row));
            }
            if value.abs() >= <f64 as windlass::Real>::LIMIT && self.extreme.is_none() {
                self.extreme = Some((source(row), value));
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

    fn profile(self, rows: u64) -> ColumnProfile {
        let integers = self.last.is_some() || !self.distinct.is_empty();
        let levels = self.distinct.len().max(self.words.len());
        ColumnProfile {
            levels: (1..=LEVELS).contains(&levels).then_some(levels),
            missing: self.missing,
            range: self.range,
            few: (integers && self.distinct.len() <= FEW).then_some(self.distinct.len()),
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
