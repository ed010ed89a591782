//! Does augmentation help on this table? Comparisons, searches and reports.

pub mod data;
