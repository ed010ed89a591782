//! `augment`: write a table with synthetic rows after its original rows.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use windlass::{PARAMS, ParamStyle, Relevance};
use windlass_compare::{Error as CompareError, Similarity, TuneConfig, similarity_report};
use windlass_model::{Kind, NamedTable, NetworkOptions, Scaling, Split, Validation};
use windlass_plot::{Histogram, Labels, Layout, LineSeries, Point, PointSeries, Scatter};
use windlass_table::{
    AugmentConfig, AugmentSummary, Augmentation, Columns, Error as TableError, Fitted, LoadedTable,
    Manifest, MethodConfig, OutOfRangeCount, OutputKind, PlotPoint, PlotSample, RareRange,
    RareSummary, Sink, Table, check_outputs, write_atomic,
};

use super::plot_format::PlotFormat;
use super::tune;
use super::typed::{command, published, table_name};
use crate::options::{ColumnArgs, MethodArgs, ReadArgs, require_target};
use crate::terminal::{self, Progress, to_json};
use crate::{Error, Result};

/// Add synthetic rows to a table
#[derive(Debug, Args)]
#[command(before_long_help = "\
Examples:
  windlass augment cars.csv --target mpg --output augmented.csv
  windlass augment train.parquet -t y --clusters 12 --copies 10 --provenance -o out.parquet
  windlass augment train.csv -t y --anchors column:site --clip observed -o - | head
  windlass augment train.csv -t y1,y2 --method c-mixup --bandwidth 1.0 -o out.arrow
  windlass augment train.csv -t y --method smogn --rare high --plot rare.svg -o out.csv
  windlass augment folder/ -t y --within species --plot rows.svg --plot-x size -o out.parquet
  windlass augment train.parquet -t y --save-fitted anchors.json -o out.parquet
  windlass augment more.parquet --fitted anchors.json -o more-out.parquet")]
pub(crate) struct AugmentArgs {
    /// Input files or folders, read as one table; `-` is stdin
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Column to predict, or several separated by commas
    #[arg(short, long, value_name = "COLUMNS")]
    target: Vec<String>,
    /// Output file: .csv, .tsv, .parquet, .arrow or .arrows (text also .gz, .zst); `-` is stdout
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Overwrite existing files, including files that Windlass did not write
    #[arg(long)]
    force: bool,
    /// Write only the synthetic rows
    #[arg(long)]
    no_originals: bool,
    /// Add columns windlass_… with the source, group and strength of each row
    #[arg(long)]
    provenance: bool,
    /// Write settings, seed, version and the input's fingerprint to a separate file as well; named like the output
    /// (`out.json` for `out.csv`), it tells other commands that the output has synthetic rows
    #[arg(long, value_name = "FILE.json")]
    manifest: Option<PathBuf>,
    /// Save the fitted state (roles, groups, means) for --fitted and for Spark or Ray
    #[arg(long, value_name = "FILE.json")]
    save_fitted: Option<PathBuf>,
    /// Use a fitted state that was saved before, and its settings; the table needs the same columns
    #[arg(long, value_name = "FILE.json", conflicts_with_all = settings_options())]
    fitted: Option<PathBuf>,
    /// Plot original and synthetic rows to a .svg or .png file; with --rare and without --plot-x, a histogram of the target
    /// with its relevance
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Compare the synthetic rows with the original rows in a .html file: copies, distances, distributions
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Column on the x axis of the plot [default: the feature most correlated with the target]
    #[arg(long, value_name = "COLUMN", requires = "plot")]
    plot_x: Option<String>,
    /// Print a JSON summary to stdout (to stderr if rows are written to stdout)
    #[arg(long)]
    json: bool,
    /// Print no summary, notes or progress
    #[arg(short, long)]
    quiet: bool,
    /// --method auto: how the search holds out rows: rows (random), group:COLUMN, domain:COLUMN or time:COLUMN
    /// [default: rows]
    #[arg(long, value_name = "SPLIT", value_parser = Split::from_str)]
    split: Option<Split>,
    #[command(flatten)]
    method: MethodArgs,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    read: ReadArgs,
}

/// Options whose values are part of a saved fitted state.
fn settings_options() -> impl Iterator<Item = &'static str> {
    let others = "target save_fitted split no_originals provenance method preset copies rare seed rows_by clip bounds \
                  decimals \
                  drop_missing_target features exclude carry categorical continuous weight integers";
    others.split(' ').chain(PARAMS.iter().map(|param| param.name))
}

/// Reads a saved fitted state.
pub(crate) fn read_fitted(path: &Path) -> Result<Arc<Fitted>> {
    let text = std::fs::read_to_string(path).map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => TableError::NotFound { path: path.to_owned() },
        _ => TableError::Io { doing: "read", path: path.to_owned(), source },
    })?;
    Ok(Arc::new(Fitted::from_json(&text, path)?))
}

pub(crate) fn run(args: &AugmentArgs) -> Result<u8> {
    let started = Instant::now();
    terminal::heed_ctrl_c();
    let to_stdout = args.output.as_os_str() == "-";
    let format = args.plot.as_deref().map(PlotFormat::from_path).transpose()?;
    // Settings are checked before anything is read; names of columns need the table.
    args.method.check()?;
    if args.report.is_some() && to_stdout {
        return Err(Error::does_not_apply("--report", "rows on standard output"));
    }
    if args.split.is_some() && !args.method.is_auto() {
        return Err(Error::does_not_apply("--split", "a method that is not auto"));
    }
    let outputs = [
        (Some(&args.output), OutputKind::Table),
        (args.manifest.as_ref(), OutputKind::Manifest),
        (args.save_fitted.as_ref(), OutputKind::Fitted),
        (args.plot.as_ref(), OutputKind::Plot),
        (args.report.as_ref(), OutputKind::Report),
    ];
    let outputs = outputs.into_iter().filter_map(|(path, kind)| Some((path?.as_path(), kind)));
    let outputs: Vec<(&Path, OutputKind)> = outputs.collect();
    let points = args.method.control_points();
    let read = args.inputs.iter().chain(args.method.matrix()).chain(&args.fitted).chain(&points);
    let read: Vec<PathBuf> = read.cloned().collect();
    check_outputs(&outputs, args.read.format.map(Into::into), &read, args.force)?;
    let fitted = args.fitted.as_deref().map(read_fitted).transpose()?;
    let table = args.read.open(&args.inputs)?;
    let memory = args.read.memory;
    let (progress, augmentation) = if let Some(fitted) = fitted {
        let progress = Progress::new(args.quiet);
        let augmentation = Augmentation::with(&table, fitted, memory, &progress)?;
        (progress, augmentation)
    } else {
        let Some(settings) = settings(args, &table)? else { return Ok(3) };
        let progress = Progress::new(args.quiet);
        let augmentation = Augmentation::fit(&table, &settings, memory, &progress)?;
        (progress, augmentation)
    };
    augmentation.notes().iter().for_each(terminal::note);
    let kept = args.save_fitted.as_ref().map(|_| augmentation.fitted().to_json()).transpose()?;
    let note = Some((Manifest::KEY, augmentation.manifest().to_json()));
    terminal::begin_writing();
    let options = args.read.write_options(&args.output, &table);
    let mut sink = Sink::create(&args.output, &options, augmentation.schema(), note)?;
    let mut sketch =
        format.map(|_| augmentation.plot_sample(args.plot_x.as_deref())).transpose()?;
    let summary = augmentation.write(&progress, sketch.as_mut(), &mut sink)?;
    progress.clear();
    let picture = match (&args.plot, format, &sketch) {
        (Some(path), Some(format), Some(sketch)) => {
            let svg = match augmentation.relevance() {
                Some(relevance) if args.plot_x.is_none() => histogram(sketch, &summary, relevance),
                _ => scatter(sketch, &summary),
            };
            Some((path, format.encode(path, svg)?))
        }
        _ => None,
    };
    sink.finish()?;
    if let Some(path) = &args.manifest {
        let output_bytes = std::fs::metadata(&args.output).ok().map(|info| info.len());
        let manifest = Manifest { output_bytes, ..augmentation.manifest() }.to_json();
        write_atomic(path, format!("{manifest}\n").as_bytes())?;
    }
    if let (Some(path), Some(kept)) = (&args.save_fitted, kept) {
        write_atomic(path, kept.as_bytes())?;
    }
    if let Some((path, bytes)) = picture {
        write_atomic(path, &bytes)?;
    }
    if let Some(path) = &args.report {
        let columns = &augmentation.fitted().settings().columns;
        write_report(args, path, &table, columns, &summary)?;
    }
    if args.json {
        let text = format!("{}\n", to_json(&summary));
        if to_stdout { terminal::say(text.trim_end()) } else { terminal::print(&text)? }
    } else if !args.quiet {
        terminal::say(in_words(&summary, &args.output, started.elapsed().as_secs_f64()).trim_end());
        terminal::say(
            "note: split before you augment: test on rows that no synthetic row is derived from",
        );
    }
    Ok(0)
}

/// Compares the output with the input, and writes the page.
fn write_report(
    args: &AugmentArgs,
    path: &Path,
    table: &Table,
    columns: &Columns,
    summary: &AugmentSummary,
) -> Result<()> {
    if summary.synthetic == 0 {
        terminal::note("there are no synthetic rows, so no report is written");
        return Ok(());
    }
    let output = args.read.open_written(&args.output)?;
    let progress = Progress::new(args.quiet);
    let found = Similarity::measure(&output, table, columns, args.read.memory, &progress)?;
    progress.clear();
    let names = [std::slice::from_ref(&args.output), &args.inputs].map(table_name);
    let page = similarity_report(&found, &names[0], &names[1], &published(&command(None)));
    Ok(write_atomic(path, page.as_bytes())?)
}

/// The settings; `None` if a search finds that no augmentation helps and no rows are left to write.
fn settings(args: &AugmentArgs, table: &Table) -> Result<Option<AugmentConfig>> {
    require_target(&args.target, table)?;
    let split = args.split.clone().unwrap_or_default();
    let columns = args.columns.columns(&args.target, table);
    let columns = columns.carrying(split.group_column(), table.schema());
    let parts = (!args.no_originals, args.provenance);
    if !args.method.is_auto() {
        return Ok(Some(args.method.settings(columns, parts)?));
    }
    let found = search(args, split, table, &columns)?;
    if found.is_none() && args.no_originals {
        terminal::say("no augmentation helps, and --no-originals leaves no rows to write");
        return Ok(None);
    }
    Ok(Some(args.method.settings_of(columns, parts, found)?))
}

/// The best method for the table, if any helps.
fn search(
    args: &AugmentArgs,
    split: Split,
    table: &Table,
    columns: &Columns,
) -> Result<Option<MethodConfig>> {
    let progress = Progress::new(args.quiet);
    let drop = args.method.drops_missing_target();
    let loaded = LoadedTable::load(table, columns, drop, args.read.memory, &progress)?;
    progress.clear();
    if let Some(note) = split.note(&loaded.batch, ParamStyle::Command).filter(|_| !args.quiet) {
        terminal::say(&format!("note: {note}"));
    }
    let config = TuneConfig {
        columns: columns.clone(),
        drop_missing_target: drop,
        scaling: Scaling::Standard,
        target_scaling: Scaling::Standard,
        split,
        folds: 5,
        inner_folds: tune::INNER,
        trials: 12,
        on_tables: true,
        kind: Kind::Network(Box::new(
            NetworkOptions::default().config(Validation::Folds(tune::INNER)),
        )),
        seed: args.method.seed(),
    };
    let watch = tune::Trials::new(args.quiet, config.total_trials(), 0, None);
    let rows = NamedTable { table: &loaded, path: table.path() };
    let found = config.run(rows, vec![], None, &watch)?;
    watch.bar.finish_and_clear();
    let result = config.summarize(rows, &found.ok_or(CompareError::Interrupted)?)?;
    if !args.quiet {
        terminal::say(&result.verdict);
        if !result.helps {
            terminal::say("no augmentation helps: writing the original rows only");
        }
    }
    Ok(result.settings.augment().map(|(method, _)| method.clone()))
}

/// A note on the rows that are drawn, if not all are.
fn drawn(sketch: &PlotSample) -> String {
    match sketch.stride {
        1 => String::new(),
        stride => format!(" (one row of {stride})"),
    }
}

/// The target of original and synthetic rows, and its relevance.
fn histogram(sketch: &PlotSample, summary: &AugmentSummary, relevance: &Relevance) -> String {
    /// Points of the curve.
    const POINTS: u32 = 400;
    let targets = |points: &[PlotPoint]| points.iter().map(|point| point.y).collect::<Vec<f64>>();
    let (originals, synthetic) = (targets(&sketch.originals), targets(&sketch.synthetic));
    let all = originals.iter().chain(&synthetic).copied();
    let (low, high) =
        (all.clone().fold(f64::INFINITY, f64::min), all.fold(f64::NEG_INFINITY, f64::max));
    let curve = (0..=POINTS).map(|step| {
        let share = f64::from(step) / f64::from(POINTS);
        let y = low * (1.0 - share) + high * share;
        (y, relevance.at(y))
    });
    let title = format!("{} and its relevance, {}{}", sketch.y_name, summary.method, drawn(sketch));
    let plot = Histogram {
        labels: Labels::new(title, &sketch.y_name, "rows"),
        series: vec![("Original".to_owned(), originals), ("Synthetic".to_owned(), synthetic)],
        curve: LineSeries::new("relevance φ, from 0 to 1 at the top", curve),
    };
    plot.to_svg(&Layout::PAGE)
}

fn scatter(sketch: &PlotSample, summary: &AugmentSummary) -> String {
    let series = |name: &str, points: &[PlotPoint]| {
        let point = |point: &PlotPoint| Point { at: (point.x, point.y), group: point.group };
        PointSeries { name: name.to_owned(), points: points.iter().map(point).collect() }
    };
    let (x, y, some) = (&sketch.x_name, &sketch.y_name, drawn(sketch));
    let title = format!("{y} against {x}, {}{some}", summary.method);
    let scatter = Scatter {
        labels: Labels::new(title, &sketch.x_name, &sketch.y_name),
        series: vec![series("Original", &sketch.originals), series("Synthetic", &sketch.synthetic)],
        by_group: true,
        ..Scatter::default()
    };
    scatter.to_svg(&Layout::PAGE)
}

fn in_words(summary: &AugmentSummary, output: &Path, seconds: f64) -> String {
    let mut text = String::new();
    let place =
        if output.as_os_str() == "-" { "<stdout>".into() } else { output.display().to_string() };
    let made = summary.rows_out;
    let _ = writeln!(text, "{place}: {made} rows from {} by {}", summary.rows_in, summary.method);
    if summary.synthetic < summary.requested {
        let _ = writeln!(
            text,
            "  generated   {} of {} synthetic rows: the partners drawn for the others are farther than --epsilon",
            summary.synthetic, summary.requested
        );
    }
    if let Some(rare) = &summary.rare {
        let rows = summary.rows_in - summary.rows_dropped - summary.rows_synthetic;
        let _ = writeln!(text, "  rare        {}", rare_in_words(rare, rows));
    }
    if summary.rows_dropped > 0 {
        let _ =
            writeln!(text, "  dropped     {} rows without a finite target", summary.rows_dropped);
    }
    if summary.rows_synthetic > 0 {
        let _ =
            writeln!(text, "  ignored     {} synthetic rows of the input", summary.rows_synthetic);
    }
    for (role, columns) in &summary.roles {
        let _ = writeln!(text, "  {role:<11} {}", shortened(columns));
    }
    if !summary.groups.is_empty() {
        let _ = writeln!(text, "  groups      {}", groups_in_words(&summary.groups));
    }
    if let Some((low, high)) = summary.gamma {
        let range =
            if low == high { format!("{low:.4}") } else { format!("{low:.4} to {high:.4}") };
        let _ = writeln!(text, "  gamma       {range}");
    }
    let outside = |clipped: bool| -> Vec<String> {
        let columns = summary.outside.iter().filter(|outside| outside.clipped == clipped);
        columns.map(out_of_range_in_words).collect()
    };
    let (clipped, outside) = (outside(true), outside(false));
    if !clipped.is_empty() {
        let _ = writeln!(text, "  clipped     {}", shortened(&clipped));
    }
    let range = if outside.is_empty() { "none".into() } else { shortened(&outside) };
    let _ = writeln!(text, "  outside     {range} (values outside the observed range)");
    let _ = writeln!(text, "  seed        {}", summary.seed);
    let _ = writeln!(text, "  time        {seconds:.2} s");
    if !outside.is_empty() {
        let _ = writeln!(
            text,
            "hint: --clip observed clips values to the observed range, --bounds COLUMN=LOW..HIGH to \
             another"
        );
    }
    if summary.synthetic < summary.requested / 2 {
        let _ = writeln!(text, "hint: a larger --epsilon or more --copies give more rows");
    }
    text
}

/// The number of rare rows, their ranges and their copies.
fn rare_in_words(rare: &RareSummary, rows: u64) -> String {
    let range = |range: &RareRange| {
        let number = |end: f64| windlass_plot::format::significant(end, 4);
        let place = match (range.low, range.high) {
            (Some(low), Some(high)) => format!("{} to {}", number(low), number(high)),
            (Some(low), None) => format!("≥ {}", number(low)),
            (None, Some(high)) => format!("≤ {}", number(high)),
            (None, None) => "any value".to_owned(),
        };
        format!("{place} ({})", range.rows)
    };
    let ranges: Vec<String> = rare.ranges.iter().map(range).collect();
    let RareSummary { target, rows: count, copies, .. } = rare;
    let copies = if *copies == 1 { "1 copy".into() } else { format!("{copies} copies") };
    format!("{count} of {rows} rows, {copies} of each: {target} {}", shortened(&ranges))
}

/// A column with its numbers of values below and above the range.
fn out_of_range_in_words(outside: &OutOfRangeCount) -> String {
    let sides = [(outside.below, "below"), (outside.above, "above")];
    let sides = sides.into_iter().filter(|(count, _)| *count > 0);
    let sides: Vec<String> = sides.map(|(count, side)| format!("{count} {side}")).collect();
    format!("{} {}", outside.column, sides.join(" and "))
}

/// The number of groups, and the names and sizes of the first.
pub(crate) fn groups_in_words(groups: &[windlass_table::GroupSummary]) -> String {
    let sizes = groups.iter().map(|group| group.rows);
    let (low, high) = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
    let each: Vec<String> = groups
        .iter()
        .map(|group| match &group.name {
            Some(name) => format!("{name} {}", group.rows),
            None => group.rows.to_string(),
        })
        .collect();
    format!("{} of {low} to {high} rows: {}", groups.len(), shortened(&each))
}

fn shortened(words: &[String]) -> String {
    const SHOWN: usize = 16;
    let more = words.len().saturating_sub(SHOWN);
    let shown = words[..words.len() - more].join(", ");
    if more > 0 { format!("{shown} and {more} more") } else { shown }
}
