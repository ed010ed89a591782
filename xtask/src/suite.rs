//! `cargo xtask suite`: the evidence on the paper's tables, written to `docs/results/compare-suite.md`.

use anyhow::{Result, bail};

use crate::bench::{cargo, target_folder};

const PAGE: &str = "docs/results/compare-suite.md";

pub(crate) fn run(repeats: &str) -> Result<()> {
    let kept = target_folder()?.join("suite");
    std::fs::create_dir_all(&kept)?;
    let ran = cargo()
        .args(["run", "--release", "--locked", "-p", "windlass-paper", "--example", "suite", "--"])
        .args([kept.as_os_str(), PAGE.as_ref(), repeats.as_ref()])
        .status()?;
    if !ran.success() {
        bail!("the suite did not finish; called again, it goes on");
    }
    eprintln!("{PAGE}");
    Ok(())
}
