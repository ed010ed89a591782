//! From a table to a model of any kind.

use windlass::ParamName;
use windlass_train::EpochProgress;

use crate::config::{DensityWeights, Kind, ModelConfig};
use crate::design_matrix::NamedTable;
use crate::drift::Drift;
use crate::fit::{FitContext, Trained};
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
        if rows < 2 {
            return Err(Error::TooFewRows { path: table.path.to_owned(), rows });
        }
        let augments = match &config.kind {
            Kind::Network(network) => network.augment.is_some(),
            Kind::Anchor { .. } | Kind::Auto(_) => true,
            _ => false,
        };
        if augments && config.pre_augment.is_some() {
            return Err(Error::PreAugmented);
        }
        let drift = Drift::check(table.table, config.split())?;
        let context = FitContext { train: table, valid, config, encoding: Encoding::Numeric };
        let trained = match config.density_weights {
            Some(DensityWeights { average: true, .. }) => {
                if checkpoint.is_some() {
                    let param = ParamName("checkpoint");
                    return Err(Error::DoesNotApply { param, to: "an average of two models" });
                }
                let plain = ModelConfig { density_weights: None, ..config.clone() };
                let plain = FitContext { config: &plain, ..context };
                train(&plain, progress, None).and_then(|plain| {
                    Trained::average(plain, train(&context, progress, None)?, table.table)
                })
            }
            _ => train(&context, progress, checkpoint),
        };
        let mut trained = trained.map_err(|error| error.locate(&table.table.places))?;
        trained.model.metadata.drift = Some(drift);
        Ok(trained)
    }
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
