//! Dates and times, also those written as text.

use std::fmt;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, Float64Array};
use arrow_schema::{DataType, TimeUnit};
use serde::{Deserialize, Serialize};

use crate::text::to_strings;

const DAY: f64 = 86_400.0;

/// How the dates of a column of text are written, each with an optional time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DateOrder {
    /// `2024-02-29`, `2024/2/29`
    YearMonthDay,
    /// `2/29/2024`
    MonthDayYear,
    /// `29.2.2024`, `29-Feb-2024`
    DayMonthYear,
    /// `2024-02`
    YearMonth,
    /// `13:45`, without a date
    TimeOfDay,
}

impl DateOrder {
    const ALL: [Self; 5] = [
        Self::YearMonthDay,
        Self::MonthDayYear,
        Self::DayMonthYear,
        Self::YearMonth,
        Self::TimeOfDay,
    ];

    fn bit(self) -> u8 {
        1 << self as u8
    }

    /// Seconds since 1970 (or midnight) of a text in this order.
    fn parse(self, text: &str) -> Option<f64> {
        let text = text.trim();
        if self == Self::TimeOfDay {
            return time_of_day(text);
        }
        // `29 Feb 2024` has spaces inside the date, `29-OCT-2024` a T.
        let bytes = text.as_bytes();
        let ends_date = |&at: &usize| {
            let after_digit = at > 0 && bytes[at - 1].is_ascii_digit();
            after_digit && matches!(bytes[at], b'T' | b' ') && text[at + 1..].contains(':')
        };
        let (date, time) = match (0..bytes.len()).find(ends_date) {
            Some(at) if text[at + 1..].starts_with(|c: char| c.is_ascii_digit()) => {
                (&text[..at], Some(&text[at + 1..]))
            }
            _ => (text, None),
        };
        let separator = date.chars().find(|c| !c.is_ascii_alphanumeric())?;
        if !matches!(separator, '-' | '/' | '.' | ' ') {
            return None;
        }
        let mut tokens = date.split(separator);
        let mut next = || tokens.next();
        let (year, month, day) = match self {
            Self::YearMonthDay => (next()?, next()?, next()?),
            Self::MonthDayYear => {
                let (month, day) = (next()?, next()?);
                (next()?, month, day)
            }
            Self::DayMonthYear => {
                let (day, month) = (next()?, next()?);
                (next()?, month, day)
            }
            // A point or a slash would make it a number or a ratio.
            Self::YearMonth if separator == '-' => (next()?, next()?, "1"),
            Self::YearMonth | Self::TimeOfDay => return None,
        };
        if tokens.next().is_some() || year.len() != 4 {
            return None;
        }
        let days = days_since_1970(digits(year)?, month_number(month)?, digits(day)?)?;
        Some(days * DAY + time.map_or(Some(0.0), time_of_day)?)
    }
}

impl fmt::Display for DateOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::YearMonthDay => "dates, year-month-day",
            Self::MonthDayYear => "dates, month/day/year",
            Self::DayMonthYear => "dates, day.month.year",
            Self::YearMonth => "months",
            Self::TimeOfDay => "times of day",
        })
    }
}

fn digits(text: &str) -> Option<u32> {
    let plain = (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

/// The number of a month that is written in digits or by its English name or the start of it.
fn month_number(text: &str) -> Option<u32> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    if text.len() < 3 {
        return digits(text);
    }
    let text = text.to_ascii_lowercase();
    (1..).zip(MONTHS).find(|(_, name)| name.starts_with(&text)).map(|(month, _)| month)
}

/// Days since 1970 in the Gregorian calendar; `None` if there is no such day.
fn days_since_1970(year: u32, month: u32, day: u32) -> Option<f64> {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let lengths = [31, 28 + u32::from(leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let length = *lengths.get(month.checked_sub(1)? as usize)?;
    if !(1..=length).contains(&day) {
        return None;
    }
    // Years begin in March, so that the leap day is the last of a year.
    let (year, month) =
        if month > 2 { (year, month - 3) } else { (year.checked_sub(1)?, month + 9) };
    let day_of_year = (153 * month + 2) / 5 + day - 1;
    let days = 365 * year + year / 4 - year / 100 + year / 400 + day_of_year;
    Some(f64::from(days) - 719_468.0)
}

/// Seconds since midnight of `13:45`, `13:45:10.5`, with an optional `Z`, offset or AM/PM.
fn time_of_day(text: &str) -> Option<f64> {
    let text = text.trim();
    let lower = text.to_ascii_lowercase();
    let (clock, half) = match (lower.strip_suffix("am"), lower.strip_suffix("pm")) {
        (Some(clock), _) => (clock.trim_end(), Some(0.0)),
        (_, Some(clock)) => (clock.trim_end(), Some(12.0)),
        _ => (text, None),
    };
    let clock = clock.strip_suffix('Z').unwrap_or(clock);
    let (clock, offset) = match clock.find(['+', '-']) {
        Some(at) => {
            let sign = if clock[at..].starts_with('-') { -1.0 } else { 1.0 };
            let (hours, minutes) = clock[at + 1..].split_once(':')?;
            let minutes = f64::from(digits(hours)? * 60 + digits(minutes)?);
            (&clock[..at], sign * minutes * 60.0)
        }
        None => (clock, 0.0),
    };
    let mut tokens = clock.split(':');
    let mut hours = f64::from(digits(tokens.next()?)?);
    let minutes = f64::from(digits(tokens.next()?)?);
    let seconds = match tokens.next() {
        Some(text) if text.starts_with(|c: char| c.is_ascii_digit()) => text.parse::<f64>().ok()?,
        Some(_) => return None,
        None => 0.0,
    };
    if let Some(half) = half {
        hours = hours % 12.0 + half;
    }
    let valid = hours < 25.0 && minutes < 60.0 && seconds < 61.0 && tokens.next().is_none();
    valid.then_some(hours * 3600.0 + minutes * 60.0 + seconds - offset)
}

/// The orders in which all texts of a column are dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PossibleOrders {
    bits: u8,
    /// Whether a text with a slash was seen.
    slash: bool,
    any: bool,
}

impl Default for PossibleOrders {
    fn default() -> Self {
        Self { bits: u8::MAX, slash: false, any: false }
    }
}

impl PossibleOrders {
    pub(crate) fn none(self) -> bool {
        self.bits == 0
    }

    pub(crate) fn add(&mut self, text: &str) {
        self.any = true;
        self.slash |= text.contains('/');
        for order in DateOrder::ALL {
            if self.bits & order.bit() != 0 && order.parse(text).is_none() {
                self.bits &= !order.bit();
            }
        }
        self.bits &= (1 << DateOrder::ALL.len()) - 1;
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.bits &= other.bits;
        self.slash |= other.slash;
        self.any |= other.any;
    }

    /// The order of a column. `3/4/2024` is March 4, `3.4.2024` is April 3.
    pub(crate) fn order(self) -> Option<DateOrder> {
        let possible = |order: &DateOrder| self.any && self.bits & order.bit() != 0;
        let ambiguous = [DateOrder::MonthDayYear, DateOrder::DayMonthYear];
        if ambiguous.iter().all(possible) && !self.slash {
            return Some(DateOrder::DayMonthYear);
        }
        DateOrder::ALL.into_iter().find(possible)
    }
}

/// How the dates of a column of text are written; `None` if not all values are dates or times.
#[must_use]
pub fn date_order(column: &ArrayRef) -> Option<DateOrder> {
    let mut orders = PossibleOrders::default();
    for text in to_strings(column).iter().flatten() {
        if orders.none() {
            return None;
        }
        orders.add(text);
    }
    orders.order()
}

/// Whether values of a type are dates or times.
#[must_use]
pub fn is_temporal(data_type: &DataType) -> bool {
    use DataType::{Date32, Date64, Time32, Time64, Timestamp};
    matches!(data_type, Date32 | Date64 | Timestamp(..) | Time32(_) | Time64(_))
}

/// Seconds since 1970 (or midnight for times of day). A column of text is read in an order; values
/// that are not dates are missing.
#[must_use]
pub fn to_seconds(column: &ArrayRef, order: DateOrder) -> Float64Array {
    let in_unit = |unit: &TimeUnit| match unit {
        TimeUnit::Second => 1.0,
        TimeUnit::Millisecond => 1e-3,
        TimeUnit::Microsecond => 1e-6,
        TimeUnit::Nanosecond => 1e-9,
    };
    let seconds = match column.data_type() {
        DataType::Date32 => DAY,
        DataType::Date64 => 1e-3,
        DataType::Timestamp(unit, _) | DataType::Time32(unit) | DataType::Time64(unit) => {
            in_unit(unit)
        }
        _ => {
            let texts = to_strings(column);
            return texts.iter().map(|text| text.and_then(|text| order.parse(text))).collect();
        }
    };
    temporal_to_f64(column).unary(|value| value * seconds)
}

/// Dates and times as their stored numbers.
#[expect(clippy::cast_precision_loss, reason = "times of the next million years in microseconds")]
pub(crate) fn temporal_to_f64(column: &ArrayRef) -> Float64Array {
    let narrow = matches!(column.data_type(), DataType::Date32 | DataType::Time32(_));
    let integers = if narrow { DataType::Int32 } else { DataType::Int64 };
    let integers = arrow_cast::cast(column, &integers).expect("dates and times are integers");
    if narrow {
        integers.as_primitive::<Int32Type>().unary(f64::from)
    } else {
        integers.as_primitive::<Int64Type>().unary(|value| value as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(texts: &[&str]) -> Option<DateOrder> {
        let mut orders = PossibleOrders::default();
        for text in texts {
            orders.add(text);
        }
        orders.order()
    }

    #[test]
    fn orders_are_recognized_from_all_values() {
        assert_eq!(order(&["2024-02-29", "2023-12-01 13:45"]), Some(DateOrder::YearMonthDay));
        assert_eq!(order(&["1/2/2024", "1/13/2024"]), Some(DateOrder::MonthDayYear));
        assert_eq!(order(&["1/2/2024", "13/1/2024"]), Some(DateOrder::DayMonthYear));
        assert_eq!(order(&["1/2/2024"]), Some(DateOrder::MonthDayYear));
        assert_eq!(order(&["1.2.2024 8:05"]), Some(DateOrder::DayMonthYear));
        assert_eq!(order(&["29-Feb-2024", "1 March 2024"]), Some(DateOrder::DayMonthYear));
        assert_eq!(order(&["2024-02", "2023-11"]), Some(DateOrder::YearMonth));
        assert_eq!(order(&["13:45", "1:05 PM"]), Some(DateOrder::TimeOfDay));
        assert_eq!(order(&["2024-02-30"]), None);
        assert_eq!(order(&["1/13/2024", "13/1/2024"]), None);
        assert_eq!(order(&["3.14.15", "usa", "", "2024"]), None);
        assert_eq!(order(&[]), None);
    }

    #[test]
    fn dates_are_seconds_since_1970() {
        let parse = |text| DateOrder::YearMonthDay.parse(text);
        assert_eq!(parse("1970-01-01"), Some(0.0));
        assert_eq!(parse("2000-03-01"), Some(11_017.0 * DAY));
        assert_eq!(parse("1969-12-31T23:59:59Z"), Some(-1.0));
        assert_eq!(parse("1970-01-01 02:00:00+02:00"), Some(0.0));
        assert_eq!(parse("1970-01-01 25:61"), None);
        assert_eq!(DateOrder::TimeOfDay.parse("12:30 am"), Some(1800.0));
    }
}
