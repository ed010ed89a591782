//! Line plots: how values change along one axis.

use crate::annotation::Annotation;
use crate::axis::Axis;
use crate::curve::{self, Curve, Stroke, StyledCurve, caption, thin};
use crate::frame::{Frame, Labels, Legend};
use crate::layout::Layout;
use crate::legend::{LineStyle, Sample, series_legend};
use crate::svg::{group, num};

/// Maximum number of points of a series that are drawn as dots.
const MAX_DOTS: usize = 30;
/// Part of the distance between two places on the x axis that the bars at one of them fill.
const BARS: f64 = 0.6;

/// A line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineSeries {
    /// Name in the legend.
    pub name: String,
    /// Its points, in the order in which they are joined. One that is not finite breaks the line.
    pub points: Vec<(f64, f64)>,
    /// The low and the high end of an error bar through each point; may be empty. An end that is
    /// not finite is open to the border.
    pub spread: Vec<(f64, f64)>,
}

impl LineSeries {
    /// A line without error bars.
    pub fn new(name: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self { name: name.into(), points: points.into_iter().collect(), spread: vec![] }
    }

    /// The points that have error bars, each with its ends.
    fn bars(&self) -> impl Iterator<Item = ((f64, f64), (f64, f64))> {
        self.points.iter().copied().zip(self.spread.iter().copied())
    }
}

/// A plot of lines. Lines with error bars are shifted a little, so that no bar hides another.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinePlot {
    /// Title and axis labels.
    pub labels: Labels,
    /// The lines. More than twelve are gray and have no legend.
    pub series: Vec<LineSeries>,
    /// Names of places on the x axis, instead of round numbers.
    pub x_names: Option<Vec<(f64, String)>>,
    /// A highlighted point.
    pub annotation: Option<Annotation>,
    /// Whether the y axis is logarithmic; values that are not positive are then omitted.
    pub log_y: bool,
    /// Whether spreads are bands around the lines instead of bars.
    pub bands: bool,
}

impl LinePlot {
    /// The plot as an SVG document without external references.
    #[must_use]
    pub fn to_svg(&self, layout: &Layout) -> String {
        let frame = self.frame(layout);
        let legend = self.legend(&frame);
        let frame = frame.with_legend(legend);
        let mut svg = frame.open();
        self.draw_spreads(&mut svg, &frame);
        let curves = self.curves(&frame);
        let styled = self.series.iter().zip(&curves).enumerate().map(|(i, (series, curve))| {
            StyledCurve { style: self.style(i), curve, dotted: series.points.len() <= MAX_DOTS }
        });
        let stroke = Stroke::of_series(self.series.len());
        curve::draw(&mut svg, &styled.collect::<Vec<_>>(), &stroke);
        if let Some(annotation) = self.annotation.as_ref().filter(|one| self.shows(one.at)) {
            annotation.draw(&mut svg, &frame, &curves);
        }
        frame.close(svg, self.shown().next().is_none())
    }

    fn shows(&self, (x, y): (f64, f64)) -> bool {
        x.is_finite() && y.is_finite() && (y > 0.0 || !self.log_y)
    }

    /// All that the axes must contain.
    fn shown(&self) -> impl Iterator<Item = (f64, f64)> + Clone {
        let points = self.series.iter().flat_map(|series| &series.points).copied();
        let annotation = self.annotation.iter().map(|annotation| annotation.at);
        points.chain(annotation).filter(|at| self.shows(*at))
    }

    fn frame<'a>(&'a self, layout: &'a Layout) -> Frame<'a> {
        let bars = self.series.iter().flat_map(LineSeries::bars);
        let ends = bars.flat_map(|((x, _), (low, high))| [(x, low), (x, high)]);
        let ends = ends.filter(|at| self.shows(*at));
        let ys = self.shown().chain(ends).map(|(_, y)| y);
        let y_axis = if self.log_y {
            Axis::logarithmic(ys, layout.max_log_ticks)
        } else {
            Axis::linear(ys, layout.max_y_ticks)
        };
        let half = self.gap() * BARS / 2.0;
        let xs = self.shown().flat_map(|(x, _)| [x - half, x + half]);
        Frame::new(layout, &self.labels, y_axis, |width| match &self.x_names {
            Some(names) => Axis::named(xs.clone(), names, width),
            None => Axis::linear_within(xs.clone(), width, layout.max_x_ticks),
        })
    }

    /// The smallest distance between two places on the x axis; 0 if no line has to be shifted.
    fn gap(&self) -> f64 {
        if self.bands || self.series.iter().all(|series| series.spread.is_empty()) {
            return 0.0;
        }
        let mut xs: Vec<_> = self.shown().map(|(x, _)| x).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        let (Some(first), Some(last)) = (xs.first(), xs.last()) else { return 0.0 };
        let least = xs.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
        // The bars of two places alone would be too far apart, and one place has no distance.
        if xs.len() == 1 { 1.0 } else { least.min((last - first) / 3.0) }
    }

    /// How far a series is shifted to the right.
    fn shift(&self, i: usize) -> f64 {
        self.gap() * BARS * ((i as f64 + 0.5) / self.series.len() as f64 - 0.5)
    }

    fn style(&self, i: usize) -> LineStyle {
        LineStyle::of_series(i, self.series.len())
    }

    fn legend(&self, frame: &Frame) -> Legend {
        let named = self.series.iter().enumerate().filter(|(_, series)| !series.name.is_empty());
        let entries = named.map(|(i, series)| {
            let drawn = series.points.iter().any(|at| self.shows(*at));
            (Sample::Line(self.style(i)), caption(&series.name, drawn))
        });
        series_legend(frame, (self.series.len(), "lines"), entries)
    }

    fn curves(&self, frame: &Frame) -> Vec<Curve> {
        let curve = |(i, series): (usize, &LineSeries)| {
            let shift = self.shift(i);
            let place =
                |at: &(f64, f64)| self.shows(*at).then(|| frame.place((at.0 + shift, at.1)));
            thin(series.points.iter().map(place).collect())
        };
        self.series.iter().enumerate().map(curve).collect()
    }

    fn draw_spreads(&self, svg: &mut Vec<String>, frame: &Frame) {
        let mut bars = Vec::new();
        for (i, series) in self.series.iter().enumerate() {
            let (style, shift) = (LineStyle { dashed: false, ..self.style(i) }, self.shift(i));
            let shown = series.bars().filter(|(at, (low, high))| {
                self.shows(*at) && (low.is_finite() || high.is_finite())
            });
            let ends: Vec<[f64; 3]> = shown
                .map(|((x, _), (low, high))| {
                    let y = |end: f64, open: f64| {
                        if self.shows((x, end)) { frame.place((x, end)).1 } else { open }
                    };
                    [frame.x_of(x + shift), y(low, frame.bottom), y(high, frame.top)].map(num)
                })
                .collect();
            if !self.bands {
                bars.extend(
                    ends.iter().map(|[x, low, high]| style.line(&format!("M{x} {low}V{high}"))),
                );
            } else if ends.len() > 1 {
                let upper = ends.iter().map(|[x, _, high]| format!("{x} {high}"));
                let lower = ends.iter().rev().map(|[x, low, _]| format!("{x} {low}"));
                let path = upper.chain(lower).collect::<Vec<_>>().join("L");
                svg.push(format!("<path d='M{path}Z'{} opacity='0.15'/>", style.color.fill()));
            }
        }
        if !bars.is_empty() {
            let width = num(1.6 * frame.layout.marker_scale);
            group(svg, &format!(" stroke-width='{width}' opacity='0.55'"), bars);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::color::PALETTE;
    use crate::render_png;

    fn series(name: &str, points: impl Iterator<Item = (f64, f64)>) -> LineSeries {
        LineSeries::new(name, points)
    }

    fn plot(series: Vec<LineSeries>) -> LinePlot {
        LinePlot { series, ..LinePlot::default() }
    }

    fn annotated(at: (f64, f64), text: &str, plot: LinePlot) -> LinePlot {
        LinePlot { annotation: Some(Annotation { at, text: text.to_owned() }), ..plot }
    }

    /// Two lines with this number of points.
    fn two(points: u32) -> LinePlot {
        let wave = |by: f64| (0..points).map(move |i| (f64::from(i), (by * f64::from(i)).sin()));
        plot(vec![series("first", wave(0.1)), series("second", wave(0.37))])
    }

    /// The places on each drawn line, which are all in one group.
    fn drawn(svg: &str) -> Vec<Vec<(f64, f64)>> {
        let lines = svg.split("<g fill='none'").nth(1).unwrap().split("</g>\n<g opacity").next();
        let paths =
            lines.unwrap().split(" d='M").skip(1).map(|path| path.split('\'').next().unwrap());
        paths
            .map(|path| {
                let numbers: Vec<f64> = path.split(' ').map(|v| v.parse().unwrap()).collect();
                numbers.chunks(2).map(|at| (at[0], at[1])).collect()
            })
            .collect()
    }

    fn count(svg: &str, what: &str) -> usize {
        svg.matches(what).count()
    }

    #[test]
    fn each_series_is_a_line_and_few_points_are_dots() {
        let svg = two(200).to_svg(&Layout::PAGE);
        assert_eq!(drawn(&svg).iter().map(Vec::len).collect::<Vec<_>>(), [200, 200]);
        assert_eq!(
            (
                drawn(&two(2).to_svg(&Layout::PAGE)).len(),
                drawn(&two(1).to_svg(&Layout::PAGE)).len()
            ),
            (2, 0)
        );
        assert_eq!(count(&svg, "<circle"), 0);
        assert_eq!(count(&two(31).to_svg(&Layout::PAGE), "<circle"), 0);
        assert_eq!(count(&two(30).to_svg(&Layout::PAGE), "<circle"), 60);
        let marked = annotated((3.0, 0.5), "here", two(200)).to_svg(&Layout::PAGE);
        assert_eq!((count(&marked, "<circle"), count(&marked, ">here<")), (2, 1));
        for (name, color) in [("first", PALETTE[0]), ("second", PALETTE[1])] {
            assert_eq!((count(&svg, &format!(">{name}<")), count(&svg, color)), (1, 2));
        }
        assert_eq!(svg, two(200).to_svg(&Layout::PAGE));
    }

    #[test]
    fn bands_leave_lines_where_they_are() {
        let mut plot = two(5);
        for series in &mut plot.series {
            series.spread = series.points.iter().map(|(_, y)| (y - 0.1, y + 0.2)).collect();
        }
        // An end that is not finite is open to the border.
        plot.series[1].spread[2].0 = f64::NAN;
        let bars = drawn(&plot.to_svg(&Layout::PAGE));
        assert!(bars[0][0].0 < bars[1][0].0);
        let banded = LinePlot { bands: true, ..plot };
        let svg = banded.to_svg(&Layout::PAGE);
        let lines = drawn(&svg);
        assert!(lines[0].iter().zip(&lines[1]).all(|(a, b)| a.0 == b.0));
        assert_eq!((count(&svg, "Z'"), count(&svg, "opacity='0.15'")), (2, 2));
        assert!(!svg.contains("NaN"));
    }

    #[test]
    fn lines_stay_in_the_frame_below_the_legend() {
        let names = (0..12).map(|i| format!("a name of more than a few letters {i}"));
        let many = names.map(|name| LineSeries { name, ..two(50).series.remove(1) }).collect();
        let many = plot(many);
        let far = annotated((-700.0, 1e5), "", two(50));
        let page = [two(1), two(2), two(500), many.clone(), far].map(|plot| (plot, Layout::PAGE));
        for (plot, layout) in page.into_iter().chain([(many, Layout::CARD)]) {
            let legend = plot.legend(&plot.frame(&layout));
            let entries = legend.rows;
            let frame = plot.frame(&layout).with_legend(legend);
            for (x, y) in drawn(&plot.to_svg(&layout)).into_iter().flatten() {
                assert!((frame.left..=frame.right).contains(&x));
                assert!((frame.top..=frame.bottom).contains(&y));
            }
            assert!(frame.top >= frame.legend_y(entries));
        }
    }

    #[test]
    fn points_that_are_not_finite_break_the_line() {
        let mut broken = two(30);
        broken.series.truncate(1);
        broken.series[0].points[10].1 = f64::NAN;
        broken.series[0].points[20].0 = f64::INFINITY;
        broken.series[0].points[28].1 = f64::NEG_INFINITY;
        let svg = broken.to_svg(&Layout::PAGE);
        assert_eq!(drawn(&svg).iter().map(Vec::len).collect::<Vec<_>>(), [10, 9, 7]);
        assert_eq!(count(&svg, "<circle"), 27);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));

        // A point alone is seen even where others are not dots.
        let mut long = two(40);
        long.series.truncate(1);
        long.series[0].points[1].1 = f64::NAN;
        assert_eq!(
            (
                drawn(&long.to_svg(&Layout::PAGE)).len(),
                count(&long.to_svg(&Layout::PAGE), "<circle")
            ),
            (1, 1)
        );
    }

    #[test]
    fn long_series_are_thinned() {
        let lines = drawn(&two(100_000).to_svg(&Layout::PAGE));
        assert!(lines.iter().all(|line| (1_000..=2_000).contains(&line.len())));
    }

    #[test]
    fn too_many_lines_are_gray_and_have_a_note() {
        let lines = |n| plot(vec![two(50).series.remove(1); n]).to_svg(&Layout::PAGE);
        assert_eq!((count(&lines(12), ">second<"), count(&lines(12), "too many")), (12, 0));
        assert!(PALETTE.iter().all(|color| count(&lines(12), color) == 2));
        let svg = lines(13);
        assert_eq!((count(&svg, ">second<"), count(&svg, ">13 lines, too many")), (0, 1));
        assert_eq!(drawn(&svg).len(), 13);
        assert!(!PALETTE.iter().any(|color| svg.contains(color)));
    }

    #[test]
    fn a_log_axis_omits_what_is_not_positive() {
        let points = [(0.0, 100.0), (1.0, 10.0), (2.0, 1.0), (3.0, 0.0), (4.0, -5.0), (5.0, 0.1)];
        let lost = series("lost", [(0.0, -1.0)].into_iter());
        let svg = LinePlot { log_y: true, ..plot(vec![series("a", points.into_iter()), lost]) }
            .to_svg(&Layout::PAGE);
        let lines = drawn(&svg);
        assert_eq!((lines.len(), lines[0].len(), count(&svg, "<circle")), (1, 3, 4));
        let [a, b, c] = [0, 1, 2].map(|i| lines[0][i].1);
        // Each place is rounded to a tenth.
        assert!(((b - a) - (c - b)).abs() < 0.3 && b - a > 100.0);
        assert!(svg.contains(">lost (nothing to draw)<"));
        let tiny = plot(vec![series("a", [(0.0, 1e-9), (1.0, 1e-7)].into_iter())]);
        let raised = "10<tspan dy='-4' font-size='11'>−8</tspan><";
        assert_eq!(count(&LinePlot { log_y: true, ..tiny }.to_svg(&Layout::PAGE), raised), 3);
    }

    /// The bars: x, low and high in the picture.
    fn bars(svg: &str) -> Vec<[f64; 3]> {
        let bars = svg.split("<g stroke-width").find(|group| group.contains("opacity='0.55'>"));
        let bars = bars.unwrap_or_default().split("</g>").next().unwrap();
        let bar = |path: &str| {
            let path = path.split('\'').next().unwrap().replace('V', " ");
            let numbers: Vec<f64> = path.split(' ').map(|v| v.parse().unwrap()).collect();
            [numbers[0], numbers[1], numbers[2]]
        };
        bars.split(" d='M").skip(1).map(bar).collect()
    }

    /// Nine series over four places.
    fn nine() -> LinePlot {
        let series = (0..9).map(|i| {
            let points = (0..4).map(|x| (f64::from(x), f64::from(x * i)));
            let spread = (0..4).map(|x| (f64::from(x * i) - 2.0, f64::from(x * i) + 1.0)).collect();
            LineSeries { spread, ..series("s", points) }
        });
        plot(series.collect())
    }

    #[test]
    fn bars_go_through_their_points_and_never_hide_each_other() {
        for layout in [Layout::PAGE, Layout::CARD] {
            let svg = nine().to_svg(&layout);
            let (lines, bars) = (drawn(&svg), bars(&svg));
            assert_eq!((lines.len(), bars.len()), (9, 36));
            for ([x, low, high], (dot_x, dot_y)) in bars.iter().zip(lines.into_iter().flatten()) {
                assert!(*x == dot_x && *low > dot_y && *high < dot_y);
                // Twice as far down as up; places are rounded to a tenth.
                assert!(((low - dot_y) - 2.0 * (dot_y - high)).abs() < 0.4);
            }
            let mut xs: Vec<_> = bars.iter().map(|bar| bar[0]).collect();
            xs.sort_by(f64::total_cmp);
            assert!(xs.windows(2).all(|pair| pair[1] - pair[0] > 3.0));
            let plot = nine();
            let frame = plot.frame(&layout);
            assert!(xs.iter().all(|x| (frame.left..=frame.right).contains(x)));
        }
    }

    #[test]
    fn bars_may_be_open() {
        let mut open = nine();
        open.series.truncate(1);
        open.series[0].spread = vec![(-1.0, f64::INFINITY), (f64::NAN, 3.0), (f64::NAN, f64::NAN)];
        let frame = open.frame(&Layout::PAGE).with_legend(Legend { rows: 1, svg: vec![] });
        let (top, bottom) = (num(frame.top), num(frame.bottom));
        let found = bars(&open.to_svg(&Layout::PAGE));
        assert_eq!((found.len(), found[0][2], found[1][1]), (2, top, bottom));
        // On a logarithmic axis a bar to zero is open too.
        open.series[0].points = vec![(0.0, 1.0), (1.0, 10.0)];
        open.series[0].spread = vec![(0.0, 2.0)];
        let found = bars(&LinePlot { log_y: true, ..open }.to_svg(&Layout::PAGE));
        assert_eq!((found.len(), found[0][1]), (1, bottom));
        // Without bars nothing is moved.
        let plain = plot(vec![two(9).series.remove(0); 2]);
        let lines = drawn(&plain.to_svg(&Layout::PAGE));
        assert!(lines[0] == lines[1] && bars(&plain.to_svg(&Layout::PAGE)).is_empty());
    }

    #[test]
    fn names_replace_the_numbers_of_the_x_axis() {
        let names = vec![(0.0, "none".to_owned()), (20.0, "a & b".to_owned())];
        let svg = LinePlot { x_names: Some(names), ..two(30) }.to_svg(&Layout::PAGE);
        assert_eq!((count(&svg, ">none<"), count(&svg, ">a &amp; b<")), (1, 1));
        assert!(count(&two(30).to_svg(&Layout::PAGE), ">20<") == 1 && count(&svg, ">20<") == 0);
    }

    #[test]
    fn text_is_escaped_and_cut() {
        let words = "]]></text></title><script>&\u{8}".repeat(20);
        let evil = LinePlot {
            labels: Labels::new(&words, &words, &words),
            x_names: Some(vec![(0.0, words.clone())]),
            annotation: Some(Annotation { at: (1.0, 0.0), text: words.clone() }),
            series: vec![series(&words, [(0.0, 1.0)].into_iter()); 3],
            ..LinePlot::default()
        };
        let svg = evil.to_svg(&Layout::PAGE);
        assert!(!svg.contains("<script") && render_png(&svg).is_ok());
        assert_eq!(count(&svg, "…"), 9);
        for outside in ["href", "url(", "<image", "<style", "@import", " id="] {
            assert!(!svg.contains(outside));
        }
        assert_eq!(count(&svg, "://"), 1);
    }

    #[test]
    fn an_empty_plot_says_so() {
        let nan = series("a", [(1.0, f64::NAN)].into_iter());
        let negative = series("a", [(1.0, -1.0)].into_iter());
        for plot in [
            LinePlot::default(),
            plot(vec![nan]),
            LinePlot { log_y: true, ..plot(vec![negative.clone()]) },
            annotated((f64::NAN, 0.0), "m", LinePlot::default()),
        ] {
            let svg = plot.to_svg(&Layout::PAGE);
            assert!(svg.contains(">Nothing to draw<") && render_png(&svg).is_ok());
        }
        assert!(!plot(vec![negative]).to_svg(&Layout::PAGE).contains(">Nothing to draw<"));
    }
}
