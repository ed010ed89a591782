//! From a table to a model.

use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use ndarray::{Array2, Axis};
use serde::{Deserialize, Serialize};
use windlass::regress::{AnchorRegression, Ridge};
use windlass::{Real as _, Seed, Stream};
use windlass_table::{LoadedTable, select, to_f64};
use windlass_train::{
    Augment, Epoch, Examples, Network, Outcome, RunResult, RunSpec, Shape, Trainer, Watch, run_all,
};

use crate::config::{Kind, NetworkConfig, Validation};
use crate::design_matrix::Numbers;
use crate::model::{EnsembleMember, Estimator};
use crate::preprocessing::weights;
use crate::split::Fold;
use crate::{Error, Forest, Model, ModelConfig, Preprocessing, Result, auto, groups};

/// Errors in the units of the targets, and on how many rows.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// The rows.
    pub rows: usize,
    /// The root of the mean squared error.
    pub rmse: f64,
    /// The mean absolute error.
    pub mae: f64,
    /// The mean absolute error in percent of the target, over targets that are not 0.
    pub mape: Option<f64>,
    /// The share of the variance that is explained.
    pub r2: Option<f64>,
    /// Pearson's correlation of targets with predictions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r: Option<f64>,
}

impl Metrics {
    /// Compares targets with predictions; rows count as much as their weights say.
    #[must_use]
    pub fn of(y: &Array2<f64>, predicted: &Array2<f64>, weights: Option<&[f64]>) -> Self {
        let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        // The weighted mean of what a function says of a target and its prediction, where it says anything.
        let mean = |target: usize, of: &dyn Fn(f64, f64) -> Option<f64>| -> Option<f64> {
            let (mut sum, mut total) = (0.0, 0.0);
            for row in 0..y.nrows() {
                if let Some(value) = of(y[(row, target)], predicted[(row, target)]) {
                    sum += weight(row) * value;
                    total += weight(row);
                }
            }
            (total > 0.0).then(|| sum / total)
        };
        // Over targets, those that have one.
        let over = |of: &dyn Fn(usize) -> Option<f64>| -> Option<f64> {
            let each: Vec<f64> = (0..y.ncols()).filter_map(of).collect();
            (!each.is_empty()).then(|| each.iter().sum::<f64>() / each.len() as f64)
        };
        let square = |target| mean(target, &|y, p| Some((y - p).powi(2)));
        let explained = |target| {
            let center = mean(target, &|y, _| Some(y))?;
            let variance = mean(target, &|y, _| Some((y - center).powi(2)))?;
            (variance > 0.0).then_some(1.0 - square(target)? / variance)
        };
        let correlated = |target| {
            let (center, middle) = (mean(target, &|y, _| Some(y))?, mean(target, &|_, p| Some(p))?);
            let together = mean(target, &|y, p| Some((y - center) * (p - middle)))?;
            let apart = mean(target, &|y, _| Some((y - center).powi(2)))?
                * mean(target, &|_, p| Some((p - middle).powi(2)))?;
            (apart > 0.0).then(|| together / apart.sqrt())
        };
        let of_size = |y: f64, p: f64| (y != 0.0).then(|| 100.0 * ((y - p) / y).abs());
        Self {
            rows: y.nrows(),
            rmse: over(&square).map_or(f64::NAN, f64::sqrt),
            mae: over(&|target| mean(target, &|y, p| Some((y - p).abs()))).unwrap_or(f64::NAN),
            mape: over(&|target| mean(target, &of_size)),
            r2: over(&explained),
            r: over(&correlated),
        }
    }
}

/// What came of training.
#[derive(Debug)]
pub struct Trained {
    /// The model.
    pub model: Model,
    /// Columns that were left out, and why.
    pub notes: Vec<String>,
    /// The epochs of every network.
    pub histories: Vec<Vec<Epoch>>,
    /// The epoch in which a network diverged; the model has its last good weights.
    pub diverged: Option<usize>,
    /// Whether it was ended early by its watcher.
    pub cancelled: bool,
}

/// Where a run is kept while it goes on.
pub trait Checkpoint {
    /// What was kept, if anything.
    fn load(&self) -> Result<Option<Vec<u8>>>;
    /// Keeps the state after an epoch, which may be the last.
    fn save(&self, state: &dyn Fn() -> Vec<u8>, last: bool) -> Result<()>;
}

impl Model {
    /// Fits a model to a table, the file of which has a name for messages.
    pub fn train(
        (frame, path): (&LoadedTable, &Path),
        valid: Option<(&LoadedTable, &Path)>,
        recipe: &ModelConfig,
        watch: &dyn Watch,
        checkpoint: Option<&dyn Checkpoint>,
    ) -> Result<Trained> {
        let rows = frame.batch.num_rows();
        if rows < 2 {
            return Err(Error::TooFewRows { path: path.to_owned(), rows });
        }
        let augments = match &recipe.kind {
            Kind::Network(network) => network.augment.is_some(),
            Kind::Anchor { .. } | Kind::Auto(_) => true,
            Kind::Ridge { .. } | Kind::Forest(_) => false,
        };
        if augments && recipe.enlarge.is_some() {
            let (option, to) = ("rows made beforehand", "what has groups or augmentation inside");
            return Err(Error::DoesNotApply { option, to });
        }
        let valid_path = valid.map_or(path, |(_, path)| path);
        let task = Task { frame, path, valid_path, recipe };
        let valid = valid.map(|(valid, _)| valid);
        match &recipe.kind {
            Kind::Network(network) => networks(&task, valid, network, watch, checkpoint),
            Kind::Ridge { .. } | Kind::Anchor { .. } | Kind::Forest(_) => fitted(&task, valid),
            Kind::Auto(settings) => auto::train(&task, settings, watch),
        }
    }
}

/// Training and validation rows.
pub(crate) struct FoldBatches {
    pub(crate) train: RecordBatch,
    pub(crate) valid: Option<RecordBatch>,
}

impl FoldBatches {
    pub(crate) fn of(batch: &RecordBatch, sides: &Fold) -> Self {
        Self { train: select(batch, &sides.train), valid: Some(select(batch, &sides.held)) }
    }
}

fn parts(
    frame: &LoadedTable,
    given: Option<&LoadedTable>,
    network: &NetworkConfig,
    seed: Seed,
) -> Result<Vec<FoldBatches>> {
    let (all, rows) = (&frame.batch, frame.batch.num_rows());
    let whole = |valid| vec![FoldBatches { train: all.clone(), valid }];
    Ok(match network.valid {
        Validation::None => whole(None),
        Validation::Given => whole(given.map(|given| given.batch.clone())),
        Validation::Share(share) => {
            vec![FoldBatches::of(all, &network.split.share(all, share, seed)?)]
        }
        Validation::Folds(members) => {
            if members < 2 {
                let (name, range) = ("committee", "[2, inf)");
                let got = members as f64;
                return Err(windlass::Error::OutOfRange { name, range, got }.into());
            }
            if rows / 2 < members {
                return Err(Error::LargeCommittee { members, rows });
            }
            let folds = network.split.folds(all, members, seed)?;
            folds.iter().map(|sides| FoldBatches::of(all, sides)).collect()
        }
    })
}

#[expect(clippy::cast_possible_truncation, reason = "networks have 32 bits")]
fn narrow(values: &Array2<f64>) -> Array2<f32> {
    values.mapv(|value| value as f32)
}

/// A table with the names of its files and what to make of it.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub(crate) frame: &'a LoadedTable,
    pub(crate) path: &'a Path,
    /// The file of validation rows.
    pub(crate) valid_path: &'a Path,
    pub(crate) recipe: &'a ModelConfig,
}

/// A part of the rows as networks see them.
pub(crate) struct Prepared<'a> {
    part: &'a FoldBatches,
    preparation: Preprocessing,
    train: Arc<Examples>,
    valid: Option<Arc<Examples>>,
}

impl<'a> Task<'a> {
    fn numbers(&self, rows: &RecordBatch, preparation: &Preprocessing) -> Result<Numbers> {
        Numbers::of(self.frame, rows, self.path, preparation)
    }

    /// Training rows with the synthetic ones that the recipe asks for.
    fn enlarged(&self, rows: &RecordBatch, numbers: Numbers) -> Result<Numbers> {
        match &self.recipe.enlarge {
            None => Ok(numbers),
            Some(enlarge) => numbers.enlarged(rows, enlarge, Seed(self.recipe.seed)),
        }
    }

    fn preparation(&self, rows: &RecordBatch) -> Result<(Preprocessing, Vec<String>)> {
        let scalings = (self.recipe.scaling, self.recipe.target_scaling);
        Preprocessing::fit(self.frame, rows, &self.recipe.columns, scalings)
    }

    /// All that is fitted on the training rows of a part, and what it says of columns left out.
    pub(crate) fn prepare(&self, part: &'a FoldBatches) -> Result<(Prepared<'a>, Vec<String>)> {
        let (preparation, notes) = self.preparation(&part.train)?;
        let examples = |rows: Numbers| -> Result<Arc<Examples>> {
            Ok(Arc::new(Examples::new(narrow(&rows.x), narrow(&rows.y), rows.weights)?))
        };
        let train = self.enlarged(&part.train, self.numbers(&part.train, &preparation)?)?;
        let train = examples(train)?;
        let numbers = |valid| Numbers::of(self.frame, valid, self.valid_path, &preparation);
        let valid = part.valid.as_ref().map(|valid| examples(numbers(valid)?)).transpose()?;
        Ok((Prepared { part, preparation, train, valid }, notes))
    }

    /// Fits a model that is not trained step by step.
    pub(crate) fn fit(
        &self,
        rows: &RecordBatch,
        kind: &Kind,
    ) -> Result<(EnsembleMember, Vec<String>)> {
        let (preparation, notes) = self.preparation(rows)?;
        let numbers = self.enlarged(rows, self.numbers(rows, &preparation)?)?;
        let samples = numbers.samples()?;
        let seed = Seed(self.recipe.seed);
        let body = match kind {
            Kind::Anchor { anchors, clusters, gamma, penalty } => {
                let regression = AnchorRegression::new(*gamma).penalty(*penalty);
                let groups = groups::of(rows, &samples, (anchors, *clusters), seed)?;
                Estimator::Linear(regression.fit(&samples, groups.as_ref())?)
            }
            Kind::Ridge { penalty } => Estimator::Linear(Ridge::new(*penalty).fit(&samples)?),
            Kind::Forest(settings) => {
                let Numbers { x, y, weights } = &numbers;
                Estimator::Forest(Forest::fit(
                    x.view(),
                    y.view(),
                    weights.as_deref(),
                    settings,
                    seed,
                )?)
            }
            Kind::Network(_) | Kind::Auto(_) => unreachable!("trained, not fitted"),
        };
        Ok((EnsembleMember { preparation, body, weight: 1.0 }, notes))
    }

    /// What members say of the validation rows of their parts, each row judged by one that did not learn
    /// from it.
    pub(crate) fn judge(
        &self,
        members: &[EnsembleMember],
        parts: &[FoldBatches],
    ) -> Result<Option<OofPredictions>> {
        let (mut y, mut predicted, mut counted) = (vec![], vec![], vec![]);
        for (member, part) in members.iter().zip(parts) {
            let Some(valid) = &part.valid else { continue };
            let x = member.preparation.features(valid, self.valid_path, 0)?;
            y.push(member.preparation.raw_targets(valid));
            predicted.push(member.predict(&x)?);
            counted.extend(weights(self.frame, valid, self.valid_path)?.into_iter().flatten());
        }
        let weights = (!counted.is_empty()).then_some(counted);
        Ok((!y.is_empty()).then(|| OofPredictions {
            y: stack(&y),
            predicted: stack(&predicted),
            weights,
        }))
    }
}

/// Targets of held-out rows and what was predicted for them.
pub(crate) struct OofPredictions {
    pub(crate) y: Array2<f64>,
    pub(crate) predicted: Array2<f64>,
    pub(crate) weights: Option<Vec<f64>>,
}

impl OofPredictions {
    pub(crate) fn metrics(&self) -> Metrics {
        Metrics::of(&self.y, &self.predicted, self.weights.as_deref())
    }
}

impl Prepared<'_> {
    /// How a network is trained on this part.
    pub(crate) fn spec(&self, network: &NetworkConfig, seed: Seed) -> Result<RunSpec> {
        let augment = match &network.augment {
            None => None,
            Some(augment) => Some(Augment {
                method: groups::method(&self.part.train, &augment.method)?,
                layers: vec![augment.layer],
                originals: augment.originals,
                fitted_on: augment.fitted_on,
            }),
        };
        Ok(RunSpec {
            train: Arc::clone(&self.train),
            valid: self.valid.clone(),
            shape: Shape {
                inputs: self.preparation.width(),
                hidden: network.hidden.clone(),
                outputs: self.preparation.targets.len(),
                activation: network.activation,
            },
            training: network.training.clone(),
            augment,
            seed,
        })
    }

    /// The training rows as numbers.
    pub(crate) fn features(&self) -> &Array2<f32> {
        self.train.x()
    }

    pub(crate) fn member(&self, network: Network, weight: f64) -> EnsembleMember {
        EnsembleMember {
            preparation: self.preparation.clone(),
            body: Estimator::Network(network),
            weight,
        }
    }
}

/// The seed of one of several networks: they differ in their rows and in all that is random.
pub(crate) fn member_seed(seed: Seed, number: usize) -> Seed {
    Seed(seed.shared(Stream::Split, 1 + number as u64).bits())
}

fn networks(
    task: &Task<'_>,
    given: Option<&LoadedTable>,
    network: &NetworkConfig,
    watch: &dyn Watch,
    checkpoint: Option<&dyn Checkpoint>,
) -> Result<Trained> {
    let Task { frame, path, recipe, .. } = *task;
    let seed = Seed(recipe.seed);
    let parts = parts(frame, given, network, network.valid_seed.map_or(seed, Seed))?;
    if checkpoint.is_some() && parts.len() > 1 {
        return Err(Error::DoesNotApply { option: "--checkpoint", to: "a committee" });
    }
    check_sizes(&frame.batch, frame, path)?;
    if let Some(given) = given {
        check_sizes(&given.batch, given, task.valid_path)?;
    }
    let (mut specs, mut prepared, mut notes) = (vec![], vec![], vec![]);
    for (number, part) in parts.iter().enumerate() {
        let (part, left_out) = task.prepare(part)?;
        notes.extend(left_out);
        let seed = if parts.len() == 1 { seed } else { member_seed(seed, number) };
        specs.push(part.spec(network, seed)?);
        prepared.push(part);
    }
    notes.sort();
    notes.dedup();
    let results = match checkpoint {
        Some(checkpoint) => vec![resumed(&specs[0], watch, checkpoint)?],
        None => run_all(&specs, watch, |_, _| {}).into_iter().collect::<Result<_, _>>()?,
    };
    let diverged = results.iter().find(|result| result.outcome == Outcome::Diverged);
    let diverged = diverged.map(|result| result.history.len() + 1);
    let cancelled = results.iter().any(|result| result.outcome == Outcome::Cancelled);
    let histories = results.iter().map(|result| result.history.clone()).collect();
    let weight = 1.0 / parts.len() as f64;
    let members: Vec<EnsembleMember> = prepared
        .iter()
        .zip(results)
        .map(|(part, result)| part.member(result.network, weight))
        .collect();
    let valid = task.judge(&members, &parts)?.map(|judged| judged.metrics());
    let learnt_from = if parts.len() == 1 { &parts[0].train } else { &frame.batch };
    let model = Model::new(recipe, members, frame, learnt_from, (valid, None))?;
    Ok(Trained { model, notes, histories, diverged, cancelled })
}

/// Refuses values that networks, which have 32 bits, cannot take; before rows are shuffled, so that they have
/// their numbers.
pub(crate) fn check_sizes(rows: &RecordBatch, frame: &LoadedTable, path: &Path) -> Result<()> {
    for &place in frame.roles.features().iter().chain(frame.roles.targets()) {
        let values = to_f64(rows.column(place));
        let large = |value: Option<f64>| value.is_some_and(|value| value.abs() >= f32::LIMIT);
        if let Some(row) = values.iter().position(large) {
            let (column, value) = (rows.schema().field(place).name().clone(), values.value(row));
            let (path, row) = (path.to_owned(), row as u64);
            return Err(Error::BadValue { column, path, row, value });
        }
    }
    Ok(())
}

fn stack(parts: &[Array2<f64>]) -> Array2<f64> {
    let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
    ndarray::concatenate(Axis(0), &views).expect("the same targets")
}

/// Trains from where a checkpoint left off.
fn resumed(spec: &RunSpec, watch: &dyn Watch, checkpoint: &dyn Checkpoint) -> Result<RunResult> {
    let mut trainer = match checkpoint.load()? {
        Some(state) => Trainer::resume(spec, &state)?,
        None => Trainer::new(spec)?,
    };
    while !trainer.is_finished() {
        if let Some(epoch) = trainer.epoch()? {
            if !watch.epoch(0, &epoch) {
                trainer.cancel();
            }
            checkpoint.save(&|| trainer.save(), trainer.is_finished())?;
        }
    }
    Ok(trainer.into_result())
}

fn fitted(task: &Task<'_>, valid: Option<&LoadedTable>) -> Result<Trained> {
    let Task { frame, recipe, .. } = *task;
    let (member, notes) = task.fit(&frame.batch, &recipe.kind)?;
    let members = vec![member];
    let valid = valid
        .map(|given| FoldBatches { train: given.batch.clone(), valid: Some(given.batch.clone()) });
    let judged = task.judge(&members, valid.as_slice())?;
    let valid = judged.map(|judged| judged.metrics());
    let model = Model::new(recipe, members, frame, &frame.batch, (valid, None))?;
    Ok(Trained { model, notes, histories: vec![], diverged: None, cancelled: false })
}
