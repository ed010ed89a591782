//! How far predictions are from the truth.
//!
//! | Metric | Value | Over |
//! | :-- | :-- | :-- |
//! | [`Mse`](Metric::Mse) | mean of `(y − p)²` | all entries of all outputs |
//! | [`Rmse`](Metric::Rmse) | its square root | |
//! | [`Mae`](Metric::Mae) | mean of <code>&#124;y − p&#124;</code> | |
//! | [`Mape`](Metric::Mape) | `100 ·` mean of <code>&#124;(y − p)/y&#124;</code> | entries with `y ≠ 0` |
//! | [`R`](Metric::R) | Pearson's correlation of `y` and `p`, averaged over outputs | outputs where `y` varies |
//! | [`RSquared`](Metric::RSquared) | the square of `R`, as in the published code | |
//! | [`Determination`](Metric::Determination) | `1 − Σ(y − p)²/Σ(y − ȳ)²`, averaged over outputs | outputs where `y` varies |
//!
//! "R²" means either of the last two in the literature: they agree for least squares on training rows
//! and nowhere else, so both have their own name here.

use ndarray::{ArrayView, ArrayView1, ArrayView2, Axis, Dimension};

use crate::data::{check_finite, flatten};
use crate::error::same_rows;
use crate::sums::exact_sum;
use crate::{Error, Partition, Result};

/// A measure of error or agreement. See the [module](self).
///
/// ```
/// use ndarray::array;
/// use windlass::{Partition, metrics::Metric};
///
/// let (y, p) = (array![1.0, 2.0, 4.0], array![1.0, 3.0, 4.0]);
/// assert_eq!(Metric::Mse.of(y.view(), p.view())?, 1.0 / 3.0);
///
/// let sites = Partition::new(vec![0, 1, 1], 2)?;
/// assert_eq!(Metric::Mae.per_domain(y.view(), p.view(), &sites)?, [Some(0.0), Some(0.5)]);
/// assert_eq!(Metric::Mae.worst_domain(y.view(), p.view(), &sites)?, 0.5);
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the module's table defines each")]
pub enum Metric {
    Mse,
    Rmse,
    Mae,
    Mape,
    R,
    RSquared,
    Determination,
}

impl Metric {
    /// The metric over all rows of targets `y` and predictions `p`.
    ///
    /// Refused where nothing is left to average over: `y` is 0 everywhere, or never varies.
    pub fn of<Dy: Dimension, Dp: Dimension>(
        self,
        y: ArrayView<'_, f64, Dy>,
        p: ArrayView<'_, f64, Dp>,
    ) -> Result<f64> {
        let (y, p) = (flatten(y), flatten(p));
        check(y.view(), p.view())?;
        self.value(y.view(), p.view())
    }

    /// The metric of every domain by itself; `None` for a domain without rows, or where it is undefined.
    pub fn per_domain<Dy: Dimension, Dp: Dimension>(
        self,
        y: ArrayView<'_, f64, Dy>,
        p: ArrayView<'_, f64, Dp>,
        domains: &Partition,
    ) -> Result<Vec<Option<f64>>> {
        let (y, p) = (flatten(y), flatten(p));
        check(y.view(), p.view())?;
        same_rows(("the domains", domains.rows()), ("y", y.nrows()))?;
        let of_rows = |rows: Vec<usize>| {
            let (y, p) = (y.select(Axis(0), &rows), p.select(Axis(0), &rows));
            if rows.is_empty() { None } else { self.value(y.view(), p.view()).ok() }
        };
        Ok(domains.members().into_iter().map(of_rows).collect())
    }

    /// The worst of [`per_domain`](Self::per_domain): the largest error, or the smallest agreement.
    pub fn worst_domain<Dy: Dimension, Dp: Dimension>(
        self,
        y: ArrayView<'_, f64, Dy>,
        p: ArrayView<'_, f64, Dp>,
        domains: &Partition,
    ) -> Result<f64> {
        let values = self.per_domain(y, p, domains)?.into_iter().flatten();
        let worst = if self.is_error() { values.reduce(f64::max) } else { values.reduce(f64::min) };
        worst.ok_or(Error::Empty { what: "the metric", missing: "domain where it is defined" })
    }

    /// Whether smaller is better.
    #[must_use]
    pub fn is_error(self) -> bool {
        matches!(self, Self::Mse | Self::Rmse | Self::Mae | Self::Mape)
    }

    fn value(self, y: ArrayView2<'_, f64>, p: ArrayView2<'_, f64>) -> Result<f64> {
        let pairs = || y.iter().zip(p.iter());
        match self {
            Self::Mse => mean(pairs().map(|(y, p)| (y - p) * (y - p))),
            Self::Rmse => Self::Mse.value(y, p).map(f64::sqrt),
            Self::Mae => mean(pairs().map(|(y, p)| (y - p).abs())),
            Self::Mape => {
                let nonzero = pairs().filter(|&(&y, _)| y != 0.0);
                mean(nonzero.map(|(y, p)| 100.0 * ((y - p) / y).abs()))
            }
            Self::R => mean_over_outputs(y, p, correlation),
            Self::RSquared => Self::R.value(y, p).map(|r| r * r),
            Self::Determination => mean_over_outputs(y, p, determination),
        }
    }
}

fn check(y: ArrayView2<'_, f64>, p: ArrayView2<'_, f64>) -> Result<()> {
    same_rows(("the targets", y.nrows()), ("the predictions", p.nrows()))?;
    if y.is_empty() {
        return Err(Error::Empty { what: "the metric", missing: "targets to average over" });
    }
    check_finite("the targets", y)?;
    check_finite("the predictions", p)?;
    if y.ncols() != p.ncols() {
        let (expected, got) = (y.ncols(), p.ncols());
        return Err(Error::ColumnMismatch { what: "the predictions", expected, got });
    }
    Ok(())
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> Result<f64> {
    let count = values.clone().count();
    if count == 0 {
        return Err(Error::Empty { what: "the metric", missing: "targets to average over" });
    }
    Ok(exact_sum(values).map_or(f64::INFINITY, |sum| sum / count as f64))
}

fn mean_over_outputs(
    y: ArrayView2<'_, f64>,
    p: ArrayView2<'_, f64>,
    of_output: impl Fn(ArrayView1<'_, f64>, ArrayView1<'_, f64>) -> Option<f64>,
) -> Result<f64> {
    let outputs = y.columns().into_iter().zip(p.columns());
    let values: Vec<f64> = outputs.filter_map(|(y, p)| of_output(y, p)).collect();
    mean(values.iter().copied())
}

/// Σ(a − ā)(b − b̄).
fn co_moment(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
    let mean = |values: ArrayView1<'_, f64>| {
        exact_sum(values.iter().copied()).unwrap_or(f64::INFINITY) / values.len() as f64
    };
    let (a_mean, b_mean) = (mean(a), mean(b));
    let products = a.iter().zip(b).map(|(a, b)| (a - a_mean) * (b - b_mean));
    exact_sum(products).unwrap_or(f64::INFINITY)
}

/// Pearson's correlation; 0 for a constant prediction, `None` for a constant target.
fn correlation(y: ArrayView1<'_, f64>, p: ArrayView1<'_, f64>) -> Option<f64> {
    if is_constant(y) {
        return None;
    }
    if is_constant(p) {
        return Some(0.0);
    }
    Some(co_moment(y, p) / (co_moment(y, y).sqrt() * co_moment(p, p).sqrt()))
}

fn determination(y: ArrayView1<'_, f64>, p: ArrayView1<'_, f64>) -> Option<f64> {
    let errors = y.iter().zip(p).map(|(y, p)| (y - p) * (y - p));
    let error = exact_sum(errors).unwrap_or(f64::INFINITY);
    (!is_constant(y)).then(|| 1.0 - error / co_moment(y, y))
}

fn is_constant(values: ArrayView1<'_, f64>) -> bool {
    values.iter().all(|&value| value == values[0])
}
