//! Synthetic tables: the cosine and the linear model of the experiments.
//!
//! ```text
//! cosine:   x ~ U(−3π, 3π),            y = cos x + ε        ε ~ N(0, σ²)
//! linear:   x ~ N(0, I),  b, b₀ ~ N(0, 1),   y = xᵀb + b₀ + ε
//! ```
//!
//! Every row depends only on the seed and its index: a longer table begins with the shorter one.

use std::f64::consts::PI;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use windlass::{Seed, Stream};

/// Random streams of the tables; training sets come last.
const COSINE: u64 = 0;
const COEFFICIENTS: u64 = 1;
const VALID: u64 = 2;
const FIRST_SET: u64 = 3;

/// Noisy values of the cosine, in columns `x` and `y`.
///
/// If equidistant, `x` goes from −3π to 3π in equal steps.
///
/// ```
/// use windlass_paper::data;
///
/// let table = data::cosine(30, 0.1, false, 0);
/// assert_eq!((table.num_rows(), table.num_columns()), (30, 2));
/// ```
#[must_use]
pub fn cosine(rows: usize, noise: f64, equidistant: bool, seed: u64) -> RecordBatch {
    let steps = rows.saturating_sub(1).max(1) as f64;
    let row = |row: usize| {
        let mut draws = Seed(seed).at(Stream::Made, COSINE, row as u64);
        let share = draws.uniform();
        let share = if equidistant { row as f64 / steps } else { share };
        let x = 3.0 * PI * (2.0 * share - 1.0);
        (x, libm::cos(x) + noise * draws.normal())
    };
    let (x, y): (Vec<f64>, Vec<f64>) = (0..rows).map(row).unzip();
    table([("x".to_owned(), numbers(x)), ("y".to_owned(), numbers(y))])
}

/// Concatenated training sets of one linear model: column `set` numbers them from 0, `x1`, `x2`, … are features,
/// `y` is the target.
///
/// ```
/// use windlass_paper::data;
///
/// let table = data::linear(100, 20, 19, 0.1, 0);
/// assert_eq!((table.num_rows(), table.num_columns()), (2000, 21));
/// ```
#[must_use]
pub fn linear(rows: usize, sets: usize, features: usize, noise: f64, seed: u64) -> RecordBatch {
    let places = (0..sets).flat_map(|set| (0..rows).map(move |row| (set as u64, row as u64)));
    let numbers = (0_i64..).take(sets).flat_map(|set| std::iter::repeat_n(set, rows));
    let sets = ("set".to_owned(), Arc::new(Int64Array::from_iter_values(numbers)) as ArrayRef);
    let places = places.map(|(set, row)| (FIRST_SET + set, row));
    table([sets].into_iter().chain(linear_columns(places, features, noise, seed)))
}

/// New rows of the model of [`linear`] with the same seed, without the column `set`.
///
/// ```
/// use windlass_paper::data;
///
/// let table = data::linear_valid(1000, 19, 0.1, 0);
/// assert_eq!((table.num_rows(), table.num_columns()), (1000, 20));
/// ```
#[must_use]
pub fn linear_valid(rows: usize, features: usize, noise: f64, seed: u64) -> RecordBatch {
    let places = (0..rows).map(|row| (VALID, row as u64));
    table(linear_columns(places, features, noise, seed))
}

/// The features and the target of rows, given by stream and row index.
fn linear_columns(
    places: impl Iterator<Item = (u64, u64)>,
    features: usize,
    noise: f64,
    seed: u64,
) -> impl Iterator<Item = (String, ArrayRef)> {
    let seed = Seed(seed);
    let mut draws = seed.shared(Stream::Made, COEFFICIENTS);
    let intercept = draws.normal();
    let b: Vec<f64> = (0..features).map(|_| draws.normal()).collect();
    let mut columns = vec![Vec::new(); features];
    let mut targets = Vec::new();
    for (step, row) in places {
        let mut draws = seed.at(Stream::Made, step, row);
        let mut y = intercept;
        for (column, coefficient) in columns.iter_mut().zip(&b) {
            let x = draws.normal();
            column.push(x);
            y += x * coefficient;
        }
        targets.push(y + noise * draws.normal());
    }
    let named = (1..).zip(columns).map(|(at, column)| (format!("x{at}"), numbers(column)));
    named.chain([("y".to_owned(), numbers(targets))])
}

fn numbers(values: Vec<f64>) -> ArrayRef {
    Arc::new(Float64Array::from(values))
}

fn table(columns: impl IntoIterator<Item = (String, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).expect("every row gave every column a value")
}
