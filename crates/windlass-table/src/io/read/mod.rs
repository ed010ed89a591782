//! Reading: every format becomes blocks of Arrow columns.

mod csv;
pub(crate) mod encoding;
mod file;
mod guard;
mod ipc;
mod parquet;
mod parquet_check;
pub(crate) mod rechunk;
mod separator;
mod sheet;
pub(crate) mod sheet_name;
pub(crate) mod table;
mod value;
#[cfg(feature = "spreadsheets")]
mod workbook;
#[cfg(not(feature = "spreadsheets"))]
#[path = "no_workbook.rs"]
mod workbook;

pub(crate) use file::Input;
