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
//! A [`Table`] is read in blocks, several times; [`Augmentation`] profiles it, infers the [`Role`]
//! of each column, fits the method and generates rows; a [`Sink`] writes them atomically.
//!
//! The modules follow the data: `io::read` → `rows` → `schema` → `fit` → `generate` → `io::write`.

mod augment;
mod bounds;
mod column;
mod config;
mod dates;
mod error;
mod fit;
mod generate;
mod inspect;
mod io;
mod loaded_table;
mod manifest;
mod note;
mod plot_sample;
mod progress;
mod rare;
mod row_place;
mod rows;
mod schema;
mod text;
mod verify;

pub use augment::{AugmentSummary, Augmentation, OutOfRangeCount, Output, RareRange, RareSummary};
pub use bounds::Bounds;
pub use column::{
    MARK, Numbers, PARTNER, SOURCE, SYNTHETIC, is_numeric, select, to_f64, type_name,
};
pub use config::{
    AdaConfig, AnchorSource, AugmentConfig, ClusterCount, Columns, Decimals, IntegerHandling,
    MethodConfig, RareSources, RoleRules, check_clusters,
};
pub use dates::{DateOrder, date_order, is_temporal, to_seconds};
pub use error::{Error, Result, RowList};
pub use fit::driver::FitDriver;
pub use fit::fitted::{BoundFitted, Fitted};
pub use fit::pass::{PassAccumulator, PassTask};
pub use generate::groups::GroupSummary;
pub use inspect::{ColumnReport, Inspection};
pub use io::format::{Compression, Format};
pub use io::read::encoding::Encoding;
pub use io::read::sheet_name::SheetName;
pub use io::read::table::{DEFAULT_MEMORY, ReadOptions, SyntheticRows, Table};
pub use io::write::existing::{OutputKind, check_existing};
pub use io::write::sink::{Sink, WriteOptions, check_outputs, write_atomic};
pub use loaded_table::{AlignedRows, LoadedTable, ROW_COUNT};
pub use manifest::Manifest;
pub use note::Note;
pub use plot_sample::{PlotPoint, PlotSample};
pub use progress::RowProgress;
pub use rare::read_rare;
pub use row_place::{RowPlace, RowPlaces};
pub use rows::row_id::{DuplicateCounter, RowIdSource, row_ids};
pub use schema::profile::{ColumnProfile, MAX_LEVELS, Profile};
pub use schema::roles::{Role, RoleReason, Roles};
pub use text::{format_number, to_strings};
pub use verify::{Difference, Verdict, VerifyOptions};

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
