//! The rows that are augmented: which rows of a table, and what identifies each.

pub(crate) mod block;
pub(crate) mod row_id;
