//! Regression metrics, with optional row weights.
//!
//! Each is computed for every output (column) and averaged over the outputs for which it is defined.
//!
//! | Metric | Value | Defined if |
//! | :-- | :-- | :-- |
//! | [`Mse`](Metric::Mse) | mean of `(y − p)²` | |
//! | [`Rmse`](Metric::Rmse) | square root of `Mse` | |
//! | [`Mae`](Metric::Mae) | mean of <code>&#124;y − p&#124;</code> | |
//! | [`Mape`](Metric::Mape) | `100 ·` mean of <code>&#124;(y − p)/y&#124;</code> over rows with `y ≠ 0` | there is such a row |
//! | [`R`](Metric::R) | Pearson's [`correlation`] of `y` and `p` | `y` and `p` vary |
//! | [`RSquared`](Metric::RSquared) | square of `R`, as in the published code | `y` and `p` vary |
//! | [`Determination`](Metric::Determination) | `1 − Σ(y − p)²/Σ(y − ȳ)²` | `y` varies |
//!
//! "R²" means either of the last two in the literature; they agree only for least squares on training rows, so they
//! have different names here.

use ndarray::{ArrayView, ArrayView1, ArrayView2, Dimension};

use crate::data::{check_finite, check_weights, flatten};
use crate::error::same_rows;
use crate::{Error, Result};

/// A measure of error or agreement. See the [module](self).
///
/// ```
/// use ndarray::array;
/// use windlass::metrics::Metric;
///
/// let (y, p) = (array![1.0, 2.0, 4.0], array![1.0, 3.0, 4.0]);
/// assert_eq!(Metric::Mse.score(y.view(), p.view(), None)?, 1.0 / 3.0);
/// assert_eq!(Metric::Mse.score(y.view(), p.view(), Some(&[1.0, 2.0, 1.0]))?, 0.5);
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
    /// The metric of predictions `p` for targets `y`; an error if it is undefined for every output.
    pub fn score<Dy: Dimension, Dp: Dimension>(
        self,
        y: ArrayView<'_, f64, Dy>,
        p: ArrayView<'_, f64, Dp>,
        weights: Option<&[f64]>,
    ) -> Result<f64> {
        let (y, p) = (flatten(y), flatten(p));
        check(y.view(), p.view(), weights)?;
        let missing = "targets to average over";
        self.value(y.view(), p.view(), weights).ok_or(Error::Empty { what: "the metric", missing })
    }

    /// [`score`](Self::score) without its checks, for matrices of the same size; `None` if it is undefined.
    #[must_use]
    pub fn value(
        self,
        y: ArrayView2<'_, f64>,
        p: ArrayView2<'_, f64>,
        weights: Option<&[f64]>,
    ) -> Option<f64> {
        let of_output = match self {
            Self::Mse => mean_squared_error,
            Self::Rmse => return Self::Mse.value(y, p, weights).map(f64::sqrt),
            Self::Mae => mean_absolute_error,
            Self::Mape => mean_absolute_percentage_error,
            Self::R => correlation,
            Self::RSquared => return Self::R.value(y, p, weights).map(|r| r * r),
            Self::Determination => determination,
        };
        let outputs = y.columns().into_iter().zip(p.columns());
        let values: Vec<f64> = outputs.filter_map(|(y, p)| of_output(y, p, weights)).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }
}

fn check(y: ArrayView2<'_, f64>, p: ArrayView2<'_, f64>, weights: Option<&[f64]>) -> Result<()> {
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
    weights.map_or(Ok(()), |weights| check_weights(weights, y.nrows()))
}

/// Weighted mean over the rows for which `term` has a value; `None` if their weights sum to 0.
fn mean(
    y: ArrayView1<'_, f64>,
    p: ArrayView1<'_, f64>,
    weights: Option<&[f64]>,
    term: impl Fn(f64, f64) -> Option<f64>,
) -> Option<f64> {
    let (mut sum, mut total) = (0.0, 0.0);
    for (row, (&y, &p)) in y.iter().zip(p).enumerate() {
        if let Some(value) = term(y, p) {
            let weight = weights.map_or(1.0, |weights| weights[row]);
            sum += weight * value;
            total += weight;
        }
    }
    (total > 0.0).then(|| sum / total)
}

fn mean_squared_error(
    y: ArrayView1<'_, f64>,
    p: ArrayView1<'_, f64>,
    weights: Option<&[f64]>,
) -> Option<f64> {
    mean(y, p, weights, |y, p| Some((y - p).powi(2)))
}

fn mean_absolute_error(
    y: ArrayView1<'_, f64>,
    p: ArrayView1<'_, f64>,
    weights: Option<&[f64]>,
) -> Option<f64> {
    mean(y, p, weights, |y, p| Some((y - p).abs()))
}

fn mean_absolute_percentage_error(
    y: ArrayView1<'_, f64>,
    p: ArrayView1<'_, f64>,
    weights: Option<&[f64]>,
) -> Option<f64> {
    mean(y, p, weights, |y, p| (y != 0.0).then(|| 100.0 * ((y - p) / y).abs()))
}

/// Pearson's correlation; `None` if either is constant.
#[must_use]
pub fn correlation(
    a: ArrayView1<'_, f64>,
    b: ArrayView1<'_, f64>,
    weights: Option<&[f64]>,
) -> Option<f64> {
    let a_mean = mean(a, b, weights, |a, _| Some(a))?;
    let b_mean = mean(a, b, weights, |_, b| Some(b))?;
    let covariance = mean(a, b, weights, |a, b| Some((a - a_mean) * (b - b_mean)))?;
    let variances = mean(a, b, weights, |a, _| Some((a - a_mean).powi(2)))?
        * mean(a, b, weights, |_, b| Some((b - b_mean).powi(2)))?;
    let varies = variances > 0.0 && !is_constant(a) && !is_constant(b);
    varies.then(|| covariance / variances.sqrt())
}

fn determination(
    y: ArrayView1<'_, f64>,
    p: ArrayView1<'_, f64>,
    weights: Option<&[f64]>,
) -> Option<f64> {
    let y_mean = mean(y, p, weights, |y, _| Some(y))?;
    let variance = mean(y, p, weights, |y, _| Some((y - y_mean).powi(2)))?;
    let error = mean_squared_error(y, p, weights)?;
    (variance > 0.0 && !is_constant(y)).then(|| 1.0 - error / variance)
}

/// Checked directly: the variance of equal values may not be 0, because their mean is rounded.
fn is_constant(values: ArrayView1<'_, f64>) -> bool {
    values.iter().all(|&value| value == values[0])
}
