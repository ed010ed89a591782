//! Runs of deep networks: configuration, rows, training with checkpoints.
//!
//! They are compared by the same code as networks for tables: a [`Comparison`](windlass_compare::Comparison) whose
//! table has the targets of every row, while the features are in [`Arrays`].

mod arrays;
mod training;

use std::sync::Arc;

use crate::networks::NetworkSpec;
use serde::{Deserialize, Serialize};
use windlass_table::MethodConfig;
use windlass_train::{Augment, FittedOn, TrainConfig};

use crate::Result;

pub(crate) use arrays::{Arrays, DOMAIN};
pub use training::DeepProgress;
pub(crate) use training::{DeepRuns, checkpoint_path};

/// A deep network and its training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeepConfig {
    /// The network.
    pub network: NetworkSpec,
    /// Training settings.
    pub training: TrainConfig,
    /// Augmentation of batches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub augment: Option<DeepAugment>,
    /// The device, if not the CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
}

/// Augmentation of batches of a deep network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeepAugment {
    /// The method.
    pub method: MethodConfig,
    /// The augmented hidden layers; 0 is the input. Of several, one is drawn per step.
    pub layers: Vec<usize>,
    /// The rows in which groups and partners are searched.
    pub fitted_on: FittedOn,
}

impl DeepAugment {
    /// Lowers it for this number of training rows.
    pub(crate) fn augment(&self, rows: usize) -> Augment {
        let method: Arc<dyn windlass::Method> = match &self.method {
            MethodConfig::Ada(ada) => {
                let groups = ada.groups_in(rows as u64, 1);
                Arc::new(ada.method(ada.found(groups), None))
            }
            MethodConfig::Other { method, params } => (method.build)(params),
        };
        let (layers, fitted_on) = (self.layers.clone(), self.fitted_on);
        Augment { method, layers, originals: false, fitted_on }
    }
}

/// Whether this build has deep networks.
#[must_use]
pub(crate) const fn is_built() -> bool {
    cfg!(feature = "deep")
}

/// Returns an error for a device that is not built in. Whether the machine has one is checked when it is opened.
#[cfg(feature = "deep")]
pub(crate) fn check_device(name: &str) -> Result<()> {
    training::device(Some(name)).map(|_| ())
}

/// Returns an error if the weights of a network are not in its file.
#[cfg(feature = "deep")]
pub(crate) fn check_weights(network: &NetworkSpec) -> Result<()> {
    use windlass_train::Architecture as _;

    let bad = |error: windlass_train::Error| crate::Error::BadWeights { why: error.to_string() };
    let deep =
        crate::networks::DeepArchitecture::new(network.clone(), crate::networks::Device::Cpu);
    deep.and_then(|deep| deep.network(windlass::Seed(0))).map(|_| ()).map_err(bad)
}

/// Without deep networks there are no weights to check.
#[cfg(not(feature = "deep"))]
pub(crate) fn check_weights(network: &NetworkSpec) -> Result<()> {
    Err(crate::Error::NotBuilt { name: network.name().to_owned() })
}

/// Without deep networks there is no device at all.
#[cfg(not(feature = "deep"))]
pub(crate) fn check_device(name: &str) -> Result<()> {
    let why = "this build has no deep networks".to_owned();
    Err(crate::Error::BadDevice { name: name.to_owned(), why })
}
