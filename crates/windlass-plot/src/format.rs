//! Numbers and text for readers of plots, reports and the terminal.

/// A number with about `digits` significant digits: never fewer digits than its whole part has, at
/// most `digits - 1` decimals, and scientific notation outside `[0.001, 10^(digits + 1))`.
#[must_use]
pub fn significant(value: f64, digits: u8) -> String {
    let most = f64::from(digits) - 1.0;
    if value != 0.0 && !(1e-3..10_f64.powi(i32::from(digits) + 1)).contains(&value.abs()) {
        return format!("{value:.*e}", usize::from(digits) - 1);
    }
    let whole = value.abs().max(1.0).log10().floor();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to `digits`")]
    let decimals = (most - whole).max(0.0) as usize;
    format!("{value:.decimals$}")
}

/// A number with at most `decimals` decimals and no zeros at its end.
#[must_use]
pub fn trimmed(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A size in kB or MB, with two or three significant digits.
#[must_use]
pub fn size(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        0.0..1e4 => format!("{:.1} kB", bytes / 1e3),
        0.0..1e6 => format!("{:.0} kB", bytes / 1e3),
        0.0..1e7 => format!("{:.1} MB", bytes / 1e6),
        _ => format!("{:.0} MB", bytes / 1e6),
    }
}

/// A percentage with its sign and one decimal: `−4.2 %`.
#[must_use]
pub fn signed_percent(percent: f64) -> String {
    true_minus(&format!("{percent:+.1} %"))
}

/// A number with commas in its whole part and a true minus sign.
#[must_use]
pub fn thousands(number: &impl ToString) -> String {
    let mut out = number.to_string();
    let end = out.find('.').unwrap_or(out.len());
    let digits = out[..end].trim_start_matches('-').len();
    for i in (3..digits).step_by(3) {
        out.insert(end - i, ',');
    }
    true_minus(&out)
}

/// Replaces each hyphen by the minus sign U+2212.
#[must_use]
pub fn true_minus(number: &str) -> String {
    number.replace('-', "−")
}

/// Escapes text for HTML and XML, in elements and in quoted attributes. Control characters, which
/// XML forbids, are removed.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            '\u{fffe}' | '\u{ffff}' => {}
            c if c.is_control() && !c.is_whitespace() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn significant_digits_include_the_whole_part() {
        let cases = [
            (0.0, "0.000"),
            (-0.5, "-0.500"),
            (99.0, "99.00"),
            (12_345.0, "12345"),
            (1e5, "1.000e5"),
        ];
        for (value, expected) in cases {
            assert_eq!(significant(value, 4), expected);
        }
        assert_eq!(significant(f64::NAN, 4), "NaN");
    }

    #[test]
    fn signs_and_separators_are_typographic() {
        assert_eq!(thousands(&-1_234_567.5), "−1,234,567.5");
        assert_eq!([-4.24, 0.96].map(signed_percent), ["−4.2 %", "+1.0 %"]);
        assert_eq!([2.0, -0.5].map(|v| trimmed(v, 2)), ["2", "-0.5"]);
    }

    #[test]
    fn sizes_have_the_unit_that_fits() {
        let sizes = [512, 74_400, 32_161_900, 2_500_000_000];
        assert_eq!(sizes.map(size), ["0.5 kB", "74 kB", "32 MB", "2500 MB"]);
    }

    #[test]
    fn escaping_keeps_line_breaks_and_removes_control_characters() {
        assert_eq!(escape("a<b>\n&\u{1b}\u{ffff}'"), "a&lt;b&gt;\n&amp;&#39;");
    }
}
