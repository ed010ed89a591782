//! Training, an epoch at a time, from the start or from where it stopped.

use std::sync::OnceLock;
use std::time::Instant;

use ndarray::{Array2, ArrayView2, Axis, concatenate};
use windlass::{Batch, Draw, Fitted, Samples, Stream};

use crate::optimizer::OptimizerState;
use crate::run::{Augment, FittedOn, Order};
use crate::{
    Architecture, Epoch, Error, Examples, HiddenMix, Learner, Outcome, Result, Rows, RunResult,
    RunSpec, Shape, Step,
};

/// A run that is under way.
///
/// Everything random is a function of the seed and the number of the epoch, the step or the row, so
/// a run that was [saved](Self::save) after any epoch and [resumed](Self::resume) ends with the same weights,
/// bit for bit.
#[derive(Debug)]
pub struct Trainer<'a, S: Architecture = Shape> {
    spec: &'a RunSpec<S>,
    /// A method that is fitted once.
    fitted: Option<Box<dyn Fitted>>,
    pub(crate) network: S::Network,
    pub(crate) memory: OptimizerState,
    pub(crate) best: Option<Best>,
    pub(crate) history: Vec<Epoch>,
    outcome: Option<Outcome>,
    workspace: Workspace<S>,
    started: Instant,
    /// Seconds before it was saved and resumed.
    pub(crate) before: f64,
    /// Of the spec, found when it is first asked for.
    fingerprint: OnceLock<String>,
}

type Workspace<S> = <<S as Architecture>::Network as Learner>::Workspace;

/// The weights of the best epoch.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Best {
    pub(crate) epoch: usize,
    pub(crate) valid: f64,
    pub(crate) values: Vec<f32>,
}

impl<'a, S: Architecture> Trainer<'a, S> {
    /// Checks the settings, fits the method and draws the first weights.
    pub fn new(spec: &'a RunSpec<S>) -> Result<Self> {
        let (train, shape) = (&spec.train, &spec.shape);
        spec.training.check(train.rows())?;
        for (what, examples) in [("training", Some(train)), ("validation", spec.valid.as_ref())] {
            let Some(examples) = examples else { continue };
            if examples.rows() == 0 {
                return Err(Error::NoRows { what });
            }
            for (what, expected, got) in [
                ("features", shape.inputs(), examples.x.ncols()),
                ("targets", shape.outputs(), examples.y.ncols()),
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
            // Also where batches have methods of their own: what cannot be fitted is refused now.
            let samples = train.samples()?;
            let method = augment.method.fit(&samples, spec.seed)?;
            let one = method.draw(Batch::Rows(&[0]), spec.seed, 0)?;
            let inside = shape.is_encoded() || augment.layers.iter().any(|&layer| layer > 0);
            if inside && one.mixing().is_err() {
                return Err(Error::NotOnHiddenLayer);
            }
            fitted = (augment.fitted_on == FittedOn::TrainingRows).then_some(method);
        }
        let network = shape.network(spec.seed)?;
        let memory = OptimizerState::new(spec.training.optimizer, network.learnt());
        Ok(Self {
            spec,
            fitted,
            network,
            memory,
            best: None,
            history: vec![],
            outcome: None,
            workspace: Workspace::<S>::default(),
            started: Instant::now(),
            before: 0.0,
            fingerprint: OnceLock::new(),
        })
    }

    pub(crate) fn fingerprint(&self) -> &str {
        self.fingerprint.get_or_init(|| self.spec.fingerprint())
    }

    /// Whether there is nothing left to do.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.outcome.is_some() || self.history.len() >= self.spec.training.epochs
    }

    /// How long it had gone on before it was saved and resumed.
    #[must_use]
    pub fn seconds_before(&self) -> f64 {
        self.before
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.before + self.started.elapsed().as_secs_f64()
    }

    /// Ends the run where it is.
    pub fn cancel(&mut self) {
        self.outcome.get_or_insert(Outcome::Cancelled);
    }

    /// Trains for one epoch; `None` if it diverged, or there was nothing left to do.
    pub fn epoch(&mut self) -> Result<Option<Epoch>> {
        if self.is_finished() {
            return Ok(None);
        }
        let training = &self.spec.training;
        let number = self.history.len();
        let order = self.order(number);
        let rate = training.schedule.rate(training.rate, number, training.epochs);
        let before = self.network.values().to_vec();
        let steps = training.steps(order.len());
        let (mut sum, mut counted) = (0.0, 0_u32);
        for (batch, rows) in order.chunks(training.batch).take(steps).enumerate() {
            let step = (number * steps + batch) as u64;
            let loss = match self.step(rows, step, rate) {
                // What is not finite can be mixed no more; that is no fault of the method.
                Err(Error::Core(_)) if S::Network::has_overflown(&self.workspace) => Some(f64::NAN),
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
        if !sum.is_finite() || !self.network.values().iter().all(|value| value.is_finite()) {
            self.network.values_mut().copy_from_slice(&before);
            self.outcome = Some(Outcome::Diverged);
            return Ok(None);
        }
        let loss = sum / f64::from(counted.max(1));
        let valid = match &self.spec.valid {
            Some(valid) => Some(valid.squared_error(&self.network.predict(valid.x.view())?)),
            None => None,
        };
        let least = self.best.as_ref().map_or(f64::INFINITY, |best| best.valid);
        let mut epoch = Epoch { number: number + 1, loss, valid, best: false };
        if let Some(valid) = valid.filter(|&valid| valid <= least) {
            epoch.best = true;
            let values = self.network.values().to_vec();
            self.best = Some(Best { epoch: epoch.number, valid, values });
        }
        self.history.push(epoch);
        self.stop_if_waited();
        Ok(Some(epoch))
    }

    /// Ends the run if the validation error has not become better for long.
    pub(crate) fn stop_if_waited(&mut self) {
        let epoch = self.history.len();
        let since = epoch - self.best.as_ref().map_or(epoch, |best| best.epoch);
        if self.spec.training.patience.is_some_and(|patience| since >= patience) {
            self.outcome = Some(Outcome::EarlyStop);
        }
    }

    /// The rows in the order of an epoch.
    fn order(&self, epoch: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.spec.train.rows()).collect();
        let epoch = match self.spec.training.order {
            Order::EveryEpoch => epoch,
            Order::Once => 0,
            Order::AsGiven => return order,
        };
        self.spec.seed.shared(Stream::Order, epoch as u64).shuffle(&mut order);
        order
    }

    /// One step; `None` if no row of the batch counted.
    fn step(&mut self, rows: &[usize], step: u64, rate: f64) -> Result<Option<f64>> {
        let (spec, train) = (self.spec, &self.spec.train);
        let loss = match &spec.augment {
            None => {
                let y = train.y.select(Axis(0), rows);
                let weight = |row: usize| train.weight(rows[row]);
                let step = Step {
                    x: Rows::Some(&train.x, rows),
                    inside: None,
                    y: y.view(),
                    loss: spec.training.loss,
                    weight: &weight,
                    random: (spec.seed, step),
                };
                self.network.pass(&step, &mut self.workspace)?
            }
            Some(augment) => {
                if let Some(fitted) = &self.fitted {
                    let draw = fitted.draw(Batch::Rows(rows), spec.seed, step)?;
                    self.augmented(augment, &draw, train, rows, step)?
                } else {
                    let batch = train.select(rows)?;
                    let fitted = augment.method.fit(&batch.samples()?, spec.seed)?;
                    let draw = fitted.draw(Batch::All, spec.seed, step)?;
                    self.augmented(augment, &draw, &batch, rows, step)?
                }
            }
        };
        if loss.is_some() {
            let training = &spec.training;
            let gradient = S::Network::gradient(&mut self.workspace);
            if let Some(most) = training.clip {
                clip(gradient, most);
            }
            let sizes = (rate, training.weight_decay);
            let learnt = self.network.learnt();
            let values = &mut self.network.values_mut()[..learnt];
            self.memory.step(training.optimizer, sizes, gradient, values);
        }
        Ok(loss)
    }

    /// The loss of a batch of synthetic rows, made of training rows on the input or inside the network.
    fn augmented(
        &mut self,
        augment: &Augment,
        draw: &Draw,
        from: &Examples,
        rows: &[usize],
        step: u64,
    ) -> Result<Option<f64>> {
        let spec = self.spec;
        let (x, y) = (from.x.view(), from.y.view());
        // The rows themselves are the first that the mixing takes.
        let own: Vec<usize> = draw.gathered().take(draw.rows()).collect();
        let with_own = |made: Array2<f32>, all: ArrayView2<'_, f32>| {
            if !augment.originals {
                return made;
            }
            let own = all.select(Axis(0), &own);
            concatenate(Axis(0), &[own.view(), made.view()]).expect("rows of the same width")
        };
        let targets = with_own(draw.targets(y)?, y);
        let counts = draw.row_weights();
        let first = if augment.originals { rows.len() } else { 0 };
        let weight = |row: usize| match row.checked_sub(first) {
            None => spec.train.weight(rows[row]),
            Some(row) => spec.train.weight(rows[row]) * counts.map_or(1.0, |counts| counts[row]),
        };
        let layer = augment.layer(spec.seed, step);
        let (entering, inside);
        if layer == 0 && !spec.shape.is_encoded() {
            (entering, inside) = (with_own(draw.features(x)?, x), None);
        } else {
            let (mixing, originals) = (draw.mixing()?, augment.originals);
            (entering, inside) = (draw.gather(x)?, Some(HiddenMix { layer, mixing, originals }));
        }
        let step = Step {
            x: Rows::All(entering.view()),
            inside,
            y: targets.view(),
            loss: spec.training.loss,
            weight: &weight,
            random: (spec.seed, step),
        };
        self.network.pass(&step, &mut self.workspace)
    }

    /// What came of it.
    #[must_use]
    pub fn into_result(self) -> RunResult<S::Network> {
        let seconds = self.seconds();
        let mut network = self.network;
        let (mut epoch, mut valid) = (self.history.len(), None);
        if let Some(best) = self.best {
            (epoch, valid) = (best.epoch, Some(best.valid));
            network.values_mut().copy_from_slice(&best.values);
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

impl Examples {
    pub(crate) fn samples(&self) -> Result<Samples<'_>> {
        let samples = Samples::new(self.x.view(), self.y.view())?;
        Ok(match &self.weights {
            Some(weights) => samples.with_weights(weights)?,
            None => samples,
        })
    }

    /// Some of the rows.
    pub fn select(&self, rows: &[usize]) -> Result<Self> {
        let weights = self.weights.as_ref().map(|all| rows.iter().map(|&row| all[row]).collect());
        Self::new(self.x.select(Axis(0), rows), self.y.select(Axis(0), rows), weights)
    }
}

/// Cuts a gradient that is longer, as PyTorch's `clip_grad_norm_` does.
fn clip(gradient: &mut [f32], most: f64) {
    let length = gradient.iter().map(|&g| f64::from(g) * f64::from(g)).sum::<f64>().sqrt();
    #[expect(clippy::cast_possible_truncation, reason = "rounded")]
    let factor = (most / (length + 1e-6)).min(1.0) as f32;
    if factor < 1.0 {
        for g in gradient {
            *g *= factor;
        }
    }
}
