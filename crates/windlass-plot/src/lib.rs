//! A scatter plot of an augmentation: the target against one feature, as SVG or PNG.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, fontdb};

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 600.0;
const TOP: f64 = 84.0;
const RIGHT: f64 = 876.0;
const BOTTOM: f64 = 534.0;
/// Pixels of the PNG per unit of the SVG.
const PNG_SCALE: f32 = 2.0;
/// Most rows drawn of each kind: more would cost megabytes and show nothing new.
const MOST_DRAWN: usize = 5_000;
const INK: &str = "#24292f";
const FAINT: &str = "#57606a";
const GREY: &str = "#8c959f";
const GRID: &str = "#e7eaee";

/// From Okabe and Ito and from Tol. With simulated colour blindness (Machado 2009), no two are
/// nearer to each other than the nearest two of Okabe and Ito's own.
#[rustfmt::skip]
const PALETTE: [&str; 12] = [
    "#0072b2", "#e69f00", "#009e73", "#882255", "#88ccee", "#8c510a",
    "#997700", "#5d3a9b", "#aa4466", "#56b4e9", "#cc79a7", "#ffaabb",
];

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

/// Why a PNG could not be made.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// The renderer did not read the SVG.
    #[error("the plot could not be laid out: {0}")]
    Svg(#[from] usvg::Error),
    /// There is no memory for the pixels.
    #[error("no memory for the pixels of the plot")]
    Memory,
    /// The encoder failed.
    #[error("the plot could not be encoded as PNG: {0}")]
    Png(String),
}

impl Scatter {
    /// The plot as an SVG document that refers to nothing outside itself.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let originals = Layer::new(&ORIGINAL, &self.originals);
        let synthetic = Layer::new(&SYNTHETIC, &self.synthetic);
        let rows = || originals.rows.iter().chain(&synthetic.rows);
        let groups = colours(&rows().filter_map(|row| row.group).collect());

        let y_axis = Axis::new(rows().map(|row| row.y), 10.0);
        let left = 56.0 + y_axis.widest_label();
        let width = RIGHT - left;
        let x_axis =
            [12.0, 8.0, 5.0, 3.0, 2.0].map(|most| Axis::new(rows().map(|row| row.x), most));
        let fits = |axis: &&Axis| (axis.widest_label() + 20.0) * axis.ticks.len() as f64 <= width;
        let x_axis = x_axis.iter().find(fits).unwrap_or(&x_axis[4]);
        let x_at = |fraction: f64| left + fraction * width;
        let y_at = |fraction: f64| BOTTOM - fraction * (BOTTOM - TOP);

        let mut svg = vec![format!(
            "<svg xmlns='http://www.w3.org/2000/svg' role='img' width='{WIDTH}' height='{HEIGHT}' \
             viewBox='0 0 {WIDTH} {HEIGHT}' fill='{INK}' font-size='12' \
             font-family='Noto Sans, DejaVu Sans, Helvetica, Arial, sans-serif'>\n\
             <title>{}</title>\n<rect width='{WIDTH}' height='{HEIGHT}' fill='#fff'/>",
            xml(&self.title, 200.0)
        )];
        for (at, label) in &x_axis.ticks {
            svg.push(line(&format!("M{} {TOP}V{BOTTOM}", num(x_at(*at))), GRID));
            let x = x_at(*at).min(WIDTH - 4.0 - 6.0 * ems(label));
            svg.push(text(x, BOTTOM + 20.0, "middle", FAINT, label));
        }
        for (at, label) in &y_axis.ticks {
            svg.push(line(&format!("M{} {}H{RIGHT}", num(left), num(y_at(*at))), GRID));
            svg.push(text(left - 10.0, y_at(*at) + 4.0, "end", FAINT, label));
        }
        svg.push(line(&format!("M{} {BOTTOM}H{RIGHT}", num(left)), GREY));

        let title = xml(&self.title, width / 18.0);
        let x_label = xml(&self.x_label, (width - 60.0) / 13.0) + &x_axis.unit_note();
        let y_label = xml(&self.y_label, (BOTTOM - TOP - 60.0) / 13.0) + &y_axis.unit_note();
        for (size, x, y, turn, anchor, words) in [
            (18, left, 36.0, 0, "start", title),
            (13, x_at(0.5), HEIGHT - 22.0, 0, "middle", x_label),
            (13, 28.0, y_at(0.5), -90, "middle", y_label),
        ] {
            let place = format!("translate({} {}) rotate({turn})", num(x), num(y));
            let words = text(0.0, 0.0, anchor, INK, &words);
            svg.push(format!("<g font-size='{size}' transform='{place}'>{words}</g>"));
        }
        let legend_end = originals.legend(&mut svg, left, &groups);
        let legend_end = synthetic.legend(&mut svg, legend_end, &groups);
        legend(&mut svg, &groups, legend_end);

        // Originals on top: however many synthetic rows there are, they stay in sight.
        for layer in [&synthetic, &originals] {
            layer.draw(&mut svg, &groups, |row| {
                (x_at(x_axis.fraction(row.x)), y_at(y_axis.fraction(row.y)))
            });
        }
        if rows().next().is_none() {
            svg.push(text(x_at(0.5), y_at(0.5), "middle", FAINT, "No rows to draw"));
        }
        svg.push("</svg>\n".to_owned());
        svg.join("\n")
    }

    /// The plot as a PNG of twice the size of the SVG, its text in an embedded font.
    pub fn to_png(&self) -> Result<Vec<u8>, PlotError> {
        let mut fonts = fontdb::Database::new();
        fonts.load_font_source(fontdb::Source::Binary(Arc::new(ttf_noto_sans::REGULAR)));
        let options = usvg::Options {
            fontdb: Arc::new(fonts),
            // The default resolvers open files.
            image_href_resolver: usvg::ImageHrefResolver {
                resolve_data: Box::new(|_, _, _| None),
                resolve_string: Box::new(|_, _| None),
            },
            ..usvg::Options::default()
        };
        let tree = usvg::Tree::from_str(&self.to_svg(), &options)?;
        let size = tree.size().to_int_size().scale_by(PNG_SCALE);
        let pixels = size.and_then(|size| Pixmap::new(size.width(), size.height()));
        let mut pixels = pixels.ok_or(PlotError::Memory)?;
        resvg::render(&tree, Transform::from_scale(PNG_SCALE, PNG_SCALE), &mut pixels.as_mut());
        pixels.encode_png().map_err(|error| PlotError::Png(error.to_string()))
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
        let sample = circle((x + 5.0, 60.0), self.look.radius, &self.colour(groups, None));
        let (drawn, given) = (thousands(&self.drawn()), thousands(&self.given));
        let of = if drawn == given { String::new() } else { format!(" of {given} shown") };
        let words = format!("{} ({drawn}{of})", self.look.name);
        svg.extend([self.open(1.0), sample, "</g>".to_owned()]);
        svg.push(text(x + 15.0, 64.0, "start", INK, &words));
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
        svg.push(text(x - 8.0, 64.0, "end", INK, "Group"));
        for (group, colour) in groups {
            svg.push(circle((x + 5.0, 60.0), 4.5, colour));
            svg.push(text(x + 14.0, 64.0, "start", INK, &group.to_string()));
            x += width(group);
        }
    } else if !groups.is_empty() && free + 12.0 * ems(&note) <= RIGHT {
        svg.push(text(RIGHT, 64.0, "end", FAINT, &note));
    }
}

/// A linear axis in units of a power of ten.
struct Axis {
    low: f64,
    high: f64,
    exponent: i32,
    unit: f64,
    /// Each as a fraction of the axis, with its label.
    ticks: Vec<(f64, String)>,
}

impl Axis {
    fn new(values: impl Iterator<Item = f64>, most_ticks: f64) -> Self {
        let (low, high) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        let (low, high) = if low > high { (0.0, 1.0) } else { (low, high) };
        let size = low.abs().max(high.abs());
        // Below 1e-300 the unit could be subnormal: that is zero here.
        let plain = size < 1e-300 || (1e-3..1e7).contains(&size);
        let exponent = if plain { 0 } else { exponent_of(size) };
        let unit = power_of_ten(exponent);
        let (low, high) = (low / unit, high / unit);
        let middle = low.midpoint(high);
        let half = match (high - low) / 2.0 {
            _ if size < 1e-300 => 1.1,
            half if half > middle.abs() * 1e-12 => half * 1.08,
            _ => middle.abs() * 0.12,
        };
        let (low, high) = (middle - half, middle + half);

        let least = (high - low) / most_ticks;
        let e = exponent_of(least);
        let (multiple, e) = [(1.0, e), (2.0, e), (5.0, e)]
            .into_iter()
            .find(|(multiple, e)| multiple * power_of_ten(*e) >= least)
            .unwrap_or((1.0, e + 1));
        let decimals = usize::try_from(-e).unwrap_or(0);
        // Powers with exponents of 0 to 22 are exact, so a tick is the double nearest to it.
        let (times, over) = (power_of_ten(e.max(0)), power_of_ten((-e).max(0)));
        let value = |k: f64| k * multiple * times / over;
        // Adding zero makes a negative zero positive.
        let first = (low / value(1.0)).ceil() + 0.0;
        let ticks = std::iter::successors(Some(first), |k| Some(k + 1.0))
            .map(value)
            .take_while(|v| *v <= high)
            .map(|v| ((v - low) / (high - low), thousands(&format!("{v:.decimals$}"))))
            .collect();
        Self { low, high, exponent, unit, ticks }
    }

    fn fraction(&self, value: f64) -> f64 {
        (value / self.unit - self.low) / (self.high - self.low)
    }

    fn widest_label(&self) -> f64 {
        self.ticks.iter().map(|(_, label)| 12.0 * ems(label)).fold(0.0, f64::max)
    }

    /// What the label of the axis says of its unit.
    fn unit_note(&self) -> String {
        let exponent = thousands(&self.exponent);
        let raised =
            format!("<tspan dy='-4' font-size='10'>{exponent}</tspan><tspan dy='4'>)</tspan>");
        if self.exponent == 0 { String::new() } else { format!(" (×\u{2009}10{raised}") }
    }
}

/// The exponent of a positive number in scientific notation, exact where a logarithm is not.
fn exponent_of(value: f64) -> i32 {
    format!("{value:e}").split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0)
}

/// The nearest double, which `powi` does not promise.
fn power_of_ten(exponent: i32) -> f64 {
    format!("1e{exponent}").parse().unwrap_or(1.0)
}

/// A number with separators in its whole part and a true minus sign.
fn thousands(number: &impl ToString) -> String {
    let mut out = number.to_string();
    let end = out.find('.').unwrap_or(out.len());
    let digits = out[..end].trim_start_matches('-').len();
    for i in (3..digits).step_by(3) {
        out.insert(end - i, ',');
    }
    out.replace('-', "−")
}

/// Rounds to a tenth, a fifth of a pixel of the PNG.
fn num(v: f64) -> f64 {
    (v * 10.0).round() / 10.0
}

fn circle((x, y): (f64, f64), radius: f64, fill: &str) -> String {
    format!("<circle cx='{}' cy='{}' r='{}' fill='{fill}'/>", num(x), num(y), num(radius))
}

fn line(path: &str, stroke: &str) -> String {
    format!("<path d='{path}' stroke='{stroke}'/>")
}

fn text(x: f64, y: f64, anchor: &str, fill: &str, words: &str) -> String {
    let (x, y) = (num(x), num(y));
    format!("<text x='{x}' y='{y}' text-anchor='{anchor}' fill='{fill}'>{words}</text>")
}

/// About the width of a text in ems.
fn ems(text: &str) -> f64 {
    text.chars().map(char_ems).sum()
}

fn char_ems(c: char) -> f64 {
    match c {
        ' ' | ',' | '.' | '(' | ')' => 0.3,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '\u{1100}'.. => 1.0,
        'A'..='Z' => 0.7,
        _ => 0.58,
    }
}

/// Any text as XML, cut to about so many ems.
fn xml(text: &str, most_ems: f64) -> String {
    let (mut out, mut width) = (String::new(), 0.0);
    for c in text.chars() {
        width += char_ems(c);
        match c {
            _ if width > most_ems => return out + "…",
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c if c.is_whitespace() => out.push(' '),
            // XML has no place for some of these, not even escaped.
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => {}
            c => out.push(c),
        }
    }
    out
}

/// The nearest sRGB colour to one of OKLCH; the hue in turns.
fn oklch(lightness: f64, chroma: f64, hue: f64) -> String {
    let (sin, cos) = (hue * std::f64::consts::TAU).sin_cos();
    let lms = [[0.3963, 0.2158], [-0.1056, -0.0639], [-0.0895, -1.2915]]
        .map(|[a, b]| (lightness + chroma * (a * cos + b * sin)).powi(3));
    let to_rgb =
        [[4.0767, -3.3077, 0.2310], [-1.2684, 2.6098, -0.3413], [-0.0042, -0.7034, 1.7076]];
    let [r, g, b] = to_rgb.map(|row| {
        let c = row.iter().zip(lms).map(|(a, b)| a * b).sum::<f64>().clamp(0.0, 1.0);
        let c = if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 255")]
        let byte = (c * 255.0).round() as u8;
        byte
    });
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: &[f64]) -> (String, i32) {
        let axis = Axis::new(values.iter().copied(), 6.0);
        assert!(axis.ticks.iter().all(|(at, _)| (0.0..=1.0).contains(at)));
        assert!(values.iter().all(|v| (0.0..=1.0).contains(&axis.fraction(*v))));
        let labels: Vec<_> = axis.ticks.into_iter().map(|(_, label)| label).collect();
        (labels.join(" "), axis.exponent)
    }

    #[test]
    fn ticks_are_round_numbers_without_noise() {
        for (values, expected, exponent) in [
            (&[0.0, 1.0][..], "0.0 0.2 0.4 0.6 0.8 1.0", 0),
            (&[0.1, 0.35], "0.10 0.15 0.20 0.25 0.30 0.35", 0),
            (&[-1234.0, 2e6], "0 500,000 1,000,000 1,500,000 2,000,000", 0),
            (&[-7.0, -3.0], "−7 −6 −5 −4 −3", 0),
            (&[1e-9, 3e-9], "1.0 1.5 2.0 2.5 3.0", -9),
            (&[0.0, 1e12], "0.0 0.2 0.4 0.6 0.8 1.0", 12),
            (&[5.0, 5.0], "4.4 4.6 4.8 5.0 5.2 5.4 5.6", 0),
            (&[0.0], "−1.0 −0.5 0.0 0.5 1.0", 0),
            (&[], "0.0 0.2 0.4 0.6 0.8 1.0", 0),
            (&[-f64::MAX, f64::MAX], "−1 0 1", 308),
            (&[1.0, 1.0 + 1e-13], "0.90 0.95 1.00 1.05 1.10", 0),
        ] {
            assert_eq!(labels(values), (expected.to_owned(), exponent), "{values:?}");
        }
        for values in
            [[5e-324, 1e-323], [1e-300, 2e-300], [1e300, 1e300 + 1e285], [1e15, 1e15 + 1.0]]
        {
            assert!(labels(&values).0.len() < 200);
        }
    }

    #[test]
    fn text_is_escaped_cleaned_and_cut() {
        assert_eq!(
            xml("a<b> & \"c\"\u{0}\u{1b}\u{ffff}\n'é'", 99.0),
            "a&lt;b&gt; &amp; &quot;c&quot; &#39;é&#39;"
        );
        assert_eq!(xml(&"ab".repeat(500), 3.0), "ababa…");
        let title = "]]></title><script>&\u{8}".to_owned();
        let plot = Scatter { x_label: title.clone(), y_label: title.clone(), title, ..few() };
        assert!(!plot.to_svg().contains("<script"));
        assert!(plot.to_png().is_ok());
    }

    fn few() -> Scatter {
        let point =
            |i: u32| Point { x: f64::from(i).sin(), y: f64::from(i * i % 17), group: Some(i % 14) };
        let mut originals: Vec<_> = (0..30).map(point).collect();
        originals[3].x = f64::NAN;
        originals[4].y = f64::INFINITY;
        Scatter { originals, synthetic: (30..90).map(point).collect(), ..Scatter::default() }
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
