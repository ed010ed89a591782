//! `windlass augment`, as a library: `cargo run -p windlass-table --example augment`.
#![expect(clippy::print_stdout, reason = "an example")]

use std::path::PathBuf;

use windlass_table::{
    AugmentConfig, Augmentation, DEFAULT_MEMORY, ReadOptions, Result, Sink, Table, WriteOptions,
};

const CARS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/auto_mpg.csv");

fn main() -> Result<()> {
    let table = Table::open(&[PathBuf::from(CARS)], &ReadOptions::default())?;
    let config = AugmentConfig { copies: 3, provenance: true, ..AugmentConfig::new(&["mpg"]) };
    let augmentation = Augmentation::fit(&table, &config, DEFAULT_MEMORY, &())?;
    for (field, role) in table.schema().fields().iter().zip(&augmentation.roles().roles) {
        println!("{:<13} {}", field.name(), role.name());
    }

    // The file appears under its name when it is complete.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = folder.path().join("more.parquet");
    let mut sink = Sink::create(&output, &WriteOptions::default(), augmentation.schema(), None)?;
    let summary = augmentation.write(&(), None, &mut sink)?;
    sink.finish()?;

    let written = Table::open(&[output], &ReadOptions::default())?;
    println!("{} rows in, {} rows out", summary.rows_in, summary.rows_out);
    println!("columns: {}", written.schema().fields().len());
    assert_eq!((summary.rows_in, summary.rows_out), (398, 4 * 398));
    Ok(())
}
