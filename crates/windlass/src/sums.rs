//! Exact sums of many columns at once, at nearly the speed of plain ones.
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
//! On real data `e₂` is nearly always 0, so the loop below stops there and vectorises over columns.
//! What does not fit in `lo` (`e₃ ≠ 0`: a range of more than 150 bits) goes to an expansion of any
//! length, so nothing is ever dropped. The total is rounded once, at the end.
//!
//! Shewchuk, *Adaptive precision floating-point arithmetic and fast robust geometric predicates*, 1997,
//! [doi:10.1007/PL00009321](https://doi.org/10.1007/PL00009321). The final rounding is that of
//! Python's `math.fsum`.

use std::collections::BTreeMap;

use pulp::Arch;

use crate::Real;

/// Values from here on are refused: a sum of 2⁵³ smaller ones cannot overflow.
pub(crate) const LIMIT: f64 = f64::from_bits((1023 + 970) << 52); // 2^970

/// A table of exact accumulators, `slots` × `width`.
#[derive(Debug, Clone)]
pub(crate) struct ExactSums {
    width: usize,
    hi: Vec<f64>,
    mid: Vec<f64>,
    lo: Vec<f64>,
    rest: BTreeMap<usize, Vec<f64>>,
    refused: bool,
}

impl ExactSums {
    pub(crate) fn new(slots: usize, width: usize) -> Self {
        let zeros = vec![0.0; slots * width];
        Self {
            width,
            hi: zeros.clone(),
            mid: zeros.clone(),
            lo: zeros,
            rest: BTreeMap::new(),
            refused: false,
        }
    }

    /// Adds `weight · row` to the accumulators of `slot`, for every `(slot, weight, row)`.
    pub(crate) fn add_rows<'a, T: Real>(
        &mut self,
        rows: impl Iterator<Item = (usize, f64, &'a [T])>,
    ) {
        Arch::new().dispatch(
            #[inline(always)]
            || match self.width {
                // Loops of a constant length are worth twice the speed for narrow rows.
                1 => self.add_narrow::<1, T>(rows),
                2 => self.add_narrow::<2, T>(rows),
                4 => self.add_narrow::<4, T>(rows),
                8 => self.add_narrow::<8, T>(rows),
                16 => self.add_narrow::<16, T>(rows),
                _ => self.add_wide(rows),
            },
        );
    }

    #[inline(always)]
    fn add_narrow<'a, const N: usize, T: Real>(
        &mut self,
        rows: impl Iterator<Item = (usize, f64, &'a [T])>,
    ) {
        let mut too_large = [0.0; N];
        for (slot, weight, row) in rows {
            let Some(row) = row.first_chunk() else { continue };
            self.add_chunk::<N, T>(slot * N, weight, row, &mut too_large);
        }
        self.refused |= too_large != [0.0; N];
    }

    #[inline(always)]
    fn add_wide<'a, T: Real>(&mut self, rows: impl Iterator<Item = (usize, f64, &'a [T])>) {
        let mut too_large = [0.0; 8];
        for (slot, weight, row) in rows {
            let at = slot * self.width;
            let (chunks, rest) = row.as_chunks::<8>();
            for (i, chunk) in chunks.iter().enumerate() {
                self.add_chunk(at + 8 * i, weight, chunk, &mut too_large);
            }
            let mut at = at + 8 * chunks.len();
            let mut rest = rest;
            if let Some((chunk, behind)) = rest.split_first_chunk::<4>() {
                let lanes = too_large.first_chunk_mut().expect("four of eight");
                self.add_chunk::<4, T>(at, weight, chunk, lanes);
                (at, rest) = (at + 4, behind);
            }
            for (i, value) in rest.iter().enumerate() {
                let lane = too_large.first_chunk_mut().expect("one of eight");
                self.add_chunk::<1, T>(at + i, weight, std::array::from_ref(value), lane);
            }
        }
        self.refused |= too_large != [0.0; 8];
    }

    /// Adds `N` values; a lane of `too_large` stops being 0 when a value of it cannot be summed (what
    /// the accumulators then hold is of no use).
    #[inline(always)]
    fn add_chunk<const N: usize, T: Real>(
        &mut self,
        at: usize,
        weight: f64,
        chunk: &[T; N],
        too_large: &mut [f64; N],
    ) {
        let hi: &mut [f64; N] = self.hi[at..].first_chunk_mut().expect("room for a row");
        let mid: &mut [f64; N] = self.mid[at..].first_chunk_mut().expect("room for a row");
        // All in local arrays, which the compiler keeps in vector registers; it would not know that
        // `hi` and `mid` do not overlap.
        let (mut sums, mut middles, mut left) = (*hi, *mid, *too_large);
        for j in 0..N {
            let value = chunk[j].widen() * weight;
            too_large[j] = if value.abs() < LIMIT { left[j] } else { 1.0 };
            let (sum, error) = two_sum(sums[j], value);
            sums[j] = sum;
            (middles[j], left[j]) = two_sum(middles[j], error);
        }
        (*hi, *mid) = (sums, middles);
        if left.iter().fold(false, |any, &left| any | (left != 0.0)) {
            self.add_left_over(at, &left);
        }
    }

    #[cold]
    fn add_left_over(&mut self, at: usize, left: &[f64]) {
        for (index, &value) in (at..).zip(left) {
            let (sum, error) = two_sum(self.lo[index], value);
            self.lo[index] = sum;
            // Not a number: a value that cannot be summed, which `refused` tells of.
            if error != 0.0 && error.is_finite() {
                grow(self.rest.entry(index).or_default(), error);
            }
        }
    }

    /// Adds another table of the same shape. The order of merging does not matter.
    pub(crate) fn merge(&mut self, other: &Self) {
        debug_assert_eq!((self.width, self.hi.len()), (other.width, other.hi.len()));
        self.refused |= other.refused;
        for part in [&other.hi, &other.mid, &other.lo] {
            let width = self.width.max(1);
            self.add_rows(part.chunks(width).enumerate().map(|(slot, row)| (slot, 1.0, row)));
        }
        for (&index, parts) in &other.rest {
            let rest = self.rest.entry(index).or_default();
            for &part in parts {
                grow(rest, part);
            }
        }
    }

    /// Whether a value that was added is NaN, infinite or not below [`LIMIT`].
    pub(crate) fn refused(&self) -> bool {
        self.refused
    }

    /// The correctly rounded sums, `slots` × `width`.
    pub(crate) fn totals(&self) -> Vec<f64> {
        let total = |index: usize| {
            let (hi, mid, lo) = (self.hi[index], self.mid[index], self.lo[index]);
            let rest = if self.rest.is_empty() { None } else { self.rest.get(&index) };
            if lo == 0.0 && rest.is_none() {
                return hi + mid;
            }
            let mut parts = rest.cloned().unwrap_or_default();
            for part in [lo, mid, hi] {
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
        sums.add_chunk(0, 1.0, &[value], &mut too_large);
    }
    (too_large == [0.0]).then(|| sums.totals()[0])
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
    let Some(&largest) = rest.next() else { return 0.0 };
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
    use proptest::prelude::*;
    use num_bigint::BigInt;

    use super::{ExactSums, LIMIT, exact_sum};

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
        [total.next_up(), total.next_down()].into_iter().all(|neighbour| {
            let (own, other) = (distance(total), distance(neighbour));
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
