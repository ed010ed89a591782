//! A scatter plot of an augmentation: the target against one feature.

use std::collections::{BTreeMap, BTreeSet};

use crate::axis::Axis;
use crate::colour::{FAINT, GREY, INK, PALETTE, oklch};
use crate::frame::{self, Frame, LEGEND, RIGHT};
use crate::png::{self, PlotError};
use crate::svg::{circle, ems, num, text, thousands};

/// Most rows drawn of each kind: more would cost megabytes and show nothing new.
const MOST_DRAWN: usize = 5_000;

/// One row of the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The feature.
    pub x: f64,
    /// The target.
    pub y: f64,
    /// The group of the row, where the method has groups.
    pub group: Option<u32>,
}

/// A plot of original and synthetic rows. Rows that are not finite are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scatter {
    /// Heading of the plot.
    pub title: String,
    /// Name of the feature.
    pub x_label: String,
    /// Name of the target.
    pub y_label: String,
    /// The rows that were given.
    pub originals: Vec<Point>,
    /// The rows that were made.
    pub synthetic: Vec<Point>,
}

impl Scatter {
    /// The plot as an SVG document that refers to nothing outside itself.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let originals = Layer::new(&ORIGINAL, &self.originals);
        let synthetic = Layer::new(&SYNTHETIC, &self.synthetic);
        let rows = || originals.rows.iter().chain(&synthetic.rows);
        let groups = colours(&rows().filter_map(|row| row.group).collect());

        let y_axis = Axis::linear(rows().map(|row| row.y), 10.0);
        let frame = Frame::new(y_axis, |width| Axis::linear_within(rows().map(|row| row.x), width));
        let mut svg = frame.open(&self.title, &self.x_label, &self.y_label);
        let legend_end = originals.legend(&mut svg, frame.left, &groups);
        let legend_end = synthetic.legend(&mut svg, legend_end, &groups);
        legend(&mut svg, &groups, legend_end);

        // Originals on top: however many synthetic rows there are, they stay in sight.
        for layer in [&synthetic, &originals] {
            layer.draw(&mut svg, &groups, |row| frame.place(row.x, row.y));
        }
        if rows().next().is_none() {
            svg.push(frame.apology("No rows to draw"));
        }
        frame::close(svg)
    }

    /// The plot as a PNG of twice the size of the SVG, its text in an embedded font.
    pub fn to_png(&self) -> Result<Vec<u8>, PlotError> {
        png::render(&self.to_svg())
    }
}

/// How the rows of one kind look.
struct Look {
    name: &'static str,
    /// Where there are no groups.
    colour: &'static str,
    radius: f64,
    opacity: f64,
    outline: f64,
}

const ORIGINAL: Look =
    Look { name: "Original", colour: PALETTE[0], radius: 4.2, opacity: 0.9, outline: 0.7 };
const SYNTHETIC: Look =
    Look { name: "Synthetic", colour: PALETTE[1], radius: 3.0, opacity: 0.6, outline: 0.0 };

/// The rows of one kind that are finite.
struct Layer {
    look: &'static Look,
    given: usize,
    rows: Vec<Point>,
}

impl Layer {
    fn new(look: &'static Look, rows: &[Point]) -> Self {
        let finite = rows.iter().copied().filter(|row| row.x.is_finite() && row.y.is_finite());
        Self { look, given: rows.len(), rows: finite.collect() }
    }

    fn drawn(&self) -> usize {
        self.rows.len().min(MOST_DRAWN)
    }

    fn open(&self, scale: f64) -> String {
        let (opacity, outline) = (self.look.opacity, num(self.look.outline * scale));
        format!("<g fill-opacity='{opacity}' stroke='{INK}' stroke-width='{outline}'>")
    }

    fn colour(&self, groups: &Groups, group: Option<u32>) -> String {
        let plain = if groups.is_empty() { self.look.colour } else { GREY };
        group.and_then(|group| groups.get(&group).cloned()).unwrap_or_else(|| plain.to_owned())
    }

    fn draw(&self, svg: &mut Vec<String>, groups: &Groups, at: impl Fn(Point) -> (f64, f64)) {
        let drawn = self.drawn();
        let scale = [1.0, 0.75, 0.5][usize::from(drawn > 600) + usize::from(drawn > 2_000)];
        svg.push(self.open(scale));
        svg.extend((0..drawn).map(|i| {
            let row = self.rows[i * self.rows.len() / drawn];
            circle(at(row), self.look.radius * scale, &self.colour(groups, row.group))
        }));
        svg.push("</g>".to_owned());
    }

    /// Returns where the next entry may begin.
    fn legend(&self, svg: &mut Vec<String>, x: f64, groups: &Groups) -> f64 {
        let sample = circle((x + 5.0, LEGEND), self.look.radius, &self.colour(groups, None));
        let (drawn, given) = (thousands(&self.drawn()), thousands(&self.given));
        let of = if drawn == given { String::new() } else { format!(" of {given} shown") };
        let words = format!("{} ({drawn}{of})", self.look.name);
        svg.extend([self.open(1.0), sample, "</g>".to_owned()]);
        svg.push(text(x + 15.0, LEGEND + 4.0, "start", INK, &words));
        x + 35.0 + 12.0 * ems(&words)
    }
}

/// The colour of each group.
type Groups = BTreeMap<u32, String>;

fn colours(groups: &BTreeSet<u32>) -> Groups {
    let colour = |i: usize| match PALETTE.get(i) {
        Some(colour) if groups.len() <= PALETTE.len() => (*colour).to_owned(),
        // Neighbours in hue differ in lightness.
        _ => oklch([0.6, 0.76][i % 2], 0.13, i as f64 / groups.len() as f64),
    };
    groups.iter().enumerate().map(|(i, group)| (*group, colour(i))).collect()
}

fn legend(svg: &mut Vec<String>, groups: &Groups, free: f64) {
    let width = |group: &u32| 26.0 + 12.0 * ems(&group.to_string());
    let mut x = RIGHT + 12.0 - groups.keys().map(width).sum::<f64>();
    let note = format!("One colour per group ({} groups)", thousands(&groups.len()));
    if (1..=PALETTE.len()).contains(&groups.len()) && x >= free + 45.0 {
        svg.push(text(x - 8.0, LEGEND + 4.0, "end", INK, "Group"));
        for (group, colour) in groups {
            svg.push(circle((x + 5.0, LEGEND), 4.5, colour));
            svg.push(text(x + 14.0, LEGEND + 4.0, "start", INK, &group.to_string()));
            x += width(group);
        }
    } else if !groups.is_empty() && free + 12.0 * ems(&note) <= RIGHT {
        svg.push(text(RIGHT, LEGEND + 4.0, "end", FAINT, &note));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn few() -> Scatter {
        let point =
            |i: u32| Point { x: f64::from(i).sin(), y: f64::from(i * i % 17), group: Some(i % 14) };
        let mut originals: Vec<_> = (0..30).map(point).collect();
        originals[3].x = f64::NAN;
        originals[4].y = f64::INFINITY;
        Scatter { originals, synthetic: (30..90).map(point).collect(), ..Scatter::default() }
    }

    #[test]
    fn words_cannot_become_elements() {
        let title = "]]></title><script>&\u{8}".to_owned();
        let plot = Scatter { x_label: title.clone(), y_label: title.clone(), title, ..few() };
        assert!(!plot.to_svg().contains("<script"));
        assert!(plot.to_png().is_ok());
    }

    #[test]
    fn same_rows_give_same_bytes_and_those_not_finite_are_left_out() {
        let svg = few().to_svg();
        assert_eq!(svg, few().to_svg());
        assert_eq!(few().to_png().unwrap(), few().to_png().unwrap());
        assert!(svg.contains("Original (28 of 30 shown)") && svg.contains("Synthetic (60)"));
        assert!(svg.contains("(14 groups)") && !svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn many_rows_are_thinned() {
        let point = |i: u32| Point { x: f64::from(i), y: 0.0, group: None };
        let plot = Scatter { synthetic: (0..50_000).map(point).collect(), ..Scatter::default() };
        assert!(plot.to_svg().contains("Synthetic (5,000 of 50,000 shown)"));
        assert_eq!(plot.to_svg().matches("<circle").count(), 5_002);
    }

    #[test]
    fn a_png_has_twice_the_size_even_without_rows() {
        for plot in [Scatter::default(), few()] {
            let png = plot.to_png().unwrap();
            assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
            assert_eq!(png[16..24], [0, 0, 7, 8, 0, 0, 4, 176]);
        }
        assert!(Scatter::default().to_svg().contains("No rows to draw"));
    }
}
