//! `regress`: anchor regression along a path of γ.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::str::FromStr as _;

use clap::Args;
use windlass::regress::GAMMAS;
use windlass_model::{GammaPath, GammaPathConfig, NamedTable};
use windlass_plot::{Labels, Layout, LinePlot, LineSeries};
use windlass_table::{
    AnchorSource, ClusterCount, LoadedTable, OutputKind, check_clusters, check_outputs,
    write_atomic,
};

use super::plot_format::PlotFormat;
use super::train::without_anchors;
use crate::options::{ColumnArgs, ReadArgs, require_target};
use crate::terminal::{self, Progress, short, to_json};
use crate::{Error, Result};

/// Fit anchor regression for several γ: coefficients, and errors within and outside of the training groups
#[derive(Debug, Args)]
#[command(before_long_help = "\
Examples:
  windlass regress train.csv --target y --anchors column:site
  windlass regress train.csv --target y --anchors column:site --anchor-gamma 0,0.5,1,2,5,10,100 --plot path.svg")]
#[command(after_long_help = "\
γ = 1 is least squares, γ = 0 removes the group means, a large γ protects against larger shifts
between groups than those in the table.")]
pub(crate) struct RegressArgs {
    /// Input files or folders, read as one table; `-` is stdin
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Column to predict
    #[arg(short, long, value_name = "COLUMN")]
    target: Vec<String>,
    /// How to group rows: column:COLUMN, bins:COLUMN, quantiles:COLUMN or kmeans
    #[arg(long, value_name = "ANCHORS", value_parser = AnchorSource::from_str, default_value = "kmeans")]
    anchors: AnchorSource,
    /// Number of clusters or bins [default: auto]
    #[arg(long, value_name = "N|auto", value_parser = ClusterCount::from_str)]
    clusters: Option<ClusterCount>,
    /// Values of γ
    #[arg(
        long,
        value_name = "γ,γ,…",
        value_delimiter = ',',
        default_values_t = GAMMAS,
        allow_negative_numbers = true
    )]
    anchor_gamma: Vec<f64>,
    /// L2 penalty on the coefficients of scaled columns
    #[arg(long, value_name = "λ", default_value_t = 0.0, allow_negative_numbers = true)]
    penalty: f64,
    /// Plot errors by γ to a .svg or .png file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Overwrite existing files, including files that Windlass did not write
    #[arg(long)]
    force: bool,
    /// Print JSON to stdout
    #[arg(long)]
    json: bool,
    /// Random seed of k-means
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Drop rows without a finite target instead of reporting an error
    #[arg(long)]
    drop_missing_target: bool,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &RegressArgs) -> Result<u8> {
    terminal::heed_ctrl_c();
    if args.clusters.is_some() {
        check_clusters(&args.anchors)?;
    }
    if args.columns.wants_floats() {
        return Err(Error::does_not_apply("--integers float", "models"));
    }
    let format = args.plot.as_deref().map(PlotFormat::from_path).transpose()?;
    let output = args.plot.as_deref().map(|path| (path, OutputKind::Plot));
    check_outputs(output.as_slice(), None, &args.inputs, args.force)?;
    let table = args.read.open(&args.inputs)?;
    require_target(&args.target, &table)?;
    let columns = args.columns.columns(&args.target, &table);
    let columns = without_anchors(columns, &args.anchors, &table);
    let progress = Progress::new(false);
    let (drop, memory) = (args.drop_missing_target, args.read.memory);
    let loaded = LoadedTable::load(&table, &columns, drop, memory, &progress)?;
    progress.clear();
    let config = GammaPathConfig {
        columns,
        anchors: args.anchors.clone(),
        clusters: args.clusters.unwrap_or_default(),
        gammas: args.anchor_gamma.clone(),
        penalty: args.penalty,
        seed: args.seed,
    };
    let path = GammaPath::fit(NamedTable { table: &loaded, path: table.path() }, &config)?;
    for note in &path.notes {
        terminal::say(&format!("note: {note}"));
    }
    if let (Some(place), Some(format)) = (&args.plot, format) {
        write_atomic(place, &format.encode(place, plot(&path).to_svg(&Layout::PAGE))?)?;
    }
    let text = if args.json { to_json(&path) + "\n" } else { in_words(&path) };
    terminal::print(&text)?;
    Ok(0)
}

fn in_words(path: &GammaPath) -> String {
    let mut text = String::new();
    let left_out = if path.folds == path.groups {
        "each group".into()
    } else {
        format!("each of {} folds of groups", path.folds)
    };
    let _ = writeln!(
        text,
        "anchor regression of {}, {} groups; errors are RMSE; out of groups: {left_out} held out in turn\n",
        path.target, path.groups
    );
    let widest = path.names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(18);
    let mut line = |name: &str, of: &dyn Fn(usize) -> String| {
        let cells: Vec<String> =
            (0..path.rows.len()).map(|row| format!("{:>11}", of(row))).collect();
        let _ = writeln!(text, "{name:<widest$} {}", cells.join(" "));
    };
    line("γ", &|row| path.rows[row].gamma.to_string());
    line("within groups", &|row| short(path.rows[row].in_groups));
    line("out of groups", &|row| short(path.rows[row].out_of_groups));
    line("worst group", &|row| short(path.rows[row].worst_group));
    line("intercept", &|row| short(path.rows[row].intercept));
    for (place, name) in path.names.iter().enumerate() {
        line(name, &|row| short(path.rows[row].coefficients[place]));
    }
    text
}

fn plot(path: &GammaPath) -> LinePlot {
    let of = |name: &str, value: &dyn Fn(&windlass_model::PathRow) -> f64| {
        let points = path.rows.iter().enumerate().map(|(place, row)| (place as f64, value(row)));
        LineSeries::new(name, points)
    };
    let names =
        path.rows.iter().enumerate().map(|(place, row)| (place as f64, row.gamma.to_string()));
    let title = format!("Anchor regression of {}, {} groups", path.target, path.groups);
    LinePlot {
        labels: Labels::new(title, "γ", format!("RMSE of {}", path.target)),
        series: vec![
            of("within groups", &|row| row.in_groups),
            of("out of groups", &|row| row.out_of_groups),
            of("worst group", &|row| row.worst_group),
        ],
        x_names: Some(names.collect()),
        ..LinePlot::default()
    }
}
