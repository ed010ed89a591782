//! k-means on features, targets or both, on one scale or as they are.

use ndarray::{Array2, Axis, concatenate};

use super::{KMeans, KMeansFit};
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

/// k-means groups of samples.
///
/// | Setting | Default | Meaning |
/// | :-- | :-- | :-- |
/// | `kmeans` | 8 groups, 10 starts | how many groups, and how hard to look for them |
/// | `on` | [`On::Xy`] | what they are found in |
/// | `scale` | [`Scale::Standardised`] | whether columns are brought to the same scale |
///
/// ```
/// use ndarray::array;
/// use windlass::{Clustering, KMeans, On, Samples, Seed};
///
/// let (x, y) = (array![[1.0, 9.0], [2.0, 9.0], [50.0, 9.0]], array![0.1, 0.2, 0.3]);
/// let clustering = Clustering { kmeans: KMeans::new(2), on: On::X, ..Clustering::default() };
/// let clusters = clustering.fit(&Samples::new(x.view(), y.view())?, Seed(0))?;
/// // New rows are scaled as the fitted ones were.
/// let (new_x, new_y) = (array![[45.0, 9.0]], array![0.0]);
/// let label = clusters.assign(&Samples::new(new_x.view(), new_y.view())?)?[0];
/// assert_eq!(label, clusters.kmeans().partition().labels()[2]);
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the table explains each field")]
pub struct Clustering {
    pub kmeans: KMeans,
    pub on: On,
    pub scale: Scale,
}

impl Clustering {
    /// Finds the groups; row weights count.
    pub fn fit(&self, samples: &Samples<'_>, seed: Seed) -> Result<Clusters> {
        self.kmeans.check()?;
        let mut rows = self.rows(samples);
        let scaling = match self.scale {
            Scale::Raw => None,
            Scale::Standardised => Some(moments(rows.view(), samples.weights())),
        };
        standardise(&mut rows, scaling.as_ref());
        let kmeans = self.kmeans.fit(rows.view(), samples.weights(), seed)?;
        Ok(Clusters { settings: self.clone(), scaling, kmeans })
    }

    /// The columns that distances are taken in.
    fn rows(&self, samples: &Samples<'_>) -> Array2<f64> {
        match self.on {
            On::X => samples.x().to_owned(),
            On::Y => samples.y().to_owned(),
            On::Xy => concatenate(Axis(1), &[samples.x(), samples.y()]).expect("the same rows"),
        }
    }
}

/// The mean and the deviation of every column.
type Scaling = (Vec<f64>, Vec<f64>);

fn standardise(rows: &mut Array2<f64>, scaling: Option<&Scaling>) {
    let Some((means, deviations)) = scaling else { return };
    for mut row in rows.rows_mut() {
        for ((value, mean), deviation) in row.iter_mut().zip(means).zip(deviations) {
            *value = if *deviation > 0.0 { (*value - mean) / deviation } else { 0.0 };
        }
    }
}

/// Groups found by [`Clustering::fit`], with the scale they were found on.
#[derive(Debug, Clone, PartialEq)]
pub struct Clusters {
    settings: Clustering,
    scaling: Option<Scaling>,
    kmeans: KMeansFit,
}

impl Clusters {
    /// The groups and their centres, on the scale they were found on.
    #[must_use]
    pub fn kmeans(&self) -> &KMeansFit {
        &self.kmeans
    }

    /// The group of every one of some other samples.
    pub fn assign(&self, samples: &Samples<'_>) -> Result<Vec<u32>> {
        let mut rows = self.settings.rows(samples);
        let expected = self.kmeans.centres().ncols();
        if rows.ncols() != expected {
            let got = rows.ncols();
            return Err(Error::ColumnMismatch { what: "the clustered columns", expected, got });
        }
        standardise(&mut rows, self.scaling.as_ref());
        self.kmeans.assign(rows.view())
    }
}
