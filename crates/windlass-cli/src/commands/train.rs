//! `train`: fit a model to a table and write it to a file.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use serde::Serialize;
use windlass::MethodInfo;
use windlass_compare::{AddTo, SplitRule, model_report};
use windlass_model::{
    AutoConfig, AutoSelection, BoostingSettings, Checkpoint, CrossValidation, DensityWeights,
    DistillConfig, Drift, ForestSettings, GaussianProcessSettings, InLoopAugmentConfig, Kind,
    Metrics, Model, ModelConfig, NamedTable, NetworkConfig, NetworkRuns, PreAugmentConfig, Split,
    Trained, Validation, check_memory,
};
use windlass_plot::{Annotation, Labels, Layout, LinePlot, LineSeries};
use windlass_table::{
    AnchorSource, Columns, LoadedTable, MethodConfig, OutputKind, Table, check_outputs, read_rare,
    write_atomic,
};
use windlass_train::{Activation, Epoch, FittedOn, Shape};

use super::compare::read_rows;
use super::distill;
use super::model_words::{
    features_in_words, importance_in_words, kind_in_words, tell_choice, tell_rows, tell_split,
};
use super::network::TrainingArgs;
use super::plot_format::PlotFormat;
use super::typed::{command, published, table_name};
use crate::options::{ParamArgs, method_names, require_target, time};
use crate::terminal::{self, Epochs, Progress, to_json};
use crate::{Error, Result};

/// Train a model on a table, optionally with augmentation inside the training loop
#[derive(Debug, Args)]
#[command(before_long_help = "\
Examples:
  windlass train cars.csv --target mpg --output model.windlass
  windlass train cars.csv -t mpg --committee 5 -o model.windlass
  windlass train train.csv -t y --hidden 128,128 --augment ada --clusters 8 --manifold 1 --epochs 200 -o model.windlass
  windlass train cars.csv -t mpg --auto -o model.windlass
  windlass train cars.csv -t mpg --auto --distill -o small.windlass
  windlass train sites.csv -t y --auto --split domain:site -o model.windlass
  windlass train sales.csv -t sold --auto --split time:day -o model.windlass
  windlass train train.csv -t y --model ridge --penalty 1.0 -o ridge.windlass
  windlass train train.csv -t y --model anchor --anchors column:site --anchor-gamma 5 -o anchor.windlass")]
#[command(after_long_help = "\
Held-out rows choose the best epoch and estimate the error. --split sets how they are chosen:
  rows           Random rows
  group:COLUMN   Rows with the same value in COLUMN are held out together
  domain:COLUMN  As group; --auto and models without epochs hold out each of up to ten domains
                 in turn
  time:COLUMN    Later rows than the training rows (forward chaining): the latest fraction of
                 --valid, or, with --committee, --auto and models without epochs, blocks of the
                 later half, each predicted from all earlier rows. The final model is trained on
                 all rows
Models without epochs (all but mlp and its presets) are validated by 5 folds, unless --valid none,
and fitted to all rows in the end.")]
pub(crate) struct TrainArgs {
    /// Model file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Kind of model
    #[arg(long, value_name = "MODEL", default_value = "mlp")]
    model: ModelName,
    /// Automatic model selection: average networks, ridge, a Gaussian process and trees, with weights from
    /// cross-validation
    #[arg(long, conflicts_with = "model")]
    auto: bool,
    /// --auto --split domain:COLUMN: choose a model for larger shifts between domains than those in the table;
    /// usually worse if shifts stay the same
    #[arg(long, requires = "auto")]
    expect_larger_shifts: bool,
    /// --auto: start no more models after this time, such as 10s or 2m; the result then depends on the machine
    #[arg(long, value_name = "TIME", value_parser = time, requires = "auto")]
    time: Option<Duration>,
    /// --auto: distill the ensemble into one small network and write that; see `windlass distill`
    #[arg(long, requires = "auto", conflicts_with = "compact")]
    distill: bool,
    /// Omit the models of the cross-validation folds: the file is smaller, but prediction intervals ignore the
    /// variation between them
    #[arg(long)]
    compact: bool,
    /// Rows from elsewhere (another generator, a simulator, an expert) to train on too; they are never held out
    #[arg(long, value_name = "FILE")]
    rows: Option<PathBuf>,
    /// Plot the loss by epoch to a .svg or .png file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Write a report with the expected error and the importance of columns to a .html file
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Weight rows by the rarity of their target: 0 weights all rows alike, 1 ignores rows where targets are densest
    ///
    /// Weights are 1 − ALPHA × density of the target (`DenseWeight`), fitted on the training rows. Rare targets are
    /// predicted better, common ones worse. Errors of held-out rows are not weighted.
    #[arg(long, value_name = "ALPHA", num_args = 0..=1, default_missing_value = "1", require_equals = true, value_parser = density_alpha)]
    density_weights: Option<f64>,
    /// Average a model trained without weights and one with --density-weights=ALPHA
    #[arg(long, value_name = "ALPHA", num_args = 0..=1, default_missing_value = "1", require_equals = true, value_parser = density_alpha, conflicts_with_all = ["density_weights", "checkpoint"])]
    density_average: Option<f64>,
    #[command(flatten)]
    common: TrainingArgs,
    /// ridge, anchor: L2 penalty on the coefficients of scaled columns [default: 1 for ridge, 0 for anchor]
    #[arg(long, value_name = "λ", help_heading = "Linear models", allow_negative_numbers = true)]
    penalty: Option<f64>,
    /// anchor: strength γ of anchor regression; 1 is least squares
    #[arg(long, value_name = "γ", help_heading = "Linear models", allow_negative_numbers = true)]
    anchor_gamma: Option<f64>,
    /// Number of trees [default: 200; 1000 for boosting]
    #[arg(long, value_name = "N", help_heading = "Trees")]
    trees: Option<usize>,
    /// Maximum depth of a tree [default: no limit; 4 for boosting]
    #[arg(long, value_name = "N", help_heading = "Trees")]
    depth: Option<usize>,
    /// forest, extra-trees: minimum number of rows in a leaf [default: 1]
    #[arg(long, value_name = "N", help_heading = "Trees")]
    leaf: Option<usize>,
    /// Augment batches, or all training rows [default: none]
    ///
    /// The batches of a network are augmented; other models get one synthetic row for every training row. smoter and smogn always add rows
    /// before training: as many as make rare rows as many as the others.
    #[arg(long, value_name = "METHOD", value_parser = method_names(), help_heading = "Augmentation")]
    augment: Option<&'static MethodInfo>,
    /// smoter, smogn: which targets are rare: the extremes of a box plot, those in sparse ranges, or those of high
    /// relevance in a CSV file with columns y and phi [default: both]
    #[arg(long, value_name = "high|low|both|density|FILE", help_heading = "Augmentation")]
    rare: Option<String>,
    /// Hidden layer after which to augment; 0 is the input
    #[arg(long, value_name = "LAYER", default_value_t = 0, help_heading = "Augmentation")]
    manifold: usize,
    /// Keep the original rows of each batch in addition to the synthetic rows
    #[arg(long, help_heading = "Augmentation")]
    keep_originals: bool,
    /// Find groups and partners in each batch instead of once in all training rows
    #[arg(long, help_heading = "Augmentation")]
    per_batch: bool,
    #[command(flatten, next_help_heading = "Augmentation")]
    params: ParamArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ModelName {
    /// Multilayer perceptron: --hidden, --activation
    Mlp,
    /// Network of the ADA paper for tables: two hidden layers of 128 leaky rectified linear units
    Fcn3,
    /// Network of the ADA paper for curves: five hidden layers of 50 units
    Mlp5x50,
    /// Ridge regression: --penalty
    Ridge,
    /// Anchor regression: --anchors, --anchor-gamma
    Anchor,
    /// Random forest: --trees, --depth, --leaf
    Forest,
    /// Gaussian process, for smooth functions, a few columns and a few hundred rows
    Gp,
    /// Extremely randomized trees: --trees, --depth, --leaf
    ExtraTrees,
    /// Gradient-boosted trees: --trees, --depth
    Boosting,
}

impl TrainArgs {
    /// Returns an error for options that do not apply to the kind of model.
    fn refuse_others(&self) -> Result<()> {
        let refuse = |option: Option<&str>, to| match option {
            Some(option) => Err(Error::does_not_apply(option, to)),
            None => Ok(()),
        };
        let to = match self.model {
            _ if self.auto => Some("--auto"),
            ModelName::Ridge => Some("ridge"),
            ModelName::Anchor => Some("anchor regression"),
            ModelName::Forest => Some("forests"),
            ModelName::Gp => Some("Gaussian processes"),
            ModelName::ExtraTrees => Some("extra trees"),
            ModelName::Boosting => Some("boosting"),
            ModelName::Mlp | ModelName::Fcn3 | ModelName::Mlp5x50 => None,
        };
        if let Some(to) = to {
            refuse(self.common.network.given(), to)?;
            // `--auto` and anchor regression have none; other models without epochs learn from more rows.
            let refused = self.augment.is_some() && (self.auto || self.model == ModelName::Anchor);
            refuse(refused.then_some("--augment"), to)?;
            refuse(self.augment.and(self.in_loop_option()), to)?;
            refuse(self.plot.is_some().then_some("--plot"), to)?;
            let share =
                self.common.network.valid.as_deref().filter(|valid| valid.parse::<f64>().is_ok());
            refuse(share.map(|_| "a fraction in --valid"), to)?;
        }
        self.refuse_split()?;
        if !self.auto {
            let model = to.unwrap_or("networks");
            refuse(self.time.map(|_| "--time"), model)?;
            refuse(self.distill.then_some("--distill"), model)?;
        }
        if self.auto {
            refuse(self.common.network.valid.as_ref().map(|_| "--valid"), "--auto")?;
        }
        if !matches!(self.model, ModelName::Ridge | ModelName::Anchor) {
            refuse(self.penalty.is_some().then_some("--penalty"), to.unwrap_or("networks"))?;
        }
        if self.model != ModelName::Anchor {
            let given = self.anchor_gamma.map(|_| "--anchor-gamma");
            refuse(given, to.unwrap_or("networks"))?;
        }
        let is_forest = matches!(self.model, ModelName::Forest | ModelName::ExtraTrees);
        let is_trees = is_forest || self.model == ModelName::Boosting;
        for (option, given, applies) in [
            ("--trees", self.trees, is_trees),
            ("--depth", self.depth, is_trees),
            ("--leaf", self.leaf, is_forest),
        ] {
            let given = given.filter(|_| !applies).map(|_| option);
            refuse(given, to.unwrap_or("networks"))?;
        }
        if self.rare.is_some() && !self.augment.is_some_and(|method| method.rare) {
            let (of, option) = ("--rare", "--augment smoter or smogn");
            return Err(Error::Needs { of, option });
        }
        if let Some(method) = self.augment.filter(|method| method.rare) {
            refuse(self.in_loop_option(), method.name)?;
        }
        if self.augment.is_none() {
            let to = to.unwrap_or("training without --augment");
            let anchors: &[&str] = match self.model {
                ModelName::Anchor => &["anchors", "clusters"],
                _ => &[],
            };
            refuse(self.in_loop_option().or(self.params.given(anchors).as_deref()), to)?;
        }
        if self.common.json && self.output.as_os_str() == "-" {
            return Err(Error::does_not_apply("--json", "a model on standard output"));
        }
        if self.common.columns.wants_floats() {
            return Err(Error::does_not_apply("--integers float", "models"));
        }
        self.common.network.check()?;
        if self.model == ModelName::Anchor {
            self.params.check_clusters()?;
        }
        if matches!(self.model, ModelName::Fcn3 | ModelName::Mlp5x50) {
            refuse(self.common.network.shape_given(), "a preset network")?;
        }
        if self.per_batch && self.params.names_groups() {
            return Err(Error::does_not_apply(
                "--per-batch",
                "groups that are columns of the table",
            ));
        }
        Ok(())
    }

    /// The first option that is given and applies only to augmentation inside the training loop.
    fn in_loop_option(&self) -> Option<&'static str> {
        let options = [
            (self.manifold > 0, "--manifold"),
            (self.keep_originals, "--keep-originals"),
            (self.per_batch, "--per-batch"),
        ];
        options.into_iter().find(|(given, _)| *given).map(|(_, option)| option)
    }

    /// Returns an error for `--split` if no rows are held out, and for larger shifts without domains.
    fn refuse_split(&self) -> Result<()> {
        let split = self.common.split();
        if self.expect_larger_shifts && !matches!(split, Split::Domain(_)) {
            let (of, option) = ("--expect-larger-shifts", "--split domain:COLUMN");
            return Err(Error::Needs { of, option });
        }
        let to = match self.common.network.valid() {
            (Validation::Table, _) => "validation rows of a file",
            (Validation::None, _) => "training without validation rows",
            _ => return Ok(()),
        };
        match self.common.split {
            Some(_) => Err(Error::does_not_apply("--split", to)),
            None => Ok(()),
        }
    }

    fn forest(&self) -> ForestSettings {
        let usual = ForestSettings::default();
        let (trees, leaf) = (self.trees.unwrap_or(usual.trees), self.leaf.unwrap_or(usual.leaf));
        ForestSettings { trees, leaf, depth: self.depth, ..usual }
    }

    fn kind(&self) -> Result<Kind> {
        if self.auto {
            let larger_shifts = self.expect_larger_shifts;
            let time_limit = self.time.map(|time| time.as_secs_f64());
            let usual = AutoConfig::new(self.common.split());
            return Ok(Kind::Auto(AutoConfig { larger_shifts, time_limit, ..usual }));
        }
        let (hidden, activation) = match self.model {
            ModelName::Ridge => return Ok(Kind::Ridge { penalty: self.penalty.unwrap_or(1.0) }),
            ModelName::Anchor => {
                let (anchors, clusters) = self.params.groups();
                let needs = Error::Needs { of: "--model anchor", option: "--anchor-gamma NUMBER" };
                let gamma = self.anchor_gamma.ok_or(needs)?;
                let penalty = self.penalty.unwrap_or(0.0);
                return Ok(Kind::Anchor { anchors, clusters, gamma, penalty });
            }
            ModelName::Forest => return Ok(Kind::Forest(self.forest())),
            ModelName::ExtraTrees => return Ok(Kind::ExtraTrees(self.forest())),
            ModelName::Boosting => {
                let usual = BoostingSettings::default();
                let trees = self.trees.unwrap_or(usual.trees);
                let depth = self.depth.unwrap_or(usual.depth);
                return Ok(Kind::Boosting(BoostingSettings { trees, depth, ..usual }));
            }
            ModelName::Gp => {
                return Ok(Kind::GaussianProcess(GaussianProcessSettings::default()));
            }
            ModelName::Fcn3 => parts_of(Shape::fcn3(1, 1)),
            ModelName::Mlp5x50 => parts_of(Shape::mlp5x50(1, 1)),
            ModelName::Mlp => self.common.network.hidden_layers(),
        };
        let augment = match self.augment.filter(|method| !method.rare) {
            None => None,
            Some(name) => Some(InLoopAugmentConfig {
                method: self.params.method(name)?,
                layer: self.manifold,
                originals: self.keep_originals,
                fitted_on: if self.per_batch { FittedOn::Batch } else { FittedOn::TrainingRows },
            }),
        };
        let valid = self.common.network.valid().0;
        let (training, split) = (self.common.network.training(), self.common.split());
        let network =
            NetworkConfig { hidden, activation, training, augment, valid, split, valid_seed: None };
        Ok(Kind::Network(Box::new(network)))
    }

    /// The networks to train, for the progress bar.
    fn network_runs(&self, kind: &Kind, table: &LoadedTable) -> NetworkRuns {
        let models = if self.density_average.is_some() { 2 } else { 1 };
        let runs = match kind {
            Kind::Network(network) => {
                let again = if matches!(network.split, Split::Time(_)) { 2 } else { 1 };
                NetworkRuns {
                    count: self.common.network.committee.unwrap_or(1).saturating_mul(again),
                    epochs: network.training.epochs,
                }
            }
            Kind::Auto(auto) => auto.networks(table),
            _ => NetworkRuns { count: 0, epochs: 0 },
        };
        NetworkRuns { count: runs.count.saturating_mul(models), ..runs }
    }

    /// The synthetic rows that are added before training: those of methods for rare targets, and of all methods for
    /// models without epochs.
    fn pre_augment(&self, kind: &Kind) -> Result<Option<PreAugmentConfig>> {
        let in_loop = matches!(kind, Kind::Network(_));
        let method = self.augment.filter(|method| method.rare || !in_loop);
        let Some(method) = method else { return Ok(None) };
        let mut method = self.params.method(method)?;
        if let (MethodConfig::Other { params, .. }, Some(rare)) = (&mut method, &self.rare) {
            params.rare = Some(read_rare(rare)?);
        }
        Ok(Some(PreAugmentConfig { method, copies: 0 }))
    }

    /// Row weights that emphasize rare targets.
    fn density(&self) -> Option<DensityWeights> {
        let weights = |average| move |alpha| DensityWeights { alpha, average };
        self.density_weights.map(weights(false)).or(self.density_average.map(weights(true)))
    }

    fn model_config(&self, columns: Columns) -> Result<ModelConfig> {
        const FOLDS: usize = 5;
        let kind = self.kind()?;
        let cross_validation = match (&kind, self.common.network.valid().0) {
            (Kind::Network(_) | Kind::Auto(_), _) | (_, Validation::None | Validation::Table) => {
                None
            }
            _ => Some(CrossValidation { folds: FOLDS, split: self.common.split() }),
        };
        Ok(ModelConfig {
            columns,
            drop_missing_target: self.common.drop_missing_target,
            scaling: self.common.scale,
            target_scaling: self.common.target_scale,
            pre_augment: self.pre_augment(&kind)?,
            kind,
            density_weights: self.density(),
            cross_validation,
            seed: self.common.seed,
        })
    }
}

/// Parses the strength of density weights.
fn density_alpha(text: &str) -> Result<f64, String> {
    let alpha = text.parse().ok().filter(|&alpha| windlass::density::check_alpha(alpha).is_ok());
    alpha.ok_or_else(|| "expected a number from 0 to 1e6".into())
}

/// The hidden layers of a preset.
fn parts_of(shape: Shape) -> (Vec<usize>, Activation) {
    (shape.hidden, shape.activation)
}

/// Removes the column of the anchors from the features, unless it is requested as one.
pub(super) fn without_anchors(columns: Columns, anchors: &AnchorSource, table: &Table) -> Columns {
    let named = match anchors {
        AnchorSource::Column(name) => Some(name.as_str()),
        _ => None,
    };
    columns.carrying(named, table.schema())
}

pub(crate) fn run(args: &TrainArgs) -> Result<u8> {
    let started = Instant::now();
    terminal::heed_ctrl_c();
    args.refuse_others()?;
    args.model_config(Columns::default())?;
    let format = args.plot.as_deref().map(PlotFormat::from_path).transpose()?;
    let (_, valid_file) = args.common.network.valid();
    let mut outputs = vec![(args.output.as_path(), OutputKind::Model)];
    outputs.extend(args.plot.as_deref().map(|path| (path, OutputKind::Plot)));
    outputs.extend(args.report.as_deref().map(|path| (path, OutputKind::Report)));
    let checkpoint = args.common.network.checkpoint.as_deref();
    outputs.extend(checkpoint.map(|path| (path, OutputKind::Checkpoint)));
    let inputs = args.common.inputs.iter().chain(&valid_file).chain(&args.rows);
    let inputs: Vec<PathBuf> = inputs.cloned().collect();
    check_outputs(&outputs, None, &inputs, args.common.force)?;
    let table = args.common.read.open(&args.common.inputs)?;
    require_target(&args.common.target, &table)?;
    let (anchors, _) = args.params.groups();
    let columns = without_anchors(args.common.roles(&table), &anchors, &table);
    let model_config = args.model_config(columns)?;
    let progress = Progress::new(args.common.quiet);
    let load = |table: &Table| {
        let drop = model_config.drop_missing_target;
        LoadedTable::load(table, &model_config.columns, drop, args.common.read.memory, &progress)
    };
    let loaded = load(&table)?;
    let valid_table = match &valid_file {
        Some(path) => Some(args.common.read.open(std::slice::from_ref(path))?),
        None => None,
    };
    let valid = valid_table.as_ref().map(load).transpose()?;
    progress.clear();
    let loaded = match &args.rows {
        Some(path) => with_rows(args, path, &loaded, valid.as_ref())?,
        None => loaded,
    };
    if model_config.holds_out() {
        args.common.note_random_split(&loaded);
    }
    let runs = args.network_runs(&model_config.kind, &loaded);
    let folds = model_config.cross_validation.as_ref().map_or(runs.count, |config| config.folds);
    let at_once = folds.min(rayon::current_num_threads());
    check_memory(
        &model_config.kind,
        &loaded,
        &model_config.columns,
        at_once,
        args.common.read.memory,
    )?;
    let watch = Epochs::new(args.common.quiet, runs.count, runs.epochs);
    // A checkpoint may be half written; otherwise Ctrl-C may exit at once.
    if args.common.network.checkpoint.is_some() {
        terminal::begin_writing();
    }
    let checkpoint = args.common.network.checkpoint.as_deref().map(InFile::new);
    let rows = NamedTable { table: &loaded, path: table.path() };
    let mut trained = Model::train(
        rows,
        valid.as_ref().zip(valid_file.as_deref()).map(|(table, path)| NamedTable { table, path }),
        &model_config,
        &watch,
        checkpoint.as_ref().map(|checkpoint| checkpoint as &dyn Checkpoint),
    )?;
    watch.clear();
    if trained.cancelled {
        return Err(windlass_table::Error::Interrupted.into());
    }
    if args.distill {
        return write_student(args, &trained.model, rows, started);
    }
    trained.add_importance()?;
    if args.compact {
        trained.model.drop_fold_members();
    }
    let picture = match (&args.plot, format) {
        (Some(path), Some(format)) => {
            Some((path, format.encode(path, learning_curve(&trained).to_svg(&Layout::PAGE))?))
        }
        _ => None,
    };
    terminal::begin_writing();
    write_atomic(&args.output, &trained.model.to_bytes())?;
    if let Some((path, bytes)) = picture {
        write_atomic(path, &bytes)?;
    }
    if let Some(path) = &args.report {
        let page =
            model_report(&trained, &table_name(&args.common.inputs), &published(&command(None)));
        write_atomic(path, page.as_bytes())?;
    }
    let seconds = started.elapsed().as_secs_f64();
    if args.common.json {
        terminal::print(&(to_json(&TrainSummary::of(&trained, seconds)) + "\n"))?;
    } else if !args.common.quiet {
        terminal::say(in_words(&trained, &args.output, seconds).trim_end());
    }
    distill::exit_code(&trained)
}

/// A table with rows from elsewhere.
fn with_rows(
    args: &TrainArgs,
    path: &Path,
    table: &LoadedTable,
    valid: Option<&LoadedTable>,
) -> Result<LoadedTable> {
    let rule = match valid {
        Some(_) => SplitRule::TestFile,
        None => args.common.split().into(),
    };
    let drop_missing_target = args.common.drop_missing_target;
    let to = AddTo { table, test: valid, rule: &rule, drop_missing_target };
    let rows = read_rows(&args.common, "added", path, to)?;
    if rows.leaks() && !args.common.quiet {
        terminal::say(
            "warning: rows were probably derived from held-out rows: the expected error is too low",
        );
    }
    Ok(rows.joined().clone())
}

/// Distills a teacher, and writes its student.
fn write_student(
    args: &TrainArgs,
    teacher: &Model,
    rows: NamedTable<'_>,
    started: Instant,
) -> Result<u8> {
    let TrainingArgs { json, quiet, seed, .. } = args.common;
    let config = DistillConfig { seed, memory: args.common.read.memory, ..Default::default() };
    let run = distill::DistillRun { teacher, rows, config: &config, quiet, json };
    let student = run.write(None, false, &args.output, started)?;
    if let Some(path) = &args.report {
        let page =
            model_report(&student, &table_name(&args.common.inputs), &published(&command(None)));
        write_atomic(path, page.as_bytes())?;
    }
    distill::exit_code(&student)
}

/// A checkpoint in a file, written at most every second, and at the end.
struct InFile<'a> {
    path: &'a Path,
    last: std::cell::Cell<Option<Instant>>,
}

impl<'a> InFile<'a> {
    fn new(path: &'a Path) -> Self {
        Self { path, last: std::cell::Cell::new(None) }
    }
}

impl Checkpoint for InFile<'_> {
    fn load(&self) -> windlass_model::Result<Option<Vec<u8>>> {
        match std::fs::read(self.path) {
            Ok(state) => Ok(Some(state)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => {
                let path = self.path.to_owned();
                Err(windlass_table::Error::Io { doing: "read", path, source }.into())
            }
        }
    }

    fn save(&self, state: &dyn Fn() -> Vec<u8>, last: bool) -> windlass_model::Result<()> {
        const PAUSE: Duration = Duration::from_secs(1);
        if last || self.last.get().is_none_or(|last| last.elapsed() >= PAUSE) {
            write_atomic(self.path, &state())?;
            self.last.set(Some(Instant::now()));
        }
        Ok(())
    }
}

/// The result of training as JSON.
#[derive(Serialize)]
struct TrainSummary<'a> {
    rows: u64,
    inputs: Vec<&'a str>,
    targets: Vec<String>,
    networks: usize,
    /// For each network, the epoch whose weights are used, and the number of epochs.
    epochs: Vec<(usize, usize)>,
    train: Metrics,
    /// How the rows of `valid` were held out.
    split: String,
    valid: Option<Metrics>,
    drift: Option<&'a Drift>,
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<&'a AutoSelection>,
    diverged: bool,
    notes: &'a [String],
    seconds: f64,
}

/// The epoch whose weights are used, and the number of epochs.
fn kept(history: &[Epoch]) -> (usize, usize) {
    let best = history.iter().rfind(|epoch| epoch.best).or(history.last());
    (best.map_or(0, |epoch| epoch.number), history.len())
}

impl<'a> TrainSummary<'a> {
    fn of(trained: &'a Trained, seconds: f64) -> Self {
        let metadata = trained.model.metadata();
        Self {
            rows: metadata.rows,
            inputs: metadata.features(),
            targets: trained.model.targets(),
            networks: trained.model.member_count(),
            epochs: trained.histories.iter().map(|history| kept(history)).collect(),
            train: metadata.train,
            split: metadata.config.split().to_string(),
            valid: metadata.valid,
            drift: metadata.drift.as_ref(),
            choice: metadata.selection.as_ref(),
            diverged: trained.diverged.is_some(),
            notes: &trained.model.metadata().notes,
            seconds,
        }
    }
}

fn in_words(trained: &Trained, path: &Path, seconds: f64) -> String {
    let (model, metadata) = (&trained.model, trained.model.metadata());
    let mut text = String::new();
    let what = kind_in_words(metadata);
    let _ = writeln!(text, "{}: {what}, {} rows, {seconds:.1} s", path.display(), metadata.rows);
    let _ = writeln!(text, "  target   {}", model.targets().join(", "));
    let _ = writeln!(text, "  features {}", features_in_words(metadata));
    tell_rows(&mut text, metadata);
    for note in &trained.model.metadata().notes {
        let _ = writeln!(text, "  note     {note}");
    }
    if let Some(choice) = &metadata.selection {
        tell_choice(&mut text, choice);
    }
    let _ = write!(text, "{}", importance_in_words(metadata));
    if let [history] = &trained.histories[..] {
        let (best, all) = kept(history);
        let _ = writeln!(text, "  epochs   {all}, weights of epoch {best}");
    }
    if metadata.valid.is_some() {
        tell_split(&mut text, metadata);
    }
    let cross_validated =
        metadata.selection.is_some() || metadata.config.cross_validation.is_some();
    let held_out = if cross_validated { "expected" } else { "validation" };
    let _ = writeln!(text, "  {:<10} {:>8} {:>12} {:>12} {:>8}", "rows", "", "RMSE", "MAE", "R²");
    for (name, metrics) in [("training", Some(metadata.train)), (held_out, metadata.valid)] {
        let Some(metrics) = metrics else { continue };
        let r2 = metrics.r2.map_or_else(String::new, |r2| format!("{r2:.3}"));
        let _ = writeln!(
            text,
            "  {name:<10} {:>8} {:>12.5} {:>12.5} {r2:>8}",
            metrics.rows, metrics.rmse, metrics.mae
        );
    }
    if let Some(drift) = &metadata.drift {
        let _ = writeln!(text, "  drift    {drift}");
    }
    text
}

/// Loss and validation error over the epochs.
fn learning_curve(trained: &Trained) -> LinePlot {
    let mut series = vec![];
    let mut annotation = None;
    for (number, history) in trained.histories.iter().enumerate() {
        let of = |value: fn(&Epoch) -> Option<f64>| -> Vec<(f64, f64)> {
            let point = |epoch: &Epoch| Some((epoch.number as f64, value(epoch)?));
            history.iter().filter_map(point).collect()
        };
        let which = match trained.histories.len() {
            1 => String::new(),
            _ => format!(" {}", number + 1),
        };
        if trained.histories.len() == 1 {
            let points = of(|epoch| Some(epoch.loss));
            series.push(LineSeries::new("training loss", points));
        }
        let points = of(|epoch| epoch.valid);
        if !points.is_empty() {
            series.push(LineSeries::new(format!("validation{which}"), points));
        }
        if let ([_], Some(best)) = (&trained.histories[..], history.iter().rfind(|e| e.best)) {
            let (epoch, value) = (best.number, best.valid.unwrap_or(best.loss));
            let text = format!("best: epoch {epoch}");
            annotation = Some(Annotation { at: (epoch as f64, value), text });
        }
    }
    let title = format!("Training of the model for {}", trained.model.targets().join(", "));
    LinePlot {
        labels: Labels::new(title, "epoch", "loss (scaled target)"),
        series,
        annotation,
        log_y: true,
        ..LinePlot::default()
    }
}
