//! Calendar features of dates and times.
//!
//! A date becomes the days since the first training row and the year, and a point on each cycle that
//! the training rows span: a sine and a cosine of the day of the year, the weekday and the hour.
//!
//! A model cannot know a trend beyond the rows it saw, so days and years stop at the last training row.
//! They are used only if they help to predict later rows: rows of a day share more than the trend, and
//! a model that learns it row by row is worse on the days to come.

use std::f64::consts::TAU;

use arrow_array::{Array, ArrayRef, Float64Array};
use ndarray::{Array2, Axis};
use serde::{Deserialize, Serialize};
use windlass::Samples;
use windlass::regress::Ridge;
use windlass_table::{DateOrder, to_seconds};

const DAY: f64 = 86_400.0;
/// Days of a year of the Gregorian calendar.
const YEAR: f64 = 365.2425;

/// A number that is computed from a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CalendarPart {
    /// Days since 1970.
    Days,
    /// The year.
    Year,
    /// Sine of the position in the year.
    YearSin,
    /// Cosine of the position in the year.
    YearCos,
    /// Sine of the position in the week.
    WeekdaySin,
    /// Cosine of the position in the week.
    WeekdayCos,
    /// Sine of the position in the day.
    HourSin,
    /// Cosine of the position in the day.
    HourCos,
}

impl CalendarPart {
    /// The features for training rows: as far as values vary, and cycles were seen twice (the year: once).
    fn for_dates(seconds: &Float64Array) -> Vec<Self> {
        let values = || seconds.iter().flatten();
        let low = values().fold(f64::INFINITY, f64::min);
        let span = (values().fold(f64::NEG_INFINITY, f64::max) - low) / DAY;
        let varies = |part: Self| values().any(|value| part.compute(value) != part.compute(low));
        let mut parts = vec![];
        // Times without a date are less than a day apart; the hour says it all.
        let is_time = span < 1.0 && values().all(|value| (0.0..=DAY).contains(&value));
        if !is_time {
            parts.extend([Self::Days, Self::Year]);
        }
        if span >= YEAR.floor() {
            parts.extend([Self::YearSin, Self::YearCos]);
        }
        if span >= 14.0 {
            parts.extend([Self::WeekdaySin, Self::WeekdayCos]);
        }
        if span >= 2.0 || is_time {
            parts.extend([Self::HourSin, Self::HourCos]);
        }
        parts.retain(|&part| varies(part));
        parts
    }

    fn compute(self, seconds: f64) -> f64 {
        let days = seconds / DAY;
        let angle = match self {
            Self::Days => return days,
            Self::Year => return (1970.0 + days / YEAR).floor(),
            Self::YearSin | Self::YearCos => days / YEAR,
            // 1970-01-01 was a Thursday; all hours of a day are alike.
            Self::WeekdaySin | Self::WeekdayCos => (days.floor() + 3.0) / 7.0,
            Self::HourSin | Self::HourCos => days,
        };
        let angle = TAU * (angle - angle.floor());
        match self {
            Self::YearSin | Self::WeekdaySin | Self::HourSin => libm::sin(angle),
            _ => libm::cos(angle),
        }
    }

    /// Whether it only grows: new rows lie beyond the training rows.
    pub(crate) fn is_trend(self) -> bool {
        matches!(self, Self::Days | Self::Year)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Days => "days",
            Self::Year => "year",
            Self::YearSin => "month (sin)",
            Self::YearCos => "month (cos)",
            Self::WeekdaySin => "weekday (sin)",
            Self::WeekdayCos => "weekday (cos)",
            Self::HourSin => "hour (sin)",
            Self::HourCos => "hour (cos)",
        }
    }
}

/// Whether the columns `trend` of a design matrix help a ridge that is fitted on the first two thirds of the rows
/// by time to predict the last third.
pub(crate) fn trend_helps(
    x: &Array2<f64>,
    y: &Array2<f64>,
    seconds: &Float64Array,
    trend: &[usize],
) -> bool {
    /// With fewer rows it cannot be told.
    const MIN_ROWS: usize = 30;
    /// How much of the error must remain without the trend.
    const GAIN: f64 = 0.98;
    let mut order: Vec<usize> = (0..seconds.len()).filter(|&row| seconds.is_valid(row)).collect();
    order.sort_by(|&a, &b| seconds.value(a).total_cmp(&seconds.value(b)));
    let mut cut = order.len() * 2 / 3;
    // Rows of one time stay together.
    while cut > 0 && seconds.value(order[cut - 1]) == seconds.value(order[cut]) {
        cut -= 1;
    }
    if order.len() < MIN_ROWS || cut == 0 {
        return false;
    }
    let (first, last) = order.split_at(cut);
    let (x_first, mut x_last) = (x.select(Axis(0), first), x.select(Axis(0), last));
    for &column in trend {
        let seen = x_first.column(column);
        let (low, high) = seen.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| {
            (low.min(value), high.max(value))
        });
        x_last.column_mut(column).mapv_inplace(|value| value.clamp(low, high));
    }
    let (y_first, y_last) = (y.select(Axis(0), first), y.select(Axis(0), last));
    let error = |columns: &[usize]| -> Option<f64> {
        let (x_first, x_last) = (x_first.select(Axis(1), columns), x_last.select(Axis(1), columns));
        let samples = Samples::new(x_first.view(), y_first.view()).ok()?;
        let predicted = Ridge::new(1.0).fit(&samples).ok()?.predict(x_last.view()).ok()?;
        Some((&predicted - &y_last).mapv(|off| off * off).sum().sqrt())
    };
    let all: Vec<usize> = (0..x.ncols()).collect();
    let others: Vec<usize> = all.iter().copied().filter(|column| !trend.contains(column)).collect();
    let mean = y_first.mean_axis(Axis(0)).expect("there are rows");
    let without = if others.is_empty() {
        Some((&y_last - &mean).mapv(|off| off * off).sum().sqrt())
    } else {
        error(&others)
    };
    error(&all).zip(without).is_some_and(|(with, without)| with < GAIN * without)
}

/// A calendar feature of a column.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Calendar {
    /// What is computed.
    pub part: CalendarPart,
    /// How dates are written in a column of text.
    pub order: DateOrder,
}

impl Calendar {
    /// The features for a column of training rows.
    pub(crate) fn for_column(column: &ArrayRef, order: Option<DateOrder>) -> Vec<Self> {
        let order = order.unwrap_or(DateOrder::YearMonthDay);
        let parts = CalendarPart::for_dates(&to_seconds(column, order));
        parts.into_iter().map(|part| Self { part, order }).collect()
    }

    /// The values of a column; those that are not dates are missing.
    pub(crate) fn values(self, column: &ArrayRef) -> Float64Array {
        to_seconds(column, self.order).unary(|seconds| self.part.compute(seconds))
    }

    /// A value in the range of training rows, if it must be.
    pub(crate) fn limit(self, value: f64, range: Option<(f64, f64)>) -> f64 {
        match range {
            Some((low, high)) if self.part.is_trend() => value.clamp(low, high),
            _ => value,
        }
    }

    /// The name of the feature of a column.
    pub(crate) fn feature_name(self, column: &str) -> String {
        format!("{column}: {}", self.part.name())
    }
}
