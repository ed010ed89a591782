//! Descriptions of methods and numbers for reports.

use windlass_plot::format::{significant, trimmed, true_minus};
use windlass_table::MethodConfig;

/// A method with its parameters: `C-Mixup (bandwidth 0.25sd, beta 2)`.
#[must_use]
pub fn method(method: &MethodConfig) -> String {
    let (info, params) = (method.info(), method.params());
    // These two are the same for all candidates.
    let shown = info.params.iter().filter(|param| !matches!(param.name, "per" | "anchors"));
    let values = shown.filter_map(|param| {
        let value = (param.get)(&params)?;
        let short = value.parse().map_or(value, |number: f64| trimmed(number, 3));
        Some(format!("{} {short}", param.name.replace('_', " ")))
    });
    format!("{} ({})", info.title, values.collect::<Vec<_>>().join(", "))
}

/// About four significant digits.
pub(crate) fn short(value: f64) -> String {
    if value == 0.0 || (1e-3..1e5).contains(&value.abs()) {
        true_minus(&significant(value, 4))
    } else {
        format!("{value:.2e}")
    }
}

/// A word quoted for a shell.
#[must_use]
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:,=+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
