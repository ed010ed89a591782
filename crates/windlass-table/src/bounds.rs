//! Bounds of a column that a user sets.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::text::format_number;

/// The values that a column may have: `0..24`, `0..` or `..24`, both ends included.
///
/// ```
/// use windlass_table::Bounds;
///
/// let hours: Bounds = "0..24".parse().unwrap();
/// assert!(hours.contains(24.0) && !hours.contains(-0.5));
/// assert_eq!(Bounds::new(None, Some(1.5)).unwrap().to_string(), "..1.5");
/// assert!("24..0".parse::<Bounds>().is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Bounds {
    low: Option<f64>,
    high: Option<f64>,
}

impl Bounds {
    /// Bounds with at least one end; ends are finite, and in order.
    pub fn new(low: Option<f64>, high: Option<f64>) -> Result<Self, String> {
        let mut ends = low.iter().chain(&high);
        if ends.clone().next().is_none() || !ends.all(|end| end.is_finite()) {
            return Err("bounds are numbers, such as 0..24, 0.. or ..24".into());
        }
        match (low, high) {
            (Some(low), Some(high)) if low > high => Err(format!("{low} is larger than {high}")),
            _ => Ok(Self { low, high }),
        }
    }

    /// Whether a value is inside.
    #[must_use]
    pub fn contains(self, value: f64) -> bool {
        let (low, high) = self.range();
        (low..=high).contains(&value)
    }

    /// Both ends; an open one is infinite.
    pub(crate) fn range(self) -> (f64, f64) {
        (self.low.unwrap_or(f64::NEG_INFINITY), self.high.unwrap_or(f64::INFINITY))
    }
}

impl FromStr for Bounds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (low, high) = text.split_once("..").ok_or("expected bounds such as 0..24")?;
        let end = |text: &str| match text.trim() {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| format!("`{text}` is not a number")),
        };
        Self::new(end(low)?, end(high)?)
    }
}

impl TryFrom<String> for Bounds {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Bounds> for String {
    fn from(bounds: Bounds) -> Self {
        bounds.to_string()
    }
}

impl fmt::Display for Bounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |end: Option<f64>| end.map_or(String::new(), format_number);
        write!(f, "{}..{}", end(self.low), end(self.high))
    }
}
