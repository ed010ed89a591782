//! Anchors: what says which rows belong together.
//!
//! [`Anchors`] is what a user asks for; fitted on training rows it becomes a [`Partition`] (a group for
//! every row) or stays an [`AnchorMatrix`] (real-valued, of any rank).

mod bins;
pub(crate) mod kmeans;
mod matrix;
pub(crate) mod partition;

use std::sync::Arc;

use ndarray::{Array2, ArrayView1, Axis, concatenate};

pub use bins::Bins;
pub use kmeans::{KMeans, KMeansFit, RowSample};
pub use matrix::{AnchorMatrix, Basis};
pub use partition::Partition;

use crate::moments::moments;
use crate::{Error, Result, Samples, Seed};

/// What the groups are found in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum On {
    /// The features.
    X,
    /// The targets.
    Y,
    /// Features and targets side by side.
    #[default]
    Xy,
}

/// Whether columns are brought to the same scale before distances are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// Each column has mean 0 and variance 1 (a constant column stays 0).
    #[default]
    Standardised,
    /// As they are. The published code does this, so a target on a large scale dominates.
    Raw,
}

/// One column of the features or the targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the column's number")]
pub enum Column {
    X(usize),
    Y(usize),
}

/// Where the anchors of [`Ada`](crate::Ada) come from.
///
/// | Anchors | Groups | Default |
/// | :-- | :-- | :-- |
/// | [`KMeans`](Anchors::KMeans) | rows that are close to each other | 8 groups, on `[x, y]`, standardised |
/// | [`EqualWidth`](Anchors::EqualWidth), [`EqualSize`](Anchors::EqualSize) | bins of one column | – |
/// | [`Groups`](Anchors::Groups) | given: a site, a season, a domain | – |
/// | [`Matrix`](Anchors::Matrix) | none: real-valued anchors | – |
///
/// All but the last can be fitted [within](crate::Ada::within) the levels of another partition.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Anchors {
    /// k-means clusters.
    KMeans {
        /// How many groups, and how hard to look for them.
        settings: KMeans,
        /// What they are found in.
        on: On,
        /// Whether columns are standardised.
        scale: Scale,
    },
    /// Equally wide bins of a column.
    EqualWidth {
        /// The column.
        of: Column,
        /// How many bins.
        bins: usize,
    },
    /// Equally filled bins of a column.
    EqualSize {
        /// The column.
        of: Column,
        /// How many bins.
        bins: usize,
    },
    /// A group for every training row.
    Groups(Arc<Partition>),
    /// Real-valued anchors for every training row.
    Matrix(Arc<AnchorMatrix>),
}

impl Default for Anchors {
    fn default() -> Self {
        Self::KMeans { settings: KMeans::default(), on: On::default(), scale: Scale::default() }
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
    /// Refuses settings outside their range.
    pub fn check(&self) -> Result<()> {
        match self {
            Self::KMeans { settings, .. } => settings.check(),
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
        Ok(Some(match self {
            Self::KMeans { settings, on, scale } => {
                let rows = clustered_rows(samples, *on, *scale);
                Arc::new(settings.fit(rows.view(), samples.weights(), seed)?.partition().clone())
            }
            Self::EqualWidth { of, bins } => {
                let values = of.values(samples)?.to_vec();
                Arc::new(Bins::equal_width(&values, *bins)?.assign(&values)?)
            }
            Self::EqualSize { of, bins } => {
                let values = of.values(samples)?.to_vec();
                Arc::new(Bins::equal_size(&values, *bins)?.assign(&values)?)
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
    ///
    /// A level with fewer rows than groups asked for gets a group for every row.
    pub fn partition_within(
        &self,
        levels: &Partition,
        samples: &Samples<'_>,
        seed: Seed,
    ) -> Result<Option<Arc<Partition>>> {
        check_rows("the levels", levels.rows(), samples)?;
        if matches!(self, Self::Matrix(_)) {
            return Ok(None);
        }
        let split = |rows: &[usize]| {
            let inner = self.restricted_to(rows)?.partition(&samples.select(rows), seed)?;
            Ok(inner.expect("groups stay groups").as_ref().clone())
        };
        levels.within(split).map(|partition| Some(Arc::new(partition)))
    }

    /// These anchors for some of the rows.
    fn restricted_to(&self, rows: &[usize]) -> Result<Self> {
        let mut inner = self.clone();
        match &mut inner {
            Self::KMeans { settings, .. } => {
                *settings = settings.clone().with_groups(settings.groups().min(rows.len()));
            }
            Self::EqualWidth { bins, .. } | Self::EqualSize { bins, .. } => {
                *bins = (*bins).min(rows.len());
            }
            Self::Groups(partition) => *partition = Arc::new(partition.select(rows)?),
            Self::Matrix(matrix) => *matrix = Arc::new(matrix.select(rows)?),
        }
        Ok(inner)
    }
}

impl Column {
    fn values<'a>(&self, samples: &'a Samples<'_>) -> Result<ArrayView1<'a, f64>> {
        let (what, all, column) = match *self {
            Self::X(column) => ("x", samples.x_ref(), column),
            Self::Y(column) => ("y", samples.y_ref(), column),
        };
        if column >= all.ncols() {
            return Err(Error::NoSuchColumn { what, column, columns: all.ncols() });
        }
        Ok(all.column(column))
    }
}

fn check_rows(left: &'static str, left_rows: usize, samples: &Samples<'_>) -> Result<()> {
    if left_rows == samples.rows() {
        return Ok(());
    }
    Err(Error::RowMismatch { left, left_rows, right: "x", right_rows: samples.rows() })
}

/// The rows that k-means sees.
fn clustered_rows(samples: &Samples<'_>, on: On, scale: Scale) -> Array2<f64> {
    let mut rows = match on {
        On::X => samples.x().to_owned(),
        On::Y => samples.y().to_owned(),
        On::Xy => concatenate(Axis(1), &[samples.x(), samples.y()]).expect("the same rows"),
    };
    if scale == Scale::Standardised {
        let (means, deviations) = moments(rows.view(), samples.weights());
        for mut row in rows.rows_mut() {
            for ((value, mean), deviation) in row.iter_mut().zip(&means).zip(&deviations) {
                *value = if *deviation > 0.0 { (*value - mean) / deviation } else { 0.0 };
            }
        }
    }
    rows
}
