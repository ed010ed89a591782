//! `tune`: search hyperparameters, and estimate the gain from augmentation.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use windlass::Param;
use windlass_compare::describe::quoted;
use windlass_compare::{RunDir, RunPlan, Trial, TrialProgress, TuneConfig, TuneResult};
use windlass_model::{
    BoostingSettings, ForestSettings, GaussianProcessSettings, Kind, NamedTable, check_memory,
    column_notes,
};
use windlass_table::{Columns, LoadedTable, MethodConfig};
use windlass_train::Schedule;

use super::network::TrainingArgs;
use super::typed::{command, published, table_name, typed_without};
use crate::options::{require_target, time};
use crate::terminal::{self, Progress, to_json};
use crate::{Error, Result};

/// Search hyperparameters, and estimate the gain from augmentation
#[derive(Debug, Args)]
#[command(before_long_help = "\
Examples:
  windlass tune cars.csv --target mpg
  windlass tune cars.csv --target mpg --trials 50 --output search
  windlass tune cars.csv --target mpg --model boosting --output search
  windlass tune sites.csv --target yield --split domain:site --time 20m --output search
  windlass tune sales.csv --target sold --split time:day --output search")]
#[command(after_long_help = "\
Nested cross-validation: inside the training rows of each outer fold run two searches of the same
length, one with and one without augmentation. The difference of their errors on the held-out rows
estimates the gain from augmentation. Two more searches, on all rows, choose the settings to use.")]
pub(crate) struct TuneArgs {
    /// Kind of model; what is searched apart from augmentation
    #[arg(long, value_enum, default_value_t = TunedModel::Mlp)]
    model: TunedModel,
    /// New folder for the report and the trials
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Resume an interrupted search: the same command with this instead of --output
    #[arg(long, value_name = "FOLDER", conflicts_with = "output")]
    resume: Option<PathBuf>,
    /// Number of trials per search
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u16).range(2..=10_000))]
    trials: u16,
    /// Time limit, such as 90s, 20m or 1h; the result then depends on the machine
    #[arg(long, value_name = "TIME", value_parser = time)]
    time: Option<Duration>,
    /// Number of outer folds; --split domain uses one fold for each of up to ten domains
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(2..=1000))]
    folds: u16,
    #[command(flatten)]
    common: TrainingArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TunedModel {
    /// Multilayer perceptron: learning rate, weight decay, epochs
    Mlp,
    /// Ridge regression: penalty
    Ridge,
    /// Random forest: depth, rows in a leaf
    Forest,
    /// Gaussian process: nothing, it fits its own hyperparameters
    Gp,
    /// Extremely randomized trees: depth, rows in a leaf
    ExtraTrees,
    /// Gradient-boosted trees: number, depth
    Boosting,
}

/// Number of inner folds.
pub(super) const INNER: usize = 3;

impl TuneArgs {
    fn config(&self, columns: Columns) -> Result<TuneConfig> {
        if self.common.columns.wants_floats() {
            return Err(Error::does_not_apply("--integers float", "models"));
        }
        self.common.network.check()?;
        if let (Some(option), true) = (self.common.network.given(), self.model != TunedModel::Mlp) {
            return Err(Error::does_not_apply(option, "models other than networks"));
        }
        let kind = match self.model {
            TunedModel::Mlp => Kind::Network(Box::new(self.common.network.searched()?)),
            TunedModel::Ridge => Kind::Ridge { penalty: 1.0 },
            TunedModel::Forest => Kind::Forest(ForestSettings::default()),
            TunedModel::Gp => Kind::GaussianProcess(GaussianProcessSettings::default()),
            TunedModel::ExtraTrees => Kind::ExtraTrees(ForestSettings::default()),
            TunedModel::Boosting => Kind::Boosting(BoostingSettings::default()),
        };
        Ok(TuneConfig {
            columns,
            drop_missing_target: self.common.drop_missing_target,
            scaling: self.common.scale,
            target_scaling: self.common.target_scale,
            split: self.common.split(),
            folds: self.folds.into(),
            inner_folds: INNER,
            trials: self.trials.into(),
            on_tables: false,
            kind,
            seed: self.common.seed,
        })
    }
}

pub(crate) fn run(args: &TuneArgs) -> Result<u8> {
    let started = Instant::now();
    terminal::heed_ctrl_c();
    args.config(Columns::default())?;
    let table = args.common.read.open(&args.common.inputs)?;
    require_target(&args.common.target, &table)?;
    let config = args.config(args.common.roles(&table))?;
    let progress = Progress::new(args.common.quiet);
    let (drop, memory) = (config.drop_missing_target, args.common.read.memory);
    let loaded = LoadedTable::load(&table, &config.columns, drop, memory, &progress)?;
    progress.clear();
    args.common.note_random_split(&loaded);
    if !args.common.quiet {
        column_notes(&loaded, &config.columns, &config.split).iter().for_each(terminal::note);
    }
    check_memory(&config.kind, &loaded, &config.columns, rayon::current_num_threads(), memory)?;
    let tables = vec![loaded.profile.fingerprint.clone()];
    let plan = RunPlan::new(published(&command(None)), config.clone(), tables);
    let (folder, done) = match (&args.output, &args.resume) {
        (_, Some(path)) => {
            let (folder, done) = RunDir::resume(path, &plan)?;
            (Some(folder), done)
        }
        (Some(path), None) if args.common.force => (Some(RunDir::replace(path, &plan)?), vec![]),
        (Some(path), None) => (Some(RunDir::create(path, &plan)?), vec![]),
        (None, None) => (None, vec![]),
    };
    if folder.is_some() {
        terminal::begin_writing();
    }
    let watch = Trials::new(args.common.quiet, config.total_trials(), done.len(), folder.as_ref());
    let rows = NamedTable { table: &loaded, path: table.path() };
    let found = config.run(rows, done, args.time, &watch).and_then(|trials| {
        let Some(trials) = trials else { return Ok(None) };
        Ok(Some((config.summarize(rows, &trials)?, trials)))
    });
    watch.bar.finish_and_clear();
    let found = match found {
        Ok(found) => found,
        Err(error) => {
            // As in `compare`.
            if let (Some(folder), Some(_)) = (folder, &args.output)
                && (!error.is_fault() || folder.is_empty())
            {
                folder.discard();
            }
            return Err(error.into());
        }
    };
    let Some((result, trials)) = found else {
        if let Some(folder) = &folder {
            let again = command(Some(folder.path()));
            terminal::say(&format!("interrupted; the trials are saved. To resume:\n  {again}"));
        }
        return Err(windlass_compare::Error::Interrupted.into());
    };
    let advice = advice(&config, &result);
    if let Some(folder) = &folder {
        let record = folder.finish(plan, loaded.batch.num_rows(), trials)?;
        let published: Vec<String> = advice.iter().map(|line| published(line)).collect();
        let table = table_name(&args.common.inputs);
        for (name, bytes) in config.report(&record, &result, &table, &published) {
            folder.write(&name, &bytes)?;
        }
    }
    if args.common.json {
        terminal::print(&(to_json(&result) + "\n"))?;
    } else if !args.common.quiet {
        terminal::print(&format!("{}\n\n{}\n", result.verdict, advice.join("\n")))?;
        let report = folder.map(|folder| folder.path().join("report.html").display().to_string());
        let seconds = started.elapsed().as_secs_f64();
        terminal::say(&format!("drift: {}", result.drift));
        let place = report.map_or(String::new(), |report| format!("{report}, "));
        terminal::say(&format!("{place}{} trials, {seconds:.1} s", result.trials));
    }
    Ok(0)
}

/// Saves each trial when it ends, and shows progress.
pub(super) struct Trials<'a> {
    pub(super) bar: ProgressBar,
    folder: Option<&'a RunDir>,
}

impl<'a> Trials<'a> {
    pub(super) fn new(quiet: bool, all: usize, done: usize, folder: Option<&'a RunDir>) -> Self {
        let bar = terminal::counted(quiet, all, "trials");
        bar.set_position(done as u64);
        Self { bar, folder }
    }
}

impl TrialProgress for Trials<'_> {
    fn trial_done(&self, trial: &Trial) -> windlass_compare::Result<()> {
        self.bar.inc(1);
        self.folder.map_or(Ok(()), |folder| folder.append(trial))
    }

    fn cancelled(&self) -> bool {
        terminal::interrupted()
    }
}

/// The commands that train and augment with the best settings: the arguments of this one, with the settings
/// replaced.
fn advice(config: &TuneConfig, result: &TuneResult) -> Vec<String> {
    const SEARCH: [&str; 10] = [
        "--output",
        "-o",
        "--resume",
        "--trials",
        "--time",
        "--folds",
        "--epochs",
        "--lr",
        "--schedule",
        "--weight-decay",
    ];
    const OF_MODELS: [&str; 15] = [
        "--model",
        "--hidden",
        "--activation",
        "--slope",
        "--batch",
        "--optimizer",
        "--momentum",
        "--clip-norm",
        "--loss",
        "--patience",
        "--shuffle",
        "--scale",
        "--target-scale",
        "--split",
        "--valid",
    ];
    let quiet = ["--json", "--quiet", "-q", "--force"];
    let mut train = vec!["windlass train".to_owned()];
    train.extend(typed_without(&SEARCH, &quiet).into_iter().skip(1));
    train.extend(model_flags(&result.settings.kind, config.inner_folds));
    if let Some((method, layer)) = result.settings.augment() {
        train.push(format!("--augment {}", method.name()));
        if layer > 0 {
            train.push(format!("--manifold {layer}"));
        }
        train.extend(method_flags(method));
    }
    train.push("--output model.windlass".into());
    let mut commands = vec![train.join(" ")];
    if let Some((method, 0)) = result.settings.augment() {
        let without = [&SEARCH[..], &OF_MODELS].concat();
        let flags = [&quiet[..], &["--drop-last"]].concat();
        let mut words = vec!["windlass augment".to_owned()];
        words.extend(typed_without(&without, &flags).into_iter().skip(1));
        if let Some(column) = config.split.group_column() {
            words.push(format!("--carry {}", quoted(column)));
        }
        words.push(format!("--method {}", method.name()));
        words.extend(method_flags(method));
        words.push("--output augmented.csv".into());
        commands.push(words.join(" "));
    }
    commands
}

/// The options of `train` for the settings of a model.
fn model_flags(kind: &Kind, members: usize) -> Vec<String> {
    match kind {
        Kind::Network(network) => {
            let training = &network.training;
            let schedule = match training.schedule {
                Schedule::Constant => "constant",
                Schedule::Cosine => "cosine",
            };
            vec![
                format!("--committee {members} --epochs {}", training.epochs),
                format!("--lr {}", training.learning_rate),
                format!("--weight-decay {}", training.weight_decay),
                format!("--schedule {schedule}"),
            ]
        }
        Kind::Ridge { penalty } => vec![format!("--penalty {penalty}")],
        Kind::Forest(forest) | Kind::ExtraTrees(forest) => {
            let depth = forest.depth.map(|depth| format!("--depth {depth}"));
            std::iter::once(format!("--leaf {}", forest.leaf)).chain(depth).collect()
        }
        Kind::Boosting(boosting) => {
            vec![format!("--trees {} --depth {}", boosting.trees, boosting.depth)]
        }
        Kind::GaussianProcess(_) | Kind::Anchor { .. } | Kind::Auto(_) => vec![],
    }
}

/// The options of a method that differ from their defaults.
fn method_flags(method: &MethodConfig) -> Vec<String> {
    let params = method.params();
    let flag = |param: &&Param| {
        let value = (param.get)(&params).filter(|value| Some(value.as_str()) != param.default)?;
        Some(format!("--{} {}", param.name.replace('_', "-"), quoted(&value)))
    };
    method.info().params.iter().filter_map(flag).collect()
}
