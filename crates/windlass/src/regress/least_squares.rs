//! Penalized least squares of any rank and shape.
//!
//! ```text
//! argmin_B ‖Y − XB‖² + λ‖B‖² = V diag(s/(s² + λ)) UᵀY,    X = U diag(s) Vᵀ
//! ```
//!
//! With `λ = 0` columns of very different size, such as powers of a feature, are first divided by their norms: the
//! rank, and the digits of the solution, do not depend on units. Only if the columns are dependent, singular values of
//! `X` at the level of rounding are dropped, which gives the minimum-norm solution.

use faer::{ColRef, Mat};

use crate::{Error, Result};

/// The sizes of the data from which a design matrix was computed, the scale of its rounding errors.
pub(super) struct Sizes<'a> {
    /// The norm of each column.
    pub(super) columns: &'a [f64],
    /// The norm of all columns.
    pub(super) all: f64,
}

/// The coefficients, columns of `x` × columns of `y`.
pub(super) fn least_squares(
    x: &Mat<f64>,
    y: &Mat<f64>,
    penalty: f64,
    sizes: &Sizes<'_>,
) -> Result<Mat<f64>> {
    let (rows, columns) = (x.nrows(), x.ncols());
    if rows == 0 {
        return Ok(Mat::zeros(columns, y.ncols()));
    }
    if penalty == 0.0
        && rows >= columns
        && let Some(coefficients) = solve_independent(x, y, sizes.columns)?
    {
        return Ok(coefficients);
    }
    let svd = x.thin_svd().map_err(|_| Error::NoConvergence { rows, columns })?;
    let singular = svd.S().column_vector();
    let largest = singular.iter().copied().fold(0.0, f64::max);
    let tolerance = largest.max(sizes.all) * f64::EPSILON * rows.max(columns) as f64;
    let mut projected = svd.U().transpose() * y;
    for (k, &s) in singular.iter().enumerate() {
        let kept = if penalty > 0.0 { s > 0.0 } else { s > tolerance };
        let factor = if kept { s / (s * s + penalty) } else { 0.0 };
        for j in 0..projected.ncols() {
            projected[(k, j)] *= factor;
        }
    }
    Ok(svd.V() * projected)
}

/// The solution without a penalty; none if the columns are dependent, up to rounding.
fn solve_independent(x: &Mat<f64>, y: &Mat<f64>, sizes: &[f64]) -> Result<Option<Mat<f64>>> {
    let (rows, columns) = (x.nrows(), x.ncols());
    if sizes.contains(&0.0) {
        return Ok(None);
    }
    let scaled = Mat::from_fn(rows, columns, |i, j| x[(i, j)] / sizes[j]);
    let svd = scaled.thin_svd().map_err(|_| Error::NoConvergence { rows, columns })?;
    let singular = svd.S().column_vector();
    let largest = singular.iter().copied().fold(1.0, f64::max);
    let tolerance = largest * f64::EPSILON * rows as f64;
    if singular.iter().any(|&s| s <= tolerance) {
        return Ok(None);
    }
    let projected = svd.U().transpose() * y;
    let divided = Mat::from_fn(columns, y.ncols(), |k, j| projected[(k, j)] / singular[k]);
    let solution = svd.V() * divided;
    Ok(Some(Mat::from_fn(columns, y.ncols(), |i, j| solution[(i, j)] / sizes[i])))
}

/// The norm of each column.
pub(super) fn column_norms(x: &Mat<f64>) -> Vec<f64> {
    x.col_iter().map(|column: ColRef<'_, f64>| column.norm_l2()).collect()
}

/// The same problem with at most as many rows as columns: `‖Y − XB‖² = ‖QᵀY − RB‖² + constant`.
pub(super) fn condense(x: Mat<f64>, y: Mat<f64>) -> (Mat<f64>, Mat<f64>, f64) {
    if x.nrows() <= x.ncols() {
        return (x, y, 0.0);
    }
    let factors = x.qr();
    let q = factors.compute_thin_Q();
    let projected = q.transpose() * &y;
    let rest = (y - q * &projected).squared_norm_l2();
    (factors.thin_R().to_owned(), projected, rest)
}
