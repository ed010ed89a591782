//! Exact sums of many columns at once, for the cost of about twelve additions per value.
//!
//! A floating-point sum depends on its order; an exact one does not, so it has the same bits for any
//! number of threads, any blocks and any merging. Each accumulator here is an unevaluated sum of three
//! numbers, into which a value `v` goes by error-free additions (Knuth's two-sum, exact without any
//! condition on magnitudes):
//!
//! ```text
//! (hi, e₁) ← hi + v      (mid, e₂) ← mid + e₁      (lo, e₃) ← lo + e₂
//! ```
//!
//! If values do not differ by many orders of magnitude, `e₂` is 0, so the loop below stops there and vectorizes over
//! columns.
//! What does not fit in `lo` (`e₃ ≠ 0`: a range of more than 150 bits) goes to an expansion of any
//! length, so nothing is ever dropped. The total is rounded once, at the end.
//!
//! Shewchuk, *Adaptive precision floating-point arithmetic and fast robust geometric predicates*, 1997,
//! [doi:10.1007/PL00009321](https://doi.org/10.1007/PL00009321). The final rounding is that of
//! Python's `math.fsum`.

use std::collections::BTreeMap;

use crate::simd::vectorized;

/// With 2⁵³ rows below [`Real::LIMIT`](crate::Real::LIMIT), sums of products with weights up to this cannot overflow.
pub(crate) const LARGEST_WEIGHT: f64 = (1_u64 << 50) as f64;

/// `f32` or `f64`.
///
/// Sums of rows take much of the time, and their loops are large. As methods of these types they are compiled once, in
/// this crate; as generic functions they would be compiled again in every crate that augments.
pub trait Summand: Copy + Into<f64> + 'static {
    #[doc(hidden)]
    const SUM_LIMIT: f64;
    #[doc(hidden)]
    fn add_weighted(sums: &mut ExactSums, rows: &[Weighted<'_, Self>]);
    #[doc(hidden)]
    fn add_labeled(sums: &mut ExactSums, labels: &[u32], rows: &[Self]);
}

macro_rules! compile_loops {
    ($($real:ty: $exponent:literal),*) => {$(
        impl Summand for $real {
            const SUM_LIMIT: f64 = f64::from_bits((1023 + $exponent) << 52);
            fn add_weighted(sums: &mut ExactSums, rows: &[Weighted<'_, Self>]) {
                sums.add_each(rows.iter().copied());
            }
            fn add_labeled(sums: &mut ExactSums, labels: &[u32], rows: &[Self]) {
                let labeled = labels.iter().zip(rows.chunks_exact(sums.width.max(1)));
                sums.add_each(labeled.map(|(&label, row)| (label as usize, 1.0, row)));
            }
        }
    )*};
}
compile_loops!(f32: 96, f64: 920);

/// A slot, a weight and a row.
pub(crate) type Weighted<'a, T> = (usize, f64, &'a [T]);

/// A table of exact accumulators, `slots` × `width`.
#[derive(Debug, Clone)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ExactSums {
    width: usize,
    hi: Vec<f64>,
    mid: Vec<f64>,
    /// Empty until it is needed.
    lo: Vec<f64>,
    /// What does not fit in `lo`; empty as long as that is.
    rest: BTreeMap<usize, Vec<f64>>,
    refused: bool,
}

impl ExactSums {
    pub(crate) fn new(slots: usize, width: usize) -> Self {
        let zeros = || vec![0.0; slots * width];
        let (hi, mid) = (zeros(), zeros());
        Self { width, hi, mid, lo: vec![], rest: BTreeMap::new(), refused: false }
    }

    /// Adds `weight · row` to the accumulators of `slot`, for every `(slot, weight, row)`; weights are at
    /// most [`LARGEST_WEIGHT`] in size.
    pub(crate) fn add_rows<'a, T: Summand>(
        &mut self,
        mut rows: impl Iterator<Item = Weighted<'a, T>>,
    ) {
        // The loop takes blocks, so that it is compiled once and not for every iterator.
        let mut block: [Weighted<'a, T>; 32] = [(0, 0.0, &[]); 32];
        loop {
            let mut filled = 0;
            for (place, row) in block.iter_mut().zip(&mut rows) {
                *place = row;
                filled += 1;
            }
            T::add_weighted(self, &block[..filled]);
            if filled < block.len() {
                return;
            }
        }
    }

    #[inline(always)]
    fn add_each<'a, T: Summand>(&mut self, rows: impl Iterator<Item = Weighted<'a, T>>) {
        vectorized(
            (self, rows),
            #[inline(always)]
            |(sums, rows)| match sums.width {
                // Loops of a constant length are worth twice the speed for narrow rows.
                1 => sums.add_narrow::<1, T>(rows),
                2 => sums.add_narrow::<2, T>(rows),
                4 => sums.add_narrow::<4, T>(rows),
                8 => sums.add_narrow::<8, T>(rows),
                16 => sums.add_narrow::<16, T>(rows),
                _ => sums.add_wide(rows),
            },
        );
    }

    #[inline(always)]
    fn add_narrow<'a, const N: usize, T: Summand>(
        &mut self,
        rows: impl Iterator<Item = Weighted<'a, T>>,
    ) {
        let Self { hi, mid, lo, rest, .. } = self;
        let (hi, mid) = (hi.as_chunks_mut::<N>().0, mid.as_chunks_mut::<N>().0);
        let mut too_large = [0.0; N];
        for (slot, weight, row) in rows {
            let Some(row) = row.first_chunk() else { continue };
            let left = add_chunk(&mut hi[slot], &mut mid[slot], weight, row, &mut too_large);
            if any_left(&left) {
                add_left_over((lo, rest), hi.len() * N, slot * N, left);
            }
        }
        self.refused |= too_large != [0.0; N];
    }

    #[inline(always)]
    fn add_wide<'a, T: Summand>(&mut self, rows: impl Iterator<Item = Weighted<'a, T>>) {
        let mut too_large = [0.0; 8];
        for (slot, weight, row) in rows {
            let mut at = slot * self.width;
            let mut row = row;
            while let Some((chunk, behind)) = row.split_first_chunk::<8>() {
                self.add_at(at, weight, chunk, &mut too_large);
                (at, row) = (at + 8, behind);
            }
            if let Some((chunk, behind)) = row.split_first_chunk::<4>() {
                self.add_at(at, weight, chunk, first_lanes::<4>(&mut too_large));
                (at, row) = (at + 4, behind);
            }
            for (at, value) in (at..).zip(row) {
                let value = std::array::from_ref(value);
                self.add_at(at, weight, value, first_lanes::<1>(&mut too_large));
            }
        }
        self.refused |= too_large != [0.0; 8];
    }

    #[inline(always)]
    fn add_at<const N: usize, T: Summand>(
        &mut self,
        at: usize,
        weight: f64,
        chunk: &[T; N],
        too_large: &mut [f64; N],
    ) {
        let hi = self.hi[at..].first_chunk_mut().expect("room for a row");
        let mid = self.mid[at..].first_chunk_mut().expect("room for a row");
        let left = add_chunk(hi, mid, weight, chunk, too_large);
        if any_left(&left) {
            add_left_over((&mut self.lo, &mut self.rest), self.hi.len(), at, left);
        }
    }

    /// Makes room for more slots.
    pub(crate) fn grow(&mut self, slots: usize) {
        let len = slots * self.width;
        self.hi.resize(len, 0.0);
        self.mid.resize(len, 0.0);
        if !self.lo.is_empty() {
            self.lo.resize(len, 0.0);
        }
    }

    /// Adds another table of the same shape. The order of merging does not matter.
    pub(crate) fn merge(&mut self, other: &Self) {
        debug_assert_eq!(self.hi.len(), other.hi.len());
        self.merge_at(other, 0..self.hi.len() / self.width.max(1));
    }

    /// Adds another table of the same width; `places` maps its slots to slots of this table.
    pub(crate) fn merge_at(&mut self, other: &Self, places: impl Iterator<Item = usize>) {
        debug_assert_eq!(self.width, other.width);
        self.refused |= other.refused;
        if !other.rest.is_empty() {
            self.lo.resize(self.hi.len(), 0.0);
        }
        for (slot, place) in places.enumerate() {
            for column in 0..self.width {
                let (from, to) = (slot * self.width + column, place * self.width + column);
                for part in [other.hi[from], other.mid[from], other.lo_at(from)] {
                    if part != 0.0 {
                        let (sum, error) = two_sum(self.hi[to], part);
                        self.hi[to] = sum;
                        let (sum, left) = two_sum(self.mid[to], error);
                        self.mid[to] = sum;
                        if left != 0.0 {
                            let rest = (&mut self.lo, &mut self.rest);
                            add_left_over(rest, self.hi.len(), to, [left]);
                        }
                    }
                }
                for &part in other.rest.get(&from).into_iter().flatten() {
                    grow(self.rest.entry(to).or_default(), part);
                }
            }
        }
    }

    /// Whether a value that was added is NaN, infinite or not below [`Real::LIMIT`](crate::Real::LIMIT).
    pub(crate) fn refused(&self) -> bool {
        self.refused
    }

    fn lo_at(&self, index: usize) -> f64 {
        self.lo.get(index).copied().unwrap_or(0.0)
    }

    /// The correctly rounded sums, `slots` × `width`.
    pub(crate) fn totals(&self) -> Vec<f64> {
        self.clone().into_totals()
    }

    /// [`totals`](Self::totals) in place.
    pub(crate) fn into_totals(mut self) -> Vec<f64> {
        if self.lo.is_empty() {
            for (hi, mid) in self.hi.iter_mut().zip(&self.mid) {
                *hi += mid;
            }
            return self.hi;
        }
        let total = |index: usize| {
            let mut parts = self.rest.get(&index).cloned().unwrap_or_default();
            for part in [self.lo[index], self.mid[index], self.hi[index]] {
                grow(&mut parts, part);
            }
            rounded(&parts)
        };
        (0..self.hi.len()).map(total).collect()
    }
}

/// The correctly rounded sum of some values, or `None` if one is NaN, infinite or too large.
pub(crate) fn exact_sum(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sums = ExactSums::new(1, 1);
    let mut too_large = [0.0];
    for value in values {
        sums.add_at(0, 1.0, &[value], &mut too_large);
    }
    (too_large == [0.0]).then(|| sums.totals()[0])
}

/// Adds `N` values and returns the remainder for the third number. A lane of `too_large` becomes nonzero if a value
/// cannot be summed; the accumulators are then invalid.
#[inline(always)]
fn add_chunk<const N: usize, T: Summand>(
    hi: &mut [f64; N],
    mid: &mut [f64; N],
    weight: f64,
    chunk: &[T; N],
    too_large: &mut [f64; N],
) -> [f64; N] {
    // Local arrays stay in vector registers; the compiler does not know that `hi` and `mid` do not alias.
    let (mut sums, mut middles, mut left) = (*hi, *mid, *too_large);
    for j in 0..N {
        let x: f64 = chunk[j].into();
        too_large[j] = if x.abs() < T::SUM_LIMIT { left[j] } else { 1.0 };
        let (sum, error) = two_sum(sums[j], x * weight);
        sums[j] = sum;
        (middles[j], left[j]) = two_sum(middles[j], error);
    }
    (*hi, *mid) = (sums, middles);
    left
}

/// Whether any value is not 0, with a single branch.
#[inline(always)]
fn any_left<const N: usize>(left: &[f64; N]) -> bool {
    left.iter().fold(0, |bits, left| bits | left.to_bits() << 1) != 0
}

#[cold]
fn add_left_over<const N: usize>(
    (lo, rest): (&mut Vec<f64>, &mut BTreeMap<usize, Vec<f64>>),
    len: usize,
    at: usize,
    left: [f64; N],
) {
    lo.resize(len, 0.0);
    for (index, value) in (at..).zip(left) {
        let (sum, error) = two_sum(lo[index], value);
        lo[index] = sum;
        // NaN: a value that cannot be summed, which `refused` reports.
        if error != 0.0 && error.is_finite() {
            grow(rest.entry(index).or_default(), error);
        }
    }
}

#[inline(always)]
fn first_lanes<const N: usize>(lanes: &mut [f64; 8]) -> &mut [f64; N] {
    lanes.first_chunk_mut().expect("at most eight")
}

/// `a + b` as the rounded sum and its exact error.
#[inline(always)]
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let from_b = sum - a;
    let error = (a - (sum - from_b)) + (b - from_b);
    (sum, error)
}

/// Adds a value to an expansion: numbers of growing size that do not overlap.
fn grow(parts: &mut Vec<f64>, value: f64) {
    let mut carry = value;
    let mut kept = 0;
    for i in 0..parts.len() {
        let (sum, error) = two_sum(carry, parts[i]);
        if error != 0.0 {
            parts[kept] = error;
            kept += 1;
        }
        carry = sum;
    }
    parts.truncate(kept);
    if carry != 0.0 {
        parts.push(carry);
    }
}

/// The value of an expansion, rounded to the nearest number, ties to even.
fn rounded(parts: &[f64]) -> f64 {
    let mut rest = parts.iter().rev();
    let Some(&largest) = rest.next() else {
        return 0.0;
    };
    let mut total = largest;
    let mut error = 0.0;
    for &part in rest.by_ref() {
        (total, error) = two_sum(total, part);
        if error != 0.0 {
            break;
        }
    }
    // `total` is the sum of the leading parts rounded; it lies halfway between two numbers only if
    // `error` is half a unit, and then the sign of the next part decides.
    if rest.next().is_some_and(|&next| (next < 0.0) == (error < 0.0)) {
        let doubled = error * 2.0;
        let moved = total + doubled;
        if moved - total == doubled {
            return moved;
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;
    use proptest::prelude::*;

    use super::{ExactSums, exact_sum};
    use crate::Real;

    const LIMIT: f64 = f64::LIMIT;

    /// A finite number as a multiple of 2⁻¹⁰⁷⁴, the smallest one there is.
    fn integer(value: f64) -> BigInt {
        let bits = value.to_bits();
        let exponent = bits >> 52 & 0x7ff;
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, shift) =
            if exponent == 0 { (fraction, 0) } else { (fraction | 1 << 52, exponent - 1) };
        let size = BigInt::from(mantissa) << shift;
        if value.is_sign_negative() { -size } else { size }
    }

    /// Whether `total` is the number nearest to the sum of the values, by integer arithmetic.
    fn is_rounded_sum(total: f64, values: &[f64]) -> bool {
        let sum: BigInt = values.iter().map(|&value| integer(value)).sum();
        let distance = |candidate: f64| {
            let difference = integer(candidate) - &sum;
            if difference < BigInt::ZERO { -difference } else { difference }
        };
        let even = total.to_bits() & 1 == 0;
        [total.next_up(), total.next_down()].into_iter().all(|neighbor| {
            let (own, other) = (distance(total), distance(neighbor));
            own < other || (own == other && even)
        })
    }

    fn any_value() -> impl Strategy<Value = f64> {
        prop_oneof![
            8 => -1e3..1e3_f64,
            4 => (any::<f64>()).prop_filter("below the limit", |v| v.abs() < LIMIT),
            1 => Just(1.0), 1 => Just(f64::EPSILON / 2.0), 1 => Just(f64::MIN_POSITIVE / 4.0),
        ]
    }

    proptest! {
        #[test]
        fn sums_are_correctly_rounded(values in prop::collection::vec(any_value(), 0..60)) {
            let total = exact_sum(values.iter().copied()).unwrap();
            prop_assert!(is_rounded_sum(total, &values), "{total:e}");
        }

        #[test]
        fn order_and_split_do_not_matter(
            rows in prop::collection::vec((0..3_usize, prop::collection::vec(any_value(), 19)), 1..40),
            cut in any::<prop::sample::Index>(),
        ) {
            let add = |part: &[(usize, Vec<f64>)]| {
                let mut sums = ExactSums::new(3, 19);
                sums.add_rows(part.iter().map(|(slot, row)| (*slot, 1.0, row.as_slice())));
                sums
            };
            let whole = add(&rows);
            let (left, right) = rows.split_at(cut.index(rows.len()));
            let mut merged = add(right);
            merged.merge(&add(left));
            let mut backwards = rows.clone();
            backwards.reverse();
            let bits = |sums: &ExactSums| sums.totals().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
            prop_assert_eq!(bits(&whole), bits(&merged));
            prop_assert_eq!(bits(&whole), bits(&add(&backwards)));
            for (index, total) in whole.totals().into_iter().enumerate() {
                let column: Vec<f64> = rows.iter().filter(|(slot, _)| *slot == index / 19)
                    .map(|(_, row)| row[index % 19]).collect();
                prop_assert!(is_rounded_sum(total, &column), "{total:e}");
            }
        }
    }

    #[test]
    fn a_value_that_cannot_be_summed_is_noticed() {
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, LIMIT, f64::MAX] {
            assert_eq!(exact_sum([1.0, value]), None);
        }
    }
}
