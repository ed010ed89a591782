//! A sample of rows that depends on their values and not on their order.
//!
//! Every distinct row has a hash of its values; the sample keeps the distinct rows with the smallest
//! hashes, and counts how often each occurs. A row that is in the sample at the end was in it since its
//! first occurrence, so the counts are exact. Row order, blocks and partitions do not matter, and merged
//! samples equal the sample of everything. A table smaller than the capacity is kept whole.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use ndarray::{Array2, ArrayView2};
use xxhash_rust::xxh3::xxh3_128_with_seed;

use crate::data::{check_finite_or_missing, check_weights, flatten, row_slices};
use crate::{Error, Result, Seed, Stream};

/// A bounded, mergeable sample of the distinct rows of any number of blocks.
///
/// ```
/// use ndarray::array;
/// use windlass::{RowSample, Seed};
///
/// let mut sample = RowSample::new(100, 1, Seed(0));
/// sample.add(array![[1.0], [2.0], [1.0]].view(), None)?;
/// let (rows, counts) = sample.rows();
/// assert_eq!((rows.nrows(), counts.iter().sum::<f64>()), (2, 3.0));
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RowSample {
    capacity: usize,
    width: usize,
    seed: u64,
    kept: BTreeMap<u128, SampledRow>,
}

#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct SampledRow {
    row: Box<[f64]>,
    weight: f64,
    count: u64,
}

impl RowSample {
    /// An empty sample of at most `capacity` distinct rows of `width` columns.
    #[must_use]
    pub fn new(capacity: usize, width: usize, seed: Seed) -> Self {
        let seed = seed.shared(Stream::Sample, 0).bits();
        Self { capacity, width, seed, kept: BTreeMap::new() }
    }

    /// Adds a block of rows, each with an optional weight in `[0, 2⁵⁰]`. NaN is a missing value.
    pub fn add(&mut self, rows: ArrayView2<'_, f64>, weights: Option<&[f64]>) -> Result<()> {
        let rows = flatten(rows);
        if rows.ncols() != self.width {
            let (expected, got) = (self.width, rows.ncols());
            return Err(Error::ColumnMismatch { what: "the block", expected, got });
        }
        check_finite_or_missing("x", rows.view())?;
        if let Some(weights) = weights {
            check_weights(weights, rows.nrows())?;
        }
        let row = row_slices(rows.view());
        let mut bytes = vec![[0; 8]; self.width + 1];
        for i in 0..rows.nrows() {
            let weight = weights.map_or(1.0, |weights| weights[i]);
            for (&value, bytes) in row(i).iter().chain([&weight]).zip(&mut bytes) {
                // Equal rows have equal bytes: adding 0 turns −0 into 0, and there is one NaN.
                let value = if value.is_nan() { f64::NAN } else { value + 0.0 };
                *bytes = value.to_le_bytes();
            }
            let hash = xxh3_128_with_seed(bytes.as_flattened(), self.seed);
            self.keep(hash, 1, || SampledRow { row: row(i).into(), weight, count: 0 });
        }
        Ok(())
    }

    /// Adds the sample of other blocks, made with the same capacity, width and seed.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        let made = |sample: &Self| (sample.capacity, sample.width, sample.seed);
        if made(self) != made(other) {
            return Err(Error::OtherSample);
        }
        for (&hash, kept) in &other.kept {
            self.keep(hash, kept.count, || SampledRow { count: 0, ..kept.clone() });
        }
        Ok(())
    }

    fn keep(&mut self, hash: u128, count: u64, make: impl FnOnce() -> SampledRow) {
        let full = self.kept.len() >= self.capacity;
        if full && self.kept.last_key_value().is_none_or(|(&last, _)| hash > last) {
            return;
        }
        match self.kept.entry(hash) {
            Entry::Occupied(mut entry) => entry.get_mut().count += count,
            Entry::Vacant(entry) => {
                entry.insert(SampledRow { count, ..make() });
                if full {
                    self.kept.pop_last();
                }
            }
        }
    }

    /// The distinct rows of the sample in the order of their hashes, and the total weight of each: its weight times
    /// the
    /// number of its occurrences.
    #[must_use]
    pub fn rows(&self) -> (Array2<f64>, Vec<f64>) {
        let values = self.kept.values().flat_map(|kept| kept.row.iter().copied()).collect();
        let rows = Array2::from_shape_vec((self.kept.len(), self.width), values)
            .expect("every kept row has the sample's width");
        (rows, self.kept.values().map(|kept| kept.weight * kept.count as f64).collect())
    }
}
