//! A forest plot: means with intervals, one in each row.

use crate::color::Color;
use crate::dots::some_of;
use crate::frame::{self, Frame};
use crate::png::{self, PlotError};
use crate::rows::{Name, Reference, Rows};
use crate::size::Size;
use crate::svg::{circle, line, num};

/// Most dots in a row.
const MOST_DOTS: usize = 200;

/// What a row says, told by its color.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Emphasis {
    /// Nothing in particular: gray.
    #[default]
    Plain,
    /// Good: green.
    Good,
    /// Bad: red.
    Bad,
}

impl Emphasis {
    fn color(self) -> Color {
        match self {
            Self::Plain => Color::Faint,
            Self::Good => Color::Of(2),
            Self::Bad => Color::Of(8),
        }
    }
}

/// A row of a forest plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// The name, to the left of the row.
    pub name: String,
    /// The mean, a dot; none where it is not finite.
    pub mean: f64,
    /// The low end. One that is not finite is open to the border, with an arrow.
    pub low: f64,
    /// The high end, likewise.
    pub high: f64,
    /// What the mean was taken of, as faint small dots; empty where they are not to be seen.
    pub points: Vec<f64>,
    /// The color.
    pub emphasis: Emphasis,
    /// A heading before the row.
    pub heading: Option<String>,
}

impl Interval {
    fn values(&self) -> impl Iterator<Item = f64> + Clone {
        let points = self.points.iter().copied();
        [self.mean, self.low, self.high].into_iter().chain(points).filter(|v| v.is_finite())
    }
}

/// A plot of means with intervals, as high as its rows need.
///
/// ```
/// use windlass_plot::{Emphasis, Interval, Intervals, Reference};
///
/// let row = Interval {
///     name: "ada".to_owned(),
///     mean: -3.1,
///     low: -4.0,
///     high: -2.2,
///     emphasis: Emphasis::Good,
///     ..Interval::default()
/// };
/// let better = Reference { at: 0.0, below: "better".to_owned(), above: "worse".to_owned() };
/// let plot = Intervals { rows: vec![row], reference: Some(better), ..Intervals::default() };
/// assert!(plot.to_svg().contains(">ada<"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Intervals {
    /// Heading of the plot.
    pub title: String,
    /// Name of the x axis.
    pub x_label: String,
    /// The rows, from the top.
    pub rows: Vec<Interval>,
    /// What the means are compared with.
    pub reference: Option<Reference>,
    /// How large the plot is.
    pub size: Size,
}

impl Intervals {
    /// The plot as an SVG document that refers to nothing outside itself.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let rows = self.rows();
        let mut svg = rows.open();
        for (row, y) in self.rows.iter().zip(&rows.middles) {
            row.draw(&mut svg, &rows.frame, *y);
        }
        if self.values().next().is_none() {
            svg.push(rows.frame.apology("Nothing to draw"));
        }
        frame::close(svg)
    }

    /// The plot as a PNG of twice the size of the SVG, its text in an embedded font.
    pub fn to_png(&self) -> Result<Vec<u8>, PlotError> {
        png::render(&self.to_svg())
    }

    fn values(&self) -> impl Iterator<Item = f64> + Clone {
        self.rows.iter().flat_map(Interval::values)
    }

    fn rows(&self) -> Rows<'_> {
        let height = self.size.measures().interval_row;
        let rows = self.rows.iter();
        let names = rows.map(|row| Name { name: &row.name, heading: row.heading.as_deref() });
        let words = (&self.title[..], &self.x_label[..]);
        Rows::new(
            self.size,
            words,
            (names.collect(), height),
            self.reference.as_ref(),
            self.values(),
        )
    }
}

impl Interval {
    fn draw(&self, svg: &mut Vec<String>, frame: &Frame, y: f64) {
        if self.values().next().is_none() {
            return;
        }
        let (color, dot) = (self.emphasis.color(), frame.measures.dot);
        let points: Vec<_> = self.points.iter().copied().filter(|v| v.is_finite()).collect();
        if !points.is_empty() {
            svg.push(format!("<g fill-opacity='0.4'{}>", color.fill()));
            let below = y + 0.3 * frame.measures.interval_row;
            let points = some_of(&points, MOST_DOTS);
            svg.extend(points.map(|v| circle((frame.x_of(*v), below), 2.0 * dot, "")));
            svg.push("</g>".to_owned());
        }
        let (low, from) = end(self.low, frame, frame.left, y, 1.0);
        let (high, to) = end(self.high, frame, frame.right, y, -1.0);
        let bar = format!("M{} {}H{}{from}{to}", num(low), num(y), num(high));
        let bar = line(&bar, color);
        svg.push(format!("<g fill='none' stroke-width='{}'>{bar}</g>", num(2.0 * dot)));
        if self.mean.is_finite() {
            svg.push(circle((frame.x_of(self.mean), y), 4.5 * dot, &color.fill()));
        }
    }
}

/// Where an end stands, and the path of a stroke across it, or of an arrow where it is open.
fn end(value: f64, frame: &Frame, border: f64, y: f64, inwards: f64) -> (f64, String) {
    let (x, tip) =
        if value.is_finite() { (frame.x_of(value), 0.0) } else { (border, 6.0 * inwards) };
    let (above, below, side) = (num(y - 4.0), num(y + 4.0), num(x + tip));
    (x, format!("M{side} {above}L{} {} {side} {below}", num(x), num(y)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::numbers;

    fn row(name: &str, low: f64, mean: f64, high: f64) -> Interval {
        Interval { name: name.to_owned(), mean, low, high, ..Interval::default() }
    }

    fn plot(rows: Vec<Interval>) -> Intervals {
        let reference = Reference { at: 0.0, below: "better".into(), above: "worse".into() };
        Intervals { rows, reference: Some(reference), size: Size::Card, ..Intervals::default() }
    }

    #[test]
    fn means_stand_in_rows_at_their_values() {
        let plot = plot(vec![
            row("a", -3.0, -2.0, -1.0),
            row("b", 0.0, 1.0, 3.0),
            row("c", 0.0, 4.0, 5.0),
        ]);
        let svg = plot.to_svg();
        let (xs, ys) = (numbers(&svg, "circle", "cx"), numbers(&svg, "circle", "cy"));
        // Places are rounded to a tenth: from −2 to 1 as far as from 1 to 4.
        assert!(((xs[1] - xs[0]) - (xs[2] - xs[1])).abs() < 0.3 && xs[1] - xs[0] > 50.0);
        assert!((ys[1] - ys[0] - 20.0).abs() < 0.2 && (ys[2] - ys[1] - 20.0).abs() < 0.2);
        let places = ["a", "b", "c"].map(|name| svg.find(&format!(">{name}<")).unwrap());
        assert!(places.is_sorted());
        // The reference is two thirds of the way from the first mean to the second.
        let frame = plot.rows().frame;
        assert!((frame.x_of(0.0) - (xs[0] + 2.0 * xs[1]) / 3.0).abs() < 0.2);
        assert!(svg.contains(&format!("M{} {}V", num(frame.x_of(0.0)), num(frame.top - 4.0))));
    }

    #[test]
    fn ends_that_are_not_finite_are_open_to_the_border() {
        let plot = plot(vec![row("a", f64::NEG_INFINITY, 1.0, 2.0), row("b", 0.0, 1.0, f64::NAN)]);
        let (svg, frame) = (plot.to_svg(), plot.rows().frame);
        let (left, right) = (num(frame.left), num(frame.right));
        let starts = |y: f64| format!("M{left} {}H{}", num(y), num(frame.x_of(2.0)));
        assert!(svg.contains(&starts(plot.rows().middles[0])));
        let ends = format!("M{} {}H{right}M", num(frame.x_of(0.0)), num(plot.rows().middles[1]));
        assert!(svg.contains(&ends) && !svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn emphasis_is_a_class_and_points_are_dots() {
        let mut rows = vec![row("a", 0.0, 1.0, 2.0), row("b", 0.0, 1.0, 2.0)];
        rows[0].emphasis = Emphasis::Good;
        rows[1].emphasis = Emphasis::Bad;
        rows[1].points = vec![0.5, f64::NAN, 1.5];
        let svg = plot(rows).to_svg();
        for class in ["'wl-c2'", "'wl-c2-line'", "'wl-c8'", "'wl-c8-line'", "'wl-paper'"] {
            assert!(svg.contains(class), "{class}");
        }
        assert_eq!(svg.matches("<circle").count(), 4);
    }

    #[test]
    fn height_grows_with_rows_and_headings() {
        let height = |rows| numbers(&plot(rows).to_svg(), "svg", " height")[0];
        let one = height(vec![row("a", 0.0, 1.0, 2.0); 5]);
        assert!((height(vec![row("a", 0.0, 1.0, 2.0); 9]) - one - 80.0).abs() < 0.2);
        let headed = Interval { heading: Some("ridge".into()), ..row("a", 0.0, 1.0, 2.0) };
        assert!((height(vec![headed; 5]) - one - 5.0 * 21.0).abs() < 0.2);
    }

    #[test]
    fn words_cannot_become_elements() {
        let words = "]]></text><script>&\u{8}10^3".to_owned();
        let row = Interval { heading: Some(words.clone()), ..row(&words, 0.0, 1.0, 2.0) };
        let reference = Reference { at: 1.5, below: words.clone(), above: words.clone() };
        let (title, x_label) = (words.clone(), words);
        let evil = Intervals {
            title,
            x_label,
            rows: vec![row],
            reference: Some(reference),
            ..Intervals::default()
        };
        assert!(!evil.to_svg().contains("<script") && evil.to_png().is_ok());
        assert!(evil.to_svg().matches("&lt;script").count() >= 5);
    }

    #[test]
    fn an_empty_plot_says_so() {
        let nan = row("a", f64::NAN, f64::INFINITY, f64::NAN);
        let far = Reference { at: f64::NAN, ..Reference::default() };
        for empty in [
            Intervals::default(),
            plot(vec![nan]),
            Intervals { reference: Some(far), ..plot(vec![]) },
        ] {
            assert!(empty.to_svg().contains(">Nothing to draw<") && empty.to_png().is_ok());
        }
        assert!(!plot(vec![row("a", 0.0, 1.0, 2.0)]).to_svg().contains(">Nothing to draw<"));
    }
}
