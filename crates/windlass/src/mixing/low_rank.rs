//! A low-rank map within neighborhoods of rows.
//!
//! Every row belongs to one neighborhood, which has an orthonormal basis `Q` (rows × rank) and a factor λ:
//!
//! ```text
//! X̃ = λX + (1 − λ)·QQᵀX    (the part outside the span is multiplied by λ), or
//! X̃ = X − (1 − λ)·QQᵀX     (the part inside is)
//! ```
//!
//! Both maps are symmetric, so the gradient is the same map. O(rows · rank · columns); `QQᵀ` is never formed.

use std::ops::Range;

use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use super::{Form, Gather};
use crate::data::row_slices;
use crate::{Real, Result};

/// A neighborhood of rows, and the map on it.
#[derive(Debug, Clone)]
pub struct Subspace {
    /// The rows of the batch in the neighborhood.
    pub rows: Vec<usize>,
    /// An orthonormal basis, rows × rank.
    pub basis: Array2<f64>,
    /// The factor λ in [0, 1]; 1 changes nothing.
    pub lambda: f64,
    /// What λ multiplies.
    pub shrunk: Shrunk,
}

/// The part of the rows that λ multiplies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shrunk {
    /// The part outside the span of the basis.
    Complement,
    /// The part inside the span of the basis.
    Span,
}

impl Subspace {
    /// The factors of `X` and of `QQᵀX`.
    #[must_use]
    pub fn factors(&self) -> (f64, f64) {
        match self.shrunk {
            Shrunk::Complement => (self.lambda, 1.0 - self.lambda),
            Shrunk::Span => (1.0, self.lambda - 1.0),
        }
    }
}

/// The map: the neighborhoods, and the place of every row in them.
#[derive(Debug, Clone)]
pub(crate) struct LowRank {
    subspaces: Vec<Subspace>,
    /// The neighborhood of every row, and its row there.
    places: Vec<(usize, usize)>,
}

impl LowRank {
    /// The map of neighborhoods to which every row of a batch belongs once.
    pub(crate) fn new(rows: usize, subspaces: Vec<Subspace>) -> Self {
        let mut places = vec![(0, 0); rows];
        for (index, subspace) in subspaces.iter().enumerate() {
            for (place, &row) in subspace.rows.iter().enumerate() {
                places[row] = (index, place);
            }
        }
        Self { subspaces, places }
    }

    pub(crate) fn form(&self) -> Form<'_> {
        Form::LowRank { subspaces: &self.subspaces }
    }

    pub(crate) fn rows(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn lambda(&self, row: usize) -> f64 {
        self.subspaces[self.places[row].0].lambda
    }

    /// `QᵀX` of every neighborhood, rank × columns.
    pub(crate) fn project<T: Real>(
        &self,
        what: &'static str,
        rows: ArrayView2<'_, T>,
        gather: Gather<'_>,
    ) -> Result<Vec<Vec<f64>>> {
        gather.check_finite(what, rows)?;
        let (width, source) = (rows.ncols(), row_slices(rows));
        let project = |subspace: &Subspace| {
            let mut coefficients = vec![0.0; subspace.basis.ncols() * width];
            for (q, &row) in subspace.basis.rows().into_iter().zip(&subspace.rows) {
                let x = source(gather.source(row));
                for (&q, coefficients) in q.iter().zip(coefficients.chunks_exact_mut(width)) {
                    for (sum, &x) in coefficients.iter_mut().zip(x) {
                        *sum += q * x.widen();
                    }
                }
            }
            coefficients
        };
        Ok(match &self.subspaces[..] {
            [one] => vec![project(one)],
            all => all.par_iter().map(project).collect(),
        })
    }

    pub(crate) fn write<T: Real>(
        &self,
        coefficients: &[Vec<f64>],
        rows: ArrayView2<'_, T>,
        gather: Gather<'_>,
        range: Range<usize>,
        out: &mut [T],
    ) {
        let (width, source) = (rows.ncols(), row_slices(rows));
        let mut projected = vec![0.0; width];
        for (row, out) in range.zip(out.chunks_exact_mut(width)) {
            let x = source(gather.source(row));
            let (index, place) = self.places[row];
            let subspace = &self.subspaces[index];
            if subspace.lambda == 1.0 {
                out.copy_from_slice(x);
                continue;
            }
            let (own, inside) = subspace.factors();
            projected.fill(0.0);
            let parts = coefficients[index].chunks_exact(width);
            for (&q, part) in subspace.basis.row(place).iter().zip(parts) {
                for (sum, &part) in projected.iter_mut().zip(part) {
                    *sum += q * part;
                }
            }
            for ((out, &x), &projected) in out.iter_mut().zip(x).zip(&projected) {
                *out = T::narrow(own * x.widen() + inside * projected);
            }
        }
    }

    /// The map is symmetric.
    pub(crate) fn apply_transposed<T: Real>(
        &self,
        gradient: ArrayView2<'_, T>,
    ) -> Result<Array2<T>> {
        let coefficients = self.project("the gradient", gradient, Gather::default())?;
        let mut out = Array2::zeros(gradient.dim());
        if gradient.ncols() > 0 {
            let values = out.as_slice_mut().expect("standard layout");
            self.write(&coefficients, gradient, Gather::default(), 0..self.rows(), values);
        }
        Ok(out)
    }
}
