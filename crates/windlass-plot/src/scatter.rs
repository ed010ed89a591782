//! Scatter plots: series of points, colored by series or by group.

use crate::color::Color;
use crate::format::thousands;
use crate::frame::{Frame, Labels};
use crate::layout::Layout;
use crate::legend::{Item, LineStyle, Sample, group_colors, item_legend, series_legend};
use crate::svg::{circle, group, num, truncate, wide_line};

/// Maximum width of a name in the legend, in ems.
const MAX_NAME_EMS: f64 = 16.0;
/// Maximum number of points drawn: more would add megabytes but no information.
pub(crate) const MAX_POINTS: usize = 5_000;

/// A point of a scatter plot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Its coordinates.
    pub at: (f64, f64),
    /// The group of the row, if any.
    pub group: Option<u32>,
}

/// A series of points. Those that are not finite are omitted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointSeries {
    /// Name in the legend.
    pub name: String,
    /// The points.
    pub points: Vec<Point>,
}

impl PointSeries {
    /// A series without groups.
    pub fn new(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let point = |at| Point { at, group: None };
        Self { name: name.into(), points: points.into_iter().map(point).collect() }
    }

    pub(crate) fn finite(&self) -> impl Iterator<Item = Point> + Clone {
        self.points.iter().copied().filter(|point| point.at.0.is_finite() && point.at.1.is_finite())
    }

    /// The name, and the number of points drawn if that is not all of them.
    pub(crate) fn caption(&self, drawn: usize) -> String {
        let all = self.points.len();
        let of = format!(" ({} of {} shown)", thousands(&drawn), thousands(&all));
        let note = if drawn == all { String::new() } else { of };
        truncate(&self.name, MAX_NAME_EMS) + &note
    }
}

/// A plot of points, such as predicted against true values. Of more than 5,000 a part is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scatter {
    /// Title and axis labels.
    pub labels: Labels,
    /// The points. More than twelve series are gray and have no legend.
    pub series: Vec<PointSeries>,
    /// Colors points by group instead of by series, with the first series larger and on top: for
    /// original and synthetic rows.
    pub by_group: bool,
    /// Draws the line on which both values are equal; both axes then have the same range.
    pub diagonal: bool,
}

impl Scatter {
    /// The plot as an SVG document without external references.
    #[must_use]
    pub fn to_svg(&self, layout: &Layout) -> String {
        let mirrored =
            self.finite().filter(|_| self.diagonal).map(|point| (point.at.1, point.at.0));
        let places = self.finite().map(|point| point.at).chain(mirrored);
        let frame = Frame::linear(layout, &self.labels, places);
        if self.by_group { self.draw_groups(frame) } else { self.draw_series(frame) }
    }

    fn finite(&self) -> impl Iterator<Item = Point> + Clone {
        self.series.iter().flat_map(PointSeries::finite)
    }

    fn draw_series(&self, frame: Frame) -> String {
        let (count, max) = (self.series.len(), MAX_POINTS / self.series.len().max(1));
        let color = |i: usize| LineStyle::of_series(i, count).color;
        let series: Vec<Vec<_>> =
            self.series.iter().map(|series| series.finite().collect()).collect();
        let drawn = |i: usize| series[i].len().min(max);
        let named = self.series.iter().enumerate().filter(|(_, series)| !series.name.is_empty());
        let entries = named.map(|(i, series)| (Sample::Dot(color(i)), series.caption(drawn(i))));
        let legend = series_legend(&frame, (count, "series"), entries);
        let frame = frame.with_legend(legend);
        let mut svg = frame.open();
        if self.diagonal {
            let [left, right, top, bottom] =
                [frame.left, frame.right, frame.top, frame.bottom].map(num);
            svg.push(wide_line(&format!("M{left} {bottom}L{right} {top}"), Color::Gray, 1.5));
        }
        let radius = 3.6 * marker_scale((0..count).map(drawn).sum(), frame.layout);
        for (i, points) in series.iter().enumerate() {
            let paint = format!(" fill-opacity='0.6'{}", color(i).fill());
            draw_points(&mut svg, &frame, subsample(points, max), radius, &paint);
        }
        frame.close(svg, self.finite().next().is_none())
    }

    fn draw_groups(&self, frame: Frame) -> String {
        let groups = group_colors(self.finite().filter_map(|point| point.group));
        let radius = |i: usize| if i == 0 { 4.2 } else { 3.0 };
        let attributes = |i: usize, scale: f64| {
            let (opacity, outline) = if i == 0 { (0.9, 0.7) } else { (0.6, 0.0) };
            let (ink, width) = (Color::Ink.stroke(), num(outline * scale));
            format!(" fill-opacity='{opacity}'{ink} stroke-width='{width}'")
        };
        let fill = |i: usize, group: Option<u32>| {
            let plain = if groups.is_empty() { Color::Palette(i) } else { Color::Gray };
            group.and_then(|group| groups.get(&group).copied()).unwrap_or(plain).fill()
        };
        let items = self.series.iter().enumerate().map(|(i, series)| {
            let sample = circle((5.0, 0.0), radius(i), &fill(i, None));
            let sample = format!("<g{}>{sample}</g>", attributes(i, 1.0));
            let drawn = series.finite().count().min(MAX_POINTS);
            Item::of_rows(&sample, &series.name, drawn, series.points.len())
        });
        let items = items.chain(Item::of_groups(&groups, frame.width()));
        let legend = item_legend(&frame, items);
        let frame = frame.with_legend(legend);
        let mut svg = frame.open();
        // The first series is drawn last, so that it stays visible.
        for (i, series) in self.series.iter().enumerate().rev() {
            let points: Vec<_> = series.finite().collect();
            let points = subsample(&points, MAX_POINTS);
            let scale = marker_scale(points.len(), frame.layout);
            let circles = points.map(|point| {
                circle(frame.place(point.at), radius(i) * scale, &fill(i, point.group))
            });
            group(&mut svg, &attributes(i, scale), circles);
        }
        frame.close(svg, self.finite().next().is_none())
    }
}

/// Draws points of one color.
pub(crate) fn draw_points<'a>(
    svg: &mut Vec<String>,
    frame: &Frame,
    points: impl Iterator<Item = &'a Point>,
    radius: f64,
    paint: &str,
) {
    group(svg, paint, points.map(|point| circle(frame.place(point.at), radius, "")));
}

/// At most `max` of them, evenly spread.
pub(crate) fn subsample<T>(all: &[T], max: usize) -> impl ExactSizeIterator<Item = &T> {
    let drawn = all.len().min(max);
    (0..drawn).map(move |i| &all[i * all.len() / drawn])
}

/// Factor of the radius of a number of markers: many are smaller.
pub(crate) fn marker_scale(drawn: usize, layout: &Layout) -> f64 {
    let crowded = usize::from(drawn > 600) + usize::from(drawn > 2_000);
    [1.0, 0.75, 0.5][crowded] * layout.marker_scale
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render_png;
    use crate::svg::numbers;

    fn plot(series: &[&[(f64, f64)]]) -> Scatter {
        let name = |i: usize| ["first", "second", "third"][i];
        let series = series.iter().enumerate();
        let series = series.map(|(i, points)| PointSeries::new(name(i), points.iter().copied()));
        Scatter { series: series.collect(), ..Scatter::default() }
    }

    /// 30 original rows, two of them not finite, and 60 synthetic rows in 14 groups.
    fn grouped() -> Scatter {
        let point =
            |i: u32| Point { at: (f64::from(i).sin(), f64::from(i * i % 17)), group: Some(i % 14) };
        let mut originals: Vec<_> = (0..30).map(point).collect();
        originals[3].at.0 = f64::NAN;
        originals[4].at.1 = f64::INFINITY;
        let series = [("Original", originals), ("Synthetic", (30..90).map(point).collect())];
        let series = series.map(|(name, points)| PointSeries { name: name.into(), points });
        Scatter { series: series.into(), by_group: true, ..Scatter::default() }
    }

    /// The places of the points, which come after those of the legend.
    fn drawn(svg: &str, legend: usize) -> Vec<(f64, f64)> {
        let (xs, ys) = (numbers(svg, "circle", "cx"), numbers(svg, "circle", "cy"));
        xs.into_iter().zip(ys).skip(legend).collect()
    }

    #[test]
    fn equal_values_are_on_the_diagonal() {
        for layout in [Layout::PAGE, Layout::CARD] {
            let equal = plot(&[&[(-40.0, -40.0), (1.0, 1.0), (2.5, 2.5)], &[(0.0, 90.0)]]);
            let svg = Scatter { diagonal: true, ..equal.clone() }.to_svg(&layout);
            let path = svg.split("stroke-width='1.5'><path d='M").nth(1).unwrap();
            let ends = path.split('\'').next().unwrap().replace('L', " ");
            let ends: Vec<f64> = ends.split(' ').map(|v| v.parse().unwrap()).collect();
            let slope = (ends[3] - ends[1]) / (ends[2] - ends[0]);
            let dots = drawn(&svg, 2);
            for (x, y) in &dots[..3] {
                // Places are rounded to a tenth.
                assert!((ends[1] + slope * (x - ends[0]) - y).abs() < 0.2);
            }
            // Above it, since the second value is greater.
            assert!(dots[3].1 < ends[1] + slope * (dots[3].0 - ends[0]) - 50.0);
            let free = equal.to_svg(&layout);
            // Without it, the points may fill the width.
            assert!(drawn(&free, 2)[2].0 > dots[2].0 + 50.0);
            assert!(!free.contains("stroke-width='1.5'"));
        }
    }

    #[test]
    fn series_have_colors_and_names() {
        let svg = plot(&[&[(0.0, 0.0)], &[(1.0, 1.0), (f64::NAN, 2.0)]]).to_svg(&Layout::PAGE);
        assert!(svg.contains(">first<") && svg.contains(">second (1 of 2 shown)<"));
        // In the legend and of the points.
        let count = |class: &str| svg.matches(&format!("class='{class}'")).count();
        assert_eq!((count("wl-c0"), count("wl-c1"), count("wl-c2")), (2, 2, 0));
        let many = Scatter { series: vec![PointSeries::default(); 13], ..Scatter::default() };
        assert!(many.to_svg(&Layout::PAGE).contains(">13 series, too many for a legend<"));
    }

    #[test]
    fn at_most_five_thousand_are_drawn() {
        let points: Vec<_> = (0..9_000).map(|i| (f64::from(i), 0.0)).collect();
        let svg = plot(&[&points, &points, &points[..10]]).to_svg(&Layout::PAGE);
        assert_eq!(drawn(&svg, 3).len(), 2 * 1_666 + 10);
        let grouped = Scatter { by_group: true, ..plot(&[&[], &points]) };
        let svg = grouped.to_svg(&Layout::PAGE);
        assert!(svg.contains("second (5,000 of 9,000 shown)"));
        assert_eq!(drawn(&svg, 2).len(), 5_000);
    }

    #[test]
    fn groups_have_colors_and_rows_that_are_not_finite_are_omitted() {
        let svg = grouped().to_svg(&Layout::PAGE);
        assert_eq!(svg, grouped().to_svg(&Layout::PAGE));
        assert!(svg.contains("Original (28 of 30 shown)") && svg.contains("Synthetic (60)"));
        assert!(svg.contains("(14 groups)") && !svg.contains("NaN") && !svg.contains("inf"));
        assert!(svg.contains("class='wl-ink-line'"));
    }

    #[test]
    fn the_legend_of_a_card_has_as_many_rows_as_it_needs() {
        let rows = |groups: u32, layout: &Layout| {
            let point = |i: u32| Point { at: (1.0, f64::from(i)), group: Some(i % groups) };
            let mut plot = grouped();
            plot.series[0].points = (0..90).map(point).collect();
            let svg = plot.to_svg(layout);
            let places = svg.split("<g transform='translate(").skip(1);
            let heights: std::collections::BTreeSet<_> = places
                .filter(|rest| !rest.contains("rotate"))
                .map(|rest| rest.split(')').next().unwrap().split(' ').nth(1).unwrap().to_owned())
                .collect();
            (heights.len(), svg.contains(">Group<"))
        };
        assert_eq!(rows(3, &Layout::PAGE).0, 1);
        assert_eq!(rows(14, &Layout::CARD), (2, false));
    }

    #[test]
    fn labels_are_escaped_and_an_empty_plot_says_so() {
        let text = "]]></text><script>&\u{8}";
        let evil = Scatter {
            labels: Labels::new(text, text, text),
            series: vec![PointSeries::new(text, [(f64::MAX, -f64::MAX)])],
            diagonal: true,
            ..Scatter::default()
        };
        let svg = evil.to_svg(&Layout::PAGE);
        assert!(!svg.contains("<script") && render_png(&svg).is_ok());
        assert!(!svg.contains(">Nothing to draw<"));
        for by_group in [false, true] {
            for empty in [plot(&[]), plot(&[&[]]), plot(&[&[(f64::NAN, 1.0)]])] {
                let svg = Scatter { diagonal: true, by_group, ..empty }.to_svg(&Layout::PAGE);
                assert!(svg.contains(">Nothing to draw<") && render_png(&svg).is_ok());
            }
        }
    }
}
