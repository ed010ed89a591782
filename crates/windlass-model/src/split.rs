//! Which rows are held out, and which may not be on both sides.

use std::collections::BTreeMap;

use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use serde::{Deserialize, Serialize};
use windlass::{Seed, Stream};
use windlass_table::{Error as TableError, is_numeric, to_f64, to_strings, type_name};

use crate::{Error, Result};

/// How rows are parted into those to learn from and those held out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// At random.
    #[default]
    Rows,
    /// Rows with the same value in a column stay together.
    Groups(String),
    /// What is held out is later, by a column, than what is learnt from.
    Time(String),
}

/// The two sides of a split, as rows in the order of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// To learn from.
    pub train: Vec<usize>,
    /// Held out.
    pub held: Vec<usize>,
}

impl Fold {
    fn of(mut train: Vec<usize>, mut held: Vec<usize>) -> Self {
        train.sort_unstable();
        held.sort_unstable();
        Self { train, held }
    }

    /// Everything but these.
    fn without(mut held: Vec<usize>, rows: usize) -> Self {
        held.sort_unstable();
        let train = (0..rows).filter(|row| held.binary_search(row).is_err()).collect();
        Self { train, held }
    }
}

impl Split {
    /// The column that it goes by.
    #[must_use]
    pub fn column(&self) -> Option<&str> {
        match self {
            Self::Rows => None,
            Self::Groups(column) | Self::Time(column) => Some(column),
        }
    }

    /// So many parts, each held out once. In the order of time the first part is never held out, and what
    /// comes after a part is not learnt from. Fewer parts where there are fewer groups, but at least two.
    pub fn folds(&self, rows: &RecordBatch, folds: usize, seed: Seed) -> Result<Vec<Fold>> {
        let count = rows.num_rows();
        match self {
            Self::Rows => {
                if count < folds {
                    return Err(Error::FewForFolds { folds, found: count, what: "rows" });
                }
                let order = shuffled(count, seed);
                let held = |fold: usize| order.iter().skip(fold).step_by(folds).copied().collect();
                Ok((0..folds).map(|fold| Fold::without(held(fold), count)).collect())
            }
            Self::Groups(column) => {
                let mut parts: Vec<Vec<usize>> = vec![vec![]; folds];
                let mut groups = named_groups(rows, column)?;
                seed.shared(Stream::Split, 0).shuffle(&mut groups);
                // In random order, so that another seed gives other parts, each to the one with the fewest rows.
                for group in groups {
                    let least = parts.iter_mut().min_by_key(|part| part.len());
                    least.expect("there are parts").extend(group);
                }
                let filled = parts.into_iter().filter(|part| !part.is_empty());
                Ok(filled.map(|held| Fold::without(held, count)).collect())
            }
            Self::Time(column) => {
                let (order, ends) = moments(rows, column)?;
                let mut cuts: Vec<usize> = (1..=folds)
                    .map(|part| next_end(&ends, part * count / (folds + 1)))
                    .chain([count])
                    .collect();
                cuts.dedup();
                let sides = cuts.windows(2).map(|ends| {
                    Fold::of(order[..ends[0]].to_vec(), order[ends[0]..ends[1]].to_vec())
                });
                let sides: Vec<Fold> = sides.collect();
                if sides.is_empty() {
                    return Err(Error::OneValue { column: column.clone() });
                }
                Ok(sides)
            }
        }
    }

    /// The rows by time, the earliest first; as they are where time does not matter.
    pub fn in_time(&self, rows: &RecordBatch) -> Result<Vec<usize>> {
        match self {
            Self::Time(column) => Ok(moments(rows, column)?.0),
            Self::Rows | Self::Groups(_) => Ok((0..rows.num_rows()).collect()),
        }
    }

    /// About this share of the rows, held out: whole groups, or the latest rows.
    pub fn share(&self, rows: &RecordBatch, share: f64, seed: Seed) -> Result<Fold> {
        let count = rows.num_rows();
        if !(0.0..1.0).contains(&share) {
            let (name, range) = ("valid", "[0, 1)");
            return Err(windlass::Error::OutOfRange { name, range, got: share }.into());
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
        let wanted = (share * count as f64).round() as usize;
        if wanted == 0 || wanted >= count {
            let train = count - wanted;
            return Err(Error::EmptySplit { share, rows: count, train, valid: wanted });
        }
        let held = match self {
            Self::Rows => shuffled(count, seed)[..wanted].to_vec(),
            Self::Groups(column) => {
                let mut groups = named_groups(rows, column)?;
                seed.shared(Stream::Split, 0).shuffle(&mut groups);
                // The last group is learnt from.
                groups.pop();
                let mut held = vec![];
                for group in groups {
                    if held.len() < wanted {
                        held.extend(group);
                    }
                }
                held
            }
            Self::Time(column) => {
                let (order, ends) = moments(rows, column)?;
                let cut = next_end(&ends, count - wanted);
                // Where the latest moment is longer than the share, it is held out whole.
                let cut = if cut == count { ends[ends.len() - 2] } else { cut };
                order[cut..].to_vec()
            }
        };
        Ok(Fold::without(held, count))
    }
}

/// The rows of every group that a column names; two groups at least.
fn named_groups(rows: &RecordBatch, column: &str) -> Result<Vec<Vec<usize>>> {
    let found = groups_of(rows, column)?;
    if found.len() < 2 {
        return Err(Error::OneValue { column: column.to_owned() });
    }
    Ok(found.into_values().collect())
}

/// The rows by time, and where each moment ends; two moments at least.
fn moments(rows: &RecordBatch, column: &str) -> Result<(Vec<usize>, Vec<usize>)> {
    let values = rows.column(place(rows, column)?);
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
        let bad = |row: &usize| text && !is_moment(spelled.value(*row), spelled.value(0));
        let odd = (0..spelled.len()).find(bad);
        if odd.is_some() || matches!(values.data_type(), DataType::Boolean) {
            let row = odd.unwrap_or(0);
            let (holds, value) = (type_name(values.data_type()), spelled.value(row).to_owned());
            return Err(Error::NotSortable { column: column(), holds, row: row as u64, value });
        }
        // Dates and times are spelled so that the order of words is theirs.
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

/// The rows of every value of a column; missing values are one too.
pub fn groups_of(rows: &RecordBatch, column: &str) -> Result<BTreeMap<Option<String>, Vec<usize>>> {
    let mut groups: BTreeMap<Option<String>, Vec<usize>> = BTreeMap::new();
    for (row, word) in to_strings(rows.column(place(rows, column)?)).iter().enumerate() {
        groups.entry(word.map(str::to_owned)).or_default().push(row);
    }
    Ok(groups)
}

fn place(rows: &RecordBatch, column: &str) -> Result<usize> {
    rows.schema().index_of(column).map_err(|_| {
        let columns = rows.schema().fields().iter().map(|field| field.name().clone()).collect();
        TableError::NoSuchColumn { column: column.to_owned(), option: "--split", columns }.into()
    })
}

/// Whether a text is a date with a time, spelled as another: `2024-05-01 13:00` or `2024-05-01T13:00:00Z`.
fn is_moment(text: &str, like: &str) -> bool {
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

/// The end of a moment that is next to a place, from there on.
fn next_end(ends: &[usize], place: usize) -> usize {
    ends[ends.partition_point(|&end| end < place.max(1))]
}

/// The rows in a random order.
pub(crate) fn shuffled(rows: usize, seed: Seed) -> Vec<usize> {
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
        let sides = Split::Rows.folds(&rows, 5, Seed(3)).unwrap();
        let mut held: Vec<usize> = sides.iter().flat_map(|sides| sides.held.clone()).collect();
        held.sort_unstable();
        assert_eq!(held, (0..23).collect::<Vec<_>>());
        for Fold { train, held } in &sides {
            assert_eq!(train.len() + held.len(), 23);
            assert!(held.iter().all(|row| !train.contains(row)));
            assert!((4..=5).contains(&held.len()));
        }
        assert_eq!(sides, Split::Rows.folds(&rows, 5, Seed(3)).unwrap());
        assert_ne!(sides, Split::Rows.folds(&rows, 5, Seed(4)).unwrap());
    }

    #[test]
    fn no_group_is_on_both_sides() {
        let words: Vec<String> = (0..60).map(|row| format!("s{}", row * row % 11)).collect();
        let rows = named(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let of =
            |rows: &[usize]| -> BTreeSet<&str> { rows.iter().map(|&row| &*words[row]).collect() };
        let mut all = group("g").folds(&rows, 4, Seed(0)).unwrap();
        assert_eq!(all.iter().map(|sides| sides.held.len()).sum::<usize>(), 60);
        all.extend((0..9).map(|seed| group("g").share(&rows, 0.2, Seed(seed)).unwrap()));
        for Fold { train, held } in all {
            assert!(!train.is_empty() && !held.is_empty());
            assert!(of(&train).is_disjoint(&of(&held)));
        }
        // Groups of different sizes are in other parts with another seed.
        let uneven: Vec<String> = (0..90).map(|row: u32| format!("u{}", row.isqrt())).collect();
        let uneven = named(&uneven.iter().map(String::as_str).collect::<Vec<_>>());
        let parts = |seed| group("g").folds(&uneven, 4, Seed(seed)).unwrap();
        assert_ne!(parts(0), parts(1));
        // One group is half of the rows, and three folds are made of three groups.
        let rows = named(&["a", "a", "a", "b", "c", "a"]);
        let sides = group("g").folds(&rows, 5, Seed(1)).unwrap();
        assert_eq!(sides.len(), 3);
        let share = group("g").share(&rows, 0.9, Seed(1)).unwrap();
        assert!(!share.train.is_empty());
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
        all.push(split.share(&rows, 0.2, Seed(0)).unwrap());
        for Fold { train, held } in all {
            let last = train.iter().map(|&row| times[row]).fold(f64::MIN, f64::max);
            let first = held.iter().map(|&row| times[row]).fold(f64::MAX, f64::min);
            assert!(last < first && !train.is_empty() && !held.is_empty());
        }
        let words = ["2024-05-01 13:00", "2024-04-30 09:30", "2024-05-02 00:15"];
        let sides = Split::Time("g".into()).folds(&named(&words), 2, Seed(0)).unwrap();
        assert_eq!((&sides[0].train[..], &sides[0].held[..]), (&[1][..], &[0][..]));
        assert_eq!(sides[1].held, [2]);
        // The latest moment has more rows than are asked for.
        let rows = numbered([1.0, 2.0, 2.0, 2.0].into_iter());
        assert_eq!(split.share(&rows, 0.25, Seed(0)).unwrap().held, [1, 2, 3]);
    }

    #[test]
    fn what_cannot_be_held_out_is_refused() {
        let says = |error: Error| error.to_string();
        let rows = numbered([1.0, 1.0, 1.0].into_iter());
        let few = Split::Rows.folds(&rows, 5, Seed(0)).unwrap_err();
        assert_eq!(says(few), "5 folds cannot be made of 3 rows");
        let one = "column `t` has one value only: nothing can be held out by it";
        for split in [group("t"), Split::Time("t".into())] {
            assert_eq!(says(split.folds(&rows, 2, Seed(0)).unwrap_err()), one);
            assert_eq!(says(split.share(&rows, 0.3, Seed(0)).unwrap_err()), one);
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
