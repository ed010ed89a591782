//! Bins of one variable: equal width or equal size.
//!
//! ```text
//! equal width   edges  lo + i·(hi − lo)/q                       i = 1, …, q − 1
//! equal size    edges  the value at rank ⌈i·n/q⌉ of the sorted values
//! ```
//!
//! A value on an edge belongs to the bin above it. Edges that coincide are merged, so a variable with
//! few distinct values gives fewer bins and never an empty one between two equal edges.

use crate::anchors::partition::to_label;
use crate::data::check_finite_values;
use crate::{Error, Result};

/// The edges between neighboring bins of one variable.
///
/// | Setting | Range | Meaning |
/// | :-- | :-- | :-- |
/// | `bins` | `1, …` | requested number of bins |
///
/// ```
/// use windlass::Bins;
///
/// let age = [1.0, 2.0, 3.0, 40.0];
/// assert_eq!(Bins::equal_width(&age, 2)?.assign(&age)?, [0, 0, 0, 1]);
/// assert_eq!(Bins::equal_size(&age, 2)?.assign(&age)?, [0, 0, 1, 1]);
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Vec<f64>", into = "Vec<f64>"))]
pub struct Bins {
    edges: Vec<f64>,
}

impl Bins {
    /// Bins that are equally wide between the smallest and the largest value.
    pub fn equal_width(values: &[f64], bins: usize) -> Result<Self> {
        check_bins(values, bins)?;
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // Scaled separately: `high - low` may overflow.
        let edge = |i: usize| {
            let share = i as f64 / bins as f64;
            low * (1.0 - share) + high * share
        };
        Ok(Self::from_sorted((1..bins).map(edge).collect(), low))
    }

    /// Bins with equal numbers of values, except for ties.
    pub fn equal_size(values: &[f64], bins: usize) -> Result<Self> {
        check_bins(values, bins)?;
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        // With more bins than values some have none, and no edge above them.
        let edge = |i: usize| sorted.get((i * sorted.len()).div_ceil(bins)).copied();
        Ok(Self::from_sorted((1..bins).filter_map(edge).collect(), sorted[0]))
    }

    fn from_sorted(mut edges: Vec<f64>, lowest: f64) -> Self {
        edges.dedup();
        // An edge at the lowest value would leave the first bin empty.
        edges.retain(|&edge| edge > lowest);
        Self { edges }
    }

    /// The number of bins, at most the requested number.
    #[must_use]
    pub fn bins(&self) -> usize {
        self.edges.len() + 1
    }

    /// The edges between neighboring bins, ascending.
    #[must_use]
    pub fn edges(&self) -> &[f64] {
        &self.edges
    }

    /// The bin of each value; values outside the fitted range belong to the outer bins.
    pub fn assign(&self, values: &[f64]) -> Result<Vec<u32>> {
        check_finite_values("the values to bin", values)?;
        let bin = |&value: &f64| to_label(self.edges.partition_point(|&edge| edge <= value));
        Ok(values.iter().map(bin).collect())
    }
}

#[cfg(feature = "serde")]
impl From<Bins> for Vec<f64> {
    fn from(bins: Bins) -> Self {
        bins.edges
    }
}

#[cfg(feature = "serde")]
impl TryFrom<Vec<f64>> for Bins {
    type Error = &'static str;

    fn try_from(edges: Vec<f64>) -> Result<Self, Self::Error> {
        let grow = edges.is_sorted_by(|a, b| a < b) && edges.iter().all(|edge| edge.is_finite());
        if grow { Ok(Self { edges }) } else { Err("bin edges must be finite and increasing") }
    }
}

fn check_bins(values: &[f64], bins: usize) -> Result<()> {
    if values.is_empty() {
        return Err(Error::Empty { what: "the values to bin", missing: "rows" });
    }
    if bins == 0 {
        return Err(Error::OutOfRange { name: "bins", range: "[1, inf)", got: 0.0 });
    }
    check_finite_values("the values to bin", values)
}

#[cfg(test)]
mod tests {
    use super::Bins;
    use crate::{Partition, Real};

    #[test]
    fn a_constant_gives_one_bin() {
        for bins in
            [Bins::equal_width(&[3.0; 9], 4).unwrap(), Bins::equal_size(&[3.0; 9], 4).unwrap()]
        {
            assert_eq!(bins.bins(), 1);
        }
    }

    #[test]
    fn equal_size_bins_differ_by_at_most_one_row() {
        let values: Vec<f64> = (0..97).map(|i| f64::from(i * 37 % 97)).collect();
        for bins in 1..=97 {
            let found = Bins::equal_size(&values, bins).unwrap();
            let groups = Partition::new(found.assign(&values).unwrap(), found.bins()).unwrap();
            let sizes = groups.sizes();
            assert_eq!(sizes.len(), bins);
            let (low, high) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
            assert!(high - low <= 1, "{bins} bins: {sizes:?}");
        }
    }

    #[test]
    fn there_may_be_more_bins_than_values() {
        for values in [&[1.0][..], &[2.0, 1.0], &[1.0, 1.0, 3.0]] {
            for bins in 1..9 {
                let found = Bins::equal_size(values, bins).unwrap();
                assert!(found.bins() <= values.len());
                assert!(found.assign(values).unwrap().iter().all(|&bin| bin < 3));
            }
        }
    }

    #[test]
    fn the_largest_values_can_be_binned() {
        let largest = f64::LIMIT * 0.99;
        let values = [-largest, 0.0, largest];
        assert_eq!(Bins::equal_width(&values, 3).unwrap().assign(&values).unwrap(), [0, 1, 2]);
    }
}
