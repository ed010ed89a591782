//! `predict`: add the predictions of a model to a table, or compute metrics.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use arrow_array::{Array, Float64Array, RecordBatch};
use clap::Args;
use ndarray::Array2;
use serde::Serialize;
use windlass::RareSpec;
use windlass_model::{
    Error as ModelError, ErrorsByTarget, Metrics, Model, PredictedBlock, PredictionBounds,
    TablePredictor, UnusualRows,
};
use windlass_table::{
    OutputKind, RowProgress as _, Sink, Table, check_outputs, is_numeric, read_rare, to_f64,
    type_name,
};

use crate::options::ReadArgs;
use crate::terminal::{self, Progress, to_json};
use crate::{Error, Result};

/// Add the predictions of a model to a table, or compute error metrics
#[derive(Debug, Args)]
#[command(before_long_help = "\
Examples:
  windlass predict model.windlass new.csv
  windlass predict model.windlass new.parquet -o predictions.parquet
  windlass predict model.windlass new.csv --interval 90% -o predictions.csv
  windlass predict model.windlass test.csv --metrics --json")]
pub(crate) struct PredictArgs {
    /// Model file that `windlass train` wrote
    model: PathBuf,
    /// Input files or folders, read as one table; `-` is stdin
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Output file: the rows with a column `prediction` (ensembles add `prediction_sd`, the standard deviation over
    /// members, which is not a prediction error) [default: print metrics or the first predictions]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Add prediction intervals `prediction_low` and `prediction_high` with this coverage, such as 90%
    ///
    /// They are computed from the errors of held-out rows (CV+), so a model trained with --valid none has none. The
    /// coverage holds on average over all rows; it may be lower for unusual rows. With --metrics, the coverage of the
    /// table is printed.
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    interval: Option<f64>,
    /// Overwrite existing files, including files that Windlass did not write
    #[arg(long)]
    force: bool,
    /// Print error metrics; the table needs the target
    #[arg(long)]
    metrics: bool,
    /// Also print errors on rows with rare targets
    ///
    /// `high`, `low` and `both` are the extremes of a box plot of the targets of this table, `density` are targets in
    /// sparse ranges, FILE is a CSV file with columns y and phi: the relevance of targets, from 0 to 1.
    #[arg(long, value_name = "high|low|both|density|FILE", requires = "metrics")]
    rare: Option<String>,
    /// Print the metrics as JSON to stdout
    #[arg(long, requires = "metrics")]
    json: bool,
    /// Print no summary, notes or progress
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    read: ReadArgs,
}

/// Metadata key of files of predictions; its value is the version of Windlass.
const PREDICTIONS_KEY: &str = "windlass_predictions";

/// Reads a model file.
pub(super) fn open(path: &Path) -> Result<Model> {
    let bytes = std::fs::read(path).map_err(|source| {
        let path = path.to_owned();
        match source.kind() {
            std::io::ErrorKind::NotFound => windlass_table::Error::NotFound { path },
            _ => windlass_table::Error::Io { doing: "read", path, source },
        }
    })?;
    Ok(Model::from_bytes(&bytes, path)?)
}

pub(crate) fn run(args: &PredictArgs) -> Result<u8> {
    terminal::heed_ctrl_c();
    let rare = args.rare.as_deref().map(read_rare).transpose()?;
    let model = open(&args.model)?;
    if rare.is_some() && model.targets().len() > 1 {
        return Err(Error::does_not_apply("--rare", "several targets"));
    }
    if let Some(output) = &args.output {
        let inputs: Vec<PathBuf> = args.inputs.iter().chain([&args.model]).cloned().collect();
        let format = args.read.format.map(Into::into);
        check_outputs(&[(output, OutputKind::Table)], format, &inputs, args.force)?;
    }
    let table = args.read.open(&args.inputs)?;
    let predictor = TablePredictor::new(&model, &table, args.interval)?;
    if args.interval.is_some() && model.metadata().has_chosen_epoch() && !args.quiet {
        terminal::note(
            "the rows that chose the epoch of this network also set the width of its intervals, which are too narrow; \
             train with --committee or --auto",
        );
    }
    if args.metrics {
        check_targets(&model, &table)?;
        if args.json && args.output.as_ref().is_some_and(|output| output.as_os_str() == "-") {
            return Err(Error::does_not_apply("--json", "rows on standard output"));
        }
    }
    if let Some(note) = predictor.unused_columns().filter(|_| !args.quiet) {
        terminal::say(&format!("note: {note}"));
    }
    let progress = Progress::new(args.quiet);
    progress.stage("predicting");
    terminal::begin_writing();
    let mut sink = match &args.output {
        Some(output) => {
            let options = args.read.write_options(output, &table);
            let metadata = (PREDICTIONS_KEY, env!("CARGO_PKG_VERSION").to_owned());
            Some(Sink::create(output, &options, predictor.schema(), Some(metadata))?)
        }
        None => None,
    };
    let has_target = |target: &String| {
        let field = table.schema().field_with_name(target);
        field.is_ok_and(|field| is_numeric(field.data_type()))
    };
    // Without an output, a table with targets gets metrics.
    let measure = args.metrics || args.output.is_none() && model.targets().iter().all(has_target);
    let (mut first, mut notes, mut compared) = (0, UnusualRows::default(), Compared::default());
    let mut head = String::new();
    for batch in table.blocks() {
        let batch = batch?;
        progress.advance(batch.num_rows() as u64)?;
        let predicted = predictor.predict(&batch, first)?;
        first += batch.num_rows() as u64;
        notes.add(&model, &batch);
        if args.output.is_none() && !measure && head.is_empty() {
            head = first_rows(predictor.added(), &predicted.values());
        }
        if measure {
            compared.add(&model, &batch, &predicted);
        }
        if let Some(sink) = &mut sink {
            sink.write(0, &predictor.with_columns(&batch, &predicted))?;
        }
    }
    progress.clear();
    if let Some(sink) = sink {
        sink.finish()?;
    }
    if !args.quiet {
        notes.notes().iter().for_each(|note| terminal::say(&format!("note: {note}")));
        if let Some(output) = args.output.as_ref().filter(|output| output.as_os_str() != "-") {
            terminal::say(&format!("{}: {} with predictions", output.display(), rows_of(first)));
        }
    }
    if !head.is_empty() {
        terminal::print(&head)?;
        if !args.quiet {
            terminal::say(&format!(
                "{} predicted; write all to a file with --output",
                rows_of(first)
            ));
        }
    }
    if measure {
        let to_stdout = args.output.as_ref().is_some_and(|output| output.as_os_str() == "-");
        let errors = compared.by_target(rare.as_ref())?;
        compared.report(errors, args.json, args.quiet, to_stdout)?;
    }
    Ok(0)
}

/// Returns an error if the table has no numeric targets.
fn check_targets(model: &Model, table: &Table) -> Result<()> {
    let absent = |target: &String| table.schema().index_of(target).is_err();
    if let Some(column) = model.targets().into_iter().find(absent) {
        let path = table.path().to_owned();
        return Err(ModelError::NoTarget { column, path }.into());
    }
    for column in model.targets() {
        let data_type = table.schema().field_with_name(&column).expect("found").data_type();
        if !is_numeric(data_type) {
            let (path, holds) = (table.path().to_owned(), type_name(data_type));
            let expected = "numbers".into();
            return Err(ModelError::OtherType { column, path, holds, expected }.into());
        }
    }
    Ok(())
}

fn rows_of(count: u64) -> String {
    format!("{count} {}", if count == 1 { "row" } else { "rows" })
}

/// Parses a coverage such as `90%` or `0.9`.
pub(super) fn level(text: &str) -> Result<f64, String> {
    let level = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().map(|percent| percent / 100.0),
        None => text.parse(),
    };
    match level {
        Ok(level) if level > 0.0 && level < 1.0 => Ok(level),
        _ => Err("expected a coverage such as 90% or 0.9".into()),
    }
}

/// The first predictions as text.
fn first_rows(names: &[String], added: &[&Array2<f64>]) -> String {
    const SHOWN: usize = 10;
    let mut lines = vec![std::iter::once("row".to_owned()).chain(names.to_vec()).collect()];
    for row in 0..added[0].nrows().min(SHOWN) {
        let cells = added.iter().flat_map(|values| values.row(row).to_vec()).map(terminal::short);
        lines.push(std::iter::once((row + 1).to_string()).chain(cells).collect::<Vec<_>>());
    }
    terminal::aligned(&lines, 0..usize::MAX)
}

/// Metrics, and the coverage of the prediction intervals.
#[derive(Serialize)]
struct WithCoverage {
    #[serde(flatten)]
    metrics: Metrics,
    #[serde(skip_serializing_if = "Option::is_none")]
    covered: Option<f64>,
    #[serde(flatten)]
    by_target: Option<ErrorsByTarget>,
}

/// Targets and predictions of the rows with a target.
#[derive(Default)]
struct Compared {
    y: Vec<f64>,
    predicted: Vec<f64>,
    targets: usize,
    without: u64,
    /// Number of targets inside their interval.
    inside: Option<u64>,
}

impl Compared {
    fn add(&mut self, model: &Model, batch: &RecordBatch, predicted: &PredictedBlock) {
        let targets: Vec<Float64Array> = model
            .targets()
            .iter()
            .map(|target| to_f64(batch.column_by_name(target).expect("checked before")))
            .collect();
        self.targets = targets.len();
        for (row, mean) in predicted.predictions.mean.rows().into_iter().enumerate() {
            let known =
                |target: &Float64Array| target.is_valid(row) && target.value(row).is_finite();
            if targets.iter().all(known) {
                self.y.extend(targets.iter().map(|target| target.value(row)));
                self.predicted.extend(mean);
                if let Some(PredictionBounds { low, high }) = &predicted.bounds {
                    let is_inside = |(column, target): (usize, &Float64Array)| {
                        let place = (row, column);
                        (low[place]..=high[place]).contains(&target.value(row))
                    };
                    let inside = targets.iter().enumerate().filter(|&one| is_inside(one)).count();
                    *self.inside.get_or_insert(0) += inside as u64;
                }
            } else {
                self.without += 1;
            }
        }
    }

    /// Errors by the size of the target; `None` if there are several targets or few rows.
    fn by_target(&self, rare: Option<&RareSpec>) -> Result<Option<ErrorsByTarget>> {
        /// Fewer rows have no fifths.
        const LEAST: usize = 10;
        let relevance = match rare {
            Some(rare) if !self.y.is_empty() => {
                Some(rare.relevance(&self.y).map_err(windlass_table::Error::from)?)
            }
            _ => None,
        };
        let known = self.targets == 1 && (self.y.len() >= LEAST || relevance.is_some());
        let edges = ErrorsByTarget::edges(&self.y);
        Ok(known
            .then(|| ErrorsByTarget::compute(&self.y, &self.predicted, &edges, relevance.as_ref()))
            .flatten())
    }

    fn report(
        self,
        by_target: Option<ErrorsByTarget>,
        json: bool,
        quiet: bool,
        to_stdout: bool,
    ) -> Result<()> {
        if self.without > 0 && !quiet {
            let rows = if self.without == 1 { "row" } else { "rows" };
            terminal::say(&format!("note: ignored {} {rows} without a target", self.without));
        }
        let rows = self.y.len() / self.targets.max(1);
        if rows == 0 {
            return Err(ModelError::NothingToCompare.into());
        }
        let array = |values: Vec<f64>| {
            Array2::from_shape_vec((rows, self.targets), values).expect("a row of targets each")
        };
        let covered = self.inside.map(|inside| inside as f64 / self.y.len() as f64);
        let metrics = Metrics::compute(&array(self.y), &array(self.predicted), None);
        let text = if json {
            to_json(&WithCoverage { metrics, covered, by_target })
        } else {
            let or =
                |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.4}"));
            format!(
                "rows {}\nRMSE {:.6}\nMAE  {:.6}\nMAPE {} %\nR²   {}",
                metrics.rows,
                metrics.rmse,
                metrics.mae,
                or(metrics.mape),
                or(metrics.r2)
            ) + &covered.map_or_else(String::new, |covered| {
                format!("\ncoverage of the interval {:.1} %", 100.0 * covered)
            }) + &by_target.map_or_else(String::new, |errors| by_target_in_words(&errors))
        };
        if to_stdout {
            // The rows are written to standard output.
            terminal::say(&text);
            return Ok(());
        }
        Ok(terminal::print(&(text + "\n"))?)
    }
}

/// Errors by the size of the target, as text.
fn by_target_in_words(errors: &ErrorsByTarget) -> String {
    let mut lines = vec![["target", "rows", "RMSE", "bias"].map(str::to_owned).to_vec()];
    let numbers = |values: [f64; 2]| values.map(terminal::short);
    for fifth in &errors.fifths {
        let [low, high] = fifth.range.map(terminal::short);
        let mut line = vec![format!("{low} to {high}"), fifth.rows.to_string()];
        line.extend(numbers([fifth.rmse, fifth.bias]));
        lines.push(line);
    }
    let mut text = format!("\nbias {}\n", terminal::short(errors.bias));
    if let Some(rare) = &errors.rare {
        let mut line = vec!["rare rows".to_owned(), rare.rows.to_string()];
        line.extend(numbers([rare.rmse, rare.bias]));
        lines.push(line);
        let _ = writeln!(text, "SERA {}", terminal::short(rare.sera));
    }
    text + "\n" + terminal::aligned(&lines, 1..usize::MAX).trim_end()
}
