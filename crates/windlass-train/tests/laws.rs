//! Properties of training: it learns, results do not depend on threads or interruptions, and a run that
//! diverges keeps its last good weights.

use std::sync::Arc;

use ndarray::{Array2, Axis, s};
use proptest::prelude::*;
use windlass::{
    Ada, CMixup, Cems, Dataset, Foma, LocalMixup, Method, Mixup, Neighborhood, Noise, Seed, Stream,
};
use windlass_train::{
    Activation, Augment, Error, FittedOn, LayerParameters, Loss, Optimizer, Outcome, RunSpec,
    Schedule, Shape, Shuffle, TrainConfig, Trainer, mean_squared_error, run_all,
};

const NOISE: f64 = 0.1;

/// `y = 2x₁ − x₂ + noise`.
#[expect(clippy::cast_possible_truncation, reason = "rounded")]
fn plane(rows: usize, seed: u64) -> Dataset<f32> {
    let x = Array2::from_shape_fn((rows, 2), |(i, j)| {
        (2.0 * Seed(seed).at(Stream::Sample, j as u64, i as u64).uniform() - 1.0) as f32
    });
    let y = Array2::from_shape_fn((rows, 1), |(i, _)| {
        let noise = NOISE * Seed(seed).at(Stream::TargetNoise, 0, i as u64).normal();
        2.0 * x[(i, 0)] - x[(i, 1)] + noise as f32
    });
    Dataset::new(x, y, None).unwrap()
}

fn spec(train: Dataset<f32>, training: TrainConfig) -> RunSpec {
    RunSpec {
        train: Arc::new(train),
        valid: None,
        shape: Shape::mlp(2, 32, Activation::Relu, 1),
        training,
        augment: None,
        seed: Seed(3),
    }
}

fn training(epochs: usize) -> TrainConfig {
    TrainConfig { epochs, learning_rate: 5e-3, weight_decay: 0.01, ..TrainConfig::default() }
}

fn augments() -> Vec<(&'static str, Option<Augment>)> {
    let some = |method: Arc<dyn Method>, layer, originals, fitted_on| {
        Some(Augment { method, layers: vec![layer], originals, fitted_on })
    };
    let (all, each) = (FittedOn::TrainingRows, FittedOn::Batch);
    let batches = Cems { neighborhood: Neighborhood::Nearest, ..Cems::default() };
    vec![
        ("none", None),
        ("noise", some(Arc::new(Noise::default()), 0, false, all)),
        ("mixup", some(Arc::new(Mixup::default()), 0, false, all)),
        ("manifold mixup", some(Arc::new(Mixup::default()), 1, false, all)),
        ("local mixup", some(Arc::new(LocalMixup::default()), 0, false, all)),
        ("c-mixup", some(Arc::new(CMixup::default()), 1, true, all)),
        ("ada", some(Arc::new(Ada::default().clusters(6)), 0, false, all)),
        ("manifold ada", some(Arc::new(Ada::default().clusters(6)), 1, false, all)),
        ("ada of batches", some(Arc::new(Ada::default().clusters(3)), 1, true, each)),
        ("foma", some(Arc::new(Foma::default()), 0, false, all)),
        ("foma on a hidden layer", some(Arc::new(Foma::default()), 1, false, all)),
        ("foma of batches", some(Arc::new(Foma::default()), 1, true, each)),
        ("cems", some(Arc::new(Cems::default()), 0, false, all)),
        ("cems, neighborhoods as batches", some(Arc::new(batches), 0, false, all)),
        ("cems on a hidden layer", some(Arc::new(Cems::default()), 1, true, all)),
    ]
}

/// Every method learns the plane to the floor of its noise.
#[test]
fn learns_to_the_noise_floor() {
    let test = plane(2000, 99);
    for (name, augment) in augments() {
        let spec = RunSpec {
            valid: Some(Arc::new(plane(200, 8))),
            augment,
            ..spec(plane(400, 7), training(60))
        };
        let result = spec.run(|_| true).unwrap();
        assert_eq!((result.outcome, result.history.len()), (Outcome::Finished, 60), "{name}");
        let error =
            mean_squared_error(&test, &result.network.predict(test.x().view()).unwrap()).sqrt();
        assert!(error < 1.15 * NOISE, "{name}: {error}");
        let best = result.history.iter().filter_map(|epoch| epoch.valid).fold(f64::MAX, f64::min);
        assert_eq!(result.valid, Some(best), "{name}");
        let valid = plane(200, 8);
        let again = mean_squared_error(&valid, &result.network.predict(valid.x().view()).unwrap());
        assert_eq!(again, best, "the weights kept are those of the best epoch: {name}");
    }
}

#[test]
fn ten_points_can_be_memorized() {
    for (activation, optimizer, learning_rate) in [
        (Activation::Relu, Optimizer::adam(), 5e-3),
        (Activation::Tanh, Optimizer::adam_w(), 5e-3),
        (Activation::LeakyRelu(0.1), Optimizer::Sgd { momentum: 0.9 }, 0.05),
        (Activation::Sigmoid, Optimizer::adam(), 0.05),
    ] {
        let training = TrainConfig {
            epochs: 4000,
            batch_size: 5,
            learning_rate,
            weight_decay: 0.0,
            optimizer,
            schedule: Schedule::Cosine,
            ..TrainConfig::default()
        };
        let mut spec = spec(plane(10, 1), training);
        spec.shape = Shape { inputs: 2, hidden: vec![64, 64], outputs: 1, activation };
        let loss = spec.run(|_| true).unwrap().history.last().unwrap().loss;
        assert!(loss < 1e-5, "{activation:?}: {loss}");
    }
}

#[test]
fn results_do_not_depend_on_threads() {
    let specs: Vec<RunSpec> = augments()
        .into_iter()
        .map(|(_, augment)| RunSpec { augment, ..spec(plane(100, 7), training(3)) })
        .collect();
    let networks = |threads: usize| -> Vec<_> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let results = pool.install(|| run_all(&specs, &(), |_, _| {}));
        results.into_iter().map(|result| result.unwrap().network).collect()
    };
    let one = networks(1);
    assert_eq!(one, networks(2));
    assert_eq!(one, networks(4));
    assert!(one.windows(2).all(|pair| pair[0] != pair[1]), "methods differ");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Stopped after any epoch and resumed from bytes: the same weights and history, bit for bit.
    #[test]
    fn resuming_changes_nothing(stop in 0..7_usize, method in 0..15_usize, sgd: bool) {
        let optimizer = if sgd { Optimizer::Sgd { momentum: 0.5 } } else { Optimizer::adam() };
        let training = TrainConfig {
            optimizer,
            schedule: Schedule::Cosine,
            patience: Some(4),
            clip_norm: Some(1.0),
            loss: Loss::Huber(0.5),
            ..training(7)
        };
        let spec = RunSpec {
            valid: Some(Arc::new(plane(30, 8))),
            augment: augments().remove(method).1,
            ..spec(plane(50, 7), training)
        };
        let mut straight = Trainer::new(&spec).unwrap();
        while !straight.is_finished() {
            straight.epoch().unwrap();
        }
        let mut first = Trainer::new(&spec).unwrap();
        for _ in 0..stop {
            first.epoch().unwrap();
        }
        let mut second = Trainer::resume(&spec, &first.save()).unwrap();
        assert!(first.seconds_before() == 0.0 && second.seconds_before() > 0.0);
        while !second.is_finished() {
            second.epoch().unwrap();
        }
        let (straight, second) = (straight.into_result(), second.into_result());
        prop_assert_eq!(straight.network, second.network);
        prop_assert_eq!(straight.history, second.history);
        prop_assert_eq!(straight.outcome, second.outcome);
    }
}

#[test]
fn checkpoints_of_other_runs_are_refused() {
    let spec = spec(plane(20, 7), training(2));
    let mut trainer = Trainer::new(&spec).unwrap();
    trainer.epoch().unwrap();
    let state = trainer.save();
    for other in [
        RunSpec { seed: Seed(4), ..spec.clone() },
        RunSpec { train: Arc::new(plane(20, 8)), ..spec.clone() },
        RunSpec { training: training(3), ..spec.clone() },
    ] {
        let refused = Trainer::resume(&other, &state).unwrap_err();
        assert!(refused.to_string().contains("different rows or settings"), "{refused}");
    }
    for cut in [0, 7, 100, state.len() / 2, state.len() - 1] {
        assert!(matches!(Trainer::resume(&spec, &state[..cut]), Err(Error::BadState { .. })));
    }
    for place in (0..state.len()).step_by(7).chain(state.len() - 40..state.len()) {
        let mut damaged = state.clone();
        damaged[place] ^= 1 << (place % 8);
        let refused = Trainer::resume(&spec, &damaged);
        assert!(matches!(refused, Err(Error::BadState { .. })), "byte {place}");
    }
}

/// A learning rate that is far too large: the last good weights are kept, and the outcome says so.
#[test]
fn a_diverging_run_ends_with_its_last_good_weights() {
    for (name, augment) in augments() {
        let optimizer = Optimizer::Sgd { momentum: 0.9 };
        let training = TrainConfig { optimizer, learning_rate: 50.0, ..training(50) };
        let spec = RunSpec { augment, ..spec(plane(64, 7), training) };
        let result = spec.run(|_| true).unwrap();
        assert_eq!(result.outcome, Outcome::Diverged, "{name}");
        assert!(result.history.len() < 50);
        let finite =
            result.network.to_parameters().iter().all(|LayerParameters { weights, bias }| {
                weights.iter().chain(bias).all(|value| value.is_finite())
            });
        assert!(finite, "{name}");
    }
}

#[test]
fn runs_can_be_cancelled_and_stopped_early() {
    let spec = RunSpec { valid: Some(Arc::new(plane(50, 8))), ..spec(plane(50, 7), training(30)) };
    let result = spec.run(|epoch| epoch.number < 4).unwrap();
    assert_eq!((result.outcome, result.history.len()), (Outcome::Cancelled, 4));
    let training = TrainConfig { patience: Some(2), learning_rate: 0.1, ..training(500) };
    let result = RunSpec { training, ..spec }.run(|_| true).unwrap();
    assert_eq!(result.outcome, Outcome::EarlyStop);
    assert_eq!(result.history.len(), result.epoch + 2);
}

/// Rows of weight 0 are ignored.
#[test]
fn rows_of_weight_zero_are_ignored() {
    let all = plane(24, 7);
    let training = TrainConfig { shuffle: Shuffle::Never, batch_size: 24, ..training(5) };
    let weights: Vec<f64> = (0..24).map(|row| f64::from(u8::from(row < 12))).collect();
    let weighted = Dataset::new(all.x().clone(), all.y().clone(), Some(weights)).unwrap();
    let first = |values: &Array2<f32>| values.slice(s![..12, ..]).to_owned();
    let half = Dataset::new(first(all.x()), first(all.y()), None).unwrap();
    let network =
        |train: Dataset<f32>| spec(train, training.clone()).run(|_| true).unwrap().network;
    let (a, b) = (network(weighted), network(half));
    let x = all.x().view();
    let apart = (&a.predict(x).unwrap() - &b.predict(x).unwrap()).mapv(f32::abs);
    assert!(apart.iter().all(|&off| off < 1e-5));
}

#[test]
fn several_outputs_are_trained_together() {
    let one = plane(200, 7);
    let y = ndarray::concatenate(Axis(1), &[one.y().view(), (-one.y()).view()]).unwrap();
    let both = Dataset::new(one.x().clone(), y, None).unwrap();
    let mut spec = spec(both, training(60));
    spec.shape.outputs = 2;
    let result = spec.run(|_| true).unwrap();
    let predicted = result.network.predict(one.x().view()).unwrap();
    assert!(mean_squared_error(&spec.train, &predicted).sqrt() < 1.2 * NOISE);
}

#[test]
fn invalid_settings_are_refused() {
    let good = spec(plane(20, 7), training(2));
    let refused = |spec: RunSpec| spec.run(|_| true).unwrap_err().to_string();
    let with = |change: &dyn Fn(&mut RunSpec)| {
        let mut spec = good.clone();
        change(&mut spec);
        refused(spec)
    };
    for (words, got) in [
        ("epochs must be", with(&|spec| spec.training.epochs = 0)),
        ("batch must be", with(&|spec| spec.training.batch_size = 0)),
        ("learning rate must be", with(&|spec| spec.training.learning_rate = f64::NAN)),
        ("clip_norm must be", with(&|spec| spec.training.clip_norm = Some(0.0))),
        ("weight decay must be", with(&|spec| spec.training.weight_decay = -1.0)),
        ("delta must be", with(&|spec| spec.training.loss = Loss::Huber(0.0))),
        ("needs at least one feature", with(&|spec| spec.shape.hidden = vec![4, 0])),
        ("at most", with(&|spec| spec.shape.hidden = vec![1 << 40])),
        ("expected 3 features, got 2", with(&|spec| spec.shape.inputs = 3)),
        ("expected 2 targets, got 1", with(&|spec| spec.shape.outputs = 2)),
        (
            "do not fill a batch of 32",
            with(&|spec| {
                (spec.training.batch_size, spec.training.drop_last) = (32, true);
            }),
        ),
        (
            "hidden layer 2 does not exist",
            with(&|spec| {
                spec.augment = Some(Augment::new(Mixup::default()).after(2));
            }),
        ),
        (
            "applies to the input only",
            with(&|spec| {
                spec.augment = Some(Augment::new(Noise::default()).after(1));
            }),
        ),
        (
            "beta must be",
            with(&|spec| {
                spec.training.optimizer = Optimizer::Adam { betas: (1.0, 0.9), epsilon: 1e-8 };
            }),
        ),
    ] {
        assert!(got.contains(words), "{got}");
    }
}

#[test]
fn errors_can_be_sent() {
    fn is_error<E: std::error::Error + Send + Sync + 'static>() {}
    is_error::<Error>();
}

/// Shuffling once and every epoch agree in the first epoch and differ in the second; not shuffling differs.
#[test]
fn shuffles_differ_as_documented() {
    let after = |shuffle: Shuffle, epochs: usize| {
        let training = TrainConfig { shuffle, epochs, ..training(epochs) };
        spec(plane(40, 7), training).run(|_| true).unwrap().network
    };
    assert_eq!(after(Shuffle::Once, 1), after(Shuffle::EveryEpoch, 1));
    assert_ne!(after(Shuffle::Once, 2), after(Shuffle::EveryEpoch, 2));
    assert_ne!(after(Shuffle::Never, 1), after(Shuffle::Once, 1));
}

/// Rows of a last batch that is dropped have no influence.
#[test]
fn a_dropped_batch_has_no_influence() {
    let after = |poison: f32, drop_last: bool| {
        let all = plane(20, 7);
        let mut y = all.y().clone();
        y[(19, 0)] += poison;
        let train = Dataset::new(all.x().clone(), y, None).unwrap();
        let training = TrainConfig { shuffle: Shuffle::Never, drop_last, ..training(3) };
        spec(train, training).run(|_| true).unwrap().network
    };
    assert_eq!(after(0.0, true), after(50.0, true));
    assert_ne!(after(0.0, false), after(50.0, false));
}
