//! The rows of an experiment: a public data set or synthetic rows.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch};
use arrow_schema::DataType;
use arrow_select::concat::concat_batches;
use arrow_select::filter::filter_record_batch;
use serde::Deserialize;
use windlass_table::{Columns, DEFAULT_MEMORY, LoadedTable, Table};

use crate::deep::DOMAIN;
use crate::{Error, Result, data};

/// A data set of an experiment.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum DatasetSpec {
    /// A public data set.
    Set(String),
    /// A public data set without rows that have missing values.
    CompleteRowsOf(String),
    /// Training sets of noisy points of a cosine.
    #[serde(rename_all = "kebab-case")]
    Cosine {
        /// Points per set.
        rows: usize,
        /// Sets.
        #[serde(default = "one")]
        sets: usize,
        /// Standard deviation of the noise.
        #[serde(default = "tenth")]
        noise: f64,
        /// Whether x is equidistant.
        #[serde(default)]
        equidistant: bool,
        /// The seed of the first set.
        #[serde(default)]
        seed: u64,
    },
    /// Training sets of a linear model.
    Linear {
        /// Rows per set.
        rows: usize,
        /// Sets.
        sets: usize,
        /// The seed.
        #[serde(default)]
        seed: u64,
    },
    /// Test rows of that linear model.
    LinearValid {
        /// Rows.
        rows: usize,
        /// The seed of the model.
        #[serde(default)]
        seed: u64,
    },
    /// Windows of a public set of time series; the targets are all series some steps later.
    Windows {
        /// The data set.
        set: String,
        /// Steps of a window.
        window: usize,
        /// Steps from the last of a window to its target.
        horizon: usize,
    },
    /// The same for the electricity data of all clients, a file that users provide.
    WindowsOfElectricity {
        /// Number of series.
        series: usize,
        /// Steps of a window.
        window: usize,
        /// Steps from the last of a window to its target.
        horizon: usize,
    },
    /// RCF-MNIST: rotated and colored images.
    RcfMnist {
        /// Total number of images.
        images: usize,
        /// The seed.
        #[serde(default)]
        seed: u64,
    },
    /// Drug–target interactions, files that users provide.
    #[serde(rename_all = "kebab-case")]
    Dti {
        /// Maximum numbers of training, validation and test rows of a year.
        most_per_year: Option<[usize; 3]>,
        /// The seed of the sample.
        #[serde(default)]
        seed: u64,
    },
    /// Synthetic drug–target interactions.
    GeneratedDti {
        /// Total number of pairs.
        rows: usize,
        /// The seed.
        #[serde(default)]
        seed: u64,
    },
}

fn one() -> usize {
    1
}

fn tenth() -> f64 {
    0.1
}

/// The rows that scaling and imputation are fitted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PreprocessingScope {
    /// Training rows only.
    #[default]
    TrainingRows,
    /// All rows including test rows, as in the published code: min-max scaling to `[0, 1]` and mean imputation.
    AllRows,
}

const LINEAR_FEATURES: usize = 19;
const LINEAR_NOISE: f64 = 0.1;

/// The columns that are not features.
pub(crate) struct Roles {
    pub(crate) targets: Vec<String>,
    /// The column of domains or training sets.
    pub(crate) domain: Option<&'static str>,
}

impl DatasetSpec {
    pub(crate) fn roles(&self) -> Result<Roles> {
        let one = |target: &str| vec![target.to_owned()];
        let (targets, domain) = match self {
            Self::Set(name) | Self::CompleteRowsOf(name) => {
                let set = data::named(name)?;
                let target = set.target.ok_or_else(|| Error::BadExperiment {
                    name: name.clone(),
                    why: "a data set without a target cannot be used for training".into(),
                })?;
                (one(target), set.domain)
            }
            Self::Cosine { .. } | Self::Linear { .. } => (one("y"), Some("set")),
            Self::LinearValid { .. } => (one("y"), None),
            Self::Windows { set, .. } => {
                let columns = data::named(set)?.columns();
                let series = columns.into_iter().filter(|column| column.kind == "float64");
                (series.map(|column| column.name.to_owned()).collect(), None)
            }
            Self::WindowsOfElectricity { series, .. } => {
                ((0..*series).map(|place| place.to_string()).collect(), None)
            }
            Self::RcfMnist { .. } => (one("angle"), Some(DOMAIN)),
            Self::Dti { .. } | Self::GeneratedDti { .. } => (one("Y"), Some(DOMAIN)),
        };
        Ok(Roles { targets, domain })
    }

    /// Whether its rows are arrays, for deep networks, instead of a table.
    pub(crate) fn is_arrays(&self) -> bool {
        matches!(
            self,
            Self::Windows { .. }
                | Self::WindowsOfElectricity { .. }
                | Self::RcfMnist { .. }
                | Self::Dti { .. }
                | Self::GeneratedDti { .. }
        )
    }

    /// Returns an error if files of the dataset are missing.
    pub(crate) fn check(&self) -> Result<()> {
        let folders = data::search_dirs();
        match self {
            Self::Set(name) | Self::CompleteRowsOf(name) | Self::Windows { set: name, .. } => {
                data::named(name)?.paths(&folders)?;
            }
            Self::RcfMnist { .. } => {
                data::named("fashion_mnist")?.paths(&folders)?;
            }
            Self::WindowsOfElectricity { .. } => {
                data::electricity(&folders)?;
            }
            Self::Dti { .. } => {
                data::Interactions::paths(&folders)?;
            }
            Self::Cosine { .. }
            | Self::Linear { .. }
            | Self::LinearValid { .. }
            | Self::GeneratedDti { .. } => {}
        }
        Ok(())
    }

    /// Describes rows that are arrays.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Windows { window, horizon, .. }
            | Self::WindowsOfElectricity { window, horizon, .. } => format!(
                "windows of {window} steps and what comes {horizon} later, in the order of time; every series divided by \
                 its largest absolute value over all rows, test rows among them, as published"
            ),
            Self::RcfMnist { images, .. } => format!(
                "{images} images of Fashion-MNIST, turned and colored, with pixels from −1 to 1; domains are whether red is \
                 the angle or its opposite"
            ),
            Self::Dti { most_per_year, .. } => format!(
                "drugs and proteins of the years up to 2018, and for the test of 2019 and 2020{}; a fifth of each year chooses \
                 the epoch; domains are the years",
                most_per_year.map_or_else(String::new, |[train, valid, test]| format!(
                    " (at most {train}, {valid} and {test} of a year)"
                ))
            ),
            Self::GeneratedDti { .. } => {
                "drugs and proteins that are made up, of the years up to 2018, and for the test of 2019 and 2020; domains \
                 are the years"
                    .into()
            }
            _ => String::new(),
        }
    }

    /// Its name in messages.
    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Self::Set(name) | Self::CompleteRowsOf(name) => name.into(),
            Self::Cosine { .. } => "cosine".into(),
            Self::Linear { .. } | Self::LinearValid { .. } => "linear".into(),
            Self::Windows { set, .. } => set.into(),
            Self::WindowsOfElectricity { .. } => "electricity".into(),
            Self::RcfMnist { .. } => "rcf-mnist".into(),
            Self::Dti { .. } | Self::GeneratedDti { .. } => "dti".into(),
        }
    }

    /// The rows.
    pub(crate) fn load(&self) -> Result<RecordBatch> {
        Ok(match self {
            Self::Set(name) => data::named(name)?.load()?,
            Self::CompleteRowsOf(name) => complete_rows(&data::named(name)?.load()?),
            &Self::Cosine { rows, sets, noise, equidistant, seed } => {
                let set = |number: i64| {
                    let seed = seed + number.unsigned_abs();
                    let points = data::cosine(rows, noise, equidistant, seed);
                    let number = Int64Array::from(vec![number; rows]);
                    let mut columns: Vec<(&str, ArrayRef)> = vec![("set", Arc::new(number))];
                    columns.extend(["x", "y"].map(|name| (name, points[name].clone())));
                    RecordBatch::try_from_iter(columns).expect("as many of each")
                };
                let sets: Vec<RecordBatch> = (0..).take(sets.max(1)).map(set).collect();
                concat_batches(&sets[0].schema(), &sets).expect("the same columns")
            }
            &Self::Linear { rows, sets, seed } => {
                data::linear(rows, sets, LINEAR_FEATURES, LINEAR_NOISE, seed)
            }
            &Self::LinearValid { rows, seed } => {
                data::linear_valid(rows, LINEAR_FEATURES, LINEAR_NOISE, seed)
            }
            Self::Windows { .. }
            | Self::WindowsOfElectricity { .. }
            | Self::RcfMnist { .. }
            | Self::Dti { .. }
            | Self::GeneratedDti { .. } => {
                let name = self.path().display().to_string();
                return Err(Error::BadExperiment { name, why: "it has arrays, no table".into() });
            }
        })
    }

    /// Loads the rows for a comparison.
    pub(crate) fn loaded(
        &self,
        columns: &Columns,
        scope: PreprocessingScope,
    ) -> Result<LoadedTable> {
        let mut rows = self.load()?;
        if scope == PreprocessingScope::AllRows {
            let kept: Vec<&String> = columns.target.iter().chain(&columns.carry).collect();
            rows = scaled_over_all_rows(&rows, &kept);
        }
        self.load_batch(&rows, columns)
    }

    /// Prepares rows in memory for a comparison.
    pub(crate) fn load_batch(&self, rows: &RecordBatch, columns: &Columns) -> Result<LoadedTable> {
        let table = Table::from_batch(rows, &self.path())?;
        Ok(LoadedTable::load(&table, columns, false, DEFAULT_MEMORY, &())?)
    }
}

/// Rows without missing values.
fn complete_rows(rows: &RecordBatch) -> RecordBatch {
    let is_complete = |row: usize| rows.columns().iter().all(|column| column.is_valid(row));
    let keep: BooleanArray = (0..rows.num_rows()).map(|row| Some(is_complete(row))).collect();
    filter_record_batch(rows, &keep).expect("as many as rows")
}

/// Min-max scaling and mean imputation over all rows, except for some columns.
fn scaled_over_all_rows(rows: &RecordBatch, except: &[&String]) -> RecordBatch {
    let schema = rows.schema();
    let columns = schema.fields().iter().zip(rows.columns()).map(|(field, column)| {
        if field.data_type() != &DataType::Float64 || except.contains(&field.name()) {
            return Arc::clone(column);
        }
        let values = column.as_primitive::<Float64Type>();
        let present = || values.iter().flatten();
        let mean = present().sum::<f64>() / present().count() as f64;
        let (low, high) = (present().fold(f64::NAN, f64::min), present().fold(f64::NAN, f64::max));
        let range = if high > low { high - low } else { 1.0 };
        let scaled = values.iter().map(|value| (value.unwrap_or(mean) - low) / range);
        Arc::new(Float64Array::from_iter_values(scaled)) as ArrayRef
    });
    let columns: Vec<ArrayRef> = columns.collect();
    RecordBatch::try_new(schema, columns).expect("the same columns")
}
