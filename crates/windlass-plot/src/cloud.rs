//! Clouds of dots: one value against another, in several series.

use crate::axis::Axis;
use crate::color::{Color, PALETTE};
use crate::dots::{self, Dots, MOST_DRAWN, shrink};
use crate::frame::{self, Frame, Words};
use crate::legend::{Legend, Pen, Sample};
use crate::png::{self, PlotError};
use crate::size::Size;
use crate::svg::{line, num};

/// A plot of dots, such as predicted against true values. Of more than 5,000 some are left out.
///
/// ```
/// use windlass_plot::{Cloud, Dots};
///
/// let points = vec![(1.0, 1.2), (2.0, 1.9), (3.0, 3.3)];
/// let plot = Cloud {
///     x_label: "true".to_owned(),
///     y_label: "predicted".to_owned(),
///     series: vec![Dots { name: "ridge".to_owned(), points }],
///     diagonal: true,
///     ..Cloud::default()
/// };
/// assert!(plot.to_svg().contains(">ridge<"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cloud {
    /// Heading of the plot.
    pub title: String,
    /// Name of the x axis.
    pub x_label: String,
    /// Name of the y axis.
    pub y_label: String,
    /// The dots. More than twelve series are drawn in gray and without a legend.
    pub series: Vec<Dots>,
    /// Whether to draw the line on which both values are equal. Both axes then have one range.
    pub diagonal: bool,
    /// How large the plot is.
    pub size: Size,
}

impl Cloud {
    /// The plot as an SVG document that refers to nothing outside itself.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let series: Vec<Vec<_>> = self.series.iter().map(Dots::finite).collect();
        let most = MOST_DRAWN / series.len().max(1);
        let frame = self.frame(&series);
        let legend = self.legend(&frame, &series, most);
        let frame = frame.with_legend(legend.rows());
        let mut svg = frame.open();
        legend.draw(&mut svg, &frame);
        if self.diagonal {
            let [left, right, top, bottom] =
                [frame.left, frame.right, frame.top, frame.bottom].map(num);
            let diagonal = line(&format!("M{left} {bottom}L{right} {top}"), Color::Gray);
            svg.push(format!("<g stroke-width='1.5'>{diagonal}</g>"));
        }
        let drawn = series.iter().map(|points| points.len().min(most)).sum();
        let radius = 3.6 * shrink(drawn) * frame.measures.dot;
        for (i, points) in series.iter().enumerate() {
            let color = Pen::of(i, series.len()).color;
            let paint = format!(" fill-opacity='0.6'{}", color.fill());
            dots::draw(&mut svg, &frame, (points, most), radius, &paint);
        }
        if series.iter().all(Vec::is_empty) {
            svg.push(frame.apology("Nothing to draw"));
        }
        frame::close(svg)
    }

    /// The plot as a PNG of twice the size of the SVG, its text in an embedded font.
    pub fn to_png(&self) -> Result<Vec<u8>, PlotError> {
        png::render(&self.to_svg())
    }

    fn frame(&self, series: &[Vec<(f64, f64)>]) -> Frame<'_> {
        let words = Words { title: &self.title, x_label: &self.x_label, y_label: &self.y_label };
        let measures = self.size.measures();
        let of = |own: fn(&(f64, f64)) -> f64, other: fn(&(f64, f64)) -> f64| {
            let points = series.iter().flatten();
            let others = points.clone().filter(|_| self.diagonal).map(other);
            points.map(own).chain(others)
        };
        let y_axis = Axis::linear(of(|at| at.1, |at| at.0), measures.most_y_ticks);
        Frame::new(self.size, words, y_axis, |width| {
            Axis::linear_within(of(|at| at.0, |at| at.1), width, measures.most_x_ticks)
        })
    }

    fn legend(&self, frame: &Frame, series: &[Vec<(f64, f64)>], most: usize) -> Legend {
        if series.len() > PALETTE.len() {
            return Legend::too_many(series.len(), "series");
        }
        let all = self.series.iter().zip(series).enumerate();
        let named = all.filter(|(_, (dots, _))| !dots.name.is_empty());
        let entries = named.map(|(i, (dots, finite))| {
            let sample = Sample::Dot(Pen::of(i, series.len()).color);
            (sample, dots.caption(finite.len().min(most)))
        });
        Legend::of(entries.collect(), frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::numbers;

    fn plot(series: &[&[(f64, f64)]]) -> Cloud {
        let name = |i: usize| ["first", "second", "third"][i].to_owned();
        let dots = series.iter().enumerate();
        let series = dots.map(|(i, points)| Dots { name: name(i), points: points.to_vec() });
        Cloud { series: series.collect(), ..Cloud::default() }
    }

    /// The places of the dots, which come after those of the legend.
    fn drawn(svg: &str, legend: usize) -> Vec<(f64, f64)> {
        let (xs, ys) = (numbers(svg, "circle", "cx"), numbers(svg, "circle", "cy"));
        xs.into_iter().zip(ys).skip(legend).collect()
    }

    #[test]
    fn equal_values_are_on_the_diagonal() {
        for size in [Size::Page, Size::Card] {
            let equal = plot(&[&[(-40.0, -40.0), (1.0, 1.0), (2.5, 2.5)], &[(0.0, 90.0)]]);
            let svg = Cloud { diagonal: true, size, ..equal.clone() }.to_svg();
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
            let free = Cloud { size, ..equal }.to_svg();
            // Without it, the dots may fill the width.
            assert!(drawn(&free, 2)[2].0 > dots[2].0 + 50.0);
            assert!(!free.contains("stroke-width='1.5'"));
        }
    }

    #[test]
    fn series_have_colors_and_names() {
        let svg = plot(&[&[(0.0, 0.0)], &[(1.0, 1.0), (f64::NAN, 2.0)]]).to_svg();
        assert!(svg.contains(">first<") && svg.contains(">second (1 of 2 shown)<"));
        // In the legend and of the dots.
        let count = |class: &str| svg.matches(&format!("class='{class}'")).count();
        assert_eq!((count("wl-c0"), count("wl-c1"), count("wl-c2")), (2, 2, 0));
        let many = Cloud { series: vec![Dots::default(); 13], ..Cloud::default() };
        assert!(many.to_svg().contains(">13 series, too many for a legend<"));
    }

    #[test]
    fn at_most_five_thousand_are_drawn() {
        let points: Vec<_> = (0..9_000).map(|i| (f64::from(i), 0.0)).collect();
        let svg = plot(&[&points, &points, &points[..10]]).to_svg();
        assert_eq!(drawn(&svg, 3).len(), 2 * 1_666 + 10);
    }

    #[test]
    fn words_cannot_become_elements_and_an_empty_plot_says_so() {
        let words = "]]></text><script>&\u{8}".to_owned();
        let series = vec![Dots { name: words.clone(), points: vec![(f64::MAX, -f64::MAX)] }];
        let (title, x_label, y_label) = (words.clone(), words.clone(), words);
        let evil = Cloud { title, x_label, y_label, series, diagonal: true, size: Size::Card };
        assert!(!evil.to_svg().contains("<script") && evil.to_png().is_ok());
        for empty in [plot(&[]), plot(&[&[]]), plot(&[&[(f64::NAN, 1.0)]])] {
            let empty = Cloud { diagonal: true, ..empty };
            assert!(empty.to_svg().contains(">Nothing to draw<") && empty.to_png().is_ok());
        }
        assert!(!evil.to_svg().contains(">Nothing to draw<"));
    }
}
