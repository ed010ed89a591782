//! `show`: describe a file that Windlass wrote.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use arrow_array::{ArrayRef, TimestampSecondArray};
use clap::Args;
use serde_json::{Value, json};
use windlass_model::Model;
use windlass_table::{
    AugmentConfig, Error as TableError, Fitted, Manifest, ReadOptions, SyntheticRows, Table,
    to_strings,
};

use super::model_words::{
    features_in_words, importance_in_words, kind_in_words, labeled_rows_in_words, teacher_in_words,
    tell_choice, tell_rows, tell_split, tell_training,
};
use crate::terminal::{self, to_json};
use crate::{Error, Result};

/// Describe a model, fitted state, manifest or augmented table
#[derive(Debug, Args)]
#[command(before_long_help = "\
Examples:
  windlass show model.windlass
  windlass show augmented.parquet --json")]
pub(crate) struct ShowArgs {
    /// File that Windlass wrote
    file: PathBuf,
    /// Print JSON to stdout
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ShowArgs) -> Result<u8> {
    let path = &args.file;
    let io = |source: std::io::Error| {
        let path = path.clone();
        match source.kind() {
            std::io::ErrorKind::NotFound => TableError::NotFound { path },
            _ => TableError::Io { doing: "read", path, source },
        }
    };
    let info = std::fs::metadata(path).map_err(io)?;
    let described = describe(path)?;
    let written = info.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let written = written.and_then(|time| i64::try_from(time.as_secs()).ok()).map(|seconds| {
        let time: ArrayRef = Arc::new(TimestampSecondArray::from(vec![seconds]));
        to_strings(&time).value(0).replace('T', " ")
    });
    if args.json {
        let mut value = described.json;
        value["kind"] = described.kind.into();
        value["bytes"] = info.len().into();
        value["written"] = written.into();
        terminal::print(&(to_json(&value) + "\n"))?;
        return Ok(0);
    }
    let mut text = format!("{}: {}\n", path.display(), described.kind);
    let size = windlass_plot::format::size(info.len());
    let written = written.map_or_else(String::new, |time| format!(", {time} UTC"));
    let _ = writeln!(text, "  file       {size}{written}");
    text += &described.text;
    terminal::print(&text)?;
    Ok(0)
}

/// The description of a file, as text and as JSON.
struct Described {
    kind: &'static str,
    text: String,
    json: Value,
}

fn describe(path: &Path) -> Result<Described> {
    let not_ours = || Error::NotWritten { path: path.to_owned() };
    if path.is_dir() || Table::has_known_extension(path) {
        return describe_table(path)?.ok_or_else(not_ours);
    }
    let bytes = std::fs::read(path).map_err(|source| TableError::Io {
        doing: "read",
        path: path.to_owned(),
        source,
    })?;
    if bytes.first() == Some(&b'{') {
        let text = String::from_utf8_lossy(&bytes);
        let value: Value = serde_json::from_str(&text).map_err(|_| not_ours())?;
        if value.get("fitted").is_some_and(|fitted| !fitted.is_null() && !fitted.is_string()) {
            let fitted = Fitted::from_json(&text, path)?;
            return Ok(describe_fitted(&fitted, value));
        }
        let manifest: Manifest = serde_json::from_value(value.clone()).map_err(|_| not_ours())?;
        let text = manifest_in_words(&manifest);
        return Ok(Described { kind: "manifest of an augmented table", text, json: value });
    }
    let model = Model::from_bytes(&bytes, path)?;
    let json = serde_json::to_value(model.metadata()).expect("metadata are JSON");
    Ok(Described { kind: "model", text: model_in_words(&model), json })
}

fn describe_table(path: &Path) -> Result<Option<Described>> {
    let table = Table::open(&[path.to_owned()], &ReadOptions::default())?;
    let Some(found) = table.synthetic_rows() else { return Ok(None) };
    let rows: usize =
        table.blocks().map(|batch| batch.map(|batch| batch.num_rows())).sum::<Result<_, _>>()?;
    let columns: Vec<&str> =
        table.schema().fields().iter().map(|field| field.name().as_str()).collect();
    let mut text = format!("  rows       {rows}\n  columns    {}\n", columns.join(", "));
    let marked = match found {
        SyntheticRows::Marked => "columns windlass_… mark synthetic rows",
        SyntheticRows::Incomplete => "some columns windlass_…, but not those that name sources",
        SyntheticRows::Unmarked => "synthetic rows are not marked",
    };
    let _ = writeln!(text, "  provenance {marked}");
    let mut value = json!({ "rows": rows, "columns": columns });
    if let Some(manifest) = table.metadata(Manifest::KEY)
        && let Ok(manifest) = serde_json::from_str::<Manifest>(manifest)
    {
        text += &manifest_in_words(&manifest);
        value["manifest"] = serde_json::to_value(&manifest).expect("a manifest is JSON");
    }
    Ok(Some(Described { kind: "augmented table", text, json: value }))
}

fn describe_fitted(fitted: &Fitted, value: Value) -> Described {
    let mut text = format!("  from       {} rows\n", fitted.rows());
    for (role, names) in fitted.columns_by_role() {
        let _ = writeln!(text, "  {role:<10} {}", names.join(", "));
    }
    text += &settings_in_words(fitted.settings());
    if !fitted.groups().is_empty() {
        let _ =
            writeln!(text, "  groups     {}", super::augment::groups_in_words(&fitted.groups()));
    }
    Described { kind: "fitted augmentation", text, json: value }
}

fn manifest_in_words(manifest: &Manifest) -> String {
    let mut text = format!("  from       {} rows, {}\n", manifest.rows, manifest.fingerprint);
    let _ = writeln!(text, "  version    windlass {}", manifest.version);
    let targets = manifest.settings.columns.target.join(", ");
    let _ = writeln!(text, "  target     {targets}");
    text + &settings_in_words(&manifest.settings)
}

fn settings_in_words(settings: &AugmentConfig) -> String {
    let params = settings.method.params();
    let mut text = format!("  method     {}\n", settings.method.name());
    for param in settings.method.info().params {
        if let Some(value) = (param.get)(&params) {
            let _ = writeln!(text, "             {} {value}", param.name);
        }
    }
    if let Some(rare) = &settings.rare {
        let _ = writeln!(text, "  rare       {} (only sources of synthetic rows)", rare.targets);
    }
    let originals = if settings.originals { "with" } else { "without" };
    let _ = writeln!(
        text,
        "  copies     {}, {originals} the originals, seed {}",
        settings.copies, settings.seed
    );
    text
}

/// Lines with labels as wide as those of `train`, with labels as wide as those of `show`.
fn widened(text: &str) -> String {
    const LABEL: usize = 11;
    let widen = |line: &str| match line.split_at_checked(LABEL) {
        Some((label, value)) => format!("{label}  {value}\n"),
        None => format!("{line}\n"),
    };
    text.lines().map(widen).collect()
}

fn model_in_words(model: &Model) -> String {
    let metadata = model.metadata();
    let mut text = format!("  model      {}\n", kind_in_words(metadata));
    let _ = writeln!(text, "  version    windlass {}", metadata.version);
    let _ = writeln!(text, "  from       {} rows, {}", metadata.rows, metadata.fingerprint);
    if let (Some(teacher), Some(distillation)) =
        (teacher_in_words(metadata), &metadata.distillation)
    {
        let rmse = distillation.teacher_valid.map_or_else(String::new, |valid| {
            format!(", expected RMSE {}", terminal::short(valid.rmse))
        });
        let _ =
            writeln!(text, "  teacher    {teacher}, {}{rmse}", distillation.teacher_fingerprint);
        let rows = labeled_rows_in_words(distillation, metadata.rows);
        let _ = writeln!(text, "  labeled    {rows}");
    }
    let _ = writeln!(text, "  target     {}", model.targets().join(", "));
    let _ = writeln!(text, "  features   {}", features_in_words(metadata));
    let distillation = metadata.distillation.iter().flat_map(|own| &own.notes);
    for note in metadata.notes.iter().chain(distillation) {
        let _ = writeln!(text, "  note       {note}");
    }
    let mut settings = String::new();
    tell_rows(&mut settings, metadata);
    tell_training(&mut settings, metadata);
    if let Some(choice) = &metadata.selection {
        tell_choice(&mut settings, choice);
    }
    tell_split(&mut settings, metadata);
    text += &widened(&settings);
    text += &importance_in_words(metadata);
    let is_expected = metadata.selection.is_some()
        || metadata.distillation.is_some()
        || metadata.config.cross_validation.is_some();
    let held_out = if is_expected { "expected" } else { "validation" };
    for (name, metrics) in [("training", Some(metadata.train)), (held_out, metadata.valid)] {
        let Some(metrics) = metrics else { continue };
        let r2 = metrics.r2.map_or_else(String::new, |r2| format!(", R² {r2:.3}"));
        let [rmse, mae] = [metrics.rmse, metrics.mae].map(terminal::short);
        let _ = writeln!(text, "  {name:<10} RMSE {rmse}, MAE {mae}{r2} ({} rows)", metrics.rows);
    }
    if let Some(drift) = &metadata.drift {
        let _ = writeln!(text, "  drift      {drift}");
    }
    let _ = writeln!(text, "  seed       {}", metadata.config.seed);
    text
}
