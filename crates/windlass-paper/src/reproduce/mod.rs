//! The experiments of the paper, one TOML file each, run by [`windlass_compare`].
//!
//! A file specifies data sets, splits, networks, methods with their settings, the published numbers and the
//! pictures to draw; [`Reproduction`] runs its parts and writes a Markdown page.

mod arrays;
mod dataset;
mod lower;
mod markdown;
mod pictures;
mod run;
mod spec;
mod stored;

pub use lower::PartConfig;
pub use run::{Reproduction, Scope};
pub use spec::{Experiment, ExperimentPart, ReportedMetric};
pub use stored::{FinishedPart, StoredPart};

use std::path::{Path, PathBuf};

use windlass_table::write_atomic;

use crate::{Error, Result};

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../experiments/", $name, ".toml")))),*]
    };
}

/// Every experiment, in the order of the paper.
static FILES: &[(&str, &str)] = files![
    "figure1",
    "cosine-groups",
    "cosine-range",
    "cosine-copies",
    "linear",
    "housing",
    "uci",
    "airfoil",
    "no2",
    "crime",
    "skillcraft",
    "foma",
    "cems",
    "sensitivity",
    "exchange_rate",
    "electricity",
    "rcf-mnist",
    "dti",
];

/// The names of all experiments.
#[must_use]
pub fn names() -> Vec<&'static str> {
    FILES.iter().map(|(name, _)| *name).collect()
}

/// Returns an error for an existing README.md that windlass-paper did not write.
pub fn check_index(output: &Path) -> Result<()> {
    markdown::check_overwrite(&output.join("README.md"))
}

/// Whether the directory has an index that we wrote.
#[must_use]
pub fn has_index(output: &Path) -> bool {
    output.join("README.md").exists() && check_index(output).is_ok()
}

/// Writes the index of all experiments, with links to their pages.
pub fn write_index(output: &Path) -> Result<PathBuf> {
    let experiments: Vec<Experiment> = names().into_iter().map(named).collect::<Result<_>>()?;
    check_index(output)?;
    let place = output.join("README.md");
    write_atomic(&place, markdown::index(&experiments, output).as_bytes())?;
    Ok(place)
}

/// The experiment of that name.
pub fn named(name: &str) -> Result<Experiment> {
    let found = FILES.iter().find(|(known, _)| *known == name);
    let (name, text) =
        found.ok_or_else(|| Error::NoSuchExperiment { name: name.to_owned(), known: names() })?;
    Experiment::parse(name, text)
}
