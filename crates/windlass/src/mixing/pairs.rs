//! The mixup of pairs: `x̃ᵢ = λ·xᵢ + (1 − λ)·x_{L+i}`, from 2L rows to L.

use std::ops::Range;

use crate::simd::vectorized;
use ndarray::{Array2, ArrayView2};

use super::{Form, Gather, Strength};
use crate::data::row_slices;
use crate::{Real, Result};

/// The map: λ of each row, and the weight of each pair.
#[derive(Debug, Clone)]
pub(crate) struct Pairs {
    rows: usize,
    lambda: Strength,
    row_weights: Option<Vec<f64>>,
}

impl Pairs {
    pub(crate) fn new(
        rows: usize,
        lambda: Strength,
        row_weights: Option<Vec<f64>>,
    ) -> Result<Self> {
        lambda.check("lambda", "[0, 1]", rows, |lambda| (0.0..=1.0).contains(&lambda))?;
        Ok(Self { rows, lambda, row_weights })
    }

    pub(crate) fn form(&self) -> Form<'_> {
        Form::Pairs { lambda: &self.lambda }
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn lambda(&self, row: usize) -> f64 {
        self.lambda.at(row)
    }

    pub(crate) fn row_weights(&self) -> Option<&[f64]> {
        self.row_weights.as_deref()
    }

    /// The map without some pairs.
    pub(crate) fn without(&self, dropped: impl Fn(usize) -> bool) -> Self {
        let kept: Vec<usize> = (0..self.rows).filter(|&row| !dropped(row)).collect();
        let lambda = match &self.lambda {
            Strength::Shared(lambda) => Strength::Shared(*lambda),
            Strength::PerRow(all) => Strength::PerRow(kept.iter().map(|&row| all[row]).collect()),
        };
        Self { rows: kept.len(), lambda, row_weights: None }
    }

    pub(crate) fn write<T: Real>(
        &self,
        rows: ArrayView2<'_, T>,
        gather: Gather<'_>,
        range: Range<usize>,
        out: &mut [T],
    ) {
        let source = row_slices(rows);
        vectorized(
            out,
            #[inline(always)]
            |out| {
                for (row, out) in range.clone().zip(out.chunks_exact_mut(rows.ncols())) {
                    let lambda = T::narrow(self.lambda.at(row));
                    let first = source(gather.source(row));
                    let second = source(gather.partner(row, self.rows));
                    for ((out, &a), &b) in out.iter_mut().zip(first).zip(second) {
                        *out = lambda * a + (T::one() - lambda) * b;
                    }
                }
            },
        );
    }

    pub(crate) fn apply_transposed<T: Real>(&self, gradient: ArrayView2<'_, T>) -> Array2<T> {
        Array2::from_shape_fn((2 * self.rows, gradient.ncols()), |(i, j)| {
            let row = i % self.rows;
            let lambda = T::narrow(self.lambda.at(row));
            let share = if i < self.rows { lambda } else { T::one() - lambda };
            share * gradient[(row, j)]
        })
    }
}
