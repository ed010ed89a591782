//! The settings of a run.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use windlass::{Dataset, Method, Seed, Stream};
use xxhash_rust::xxh3::Xxh3;

use crate::learner::Architecture;
use crate::loss::Loss;
use crate::network::Shape;
use crate::optimizer::Optimizer;
use crate::{Error, Result};

/// Settings of the training loop.
///
/// | Setting | Default | Range |
/// | :-- | :-- | :-- |
/// | `epochs` | `200` | `1, …, 1e6` |
/// | `batch_size` | `16` | `1, …` |
/// | `drop_last` | `false` | |
/// | `shuffle` | every epoch | |
/// | `optimizer` | `AdamW` | |
/// | `learning_rate` | `2e-3` | `(0, ∞)` |
/// | `schedule` | constant | |
/// | `weight_decay` | [`default_weight_decay`](Self::default_weight_decay): `0.5` | `[0, ∞)` |
/// | `clip_norm` | none | `(0, ∞)` |
/// | `loss` | squared error | |
/// | `patience` | none | `1, …` |
///
/// The defaults suit small tables: strong weight decay matters there more than any augmentation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainConfig {
    /// Number of training epochs.
    pub epochs: usize,
    /// Batch size.
    #[serde(rename = "batch")]
    pub batch_size: usize,
    /// Whether to drop a last batch that is not full.
    pub drop_last: bool,
    /// When training rows are shuffled.
    #[serde(rename = "order")]
    pub shuffle: Shuffle,
    /// The optimizer.
    #[serde(rename = "optimiser")]
    pub optimizer: Optimizer,
    /// The learning rate of the first epoch.
    #[serde(rename = "rate")]
    pub learning_rate: f64,
    /// The learning rate schedule.
    pub schedule: Schedule,
    /// Weight decay. `AdamW` multiplies it by the learning rate in each step, so the default
    /// [depends](Self::default_weight_decay) on the learning rate.
    pub weight_decay: f64,
    /// Whether [`for_rows`](Self::for_rows) reduces weight decay for larger data sets.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adapt_weight_decay: bool,
    /// Whether [`for_rows`](Self::for_rows) sets a cosine schedule for larger data sets.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub adapt_schedule: bool,
    /// The norm to which longer gradients are clipped.
    #[serde(rename = "clip")]
    pub clip_norm: Option<f64>,
    /// The loss function.
    pub loss: Loss,
    /// Stop after this many epochs without a better validation error.
    pub patience: Option<usize>,
}

/// Maximum number of epochs, each of which is recorded.
const MAX_EPOCHS: usize = 1_000_000;
/// The default learning rate.
const LEARNING_RATE: f64 = 2e-3;
/// The weight decay of `AdamW` at the default learning rate.
const WEIGHT_DECAY: f64 = 0.5;
/// With more batches in an epoch, weight decay is reduced and the learning rate falls.
const FEW_BATCHES: f64 = 20.0;

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            epochs: 200,
            batch_size: 16,
            drop_last: false,
            shuffle: Shuffle::EveryEpoch,
            optimizer: Optimizer::adam_w(),
            learning_rate: LEARNING_RATE,
            schedule: Schedule::Constant,
            weight_decay: WEIGHT_DECAY,
            adapt_weight_decay: false,
            adapt_schedule: false,
            clip_norm: None,
            loss: Loss::Squared,
            patience: None,
        }
    }
}

impl TrainConfig {
    /// The default weight decay of `AdamW` at a learning rate: their product, the decay of a step, is at most 0.001,
    /// and weight decay at most 0.5, which it is at the default rate.
    ///
    /// ```
    /// use windlass_train::TrainConfig;
    ///
    /// assert_eq!(TrainConfig::default_weight_decay(0.002), TrainConfig::default().weight_decay);
    /// assert_eq!(TrainConfig::default_weight_decay(0.01), 0.1);
    /// assert_eq!(TrainConfig::default_weight_decay(0.001), 0.5);
    /// ```
    #[must_use]
    pub fn default_weight_decay(learning_rate: f64) -> f64 {
        WEIGHT_DECAY * (LEARNING_RATE / learning_rate).min(1.0)
    }

    /// The default schedule for a learning rate: constant up to the default rate, cosine above, because the noise of
    /// large steps would remain.
    #[must_use]
    pub fn default_schedule(learning_rate: f64) -> Schedule {
        if learning_rate > LEARNING_RATE { Schedule::Cosine } else { Schedule::Constant }
    }

    /// The settings for a number of training rows. If an epoch has more than 20 batches, weight decay that
    /// [adapts](Self::adapt_weight_decay) is multiplied by `(20 / batches)⁴`, and a schedule that
    /// [adapts](Self::adapt_schedule) is a cosine: large tables need less regularization and more steps.
    #[must_use]
    pub fn for_rows(&self, rows: usize) -> Self {
        let mut training =
            Self { adapt_weight_decay: false, adapt_schedule: false, ..self.clone() };
        let excess = self.steps(rows) as f64 / FEW_BATCHES;
        if self.batch_size > 0 && excess > 1.0 {
            if self.adapt_weight_decay {
                training.weight_decay /= excess.powi(4);
            }
            if self.adapt_schedule {
                training.schedule = Schedule::Cosine;
            }
        }
        training
    }

    pub(crate) fn check(&self, rows: usize) -> Result<()> {
        self.optimizer.check()?;
        self.loss.check()?;
        let refuse = |name, range, got| Err(Error::OutOfRange { name, range, got });
        if !(1..=MAX_EPOCHS).contains(&self.epochs) {
            return refuse("epochs", "[1, 1e6]", self.epochs as f64);
        }
        let counts = [("batch", self.batch_size)];
        let patience = self.patience.map(|patience| ("patience", patience));
        for (name, value) in counts.into_iter().chain(patience) {
            if value == 0 {
                return refuse(name, "[1, inf)", 0.0);
            }
        }
        for (name, value) in
            [("learning rate", Some(self.learning_rate)), ("clip_norm", self.clip_norm)]
        {
            if let Some(value) = value.filter(|value| !(*value > 0.0 && value.is_finite())) {
                return refuse(name, "(0, inf)", value);
            }
        }
        if !(self.weight_decay >= 0.0 && self.weight_decay.is_finite()) {
            return refuse("weight decay", "[0, inf)", self.weight_decay);
        }
        if self.drop_last && rows < self.batch_size {
            return Err(Error::NoFullBatch { batch: self.batch_size, rows });
        }
        Ok(())
    }

    /// Number of steps in an epoch over `rows` rows.
    #[must_use]
    pub fn steps(&self, rows: usize) -> usize {
        if self.drop_last { rows / self.batch_size } else { rows.div_ceil(self.batch_size) }
    }
}

/// When training rows are shuffled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Shuffle {
    /// Before every epoch.
    #[default]
    EveryEpoch,
    /// Before the first epoch.
    Once,
    /// Not at all: batches follow the order of the table.
    #[serde(rename = "as-given")]
    Never,
}

/// A learning rate schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// A constant learning rate.
    #[default]
    Constant,
    /// Half a cosine, down to 0 after the last epoch.
    Cosine,
}

impl Schedule {
    pub(crate) fn rate(self, rate: f64, epoch: usize, epochs: usize) -> f64 {
        match self {
            Self::Constant => rate,
            Self::Cosine => {
                let progress = epoch as f64 / epochs as f64;
                rate * 0.5 * (1.0 + libm::cos(std::f64::consts::PI * progress))
            }
        }
    }
}

/// Augmentation inside the training loop.
#[derive(Debug, Clone)]
pub struct Augment {
    /// The method.
    pub method: Arc<dyn Method>,
    /// The hidden layer after which rows are mixed; 0 is the input. Of several, one is drawn for every step.
    pub layers: Vec<usize>,
    /// Whether the original rows stay in the batch, in front of the synthetic ones; published code drops them.
    pub originals: bool,
    /// The rows that groups, partners and distances are found in.
    pub fitted_on: FittedOn,
}

impl Augment {
    /// A method on the input, fitted once.
    pub fn new(method: impl Method + 'static) -> Self {
        let method = Arc::new(method);
        Self { method, layers: vec![0], originals: false, fitted_on: FittedOn::TrainingRows }
    }

    /// The same after a hidden layer.
    #[must_use]
    pub fn after(self, layer: usize) -> Self {
        self.after_one_of(vec![layer])
    }

    /// The same after one of these hidden layers, drawn for every step, as Manifold Mixup was first described.
    #[must_use]
    pub fn after_one_of(mut self, layers: Vec<usize>) -> Self {
        self.layers = layers;
        self
    }

    /// The layer of a step.
    pub(crate) fn layer(&self, seed: Seed, step: u64) -> usize {
        match self.layers[..] {
            [layer] => layer,
            _ => self.layers[seed.shared(Stream::Layer, step).below(self.layers.len())],
        }
    }
}

/// The rows that a method is fitted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FittedOn {
    /// All training rows, once.
    #[default]
    TrainingRows,
    /// Each batch separately.
    Batch,
}

/// The specification of one run: data, network, settings and seed.
#[derive(Debug, Clone)]
pub struct RunSpec<A = Shape> {
    /// Training rows.
    pub train: Arc<Dataset<f32>>,
    /// Validation rows, which choose the best epoch; without them it is the last.
    pub valid: Option<Arc<Dataset<f32>>>,
    /// The network.
    pub shape: A,
    /// The training loop.
    pub training: TrainConfig,
    /// Augmentation, if any.
    pub augment: Option<Augment>,
    /// The seed of initial weights, shuffling and augmentation.
    pub seed: Seed,
}

impl<A: Architecture> RunSpec<A> {
    /// A hash of rows and settings; two runs with the same fingerprint have the same result.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut hash = Xxh3::new();
        for dataset in [Some(&self.train), self.valid.as_ref()] {
            let Some(dataset) = dataset else {
                hash.update(b"none");
                continue;
            };
            hash.update(&(dataset.rows() as u64).to_le_bytes());
            for value in dataset.x().iter().chain(dataset.y()) {
                hash.update(&value.to_le_bytes());
            }
            for weight in dataset.weights().into_iter().flatten() {
                hash.update(&weight.to_le_bytes());
            }
        }
        let settings = (&self.shape, &self.training, &self.augment, self.seed);
        hash.update(format!("{settings:?}").as_bytes());
        format!("xxh3-128:{:032x}", hash.digest128())
    }
}
