//! Gaussian noise, as in the paper's linear experiment.
//!
//! ```text
//! ỹᵢ = yᵢ + σ_y·ε,    x̃ᵢ = xᵢ + σ_x·ε,    ε ~ N(0, 1), independent for every entry
//! ```

use std::sync::Arc;

use ndarray::ArrayView2;

use super::registry::{FEATURE_NOISE, NOISE_UNITS, TARGET_NOISE};
use super::values::NoiseUnits;
use super::{Added, Batch, Draw, Fitted, Method, MethodInfo, RowProvenance, Side};
use crate::moments::moments;
use crate::rng::Draws;
use crate::{Error, Mixing, Real, Result, Samples, Seed, Stream};

/// Gaussian noise on targets and, optionally, on features.
///
/// | Setting | Default | Range | Meaning |
/// | :-- | :-- | :-- | :-- |
/// | `target_noise` | `0.1` | `[0, ∞)` | standard deviation of the noise on targets |
/// | `feature_noise` | `0.0` | `[0, ∞)` | the same on features |
/// | `noise_units` | [`NoiseUnits::Deviations`] | | the units of both |
///
/// The paper adds noise of standard deviation 0.1 to the raw target: [`NoiseUnits::Absolute`].
///
/// ```
/// use ndarray::array;
/// use windlass::{Batch, Method, Noise, Samples, Seed};
///
/// let (x, y) = (array![[1.0], [2.0]], array![3.0, 4.0]);
/// let noise = Noise { target_noise: 0.5, ..Noise::default() };
/// let noise = noise.fit(&Samples::new(x.view(), y.view())?, Seed(0))?;
/// let draw = noise.draw(Batch::All, Seed(0), 0)?;
/// assert_eq!(draw.features(x.view())?, x);
/// assert_ne!(draw.targets(y.view())?, y);
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the table explains each field")]
pub struct Noise {
    pub target_noise: f64,
    pub feature_noise: f64,
    pub noise_units: NoiseUnits,
}

impl Default for Noise {
    fn default() -> Self {
        Self { target_noise: 0.1, feature_noise: 0.0, noise_units: NoiseUnits::Deviations }
    }
}

#[derive(Debug)]
struct FittedNoise {
    rows: usize,
    deviations: Arc<Deviations>,
}

/// The standard deviation of the noise on every column.
#[derive(Debug)]
pub(super) struct Deviations {
    features: Vec<f64>,
    targets: Vec<f64>,
}

impl Deviations {
    /// Multiples of the standard deviations of features and targets.
    pub(super) fn of_columns(samples: &Samples<'_>, features: f64, targets: f64) -> Self {
        let scaled = |rows: ArrayView2<'_, f64>, factor: f64| -> Vec<f64> {
            if factor == 0.0 {
                return vec![0.0; rows.ncols()];
            }
            let (_, own) = moments(rows, samples.weights());
            own.into_iter().map(|own| own * factor).collect()
        };
        Self { features: scaled(samples.x(), features), targets: scaled(samples.y(), targets) }
    }

    /// Returns an error if noise of `scale` times these deviations could overflow.
    pub(super) fn check(&self, scale: f64) -> Result<()> {
        let mut all = self.features.iter().chain(&self.targets).map(|deviation| deviation * scale);
        match all.find(|deviation| deviation.is_nan() || *deviation >= f64::LIMIT) {
            None => Ok(()),
            Some(got) => {
                let name = "the standard deviation of the noise";
                Err(Error::OutOfRange { name, range: "a range that cannot overflow", got })
            }
        }
    }
}

pub(super) static INFO: MethodInfo = MethodInfo {
    name: "noise",
    title: "noise",
    help: "Add Gaussian noise",
    on_hidden_layer: None,
    params: &[&TARGET_NOISE, &FEATURE_NOISE, &NOISE_UNITS],
    provenance: RowProvenance::Source,
    draws_together: false,
    search: &[&[&TARGET_NOISE, &FEATURE_NOISE]],
    in_tune: true,
    rare: false,
    in_comparisons: true,
    build: |params| {
        let default = Noise::default();
        Arc::new(Noise {
            target_noise: params.target_noise.unwrap_or(default.target_noise),
            feature_noise: params.feature_noise.unwrap_or(default.feature_noise),
            noise_units: params.noise_units.unwrap_or(default.noise_units),
        })
    },
};

impl Method for Noise {
    fn check(&self) -> Result<()> {
        for (name, got) in
            [("target_noise", self.target_noise), ("feature_noise", self.feature_noise)]
        {
            if !(got >= 0.0 && got.is_finite()) {
                return Err(Error::OutOfRange { name, range: "[0, inf)", got });
            }
        }
        Ok(())
    }

    fn fit(&self, samples: &Samples<'_>, _seed: Seed) -> Result<Box<dyn Fitted>> {
        self.check()?;
        let (features, targets) = (self.feature_noise, self.target_noise);
        let deviations = match self.noise_units {
            NoiseUnits::Deviations => Deviations::of_columns(samples, features, targets),
            NoiseUnits::Absolute => Deviations {
                features: vec![features; samples.x().ncols()],
                targets: vec![targets; samples.y().ncols()],
            },
        };
        deviations.check(1.0)?;
        Ok(Box::new(FittedNoise { rows: samples.rows(), deviations: Arc::new(deviations) }))
    }
}

impl Fitted for FittedNoise {
    fn rows(&self) -> usize {
        self.rows
    }

    fn draw(&self, batch: Batch<'_>, seed: Seed, step: u64) -> Result<Draw> {
        let sources = batch.check(self.rows)?;
        let rows = sources.map_or(self.rows, <[usize]>::len);
        let deviations = Arc::clone(&self.deviations);
        let noise = AddedNoise { deviations, scales: None, seed, step };
        let added = Some(Added::Noise(noise));
        Ok(Draw { added, ..Draw::of(self.rows, sources, Mixing::identity(rows)) })
    }
}

/// The additive term of a draw, generated when it is added.
#[derive(Debug, Clone)]
pub(super) struct AddedNoise {
    pub(super) deviations: Arc<Deviations>,
    /// The factor of the deviations in each row of the batch, `None` for a row without noise; without it, 1.
    pub(super) scales: Option<Vec<Option<f64>>>,
    pub(super) seed: Seed,
    pub(super) step: u64,
}

impl AddedNoise {
    /// The factor of the deviations in a row of the batch.
    pub(super) fn scale(&self, row: usize) -> Option<f64> {
        self.scales.as_ref().map_or(Some(1.0), |scales| scales[row])
    }

    /// Adds the noise, with a factor, to the synthetic row of training row `source`.
    pub(super) fn add<T: Real>(&self, side: Side, source: usize, scale: f64, row: &mut [T]) {
        let (stream, deviations) = match side {
            Side::Features => (Stream::FeatureNoise, &self.deviations.features),
            Side::Targets => (Stream::TargetNoise, &self.deviations.targets),
        };
        let mut draws: Draws = self.seed.at(stream, self.step, source as u64);
        for (value, &deviation) in row.iter_mut().zip(deviations) {
            if deviation > 0.0 {
                *value = T::narrow(value.widen() + scale * deviation * draws.normal());
            }
        }
    }

    /// The number of columns of a side.
    pub(super) fn width(&self, side: Side) -> usize {
        match side {
            Side::Features => self.deviations.features.len(),
            Side::Targets => self.deviations.targets.len(),
        }
    }
}
