//! `cargo xtask bench`: benchmarks of Windlass and other libraries, on the same data, interleaved in one run.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

const ROUNDS: usize = 3;
const RESULTS: &str = "docs/results/bench-core.md";
const BENCHES: &str = "crates/windlass/benches";

/// The benchmarks in the order of the table, and whether another library has them.
const WORKS: [(&str, bool); 9] = [
    ("ada_kernel", false),
    ("ada_batch", true),
    ("kmeans_8", true),
    ("kmeans_32", true),
    ("kmeans_airfoil", true),
    ("c_mixup", true),
    ("c_mixup_large", false),
    ("growth_ada", false),
    ("growth_kmeans", false),
];

/// Simulates tables, and writes the coverage of intervals and the error rates of verdicts.
pub(crate) fn calibration() -> Result<()> {
    const PAGE: &str = "docs/results/calibration.md";
    let simulated = cargo()
        .args(["test", "--release", "--locked", "--workspace", "--exclude", "windlass-paper"])
        .args(["--test", "calibration", "--", "--ignored", "--nocapture"])
        .status()?;
    ensure!(simulated.success(), "the simulation did not finish");
    eprintln!("wrote {PAGE}");
    Ok(())
}

pub(crate) fn run() -> Result<()> {
    let target = target_folder()?;
    let python = virtual_environment(&target.join("bench-venv"), BENCHES)?;
    let ours = build("windlass", "side_by_side", &[])?;
    let data = target.join("bench-data");
    fs::create_dir_all(&data)?;
    run_command(Command::new(&ours).arg("data").arg(&data))?;
    write_airfoil(&data)?;

    let mut measured = Measured::default();
    for round in 0..ROUNDS {
        for (work, has_peer) in WORKS {
            // Benchmarks that take minutes or have no peer run once.
            let once = work == "c_mixup" || work.starts_with("growth") || work.ends_with("large");
            if once && round > 0 {
                continue;
            }
            eprintln!("round {} of {ROUNDS}: {work}", round + 1);
            if has_peer {
                let script = Path::new(BENCHES).join("peers.py");
                let lines = run_command(Command::new(&python).arg(script).arg(work).arg(&data))?;
                measured.add("peer", &lines)?;
            }
            let lines = run_command(Command::new(&ours).arg("run").arg(work).arg(&data))?;
            measured.add("ours", &lines)?;
        }
    }
    let page = page(&measured, &python)?;
    fs::write(RESULTS, &page).with_context(|| format!("cannot write {RESULTS}"))?;
    eprintln!("wrote {RESULTS}");
    Ok(())
}

/// Runs a command and returns its output.
pub(crate) fn run_command(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {command:?}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?} failed:\n{errors}");
    Ok(String::from_utf8(output.stdout)?)
}

pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    if let Some(folder) = data_folder() {
        cargo.env("WINDLASS_DATA", folder);
    }
    cargo
}

/// The folder of the paper's datasets, for tests and benchmarks: `WINDLASS_DATA`, or a folder next to the repository.
pub(crate) fn data_folder() -> Option<PathBuf> {
    let named = std::env::var_os("WINDLASS_DATA").map(PathBuf::from);
    named.or_else(|| fs::canonicalize("../shared/data").ok())
}

pub(crate) fn target_folder() -> Result<PathBuf> {
    let text = run_command(cargo().args(["metadata", "--format-version", "1", "--no-deps"]))?;
    let metadata: Value = serde_json::from_str(&text)?;
    let folder = metadata["target_directory"].as_str().context("cargo names no target folder")?;
    Ok(PathBuf::from(folder))
}

/// Builds all commands, as the README builds `windlass`, and returns its path.
pub(crate) fn windlass_command() -> Result<PathBuf> {
    run_command(cargo().args(["build", "--release", "--locked", "--workspace"]))?;
    let name = format!("windlass{}", std::env::consts::EXE_SUFFIX);
    Ok(target_folder()?.join("release").join(name))
}

/// Creates the Python environment of the other libraries, once for every list of requirements, and returns its
/// Python.
pub(crate) fn virtual_environment(folder: &Path, benches: &str) -> Result<PathBuf> {
    let requirements = Path::new(benches).join("requirements.txt");
    let wanted = fs::read_to_string(&requirements)?;
    let python = folder.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let marker = folder.join("requirements.txt");
    if fs::read_to_string(&marker).is_ok_and(|installed| installed == wanted) {
        return Ok(python);
    }
    eprintln!("making a virtual environment for the peers");
    let python3 = if cfg!(windows) { "python" } else { "python3" };
    run_command(Command::new(python3).args(["-m", "venv", "--clear"]).arg(folder))?;
    let mut pip = Command::new(&python);
    run_command(pip.args(["-m", "pip", "install", "--quiet", "--requirement"]).arg(requirements))?;
    fs::write(marker, wanted)?;
    Ok(python)
}

/// Builds the command for release, and returns the output of a script that measures it. `python` has the packages of
/// the script; `name` is that of its data and output in the target folder.
pub(crate) fn measure_command(mut python: Command, script: &Path, name: &str) -> Result<Value> {
    let target = target_folder()?;
    run_command(cargo().args(["build", "--release", "--locked", "--package", "windlass-cli"]))?;
    let (data, measured) = (target.join(name), target.join(format!("{name}.json")));
    fs::create_dir_all(&data)?;
    let windlass = format!("windlass{}", std::env::consts::EXE_SUFFIX);
    python.arg(script).arg("--windlass").arg(target.join("release").join(windlass));
    python.arg("--data").arg(&data).arg("--out").arg(&measured);
    let status = python.status().context("cannot start Python")?;
    ensure!(status.success(), "the measurement failed");
    Ok(serde_json::from_str(&fs::read_to_string(&measured)?)?)
}

/// Builds a bench of a package, and returns its path.
pub(crate) fn build(package: &str, bench: &str, features: &[&str]) -> Result<PathBuf> {
    let mut command = cargo();
    command.args(["build", "--release", "--locked", "--package", package]);
    command.arg("--features").arg(features.join(","));
    let text = run_command(command.args(["--bench", bench, "--message-format", "json"]))?;
    let built = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let executable = built
        .filter(|message| message["target"]["name"] == bench)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from));
    executable.with_context(|| format!("cargo built no `{bench}`"))
}

/// Writes the features and targets of airfoil, if the dataset exists.
pub(crate) fn write_airfoil(data: &Path) -> Result<()> {
    let folder = data_folder().unwrap_or_default();
    let Ok(text) = fs::read_to_string(folder.join("airfoil/airfoil_self_noise.dat")) else {
        eprintln!("skipped: data set `airfoil` is absent; set WINDLASS_DATA to its folder");
        return Ok(());
    };
    let values = text.split_whitespace().map(str::parse::<f64>);
    let values = values.collect::<Result<Vec<f64>, _>>().context("airfoil is not all numbers")?;
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    fs::write(data.join("airfoil.f64"), bytes)?;
    Ok(())
}

/// All measurements, by library and benchmark.
#[derive(Default)]
pub(crate) struct Measured(BTreeMap<(&'static str, String), Vec<Value>>);

impl Measured {
    pub(crate) fn add(&mut self, side: &'static str, lines: &str) -> Result<()> {
        for line in lines.lines() {
            let value: Value = serde_json::from_str(line)?;
            let Some(work) = value["work"].as_str() else { bail!("no work in {line}") };
            self.0.entry((side, work.to_owned())).or_default().push(value);
        }
        Ok(())
    }

    /// The median of a field over rounds (and, for k-means, seeds).
    pub(crate) fn median(&self, side: &'static str, work: &str, field: &str) -> Option<f64> {
        let values = self.0.get(&(side, work.to_owned()))?;
        let mut values: Vec<f64> =
            values.iter().filter_map(|value| value[field].as_f64()).collect();
        values.sort_by(f64::total_cmp);
        let middle = values.len().checked_sub(1)? / 2;
        values.get(middle).copied()
    }

    /// All numbers of a list, of the first round.
    pub(crate) fn numbers(&self, side: &'static str, work: &str, field: &str) -> Vec<f64> {
        let first = self.0.get(&(side, work.to_owned())).and_then(|values| values.first());
        let list = first.and_then(|value| value[field].as_array());
        list.into_iter().flatten().filter_map(Value::as_f64).collect()
    }

    /// The mean of a field over rounds and seeds.
    fn mean(&self, side: &'static str, work: &str, field: &str) -> Option<f64> {
        let values = self.0.get(&(side, work.to_owned()))?;
        let values: Vec<f64> = values.iter().filter_map(|value| value[field].as_f64()).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    }
}

fn seconds(seconds: f64) -> String {
    match seconds {
        s if s < 1e-3 => format!("{:.2} µs", s * 1e6),
        s if s < 1.0 => format!("{:.2} ms", s * 1e3),
        s => format!("{s:.2} s"),
    }
}

fn page(measured: &Measured, python: &Path) -> Result<String> {
    let mut page = String::new();
    let versions = run_command(Command::new(python).args([
        "-c",
        "import platform, numpy, sklearn; \
         print(f'Python {platform.python_version()}, numpy {numpy.__version__}, scikit-learn {sklearn.__version__}')",
    ]))?;
    let made_on = made_on(&[versions.trim()])?;
    writeln!(
        page,
        "# Core library compared with its peers

Made by `cargo xtask bench`; seeds are fixed in `{BENCHES}`.
{made_on}.

Ours and the peer take turns in {ROUNDS} rounds. A round gives the best of some repeats; the table shows
the median over rounds, as wall time and, in brackets, CPU time. Ratios are peer over ours: above 1 we
are faster. On a shared machine whole runs differ: ratios of small batches by up to half.

| work | peer | ours | peer's | ratio of wall (CPU) | reach |
| :-- | :-- | --: | --: | --: | --: |",
    )?;
    let kernel = "ADA kernel, 1e6×16 f64, q=10, 4 copies";
    let memcpy = "memcpy of the output";
    row(&mut page, measured, kernel, "ada_kernel", (memcpy, "ours", "memcpy"), "≥ 0.7")?;
    let parallel = "the same, all threads";
    row(&mut page, measured, kernel, "ada_kernel", (parallel, "ours", "memcpy_parallel"), "")?;
    let one = "ADA kernel, one thread";
    row(&mut page, measured, one, "ada_kernel_one_thread", (memcpy, "ours", "memcpy"), "")?;
    for (n, reach) in [(64, "≥ 30"), (256, "≥ 100"), (1024, "≥ 300"), (4096, "≥ 1000")] {
        let work = format!("ada_batch_{n}");
        let name = format!("ADA on a batch, q=10, d=8, n={n}");
        row(&mut page, measured, &name, &work, ("dense numpy formula", "peer", &work), reach)?;
        let tuned = format!("ada_batch_scalar_last_{n}");
        let peer = "the same, √γ − 1 multiplied last";
        row(&mut page, measured, &name, &work, (peer, "peer", &tuned), "")?;
    }
    for (work, name) in [
        ("kmeans_8", "k-means 1e5×16, k=8, one start"),
        ("kmeans_32", "k-means 1e5×16, k=32, one start"),
        ("kmeans_airfoil", "k-means airfoil [x, y], k=8, ten starts"),
    ] {
        row(&mut page, measured, name, work, ("scikit-learn", "peer", work), "≥ 2")?;
    }
    let name = "C-Mixup, n=1e4, preparation and 1e5 draws";
    row(&mut page, measured, name, "c_mixup", ("KDE a row", "peer", "c_mixup"), "≥ 100")?;
    inertias(&mut page, measured)?;
    large(&mut page, measured)?;
    growth(&mut page, measured)?;
    limits(&mut page, measured)?;
    Ok(page)
}

/// The section on bottlenecks.
fn limits(page: &mut String, measured: &Measured) -> Result<()> {
    writeln!(
        page,
        "
## Limits

The kernel reads its rows twice (group sums, then all copies of a block while it is in cache) and writes
each value once. It is bound by memory: with one thread it stays behind `memcpy`, which writes past the
cache where ordinary stores first read what they overwrite; with two threads both wait for memory.

Most of the time of a small batch goes into group sums, which are exact so that results do not depend on
the order of rows: two error-free additions, twelve plain ones, for every value. The share of the sums,
with their allocations:

| n | whole batch | exact sums |
| --: | --: | --: |"
    )?;
    for n in [64, 256, 1024, 4096] {
        let of = |work: &str| measured.median("ours", &format!("{work}_{n}"), "wall");
        if let (Some(whole), Some(sums)) = (of("ada_batch"), of("ada_sums")) {
            let share = 100.0 * sums / whole;
            writeln!(page, "| {n} | {} | {} ({share:.0} %) |", seconds(whole), seconds(sums))?;
        }
    }
    writeln!(
        page,
        "
By that count the additions set the pace, but no hardware counters were read to show it. Plain sums need a
twelfth of them, and would make a batch's bits depend on its order; how much faster they are was not
measured. A ratio below its reach in the table above is not reached.

k-means takes its steps with bounds: what a step costs depends on how far the centers still move, so
steps at different n are alike only on average. Its start sees a sample of fixed size above 32,768 rows."
    )?;
    Ok(())
}

/// One row of the table: ours compared with `(name, side, work)` of another library.
fn row(
    page: &mut String,
    measured: &Measured,
    name: &str,
    work: &str,
    (peer, side, peer_work): (&str, &'static str, &str),
    reach: &str,
) -> Result<()> {
    let of = |side, work, field| measured.median(side, work, field);
    let ours = (of("ours", work, "wall"), of("ours", work, "cpu"));
    let theirs = (of(side, peer_work, "wall"), of(side, peer_work, "cpu"));
    let ((Some(wall), Some(cpu)), (Some(peer_wall), Some(peer_cpu))) = (ours, theirs) else {
        writeln!(
            page,
            "| {name} | {peer} | – | – | not measured: its data set was absent | {reach} |"
        )?;
        return Ok(());
    };
    writeln!(
        page,
        "| {name} | {peer} | {} ({}) | {} ({}) | **{:.2}** ({:.2}) | {reach} |",
        seconds(wall),
        seconds(cpu),
        seconds(peer_wall),
        seconds(peer_cpu),
        peer_wall / wall,
        peer_cpu / cpu,
    )?;
    Ok(())
}

fn inertias(page: &mut String, measured: &Measured) -> Result<()> {
    writeln!(
        page,
        "
k-means, inertia: mean over five seeds, ours over scikit-learn's (below 1 ours is better; reach ≤ 1.01).

| work | ours | scikit-learn | ratio |
| :-- | --: | --: | --: |"
    )?;
    for work in ["kmeans_8", "kmeans_32", "kmeans_airfoil"] {
        let inertia = |side| measured.mean(side, work, "inertia");
        if let (Some(ours), Some(peer)) = (inertia("ours"), inertia("peer")) {
            writeln!(page, "| {work} | {ours:.0} | {peer:.0} | {:.4} |", ours / peer)?;
        }
    }
    Ok(())
}

fn large(page: &mut String, measured: &Measured) -> Result<()> {
    let of = |field| measured.median("ours", "c_mixup_large", field);
    if let (Some(wall), Some(peak)) = (of("wall"), of("peak_mib")) {
        writeln!(
            page,
            "
C-Mixup with n = 1e6, preparation and a partner for every row: {} at a peak of {peak:.0} MiB in the whole
process (the n × n matrix would take 7.3 TiB).",
            seconds(wall)
        )?;
    }
    Ok(())
}

fn growth(page: &mut String, measured: &Measured) -> Result<()> {
    writeln!(
        page,
        "
Growth: time a row on one thread, 16 columns, relative to n = 1e6 (reach: within 20 %). Up to 1e5 rows the
data fit in a cache, and what is bound by memory is faster there: `memcpy` shows how much.

| n | ADA, one copy | memcpy | k-means, a step, k=10 |
| --: | --: | --: | --: |"
    )?;
    for n in [10_000_u32, 100_000, 1_000_000, 10_000_000] {
        let cell = |work: &str| -> Option<String> {
            let a_row = |n: u32| {
                let wall = measured.median("ours", &format!("growth_{work}_{n}"), "wall")?;
                Some(wall / f64::from(n))
            };
            let (here, base) = (a_row(n)?, a_row(1_000_000)?);
            Some(format!("{:.2} ns (×{:.2})", here * 1e9, here / base))
        };
        let cells = ["ada", "memcpy", "kmeans"].map(|work| cell(work).unwrap_or_default());
        writeln!(page, "| {n} | {} |", cells.join(" | "))?;
    }
    Ok(())
}

/// What a page was made with: versions of Windlass, of Rust and of others, the number of threads and the processor.
pub(crate) fn made_on(others: &[&str]) -> Result<String> {
    let rustc = run_command(Command::new("rustc").arg("--version"))?;
    let mut parts =
        vec![format!("windlass {}", env!("CARGO_PKG_VERSION")), rustc.trim().to_owned()];
    parts.extend(others.iter().map(|&other| other.to_owned()));
    parts.push(format!("{} threads", std::thread::available_parallelism()?));
    parts.extend(processor());
    Ok(parts.join(", "))
}

/// The processor's name, if the system reports it.
fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}
