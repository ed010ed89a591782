//! From columns to numbers and back: fitted on training rows, kept in the model.
//!
//! | Column | becomes |
//! | :-- | :-- |
//! | continuous | `(x − offset)/scale`; a missing value the mean, and a further number 1 where training rows had missing values |
//! | categorical | a number for every level, 1 for the row's own; all 0 for a level that was never seen |
//! | target | `(y − offset)/scale`, undone in predictions |

use std::path::Path;

use arrow_array::{Array, RecordBatch};
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};
use windlass::Real as _;
use windlass_table::{Columns, Frame, LEVELS, Role, in_words, is_numeric, numbers, words};

use crate::{Error, Result};

/// What continuous columns are brought to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scaling {
    /// Mean 0 and deviation 1.
    #[default]
    Standard,
    /// From 0 to 1.
    MinMax,
    /// Nothing else.
    None,
}

/// `(x − offset)/scale`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// What is taken off.
    pub offset: f64,
    /// What the rest is divided by.
    pub scale: f64,
}

impl Scale {
    fn of(values: &[f64], scaling: Scaling) -> Self {
        let count = values.len() as f64;
        match scaling {
            Scaling::None => Self { offset: 0.0, scale: 1.0 },
            Scaling::Standard => {
                let mean = values.iter().sum::<f64>() / count;
                let square = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count;
                Self { offset: mean, scale: square.sqrt() }
            }
            Scaling::MinMax => {
                let low = values.iter().copied().fold(f64::INFINITY, f64::min);
                let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                Self { offset: low, scale: high - low }
            }
        }
    }
}

/// A column that a model reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Input {
    /// A number.
    Continuous {
        /// The column.
        name: String,
        /// How it is scaled.
        #[serde(flatten)]
        scale: Scale,
        /// What a missing value counts as.
        fill: f64,
        /// Whether a further number says that it was missing.
        indicator: bool,
    },
    /// A name.
    Categorical {
        /// The column.
        name: String,
        /// The names that training rows had; `None` for a missing one.
        levels: Vec<Option<String>>,
    },
}

impl Input {
    /// The column.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Continuous { name, .. } | Self::Categorical { name, .. } => name,
        }
    }

    /// The numbers that it becomes.
    #[must_use]
    pub fn width(&self) -> usize {
        match self {
            Self::Continuous { indicator, .. } => 1 + usize::from(*indicator),
            Self::Categorical { levels, .. } => levels.len(),
        }
    }
}

/// A target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Target {
    /// The column.
    pub name: String,
    /// How it is scaled.
    #[serde(flatten)]
    pub scale: Scale,
}

/// All that is done to a row before a model sees it, and to a prediction after.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Preparation {
    /// What the model reads.
    pub inputs: Vec<Input>,
    /// What it predicts.
    pub targets: Vec<Target>,
}

/// Categories that training rows did not have, by column.
pub type Unknown = Vec<(String, u64)>;

impl Preparation {
    /// Looks at training rows, and says which columns were left out and why.
    pub fn fit(
        frame: &Frame,
        rows: &RecordBatch,
        columns: &Columns,
        (scaling, target_scaling): (Scaling, Scaling),
    ) -> Result<(Self, Vec<String>)> {
        let schema = rows.schema();
        let (mut inputs, mut notes) = (vec![], vec![]);
        for (place, field) in schema.fields().iter().enumerate() {
            let (name, column) = (field.name().clone(), rows.column(place));
            match frame.roles.roles[place] {
                Role::Continuous => {
                    let numbers = numbers(column);
                    let present: Vec<f64> = numbers.iter().flatten().collect();
                    let scale = Scale::of(&present, scaling);
                    let first = present.first().copied().unwrap_or(0.0);
                    if present.is_empty() {
                        notes.push(format!("`{name}` has no values: left out"));
                    } else if present.iter().all(|&value| value == first) {
                        notes.push(format!("`{name}` is {first} in every row: left out"));
                    } else {
                        let fill = present.iter().sum::<f64>() / present.len() as f64;
                        let indicator = numbers.null_count() > 0;
                        inputs.push(Input::Continuous { name, scale, fill, indicator });
                    }
                }
                Role::Categorical => {
                    let mut levels: Vec<Option<String>> =
                        words(column).iter().map(|word| word.map(str::to_owned)).collect();
                    levels.sort();
                    levels.dedup();
                    let asked = columns.categorical.contains(&name);
                    if levels.len() < 2 {
                        notes.push(format!("`{name}` is the same in every row: left out"));
                    } else if levels.len() > LEVELS && !asked {
                        notes.push(format!(
                            "`{name}` has more than {LEVELS} different values: left out \
                             (--categorical {name} keeps it)"
                        ));
                    } else {
                        inputs.push(Input::Categorical { name, levels });
                    }
                }
                Role::Target | Role::Carried | Role::Weight | Role::Excluded => {}
            }
        }
        if inputs.is_empty() {
            let why =
                if notes.is_empty() { String::new() } else { format!(": {}", notes.join("; ")) };
            return Err(Error::NoInputs { why });
        }
        let mut targets = vec![];
        for &place in frame.roles.targets() {
            let name = schema.field(place).name().clone();
            let values: Vec<f64> = numbers(rows.column(place)).iter().flatten().collect();
            if values.iter().all(|&value| value == values[0]) {
                return Err(Error::ConstantTarget { column: name, value: values[0] });
            }
            targets.push(Target { name, scale: Scale::of(&values, target_scaling) });
        }
        Ok((Self { inputs, targets }, notes))
    }

    /// The numbers of all inputs together.
    #[must_use]
    pub fn width(&self) -> usize {
        self.inputs.iter().map(Input::width).sum()
    }

    /// The names of the numbers.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let of_input = |input: &Input| match input {
            Input::Continuous { name, indicator, .. } => {
                let missing = indicator.then(|| format!("{name} is missing"));
                [Some(name.clone()), missing].into_iter().flatten().collect()
            }
            Input::Categorical { name, levels } => {
                let level = |level: &Option<String>| {
                    format!("{name} = {}", level.as_deref().unwrap_or("(missing)"))
                };
                levels.iter().map(level).collect::<Vec<_>>()
            }
        };
        self.inputs.iter().flat_map(of_input).collect()
    }

    /// Rows as the model sees them, and the categories that it has never seen. `first` is the number of the
    /// first row in the table.
    pub fn features(
        &self,
        batch: &RecordBatch,
        path: &Path,
        first: u64,
    ) -> Result<(Array2<f64>, Unknown)> {
        let mut out = Array2::zeros((batch.num_rows(), self.width()));
        let (mut at, mut unknown) = (0, vec![]);
        for input in &self.inputs {
            let missing =
                || Error::MissingColumn { column: input.name().to_owned(), path: path.to_owned() };
            let column = batch.column_by_name(input.name()).ok_or_else(missing)?;
            match input {
                Input::Continuous { name, scale, fill, indicator } => {
                    if !is_numeric(column.data_type()) && column.null_count() < column.len() {
                        return Err(Error::OtherType {
                            column: name.clone(),
                            path: path.to_owned(),
                            holds: in_words(column.data_type()),
                            expected: "numbers",
                        });
                    }
                    let empty = !is_numeric(column.data_type());
                    let values = (!empty).then(|| numbers(column));
                    for row in 0..batch.num_rows() {
                        let value = values
                            .as_ref()
                            .filter(|values| values.is_valid(row))
                            .map(|values| values.value(row));
                        if let Some(value) = value
                            && value.abs() >= f32::LIMIT
                        {
                            let (column, row) = (name.clone(), first + row as u64);
                            return Err(Error::BadValue {
                                column,
                                path: path.to_owned(),
                                row,
                                value,
                            });
                        }
                        let filled = value.unwrap_or(*fill);
                        out[(row, at)] = (filled - scale.offset) / scale.scale;
                        if *indicator && value.is_none() {
                            out[(row, at + 1)] = 1.0;
                        }
                    }
                }
                Input::Categorical { name, levels } => {
                    let mut never = 0;
                    for (row, word) in words(column).iter().enumerate() {
                        let place = levels.binary_search_by(|level| level.as_deref().cmp(&word));
                        match place {
                            Ok(place) => out[(row, at + place)] = 1.0,
                            Err(_) => never += 1,
                        }
                    }
                    if never > 0 {
                        unknown.push((name.clone(), never));
                    }
                }
            }
            at += input.width();
        }
        Ok((out, unknown))
    }

    /// The targets as a model is to learn them.
    #[must_use]
    pub fn scaled_targets(&self, batch: &RecordBatch) -> Array2<f64> {
        let mut out = self.raw_targets(batch);
        for (mut column, target) in out.columns_mut().into_iter().zip(&self.targets) {
            column.mapv_inplace(|value| (value - target.scale.offset) / target.scale.scale);
        }
        out
    }

    /// The targets as they are.
    #[must_use]
    pub fn raw_targets(&self, batch: &RecordBatch) -> Array2<f64> {
        let mut out = Array2::zeros((batch.num_rows(), self.targets.len()));
        for (mut out, target) in out.columns_mut().into_iter().zip(&self.targets) {
            let column = batch.column_by_name(&target.name).expect("a target of the table");
            for (out, value) in out.iter_mut().zip(&numbers(column)) {
                *out = value.unwrap_or(f64::NAN);
            }
        }
        out
    }

    /// Predictions in the units of the targets.
    #[must_use]
    pub fn unscaled(&self, predicted: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut out = predicted.to_owned();
        for (mut column, target) in out.columns_mut().into_iter().zip(&self.targets) {
            column.mapv_inplace(|value| value * target.scale.scale + target.scale.offset);
        }
        out
    }
}
