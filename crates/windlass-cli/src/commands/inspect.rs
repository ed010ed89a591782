//! `inspect`: the columns of a table, and the rows and groups that `augment` would form; or how similar synthetic
//! rows are to real rows.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use windlass_compare::{Similarity, similarity_report};
use windlass_plot::format::significant;
use windlass_table::{
    AugmentConfig, ColumnReport, Columns, Inspection, MAX_LEVELS, OutputKind, RoleReason, Table,
    check_outputs, format_number, write_atomic,
};

use super::augment::groups_in_words;
use super::typed::{command, published, table_name};
use crate::Result;
use crate::options::{ColumnArgs, MethodArgs, ReadArgs};
use crate::terminal::{self, Progress, aligned, to_json};

/// Show the columns of a table, their roles, and what augment would do with them
#[derive(Debug, Args)]
#[command(before_long_help = "\
Examples:
  windlass inspect cars.csv
  windlass inspect cars.csv --target mpg --anchors column:origin
  windlass inspect augmented.csv --against cars.csv --target mpg
  windlass inspect augmented.csv --against cars.csv --report similarity.html")]
pub(crate) struct InspectArgs {
    /// Input files or folders, read as one table; `-` is stdin
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Column to predict, or several separated by commas
    #[arg(short, long, value_name = "COLUMNS")]
    target: Vec<String>,
    /// Compare synthetic rows with the real rows of this table: copies, distances, distributions, correlations
    #[arg(long, value_name = "TABLE", num_args = 1..)]
    against: Vec<PathBuf>,
    /// --against: write the comparison to a .html file as well
    #[arg(long, value_name = "FILE", requires = "against")]
    report: Option<PathBuf>,
    /// Overwrite an existing report, including files that Windlass did not write
    #[arg(long, requires = "report")]
    force: bool,
    /// Print JSON to stdout
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    method: MethodArgs,
    #[command(flatten)]
    columns: ColumnArgs,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &InspectArgs) -> Result<u8> {
    terminal::heed_ctrl_c();
    if !args.against.is_empty() {
        return compare_rows(args);
    }
    let table = args.read.open(&args.inputs)?;
    let columns = args.columns.columns(&args.target, &table);
    let settings = args.method.settings(columns, (true, false))?;
    let progress = Progress::new(false);
    let mut inspection = Inspection::new(&table, &settings, args.read.memory, &progress)?;
    progress.clear();
    inspection.refused = inspection.refusal.as_ref().map(|error| format!("{error:#}"));
    let text = if args.json {
        to_json(&inspection) + "\n"
    } else {
        in_words(&inspection, &table, &settings)
    };
    terminal::print(&text)?;
    // An error of augment is reported after the columns.
    match inspection.refusal {
        Some(refusal) => Ok(terminal::report(&windlass_compare::Error::from(refusal))),
        None => Ok(0),
    }
}

/// Compares synthetic rows with real rows.
fn compare_rows(args: &InspectArgs) -> Result<u8> {
    let report = args.report.as_deref();
    let outputs: Vec<(&Path, OutputKind)> =
        report.map(|path| (path, OutputKind::Report)).into_iter().collect();
    let read: Vec<PathBuf> = args.inputs.iter().chain(&args.against).cloned().collect();
    check_outputs(&outputs, None, &read, args.force)?;
    let real = args.read.open_beside(&args.against)?;
    let synthetic = args.read.open_beside(&args.inputs)?;
    let columns: Columns = args.columns.columns(&args.target, &real);
    let progress = Progress::new(false);
    let found = Similarity::measure(&synthetic, &real, &columns, args.read.memory, &progress)?;
    progress.clear();
    if let Some(path) = report {
        let names = [&args.inputs, &args.against].map(|paths| table_name(paths));
        let page = similarity_report(&found, &names[0], &names[1], &published(&command(None)));
        write_atomic(path, page.as_bytes())?;
    }
    let text = if args.json {
        to_json(&found) + "\n"
    } else {
        similarity_in_words(&found, &synthetic, &real)
    };
    terminal::print(&text)?;
    Ok(0)
}

fn similarity_in_words(found: &Similarity, synthetic: &Table, real: &Table) -> String {
    let mut text = format!(
        "{}: {} synthetic rows, compared with {} real rows of {}\n\n{}\n\n",
        synthetic.path().display(),
        found.synthetic_rows,
        found.real_rows,
        real.path().display(),
        found.in_words()
    );
    let words = |words: [&str; 6]| words.map(str::to_owned).to_vec();
    if let (Some(made), Some(of_real)) = (found.distances, found.real_distances) {
        let row = |name: &str, values: [f64; 5]| {
            [vec![name.to_owned()], values.map(|value| format!("{value:.3}")).to_vec()].concat()
        };
        let rows = [
            words(["distance to the closest real row", "5 %", "25 %", "50 %", "75 %", "95 %"]),
            row("synthetic rows", made),
            row("real rows, to other rows", of_real),
        ];
        text += &(aligned(&rows, 1..6) + "\n");
    }
    let head = ["column", "mean", "synthetic", "sd", "synthetic", "range", "synthetic", "outside"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for column in &found.columns {
        let cell = |value: Option<f64>, spread: bool| match value {
            Some(value) if spread => column.spread(value),
            Some(value) => column.text(value),
            None => "-".to_owned(),
        };
        let range = |low: Option<f64>, high: Option<f64>| match (low, high) {
            (Some(low), Some(high)) => format!("{} to {}", column.text(low), column.text(high)),
            _ => "-".to_owned(),
        };
        let (of_real, made) = (&column.real, &column.synthetic);
        rows.push(vec![
            column.name.clone(),
            cell(of_real.mean, false),
            cell(made.mean, false),
            cell(of_real.sd, true),
            cell(made.sd, true),
            range(of_real.min, of_real.max),
            range(made.min, made.max),
            column.outside.to_string(),
        ]);
    }
    text += &aligned(&rows, 1..8);
    if let Some(mean) = found.correlation_difference {
        let _ = writeln!(
            text,
            "\ncorrelations of {} pairs of columns differ by {mean:.3} on average, most for:",
            found.correlated_pairs
        );
        for pair in found.correlations.iter().take(3) {
            let [a, b] = &pair.columns;
            let _ = writeln!(text, "  {a}, {b}: {:.3}, synthetic {:.3}", pair.real, pair.synthetic);
        }
    }
    text.push('\n');
    for note in &found.notes {
        let _ = writeln!(text, "{note}");
    }
    let _ = writeln!(text, "{}", Similarity::NOT_ANONYMOUS);
    text
}

/// A number as it is written, but with at most 6 significant digits if it has decimals.
fn in_brief(value: f64) -> String {
    const DIGITS: u8 = 6;
    let exact = format_number(value);
    let brief = significant(value, DIGITS);
    if value.fract() == 0.0 || exact.len() <= brief.len() { exact } else { brief }
}

/// A column that models omit because of its values, with the reason.
fn omitted_by_models(column: &ColumnReport) -> Option<String> {
    let RoleReason::Inferred(why) = &column.reason else { return None };
    match column.role {
        "carried" | "excluded" => Some(format!("`{}` ({why})", column.name)),
        "categorical" if column.levels.is_none() => {
            Some(format!("`{}` (more than {MAX_LEVELS} different values)", column.name))
        }
        _ => None,
    }
}

fn in_words(inspection: &Inspection, table: &Table, settings: &AugmentConfig) -> String {
    let mut text = String::new();
    let (rows, columns) = (inspection.rows, inspection.columns.len());
    let files = match table.paths().len() {
        1 => table.path().display().to_string(),
        more => format!("{} and {} more files", table.path().display(), more - 1),
    };
    let plural = |count: u64| if count == 1 { "" } else { "s" };
    let _ = writeln!(
        text,
        "{files}: {rows} row{}, {columns} column{}\n",
        plural(rows),
        plural(columns as u64)
    );
    let header = ["column", "type", "role", "missing", "range", "distinct", "reason"];
    let mut lines = vec![header.map(String::from)];
    for column in &inspection.columns {
        let range =
            column.range.map(|(low, high)| format!("{} to {}", in_brief(low), in_brief(high)));
        lines.push([
            column.name.clone(),
            column.holds.clone(),
            column.role.into(),
            column.missing.to_string(),
            range.unwrap_or_else(|| "-".into()),
            match column.levels {
                Some(1) => "constant".into(),
                Some(levels) => levels.to_string(),
                None if column.missing == rows => "none".into(),
                None => "many".into(),
            },
            format!("{:#}", column.reason),
        ]);
    }
    text += &aligned(&lines, 0..0);
    let omitted: Vec<String> = inspection.columns.iter().filter_map(omitted_by_models).collect();
    if !omitted.is_empty() {
        const SHOWN: usize = 8;
        let more = match omitted.len().saturating_sub(SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let shown = omitted[..omitted.len().min(SHOWN)].join(", ");
        let _ = writeln!(text, "\nmodels omit {shown}{more}");
    }
    if !inspection.suggested_anchors.is_empty() {
        let anchors = inspection.suggested_anchors.iter();
        let anchors: Vec<String> = anchors.map(|name| format!("--anchors column:{name}")).collect();
        let _ = writeln!(text, "\nother possible anchors: {}", anchors.join(", "));
    }
    if settings.columns.target.is_empty() {
        let _ = writeln!(text, "\nset --target to see what augment would do");
    } else if inspection.refusal.is_none() {
        let (made, method) = (inspection.made, settings.method.name());
        let _ = writeln!(text, "\naugment would generate {made} rows by {method}");
        if !inspection.groups.is_empty() {
            let _ = writeln!(text, "groups: {}", groups_in_words(&inspection.groups));
        }
    }
    text
}
