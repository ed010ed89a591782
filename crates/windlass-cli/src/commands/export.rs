//! `export`: a model for other programs.

use std::path::PathBuf;

use clap::Args;
use windlass_model::{Error as ModelError, onnx};
use windlass_table::{OutputKind, check_outputs, write_atomic};

use super::predict::open;
use crate::Result;
use crate::terminal;

/// Write a model as ONNX, with its preprocessing inside
#[derive(Debug, Args)]
#[command(before_long_help = "\
Examples:
  windlass export model.windlass model.onnx")]
#[command(after_long_help = "\
The graph takes `continuous` (doubles, NaN where missing) and, if the model has categories, `categories`
(floats, 1 for a row's level); the file's metadata name their columns. It gives `prediction`, and
`prediction_sd` from a committee.")]
pub(crate) struct ExportArgs {
    /// A model made by `windlass train`
    model: PathBuf,
    /// Where it goes: a .onnx file
    output: PathBuf,
    /// Overwrite existing files, also those that Windlass did not write
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &ExportArgs) -> Result<u8> {
    let onnx_file =
        args.output.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("onnx"));
    if !onnx_file {
        return Err(ModelError::ExportEnding { path: args.output.clone() }.into());
    }
    let output = (args.output.as_path(), OutputKind::Onnx);
    check_outputs(&[output], None, std::slice::from_ref(&args.model), args.force)?;
    let model = open(&args.model)?;
    let bytes = onnx::export(&model);
    write_atomic(&args.output, &bytes)?;
    terminal::say(&format!("{}: {} bytes", args.output.display(), bytes.len()));
    Ok(0)
}
