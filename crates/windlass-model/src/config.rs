//! What to make of a table: everything that decides a model.

use serde::{Deserialize, Serialize};
use windlass_table::{AnchorSource, ClusterCount, Columns, MethodConfig};
use windlass_train::{Activation, FittedOn, Training};

use crate::{ForestSettings, Scaling, Split};

/// Everything that decides a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelConfig {
    /// Which columns are what.
    pub columns: Columns,
    /// Leave out rows without a finite target instead of refusing them.
    pub drop_missing_target: bool,
    /// What continuous columns are brought to.
    pub scaling: Scaling,
    /// What targets are brought to; undone in predictions.
    pub target_scaling: Scaling,
    /// The kind of model.
    pub kind: Kind,
    /// Rows that are made before anything is learnt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enlarge: Option<PreAugmentConfig>,
    /// What random numbers depend on.
    pub seed: u64,
}

/// Rows that are made before anything is learnt, from scaled features and targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PreAugmentConfig {
    /// The method.
    pub method: MethodConfig,
    /// Synthetic rows for every training row.
    pub copies: usize,
}

/// A kind of model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A dense network, or a committee of them.
    Network(Box<NetworkConfig>),
    /// A linear model with a penalty on its coefficients.
    Ridge {
        /// The penalty.
        penalty: f64,
    },
    /// Anchor regression.
    Anchor {
        /// Which rows belong together.
        anchors: AnchorSource,
        /// How many groups, where they are found.
        clusters: ClusterCount,
        /// How strong shifts along the anchors are expected to be.
        gamma: f64,
        /// A penalty on the coefficients.
        penalty: f64,
    },
    /// A random forest.
    Forest(ForestSettings),
    /// What held-out rows say is best, or an average of several.
    Auto(AutoConfig),
}

/// A choice among models by rows held out in turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutoConfig {
    /// The parts that are held out in turn.
    pub folds: usize,
    /// Which rows may not be on both sides.
    pub split: Split,
    /// Choose for shifts between groups that are larger than those in the table.
    pub larger_shifts: bool,
}

/// A network and its training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkConfig {
    /// Units of every hidden layer.
    pub hidden: Vec<usize>,
    /// What they do.
    pub activation: Activation,
    /// How it is trained.
    pub training: Training,
    /// Augmentation inside the loop.
    pub augment: Option<InLoopAugmentConfig>,
    /// Rows that the best epoch is chosen by.
    pub valid: Validation,
    /// Which of them may not be learnt from.
    #[serde(default)]
    pub split: Split,
    /// What the choice of validation rows depends on, if not on the seed of all else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_seed: Option<u64>,
}

/// Augmentation inside the loop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InLoopAugmentConfig {
    /// The method.
    pub method: MethodConfig,
    /// After which hidden layer; 0 is the input.
    pub layer: usize,
    /// Whether rows stay in the batch beside their synthetic ones.
    pub originals: bool,
    /// What groups and partners are found in.
    pub fitted_on: FittedOn,
}

/// Rows that the best epoch is chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Validation {
    /// None: the last epoch it is.
    None,
    /// A share of the rows.
    Share(f64),
    /// Rows of a table of their own.
    Given,
    /// Each of so many parts of the rows in turn: a committee, whose members are averaged.
    Folds(usize),
}
