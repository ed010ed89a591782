//! Preprocessing of columns, fitted on training rows and stored in the model.
//!
//! | Column | Transformation |
//! | :-- | :-- |
//! | continuous | `(x − offset)/scale`, mean imputation; a missing-value indicator if training rows had missing values |
//! | categorical | one-hot encoding; all 0 for a level that training rows did not have |
//! | target | `(y − offset)/scale`, undone in predictions |

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};
use windlass::Real as _;
use windlass_table::{
    Columns, LoadedTable, MAX_LEVELS, Role, is_numeric, to_f64, to_strings, type_name,
};

use crate::{Error, Result};

/// Scaling of continuous columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scaling {
    /// Mean 0 and standard deviation 1.
    #[default]
    Standard,
    /// Minimum 0 and maximum 1.
    MinMax,
    /// Unchanged.
    None,
}

/// `(x − offset)/scale`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct FittedScaling {
    /// Subtracted first.
    pub offset: f64,
    /// Divisor.
    pub scale: f64,
}

impl FittedScaling {
    /// Fits values with their weights.
    fn fit(values: &[(f64, f64)], scaling: Scaling) -> Self {
        match scaling {
            Scaling::None => Self { offset: 0.0, scale: 1.0 },
            Scaling::Standard => {
                let mean = mean(values);
                let squares: Vec<(f64, f64)> = values
                    .iter()
                    .map(|&(value, weight)| ((value - mean).powi(2), weight))
                    .collect();
                Self { offset: mean, scale: self::mean(&squares).sqrt() }
            }
            Scaling::MinMax => {
                let numbers = || values.iter().map(|(value, _)| *value);
                let low = numbers().fold(f64::INFINITY, f64::min);
                let high = numbers().fold(f64::NEG_INFINITY, f64::max);
                Self { offset: low, scale: high - low }
            }
        }
    }

    fn is_usable(self) -> bool {
        self.scale.is_normal() && self.offset.is_finite()
    }
}

fn mean(values: &[(f64, f64)]) -> f64 {
    let total: f64 = values.iter().map(|(_, weight)| weight).sum();
    values.iter().map(|(value, weight)| value * weight).sum::<f64>() / total
}

/// A column that a model uses as a feature.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Input {
    /// A continuous column.
    Continuous {
        /// The column.
        name: String,
        /// Its scaling.
        #[serde(flatten)]
        scale: FittedScaling,
        /// The value that replaces missing ones.
        fill: f64,
        /// Whether a missing-value indicator follows.
        indicator: bool,
    },
    /// A categorical column.
    Categorical {
        /// The column.
        name: String,
        /// The sorted levels of the training rows; `None` is a missing value.
        levels: Vec<Option<String>>,
        /// A description of its type.
        holds: String,
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

    /// Number of columns of the design matrix.
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
    /// Its scaling.
    #[serde(flatten)]
    pub scale: FittedScaling,
}

/// Fitted preprocessing of features and targets.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Preprocessing {
    /// Columns used as features.
    pub inputs: Vec<Input>,
    /// Columns to predict.
    pub targets: Vec<Target>,
}

/// The weights of rows, in the column that is the weight of the training table; missing ones are 0.
pub fn row_weights(
    table: &LoadedTable,
    rows: &RecordBatch,
    path: &Path,
) -> Result<Option<Vec<f64>>> {
    let Some(index) = table.roles.weight() else { return Ok(None) };
    let column = table.batch.schema().field(index).name().clone();
    let path = || path.to_owned();
    let Some(found) = rows.column_by_name(&column) else {
        return Err(Error::MissingColumn { column, path: path() });
    };
    if !is_numeric(found.data_type()) {
        let (holds, expected) = (type_name(found.data_type()), "numbers".to_owned());
        return Err(Error::OtherType { column, path: path(), holds, expected });
    }
    Ok(Some(to_f64(found).iter().map(|weight| weight.unwrap_or(0.0)).collect()))
}

/// The levels of a column as text; whole numbers are spelled alike as integers and as floats.
fn levels(column: &ArrayRef) -> StringArray {
    if !column.data_type().is_floating() {
        return to_strings(column);
    }
    let spell = |value: f64| {
        if value.fract() == 0.0 && value.abs() < 1e15 {
            format!("{value:.0}")
        } else {
            value.to_string()
        }
    };
    to_f64(column).iter().map(|value| value.map(spell)).collect()
}

impl Preprocessing {
    /// Fits training rows, with a note on every column that is omitted.
    pub fn fit(
        table: &LoadedTable,
        rows: &RecordBatch,
        columns: &Columns,
        scaling: Scaling,
        target_scaling: Scaling,
    ) -> Result<(Self, Vec<String>)> {
        let schema = rows.schema();
        let weights = row_weights(table, rows, Path::new("-"))?;
        let weight = |row: usize| weights.as_ref().map_or(1.0, |weights| weights[row]);
        // Present values with their weights; rows of weight 0 are ignored.
        let weighted = |column: &ArrayRef| -> Vec<(f64, f64)> {
            let values = to_f64(column);
            let present =
                (0..values.len()).filter(|&row| values.is_valid(row) && weight(row) > 0.0);
            present.map(|row| (values.value(row), weight(row))).collect()
        };
        let (mut inputs, mut notes) = (vec![], vec![]);
        for (index, field) in schema.fields().iter().enumerate() {
            let (name, column) = (field.name().clone(), rows.column(index));
            match table.roles.roles[index] {
                Role::Continuous => {
                    let present = weighted(column);
                    let scale = FittedScaling::fit(&present, scaling);
                    let first = present.first().map_or(0.0, |(value, _)| *value);
                    if present.is_empty() {
                        notes.push(format!("`{name}` has no values: left out"));
                    } else if present.iter().all(|&(value, _)| value == first) {
                        notes.push(format!("`{name}` is {first} in every row: left out"));
                    } else if !scale.is_usable() {
                        notes.push(format!("`{name}` varies too little or too much: left out"));
                    } else {
                        let fill = mean(&present);
                        let indicator = to_f64(column).null_count() > 0;
                        inputs.push(Input::Continuous { name, scale, fill, indicator });
                    }
                }
                Role::Categorical => {
                    let mut levels: Vec<Option<String>> = levels(column)
                        .iter()
                        .enumerate()
                        .filter(|(row, _)| weight(*row) > 0.0)
                        .map(|(_, word)| word.map(str::to_owned))
                        .collect();
                    levels.sort();
                    levels.dedup();
                    let requested = columns.categorical.contains(&name);
                    if levels == [None] {
                        notes.push(format!("`{name}` has no values: left out"));
                    } else if levels.len() < 2 {
                        notes.push(format!("`{name}` is the same in every row: left out"));
                    } else if levels.len() > MAX_LEVELS && !requested {
                        notes.push(format!(
                            "`{name}` has more than {MAX_LEVELS} different values: left out \
                             (name it as categorical to keep it)"
                        ));
                    } else {
                        let holds = type_name(column.data_type());
                        inputs.push(Input::Categorical { name, levels, holds });
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
        for &index in table.roles.targets() {
            let name = schema.field(index).name().clone();
            let values = weighted(rows.column(index));
            let first = values.first().map_or(0.0, |(value, _)| *value);
            let scale = FittedScaling::fit(&values, target_scaling);
            if values.iter().all(|&(value, _)| value == first) || !scale.is_usable() {
                return Err(Error::ConstantTarget { column: name, value: first });
            }
            targets.push(Target { name, scale });
        }
        Ok((Self { inputs, targets }, notes))
    }

    /// Number of columns of the design matrix.
    #[must_use]
    pub fn width(&self) -> usize {
        self.inputs.iter().map(Input::width).sum()
    }

    /// Names of the columns of the design matrix.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let of_input = |input: &Input| match input {
            Input::Continuous { name, indicator, .. } => {
                let missing = indicator.then(|| format!("{name} is missing"));
                [Some(name.clone()), missing].into_iter().flatten().collect()
            }
            Input::Categorical { name, levels, .. } => {
                let level = |level: &Option<String>| {
                    format!("{name} = {}", level.as_deref().unwrap_or("(missing)"))
                };
                levels.iter().map(level).collect::<Vec<_>>()
            }
        };
        self.inputs.iter().flat_map(of_input).collect()
    }

    /// The design matrix of some rows. `first` is the number of the first row in the table, for error messages.
    pub fn features(&self, batch: &RecordBatch, path: &Path, first: u64) -> Result<Array2<f64>> {
        let mut out = Array2::zeros((batch.num_rows(), self.width()));
        let mut at = 0;
        for input in &self.inputs {
            let missing =
                || Error::MissingColumn { column: input.name().to_owned(), path: path.to_owned() };
            let column = batch.column_by_name(input.name()).ok_or_else(missing)?;
            match input {
                Input::Continuous { name, scale, fill, indicator } => {
                    let has_values = column.logical_null_count() < column.len();
                    if !is_numeric(column.data_type()) && has_values {
                        return Err(Error::OtherType {
                            column: name.clone(),
                            path: path.to_owned(),
                            holds: type_name(column.data_type()),
                            expected: "numbers".into(),
                        });
                    }
                    let empty = !is_numeric(column.data_type());
                    let values = (!empty).then(|| to_f64(column));
                    for row in 0..batch.num_rows() {
                        let value = values
                            .as_ref()
                            .filter(|values| values.is_valid(row))
                            .map(|values| values.value(row));
                        let scaled = |value: f64| (value - scale.offset) / scale.scale;
                        if let Some(value) = value
                            && scaled(value).abs().max(value.abs()) >= f32::LIMIT
                        {
                            let (column, row) = (name.clone(), first + row as u64);
                            return Err(Error::BadValue {
                                column,
                                path: path.to_owned(),
                                row,
                                value,
                            });
                        }
                        out[(row, at)] = scaled(value.unwrap_or(*fill));
                        if *indicator && value.is_none() {
                            out[(row, at + 1)] = 1.0;
                        }
                    }
                }
                Input::Categorical { name, levels, holds } => {
                    let mut known = false;
                    for (row, own) in self::levels(column).iter().enumerate() {
                        let found = levels.binary_search_by(|level| level.as_deref().cmp(&own));
                        if let Ok(level) = found {
                            out[(row, at + level)] = 1.0;
                            known = true;
                        }
                    }
                    // A column of another type, such as 1 for true, would have unknown levels only.
                    let other = type_name(column.data_type());
                    if !known && other != *holds && column.logical_null_count() < column.len() {
                        let (column, path, expected) =
                            (name.clone(), path.to_owned(), holds.clone());
                        return Err(Error::OtherType { column, path, holds: other, expected });
                    }
                }
            }
            at += input.width();
        }
        Ok(out)
    }

    /// For every column, the number of rows with a level that none of the preprocessings was fitted on.
    pub(crate) fn unknown_categories<'a>(
        fitted: impl Iterator<Item = &'a Self>,
        batch: &RecordBatch,
    ) -> BTreeMap<String, u64> {
        let mut known: BTreeMap<&str, BTreeSet<Option<&str>>> = BTreeMap::new();
        for input in fitted.flat_map(|preprocessing| &preprocessing.inputs) {
            if let Input::Categorical { name, levels, .. } = input {
                known.entry(name).or_default().extend(levels.iter().map(Option::as_deref));
            }
        }
        let count = |(name, known): (&str, BTreeSet<Option<&str>>)| {
            let column = batch.column_by_name(name)?;
            let unknown = levels(column).iter().filter(|level| !known.contains(level)).count();
            (unknown > 0).then(|| (name.to_owned(), unknown as u64))
        };
        known.into_iter().filter_map(count).collect()
    }

    /// The targets in the scaled units that models are fitted in.
    #[must_use]
    pub fn scaled_targets(&self, batch: &RecordBatch) -> Array2<f64> {
        let mut out = self.raw_targets(batch);
        for (mut column, target) in out.columns_mut().into_iter().zip(&self.targets) {
            column.mapv_inplace(|value| (value - target.scale.offset) / target.scale.scale);
        }
        out
    }

    /// The targets in the units of the table; NaN if missing.
    #[must_use]
    pub fn raw_targets(&self, batch: &RecordBatch) -> Array2<f64> {
        let mut out = Array2::zeros((batch.num_rows(), self.targets.len()));
        for (mut out, target) in out.columns_mut().into_iter().zip(&self.targets) {
            let column = batch.column_by_name(&target.name).expect("a target of the table");
            for (out, value) in out.iter_mut().zip(&to_f64(column)) {
                *out = value.unwrap_or(f64::NAN);
            }
        }
        out
    }

    /// Turns predictions into the units of the table.
    #[must_use]
    pub fn unscale(&self, predicted: ArrayView2<'_, f64>) -> Array2<f64> {
        let mut out = predicted.to_owned();
        for (mut column, target) in out.columns_mut().into_iter().zip(&self.targets) {
            column.mapv_inplace(|value| value * target.scale.scale + target.scale.offset);
        }
        out
    }
}
