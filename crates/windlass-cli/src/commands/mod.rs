//! One file for every command.

pub(crate) mod augment;
pub(crate) mod completions;
pub(crate) mod inspect;
pub(crate) mod man;
pub(crate) mod verify;
