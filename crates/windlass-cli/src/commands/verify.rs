//! `verify`: recompute every row of an output, and compare.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use clap::Args;
use windlass_table::{AnchorSource, Error as TableError, Manifest, Table, Verdict, VerifyOptions};

use super::augment::read_fitted;
use crate::options::ReadArgs;
use crate::terminal::{self, Progress, to_json};
use crate::{Error, Result};

/// Recompute every synthetic row of a table and report differences
#[derive(Debug, Args)]
#[command(before_long_help = "\
Examples:
  windlass verify out.parquet --against train.parquet
  windlass verify out.csv --against train.csv --manifest out.json
  windlass verify out/ --against train.parquet --fitted anchors.json")]
#[command(after_long_help = "\
Exit codes: 0 all rows match, 1 rows differ or are missing.")]
pub(crate) struct VerifyArgs {
    /// Table that augment wrote
    #[arg(value_name = "OUTPUT")]
    output: PathBuf,
    /// Original table
    #[arg(long, required = true, value_name = "INPUT", num_args = 1..)]
    against: Vec<PathBuf>,
    /// Manifest of the table; needed for text files, which do not contain it
    #[arg(long, value_name = "FILE.json")]
    manifest: Option<PathBuf>,
    /// Fitted state that augment used, if it was saved before or comes from Spark or Ray
    #[arg(long, value_name = "FILE.json")]
    fitted: Option<PathBuf>,
    /// Anchor matrix that augment used: matrix:FILE
    #[arg(long, value_name = "ANCHORS", value_parser = AnchorSource::from_str)]
    anchors: Option<AnchorSource>,
    /// Allow missing rows, for example after a filter
    #[arg(long)]
    partial: bool,
    /// Print JSON to stdout
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    read: ReadArgs,
}

pub(crate) fn run(args: &VerifyArgs) -> Result<u8> {
    terminal::heed_ctrl_c();
    let matrix = match &args.anchors {
        None => None,
        Some(AnchorSource::Matrix(path)) => Some(path.as_path()),
        Some(_) => {
            return Err(Error::does_not_apply("--anchors", "verify, except as matrix:FILE"));
        }
    };
    let output = args.read.open_output(&args.output)?;
    let fitted = args.fitted.as_deref().map(read_fitted).transpose()?;
    let manifest = match (manifest(&args.output, args.manifest.as_deref(), &output), &fitted) {
        (Err(TableError::NoManifest { .. }), Some(_)) => None,
        (manifest, _) => Some(manifest?),
    };
    let how = VerifyOptions { manifest: manifest.as_ref(), fitted, matrix };
    let input = args.read.open_beside(&args.against)?;
    let progress = Progress::new(false);
    let verdict = Verdict::verify(&output, &input, how, args.read.memory, &progress)?;
    progress.clear();
    let text = if args.json { to_json(&verdict) + "\n" } else { in_words(&verdict, &args.output) };
    terminal::print(&text)?;
    let whole = args.partial || verdict.absent == 0;
    Ok(u8::from(!(verdict.holds() && whole)))
}

fn manifest(
    path: &Path,
    manifest_path: Option<&Path>,
    output: &Table,
) -> Result<Manifest, TableError> {
    let (path, text) =
        match manifest_path {
            Some(manifest_path) => {
                let text = std::fs::read_to_string(manifest_path).map_err(|source| {
                    TableError::Io { doing: "read", path: manifest_path.to_owned(), source }
                })?;
                (manifest_path, text)
            }
            None => match output.metadata(Manifest::KEY) {
                Some(note) => (path, note.to_owned()),
                None => return Err(TableError::NoManifest { path: path.to_owned() }),
            },
        };
    serde_json::from_str(&text)
        .map_err(|error| TableError::BadManifest { path: path.to_owned(), why: error.to_string() })
}

fn in_words(verdict: &Verdict, output: &Path) -> String {
    let mut text = String::new();
    let (rows, differing) = (verdict.rows, verdict.differing);
    let name = output.display();
    let _ = if verdict.holds() {
        writeln!(text, "{name}: {rows} rows, all match")
    } else {
        writeln!(text, "{name}: {differing} of {rows} rows differ")
    };
    for difference in &verdict.first {
        let column = difference.column.as_ref().map(|column| format!(", column `{column}`"));
        let _ = writeln!(
            text,
            "  row {}{}{}: {} instead of {}",
            difference.row,
            difference.line.map(|line| format!(" (line {line})")).unwrap_or_default(),
            column.unwrap_or_default(),
            difference.found,
            difference.expected
        );
    }
    if differing > verdict.first.len() as u64 {
        let _ = writeln!(text, "  and {} more", differing - verdict.first.len() as u64);
    }
    if verdict.absent > 0 {
        let _ = writeln!(
            text,
            "  {} rows that augment wrote are missing (allowed with --partial)",
            verdict.absent
        );
    }
    text
}
