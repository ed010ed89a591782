//! What stands around the data of every plot: title, axes, grid and labels.

use crate::axis::Axis;
use crate::colour::{FAINT, GREY, GRID, INK};
use crate::svg::{ems, escape, line, num, power, text, xml};

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 600.0;
pub(crate) const RIGHT: f64 = 876.0;
pub(crate) const BOTTOM: f64 = 534.0;
/// The middle of the first row of a legend.
pub(crate) const LEGEND: f64 = 60.0;
/// From one row of a legend to the next.
pub(crate) const LEGEND_ROW: f64 = 19.0;

/// The rectangle that holds the data, and its axes.
pub(crate) struct Frame {
    pub(crate) left: f64,
    pub(crate) top: f64,
    x: Axis,
    y: Axis,
}

impl Frame {
    /// The labels of the y axis leave a width, and the x axis must make do with it.
    pub(crate) fn new(y: Axis, x_within: impl Fn(f64) -> Axis) -> Self {
        let left = 56.0 + y.widest_label();
        Self { left, top: LEGEND + 24.0, x: x_within(RIGHT - left), y }
    }

    /// Makes room for a legend of so many rows.
    pub(crate) fn make_room(&mut self, legend_rows: usize) {
        self.top += LEGEND_ROW * legend_rows.saturating_sub(1) as f64;
    }

    pub(crate) fn width(&self) -> f64 {
        RIGHT - self.left
    }

    /// Where values stand in the picture.
    pub(crate) fn place(&self, x: f64, y: f64) -> (f64, f64) {
        (self.x_at(self.x.fraction(x)), self.y_at(self.y.fraction(y)))
    }

    fn x_at(&self, fraction: f64) -> f64 {
        self.left + fraction * self.width()
    }

    fn y_at(&self, fraction: f64) -> f64 {
        BOTTOM - fraction * (BOTTOM - self.top)
    }

    /// Begins a picture, with all that stands around the data.
    pub(crate) fn open(&self, title: &str, x_label: &str, y_label: &str) -> Vec<String> {
        let mut svg = vec![format!(
            "<svg xmlns='http://www.w3.org/2000/svg' role='img' width='{WIDTH}' height='{HEIGHT}' \
             viewBox='0 0 {WIDTH} {HEIGHT}' fill='{INK}' font-size='12' \
             font-family='Noto Sans, DejaVu Sans, Helvetica, Arial, sans-serif'>\n\
             <title>{}</title>\n<rect width='{WIDTH}' height='{HEIGHT}' fill='#fff'/>",
            xml(title, 200.0)
        )];
        self.grid(&mut svg);
        self.labels(&mut svg, title, x_label, y_label);
        svg
    }

    fn grid(&self, svg: &mut Vec<String>) {
        let (left, top) = (num(self.left), num(self.top));
        for (at, label) in &self.x.ticks {
            let x = self.x_at(*at);
            svg.push(line(&format!("M{} {top}V{BOTTOM}", num(x)), GRID));
            let x = x.min(WIDTH - 4.0 - 6.0 * ems(label));
            svg.push(text(x, BOTTOM + 20.0, "middle", FAINT, &escape(label)));
        }
        for (at, label) in &self.y.ticks {
            let y = self.y_at(*at);
            svg.push(line(&format!("M{left} {}H{RIGHT}", num(y)), GRID));
            svg.push(text(self.left - 10.0, y + 4.0, "end", FAINT, &power(label)));
        }
        svg.push(line(&format!("M{left} {BOTTOM}H{RIGHT}"), GREY));
    }

    fn labels(&self, svg: &mut Vec<String>, title: &str, x_label: &str, y_label: &str) {
        let title = xml(title, self.width() / 18.0);
        let x_label = xml(x_label, (self.width() - 60.0) / 13.0) + &self.x.unit_note();
        let y_label = xml(y_label, (BOTTOM - self.top - 60.0) / 13.0) + &self.y.unit_note();
        for (size, x, y, turn, anchor, words) in [
            (18, self.left, 36.0, 0, "start", title),
            (13, self.x_at(0.5), HEIGHT - 22.0, 0, "middle", x_label),
            (13, 28.0, self.y_at(0.5), -90, "middle", y_label),
        ] {
            let place = format!("translate({} {}) rotate({turn})", num(x), num(y));
            let words = text(0.0, 0.0, anchor, INK, &words);
            svg.push(format!("<g font-size='{size}' transform='{place}'>{words}</g>"));
        }
    }

    /// Words in the middle, where there is nothing else.
    pub(crate) fn apology(&self, words: &str) -> String {
        text(self.x_at(0.5), self.y_at(0.5), "middle", FAINT, words)
    }
}

/// Ends a picture.
pub(crate) fn close(mut svg: Vec<String>) -> String {
    svg.push("</svg>\n".to_owned());
    svg.join("\n")
}
