//! The number types the library works on.

use ndarray::{CowArray, Ix2, NdFloat};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// `f32` or `f64`.
///
/// Sums, means and strengths are always computed in `f64`; only rows are stored in `Self`.
pub trait Real: NdFloat + sealed::Sealed {
    /// The same value as an `f64`.
    fn widen(self) -> f64;
    /// The nearest value of this type.
    fn narrow(value: f64) -> Self;
    #[doc(hidden)]
    fn widen_rows(rows: CowArray<'_, Self, Ix2>) -> CowArray<'_, f64, Ix2>;
}

impl Real for f64 {
    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }
    #[inline(always)]
    fn narrow(value: f64) -> Self {
        value
    }
    fn widen_rows(rows: CowArray<'_, Self, Ix2>) -> CowArray<'_, f64, Ix2> {
        rows
    }
}

impl Real for f32 {
    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(self)
    }
    #[expect(clippy::cast_possible_truncation, reason = "rounding to f32 is the purpose")]
    #[inline(always)]
    fn narrow(value: f64) -> Self {
        value as f32
    }
    fn widen_rows(rows: CowArray<'_, Self, Ix2>) -> CowArray<'_, f64, Ix2> {
        CowArray::from(rows.mapv(f64::from))
    }
}
