//! Row identifiers: position, key column, or content hash.
//!
//! Random numbers are drawn by row identifier. In a table with an order, such as a file, the row
//! number identifies a row. A distributed table has no order: a row is then identified by a key
//! column, or by a hash of its content. Duplicate rows have the same hash; a counter distinguishes
//! them. Which of them comes first does not matter, because they are equal.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Int64Array, LargeStringArray, RecordBatch};
use arrow_schema::{DataType, Schema, TimeUnit};
use serde::{Deserialize, Serialize};
use windlass::ParamName;
use xxhash_rust::xxh3::xxh3_64;

use crate::column::{find_column, is_discrete, type_name};
use crate::text::as_text;
use crate::{Error, Result};

/// What identifies rows: determines their random numbers and the values of `windlass_source`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowIdSource {
    /// The row number.
    #[default]
    Number,
    /// The values of a column: integers, text or times, all distinct.
    Column(String),
    /// A hash of all values.
    Content,
}

impl FromStr for RowIdSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "number" => Ok(Self::Number),
            None if text == "content" => Ok(Self::Content),
            Some(("column", name)) if !name.is_empty() => Ok(Self::Column(name.to_owned())),
            _ => Err("expected number, content or column:NAME".into()),
        }
    }
}

/// A [`RowIdSource`] for the columns of a table.
#[derive(Debug, Clone)]
pub(crate) enum RowIdResolver {
    Number,
    Column { place: usize, name: Arc<str>, text: bool },
    Content,
}

/// The identifiers of the rows of a block, if not row numbers.
#[derive(Debug, Clone)]
pub(crate) struct RowIds {
    /// Seeds of the random numbers of the rows.
    pub(crate) ids: Vec<u64>,
    /// The values of `windlass_source`.
    pub(crate) sources: ArrayRef,
    /// The number of equal rows before each; only counted if random numbers depend on it.
    pub(crate) duplicates: Option<Vec<u32>>,
    /// The key column; none for content hashes.
    column: Option<Arc<str>>,
}

impl RowIds {
    /// The identifier of a row for messages.
    pub(crate) fn describe(&self, row: usize) -> String {
        let column = self.column.as_deref().unwrap_or("windlass_source");
        match self.sources.data_type() {
            DataType::Int64 => {
                format!("{column}={}", self.sources.as_primitive::<Int64Type>().value(row))
            }
            _ => format!("{column}={}", self.sources.as_string::<i32>().value(row)),
        }
    }
}

impl RowIdResolver {
    pub(crate) fn new(source: &RowIdSource, schema: &Schema) -> Result<Self> {
        Ok(match source {
            RowIdSource::Number => Self::Number,
            RowIdSource::Content => Self::Content,
            RowIdSource::Column(name) => {
                let place = find_column(schema, name, ParamName("rows_by"))?;
                let data_type = schema.field(place).data_type();
                if !is_discrete(data_type) {
                    let (column, holds) = (name.clone(), type_name(data_type));
                    return Err(Error::NotAKey { column, holds });
                }
                // Only these fit in the integers of `windlass_source`.
                let integer = data_type.is_integer() && *data_type != DataType::UInt64;
                Self::Column { place, name: name.as_str().into(), text: !integer }
            }
        })
    }

    /// The type of `windlass_source`.
    pub(crate) fn source_type(&self) -> DataType {
        match self {
            Self::Column { text: true, .. } => DataType::Utf8,
            _ => DataType::Int64,
        }
    }

    /// The identifiers of the rows of a batch; `None` for row numbers. Duplicates are only counted
    /// with a `counter`.
    pub(crate) fn resolve(
        &self,
        batch: &RecordBatch,
        counter: Option<&mut DuplicateCounter>,
    ) -> Result<Option<RowIds>> {
        let (sources, hashes, column): (ArrayRef, Vec<u64>, _) = match self {
            Self::Number => return Ok(None),
            Self::Content => {
                let hashes = content_hashes(batch);
                let sources = hashes.iter().map(|hash| hash.cast_signed());
                (Arc::new(sources.collect::<Int64Array>()), hashes, None)
            }
            Self::Column { place, name, text } => {
                let values = batch.column(*place);
                if values.logical_null_count() > 0 {
                    return Err(Error::MissingKey { column: name.to_string() });
                }
                let column = Some(Arc::clone(name));
                if *text {
                    let text = as_text(values).map_err(|_| Error::NotAKey {
                        column: name.to_string(),
                        holds: type_name(values.data_type()),
                    })?;
                    let hashes = text.iter().map(|value| xxh3_64(value.unwrap_or("").as_bytes()));
                    let hashes = hashes.collect();
                    (Arc::new(text) as ArrayRef, hashes, column)
                } else {
                    let keys = arrow_cast::cast(values, &DataType::Int64).expect("integers");
                    let integers = keys.as_primitive::<Int64Type>().values();
                    let ids = integers.iter().map(|key| key.cast_unsigned()).collect();
                    (keys, ids, column)
                }
            }
        };
        let duplicates = counter.map(|counter| counter.count(&hashes));
        let ids = match &duplicates {
            None => hashes,
            Some(duplicates) => hashes
                .into_iter()
                .zip(duplicates)
                .map(|(hash, &before)| if before == 0 { hash } else { mix(hash, before.into()) })
                .collect(),
        };
        Ok(Some(RowIds { ids, sources, duplicates, column }))
    }
}

/// Counts duplicate rows: for the hashes that occur more than once, how many rows came before.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DuplicateCounter(HashMap<u64, u32>);

impl DuplicateCounter {
    /// From the hashes that occur more than once, each with the number of rows before it in other
    /// partitions.
    #[must_use]
    pub fn new(before: impl IntoIterator<Item = (u64, u32)>) -> Self {
        Self(before.into_iter().collect())
    }

    /// From the hashes of all rows of a table.
    pub(crate) fn from_hashes(mut hashes: Vec<u64>) -> Self {
        hashes.sort_unstable();
        let equal = hashes.windows(2).filter(|pair| pair[0] == pair[1]);
        Self::new(equal.map(|pair| (pair[0], 0)))
    }

    /// A hash that occurs more than once.
    pub(crate) fn first_duplicate(&self) -> Option<u64> {
        self.0.keys().min().copied()
    }

    fn count(&mut self, hashes: &[u64]) -> Vec<u32> {
        let count = |hash: &u64| match self.0.get_mut(hash) {
            None => 0,
            Some(before) => {
                *before += 1;
                *before - 1
            }
        };
        hashes.iter().map(count).collect()
    }
}

/// The identifiers of the rows of a batch, in a table without an order.
pub fn row_ids(batch: &RecordBatch, source: &RowIdSource) -> Result<Vec<u64>> {
    let ids = RowIdResolver::new(source, &batch.schema())?.resolve(batch, None)?;
    let (of, param) = ("a table without an order", ParamName("rows_by"));
    Ok(ids.ok_or(Error::Needs { of, param })?.ids)
}

/// A hash of the values of every row, independent of the width of integers, floats and text.
pub(crate) fn content_hashes(batch: &RecordBatch) -> Vec<u64> {
    const START: u64 = 0x7769_6e64_6c61_7373;
    let mut hashes = vec![START; batch.num_rows()];
    for column in batch.columns() {
        hash_column(column, &mut hashes);
    }
    hashes
}

/// Combines a hash with a value: a multiplication, and the finalizer of `MurmurHash3`.
#[inline(always)]
fn mix(hash: u64, value: u64) -> u64 {
    let mut mixed = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ value;
    mixed = (mixed ^ mixed >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed = (mixed ^ mixed >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ mixed >> 33
}

/// Stands for a missing value.
const MISSING: u64 = 0x6d69_7373_696e_6721;

fn hash_column(column: &ArrayRef, hashes: &mut [u64]) {
    let cast = |to: &DataType| arrow_cast::cast(column, to).ok();
    match column.data_type() {
        DataType::Dictionary(_, values) => match cast(values) {
            Some(plain) => hash_column(&plain, hashes),
            None => hash_text(column, hashes),
        },
        DataType::UInt64 => {
            hash_values(column.as_primitive::<UInt64Type>().iter(), hashes);
        }
        float if float.is_floating() => {
            let floats = cast(&DataType::Float64).expect("floats");
            let floats = floats.as_primitive::<Float64Type>();
            let bits = |value: f64| (!value.is_nan()).then(|| (value + 0.0).to_bits());
            hash_values(floats.iter().map(|value| value.and_then(bits)), hashes);
        }
        DataType::Timestamp(_, zone) => {
            // The same in any unit and time zone.
            let micros = cast(&DataType::Timestamp(TimeUnit::Microsecond, zone.clone()));
            match micros.and_then(|micros| arrow_cast::cast(&micros, &DataType::Int64).ok()) {
                Some(integers) => hash_integers(&integers, hashes),
                None => hash_text(column, hashes),
            }
        }
        DataType::Date32 | DataType::Boolean => {
            let narrow = cast(&DataType::Int32).expect("days, or 0 and 1");
            hash_integers(&arrow_cast::cast(&narrow, &DataType::Int64).expect("integers"), hashes);
        }
        integer if integer.is_integer() => {
            hash_integers(&cast(&DataType::Int64).expect("integers"), hashes);
        }
        _ => hash_text(column, hashes),
    }
}

fn hash_integers(column: &ArrayRef, hashes: &mut [u64]) {
    let integers = column.as_primitive::<Int64Type>();
    hash_values(integers.iter().map(|value| value.map(i64::cast_unsigned)), hashes);
}

fn hash_text(column: &ArrayRef, hashes: &mut [u64]) {
    let text = match column.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            arrow_cast::cast(column, &DataType::LargeUtf8).ok()
        }
        _ => as_text(column)
            .ok()
            .map(|text| arrow_cast::cast(&text, &DataType::LargeUtf8).expect("text")),
    };
    // Values without text, such as lists, do not contribute.
    let text = text.unwrap_or_else(|| Arc::new(LargeStringArray::new_null(column.len())));
    let text = text.as_string::<i64>().iter();
    hash_values(text.map(|value| value.map(|value| xxh3_64(value.as_bytes()))), hashes);
}

#[inline(always)]
fn hash_values(values: impl Iterator<Item = Option<u64>>, hashes: &mut [u64]) {
    for (hash, value) in hashes.iter_mut().zip(values) {
        *hash = mix(*hash, value.unwrap_or(MISSING));
    }
}
