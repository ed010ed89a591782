//! Errors of the core.

/// A result with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An invalid argument, with the values needed to correct it.
///
/// Rows and columns are counted from 0.
///
/// ```
/// use windlass::{Ada, Error, Method};
///
/// let refused = Ada::default().alpha(1.0).check().unwrap_err();
/// assert_eq!(refused, Error::OutOfRange { name: "alpha", range: "(1, 1e16]", got: 1.0 });
/// assert_eq!(refused.to_string(), "alpha must be in (1, 1e16], got 1");
/// ```
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message names its fields")]
pub enum Error {
    /// A parameter is outside its documented range.
    #[error("{name} must be in {range}, got {got}")]
    OutOfRange { name: &'static str, range: &'static str, got: f64 },
    /// An input is empty.
    #[error("{what} has no {missing}")]
    Empty { what: &'static str, missing: &'static str },
    /// Two inputs have different numbers of rows.
    #[error(
        "{left} and {right} must have the same number of rows, got {left_rows} and {right_rows}"
    )]
    RowMismatch { left: &'static str, left_rows: usize, right: &'static str, right_rows: usize },
    /// An input has the wrong number of columns.
    #[error("{what} must have {expected} columns, got {got}")]
    ColumnMismatch { what: &'static str, expected: usize, got: usize },
    /// An output buffer has the wrong shape or layout.
    #[error("the output buffer must have shape {expected:?} in standard layout, got {got:?}")]
    BufferShape { expected: Vec<usize>, got: Vec<usize> },
    /// A value is so large that a sum could overflow.
    #[error(
        "{what} must be below {limit:.1e} in magnitude, got {value:e} in row {row}, column {column}"
    )]
    TooLarge { what: &'static str, row: usize, column: usize, value: f64, limit: f64 },
    /// A value is NaN or infinite.
    #[error("{what} must be finite, got {value} in row {row}, column {column}")]
    NotFinite { what: &'static str, row: usize, column: usize, value: f64 },
    /// A row index is out of bounds.
    #[error("row {row} does not exist: there are {rows} rows")]
    NoSuchRow { row: usize, rows: usize },
    /// A column index is out of bounds.
    #[error("column {column} does not exist: {what} has {columns} columns")]
    NoSuchColumn { what: &'static str, column: usize, columns: usize },
    /// A group label is out of bounds.
    #[error("row {row} has group {label}, but there are {groups} groups")]
    NoSuchGroup { row: usize, label: u32, groups: usize },
    /// A row belongs to a group without a mean.
    #[error("row {row} belongs to group {group}, which has no mean: it was empty when fitted")]
    EmptyGroup { row: usize, group: usize },
    /// A row weight is outside its range.
    #[error("the weight of row {row} must be in [0, 2^50], got {got}")]
    BadWeight { row: usize, got: f64 },
    /// All row weights are 0.
    #[error("all row weights are zero")]
    NoWeight,
    /// A feature that needs groups was used with real-valued anchors.
    #[error("{what} needs groups, but the anchors are real-valued")]
    NeedsGroups { what: &'static str },
    /// Two samples of rows have different settings.
    #[error("samples must have the same capacity, width and seed to be merged")]
    OtherSample,
    /// The weights of a group sum to 0, so it has no weighted mean.
    #[error("the row weights of group {group} sum to 0")]
    Weightless { group: usize },
    /// The normalizer of a row is 0, so its augmented row would be infinite.
    #[error(
        "with gamma {gamma} the normalizer 1 + (sqrt(gamma) - 1) * sum_j P_ij of row {row} is {value}: \
         choose another gamma, or anchors with a constant in their span"
    )]
    VanishingNormalizer { row: usize, value: f64, gamma: f64 },
    /// A method that is not a linear map of the rows cannot augment a hidden layer.
    #[error(
        "noise and group means of all rows apply to features and targets, not to a hidden layer"
    )]
    NotLinear,
    /// No row has a rare target.
    #[error("no row has a rare target: {why}")]
    NoRareRows { why: &'static str },
    /// A control point of a relevance is invalid.
    #[error("control point {point} of the relevance: {why}")]
    BadControlPoint { point: usize, why: &'static str },
    /// A neighborhood for each row is not defined.
    #[error("neighborhood row is not defined here: choose nearest, near or random")]
    NeedsBatches,
    /// A matrix could not be factorized.
    #[error("the singular value decomposition of a {rows} x {columns} matrix did not converge")]
    NoConvergence { rows: usize, columns: usize },
}

/// Returns an error if two named inputs have different numbers of rows.
pub(crate) fn same_rows(
    (left, left_rows): (&'static str, usize),
    (right, right_rows): (&'static str, usize),
) -> Result<()> {
    if left_rows == right_rows {
        return Ok(());
    }
    Err(Error::RowMismatch { left, left_rows, right, right_rows })
}

#[cfg(test)]
mod tests {
    #[test]
    fn error_crosses_threads() {
        fn assert_crosses<T: Send + Sync + 'static>() {}
        assert_crosses::<super::Error>();
    }
}
