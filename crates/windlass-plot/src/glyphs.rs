//! Text as outlines, so that a PNG needs no fonts and no text layout of the renderer.
//!
//! Plots use a small part of SVG's text: `<text x y text-anchor>` with `<tspan dy font-size>` in it, and font sizes
//! that are inherited from `<svg>` and `<g>`. Characters are placed by their advance widths.

use std::fmt::Write as _;

use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// Characters of one size on one baseline.
struct TextRun {
    characters: String,
    size: f64,
    /// Offset below the baseline of the text.
    down: f64,
}

/// Replaces every `<text>` of a plot by a `<path>` with the outlines of its characters.
pub(crate) fn outline_text(svg: &str) -> String {
    let face = Face::parse(ttf_noto_sans::REGULAR, 0).expect("the embedded font");
    let mut out = String::with_capacity(svg.len() * 2);
    let mut sizes = vec![];
    let mut rest = svg;
    while let Some(start) = rest.find('<') {
        out.push_str(&rest[..start]);
        let Some(end) = rest[start..].find('>') else { break };
        let tag = &rest[start..=start + end];
        rest = &rest[start + end + 1..];
        if tag.starts_with("<text ") {
            let (content, after) = rest.split_once("</text>").unwrap_or((rest, ""));
            rest = after;
            out.push_str(&path(&face, tag, content, sizes.last().copied().unwrap_or(12.0)));
            continue;
        }
        let opens = tag.starts_with("<svg") || tag.starts_with("<g");
        if opens && !tag.ends_with("/>") {
            let size = number(tag, "font-size").or(sizes.last().copied());
            sizes.push(size.unwrap_or(12.0));
        } else if tag == "</g>" || tag == "</svg>" {
            sizes.pop();
        }
        out.push_str(tag);
    }
    out.push_str(rest);
    out
}

/// The outlines of a `<text>` with this content, painted as it was.
fn path(face: &Face<'_>, tag: &str, content: &str, size: f64) -> String {
    let units = f64::from(face.units_per_em());
    let runs = runs(content, size);
    let width_of = |run: &TextRun| {
        let advances = run.characters.chars().map(|c| advance(face, glyph(face, c)));
        advances.sum::<f64>() * run.size / units
    };
    let width: f64 = runs.iter().map(width_of).sum();
    let mut x = number(tag, "x").unwrap_or(0.0)
        - match attributes(tag).find(|(name, _)| *name == "text-anchor") {
            Some((_, "middle")) => width / 2.0,
            Some((_, "end")) => width,
            _ => 0.0,
        };
    let y = number(tag, "y").unwrap_or(0.0);
    let mut outline = Outline { path: String::new(), x: 0.0, y: 0.0, scale: 1.0 };
    for run in &runs {
        outline.scale = run.size / units;
        outline.y = y + run.down;
        for character in run.characters.chars() {
            let glyph = glyph(face, character);
            outline.x = x;
            let _ = face.outline_glyph(glyph, &mut outline);
            x += advance(face, glyph) * outline.scale;
        }
    }
    let mut path = format!("<path d='{}'", outline.path);
    for (name, value) in attributes(tag) {
        if !["x", "y", "text-anchor"].contains(&name) {
            let _ = write!(path, " {name}='{value}'");
        }
    }
    path + "/>"
}

/// The runs of a text; a shift by `dy` lasts until the next.
fn runs(content: &str, size: f64) -> Vec<TextRun> {
    let mut runs = vec![];
    let mut down = 0.0;
    let mut rest = content;
    while let Some((before, after)) = rest.split_once("<tspan") {
        runs.push(TextRun { characters: unescape(before), size, down });
        let (tag, after) = after.split_once('>').unwrap_or((after, ""));
        let (inside, after) = after.split_once("</tspan>").unwrap_or((after, ""));
        down += number(tag, "dy").unwrap_or(0.0);
        let own = number(tag, "font-size").unwrap_or(size);
        runs.push(TextRun { characters: unescape(inside), size: own, down });
        rest = after;
    }
    runs.push(TextRun { characters: unescape(rest), size, down });
    runs
}

/// The glyph of a character; a box if the font does not have it.
fn glyph(face: &Face<'_>, character: char) -> GlyphId {
    face.glyph_index(character).unwrap_or(GlyphId(0))
}

fn advance(face: &Face<'_>, glyph: GlyphId) -> f64 {
    face.glyph_hor_advance(glyph).map_or(0.0, f64::from)
}

/// The attributes of a tag, all of which are in single quotes.
fn attributes(tag: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut parts = tag.split('\'');
    std::iter::from_fn(move || {
        let name = parts.next()?.trim_end_matches('=').rsplit(' ').next()?;
        Some((name, parts.next()?))
    })
}

fn number(tag: &str, name: &str) -> Option<f64> {
    attributes(tag).find(|(own, _)| *own == name)?.1.parse().ok()
}

fn unescape(text: &str) -> String {
    // The ampersand comes last, so that its result is not unescaped again.
    text.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

/// Writes outlines, in units of the font and upward, as a path of the plot.
struct Outline {
    path: String,
    x: f64,
    y: f64,
    scale: f64,
}

impl Outline {
    fn command(&mut self, letter: char, points: &[(f32, f32)]) {
        self.path.push(letter);
        for (x, y) in points {
            let x = self.x + f64::from(*x) * self.scale;
            let y = self.y - f64::from(*y) * self.scale;
            let _ = write!(self.path, "{x:.3} {y:.3} ");
        }
    }
}

impl OutlineBuilder for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.command('M', &[(x, y)]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.command('L', &[(x, y)]);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.command('Q', &[(x1, y1), (x, y)]);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.command('C', &[(x1, y1), (x2, y2), (x, y)]);
    }

    fn close(&mut self) {
        self.path.push('Z');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least and the largest x of a path.
    fn reach(svg: &str) -> (f64, f64) {
        let d = svg.split("d='").nth(1).unwrap().split('\'').next().unwrap();
        let numbers: Vec<f64> =
            d.split(|c: char| !"-.0123456789".contains(c)).filter_map(|n| n.parse().ok()).collect();
        let xs = numbers.iter().step_by(2).copied();
        (xs.clone().fold(f64::MAX, f64::min), xs.fold(f64::MIN, f64::max))
    }

    #[test]
    fn text_becomes_a_path_with_its_paint_and_place() {
        let text = |anchor: &str, words: &str| {
            format!(
                "<svg font-size='10'><g font-size='20'><text x='100' y='50' \
                 text-anchor='{anchor}' class='ink' fill='#123456'>{words}</text></g></svg>"
            )
        };
        let out = outline_text(&text("start", "Hl"));
        assert!(out.starts_with("<svg font-size='10'><g font-size='20'><path d='M"), "{out}");
        assert!(out.ends_with("Z' class='ink' fill='#123456'/></g></svg>"), "{out}");
        let (left, right) = reach(&out);
        assert!(100.0 < left && right < 125.0, "{left} {right}");
        let (left, right) = reach(&outline_text(&text("end", "Hl")));
        assert!(75.0 < left && right < 100.0, "{left} {right}");
        let (left, right) = reach(&outline_text(&text("middle", "Hl")));
        assert!(left < 100.0 && 100.0 < right, "{left} {right}");
        // Half the size is half as wide: sizes end with their group.
        let small = "<svg font-size='10'><g font-size='20'/><text x='0' y='0'>H</text></svg>";
        let large = small.replace("'10'", "'20'");
        let [small, large] = [small, &large].map(|svg| reach(&outline_text(svg)).1);
        assert!((large - 2.0 * small).abs() < 0.01, "{small} {large}");
    }

    #[test]
    fn spans_are_raised_and_lowered_and_escapes_are_characters() {
        let runs = runs(
            "10<tspan dy='-4' font-size='11'>8</tspan> &amp;lt; <tspan dy='4'>)</tspan>",
            12.0,
        );
        let found: Vec<(&str, f64, f64)> =
            runs.iter().map(|run| (run.characters.as_str(), run.size, run.down)).collect();
        let expected = [
            ("10", 12.0, 0.0),
            ("8", 11.0, -4.0),
            (" &lt; ", 12.0, -4.0),
            (")", 12.0, 0.0),
            ("", 12.0, 0.0),
        ];
        assert_eq!(found, expected);
    }
}
