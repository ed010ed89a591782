//! Writing: a file appears under its name when it is complete.

mod csv;
mod file;
mod parquet;
pub(crate) mod sink;
