//! Shared parts of all models: preprocessing, closed-form fits and out-of-fold predictions.

use std::path::Path;
use std::slice::from_ref;

use arrow_array::RecordBatch;
use rayon::prelude::*;
use windlass::regress::{AnchorRegression, Ridge};
use windlass::{Dataset, Real as _, Seed};
use windlass_table::{LoadedTable, select, to_f64};
use windlass_train::Epoch;

use crate::config::{DensityWeights, Kind, ModelConfig};
use crate::design_matrix::{NamedTable, density_weighted, pre_augmented, stacked};
use crate::gp::GaussianProcess;
use crate::importance::HeldOutRows;
use crate::metadata::FoldWeight;
use crate::model::{EnsembleMember, Estimator, Model};
use crate::out_of_fold::OutOfFold;
use crate::preprocessing::{ColumnNote, Encoding, Preprocessing, row_weights};
use crate::split::Fold;
use crate::trees::{TreeData, TreeEnsemble};
use crate::{Error, Result, groups};

/// A trained model and the history of its training.
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
    /// The held-out rows of every fold.
    pub(crate) held_out: Vec<RecordBatch>,
}

impl Trained {
    /// Training that neither diverged nor was cancelled, of a model without epochs.
    pub(crate) fn complete(model: Model, folds: Vec<FoldBatches>) -> Self {
        let held_out = folds.into_iter().filter_map(|fold| fold.valid).collect();
        Self { model, histories: vec![], diverged: None, cancelled: false, held_out }
    }

    /// The average of two models of the same table and folds, as one ensemble. Its history is that of both, and its
    /// configuration that of the second.
    pub(crate) fn average(first: Self, second: Self, table: &LoadedTable) -> Result<Self> {
        Ok(Self {
            model: Model::average(first.model, second.model, table)?,
            histories: [first.histories, second.histories].concat(),
            diverged: first.diverged.or(second.diverged),
            cancelled: first.cancelled || second.cancelled,
            held_out: first.held_out,
        })
    }

    /// Computes the permutation importance of the columns and stores it in the model's metadata, if rows were held
    /// out.
    pub fn add_importance(&mut self) -> Result<()> {
        if !self.held_out.is_empty() {
            let seed = Seed(self.model.metadata.config.seed);
            let rows = HeldOutRows { model: &self.model, rows: &self.held_out };
            self.model.metadata.importance = rows.importance(seed)?;
        }
        Ok(())
    }
}

/// A note on rows that are copies of others and have no weight column; `distinct` is the table without them.
pub(crate) fn note_on_copies(
    table: &LoadedTable,
    distinct: Option<&LoadedTable>,
) -> Option<String> {
    let (rows, distinct) = (table.batch.num_rows(), distinct?.batch.num_rows());
    (table.roles.weight().is_none() && distinct < rows).then(|| {
        format!(
            "{} of {rows} rows are copies of others: trained on {distinct} distinct rows, weighted by their number",
            rows - distinct
        )
    })
}

/// Training and validation rows of a fold.
pub(crate) struct FoldBatches {
    pub(crate) train: RecordBatch,
    pub(crate) valid: Option<RecordBatch>,
    /// The indices of the validation rows in the training table; empty if they are in a separate table.
    pub(crate) held_out: Vec<usize>,
}

impl FoldBatches {
    pub(crate) fn new(batch: &RecordBatch, fold: &Fold) -> Self {
        let valid = Some(select(batch, &fold.held_out));
        Self { train: select(batch, &fold.train), valid, held_out: fold.held_out.clone() }
    }

    /// All rows for training, and validation rows of another table, if any.
    pub(crate) fn whole(batch: &RecordBatch, valid: Option<RecordBatch>) -> Self {
        Self { train: batch.clone(), valid, held_out: vec![] }
    }
}

/// The tables and the configuration of a model to be trained.
#[derive(Clone, Copy)]
pub(crate) struct FitContext<'a> {
    pub(crate) train: NamedTable<'a>,
    pub(crate) valid: Option<NamedTable<'a>>,
    pub(crate) config: &'a ModelConfig,
    pub(crate) encoding: Encoding,
}

impl<'a> FitContext<'a> {
    /// The same with another encoding of integers with few values.
    pub(crate) fn with_encoding(&self, encoding: Encoding) -> Self {
        Self { encoding, ..*self }
    }

    pub(crate) fn seed(&self) -> Seed {
        Seed(self.config.seed)
    }

    /// The folds of cross-validation; none if the configuration holds out no rows in turn.
    pub(crate) fn folds(&self) -> Result<Vec<FoldBatches>> {
        let batch = &self.train.table.batch;
        let folds = self.config.folds(batch)?.unwrap_or_default();
        Ok(folds.iter().map(|fold| FoldBatches::new(batch, fold)).collect())
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
        let (table, encoding) = (self.train.table, self.encoding);
        let (fitted, mut notes) =
            Preprocessing::fit_encoded(table, rows, columns, *scaling, *target_scaling, encoding)?;
        notes.extend(ColumnNote::of_split(table, self.config.split()));
        // A linear model is a line everywhere.
        let is_linear = matches!(self.config.kind, Kind::Ridge { .. } | Kind::Anchor { .. });
        Ok((if is_linear { fitted } else { fitted.with_limits() }, notes))
    }

    /// Training rows, followed by synthetic rows if configured.
    pub(crate) fn training_data(
        &self,
        rows: &RecordBatch,
        preprocessing: &Preprocessing,
    ) -> Result<Dataset> {
        let mut dataset = self.train.dataset(rows, preprocessing)?;
        if let Some(DensityWeights { alpha, .. }) = self.config.density_weights {
            dataset = density_weighted(dataset, &preprocessing.raw_targets(rows), alpha)?;
        }
        match &self.config.pre_augment {
            None => Ok(dataset),
            Some(config) => pre_augmented(&dataset, rows, preprocessing, config, self.seed()),
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
        Ok((self.fit_data(rows, preprocessing, &dataset, kind)?, notes))
    }

    /// Fits a model that has no epochs to data that were made of some rows.
    pub(crate) fn fit_data(
        &self,
        rows: &RecordBatch,
        preprocessing: Preprocessing,
        dataset: &Dataset,
        kind: &Kind,
    ) -> Result<EnsembleMember> {
        let (samples, seed) = (dataset.samples(), self.seed());
        let data = TreeData::from(dataset);
        let estimator = match kind {
            Kind::Anchor { anchors, clusters, gamma, penalty } => {
                let regression = AnchorRegression::new(*gamma).penalty(*penalty);
                let groups = groups::find(rows, &samples, anchors, *clusters, seed)?;
                Estimator::Linear(regression.fit(&samples, groups.as_ref())?)
            }
            Kind::Ridge { penalty } => Estimator::Linear(Ridge::new(*penalty).fit(&samples)?),
            Kind::Forest(settings) => {
                Estimator::Trees(TreeEnsemble::random_forest(data, settings, seed)?)
            }
            Kind::ExtraTrees(settings) => {
                Estimator::Trees(TreeEnsemble::extra_trees(data, settings, seed)?)
            }
            Kind::Boosting(settings) => {
                Estimator::Trees(TreeEnsemble::boosting(data, settings, seed)?)
            }
            Kind::GaussianProcess(settings) => {
                Estimator::GaussianProcess(GaussianProcess::fit(dataset, settings, seed)?)
            }
            Kind::Network(_) | Kind::Auto(_) => unreachable!("trained in their own modules"),
        };
        Ok(EnsembleMember { preprocessing, estimator, weight: 1.0, fold: None })
    }

    /// Fits a model that has no epochs to the whole table.
    pub(crate) fn train(&self) -> Result<Trained> {
        let batch = &self.train.table.batch;
        let (mut member, notes) = self.fit(batch, &self.config.kind)?;
        let (folds, fold_members) = if self.config.cross_validation.is_some() {
            self.cross_validate()?
        } else if let Some(valid) = self.valid {
            member.fold = Some(FoldWeight { fold: 0, weight: 1.0 });
            (vec![FoldBatches::whole(batch, Some(valid.table.batch.clone()))], vec![])
        } else {
            (vec![], vec![])
        };
        let of_folds = if fold_members.is_empty() { from_ref(&member) } else { &fold_members };
        let out_of_fold = self.out_of_fold_predictions(of_folds, &folds)?;
        let model = Model::new(self.config, vec![member], self.train.table, batch)?;
        let mut model = model.with_out_of_fold(out_of_fold, fold_members);
        model.metadata.notes = ColumnNote::lines(notes);
        Ok(Trained::complete(model, folds))
    }

    /// The folds, and for each a fit of a model that has no epochs.
    fn cross_validate(&self) -> Result<(Vec<FoldBatches>, Vec<EnsembleMember>)> {
        let folds = self.folds()?;
        let mut members = self.fit_folds(&folds, &self.config.kind)?;
        for (fold, member) in members.iter_mut().enumerate() {
            (member.weight, member.fold) = (0.0, Some(FoldWeight { fold, weight: 1.0 }));
        }
        Ok((folds, members))
    }

    /// Fits a model that has no epochs to every fold, as many at once as their memory allows.
    pub(crate) fn fit_folds(
        &self,
        folds: &[FoldBatches],
        kind: &Kind,
    ) -> Result<Vec<EnsembleMember>> {
        let at_once = match kind {
            Kind::GaussianProcess(_) => {
                let rows = folds.iter().map(|fold| fold.train.num_rows()).max().unwrap_or(0);
                GaussianProcess::fits_at_once(rows, self.train.table.roles.targets().len())
            }
            _ => folds.len().max(1),
        };
        let fit = |fold: &FoldBatches| Ok(self.fit(&fold.train, kind)?.0);
        let mut members = vec![];
        for some in folds.chunks(at_once) {
            // All results before the first error, so that it does not depend on threads.
            let fitted: Vec<Result<EnsembleMember>> = some.par_iter().map(fit).collect();
            members.extend(fitted.into_iter().collect::<Result<Vec<_>>>()?);
        }
        Ok(members)
    }

    /// The predictions of each member for the validation rows of its fold, one fold after the other; `None`
    /// without validation rows.
    pub(crate) fn out_of_fold_predictions(
        &self,
        members: &[EnsembleMember],
        folds: &[FoldBatches],
    ) -> Result<Option<OutOfFold>> {
        let path = self.valid_path();
        let (mut y, mut predicted, mut weights) = (vec![], vec![], vec![]);
        let (mut rows, mut numbers) = (vec![], vec![]);
        for (number, (member, fold)) in (0..).zip(members.iter().zip(folds)) {
            let Some(valid) = &fold.valid else { continue };
            rows.extend(fold.held_out.iter().map(|&row| row as u64));
            numbers.resize(numbers.len() + valid.num_rows(), number);
            let x = member.preprocessing.features(valid, path, 0)?;
            y.push(member.preprocessing.raw_targets(valid));
            predicted.push(member.predict(&x)?);
            weights.extend(row_weights(self.train.table, valid, path)?.into_iter().flatten());
        }
        Ok((!y.is_empty()).then(|| OutOfFold {
            rows,
            folds: numbers,
            y: stacked(&y),
            predicted: stacked(&predicted),
            weights: (!weights.is_empty()).then_some(weights),
        }))
    }
}

/// Returns an error for values that do not fit in the 32 bits of networks; called before rows are shuffled, so that
/// errors name the row of the table.
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
