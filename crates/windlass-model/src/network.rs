//! Training of networks on a table: one, or one for every fold.

use std::sync::Arc;

use windlass::{Dataset, ParamName, Seed, Stream};
use windlass_train::{
    Augment, EpochProgress, Network, Outcome, RunResult, RunSpec, Shape, TrainConfig, Trainer,
    run_all,
};

use crate::config::{Kind, NetworkConfig, Validation};
use crate::design_matrix::{NamedTable, to_f32};
use crate::fit::{FitContext, FoldBatches, Trained, check_sizes};
use crate::metadata::FoldWeight;
use crate::model::{EnsembleMember, Estimator, Model};
use crate::preprocessing::{ColumnNote, Preprocessing};
use crate::{Error, Result, groups};

/// Storage for the state of a run in progress.
pub trait Checkpoint {
    /// The saved state, if any.
    fn load(&self) -> Result<Option<Vec<u8>>>;
    /// Saves the state after an epoch; `last` if training ended with it.
    fn save(&self, state: &dyn Fn() -> Vec<u8>, last: bool) -> Result<()>;
}

/// A fold after preprocessing.
pub(crate) struct NetworkFold<'a> {
    batches: &'a FoldBatches,
    preprocessing: Preprocessing,
    pub(crate) train: Arc<Dataset<f32>>,
    valid: Option<Arc<Dataset<f32>>>,
}

impl<'a> NetworkFold<'a> {
    /// Preprocesses a fold, fitted on its training rows, with notes on omitted columns.
    pub(crate) fn new(
        context: &FitContext<'_>,
        batches: &'a FoldBatches,
    ) -> Result<(Self, Vec<ColumnNote>)> {
        let (preprocessing, notes) = context.preprocessing(&batches.train)?;
        let train = to_f32(&context.training_data(&batches.train, &preprocessing)?)?;
        let valid_table = NamedTable { path: context.valid_path(), ..context.train };
        let valid = match &batches.valid {
            Some(rows) => Some(to_f32(&valid_table.dataset(rows, &preprocessing)?)?),
            None => None,
        };
        Ok((Self { batches, preprocessing, train, valid }, notes))
    }

    /// A fold without validation rows, with data that were made of its training rows.
    pub(crate) fn with_data(
        batches: &'a FoldBatches,
        preprocessing: Preprocessing,
        data: &Dataset,
    ) -> Result<Self> {
        Ok(Self { batches, preprocessing, train: to_f32(data)?, valid: None })
    }

    /// The run that trains a network on this fold.
    pub(crate) fn spec(&self, network: &NetworkConfig, seed: Seed) -> Result<RunSpec> {
        let augment = match &network.augment {
            None => None,
            Some(augment) => Some(Augment {
                method: groups::method(&self.batches.train, &augment.method, &self.preprocessing)?,
                layers: vec![augment.layer],
                originals: augment.originals,
                fitted_on: augment.fitted_on,
            }),
        };
        Ok(RunSpec {
            train: Arc::clone(&self.train),
            valid: self.valid.clone(),
            shape: Shape {
                inputs: self.preprocessing.width(),
                hidden: network.hidden.clone(),
                outputs: self.preprocessing.targets.len(),
                activation: network.activation,
            },
            training: network.training.for_rows(self.train.rows()),
            augment,
            seed,
        })
    }

    /// The run that trains a network on all rows, for the number of epochs that validation rows chose.
    fn refit(&self, network: &NetworkConfig, epochs: usize, seed: Seed) -> Result<RunSpec> {
        let training =
            TrainConfig { epochs: epochs.max(1), patience: None, ..network.training.clone() };
        self.spec(&NetworkConfig { training, ..network.clone() }, seed)
    }

    pub(crate) fn member(&self, network: Network, weight: f64) -> EnsembleMember {
        let (preprocessing, estimator) = (self.preprocessing.clone(), Estimator::Network(network));
        EnsembleMember { preprocessing, estimator, weight, fold: None }
    }
}

/// Trains networks; refused as interrupted if that is cancelled.
pub(crate) fn run_networks(
    specs: &[RunSpec],
    progress: &dyn EpochProgress,
) -> Result<Vec<RunResult>> {
    let results: Vec<RunResult> =
        run_all(specs, progress, |_, _| {}).into_iter().collect::<Result<_, _>>()?;
    if results.iter().any(|result| result.outcome == Outcome::Cancelled) {
        return Err(windlass_table::Error::Interrupted.into());
    }
    Ok(results)
}

/// The seed of the network of a fold.
pub(crate) fn member_seed(seed: Seed, fold: usize) -> Seed {
    Seed(seed.shared(Stream::Split, 1 + fold as u64).bits())
}

/// Trains a network, or one for every fold.
pub(crate) fn train(
    context: &FitContext<'_>,
    network: &NetworkConfig,
    progress: &dyn EpochProgress,
    checkpoint: Option<&dyn Checkpoint>,
) -> Result<Trained> {
    let (table, seed) = (context.train.table, context.seed());
    let folds = folds(context, network)?;
    if checkpoint.is_some() && folds.len() > 1 {
        return Err(Error::DoesNotApply { param: ParamName("checkpoint"), to: "a committee" });
    }
    check_sizes(context.train)?;
    context.valid.map_or(Ok(()), check_sizes)?;
    let (mut specs, mut network_folds, mut notes) = (vec![], vec![], vec![]);
    for (number, batches) in folds.iter().enumerate() {
        let (fold, omitted) = NetworkFold::new(context, batches)?;
        notes.extend(omitted);
        let seed = if folds.len() == 1 { seed } else { member_seed(seed, number) };
        specs.push(fold.spec(network, seed)?);
        network_folds.push(fold);
    }
    let results = match checkpoint {
        Some(checkpoint) => vec![run_with_checkpoint(&specs[0], progress, checkpoint)?],
        None => run_all(&specs, progress, |_, _| {}).into_iter().collect::<Result<_, _>>()?,
    };
    let diverged = results.iter().find(|result| result.outcome == Outcome::Diverged);
    let mut diverged = diverged.map(|result| result.history.len() + 1);
    let mut cancelled = results.iter().any(|result| result.outcome == Outcome::Cancelled);
    let histories = results.iter().map(|result| result.history.clone()).collect();
    let weight = 1.0 / folds.len() as f64;
    let epochs: Vec<usize> = results.iter().map(epochs_kept).collect();
    let mut members: Vec<EnsembleMember> = network_folds
        .iter()
        .zip(results)
        .map(|(fold, result)| fold.member(result.network, weight))
        .collect();
    for (fold, member) in
        members.iter_mut().enumerate().filter(|(fold, _)| folds[*fold].valid.is_some())
    {
        member.fold = Some(FoldWeight { fold, weight: 1.0 });
    }
    let out_of_fold = context.out_of_fold_predictions(&members, &folds)?;
    let mut fold_members = vec![];
    let mut train_rows = if folds.len() == 1 { &folds[0].train } else { &table.batch };
    if network.split.refits() && network.holds_out() && !cancelled && diverged.is_none() {
        let whole = FoldBatches::whole(&table.batch, None);
        let (whole, omitted) = NetworkFold::new(context, &whole)?;
        notes = omitted;
        let spec = |(spec, &epochs): (&RunSpec, &usize)| whole.refit(network, epochs, spec.seed);
        let specs = specs.iter().zip(&epochs).map(spec).collect::<Result<Vec<_>>>()?;
        let only_fold = |member| EnsembleMember { weight: 0.0, ..member };
        fold_members = members.drain(..).map(only_fold).collect();
        for result in run_all(&specs, progress, |_, _| {}) {
            let result = result?;
            if result.outcome == Outcome::Diverged {
                diverged = Some(result.history.len() + 1);
            }
            cancelled |= result.outcome == Outcome::Cancelled;
            members.push(whole.member(result.network, weight));
        }
        train_rows = &table.batch;
    }
    let model = Model::new(context.config, members, table, train_rows)?;
    let mut model = model.with_out_of_fold(out_of_fold, fold_members);
    // Store the settings that were used for the final training.
    let training = specs[0].training.clone();
    let network = NetworkConfig { training, ..network.clone() };
    model.metadata.config.kind = Kind::Network(Box::new(network));
    model.metadata.notes = ColumnNote::lines(notes);
    Ok(Trained { histories, diverged, cancelled, ..Trained::complete(model, folds) })
}

/// The epoch of a run's weights; 0 if it ended before the first.
fn epochs_kept(result: &RunResult) -> usize {
    let best = result.history.iter().rfind(|epoch| epoch.best).or(result.history.last());
    best.map_or(0, |epoch| epoch.number)
}

fn folds(context: &FitContext<'_>, network: &NetworkConfig) -> Result<Vec<FoldBatches>> {
    let all = &context.train.table.batch;
    let seed = network.valid_seed.map_or(context.seed(), Seed);
    let whole = |valid| vec![FoldBatches::whole(all, valid)];
    Ok(match network.valid {
        Validation::None => whole(None),
        Validation::Table => whole(context.valid.map(|valid| valid.table.batch.clone())),
        Validation::Fraction(fraction) => {
            vec![FoldBatches::new(all, &network.split.hold_out(all, fraction, seed)?)]
        }
        Validation::Folds(members) => {
            if members < 2 {
                let (name, range) = ("committee", "[2, inf)");
                let got = members as f64;
                return Err(windlass::Error::OutOfRange { name, range, got }.into());
            }
            let rows = all.num_rows();
            if rows / 2 < members {
                return Err(Error::LargeCommittee { members, rows });
            }
            context.folds()?
        }
    })
}

/// Trains from the saved state, if there is one, and saves it after every epoch.
fn run_with_checkpoint(
    spec: &RunSpec,
    progress: &dyn EpochProgress,
    checkpoint: &dyn Checkpoint,
) -> Result<RunResult> {
    let mut trainer = match checkpoint.load()? {
        Some(state) => Trainer::resume(spec, &state)?,
        None => Trainer::new(spec)?,
    };
    while !trainer.is_finished() {
        if let Some(epoch) = trainer.epoch()? {
            if !progress.epoch(0, &epoch) {
                trainer.cancel();
            }
            checkpoint.save(&|| trainer.save(), trainer.is_finished())?;
        }
    }
    Ok(trainer.into_result())
}
