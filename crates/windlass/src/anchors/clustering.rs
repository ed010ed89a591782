//! k-means on features, targets or both, standardized or raw.
//!
//! The groups are found in a [`RowSample`]: all distinct rows while there are at most [`SAMPLE`] of them,
//! else those with the smallest hashes. So the order of the rows does not matter, and a table that is read
//! in blocks has the same groups as one in memory. Means and standard deviations are those of the sample.

use ndarray::{Array2, ArrayView2, Axis, concatenate};

use super::kmeans::nearest;
use super::{ClusterCount, KMeans, RowSample};
use crate::choice::choice;
use crate::data::check_finite_or_missing;
use crate::moments::moments;
use crate::simd::vectorized;
use crate::{Error, Result, Samples, Seed};

/// Maximum number of distinct rows for k-means.
pub const SAMPLE: usize = 1 << 15;

/// Maximum number of distinct rows for k-means within one of several levels: an equal fraction of [`SAMPLE`], but not
/// too few.
#[must_use]
pub fn sample_within(levels: usize) -> usize {
    (SAMPLE / levels.max(1)).max(256)
}

/// The columns for k-means.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClusterOn {
    /// The features.
    X,
    /// The targets.
    Y,
    /// Features and targets.
    #[default]
    Xy,
}

choice!(ClusterOn, "x" => ClusterOn::X, "y" => ClusterOn::Y, "xy" => ClusterOn::Xy);

/// Whether columns are standardized before k-means.
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClusterScaling {
    /// Each column has mean 0 and variance 1 (a constant column stays 0).
    #[default]
    #[cfg_attr(feature = "serde", serde(rename = "standardised"))]
    Standardized,
    /// Raw values, as in the published code: a target with large values dominates.
    Raw,
}

choice!(ClusterScaling, "standard" => ClusterScaling::Standardized, "raw" => ClusterScaling::Raw);

/// k-means groups of samples.
///
/// | Setting | Default | Meaning |
/// | :-- | :-- | :-- |
/// | `clusters` | [`ClusterCount::Auto`] | the number of groups |
/// | `on` | [`ClusterOn::Xy`] | the columns for k-means |
/// | `scale` | [`ClusterScaling::Standardized`] | whether columns are standardized |
///
/// ```
/// use ndarray::array;
/// use windlass::{Clustering, ClusterOn, Samples, Seed};
///
/// let (x, y) = (array![[1.0, 9.0], [2.0, 9.0], [50.0, 9.0]], array![0.1, 0.2, 0.3]);
/// let clustering = Clustering { clusters: 2.into(), on: ClusterOn::X, ..Clustering::default() };
/// let clusters = clustering.fit(&Samples::new(x.view(), y.view())?, Seed(0))?;
/// // New rows are scaled as the fitted ones were.
/// let (new_x, new_y) = (array![[45.0, 9.0]], array![0.0]);
/// let label = clusters.assign(&Samples::new(new_x.view(), new_y.view())?)?[0];
/// assert_eq!(label, clusters.assign(&Samples::new(x.view(), y.view())?)?[2]);
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[expect(missing_docs, reason = "the table explains each field")]
pub struct Clustering {
    pub clusters: ClusterCount,
    pub on: ClusterOn,
    pub scale: ClusterScaling,
}

impl Clustering {
    /// Returns an error for settings outside their range.
    pub(crate) fn check(&self) -> Result<()> {
        match self.clusters {
            ClusterCount::Count(0) => {
                Err(Error::OutOfRange { name: "clusters", range: "[1, inf)", got: 0.0 })
            }
            _ => Ok(()),
        }
    }

    /// Finds the groups, with row weights.
    pub fn fit(&self, samples: &Samples<'_>, seed: Seed) -> Result<FittedClusters> {
        let clusters = self.clusters.resolve(samples.rows() as u64);
        Self { clusters: clusters.into(), ..*self }.fit_most(samples, SAMPLE, seed)
    }

    /// [`fit`](Self::fit) on at most `most` distinct rows.
    pub(super) fn fit_most(
        &self,
        samples: &Samples<'_>,
        most: usize,
        seed: Seed,
    ) -> Result<FittedClusters> {
        let rows = self.on.rows(samples);
        let mut sample = RowSample::new(most, rows.ncols(), seed);
        sample.add(rows.view(), samples.weights())?;
        self.fit_sample(&sample, seed)
    }

    /// Finds the groups of a table of which only a sample is in memory; then
    /// [`assign_rows`](FittedClusters::assign_rows) groups the table itself, block by block. The sample holds
    /// the columns of [`ClusterOn`]: features, then targets. Missing values (NaN) are replaced by the mean of their
    /// column. [`ClusterCount::Auto`] depends on the rows of the sample.
    pub fn fit_sample(&self, sample: &RowSample, seed: Seed) -> Result<FittedClusters> {
        let (mut rows, weights) = sample.rows();
        let scaling = ColumnScaler::of(&rows, &weights, self.scale);
        scaling.apply(&mut rows);
        let clusters = self.clusters.resolve(rows.nrows() as u64);
        let found = KMeans::new(clusters).fit(rows.view(), Some(&weights), seed)?;
        let missing = found.missing_groups();
        Ok(FittedClusters { on: self.on, scaling, centers: found.into_centers(), missing })
    }
}

impl ClusterOn {
    /// The columns for k-means.
    fn rows(self, samples: &Samples<'_>) -> Array2<f64> {
        match self {
            ClusterOn::X => samples.x().to_owned(),
            ClusterOn::Y => samples.y().to_owned(),
            ClusterOn::Xy => {
                concatenate(Axis(1), &[samples.x(), samples.y()]).expect("the same rows")
            }
        }
    }
}

/// Preprocessing for k-means: mean imputation and, if requested, standardization.
#[derive(Debug, Clone, PartialEq)]
struct ColumnScaler {
    means: Vec<f64>,
    deviations: Option<Vec<f64>>,
}

impl ColumnScaler {
    fn of(rows: &Array2<f64>, weights: &[f64], scale: ClusterScaling) -> Self {
        let (means, deviations) = if rows.iter().any(|value| value.is_nan()) {
            rows.columns().into_iter().map(|column| present_moments(column, weights)).unzip()
        } else {
            moments(rows.view(), Some(weights))
        };
        Self { means, deviations: (scale == ClusterScaling::Standardized).then_some(deviations) }
    }

    /// Scales rows in standard layout.
    fn apply(&self, rows: &mut Array2<f64>) {
        let (width, all) = (rows.ncols().max(1), rows.as_slice_mut().expect("standard layout"));
        vectorized(
            all,
            #[inline(always)]
            |all| {
                for row in all.chunks_exact_mut(width) {
                    for (value, &mean) in row.iter_mut().zip(&self.means) {
                        *value = if value.is_nan() { mean } else { *value };
                    }
                    let Some(deviations) = &self.deviations else { continue };
                    for ((value, mean), &deviation) in
                        row.iter_mut().zip(&self.means).zip(deviations)
                    {
                        let scaled = (*value - mean) / deviation;
                        *value = if deviation > 0.0 { scaled } else { 0.0 };
                    }
                }
            },
        );
    }
}

/// Mean and standard deviation of the values that are not missing; 0 if all are missing.
fn present_moments(column: ndarray::ArrayView1<'_, f64>, weights: &[f64]) -> (f64, f64) {
    let present =
        column.iter().zip(weights).filter(|(value, weight)| !value.is_nan() && **weight > 0.0);
    let (values, weights): (Vec<f64>, Vec<f64>) = present.unzip();
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let column = ArrayView2::from_shape((values.len(), 1), &values).expect("one column");
    let (means, deviations) = moments(column, Some(&weights));
    (means[0], deviations[0])
}

/// Groups found by [`Clustering::fit`], with the scale they were found on.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(
    feature = "serde",
    serde(try_from = "kept::FittedClusters", into = "kept::FittedClusters")
)]
pub struct FittedClusters {
    on: ClusterOn,
    scaling: ColumnScaler,
    centers: Array2<f64>,
    missing: usize,
}

impl FittedClusters {
    /// The number of groups.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.centers.nrows()
    }

    /// Number of requested groups that are missing, mostly because there are too few distinct rows.
    #[must_use]
    pub fn missing_groups(&self) -> usize {
        self.missing
    }

    /// The group of each sample, fitted or new.
    pub fn assign(&self, samples: &Samples<'_>) -> Result<Vec<u32>> {
        self.assign_rows(self.on.rows(samples))
    }

    /// The group of each row of a block with the columns of [`ClusterOn`]; NaN is a missing value.
    pub fn assign_rows(&self, rows: Array2<f64>) -> Result<Vec<u32>> {
        let (expected, got) = (self.centers.ncols(), rows.ncols());
        if expected != got {
            return Err(Error::ColumnMismatch { what: "the clustered columns", expected, got });
        }
        let mut rows =
            if rows.is_standard_layout() { rows } else { rows.as_standard_layout().into_owned() };
        check_finite_or_missing("x", rows.view())?;
        self.scaling.apply(&mut rows);
        nearest(&self.centers, rows.view())
    }
}

/// The serialized form of [`FittedClusters`].
#[cfg(feature = "serde")]
mod kept {
    use ndarray::Array2;

    use super::{ClusterOn, ColumnScaler};

    #[derive(serde::Serialize, serde::Deserialize)]
    pub(super) struct FittedClusters {
        on: ClusterOn,
        /// Mean of each column, for missing values.
        means: Vec<f64>,
        /// Standard deviation of each column, if columns are standardized.
        deviations: Option<Vec<f64>>,
        #[serde(rename = "centres")]
        centers: Vec<Vec<f64>>,
        missing: usize,
    }

    impl From<super::FittedClusters> for FittedClusters {
        fn from(clusters: super::FittedClusters) -> Self {
            let super::FittedClusters {
                on,
                scaling: ColumnScaler { means, deviations },
                centers,
                missing,
            } = clusters;
            let centers = centers.outer_iter().map(|center| center.to_vec()).collect();
            Self { on, means, deviations, centers, missing }
        }
    }

    impl TryFrom<FittedClusters> for super::FittedClusters {
        type Error = &'static str;

        fn try_from(kept: FittedClusters) -> Result<Self, Self::Error> {
            let FittedClusters { on, means, deviations, centers, missing } = kept;
            let width = means.len();
            let lists = centers.iter().chain([&means]).chain(&deviations);
            if centers.is_empty() || lists.clone().any(|list| list.len() != width) {
                return Err("centers, means and standard deviations must have the same columns");
            }
            if lists.flatten().any(|value| !value.is_finite()) {
                return Err("centers, means and standard deviations must be finite");
            }
            let rows = centers.len();
            let centers = Array2::from_shape_vec((rows, width), centers.concat());
            let centers = centers.map_err(|_| "centers must have the same columns")?;
            Ok(Self { on, scaling: ColumnScaler { means, deviations }, centers, missing })
        }
    }
}
