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
//!
//! Two views of errors by the size of the target: [`sera`] weights squared errors by the relevance of the target, and
//! [`by_range`] divides the rows into ranges of the target.

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

/// The squared error-relevance area (SERA): the area under the curve of `Σ (y − p)²` over the rows with a relevance
/// of at least t, for t from 0 to 1 (Ribeiro, Moniz, 2020).
///
/// A row counts for every t up to its relevance φ, so the area is exactly `Σ φ·(y − p)²`.
///
/// ```
/// use windlass::metrics::sera;
///
/// assert_eq!(sera(&[1.0, 5.0], &[2.0, 3.0], &[0.0, 0.5])?, 2.0);
/// # Ok::<(), windlass::Error>(())
/// ```
pub fn sera(y: &[f64], p: &[f64], relevance: &[f64]) -> Result<f64> {
    check(column(y), column(p), None)?;
    same_rows(("the targets", y.len()), ("the relevance", relevance.len()))?;
    if let Some(&got) = relevance.iter().find(|phi| !(0.0..=1.0).contains(*phi)) {
        return Err(Error::OutOfRange { name: "relevance", range: "[0, 1]", got });
    }
    Ok(y.iter().zip(p).zip(relevance).map(|((y, p), phi)| phi * (y - p).powi(2)).sum())
}

/// A slice as a matrix of one column.
fn column(values: &[f64]) -> ArrayView2<'_, f64> {
    ArrayView1::from(values).insert_axis(ndarray::Axis(1))
}

/// The error on the rows in a range of the target.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RangeError {
    /// The smallest and the largest target of the range.
    pub range: [f64; 2],
    /// Number of rows.
    pub rows: usize,
    /// Root mean squared error.
    pub rmse: f64,
    /// Mean of `p − y`: positive if predictions are too large.
    pub bias: f64,
}

/// The inner edges of ranges of the target with about the same number of rows, ascending; equal edges are one.
#[must_use]
pub fn quantile_edges(y: &[f64], ranges: usize) -> Vec<f64> {
    let mut sorted = y.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut edges: Vec<f64> =
        (1..ranges).filter_map(|at| sorted.get(at * sorted.len() / ranges).copied()).collect();
    edges.dedup();
    // No target is below the smallest.
    edges.retain(|edge| sorted.first().is_some_and(|least| edge > least));
    edges
}

/// The errors in ranges of the target between ascending inner edges, without ranges that have no rows. A target at an
/// edge belongs to the range above.
///
/// ```
/// use windlass::metrics::{by_range, quantile_edges};
///
/// let (y, p) = ([1.0, 2.0, 3.0, 9.0], [1.0, 2.0, 4.0, 6.0]);
/// let errors = by_range(&y, &p, &quantile_edges(&y, 2))?;
/// assert_eq!((errors[0].rmse, errors[1].bias), (0.0, -1.0));
/// # Ok::<(), windlass::Error>(())
/// ```
pub fn by_range(y: &[f64], p: &[f64], edges: &[f64]) -> Result<Vec<RangeError>> {
    check(column(y), column(p), None)?;
    let mut ranges: Vec<Vec<(f64, f64)>> = vec![vec![]; edges.len() + 1];
    for (&y, &p) in y.iter().zip(p) {
        ranges[edges.partition_point(|edge| *edge <= y)].push((y, p));
    }
    let error = |rows: &Vec<(f64, f64)>| {
        let count = rows.len() as f64;
        let least = rows.iter().fold(f64::INFINITY, |least, (y, _)| least.min(*y));
        let most = rows.iter().fold(f64::NEG_INFINITY, |most, (y, _)| most.max(*y));
        RangeError {
            range: [least, most],
            rows: rows.len(),
            rmse: (rows.iter().map(|(y, p)| (y - p).powi(2)).sum::<f64>() / count).sqrt(),
            bias: rows.iter().map(|(y, p)| p - y).sum::<f64>() / count,
        }
    };
    Ok(ranges.iter().filter(|rows| !rows.is_empty()).map(error).collect())
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The area by its definition, with many steps.
    #[test]
    fn sera_is_the_area_under_the_curve() {
        let y: Vec<f64> = (0..40).map(f64::from).collect();
        let p: Vec<f64> = y.iter().map(|y| y + (y * 1.7).sin() * 3.0).collect();
        let phi: Vec<f64> = y.iter().map(|y| (y / 39.0).powi(2)).collect();
        let steps = 100_000;
        let above = |t: f64| -> f64 {
            let rows = y.iter().zip(&p).zip(&phi).filter(|(_, phi)| **phi >= t);
            rows.map(|((y, p), _)| (y - p).powi(2)).sum()
        };
        let area: f64 =
            (0..steps).map(|k| above((f64::from(k) + 0.5) / f64::from(steps))).sum::<f64>();
        let area = area / f64::from(steps);
        assert!((sera(&y, &p, &phi).unwrap() / area - 1.0).abs() < 1e-4);
    }

    #[test]
    fn ranges_partition_the_rows() {
        let y = [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0];
        let p = [1.0; 7];
        let errors = by_range(&y, &p, &quantile_edges(&y, 5)).unwrap();
        assert_eq!(errors.iter().map(|error| error.rows).sum::<usize>(), 7);
        assert_eq!(errors[0].range, [0.0, 0.0]);
        let squares: f64 = errors.iter().map(|error| error.rmse.powi(2) * error.rows as f64).sum();
        let all = Metric::Mse.score(ArrayView1::from(&y), ArrayView1::from(&p), None).unwrap();
        assert!((squares / 7.0 - all).abs() < 1e-12);
        assert!(quantile_edges(&[2.0; 9], 5).is_empty() && quantile_edges(&[], 5).is_empty());
    }

    #[test]
    fn sera_refuses_relevance_outside_its_range() {
        assert!(sera(&[1.0], &[1.0], &[1.5]).is_err());
        assert!(sera(&[1.0], &[1.0], &[f64::NAN]).is_err());
        assert!(sera(&[1.0], &[1.0, 2.0], &[1.0]).is_err());
    }
}
