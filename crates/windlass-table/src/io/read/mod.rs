//! Reading: every format becomes blocks of Arrow columns.

mod csv;
mod file;
mod guard;
mod ipc;
mod parquet;
pub(crate) mod rechunk;
pub(crate) mod table;
