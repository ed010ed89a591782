//! A mixing: the linear map on the rows of a batch that a method draws.
//!
//! | Mixing | rows | maps |
//! | :-- | :-- | :-- |
//! | [`Identity`](Mixing::identity) | L → L | `xᵢ` |
//! | [`GroupMean`](Mixing::group_mean) | L → L | `mean + (xᵢ − mean)/√γ`, mean of the row's group |
//! | [`Projection`](Mixing::projection) | L → L | ADA's equation for any anchors, see [`projection`] |
//! | [`Pairs`](Mixing::pairs) | 2L → L | `λ·xᵢ + (1 − λ)·x_{L+i}` |
//! | [`LowRank`](Form::LowRank) | L → L | `λ·X + (1 − λ)·QQᵀX` within neighborhoods, see [`low_rank`] |
//!
//! A map applies to features, targets and hidden layers of any width and number of dimensions.
//! [`apply_transposed`](Mixing::apply_transposed) computes the gradient, for hidden layers.
//!
//! ```
//! use ndarray::array;
//! use windlass::{Mixing, Partition, Strength};
//!
//! let pairs_of_rows = Partition::new(vec![0, 0, 1, 1], 2)?;
//! let mixing = Mixing::group_mean(pairs_of_rows, Strength::Shared(4.0))?;
//! let x = array![[0.0], [4.0], [10.0], [30.0]];
//! // γ = 4 halves every distance to the group's mean: 2 and 20.
//! assert_eq!(mixing.apply(x.view())?, array![[1.0], [3.0], [15.0], [25.0]]);
//! # Ok::<(), windlass::Error>(())
//! ```

pub mod group_mean;
pub mod low_rank;
pub mod pairs;
pub mod projection;

use std::ops::Range;
use std::sync::Arc;

use ndarray::{Array, ArrayView, ArrayView2, ArrayViewMut, Dimension};
use rayon::prelude::*;

use crate::data::{check_finite, check_finite_rows, flatten};
use crate::error::same_rows;
use crate::gamma::{GAMMA, GAMMA_RANGE};
use crate::{AnchorMatrix, Error, Partition, Real, Result};
use group_mean::{GroupMean, GroupMeans};
use low_rank::{LowRank, Subspace};
use pairs::Pairs;
use projection::{Projected, Projection, Span};

/// One number per row, or one for all: the γ of an anchor transform or the λ of a mixup.
#[derive(Debug, Clone, PartialEq)]
pub enum Strength {
    /// One for all rows.
    Shared(f64),
    /// One for each.
    PerRow(Vec<f64>),
}

impl Strength {
    /// The strength of a row.
    #[must_use]
    #[inline]
    pub fn at(&self, row: usize) -> f64 {
        match self {
            Self::Shared(value) => *value,
            Self::PerRow(values) => values[row],
        }
    }

    fn check(
        &self,
        name: &'static str,
        range: &'static str,
        rows: usize,
        inside: impl Fn(f64) -> bool,
    ) -> Result<()> {
        let values = match self {
            Self::Shared(value) => std::slice::from_ref(value),
            Self::PerRow(values) => values,
        };
        if matches!(self, Self::PerRow(_)) {
            same_rows((name, values.len()), ("the batch", rows))?;
        }
        match values.iter().find(|&&value| !inside(value)) {
            Some(&got) => Err(Error::OutOfRange { name, range, got }),
            None => Ok(()),
        }
    }

    /// Returns an error for γ outside [`GAMMA`].
    fn check_gamma(&self, rows: usize) -> Result<()> {
        self.check("gamma", GAMMA_RANGE, rows, |gamma| GAMMA.contains(&gamma))
    }
}

/// A linear map on the rows of a batch. See the [module](self).
#[derive(Debug, Clone)]
pub struct Mixing(pub(crate) Map);

/// The data of a mixing, to implement it for tensors of another library or on another device.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the symbols of the equations above")]
pub enum Form<'a> {
    /// Rows stay unchanged.
    Identity,
    /// Rows move along the line through their group's mean.
    GroupMean { partition: &'a Partition, weights: Option<&'a [f64]>, gamma: &'a Strength },
    /// The anchor transform by an orthonormal basis of the anchors' span, its vectors as columns.
    Projection { basis: ArrayView2<'a, f64>, gamma: &'a Strength },
    /// `λ` of row `i` with `1 − λ` of row `rows + i`.
    Pairs { lambda: &'a Strength },
    /// A low-rank map within each neighborhood; every row is in one.
    LowRank { subspaces: &'a [Subspace] },
}

#[derive(Debug, Clone)]
pub(crate) enum Map {
    Identity { rows: usize },
    GroupMean(GroupMean),
    Projection(Projection),
    Pairs(Pairs),
    LowRank(LowRank),
}

impl Mixing {
    /// The identity on `rows` rows.
    #[must_use]
    pub fn identity(rows: usize) -> Self {
        Self(Map::Identity { rows })
    }

    /// Moves each row along the line through its group's mean, by γ in `[1e-16, 1e16]`.
    pub fn group_mean(partition: impl Into<Arc<Partition>>, gamma: Strength) -> Result<Self> {
        GroupMean::new(partition.into(), None, gamma).map(|map| Self(Map::GroupMean(map)))
    }

    /// [`group_mean`](Self::group_mean) with means weighted by `[0, 2⁵⁰]` per row.
    ///
    /// This is *not* what one-hot anchors scaled by √w give: their projection has entries √wᵢ√wⱼ, so
    /// it mixes weighted with unweighted quantities. Pass such anchors to
    /// [`projection`](Self::projection) if that is what you want.
    pub fn weighted_group_mean(
        partition: impl Into<Arc<Partition>>,
        weights: impl Into<Arc<[f64]>>,
        gamma: Strength,
    ) -> Result<Self> {
        let map = GroupMean::new(partition.into(), Some(weights.into()), gamma)?;
        Ok(Self(Map::GroupMean(map)))
    }

    /// The anchor transform for anchors of any kind, by γ in `[1e-16, 1e16]`.
    ///
    /// An error if the normalizer of a row is 0.
    pub fn projection(anchors: &AnchorMatrix, gamma: Strength) -> Result<Self> {
        let map = Projection::new(Arc::new(Span::of(anchors)), gamma)?;
        Ok(Self(Map::Projection(map)))
    }

    /// Mixes row `i` with row `rows + i` by λ in `[0, 1]`.
    pub fn pairs(rows: usize, lambda: Strength) -> Result<Self> {
        Pairs::new(rows, lambda, None).map(|map| Self(Map::Pairs(map)))
    }

    /// The data of the map.
    #[must_use]
    pub fn form(&self) -> Form<'_> {
        match &self.0 {
            Map::Identity { .. } => Form::Identity,
            Map::GroupMean(map) => map.form(),
            Map::Projection(map) => map.form(),
            Map::Pairs(map) => map.form(),
            Map::LowRank(map) => map.form(),
        }
    }

    /// Number of output rows.
    #[must_use]
    pub fn rows_out(&self) -> usize {
        match &self.0 {
            Map::Identity { rows } => *rows,
            Map::GroupMean(map) => map.rows(),
            Map::Projection(map) => map.rows(),
            Map::Pairs(map) => map.rows(),
            Map::LowRank(map) => map.rows(),
        }
    }

    /// Number of input rows.
    #[must_use]
    pub fn rows_in(&self) -> usize {
        match &self.0 {
            Map::Pairs(map) => map.rows().saturating_mul(2),
            _ => self.rows_out(),
        }
    }

    /// The weights of the output rows, if they differ.
    #[must_use]
    pub fn row_weights(&self) -> Option<&[f64]> {
        match &self.0 {
            Map::Pairs(map) => map.row_weights(),
            _ => None,
        }
    }

    /// Applies the map to rows of any width and number of dimensions.
    pub fn apply<T: Real, D: Dimension>(&self, rows: ArrayView<'_, T, D>) -> Result<Array<T, D>> {
        check_rows(rows.shape(), self.rows_in())?;
        let mut out = Array::zeros(with_rows(&rows, self.rows_out()));
        self.apply_into(rows, out.view_mut())?;
        Ok(out)
    }

    /// [`apply`](Self::apply) into a buffer in standard layout.
    pub fn apply_into<T: Real, D: Dimension>(
        &self,
        rows: ArrayView<'_, T, D>,
        out: ArrayViewMut<'_, T, D>,
    ) -> Result<()> {
        check_rows(rows.shape(), self.rows_in())?;
        let out = buffer(out, &with_rows(&rows, self.rows_out()))?;
        let rows = flatten(rows);
        let ready = self.prepare("the batch", rows.view(), Gather::default())?;
        write_rows(out, rows.ncols(), |range, out| {
            self.write(&ready, rows.view(), Gather::default(), range, out);
        });
        Ok(())
    }

    /// Applies the transposed map: the gradient of the input of [`apply`](Self::apply), from the gradient of its
    /// output.
    pub fn apply_transposed<T: Real, D: Dimension>(
        &self,
        gradient: ArrayView<'_, T, D>,
    ) -> Result<Array<T, D>> {
        check_rows(gradient.shape(), self.rows_out())?;
        let shape = with_rows(&gradient, self.rows_in());
        let gradient = flatten(gradient);
        check_finite("the gradient", gradient.view())?;
        let out = match &self.0 {
            Map::Identity { .. } => gradient.into_owned(),
            Map::GroupMean(map) => map.apply_transposed(gradient.view())?,
            Map::Projection(map) => map.apply_transposed(gradient.view())?,
            Map::Pairs(map) => map.apply_transposed(gradient.view()),
            Map::LowRank(map) => map.apply_transposed(gradient.view())?,
        };
        Ok(out.into_shape_with_order(shape).expect("the same number of values"))
    }

    /// Computes the statistics of all rows that the map needs: group means or projections. Checks that values are
    /// finite.
    pub(crate) fn prepare<T: Real>(
        &self,
        what: &'static str,
        rows: ArrayView2<'_, T>,
        gather: Gather<'_>,
    ) -> Result<Prepared<T>> {
        Ok(match &self.0 {
            Map::GroupMean(map) => Prepared::means(map.means_of(what, rows, gather)?),
            Map::Projection(map) => Prepared::Projected(map.project(what, rows, gather)?),
            Map::LowRank(map) => Prepared::LowRank(map.project(what, rows, gather)?),
            Map::Identity { .. } | Map::Pairs(_) => {
                gather.check_finite(what, rows)?;
                Prepared::Nothing
            }
        })
    }

    /// Whether another map needs the same result of [`prepare`](Self::prepare).
    pub(crate) fn shares_preparation(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Map::GroupMean(a), Map::GroupMean(b)) => a.shares_means(b),
            (Map::Projection(a), Map::Projection(b)) => a.shares_span(b),
            (a, b) => {
                let plain = |map: &Map| matches!(map, Map::Identity { .. } | Map::Pairs(_));
                plain(a) && plain(b)
            }
        }
    }

    /// Writes the rows `range` of the result into `out`, row-major.
    pub(crate) fn write<T: Real>(
        &self,
        ready: &Prepared<T>,
        rows: ArrayView2<'_, T>,
        gather: Gather<'_>,
        range: Range<usize>,
        out: &mut [T],
    ) {
        match (&self.0, ready) {
            (Map::GroupMean(map), Prepared::Means(means)) => {
                map.write(means, rows, gather, range, out);
            }
            (Map::Projection(map), Prepared::Projected(projected)) => {
                map.write(projected, rows, gather, range, out);
            }
            (Map::LowRank(map), Prepared::LowRank(coefficients)) => {
                map.write(coefficients, rows, gather, range, out);
            }
            (Map::Pairs(map), _) => map.write(rows, gather, range, out),
            (_, _) => copy_rows(rows, gather, range, out),
        }
    }
}

/// Statistics of all rows. See [`Mixing::prepare`].
pub(crate) enum Prepared<T> {
    Nothing,
    /// Group means, groups × width.
    Means(Vec<T>),
    Projected(Projected),
    /// Coefficients of every neighborhood.
    LowRank(Vec<Vec<f64>>),
}

impl<T: Real> Prepared<T> {
    pub(crate) fn means(means: GroupMeans) -> Self {
        Self::Means(T::narrow_all(means.into_values()))
    }
}

/// The data row of each batch row; by default the identity.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Gather<'a> {
    pub(crate) sources: Option<&'a [usize]>,
    pub(crate) partners: Option<&'a [usize]>,
}

impl Gather<'_> {
    /// Returns an error if a value in the gathered rows is not finite.
    pub(crate) fn check_finite<T: Real>(
        &self,
        what: &'static str,
        rows: ArrayView2<'_, T>,
    ) -> Result<()> {
        let Some(sources) = self.sources else { return check_finite(what, rows) };
        let partners = self.partners.unwrap_or(&[]);
        check_finite_rows(what, rows, sources.iter().chain(partners).copied())
    }

    #[inline(always)]
    pub(crate) fn source(&self, row: usize) -> usize {
        self.sources.map_or(row, |sources| sources[row])
    }

    /// The partner of a row, in a batch of `rows` pairs.
    #[inline(always)]
    pub(crate) fn partner(&self, row: usize, rows: usize) -> usize {
        self.partners.map_or(rows + row, |partners| partners[row])
    }
}

fn check_rows(shape: &[usize], expected: usize) -> Result<()> {
    if shape.first() == Some(&expected) {
        return Ok(());
    }
    Err(Error::RowMismatch {
        left: "the mixing",
        left_rows: expected,
        right: "the batch",
        right_rows: shape.first().copied().unwrap_or(0),
    })
}

pub(crate) fn copy_rows<T: Real>(
    rows: ArrayView2<'_, T>,
    gather: Gather<'_>,
    range: Range<usize>,
    out: &mut [T],
) {
    let source = crate::data::row_slices(rows);
    for (row, out) in range.zip(out.chunks_exact_mut(rows.ncols())) {
        out.copy_from_slice(source(gather.source(row)));
    }
}

/// Values per parallel task: small enough for a cache, large enough for the overhead.
const TASK: usize = 1 << 13;
/// Minimum number of values for parallel work.
const PARALLEL: usize = 1 << 18;

/// The number of rows that a task writes.
pub(crate) fn task_rows(width: usize) -> usize {
    (TASK / width.max(1)).max(1)
}

/// Fills a row-major matrix by calling `write` for ranges of its rows, in parallel if it is large.
pub(crate) fn write_rows<T: Real>(
    out: &mut [T],
    width: usize,
    write: impl Fn(Range<usize>, &mut [T]) + Sync,
) {
    if out.is_empty() {
        return;
    }
    if out.len() <= PARALLEL {
        return write(0..out.len() / width, out);
    }
    let step = task_rows(width);
    out.par_chunks_mut(step * width).enumerate().for_each(|(task, out)| {
        let first = task * step;
        write(first..first + out.len() / width, out);
    });
}

/// The shape of `rows` with another number of rows. There is at least one dimension.
pub(crate) fn with_rows<T, D: Dimension>(rows: &ArrayView<'_, T, D>, count: usize) -> D {
    let mut shape = rows.raw_dim();
    shape[0] = count;
    shape
}

/// The values of a buffer that has the right shape and is in standard layout.
pub(crate) fn buffer<'a, T: Real, D: Dimension>(
    out: ArrayViewMut<'a, T, D>,
    expected: &D,
) -> Result<&'a mut [T]> {
    let got = out.shape().to_vec();
    if got == expected.slice() && out.is_standard_layout() {
        return Ok(out.into_slice().expect("standard layout"));
    }
    Err(Error::BufferShape { expected: expected.slice().to_vec(), got })
}
