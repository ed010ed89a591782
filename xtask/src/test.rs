//! `cargo xtask test`: everything that must hold before a change lands.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::bench::{cargo, target_folder};
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

pub(crate) fn run(quick: bool) -> Result<()> {
    let mut tally = Tally::default();
    let mut failures = vec![];
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
        tally.skipped.push("skipped: torch, and what needs it (--quick)".into());
    }
    let mut reasons = tally.skipped.clone();
    reasons.dedup();
    for reason in reasons {
        eprintln!("{reason}");
    }
    let mut out = std::io::stdout();
    let (passed, failed, skipped) = (tally.passed, tally.failed, tally.skipped.len());
    writeln!(out, "{passed} passed, {failed} failed, {skipped} skipped")?;
    if !failures.is_empty() {
        bail!("failed: {}", failures.join(", "));
    }
    Ok(())
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
    if quick {
        tests.arg(format!("--ignore={}", package.join("torch.py").display()));
    }
    tests.arg(&package);
    tests.args(["--doctest-glob=*.md", "docs/python.md"]);
    tests.args(["crates/windlass-cli/tests/python", "python/tests"]);
    passed &= watched(tests.env("WINDLASS", windlass), tally)?;
    Ok(passed)
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
