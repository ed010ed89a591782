//! Runs: what to train on what, and what came of it. Independent runs go side by side.
//!
//! ```
//! use std::sync::Arc;
//! use ndarray::Array2;
//! use windlass::Seed;
//! use windlass_train::{Activation, Examples, RunSpec, Shape, Training, run_all};
//!
//! let x = Array2::from_shape_fn((64, 2), |(i, j)| ((i * (3 + 4 * j)) % 17) as f32 / 17.0);
//! let y = Array2::from_shape_fn((64, 1), |(i, _)| 2.0 * x[(i, 0)] - x[(i, 1)]);
//! let train = Arc::new(Examples::new(x, y, None)?);
//! let spec = RunSpec {
//!     train,
//!     valid: None,
//!     shape: Shape::mlp(2, 16, Activation::Relu, 1),
//!     training: Training { epochs: 50, rate: 0.01, weight_decay: 0.0, ..Training::default() },
//!     augment: None,
//!     seed: Seed(0),
//! };
//! let specs: Vec<RunSpec> = (0..4).map(|seed| RunSpec { seed: Seed(seed), ..spec.clone() }).collect();
//! for result in run_all(&specs, &(), |_, _| {}) {
//!     let result = result?;
//!     assert!(result.history.last().unwrap().loss < 0.05);
//! }
//! # Ok::<(), windlass_train::Error>(())
//! ```

use std::sync::Arc;
use std::time::Instant;

use ndarray::Array2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use windlass::{Method, Samples, Seed, Stream};
use xxhash_rust::xxh3::Xxh3;

use crate::loss::Loss;
use crate::optimizer::Optimizer;
use crate::trainer::Trainer;
use crate::{Architecture, Error, Network, Result, Shape};

/// Rows to train on or to judge by: features, targets and, perhaps, weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Examples {
    pub(crate) x: Array2<f32>,
    pub(crate) y: Array2<f32>,
    pub(crate) weights: Option<Vec<f64>>,
}

impl Examples {
    /// Checks that rows agree and all numbers are finite, and weights not negative.
    pub fn new(x: Array2<f32>, y: Array2<f32>, weights: Option<Vec<f64>>) -> Result<Self> {
        let (x, y) = (standard(x), standard(y));
        if x.nrows() != y.nrows() {
            return Err(Error::Rows { left: x.nrows(), right: y.nrows(), what: "targets" });
        }
        let samples = Samples::new(x.view(), y.view())?;
        if let Some(weights) = &weights {
            samples.with_weights(weights)?;
        }
        Ok(Self { x, y, weights })
    }

    /// The features.
    #[must_use]
    pub fn x(&self) -> &Array2<f32> {
        &self.x
    }

    /// The targets.
    #[must_use]
    pub fn y(&self) -> &Array2<f32> {
        &self.y
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.x.nrows()
    }

    pub(crate) fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    /// The weighted mean over rows and outputs of the squared error.
    #[must_use]
    pub fn squared_error(&self, predicted: &Array2<f32>) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        for (row, (predicted, y)) in predicted.rows().into_iter().zip(self.y.rows()).enumerate() {
            let weight = self.weight(row);
            for (&predicted, &y) in predicted.iter().zip(y) {
                sum += weight * (f64::from(predicted) - f64::from(y)).powi(2);
                total += weight;
            }
        }
        sum / total
    }
}

fn standard(values: Array2<f32>) -> Array2<f32> {
    if values.is_standard_layout() { values } else { values.as_standard_layout().into_owned() }
}

/// How training goes.
///
/// | Setting | Default | Range |
/// | :-- | :-- | :-- |
/// | `epochs` | `200` | `1, …` |
/// | `batch` | `16` | `1, …` |
/// | `drop_last` | `false` | |
/// | `order` | every epoch anew | |
/// | `optimizer` | `AdamW` | |
/// | `rate` | `2e-3` | `(0, ∞)` |
/// | `schedule` | constant | |
/// | `weight_decay` | `0.5` | `[0, ∞)` |
/// | `clip` | none | `(0, ∞)` |
/// | `loss` | squared error | |
/// | `patience` | none | `1, …` |
///
/// The defaults suit small tables: strong weight decay matters there more than any augmentation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Training {
    /// Times that all rows are seen.
    pub epochs: usize,
    /// Rows of a step.
    pub batch: usize,
    /// Whether a last batch that is not full is left out.
    pub drop_last: bool,
    /// The order of rows.
    pub order: Order,
    /// How weights follow the gradient.
    #[serde(rename = "optimiser")]
    pub optimizer: Optimizer,
    /// The learning rate.
    pub rate: f64,
    /// How the rate changes.
    pub schedule: Schedule,
    /// How strongly weights are drawn to zero.
    pub weight_decay: f64,
    /// The length to which a longer gradient is cut.
    pub clip: Option<f64>,
    /// What is made small.
    pub loss: Loss,
    /// Epochs without a better validation error after which training ends.
    pub patience: Option<usize>,
}

impl Default for Training {
    fn default() -> Self {
        Self {
            epochs: 200,
            batch: 16,
            drop_last: false,
            order: Order::EveryEpoch,
            optimizer: Optimizer::adam_w(),
            rate: 2e-3,
            schedule: Schedule::Constant,
            weight_decay: 0.5,
            clip: None,
            loss: Loss::Squared,
            patience: None,
        }
    }
}

impl Training {
    pub(crate) fn check(&self, rows: usize) -> Result<()> {
        self.optimizer.check()?;
        self.loss.check()?;
        let refuse = |name, range, got| Err(Error::OutOfRange { name, range, got });
        let counts = [("epochs", self.epochs), ("batch", self.batch)];
        let patience = self.patience.map(|patience| ("patience", patience));
        for (name, value) in counts.into_iter().chain(patience) {
            if value == 0 {
                return refuse(name, "[1, inf)", 0.0);
            }
        }
        for (name, value) in [("learning rate", Some(self.rate)), ("clip", self.clip)] {
            if let Some(value) = value.filter(|value| !(*value > 0.0 && value.is_finite())) {
                return refuse(name, "(0, inf)", value);
            }
        }
        if !(self.weight_decay >= 0.0 && self.weight_decay.is_finite()) {
            return refuse("weight decay", "[0, inf)", self.weight_decay);
        }
        if self.drop_last && rows < self.batch {
            return Err(Error::NoFullBatch { batch: self.batch, rows });
        }
        Ok(())
    }

    /// Steps of an epoch over so many rows.
    #[must_use]
    pub fn steps(&self, rows: usize) -> usize {
        if self.drop_last { rows / self.batch } else { rows.div_ceil(self.batch) }
    }
}

/// The order in which training rows are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Shuffled for every epoch.
    #[default]
    EveryEpoch,
    /// Shuffled once.
    Once,
    /// As they stand.
    AsGiven,
}

/// How the learning rate changes from epoch to epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Schedule {
    /// Not at all.
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
                let way = epoch as f64 / epochs as f64;
                rate * 0.5 * (1.0 + libm::cos(std::f64::consts::PI * way))
            }
        }
    }
}

/// Augmentation inside the loop.
#[derive(Debug, Clone)]
pub struct Augment {
    /// The method.
    pub method: Arc<dyn Method>,
    /// After which hidden layer it works; 0 is the input. Of several, one is drawn for every step.
    pub layers: Vec<usize>,
    /// Whether the rows of a batch stay in it beside their synthetic ones; published code drops them.
    pub originals: bool,
    /// What groups, partners and distances are found in.
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

/// What a method is fitted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FittedOn {
    /// All training rows, once.
    #[default]
    TrainingRows,
    /// Each batch, anew.
    Batch,
}

/// One run: all that decides its result.
#[derive(Debug, Clone)]
pub struct RunSpec<S = Shape> {
    /// Rows to learn from.
    pub train: Arc<Examples>,
    /// Rows to choose the best epoch by; without them it is the last.
    pub valid: Option<Arc<Examples>>,
    /// The network.
    pub shape: S,
    /// How it is trained.
    pub training: Training,
    /// Augmentation, if any.
    pub augment: Option<Augment>,
    /// The seed of weights, order and augmentation.
    pub seed: Seed,
}

impl<S: Architecture> RunSpec<S> {
    /// Tells this run from any other.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut hash = Xxh3::new();
        for examples in [Some(&self.train), self.valid.as_ref()] {
            let Some(examples) = examples else {
                hash.update(b"none");
                continue;
            };
            hash.update(&(examples.rows() as u64).to_le_bytes());
            for value in examples.x.iter().chain(&examples.y) {
                hash.update(&value.to_le_bytes());
            }
            for weight in examples.weights.iter().flatten() {
                hash.update(&weight.to_le_bytes());
            }
        }
        let settings = (&self.shape, &self.training, &self.augment, self.seed);
        hash.update(format!("{settings:?}").as_bytes());
        format!("xxh3-128:{:032x}", hash.digest128())
    }

    /// Trains.
    pub fn run(&self, mut watch: impl FnMut(&Epoch) -> bool) -> Result<RunResult<S::Network>> {
        let mut trainer = Trainer::new(self)?;
        while !trainer.is_finished() {
            let epoch = trainer.epoch()?;
            if epoch.is_some_and(|epoch| !watch(&epoch)) {
                trainer.cancel();
            }
        }
        Ok(trainer.into_result())
    }
}

/// What an epoch came to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Epoch {
    /// Its number, from 1.
    pub number: usize,
    /// The mean loss of its steps.
    pub loss: f64,
    /// The mean squared error of the validation rows after it.
    pub valid: Option<f64>,
    /// Whether that is the best so far.
    pub best: bool,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// After its last epoch.
    Finished,
    /// Because the validation error had not become better for long.
    EarlyStop,
    /// Because its watcher said so.
    Cancelled,
    /// Because the loss was no number any more; the weights are the last good ones.
    Diverged,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult<N = Network> {
    /// The network: of the best epoch, or the last where there are no validation rows.
    pub network: N,
    /// Every epoch.
    pub history: Vec<Epoch>,
    /// The epoch that the network is of, from 1; 0 is before the first.
    pub epoch: usize,
    /// Its mean squared error on the validation rows.
    pub valid: Option<f64>,
    /// How it ended.
    pub outcome: Outcome,
    /// How long it took.
    pub seconds: f64,
}

/// Hears of epochs while runs go on, and may end one.
pub trait Watch: Sync {
    /// An epoch of a run ended; `false` ends the run.
    fn epoch(&self, _run: usize, _epoch: &Epoch) -> bool {
        true
    }
}

impl Watch for () {}

/// Trains side by side, a thread for each run; `each` hears of results as they come, in any order, and the
/// results are the same whatever the order.
pub fn run_all<S: Architecture>(
    specs: &[RunSpec<S>],
    watch: &dyn Watch,
    each: impl Fn(usize, &Result<RunResult<S::Network>>) + Sync,
) -> Vec<Result<RunResult<S::Network>>> {
    // One run at a time to a thread: the first to be free takes the next.
    specs
        .par_iter()
        .with_max_len(1)
        .enumerate()
        .map(|(index, spec)| {
            let started = Instant::now();
            let mut result = spec.run(|epoch| watch.epoch(index, epoch));
            if let Ok(result) = &mut result {
                result.seconds = started.elapsed().as_secs_f64();
            }
            each(index, &result);
            result
        })
        .collect()
}
