//! Our half of the trees of `cargo xtask bench train`, compared with scikit-learn's.
//!
//! ```text
//! trees data FILE          writes 1,000 rows of 20 features and a target
//! trees run WORK THREADS   times one fit as a JSON object
//! ```
//!
//! Without arguments (as `cargo test` runs it) every work is done once on few rows.

#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::hint::black_box;
use std::time::Instant;

use cpu_time::ProcessTime;
use ndarray::{Array2, Axis};
use windlass::{Seed, Stream};
use windlass_model::{BoostingSettings, ForestSettings, TreeData, TreeEnsemble};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["data", file] => {
            let (x, y) = data(1000);
            let rows = ndarray::concatenate![Axis(1), x, y];
            let bytes: Vec<u8> = rows.iter().flat_map(|value| value.to_le_bytes()).collect();
            std::fs::write(file, bytes).expect("a folder to write to");
        }
        ["run", work, threads] => run(work, 1000, 5, threads.parse().expect("a number")),
        _ => ["forest", "extra_trees", "boosting"].iter().for_each(|work| run(work, 20, 1, 1)),
    }
}

/// Normal features; the target is a sum with an interaction, and noise.
fn data(rows: usize) -> (Array2<f64>, Array2<f64>) {
    let draw =
        |row: usize, column: usize| Seed(0).at(Stream::Made, column as u64, row as u64).normal();
    let x = Array2::from_shape_fn((rows, 20), |(row, column)| draw(row, column));
    let y = Array2::from_shape_fn((rows, 1), |(row, _)| {
        x.row(row).iter().take(5).sum::<f64>() + x[(row, 0)] * x[(row, 1)] + draw(row, 20)
    });
    (x, y)
}

fn run(work: &str, rows: usize, repeats: usize, threads: usize) {
    let (x, y) = data(rows);
    let data = TreeData { x: x.view(), y: y.view(), weights: None };
    let forest = ForestSettings { trees: 100, ..ForestSettings::default() };
    let fit = || match work {
        "forest" => TreeEnsemble::random_forest(data, &forest, Seed(0)),
        "extra_trees" => TreeEnsemble::extra_trees(data, &forest, Seed(0)),
        _ => TreeEnsemble::boosting(data, &BoostingSettings::default(), Seed(0)),
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    let (mut wall, mut cpu) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..repeats {
        let start = (Instant::now(), ProcessTime::now());
        black_box(pool.install(fit).expect("good data"));
        wall = wall.min(start.0.elapsed().as_secs_f64());
        cpu = cpu.min(start.1.elapsed().as_secs_f64());
    }
    println!(r#"{{"work":"{work}_{threads}","wall":{wall:e},"cpu":{cpu:e}}}"#);
}
