//! Mixup: each row is mixed with a partner drawn uniformly from all training rows.
//!
//! ```text
//! x̃ᵢ = λxᵢ + (1 − λ)xⱼ,    ỹᵢ = λyᵢ + (1 − λ)yⱼ,    j uniform,    λ ~ Beta(a, a)
//! ```
//!
//! Zhang, Cisse, Dauphin, Lopez-Paz, [*mixup: beyond empirical risk
//! minimization*](https://arxiv.org/abs/1710.09412), 2018. Manifold Mixup is the same draw with its
//! [mixing](crate::Draw::mixing) applied to a hidden layer.

use std::sync::Arc;

use super::registry::{BETA, PER};
use super::{
    Batch, Draw, Fitted, HiddenInfo, Method, MethodInfo, MethodParams, Per, RowProvenance,
};
use crate::gamma::check_positive;
use crate::mixing::pairs::Pairs;
use crate::mixing::{Map, Strength};
use crate::{Mixing, Result, Samples, Seed, Stream};

/// Mixup with partners drawn uniformly.
///
/// | Setting | Default | Range | Meaning |
/// | :-- | :-- | :-- | :-- |
/// | `beta` | `2.0` | `(0, ∞)` | λ ~ Beta(beta, beta) |
/// | `per` | [`Per::Auto`] | | one λ per row of a dataset, one per minibatch |
///
/// ```
/// use ndarray::array;
/// use windlass::{Batch, How, Method, Mixup, Samples, Seed};
///
/// let (x, y) = (array![[1.0], [2.0], [5.0]], array![10.0, 20.0, 50.0]);
/// let mixup = Mixup::default().fit(&Samples::new(x.view(), y.view())?, Seed(0))?;
/// let draw = mixup.draw(Batch::Rows(&[2]), Seed(0), 0)?;
/// let How::Pair { partner, lambda } = draw.origin(0).unwrap().how else { unreachable!() };
/// assert_eq!(draw.targets(y.view())?[0], lambda * 50.0 + (1.0 - lambda) * y[partner]);
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the table explains each field")]
pub struct Mixup {
    pub beta: f64,
    pub per: Per,
}

impl Default for Mixup {
    fn default() -> Self {
        Self { beta: 2.0, per: Per::Auto }
    }
}

impl Mixup {
    pub(super) fn new(params: &MethodParams) -> Self {
        let default = Self::default();
        Self { beta: params.beta.unwrap_or(default.beta), per: params.per.unwrap_or(default.per) }
    }

    fn draw_lambda(
        &self,
        batch: Batch<'_>,
        sources: &[usize],
        (seed, step): (Seed, u64),
    ) -> Strength {
        if !self.per.is_row(batch) {
            return Strength::Shared(seed.shared(Stream::Lambda, step).symmetric_beta(self.beta));
        }
        let one =
            |&row: &usize| seed.at(Stream::Lambda, step, row as u64).symmetric_beta(self.beta);
        Strength::PerRow(sources.iter().map(one).collect())
    }

    /// The draw for given partners, and optional weights, of the sources of a batch.
    pub(super) fn pairs(
        &self,
        training_rows: usize,
        batch: Batch<'_>,
        sources: Vec<usize>,
        partners: Vec<usize>,
        row_weights: Option<Vec<f64>>,
        (seed, step): (Seed, u64),
    ) -> Result<Draw> {
        let lambda = self.draw_lambda(batch, &sources, (seed, step));
        let pairs = Pairs::new(sources.len(), lambda, row_weights)?;
        Ok(Draw {
            sources: Some(sources),
            partners: Some(partners),
            ..Draw::of(training_rows, None, Mixing(Map::Pairs(pairs)))
        })
    }
}

/// The rows of a batch as a list.
pub(super) fn listed(batch: Batch<'_>, rows: usize) -> Result<Vec<usize>> {
    Ok(batch.check(rows)?.map_or_else(|| (0..rows).collect(), <[usize]>::to_vec))
}

/// A partner drawn uniformly for every source.
pub(super) fn uniform_partners(
    sources: &[usize],
    rows: usize,
    seed: Seed,
    step: u64,
) -> Vec<usize> {
    sources.iter().map(|&row| seed.at(Stream::Partner, step, row as u64).below(rows)).collect()
}

pub(super) static INFO: MethodInfo = MethodInfo {
    name: "mixup",
    title: "Mixup",
    help: "Mix each row with a random row",
    on_hidden_layer: Some(HiddenInfo { name: "manifold-mixup", title: "Manifold Mixup" }),
    params: &[&BETA, &PER],
    provenance: RowProvenance::Pair,
    draws_together: false,
    search: &[&[&BETA]],
    in_tune: true,
    rare: false,
    in_comparisons: true,
    build: |params| Arc::new(Mixup::new(params)),
};

#[derive(Debug)]
struct FittedMixup {
    rows: usize,
    mixup: Mixup,
}

impl Method for Mixup {
    fn check(&self) -> Result<()> {
        check_positive("beta", self.beta)
    }

    fn fit(&self, samples: &Samples<'_>, _seed: Seed) -> Result<Box<dyn Fitted>> {
        self.check()?;
        Ok(Box::new(FittedMixup { rows: samples.rows(), mixup: *self }))
    }
}

impl Fitted for FittedMixup {
    fn rows(&self) -> usize {
        self.rows
    }

    fn draw(&self, batch: Batch<'_>, seed: Seed, step: u64) -> Result<Draw> {
        let sources = listed(batch, self.rows)?;
        let partners = uniform_partners(&sources, self.rows, seed, step);
        self.mixup.pairs(self.rows, batch, sources, partners, None, (seed, step))
    }
}
