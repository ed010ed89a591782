//! SMOGN: SMOTER if the partner is near, Gaussian noise otherwise.
//!
//! ```text
//! partner j nearer than s:    x̃ᵢ, ỹᵢ as in SMOTER
//! otherwise:                  x̃ᵢ = xᵢ + min(p, s)·σ_x·ε,    ỹᵢ = yᵢ + min(p, s)·σ_y·ε,    ε ~ N(0, 1)
//! ```
//!
//! s is half the median distance of row i to the other rare rows of its range of targets, σ are the standard
//! deviations of the columns and p is the perturbation. Distances are those of standardized features, so p and s have
//! the same unit. A rare row without a neighbor gets noise.
//!
//! Branco, Torgo, Ribeiro, [*SMOGN: a pre-processing approach for imbalanced
//! regression*](https://proceedings.mlr.press/v74/branco17a.html), 2017.

use std::sync::Arc;

use super::noise::{AddedNoise, Deviations};
use super::registry::{NEIGHBORS, PERTURBATION};
use super::smoter::RareNeighbors;
use super::{Added, Batch, Draw, Fitted, Method, MethodInfo, RowProvenance, Smoter};
use crate::{Error, Result, Samples, Seed};

/// SMOGN: rows with rare targets are mixed with a near rare row, or get noise.
///
/// | Setting | Default | Range | Meaning |
/// | :-- | :-- | :-- | :-- |
/// | `smoter` | as in [`Smoter`] | | partners, and which targets are rare |
/// | `perturbation` | `0.02` | `[0, ∞)` | standard deviation of the noise, in those of the columns |
///
/// ```
/// use ndarray::{Array, Axis};
/// use windlass::{Batch, How, Method, Samples, Seed, Smogn};
///
/// let y = Array::from_iter((0..40).map(|i| f64::from(i * i)));
/// let x = y.sqrt().insert_axis(Axis(1));
/// let smogn = Smogn::default().fit(&Samples::new(x.view(), y.view())?, Seed(0))?;
/// let draw = smogn.draw(Batch::Rows(smogn.sources().unwrap()), Seed(0), 0)?;
/// let mixed = (0..draw.rows()).filter(|&row| matches!(draw.origin(row).unwrap().how, How::Pair { .. }));
/// assert!((1..draw.rows()).contains(&mixed.count()));
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the table explains each field")]
pub struct Smogn {
    pub smoter: Smoter,
    pub perturbation: f64,
}

impl Default for Smogn {
    fn default() -> Self {
        Self { smoter: Smoter::default(), perturbation: 0.02 }
    }
}

pub(super) static INFO: MethodInfo = MethodInfo {
    name: "smogn",
    title: "SMOGN",
    help: "Mix each row of rare target with a near rare row, or add noise if none is near",
    on_hidden_layer: None,
    params: &[&NEIGHBORS, &PERTURBATION],
    provenance: RowProvenance::Pair,
    draws_together: false,
    search: &[],
    in_tune: false,
    rare: true,
    in_comparisons: false,
    build: |params| {
        let perturbation = params.perturbation.unwrap_or(Smogn::default().perturbation);
        Arc::new(Smogn { smoter: Smoter::new(params), perturbation })
    },
};

impl Method for Smogn {
    fn check(&self) -> Result<()> {
        self.smoter.check()?;
        let got = self.perturbation;
        if got >= 0.0 && got.is_finite() {
            return Ok(());
        }
        Err(Error::OutOfRange { name: "perturbation", range: "[0, inf)", got })
    }

    fn fit(&self, samples: &Samples<'_>, _seed: Seed) -> Result<Box<dyn Fitted>> {
        self.check()?;
        let deviations = Deviations::of_columns(samples, 1.0, 1.0);
        deviations.check(self.perturbation)?;
        let rare = self.smoter.find(samples)?;
        let (deviations, perturbation) = (Arc::new(deviations), self.perturbation);
        Ok(Box::new(FittedSmogn { rare, deviations, perturbation }))
    }
}

#[derive(Debug)]
struct FittedSmogn {
    rare: RareNeighbors,
    /// Of every column.
    deviations: Arc<Deviations>,
    perturbation: f64,
}

impl Fitted for FittedSmogn {
    fn rows(&self) -> usize {
        self.rare.rows()
    }

    fn draw(&self, batch: Batch<'_>, seed: Seed, step: u64) -> Result<Draw> {
        let mut scales = vec![];
        let pair = |row| {
            let (pair, scale) = match self.rare.draw(row, seed, step) {
                None => ((row, 1.0), None),
                Some((near, partner)) => {
                    let safe = near.median / 2.0;
                    match partner.filter(|(partner, _)| partner.distance < safe) {
                        Some((partner, lambda)) => ((partner.row, lambda), None),
                        None => ((row, 1.0), Some(self.perturbation.min(safe))),
                    }
                }
            };
            scales.push(scale);
            pair
        };
        let draw = self.rare.pairs(batch, pair)?;
        let deviations = Arc::clone(&self.deviations);
        let noise = AddedNoise { deviations, scales: Some(scales), seed, step };
        Ok(Draw { added: Some(Added::Noise(noise)), ..draw })
    }

    fn sources(&self) -> Option<&[usize]> {
        Some(&self.rare.sources)
    }
}
