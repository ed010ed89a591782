//! `cargo xtask bench cluster`: Spark and Ray with our core, compared with plain Spark expressions and the command.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::bench::{made_on, measure_command};
use crate::python::install;

const SCRIPT: &str = "python/benches/cluster.py";
const RESULTS: &str = "docs/results/bench-cluster.md";
const SIDES: [&str; 6] = ["command", "spark", "spark-written", "plain", "ray", "ray-written"];

pub(crate) fn run() -> Result<()> {
    let python = install(false)?.on_clusters()?.command();
    let measured = measure_command(python, Path::new(SCRIPT), "bench-cluster")?;
    fs::write(RESULTS, page(&measured)?).with_context(|| format!("cannot write {RESULTS}"))?;
    eprintln!("wrote {RESULTS}");
    Ok(())
}

/// CPU seconds of the processes that compute on rows.
fn working(kinds: &Value) -> f64 {
    let used = |(name, kind): (&String, &Value)| {
        let counts = name.starts_with("executor") || name == "worker" || name == "command";
        kind["cpu"].as_f64().or(kind.as_f64()).filter(|_| counts)
    };
    kinds.as_object().into_iter().flatten().filter_map(used).sum()
}

/// CPU seconds of the executors of a run between two marks.
fn between(run: &Value, from: &str, to: &str) -> f64 {
    working(&run["marks"][to]) - working(&run["marks"][from])
}

/// The runs of one variant.
fn runs<'a>(sides: &'a Value, side: &str) -> Result<&'a [Value]> {
    let runs = sides[side].as_array().filter(|runs| !runs.is_empty());
    Ok(runs.with_context(|| format!("{side} was not measured"))?)
}

/// The median.
fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

fn page(measured: &Value) -> Result<String> {
    let mut page = String::new();
    let version = |name: &str| measured["versions"][name].as_str().unwrap_or("?").to_owned();
    let [spark, ray] = [("PySpark", "pyspark"), ("Ray", "ray")]
        .map(|(name, package)| format!("{name} {}", version(package)));
    let made_on = made_on(&[&spark, &ray])?;
    writeln!(
        page,
        "# Clusters: Spark and Ray with our core

Made by `cargo xtask bench cluster`; the table (16 features, a target, a group of 10, a key; seed 7) and all sides are in
`{SCRIPT}`. {made_on}.

The work: group means of 17 columns, and 4 copies in addition to the originals, with provenance, from Parquet to Parquet. *spark* and *ray*
are `augment`, with what the engine has to write Parquet; *-written* are `write_parquet`, in which our core writes it. *plain* is
the same in expressions of Spark: means joined by broadcast, a cross join with the copies. Spark is `local-cluster[2,1,1024]`:
two executors of one core, in processes of their own, on all sides with the settings that [Spark and Ray](../guides/clusters.md#settings)
advises. CPU time and peak memory are read from /proc while the processes live. CPU is all that a process took, with its start; of the
most rows it is the median run. Memory of its own is without what processes share, such as Ray\u{2019}s store of objects.

| rows | side | runs | wall | process | CPU | largest peak memory | of its own |
| --: | :-- | --: | --: | :-- | --: | --: | --: |",
    )?;
    let mut works: Vec<(u64, &Value)> = vec![];
    for (rows, sides) in measured["works"].as_object().context("nothing was measured")? {
        works.push((rows.parse()?, sides));
    }
    works.sort_by_key(|(rows, _)| *rows);
    processes(&mut page, &works)?;
    figures(&mut page, &works).map(|()| page)
}

/// The section on CPU seconds by process.
fn processes(page: &mut String, works: &[(u64, &Value)]) -> Result<()> {
    for (rows, sides) in works {
        for side in SIDES {
            let runs = runs(sides, side)?;
            let wall = median(runs.iter().filter_map(|run| run["wall"].as_f64()));
            for name in runs[0]["kinds"].as_object().into_iter().flat_map(|kinds| kinds.keys()) {
                let number = |field: &str| {
                    median(runs.iter().filter_map(|run| run["kinds"][name][field].as_f64()))
                };
                let (cpu, memory, own) = (number("cpu"), number("rss_mib"), number("own_mib"));
                let own = if own.is_nan() { String::new() } else { format!("{own:.0} MiB") };
                let count = runs.len();
                writeln!(
                    page,
                    "| {rows} | {side} | {count} | {wall:.1} s | {name} | {cpu:.1} s | {memory:.0} MiB | {own} |"
                )?;
            }
        }
    }
    Ok(())
}

/// The section with the main figures.
fn figures(page: &mut String, works: &[(u64, &Value)]) -> Result<()> {
    let ((least, few), (most, many)) =
        works.first().zip(works.last()).context("nothing was measured")?;
    let (ours, plain) = (runs(many, "spark")?, runs(many, "plain")?);
    let written = runs(many, "spark-written")?;
    let over_plain = |ours: &[Value]| {
        let both = ours.iter().zip(plain);
        let ratio =
            |(ours, plain)| between(ours, "begun", "made") / between(plain, "begun", "made");
        let ratios: Vec<f64> = both.map(ratio).collect();
        let each: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.2}")).collect();
        format!("{:.2} ({})", median(ratios.into_iter()), each.join(", "))
    };
    let memory = |side: &str, kind: &str, field: &str| -> Result<String> {
        let of = |sides| -> Result<f64> {
            let of_run = |run: &Value| run["kinds"][kind][field].as_f64();
            Ok(median(runs(sides, side)?.iter().filter_map(of_run)))
        };
        Ok(format!("{:.0}, {:.0} MiB", of(few)?, of(many)?))
    };
    let of_command = |runs: &[Value]| median(runs.iter().map(|run| working(&run["kinds"])));
    let command = of_command(runs(many, "command")?);
    let all_of = |runs: &[Value]| median(runs.iter().map(|run| between(run, "begun", "made")));
    let executors = all_of(ours);
    writeln!(
        page,
        "
| figure | reach | measured |
| :-- | :-- | :-- |
| executor CPU without the start over plain, {most} rows, in turns: `write_parquet` | < 1 | {} |
| \u{2026} `augment`, written by Spark | < 1 | {} |
| peak memory of an executor\u{2019}s Python, {least} and {most} rows: `write_parquet` | flat | {} |
| \u{2026} `augment` | flat | {} |
| peak memory of an executor\u{2019}s Java, whose heap is 1 GiB: `write_parquet` | flat | {} |
| \u{2026} `augment` | flat | {} |
| peak memory of a worker of Ray, of its own: `write_parquet` | flat | {} |
| \u{2026} `augment` | flat | {} |
| CPU of the command over that of Spark\u{2019}s executors with `write_parquet` | | {:.2} |",
        over_plain(written),
        over_plain(ours),
        memory("spark-written", "executor, Python", "rss_mib")?,
        memory("spark", "executor, Python", "rss_mib")?,
        memory("spark-written", "executor, Java", "rss_mib")?,
        memory("spark", "executor, Java", "rss_mib")?,
        memory("ray-written", "worker", "own_mib")?,
        memory("ray", "worker", "own_mib")?,
        command / all_of(written),
    )?;
    let kind = |run: &Value, mark: &str| {
        run["marks"][mark]["executor, Python"].as_f64().unwrap_or(f64::NAN)
    };
    let python = median(ours.iter().map(|run| kind(run, "made") - kind(run, "begun")));
    let fit = median(ours.iter().map(|run| between(run, "begun", "fitted")));
    let make = median(ours.iter().map(|run| between(run, "fitted", "made")));
    writeln!(
        page,
        "
Where Spark writes, our arithmetic, and all else that Python does, is {:.0} % of what the executors take ({python:.1} of
{executors:.1} s); the rest is Java\u{2019}s, which [mostly writes Parquet](../guides/clusters.md#what-it-costs), with our core and with plain
expressions. Of ours, {fit:.1} s are the pass to fit. Who has a table on one machine is served best by the command.",
        100.0 * python / executors,
    )?;
    let make = [all_of(written) - fit, make];
    on_paper(page, *most as f64, fit, make)
}

/// An extrapolation to a billion rows of a hundred columns, from the time per row and column of fitting and of
/// generating, written by the workers or by Spark.
fn on_paper(page: &mut String, rows: f64, fit: f64, [written, made]: [f64; 2]) -> Result<()> {
    const COLUMNS: f64 = 19.0;
    const ROWS: f64 = 1e9;
    const WIDTH: f64 = 100.0;
    const EXECUTORS: f64 = 50.0;
    let nanoseconds = |seconds: f64| seconds / (rows * COLUMNS) * 1e9;
    let minutes = |seconds: f64| nanoseconds(seconds) / 1e9 * ROWS * WIDTH / EXECUTORS / 60.0;
    let input = ROWS * WIDTH * 8.0 / 1e12;
    writeln!(
        page,
        "
## On paper: 1e9\u{d7}100 rows on 50 executors of one core

From the CPU of Spark\u{2019}s executors above, {:.0} ns to fit and {:.0} ns to make and write five rows ({:.0} ns where Spark writes), for
each row and column (with what Java takes to compile itself, which weighs less on larger tables), if cores and disks keep up:

| pass | read by all executors | sent to the driver | sent to every executor | minutes |
| :-- | --: | --: | --: | --: |
| look, with the sums of named groups or the sample of k-means | {input:.1} TB | some kB from each of 7 merged parts; with k-means at most 27 MB | 1 kB | {:.0} |
| means, with k-means only | {input:.1} TB | groups \u{d7} 100 \u{d7} 24 bytes from each of 7 merged parts | groups \u{d7} 100 \u{d7} 8 bytes | {:.0} |
| make, 4 copies | {input:.1} TB, and {:.1} TB written | the names of files | groups \u{d7} 100 \u{d7} 16 bytes | {:.0} (Spark writes: {:.0}) |

With 6,250 partitions of 128 MB, what they found is merged in two steps before it goes to the driver. In the pass with k-means\u{2019}s
sample that is up to 27 MB from each, 0.17 TB in all, between executors. Else no row crosses the network but to storage. Parquet\u{2019}s compression, not counted here, makes both less.",
        nanoseconds(fit),
        nanoseconds(written),
        nanoseconds(made),
        minutes(fit),
        minutes(fit),
        input * 5.0,
        minutes(written),
        minutes(made),
    )?;
    Ok(())
}
