//! Settings as text: the source of anchors and the number of clusters.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The source of the anchors of a table: `kmeans`, `bins:COLUMN`, `quantiles:COLUMN`, `column:COLUMN` or
/// `matrix:FILE`.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[derive(Debug, Clone, PartialEq, Default)]
pub enum AnchorSource {
    /// k-means clusters of similar rows.
    #[default]
    KMeans,
    /// Bins of equal width of a column.
    Bins(String),
    /// Bins of equal size of a column.
    Quantiles(String),
    /// The values of a column.
    Column(String),
    /// Real-valued anchors from another file, one row for every row of the table.
    Matrix(PathBuf),
}

impl FromStr for AnchorSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, name) = text.split_once(':').unwrap_or((text, ""));
        let named = |make: fn(String) -> Self| match name {
            "" => Err(format!("`{kind}` needs a name: {kind}:NAME")),
            name => Ok(make(name.to_owned())),
        };
        match kind {
            "kmeans" if name.is_empty() => Ok(Self::KMeans),
            "bins" => named(Self::Bins),
            "quantiles" => named(Self::Quantiles),
            "column" => named(Self::Column),
            "matrix" => named(|path| Self::Matrix(path.into())),
            _ => Err("expected kmeans, bins:COLUMN, quantiles:COLUMN, column:COLUMN or \
                      matrix:FILE"
                .into()),
        }
    }
}

impl fmt::Display for AnchorSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::KMeans => f.write_str("kmeans"),
            Self::Bins(column) => write!(f, "bins:{column}"),
            Self::Quantiles(column) => write!(f, "quantiles:{column}"),
            Self::Column(column) => write!(f, "column:{column}"),
            Self::Matrix(path) => write!(f, "matrix:{}", path.display()),
        }
    }
}

/// The number of clusters or bins: a count, or `auto`.
///
/// ```
/// use windlass::ClusterCount;
/// assert_eq!([1, 10, 398, 1_000_000].map(|rows| ClusterCount::Auto.resolve(rows)), [1, 2, 14, 32]);
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClusterCount {
    /// `√(n/2)`, rounded, at least 2, at most 32 and at most the number of rows. A rule of thumb: 6 clusters of
    /// 12 rows for 70 rows, 28 of 57 for 1,600; beyond 2,000 rows clusters become larger instead of more.
    #[default]
    Auto,
    /// A fixed number.
    Count(usize),
}

impl ClusterCount {
    /// The number for a table with this many rows.
    #[must_use]
    pub fn resolve(self, rows: u64) -> usize {
        match self {
            Self::Count(count) => count,
            Self::Auto => {
                let rule = (1..32_u64).take_while(|q| 2 * q * q + 2 * q < rows).count() + 1;
                rule.clamp(2, 32).min(usize::try_from(rows).unwrap_or(usize::MAX))
            }
        }
    }
}

impl From<usize> for ClusterCount {
    fn from(count: usize) -> Self {
        Self::Count(count)
    }
}

impl FromStr for ClusterCount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => match text.parse() {
                Ok(count) if count > 0 => Ok(Self::Count(count)),
                _ => Err("expected a positive integer or `auto`".into()),
            },
        }
    }
}

impl fmt::Display for ClusterCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Count(count) => count.fmt(f),
        }
    }
}
