//! From a table to a model of any kind.

use windlass_train::EpochProgress;

use crate::config::{Kind, ModelConfig};
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
        let trained = match &config.kind {
            Kind::Network(config) => network::train(&context, config, progress, checkpoint),
            Kind::Auto(config) => auto::train(&context, config, progress),
            _ => context.train(),
        };
        let mut trained = trained.map_err(|error| error.locate(&table.table.places))?;
        trained.model.metadata.drift = Some(drift);
        Ok(trained)
    }
}
