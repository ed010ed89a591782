//! Categories: groups by the values of one or two columns.

use std::collections::{BTreeMap, HashMap};

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Int64Array, LargeStringArray, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::DataType;
use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// A group label. Missing values sort first, then numbers, then text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Key {
    Missing,
    Number(i128),
    Word(String),
}

impl std::fmt::Display for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Missing => f.write_str("(missing)"),
            Self::Number(number) => number.fmt(f),
            Self::Word(word) => word.fmt(f),
        }
    }
}

/// The groups by the values of some columns, in the order of the values.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "SavedCategories", into = "SavedCategories")]
pub(crate) struct Categories {
    columns: Vec<usize>,
    /// The keys of each group, one per column, and the number of the group.
    groups: BTreeMap<Vec<Key>, u32>,
}

/// Serialized categories: their keys, in order.
#[derive(Serialize, Deserialize)]
struct SavedCategories {
    columns: Vec<usize>,
    keys: Vec<Vec<Key>>,
}

impl From<Categories> for SavedCategories {
    fn from(categories: Categories) -> Self {
        Self { columns: categories.columns, keys: categories.groups.into_keys().collect() }
    }
}

impl From<SavedCategories> for Categories {
    fn from(saved: SavedCategories) -> Self {
        let groups = saved.keys.into_iter().map(|keys| (keys, 0)).collect();
        let mut categories = Self { columns: saved.columns, groups };
        categories.number_groups();
        categories
    }
}

impl Categories {
    pub(crate) fn new(columns: Vec<usize>) -> Self {
        Self { columns, groups: BTreeMap::new() }
    }

    /// Adds the groups of a batch.
    pub(crate) fn add(&mut self, batch: &RecordBatch) {
        for keys in self.encode(batch).1 {
            self.groups.entry(keys).or_insert(0);
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.groups.extend(other.groups);
    }

    /// The columns of the groups.
    pub(crate) fn columns(&self) -> &[usize] {
        &self.columns
    }

    /// Numbers the groups, after all batches were added.
    pub(crate) fn number_groups(&mut self) {
        for (number, group) in (0..).zip(self.groups.values_mut()) {
            *group = number;
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.groups.len()
    }

    /// The names of the groups.
    pub(crate) fn names(&self) -> Vec<String> {
        self.groups.keys().map(|keys| group_name(keys)).collect()
    }

    /// The group of every row. An unknown value is an error.
    pub(crate) fn label(&self, batch: &RecordBatch) -> Result<Vec<u32>> {
        let (codes, keys) = self.encode(batch);
        let group = |keys: &Vec<Key>| {
            self.number(keys).ok_or_else(|| {
                let schema = batch.schema();
                let columns = self.columns.iter().map(|&column| schema.field(column).name());
                let columns: Vec<String> = columns.map(|name| format!("`{name}`")).collect();
                Error::NewValue { columns: columns.join(" and "), value: group_name(keys) }
            })
        };
        let groups = keys.iter().map(group).collect::<Result<Vec<u32>>>()?;
        Ok(codes.into_iter().map(|code| groups[code as usize]).collect())
    }

    /// The number of a group, if it is known.
    pub(crate) fn number(&self, keys: &[Key]) -> Option<u32> {
        self.groups.get(keys).copied()
    }

    /// A code for every row, and the keys of each code.
    pub(crate) fn encode(&self, batch: &RecordBatch) -> (Vec<u32>, Vec<Vec<Key>>) {
        let mut columns = self.columns.iter().map(|&column| encode(batch.column(column)));
        let Some((mut codes, keys)) = columns.next() else {
            return (vec![0; batch.num_rows()], vec![vec![]]);
        };
        let mut keys: Vec<Vec<Key>> = keys.into_iter().map(|key| vec![key]).collect();
        for (more_codes, more_keys) in columns {
            let mut pairs = HashMap::new();
            let mut both = vec![];
            for (code, more) in codes.iter_mut().zip(more_codes) {
                *code = *pairs.entry((*code, more)).or_insert_with(|| {
                    let mut joined = keys[*code as usize].clone();
                    joined.push(more_keys[more as usize].clone());
                    both.push(joined);
                    to_code(both.len() - 1)
                });
            }
            keys = both;
        }
        (codes, keys)
    }
}

/// The name of the group of some keys.
fn group_name(keys: &[Key]) -> String {
    keys.iter().map(ToString::to_string).collect::<Vec<_>>().join(" / ")
}

fn to_code(place: usize) -> u32 {
    u32::try_from(place).expect("a block has fewer rows")
}

/// Codes in the order of first appearance.
fn encode(column: &ArrayRef) -> (Vec<u32>, Vec<Key>) {
    match column.data_type() {
        DataType::Dictionary(_, values) => {
            let plain = arrow_cast::cast(column, values).expect("the values of a dictionary");
            encode(&plain)
        }
        // The only integers that an `i64` cannot hold.
        DataType::UInt64 => encode_values(column.as_primitive::<UInt64Type>().iter(), |number| {
            Key::Number((*number).into())
        }),
        other if !other.is_integer() => {
            // The text of dates and times sorts as they do.
            let text = match arrow_cast::cast(column, &DataType::LargeUtf8) {
                Ok(text) => text.as_string::<i64>().clone(),
                Err(_) => times_as_text(column),
            };
            encode_values(text.iter(), |text| Key::Word((*text).to_owned()))
        }
        _ => {
            let numbers = arrow_cast::cast(column, &DataType::Int64).expect("integers");
            let numbers = numbers.as_primitive::<Int64Type>();
            encode_narrow(numbers).unwrap_or_else(|| {
                encode_values(numbers.iter(), |number| Key::Number((*number).into()))
            })
        }
    }
}

/// Text of times. A time that has no text, because it is out of range or its zone is unknown, is
/// represented by its stored integer.
fn times_as_text(column: &ArrayRef) -> LargeStringArray {
    let options = FormatOptions::default();
    let formatter = ArrayFormatter::try_new(column, &options).ok();
    let numbers = arrow_cast::cast(column, &DataType::Int64).ok();
    let text = |row: usize| {
        let text = formatter.as_ref().and_then(|all| all.value(row).try_to_string().ok());
        text.or_else(|| {
            numbers.as_ref().map(|all| all.as_primitive::<Int64Type>().value(row).to_string())
        })
    };
    (0..column.len()).map(|row| if column.is_valid(row) { text(row) } else { None }).collect()
}

/// Codes of integers in a narrow range: a lookup table instead of a hash map.
fn encode_narrow(numbers: &Int64Array) -> Option<(Vec<u32>, Vec<Key>)> {
    const WIDEST: u64 = 1 << 12;
    let values = numbers.values();
    let (low, high) = (*values.iter().min()?, *values.iter().max()?);
    if numbers.null_count() > 0 || high.abs_diff(low) >= WIDEST {
        return None;
    }
    let place = |value: i64| usize::try_from(value.abs_diff(low)).expect("below the widest");
    let mut codes = vec![None; place(high) + 1];
    let mut keys = vec![];
    let encode = |&value: &i64| {
        *codes[place(value)].get_or_insert_with(|| {
            keys.push(Key::Number(value.into()));
            to_code(keys.len() - 1)
        })
    };
    let encoded = values.iter().map(encode).collect();
    Some((encoded, keys))
}

fn encode_values<V: Copy + Eq + std::hash::Hash>(
    values: impl Iterator<Item = Option<V>>,
    key: impl Fn(&V) -> Key,
) -> (Vec<u32>, Vec<Key>) {
    let mut known: HashMap<Option<V>, u32> = HashMap::new();
    let mut keys = vec![];
    let mut last = None;
    let codes = values
        .map(|value| match last {
            // Rows of a group are often adjacent.
            Some((same, code)) if same == value => code,
            _ => {
                let code = *known.entry(value).or_insert_with(|| {
                    keys.push(value.as_ref().map_or(Key::Missing, &key));
                    to_code(keys.len() - 1)
                });
                last = Some((value, code));
                code
            }
        })
        .collect();
    (codes, keys)
}
