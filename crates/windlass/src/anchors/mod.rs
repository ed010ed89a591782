//! Anchors: the grouping of rows.
//!
//! [`Anchors`] are settings; fitted on training rows they become a [`Partition`] (one group per row) or an
//! [`AnchorMatrix`] (real-valued, of any rank).

mod bins;
mod clustering;
pub(crate) mod kmeans;
mod matrix;
pub(crate) mod partition;
mod source;

use std::sync::Arc;

pub use bins::Bins;
pub use clustering::{
    ClusterOn, ClusterScaling, Clustering, FittedClusters, SAMPLE, sample_within,
};
pub use kmeans::{KMeans, KMeansFit, RowSample};
pub use matrix::{AnchorMatrix, Basis};
pub use partition::Partition;
pub use source::{AnchorSource, ClusterCount};

use crate::error::same_rows;
use crate::{Error, Result, Samples, Seed};

/// One column of the features or the targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the column's number")]
pub enum Column {
    X(usize),
    Y(usize),
}

/// The source of the anchors of [`Ada`](crate::Ada).
///
/// | Anchors | Groups | Default |
/// | :-- | :-- | :-- |
/// | [`KMeans`](Anchors::KMeans) | similar rows, see [`Clustering`] | on `[x, y]`, standardized |
/// | [`EqualWidth`](Anchors::EqualWidth), [`EqualSize`](Anchors::EqualSize) | bins of one column | – |
/// | [`Groups`](Anchors::Groups) | given: a site, a season, a domain | – |
/// | [`Matrix`](Anchors::Matrix) | none: real-valued anchors | – |
///
/// All but the last can be fitted [within](crate::Ada::within) the levels of another partition.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "a column and the number of its bins")]
pub enum Anchors {
    /// k-means clusters.
    KMeans(Clustering),
    /// Equally wide bins of a column.
    EqualWidth { of: Column, bins: usize },
    /// Equally filled bins of a column.
    EqualSize { of: Column, bins: usize },
    /// A group for every training row.
    Groups(Arc<Partition>),
    /// Real-valued anchors for every training row.
    Matrix(Arc<AnchorMatrix>),
}

impl Default for Anchors {
    fn default() -> Self {
        Self::KMeans(Clustering::default())
    }
}

impl From<Partition> for Anchors {
    fn from(partition: Partition) -> Self {
        Self::Groups(Arc::new(partition))
    }
}

impl From<AnchorMatrix> for Anchors {
    fn from(matrix: AnchorMatrix) -> Self {
        Self::Matrix(Arc::new(matrix))
    }
}

impl Anchors {
    /// Returns an error for settings outside their range.
    pub fn check(&self) -> Result<()> {
        match self {
            Self::KMeans(clustering) => clustering.check(),
            Self::EqualWidth { bins: 0, .. } | Self::EqualSize { bins: 0, .. } => {
                Err(Error::OutOfRange { name: "bins", range: "[1, inf)", got: 0.0 })
            }
            _ => Ok(()),
        }
    }

    /// The group of every training row, or `None` for real-valued anchors, which have no groups.
    ///
    /// ```
    /// use ndarray::{Array2, array};
    /// use windlass::{Anchors, Column, Samples, Seed};
    ///
    /// let (x, y) = (array![[1.0], [2.0], [3.0], [4.0]], array![0.0, 0.1, 9.0, 9.1]);
    /// let samples = Samples::new(x.view(), y.view())?;
    /// let by_target = Anchors::EqualWidth { of: Column::Y(0), bins: 2 };
    /// assert_eq!(by_target.partition(&samples, Seed(0))?.unwrap().labels(), [0, 0, 1, 1]);
    /// # Ok::<(), windlass::Error>(())
    /// ```
    pub fn partition(&self, samples: &Samples<'_>, seed: Seed) -> Result<Option<Arc<Partition>>> {
        self.check()?;
        self.resolved(samples.rows()).partition_level(samples, 1, seed)
    }

    /// The same anchors with `Auto` replaced by a number of clusters.
    fn resolved(&self, rows: usize) -> Self {
        match self {
            Self::KMeans(clustering) => Self::KMeans(Clustering {
                clusters: clustering.clusters.resolve(rows as u64).into(),
                ..*clustering
            }),
            other => other.clone(),
        }
    }

    /// The partition of one of several levels.
    fn partition_level(
        &self,
        samples: &Samples<'_>,
        levels: usize,
        seed: Seed,
    ) -> Result<Option<Arc<Partition>>> {
        Ok(Some(match self {
            Self::KMeans(clustering) => {
                let clusters = clustering.fit_most(samples, sample_within(levels), seed)?;
                Arc::new(Partition::new(clusters.assign(samples)?, clusters.groups())?)
            }
            Self::EqualWidth { of, bins } => {
                let values = of.values(samples)?;
                Arc::new(partition_by(&Bins::equal_width(&values, *bins)?, &values)?)
            }
            Self::EqualSize { of, bins } => {
                let values = of.values(samples)?;
                Arc::new(partition_by(&Bins::equal_size(&values, *bins)?, &values)?)
            }
            Self::Groups(partition) => {
                check_rows("the groups", partition.rows(), samples)?;
                Arc::clone(partition)
            }
            Self::Matrix(matrix) => {
                check_rows("the anchor matrix", matrix.rows(), samples)?;
                return Ok(None);
            }
        }))
    }

    /// [`partition`](Self::partition) inside every level of another partition.
    pub fn partition_within(
        &self,
        levels: &Partition,
        samples: &Samples<'_>,
        seed: Seed,
    ) -> Result<Option<Arc<Partition>>> {
        check_rows("the levels", levels.rows(), samples)?;
        if matches!(self, Self::Matrix(_)) {
            return Err(Error::NeedsGroups { what: "within" });
        }
        self.check()?;
        let count = levels.sizes().iter().filter(|&&size| size > 0).count();
        let resolved = self.resolved(samples.rows() / count.max(1));
        let split = |rows: &[usize]| {
            let anchors = match &resolved {
                Self::Groups(partition) => Self::Groups(Arc::new(partition.select(rows)?)),
                other => other.clone(),
            };
            let inner = anchors.partition_level(&samples.select(rows), count, seed)?;
            Ok(inner.expect("groups stay groups").as_ref().clone())
        };
        levels.within(split).map(|partition| Some(Arc::new(partition)))
    }
}

fn partition_by(bins: &Bins, values: &[f64]) -> Result<Partition> {
    Partition::new(bins.assign(values)?, bins.bins())
}

impl Column {
    fn values(self, samples: &Samples<'_>) -> Result<Vec<f64>> {
        let (what, all, column) = match self {
            Self::X(column) => ("x", samples.x(), column),
            Self::Y(column) => ("y", samples.y(), column),
        };
        if column >= all.ncols() {
            return Err(Error::NoSuchColumn { what, column, columns: all.ncols() });
        }
        Ok(all.column(column).to_vec())
    }
}

fn check_rows(left: &'static str, left_rows: usize, samples: &Samples<'_>) -> Result<()> {
    same_rows((left, left_rows), ("x", samples.rows()))
}
