//! Coefficients of the kernels of rows: exact, and through a sample of the rows.

use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::triangular_solve::{
    solve_lower_triangular_in_place, solve_upper_triangular_in_place,
};
use faer::{Accum, Mat, MatMut, Par};

use super::kernel::{Kernel, Rows, cross_covariances};
use super::likelihood::{column, factorize};

/// The Cholesky factor of the covariances of rows with their noise.
pub(super) fn noisy_factor(rows: &Rows, kernel: &Kernel) -> Option<Mat<f64>> {
    let mut factor = rows.covariances(kernel);
    for i in 0..rows.count() {
        factor[(i, i)] += kernel.noise * rows.noise[i];
    }
    factorize(&mut factor)?;
    Some(factor)
}

/// `K⁻¹y`; `None` if the covariances are not positive definite.
pub(super) fn exact_coefficients(rows: &Rows, y: &[f64], kernel: &Kernel) -> Option<Vec<f64>> {
    let factor = noisy_factor(rows, kernel)?;
    let mut solved = column(y);
    solve_lower_triangular_in_place(factor.as_ref(), solved.as_mut(), Par::Seq);
    solve_upper_triangular_in_place(factor.transpose(), solved.as_mut(), Par::Seq);
    finite(solved.col_as_slice(0))
}

/// Coefficients of a sample of rows from all rows, by FITC: each row's noise grows by the part of its variance
/// that the sample does not explain.
///
/// ```text
/// (K + C Λ⁻¹ Cᵀ)⁻¹ C Λ⁻¹ y = L⁻ᵀ (I + V Λ⁻¹ Vᵀ)⁻¹ V Λ⁻¹ y,   K = LLᵀ,   V = L⁻¹C,   Λ = σ²/w + diag(k − VᵀV)
/// ```
pub(super) fn sparse_coefficients(
    rows: &Rows,
    all: &Rows,
    y: &[f64],
    kernel: &Kernel,
) -> Option<Vec<f64>> {
    /// Rows at once, and the jitter in proportion to the mean variance.
    const BLOCK: usize = 512;
    const JITTER: f64 = 1e-8;
    let (m, n) = (rows.count(), all.count());
    let mut factor = rows.covariances(kernel);
    let jitter = JITTER * (0..m).map(|i| factor[(i, i)]).sum::<f64>() / m as f64;
    (0..m).for_each(|i| factor[(i, i)] += jitter);
    factorize(&mut factor)?;
    let scaled = rows.in_lengths(kernel);
    let mut normal = Mat::identity(m, m);
    let mut right = Mat::zeros(m, 1);
    for start in (0..n).step_by(BLOCK) {
        let block: Vec<Vec<f64>> = (start..n.min(start + BLOCK)).map(|row| all.row(row)).collect();
        let mut cross = cross_covariances(rows, &scaled, &block, kernel);
        solve_lower_triangular_in_place(factor.as_ref(), cross.as_mut(), Par::Seq);
        let mut responses = Mat::zeros(block.len(), 1);
        for (index, z) in block.iter().enumerate() {
            let column = cross.col_as_slice_mut(index);
            let before = kernel.at_zero(z.iter().map(|z| z * z).sum());
            let explained: f64 = column.iter().map(|v| v * v).sum();
            let row = start + index;
            let root = (kernel.noise * all.noise[row] + (before - explained).max(0.0)).sqrt();
            for v in column.iter_mut() {
                *v /= root;
            }
            responses[(index, 0)] = y[row] / root;
        }
        let whole = BlockStructure::Rectangular;
        add_product(
            normal.as_mut(),
            BlockStructure::TriangularLower,
            &cross,
            &cross.transpose().to_owned(),
        );
        add_product(right.as_mut(), whole, &cross, &responses);
    }
    factorize(&mut normal)?;
    solve_lower_triangular_in_place(normal.as_ref(), right.as_mut(), Par::Seq);
    solve_upper_triangular_in_place(normal.transpose(), right.as_mut(), Par::Seq);
    solve_upper_triangular_in_place(factor.transpose(), right.as_mut(), Par::Seq);
    finite(right.col_as_slice(0))
}

fn add_product(to: MatMut<'_, f64>, of: BlockStructure, a: &Mat<f64>, b: &Mat<f64>) {
    let whole = BlockStructure::Rectangular;
    triangular::matmul(to, of, Accum::Add, a, whole, b, whole, 1.0, Par::Seq);
}

fn finite(values: &[f64]) -> Option<Vec<f64>> {
    values.iter().all(|value| value.is_finite()).then(|| values.to_vec())
}
