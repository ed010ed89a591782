//! `data make`: synthetic data.

use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use clap::{Args, Subcommand};
use windlass_paper::Result;
use windlass_paper::data::{self, Error, Interactions, MnistSplit, RcfMnist};
use windlass_table::{Format, OutputKind, Sink, WriteOptions, check_outputs, write_atomic};

use windlass_cli::terminal;
use windlass_cli::{FormatName, PlotFormat};

/// Make data up: the same seed, the same data
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

/// A noisy cosine: x uniform on (−3π, 3π), y = cos x and noise
#[derive(Debug, Args)]
struct CosineArgs {
    /// Where it goes: a .csv, .tsv, .parquet or .arrow file, or `-`
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Format of standard output (and of files without a known ending)
    #[arg(long, value_name = "FORMAT")]
    format: Option<FormatName>,
    /// How many rows
    #[arg(long, value_name = "N", default_value_t = 30)]
    rows: usize,
    /// Deviation of the noise
    #[arg(long, value_name = "σ", default_value_t = 0.1, value_parser = deviation)]
    noise: f64,
    /// Let x go from end to end in equal steps
    #[arg(long)]
    equidistant: bool,
    /// What random numbers depend on
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// Training sets of a linear model: all numbers normal, y = x·b + b₀ and noise
#[derive(Debug, Args)]
struct LinearArgs {
    /// Where they go, numbered by the column `set`: a .csv, .tsv, .parquet or .arrow file, or `-`
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Format of standard output (and of files without a known ending)
    #[arg(long, value_name = "FORMAT")]
    format: Option<FormatName>,
    /// How many rows a set has
    #[arg(long, value_name = "N", default_value_t = 100)]
    rows: usize,
    /// How many sets
    #[arg(long, value_name = "N", default_value_t = 20)]
    sets: usize,
    /// How many columns x1, x2, …
    #[arg(long, value_name = "N", default_value_t = 19)]
    features: usize,
    /// Deviation of the noise
    #[arg(long, value_name = "σ", default_value_t = 0.1, value_parser = deviation)]
    noise: f64,
    /// Where rows for validation go, which follow the same model
    #[arg(long, value_name = "FILE")]
    valid: Option<PathBuf>,
    /// How many rows for validation
    #[arg(long, value_name = "N", default_value_t = 100_000, requires = "valid")]
    valid_rows: usize,
    /// What random numbers depend on
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// RCF-MNIST: images of Fashion-MNIST, turned by an angle that is the target, in a color that misleads
#[derive(Debug, Args)]
#[command(after_help = "\
Four images of six are for training, one for validation, one for the test. An image is turned by 360° · g
against the clock, and its color is (red, 0, 1 − red). In training red = g in 80 % of images and 1 − g in
the others, in the test the other way round, in validation red is random, as in the code of C-Mixup.

The folder gets, for train, valid and test: _images.npy (bytes, image × channel × row × column),
_targets.npy (g), _red.npy, _sources.npy (the image of Fashion-MNIST); and recipe.json.")]
struct RcfArgs {
    /// The folder where it goes
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// How many images in all
    #[arg(long, value_name = "N", default_value_t = 60_000)]
    images: usize,
    /// Draw a sheet of the first images: a .png or .svg file
    #[arg(long, value_name = "FILE")]
    sheet: Option<PathBuf>,
    /// What random numbers depend on
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    seed: u64,
}

/// Drugs and proteins that are made up, in the form of TDC's `dti_dg_group`: `train_val.csv` and `test.csv`
#[derive(Debug, Args)]
struct DtiArgs {
    /// The folder where they go
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// How many pairs of all years
    #[arg(long, value_name = "N", default_value_t = 1200)]
    rows: usize,
    /// What random numbers depend on
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

/// Refuses a table that the memory may not hold, or that has no rows.
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
        _ => Err("a deviation is a number from 0 on".into()),
    }
}
