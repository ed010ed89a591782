//! Rows that move towards or away from the mean of their group as the strength of an augmentation
//! changes.
//!
//! ```text
//! synthetic = mean + (row − mean) / √γ
//! ```

use crate::axis::Axis;
use crate::color::Color;
use crate::dots::{shrink, some_of};
use crate::frame::{self, Frame, Words};
use crate::groups::{Groups, Item, Key, colors};
use crate::png::{self, PlotError};
use crate::size::Size;
use crate::svg::{circle, num};

/// Most rows drawn, since a script has to move all of them.
const MOST_ROWS: usize = 2_500;
/// Radii of original and synthetic rows.
const RADII: [f64; 2] = [4.0, 3.4];

/// A row, and the mean that its synthetic row is moved from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MovingPoint {
    /// The feature.
    pub x: f64,
    /// The target.
    pub y: f64,
    /// The mean of both in the row's group.
    pub mean: (f64, f64),
    /// The group, which gives the row its color.
    pub group: u32,
}

impl MovingPoint {
    /// The synthetic row for a strength.
    fn synthetic(&self, gamma: f64) -> (f64, f64) {
        let moved = |row: f64, mean: f64| mean + (row - mean) / gamma.sqrt();
        (moved(self.x, self.mean.0), moved(self.y, self.mean.1))
    }
}

/// A plot of original rows (rings) and of the synthetic row of each (dots) for a strength γ.
///
/// Each dot has `data-x` and `data-y`, the place of its original row in the picture, and `data-mx`
/// and `data-my`, that of the mean. Both axes are linear, so that a script can move it to another
/// γ: `cx = mx + (x − mx) / √γ`, and `cy` likewise.
///
/// ```
/// use windlass_plot::{Moving, MovingPoint};
///
/// let point = MovingPoint { x: 3.0, y: 5.0, mean: (1.0, 4.0), group: 0 };
/// let plot = Moving { points: vec![point], gamma: 2.0, range: (0.5, 8.0), ..Moving::default() };
/// assert!(plot.to_svg().contains("data-mx='"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Moving {
    /// Heading of the plot.
    pub title: String,
    /// Name of the feature.
    pub x_label: String,
    /// Name of the target.
    pub y_label: String,
    /// The rows. Those that are not finite, also when they are moved, are left out.
    pub points: Vec<MovingPoint>,
    /// The strength that is drawn.
    pub gamma: f64,
    /// The least and the greatest strength whose rows must have room.
    pub range: (f64, f64),
    /// How large the plot is.
    pub size: Size,
}

impl Default for Moving {
    /// No rows, which γ = 1 leaves alone.
    fn default() -> Self {
        Self {
            title: String::new(),
            x_label: String::new(),
            y_label: String::new(),
            points: Vec::new(),
            gamma: 1.0,
            range: (1.0, 1.0),
            size: Size::Page,
        }
    }
}

impl Moving {
    /// The plot as an SVG document that refers to nothing outside itself.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let points: Vec<_> = self.points.iter().filter(|point| self.is_finite(point)).collect();
        let groups = colors(&points.iter().map(|point| point.group).collect());
        let frame = self.frame(&points);
        let drawn = points.len().min(MOST_ROWS);
        let key = self.key(&groups, &frame, drawn);
        let frame = frame.with_legend(key.rows());
        let mut svg = frame.open();
        key.draw(&mut svg, &frame);
        let scale = shrink(drawn) * frame.measures.dot;
        svg.push(format!("<g fill='none' stroke-width='{}'>", num(1.4 * scale)));
        svg.extend(some_of(&points, MOST_ROWS).map(|point| {
            let stroke = groups[&point.group].stroke();
            circle(frame.place(point.x, point.y), RADII[0] * scale, &stroke)
        }));
        svg.push("</g>\n<g fill-opacity='0.75'>".to_owned());
        svg.extend(some_of(&points, MOST_ROWS).map(|point| {
            let (x, y) = frame.place(point.x, point.y);
            let (mx, my) = frame.place(point.mean.0, point.mean.1);
            let [x, y, mx, my] = [x, y, mx, my].map(num);
            let data = format!(" data-x='{x}' data-y='{y}' data-mx='{mx}' data-my='{my}'");
            let (x, y) = point.synthetic(self.gamma);
            let paint = groups[&point.group].fill() + &data;
            circle(frame.place(x, y), RADII[1] * scale, &paint)
        }));
        svg.push("</g>".to_owned());
        if points.is_empty() {
            svg.push(frame.apology("Nothing to draw"));
        }
        frame::close(svg)
    }

    /// The plot as a PNG of twice the size of the SVG, its text in an embedded font.
    pub fn to_png(&self) -> Result<Vec<u8>, PlotError> {
        png::render(&self.to_svg())
    }

    /// All that the axes must reach of a row.
    fn places(&self, point: &MovingPoint) -> [(f64, f64); 5] {
        // A row moves on a line, so that the ends of the range are enough.
        let [low, gamma, high] =
            [self.range.0, self.gamma, self.range.1].map(|gamma| point.synthetic(gamma));
        [(point.x, point.y), point.mean, low, gamma, high]
    }

    fn is_finite(&self, point: &MovingPoint) -> bool {
        self.places(point).iter().all(|(x, y)| x.is_finite() && y.is_finite())
    }

    fn frame(&self, points: &[&MovingPoint]) -> Frame<'_> {
        let words = Words { title: &self.title, x_label: &self.x_label, y_label: &self.y_label };
        let measures = self.size.measures();
        let places = points.iter().flat_map(|point| self.places(point));
        let y_axis = Axis::linear(places.clone().map(|(_, y)| y), measures.most_y_ticks);
        Frame::new(self.size, words, y_axis, |width| {
            Axis::linear_within(places.clone().map(|(x, _)| x), width, measures.most_x_ticks)
        })
    }

    fn key(&self, groups: &Groups, frame: &Frame, drawn: usize) -> Key {
        let ring = circle((5.0, 0.0), RADII[0], &Color::Gray.stroke());
        let ring = format!("<g fill='none' stroke-width='1.4'>{ring}</g>");
        let dot = circle((5.0, 0.0), RADII[1], &Color::Gray.fill());
        let items = [(ring, "Original"), (dot, "Synthetic")]
            .map(|(sample, name)| Item::of_rows(&sample, name, drawn, self.points.len()));
        Key::new(items.into_iter().chain(Item::of_groups(groups, frame.width())), frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::numbers;

    fn plot(gamma: f64) -> Moving {
        let point = |i: u32| {
            let group = i % 3;
            let mean = (f64::from(group), 2.0 * f64::from(group));
            let (x, y) = (mean.0 + f64::from(i).sin(), mean.1 + f64::from(i * i).cos());
            MovingPoint { x, y, mean, group }
        };
        let points = (0..30).map(point).collect();
        Moving { points, gamma, range: (0.25, 16.0), size: Size::Card, ..Moving::default() }
    }

    /// The places of the synthetic rows, and what a script is told of them.
    fn synthetic(svg: &str) -> Vec<[f64; 6]> {
        let dots = svg.split("<g fill-opacity='0.75'>").nth(1).unwrap();
        let of = ["cx", "cy", "data-x", "data-y", "data-mx", "data-my"]
            .map(|attribute| numbers(dots, "circle", attribute));
        (0..of[0].len()).map(|i| of.each_ref().map(|values| values[i])).collect()
    }

    #[test]
    fn a_script_can_move_the_rows_to_any_strength() {
        for gamma in [0.25, 1.0, 4.0, 16.0] {
            let rows = synthetic(&plot(gamma).to_svg());
            assert_eq!(rows.len(), 30);
            for [cx, cy, x, y, mx, my] in rows {
                let moved = |row: f64, mean: f64| mean + (row - mean) / gamma.sqrt();
                // Each of three places is rounded to a tenth, and the largest factor is two.
                assert!((moved(x, mx) - cx).abs() < 0.25 && (moved(y, my) - cy).abs() < 0.25);
            }
        }
    }

    #[test]
    fn axes_hold_all_strengths_and_do_not_depend_on_the_drawn_one() {
        let frame_of = |plot: &Moving| {
            let frame = plot.frame(&plot.points.iter().collect::<Vec<_>>());
            (frame.left, frame.right)
        };
        for gamma in [0.25, 16.0] {
            let plot = plot(gamma);
            let (left, right) = frame_of(&plot);
            assert!(synthetic(&plot.to_svg()).iter().all(|row| (left..=right).contains(&row[0])));
        }
        let data = |gamma: f64| synthetic(&plot(gamma).to_svg()).into_iter().map(|row| row[2]);
        assert!(data(0.25).eq(data(9.0)));
        // A strength beyond the range has room too.
        let far = plot(0.01);
        let (left, right) = frame_of(&far);
        assert!(synthetic(&far.to_svg()).iter().all(|row| (left..=right).contains(&row[0])));
    }

    #[test]
    fn groups_have_colors_and_originals_are_rings() {
        let svg = plot(2.0).to_svg();
        let count = |class: &str| svg.matches(&format!("class='{class}'")).count();
        // Ten rows of each group, and the legend's.
        for group in 0..3 {
            assert_eq!(count(&format!("wl-c{group}-line")), 10);
            assert_eq!(count(&format!("wl-c{group}")), 11);
        }
        assert!(svg.contains(">Original (30)<") && svg.contains(">Synthetic (30)<"));
    }

    #[test]
    fn words_cannot_become_elements_and_an_empty_plot_says_so() {
        let words = "]]></text><script>&\u{8}".to_owned();
        let (title, x_label, y_label) = (words.clone(), words.clone(), words);
        let evil = Moving { title, x_label, y_label, ..plot(2.0) };
        assert!(!evil.to_svg().contains("<script") && evil.to_png().is_ok());
        assert!(!evil.to_svg().contains(">Nothing to draw<"));
        let nan = MovingPoint { x: f64::NAN, ..MovingPoint::default() };
        for empty in [
            Moving::default(),
            plot(-1.0),
            plot(f64::NAN),
            Moving { points: vec![nan], ..plot(1.0) },
        ] {
            assert!(empty.to_svg().contains(">Nothing to draw<") && empty.to_png().is_ok());
        }
    }
}
