//! `export`: write a model for other programs.

use std::path::PathBuf;

use clap::Args;
use windlass::ParamName;
use windlass_model::{Error as ModelError, c_export, onnx};
use windlass_table::{OutputKind, check_outputs, write_atomic};

use super::predict::{level, open};
use crate::Result;
use crate::terminal;

/// Write a model as ONNX or C, with its preprocessing inside
#[derive(Debug, Args)]
#[command(before_long_help = "\
Examples:
  windlass export model.windlass model.onnx
  windlass export model.windlass model.onnx --interval 90%
  windlass export model.windlass model.h")]
#[command(after_long_help = "\
ONNX: inputs of the graph are `continuous` (float64, NaN if missing) and, for models with
categories, `categories` (float32, one-hot); the metadata of the file lists their columns. Outputs:
`prediction`, for ensembles `prediction_sd`, and with --interval `prediction_low` and
`prediction_high`, which need the models of all folds: the file is several times as large.

C: a header with `windlass_predict(const double *inputs, double *outputs)` in C99 (also C++), which
needs only math.h and allocates no memory. It names the index of each input and the constants of
categories; NAN is a missing value. Predictions are those of `windlass predict`.")]
pub(crate) struct ExportArgs {
    /// Model file that `windlass train` wrote
    model: PathBuf,
    /// Output file: .onnx, or .h for C
    output: PathBuf,
    /// Add prediction intervals `prediction_low` and `prediction_high` with this coverage, such as 90% (ONNX only)
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    interval: Option<f64>,
    /// Overwrite existing files, including files that Windlass did not write
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(args: &ExportArgs) -> Result<u8> {
    let ending = args.output.extension().map(std::ffi::OsStr::to_ascii_lowercase);
    let kind = match ending.as_ref().and_then(|ending| ending.to_str()) {
        Some("onnx") => OutputKind::Onnx,
        Some("h") => OutputKind::CHeader,
        _ => return Err(ModelError::ExportEnding { path: args.output.clone() }.into()),
    };
    if kind == OutputKind::CHeader && args.interval.is_some() {
        let (param, to) = (ParamName("interval"), "C");
        return Err(ModelError::DoesNotApply { param, to }.into());
    }
    let output = (args.output.as_path(), kind);
    check_outputs(&[output], None, std::slice::from_ref(&args.model), args.force)?;
    let model = open(&args.model)?;
    let bytes = match kind {
        OutputKind::CHeader => c_export::export(&model).into_bytes(),
        _ => onnx::export(&model, args.interval)?,
    };
    write_atomic(&args.output, &bytes)?;
    terminal::say(&format!("{}: {} bytes", args.output.display(), bytes.len()));
    Ok(0)
}
