//! `cargo xtask outputs`: hashes of outputs of the command and the Python package on fixed inputs.
//!
//! A refactoring leaves `xtask/outputs.txt` unchanged.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{Context, Result, bail};

use crate::bench::{cargo, run_command, target_folder};
use crate::python::install;

const SCRIPT: &str = "xtask/outputs.py";
const EXPECTED: &str = "xtask/outputs.txt";

/// Computes every hash and compares it with the expected one; `accept` writes the expected hashes.
pub(crate) fn run(accept: bool) -> Result<()> {
    run_command(cargo().args(["build", "--release", "--locked", "--package", "windlass-cli"]))?;
    let installed = install(false)?;
    let windlass = format!("windlass{}", std::env::consts::EXE_SUFFIX);
    let mut script = installed.command();
    script.arg(SCRIPT).arg("--windlass").arg(target_folder()?.join("release").join(windlass));
    let found = run_command(&mut script)?;
    if accept {
        fs::write(EXPECTED, &found).with_context(|| format!("cannot write {EXPECTED}"))?;
        eprintln!("wrote {EXPECTED}");
        return Ok(());
    }
    let expected =
        fs::read_to_string(EXPECTED).with_context(|| format!("cannot read {EXPECTED}"))?;
    let (expected, found) = (by_name(&expected), by_name(&found));
    let names = expected.keys().chain(found.keys().filter(|name| !expected.contains_key(*name)));
    let differing: Vec<&str> =
        names.copied().filter(|name| expected.get(name) != found.get(name)).collect();
    if differing.is_empty() {
        eprintln!("all {} outputs are as expected", found.len());
        return Ok(());
    }
    bail!("these outputs differ from {EXPECTED}: {}", differing.join(", "))
}

/// The hash of every output by its name.
fn by_name(text: &str) -> BTreeMap<&str, &str> {
    text.lines().filter_map(|line| line.split_once("  ")).map(|(hash, name)| (name, hash)).collect()
}
