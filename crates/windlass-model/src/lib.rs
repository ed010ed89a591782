//! Models of tables: preprocessing, networks and linear models, in one file.
//!
//! A [`ModelConfig`] says what to make of a table; [`Model::train`] makes it; [`Model::predict`] takes rows of any
//! table that has its columns. What is done to rows before is part of the model, fitted on its training
//! rows only. [`Model::to_bytes`] is a safetensors file with a [`ModelMetadata`] in its metadata;
//! [`onnx::export`] is the same for other programs.

mod auto;
mod config;
mod design_matrix;
mod error;
mod forest;
mod gamma_path;
mod groups;
mod model;
pub mod onnx;
mod options;
mod preprocessing;
mod serialize;
mod split;
mod train;

pub use auto::{Choice, FarGroups, PortfolioResult};
pub use config::{
    AutoConfig, InLoopAugmentConfig, Kind, ModelConfig, NetworkConfig, PreAugmentConfig, Validation,
};
pub use error::{Error, Result};
pub use forest::{Forest, ForestArrays, ForestSettings};
pub use gamma_path::{GammaPath, PathRow};
pub use model::{EstimatorMetadata, MemberMetadata, Model, ModelMetadata, Predicted};
pub use options::{ActivationName, NetworkOptions, OptimizerName, loss};
pub use preprocessing::{FittedScaling, Input, Preprocessing, Scaling, Target, Unknown, weights};
pub use split::{Fold, Split, groups_of};
pub use train::{Checkpoint, Metrics, Trained};
