//! What tells the rows of a table apart: where they stand, a column, or what they hold.
//!
//! Random numbers belong to rows. Where a table has an order, as a file has, a row's number tells it from all
//! others. On a cluster there is none: a row then goes by the value of a key column, or by a hash of what it
//! holds. Rows that hold the same have the same hash; they are counted, and the count tells them apart. Which of
//! them is the first does not matter, because they are equal.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Int64Array, LargeStringArray, RecordBatch};
use arrow_schema::{DataType, Schema, TimeUnit};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::categories::can_name;
use crate::column::in_words;
use crate::roles::find;
use crate::{Error, Result};

/// What tells rows apart: what their random numbers depend on, and what `windlass_source` names.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowIdSource {
    /// Where they stand in the table.
    #[default]
    Number,
    /// The values of a column: integers, text or times, no two of them the same.
    Column(String),
    /// What they hold.
    Content,
}

impl FromStr for RowIdSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "number" => Ok(Self::Number),
            None if text == "content" => Ok(Self::Content),
            Some(("column", name)) if !name.is_empty() => Ok(Self::Column(name.to_owned())),
            _ => Err("rows go by number, content or column:NAME".into()),
        }
    }
}

/// An identity whose columns were found.
#[derive(Debug, Clone)]
pub(crate) enum RowIdResolver {
    Number,
    Column { place: usize, name: Arc<str>, text: bool },
    Content,
}

/// What the rows of a block go by, where it is not their number.
#[derive(Debug, Clone)]
pub(crate) struct Names {
    /// The number of every row for its random numbers.
    pub(crate) ids: Vec<u64>,
    /// What `windlass_source` says.
    pub(crate) sources: ArrayRef,
    /// Of rows that hold the same, which each is; counted only where random numbers depend on it.
    pub(crate) twins: Option<Vec<u32>>,
    /// The column, or none for what rows hold.
    column: Option<Arc<str>>,
}

impl Names {
    /// What a row is called in a message.
    pub(crate) fn name(&self, row: usize) -> String {
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
    pub(crate) fn new(identity: &RowIdSource, schema: &Schema) -> Result<Self> {
        const OPTION: &str = "--rows-by";
        Ok(match identity {
            RowIdSource::Number => Self::Number,
            RowIdSource::Content => Self::Content,
            RowIdSource::Column(name) => {
                let place = find(schema, name, OPTION)?;
                let data_type = schema.field(place).data_type();
                if !can_name(data_type) {
                    let (column, holds) = (name.clone(), in_words(data_type));
                    return Err(Error::NotAKey { column, holds });
                }
                // Only these fit in the integers of `windlass_source`.
                let whole = data_type.is_integer() && *data_type != DataType::UInt64;
                Self::Column { place, name: name.as_str().into(), text: !whole }
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

    /// What the rows of a batch go by; nothing for their number. Equal rows are counted if `twins` are given.
    pub(crate) fn names(
        &self,
        batch: &RecordBatch,
        twins: Option<&mut DuplicateCounter>,
    ) -> Result<Option<Names>> {
        let (sources, hashes, column): (ArrayRef, Vec<u64>, _) = match self {
            Self::Number => return Ok(None),
            Self::Content => {
                let hashes = contents(batch);
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
                    let words = crate::sink::as_text(values).map_err(|_| Error::NotAKey {
                        column: name.to_string(),
                        holds: in_words(values.data_type()),
                    })?;
                    let hashes = words.iter().map(|word| xxh3_64(word.unwrap_or("").as_bytes()));
                    let hashes = hashes.collect();
                    (Arc::new(words) as ArrayRef, hashes, column)
                } else {
                    let whole = arrow_cast::cast(values, &DataType::Int64).expect("integers");
                    let numbers = whole.as_primitive::<Int64Type>().values();
                    let ids = numbers.iter().map(|number| number.cast_unsigned()).collect();
                    (whole, ids, column)
                }
            }
        };
        let twins = twins.map(|twins| twins.count(&hashes));
        let ids = match &twins {
            None => hashes,
            Some(twins) => hashes
                .into_iter()
                .zip(twins)
                .map(|(hash, &twin)| if twin == 0 { hash } else { fold(hash, twin.into()) })
                .collect(),
        };
        Ok(Some(Names { ids, sources, twins, column }))
    }
}

/// Counts rows that hold the same: for the hashes that occur more than once, how many came before.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct DuplicateCounter(HashMap<u64, u32>);

impl DuplicateCounter {
    /// The hashes that occur more than once, and how many rows of each came before, in other parts of the table.
    #[must_use]
    pub fn new(before: impl IntoIterator<Item = (u64, u32)>) -> Self {
        Self(before.into_iter().collect())
    }

    /// Those of all rows of a table, none of which came before.
    pub(crate) fn among(mut hashes: Vec<u64>) -> Self {
        hashes.sort_unstable();
        let equal = hashes.windows(2).filter(|pair| pair[0] == pair[1]);
        Self::new(equal.map(|pair| (pair[0], 0)))
    }

    pub(crate) fn any(&self) -> Option<u64> {
        self.0.keys().min().copied()
    }

    fn count(&mut self, hashes: &[u64]) -> Vec<u32> {
        let number = |hash: &u64| match self.0.get_mut(hash) {
            None => 0,
            Some(before) => {
                *before += 1;
                *before - 1
            }
        };
        hashes.iter().map(number).collect()
    }
}

/// The numbers that the rows of a batch go by, in a table without an order.
pub fn row_ids(batch: &RecordBatch, identity: &RowIdSource) -> Result<Vec<u64>> {
    let names = RowIdResolver::new(identity, &batch.schema())?.names(batch, None)?;
    let (of, option) = ("a table without an order", "--rows-by");
    Ok(names.ok_or(Error::Needs { of, option })?.ids)
}

/// A hash of what every row holds: of the same values the same, whatever the types of integers, floats and text.
pub(crate) fn contents(batch: &RecordBatch) -> Vec<u64> {
    const START: u64 = 0x7769_6e64_6c61_7373;
    let mut hashes = vec![START; batch.num_rows()];
    for column in batch.columns() {
        hash_column(column, &mut hashes);
    }
    hashes
}

/// Takes a value into a hash: a multiplication, and the finalizer of `MurmurHash3`.
#[inline(always)]
fn fold(hash: u64, value: u64) -> u64 {
    let mut mixed = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ value;
    mixed = (mixed ^ mixed >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed = (mixed ^ mixed >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    mixed ^ mixed >> 33
}

/// What stands for a missing value.
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
            // The same moment in any unit and zone.
            let micros = cast(&DataType::Timestamp(TimeUnit::Microsecond, zone.clone()));
            match micros.and_then(|micros| arrow_cast::cast(&micros, &DataType::Int64).ok()) {
                Some(whole) => hash_integers(&whole, hashes),
                None => hash_text(column, hashes),
            }
        }
        DataType::Date32 | DataType::Boolean => {
            let narrow = cast(&DataType::Int32).expect("days, or 0 and 1");
            hash_integers(&arrow_cast::cast(&narrow, &DataType::Int64).expect("integers"), hashes);
        }
        whole if whole.is_integer() => {
            hash_integers(&cast(&DataType::Int64).expect("integers"), hashes);
        }
        _ => hash_text(column, hashes),
    }
}

fn hash_integers(column: &ArrayRef, hashes: &mut [u64]) {
    let whole = column.as_primitive::<Int64Type>();
    hash_values(whole.iter().map(|value| value.map(i64::cast_unsigned)), hashes);
}

fn hash_text(column: &ArrayRef, hashes: &mut [u64]) {
    let words = match column.data_type() {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            arrow_cast::cast(column, &DataType::LargeUtf8).ok()
        }
        _ => crate::sink::as_text(column)
            .ok()
            .map(|words| arrow_cast::cast(&words, &DataType::LargeUtf8).expect("text")),
    };
    // What has no words, such as a list, does not tell rows apart.
    let words = words.unwrap_or_else(|| Arc::new(LargeStringArray::new_null(column.len())));
    let words = words.as_string::<i64>().iter();
    hash_values(words.map(|word| word.map(|word| xxh3_64(word.as_bytes()))), hashes);
}

#[inline(always)]
fn hash_values(values: impl Iterator<Item = Option<u64>>, hashes: &mut [u64]) {
    for (hash, value) in hashes.iter_mut().zip(values) {
        *hash = fold(*hash, value.unwrap_or(MISSING));
    }
}
