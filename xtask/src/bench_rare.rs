//! `cargo xtask bench rare`: SMOGN compared with the Python package smogn, and `cargo xtask bench rare errors`: what
//! emphasis of rare targets does to errors.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::bench::{
    data_folder, made_on, run_command, target_folder, virtual_environment, windlass_command,
};

const BENCHES: &str = "crates/windlass-cli/benches/rare";
const RESULTS: &str = "docs/results/rare-targets.md";
const TITLE: &str = "# Rare targets\n";

pub(crate) fn run() -> Result<()> {
    let target = target_folder()?;
    let python = virtual_environment(&target.join("rare-venv"), BENCHES)?;
    let windlass = windlass_command()?;
    let mut script = Command::new(&python);
    script.arg(Path::new(BENCHES).join("rare.py")).arg("--windlass").arg(windlass);
    let table = run_command(script.arg("--data").arg(target.join("bench-rare")))?;
    let versions = run_command(Command::new(&python).args([
        "-c",
        "import importlib.metadata as m, platform; \
         print(f'smogn {m.version(\"smogn\")}, pandas {m.version(\"pandas\")}, Python {platform.python_version()}')",
    ]))?;
    let made_on = made_on(&[versions.trim()])?;
    let section = format!(
        "Made by `cargo xtask bench rare`; the script is `{BENCHES}/rare.py`. {made_on}.

Method `smogn` for high targets of simulated tables with 59 features. windlass reads a CSV file, finds neighbors, and
writes a CSV file (wall time, median of ten runs, five of the largest); smogn gets a DataFrame in memory and returns one
(one run). windlass keeps all rows and makes rare rows as many as the others; smogn's `balance` also drops common rows.
smogn needs a numpy before 2; all versions are pinned in `{BENCHES}/requirements.txt`.

{table}",
    );
    let page = fs::read_to_string(RESULTS).unwrap_or_else(|_| TITLE.to_owned());
    fs::write(RESULTS, with_section(&page, "Speed", &section))
        .with_context(|| format!("cannot write {RESULTS}"))?;
    eprintln!("wrote {RESULTS}");
    Ok(())
}

/// Runs the missing measurements of errors, and writes their section. Results are stored in the target folder; delete
/// them to measure a new version.
pub(crate) fn errors(splits: Option<usize>) -> Result<()> {
    const SPLITS: usize = 5;
    let data = data_folder().context("the tables are absent: set WINDLASS_DATA to their folder")?;
    let target = target_folder()?;
    let python = virtual_environment(&target.join("rare-venv"), BENCHES)?;
    let (windlass, script) = (windlass_command()?, Path::new(BENCHES).join("errors.py"));
    let (results, splits) = (target.join("bench-rare.jsonl"), splits.unwrap_or(SPLITS));
    let mut run = Command::new(&python);
    run.arg(&script).arg("run").arg("--results").arg(&results).arg("--binary").arg(windlass);
    run.arg("--data").arg(data).arg("--splits").arg(splits.to_string());
    ensure!(run.status()?.success(), "the measurement failed");
    let tables =
        run_command(Command::new(&python).arg(&script).arg("page").arg("--results").arg(&results))?;
    let section = format!(
        "Made by `cargo xtask bench rare errors {splits}`; the script, with its seeds, is `{BENCHES}/errors.py`. \
windlass {}.

Public tables with 200 random training rows; the other rows, at most 1,500, are tested. Rare are high targets, by the
box plot of the whole table. Changes are relative to the same model without emphasis, with 95 % intervals over tables;
biases are means over tables in standard deviations of the target. Duplicates are copies of rare rows, as many as the
synthetic rows of the other methods: what synthetic rows gain beyond them is synthesis, the rest is emphasis. Networks
are trained without validation rows.

{tables}",
        env!("CARGO_PKG_VERSION"),
    );
    let page = fs::read_to_string(RESULTS).unwrap_or_else(|_| TITLE.to_owned());
    fs::write(RESULTS, with_section(&page, "Errors", &section))
        .with_context(|| format!("cannot write {RESULTS}"))?;
    eprintln!("wrote {RESULTS}");
    Ok(())
}

/// The page with a section in place of the one of the same name, or at the end.
pub(crate) fn with_section(page: &str, name: &str, text: &str) -> String {
    let section = format!("## {name}\n\n{}\n", text.trim());
    let start = format!("\n## {name}\n");
    match page.split_once(&start) {
        None => format!("{}\n\n{section}", page.trim_end()),
        Some((before, own)) => {
            let after = own.find("\n## ").map_or("", |end| &own[end..]);
            format!("{before}\n{section}{after}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::with_section;

    #[test]
    fn a_section_replaces_the_one_of_its_name() {
        let page = with_section("# Title\n", "B", "old");
        assert_eq!(page, "# Title\n\n## B\n\nold\n");
        let page = with_section(&page, "C", "more");
        let page = with_section(&page, "B", "new\n\nlines\n");
        assert_eq!(page, "# Title\n\n## B\n\nnew\n\nlines\n\n## C\n\nmore\n");
        assert_eq!(with_section(&page, "C", "more"), page);
    }
}
