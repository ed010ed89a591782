//! `cargo xtask bench tables`: the command compared with Polars and pandas, interleaved in one run.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::bench::{made_on, measure_command, target_folder, virtual_environment};

const RESULTS: &str = "docs/results/bench-tables.md";
const BENCHES: &str = "crates/windlass-cli/benches";

pub(crate) fn run() -> Result<()> {
    let target = target_folder()?;
    let python = virtual_environment(&target.join("bench-tables-venv"), BENCHES)?;
    let script = Path::new(BENCHES).join("tables.py");
    let measured = measure_command(Command::new(python), &script, "bench-tables")?;
    fs::write(RESULTS, page(&measured)?).with_context(|| format!("cannot write {RESULTS}"))?;
    eprintln!("wrote {RESULTS}");
    Ok(())
}

/// The median of a field over the runs of one variant of a benchmark.
fn median(measured: &Value, work: &str, side: &str, field: &str) -> Result<f64> {
    let runs = measured["works"][work][side].as_array();
    let runs = runs.with_context(|| format!("{work} was not measured for {side}"))?;
    let mut values: Vec<f64> = runs.iter().filter_map(|run| run[field].as_f64()).collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len().checked_sub(1).context("no runs")? / 2;
    Ok(values[middle])
}

fn page(measured: &Value) -> Result<String> {
    let mut page = String::new();
    let version = |name: &str| measured["versions"][name].as_str().unwrap_or("?").to_owned();
    let libraries =
        ["python", "polars", "pandas", "numpy"].map(|name| format!("{name} {}", version(name)));
    let made_on = made_on(&libraries.each_ref().map(String::as_str))?;
    writeln!(
        page,
        "# Tables: the command compared with its peers

Made by `cargo xtask bench tables`; the tables, the seed (7) and the peers\u{2019} scripts are in
`{BENCHES}/tables.py`. {made_on}.

Every run is a process of its own; the sides of a work take turns, and the table shows medians. CPU time is
that of the program (user) and of the system for it; where gigabytes are written, the latter is large, and
differs between runs of the same program by a factor of two and more. Peak memory is what the process had
resident.

| work | side | CPU | of it user | wall | peak memory | output |
| :-- | :-- | --: | --: | --: | --: | --: |",
    )?;
    for (work, title, sides) in [
        (
            "parquet_groups",
            "Parquet 5e6\u{d7}17, group column, 4 copies \u{2192} Parquet",
            &["ours", "polars"][..],
        ),
        ("parquet_kmeans", "the same, k-means (q = 10) fitted", &["ours"]),
        ("csv", "CSV 1e6\u{d7}17, 4 copies \u{2192} CSV", &["ours", "polars", "pandas"]),
        ("memory_1e6", "--memory 512MiB, 1e6 rows", &["ours"]),
        ("memory_5e6", "--memory 512MiB, 5e6 rows", &["ours"]),
        ("memory_2e7", "--memory 512MiB, 2e7 rows", &["ours"]),
        ("small", "`augment examples/auto_mpg.csv`", &["ours"]),
    ] {
        for side in sides {
            let field = |field| median(measured, work, side, field);
            writeln!(
                page,
                "| {title} | {side} | {:.2} s | {:.2} s | {:.2} s | {:.0} MiB | {:.1} MiB |",
                field("cpu")?,
                field("user")?,
                field("wall")?,
                field("rss_mib")?,
                field("out_bytes")? / 1_048_576.0,
            )?;
        }
    }
    let cpu = |work, side| median(measured, work, side, "cpu");
    let wall = |work, side| median(measured, work, side, "wall");
    let user = |work, side| median(measured, work, side, "user");
    writeln!(
        page,
        "
| figure | reach | measured |
| :-- | :-- | :-- |
| Parquet, CPU time of ours over Polars\u{2019} | \u{2264} 0.67 | {:.2} (user time alone {:.2}) |
| Parquet, peak memory | < 1 GiB | {:.0} MiB |
| k-means fitted, CPU time over the group column\u{2019}s | < 1.5 | {:.2} |
| CSV, wall time of pandas over ours | \u{2265} 10 | {:.1} (CPU {:.1}) |
| CSV, wall time of Polars over ours | \u{2265} 1 | {:.2} (CPU {:.2}) |
| memory at 1e6, 5e6, 2e7 rows | flat | {:.0}, {:.0}, {:.0} MiB |
| the example, wall time | < 0.1 s | {:.3} s |",
        cpu("parquet_groups", "ours")? / cpu("parquet_groups", "polars")?,
        user("parquet_groups", "ours")? / user("parquet_groups", "polars")?,
        median(measured, "parquet_groups", "ours", "rss_mib")?,
        cpu("parquet_kmeans", "ours")? / cpu("parquet_groups", "ours")?,
        wall("csv", "pandas")? / wall("csv", "ours")?,
        cpu("csv", "pandas")? / cpu("csv", "ours")?,
        wall("csv", "polars")? / wall("csv", "ours")?,
        cpu("csv", "polars")? / cpu("csv", "ours")?,
        median(measured, "memory_1e6", "ours", "rss_mib")?,
        median(measured, "memory_5e6", "ours", "rss_mib")?,
        median(measured, "memory_2e7", "ours", "rss_mib")?,
        wall("small", "ours")?,
    )?;
    Ok(page)
}
