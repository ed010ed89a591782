//! Calendar features of dates and times.
//!
//! | Feature | Values | Candidate if |
//! | :-- | :-- | :-- |
//! | hour | sine and cosine of the time of day | rows span two days, or are times without a date |
//! | weekday | sine and cosine of the day of the week | rows span two weeks, with a day a week at least |
//! | month | sine and cosine of the day of the year | rows span a year |
//! | days, year | elapsed days and the year | there are dates |
//!
//! A candidate that is constant in the training rows is omitted, and so is one that does not help: a model that
//! overfits single days is worse on later days. Hour, weekday and month must lower the error of a ridge regression on
//! five blocks of consecutive rows, each predicted from the others; days and year its error on the last third of the
//! rows, predicted from the others. Candidates that do not help are tried again next to those that do. Trends are not
//! extrapolated: days and years are clamped to the range of the training rows.

use std::f64::consts::TAU;

use arrow_array::{Array, ArrayRef, Float64Array};
use ndarray::{Array2, Axis};
use serde::{Deserialize, Serialize};
use windlass::Samples;
use windlass::regress::Ridge;
use windlass_table::{DateOrder, to_seconds};

const DAY: f64 = 86_400.0;

/// A number that is computed from a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CalendarPart {
    /// Days since 1970.
    Days,
    /// The year.
    Year,
    /// Sine of the position in the year.
    MonthSin,
    /// Cosine of the position in the year.
    MonthCos,
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
    /// Parts that are used together or not at all, cycles first.
    pub(crate) const GROUPS: [[Self; 2]; 4] = [
        [Self::HourSin, Self::HourCos],
        [Self::WeekdaySin, Self::WeekdayCos],
        [Self::MonthSin, Self::MonthCos],
        [Self::Days, Self::Year],
    ];

    /// The candidates for training rows.
    fn candidates(seconds: &Float64Array) -> Vec<Self> {
        let values = || seconds.iter().flatten();
        let low = values().fold(f64::INFINITY, f64::min);
        let span = (values().fold(f64::NEG_INFINITY, f64::max) - low) / DAY;
        let mut days: Vec<i64> = values().map(whole_days).collect();
        days.sort_unstable();
        days.dedup();
        // Times without a date are less than a day apart; the hour is sufficient.
        let is_time = span < 1.0 && values().all(|value| (0.0..=DAY).contains(&value));
        let is_candidate = |part: Self| match part {
            Self::HourSin | Self::HourCos => span >= 2.0 || is_time,
            Self::WeekdaySin | Self::WeekdayCos => span >= 14.0 && days.len() as f64 > span / 7.0,
            Self::MonthSin | Self::MonthCos => span >= 365.0,
            Self::Days | Self::Year => !is_time,
        };
        let varies = |part: Self| values().any(|value| part.compute(value) != part.compute(low));
        let all = Self::GROUPS.into_iter().flatten();
        all.filter(|&part| is_candidate(part) && varies(part)).collect()
    }

    fn compute(self, seconds: f64) -> f64 {
        let days = seconds / DAY;
        let angle = match self {
            Self::Days => return days,
            Self::Year => return year_and_position(seconds).0,
            Self::MonthSin | Self::MonthCos => year_and_position(seconds).1,
            // 1970-01-01 was a Thursday; all hours of a day are alike.
            Self::WeekdaySin | Self::WeekdayCos => (days.floor() + 3.0) / 7.0,
            Self::HourSin | Self::HourCos => days,
        };
        let angle = TAU * (angle - angle.floor());
        match self {
            Self::MonthSin | Self::WeekdaySin | Self::HourSin => libm::sin(angle),
            _ => libm::cos(angle),
        }
    }

    /// Whether it only increases, so that new rows are outside the range of the training rows.
    pub(crate) fn is_trend(self) -> bool {
        matches!(self, Self::Days | Self::Year)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Days => "days",
            Self::Year => "year",
            Self::MonthSin => "month (sin)",
            Self::MonthCos => "month (cos)",
            Self::WeekdaySin => "weekday (sin)",
            Self::WeekdayCos => "weekday (cos)",
            Self::HourSin => "hour (sin)",
            Self::HourCos => "hour (cos)",
        }
    }

    /// The name without the part of the cycle.
    pub(crate) fn short_name(self) -> &'static str {
        self.name().split(' ').next().unwrap_or_default()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "saturates at dates that nobody has")]
fn whole_days(seconds: f64) -> i64 {
    (seconds / DAY).floor().clamp(-1e9, 1e9) as i64
}

/// The year of the Gregorian calendar, and the position in it from 0 to 1.
fn year_and_position(seconds: f64) -> (f64, f64) {
    // Years begin in March, so that the leap day is the last of a year.
    let days = whole_days(seconds) + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day_of_year = day - (365 * year + year / 4 - year / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day_of_month = day_of_year - (153 * shifted + 2) / 5;
    let month = if shifted < 10 { shifted + 2 } else { shifted - 10 };
    let year = year + era * 400 + i64::from(month < 2);
    (year as f64, (month as f64 + day_of_month as f64 / 31.0) / 12.0)
}

/// Rows in the order of their dates, to test which calendar features help.
pub(crate) struct CalendarTest<'a> {
    /// The design matrix.
    pub(crate) x: &'a Array2<f64>,
    pub(crate) y: &'a Array2<f64>,
    /// The rows with a date, the earliest first; rows of one date stay together.
    order: Vec<usize>,
    /// Ends of dates in this order.
    ends: Vec<usize>,
}

impl<'a> CalendarTest<'a> {
    pub(crate) fn new(x: &'a Array2<f64>, y: &'a Array2<f64>, seconds: &Float64Array) -> Self {
        let mut order: Vec<usize> =
            (0..seconds.len()).filter(|&row| seconds.is_valid(row)).collect();
        order.sort_by(|&a, &b| seconds.value(a).total_cmp(&seconds.value(b)));
        let last = order.len();
        let is_end =
            |&end: &usize| end == last || seconds.value(order[end - 1]) < seconds.value(order[end]);
        let ends = (1..=last).filter(is_end).collect();
        Self { x, y, order, ends }
    }

    /// Whether columns help a ridge on `base` columns.
    pub(crate) fn helps(&self, base: &[usize], columns: &[usize], is_trend: bool) -> bool {
        /// Minimum number of rows for the test.
        const MIN_ROWS: usize = 30;
        const BLOCKS: usize = 5;
        /// Maximum ratio of the errors with and without the columns.
        const GAIN: f64 = 0.98;
        let rows = self.order.len();
        if rows < MIN_ROWS || columns.is_empty() {
            return false;
        }
        let cut =
            |index: usize| self.ends.iter().copied().find(|&end| end >= index).unwrap_or(rows);
        let start = |block: usize| if block == 0 { 0 } else { cut(block * rows / BLOCKS) };
        let blocks: Vec<std::ops::Range<usize>> = if is_trend {
            std::iter::once(cut(rows * 2 / 3)..rows).collect()
        } else {
            (0..BLOCKS).map(|block| start(block)..start(block + 1)).collect()
        };
        let all: Vec<usize> = base.iter().chain(columns).copied().collect();
        let [without, with] = [base, &all].map(|columns| {
            let errors = blocks.iter().map(|block| self.squared_error(columns, block, is_trend));
            errors.sum::<Option<f64>>()
        });
        // In squares.
        with.zip(without).is_some_and(|(with, without)| with < GAIN * GAIN * without)
    }

    /// The squared error of a ridge on a block of rows that it was not fitted on; values of a trend stop at
    /// those of the other rows.
    fn squared_error(
        &self,
        columns: &[usize],
        block: &std::ops::Range<usize>,
        is_trend: bool,
    ) -> Option<f64> {
        let held_out = &self.order[block.clone()];
        let train = [&self.order[..block.start], &self.order[block.end..]].concat();
        if held_out.is_empty() {
            return Some(0.0);
        }
        let take = |rows: &[usize]| self.x.select(Axis(0), rows).select(Axis(1), columns);
        let (x, mut x_held_out) = (take(&train), take(held_out));
        let (y, y_held_out) = (self.y.select(Axis(0), &train), self.y.select(Axis(0), held_out));
        if columns.is_empty() {
            let off = &y_held_out - &y.mean_axis(Axis(0))?;
            return Some(off.mapv(|off| off * off).sum());
        }
        if is_trend {
            for (seen, mut column) in x.columns().into_iter().zip(x_held_out.columns_mut()) {
                let (low, high) = seen
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &value| {
                        (low.min(value), high.max(value))
                    });
                column.mapv_inplace(|value| value.clamp(low, high));
            }
        }
        let samples = Samples::new(x.view(), y.view()).ok()?;
        let predicted = Ridge::new(1.0).fit(&samples).ok()?.predict(x_held_out.view()).ok()?;
        Some((&predicted - &y_held_out).mapv(|off| off * off).sum())
    }
}

/// A calendar feature of a column.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Calendar {
    /// The feature.
    pub part: CalendarPart,
    /// How dates are written in a column of text.
    pub order: DateOrder,
}

impl Calendar {
    /// The candidates for a column of training rows.
    pub(crate) fn for_column(column: &ArrayRef, order: Option<DateOrder>) -> Vec<Self> {
        let order = order.unwrap_or(DateOrder::YearMonthDay);
        let parts = CalendarPart::candidates(&to_seconds(column, order));
        parts.into_iter().map(|part| Self { part, order }).collect()
    }

    /// The values of a column; those that are not dates are missing.
    pub(crate) fn values(self, column: &ArrayRef) -> Float64Array {
        to_seconds(column, self.order).unary(|seconds| self.part.compute(seconds))
    }

    /// The name of the feature of a column.
    pub(crate) fn feature_name(self, column: &str) -> String {
        format!("{column}: {}", self.part.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_and_months_are_those_of_the_calendar() {
        for (seconds, year, position) in [
            (0.0, 1970.0, 0.0),
            (-1.0, 1969.0, (11.0 + 30.0 / 31.0) / 12.0),
            (951_782_400.0, 2000.0, (1.0 + 28.0 / 31.0) / 12.0),
            (951_868_800.0, 2000.0, 2.0 / 12.0),
            (1_704_067_200.0, 2024.0, 0.0),
        ] {
            let found = year_and_position(seconds);
            assert_eq!(found.0, year, "{seconds}");
            assert!((found.1 - position).abs() < 1e-12, "{seconds}: {}", found.1);
        }
    }

    #[test]
    fn yearly_dates_have_no_month_and_no_weekday() {
        let years = (0..12).map(|year| f64::from(year) * 365.0 + f64::from((year + 1) / 4));
        let seconds = Float64Array::from_iter_values(years.map(|days| days * DAY));
        assert_eq!(CalendarPart::candidates(&seconds), [CalendarPart::Days, CalendarPart::Year]);
    }
}
