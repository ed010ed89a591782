//! Penalized least squares of any rank and shape.
//!
//! ```text
//! argmin_B ‖Y − XB‖² + λ‖B‖² = V diag(s/(s² + λ)) UᵀY,    X = U diag(s) Vᵀ
//! ```
//!
//! With `λ = 0` singular values at the level of rounding are dropped, which gives the minimum-norm solution.

use faer::Mat;

use crate::{Error, Result};

/// The coefficients, columns of `x` × columns of `y`. `size` is the norm of the data from which `x` was computed;
/// singular values at the level of its rounding are dropped.
pub(super) fn least_squares(
    x: &Mat<f64>,
    y: &Mat<f64>,
    penalty: f64,
    size: f64,
) -> Result<Mat<f64>> {
    let (rows, columns) = (x.nrows(), x.ncols());
    if rows == 0 {
        return Ok(Mat::zeros(columns, y.ncols()));
    }
    let svd = x.thin_svd().map_err(|_| Error::NoConvergence { rows, columns })?;
    let singular = svd.S().column_vector();
    let largest = singular.iter().copied().fold(0.0, f64::max);
    let tolerance = largest.max(size) * f64::EPSILON * rows.max(columns) as f64;
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
