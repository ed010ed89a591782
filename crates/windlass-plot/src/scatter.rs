//! A scatter plot of an augmentation: the target against one feature.

use crate::axis::Axis;
use crate::color::Color;
use crate::dots::{MOST_DRAWN, shrink, some_of};
use crate::frame::{self, Frame, Words};
use crate::groups::{Groups, Item, Key, colors};
use crate::png::{self, PlotError};
use crate::size::Size;
use crate::svg::{circle, num};

/// One row of the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The feature.
    pub x: f64,
    /// The target.
    pub y: f64,
    /// The group of the row, where the method has groups.
    pub group: Option<u32>,
}

/// A plot of original and synthetic rows. Rows that are not finite are left out.
///
/// ```
/// use windlass_plot::{Point, Scatter};
///
/// let row = |x: f64, y: f64| Point { x, y, group: None };
/// let plot = Scatter {
///     originals: vec![row(1.0, 2.0), row(3.0, 4.0)],
///     synthetic: vec![row(1.5, 2.5)],
///     ..Scatter::default()
/// };
/// assert!(plot.to_svg().contains("Synthetic (1)"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scatter {
    /// Heading of the plot.
    pub title: String,
    /// Name of the feature.
    pub x_label: String,
    /// Name of the target.
    pub y_label: String,
    /// The rows that were given.
    pub originals: Vec<Point>,
    /// The rows that were made.
    pub synthetic: Vec<Point>,
    /// How large the plot is.
    pub size: Size,
}

impl Scatter {
    /// The plot as an SVG document that refers to nothing outside itself.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let originals = Layer::new(&ORIGINAL, &self.originals);
        let synthetic = Layer::new(&SYNTHETIC, &self.synthetic);
        let rows = || originals.rows.iter().chain(&synthetic.rows);
        let groups = colors(&rows().filter_map(|row| row.group).collect());

        let words = Words { title: &self.title, x_label: &self.x_label, y_label: &self.y_label };
        let measures = self.size.measures();
        let y_axis = Axis::linear(rows().map(|row| row.y), measures.most_y_ticks);
        let frame = Frame::new(self.size, words, y_axis, |width| {
            Axis::linear_within(rows().map(|row| row.x), width, measures.most_x_ticks)
        });
        let layers = [&originals, &synthetic].map(|layer| layer.item(&groups));
        let key =
            Key::new(layers.into_iter().chain(Item::of_groups(&groups, frame.width())), &frame);
        let frame = frame.with_legend(key.rows());
        let mut svg = frame.open();
        key.draw(&mut svg, &frame);

        // Originals on top: however many synthetic rows there are, they stay in sight.
        for layer in [&synthetic, &originals] {
            layer.draw(&mut svg, &groups, &frame);
        }
        if rows().next().is_none() {
            svg.push(frame.apology("No rows to draw"));
        }
        frame::close(svg)
    }

    /// The plot as a PNG of twice the size of the SVG, its text in an embedded font.
    pub fn to_png(&self) -> Result<Vec<u8>, PlotError> {
        png::render(&self.to_svg())
    }
}

/// How the rows of one kind look.
struct Look {
    name: &'static str,
    /// Where there are no groups.
    color: Color,
    radius: f64,
    opacity: f64,
    outline: f64,
}

const ORIGINAL: Look =
    Look { name: "Original", color: Color::Of(0), radius: 4.2, opacity: 0.9, outline: 0.7 };
const SYNTHETIC: Look =
    Look { name: "Synthetic", color: Color::Of(1), radius: 3.0, opacity: 0.6, outline: 0.0 };

/// The rows of one kind that are finite.
struct Layer {
    look: &'static Look,
    given: usize,
    rows: Vec<Point>,
}

impl Layer {
    fn new(look: &'static Look, rows: &[Point]) -> Self {
        let finite = rows.iter().copied().filter(|row| row.x.is_finite() && row.y.is_finite());
        Self { look, given: rows.len(), rows: finite.collect() }
    }

    fn open(&self, scale: f64) -> String {
        let (opacity, outline) = (self.look.opacity, num(self.look.outline * scale));
        let ink = Color::Ink.stroke();
        format!("<g fill-opacity='{opacity}'{ink} stroke-width='{outline}'>")
    }

    fn color(&self, groups: &Groups, group: Option<u32>) -> Color {
        let plain = if groups.is_empty() { self.look.color } else { Color::Gray };
        group.and_then(|group| groups.get(&group).copied()).unwrap_or(plain)
    }

    fn draw(&self, svg: &mut Vec<String>, groups: &Groups, frame: &Frame) {
        let rows = some_of(&self.rows, MOST_DRAWN);
        let scale = shrink(rows.len()) * frame.measures.dot;
        svg.push(self.open(scale));
        svg.extend(rows.map(|row| {
            let color = self.color(groups, row.group);
            circle(frame.place(row.x, row.y), self.look.radius * scale, &color.fill())
        }));
        svg.push("</g>".to_owned());
    }

    fn item(&self, groups: &Groups) -> Item {
        let color = self.color(groups, None);
        let sample = circle((5.0, 0.0), self.look.radius, &color.fill());
        let sample = format!("{}{sample}</g>", self.open(1.0));
        Item::of_rows(&sample, self.look.name, self.rows.len().min(MOST_DRAWN), self.given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn few() -> Scatter {
        let point =
            |i: u32| Point { x: f64::from(i).sin(), y: f64::from(i * i % 17), group: Some(i % 14) };
        let mut originals: Vec<_> = (0..30).map(point).collect();
        originals[3].x = f64::NAN;
        originals[4].y = f64::INFINITY;
        Scatter { originals, synthetic: (30..90).map(point).collect(), ..Scatter::default() }
    }

    #[test]
    fn words_cannot_become_elements() {
        let title = "]]></title><script>&\u{8}".to_owned();
        let plot = Scatter { x_label: title.clone(), y_label: title.clone(), title, ..few() };
        assert!(!plot.to_svg().contains("<script"));
        assert!(plot.to_png().is_ok());
    }

    #[test]
    fn same_rows_give_same_bytes_and_those_not_finite_are_left_out() {
        let svg = few().to_svg();
        assert_eq!(svg, few().to_svg());
        assert_eq!(few().to_png().unwrap(), few().to_png().unwrap());
        assert!(svg.contains("Original (28 of 30 shown)") && svg.contains("Synthetic (60)"));
        assert!(svg.contains("(14 groups)") && !svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn many_rows_are_thinned() {
        let point = |i: u32| Point { x: f64::from(i), y: 0.0, group: None };
        let plot = Scatter { synthetic: (0..50_000).map(point).collect(), ..Scatter::default() };
        assert!(plot.to_svg().contains("Synthetic (5,000 of 50,000 shown)"));
        assert_eq!(plot.to_svg().matches("<circle").count(), 5_002);
    }

    #[test]
    fn the_legend_of_a_card_has_as_many_rows_as_it_needs() {
        let rows = |groups: u32, size| {
            let point = |i: u32| Point { x: 1.0, y: f64::from(i), group: Some(i % groups) };
            let plot = Scatter { originals: (0..90).map(point).collect(), size, ..few() };
            let svg = plot.to_svg();
            let places = svg.split("<g transform='translate(").skip(1);
            let heights: std::collections::BTreeSet<_> = places
                .filter(|rest| !rest.contains("rotate"))
                .map(|rest| rest.split(')').next().unwrap().split(' ').nth(1).unwrap().to_owned())
                .collect();
            (heights.len(), svg.contains(">Group<"))
        };
        assert_eq!(rows(3, Size::Page).0, 1);
        assert_eq!(rows(14, Size::Card), (2, false));
        assert!(few().to_svg().contains("class='wl-ink-line'"));
    }

    #[test]
    fn a_png_has_twice_the_size_even_without_rows() {
        for plot in [Scatter::default(), few()] {
            let png = plot.to_png().unwrap();
            assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
            assert_eq!(png[16..24], [0, 0, 7, 8, 0, 0, 4, 176]);
        }
        assert!(Scatter::default().to_svg().contains("No rows to draw"));
    }
}
