//! `cargo xtask bench cluster`: Spark and Ray with our core, beside plain expressions of Spark and the command.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::bench::{measure_command, processor, run_command};
use crate::python::install;

const SCRIPT: &str = "python/benches/cluster.py";
const RESULTS: &str = "docs/results/bench-cluster.md";

pub(crate) fn run() -> Result<()> {
    let python = install(false, true)?.on_clusters()?.command();
    let measured = measure_command(python, Path::new(SCRIPT), "bench-cluster")?;
    fs::write(RESULTS, page(&measured)?).with_context(|| format!("cannot write {RESULTS}"))?;
    eprintln!("wrote {RESULTS}");
    Ok(())
}

/// CPU seconds of the processes in which rows are worked on.
fn working(kinds: &Value) -> f64 {
    let used = |(name, kind): (&String, &Value)| {
        let counts = name.starts_with("executor") || name == "worker" || name == "command";
        kind["cpu"].as_f64().or(kind.as_f64()).filter(|_| counts)
    };
    kinds.as_object().into_iter().flatten().filter_map(used).sum()
}

fn page(measured: &Value) -> Result<String> {
    let mut page = String::new();
    let version = |name: &str| measured["versions"][name].as_str().unwrap_or("?").to_owned();
    let rustc = run_command(Command::new("rustc").arg("--version"))?;
    writeln!(
        page,
        "# Clusters: Spark and Ray with our core

Made by `cargo xtask bench cluster`; the table (17 floats, a group of 10, a key; seed 7) and all sides are in `{SCRIPT}`.
windlass {}, {}, PySpark {}, Ray {}, {} threads{}.

The work: group means of 17 columns, and 4 copies beside the originals, with provenance, from Parquet to Parquet. *plain* is
the same in expressions of Spark: means joined by broadcast, a cross join with the copies. Spark is `local-cluster[2,1,1024]`:
two executors of one core, in processes of their own. CPU time and peak memory are read from /proc while the processes live;
one run of each, so differences of a tenth say nothing.

| rows | side | wall | process | CPU | largest peak memory |
| --: | :-- | --: | :-- | --: | --: |",
        env!("CARGO_PKG_VERSION"),
        rustc.trim(),
        version("pyspark"),
        version("ray"),
        std::thread::available_parallelism()?,
        processor().map_or_else(String::new, |name| format!(", {name}")),
    )?;
    let works = measured["works"].as_object().context("nothing was measured")?;
    for (rows, sides) in works {
        for (side, result) in sides.as_object().into_iter().flatten() {
            let wall = result["wall"].as_f64().unwrap_or(f64::NAN);
            for (name, kind) in result["kinds"].as_object().into_iter().flatten() {
                let number = |field: &str| kind[field].as_f64().unwrap_or(f64::NAN);
                let (cpu, memory) = (number("cpu"), number("rss_mib"));
                writeln!(
                    page,
                    "| {rows} | {side} | {wall:.1} s | {name} | {cpu:.1} s | {memory:.0} MiB |"
                )?;
            }
        }
    }
    let (few, most) = (works.iter().next(), works.iter().next_back());
    let ((_, few), (rows, most)) = few.zip(most).context("nothing was measured")?;
    let executors =
        |side: &Value, kind: &str| side["kinds"][kind]["rss_mib"].as_f64().unwrap_or(f64::NAN);
    writeln!(
        page,
        "
| figure | reach | measured |
| :-- | :-- | :-- |
| executor CPU, ours over plain, {rows} rows | < 1 | {:.2} |
| peak memory of an executor\u{2019}s Python, first and last number of rows | flat | {:.0}, {:.0} MiB |
| peak memory of an executor\u{2019}s Java | flat | {:.0}, {:.0} MiB |",
        working(&most["spark"]["kinds"]) / working(&most["plain"]["kinds"]),
        executors(&few["spark"], "executor, Python"),
        executors(&most["spark"], "executor, Python"),
        executors(&few["spark"], "executor, Java"),
        executors(&most["spark"], "executor, Java"),
    )?;
    on_paper(&mut page, rows.parse()?, &most["spark"]["marks"])?;
    Ok(page)
}

/// A billion rows of a hundred columns, from what a row and column took.
fn on_paper(page: &mut String, rows: f64, marks: &Value) -> Result<()> {
    const COLUMNS: f64 = 19.0;
    const ROWS: f64 = 1e9;
    const WIDTH: f64 = 100.0;
    const EXECUTORS: f64 = 50.0;
    let between = |from: &str, to: &str| working(&marks[to]) - working(&marks[from]);
    let (fit, make) = (between("begun", "fitted"), between("fitted", "made"));
    let scale = ROWS * WIDTH / (rows * COLUMNS) / EXECUTORS / 60.0;
    let input = ROWS * WIDTH * 8.0 / 1e12;
    writeln!(
        page,
        "
## On paper: 1e9\u{d7}100 rows on 50 executors of one core

From the CPU of Spark\u{2019}s executors above, {:.0} ns to fit and {:.0} ns to make five rows, for each row and column, if cores and
disks keep up:

| pass | read by all executors | sent to the driver | sent to every executor | minutes |
| :-- | --: | --: | --: | --: |
| look and means (and a sample, with k-means) | {:.1} TB, two or three times | a few kB a partition; the sample of k-means 26 MB from each of 32 merged parts | some kB | {:.0} |
| make, 4 copies | {:.1} TB, and {:.1} TB written | nothing | groups \u{d7} 100 \u{d7} 16 bytes | {:.0} |

No row crosses the network but to storage. Parquet\u{2019}s compression, not counted here, makes both less.",
        fit / (rows * COLUMNS) * 1e9,
        make / (rows * COLUMNS) * 1e9,
        input,
        fit * scale,
        input,
        input * 5.0,
        make * scale,
    )?;
    Ok(())
}
