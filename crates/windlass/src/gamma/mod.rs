//! Distributions of the strength γ.
//!
//! | Distribution | γ | Reference |
//! | :-- | :-- | :-- |
//! | [`Uniform`](GammaDistribution::Uniform) | uniform on `[1/α, α]` | the paper's text |
//! | [`PaperGrid`](GammaDistribution::PaperGrid) | uniform on `{1/α, …, 1/β₁, 1, β₁, …, α}` | its section on linear data |
//! | [`PublishedGrid`](GammaDistribution::PublishedGrid) | uniform on the published code's list, without 1 | its code |
//! | [`LogUniform`](GammaDistribution::LogUniform) | `exp(u)`, u uniform on `[−ln α, ln α]` | equal below and above 1 |
//! | [`Gamma`](GammaDistribution::Gamma) | a gamma distribution | the paper's conclusion |
//! | [`List`](GammaDistribution::List) | the given values in turn | figure 1 |
//!
//! Uniform on `[1/α, α]` contracts more often than it expands, because 1 is not its center. Log-uniform does both
//! equally often.
//!
//! ```
//! use windlass::{GammaDistribution, Seed};
//!
//! let distribution = GammaDistribution::LogUniform { alpha: 3.0 };
//! let gamma = distribution.check()?.shared(Seed(7), 12); // of step 12: the same whenever it is asked for
//! assert!((1.0 / 3.0..=3.0).contains(&gamma));
//! # Ok::<(), windlass::Error>(())
//! ```

mod grid;

pub use grid::{paper_grid, published_grid};

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::rng::Draws;
use crate::{Error, Result, Seed, Stream};

/// The valid range: outside of it a row would be moved by a factor of more than 10⁸.
pub(crate) const GAMMA: RangeInclusive<f64> = 1e-16..=1e16;
pub(crate) const GAMMA_RANGE: &str = "[1e-16, 1e16]";

/// Maximum number of values of a grid.
const MAX_GRID: usize = 1_000_000;
const DEFAULT_ALPHA: f64 = 2.0;

/// A distribution of γ. See the [module](self).
///
/// | Setting | Default | Range |
/// | :-- | :-- | :-- |
/// | `alpha` | `2.0` | `(1, 1e16]` |
/// | `values` of a grid: its `k` | `20` in the published code | `2, …, 1e6` |
/// | `shape`, `scale` | – | `(0, ∞)` |
/// | a list's values | – | `[1e-16, 1e16]`, at least one |
///
/// Draws of the gamma distribution are clamped to `[1e-16, 1e16]`.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the tables above explain each field")]
pub enum GammaDistribution {
    /// Uniform on `[1/alpha, alpha]`.
    Uniform { alpha: f64 },
    /// Uniform on [`paper_grid`].
    PaperGrid { alpha: f64, values: usize },
    /// Uniform on [`published_grid`].
    PublishedGrid { alpha: f64, values: usize },
    /// Uniform on `[1/alpha, alpha]` in the logarithm.
    LogUniform { alpha: f64 },
    /// A gamma distribution with mean `shape · scale`.
    Gamma { shape: f64, scale: f64 },
    /// These values, one after the other: step `t` takes value `t mod length`, and row `i` of a step in which
    /// each row has its own takes value `(t + i) mod length`.
    List(Vec<f64>),
}

impl Default for GammaDistribution {
    fn default() -> Self {
        Self::Uniform { alpha: DEFAULT_ALPHA }
    }
}

impl GammaDistribution {
    /// Validates the settings and returns a sampler.
    pub fn check(&self) -> Result<Gammas> {
        let checked_alpha = |alpha: f64| check_alpha(alpha).map(|()| alpha);
        let grid = |alpha: f64, values: usize, grid: fn(f64, usize) -> Vec<f64>| {
            check_alpha(alpha)?;
            if !(2..=MAX_GRID).contains(&values) {
                let got = values as f64;
                return Err(Error::OutOfRange { name: "values", range: "[2, 1e6]", got });
            }
            let values = grid(alpha, values);
            // Rounding to 4 decimals takes the reciprocal of a large alpha to 0.
            if !values.iter().all(|value| GAMMA.contains(value)) {
                let range = "a range whose reciprocal does not round to 0";
                return Err(Error::OutOfRange { name: "alpha", range, got: alpha });
            }
            Ok(Rule::AnyOf(values))
        };
        let rule = match self {
            Self::Uniform { alpha } => Rule::Uniform { alpha: checked_alpha(*alpha)? },
            Self::LogUniform { alpha } => Rule::LogUniform { alpha: checked_alpha(*alpha)? },
            Self::PaperGrid { alpha, values } => grid(*alpha, *values, paper_grid)?,
            Self::PublishedGrid { alpha, values } => grid(*alpha, *values, published_grid)?,
            Self::Gamma { shape, scale } => {
                check_positive("shape", *shape)?;
                check_positive("scale", *scale)?;
                Rule::Gamma { shape: *shape, scale: *scale }
            }
            Self::List(values) if values.is_empty() => {
                return Err(Error::Empty { what: "the list of gammas", missing: "values" });
            }
            Self::List(values) => {
                if let Some(&got) = values.iter().find(|value| !GAMMA.contains(value)) {
                    return Err(Error::OutOfRange { name: "gamma", range: GAMMA_RANGE, got });
                }
                Rule::InTurn(values.clone())
            }
        };
        Ok(Gammas { rule })
    }

    /// The `alpha` of the range `[1/alpha, alpha]`, if it has one.
    #[must_use]
    pub fn alpha(&self) -> Option<f64> {
        match *self {
            Self::Uniform { alpha }
            | Self::LogUniform { alpha }
            | Self::PaperGrid { alpha, .. }
            | Self::PublishedGrid { alpha, .. } => Some(alpha),
            Self::Gamma { .. } | Self::List(_) => None,
        }
    }

    /// The same distribution with another range `[1/alpha, alpha]`; one without a range becomes uniform.
    #[must_use]
    pub fn with_alpha(self, alpha: f64) -> Self {
        match self {
            Self::PaperGrid { values, .. } => Self::PaperGrid { alpha, values },
            Self::PublishedGrid { values, .. } => Self::PublishedGrid { alpha, values },
            Self::LogUniform { .. } => Self::LogUniform { alpha },
            Self::Uniform { .. } | Self::Gamma { .. } | Self::List(_) => Self::Uniform { alpha },
        }
    }
}

/// `uniform`, `log-uniform`, `grid[:K]`, `published-grid[:K]`, `gamma:SHAPE,SCALE`, `list:γ,γ,…` or a number.
/// A distribution with a range has the default one: [`with_alpha`](GammaDistribution::with_alpha) changes it.
impl FromStr for GammaDistribution {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const GRID: usize = 20;
        let alpha = DEFAULT_ALPHA;
        if let Ok(gamma) = text.parse() {
            return Ok(Self::List(vec![gamma]));
        }
        let (name, arguments) = text.split_once(':').unwrap_or((text, ""));
        let numbers = || -> Result<Vec<f64>, String> {
            let number =
                |text: &str| text.trim().parse().map_err(|_| format!("`{text}` is not a number"));
            arguments.split(',').map(number).collect()
        };
        let values = || match arguments {
            "" => Ok(GRID),
            text => text.parse().map_err(|_| format!("`{text}` is not a positive integer")),
        };
        match name {
            "uniform" if arguments.is_empty() => Ok(Self::Uniform { alpha }),
            "log-uniform" if arguments.is_empty() => Ok(Self::LogUniform { alpha }),
            "grid" => Ok(Self::PaperGrid { alpha, values: values()? }),
            "published-grid" => Ok(Self::PublishedGrid { alpha, values: values()? }),
            "list" => numbers().map(Self::List),
            "gamma" => match numbers()?[..] {
                [shape, scale] => Ok(Self::Gamma { shape, scale }),
                _ => Err("expected two numbers: gamma:SHAPE,SCALE".into()),
            },
            _ => Err("expected uniform, grid[:K], published-grid[:K], log-uniform, \
                      gamma:SHAPE,SCALE, list:γ,γ,… or a number"
                .into()),
        }
    }
}

impl fmt::Display for GammaDistribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform { .. } => f.write_str("uniform"),
            Self::LogUniform { .. } => f.write_str("log-uniform"),
            Self::PaperGrid { values, .. } => write!(f, "grid:{values}"),
            Self::PublishedGrid { values, .. } => write!(f, "published-grid:{values}"),
            Self::Gamma { shape, scale } => write!(f, "gamma:{shape},{scale}"),
            Self::List(values) if values.len() == 1 => values[0].fmt(f),
            Self::List(values) => {
                let values: Vec<String> = values.iter().map(f64::to_string).collect();
                write!(f, "list:{}", values.join(","))
            }
        }
    }
}

/// A validated [`GammaDistribution`].
#[derive(Debug, Clone)]
pub struct Gammas {
    rule: Rule,
}

#[derive(Debug, Clone)]
enum Rule {
    Uniform { alpha: f64 },
    LogUniform { alpha: f64 },
    Gamma { shape: f64, scale: f64 },
    AnyOf(Vec<f64>),
    InTurn(Vec<f64>),
}

impl Gammas {
    /// One γ for all rows of a step.
    #[must_use]
    pub fn shared(&self, seed: Seed, step: u64) -> f64 {
        self.draw(seed.shared(Stream::Gamma, step), step)
    }

    /// The γ of one row of a step.
    #[must_use]
    pub fn of_row(&self, seed: Seed, step: u64, row: u64) -> f64 {
        self.draw(seed.at(Stream::Gamma, step, row), step.wrapping_add(row))
    }

    fn draw(&self, mut draws: Draws, turn: u64) -> f64 {
        match &self.rule {
            Rule::Uniform { alpha } => {
                let low = 1.0 / alpha;
                low + (alpha - low) * draws.uniform()
            }
            Rule::LogUniform { alpha } => {
                libm::exp(libm::log(*alpha) * (2.0 * draws.uniform() - 1.0))
            }
            Rule::Gamma { shape, scale } => {
                (draws.gamma(*shape) * scale).clamp(*GAMMA.start(), *GAMMA.end())
            }
            Rule::AnyOf(values) => values[draws.below(values.len())],
            Rule::InTurn(values) => {
                let place = turn % values.len() as u64;
                values[usize::try_from(place).unwrap_or(0)]
            }
        }
    }
}

fn check_alpha(alpha: f64) -> Result<()> {
    if alpha > 1.0 && GAMMA.contains(&alpha) {
        return Ok(());
    }
    Err(Error::OutOfRange { name: "alpha", range: "(1, 1e16]", got: alpha })
}

/// Returns an error if the value is not in `(0, ∞)`.
pub(crate) fn check_positive(name: &'static str, value: f64) -> Result<()> {
    if value > 0.0 && value.is_finite() {
        return Ok(());
    }
    Err(Error::OutOfRange { name, range: "(0, inf)", got: value })
}
