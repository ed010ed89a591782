//! Dense networks for regression, trained with augmentation inside the loop.
//!
//! The paper's recommended use of Anchor Data Augmentation is per minibatch, on the input or on a hidden
//! layer. [`RunSpec`] says what to train on what; [`RunSpec::run`] does it, [`run_all`] does many side by
//! side, and a [`Trainer`] goes an epoch at a time and can be saved and resumed.
//!
//! | To | see |
//! | :-- | :-- |
//! | describe a network, or use one | [`Shape`], [`Network`] |
//! | say how it is trained | [`Training`], [`Optimizer`], [`Loss`] |
//! | augment inside the loop | [`Augment`] |
//! | train, one or many | [`RunSpec`], [`run_all`], [`Trainer`] |
//! | train a network of another kind | [`Architecture`], [`Learner`] |
//!
//! # Promises
//!
//! * **Same seed, same bits**, whatever the number of threads, and on every machine: no sum is reordered to
//!   suit one, and functions come from `libm`.
//! * **A run that was stopped and resumed** ends with the same weights.
//! * **A run that diverges** ends with its last good weights and says so.

mod backprop;
mod checkpoint;
mod error;
mod gemm;
mod learner;
mod loss;
mod network;
mod optimizer;
mod run;
mod trainer;

pub use error::{Error, Result};
pub use learner::{Architecture, HiddenMix, Learner, Rows, Step};
pub use loss::Loss;
pub use network::{Activation, Network, Parameters, Shape};
pub use optimizer::Optimizer;
pub use run::{
    Augment, Epoch, Examples, FittedOn, Order, Outcome, RunResult, RunSpec, Schedule, Training,
    Watch, run_all,
};
pub use trainer::Trainer;
