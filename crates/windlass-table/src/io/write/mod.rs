//! Writing: a file appears under its name when it is complete.

mod csv;
pub(crate) mod existing;
mod file;
mod parquet;
pub(crate) mod sink;
