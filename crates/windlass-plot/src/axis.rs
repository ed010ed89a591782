//! Axes: from values to fractions of a length, with ticks.

use std::f64::consts::FRAC_1_SQRT_2;

use crate::format::thousands;
use crate::svg::{ems, superscript, text_width, truncate, xml};

/// Maximum width of a name on an axis, in ems.
const MAX_NAME_EMS: f64 = 10.0;
/// Minimum space between two names.
const NAME_GAP: f64 = 16.0;
/// Minimum distance between two slanted names.
const SLANTED_GAP: f64 = 17.0;

/// An axis: linear in units of a power of ten, or logarithmic.
pub(crate) struct Axis {
    /// The ends, in units or as decimal logarithms.
    low: f64,
    high: f64,
    exponent: i32,
    unit: f64,
    logarithmic: bool,
    /// Whether the labels are names, not numbers.
    named: bool,
    /// Whether the labels of an x axis are slanted.
    pub(crate) slanted: bool,
    /// Position as a fraction of the axis, and label; `^` in a number begins its exponent.
    pub(crate) ticks: Vec<(f64, String)>,
}

impl Axis {
    pub(crate) fn linear(values: impl Iterator<Item = f64>, max_ticks: f64) -> Self {
        Self::with_margin(0.04, values, max_ticks)
    }

    /// A linear axis with these ends, unless they are equal.
    pub(crate) fn exact(ends: (f64, f64), max_ticks: f64) -> Self {
        Self::with_margin(0.0, [ends.0, ends.1].into_iter(), max_ticks)
    }

    /// A linear axis with a margin at each end, given as a fraction of the range of the values.
    fn with_margin(margin: f64, values: impl Iterator<Item = f64>, max_ticks: f64) -> Self {
        let (low, high) = range(values).unwrap_or((0.0, 1.0));
        let size = low.abs().max(high.abs());
        // Below 1e-300 the unit could be subnormal: that is zero here.
        let plain = size < 1e-300 || (1e-3..1e7).contains(&size);
        let exponent = if plain { 0 } else { exponent_of(size) };
        let unit = power_of_ten(exponent);
        let (low, high) = (low / unit, high / unit);
        let middle = low.midpoint(high);
        let (low, high) = match high - low {
            _ if size < 1e-300 => (-1.1, 1.1),
            span if span > middle.abs() * 2e-12 => (low - span * margin, high + span * margin),
            _ => (middle - middle.abs() * 0.12, middle + middle.abs() * 0.12),
        };

        let least = (high - low) / max_ticks;
        let e = exponent_of(least);
        let (multiple, e) = [(1.0, e), (2.0, e), (5.0, e)]
            .into_iter()
            .find(|(multiple, e)| multiple * power_of_ten(*e) >= least)
            .unwrap_or((1.0, e + 1));
        let decimals = usize::try_from(-e).unwrap_or(0);
        // Powers with exponents of 0 to 22 are exact, so a tick is the double nearest to it.
        let (times, over) = (power_of_ten(e.max(0)), power_of_ten((-e).max(0)));
        let value = |k: f64| k * multiple * times / over;
        // Adding zero makes a negative zero positive.
        let first = (low / value(1.0)).ceil() + 0.0;
        let ticks = std::iter::successors(Some(first), |k| Some(k + 1.0))
            .map(value)
            .take_while(|v| *v <= high)
            .map(|v| ((v - low) / (high - low), thousands(&format!("{v:.decimals$}"))))
            .collect();
        Self { exponent, unit, ticks, ..Self::plain(low, high) }
    }

    /// A linear axis with at most `max` ticks that fit in a width.
    pub(crate) fn linear_within(
        values: impl Iterator<Item = f64> + Clone,
        width: f64,
        max: f64,
    ) -> Self {
        let counts = [12.0, 8.0, 5.0, 3.0].into_iter().filter(|count| *count <= max);
        let mut axes = counts.map(|count| Self::linear(values.clone(), count));
        let fits = |axis: &Self| (axis.widest_label() + 20.0) * axis.ticks.len() as f64 <= width;
        axes.find(fits).unwrap_or_else(|| Self::linear(values.clone(), 2.0))
    }

    /// An axis of rows, each with a height, from the top; those without a name have no tick.
    pub(crate) fn rows(rows: impl Iterator<Item = (f64, Option<String>)>) -> Self {
        let (mut high, mut middles) = (0.0, Vec::new());
        for (height, name) in rows {
            middles.extend(name.map(|name| (high + height / 2.0, name)));
            high += height;
        }
        let ticks = middles.into_iter().map(|(at, name)| (1.0 - at / high, name)).collect();
        Self { named: true, ticks, ..Self::plain(0.0, high) }
    }

    /// An axis of columns of equal width. Names that are too wide are slanted, and those that would
    /// still overlap are omitted.
    pub(crate) fn columns(names: &[String], width: f64) -> Self {
        let column = width / names.len() as f64;
        let max_ems = MAX_NAME_EMS.max((column - NAME_GAP) / 12.0);
        let names: Vec<_> = names.iter().map(|name| truncate(name, max_ems)).collect();
        let slanted = names.iter().any(|name| 12.0 * ems(name) + NAME_GAP / 2.0 > column);
        let named = (0..).map(f64::from).zip(names);
        let mut ticks: Vec<_> = named.map(|(i, name)| ((i + 0.5) * column / width, name)).collect();
        let mut free = f64::NEG_INFINITY;
        ticks.retain(|(at, _)| {
            let has_room = !slanted || at * width >= free;
            free = if has_room { at * width + SLANTED_GAP } else { free };
            has_room
        });
        Self { named: true, slanted, ticks, ..Self::plain(0.0, 1.0) }
    }

    /// An axis without ticks.
    fn plain(low: f64, high: f64) -> Self {
        Self {
            low,
            high,
            exponent: 0,
            unit: 1.0,
            logarithmic: false,
            named: false,
            slanted: false,
            ticks: Vec::new(),
        }
    }

    /// A linear axis with names in place of numbers; names that would overlap are omitted.
    pub(crate) fn named(
        values: impl Iterator<Item = f64>,
        names: &[(f64, String)],
        width: f64,
    ) -> Self {
        let mut names: Vec<_> = names.iter().filter(|(at, _)| at.is_finite()).collect();
        names.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut axis = Self::linear(values.chain(names.iter().map(|(at, _)| *at)), 10.0);
        // Names are in the user's units.
        (axis.exponent, axis.named) = (0, true);
        axis.ticks.clear();
        let mut free = f64::NEG_INFINITY;
        for (at, name) in names {
            let (at, name) = (axis.fraction(*at), truncate(name, MAX_NAME_EMS));
            let half = 6.0 * ems(&name);
            if at * width - half >= free {
                free = at * width + half + NAME_GAP;
                axis.ticks.push((at, name));
            }
        }
        axis
    }

    /// A logarithmic axis of positive values, long enough for at least two ticks. Ticks are 1, 2 and
    /// 5 times each power of ten, or powers only if those are too many.
    pub(crate) fn logarithmic(values: impl Iterator<Item = f64>, max_ticks: usize) -> Self {
        let (least, most) = range(values).unwrap_or((1.0, 10.0));
        let margin = ((most.log10() - least.log10()) * 0.04).max(0.01);
        let (mut low, mut high) = (least.log10() - margin, most.log10() + margin);
        let mut ticks: Vec<_> = (exponent_of(least) - 1..=exponent_of(most) + 1)
            .flat_map(|exponent| [1, 2, 5].map(|multiple| LogTick { multiple, exponent }))
            .collect();
        if ticks.iter().filter(|tick| (low..=high).contains(&tick.log10())).count() < 2 {
            low = ticks.iter().map(|tick| tick.log10()).rfind(|at| *at < low).unwrap_or(low);
            high = ticks.iter().map(|tick| tick.log10()).find(|at| *at > high).unwrap_or(high);
        }
        ticks.retain(|tick| (low..=high).contains(&tick.log10()));
        if ticks.len() > max_ticks {
            let powers = |step: &i32| ticks.iter().filter(|tick| tick.is_power(*step)).count();
            let step = [1, 2, 5, 10, 20, 50].into_iter().find(|step| powers(step) <= max_ticks);
            ticks.retain(|tick| tick.is_power(step.unwrap_or(100)));
        }
        let plain = ticks.iter().all(|tick| (-4..7).contains(&tick.exponent));
        let place = |tick: &LogTick| ((tick.log10() - low) / (high - low), tick.label(plain));
        let ticks = ticks.iter().map(place).collect();
        Self { logarithmic: true, ticks, ..Self::plain(low, high) }
    }

    pub(crate) fn fraction(&self, value: f64) -> f64 {
        let value = if self.logarithmic { value.log10() } else { value / self.unit };
        (value - self.low) / (self.high - self.low)
    }

    pub(crate) fn widest_label(&self) -> f64 {
        self.ticks.iter().map(|(_, label)| text_width(label)).fold(0.0, f64::max)
    }

    /// Height that slanted labels add.
    pub(crate) fn slanted_height(&self) -> f64 {
        if self.slanted { self.widest_label() * FRAC_1_SQRT_2 } else { 0.0 }
    }

    /// The label of a tick as XML.
    pub(crate) fn markup(&self, label: &str) -> String {
        if self.named { xml(label) } else { superscript(label) }
    }

    /// The power of ten of the unit, for the label of the axis.
    pub(crate) fn unit_note(&self) -> String {
        let power = superscript(&format!("10^{}", thousands(&self.exponent)));
        let note = format!(" (×\u{2009}{power}<tspan dy='4'>)</tspan>");
        if self.exponent == 0 { String::new() } else { note }
    }
}

/// A multiple of a power of ten, stored separately since the power may be too small or large for `f64`.
#[derive(Clone, Copy)]
struct LogTick {
    multiple: u8,
    exponent: i32,
}

impl LogTick {
    fn log10(self) -> f64 {
        f64::from(self.multiple).log10() + f64::from(self.exponent)
    }

    fn is_power(self, step: i32) -> bool {
        self.multiple == 1 && self.exponent % step == 0
    }

    fn label(self, plain: bool) -> String {
        let Self { multiple, exponent } = self;
        if plain {
            let decimals = usize::try_from(-exponent).unwrap_or(0);
            let value = f64::from(multiple) * power_of_ten(exponent);
            return thousands(&format!("{value:.decimals$}"));
        }
        let times = if multiple == 1 { String::new() } else { format!("{multiple}×") };
        format!("{times}10^{}", thousands(&exponent))
    }
}

/// The least and the greatest of the values, if there are any.
pub(crate) fn range(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.map(|v| (v, v)).reduce(|(low, high), (v, _)| (low.min(v), high.max(v)))
}

/// The exponent of a positive number in scientific notation, exact unlike a logarithm.
fn exponent_of(value: f64) -> i32 {
    format!("{value:e}").split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0)
}

/// The nearest `f64`, which `powi` does not guarantee.
fn power_of_ten(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: &[f64]) -> (String, i32) {
        let axis = Axis::linear(values.iter().copied(), 6.0);
        assert!(axis.ticks.iter().all(|(at, _)| (0.0..=1.0).contains(at)));
        assert!(values.iter().all(|v| (0.0..=1.0).contains(&axis.fraction(*v))));
        let labels: Vec<_> = axis.ticks.into_iter().map(|(_, label)| label).collect();
        (labels.join(" "), axis.exponent)
    }

    #[test]
    fn ticks_are_round_numbers_without_noise() {
        for (values, expected, exponent) in [
            (&[0.0, 1.0][..], "0.0 0.2 0.4 0.6 0.8 1.0", 0),
            (&[0.1, 0.35], "0.10 0.15 0.20 0.25 0.30 0.35", 0),
            (&[-1234.0, 2e6], "0 500,000 1,000,000 1,500,000 2,000,000", 0),
            (&[-7.0, -3.0], "−7 −6 −5 −4 −3", 0),
            (&[1e-9, 3e-9], "1.0 1.5 2.0 2.5 3.0", -9),
            (&[0.0, 1e12], "0.0 0.2 0.4 0.6 0.8 1.0", 12),
            (&[5.0, 5.0], "4.4 4.6 4.8 5.0 5.2 5.4 5.6", 0),
            (&[0.0], "−1.0 −0.5 0.0 0.5 1.0", 0),
            (&[], "0.0 0.2 0.4 0.6 0.8 1.0", 0),
            (&[-f64::MAX, f64::MAX], "−1 0 1", 308),
            (&[1.0, 1.0 + 1e-13], "0.90 0.95 1.00 1.05 1.10", 0),
        ] {
            assert_eq!(labels(values), (expected.to_owned(), exponent), "{values:?}");
        }
        for values in
            [[5e-324, 1e-323], [1e-300, 2e-300], [1e300, 1e300 + 1e285], [1e15, 1e15 + 1.0]]
        {
            assert!(labels(&values).0.len() < 200);
        }
    }

    #[test]
    fn an_exact_axis_has_ticks_at_its_ends() {
        let axis = Axis::exact((0.1, 0.7), 6.0);
        let (first, last) = (&axis.ticks[0], &axis.ticks[axis.ticks.len() - 1]);
        assert_eq!((first, last), (&(0.0, "0.1".to_owned()), &(1.0, "0.7".to_owned())));
        // One value has room around it.
        assert!((0.4..0.6).contains(&Axis::exact((3.0, 3.0 + 1e-15), 6.0).fraction(3.0)));
    }

    fn log_labels(values: &[f64]) -> String {
        let axis = Axis::logarithmic(values.iter().copied(), 14);
        assert!(axis.ticks.iter().all(|(at, _)| (0.0..=1.0).contains(at)));
        assert!(values.iter().all(|v| (0.0..=1.0).contains(&axis.fraction(*v))));
        axis.ticks.into_iter().map(|(_, label)| label).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn log_ticks_are_one_two_and_five_or_whole_powers() {
        for (values, expected) in [
            (&[0.03, 3.0][..], "0.05 0.1 0.2 0.5 1 2"),
            (&[300.0, 4000.0], "500 1,000 2,000"),
            // Too short for two ticks, so it is made longer.
            (&[0.31, 0.45], "0.2 0.5"),
            (&[0.2], "0.1 0.2 0.5"),
            (&[], "1 2 5 10"),
            (&[1e-9, 4e-9], "10^−9 2×10^−9"),
            (&[0.9, 2e6], "1 10 100 1,000 10,000 100,000 1,000,000"),
            (&[1e-10, 1e8], "10^−10 10^−8 10^−6 10^−4 10^−2 10^0 10^2 10^4 10^6 10^8"),
        ] {
            assert_eq!(log_labels(values), expected, "{values:?}");
        }
        assert!(log_labels(&[1e-20, 1e20]).starts_with("10^−20 10^−15 10^−10"));
        assert!(log_labels(&[5e-324, f64::MAX]).starts_with("10^−300 10^−250"));
    }

    #[test]
    fn one_value_is_not_at_the_edge_of_a_log_axis() {
        for value in (-30..30).flat_map(|e| [1.0, 2.0, 5.0].map(|m| m * power_of_ten(e))) {
            let at = Axis::logarithmic([value].into_iter(), 14).fraction(value);
            assert!((0.3..0.7).contains(&at), "{value} {at}");
        }
    }

    #[test]
    fn equal_factors_are_equally_far_apart_on_a_log_axis() {
        let axis = Axis::logarithmic([0.01, 100.0].into_iter(), 14);
        let [a, b, c] = [0.02, 0.6, 18.0].map(|v| axis.fraction(v));
        // Rounding of three logarithms.
        assert!(((b - a) - (c - b)).abs() < 1e-12 && b - a > 0.3);
        let (at, label) = &axis.ticks[3];
        assert!(label == "0.1" && (at - axis.fraction(0.1)).abs() < 1e-12);
    }

    #[test]
    fn names_stand_at_their_places_and_never_overlap() {
        let names: Vec<_> =
            [(2.0, "c"), (f64::INFINITY, "x"), (0.0, "a"), (1.0, "b"), (1.01, "near b")]
                .map(|(at, name)| (at, name.to_owned()))
                .into();
        let axis = Axis::named([0.5, 4.0].into_iter(), &names, 700.0);
        let expected = [0.0, 1.0, 2.0].map(|v| axis.fraction(v));
        let (places, labels): (Vec<_>, Vec<_>) = axis.ticks.into_iter().unzip();
        assert_eq!((places, labels.concat()), (expected.to_vec(), "abc".to_owned()));

        let long: Vec<_> =
            (0..100).map(|i| (f64::from(i), format!("number {i} of many"))).collect();
        let axis = Axis::named(std::iter::empty(), &long, 700.0);
        assert!((4..8).contains(&axis.ticks.len()) && axis.ticks[0].1 == "number 0 of many");
        for pair in axis.ticks.windows(2) {
            assert!((pair[1].0 - pair[0].0) * 700.0 > 12.0 * ems(&pair[0].1));
        }
    }

    #[test]
    fn wide_names_of_columns_are_slanted() {
        let columns = |n: u32, width| {
            Axis::columns(&(0..n).map(|i| format!("column {i}")).collect::<Vec<_>>(), width)
        };
        let (wide, narrow) = (columns(4, 400.0), columns(12, 400.0));
        assert!(
            !wide.slanted
                && wide.slanted_height() < 0.1
                && narrow.slanted
                && narrow.slanted_height() > 30.0
        );
        assert_eq!((wide.ticks.len(), narrow.ticks.len()), (4, 12));
        assert!((wide.ticks[1].0 - 0.375).abs() < 1e-12);
        // Those that would overlap are omitted.
        let many = columns(80, 400.0).ticks;
        assert!((15..25).contains(&many.len()));
        assert!(many.windows(2).all(|pair| (pair[1].0 - pair[0].0) * 400.0 >= SLANTED_GAP));
        assert!(columns(0, 400.0).ticks.is_empty());
        let long = Axis::columns(&["name ".repeat(99)], 400.0);
        assert!(!long.slanted && long.widest_label() > 360.0);
    }
}
