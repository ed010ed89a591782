//! `inspect`: the columns of a table, and the rows and groups that `augment` would form.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use windlass_table::{AugmentConfig, Inspection, Table, format_number};

use super::augment::groups_in_words;
use crate::Result;
use crate::options::{ColumnArgs, MethodArgs, ReadArgs};
use crate::terminal::{self, Progress, aligned, to_json};

/// Show the columns of a table, their roles, and what augment would do with them
#[derive(Debug, Args)]
#[command(before_long_help = "\
Examples:
  windlass inspect cars.csv
  windlass inspect cars.csv --target mpg --anchors column:origin")]
pub(crate) struct InspectArgs {
    /// Input files or folders, read as one table; `-` is stdin
    #[arg(required = true, value_name = "INPUT")]
    inputs: Vec<PathBuf>,
    /// Column to predict, or several separated by commas
    #[arg(short, long, value_name = "COLUMNS")]
    target: Vec<String>,
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

fn in_words(inspection: &Inspection, table: &Table, settings: &AugmentConfig) -> String {
    let mut text = String::new();
    let (rows, columns) = (inspection.rows, inspection.columns.len());
    let files = match table.paths().len() {
        1 => table.path().display().to_string(),
        more => format!("{} and {} more files", table.path().display(), more - 1),
    };
    let _ = writeln!(text, "{files}: {rows} rows, {columns} columns\n");
    let header = ["column", "type", "role", "missing", "range", "distinct", "reason"];
    let mut lines = vec![header.map(String::from)];
    for column in &inspection.columns {
        let range = column
            .range
            .map(|(low, high)| format!("{} to {}", format_number(low), format_number(high)));
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
