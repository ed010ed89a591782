//! SVG elements of plots. A picture under construction is a list of lines.

use crate::color::Color;
use crate::format::escape;

/// Rounds to a tenth of a unit, a fifth of a pixel of the PNG.
pub(crate) fn num(v: f64) -> f64 {
    (v * 10.0).round() / 10.0
}

/// Adds a `<g>` with these attributes around some elements.
pub(crate) fn group(
    svg: &mut Vec<String>,
    attributes: &str,
    elements: impl IntoIterator<Item = String>,
) {
    svg.push(format!("<g{attributes}>"));
    svg.extend(elements);
    svg.push("</g>".to_owned());
}

/// A circle; `paint` is the attributes of its color, or empty if its group has them.
pub(crate) fn circle((x, y): (f64, f64), radius: f64, paint: &str) -> String {
    format!("<circle cx='{}' cy='{}' r='{}'{paint}/>", num(x), num(y), num(radius))
}

pub(crate) fn line(path: &str, color: Color) -> String {
    format!("<path d='{path}'{}/>", color.stroke())
}

/// A line with its own width.
pub(crate) fn wide_line(path: &str, color: Color, width: f64) -> String {
    format!("<g stroke-width='{width}'>{}</g>", line(path, color))
}

pub(crate) fn text(x: f64, y: f64, anchor: &str, color: Color, content: &str) -> String {
    let (x, y, fill) = (num(x), num(y), color.fill());
    format!("<text x='{x}' y='{y}' text-anchor='{anchor}'{fill}>{content}</text>")
}

/// The attribute of a group that is moved to a place and turned by an angle in degrees.
pub(crate) fn rotated(x: f64, y: f64, degrees: i32) -> String {
    format!(" transform='translate({} {}) rotate({degrees})'", num(x), num(y))
}

/// A rectangle between two corners, painted like [`circle`].
pub(crate) fn rect([left, top, right, bottom]: [f64; 4], paint: &str) -> String {
    let [x, y, width, height] = [left, top, right - left, bottom - top].map(num);
    format!("<rect x='{x}' y='{y}' width='{width}' height='{height}'{paint}/>")
}

/// A text with an outline in the color of the background, legible on top of lines.
pub(crate) fn outlined(text: &str) -> String {
    let outline = "stroke-width='4' stroke-linejoin='round' paint-order='stroke'";
    format!("<g{} {outline}>{text}</g>", Color::Paper.stroke())
}

/// A number whose exponent, after `^`, is raised. What follows must come down again by 4.
pub(crate) fn superscript(number: &str) -> String {
    match number.split_once('^') {
        Some((base, exponent)) => format!("{base}<tspan dy='-4' font-size='11'>{exponent}</tspan>"),
        None => number.to_owned(),
    }
}

/// Approximate width of a text in ems.
pub(crate) fn ems(text: &str) -> f64 {
    text.chars().map(char_ems).sum()
}

/// Approximate width of a text of the usual size, 12 units.
pub(crate) fn text_width(text: &str) -> f64 {
    12.0 * ems(text)
}

fn char_ems(c: char) -> f64 {
    match c {
        ' ' | ',' | '.' | '(' | ')' => 0.3,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '\u{1100}'.. => 1.0,
        'A'..='Z' => 0.7,
        _ => 0.58,
    }
}

/// A text cut to about `max_ems`, with an ellipsis if something is missing.
pub(crate) fn truncate(text: &str, max_ems: f64) -> String {
    let (mut out, mut width) = (String::new(), 0.0);
    for c in text.chars() {
        width += char_ems(c);
        if width > max_ems {
            return out + "…";
        }
        out.push(c);
    }
    out
}

/// Any text as XML on one line.
pub(crate) fn xml(text: &str) -> String {
    escape(&text.replace(char::is_whitespace, " "))
}

/// The numbers of an attribute, in the order of the elements that have it.
#[cfg(test)]
pub(crate) fn numbers(svg: &str, element: &str, attribute: &str) -> Vec<f64> {
    let (element, attribute) = (format!("<{element} "), format!("{attribute}='"));
    let tags = svg.split(&element).skip(1).filter_map(|rest| rest.split('>').next());
    let values = tags.filter_map(|tag| tag.split(&attribute).nth(1)?.split('\'').next());
    values.map(|value| value.parse().unwrap()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_cleaned_and_cut() {
        assert_eq!(
            xml("a<b> & \"c\"\u{0}\u{1b}\u{ffff}\n'é'"),
            "a&lt;b&gt; &amp; &quot;c&quot; &#39;é&#39;"
        );
        assert_eq!(truncate(&"ab".repeat(500), 3.0), "ababa…");
    }
}
