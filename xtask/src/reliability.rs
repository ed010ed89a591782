//! `cargo xtask reliability`: the figures of other projects' test suites, kills, a full disk, fuzzing and mutation
//! testing, written to `docs/results/reliability.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::bench::{cargo, run_command, target_folder, windlass_command};
use crate::interruptions;
use crate::python::install;

const PAGE: &str = "docs/results/reliability.md";
/// Test suites of other projects, which store figures under these names.
pub(crate) const SUITES: [&str; 4] = ["third_party", "naughty_strings", "estimators", "numbers"];
/// What is tested by mutants: the core, the statistics, the splits and distillation.
const MUTATED: [&str; 7] = [
    "crates/windlass/src/**/*.rs",
    "crates/windlass-compare/src/paired.rs",
    "crates/windlass-compare/src/statistics.rs",
    "crates/windlass-compare/src/splits.rs",
    "crates/windlass-model/src/split.rs",
    "crates/windlass-model/src/drift.rs",
    "crates/windlass-model/src/distill.rs",
];

/// Figures of a check, stored in the target folder until the page is made.
pub(crate) struct Figures {
    title: &'static str,
    command: &'static str,
    rows: Vec<(String, String)>,
}

impl Figures {
    pub(crate) fn new(title: &'static str, command: &'static str) -> Self {
        Self { title, command, rows: vec![] }
    }

    pub(crate) fn and(mut self, what: &str, figure: &str) -> Self {
        self.rows.push((what.to_owned(), figure.to_owned()));
        self
    }

    /// Stores the figures under a name. Other figures of the same name are kept.
    pub(crate) fn store(self, name: &str) -> Result<()> {
        let path = folder()?.join(format!("{name}.json"));
        let stored = fs::read(&path).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let mut rows: Vec<Value> = stored
            .as_ref()
            .and_then(|stored: &Value| stored["rows"].as_array())
            .cloned()
            .unwrap_or_default();
        for (what, figure) in self.rows {
            let row = json!([what, figure]);
            match rows.iter_mut().find(|row| row[0] == what) {
                Some(old) => *old = row,
                None => rows.push(row),
            }
        }
        let figures = json!({ "title": self.title, "command": self.command, "rows": rows });
        fs::write(&path, figures.to_string())
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

/// The tests of a suite.
pub(crate) fn suite_file(suite: &str) -> String {
    format!("python/tests/test_{suite}.py")
}

/// The folder of the figures.
fn folder() -> Result<PathBuf> {
    let folder = target_folder()?.join("reliability");
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// Runs the suites, kills and the full disk, and makes the page from their figures and the last ones of
/// `cargo xtask fuzz` and `cargo xtask mutants`.
pub(crate) fn run() -> Result<()> {
    let windlass = windlass_command()?;
    let mut tests = install(true)?.command();
    tests.args(["-m", "pytest", "--quiet", "-rs", "-p", "no:cacheprovider"]);
    tests.args(SUITES.map(suite_file));
    tests.env("WINDLASS", &windlass).env("WINDLASS_RELIABILITY", folder()?);
    ensure!(tests.status()?.success(), "a suite failed");
    let figures = Figures::new("Interruptions", "cargo xtask test --all");
    interruptions::kills(&windlass)?;
    let figures = figures.and("kills of augment, train and compare: output complete or absent, other files unchanged, the same command succeeds afterwards", &format!("{} of {0}", 3 * interruptions::KILLS));
    let full = interruptions::full_disk(&windlass)?.unwrap_or_else(|| "passed".into());
    figures
        .and("commands on a full disk: refused with a hint, no file changed or left behind", &full)
        .store("interruptions")?;
    page()
}

fn page() -> Result<()> {
    let mut page = format!(
        "# Reliability

Made by `cargo xtask reliability`, from the last run of each command below. windlass {}, {}, {} threads.
Files, strings and checks of other projects are named with their source in the tests of the same name in `python/tests`.
",
        env!("CARGO_PKG_VERSION"),
        run_command(std::process::Command::new("rustc").arg("--version"))?.trim(),
        std::thread::available_parallelism()?,
    );
    for name in SUITES.into_iter().chain(["interruptions", "fuzz", "mutants"]) {
        let path = folder()?.join(format!("{name}.json"));
        let text = fs::read(&path).with_context(|| {
            format!(
                "no figures of `{name}`: run `cargo xtask fuzz` and `cargo xtask mutants` first"
            )
        })?;
        let figures: Value = serde_json::from_slice(&text)?;
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), Into::into);
        writeln!(page, "\n## {}\n", text(&figures["title"]))?;
        if let Some(command) = figures["command"].as_str() {
            writeln!(page, "`{command}`\n")?;
        }
        writeln!(page, "| | |\n| :-- | --: |")?;
        for row in figures["rows"].as_array().context("figures without rows")? {
            writeln!(page, "| {} | {} |", text(&row[0]), text(&row[1]))?;
        }
    }
    fs::write(PAGE, page).with_context(|| format!("cannot write {PAGE}"))?;
    eprintln!("wrote {PAGE}");
    Ok(())
}

/// Tests a sample of about `count` mutants: changes of the source that some test should notice. Outcomes are stored
/// in the target folder; a later call goes on with mutants that were not tested or not noticed. Equivalent mutants
/// are in `.cargo/mutants.toml`, with the reason.
pub(crate) fn mutants(count: usize) -> Result<()> {
    let mutants = || {
        let mut command = cargo();
        command.arg("mutants").args(MUTATED.iter().flat_map(|file| ["--file", file]));
        command
    };
    let list = run_command(mutants().arg("--list"))
        .context("is cargo-mutants installed? cargo install --locked cargo-mutants")?;
    let names: Vec<&str> = list.lines().collect();
    let sample: Vec<&str> =
        names.iter().copied().step_by((names.len() / count.max(1)).max(1)).collect();
    let mut outcomes = Outcomes::load()?;
    let left: Vec<&str> =
        sample.iter().copied().filter(|name| !outcomes.is_noticed(name)).collect();
    eprintln!("{} of {} mutants of the sample are left", left.len(), sample.len());
    if !left.is_empty() {
        let mut command = mutants();
        command.args(["--baseline=skip", "--timeout=300", "--no-times", "--output"]);
        command.arg(Outcomes::folder()?);
        for name in left {
            command.arg("--re").arg(format!("^{}$", escaped(name)));
        }
        let code = command.status()?.code();
        // 2: some mutants were missed; 3: some exceeded the time limit, which counts as noticed.
        ensure!(matches!(code, Some(0 | 2 | 3)), "cargo mutants ended with {code:?}");
        outcomes = Outcomes::load()?;
    }
    let counted = |kinds: &[&str]| {
        let of = |name: &&&str| {
            outcomes.0.get(**name).is_some_and(|kind| kinds.contains(&kind.as_str()))
        };
        sample.iter().filter(of).count()
    };
    let missed = counted(&["missed"]);
    Figures::new("Mutation testing", "cargo xtask mutants")
        .and(
            "mutants of the core, the statistics, the splits and distillation",
            &names.len().to_string(),
        )
        .and("of them in the sample", &sample.len().to_string())
        .and("noticed by a test", &counted(&["caught", "timeout"]).to_string())
        .and("not compiled", &counted(&["unviable"]).to_string())
        .and("not noticed", &missed.to_string())
        .store("mutants")?;
    ensure!(missed == 0, "{missed} mutants were not noticed: see {}", Outcomes::path()?.display());
    Ok(())
}

/// What became of each mutant: `caught`, `timeout`, `unviable` or `missed`.
struct Outcomes(BTreeMap<String, String>);

impl Outcomes {
    fn folder() -> Result<PathBuf> {
        let folder = target_folder()?.join("mutants");
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    fn path() -> Result<PathBuf> {
        Ok(Self::folder()?.join("outcomes.json"))
    }

    /// Adds the outcomes of the last run, also of one that was interrupted, to those before.
    fn load() -> Result<Self> {
        let path = Self::path()?;
        let mut outcomes: BTreeMap<String, String> = fs::read(&path)
            .ok()
            .and_then(|text| serde_json::from_slice(&text).ok())
            .unwrap_or_default();
        for kind in ["missed", "unviable", "timeout", "caught"] {
            let list = Self::folder()?.join("mutants.out").join(format!("{kind}.txt"));
            for name in fs::read_to_string(list).unwrap_or_default().lines() {
                outcomes.insert(name.to_owned(), kind.to_owned());
            }
        }
        fs::write(&path, serde_json::to_vec_pretty(&outcomes)?)?;
        Ok(Self(outcomes))
    }

    fn is_noticed(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(|kind| kind != "missed")
    }
}

/// The text as a regular expression.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        if letter.is_ascii_punctuation() {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}
