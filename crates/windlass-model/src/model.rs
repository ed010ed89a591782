//! A trained model: an ensemble of estimators, each with its own preprocessing.

use std::collections::BTreeMap;
use std::path::Path;

use arrow_array::RecordBatch;
use ndarray::Array2;
use windlass::regress::LinearModel;
use windlass_table::LoadedTable;
use windlass_train::Network;

use crate::Result;
use crate::config::ModelConfig;
use crate::design_matrix::{NamedTable, stacked};
use crate::gp::GaussianProcess;
use crate::metadata::{EstimatorMetadata, FORMAT, FoldWeight, MemberMetadata, ModelMetadata};
use crate::metrics::Metrics;
use crate::out_of_fold::OutOfFold;
use crate::preprocessing::{Preprocessing, row_weights};
use crate::trees::TreeEnsemble;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EnsembleMember {
    pub(crate) preprocessing: Preprocessing,
    pub(crate) estimator: Estimator,
    /// Its weight in the average; all weights sum to 1. 0 for members of a fold only.
    pub(crate) weight: f64,
    /// Its part in the predictions for a fold that it was not trained on.
    pub(crate) fold: Option<FoldWeight>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Estimator {
    Network(Network),
    Linear(LinearModel),
    Trees(TreeEnsemble),
    GaussianProcess(GaussianProcess),
}

impl EnsembleMember {
    /// Predictions in the units of the targets.
    pub(crate) fn predict(&self, x: &Array2<f64>) -> Result<Array2<f64>> {
        let scaled = match &self.estimator {
            Estimator::Network(network) => {
                #[expect(clippy::cast_possible_truncation, reason = "networks have 32 bits")]
                let x = x.mapv(|value| value as f32);
                network.predict(x.view())?.mapv(f64::from)
            }
            Estimator::Linear(linear) => linear.predict(x.view())?,
            Estimator::Trees(trees) => trees.predict(x.view())?,
            Estimator::GaussianProcess(process) => process.predict(x.view())?,
        };
        Ok(self.preprocessing.unscale(scaled.view()))
    }

    /// Predictions for rows of a table, block by block: a model may have many levels.
    pub(crate) fn predict_rows(
        &self,
        rows: &RecordBatch,
        path: &Path,
        first: u64,
    ) -> Result<Array2<f64>> {
        /// Values of a block of the design matrix.
        const VALUES: usize = 1 << 22;
        let (count, at_once) =
            (rows.num_rows(), (VALUES / self.preprocessing.width().max(1)).max(1));
        let predict = |block: &RecordBatch, start: usize| {
            self.predict(&self.preprocessing.features(block, path, first + start as u64)?)
        };
        if count <= at_once {
            return predict(rows, 0);
        }
        let block = |start: usize| rows.slice(start, at_once.min(count - start));
        let blocks = (0..count)
            .step_by(at_once)
            .map(|start| predict(&block(start), start))
            .collect::<Result<Vec<_>>>()?;
        Ok(stacked(&blocks))
    }

    fn metadata(&self) -> MemberMetadata {
        let estimator = match &self.estimator {
            Estimator::Network(network) => EstimatorMetadata::Network(network.shape().clone()),
            Estimator::Linear(_) => EstimatorMetadata::Linear,
            Estimator::Trees(_) => EstimatorMetadata::Trees,
            Estimator::GaussianProcess(_) => EstimatorMetadata::GaussianProcess,
        };
        let preprocessing = self.preprocessing.clone();
        MemberMetadata { preprocessing, weight: self.weight, fold: self.fold, estimator }
    }
}

/// A trained model.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    pub(crate) metadata: ModelMetadata,
    /// Members with a weight.
    pub(crate) members: Vec<EnsembleMember>,
    /// Members that only predict their fold.
    pub(crate) fold_members: Vec<EnsembleMember>,
    pub(crate) out_of_fold: Option<OutOfFold>,
}

/// Predictions for some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictions {
    /// The weighted mean over members, a column for every target.
    pub mean: Array2<f64>,
    /// The weighted standard deviation over members, if there are several.
    pub std: Option<Array2<f64>>,
}

impl Model {
    /// A model without held-out rows, with metrics on the rows that it was trained on.
    pub(crate) fn new(
        config: &ModelConfig,
        members: Vec<EnsembleMember>,
        table: &LoadedTable,
        train_rows: &RecordBatch,
    ) -> Result<Self> {
        let path = Path::new("-");
        let predicted = predict(&members, train_rows, path, 0)?.mean;
        let y = members[0].preprocessing.raw_targets(train_rows);
        let weights = row_weights(table, train_rows, path)?;
        let metadata = ModelMetadata {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            config: config.clone(),
            fingerprint: table.profile.fingerprint.clone(),
            rows: table.batch.num_rows() as u64,
            members: members.iter().map(EnsembleMember::metadata).collect(),
            fold_members: vec![],
            notes: vec![],
            train: Metrics::compute(&y, &predicted, weights.as_deref()),
            valid: None,
            drift: None,
            importance: vec![],
            selection: None,
            distillation: None,
        };
        Ok(Self { metadata, members, fold_members: vec![], out_of_fold: None })
    }

    /// The average of two models of the same table and folds; the rest of the metadata is that of the second.
    pub(crate) fn average(first: Self, second: Self, table: &LoadedTable) -> Result<Self> {
        let halved = |members: [Vec<EnsembleMember>; 2]| -> Vec<EnsembleMember> {
            let half = |member: EnsembleMember| EnsembleMember {
                weight: member.weight / 2.0,
                fold: member.fold.map(|of| FoldWeight { weight: of.weight / 2.0, ..of }),
                ..member
            };
            members.into_iter().flatten().map(half).collect()
        };
        let metadata = second.metadata;
        let members = halved([first.members, second.members]);
        let averaged = Self::new(&metadata.config, members, table, &table.batch)?;
        let out_of_fold = match (first.out_of_fold, second.out_of_fold) {
            (Some(first), Some(second)) => {
                let predicted = (first.predicted + &second.predicted) / 2.0;
                Some(OutOfFold { predicted, ..second })
            }
            _ => None,
        };
        let fold_members = halved([first.fold_members, second.fold_members]);
        let mut averaged = averaged.with_out_of_fold(out_of_fold, fold_members);
        averaged.metadata.notes = metadata.notes;
        averaged.metadata.selection = metadata.selection;
        Ok(averaged)
    }

    /// Adds out-of-fold predictions, and members that only predict their fold.
    pub(crate) fn with_out_of_fold(
        mut self,
        out_of_fold: Option<OutOfFold>,
        fold_members: Vec<EnsembleMember>,
    ) -> Self {
        self.metadata.valid = out_of_fold.as_ref().map(OutOfFold::metrics);
        self.metadata.fold_members = fold_members.iter().map(EnsembleMember::metadata).collect();
        self.fold_members = fold_members;
        self.out_of_fold = out_of_fold;
        self
    }

    /// Drops the members that only predict their fold. Prediction intervals are then centered at the prediction.
    pub fn drop_fold_members(&mut self) {
        self.fold_members.clear();
        self.metadata.fold_members.clear();
    }

    /// The predictions of held-out rows by members that were not trained on them, if rows were held out.
    #[must_use]
    pub fn out_of_fold(&self) -> Option<&OutOfFold> {
        self.out_of_fold.as_ref()
    }

    /// All members, with a weight or only for their fold.
    pub(crate) fn all_members(&self) -> impl Iterator<Item = &EnsembleMember> {
        self.members.iter().chain(&self.fold_members)
    }

    /// The members that were not trained on a fold, with their weights.
    pub(crate) fn members_of_fold(
        &self,
        fold: usize,
    ) -> impl Iterator<Item = (f64, &EnsembleMember)> {
        let of_fold = move |member: &EnsembleMember| {
            member.fold.filter(|part| part.fold == fold).map(|part| part.weight)
        };
        self.all_members().filter_map(move |member| Some((of_fold(member)?, member)))
    }

    /// Whether each fold has members that were not trained on it.
    pub(crate) fn has_fold_members(&self) -> bool {
        let Some(out_of_fold) = &self.out_of_fold else { return false };
        let folds = out_of_fold.folds.iter().max().map_or(0, |last| *last as usize + 1);
        let total = |fold| self.members_of_fold(fold).map(|(weight, _)| weight).sum::<f64>();
        (0..folds).all(|fold| (total(fold) - 1.0).abs() < 1e-6)
    }

    /// Predictions by the members that were not trained on a fold.
    pub(crate) fn predict_fold(
        &self,
        fold: usize,
        rows: &RecordBatch,
        path: &Path,
        first: u64,
    ) -> Result<Array2<f64>> {
        let mut mean = Array2::zeros((rows.num_rows(), self.targets().len()));
        for (weight, member) in self.members_of_fold(fold) {
            mean.scaled_add(weight, &member.predict_rows(rows, path, first)?);
        }
        Ok(mean)
    }

    /// Everything about the model except its weights.
    #[must_use]
    pub fn metadata(&self) -> &ModelMetadata {
        &self.metadata
    }

    /// The names of the targets.
    #[must_use]
    pub fn targets(&self) -> Vec<String> {
        self.members[0].preprocessing.targets.iter().map(|target| target.name.clone()).collect()
    }

    /// Number of members of the ensemble; 1 for a single model.
    #[must_use]
    pub fn member_count(&self) -> usize {
        self.members.len()
    }

    /// Predicts rows of a table; `first` is the number of the first row, for error messages.
    pub fn predict(&self, batch: &RecordBatch, path: &Path, first: u64) -> Result<Predictions> {
        predict(&self.members, batch, path, first)
    }

    /// For every column, the number of rows with a category that no member saw in training; columns without any are
    /// absent.
    #[must_use]
    pub fn unknown_categories(&self, batch: &RecordBatch) -> BTreeMap<String, u64> {
        Preprocessing::unknown_categories(self.preprocessings(), batch)
    }

    /// For every column of numbers, the number of rows outside the range of the training rows; columns without any are
    /// absent.
    #[must_use]
    pub fn outside_range(&self, batch: &RecordBatch) -> BTreeMap<String, u64> {
        Preprocessing::outside_range(self.preprocessings(), batch)
    }

    fn preprocessings(&self) -> impl Iterator<Item = &Preprocessing> + Clone {
        self.members.iter().map(|member| &member.preprocessing)
    }

    /// Predicts rows that have targets, and compares.
    pub fn evaluate(&self, rows: NamedTable<'_>) -> Result<(Predictions, Metrics)> {
        let NamedTable { table, path } = rows;
        let predictions = self.predict(&table.batch, path, 0)?;
        let y = self.members[0].preprocessing.raw_targets(&table.batch);
        let weights = row_weights(table, &table.batch, path)?;
        let metrics = Metrics::compute(&y, &predictions.mean, weights.as_deref());
        Ok((predictions, metrics))
    }

    /// For a linear model, the names of its features and the coefficients in the scaled units that it works in.
    #[must_use]
    pub fn linear(&self) -> Option<(Vec<String>, &LinearModel)> {
        match &self.members[0].estimator {
            Estimator::Linear(linear) => Some((self.members[0].preprocessing.names(), linear)),
            Estimator::Network(_) | Estimator::Trees(_) | Estimator::GaussianProcess(_) => None,
        }
    }
}

fn predict(
    members: &[EnsembleMember],
    batch: &RecordBatch,
    path: &Path,
    first: u64,
) -> Result<Predictions> {
    let mut each = vec![];
    for member in members {
        each.push(member.predict_rows(batch, path, first)?);
    }
    let weights = || members.iter().map(|member| member.weight);
    let mut mean = Array2::zeros(each[0].raw_dim());
    for (one, weight) in each.iter().zip(weights()) {
        mean.scaled_add(weight, one);
    }
    let std = (each.len() > 1).then(|| {
        let mut variance = Array2::zeros(mean.raw_dim());
        for (one, weight) in each.iter().zip(weights()) {
            variance.scaled_add(weight, &(one - &mean).mapv(|off| off * off));
        }
        // Bessel's correction for weights: with equal ones, division by one less than the members.
        let correction = 1.0 - weights().map(|weight| weight * weight).sum::<f64>();
        variance.mapv(|variance: f64| (variance / correction).sqrt())
    });
    Ok(Predictions { mean, std })
}
