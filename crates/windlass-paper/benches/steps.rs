//! Our half of `cargo xtask bench deep`: a step of training of every network, timed, as one JSON object a line.
//!
//! ```text
//! steps run WORK THREADS   times one work
//! ```
//!
//! Without arguments (as `cargo test` runs it) every work is done once on few rows.

#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use ndarray::Array2;
use windlass::{Ada, Dataset, Seed, Stream};
use windlass_paper::networks::{DeepArchitecture, DeepDta, Device, Lstnet, NetworkSpec, ResNet18};
use windlass_train::{Augment, Optimizer, RunSpec, TrainConfig, Trainer};

/// As the command has it.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

const WORKS: [&str; 4] = ["lstnet_step", "lstnet_step_ada", "resnet18_step", "deepdta_step"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["run", work, threads] => {
            let threads = threads.parse().expect("a number of threads");
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("threads").install(|| run(work, threads, Duration::from_secs(2)));
        }
        _ => WORKS.iter().for_each(|work| run(work, 1, Duration::ZERO)),
    }
}

/// Steps of an epoch, so that what comes between epochs hardly counts.
const STEPS: usize = 4;

fn run(work: &str, threads: usize, at_least: Duration) {
    let test = at_least.is_zero();
    let (description, batch, letters) = match work {
        "lstnet_step" | "lstnet_step_ada" => (NetworkSpec::Lstnet(Lstnet::default()), 64, false),
        "resnet18_step" => (NetworkSpec::Resnet18(ResNet18::default()), 32, false),
        "deepdta_step" => (NetworkSpec::Deepdta(DeepDta::default()), 32, true),
        _ => panic!("no work `{work}`"),
    };
    let batch = if test { 4 } else { batch };
    let steps = if test { 1 } else { STEPS };
    let groups = if test { 2 } else { 40 };
    let augment = work.ends_with("ada").then(|| Augment::new(Ada::published(groups, 2.0)));
    let examples = examples(batch * steps, &description, letters);
    let spec = RunSpec {
        train: Arc::new(examples),
        valid: None,
        shape: DeepArchitecture::new(description, Device::Cpu).expect("a network that can be"),
        training: TrainConfig {
            epochs: 1_000_000,
            batch_size: batch,
            learning_rate: 1e-3,
            weight_decay: 0.0,
            optimizer: Optimizer::adam(),
            ..TrainConfig::default()
        },
        augment,
        seed: Seed(0),
    };
    let mut trainer = Trainer::new(&spec).expect("settings that can be");
    let mut times = vec![];
    let mut epoch = || {
        let started = Instant::now();
        trainer.epoch().expect("a step");
        started.elapsed().as_secs_f64() * 1e3 / steps as f64
    };
    if !test {
        epoch();
    }
    let started = Instant::now();
    while times.is_empty() || started.elapsed() < at_least {
        times.push(epoch());
    }
    times.sort_by(f64::total_cmp);
    let (best, median) = (times[0], times[times.len() / 2]);
    println!(
        "{{\"work\": \"{work}\", \"threads\": {threads}, \"best\": {best:.3}, \"median\": {median:.3}}}"
    );
}

fn examples(rows: usize, description: &NetworkSpec, letters: bool) -> Dataset<f32> {
    #[expect(clippy::cast_possible_truncation, reason = "rounded")]
    let value = |(i, j): (usize, usize)| {
        let value = Seed(1).at(Stream::Sample, j as u64, i as u64).uniform();
        if letters { (value * 26.0).floor() as f32 } else { 2.0 * value as f32 - 1.0 }
    };
    let x = Array2::from_shape_fn((rows, description.inputs()), value);
    let y = Array2::from_shape_fn((rows, description.outputs()), |(i, j)| x[(i, j)] / 4.0);
    Dataset::new(x, y, None).expect("finite numbers")
}
