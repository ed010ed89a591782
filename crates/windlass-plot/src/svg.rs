//! The pieces of SVG that every plot is made of.

use crate::color::Color;

/// Rounds to a tenth, a fifth of a pixel of the PNG.
pub(crate) fn num(v: f64) -> f64 {
    (v * 10.0).round() / 10.0
}

/// A circle; the paint is the attributes of a color, or nothing where a group has one.
pub(crate) fn circle((x, y): (f64, f64), radius: f64, paint: &str) -> String {
    format!("<circle cx='{}' cy='{}' r='{}'{paint}/>", num(x), num(y), num(radius))
}

pub(crate) fn line(path: &str, color: Color) -> String {
    format!("<path d='{path}'{}/>", color.stroke())
}

pub(crate) fn text(x: f64, y: f64, anchor: &str, color: Color, words: &str) -> String {
    let (x, y, fill) = (num(x), num(y), color.fill());
    format!("<text x='{x}' y='{y}' text-anchor='{anchor}'{fill}>{words}</text>")
}

/// The attribute of a group that stands at a place and is turned by so many degrees.
pub(crate) fn turned(x: f64, y: f64, degrees: i32) -> String {
    format!(" transform='translate({} {}) rotate({degrees})'", num(x), num(y))
}

/// A rectangle between two corners; the paint is the attributes of a color, or nothing where a
/// group has one.
pub(crate) fn rect([left, top, right, bottom]: [f64; 4], paint: &str) -> String {
    let [x, y, width, height] = [left, top, right - left, bottom - top].map(num);
    format!("<rect x='{x}' y='{y}' width='{width}' height='{height}'{paint}/>")
}

/// A text with an outline of paper, which keeps it legible where lines cross it.
pub(crate) fn outlined(text: &str) -> String {
    let outline = "stroke-width='4' stroke-linejoin='round' paint-order='stroke'";
    format!("<g{} {outline}>{text}</g>", Color::Paper.stroke())
}

/// A number with separators in its whole part and a true minus sign.
pub(crate) fn thousands(number: &impl ToString) -> String {
    let mut out = number.to_string();
    let end = out.find('.').unwrap_or(out.len());
    let digits = out[..end].trim_start_matches('-').len();
    for i in (3..digits).step_by(3) {
        out.insert(end - i, ',');
    }
    out.replace('-', "−")
}

/// A number with its exponent, if any, raised. What follows must come down again by 4.
pub(crate) fn power(number: &str) -> String {
    match number.split_once('^') {
        Some((base, exponent)) => format!("{base}<tspan dy='-4' font-size='11'>{exponent}</tspan>"),
        None => number.to_owned(),
    }
}

/// About the width of a text in ems.
pub(crate) fn ems(text: &str) -> f64 {
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

/// A text cut to about so many ems.
pub(crate) fn cut(text: &str, most_ems: f64) -> String {
    let (mut out, mut width) = (String::new(), 0.0);
    for c in text.chars() {
        width += char_ems(c);
        if width > most_ems {
            return out + "…";
        }
        out.push(c);
    }
    out
}

/// Any text as XML.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
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

/// Any text as XML, cut to about so many ems.
pub(crate) fn xml(text: &str, most_ems: f64) -> String {
    escape(&cut(text, most_ems))
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
            xml("a<b> & \"c\"\u{0}\u{1b}\u{ffff}\n'é'", 99.0),
            "a&lt;b&gt; &amp; &quot;c&quot; &#39;é&#39;"
        );
        assert_eq!(xml(&"ab".repeat(500), 3.0), "ababa…");
    }
}
