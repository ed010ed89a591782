//! Dots: a series of them, how many are drawn of many, and how small.

use crate::frame::Frame;
use crate::svg::{circle, cut, thousands};

/// Longest name in the legend, in ems.
const LONGEST_NAME: f64 = 16.0;

/// Most dots of a kind: more would cost megabytes and show nothing new.
pub(crate) const MOST_DRAWN: usize = 5_000;

/// A series of dots.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dots {
    /// What the legend calls it.
    pub name: String,
    /// The dots. Those that are not finite are left out.
    pub points: Vec<(f64, f64)>,
}

impl Dots {
    pub(crate) fn finite(&self) -> Vec<(f64, f64)> {
        self.points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite()).collect()
    }

    /// The name, and how many are drawn where that is not all.
    pub(crate) fn caption(&self, drawn: usize) -> String {
        let given = self.points.len();
        let of = format!(" ({} of {} shown)", thousands(&drawn), thousands(&given));
        let note = if drawn == given { String::new() } else { of };
        cut(&self.name, LONGEST_NAME) + &note
    }
}

/// Draws not more than a number of dots; the paint is the attributes of all.
pub(crate) fn draw(
    svg: &mut Vec<String>,
    frame: &Frame,
    (points, most): (&[(f64, f64)], usize),
    radius: f64,
    paint: &str,
) {
    svg.push(format!("<g{paint}>"));
    svg.extend(some_of(points, most).map(|(x, y)| circle(frame.place(*x, *y), radius, "")));
    svg.push("</g>".to_owned());
}

/// Not more than a number of them, evenly spread.
pub(crate) fn some_of<T>(all: &[T], most: usize) -> impl ExactSizeIterator<Item = &T> {
    let drawn = all.len().min(most);
    (0..drawn).map(move |i| &all[i * all.len() / drawn])
}

/// What the radius of so many dots is multiplied with.
pub(crate) fn shrink(drawn: usize) -> f64 {
    [1.0, 0.75, 0.5][usize::from(drawn > 600) + usize::from(drawn > 2_000)]
}
