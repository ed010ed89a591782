//! `cargo xtask fuzz`: fuzz the readers of tables, models, fitted methods and manifests.
//!
//! `libFuzzer` on the stable compiler: the flags below are what its coverage needs. `fuzz/corpus` has the seeds;
//! inputs that reach new code are stored outside the repository, in the user's cache, and inputs that fail in
//! `fuzz/found`. A failing input joins the seeds together with its fix.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::python::cache;

const TARGETS: [&str; 7] = ["csv", "parquet", "arrow", "arrows", "model", "fitted", "manifest"];

const FLAGS: [&str; 7] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
    "--cfg=fuzzing",
];

pub(crate) fn run(seconds: u32) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let host = host()?;
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| "target".into(), std::path::PathBuf::from);
    let folder = std::path::absolute(target)?.join("fuzz");
    // With an explicit target, the flags do not apply to build scripts.
    let built = Command::new(cargo)
        .args([
            "build",
            "--release",
            "--locked",
            "--manifest-path",
            "fuzz/Cargo.toml",
            "--target",
            &host,
        ])
        .env("CARGO_TARGET_DIR", &folder)
        .env("RUSTFLAGS", FLAGS.join(" "))
        .status()
        .context("cannot start cargo")?;
    if !built.success() {
        bail!("the fuzz targets did not build");
    }
    std::fs::create_dir_all("fuzz/found")?;
    for target in TARGETS {
        eprintln!("==> {target}, {seconds} s");
        let grown = cache()?.join("fuzz").join(target);
        std::fs::create_dir_all(&grown)?;
        // New inputs go to the first folder.
        let status = Command::new(folder.join(&host).join("release").join(target))
            .arg(&grown)
            .arg(Path::new("fuzz/corpus").join(target))
            .arg(format!("-max_total_time={seconds}"))
            .args(["-max_len=65536", "-timeout=20", "-rss_limit_mb=1024", "-print_final_stats=1"])
            .arg(format!("-artifact_prefix=fuzz/found/{target}-"))
            .status()
            .with_context(|| format!("cannot start the fuzz target {target}"))?;
        if !status.success() {
            bail!("{target} failed; the input is in fuzz/found");
        }
    }
    Ok(())
}

/// The name of this machine's target.
fn host() -> Result<String> {
    let rustc = Command::new("rustc").arg("-vV").output().context("cannot start rustc")?;
    let text = String::from_utf8(rustc.stdout)?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not name its host")?.to_owned())
}
