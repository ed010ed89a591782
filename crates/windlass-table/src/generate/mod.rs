//! Synthetic rows from a fitted method, block by block.

pub(crate) mod generated_block;
pub(crate) mod generator;
pub(crate) mod grouping;
pub(crate) mod groups;
pub(crate) mod in_memory;
pub(crate) mod label_cache;
pub(crate) mod loaded_rows;
pub(crate) mod output_batch;
pub(crate) mod provenance;
