//! Train/test splits and folds, at random, by group or by time.

use std::collections::BTreeMap;

use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use serde::{Deserialize, Serialize};
use windlass::{ParamName, Seed, Stream};
use windlass_table::{Error as TableError, is_numeric, to_f64, to_strings, type_name};

use crate::{Error, Result};

/// How held-out rows are chosen.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// At random.
    #[default]
    Rows,
    /// By group: rows with the same value in a column are not split.
    Groups(String),
    /// By time: held-out rows are later, by a column, than training rows.
    Time(String),
}

/// A train/test split, as rows in the order of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// Training rows.
    pub train: Vec<usize>,
    /// Held-out rows.
    pub held_out: Vec<usize>,
}

impl Fold {
    /// Holds out these rows and trains on all others.
    pub(crate) fn holding_out(mut held_out: Vec<usize>, rows: usize) -> Self {
        held_out.sort_unstable();
        let train = (0..rows).filter(|row| held_out.binary_search(row).is_err()).collect();
        Self { train, held_out }
    }
}

impl Split {
    /// The column of groups or times.
    #[must_use]
    pub fn column(&self) -> Option<&str> {
        match self {
            Self::Rows => None,
            Self::Groups(column) | Self::Time(column) => Some(column),
        }
    }

    /// Folds, each of which holds out other rows. By time, rows are cut into one block more than there are folds:
    /// the first is never held out, and a fold trains on the blocks before its own. By group, there are at most
    /// as many folds as groups, but at least two.
    pub fn folds(&self, rows: &RecordBatch, folds: usize, seed: Seed) -> Result<Vec<Fold>> {
        let count = rows.num_rows();
        match self {
            Self::Rows => {
                if count < folds {
                    return Err(Error::FewForFolds { folds, found: count, what: "rows" });
                }
                let order = shuffled(count, seed);
                let held = |fold: usize| order.iter().skip(fold).step_by(folds).copied().collect();
                Ok((0..folds).map(|fold| Fold::holding_out(held(fold), count)).collect())
            }
            Self::Groups(column) => {
                let mut held_out: Vec<Vec<usize>> = vec![vec![]; folds];
                let mut groups = named_groups(rows, column)?;
                seed.shared(Stream::Split, 0).shuffle(&mut groups);
                // Groups in random order, each to the fold with the fewest rows.
                for group in groups {
                    let smallest = held_out.iter_mut().min_by_key(|rows| rows.len());
                    smallest.expect("there are folds").extend(group);
                }
                let filled = held_out.into_iter().filter(|rows| !rows.is_empty());
                Ok(filled.map(|rows| Fold::holding_out(rows, count)).collect())
            }
            Self::Time(column) => {
                let (order, ends) = time_order(rows, column)?;
                let mut cuts: Vec<usize> = (1..=folds)
                    .map(|fold| next_end(&ends, fold * count / (folds + 1)))
                    .chain([count])
                    .collect();
                cuts.dedup();
                let sorted = |rows: &[usize]| {
                    let mut rows = rows.to_vec();
                    rows.sort_unstable();
                    rows
                };
                let folds = cuts.windows(2).map(|cuts| Fold {
                    train: sorted(&order[..cuts[0]]),
                    held_out: sorted(&order[cuts[0]..cuts[1]]),
                });
                let folds: Vec<Fold> = folds.collect();
                if folds.is_empty() {
                    return Err(Error::OneValue { column: column.clone() });
                }
                Ok(folds)
            }
        }
    }

    /// The rows by time, the earliest first; in the order of the table if the split is not by time.
    pub fn in_time(&self, rows: &RecordBatch) -> Result<Vec<usize>> {
        match self {
            Self::Time(column) => Ok(time_order(rows, column)?.0),
            Self::Rows | Self::Groups(_) => Ok((0..rows.num_rows()).collect()),
        }
    }

    /// Holds out about this fraction of the rows: whole groups, or the latest rows.
    pub fn hold_out(&self, rows: &RecordBatch, fraction: f64, seed: Seed) -> Result<Fold> {
        let count = rows.num_rows();
        if !(0.0..1.0).contains(&fraction) {
            let (name, range) = ("valid", "[0, 1)");
            return Err(windlass::Error::OutOfRange { name, range, got: fraction }.into());
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let wanted = (fraction * count as f64).round() as usize;
        if wanted == 0 || wanted >= count {
            let (share, train) = (fraction, count - wanted);
            return Err(Error::EmptySplit { share, rows: count, train, valid: wanted });
        }
        let held_out = match self {
            Self::Rows => shuffled(count, seed)[..wanted].to_vec(),
            Self::Groups(column) => {
                let mut groups = named_groups(rows, column)?;
                seed.shared(Stream::Split, 0).shuffle(&mut groups);
                // At least one group is trained on.
                groups.pop();
                let mut held_out = vec![];
                for group in groups {
                    if held_out.len() < wanted {
                        held_out.extend(group);
                    }
                }
                held_out
            }
            Self::Time(column) => {
                let (order, ends) = time_order(rows, column)?;
                let cut = next_end(&ends, count - wanted);
                // The rows of the latest time are held out together, even if they are more.
                let cut = if cut == count { ends[ends.len() - 2] } else { cut };
                order[cut..].to_vec()
            }
        };
        Ok(Fold::holding_out(held_out, count))
    }
}

/// The rows of every group; two groups at least.
fn named_groups(rows: &RecordBatch, column: &str) -> Result<Vec<Vec<usize>>> {
    let found = groups_of(rows, column)?;
    if found.len() < 2 {
        return Err(Error::OneValue { column: column.to_owned() });
    }
    Ok(found.into_values().collect())
}

/// The rows by time, and where the rows of each time end; two times at least.
fn time_order(rows: &RecordBatch, column: &str) -> Result<(Vec<usize>, Vec<usize>)> {
    let values = rows.column(index_of(rows, column)?);
    let column = || column.to_owned();
    if let Some(row) = (0..values.len()).find(|&row| values.is_null(row)) {
        return Err(Error::NoTime { column: column(), row: row as u64 });
    }
    let mut order: Vec<usize> = (0..values.len()).collect();
    let same: Box<dyn Fn(usize, usize) -> bool> = if is_numeric(values.data_type()) {
        let values = to_f64(values);
        order.sort_by(|&a, &b| values.value(a).total_cmp(&values.value(b)));
        Box::new(move |a, b| values.value(a) == values.value(b))
    } else {
        let spelled = to_strings(values);
        let text = matches!(values.data_type(), DataType::Utf8 | DataType::LargeUtf8);
        let bad = |row: &usize| text && !is_time(spelled.value(*row), spelled.value(0));
        let odd = (0..spelled.len()).find(bad);
        if odd.is_some() || matches!(values.data_type(), DataType::Boolean) {
            let row = odd.unwrap_or(0);
            let (holds, value) = (type_name(values.data_type()), spelled.value(row).to_owned());
            return Err(Error::NotSortable { column: column(), holds, row: row as u64, value });
        }
        // These spellings of dates and times sort chronologically.
        order.sort_by(|&a, &b| spelled.value(a).cmp(spelled.value(b)));
        Box::new(move |a, b| spelled.value(a) == spelled.value(b))
    };
    let last = order.len();
    let ends: Vec<usize> =
        (1..=last).filter(|&end| end == last || !same(order[end - 1], order[end])).collect();
    if ends.len() < 2 {
        return Err(Error::OneValue { column: column() });
    }
    Ok((order, ends))
}

/// The rows of every value of a column; missing values form a group.
pub fn groups_of(rows: &RecordBatch, column: &str) -> Result<BTreeMap<Option<String>, Vec<usize>>> {
    let mut groups: BTreeMap<Option<String>, Vec<usize>> = BTreeMap::new();
    for (row, word) in to_strings(rows.column(index_of(rows, column)?)).iter().enumerate() {
        groups.entry(word.map(str::to_owned)).or_default().push(row);
    }
    Ok(groups)
}

fn index_of(rows: &RecordBatch, column: &str) -> Result<usize> {
    rows.schema().index_of(column).map_err(|_| {
        let columns = rows.schema().fields().iter().map(|field| field.name().clone()).collect();
        let (column, param) = (column.to_owned(), ParamName("split"));
        TableError::NoSuchColumn { column, param, columns }.into()
    })
}

/// Whether a text is a date, perhaps with a time, in the same format as another: `2024-05-01 13:00` or
/// `2024-05-01T13:00:00Z`.
fn is_time(text: &str, like: &str) -> bool {
    let shape = |text: &str| -> Vec<u8> {
        text.bytes().map(|byte| if byte.is_ascii_digit() { b'0' } else { byte }).collect()
    };
    let known = ["0000-00-00", "0000-00", "0000-00-00 00:00", "0000-00-00 00:00:00"];
    let plain: String =
        shape(text).into_iter().map(char::from).collect::<String>().replace('T', " ");
    let plain = plain.trim_end_matches('Z');
    let whole = plain.split_once('.').map_or(plain, |(whole, _)| whole);
    known.contains(&whole) && shape(text) == shape(like)
}

/// The first of `ends` that is at least `index` and 1.
fn next_end(ends: &[usize], index: usize) -> usize {
    ends[ends.partition_point(|&end| end < index.max(1))]
}

fn shuffled(rows: usize, seed: Seed) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    seed.shared(Stream::Split, 0).shuffle(&mut order);
    order
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, StringArray};

    use super::*;

    fn table(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        RecordBatch::try_from_iter(columns).unwrap()
    }

    fn numbered(values: impl Iterator<Item = f64>) -> RecordBatch {
        table(vec![("t", Arc::new(Float64Array::from_iter_values(values)))])
    }

    fn named(words: &[&str]) -> RecordBatch {
        table(vec![("g", Arc::new(StringArray::from(words.to_vec())))])
    }

    fn group(column: &str) -> Split {
        Split::Groups(column.into())
    }

    #[test]
    fn every_row_is_held_out_once() {
        let rows = numbered((0..23).map(f64::from));
        let folds = Split::Rows.folds(&rows, 5, Seed(3)).unwrap();
        let mut held: Vec<usize> = folds.iter().flat_map(|fold| fold.held_out.clone()).collect();
        held.sort_unstable();
        assert_eq!(held, (0..23).collect::<Vec<_>>());
        for Fold { train, held_out } in &folds {
            assert_eq!(train.len() + held_out.len(), 23);
            assert!(held_out.iter().all(|row| !train.contains(row)));
            assert!((4..=5).contains(&held_out.len()));
        }
        assert_eq!(folds, Split::Rows.folds(&rows, 5, Seed(3)).unwrap());
        assert_ne!(folds, Split::Rows.folds(&rows, 5, Seed(4)).unwrap());
    }

    #[test]
    fn groups_are_not_split() {
        let words: Vec<String> = (0..60).map(|row| format!("s{}", row * row % 11)).collect();
        let rows = named(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let of =
            |rows: &[usize]| -> BTreeSet<&str> { rows.iter().map(|&row| &*words[row]).collect() };
        let mut all = group("g").folds(&rows, 4, Seed(0)).unwrap();
        assert_eq!(all.iter().map(|fold| fold.held_out.len()).sum::<usize>(), 60);
        all.extend((0..9).map(|seed| group("g").hold_out(&rows, 0.2, Seed(seed)).unwrap()));
        for Fold { train, held_out } in all {
            assert!(!train.is_empty() && !held_out.is_empty());
            assert!(of(&train).is_disjoint(&of(&held_out)));
        }
        // With another seed, groups of different sizes are in other folds.
        let uneven: Vec<String> = (0..90).map(|row: u32| format!("u{}", row.isqrt())).collect();
        let uneven = named(&uneven.iter().map(String::as_str).collect::<Vec<_>>());
        let folds = |seed| group("g").folds(&uneven, 4, Seed(seed)).unwrap();
        assert_ne!(folds(0), folds(1));
        // One group is half of the rows, and three folds are made of three groups.
        let rows = named(&["a", "a", "a", "b", "c", "a"]);
        let folds = group("g").folds(&rows, 5, Seed(1)).unwrap();
        assert_eq!(folds.len(), 3);
        let fold = group("g").hold_out(&rows, 0.9, Seed(1)).unwrap();
        assert!(!fold.train.is_empty());
    }

    #[test]
    fn the_past_predicts_the_future() {
        // Out of order, and several rows at a time.
        let times: Vec<f64> = (0..40).map(|row| f64::from((row * 7) % 40 / 3)).collect();
        let rows = numbered(times.iter().copied());
        let split = Split::Time("t".into());
        let mut all = split.folds(&rows, 4, Seed(0)).unwrap();
        assert_eq!(all.len(), 4);
        assert!(all.windows(2).all(|two| two[0].train.len() < two[1].train.len()));
        all.push(split.hold_out(&rows, 0.2, Seed(0)).unwrap());
        for Fold { train, held_out } in all {
            let last = train.iter().map(|&row| times[row]).fold(f64::MIN, f64::max);
            let first = held_out.iter().map(|&row| times[row]).fold(f64::MAX, f64::min);
            assert!(last < first && !train.is_empty() && !held_out.is_empty());
        }
        let words = ["2024-05-01 13:00", "2024-04-30 09:30", "2024-05-02 00:15"];
        let folds = Split::Time("g".into()).folds(&named(&words), 2, Seed(0)).unwrap();
        assert_eq!((&folds[0].train[..], &folds[0].held_out[..]), (&[1][..], &[0][..]));
        assert_eq!(folds[1].held_out, [2]);
        // The latest time has more rows than requested.
        let rows = numbered([1.0, 2.0, 2.0, 2.0].into_iter());
        assert_eq!(split.hold_out(&rows, 0.25, Seed(0)).unwrap().held_out, [1, 2, 3]);
    }

    #[test]
    fn impossible_splits_are_refused() {
        let says = |error: Error| error.to_string();
        let rows = numbered([1.0, 1.0, 1.0].into_iter());
        let few = Split::Rows.folds(&rows, 5, Seed(0)).unwrap_err();
        assert_eq!(says(few), "5 folds cannot be made of 3 rows");
        let one = "column `t` has one value only: nothing can be held out by it";
        for split in [group("t"), Split::Time("t".into())] {
            assert_eq!(says(split.folds(&rows, 2, Seed(0)).unwrap_err()), one);
            assert_eq!(says(split.hold_out(&rows, 0.3, Seed(0)).unwrap_err()), one);
        }
        let rows = named(&["2024-05-01", "May 2nd"]);
        let odd = Split::Time("g".into()).folds(&rows, 2, Seed(0)).unwrap_err();
        let told = "column `g` holds text such as `May 2nd` (row 1), which has no order in time";
        assert_eq!(says(odd), told);
        let rows = table(vec![("t", Arc::new(Float64Array::from(vec![Some(1.0), None])))]);
        let none = Split::Time("t".into()).folds(&rows, 2, Seed(0)).unwrap_err();
        assert_eq!(says(none), "column `t` says no time in row 1");
        assert!(says(group("x").folds(&rows, 2, Seed(0)).unwrap_err()).contains("`x`"));
    }
}
