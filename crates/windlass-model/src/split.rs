//! How rows are held out: at random, by group, by domain or by time.
//!
//! | Split | Held out | Folds |
//! | :-- | :-- | :-- |
//! | `rows` | random rows | each row once |
//! | `group:COLUMN` | random groups: rows with the same value in the column stay together | each group once |
//! | `domain:COLUMN` | the same | each domain alone if there are at most ten, see [`Split::fold_count`] |
//! | `time:COLUMN` | later rows: forward chaining | see below |
//!
//! By time, rows are sorted by the column, and rows of the same time stay together. The first half is used for
//! training
//! only; the second half is divided into one block per fold, and each block is predicted from all rows before it. The
//! smallest training set is therefore half of the rows.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray};
use arrow_schema::DataType;
use serde::{Deserialize, Serialize};
use windlass::{ParamName, ParamStyle, Seed, Stream};
use windlass_table::{
    DateOrder, Error as TableError, PARTNER, SOURCE, SYNTHETIC, date_order, is_numeric, select,
    to_f64, to_seconds, to_strings, type_name,
};

use crate::{Error, Result};

/// How held-out rows are chosen.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Split {
    /// At random.
    #[default]
    Rows,
    /// By group: rows with the same value in a column are not split. Missing values form a group.
    #[serde(alias = "groups")]
    Group(String),
    /// By domain: as by group, and each of at most ten domains is held out alone.
    Domain(String),
    /// By time: held-out rows are later, by a column, than training rows.
    Time(String),
}

impl FromStr for Split {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':').filter(|(_, column)| !column.is_empty()) {
            None if text == "rows" => Ok(Self::Rows),
            Some(("group", column)) => Ok(Self::Group(column.into())),
            Some(("domain", column)) => Ok(Self::Domain(column.into())),
            Some(("time", column)) => Ok(Self::Time(column.into())),
            _ => Err("expected rows, group:COLUMN, domain:COLUMN or time:COLUMN".into()),
        }
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows => f.write_str("rows"),
            Self::Group(column) => write!(f, "group:{column}"),
            Self::Domain(column) => write!(f, "domain:{column}"),
            Self::Time(column) => write!(f, "time:{column}"),
        }
    }
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
    /// The column of groups, domains or times.
    #[must_use]
    pub fn column(&self) -> Option<&str> {
        match self {
            Self::Rows => None,
            Self::Group(column) | Self::Domain(column) | Self::Time(column) => Some(column),
        }
    }

    /// The column of groups or domains. It is not a feature: new rows have other values in it.
    #[must_use]
    pub fn group_column(&self) -> Option<&str> {
        match self {
            Self::Group(column) | Self::Domain(column) => Some(column),
            Self::Rows | Self::Time(_) => None,
        }
    }

    /// Whether models are fitted again on all rows after their folds, because those of the folds have not seen the
    /// latest rows.
    pub(crate) fn refits(&self) -> bool {
        matches!(self, Self::Time(_))
    }

    /// The number of folds of these rows if `folds` are requested: by domain, as many as there are domains if those
    /// are at most ten.
    pub fn fold_count(&self, rows: &RecordBatch, folds: usize) -> Result<usize> {
        const MAX_LEAVE_ONE_OUT: usize = 10;
        Ok(match self {
            Self::Domain(column) => match groups_of(&originals(rows), column)?.len() {
                domains if domains <= MAX_LEAVE_ONE_OUT => domains,
                _ => folds,
            },
            Self::Rows | Self::Group(_) | Self::Time(_) => folds,
        })
    }

    /// The same split for folds inside these rows, or [`Rows`](Self::Rows) if the column has only one value.
    pub fn within(&self, rows: &RecordBatch) -> Result<Self> {
        Ok(match self.column() {
            Some(column) if groups_of(&originals(rows), column)?.len() < 2 => Self::Rows,
            _ => self.clone(),
        })
    }

    /// Folds, each of which holds out other rows. By group or domain, there are at most as many folds as groups, but
    /// at least two; by time, at most as many as there are later times.
    ///
    /// In a table with provenance only originals are held out, the same as without its synthetic rows, which are
    /// [trained on](Self::synthetic_rows) if no row that they were derived from is held out.
    pub fn folds(&self, rows: &RecordBatch, folds: usize, seed: Seed) -> Result<Vec<Fold>> {
        self.among_originals(rows, |split, rows| split.make_folds(rows, folds, seed))
    }

    /// Splits the originals of a table, and adds its synthetic rows to the training rows.
    fn among_originals(
        &self,
        rows: &RecordBatch,
        make: impl Fn(&Self, &RecordBatch) -> Result<Vec<Fold>>,
    ) -> Result<Vec<Fold>> {
        let Some(relatives) = Relatives::of(rows) else { return make(self, rows) };
        let originals = relatives.originals();
        if !relatives.are_mixed() {
            let folds = make(&self.by_source(), rows)?.into_iter();
            return Ok(folds.map(|fold| relatives.separate(fold)).collect());
        }
        let in_table = |places: Vec<usize>| -> Vec<usize> {
            places.into_iter().map(|place| originals[place]).collect()
        };
        let with_synthetic = |fold: Fold| {
            let (mut train, held_out) = (in_table(fold.train), in_table(fold.held_out));
            train.extend(self.synthetic_rows(rows, &train)?);
            train.sort_unstable();
            Ok(Fold { train, held_out })
        };
        make(self, &select(rows, &originals))?.into_iter().map(with_synthetic).collect()
    }

    /// The synthetic rows of a table with provenance that may be trained on together with some of its originals:
    /// none of their sources and partners is another original, their group is not held out, and they are not later
    /// than the originals.
    pub fn synthetic_rows(&self, rows: &RecordBatch, train: &[usize]) -> Result<Vec<usize>> {
        let Some(relatives) = Relatives::of(rows) else { return Ok(vec![]) };
        let mut trained = vec![false; rows.num_rows()];
        for &row in train {
            trained[row] = true;
        }
        let (known, others): (Vec<usize>, Vec<usize>) =
            relatives.originals().into_iter().partition(|&row| trained[row]);
        let held_out: BTreeSet<&str> =
            others.iter().filter_map(|&row| relatives.source(row)).collect();
        let unrelated = |&row: &usize| {
            let of = [relatives.source(row), relatives.partner(row)];
            of.into_iter().flatten().all(|source| !held_out.contains(source))
        };
        let synthetic =
            (0..rows.num_rows()).filter(|&row| relatives.synthetic[row] && !trained[row]);
        let candidates = synthetic.filter(unrelated);
        Ok(match self {
            Self::Rows => candidates.collect(),
            Self::Group(column) | Self::Domain(column) => {
                let words = to_strings(rows.column(index_of(rows, column)?));
                let word = |row: usize| words.is_valid(row).then(|| words.value(row));
                let [known, others] =
                    [known, others].map(|rows| rows.into_iter().map(word).collect::<BTreeSet<_>>());
                let is_held_out = |word| others.contains(&word) && !known.contains(&word);
                candidates.filter(|&row| !is_held_out(word(row))).collect()
            }
            Self::Time(column) => {
                let (order, ends) = time_order(rows, column)?;
                let mut ranks = vec![0; order.len()];
                for (place, row) in order.into_iter().enumerate() {
                    ranks[row] = ends.partition_point(|&end| end <= place);
                }
                let last = known.iter().map(|&row| ranks[row]).max();
                candidates.filter(|&row| Some(ranks[row]) <= last).collect()
            }
        })
    }

    /// Random rows of a table with sources are held out by source.
    fn by_source(&self) -> Self {
        if *self == Self::Rows { Self::Group(SOURCE.to_owned()) } else { self.clone() }
    }

    fn make_folds(&self, rows: &RecordBatch, folds: usize, seed: Seed) -> Result<Vec<Fold>> {
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
            Self::Group(column) | Self::Domain(column) => {
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
                let half = count / 2;
                let cut = |fold: usize| last_cut(&ends, half + fold * (count - half) / folds);
                let mut cuts: Vec<usize> = (0..folds).map(cut).chain([count]).collect();
                cuts.dedup();
                let sorted = |rows: &[usize]| {
                    let mut rows = rows.to_vec();
                    rows.sort_unstable();
                    rows
                };
                let fold = |cuts: &[usize]| Fold {
                    train: sorted(&order[..cuts[0]]),
                    held_out: sorted(&order[cuts[0]..cuts[1]]),
                };
                Ok(cuts.windows(2).map(fold).collect())
            }
        }
    }

    /// The rows by time, the earliest first; in the order of the table if the split is not by time.
    pub fn in_time(&self, rows: &RecordBatch) -> Result<Vec<usize>> {
        match self {
            Self::Time(column) => Ok(time_order(rows, column)?.0),
            Self::Rows | Self::Group(_) | Self::Domain(_) => Ok((0..rows.num_rows()).collect()),
        }
    }

    /// Holds out about this fraction of the rows: whole groups, or the latest rows; see [`folds`](Self::folds).
    pub fn hold_out(&self, rows: &RecordBatch, fraction: f64, seed: Seed) -> Result<Fold> {
        let make = |split: &Self, rows: &RecordBatch| {
            split.hold_out_rows(rows, fraction, seed).map(|fold| vec![fold])
        };
        Ok(self.among_originals(rows, make)?.remove(0))
    }

    fn hold_out_rows(&self, rows: &RecordBatch, fraction: f64, seed: Seed) -> Result<Fold> {
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
            Self::Group(column) | Self::Domain(column) => {
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
                order[last_cut(&ends, count - wanted)..].to_vec()
            }
        };
        Ok(Fold::holding_out(held_out, count))
    }

    /// A note if rows are split at random although the table has a column of dates, with the parameter to use.
    #[must_use]
    pub fn note(&self, rows: &RecordBatch, style: ParamStyle) -> Option<String> {
        let column = time_columns(rows).into_iter().next().filter(|_| *self == Self::Rows)?;
        let (param, split) = (style.name("split"), Self::Time(column).to_string());
        let typed = match style {
            ParamStyle::Command if split.contains(char::is_whitespace) => {
                format!("{param} '{split}'")
            }
            ParamStyle::Command => format!("{param} {split}"),
            ParamStyle::Rust | ParamStyle::Python => format!("{param}={split:?}"),
        };
        Some(format!("rows are split at random; if new rows will be later than these, use {typed}"))
    }
}

/// The rows that may be held out: those that are not synthetic, if a table has both.
pub(crate) fn originals(rows: &RecordBatch) -> RecordBatch {
    match Relatives::of(rows).filter(Relatives::are_mixed) {
        Some(relatives) => select(rows, &relatives.originals()),
        None => rows.clone(),
    }
}

/// Rows that were generated from others, in a table with provenance.
struct Relatives {
    sources: StringArray,
    partners: Option<StringArray>,
    synthetic: Vec<bool>,
}

impl Relatives {
    fn of(rows: &RecordBatch) -> Option<Self> {
        let sources = to_strings(rows.column_by_name(SOURCE)?);
        let partners = rows.column_by_name(PARTNER).map(to_strings);
        let marks = rows.column_by_name(SYNTHETIC).and_then(|marks| marks.as_boolean_opt());
        let synthetic = match marks {
            Some(marks) => marks.iter().map(|mark| mark == Some(true)).collect(),
            None => vec![false; rows.num_rows()],
        };
        Some(Self { sources, partners, synthetic })
    }

    /// Whether there are synthetic rows and others.
    fn are_mixed(&self) -> bool {
        self.synthetic.contains(&true) && self.synthetic.contains(&false)
    }

    /// The rows that are not synthetic.
    fn originals(&self) -> Vec<usize> {
        (0..self.synthetic.len()).filter(|&row| !self.synthetic[row]).collect()
    }

    fn source(&self, row: usize) -> Option<&str> {
        self.sources.is_valid(row).then(|| self.sources.value(row))
    }

    fn partner(&self, row: usize) -> Option<&str> {
        let partners = self.partners.as_ref()?;
        partners.is_valid(row).then(|| partners.value(row))
    }

    /// Without relatives of held-out rows among the training rows.
    fn separate(&self, mut fold: Fold) -> Fold {
        let held_out: BTreeSet<&str> =
            fold.held_out.iter().filter_map(|&row| self.source(row)).collect();
        fold.train.retain(|&row| self.source(row).is_none_or(|source| !held_out.contains(source)));
        fold
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
    let named = || column.to_owned();
    let refuse_missing =
        |values: &dyn Array| match (0..values.len()).find(|&row| values.is_null(row)) {
            None => Ok(()),
            Some(row) => {
                let more = values.null_count() - 1;
                Err(Error::NoTime { column: named(), row: row.into(), more })
            }
        };
    let (order, ends) = if is_numeric(values.data_type()) {
        let numbers = to_f64(values);
        refuse_missing(&numbers)?;
        sorted_with_ends(&order_keys(&numbers))
    } else if let Some(ticks) = ticks(values) {
        refuse_missing(values)?;
        sorted_with_ends(ticks.as_primitive::<Int64Type>().values())
    } else {
        let spelled = to_strings(values);
        refuse_missing(&spelled)?;
        let Some(order) = date_order(values) else {
            let seconds = to_seconds(values, DateOrder::YearMonthDay);
            let row = (0..values.len()).find(|&row| seconds.is_null(row)).unwrap_or(0);
            let (holds, value) = (type_name(values.data_type()), spelled.value(row).to_owned());
            return Err(Error::NotSortable { column: named(), holds, row: row.into(), value });
        };
        sorted_with_ends(&order_keys(&to_seconds(values, order)))
    };
    if ends.len() < 2 {
        return Err(Error::OneValue { column: named() });
    }
    Ok((order, ends))
}

/// Integers that are ordered as numbers are; −0 is 0.
fn order_keys(numbers: &Float64Array) -> Vec<i64> {
    let key = |number: &f64| {
        let bits = (number + 0.0).to_bits().cast_signed();
        bits ^ (i64::MAX & (bits >> 63))
    };
    numbers.values().iter().map(key).collect()
}

/// Dates and times as integers, in any unit; `None` for other types.
fn ticks(values: &ArrayRef) -> Option<ArrayRef> {
    let is_temporal = values.data_type().is_temporal();
    is_temporal.then(|| arrow_cast::cast(values, &DataType::Int64).ok()).flatten()
}

/// The order of keys, and where those that are equal end.
fn sorted_with_ends<K: Ord>(keys: &[K]) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|&row| &keys[row]);
    let last = order.len();
    let ends_at = |&end: &usize| end == last || keys[order[end - 1]] != keys[order[end]];
    let ends = (1..=last).filter(ends_at).collect();
    (order, ends)
}

/// The columns of dates, also as text, which have several values.
#[must_use]
pub fn time_columns(rows: &RecordBatch) -> Vec<String> {
    let is_date = |column: &ArrayRef| match column.data_type() {
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => true,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => {
            date_order(column).is_some_and(|order| order != DateOrder::TimeOfDay)
        }
        _ => false,
    };
    let schema = rows.schema();
    let columns = schema.fields().iter().zip(rows.columns());
    let dates = columns.filter(|(_, column)| is_date(column));
    dates
        .map(|(field, _)| field.name().clone())
        .filter(|name| groups_of(rows, name).is_ok_and(|groups| groups.len() > 1))
        .collect()
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

/// The first of `ends` that is at least `index` and 1, but not the last: the rows of the latest time are held out
/// together, even if they are more than requested.
fn last_cut(ends: &[usize], index: usize) -> usize {
    let next = ends.partition_point(|&end| end < index.max(1));
    ends[next.min(ends.len() - 2)]
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

    use arrow_array::{
        ArrayRef, BooleanArray, Date32Array, Float64Array, StringArray, TimestampSecondArray,
    };

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
        Split::Group(column.into())
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

    /// Whatever the times, their order and ties: training rows are earlier, and every row after the smallest training
    /// part is held out once.
    #[test]
    fn forward_chaining_holds_out_the_later_half_once() {
        for (seed, rows, times, folds) in
            [(0, 60, 1000, 3), (1, 61, 9, 4), (2, 200, 2, 5), (3, 7, 50, 5)]
        {
            let draw = |row| Seed(seed).at(Stream::Sample, 0, row).below(times) as f64;
            let values: Vec<f64> = (0..rows).map(draw).collect();
            let table = numbered(values.iter().copied());
            let found = Split::Time("t".into()).folds(&table, folds, Seed(0)).unwrap();
            assert!(!found.is_empty() && found.len() <= folds);
            let mut held: Vec<usize> = vec![];
            for Fold { train, held_out } in &found {
                let last = train.iter().map(|&row| values[row]).fold(f64::MIN, f64::max);
                assert!(held_out.iter().all(|&row| values[row] > last));
                // Everything before is trained on.
                let earlier = values.iter().filter(|&&value| value <= last).count();
                assert_eq!(train.len(), earlier);
                held.extend(held_out);
            }
            assert_eq!(held.len() + found[0].train.len(), values.len());
            held.sort_unstable();
            held.dedup();
            assert_eq!(held.len() + found[0].train.len(), values.len());
            // Half of the rows or more are only trained on, unless the rest have the latest time.
            if times > 100 {
                assert_eq!(found[0].train.len(), values.len() / 2);
                assert_eq!(found.len(), folds);
            }
        }
    }

    #[test]
    fn domains_are_left_out_one_by_one() {
        let words: Vec<String> = (0..60).map(|row| format!("s{}", row % 12)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let split = Split::Domain("g".into());
        let few = named(&words[..7]);
        assert_eq!(split.fold_count(&few, 3).unwrap(), 7);
        let folds = split.folds(&few, 7, Seed(0)).unwrap();
        assert!(folds.len() == 7 && folds.iter().all(|fold| fold.held_out.len() == 1));
        assert_eq!(split.fold_count(&named(&words), 3).unwrap(), 3);
        assert_eq!(group("g").fold_count(&few, 3).unwrap(), 3);
        assert_eq!(split.within(&named(&["a", "a"])).unwrap(), Split::Rows);
        assert_eq!(split.within(&few).unwrap(), split);
    }

    #[test]
    fn splits_are_spelled() {
        for text in ["rows", "group:site", "domain:a:b", "time:my day"] {
            assert_eq!(text.parse::<Split>().unwrap().to_string(), text);
        }
        for text in ["", "group", "time:", "site", "rows:x"] {
            assert!(text.parse::<Split>().is_err(), "{text}");
        }
        // As in models of 0.1.0.
        let read: Split = serde_json::from_str(r#"{"groups":"site"}"#).unwrap();
        assert_eq!(read, group("site"));
    }

    #[test]
    fn times_of_every_type_are_sorted() {
        // Two instants in the order of the clock, which is not that of the spelling.
        let zone = TimestampSecondArray::from(vec![1_729_990_800, 1_729_987_200, 1_729_994_400]);
        let columns: Vec<ArrayRef> = vec![
            Arc::new(zone.with_timezone("+02:00")),
            Arc::new(Date32Array::from(vec![-3, -4, 20_000])),
            Arc::new(Float64Array::from(vec![0.0, -1.5, 7.0])),
            Arc::new(StringArray::from(vec![
                "2024-10-27T01:00:00Z",
                "2024-10-27T00:00:00Z",
                "2024-10-27T02:00:00Z",
            ])),
        ];
        for column in columns {
            let rows = table(vec![("t", column)]);
            assert_eq!(Split::Time("t".into()).in_time(&rows).unwrap(), [1, 0, 2]);
        }
    }

    #[test]
    fn dates_are_noticed() {
        let text = |words: [&str; 2]| -> ArrayRef { Arc::new(StringArray::from(words.to_vec())) };
        let rows = table(vec![
            ("one day", text(["2024-05-01", "2024-05-01"])),
            ("code", text(["2024-05-01", "x"])),
            ("my day", text(["2024-05-01 13:00", "2024-05-02 13:00"])),
            ("date", Arc::new(Date32Array::from(vec![1, 2]))),
        ]);
        assert_eq!(time_columns(&rows), ["my day", "date"]);
        let note = Split::Rows.note(&rows, ParamStyle::Command).unwrap();
        assert!(note.ends_with("than these, use --split 'time:my day'"), "{note}");
        let note = Split::Rows.note(&rows, ParamStyle::Python).unwrap();
        assert!(note.ends_with("use split=\"time:my day\""), "{note}");
        assert_eq!(group("code").note(&rows, ParamStyle::Command), None);
    }

    #[test]
    fn relatives_stay_together_and_originals_are_held_out() {
        let sources: Vec<i64> = (0..40).map(|row| row % 20).collect();
        let rows = table(vec![
            ("x", Arc::new(Float64Array::from_iter_values((0..40).map(f64::from)))),
            (SOURCE, Arc::new(arrow_array::Int64Array::from(sources.clone()))),
            (SYNTHETIC, Arc::new((0..40).map(|row| Some(row >= 20)).collect::<BooleanArray>())),
        ]);
        let mut folds = Split::Rows.folds(&rows, 4, Seed(1)).unwrap();
        assert_eq!(folds.iter().map(|fold| fold.held_out.len()).sum::<usize>(), 20);
        folds.push(Split::Rows.hold_out(&rows, 0.25, Seed(2)).unwrap());
        folds.extend(Split::Time("x".into()).folds(&rows, 3, Seed(0)).unwrap());
        for fold in folds {
            assert!(fold.train.len() >= 10, "{fold:?}");
            for &row in &fold.held_out {
                assert!(fold.train.iter().all(|&other| sources[other] != sources[row]));
            }
        }
        let folds = Split::Rows.folds(&rows, 4, Seed(1)).unwrap();
        assert!(folds.iter().flat_map(|fold| &fold.held_out).all(|&row| row < 20));
    }

    #[test]
    fn impossible_splits_are_refused() {
        let says = |error: Error| error.to_string();
        let rows = numbered([1.0, 1.0, 1.0].into_iter());
        let few = Split::Rows.folds(&rows, 5, Seed(0)).unwrap_err();
        assert_eq!(says(few), "cannot form 5 folds from 3 rows");
        let one = "column `t` has only one value, so it cannot split the rows";
        for split in [group("t"), Split::Time("t".into())] {
            assert_eq!(says(split.folds(&rows, 2, Seed(0)).unwrap_err()), one);
            assert_eq!(says(split.hold_out(&rows, 0.3, Seed(0)).unwrap_err()), one);
        }
        let rows = named(&["2024-05-01", "May 2nd"]);
        let odd = Split::Time("g".into()).folds(&rows, 2, Seed(0)).unwrap_err();
        let told = "column `g` contains text such as `May 2nd` in row 2, which is not a time";
        assert_eq!(says(odd), told);
        let holes = vec![Some(1.0), None, Some(f64::NAN), Some(2.0)];
        let rows = table(vec![("t", Arc::new(Float64Array::from(holes)))]);
        let none = Split::Time("t".into()).folds(&rows, 2, Seed(0)).unwrap_err();
        assert_eq!(says(none), "time column `t` is missing in row 2 and 1 more");
        assert!(says(group("x").folds(&rows, 2, Seed(0)).unwrap_err()).contains("`x`"));
    }
}
