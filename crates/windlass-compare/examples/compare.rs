//! Does ADA help on this table? `cargo run -p windlass-compare --example compare`.
#![expect(clippy::print_stdout, reason = "an example")]

use std::path::PathBuf;

use windlass_compare::{CompareConfig, Comparison, MethodName, ModelName, Result};
use windlass_model::{NamedTable, NetworkOptions};
use windlass_table::{Columns, DEFAULT_MEMORY, LoadedTable, ReadOptions, Table};

const CARS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/auto_mpg.csv");

fn main() -> Result<()> {
    let columns = Columns { target: vec!["mpg".into()], ..Columns::default() };
    let options = NetworkOptions { hidden: Some(vec![16]), epochs: Some(20), ..Default::default() };
    let config = CompareConfig {
        methods: ["none", "ada", "placebo"].into_iter().filter_map(MethodName::named).collect(),
        models: vec![ModelName::Mlp, ModelName::Ridge],
        folds: 3,
        repeats: 1,
        sizes: vec![Some(100)],
        network: options.config(NetworkOptions::VALID),
        ..CompareConfig::new(columns)
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
