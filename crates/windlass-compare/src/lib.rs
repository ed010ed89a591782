//! Comparisons of augmentation methods and models, hyperparameter searches and reports.
//!
//! A [`CompareConfig`] names the candidates and the held-out rows. A [`Comparison`] runs every candidate on the
//! same rows with the same initial weights, training steps and number of tried settings. A [`ComparisonSummary`] tests
//! the differences. [`TuneConfig`] searches hyperparameters with nested cross-validation.

mod added_rows;
mod candidate;
mod compare;
mod config;
pub mod describe;
mod error;
mod neighbors;
mod paired;
mod report;
mod results;
mod run_dir;
mod similarity;
mod splits;
pub mod statistics;
mod summary;
mod tune;

pub use added_rows::{AddTo, AddedRows, AddedRowsReport, check_labels};
pub use candidate::{Candidate, CandidateSpec, Distances, MethodName, ModelName};
pub use compare::{Comparison, RunFn, RunProgress, Scheduler, trial_seed};
pub use config::CompareConfig;
pub use error::{Error, Result};
pub use paired::out_of_fold_difference;
pub use report::{model_report, similarity_report};
pub use results::{GroupError, Key, Record, Results, Run, SettingsTrial};
pub use run_dir::{PlanDifference, RunDir, RunPlan, plan_difference, read_json};
pub use similarity::{ColumnSimilarity, ColumnStatistics, CorrelationDifference, Similarity};
pub use splits::{Fold, ProvidedSplits, SplitOverlap, SplitRule};
pub use summary::{CandidateSummary, ComparisonSummary, Finding, NextStep, in_percent, p_value};
pub use tune::{
    SearchKey, Trial, TrialProgress, TrialSettings, TuneConfig, TuneErrors, TuneResult,
};

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
