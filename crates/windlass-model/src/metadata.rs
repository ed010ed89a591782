//! Metadata of a model file.

use serde::{Deserialize, Serialize};
use windlass_train::Shape;

use crate::config::{Kind, ModelConfig, PreAugmentConfig, Validation};
use crate::drift::Drift;
use crate::metrics::Metrics;
use crate::preprocessing::Preprocessing;

/// The file format; incremented when older versions cannot read the files.
pub(crate) const FORMAT: u32 = 3;
/// The first format that can still be read.
pub(crate) const OLDEST_FORMAT: u32 = 2;

/// Everything about a model except its weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelMetadata {
    /// The format of the file.
    pub format: u32,
    /// The version that wrote it.
    pub version: String,
    /// The configuration that the model was trained with.
    #[serde(rename = "recipe")]
    pub config: ModelConfig,
    /// The fingerprint of the training table.
    pub fingerprint: String,
    /// Rows of the training table.
    pub rows: u64,
    /// The members of the ensemble; a single model is an ensemble of one.
    pub members: Vec<MemberMetadata>,
    /// Members that only predict the rows of a fold that they were not trained on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fold_members: Vec<MemberMetadata>,
    /// Columns that are omitted or not used as numbers, and why; and rows that are copies of others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Metrics on the training rows.
    pub train: Metrics,
    /// Metrics on validation rows; for several members, of out-of-fold predictions.
    pub valid: Option<Metrics>,
    /// Whether the table drifts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
    /// Permutation importance of the columns on held-out rows, the largest first; empty if it was not computed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub importance: Vec<Importance>,
    /// How the members were selected, for [`Kind::Auto`].
    #[serde(default, rename = "choice", skip_serializing_if = "Option::is_none")]
    pub selection: Option<AutoSelection>,
    /// The teacher, if the model is a student.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distillation: Option<Distillation>,
}

impl ModelMetadata {
    /// Whether the held-out rows also chose the best epoch of a single network: errors on them are a little too small.
    #[must_use]
    pub fn has_chosen_epoch(&self) -> bool {
        let Kind::Network(network) = &self.config.kind else { return false };
        self.distillation.is_none() && !matches!(network.valid, Validation::Folds(_))
    }

    /// The columns that any member uses.
    #[must_use]
    pub fn features(&self) -> Vec<&str> {
        let mut names: Vec<&str> = vec![];
        for input in self.members.iter().flat_map(|member| &member.preprocessing.inputs) {
            if !names.contains(&input.name()) {
                names.push(input.name());
            }
        }
        names
    }
}

/// A member of the ensemble, without its weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemberMetadata {
    /// Its preprocessing.
    #[serde(rename = "preparation")]
    pub preprocessing: Preprocessing,
    /// Its weight in the average; all weights sum to 1.
    pub weight: f64,
    /// Its part in the predictions for a fold that it was not trained on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold: Option<FoldWeight>,
    /// The kind of estimator.
    #[serde(rename = "body")]
    pub estimator: EstimatorMetadata,
}

/// The part of a member in the predictions for a fold that it was not trained on.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FoldWeight {
    /// The fold.
    pub fold: usize,
    /// The weight; those of a fold sum to 1.
    pub weight: f64,
}

/// The kind of an estimator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EstimatorMetadata {
    /// A network of this shape.
    Network(Shape),
    /// A linear model.
    Linear,
    /// A Gaussian process.
    GaussianProcess,
    /// Trees whose mean is the prediction: a forest or boosted trees.
    #[serde(rename = "forest")]
    Trees,
}

/// The importance of a column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Importance {
    /// The column.
    pub column: String,
    /// The increase in RMSE on held-out rows if its values are shuffled.
    pub rmse_increase: f64,
}

/// How [`Kind::Auto`] selected its members.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AutoSelection {
    /// The portfolio, best first.
    #[serde(rename = "candidates")]
    pub portfolio: Vec<PortfolioResult>,
    /// Number of fits in all.
    pub fits: usize,
    /// Entries that were not fitted because of the time limit: the model depends on the machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_fitted: Vec<String>,
    /// Number of folds.
    pub folds: usize,
    /// The group with the largest out-of-fold error, if rows are split by domain.
    pub worst: Option<DomainMetrics>,
    /// If larger shifts are expected: the errors with and without anchors on the groups farthest from the
    /// rest, of models trained on the rest.
    pub far_groups: Option<FarGroups>,
}

/// Metrics on the rows of a domain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "(String, Metrics)", into = "(String, Metrics)")]
pub struct DomainMetrics {
    /// The domain.
    pub domain: String,
    /// The metrics.
    pub metrics: Metrics,
}

impl From<(String, Metrics)> for DomainMetrics {
    fn from((domain, metrics): (String, Metrics)) -> Self {
        Self { domain, metrics }
    }
}

impl From<DomainMetrics> for (String, Metrics) {
    fn from(of: DomainMetrics) -> Self {
        (of.domain, of.metrics)
    }
}

/// Errors on groups that are far from those of the training rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FarGroups {
    /// The groups.
    pub groups: Vec<String>,
    /// The best portfolio entry without anchors.
    pub plain: EntryError,
    /// The best with anchors.
    pub anchored: EntryError,
}

/// The error of a portfolio entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "(String, f64)", into = "(String, f64)")]
pub struct EntryError {
    /// A description of the entry.
    pub name: String,
    /// RMSE.
    pub rmse: f64,
}

impl From<(String, f64)> for EntryError {
    fn from((name, rmse): (String, f64)) -> Self {
        Self { name, rmse }
    }
}

impl From<EntryError> for (String, f64) {
    fn from(of: EntryError) -> Self {
        (of.name, of.rmse)
    }
}

impl FarGroups {
    /// Whether to use anchors. The shifts to come are expected to be larger than those to these groups, so
    /// anchors may cost a little here.
    #[must_use]
    pub fn chooses_anchors(&self) -> bool {
        const COST: f64 = 1.05;
        self.anchored.rmse < COST * self.plain.rmse
    }
}

/// How a student was distilled.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Distillation {
    /// The kind of the teacher.
    pub teacher: Kind,
    /// Number of members of the teacher.
    pub teacher_members: usize,
    /// The fingerprint of the table that the teacher was trained on.
    pub teacher_fingerprint: String,
    /// Metrics of the teacher's out-of-fold predictions, of the rows that the student's metrics are of.
    pub teacher_valid: Option<Metrics>,
    /// Synthetic rows.
    pub synthetic: Option<PreAugmentConfig>,
    /// Whether training rows have out-of-fold predictions of the teacher as labels.
    pub out_of_fold_labels: bool,
    /// Unlabeled rows.
    pub unlabeled: u64,
    /// All rows that the student was trained on.
    pub rows: u64,
    /// What differs from the request, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// A portfolio entry and its error.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PortfolioResult {
    /// A description.
    pub name: String,
    /// The model.
    pub kind: Kind,
    /// RMSE of its out-of-fold predictions.
    pub rmse: f64,
    /// Its weight in the ensemble.
    #[serde(rename = "share")]
    pub weight: f64,
}
