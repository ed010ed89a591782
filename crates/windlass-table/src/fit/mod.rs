//! Fitting a method in passes over a table, and the fitted method.

mod context;
pub(crate) mod driver;
pub(crate) mod fitted;
mod group_sums;
mod grouping;
mod load;
pub(crate) mod pass;
mod profile;
mod speculative;
