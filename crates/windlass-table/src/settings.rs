//! What a user can ask for, as it is kept in the metadata of an output.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use windlass::{
    Ada, Anchors, Bandwidth, CMixup, ClusterOn, ClusterScaling, Clustering, GammaDistribution,
    KMeans, LocalMixup, Mixup, Noise, Partition, Per,
};

use crate::RowIdSource;

/// Everything that decides which rows are made.
///
/// | Setting | Default | Meaning |
/// | :-- | :-- | :-- |
/// | `columns` | – | which columns are what |
/// | `method` | ADA | how rows are made |
/// | `copies` | `1` | synthetic rows for every row |
/// | `originals` | `true` | whether the rows themselves are written too, before the copies |
/// | `seed` | `0` | what random numbers depend on |
/// | `clip` | `false` | keep values inside the observed range of their column |
/// | `drop_missing_target` | `false` | leave out rows without a finite target instead of refusing them |
/// | `provenance` | `false` | say in further columns where every row comes from |
/// | `rows_by` | their number | what tells rows apart |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the table explains each field")]
pub struct AugmentConfig {
    pub columns: Columns,
    pub method: Method,
    pub copies: usize,
    pub originals: bool,
    pub seed: u64,
    pub clip: bool,
    pub drop_missing_target: bool,
    pub provenance: bool,
    #[serde(default)]
    pub rows_by: RowIdSource,
}

impl AugmentConfig {
    /// The defaults for these targets.
    #[must_use]
    pub fn new(targets: &[&str]) -> Self {
        let target = targets.iter().map(ToString::to_string).collect();
        Self {
            columns: Columns { target, ..Columns::default() },
            method: Method::Ada(AdaConfig::default()),
            copies: 1,
            originals: true,
            seed: 0,
            clip: false,
            drop_missing_target: false,
            provenance: false,
            rows_by: RowIdSource::Number,
        }
    }

    /// Refuses settings outside their range, before any file is read.
    pub fn check(&self) -> windlass::Result<()> {
        // Without copies the rows are written as they are.
        if self.copies == 0 && !self.originals {
            let (name, range) = ("copies", "[1, inf)");
            return Err(windlass::Error::OutOfRange { name, range, got: 0.0 });
        }
        self.method.check()
    }

    /// Whether what is made of a row depends on random numbers of its own, so that rows must be told apart.
    #[must_use]
    pub fn draws_for_rows(&self) -> bool {
        !matches!(&self.method, Method::Ada(ada) if ada.per == Per::Batch)
    }

    /// Whether rows that hold the same must be told apart.
    pub(crate) fn needs_twins(&self) -> bool {
        self.rows_by == RowIdSource::Content && self.draws_for_rows()
    }
}

/// Which columns are what; the rest is inferred (see [`Role`](crate::Role)).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Columns {
    /// The numbers to predict.
    pub target: Vec<String>,
    /// The only columns to move, if given; the rest is carried.
    pub features: Option<Vec<String>>,
    /// Left out of the output.
    pub exclude: Vec<String>,
    /// Kept as they are in the source row: ids, folds.
    pub carry: Vec<String>,
    /// Kept as they are in the source row, because their numbers are names.
    pub categorical: Vec<String>,
    /// Moved, although integers with few values.
    pub continuous: Vec<String>,
    /// How much a row counts in means, deviations and clusters.
    pub weight: Option<String>,
    /// What becomes of moved integers.
    pub integers: IntegerHandling,
}

/// What becomes of integers that are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IntegerHandling {
    /// They are rounded to the nearest integer of their type.
    #[default]
    Round,
    /// Their column becomes one of floats.
    Float,
}

/// How synthetic rows are made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the library's types explain each field")]
pub enum Method {
    /// [`windlass::Ada`].
    Ada(AdaConfig),
    /// [`windlass::Mixup`].
    Mixup { beta: f64, per: Per },
    /// [`windlass::CMixup`].
    CMixup { bandwidth: Bandwidth, beta: f64, per: Per },
    /// [`windlass::LocalMixup`].
    LocalMixup { epsilon: f64, beta: f64, per: Per },
    /// [`windlass::Noise`].
    Noise { targets: f64, features: f64, relative: bool },
}

impl Method {
    /// Refuses settings outside their range.
    pub fn check(&self) -> windlass::Result<()> {
        match self {
            Self::Ada(ada) => {
                let clusters = match ada.clusters {
                    ClusterCount::Auto => 1,
                    ClusterCount::Count(count) => count,
                };
                ada.method(Anchors::default(), None).clusters(clusters).check()
            }
            Self::Mixup { beta, per } => mixup(*beta, *per).check(),
            Self::CMixup { bandwidth, beta, per } => c_mixup(*bandwidth, *beta, *per).check(),
            Self::LocalMixup { epsilon, beta, per } => local_mixup(*epsilon, *beta, *per).check(),
            Self::Noise { targets, features, relative } => {
                noise(*targets, *features, *relative).check()
            }
        }
    }

    /// The library's method; none for ADA, which needs anchors: [`AdaConfig::method`].
    #[must_use]
    pub fn without_anchors(&self) -> Option<Arc<dyn windlass::Method>> {
        Some(match self {
            Self::Ada(_) => return None,
            Self::Mixup { beta, per } => Arc::new(mixup(*beta, *per)),
            Self::CMixup { bandwidth, beta, per } => Arc::new(c_mixup(*bandwidth, *beta, *per)),
            Self::LocalMixup { epsilon, beta, per } => Arc::new(local_mixup(*epsilon, *beta, *per)),
            Self::Noise { targets, features, relative } => {
                Arc::new(noise(*targets, *features, *relative))
            }
        })
    }

    /// The name of the method, as the command has it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ada(_) => "ada",
            Self::Mixup { .. } => "mixup",
            Self::CMixup { .. } => "c-mixup",
            Self::LocalMixup { .. } => "local-mixup",
            Self::Noise { .. } => "noise",
        }
    }
}

fn mixup(beta: f64, per: Per) -> Mixup {
    Mixup::default().beta(beta).per(per)
}

fn c_mixup(bandwidth: Bandwidth, beta: f64, per: Per) -> CMixup {
    CMixup::default().bandwidth(bandwidth).beta(beta).per(per)
}

fn local_mixup(epsilon: f64, beta: f64, per: Per) -> LocalMixup {
    LocalMixup::new(epsilon).beta(beta).per(per)
}

fn noise(targets: f64, features: f64, relative: bool) -> Noise {
    Noise::default().targets(targets).features(features).relative(relative)
}

/// Settings of Anchor Data Augmentation on a table.
///
/// | Setting | Default | Meaning |
/// | :-- | :-- | :-- |
/// | `anchors` | k-means | who belongs together |
/// | `clusters` | automatic | groups of k-means, or bins |
/// | `on`, `scale` | `[x, y]`, standardized | what k-means compares |
/// | `within` | – | a category whose levels no group crosses |
/// | `gamma` | uniform on `[1/2, 2]` | how far rows move |
/// | `per` | copy | one γ a copy, or one a row |
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the table explains each field")]
pub struct AdaConfig {
    pub anchors: AnchorSource,
    pub clusters: ClusterCount,
    pub on: ClusterOn,
    pub scale: ClusterScaling,
    pub within: Option<String>,
    pub gamma: GammaDistribution,
    pub per: Per,
}

impl AdaConfig {
    /// The library's method on these anchors.
    #[must_use]
    pub fn method(&self, anchors: Anchors, within: Option<Partition>) -> Ada {
        let ada = Ada::default().anchors(anchors).gamma(self.gamma.clone()).per(self.per);
        match within {
            Some(levels) => ada.within(levels),
            None => ada,
        }
    }

    /// How many groups are found in each of so many levels.
    #[must_use]
    pub fn groups_in(&self, rows: u64, levels: usize) -> usize {
        self.clusters.of(rows / (levels as u64).max(1))
    }

    /// Anchors of so many groups that k-means finds.
    #[must_use]
    pub fn found(&self, groups: usize) -> Anchors {
        let kmeans = KMeans::new(groups);
        Anchors::KMeans(Clustering { kmeans, on: self.on, scale: self.scale })
    }
}

/// Where the anchors of a table come from.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnchorSource {
    /// Clusters of similar rows.
    #[default]
    KMeans,
    /// Equally wide bins of a column.
    Bins(String),
    /// Equally filled bins of a column.
    Quantiles(String),
    /// The values of a column.
    Column(String),
    /// Real-valued anchors, one row for every row of the table, from another file.
    Matrix(PathBuf),
}

/// How many groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClusterCount {
    /// `√(n/2)`, rounded, but at least 2, at most 32 and no more than rows. A rule of thumb: 6 groups of
    /// 12 rows for 70, 28 of 57 for 1,600; beyond 2,000 rows groups become larger instead of more.
    #[default]
    Auto,
    /// So many.
    Count(usize),
}

impl ClusterCount {
    /// The number for a table of so many rows.
    ///
    /// ```
    /// use windlass_table::ClusterCount;
    /// assert_eq!([1, 10, 398, 1_000_000].map(|rows| ClusterCount::Auto.of(rows)), [1, 2, 14, 32]);
    /// ```
    #[must_use]
    pub fn of(self, rows: u64) -> usize {
        match self {
            Self::Count(count) => count,
            Self::Auto => {
                let rule = (1..32_u64).take_while(|q| 2 * q * q + 2 * q < rows).count() + 1;
                rule.clamp(2, 32).min(usize::try_from(rows).unwrap_or(usize::MAX))
            }
        }
    }
}
