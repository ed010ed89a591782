//! Loops compiled for several vector widths and selected at run time.

use pulp::{Arch, Simd, WithSimd};

/// Runs `work` on `state` with all vector instructions of this machine.
///
/// The closure and the functions that its loops call must be marked `#[inline(always)]`: only inlined code is
/// compiled
/// for these instructions. (It is an `FnMut` because other closures are called through a shim that is not inlined;
/// mutable state is passed as `state`, so that it stays in registers.) Results have the same bits on every machine:
/// operations are neither reordered nor fused.
#[inline(always)]
pub fn vectorized<S, R>(state: S, work: impl FnMut(S) -> R) -> R {
    struct Work<S, F>(S, F);
    impl<S, R, F: FnMut(S) -> R> WithSimd for Work<S, F> {
        type Output = R;
        #[inline(always)]
        fn with_simd<V: Simd>(mut self, _: V) -> R {
            (self.1)(self.0)
        }
    }
    Arch::new().dispatch(Work(state, work))
}

/// Adds the squared differences of `values` to `at` to `sums`, one by one.
pub fn add_squared_differences(sums: &mut [f32], values: &[f32], at: f32) {
    vectorized(
        sums,
        #[inline(always)]
        |sums| {
            for (sum, value) in sums.iter_mut().zip(values) {
                let off = value - at;
                *sum += off * off;
            }
        },
    );
}

/// Adds 1 to `sums` if a value is not `at`, one by one.
pub fn add_mismatches(sums: &mut [f32], values: &[u32], at: u32) {
    vectorized(
        sums,
        #[inline(always)]
        |sums| {
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += if *value == at { 0.0 } else { 1.0 };
            }
        },
    );
}
