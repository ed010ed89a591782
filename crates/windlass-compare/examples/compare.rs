//! Does ADA help on this table? `cargo run -p windlass-compare --example compare`.
#![expect(clippy::print_stdout, reason = "an example")]

use std::path::PathBuf;

use windlass_compare::{CompareConfig, Comparison, MethodName, ModelName, Result, SplitRule};
use windlass_model::{NamedTable, NetworkConfig, Scaling, Split, Validation};
use windlass_table::{Columns, DEFAULT_MEMORY, LoadedTable, ReadOptions, Table};
use windlass_train::{Activation, TrainConfig};

const CARS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/auto_mpg.csv");

fn main() -> Result<()> {
    let config = CompareConfig {
        rare: None,
        columns: Columns { target: vec!["mpg".into()], ..Columns::default() },
        drop_missing_target: false,
        scaling: Scaling::Standard,
        target_scaling: Scaling::Standard,
        methods: ["none", "ada", "placebo"].into_iter().filter_map(MethodName::named).collect(),
        models: vec![ModelName::Mlp, ModelName::Ridge],
        rows: vec![],
        specs: vec![],
        rule: SplitRule::HeldOut(Split::Rows),
        folds: 3,
        repeats: 1,
        sizes: vec![Some(100)],
        tune: 1,
        network: NetworkConfig {
            hidden: vec![16],
            activation: Activation::Relu,
            training: TrainConfig { epochs: 20, ..TrainConfig::default() },
            augment: None,
            valid: Validation::Fraction(0.2),
            split: Split::Rows,
            valid_seed: None,
        },
        seed: 0,
    };
    let path = PathBuf::from(CARS);
    let table = Table::open(std::slice::from_ref(&path), &ReadOptions::default())?;
    let table = LoadedTable::load(&table, &config.columns, false, DEFAULT_MEMORY, &())?;
    let comparison = Comparison::new(&config, NamedTable { table: &table, path: &path }, None)?;
    let runs = comparison.run(vec![], &())?;
    assert_eq!(runs.len(), 3 * 4, "three folds of four candidates");
    let summary = comparison.summary(&runs);
    for line in &summary.lines {
        println!("{:<8} RMSE {:.3}", config.name(line.candidate), line.rmse);
    }
    println!("{}", summary.verdict);
    Ok(())
}
