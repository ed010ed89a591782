//! A block of a copy.

use arrow_array::{ArrayRef, Float64Array};

use crate::Result;

pub(crate) trait GeneratedBlock: Sync {
    /// The values of a moved column, given the original ones.
    fn column(&self, index: usize, original: &Float64Array) -> Result<Float64Array>;

    /// Which rows to keep, if not all.
    fn keep(&self) -> Option<Vec<bool>> {
        None
    }

    /// The group of every row, if the method has groups.
    fn groups(&self) -> Option<Vec<u32>> {
        None
    }

    /// γ of every row, null for originals. Nothing if the method has no γ.
    fn gammas(&self) -> Option<Float64Array> {
        None
    }

    /// λ of every row's neighborhood, null for originals. Nothing if the method has no neighborhoods.
    fn lambdas(&self) -> Option<Float64Array> {
        None
    }

    /// The `windlass_source` of every partner, and λ; null for originals. Nothing if the method has
    /// no partners.
    fn partners(&self) -> Option<(ArrayRef, Float64Array)> {
        None
    }
}
