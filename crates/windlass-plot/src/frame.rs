//! The frame of every plot: title, axes, grid, labels and the space of the legend; and files of
//! several plots.

use std::f64::consts::SQRT_2;
use std::fmt::Write as _;

use crate::axis::Axis;
use crate::color::Color;
use crate::layout::Layout;
use crate::svg::{ems, line, num, rotated, text, truncate, xml};

/// Font size of the title, its baseline and the height that it takes.
const TITLE_SIZE: f64 = 18.0;
const TITLE_BASE: f64 = 36.0;
const TITLE_HEIGHT: f64 = 30.0;
/// The title starts at the left end of the frame, but not further to the right than this.
const TITLE_MAX_LEFT: f64 = 160.0;

/// Title and axis labels of a plot. Those that are empty take no space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// Heading of the plot.
    pub title: String,
    /// Label of the x axis.
    pub x: String,
    /// Label of the y axis.
    pub y: String,
}

impl Labels {
    /// The labels of a plot.
    pub fn new(title: impl Into<String>, x: impl Into<String>, y: impl Into<String>) -> Self {
        Self { title: title.into(), x: x.into(), y: y.into() }
    }
}

/// A legend above the frame: its elements and number of rows.
#[derive(Default)]
pub(crate) struct Legend {
    pub(crate) rows: usize,
    pub(crate) svg: Vec<String>,
}

/// The rectangle that holds the data, and its axes.
pub(crate) struct Frame<'a> {
    pub(crate) left: f64,
    pub(crate) right: f64,
    pub(crate) top: f64,
    pub(crate) bottom: f64,
    pub(crate) layout: &'a Layout,
    labels: &'a Labels,
    pub(crate) legend: Legend,
    height: f64,
    x: Axis,
    y: Axis,
}

fn has_label(label: &str, axis: &Axis) -> bool {
    !label.is_empty() || !axis.unit_note().is_empty()
}

impl<'a> Frame<'a> {
    /// The tick labels of the y axis determine the width that is left for the x axis.
    pub(crate) fn new(
        layout: &'a Layout,
        labels: &'a Labels,
        y: Axis,
        x_within: impl Fn(f64) -> Axis,
    ) -> Self {
        let ticks_left = layout.ticks_left[usize::from(!has_label(&labels.y, &y))];
        let left = ticks_left + y.widest_label() + layout.tick_gap;
        let right = layout.width - layout.right_margin;
        let (legend, height, x) = (Legend::default(), layout.height, x_within(right - left));
        let frame =
            Self { left, right, top: 0.0, bottom: 0.0, layout, labels, legend, height, x, y };
        frame.with_legend(Legend::default())
    }

    /// A frame with linear axes that contain all places.
    pub(crate) fn linear(
        layout: &'a Layout,
        labels: &'a Labels,
        places: impl Iterator<Item = (f64, f64)> + Clone,
    ) -> Self {
        let y_axis = Axis::linear(places.clone().map(|(_, y)| y), layout.max_y_ticks);
        Self::new(layout, labels, y_axis, |width| {
            Axis::linear_within(places.clone().map(|(x, _)| x), width, layout.max_x_ticks)
        })
    }

    pub(crate) fn with_legend(mut self, legend: Legend) -> Self {
        self.top = match legend.rows {
            0 => self.legend_y(0) - self.layout.legend_offset + self.layout.top_gap[1],
            rows => self.legend_y(rows - 1) + self.layout.top_gap[0],
        };
        self.legend = legend;
        let body = self.layout.height - self.bottom_margin() - self.top;
        let body = body.max(self.layout.min_body);
        self.with_body(body)
    }

    /// Sets the height of the rectangle; the height of the picture follows.
    pub(crate) fn with_body(mut self, body: f64) -> Self {
        self.bottom = self.top + body;
        self.height = self.bottom + self.bottom_margin();
        self
    }

    fn bottom_margin(&self) -> f64 {
        let labeled = has_label(&self.labels.x, &self.x);
        self.layout.bottom_margin[usize::from(!labeled)] + self.x.slanted_height()
    }

    fn title(&self) -> &str {
        if self.layout.has_title { &self.labels.title } else { "" }
    }

    /// The middle of a row of the legend.
    pub(crate) fn legend_y(&self, row: usize) -> f64 {
        let title = if self.title().is_empty() { 0.0 } else { TITLE_HEIGHT };
        let Layout { top_margin, legend_offset, legend_row, .. } = self.layout;
        top_margin + title + legend_offset + legend_row * row as f64
    }

    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    /// The place of a point in the picture.
    pub(crate) fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
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

    /// Begins a picture with everything but the data.
    pub(crate) fn open(&self) -> Vec<String> {
        let mut svg = vec![begin(self.title(), self.layout.width, self.height)];
        self.draw_grid(&mut svg);
        self.draw_labels(&mut svg);
        svg.extend_from_slice(&self.legend.svg);
        svg
    }

    fn draw_grid(&self, svg: &mut Vec<String>) {
        let [left, right, top, bottom] = [self.left, self.right, self.top, self.bottom].map(num);
        for (at, label) in &self.x.ticks {
            let x = self.x_at(*at);
            svg.push(line(&format!("M{} {top}V{bottom}", num(x)), Color::Grid));
            if self.x.slanted {
                svg.push(self.slanted(x, label));
                continue;
            }
            let half = 4.0 + 6.0 * ems(label);
            let x = x.min(self.layout.width - half).max(half);
            let (y, label) = (self.bottom + self.layout.tick_base, self.x.markup(label));
            svg.push(text(x, y, "middle", Color::Faint, &label));
        }
        for (at, label) in &self.y.ticks {
            let y = self.y_at(*at);
            svg.push(line(&format!("M{left} {}H{right}", num(y)), Color::Grid));
            let (x, label) = (self.left - self.layout.tick_gap, self.y.markup(label));
            svg.push(text(x, y + 4.0, "end", Color::Faint, &label));
        }
        svg.push(line(&format!("M{left} {bottom}H{right}"), Color::Gray));
    }

    /// A label that ends below a place on the x axis, cut at the left end of the picture.
    fn slanted(&self, x: f64, label: &str) -> String {
        let (x, y) = (x + 3.0, self.bottom + self.layout.tick_base - 3.0);
        let label = truncate(label, (x - 12.0) * SQRT_2 / 12.0 - 1.0);
        let label = text(0.0, 0.0, "end", Color::Faint, &self.x.markup(&label));
        format!("<g{}>{label}</g>", rotated(x, y, -45))
    }

    fn draw_labels(&self, svg: &mut Vec<String>) {
        let &Layout { label_size, y_label, x_label, .. } = self.layout;
        let cut = |label: &str, length: f64| {
            xml(&truncate(label, (length - 60.0).max(60.0) / label_size))
        };
        let x = cut(&self.labels.x, self.width()) + &self.x.unit_note();
        let y = cut(&self.labels.y, self.bottom - self.top) + &self.y.unit_note();
        let title_left = self.left.min(TITLE_MAX_LEFT);
        let title = xml(&truncate(self.title(), (self.right - title_left) / TITLE_SIZE));
        for (size, place, anchor, label) in [
            (TITLE_SIZE, rotated(title_left, TITLE_BASE, 0), "start", title),
            (label_size, rotated(self.x_at(0.5), self.height - x_label, 0), "middle", x),
            (label_size, rotated(y_label, self.y_at(0.5), -90), "middle", y),
        ] {
            if !label.is_empty() {
                let label = text(0.0, 0.0, anchor, Color::Ink, &label);
                svg.push(format!("<g font-size='{size}'{place}>{label}</g>"));
            }
        }
    }

    /// Ends a picture, with a note if it has no data.
    pub(crate) fn close(&self, mut svg: Vec<String>, is_empty: bool) -> String {
        if is_empty {
            let (x, y) = (self.x_at(0.5), self.y_at(0.5));
            svg.push(text(x, y, "middle", Color::Faint, "Nothing to draw"));
        }
        end(svg)
    }
}

/// Begins an empty picture.
pub(crate) fn begin(title: &str, width: f64, height: f64) -> String {
    let (width, height) = (num(width), num(height));
    let title = match title {
        "" => String::new(),
        title => format!("<title>{}</title>\n", xml(&truncate(title, 200.0))),
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
pub(crate) fn end(mut svg: Vec<String>) -> String {
    svg.push("</svg>\n".to_owned());
    svg.join("\n")
}

/// One SVG file with several plots, one below the other; `file.svg#NAME` shows one of them.
///
/// Takes names and SVGs of plots of this crate, which have no ids or style sheets that collide.
///
/// # Panics
///
/// Panics for other SVGs, whose size is written differently.
#[must_use]
pub fn stack_figures(figures: &[(&str, String)]) -> String {
    let (mut views, mut plots) = (String::new(), String::new());
    let (mut width, mut height) = (0.0_f64, 0.0);
    for (name, svg) in figures {
        let [plot_width, plot_height] = size(svg).expect("a plot of this crate");
        let (name, top) = (xml(name), num(height));
        let _ = writeln!(views, "<view id='{name}' viewBox='0 {top} {plot_width} {plot_height}'/>");
        plots += &svg.replacen("<svg ", &format!("<svg y='{top}' "), 1);
        width = width.max(plot_width);
        height += plot_height;
    }
    // The attribute `height` would be that of an image of every view. Without the style, browsers
    // shrink the whole file to the height of the window.
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='{width}' style='height:auto' \
         viewBox='0 0 {width} {}'>\n{views}{plots}</svg>\n",
        num(height)
    )
}

/// Width and height of a plot.
fn size(svg: &str) -> Option<[f64; 2]> {
    let (_, rest) = svg.split_once(" viewBox='0 0 ")?;
    let (width, height) = rest.split_once('\'')?.0.split_once(' ')?;
    Some([width.parse().ok()?, height.parse().ok()?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::numbers;

    fn frame<'a>(layout: &'a Layout, labels: &'a Labels) -> Frame<'a> {
        let axis = || Axis::linear([0.0, 1.0].into_iter(), 5.0);
        Frame::new(layout, labels, axis(), |_| axis())
    }

    fn rows(rows: usize) -> Legend {
        Legend { rows, svg: vec![] }
    }

    #[test]
    fn missing_labels_take_no_space() {
        let (labels, none) = (Labels::new("title", "label", "label"), Labels::default());
        for layout in [Layout::PAGE, Layout::CARD] {
            let (full, bare) = (frame(&layout, &labels), frame(&layout, &none));
            assert_eq!(full.top > bare.top + 15.0, layout.has_title);
            assert!(full.left > bare.left + 15.0 && full.right == bare.right);
            assert!(full.bottom < bare.bottom - 15.0);
            assert!(bare.with_legend(rows(1)).top <= full.with_legend(rows(1)).top);
        }
    }

    #[test]
    fn a_page_has_its_size_and_a_card_grows_with_its_legend() {
        let labels = Labels::new("title", "label", "label");
        let size = |layout: &Layout, legend| {
            let frame = frame(layout, &labels).with_legend(rows(legend));
            assert!(frame.bottom - frame.top >= layout.min_body);
            let svg = end(frame.open());
            (numbers(&svg, "svg", " width")[0], numbers(&svg, "svg", " height")[0])
        };
        assert_eq!([0, 1, 6].map(|rows| size(&Layout::PAGE, rows)), [(900.0, 600.0); 3]);
        assert_eq!([0, 1].map(|rows| size(&Layout::CARD, rows)), [(400.0, 300.0); 2]);
        assert!(size(&Layout::CARD, 9) > (400.0, 350.0));
    }

    #[test]
    fn text_is_never_too_small_for_a_phone() {
        let tiny = Axis::linear([0.0, 1e-9].into_iter(), 5.0);
        let axis = |_| Axis::logarithmic([1e-9, 1.0].into_iter(), 7);
        let svg = end(Frame::new(&Layout::CARD, &Labels::new("t", "x", "y"), tiny, axis).open());
        let sizes = ["svg", "g", "tspan"].map(|element| numbers(&svg, element, "font-size"));
        assert!(sizes.iter().all(|sizes| !sizes.is_empty()));
        assert!(sizes.iter().flatten().all(|size| *size >= 11.0));
    }

    #[test]
    fn whatever_has_a_color_has_a_class() {
        let svg = end(frame(&Layout::PAGE, &Labels::new("title", "label", "label")).open());
        let colored =
            svg.split('<').filter(|tag| tag.contains("fill='#") || tag.contains("stroke='#"));
        assert!(
            colored.clone().count() > 15 && colored.clone().all(|tag| tag.contains(" class='wl-"))
        );
    }

    #[test]
    fn figures_of_a_stack_have_views_of_their_places() {
        let plot = |width, height| end(vec![begin("title", width, height)]);
        let (first, second) = (plot(838.0, 702.5), plot(900.0, 437.0));
        let svg = stack_figures(&[("images", first.clone()), ("alpha-1.5", second.clone())]);
        let (root, rest) = svg.split_once('\n').unwrap();
        assert!(root.ends_with(" viewBox='0 0 900 1139.5'>") && !root.contains(" height="));
        let views = "<view id='images' viewBox='0 0 838 702.5'/>\n\
                     <view id='alpha-1.5' viewBox='0 702.5 900 437'/>\n";
        let plots = rest.strip_prefix(views).unwrap();
        assert_eq!(numbers(plots, "svg", "y"), [0.0, 702.5]);
        // Otherwise the plots are as they were.
        let plots = plots.replace("<svg y='0'", "<svg").replace("<svg y='702.5'", "<svg");
        assert_eq!(plots, format!("{first}{second}</svg>\n"));
    }
}
