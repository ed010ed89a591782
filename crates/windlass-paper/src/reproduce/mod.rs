//! The experiments of the paper, one small file each, run by the same code as any comparison.
//!
//! A file says which rows, which splits, which networks and methods with which settings, what the paper
//! printed, and which pictures to draw; [`Reproduction`] runs its parts and writes a page.

mod arrays;
mod file;
mod page;
mod parts;
mod pictures;
mod run;
mod source;

pub use file::{Experiment, Metric, Part};
pub use parts::PartConfig;
pub use run::{Finished, Kept, Reproduction, Scope};

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

/// Refuses a folder in which the list of experiments would take the place of a page of someone else.
pub fn check_index(output: &Path) -> Result<()> {
    page::check(&output.join("README.md"))
}

/// Whether a folder has a list of experiments that we wrote.
#[must_use]
pub fn has_index(output: &Path) -> bool {
    output.join("README.md").exists() && check_index(output).is_ok()
}

/// Writes the list of all experiments, with links to their pages.
pub fn write_index(output: &Path) -> Result<PathBuf> {
    let experiments: Vec<Experiment> = names().into_iter().map(named).collect::<Result<_>>()?;
    check_index(output)?;
    let place = output.join("README.md");
    write_atomic(&place, page::index(&experiments, output).as_bytes())?;
    Ok(place)
}

/// The experiment of that name.
pub fn named(name: &str) -> Result<Experiment> {
    let found = FILES.iter().find(|(known, _)| *known == name);
    let (name, text) = found.ok_or_else(|| Error::NoSuchExperiment { name: name.to_owned() })?;
    Experiment::parse(name, text)
}
