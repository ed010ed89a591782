//! Gaussian noise: the vanilla augmentation of the paper's linear experiment.
//!
//! ```text
//! ỹᵢ = yᵢ + σ_y·ε,    x̃ᵢ = xᵢ + σ_x·ε,    ε ~ N(0, 1), independent for every entry
//! ```

use std::sync::Arc;

use super::{Batch, Draw, Fitted, Method, Side};
use crate::moments::moments;
use crate::rng::Draws;
use crate::{Error, Mixing, Real, Result, Samples, Seed, Stream};

/// Gaussian noise on targets and, if asked for, on features.
///
/// | Setting | Default | Range | Meaning |
/// | :-- | :-- | :-- | :-- |
/// | [`targets`](Self::targets) | `0.1` | `[0, ∞)` | standard deviation of the noise on targets |
/// | [`features`](Self::features) | `0.0` | `[0, ∞)` | the same on features |
/// | [`relative`](Self::relative) | `true` | | in units of each column's own standard deviation |
///
/// The paper adds noise of deviation 0.1 to the target as it is: `Noise::default().relative(false)`.
///
/// ```
/// use ndarray::array;
/// use windlass::{Batch, Method, Noise, Samples, Seed};
///
/// let (x, y) = (array![[1.0], [2.0]], array![3.0, 4.0]);
/// let noise = Noise::default().targets(0.5).fit(&Samples::new(x.view(), y.view())?, Seed(0))?;
/// let draw = noise.draw(Batch::All, Seed(0), 0)?;
/// assert_eq!(draw.features(x.view())?, x);
/// assert_ne!(draw.targets(y.view())?, y);
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    targets: f64,
    features: f64,
    relative: bool,
}

impl Default for Noise {
    fn default() -> Self {
        Self { targets: 0.1, features: 0.0, relative: true }
    }
}

impl Noise {
    /// Sets the standard deviation of the noise on targets.
    #[must_use]
    pub fn targets(mut self, deviation: f64) -> Self {
        self.targets = deviation;
        self
    }

    /// Sets the standard deviation of the noise on features.
    #[must_use]
    pub fn features(mut self, deviation: f64) -> Self {
        self.features = deviation;
        self
    }

    /// Sets whether deviations are in units of each column's own.
    #[must_use]
    pub fn relative(mut self, relative: bool) -> Self {
        self.relative = relative;
        self
    }

    /// Refuses settings outside their range.
    pub fn check(&self) -> Result<()> {
        for (name, got) in [("targets", self.targets), ("features", self.features)] {
            if !(got >= 0.0 && got.is_finite()) {
                return Err(Error::OutOfRange { name, range: "[0, inf)", got });
            }
        }
        Ok(())
    }
}

#[derive(Debug)]
struct FittedNoise {
    rows: usize,
    deviations: Arc<Deviations>,
}

/// The standard deviation of the noise on every column.
#[derive(Debug)]
struct Deviations {
    features: Vec<f64>,
    targets: Vec<f64>,
}

impl Method for Noise {
    fn fit(&self, samples: &Samples<'_>, _seed: Seed) -> Result<Box<dyn Fitted>> {
        self.check()?;
        let scaled = |rows: ndarray::ArrayView2<'_, f64>, deviation: f64| -> Vec<f64> {
            if self.relative && deviation > 0.0 {
                let (_, own) = moments(rows, samples.weights());
                own.into_iter().map(|own| own * deviation).collect()
            } else {
                vec![deviation; rows.ncols()]
            }
        };
        let deviations = Arc::new(Deviations {
            features: scaled(samples.x(), self.features),
            targets: scaled(samples.y(), self.targets),
        });
        let all = deviations.features.iter().chain(&deviations.targets);
        if let Some(&got) =
            all.clone().find(|&&deviation| deviation.is_nan() || deviation >= f64::LIMIT)
        {
            let range = "a range that cannot overflow";
            return Err(Error::OutOfRange { name: "the deviation of the noise", range, got });
        }
        Ok(Box::new(FittedNoise { rows: samples.rows(), deviations }))
    }
}

impl Fitted for FittedNoise {
    fn rows(&self) -> usize {
        self.rows
    }

    fn draw(&self, batch: Batch<'_>, seed: Seed, step: u64) -> Result<Draw> {
        let sources = batch.check(self.rows)?;
        let rows = sources.map_or(self.rows, <[usize]>::len);
        let noise = AddedNoise { deviations: Arc::clone(&self.deviations), seed, step };
        Ok(Draw { noise: Some(noise), ..Draw::of(self.rows, sources, Mixing::identity(rows)) })
    }
}

/// The additive term of a draw. It is made when it is added: it needs no memory.
#[derive(Debug, Clone)]
pub(super) struct AddedNoise {
    deviations: Arc<Deviations>,
    seed: Seed,
    step: u64,
}

impl AddedNoise {
    /// Adds its noise to a row made from training row `source`.
    pub(super) fn add<T: Real>(&self, side: Side, source: usize, row: &mut [T]) {
        let (stream, deviations) = match side {
            Side::Features => (Stream::FeatureNoise, &self.deviations.features),
            Side::Targets => (Stream::TargetNoise, &self.deviations.targets),
        };
        let mut draws: Draws = self.seed.at(stream, self.step, source as u64);
        for (value, &deviation) in row.iter_mut().zip(deviations) {
            if deviation > 0.0 {
                *value = T::narrow(value.widen() + deviation * draws.normal());
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
