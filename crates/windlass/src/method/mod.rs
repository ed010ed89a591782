//! Augmentation methods: each is fitted on training rows, then draws a linear map (mixing) for any batch of them.
//!
//! | Method | Draws | Provenance of a row |
//! | :-- | :-- | :-- |
//! | [`Erm`] | nothing | its source |
//! | [`Noise`] | Gaussian noise on targets, optionally features | its source |
//! | [`Mixup`] | a partner, uniformly | partner, λ |
//! | [`LocalMixup`] | a partner; pairs that are far apart have weight 0 | partner, λ |
//! | [`CMixup`] | a partner with a similar target | partner, λ |
//! | [`Ada`] | a strength γ toward or away from the group's mean | group, γ |
//! | [`Smoter`] | for a rare row, a rare neighbor as partner | partner, λ |
//! | [`Smogn`] | for a rare row, a near rare partner, or noise if none is near | partner, λ |
//! | [`Foma`] | a factor λ for what is outside the leading directions of a neighborhood | λ |
//! | [`Cems`] | a step along the curved surface of a neighborhood | its source |
//!
//! [`Restricted`] makes copies of some rows only, such as rare ones, by any method.
//!
//! Random numbers are a function of seed, step and row, so a draw can be repeated at any time.
//! A new method is a file that implements [`Method`] and [`Fitted`] and describes itself in `INFO`, listed in
//! [`METHODS`].
//!
//! ```
//! use ndarray::{Array2, array};
//! use windlass::{Ada, Batch, Fitted, Method, Samples, Seed};
//!
//! let x = Array2::from_shape_fn((60, 3), |(i, j)| (i * (j + 1) % 17) as f64);
//! let y = x.sum_axis(ndarray::Axis(1));
//! let samples = Samples::new(x.view(), y.view())?;
//! let ada = Ada::default().clusters(4).alpha(2.0).fit(&samples, Seed(7))?;
//!
//! // In a training loop: one γ and the group means of the batch, fresh at every step.
//! for (step, batch) in [[3, 14, 15, 9], [2, 6, 5, 35]].iter().enumerate() {
//!     let draw = ada.draw(Batch::Rows(batch), Seed(7), step as u64)?;
//!     let (xb, yb) = (draw.features(x.view())?, draw.targets(y.view())?);
//!     assert_eq!((xb.nrows(), yb.len()), (4, 4));
//! }
//! # Ok::<(), windlass::Error>(())
//! ```

mod ada;
mod c_mixup;
mod cems;
mod erm;
mod foma;
mod local_mixup;
mod mixup;
mod neighborhoods;
mod noise;
mod registry;
mod restricted;
mod smogn;
mod smoter;
mod values;

use std::fmt::Debug;
use std::sync::Arc;

use ndarray::{Array, Array2, ArrayView, ArrayView2, ArrayViewMut, Axis, Dimension};

pub use ada::{Ada, MeansOf};
pub use c_mixup::{CMixup, FittedCMixup};
pub use cems::Cems;
pub use erm::Erm;
pub use foma::Foma;
pub use local_mixup::LocalMixup;
pub use mixup::Mixup;
pub use neighborhoods::intrinsic_dimension;
pub use noise::Noise;
pub use registry::{
    HiddenInfo, MethodInfo, MethodParams, PARAMS, Param, RowProvenance, SearchRange, TrialSpec,
};
pub use restricted::Restricted;
pub use smogn::Smogn;
pub use smoter::Smoter;
pub use values::{
    Bandwidth, Epsilon, IntrinsicDimension, Neighborhood, NoiseUnits, Rho, SpectrumVariant,
};

use crate::choice::choice;
use crate::data::flatten;
use crate::error::same_rows;
use crate::mixing::group_mean::GroupMeans;
use crate::mixing::{Gather, Map, Prepared, buffer, copy_rows, with_rows, write_rows};
use crate::{Error, Mixing, Partition, Real, Result, Samples, Seed};
use cems::Displacements;
use noise::AddedNoise;

/// All methods with a name.
///
/// Append only: binary files contain the place of a method.
pub static METHODS: [&MethodInfo; 9] = [
    &noise::INFO,
    &mixup::INFO,
    &local_mixup::INFO,
    &c_mixup::INFO,
    &ada::INFO,
    &smoter::INFO,
    &smogn::INFO,
    &foma::INFO,
    &cems::INFO,
];

/// A method of augmentation with its settings.
pub trait Method: Debug + Send + Sync {
    /// Returns an error for settings outside their range.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Fits the method on training rows.
    fn fit(&self, samples: &Samples<'_>, seed: Seed) -> Result<Box<dyn Fitted>>;
}

/// A method that was fitted on training rows.
pub trait Fitted: Debug + Send + Sync {
    /// The number of training rows.
    fn rows(&self) -> usize;

    /// Draws one synthetic row for every row of a batch.
    ///
    /// `step` is the number of the batch (a training step, or a copy of the dataset): the same seed and step give the
    /// same draw. The draw of a row does not depend on its position, so a row that occurs twice in a batch gets the
    /// same partner, noise and strength twice.
    fn draw(&self, batch: Batch<'_>, seed: Seed, step: u64) -> Result<Draw>;

    /// The training rows, in order, of which copies of a dataset are made; `None`: all.
    fn sources(&self) -> Option<&[usize]> {
        None
    }

    /// The groups of the training rows, if the method has any.
    fn partition(&self) -> Option<&Partition> {
        None
    }

    /// The training rows in an order for one epoch in which every `batch_size` consecutive rows are a neighborhood;
    /// `None` if batches may have any rows.
    fn order(&self, _batch_size: usize, _seed: Seed, _epoch: u64) -> Option<Vec<usize>> {
        None
    }

    /// Whether a draw for a hidden layer depends on its outputs: [`draw_hidden`](Self::draw_hidden) instead of
    /// [`draw`](Self::draw).
    fn follows_hidden(&self) -> bool {
        false
    }

    /// Draws one synthetic row for every row of a minibatch, given the outputs of a hidden layer for them.
    fn draw_hidden(
        &self,
        rows: &[usize],
        _hidden: ArrayView2<'_, f64>,
        seed: Seed,
        step: u64,
    ) -> Result<Draw> {
        self.draw(Batch::Rows(rows), seed, step)
    }
}

/// The training rows of a batch.
#[derive(Debug, Clone, Copy)]
pub enum Batch<'a> {
    /// All rows, in order: a copy of the dataset.
    All,
    /// A minibatch of these rows, in this order; a row may occur more than once.
    Rows(&'a [usize]),
}

impl<'a> Batch<'a> {
    /// The row indices, or `None` for all; an error if an index is not below `rows`.
    fn check(self, rows: usize) -> Result<Option<&'a [usize]>> {
        let Self::Rows(listed) = self else {
            return Ok(None);
        };
        if listed.is_empty() {
            return Err(Error::Empty { what: "the batch", missing: "rows" });
        }
        match listed.iter().find(|&&row| row >= rows) {
            Some(&row) => Err(Error::NoSuchRow { row, rows }),
            None => Ok(Some(listed)),
        }
    }
}

choice!(Per, "auto" => Per::Auto, "row" => Per::Row, "copy" => Per::Batch);

/// Whether to draw one value per row of a batch, or one for all.
///
/// The order of the variants is part of the file format.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Per {
    /// One value for a whole batch or copy, as published.
    Batch,
    /// One value for each row.
    Row,
    /// [`Row`](Self::Row) for a whole dataset ([`Batch::All`], and so every [`Plan`](crate::Plan)),
    /// [`Batch`](Self::Batch) for a minibatch.
    #[default]
    Auto,
}

impl Per {
    /// Whether to draw one value per row of a batch.
    pub(crate) fn is_row(self, batch: Batch<'_>) -> bool {
        match self {
            Self::Batch => false,
            Self::Row => true,
            Self::Auto => matches!(batch, Batch::All),
        }
    }

    /// The meaning of `Auto` for a whole dataset.
    #[must_use]
    pub fn of_table(self) -> Self {
        if self.is_row(Batch::All) { Self::Row } else { Self::Batch }
    }
}

/// The draw of one synthetic batch: the rows to gather and the mixing to apply.
#[derive(Debug, Clone)]
pub struct Draw {
    training_rows: usize,
    /// The source of every synthetic row; `None`: every training row, in order.
    sources: Option<Vec<usize>>,
    /// The second row of every pair, for a mixing of pairs.
    partners: Option<Vec<usize>>,
    mixing: Mixing,
    centers: Option<Arc<SetMeans>>,
    /// What is added after the mixing.
    added: Option<Added>,
    /// Whether targets stay as they are.
    keeps_targets: bool,
}

/// The additive term of a draw.
#[derive(Debug, Clone)]
enum Added {
    Noise(AddedNoise),
    Displacements(Arc<Displacements>),
}

impl Added {
    /// The number of columns of a side.
    fn width(&self, side: Side) -> usize {
        match (self, side) {
            (Self::Noise(noise), _) => noise.width(side),
            (Self::Displacements(own), Side::Features) => own.features.ncols(),
            (Self::Displacements(own), Side::Targets) => own.targets.ncols(),
        }
    }

    /// Adds the term of a row of the draw, whose training row is `source`.
    fn add<T: Real>(&self, side: Side, (row, source): (usize, usize), out: &mut [T]) {
        let own = match self {
            Self::Noise(noise) => {
                if let Some(scale) = noise.scale(row) {
                    noise.add(side, source, scale, out);
                }
                return;
            }
            Self::Displacements(own) => own,
        };
        let moved = match side {
            Side::Features => own.features.row(row),
            Side::Targets => own.targets.row(row),
        };
        for (value, &moved) in out.iter_mut().zip(moved) {
            *value = T::narrow(value.widen() + moved);
        }
    }
}

/// The group means of all training rows, for [`MeansOf::Set`].
#[derive(Debug)]
pub(crate) struct SetMeans {
    features: GroupMeans,
    targets: GroupMeans,
}

#[derive(Clone, Copy)]
pub(crate) enum Side {
    Features,
    Targets,
}

impl Draw {
    /// A draw of a custom method: the inputs of `mixing` are the training rows `sources`, then `partners`.
    ///
    /// ```
    /// use ndarray::array;
    /// use windlass::{Draw, Mixing, Strength};
    ///
    /// let middle = Mixing::pairs(1, Strength::Shared(0.5))?;
    /// let draw = Draw::new(3, vec![0], vec![2], middle)?; // of 3 training rows, the first and the last
    /// assert_eq!(draw.targets(array![1.0, 7.0, 5.0].view())?, array![3.0]);
    /// # Ok::<(), windlass::Error>(())
    /// ```
    pub fn new(
        training_rows: usize,
        sources: Vec<usize>,
        partners: Vec<usize>,
        mixing: Mixing,
    ) -> Result<Self> {
        let (rows_in, rows_out) = (mixing.rows_in(), mixing.rows_out());
        same_rows(("the mixing", rows_out), ("sources", sources.len()))?;
        let both = sources.len() + partners.len();
        same_rows(("the mixing", rows_in), ("sources and partners", both))?;
        let mut listed = sources.iter().chain(&partners);
        if let Some(&row) = listed.find(|&&row| row >= training_rows) {
            return Err(Error::NoSuchRow { row, rows: training_rows });
        }
        let partners = (rows_in > rows_out).then_some(partners);
        Ok(Self { partners, ..Self::of(training_rows, Some(&sources), mixing) })
    }

    /// A draw without partners, of valid rows.
    fn of(training_rows: usize, sources: Option<&[usize]>, mixing: Mixing) -> Self {
        let sources = sources.map(<[usize]>::to_vec);
        Self {
            training_rows,
            sources,
            partners: None,
            mixing,
            centers: None,
            added: None,
            keeps_targets: false,
        }
    }

    /// The number of synthetic rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.mixing.rows_out()
    }

    /// The mixing for a hidden layer: apply it to the layer's output for the
    /// [gathered](Self::gather) rows, and its transpose to the gradient.
    ///
    /// An error for noise and for group means of the whole set, which are not linear maps of the batch.
    pub fn mixing(&self) -> Result<&Mixing> {
        match (&self.added, &self.centers) {
            (None, None) => Ok(&self.mixing),
            (Some(Added::Displacements(own)), None) if own.hidden => Ok(&self.mixing),
            _ => Err(Error::NotLinear),
        }
    }

    /// What is added to the outputs of the hidden layer after the [mixing](Self::mixing), if anything.
    #[must_use]
    pub fn hidden_displacements(&self) -> Option<&Array2<f64>> {
        match &self.added {
            Some(Added::Displacements(own)) if own.hidden => Some(&own.features),
            _ => None,
        }
    }

    /// The training rows that are inputs of the mixing: sources, then partners.
    pub fn gather<T: Real, D: Dimension>(
        &self,
        training: ArrayView<'_, T, D>,
    ) -> Result<Array<T, D>> {
        self.check_rows(training.shape())?;
        let rows: Vec<usize> = self.gathered().collect();
        let shape = with_rows(&training, rows.len());
        let flat = flatten(training).select(Axis(0), &rows);
        Ok(flat.into_shape_with_order(shape).expect("the same number of values"))
    }

    /// The indices of the training rows that are inputs of the mixing.
    pub fn gathered(&self) -> impl Iterator<Item = usize> + '_ {
        let gather = self.gather_map();
        let sources = (0..self.rows()).map(move |row| gather.source(row));
        sources.chain(self.partners.iter().flatten().copied())
    }

    /// The synthetic features, from all training features.
    pub fn features<T: Real, D: Dimension>(
        &self,
        training: ArrayView<'_, T, D>,
    ) -> Result<Array<T, D>> {
        self.make(Side::Features, training)
    }

    /// The synthetic targets, from all training targets.
    pub fn targets<T: Real, D: Dimension>(
        &self,
        training: ArrayView<'_, T, D>,
    ) -> Result<Array<T, D>> {
        self.make(Side::Targets, training)
    }

    /// [`features`](Self::features) into a buffer in standard layout.
    pub fn features_into<T: Real, D: Dimension>(
        &self,
        training: ArrayView<'_, T, D>,
        out: ArrayViewMut<'_, T, D>,
    ) -> Result<()> {
        self.make_into(Side::Features, training, out)
    }

    /// [`targets`](Self::targets) into a buffer in standard layout.
    pub fn targets_into<T: Real, D: Dimension>(
        &self,
        training: ArrayView<'_, T, D>,
        out: ArrayViewMut<'_, T, D>,
    ) -> Result<()> {
        self.make_into(Side::Targets, training, out)
    }

    fn make<T: Real, D: Dimension>(
        &self,
        side: Side,
        training: ArrayView<'_, T, D>,
    ) -> Result<Array<T, D>> {
        self.check_rows(training.shape())?;
        let mut out = Array::zeros(with_rows(&training, self.rows()));
        self.make_into(side, training, out.view_mut())?;
        Ok(out)
    }

    fn make_into<T: Real, D: Dimension>(
        &self,
        side: Side,
        training: ArrayView<'_, T, D>,
        out: ArrayViewMut<'_, T, D>,
    ) -> Result<()> {
        self.check_rows(training.shape())?;
        let out = buffer(out, &with_rows(&training, self.rows()))?;
        self.fill(side, flatten(training).view(), self.gather_map(), out)
    }

    fn fill<T: Real>(
        &self,
        side: Side,
        rows: ArrayView2<'_, T>,
        gather: Gather<'_>,
        out: &mut [T],
    ) -> Result<()> {
        let ready = self.prepare(side, rows, gather)?;
        write_rows(out, rows.ncols(), |range, out| {
            self.write(side, &ready, (rows, gather), range, out);
        });
        Ok(())
    }

    /// The synthetic features, from the features of the [gathered](Self::gather) rows only: those of a batch of a
    /// loader, followed by those of its partners.
    pub fn features_of<T: Real, D: Dimension>(
        &self,
        gathered: ArrayView<'_, T, D>,
    ) -> Result<Array<T, D>> {
        self.make_of(Side::Features, gathered)
    }

    /// The synthetic targets, from the targets of the [gathered](Self::gather) rows only.
    pub fn targets_of<T: Real, D: Dimension>(
        &self,
        gathered: ArrayView<'_, T, D>,
    ) -> Result<Array<T, D>> {
        self.make_of(Side::Targets, gathered)
    }

    fn make_of<T: Real, D: Dimension>(
        &self,
        side: Side,
        gathered: ArrayView<'_, T, D>,
    ) -> Result<Array<T, D>> {
        let got = gathered.shape().first().copied().unwrap_or(0);
        same_rows(("the mixing", self.mixing.rows_in()), ("the batch", got))?;
        let mut out = Array::zeros(with_rows(&gathered, self.rows()));
        let values = out.as_slice_mut().expect("standard layout");
        self.fill(side, flatten(gathered).view(), Gather::default(), values)?;
        Ok(out)
    }

    /// The weights of the synthetic rows, if they differ.
    #[must_use]
    pub fn row_weights(&self) -> Option<&[f64]> {
        self.mixing.row_weights()
    }

    /// The origin of a synthetic row; `None` after the last.
    #[must_use]
    pub fn origin(&self, row: usize) -> Option<Origin> {
        if row >= self.rows() {
            return None;
        }
        let source = self.gather_map().source(row);
        let how = match &self.mixing.0 {
            Map::Identity { .. } if self.added.is_some() => match &self.added {
                Some(Added::Displacements(_)) => How::Displacement,
                _ => How::Noise,
            },
            Map::Identity { .. } => How::Copy,
            Map::GroupMean(map) => How::Group { group: map.group(row), gamma: map.gamma(row) },
            Map::Projection(map) => How::Projection { gamma: map.gamma(row) },
            Map::Pairs(_) if self.noise_scale(row).is_some() => How::Noise,
            Map::Pairs(map) => {
                let partner = self.gather_map().partner(row, map.rows());
                How::Pair { partner, lambda: map.lambda(row) }
            }
            Map::LowRank(map) => How::Neighborhood { lambda: map.lambda(row) },
        };
        Some(Origin { source, how })
    }

    /// The same draw without rows of weight 0.
    pub(crate) fn without_weightless_rows(self) -> Self {
        let Map::Pairs(pairs) = &self.mixing.0 else {
            return self;
        };
        let Some(weights) = pairs.row_weights() else {
            return self;
        };
        let kept: Vec<usize> = (0..self.rows()).filter(|&row| weights[row] > 0.0).collect();
        let gather = self.gather_map();
        let pick = |of: &dyn Fn(usize) -> usize| Some(kept.iter().map(|&row| of(row)).collect());
        Self {
            sources: pick(&|row| gather.source(row)),
            partners: pick(&|row| gather.partner(row, pairs.rows())),
            mixing: Mixing(Map::Pairs(pairs.without(|row| weights[row] == 0.0))),
            ..self
        }
    }

    /// The factor of the noise on a row; `None` if it has no noise.
    fn noise_scale(&self, row: usize) -> Option<f64> {
        match self.added.as_ref()? {
            Added::Noise(noise) => noise.scale(row),
            Added::Displacements(_) => None,
        }
    }

    /// The positions of its input rows among the training rows.
    pub(crate) fn gather_map(&self) -> Gather<'_> {
        Gather { sources: self.sources.as_deref(), partners: self.partners.as_deref() }
    }

    fn check_rows(&self, shape: &[usize]) -> Result<()> {
        let got = shape.first().copied().unwrap_or(0);
        same_rows(("the fitted rows", self.training_rows), ("the data", got))
    }

    /// See [`Mixing::prepare`].
    pub(crate) fn prepare<T: Real>(
        &self,
        side: Side,
        rows: ArrayView2<'_, T>,
        gather: Gather<'_>,
    ) -> Result<Prepared<T>> {
        let means = self.centers.as_ref().map(|centers| match side {
            Side::Features => &centers.features,
            Side::Targets => &centers.targets,
        });
        let added_width = self.added.as_ref().map(|added| added.width(side));
        let width = means.map(|means| means.means().ncols()).or(added_width);
        if let Some(expected) = width.filter(|&width| width != rows.ncols()) {
            let got = rows.ncols();
            return Err(Error::ColumnMismatch { what: "the data", expected, got });
        }
        let what = match side {
            Side::Features => "x",
            Side::Targets => "y",
        };
        if self.keeps(side) {
            gather.check_finite(what, rows)?;
            return Ok(Prepared::Nothing);
        }
        let Some(means) = means else {
            return self.mixing.prepare(what, rows, gather);
        };
        gather.check_finite(what, rows)?;
        Ok(Prepared::means(means.clone()))
    }

    /// See [`Mixing::shares_preparation`].
    pub(crate) fn shares_preparation(&self, other: &Self) -> bool {
        let same_centers = match (&self.centers, &other.centers) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        same_centers
            && self.sources == other.sources
            && self.mixing.shares_preparation(&other.mixing)
    }

    /// Writes the synthetic rows `range` into `out`, row-major.
    pub(crate) fn write<T: Real>(
        &self,
        side: Side,
        ready: &Prepared<T>,
        (rows, gather): (ArrayView2<'_, T>, Gather<'_>),
        range: std::ops::Range<usize>,
        out: &mut [T],
    ) {
        if self.keeps(side) {
            return copy_rows(rows, gather, range, out);
        }
        self.mixing.write(ready, rows, gather, range.clone(), out);
        if let Some(added) = &self.added {
            let training = self.gather_map();
            for (row, out) in range.zip(out.chunks_exact_mut(rows.ncols())) {
                added.add(side, (row, training.source(row)), out);
            }
        }
    }

    /// Whether rows of a side stay as they are.
    fn keeps(&self, side: Side) -> bool {
        self.keeps_targets && matches!(side, Side::Targets)
    }
}

/// The origin of a synthetic row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Origin {
    /// The source row.
    pub source: usize,
    /// The transformation of the source row.
    pub how: How,
}

/// The transformation of a training row.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the symbols of the method's equation")]
pub enum How {
    /// An unchanged copy.
    Copy,
    /// Noise was added.
    Noise,
    /// Moved along the line through its group's mean.
    Group { group: u32, gamma: f64 },
    /// Moved by real-valued anchors.
    Projection { gamma: f64 },
    /// Mixed with another row: `λ·source + (1 − λ)·partner`.
    Pair { partner: usize, lambda: f64 },
    /// Moved toward the leading directions of its neighborhood.
    Neighborhood { lambda: f64 },
    /// Moved along the surface of its neighborhood.
    Displacement,
}
