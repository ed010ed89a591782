//! From a table to a model.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{RecordBatch, UInt64Array};
use arrow_select::take::take_record_batch;
use ndarray::{Array2, Axis};
use serde::{Deserialize, Serialize};
use windlass::regress::{AnchorRegression, Ridge};
use windlass::{Real as _, Samples, Seed, Stream};
use windlass_table::{Frame, numbers};
use windlass_train::{
    Augment, Epoch, Examples, Outcome, RunResult, RunSpec, Shape, Trainer, Watch, run_all,
};

use crate::model::{Body, Member};
use crate::preparation::weights;
use crate::recipe::{Kind, NetworkRecipe, Valid};
use crate::{Error, Model, Preparation, Recipe, Result, groups};

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
            let centre = mean(target, &|y, _| Some(y))?;
            let variance = mean(target, &|y, _| Some((y - centre).powi(2)))?;
            (variance > 0.0).then_some(1.0 - square(target)? / variance)
        };
        let of_size = |y: f64, p: f64| (y != 0.0).then(|| 100.0 * ((y - p) / y).abs());
        Self {
            rows: y.nrows(),
            rmse: over(&square).map_or(f64::NAN, f64::sqrt),
            mae: over(&|target| mean(target, &|y, p| Some((y - p).abs()))).unwrap_or(f64::NAN),
            mape: over(&|target| mean(target, &of_size)),
            r2: over(&explained),
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
        (frame, path): (&Frame, &Path),
        valid: Option<(&Frame, &Path)>,
        recipe: &Recipe,
        watch: &dyn Watch,
        checkpoint: Option<&dyn Checkpoint>,
    ) -> Result<Trained> {
        let rows = frame.batch.num_rows();
        if rows < 2 {
            return Err(Error::TooFewRows { path: path.to_owned(), rows });
        }
        match &recipe.kind {
            Kind::Network(network) => {
                networks((frame, path), valid, recipe, network, watch, checkpoint)
            }
            Kind::Ridge { .. } | Kind::Anchor { .. } => linear((frame, path), valid, recipe),
        }
    }
}

/// Training and validation rows of a network.
struct Part {
    train: RecordBatch,
    valid: Option<RecordBatch>,
}

pub(crate) fn select(batch: &RecordBatch, rows: &[usize]) -> RecordBatch {
    let rows = UInt64Array::from_iter_values(rows.iter().map(|&row| row as u64));
    take_record_batch(batch, &rows).expect("rows of the batch")
}

/// The rows in a random order.
fn shuffled(rows: usize, seed: Seed) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    seed.shared(Stream::Split, 0).shuffle(&mut order);
    order
}

fn parts(frame: &Frame, given: Option<&Frame>, valid: Valid, seed: Seed) -> Result<Vec<Part>> {
    let (all, rows) = (&frame.batch, frame.batch.num_rows());
    // In the order of the table: what is held out is random, the rest stays as it was.
    let pick = |mut rows: Vec<usize>| {
        rows.sort_unstable();
        select(all, &rows)
    };
    Ok(match valid {
        Valid::None => vec![Part { train: all.clone(), valid: None }],
        Valid::Given => {
            let valid = given.map(|given| given.batch.clone());
            vec![Part { train: all.clone(), valid }]
        }
        Valid::Share(share) => {
            if !(0.0..1.0).contains(&share) {
                let (name, range) = ("valid", "[0, 1)");
                return Err(windlass::Error::OutOfRange { name, range, got: share }.into());
            }
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
            let held = (share * rows as f64).round() as usize;
            if held == 0 || held >= rows {
                let train = rows - held;
                return Err(Error::EmptySplit { share, rows, train, valid: held });
            }
            let order = shuffled(rows, seed);
            let (valid, train) = order.split_at(held);
            vec![Part { train: pick(train.to_vec()), valid: Some(pick(valid.to_vec())) }]
        }
        Valid::Folds(members) => {
            if members < 2 {
                let (name, range) = ("committee", "[2, inf)");
                let got = members as f64;
                return Err(windlass::Error::OutOfRange { name, range, got }.into());
            }
            if rows / 2 < members {
                return Err(Error::LargeCommittee { members, rows });
            }
            let order = shuffled(rows, seed);
            let fold = |member: usize| {
                let inside = |place: &usize| place % members == member;
                let (valid, train): (Vec<usize>, Vec<usize>) = (0..rows).partition(inside);
                let rows = |places: Vec<usize>| pick(places.iter().map(|&p| order[p]).collect());
                Part { train: rows(train), valid: Some(rows(valid)) }
            };
            (0..members).map(fold).collect()
        }
    })
}

#[expect(clippy::cast_possible_truncation, reason = "networks have 32 bits")]
fn narrow(values: &Array2<f64>) -> Array2<f32> {
    values.mapv(|value| value as f32)
}

fn networks(
    (frame, path): (&Frame, &Path),
    given: Option<(&Frame, &Path)>,
    recipe: &Recipe,
    network: &NetworkRecipe,
    watch: &dyn Watch,
    checkpoint: Option<&dyn Checkpoint>,
) -> Result<Trained> {
    let seed = Seed(recipe.seed);
    let parts = parts(frame, given.map(|(given, _)| given), network.valid, seed)?;
    if checkpoint.is_some() && parts.len() > 1 {
        return Err(Error::DoesNotApply { option: "--checkpoint", to: "a committee" });
    }
    check_sizes(&frame.batch, frame, path)?;
    let valid_path = given.map_or(path, |(_, path)| path);
    if let Some((given, path)) = given {
        check_sizes(&given.batch, given, path)?;
    }
    let scalings = (recipe.scaling, recipe.target_scaling);
    let (mut specs, mut preparations, mut notes) = (vec![], vec![], vec![]);
    for (number, part) in parts.iter().enumerate() {
        let (preparation, left_out) =
            Preparation::fit(frame, &part.train, &recipe.columns, scalings)?;
        notes.extend(left_out);
        let examples = |rows: &RecordBatch, path: &Path| -> Result<Arc<Examples>> {
            let x = preparation.features(rows, path, 0)?;
            let y = preparation.scaled_targets(rows);
            let examples = Examples::new(narrow(&x), narrow(&y), weights(frame, rows, path)?)?;
            Ok(Arc::new(examples))
        };
        let augment = match &network.augment {
            None => None,
            Some(augment) => Some(Augment {
                method: groups::method(&part.train, &augment.method)?,
                layer: augment.layer,
                originals: augment.originals,
                fitted_on: augment.fitted_on,
            }),
        };
        specs.push(RunSpec {
            train: examples(&part.train, path)?,
            valid: match &part.valid {
                Some(valid) => Some(examples(valid, valid_path)?),
                None => None,
            },
            shape: Shape {
                inputs: preparation.width(),
                hidden: network.hidden.clone(),
                outputs: preparation.targets.len(),
                activation: network.activation,
            },
            training: network.training.clone(),
            augment,
            // Members differ in their rows and in all that is random.
            seed: match parts.len() {
                1 => seed,
                _ => Seed(seed.shared(Stream::Split, 1 + number as u64).bits()),
            },
        });
        preparations.push(preparation);
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
    let members: Vec<Member> = preparations
        .into_iter()
        .zip(results)
        .map(|(preparation, result)| Member { preparation, body: Body::Network(result.network) })
        .collect();
    // Every validation row is judged by the network that did not learn from it.
    let (mut y, mut predicted, mut counted) = (vec![], vec![], vec![]);
    for (member, part) in members.iter().zip(&parts) {
        let Some(valid) = &part.valid else { continue };
        let x = member.preparation.features(valid, valid_path, 0)?;
        y.push(member.preparation.raw_targets(valid));
        predicted.push(member.predict(&x)?);
        counted.extend(weights(frame, valid, valid_path)?.into_iter().flatten());
    }
    let counted = (!counted.is_empty()).then_some(&counted[..]);
    let valid = (!y.is_empty()).then(|| Metrics::of(&stack(&y), &stack(&predicted), counted));
    let learnt_from = if parts.len() == 1 { &parts[0].train } else { &frame.batch };
    let model = Model::new(recipe, members, frame, learnt_from, valid)?;
    Ok(Trained { model, notes, histories, diverged, cancelled })
}

/// Refuses values that networks, which have 32 bits, cannot take; before rows are shuffled, so that they have
/// their numbers.
fn check_sizes(rows: &RecordBatch, frame: &Frame, path: &Path) -> Result<()> {
    for &place in frame.roles.features().iter().chain(frame.roles.targets()) {
        let values = numbers(rows.column(place));
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

fn linear(
    (frame, path): (&Frame, &Path),
    valid: Option<(&Frame, &Path)>,
    recipe: &Recipe,
) -> Result<Trained> {
    let scalings = (recipe.scaling, recipe.target_scaling);
    let (preparation, notes) = Preparation::fit(frame, &frame.batch, &recipe.columns, scalings)?;
    let x = preparation.features(&frame.batch, path, 0)?;
    let y = preparation.scaled_targets(&frame.batch);
    let counted = weights(frame, &frame.batch, path)?;
    let mut samples = Samples::new(x.view(), y.view())?;
    if let Some(counted) = &counted {
        samples = samples.with_weights(counted)?;
    }
    let fitted = match &recipe.kind {
        Kind::Anchor { anchors, clusters, gamma, penalty } => {
            let regression = AnchorRegression::new(*gamma).penalty(*penalty);
            let choice = (anchors, *clusters);
            let groups = groups::of(&frame.batch, &samples, choice, Seed(recipe.seed))?;
            regression.fit(&samples, groups.as_ref())?
        }
        Kind::Ridge { penalty } => Ridge::new(*penalty).fit(&samples)?,
        Kind::Network(_) => unreachable!("trained, not fitted"),
    };
    let member = Member { preparation, body: Body::Linear(fitted) };
    let valid = match valid {
        Some((given, path)) => {
            let x = member.preparation.features(&given.batch, path, 0)?;
            let y = member.preparation.raw_targets(&given.batch);
            let counted = weights(frame, &given.batch, path)?;
            Some(Metrics::of(&y, &member.predict(&x)?, counted.as_deref()))
        }
        None => None,
    };
    let model = Model::new(recipe, vec![member], frame, &frame.batch, valid)?;
    Ok(Trained { model, notes, histories: vec![], diverged: None, cancelled: false })
}
