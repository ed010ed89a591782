//! `cargo xtask test`: all checks before a change is merged.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::bench::{cargo, run_command, target_folder, windlass_command};
use crate::python::{environment_of, install};
use crate::reliability::{SUITES, suite_file};
use crate::{interruptions, site, structure};

/// A check: its name, the arguments of cargo, and variables to set.
struct Check {
    name: &'static str,
    arguments: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
}

/// Fixed random cases without files; `cargo test` alone tries new cases.
const FIXED_CASES: &[(&str, &str)] =
    &[("PROPTEST_RNG_SEED", "7"), ("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1")];
const WARNINGS_DENIED: &[(&str, &str)] = &[("RUSTDOCFLAGS", "--deny warnings")];

/// The checks of `cargo xtask test`. All are built for release, as the README builds the command, so that
/// dependencies are compiled once.
const CHECKS: [Check; 5] = [
    Check { name: "format", arguments: &["fmt", "--all", "--check"], variables: &[] },
    Check {
        name: "clippy",
        arguments: &[
            "clippy",
            "--release",
            "--workspace",
            "--all-targets",
            "--locked",
            "--",
            "--deny",
            "warnings",
        ],
        variables: &[],
    },
    Check {
        // Unit tests, integration tests, examples, and benches, which then run once on small data. The Python
        // package's library needs an interpreter around it; its tests come last.
        name: "tests and benches",
        arguments: &[
            "test",
            "--release",
            "--workspace",
            "--tests",
            "--benches",
            "--examples",
            "--locked",
            "--no-fail-fast",
            "--",
            "--show-output",
        ],
        variables: FIXED_CASES,
    },
    Check {
        name: "doc tests",
        arguments: &["test", "--release", "--workspace", "--doc", "--locked"],
        variables: &[],
    },
    Check {
        name: "docs",
        arguments: &["doc", "--release", "--workspace", "--no-deps", "--locked"],
        variables: WARNINGS_DENIED,
    },
];

/// Additional checks of `--all`, apart from torch and Spark.
const MORE_CHECKS: [Check; 7] = [
    Check {
        name: "clippy with deep networks",
        arguments: &[
            "clippy",
            "--release",
            "--package",
            "windlass-paper",
            "--features",
            "deep",
            "--all-targets",
            "--locked",
            "--",
            "--deny",
            "warnings",
        ],
        variables: &[],
    },
    Check {
        name: "tests with deep networks",
        arguments: &[
            "test",
            "--release",
            "--package",
            "windlass-paper",
            "--features",
            "deep",
            "--locked",
            "--no-fail-fast",
            "--",
            "--show-output",
        ],
        variables: FIXED_CASES,
    },
    Check {
        name: "docs with deep networks",
        arguments: &[
            "doc",
            "--release",
            "--package",
            "windlass-paper",
            "--features",
            "deep",
            "--no-deps",
            "--locked",
        ],
        variables: WARNINGS_DENIED,
    },
    // In a debug build, integers that overflow and assertions that fail end a test.
    Check {
        name: "tests with overflow checks",
        arguments: &[
            "test",
            "--workspace",
            "--exclude",
            "windlass-paper",
            "--exclude",
            "windlass-python",
            "--exclude",
            "xtask",
            "--tests",
            "--locked",
            "--no-fail-fast",
            "--",
            "--show-output",
        ],
        variables: FIXED_CASES,
    },
    // Alone, a crate has only its own features; the Python package enables all of them.
    Check {
        name: "the command as the README builds it",
        arguments: &[
            "test",
            "--release",
            "--package",
            "windlass-cli",
            "--locked",
            "--no-fail-fast",
            "--test",
            "test_files",
            "--",
            "--show-output",
        ],
        variables: FIXED_CASES,
    },
    Check {
        name: "the core without features",
        arguments: &["check", "--release", "--package", "windlass", "--locked"],
        variables: &[],
    },
    Check {
        name: "the core with serde",
        arguments: &[
            "check",
            "--release",
            "--package",
            "windlass",
            "--features",
            "serde",
            "--locked",
        ],
        variables: &[],
    },
];

/// The total of all test results.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    skipped: Vec<String>,
}

/// The scope of the tests.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Tests with at most 1 GB of downloads.
    Usual,
    /// Also torch, Spark, deep networks, test suites of other projects and every feature alone.
    All,
    /// Only Spark and Ray, with executors in separate processes.
    Cluster,
}

pub(crate) fn run(scope: Scope) -> Result<()> {
    let mut tally = Tally::default();
    let mut failures = vec![];
    if scope == Scope::Cluster {
        eprintln!("==> clusters");
        if !on_clusters(&mut tally)? {
            failures.push("clusters");
        }
        return tally.end(&failures);
    }
    let all = scope == Scope::All;
    // Downloading and unpacking Python packages takes minutes and little CPU: it runs while cargo compiles.
    let environment = std::thread::spawn(move || environment_of(all));
    eprintln!("==> structure");
    if let Err(fault) = structure::check() {
        eprintln!("{fault:#}");
        failures.push("structure");
    }
    let more: &[Check] = if all { &MORE_CHECKS } else { &[] };
    for check in CHECKS.iter().chain(more) {
        eprintln!("==> {}", check.name);
        if !check.run(&mut tally)? {
            failures.push(check.name);
        }
    }
    if all && !deny(&mut tally)? {
        failures.push("cargo deny");
    }
    if all && !interruptions(&mut tally)? {
        failures.push("interruptions");
    }
    if all && !studio(&mut tally)? {
        failures.push("Windlass Studio");
    }
    environment.join().expect("no panic while the virtual environment is made")?;
    failures.extend(python(all, &mut tally)?);
    if all {
        eprintln!("==> site");
        let site = windlass_command().and_then(|windlass| site::build(&windlass));
        tally.count(&site);
        if site.is_err() {
            failures.push("site");
        }
    } else {
        let skipped = "skipped: torch, Spark, deep networks, test suites of other projects and the documentation site: cargo xtask test --all tests them";
        tally.skipped.push(skipped.into());
    }
    tally.end(&failures)
}

/// Checks licenses and advisories of dependencies, if cargo-deny is installed.
fn deny(tally: &mut Tally) -> Result<bool> {
    let version = cargo().args(["deny", "--version"]).stderr(Stdio::null()).output();
    if !version.is_ok_and(|output| output.status.success()) {
        let skipped = "skipped: cargo deny is not installed: cargo install --locked cargo-deny";
        tally.skipped.push(skipped.into());
        return Ok(true);
    }
    eprintln!("==> cargo deny");
    // Advisories need a downloaded database, which not every machine has.
    watched(cargo().args(["deny", "--offline", "check", "licenses", "bans", "sources"]), tally)
}

/// Kills commands, and runs them on a full disk.
fn interruptions(tally: &mut Tally) -> Result<bool> {
    let windlass = windlass_command()?;
    eprintln!("==> kills");
    let killed = interruptions::kills(&windlass);
    tally.count(&killed);
    eprintln!("==> full disk");
    let full = interruptions::full_disk(&windlass);
    match &full {
        Ok(Some(skipped)) => tally.skipped.push(skipped.clone()),
        _ => tally.count(&full),
    }
    Ok(killed.is_ok() && full.is_ok())
}

/// Builds the page of Windlass Studio again, compares it with the one that is compiled in, and walks through it in a
/// browser.
fn studio(tally: &mut Tally) -> Result<bool> {
    const WEB: &str = "crates/windlass-studio/web";
    eprintln!("==> Windlass Studio");
    let version = Command::new("node").arg("--version").output();
    let version = version.ok().and_then(|output| String::from_utf8(output.stdout).ok());
    let major =
        version.and_then(|text| text.trim_start_matches('v').split('.').next()?.parse().ok());
    let npm = |arguments: &[&str]| {
        let mut npm = Command::new("npm");
        npm.args(arguments).current_dir(WEB).stdout(Stdio::null());
        npm
    };
    let packages = ["ci", "--no-audit", "--no-fund", "--ignore-scripts"];
    let skipped = if major.is_none_or(|major: u32| major < 20) {
        Some("Node 20 or newer is not installed: apt-get install nodejs npm")
    } else if !npm(&packages).status().is_ok_and(|status| status.success()) {
        Some("npm cannot install its packages")
    } else {
        None
    };
    if let Some(why) = skipped {
        tally.skipped.push(format!("skipped: Windlass Studio in a browser: {why}"));
        return Ok(true);
    }
    let fresh = target_folder()?.join("studio");
    let out = fresh.to_string_lossy();
    let built = run_command(&mut npm(&["run", "build", "--", "--outDir", &out])).and_then(|_| {
        let [now, kept] = [fresh.join("studio.js"), "crates/windlass-studio/dist/studio.js".into()]
            .map(|path: PathBuf| std::fs::read(&path).with_context(|| path.display().to_string()));
        ensure!(now? == kept?, "dist/studio.js is not current: npm run build in {WEB}");
        Ok(())
    });
    tally.count(&built);
    let mut tests = npm(&["test"]);
    let passed = watched(tests.env("WINDLASS", windlass_command()?), tally)?;
    Ok(built.is_ok() && passed)
}

/// Runs the checks that need Python, against the wheel and the command; returns those that failed.
fn python(all: bool, tally: &mut Tally) -> Result<Vec<&'static str>> {
    let windlass = windlass_command()?;
    let installed = install(all)?;
    let package = installed.site.join("windlass");
    let mut failures = vec![];
    let mut run = |name: &'static str, command: &mut Command, tally: &mut Tally| -> Result<()> {
        eprintln!("==> {name}");
        if !watched(command, tally)? {
            failures.push(name);
        }
        Ok(())
    };
    let mut types = installed.command();
    types.args(["-m", "mypy", "--strict", "--no-incremental", "--config-file", "python/mypy.ini"]);
    types.arg(&package).args(["python/examples", "python/tests/typed.py"]);
    run("types", &mut types, tally)?;
    let mut stubs = installed.command();
    stubs.args(["-m", "mypy.stubtest", "windlass._windlass", "--mypy-config-file"]);
    run("stubs", stubs.arg("python/mypy.ini"), tally)?;
    let mut tests = installed.command();
    tests.args(["-m", "pytest", "--quiet", "-rs", "-p", "no:cacheprovider", "--doctest-modules"]);
    // Worker processes: most tests run on one thread.
    tests.args(["--numprocesses", "auto"]);
    // Modules for libraries that are not in this environment.
    let absent: &[&str] = if all { &["spark", "ray"] } else { &["spark", "ray", "torch"] };
    for module in absent {
        tests.arg(format!("--ignore={}", package.join(format!("{module}.py")).display()));
    }
    tests.args(["--ignore=python/tests/cluster", "--ignore=python/tests/test_notebooks.py"]);
    if !all {
        tests.args(SUITES.map(|suite| format!("--ignore={}", suite_file(suite))));
    }
    tests.arg(&package);
    tests.args(["crates/windlass-cli/tests/python", "python/tests"]);
    run("Python", tests.env("WINDLASS", &windlass), tally)?;
    if !all {
        return Ok(failures);
    }
    run("notebooks", &mut site::notebooks(&installed)?, tally)?;
    if !has_java() {
        tally.skipped.push(format!("skipped: Spark: {NO_JAVA}"));
        return Ok(failures);
    }
    let mut spark = installed.on_clusters()?.command();
    spark.args(CLUSTER_TESTS).arg("python/tests/cluster/test_spark.py");
    run("Spark", spark.env("WINDLASS", &windlass), tally)?;
    Ok(failures)
}

const CLUSTER_TESTS: [&str; 6] = ["-m", "pytest", "--quiet", "-rs", "-p", "no:cacheprovider"];
const NO_JAVA: &str =
    "Java is not installed: apt-get install openjdk-17-jre-headless, or any Java 17 or newer";

/// Runs the tests of Spark and Ray, whose executors and workers are separate processes.
fn on_clusters(tally: &mut Tally) -> Result<bool> {
    if !has_java() {
        bail!("{NO_JAVA}");
    }
    let windlass = windlass_command()?;
    let mut tests = install(false)?.on_clusters()?.command();
    tests.args(CLUSTER_TESTS).arg("python/tests/cluster");
    tests.env("WINDLASS", windlass).env("WINDLASS_SPARK", "local-cluster[2,1,1024]");
    watched(&mut tests, tally)
}

fn has_java() -> bool {
    let java =
        Command::new("java").arg("-version").stderr(Stdio::null()).stdout(Stdio::null()).status();
    java.is_ok_and(|status| status.success())
}

/// Runs a command, showing what it prints and counting its tests; whether it passed.
fn watched(command: &mut Command, tally: &mut Tally) -> Result<bool> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start a check")?;
    let output = child.stdout.take().context("the check has no output")?;
    let mut out = std::io::stdout();
    for line in BufReader::new(output).lines() {
        let line = line?;
        tally.read(&line);
        writeln!(out, "{line}")?;
    }
    Ok(child.wait()?.success())
}

impl Check {
    /// Runs the check; whether it passed.
    fn run(&self, tally: &mut Tally) -> Result<bool> {
        watched(cargo().args(self.arguments).envs(self.variables.iter().copied()), tally)
    }
}

impl Tally {
    /// Counts a check that is not a test of cargo.
    fn count<T>(&mut self, result: &Result<T>) {
        match result {
            Ok(_) => self.passed += 1,
            Err(error) => {
                eprintln!("{error:#}");
                self.failed += 1;
            }
        }
    }

    /// Prints the total.
    fn end(&self, failures: &[&str]) -> Result<()> {
        let mut reasons = self.skipped.clone();
        reasons.dedup();
        for reason in reasons {
            eprintln!("{reason}");
        }
        let (passed, failed, skipped) = (self.passed, self.failed, self.skipped.len());
        writeln!(std::io::stdout(), "{passed} passed, {failed} failed, {skipped} skipped")?;
        if !failures.is_empty() {
            bail!("failed: {}", failures.join(", "));
        }
        Ok(())
    }

    /// Reads lines such as `test result: ok. 10 passed; 0 failed; 0 ignored; …`, `skipped: …` and pytest's
    /// `1 failed, 3 passed in 0.52s` and `SKIPPED [2] …`.
    fn read(&mut self, line: &str) {
        if line.starts_with("skipped: ") {
            self.skipped.push(line.to_owned());
        } else if let Some(rest) = line.strip_prefix("SKIPPED [") {
            // Several for the same reason are one line.
            let count = rest.split(']').next().and_then(|count| count.parse().ok()).unwrap_or(1);
            self.skipped.extend(std::iter::repeat_n(line.to_owned(), count));
        }
        // Runs of more than a minute are also said in minutes, in brackets.
        let ended = line.split(" (").next().is_some_and(|line| line.ends_with('s'));
        let of_pytest = ended && line.contains(" in ") && line.contains("ed");
        let result = line.strip_prefix("test result: ").or(of_pytest.then_some(line));
        let Some(result) = result else {
            return;
        };
        let count = |what: &str| {
            let words: Vec<&str> =
                result.split([' ', ';', '.', ',']).filter(|w| !w.is_empty()).collect();
            let at = words.iter().position(|&word| word == what)?;
            words.get(at.checked_sub(1)?)?.parse::<usize>().ok()
        };
        self.passed += count("passed").unwrap_or(0);
        self.failed += count("failed").unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    #[test]
    fn results_are_added_up() {
        let mut tally = Tally::default();
        tally.read("test result: ok. 10 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out");
        tally
            .read("test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out");
        tally.read("skipped: data set `no2` is absent");
        tally.read("SKIPPED [6] tests/python/test_report.py: Chromium is absent");
        tally.read("running 3 tests");
        assert_eq!((tally.passed, tally.failed, tally.skipped.len()), (13, 2, 7));
        tally.read("1 failed, 4 passed in 0.52s");
        tally.read("5 passed, 2 skipped, 1 warning in 98.01s (0:01:38)");
        tally.read("what is said in passing is not counted");
        assert_eq!((tally.passed, tally.failed), (22, 3));
    }
}
