//! Gaussian process regression.
//!
//! Every target has a process of its own, since targets differ in the columns that matter. Columns are centered
//! and divided by their standard deviation (those with two values by the difference), targets standardized:
//!
//! ```text
//! y = f(z) + ε,   f ~ GP(0, k),   ε ~ N(0, σ²/w)
//! k(z, z') = s² (1 + u + u²/3) exp(−u) + v (1 + z·z'),   u² = 5 Σⱼ (zⱼ − z'ⱼ)²/ℓⱼ²
//! ```
//!
//! a Matérn-5/2 kernel with a length for every column (one for all if there are more than 30), a linear kernel,
//! and noise that is inversely proportional to the row's weight (weights have mean 1). The logarithms of `s²`, `ℓ`,
//! `v` and `σ²` maximize the marginal likelihood times a weak [prior](Prior), by L-BFGS from several starts.
//! Rasmussen, Williams, *Gaussian Processes for Machine Learning*, 2006, chapters 2, 4 and 5.
//!
//! Large tables, by rules that depend on the number of rows only:
//!
//! | Rows | Starts | Hyperparameters | Predictions |
//! | :-- | :-- | :-- | :-- |
//! | up to 500 | on all rows | on all rows | exact |
//! | up to 2,000 | on a random sample of 500 | from the best of them, on all rows | exact |
//! | more | on a random sample of 500 | from the best of them, on a random sample of 1,000 | all rows, through the sample (FITC) |
//!
//! FITC: Quiñonero-Candela, Rasmussen, *A Unifying View of Sparse Approximate Gaussian Process Regression*, 2005.
//! Standard deviations are then those of the exact process of the sample, which are larger.

use std::f64::consts::PI;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::{self, factor::LltRegularization};
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Accum, Mat, MatMut, Par, Spec};
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use windlass::simd::vectorized;
use windlass::{Dataset, Seed, Stream};

use crate::Result;

/// The most rows that predictions are exact for.
const MAX_EXACT: usize = 2000;
/// Rows of the sample that represents a larger table.
const SAMPLE: usize = 1000;
/// The most rows that every start sees.
const START_ROWS: usize = 500;
/// The most columns with a length of their own.
const MAX_LENGTHS: usize = 30;
/// The most steps from a start.
const STEPS: usize = 100;
/// The most steps on more rows than the starts saw.
const FURTHER_STEPS: usize = 15;
/// The most starts.
const MAX_STARTS: usize = 100;

/// Settings of a Gaussian process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GaussianProcessSettings {
    /// Starts of the optimization of hyperparameters.
    pub starts: usize,
    /// Whether every column has a length of its own; by default if there are at most 30.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length_per_column: Option<bool>,
}

impl Default for GaussianProcessSettings {
    fn default() -> Self {
        Self { starts: 2, length_per_column: None }
    }
}

impl GaussianProcessSettings {
    /// Refuses what is out of range.
    pub fn check(&self) -> Result<()> {
        if (1..=MAX_STARTS).contains(&self.starts) {
            return Ok(());
        }
        let (name, range, got) = ("starts", "[1, 100]", self.starts as f64);
        Err(windlass::Error::OutOfRange { name, range, got }.into())
    }
}

/// A fitted Gaussian process for every target.
#[derive(Debug, Clone, PartialEq)]
pub struct GaussianProcess {
    /// Of every column, what is subtracted and then divided by.
    pub(crate) column_offset: Vec<f64>,
    pub(crate) column_scale: Vec<f64>,
    /// The rows that predictions depend on: all, or the sample of a large table.
    rows: Rows,
    pub(crate) targets: Vec<TargetProcess>,
}

/// The process of a target.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TargetProcess {
    pub(crate) kernel: Kernel,
    /// The coefficient of the kernel of every row.
    pub(crate) coefficients: Vec<f64>,
    pub(crate) offset: f64,
    pub(crate) scale: f64,
}

/// Hyperparameters, for standardized columns and targets.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kernel {
    /// Variance `s²` of the Matérn kernel.
    pub(crate) signal: f64,
    /// Lengths `ℓ`: one for every column, or one for all.
    pub(crate) lengths: Vec<f64>,
    /// Variance `v` of the linear kernel.
    pub(crate) linear: f64,
    /// Variance `σ²` of the noise of a row of weight 1.
    pub(crate) noise: f64,
}

impl Kernel {
    fn from_logs(logs: &[f64]) -> Self {
        let values: Vec<f64> = logs.iter().map(|&log| libm::exp(log)).collect();
        Self::from_values(&values)
    }

    /// In the order of [`values`](Self::values).
    fn from_values(values: &[f64]) -> Self {
        let last = values.len() - 1;
        let (signal, linear, noise) = (values[0], values[last - 1], values[last]);
        Self { signal, lengths: values[1..last - 1].to_vec(), linear, noise }
    }

    fn values(&self) -> Vec<f64> {
        let ends = [self.linear, self.noise];
        [self.signal].iter().chain(&self.lengths).chain(&ends).copied().collect()
    }

    pub(crate) fn length(&self, column: usize) -> f64 {
        self.lengths[if self.lengths.len() == 1 { 0 } else { column }]
    }

    /// `k(z, z)`.
    fn at_zero(&self, square_norm: f64) -> f64 {
        self.signal + self.linear * (1.0 + square_norm)
    }
}

/// Of a squared distance in lengths, the Matérn-5/2 kernel, and the factor of a column's squared distance in its
/// derivative by the logarithm of that column's length.
#[inline(always)]
fn matern(square: f64) -> (f64, f64) {
    // Farther away both are 0.
    let u = (5.0 * square.min(1e6)).sqrt();
    let decay = libm::exp(-u);
    ((1.0 + u + u * u / 3.0) * decay, 5.0 / 3.0 * (1.0 + u) * decay)
}

/// Standardized rows, column by column, and their noise in proportion to `σ²`.
#[derive(Debug, Clone, PartialEq)]
struct Rows {
    columns: Vec<f64>,
    noise: Vec<f64>,
}

impl Rows {
    fn count(&self) -> usize {
        self.noise.len()
    }

    fn width(&self) -> usize {
        self.columns.len() / self.count()
    }

    fn row(&self, row: usize) -> Vec<f64> {
        row_of(&self.columns, self.count(), row)
    }

    fn select(&self, rows: &[usize]) -> Self {
        let pick = |list: &[f64]| rows.iter().map(|&row| list[row]).collect::<Vec<f64>>();
        let columns = self.columns.chunks_exact(self.count()).flat_map(pick).collect();
        Self { columns, noise: pick(&self.noise) }
    }

    /// The columns, each divided by its length.
    fn in_lengths(&self, kernel: &Kernel) -> Vec<f64> {
        let mut columns = self.columns.clone();
        for (index, column) in columns.chunks_exact_mut(self.count()).enumerate() {
            let length = kernel.length(index);
            for value in column.iter_mut() {
                *value /= length;
            }
        }
        columns
    }

    /// The covariances of all rows with each other, without noise: the lower triangle.
    fn covariances(&self, kernel: &Kernel) -> Mat<f64> {
        let (n, scaled) = (self.count(), self.in_lengths(kernel));
        let mut out = Mat::zeros(n, n);
        for j in 0..n {
            let (near, z) = (row_of(&scaled, n, j), self.row(j));
            kernel_column(&scaled, &near, kernel, &mut out.col_as_slice_mut(j)[j..]);
            add_linear(&self.columns, &z, kernel.linear, &mut out.col_as_slice_mut(j)[j..]);
        }
        out
    }
}

/// A row of a table that is stored column by column.
fn row_of(columns: &[f64], count: usize, row: usize) -> Vec<f64> {
    columns.chunks_exact(count).map(|column| column[row]).collect()
}

/// The Matérn kernel between a row and the last rows of a table, as many as `out` has.
fn kernel_column(scaled: &[f64], row: &[f64], kernel: &Kernel, out: &mut [f64]) {
    squares(scaled, row, out);
    for value in out.iter_mut() {
        *value = kernel.signal * matern(*value).0;
    }
}

/// Squared distances between a row and the last rows of a table, as many as `out` has.
fn squares(columns: &[f64], row: &[f64], out: &mut [f64]) {
    vectorized(
        out,
        #[inline(always)]
        |out| {
            out.fill(0.0);
            for (column, &value) in columns.chunks_exact(columns.len() / row.len()).zip(row) {
                let rest = &column[column.len() - out.len()..];
                for (sum, other) in out.iter_mut().zip(rest) {
                    *sum += (other - value) * (other - value);
                }
            }
        },
    );
}

/// Adds the linear kernel between a row and the last rows of a table.
fn add_linear(columns: &[f64], row: &[f64], variance: f64, out: &mut [f64]) {
    vectorized(
        out,
        #[inline(always)]
        |out| {
            for value in out.iter_mut() {
                *value += variance;
            }
            for (column, &value) in columns.chunks_exact(columns.len() / row.len()).zip(row) {
                let rest = &column[column.len() - out.len()..];
                for (sum, other) in out.iter_mut().zip(rest) {
                    *sum += variance * other * value;
                }
            }
        },
    );
}

/// A sum in eight lanes, whose order does not depend on the machine.
#[inline(always)]
fn lanes(count: usize, term: impl Fn(usize) -> f64) -> f64 {
    let mut sums = [0.0; 8];
    let whole = count / 8 * 8;
    for start in (0..whole).step_by(8) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum += term(start + lane);
        }
    }
    let rest: f64 = (whole..count).map(term).sum();
    sums.iter().sum::<f64>() + rest
}

/// A weak prior of hyperparameters, within bounds: their logarithms are normal. It matters for tables of some dozen
/// rows, where the likelihood alone may explain noise by short lengths. Above the mode the logarithms of lengths have
/// a larger standard deviation than below, so that columns that do not matter can have very long ones.
///
/// | | Mode | Standard deviation of the logarithm | Bounds |
/// | :-- | :-- | :-- | :-- |
/// | `s²` | 1 | 1 | 10⁻³, 10⁴ |
/// | `ℓ` | 3 √columns | 1 below, 3 above | 0.02, 10⁵ |
/// | `v` | 0.03/columns | 2 | 10⁻⁶/columns, 10²/columns |
/// | `σ²` | 0.1 | 1 | 10⁻⁶, 4 |
struct Prior {
    mode: Vec<f64>,
    /// Standard deviations below and above the mode.
    below: Vec<f64>,
    above: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Prior {
    fn new(columns: usize, lengths: usize) -> Self {
        let d = columns.max(1) as f64;
        let list = |signal: f64, length: f64, linear: f64, noise: f64| {
            let mut list = vec![length; lengths + 3];
            (list[0], list[lengths + 1], list[lengths + 2]) = (signal, linear, noise);
            list
        };
        let logs = |list: Vec<f64>| list.into_iter().map(libm::log).collect();
        Self {
            mode: logs(list(1.0, 3.0 * d.sqrt(), 0.03 / d, 0.1)),
            below: list(1.0, 1.0, 2.0, 1.0),
            above: list(1.0, 3.0, 2.0, 1.0),
            low: logs(list(1e-3, 0.02, 1e-6 / d, 1e-6)),
            high: logs(list(1e4, 1e5, 1e2 / d, 4.0)),
        }
    }

    fn clamp(&self, logs: &mut [f64]) {
        for (index, log) in logs.iter_mut().enumerate() {
            *log = log.clamp(self.low[index], self.high[index]);
        }
    }

    /// A start: the mode, or lengths that are shorter or longer than it, with a seeded perturbation.
    fn start(&self, number: usize, seed: Seed) -> Vec<f64> {
        let mut logs = self.mode.clone();
        if number > 0 {
            let (length, noise) = if number % 2 == 1 { (-1.2, -2.0) } else { (1.2, 1.0) };
            let last = logs.len() - 1;
            for (index, log) in logs[1..last - 1].iter_mut().enumerate() {
                let draw = seed.at(Stream::Weights, number as u64, index as u64).normal();
                *log += length + 0.3 * draw;
            }
            logs[last] += noise;
            self.clamp(&mut logs);
        }
        logs
    }

    /// Adds to the negative logarithm of the likelihood and to its gradient.
    fn penalize(&self, logs: &[f64], value: &mut f64, gradient: &mut [f64]) {
        for (index, log) in logs.iter().enumerate() {
            let off = log - self.mode[index];
            let sd = if off > 0.0 { self.above[index] } else { self.below[index] };
            *value += 0.5 * (off / sd).powi(2);
            gradient[index] += off / (sd * sd);
        }
    }
}

/// Rows that hyperparameters are optimized on.
struct Problem<'a> {
    rows: &'a Rows,
    /// `1 + z·z'`: the lower triangle.
    gram: Mat<f64>,
}

/// Matrices of an evaluation, of which the lower triangles are used.
struct Workspace {
    factor: Mat<f64>,
    matern: Mat<f64>,
    slope: Mat<f64>,
    inverse: Mat<f64>,
    memory: MemBuffer,
}

impl Workspace {
    fn new(n: usize) -> Self {
        let matrix = || Mat::zeros(n, n);
        let memory = MemBuffer::new(llt::inverse::inverse_scratch::<f64>(n, Par::Seq));
        Self { factor: matrix(), matern: matrix(), slope: matrix(), inverse: matrix(), memory }
    }
}

impl<'a> Problem<'a> {
    fn new(rows: &'a Rows) -> Self {
        let n = rows.count();
        let mut gram = Mat::zeros(n, n);
        for j in 0..n {
            add_linear(&rows.columns, &rows.row(j), 1.0, &mut gram.col_as_slice_mut(j)[j..]);
        }
        Self { rows, gram }
    }

    /// The logarithm of the marginal likelihood of standardized targets, and its gradient by the logarithms of the
    /// hyperparameters; `None` if the covariances are not positive definite.
    ///
    /// ```text
    /// L = −½ yᵀα − ½ log|K| − ½ n log 2π,   ∂L/∂θ = ½ Σᵢⱼ (αᵢαⱼ − K⁻¹ᵢⱼ) ∂Kᵢⱼ/∂θ,   α = K⁻¹y
    /// ```
    fn likelihood(
        &self,
        y: &[f64],
        logs: &[f64],
        space: &mut Workspace,
    ) -> Option<(f64, Vec<f64>)> {
        let (n, kernel) = (y.len(), Kernel::from_logs(logs));
        let scaled = self.rows.in_lengths(&kernel);
        for j in 0..n {
            let factor = &mut space.factor.col_as_slice_mut(j)[j..];
            let gram = &self.gram.col_as_slice(j)[j..];
            let (values, slopes) = (
                &mut space.matern.col_as_slice_mut(j)[j..],
                &mut space.slope.col_as_slice_mut(j)[j..],
            );
            squares(&scaled, &row_of(&scaled, n, j), factor);
            for (i, value) in factor.iter_mut().enumerate() {
                let (matern, slope) = matern(*value);
                (values[i], slopes[i]) = (kernel.signal * matern, kernel.signal * slope);
                *value = values[i] + kernel.linear * gram[i];
            }
            factor[0] += kernel.noise * self.rows.noise[j];
        }
        factorize(&mut space.factor)?;
        let factor = space.factor.as_ref();
        let mut solved = column(y);
        solve_lower_triangular_in_place(factor, solved.as_mut(), Par::Seq);
        let squares = solved.col_as_slice(0).iter().map(|u| u * u).sum::<f64>();
        let log_root = (0..n).map(|i| libm::log(factor[(i, i)])).sum::<f64>();
        let value = -0.5 * squares - log_root - 0.5 * n as f64 * libm::log(2.0 * PI);
        solve_upper_triangular_in_place(factor.transpose(), solved.as_mut(), Par::Seq);
        llt::inverse::inverse(
            space.inverse.as_mut(),
            factor,
            Par::Seq,
            MemStack::new(&mut space.memory),
        );
        let gradient = self.gradient(&kernel, &scaled, solved.col_as_slice(0), space);
        value.is_finite().then_some((value, gradient))
    }

    fn gradient(
        &self,
        kernel: &Kernel,
        scaled: &[f64],
        alpha: &[f64],
        space: &Workspace,
    ) -> Vec<f64> {
        let (n, lengths) = (alpha.len(), kernel.lengths.len());
        let mut gradient = vec![0.0; lengths + 3];
        let mut row_weights = vec![0.0; n];
        for j in 0..n {
            let inverse = &space.inverse.col_as_slice(j)[j + 1..];
            let slope = &space.slope.col_as_slice(j)[j + 1..];
            let matern = &space.matern.col_as_slice(j)[j + 1..];
            let gram = &self.gram.col_as_slice(j)[j + 1..];
            let weights = &mut row_weights[..n - j - 1];
            let others = &alpha[j + 1..];
            // Both triangles count: ½ · 2. The diagonal counts once.
            let diagonal = 0.5 * (alpha[j] * alpha[j] - space.inverse[(j, j)]);
            vectorized(
                (&mut gradient, weights),
                #[inline(always)]
                |(gradient, weights)| {
                    let count = weights.len();
                    for (i, weight) in weights.iter_mut().enumerate() {
                        *weight = alpha[j] * others[i] - inverse[i];
                    }
                    gradient[0] += lanes(count, |i| weights[i] * matern[i]);
                    gradient[lengths + 1] += lanes(count, |i| weights[i] * gram[i]);
                    weights.iter_mut().zip(slope).for_each(|(weight, slope)| *weight *= slope);
                    for (index, column) in scaled.chunks_exact(n).enumerate() {
                        let (own, rest) = (column[j], &column[j + 1..][..count]);
                        let sum = lanes(count, |i| weights[i] * (rest[i] - own) * (rest[i] - own));
                        gradient[1 + if lengths == 1 { 0 } else { index }] += sum;
                    }
                },
            );
            gradient[0] += diagonal * kernel.signal;
            gradient[lengths + 1] += diagonal * self.gram[(j, j)];
            gradient[lengths + 2] += diagonal * kernel.noise * self.rows.noise[j];
        }
        gradient[lengths + 1] *= kernel.linear;
        gradient
    }

    /// The negative logarithm of the posterior density of hyperparameters at a local minimum, and where it is.
    fn optimize(
        &self,
        y: &[f64],
        prior: &Prior,
        start: Vec<f64>,
        steps: usize,
    ) -> Option<(f64, Vec<f64>)> {
        let mut space = Workspace::new(y.len());
        minimize(start, (&prior.low, &prior.high), steps, |logs| {
            let (value, mut gradient) = self.likelihood(y, logs, &mut space)?;
            for slope in &mut gradient {
                *slope = -*slope;
            }
            let mut value = -value;
            prior.penalize(logs, &mut value, &mut gradient);
            Some((value, gradient))
        })
    }
}

fn column(values: &[f64]) -> Mat<f64> {
    Mat::from_fn(values.len(), 1, |i, _| values[i])
}

/// The Cholesky factor, in place, from and in the lower triangle; `None` if it is not positive definite.
fn factorize(matrix: &mut Mat<f64>) -> Option<()> {
    let n = matrix.nrows();
    let scratch = llt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Spec::default());
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    let (regularization, params) = (LltRegularization::default(), Spec::default());
    llt::factor::cholesky_in_place(matrix.as_mut(), regularization, Par::Seq, stack, params)
        .ok()?;
    (0..n).all(|i| matrix[(i, i)].is_normal()).then_some(())
}

/// L-BFGS within bounds: steps are projected onto them, and variables at a bound that the gradient points out of
/// take no part. Stops when a step gains less than a millionth of the value.
fn minimize(
    mut at: Vec<f64>,
    (low, high): (&[f64], &[f64]),
    steps: usize,
    mut evaluate: impl FnMut(&[f64]) -> Option<(f64, Vec<f64>)>,
) -> Option<(f64, Vec<f64>)> {
    const MEMORY: usize = 10;
    const LONGEST: f64 = 2.0;
    const GAIN: f64 = 1e-6;
    const SLOPE: f64 = 1e-3;
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (mut value, mut gradient) = evaluate(&at)?;
    let mut pairs: Vec<(Vec<f64>, Vec<f64>)> = vec![];
    for _ in 0..steps {
        let free: Vec<bool> = (0..at.len())
            .map(|i| {
                !(at[i] <= low[i] && gradient[i] > 0.0 || at[i] >= high[i] && gradient[i] < 0.0)
            })
            .collect();
        let mask = |list: &[f64]| -> Vec<f64> {
            list.iter().zip(&free).map(|(&value, &free)| if free { value } else { 0.0 }).collect()
        };
        let slope = mask(&gradient);
        if slope.iter().all(|slope| slope.abs() < SLOPE) {
            break;
        }
        // The two-loop recursion.
        let mut direction: Vec<f64> = slope.iter().map(|slope| -slope).collect();
        let masked: Vec<(Vec<f64>, Vec<f64>, f64)> = pairs
            .iter()
            .map(|(moved, turned)| (mask(moved), mask(turned)))
            .map(|(moved, turned)| {
                let curvature = dot(&moved, &turned);
                (moved, turned, curvature)
            })
            .filter(|(moved, _, curvature)| *curvature > 1e-12 * dot(moved, moved))
            .collect();
        let mut shares = vec![];
        for (moved, turned, curvature) in masked.iter().rev() {
            let share = dot(moved, &direction) / curvature;
            direction.iter_mut().zip(turned).for_each(|(to, turned)| *to -= share * turned);
            shares.push(share);
        }
        if let Some((_, turned, curvature)) = masked.last() {
            let size = curvature / dot(turned, turned);
            for to in &mut direction {
                *to *= size;
            }
        }
        for ((moved, turned, curvature), share) in masked.iter().zip(shares.into_iter().rev()) {
            let share = share - dot(turned, &direction) / curvature;
            direction.iter_mut().zip(moved).for_each(|(to, moved)| *to += share * moved);
        }
        if dot(&direction, &slope) >= 0.0 || masked.is_empty() {
            direction = slope.iter().map(|slope| -slope).collect();
            pairs.clear();
        }
        let longest = direction.iter().fold(0.0_f64, |most, to| most.max(to.abs()));
        let first = if pairs.is_empty() { 0.5_f64.min(longest) } else { LONGEST };
        let mut size = (first / longest).min(1.0);
        let mut next = None;
        for _ in 0..12 {
            let to: Vec<f64> = (0..at.len())
                .map(|i| (at[i] + size * direction[i]).clamp(low[i], high[i]))
                .collect();
            let moved: Vec<f64> = to.iter().zip(&at).map(|(to, at)| to - at).collect();
            let expected = dot(&gradient, &moved);
            match evaluate(&to) {
                Some((then, slope)) if then <= value + 1e-4 * expected => {
                    next = Some((to, moved, then, slope));
                    break;
                }
                // The minimum of the parabola through both ends, within limits.
                Some((then, _)) => {
                    let parabola = -0.5 * expected / (then - value - expected);
                    size *= if parabola.is_finite() { parabola.clamp(0.1, 0.5) } else { 0.1 };
                }
                None => size *= 0.1,
            }
        }
        let Some((to, moved, then, slope)) = next else { break };
        let turned: Vec<f64> = slope.iter().zip(&gradient).map(|(then, now)| then - now).collect();
        if pairs.len() == MEMORY {
            pairs.remove(0);
        }
        pairs.push((moved, turned));
        let gained = value - then;
        (at, value, gradient) = (to, then, slope);
        if gained < GAIN * value.abs().max(1.0) {
            break;
        }
    }
    Some((value, at))
}

/// A table in the units of the process.
struct Standardized {
    column_offset: Vec<f64>,
    column_scale: Vec<f64>,
    /// Columns that vary.
    varying: usize,
    rows: Rows,
    targets: Vec<(Vec<f64>, f64, f64)>,
}

impl Standardized {
    /// Rows without weight are omitted.
    fn new(data: &Dataset) -> Self {
        /// The least weight of a row in proportion to the mean.
        const LEAST: f64 = 1e-9;
        let used: Vec<usize> = (0..data.rows()).filter(|&row| data.weight(row) > 0.0).collect();
        let n = used.len();
        let total: f64 = used.iter().map(|&row| data.weight(row)).sum();
        let weights: Vec<f64> =
            used.iter().map(|&row| (data.weight(row) / total * n as f64).max(LEAST)).collect();
        let (mut column_offset, mut column_scale, mut columns) = (vec![], vec![], vec![]);
        let mut varying = 0;
        for column in data.x().columns() {
            let values: Vec<f64> = used.iter().map(|&row| column[row]).collect();
            let mean = mean(&values, None);
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let two = values.iter().all(|&value| value == low || value == high);
            let scale = if two { high - low } else { sd(&values, mean, None) };
            let scale = if scale.is_normal() { scale } else { 1.0 };
            varying += usize::from(low < high);
            columns.extend(values.iter().map(|value| (value - mean) / scale));
            column_offset.push(mean);
            column_scale.push(scale);
        }
        let target = |column: ndarray::ArrayView1<'_, f64>| {
            let values: Vec<f64> = used.iter().map(|&row| column[row]).collect();
            let mean = mean(&values, Some(&weights));
            let scale = sd(&values, mean, Some(&weights));
            let scale = if scale.is_normal() { scale } else { 1.0 };
            (values.iter().map(|value| (value - mean) / scale).collect(), mean, scale)
        };
        let targets = data.y().columns().into_iter().map(target).collect();
        let noise = weights.iter().map(|weight| 1.0 / weight).collect();
        let rows = Rows { columns, noise };
        Self { column_offset, column_scale, varying, rows, targets }
    }
}

fn mean(values: &[f64], weights: Option<&[f64]>) -> f64 {
    let n = values.len() as f64;
    // Divided first: sums of large values stay finite.
    (0..values.len()).map(|i| values[i] / n * weights.map_or(1.0, |weights| weights[i])).sum()
}

fn sd(values: &[f64], mean: f64, weights: Option<&[f64]>) -> f64 {
    let most = values.iter().fold(0.0_f64, |most, value| most.max((value - mean).abs()));
    let square = |value: &f64| ((value - mean) / most).powi(2);
    // A difference that is mere rounding of the mean is none.
    if most <= 4.0 * f64::EPSILON * mean.abs() {
        return 0.0;
    }
    most * self::mean(&values.iter().map(square).collect::<Vec<f64>>(), weights).sqrt()
}

impl GaussianProcess {
    /// Fits a process to every target; row weights count.
    pub fn fit(data: &Dataset, settings: &GaussianProcessSettings, seed: Seed) -> Result<Self> {
        settings.check()?;
        let table = Standardized::new(data);
        let (count, width) = (table.rows.count(), table.rows.width());
        let per_column = settings.length_per_column.unwrap_or(width <= MAX_LENGTHS);
        let prior = Prior::new(table.varying, if per_column { width } else { 1 });
        let first = sample(count, START_ROWS, START_ROWS, seed);
        let first_rows = table.rows.select(&first);
        let problem = Problem::new(&first_rows);
        let best = |(y, ..): &(Vec<f64>, f64, f64)| -> Vec<f64> {
            let y: Vec<f64> = first.iter().map(|&row| y[row]).collect();
            let tries: Vec<Option<(f64, Vec<f64>)>> = (0..settings.starts)
                .into_par_iter()
                .map(|number| problem.optimize(&y, &prior, prior.start(number, seed), STEPS))
                .collect();
            let best = tries.into_iter().flatten().min_by(|a, b| a.0.total_cmp(&b.0));
            best.map_or_else(|| prior.mode.clone(), |(_, logs)| logs)
        };
        let starts = table.targets.par_iter().map(best).collect();
        let steps = if first.len() < count { FURTHER_STEPS } else { 0 };
        Ok(Self::from_starts(table, &prior, starts, steps, seed))
    }

    /// Fits the same process to other rows: its hyperparameters are kept, or, with `steps` > 0, optimized from
    /// where they are by at most as many steps.
    ///
    /// The table must have the columns and targets of the one that the process was fitted to.
    pub fn refit(&self, data: &Dataset, steps: usize, seed: Seed) -> Result<Self> {
        let (x, y) = (data.x(), data.y());
        for (what, expected, got) in
            [("x", self.width(), x.ncols()), ("y", self.targets.len(), y.ncols())]
        {
            if expected != got {
                return Err(windlass::Error::ColumnMismatch { what, expected, got }.into());
            }
        }
        let table = Standardized::new(data);
        let logs = |target: &TargetProcess| -> Vec<f64> {
            target.kernel.values().into_iter().map(libm::log).collect()
        };
        let starts: Vec<Vec<f64>> = self.targets.iter().map(logs).collect();
        let prior = Prior::new(table.varying, starts[0].len() - 3);
        Ok(Self::from_starts(table, &prior, starts, steps, seed))
    }

    /// Takes further steps from hyperparameters, and solves for the coefficients.
    fn from_starts(
        table: Standardized,
        prior: &Prior,
        starts: Vec<Vec<f64>>,
        steps: usize,
        seed: Seed,
    ) -> Self {
        let Standardized { column_offset, column_scale, rows: all, targets, .. } = table;
        let chosen = sample(all.count(), MAX_EXACT, SAMPLE, seed);
        let rows = all.select(&chosen);
        let problem = (steps > 0).then(|| Problem::new(&rows));
        let fit = |((y, offset, scale), mut logs): ((Vec<f64>, f64, f64), Vec<f64>)| {
            let own: Vec<f64> = chosen.iter().map(|&row| y[row]).collect();
            if let Some(problem) = &problem {
                prior.clamp(&mut logs);
                if let Some((_, better)) = problem.optimize(&own, prior, logs.clone(), steps) {
                    logs = better;
                }
            }
            let mut kernel = Kernel::from_logs(&logs);
            // Enough noise makes any covariances positive definite.
            let coefficients = loop {
                let solved = if rows.count() == all.count() {
                    exact_coefficients(&rows, &own, &kernel)
                } else {
                    sparse_coefficients(&rows, &all, &y, &kernel)
                };
                match solved {
                    Some(coefficients) => break coefficients,
                    None if kernel.noise < 1e3 => kernel.noise *= 10.0,
                    None => break vec![0.0; rows.count()],
                }
            };
            TargetProcess { kernel, coefficients, offset, scale }
        };
        let pairs: Vec<_> = targets.into_iter().zip(starts).collect();
        let targets = pairs.into_par_iter().map(fit).collect();
        Self { column_offset, column_scale, rows, targets }
    }

    /// Bytes of the matrices of covariances that a fit to so many rows allocates at once.
    pub(crate) fn matrix_bytes(rows: u64) -> u64 {
        let side = match rows {
            ..=2000 => rows,
            _ => SAMPLE as u64,
        };
        // The kernel and its parts, the inverse and what it is computed from.
        side * side * 6 * 8
    }

    /// Number of columns.
    pub(crate) fn width(&self) -> usize {
        self.column_offset.len()
    }

    /// The rows that predictions depend on, standardized and divided by the lengths of a target: column by column.
    pub(crate) fn rows_in_lengths(&self, target: &TargetProcess) -> Vec<f64> {
        self.rows.in_lengths(&target.kernel)
    }

    /// The linear part of a target's predictions: a coefficient for every standardized column, and an intercept.
    pub(crate) fn linear_part(&self, target: &TargetProcess) -> (Vec<f64>, f64) {
        let variance = target.kernel.linear;
        let dot = |column: &[f64]| {
            variance * column.iter().zip(&target.coefficients).map(|(z, c)| z * c).sum::<f64>()
        };
        let columns = self.rows.columns.chunks_exact(self.rows.count()).map(dot).collect();
        (columns, variance * target.coefficients.iter().sum::<f64>())
    }

    fn standardized(&self, x: &ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        let (expected, got) = (self.width(), x.ncols());
        if expected != got {
            let what = "x";
            return Err(windlass::Error::ColumnMismatch { what, expected, got }.into());
        }
        let scaled = |(row, column)| {
            (x[(row, column)] - self.column_offset[column]) / self.column_scale[column]
        };
        Ok(Array2::from_shape_fn(x.dim(), scaled))
    }

    /// The predictions for some rows, a column for every target.
    pub fn predict(&self, x: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        let z = self.standardized(&x)?;
        let mut out = Array2::zeros((z.nrows(), self.targets.len()));
        for (target, mut predicted) in self.targets.iter().zip(out.columns_mut()) {
            let scaled = self.rows_in_lengths(target);
            let (linear, intercept) = self.linear_part(target);
            let Kernel { signal, .. } = target.kernel;
            let predict = |near: &mut (Vec<f64>, Vec<f64>), row: usize| {
                let (squares_to, in_lengths) = near;
                for (column, value) in in_lengths.iter_mut().enumerate() {
                    *value = z[(row, column)] / target.kernel.length(column);
                }
                squares(&scaled, in_lengths, squares_to);
                let terms = squares_to.iter().zip(&target.coefficients);
                let curved: f64 = terms.map(|(&square, c)| matern(square).0 * c).sum();
                let straight: f64 = z.row(row).iter().zip(&linear).map(|(z, b)| z * b).sum();
                signal * curved + straight + intercept
            };
            let space = || (vec![0.0; self.rows.count()], vec![0.0; self.width()]);
            let values: Vec<f64> =
                (0..z.nrows()).into_par_iter().map_init(space, predict).collect();
            for (to, value) in predicted.iter_mut().zip(values) {
                *to = target.offset + target.scale * value;
            }
        }
        Ok(out)
    }

    /// The predictions for some rows and their standard deviations, each with a column for every target. The standard
    /// deviation is that of an observation of weight 1, with its noise. Factorizes the covariances of the rows that
    /// the process was fitted to.
    pub fn predict_with_std(&self, x: ArrayView2<'_, f64>) -> Result<(Array2<f64>, Array2<f64>)> {
        /// Rows at once.
        const BLOCK: usize = 256;
        let (z, mean) = (self.standardized(&x)?, self.predict(x)?);
        let mut std = Array2::zeros(mean.raw_dim());
        for (target, mut out) in self.targets.iter().zip(std.columns_mut()) {
            let kernel = &target.kernel;
            let factor = noisy_factor(&self.rows, kernel);
            let scaled = self.rows_in_lengths(target);
            for start in (0..z.nrows()).step_by(BLOCK) {
                let rows: Vec<Vec<f64>> =
                    (start..z.nrows().min(start + BLOCK)).map(|row| z.row(row).to_vec()).collect();
                let mut cross = cross_covariances(&self.rows, &scaled, &rows, kernel);
                if let Some(factor) = &factor {
                    solve_lower_triangular_in_place(factor.as_ref(), cross.as_mut(), Par::Seq);
                } else {
                    cross.fill(0.0);
                }
                for (index, z) in rows.iter().enumerate() {
                    let before = kernel.at_zero(z.iter().map(|z| z * z).sum());
                    let known: f64 = cross.col_as_slice(index).iter().map(|v| v * v).sum();
                    let variance = (before - known).max(0.0) + kernel.noise;
                    out[start + index] = target.scale * variance.sqrt();
                }
            }
        }
        Ok((mean, std))
    }

    /// Everything as named matrices, for files.
    pub(crate) fn to_arrays(&self) -> Vec<(&'static str, [usize; 2], Vec<f64>)> {
        let (rows, width, targets) = (self.rows.count(), self.width(), self.targets.len());
        let lists = |list: fn(&TargetProcess) -> Vec<f64>| -> Vec<f64> {
            self.targets.iter().flat_map(list).collect()
        };
        let parameters = lists(|target| target.kernel.values());
        vec![
            ("column_offset", [1, width], self.column_offset.clone()),
            ("column_scale", [1, width], self.column_scale.clone()),
            ("columns", [width, rows], self.rows.columns.clone()),
            ("noise", [1, rows], self.rows.noise.clone()),
            ("kernel", [targets, parameters.len() / targets], parameters),
            ("coefficients", [targets, rows], lists(|target| target.coefficients.clone())),
            ("target_offset", [1, targets], lists(|target| vec![target.offset])),
            ("target_scale", [1, targets], lists(|target| vec![target.scale])),
        ]
    }

    /// The process that [`to_arrays`](Self::to_arrays) described. Files may be damaged: everything is checked.
    pub(crate) fn from_arrays(
        width: usize,
        targets: usize,
        read: impl Fn(&str) -> Result<Vec<f64>, String>,
    ) -> Result<Self, String> {
        let list = |name: &str, count: Option<usize>, positive: bool| {
            let values = read(name)?;
            let fits = count.is_none_or(|count| values.len() == count);
            let valid = |value: &f64| value.is_finite() && (!positive || *value > 0.0);
            if fits && !values.is_empty() && values.iter().all(valid) {
                return Ok(values);
            }
            Err(format!("its `{name}` does not describe a Gaussian process"))
        };
        let noise = list("noise", None, true)?;
        let rows = noise.len();
        let columns = list("columns", Some(width.saturating_mul(rows)), false)?;
        let kernels = list("kernel", None, true)?;
        let coefficients = list("coefficients", Some(targets.saturating_mul(rows)), false)?;
        let offsets = list("target_offset", Some(targets), false)?;
        let scales = list("target_scale", Some(targets), true)?;
        let parameters = kernels.len() / targets;
        if kernels.len() != parameters * targets || ![4, width + 3].contains(&parameters) {
            return Err("its `kernel` does not describe a Gaussian process".into());
        }
        let target = |index: usize| TargetProcess {
            kernel: Kernel::from_values(&kernels[index * parameters..][..parameters]),
            coefficients: coefficients[index * rows..][..rows].to_vec(),
            offset: offsets[index],
            scale: scales[index],
        };
        Ok(Self {
            column_offset: list("column_offset", Some(width), false)?,
            column_scale: list("column_scale", Some(width), true)?,
            rows: Rows { columns, noise },
            targets: (0..targets).map(target).collect(),
        })
    }
}

/// All rows in order if there are at most `most`, else `size` of them at random, in order.
fn sample(rows: usize, most: usize, size: usize, seed: Seed) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    if rows > most {
        seed.shared(Stream::Sample, 0).shuffle(&mut order);
        order.truncate(size);
        order.sort_unstable();
    }
    order
}

/// The Cholesky factor of the covariances of rows with their noise.
fn noisy_factor(rows: &Rows, kernel: &Kernel) -> Option<Mat<f64>> {
    let mut factor = rows.covariances(kernel);
    for i in 0..rows.count() {
        factor[(i, i)] += kernel.noise * rows.noise[i];
    }
    factorize(&mut factor)?;
    Some(factor)
}

/// Covariances between the rows of a process (down) and others, without noise.
fn cross_covariances(
    rows: &Rows,
    scaled: &[f64],
    others: &[Vec<f64>],
    kernel: &Kernel,
) -> Mat<f64> {
    let mut out = Mat::zeros(rows.count(), others.len());
    for (index, z) in others.iter().enumerate() {
        let lengths = z.iter().enumerate().map(|(column, z)| z / kernel.length(column));
        let column = out.col_as_slice_mut(index);
        kernel_column(scaled, &lengths.collect::<Vec<f64>>(), kernel, column);
        add_linear(&rows.columns, z, kernel.linear, column);
    }
    out
}

/// `K⁻¹y`; `None` if the covariances are not positive definite.
fn exact_coefficients(rows: &Rows, y: &[f64], kernel: &Kernel) -> Option<Vec<f64>> {
    let factor = noisy_factor(rows, kernel)?;
    let mut solved = column(y);
    solve_lower_triangular_in_place(factor.as_ref(), solved.as_mut(), Par::Seq);
    solve_upper_triangular_in_place(factor.transpose(), solved.as_mut(), Par::Seq);
    finite(solved.col_as_slice(0))
}

/// Coefficients of a sample of rows from all rows, by FITC: each row's noise grows by the part of its variance
/// that the sample does not explain.
///
/// ```text
/// (K + C Λ⁻¹ Cᵀ)⁻¹ C Λ⁻¹ y = L⁻ᵀ (I + V Λ⁻¹ Vᵀ)⁻¹ V Λ⁻¹ y,   K = LLᵀ,   V = L⁻¹C,   Λ = σ²/w + diag(k − VᵀV)
/// ```
fn sparse_coefficients(rows: &Rows, all: &Rows, y: &[f64], kernel: &Kernel) -> Option<Vec<f64>> {
    /// Rows at once, and the jitter in proportion to the mean variance.
    const BLOCK: usize = 512;
    const JITTER: f64 = 1e-8;
    let (m, n) = (rows.count(), all.count());
    let mut factor = rows.covariances(kernel);
    let jitter = JITTER * (0..m).map(|i| factor[(i, i)]).sum::<f64>() / m as f64;
    (0..m).for_each(|i| factor[(i, i)] += jitter);
    factorize(&mut factor)?;
    let scaled = rows.in_lengths(kernel);
    let mut normal = Mat::identity(m, m);
    let mut right = Mat::zeros(m, 1);
    for start in (0..n).step_by(BLOCK) {
        let block: Vec<Vec<f64>> = (start..n.min(start + BLOCK)).map(|row| all.row(row)).collect();
        let mut cross = cross_covariances(rows, &scaled, &block, kernel);
        solve_lower_triangular_in_place(factor.as_ref(), cross.as_mut(), Par::Seq);
        let mut responses = Mat::zeros(block.len(), 1);
        for (index, z) in block.iter().enumerate() {
            let column = cross.col_as_slice_mut(index);
            let before = kernel.at_zero(z.iter().map(|z| z * z).sum());
            let explained: f64 = column.iter().map(|v| v * v).sum();
            let row = start + index;
            let root = (kernel.noise * all.noise[row] + (before - explained).max(0.0)).sqrt();
            for v in column.iter_mut() {
                *v /= root;
            }
            responses[(index, 0)] = y[row] / root;
        }
        let whole = BlockStructure::Rectangular;
        add_product(
            normal.as_mut(),
            BlockStructure::TriangularLower,
            &cross,
            &cross.transpose().to_owned(),
        );
        add_product(right.as_mut(), whole, &cross, &responses);
    }
    factorize(&mut normal)?;
    solve_lower_triangular_in_place(normal.as_ref(), right.as_mut(), Par::Seq);
    solve_upper_triangular_in_place(normal.transpose(), right.as_mut(), Par::Seq);
    solve_upper_triangular_in_place(factor.transpose(), right.as_mut(), Par::Seq);
    finite(right.col_as_slice(0))
}

fn add_product(to: MatMut<'_, f64>, of: BlockStructure, a: &Mat<f64>, b: &Mat<f64>) {
    let whole = BlockStructure::Rectangular;
    triangular::matmul(to, of, Accum::Add, a, whole, b, whole, 1.0, Par::Seq);
}

fn finite(values: &[f64]) -> Option<Vec<f64>> {
    values.iter().all(|value| value.is_finite()).then(|| values.to_vec())
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, Axis, concatenate};
    use serde_json::Value;
    use windlass::{Dataset, Seed, Stream};

    use super::{
        GaussianProcess, GaussianProcessSettings, Kernel, Prior, Problem, SAMPLE, Standardized,
        Workspace, exact_coefficients, sparse_coefficients,
    };

    const GOLDEN: &str = include_str!("../../windlass/tests/golden/gaussian_process.json");

    fn numbers(value: &Value) -> Vec<f64> {
        value["data"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
    }

    fn matrix(value: &Value) -> Array2<f64> {
        let size = |axis: usize| usize::try_from(value["shape"][axis].as_u64().unwrap()).unwrap();
        Array2::from_shape_vec((size(0), size(1)), numbers(value)).unwrap()
    }

    /// Rows of a smooth function of the first column and a line in the second; the others do not matter.
    fn smooth(rows: usize, columns: usize, noise: f64, seed: u64) -> Dataset {
        let draw = |step: u64, row: usize| Seed(seed).at(Stream::Made, step, row as u64).normal();
        let x = Array2::from_shape_fn((rows, columns), |(i, j)| draw(j as u64, i));
        let y = Array2::from_shape_fn((rows, 1), |(i, _)| {
            (2.0 * x[(i, 0)]).sin() + 0.5 * x[(i, 1)] + noise * draw(99, i)
        });
        Dataset::new(x, y, None).unwrap()
    }

    fn fit(data: &Dataset) -> GaussianProcess {
        GaussianProcess::fit(data, &GaussianProcessSettings::default(), Seed(0)).unwrap()
    }

    /// The process with these hyperparameters.
    fn given(data: &Dataset, values: &[f64]) -> GaussianProcess {
        let table = Standardized::new(data);
        let prior = Prior::new(table.varying, values.len() - 3);
        let logs = values.iter().map(|value| value.ln()).collect();
        GaussianProcess::from_starts(table, &prior, vec![logs], 0, Seed(0))
    }

    fn likelihood(data: &Dataset, logs: &[f64]) -> (f64, Vec<f64>) {
        let table = Standardized::new(data);
        let problem = Problem::new(&table.rows);
        problem.likelihood(&table.targets[0].0, logs, &mut Workspace::new(data.rows())).unwrap()
    }

    fn rmse(a: &Array2<f64>, b: &Array2<f64>) -> f64 {
        (a - b).mapv(|off| off * off).mean().unwrap().sqrt()
    }

    #[test]
    fn processes_equal_scikit_learn() {
        let golden: Value = serde_json::from_str(GOLDEN).unwrap();
        for case in golden["cases"].as_array().unwrap() {
            let weights = (!case["weights"].is_null()).then(|| numbers(&case["weights"]));
            let data = Dataset::new(matrix(&case["x"]), matrix(&case["y"]), weights).unwrap();
            let values: Vec<f64> = case["hyperparameters"]
                .as_array()
                .unwrap()
                .iter()
                .map(|value| value.as_f64().unwrap())
                .collect();
            let close = |got: f64, want: f64, tolerance: f64| {
                assert!((got - want).abs() <= tolerance * want.abs().max(1.0), "{got} {want}");
            };
            let process = given(&data, &values);
            let (mean, std) = process.predict_with_std(matrix(&case["new"]).view()).unwrap();
            assert_eq!(process.predict(matrix(&case["new"]).view()).unwrap(), mean);
            for (got, want) in mean.iter().zip(numbers(&case["mean"])) {
                close(*got, want, 1e-8);
            }
            for (got, want) in std.iter().zip(numbers(&case["std"])) {
                close(*got, want, 1e-7);
            }
            let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
            let (value, gradient) = likelihood(&data, &logs);
            close(value, case["likelihood"].as_f64().unwrap(), 1e-6);
            for (got, want) in gradient.iter().zip(numbers(&case["gradient"])) {
                close(*got, want, 1e-6);
            }
        }
    }

    /// Also of weighted rows, and of the prior.
    #[test]
    fn the_gradient_is_that_of_finite_differences() {
        for seed in 0..6 {
            let draw = |row: u64| Seed(seed).at(Stream::Sample, 1, row).normal();
            let plain = smooth(25, 4, 0.2, seed);
            let weights = (seed % 2 == 1).then(|| (0..25).map(|row| draw(row).exp()).collect());
            let data = Dataset::new(plain.x().clone(), plain.y().clone(), weights).unwrap();
            let prior = Prior::new(4, if seed % 3 == 0 { 1 } else { 4 });
            let logs: Vec<f64> =
                prior.mode.iter().zip(100..).map(|(mode, row)| mode + 0.7 * draw(row)).collect();
            let at = |logs: &[f64]| {
                let (mut value, mut gradient) = likelihood(&data, logs);
                prior.penalize(logs, &mut value, &mut gradient);
                (value, gradient)
            };
            let (_, gradient) = at(&logs);
            for (index, slope) in gradient.iter().enumerate() {
                let moved = |by: f64| {
                    let mut logs = logs.clone();
                    logs[index] += by;
                    at(&logs).0
                };
                let difference = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!((slope - difference).abs() < 1e-5 * (1.0 + slope.abs()), "{index}");
            }
        }
    }

    /// The likelihood cannot be raised by moving any hyperparameter, and what matters is found.
    #[test]
    fn hyperparameters_are_at_a_maximum() {
        let data = smooth(120, 4, 0.1, 0);
        let process = fit(&data);
        let kernel = &process.targets[0].kernel;
        let scale = process.targets[0].scale;
        assert!((kernel.noise.sqrt() * scale - 0.1).abs() < 0.03, "{kernel:?}");
        assert!(kernel.lengths[0] < 0.3 * kernel.lengths[2], "{kernel:?}");
        let logs: Vec<f64> = kernel.values().iter().map(|value| value.ln()).collect();
        let prior = Prior::new(4, 4);
        let (value, gradient) = likelihood(&data, &logs);
        let (mut value, mut gradient) =
            (-value, gradient.iter().map(|slope| -slope).collect::<Vec<f64>>());
        prior.penalize(&logs, &mut value, &mut gradient);
        for (index, slope) in gradient.iter().enumerate() {
            let inside = prior.low[index] < logs[index] && logs[index] < prior.high[index];
            assert!(!inside || slope.abs() < 0.1, "{index}: {gradient:?}");
        }
        let new = smooth(300, 4, 0.0, 1);
        assert!(rmse(&process.predict(new.x().view()).unwrap(), new.y()) < 0.15);
    }

    #[test]
    fn bits_do_not_depend_on_threads() {
        let data = smooth(60, 5, 0.2, 0);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| (fit(&data), fit(&data).predict(data.x().view()).unwrap()))
        };
        assert_eq!(on(1), on(3));
    }

    /// Few rows, rows that repeat, columns and targets that do not vary, huge and tiny values.
    #[test]
    fn degenerate_tables_are_fitted() {
        let plain = smooth(20, 3, 0.1, 0);
        let (x, y) = (plain.x(), plain.y());
        let twice = |of: &Array2<f64>| concatenate(Axis(0), &[of.view(), of.view()]).unwrap();
        let first = |rows: usize| plain.select(&(0..rows).collect::<Vec<_>>()).unwrap();
        let of = |x: Array2<f64>, y: Array2<f64>| Dataset::new(x, y, None).unwrap();
        let mut constant = x.clone();
        constant.column_mut(1).fill(7.0);
        let mut weights = vec![1.0; 20];
        (weights[0], weights[1], weights[2]) = (0.0, 1e-300, 1e12);
        for (name, data) in [
            ("one row", first(1)),
            ("two rows", first(2)),
            ("three rows", first(3)),
            ("repeated rows", of(twice(x), twice(y))),
            (
                "contradictions",
                of(twice(x), concatenate(Axis(0), &[y.view(), (-y).view()]).unwrap()),
            ),
            ("a constant column", of(constant, y.clone())),
            ("constant columns", of(Array2::zeros((20, 3)), y.clone())),
            ("a constant target", of(x.clone(), Array2::from_elem((20, 1), 0.1))),
            ("huge values", of(x * 1e100, y * 1e100)),
            ("tiny values", of(x * 1e-100, y * 1e-100)),
            ("no noise", of(x.clone(), x.select(Axis(1), &[0]))),
            ("weights", Dataset::new(x.clone(), y.clone(), Some(weights)).unwrap()),
        ] {
            let process = fit(&data);
            let (mean, std) = process.predict_with_std(data.x().view()).unwrap();
            let all = mean.iter().chain(&std);
            assert!(all.into_iter().all(|value| value.is_finite()), "{name}: {mean} {std}");
            let most = data.y().iter().fold(0.0_f64, |most, y| most.max(y.abs()));
            assert!(
                mean.iter().all(|mean| mean.abs() < 3.0 * most + 1e-9 * most),
                "{name}: {mean}"
            );
            // Far away it is a line.
            let far = process.predict((data.x() * 1e9).view()).unwrap();
            assert!(far.iter().all(|value| value.is_finite()), "{name}");
        }
    }

    /// Noise that is told by weights is believed: rows of little weight do not matter.
    #[test]
    fn rows_of_little_weight_matter_little() {
        let clean = smooth(80, 3, 0.05, 0);
        let mut y = clean.y().clone();
        let mut weights = vec![1.0; 80];
        for row in (0..80).step_by(4) {
            y[(row, 0)] += 5.0;
            weights[row] = 1e-4;
        }
        let new = smooth(300, 3, 0.0, 1);
        let error = |weights: Option<Vec<f64>>| {
            let data = Dataset::new(clean.x().clone(), y.clone(), weights).unwrap();
            rmse(&fit(&data).predict(new.x().view()).unwrap(), new.y())
        };
        let (plain, weighted) = (error(None), error(Some(weights)));
        assert!(weighted < 0.3 && 3.0 * weighted < plain, "{weighted} {plain}");
    }

    #[test]
    fn targets_are_fitted_on_their_own() {
        let data = smooth(60, 4, 0.1, 0);
        let second = data.x().select(Axis(1), &[2]) * 40.0 + 1000.0;
        let both = concatenate(Axis(1), &[data.y().view(), second.view()]).unwrap();
        let both = fit(&Dataset::new(data.x().clone(), both, None).unwrap());
        let alone = fit(&data);
        let predicted = both.predict(data.x().view()).unwrap();
        assert_eq!(predicted.column(0), alone.predict(data.x().view()).unwrap().column(0));
        assert!(rmse(&predicted.select(Axis(1), &[1]), &second) < 1.0);
    }

    #[test]
    fn refits_keep_hyperparameters_or_continue_from_them() {
        let data = smooth(80, 3, 0.1, 0);
        let process = fit(&data);
        let again = process.refit(&data, 0, Seed(0)).unwrap();
        let predict = |of: &GaussianProcess| of.predict(data.x().view()).unwrap();
        assert!(rmse(&predict(&process), &predict(&again)) < 1e-9);
        let half = data.select(&(0..40).collect::<Vec<_>>()).unwrap();
        let kept = process.refit(&half, 0, Seed(0)).unwrap();
        let close = |a: &Kernel, b: &Kernel| {
            a.values().iter().zip(b.values()).all(|(a, b)| (a / b - 1.0).abs() < 1e-9)
        };
        assert!(close(&kept.targets[0].kernel, &process.targets[0].kernel));
        let moved = process.refit(&half, 20, Seed(0)).unwrap();
        assert!(!close(&moved.targets[0].kernel, &process.targets[0].kernel));
        assert!(process.refit(&smooth(20, 4, 0.1, 0), 0, Seed(0)).is_err());
    }

    /// With all rows in the sample, FITC is exact; a table above the limit is fitted through a sample.
    #[test]
    fn large_tables_are_fitted_through_a_sample() {
        let data = smooth(70, 3, 0.1, 0);
        let kernel = fit(&data).targets[0].kernel.clone();
        let Standardized { rows, targets, .. } = Standardized::new(&data);
        let y = &targets[0].0;
        let exact = exact_coefficients(&rows, y, &kernel).unwrap();
        let sparse = sparse_coefficients(&rows, &rows, y, &kernel).unwrap();
        let fitted = |coefficients: &[f64]| {
            let covariances = rows.covariances(&kernel);
            let entry = |i: usize, j: usize| covariances[(i.max(j), i.min(j))];
            Array2::from_shape_fn((70, 1), |(i, _)| {
                (0..70).map(|j| entry(i, j) * coefficients[j]).sum::<f64>()
            })
        };
        assert!(rmse(&fitted(&exact), &fitted(&sparse)) < 1e-5);

        let data = smooth(2100, 3, 0.3, 0);
        let process = fit(&data);
        assert_eq!(process.rows.count(), SAMPLE);
        let new = smooth(300, 3, 0.0, 1);
        let error =
            |process: &GaussianProcess| rmse(&process.predict(new.x().view()).unwrap(), new.y());
        let sample = fit(&data.select(&(0..SAMPLE).collect::<Vec<_>>()).unwrap());
        assert!(error(&process) < 0.95 * error(&sample), "{} {}", error(&process), error(&sample));
        let settings = GaussianProcessSettings { starts: 0, ..Default::default() };
        assert!(GaussianProcess::fit(&data, &settings, Seed(0)).is_err());
    }
}
