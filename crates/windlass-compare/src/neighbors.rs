//! Copies and neighbors of rows: which rows are equal, and how far rows are from the nearest of others.
//!
//! Rows are compared by the features and targets that models use together. Numbers and dates are standardized by the real rows; a
//! category contributes 1 if it differs, and so does a value that is missing in only one of two rows. The cost of a
//! search is queries × rows × columns, so at most [`WORK`] operations are spent on queries that are spread evenly
//! over the rows.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use arrow_array::{Array, ArrayRef, RecordBatch};
use rayon::prelude::*;
use windlass::simd::{add_mismatches, add_squared_differences};
use windlass_table::{DateOrder, LoadedTable, Role, is_numeric, to_f64, to_seconds, to_strings};

/// Operations of a search, about a second on one core.
const WORK: usize = 2_000_000_000;
/// Minimum and maximum number of queries of a search.
const QUERIES: (usize, usize) = (200, 2_000);

/// The columns of features and targets.
pub(crate) fn used_columns(table: &LoadedTable) -> impl Iterator<Item = (usize, Role)> + '_ {
    table.roles.roles.iter().copied().enumerate().filter(|(_, role)| {
        matches!(role, Role::Target | Role::Continuous | Role::Categorical | Role::Date)
    })
}

/// The columns by which rows are compared: without categories of many levels, such as names, which models omit.
fn compared_columns(table: &LoadedTable) -> impl Iterator<Item = (usize, Role)> + '_ {
    used_columns(table).filter(|&(place, role)| {
        role != Role::Categorical || table.profile.columns[place].levels.is_some()
    })
}

fn used_names(table: &LoadedTable) -> Vec<String> {
    let schema = table.batch.schema();
    compared_columns(table).map(|(place, _)| schema.field(place).name().clone()).collect()
}

/// Number of test rows that equal a training row in all features and targets.
pub(crate) fn shared_rows(train: &LoadedTable, test: &LoadedTable) -> usize {
    let names = used_names(train);
    let (Some(known), Some(tested)) = (keys(&train.batch, &names), keys(&test.batch, &names))
    else {
        return 0;
    };
    let known: HashSet<Vec<u8>> = known.into_iter().collect();
    tested.iter().filter(|key| known.contains(*key)).count()
}

/// For each of some rows, the first row of a table that is equal in all features and targets.
pub(crate) fn first_equal(
    table: &LoadedTable,
    among: &RecordBatch,
    rows: &RecordBatch,
) -> Vec<Option<usize>> {
    let mut first: HashMap<Vec<u8>, usize> = HashMap::new();
    for (row, key) in row_keys(table, among).into_iter().enumerate() {
        first.entry(key).or_insert(row);
    }
    row_keys(table, rows).iter().map(|key| first.get(key).copied()).collect()
}

/// The features and targets of every row as bytes; the rows must have the columns of the table.
pub(crate) fn row_keys(table: &LoadedTable, rows: &RecordBatch) -> Vec<Vec<u8>> {
    keys(rows, &used_names(table)).expect("the columns of the table")
}

/// The values of every row as bytes; `None` if a column is missing.
fn keys(rows: &RecordBatch, columns: &[String]) -> Option<Vec<Vec<u8>>> {
    let mut keys = vec![vec![]; rows.num_rows()];
    for column in columns {
        let column = rows.column_by_name(column)?;
        if is_numeric(column.data_type()) {
            // 1 and 1.0 are equal, and so are 0 and −0.
            for (key, value) in keys.iter_mut().zip(&to_f64(column)) {
                key.push(u8::from(value.is_some()));
                key.extend((value.unwrap_or(0.0) + 0.0).to_bits().to_le_bytes());
            }
        } else {
            for (key, value) in keys.iter_mut().zip(&to_strings(column)) {
                let value = value.map(str::as_bytes);
                key.extend(value.map_or(u64::MAX, |value| value.len() as u64).to_le_bytes());
                key.extend(value.unwrap_or_default());
            }
        }
    }
    Some(keys)
}

/// A column of features or targets, with the scale of the real rows.
struct Axis {
    place: usize,
    role: Role,
    mean: f64,
    sd: f64,
}

/// The scales of the columns, by which distances are measured.
pub(crate) struct Space<'a> {
    table: &'a LoadedTable,
    axes: Vec<Axis>,
}

impl<'a> Space<'a> {
    /// The scales of real rows.
    pub(crate) fn new(table: &'a LoadedTable) -> Self {
        let axis = |(place, role): (usize, Role)| {
            let column = table.batch.column(place);
            let values: Vec<f64> = if role == Role::Categorical {
                vec![]
            } else {
                numbers(table, place, column).into_iter().flatten().collect()
            };
            let count = (values.len() as f64).max(1.0);
            let mean = values.iter().sum::<f64>() / count;
            let sd =
                (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
            let sd = if sd > 0.0 && sd.is_finite() { sd } else { 1.0 };
            Axis { place, role, mean, sd }
        };
        Self { table, axes: compared_columns(table).map(axis).collect() }
    }

    /// Rows with the columns of the real rows as points.
    pub(crate) fn points(&self, rows: &RecordBatch) -> Points {
        let mut points = Points { rows: rows.num_rows(), numbers: vec![], levels: vec![] };
        for axis in &self.axes {
            let column = rows.column(axis.place);
            if axis.role == Role::Categorical {
                let code = |value: Option<&str>| value.map_or(0, hash);
                points.levels.push(to_strings(column).iter().map(code).collect());
                continue;
            }
            let values = numbers(self.table, axis.place, column);
            #[expect(clippy::cast_possible_truncation, reason = "distances need few digits")]
            let scaled = |value: &Option<f64>| {
                value.map_or(0.0, |value| ((value - axis.mean) / axis.sd) as f32)
            };
            points.numbers.push(values.iter().map(scaled).collect());
            if self.table.profile.columns[axis.place].missing > 0 {
                points.levels.push(values.iter().map(|value| u32::from(value.is_none())).collect());
            }
        }
        points
    }

    /// Rows spread evenly over `rows` rows, as many as can be searched for among `reference` rows.
    pub(crate) fn queries(&self, rows: usize, reference: usize) -> Vec<usize> {
        let cost = reference.max(1) * self.axes.len().max(1);
        let most = (WORK / cost).clamp(QUERIES.0, QUERIES.1);
        (0..rows).step_by(rows.div_ceil(most).max(1)).collect()
    }
}

/// The numbers of a column, dates and times in seconds.
pub(crate) fn numbers(table: &LoadedTable, place: usize, column: &ArrayRef) -> Vec<Option<f64>> {
    let values = if is_numeric(column.data_type()) {
        to_f64(column)
    } else {
        let order = table.profile.columns[place].date_order;
        to_seconds(column, order.unwrap_or(DateOrder::YearMonthDay))
    };
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    values.iter().map(finite).collect()
}

/// A number for a text, never 0, which stands for a missing value.
#[expect(clippy::cast_possible_truncation, reason = "32 bits are enough for a few levels")]
fn hash(text: &str) -> u32 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    (hasher.finish() as u32).max(1)
}

/// Rows as points, column by column.
pub(crate) struct Points {
    rows: usize,
    numbers: Vec<Vec<f32>>,
    levels: Vec<Vec<u32>>,
}

/// The nearest row to a query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Nearest {
    pub(crate) row: usize,
    pub(crate) distance: f64,
    /// The distance to the second nearest row.
    second: f64,
}

impl Nearest {
    /// The distance to the nearest row other than `row`.
    pub(crate) fn without(&self, row: usize) -> f64 {
        if self.row == row { self.second } else { self.distance }
    }
}

impl Points {
    /// The nearest of these rows to each of some rows of `queries`; `leave_one_out` if those are these rows
    /// themselves, none of which is its own neighbor.
    pub(crate) fn nearest(
        &self,
        queries: &Self,
        rows: &[usize],
        leave_one_out: bool,
    ) -> Vec<Nearest> {
        /// Rows whose distances stay in the cache.
        const BLOCK: usize = 512;
        let of_query = |&query: &usize| {
            let (mut nearest, mut second) = ((f32::INFINITY, 0), f32::INFINITY);
            let mut squares = [0.0_f32; BLOCK];
            for first in (0..self.rows).step_by(BLOCK) {
                let end = (first + BLOCK).min(self.rows);
                let squares = &mut squares[..end - first];
                squares.fill(0.0);
                for (own, other) in self.numbers.iter().zip(&queries.numbers) {
                    add_squared_differences(squares, &own[first..end], other[query]);
                }
                for (own, other) in self.levels.iter().zip(&queries.levels) {
                    add_mismatches(squares, &own[first..end], other[query]);
                }
                for (place, &square) in squares.iter().enumerate() {
                    let row = first + place;
                    if leave_one_out && row == query {
                        continue;
                    }
                    if square < nearest.0 {
                        second = nearest.0;
                        nearest = (square, row);
                    } else if square < second {
                        second = square;
                    }
                }
            }
            let [distance, second] = [nearest.0, second].map(|square| f64::from(square).sqrt());
            Nearest { row: nearest.1, distance, second }
        };
        rows.par_iter().with_max_len(16).map(of_query).collect()
    }
}

/// How many rows are far closer to a real row than real rows are to each other.
///
/// A row is close if its distance to the nearest real row is less than a tenth of the distance from that row to
/// the nearest *other* real row. Real rows are judged by the same rule, which makes the measure independent of the
/// number of columns and of how dense the rows are: new rows of the same distribution are close as often as real
/// rows are.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Closeness {
    /// Rows that were checked, and real rows.
    pub(crate) checked: usize,
    pub(crate) checked_real: usize,
    /// Those that are close.
    pub(crate) close: usize,
    pub(crate) close_real: usize,
    /// The distances to the nearest real row, ascending; of a real row, to the nearest other one.
    pub(crate) distances: Vec<f64>,
    pub(crate) real_distances: Vec<f64>,
}

impl Closeness {
    /// Compares `rows` with real rows: with those of the table, or with those of `held_out`, which are compared
    /// with the table. `is_related` says that it is known that a row was derived from a real row.
    pub(crate) fn measure(
        space: &Space<'_>,
        held_out: Option<&RecordBatch>,
        rows: &RecordBatch,
        is_related: impl Fn(usize, usize) -> bool,
    ) -> Self {
        let table = space.points(&space.table.batch);
        let test = held_out.map(|rows| space.points(rows));
        let (real, alone) = (test.as_ref().unwrap_or(&table), test.is_none());
        if table.rows < 3 || real.rows < 3 || rows.num_rows() == 0 {
            return Self::default();
        }
        let points = space.points(rows);
        let queries = space.queries(points.rows, real.rows);
        let real_queries = space.queries(table.rows, real.rows);
        let found = real.nearest(&points, &queries, false);
        let found_real = real.nearest(&table, &real_queries, alone);
        // The distances of these real rows to the rows of the table.
        let mut asked: Vec<usize> =
            found.iter().chain(&found_real).map(|nearest| nearest.row).collect();
        asked.sort_unstable();
        asked.dedup();
        let spacing: HashMap<usize, Nearest> =
            asked.iter().copied().zip(table.nearest(real, &asked, alone)).collect();
        let is_close = |distance: f64, usual: f64| usual > 0.0 && distance < 0.1 * usual;
        let close = queries.iter().zip(&found).filter(|(row, nearest)| {
            is_close(nearest.distance, spacing[&nearest.row].distance)
                && !is_related(**row, nearest.row)
        });
        let close_real = real_queries.iter().zip(&found_real).filter(|(row, nearest)| {
            is_close(nearest.distance, spacing[&nearest.row].without(**row))
        });
        let sorted = |found: &[Nearest]| {
            let mut distances: Vec<f64> = found.iter().map(|nearest| nearest.distance).collect();
            distances.sort_by(f64::total_cmp);
            distances
        };
        Self {
            checked: queries.len(),
            checked_real: real_queries.len(),
            close: close.count(),
            close_real: close_real.count(),
            distances: sorted(&found),
            real_distances: sorted(&found_real),
        }
    }

    /// Whether more rows are close than chance explains: at least three, five percent more than of the real rows,
    /// and more than three standard errors.
    pub(crate) fn is_suspicious(&self) -> bool {
        if self.close < 3 {
            return false;
        }
        let (rows, real) = (self.checked as f64, self.checked_real as f64);
        let (share, usual) = (self.close as f64 / rows, self.close_real as f64 / real);
        let pooled = (self.close + self.close_real) as f64 / (rows + real);
        let error = (pooled * (1.0 - pooled) * (1.0 / rows + 1.0 / real)).sqrt();
        share - usual > 0.05 && share - usual > 3.0 * error
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use arrow_array::{Float64Array, StringArray};
    use windlass::{Seed, Stream};
    use windlass_table::{Columns, DEFAULT_MEMORY, Table};

    use super::*;

    fn draw(step: u64, row: usize) -> f64 {
        Seed(3).at(Stream::Sample, step, row as u64).normal()
    }

    /// Rows of a number, a category and a target, each moved by `noise`.
    fn rows(count: usize, step: u64, noise: f64) -> RecordBatch {
        let x = (0..count).map(|row| draw(step, row) + noise * draw(90, row));
        let y = (0..count).map(|row| draw(step, row).powi(2) + noise * draw(91, row));
        let kind = (0..count).map(|row| ["a", "b", "c"][row % 3]);
        RecordBatch::try_from_iter([
            ("x", Arc::new(x.collect::<Float64Array>()) as ArrayRef),
            ("kind", Arc::new(kind.map(Some).collect::<StringArray>())),
            ("y", Arc::new(y.map(|y| 3.0 * y).collect::<Float64Array>())),
        ])
        .unwrap()
    }

    fn loaded(batch: &RecordBatch) -> LoadedTable {
        let table = Table::from_batch(batch, Path::new("t")).unwrap();
        let columns = Columns { target: vec!["y".into()], ..Columns::default() };
        LoadedTable::load(&table, &columns, false, DEFAULT_MEMORY, &()).unwrap()
    }

    #[test]
    fn the_nearest_rows_are_those_of_a_direct_search() {
        let table = loaded(&rows(700, 1, 0.0));
        let space = Space::new(&table);
        let (real, other) = (space.points(&table.batch), space.points(&rows(40, 2, 0.0)));
        let distance = |query: usize, row: usize| {
            let squares = real.numbers.iter().zip(&other.numbers);
            let squares: f32 = squares.map(|(a, b)| (a[row] - b[query]).powi(2)).sum();
            let levels = real.levels.iter().zip(&other.levels);
            squares + levels.map(|(a, b)| f32::from(u8::from(a[row] != b[query]))).sum::<f32>()
        };
        let queries: Vec<usize> = (0..40).collect();
        for (query, found) in real.nearest(&other, &queries, false).into_iter().enumerate() {
            let mut all: Vec<(f32, usize)> =
                (0..700).map(|row| (distance(query, row), row)).collect();
            all.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert_eq!(found.row, all[0].1);
            assert!((found.distance.powi(2) - f64::from(all[0].0)).abs() < 1e-5);
            assert!((found.without(found.row).powi(2) - f64::from(all[1].0)).abs() < 1e-5);
        }
        // A row is not its own neighbor.
        let alone = real.nearest(&real, &[5], true);
        assert!(alone[0].row != 5 && alone[0].distance > 0.0);
    }

    #[test]
    fn new_rows_are_no_suspects_and_noisy_copies_are() {
        let table = loaded(&rows(300, 1, 0.0));
        let space = Space::new(&table);
        let of = |rows: &RecordBatch, related: bool| {
            Closeness::measure(&space, None, rows, |_, _| related)
        };
        let new = of(&rows(300, 2, 0.0), false);
        assert!(!new.is_suspicious(), "{} of {}", new.close, new.checked);
        let copies = of(&rows(300, 1, 1e-3), false);
        assert!(copies.is_suspicious() && copies.close > 100, "{}", copies.close);
        // Unless their sources are known.
        assert!(!of(&rows(300, 1, 1e-3), true).is_suspicious());
        // The same with held-out rows in another table.
        let test = rows(200, 4, 0.0);
        let measure = |rows: &RecordBatch| {
            Closeness::measure(&space, Some(&test), rows, |_, _| false).is_suspicious()
        };
        assert!(!measure(&rows(200, 5, 0.0)) && measure(&rows(200, 4, 1e-3)));
    }

    #[test]
    fn equal_rows_are_found_in_any_type() {
        let table = loaded(&rows(50, 1, 0.0));
        let found = first_equal(&table, &table.batch, &rows(60, 1, 0.0));
        assert_eq!(found[..50], (0..50).map(Some).collect::<Vec<_>>());
        assert!(found[50..].iter().all(Option::is_none));
        assert_eq!(shared_rows(&table, &loaded(&rows(60, 1, 0.0))), 50);
    }
}
