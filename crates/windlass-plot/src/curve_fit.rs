//! Fitted curves over the rows that they were fitted to, for data with one feature.

use crate::axis::Axis;
use crate::color::Color;
use crate::curve::{self, Curve, Stroke, StyledCurve, caption, clip, thin};
use crate::frame::{Frame, Labels, Legend};
use crate::layout::Layout;
use crate::legend::{LineStyle, Sample, series_legend};
use crate::line_plot::LineSeries;
use crate::scatter::{MAX_POINTS, Point, PointSeries, draw_points, marker_scale, subsample};
use crate::svg::num;

/// Radii of the training rows and of others.
const RADII: [f64; 2] = [4.2, 2.6];

/// A plot of rows, of the true curve and of curves fitted to the rows. Values that are not finite are
/// omitted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CurveFit {
    /// Title and axis labels.
    pub labels: Labels,
    /// The true curve, thin and dashed.
    pub truth: LineSeries,
    /// The rows: first the training rows, which are on top, then others, which are smaller and
    /// translucent. Of more than 5,000 a part is drawn.
    pub points: Vec<PointSeries>,
    /// The fitted curves, without their spread. If there are more than twelve of them and of other
    /// rows, all are gray and have no legend.
    pub curves: Vec<LineSeries>,
    /// The range of the y axis; the rest is cut off.
    pub y_range: (f64, f64),
}

impl CurveFit {
    /// The plot as an SVG document without external references.
    #[must_use]
    pub fn to_svg(&self, layout: &Layout) -> String {
        let points: Vec<Vec<_>> = self.points.iter().map(|series| self.visible(series)).collect();
        let max = MAX_POINTS / points.len().max(1);
        let frame = self.frame(layout);
        let legend = self.legend(&frame, &points, max);
        let frame = frame.with_legend(legend);
        let mut svg = frame.open();
        let drawn = points.iter().map(|points| points.len().min(max)).sum();
        let scale = marker_scale(drawn, layout);
        for (i, points) in points.iter().enumerate().skip(1) {
            let paint = format!(" fill-opacity='0.45'{}", self.point_color(i).fill());
            draw_points(&mut svg, &frame, subsample(points, max), RADII[1] * scale, &paint);
        }
        let curves: Vec<_> =
            self.lines().map(|(style, line)| (style, clipped(&frame, line))).collect();
        let styled =
            curves.iter().map(|(style, curve)| StyledCurve { style: *style, curve, dotted: false });
        let styled: Vec<_> = styled.collect();
        curve::draw(&mut svg, &styled[..1], &Stroke::THIN);
        curve::draw(&mut svg, &styled[1..], &Stroke::of_series(self.colored()));
        if let Some(given) = points.first() {
            // An outline keeps the points apart from each other and from the curves.
            svg.push(format!("<g{} stroke-width='{}'>", Color::Paper.stroke(), num(scale)));
            let paint = self.point_color(0).fill();
            draw_points(&mut svg, &frame, subsample(given, max), RADII[0] * scale, &paint);
            svg.push("</g>".to_owned());
        }
        frame.close(svg, self.xs().next().is_none())
    }

    /// The points of a series inside the frame.
    fn visible(&self, series: &PointSeries) -> Vec<Point> {
        let (low, high) = self.y_range;
        series.finite().filter(|point| (low..=high).contains(&point.at.1)).collect()
    }

    /// Everything that the x axis must contain.
    fn xs(&self) -> impl Iterator<Item = f64> + Clone {
        let points = self.points.iter().flat_map(PointSeries::finite).map(|point| point.at.0);
        let lines = self.curves.iter().chain([&self.truth]).flat_map(|line| &line.points);
        points.chain(lines.filter(|at| is_finite(at)).map(|at| at.0))
    }

    fn frame<'a>(&'a self, layout: &'a Layout) -> Frame<'a> {
        let y_axis = Axis::exact(self.y_range, layout.max_y_ticks);
        Frame::new(layout, &self.labels, y_axis, |width| {
            Axis::linear_within(self.xs(), width, layout.max_x_ticks)
        })
    }

    /// Number of series with a color: all rows but the training rows, and all curves.
    fn colored(&self) -> usize {
        self.points.len().saturating_sub(1) + self.curves.len()
    }

    fn point_color(&self, i: usize) -> Color {
        i.checked_sub(1).map_or(Color::Ink, |i| LineStyle::of_series(i, self.colored()).color)
    }

    /// Each line with its style, the truth first.
    fn lines(&self) -> impl Iterator<Item = (LineStyle, &LineSeries)> {
        let truth = (LineStyle { color: Color::Ink, dashed: true }, &self.truth);
        let first = self.points.len().saturating_sub(1);
        let style = move |i: usize| LineStyle::of_series(first + i, self.colored());
        let curves = self.curves.iter().enumerate().map(move |(i, line)| (style(i), line));
        std::iter::once(truth).chain(curves)
    }

    fn legend(&self, frame: &Frame, points: &[Vec<Point>], max: usize) -> Legend {
        let dots = self.points.iter().zip(points).enumerate().map(|(i, (series, points))| {
            (Sample::Dot(self.point_color(i)), series.caption(points.len().min(max)))
        });
        let lines = self.lines().map(|(style, line)| {
            let drawn = clipped(frame, line).iter().any(Option::is_some);
            (Sample::Line(style), caption(&line.name, drawn))
        });
        series_legend(frame, (self.colored(), "series"), dots.chain(lines))
    }
}

/// The places of a line, cut at the ends of the y axis.
fn clipped(frame: &Frame, line: &LineSeries) -> Curve {
    let place = |at: &(f64, f64)| is_finite(at).then(|| frame.place(*at));
    let curve: Curve = line.points.iter().map(place).collect();
    thin(clip(&curve, frame.top, frame.bottom))
}

fn is_finite((x, y): &(f64, f64)) -> bool {
    x.is_finite() && y.is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::color::PALETTE;
    use crate::render_png;
    use crate::svg::numbers;

    /// Three training rows, two others, one of them far away, the truth and two curves.
    fn plot() -> CurveFit {
        CurveFit {
            truth: LineSeries::new("identity", [(0.0, 0.0), (4.0, 4.0)]),
            points: vec![
                PointSeries::new("given", [(0.0, 0.2), (2.0, 1.8), (4.0, 4.1)]),
                PointSeries::new("augmented", [(1.0, 1.2), (3.0, 500.0)]),
            ],
            curves: vec![
                LineSeries::new("ridge", [(0.0, 0.1), (4.0, 3.9)]),
                LineSeries::new("steep", [(0.0, -20.0), (2.0, 2.0), (4.0, 24.0)]),
            ],
            y_range: (-30.0, 600.0),
            ..CurveFit::default()
        }
    }

    /// The dots after those of the legend: places and radii.
    fn drawn(svg: &str, legend: usize) -> Vec<[f64; 3]> {
        let of = |attribute| numbers(svg, "circle", attribute).into_iter().skip(legend);
        of("cx").zip(of("cy")).zip(of(" r")).map(|((x, y), r)| [x, y, r]).collect()
    }

    /// The heights on all lines but those of the legend and the grid.
    fn heights(svg: &str) -> Vec<f64> {
        let lines = svg.split("<g fill='none'").skip(1).map(|rest| rest.split("<g opacity").next());
        let paths = lines.flat_map(|group| group.unwrap().split(" d='M").skip(1));
        let paths = paths.map(|path| path.split('\'').next().unwrap());
        paths
            .flat_map(|path| path.split(' ').skip(1).step_by(2))
            .map(|y| y.parse().unwrap())
            .collect()
    }

    #[test]
    fn given_rows_are_on_top_and_large() {
        let svg = plot().to_svg(&Layout::PAGE);
        for name in ["given", "augmented", "identity", "ridge", "steep"] {
            assert_eq!(svg.matches(&format!(">{name}<")).count(), 1, "{name}");
        }
        let dots = drawn(&svg, 2);
        assert_eq!(dots.len(), 5);
        assert!(dots[2..].iter().all(|dot| dot[2] > dots[0][2] + 1.0));
        let last = |what: &str| svg.rfind(what).unwrap();
        assert!(last("fill-opacity='0.45'") < last("<path") && last("<path") < last("<circle"));
        // In the legend and in the picture.
        let count = |class: &str| svg.matches(&format!("class='{class}'")).count();
        assert_eq!((count("wl-c0"), count("wl-c1-line"), count("wl-c2-line")), (2, 2, 2));
        // The truth alone is dashed.
        assert_eq!(svg.matches("stroke-dasharray").count(), 2);
        assert_eq!(svg, plot().to_svg(&Layout::PAGE));
    }

    #[test]
    fn nothing_is_drawn_beyond_the_ends_of_the_y_axis() {
        for layout in [Layout::PAGE, Layout::CARD] {
            let (all, near) = (plot(), CurveFit { y_range: (-1.0, 5.0), ..plot() });
            let svg = near.to_svg(&layout);
            assert!(svg.contains(">augmented (1 of 2 shown)<"));
            let frame = near.frame(&layout);
            let points: Vec<_> = near.points.iter().map(|series| near.visible(series)).collect();
            let legend = near.legend(&frame, &points, 9);
            let frame = frame.with_legend(legend);
            let (heights, dots) = (heights(&svg), drawn(&svg, 2));
            assert_eq!((heights.len(), dots.len()), (2 + 2 + 3, 4));
            let range = num(frame.top)..=num(frame.bottom);
            assert!(
                heights.iter().chain(dots.iter().map(|dot| &dot[1])).all(|y| range.contains(y))
            );
            // The steep curve is cut at both ends.
            assert!(heights.contains(range.start()) && heights.contains(range.end()));
            // More is visible than if the far row has room too.
            let tall = |ys: Vec<f64>| (ys[0] - ys[1]).abs();
            assert!(tall(heights) > 20.0 * tall(self::heights(&all.to_svg(&layout))));
            assert_eq!(drawn(&all.to_svg(&layout), 2).len(), 5);
            let away = CurveFit { y_range: (1e3, 2e3), ..all }.to_svg(&layout);
            assert!(away.contains(">ridge (nothing to draw)<") && render_png(&away).is_ok());
        }
    }

    #[test]
    fn what_is_not_finite_is_omitted() {
        let mut plot = plot();
        plot.points[0].points[1].at.0 = f64::NAN;
        plot.truth.points = vec![(0.0, 0.0), (1.0, 1.0), (f64::NAN, 1.5), (2.0, 2.0), (3.0, 3.0)];
        plot.curves[1].points[1].1 = f64::INFINITY;
        let svg = plot.to_svg(&Layout::PAGE);
        assert!(svg.contains(">given (2 of 3 shown)<"));
        // Four rows, and the ends of the curve whose middle is missing.
        assert_eq!((drawn(&svg, 2).len(), heights(&svg).len()), (4 + 2, 2 + 2 + 2));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn many_series_are_gray_and_many_rows_are_thinned() {
        let curve = LineSeries::new("a", [(0.0, 1.0), (1.0, 2.0)]);
        let many = CurveFit { curves: vec![curve; 12], ..plot() }.to_svg(&Layout::PAGE);
        assert!(many.contains(">13 series, too many for a legend<"));
        assert!(!PALETTE.iter().any(|color| many.contains(color)));
        let row = PointSeries::new("rows", (0..9_000).map(|i| (f64::from(i), 0.0)));
        let rows = CurveFit {
            points: vec![row.clone(), row],
            y_range: (-1.0, 1.0),
            ..CurveFit::default()
        };
        let svg = rows.to_svg(&Layout::PAGE);
        assert!(svg.contains(">rows (2,500 of 9,000 shown)<"));
        assert_eq!(drawn(&svg, 2).len(), 5_000);
    }

    #[test]
    fn text_is_escaped_and_an_empty_plot_says_so() {
        let text = "]]></text><script>&\u{8}";
        let far = [(0.0, f64::MAX), (1.0, -f64::MAX)];
        let evil = CurveFit {
            labels: Labels::new(text, text, text),
            truth: LineSeries::new(text, [(0.0, 0.0)]),
            points: vec![PointSeries::new(text, far); 2],
            curves: vec![LineSeries::new(text, far)],
            y_range: (0.0, 1e-9),
        };
        let svg = evil.to_svg(&Layout::PAGE);
        assert!(!svg.contains("<script") && render_png(&svg).is_ok());
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        // No identifier that another picture of a page could have too.
        assert!(!svg.contains(" id=") && !svg.contains("url("));
        assert!(!svg.contains(">Nothing to draw<"));
        let empty = CurveFit {
            points: vec![PointSeries::new("a", [(f64::NAN, 1.0)])],
            ..CurveFit::default()
        };
        let svg = empty.to_svg(&Layout::PAGE);
        assert!(svg.contains(">Nothing to draw<") && render_png(&svg).is_ok());
    }
}
