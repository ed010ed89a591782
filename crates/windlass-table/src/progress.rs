//! Progress and cancellation.

use crate::Result;

/// Receives the progress of long work, and may cancel it.
pub trait RowProgress: Sync {
    /// A new stage of the work begins.
    fn stage(&self, _name: &str) {}

    /// More rows were processed; an error cancels the work.
    fn advance(&self, _rows: u64) -> Result<()> {
        Ok(())
    }
}

impl RowProgress for () {}
