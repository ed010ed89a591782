//! Lines in the picture.

use std::collections::BTreeSet;

use crate::color::PALETTE;
use crate::legend::LineStyle;
use crate::svg::{circle, ems, group, num, truncate};

/// About the maximum number of places drawn of a line: there are fewer pixels to show them.
const MAX_PLACES: usize = 2_000;
/// Maximum width of a name in the legend, in ems.
const MAX_NAME_EMS: f64 = 24.0;
/// Beyond this distance from the frame, all places look the same.
const FAR: f64 = 1e6;

/// The places of a line in the picture; `None` breaks the line.
pub(crate) type Curve = Vec<Option<(f64, f64)>>;

/// A line and its style.
pub(crate) struct StyledCurve<'a> {
    pub(crate) style: LineStyle,
    pub(crate) curve: &'a Curve,
    /// Whether each of its places is a dot.
    pub(crate) dotted: bool,
}

/// Line width and opacity of several lines.
pub(crate) struct Stroke {
    width: f64,
    opacity: f64,
}

impl Stroke {
    pub(crate) const THIN: Self = Self { width: 1.4, opacity: 1.0 };

    /// Thin and faint if there are more series than colors.
    pub(crate) fn of_series(series: usize) -> Self {
        let crowded = Self { width: 1.0, opacity: 0.4 };
        if series > PALETTE.len() { crowded } else { Self { width: 2.0, opacity: 1.0 } }
    }
}

pub(crate) fn draw(
    svg: &mut Vec<String>,
    curves: &[StyledCurve],
    Stroke { width, opacity }: &Stroke,
) {
    let (mut paths, mut dots) = (Vec::new(), Vec::new());
    for &StyledCurve { style, curve, dotted } in curves {
        for run in curve.split(Option::is_none) {
            let run: Vec<_> = run.iter().flatten().copied().collect();
            // A line of one point would be invisible.
            if dotted || run.len() == 1 {
                let radius = if dotted { 3.0 } else { 1.5 };
                dots.extend(run.iter().map(|at| circle(*at, radius, &style.color.fill())));
            }
            if run.len() > 1 {
                let places = run.iter().map(|(x, y)| format!("{} {}", num(*x), num(*y)));
                paths.push(style.line(&format!("M{}", places.collect::<Vec<_>>().join(" "))));
            }
        }
    }
    let line = format!(" fill='none' stroke-width='{width}' stroke-linejoin='round'");
    group(svg, &format!("{line} opacity='{opacity}'"), paths);
    group(svg, &format!(" opacity='{opacity}'"), dots);
}

/// The parts of a curve between two heights.
pub(crate) fn clip(curve: &[Option<(f64, f64)>], top: f64, bottom: f64) -> Curve {
    let inside = |y: f64| (top..=bottom).contains(&y);
    // The place where a line from outside enters; a place inside stays.
    let enter = |from: (f64, f64), to: (f64, f64)| {
        let y = from.1.clamp(top, bottom);
        let part = if inside(from.1) { 0.0 } else { (y - from.1) / (to.1 - from.1) };
        Some((from.0 + part * (to.0 - from.0), y))
    };
    let mut out = Curve::new();
    for run in curve.split(Option::is_none) {
        // No place is at infinity, so that every slope is a number.
        let near = |(x, y): &(f64, f64)| (*x, y.clamp(top - FAR, bottom + FAR));
        let run: Vec<_> = run.iter().flatten().map(near).collect();
        out.push(None);
        out.extend(run.first().filter(|(_, y)| inside(*y)).map(|at| Some(*at)));
        for (a, b) in run.windows(2).map(|pair| (pair[0], pair[1])) {
            if a.1.min(b.1) <= bottom && a.1.max(b.1) >= top {
                if !inside(a.1) {
                    out.extend([None, enter(a, b)]);
                }
                out.push(enter(b, a));
            }
        }
    }
    out
}

/// The name of a line in the legend, with a note if nothing of it is drawn.
pub(crate) fn caption(name: &str, drawn: bool) -> String {
    let note = if drawn { "" } else { " (nothing to draw)" };
    truncate(name, MAX_NAME_EMS - ems(note)) + note
}

/// A simplified curve that looks the same.
pub(crate) fn thin(curve: Curve) -> Curve {
    if curve.len() <= MAX_PLACES {
        return curve;
    }
    let stretch = curve.len().div_ceil(MAX_PLACES / 4);
    curve.chunks(stretch).flat_map(outline).collect()
}

/// The ends and the extremes of a stretch, and whether it is broken between them.
fn outline(stretch: &[Option<(f64, f64)>]) -> Curve {
    let heights = || stretch.iter().enumerate().filter_map(|(i, at)| at.map(|(_, y)| (i, y)));
    let lower = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1);
    let (first, last) = (heights().next(), heights().next_back());
    let (least, most) = (heights().min_by(lower), heights().max_by(lower));
    let kept: BTreeSet<_> =
        [first, last, least, most].into_iter().flatten().map(|(i, _)| i).collect();
    let (mut out, mut from) = (Vec::new(), 0);
    for i in kept.into_iter().chain([stretch.len()]) {
        out.extend(stretch[from..i].contains(&None).then_some(None));
        out.extend(stretch.get(i));
        from = i + 1;
    }
    out
}

/// Places along a curve, close enough to each other that no line passes a text unnoticed.
pub(crate) fn along(curve: &[Option<(f64, f64)>]) -> impl Iterator<Item = (f64, f64)> {
    let joined = curve.windows(2).filter_map(|pair| pair[0].zip(pair[1]));
    joined.flat_map(|(a, b)| {
        (0..40).map(move |i| {
            let t = f64::from(i) / 40.0;
            (a.0 + t * (b.0 - a.0), a.1 + t * (b.1 - a.1))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thinned_curve_keeps_its_spikes_ends_and_gaps() {
        let mut curve: Curve = (0..50_000).map(|i| Some((f64::from(i), 0.0))).collect();
        curve[12_345] = Some((12_345.0, 9.0));
        curve[23_456] = Some((23_456.0, -9.0));
        curve[34_567] = None;
        let (thinned, short) = (thin(curve.clone()), thin(curve[..2_000].to_vec()));
        assert!((900..=2_000).contains(&thinned.len()) && short == curve[..2_000]);
        for i in [0, 12_345, 23_456, 34_567, 49_999] {
            assert!(thinned.contains(&curve[i]), "{i}");
        }
        assert_eq!(thinned.iter().filter(|at| at.is_none()).count(), 1);
        assert!(thinned.iter().flatten().is_sorted());
    }

    #[test]
    fn a_curve_is_cut_where_it_leaves() {
        let clipped = |places: &[(f64, f64)]| {
            let curve: Curve = places.iter().map(|at| Some(*at)).collect();
            let clipped = clip(&curve, 0.0, 10.0);
            let runs = clipped.split(Option::is_none).filter(|run| !run.is_empty());
            runs.map(|run| run.iter().flatten().copied().collect()).collect::<Vec<Vec<_>>>()
        };
        let inside = [(0.0, 0.0), (1.0, 10.0), (2.0, 5.0)];
        assert_eq!(clipped(&inside), [inside.to_vec()]);
        // Out above, in again, and through to below.
        let out = clipped(&[(0.0, 5.0), (2.0, -5.0), (3.0, -5.0), (5.0, 5.0), (7.0, 15.0)]);
        assert_eq!(
            out,
            [[(0.0, 5.0), (1.0, 0.0)].to_vec(), vec![(4.0, 0.0), (5.0, 5.0), (6.0, 10.0)]]
        );
        assert_eq!(clipped(&[(0.0, -10.0), (3.0, 20.0)]), [[(1.0, 0.0), (2.0, 10.0)]]);
        assert!(
            clipped(&[(0.0, -1.0), (1.0, -2.0)]).is_empty() && clipped(&[(0.0, 11.0)]).is_empty()
        );
        assert_eq!(clipped(&[(3.0, 7.0)]), [[(3.0, 7.0)]]);
        let far = clipped(&[(0.0, 5.0), (1.0, f64::INFINITY), (2.0, f64::NEG_INFINITY)]);
        assert!(far.len() == 2 && far.iter().flatten().all(|(x, _)| x.is_finite()));
    }

    #[test]
    fn no_gap_of_a_stretch_is_bridged() {
        let at = |x: f64| Some((x, x));
        let stretch = [None, at(1.0), None, None, at(2.0), at(3.0), at(4.0), None];
        assert_eq!(outline(&stretch), [None, at(1.0), None, at(4.0), None]);
        assert_eq!(outline(&[None; 5]), [None]);
    }
}
