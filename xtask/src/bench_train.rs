//! `cargo xtask bench train`: the training engine compared with PyTorch and burn, interleaved in one run.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::bench::{
    Measured, build, cargo, made_on, run_command, target_folder, virtual_environment, write_airfoil,
};

const RESULTS: &str = "docs/results/bench-train.md";
const BENCHES: &str = "crates/windlass-train/benches";
const ROUNDS: usize = 3;

pub(crate) fn run() -> Result<()> {
    let target = target_folder()?;
    let python = virtual_environment(&target.join("bench-train-venv"), BENCHES)?;
    let ours = build("windlass-train", "training", &[])?;
    let burn = build_burn(&target)?;
    let data = target.join("bench-data");
    fs::create_dir_all(&data)?;
    write_airfoil(&data)?;
    let airfoil = data.join("airfoil.f64");
    let script = Path::new(BENCHES).join("peers.py");
    let mut measured = Measured::default();
    for round in 0..ROUNDS {
        for (work, _) in STEPS {
            eprintln!("round {} of {ROUNDS}: {work}", round + 1);
            measured.add("ours", &run_command(Command::new(&ours).args(["run", work]))?)?;
            for (side, threads) in [("torch1", "1"), ("torch2", "2")] {
                let mut peer = Command::new(&python);
                measured.add(side, &run_command(peer.arg(&script).args([work, threads]))?)?;
            }
            if work == "step_erm" {
                measured.add("burn", &run_command(Command::new(&burn).arg(work))?)?;
            }
        }
        for work in ["independent_runs", "peak"] {
            measured.add("ours", &run_command(Command::new(&ours).args(["run", work]))?)?;
        }
        if airfoil.exists() {
            eprintln!("round {} of {ROUNDS}: airfoil", round + 1);
            let mut run = Command::new(&ours);
            measured.add("ours", &run_command(run.args(["run", "airfoil"]).arg(&airfoil))?)?;
            // Takes minutes with each number of threads, so it runs once.
            if round == 0 {
                for (side, threads) in [("torch1", "1"), ("torch2", "2")] {
                    let mut peer = Command::new(&python);
                    let peer = peer.arg(&script).args(["airfoil", threads]).arg(&airfoil);
                    measured.add(side, &run_command(peer)?)?;
                }
            }
        }
    }
    measure_trees(&target, &data, &mut measured)?;
    let versions = run_command(Command::new(&python).arg(&script).args(["versions", "1"]))?;
    let page = page(&measured, &serde_json::from_str(&versions)?)?;
    fs::write(RESULTS, &page).with_context(|| format!("cannot write {RESULTS}"))?;
    eprintln!("wrote {RESULTS}");
    Ok(())
}

/// Forests compared with scikit-learn, interleaved.
fn measure_trees(target: &Path, data: &Path, measured: &mut Measured) -> Result<()> {
    const PEERS: &str = "crates/windlass/benches";
    let python = virtual_environment(&target.join("bench-venv"), PEERS)?;
    let ours = build("windlass-model", "trees", &[])?;
    run_command(Command::new(&ours).arg("data").arg(data.join("trees.f64")))?;
    for round in 0..ROUNDS {
        for threads in ["1", "2"] {
            for (work, _) in TREES {
                eprintln!("round {} of {ROUNDS}: {work}, threads {threads}", round + 1);
                measured
                    .add("ours", &run_command(Command::new(&ours).args(["run", work, threads]))?)?;
                if work != "boosting" {
                    let mut peer = Command::new(&python);
                    peer.arg(Path::new(PEERS).join("peers.py")).arg(format!("{work}_{threads}"));
                    measured.add("peer", &run_command(peer.arg(data))?)?;
                }
            }
        }
    }
    Ok(())
}

const TREES: [(&str, &str); 3] =
    [("forest", "random forest"), ("extra_trees", "extra trees"), ("boosting", "boosting")];

fn trees(page: &mut String, measured: &Measured) -> Result<()> {
    writeln!(
        page,
        "
## Trees compared with scikit-learn

1,000 rows × 20 columns, 100 trees (boosting: 1,000), the fastest of five fits, medians over rounds. To reach: three
times scikit-learn's speed for forest and extra trees.

| work | threads | ours, time | CPU | scikit-learn, time | CPU | ratio of time | of CPU |
| :-- | --: | --: | --: | --: | --: | --: | --: |"
    )?;
    for (work, name) in TREES {
        for threads in [1, 2] {
            let key = format!("{work}_{threads}");
            let of = |side: &'static str, field: &str| measured.median(side, &key, field);
            let cell = |value: Option<f64>| {
                value.map_or("–".to_owned(), |seconds| format!("{:.0} ms", 1e3 * seconds))
            };
            let ratio = |field: &str| match (of("peer", field), of("ours", field)) {
                (Some(peer), Some(ours)) => format!("{:.1}", peer / ours),
                _ => "–".to_owned(),
            };
            writeln!(
                page,
                "| {name} | {threads} | {} | {} | {} | {} | {} | {} |",
                cell(of("ours", "wall")),
                cell(of("ours", "cpu")),
                cell(of("peer", "wall")),
                cell(of("peer", "cpu")),
                ratio("wall"),
                ratio("cpu")
            )?;
        }
    }
    Ok(())
}

/// The benchmark of burn is a package outside the workspace, so that other checks do not compile it.
fn build_burn(target: &Path) -> Result<std::path::PathBuf> {
    let target = target.join("burn");
    let manifest = Path::new(BENCHES).join("burn/Cargo.toml");
    let mut command = cargo();
    command.args(["build", "--release", "--locked", "--manifest-path"]).arg(manifest);
    run_command(command.env("CARGO_TARGET_DIR", &target))?;
    Ok(target.join("release").join(format!("burn-peer{}", std::env::consts::EXE_SUFFIX)))
}

fn page(measured: &Measured, versions: &Value) -> Result<String> {
    let version = |name: &str| versions[name].as_str().unwrap_or("?").to_owned();
    let python = format!("Python {}", version("python"));
    let torch = format!("torch {} (eager, CPU)", version("torch"));
    let made_on = made_on(&[&python, &torch, "burn 0.22.1 (flex)"])?;
    let mut page = String::new();
    writeln!(
        page,
        "# Training: the engine compared with PyTorch and burn

Made by `cargo xtask bench train`; networks, data and seeds are in `{BENCHES}`. 
{made_on}.

Every work is a process of its own; the sides take turns, {ROUNDS} rounds. Times of a step are the fastest of 20
epochs (a busy machine disturbs it least), medians over rounds; in brackets the median epoch. Ours has one thread.
The better of PyTorch with one and two threads counts.

| work | ours | PyTorch, 1 thread | PyTorch, 2 threads | burn |
| :-- | --: | --: | --: | --: |",
    )?;
    times(&mut page, measured)?;
    figures(&mut page, measured)?;
    limit(&mut page, measured)?;
    trees(&mut page, measured)?;
    Ok(page)
}

const STEPS: [(&str, &str); 4] = [
    ("step_erm", "step, 5-128-128-1, batch 16, Adam"),
    ("step_ada", "the same, ADA after the first hidden layer"),
    ("step_256", "step, 5-128-128-1, batch 256"),
    ("step_small", "step, 19-10-1, batch 16"),
];

fn times(page: &mut String, measured: &Measured) -> Result<()> {
    let cell = |side: &'static str, work: &str| match (
        measured.median(side, work, "best"),
        measured.median(side, work, "median"),
    ) {
        (Some(best), Some(median)) => format!("{best:.1} ({median:.1}) µs"),
        _ => "–".to_owned(),
    };
    for (work, name) in STEPS {
        writeln!(
            page,
            "| {name} | {} | {} | {} | {} |",
            cell("ours", work),
            cell("torch1", work),
            cell("torch2", work),
            cell("burn", work)
        )?;
    }
    let seconds = |side: &'static str| {
        let value = measured.median(side, "airfoil", "seconds");
        value.map_or("–".to_owned(), |value| format!("{value:.2} s"))
    };
    writeln!(
        page,
        "| airfoil, ADA after the first hidden layer, 200 epochs | {} | {} | {} | – |",
        seconds("ours"),
        seconds("torch1"),
        seconds("torch2")
    )?;
    Ok(())
}

fn figures(page: &mut String, measured: &Measured) -> Result<()> {
    writeln!(page, "\n| figure | reach | measured |\n| :-- | :-- | :-- |")?;
    let best_of = |work: &str, field: &str| {
        let torch = ["torch1", "torch2"].map(|side| measured.median(side, work, field));
        torch.into_iter().flatten().reduce(f64::min)
    };
    let ratio = |work: &str, field: &str, peer: Option<f64>| -> String {
        match (peer, measured.median("ours", work, field)) {
            (Some(peer), Some(ours)) => format!("{:.1}", peer / ours),
            _ => "not measured".to_owned(),
        }
    };
    for (name, reach, work) in [
        ("step, batch 16, against PyTorch", "≥ 15", "step_erm"),
        ("the same with ADA, against the dense projection in PyTorch", "≥ 15", "step_ada"),
        ("step, batch 256, against PyTorch", "≥ 2", "step_256"),
        ("step, 19-10-1, against PyTorch", "≥ 100", "step_small"),
    ] {
        writeln!(page, "| {name} | {reach} | {} |", ratio(work, "best", best_of(work, "best")))?;
    }
    let burn = measured.median("burn", "step_erm", "best");
    writeln!(page, "| step, batch 16, against burn | ≥ 3 | {} |", ratio("step_erm", "best", burn))?;
    let airfoil = ratio("airfoil", "seconds", best_of("airfoil", "seconds"));
    writeln!(page, "| a whole run on airfoil, against PyTorch | ≥ 15 | {airfoil} |")?;
    let one = measured.median("ours", "independent_runs", "one").context("not measured")?;
    let two = measured.median("ours", "independent_runs", "two").context("not measured")?;
    writeln!(page, "| 20 independent runs, two threads against one | ≥ 1.8 | {:.2} |", one / two)?;
    let rmse = |side| {
        let errors = measured.numbers(side, "airfoil", "rmse");
        let mean = errors.iter().sum::<f64>() / errors.len().max(1) as f64;
        let square = errors.iter().map(|error| (error - mean).powi(2)).sum::<f64>();
        let spread = (square / (errors.len().max(2) - 1) as f64).sqrt();
        format!("{mean:.2} ± {spread:.2} ({} runs)", errors.len())
    };
    writeln!(
        page,
        "\nRMSE on airfoil’s 200 test rows, mean ± standard deviation over seeds (each with its own split): ours {},
PyTorch {}.",
        rmse("ours"),
        rmse("torch1")
    )?;
    Ok(())
}

fn limit(page: &mut String, measured: &Measured) -> Result<()> {
    let peak = measured.median("ours", "peak", "gflops").context("not measured")?;
    writeln!(page, "\n## How far from the limit\n")?;
    writeln!(
        page,
        "One core does {peak:.0} · 10⁹ multiplications and additions a second in registers (fused, in the widest vectors that the
engine uses, measured in the same run). Counting the products of a step only, forward and back:\n"
    )?;
    writeln!(page, "| work | products | rate | of the limit |\n| :-- | --: | --: | --: |")?;
    for (work, name) in STEPS {
        let flops = measured.median("ours", work, "flops").context("not measured")?;
        let best = measured.median("ours", work, "best").context("not measured")?;
        let rate = flops / best / 1e3;
        writeln!(
            page,
            "| {name} | {:.2} MFLOP | {rate:.1} GFLOP/s | {:.0} % |",
            flops / 1e6,
            100.0 * rate / peak
        )?;
    }
    writeln!(
        page,
        "\nThe rest of a step at batch 16 is Adam (a square root and a division for each of 17,409 weights) and moving rows
and gradients; with ADA also the exact group sums, there and back."
    )?;
    Ok(())
}
