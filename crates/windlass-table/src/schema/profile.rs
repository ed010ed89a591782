//! Statistics of the columns of a table, accumulated in one pass.

use std::collections::HashSet;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, Schema};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::column::{is_numeric, logical_type, range, to_f64};
use crate::dates::{DateOrder, PossibleOrders, is_temporal};
use crate::progress::RowProgress;
use crate::rows::block::{Block, TableRows};
use crate::rows::row_id::{RowIdSource, content_hashes};
use crate::schema::categories::Categories;
use crate::{Error, Result, RowList};

/// A column with at most this many distinct values is suggested as an anchor, and encoded by models.
pub const MAX_LEVELS: usize = 32;

/// Minimum number of rows to recognize a row counter.
const MIN_COUNTED_ROWS: u64 = 10;

/// Statistics of a column.
#[derive(Debug, Clone)]
pub struct ColumnProfile {
    /// Number of missing values: null or NaN.
    pub missing: u64,
    /// Whether all values are missing.
    pub is_empty: bool,
    /// Minimum and maximum; of dates and times, of the integers that they are stored as.
    pub range: Option<(f64, f64)>,
    /// Whether the values are the numbers 0 and 1.
    pub is_binary: bool,
    /// How dates are written, if all values are texts of dates or times.
    pub date_order: Option<DateOrder>,
    /// The number of distinct values, if at most [`MAX_LEVELS`].
    pub levels: Option<usize>,
    /// Whether the column is a row counter: consecutive integers in any order, each once.
    pub counts_rows: bool,
    /// The first value that is too large, and its row.
    pub(crate) extreme: Option<(String, f64)>,
    pub(crate) missing_rows: RowList,
    pub(crate) infinite_rows: RowList,
    /// Rows whose value is not a valid weight.
    pub(crate) invalid_weights: RowList,
}

/// Statistics of a table.
#[derive(Debug, Clone)]
pub struct Profile {
    /// One per column.
    pub columns: Vec<ColumnProfile>,
    /// Number of rows.
    pub rows: u64,
    /// Number of rows that are not dropped.
    pub kept: u64,
    /// Number of synthetic rows that are dropped.
    pub synthetic: u64,
    /// A hash of the names, types and values of all columns; it does not depend on how text is stored.
    pub fingerprint: String,
    /// The fingerprint of 0.1.0, which depends on how text is stored.
    pub(crate) storage_fingerprint: String,
}

impl Profile {
    /// Reads the table once.
    pub(crate) fn read(
        rows: &TableRows<'_>,
        memory: u64,
        progress: &dyn RowProgress,
    ) -> Result<Self> {
        let schema = rows.table.schema();
        let columns = schema.fields().len();
        let mut accumulator = ProfileAccumulator::new(columns, Categories::default());
        accumulator.hash_in_order();
        for block in rows.blocks() {
            let block = block?;
            progress.advance(block.rows() as u64)?;
            accumulator.add(&block, memory)?;
        }
        Ok(accumulator.finish(schema).0)
    }

    /// Statistics of some columns of a block; those of the other columns are empty.
    pub(crate) fn from_block(block: &Block, columns: &[usize]) -> Self {
        let mut scans: Vec<ColumnScan> =
            std::iter::repeat_with(ColumnScan::default).take(block.batch.num_columns()).collect();
        for &column in columns {
            scans[column].add(block.batch.column(column), &|row| block.describe_row(row));
        }
        let rows = block.rows() as u64;
        let columns = scans.into_iter().map(|scan| scan.profile(rows)).collect();
        let (fingerprint, storage_fingerprint) = (String::new(), String::new());
        Self { columns, rows, kept: rows, synthetic: 0, fingerprint, storage_fingerprint }
    }
}

/// Statistics of some rows of a table.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct ProfileAccumulator {
    scans: Vec<ColumnScan>,
    categories: Categories,
    rows: u64,
    kept: u64,
    synthetic: u64,
    /// The sum of the hashes of all rows; none if values are hashed in order.
    content_hash: Option<u64>,
}

impl ProfileAccumulator {
    /// For rows that come in any order.
    pub(crate) fn new(columns: usize, categories: Categories) -> Self {
        let scans = std::iter::repeat_with(ColumnScan::default).take(columns).collect();
        Self { scans, categories, rows: 0, kept: 0, synthetic: 0, content_hash: Some(0) }
    }

    /// For all rows of a table, in order. The order matters only if row numbers identify rows.
    pub(crate) fn for_table(columns: usize, categories: Categories, rows_by: &RowIdSource) -> Self {
        let mut accumulator = Self::new(columns, categories);
        if *rows_by == RowIdSource::Number {
            accumulator.hash_in_order();
        }
        accumulator
    }

    /// Computes a fingerprint that depends on the order of rows, which all come in order from now
    /// on.
    pub(crate) fn hash_in_order(&mut self) {
        self.content_hash = None;
        for scan in &mut self.scans {
            scan.ordered = Some(OrderedHash::default());
        }
    }

    pub(crate) fn add(&mut self, block: &Block, memory: u64) -> Result<()> {
        let first = self.rows;
        self.scans.par_iter_mut().enumerate().for_each(|(column, scan)| {
            if let Some(ordered) = &mut scan.ordered {
                // The fingerprint includes dropped rows.
                ordered.add(block.unfiltered.column(column), first);
            }
            scan.add(block.batch.column(column), &|row| block.describe_row(row));
        });
        if let Some(sum) = &mut self.content_hash {
            let hashes = content_hashes(&block.unfiltered);
            *sum = hashes.into_iter().fold(*sum, u64::wrapping_add);
        }
        if !self.categories.columns().is_empty() {
            self.categories.add(&block.batch);
            self.check_categories(memory)?;
        }
        self.rows += block.unfiltered.num_rows() as u64;
        self.kept += block.rows() as u64;
        self.synthetic += block.synthetic;
        Ok(())
    }

    /// Adds the statistics of other rows.
    pub(crate) fn merge(&mut self, other: Self, memory: u64) -> Result<()> {
        for (scan, other) in self.scans.iter_mut().zip(other.scans) {
            scan.merge(other);
        }
        self.categories.merge(other.categories);
        self.rows += other.rows;
        self.kept += other.kept;
        self.synthetic += other.synthetic;
        self.content_hash =
            self.content_hash.zip(other.content_hash).map(|(a, b)| a.wrapping_add(b));
        self.check_categories(memory)
    }

    fn check_categories(&self, memory: u64) -> Result<()> {
        // About the size of a name and its entry in the tree.
        let groups = self.categories.len();
        if groups as u64 * 128 > memory / 4 {
            return Err(Error::TooManyGroups { groups, memory });
        }
        Ok(())
    }

    /// Statistics of a column so far.
    pub(crate) fn column(&self, column: usize) -> ColumnProfile {
        self.scans[column].clone().profile(self.kept)
    }

    pub(crate) fn finish(mut self, schema: &Schema) -> (Profile, Categories) {
        if self.categories.columns().is_empty() {
            // One group of all rows.
            self.categories.add(&RecordBatch::new_empty(Schema::empty().into()));
        }
        self.categories.number_groups();
        let fingerprint = self.fingerprint(schema, logical_type);
        let storage_fingerprint = self.fingerprint(schema, |data_type| data_type);
        let Self { rows, kept, synthetic, .. } = self;
        let columns = self.scans.into_iter().map(|scan| scan.profile(kept)).collect();
        let profile = Profile { columns, rows, kept, synthetic, fingerprint, storage_fingerprint };
        (profile, self.categories)
    }

    fn fingerprint(&self, schema: &Schema, type_of: impl Fn(&DataType) -> &DataType) -> String {
        let mut all = Xxh3::new();
        all.update(&self.rows.to_le_bytes());
        for (field, scan) in schema.fields().iter().zip(&self.scans) {
            for text in [field.name(), &type_of(field.data_type()).to_string()] {
                all.update(&(text.len() as u64).to_le_bytes());
                all.update(text.as_bytes());
            }
            if let Some(ordered) = &scan.ordered {
                all.update(&ordered.values.digest128().to_le_bytes());
                let nulls = ordered
                    .nulls
                    .as_deref()
                    .map_or_else(|| Xxh3::new().digest128(), Xxh3::digest128);
                all.update(&nulls.to_le_bytes());
            }
        }
        match self.content_hash {
            None => format!("xxh3-128:{:032x}", all.digest128()),
            // Types are not included: they depend on the reader.
            Some(sum) => format!("rows-64:{}-{sum:016x}", self.rows),
        }
    }
}

/// Hashes of the values of a column and of the row numbers of missing ones.
#[derive(Clone, Default)]
struct OrderedHash {
    values: Xxh3,
    /// `None` if no value is missing.
    nulls: Option<Box<Xxh3>>,
}

impl OrderedHash {
    /// Adds values; the hash does not depend on how rows are split into blocks.
    fn add(&mut self, column: &ArrayRef, first: u64) {
        let plain = match column.data_type() {
            DataType::Dictionary(_, values) => {
                arrow_cast::cast(column, values).expect("its values")
            }
            _ => ArrayRef::clone(column),
        };
        for row in (0..plain.len()).filter(|_| plain.null_count() > 0) {
            if plain.is_null(row) {
                let nulls = self.nulls.get_or_insert_default();
                nulls.update(&(first + row as u64).to_le_bytes());
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
                for text in plain.as_string::<i32>() {
                    let text = text.unwrap_or_default();
                    self.values.update(&(text.len() as u64).to_le_bytes());
                    self.values.update(text.as_bytes());
                }
            }
            _ => {
                let options = FormatOptions::new();
                let formatter = ArrayFormatter::try_new(plain.as_ref(), &options);
                for row in 0..plain.len() {
                    let text = match &formatter {
                        Ok(formatter) => formatter.value(row).to_string(),
                        Err(_) => format!("{:?}", plain.slice(row, 1)),
                    };
                    self.values.update(&(text.len() as u64).to_le_bytes());
                    self.values.update(text.as_bytes());
                }
            }
        }
    }
}

/// Statistics of a column, as far as it was read.
#[derive(Clone, Default, Serialize, Deserialize)]
struct ColumnScan {
    /// Only if rows come in order.
    #[serde(skip)]
    ordered: Option<OrderedHash>,
    missing: u64,
    range: Option<(f64, f64)>,
    distinct: Vec<i128>,
    distinct_text: HashSet<String>,
    /// The bits of distinct floats.
    distinct_floats: Vec<u64>,
    dates: PossibleOrders,
    /// Whether a number is neither 0 nor 1.
    other_than_binary: bool,
    integers: IntegerSet,
    extreme: Option<(String, f64)>,
    missing_rows: RowList,
    infinite_rows: RowList,
    invalid_weights: RowList,
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
            if self.distinct.len() <= MAX_LEVELS && !self.distinct.contains(&value) {
                self.distinct.push(value);
            }
        }
        self.distinct_text.extend(other.distinct_text);
        self.add_floats(other.distinct_floats.into_iter().map(f64::from_bits));
        self.dates.merge(other.dates);
        self.other_than_binary |= other.other_than_binary;
        self.integers.merge(other.integers);
        self.extreme = self.extreme.take().or(other.extreme);
        self.missing_rows.merge(other.missing_rows);
        self.infinite_rows.merge(other.infinite_rows);
        self.invalid_weights.merge(other.invalid_weights);
    }

    fn add(&mut self, column: &ArrayRef, describe_row: &dyn Fn(usize) -> String) {
        let numeric = is_numeric(column.data_type());
        if numeric || is_temporal(column.data_type()) {
            self.add_numbers(column, describe_row);
        } else {
            self.missing += column.logical_null_count() as u64;
        }
        if !numeric {
            self.add_text(column);
        }
        if column.data_type().is_integer() {
            self.add_integers(column);
        }
    }

    fn add_numbers(&mut self, column: &ArrayRef, describe_row: &dyn Fn(usize) -> String) {
        let values = to_f64(column);
        self.missing += values.null_count() as u64;
        if !column.data_type().is_integer() && self.distinct_floats.len() <= MAX_LEVELS {
            self.add_floats(values.iter().flatten());
        }
        let block_range = range(&values);
        if let Some((low, high)) = block_range {
            let (least, most) = self.range.unwrap_or((low, high));
            self.range = Some((least.min(low), most.max(high)));
            let is_other = |value: f64| value != 0.0 && value != 1.0;
            if !self.other_than_binary {
                self.other_than_binary = values.iter().flatten().any(is_other);
            }
        }
        // Values are inspected one by one only if some may be missing, infinite or invalid weights.
        if let Some((low, high)) = block_range
            && values.null_count() == 0
            && low > -MAX_WEIGHT
            && high <= MAX_WEIGHT
        {
            if low < 0.0 {
                let negative = (0..).zip(values.values()).filter(|(_, value)| **value < 0.0);
                let count = values.values().iter().filter(|value| **value < 0.0).count();
                self.invalid_weights.add(count as u64, negative.map(|(row, _)| describe_row(row)));
            }
            return;
        }
        for row in 0..values.len() {
            if values.is_null(row) {
                self.missing_rows.push(|| describe_row(row));
                self.invalid_weights.push(|| describe_row(row));
                continue;
            }
            let value = values.value(row);
            if !(0.0..=MAX_WEIGHT).contains(&value) {
                self.invalid_weights.push(|| describe_row(row));
            }
            if value.is_infinite() {
                self.infinite_rows.push(|| describe_row(row));
            }
            if value.abs() >= <f64 as windlass::Real>::LIMIT && self.extreme.is_none() {
                self.extreme = Some((describe_row(row), value));
            }
        }
    }

    /// Counts distinct floats, up to a limit.
    fn add_floats(&mut self, values: impl Iterator<Item = f64>) {
        for value in values {
            if self.distinct_floats.len() > MAX_LEVELS {
                return;
            }
            // Adding 0 turns −0 into 0.
            let bits = (value + 0.0).to_bits();
            if !self.distinct_floats.contains(&bits) {
                self.distinct_floats.push(bits);
            }
        }
    }

    fn add_text(&mut self, column: &ArrayRef) {
        // Long durations have no text.
        let integers = matches!(column.data_type(), DataType::Duration(_))
            .then(|| arrow_cast::cast(column, &DataType::Int64).expect("durations are integers"));
        let column = integers.as_ref().unwrap_or(column);
        // Named inside of lists, where `[null]` is not `[]`.
        let options = FormatOptions::new().with_null("null");
        let Ok(formatter) = ArrayFormatter::try_new(column.as_ref(), &options) else {
            return;
        };
        let nulls = column.logical_nulls();
        let is_valid = |&row: &usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
        for row in (0..column.len()).filter(is_valid) {
            // Dates and times that are stored as such need not be recognized.
            let may_be_dates = !is_temporal(column.data_type()) && !self.dates.none();
            if self.distinct_text.len() > MAX_LEVELS && !may_be_dates {
                return;
            }
            let text = formatter.value(row).to_string();
            if may_be_dates {
                self.dates.add(&text);
            }
            if self.distinct_text.len() <= MAX_LEVELS {
                self.distinct_text.insert(text);
            }
        }
    }

    fn add_integers(&mut self, column: &ArrayRef) {
        // The only integers that an `i64` cannot hold.
        if column.data_type() == &DataType::UInt64 {
            let integers = column.as_primitive::<UInt64Type>().iter();
            return self.add_each_integer(integers.flatten().map(i128::from));
        }
        let integers = arrow_cast::cast(column, &DataType::Int64).expect("integers");
        let integers = integers.as_primitive::<Int64Type>().iter();
        self.add_each_integer(integers.flatten().map(i128::from));
    }

    fn add_each_integer(&mut self, integers: impl Iterator<Item = i128>) {
        for value in integers {
            self.integers.add(value);
            if self.distinct.len() <= MAX_LEVELS && !self.distinct.contains(&value) {
                self.distinct.push(value);
            }
        }
    }

    fn profile(self, rows: u64) -> ColumnProfile {
        let levels =
            self.distinct.len().max(self.distinct_text.len()).max(self.distinct_floats.len());
        ColumnProfile {
            levels: (1..=MAX_LEVELS).contains(&levels).then_some(levels),
            missing: self.missing,
            is_empty: self.missing >= rows,
            range: self.range,
            is_binary: self.range == Some((0.0, 1.0)) && !self.other_than_binary,
            date_order: self.dates.order(),
            counts_rows: rows >= MIN_COUNTED_ROWS && self.integers.is_consecutive(rows),
            extreme: self.extreme,
            missing_rows: self.missing_rows,
            infinite_rows: self.infinite_rows,
            invalid_weights: self.invalid_weights,
        }
    }
}

/// A set of integers, represented by a hash that does not depend on their order.
#[derive(Clone, Default, Serialize, Deserialize)]
struct IntegerSet {
    range: Option<(i128, i128)>,
    hash: u64,
}

impl IntegerSet {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a hash")]
    fn hash(value: i128) -> u64 {
        // The finalizer of SplitMix64.
        let mixed = (value as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn add(&mut self, value: i128) {
        let (low, high) = self.range.unwrap_or((value, value));
        self.range = Some((low.min(value), high.max(value)));
        self.hash = self.hash.wrapping_add(Self::hash(value));
    }

    fn merge(&mut self, other: Self) {
        self.range = match (self.range, other.range) {
            (Some(a), Some(b)) => Some((a.0.min(b.0), a.1.max(b.1))),
            (one, None) | (None, one) => one,
        };
        self.hash = self.hash.wrapping_add(other.hash);
    }

    /// Whether these are `count` consecutive integers, each once.
    fn is_consecutive(&self, count: u64) -> bool {
        self.range.is_some_and(|(low, high)| {
            let consecutive = || (low..=high).map(Self::hash).fold(0, u64::wrapping_add);
            high - low + 1 == i128::from(count) && self.hash == consecutive()
        })
    }
}

const MAX_WEIGHT: f64 = (1_u64 << 50) as f64;
