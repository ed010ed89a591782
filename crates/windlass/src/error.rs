//! What a caller can get wrong.

/// The result of everything in this crate that can be refused.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What the caller got wrong, with the values needed to put it right.
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
    /// A setting lies outside its documented range.
    #[error("{name} must be in {range}, got {got}")]
    OutOfRange { name: &'static str, range: &'static str, got: f64 },
    /// There is nothing to work on.
    #[error("{what} has no {missing}")]
    Empty { what: &'static str, missing: &'static str },
    /// Two inputs that describe the same rows differ in length.
    #[error("{left} and {right} must have the same rows, got {left_rows} and {right_rows}")]
    RowMismatch { left: &'static str, left_rows: usize, right: &'static str, right_rows: usize },
    /// An input has another width than what it is used with.
    #[error("{what} must have {expected} columns, got {got}")]
    ColumnMismatch { what: &'static str, expected: usize, got: usize },
    /// An output buffer has another shape than what is written into it.
    #[error("the output buffer must have shape {expected:?} in standard layout, got {got:?}")]
    BufferShape { expected: Vec<usize>, got: Vec<usize> },
    /// A value is so large that a sum of such values could overflow.
    #[error(
        "{what} must be below {limit:.1e} in size, got {value:e} in row {row}, column {column}"
    )]
    TooLarge { what: &'static str, row: usize, column: usize, value: f64, limit: f64 },
    /// A value is NaN or infinite.
    #[error("{what} must be finite, got {value} in row {row}, column {column}")]
    NotFinite { what: &'static str, row: usize, column: usize, value: f64 },
    /// A row number points behind the last row.
    #[error("row {row} does not exist: there are {rows} rows")]
    NoSuchRow { row: usize, rows: usize },
    /// A column number points behind the last column.
    #[error("column {column} does not exist: {what} has {columns} columns")]
    NoSuchColumn { what: &'static str, column: usize, columns: usize },
    /// A group label is not below the number of groups.
    #[error("row {row} has group {label}, but there are {groups} groups")]
    NoSuchGroup { row: usize, label: u32, groups: usize },
    /// A row belongs to a group that had no rows when the means were taken.
    #[error("row {row} belongs to group {group}, which had no rows when the means were taken")]
    EmptyGroup { row: usize, group: usize },
    /// A row weight lies outside its range.
    #[error("the weight of row {row} must be in [0, 2^50], got {got}")]
    BadWeight { row: usize, got: f64 },
    /// All row weights are 0.
    #[error("all row weights are 0")]
    NoWeight,
    /// Real-valued anchors were asked for what only groups have.
    #[error("{what} needs groups: real-valued anchors have none")]
    NeedsGroups { what: &'static str },
    /// Two samples of rows were not made alike.
    #[error("samples must have the same capacity, width and seed to be merged")]
    OtherSample,
    /// The weights of a group add up to nothing, so it has no weighted mean.
    #[error("the row weights of group {group} add up to 0")]
    Weightless { group: usize },
    /// The normalizer of a row vanishes: its augmented sample would be infinite.
    #[error(
        "with gamma {gamma} the normalizer 1 + (sqrt(gamma) - 1) * sum_j P_ij of row {row} is {value}: \
         choose another gamma, or anchors with a constant in their span"
    )]
    VanishingNormalizer { row: usize, value: f64, gamma: f64 },
    /// A hidden layer was to be augmented by a method that is not a linear map of its rows.
    #[error(
        "noise and group means of the whole set act on features and targets, not on a hidden layer"
    )]
    NotLinear,
    /// A matrix could not be factorized.
    #[error("the singular value decomposition of a {rows} x {columns} matrix did not converge")]
    NoConvergence { rows: usize, columns: usize },
}

/// Refuses two named inputs that do not have the same number of rows.
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
