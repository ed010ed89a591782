//! The manifest of an output.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

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
    /// The size of the output in bytes, in a separate file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_bytes: Option<u64>,
}

impl Manifest {
    /// The manifest of a table in a file next to it, which has its name: `out.json` or `out.csv.json` of `out.csv`.
    #[must_use]
    pub fn next_to(table: &Path) -> Option<Self> {
        let bytes = fs::metadata(table).ok().filter(fs::Metadata::is_file)?.len();
        let whole = table.with_added_extension("json");
        [table.with_extension("json"), whole].iter().find_map(|path| {
            // Anything large is something else.
            fs::metadata(path).ok().filter(|info| info.is_file() && info.len() < 1 << 20)?;
            let manifest: Self = serde_json::from_str(&fs::read_to_string(path).ok()?).ok()?;
            (manifest.output_bytes == Some(bytes)).then_some(manifest)
        })
    }

    /// The key in the metadata of a file.
    pub const KEY: &'static str = "windlass";

    /// JSON for the metadata of a file or for a separate file.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("a manifest is JSON")
    }
}
