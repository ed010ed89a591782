//! Rows that move toward or away from the mean of their group as the strength γ of an augmentation
//! changes:
//!
//! ```text
//! synthetic = mean + (row − mean) / √γ
//! ```

use crate::color::Color;
use crate::frame::{Frame, Labels, Legend};
use crate::layout::Layout;
use crate::legend::{GroupColors, Item, group_colors, item_legend};
use crate::scatter::{marker_scale, subsample};
use crate::svg::{circle, group, num};

/// Maximum number of rows drawn: a script has to move all of them.
const MAX_ROWS: usize = 2_500;
/// Radii of original and synthetic rows.
const RADII: [f64; 2] = [4.0, 3.4];

/// A row and the mean of its group.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SliderPoint {
    /// The feature and the target.
    pub row: (f64, f64),
    /// The means of both in the group.
    pub mean: (f64, f64),
    /// The group, which determines the color.
    pub group: u32,
}

impl SliderPoint {
    fn synthetic(&self, gamma: f64) -> (f64, f64) {
        let moved = |row: f64, mean: f64| mean + (row - mean) / gamma.sqrt();
        (moved(self.row.0, self.mean.0), moved(self.row.1, self.mean.1))
    }
}

/// A plot of original rows (rings) and of the synthetic row of each (dots) at a strength γ.
///
/// Each dot has `data-x` and `data-y`, the place of its original row in the picture, and `data-mx`
/// and `data-my`, that of the mean. Both axes are linear, so that a script can move it to another
/// γ: `cx = mx + (x − mx) / √γ`, and `cy` likewise.
#[derive(Clone, Debug, PartialEq)]
pub struct GammaSlider {
    /// Title and axis labels.
    pub labels: Labels,
    /// The rows. Those that are not finite, before or after the move, are omitted.
    pub points: Vec<SliderPoint>,
    /// The strength that is drawn.
    pub gamma: f64,
    /// The range of strengths for which the axes have room.
    pub range: (f64, f64),
}

impl GammaSlider {
    /// The plot as an SVG document without external references.
    #[must_use]
    pub fn to_svg(&self, layout: &Layout) -> String {
        let finite = |point: &&SliderPoint| {
            self.places(point).iter().all(|(x, y)| x.is_finite() && y.is_finite())
        };
        let points: Vec<_> = self.points.iter().filter(finite).collect();
        let colors = group_colors(points.iter().map(|point| point.group));
        let frame = self.frame(layout, &points);
        let drawn = points.len().min(MAX_ROWS);
        let legend = self.legend(&colors, &frame, drawn);
        let frame = frame.with_legend(legend);
        let mut svg = frame.open();
        let scale = marker_scale(drawn, layout);
        let rings = subsample(&points, MAX_ROWS).map(|point| {
            let stroke = colors[&point.group].stroke();
            circle(frame.place(point.row), RADII[0] * scale, &stroke)
        });
        group(&mut svg, &format!(" fill='none' stroke-width='{}'", num(1.4 * scale)), rings);
        let dots = subsample(&points, MAX_ROWS).map(|point| {
            let ((x, y), (mx, my)) = (frame.place(point.row), frame.place(point.mean));
            let [x, y, mx, my] = [x, y, mx, my].map(num);
            let data = format!(" data-x='{x}' data-y='{y}' data-mx='{mx}' data-my='{my}'");
            let paint = colors[&point.group].fill() + &data;
            circle(frame.place(point.synthetic(self.gamma)), RADII[1] * scale, &paint)
        });
        group(&mut svg, " fill-opacity='0.75'", dots);
        frame.close(svg, points.is_empty())
    }

    /// All places of a point that the axes must contain.
    fn places(&self, point: &SliderPoint) -> [(f64, f64); 5] {
        // A row moves on a line, so the ends of the range suffice.
        let [low, gamma, high] =
            [self.range.0, self.gamma, self.range.1].map(|gamma| point.synthetic(gamma));
        [point.row, point.mean, low, gamma, high]
    }

    fn frame<'a>(&'a self, layout: &'a Layout, points: &[&SliderPoint]) -> Frame<'a> {
        let places = points.iter().flat_map(|point| self.places(point));
        Frame::linear(layout, &self.labels, places)
    }

    fn legend(&self, colors: &GroupColors, frame: &Frame, drawn: usize) -> Legend {
        let ring = circle((5.0, 0.0), RADII[0], &Color::Gray.stroke());
        let ring = format!("<g fill='none' stroke-width='1.4'>{ring}</g>");
        let dot = circle((5.0, 0.0), RADII[1], &Color::Gray.fill());
        let items = [(ring, "Original"), (dot, "Synthetic")]
            .map(|(sample, name)| Item::of_rows(&sample, name, drawn, self.points.len()));
        let groups = Item::of_groups(colors, frame.width());
        item_legend(frame, items.into_iter().chain(groups))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render_png;
    use crate::svg::numbers;

    fn plot(gamma: f64) -> GammaSlider {
        let point = |i: u32| {
            let group = i % 3;
            let mean = (f64::from(group), 2.0 * f64::from(group));
            let (x, y) = (mean.0 + f64::from(i).sin(), mean.1 + f64::from(i * i).cos());
            SliderPoint { row: (x, y), mean, group }
        };
        let points = (0..30).map(point).collect();
        GammaSlider { labels: Labels::default(), points, gamma, range: (0.25, 16.0) }
    }

    /// The places of the synthetic rows, and the data attributes.
    fn synthetic(svg: &str) -> Vec<[f64; 6]> {
        let dots = svg.split("<g fill-opacity='0.75'>").nth(1).unwrap();
        let of = ["cx", "cy", "data-x", "data-y", "data-mx", "data-my"]
            .map(|attribute| numbers(dots, "circle", attribute));
        (0..of[0].len()).map(|i| of.each_ref().map(|values| values[i])).collect()
    }

    #[test]
    fn a_script_can_move_the_rows_to_any_strength() {
        for gamma in [0.25, 1.0, 4.0, 16.0] {
            let rows = synthetic(&plot(gamma).to_svg(&Layout::CARD));
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
        let frame_of = |plot: &GammaSlider| {
            let frame = plot.frame(&Layout::CARD, &plot.points.iter().collect::<Vec<_>>());
            (frame.left, frame.right)
        };
        for gamma in [0.25, 16.0] {
            let plot = plot(gamma);
            let (left, right) = frame_of(&plot);
            assert!(
                synthetic(&plot.to_svg(&Layout::CARD))
                    .iter()
                    .all(|row| (left..=right).contains(&row[0]))
            );
        }
        let data = |gamma: f64| {
            synthetic(&plot(gamma).to_svg(&Layout::CARD)).into_iter().map(|row| row[2])
        };
        assert!(data(0.25).eq(data(9.0)));
        // A strength beyond the range has room too.
        let far = plot(0.01);
        let (left, right) = frame_of(&far);
        assert!(
            synthetic(&far.to_svg(&Layout::CARD))
                .iter()
                .all(|row| (left..=right).contains(&row[0]))
        );
    }

    #[test]
    fn groups_have_colors_and_originals_are_rings() {
        let svg = plot(2.0).to_svg(&Layout::CARD);
        let count = |class: &str| svg.matches(&format!("class='{class}'")).count();
        // Ten rows of each group, and the legend's.
        for group in 0..3 {
            assert_eq!(count(&format!("wl-c{group}-line")), 10);
            assert_eq!(count(&format!("wl-c{group}")), 11);
        }
        assert!(svg.contains(">Original (30)<") && svg.contains(">Synthetic (30)<"));
    }

    #[test]
    fn labels_are_escaped_and_an_empty_plot_says_so() {
        let text = "]]></text><script>&\u{8}";
        let svg = GammaSlider { labels: Labels::new(text, text, text), ..plot(2.0) };
        let svg = svg.to_svg(&Layout::PAGE);
        assert!(!svg.contains("<script") && render_png(&svg).is_ok());
        assert!(!svg.contains(">Nothing to draw<"));
        let nan = SliderPoint { row: (f64::NAN, 0.0), ..SliderPoint::default() };
        let nan = GammaSlider { points: vec![nan], ..plot(1.0) };
        for empty in [GammaSlider { points: vec![], ..plot(1.0) }, plot(-1.0), plot(f64::NAN), nan]
        {
            let svg = empty.to_svg(&Layout::CARD);
            assert!(svg.contains(">Nothing to draw<") && render_png(&svg).is_ok());
        }
    }
}
