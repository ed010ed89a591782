//! Predictions, and their standard deviations.

use faer::Par;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use super::coefficients::noisy_factor;
use super::kernel::{Kernel, cross_covariances, matern, squares};
use super::{GaussianProcess, TargetProcess};
use crate::Result;

impl GaussianProcess {
    /// The rows that predictions depend on, standardized and divided by the lengths of a target: column by column.
    pub(crate) fn rows_in_lengths(&self, target: &TargetProcess) -> Vec<f64> {
        self.rows.in_lengths(&target.kernel)
    }

    /// The linear part of a target's predictions: a coefficient for every standardized column, and an intercept.
    pub(crate) fn linear_part(&self, target: &TargetProcess) -> (Vec<f64>, f64) {
        let variance = target.kernel.linear;
        let dot = |column: &[f64]| {
            variance * column.iter().zip(&target.coefficients).map(|(z, c)| z * c).sum::<f64>()
        };
        let columns = self.rows.columns.chunks_exact(self.rows.count()).map(dot).collect();
        (columns, variance * target.coefficients.iter().sum::<f64>())
    }

    fn standardized(&self, x: &ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        let (expected, got) = (self.width(), x.ncols());
        if expected != got {
            let what = "x";
            return Err(windlass::Error::ColumnMismatch { what, expected, got }.into());
        }
        let scaled = |(row, column)| {
            (x[(row, column)] - self.column_offset[column]) / self.column_scale[column]
        };
        Ok(Array2::from_shape_fn(x.dim(), scaled))
    }

    /// The predictions for some rows, a column for every target.
    pub fn predict(&self, x: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        let z = self.standardized(&x)?;
        let mut out = Array2::zeros((z.nrows(), self.targets.len()));
        for (target, mut predicted) in self.targets.iter().zip(out.columns_mut()) {
            let scaled = self.rows_in_lengths(target);
            let (linear, intercept) = self.linear_part(target);
            let Kernel { signal, .. } = target.kernel;
            let predict = |near: &mut (Vec<f64>, Vec<f64>), row: usize| {
                let (squares_to, in_lengths) = near;
                for (column, value) in in_lengths.iter_mut().enumerate() {
                    *value = z[(row, column)] / target.kernel.length(column);
                }
                squares(&scaled, in_lengths, squares_to);
                let terms = squares_to.iter().zip(&target.coefficients);
                let curved: f64 = terms.map(|(&square, c)| matern(square).0 * c).sum();
                let straight: f64 = z.row(row).iter().zip(&linear).map(|(z, b)| z * b).sum();
                signal * curved + straight + intercept
            };
            let space = || (vec![0.0; self.rows.count()], vec![0.0; self.width()]);
            let values: Vec<f64> =
                (0..z.nrows()).into_par_iter().map_init(space, predict).collect();
            for (to, value) in predicted.iter_mut().zip(values) {
                *to = target.offset + target.scale * value;
            }
        }
        Ok(out)
    }

    /// The predictions for some rows and their standard deviations, each with a column for every target. The standard
    /// deviation is that of an observation of weight 1, with its noise. Factorizes the covariances of the rows that
    /// the process was fitted to.
    pub fn predict_with_std(&self, x: ArrayView2<'_, f64>) -> Result<(Array2<f64>, Array2<f64>)> {
        /// Rows at once.
        const BLOCK: usize = 256;
        let (z, mean) = (self.standardized(&x)?, self.predict(x)?);
        let mut std = Array2::zeros(mean.raw_dim());
        for (target, mut out) in self.targets.iter().zip(std.columns_mut()) {
            let kernel = &target.kernel;
            let factor = noisy_factor(&self.rows, kernel);
            let scaled = self.rows_in_lengths(target);
            for start in (0..z.nrows()).step_by(BLOCK) {
                let rows: Vec<Vec<f64>> =
                    (start..z.nrows().min(start + BLOCK)).map(|row| z.row(row).to_vec()).collect();
                let mut cross = cross_covariances(&self.rows, &scaled, &rows, kernel);
                if let Some(factor) = &factor {
                    solve_lower_triangular_in_place(factor.as_ref(), cross.as_mut(), Par::Seq);
                } else {
                    cross.fill(0.0);
                }
                for (index, z) in rows.iter().enumerate() {
                    let before = kernel.at_zero(z.iter().map(|z| z * z).sum());
                    let known: f64 = cross.col_as_slice(index).iter().map(|v| v * v).sum();
                    let variance = (before - known).max(0.0) + kernel.noise;
                    out[start + index] = target.scale * variance.sqrt();
                }
            }
        }
        Ok((mean, std))
    }
}
