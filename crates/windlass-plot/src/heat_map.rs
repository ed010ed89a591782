//! A heat map: a value for each pair of names.

use crate::axis::{Axis, range};
use crate::color::Color;
use crate::frame::{self, Frame, Words};
use crate::groups::{Item, Key};
use crate::png::{self, PlotError};
use crate::size::Size;
use crate::svg::{cut, ems, escape, num, rect, text, thousands, turned};

/// Most digits after the point.
const MOST_DECIMALS: usize = 9;
/// Least size of a number; where it has no room, numbers are turned.
const LEAST_TEXT: f64 = 9.0;
/// What a cell is larger than its number.
const PADDING: f64 = 7.0;
/// Length and height of the bar of colors, and how many it has.
const BAR: (f64, f64) = (110.0, 11.0);
const BAR_STEPS: u8 = 55;
/// Side of the sample of a best cell.
const SAMPLE: f64 = 11.0;
/// Between the pieces of the legend.
const GAP: f64 = 8.0;

/// Which value is the best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Best {
    /// The least, as of errors.
    #[default]
    Least,
    /// The greatest, as of scores.
    Most,
}

impl Best {
    fn name(self) -> &'static str {
        match self {
            Self::Least => "least",
            Self::Most => "greatest",
        }
    }
}

/// A plot of cells that are the lighter the greater their values are, as high as its rows need. The
/// best cell has an outline, and so have its equals.
///
/// ```
/// use windlass_plot::HeatMap;
///
/// let names = |names: [&str; 2]| names.map(str::to_owned).to_vec();
/// let plot = HeatMap {
///     x_names: names(["1", "10"]),
///     y_names: names(["ridge", "mlp"]),
///     values: vec![vec![Some(0.52), Some(0.48)], vec![Some(0.61), None]],
///     value_label: "RMSE".to_owned(),
///     decimals: 2,
///     ..HeatMap::default()
/// };
/// assert!(plot.to_svg().contains(">0.61<"));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatMap {
    /// Heading of the plot.
    pub title: String,
    /// Name of the x axis.
    pub x_label: String,
    /// Name of the y axis.
    pub y_label: String,
    /// The names of the columns, from the left.
    pub x_names: Vec<String>,
    /// The names of the rows, from the top.
    pub y_names: Vec<String>,
    /// The values, a row for each name of the y axis. Those that are missing or not finite are gray
    /// cells with a dash.
    pub values: Vec<Vec<Option<f64>>>,
    /// What the values are.
    pub value_label: String,
    /// Digits after the point, at most nine.
    pub decimals: usize,
    /// Which cell has an outline.
    pub best: Best,
    /// How large the plot is.
    pub size: Size,
}

impl HeatMap {
    /// The plot as an SVG document that refers to nothing outside itself.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let frame = self.frame();
        let Some(ends) = range(self.cells().filter_map(|(.., value)| value)) else {
            let mut svg = frame.open();
            svg.push(frame.apology("Nothing to draw"));
            return frame::close(svg);
        };
        let key = Key::new(self.items(ends, &frame), &frame);
        let frame = frame.with_legend(key.rows());
        let lettering = self.lettering(frame.width() / self.x_names.len() as f64);
        let [least, most] = frame.measures.cell_row;
        let rows = self.y_names.len() as f64;
        let row = ((frame.bottom - frame.top) / rows).min(most).max(least).max(lettering.height);
        let frame = frame.with_body(row * rows);
        let mut svg = frame.open();
        key.draw(&mut svg, &frame);
        self.draw(&mut svg, &frame, ends, &lettering);
        frame::close(svg)
    }

    /// The plot as a PNG of twice the size of the SVG, its text in an embedded font.
    pub fn to_png(&self) -> Result<Vec<u8>, PlotError> {
        png::render(&self.to_svg())
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

    fn frame(&self) -> Frame<'_> {
        let words = Words { title: &self.title, x_label: &self.x_label, y_label: &self.y_label };
        let most_ems = self.size.measures().name_ems;
        let rows = self.y_names.iter().map(|name| (1.0, Some(cut(name, most_ems))));
        Frame::new(self.size, words, Axis::rows(rows), |width| Axis::columns(&self.x_names, width))
    }

    fn number(&self, value: f64) -> String {
        let decimals = self.decimals.min(MOST_DECIMALS);
        if value.abs() < 1e7 {
            thousands(&format!("{value:.decimals$}"))
        } else {
            format!("{value:.decimals$e}").replace('-', "−")
        }
    }

    /// The legend: what the values are, the bar of their colors and a sample of the best.
    fn items(&self, (low, high): (f64, f64), frame: &Frame) -> Vec<Item> {
        let (from, to) = (self.number(low), self.number(high));
        let at = 12.0 * ems(&from) + GAP;
        let mut bar = text(0.0, 4.0, "start", Color::Faint, &from);
        for i in 0..BAR_STEPS {
            let part = f64::from(i) / f64::from(BAR_STEPS);
            let shade = Color::Shade(f64::from(i) / f64::from(BAR_STEPS - 1)).fill();
            // Each reaches to the end under the next, so that there are no seams.
            let corners = [at + BAR.0 * part, -BAR.1 / 2.0, at + BAR.0, BAR.1 / 2.0];
            bar += &rect(corners, &shade);
        }
        let end = at + BAR.0 + GAP;
        bar += &text(end, 4.0, "start", Color::Faint, &to);

        let words = self.best.name();
        let best = outline([0.0, -SAMPLE / 2.0, SAMPLE, SAMPLE / 2.0])
            + &text(SAMPLE + GAP, 4.0, "start", Color::Ink, words);
        let label = cut(&self.value_label, frame.width() / 12.0 - 1.0);
        let named = text(0.0, 4.0, "start", Color::Ink, &escape(&label));
        let named = (!label.is_empty()).then(|| Item::new(12.0 * ems(&label), named));
        let bar = Item::new(end + 12.0 * ems(&to), bar);
        named.into_iter().chain([bar, Item::new(SAMPLE + GAP + 12.0 * ems(words), best)]).collect()
    }

    /// How numbers fit in cells of a width.
    fn lettering(&self, width: f64) -> Lettering {
        let values = self.cells().filter_map(|(.., value)| value);
        let widest = values.map(|v| ems(&self.number(v))).fold(1.0, f64::max);
        let size = (width - PADDING) / widest;
        if size >= LEAST_TEXT {
            return Lettering { size: size.min(12.0), turned: false, height: 0.0 };
        }
        let size = (width - PADDING).clamp(1.0, 12.0);
        Lettering { size, turned: true, height: size * widest + PADDING }
    }

    fn draw(&self, svg: &mut Vec<String>, frame: &Frame, ends: (f64, f64), letters: &Lettering) {
        let best = match self.best {
            Best::Least => ends.0,
            Best::Most => ends.1,
        };
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
            // A line of paper stays between cells.
            let inner = [x + 0.5, y + 0.5, x + width - 0.5, y + height - 0.5];
            cells.push(rect(inner, &paint.fill()));
            numbers.push(letters.write(x + width / 2.0, y + height / 2.0, ink, &words));
            if value.is_some_and(|value| value.total_cmp(&best).is_eq()) {
                outlines.push(outline([x, y, x + width, y + height]));
            }
        }
        svg.append(&mut cells);
        svg.append(&mut outlines);
        svg.push(format!("<g font-size='{}'>", num(letters.size)));
        svg.append(&mut numbers);
        svg.push("</g>".to_owned());
    }
}

/// How numbers are written in their cells.
struct Lettering {
    size: f64,
    /// Whether they run upwards.
    turned: bool,
    /// The height that they need.
    height: f64,
}

impl Lettering {
    /// Words around a place.
    fn write(&self, x: f64, y: f64, ink: Color, words: &str) -> String {
        // Half the height of a digit.
        let half = 0.36 * self.size;
        if self.turned {
            let words = text(0.0, half, "middle", ink, words);
            return format!("<g{}>{words}</g>", turned(x, y, -90));
        }
        text(x, y + half, "middle", ink, words)
    }
}

/// Where a value stands between the least and the greatest.
fn shade(value: f64, (low, high): (f64, f64)) -> f64 {
    // Halved, since the distance of the largest numbers would not be finite.
    let [value, low, high] = [value, low, high].map(|v| v / 2.0);
    if high > low { (value - low) / (high - low) } else { 0.5 }
}

/// A line of ink between two of paper, which is seen on any shade.
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
    use crate::svg::numbers;

    fn names(n: usize) -> Vec<String> {
        (0..n).map(|i| format!("name {i}")).collect()
    }

    /// So many columns and rows with the values 0, 1, 2 and so on.
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
        for (best, at, name) in [(Best::Least, 0, ">least<"), (Best::Most, 5, ">greatest<")] {
            let svg = HeatMap { best, ..plot(3, 2) }.to_svg();
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
        assert_eq!(rects(&ties.to_svg()).len(), 6 + 2 * 6);
    }

    #[test]
    fn missing_values_are_gray_dashes() {
        let values = vec![vec![Some(1.0), None, Some(f64::NAN)], vec![Some(f64::INFINITY)]];
        let svg = HeatMap { values, ..plot(3, 2) }.to_svg();
        // The row is too short too.
        assert_eq!((svg.matches(">–<").count(), rects(&svg).len()), (5, 6 + 2));
        let gray = tags(&svg).filter(|tag| tag.contains("class='wl-grid'")).count();
        assert_eq!(gray, 5);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn numbers_fit_in_their_cells_from_two_to_twelve() {
        for size in [Size::Page, Size::Card] {
            for (n, decimals) in [(2, 0), (2, 9), (5, 3), (12, 1), (12, 3), (12, 9)] {
                let plot = HeatMap { decimals, size, ..plot(n, n) };
                let svg = plot.to_svg();
                let cells = rects(&svg);
                assert_eq!(cells.len(), n * n + 2);
                let [left, top, right, bottom] = cells[0];
                let letters = plot.lettering(right - left + 1.0);
                let widest = letters.size * ems(&plot.number((n * n - 1) as f64));
                let room = if letters.turned { bottom - top } else { right - left };
                assert!(
                    letters.size >= LEAST_TEXT && widest <= room - 4.0,
                    "{size:?} {n} {decimals}"
                );
                assert!(bottom - top >= 18.0);
                // All cells are in the picture, and the names too.
                let height = numbers(&svg, "svg", " height")[0];
                assert!(cells.iter().all(|cell| cell[3] < height - 15.0));
                assert_eq!(svg.matches(">name ").count(), 2 * n);
            }
        }
        assert!(plot(12, 12).lettering(60.0).height < 1.0);
        // A map of more columns than that is drawn too.
        assert!(plot(300, 2).to_png().is_ok());
    }

    #[test]
    fn shades_stay_the_same_and_all_else_follows_the_page() {
        let svg = plot(3, 2).to_svg();
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
        assert_eq!(svg, plot(3, 2).to_svg());
    }

    #[test]
    fn large_numbers_and_many_decimals_stay_short() {
        let values = vec![vec![Some(-f64::MAX), Some(f64::MAX)], vec![Some(0.0), Some(1e-300)]];
        let huge = HeatMap { values, decimals: usize::MAX, ..plot(2, 2) };
        let svg = huge.to_svg();
        assert!(svg.contains(">−1.797693135e308<") && svg.contains(">0.000000000<"));
        assert!(!svg.contains("NaN") && !svg.contains("inf") && huge.to_png().is_ok());
        assert!(HeatMap { decimals: 0, ..plot(40, 30) }.to_svg().contains(">1,199<"));
    }

    #[test]
    fn words_cannot_become_elements_and_an_empty_plot_says_so() {
        let words = "]]></text><script>&\u{8}".to_owned();
        for size in [Size::Page, Size::Card] {
            let evil = HeatMap {
                title: words.clone(),
                x_label: words.clone(),
                y_label: words.clone(),
                x_names: vec![words.clone(); 12],
                y_names: vec![words.clone(); 12],
                value_label: words.repeat(20),
                size,
                ..plot(12, 12)
            };
            assert!(!evil.to_svg().contains("<script") && evil.to_png().is_ok());
        }
        let bare = HeatMap { values: vec![vec![None, Some(f64::NAN)]], ..plot(2, 2) };
        let unnamed = HeatMap { x_names: Vec::new(), ..plot(2, 2) };
        for empty in [HeatMap::default(), bare, unnamed, plot(2, 0)] {
            assert!(empty.to_svg().contains(">Nothing to draw<") && empty.to_png().is_ok());
            assert!(!empty.to_svg().contains("NaN"));
        }
        assert!(!plot(1, 1).to_svg().contains(">Nothing to draw<"));
    }
}
