//! Forest plots: means with intervals, one in each row.

use crate::color::Color;
use crate::frame::{Frame, Labels};
use crate::layout::Layout;
use crate::row_plot::{ReferenceLine, RowPlot};
use crate::svg::{circle, group, line, num};

/// The meaning of the color of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Emphasis {
    /// Neither good nor bad: gray.
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
            Self::Good => Color::Palette(2),
            Self::Bad => Color::Palette(8),
        }
    }
}

/// A row of a forest plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForestRow {
    /// The name, to the left of the row.
    pub name: String,
    /// The mean, a dot; omitted if it is not finite.
    pub mean: f64,
    /// The low end. If it is not finite, the interval is open to the border, with an arrow.
    pub low: f64,
    /// The high end, likewise.
    pub high: f64,
    /// The values behind the mean, as small faint dots; may be empty.
    pub points: Vec<f64>,
    /// The color.
    pub emphasis: Emphasis,
    /// A heading above the row.
    pub heading: Option<String>,
}

/// A plot of means with intervals, as high as its rows need.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ForestPlot {
    /// Title and label of the x axis.
    pub labels: Labels,
    /// The rows, from the top.
    pub rows: Vec<ForestRow>,
    /// The reference of the means.
    pub reference: Option<ReferenceLine>,
}

impl ForestPlot {
    /// The plot as an SVG document without external references.
    #[must_use]
    pub fn to_svg(&self, layout: &Layout) -> String {
        let (frame, middles) = self.row_plot(layout).frame(self.values());
        let mut svg = frame.open();
        for (row, y) in self.rows.iter().zip(middles) {
            row.draw(&mut svg, &frame, y);
        }
        frame.close(svg, self.values().next().is_none())
    }

    fn values(&self) -> impl Iterator<Item = f64> + Clone {
        self.rows.iter().flat_map(ForestRow::values)
    }

    fn row_plot<'a>(&'a self, layout: &'a Layout) -> RowPlot<'a> {
        RowPlot {
            layout,
            labels: &self.labels,
            names: self.rows.iter().map(|row| (&row.name[..], row.heading.as_deref())).collect(),
            row_height: layout.forest_row,
            reference: self.reference.as_ref(),
        }
    }
}

impl ForestRow {
    fn values(&self) -> impl Iterator<Item = f64> + Clone {
        let points = self.points.iter().copied();
        [self.mean, self.low, self.high].into_iter().chain(points).filter(|v| v.is_finite())
    }

    fn draw(&self, svg: &mut Vec<String>, frame: &Frame, y: f64) {
        if self.values().next().is_none() {
            return;
        }
        let (color, scale) = (self.emphasis.color(), frame.layout.marker_scale);
        if !self.points.is_empty() {
            let below = y + 0.3 * frame.layout.forest_row;
            let points = self.points.iter().filter(|v| v.is_finite());
            let dots = points.map(|v| circle((frame.x_of(*v), below), 2.0 * scale, ""));
            group(svg, &format!(" fill-opacity='0.4'{}", color.fill()), dots);
        }
        let (low, low_cap) = end(self.low, frame, frame.left, y, 1.0);
        let (high, high_cap) = end(self.high, frame, frame.right, y, -1.0);
        let bar = format!("M{} {}H{}{low_cap}{high_cap}", num(low), num(y), num(high));
        let (bar, width) = (line(&bar, color), num(2.0 * scale));
        svg.push(format!("<g fill='none' stroke-width='{width}'>{bar}</g>"));
        if self.mean.is_finite() {
            svg.push(circle((frame.x_of(self.mean), y), 4.5 * scale, &color.fill()));
        }
    }
}

/// The place of an end, and the path of its cap, or of an arrow if it is open.
fn end(value: f64, frame: &Frame, border: f64, y: f64, inwards: f64) -> (f64, String) {
    let (x, tip) =
        if value.is_finite() { (frame.x_of(value), 0.0) } else { (border, 6.0 * inwards) };
    let (above, below, side) = (num(y - 4.0), num(y + 4.0), num(x + tip));
    (x, format!("M{side} {above}L{} {} {side} {below}", num(x), num(y)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render_png;
    use crate::svg::numbers;

    fn row(name: &str, low: f64, mean: f64, high: f64) -> ForestRow {
        ForestRow { name: name.to_owned(), mean, low, high, ..ForestRow::default() }
    }

    fn plot(rows: Vec<ForestRow>) -> ForestPlot {
        let reference = ReferenceLine { at: 0.0, below: "better".into(), above: "worse".into() };
        ForestPlot { rows, reference: Some(reference), ..ForestPlot::default() }
    }

    fn frame(plot: &ForestPlot) -> (Frame<'_>, Vec<f64>) {
        plot.row_plot(&Layout::CARD).frame(plot.values())
    }

    #[test]
    fn means_stand_in_rows_at_their_values() {
        let plot = plot(vec![
            row("a", -3.0, -2.0, -1.0),
            row("b", 0.0, 1.0, 3.0),
            row("c", 0.0, 4.0, 5.0),
        ]);
        let svg = plot.to_svg(&Layout::CARD);
        let (xs, ys) = (numbers(&svg, "circle", "cx"), numbers(&svg, "circle", "cy"));
        // Places are rounded to a tenth: from −2 to 1 as far as from 1 to 4.
        assert!(((xs[1] - xs[0]) - (xs[2] - xs[1])).abs() < 0.3 && xs[1] - xs[0] > 50.0);
        assert!((ys[1] - ys[0] - 20.0).abs() < 0.2 && (ys[2] - ys[1] - 20.0).abs() < 0.2);
        let places = ["a", "b", "c"].map(|name| svg.find(&format!(">{name}<")).unwrap());
        assert!(places.is_sorted());
        // The reference is two thirds of the way from the first mean to the second.
        let (frame, _) = frame(&plot);
        assert!((frame.x_of(0.0) - (xs[0] + 2.0 * xs[1]) / 3.0).abs() < 0.2);
        assert!(svg.contains(&format!("M{} {}V", num(frame.x_of(0.0)), num(frame.top - 4.0))));
    }

    #[test]
    fn ends_that_are_not_finite_are_open_to_the_border() {
        let plot = plot(vec![row("a", f64::NEG_INFINITY, 1.0, 2.0), row("b", 0.0, 1.0, f64::NAN)]);
        let (svg, (frame, middles)) = (plot.to_svg(&Layout::CARD), frame(&plot));
        let (left, right) = (num(frame.left), num(frame.right));
        let starts = |y: f64| format!("M{left} {}H{}", num(y), num(frame.x_of(2.0)));
        assert!(svg.contains(&starts(middles[0])));
        let ends = format!("M{} {}H{right}M", num(frame.x_of(0.0)), num(middles[1]));
        assert!(svg.contains(&ends) && !svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn emphasis_is_a_class_and_points_are_dots() {
        let mut rows = vec![row("a", 0.0, 1.0, 2.0), row("b", 0.0, 1.0, 2.0)];
        rows[0].emphasis = Emphasis::Good;
        rows[1].emphasis = Emphasis::Bad;
        rows[1].points = vec![0.5, f64::NAN, 1.5];
        let svg = plot(rows).to_svg(&Layout::CARD);
        for class in ["'wl-c2'", "'wl-c2-line'", "'wl-c8'", "'wl-c8-line'", "'wl-paper'"] {
            assert!(svg.contains(class), "{class}");
        }
        assert_eq!(svg.matches("<circle").count(), 4);
    }

    #[test]
    fn height_grows_with_rows_and_headings() {
        let height = |rows| numbers(&plot(rows).to_svg(&Layout::CARD), "svg", " height")[0];
        let one = height(vec![row("a", 0.0, 1.0, 2.0); 5]);
        assert!((height(vec![row("a", 0.0, 1.0, 2.0); 9]) - one - 80.0).abs() < 0.2);
        let headed = ForestRow { heading: Some("ridge".into()), ..row("a", 0.0, 1.0, 2.0) };
        assert!((height(vec![headed; 5]) - one - 5.0 * 21.0).abs() < 0.2);
    }

    #[test]
    fn text_is_escaped_and_an_empty_plot_says_so() {
        let text = "]]></text><script>&\u{8}10^3".to_owned();
        let row = ForestRow { heading: Some(text.clone()), ..row(&text, 0.0, 1.0, 2.0) };
        let reference = ReferenceLine { at: 1.5, below: text.clone(), above: text.clone() };
        let labels = Labels::new(&text, &text, "");
        let evil = ForestPlot { labels, rows: vec![row], reference: Some(reference) };
        let svg = evil.to_svg(&Layout::PAGE);
        assert!(!svg.contains("<script") && render_png(&svg).is_ok());
        assert!(svg.matches("&lt;script").count() >= 5 && !svg.contains(">Nothing to draw<"));
        let nan = ForestRow {
            low: f64::NAN,
            mean: f64::INFINITY,
            high: f64::NAN,
            ..evil.rows[0].clone()
        };
        for empty in [ForestPlot::default(), plot(vec![nan]), plot(vec![])] {
            let svg = empty.to_svg(&Layout::CARD);
            assert!(svg.contains(">Nothing to draw<") && render_png(&svg).is_ok());
        }
    }
}
