//! The training loop of one run, an epoch at a time.

use std::sync::OnceLock;
use std::time::Instant;

use ndarray::{Array2, ArrayView2, Axis, concatenate, s};
use serde::{Deserialize, Serialize};
use windlass::{Batch, Dataset, Draw, Fitted, Real, Stream};

use crate::config::{Augment, FittedOn, RunSpec, Shuffle};
use crate::learner::{Architecture, BatchInput, HiddenMix, Learner, Step};
use crate::loss::mean_squared_error;
use crate::network::{Network, Shape};
use crate::optimizer::OptimizerState;
use crate::{Error, Result};

/// The result of an epoch.
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
    /// The validation error did not improve for [`patience`](crate::TrainConfig::patience) epochs.
    EarlyStop,
    /// Cancelled by the caller.
    Cancelled,
    /// The loss became NaN or infinite; the network has its last good weights.
    Diverged,
}

/// The network and the history of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult<N = Network> {
    /// The network after the best epoch, or after the last without validation rows.
    pub network: N,
    /// Every epoch.
    pub history: Vec<Epoch>,
    /// The epoch of the network, from 1; 0 is before the first.
    pub epoch: usize,
    /// Its mean squared error on the validation rows.
    pub valid: Option<f64>,
    /// How the run ended.
    pub outcome: Outcome,
    /// Duration in seconds.
    pub seconds: f64,
}

/// A run in progress.
///
/// Random numbers are a function of the seed and the number of the epoch, step or row, so a run that was
/// [saved](Self::save) after any epoch and [resumed](Self::resume) ends with the same weights, bit for bit.
#[derive(Debug)]
pub struct Trainer<'a, A: Architecture = Shape> {
    spec: &'a RunSpec<A>,
    /// The method, if it is fitted once.
    fitted: Option<Box<dyn Fitted>>,
    pub(crate) network: A::Network,
    pub(crate) optimizer_state: OptimizerState,
    pub(crate) best: Option<BestEpoch>,
    pub(crate) history: Vec<Epoch>,
    outcome: Option<Outcome>,
    workspace: Workspace<A>,
    started: Instant,
    pub(crate) seconds_before: f64,
    /// Of the spec, computed when first needed.
    fingerprint: OnceLock<String>,
}

type Workspace<A> = <<A as Architecture>::Network as Learner>::Workspace;

/// The state of the network after the epoch with the least validation error.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct BestEpoch {
    pub(crate) epoch: usize,
    pub(crate) valid: f64,
    pub(crate) parameters: Vec<f32>,
}

impl<'a, A: Architecture> Trainer<'a, A> {
    /// Checks the settings, fits the method and draws the initial weights.
    pub fn new(spec: &'a RunSpec<A>) -> Result<Self> {
        let (train, shape) = (&spec.train, &spec.shape);
        spec.training.check(train.rows())?;
        for dataset in [Some(train), spec.valid.as_ref()].into_iter().flatten() {
            for (what, expected, got) in [
                ("features", shape.inputs(), dataset.x().ncols()),
                ("targets", shape.outputs(), dataset.y().ncols()),
            ] {
                if expected != got {
                    return Err(Error::Columns { what, expected, got });
                }
            }
        }
        let mut fitted = None;
        if let Some(augment) = &spec.augment {
            let hidden = shape.hidden();
            if let Some(&layer) = augment.layers.iter().find(|&&layer| layer > hidden) {
                return Err(Error::NoSuchLayer { layer, hidden });
            }
            if augment.layers.is_empty() {
                return Err(Error::NoLayer);
            }
            // Also if it is fitted on batches, to report errors before training.
            let method = augment.method.fit(&train.samples(), spec.seed)?;
            let draw = method.draw(Batch::Rows(&[0]), spec.seed, 0)?;
            let is_hidden = shape.is_encoded() || augment.layers.iter().any(|&layer| layer > 0);
            if is_hidden && !method.follows_hidden() && draw.mixing().is_err() {
                return Err(Error::NotOnHiddenLayer);
            }
            fitted = (augment.fitted_on == FittedOn::TrainingRows).then_some(method);
        }
        let network = shape.network(spec.seed)?;
        if let Some((augment, method)) = spec.augment.as_ref().zip(fitted.as_ref())
            && method.follows_hidden()
        {
            for &layer in augment.layers.iter().filter(|&&layer| layer > 0 || shape.is_encoded()) {
                let hidden = network.hidden(train.x().slice(s![..1, ..]), layer)?;
                method.draw_hidden(&[0], hidden.mapv(f64::from).view(), spec.seed, 0)?;
            }
        }
        let optimizer_state = OptimizerState::new(spec.training.optimizer, network.trainable());
        Ok(Self {
            spec,
            fitted,
            network,
            optimizer_state,
            best: None,
            history: vec![],
            outcome: None,
            workspace: Workspace::<A>::default(),
            started: Instant::now(),
            seconds_before: 0.0,
            fingerprint: OnceLock::new(),
        })
    }

    pub(crate) fn fingerprint(&self) -> &str {
        self.fingerprint.get_or_init(|| self.spec.fingerprint())
    }

    /// Whether the run has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.outcome.is_some() || self.history.len() >= self.spec.training.epochs
    }

    /// Duration of the run up to the checkpoint that it was resumed from.
    #[must_use]
    pub fn seconds_before(&self) -> f64 {
        self.seconds_before
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.seconds_before + self.started.elapsed().as_secs_f64()
    }

    /// Ends the run after the current epoch.
    pub fn cancel(&mut self) {
        self.outcome.get_or_insert(Outcome::Cancelled);
    }

    /// Trains for one epoch; `None` if it diverged, or the run had ended.
    pub fn epoch(&mut self) -> Result<Option<Epoch>> {
        if self.is_finished() {
            return Ok(None);
        }
        let training = &self.spec.training;
        let number = self.history.len();
        let order = self.row_order(number);
        let rate = training.schedule.rate(training.learning_rate, number, training.epochs);
        let before = self.network.parameters().to_vec();
        let steps = training.steps(order.len());
        let (mut sum, mut counted) = (0.0, 0_u32);
        for (batch, rows) in order.chunks(training.batch_size).take(steps).enumerate() {
            let step = (number * steps + batch) as u64;
            let loss = match self.step(rows, step, rate) {
                // Values that are not finite cannot be mixed: the network diverged.
                Err(Error::Core(_)) if A::Network::has_overflowed(&self.workspace) => {
                    Some(f64::NAN)
                }
                other => other?,
            };
            if let Some(loss) = loss {
                sum += loss;
                counted += 1;
            }
            if !sum.is_finite() {
                break;
            }
        }
        if !sum.is_finite() || !self.network.parameters().iter().all(|value| value.is_finite()) {
            self.network.parameters_mut().copy_from_slice(&before);
            self.outcome = Some(Outcome::Diverged);
            return Ok(None);
        }
        let loss = sum / f64::from(counted.max(1));
        let valid = match &self.spec.valid {
            Some(valid) => {
                Some(mean_squared_error(valid, &self.network.predict(valid.x().view())?))
            }
            None => None,
        };
        let least = self.best.as_ref().map_or(f64::INFINITY, |best| best.valid);
        let mut epoch = Epoch { number: number + 1, loss, valid, best: false };
        if let Some(valid) = valid.filter(|&valid| valid <= least) {
            epoch.best = true;
            let parameters = self.network.parameters().to_vec();
            self.best = Some(BestEpoch { epoch: epoch.number, valid, parameters });
        }
        self.history.push(epoch);
        self.stop_if_out_of_patience();
        Ok(Some(epoch))
    }

    pub(crate) fn stop_if_out_of_patience(&mut self) {
        let epoch = self.history.len();
        let since = epoch - self.best.as_ref().map_or(epoch, |best| best.epoch);
        if self.spec.training.patience.is_some_and(|patience| since >= patience) {
            self.outcome = Some(Outcome::EarlyStop);
        }
    }

    /// The training rows in the order of an epoch.
    fn row_order(&self, epoch: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.spec.train.rows()).collect();
        let epoch = match self.spec.training.shuffle {
            Shuffle::EveryEpoch => epoch as u64,
            Shuffle::Once => 0,
            Shuffle::Never => return order,
        };
        let size = self.spec.training.batch_size;
        let of_method = |fitted: &dyn Fitted| fitted.order(size, self.spec.seed, epoch);
        if let Some(order) = self.fitted.as_deref().and_then(of_method) {
            return order;
        }
        self.spec.seed.shared(Stream::Order, epoch).shuffle(&mut order);
        order
    }

    /// One optimization step; returns its loss, `None` if all rows of the batch weigh 0.
    fn step(&mut self, rows: &[usize], number: u64, rate: f64) -> Result<Option<f64>> {
        let (spec, train) = (self.spec, &self.spec.train);
        let loss = match &spec.augment {
            None => {
                let y = train.y().select(Axis(0), rows);
                let weight = |row: usize| train.weight(rows[row]);
                let step = Step {
                    x: BatchInput::Selected { x: train.x(), rows },
                    hidden_mix: None,
                    y: y.view(),
                    loss: spec.training.loss,
                    weight: &weight,
                    seed: spec.seed,
                    number,
                };
                self.network.backprop(&step, &mut self.workspace)?
            }
            Some(augment) => {
                if let Some(fitted) = &self.fitted {
                    let Some(draw) = self.draw(augment, fitted.as_ref(), train, rows, number)?
                    else {
                        return Ok(Some(f64::NAN));
                    };
                    self.augmented_loss(augment, &draw, train, rows, number)?
                } else {
                    let batch = train.select(rows)?;
                    let fitted = augment.method.fit(&batch.samples(), spec.seed)?;
                    let all: Vec<usize> = (0..rows.len()).collect();
                    let Some(draw) = self.draw(augment, fitted.as_ref(), &batch, &all, number)?
                    else {
                        return Ok(Some(f64::NAN));
                    };
                    self.augmented_loss(augment, &draw, &batch, rows, number)?
                }
            }
        };
        if loss.is_some() {
            let training = &spec.training;
            let gradient = A::Network::gradient(&mut self.workspace);
            if let Some(max_norm) = training.clip_norm {
                clip_norm(gradient, max_norm);
            }
            let trainable = self.network.trainable();
            self.optimizer_state.update(
                training.optimizer,
                rate,
                training.weight_decay,
                gradient,
                &mut self.network.parameters_mut()[..trainable],
            );
        }
        Ok(loss)
    }

    /// The draw of a batch of `dataset`; `None` if it depends on a hidden layer whose outputs are not finite.
    fn draw(
        &self,
        augment: &Augment,
        fitted: &dyn Fitted,
        dataset: &Dataset<f32>,
        rows: &[usize],
        number: u64,
    ) -> Result<Option<Draw>> {
        let (seed, layer) = (self.spec.seed, augment.layer(self.spec.seed, number));
        if !fitted.follows_hidden() || layer == 0 && !self.spec.shape.is_encoded() {
            return Ok(Some(fitted.draw(Batch::Rows(rows), seed, number)?));
        }
        let hidden = self.network.hidden(dataset.x().select(Axis(0), rows).view(), layer)?;
        if !hidden.iter().all(|&value| f64::from(value.abs()) < <f32 as Real>::LIMIT) {
            return Ok(None);
        }
        Ok(Some(fitted.draw_hidden(rows, hidden.mapv(f64::from).view(), seed, number)?))
    }

    /// The loss of a batch of synthetic rows, mixed from `dataset` on the input or inside the network.
    fn augmented_loss(
        &mut self,
        augment: &Augment,
        draw: &Draw,
        dataset: &Dataset<f32>,
        rows: &[usize],
        number: u64,
    ) -> Result<Option<f64>> {
        let spec = self.spec;
        let (x, y) = (dataset.x().view(), dataset.y().view());
        // The original rows are the first that the mixing gathers.
        let originals: Vec<usize> = draw.gathered().take(draw.rows()).collect();
        let with_originals = |synthetic: Array2<f32>, all: ArrayView2<'_, f32>| {
            if !augment.originals {
                return synthetic;
            }
            let own = all.select(Axis(0), &originals);
            concatenate(Axis(0), &[own.view(), synthetic.view()]).expect("rows of the same width")
        };
        let targets = with_originals(draw.targets(y)?, y);
        let row_weights = draw.row_weights();
        let first = if augment.originals { rows.len() } else { 0 };
        let weight = |row: usize| match row.checked_sub(first) {
            None => spec.train.weight(rows[row]),
            Some(row) => spec.train.weight(rows[row]) * row_weights.map_or(1.0, |all| all[row]),
        };
        let layer = augment.layer(spec.seed, number);
        let (input, hidden_mix);
        if layer == 0 && !spec.shape.is_encoded() {
            (input, hidden_mix) = (with_originals(draw.features(x)?, x), None);
        } else {
            let (mixing, originals) = (draw.mixing()?, augment.originals);
            let displacements = draw.hidden_displacements();
            let mix = HiddenMix { layer, mixing, displacements, originals };
            (input, hidden_mix) = (draw.gather(x)?, Some(mix));
        }
        let step = Step {
            x: BatchInput::All(input.view()),
            hidden_mix,
            y: targets.view(),
            loss: spec.training.loss,
            weight: &weight,
            seed: spec.seed,
            number,
        };
        self.network.backprop(&step, &mut self.workspace)
    }

    /// The network of the best epoch, with the history.
    #[must_use]
    pub fn into_result(self) -> RunResult<A::Network> {
        let seconds = self.seconds();
        let mut network = self.network;
        let (mut epoch, mut valid) = (self.history.len(), None);
        if let Some(best) = self.best {
            (epoch, valid) = (best.epoch, Some(best.valid));
            network.parameters_mut().copy_from_slice(&best.parameters);
        }
        RunResult {
            network,
            history: self.history,
            epoch,
            valid,
            outcome: self.outcome.unwrap_or(Outcome::Finished),
            seconds,
        }
    }
}

/// Clips the norm of a gradient, as PyTorch's `clip_grad_norm_` does.
fn clip_norm(gradient: &mut [f32], max_norm: f64) {
    let norm = gradient.iter().map(|&g| f64::from(g) * f64::from(g)).sum::<f64>().sqrt();
    #[expect(clippy::cast_possible_truncation, reason = "rounded")]
    let factor = (max_norm / (norm + 1e-6)).min(1.0) as f32;
    if factor < 1.0 {
        for g in gradient {
            *g *= factor;
        }
    }
}
