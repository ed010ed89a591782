//! Preprocessing of columns, fitted on training rows and stored in the model.
//!
//! | Column | Transformation |
//! | :-- | :-- |
//! | continuous | `(x − offset)/scale`, mean imputation; a missing-value indicator if training rows had missing values; values far outside the training range are limited, except in linear models |
//! | categorical | one-hot encoding; all 0 for a level that training rows did not have |
//! | date | [calendar features](crate::calendar), each like a continuous column |
//! | target | `(y − offset)/scale`, undone in predictions |

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray};
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};
use windlass::Real as _;
use windlass_table::{
    Columns, LoadedTable, MAX_LEVELS, Numbers, ROW_COUNT, Role, RoleReason, is_numeric,
    is_temporal, to_f64, to_seconds, to_strings, type_name,
};

use crate::calendar::{Calendar, CalendarPart, CalendarTest};
use crate::split::Split;
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

/// Encoding of integers with few values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// As numbers.
    Numeric,
    /// One-hot.
    OneHot,
}

impl Encoding {
    /// Whether a continuous column is one-hot encoded.
    fn applies(self, column: &ArrayRef) -> bool {
        const MAX_VALUES: usize = 20;
        if self == Self::Numeric || !column.data_type().is_integer() {
            return false;
        }
        let mut values = BTreeSet::new();
        for value in to_f64(column).iter().flatten() {
            values.insert(value.to_bits());
            if values.len() > MAX_VALUES {
                return false;
            }
        }
        values.len() > 2
    }

    /// Whether one-hot encoding changes anything in a table.
    pub(crate) fn matters(table: &LoadedTable) -> bool {
        let features = table.roles.features().iter();
        features.map(|&index| table.batch.column(index)).any(|column| Self::OneHot.applies(column))
    }
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
    /// A continuous column, or a number that is computed from a date.
    Continuous {
        /// The column.
        name: String,
        /// The calendar feature, for a column of dates.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        calendar: Option<Calendar>,
        /// Its scaling.
        #[serde(flatten)]
        scale: FittedScaling,
        /// The value that replaces missing ones.
        fill: f64,
        /// Whether a missing-value indicator follows.
        indicator: bool,
        /// Minimum and maximum of the training rows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        range: Option<(f64, f64)>,
        /// Values beyond these are replaced by the nearer one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limits: Option<(f64, f64)>,
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

    /// The name of a continuous column, or of what is computed from it.
    pub(crate) fn feature_name(&self) -> String {
        match self {
            Self::Continuous { name, calendar: Some(calendar), .. } => calendar.feature_name(name),
            _ => self.name().to_owned(),
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

/// The nearest value between limits, if there are any.
pub(crate) fn limited(value: f64, limits: Option<(f64, f64)>) -> f64 {
    // `clamp` would panic on the limits of an edited file.
    limits.map_or(value, |(low, high)| value.max(low).min(high))
}

/// A line for each decision that omits a column of a table from models, or changes its kind; none if no model can be
/// trained.
#[must_use]
pub fn column_notes(table: &LoadedTable, columns: &Columns, split: &Split) -> Vec<String> {
    let (scaling, rows) = (Scaling::default(), &table.batch);
    let fitted = Preprocessing::fit(table, rows, columns, scaling, scaling);
    let notes = fitted.map(|(_, notes)| notes).unwrap_or_default();
    ColumnNote::lines(notes.into_iter().chain(ColumnNote::of_split(table, split)).collect())
}

/// A note for the user about a column.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ColumnNote {
    what: String,
    column: String,
}

impl ColumnNote {
    fn new(column: &str, what: impl Into<String>) -> Self {
        Self { what: what.into(), column: column.to_owned() }
    }

    /// A note if the column whose values are held out as a whole is not a feature for that reason.
    pub(crate) fn of_split(table: &LoadedTable, split: &Split) -> Option<Self> {
        let name = split.group_column()?;
        let place = table.batch.schema_ref().index_of(name).ok()?;
        let named = matches!(table.roles.reasons[place], RoleReason::NamedBy(_));
        (named && table.roles.roles[place] == Role::Carried)
            .then(|| Self::new(name, "omitted, its values are held out as a whole"))
    }

    /// A line for each decision, with the columns that it is about.
    #[must_use]
    pub fn lines(mut notes: Vec<Self>) -> Vec<String> {
        const SHOWN: usize = 5;
        notes.sort();
        notes.dedup();
        let line = |notes: &[Self]| {
            let names = notes.iter().take(SHOWN).map(|note| format!("`{}`", note.column));
            let names = names.collect::<Vec<_>>().join(", ");
            let more = match notes.len().saturating_sub(SHOWN) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("{names}{more}: {}", notes[0].what)
        };
        notes.chunk_by(|a, b| a.what == b.what).map(line).collect()
    }
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
        if column == ROW_COUNT {
            return Ok(Some(vec![1.0; rows.num_rows()]));
        }
        return Err(Error::MissingColumn { column, path: path() });
    };
    if !is_numeric(found.data_type()) {
        let (holds, expected) = (type_name(found.data_type()), "numbers".to_owned());
        return Err(Error::OtherType { column, path: path(), holds, expected });
    }
    Ok(Some(to_f64(found).iter().map(|weight| weight.unwrap_or(0.0)).collect()))
}

/// A column by name. The one at `next` is tried first, because columns are usually looked up in their order.
fn find_column<'a>(batch: &'a RecordBatch, name: &str, next: &mut usize) -> Option<&'a ArrayRef> {
    let schema = batch.schema_ref();
    let is_next = schema.fields().get(*next).is_some_and(|field| field.name() == name);
    let place = if is_next { *next } else { schema.index_of(name).ok()? };
    *next = place + 1;
    Some(batch.column(place))
}

/// The levels of a column as text; whole numbers are spelled alike as integers and as floats.
pub(crate) fn levels(column: &ArrayRef) -> StringArray {
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

/// The different levels of rows that have a weight; `None` is a missing value.
fn sorted_levels(column: &ArrayRef, weight: &dyn Fn(usize) -> f64) -> Vec<Option<String>> {
    let words = levels(column);
    let weighted = words.iter().enumerate().filter(|(row, _)| weight(*row) > 0.0);
    let words: BTreeSet<Option<&str>> = weighted.map(|(_, word)| word).collect();
    words.into_iter().map(|word| word.map(str::to_owned)).collect()
}

/// A continuous feature with present values and their weights, or why it is omitted.
fn continuous(
    name: &str,
    calendar: Option<Calendar>,
    values: &Float64Array,
    present: &[(f64, f64)],
    scaling: Scaling,
) -> std::result::Result<Input, String> {
    let Some(&(first, _)) = present.first() else { return Err("no values".into()) };
    if present.iter().all(|&(value, _)| value == first) {
        return Err("constant".into());
    }
    let scale = FittedScaling::fit(present, scaling);
    if !scale.is_usable() {
        return Err("values vary too little or too much".into());
    }
    let low = present.iter().fold(f64::INFINITY, |low, (value, _)| low.min(*value));
    let high = present.iter().fold(f64::NEG_INFINITY, |high, (value, _)| high.max(*value));
    Ok(Input::Continuous {
        name: name.to_owned(),
        calendar,
        scale,
        fill: mean(present),
        // A missing date is filled with the means of its features, without an indicator.
        indicator: values.null_count() > 0 && calendar.is_none(),
        range: Some((low, high)),
        limits: calendar.is_some_and(|calendar| calendar.part.is_trend()).then_some((low, high)),
    })
}

impl Preprocessing {
    /// Fits training rows, with a note on every column that is omitted or not used as numbers.
    pub fn fit(
        table: &LoadedTable,
        rows: &RecordBatch,
        columns: &Columns,
        scaling: Scaling,
        target_scaling: Scaling,
    ) -> Result<(Self, Vec<ColumnNote>)> {
        Self::fit_encoded(table, rows, columns, scaling, target_scaling, Encoding::Numeric)
    }

    pub(crate) fn fit_encoded(
        table: &LoadedTable,
        rows: &RecordBatch,
        columns: &Columns,
        scaling: Scaling,
        target_scaling: Scaling,
        encoding: Encoding,
    ) -> Result<(Self, Vec<ColumnNote>)> {
        let schema = rows.schema();
        let weights = row_weights(table, rows, Path::new("-"))?;
        if weights.as_ref().is_some_and(|weights| weights.iter().all(|weight| *weight == 0.0)) {
            return Err(windlass::Error::NoWeight.into());
        }
        let weight = |row: usize| weights.as_ref().map_or(1.0, |weights| weights[row]);
        // Present values with their weights; rows of weight 0 are ignored.
        let weighted = |values: &Float64Array| -> Vec<(f64, f64)> {
            let present =
                (0..values.len()).filter(|&row| values.is_valid(row) && weight(row) > 0.0);
            present.map(|row| (values.value(row), weight(row))).collect()
        };
        let (mut inputs, mut notes, mut dates) = (vec![], vec![], vec![]);
        for (index, field) in schema.fields().iter().enumerate() {
            let (name, column) = (field.name(), rows.column(index));
            match table.roles.roles[index] {
                Role::Continuous if encoding.applies(table.batch.column(index)) => {
                    let levels = sorted_levels(column, &weight);
                    if levels.iter().flatten().count() > 1 {
                        let (name, holds) = (name.clone(), type_name(column.data_type()));
                        inputs.push(Input::Categorical { name, levels, holds });
                    }
                }
                Role::Continuous => {
                    let values = to_f64(column);
                    match continuous(name, None, &values, &weighted(&values), scaling) {
                        Ok(input) => inputs.push(input),
                        Err(why) => notes.push(ColumnNote::new(name, format!("omitted, {why}"))),
                    }
                }
                Role::Date => {
                    let order = table.profile.columns[index].date_order;
                    let calendar = Calendar::for_column(column, order);
                    let features: Vec<Input> = calendar
                        .into_iter()
                        .filter_map(|part| {
                            let values = part.values(column);
                            continuous(name, Some(part), &values, &weighted(&values), scaling).ok()
                        })
                        .collect();
                    inputs.extend(features);
                    dates.push((name.clone(), index));
                }
                Role::Categorical => {
                    let levels = sorted_levels(column, &weight);
                    let requested = columns.categorical.contains(name);
                    if levels == [None] {
                        notes.push(ColumnNote::new(name, "omitted, no values"));
                    } else if levels.len() < 2 {
                        notes.push(ColumnNote::new(name, "omitted, constant"));
                    } else if levels.len() > MAX_LEVELS && !requested {
                        let what = format!(
                            "omitted, more than {MAX_LEVELS} different values (name it as categorical \
                             to keep it)"
                        );
                        notes.push(ColumnNote::new(name, what));
                    } else {
                        if is_numeric(column.data_type()) && !requested {
                            let why = &table.roles.reasons[index];
                            notes.push(ColumnNote::new(name, format!("{why}, used as a category")));
                        }
                        let (name, holds) = (name.clone(), type_name(column.data_type()));
                        inputs.push(Input::Categorical { name, levels, holds });
                    }
                }
                Role::Carried | Role::Excluded => {
                    if let RoleReason::Inferred(why) = &table.roles.reasons[index] {
                        notes.push(ColumnNote::new(name, format!("omitted, {why}")));
                    }
                }
                Role::Target | Role::Weight => {}
            }
        }
        if inputs.is_empty() {
            let why = ColumnNote::lines(notes).join("; ");
            let why = if why.is_empty() { why } else { format!(": {why}") };
            return Err(Error::NoInputs { why });
        }
        let mut targets = vec![];
        for &index in table.roles.targets() {
            let name = schema.field(index).name().clone();
            let values = weighted(&to_f64(rows.column(index)));
            let first = values.first().map_or(0.0, |(value, _)| *value);
            let scale = FittedScaling::fit(&values, target_scaling);
            if values.iter().all(|&(value, _)| value == first) || !scale.is_usable() {
                return Err(Error::ConstantTarget { column: name, value: first });
            }
            targets.push(Target { name, scale });
        }
        let mut fitted = Self { inputs, targets };
        for (name, index) in dates {
            notes.push(fitted.choose_calendar(&name, rows, rows.column(index))?);
        }
        if fitted.inputs.is_empty() {
            let why = ColumnNote::lines(notes).join("; ");
            return Err(Error::NoInputs { why: format!(": {why}") });
        }
        Ok((fitted, notes))
    }

    /// Limits numbers to the range of the training rows widened by its width on both sides: a single gross outlier
    /// among new rows would otherwise get a prediction that is off by as much.
    #[must_use]
    pub(crate) fn with_limits(mut self) -> Self {
        for input in &mut self.inputs {
            if let Input::Continuous { calendar: None, range: Some((low, high)), limits, .. } =
                input
            {
                let width = *high - *low;
                *limits = Some((*low - width, *high + width));
            }
        }
        self
    }

    /// Selects the calendar features of a date that help, and describes them.
    fn choose_calendar(
        &mut self,
        name: &str,
        rows: &RecordBatch,
        column: &ArrayRef,
    ) -> Result<ColumnNote> {
        let part_of = |input: &Input| match input {
            Input::Continuous { name: other, calendar: Some(calendar), .. } if other == name => {
                Some(*calendar)
            }
            _ => None,
        };
        let mut candidates: Vec<(CalendarPart, usize)> = vec![];
        let (mut base, mut at, mut order) = (vec![], 0, None);
        for input in &self.inputs {
            match part_of(input) {
                Some(calendar) => {
                    candidates.push((calendar.part, at));
                    order = Some(calendar.order);
                }
                None => base.extend(at..at + input.width()),
            }
            at += input.width();
        }
        let Some(order) = order else { return Ok(ColumnNote::new(name, "omitted, constant")) };
        let (x, y) = (self.features(rows, Path::new("-"), 0)?, self.scaled_targets(rows));
        let test = CalendarTest::new(&x, &y, &to_seconds(column, order));
        let of_group = |group: [CalendarPart; 2]| {
            let own = candidates.iter().filter(|(part, _)| group.contains(part));
            own.copied().collect::<Vec<_>>()
        };
        let mut left: Vec<Vec<(CalendarPart, usize)>> =
            CalendarPart::GROUPS.into_iter().map(of_group).filter(|own| !own.is_empty()).collect();
        let mut used = vec![];
        // A cycle may show only when a longer one is in the model: weekdays next to a large difference of seasons.
        loop {
            let before = left.len();
            left.retain(|own| {
                let columns: Vec<usize> = own.iter().map(|&(_, at)| at).collect();
                let helps = test.helps(&base, &columns, own[0].0.is_trend());
                if helps {
                    base.extend(&columns);
                    used.extend(own.iter().map(|&(part, _)| part));
                }
                !helps
            });
            if left.len() == before {
                break;
            }
        }
        let useless: Vec<&str> = left.iter().map(|own| own[0].0.short_name()).collect();
        self.inputs.retain(|input| part_of(input).is_none_or(|own| used.contains(&own.part)));
        let mut names: Vec<&str> = used.iter().map(|part| part.short_name()).collect();
        names.dedup();
        let used = format!("a date, used as {}", names.join(", "));
        let omitted = format!("{} would not help to predict later rows", useless.join(", "));
        let what = match (names.is_empty(), useless.is_empty()) {
            (true, _) => format!("a date, omitted: {omitted}"),
            (false, true) => used,
            (false, false) => format!("{used} ({omitted})"),
        };
        Ok(ColumnNote::new(name, what))
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
                [Some(input.feature_name()), missing].into_iter().flatten().collect()
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
        let (mut at, mut next) = (0, 0);
        for input in &self.inputs {
            let missing =
                || Error::MissingColumn { column: input.name().to_owned(), path: path.to_owned() };
            let column = find_column(batch, input.name(), &mut next).ok_or_else(missing)?;
            match input {
                Input::Continuous { name, calendar, scale, fill, indicator, limits, .. } => {
                    let values = if let Some(calendar) = calendar {
                        let values = calendar.values(column);
                        let readable = values.null_count() < values.len();
                        readable.then_some(Numbers::Converted(values))
                    } else {
                        let holds = column.data_type();
                        (is_numeric(holds) || is_temporal(holds)).then(|| Numbers::new(column))
                    };
                    if values.is_none() && column.logical_null_count() < column.len() {
                        let expected = if calendar.is_some() { "dates" } else { "numbers" };
                        return Err(Error::OtherType {
                            column: name.clone(),
                            path: path.to_owned(),
                            holds: type_name(column.data_type()),
                            expected: expected.into(),
                        });
                    }
                    for row in 0..batch.num_rows() {
                        let value = values.as_ref().and_then(|values| values.get(row));
                        let scaled =
                            |value: f64| (limited(value, *limits) - scale.offset) / scale.scale;
                        if let Some(value) = value
                            && scaled(value).abs().max(value.abs()) >= f32::LIMIT
                        {
                            let (column, row) = (name.clone(), (first + row as u64).into());
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
                    let is_text = |holds: &str| matches!(holds, "text" | "categories");
                    let alike = other == *holds || (is_text(&other) && is_text(holds));
                    if !known && !alike && column.logical_null_count() < column.len() {
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

    /// For every column, the number of rows with a level that none of the preprocessings was fitted on, unless one
    /// takes the column as numbers.
    pub(crate) fn unknown_categories<'a>(
        fitted: impl Iterator<Item = &'a Self> + Clone,
        batch: &RecordBatch,
    ) -> BTreeMap<String, u64> {
        let mut known: BTreeMap<&str, BTreeSet<Option<&str>>> = BTreeMap::new();
        let inputs = fitted.flat_map(|preprocessing| &preprocessing.inputs);
        for input in inputs.clone() {
            if let Input::Categorical { name, levels, .. } = input {
                known.entry(name).or_default().extend(levels.iter().map(Option::as_deref));
            }
        }
        if known.is_empty() {
            return BTreeMap::new();
        }
        for input in inputs {
            if let Input::Continuous { name, .. } = input {
                known.remove(name.as_str());
            }
        }
        let count = |(name, known): (&str, BTreeSet<Option<&str>>)| {
            let column = batch.column_by_name(name)?;
            let unknown = levels(column).iter().filter(|level| !known.contains(level)).count();
            (unknown > 0).then(|| (name.to_owned(), unknown as u64))
        };
        known.into_iter().filter_map(count).collect()
    }

    /// For every continuous column, the number of rows outside the range of all training rows.
    pub(crate) fn outside_range<'a>(
        fitted: impl Iterator<Item = &'a Self>,
        batch: &RecordBatch,
    ) -> BTreeMap<String, u64> {
        // Of a single preprocessing, the columns in their order: each has one range.
        let mut ranges: Vec<(&str, Option<Calendar>, f64, f64)> = vec![];
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (number, preprocessing) in fitted.enumerate() {
            if number == 1 {
                places = ranges.iter().enumerate().map(|(place, range)| (range.0, place)).collect();
            }
            for input in &preprocessing.inputs {
                let Input::Continuous { name, calendar, range: Some((low, high)), .. } = input
                else {
                    continue;
                };
                if calendar.is_some_and(|calendar| calendar.part != CalendarPart::Days) {
                    continue;
                }
                if let Some(&place) = places.get(name.as_str()) {
                    let (name, _, least, most) = ranges[place];
                    ranges[place] = (name, *calendar, least.min(*low), most.max(*high));
                } else {
                    if number > 0 {
                        places.insert(name, ranges.len());
                    }
                    ranges.push((name, *calendar, *low, *high));
                }
            }
        }
        let mut next = 0;
        let count = |(name, calendar, low, high): (&str, Option<Calendar>, f64, f64)| {
            let column = find_column(batch, name, &mut next)?;
            let numbers = is_numeric(column.data_type()) || is_temporal(column.data_type());
            let values = match calendar {
                Some(calendar) => calendar.values(column),
                None => numbers.then(|| to_f64(column))?,
            };
            let outside = values.iter().flatten().filter(|value| *value < low || *value > high);
            let outside = outside.count() as u64;
            (outside > 0).then(|| (name.to_owned(), outside))
        };
        ranges.into_iter().filter_map(count).collect()
    }

    /// The targets in the scaled units that models are fitted in.
    #[must_use]
    pub fn scaled_targets(&self, batch: &RecordBatch) -> Array2<f64> {
        self.scale(self.raw_targets(batch))
    }

    /// Turns targets in the units of the table into the scaled units that models are fitted in.
    #[must_use]
    pub(crate) fn scale(&self, mut targets: Array2<f64>) -> Array2<f64> {
        for (mut column, target) in targets.columns_mut().into_iter().zip(&self.targets) {
            column.mapv_inplace(|value| (value - target.scale.offset) / target.scale.scale);
        }
        targets
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
