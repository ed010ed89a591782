//! Does augmentation help on this table? Comparisons, searches and reports.
//!
//! A [`CompareConfig`] says who takes part and which rows are held out; a [`Comparison`] runs every candidate on
//! the same rows with the same initial weights, steps and budget of settings; [`Summary`] says what the
//! differences amount to.

mod candidate;
mod compare;
mod config;
pub mod describe;
mod error;
mod report;
mod results;
mod run_dir;
pub mod statistics;
mod summary;
mod tune;

pub use candidate::{Candidate, CandidateSpec, Distances, MethodName, ModelName};
pub use compare::{Comparison, Each, Spread, Watch, trial_seed};
pub use config::{Common, CompareConfig, Fold, Given, Rule};
pub use error::{Error, Result};
pub use results::{GroupError, Key, Record, Results, Run, SettingsTrial};
pub use run_dir::{Plan, RunDir, other, read};
pub use summary::{Finding, Line, Summary, in_percent};
pub use tune::{SearchKey, SearchWatch, Trial, TuneConfig, TuneResult};
