//! Our half of `cargo xtask bench train`: every work of the table, timed, as one JSON object a line.
//!
//! ```text
//! training run WORK [AIRFOIL]   times one work
//! ```
//!
//! Without arguments (as `cargo test` runs it) every work is done once on small data.

#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::sync::Arc;
use std::time::Instant;

use ndarray::{Array2, Axis};
use windlass::{Ada, Dataset, Seed, Stream};
use windlass_train::{
    Activation, Augment, Network, Optimizer, RunSpec, Shape, TrainConfig, Trainer,
    mean_squared_error, run_all,
};

const WORKS: [&str; 7] =
    ["step_erm", "step_ada", "step_256", "step_small", "airfoil", "independent_runs", "peak"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["run", work] => run(work, 40_000, None),
        ["run", work, airfoil] => run(work, 40_000, Some(airfoil)),
        _ => WORKS.iter().for_each(|work| run(work, 40, None)),
    }
}

fn run(work: &str, steps: usize, airfoil: Option<&str>) {
    let published = Shape::fcn3(5, 1);
    let small = Shape::mlp(19, 10, Activation::Relu, 1);
    match work {
        "step_erm" => step(work, published, 16, steps, None),
        "step_ada" => step(work, published, 16, steps, Some(ada())),
        "step_256" => step(work, published, 256, steps / 8, None),
        "step_small" => step(work, small, 16, steps * 4, None),
        "airfoil" => whole_run(steps, airfoil),
        "independent_runs" => side_by_side(steps),
        "peak" => peak(steps),
        _ => panic!("no work `{work}`"),
    }
}

/// The published settings of airfoil: after the first hidden layer.
fn ada() -> Augment {
    Augment::new(Ada::published(8, 2.0)).after(1)
}

fn examples(rows: usize, inputs: usize) -> Dataset<f32> {
    #[expect(clippy::cast_possible_truncation, reason = "rounded")]
    let value =
        |(i, j): (usize, usize)| Seed(1).at(Stream::Sample, j as u64, i as u64).uniform() as f32;
    let x = Array2::from_shape_fn((rows, inputs), value);
    let y = x.sum_axis(Axis(1)).insert_axis(Axis(1));
    Dataset::new(x, y, None).expect("finite numbers")
}

/// Microseconds a step: the best of some epochs, which a busy machine disturbs least, and their median.
fn step(work: &str, shape: Shape, batch: usize, steps: usize, augment: Option<Augment>) {
    const EPOCHS: usize = 20;
    let rows = (steps / EPOCHS).max(1) * batch;
    let train = Arc::new(examples(rows, shape.inputs));
    let training = TrainConfig {
        epochs: EPOCHS,
        batch_size: batch,
        optimizer: Optimizer::adam(),
        learning_rate: 1e-4,
        weight_decay: 0.0,
        ..TrainConfig::default()
    };
    let flops = flops(&shape, batch);
    let spec = RunSpec { train, valid: None, shape, training, augment, seed: Seed(0) };
    let mut trainer = Trainer::new(&spec).expect("good settings");
    let mut times = vec![];
    while !trainer.is_finished() {
        let started = Instant::now();
        trainer.epoch().expect("an epoch");
        times.push(started.elapsed().as_secs_f64() * 1e6 * batch as f64 / rows as f64);
    }
    times.sort_by(f64::total_cmp);
    println!(
        "{{\"work\": \"{work}\", \"best\": {}, \"median\": {}, \"flops\": {flops}}}",
        times[0],
        times[times.len() / 2]
    );
}

/// Multiplications and additions of the products of a step: forward, and twice as many back, but for the
/// gradient by the input.
fn flops(shape: &Shape, batch: usize) -> usize {
    let widths = [&[shape.inputs][..], &shape.hidden, &[shape.outputs]].concat();
    let products: usize = widths.windows(2).map(|ends| ends[0] * ends[1]).sum();
    2 * batch * (3 * products - widths[0] * widths[1])
}

/// The published split of airfoil by rows in a fixed order: 1003 to train on, 300 to choose by, 200 to test.
fn whole_run(steps: usize, airfoil: Option<&str>) {
    let all = match airfoil {
        Some(path) => {
            let bytes = std::fs::read(path).expect("airfoil's numbers");
            let values: Vec<f64> =
                bytes.as_chunks::<8>().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect();
            Array2::from_shape_vec((values.len() / 6, 6), values).expect("six columns")
        }
        None => Array2::from_shape_fn((1503, 6), |(i, j)| ((i * (j + 3)) % 101) as f64),
    };
    let epochs = (steps / 63).clamp(1, 200);
    let mut errors = vec![];
    let started = Instant::now();
    let seeds = if airfoil.is_some() { 5 } else { 1 };
    for seed in 0..seeds {
        let (spec, test) = airfoil_run(&all, epochs, seed);
        let result = spec.run(|_| true).expect("good settings");
        let predicted = result.network.predict(test.x().view()).expect("five features");
        errors.push(mean_squared_error(&test, &predicted).sqrt());
    }
    let seconds = started.elapsed().as_secs_f64() / f64::from(u32::try_from(seeds).expect("few"));
    println!("{{\"work\": \"airfoil\", \"seconds\": {seconds}, \"rmse\": {errors:?}}}");
}

fn airfoil_run(all: &Array2<f64>, epochs: usize, seed: u64) -> (RunSpec, Dataset<f32>) {
    let mut order: Vec<usize> = (0..all.nrows()).collect();
    Seed(seed).shared(Stream::Split, 0).shuffle(&mut order);
    let (low, high) = all.columns().into_iter().fold((vec![], vec![]), |(mut low, mut high), c| {
        low.push(c.fold(f64::INFINITY, |a, &b| a.min(b)));
        high.push(c.fold(f64::NEG_INFINITY, |a, &b| a.max(b)));
        (low, high)
    });
    let part = |rows: &[usize]| {
        #[expect(clippy::cast_possible_truncation, reason = "rounded")]
        let x = Array2::from_shape_fn((rows.len(), 5), |(i, j)| {
            ((all[(rows[i], j)] - low[j]) / (high[j] - low[j])) as f32
        });
        #[expect(clippy::cast_possible_truncation, reason = "rounded")]
        let y = Array2::from_shape_fn((rows.len(), 1), |(i, _)| all[(rows[i], 5)] as f32);
        Dataset::new(x, y, None).expect("finite numbers")
    };
    let training = TrainConfig {
        epochs,
        batch_size: 16,
        drop_last: true,
        optimizer: Optimizer::adam(),
        learning_rate: 0.01,
        weight_decay: 0.0,
        ..TrainConfig::default()
    };
    let spec = RunSpec {
        train: Arc::new(part(&order[..1003])),
        valid: Some(Arc::new(part(&order[1003..1303]))),
        shape: Shape::fcn3(5, 1),
        training,
        augment: Some(ada()),
        seed: Seed(seed),
    };
    (spec, part(&order[1303..]))
}

/// The most multiplications and additions of a core: many fused ones side by side, in registers.
fn peak(steps: usize) {
    /// Registers of sums: enough to hide how long one operation takes.
    const SUMS: usize = 12;
    struct Work(usize);
    impl pulp::WithSimd for Work {
        type Output = usize;
        #[inline(always)]
        fn with_simd<S: pulp::Simd>(self, simd: S) -> usize {
            let (factor, more) = (simd.splat_f32s(0.999), simd.splat_f32s(1e-9));
            let mut sums = [simd.splat_f32s(1.0); SUMS];
            for _ in 0..self.0 {
                for sum in &mut sums {
                    *sum = simd.mul_add_f32s(*sum, factor, more);
                }
            }
            std::hint::black_box(sums);
            size_of::<S::f32s>() / size_of::<f32>()
        }
    }
    let rounds = steps * 100;
    let (mut best, mut lanes) = (f64::INFINITY, 0);
    for _ in 0..10 {
        let started = Instant::now();
        lanes = pulp::Arch::new().dispatch(Work(rounds));
        best = best.min(started.elapsed().as_secs_f64());
    }
    let gflops = (rounds * SUMS * lanes * 2) as f64 / best / 1e9;
    println!("{{\"work\": \"peak\", \"gflops\": {gflops}}}");
}

/// Twenty runs, on one thread and on all.
fn side_by_side(steps: usize) {
    let train = Arc::new(examples(1024, 5));
    let training = TrainConfig { epochs: (steps / 640).max(1), ..TrainConfig::default() };
    let spec = |seed| RunSpec {
        train: Arc::clone(&train),
        valid: None,
        shape: Shape::fcn3(5, 1),
        training: training.clone(),
        augment: Some(ada()),
        seed: Seed(seed),
    };
    let specs: Vec<RunSpec> = (0..20).map(spec).collect();
    let time = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let started = Instant::now();
        let results = pool.install(|| run_all(&specs, &(), |_, _| {}));
        let networks: Vec<Network> =
            results.into_iter().map(|result| result.expect("good settings").network).collect();
        (started.elapsed().as_secs_f64(), networks)
    };
    let ((one, alone), (two, together)) = (time(1), time(2));
    assert!(alone == together, "the number of threads changed a bit");
    println!("{{\"work\": \"independent_runs\", \"one\": {one}, \"two\": {two}}}");
}
