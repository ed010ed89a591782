//! Does augmentation help on this table? Comparisons, searches and reports.
//!
//! A [`Protocol`] says who takes part and which rows are held out; a [`Comparison`] runs every entrant on
//! the same rows with the same initial weights, steps and budget of settings; [`Summary`] says what the
//! differences amount to.

mod compare;
mod entrant;
mod error;
mod folder;
mod protocol;
mod report;
mod results;
pub mod statistics;
mod summary;
mod tune;
pub mod words;

pub use compare::{Comparison, Each, Rows, Spread, Watch, trial_seed};
pub use entrant::{Declared, Distances, Entrant, MethodName, ModelName};
pub use error::{Error, Result};
pub use folder::{Folder, Plan, other, read};
pub use protocol::{Common, Given, Protocol, Rule, Sitting};
pub use results::{GroupError, Key, Record, Results, Run, Trial};
pub use summary::{Finding, Line, Summary, in_percent};
pub use tune::{Attempt, Findings, Quest, SearchKey, SearchWatch};
