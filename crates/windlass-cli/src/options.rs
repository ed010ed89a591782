//! Options that several commands share, and what they become.

use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use clap::{Args, ValueEnum};
use windlass::{Bandwidth, ClusterOn, ClusterScaling, Per};
use windlass_table::{
    AdaConfig, AnchorSource, AugmentConfig, ClusterCount, Columns, Error, Format, GammaSpec,
    IntegerHandling, Method, MethodName as TableMethod, MethodOptions, ReadOptions, Result,
    RowIdSource, Table, bandwidth,
};

/// How files are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading")]
pub(crate) struct ReadArgs {
    /// Format of standard input and output (and of files without a known ending)
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<FormatName>,
    /// What separates the fields of text: a character, or `tab`
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub(crate) delimiter: Option<u8>,
    /// The first line of text is a row, not a header
    #[arg(long)]
    pub(crate) no_header: bool,
    /// A marker of missing values in text, such as `?`; may be repeated
    #[arg(long = "null", value_name = "TEXT")]
    pub(crate) nulls: Vec<String>,
    /// Memory to stay within, such as 512MiB or 2GB
    #[arg(long, value_name = "SIZE", default_value = "512MiB", value_parser = bytes)]
    pub(crate) memory: u64,
    /// Threads to work with [default: one a core]; the output does not depend on it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

/// The name of a table format.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum FormatName {
    #[expect(missing_docs, reason = "possible values would show it")]
    Csv,
    #[expect(missing_docs, reason = "possible values would show it")]
    Tsv,
    #[expect(missing_docs, reason = "possible values would show it")]
    Parquet,
    /// Arrow IPC, the file format
    Arrow,
    /// Arrow IPC, the stream format
    Arrows,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Csv => Self::Csv,
            FormatName::Tsv => Self::Tsv,
            FormatName::Parquet => Self::Parquet,
            FormatName::Arrow => Self::Arrow,
            FormatName::Arrows => Self::ArrowStream,
        }
    }
}

impl ReadArgs {
    /// Opens the inputs, after the number of threads is set.
    pub(crate) fn open(&self, paths: &[PathBuf]) -> Result<Table> {
        self.open_as(paths, false, self.memory)
    }

    /// Opens the input of an output that is open too: each has half of the memory.
    pub(crate) fn open_beside(&self, paths: &[PathBuf]) -> Result<Table> {
        self.open_as(paths, false, self.memory / 2)
    }

    /// Opens a table that augment wrote, its text as it was written.
    pub(crate) fn open_output(&self, path: &Path) -> Result<Table> {
        self.open_as(&[path.to_owned()], true, self.memory / 2)
    }

    fn open_as(&self, paths: &[PathBuf], as_text: bool, memory: u64) -> Result<Table> {
        const LEAST: u64 = 32 << 20;
        if self.memory < LEAST {
            return Err(Error::LittleMemory { least: LEAST });
        }
        if let Some(threads) = self.threads {
            // Refused only if the pool is running already, and it is not.
            let _ = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global();
        }
        Table::open(
            paths,
            &ReadOptions {
                format: self.format.map(Into::into),
                delimiter: self.delimiter,
                header: !self.no_header,
                nulls: if as_text { vec![] } else { self.nulls.clone() },
                as_text,
                memory,
            },
        )
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(*byte),
        _ => Err("a delimiter is one ASCII character, or `tab`".into()),
    }
}

/// A number of bytes, such as `512MiB`, `2GB` or `1000000`.
fn bytes(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit: f64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kib" => 1024.0,
        "m" | "mib" => 1024.0 * 1024.0,
        "g" | "gib" => 1024.0 * 1024.0 * 1024.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        _ => return Err(format!("`{unit}` is no unit of memory: use KiB, MiB or GiB")),
    };
    match number.parse::<f64>() {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        Ok(number) if (0.0..1e18).contains(&(number * unit)) => Ok((number * unit) as u64),
        _ => Err("a size is a number and a unit, such as 512MiB".into()),
    }
}

/// Which columns are what.
#[derive(Debug, Args)]
#[command(next_help_heading = "Columns (lists are separated by commas)")]
pub(crate) struct ColumnArgs {
    /// Move only these columns; carry the rest
    #[arg(long, value_name = "COLUMNS")]
    features: Vec<String>,
    /// Leave these columns out of the output
    #[arg(long, value_name = "COLUMNS")]
    exclude: Vec<String>,
    /// Keep these columns as they are in the source row: ids, folds
    #[arg(long, value_name = "COLUMNS")]
    carry: Vec<String>,
    /// Take the numbers of these columns for names of categories
    #[arg(long, value_name = "COLUMNS")]
    categorical: Vec<String>,
    /// Move these columns, although they hold few different integers
    #[arg(long, value_name = "COLUMNS")]
    continuous: Vec<String>,
    /// How much each row counts in means and clusters
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,
    /// What becomes of moved integers
    #[arg(long, value_name = "WAY", default_value = "round")]
    integers: IntegersName,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum IntegersName {
    /// Rounded to integers of their type
    Round,
    /// Their column becomes floats
    Float,
}

impl ColumnArgs {
    /// Whether moved integers were asked to become floats.
    pub(crate) fn wants_floats(&self) -> bool {
        matches!(self.integers, IntegersName::Float)
    }

    pub(crate) fn columns(&self, targets: &[String], table: &Table) -> Columns {
        let list = |raw: &[String]| names(raw, table);
        Columns {
            target: list(targets),
            features: (!self.features.is_empty()).then(|| list(&self.features)),
            exclude: list(&self.exclude),
            carry: list(&self.carry),
            categorical: list(&self.categorical),
            continuous: list(&self.continuous),
            weight: self.weight.clone(),
            integers: match self.integers {
                IntegersName::Round => IntegerHandling::Round,
                IntegersName::Float => IntegerHandling::Float,
            },
        }
    }
}

/// Names separated by commas, unless a column has a name with one.
fn names(raw: &[String], table: &Table) -> Vec<String> {
    let is_column = |name: &str| table.schema().index_of(name).is_ok();
    let split = |raw: &String| {
        if is_column(raw) { vec![raw.clone()] } else { raw.split(',').map(str::to_owned).collect() }
    };
    raw.iter().flat_map(split).collect()
}

/// How rows are made.
#[derive(Debug, Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct MethodArgs {
    /// How synthetic rows are made
    #[arg(short, long, value_name = "METHOD", default_value = "ada")]
    method: MethodName,
    #[command(flatten)]
    how: HowArgs,
    /// Synthetic rows made of every row
    #[arg(short, long, value_name = "N", default_value_t = 1)]
    copies: usize,
    /// What random numbers depend on: one seed, the same rows
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// What tells rows apart, for random numbers and where rows come from: number (where they stand), column:NAME
    /// (a key), or content (what they hold). With the last two the order of rows does not matter
    #[arg(long, value_name = "IDENTITY", default_value = "number", value_parser = RowIdSource::from_str)]
    rows_by: RowIdSource,
    /// Keep synthetic values inside the range observed in their column
    #[arg(long, value_name = "RANGE")]
    clip: Option<Clip>,
    /// Leave out rows without a finite target instead of refusing them
    #[arg(long)]
    drop_missing_target: bool,
}

/// What each method needs to know.
#[derive(Debug, Args)]
pub(crate) struct HowArgs {
    /// Start from the choices of the published code: clusters of raw [x, y], its grid of γ
    #[arg(long, value_name = "NAME")]
    preset: Option<Preset>,
    /// ADA: which rows belong together: kmeans, bins:COLUMN, quantiles:COLUMN, column:COLUMN, matrix:FILE
    /// [default: kmeans]
    #[arg(long, value_name = "ANCHORS", value_parser = AnchorSource::from_str)]
    anchors: Option<AnchorSource>,
    /// ADA: how many clusters or bins; auto is √(rows/2), at least 2, at most 32 [default: auto]
    #[arg(long, value_name = "N|auto", value_parser = ClusterCount::from_str)]
    clusters: Option<ClusterCount>,
    /// ADA: what clusters are found in: features, targets or both [default: xy]
    #[arg(long, value_name = "WHAT")]
    on: Option<OnName>,
    /// ADA: bring columns to the same scale before clusters are found [default]
    #[arg(long, conflicts_with = "raw")]
    standardize: bool,
    /// ADA: find clusters in columns as they are
    #[arg(long)]
    raw: bool,
    /// ADA: a category whose levels no group crosses
    #[arg(long, value_name = "COLUMN")]
    within: Option<String>,
    /// ADA: γ is drawn from [1/α, α], α > 1 [default: 2]
    #[arg(long, value_name = "α")]
    alpha: Option<f64>,
    /// ADA: how γ is drawn: uniform, grid[:K], published-grid[:K], log-uniform, gamma:SHAPE,SCALE,
    /// list:γ,γ,… (in turn), or one number [default: uniform]
    #[arg(long, value_name = "LAW", value_parser = GammaSpec::from_str)]
    gamma: Option<GammaSpec>,
    /// ADA and mixups: one γ or λ for a whole copy (or batch), or one for each row [default: copy]
    #[arg(long, value_name = "WHAT")]
    per: Option<PerName>,
    /// c-mixup: how far apart targets may be, in their units, or in standard deviations as in 0.25sd
    /// [default: 0.25sd]
    #[arg(long, value_name = "H", value_parser = bandwidth)]
    bandwidth: Option<Bandwidth>,
    /// local-mixup: how far apart the features of partners may be
    #[arg(long, value_name = "ε")]
    epsilon: Option<f64>,
    /// Mixups: λ ~ Beta(β, β) [default: 2]
    #[arg(long, value_name = "β")]
    beta: Option<f64>,
    /// noise: its deviation on targets, in deviations of each [default: 0.1]
    #[arg(long, value_name = "σ")]
    noise_targets: Option<f64>,
    /// noise: its deviation on features, in deviations of each [default: 0]
    #[arg(long, value_name = "σ")]
    noise_features: Option<f64>,
    /// noise: deviations are in the units of the columns
    #[arg(long)]
    noise_absolute: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum MethodName {
    /// Anchor Data Augmentation
    Ada,
    /// Mixed with any other row
    Mixup,
    /// Mixed with a row of a similar target
    CMixup,
    /// Mixed with a row of similar features
    LocalMixup,
    /// Gaussian noise
    Noise,
    /// What a search finds, or nothing where nothing helps
    Auto,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Preset {
    Published,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum OnName {
    X,
    Y,
    Xy,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PerName {
    Copy,
    Row,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Clip {
    Observed,
}

impl MethodArgs {
    /// Whether the method is to be found by a search.
    pub(crate) fn is_auto(&self) -> bool {
        self.method == MethodName::Auto
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    pub(crate) fn drops_missing_target(&self) -> bool {
        self.drop_missing_target
    }

    /// Refuses what can be refused before a table is read.
    pub(crate) fn check(&self) -> Result<()> {
        match (self.is_auto(), self.how.given(false)) {
            (true, Some(option)) => Err(Error::DoesNotApply { option, to: "--method auto" }),
            (true, None) => self.settings_of(Columns::default(), (true, false), None).map(drop),
            (false, _) => self.settings(Columns::default(), (true, false)).map(drop),
        }
    }

    /// What is asked for by name.
    pub(crate) fn settings(&self, columns: Columns, parts: (bool, bool)) -> Result<AugmentConfig> {
        self.settings_of(columns, parts, Some(self.how.method(self.method)?))
    }

    /// What is asked for, with a method that was found; without one the rows stay as they are.
    pub(crate) fn settings_of(
        &self,
        columns: Columns,
        (originals, provenance): (bool, bool),
        method: Option<Method>,
    ) -> Result<AugmentConfig> {
        if self.copies == 0 {
            let (name, range) = ("copies", "[1, inf)");
            return Err(windlass::Error::OutOfRange { name, range, got: 0.0 }.into());
        }
        let settings = AugmentConfig {
            columns,
            copies: if method.is_some() { self.copies } else { 0 },
            method: method.unwrap_or_else(|| Method::Ada(AdaConfig::default())),
            originals,
            seed: self.seed,
            clip: self.clip.is_some(),
            drop_missing_target: self.drop_missing_target,
            provenance,
            rows_by: self.rows_by.clone(),
        };
        settings.check()?;
        Ok(settings)
    }

    /// The file of an anchor matrix, if there is one.
    pub(crate) fn matrix(&self) -> Option<&PathBuf> {
        match &self.how.anchors {
            Some(AnchorSource::Matrix(path)) => Some(path),
            _ => None,
        }
    }
}

impl HowArgs {
    /// The anchors, and how many groups where they are found.
    pub(crate) fn groups(&self) -> (AnchorSource, ClusterCount) {
        (self.anchors.clone().unwrap_or_default(), self.clusters.unwrap_or_default())
    }

    /// The strength of an anchor regression: a single γ.
    pub(crate) fn strength(&self) -> Option<f64> {
        match &self.gamma {
            Some(GammaSpec::List(list)) if list.len() == 1 => Some(list[0]),
            _ => None,
        }
    }

    /// Whether groups are named by columns, and not found.
    pub(crate) fn names_groups(&self) -> bool {
        self.groups().0 != AnchorSource::KMeans || self.within.is_some()
    }

    /// Refuses a number of clusters where groups are those of a column.
    pub(crate) fn check_clusters(&self) -> Result<()> {
        self.groups().0.check_clusters(self.clusters)
    }

    /// Whether an option was given that a model without augmentation has no use for.
    pub(crate) fn given(&self, anchors_apply: bool) -> Option<&'static str> {
        let options = self.options();
        if anchors_apply {
            return MethodOptions { anchors: None, clusters: None, gamma: None, ..options }.given();
        }
        options.given()
    }

    pub(crate) fn method(&self, name: MethodName) -> Result<Method> {
        let name = match name {
            MethodName::Ada => TableMethod::Ada,
            MethodName::Mixup => TableMethod::Mixup,
            MethodName::CMixup => TableMethod::CMixup,
            MethodName::LocalMixup => TableMethod::LocalMixup,
            MethodName::Noise => TableMethod::Noise,
            MethodName::Auto => {
                return Err(Error::DoesNotApply { option: "auto", to: "this command" });
            }
        };
        self.options().method(name)
    }

    fn options(&self) -> MethodOptions {
        MethodOptions {
            published: self.preset.is_some(),
            anchors: self.anchors.clone(),
            clusters: self.clusters,
            on: self.on.map(|on| match on {
                OnName::X => ClusterOn::X,
                OnName::Y => ClusterOn::Y,
                OnName::Xy => ClusterOn::Xy,
            }),
            scale: match (self.raw, self.standardize) {
                (true, _) => Some(ClusterScaling::Raw),
                (false, true) => Some(ClusterScaling::Standardized),
                (false, false) => None,
            },
            within: self.within.clone(),
            alpha: self.alpha,
            gamma: self.gamma.clone(),
            per: self.per.map(|per| match per {
                PerName::Row => Per::Row,
                PerName::Copy => Per::Batch,
            }),
            beta: self.beta,
            bandwidth: self.bandwidth,
            epsilon: self.epsilon,
            noise_targets: self.noise_targets,
            noise_features: self.noise_features,
            noise_absolute: self.noise_absolute,
        }
    }
}

#[cfg(test)]
mod tests {
    use windlass_table::DEFAULT_MEMORY;

    use super::bytes;

    #[test]
    fn sizes_are_read() {
        assert_eq!(bytes("512MiB"), Ok(DEFAULT_MEMORY));
        assert_eq!(bytes("1.5 GiB"), Ok(3 << 29));
        assert_eq!(bytes("2GB"), Ok(2_000_000_000));
        assert_eq!(bytes("64"), Ok(64));
        for bad in ["", "MiB", "-1MiB", "5 apples", "1e30", "nan"] {
            assert!(bytes(bad).is_err(), "{bad}");
        }
    }
}
