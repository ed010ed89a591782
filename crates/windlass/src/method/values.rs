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

/// How many directions of a neighborhood stay as they are.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rho {
    /// The leading ones, whose singular values have at most this share of the sum of all.
    Share(f64),
    /// As many as the intrinsic dimension of the training rows.
    Dimension,
}

impl Default for Rho {
    fn default() -> Self {
        Self::Share(0.95)
    }
}

/// A number, or `dimension`.
impl FromStr for Rho {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "dimension" {
            return Ok(Self::Dimension);
        }
        let share = text.trim().parse().map(Self::Share);
        share.map_err(|_| format!("`{text}` is neither a number nor `dimension`"))
    }
}

impl fmt::Display for Rho {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Share(share) => share.fmt(f),
            Self::Dimension => f.write_str("dimension"),
        }
    }
}

/// The dimension of the surface that rows lie on.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "String", into = "String"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum IntrinsicDimension {
    /// This one.
    Number(usize),
    /// Estimated from the training rows by [`intrinsic_dimension`](super::intrinsic_dimension), rounded up.
    #[default]
    Auto,
}

/// A whole number, or `auto`.
impl FromStr for IntrinsicDimension {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let number = text.trim().parse().map(Self::Number);
        number.map_err(|_| format!("`{text}` is neither a whole number nor `auto`"))
    }
}

impl fmt::Display for IntrinsicDimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Auto => f.write_str("auto"),
        }
    }
}

/// Which rows form a neighborhood.
///
/// Batches of neighbors make steps of training less independent, which can cost more than any augmentation gains, so
/// [`Auto`](Self::Auto) leaves the batches of training random.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Neighborhood {
    /// The nearest rows: of every row if the method has such neighborhoods, else as [`Nearest`](Self::Nearest) for a
    /// dataset and [`Random`](Self::Random) for batches.
    #[default]
    Auto,
    /// A random row and the nearest rows that are in no neighborhood yet; in training these are the batches.
    Nearest,
    /// A random row and rows drawn with probability ∝ 1/distance.
    Near,
    /// Any rows.
    Random,
    /// Each row has its own neighborhood: its nearest rows.
    Row,
}

choice!(
    Neighborhood,
    "auto" => Neighborhood::Auto,
    "nearest" => Neighborhood::Nearest,
    "near" => Neighborhood::Near,
    "random" => Neighborhood::Random,
    "row" => Neighborhood::Row,
);

/// Which singular values of a neighborhood shrink, and whether targets move.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SpectrumVariant {
    /// Singular values after the leading ones are multiplied by λ, and targets move as features do.
    #[default]
    Paper,
    /// The *leading* singular values are multiplied by λ, and targets stay: the published code with
    /// `small_singular = 0` (airfoil, exchange rates, electricity).
    Published,
    /// Singular values after the leading ones are multiplied by λ, and targets stay: the published code with
    /// `small_singular = 1` (NO2, crime).
    PublishedTrailing,
}

choice!(
    SpectrumVariant,
    "paper" => SpectrumVariant::Paper,
    "published" => SpectrumVariant::Published,
    "published-trailing" => SpectrumVariant::PublishedTrailing,
);

/// Serialized as text.
#[cfg(feature = "serde")]
macro_rules! serialized_as_text {
    ($($type:ty),+) => {$(
        impl TryFrom<String> for $type {
            type Error = String;

            fn try_from(text: String) -> Result<Self, String> {
                text.parse()
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.to_string()
            }
        }
    )+};
}
#[cfg(feature = "serde")]
serialized_as_text!(Rho, IntrinsicDimension);
