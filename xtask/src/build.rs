//! `cargo xtask build`: time to compile the README's first command, from an empty target folder.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::bench::{made_on, run_command, target_folder};

const RESULTS: &str = "docs/results/build.md";
/// Number of crates in the list.
const CRATES: usize = 10;

/// The measurements of one build.
struct Measured {
    /// The abbreviated commit.
    revision: String,
    wall: f64,
    /// User and system time of all processes.
    cpu: f64,
    /// Seconds of every crate by `--timings`, the longest first.
    crates: Vec<(String, f64)>,
    /// Bytes of the binary without symbols.
    stripped: u64,
    /// The fastest of some runs of `--version`.
    version: Duration,
}

/// Measures the working tree, and optionally a revision to compare it with.
pub(crate) fn run(before: Option<&str>) -> Result<()> {
    let target = target_folder()?.join("build-time");
    let before = match before {
        Some(revision) => {
            let tree = target.join("before-tree");
            remove(&tree)?;
            run_command(Command::new("git").args(["worktree", "prune"]))?;
            let mut add = Command::new("git");
            add.args(["worktree", "add", "--detach"]).arg(&tree).arg(revision);
            run_command(&mut add)?;
            let measured = measure(&tree, &target.join("before"));
            run_command(Command::new("git").args(["worktree", "remove", "--force"]).arg(&tree))?;
            Some(measured?)
        }
        None => None,
    };
    let now = measure(Path::new("."), &target.join("now"))?;
    let page = page(&now, before.as_ref())?;
    fs::write(RESULTS, page).with_context(|| format!("cannot write {RESULTS}"))?;
    eprintln!("wrote {RESULTS}");
    Ok(())
}

fn remove(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    Ok(())
}

/// Builds the command of a tree in an empty target folder; sources of dependencies are fetched before.
fn measure(tree: &Path, target: &Path) -> Result<Measured> {
    remove(target)?;
    let revision =
        run_command(Command::new("git").args(["rev-parse", "--short", "HEAD"]).current_dir(tree))?;
    eprintln!("building {}", revision.trim());
    run_command(Command::new("cargo").args(["fetch", "--locked"]).current_dir(tree))?;
    // The shell adds up the CPU time of all processes.
    let script = "TIMEFORMAT='%R %U %S'; time cargo build --release --locked --timings >&2";
    let mut build = Command::new("bash");
    build.args(["-c", script]).current_dir(tree).env("CARGO_TARGET_DIR", target);
    build.env_remove("CARGO").env_remove("RUSTFLAGS");
    let output = build.output().context("cannot start bash")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the build failed:\n{said}");
    let times: Vec<f64> = said
        .lines()
        .last()
        .context("bash printed no times")?
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<_, _>>()
        .context("bash printed no times")?;
    let [wall, user, system] = times[..] else { anyhow::bail!("bash printed other times") };
    let binary = target.join(format!("release/windlass{}", std::env::consts::EXE_SUFFIX));
    Ok(Measured {
        revision: revision.trim().to_owned(),
        wall,
        cpu: user + system,
        crates: crates(&target.join("cargo-timings/cargo-timing.html"))?,
        stripped: stripped(&binary)?,
        version: version(&binary)?,
    })
}

/// The seconds of every crate in the page that `--timings` writes.
fn crates(page: &Path) -> Result<Vec<(String, f64)>> {
    let text = fs::read_to_string(page)?;
    let start = text.find("UNIT_DATA = ").context("the timings have another form")?;
    let text = &text[start + "UNIT_DATA = ".len()..];
    let end = text.find("];").context("the timings have another form")?;
    let units: Vec<Value> = serde_json::from_str(&text[..=end])?;
    let mut crates: BTreeMap<String, f64> = BTreeMap::new();
    for unit in units {
        let name = unit["name"].as_str().context("a unit without a name")?.to_owned();
        *crates.entry(name).or_default() += unit["duration"].as_f64().unwrap_or(0.0);
    }
    let mut crates: Vec<(String, f64)> = crates.into_iter().collect();
    crates.sort_by(|a, b| b.1.total_cmp(&a.1));
    Ok(crates)
}

fn stripped(binary: &Path) -> Result<u64> {
    let copy: PathBuf = binary.with_extension("stripped");
    run_command(Command::new("strip").arg("-o").arg(&copy).arg(binary))?;
    Ok(fs::metadata(&copy)?.len())
}

fn version(binary: &Path) -> Result<Duration> {
    let mut fastest = Duration::MAX;
    for _ in 0..20 {
        let started = Instant::now();
        run_command(Command::new(binary).arg("--version"))?;
        fastest = fastest.min(started.elapsed());
    }
    Ok(fastest)
}

fn page(now: &Measured, before: Option<&Measured>) -> Result<String> {
    let mut page = String::new();
    let made_on = made_on(&[])?;
    let against = before.map_or_else(String::new, |before| format!(" {}", before.revision));
    writeln!(
        page,
        "# The first command: time to compile

Made by `cargo xtask build{against}` with {made_on}. It builds what the README's first
command builds, `cargo build --release`, in an empty target folder; sources of dependencies are fetched before.
CPU time is user and system time of all processes. Machines differ: compare ratios.

| | budget | now ({}) |{}
| :-- | --: | --: |{}",
        now.revision,
        before.map_or_else(String::new, |before| format!(
            " before ({}) | now / before |",
            before.revision
        )),
        if before.is_some() { " --: | --: |" } else { "" },
    )?;
    let mut row = |name: &str, budget: &str, digits: usize, of: &dyn Fn(&Measured) -> f64| {
        let _ = write!(page, "| {name} | {budget} | {:.digits$} |", of(now));
        if let Some(before) = before {
            let _ = write!(page, " {:.digits$} | {:.2} |", of(before), of(now) / of(before));
        }
        page.push('\n');
    };
    row("CPU time, min", "≤ 9", 1, &|one| one.cpu / 60.0);
    row("wall time, min", "≤ 5", 1, &|one| one.wall / 60.0);
    row("crates", "", 0, &|one| one.crates.len() as f64);
    row("stripped binary, MB", "≤ 25", 1, &|one| one.stripped as f64 / 1e6);
    row("`--version`, ms", "≤ 10", 1, &|one| one.version.as_secs_f64() * 1e3);
    for (title, measured) in [("now", Some(now)), ("before", before)] {
        let Some(measured) = measured else { continue };
        let all: f64 = measured.crates.iter().map(|(_, seconds)| seconds).sum();
        writeln!(
            page,
            "
The {CRATES} most expensive crates {title}, of {all:.0} s over all crates by `--timings`:

| crate | s |
| :-- | --: |"
        )?;
        for (name, seconds) in measured.crates.iter().take(CRATES) {
            writeln!(page, "| {name} | {seconds:.1} |")?;
        }
    }
    Ok(page)
}
