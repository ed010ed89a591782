//! Confidence intervals and p-values of differences between methods.
//!
//! # What is estimated
//!
//! ```text
//! θ = ½ ln(E L(method) / E L(reference))                                                        (1)
//! ```
//!
//! L is the squared error of a new row, and E the mean over new rows **and** over training sets of n rows of
//! the same population: exp(θ) − 1 is the expected relative difference of RMSE between two methods that are
//! trained on n such rows, below 0 if the method is better. n is the number of training rows of a fold (with
//! five folds, four fifths of the table). By domain, a new row is a row of a new domain; by time, a row of the
//! following block. With a test table, training rows are the given ones, and only test rows and seeds are new.
//!
//! # Rows of one table
//!
//! [`over_folds`] takes the squared errors of all held-out rows. With A and B, the sums of a method's and
//! of the reference's, the estimate is ½ ln(A/B), and to first order row u of fold model m contributes
//!
//! ```text
//! e(u, m) = ½ (a(u, m)/A − b(u, m)/B),    s(u) = Σₘ e(u, m),    t(m) = Σᵤ e(u, m)                (2)
//! ```
//!
//! Rows and fold models are crossed effects: a row is predicted once in every repeat, a model predicts the rows of
//! its fold. The squared standard error has a component of each,
//!
//! ```text
//! V = (1 + 5/N) N/(N − 1) Σᵤ s(u)² + max(0, Σᵣ K/(K − 1) Σₘ (t(m) − t̄ᵣ)² − Σₘ v(m))             (3)
//! ```
//!
//! N is the number of rows, K the number of models of repeat r, and v(m) the variance of t(m) if only rows differed.
//! The second term is what training (initial weights, the draw of training rows) adds to the errors of a fold.
//! 1 + 5/N was calibrated once, by simulation: with few rows, how a row as a training row changes the errors of
//! others is not negligible.
//! Student's t has Welch–Satterthwaite degrees of freedom; those of the first term follow from the kurtosis of
//! s, 2 (Σ s²)²/(Σ s⁴ − (Σ s²)²/N), since the variance of heavy-tailed errors is known less well. Rows of a group
//! or domain, and neighbors in time, resemble each other: there, the units u are groups, domains or blocks of time.
//!
//! How often these intervals hold θ is simulated in `docs/results/calibration.md`, and what else was tried is in
//! `docs/decisions.md`. What V leaves out is how a row as a training row changes the errors of others. No
//! table can estimate that from one set of folds (Bengio and Grandvalet, 2004). It is small, except between two
//! penalties of the same model, where it is negative: such intervals are too wide.
//!
//! # Splits without the errors of rows
//!
//! Runs stored by 0.1.0 have no errors of rows, and the outer folds of `tune` are few. The splits of one
//! table share rows, so their differences d are correlated, and the plain t test over J of them is far too
//! confident. With correlation ρ, the mean d̄ and the variance s² of the differences, [`over_splits`] takes
//! (Nadeau and Bengio's corrected resampled t test)
//!
//! ```text
//! d̄ ± t · √(s² (1/J + ρ/(1 − ρ))),    t the 97.5 % quantile of Student's t, J − 1 degrees of freedom (4)
//! ρ = test/all · min(1, 2 train/(train + test))                                                 (5)
//! ```
//!
//! `train`, `test` and `all` are the numbers of training rows, test rows and rows of the table. If a split uses
//! the whole table and trains on at least half of it, as k-fold does, ρ/(1 − ρ) is Nadeau and Bengio's
//! test/train. If only a few rows are trained on, as for a learning curve, test/train would explode
//! although such splits have less in common. If only the draw of test rows mattered, ρ would be test/all;
//! if only that of training rows, train/all; if both mattered equally, the harmonic mean of the two, which (5)
//! uses if it is smaller. It is careful: coverage is 96 to 99 % for different methods and above 99.6 % for similar
//! ones.
//!
//! Bates, Hastie, Tibshirani, *Cross-validation: what does it estimate and how well does it do it?*, 2023,
//! [doi:10.1080/01621459.2023.2197686](https://doi.org/10.1080/01621459.2023.2197686).
//! Bengio, Grandvalet, *No unbiased estimator of the variance of k-fold cross-validation*, 2004,
//! [jmlr:v5/grandvalet04a](https://www.jmlr.org/papers/v5/grandvalet04a.html).
//! Nadeau, Bengio, *Inference for the generalization error*, 2003,
//! [doi:10.1023/A:1024068626366](https://doi.org/10.1023/A:1024068626366).

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};
use windlass::{Seed, Stream};

/// Number of blocks of [`random_blocks`].
pub const BLOCKS: usize = 20;

/// The correction for few units in (3).
const FEW_UNITS: f64 = 5.0;

/// Relative tolerance within which differences are equal.
const ROUNDING: f64 = 1e-12;

/// The largest p-value of *better* and *worse*: 1 minus the level of intervals.
pub const CERTAIN: f64 = 0.05;
/// The largest p-value of *probably better* and *probably worse*.
pub const PROBABLE: f64 = 0.2;

/// A difference, its 95 % interval and the p-value of "there is no difference".
///
/// If the variance is unknown (one run, equal differences other than 0, values that are not finite), `low` is −∞,
/// `high` is ∞ and `p` is 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The estimated difference (1), below 0 if the method is better than the reference. Not finite if a
    /// difference is not; NaN without differences.
    #[serde(deserialize_with = "or_nan")]
    pub mean: f64,
    /// The lower bound.
    #[serde(deserialize_with = "or_below")]
    pub low: f64,
    /// The upper bound.
    #[serde(deserialize_with = "or_above")]
    pub high: f64,
    /// The two-sided p-value; below 0.05 exactly if the interval excludes 0.
    pub p: f64,
    /// Number of differences.
    pub runs: usize,
    /// The standard error of the difference; ∞ if unknown.
    #[serde(default = "unknown_error", deserialize_with = "or_above")]
    pub standard_error: f64,
    /// Degrees of freedom of the standard error; 0 if unknown.
    #[serde(default)]
    pub degrees_of_freedom: f64,
}

// JSON has no infinities and no NaN.
fn or_nan<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

fn or_below<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NEG_INFINITY))
}

fn or_above<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::INFINITY))
}

fn unknown_error() -> f64 {
    f64::INFINITY
}

impl Interval {
    /// From the standard error of the difference.
    fn new(mean: f64, standard_error: f64, degrees_of_freedom: f64, runs: usize) -> Self {
        let unknown = Self {
            mean,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
            p: 1.0,
            runs,
            standard_error: f64::INFINITY,
            degrees_of_freedom: 0.0,
        };
        if !(mean.is_finite() && standard_error > 0.0 && standard_error.is_finite()) {
            return unknown;
        }
        let Ok(student) = StudentsT::new(0.0, 1.0, degrees_of_freedom) else {
            return unknown;
        };
        let p = 2.0 * student.sf((mean / standard_error).abs());
        Self { p, standard_error, degrees_of_freedom, ..unknown }.at(CERTAIN)
    }

    /// Only the mean is known.
    fn unknown(mean: f64, runs: usize) -> Self {
        Self::new(mean, f64::NAN, 1.0, runs)
    }

    /// No difference in any run.
    fn zero(runs: usize) -> Self {
        let unknown = Self::unknown(0.0, runs);
        Self { low: 0.0, high: 0.0, standard_error: 0.0, ..unknown }
    }

    /// The same with the bounds of level 1 − `alpha`; the bounds stay as they are if the standard error is unknown.
    #[must_use]
    pub fn at(self, alpha: f64) -> Self {
        match StudentsT::new(0.0, 1.0, self.degrees_of_freedom) {
            Ok(student) if self.standard_error > 0.0 && (0.0..1.0).contains(&alpha) => {
                let half = student.inverse_cdf(1.0 - alpha / 2.0) * self.standard_error;
                Self { low: self.mean - half, high: self.mean + half, ..self }
            }
            _ => self,
        }
    }

    /// Corrected for being one of several: `p` is the adjusted p-value of [`holm`], and the 95 % interval is widened
    /// such that it excludes 0 exactly if `p` is below 0.05. Also at every other level: p is below 1 − level
    /// exactly if the widened interval excludes 0.
    #[must_use]
    pub fn corrected(self, p: f64) -> Self {
        let factor = if self.p > 0.0 { p / self.p } else { 1.0 };
        Self { p, ..self.at(CERTAIN / factor.max(1.0)) }
    }
}

/// Row counts of a split; means if splits differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitSizes {
    /// Training rows.
    pub train: usize,
    /// Test rows.
    pub test: usize,
    /// Rows of the table.
    pub all: usize,
}

impl SplitSizes {
    /// The correlation (5) between the differences of two splits.
    fn correlation(self) -> f64 {
        let (train, test, all) = (self.train as f64, self.test as f64, self.all as f64);
        test / all * (2.0 * train / (train + test)).min(1.0)
    }
}

/// `ln(method / reference)` of two errors; 0 if they are equal, even if both are 0.
#[must_use]
pub fn log_ratio(method: f64, reference: f64) -> f64 {
    if method == reference { 0.0 } else { (method / reference).ln() }
}

/// Squared errors of two methods that were trained on the same rows and tested on the same rows of one fold, summed
/// over units of test rows.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldLosses {
    /// The repeat: its folds hold out every row once.
    pub repeat: usize,
    /// The units, each once: rows, or groups of rows that resemble each other.
    pub units: Vec<usize>,
    /// The method's sum for every unit.
    pub method: Vec<f64>,
    /// The reference's sum for every unit.
    pub reference: Vec<f64>,
}

/// The interval of repeated folds of one table, from the errors of rows: (2) and (3).
///
/// If both methods have the same errors, the interval is [0, 0] and p is 1. With fewer than two units, a sum that is not
/// finite or lists of different lengths, the variance is unknown.
///
/// ```
/// use windlass_compare::statistics::{FoldLosses, over_folds};
///
/// // Two folds of four rows; the method's errors are smaller in all but one.
/// let fold = |units: Vec<usize>, method: Vec<f64>| {
///     FoldLosses { repeat: 0, units, method, reference: vec![1.0; 4] }
/// };
/// let folds =
///     [fold(vec![0, 3, 4, 6], vec![0.7, 0.8, 0.8, 0.9]), fold(vec![1, 2, 5, 7], vec![0.8, 0.6, 1.1, 0.9])];
/// let interval = over_folds(&folds);
/// assert!(interval.mean < -0.08 && interval.high < 0.0);
/// ```
#[must_use]
pub fn over_folds(folds: &[FoldLosses]) -> Interval {
    let runs = folds.len();
    let aligned = |fold: &FoldLosses| {
        fold.method.len() == fold.units.len() && fold.reference.len() == fold.units.len()
    };
    if !folds.iter().all(aligned) {
        return Interval::unknown(f64::NAN, runs);
    }
    let equal = |fold: &FoldLosses| !fold.units.is_empty() && fold.method == fold.reference;
    if runs > 0 && folds.iter().all(equal) {
        return Interval::zero(runs);
    }
    let total = |sums: fn(&FoldLosses) -> &[f64]| folds.iter().flat_map(sums).sum::<f64>();
    let (method, reference) = (total(|fold| &fold.method), total(|fold| &fold.reference));
    let mean = 0.5 * log_ratio(method, reference);
    if !(method > 0.0 && reference > 0.0 && mean.is_finite()) {
        return Interval::unknown(mean, runs);
    }
    // By unit, and by repeat and fold.
    let mut of_units: BTreeMap<usize, f64> = BTreeMap::new();
    let mut of_models: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
    // The variance of the sums of fold models if only rows differed; unknown for a model of a single unit.
    let mut expected = Some(0.0);
    for fold in folds {
        let parts = fold.method.iter().zip(&fold.reference);
        let parts: Vec<f64> = parts.map(|(a, b)| 0.5 * (a / method - b / reference)).collect();
        for (&unit, part) in fold.units.iter().zip(&parts) {
            *of_units.entry(unit).or_default() += part;
        }
        of_models.entry(fold.repeat).or_default().push(parts.iter().sum());
        expected = match expected {
            Some(sum) if parts.len() > 1 => {
                Some(sum + parts.len() as f64 * mean_and_variance(&parts).1)
            }
            _ => None,
        };
    }
    if of_units.len() < 2 {
        return Interval::unknown(mean, runs);
    }
    let units = of_units.len() as f64;
    let squares: f64 = of_units.values().map(|s| s * s).sum();
    let fourths: f64 = of_units.values().map(|s| s.powi(4)).sum();
    let rows = (1.0 + FEW_UNITS / units) * units / (units - 1.0) * squares;
    let rows_freedom = 2.0 * squares * squares / (fourths - squares * squares / units);
    // Without a difference between rows it is not a number, which is not the maximum.
    let rows_freedom = rows_freedom.min(units - 1.0).max(1.0);

    let of_repeats = of_models.values().filter(|sums| sums.len() > 1);
    let (mut found, mut models_freedom) = (0.0, 0.0);
    for sums in of_repeats {
        found += sums.len() as f64 * mean_and_variance(sums).1;
        models_freedom += sums.len() as f64 - 1.0;
    }
    let models = expected.map_or(0.0, |expected| (found - expected).max(0.0));

    // Errors in the same proportion in all rows differ by rounding.
    let standard_error = (rows + models).sqrt().max(ROUNDING * mean.abs());
    let shares = [rows, models].map(|part| part / (rows + models));
    let freedom = if models > 0.0 {
        1.0 / (shares[0].powi(2) / rows_freedom + shares[1].powi(2) / models_freedom)
    } else {
        rows_freedom
    };
    Interval::new(mean, standard_error, freedom, runs)
}

/// The interval (4) of differences on different splits of one table.
///
/// Average runs on the same split with several seeds first: seeds add no rows. If every difference is 0, the
/// interval is [0, 0] and p is 1. If all are equal but not 0, the splits were the same, and the variance is unknown.
///
/// ```
/// use windlass_compare::statistics::{SplitSizes, over_splits};
///
/// let five_folds = SplitSizes { train: 80, test: 20, all: 100 };
/// let interval = over_splits(&[-0.05, -0.04, -0.06, -0.05, -0.05], five_folds);
/// assert!(interval.high < 0.0 && interval.p < 0.05);
/// ```
#[must_use]
pub fn over_splits(differences: &[f64], sizes: SplitSizes) -> Interval {
    let runs = differences.len();
    if runs > 0 && differences.iter().all(|&d| d == 0.0) {
        return Interval::zero(runs);
    }
    let (mean, variance) = mean_and_variance(differences);
    let rho = sizes.correlation();
    // NaN (a table without rows) is not in the range.
    if !(0.0..1.0).contains(&rho) {
        return Interval::unknown(mean, runs);
    }
    let error = (variance * (1.0 / runs as f64 + rho / (1.0 - rho))).sqrt();
    Interval::new(mean, error, runs as f64 - 1.0, runs)
}

/// The interval of methods that are trained several times, with other seeds, on one table and tested on the same
/// rows each time.
///
/// `method` and `reference` hold the squared errors of every test row, a list per repeat; `block` is the block of every
/// test row, either [`random_blocks`] or, if rows of a domain resemble each other, the domain. With the mean d̄ over repeats, its value d̄₋ᵦ without the rows of block b, and s² the variance
/// between repeats, the squared standard error is
///
/// ```text
/// s²/J + (B − 1)/B · Σᵦ (d̄₋ᵦ − d̄)²                                                             (6)
/// ```
///
/// (training noise, and the delete-block jackknife for the sample of test rows), with Welch–Satterthwaite
/// degrees of freedom. The interval is conditional on *this* training table. With fewer than two repeats or blocks,
/// or lists of different lengths, the variance is unknown.
#[must_use]
pub fn over_repeats(method: &[Vec<f64>], reference: &[Vec<f64>], block: &[usize]) -> Interval {
    let runs = method.len();
    let aligned = method.iter().chain(reference).all(|errors| errors.len() == block.len());
    if !aligned || runs != reference.len() {
        return Interval::unknown(f64::NAN, runs);
    }
    if runs > 0 && !block.is_empty() && method == reference {
        return Interval::zero(runs);
    }
    let differences = log_ratios_without(method, reference, block, None);
    let (mean, variance) = mean_and_variance(&differences);

    let mut blocks = block.to_vec();
    blocks.sort_unstable();
    blocks.dedup();
    if runs < 2 || blocks.len() < 2 {
        return Interval::unknown(mean, runs);
    }
    let without = |&excluded: &usize| {
        let differences = log_ratios_without(method, reference, block, Some(excluded));
        (differences.iter().sum::<f64>() / runs as f64 - mean).powi(2)
    };
    let training = variance / runs as f64;
    let share = (blocks.len() - 1) as f64 / blocks.len() as f64;
    let testing = share * blocks.iter().map(without).sum::<f64>();

    let total = training + testing;
    let spent = training.powi(2) / (runs - 1) as f64 + testing.powi(2) / (blocks.len() - 1) as f64;
    Interval::new(mean, total.sqrt(), total.powi(2) / spent, runs)
}

/// Assigns test rows to [`BLOCKS`] blocks of equal size (up to one row) at random; fewer rows have a block each.
#[must_use]
pub fn random_blocks(rows: usize, seed: Seed) -> Vec<usize> {
    let mut block: Vec<usize> = (0..rows).map(|row| row % BLOCKS).collect();
    seed.shared(Stream::Split, 0).shuffle(&mut block);
    block
}

/// Assigns test rows to contiguous blocks: for rows that resemble their neighbors, such as a time series.
#[must_use]
pub fn blocks_in_order(rows: usize) -> Vec<usize> {
    (0..rows).map(|row| row * BLOCKS.min(rows) / rows).collect()
}

/// Holm's adjustment of p-values for multiple comparisons, in the order of the input: the family-wise error rate is
/// at most 5 % if those below 0.05 are taken as significant. NaN counts as 1.
///
/// Holm, *A simple sequentially rejective multiple test procedure*, 1979,
/// [jstor:4615733](https://www.jstor.org/stable/4615733).
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let p: Vec<f64> = p.iter().map(|&p| if p.is_nan() { 1.0 } else { p }).collect();
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&i, &j| p[i].total_cmp(&p[j]));
    let mut adjusted = p.clone();
    let mut largest: f64 = 0.0;
    for (rank, &i) in order.iter().enumerate() {
        largest = largest.max(p[i] * (p.len() - rank) as f64).min(1.0);
        adjusted[i] = largest;
    }
    adjusted
}

/// Mean and sample variance (divided by n − 1); the variance of equal values is exactly 0.
#[must_use]
pub fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    if equal(values) {
        return (mean, 0.0);
    }
    (mean, values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0))
}

/// Whether all values are equal up to rounding.
fn equal(values: &[f64]) -> bool {
    values.iter().all(|value| (value - values[0]).abs() <= ROUNDING * values[0].abs())
}

/// The log ratio of RMSEs of every repeat, without the rows of one block.
fn log_ratios_without(
    method: &[Vec<f64>],
    reference: &[Vec<f64>],
    block: &[usize],
    excluded: Option<usize>,
) -> Vec<f64> {
    let total = |errors: &[f64]| -> f64 {
        let kept = errors.iter().zip(block).filter(|&(_, &block)| Some(block) != excluded);
        kept.map(|(error, _)| error).sum()
    };
    // Half, as the errors are squared.
    method.iter().zip(reference).map(|(m, e)| 0.5 * log_ratio(total(m), total(e))).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        BLOCKS, CERTAIN, FoldLosses, Interval, SplitSizes, equal, holm, log_ratio, over_folds,
        over_repeats, over_splits, random_blocks,
    };
    use windlass::{Seed, Stream};

    const FOLDS: SplitSizes = SplitSizes { train: 80, test: 20, all: 100 };

    fn close(got: f64, want: f64) {
        assert!((got - want).abs() <= 1e-9 * want.abs(), "{got} against {want}");
    }

    fn says_nothing(found: Interval) -> bool {
        found.low == f64::NEG_INFINITY && found.high == f64::INFINITY && found.p == 1.0
    }

    fn normals(step: u64, n: u64) -> Vec<f64> {
        (0..n).map(|row| Seed(5).at(Stream::TargetNoise, step, row).normal()).collect()
    }

    /// `scipy.stats.t.ppf(0.975, df)` and `2 * scipy.stats.t.sf(2.0, df)` of `SciPy` 1.17.1.
    #[test]
    fn quantiles_and_p_values_are_those_of_scipy() {
        for (freedom, quantile, p) in [
            (1.0, 12.706_204_736_174_694, 0.295_167_235_300_866_5),
            (2.0, 4.302_652_729_749_462, 0.183_503_419_072_273_97),
            (4.0, 2.776_445_105_197_793_4, 0.116_116_523_516_815_56),
            (14.0, 2.144_786_687_917_804, 0.065_287_952_889_111_93),
            (19.0, 2.093_024_054_408_308_7, 0.060_002_036_386_098_34),
            (29.0, 2.045_229_642_132_703, 0.054_943_637_182_967_17),
        ] {
            let found = Interval::new(2.0, 1.0, freedom, 1);
            close(found.high - 2.0, quantile);
            close(2.0 - found.low, quantile);
            close(found.p, p);
        }
    }

    /// By hand: mean 2, s² = 1, 1/J + 20/80 = 7/12, two degrees of freedom; p is
    /// `2 * scipy.stats.t.sf(2 / sqrt(7 / 12), 2)`.
    #[test]
    fn folds_are_corrected_as_by_nadeau_and_bengio() {
        let found = over_splits(&[1.0, 3.0, 2.0], FOLDS);
        let half = 4.302_652_729_749_462 * (7.0_f64 / 12.0).sqrt();
        close(found.mean, 2.0);
        close(found.low, 2.0 - half);
        close(found.high, 2.0 + half);
        close(found.p, 0.120_117_309_871_880_27);
        assert_eq!(found.runs, 3);
    }

    /// By hand: 2·5·20/25 = 8 of 100 rows below a fifth; a fifth from there on, also for 40 of 100.
    #[test]
    fn small_training_parts_have_little_in_common() {
        let rho = |train| SplitSizes { train, ..FOLDS }.correlation();
        close(rho(5), 0.08);
        close(rho(20), 0.2);
        close(rho(40), 0.2);
        close(rho(80), 0.2);
        assert!((1..20).all(|train| rho(train) < rho(train + 1)));
    }

    #[test]
    fn p_is_below_five_per_cent_where_the_interval_leaves_zero_out() {
        let mut found_some = [false; 2];
        for step in 0..300 {
            let shift = step as f64 / 200.0;
            let values: Vec<f64> = normals(step, 2 + step % 20).iter().map(|v| v - shift).collect();
            let found = over_splits(&values, FOLDS);
            let outside = found.low > 0.0 || found.high < 0.0;
            assert_eq!(found.p < 0.05, outside, "{found:?}");
            assert!(found.low < found.mean && found.mean < found.high && found.p > 0.0);
            found_some[usize::from(outside)] = true;

            let mirrored: Vec<f64> = values.iter().map(|v| -v).collect();
            let mirrored = over_splits(&mirrored, FOLDS);
            assert_eq!((mirrored.low, mirrored.high), (-found.high, -found.low));
        }
        assert_eq!(found_some, [true; 2]);
    }

    #[test]
    fn where_the_spread_is_unknown_nothing_is_claimed() {
        let none = over_splits(&[], FOLDS);
        assert!(says_nothing(none) && none.mean.is_nan() && none.runs == 0);
        let one = over_splits(&[-0.3], FOLDS);
        assert!(says_nothing(one) && one.mean == -0.3 && one.runs == 1);
        let equal = over_splits(&[-0.3; 15], FOLDS);
        assert!(says_nothing(equal) && (equal.mean + 0.3).abs() < 1e-15);
        let rounded = over_splits(&[0.1 + 0.2, 0.3, 0.3], FOLDS);
        assert!(says_nothing(rounded), "{rounded:?}");
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let found = over_splits(&[-0.3, odd, -0.2], FOLDS);
            assert!(says_nothing(found) && !found.mean.is_finite(), "{found:?}");
        }
        let huge = over_splits(&[f64::MAX, f64::MIN, 1.0], FOLDS);
        assert!(says_nothing(huge), "{huge:?}");
        for sizes in [
            SplitSizes { train: 0, test: 0, all: 0 },
            SplitSizes { train: 10, test: 10, all: 0 },
            SplitSizes { train: 100, test: 100, all: 100 },
        ] {
            assert!(says_nothing(over_splits(&[-0.3, -0.2], sizes)), "{sizes:?}");
        }
    }

    #[test]
    fn equal_methods_have_no_difference() {
        let nothing = Interval::zero(4);
        assert_eq!(over_splits(&[0.0, -0.0, 0.0, 0.0], FOLDS), nothing);
        let errors = vec![vec![1.0, 2.0, 3.0]; 4];
        assert_eq!(over_repeats(&errors, &errors, &[0, 1, 2]), nothing);
        assert_eq!(log_ratio(0.0, 0.0), 0.0);
        assert_eq!(log_ratio(0.0, 1.0), f64::NEG_INFINITY);
    }

    fn fold(repeat: usize, units: &[usize], method: &[f64], reference: &[f64]) -> FoldLosses {
        let [method, reference] = [method, reference].map(<[f64]>::to_vec);
        FoldLosses { repeat, units: units.to_vec(), method, reference }
    }

    /// By hand: A = 10, B = 8, so rows contribute ½ (a/10 − 1/8): 0.0375, −0.0125, −0.0125, −0.0125 of the first
    /// fold, 0.0375, 0.0375, −0.0125, −0.0625 of the second. Both folds sum to 0, less than expected from rows: the
    /// second component is 0.
    #[test]
    fn errors_of_rows_are_as_by_hand() {
        let ones = [1.0; 4];
        let folds = [
            fold(0, &[0, 2, 4, 6], &[2.0, 1.0, 1.0, 1.0], &ones),
            fold(0, &[1, 3, 5, 7], &[2.0, 2.0, 1.0, 0.0], &ones),
        ];
        let found = over_folds(&folds);
        close(found.mean, 0.5 * 1.25_f64.ln());
        let squares: f64 = 3.0 * 0.0375_f64.powi(2) + 4.0 * 0.0125_f64.powi(2) + 0.0625_f64.powi(2);
        let fourths: f64 = 3.0 * 0.0375_f64.powi(4) + 4.0 * 0.0125_f64.powi(4) + 0.0625_f64.powi(4);
        close(found.standard_error, ((1.0 + 5.0 / 8.0) * 8.0 / 7.0 * squares).sqrt());
        close(
            found.degrees_of_freedom,
            (2.0 * squares * squares / (fourths - squares * squares / 8.0)).min(7.0),
        );
        assert_eq!(found.runs, 2);

        // Models that differ by more than their rows: the second component. Every row has the same part, ½ (a/A − b/B).
        let apart =
            [fold(0, &[0, 1], &[3.0; 2], &[1.0; 2]), fold(0, &[2, 3], &[1.0; 2], &[1.0; 2])];
        let found = over_folds(&apart);
        let part = 0.5 * (3.0 / 8.0 - 1.0 / 4.0_f64);
        let rows = (1.0 + 5.0 / 4.0) * 4.0 / 3.0 * 4.0 * part * part;
        let models = 2.0 * 2.0 * (2.0 * part).powi(2);
        close(found.standard_error, (rows + models).sqrt());

        // A row of two repeats counts once.
        let twice =
            [&folds[..], &folds.clone().map(|fold| FoldLosses { repeat: 1, ..fold })].concat();
        let again = over_folds(&twice);
        close(again.mean, over_folds(&folds).mean);
        close(again.standard_error, over_folds(&folds).standard_error);
    }

    #[test]
    fn errors_of_rows_that_cannot_be_used_are_answered() {
        let (good, other) = ([1.0, 2.0], [2.0, 1.5]);
        assert!(!says_nothing(over_folds(&[fold(0, &[0, 1], &good, &other)])));
        assert_eq!(over_folds(&[fold(0, &[0, 1], &good, &good)]), Interval::zero(1));
        for folds in [
            vec![],
            vec![fold(0, &[], &[], &[])],
            vec![fold(0, &[0], &[1.0], &[2.0])],
            vec![fold(0, &[0, 1], &good, &[2.0])],
            vec![fold(0, &[0, 1], &[0.0, 0.0], &other)],
            vec![fold(0, &[0, 1], &good, &[f64::NAN, 1.0])],
            vec![fold(0, &[0, 1], &good, &[f64::INFINITY, 1.0])],
        ] {
            let found = over_folds(&folds);
            assert!(says_nothing(found), "{folds:?}: {found:?}");
        }
        // In the same proportion in every row: known but for rounding.
        let scaled = over_folds(&[fold(0, &[0, 1, 2], &[0.9, 1.8, 2.7], &[1.0, 2.0, 3.0])]);
        assert!(scaled.high < 0.0 && scaled.low > 0.5 * 0.9_f64.ln() - 1e-6, "{scaled:?}");
    }

    /// Adjusted p-values and corrected intervals agree at every level.
    #[test]
    fn corrected_intervals_exclude_zero_where_p_is_small() {
        for step in 0..200 {
            let values: Vec<f64> =
                normals(step, 3 + step % 9).iter().map(|v| v - step as f64 / 60.0).collect();
            let found = over_splits(&values, FOLDS);
            for factor in [1.0, 2.5, 7.0] {
                let corrected = found.corrected((factor * found.p).min(1.0));
                let excluded = corrected.low > 0.0 || corrected.high < 0.0;
                assert_eq!(corrected.p < CERTAIN, excluded, "{corrected:?}");
                assert!(corrected.low <= found.low && corrected.high >= found.high);
            }
        }
    }

    /// By hand: the repeats' differences are ½ ln(8/4) and ½ ln(4/4), so d̄ = ¼ ln 2 and
    /// s²/J = (½ ln 2)²/4. Without block 7 they are ½ ln(6/2) and ½ ln(2/2), without block 3
    /// ½ ln(2/2) and ½ ln(2/2).
    #[test]
    fn repeats_on_given_rows_are_as_by_hand() {
        let method = [vec![1.0, 1.0, 3.0, 3.0], vec![1.0, 1.0, 1.0, 1.0]];
        let erm = [vec![1.0; 4], vec![1.0; 4]];
        let found = over_repeats(&method, &erm, &[7, 7, 3, 3]);
        let ln = |v: f64| v.ln();
        let mean = 0.25 * ln(2.0);
        let training = (0.5 * ln(2.0)).powi(2) / 4.0;
        let testing = 0.5 * ((0.25 * ln(3.0) - mean).powi(2) + mean.powi(2));
        let total = training + testing;
        let freedom = total.powi(2) / (training.powi(2) + testing.powi(2));
        let want = Interval::new(mean, total.sqrt(), freedom, 2);
        close(found.mean, want.mean);
        close(found.low, want.low);
        close(found.high, want.high);
        close(found.p, want.p);
        assert_eq!(found.runs, 2);
    }

    /// With a method that draws nothing at random only the sample of test rows is left: for a ratio near 1
    /// its standard error is that of the mean of (a − b)/2 over rows whose squared errors are near 1.
    #[test]
    fn the_jackknife_is_close_to_the_formula_of_a_mean() {
        let n = 4_000;
        let rows = normals(0, n as u64);
        let method = vec![rows.iter().map(|z| 1.0 + 0.02 * z).collect::<Vec<f64>>(); 3];
        let erm = vec![vec![1.0; n]; 3];
        let found = over_repeats(&method, &erm, &random_blocks(n, Seed(1)));
        let error = (found.high - found.mean) / 2.093_024_054_408_308_7;
        let ratio = error / (0.01 / (n as f64).sqrt());
        // Nineteen degrees of freedom: a standard error is good to 1/√38, here twice that.
        assert!((ratio - 1.0).abs() < 0.32, "{ratio}");
    }

    #[test]
    fn repeats_that_cannot_be_used_are_answered() {
        let (two, one) = (vec![vec![1.0, 2.0]; 2], vec![vec![1.0, 3.0]; 2]);
        assert!(!says_nothing(over_repeats(&two, &one, &[0, 1])));
        for (method, erm, block) in [
            (vec![], vec![], vec![]),
            (vec![vec![]; 2], vec![vec![]; 2], vec![]),
            (two[..1].to_vec(), one[..1].to_vec(), vec![0, 1]),
            (two.clone(), one.clone(), vec![0, 0]),
            (two.clone(), one.clone(), vec![0, 1, 2]),
            (two.clone(), one[..1].to_vec(), vec![0, 1]),
            (two.clone(), vec![vec![0.0, 0.0]; 2], vec![0, 1]),
            (two.clone(), vec![vec![f64::NAN, 0.0]; 2], vec![0, 1]),
        ] {
            let found = over_repeats(&method, &erm, &block);
            assert!(says_nothing(found), "{method:?} {erm:?} {block:?}: {found:?}");
        }
    }

    #[test]
    fn blocks_have_one_size() {
        for rows in [0, 1, 19, 20, 107, 1_000] {
            let block = random_blocks(rows, Seed(3));
            assert_eq!(block.len(), rows);
            let size = |b| block.iter().filter(|&&block| block == b).count();
            assert!(
                (0..BLOCKS).all(|b| (rows / BLOCKS..=rows.div_ceil(BLOCKS)).contains(&size(b)))
            );
        }
        assert_ne!(random_blocks(100, Seed(3)), random_blocks(100, Seed(4)));
    }

    /// By hand: 0.01·4, 0.02·3, 0.03·2 and 0.04·1, each at least the one before.
    #[test]
    fn holm_is_as_by_hand() {
        let adjusted = holm(&[0.03, 0.01, 0.04, 0.02]);
        for (got, want) in adjusted.iter().zip([0.06, 0.04, 0.06, 0.06]) {
            close(*got, want);
        }
        assert_eq!(holm(&[0.4, f64::NAN, 0.6]), [1.0, 1.0, 1.0]);
        assert_eq!(holm(&[0.04]), [0.04]);
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn holm_keeps_the_order_and_never_lowers_a_p_value() {
        for step in 0..200 {
            let p: Vec<f64> = normals(step, step % 9).iter().map(|z| (-z.abs()).exp()).collect();
            let adjusted = holm(&p);
            assert_eq!(adjusted.len(), p.len());
            for i in 0..p.len() {
                assert!(adjusted[i] >= p[i] && adjusted[i] <= 1.0);
                assert!((0..p.len()).all(|j| p[i] > p[j] || adjusted[i] <= adjusted[j]));
            }
        }
    }

    #[test]
    fn rounding_is_no_spread() {
        assert!(equal(&[0.1 + 0.2, 0.3]) && equal(&[0.0, -0.0]) && equal(&[1.0]));
        assert!(!equal(&[0.3, 0.300_001]) && !equal(&[f64::NAN, f64::NAN]) && !equal(&[-1.0, 1.0]));
    }
}
