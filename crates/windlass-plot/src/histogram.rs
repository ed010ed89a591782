//! Histograms of several series, stacked, with an optional curve between 0 and 1.

use crate::axis::Axis;
use crate::color::Color;
use crate::format::thousands;
use crate::frame::{Frame, Labels};
use crate::layout::Layout;
use crate::legend::{LineStyle, Sample, series_legend};
use crate::line_plot::LineSeries;
use crate::svg::{group, num, rect, truncate};

/// Maximum width of a name in the legend, in ems.
const MAX_NAME_EMS: f64 = 24.0;
/// Maximum number of bars.
const MAX_BINS: usize = 40;

/// A histogram: the values of each series, stacked in bars of the same width, such as the targets of original and
/// synthetic rows. Values that are not finite are omitted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    /// Title and axis labels.
    pub labels: Labels,
    /// A name and the values of each series; the first is at the bottom. More than twelve series are gray.
    pub series: Vec<(String, Vec<f64>)>,
    /// A curve with values in [0, 1]: 0 is the bottom of the frame, 1 its top. Without points it is not drawn.
    pub curve: LineSeries,
}

impl Histogram {
    /// The plot as an SVG document without external references.
    #[must_use]
    pub fn to_svg(&self, layout: &Layout) -> String {
        let (low, high) = self
            .values()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let count = self.values().count();
        let bins = (count as f64).sqrt().ceil().clamp(1.0, MAX_BINS as f64);
        let width = (high / bins - low / bins).max(f64::MIN_POSITIVE);
        #[expect(clippy::cast_possible_truncation, reason = "at most 40")]
        #[expect(clippy::cast_sign_loss, reason = "not negative")]
        let bin = |value: f64| ((value / width - low / width).clamp(0.0, bins - 1.0)) as usize;
        let mut counts = vec![[0_u64; MAX_BINS]; self.series.len()];
        for (counts, (_, values)) in counts.iter_mut().zip(&self.series) {
            values.iter().filter(|v| v.is_finite()).for_each(|&value| counts[bin(value)] += 1);
        }
        let total = |bin: usize| counts.iter().map(|counts| counts[bin]).sum::<u64>();
        let top = (0..MAX_BINS).map(total).max().unwrap_or(0).max(1) as f64 * 1.05;
        let y_axis = Axis::exact((0.0, top), layout.max_y_ticks);
        let frame = Frame::new(layout, &self.labels, y_axis, |width| {
            Axis::linear_within(self.values(), width, layout.max_x_ticks)
        });
        let color = |i: usize| LineStyle::of_series(i, self.series.len()).color;
        let bars = self.series.iter().enumerate().map(|(i, (name, values))| {
            let name = truncate(name, MAX_NAME_EMS);
            (Sample::Dot(color(i)), format!("{name} ({})", thousands(&values.len())))
        });
        let style = LineStyle { color: Color::Ink, dashed: false };
        let curve = (!self.curve.points.is_empty())
            .then(|| (Sample::Line(style), truncate(&self.curve.name, MAX_NAME_EMS)));
        let legend = series_legend(&frame, (self.series.len(), "series"), bars.chain(curve));
        let frame = frame.with_legend(legend);
        let mut svg = frame.open();
        let mut bases = [0_u64; MAX_BINS];
        for (i, counts) in counts.iter().enumerate() {
            let bars = counts.iter().zip(&mut bases).enumerate().filter(|(_, (n, _))| **n > 0);
            let bar = |(bin, (&count, base)): (usize, (&u64, &mut u64))| {
                let edge = |bin: usize| {
                    let share = bin as f64 / bins;
                    low * (1.0 - share) + high * share
                };
                let (left, bottom) = frame.place((edge(bin), *base as f64));
                *base += count;
                let (right, top) = frame.place((edge(bin + 1), *base as f64));
                rect([left + 0.5, top, (right - 0.5).max(left + 1.0), bottom], "")
            };
            let paint = format!(" fill-opacity='0.75'{}", color(i).fill());
            group(&mut svg, &paint, bars.map(bar).collect::<Vec<_>>());
        }
        let inside = |at: &&(f64, f64)| (low..=high).contains(&at.0) && at.1.is_finite();
        let places = self.curve.points.iter().filter(inside).map(|&(x, y)| {
            let (x, y) = frame.place((x, y.clamp(0.0, 1.0) * top));
            format!("{} {}", num(x), num(y))
        });
        let path = places.collect::<Vec<_>>().join("L");
        if !path.is_empty() {
            let line = style.line(&format!("M{path}"));
            svg.push(format!("<g fill='none' stroke-width='2'>{line}</g>"));
        }
        frame.close(svg, count == 0)
    }

    fn values(&self) -> impl Iterator<Item = f64> + Clone {
        self.series.iter().flat_map(|(_, values)| values).copied().filter(|v| v.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render_png;
    use crate::svg::numbers;

    fn plot() -> Histogram {
        let below: Vec<f64> = (0..90).map(|i| f64::from(i % 9)).collect();
        Histogram {
            labels: Labels::new("title", "y", "rows"),
            series: vec![
                ("Original".to_owned(), below),
                ("Synthetic".to_owned(), vec![8.0, 8.0, f64::NAN]),
            ],
            curve: LineSeries::new("relevance", [(-5.0, 0.0), (0.0, 0.0), (8.0, 1.0)]),
        }
    }

    #[test]
    fn bars_are_stacked_and_the_curve_fills_the_height() {
        for layout in [Layout::PAGE, Layout::CARD] {
            let svg = plot().to_svg(&layout);
            assert!(svg.contains(">Original (90)<") && svg.contains(">relevance<"));
            // After the background: nine bars of ten rows, and one of two on top of the last.
            let (tops, heights) = (numbers(&svg, "rect", " y"), numbers(&svg, "rect", " height"));
            assert_eq!(heights.len(), 1 + 9 + 1);
            let (last, stacked) = (heights[9], heights[10]);
            assert!((last / stacked - 5.0).abs() < 0.2, "{last} {stacked}");
            // The background has no place.
            assert!((tops[8] - stacked - tops[9]).abs() < 0.2);
            let line = svg.split("stroke-width='2'><path d='M").nth(1).unwrap();
            let places: Vec<&str> = line.split('\'').next().unwrap().split('L').collect();
            assert_eq!(places.len(), 2, "points outside the values are omitted");
            assert!(render_png(&svg).is_ok());
        }
    }

    #[test]
    fn extreme_and_missing_values_are_drawn_or_said() {
        for values in [vec![3.0; 4], vec![f64::MAX, -f64::MAX], vec![5e-324, 0.0], vec![1.0]] {
            let plot = Histogram { series: vec![("a".to_owned(), values)], ..plot() };
            let svg = plot.to_svg(&Layout::PAGE);
            assert!(!svg.contains("NaN") && !svg.contains("inf") && render_png(&svg).is_ok());
        }
        for empty in [vec![], vec![("a".to_owned(), vec![f64::NAN])]] {
            let svg = Histogram { series: empty, ..plot() }.to_svg(&Layout::PAGE);
            assert!(svg.contains(">Nothing to draw<") && render_png(&svg).is_ok());
        }
    }
}
