//! Parameter values with units.

use std::fmt;
use std::str::FromStr;

use crate::Result;
use crate::choice::choice;

/// The bandwidth `h` of the kernel on targets.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Bandwidth {
    /// In the units of the targets, as published.
    Absolute(f64),
    /// In standard deviations of each target.
    Deviations(f64),
}

/// A number in units of the target, or in standard deviations such as `0.25sd`.
impl FromStr for Bandwidth {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, make): (_, fn(f64) -> Self) = match text.strip_suffix("sd") {
            Some(number) => (number, Self::Deviations),
            None => (text, Self::Absolute),
        };
        let parsed = number.trim().parse().map(make);
        parsed.map_err(|_| "expected a number, or standard deviations such as 0.25sd".into())
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

/// The maximum distance ε between the features of partners.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "SavedEpsilon", into = "SavedEpsilon"))]
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Epsilon {
    /// In the units of the features.
    Absolute(f64),
    /// Between standardized features.
    Deviations(f64),
    /// Between standardized features, chosen from the rows: about a quarter of the pairs are admitted.
    #[default]
    Auto,
}

/// `auto`, a number in units of the features, or standard deviations such as `1.5sd`.
impl FromStr for Epsilon {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        match text.parse() {
            Ok(Bandwidth::Absolute(epsilon)) => Ok(Self::Absolute(epsilon)),
            Ok(Bandwidth::Deviations(epsilon)) => Ok(Self::Deviations(epsilon)),
            Err(_) => Err("expected `auto`, a number, or standard deviations such as 1.5sd".into()),
        }
    }
}

impl fmt::Display for Epsilon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absolute(epsilon) => epsilon.fmt(f),
            Self::Deviations(epsilon) => write!(f, "{epsilon}sd"),
            Self::Auto => f.write_str("auto"),
        }
    }
}

/// A number as 0.1.0 wrote it, or text.
#[cfg(feature = "serde")]
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(untagged)]
enum SavedEpsilon {
    Number(f64),
    Text(String),
}

#[cfg(feature = "serde")]
impl TryFrom<SavedEpsilon> for Epsilon {
    type Error = String;

    fn try_from(saved: SavedEpsilon) -> Result<Self, String> {
        match saved {
            SavedEpsilon::Number(epsilon) => Ok(Self::Absolute(epsilon)),
            SavedEpsilon::Text(text) => text.parse(),
        }
    }
}

#[cfg(feature = "serde")]
impl From<Epsilon> for SavedEpsilon {
    fn from(epsilon: Epsilon) -> Self {
        match epsilon {
            Epsilon::Absolute(epsilon) => Self::Number(epsilon),
            other => Self::Text(other.to_string()),
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

/// Serialized as a bool: whether noise is relative.
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
