//! From a table to a model of any kind.

use windlass::ParamName;
use windlass_train::EpochProgress;

use crate::config::{DensityWeights, Kind, ModelConfig, Validation};
use crate::design_matrix::NamedTable;
use crate::drift::Drift;
use crate::fit::{FitContext, Trained, note_on_copies};
use crate::network::Checkpoint;
use crate::preprocessing::Encoding;
use crate::{Error, Model, Result, auto, network};

impl Model {
    /// Trains a model on a table.
    ///
    /// `valid` are validation rows from a separate table. `checkpoint` applies to single networks only.
    pub fn train(
        table: NamedTable<'_>,
        valid: Option<NamedTable<'_>>,
        config: &ModelConfig,
        progress: &dyn EpochProgress,
        checkpoint: Option<&dyn Checkpoint>,
    ) -> Result<Trained> {
        let rows = table.table.batch.num_rows();
        let distinct = table.table.distinct();
        let train_table = distinct.as_ref().unwrap_or(table.table);
        let distinct_rows = train_table.batch.num_rows();
        // Two to learn from, and one to hold out.
        if distinct_rows < 2 + usize::from(config.holds_out()) {
            return Err(Error::TooFewRows { path: table.path.to_owned(), rows: distinct_rows });
        }
        let config = &with_folds(config, rows, distinct_rows);
        let augments = match &config.kind {
            Kind::Network(network) => network.augment.is_some(),
            Kind::Anchor { .. } | Kind::Auto(_) => true,
            _ => false,
        };
        if augments && config.pre_augment.is_some() {
            return Err(Error::PreAugmented);
        }
        let drift = Drift::check(table.table, config.split())?;
        let train_rows = NamedTable { table: train_table, ..table };
        let context = FitContext { train: train_rows, valid, config, encoding: Encoding::Numeric };
        let trained = match config.density_weights {
            Some(DensityWeights { average: true, .. }) => {
                if checkpoint.is_some() {
                    let param = ParamName("checkpoint");
                    return Err(Error::DoesNotApply { param, to: "an average of two models" });
                }
                let plain = ModelConfig { density_weights: None, ..config.clone() };
                let plain = FitContext { config: &plain, ..context };
                train(&plain, progress, None).and_then(|plain| {
                    Trained::average(plain, train(&context, progress, None)?, train_table)
                })
            }
            _ => train(&context, progress, checkpoint),
        };
        let mut trained = trained.map_err(|error| error.locate(&train_table.places))?;
        trained.model.metadata.rows = rows as u64;
        trained.model.metadata.drift = Some(drift);
        trained.model.metadata.notes.extend(note_on_copies(table.table, distinct.as_ref()));
        Ok(trained)
    }
}

/// The configuration with at most as many folds as distinct rows. A committee has the number of networks that was asked
/// for, unless only copies of rows would make up some of its folds.
fn with_folds(config: &ModelConfig, rows: usize, distinct: usize) -> ModelConfig {
    let mut config = config.clone();
    let folds = match &mut config.kind {
        Kind::Network(network) => match &mut network.valid {
            Validation::Folds(folds) if *folds <= rows => Some(folds),
            _ => None,
        },
        Kind::Auto(auto) => Some(&mut auto.folds),
        _ => config.cross_validation.as_mut().map(|validation| &mut validation.folds),
    };
    if let Some(folds) = folds {
        *folds = distinct.min(*folds);
    }
    config
}

fn train(
    context: &FitContext<'_>,
    progress: &dyn EpochProgress,
    checkpoint: Option<&dyn Checkpoint>,
) -> Result<Trained> {
    match &context.config.kind {
        Kind::Network(network) => network::train(context, network, progress, checkpoint),
        Kind::Auto(auto) => auto::train(context, auto, progress),
        _ => context.train(),
    }
}
