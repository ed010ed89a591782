//! Dense networks for regression, trained with augmentation inside the loop.
//!
//! The paper's recommended use of Anchor Data Augmentation is per minibatch, on the input or on a hidden
//! layer. A [`RunSpec`] holds everything that decides a run; [`RunSpec::run`] executes it, [`run_all`] executes
//! many in parallel, and a [`Trainer`] advances an epoch at a time and can be saved and resumed.
//!
//! | Task | API |
//! | :-- | :-- |
//! | describe a network, or use one | [`Shape`], [`Network`] |
//! | configure training | [`TrainConfig`], [`Optimizer`], [`Loss`] |
//! | augment inside the loop | [`Augment`] |
//! | train, one or many | [`RunSpec`], [`run_all`], [`Trainer`] |
//! | train a network of another kind | [`Architecture`], [`Learner`] |
//!
//! # Guarantees
//!
//! * **Reproducible**: the same seed gives the same bits for any number of threads and on every machine: sums have one
//!   order, and functions come from `libm`.
//! * **A run that was stopped and resumed** ends with the same weights.
//! * **A run that diverges** ends with its last good weights and [`Outcome::Diverged`].

mod backprop;
mod checkpoint;
mod checksum;
mod config;
mod error;
mod gemm;
mod learner;
mod loss;
mod network;
mod optimizer;
mod run;
mod trainer;

pub use checksum::{with_checksum, without_checksum};
pub use config::{Augment, FittedOn, RunSpec, Schedule, Shuffle, TrainConfig};
pub use error::{Error, Result};
pub use learner::{Architecture, BatchInput, HiddenMix, Learner, Step};
pub use loss::{Loss, mean_squared_error};
pub use network::{Activation, LayerParameters, Network, Shape};
pub use optimizer::Optimizer;
pub use run::{EpochProgress, run_all};
pub use trainer::{Epoch, Outcome, RunResult, Trainer};

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
