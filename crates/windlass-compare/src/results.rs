//! What came of every run, as it is kept.

use serde::{Deserialize, Serialize};
use windlass_model::{Kind, Metrics};

use crate::CompareConfig;
use crate::candidate::Candidate;

/// Settings that were tried inside a training part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettingsTrial {
    /// The settings.
    pub kind: Kind,
    /// The error (RMSE) on the validation rows of the training part; none where nothing was to be chosen.
    pub valid: Option<f64>,
}

/// An error on some of the held-out rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupError {
    /// The group.
    pub name: String,
    /// The error.
    #[serde(flatten)]
    pub metrics: Metrics,
}

/// Which run it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// Training rows; `None` is all of the part.
    pub size: Option<usize>,
    /// The repeat, from 0.
    pub repeat: usize,
    /// The fold, from 0.
    pub fold: usize,
    /// Who ran.
    #[serde(flatten)]
    pub candidate: Candidate,
}

/// One run: a candidate on the rows of a split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Which run it is.
    #[serde(flatten)]
    pub key: Key,
    /// The seed of its random numbers.
    pub seed: u64,
    /// Rows that it learnt from, validation rows among them.
    pub train_rows: usize,
    /// What was tried; nothing where settings are declared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<SettingsTrial>,
    /// The trial that was chosen.
    pub chosen: usize,
    /// Errors on the held-out rows.
    pub metrics: Metrics,
    /// Errors on each domain among them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub domains: Vec<GroupError>,
    /// Whether a training diverged; its last good weights count.
    pub diverged: bool,
    /// What was predicted for the held-out rows, target by target: of the first repeat with most rows, or of
    /// every run where all have the same test rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub predicted: Vec<f64>,
    /// The squared errors of the held-out rows, summed over [blocks](crate::statistics::blocks_in_order) of them,
    /// where all runs have the same ones in the same order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<f64>,
    /// How long it took.
    pub seconds: f64,
}

/// Everything that was done, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record<P, R> {
    /// The version that made it.
    pub version: String,
    /// The command.
    pub command: String,
    /// How it was made.
    pub protocol: P,
    /// The fingerprint of the table, and of the table of test rows.
    pub tables: Vec<String>,
    /// Rows of the table.
    pub rows: usize,
    /// What came of it, in an order that does not depend on which ended first.
    pub runs: Vec<R>,
}

/// All runs of a comparison, in the order of sizes, repeats, folds and candidates.
pub type Results = Record<CompareConfig, Run>;
