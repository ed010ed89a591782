//! The places of a line in the picture.

use std::collections::BTreeSet;

use crate::svg::num;

/// The places of a line in the picture; nothing where it is broken.
pub(crate) type Curve = Vec<Option<(f64, f64)>>;

pub(crate) fn path(run: &[(f64, f64)]) -> String {
    let places: Vec<_> = run.iter().map(|(x, y)| format!("{} {}", num(*x), num(*y))).collect();
    format!("M{}", places.join(" "))
}

/// A curve of about so many places that looks the same as all of them.
pub(crate) fn thin(curve: Curve, most: usize) -> Curve {
    if curve.len() <= most {
        return curve;
    }
    let stretch = curve.len().div_ceil((most / 4).max(1));
    curve.chunks(stretch).flat_map(outline).collect()
}

/// The ends and the extremes of a stretch, which taking one place of many would miss, and whether
/// it is broken between them.
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

/// Places along a curve, near enough to each other that no line slips through a word.
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
        let (thinned, short) = (thin(curve.clone(), 2_000), thin(curve[..2_000].to_vec(), 2_000));
        assert!((900..=2_000).contains(&thinned.len()) && short == curve[..2_000]);
        for i in [0, 12_345, 23_456, 34_567, 49_999] {
            assert!(thinned.contains(&curve[i]), "{i}");
        }
        assert_eq!(thinned.iter().filter(|at| at.is_none()).count(), 1);
        assert!(thinned.iter().flatten().is_sorted());
    }

    #[test]
    fn no_gap_of_a_stretch_is_bridged() {
        let at = |x: f64| Some((x, x));
        let stretch = [None, at(1.0), None, None, at(2.0), at(3.0), at(4.0), None];
        assert_eq!(outline(&stretch), [None, at(1.0), None, at(4.0), None]);
        assert_eq!(outline(&[None; 5]), [None]);
    }
}
