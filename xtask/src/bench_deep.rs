//! `cargo xtask bench deep`: a training step of every deep network compared with PyTorch, interleaved in one run.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::bench::{Measured, build, made_on, run_command, target_folder, virtual_environment};

const RESULTS: &str = "docs/results/bench-deep.md";
const BENCHES: &str = "crates/windlass-paper/benches";
const ROUNDS: usize = 3;

const WORKS: [(&str, &str); 4] = [
    ("lstnet_step", "LSTNet, batch 64, 168 steps of 8 series"),
    ("lstnet_step_ada", "the same, ADA on the input"),
    ("resnet18_step", "ResNet-18, batch 32, 3×28×28"),
    ("deepdta_step", "DeepDTA, batch 32, 100 and 1,000 letters"),
];

pub(crate) fn run() -> Result<()> {
    let target = target_folder()?;
    // The environment is that of the benchmark of dense networks.
    let python =
        virtual_environment(&target.join("bench-train-venv"), "crates/windlass-train/benches")?;
    let ours = build("windlass-paper", "steps", &["deep"])?;
    let script = Path::new(BENCHES).join("pytorch.py");
    let mut measured = Measured::default();
    for round in 0..ROUNDS {
        for (work, _) in WORKS {
            eprintln!("round {} of {ROUNDS}: {work}", round + 1);
            for (threads, side, peer_side) in [("1", "ours1", "torch1"), ("2", "ours2", "torch2")] {
                let mut own = Command::new(&ours);
                measured.add(side, &run_command(own.args(["run", work, threads]))?)?;
                let mut peer = Command::new(&python);
                let peer = peer.arg(&script).args(["--threads", threads, "--only", work]);
                measured.add(peer_side, &run_command(peer)?)?;
            }
        }
    }
    let versions = run_command(Command::new(&python).arg(&script).arg("--versions"))?;
    let page = page(&measured, &serde_json::from_str(&versions)?)?;
    fs::write(RESULTS, &page).with_context(|| format!("cannot write {RESULTS}"))?;
    eprintln!("wrote {RESULTS}");
    Ok(())
}

fn page(measured: &Measured, versions: &Value) -> Result<String> {
    let version = |name: &str| versions[name].as_str().unwrap_or("?").to_owned();
    let python = format!("Python {}", version("python"));
    let torch = format!("torch {} (eager, CPU)", version("torch"));
    let made_on = made_on(&["burn 0.22.1 (flex)", &python, &torch])?;
    let mut page = String::new();
    writeln!(
        page,
        "# Deep networks: a training step compared with PyTorch

Made by `cargo xtask bench deep`; networks, rows and seeds are in `{BENCHES}`. 
{made_on}.

A step is forward, back and Adam; ours also has the batch gathered, and ADA drawn. Every work is a process of its
own; the sides take turns, {ROUNDS} rounds of 2 seconds. Times are the fastest of a round (a busy machine disturbs it
least), medians over rounds; in brackets the median step.

| step of | ours, 1 thread | PyTorch, 1 thread | ours, 2 threads | PyTorch, 2 threads |
| :-- | --: | --: | --: | --: |",
    )?;
    let cell = |side: &'static str, work: &str| match (
        measured.median(side, work, "best"),
        measured.median(side, work, "median"),
    ) {
        (Some(best), Some(median)) => format!("{best:.1} ({median:.1}) ms"),
        _ => "–".to_owned(),
    };
    for (work, name) in WORKS {
        let cells = ["ours1", "torch1", "ours2", "torch2"].map(|side| cell(side, work));
        writeln!(page, "| {name} | {} |", cells.join(" | "))?;
    }
    writeln!(page, "\n| figure | reach | 1 thread | 2 threads |\n| :-- | :-- | --: | --: |")?;
    for (work, name, reach) in [
        ("lstnet_step", "LSTNet: PyTorch’s time in units of ours", "≥ 1"),
        ("lstnet_step_ada", "the same with ADA", "–"),
        ("resnet18_step", "ResNet-18: our time in units of PyTorch’s", "≤ 1.6"),
        ("deepdta_step", "DeepDTA: our time in units of PyTorch’s", "–"),
    ] {
        let ratio = |ours: &'static str, peer: &'static str| {
            let ours = measured.median(ours, work, "best").context("not measured")?;
            let peer = measured.median(peer, work, "best").context("not measured")?;
            let ratio = if work.starts_with("lstnet") { peer / ours } else { ours / peer };
            anyhow::Ok(format!("{ratio:.2}"))
        };
        let (one, two) = (ratio("ours1", "torch1")?, ratio("ours2", "torch2")?);
        writeln!(page, "| {name} | {reach} | {one} | {two} |")?;
    }
    Ok(page)
}
