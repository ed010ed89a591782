//! Augmentation of tables: CSV, Parquet and Arrow, in memory or larger.
//!
//! ```
//! use windlass_table::{Augmentation, ReadOptions, AugmentConfig, Sink, Table, WriteOptions};
//!
//! let folder = tempfile::tempdir().unwrap();
//! let (input, output) = (folder.path().join("cars.csv"), folder.path().join("more.csv"));
//! std::fs::write(&input, "weight,origin,mpg\n3.5,usa,18.0\n2.1,japan,31.5\n2.0,japan,29.0\n").unwrap();
//!
//! let table = Table::open(&[input], &ReadOptions::default())?;
//! let augmentation = Augmentation::fit(&table, &AugmentConfig::new(&["mpg"]), 512 << 20, &())?;
//! let mut sink = Sink::create(&output, &WriteOptions::default(), augmentation.schema(), None)?;
//! let summary = augmentation.write(&(), None, &mut sink)?;
//! sink.finish()?;
//! assert_eq!((summary.rows_in, summary.rows_out), (3, 6));
//! # Ok::<(), windlass_table::Error>(())
//! ```
//!
//! A [`Table`] is read in blocks, as often as needed; [`Augmentation`] looks at it, infers what each column
//! is ([`Role`]), fits the method and makes the rows; a [`Sink`] writes them, whole or not at all.

mod ahead;
mod augment;
mod categories;
mod column;
mod error;
mod fitted;
mod fitting;
mod format;
mod frame;
mod groups;
mod identity;
mod inspect;
mod maker;
mod mixed;
mod profile;
mod provenance;
mod roles;
mod rows;
mod settings;
mod sink;
mod sketch;
mod source;
mod verify;

pub use augment::{Augmentation, GroupSummary, Manifest, OutOfRangeCount, Output, Summary, Watch};
pub use column::{in_words, is_numeric, numbers};
pub use error::{Error, Result, RowList};
pub use fitted::{BoundFitted, Fitted};
pub use fitting::{FitDriver, PassAccumulator, PassTask};
pub use format::{Compression, Format};
pub use frame::{LoadedTable, select, words};
pub use identity::{DuplicateCounter, RowIdSource, row_ids};
pub use inspect::{ColumnReport, Inspection};
pub use profile::{ColumnProfile, FEW, LEVELS, Profile};
pub use roles::{Role, Roles};
pub use settings::{
    AdaConfig, AnchorSource, AugmentConfig, ClusterCount, Columns, IntegerHandling, MethodConfig,
    check_clusters,
};

pub use sink::{Sink, WriteOptions, check_outputs, write_atomic};
pub use sketch::{PlotPoint, PlotSample};
pub use source::{DEFAULT_MEMORY, ReadOptions, Table};
pub use verify::{Difference, How, Verdict};
