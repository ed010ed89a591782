//! What stands around the data of every plot: title, axes, grid and labels.

use std::f64::consts::SQRT_2;

use crate::axis::Axis;
use crate::color::Color;
use crate::size::{Measures, Size};
use crate::svg::{cut, ems, line, num, text, turned, xml};

/// What is written around the data. Nothing has room where it is empty.
#[derive(Clone, Copy)]
pub(crate) struct Words<'a> {
    pub(crate) title: &'a str,
    pub(crate) x_label: &'a str,
    pub(crate) y_label: &'a str,
}

/// The rectangle that holds the data, and its axes.
pub(crate) struct Frame<'a> {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
    /// The middle of the first row of the legend.
    pub(crate) legend: f64,
    pub(crate) measures: &'static Measures,
    words: Words<'a>,
    height: f64,
    x: Axis,
    y: Axis,
}

/// The first where there is a text, or else the second.
fn room(lengths: [f64; 2], words: bool) -> f64 {
    lengths[usize::from(!words)]
}

/// Whether an axis has anything to say.
fn speaks(label: &str, axis: &Axis) -> bool {
    !label.is_empty() || !axis.unit_note().is_empty()
}

impl<'a> Frame<'a> {
    /// The labels of the y axis leave a width, and the x axis must make do with it.
    pub(crate) fn new(
        size: Size,
        words: Words<'a>,
        y: Axis,
        x_within: impl Fn(f64) -> Axis,
    ) -> Self {
        let measures = size.measures();
        let ticks_from = room(measures.ticks_from, speaks(words.y_label, &y));
        let left = ticks_from + y.widest_label() + measures.tick_gap;
        let right = measures.width - measures.right_margin;
        let legend = room(measures.head, !words.title.is_empty()) + measures.legend_from;
        let (height, x) = (measures.height, x_within(right - left));
        let frame =
            Self { left, right, top: 0.0, bottom: 0.0, legend, measures, words, height, x, y };
        frame.with_legend(0)
    }

    /// Makes room for a legend of so many rows.
    pub(crate) fn with_legend(mut self, rows: usize) -> Self {
        let Measures { legend_from, legend_row, top_gap, .. } = self.measures;
        self.top = match rows {
            0 => self.legend - legend_from + top_gap[1],
            rows => self.legend + legend_row * (rows - 1) as f64 + top_gap[0],
        };
        let body = self.measures.height - self.foot() - self.top;
        let body = body.max(self.measures.least_body);
        self.with_body(body)
    }

    /// Gives the rectangle a height, and the picture as much as that needs.
    pub(crate) fn with_body(mut self, body: f64) -> Self {
        self.bottom = self.top + body;
        self.height = self.bottom + self.foot();
        self
    }

    fn foot(&self) -> f64 {
        room(self.measures.foot, speaks(self.words.x_label, &self.x)) + self.x.slope()
    }

    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    /// Where values stand in the picture.
    pub(crate) fn place(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x_of(x), self.y_at(self.y.fraction(y)))
    }

    pub(crate) fn x_of(&self, value: f64) -> f64 {
        self.x_at(self.x.fraction(value))
    }

    fn x_at(&self, fraction: f64) -> f64 {
        self.left + fraction * self.width()
    }

    fn y_at(&self, fraction: f64) -> f64 {
        self.bottom - fraction * (self.bottom - self.top)
    }

    /// Begins a picture, with all that stands around the data.
    pub(crate) fn open(&self) -> Vec<String> {
        let mut svg = vec![begin(self.words.title, self.measures.width, self.height)];
        self.grid(&mut svg);
        self.labels(&mut svg);
        svg
    }

    fn grid(&self, svg: &mut Vec<String>) {
        let [left, right, top, bottom] = [self.left, self.right, self.top, self.bottom].map(num);
        for (at, label) in &self.x.ticks {
            let x = self.x_at(*at);
            svg.push(line(&format!("M{} {top}V{bottom}", num(x)), Color::Grid));
            if self.x.slanted {
                svg.push(self.slanted(x, label));
                continue;
            }
            let half = 4.0 + 6.0 * ems(label);
            let x = x.min(self.measures.width - half).max(half);
            let (y, label) = (self.bottom + self.measures.tick_base, self.x.markup(label));
            svg.push(text(x, y, "middle", Color::Faint, &label));
        }
        for (at, label) in &self.y.ticks {
            let y = self.y_at(*at);
            svg.push(line(&format!("M{left} {}H{right}", num(y)), Color::Grid));
            let (x, label) = (self.left - self.measures.tick_gap, self.y.markup(label));
            svg.push(text(x, y + 4.0, "end", Color::Faint, &label));
        }
        svg.push(line(&format!("M{left} {bottom}H{right}"), Color::Gray));
    }

    /// A label that ends below a place on the x axis, cut where the picture begins.
    fn slanted(&self, x: f64, label: &str) -> String {
        let (x, y) = (x + 3.0, self.bottom + self.measures.tick_base - 3.0);
        let label = cut(label, (x - 12.0) * SQRT_2 / 12.0 - 1.0);
        let words = text(0.0, 0.0, "end", Color::Faint, &self.x.markup(&label));
        format!("<g{}>{words}</g>", turned(x, y, -45))
    }

    fn labels(&self, svg: &mut Vec<String>) {
        let &Measures { title_size, title_base, label_size, y_label_base, x_label_up, .. } =
            self.measures;
        let Words { title, x_label, y_label } = self.words;
        let ems = |length: f64| (length - 60.0).max(60.0) / label_size;
        let x_words = xml(x_label, ems(self.width())) + &self.x.unit_note();
        let y_words = xml(y_label, ems(self.bottom - self.top)) + &self.y.unit_note();
        let title_from = self.left.min(self.measures.title_from);
        let title_words = xml(title, (self.right - title_from) / title_size);
        for (size, x, y, turn, anchor, words) in [
            (title_size, title_from, title_base, 0, "start", title_words),
            (label_size, self.x_at(0.5), self.height - x_label_up, 0, "middle", x_words),
            (label_size, y_label_base, self.y_at(0.5), -90, "middle", y_words),
        ] {
            if !words.is_empty() {
                let words = text(0.0, 0.0, anchor, Color::Ink, &words);
                svg.push(format!("<g font-size='{size}'{}>{words}</g>", turned(x, y, turn)));
            }
        }
    }

    /// Words in the middle, where there is nothing else.
    pub(crate) fn apology(&self, words: &str) -> String {
        text(self.x_at(0.5), self.y_at(0.5), "middle", Color::Faint, words)
    }
}

/// Begins an empty picture of this size.
pub(crate) fn begin(title: &str, width: f64, height: f64) -> String {
    let (width, height) = (num(width), num(height));
    let title = match title {
        "" => String::new(),
        title => format!("<title>{}</title>\n", xml(title, 200.0)),
    };
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' role='img' width='{width}' height='{height}' \
         viewBox='0 0 {width} {height}'{} font-size='12' \
         font-family='Noto Sans, DejaVu Sans, Helvetica, Arial, sans-serif'>\n\
         {title}<rect width='{width}' height='{height}'{}/>",
        Color::Ink.fill(),
        Color::Paper.fill()
    )
}

/// Ends a picture.
pub(crate) fn close(mut svg: Vec<String>) -> String {
    svg.push("</svg>\n".to_owned());
    svg.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::numbers;

    fn frame(size: Size, title: &'static str, label: &'static str) -> Frame<'static> {
        let axis = || Axis::linear([0.0, 1.0].into_iter(), 5.0);
        Frame::new(size, Words { title, x_label: label, y_label: label }, axis(), |_| axis())
    }

    #[test]
    fn words_that_are_missing_have_no_room() {
        for size in [Size::Page, Size::Card] {
            let (full, bare) = (frame(size, "title", "label"), frame(size, "", ""));
            assert!(full.top > bare.top + 15.0 && full.left > bare.left + 15.0);
            assert!(full.bottom < bare.bottom - 15.0 && full.right == bare.right);
            assert!(bare.with_legend(1).top < full.with_legend(1).top);
        }
    }

    #[test]
    fn a_page_has_its_size_and_a_card_grows_with_its_legend() {
        let height = |size, rows| {
            let frame = frame(size, "title", "label").with_legend(rows);
            assert!(frame.bottom - frame.top >= frame.measures.least_body);
            let svg = close(frame.open());
            (numbers(&svg, "svg", " width")[0], numbers(&svg, "svg", " height")[0])
        };
        assert_eq!([0, 1, 6].map(|rows| height(Size::Page, rows)), [(900.0, 600.0); 3]);
        assert_eq!([0, 1].map(|rows| height(Size::Card, rows)), [(400.0, 300.0); 2]);
        assert!(height(Size::Card, 9) > (400.0, 350.0));
    }

    #[test]
    fn text_is_never_too_small_for_a_phone() {
        let tiny = Axis::linear([0.0, 1e-9].into_iter(), 5.0);
        let words = Words { title: "t", x_label: "x", y_label: "y" };
        let axis = |_| Axis::logarithmic([1e-9, 1.0].into_iter(), 7);
        let svg = close(Frame::new(Size::Card, words, tiny, axis).open());
        let sizes = ["svg", "g", "tspan"].map(|element| numbers(&svg, element, "font-size"));
        assert!(sizes.iter().all(|sizes| !sizes.is_empty()));
        assert!(sizes.iter().flatten().all(|size| *size >= 11.0));
    }

    #[test]
    fn whatever_has_a_color_has_a_class() {
        let svg = close(frame(Size::Page, "title", "label").open());
        let colored =
            svg.split('<').filter(|tag| tag.contains("fill='#") || tag.contains("stroke='#"));
        assert!(
            colored.clone().count() > 15 && colored.clone().all(|tag| tag.contains(" class='wl-"))
        );
    }
}
