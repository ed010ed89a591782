//! `cargo xtask fuzz`: fuzz the readers of tables, models, fitted methods and manifests, and augmentation with every
//! way of storing a table.
//!
//! `libFuzzer` on the stable compiler: the flags below are what its coverage needs. `fuzz/corpus` has the seeds;
//! inputs that reach new code are stored outside the repository, in the user's cache, and inputs that fail in
//! `fuzz/found`. A failing input joins the seeds together with its fix.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::bench::{cargo, target_folder};
use crate::python::cache;
use crate::reliability::Figures;

/// Readers of files, and `storage`: the same output however a table is stored, read and divided among threads.
const TARGETS: [&str; 8] =
    ["csv", "parquet", "arrow", "arrows", "model", "fitted", "manifest", "storage"];

/// Models, fitted methods and manifests that 0.1.0 wrote are seeds, too.
const RELEASE: &str = "crates/windlass-cli/tests/release-0.1.0";

const FLAGS: [&str; 7] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
    "--cfg=fuzzing",
];

/// Fuzzes every target, or the named one, for some seconds.
pub(crate) fn run(only: Option<&str>, seconds: u32) -> Result<()> {
    let host = host()?;
    let folder = target_folder()?.join("fuzz");
    // With an explicit target, the flags do not apply to build scripts.
    let built = cargo()
        .args(["build", "--release", "--locked", "--manifest-path", "fuzz/Cargo.toml"])
        .args(["--target", &host])
        .env("CARGO_TARGET_DIR", &folder)
        .env("RUSTFLAGS", FLAGS.join(" "))
        .status()
        .context("cannot start cargo")?;
    if !built.success() {
        bail!("the fuzz targets did not build");
    }
    std::fs::create_dir_all("fuzz/found")?;
    let binary = folder.join(&host).join("release/windlass-fuzz");
    for target in TARGETS.into_iter().filter(|&target| only.is_none_or(|only| only == target)) {
        eprintln!("==> {target}, {seconds} s");
        let inputs = fuzz(&binary, target, seconds)?;
        let figures = Figures::new("Fuzzing", "cargo xtask fuzz SECONDS");
        figures
            .and(target, &format!("{inputs} inputs in {seconds} s, no finding"))
            .store("fuzz")?;
    }
    Ok(())
}

/// Fuzzes a target; returns the number of inputs.
fn fuzz(binary: &Path, target: &str, seconds: u32) -> Result<String> {
    let grown = cache()?.join("fuzz").join(target);
    std::fs::create_dir_all(&grown)?;
    // New inputs go to the first folder.
    let mut child = Command::new(binary)
        .arg(&grown)
        .arg(Path::new("fuzz/corpus").join(target))
        .args(["model", "fitted", "manifest"].contains(&target).then_some(RELEASE))
        .arg(format!("-max_total_time={seconds}"))
        .args(["-max_len=65536", "-timeout=20", "-rss_limit_mb=1024", "-print_final_stats=1"])
        .arg(format!("-artifact_prefix=fuzz/found/{target}-"))
        .env("WINDLASS_FUZZ", target)
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start the fuzz target {target}"))?;
    let mut inputs = String::new();
    for line in BufReader::new(child.stderr.take().context("no messages")?).lines() {
        let line = line?;
        eprintln!("{line}");
        if let Some(count) = line.strip_prefix("stat::number_of_executed_units:") {
            count.trim().clone_into(&mut inputs);
        }
    }
    if !child.wait()?.success() {
        bail!("{target} failed; the input is in fuzz/found");
    }
    Ok(inputs)
}

/// The name of this machine's target.
fn host() -> Result<String> {
    let rustc = Command::new("rustc").arg("-vV").output().context("cannot start rustc")?;
    let text = String::from_utf8(rustc.stdout)?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not name its host")?.to_owned())
}
