//! Models of tables against the core's regressions and methods.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{DictionaryArray, RecordBatch};
use ndarray::Array2;
use tempfile::TempDir;
use windlass::regress::{AnchorRegression, Ridge};
use windlass::{
    Copies, Method as _, MethodInfo, MethodParams, Noise, NoiseUnits, Partition, Plan, Samples,
    Seed, Stream,
};
use windlass_model::{
    AutoConfig, BoostingSettings, CrossValidation, DensityWeights, Drift, Error, ForestSettings,
    GaussianProcessSettings, Input, Kind, Model, ModelConfig, NamedTable, NetworkConfig,
    NetworkOptions, OptimizerName, PreAugmentConfig, Preprocessing, Scaling, Split, Trained,
    Validation,
};
use windlass_table::{
    AnchorSource, ClusterCount, Columns, DEFAULT_MEMORY, LoadedTable, MethodConfig, ReadOptions,
    Table,
};
use windlass_train::{Activation, Schedule, TrainConfig};

#[path = "../../../fuzz/targets/model_file.rs"]
#[allow(unreachable_pub, reason = "a module of the fuzzer")]
mod model_file;

/// Files of the fuzzing corpus, and those that 0.1.0 wrote, are read, or return an error.
#[test]
fn the_fuzzing_corpus_does_not_panic() {
    let folders = ["../../fuzz/corpus/model", "../windlass-cli/tests/release-0.1.0"];
    let files: Vec<_> =
        folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap()).collect();
    assert!((4..=50).contains(&files.len()), "{}", files.len());
    for file in files {
        model_file::read_model(&std::fs::read(file.unwrap().path()).unwrap());
    }
}

/// A directory for the tables of a test.
struct TestDir(TempDir);

impl TestDir {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn load(&self, name: &str, text: &str, columns: &Columns) -> Loaded {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        let table = Table::open(std::slice::from_ref(&path), &ReadOptions::default()).unwrap();
        let table = LoadedTable::load(&table, columns, false, DEFAULT_MEMORY, &()).unwrap();
        Loaded { table, path }
    }
}

struct Loaded {
    table: LoadedTable,
    path: PathBuf,
}

impl Loaded {
    fn named(&self) -> NamedTable<'_> {
        NamedTable { table: &self.table, path: &self.path }
    }

    fn train(&self, config: &ModelConfig) -> Result<Trained, Error> {
        Model::train(self.named(), None, config, &(), None)
    }
}

fn columns() -> Columns {
    Columns { target: vec!["y".into()], carry: vec!["site".into()], ..Columns::default() }
}

fn config(kind: Kind) -> ModelConfig {
    ModelConfig {
        columns: columns(),
        drop_missing_target: false,
        scaling: Scaling::Standard,
        target_scaling: Scaling::Standard,
        kind,
        pre_augment: None,
        density_weights: None,
        cross_validation: None,
        seed: 5,
    }
}

/// Two features, a site and a target, as text and as numbers.
fn data(rows: usize, seed: u64) -> (String, Array2<f64>, Array2<f64>, Vec<u32>) {
    let draw = |step, row| Seed(seed).at(Stream::Sample, step, row as u64).normal();
    let sites: Vec<u32> = (0..4).cycle().take(rows).collect();
    let x = Array2::from_shape_fn((rows, 2), |(row, column)| {
        10.0 * draw(column as u64, row) + f64::from(sites[row])
    });
    let y = Array2::from_shape_fn((rows, 1), |(row, _)| {
        3.0 * x[(row, 0)] - x[(row, 1)] + draw(7, row) + 100.0
    });
    let mut text = String::from("a,b,site,y\n");
    for row in 0..rows {
        let line = format!("{},{},s{},{}\n", x[(row, 0)], x[(row, 1)], sites[row], y[(row, 0)]);
        text.push_str(&line);
    }
    (text, x, y, sites)
}

fn standardized(values: &Array2<f64>) -> Array2<f64> {
    let mut out = values.clone();
    for mut column in out.columns_mut() {
        let mean = column.mean().unwrap();
        let std = column.mapv(|value| (value - mean).powi(2)).mean().unwrap().sqrt();
        column.mapv_inplace(|value| (value - mean) / std);
    }
    out
}

/// Ridge and anchor regression equal those of the core on standardized columns.
#[test]
fn linear_models_equal_the_core() {
    let dir = TestDir::new();
    let (text, x, y, sites) = data(60, 1);
    let table = dir.load("t.csv", &text, &columns());
    let (x, y) = (standardized(&x), standardized(&y));
    let samples = Samples::new(x.view(), y.view()).unwrap();
    let sites = Partition::new(sites, 4).unwrap();
    let anchors = AnchorSource::Column("site".into());
    for (kind, want) in [
        (Kind::Ridge { penalty: 2.5 }, Ridge::new(2.5).fit(&samples).unwrap()),
        (
            Kind::Anchor { anchors, clusters: ClusterCount::Auto, gamma: 7.0, penalty: 0.5 },
            AnchorRegression::new(7.0).penalty(0.5).fit(&samples, &sites).unwrap(),
        ),
    ] {
        let trained = table.train(&config(kind)).unwrap();
        let (names, got) = trained.model.linear().unwrap();
        assert_eq!(names, ["a", "b"]);
        for (got, want) in got.coefficients().iter().zip(want.coefficients()) {
            assert!((got - want).abs() < 1e-12, "{got} {want}");
        }
        let bytes = trained.model.to_bytes();
        assert_eq!(Model::from_bytes(&bytes, Path::new("m")).unwrap(), trained.model);
    }
}

/// Density weights are row weights of the core, fitted on the training rows of each fold; an average is that of a model
/// with and one without them, also out of fold, and its file is read again. Errors are not weighted.
#[test]
fn density_weights_and_their_average() {
    let dir = TestDir::new();
    let (text, _, y, _) = data(60, 1);
    let weights = windlass::density_weights(&y.iter().copied().collect::<Vec<_>>(), 0.9).unwrap();
    let by_column = Columns { weight: Some("w".into()), ..columns() };
    let weighted = |name: &str, weight: &dyn Fn(usize) -> f64| {
        let mut lines = text.lines();
        let mut weighted = format!("{},w\n", lines.next().unwrap());
        for (row, line) in lines.enumerate() {
            writeln!(weighted, "{line},{}", weight(row)).unwrap();
        }
        dir.load(name, &weighted, &by_column)
    };
    // Rows with weights have another order, in which trees draw them.
    let explicit = weighted("w.csv", &|row| weights[row]);
    let ones = weighted("ones.csv", &|_| 1.0);
    let table = dir.load("t.csv", &text, &columns());
    let cross_validation = Some(CrossValidation { folds: 3, split: Split::Rows });
    let density = |alpha, average| Some(DensityWeights { alpha, average });
    let network = NetworkOptions { epochs: Some(3), hidden: Some(vec![4]), ..Default::default() };
    for kind in [
        Kind::Ridge { penalty: 0.1 },
        Kind::Boosting(BoostingSettings { trees: 10, ..BoostingSettings::default() }),
        Kind::Network(Box::new(network.config(Validation::Folds(3)))),
    ] {
        let is_network = matches!(kind, Kind::Network(_));
        let plain = ModelConfig {
            cross_validation: cross_validation.clone().filter(|_| !is_network),
            ..config(kind)
        };
        let train = |density_weights| {
            table.train(&ModelConfig { density_weights, ..plain.clone() }).unwrap().model
        };
        let (without, with, both) =
            (train(None), train(density(1.0, false)), train(density(1.0, true)));
        let predict =
            |model: &Model| model.predict(&table.table.batch, &table.path, 0).unwrap().mean;
        if !is_network {
            // Scaling uses the weight column, but not density weights: compare unscaled columns.
            let raw = |columns: Columns, density_weights| ModelConfig {
                columns,
                density_weights,
                scaling: Scaling::None,
                target_scaling: Scaling::None,
                ..plain.clone()
            };
            let raw = |density_weights| raw(by_column.clone(), density_weights);
            let own = ones.train(&raw(density(0.9, false))).unwrap().model;
            let given = explicit.train(&raw(None)).unwrap().model;
            let far =
                predict(&own) - given.predict(&explicit.table.batch, &table.path, 0).unwrap().mean;
            assert!(far.iter().all(|far| far.abs() < 1e-9), "{far}");
        }
        assert_ne!(predict(&without), predict(&with));
        let far = predict(&both) * 2.0 - predict(&without) - predict(&with);
        assert!(far.iter().all(|far| far.abs() < 1e-6), "{far}");
        let held_out = |model: &Model| model.out_of_fold().unwrap().predicted.clone();
        let far = held_out(&both) * 2.0 - held_out(&without) - held_out(&with);
        assert!(far.iter().all(|far| far.abs() < 1e-6), "{far}");
        assert_eq!(with.out_of_fold().unwrap().weights, None);
        assert!(both.intervals(0.9).is_ok());
        let bytes = both.to_bytes();
        assert_eq!(Model::from_bytes(&bytes, Path::new("m")).unwrap(), both);
        assert_eq!(train(density(0.0, false)).metadata().valid, without.metadata().valid);
    }
}

/// Rows added before training equal those of the core on scaled columns; other augmentation is refused.
#[test]
fn pre_augmentation_equals_the_core() {
    let dir = TestDir::new();
    let (text, x, y, _) = data(60, 1);
    let table = dir.load("t.csv", &text, &columns());
    let (x, y) = (standardized(&x), standardized(&y));
    let samples = Samples::new(x.view(), y.view()).unwrap();
    let (target_noise, noise_units) = (3.0, NoiseUnits::Absolute);
    let noise = Noise { target_noise, noise_units, ..Noise::default() };
    let fitted = noise.fit(&samples, Seed(5)).unwrap();
    let plan = Plan::draw(fitted.as_ref(), Copies::new(4), Seed(5)).unwrap();
    let (more_x, more_y) = (plan.features(x.view()).unwrap(), plan.targets(y.view()).unwrap());
    assert_eq!(more_x.nrows(), 300);
    let more = Samples::new(more_x.view(), more_y.view()).unwrap();
    let want = Ridge::new(2.5).fit(&more).unwrap();
    let params = MethodParams {
        target_noise: Some(3.0),
        noise_units: Some(NoiseUnits::Absolute),
        ..MethodParams::default()
    };
    let method = MethodConfig::new(MethodInfo::named("noise").unwrap(), &params).unwrap();
    let pre_augment = Some(PreAugmentConfig { method, copies: 4 });
    let augmented = |kind| ModelConfig { pre_augment: pre_augment.clone(), ..config(kind) };
    let trained = table.train(&augmented(Kind::Ridge { penalty: 2.5 })).unwrap();
    let got = trained.model.linear().unwrap().1;
    for (got, want) in got.coefficients().iter().zip(want.coefficients()) {
        assert!((got - want).abs() < 1e-12, "{got} {want}");
    }
    let auto = AutoConfig { folds: 2, ..AutoConfig::new(Split::Rows) };
    let refused = table.train(&augmented(Kind::Auto(auto)));
    assert!(matches!(refused, Err(Error::PreAugmented)));
}

fn network(valid: Validation) -> ModelConfig {
    config(Kind::Network(Box::new(NetworkConfig {
        hidden: vec![8],
        activation: Activation::Tanh,
        training: TrainConfig { epochs: 5, ..TrainConfig::default() },
        augment: None,
        valid,
        split: Split::Rows,
        valid_seed: None,
    })))
}

/// The preprocessing of every member.
fn preprocessings(trained: &Trained) -> Vec<Preprocessing> {
    trained.model.metadata().members.iter().map(|member| member.preprocessing.clone()).collect()
}

/// Poisoned validation rows change neither the preprocessing nor a training step.
#[test]
fn nothing_leaks_from_validation_rows() {
    let dir = TestDir::new();
    let (text, ..) = data(60, 1);
    let table = dir.load("t.csv", &text, &columns());
    let train = |valid: &str| -> Trained {
        let valid = dir.load("v.csv", valid, &columns());
        let config = network(Validation::Table);
        Model::train(table.named(), Some(valid.named()), &config, &(), None).unwrap()
    };
    let clean = train(&data(20, 2).0);
    let poison = train("a,b,site,y\n1e9,-1e9,s9,1e9\n-1e9,5.5,s9,-1e9\n");
    let losses = |trained: &Trained| -> Vec<f64> {
        trained.histories[0].iter().map(|epoch| epoch.loss).collect()
    };
    assert_eq!(losses(&clean), losses(&poison));
    assert_eq!(preprocessings(&clean), preprocessings(&poison));
    assert_ne!(clean.histories, poison.histories);

    // Rows that are held out of the same table do not count in its scaling.
    let held = table.train(&network(Validation::Fraction(0.5))).unwrap();
    assert_ne!(preprocessings(&held), preprocessings(&clean));
    assert_eq!(held.model.metadata().train.rows, 30);
}

/// The validation error of an ensemble is that of its out-of-fold predictions, which cover every row once.
#[test]
fn an_ensemble_uses_every_row() {
    let dir = TestDir::new();
    let (text, ..) = data(50, 3);
    let table = dir.load("t.csv", &text, &columns());
    let trained = table.train(&network(Validation::Folds(5))).unwrap();
    assert_eq!((trained.model.member_count(), trained.histories.len()), (5, 5));
    assert_eq!(trained.model.metadata().valid.unwrap().rows, 50);
    let predicted = trained.model.predict(&table.table.batch, &table.path, 0).unwrap();
    assert!(predicted.std.unwrap().iter().all(|&std| std > 0.0));
    let offsets: Vec<f64> = preprocessings(&trained)
        .iter()
        .map(|preprocessing| match &preprocessing.inputs[0] {
            Input::Continuous { scale, .. } => scale.offset,
            Input::Categorical { .. } => panic!("`a` is a number"),
        })
        .collect();
    assert!(offsets.windows(2).all(|pair| pair[0] != pair[1]), "each member has its own scaling");
    let bytes = trained.model.to_bytes();
    assert_eq!(Model::from_bytes(&bytes, Path::new("m")).unwrap(), trained.model);
}

/// Trees of every kind are read back from their files, and a damaged file is refused.
#[test]
fn trees_are_saved_and_read() {
    let forest = ForestSettings { trees: 30, ..ForestSettings::default() };
    let boosting = BoostingSettings { trees: 100, ..BoostingSettings::default() };
    for kind in [Kind::Forest(forest.clone()), Kind::ExtraTrees(forest), Kind::Boosting(boosting)] {
        saved_and_read(kind);
    }
}

fn saved_and_read(kind: Kind) {
    let dir = TestDir::new();
    let (text, ..) = data(80, 3);
    let table = dir.load("t.csv", &text, &columns());
    let trained = table.train(&config(kind)).unwrap();
    let bytes = trained.model.to_bytes();
    let read = Model::from_bytes(&bytes, &table.path).unwrap();
    assert_eq!(read, trained.model);
    assert!(trained.model.metadata().train.r2.unwrap() > 0.9);
    // If a child came before its parent, prediction would not terminate.
    let header_end =
        8 + usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
    let mut broken = bytes.clone();
    broken[header_end..].fill(0);
    let refused = Model::from_bytes(&broken, &table.path).unwrap_err().to_string();
    assert!(refused.contains("not a model file"), "{refused}");
}

/// A Gaussian process is read back from its file, and has the same bits every time.
#[test]
fn gaussian_processes_are_saved_and_read() {
    let dir = TestDir::new();
    let kind = || Kind::GaussianProcess(GaussianProcessSettings::default());
    let (text, ..) = data(80, 3);
    let table = dir.load("t.csv", &text, &columns());
    let mut settings = config(kind());
    settings.cross_validation = Some(CrossValidation { folds: 4, split: Split::Rows });
    let trained = table.train(&settings).unwrap();
    assert!(trained.model.metadata().train.r2.unwrap() > 0.9);
    assert!(trained.model.metadata().valid.as_ref().unwrap().r2.unwrap() > 0.8);
    let bytes = trained.model.to_bytes();
    assert_eq!(Model::from_bytes(&bytes, &table.path).unwrap(), trained.model);
    assert_eq!(table.train(&settings).unwrap().model.to_bytes(), bytes);
}

/// Domains with a hidden confounder of feature and target; `far` scales the shifts between domains.
fn confounded(seed: u64, domains: u64, far: f64) -> String {
    let mut text = String::from("x,z,site,y\n");
    for domain in 0..domains {
        let draw = |step, row| Seed(seed).at(Stream::Sample, 100 * domain + step, row).normal();
        let shift = far * draw(0, 0);
        for row in 0..12 {
            let hidden = draw(1, row);
            let x = shift + hidden + 0.3 * draw(2, row);
            let z = draw(3, row);
            let y = x + z + 2.0 * hidden + 0.3 * draw(4, row);
            writeln!(text, "{x},{z},d{domain},{y}").unwrap();
        }
    }
    text
}

/// Expecting larger shifts reduces the error under larger shifts, and costs a little otherwise.
#[test]
fn expecting_larger_shifts_pays_under_larger_shifts() {
    let dir = TestDir::new();
    let table = dir.load("t.csv", &confounded(1, 20, 1.0), &columns());
    let train = |larger_shifts| {
        let split = Split::Domain("site".into());
        let kind = Kind::Auto(AutoConfig { larger_shifts, ..AutoConfig::new(split) });
        table.train(&config(kind)).unwrap().model
    };
    let (usual, wary) = (train(false), train(true));
    let error = |model: &Model, far: f64| {
        let test = dir.load("test.csv", &confounded(2, 40, far), &columns());
        model.evaluate(test.named()).unwrap().1.rmse
    };
    let (strong, same) = (3.0, 1.0);
    let (gain, cost) =
        (error(&wary, strong) / error(&usual, strong), error(&wary, same) / error(&usual, same));
    assert!(gain < 0.8, "under larger shifts {gain}");
    assert!(cost > 0.98, "without them {cost}");
    let selection = wary.metadata().selection.as_ref().unwrap();
    let far = selection.far_groups.as_ref().unwrap();
    assert!(far.chooses_anchors() && far.groups.len() == 7);
    assert_eq!(selection.portfolio.iter().filter(|entry| entry.weight > 0.0).count(), 1);
    // Errors on held-out domains estimate those on new domains of the same kind.
    let expected = usual.metadata().valid.unwrap().rmse / error(&usual, same);
    assert!((0.75..1.35).contains(&expected), "{expected}");
    assert!(usual.metadata().selection.as_ref().unwrap().worst.is_some());
}

/// Weights add up to 1, members are read back from a file, and the same seed selects the same.
#[test]
fn automatic_selection_is_an_ensemble() {
    let dir = TestDir::new();
    let (text, ..) = data(40, 3);
    let table = dir.load("t.csv", &text, &columns());
    let kind = Kind::Auto(AutoConfig { folds: 2, ..AutoConfig::new(Split::Rows) });
    let train = || table.train(&config(kind.clone())).unwrap();
    let model = train().model;
    let selection = model.metadata().selection.as_ref().unwrap();
    let weights: f64 = selection.portfolio.iter().map(|entry| entry.weight).sum();
    assert!((weights - 1.0).abs() < 1e-12);
    assert!(selection.portfolio.windows(2).all(|two| two[0].rmse <= two[1].rmse));
    // Ridge regression has a weight, and is fitted again on all rows.
    assert!(selection.fits > 2 * selection.portfolio.len());
    assert_eq!(Model::from_bytes(&model.to_bytes(), &table.path).unwrap(), model);
    assert_eq!(train().model.to_bytes(), model.to_bytes());
    // The target is linear with little noise, so the error is small.
    assert!(model.metadata().valid.unwrap().rmse < 3.0);
}

/// Weight decay and schedule fit the learning rate and the table, unless they are given; the metadata of a model has
/// what was used.
#[test]
fn default_weight_decay_fits_the_learning_rate() {
    let training = |options: NetworkOptions| options.training();
    let at = |rate| NetworkOptions { learning_rate: Some(rate), ..NetworkOptions::default() };
    let usual = training(NetworkOptions::default());
    assert_eq!((usual.weight_decay, usual.schedule), (0.5, Schedule::Constant));
    for (rate, decay, schedule) in [
        (0.001, 0.5, Schedule::Constant),
        (0.002, 0.5, Schedule::Constant),
        (0.01, 0.1, Schedule::Cosine),
        (0.02, 0.05, Schedule::Cosine),
    ] {
        let found = training(at(rate));
        assert_eq!((found.weight_decay, found.schedule), (decay, schedule), "{rate}");
        // 20 batches of 16 rows have all of it, 80 a 256th, and a cosine.
        let (small, large) = (found.for_rows(320), found.for_rows(1280));
        assert_eq!((small.weight_decay, small.schedule), (decay, schedule));
        assert_eq!((large.weight_decay, large.schedule), (decay / 256.0, Schedule::Cosine));
    }
    let given = training(NetworkOptions {
        weight_decay: Some(0.3),
        schedule: Some(Schedule::Constant),
        ..at(0.01)
    });
    assert_eq!((given.weight_decay, given.schedule), (0.3, Schedule::Constant));
    let large = given.for_rows(5000);
    assert_eq!((large.weight_decay, large.schedule), (0.3, Schedule::Constant));
    let optimizer = Some(OptimizerName::Adam);
    assert_eq!(training(NetworkOptions { optimizer, ..at(0.01) }).weight_decay, 0.0);

    let dir = TestDir::new();
    let table = dir.load("t.csv", &data(400, 1).0, &columns());
    let options = NetworkOptions { epochs: Some(1), hidden: Some(vec![4]), ..at(0.004) };
    let network = options.config(Validation::Fraction(0.2));
    let trained = table.train(&config(Kind::Network(Box::new(network)))).unwrap();
    let Kind::Network(used) = &trained.model.metadata().config.kind else { unreachable!() };
    assert_eq!(used.training.weight_decay, 0.25);
    let small = NetworkOptions { batch_size: Some(4), ..options }.config(Validation::Fraction(0.2));
    let trained = table.train(&config(Kind::Network(Box::new(small)))).unwrap();
    let Kind::Network(used) = &trained.model.metadata().config.kind else { unreachable!() };
    assert_eq!(
        (used.training.weight_decay, used.training.adapt_weight_decay),
        (0.25 / 256.0, false)
    );
    assert_eq!((used.training.schedule, used.training.adapt_schedule), (Schedule::Cosine, false));
}

/// A season, a trend and errors that resemble those of the days before; the rows from `first` on.
fn sales(seed: u64, days: std::ops::Range<u64>) -> String {
    let mut text = String::from("day,temperature,offer,site,y\n");
    let mut error = 0.0;
    for day in 0..days.end {
        let draw = |step| Seed(seed).at(Stream::Sample, step, day).normal();
        error = 0.9 * error + 2.0 * draw(0);
        let season = (std::f64::consts::TAU * day as f64 / 365.0).sin();
        let temperature = 10.0 + 8.0 * season + 3.0 * draw(1);
        let offer = u8::from(draw(2) > 0.8);
        let y = 60.0 + 0.03 * day as f64 + temperature + 6.0 * f64::from(offer) + error;
        if days.contains(&day) {
            writeln!(text, "{day}.0,{temperature},{offer},s,{y}").unwrap();
        }
    }
    text
}

/// The error that forward chaining expects is that of the next rows in time; that of random rows is far lower.
#[test]
fn the_error_expected_by_time_is_that_of_the_next_rows() {
    const DAYS: u64 = 600;
    let dir = TestDir::new();
    // The geometric mean over tables of the ratio of true and expected error.
    let ratio =
        |kind: &dyn Fn(Split) -> ModelConfig, split: &Split, seeds: std::ops::Range<u64>| {
            let mut sum = 0.0;
            for seed in seeds.clone() {
                let table = dir.load("past.csv", &sales(seed, 0..DAYS), &columns());
                let next = dir.load("next.csv", &sales(seed, DAYS..DAYS + 100), &columns());
                let model = table.train(&kind(split.clone())).unwrap().model;
                let expected = model.metadata().valid.unwrap().rmse;
                let ratio = model.evaluate(next.named()).unwrap().1.rmse / expected;
                sum += ratio.ln();
            }
            (sum / (seeds.end - seeds.start) as f64).exp()
        };
    let validated = |kind: Kind, split| ModelConfig {
        cross_validation: Some(CrossValidation { folds: 5, split }),
        ..config(kind)
    };
    let forest = |split| {
        validated(Kind::Forest(ForestSettings { trees: 30, ..ForestSettings::default() }), split)
    };
    let ridge = |split| validated(Kind::Ridge { penalty: 1.0 }, split);
    let committee = |split| {
        let mut config = network(Validation::Folds(4));
        if let Kind::Network(network) = &mut config.kind {
            network.training.epochs = 20;
            network.split = split;
        }
        config
    };
    let by_time = Split::Time("day".into());
    for (name, kind) in [
        ("forest", &forest as &dyn Fn(Split) -> ModelConfig),
        ("ridge", &ridge),
        ("committee", &committee),
    ] {
        let forward = ratio(kind, &by_time, 0..12);
        assert!((0.8..1.25).contains(&forward), "{name} by time: {forward}");
    }
    // Neighbors in time resemble each other, so that random rows are too easy.
    let random = ratio(&forest, &Split::Rows, 0..4);
    assert!(random > 1.4, "forest by rows: {random}");
}

/// Models that are validated by time are trained on the latest rows, too.
#[test]
fn the_latest_rows_are_trained_on() {
    let dir = TestDir::new();
    let train = |config: &ModelConfig, last: f64| {
        let mut text = String::from("a,site,y\n");
        for day in 0..40 {
            let y = if day < 36 { f64::from(day % 5) } else { last };
            writeln!(text, "{day}.5,s,{y}").unwrap();
        }
        dir.load("t.csv", &text, &columns()).train(config).unwrap()
    };
    let by_time = |valid| {
        let mut config = network(valid);
        if let Kind::Network(network) = &mut config.kind {
            network.split = Split::Time("a".into());
        }
        config
    };
    let auto = AutoConfig { folds: 2, ..AutoConfig::new(Split::Time("a".into())) };
    for config in [
        by_time(Validation::Fraction(0.1)),
        by_time(Validation::Folds(3)),
        config(Kind::Auto(auto)),
    ] {
        let (low, high) = (train(&config, 1.0), train(&config, 9.0));
        let card = low.model.metadata();
        assert_eq!(card.train.rows, 40);
        assert!(card.valid.unwrap().rows <= 20);
        let scale = |trained: &Trained| preprocessings(trained)[0].targets[0].scale;
        // The scaling of the target is that of all rows.
        let mean =
            |last: f64| ((0..36).map(|day| f64::from(day % 5)).sum::<f64>() + 4.0 * last) / 40.0;
        assert!((scale(&low).offset - mean(1.0)).abs() < 1e-9);
        assert!((scale(&high).offset - mean(9.0)).abs() < 1e-9);
        assert_eq!(card.drift.as_ref().unwrap().time.as_deref(), Some("a"));
    }
}

/// Columns that differ between the halves are named, and those that only count rows are not.
#[test]
fn drift_is_noticed() {
    let dir = TestDir::new();
    let mut text = String::from("id,day,a,b,kind,site,y\n");
    for row in 0..400_u64 {
        let draw = |step| Seed(3).at(Stream::Sample, step, row).normal();
        let late = row >= 200;
        let kind = if late && draw(3) > -0.5 { "new" } else { "old" };
        let a = draw(0) + if late { 1.0 } else { 0.0 };
        let day = 1 + row % 400 / 20;
        writeln!(text, "{row},2024-05-{day:02},{a},{},{kind},s,{}", draw(1), draw(2) - a).unwrap();
    }
    let table = dir.load("t.csv", &text, &columns());
    let drift = Drift::check(&table.table, &Split::Rows).unwrap();
    let names: Vec<&str> = drift.columns.iter().map(|column| column.name.as_str()).collect();
    assert_eq!(names, ["y", "a", "kind"]);
    assert_eq!(drift.tested, 4);
    assert_eq!(
        drift.to_string(),
        "`y`, `a` and `kind` differ between the first and the last half of the file (Kolmogorov–Smirnov at \
         level 0.001 over 4 columns); the error of later rows may be higher"
    );
    let table = dir.load("t.csv", &data(400, 2).0, &columns());
    let drift = Drift::check(&table.table, &Split::Rows).unwrap();
    assert_eq!(
        drift.to_string(),
        "none between the first and the last half of the file (Kolmogorov–Smirnov at level 0.001 over 3 columns)"
    );
}

/// Every byte of a model file is covered by its checksum, or by the format.
#[test]
fn damaged_models_are_refused() {
    let (text, ..) = data(40, 3);
    let table = TestDir::new().load("t.csv", &text, &columns());
    for kind in [
        Kind::Ridge { penalty: 1.0 },
        Kind::Forest(ForestSettings { trees: 2, leaf: 10, ..ForestSettings::default() }),
        Kind::GaussianProcess(GaussianProcessSettings::default()),
    ] {
        let model = table.train(&config(kind)).unwrap().model;
        let bytes = model.to_bytes();
        assert_eq!(model.to_bytes(), bytes);
        for place in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1 << (place % 8);
            assert!(Model::from_bytes(&damaged, &table.path).is_err(), "byte {place}");
        }
        // A file of 0.1.0 has no checksum.
        let (size, header) = bytes.split_at(8);
        let size = usize::try_from(u64::from_le_bytes(size.try_into().unwrap())).unwrap();
        let (header, tensors) = header.split_at(size);
        let header = std::str::from_utf8(header).unwrap();
        let (start, end) = header.split_once(r#",\"hash\":\"xxh3-128:"#).unwrap();
        let header = format!("{start}{}", &end[32 + r#"\""#.len()..]);
        let old = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), tensors].concat();
        assert_eq!(Model::from_bytes(&old, &table.path).unwrap(), model);
    }
}

/// The design matrix of a model with many levels is made block by block, which changes nothing.
#[test]
fn wide_models_predict_in_blocks() {
    let rows = |count: usize| {
        let mut text = String::from("a,site,y\n");
        for row in 0..count {
            writeln!(text, "{}.5,s{},{}.25", row * 37 % 101, row % 500, row % 11).unwrap();
        }
        text
    };
    let columns = Columns {
        target: vec!["y".into()],
        categorical: vec!["site".into()],
        ..Columns::default()
    };
    let folder = TestDir::new();
    let table = folder.load("t.csv", &rows(1000), &columns);
    let config = ModelConfig { columns: columns.clone(), ..config(Kind::Ridge { penalty: 1.0 }) };
    let model = table.train(&config).unwrap().model;
    let batch = folder.load("many.csv", &rows(20_000), &columns).table.batch;
    let whole = model.predict(&batch, &table.path, 0).unwrap().mean;
    for start in (0..20_000).step_by(1000) {
        let part = model.predict(&batch.slice(start, 1000), &table.path, 0).unwrap().mean;
        assert_eq!(whole.slice(ndarray::s![start..start + 1000, ..]), part);
    }
}

/// A gross outlier among new rows is predicted as a row at most one range outside of the training rows, by all models
/// but linear ones, also after a model was saved.
#[test]
fn gross_outliers_are_limited() {
    let dir = TestDir::new();
    let mut text = String::from("a,b,site,y\n");
    for row in 0..60 {
        let (a, b) = (row % 11, row * 7 % 13);
        writeln!(text, "{a},{b}.5,s,{}", 3 * a - b + row % 3).unwrap();
    }
    let table = dir.load("train.csv", &text, &columns());
    // The range of `a` is 0 to 10.
    let rows = "a,b,site,y\n20,1,s,0\n1e9,1,s,0\n-10,1,s,0\n-1e9,1,s,0\n15,1,s,0\n";
    let new = dir.load("new.csv", rows, &columns());
    for kind in [
        Kind::Auto(AutoConfig { folds: 3, ..AutoConfig::new(Split::Rows) }),
        network(Validation::None).kind,
        Kind::GaussianProcess(GaussianProcessSettings::default()),
        Kind::Ridge { penalty: 1.0 },
    ] {
        let is_linear = matches!(kind, Kind::Ridge { .. });
        let trained = table.train(&config(kind)).unwrap();
        let read = Model::from_bytes(&trained.model.to_bytes(), &table.path).unwrap();
        for model in [trained.model, read] {
            let made = model.predict(&new.table.batch, &new.path, 0).unwrap().mean;
            let at = |row: usize| made[(row, 0)];
            assert_eq!(at(0) == at(1) && at(2) == at(3), !is_linear);
            assert_ne!(at(4), at(0), "values within a range of it still count");
        }
    }
}

/// A ridge regression validated by folds: its intervals by the definition of CV+, and how many new rows they cover.
#[test]
fn intervals_are_those_of_cv_plus() {
    let dir = TestDir::new();
    let table = dir.load("train.csv", &data(120, 1).0, &columns());
    let new = dir.load("new.csv", &data(4_000, 2).0, &columns());
    let cross_validation = Some(CrossValidation { folds: 4, split: Split::Rows });
    let config = ModelConfig { cross_validation, ..config(Kind::Ridge { penalty: 1.0 }) };
    let model = table.train(&config).unwrap().model;
    let (predictions, _) = model.evaluate(new.named()).unwrap();
    let bounds = |model: &Model, level: f64| {
        let intervals = model.intervals(level).unwrap();
        intervals.bounds(&new.table.batch, &new.path, 0, &predictions).unwrap()
    };
    let made = bounds(&model, 0.9);

    // The rows of a fold, and the model that was not trained on them, by hand.
    let out_of_fold = model.out_of_fold().unwrap();
    assert_eq!(out_of_fold.rows.len(), 120);
    let mut rows = out_of_fold.rows.clone();
    rows.sort_unstable();
    assert!(rows.into_iter().eq(0..120));
    let (mut lower, mut upper) = (vec![], vec![]);
    for fold in 0..4 {
        let of_fold = |row: &usize| out_of_fold.folds[*row] == fold;
        let held_out: Vec<usize> = (0..120).filter(of_fold).collect();
        let others = (0..120).filter(|row| !of_fold(row));
        let mut train: Vec<usize> =
            others.map(|row| usize::try_from(out_of_fold.rows[row]).unwrap()).collect();
        train.sort_unstable();
        let part = Loaded { table: table.table.select(&train), path: table.path.clone() };
        let alone = part.train(&self::config(Kind::Ridge { penalty: 1.0 })).unwrap().model;
        let center =
            alone.predict(&new.table.batch.slice(0, 1), &new.path, 0).unwrap().mean[(0, 0)];
        for row in held_out {
            let residual = (out_of_fold.y[(row, 0)] - out_of_fold.predicted[(row, 0)]).abs();
            lower.push(center - residual);
            upper.push(center + residual);
        }
    }
    lower.sort_by(f64::total_cmp);
    upper.sort_by(f64::total_cmp);
    // ⌊0.1 · 121⌋ = 12 and ⌈0.9 · 121⌉ = 109, from 1.
    assert!((made.low[(0, 0)] - lower[11]).abs() < 1e-9);
    assert!((made.high[(0, 0)] - upper[108]).abs() < 1e-9);

    let y = new.table.batch.column_by_name("y").unwrap();
    let y = windlass_table::to_f64(y);
    let covered = |bounds: &windlass_model::PredictionBounds| {
        let inside =
            |&row: &usize| (bounds.low[(row, 0)]..=bounds.high[(row, 0)]).contains(&y.value(row));
        (0..4_000).filter(inside).count() as f64 / 4_000.0
    };
    assert!((0.85..0.96).contains(&covered(&made)), "{}", covered(&made));
    assert!(covered(&bounds(&model, 0.5)) < 0.62);

    // The file has all of it; without the members of folds, intervals are centered at the prediction.
    let mut read = Model::from_bytes(&model.to_bytes(), Path::new("model")).unwrap();
    assert_eq!(read, model);
    read.drop_fold_members();
    let compact = Model::from_bytes(&read.to_bytes(), Path::new("model")).unwrap();
    assert!(compact.to_bytes().len() < model.to_bytes().len());
    let centered = bounds(&compact, 0.9);
    let middle = (&centered.low + &centered.high) / 2.0;
    assert!((&middle - &predictions.mean).iter().all(|off| off.abs() < 1e-9));
    assert!((0.85..0.96).contains(&covered(&centered)));

    assert!(matches!(model.intervals(0.995), Err(Error::FewHeldOut { needed: 199, .. })));
    let unvalidated = self::config(Kind::Ridge { penalty: 1.0 });
    let unvalidated = table.train(&unvalidated).unwrap().model;
    assert!(matches!(unvalidated.intervals(0.9), Err(Error::NothingHeldOut)));
    assert!(model.intervals(1.0).is_err() && model.intervals(f64::NAN).is_err());
}

/// Members of a committee are their own fold members; automatic selection keeps those of its folds.
#[test]
fn ensembles_keep_what_intervals_need() {
    let dir = TestDir::new();
    let table = dir.load("train.csv", &data(60, 1).0, &columns());
    let auto = AutoConfig { folds: 3, ..AutoConfig::new(Split::Rows) };
    for config in [network(Validation::Folds(3)), config(Kind::Auto(auto))] {
        let model = table.train(&config).unwrap().model;
        let out_of_fold = model.out_of_fold().unwrap();
        assert_eq!(out_of_fold.folds.len(), 60);
        let (predictions, _) = model.evaluate(table.named()).unwrap();
        let intervals = model.intervals(0.8).unwrap();
        let bounds = intervals.bounds(&table.table.batch, &table.path, 0, &predictions).unwrap();
        assert!((&bounds.high - &bounds.low).iter().all(|width| *width > 0.0));
        assert!((&predictions.mean - &bounds.low).iter().all(|off| *off >= 0.0));
        let metadata = model.metadata();
        for fold in 0..3 {
            let members = metadata.members.iter().chain(&metadata.fold_members);
            let parts = members.filter_map(|member| member.fold).filter(|part| part.fold == fold);
            let total: f64 = parts.map(|part| part.weight).sum();
            assert!((total - 1.0).abs() < 1e-9, "{total}");
        }
        assert_eq!(Model::from_bytes(&model.to_bytes(), Path::new("model")).unwrap(), model);
    }
}

/// With little time only the first entries of the portfolio are fitted, and the metadata names the others.
#[test]
fn automatic_selection_stops_in_time() {
    let dir = TestDir::new();
    let table = dir.load("t.csv", &data(60, 3).0, &columns());
    let train = |time_limit| {
        let auto = AutoConfig { folds: 2, time_limit, ..AutoConfig::new(Split::Rows) };
        table.train(&config(Kind::Auto(auto)))
    };
    let model = train(Some(1e-6)).unwrap().model;
    let selection = model.metadata().selection.as_ref().unwrap();
    assert_eq!((selection.portfolio.len(), model.member_count()), (1, 1));
    assert!(!selection.not_fitted.is_empty());
    assert_eq!(Model::from_bytes(&model.to_bytes(), &table.path).unwrap(), model);
    let model = train(Some(1e9)).unwrap().model;
    assert!(model.metadata().selection.as_ref().unwrap().not_fitted.is_empty());
    assert!(train(Some(f64::NAN)).is_err() && train(Some(0.0)).is_err());
}

/// Weights that are whole numbers are repeated rows, in any order, and a row of weight 0 is absent: for every kind of
/// model, also out of fold.
#[test]
fn a_row_of_weight_2_is_two_rows() {
    let dir = TestDir::new();
    let (text, ..) = data(45, 8);
    let mut lines: Vec<&str> = text.lines().collect();
    let header = lines.remove(0);
    let (mut repeated, mut weighted) = (format!("{header}\n"), format!("{header},w\n"));
    for (row, line) in lines.iter().enumerate() {
        repeated.push_str(&format!("{line}\n").repeat(row % 4));
        // 45 and 7 have no common divisor.
        let row = row * 7 % 45;
        writeln!(weighted, "{},{}", lines[row], row % 4).unwrap();
    }
    let by_column = Columns { weight: Some("w".into()), ..columns() };
    let repeated = dir.load("repeated.csv", &repeated, &columns());
    let weighted = dir.load("weighted.csv", &weighted, &by_column);
    let boosting = BoostingSettings { trees: 20, ..BoostingSettings::default() };
    let forest = ForestSettings { trees: 10, ..ForestSettings::default() };
    let network = NetworkOptions { epochs: Some(5), hidden: Some(vec![6]), ..Default::default() };
    for kind in [
        Kind::Ridge { penalty: 0.1 },
        Kind::Forest(forest.clone()),
        Kind::ExtraTrees(forest),
        Kind::Boosting(boosting),
        Kind::GaussianProcess(GaussianProcessSettings::default()),
        Kind::Network(Box::new(network.config(Validation::Folds(3)))),
    ] {
        let is_network = matches!(kind, Kind::Network(_));
        let folds = CrossValidation { folds: 3, split: Split::Rows };
        let plain = ModelConfig {
            cross_validation: Some(folds).filter(|_| !is_network),
            ..config(kind.clone())
        };
        let by_weight = ModelConfig { columns: by_column.clone(), ..plain.clone() };
        let models =
            [repeated.train(&plain).unwrap().model, weighted.train(&by_weight).unwrap().model];
        let [a, b] = models.each_ref().map(|model| {
            (model.predict(&weighted.table.batch, &weighted.path, 0).unwrap(), model.out_of_fold())
        });
        assert_eq!(a, b, "{kind:?}");
        assert_eq!(models[0].metadata().rows, 66);
        assert_eq!(models[1].metadata().rows, 45);
        let notes = models.each_ref().map(|model| model.metadata().notes.join("; "));
        assert!(notes[0].contains("33 of 66 rows are copies of others"), "{}", notes[0]);
        assert!(!notes[1].contains("copies"), "{}", notes[1]);
    }
}

/// There are at most as many folds as rows; copies of a row are in one fold.
#[test]
fn few_distinct_rows_make_few_folds() {
    let dir = TestDir::new();
    let copies = "a,b,site,y\n".to_owned() + &"1,2,s,3\n2,5,s,4\n4,1,s,7\n".repeat(4);
    let table = dir.load("t.csv", &copies, &columns());
    let folds = CrossValidation { folds: 5, split: Split::Rows };
    let ridge =
        ModelConfig { cross_validation: Some(folds), ..config(Kind::Ridge { penalty: 1.0 }) };
    let model = table.train(&ridge).unwrap().model;
    assert_eq!(model.metadata().config.cross_validation.as_ref().unwrap().folds, 3);
    assert_eq!(model.out_of_fold().unwrap().weights, Some(vec![4.0; 3]));
    let once = dir.load("once.csv", "a,b,site,y\n1,2,s,3\n2,5,s,4\n4,1,s,7\n", &columns());
    let model = once.train(&ridge).unwrap().model;
    assert_eq!(model.metadata().config.cross_validation.as_ref().unwrap().folds, 3);
    assert_eq!(model.out_of_fold().unwrap().weights, None);
}

/// Text is text however it is stored, even if all of its levels are new.
#[test]
fn new_levels_of_a_dictionary_are_predicted() {
    let dir = TestDir::new();
    let (text, ..) = data(40, 2);
    let columns = Columns { carry: vec![], ..columns() };
    let table = dir.load("t.csv", &text, &columns);
    let ridge = ModelConfig { columns, ..config(Kind::Ridge { penalty: 1.0 }) };
    let model = table.train(&ridge).unwrap().model;
    let rows = table.table.batch.slice(0, 3);
    let (schema, mut columns) = (rows.schema(), rows.columns().to_vec());
    let sites: DictionaryArray<Int32Type> = ["x", "y", "x"].into_iter().collect();
    columns[schema.index_of("site").unwrap()] = Arc::new(sites);
    let names = schema.fields().iter().map(|field| field.name());
    let rows = RecordBatch::try_from_iter(names.zip(columns)).unwrap();
    assert_eq!(model.unknown_categories(&rows)["site"], 3);
}
