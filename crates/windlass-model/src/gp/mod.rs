//! Gaussian process regression.
//!
//! Every target has its own process, since targets differ in the relevant columns. Columns are centered
//! and divided by their standard deviation (those with two values by the difference), targets standardized:
//!
//! ```text
//! y = f(z) + ε,   f ~ GP(0, k),   ε ~ N(0, σ²/w)
//! k(z, z') = s² (1 + u + u²/3) exp(−u) + v (1 + z·z'),   u² = 5 Σⱼ (zⱼ − z'ⱼ)²/ℓⱼ²
//! ```
//!
//! a Matérn-5/2 kernel with a length for every column (one for all if there are more than 30), a linear kernel,
//! and noise that is inversely proportional to the row's weight (weights have mean 1). The logarithms of `s²`, `ℓ`,
//! `v` and `σ²` maximize the marginal likelihood times a weak [prior](likelihood::Prior), by L-BFGS from several starts.
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

mod coefficients;
mod kernel;
mod likelihood;
mod predict;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use windlass::{Dataset, Seed, Stream};

use self::coefficients::{exact_coefficients, sparse_coefficients};
use self::kernel::{Kernel, Rows};
use self::likelihood::{Prior, Problem};
use crate::Result;

/// The most rows that predictions are exact for.
const MAX_EXACT: usize = 2000;
/// Rows of the sample that represents a larger table.
const SAMPLE: usize = 1000;
/// The most rows that every start sees.
const START_ROWS: usize = 500;
/// Maximum number of columns with separate length scales.
const MAX_LENGTHS: usize = 30;
/// The most steps from a start.
const STEPS: usize = 100;
/// The most steps on more rows than the starts saw.
const FURTHER_STEPS: usize = 15;
/// Memory for the matrices of fits that run at the same time; a single fit may take more.
const AT_ONCE_BYTES: u64 = 400 << 20;
/// The most starts.
const MAX_STARTS: usize = 100;

/// Settings of a Gaussian process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GaussianProcessSettings {
    /// Starts of the optimization of hyperparameters.
    pub starts: usize,
    /// Whether every column has its own length scale; by default if there are at most 30.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length_per_column: Option<bool>,
}

impl Default for GaussianProcessSettings {
    fn default() -> Self {
        Self { starts: 2, length_per_column: None }
    }
}

impl GaussianProcessSettings {
    /// Returns an error for settings outside their range.
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
    /// Offset and divisor of every column.
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

/// A table in the units of the process.
struct Standardized {
    column_offset: Vec<f64>,
    column_scale: Vec<f64>,
    /// Columns that vary.
    varying: usize,
    rows: Rows,
    targets: Vec<StandardizedTarget>,
}

/// A target in the units of the process, and what was subtracted from it and then divided by.
struct StandardizedTarget {
    y: Vec<f64>,
    offset: f64,
    scale: f64,
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
            let offset = mean(&values, Some(&weights));
            let scale = sd(&values, offset, Some(&weights));
            let scale = if scale.is_normal() { scale } else { 1.0 };
            let y = values.iter().map(|value| (value - offset) / scale).collect();
            StandardizedTarget { y, offset, scale }
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
        let best = |target: &StandardizedTarget| -> Vec<f64> {
            let y: Vec<f64> = first.iter().map(|&row| target.y[row]).collect();
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

    /// Fits the same process to other rows with the same hyperparameters or, with `steps` > 0, after at most this
    /// number of
    /// optimization steps.
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

    /// Continues the optimization of hyperparameters, and solves for the coefficients.
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
        let fit = |(target, mut logs): (StandardizedTarget, Vec<f64>)| {
            let StandardizedTarget { y, offset, scale } = target;
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

    /// Bytes of the covariance matrices that a fit to this number of rows allocates.
    fn matrix_bytes(rows: usize, targets: usize) -> u64 {
        let side = if rows <= MAX_EXACT { rows } else { SAMPLE } as u64;
        let at_once = targets.clamp(1, rayon::current_num_threads()) as u64;
        // The kernel and its parts, the inverse and what it is computed from.
        side * side * 6 * 8 * at_once
    }

    /// Maximum number of simultaneous fits to this number of rows.
    pub(crate) fn fits_at_once(rows: usize, targets: usize) -> usize {
        let fits = AT_ONCE_BYTES / Self::matrix_bytes(rows, targets).max(1);
        usize::try_from(fits).unwrap_or(usize::MAX).max(1)
    }

    /// Bytes of the covariance matrices of fits to some rows, and to folds of them if `in_folds`, of which at most
    /// `at_once` run at the same time.
    pub(crate) fn peak_bytes(rows: usize, targets: usize, at_once: usize, in_folds: bool) -> u64 {
        // The largest matrices of a fold: each has half of the rows at least.
        let fold = if in_folds { rows.min(MAX_EXACT.max(rows / 2)) } else { rows };
        let at_once = Self::fits_at_once(fold, targets).min(at_once.max(1));
        let of_folds = Self::matrix_bytes(fold, targets) * at_once as u64;
        of_folds.max(Self::matrix_bytes(rows, targets))
    }

    /// Number of columns.
    pub(crate) fn width(&self) -> usize {
        self.column_offset.len()
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

#[cfg(test)]
mod tests {
    use ndarray::{Array2, Axis, concatenate};
    use serde_json::Value;
    use windlass::{Dataset, Seed, Stream};

    use super::likelihood::LikelihoodWorkspace;
    use super::{
        GaussianProcess, GaussianProcessSettings, Kernel, Prior, Problem, SAMPLE, Standardized,
        exact_coefficients, sparse_coefficients,
    };

    const GOLDEN: &str = include_str!("../../../windlass/tests/golden/gaussian_process.json");

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
        problem
            .likelihood(&table.targets[0].y, logs, &mut LikelihoodWorkspace::new(data.rows()))
            .unwrap()
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
    fn fits_at_once_stay_within_their_memory() {
        let bytes = |rows: u64| 48 * rows * rows;
        assert_eq!(GaussianProcess::fits_at_once(2000, 1), 2);
        assert_eq!(GaussianProcess::peak_bytes(100, 1, 4, true), 4 * bytes(100));
        assert_eq!(GaussianProcess::peak_bytes(2000, 1, 4, true), 2 * bytes(2000));
        // Its folds may be exact; those of a large table have a sample.
        assert_eq!(GaussianProcess::peak_bytes(3000, 1, 4, true), 2 * bytes(2000));
        assert_eq!(GaussianProcess::peak_bytes(3000, 1, 1, false), bytes(1000));
        assert_eq!(GaussianProcess::peak_bytes(9000, 1, 4, true), 4 * bytes(1000));
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

    /// Row weights scale the noise: rows of little weight do not matter.
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
        let y = &targets[0].y;
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
