//! k-means clustering.
//!
//! ```text
//! argmin_{c, a} Σᵢ wᵢ‖xᵢ − c_{a(i)}‖²
//! ```
//!
//! Several greedy k-means++ starts, the best followed by Lloyd's algorithm with Hamerly's bounds: exactly
//! the steps of the plain algorithm, without most of its distances. Cluster sums are exact, so rows that
//! change their group are moved from one sum to another without drift, and the result has the same bits
//! for any number of threads.
//!
//! * Arthur, Vassilvitskii, *k-means++: the advantages of careful seeding*, SODA 2007; the greedy
//!   variant tries `2 + ⌊ln k⌋` candidates for every center, as scikit-learn does, and exchanges some
//!   centers afterwards, which scikit-learn does not.
//! * Hamerly, *Making k-means even faster*, SDM 2010,
//!   [doi:10.1137/1.9781611972801.12](https://doi.org/10.1137/1.9781611972801.12).

mod centers;
mod lloyd;
mod sample;
mod start;

use crate::simd::vectorized;
use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;

pub use sample::RowSample;

use crate::anchors::partition::to_label;
use crate::data::{check_below, check_some_weight, check_weights, flatten, row_slices};
use crate::moments::moments;
use crate::{Error, Partition, Result, Seed};
use centers::Centers;
use lloyd::{Lloyd, Stop};

/// Settings of k-means.
///
/// | Setting | Default | Range | Meaning |
/// | :-- | :-- | :-- | :-- |
/// | `groups` | `8` | `1, …` | requested number of groups |
/// | `starts` | `10` | `1, …` | independent starts; the best is kept |
/// | `max_iterations` | `300` | `1, …` | steps of one start over all rows |
/// | `tolerance` | `1e-4` | `[0, ∞)` | stop when the squared shift of all centers is at most this times the mean variance of a column; 0 runs until no row changes its group |
///
/// ```
/// use ndarray::array;
/// use windlass::{KMeans, Seed};
///
/// let x = array![[0.0], [0.1], [5.0], [5.1], [9.0]];
/// let fit = KMeans::new(3).fit(x.view(), None, Seed(0))?;
/// assert!((fit.inertia() - 0.01).abs() < 1e-12);
/// assert_eq!(fit.assign(array![[5.05]].view())?[0], fit.partition().labels()[2]);
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the table explains each field")]
pub struct KMeans {
    pub groups: usize,
    pub starts: usize,
    pub max_iterations: usize,
    pub tolerance: f64,
}

impl Default for KMeans {
    fn default() -> Self {
        Self { groups: 8, starts: 10, max_iterations: 300, tolerance: 1e-4 }
    }
}

impl KMeans {
    /// k-means with this many groups.
    #[must_use]
    pub fn new(groups: usize) -> Self {
        Self { groups, ..Self::default() }
    }

    /// Returns an error for settings outside their range.
    pub fn check(&self) -> Result<()> {
        for (name, value) in [
            ("groups", self.groups),
            ("starts", self.starts),
            ("max_iterations", self.max_iterations),
        ] {
            if value == 0 {
                return Err(Error::OutOfRange { name, range: "[1, inf)", got: 0.0 });
            }
        }
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            let got = self.tolerance;
            return Err(Error::OutOfRange { name: "tolerance", range: "[0, inf)", got });
        }
        Ok(())
    }

    /// Groups the rows of `x`, all below 10¹⁵⁰ in magnitude, with weights in `[0, 2⁵⁰]`.
    ///
    /// If there are fewer distinct rows than groups, each becomes one group, and [`KMeansFit::missing_groups`] is the
    /// number of the others.
    pub fn fit(
        &self,
        x: ArrayView2<'_, f64>,
        weights: Option<&[f64]>,
        seed: Seed,
    ) -> Result<KMeansFit> {
        self.check()?;
        let x = flatten(x);
        let (n, d) = x.dim();
        for (missing, count) in [("rows", n), ("columns", d)] {
            if count == 0 {
                return Err(Error::Empty { what: "x", missing });
            }
        }
        // Distances are squared, and squares summed.
        check_below("x", x.view(), 1e150)?;
        if let Some(weights) = weights {
            check_weights(weights, n)?;
            check_some_weight(weights)?;
        }
        let points = Points::new(x.view(), weights);
        let shift = self.tolerance * points.mean_variance();
        let stop = Stop { iterations: self.max_iterations, shift };
        let starts: Vec<Centers> = (0..self.starts as u64)
            .into_par_iter()
            .map(|number| {
                let which = (number, self.starts);
                start::centers(&points, self.groups.min(n), stop, seed, which)
            })
            .collect();
        let starts = start::finalists(&points, starts);
        let fits: Vec<Lloyd> =
            starts.into_par_iter().map(|centers| Lloyd::run(&points, centers, stop)).collect();
        let best = fits
            .into_iter()
            .reduce(|best, next| if next.inertia < best.inertia { next } else { best })
            .expect("at least one start");
        let best = if self.starts > 1 { start::refined(&points, best, stop, seed) } else { best };
        KMeansFit::new(best, self.groups)
    }
}

/// Groups found by [`KMeans::fit`].
#[derive(Debug, Clone, PartialEq)]
pub struct KMeansFit {
    centers: Array2<f64>,
    partition: Partition,
    inertia: f64,
    iterations: usize,
    requested: usize,
}

impl KMeansFit {
    fn new(best: Lloyd, requested: usize) -> Result<Self> {
        let centers = best.centers.into_rows();
        // A group may have lost its last row in the last step.
        let found = Partition::new(best.labels, centers.nrows())?;
        let partition = Partition::new(vec![0; found.rows()], 1)?.within(|_| Ok(found.clone()))?;
        let kept: Vec<usize> = (0..found.groups()).filter(|&g| found.sizes()[g] > 0).collect();
        Ok(Self {
            partition,
            centers: centers.select(Axis(0), &kept),
            inertia: best.inertia,
            iterations: best.iterations,
            requested,
        })
    }

    /// The centers, groups × columns.
    #[must_use]
    pub fn centers(&self) -> ArrayView2<'_, f64> {
        self.centers.view()
    }

    /// The group of every fitted row.
    #[must_use]
    pub fn partition(&self) -> &Partition {
        &self.partition
    }

    /// The weighted sum of squared distances of the rows to their centers.
    #[must_use]
    pub fn inertia(&self) -> f64 {
        self.inertia
    }

    /// Number of steps of the best start and of its refinement.
    #[must_use]
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// Number of requested groups that are missing, mostly because there are too few distinct rows.
    #[must_use]
    pub fn missing_groups(&self) -> usize {
        self.requested - self.centers.nrows()
    }

    /// The group of the nearest center, for fitted or new rows.
    pub fn assign(&self, x: ArrayView2<'_, f64>) -> Result<Vec<u32>> {
        nearest(&self.centers, x)
    }

    pub(super) fn into_centers(self) -> Array2<f64> {
        self.centers
    }
}

/// The nearest center of each row.
pub(super) fn nearest(centers: &Array2<f64>, x: ArrayView2<'_, f64>) -> Result<Vec<u32>> {
    let x = flatten(x);
    let d = centers.ncols();
    if x.ncols() != d {
        return Err(Error::ColumnMismatch { what: "x", expected: d, got: x.ncols() });
    }
    check_below("x", x.view(), 1e150)?;
    let centers = Centers::new(centers.clone());
    let mut labels = vec![0; x.nrows()];
    let row = row_slices(x.view());
    labels.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, labels)| {
        let mut distances = centers.scratch();
        vectorized(
            labels,
            #[inline(always)]
            |labels| {
                for (i, label) in (chunk * CHUNK..).zip(labels) {
                    *label = to_label(centers.nearest(row(i), &mut distances).first);
                }
            },
        );
    });
    Ok(labels)
}

/// Rows per parallel task.
const CHUNK: usize = 4096;

/// The rows to group, with their weights.
struct Points<'a> {
    rows: ArrayView2<'a, f64>,
    weights: Option<&'a [f64]>,
}

impl<'a> Points<'a> {
    fn new(rows: ArrayView2<'a, f64>, weights: Option<&'a [f64]>) -> Self {
        Self { rows, weights }
    }

    fn len(&self) -> usize {
        self.rows.nrows()
    }

    fn width(&self) -> usize {
        self.rows.ncols()
    }

    #[inline(always)]
    fn row(&self, i: usize) -> &[f64] {
        let d = self.width();
        &self.rows.to_slice().expect("standard layout")[i * d..(i + 1) * d]
    }

    #[inline(always)]
    fn weight(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[i])
    }

    /// The weighted variance of a column, averaged over columns.
    fn mean_variance(&self) -> f64 {
        let (_, deviations) = moments(self.rows, self.weights);
        deviations.iter().map(|deviation| deviation * deviation).sum::<f64>() / self.width() as f64
    }
}
