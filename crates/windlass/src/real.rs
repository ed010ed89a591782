//! The number types of the library.

use ndarray::{CowArray, Ix2, NdFloat};

use crate::sums::Summand;

/// `f32` or `f64`.
///
/// Sums, means and strengths are always computed in `f64`; only rows are stored in `Self`.
pub trait Real: NdFloat + Summand {
    /// Upper limit of the magnitude of values: sums and augmented rows of smaller ones cannot overflow. 2⁹²⁰ for
    /// `f64`, 2⁹⁶ for `f32`.
    const LIMIT: f64 = Self::SUM_LIMIT;
    /// The same value as an `f64`.
    fn widen(self) -> f64;
    /// The nearest value of this type.
    fn narrow(value: f64) -> Self;
    #[doc(hidden)]
    fn narrow_all(values: Vec<f64>) -> Vec<Self>;
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
    fn narrow_all(values: Vec<f64>) -> Vec<Self> {
        values
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
    fn narrow_all(values: Vec<f64>) -> Vec<Self> {
        values.into_iter().map(Self::narrow).collect()
    }
    fn widen_rows(rows: CowArray<'_, Self, Ix2>) -> CowArray<'_, f64, Ix2> {
        CowArray::from(rows.mapv(f64::from))
    }
}
