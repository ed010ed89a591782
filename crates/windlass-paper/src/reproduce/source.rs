//! The rows of an experiment: a public data set, or rows that are made.

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

/// Where rows come from.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Source {
    /// A public data set.
    Set(String),
    /// A public data set without the rows in which something is missing.
    CompleteRowsOf(String),
    /// Points of a cosine: as many sets of them as are asked for.
    #[serde(rename_all = "kebab-case")]
    Cosine {
        /// Points of a set.
        rows: usize,
        /// Sets.
        #[serde(default = "one")]
        sets: usize,
        /// The deviation of the noise.
        #[serde(default = "tenth")]
        noise: f64,
        /// Whether points are equally far from each other.
        #[serde(default)]
        equidistant: bool,
        /// The seed of the first set.
        #[serde(default)]
        seed: u64,
    },
    /// Rows of a linear relation: as many sets of them as are asked for.
    Linear {
        /// Rows of a set.
        rows: usize,
        /// Sets.
        sets: usize,
        /// The seed.
        #[serde(default)]
        seed: u64,
    },
    /// More rows of that relation.
    LinearValid {
        /// Rows.
        rows: usize,
        /// The seed of the relation.
        #[serde(default)]
        seed: u64,
    },
    /// Windows of a public set of series, each with all series some steps later.
    Windows {
        /// The data set.
        set: String,
        /// Steps of a window.
        window: usize,
        /// Steps from the last of a window to its target.
        horizon: usize,
    },
    /// The same of the electricity of all clients, whose file users bring themselves.
    WindowsOfElectricity {
        /// Series in it.
        series: usize,
        /// Steps of a window.
        window: usize,
        /// Steps from the last of a window to its target.
        horizon: usize,
    },
    /// Images that are turned by an angle, in a color that misleads.
    RcfMnist {
        /// Images of all parts.
        images: usize,
        /// The seed.
        #[serde(default)]
        seed: u64,
    },
    /// Drugs and proteins, whose files users bring themselves.
    #[serde(rename_all = "kebab-case")]
    Dti {
        /// At most so many rows of a year: to learn from, to choose by, and held out.
        most_per_year: Option<[usize; 3]>,
        /// The seed of the choice.
        #[serde(default)]
        seed: u64,
    },
    /// Drugs and proteins that are made up.
    GeneratedDti {
        /// Pairs of all years.
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

/// Which rows scales and fillings are taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Prepared {
    /// Training rows only.
    #[default]
    TrainingRows,
    /// All rows, those held out among them, as the published code has it: features are brought to `[0, 1]`, what
    /// is missing is the mean.
    AllRows,
}

/// Features of linear rows, and the deviation of their noise.
const LINEAR: (usize, f64) = (19, 0.1);

impl Source {
    /// The targets and the column of domains or sets.
    pub(crate) fn roles(&self) -> Result<(Vec<String>, Option<&'static str>)> {
        let one = |target: &str| vec![target.to_owned()];
        Ok(match self {
            Self::Set(name) | Self::CompleteRowsOf(name) => {
                let set = data::named(name)?;
                let target = set.target.ok_or_else(|| Error::BadExperiment {
                    name: name.clone(),
                    why: "a data set without a target cannot be learnt from".into(),
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
        })
    }

    /// Whether its rows are arrays and no table: what deep networks learn from.
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

    /// Refuses a data set whose files are nowhere.
    pub(crate) fn check(&self) -> Result<()> {
        let folders = data::folders();
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

    /// What its rows are, where they are arrays.
    pub(crate) fn in_words(&self) -> String {
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

    /// What messages call it.
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
            Self::CompleteRowsOf(name) => complete(&data::named(name)?.load()?),
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
                data::linear(rows, sets, LINEAR.0, LINEAR.1, seed)
            }
            &Self::LinearValid { rows, seed } => data::linear_valid(rows, LINEAR.0, LINEAR.1, seed),
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

    /// The rows as comparisons take them.
    pub(crate) fn frame(&self, columns: &Columns, prepared: Prepared) -> Result<LoadedTable> {
        let mut rows = self.load()?;
        if prepared == Prepared::AllRows {
            let kept: Vec<&String> = columns.target.iter().chain(&columns.carry).collect();
            rows = scaled_over_all_rows(&rows, &kept);
        }
        self.framed(&rows, columns)
    }

    /// Rows in memory as comparisons take them.
    pub(crate) fn framed(&self, rows: &RecordBatch, columns: &Columns) -> Result<LoadedTable> {
        let table = Table::from_batch(rows, &self.path())?;
        Ok(LoadedTable::load(&table, columns, false, DEFAULT_MEMORY, &())?)
    }
}

/// Rows in which nothing is missing.
fn complete(rows: &RecordBatch) -> RecordBatch {
    let there = |row: usize| rows.columns().iter().all(|column| column.is_valid(row));
    let keep: BooleanArray = (0..rows.num_rows()).map(|row| Some(there(row))).collect();
    filter_record_batch(rows, &keep).expect("as many as rows")
}

/// Numbers from 0 to 1, the mean for what is missing; but for some columns.
fn scaled_over_all_rows(rows: &RecordBatch, but: &[&String]) -> RecordBatch {
    let schema = rows.schema();
    let columns = schema.fields().iter().zip(rows.columns()).map(|(field, column)| {
        if field.data_type() != &DataType::Float64 || but.contains(&field.name()) {
            return Arc::clone(column);
        }
        let values = column.as_primitive::<Float64Type>();
        let there = || values.iter().flatten();
        let mean = there().sum::<f64>() / there().count() as f64;
        let (low, high) = (there().fold(f64::NAN, f64::min), there().fold(f64::NAN, f64::max));
        let reach = if high > low { high - low } else { 1.0 };
        let scaled = values.iter().map(|value| (value.unwrap_or(mean) - low) / reach);
        Arc::new(Float64Array::from_iter_values(scaled)) as ArrayRef
    });
    let columns: Vec<ArrayRef> = columns.collect();
    RecordBatch::try_new(schema, columns).expect("the same columns")
}
