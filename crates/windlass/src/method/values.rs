//! Values of parameters that are more than a number.

use std::fmt;
use std::str::FromStr;

use crate::Result;
use crate::choice::choice;

/// How far apart targets may be: the width `h` of the kernel.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bandwidth {
    /// In the units of the targets, as published.
    Absolute(f64),
    /// In standard deviations of each target.
    Deviations(f64),
}

/// A number in units of the target, or in standard deviations as in `0.25sd`.
impl FromStr for Bandwidth {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, make): (_, fn(f64) -> Self) = match text.strip_suffix("sd") {
            Some(number) => (number, Self::Deviations),
            None => (text, Self::Absolute),
        };
        let parsed = number.trim().parse().map(make);
        parsed.map_err(|_| "a number, or standard deviations as in 0.25sd".into())
    }
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absolute(width) => width.fmt(f),
            Self::Deviations(width) => write!(f, "{width}sd"),
        }
    }
}

/// The units of the standard deviation of noise.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "bool", into = "bool"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NoiseUnits {
    /// Standard deviations of each column.
    #[default]
    Deviations,
    /// The units of the column.
    Absolute,
}

choice!(NoiseUnits, "sd" => NoiseUnits::Deviations, "absolute" => NoiseUnits::Absolute);

/// Files say whether noise is relative.
impl From<bool> for NoiseUnits {
    fn from(relative: bool) -> Self {
        if relative { Self::Deviations } else { Self::Absolute }
    }
}

impl From<NoiseUnits> for bool {
    fn from(units: NoiseUnits) -> Self {
        units == NoiseUnits::Deviations
    }
}
