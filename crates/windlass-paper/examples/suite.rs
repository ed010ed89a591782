//! The evidence: every method on the paper's tables, under equal conditions.
//!
//! `cargo xtask suite` runs it and writes `docs/results/compare-suite.md`. Completed runs are stored in a folder, so
//! that it can be interrupted and resumed.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use windlass_compare::statistics::{Interval, SplitSizes, over_splits};
use windlass_compare::{
    Candidate, CandidateSummary, CompareConfig, Comparison, ComparisonSummary, Finding, MethodName,
    ModelName, Run, RunDir, RunPlan, RunProgress,
};
use windlass_model::{NamedTable, Split};
use windlass_paper::data::{self, DataSet};
use windlass_table::{Columns, DEFAULT_MEMORY, LoadedTable, Table};

const SETS: [&str; 9] = [
    "airfoil",
    "no2",
    "boston",
    "concrete",
    "yacht",
    "auto_mpg",
    "california",
    "skillcraft",
    "crime",
];
const SIZES: [usize; 4] = [50, 100, 200, 400];
const SEED: u64 = 1;
/// Settings that every method tries.
const TUNE: usize = 8;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Stores runs, and prints the progress.
struct RunRecorder<'a> {
    folder: &'a RunDir,
    name: &'a str,
}

impl RunProgress for RunRecorder<'_> {
    fn done(&self, run: &Run, done: usize, all: usize) -> windlass_compare::Result<()> {
        if done.is_multiple_of(50) || done == all {
            eprintln!("{}: {done} of {all} runs", self.name);
        }
        self.folder.append(run)
    }
}

fn loaded(set: &DataSet, columns: &Columns) -> Result<LoadedTable> {
    let table = Table::from_batch(&set.load()?, Path::new(set.name))?;
    Ok(LoadedTable::load(&table, columns, false, DEFAULT_MEMORY, &())?)
}

/// The defaults of `windlass compare`, one repeat, and trials inside the training rows.
fn config(set: &DataSet, repeats: usize) -> CompareConfig {
    let columns = Columns {
        target: set.target.iter().map(|&name| name.to_owned()).collect(),
        carry: set.domain.iter().map(|&name| name.to_owned()).collect(),
        ..Columns::default()
    };
    CompareConfig {
        rule: set.domain.map_or(Split::Rows, |column| Split::Domain(column.to_owned())).into(),
        repeats,
        tune: TUNE,
        seed: SEED,
        ..CompareConfig::new(columns)
    }
}

/// Runs a comparison, or what is left of it.
fn run(set: &DataSet, mut config: CompareConfig, place: &Path) -> Result<ComparisonSummary> {
    let loaded = loaded(set, &config.columns)?;
    let path = PathBuf::from(set.name);
    let table = NamedTable { table: &loaded, path: &path };
    let least = Comparison::new(&config, table, None)?
        .splits()
        .iter()
        .map(|split| split.train.len())
        .min()
        .unwrap_or(0);
    config.sizes = SIZES.iter().filter(|&&size| size <= least).map(|&size| Some(size)).collect();
    let comparison = Comparison::new(&config, table, None)?;
    let tables = vec![loaded.profile.fingerprint.clone()];
    let plan = RunPlan::new("cargo xtask suite".into(), config.clone(), tables);
    let (folder, done) = RunDir::create_or_resume(place, &plan)?;
    let runs = comparison.run(done, &RunRecorder { folder: &folder, name: set.name })?;
    let summary = comparison.summary(&runs);
    folder.finish(plan, loaded.batch.num_rows(), runs)?;
    Ok(summary)
}

/// The summaries of all data sets that are there.
type Found = Vec<(&'static str, ComparisonSummary)>;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let (Some(work), Some(output)) = (args.next(), args.next()) else {
        return Err("suite FOLDER OUTPUT.md [REPEATS]".into());
    };
    let repeats = args.next().map_or(Ok(1), |text| text.parse())?;
    let mut summaries: Found = vec![];
    for name in SETS {
        let set = data::named(name)?;
        if set.paths(&data::search_dirs()).is_err() {
            eprintln!("skipped: data set `{name}` is absent");
            continue;
        }
        let place = Path::new(&work).join(name);
        summaries.push((set.name, run(set, config(set, repeats), &place)?));
    }
    std::fs::write(&output, page(&summaries, repeats))?;
    Ok(())
}

fn line(
    summary: &ComparisonSummary,
    size: usize,
    candidate: Candidate,
) -> Option<&CandidateSummary> {
    summary.lines.iter().find(|line| line.size == Some(size) && line.candidate == candidate)
}

/// A logarithm of a ratio, times 100.
fn points(ratio: f64) -> String {
    format!("{:+.1}", 100.0 * ratio).replace('-', "−")
}

/// A mean over data sets, each of which counts as one.
fn over_sets(means: &[f64]) -> Interval {
    over_splits(means, SplitSizes { train: 1, test: 0, all: 1 })
}

fn with_interval(found: &Interval) -> String {
    let ends = [found.low, found.high].map(points);
    format!("{} ({} … {})", points(found.mean), ends[0], ends[1])
}

fn page(methods: &Found, repeats: usize) -> String {
    let mut out = String::new();
    let splits = methods.iter().map(|(name, summary)| {
        format!("{name} {}", summary.lines.first().map_or(0, |line| line.splits))
    });
    let _ = write!(
        out,
        "# Does augmentation help with few rows?\n\n\
         Made by `cargo xtask suite{}` with windlass {}, seed {SEED}. Splits: {}.\n\n\
         Rows are held out by folds (airfoil, no2, boston, concrete, yacht, auto_mpg, california) or by \
         domain (skillcraft by league, crime by state); 50 to 400 of the other rows are used for training, the \
         same for every method. Methods, models and networks are the defaults of `windlass compare`: d-128-128-1, \
         AdamW, batches of 16, 200 epochs, of which the error on a fifth of the training rows chooses the best. \
         **Every method tries {TUNE} settings** (the default, and seven others of learning rate, weight decay and \
         strength, the same learning rates and decays for all) and keeps the one with the least error on those \
         validation rows; ridge and forests try as many, and are then fitted on all training rows. Everything is \
         fitted on training rows only. FOMA, CEMS, rare targets and `train --auto` have pages of their own.\n\n\
         Figures are 100·ln(RMSE / RMSE of the network without augmentation) over the held-out rows of all splits: −5 is \
         about 5 % less error. A split with large errors counts more: on skillcraft, networks fail on single rows of \
         leagues that they have not seen. **Bold**: differs from 0 at 5 % after Holm's correction over the methods of a column. \
         The last columns are the mean over data sets with its 95 % interval (each data set counts once), and \
         the mean rank by RMSE. The placebo is the network without augmentation with other random numbers: what chance \
         does to the choice among {TUNE} settings.\n",
        if repeats == 1 { String::new() } else { format!(" {repeats}") },
        env!("CARGO_PKG_VERSION"),
        splits.collect::<Vec<_>>().join(", "),
    );
    let mut conclusions = vec![];
    for size in SIZES {
        table_of_methods(&mut out, methods, size, &mut conclusions);
    }
    out.push_str("\n## What this says\n\n");
    for sentence in &conclusions {
        let _ = writeln!(out, "* {sentence}");
    }
    out
}

fn candidates() -> Vec<Candidate> {
    let CompareConfig { models, methods, .. } = CompareConfig::new(Columns::default());
    Candidate::all(&models, &methods, 0)
}

fn table_of_methods(out: &mut String, methods: &Found, size: usize, conclusions: &mut Vec<String>) {
    let erm = Candidate::new(ModelName::Mlp, Some(MethodName::Erm));
    let sets: Vec<&(&str, ComparisonSummary)> =
        methods.iter().filter(|(_, summary)| line(summary, size, erm).is_some()).collect();
    let names: Vec<&str> = sets.iter().map(|(name, _)| *name).collect();
    let _ = write!(
        out,
        "\n## {size} training rows\n\n| | {} | all sets | rank |\n| :-- |{} --: | --: |\n",
        names.join(" | "),
        " --: |".repeat(sets.len())
    );
    let mut ranks: BTreeMap<Candidate, f64> = BTreeMap::new();
    for (_, summary) in &sets {
        let mut order: Vec<(Candidate, f64)> = candidates()
            .into_iter()
            .filter(|candidate| candidate.method != Some(MethodName::Placebo))
            .filter_map(|candidate| Some((candidate, line(summary, size, candidate)?.rmse)))
            .collect();
        order.sort_by(|a, b| a.1.total_cmp(&b.1));
        for (place, (candidate, _)) in order.into_iter().enumerate() {
            *ranks.entry(candidate).or_default() += (place + 1) as f64 / sets.len() as f64;
        }
    }
    let (mut better, mut worse) = (vec![], vec![]);
    for candidate in candidates() {
        let mut cells = vec![];
        let mut means = vec![];
        for (_, summary) in &sets {
            let line = line(summary, size, candidate).expect("every candidate ran");
            cells.push(match &line.difference {
                None => format!("RMSE {}", short(line.rmse)),
                Some(found) => {
                    means.push(found.mean);
                    let figure = points(found.mean);
                    let differs = matches!(line.finding, Finding::Better | Finding::Worse);
                    if differs { format!("**{figure}**") } else { figure }
                }
            });
        }
        let rank = ranks.get(&candidate).map_or_else(String::new, |rank| format!("{rank:.1}"));
        let all = if means.is_empty() {
            String::new()
        } else {
            let found = over_sets(&means);
            let result = format!("{} {}", candidate.name(false), with_interval(&found));
            if found.high < 0.0 {
                better.push(result);
            } else if found.low > 0.0 {
                worse.push(result);
            }
            with_interval(&found)
        };
        let name = candidate.name(false);
        let _ = writeln!(out, "| {name} | {} | {all} | {rank} |", cells.join(" | "));
    }
    let list = |names: &[String]| if names.is_empty() { "none".into() } else { names.join("; ") };
    conclusions.push(format!(
        "With {size} rows, over {} sets: better than the tuned network without augmentation, the interval \
         over sets below 0: {}. Worse: {}.",
        sets.len(),
        list(&better),
        list(&worse)
    ));
}

/// About three significant digits.
fn short(value: f64) -> String {
    let decimals = if value >= 100.0 {
        0
    } else if value >= 10.0 {
        1
    } else if value >= 1.0 {
        2
    } else {
        3
    };
    format!("{value:.decimals$}")
}
