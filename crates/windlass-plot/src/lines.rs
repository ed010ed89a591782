//! A line chart: how values change along one axis.

use crate::axis::Axis;
use crate::color::PALETTE;
use crate::curve::{self, Curve, Look, Stroke, caption, most_of_each, thin};
use crate::dots::some_of;
use crate::frame::{self, Frame, Words};
use crate::legend::{Legend, Pen, Sample};
use crate::mark;
use crate::png::{self, PlotError};
use crate::size::Size;
use crate::svg::num;

/// Most points of a series that are drawn as dots.
const MOST_DOTS: usize = 30;
/// Most points of a series that have bars.
const MOST_BARS: usize = 100;
/// How much of the distance between two places on the x axis the bars at one of them may fill.
const BARS: f64 = 0.6;

/// A line.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// What the legend calls it.
    pub name: String,
    /// Its points, in the order in which they are joined. One that is not finite breaks the line.
    pub points: Vec<(f64, f64)>,
    /// The low and the high end of a bar through each point; empty where there are none. An end
    /// that is not finite is open to the border.
    pub spread: Vec<(f64, f64)>,
}

/// A plot of lines over one axis. Where points have bars, the lines stand a little beside each
/// other, so that no bar hides another.
///
/// ```
/// use windlass_plot::{Lines, Series};
///
/// let points = vec![(1.0, 0.9), (2.0, 0.4), (3.0, 0.5)];
/// let plot = Lines {
///     title: "Loss".to_owned(),
///     series: vec![Series { name: "validation".to_owned(), points, ..Series::default() }],
///     mark: Some((2.0, 0.4, "least".to_owned())),
///     ..Lines::default()
/// };
/// assert!(plot.to_svg().contains("validation"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lines {
    /// Heading of the plot.
    pub title: String,
    /// Name of the x axis.
    pub x_label: String,
    /// Name of the y axis.
    pub y_label: String,
    /// The lines. More than twelve are drawn in gray and without a legend.
    pub series: Vec<Series>,
    /// Places with names on the x axis, instead of round numbers.
    pub x_names: Option<Vec<(f64, String)>>,
    /// A point to look at, and what to say of it.
    pub mark: Option<(f64, f64, String)>,
    /// Whether the y axis is logarithmic (all shown values must then be positive; others are left
    /// out).
    pub log_y: bool,
    /// Whether spreads are bands around the lines, which then stand where they are, instead of bars.
    pub bands: bool,
    /// How large the plot is.
    pub size: Size,
}

impl Lines {
    /// The plot as an SVG document that refers to nothing outside itself.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let frame = self.frame();
        let legend = self.legend(&frame);
        let frame = frame.with_legend(legend.rows());
        let mut svg = frame.open();
        legend.draw(&mut svg, &frame);
        let curves = self.curves(&frame);
        if self.bands {
            self.draw_bands(&mut svg, &frame);
        } else {
            self.draw_bars(&mut svg, &frame);
        }
        self.draw(&mut svg, &curves);
        if let Some((x, y, words)) = self.mark.as_ref().filter(|(x, y, _)| self.shows(*x, *y)) {
            mark::draw(&mut svg, &frame, frame.place(*x, *y), words, &curves);
        }
        if self.shown().next().is_none() {
            svg.push(frame.apology("Nothing to draw"));
        }
        frame::close(svg)
    }

    /// The plot as a PNG of twice the size of the SVG, its text in an embedded font.
    pub fn to_png(&self) -> Result<Vec<u8>, PlotError> {
        png::render(&self.to_svg())
    }

    fn shows(&self, x: f64, y: f64) -> bool {
        x.is_finite() && y.is_finite() && (y > 0.0 || !self.log_y)
    }

    /// All that the axes must reach, the mark too.
    fn shown(&self) -> impl Iterator<Item = (f64, f64)> + Clone {
        let points = self.series.iter().flat_map(|series| &series.points).copied();
        let mark = self.mark.iter().map(|(x, y, _)| (*x, *y));
        points.chain(mark).filter(|(x, y)| self.shows(*x, *y))
    }

    /// The points with bars, each with its ends.
    fn bars(series: &Series) -> impl Iterator<Item = ((f64, f64), (f64, f64))> {
        let bars: Vec<_> = series.points.iter().zip(&series.spread).collect();
        let drawn: Vec<_> = some_of(&bars, MOST_BARS).map(|(at, ends)| (**at, **ends)).collect();
        drawn.into_iter()
    }

    fn frame(&self) -> Frame<'_> {
        let words = Words { title: &self.title, x_label: &self.x_label, y_label: &self.y_label };
        let measures = self.size.measures();
        let bars = self.series.iter().flat_map(Self::bars);
        let ends = bars.flat_map(|((x, _), (low, high))| [(x, low), (x, high)]);
        let ends = ends.filter(|(x, y)| self.shows(*x, *y)).map(|(_, y)| y);
        let ys = self.shown().map(|(_, y)| y).chain(ends);
        let y_axis = if self.log_y {
            Axis::logarithmic(ys, measures.most_log_ticks)
        } else {
            Axis::linear(ys, measures.most_y_ticks)
        };
        let half = self.gap() * BARS / 2.0;
        let xs = self.shown().flat_map(|(x, _)| [x - half, x + half]);
        Frame::new(self.size, words, y_axis, |width| match &self.x_names {
            Some(names) => Axis::named(xs.clone(), names, width),
            None => Axis::linear_within(xs.clone(), width, measures.most_x_ticks),
        })
    }

    /// The least distance between two places on the x axis, if there are bars; or else nothing has
    /// to stand beside anything.
    fn gap(&self) -> f64 {
        if self.bands || self.series.iter().all(|series| series.spread.is_empty()) {
            return 0.0;
        }
        let mut xs: Vec<_> = self.shown().map(|(x, _)| x).collect();
        xs.sort_by(f64::total_cmp);
        xs.dedup();
        let (Some(first), Some(last)) = (xs.first(), xs.last()) else { return 0.0 };
        let least = xs.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
        // Two places alone would be filled too widely, and one has no distance.
        if xs.len() == 1 { 1.0 } else { least.min((last - first) / 3.0) }
    }

    /// How far to the right of its place a series stands.
    fn shifts(&self) -> Vec<f64> {
        let (gap, series) = (self.gap() * BARS, self.series.len() as f64);
        (0..self.series.len()).map(|i| gap * ((i as f64 + 0.5) / series - 0.5)).collect()
    }

    fn pen(&self, i: usize) -> Pen {
        Pen::of(i, self.series.len())
    }

    fn legend(&self, frame: &Frame) -> Legend {
        if self.series.len() > PALETTE.len() {
            return Legend::too_many(self.series.len(), "lines");
        }
        let named = self.series.iter().enumerate().filter(|(_, series)| !series.name.is_empty());
        let entries = named.map(|(i, series)| {
            let drawn = series.points.iter().any(|(x, y)| self.shows(*x, *y));
            (Sample::Line(self.pen(i)), caption(&series.name, drawn))
        });
        Legend::of(entries.collect(), frame)
    }

    fn curves(&self, frame: &Frame) -> Vec<Curve> {
        let most = most_of_each(self.series.len());
        let curve = |(series, shift): (&Series, f64)| {
            let place = |&(x, y): &(f64, f64)| self.shows(x, y).then(|| frame.place(x + shift, y));
            thin(series.points.iter().map(place).collect(), most)
        };
        self.series.iter().zip(self.shifts()).map(curve).collect()
    }

    fn draw_bands(&self, svg: &mut Vec<String>, frame: &Frame) {
        for (i, series) in self.series.iter().enumerate() {
            let (mut up, mut down) = (vec![], vec![]);
            for ((x, y), (low, high)) in Self::bars(series) {
                if !self.shows(x, y) {
                    continue;
                }
                let height = |end: f64, open: f64| {
                    if self.shows(x, end) { frame.place(x, end).1 } else { open }
                };
                let x = num(frame.x_of(x));
                up.push(format!("{x} {}", num(height(high, frame.top))));
                down.push(format!("{x} {}", num(height(low, frame.bottom))));
            }
            if up.len() > 1 {
                up.extend(down.into_iter().rev());
                let (d, fill) = (up.join("L"), self.pen(i).color.fill());
                svg.push(format!("<path d='M{d}Z'{fill} opacity='0.15'/>"));
            }
        }
    }

    fn draw_bars(&self, svg: &mut Vec<String>, frame: &Frame) {
        let (width, shifts) = (num(1.6 * frame.measures.dot), self.shifts());
        let mut bars = Vec::new();
        for (i, series) in self.series.iter().enumerate() {
            let pen = Pen { dashed: false, ..self.pen(i) };
            for ((x, y), (low, high)) in Self::bars(series) {
                if !self.shows(x, y) || !(low.is_finite() || high.is_finite()) {
                    continue;
                }
                let height = |end: f64, open: f64| {
                    if self.shows(x, end) { frame.place(x, end).1 } else { open }
                };
                let (low, high) = (height(low, frame.bottom), height(high, frame.top));
                let x = num(frame.x_of(x + shifts[i]));
                bars.push(pen.line(&format!("M{x} {}V{}", num(low), num(high))));
            }
        }
        if !bars.is_empty() {
            svg.push(format!("<g stroke-width='{width}' opacity='0.55'>"));
            svg.append(&mut bars);
            svg.push("</g>".to_owned());
        }
    }

    fn draw(&self, svg: &mut Vec<String>, curves: &[Curve]) {
        let strokes = self.series.iter().zip(curves).enumerate().map(|(i, (series, curve))| {
            Stroke { pen: self.pen(i), curve, dotted: series.points.len() <= MOST_DOTS }
        });
        curve::draw(svg, &strokes.collect::<Vec<_>>(), &Look::of(self.series.len()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(name: &str, points: impl Iterator<Item = (f64, f64)>) -> Series {
        Series { name: name.to_owned(), points: points.collect(), ..Series::default() }
    }

    fn plot(series: Vec<Series>) -> Lines {
        Lines { series, ..Lines::default() }
    }

    /// Two lines of so many points.
    fn two(points: u32) -> Lines {
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
        let svg = two(200).to_svg();
        assert_eq!(drawn(&svg).iter().map(Vec::len).collect::<Vec<_>>(), [200, 200]);
        assert_eq!((drawn(&two(2).to_svg()).len(), drawn(&two(1).to_svg()).len()), (2, 0));
        assert_eq!(count(&svg, "<circle"), 0);
        assert_eq!(count(&two(31).to_svg(), "<circle"), 0);
        assert_eq!(count(&two(30).to_svg(), "<circle"), 60);
        let marked = Lines { mark: Some((3.0, 0.5, "here".to_owned())), ..two(200) }.to_svg();
        assert_eq!((count(&marked, "<circle"), count(&marked, ">here<")), (2, 1));
        for (name, color) in [("first", PALETTE[0]), ("second", PALETTE[1])] {
            assert_eq!((count(&svg, &format!(">{name}<")), count(&svg, color)), (1, 2));
        }
        assert_eq!(svg, two(200).to_svg());
    }

    #[test]
    fn bands_leave_lines_where_they_are() {
        let mut plot = two(5);
        for series in &mut plot.series {
            series.spread = series.points.iter().map(|(_, y)| (y - 0.1, y + 0.2)).collect();
        }
        // An end that is not finite is open to the border.
        plot.series[1].spread[2].0 = f64::NAN;
        let bars = drawn(&plot.to_svg());
        assert!(bars[0][0].0 < bars[1][0].0);
        let banded = Lines { bands: true, ..plot };
        let svg = banded.to_svg();
        let lines = drawn(&svg);
        assert!(lines[0].iter().zip(&lines[1]).all(|(a, b)| a.0 == b.0));
        assert_eq!((count(&svg, "Z'"), count(&svg, "opacity='0.15'")), (2, 2));
        assert!(!svg.contains("NaN"));
    }

    #[test]
    fn lines_stay_in_the_frame_below_the_legend() {
        let names = (0..12).map(|i| format!("a name of more than a few letters {i}"));
        let many = names.map(|name| Series { name, ..two(50).series.remove(1) }).collect();
        let many = plot(many);
        let far = Lines { mark: Some((-700.0, 1e5, String::new())), ..two(50) };
        let card = Lines { size: Size::Card, ..many.clone() };
        for plot in [two(1), two(2), two(500), many, far, card] {
            let entries = plot.legend(&plot.frame()).rows();
            let frame = plot.frame().with_legend(entries);
            for (x, y) in drawn(&plot.to_svg()).into_iter().flatten() {
                assert!((frame.left..=frame.right).contains(&x));
                assert!((frame.top..=frame.bottom).contains(&y));
            }
            assert!(frame.top >= frame.legend + entries as f64 * frame.measures.legend_row);
        }
    }

    #[test]
    fn points_that_are_not_finite_break_the_line() {
        let mut broken = two(30);
        broken.series.truncate(1);
        broken.series[0].points[10].1 = f64::NAN;
        broken.series[0].points[20].0 = f64::INFINITY;
        broken.series[0].points[28].1 = f64::NEG_INFINITY;
        let svg = broken.to_svg();
        assert_eq!(drawn(&svg).iter().map(Vec::len).collect::<Vec<_>>(), [10, 9, 7]);
        assert_eq!(count(&svg, "<circle"), 27);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));

        // A point alone is seen even where others are not dots.
        let mut long = two(40);
        long.series.truncate(1);
        long.series[0].points[1].1 = f64::NAN;
        assert_eq!((drawn(&long.to_svg()).len(), count(&long.to_svg(), "<circle")), (1, 1));
    }

    #[test]
    fn long_series_are_thinned() {
        let lines = drawn(&two(100_000).to_svg());
        assert!(lines.iter().all(|line| (1_000..=2_000).contains(&line.len())));
        let many = plot(vec![two(3_000).series.remove(1); 500]);
        assert!(drawn(&many.to_svg()).iter().map(Vec::len).sum::<usize>() <= 100_000);
    }

    #[test]
    fn too_many_lines_are_gray_and_have_a_note() {
        let lines = |n| plot(vec![two(50).series.remove(1); n]).to_svg();
        assert_eq!((count(&lines(12), ">second<"), count(&lines(12), "too many")), (12, 0));
        assert!(PALETTE.iter().all(|color| count(&lines(12), color) == 2));
        let svg = lines(13);
        assert_eq!((count(&svg, ">second<"), count(&svg, ">13 lines, too many")), (0, 1));
        assert_eq!(drawn(&svg).len(), 13);
        assert!(!PALETTE.iter().any(|color| svg.contains(color)));
    }

    #[test]
    fn a_log_axis_leaves_out_what_is_not_positive() {
        let points = [(0.0, 100.0), (1.0, 10.0), (2.0, 1.0), (3.0, 0.0), (4.0, -5.0), (5.0, 0.1)];
        let lost = series("lost", [(0.0, -1.0)].into_iter());
        let svg =
            Lines { log_y: true, ..plot(vec![series("a", points.into_iter()), lost]) }.to_svg();
        let lines = drawn(&svg);
        assert_eq!((lines.len(), lines[0].len(), count(&svg, "<circle")), (1, 3, 4));
        let [a, b, c] = [0, 1, 2].map(|i| lines[0][i].1);
        // Each place is rounded to a tenth.
        assert!(((b - a) - (c - b)).abs() < 0.3 && b - a > 100.0);
        assert!(svg.contains(">lost (nothing to draw)<"));
        let tiny = plot(vec![series("a", [(0.0, 1e-9), (1.0, 1e-7)].into_iter())]);
        let raised = "10<tspan dy='-4' font-size='11'>−8</tspan><";
        assert_eq!(count(&Lines { log_y: true, ..tiny }.to_svg(), raised), 3);
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
    fn nine(size: Size) -> Lines {
        let series = (0..9).map(|i| {
            let points = (0..4).map(|x| (f64::from(x), f64::from(x * i)));
            let spread = (0..4).map(|x| (f64::from(x * i) - 2.0, f64::from(x * i) + 1.0)).collect();
            Series { spread, ..series("s", points) }
        });
        Lines { size, ..plot(series.collect()) }
    }

    #[test]
    fn bars_go_through_their_points_and_never_hide_each_other() {
        for size in [Size::Page, Size::Card] {
            let svg = nine(size).to_svg();
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
            let plot = nine(size);
            let frame = plot.frame();
            assert!(xs.iter().all(|x| (frame.left..=frame.right).contains(x)));
        }
    }

    #[test]
    fn bars_may_be_open_and_few() {
        let mut open = nine(Size::Page);
        open.series.truncate(1);
        open.series[0].spread = vec![(-1.0, f64::INFINITY), (f64::NAN, 3.0), (f64::NAN, f64::NAN)];
        let frame = open.frame().with_legend(1);
        let (top, bottom) = (num(frame.top), num(frame.bottom));
        let found = bars(&open.to_svg());
        assert_eq!((found.len(), found[0][2], found[1][1]), (2, top, bottom));
        // On a logarithmic axis a bar to zero is open too.
        open.series[0].points = vec![(0.0, 1.0), (1.0, 10.0)];
        open.series[0].spread = vec![(0.0, 2.0)];
        let found = bars(&Lines { log_y: true, ..open }.to_svg());
        assert_eq!((found.len(), found[0][1]), (1, bottom));
        // Without bars nothing is moved.
        let plain = plot(vec![two(9).series.remove(0); 2]);
        let lines = drawn(&plain.to_svg());
        assert!(lines[0] == lines[1] && bars(&plain.to_svg()).is_empty());
    }

    #[test]
    fn names_replace_the_numbers_of_the_x_axis() {
        let names = vec![(0.0, "none".to_owned()), (20.0, "a & b".to_owned())];
        let svg = Lines { x_names: Some(names), ..two(30) }.to_svg();
        assert_eq!((count(&svg, ">none<"), count(&svg, ">a &amp; b<")), (1, 1));
        assert!(count(&two(30).to_svg(), ">20<") == 1 && count(&svg, ">20<") == 0);
    }

    #[test]
    fn words_cannot_become_elements_and_are_cut() {
        let words = "]]></text></title><script>&\u{8}".repeat(20);
        let evil = Lines {
            title: words.clone(),
            x_label: words.clone(),
            y_label: words.clone(),
            x_names: Some(vec![(0.0, words.clone())]),
            mark: Some((1.0, 0.0, words.clone())),
            series: vec![series(&words, [(0.0, 1.0)].into_iter()); 3],
            ..Lines::default()
        };
        let svg = evil.to_svg();
        assert!(!svg.contains("<script") && evil.to_png().is_ok());
        assert_eq!(count(&svg, "…"), 9);
        for outside in ["href", "url(", "<image", "<style", "@import"] {
            assert!(!svg.contains(outside));
        }
        assert_eq!(count(&svg, "://"), 1);
    }

    #[test]
    fn an_empty_plot_says_so() {
        let nan = series("a", [(1.0, f64::NAN)].into_iter());
        let negative = series("a", [(1.0, -1.0)].into_iter());
        for plot in [
            Lines::default(),
            plot(vec![nan]),
            Lines { log_y: true, ..plot(vec![negative.clone()]) },
            Lines { mark: Some((f64::NAN, 0.0, "m".to_owned())), ..Lines::default() },
        ] {
            assert!(plot.to_svg().contains(">Nothing to draw<"));
            assert_eq!(plot.to_png().unwrap()[16..24], [0, 0, 7, 8, 0, 0, 4, 176]);
        }
        assert!(!plot(vec![negative]).to_svg().contains(">Nothing to draw<"));
    }
}
