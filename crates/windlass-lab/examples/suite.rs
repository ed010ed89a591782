//! The evidence: every method, and `auto`, on the paper's tables, under equal conditions.
//!
//! `cargo xtask suite` runs it and writes `docs/results/compare-suite.md`.

use std::path::PathBuf;
use std::time::Instant;

use windlass_lab::data::{self, DataSet};
use windlass_lab::statistics::{Sizes, log_ratio, over_splits};
use windlass_lab::{Comparison, Entrant, MethodName, ModelName, Protocol, Rows, Rule, Run};
use windlass_model::{NetworkRecipe, Scaling, Split, Valid};
use windlass_table::{Columns, DEFAULT_MEMORY, Frame, ReadOptions, Table};
use windlass_train::{Activation, Training};

fn frame(set: &DataSet) -> (Frame, Columns) {
    let batch = set.load().expect("the data set");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(format!("{}.arrow", set.name));
    let file = std::fs::File::create(&path).expect("a file");
    let mut writer =
        arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).expect("a writer");
    writer.write(&batch).expect("rows");
    writer.finish().expect("an end");
    let columns = Columns {
        target: vec![set.target.to_owned()],
        carry: set.domain.iter().map(|&name| name.to_owned()).collect(),
        ..Columns::default()
    };
    let table = Table::open(&[path], &ReadOptions::default()).expect("a table");
    (Frame::load(&table, &columns, false, DEFAULT_MEMORY, &()).expect("a frame"), columns)
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let sets: Vec<&str> = args[0].split(',').collect();
    let sizes: Vec<Option<usize>> = args[1].split(',').map(|s| s.parse().ok()).collect();
    let repeats: usize = args[2].parse().unwrap();
    let tune: usize = args[3].parse().unwrap();
    let mut by_size: std::collections::BTreeMap<(Option<usize>, Entrant), Vec<f64>> =
        Default::default();
    for name in sets {
        let set = data::named(name).unwrap();
        let (frame, columns) = frame(set);
        let models: Vec<ModelName> = if args.len() > 4 {
            vec![ModelName::Mlp, ModelName::Auto]
        } else {
            vec![ModelName::Mlp, ModelName::Ridge, ModelName::Forest, ModelName::Auto]
        };
        for &size in &sizes {
            let protocol = Protocol {
                columns: columns.clone(),
                drop_missing_target: false,
                scaling: Scaling::Standard,
                target_scaling: Scaling::Standard,
                methods: vec![MethodName::Erm],
                models: models.clone(),
                rule: set.domain.map_or(Rule::Rows, |d| Rule::Domain(d.into())),
                folds: 5,
                repeats,
                sizes: vec![size],
                tune,
                network: NetworkRecipe {
                    hidden: vec![128, 128],
                    activation: Activation::Relu,
                    training: Training::default(),
                    augment: None,
                    valid: Valid::Share(0.2),
                    split: Split::Rows,
                },
                seed: 1,
            };
            let path = PathBuf::from(name);
            let started = Instant::now();
            let comparison =
                match Comparison::new(&protocol, Rows { frame: &frame, path: &path }, None) {
                    Ok(c) => c,
                    Err(e) => {
                        println!("{name} {size:?}: {e}");
                        continue;
                    }
                };
            let runs = comparison.run(vec![], &()).unwrap();
            let summary = comparison.summary(&runs);
            print!("{name:>10} {:>4}", size.map_or("all".into(), |s| s.to_string()));
            for line in &summary.lines {
                if let Some(d) = line.difference {
                    print!(
                        "  {} {:+.1} [{:+.1} {:+.1}]",
                        line.entrant.name(true),
                        100.0 * d.mean,
                        100.0 * d.low,
                        100.0 * d.high
                    );
                    by_size.entry((size, line.entrant)).or_default().push(100.0 * d.mean);
                }
            }
            println!("  {:.0} s", started.elapsed().as_secs_f64());
        }
    }
    for ((size, entrant), values) in by_size {
        println!(
            "{size:?} {} {:+.2} (worst {:+.1})",
            entrant.name(true),
            values.iter().sum::<f64>() / values.len() as f64,
            values.iter().copied().fold(f64::MIN, f64::max)
        );
    }
    let _ =
        (log_ratio(1.0, 1.0), over_splits(&[], Sizes { train: 1, test: 1, all: 2 }), None::<Run>);
}
