//! Strips of dots: all values of each row over one axis.

use crate::color::Color;
use crate::dots::{MOST_DRAWN, some_of};
use crate::frame::{self, Frame};
use crate::png::{self, PlotError};
use crate::rows::{Name, Reference, Rows};
use crate::size::Size;
use crate::svg::{circle, line, num, rect};

/// How much of its row the dots fill, and the tick and the box, which must be seen behind many.
const DOTS: f64 = 0.56;
const BOX: f64 = 0.84;
/// Most values of a row that are drawn as large dots, and as small ones that are not very faint.
const FEW: usize = 40;
const SOME: usize = 250;

/// What is drawn of a row besides its dots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Summary {
    /// The mean, as a tick: for few values.
    #[default]
    Mean,
    /// The median, as a tick, and a box from the first quartile to the third: for many.
    Quartiles,
}

/// A row of dots.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strip {
    /// The name, to the left of the row.
    pub name: String,
    /// The values, in any order. Those that are not finite are left out.
    pub values: Vec<f64>,
    /// A heading before the row.
    pub heading: Option<String>,
}

/// A plot of rows of dots, as high as they need. Dots stand a little above and below each other, so
/// that equal values are seen too.
///
/// ```
/// use windlass_plot::{Strip, Strips};
///
/// let values = vec![-0.4, -0.1, 0.2, -0.3];
/// let row = Strip { name: "mixup".to_owned(), values, ..Strip::default() };
/// let plot = Strips { rows: vec![row], ..Strips::default() };
/// assert_eq!(plot.to_svg().matches("<circle").count(), 4);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strips {
    /// Heading of the plot.
    pub title: String,
    /// Name of the x axis.
    pub x_label: String,
    /// The rows, from the top.
    pub rows: Vec<Strip>,
    /// What is drawn of each row besides its dots.
    pub summary: Summary,
    /// What the values are compared with.
    pub reference: Option<Reference>,
    /// How large the plot is.
    pub size: Size,
}

impl Strips {
    /// The plot as an SVG document that refers to nothing outside itself.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let rows = self.rows();
        let mut svg = rows.open();
        let most = MOST_DRAWN / self.rows.len().max(1);
        for (row, y) in self.rows.iter().zip(&rows.middles) {
            row.draw(&mut svg, &rows.frame, *y, self.summary, most);
        }
        if self.values().next().is_none() {
            svg.push(rows.frame.apology("Nothing to draw"));
        }
        frame::close(svg)
    }

    /// The plot as a PNG of twice the size of the SVG, its text in an embedded font.
    pub fn to_png(&self) -> Result<Vec<u8>, PlotError> {
        png::render(&self.to_svg())
    }

    fn values(&self) -> impl Iterator<Item = f64> + Clone {
        self.rows.iter().flat_map(|row| &row.values).copied().filter(|v| v.is_finite())
    }

    fn rows(&self) -> Rows<'_> {
        let height = self.size.measures().strip_row;
        let rows = self.rows.iter();
        let names = rows.map(|row| Name { name: &row.name, heading: row.heading.as_deref() });
        let words = (&self.title[..], &self.x_label[..]);
        Rows::new(
            self.size,
            words,
            (names.collect(), height),
            self.reference.as_ref(),
            self.values(),
        )
    }
}

impl Strip {
    fn draw(&self, svg: &mut Vec<String>, frame: &Frame, y: f64, summary: Summary, most: usize) {
        let mut values: Vec<_> = self.values.iter().copied().filter(|v| v.is_finite()).collect();
        values.sort_by(f64::total_cmp);
        if values.is_empty() {
            return;
        }
        let [dots, height] = [DOTS, BOX].map(|part| part * frame.measures.strip_row);
        let middle = match summary {
            // Divided first, since the sum of the largest numbers would not be finite.
            Summary::Mean => {
                let n = values.len() as f64;
                values.iter().map(|v| v / n).sum()
            }
            Summary::Quartiles => {
                let [from, to] = [0.25, 0.75].map(|part| frame.x_of(quantile(&values, part)));
                let corners = [from, y - height / 2.0, to, y + height / 2.0];
                svg.push(rect(corners, &Color::Grid.fill()));
                quantile(&values, 0.5)
            }
        };
        let (radius, opacity) = match values.len() {
            n if n <= FEW => (3.2, 0.55),
            n if n <= SOME => (2.2, 0.4),
            _ => (1.8, 0.22),
        };
        svg.push(format!("<g fill-opacity='{opacity}'{}>", Color::Of(0).fill()));
        svg.extend(some_of(&values, most).enumerate().map(|(i, v)| {
            let y = y + jitter(i) * dots;
            circle((frame.x_of(*v), y), radius * frame.measures.dot, "")
        }));
        svg.push("</g>".to_owned());
        let (x, top, bottom) = (num(frame.x_of(middle)), y - height / 2.0, y + height / 2.0);
        let tick = line(&format!("M{x} {}V{}", num(top), num(bottom)), Color::Ink);
        svg.push(format!("<g stroke-width='2'>{tick}</g>"));
    }
}

/// From −½ to ½: steps of the golden ratio, so that neighbors are far from each other.
fn jitter(i: usize) -> f64 {
    (i as f64 * 0.618_033_988_75 + 0.5).fract() - 0.5
}

/// Of sorted values, between two of them in proportion.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let at = part * (sorted.len() - 1) as f64;
    let (below, t) = (at.floor(), at.fract());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
    let below = below as usize;
    let above = (below + 1).min(sorted.len() - 1);
    sorted[below] * (1.0 - t) + sorted[above] * t
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::numbers;

    fn row(name: &str, values: &[f64]) -> Strip {
        Strip { name: name.to_owned(), values: values.to_vec(), heading: None }
    }

    fn plot(rows: Vec<Strip>) -> Strips {
        Strips { rows, ..Strips::default() }
    }

    #[test]
    fn dots_stand_at_their_values_in_their_rows() {
        let rows = vec![row("a", &[3.0, 1.0, f64::NAN, 2.0]), row("b", &[1.0; 15])];
        for size in [Size::Page, Size::Card] {
            let plot = Strips { size, ..plot(rows.clone()) };
            let (svg, rows) = (plot.to_svg(), plot.rows());
            let (xs, ys) = (numbers(&svg, "circle", "cx"), numbers(&svg, "circle", "cy"));
            let expected = [1.0, 2.0, 3.0].map(|v| num(rows.frame.x_of(v)));
            assert_eq!((&xs[..3], xs.len()), (&expected[..], 18));
            assert!(xs[3..].iter().all(|x| *x == xs[0]));
            let half = size.measures().strip_row / 2.0;
            assert!(ys[..3].iter().all(|y| (y - rows.middles[0]).abs() < half));
            assert!(ys[3..].iter().all(|y| (y - rows.middles[1]).abs() < half));
            // Equal values stand apart, and always in the same places.
            let apart: std::collections::BTreeSet<_> =
                ys[3..].iter().map(|y| y.to_bits()).collect();
            assert!(apart.len() >= 10 && svg == plot.to_svg());
        }
    }

    #[test]
    fn the_tick_is_the_mean_or_the_median() {
        let values = [0.0, 1.0, 2.0, 3.0, 94.0];
        for (summary, middle, boxes) in [(Summary::Mean, 20.0, 1), (Summary::Quartiles, 2.0, 2)] {
            let plot = Strips { summary, ..plot(vec![row("a", &values)]) };
            let (svg, frame) = (plot.to_svg(), plot.rows().frame);
            let tick = svg.split("<g stroke-width='2'>").nth(1).unwrap();
            assert!(tick.contains(&format!("d='M{} ", num(frame.x_of(middle)))));
            // The paper is one of them.
            assert_eq!(svg.matches("<rect").count(), boxes);
            if summary == Summary::Quartiles {
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
        let svg = plot(vec![row("a", &many), row("b", &many)]).to_svg();
        assert_eq!(svg.matches("<circle").count(), 5_000);
        for summary in [Summary::Mean, Summary::Quartiles] {
            let far = plot(vec![row("a", &[f64::MAX, f64::MAX, -f64::MAX]), row("b", &[5e-324])]);
            let svg = Strips { summary, ..far }.to_svg();
            assert!(!svg.contains("NaN") && !svg.contains("inf"));
        }
    }

    #[test]
    fn words_cannot_become_elements_and_an_empty_plot_says_so() {
        let words = "]]></text><script>&\u{8}".to_owned();
        let evil = Strip { heading: Some(words.clone()), ..row(&words, &[1.0]) };
        let evil = Strips { title: words.clone(), x_label: words, ..plot(vec![evil]) };
        assert!(!evil.to_svg().contains("<script") && evil.to_png().is_ok());
        assert!(evil.to_svg().contains("class='wl-c0'"));
        for empty in [plot(vec![]), plot(vec![row("a", &[f64::NAN])]), plot(vec![row("a", &[])])] {
            assert!(empty.to_svg().contains(">Nothing to draw<") && empty.to_png().is_ok());
        }
        assert!(!evil.to_svg().contains(">Nothing to draw<"));
    }
}
