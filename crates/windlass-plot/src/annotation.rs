//! An annotation: a ringed dot, with a text that stays in the frame and off the lines.

use crate::color::Color;
use crate::curve::{Curve, along};
use crate::frame::Frame;
use crate::svg::{circle, outlined, text, text_width, truncate, xml};

/// Minimum space between the text and the edges of the frame.
const EDGE: f64 = 6.0;

/// A highlighted point with a text next to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Annotation {
    /// The point.
    pub at: (f64, f64),
    /// The text.
    pub text: String,
}

impl Annotation {
    pub(crate) fn draw(&self, svg: &mut Vec<String>, frame: &Frame, curves: &[Curve]) {
        let at = frame.place(self.at);
        // One em is left for the ellipsis.
        let words = truncate(&self.text, (frame.width() - 2.0 * EDGE) / 12.0 - 1.0);
        let width = text_width(&words);
        let ring = circle(at, 7.0, " fill='none'");
        svg.push(format!("<g{} stroke-width='1.5'>{ring}</g>", Color::Ink.stroke()));
        svg.push(circle(at, 3.0, &Color::Ink.fill()));
        if let Some((x, y)) = quietest(spots(frame, at, width), width, curves) {
            svg.push(outlined(&text(x, y, "middle", Color::Ink, &xml(&words))));
        }
    }
}

/// Candidate places in the frame for a text of this width: above and below the point, also shifted
/// sideways. Each is the middle of its baseline.
fn spots(frame: &Frame, (x, y): (f64, f64), width: f64) -> Vec<(f64, f64)> {
    let half = width / 2.0;
    let (least, most) = (frame.left + EDGE + half, frame.right - EDGE - half);
    [y - 15.0, y + 23.0]
        .into_iter()
        .filter(|y| (frame.top + 12.0..=frame.bottom - EDGE).contains(y))
        .flat_map(|y| [0.0, half, -half].map(|shift| ((x + shift).max(least).min(most), y)))
        .collect()
}

/// The first of the spots with the fewest crossings of lines.
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
    use crate::frame::{Labels, Legend};
    use crate::layout::Layout;

    fn frame(labels: &Labels) -> Frame<'_> {
        let axis = || Axis::linear([0.0, 1.0].into_iter(), 10.0);
        let frame = Frame::new(&Layout::PAGE, labels, axis(), |_| axis());
        frame.with_legend(Legend { rows: 1, svg: vec![] })
    }

    #[test]
    fn words_stand_inside_the_frame_and_off_the_ring() {
        let labels = Labels::new("title", "x", "y");
        let frame = frame(&labels);
        for (x, y) in [(0.0, 0.0), (0.0, 1.0), (0.5, 0.5), (1.0, 0.0), (1.0, 1.0)] {
            let at = frame.place((x, y));
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
        let labels = Labels::new("title", "x", "y");
        let frame = frame(&labels);
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
