//! What holds of every network and its training.

use std::sync::Arc;

use ndarray::Array2;
use windlass::{Ada, Anchors, CMixup, ClusterOn, Clustering, Dataset, Mixup, Noise, Seed, Stream};
use windlass_paper::networks::{
    DeepArchitecture, DeepDta, Device, Lstnet, NetworkSpec, ResNet18, Tower, sequences,
};
use windlass_train::{
    Augment, Error, Learner, Optimizer, RunSpec, TrainConfig, Trainer, mean_squared_error, run_all,
};

fn wave(shape: (usize, usize), salt: usize) -> Array2<f32> {
    Array2::from_shape_fn(shape, |(i, j)| (((i * 37 + j * 11 + salt) as f32) * 0.7).sin())
}

/// Small networks of every kind, with learnable rows.
fn specs() -> Vec<RunSpec<DeepArchitecture>> {
    let rows = 12;
    let net = Lstnet {
        window: 24,
        series: 2,
        channels: 8,
        kernel: 3,
        hidden: 8,
        skip_hidden: 3,
        skip: 5,
        highway: 4,
        dropout: 0.1,
    };
    let series = |at: f32, which: usize| (at * (0.5 + 0.3 * which as f32)).sin();
    let windows = Array2::from_shape_fn((rows, 48), |(i, j)| series((i * 3 + j / 2) as f32, j % 2));
    let later = Array2::from_shape_fn((rows, 2), |(i, j)| series((i * 3 + 26) as f32, j));

    let images = wave((rows, 3 * 8 * 8), 1);
    let brightness = Array2::from_shape_fn((rows, 1), |(i, _)| images.row(i).sum() / 8.0);

    let tower =
        |alphabet, length, kernels| Tower { alphabet, length, channels: [8, 12, 16], kernels };
    let dta = DeepDta {
        drug: tower(5, 14, [2, 3, 3]),
        protein: tower(4, 22, [3, 3, 4]),
        units: 16,
        predictor: [16, 8, 8],
    };
    let letters = Array2::from_shape_fn((rows, 36), |(i, j)| {
        let alphabet = if j < 14 { 5 } else { 4 };
        Seed(3).at(Stream::Sample, i as u64, j as u64).below(alphabet) as f32
    });
    let binding = wave((rows, 1), 5);
    let spec = |description, x, y, rate| RunSpec {
        train: Arc::new(Dataset::new(x, y, None).unwrap()),
        valid: None,
        shape: DeepArchitecture::new(description, Device::Cpu).unwrap(),
        training: TrainConfig {
            epochs: 6,
            batch_size: 6,
            learning_rate: rate,
            weight_decay: 0.0,
            optimizer: Optimizer::adam(),
            ..TrainConfig::default()
        },
        augment: None,
        seed: Seed(1),
    };
    let resnet = ResNet18 { side: 8, widths: [4, 4, 6, 6], weights: None };
    vec![
        spec(NetworkSpec::Lstnet(net), windows, later, 1e-2),
        spec(NetworkSpec::Resnet18(resnet), images, brightness, 1e-2),
        spec(NetworkSpec::Deepdta(dta), letters, binding, 3e-3),
    ]
}

/// Groups of similar targets: letters are no numbers.
fn ada() -> Ada {
    Ada::default().anchors(Anchors::KMeans(Clustering {
        clusters: 3.into(),
        on: ClusterOn::Y,
        ..Clustering::default()
    }))
}

fn with_methods(spec: &RunSpec<DeepArchitecture>) -> Vec<RunSpec<DeepArchitecture>> {
    let layers = spec.shape.description().layers();
    let augments = [
        None,
        Some(Augment::new(ada())),
        Some(Augment::new(ada()).after(layers)),
        Some(Augment::new(Mixup::default()).after_one_of((0..=layers).collect())),
        Some(Augment { originals: true, ..Augment::new(CMixup::default()).after(1) }),
    ];
    augments.map(|augment| RunSpec { augment, ..spec.clone() }).to_vec()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn a_few_rows_are_fitted_exactly() {
    for spec in specs() {
        let name = spec.shape.description().name();
        let mut spec = spec;
        spec.training = TrainConfig { epochs: 150, batch_size: 12, ..spec.training };
        if let NetworkSpec::Lstnet(net) = spec.shape.description() {
            // With dropout a network cannot fit its rows exactly.
            let net = Lstnet { dropout: 0.0, ..net.clone() };
            spec.shape = DeepArchitecture::new(NetworkSpec::Lstnet(net), Device::Cpu).unwrap();
        }
        let result = spec.run(|_| true).unwrap();
        let (first, last) = (result.history[0].loss, result.history[149].loss);
        assert!(last < 1e-3 && last < first / 50.0, "{name}: from {first} to {last}");
        let predicted = result.network.predict(spec.train.x().view()).unwrap();
        let error = mean_squared_error(&spec.train, &predicted);
        // Batch normalization remembers a mean of the last batches, which were not quite these.
        assert!(error < 0.05, "{name}: {error}");
    }
}

#[test]
fn resumed_runs_end_with_the_same_bits() {
    for spec in specs().iter().flat_map(with_methods) {
        let mut spec = spec;
        let few: Vec<usize> = (0..4).collect();
        spec.valid = Some(Arc::new(spec.train.select(&few).unwrap()));
        spec.training.epochs = 4;
        let whole = spec.run(|_| true).unwrap();
        let mut begun = Trainer::new(&spec).unwrap();
        begun.epoch().unwrap();
        begun.epoch().unwrap();
        let saved = begun.save();
        drop(begun);
        let mut resumed = Trainer::resume(&spec, &saved).unwrap();
        while !resumed.is_finished() {
            resumed.epoch().unwrap();
        }
        let resumed = resumed.into_result();
        assert_eq!(whole.history, resumed.history);
        assert_eq!(bits(whole.network.parameters()), bits(resumed.network.parameters()));
    }
}

#[test]
fn bits_do_not_depend_on_threads() {
    let specs: Vec<RunSpec<DeepArchitecture>> = specs().iter().flat_map(with_methods).collect();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let results = pool.install(|| run_all(&specs, &(), |_, _| {}));
        let values = |result: Result<_, _>| {
            let result: windlass_train::RunResult<windlass_paper::networks::DeepNetwork> =
                result.unwrap();
            bits(result.network.parameters())
        };
        results.into_iter().map(values).collect::<Vec<_>>()
    };
    assert_eq!(on(1), on(3));
}

/// Networks of the published sizes, whose products are large enough to be spread over threads.
#[test]
fn bits_of_large_networks_do_not_depend_on_threads() {
    let networks = [
        (NetworkSpec::Lstnet(Lstnet::default()), 64),
        (NetworkSpec::Resnet18(ResNet18::default()), 16),
    ];
    for (description, batch) in networks {
        let train = Dataset::new(
            wave((batch, description.inputs()), 2),
            wave((batch, description.outputs()), 3),
            None,
        );
        let spec = RunSpec {
            train: Arc::new(train.unwrap()),
            valid: None,
            shape: DeepArchitecture::new(description, Device::Cpu).unwrap(),
            training: TrainConfig { epochs: 2, batch_size: batch, ..TrainConfig::default() },
            augment: Some(Augment::new(ada()).after(1)),
            seed: Seed(5),
        };
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            bits(pool.install(|| spec.run(|_| true).unwrap()).network.parameters())
        };
        assert_eq!(on(1), on(3), "{:?}", spec.shape);
    }
}

#[test]
fn seeds_and_methods_differ() {
    for spec in specs() {
        let run = |spec: &RunSpec<DeepArchitecture>| {
            bits(spec.run(|_| true).unwrap().network.parameters())
        };
        let mut seen: Vec<Vec<u32>> = with_methods(&spec).iter().map(run).collect();
        seen.push(run(&RunSpec { seed: Seed(2), ..spec.clone() }));
        for (place, one) in seen.iter().enumerate() {
            assert!(!seen[..place].contains(one), "{:?}, {place}", spec.shape);
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let refused =
        |description| DeepArchitecture::new(description, Device::Cpu).unwrap_err().to_string();
    let net = Lstnet { window: 20, ..Lstnet::default() };
    assert_eq!(
        refused(NetworkSpec::Lstnet(net)),
        "LSTNet: a window of 20 steps is too short for a kernel of 6, a skip of 24 and a highway of 24"
    );
    let net = Lstnet { dropout: 1.0, ..Lstnet::default() };
    assert_eq!(refused(NetworkSpec::Lstnet(net)), "LSTNet: `dropout` must be in [0, 1), got 1");
    let net = ResNet18 { widths: [4, 0, 4, 4], ..ResNet18::default() };
    assert_eq!(refused(NetworkSpec::Resnet18(net)), "ResNet-18: `widths` must be 1 or more");
    let mut net = DeepDta::default();
    net.drug.length = 15;
    assert_eq!(
        refused(NetworkSpec::Deepdta(net)),
        "DeepDTA: 15 letters are too few for kernels of [4, 6, 8]"
    );
    if !cfg!(feature = "cuda") {
        let deep = DeepArchitecture::new(
            NetworkSpec::Resnet18(ResNet18::default()),
            "cuda:1".parse().unwrap(),
        );
        let message = deep.unwrap_err().to_string();
        assert_eq!(message, "this build does not include cuda: build it with `--features cuda`");
    }
    assert!("tpu".parse::<Device>().is_err());

    for spec in specs() {
        let layers = spec.shape.description().layers();
        let after = |layer| Some(Augment::new(Mixup::default()).after(layer));
        let spec_with = |augment| RunSpec { augment, ..spec.clone() };
        let error = spec_with(after(layers + 1)).run(|_| true).unwrap_err();
        assert_eq!(error, Error::NoSuchLayer { layer: layers + 1, hidden: layers });
        let none = Augment::new(Mixup::default()).after_one_of(vec![]);
        assert_eq!(spec_with(Some(none)).run(|_| true).unwrap_err(), Error::NoLayer);
        // Letters and hidden layers are no place for noise.
        let noise = Augment::new(Noise::default());
        let noisy = spec_with(Some(noise)).run(|_| true);
        let encoded = matches!(spec.shape.description(), NetworkSpec::Deepdta(_));
        assert_eq!(noisy.is_err(), encoded, "{:?}", spec.shape);
    }
}

/// Codes as the published encoder gives them enter the network of the published size.
#[test]
fn sequences_fit_the_published_network() {
    let deep =
        DeepArchitecture::new(NetworkSpec::Deepdta(DeepDta::default()), Device::Cpu).unwrap();
    let row = [sequences::drug("CC(=O)O"), sequences::protein("MKTAYIAK")].concat();
    let x = Array2::from_shape_vec((1, row.len()), row).unwrap();
    let network = windlass_train::Architecture::network(&deep, Seed(0)).unwrap();
    let out = network.predict(x.view()).unwrap();
    assert!(out[(0, 0)].is_finite());
    assert!(network.predict(x.slice(ndarray::s![.., 1..])).is_err());
}
