//! `data make`: synthetic data.

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use clap::{Args, Subcommand};
use windlass_paper::Result;
use windlass_paper::data::{self, Error, Interactions, MnistSplit, RcfMnist};
use windlass_table::{Format, OutputKind, Sink, WriteOptions, check_outputs, write_atomic};

use windlass_cli::terminal;
use windlass_cli::{FormatName, PlotFormat};

/// Generate synthetic data; the same seed gives the same data
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub(crate) struct MakeArgs {
    #[command(subcommand)]
    what: Made,
}

#[derive(Debug, Subcommand)]
enum Made {
    Cosine(CosineArgs),
    Linear(LinearArgs),
    RcfMnist(RcfArgs),
    Dti(DtiArgs),
}

/// Noisy cosine: x uniform on (−3π, 3π), y = cos x + noise
#[derive(Debug, Args)]
struct CosineArgs {
    /// Output file: .csv, .tsv, .parquet or .arrow; `-` is stdout
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Format of stdout, and of files without a known extension
    #[arg(long, value_name = "FORMAT")]
    format: Option<FormatName>,
    /// Number of rows
    #[arg(long, value_name = "N", default_value_t = 30)]
    rows: usize,
    /// Standard deviation of the noise
    #[arg(long, value_name = "σ", default_value_t = 0.1, value_parser = deviation)]
    noise: f64,
    /// Equidistant x
    #[arg(long)]
    equidistant: bool,
    /// Random seed
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// Training sets of a linear model: y = x·b + b₀ + noise, all normally distributed
#[derive(Debug, Args)]
struct LinearArgs {
    /// Output file, with sets numbered in a column `set`: .csv, .tsv, .parquet or .arrow; `-` is stdout
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Format of stdout, and of files without a known extension
    #[arg(long, value_name = "FORMAT")]
    format: Option<FormatName>,
    /// Number of rows per set
    #[arg(long, value_name = "N", default_value_t = 100)]
    rows: usize,
    /// Number of sets
    #[arg(long, value_name = "N", default_value_t = 20)]
    sets: usize,
    /// Number of feature columns x1, x2, …
    #[arg(long, value_name = "N", default_value_t = 19)]
    features: usize,
    /// Standard deviation of the noise
    #[arg(long, value_name = "σ", default_value_t = 0.1, value_parser = deviation)]
    noise: f64,
    /// Output file for validation rows of the same model
    #[arg(long, value_name = "FILE")]
    valid: Option<PathBuf>,
    /// Number of validation rows
    #[arg(long, value_name = "N", default_value_t = 100_000, requires = "valid")]
    valid_rows: usize,
    /// Random seed
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// RCF-MNIST: images of Fashion-MNIST, rotated by the target angle, with spuriously correlated colors
#[derive(Debug, Args)]
#[command(after_help = "\
Four sixths of the images are for training, one sixth for validation and one sixth for testing. An
image is rotated counterclockwise by 360° · g, and its color is (red, 0, 1 − red). In training
red = g in 80 % of the images and 1 − g in the others; in testing it is the other way round; in
validation red is random, as in the code of C-Mixup.

Files for train, valid and test: _images.npy (bytes, image × channel × row × column), _targets.npy
(g), _red.npy, _sources.npy (index in Fashion-MNIST); and recipe.json.")]
struct RcfArgs {
    /// Output folder
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// Total number of images
    #[arg(long, value_name = "N", default_value_t = 60_000)]
    images: usize,
    /// Plot the first images to a .png or .svg file
    #[arg(long, value_name = "FILE")]
    sheet: Option<PathBuf>,
    /// Random seed
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// Synthetic drugs and proteins in the format of TDC's `dti_dg_group`: `train_val.csv` and `test.csv`
#[derive(Debug, Args)]
struct DtiArgs {
    /// Output folder
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// Total number of pairs
    #[arg(long, value_name = "N", default_value_t = 1200)]
    rows: usize,
    /// Random seed
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

pub(super) fn run(args: &MakeArgs) -> Result<u8> {
    match &args.what {
        Made::Cosine(args) => cosine(args)?,
        Made::Linear(args) => linear(args)?,
        Made::RcfMnist(args) => rcf_mnist(args)?,
        Made::Dti(args) => dti(args)?,
    }
    Ok(0)
}

fn cosine(args: &CosineArgs) -> Result<()> {
    let format = args.format.map(Into::into);
    check_outputs(&[(&args.output, OutputKind::Table)], format, &[], true)?;
    check_values(&[args.rows, 2])?;
    let table = data::cosine(args.rows, args.noise, args.equidistant, args.seed);
    write(&args.output, format, &table)
}

fn linear(args: &LinearArgs) -> Result<()> {
    let outputs = [Some(&args.output), args.valid.as_ref()].into_iter().flatten();
    let outputs: Vec<(&Path, OutputKind)> =
        outputs.map(|path| (path.as_ref(), OutputKind::Table)).collect();
    let format = args.format.map(Into::into);
    check_outputs(&outputs, format, &[], true)?;
    let columns = args.features.saturating_add(2);
    check_values(&[args.rows, args.sets, columns])?;
    if args.valid.is_some() {
        check_values(&[args.valid_rows, columns])?;
    }
    let (features, noise, seed) = (args.features, args.noise, args.seed);
    let table = data::linear(args.rows, args.sets, features, noise, seed);
    write(&args.output, format, &table)?;
    if let Some(valid) = &args.valid {
        let table = data::linear_valid(args.valid_rows, features, noise, seed);
        write(valid, format, &table)?;
    }
    Ok(())
}

fn rcf_mnist(args: &RcfArgs) -> Result<()> {
    RcfMnist::check_folder(&args.output)?;
    let format = args.sheet.as_deref().map(PlotFormat::from_path).transpose()?;
    if let Some(sheet) = &args.sheet {
        check_outputs(&[(sheet, OutputKind::Plot)], None, &[], true)?;
    }
    let made =
        RcfMnist::generate(&data::fashion_mnist(MnistSplit::Train)?, args.images, args.seed)?;
    terminal::begin_writing();
    made.write(&args.output)?;
    if let (Some(place), Some(format)) = (&args.sheet, format) {
        write_atomic(place, &format.encode(place, made.image_grid().to_svg())?)?;
    }
    Ok(())
}

fn dti(args: &DtiArgs) -> Result<()> {
    // Letters of a pair, at most.
    check_values(&[args.rows, 300])?;
    terminal::begin_writing();
    Interactions::generate(args.rows, args.seed).write(&args.output)
}

fn write(path: &Path, format: Option<Format>, table: &RecordBatch) -> Result<()> {
    terminal::begin_writing();
    let options = WriteOptions { format, ..WriteOptions::default() };
    let mut sink = Sink::create(path, &options, &table.schema(), None)?;
    sink.write(0, table)?;
    if terminal::interrupted() {
        return Err(windlass_compare::Error::Interrupted.into());
    }
    Ok(sink.finish()?)
}

/// Returns an error for a table that may not fit in memory, or has no rows.
fn check_values(sizes: &[usize]) -> Result<(), Error> {
    const MOST: usize = 100_000_000;
    let values = sizes.iter().try_fold(1_usize, |product, &size| product.checked_mul(size));
    match values {
        Some(1..=MOST) => Ok(()),
        _ => Err(Error::MadeSize { most: MOST }),
    }
}

fn deviation(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(deviation) if (0.0..f64::INFINITY).contains(&deviation) => Ok(deviation),
        _ => Err("expected a number of at least 0".into()),
    }
}
