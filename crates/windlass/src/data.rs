//! Validated training rows: [`Dataset`] owns them, [`Samples`] borrows if possible.

use std::borrow::Cow;

use ndarray::{Array2, ArrayView, ArrayView2, Axis, CowArray, Dimension, Ix2};
use rayon::prelude::*;

use crate::error::same_rows;
use crate::sums::LARGEST_WEIGHT;
use crate::{Error, Real, Result};

/// Owned features, targets and optional row weights, under the same checks as [`Samples`].
///
/// Matrices are in standard layout. Networks train on `Dataset<f32>`, all other models on `Dataset<f64>`.
///
/// ```
/// use ndarray::array;
/// use windlass::Dataset;
///
/// let data = Dataset::new(array![[1.0], [2.0], [3.0]], array![[0.5], [0.7], [0.9]], None)?;
/// assert_eq!(data.select(&[2, 0])?.y(), array![[0.9], [0.5]]);
/// assert_eq!(data.samples().rows(), 3);
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset<T = f64> {
    x: Array2<T>,
    y: Array2<T>,
    weights: Option<Vec<f64>>,
}

impl<T: Real> Dataset<T> {
    /// Validates features `x`, targets `y` and row weights; see [`Samples`].
    pub fn new(x: Array2<T>, y: Array2<T>, weights: Option<Vec<f64>>) -> Result<Self> {
        let standard = |values: Array2<T>| {
            if values.is_standard_layout() { values } else { flatten(values.view()).into_owned() }
        };
        let (x, y) = (standard(x), standard(y));
        check_rows(x.view(), y.view())?;
        if let Some(weights) = &weights {
            check_weights(weights, x.nrows())?;
            check_some_weight(weights)?;
        }
        Ok(Self { x, y, weights })
    }

    /// The features, one row per sample.
    #[must_use]
    pub fn x(&self) -> &Array2<T> {
        &self.x
    }

    /// The targets, one row per sample.
    #[must_use]
    pub fn y(&self) -> &Array2<T> {
        &self.y
    }

    /// The row weights, if any.
    #[must_use]
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The weight of a row; 1 without weights.
    #[must_use]
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.x.nrows()
    }

    /// The given rows, in that order; an error if there are none or all weights are 0.
    pub fn select(&self, rows: &[usize]) -> Result<Self> {
        let weights = self.weights.as_ref().map(|all| rows.iter().map(|&row| all[row]).collect());
        Self::new(self.x.select(Axis(0), rows), self.y.select(Axis(0), rows), weights)
    }

    /// The rows as [`Samples`].
    #[must_use]
    pub fn samples(&self) -> Samples<'_> {
        Samples {
            x: T::widen_rows(self.x.view().into()),
            y: T::widen_rows(self.y.view().into()),
            weights: self.weights.as_deref().map(Cow::Borrowed),
        }
    }
}

/// Features, targets and optional row weights, validated: not empty, of equal length, all values finite and below
/// [`Real::LIMIT`] in magnitude.
///
/// Features and targets may have any number of dimensions; the first is the row. Rows of `f32` are
/// copied to `f64`, rows of `f64` in standard layout are borrowed.
///
/// ```
/// use ndarray::array;
/// use windlass::Samples;
///
/// let x = array![[1.0, 2.0], [3.0, 4.0]];
/// let y = array![0.5, 0.7];
/// let samples = Samples::new(x.view(), y.view())?;
/// assert_eq!((samples.rows(), samples.x().ncols(), samples.y().ncols()), (2, 2, 1));
///
/// let short = array![0.5];
/// assert_eq!(
///     Samples::new(x.view(), short.view()).unwrap_err().to_string(),
///     "x and y must have the same number of rows, got 2 and 1"
/// );
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Samples<'a> {
    x: CowArray<'a, f64, Ix2>,
    y: CowArray<'a, f64, Ix2>,
    weights: Option<Cow<'a, [f64]>>,
}

impl<'a> Samples<'a> {
    /// Validates features `x` and targets `y`.
    pub fn new<T: Real, Dx: Dimension, Dy: Dimension>(
        x: ArrayView<'a, T, Dx>,
        y: ArrayView<'a, T, Dy>,
    ) -> Result<Self> {
        let (x, y) = (flatten(x), flatten(y));
        check_rows(x.view(), y.view())?;
        Ok(Self { x: T::widen_rows(x), y: T::widen_rows(y), weights: None })
    }

    /// Adds row weights in `[0, 2⁵⁰]`, not all 0.
    ///
    /// Weights apply to means and standard deviations, to k-means and to regressions, but not to the partners of a
    /// mixup.
    pub fn with_weights(mut self, weights: &'a [f64]) -> Result<Self> {
        check_weights(weights, self.rows())?;
        check_some_weight(weights)?;
        self.weights = Some(Cow::Borrowed(weights));
        Ok(self)
    }

    /// The given rows, in that order.
    pub(crate) fn select(&self, rows: &[usize]) -> Samples<'static> {
        let weights = self.weights.as_ref().map(|all| rows.iter().map(|&row| all[row]).collect());
        Samples {
            x: self.x.select(Axis(0), rows).into(),
            y: self.y.select(Axis(0), rows).into(),
            weights,
        }
    }

    /// The features, one row per sample.
    #[must_use]
    pub fn x(&self) -> ArrayView2<'_, f64> {
        self.x.view()
    }

    /// The targets, one row per sample.
    #[must_use]
    pub fn y(&self) -> ArrayView2<'_, f64> {
        self.y.view()
    }

    /// The row weights, if any.
    #[must_use]
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.x.nrows()
    }
}

/// Returns an error if features or targets are empty, have different lengths or invalid values.
fn check_rows<T: Real>(x: ArrayView2<'_, T>, y: ArrayView2<'_, T>) -> Result<()> {
    same_rows(("x", x.nrows()), ("y", y.nrows()))?;
    for (what, rows) in [("x", x), ("y", y)] {
        for (missing, count) in [("rows", rows.nrows()), ("columns", rows.ncols())] {
            if count == 0 {
                return Err(Error::Empty { what, missing });
            }
        }
        check_finite(what, rows)?;
    }
    Ok(())
}

/// Rows of any dimension as an n × d matrix in standard layout, borrowed if they already are.
pub(crate) fn flatten<T: Real, D: Dimension>(rows: ArrayView<'_, T, D>) -> CowArray<'_, T, Ix2> {
    let n = rows.shape().first().copied().unwrap_or(1);
    let d = rows.shape().iter().skip(1).product();
    let shape = (n, d);
    if rows.is_standard_layout() {
        let view = rows.into_shape_with_order(shape).expect("standard layout and the same size");
        CowArray::from(view)
    } else {
        let values = rows.iter().copied().collect();
        let owned = Array2::from_shape_vec(shape, values).expect("the same size");
        CowArray::from(owned)
    }
}

/// The rows of a standard-layout matrix as slices.
pub(crate) fn row_slices<'a, T: Real>(
    rows: ArrayView2<'a, T>,
) -> impl Fn(usize) -> &'a [T] + Copy + Sync {
    let d = rows.ncols();
    let all = rows.to_slice().expect("standard layout");
    move |row| &all[row * d..(row + 1) * d]
}

const BLOCK: usize = 1 << 14;

/// Returns an error for the first value that is NaN, infinite or too large to be summed exactly.
pub(crate) fn check_finite<T: Real>(what: &'static str, rows: ArrayView2<'_, T>) -> Result<()> {
    check_below(what, rows, T::LIMIT)
}

/// [`check_finite`] of rows in which NaN is a missing value.
pub(crate) fn check_finite_or_missing(what: &'static str, rows: ArrayView2<'_, f64>) -> Result<()> {
    let all = rows.to_slice().expect("standard layout");
    let bad = |value: &f64| value.abs() >= f64::LIMIT;
    // Without an early exit the loop is vectorized.
    if !all.iter().fold(false, |any, value| any | bad(value)) {
        return Ok(());
    }
    let index = all.iter().position(bad).expect("there is one");
    Err(refusal(what, rows, index, f64::LIMIT))
}

/// [`check_finite`] of the listed rows.
pub(crate) fn check_finite_rows<T: Real>(
    what: &'static str,
    rows: ArrayView2<'_, T>,
    listed: impl Iterator<Item = usize>,
) -> Result<()> {
    let row = row_slices(rows);
    for i in listed {
        if !row(i).iter().all(|value| value.widen().abs() < T::LIMIT) {
            return check_finite(what, rows);
        }
    }
    Ok(())
}

/// Returns an error for the first value that is NaN, infinite or not below `limit` in magnitude.
pub(crate) fn check_below<T: Real>(
    what: &'static str,
    rows: ArrayView2<'_, T>,
    limit: f64,
) -> Result<()> {
    let all = rows.to_slice().expect("standard layout");
    let fits = |value: &T| value.widen().abs() < limit;
    let bad = |block: &[T]| !block.iter().fold(true, |ok, value| ok & fits(value));
    // One block is checked on this thread.
    let found = match all.len() {
        0..=BLOCK => bad(all).then_some(0),
        _ => all.par_chunks(BLOCK).position_first(bad),
    };
    let Some(block) = found else {
        return Ok(());
    };
    let first = block * BLOCK;
    let index = first + all[first..].iter().position(|value| !fits(value)).unwrap_or(0);
    Err(refusal(what, rows, index, limit))
}

/// The error for the value at `index` of the flattened rows.
fn refusal<T: Real>(
    what: &'static str,
    rows: ArrayView2<'_, T>,
    index: usize,
    limit: f64,
) -> Error {
    let (row, column) = (index / rows.ncols(), index % rows.ncols());
    let value = rows[(row, column)].widen();
    if value.is_finite() {
        Error::TooLarge { what, row, column, value, limit }
    } else {
        Error::NotFinite { what, row, column, value }
    }
}

/// [`check_finite`] for one column.
pub(crate) fn check_finite_values(what: &'static str, values: &[f64]) -> Result<()> {
    let column = ArrayView2::from_shape((values.len(), 1), values).expect("one column");
    check_finite(what, column)
}

/// Returns an error if all weights are 0.
pub(crate) fn check_some_weight(weights: &[f64]) -> Result<()> {
    if weights.iter().all(|&weight| weight == 0.0) { Err(Error::NoWeight) } else { Ok(()) }
}

/// Returns an error for weights that are negative, too large, not finite or not one per row.
pub(crate) fn check_weights(weights: &[f64], rows: usize) -> Result<()> {
    same_rows(("the weights", weights.len()), ("x", rows))?;
    match weights.iter().position(|weight| !(0.0..=LARGEST_WEIGHT).contains(weight)) {
        Some(row) => Err(Error::BadWeight { row, got: weights[row] }),
        None => Ok(()),
    }
}
