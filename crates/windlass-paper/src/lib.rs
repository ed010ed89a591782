//! The experiments of *Anchor Data Augmentation* (NeurIPS 2023), from raw data to a page.
//!
//! | Module | Content |
//! | :-- | :-- |
//! | [`data`] | the data sets: registry, download, readers, generators |
//! | [`networks`] | LSTNet, ResNet-18 and DeepDTA |
//! | [`reproduce`] | the experiments, one TOML file each, run by [`windlass_compare`] |
//! | [`PublishedSplits`] | the published training, validation and test rows |

pub mod data;
mod deep;
mod error;
pub mod networks;
pub mod reproduce;
mod splits;

pub use deep::{DeepAugment, DeepConfig, DeepProgress};
pub use error::{Error, Result};
pub use splits::PublishedSplits;

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
