//! Reading and writing tables in files.

pub(crate) mod format;
pub(crate) mod read;
pub(crate) mod write;
