//! The anchor transform for anchors of any kind, without an n × n matrix.
//!
//! With `Π = QQᵀ` for an orthonormal basis `Q` of the anchors' span, column means `x̄` and `s = √γ`:
//!
//! ```text
//! x̃ᵢ = x̄ + [(xᵢ − x̄) + (s − 1)·Πᵢ(X − x̄)] / [1 + (s − 1)·Σⱼ Πᵢⱼ]                     (2)
//! C   = Qᵀ(X − 1x̄ᵀ) = QᵀX − (Qᵀ1)x̄ᵀ,      Πᵢ(X − x̄) = qᵢC,      Σⱼ Πᵢⱼ = qᵢ·Qᵀ1
//! ```
//!
//! O(nqd) after an O(nq²) factorization. Sums over rows are exact, so their order does not matter.
//! The normalizer of a row can be 0 or negative if the span contains no constant; below 10⁻⁹ it is an error.
//!
//! Schneider, Goshtasbpour, Perez-Cruz, [*Anchor Data Augmentation*](https://arxiv.org/abs/2311.06965),
//! 2023, equations 8 and 9. The published code centers all targets by one mean over all outputs; here
//! every column is centered by its own, as in its PyTorch version.

use std::ops::Range;
use std::sync::Arc;

use ndarray::{Array2, ArrayView1, ArrayView2};
use rayon::prelude::*;

use super::{Form, Gather, Strength};
use crate::data::{check_finite, row_slices};
use crate::mixing::group_mean::parts_of;
use crate::sums::ExactSums;
use crate::{AnchorMatrix, Basis, Error, Real, Result};

/// Smaller than √γ for any valid γ.
const SMALLEST_NORMALIZER: f64 = 1e-9;

/// The map itself: a basis of the anchors' span, and the strength.
#[derive(Debug, Clone)]
pub(crate) struct Projection {
    span: Arc<Span>,
    gamma: Strength,
}

/// The span of some anchors.
#[derive(Debug)]
pub(crate) struct Span {
    basis: Basis,
    /// `Qᵀ1`: the sum of every basis vector.
    q_sums: Vec<f64>,
    /// `Σⱼ Πᵢⱼ` of every row.
    row_sums: Vec<f64>,
}

impl Span {
    pub(crate) fn of(anchors: &AnchorMatrix) -> Self {
        let basis = anchors.basis();
        let q_sums = {
            let q = row_slices(basis.view());
            let mut sums = ExactSums::new(1, basis.rank());
            sums.add_rows((0..basis.rows()).map(|i| (0, 1.0, q(i))));
            sums.totals()
        };
        let row_sum = |row: ArrayView1<'_, f64>| row.iter().zip(&q_sums).map(|(a, b)| a * b).sum();
        let row_sums = basis.view().rows().into_iter().map(row_sum).collect();
        Self { basis, q_sums, row_sums }
    }
}

/// The statistics of all rows for (2): their mean `x̄` and `C`.
#[derive(Debug, Clone)]
pub(crate) struct Projected {
    mean: Vec<f64>,
    coefficients: Array2<f64>,
}

impl Projection {
    pub(crate) fn new(span: Arc<Span>, gamma: Strength) -> Result<Self> {
        gamma.check_gamma(span.basis.rows())?;
        let map = Self { span, gamma };
        for row in 0..map.rows() {
            let value = map.normalizer(row);
            if value.abs() < SMALLEST_NORMALIZER {
                return Err(Error::VanishingNormalizer { row, value, gamma: map.gamma(row) });
            }
        }
        Ok(map)
    }

    pub(crate) fn form(&self) -> Form<'_> {
        Form::Projection { basis: self.span.basis.view(), gamma: &self.gamma }
    }

    pub(crate) fn rows(&self) -> usize {
        self.span.basis.rows()
    }

    pub(crate) fn gamma(&self, row: usize) -> f64 {
        self.gamma.at(row)
    }

    pub(crate) fn shares_span(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.span, &other.span)
    }

    /// `√γ − 1`.
    fn excess(&self, row: usize) -> f64 {
        self.gamma.at(row).sqrt() - 1.0
    }

    fn normalizer(&self, row: usize) -> f64 {
        1.0 + self.excess(row) * self.span.row_sums[row]
    }

    pub(crate) fn project<T: Real>(
        &self,
        what: &'static str,
        rows: ArrayView2<'_, T>,
        gather: Gather<'_>,
    ) -> Result<Projected> {
        let (n, d, rank) = (self.rows(), rows.ncols(), self.span.basis.rank());
        let source = row_slices(rows);
        let sums = weighted_sums(self.span.basis.view(), |_| 1.0, |i| source(gather.source(i)), d);
        let mut plain = ExactSums::new(1, d);
        plain.add_rows((0..n).map(|i| (0, 1.0, source(gather.source(i)))));
        if sums.refused() || plain.refused() {
            check_finite(what, rows)?;
        }
        let mean: Vec<f64> = plain.totals().into_iter().map(|total| total / n as f64).collect();
        let mut coefficients =
            Array2::from_shape_vec((rank, d), sums.totals()).expect("a total for every entry");
        for (mut row, &q_sum) in coefficients.rows_mut().into_iter().zip(&self.span.q_sums) {
            for (value, &mean) in row.iter_mut().zip(&mean) {
                *value -= q_sum * mean;
            }
        }
        Ok(Projected { mean, coefficients })
    }

    pub(crate) fn write<T: Real>(
        &self,
        projected: &Projected,
        rows: ArrayView2<'_, T>,
        gather: Gather<'_>,
        range: Range<usize>,
        out: &mut [T],
    ) {
        let source = row_slices(rows);
        let mut moved = vec![0.0; rows.ncols()];
        for (row, out) in range.zip(out.chunks_exact_mut(rows.ncols())) {
            let x = source(gather.source(row));
            let excess = self.excess(row);
            if excess == 0.0 {
                out.copy_from_slice(x);
                continue;
            }
            self.project_back(row, &projected.coefficients, &mut moved);
            let normalizer = self.normalizer(row);
            for (((out, &x), &mean), &moved) in
                out.iter_mut().zip(x).zip(&projected.mean).zip(&moved)
            {
                let centered: f64 = x.widen() - mean;
                *out = T::narrow(mean + (centered + excess * moved) / normalizer);
            }
        }
    }

    /// `qᵢC`, a row of the projection.
    fn project_back(&self, row: usize, coefficients: &Array2<f64>, out: &mut [f64]) {
        out.fill(0.0);
        for (&q, coefficients) in self.span.basis.view().row(row).iter().zip(coefficients.rows()) {
            for (out, &c) in out.iter_mut().zip(coefficients) {
                *out += q * c;
            }
        }
    }

    /// With `J = 11ᵀ/n`, (2) is `M = J + D⁻¹(I + (S − I)Π)(I − J)`, so with `H = D⁻¹G` and
    /// `K = H + Π(S − I)H` the gradient is `MᵀG = JG + K − JK`.
    pub(crate) fn apply_transposed<T: Real>(
        &self,
        gradient: ArrayView2<'_, T>,
    ) -> Result<Array2<T>> {
        let (n, d) = gradient.dim();
        let mut inner =
            Array2::from_shape_fn((n, d), |(i, j)| gradient[(i, j)].widen() / self.normalizer(i));
        let sums =
            weighted_sums(self.span.basis.view(), |i| self.excess(i), row_slices(inner.view()), d);
        if sums.refused() {
            check_finite("the gradient", inner.view())?;
        }
        let coefficients = Array2::from_shape_vec((self.span.basis.rank(), d), sums.totals())
            .expect("a total for every entry");
        let mut projected = vec![0.0; d];
        for (row, mut inner) in inner.rows_mut().into_iter().enumerate() {
            self.project_back(row, &coefficients, &mut projected);
            for (value, &more) in inner.iter_mut().zip(&projected) {
                *value += more;
            }
        }
        let mut shift = ExactSums::new(1, d);
        let (gradient_row, inner_row) = (row_slices(gradient), row_slices(inner.view()));
        shift.add_rows((0..n).map(|i| (0, 1.0, gradient_row(i))));
        shift.add_rows((0..n).map(|i| (0, -1.0, inner_row(i))));
        let shift = shift.totals();
        Ok(Array2::from_shape_fn((n, d), |(i, j)| T::narrow(inner[(i, j)] + shift[j] / n as f64)))
    }
}

/// `Σᵢ qₖᵢ·weight(i)·row(i)` for every basis vector `k`: exact sums of rounded products.
fn weighted_sums<'a, T: Real>(
    basis: ArrayView2<'_, f64>,
    weight: impl Fn(usize) -> f64 + Sync,
    row: impl Fn(usize) -> &'a [T] + Sync,
    width: usize,
) -> ExactSums {
    let (n, rank) = basis.dim();
    let sum = |range: Range<usize>| {
        let mut sums = ExactSums::new(rank, width);
        let (weight, row) = (&weight, &row);
        sums.add_rows(
            range.flat_map(|i| (0..rank).map(move |k| (k, basis[(i, k)] * weight(i), row(i)))),
        );
        sums
    };
    let parts = parts_of(n, width * rank.max(1));
    if parts.len() == 1 {
        return sum(0..n);
    }
    let merged = parts.into_par_iter().map(sum).reduce_with(|mut a, b| {
        a.merge(&b);
        a
    });
    merged.expect("at least two parts")
}
