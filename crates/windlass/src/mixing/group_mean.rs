//! The anchor transform on groups: each row moves along the line through its group's mean.
//!
//! With one-hot anchors `Π` is "mean of my group" and the normalizer of ADA's equation is `√γ`, so
//!
//! ```text
//! x̃ᵢ = m + (xᵢ − m)/√γ,    m = Σ_{j ∈ group of i} wⱼxⱼ / Σ wⱼ
//! ```
//!
//! O(nd) time and O(qd) memory: neither `A` nor `Π` is formed. `γ = 1` returns the rows bit by bit. At the ends of
//! its range, `[10⁻¹⁶, 10¹⁶]`, γ moves a row by a factor of 10⁸.
//!
//! # Blocks of rows
//!
//! For tables that do not fit in memory, or in one machine, the same transform comes in four steps,
//! and any split of the rows, merged in any order, gives the same bits:
//!
//! ```
//! use ndarray::array;
//! use windlass::{GroupSums, Strength};
//!
//! let blocks = [array![[1.0], [3.0]], array![[10.0], [5.0]]];
//! let labels = [vec![0, 0], vec![1, 0]];
//! let mut sums = GroupSums::new(2, 1);
//! for (block, labels) in blocks.iter().zip(&labels) {
//!     let mut partial = GroupSums::new(2, 1);
//!     partial.add(block.view(), labels, None)?;
//!     sums.merge(&partial)?;
//! }
//! let means = sums.finish()?;
//! assert_eq!(means.means(), array![[3.0], [10.0]]);
//! let moved = means.apply(blocks[1].view(), &labels[1], &Strength::Shared(4.0))?;
//! assert_eq!(moved, array![[10.0], [4.0]]);
//! # Ok::<(), windlass::Error>(())
//! ```

use std::ops::Range;
use std::sync::Arc;

use crate::simd::vectorized;
use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use super::{Form, Gather, Strength, write_rows};
use crate::data::{check_finite, check_finite_values, check_weights, flatten, row_slices};
use crate::error::same_rows;
use crate::sums::ExactSums;
use crate::{Error, Partition, Real, Result};

/// Exact sums of the rows of every group.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GroupSums {
    width: usize,
    /// Numbers of rows of the groups, as floats for divisions.
    counts: Vec<f64>,
    sums: ExactSums,
    /// Sums of the row weights; `None` while every row weighs 1.
    weights: Option<ExactSums>,
    /// The error of an invalid block, after which the sums are invalid.
    #[cfg_attr(feature = "serde", serde(skip))]
    refusal: Option<Error>,
}

impl GroupSums {
    /// Empty sums of `groups` groups over `width` columns.
    #[must_use]
    pub fn new(groups: usize, width: usize) -> Self {
        Self::with_counts(vec![0.0; groups], width)
    }

    fn with_counts(counts: Vec<f64>, width: usize) -> Self {
        let sums = ExactSums::new(counts.len(), width);
        Self { width, counts, sums, weights: None, refusal: None }
    }

    /// Adds a block of rows, with the group of each and, optionally, its weight in `[0, 2⁵⁰]`.
    ///
    /// After an error the sums are invalid, and [`finish`](Self::finish) returns the error again.
    pub fn add<T: Real>(
        &mut self,
        rows: ArrayView2<'_, T>,
        labels: &[u32],
        weights: Option<&[f64]>,
    ) -> Result<()> {
        let rows = flatten(rows);
        check_block(rows.view(), labels, self.width, self.counts.len())?;
        if let Some(weights) = weights {
            check_weights(weights, labels.len())?;
            self.weigh();
        }
        for &label in labels {
            self.counts[label as usize] += 1.0;
        }
        let all = rows.as_slice().expect("standard layout");
        let values = Rows { values: all, width: self.width, sources: None };
        self.add_values(values, labels, weights);
        let checked = self.check_sums("x", rows.view());
        self.refusal = self.refusal.take().or(checked.clone().err());
        checked
    }

    /// Starts to track weights; the rows so far have weight 1.
    fn weigh(&mut self) -> &mut ExactSums {
        let counts = &self.counts;
        self.weights.get_or_insert_with(|| {
            let mut sums = ExactSums::new(counts.len(), 1);
            sums.add_rows(counts.chunks_exact(1).enumerate().map(|(slot, row)| (slot, 1.0, row)));
            sums
        })
    }

    /// Adds rows with their labels and weights, but does not count them.
    fn add_values<T: Real>(&mut self, rows: Rows<'_, T>, labels: &[u32], weights: Option<&[f64]>) {
        const ONE: &[f64] = &[1.0];
        let slots = labels.iter().map(|&label| label as usize);
        match (weights, &mut self.weights) {
            (None, None) => {}
            (None, Some(sums)) => sums.add_rows(slots.clone().map(|slot| (slot, 1.0, ONE))),
            (Some(weights), _) => {
                let each = slots.clone().zip(weights.chunks_exact(1));
                self.weigh().add_rows(each.map(|(slot, weight)| (slot, 1.0, weight)));
            }
        }
        if rows.sources.is_none() && weights.is_none() {
            T::add_labeled(&mut self.sums, labels, rows.values);
            return;
        }
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        self.sums.add_rows(slots.enumerate().map(|(i, slot)| (slot, weight(i), rows.row(i))));
    }

    /// Returns an error if a value of the rows just added cannot be summed.
    fn check_sums<T: Real>(&self, what: &'static str, rows: ArrayView2<'_, T>) -> Result<()> {
        if self.sums.refused() { check_finite(what, rows) } else { Ok(()) }
    }

    /// Adds empty groups.
    pub fn grow(&mut self, groups: usize) {
        let groups = groups.max(self.counts.len());
        self.counts.resize(groups, 0.0);
        self.sums.grow(groups);
        if let Some(weights) = &mut self.weights {
            weights.grow(groups);
        }
    }

    /// Adds the sums of other blocks.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        same_rows(("the sums", self.counts.len()), ("the merged sums", other.counts.len()))?;
        self.merge_places(other, 0..self.counts.len())
    }

    /// Adds the sums of other blocks with different group numbers: `places[g]` is the group here of group `g` there.
    pub fn merge_at(&mut self, other: &Self, places: &[u32]) -> Result<()> {
        same_rows(("the places", places.len()), ("the merged sums", other.counts.len()))?;
        let groups = self.counts.len();
        if let Some(row) = places.iter().position(|&place| place as usize >= groups) {
            return Err(Error::NoSuchGroup { row, label: places[row], groups });
        }
        self.merge_places(other, places.iter().map(|&place| place as usize))
    }

    fn merge_places(
        &mut self,
        other: &Self,
        places: impl Iterator<Item = usize> + Clone,
    ) -> Result<()> {
        if self.width != other.width {
            return Err(Error::ColumnMismatch {
                what: "merged sums",
                expected: self.width,
                got: other.width,
            });
        }
        self.refusal = self.refusal.take().or_else(|| other.refusal.clone());
        self.sums.merge_at(&other.sums, places.clone());
        match &other.weights {
            Some(weights) => self.weigh().merge_at(weights, places.clone()),
            None if self.weights.is_some() => {
                let counts = places.clone().zip(other.counts.chunks_exact(1));
                self.weigh().add_rows(counts.map(|(slot, row)| (slot, 1.0, row)));
            }
            None => {}
        }
        for (place, more) in places.zip(&other.counts) {
            self.counts[place] += more;
        }
        Ok(())
    }

    /// The group means. An empty group has mean 0; a group whose weights sum to 0 is an error.
    pub fn finish(self) -> Result<GroupMeans> {
        if let Some(refusal) = self.refusal {
            return Err(refusal);
        }
        let divisors = match self.weights {
            None => self.counts,
            Some(weights) => {
                let totals = weights.totals();
                let weightless = |group: &usize| self.counts[*group] > 0.0 && totals[*group] == 0.0;
                if let Some(group) = (0..totals.len()).find(weightless) {
                    return Err(Error::Weightless { group });
                }
                totals
            }
        };
        let mut values = self.sums.into_totals();
        for (mean, &divisor) in values.chunks_exact_mut(self.width.max(1)).zip(&divisors) {
            if divisor > 0.0 {
                for total in mean {
                    *total /= divisor;
                }
            }
        }
        Ok(GroupMeans { width: self.width, values, divisors })
    }
}

/// The mean of each group, from [`GroupSums::finish`].
#[derive(Debug, Clone, PartialEq)]
pub struct GroupMeans {
    width: usize,
    /// Groups × width.
    values: Vec<f64>,
    divisors: Vec<f64>,
}

impl GroupMeans {
    /// Means that were computed before, groups × width, and the divisor of each group.
    pub fn new(means: ArrayView2<'_, f64>, divisors: Vec<f64>) -> Result<Self> {
        same_rows(("the means", means.nrows()), ("their divisors", divisors.len()))?;
        check_finite("the means", means)?;
        check_finite_values("the divisors", &divisors)?;
        Ok(Self { width: means.ncols(), values: means.iter().copied().collect(), divisors })
    }

    /// The means, groups × width.
    #[must_use]
    pub fn means(&self) -> ArrayView2<'_, f64> {
        let shape = (self.divisors.len(), self.width);
        ArrayView2::from_shape(shape, &self.values).expect("a value for every group and column")
    }

    pub(crate) fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// The divisor of each group: its size, or the sum of its weights.
    #[must_use]
    pub fn divisors(&self) -> &[f64] {
        &self.divisors
    }

    /// Moves a block of rows toward (γ > 1) or away from (γ < 1) these means.
    pub fn apply<T: Real>(
        &self,
        rows: ArrayView2<'_, T>,
        labels: &[u32],
        gamma: &Strength,
    ) -> Result<Array2<T>> {
        let rows = flatten(rows);
        check_block(rows.view(), labels, self.width, self.divisors.len())?;
        if self.divisors.contains(&0.0) {
            let empty = |&label: &u32| self.divisors[label as usize] == 0.0;
            if let Some(row) = labels.iter().position(empty) {
                return Err(Error::EmptyGroup { row, group: labels[row] as usize });
            }
        }
        gamma.check_gamma(labels.len())?;
        check_finite("x", rows.view())?;
        let means = T::narrow_all(self.clone().into_values());
        let mut out = Array2::zeros(rows.raw_dim());
        let all = out.as_slice_mut().expect("a fresh array is in standard layout");
        write_rows(all, rows.ncols(), |range, out| {
            move_rows(&means, labels, gamma, rows.view(), Gather::default(), range, out);
        });
        Ok(out)
    }
}

/// Some rows of a row-major matrix: the first ones, or those that `sources` names.
#[derive(Clone, Copy)]
struct Rows<'a, T> {
    values: &'a [T],
    width: usize,
    sources: Option<&'a [usize]>,
}

impl<'a, T> Rows<'a, T> {
    fn row(&self, i: usize) -> &'a [T] {
        let source = self.sources.map_or(i, |sources| sources[i]);
        &self.values[source * self.width..][..self.width]
    }
}

fn check_block<T: Real>(
    rows: ArrayView2<'_, T>,
    labels: &[u32],
    width: usize,
    groups: usize,
) -> Result<()> {
    if rows.ncols() != width {
        return Err(Error::ColumnMismatch {
            what: "the block",
            expected: width,
            got: rows.ncols(),
        });
    }
    same_rows(("the block", rows.nrows()), ("the labels", labels.len()))?;
    // The maximum is found faster than the first that is out of bounds.
    if labels.iter().max().is_none_or(|&most| (most as usize) < groups) {
        return Ok(());
    }
    let too_large = labels.iter().position(|&label| label as usize >= groups);
    let row = too_large.expect("the largest is too large");
    Err(Error::NoSuchGroup { row, label: labels[row], groups })
}

/// Writes rows `range`, each moved along the line through its group's mean.
fn move_rows<T: Real>(
    means: &[T],
    labels: &[u32],
    gamma: &Strength,
    rows: ArrayView2<'_, T>,
    gather: Gather<'_>,
    range: Range<usize>,
    out: &mut [T],
) {
    let d = rows.ncols();
    let labels = &labels[range.clone()];
    vectorized(
        out,
        #[inline(always)]
        |out| {
            let (Strength::Shared(gamma), None) = (gamma, gather.sources) else {
                let source = row_slices(rows);
                let out = out.chunks_exact_mut(d).zip(labels);
                for (row, (out, &label)) in range.clone().zip(out) {
                    let mean = &means[label as usize * d..][..d];
                    move_row(source(gather.source(row)), mean, shrink(gamma.at(row)), out);
                }
                return;
            };
            let shrink = shrink(*gamma);
            let rows = &rows.to_slice().expect("standard layout")[range.start * d..];
            match d {
                // Loops of a constant length are worth twice the speed for narrow rows.
                1 => move_narrow::<1, T>(means, labels, shrink, rows, out),
                2 => move_narrow::<2, T>(means, labels, shrink, rows, out),
                4 => move_narrow::<4, T>(means, labels, shrink, rows, out),
                8 => move_narrow::<8, T>(means, labels, shrink, rows, out),
                _ => {
                    let out = out.chunks_exact_mut(d).zip(labels);
                    for (x, (out, &label)) in rows.chunks_exact(d).zip(out) {
                        move_row(x, &means[label as usize * d..][..d], shrink, out);
                    }
                }
            }
        },
    );
}

#[inline(always)]
fn move_narrow<const N: usize, T: Real>(
    means: &[T],
    labels: &[u32],
    shrink: T,
    rows: &[T],
    out: &mut [T],
) {
    let means = means.as_chunks::<N>().0;
    let out = out.as_chunks_mut::<N>().0.iter_mut();
    for ((x, out), &label) in rows.as_chunks::<N>().0.iter().zip(out).zip(labels) {
        // A local array, since the compiler does not know that `out` does not alias.
        let mut moved = *x;
        move_row(x, &means[label as usize], shrink, &mut moved);
        *out = moved;
    }
}

#[inline(always)]
fn move_row<T: Real>(x: &[T], mean: &[T], shrink: T, out: &mut [T]) {
    for ((out, &x), &mean) in out.iter_mut().zip(x).zip(mean) {
        // A strength of 1 returns the row unchanged.
        *out = if shrink == T::one() { x } else { mean + (x - mean) * shrink };
    }
}

/// The factor of distances to the mean: `1/√γ`.
#[inline(always)]
fn shrink<T: Real>(gamma: f64) -> T {
    T::narrow(1.0 / gamma.sqrt())
}

/// The map itself: groups, weights and strength.
#[derive(Debug, Clone)]
pub(crate) struct GroupMean {
    partition: Arc<Partition>,
    weights: Option<Arc<[f64]>>,
    gamma: Strength,
}

impl GroupMean {
    pub(crate) fn new(
        partition: Arc<Partition>,
        weights: Option<Arc<[f64]>>,
        gamma: Strength,
    ) -> Result<Self> {
        gamma.check_gamma(partition.rows())?;
        if let Some(weights) = &weights {
            check_weights(weights, partition.rows())?;
        }
        Ok(Self { partition, weights, gamma })
    }

    pub(crate) fn form(&self) -> Form<'_> {
        let Self { partition, weights, gamma } = self;
        Form::GroupMean { partition, weights: weights.as_deref(), gamma }
    }

    pub(crate) fn rows(&self) -> usize {
        self.partition.rows()
    }

    pub(crate) fn group(&self, row: usize) -> u32 {
        self.partition.labels()[row]
    }

    pub(crate) fn gamma(&self, row: usize) -> f64 {
        self.gamma.at(row)
    }

    pub(crate) fn shares_means(&self, other: &Self) -> bool {
        let same_weights = match (&self.weights, &other.weights) {
            (None, None) => true,
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        same_weights && Arc::ptr_eq(&self.partition, &other.partition)
    }

    pub(crate) fn means_of<T: Real>(
        &self,
        what: &'static str,
        rows: ArrayView2<'_, T>,
        gather: Gather<'_>,
    ) -> Result<GroupMeans> {
        let (labels, weights) = (self.partition.labels(), self.weights.as_deref());
        let sum = |range: Range<usize>| {
            let width = rows.ncols();
            // The first partial sum has the counts of all.
            let sizes = self.partition.sizes().iter();
            let counts = sizes.map(|&size| if range.start == 0 { size as f64 } else { 0.0 });
            let mut sums = GroupSums::with_counts(counts.collect(), width);
            if weights.is_some() {
                sums.weights = Some(ExactSums::new(self.partition.groups(), 1));
            }
            let labels = &labels[range.clone()];
            let weights = weights.map(|weights| &weights[range.clone()]);
            let all = rows.to_slice().expect("standard layout");
            let rows = match gather.sources {
                None => Rows { values: &all[range.start * width..], width, sources: None },
                Some(sources) => Rows { values: all, width, sources: Some(&sources[range]) },
            };
            sums.add_values(rows, labels, weights);
            sums
        };
        let parts = parts_of(labels.len(), rows.ncols());
        let sums = if parts.len() == 1 {
            sum(0..labels.len())
        } else {
            parts
                .into_par_iter()
                .map(sum)
                .reduce_with(|mut a, b| {
                    a.merge(&b).expect("sums of the same shape");
                    a
                })
                .expect("at least two parts")
        };
        sums.check_sums(what, rows)?;
        sums.finish()
    }

    pub(crate) fn write<T: Real>(
        &self,
        means: &[T],
        rows: ArrayView2<'_, T>,
        gather: Gather<'_>,
        range: Range<usize>,
        out: &mut [T],
    ) {
        move_rows(means, self.partition.labels(), &self.gamma, rows, gather, range, out);
    }

    /// `∂/∂xⱼ = sⱼgⱼ + (wⱼ/W) Σᵢ (1 − sᵢ)gᵢ` over the rows `i` of the same group, `s = 1/√γ`.
    pub(crate) fn apply_transposed<T: Real>(
        &self,
        gradient: ArrayView2<'_, T>,
    ) -> Result<Array2<T>> {
        let labels = self.partition.labels();
        let groups = self.partition.groups();
        let d = gradient.ncols();
        let shrink_of = |row: usize| shrink::<f64>(self.gamma.at(row));
        let rows = row_slices(gradient);
        let mut pulled = ExactSums::new(groups, d);
        pulled
            .add_rows((0..labels.len()).map(|i| (labels[i] as usize, 1.0 - shrink_of(i), rows(i))));
        let pulled = pulled.totals();
        let divisors: Vec<f64> = match &self.weights {
            None => self.partition.sizes().iter().map(|&size| size as f64).collect(),
            Some(weights) => {
                let mut sums = ExactSums::new(groups, 1);
                let one = |i: usize| &weights[i..=i];
                sums.add_rows((0..labels.len()).map(|i| (labels[i] as usize, 1.0, one(i))));
                sums.totals()
            }
        };
        if let Some(row) = (0..labels.len()).find(|&i| divisors[labels[i] as usize] == 0.0) {
            return Err(Error::Weightless { group: labels[row] as usize });
        }
        let mut out = Array2::zeros((labels.len(), d));
        let all = out.as_slice_mut().expect("a fresh array is in standard layout");
        for (i, out) in all.chunks_exact_mut(d.max(1)).enumerate() {
            let group = labels[i] as usize;
            let weight = self.weights.as_ref().map_or(1.0, |weights| weights[i]);
            let (own, share) = (shrink_of(i), weight / divisors[group]);
            for ((out, &g), &pulled) in out.iter_mut().zip(rows(i)).zip(&pulled[group * d..]) {
                *out = T::narrow(own * g.widen() + share * pulled);
            }
        }
        Ok(out)
    }
}

/// Splits rows into one nonempty range per thread, or one range if there are few.
pub(crate) fn parts_of(rows: usize, width: usize) -> Vec<Range<usize>> {
    const WORTH_A_THREAD: usize = 1 << 15;
    let most = rayon::current_num_threads().min(rows).max(1);
    let parts = (rows.saturating_mul(width) / WORTH_A_THREAD).clamp(1, most);
    (0..parts).map(|part| rows * part / parts..rows * (part + 1) / parts).collect()
}
