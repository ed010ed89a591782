//! `distill`: train one small model on synthetic rows that a large one labels.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use serde::Serialize;
use windlass::MethodInfo;
use windlass_compare::out_of_fold_difference;
use windlass_compare::statistics::Interval;
use windlass_model::{
    BoostingSettings, DistillConfig, Distilled, Error as ModelError, Kind, Metrics, Model,
    NamedTable, NetworkRuns, PreAugmentConfig, Trained,
};
use windlass_plot::format::{significant, size};
use windlass_table::{OutputKind, Table, check_outputs, write_atomic};

use super::model_words::{
    features_in_words, importance_in_words, kind_in_words, labeled_rows_in_words, teacher_in_words,
};
use super::predict;
use crate::options::{ParamArgs, ReadArgs, choices, method_names};
use crate::terminal::{self, Epochs, Progress, to_json};
use crate::{Error, Result};

/// Distill a model into one small network, trained on synthetic rows that the model labels
#[derive(Debug, Args)]
#[command(before_long_help = "\
Examples:
  windlass distill cars.windlass cars.csv --output small.windlass
  windlass distill cars.windlass cars.csv --unlabeled more.csv -o small.windlass
  windlass distill cars.windlass cars.csv --method ada --alpha 5 --copies 100 -o small.windlass
  windlass distill cars.windlass cars.csv --student boosting -o small.windlass
  windlass train cars.csv -t mpg --auto --distill -o small.windlass")]
#[command(after_long_help = "\
The teacher labels the rows of the table, synthetic rows generated from them and the rows of --unlabeled;
the student is trained on all of them. Rows that the teacher was trained on have its out-of-fold predictions
as labels, so that the student does not learn their noise.

Expected errors are those of held-out rows: for each fold of the teacher, a student is trained on rows that
are generated from the other folds and labeled by models that were not trained on the fold. If the file of
the teacher has no such models (--compact, or a model without held-out rows), they are fitted first.

A student is clearly worse if its RMSE is at least 2 % higher and the 95 % interval of the difference, paired
over held-out rows, excludes 0.")]
pub(crate) struct DistillArgs {
    /// Model file that `windlass train` wrote
    teacher: PathBuf,
    /// Table that the teacher was trained on: files or folders with the same columns; `-` is stdin
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Model file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// File with additional unlabeled rows; its target column, if any, is ignored
    #[arg(long, value_name = "FILE")]
    unlabeled: Option<PathBuf>,
    /// Kind of student
    #[arg(long, value_name = "KIND", default_value = "network", value_parser = choices(&[
        ("network", "A dense network: --hidden, --steps", Student::Network),
        ("boosting", "Gradient-boosted trees", Student::Boosting),
    ]))]
    student: Student,
    /// network: units of every hidden layer [default: 64,64]
    #[arg(long, value_name = "N,N,…", value_delimiter = ',')]
    hidden: Option<Vec<usize>>,
    /// network: number of optimizer steps [default: 6000]
    #[arg(long, value_name = "N")]
    steps: Option<usize>,
    /// Label training rows by the teacher's predictions, not by its out-of-fold predictions; the expected error is
    /// always that of students whose training rows have in-sample labels
    #[arg(long)]
    in_sample_labels: bool,
    /// Skip the cross-validation that estimates the expected error
    #[arg(long)]
    no_expected_error: bool,
    /// Keep the students of the folds in the file: prediction intervals then include the variation between them
    #[arg(long, conflicts_with = "no_expected_error")]
    keep_fold_models: bool,
    /// Overwrite existing files, including files that Windlass did not write
    #[arg(long)]
    force: bool,
    /// Print a JSON summary to stdout
    #[arg(long)]
    json: bool,
    /// Print no summary, notes or progress
    #[arg(short, long)]
    quiet: bool,
    /// Random seed; the same seed gives the same results
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Generator of synthetic rows
    #[arg(short, long, value_name = "METHOD", default_value = "mixup", value_parser = method_names(), help_heading = "Synthetic rows")]
    method: &'static MethodInfo,
    /// Number of synthetic rows per row of the table; 0 for none
    #[arg(short, long, value_name = "N", default_value_t = DistillConfig::COPIES, help_heading = "Synthetic rows")]
    copies: usize,
    #[command(flatten, next_help_heading = "Synthetic rows")]
    params: ParamArgs,
    #[command(flatten)]
    read: ReadArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Student {
    Network,
    Boosting,
}

impl DistillArgs {
    fn config(&self) -> Result<DistillConfig> {
        let usual = DistillConfig::default();
        let given = [("--hidden", self.hidden.is_some()), ("--steps", self.steps.is_some())];
        let student = match self.student {
            Student::Network => self.hidden.clone().map_or(usual.student, DistillConfig::network),
            Student::Boosting => {
                if let Some((option, _)) = given.into_iter().find(|(_, given)| *given) {
                    return Err(Error::does_not_apply(option, "boosting"));
                }
                Kind::Boosting(BoostingSettings::default())
            }
        };
        let method = self.params.method(self.method)?;
        if self.copies == 0
            && let Some(option) = self.params.given(&[])
        {
            return Err(Error::does_not_apply(option, "--copies 0"));
        }
        let copies = self.copies;
        let config = DistillConfig {
            student,
            steps: self.steps.unwrap_or(usual.steps),
            synthetic: (copies > 0).then_some(PreAugmentConfig { method, copies }),
            out_of_fold_labels: !self.in_sample_labels,
            estimate_error: !self.no_expected_error,
            seed: self.seed,
            memory: self.read.memory,
        };
        config.check()?;
        Ok(config)
    }
}

pub(crate) fn run(args: &DistillArgs) -> Result<u8> {
    let started = Instant::now();
    terminal::heed_ctrl_c();
    let config = args.config()?;
    if args.json && args.output.as_os_str() == "-" {
        return Err(Error::does_not_apply("--json", "a model on standard output"));
    }
    let teacher = predict::open(&args.teacher)?;
    let inputs = args.inputs.iter().chain([&args.teacher]).chain(&args.unlabeled).cloned();
    let outputs = [(args.output.as_path(), OutputKind::Model)];
    check_outputs(&outputs, None, &inputs.collect::<Vec<_>>(), args.force)?;
    let table = args.read.open(&args.inputs)?;
    let unlabeled = match &args.unlabeled {
        Some(path) => Some(args.read.open(std::slice::from_ref(path))?),
        None => None,
    };
    let progress = Progress::new(args.quiet);
    let rows = teacher.load_for_distillation(&table, args.read.memory, &progress)?;
    progress.clear();
    let rows = NamedTable { table: &rows, path: table.path() };
    let (quiet, json) = (args.quiet, args.json);
    let run = DistillRun { teacher: &teacher, rows, config: &config, quiet, json };
    let student = run.write(unlabeled.as_ref(), args.keep_fold_models, &args.output, started)?;
    exit_code(&student)
}

/// Returns an error if training diverged.
pub(super) fn exit_code(trained: &Trained) -> Result<u8> {
    match trained.diverged {
        Some(epoch) => Err(ModelError::Diverged { epoch }.into()),
        None => Ok(0),
    }
}

/// A distillation and the form of its summary.
pub(super) struct DistillRun<'a> {
    pub(super) teacher: &'a Model,
    pub(super) rows: NamedTable<'a>,
    pub(super) config: &'a DistillConfig,
    pub(super) quiet: bool,
    pub(super) json: bool,
}

impl DistillRun<'_> {
    /// Distills, writes the student and prints a summary.
    pub(super) fn write(
        &self,
        unlabeled: Option<&Table>,
        keep_fold_models: bool,
        output: &Path,
        started: Instant,
    ) -> Result<Trained> {
        let runs = self.network_runs();
        let progress = Epochs::new(self.quiet, runs.count, runs.epochs);
        let mut distilled = self.teacher.distill(self.rows, unlabeled, self.config, &progress)?;
        progress.clear();
        distilled.student.add_importance()?;
        if !keep_fold_models {
            distilled.student.model.drop_fold_members();
        }
        let mut summary = Summary::new(self.teacher, &distilled, self.rows)?;
        terminal::begin_writing();
        write_atomic(output, &distilled.student.model.to_bytes())?;
        summary.seconds = started.elapsed().as_secs_f64();
        if self.json {
            terminal::print(&(to_json(&summary) + "\n"))?;
        } else if !self.quiet {
            terminal::say(summary.in_words(&distilled.student.model, output).trim_end());
        }
        Ok(distilled.student)
    }

    /// The networks to train, for the progress bar.
    fn network_runs(&self) -> NetworkRuns {
        let folds = self.teacher.out_of_fold().and_then(|known| known.folds.iter().max());
        let folds = folds.map_or(5, |&last| last as usize + 1);
        let copies = self.config.synthetic.as_ref().map_or(0, |synthetic| synthetic.copies);
        let labeled = self.rows.table.batch.num_rows().saturating_mul(1 + copies);
        match &self.config.student {
            Kind::Network(network) => {
                let epochs =
                    |rows: usize| self.config.steps.div_ceil(network.training.steps(rows).max(1));
                // Students of folds have fewer rows, so more epochs.
                if self.config.estimate_error {
                    let epochs = epochs(labeled - labeled / folds);
                    NetworkRuns { count: 1 + folds, epochs }
                } else {
                    NetworkRuns { count: 1, epochs: epochs(labeled) }
                }
            }
            _ => NetworkRuns { count: 0, epochs: 0 },
        }
    }
}

/// Error, size and prediction time of a model.
#[derive(Serialize)]
struct Cost {
    /// Metrics of held-out rows.
    expected: Option<Metrics>,
    bytes: usize,
    /// The median time of predicting one row.
    microseconds: f64,
}

impl Cost {
    fn new(model: &Model, rows: NamedTable<'_>, expected: Option<Metrics>) -> Result<Self> {
        let microseconds = 1e6 * model.latency(&rows.table.batch, rows.path)?.as_secs_f64();
        Ok(Self { expected, bytes: model.to_bytes().len(), microseconds })
    }
}

/// Summary of a distillation, also as JSON.
#[derive(Serialize)]
struct Summary {
    /// Rows of the table.
    rows: u64,
    /// All rows that the student was trained on.
    labeled: u64,
    unlabeled: u64,
    student: Cost,
    teacher: Cost,
    /// The logarithm of the ratio of expected RMSEs, student to teacher.
    difference: Option<Interval>,
    clearly_worse: bool,
    notes: Vec<String>,
    seconds: f64,
}

impl Summary {
    fn new(teacher: &Model, distilled: &Distilled, rows: NamedTable<'_>) -> Result<Self> {
        /// Relative difference of RMSE that is ignored even if it is significant.
        const NEGLIGIBLE: f64 = 0.02;
        let student = &distilled.student.model;
        let metadata = student.metadata();
        let distillation = metadata.distillation.as_ref().expect("a student");
        let difference = match (student.out_of_fold(), &distilled.teacher) {
            (Some(own), Some(reference)) => {
                let split = metadata.config.split();
                Some(out_of_fold_difference(own, reference, split, rows.table)?)
            }
            _ => None,
        };
        let is_worse = |found: &Interval| found.low > 0.0 && found.mean.exp_m1() >= NEGLIGIBLE;
        Ok(Self {
            rows: metadata.rows,
            labeled: distillation.rows,
            unlabeled: distillation.unlabeled,
            student: Cost::new(student, rows, metadata.valid)?,
            teacher: Cost::new(teacher, rows, distillation.teacher_valid)?,
            difference,
            clearly_worse: difference.as_ref().is_some_and(is_worse),
            notes: metadata.notes.iter().chain(&distillation.notes).cloned().collect(),
            seconds: 0.0,
        })
    }

    fn in_words(&self, student: &Model, path: &Path) -> String {
        let metadata = student.metadata();
        let distillation = metadata.distillation.as_ref().expect("a student");
        let teacher = teacher_in_words(metadata).unwrap_or_default();
        let (what, seconds) = (kind_in_words(metadata), self.seconds);
        let mut text = format!("{}: {what}, {seconds:.1} s\n", path.display());
        let _ = writeln!(text, "  teacher    {teacher}");
        let _ = writeln!(text, "  target     {}", student.targets().join(", "));
        let _ = writeln!(text, "  features   {}", features_in_words(metadata));
        let rows = labeled_rows_in_words(distillation, metadata.rows);
        let _ = writeln!(text, "  labeled    {rows}");
        for note in &self.notes {
            let _ = writeln!(text, "  note       {note}");
        }
        text += &importance_in_words(metadata);
        let mut lines = vec![["", "expected RMSE", "R²", "size", "one row"].map(str::to_owned)];
        for (name, cost) in [("teacher", &self.teacher), ("student", &self.student)] {
            let rmse = cost.expected.map_or_else(String::new, |found| terminal::short(found.rmse));
            let r2 = cost.expected.and_then(|found| found.r2);
            lines.push([
                name.to_owned(),
                rmse,
                r2.map_or_else(String::new, |r2| format!("{r2:.3}")),
                size(cost.bytes as u64),
                format!("{} µs", significant(cost.microseconds, 3)),
            ]);
        }
        for line in terminal::aligned(&lines, 1..usize::MAX).lines() {
            let _ = writeln!(text, "  {line}");
        }
        let Some(difference) = &self.difference else { return text };
        let _ = writeln!(text, "  The student's RMSE is {}.", difference.in_words());
        if self.clearly_worse {
            let other = match metadata.config.kind {
                Kind::Network(_) => "--student boosting, if the teacher consists of trees",
                _ => "--student network",
            };
            let _ = writeln!(
                text,
                "  It is clearly worse than its teacher. Try more --copies and --steps, a larger --hidden,\n  \
                 {other}, or rows without a target (--unlabeled);\n  or use the teacher."
            );
        }
        text
    }
}
