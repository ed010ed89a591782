//! `cargo xtask test`: everything that must hold before a change lands.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::bench::{cargo, run_command, target_folder};
use crate::python::install;

/// A check: its name, the arguments of cargo, and variables to set.
struct Check {
    name: &'static str,
    arguments: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
}

/// What a plain build leaves out.
const DEEP: &str = "windlass-cli/deep";

const CHECKS: [Check; 5] = [
    Check { name: "format", arguments: &["fmt", "--all", "--check"], variables: &[] },
    Check {
        name: "clippy",
        arguments: &[
            "clippy",
            "--workspace",
            "--features",
            DEEP,
            "--all-targets",
            "--locked",
            "--",
            "--deny",
            "warnings",
        ],
        variables: &[],
    },
    Check {
        // Unit tests, integration tests, and benches, which then run once on small data. All but the library of the
        // Python package, which needs an interpreter around it; its tests come last.
        name: "tests and benches",
        arguments: &[
            "test",
            "--workspace",
            "--features",
            DEEP,
            "--tests",
            "--benches",
            "--examples",
            "--locked",
            "--no-fail-fast",
            "--",
            "--show-output",
        ],
        // The same random cases every time, and no files left behind; `cargo test` alone tries new ones.
        variables: &[("PROPTEST_RNG_SEED", "7"), ("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "1")],
    },
    Check {
        name: "doc tests",
        arguments: &["test", "--workspace", "--features", DEEP, "--doc", "--locked"],
        variables: &[],
    },
    Check {
        name: "docs",
        arguments: &["doc", "--workspace", "--features", DEEP, "--no-deps", "--locked"],
        variables: &[("RUSTDOCFLAGS", "--deny warnings")],
    },
];

/// What the tests said, added up.
#[derive(Default)]
struct Tally {
    passed: usize,
    failed: usize,
    skipped: Vec<String>,
}

/// What is tested of the Python package.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All but torch and clusters.
    Quick,
    /// All, and a little of Spark where Java is there.
    Usual,
    /// All of Spark and Ray, in processes of their own, and nothing else.
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
    let quick = scope == Scope::Quick;
    for check in &CHECKS {
        eprintln!("==> {}", check.name);
        if !check.run(&mut tally)? {
            failures.push(check.name);
        }
    }
    eprintln!("==> Python");
    if !python(quick, &mut tally)? {
        failures.push("Python");
    }
    if quick {
        tally.skipped.push("skipped: torch and Spark, and what needs them (--quick)".into());
    }
    tally.end(&failures)
}

/// Runs the tests that need Python, against the wheel and the command that the other tests have built.
fn python(quick: bool, tally: &mut Tally) -> Result<bool> {
    let target = target_folder()?;
    let installed = install(!quick, false)?;
    let windlass = target.join("debug").join(format!("windlass{}", std::env::consts::EXE_SUFFIX));
    let package = installed.site.join("windlass");
    let mut passed = true;
    let mut types = installed.command();
    types.args(["-m", "mypy", "--strict", "--no-incremental", "--config-file", "python/mypy.ini"]);
    passed &=
        watched(types.arg(&package).args(["python/examples", "python/tests/typed.py"]), tally)?;
    let mut stubs = installed.command();
    stubs.args(["-m", "mypy.stubtest", "windlass._windlass", "--mypy-config-file"]);
    passed &= watched(stubs.arg("python/mypy.ini"), tally)?;
    let mut tests = installed.command();
    tests.args(["-m", "pytest", "--quiet", "-rs", "-p", "no:cacheprovider", "--doctest-modules"]);
    // Modules for libraries that are not in this environment.
    let absent: &[&str] = if quick { &["spark", "ray", "torch"] } else { &["spark", "ray"] };
    for module in absent {
        tests.arg(format!("--ignore={}", package.join(format!("{module}.py")).display()));
    }
    tests.arg("--ignore=python/tests/cluster");
    tests.arg(&package);
    tests.args(["--doctest-glob=*.md", "docs/python.md"]);
    tests.args(["crates/windlass-cli/tests/python", "python/tests"]);
    passed &= watched(tests.env("WINDLASS", &windlass), tally)?;
    if quick {
        return Ok(passed);
    }
    if !has_java() {
        tally.skipped.push("skipped: Spark, because there is no Java here".into());
        return Ok(passed);
    }
    eprintln!("==> Spark");
    let mut spark = installed.on_clusters()?.command();
    spark.args(CLUSTER_TESTS).arg("python/tests/cluster/test_spark.py");
    passed &= watched(spark.env("WINDLASS", &windlass), tally)?;
    Ok(passed)
}

const CLUSTER_TESTS: [&str; 6] = ["-m", "pytest", "--quiet", "-rs", "-p", "no:cacheprovider"];

/// Runs the tests of Spark and Ray, whose executors and workers are processes of their own.
fn on_clusters(tally: &mut Tally) -> Result<bool> {
    if !has_java() {
        eprintln!("installing Java");
        run_command(Command::new("apt-get").args(["update", "-qq"]))?;
        let java = ["install", "-y", "-qq", "openjdk-17-jre-headless"];
        run_command(Command::new("apt-get").args(java))?;
    }
    let target = target_folder()?;
    let windlass = target.join("debug").join(format!("windlass{}", std::env::consts::EXE_SUFFIX));
    // With the features that the other checks build with, so that nothing is compiled twice.
    let build = ["build", "--workspace", "--features", DEEP, "--bin", "windlass", "--locked"];
    run_command(cargo().args(build))?;
    let mut tests = install(false, false)?.on_clusters()?.command();
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
    /// Says what came of it all.
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
