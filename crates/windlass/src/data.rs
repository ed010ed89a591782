//! Training rows, checked once.

use std::borrow::Cow;

use ndarray::{ArrayView, ArrayView2, CowArray, Dimension, Ix2};
use rayon::prelude::*;

use crate::error::same_rows;
use crate::sums::LARGEST_WEIGHT;
use crate::{Error, Real, Result};

/// Features, targets and optional row weights of the same rows, checked: not empty, equally long, all
/// values finite and below [`Real::LIMIT`] in size.
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
///     "x and y must have the same rows, got 2 and 1"
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
    /// Checks features `x` and targets `y`.
    pub fn new<T: Real, Dx: Dimension, Dy: Dimension>(
        x: ArrayView<'a, T, Dx>,
        y: ArrayView<'a, T, Dy>,
    ) -> Result<Self> {
        let (x, y) = (flatten(x), flatten(y));
        same_rows(("x", x.nrows()), ("y", y.nrows()))?;
        for (what, rows) in [("x", &x), ("y", &y)] {
            for (missing, count) in [("rows", rows.nrows()), ("columns", rows.ncols())] {
                if count == 0 {
                    return Err(Error::Empty { what, missing });
                }
            }
            check_finite(what, rows.view())?;
        }
        Ok(Self { x: T::widen_rows(x), y: T::widen_rows(y), weights: None })
    }

    /// Adds a weight for every row, `[0, 2⁵⁰]`, not all 0.
    ///
    /// Weights count in means and deviations, in k-means and in regressions. Partners in a mixup are drawn
    /// without them.
    pub fn with_weights(mut self, weights: &'a [f64]) -> Result<Self> {
        check_weights(weights, self.rows())?;
        check_some_weight(weights)?;
        self.weights = Some(Cow::Borrowed(weights));
        Ok(self)
    }

    /// Some of the rows.
    pub(crate) fn select(&self, rows: &[usize]) -> Samples<'static> {
        let axis = ndarray::Axis(0);
        let weights = self.weights.as_ref().map(|all| rows.iter().map(|&row| all[row]).collect());
        Samples {
            x: self.x.select(axis, rows).into(),
            y: self.y.select(axis, rows).into(),
            weights,
        }
    }

    /// The features, one row a sample.
    #[must_use]
    pub fn x(&self) -> ArrayView2<'_, f64> {
        self.x.view()
    }

    /// The targets, one row a sample.
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

/// Rows of any dimension as an n × d matrix in standard layout, borrowed where they already are.
pub(crate) fn flatten<T: Real, D: Dimension>(rows: ArrayView<'_, T, D>) -> CowArray<'_, T, Ix2> {
    let n = rows.shape().first().copied().unwrap_or(1);
    let d = rows.shape().iter().skip(1).product();
    let shape = (n, d);
    if rows.is_standard_layout() {
        let view = rows.into_shape_with_order(shape).expect("standard layout and the same size");
        CowArray::from(view)
    } else {
        let values = rows.iter().copied().collect();
        let owned = ndarray::Array2::from_shape_vec(shape, values).expect("the same size");
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

/// Refuses the first value that is NaN, infinite or too large to be summed exactly.
pub(crate) fn check_finite<T: Real>(what: &'static str, rows: ArrayView2<'_, T>) -> Result<()> {
    check_below(what, rows, T::LIMIT)
}

/// [`check_finite`] of rows in which NaN stands for a missing value.
pub(crate) fn check_finite_or_missing(what: &'static str, rows: ArrayView2<'_, f64>) -> Result<()> {
    let all = rows.to_slice().expect("standard layout");
    let bad = |value: &f64| value.abs() >= f64::LIMIT;
    // Without a way out in the middle the loop is one of vectors.
    if !all.iter().fold(false, |any, value| any | bad(value)) {
        return Ok(());
    }
    let index = all.iter().position(bad).expect("there is one");
    Err(refusal(what, rows, index, f64::LIMIT))
}

/// [`check_finite`] of some of the rows.
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

/// Refuses the first value that is NaN, infinite or not below a limit in size.
pub(crate) fn check_below<T: Real>(
    what: &'static str,
    rows: ArrayView2<'_, T>,
    limit: f64,
) -> Result<()> {
    let all = rows.to_slice().expect("standard layout");
    let fits = |value: &T| value.widen().abs() < limit;
    let bad = |block: &[T]| !block.iter().fold(true, |ok, value| ok & fits(value));
    // Few values are not worth the way to other threads.
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

/// Why the value at this place of the flattened rows is refused.
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

/// Refuses weights that are all 0.
pub(crate) fn check_some_weight(weights: &[f64]) -> Result<()> {
    if weights.iter().all(|&weight| weight == 0.0) { Err(Error::NoWeight) } else { Ok(()) }
}

/// Refuses weights that are negative, very large, not finite or not one per row.
pub(crate) fn check_weights(weights: &[f64], rows: usize) -> Result<()> {
    same_rows(("the weights", weights.len()), ("x", rows))?;
    match weights.iter().position(|weight| !(0.0..=LARGEST_WEIGHT).contains(weight)) {
        Some(row) => Err(Error::BadWeight { row, got: weights[row] }),
        None => Ok(()),
    }
}
