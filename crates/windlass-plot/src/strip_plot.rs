//! Strip plots: all values of each row over one axis.

use crate::color::Color;
use crate::frame::{Frame, Labels};
use crate::layout::Layout;
use crate::row_plot::{ReferenceLine, RowPlot};
use crate::scatter::{MAX_POINTS, subsample};
use crate::svg::{circle, group, num, rect, wide_line};

/// Part of the row height that the dots fill, and the tick and the box behind them.
const DOTS: f64 = 0.56;
const BOX: f64 = 0.84;

/// A row of dots.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StripRow {
    /// The name, to the left of the row.
    pub name: String,
    /// The values, in any order. Those that are not finite are omitted.
    pub values: Vec<f64>,
}

/// A plot of rows of dots, as high as they need. Dots are jittered, so that equal values are seen.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StripPlot {
    /// Title and label of the x axis.
    pub labels: Labels,
    /// The rows, from the top.
    pub rows: Vec<StripRow>,
    /// Marks the median and, with a box, the quartiles, for many values; the mean otherwise.
    pub quartiles: bool,
    /// The reference of the values.
    pub reference: Option<ReferenceLine>,
}

impl StripPlot {
    /// The plot as an SVG document without external references.
    #[must_use]
    pub fn to_svg(&self, layout: &Layout) -> String {
        let (frame, middles) = self.row_plot(layout).frame(self.values());
        let mut svg = frame.open();
        for (row, y) in self.rows.iter().zip(middles) {
            self.draw(&mut svg, &frame, row, y);
        }
        frame.close(svg, self.values().next().is_none())
    }

    fn values(&self) -> impl Iterator<Item = f64> + Clone {
        self.rows.iter().flat_map(|row| &row.values).copied().filter(|v| v.is_finite())
    }

    fn row_plot<'a>(&'a self, layout: &'a Layout) -> RowPlot<'a> {
        RowPlot {
            layout,
            labels: &self.labels,
            names: self.rows.iter().map(|row| (&row.name[..], None)).collect(),
            row_height: layout.strip_row,
            reference: self.reference.as_ref(),
        }
    }

    fn draw(&self, svg: &mut Vec<String>, frame: &Frame, row: &StripRow, y: f64) {
        let mut values: Vec<_> = row.values.iter().copied().filter(|v| v.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        if values.is_empty() {
            return;
        }
        let [dots, height] = [DOTS, BOX].map(|part| part * frame.layout.strip_row);
        let (top, bottom) = (y - height / 2.0, y + height / 2.0);
        let middle = if self.quartiles {
            let [from, to] = [0.25, 0.75].map(|q| frame.x_of(quantile(&values, q)));
            svg.push(rect([from, top, to, bottom], &Color::Grid.fill()));
            quantile(&values, 0.5)
        } else {
            // Divided first: the sum of the largest numbers would not be finite.
            let n = values.len() as f64;
            values.iter().map(|v| v / n).sum()
        };
        let (radius, opacity) = match values.len() {
            ..=40 => (3.2, 0.55),
            41..=250 => (2.2, 0.4),
            _ => (1.8, 0.22),
        };
        let shown = subsample(&values, MAX_POINTS / self.rows.len()).enumerate();
        let circles = shown.map(|(i, v)| {
            let y = y + jitter(i) * dots;
            circle((frame.x_of(*v), y), radius * frame.layout.marker_scale, "")
        });
        let paint = format!(" fill-opacity='{opacity}'{}", Color::Palette(0).fill());
        group(svg, &paint, circles);
        let tick = format!("M{} {}V{}", num(frame.x_of(middle)), num(top), num(bottom));
        svg.push(wide_line(&tick, Color::Ink, 2.0));
    }
}

/// From −½ to ½ in steps of the golden ratio, so that neighbors are far apart.
fn jitter(i: usize) -> f64 {
    (i as f64 * 0.618_033_988_75 + 0.5).fract() - 0.5
}

/// A quantile of sorted values, interpolated linearly.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let (below, t) = (at.floor(), at.fract());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
    let below = below as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] * (1.0 - t) + sorted[above] * t
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render_png;
    use crate::svg::numbers;

    fn row(name: &str, values: &[f64]) -> StripRow {
        StripRow { name: name.to_owned(), values: values.to_vec() }
    }

    fn plot(rows: Vec<StripRow>) -> StripPlot {
        StripPlot { rows, ..StripPlot::default() }
    }

    #[test]
    fn dots_stand_at_their_values_in_their_rows() {
        let rows = vec![row("a", &[3.0, 1.0, f64::NAN, 2.0]), row("b", &[1.0; 15])];
        for layout in [Layout::PAGE, Layout::CARD] {
            let plot = plot(rows.clone());
            let svg = plot.to_svg(&layout);
            let (frame, middles) = plot.row_plot(&layout).frame(plot.values());
            let (xs, ys) = (numbers(&svg, "circle", "cx"), numbers(&svg, "circle", "cy"));
            let expected = [1.0, 2.0, 3.0].map(|v| num(frame.x_of(v)));
            assert_eq!((&xs[..3], xs.len()), (&expected[..], 18));
            assert!(xs[3..].iter().all(|x| *x == xs[0]));
            let half = layout.strip_row / 2.0;
            assert!(ys[..3].iter().all(|y| (y - middles[0]).abs() < half));
            assert!(ys[3..].iter().all(|y| (y - middles[1]).abs() < half));
            // Equal values stand apart, and always in the same places.
            let apart: std::collections::BTreeSet<_> =
                ys[3..].iter().map(|y| y.to_bits()).collect();
            assert!(apart.len() >= 10 && svg == plot.to_svg(&layout));
        }
    }

    #[test]
    fn the_tick_is_the_mean_or_the_median() {
        let values = [0.0, 1.0, 2.0, 3.0, 94.0];
        for (quartiles, middle, boxes) in [(false, 20.0, 1), (true, 2.0, 2)] {
            let plot = StripPlot { quartiles, ..plot(vec![row("a", &values)]) };
            let svg = plot.to_svg(&Layout::PAGE);
            let (frame, _) = plot.row_plot(&Layout::PAGE).frame(plot.values());
            let tick = svg.split("<g stroke-width='2'>").nth(1).unwrap();
            assert!(tick.contains(&format!("d='M{} ", num(frame.x_of(middle)))));
            // The paper is one of them.
            assert_eq!(svg.matches("<rect").count(), boxes);
            if quartiles {
                let (from, to) = (frame.x_of(1.0), frame.x_of(3.0));
                assert_eq!(numbers(&svg, "rect", "x"), [num(from)]);
                assert_eq!(numbers(&svg, "rect", "width")[1], num(to - from));
            }
        }
    }

    #[test]
    fn quantiles_are_between_values_in_proportion() {
        for (part, expected) in [(0.0, 1.0), (0.25, 1.75), (0.5, 2.5), (0.75, 5.25), (1.0, 12.0)] {
            assert_eq!(quantile(&[1.0, 2.0, 3.0, 12.0], part), expected);
        }
        assert_eq!(quantile(&[7.0], 0.25), 7.0);
    }

    #[test]
    fn many_values_are_thinned_and_extreme_ones_do_no_harm() {
        let many: Vec<_> = (0..20_000).map(f64::from).collect();
        let svg = plot(vec![row("a", &many), row("b", &many)]).to_svg(&Layout::PAGE);
        assert_eq!(svg.matches("<circle").count(), 5_000);
        for quartiles in [false, true] {
            let far = plot(vec![row("a", &[f64::MAX, f64::MAX, -f64::MAX]), row("b", &[5e-324])]);
            let svg = StripPlot { quartiles, ..far }.to_svg(&Layout::PAGE);
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
    }

    #[test]
    fn text_is_escaped_and_an_empty_plot_says_so() {
        let text = "]]></text><script>&\u{8}";
        let evil =
            StripPlot { labels: Labels::new(text, text, ""), ..plot(vec![row(text, &[1.0])]) };
        let svg = evil.to_svg(&Layout::PAGE);
        assert!(!svg.contains("<script") && render_png(&svg).is_ok());
        assert!(svg.contains("class='wl-c0'") && !svg.contains(">Nothing to draw<"));
        for empty in [plot(vec![]), plot(vec![row("a", &[f64::NAN])]), plot(vec![row("a", &[])])] {
            let svg = empty.to_svg(&Layout::PAGE);
            assert!(svg.contains(">Nothing to draw<") && render_png(&svg).is_ok());
        }
    }
}
