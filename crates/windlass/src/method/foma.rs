//! FOMA: rows move toward the leading directions of their neighborhood.
//!
//! ```text
//! Z = [X, Y] = USVᵀ of a neighborhood of b rows;    singular values after the k-th are multiplied by λ:
//! Z̃ = (λI + (1 − λ)·U_k U_kᵀ) Z,    λ ~ Beta(β, β),    one λ for a neighborhood
//! ```
//!
//! k is the number of leading singular values whose share of the sum of all is at most ρ, or the intrinsic dimension
//! of the training rows. The map is linear on rows and alike for features and targets. A minibatch is a
//! neighborhood; a whole dataset is split into neighborhoods of `neighborhood_size` rows. On a hidden layer, Z is
//! [its outputs, Y] of the batch, and the gradient takes U as a constant. By default batches of training are random
//! rows; the paper's are neighbors ([`Neighborhood::Nearest`]).
//!
//! Kaufman, Azencot, [*First-Order Manifold Data Augmentation for Regression
//! Learning*](https://arxiv.org/abs/2406.10914), 2024. Departures:
//!
//! * The paper decomposes raw [X, Y] without centering, so that its leading direction is that of the column with the
//!   largest values. By default each column is divided by its standard deviation and centered at its mean in the
//!   neighborhood, which stays where it is; `svd_scale` "raw" is the paper's.
//! * The published code returns the targets *unchanged*, and for some datasets multiplies the *leading* singular
//!   values by λ: [`SpectrumVariant`].
//!
//! Cost of a copy of n rows with D columns: O(nD·min(b, D)) for the decompositions, and the search for neighbors
//! (linear in n, see `neighborhoods.rs`). Each neighborhood stores `U_k`, b × k.

use std::sync::Arc;

use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use super::neighborhoods::{Directions, Points, check_size, even_size, means};
use super::registry::{BETA, NEIGHBORHOOD, NEIGHBORHOOD_SIZE, RHO, SVD_SCALE, VARIANT};
use super::values::{Neighborhood, Rho, SpectrumVariant};
use super::{Batch, Draw, Fitted, HiddenInfo, Method, MethodInfo, RowProvenance};
use crate::anchors::ClusterScaling;
use crate::gamma::check_positive;
use crate::mixing::Map;
use crate::mixing::low_rank::{LowRank, Shrunk, Subspace};
use crate::{Error, Mixing, Result, Samples, Seed, Stream};

/// First-Order Manifold Data Augmentation.
///
/// | Setting | Default | Range | Meaning |
/// | :-- | :-- | :-- | :-- |
/// | `rho` | `Rho::Share(0.95)` | `(0, 1]`, or the intrinsic dimension | directions that stay |
/// | `beta` | `2.0` | `(0, ∞)` | λ ~ Beta(beta, beta) |
/// | `variant` | [`SpectrumVariant::Paper`] | | the paper's method, or that of its code |
/// | `neighborhood` | [`Neighborhood::Auto`] | not `Row` | which rows form a neighborhood |
/// | `neighborhood_size` | `32` | `[2, 4096]` | rows of a neighborhood of a dataset |
/// | `svd_scale` | standardized | | scaling for distances and directions |
///
/// ```
/// use ndarray::array;
/// use windlass::{Batch, Foma, How, Method, Rho, Samples, Seed};
///
/// // Two rows have one direction, the line through them: nothing is outside of it.
/// let (x, y) = (array![[1.0], [2.0]], array![10.0, 20.0]);
/// let foma = Foma { rho: Rho::Share(1.0), ..Foma::default() };
/// let foma = foma.fit(&Samples::new(x.view(), y.view())?, Seed(0))?;
/// let draw = foma.draw(Batch::All, Seed(0), 0)?;
/// assert!((draw.features(x.view())? - &x).iter().all(|change: &f64| change.abs() < 1e-12));
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the table explains each field")]
pub struct Foma {
    pub rho: Rho,
    pub beta: f64,
    pub variant: SpectrumVariant,
    pub neighborhood: Neighborhood,
    pub neighborhood_size: usize,
    pub svd_scale: ClusterScaling,
}

impl Default for Foma {
    fn default() -> Self {
        Self {
            rho: Rho::default(),
            beta: 2.0,
            variant: SpectrumVariant::Paper,
            neighborhood: Neighborhood::Auto,
            neighborhood_size: 32,
            svd_scale: ClusterScaling::Standardized,
        }
    }
}

pub(super) static INFO: MethodInfo = MethodInfo {
    name: "foma",
    title: "FOMA",
    help: "Shrink rows of a neighborhood toward its leading directions",
    on_hidden_layer: Some(HiddenInfo { name: "foma-manifold", title: "FOMA on the hidden layer" }),
    params: &[&RHO, &BETA, &VARIANT, &NEIGHBORHOOD, &NEIGHBORHOOD_SIZE, &SVD_SCALE],
    provenance: RowProvenance::Neighborhood,
    draws_together: true,
    search: &[&[&BETA], &[&RHO]],
    in_tune: true,
    rare: false,
    in_comparisons: false,
    build: |params| {
        let default = Foma::default();
        Arc::new(Foma {
            rho: params.rho.unwrap_or(default.rho),
            beta: params.beta.unwrap_or(default.beta),
            variant: params.variant.unwrap_or(default.variant),
            neighborhood: params.neighborhood.unwrap_or(default.neighborhood),
            neighborhood_size: params.neighborhood_size.unwrap_or(default.neighborhood_size),
            svd_scale: params.svd_scale.unwrap_or(default.svd_scale),
        })
    },
};

impl Method for Foma {
    fn check(&self) -> Result<()> {
        if let Rho::Share(got) = self.rho
            && !(got > 0.0 && got <= 1.0)
        {
            return Err(Error::OutOfRange { name: "rho", range: "(0, 1]", got });
        }
        check_positive("beta", self.beta)?;
        if self.neighborhood == Neighborhood::Row {
            return Err(Error::NeedsBatches);
        }
        check_size(self.neighborhood_size)
    }

    fn fit(&self, samples: &Samples<'_>, _seed: Seed) -> Result<Box<dyn Fitted>> {
        self.check()?;
        let points = Points::new(samples, self.svd_scale);
        let rank = match self.rho {
            Rho::Share(share) => Rank::Share(share),
            Rho::Dimension => Rank::Number(points.dimension()?),
        };
        Ok(Box::new(FittedFoma { points, rank, foma: self.clone() }))
    }
}

#[derive(Debug)]
struct FittedFoma {
    points: Points,
    rank: Rank,
    foma: Foma,
}

/// How many directions stay.
#[derive(Debug, Clone, Copy)]
enum Rank {
    /// Those with this share of the sum of singular values.
    Share(f64),
    /// This many.
    Number(usize),
}

impl FittedFoma {
    /// The map on some rows of a batch, whose values are `points`.
    fn subspace(
        &self,
        rows: Vec<usize>,
        points: ArrayView2<'_, f64>,
        lambda: f64,
    ) -> Result<Subspace> {
        let centered = self.foma.svd_scale == ClusterScaling::Standardized;
        let center = if centered { means(points) } else { vec![0.0; points.ncols()] };
        let directions = Directions::of(points, &center)?;
        let rank = directions.singular.len();
        let kept = match self.rank {
            Rank::Share(share) if share >= 1.0 => rank,
            Rank::Share(share) => {
                let total: f64 = directions.singular.iter().sum();
                let mut sum = 0.0;
                let within = |value: &&f64| {
                    sum += *value;
                    sum <= share * total
                };
                directions.singular.iter().take_while(within).count()
            }
            Rank::Number(number) => number.min(rank),
        };
        let shrunk = match self.foma.variant {
            SpectrumVariant::Published => Shrunk::Span,
            SpectrumVariant::Paper | SpectrumVariant::PublishedTrailing => Shrunk::Complement,
        };
        // The mean of a centered neighborhood stays: the constant vector is a direction, too.
        let constant = usize::from(centered && shrunk == Shrunk::Complement);
        let same = (rows.len() as f64).sqrt().recip();
        let basis = Array2::from_shape_fn((rows.len(), kept + constant), |(i, k)| {
            if k < kept { directions.left[(i, k)] } else { same }
        });
        Ok(Subspace { rows, basis, lambda, shrunk })
    }

    fn drawn(&self, sources: Option<&[usize]>, subspaces: Vec<Subspace>) -> Draw {
        let rows = sources.map_or(self.points.rows(), <[usize]>::len);
        let mixing = Mixing(Map::LowRank(LowRank::new(rows, subspaces)));
        let keeps_targets = self.foma.variant != SpectrumVariant::Paper;
        Draw { keeps_targets, ..Draw::of(self.points.rows(), sources, mixing) }
    }

    fn shared_lambda(&self, seed: Seed, step: u64) -> f64 {
        seed.shared(Stream::Lambda, step).symmetric_beta(self.foma.beta)
    }
}

impl Fitted for FittedFoma {
    fn rows(&self) -> usize {
        self.points.rows()
    }

    fn draw(&self, batch: Batch<'_>, seed: Seed, step: u64) -> Result<Draw> {
        let sources = batch.check(self.rows())?;
        let subspaces = if let Some(rows) = sources {
            let lambda = self.shared_lambda(seed, step);
            let places = (0..rows.len()).collect();
            vec![self.subspace(places, self.points.select(rows).view(), lambda)?]
        } else {
            let (all, neighborhood) = ((0..self.rows()).collect(), self.foma.neighborhood);
            let size = even_size(self.rows(), self.foma.neighborhood_size);
            let ordered = self.points.order(all, size, neighborhood, (seed, step));
            let subspace = |rows: &[usize]| {
                let draws = &mut seed.at(Stream::Lambda, step, rows[0] as u64);
                let lambda = draws.symmetric_beta(self.foma.beta);
                self.subspace(rows.to_vec(), self.points.select(rows).view(), lambda)
            };
            ordered.par_chunks(size).map(subspace).collect::<Result<_>>()?
        };
        Ok(self.drawn(sources, subspaces))
    }

    fn order(&self, batch_size: usize, seed: Seed, epoch: u64) -> Option<Vec<usize>> {
        self.points.epoch_order(batch_size, self.foma.neighborhood, (seed, epoch))
    }

    fn follows_hidden(&self) -> bool {
        true
    }

    fn draw_hidden(
        &self,
        rows: &[usize],
        hidden: ArrayView2<'_, f64>,
        seed: Seed,
        step: u64,
    ) -> Result<Draw> {
        Batch::Rows(rows).check(self.rows())?;
        let points = self.points.with_hidden(rows, hidden, self.foma.svd_scale)?.0;
        let (places, lambda) = ((0..rows.len()).collect(), self.shared_lambda(seed, step));
        let subspace = self.subspace(places, points.view(), lambda)?;
        Ok(self.drawn(Some(rows), vec![subspace]))
    }
}
