//! Fitted curves over the rows that they were fitted to, for data with one feature.

use crate::axis::Axis;
use crate::color::{Color, PALETTE};
use crate::curve::{self, Curve, Look, Stroke, caption, clip, most_of_each, thin};
use crate::dots::{self, Dots, MOST_DRAWN, shrink};
use crate::frame::{self, Frame, Words};
use crate::legend::{Legend, Pen, Sample};
use crate::lines::Series;
use crate::png::{self, PlotError};
use crate::size::Size;
use crate::svg::num;

/// The line of the truth, which is thin.
const TRUTH: Pen = Pen { color: Color::Ink, dashed: true };
/// Radii of given rows and of others.
const RADII: [f64; 2] = [4.2, 2.6];

/// A plot of rows, of the curve that they come from and of curves fitted to them. What is not
/// finite is left out.
///
/// ```
/// use windlass_plot::{Dots, Fits, Series};
///
/// let dots = |name: &str, points| Dots { name: name.to_owned(), points };
/// let plot = Fits {
///     truth: Some(vec![(0.0, 0.0), (1.0, 1.0), (2.0, 4.0)]),
///     truth_name: "x²".to_owned(),
///     points: vec![
///         dots("given", vec![(0.0, 0.1), (2.0, 3.8)]),
///         dots("augmented", vec![(0.5, 1.0), (9.0, 1e6)]),
///     ],
///     curves: vec![Series {
///         name: "ridge".to_owned(),
///         points: vec![(0.0, 0.1), (2.0, 3.8)],
///         ..Series::default()
///     }],
///     y_within: Some((-1.0, 5.0)),
///     ..Fits::default()
/// };
/// assert!(plot.to_svg().contains(">augmented (1 of 2 shown)<"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fits {
    /// Heading of the plot.
    pub title: String,
    /// Name of the x axis.
    pub x_label: String,
    /// Name of the y axis.
    pub y_label: String,
    /// Points of the true curve, which is thin and dashed.
    pub truth: Option<Vec<(f64, f64)>>,
    /// What the legend calls it.
    pub truth_name: String,
    /// The rows: first those that were given, which are on top, then others, which are smaller and
    /// let others shine through. Of more than 5,000 some are left out.
    pub points: Vec<Dots>,
    /// The fitted curves; their spread is not drawn. Where there are more than twelve of them and
    /// of other rows, all are gray and without a legend.
    pub curves: Vec<Series>,
    /// The ends of the y axis, beyond which nothing is drawn. Without them, or where they are not
    /// finite, it reaches all rows and curves.
    pub y_within: Option<(f64, f64)>,
    /// How large the plot is.
    pub size: Size,
}

impl Fits {
    /// The plot as an SVG document that refers to nothing outside itself.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let points: Vec<Vec<_>> = self.points.iter().map(|dots| self.within(dots)).collect();
        let most = MOST_DRAWN / points.len().max(1);
        let frame = self.frame();
        let legend = self.legend(&frame, &points, most);
        let frame = frame.with_legend(legend.rows());
        let mut svg = frame.open();
        legend.draw(&mut svg, &frame);
        let drawn = points.iter().map(|points| points.len().min(most)).sum();
        let scale = shrink(drawn) * frame.measures.dot;
        for (i, points) in points.iter().enumerate().skip(1) {
            let paint = format!(" fill-opacity='0.45'{}", self.dots_color(i).fill());
            dots::draw(&mut svg, &frame, (points, most), RADII[1] * scale, &paint);
        }
        self.draw_lines(&mut svg, &frame);
        if let Some(given) = points.first() {
            // Paper around them keeps them apart from each other and from the curves.
            svg.push(format!("<g{} stroke-width='{}'>", Color::Paper.stroke(), num(scale)));
            let paint = self.dots_color(0).fill();
            dots::draw(&mut svg, &frame, (given, most), RADII[0] * scale, &paint);
            svg.push("</g>".to_owned());
        }
        if self.reached().next().is_none() {
            svg.push(frame.apology("Nothing to draw"));
        }
        frame::close(svg)
    }

    /// The plot as a PNG of twice the size of the SVG, its text in an embedded font.
    pub fn to_png(&self) -> Result<Vec<u8>, PlotError> {
        png::render(&self.to_svg())
    }

    /// The ends of the y axis, if they are set, the low one first.
    fn ends(&self) -> Option<(f64, f64)> {
        let ends = self.y_within.filter(|(a, b)| a.is_finite() && b.is_finite());
        ends.map(|(a, b)| (a.min(b), a.max(b)))
    }

    /// The dots of a series that are drawn, unless they are too many.
    fn within(&self, dots: &Dots) -> Vec<(f64, f64)> {
        let mut points = dots.finite();
        if let Some((low, high)) = self.ends() {
            points.retain(|(_, y)| (low..=high).contains(y));
        }
        points
    }

    /// All that the axes reach.
    fn reached(&self) -> impl Iterator<Item = (f64, f64)> + Clone {
        let points = self.points.iter().flat_map(|dots| &dots.points);
        let curves = self.curves.iter().flat_map(|series| &series.points);
        let all = points.chain(curves).chain(self.truth.iter().flatten()).copied();
        all.filter(|(x, y)| x.is_finite() && y.is_finite())
    }

    fn frame(&self) -> Frame<'_> {
        let words = Words { title: &self.title, x_label: &self.x_label, y_label: &self.y_label };
        let measures = self.size.measures();
        let y_axis = match self.ends() {
            Some(ends) => Axis::exact(ends, measures.most_y_ticks),
            None => Axis::linear(self.reached().map(|(_, y)| y), measures.most_y_ticks),
        };
        Frame::new(self.size, words, y_axis, |width| {
            Axis::linear_within(self.reached().map(|(x, _)| x), width, measures.most_x_ticks)
        })
    }

    /// How many rows, but for those that were given, and curves need a color.
    fn colored(&self) -> usize {
        self.points.len().saturating_sub(1) + self.curves.len()
    }

    fn dots_color(&self, i: usize) -> Color {
        i.checked_sub(1).map_or(Color::Ink, |i| Pen::of(i, self.colored()).color)
    }

    /// Each line: its pen, its name and its points.
    fn lines(&self) -> impl Iterator<Item = (Pen, &str, &[(f64, f64)])> {
        let truth = self.truth.as_deref().map(|points| (TRUTH, &self.truth_name[..], points));
        let first = self.points.len().saturating_sub(1);
        let curves = self.curves.iter().enumerate().map(move |(i, series)| {
            (Pen::of(first + i, self.colored()), &series.name[..], &series.points[..])
        });
        truth.into_iter().chain(curves)
    }

    fn legend(&self, frame: &Frame, points: &[Vec<(f64, f64)>], most: usize) -> Legend {
        if self.colored() > PALETTE.len() {
            return Legend::too_many(self.colored(), "series");
        }
        let dots = self.points.iter().zip(points).enumerate().map(|(i, (dots, points))| {
            let caption = dots.caption(points.len().min(most));
            (&dots.name[..], Sample::Dot(self.dots_color(i)), caption)
        });
        let lines = self.lines().map(|(pen, name, points)| {
            let drawn = self.curve(frame, points).iter().any(Option::is_some);
            (name, Sample::Line(pen), caption(name, drawn))
        });
        let named = dots.chain(lines).filter(|(name, ..)| !name.is_empty());
        Legend::of(named.map(|(_, sample, caption)| (sample, caption)).collect(), frame)
    }

    /// The places of a line, cut where the y axis ends.
    fn curve(&self, frame: &Frame, points: &[(f64, f64)]) -> Curve {
        let finite = |(x, y): &(f64, f64)| x.is_finite() && y.is_finite();
        let place = |at: &(f64, f64)| finite(at).then(|| frame.place(at.0, at.1));
        let curve: Curve = points.iter().map(place).collect();
        thin(clip(&curve, frame.top, frame.bottom), most_of_each(self.curves.len() + 1))
    }

    fn draw_lines(&self, svg: &mut Vec<String>, frame: &Frame) {
        let curves: Vec<_> =
            self.lines().map(|(pen, _, points)| (pen, self.curve(frame, points))).collect();
        let strokes = curves.iter().map(|(pen, curve)| Stroke { pen: *pen, curve, dotted: false });
        let mut strokes: Vec<_> = strokes.collect();
        let fitted = strokes.split_off(usize::from(self.truth.is_some()));
        curve::draw(svg, &strokes, &Look::THIN);
        curve::draw(svg, &fitted, &Look::of(self.colored()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::numbers;

    fn dots(name: &str, points: &[(f64, f64)]) -> Dots {
        Dots { name: name.to_owned(), points: points.to_vec() }
    }

    fn series(name: &str, points: &[(f64, f64)]) -> Series {
        Series { name: name.to_owned(), points: points.to_vec(), ..Series::default() }
    }

    /// Three given rows, two others, one of them far away, the truth and two curves.
    fn plot() -> Fits {
        Fits {
            truth: Some(vec![(0.0, 0.0), (4.0, 4.0)]),
            truth_name: "identity".to_owned(),
            points: vec![
                dots("given", &[(0.0, 0.2), (2.0, 1.8), (4.0, 4.1)]),
                dots("augmented", &[(1.0, 1.2), (3.0, 500.0)]),
            ],
            curves: vec![
                series("ridge", &[(0.0, 0.1), (4.0, 3.9)]),
                series("steep", &[(0.0, -20.0), (2.0, 2.0), (4.0, 24.0)]),
            ],
            ..Fits::default()
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
        let svg = plot().to_svg();
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
        assert_eq!(svg, plot().to_svg());
    }

    #[test]
    fn nothing_is_drawn_beyond_the_ends_of_the_y_axis() {
        for size in [Size::Page, Size::Card] {
            let all = Fits { size, ..plot() };
            for y_within in [(-1.0, 5.0), (5.0, -1.0)] {
                let near = Fits { y_within: Some(y_within), ..all.clone() };
                let svg = near.to_svg();
                assert!(svg.contains(">augmented (1 of 2 shown)<"));
                let frame = near.frame();
                let points: Vec<_> = near.points.iter().map(|dots| near.within(dots)).collect();
                let rows = near.legend(&frame, &points, 9).rows();
                let frame = frame.with_legend(rows);
                let (heights, dots) = (heights(&svg), drawn(&svg, 2));
                assert_eq!((heights.len(), dots.len()), (2 + 2 + 3, 4));
                let range = num(frame.top)..=num(frame.bottom);
                assert!(
                    heights.iter().chain(dots.iter().map(|dot| &dot[1])).all(|y| range.contains(y))
                );
                // The steep curve is cut at both ends.
                assert!(heights.contains(range.start()) && heights.contains(range.end()));
                // There is more to see than where the far row has room too.
                let tall = |ys: Vec<f64>| (ys[0] - ys[1]).abs();
                assert!(tall(heights) > 20.0 * tall(self::heights(&all.to_svg())));
            }
            assert_eq!(drawn(&all.to_svg(), 2).len(), 5);
            let odd = Fits { y_within: Some((f64::NAN, 1.0)), ..all.clone() };
            assert_eq!(odd.to_svg(), all.to_svg());
            let away = Fits { y_within: Some((1e3, 2e3)), ..all };
            assert!(away.to_svg().contains(">ridge (nothing to draw)<") && away.to_png().is_ok());
        }
    }

    #[test]
    fn what_is_not_finite_is_left_out() {
        let mut plot = plot();
        plot.points[0].points[1].0 = f64::NAN;
        plot.truth = Some(vec![(0.0, 0.0), (1.0, 1.0), (f64::NAN, 1.5), (2.0, 2.0), (3.0, 3.0)]);
        plot.curves[1].points[1].1 = f64::INFINITY;
        let svg = plot.to_svg();
        assert!(svg.contains(">given (2 of 3 shown)<"));
        // Four rows, and the ends of the curve whose middle is missing.
        assert_eq!((drawn(&svg, 2).len(), heights(&svg).len()), (4 + 2, 2 + 2 + 2));
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn many_series_are_gray_and_many_rows_are_thinned() {
        let many = Fits { curves: vec![series("a", &[(0.0, 1.0), (1.0, 2.0)]); 12], ..plot() };
        assert!(many.to_svg().contains(">13 series, too many for a legend<"));
        assert!(!PALETTE.iter().any(|color| many.to_svg().contains(color)));
        let row = dots("rows", &(0..9_000).map(|i| (f64::from(i), 0.0)).collect::<Vec<_>>());
        let rows = Fits { points: vec![row.clone(), row], ..Fits::default() };
        assert!(rows.to_svg().contains(">rows (2,500 of 9,000 shown)<"));
        assert_eq!(drawn(&rows.to_svg(), 2).len(), 5_000);
    }

    #[test]
    fn words_cannot_become_elements_and_pictures_share_a_page() {
        let words = "]]></text><script>&\u{8}".to_owned();
        let evil = Fits {
            title: words.clone(),
            x_label: words.clone(),
            y_label: words.clone(),
            truth_name: words.clone(),
            points: vec![dots(&words, &[(0.0, f64::MAX), (1.0, -f64::MAX)]); 2],
            curves: vec![series(&words, &[(0.0, f64::MAX), (1.0, -f64::MAX)])],
            y_within: Some((0.0, 1e-9)),
            ..plot()
        };
        let svg = evil.to_svg();
        assert!(!svg.contains("<script") && evil.to_png().is_ok());
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        // No name that another picture could have too.
        assert!(!svg.contains(" id=") && !svg.contains("url("));
    }

    #[test]
    fn an_empty_plot_says_so() {
        let nan = [(f64::NAN, 1.0)];
        let bare =
            Fits { truth: Some(nan.to_vec()), points: vec![dots("a", &nan)], ..Fits::default() };
        for plot in [Fits::default(), bare] {
            assert!(plot.to_svg().contains(">Nothing to draw<") && plot.to_png().is_ok());
        }
        assert!(!plot().to_svg().contains(">Nothing to draw<"));
    }
}
