//! The values of text: their kinds, the type of a column, and the decimal mark of a table.

use std::borrow::Cow;

use arrow_array::types::Date32Type;
use arrow_cast::parse::Parser;
use arrow_schema::{DataType, TimeUnit};

/// Missing numbers, booleans and dates, as in pandas, and those of printed tables (`?`, dashes), SAS and errors of
/// spreadsheets; in a column of text these are ordinary values. The first is the empty field.
pub(super) const MISSING: [&str; 25] = [
    "", "?", "-", "--", ".", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan",
    "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
    "#DIV/0!", "#VALUE!",
];

/// The index of a value among the markers of missing values.
pub(super) fn missing_marker(value: &str) -> Option<usize> {
    // The longest has 8 bytes.
    if value.len() > 8 { None } else { MISSING.iter().position(|marker| *marker == value) }
}

/// The decimal mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum DecimalMark {
    #[default]
    Point,
    Comma,
}

/// The set of kinds of values in a column, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct ValueKinds(pub(super) u16);

impl ValueKinds {
    pub(super) const BOOLEAN: u16 = 1;
    pub(super) const INTEGER: u16 = 2;
    /// Digits that are not the text of an `i64`: with leading zeros, or too many.
    pub(super) const DIGITS: u16 = 4;
    /// A float without a decimal mark: `1e5`, `inf`.
    pub(super) const FLOAT: u16 = 8;
    /// A float with a decimal point.
    pub(super) const POINT: u16 = 16;
    /// `1.234`: a decimal point, or thousands if decimals follow a comma.
    pub(super) const POINT_OR_GROUP: u16 = 32;
    /// A float with a decimal comma: `12,5`, `1.234,5`.
    pub(super) const COMMA: u16 = 64;
    /// `1,234`: a decimal comma, or thousands if decimals follow a point.
    pub(super) const COMMA_OR_GROUP: u16 = 128;
    /// `1.234.567`: an integer if decimals follow a comma.
    pub(super) const GROUPED: u16 = 256;
    pub(super) const DATE: u16 = 512;
    pub(super) const TIME: u16 = 1024;
    pub(super) const TEXT: u16 = 2048;

    const BOTH_MARKS: u16 = Self::INTEGER | Self::DIGITS | Self::FLOAT | Self::POINT_OR_GROUP;
    const POINT_NUMBERS: u16 = Self::BOTH_MARKS | Self::POINT;
    const COMMA_NUMBERS: u16 =
        Self::BOTH_MARKS | Self::COMMA | Self::COMMA_OR_GROUP | Self::GROUPED;

    /// The kind of one value; 0 for a missing one. Times are recognized if asked for.
    pub(super) fn classify(value: &str, times: bool) -> u16 {
        let value = value.trim_ascii();
        if missing_marker(value).is_some() {
            return 0;
        }
        let value = &*ascii_minus(value);
        if is_digits(value) {
            return match to_integer(value, DecimalMark::Point) {
                Some(_) => Self::INTEGER,
                None => Self::DIGITS,
            };
        }
        if to_float(value, DecimalMark::Point).is_some() {
            return match value.contains('.') {
                true if is_grouped(value, '.') => Self::POINT_OR_GROUP,
                true => Self::POINT,
                false => Self::FLOAT,
            };
        }
        if to_float(value, DecimalMark::Comma).is_some() {
            return match value.contains(',') {
                true if is_grouped(value, ',') => Self::COMMA_OR_GROUP,
                true => Self::COMMA,
                false => Self::GROUPED,
            };
        }
        if to_boolean(value).is_some() {
            Self::BOOLEAN
        } else if to_date(value).is_some() {
            Self::DATE
        } else if times && to_time(value).is_some() {
            Self::TIME
        } else {
            Self::TEXT
        }
    }

    /// Whether a value of this kind is a number.
    pub(super) fn is_number(kind: u16, mark: DecimalMark) -> bool {
        kind & !Self::numbers(mark) == 0
    }

    fn numbers(mark: DecimalMark) -> u16 {
        match mark {
            DecimalMark::Point => Self::POINT_NUMBERS,
            DecimalMark::Comma => Self::COMMA_NUMBERS,
        }
    }

    /// The type that represents all values without loss.
    pub(super) fn data_type(self, mark: DecimalMark) -> DataType {
        let only = |kinds: u16| self.0 & !kinds == 0;
        let has = |kinds: u16| self.0 & kinds != 0;
        let floats = match mark {
            DecimalMark::Point => Self::FLOAT | Self::POINT | Self::POINT_OR_GROUP,
            DecimalMark::Comma => Self::FLOAT | Self::COMMA | Self::COMMA_OR_GROUP,
        };
        if self.0 == 0 {
            DataType::Utf8
        } else if only(Self::BOOLEAN) {
            DataType::Boolean
        } else if only(Self::DATE) {
            DataType::Date32
        } else if only(Self::DATE | Self::TIME) {
            DataType::Timestamp(TimeUnit::Millisecond, None)
        } else if !only(Self::numbers(mark)) {
            DataType::Utf8
        } else if has(floats) {
            DataType::Float64
        } else if has(Self::DIGITS) {
            DataType::Utf8
        } else {
            DataType::Int64
        }
    }

    /// Whether all values are numbers with a decimal comma, at least one of them unambiguously.
    fn has_comma(self) -> bool {
        self.0 & Self::COMMA != 0 && self.0 & !Self::COMMA_NUMBERS == 0
    }

    fn has_point(self) -> bool {
        self.0 & Self::POINT != 0 && self.0 & !Self::POINT_NUMBERS == 0
    }

    /// Whether all values are numbers with a decimal comma, or with a comma in groups of thousands.
    fn may_have_comma(self) -> bool {
        let commas = Self::COMMA | Self::COMMA_OR_GROUP;
        self.0 & commas != 0 && self.0 & !Self::COMMA_NUMBERS == 0
    }

    /// Whether all values are numbers with one of the decimal marks.
    pub(super) fn looks_numeric(self) -> bool {
        self.0 != 0 && self.0 & !(Self::POINT_NUMBERS | Self::COMMA_NUMBERS) == 0
    }

    /// Whether the column is text regardless of its other values.
    pub(super) fn is_closed(self) -> bool {
        self.0 != 0 && !self.looks_numeric()
    }

    /// Whether another value of this kind would change the type of a column of text, or decide the decimal mark.
    pub(super) fn changes_with(self, kind: u16, mark: DecimalMark) -> bool {
        let decides = kind & (Self::POINT | Self::COMMA) & !self.0 != 0;
        !self.is_closed() && (decides || Self(self.0 | kind).data_type(mark) != DataType::Utf8)
    }
}

impl DecimalMark {
    /// The decimal mark of a table: a comma if a column has decimal commas, and none has points. Where semicolons
    /// separate fields, `1,234` has decimals, too: programs write semicolons because commas are decimal marks.
    pub(super) fn infer(columns: &[ValueKinds], separator: u8) -> Self {
        let any = |has: fn(ValueKinds) -> bool| columns.iter().any(|&kinds| has(kinds));
        let has_comma =
            if separator == b';' { ValueKinds::may_have_comma } else { ValueKinds::has_comma };
        if any(has_comma) && !any(ValueKinds::has_point) { Self::Comma } else { Self::Point }
    }
}

/// The same number with `-` in place of U+2212.
fn ascii_minus(value: &str) -> Cow<'_, str> {
    if value.contains('\u{2212}') { value.replace('\u{2212}', "-").into() } else { value.into() }
}

/// What a value has besides a number: `%` of `5.3 %`, `$` of `$1,200`, `kg` of `12 kg`, `,` of `1,234,567`.
pub(super) fn unit(value: &str) -> Option<&str> {
    const CURRENCIES: [char; 4] = ['$', '€', '£', '¥'];
    let value = value.trim();
    let is_number = |text: &str| {
        let plain = text.replace(',', "");
        let code = unsigned(text).starts_with('0') && is_digits(text) && unsigned(text).len() > 1;
        let begins = unsigned(text).starts_with(|c: char| c.is_ascii_digit() || c == '.');
        begins && !code && to_float(&plain, DecimalMark::Point).is_some()
            || to_float(text, DecimalMark::Comma).is_some_and(|_| begins && !code)
    };
    if value.matches(',').count() > 1 && is_grouped(value, ',') {
        return value.matches(',').next();
    }
    if let Some(number) = value.strip_prefix(CURRENCIES) {
        let (unit, number) = (&value[..value.len() - number.len()], number.trim_start());
        return is_number(number).then_some(unit);
    }
    let end = value.rfind(|c: char| c.is_ascii_digit())? + 1;
    let (number, unit) = (&value[..end], value[end..].trim_start());
    let is_unit = |c: char| c.is_alphabetic() || CURRENCIES.contains(&c) || "%‰°/".contains(c);
    let short = (1..=5).contains(&unit.chars().count());
    (short && unit.chars().all(is_unit) && is_number(number)).then_some(unit)
}

fn unsigned(value: &str) -> &str {
    value.strip_prefix(['-', '+']).unwrap_or(value)
}

fn is_digits(value: &str) -> bool {
    let digits = unsigned(value);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a number consists of groups of three digits, such as `12.345` or `1.234.567`.
fn is_grouped(value: &str, mark: char) -> bool {
    let mut groups = unsigned(value).split(mark);
    let first = groups.next().unwrap_or_default();
    let digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_digit());
    let begins = (1..=3).contains(&first.len()) && digits(first) && !first.starts_with('0');
    begins && groups.clone().count() > 0 && groups.all(|group| group.len() == 3 && digits(group))
}

/// A number with a decimal comma, spelled with a point and without groups of thousands.
fn with_point(value: &str) -> Option<String> {
    const SPACES: [char; 4] = [' ', '\u{a0}', '\u{202f}', '\''];
    let Some((whole, decimals)) = value.split_once(',') else {
        return is_grouped(value, '.').then(|| value.replace('.', ""));
    };
    if !decimals.starts_with(|c: char| c.is_ascii_digit()) || decimals.contains('.') {
        return None;
    }
    if is_digits(whole) || matches!(whole, "" | "-" | "+") {
        return Some(format!("{whole}.{decimals}"));
    }
    let mark = std::iter::once('.').chain(SPACES).find(|&mark| is_grouped(whole, mark))?;
    Some(format!("{}.{decimals}", whole.replace(mark, "")))
}

pub(super) fn to_integer(value: &str, mark: DecimalMark) -> Option<i64> {
    let digits = unsigned(value);
    if digits.len() > 1 && digits.starts_with('0') {
        return None;
    }
    value.parse().ok().or_else(|| {
        let plain = ascii_minus(value);
        let grouped = mark == DecimalMark::Comma && is_grouped(&plain, '.');
        match plain {
            _ if grouped => plain.replace('.', "").parse().ok(),
            Cow::Owned(plain) if !unsigned(&plain).starts_with('0') || plain == "-0" => {
                plain.parse().ok()
            }
            _ => None,
        }
    })
}

/// The number of decimals of a number, written out without an exponent.
pub(super) fn decimals(value: &str, mark: DecimalMark) -> u8 {
    let (digits, exponent) = value.split_once(['e', 'E']).unwrap_or((value, "0"));
    let mark = if mark == DecimalMark::Comma { ',' } else { '.' };
    let fraction = digits.rfind(mark).map_or(0, |mark| digits[mark + 1..].trim_end().len());
    let exponent: i64 = exponent.trim_end().parse().unwrap_or(0);
    let decimals = i64::try_from(fraction).unwrap_or(i64::MAX).saturating_sub(exponent);
    u8::try_from(decimals.max(0)).unwrap_or(u8::MAX)
}

pub(super) fn to_float(value: &str, mark: DecimalMark) -> Option<f64> {
    let parse = |value: &str| value.parse::<f64>().ok().filter(|number| !number.is_nan());
    match mark {
        DecimalMark::Point => parse(value).or_else(|| match ascii_minus(value) {
            Cow::Owned(plain) => parse(&plain),
            Cow::Borrowed(_) => None,
        }),
        DecimalMark::Comma => {
            let plain = ascii_minus(value);
            if plain.contains([',', '.']) { parse(&with_point(&plain)?) } else { parse(&plain) }
        }
    }
}

pub(super) fn to_boolean(value: &str) -> Option<bool> {
    match value {
        "true" | "True" | "TRUE" => Some(true),
        "false" | "False" | "FALSE" => Some(false),
        _ => None,
    }
}

/// Days since 1970; the only format is `2024-02-29`.
pub(super) fn to_date(value: &str) -> Option<i32> {
    let bytes = value.as_bytes();
    let digits = |range: std::ops::Range<usize>| bytes[range].iter().all(u8::is_ascii_digit);
    let spelled = bytes.len() == 10 && bytes[4] == b'-' && bytes[7] == b'-';
    if !(spelled && digits(0..4) && digits(5..7) && digits(8..10)) {
        return None;
    }
    Date32Type::parse(value)
}

/// Milliseconds since 1970; the only formats are `2024-02-29T12:30:00.500` and that of dates.
pub(super) fn to_time(value: &str) -> Option<i64> {
    const DAY: i64 = 86_400_000;
    let Some((date, time)) = value.split_once('T') else {
        return to_date(value).map(|days| i64::from(days) * DAY);
    };
    let days = i64::from(to_date(date)?);
    let mut parts = time.splitn(3, ':');
    let mut part = |limit: i64| {
        let text = parts.next()?;
        let two = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<i64>().ok().filter(|&value| two && value < limit)
    };
    let (hour, minute) = (part(24)?, part(60)?);
    let (second, fraction) = match parts.next()?.split_once('.') {
        Some((second, fraction)) => (second.to_owned(), fraction.to_owned()),
        None => (time.rsplit(':').next()?.to_owned(), String::new()),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if second.len() != 2 || !digits(&second) || !digits(&fraction) {
        return None;
    }
    let second = second.parse::<i64>().ok().filter(|&second| second < 60)?;
    let millis = format!("{fraction:0<3}")[..3].parse::<i64>().ok()?;
    Some(days * DAY + ((hour * 60 + minute) * 60 + second) * 1000 + millis)
}

#[cfg(test)]
mod tests {
    use super::{DecimalMark, ValueKinds, decimals, to_float, to_integer, to_time, unit};
    use arrow_schema::{DataType, TimeUnit};

    fn kinds(values: &[&str]) -> ValueKinds {
        ValueKinds(values.iter().fold(0, |kinds, value| kinds | ValueKinds::classify(value, true)))
    }

    #[test]
    fn decimals_are_counted_without_an_exponent() {
        for (value, expected) in [
            ("1", 0),
            ("-2.50", 2),
            (" 0.125 ", 3),
            (".5", 1),
            ("3.", 0),
            ("1.5e-3", 4),
            ("1.25E+1", 1),
            ("2e5", 0),
            ("1e-400", 255),
            ("inf", 0),
        ] {
            assert_eq!(decimals(value, DecimalMark::Point), expected, "{value}");
        }
        assert_eq!(decimals("1.234,5", DecimalMark::Comma), 1);
        assert_eq!(decimals("1.234", DecimalMark::Comma), 0);
    }

    #[test]
    fn a_column_has_the_type_that_keeps_all_its_values() {
        for (values, expected) in [
            (&["1", "-2", "", "NA", "?", "#N/A N/A", "\u{2212}3"][..], DataType::Int64),
            (&["1", "2.5", "1e-3", "inf", "-1.#QNAN"], DataType::Float64),
            (&["007", "12"], DataType::Utf8),
            (&["007", "1.5"], DataType::Float64),
            (&["9223372036854775808"], DataType::Utf8),
            (&["true", "False", "<NA>"], DataType::Boolean),
            (&["true", "1"], DataType::Utf8),
            (&["2024-02-29", "nan"], DataType::Date32),
            (
                &["2024-02-29", "2024-02-29T12:30:00.5"],
                DataType::Timestamp(TimeUnit::Millisecond, None),
            ),
            (&["2023-02-29"], DataType::Utf8),
            (&["2024-02-29", "3"], DataType::Utf8),
            (&["1", "one"], DataType::Utf8),
            (&["", "NA", "?"], DataType::Utf8),
            (&["12,5"], DataType::Utf8),
        ] {
            assert_eq!(kinds(values).data_type(DecimalMark::Point), expected, "{values:?}");
        }
    }

    #[test]
    fn the_decimal_mark_is_inferred_from_unambiguous_columns() {
        let comma = |columns: &[&[&str]]| {
            let columns: Vec<ValueKinds> = columns.iter().map(|values| kinds(values)).collect();
            DecimalMark::infer(&columns, b'\t') == DecimalMark::Comma
        };
        assert!(comma(&[&["12,5", "3"], &["1.234", "5"]]));
        assert!(comma(&[&["1.234,5", "-0,25", "n/a"]]));
        // Thousands, or decimals?
        assert!(!comma(&[&["1,234", "5"]]));
        // Both marks.
        assert!(!comma(&[&["12,5"], &["1.5"]]));
        assert!(!comma(&[&["12,5", "1.5"]]));
        assert!(!comma(&[&["12,5", "about 3"]]));
        let after_semicolons =
            |values: &[&str]| DecimalMark::infer(&[kinds(values)], b';') == DecimalMark::Comma;
        assert!(after_semicolons(&["1,234", "5"]) && !after_semicolons(&["1,234", "5.5"]));
        assert!(!after_semicolons(&["1.234", "5"]) && !after_semicolons(&["1,234", "about 5"]));
        let mark = DecimalMark::Comma;
        assert_eq!(kinds(&["1.234", "5"]).data_type(mark), DataType::Int64);
        assert_eq!(kinds(&["1.234", "0,5"]).data_type(mark), DataType::Float64);
    }

    #[test]
    fn units_of_numbers_are_found() {
        for (value, expected) in [
            ("5.3%", "%"),
            ("5,3 %", "%"),
            ("$1,200.50", "$"),
            ("€ 12", "€"),
            ("1.200,50 €", "€"),
            ("-12 kg", "kg"),
            ("3.5km/h", "km/h"),
        ] {
            assert_eq!(unit(value), Some(expected), "{value}");
        }
        let others =
            ["12", "kg", "007A", "P12", "12-A", "2024-01-01", "1,2,3 or 4", "12 apples", "%", ""];
        for value in others {
            assert_eq!(unit(value), None, "{value}");
        }
    }

    #[test]
    fn numbers_are_parsed_by_their_mark() {
        let comma = |value| to_float(value, DecimalMark::Comma);
        assert_eq!(comma("12,5"), Some(12.5));
        assert_eq!(comma("\u{2212}1.234.567,25"), Some(-1_234_567.25));
        assert_eq!(comma("1\u{a0}234,5"), Some(1234.5));
        assert_eq!(
            (comma(",5"), comma("1e3"), comma("1,5e3")),
            (Some(0.5), Some(1e3), Some(1.5e3))
        );
        for bad in ["1.5", "1,2,3", "1.23,5", "1,", ",", "12.34.567,8", "1,2.5", "a,5", ""] {
            assert_eq!(comma(bad), None, "{bad}");
        }
        assert_eq!(to_float("\u{2212}1e\u{2212}3", DecimalMark::Point), Some(-1e-3));
        assert_eq!(to_integer("1.234", DecimalMark::Comma), Some(1234));
        assert_eq!(to_integer("1.234", DecimalMark::Point), None);
        assert_eq!(to_integer("\u{2212}7", DecimalMark::Point), Some(-7));
        assert_eq!(to_integer("\u{2212}07", DecimalMark::Point), None);
        assert_eq!(to_time("1970-01-02T01:02:03.25"), Some(86_400_000 + 3_723_250));
        for bad in ["1970-01-02T25:00:00", "1970-01-02T01:02", "1970-01-02T01:02:03.x", "T"] {
            assert_eq!(to_time(bad), None, "{bad}");
        }
    }
}
