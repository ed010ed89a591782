//! Relevance φ of target values: which targets are rare.
//!
//! φ maps a target to [0, 1]. It is the monotone piecewise cubic Hermite interpolation of control points
//! `(y, φ, φ′)`, constant outside them:
//!
//! ```text
//! φ(y) = (2t³ − 3t² + 1)·φₖ + (t³ − 2t² + t)·h·φ′ₖ + (3t² − 2t³)·φₖ₊₁ + (t³ − t²)·h·φ′ₖ₊₁
//! h = yₖ₊₁ − yₖ,   t = (y − yₖ)/h
//! ```
//!
//! A row is rare if φ of its target is at least [`RARE_THRESHOLD`].
//!
//! | Control points | φ |
//! | :-- | :-- |
//! | [from the box plot](Relevance::from_box_plot) | 0 at the median, 1 at the adjacent values: the most extreme values within 1.5 interquartile ranges of the quartiles |
//! | [from the density](Relevance::from_density) | 1 − density, the density scaled to 1 at its densest row |
//! | [by hand](Relevance::from_points) | as given |
//!
//! Ribeiro, *Utility-based regression*, doctoral thesis, University of Porto, 2011. Torgo, Ribeiro, Pfahringer, Branco,
//! *SMOTE for regression*, 2013, [doi:10.1007/978-3-642-40669-0_33](https://doi.org/10.1007/978-3-642-40669-0_33).
//! Fritsch, Carlson, *Monotone piecewise cubic interpolation*, 1980,
//! [doi:10.1137/0717021](https://doi.org/10.1137/0717021).

use crate::choice::choice;
use crate::data::check_finite_values;
use crate::density::Density;
use crate::{Error, Result};

/// The relevance from which on a target is rare.
pub const RARE_THRESHOLD: f64 = 0.8;

/// Maximum number of control points of a density.
const DENSITY_POINTS: usize = 512;

/// Which extremes of a target are rare.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Tails {
    High,
    Low,
    Both,
}

choice!(Tails, "high" => Tails::High, "low" => Tails::Low, "both" => Tails::Both);

/// A control point of a relevance.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ControlPoint {
    /// The target.
    pub y: f64,
    /// Its relevance, in [0, 1].
    pub phi: f64,
    /// The slope φ′; `None`: the mean slope of its two neighbors, 0 at the ends and at extremes.
    pub slope: Option<f64>,
}

impl ControlPoint {
    /// A point with a slope of 0.
    fn flat(y: f64, phi: f64) -> Self {
        Self { y, phi, slope: Some(0.0) }
    }
}

/// The relevance φ of targets. See the [module](self).
///
/// ```
/// use windlass::{Relevance, Tails};
///
/// let y = [1.0, 2.0, 2.0, 3.0, 3.0, 3.0, 4.0, 4.0, 5.0, 30.0];
/// let phi = Relevance::from_box_plot(&y, Tails::High)?;
/// assert_eq!((phi.at(3.0), phi.at(5.0), phi.at(30.0)), (0.0, 1.0, 1.0));
/// assert_eq!(phi.at(4.0), 0.5);
/// assert!(phi.is_rare(5.0) && !phi.is_rare(1.0));
/// # Ok::<(), windlass::Error>(())
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Vec<ControlPoint>", into = "Vec<ControlPoint>"))]
#[derive(Debug, Clone, PartialEq)]
pub struct Relevance {
    /// At least two, with slopes of a monotone interpolation.
    knots: Vec<Knot>,
}

/// A control point with its final slope.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Knot {
    y: f64,
    phi: f64,
    slope: f64,
}

impl Relevance {
    /// The relevance of these control points: at least two, with increasing targets. Slopes that would make φ
    /// overshoot are reduced.
    pub fn from_points(points: &[ControlPoint]) -> Result<Self> {
        if points.len() < 2 {
            let (name, got) = ("the number of control points", points.len() as f64);
            return Err(Error::OutOfRange { name, range: "[2, inf)", got });
        }
        for (point, &ControlPoint { y, phi, slope }) in points.iter().enumerate() {
            let why = if !(y.is_finite() && y.abs() < <f64 as crate::Real>::LIMIT) {
                "y must be a finite number"
            } else if !(0.0..=1.0).contains(&phi) {
                "phi must be in [0, 1]"
            } else if slope.is_some_and(|slope| !slope.is_finite()) {
                "slope must be a finite number"
            } else if point > 0 && y <= points[point - 1].y {
                "y must increase from point to point"
            } else {
                continue;
            };
            return Err(Error::BadControlPoint { point, why });
        }
        let secant = |k: usize| {
            let (a, b) = (points[k], points[k + 1]);
            (b.phi - a.phi) / (b.y - a.y)
        };
        let slope = |k: usize| {
            if k == 0 || k + 1 == points.len() {
                return 0.0;
            }
            let (before, after) = (secant(k - 1), secant(k));
            if before * after > 0.0 { f64::midpoint(before, after) } else { 0.0 }
        };
        let knot = |(k, point): (usize, &ControlPoint)| Knot {
            y: point.y,
            phi: point.phi,
            slope: point.slope.unwrap_or_else(|| slope(k)),
        };
        let mut knots: Vec<Knot> = points.iter().enumerate().map(knot).collect();
        for k in 0..knots.len() - 1 {
            limit(&mut knots[k..k + 2], secant(k));
        }
        Ok(Self { knots })
    }

    /// The relevance of extremes, by the box plot of the targets: 0 at the median, 1 at the adjacent value of each
    /// requested tail. If no value lies between the median and the fence, as in a target that is mostly 0, the
    /// nearest value beyond it has relevance 1.
    pub fn from_box_plot(y: &[f64], tails: Tails) -> Result<Self> {
        let sorted = sorted(y)?;
        let [lower, median, upper] = [1, 2, 3].map(|k| quartile(&sorted, k));
        let reach = 1.5 * (upper - lower);
        let low = sorted.iter().find(|&&y| y >= lower - reach && y < median);
        let low = low.or_else(|| sorted.iter().rev().find(|&&y| y < median));
        let high = sorted.iter().rev().find(|&&y| y <= upper + reach && y > median);
        let high = high.or_else(|| sorted.iter().find(|&&y| y > median));
        let low = low.filter(|_| tails != Tails::High);
        let high = high.filter(|_| tails != Tails::Low);
        if low.is_none() && high.is_none() {
            return Err(Error::NoRareRows {
                why: match tails {
                    _ if sorted.len() == 1 => "1 sample is too few",
                    _ if sorted.first() == sorted.last() => "the target is constant",
                    Tails::High => {
                        "none is above the median; choose low, density or control points"
                    }
                    Tails::Low => {
                        "none is below the median; choose high, density or control points"
                    }
                    Tails::Both => "all are equal to the median",
                },
            });
        }
        let mut points = vec![];
        points.extend(low.map(|&y| ControlPoint::flat(y, 1.0)));
        points.push(ControlPoint::flat(median, 0.0));
        points.extend(high.map(|&y| ControlPoint::flat(y, 1.0)));
        Self::from_points(&points)
    }

    /// The relevance 1 − density of these targets, the density scaled to 1 at its densest row. Control points are
    /// all distinct targets, or quantiles of them if they are more than 512.
    pub fn from_density(density: &Density, y: &[f64]) -> Result<Self> {
        let mut places = sorted(y)?;
        places.dedup();
        if places.len() < 2 {
            return Err(Error::NoRareRows { why: "the target is constant" });
        }
        let last = places.len() - 1;
        let count = places.len().min(DENSITY_POINTS);
        let point = |k: usize| {
            let y = places[k * last / (count - 1)];
            let phi = (1.0 - density.scaled(y)).clamp(0.0, 1.0);
            ControlPoint { y, phi, slope: None }
        };
        Self::from_points(&(0..count).map(point).collect::<Vec<_>>())
    }

    /// The control points, with their slopes.
    #[must_use]
    pub fn points(&self) -> Vec<ControlPoint> {
        let point = |&Knot { y, phi, slope }: &Knot| ControlPoint { y, phi, slope: Some(slope) };
        self.knots.iter().map(point).collect()
    }

    /// The same relevance of targets in other units: `(y − offset)/scale`, with a positive scale.
    #[must_use]
    pub fn in_units(&self, offset: f64, scale: f64) -> Self {
        let knot = |&Knot { y, phi, slope }: &Knot| Knot {
            y: (y - offset) / scale,
            phi,
            slope: slope * scale,
        };
        Self { knots: self.knots.iter().map(knot).collect() }
    }

    /// φ of a target.
    #[must_use]
    pub fn at(&self, y: f64) -> f64 {
        if y.is_nan() {
            return y;
        }
        let next = self.knots.partition_point(|knot| knot.y <= y);
        let Some(before) = next.checked_sub(1) else { return self.knots[0].phi };
        let a = self.knots[before];
        let Some(b) = self.knots.get(next) else { return a.phi };
        let h = b.y - a.y;
        let t = (y - a.y) / h;
        let (square, cube) = (t * t, t * t * t);
        let phi = (2.0 * cube - 3.0 * square + 1.0) * a.phi
            + (cube - 2.0 * square + t) * (h * a.slope)
            + (3.0 * square - 2.0 * cube) * b.phi
            + (cube - square) * (h * b.slope);
        phi.clamp(a.phi.min(b.phi), a.phi.max(b.phi))
    }

    /// Whether φ of a target is at least [`RARE_THRESHOLD`].
    #[must_use]
    pub fn is_rare(&self, y: f64) -> bool {
        self.at(y) >= RARE_THRESHOLD
    }

    /// The rows with rare targets, in order.
    #[must_use]
    pub fn rare_rows(&self, y: &[f64]) -> Vec<usize> {
        (0..y.len()).filter(|&row| self.is_rare(y[row])).collect()
    }

    /// The ranges of rare targets, in order; open ends are infinite.
    #[must_use]
    pub fn rare_ranges(&self) -> Vec<(f64, f64)> {
        let mut ranges: Vec<(f64, f64)> = vec![];
        let mut low = self.knots[0].phi.ge(&RARE_THRESHOLD).then_some(f64::NEG_INFINITY);
        for pair in self.knots.windows(2) {
            match (self.is_rare(pair[0].y), self.is_rare(pair[1].y)) {
                (false, true) => low = Some(self.crossing(pair[1].y, pair[0].y)),
                (true, false) => {
                    let high = self.crossing(pair[0].y, pair[1].y);
                    ranges.extend(low.take().map(|low| (low, high)));
                }
                _ => {}
            }
        }
        ranges.extend(low.map(|low| (low, f64::INFINITY)));
        ranges
    }

    /// The last rare target on the way from a rare one to one that is not, with φ monotone between them.
    fn crossing(&self, mut rare: f64, mut normal: f64) -> f64 {
        loop {
            let middle = f64::midpoint(rare, normal);
            if middle == rare || middle == normal {
                return rare;
            }
            if self.is_rare(middle) {
                rare = middle;
            } else {
                normal = middle;
            }
        }
    }
}

impl TryFrom<Vec<ControlPoint>> for Relevance {
    type Error = Error;

    fn try_from(points: Vec<ControlPoint>) -> Result<Self> {
        Self::from_points(&points)
    }
}

impl From<Relevance> for Vec<ControlPoint> {
    fn from(relevance: Relevance) -> Self {
        relevance.points()
    }
}

/// Reduces the slopes at both ends of an interval so that the cubic is monotone: into the circle of radius 3 of
/// Fritsch and Carlson, and not against the secant.
fn limit(ends: &mut [Knot], secant: f64) {
    let ratio = |slope: f64| if secant == 0.0 { 0.0 } else { (slope / secant).max(0.0) };
    let ratios = [ratio(ends[0].slope), ratio(ends[1].slope)];
    let square = ratios[0] * ratios[0] + ratios[1] * ratios[1];
    // The tolerance makes the result a fixed point: limited slopes, read again, are not reduced again.
    let outside = square > 9.0 * (1.0 + 1e-12);
    for (end, ratio) in ends.iter_mut().zip(ratios) {
        if ratio == 0.0 {
            end.slope = 0.0;
        } else if outside {
            end.slope = 3.0 / square.sqrt() * ratio * secant;
        }
    }
}

/// What makes targets rare: the extremes, a low density, or control points.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[derive(Debug, Clone, PartialEq)]
pub enum RareSpec {
    /// Extremes, by the box plot.
    Tails(Tails),
    /// Targets in sparse ranges.
    Density,
    /// Targets of high relevance, by hand.
    Points(Relevance),
}

impl Default for RareSpec {
    fn default() -> Self {
        Self::Tails(Tails::Both)
    }
}

impl std::fmt::Display for RareSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tails(tails) => tails.fmt(f),
            Self::Density => f.write_str("density"),
            Self::Points(relevance) => write!(f, "{} control points", relevance.knots.len()),
        }
    }
}

impl RareSpec {
    /// The words for specifications without control points.
    pub const WORDS: &'static str = "high, low, both, density";

    /// One of the [words](Self::WORDS).
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        match word {
            "density" => Some(Self::Density),
            word => word.parse().ok().map(Self::Tails),
        }
    }

    /// The relevance fitted on targets; an error if none of them is rare.
    pub fn relevance(&self, y: &[f64]) -> Result<Relevance> {
        let relevance = match self {
            Self::Tails(tails) => Relevance::from_box_plot(y, *tails)?,
            Self::Density => {
                // In order, so that no bit depends on the order of rows.
                let sorted = sorted(y)?;
                if sorted.first() == sorted.last() {
                    return Err(Error::NoRareRows { why: "the target is constant" });
                }
                Relevance::from_density(&Density::fit(&sorted, None)?, &sorted)?
            }
            Self::Points(relevance) => relevance.clone(),
        };
        if y.iter().any(|&y| relevance.is_rare(y)) {
            return Ok(relevance);
        }
        let why = "their relevance is below 0.8 everywhere; choose other control points";
        Err(Error::NoRareRows { why })
    }
}

/// Finite targets in order; an error if there are none.
fn sorted(y: &[f64]) -> Result<Vec<f64>> {
    if y.is_empty() {
        return Err(Error::Empty { what: "y", missing: "rows" });
    }
    check_finite_values("y", y)?;
    let mut sorted = y.to_vec();
    sorted.sort_by(f64::total_cmp);
    Ok(sorted)
}

/// The quantile of `k` quarters, interpolated between the two nearest values.
fn quartile(sorted: &[f64], k: usize) -> f64 {
    let quarters = k * (sorted.len() - 1);
    let (below, above) = (sorted[quarters / 4], sorted[quarters.div_ceil(4)]);
    below + (quarters % 4) as f64 / 4.0 * (above - below)
}

#[cfg(test)]
mod tests {
    use super::{ControlPoint, RareSpec, Relevance, Tails};

    fn point(y: f64, phi: f64) -> ControlPoint {
        ControlPoint { y, phi, slope: None }
    }

    #[test]
    fn relevance_does_not_depend_on_units() {
        let y: Vec<f64> = (0..50).map(|i| f64::from(i).powi(2)).collect();
        let relevance = Relevance::from_box_plot(&y, Tails::Both).unwrap();
        let scaled = relevance.in_units(300.0, 25.0);
        for y in [-10.0, 3.0, 700.0, 1234.5, 9000.0] {
            assert!((relevance.at(y) - scaled.at((y - 300.0) / 25.0)).abs() < 1e-12);
        }
    }

    #[test]
    fn phi_is_monotone_between_control_points_and_constant_outside() {
        let points = [(0.0, 0.0), (1.0, 0.1), (1.5, 0.9), (4.0, 1.0), (5.0, 0.2)];
        for slope in [None, Some(40.0), Some(-40.0)] {
            let points = points.map(|(y, phi)| ControlPoint { y, phi, slope });
            let phi = Relevance::from_points(&points).unwrap();
            assert_eq!((phi.at(-9.0), phi.at(9.0)), (0.0, 0.2));
            for pair in points.windows(2) {
                let at = |step: u32| {
                    phi.at(pair[0].y + (pair[1].y - pair[0].y) * f64::from(step) / 200.0)
                };
                let direction = (pair[1].phi - pair[0].phi).signum();
                assert!((0..200).all(|step| (at(step + 1) - at(step)) * direction >= -1e-12));
                assert!((at(0) - pair[0].phi).abs() < 1e-12);
            }
            // Limited slopes stay as they are: a stored relevance has the same bits.
            assert_eq!(Relevance::from_points(&phi.points()).unwrap(), phi);
        }
    }

    #[test]
    fn ranges_of_rare_targets() {
        let points = [(0.0, 1.0), (1.0, 0.0), (2.0, 0.9), (3.0, 0.0), (4.0, 1.0)];
        let phi = Relevance::from_points(&points.map(|(y, phi)| point(y, phi))).unwrap();
        let ranges = phi.rare_ranges();
        assert_eq!(ranges.len(), 3);
        assert_eq!((ranges[0].0, ranges[2].1), (f64::NEG_INFINITY, f64::INFINITY));
        for end in [ranges[0].1, ranges[1].0, ranges[1].1, ranges[2].0] {
            assert!((phi.at(end) - 0.8).abs() < 1e-12 && phi.is_rare(end));
        }
        let all = Relevance::from_points(&[point(0.0, 1.0), point(1.0, 0.9)]).unwrap();
        assert_eq!(all.rare_ranges(), [(f64::NEG_INFINITY, f64::INFINITY)]);
    }

    /// A target that is mostly 0 has fences at 0.
    #[test]
    fn a_target_without_a_box_has_rare_values() {
        let mut y = vec![0.0; 90];
        y.extend((1..=10).map(f64::from));
        let phi = Relevance::from_box_plot(&y, Tails::Both).unwrap();
        assert_eq!((phi.at(0.0), phi.at(1.0), phi.at(10.0)), (0.0, 1.0, 1.0));
        let low = RareSpec::Tails(Tails::Low).relevance(&y).unwrap_err();
        assert!(low.to_string().contains("none is below the median"), "{low}");
    }

    #[test]
    fn refusals() {
        let refused = |y: &[f64]| RareSpec::default().relevance(y).unwrap_err().to_string();
        assert!(refused(&[2.0; 9]).contains("the target is constant"));
        assert!(refused(&[2.0]).contains("1 sample is too few"));
        assert!(refused(&[]).contains("no rows"));
        assert!(refused(&[1.0, f64::NAN]).contains("finite"));
        let points = |points: &[ControlPoint]| Relevance::from_points(points).unwrap_err();
        assert!(
            points(&[point(1.0, 0.0)])
                .to_string()
                .contains("control points must be in [2, inf), got 1")
        );
        for (second, why) in [
            (point(f64::NAN, 0.5), "y must be a finite number"),
            (point(2.0, 1.5), "phi must be in [0, 1]"),
            (ControlPoint { y: 2.0, phi: 0.5, slope: Some(f64::INFINITY) }, "slope must be"),
            (point(1.0, 0.5), "y must increase"),
        ] {
            let refused = points(&[point(1.0, 0.0), second]).to_string();
            assert!(refused.contains("control point 1") && refused.contains(why), "{refused}");
        }
        let none =
            RareSpec::Points(Relevance::from_points(&[point(0.0, 0.0), point(1.0, 0.7)]).unwrap());
        let none = none.relevance(&[0.0, 0.5, 1.0]).unwrap_err().to_string();
        assert!(none.contains("below 0.8"), "{none}");
    }
}
