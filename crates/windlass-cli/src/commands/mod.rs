//! One file for every command.

pub(crate) mod augment;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod distill;
pub(crate) mod export;
pub(crate) mod inspect;
pub(crate) mod man;
mod model_words;
mod network;
pub(crate) mod plot_format;
pub(crate) mod predict;
pub(crate) mod regress;
pub(crate) mod show;
pub(crate) mod studio;
pub(crate) mod train;
pub(crate) mod tune;
mod typed;
pub(crate) mod verify;
