//! `cargo xtask bench python`: the Python package compared with the Rust crate, scikit-learn and PyTorch.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::bench::{Measured, build, made_on, run_command, target_folder, write_airfoil};
use crate::python::install;

const SCRIPT: &str = "python/benches/bench.py";
const RESULTS: &str = "docs/results/bench-python.md";
const ROUNDS: usize = 3;

pub(crate) fn run() -> Result<()> {
    let installed = install(true)?;
    let ours = build("windlass", "side_by_side", &[])?;
    let data = target_folder()?.join("bench-data");
    fs::create_dir_all(&data)?;
    run_command(Command::new(&ours).arg("data").arg(&data))?;
    write_airfoil(&data)?;
    let (kernel, airfoil) = (data.join("kernel.f64"), data.join("airfoil.f64"));
    let mut measured = Measured::default();
    for round in 0..ROUNDS {
        eprintln!("round {} of {ROUNDS}", round + 1);
        for work in ["fit_resample", "draw_batch"] {
            let lines = run_command(Command::new(&ours).arg("run").arg(work).arg(&data))?;
            measured.add("rust", &lines)?;
        }
        let python = |work: &str, rows: Option<&Path>| {
            run_command(installed.command().arg(SCRIPT).arg(work).args(rows))
        };
        measured.add("python", &python("resample", Some(&kernel))?)?;
        measured.add("python", &python("batch", None)?)?;
        measured.add("python", &python("process", None)?)?;
        if airfoil.is_file() {
            measured.add("python", &python("regressor", Some(&airfoil))?)?;
        }
    }
    let versions = run_command(installed.command().arg(SCRIPT).arg("versions"))?;
    let page = page(&measured, &serde_json::from_str(&versions)?)?;
    fs::write(RESULTS, page).with_context(|| format!("cannot write {RESULTS}"))?;
    eprintln!("wrote {RESULTS}");
    Ok(())
}

fn page(measured: &Measured, versions: &Value) -> Result<String> {
    let version = |name: &str| versions[name].as_str().unwrap_or("?").to_owned();
    let libraries =
        ["python", "numpy", "scikit-learn"].map(|name| format!("{name} {}", version(name)));
    let torch = format!("torch {} (eager, CPU)", version("torch"));
    let [python, numpy, scikit_learn] = &libraries;
    let made_on = made_on(&[python, numpy, scikit_learn, &torch])?;
    let mut page = String::new();
    writeln!(
        page,
        "# The Python package compared with the Rust crate, scikit-learn and PyTorch

Made by `cargo xtask bench python`; the script, with its seeds, is `{SCRIPT}`. 
{made_on}.

Every side is a process of its own; sides take turns, {ROUNDS} rounds. A round gives the best of some repeats (a busy
machine disturbs it least); the tables show the median over rounds.",
    )?;
    let rust = |work: &str| measured.median("rust", work, "wall").context("not measured");
    let python = |work: &str| measured.median("python", work, "best").context("not measured");
    writeln!(
        page,
        "\n## Whole data sets: `ADA.fit_resample`, 1e6×16 float64, 4 copies

| groups | Python | Rust, the same calls | ratio | reach |\n| :-- | --: | --: | --: | --: |"
    )?;
    for (work, name, reach) in
        [("fit_resample", "given", "≤ 1.2"), ("fit_resample_kmeans", "found by k-means", "–")]
    {
        let (ours, core) = (python(work)?, rust(work)?);
        let (ours_ms, core_ms, ratio) = (1e3 * ours, 1e3 * core, ours / core);
        writeln!(page, "| {name} | {ours_ms:.0} ms | {core_ms:.0} ms | {ratio:.2} | {reach} |")?;
    }
    let [core, tensors, arrays, dense] =
        [rust("draw_batch")?, python("batch")?, python("batch_numpy")?, python("batch_published")?]
            .map(|seconds| 1e6 * seconds);
    writeln!(
        page,
        "\n## Batches: `ADA.batch`, 64×8 float32

The published method is the dense projection of its equation in PyTorch (one-hot anchors, a pseudo-inverse, an L × L
matrix), with one thread.

| | time of a batch |\n| :-- | --: |
| the core, called from Rust | {core:.2} µs |
| `batch` on numpy arrays | {arrays:.2} µs |
| `batch` on torch tensors | {tensors:.2} µs |
| the published method in PyTorch | {dense:.1} µs |

| figure | reach | measured |\n| :-- | :-- | :-- |
| overhead of `batch` on tensors over the core | < 10 µs | {:.2} µs |
| `batch` on tensors against the published method | ≥ 20 | {:.1} |",
        tensors - core,
        dense / tensors,
    )?;
    if measured.median("python", "regressor", "best").is_some() {
        regressor(&mut page, &python)?;
    }
    let ours = python("process")?;
    let peer = python("process_sklearn_1")?.min(python("process_sklearn_2")?);
    let error = |work: &str| measured.median("python", work, "error").context("not measured");
    writeln!(
        page,
        "\n## Gaussian processes: `Regressor(model=\"gp\")`, 300×10

The same kernel and two starts for both; the better of one and two threads counts for scikit-learn.

| | a whole fit | RMSE of 300 other rows |\n| :-- | --: | --: |
| `Regressor(model=\"gp\")` | {:.0} ms | {:.3} |
| `GaussianProcessRegressor` | {:.0} ms | {:.3} |

| figure | reach | measured |\n| :-- | :-- | :-- |
| against `GaussianProcessRegressor` | ≥ 5 | {:.1} |",
        1e3 * ours,
        error("process")?,
        1e3 * peer,
        error("process_sklearn_1")?,
        peer / ours,
    )?;
    Ok(page)
}

fn regressor(page: &mut String, python: &dyn Fn(&str) -> Result<f64>) -> Result<()> {
    let fastest = |name: &str| -> Result<f64> {
        Ok(python(&format!("{name}_1"))?.min(python(&format!("{name}_2"))?))
    };
    let (ours, with_ada) = (python("regressor")?, python("regressor_ada")?);
    let (mlp, torch) = (fastest("mlp")?, fastest("torch")?);
    writeln!(
        page,
        "\n## Networks: `Regressor` on airfoil

1,000 rows, 5-128-128-1, batches of 16, Adam, 20 epochs (1,260 steps) for everyone, no validation rows. The better of one
and two threads counts for the others; ours has one.

| | a whole fit |\n| :-- | --: |
| `Regressor` | {:.1} ms |
| `Regressor`, ADA after the first hidden layer | {:.1} ms |
| `MLPRegressor` | {:.1} ms |
| PyTorch eager | {:.1} ms |

| figure | reach | measured |\n| :-- | :-- | :-- |
| against `MLPRegressor` | ≥ 3 | {:.1} |
| against PyTorch eager | ≥ 15 | {:.1} |",
        1e3 * ours,
        1e3 * with_ada,
        1e3 * mlp,
        1e3 * torch,
        mlp / ours,
        torch / ours,
    )?;
    Ok(())
}
