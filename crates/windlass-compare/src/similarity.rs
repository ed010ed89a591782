//! How similar synthetic rows are to real rows: copies, distances, marginal distributions and correlations.
//!
//! The distance of a synthetic row to the closest real row is compared with that of a real row to the closest
//! *other* real row, which is what a new row of the same distribution would have. Statistics are those of at most
//! [`MOST_ROWS`] rows of each table, spread evenly; distances are measured for fewer, by [`Closeness`].

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch, StringArray};
use serde::Serialize;
use windlass::metrics::correlation;
use windlass_table::{
    Columns, LoadedTable, Role, RowProgress, SYNTHETIC, Table, select, to_strings,
};

use crate::describe::short;
use crate::neighbors::{Closeness, Space, numbers, row_keys, used_columns};
use crate::{Error, Result};

/// Rows of a table that are compared.
const MOST_ROWS: u64 = 100_000;
/// Rows and columns whose correlations are compared.
const MOST_CORRELATED: (usize, usize) = (5_000, 100);
/// Bins of a histogram, and levels of a category that are shown.
const BINS: usize = 20;
const LEVELS: usize = 12;

/// How similar synthetic rows are to real rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Similarity {
    /// Number of synthetic rows.
    pub synthetic_rows: usize,
    /// Number of real rows.
    pub real_rows: usize,
    /// Every how many-th row of the synthetic and of the real table was read; 1 is all.
    pub read_every: [u64; 2],
    /// Original rows in the synthetic table, which are not compared.
    pub originals: u64,
    /// Synthetic rows that equal a real row in all features and targets; categories of many levels, such as names,
    /// do not count.
    pub copies: usize,
    /// Synthetic rows whose distance to the closest real row was measured.
    pub measured: usize,
    /// Real rows whose distance to the closest other real row was measured.
    pub measured_real: usize,
    /// Synthetic rows that are closer to a real row than a tenth of its distance to other real rows.
    pub close: usize,
    /// Real rows that are.
    pub close_real: usize,
    /// Whether more synthetic rows are close than new rows would be.
    pub follows_real_rows: bool,
    /// Distances of synthetic rows at the quantiles 0.05, 0.25, 0.5, 0.75 and 0.95, in standard deviations.
    pub distances: Option<[f64; 5]>,
    /// The same of real rows.
    pub real_distances: Option<[f64; 5]>,
    /// The distances that were measured, ascending, for figures.
    #[serde(skip)]
    pub(crate) all_distances: [Vec<f64>; 2],
    /// The columns of features and targets.
    pub columns: Vec<ColumnSimilarity>,
    /// Number of pairs of columns whose correlations were compared.
    pub correlated_pairs: usize,
    /// Mean absolute difference between correlations.
    pub correlation_difference: Option<f64>,
    /// The pairs with the largest differences.
    pub correlations: Vec<CorrelationDifference>,
    /// What was read and how, in sentences.
    pub notes: Vec<String>,
}

/// A column of real and of synthetic rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ColumnSimilarity {
    /// The name.
    pub name: String,
    /// The role.
    pub role: &'static str,
    /// Statistics of real rows.
    pub real: ColumnStatistics,
    /// Statistics of synthetic rows.
    pub synthetic: ColumnStatistics,
    /// Synthetic values outside the range of real values; of a category, values that real rows do not have.
    pub outside: usize,
    /// The edges of the bins of a histogram; empty for categories.
    pub edges: Vec<f64>,
    /// The levels of a category, the most frequent first; all others are in the last.
    pub levels: Vec<String>,
    /// The shares of real values in the bins or levels.
    pub real_shares: Vec<f64>,
    /// The shares of synthetic values.
    pub synthetic_shares: Vec<f64>,
}

/// Statistics of a column; those of dates in seconds since 1970 or midnight.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ColumnStatistics {
    /// Share of missing values.
    pub missing: f64,
    /// Mean.
    pub mean: Option<f64>,
    /// Standard deviation.
    pub sd: Option<f64>,
    /// Minimum.
    pub min: Option<f64>,
    /// Maximum.
    pub max: Option<f64>,
}

/// The correlation of two columns in real and in synthetic rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CorrelationDifference {
    /// The columns.
    pub columns: [String; 2],
    /// In real rows.
    pub real: f64,
    /// In synthetic rows.
    pub synthetic: f64,
}

impl Similarity {
    /// That the rows are not anonymous, in a sentence.
    pub const NOT_ANONYMOUS: &str = "These rows are not anonymous: they are computed from real rows, and a large \
        distance does not prove that nobody can be recognized.";

    /// Compares synthetic rows with real rows. Rows of the synthetic table that are marked as originals are not
    /// compared, nor are its first rows if they are all rows of the real table in order.
    pub fn measure(
        synthetic: &Table,
        real: &Table,
        columns: &Columns,
        memory: u64,
        progress: &dyn RowProgress,
    ) -> Result<Self> {
        let named = |path: &Path| {
            let path = path.to_owned();
            move |error: windlass_table::Error| Error::from(error).in_file(&path)
        };
        let memory = memory / 2;
        let (mut table, real_every) =
            LoadedTable::sample(real, columns, MOST_ROWS, memory, progress)
                .map_err(named(real.path()))?;
        let marked = marks(&table.batch);
        let unmarked: Vec<usize> =
            (0..marked.len()).filter(|&row| marked[row] != Some(true)).collect();
        if unmarked.len() < marked.len() && !unmarked.is_empty() {
            table = table.select(&unmarked);
        }
        let (other, every) =
            LoadedTable::sample(synthetic, &Columns::default(), MOST_ROWS, memory, progress)
                .map_err(named(synthetic.path()))?;
        let table = table.widened(&other);
        let aligned = table.align(&other, None).map_err(named(synthetic.path()))?.batch;
        let mut notes = vec![];
        let (rows, originals) = synthetic_rows(&table, real_every, &other, &aligned);
        if rows.is_empty() {
            let why = "all are original rows";
            return Err(Error::NoAddedRows { path: synthetic.path().to_owned(), why });
        }
        let originals = originals * every;
        if originals > 0 {
            notes.push(format!(
                "{originals} original rows of {} are not compared.",
                file_name(synthetic.path())
            ));
        }
        let rows = select(&aligned, &rows);
        for (every, path) in [(every, synthetic.path()), (real_every, real.path())] {
            if every > 1 {
                notes.push(format!("Of {}, one row of {every} was read.", file_name(path)));
            }
        }
        let mut found = Self::of_rows(&table, &rows);
        if found.measured < found.synthetic_rows || found.measured_real < found.real_rows {
            notes.push(format!(
                "Distances were measured for {} synthetic and {} real rows, spread evenly over the rows.",
                found.measured, found.measured_real
            ));
        }
        let compared = used_columns(&table).filter(|(_, role)| *role != Role::Categorical).count();
        if compared > MOST_CORRELATED.1 {
            notes.push(format!(
                "Correlations are those of the first {} columns.",
                MOST_CORRELATED.1
            ));
        }
        found.notes = notes;
        Ok(Self { read_every: [every, real_every], originals, ..found })
    }

    /// Compares rows with the columns of a table with its rows.
    fn of_rows(table: &LoadedTable, rows: &RecordBatch) -> Self {
        let known: HashSet<Vec<u8>> = row_keys(table, &table.batch).into_iter().collect();
        let copies = row_keys(table, rows).iter().filter(|key| known.contains(*key)).count();
        let closeness = Closeness::measure(&Space::new(table), None, rows, |_, _| false);
        let follows_real_rows = closeness.is_suspicious();
        let columns: Vec<ColumnSimilarity> =
            used_columns(table).map(|(place, role)| column(table, rows, place, role)).collect();
        let (correlated_pairs, correlation_difference, correlations) = correlations(table, rows);
        Self {
            synthetic_rows: rows.num_rows(),
            real_rows: table.batch.num_rows(),
            read_every: [1, 1],
            originals: 0,
            copies,
            measured: closeness.checked,
            measured_real: closeness.checked_real,
            close: closeness.close,
            close_real: closeness.close_real,
            follows_real_rows,
            distances: quantiles(&closeness.distances),
            real_distances: quantiles(&closeness.real_distances),
            all_distances: [closeness.distances, closeness.real_distances],
            columns,
            correlated_pairs,
            correlation_difference,
            correlations,
            notes: vec![],
        }
    }

    /// The copies and distances, in sentences.
    #[must_use]
    pub fn in_words(&self) -> String {
        let Self { copies, synthetic_rows, close, measured, close_real, measured_real, .. } = self;
        let copies = match copies {
            0 => format!("None of {synthetic_rows} synthetic rows is an exact copy of a real row."),
            1 => format!("1 of {synthetic_rows} synthetic rows is an exact copy of a real row."),
            copies => {
                format!(
                    "{copies} of {synthetic_rows} synthetic rows are exact copies of real rows."
                )
            }
        };
        if *measured == 0 {
            return copies;
        }
        let why = if self.follows_real_rows {
            "they follow single real rows"
        } else {
            "about as often as new rows would be"
        };
        format!(
            "{copies} {close} of {measured} are closer to a real row than a tenth of its distance to other real rows \
             (of real rows: {close_real} of {measured_real}): {why}."
        )
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// The marks of synthetic rows, if there are any.
fn marks(rows: &RecordBatch) -> Vec<Option<bool>> {
    match rows.column_by_name(SYNTHETIC).and_then(|marks| marks.as_boolean_opt()) {
        Some(marks) => marks.iter().collect(),
        None => vec![None; rows.num_rows()],
    }
}

/// The rows of a synthetic table that are not originals, and the number of the others.
fn synthetic_rows(
    table: &LoadedTable,
    real_every: u64,
    other: &LoadedTable,
    aligned: &RecordBatch,
) -> (Vec<usize>, u64) {
    let marks = marks(&other.batch);
    let all = 0..aligned.num_rows();
    let mut synthetic: Vec<usize> = all.clone().filter(|&row| marks[row] != Some(false)).collect();
    if marks.iter().all(Option::is_none) && other.profile.rows > table.profile.rows {
        // The output of augment: the rows of the table, then synthetic rows.
        let (known, own) = (row_keys(table, &table.batch), row_keys(table, aligned));
        let number = |row: usize| other.places.place(row as u64).index();
        let is_first = |row: usize| number(row) < table.profile.rows;
        let place = |row: usize| usize::try_from(number(row) / real_every).ok();
        let both =
            all.clone().filter(|&row| is_first(row) && number(row).is_multiple_of(real_every));
        let mut both = both.filter_map(|row| Some((known.get(place(row)?)?, &own[row]))).peekable();
        if both.peek().is_some() && both.all(|(real, own)| real == own) {
            synthetic.retain(|&row| !is_first(row));
        }
    }
    let originals = (aligned.num_rows() - synthetic.len()) as u64;
    (synthetic, originals)
}

/// The quantiles 0.05, 0.25, 0.5, 0.75 and 0.95 of sorted values.
fn quantiles(sorted: &[f64]) -> Option<[f64; 5]> {
    let last = sorted.len().checked_sub(1)?;
    Some([0.05, 0.25, 0.5, 0.75, 0.95].map(|share| sorted[place(share, last)]))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place")]
fn place(share: f64, last: usize) -> usize {
    ((share * last as f64).round() as usize).min(last)
}

fn column(table: &LoadedTable, rows: &RecordBatch, index: usize, role: Role) -> ColumnSimilarity {
    let name = table.batch.schema().field(index).name().clone();
    let columns = [table.batch.column(index), rows.column(index)];
    if role == Role::Categorical {
        let [real, synthetic] = columns.map(to_strings);
        return category(name, &real, &synthetic);
    }
    let [real, synthetic] = columns.map(|column| numbers(table, index, column));
    let statistics = [statistics(&real), statistics(&synthetic)];
    let [low, high] = [statistics[0].min, statistics[0].max];
    let is_outside = |value: &&f64| {
        low.is_none_or(|low| **value < low) || high.is_none_or(|high| **value > high)
    };
    let outside = synthetic.iter().flatten().filter(is_outside).count();
    let edges = edges(&real, &synthetic);
    let [of_real, of_synthetic] = statistics;
    ColumnSimilarity {
        name,
        role: role.name(),
        real: of_real,
        synthetic: of_synthetic,
        outside,
        real_shares: shares(&real, &edges),
        synthetic_shares: shares(&synthetic, &edges),
        edges,
        levels: vec![],
    }
}

/// The share of a count.
fn share(count: usize, of: usize) -> f64 {
    count as f64 / of.max(1) as f64
}

fn category(name: String, real: &StringArray, synthetic: &StringArray) -> ColumnSimilarity {
    let counts = |values: &StringArray| -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for level in values.iter().flatten() {
            *counts.entry(level.to_owned()).or_default() += 1;
        }
        counts
    };
    let [of_real, of_synthetic] = [counts(real), counts(synthetic)];
    let unseen = of_synthetic.iter().filter(|(level, _)| !of_real.contains_key(*level));
    let outside = unseen.map(|(_, count)| count).sum();
    let mut levels: Vec<&String> = of_real.keys().collect();
    levels.sort_by_key(|level| std::cmp::Reverse(of_real[*level]));
    levels.truncate(LEVELS);
    let shares = |counts: &BTreeMap<String, usize>, all: usize| -> Vec<f64> {
        let of = |level: &&String| counts.get(*level).copied().unwrap_or(0);
        let mut shown: Vec<usize> = levels.iter().map(of).collect();
        let rest = counts.values().sum::<usize>() - shown.iter().sum::<usize>();
        shown.push(rest);
        shown.into_iter().map(|count| share(count, all)).collect()
    };
    let missing = |values: &StringArray| ColumnStatistics {
        missing: share(values.null_count(), values.len()),
        ..ColumnStatistics::default()
    };
    ColumnSimilarity {
        name,
        role: Role::Categorical.name(),
        real: missing(real),
        synthetic: missing(synthetic),
        outside,
        edges: vec![],
        real_shares: shares(&of_real, real.len()),
        synthetic_shares: shares(&of_synthetic, synthetic.len()),
        levels: levels.into_iter().cloned().chain(["others".to_owned()]).collect(),
    }
}

fn statistics(values: &[Option<f64>]) -> ColumnStatistics {
    let present: Vec<f64> = values.iter().flatten().copied().collect();
    let missing = share(values.len() - present.len(), values.len());
    if present.is_empty() {
        return ColumnStatistics { missing, ..ColumnStatistics::default() };
    }
    let count = present.len() as f64;
    let mean = present.iter().map(|value| value / count).sum::<f64>();
    let variance = present.iter().map(|value| (value - mean).powi(2) / count).sum::<f64>();
    ColumnStatistics {
        missing,
        mean: Some(mean),
        sd: Some(variance.sqrt()),
        min: present.iter().copied().reduce(f64::min),
        max: present.iter().copied().reduce(f64::max),
    }
}

/// The edges of bins for both. Half a percent of the values at each end of either may be in the first and last bin.
fn edges(real: &[Option<f64>], synthetic: &[Option<f64>]) -> Vec<f64> {
    let ends = [real, synthetic].map(|values| {
        let mut values: Vec<f64> = values.iter().flatten().copied().collect();
        values.sort_by(f64::total_cmp);
        let last = values.len().checked_sub(1)?;
        Some((values[place(0.005, last)], values[place(0.995, last)]))
    });
    let ends: Vec<(f64, f64)> = ends.into_iter().flatten().collect();
    let low = ends.iter().map(|end| end.0).fold(f64::INFINITY, f64::min);
    let high = ends.iter().map(|end| end.1).fold(f64::NEG_INFINITY, f64::max);
    if low > high {
        return vec![];
    }
    let (low, high) = if low == high { (low - 0.5, high + 0.5) } else { (low, high) };
    (0..=BINS).map(|bin| low + (high - low) * bin as f64 / BINS as f64).collect()
}

/// The share of the values in each bin; values beyond the edges are in the first and the last.
fn shares(values: &[Option<f64>], edges: &[f64]) -> Vec<f64> {
    let bins = edges.len().saturating_sub(1);
    let mut counts = vec![0_usize; bins];
    for value in values.iter().flatten().filter(|_| bins > 0) {
        let bin = edges.partition_point(|edge| edge <= value).saturating_sub(1);
        counts[bin.min(bins - 1)] += 1;
    }
    counts.into_iter().map(|count| share(count, values.len())).collect()
}

/// The number of pairs of numeric columns, the mean absolute difference of their correlations, and the largest
/// differences.
fn correlations(
    table: &LoadedTable,
    rows: &RecordBatch,
) -> (usize, Option<f64>, Vec<CorrelationDifference>) {
    const SHOWN: usize = 10;
    let numeric = used_columns(table).filter(|(_, role)| *role != Role::Categorical);
    let mut numeric: Vec<(usize, Role)> = numeric.collect();
    // Targets are compared in any case.
    numeric.sort_by_key(|(_, role)| *role != Role::Target);
    numeric.truncate(MOST_CORRELATED.1);
    let few = |batch: &RecordBatch| {
        let step = batch.num_rows().div_ceil(MOST_CORRELATED.0).max(1);
        select(batch, &(0..batch.num_rows()).step_by(step).collect::<Vec<_>>())
    };
    let (real, rows) = (few(&table.batch), few(rows));
    // Missing values are NaN; whether there are any.
    let columns = |batch: &RecordBatch| -> Vec<(Vec<f64>, bool)> {
        let values = |&(place, _): &(usize, Role)| {
            let values = numbers(table, place, batch.column(place));
            let missing = values.iter().any(Option::is_none);
            (values.into_iter().map(|value| value.unwrap_or(f64::NAN)).collect(), missing)
        };
        numeric.iter().map(values).collect()
    };
    let [of_real, of_rows] = [columns(&real), columns(&rows)];
    let pair = |all: &[(Vec<f64>, bool)], a: usize, b: usize| {
        let ((a, gaps), (b, more_gaps)) = (&all[a], &all[b]);
        if !gaps && !more_gaps {
            return correlation(a[..].into(), b[..].into(), None);
        }
        let both = a.iter().zip(b).filter(|(a, b)| !a.is_nan() && !b.is_nan());
        let (a, b): (Vec<f64>, Vec<f64>) = both.unzip();
        correlation(a[..].into(), b[..].into(), None)
    };
    let schema = table.batch.schema();
    let name = |at: usize| schema.field(numeric[at].0).name().clone();
    let mut found = vec![];
    for a in 0..numeric.len() {
        for b in a + 1..numeric.len() {
            if let (Some(real), Some(synthetic)) = (pair(&of_real, a, b), pair(&of_rows, a, b)) {
                found.push(CorrelationDifference { columns: [name(a), name(b)], real, synthetic });
            }
        }
    }
    let off = |one: &CorrelationDifference| (one.real - one.synthetic).abs();
    let mean = found.iter().map(off).sum::<f64>() / found.len().max(1) as f64;
    let (pairs, mean) = (found.len(), (!found.is_empty()).then_some(mean));
    found.sort_by(|a, b| off(b).total_cmp(&off(a)));
    found.truncate(SHOWN);
    (pairs, mean, found)
}

impl ColumnSimilarity {
    /// A value of the column as text: of dates, as a date.
    #[must_use]
    pub fn text(&self, value: f64) -> String {
        if self.role == Role::Date.name() { date_text(value) } else { short(value) }
    }

    /// A standard deviation as text: of dates, in days.
    #[must_use]
    pub fn spread(&self, sd: f64) -> String {
        const DAY: f64 = 86_400.0;
        if self.role == Role::Date.name() { format!("{} d", short(sd / DAY)) } else { short(sd) }
    }
}

/// Seconds since 1970 as a date, or, within the first day, as a time of day.
#[expect(clippy::cast_possible_truncation, reason = "dates of a few thousand years")]
fn date_text(seconds: f64) -> String {
    const DAY: i64 = 86_400;
    let seconds = seconds.round() as i64;
    let (days, rest) = (seconds.div_euclid(DAY), seconds.rem_euclid(DAY));
    let time = format!("{:02}:{:02}", rest / 3600, rest % 3600 / 60);
    if days == 0 && rest > 0 {
        return time;
    }
    // Years begin in March, so that the leap day is the last of a year.
    let shifted = days + 719_468;
    let (era, day) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + i64::from(month <= 2);
    let date = format!("{year:04}-{month:02}-{day:02}");
    if rest == 0 { date } else { format!("{date} {time}") }
}

#[cfg(test)]
mod tests {
    use windlass_table::DEFAULT_MEMORY;

    use super::*;

    fn table(name: &str, folder: &Path, text: &str) -> Table {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        Table::open(&[path], &windlass_table::ReadOptions::default()).unwrap()
    }

    /// A number, a date, a category with gaps and a target.
    fn rows(from: u32, to: u32, off: f64) -> String {
        let row = |row: u32| {
            let kind = ["a", "b", ""][row as usize % 3];
            let (x, day) = (f64::from(row * 37 % 101) + off, 1 + row % 28);
            format!("{x},2024-02-{day:02},{kind},{}\n", 3.0 * x + f64::from(row % 7))
        };
        (from..to).map(row).collect()
    }

    const HEADER: &str = "x,day,kind,y\n";

    fn measure(synthetic: &str, real: &str) -> Similarity {
        let folder = tempfile::tempdir().unwrap();
        let real = table("real.csv", folder.path(), &(HEADER.to_owned() + real));
        let synthetic = table("made.csv", folder.path(), &(HEADER.to_owned() + synthetic));
        let columns = Columns { target: vec!["y".into()], ..Columns::default() };
        Similarity::measure(&synthetic, &real, &columns, DEFAULT_MEMORY, &()).unwrap()
    }

    #[test]
    fn copies_ranges_and_distributions_are_counted() {
        let real = rows(0, 90, 0.0);
        let found = measure(&(rows(0, 4, 0.0) + &rows(4, 64, 200.0)), &real);
        assert_eq!((found.synthetic_rows, found.real_rows, found.copies), (64, 90, 4));
        assert_eq!(found.originals, 0);
        let [x, day, kind, y] = &found.columns[..] else { panic!("{:?}", found.columns) };
        assert_eq!((x.outside, y.role, kind.levels.join(" ")), (60, "target", "a b others".into()));
        assert_eq!(day.text(day.real.min.unwrap()), "2024-02-01");
        assert!((x.real_shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((kind.real.missing - 1.0 / 3.0).abs() < 1e-12);
        assert!(x.synthetic.mean.unwrap() > x.real.mean.unwrap() + 150.0);
        assert!(found.distances.unwrap()[2] > found.real_distances.unwrap()[2]);
        assert!(found.correlations.iter().all(|pair| pair.real.abs() <= 1.0 + 1e-12));
    }

    #[test]
    fn the_rows_of_the_table_are_not_compared_with_themselves() {
        let real = rows(0, 90, 0.0);
        let found = measure(&(real.clone() + &rows(0, 50, 0.001)), &real);
        assert_eq!((found.synthetic_rows, found.originals, found.copies), (50, 90, 0));
        assert!(found.follows_real_rows, "{}", found.in_words());
        assert!(found.in_words().contains("follow single real rows"));
        // In another order they are compared.
        let shuffled = rows(45, 90, 0.0) + &rows(0, 45, 0.0) + &rows(0, 10, 0.5);
        assert_eq!(measure(&shuffled, &real).copies, 90);
    }

    #[test]
    fn dates_are_written() {
        for (seconds, text) in [
            (0.0, "1970-01-01"),
            (951_782_400.0, "2000-02-29"),
            (-86_400.0, "1969-12-31"),
            (45_000.0, "12:30"),
            (1_709_211_600.0, "2024-02-29 13:00"),
        ] {
            assert_eq!(date_text(seconds), text);
        }
    }
}
