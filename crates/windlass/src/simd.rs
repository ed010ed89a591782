//! Loops compiled for the widest vectors that the machine has, chosen when the program runs.

use pulp::{Arch, Simd, WithSimd};

/// Runs `work` on `state` with all vector instructions of this machine.
///
/// The closure must be marked `#[inline(always)]`, and so must what its loops call: only what is
/// inlined is compiled for them. (It is an `FnMut` because the compiler calls other closures through a
/// shim that is not; what a loop changes goes through `state`, so that it is kept in registers.) Results
/// have the same bits on every machine: nothing is reordered or fused.
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
