//! Heat maps: a value for each pair of names.

use crate::axis::{Axis, range};
use crate::color::Color;
use crate::format::{thousands, true_minus};
use crate::frame::{Frame, Labels};
use crate::layout::Layout;
use crate::legend::{Item, item_legend};
use crate::svg::{ems, group, num, rect, rotated, text, text_width, truncate, xml};

/// Maximum number of decimals.
const MAX_DECIMALS: usize = 9;
/// Minimum font size of horizontal numbers; without room for it, numbers are vertical.
const MIN_FONT_SIZE: f64 = 9.0;
/// Space around a number in its cell.
const PADDING: f64 = 7.0;
/// Length and height of the color bar, and its number of colors.
const BAR: (f64, f64) = (110.0, 11.0);
const BAR_STEPS: u8 = 55;
/// Side of the sample of an outlined cell.
const SAMPLE: f64 = 11.0;
/// Space between a part of the legend and its text.
const GAP: f64 = 8.0;

/// A plot of cells that are lighter the greater their values are, as high as its rows need. The
/// best cells are outlined.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMap {
    /// Title and axis labels.
    pub labels: Labels,
    /// The names of the columns, from the left.
    pub x_names: Vec<String>,
    /// The names of the rows, from the top.
    pub y_names: Vec<String>,
    /// The values, a row for each name of the y axis; gray cells with a dash if missing or not finite.
    pub values: Vec<Vec<Option<f64>>>,
    /// Name of the values.
    pub value_label: String,
    /// Number of decimals, at most nine.
    pub decimals: usize,
    /// Whether the greatest value is the best, as of scores; the least is, as of errors, otherwise.
    pub higher_is_better: bool,
}

impl HeatMap {
    /// The plot as an SVG document without external references.
    #[must_use]
    pub fn to_svg(&self, layout: &Layout) -> String {
        let frame = self.frame(layout);
        let Some(ends) = range(self.cells().filter_map(|(.., value)| value)) else {
            return frame.close(frame.open(), true);
        };
        let legend = item_legend(&frame, self.legend_items(ends, frame.width()));
        let frame = frame.with_legend(legend);
        let cell_text = self.cell_text(frame.width() / self.x_names.len() as f64);
        let [min, max] = layout.cell_row;
        let rows = self.y_names.len() as f64;
        let row = ((frame.bottom - frame.top) / rows).min(max).max(min).max(cell_text.height);
        let frame = frame.with_body(row * rows);
        let mut svg = frame.open();
        self.draw(&mut svg, &frame, ends, &cell_text);
        frame.close(svg, false)
    }

    /// Each cell: its row, its column and its value.
    fn cells(&self) -> impl Iterator<Item = (usize, usize, Option<f64>)> {
        let value = |row: usize, column: usize| *self.values.get(row)?.get(column)?;
        let columns = self.x_names.len();
        (0..self.y_names.len() * columns).map(move |i| {
            let (row, column) = (i / columns, i % columns);
            (row, column, value(row, column).filter(|v| v.is_finite()))
        })
    }

    fn frame<'a>(&'a self, layout: &'a Layout) -> Frame<'a> {
        let name = |name: &String| (1.0, Some(truncate(name, layout.row_name_ems)));
        let y_axis = Axis::rows(self.y_names.iter().map(name));
        Frame::new(layout, &self.labels, y_axis, |width| Axis::columns(&self.x_names, width))
    }

    fn number(&self, value: f64) -> String {
        let decimals = self.decimals.min(MAX_DECIMALS);
        if value.abs() < 1e7 {
            thousands(&format!("{value:.decimals$}"))
        } else {
            true_minus(&format!("{value:.decimals$e}"))
        }
    }

    /// Name of the values, color bar and a sample of the outline.
    fn legend_items(&self, (low, high): (f64, f64), width: f64) -> Vec<Item> {
        let (low, high) = (self.number(low), self.number(high));
        let left = text_width(&low) + GAP;
        let mut bar = text(0.0, 4.0, "start", Color::Faint, &low);
        for i in 0..BAR_STEPS {
            let part = f64::from(i) / f64::from(BAR_STEPS);
            let shade = Color::Shade(f64::from(i) / f64::from(BAR_STEPS - 1)).fill();
            // Each step reaches to the right end under the next, so that there are no seams.
            bar += &rect([left + BAR.0 * part, -BAR.1 / 2.0, left + BAR.0, BAR.1 / 2.0], &shade);
        }
        let right = left + BAR.0 + GAP;
        bar += &text(right, 4.0, "start", Color::Faint, &high);
        let bar = Item::new(right + text_width(&high), bar);

        let best = if self.higher_is_better { "greatest" } else { "least" };
        let sample = outline([0.0, -SAMPLE / 2.0, SAMPLE, SAMPLE / 2.0])
            + &text(SAMPLE + GAP, 4.0, "start", Color::Ink, best);
        let sample = Item::new(SAMPLE + GAP + text_width(best), sample);

        let label = truncate(&self.value_label, width / 12.0 - 1.0);
        let name = text(0.0, 4.0, "start", Color::Ink, &xml(&label));
        let name = (!label.is_empty()).then(|| Item::new(text_width(&label), name));
        name.into_iter().chain([bar, sample]).collect()
    }

    fn cell_text(&self, width: f64) -> CellText {
        let values = self.cells().filter_map(|(.., value)| value);
        let widest = values.map(|v| ems(&self.number(v))).fold(1.0, f64::max);
        let size = (width - PADDING) / widest;
        if size >= MIN_FONT_SIZE {
            return CellText { size: size.min(12.0), vertical: false, height: 0.0 };
        }
        let size = (width - PADDING).clamp(1.0, 12.0);
        CellText { size, vertical: true, height: size * widest + PADDING }
    }

    fn draw(&self, svg: &mut Vec<String>, frame: &Frame, ends: (f64, f64), cell_text: &CellText) {
        let best = if self.higher_is_better { ends.1 } else { ends.0 };
        let width = frame.width() / self.x_names.len() as f64;
        let height = (frame.bottom - frame.top) / self.y_names.len() as f64;
        let (mut cells, mut numbers, mut outlines) = (Vec::new(), Vec::new(), Vec::new());
        for (row, column, value) in self.cells() {
            let (x, y) = (frame.left + column as f64 * width, frame.top + row as f64 * height);
            let shade = value.map(|value| shade(value, ends));
            let (paint, ink) = match shade {
                Some(at) => (Color::Shade(at), Color::OnShade(at)),
                None => (Color::Grid, Color::Faint),
            };
            let words = value.map_or("–".to_owned(), |value| self.number(value));
            // A line stays free between cells.
            let inner = [x + 0.5, y + 0.5, x + width - 0.5, y + height - 0.5];
            cells.push(rect(inner, &paint.fill()));
            numbers.push(cell_text.write(x + width / 2.0, y + height / 2.0, ink, &words));
            if value.is_some_and(|value| value.total_cmp(&best).is_eq()) {
                outlines.push(outline([x, y, x + width, y + height]));
            }
        }
        svg.append(&mut cells);
        svg.append(&mut outlines);
        group(svg, &format!(" font-size='{}'", num(cell_text.size)), numbers);
    }
}

/// How the numbers fit in their cells.
struct CellText {
    size: f64,
    vertical: bool,
    /// Minimum height of a cell.
    height: f64,
}

impl CellText {
    fn write(&self, x: f64, y: f64, ink: Color, number: &str) -> String {
        // Half the height of a digit.
        let half = 0.36 * self.size;
        if self.vertical {
            let number = text(0.0, half, "middle", ink, number);
            return format!("<g{}>{number}</g>", rotated(x, y, -90));
        }
        text(x, y + half, "middle", ink, number)
    }
}

/// Position of a value between the least, 0, and the greatest, 1.
fn shade(value: f64, (low, high): (f64, f64)) -> f64 {
    // Halved: the distance of the largest numbers would not be finite.
    let [value, low, high] = [value, low, high].map(|v| v / 2.0);
    if high > low { (value - low) / (high - low) } else { 0.5 }
}

/// A dark line between two light ones, visible on any shade.
fn outline(corners: [f64; 4]) -> String {
    let ring = |color: Color, width: f64| {
        let ring = rect(corners, &color.stroke());
        format!("<g fill='none' stroke-width='{width}'>{ring}</g>")
    };
    ring(Color::Paper, 5.0) + &ring(Color::Ink, 2.4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render_png;
    use crate::svg::numbers;

    fn names(n: usize) -> Vec<String> {
        (0..n).map(|i| format!("name {i}")).collect()
    }

    /// Columns and rows with the values 0, 1, 2 and so on.
    fn plot(columns: usize, rows: usize) -> HeatMap {
        let row = |r: usize| (0..columns).map(|c| Some((r * columns + c) as f64)).collect();
        HeatMap {
            x_names: names(columns),
            y_names: names(rows),
            values: (0..rows).map(row).collect(),
            value_label: "RMSE".to_owned(),
            decimals: 1,
            ..HeatMap::default()
        }
    }

    /// Corners of the rectangles after those of the paper, the bar and the sample.
    fn rects(svg: &str) -> Vec<[f64; 4]> {
        let of = |attribute| numbers(svg, "rect", attribute);
        let (xs, ys) = (of("x"), of("y"));
        // The paper has no place.
        let (widths, heights) = (of("width").split_off(1), of("height").split_off(1));
        let all = (0..xs.len()).map(|i| [xs[i], ys[i], xs[i] + widths[i], ys[i] + heights[i]]);
        all.skip(usize::from(BAR_STEPS) + 2).collect()
    }

    /// The tags of all rectangles.
    fn tags(svg: &str) -> impl Iterator<Item = &str> {
        svg.split("<rect ").skip(1).filter_map(|rest| rest.split('>').next())
    }

    #[test]
    fn cells_have_numbers_and_the_best_an_outline() {
        for (higher_is_better, at, name) in [(false, 0, ">least<"), (true, 5, ">greatest<")] {
            let svg = HeatMap { higher_is_better, ..plot(3, 2) }.to_svg(&Layout::PAGE);
            for number in ["1.0", "2.0", "3.0", "4.0"] {
                assert_eq!(svg.matches(&format!(">{number}<")).count(), 1);
            }
            // In their cells and beside the bar.
            assert!(svg.matches(">0.0<").count() == 2 && svg.matches(">5.0<").count() == 2);
            assert!(svg.contains(name) && svg.contains(">RMSE<"));
            let rects = rects(&svg);
            assert_eq!(rects.len(), 6 + 2);
            let near = |a: [f64; 4], b: [f64; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 0.8);
            let outlined = |i: usize| near(rects[i], rects[6]) && near(rects[i], rects[7]);
            assert_eq!((0..6).filter(|i| outlined(*i)).collect::<Vec<_>>(), [at]);
        }
        let ties = HeatMap { values: vec![vec![Some(2.0); 3]; 2], ..plot(3, 2) };
        assert_eq!(rects(&ties.to_svg(&Layout::PAGE)).len(), 6 + 2 * 6);
    }

    #[test]
    fn missing_values_are_gray_dashes() {
        let values = vec![vec![Some(1.0), None, Some(f64::NAN)], vec![Some(f64::INFINITY)]];
        let svg = HeatMap { values, ..plot(3, 2) }.to_svg(&Layout::PAGE);
        // The row is too short too.
        assert_eq!((svg.matches(">–<").count(), rects(&svg).len()), (5, 6 + 2));
        let gray = tags(&svg).filter(|tag| tag.contains("class='wl-grid'")).count();
        assert_eq!(gray, 5);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn numbers_fit_in_their_cells_from_two_to_twelve() {
        for layout in [Layout::PAGE, Layout::CARD] {
            for (n, decimals) in [(2, 0), (2, 9), (5, 3), (12, 1), (12, 3), (12, 9)] {
                let plot = HeatMap { decimals, ..plot(n, n) };
                let svg = plot.to_svg(&layout);
                let cells = rects(&svg);
                assert_eq!(cells.len(), n * n + 2);
                let [left, top, right, bottom] = cells[0];
                let letters = plot.cell_text(right - left + 1.0);
                let widest = letters.size * ems(&plot.number((n * n - 1) as f64));
                let room = if letters.vertical { bottom - top } else { right - left };
                assert!(letters.size >= MIN_FONT_SIZE && widest <= room - 4.0, "{n} {decimals}");
                assert!(bottom - top >= 18.0);
                // All cells are in the picture, and the names too.
                let height = numbers(&svg, "svg", " height")[0];
                assert!(cells.iter().all(|cell| cell[3] < height - 15.0));
                assert_eq!(svg.matches(">name ").count(), 2 * n);
            }
        }
        assert!(plot(12, 12).cell_text(60.0).height < 1.0);
        // A map of more columns than that is drawn too.
        assert!(render_png(&plot(300, 2).to_svg(&Layout::PAGE)).is_ok());
    }

    #[test]
    fn shades_stay_the_same_and_all_else_follows_the_page() {
        let svg = plot(3, 2).to_svg(&Layout::PAGE);
        let shades = tags(&svg).filter(|tag| !tag.contains("class=")).count();
        assert_eq!(shades, usize::from(BAR_STEPS) + 6);
        for text in svg.split("<text ").skip(1) {
            let fixed = text.contains("fill='#000000'") || text.contains("fill='#ffffff'");
            assert!(fixed != text.contains(" class='wl-"));
        }
        assert!(svg.contains("class='wl-paper-line'") && svg.contains("class='wl-ink-line'"));
        assert!(
            svg.contains(&Color::OnShade(0.0).fill()) && svg.contains(&Color::OnShade(1.0).fill())
        );
        assert!(!svg.contains(" id=") && !svg.contains("url("));
        assert_eq!(svg, plot(3, 2).to_svg(&Layout::PAGE));
    }

    #[test]
    fn large_numbers_and_many_decimals_stay_short() {
        let values = vec![vec![Some(-f64::MAX), Some(f64::MAX)], vec![Some(0.0), Some(1e-300)]];
        let huge = HeatMap { values, decimals: usize::MAX, ..plot(2, 2) };
        let svg = huge.to_svg(&Layout::PAGE);
        assert!(svg.contains(">−1.797693135e308<") && svg.contains(">0.000000000<"));
        assert!(!svg.contains("NaN") && !svg.contains("inf") && render_png(&svg).is_ok());
        assert!(HeatMap { decimals: 0, ..plot(40, 30) }.to_svg(&Layout::PAGE).contains(">1,199<"));
    }

    #[test]
    fn text_is_escaped_and_an_empty_plot_says_so() {
        let text = "]]></text><script>&\u{8}".to_owned();
        for layout in [Layout::PAGE, Layout::CARD] {
            let evil = HeatMap {
                labels: Labels::new(&text, &text, &text),
                x_names: vec![text.clone(); 12],
                y_names: vec![text.clone(); 12],
                value_label: text.repeat(20),
                ..plot(12, 12)
            };
            let svg = evil.to_svg(&layout);
            assert!(!svg.contains("<script") && render_png(&svg).is_ok());
        }
        let bare = HeatMap { values: vec![vec![None, Some(f64::NAN)]], ..plot(2, 2) };
        let unnamed = HeatMap { x_names: Vec::new(), ..plot(2, 2) };
        for empty in [HeatMap::default(), bare, unnamed, plot(2, 0)] {
            let svg = empty.to_svg(&Layout::PAGE);
            assert!(svg.contains(">Nothing to draw<") && render_png(&svg).is_ok());
            assert!(!svg.contains("NaN"));
        }
        assert!(!plot(1, 1).to_svg(&Layout::PAGE).contains(">Nothing to draw<"));
    }
}
