//! A mark: a ringed dot, and words beside it that stay in the picture and off the lines.

use crate::color::Color;
use crate::curve::{Curve, along};
use crate::frame::Frame;
use crate::svg::{circle, cut, ems, escape, outlined, text};

/// Least space between the words and the edges of the frame.
const EDGE: f64 = 6.0;

pub(crate) fn draw(
    svg: &mut Vec<String>,
    frame: &Frame,
    at: (f64, f64),
    words: &str,
    curves: &[Curve],
) {
    // An em is left for the sign that something was cut.
    let words = cut(words, (frame.width() - 2.0 * EDGE) / 12.0 - 1.0);
    let width = 12.0 * ems(&words);
    let ring = circle(at, 7.0, " fill='none'");
    svg.push(format!("<g{} stroke-width='1.5'>{ring}</g>", Color::Ink.stroke()));
    svg.push(circle(at, 3.0, &Color::Ink.fill()));
    if let Some((x, y)) = quietest(spots(frame, at, width), width, curves) {
        svg.push(outlined(&text(x, y, "middle", Color::Ink, &escape(&words))));
    }
}

/// Where words of this width may stand: above and below the mark, moved sideways, in the frame.
/// Each is the middle of their baseline.
fn spots(frame: &Frame, (x, y): (f64, f64), width: f64) -> Vec<(f64, f64)> {
    let half = width / 2.0;
    let (least, most) = (frame.left + EDGE + half, frame.right - EDGE - half);
    [y - 15.0, y + 23.0]
        .into_iter()
        .filter(|y| (frame.top + 12.0..=frame.bottom - EDGE).contains(y))
        .flat_map(|y| [0.0, half, -half].map(|shift| ((x + shift).max(least).min(most), y)))
        .collect()
}

/// The spot that the lines cross least; the first of those that are equal.
fn quietest(spots: Vec<(f64, f64)>, width: f64, curves: &[Curve]) -> Option<(f64, f64)> {
    let crossed = |(x, y): &(f64, f64)| {
        let (x, y) = (*x, y - 4.0);
        let inside =
            |at: &(f64, f64)| (at.0 - x).abs() < width / 2.0 + 4.0 && (at.1 - y).abs() < 11.0;
        curves.iter().flat_map(|curve| along(curve)).filter(inside).count()
    };
    spots.into_iter().min_by_key(crossed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::axis::Axis;
    use crate::frame::Words;
    use crate::size::Size;

    fn frame() -> Frame<'static> {
        let axis = || Axis::linear([0.0, 1.0].into_iter(), 10.0);
        let words = Words { title: "title", x_label: "x", y_label: "y" };
        Frame::new(Size::Page, words, axis(), |_| axis()).with_legend(1)
    }

    #[test]
    fn words_stand_inside_the_frame_and_off_the_ring() {
        let frame = frame();
        for (x, y) in [(0.0, 0.0), (0.0, 1.0), (0.5, 0.5), (1.0, 0.0), (1.0, 1.0)] {
            let at = frame.place(x, y);
            for width in [0.0, 100.0, frame.width() - 2.0 * EDGE] {
                let spots = spots(&frame, at, width);
                assert!(spots.len() >= 3);
                for (x, y) in spots {
                    assert!(x - width / 2.0 >= frame.left && x + width / 2.0 <= frame.right);
                    assert!(y - 11.0 >= frame.top && y + 4.0 <= frame.bottom);
                    assert!(y + 4.0 < at.1 - 8.0 || y - 11.0 > at.1 + 8.0);
                }
            }
        }
    }

    #[test]
    fn words_keep_off_the_lines() {
        let frame = frame();
        let at = (500.0, 300.0);
        let chosen = |curve: Curve| quietest(spots(&frame, at, 80.0), 80.0, &[curve]);
        let across = |y: f64| vec![Some((100.0, y)), Some((800.0, y))];
        assert_eq!(chosen(Vec::new()), Some((500.0, 285.0)));
        assert_eq!(chosen(across(281.0)), Some((500.0, 323.0)));
        assert_eq!(chosen(across(319.0)), Some((500.0, 285.0)));
        // From the lower left to the upper right: there is room above on the left.
        let rising = vec![Some((400.0, 400.0)), Some((600.0, 200.0))];
        assert_eq!(chosen(rising), Some((460.0, 285.0)));
        let broken = vec![Some((100.0, 281.0)), None, Some((800.0, 281.0))];
        assert_eq!(chosen(broken), Some((500.0, 285.0)));
    }
}
