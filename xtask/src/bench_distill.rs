//! `cargo xtask bench distill`: students of distillation compared with their teachers and with tuned networks, on
//! samples of nine tables.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::bench::{
    data_folder, made_on, run_command, target_folder, virtual_environment, windlass_command,
};

const BENCHES: &str = "crates/windlass-model/benches";
const RESULTS: &str = "docs/results/distill.md";
const SPLITS: usize = 10;

/// Measures what is not measured yet, and writes the page; with 0 splits it only writes the page. Results are kept in
/// the target folder, so that a run can be interrupted; remove them to measure a new version.
pub(crate) fn run(splits: Option<usize>) -> Result<()> {
    let data = data_folder().context("the tables are absent: set WINDLASS_DATA to their folder")?;
    let target = target_folder()?;
    let python = virtual_environment(&target.join("models-venv"), BENCHES)?;
    let script = Path::new(BENCHES).join("distill.py");
    let results = target.join("bench-distill.jsonl");
    let splits = splits.unwrap_or(SPLITS);
    if splits > 0 {
        let mut run = Command::new(&python);
        run.arg(&script).arg("run").arg("--results").arg(&results);
        run.arg("--binary").arg(windlass_command()?).arg("--data").arg(data);
        run.arg("--teachers")
            .arg(target.join("bench-distill"))
            .arg("--splits")
            .arg(splits.to_string());
        ensure!(run.status()?.success(), "the measurement failed");
    }
    let made_on = made_on(&[])?;
    let mut page = Command::new(&python);
    page.arg(&script).arg("page").arg("--results").arg(&results).arg("--made-on").arg(made_on);
    fs::write(RESULTS, run_command(&mut page)?)
        .with_context(|| format!("cannot write {RESULTS}"))?;
    eprintln!("wrote {RESULTS}");
    Ok(())
}
