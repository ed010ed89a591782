//! Train, save, load and predict: `cargo run -p windlass-model --example ridge`.
#![expect(clippy::print_stdout, reason = "an example")]

use std::path::{Path, PathBuf};

use windlass_model::{Kind, Model, ModelConfig, NamedTable, Result, Scaling};
use windlass_table::{Columns, DEFAULT_MEMORY, LoadedTable, ReadOptions, Table};

const CARS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/auto_mpg.csv");

fn main() -> Result<()> {
    let path = PathBuf::from(CARS);
    let columns = Columns { target: vec!["mpg".into()], ..Columns::default() };
    let table = Table::open(std::slice::from_ref(&path), &ReadOptions::default())?;
    let table = LoadedTable::load(&table, &columns, false, DEFAULT_MEMORY, &())?;
    let rows = NamedTable { table: &table, path: &path };

    let config = ModelConfig {
        columns,
        drop_missing_target: false,
        scaling: Scaling::Standard,
        target_scaling: Scaling::Standard,
        kind: Kind::Ridge { penalty: 1.0 },
        pre_augment: None,
        density_weights: None,
        cross_validation: None,
        seed: 0,
    };
    let trained = Model::train(rows, None, &config, &(), None)?;
    for note in &trained.model.metadata().notes {
        println!("note: {note}");
    }

    // A model is one file: preprocessing, weights, and how it was made.
    let bytes = trained.model.to_bytes();
    let model = Model::from_bytes(&bytes, Path::new("cars.windlass"))?;
    let (predictions, metrics) = model.evaluate(rows)?;
    println!("{} cars, RMSE {:.3}", metrics.rows, metrics.rmse);
    println!("first car: {:.1} mpg predicted", predictions.mean[(0, 0)]);
    assert!(metrics.rmse < 3.5, "{metrics:?}");
    Ok(())
}
