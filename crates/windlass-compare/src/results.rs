//! The results of every run, as stored.

use serde::{Deserialize, Serialize};
use windlass_model::{ErrorsByTarget, Kind, Metrics};

use crate::CompareConfig;
use crate::candidate::Candidate;

/// Settings that were tried inside the training rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SettingsTrial {
    /// The settings.
    pub kind: Kind,
    /// Validation RMSE; `None` if there was nothing to choose.
    pub valid: Option<f64>,
}

/// The error on one group of the test rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupError {
    /// The group.
    pub name: String,
    /// The error.
    #[serde(flatten)]
    pub metrics: Metrics,
}

/// Identifies a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key {
    /// Training set size; `None` is all training rows of the fold.
    pub size: Option<usize>,
    /// The repeat, from 0.
    pub repeat: usize,
    /// The fold, from 0.
    pub fold: usize,
    /// The candidate.
    #[serde(flatten)]
    pub candidate: Candidate,
}

/// One run: a candidate trained and tested on one fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// The key of the run.
    #[serde(flatten)]
    pub key: Key,
    /// The seed of its random numbers.
    pub seed: u64,
    /// Training rows, including validation rows.
    pub train_rows: usize,
    /// Settings that were tried; empty if settings are fixed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<SettingsTrial>,
    /// Index of the chosen trial.
    pub chosen: usize,
    /// Errors on the test rows.
    pub metrics: Metrics,
    /// Errors on each domain of the test rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub domains: Vec<GroupError>,
    /// Whether training diverged; the model then has the last finite weights.
    pub diverged: bool,
    /// Predictions for the test rows, row by row: of the first repeat with the largest training size, or of every
    /// run if all have the same test rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub predicted: Vec<f64>,
    /// Squared errors summed over [blocks](crate::statistics::blocks_in_order) of test rows, if all runs have the
    /// same test rows in time order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<f64>,
    /// Squared errors of the test rows, weighted and summed over units of rows
    /// ([`Comparison::units`](crate::Comparison::units)), for intervals: of held-out rows of the table. Runs
    /// of 0.1.0 have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<f64>,
    /// Errors by the size of the target, if there is one target.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_target: Option<ErrorsByTarget>,
    /// As `losses`, of rare test rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rare_losses: Vec<f64>,
    /// Duration.
    pub seconds: f64,
}

/// The results of a comparison (`C` is [`CompareConfig`], `R` is [`Run`]) or of a search
/// ([`TuneConfig`](crate::TuneConfig), [`Trial`](crate::Trial)), with everything that decided them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record<C, R> {
    /// The version of Windlass.
    pub version: String,
    /// The command line.
    pub command: String,
    /// The configuration.
    #[serde(rename = "protocol")]
    pub config: C,
    /// Fingerprints of the table and of the test table.
    pub tables: Vec<String>,
    /// Number of rows of the table.
    pub rows: usize,
    /// The runs, in an order that does not depend on which finished first.
    pub runs: Vec<R>,
}

/// All runs of a comparison, ordered by size, repeat, fold and candidate.
pub type Results = Record<CompareConfig, Run>;
