//! Models of tables: preprocessing, networks, linear models, trees and Gaussian processes, in one file.
//!
//! [`Model::train`] fits the model that a [`ModelConfig`] describes; [`Model::predict`] takes rows of any table
//! that has its columns. Preprocessing is part of the model and fitted on its training rows only.
//! [`Model::to_bytes`] is a safetensors file with a [`ModelMetadata`] in its metadata; [`onnx::export`]
//! and [`c_export::export`] are the same for other programs.

mod auto;
pub mod c_export;
mod calendar;
mod config;
mod design_matrix;
mod distill;
mod drift;
mod ensemble;
mod error;
mod fit;
mod gamma_path;
mod gp;
mod groups;
mod importance;
mod interval;
mod memory;
mod metadata;
mod metrics;
mod model;
mod network;
pub mod onnx;
mod options;
mod out_of_fold;
mod predict_table;
mod preprocessing;
mod serialize;
mod split;
mod train;
mod trees;

pub use auto::NetworkRuns;
pub use calendar::{Calendar, CalendarPart};
pub use config::{
    AutoConfig, CrossValidation, DensityWeights, InLoopAugmentConfig, Kind, ModelConfig,
    NetworkConfig, PreAugmentConfig, Validation,
};
pub use design_matrix::NamedTable;
pub use distill::{DistillConfig, Distilled};
pub use drift::{Drift, DriftingColumn};
pub use error::{Error, Result};
pub use fit::Trained;
pub use gamma_path::{GammaPath, GammaPathConfig, PathRow};
pub use gp::{GaussianProcess, GaussianProcessSettings};
pub use interval::{Intervals, PredictionBounds};
pub use memory::check_memory;
pub use metadata::{
    AutoSelection, Distillation, DomainMetrics, EntryError, EstimatorMetadata, FarGroups,
    FoldWeight, Importance, MemberMetadata, ModelMetadata, PortfolioResult,
};
pub use metrics::{ErrorsByTarget, Metrics, RareErrors};
pub use model::{Model, Predictions};
pub use network::Checkpoint;
pub use options::{ActivationName, NetworkOptions, OptimizerName, parse_loss};
pub use out_of_fold::OutOfFold;
pub use predict_table::{PredictedBlock, TablePredictor, UnusualRows};
pub use preprocessing::{
    ColumnNote, FittedScaling, Input, Preprocessing, Scaling, Target, column_notes, row_weights,
};
pub use split::{Fold, Split, groups_of, time_columns};
pub use trees::{BoostingSettings, ForestSettings, TreeArrays, TreeData, TreeEnsemble};

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
