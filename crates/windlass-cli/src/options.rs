//! Options shared by several commands, and their conversion to settings of the libraries.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::time::Duration;

use crate::terminal;
use crate::{Error, Result};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgMatches, Args, Command, FromArgMatches, ValueEnum};
use windlass::{
    AnchorSource, ClusterCount, ClusterScaling, Copies, GammaDistribution, METHODS, MethodInfo,
    MethodParams, PARAMS, Param, ParamStyle, Per, RareSpec,
};
use windlass_table::{
    AdaConfig, AugmentConfig, Bounds, Columns, Decimals, Encoding, Format, IntegerHandling,
    MethodConfig, RareSources, ReadOptions, RoleRules, RowIdSource, SheetName, Table, WriteOptions,
    read_rare, type_name,
};

/// How files are read.
#[derive(Debug, Args)]
#[command(next_help_heading = "Input")]
pub(crate) struct ReadArgs {
    /// Format of stdin and stdout, and of files without a known extension
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<FormatName>,
    /// Field delimiter of text files: a character or `tab` [default: detected among , ; tab |]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub(crate) delimiter: Option<u8>,
    /// Encoding of text files [default: detected]
    #[arg(long, value_name = "ENCODING", value_parser = choices(&[
        ("utf-8", "", Encoding::Utf8),
        ("utf-16", "With a byte order mark, or little-endian", Encoding::Utf16),
        ("latin-1", "Latin-1 or Windows-1252", Encoding::Latin1),
    ]))]
    pub(crate) encoding: Option<Encoding>,
    /// Sheet of a workbook, by name or number [default: the first sheet that is not empty]
    #[arg(long, value_name = "NAME|N")]
    pub(crate) sheet: Option<String>,
    /// Text files have no header line
    #[arg(long)]
    pub(crate) no_header: bool,
    /// Additional marker of missing values in any column, such as `-999`; may be repeated
    #[arg(long = "null", value_name = "TEXT")]
    pub(crate) nulls: Vec<String>,
    /// Memory limit, such as 512MiB or 2GB
    #[arg(long, value_name = "SIZE", default_value = "512MiB", value_parser = bytes)]
    pub(crate) memory: u64,
    /// Number of threads [default: number of cores]; does not change the output
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
    /// Arrow IPC file
    Arrow,
    /// Arrow IPC stream
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
    /// Sets the number of threads and opens the inputs.
    pub(crate) fn open(&self, paths: &[PathBuf]) -> Result<Table> {
        self.open_as(paths, false, self.memory)
    }

    /// Opens the input of an output that is open too: each gets half of the memory.
    pub(crate) fn open_beside(&self, paths: &[PathBuf]) -> Result<Table> {
        self.open_as(paths, false, self.memory / 2)
    }

    /// Opens a table that augment wrote, with all columns as text.
    pub(crate) fn open_output(&self, path: &Path) -> Result<Table> {
        self.open_as(&[path.to_owned()], true, self.memory / 2)
    }

    /// How rows are written; standard output has the format of the input unless `--format` is set.
    pub(crate) fn write_options(&self, output: &Path, table: &Table) -> WriteOptions {
        let format = self.format.map(Into::into);
        WriteOptions {
            format: if output.as_os_str() == "-" {
                // Workbooks cannot be written.
                let own = match table.format() {
                    Format::Xlsx | Format::Ods => Format::Csv,
                    format => format,
                };
                format.or(Some(own))
            } else {
                format
            },
            delimiter: self.delimiter,
            header: !self.no_header,
        }
    }

    /// Opens a table that this command wrote.
    pub(crate) fn open_written(&self, path: &Path) -> Result<Table> {
        self.open_without_notes(&[path.to_owned()], false, self.memory / 2)
    }

    fn open_as(&self, paths: &[PathBuf], as_text: bool, memory: u64) -> Result<Table> {
        let table = self.open_without_notes(paths, as_text, memory)?;
        // The notes of an output that is verified were printed when it was written.
        table.notes().iter().filter(|_| !as_text).for_each(terminal::note);
        Ok(table)
    }

    fn open_without_notes(&self, paths: &[PathBuf], as_text: bool, memory: u64) -> Result<Table> {
        const LEAST: u64 = 32 << 20;
        if self.memory < LEAST {
            return Err(Error::LittleMemory { least: LEAST });
        }
        if let Some(threads) = self.threads {
            // Fails only if the pool is running already, and it is not.
            let _ = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global();
        }
        let options = ReadOptions {
            format: self.format.map(Into::into),
            delimiter: self.delimiter,
            encoding: self.encoding,
            sheet: self.sheet.clone().map(SheetName::new),
            header: !self.no_header,
            nulls: if as_text { vec![] } else { self.nulls.clone() },
            as_text,
            memory,
        };
        Ok(Table::open(paths, &options)?)
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(*byte),
        _ => Err("expected one ASCII character or `tab`".into()),
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
        _ => return Err(format!("unknown memory unit `{unit}`: use KiB, MiB or GiB")),
    };
    match number.parse::<f64>() {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        Ok(number) if (0.0..1e18).contains(&(number * unit)) => Ok((number * unit) as u64),
        _ => Err("expected a number and a unit, such as 512MiB".into()),
    }
}

/// The roles of columns.
#[derive(Debug, Args)]
#[command(next_help_heading = "Columns (comma-separated lists)")]
pub(crate) struct ColumnArgs {
    /// Augment only these columns; copy the others from the source row
    #[arg(long, value_name = "COLUMNS")]
    features: Vec<String>,
    /// Omit these columns from the output
    #[arg(long, value_name = "COLUMNS")]
    exclude: Vec<String>,
    /// Copy these columns unchanged from the source row, such as ids
    #[arg(long, value_name = "COLUMNS")]
    carry: Vec<String>,
    /// Treat these numeric columns as categories
    #[arg(long, value_name = "COLUMNS")]
    categorical: Vec<String>,
    /// Augment these columns (0/1 or dates) as numbers
    #[arg(long, value_name = "COLUMNS")]
    continuous: Vec<String>,
    /// Column of row weights in means and clusters
    #[arg(long, value_name = "COLUMN")]
    weight: Option<String>,
    /// Type of synthetic values in integer columns
    #[arg(long, value_name = "TYPE", default_value = "round", value_parser = choices(&[
        ("round", "Round to integers of the column's type", IntegerHandling::Round),
        ("float", "Write the column as floats", IntegerHandling::Float),
    ]))]
    integers: IntegerHandling,
}

impl ColumnArgs {
    /// Whether integer columns are written as floats.
    pub(crate) fn wants_floats(&self) -> bool {
        self.integers == IntegerHandling::Float
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
            integers: self.integers,
            rules: RoleRules::default(),
        }
    }
}

/// Returns an error that lists the columns if there is no target.
pub(crate) fn require_target(targets: &[String], table: &Table) -> Result<()> {
    if !targets.is_empty() {
        return Ok(());
    }
    let column = |field: &std::sync::Arc<arrow_schema::Field>| {
        format!("{} ({})", field.name(), type_name(field.data_type()))
    };
    let columns = table.schema().fields().iter().map(column).collect();
    Err(Error::NoTarget { path: table.path().to_owned(), columns })
}

/// Splits names at commas, unless a column's name contains the comma.
fn names(raw: &[String], table: &Table) -> Vec<String> {
    let is_column = |name: &str| table.schema().index_of(name).is_ok();
    let split = |raw: &String| {
        if is_column(raw) { vec![raw.clone()] } else { raw.split(',').map(str::to_owned).collect() }
    };
    raw.iter().flat_map(split).collect()
}

/// The augmentation method and its output.
#[derive(Debug, Args)]
#[command(next_help_heading = "Method")]
pub(crate) struct MethodArgs {
    /// Augmentation method
    #[arg(short, long, value_name = "METHOD", default_value = "ada", value_parser = method_choices())]
    method: MethodChoice,
    #[command(flatten)]
    params: ParamArgs,
    /// Number of synthetic rows per original row [default: 1; with --rare, as many as make rare rows as many as the
    /// others]
    #[arg(short, long, value_name = "N")]
    copies: Option<usize>,
    /// Generate synthetic rows only from rows with a rare target: high, low or both (extremes, by the box plot), density
    /// (sparse ranges), or a file of control points of the relevance with the columns y, phi and, optionally, slope
    /// [default: both, for methods that augment rare rows only]
    #[arg(long, value_name = "high|low|both|density|FILE")]
    rare: Option<String>,
    /// Random seed; the same seed gives the same rows
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Row identifier for random numbers and provenance: number (position), column:NAME (a key) or content (all
    /// values). With column and content the output does not depend on the order of rows
    #[arg(long, value_name = "IDENTITY", default_value = "number", value_parser = RowIdSource::from_str)]
    rows_by: RowIdSource,
    /// Clip synthetic values to the range observed in their column
    #[arg(long, value_name = "RANGE", default_value = "none", action = clap::ArgAction::Set, value_parser = choices(&[
        ("observed", "Clip to the minimum and maximum of the input", true),
        ("none", "Clip only columns with --bounds", false),
    ]))]
    clip: bool,
    /// Bounds of a column, such as hours=0..24, hours=0.. or hours=..24: synthetic values are clipped, original
    /// values outside are an error; may be repeated
    #[arg(long, value_name = "COLUMN=LOW..HIGH", value_parser = bounds)]
    bounds: Vec<(String, Bounds)>,
    /// Decimals of synthetic values, if the input is a text file
    #[arg(long, value_name = "DECIMALS", default_value = "auto", value_parser = choices(&[
        ("auto", "Round to the decimals of the input column", Decimals::Auto),
        ("full", "Do not round", Decimals::Full),
    ]))]
    decimals: Decimals,
    /// Drop rows without a finite target instead of reporting an error
    #[arg(long)]
    drop_missing_target: bool,
}

/// The parameters of methods as options, one for each parameter of the registry.
#[derive(Debug, Default)]
pub(crate) struct ParamArgs {
    params: MethodParams,
    published: bool,
}

impl ParamArgs {
    const PRESET: &str = "preset";

    fn options() -> impl Iterator<Item = Arg> {
        let preset = Arg::new(Self::PRESET).long(Self::PRESET).value_name("NAME");
        let preset = preset.value_parser(["published"]).help(
            "ada: settings of the published code: k-means on raw [x, y], its grid of γ, one γ per copy",
        );
        std::iter::once(preset).chain(PARAMS.iter().map(|param| {
            let methods: Vec<&str> = METHODS
                .iter()
                .filter(|method| method.has(param))
                .map(|method| method.name)
                .collect();
            let default = param.default.map(|text| format!(" [default: {text}]"));
            let help = format!(
                "{}: {} ({}){}",
                methods.join(", "),
                param.help,
                param.range,
                default.unwrap_or_default()
            );
            let read = |text: &str| {
                (param.set)(&mut MethodParams::default(), text).map(|()| text.to_owned())
            };
            Arg::new(param.name)
                .long(param.name.replace('_', "-"))
                .value_name(param.placeholder)
                .value_parser(read)
                .allow_negative_numbers(true)
                .help(help)
        }))
    }
}

impl Args for ParamArgs {
    fn augment_args(command: Command) -> Command {
        command.args(Self::options())
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ParamArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut args = Self::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.published = matches.contains_id(Self::PRESET);
        for param in PARAMS {
            if let Some(text) = matches.get_one::<String>(param.name) {
                (param.set)(&mut self.params, text).expect("the option was read before");
            }
        }
        Ok(())
    }
}

impl ParamArgs {
    /// The anchors, and the number of groups that k-means or bins form.
    pub(crate) fn groups(&self) -> (AnchorSource, ClusterCount) {
        let MethodParams { anchors, clusters, .. } = &self.params;
        (anchors.clone().unwrap_or_default(), clusters.unwrap_or_default())
    }

    /// Whether groups come from columns instead of k-means.
    pub(crate) fn names_groups(&self) -> bool {
        self.groups().0 != AnchorSource::KMeans || self.params.within.is_some()
    }

    /// Returns an error for a number of clusters if groups are the values of a column.
    pub(crate) fn check_clusters(&self) -> windlass_table::Result<()> {
        match self.params.clusters {
            Some(_) => windlass_table::check_clusters(&self.groups().0),
            None => Ok(()),
        }
    }

    /// The first option that is set, ignoring those in `except`.
    pub(crate) fn given(&self, except: &[&str]) -> Option<Cow<'static, str>> {
        let given = self.params.given().find(|param| !except.contains(&param.name));
        let option = |param: &'static Param| ParamStyle::Command.name(param.name);
        given.map(option).or(self.published.then_some("--preset".into()))
    }

    pub(crate) fn method(&self, method: &'static MethodInfo) -> Result<MethodConfig> {
        let mut params = self.params.clone();
        if self.published {
            let grid = GammaDistribution::PublishedGrid { alpha: 2.0, values: 20 };
            params.gamma.get_or_insert(grid);
            params.per.get_or_insert(Per::Batch);
            if self.groups().0 == AnchorSource::KMeans {
                params.cluster_scale.get_or_insert(ClusterScaling::Raw);
            }
        }
        Ok(MethodConfig::new(method, &params)?)
    }
}

/// A parser for one of several words, each with a line of help, which may be empty.
pub(crate) fn choices<T: Copy + Send + Sync + 'static>(
    words: &'static [(&'static str, &'static str, T)],
) -> impl TypedValueParser<Value = T> {
    let possible = |&(word, help, _): &(&'static str, &'static str, T)| match help {
        "" => PossibleValue::new(word),
        help => PossibleValue::new(word).help(help),
    };
    PossibleValuesParser::new(words.iter().map(possible)).map(|text| {
        words.iter().find(|(word, ..)| *word == text).expect("one of the possible values").2
    })
}

/// A parser for the name of a method.
pub(crate) fn method_names() -> impl TypedValueParser<Value = &'static MethodInfo> {
    let names = METHODS.iter().map(|method| PossibleValue::new(method.name).help(method.help));
    PossibleValuesParser::new(names)
        .map(|name| MethodInfo::named(&name).expect("a name of the registry"))
}

/// A method, or `auto`: the result of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum MethodChoice {
    Auto,
    Method(&'static MethodInfo),
}

fn method_choices() -> impl TypedValueParser<Value = MethodChoice> {
    let auto = PossibleValue::new("auto").help("Search for a method; add no rows if none helps");
    let names = METHODS.iter().map(|method| PossibleValue::new(method.name).help(method.help));
    PossibleValuesParser::new(names.chain([auto]))
        .map(|name| MethodInfo::named(&name).map_or(MethodChoice::Auto, MethodChoice::Method))
}

/// Parses a column and its bounds.
fn bounds(text: &str) -> Result<(String, Bounds), String> {
    // A name may contain `=`, bounds do not.
    let (column, bounds) = text.rsplit_once('=').ok_or("expected COLUMN=LOW..HIGH")?;
    Ok((column.to_owned(), bounds.parse()?))
}

impl MethodArgs {
    /// Whether the method is chosen by a search.
    pub(crate) fn is_auto(&self) -> bool {
        self.method == MethodChoice::Auto
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    pub(crate) fn drops_missing_target(&self) -> bool {
        self.drop_missing_target
    }

    /// Checks everything that does not depend on the table.
    pub(crate) fn check(&self) -> Result<()> {
        match (self.method, self.params.given(&[])) {
            (MethodChoice::Auto, Some(option)) => {
                Err(Error::does_not_apply(option, "--method auto"))
            }
            (MethodChoice::Auto, None) if self.rare.is_some() => {
                Err(Error::does_not_apply("--rare", "--method auto"))
            }
            _ => self.settings(Columns::default(), (true, false)).map(drop),
        }
    }

    /// The settings with the method that is named.
    pub(crate) fn settings(&self, columns: Columns, parts: (bool, bool)) -> Result<AugmentConfig> {
        let method = match self.method {
            MethodChoice::Auto => None,
            MethodChoice::Method(method) => Some(self.params.method(method)?),
        };
        self.settings_of(columns, parts, method)
    }

    /// The settings with a method chosen by a search; without one no rows are added.
    pub(crate) fn settings_of(
        &self,
        columns: Columns,
        (originals, provenance): (bool, bool),
        method: Option<MethodConfig>,
    ) -> Result<AugmentConfig> {
        self.copies.map_or(Ok(()), |copies| Copies::new(copies).check())?;
        let targets = match &self.rare {
            Some(text) => Some(read_rare(text)?),
            None => method.as_ref().filter(|own| own.info().rare).map(|_| RareSpec::default()),
        };
        let rare = targets.map(|targets| RareSources { targets, balance: self.copies.is_none() });
        let settings = AugmentConfig {
            columns,
            copies: if method.is_some() { self.copies.unwrap_or(1) } else { 0 },
            method: method.unwrap_or_else(|| MethodConfig::Ada(AdaConfig::default())),
            originals,
            seed: self.seed,
            clip: self.clip,
            drop_missing_target: self.drop_missing_target,
            provenance,
            rows_by: self.rows_by.clone(),
            bounds: self.bounds.iter().cloned().collect(),
            decimals: self.decimals,
            rare,
        };
        settings.check()?;
        Ok(settings)
    }

    /// The file of control points, if there is one.
    pub(crate) fn control_points(&self) -> Option<PathBuf> {
        self.rare.as_ref().filter(|text| RareSpec::named(text).is_none()).map(PathBuf::from)
    }

    /// The file of an anchor matrix, if there is one.
    pub(crate) fn matrix(&self) -> Option<&PathBuf> {
        match &self.params.params.anchors {
            Some(AnchorSource::Matrix(path)) => Some(path),
            _ => None,
        }
    }
}

/// A time such as `90s`, `20m`, `1h`.
pub(crate) fn time(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = match unit {
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("unknown time unit `{unit}`: use s, m or h")),
    };
    match number.parse::<f64>() {
        Ok(number) if (0.0..1e9).contains(&(number * unit)) => {
            Ok(Duration::from_secs_f64(number * unit))
        }
        _ => Err("expected a number and a unit, such as 20m".into()),
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
