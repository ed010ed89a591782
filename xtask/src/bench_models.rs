//! `cargo xtask bench models`: `--auto` compared with its members and other packages, on samples of nine tables.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::bench::{
    data_folder, made_on, run_command, target_folder, virtual_environment, windlass_command,
};

const BENCHES: &str = "crates/windlass-model/benches";
const RESULTS: &str = "docs/results/models.md";
const SPLITS: usize = 10;

/// Runs the missing measurements, and writes the page; with 0 splits it only writes the page. Results are stored in the
/// target folder, so that a run can be interrupted; delete them to measure a new version. `earlier` is the command of
/// 0.1.0, to compare with.
pub(crate) fn run(splits: Option<usize>, earlier: Option<&str>) -> Result<()> {
    let data = data_folder().context("the tables are absent: set WINDLASS_DATA to their folder")?;
    let target = target_folder()?;
    let python = virtual_environment(&target.join("models-venv"), BENCHES)?;
    let script = Path::new(BENCHES).join("models.py");
    let results = target.join("bench-models.jsonl");
    let splits = splits.unwrap_or(SPLITS);
    if splits > 0 {
        let mut run = Command::new(&python);
        run.arg(&script).arg("run").arg("--results").arg(&results);
        run.arg("--binary").arg(windlass_command()?).arg("--data").arg(data);
        run.arg("--splits").arg(splits.to_string());
        run.args(earlier.iter().flat_map(|earlier| ["--earlier", earlier]));
        ensure!(run.status()?.success(), "the measurement failed");
    }
    let tables =
        run_command(Command::new(&python).arg(&script).arg("page").arg("--results").arg(&results))?;
    let mut page = String::new();
    let made_on = made_on(&[])?;
    writeln!(
        page,
        "# Models on small tables

Made by `cargo xtask bench models`; the script, with its seeds, is `{BENCHES}/models.py`. {made_on}.
Nine public tables; 50, 100, 200 and 400 random training rows, other rows (at most 1,500) are tested; a table with fewer
than 1.5 times the rows has no cell at that size. Models of other packages have their defaults (200 trees for forests),
after mean imputation; the Gaussian process of scikit-learn has a Matérn-5/2 kernel with a length for each column and
noise, standardized columns, and one restart. AutoGluon has its default preset, models of trees and neighbors but no
networks, and 60 seconds, which it did not need. CPU seconds are medians of the time to train.

{tables}",
    )?;
    fs::write(RESULTS, page.trim_end().to_owned() + "\n")
        .with_context(|| format!("cannot write {RESULTS}"))?;
    eprintln!("wrote {RESULTS}");
    Ok(())
}
