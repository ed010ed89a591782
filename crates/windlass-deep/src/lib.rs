//! Networks for series, images and sequences, trained with augmentation inside the loop.
mod description;
pub mod sequences;

pub use description::{DeepDta, Description, Lstnet, ResNet18, Tower};
