//! The colors of the plots, and how a page may change them.

use std::fmt::Write as _;

/// Names, colors on white paper and colors on dark paper.
const NAMED: [(&str, &str, &str); 5] = [
    ("paper", "#ffffff", "#15181c"),
    ("ink", "#24292f", "#e6e9ed"),
    ("faint", "#57606a", "#a3acb6"),
    ("gray", "#8c959f", "#7d8691"),
    ("grid", "#e7eaee", "#2c3138"),
];

/// Colors of Okabe and Ito and of Tol. With simulated color blindness (Machado 2009), the smallest distance between
/// two is that of the palette of Okabe and Ito.
#[rustfmt::skip]
pub(crate) const PALETTE: [&str; 12] = [
    "#0072b2", "#e69f00", "#009e73", "#882255", "#88ccee", "#8c510a",
    "#997700", "#5d3a9b", "#aa4466", "#56b4e9", "#cc79a7", "#ffaabb",
];

/// The same hues on dark paper: each has a contrast of at least 4.4 with it, and no two are nearer
/// to each other than the nearest two of the palette above.
#[rustfmt::skip]
const DARK_PALETTE: [&str; 12] = [
    "#2586c9", "#e59e07", "#7ff8c7", "#c75b8b", "#88ccee", "#a5773f",
    "#c5ae76", "#a075f7", "#e86c78", "#56b3e8", "#c985ad", "#f1adbb",
];

/// A color. All but hues and shades have a class, so that the style sheet of a page can change them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Color {
    Paper,
    Ink,
    Faint,
    Gray,
    Grid,
    /// One of the palette.
    Palette(usize),
    /// One of many hues, legible on white and on dark paper.
    Hue {
        number: usize,
        of: usize,
    },
    /// From 0, dark, to 1, light; the same on white and on dark paper.
    Shade(f64),
    /// Black or white, whichever reads better on that shade.
    OnShade(f64),
}

impl Color {
    /// The attributes of an element filled with the color.
    pub(crate) fn fill(self) -> String {
        self.attributes("fill", "")
    }

    /// The attributes of a line in the color.
    pub(crate) fn stroke(self) -> String {
        self.attributes("stroke", "-line")
    }

    fn attributes(self, what: &str, ending: &str) -> String {
        let named = |i: usize| (NAMED[i].0.to_owned(), NAMED[i].1);
        let (class, color) = match self {
            Self::Paper => named(0),
            Self::Ink => named(1),
            Self::Faint => named(2),
            Self::Gray => named(3),
            Self::Grid => named(4),
            Self::Palette(i) => (format!("c{i}"), PALETTE[i]),
            Self::Hue { number, of } => {
                // Neighbors in hue differ in lightness.
                let lightness = [0.6, 0.76][number % 2];
                let hue = oklch(lightness, 0.13, number as f64 / of as f64);
                return format!(" {what}='{}'", hex(hue));
            }
            Self::Shade(at) => return format!(" {what}='{}'", hex(shade(at))),
            Self::OnShade(at) => {
                // Here black and white have the same contrast, 4.6.
                let dark = luminance(shade(at)) < 0.179;
                return format!(" {what}='{}'", if dark { "#ffffff" } else { "#000000" });
            }
        };
        format!(" {what}='{color}' class='wl-{class}{ending}'")
    }
}

/// The style sheet of a page that holds plots as inline SVG. With it they follow the page's color
/// scheme, and are dark on light when printed.
///
/// Every colored element has a class: `wl-ink` is filled with ink and `wl-ink-line` is a line
/// of ink; likewise `paper`, `faint`, `gray`, `grid` and the palette, `c0` to `c11`. The colors
/// are variables, such as `--wl-paper`, which a page may use or set.
#[must_use]
pub fn stylesheet() -> String {
    let palette = |i: usize| (format!("c{i}"), PALETTE[i], DARK_PALETTE[i]);
    let named = NAMED.into_iter().map(|(name, light, dark)| (name.to_owned(), light, dark));
    let colors: Vec<_> = named.chain((0..PALETTE.len()).map(palette)).collect();
    let (mut light, mut dark, mut rules) = (String::new(), String::new(), String::new());
    for (name, on_white, on_dark) in colors {
        // Writing to a string cannot fail.
        let _ = write!(light, "--wl-{name}:{on_white};");
        let _ = write!(dark, "--wl-{name}:{on_dark};");
        let _ = writeln!(rules, ".wl-{name}{{fill:var(--wl-{name})}}");
        let _ = writeln!(rules, ".wl-{name}-line{{stroke:var(--wl-{name})}}");
    }
    format!(
        ":root{{{light}}}\n@media (prefers-color-scheme: dark){{:root{{{dark}}}}}\n\
         @media print{{:root{{{light}}}}}\n{rules}"
    )
}

/// The nearest sRGB color to one of OKLCH; the hue in turns.
fn oklch(lightness: f64, chroma: f64, hue: f64) -> [u8; 3] {
    let (sin, cos) = (hue * std::f64::consts::TAU).sin_cos();
    let lms = [[0.3963, 0.2158], [-0.1056, -0.0639], [-0.0895, -1.2915]]
        .map(|[a, b]| (lightness + chroma * (a * cos + b * sin)).powi(3));
    let to_rgb =
        [[4.0767, -3.3077, 0.2310], [-1.2684, 2.6098, -0.3413], [-0.0042, -0.7034, 1.7076]];
    to_rgb.map(|row| {
        let c = row.iter().zip(lms).map(|(a, b)| a * b).sum::<f64>().clamp(0.0, 1.0);
        let c = if c <= 0.003_130_8 { 12.92 * c } else { 1.055 * c.powf(1.0 / 2.4) - 0.055 };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 255")]
        let byte = (c * 255.0).round() as u8;
        byte
    })
}

/// From violet over green to yellow, lighter in equal steps, so that the order does not depend on
/// the perception of hues.
fn shade(at: f64) -> [u8; 3] {
    let between = |from: f64, to: f64| from + at * (to - from);
    oklch(between(0.36, 0.93), between(0.09, 0.13), between(0.82, 0.29))
}

fn hex([r, g, b]: [u8; 3]) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// Of WCAG 2.
fn luminance(rgb: [u8; 3]) -> f64 {
    let [r, g, b] = rgb.map(|c| {
        let c = f64::from(c) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    });
    0.2126 * r + 0.7152 * g + 0.0722 * b
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contrast(a: &str, b: &str) -> f64 {
        let bytes = |hex: &str| [1, 3, 5].map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap());
        let [a, b] = [a, b].map(|hex| luminance(bytes(hex)) + 0.05);
        (a / b).max(b / a)
    }

    #[test]
    fn colors_are_legible_on_dark_paper() {
        let paper = NAMED[0].2;
        assert!(DARK_PALETTE.iter().all(|color| contrast(color, paper) >= 4.4));
        for (_, light, dark) in &NAMED[1..3] {
            assert!(contrast(light, NAMED[0].1) >= 4.5 && contrast(dark, paper) >= 4.5);
        }
    }

    #[test]
    fn shades_grow_lighter_and_are_legible() {
        let hex = |color: Color| color.fill().split('\'').nth(1).unwrap().to_owned();
        let shades: Vec<_> = (0..=50).map(|i| f64::from(i) / 50.0).collect();
        for at in &shades {
            assert!(contrast(&hex(Color::Shade(*at)), &hex(Color::OnShade(*at))) >= 4.5);
        }
        let luminance: Vec<_> = shades.iter().map(|at| luminance(shade(*at))).collect();
        assert!(luminance.windows(2).all(|pair| pair[0] < pair[1]));
        // Cells are seen on either paper.
        assert!(contrast(&hex(Color::Shade(0.0)), NAMED[0].2) > 1.4);
        assert!(contrast(&hex(Color::Shade(1.0)), NAMED[0].1) > 1.2);
    }

    #[test]
    fn every_class_has_a_rule_and_every_variable_a_value() {
        let css = stylesheet();
        let colors = [Color::Paper, Color::Ink, Color::Faint, Color::Gray, Color::Grid];
        for color in colors.into_iter().chain((0..12).map(Color::Palette)) {
            for attributes in [color.fill(), color.stroke()] {
                let (hex, class) = attributes.split_once(" class='").unwrap();
                let class = class.trim_end_matches('\'');
                let name = class.trim_end_matches("-line");
                let what = hex.trim().split_once('=').unwrap().0;
                assert!(css.contains(&format!(".{class}{{{what}:var(--{name})}}")));
                // For light, dark and print; light is what the attribute says.
                let light = hex.split('\'').nth(1).unwrap();
                assert!(css.matches(&format!("--{name}:{light};")).count() >= 2);
                assert_eq!(css.matches(&format!("--{name}:#")).count(), 3);
            }
        }
        // What comes last wins, so paper is white again in print.
        assert!(css.find("@media print") > css.find("@media (prefers-color-scheme: dark)"));
        assert_eq!(css.matches('{').count(), css.matches('}').count());
    }
}
