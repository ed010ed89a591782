//! Models of tables: preprocessing, networks and linear models, in one file.
//!
//! A [`Recipe`] says what to make of a table; [`Model::train`] makes it; [`Model::predict`] takes rows of any
//! table that has its columns. What is done to rows before is part of the model, fitted on its training
//! rows only. [`Model::to_bytes`] is a safetensors file with a [`Card`] in its metadata;
//! [`onnx::export`] is the same for other programs.

mod auto;
mod error;
mod file;
mod fit;
mod forest;
mod groups;
mod model;
mod numbers;
pub mod onnx;
mod options;
mod path;
mod preparation;
mod recipe;
mod split;

pub use auto::{Candidate, Choice, FarGroups};
pub use error::{Error, Result};
pub use fit::{Checkpoint, Metrics, Trained};
pub use forest::{Forest, ForestArrays, ForestSettings};
pub use model::{BodyCard, Card, MemberCard, Model, Predicted};
pub use options::{ActivationName, NetworkOptions, OptimizerName, loss};
pub use path::{GammaPath, PathRow};
pub use preparation::{Input, Preparation, Scale, Scaling, Target, Unknown, weights};
pub use recipe::{AugmentRecipe, AutoRecipe, EnlargeRecipe, Kind, NetworkRecipe, Recipe, Valid};
pub use split::{Sides, Split, groups_of};
