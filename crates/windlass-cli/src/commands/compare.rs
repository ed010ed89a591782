//! `compare`: evaluate augmentation methods and models on held-out rows.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use indicatif::ProgressBar;
use windlass::ParamStyle;
use windlass_compare::describe::quoted;
use windlass_compare::{
    AddTo, AddedRows, Candidate, CompareConfig, Comparison, ComparisonSummary, Key, MethodName,
    ModelName, NextStep, Results, Run, RunDir, RunPlan, RunProgress, SplitRule, check_labels,
    in_percent, p_value,
};
use windlass_model::NamedTable;
use windlass_plot::format::signed_percent;
use windlass_table::{Columns, LoadedTable, Table};

use super::network::TrainingArgs;
use super::typed::{command, published, table_name, typed_without};
use crate::options::{choices, require_target};
use crate::terminal::{self, Progress, to_json};
use crate::{Error, Result};

/// Compare augmentation methods and models on held-out rows
#[derive(Debug, Args)]
#[command(before_long_help = "\
Examples:
  windlass compare cars.csv --target mpg --output cars
  windlass compare cars.csv --target mpg --methods none,ada,c-mixup,placebo --tune 8 --output cars
  windlass compare sales.csv --target sold --split time:day --output sales
  windlass compare sites.csv --target yield --split domain:site --output sites
  windlass compare cars.csv --target mpg --sizes 50,100,200,all --output cars
  windlass compare cars.csv --target mpg --rows sdv=synthetic.csv --output cars")]
#[command(after_long_help = "\
All methods train on the same rows, from the same initial weights, with the same number of steps
and of hyperparameter settings. Everything that is fitted is fitted on training rows only.

Changes are differences in expected RMSE, at this number of training rows, to the network without
augmentation, with 95 % intervals:
  better, worse                    The 95 % interval excludes 0
  probably better, probably worse  The 80 % interval excludes 0
  cannot tell                      Both intervals contain 0
Intervals and p-values of augmentations are corrected for multiple comparisons (Holm), those of
other models are not. Models with added rows (--rows) are compared with the same model without
them; there is no verdict if these rows were probably derived from held-out rows. The last lines
recommend a model and the command that trains it.

Exit codes: 0 an augmentation is better, 3 otherwise.")]
pub(crate) struct CompareArgs {
    /// New folder for the report, plots and results
    #[arg(short, long, value_name = "FOLDER", required_unless_present = "resume")]
    output: Option<PathBuf>,
    /// Resume an interrupted comparison: the same command with this instead of --output
    #[arg(long, value_name = "FOLDER", conflicts_with = "output")]
    resume: Option<PathBuf>,
    /// Augmentation methods to train networks with [default: those of the ADA paper, and placebo; with --rare also those
    /// for rare targets]
    #[arg(long, value_name = "METHODS", value_delimiter = ',', value_parser = method_names())]
    methods: Vec<Option<MethodName>>,
    /// Models to compare; without a network, mlp without augmentation is added as the reference [default:
    /// mlp,ridge,forest, and auto if the table has at most 4000 rows × features]
    #[arg(long, value_name = "MODELS", value_delimiter = ',', value_parser = choices(&[
        ("mlp", "Multilayer perceptron: --hidden, --activation", ModelName::Mlp),
        ("fcn3", "Network of the ADA paper for tables", ModelName::Fcn3),
        ("ridge", "Ridge regression", ModelName::Ridge),
        ("forest", "Random forest", ModelName::Forest),
        ("gp", "Gaussian process", ModelName::Gp),
        ("extra-trees", "Extremely randomized trees", ModelName::ExtraTrees),
        ("boosting", "Gradient-boosted trees", ModelName::Boosting),
        ("auto", "Automatic model selection, as in `train --auto`", ModelName::Auto),
        ("distilled", "A small network distilled from it, as in `train --auto --distill`", ModelName::Distilled),
    ]))]
    models: Vec<ModelName>,
    /// Rows from elsewhere (another generator, a simulator, an expert), added to the training rows of every model; may
    /// be repeated. They need the columns of the table
    #[arg(long, value_name = "LABEL=FILE", value_parser = labeled_file)]
    rows: Vec<(String, PathBuf)>,
    /// Test on this table instead of on held-out rows
    #[arg(long, value_name = "FILE", conflicts_with = "split")]
    test: Option<PathBuf>,
    /// Number of folds; --split domain uses one fold for each of up to ten domains, --split time blocks of the later
    /// half
    #[arg(long, value_name = "N", default_value_t = CompareConfig::FOLDS, value_parser = clap::value_parser!(u16).range(2..=1000))]
    folds: u16,
    /// Number of repeats with different folds; 1 if only one split is possible
    #[arg(long, value_name = "N", default_value_t = CompareConfig::REPEATS, value_parser = clap::value_parser!(u16).range(1..=1000))]
    repeats: u16,
    /// Numbers of training rows for learning curves
    #[arg(long, value_name = "N,N,…,all", value_delimiter = ',', default_value = "all", value_parser = size)]
    sizes: Vec<Size>,
    /// Hyperparameter settings that each candidate tries inside the training rows; the first are the defaults
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    tune: u16,
    /// Report errors on rows with rare targets, and compare methods for them
    ///
    /// `high`, `low` and `both` are the extremes of a box plot, `density` are targets in sparse ranges, FILE is a CSV
    /// file with columns y and phi: the relevance of targets, from 0 to 1. Rows with a relevance of 0.8 or more are
    /// rare.
    #[arg(long, value_name = "high|low|both|density|FILE")]
    rare: Option<String>,
    #[command(flatten)]
    common: TrainingArgs,
}

/// A parser for names of methods; `None` is all.
fn method_names() -> impl TypedValueParser<Value = Option<MethodName>> {
    let name = |method: MethodName| {
        let value = PossibleValue::new(method.name()).help(method.help());
        if method == MethodName::Erm { value.alias("erm") } else { value }
    };
    let all =
        PossibleValue::new("all").help("All methods; those for rare targets only with --rare");
    PossibleValuesParser::new(std::iter::once(all).chain(MethodName::all().into_iter().map(name)))
        .map(|name| MethodName::named(&name))
}

/// A label and a file.
fn labeled_file(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((label, file)) if !label.is_empty() && !file.is_empty() => {
            Ok((label.to_owned(), file.into()))
        }
        _ => Err("expected LABEL=FILE".into()),
    }
}

/// A number of training rows, or all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size(Option<usize>);

fn size(text: &str) -> Result<Size, String> {
    match text {
        "all" => Ok(Size(None)),
        _ => text
            .parse()
            .map(|rows| Size(Some(rows)))
            .map_err(|_| "expected a number or `all`".into()),
    }
}

impl CompareArgs {
    fn methods(&self) -> Vec<MethodName> {
        let all = self.methods.contains(&None);
        if self.methods.is_empty() && self.has_no_network() && self.rare.is_none() {
            return vec![MethodName::Erm];
        }
        let chosen = |method: &MethodName| {
            let default = self.methods.is_empty() && method.is_default();
            let unnamed = if method.is_for_rare_targets() {
                self.rare.is_some() && (all || self.methods.is_empty())
            } else {
                all || default
            };
            unnamed || self.methods.contains(&Some(*method))
        };
        MethodName::all().into_iter().filter(chosen).collect()
    }

    fn models(&self) -> Option<Vec<ModelName>> {
        let mut models = vec![];
        for &model in &self.models {
            if !models.contains(&model) {
                models.push(model);
            }
        }
        // Without a network, its plain one is the reference.
        if self.has_no_network() {
            models.insert(0, ModelName::Mlp);
        }
        (!models.is_empty()).then_some(models)
    }

    fn has_no_network(&self) -> bool {
        !self.models.is_empty() && !self.models.iter().any(|model| model.is_network())
    }

    fn sizes(&self) -> Vec<Option<usize>> {
        let mut sizes: Vec<Option<usize>> = self.sizes.iter().map(|size| size.0).collect();
        sizes.sort_by_key(|size| size.unwrap_or(usize::MAX));
        sizes.dedup();
        sizes
    }

    fn config(&self, columns: Columns) -> Result<CompareConfig> {
        if self.common.columns.wants_floats() {
            return Err(Error::does_not_apply("--integers float", "models"));
        }
        self.common.network.check()?;
        let usual = CompareConfig::new(columns);
        Ok(CompareConfig {
            drop_missing_target: self.common.drop_missing_target,
            scaling: self.common.scale,
            target_scaling: self.common.target_scale,
            methods: self.methods(),
            models: self.models().unwrap_or_else(|| usual.models.clone()),
            rows: self.rows.iter().map(|(label, _)| label.clone()).collect(),
            rule: if self.test.is_some() {
                SplitRule::TestFile
            } else {
                self.common.split().into()
            },
            folds: self.folds.into(),
            repeats: self.repeats.into(),
            sizes: self.sizes(),
            tune: self.tune.into(),
            network: self.common.network.compared("compare")?,
            seed: self.common.seed,
            ..usual
        })
    }
}

pub(crate) fn run(args: &CompareArgs) -> Result<u8> {
    let started = Instant::now();
    terminal::heed_ctrl_c();
    args.config(Columns::default())?;
    check_labels(args.rows.iter().map(|(label, _)| label.as_str()))?;
    let table = args.common.read.open(&args.common.inputs)?;
    require_target(&args.common.target, &table)?;
    let mut config = args.config(args.common.roles(&table))?;
    let progress = Progress::new(args.common.quiet);
    let load = |table: &Table| {
        let (drop, memory) = (config.drop_missing_target, args.common.read.memory);
        LoadedTable::load(table, &config.columns, drop, memory, &progress)
    };
    let loaded = load(&table)?;
    let test = match &args.test {
        Some(path) => {
            let table = args.common.read.open(std::slice::from_ref(path))?;
            Some(load(&table).map_err(|error| windlass_compare::Error::from(error).in_file(path))?)
        }
        None => None,
    };
    let to = AddTo {
        table: &loaded,
        test: test.as_ref(),
        rule: &config.rule,
        drop_missing_target: config.drop_missing_target,
    };
    let added = args.rows.iter().map(|(label, path)| read_rows(&args.common, label, path, to));
    let added = added.collect::<Result<Vec<_>>>()?;
    progress.clear();
    config.models.extend(CompareConfig::automatic(&loaded).filter(|_| args.models.is_empty()));
    config.rare = args.rare.as_deref().map(|rare| config.relevance(rare, &loaded)).transpose()?;
    let rows = NamedTable { table: &loaded, path: table.path() };
    let test = test
        .as_ref()
        .zip(args.test.as_deref())
        .map(|(loaded, path)| NamedTable { table: loaded, path });
    let joined = added.iter().map(AddedRows::joined).max_by_key(|table| table.batch.num_rows());
    config.check_memory(joined.unwrap_or(&loaded), args.common.read.memory)?;
    let comparison = Comparison::new(&config, rows, test)?.with_rows(&added)?;
    match comparison.shared_rows_warning() {
        Some(warning) if !args.common.quiet => terminal::say(&format!("warning: {warning}")),
        None if test.is_none() => args.common.note_random_split(&loaded),
        _ => {}
    }
    let tables = std::iter::once(&rows)
        .chain(&test)
        .map(|rows| rows.table.profile.fingerprint.clone())
        .chain(added.iter().map(|rows| rows.fingerprint().to_owned()))
        .collect();
    let plan = RunPlan::new(published(&command(None)), config.clone(), tables);
    let (folder, done) = match (&args.output, &args.resume) {
        (_, Some(path)) => RunDir::resume(path, &plan)?,
        (Some(path), None) if args.common.force => (RunDir::replace(path, &plan)?, vec![]),
        (Some(path), None) => (RunDir::create(path, &plan)?, vec![]),
        (None, None) => unreachable!("one of them is required"),
    };
    terminal::begin_writing();
    let runs = match execute(&comparison, &folder, done, args.common.quiet) {
        Ok(runs) => runs,
        Err(error) => {
            // After a system error the runs can be resumed. An invalid setting stays invalid, and its folder would
            // be an obstacle for the corrected command.
            if args.output.is_some() && (!error.is_fault() || folder.is_empty()) {
                folder.discard();
            }
            return Err(error.into());
        }
    };
    let mut summary = comparison.summary(&runs);
    summary.next.iter_mut().for_each(|next| add_command(next, &args.rows));
    if runs.len() < comparison.keys().len() {
        terminal::say(&format!(
            "interrupted after {} of {} runs, which are saved. To resume:\n  {}",
            runs.len(),
            comparison.keys().len(),
            command(Some(folder.path()))
        ));
        return Err(windlass_compare::Error::Interrupted.into());
    }
    let results = folder.finish(plan, loaded.batch.num_rows(), runs)?;
    write_report(&folder, &comparison, &results, &summary, &table_name(&args.common.inputs))?;
    if args.common.json {
        terminal::print(&(to_json(&summary) + "\n"))?;
    } else if !args.common.quiet {
        terminal::print(&in_words(&summary, &comparison))?;
        let report = folder.path().join("report.html");
        terminal::say(&format!("{} ({:.1} s)", report.display(), started.elapsed().as_secs_f64()));
    }
    Ok(if summary.helps { 0 } else { 3 })
}

/// Executes the runs that are not done yet, and shows progress.
fn execute(
    comparison: &Comparison<'_>,
    folder: &RunDir,
    done: Vec<Run>,
    quiet: bool,
) -> windlass_compare::Result<Vec<Run>> {
    let watch = Runs::new(quiet, folder, comparison.keys().len(), comparison.config());
    watch.know(&done);
    let runs = comparison.run(done, &watch);
    watch.bar.finish_and_clear();
    runs
}

/// Reads rows from elsewhere, and prints notes on them.
pub(super) fn read_rows(
    common: &TrainingArgs,
    label: &str,
    path: &Path,
    to: AddTo<'_>,
) -> Result<AddedRows> {
    let file = common.read.open(&[path.to_owned()])?;
    let progress = Progress::new(common.quiet);
    let rows = AddedRows::load(label, &file, to, common.read.memory, &progress)?;
    progress.clear();
    rows.notes().iter().for_each(terminal::note);
    Ok(rows)
}

/// Saves each run when it ends, and shows progress and the best candidate so far.
struct Runs<'a> {
    bar: ProgressBar,
    folder: &'a RunDir,
    config: &'a CompareConfig,
    errors: Mutex<BTreeMap<Key, f64>>,
}

impl<'a> Runs<'a> {
    fn new(quiet: bool, folder: &'a RunDir, all: usize, config: &'a CompareConfig) -> Self {
        let bar = terminal::counted(quiet, all, "runs");
        Self { bar, folder, config, errors: Mutex::new(BTreeMap::new()) }
    }

    /// Adds the errors of runs that were resumed.
    fn know(&self, done: &[Run]) {
        let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        errors.extend(done.iter().map(|run| (run.key, run.metrics.rmse)));
    }

    /// The candidate with the lowest error relative to the reference, over the splits of both.
    fn leader(&self, errors: &BTreeMap<Key, f64>) -> Option<String> {
        let mut sums: BTreeMap<Candidate, (f64, f64)> = BTreeMap::new();
        for (key, error) in errors {
            let Some(candidate) = self.config.reference(key.candidate) else { continue };
            if let Some(reference) = errors.get(&Key { candidate, ..*key }) {
                let (sum, count) = sums.entry(key.candidate).or_default();
                *sum += (error / reference).ln();
                *count += 1.0;
            }
        }
        let mean = |(candidate, (sum, count)): (Candidate, (f64, f64))| (candidate, sum / count);
        let (candidate, by) = sums.into_iter().map(mean).min_by(|a, b| a.1.total_cmp(&b.1))?;
        let is_reference = self.config.reference(candidate) == Some(candidate);
        let change =
            if is_reference { String::new() } else { format!(", RMSE {}", in_percent(by)) };
        Some(format!("best so far: {}{change}", self.config.name(candidate)))
    }
}

impl RunProgress for Runs<'_> {
    fn done(&self, run: &Run, done: usize, _all: usize) -> windlass_compare::Result<()> {
        self.folder.append(run)?;
        if !self.bar.is_hidden() {
            let mut errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
            errors.insert(run.key, run.metrics.rmse);
            self.bar.set_position(done as u64);
            self.bar.set_message(self.leader(&errors).unwrap_or_default());
        }
        Ok(())
    }

    fn cancelled(&self) -> bool {
        terminal::interrupted()
    }
}

/// Writes the page and its figures; commands in them have no absolute paths.
fn write_report(
    folder: &RunDir,
    comparison: &Comparison<'_>,
    results: &Results,
    summary: &ComparisonSummary,
    table: &str,
) -> Result<()> {
    let mut summary = summary.clone();
    if let Some(command) = summary.next.as_mut().and_then(|next| next.command.as_mut()) {
        *command = published(command);
    }
    for (name, bytes) in comparison.report(results, &summary, table)? {
        folder.write(&name, &bytes)?;
    }
    Ok(())
}

/// Adds the command to type to the next step.
fn add_command(next: &mut NextStep, rows: &[(String, PathBuf)]) {
    let rows = next.candidate.rows.and_then(|place| rows.get(place));
    next.command = Some(next_command(next.candidate, rows.map(|(_, path)| path.as_path())));
    if next.candidate.model == ModelName::Auto {
        next.text.push_str(" (with --distill: one small network)");
    }
}

/// The command that trains the recommended candidate: the arguments of this one without those of comparisons.
fn next_command(candidate: Candidate, rows: Option<&Path>) -> String {
    const COMPARED: [&str; 11] = [
        "--output",
        "-o",
        "--resume",
        "--methods",
        "--models",
        "--rows",
        "--test",
        "--folds",
        "--repeats",
        "--sizes",
        "--tune",
    ];
    const SHAPE: [&str; 3] = ["--hidden", "--activation", "--slope"];
    const TRAINING: [&str; 13] = [
        "--epochs",
        "--batch",
        "--lr",
        "--schedule",
        "--optimizer",
        "--momentum",
        "--weight-decay",
        "--clip-norm",
        "--loss",
        "--patience",
        "--shuffle",
        "--valid",
        "--committee",
    ];
    let mut flags = vec!["--json", "--quiet", "-q", "--force"];
    let mut without = COMPARED.to_vec();
    let for_rare = candidate.method.and_then(MethodName::info).is_some_and(|method| method.rare);
    if !for_rare {
        without.push("--rare");
    }
    if candidate.model != ModelName::Mlp {
        without.extend(SHAPE);
    }
    if !candidate.model.is_network() {
        without.extend(TRAINING);
        flags.push("--drop-last");
    }
    let mut words = vec!["windlass train".to_owned()];
    words.extend(typed_without(&without, &flags).into_iter().skip(1));
    words.extend(candidate.train_params().into_iter().map(|(param, value)| {
        let option = ParamStyle::Command.name(param);
        value.map_or_else(|| option.to_string(), |value| format!("{option} {value}"))
    }));
    words.extend(rows.map(|path| format!("--rows {}", quoted(&path.to_string_lossy()))));
    words.push("--output model.windlass".into());
    words.join(" ")
}

/// Aligns cells in columns: the first and the last to the left, the others to the right.
fn columns(rows: &[Vec<String>]) -> String {
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    terminal::aligned(rows, 1..count.saturating_sub(1))
}

/// Errors on rare rows next to those of all rows, at the largest training size.
fn rare_rows(summary: &ComparisonSummary, config: &CompareConfig) -> String {
    let size = config.sizes.last().copied().flatten();
    let head = ["rare rows", "RMSE", "change", "95 % interval", "bias", "bias of all"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for line in summary.lines.iter().filter(|line| line.size == size) {
        let Some((bias, rare)) =
            line.by_target.as_ref().and_then(|by| Some((by.bias, by.rare.as_ref()?)))
        else {
            continue;
        };
        let change = line.rare_difference.map_or([String::new(), String::new()], |found| {
            let [mean, low, high] = [found.mean, found.low, found.high].map(percent);
            [mean, format!("{} … {high}", low.trim_end_matches(" %"))]
        });
        let mut row = vec![config.name(line.candidate), terminal::short(rare.rmse)];
        row.extend(change);
        row.extend([rare.bias, bias].map(terminal::short));
        rows.push(row);
    }
    if rows.len() == 1 {
        return String::new();
    }
    terminal::aligned(&rows, 1..usize::MAX) + "\n"
}

/// A log ratio in percent, in at most eight characters, so that tables fit 80 columns.
fn percent(ratio: f64) -> String {
    match 100.0 * ratio.exp_m1() {
        percent if percent >= 1e4 => "> +10⁴ %".to_owned(),
        percent if percent >= 999.5 => format!("{percent:+.0} %"),
        percent if percent.abs() < 0.05 => "0.0 %".to_owned(),
        percent => signed_percent(percent),
    }
}

fn in_words(summary: &ComparisonSummary, comparison: &Comparison<'_>) -> String {
    let mut text = String::new();
    let name = |candidate| comparison.config().name(candidate);
    let sizes = &comparison.config().sizes;
    for size in sizes {
        if sizes.len() > 1 {
            let rows = size.map_or("all".to_owned(), |rows| rows.to_string());
            let _ = writeln!(text, "{rows} training rows");
        }
        let head = ["", "RMSE", "change", "95 % interval", "p", "verdict"];
        let mut rows = vec![head.map(str::to_owned).to_vec()];
        let of_size = || summary.lines.iter().filter(|line| line.size == *size);
        for line in of_size() {
            let mut row = vec![name(line.candidate), terminal::short(line.rmse)];
            row.extend(line.corrected.map_or_else(
                || vec![String::new(); 3],
                |found| {
                    let [low, high] = [found.low, found.high].map(percent);
                    let low = low.trim_end_matches(" %");
                    vec![percent(found.mean), format!("{low} … {high}"), p_value(found.p)]
                },
            ));
            row.push(line.finding.name().to_owned());
            rows.push(row);
        }
        text += &columns(&rows);
        text.push('\n');
        let worst = of_size().filter_map(|line| {
            let (domain, rmse) = line.worst.as_ref()?;
            Some(vec![name(line.candidate), terminal::short(*rmse), domain.clone()])
        });
        let worst: Vec<Vec<String>> = worst.collect();
        if !worst.is_empty() {
            let head = ["worst domain", "RMSE", ""].map(str::to_owned).to_vec();
            text += &columns(&[vec![head], worst].concat());
            text.push('\n');
        }
    }
    text += &rare_rows(summary, comparison.config());
    let _ = writeln!(text, "{}", summary.verdict);
    if let Some(next) = &summary.next {
        let _ = writeln!(text, "{}", next.in_words());
    }
    if !summary.remarks.is_empty() {
        text.push('\n');
    }
    for remark in &summary.remarks {
        let _ = writeln!(text, "{remark}");
    }
    text
}
