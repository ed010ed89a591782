//! The marginal likelihood of hyperparameters, and its maximum.

use std::f64::consts::PI;

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::{self, factor::LltRegularization};
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Mat, Par, Spec};
use windlass::simd::vectorized;
use windlass::{Seed, Stream};

use super::kernel::{Kernel, Rows, add_linear, matern, row_of, squares};

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
/// a larger standard deviation than below, so that columns that do not matter can have very long ones, and so have
/// those of the signal, which a smooth function over long lengths needs.
///
/// | | Mode | Standard deviation of the logarithm | Bounds |
/// | :-- | :-- | :-- | :-- |
/// | `s²` | 1 | 1 below, 3 above | 10⁻³, 10⁴ |
/// | `ℓ` | 3 √columns | 1 below, 3 above | 0.02, 10⁵ |
/// | `v` | 0.03/columns | 2 | 10⁻⁶/columns, 10²/columns |
/// | `σ²` | 0.1 | 1 | 10⁻⁶, 4 |
pub(super) struct Prior {
    pub(super) mode: Vec<f64>,
    /// Standard deviations below and above the mode.
    below: Vec<f64>,
    above: Vec<f64>,
    pub(super) low: Vec<f64>,
    pub(super) high: Vec<f64>,
}

impl Prior {
    pub(super) fn new(columns: usize, lengths: usize) -> Self {
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
            above: list(3.0, 3.0, 2.0, 1.0),
            low: logs(list(1e-3, 0.02, 1e-6 / d, 1e-6)),
            high: logs(list(1e4, 1e5, 1e2 / d, 4.0)),
        }
    }

    pub(super) fn clamp(&self, logs: &mut [f64]) {
        for (index, log) in logs.iter_mut().enumerate() {
            *log = log.clamp(self.low[index], self.high[index]);
        }
    }

    /// A start: the mode, or lengths that are shorter or longer than it, with a seeded perturbation.
    pub(super) fn start(&self, number: usize, seed: Seed) -> Vec<f64> {
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
    pub(super) fn penalize(&self, logs: &[f64], value: &mut f64, gradient: &mut [f64]) {
        for (index, log) in logs.iter().enumerate() {
            let off = log - self.mode[index];
            let sd = if off > 0.0 { self.above[index] } else { self.below[index] };
            *value += 0.5 * (off / sd).powi(2);
            gradient[index] += off / (sd * sd);
        }
    }
}

/// Rows that hyperparameters are optimized on.
pub(super) struct Problem<'a> {
    rows: &'a Rows,
    /// `1 + z·z'`: the lower triangle.
    gram: Mat<f64>,
}

/// Matrices of an evaluation, of which the lower triangles are used.
pub(super) struct LikelihoodWorkspace {
    factor: Mat<f64>,
    matern: Mat<f64>,
    slope: Mat<f64>,
    inverse: Mat<f64>,
    memory: MemBuffer,
}

impl LikelihoodWorkspace {
    pub(super) fn new(n: usize) -> Self {
        let matrix = || Mat::zeros(n, n);
        let memory = MemBuffer::new(llt::inverse::inverse_scratch::<f64>(n, Par::Seq));
        Self { factor: matrix(), matern: matrix(), slope: matrix(), inverse: matrix(), memory }
    }
}

impl<'a> Problem<'a> {
    pub(super) fn new(rows: &'a Rows) -> Self {
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
    pub(super) fn likelihood(
        &self,
        y: &[f64],
        logs: &[f64],
        space: &mut LikelihoodWorkspace,
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
        space: &LikelihoodWorkspace,
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
    pub(super) fn optimize(
        &self,
        y: &[f64],
        prior: &Prior,
        start: Vec<f64>,
        steps: usize,
    ) -> Option<(f64, Vec<f64>)> {
        let mut space = LikelihoodWorkspace::new(y.len());
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

pub(super) fn column(values: &[f64]) -> Mat<f64> {
    Mat::from_fn(values.len(), 1, |i, _| values[i])
}

/// The Cholesky factor, in place, from and in the lower triangle; `None` if it is not positive definite.
pub(super) fn factorize(matrix: &mut Mat<f64>) -> Option<()> {
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
