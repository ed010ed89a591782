//! The configuration of a model.

use arrow_array::RecordBatch;
use serde::{Deserialize, Serialize};
use windlass::Seed;
use windlass_table::{AnchorSource, ClusterCount, Columns, MethodConfig};
use windlass_train::{Activation, FittedOn, TrainConfig};

use crate::Result;
use crate::gp::GaussianProcessSettings;
use crate::preprocessing::Scaling;
use crate::split::{Fold, Split};
use crate::trees::{BoostingSettings, ForestSettings};

/// The configuration of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// The roles of columns.
    pub columns: Columns,
    /// Drop rows without a finite target instead of returning an error.
    pub drop_missing_target: bool,
    /// Scaling of continuous columns.
    pub scaling: Scaling,
    /// Scaling of targets; undone in predictions.
    pub target_scaling: Scaling,
    /// The kind of model.
    pub kind: Kind,
    /// Synthetic rows that are added before training.
    #[serde(default, rename = "enlarge", skip_serializing_if = "Option::is_none")]
    pub pre_augment: Option<PreAugmentConfig>,
    /// Row weights that emphasize rare targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub density_weights: Option<DensityWeights>,
    /// Cross-validation that estimates the error of a kind without epochs; the model is fitted on all rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cross_validation: Option<CrossValidation>,
    /// The random seed.
    pub seed: u64,
}

impl ModelConfig {
    /// How rows are held out.
    #[must_use]
    pub fn split(&self) -> &Split {
        match (&self.kind, &self.cross_validation) {
            (Kind::Network(network), _) => &network.split,
            (Kind::Auto(auto), _) => &auto.split,
            (_, Some(cross_validation)) => &cross_validation.split,
            (_, None) => &Split::Rows,
        }
    }

    /// The folds of cross-validation of these rows; `None` if rows are not held out in turn.
    pub(crate) fn folds(&self, rows: &RecordBatch) -> Result<Option<Vec<Fold>>> {
        let mut seed = Seed(self.seed);
        let (split, count) = match (&self.kind, &self.cross_validation) {
            (Kind::Network(network), _) => {
                let Validation::Folds(members) = network.valid else { return Ok(None) };
                seed = network.valid_seed.map_or(seed, Seed);
                (&network.split, members)
            }
            (Kind::Auto(auto), _) => (&auto.split, auto.split.fold_count(rows, auto.folds)?),
            (_, Some(CrossValidation { folds, split })) => (split, split.fold_count(rows, *folds)?),
            (_, None) => return Ok(None),
        };
        split.folds(rows, count, seed).map(Some)
    }

    /// Whether rows of the training table are held out.
    #[must_use]
    pub fn holds_out(&self) -> bool {
        match &self.kind {
            Kind::Network(network) => network.holds_out(),
            Kind::Auto(_) => true,
            Kind::Ridge { .. }
            | Kind::Anchor { .. }
            | Kind::Forest(_)
            | Kind::GaussianProcess(_)
            | Kind::ExtraTrees(_)
            | Kind::Boosting(_) => self.cross_validation.is_some(),
        }
    }
}

/// Cross-validation that estimates an error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CrossValidation {
    /// Number of folds; see [`Split::fold_count`].
    pub folds: usize,
    /// How rows are held out.
    pub split: Split,
}

/// Row weights by the density of the target ([`windlass::density`]), fitted on the training rows. Errors are not
/// weighted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DensityWeights {
    /// Strength: 0 for equal weights, 1 for weights near 0 where targets are densest.
    pub alpha: f64,
    /// Average the model with one that is trained without these weights.
    pub average: bool,
}

/// Synthetic rows that are added before training, from scaled features and targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreAugmentConfig {
    /// The method.
    pub method: MethodConfig,
    /// Synthetic rows for every source row; 0: [automatic](windlass::Copies::auto).
    pub copies: usize,
}

/// A kind of model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A dense network, or an ensemble of them.
    Network(Box<NetworkConfig>),
    /// Ridge regression.
    Ridge {
        /// The penalty on squared coefficients.
        penalty: f64,
    },
    /// Anchor regression.
    Anchor {
        /// The source of the groups of rows.
        anchors: AnchorSource,
        /// Number of groups, if they are found by k-means or binning.
        clusters: ClusterCount,
        /// Strength γ of the shifts along the anchors to protect against.
        gamma: f64,
        /// The penalty on squared coefficients.
        penalty: f64,
    },
    /// A random forest.
    Forest(ForestSettings),
    /// A Gaussian process.
    GaussianProcess(GaussianProcessSettings),
    /// Extra trees: a forest of trees with random thresholds.
    ExtraTrees(ForestSettings),
    /// Gradient-boosted trees.
    Boosting(BoostingSettings),
    /// The ensemble with the least cross-validation error.
    Auto(AutoConfig),
}

/// Automatic selection by cross-validation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutoConfig {
    /// Number of folds; see [`Split::fold_count`].
    pub folds: usize,
    /// How rows are held out.
    pub split: Split,
    /// Select for larger shifts between groups than those in the table.
    pub larger_shifts: bool,
    /// Seconds after which no more entries of the portfolio are fitted. The model then depends on the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_limit: Option<f64>,
}

impl AutoConfig {
    /// The default selection with this split.
    #[must_use]
    pub fn new(split: Split) -> Self {
        Self { folds: 4, split, larger_shifts: false, time_limit: None }
    }
}

/// A network and its training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkConfig {
    /// Units of every hidden layer.
    pub hidden: Vec<usize>,
    /// The activation function of hidden layers.
    pub activation: Activation,
    /// The training loop.
    pub training: TrainConfig,
    /// Augmentation inside the loop.
    pub augment: Option<InLoopAugmentConfig>,
    /// Validation rows, which choose the best epoch. If they are held out by time, networks are then trained on all
    /// rows for the chosen number of epochs.
    pub valid: Validation,
    /// How validation rows are held out.
    #[serde(default)]
    pub split: Split,
    /// The seed of the choice of validation rows, if other than that of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_seed: Option<u64>,
}

impl NetworkConfig {
    /// Whether rows of the training table are held out.
    pub(crate) fn holds_out(&self) -> bool {
        matches!(self.valid, Validation::Fraction(_) | Validation::Folds(_))
    }
}

/// Augmentation inside the loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InLoopAugmentConfig {
    /// The method.
    pub method: MethodConfig,
    /// The hidden layer after which rows are mixed; 0 is the input.
    pub layer: usize,
    /// Whether original rows stay in the batch.
    pub originals: bool,
    /// The rows that groups and partners are found in.
    pub fitted_on: FittedOn,
}

/// Validation rows, which choose the best epoch.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Validation {
    /// None: the weights of the last epoch are used.
    None,
    /// A fraction of the rows.
    #[serde(rename = "share")]
    Fraction(f64),
    /// A separate table.
    #[serde(rename = "given")]
    Table,
    /// Cross-validation with this many folds: an ensemble of a network per fold.
    Folds(usize),
}
