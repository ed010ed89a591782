//! A model: what is done to rows, what predicts, and what is known of how it was made.

use std::path::Path;

use arrow_array::RecordBatch;
use ndarray::Array2;
use serde::{Deserialize, Serialize};
use windlass::regress::LinearModel;
use windlass_table::LoadedTable;
use windlass_train::{Network, Shape};

use crate::preprocessing::{Unknown, weights};
use crate::train::Metrics;
use crate::{Choice, Forest, ModelConfig, Preprocessing, Result};

/// Raised when a file can no longer be read as before.
pub(crate) const FORMAT: u32 = 2;

/// What is known of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelMetadata {
    /// The format of the file.
    pub format: u32,
    /// The version that made it.
    pub version: String,
    /// How it was made.
    pub recipe: ModelConfig,
    /// The fingerprint of the training table.
    pub fingerprint: String,
    /// The rows that it was made of.
    pub rows: u64,
    /// What is averaged: one, or a committee.
    pub members: Vec<MemberMetadata>,
    /// Errors on the rows that it learnt from.
    pub train: Metrics,
    /// Errors on validation rows, each judged by a network that did not learn from it.
    pub valid: Option<Metrics>,
    /// How it was chosen, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub choice: Option<Choice>,
}

/// What is known of a member.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemberMetadata {
    /// What is done to rows.
    pub preparation: Preprocessing,
    /// How much its prediction counts.
    pub weight: f64,
    /// What predicts.
    pub body: EstimatorMetadata,
}

/// What a member is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EstimatorMetadata {
    /// A network of this shape.
    Network(Shape),
    /// A linear model.
    Linear,
    /// A random forest.
    Forest,
}

/// Something that predicts, with its own preparation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct EnsembleMember {
    pub(crate) preparation: Preprocessing,
    pub(crate) body: Estimator,
    /// How much its prediction counts; all together are 1.
    pub(crate) weight: f64,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Estimator {
    Network(Network),
    Linear(LinearModel),
    Forest(Forest),
}

impl EnsembleMember {
    /// Predictions in the units of the targets.
    pub(crate) fn predict(&self, x: &Array2<f64>) -> Result<Array2<f64>> {
        let scaled = match &self.body {
            Estimator::Network(network) => {
                #[expect(clippy::cast_possible_truncation, reason = "networks have 32 bits")]
                let x = x.mapv(|value| value as f32);
                network.predict(x.view())?.mapv(f64::from)
            }
            Estimator::Linear(linear) => linear.predict(x.view())?,
            Estimator::Forest(forest) => forest.predict(x.view())?,
        };
        Ok(self.preparation.unscaled(scaled.view()))
    }

    fn card(&self) -> MemberMetadata {
        let body = match &self.body {
            Estimator::Network(network) => EstimatorMetadata::Network(network.shape().clone()),
            Estimator::Linear(_) => EstimatorMetadata::Linear,
            Estimator::Forest(_) => EstimatorMetadata::Forest,
        };
        MemberMetadata { preparation: self.preparation.clone(), weight: self.weight, body }
    }
}

/// A trained model.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    pub(crate) card: ModelMetadata,
    pub(crate) members: Vec<EnsembleMember>,
}

/// What a model says of some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicted {
    /// A row of targets for each: the mean over members.
    pub mean: Array2<f64>,
    /// How far members are apart: their standard deviation. None where there is one.
    pub spread: Option<Array2<f64>>,
    /// Categories that were never seen in training, by column.
    pub unknown: Unknown,
}

impl Model {
    pub(crate) fn new(
        recipe: &ModelConfig,
        members: Vec<EnsembleMember>,
        frame: &LoadedTable,
        learnt_from: &RecordBatch,
        (valid, choice): (Option<Metrics>, Option<Choice>),
    ) -> Result<Self> {
        let nothing = Metrics { rows: 0, rmse: 0.0, mae: 0.0, mape: None, r2: None, r: None };
        let card = ModelMetadata {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            recipe: recipe.clone(),
            fingerprint: frame.profile.fingerprint.clone(),
            rows: frame.batch.num_rows() as u64,
            members: members.iter().map(EnsembleMember::card).collect(),
            train: nothing,
            valid,
            choice,
        };
        let mut model = Self { card, members };
        let predicted = model.predict(learnt_from, Path::new("-"), 0)?.mean;
        let y = model.members[0].preparation.raw_targets(learnt_from);
        let weights = weights(frame, learnt_from, Path::new("-"))?;
        model.card.train = Metrics::of(&y, &predicted, weights.as_deref());
        Ok(model)
    }

    /// What is known of it.
    #[must_use]
    pub fn card(&self) -> &ModelMetadata {
        &self.card
    }

    /// The names of the targets.
    #[must_use]
    pub fn targets(&self) -> Vec<String> {
        self.members[0].preparation.targets.iter().map(|target| target.name.clone()).collect()
    }

    /// The members that are averaged; 1 if there is nothing to average.
    #[must_use]
    pub fn committee(&self) -> usize {
        self.members.len()
    }

    /// Predicts rows of a table; `first` is the number of the first.
    pub fn predict(&self, batch: &RecordBatch, path: &Path, first: u64) -> Result<Predicted> {
        let mut each = vec![];
        for member in &self.members {
            each.push(member.predict(&member.preparation.features(batch, path, first)?)?);
        }
        let preparations: Vec<&Preprocessing> =
            self.members.iter().map(|member| &member.preparation).collect();
        let unknown = Preprocessing::unknown(&preparations, batch);
        let weights = || self.members.iter().map(|member| member.weight);
        let mut mean = Array2::zeros(each[0].raw_dim());
        for (one, weight) in each.iter().zip(weights()) {
            mean.scaled_add(weight, one);
        }
        let spread = (each.len() > 1).then(|| {
            let mut square = Array2::zeros(mean.raw_dim());
            for (one, weight) in each.iter().zip(weights()) {
                square.scaled_add(weight, &(one - &mean).mapv(|off| off * off));
            }
            // For equal weights this divides by one less than the members, as deviations of samples do.
            let free = 1.0 - weights().map(|weight| weight * weight).sum::<f64>();
            square.mapv(|square: f64| (square / free).sqrt())
        });
        Ok(Predicted { mean, spread, unknown })
    }

    /// Predicts rows that have targets, and says how far off it is.
    pub fn evaluate(&self, rows: &LoadedTable, path: &Path) -> Result<(Predicted, Metrics)> {
        let predicted = self.predict(&rows.batch, path, 0)?;
        let y = self.members[0].preparation.raw_targets(&rows.batch);
        let weights = weights(rows, &rows.batch, path)?;
        let metrics = Metrics::of(&y, &predicted.mean, weights.as_deref());
        Ok((predicted, metrics))
    }

    /// The coefficients of a linear model: the numbers' names, a row for each, and the intercept, all in
    /// the scaled units that it works in.
    #[must_use]
    pub fn linear(&self) -> Option<(Vec<String>, &LinearModel)> {
        match &self.members[0].body {
            Estimator::Linear(linear) => Some((self.members[0].preparation.names(), linear)),
            Estimator::Network(_) | Estimator::Forest(_) => None,
        }
    }
}
