//! The manifest of an output.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::config::AugmentConfig;

/// The settings and input of an output: enough to generate it again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of Windlass.
    pub version: String,
    /// The fingerprint of the input.
    pub fingerprint: String,
    /// Number of rows of the input.
    pub rows: u64,
    /// The configuration.
    pub settings: AugmentConfig,
    /// A hash of the fitted method, if it was fitted on another table.
    #[serde(default)]
    pub fitted: Option<String>,
    /// The number of decimals that synthetic values of a column are rounded to.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub decimals: BTreeMap<String, u8>,
}

impl Manifest {
    /// The key in the metadata of a file.
    pub const KEY: &'static str = "windlass";

    /// JSON for the metadata of a file or for a separate file.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a manifest is JSON")
    }
}
