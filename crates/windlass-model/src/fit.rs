//! What all kinds of models share: preprocessing, closed-form fits and out-of-fold predictions.

use std::path::Path;

use arrow_array::RecordBatch;
use ndarray::{Array2, Axis, concatenate};
use rayon::prelude::*;
use windlass::regress::{AnchorRegression, Ridge};
use windlass::{Dataset, Real as _, Seed};
use windlass_table::{select, to_f64};
use windlass_train::Epoch;

use crate::config::{CrossValidation, Kind, ModelConfig};
use crate::design_matrix::{NamedTable, pre_augmented};
use crate::forest::Forest;
use crate::gp::GaussianProcess;
use crate::held_out::{HeldOut, OofPredictions, WeightedFits};
use crate::model::{EnsembleMember, Estimator, Model};
use crate::preprocessing::{ColumnNote, Preprocessing, row_weights};
use crate::split::Fold;
use crate::{Error, Result, groups};

/// A trained model and how its training went.
#[derive(Debug)]
pub struct Trained {
    /// The model.
    pub model: Model,
    /// The epochs of every network.
    pub histories: Vec<Vec<Epoch>>,
    /// The epoch in which a network diverged; the model has its last good weights.
    pub diverged: Option<usize>,
    /// Whether training was cancelled.
    pub cancelled: bool,
    /// What the error was measured on, if rows were held out.
    pub(crate) held_out: Option<HeldOut>,
}

impl Trained {
    /// Computes the permutation importance of the columns and stores it in the model's metadata, if rows were held
    /// out.
    pub fn add_importance(&mut self) -> Result<()> {
        if let Some(held_out) = &self.held_out {
            let seed = Seed(self.model.metadata.config.seed);
            self.model.metadata.importance = held_out.importance(seed)?;
        }
        Ok(())
    }

    /// The targets of held-out rows and their predictions, by models that were not trained on them.
    #[must_use]
    pub fn out_of_fold(&self) -> Option<(&Array2<f64>, &Array2<f64>)> {
        let predictions = &self.held_out.as_ref()?.predictions;
        Some((&predictions.y, &predictions.predicted))
    }
}

/// Training and validation rows of a fold.
pub(crate) struct FoldBatches {
    pub(crate) train: RecordBatch,
    pub(crate) valid: Option<RecordBatch>,
}

impl FoldBatches {
    pub(crate) fn new(batch: &RecordBatch, fold: &Fold) -> Self {
        Self { train: select(batch, &fold.train), valid: Some(select(batch, &fold.held_out)) }
    }
}

/// The tables and the configuration of a model to be trained.
#[derive(Clone, Copy)]
pub(crate) struct FitContext<'a> {
    pub(crate) train: NamedTable<'a>,
    pub(crate) valid: Option<NamedTable<'a>>,
    pub(crate) config: &'a ModelConfig,
}

impl<'a> FitContext<'a> {
    pub(crate) fn seed(&self) -> Seed {
        Seed(self.config.seed)
    }

    /// The file of the validation rows.
    pub(crate) fn valid_path(&self) -> &'a Path {
        self.valid.map_or(self.train.path, |valid| valid.path)
    }

    /// The preprocessing fitted on some rows, with notes on columns.
    pub(crate) fn preprocessing(
        &self,
        rows: &RecordBatch,
    ) -> Result<(Preprocessing, Vec<ColumnNote>)> {
        let ModelConfig { columns, scaling, target_scaling, .. } = self.config;
        Preprocessing::fit(self.train.table, rows, columns, *scaling, *target_scaling)
    }

    /// Training rows, followed by synthetic rows if the configuration asks for them.
    pub(crate) fn training_data(
        &self,
        rows: &RecordBatch,
        preprocessing: &Preprocessing,
    ) -> Result<Dataset> {
        let dataset = self.train.dataset(rows, preprocessing)?;
        match &self.config.pre_augment {
            None => Ok(dataset),
            Some(config) => pre_augmented(&dataset, rows, config, self.seed()),
        }
    }

    /// Fits a model that has no epochs.
    pub(crate) fn fit(
        &self,
        rows: &RecordBatch,
        kind: &Kind,
    ) -> Result<(EnsembleMember, Vec<ColumnNote>)> {
        let (preprocessing, notes) = self.preprocessing(rows)?;
        let dataset = self.training_data(rows, &preprocessing)?;
        let (samples, seed) = (dataset.samples(), self.seed());
        let estimator = match kind {
            Kind::Anchor { anchors, clusters, gamma, penalty } => {
                let regression = AnchorRegression::new(*gamma).penalty(*penalty);
                let groups = groups::of(rows, &samples, (anchors, *clusters), seed)?;
                Estimator::Linear(regression.fit(&samples, groups.as_ref())?)
            }
            Kind::Ridge { penalty } => Estimator::Linear(Ridge::new(*penalty).fit(&samples)?),
            Kind::Forest(settings) => {
                let (x, y) = (dataset.x().view(), dataset.y().view());
                Estimator::Forest(Forest::fit(x, y, dataset.weights(), settings, seed)?)
            }
            Kind::GaussianProcess(settings) => {
                Estimator::GaussianProcess(GaussianProcess::fit(&dataset, settings, seed)?)
            }
            Kind::Network(_) | Kind::Auto(_) => unreachable!("trained in their own modules"),
        };
        Ok((EnsembleMember { preprocessing, estimator, weight: 1.0 }, notes))
    }

    /// Fits a model that has no epochs to the whole table.
    pub(crate) fn train(&self) -> Result<Trained> {
        let table = self.train.table;
        let (member, notes) = self.fit(&table.batch, &self.config.kind)?;
        let held_out = if let Some(config) = &self.config.cross_validation {
            self.cross_validate(config)?
        } else {
            let fold = self.valid.map(|valid| FoldBatches {
                train: table.batch.clone(),
                valid: Some(valid.table.batch.clone()),
            });
            self.held_out(vec![member.clone()], fold.as_slice())?
        };
        let mut model = Model::new(self.config, vec![member], table, &table.batch)?;
        model.metadata.valid = held_out.as_ref().map(|rows| rows.predictions.metrics());
        model.metadata.notes = ColumnNote::lines(notes);
        Ok(Trained { model, histories: vec![], diverged: None, cancelled: false, held_out })
    }

    /// Held-out rows and members that were not trained on them, one per fold; `None` without such rows.
    pub(crate) fn held_out(
        &self,
        members: Vec<EnsembleMember>,
        folds: &[FoldBatches],
    ) -> Result<Option<HeldOut>> {
        let predictions = self.out_of_fold_predictions(&members, folds)?;
        let rows = folds.iter().filter_map(|fold| fold.valid.clone()).collect();
        let fits = vec![WeightedFits { weight: 1.0, members }];
        Ok(predictions.map(|predictions| HeldOut { fits, rows, predictions }))
    }

    /// Out-of-fold predictions of a model that has no epochs.
    fn cross_validate(&self, config: &CrossValidation) -> Result<Option<HeldOut>> {
        let batch = &self.train.table.batch;
        let CrossValidation { folds, split } = config;
        let folds = split.folds(batch, split.fold_count(batch, *folds)?, self.seed())?;
        let folds: Vec<FoldBatches> =
            folds.iter().map(|fold| FoldBatches::new(batch, fold)).collect();
        let fit = |fold: &FoldBatches| Ok(self.fit(&fold.train, &self.config.kind)?.0);
        let members = folds.par_iter().map(fit).collect::<Result<Vec<EnsembleMember>>>()?;
        self.held_out(members, &folds)
    }

    /// The predictions of each member for the validation rows of its fold, one fold after the other; `None`
    /// without validation rows.
    pub(crate) fn out_of_fold_predictions(
        &self,
        members: &[EnsembleMember],
        folds: &[FoldBatches],
    ) -> Result<Option<OofPredictions>> {
        let path = self.valid_path();
        let (mut y, mut predicted, mut weights) = (vec![], vec![], vec![]);
        for (member, fold) in members.iter().zip(folds) {
            let Some(valid) = &fold.valid else { continue };
            let x = member.preprocessing.features(valid, path, 0)?;
            y.push(member.preprocessing.raw_targets(valid));
            predicted.push(member.predict(&x)?);
            weights.extend(row_weights(self.train.table, valid, path)?.into_iter().flatten());
        }
        let stack = |folds: &[Array2<f64>]| {
            let views: Vec<_> = folds.iter().map(|fold| fold.view()).collect();
            concatenate(Axis(0), &views).expect("the same targets")
        };
        Ok((!y.is_empty()).then(|| OofPredictions {
            y: stack(&y),
            predicted: stack(&predicted),
            weights: (!weights.is_empty()).then_some(weights),
        }))
    }
}

/// Refuses values that do not fit in the 32 bits of networks; before rows are shuffled, so that errors name
/// the row of the table.
pub(crate) fn check_sizes(rows: NamedTable<'_>) -> Result<()> {
    let NamedTable { table, path } = rows;
    for &index in table.roles.features().iter().chain(table.roles.targets()) {
        let values = to_f64(table.batch.column(index));
        let is_large = |value: Option<f64>| value.is_some_and(|value| value.abs() >= f32::LIMIT);
        if let Some(row) = values.iter().position(is_large) {
            let column = table.batch.schema().field(index).name().clone();
            let (path, value, row) = (path.to_owned(), values.value(row), row.into());
            return Err(Error::BadValue { column, path, row, value });
        }
    }
    Ok(())
}
