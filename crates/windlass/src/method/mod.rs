//! Methods of augmentation: each fits on training rows, then draws a mixing for any batch of them.
//!
//! | Method | Draws | Provenance of a row |
//! | :-- | :-- | :-- |
//! | [`Erm`] | nothing | its source |
//! | [`Noise`] | Gaussian noise on targets, optionally features | its source |
//! | [`Mixup`] | a partner, uniformly | partner, λ |
//! | [`LocalMixup`] | a partner; pairs that are far apart do not count | partner, λ |
//! | [`CMixup`] | a partner with a similar target | partner, λ |
//! | [`Ada`] | a strength γ toward or away from the group's mean | group, γ |
//!
//! Everything random is a function of seed, step and row, so a batch can be drawn again at any time.
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
mod erm;
mod local_mixup;
mod mixup;
mod noise;
mod registry;
mod values;

use std::fmt::Debug;
use std::sync::Arc;

use ndarray::{Array, ArrayView, ArrayView2, ArrayViewMut, Axis, Dimension};

pub use ada::{Ada, MeansOf};
pub use c_mixup::{CMixup, FittedCMixup};
pub use erm::Erm;
pub use local_mixup::LocalMixup;
pub use mixup::Mixup;
pub use noise::Noise;
pub use registry::{
    HiddenInfo, MethodInfo, MethodParams, PARAMS, Param, RowProvenance, SearchRange, TrialSpec,
};
pub use values::{Bandwidth, Epsilon, NoiseUnits};

use crate::choice::choice;
use crate::data::flatten;
use crate::error::same_rows;
use crate::mixing::group_mean::GroupMeans;
use crate::mixing::{Gather, Map, Ready, buffer, with_rows, write_rows};
use crate::{Error, Mixing, Partition, Real, Result, Samples, Seed};
use noise::AddedNoise;

/// Every method that users choose by name.
pub static METHODS: [&MethodInfo; 5] =
    [&noise::INFO, &mixup::INFO, &local_mixup::INFO, &c_mixup::INFO, &ada::INFO];

/// A method of augmentation with its settings.
pub trait Method: Debug + Send + Sync {
    /// Refuses settings outside their range.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Learns what it needs from training rows: groups, sorted targets, or nothing.
    fn fit(&self, samples: &Samples<'_>, seed: Seed) -> Result<Box<dyn Fitted>>;
}

/// A method that was fitted on training rows.
pub trait Fitted: Debug + Send + Sync {
    /// The number of training rows.
    fn rows(&self) -> usize;

    /// Draws one synthetic row for every row of a batch.
    ///
    /// `step` tells apart batches (a training step, a copy of the data set): the same seed and step
    /// give the same draw. What is drawn for a row depends on the row and not on its place, so a row that
    /// occurs twice in a batch gets the same partner, noise and strength twice.
    fn draw(&self, batch: Batch<'_>, seed: Seed, step: u64) -> Result<Draw>;

    /// The groups of the training rows, if the method has any.
    fn partition(&self) -> Option<&Partition> {
        None
    }
}

/// Which training rows a batch consists of.
#[derive(Debug, Clone, Copy)]
pub enum Batch<'a> {
    /// All of them, in order: a copy of the data set.
    All,
    /// A minibatch of these, in this order; a row may occur more than once.
    Rows(&'a [usize]),
}

impl<'a> Batch<'a> {
    /// The row numbers, or `None` for all; refuses numbers behind the last of `rows` training rows.
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

/// Draws a value for every row of a batch, or one for all.
///
/// The order of the variants is part of the format of files.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Per {
    /// One value for a whole batch or copy, as published.
    Batch,
    /// One value for each row.
    Row,
    /// [`Row`](Self::Row) for a whole data set ([`Batch::All`], and so every [`Plan`](crate::Plan)),
    /// [`Batch`](Self::Batch) for a minibatch.
    #[default]
    Auto,
}

impl Per {
    /// Whether every row of a batch has a value of its own.
    pub(crate) fn is_row(self, batch: Batch<'_>) -> bool {
        match self {
            Self::Batch => false,
            Self::Row => true,
            Self::Auto => matches!(batch, Batch::All),
        }
    }

    /// What it means for a whole data set.
    #[must_use]
    pub fn of_table(self) -> Self {
        if self.is_row(Batch::All) { Self::Row } else { Self::Batch }
    }
}

/// One synthetic batch, ready to be made: the rows to gather and the mixing to apply.
#[derive(Debug, Clone)]
pub struct Draw {
    training_rows: usize,
    /// The source of every synthetic row; `None`: every training row, in order.
    sources: Option<Vec<usize>>,
    /// The second row of every pair, for a mixing of pairs.
    partners: Option<Vec<usize>>,
    mixing: Mixing,
    centers: Option<Arc<SetMeans>>,
    noise: Option<AddedNoise>,
}

/// The group means of all training rows, for batches that are not to use their own.
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
    /// A draw of a method of your own: `mixing` takes training rows `sources`, then `partners`.
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

    /// A draw without partners of rows that are known to exist.
    fn of(training_rows: usize, sources: Option<&[usize]>, mixing: Mixing) -> Self {
        let sources = sources.map(<[usize]>::to_vec);
        Self { training_rows, sources, partners: None, mixing, centers: None, noise: None }
    }

    /// The number of synthetic rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.mixing.rows_out()
    }

    /// The mixing, for a hidden layer: apply it to the layer's output for the
    /// [gathered](Self::gather) rows, and its transpose to the gradient.
    ///
    /// Refused for a method that is not a mixing alone: noise, or group means of the whole set.
    pub fn mixing(&self) -> Result<&Mixing> {
        match (&self.noise, &self.centers) {
            (None, None) => Ok(&self.mixing),
            _ => Err(Error::NotLinear),
        }
    }

    /// The training rows that the mixing takes, in its order (sources, then partners).
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

    /// The numbers of the training rows that the mixing takes, in its order.
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

    /// The synthetic features, from features of the [gathered](Self::gather) rows alone: those of a batch
    /// that a loader has put together, and of its partners behind them.
    pub fn features_of<T: Real, D: Dimension>(
        &self,
        gathered: ArrayView<'_, T, D>,
    ) -> Result<Array<T, D>> {
        self.make_of(Side::Features, gathered)
    }

    /// The synthetic targets, from targets of the [gathered](Self::gather) rows alone.
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

    /// How much each synthetic row should count, if not all count the same.
    #[must_use]
    pub fn row_weights(&self) -> Option<&[f64]> {
        self.mixing.row_weights()
    }

    /// Where a synthetic row came from, or `None` behind the last.
    #[must_use]
    pub fn origin(&self, row: usize) -> Option<Origin> {
        if row >= self.rows() {
            return None;
        }
        let source = self.gather_map().source(row);
        let how = match &self.mixing.0 {
            Map::Identity { .. } if self.noise.is_some() => How::Noise,
            Map::Identity { .. } => How::Copy,
            Map::GroupMean(map) => How::Group { group: map.group(row), gamma: map.gamma(row) },
            Map::Projection(map) => How::Projection { gamma: map.gamma(row) },
            Map::Pairs(map) => {
                let partner = self.gather_map().partner(row, map.rows());
                How::Pair { partner, lambda: map.lambda(row) }
            }
        };
        Some(Origin { source, how })
    }

    /// The same draw without the rows that do not count.
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

    /// Where the rows that it takes stand among the training rows.
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
    ) -> Result<Ready<T>> {
        let means = self.centers.as_ref().map(|centers| match side {
            Side::Features => &centers.features,
            Side::Targets => &centers.targets,
        });
        let noise_width = self.noise.as_ref().map(|noise| noise.width(side));
        let width = means.map(|means| means.means().ncols()).or(noise_width);
        if let Some(expected) = width.filter(|&width| width != rows.ncols()) {
            let got = rows.ncols();
            return Err(Error::ColumnMismatch { what: "the data", expected, got });
        }
        let what = match side {
            Side::Features => "x",
            Side::Targets => "y",
        };
        let Some(means) = means else {
            return self.mixing.prepare(what, rows, gather);
        };
        gather.check_finite(what, rows)?;
        Ok(Ready::means(means.clone()))
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
        ready: &Ready<T>,
        (rows, gather): (ArrayView2<'_, T>, Gather<'_>),
        range: std::ops::Range<usize>,
        out: &mut [T],
    ) {
        self.mixing.write(ready, rows, gather, range.clone(), out);
        if let Some(noise) = &self.noise {
            let training = self.gather_map();
            for (row, out) in range.zip(out.chunks_exact_mut(rows.ncols())) {
                noise.add(side, training.source(row), out);
            }
        }
    }
}

/// Where a synthetic row came from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Origin {
    /// The training row that it is a version of.
    pub source: usize,
    /// What was done to it.
    pub how: How,
}

/// What was done to a training row.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the symbols of the method's equation")]
pub enum How {
    /// Nothing.
    Copy,
    /// Noise was added.
    Noise,
    /// It was moved along the line through its group's mean.
    Group { group: u32, gamma: f64 },
    /// It was moved by real-valued anchors.
    Projection { gamma: f64 },
    /// It was mixed with another row: `λ·source + (1 − λ)·partner`.
    Pair { partner: usize, lambda: f64 },
}
