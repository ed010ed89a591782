//! Our half of `cargo xtask bench`: every work of the table, timed, as one JSON object a line.
//!
//! ```text
//! side_by_side data FOLDER       writes the data that both halves read
//! side_by_side run WORK FOLDER   times one work
//! ```
//!
//! Without arguments (as `cargo test` runs it) every work is done once on small data.

#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use cpu_time::ProcessTime;
use ndarray::{Array1, Array2};
use windlass::{
    Ada, Bandwidth, Batch, CMixup, Copies, Fitted, GroupSums, KMeans, Method, Mixing, Mixup,
    Partition, Per, Plan, Real as _, Samples, Seed, Stream, Strength,
};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["data", folder] => write_data(Path::new(folder)),
        ["run", work, folder] => run(work, &Sizes::full(), Some(Path::new(folder))),
        _ => {
            for work in WORKS {
                run(work, &Sizes::small(), None);
            }
        }
    }
}

const WORKS: [&str; 11] = [
    "ada_kernel",
    "fit_resample",
    "draw_batch",
    "ada_batch",
    "kmeans_8",
    "kmeans_32",
    "kmeans_airfoil",
    "c_mixup",
    "c_mixup_large",
    "growth_ada",
    "growth_kmeans",
];

/// How large each work is.
struct Sizes {
    kernel: usize,
    batches: Vec<usize>,
    kmeans: usize,
    c_mixup: (usize, usize),
    c_mixup_large: usize,
    growth: Vec<usize>,
    repeats: usize,
}

impl Sizes {
    fn full() -> Self {
        Self {
            kernel: 1_000_000,
            batches: vec![64, 256, 1024, 4096],
            kmeans: 100_000,
            c_mixup: (10_000, 100_000),
            c_mixup_large: 1_000_000,
            growth: vec![10_000, 100_000, 1_000_000, 10_000_000],
            repeats: 7,
        }
    }

    fn small() -> Self {
        Self {
            kernel: 1_000,
            batches: vec![16],
            kmeans: 500,
            c_mixup: (200, 400),
            c_mixup_large: 500,
            growth: vec![100, 1_000],
            repeats: 1,
        }
    }
}

/// Clustered rows: 24 centers, unit noise, and some columns on other scales.
fn rows(n: usize, d: usize) -> Array2<f64> {
    let seed = Seed(2311);
    let center = |c: usize, j: usize| 4.0 * seed.at(Stream::Sample, 1, (c * d + j) as u64).normal();
    let centers = Array2::from_shape_fn((24, d), |(c, j)| center(c, j));
    let mut out = Array2::zeros((n, d));
    for (i, mut row) in out.rows_mut().into_iter().enumerate() {
        let mut draws = seed.at(Stream::Sample, 2, i as u64);
        let c = draws.below(24);
        for (j, value) in row.iter_mut().enumerate() {
            *value = centers[(c, j)] + 2.0 * draws.normal();
        }
    }
    out
}

fn targets(n: usize) -> Array1<f64> {
    Array1::from_shape_fn(n, |i| Seed(2311).at(Stream::Sample, 3, i as u64).normal())
}

fn write_data(folder: &Path) {
    let save = |name: String, values: &[f64]| {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        fs::write(folder.join(name), bytes).expect("a writable folder");
    };
    let sizes = Sizes::full();
    save("kmeans.f64".into(), rows(sizes.kmeans, 16).as_slice().expect("standard layout"));
    save("kernel.f64".into(), rows(sizes.kernel, 16).as_slice().expect("standard layout"));
    save("batch.f64".into(), rows(4096, 8).as_slice().expect("standard layout"));
    save("c_mixup.f64".into(), targets(sizes.c_mixup.0).as_slice().expect("standard layout"));
}

/// The best wall and CPU time of some repeats, after one that does not count.
fn time<R>(repeats: usize, mut work: impl FnMut() -> R) -> (Duration, Duration) {
    black_box(work());
    let once = |_| {
        let (wall, cpu) = (Instant::now(), ProcessTime::now());
        black_box(work());
        (wall.elapsed(), cpu.elapsed())
    };
    let times: Vec<(Duration, Duration)> = (0..repeats).map(once).collect();
    let best = |pick: fn(&(Duration, Duration)) -> Duration| times.iter().map(pick).min();
    (best(|t| t.0).unwrap_or_default(), best(|t| t.1).unwrap_or_default())
}

/// How often to repeat a work on `n` rows, so that together they are about `total`.
fn repeats_of(n: usize, total: usize) -> u32 {
    u32::try_from(total / n).unwrap_or(u32::MAX).max(1)
}

fn report(work: &str, (wall, cpu): (Duration, Duration), more: &str) {
    let (wall, cpu) = (wall.as_secs_f64(), cpu.as_secs_f64());
    println!(r#"{{"work":"{work}","wall":{wall:e},"cpu":{cpu:e}{more}}}"#);
}

fn run(work: &str, sizes: &Sizes, data: Option<&Path>) {
    match work {
        "ada_kernel" => ada_kernel(sizes),
        "ada_batch" => ada_batch(sizes),
        "fit_resample" => fit_resample(sizes),
        "draw_batch" => draw_batch(sizes),
        "kmeans_8" => kmeans("kmeans_8", &rows(sizes.kmeans, 16), 8, 1),
        "kmeans_32" => kmeans("kmeans_32", &rows(sizes.kmeans, 16), 32, 1),
        "kmeans_airfoil" => match data.map(|folder| folder.join("airfoil.f64")) {
            Some(file) if file.is_file() => kmeans("kmeans_airfoil", &read(&file, 6), 8, 10),
            _ => eprintln!("kmeans_airfoil: skipped, the data set is absent"),
        },
        "c_mixup" => c_mixup("c_mixup", sizes.c_mixup.0, sizes.c_mixup.1),
        "c_mixup_large" => c_mixup("c_mixup_large", sizes.c_mixup_large, sizes.c_mixup_large),
        "growth_ada" => one_thread().install(|| sizes.growth.iter().for_each(|&n| growth_ada(n))),
        "growth_kmeans" => {
            one_thread().install(|| sizes.growth.iter().for_each(|&n| growth_kmeans(n)));
        }
        other => eprintln!("no work is called `{other}`"),
    }
}

fn read(file: &Path, width: usize) -> Array2<f64> {
    let bytes = fs::read(file).expect("a readable file");
    let values: Vec<f64> =
        bytes.as_chunks::<8>().0.iter().map(|chunk| f64::from_le_bytes(*chunk)).collect();
    Array2::from_shape_vec((values.len() / width, width), values).expect("whole rows")
}

/// Groups given, four copies without originals, into a buffer.
fn plan(x: &Array2<f64>, copies: usize) -> Plan {
    let y = Array1::<f64>::zeros(x.nrows());
    let samples = Samples::new(x.view(), y.view()).expect("good data");
    let labels: Vec<usize> =
        (0..x.nrows()).map(|i| Seed(1).at(Stream::Sample, 4, i as u64).below(10)).collect();
    let groups = Partition::of_categories(&labels).expect("good labels");
    let fitted = Ada::default().anchors(groups).fit(&samples, Seed(7)).expect("good settings");
    Plan::draw(fitted.as_ref(), Copies::new(copies).originals(false), Seed(7)).expect("a plan")
}

fn ada_kernel(sizes: &Sizes) {
    let x = rows(sizes.kernel, 16);
    let plan = plan(&x, 4);
    let mut out = Array2::<f64>::zeros((4 * x.nrows(), 16));
    let times = time(sizes.repeats, || {
        plan.features_into(x.view(), out.view_mut()).expect("room");
    });
    report("ada_kernel", times, "");
    let mut copy = Array2::<f64>::zeros(out.raw_dim());
    let target = copy.as_slice_mut().expect("standard layout");
    let source = out.as_slice().expect("standard layout");
    report("memcpy", time(sizes.repeats, || target.copy_from_slice(source)), "");
    let parallel = time(sizes.repeats, || {
        use rayon::prelude::*;
        let parts = target.par_chunks_mut(1 << 20).zip(source.par_chunks(1 << 20));
        parts.for_each(|(target, source)| target.copy_from_slice(source));
    });
    report("memcpy_parallel", parallel, "");
    let pool = one_thread();
    let times = time(sizes.repeats, || {
        pool.install(|| plan.features_into(x.view(), out.view_mut()).expect("room"));
    });
    report("ada_kernel_one_thread", times, "");
}

/// All that `ADA.fit_resample` of the Python package does, on given groups and on those that k-means finds.
fn fit_resample(sizes: &Sizes) {
    let x = rows(sizes.kernel, 16);
    let y = x.column(0).to_owned();
    let labels: Vec<u32> = (0..8).cycle().take(x.nrows()).collect();
    let groups = Partition::new(labels, 8).expect("good labels");
    let given = Ada::default().anchors(groups);
    for (name, ada) in [("fit_resample", given), ("fit_resample_kmeans", Ada::default())] {
        let times = time(sizes.repeats, || {
            let samples = Samples::new(x.view(), y.view()).expect("good data");
            let fitted = ada.fit(&samples, Seed(7)).expect("good settings");
            let plan = Plan::draw(fitted.as_ref(), Copies::new(4), Seed(7)).expect("a plan");
            black_box(plan.features(x.view()).expect("good data"));
            black_box(plan.targets(y.view()).expect("good data"));
        });
        report(name, times, "");
    }
}

/// What `ADA.batch` does for 64 rows of 8 features.
fn draw_batch(sizes: &Sizes) {
    let x = rows(1000, 8).mapv(f32::narrow);
    let y = x.column(0).to_owned();
    let samples = Samples::new(x.view(), y.view()).expect("good data");
    let fitted = Ada::default().fit(&samples, Seed(7)).expect("good settings");
    let batch: Vec<usize> = (0..64).map(|row| 7 * row % 1000).collect();
    let (xb, yb) = (x.select(ndarray::Axis(0), &batch), y.select(ndarray::Axis(0), &batch));
    let inner = repeats_of(64, 640 * sizes.kernel / 1_000);
    let (wall, cpu) = time(sizes.repeats, || {
        for step in 0..inner.into() {
            let draw = fitted.draw(Batch::Rows(&batch), Seed(7), step).expect("a draw");
            black_box(draw.features_of(xb.view()).expect("good data"));
            black_box(draw.targets_of(yb.view()).expect("good data"));
        }
    });
    report("draw_batch", (wall / inner, cpu / inner), "");
}

fn ada_batch(sizes: &Sizes) {
    for &n in &sizes.batches {
        let x = rows(n, 8);
        let y = Array2::from_shape_fn((n, 1), |(i, _)| x[(i, 0)]);
        let labels: Vec<u32> = (0..10).cycle().take(n).collect();
        let inner = repeats_of(n, 20_000);
        let (wall, cpu) = time(sizes.repeats, || {
            for _ in 0..inner {
                let groups = Partition::new(labels.clone(), 10).expect("good labels");
                let mixing = Mixing::group_mean(groups, Strength::Shared(2.0)).expect("good gamma");
                black_box(mixing.apply(x.view()).expect("good data"));
                black_box(mixing.apply(y.view()).expect("good data"));
            }
        });
        let each = (wall / inner, cpu / inner);
        report(&format!("ada_batch_{n}"), each, "");
        // The part of it that the exact group sums take.
        let (wall, cpu) = time(sizes.repeats, || {
            for _ in 0..inner {
                for rows in [x.view(), y.view()] {
                    let mut sums = GroupSums::new(10, rows.ncols());
                    sums.add(rows, &labels, None).expect("good data");
                    black_box(sums.finish().expect("good data"));
                }
            }
        });
        report(&format!("ada_sums_{n}"), (wall / inner, cpu / inner), "");
    }
}

fn kmeans(name: &str, x: &Array2<f64>, k: usize, starts: usize) {
    let settings = KMeans { starts, ..KMeans::new(k) };
    for seed in 0..5 {
        let fit = settings.fit(x.view(), None, Seed(seed)).expect("good data");
        let times = time(1, || settings.fit(x.view(), None, Seed(seed)).expect("good data"));
        let (inertia, iterations) = (fit.inertia(), fit.iterations());
        report(name, times, &format!(r#","inertia":{inertia},"iterations":{iterations}"#));
    }
}

fn c_mixup(name: &str, n: usize, draws: usize) {
    let (x, y) = (Array2::<f64>::zeros((n, 1)), targets(n));
    let samples = Samples::new(x.view(), y.view()).expect("good data");
    let settings = CMixup {
        bandwidth: Bandwidth::Absolute(0.1),
        mixup: Mixup { per: Per::Row, ..Mixup::default() },
    };
    let times = time(3, || {
        let fitted = settings.fit_targets(&samples).expect("good settings");
        for step in 0..draws.div_ceil(n) as u64 {
            black_box(fitted.draw(Batch::All, Seed(1), step).expect("a draw"));
        }
    });
    report(name, times, &format!(r#","peak_mib":{:.0}"#, peak_mib()));
}

/// The largest resident memory of this process, where the system says it.
fn peak_mib() -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok());
    kib.map_or(f64::NAN, |kib| kib / 1024.0)
}

fn growth_ada(n: usize) {
    let x = rows(n, 16);
    let plan = plan(&x, 1);
    let mut out = Array2::<f64>::zeros((n, 16));
    let inner = repeats_of(n, 1_000_000);
    let (wall, cpu) = time(3, || {
        for _ in 0..inner {
            plan.features_into(x.view(), out.view_mut()).expect("room");
        }
    });
    report(&format!("growth_ada_{n}"), (wall / inner, cpu / inner), "");
    let source = x.as_slice().expect("standard layout");
    let target = out.as_slice_mut().expect("standard layout");
    let (wall, cpu) = time(3, || {
        (0..inner).for_each(|_| target.copy_from_slice(source));
    });
    report(&format!("growth_memcpy_{n}"), (wall / inner, cpu / inner), "");
}

/// The time of a step, as the difference between a longer and a shorter run.
///
/// One round cloud, where k-means takes many steps.
fn growth_kmeans(n: usize) {
    let mut x = Array2::zeros((n, 16));
    for (i, mut row) in x.rows_mut().into_iter().enumerate() {
        let mut draws = Seed(2311).at(Stream::Sample, 5, i as u64);
        row.mapv_inplace(|_: f64| draws.normal());
    }
    let steps = |steps: usize| {
        let settings =
            KMeans { starts: 1, tolerance: 0.0, max_iterations: steps, ..KMeans::new(10) };
        let fit = || settings.fit(x.view(), None, Seed(3)).expect("good data");
        let repeats = (3_000_000 / n).clamp(3, 30);
        (fit().iterations(), time(repeats, fit))
    };
    let (short, long) = (steps(10), steps(30));
    let each = |long_time: Duration, short_time: Duration| {
        let steps = u32::try_from(long.0 - short.0).unwrap_or(u32::MAX).max(1);
        long_time.saturating_sub(short_time) / steps
    };
    let (wall, cpu) = (each(long.1.0, short.1.0), each(long.1.1, short.1.1));
    report(&format!("growth_kmeans_{n}"), (wall, cpu), "");
}

fn one_thread() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool")
}
