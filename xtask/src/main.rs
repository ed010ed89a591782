//! The checks and benchmarks of the workspace.
//!
//! ```text
//! cargo xtask test     format, clippy, tests, doc tests, docs, benches in test mode, Python
//!                      (--all adds torch, Spark, deep networks, test suites of other projects, overflow checks,
//!                      every feature alone, kills and a full disk: what CI runs; --cluster tests only Spark and
//!                      Ray, with executors in separate processes)
//! cargo xtask bench    the benchmarks compared with their peers, written to docs/results/; `bench calibration`
//!                      simulates how often intervals and verdicts of `compare` are right
//! cargo xtask structure  crates depend downward, and no modules have import cycles (part of test)
//! cargo xtask build    what compiling the first command takes, written to docs/results/build.md; compared with
//!                      REVISION if one is named
//! cargo xtask outputs  hashes of outputs of the command and the Python package, compared with xtask/outputs.txt
//!                      (--accept writes them there)
//! cargo xtask site     the documentation site (--accept first writes what commands, Python and notebooks print
//!                      into README.md, docs/ and examples/)
//! cargo xtask suite    every method on the paper's tables, written to docs/results/ (about an hour)
//! cargo xtask fuzz     fuzz the readers of tables, models, fitted methods and manifests, and augmentation with every
//!                      way of storing a table, for two minutes each (or SECONDS); or one TARGET
//! cargo xtask mutants  test whether tests notice changes of the source: a sample of 300 (or COUNT), resumable
//! cargo xtask reliability  the suites of other projects and the figures of fuzz and mutants, written to docs/results/
//! ```

mod bench;
mod bench_cluster;
mod bench_deep;
mod bench_distill;
mod bench_models;
mod bench_python;
mod bench_rare;
mod bench_tables;
mod bench_train;
mod build;
mod fuzz;
mod interruptions;
mod outputs;
mod python;
mod reliability;
mod site;
mod structure;
mod suite;
mod test;

use std::process::ExitCode;

use test::Scope;

const USAGE: &str = "usage: cargo xtask test [--all|--cluster] | bench [core|tables|train|deep|python|cluster|rare [errors [SPLITS]]|calibration|models [SPLITS [COMMAND-OF-0.1.0]]|distill [SPLITS]] | structure | build [REVISION] | outputs [--accept] | site [--accept] | suite [REPEATS] | fuzz [TARGET] [SECONDS] | mutants [COUNT] | reliability";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // Paths are relative to the workspace. Its path is read at run time: a compiled path would be wrong if several
    // clones share one target folder.
    if let Some(package) = std::env::var_os("CARGO_MANIFEST_DIR") {
        let root = std::path::Path::new(&package).join("..");
        if let Err(error) = std::env::set_current_dir(&root) {
            eprintln!("error: cannot enter {}: {error}", root.display());
            return ExitCode::FAILURE;
        }
    }
    let result = match words[..] {
        ["test"] => test::run(Scope::Usual),
        ["test", "--all"] => test::run(Scope::All),
        ["test", "--cluster"] => test::run(Scope::Cluster),
        ["bench"] => bench::run()
            .and_then(|()| bench_tables::run())
            .and_then(|()| bench_train::run())
            .and_then(|()| bench_deep::run())
            .and_then(|()| bench_python::run())
            .and_then(|()| bench_cluster::run())
            .and_then(|()| bench::calibration()),
        ["bench", "core"] => bench::run(),
        ["bench", "tables"] => bench_tables::run(),
        ["bench", "train"] => bench_train::run(),
        ["bench", "deep"] => bench_deep::run(),
        ["bench", "python"] => bench_python::run(),
        ["bench", "cluster"] => bench_cluster::run(),
        ["bench", "rare"] => bench_rare::run(),
        ["bench", "rare", "errors"] => bench_rare::errors(None),
        ["bench", "rare", "errors", splits] if splits.parse::<usize>().is_ok() => {
            bench_rare::errors(splits.parse().ok())
        }
        ["bench", "distill"] => bench_distill::run(None),
        ["bench", "distill", splits] if splits.parse::<usize>().is_ok() => {
            bench_distill::run(splits.parse().ok())
        }
        ["bench", "models"] => bench_models::run(None, None),
        ["bench", "models", splits, ref earlier @ ..]
            if splits.parse::<usize>().is_ok() && earlier.len() < 2 =>
        {
            bench_models::run(splits.parse().ok(), earlier.first().copied())
        }
        ["bench", "calibration"] => bench::calibration(),
        ["structure"] => structure::check(),
        ["build"] => build::run(None),
        ["build", before] => build::run(Some(before)),
        ["outputs"] => outputs::run(false),
        ["outputs", "--accept"] => outputs::run(true),
        ["site"] => site::run(false),
        ["site", "--accept"] => site::run(true),
        ["suite"] => suite::run("1"),
        ["suite", repeats] if repeats.parse::<usize>().is_ok() => suite::run(repeats),
        ["fuzz"] => fuzz::run(None, 120),
        ["fuzz", seconds] if let Ok(seconds) = seconds.parse() => fuzz::run(None, seconds),
        ["fuzz", target, seconds] if let Ok(seconds) = seconds.parse() => {
            fuzz::run(Some(target), seconds)
        }
        ["mutants"] => reliability::mutants(300),
        ["mutants", count] if let Ok(count) = count.parse() => reliability::mutants(count),
        ["reliability"] => reliability::run(),
        _ => Err(anyhow::anyhow!("{USAGE}")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
