//! One file or folder for each command.

pub(crate) mod data;
pub(crate) mod reproduce;
