//! Models of tables against the mathematics they are made of.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use ndarray::Array2;
use tempfile::TempDir;
use windlass::regress::{AnchorRegression, Ridge};
use windlass::{
    Copies, Method as _, MethodInfo, MethodParams, Noise, NoiseUnits, Partition, Plan, Samples,
    Seed, Stream,
};
use windlass_model::{
    AutoConfig, Error, ForestSettings, Input, Kind, Model, ModelConfig, NetworkConfig,
    PreAugmentConfig, Preprocessing, Scaling, Split, Trained, Validation,
};
use windlass_table::{
    AnchorSource, ClusterCount, Columns, DEFAULT_MEMORY, LoadedTable, MethodConfig, ReadOptions,
    Table,
};
use windlass_train::{Activation, Training};

struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn frame(&self, name: &str, text: &str, columns: &Columns) -> (LoadedTable, PathBuf) {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        let table = Table::open(std::slice::from_ref(&path), &ReadOptions::default()).unwrap();
        (LoadedTable::load(&table, columns, false, DEFAULT_MEMORY, &()).unwrap(), path)
    }
}

fn columns() -> Columns {
    Columns { target: vec!["y".into()], carry: vec!["site".into()], ..Columns::default() }
}

fn recipe(kind: Kind) -> ModelConfig {
    ModelConfig {
        columns: columns(),
        drop_missing_target: false,
        scaling: Scaling::Standard,
        target_scaling: Scaling::Standard,
        kind,
        enlarge: None,
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
        let deviation = column.mapv(|value| (value - mean).powi(2)).mean().unwrap().sqrt();
        column.mapv_inplace(|value| (value - mean) / deviation);
    }
    out
}

/// Ridge and anchor regression are the closed forms on standardized columns.
#[test]
fn linear_models_are_the_library_s() {
    let desk = Desk::new();
    let (text, x, y, sites) = data(60, 1);
    let (frame, path) = desk.frame("t.csv", &text, &columns());
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
        let trained = Model::train((&frame, &path), None, &recipe(kind), &(), None).unwrap();
        let (names, got) = trained.model.linear().unwrap();
        assert_eq!(names, ["a", "b"]);
        for (got, want) in got.coefficients().iter().zip(want.coefficients()) {
            assert!((got - want).abs() < 1e-12, "{got} {want}");
        }
        let bytes = trained.model.to_bytes();
        assert_eq!(Model::from_bytes(&bytes, Path::new("m")).unwrap(), trained.model);
    }
}

/// Rows made beforehand are those of the library, on scaled numbers; and nothing augments them again.
#[test]
fn rows_made_beforehand_are_learnt_from() {
    let desk = Desk::new();
    let (text, x, y, _) = data(60, 1);
    let (frame, path) = desk.frame("t.csv", &text, &columns());
    let (x, y) = (standardized(&x), standardized(&y));
    let samples = Samples::new(x.view(), y.view()).unwrap();
    let fitted = Noise::default()
        .target_noise(3.0)
        .noise_units(NoiseUnits::Absolute)
        .fit(&samples, Seed(5))
        .unwrap();
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
    let enlarge = Some(PreAugmentConfig { method, copies: 4 });
    let enlarged = |recipe: ModelConfig| ModelConfig { enlarge: enlarge.clone(), ..recipe };
    let ridge = enlarged(recipe(Kind::Ridge { penalty: 2.5 }));
    let trained = Model::train((&frame, &path), None, &ridge, &(), None).unwrap();
    let got = trained.model.linear().unwrap().1;
    for (got, want) in got.coefficients().iter().zip(want.coefficients()) {
        assert!((got - want).abs() < 1e-12, "{got} {want}");
    }
    let auto = AutoConfig { folds: 2, split: Split::Rows, larger_shifts: false };
    let refused =
        Model::train((&frame, &path), None, &enlarged(recipe(Kind::Auto(auto))), &(), None);
    assert!(matches!(refused, Err(Error::DoesNotApply { .. })));
}

fn network(valid: Validation) -> ModelConfig {
    recipe(Kind::Network(Box::new(NetworkConfig {
        hidden: vec![8],
        activation: Activation::Tanh,
        training: Training { epochs: 5, ..Training::default() },
        augment: None,
        valid,
        split: Split::Rows,
        valid_seed: None,
    })))
}

/// What is done to rows before every member.
fn prepared(trained: &Trained) -> Vec<Preprocessing> {
    trained.model.card().members.iter().map(|member| member.preparation.clone()).collect()
}

/// Poisoned validation rows change nothing that is learnt: not the scaling, not a step.
#[test]
fn nothing_leaks_from_validation_rows() {
    let desk = Desk::new();
    let (text, ..) = data(60, 1);
    let (frame, path) = desk.frame("t.csv", &text, &columns());
    let train = |valid: &str| -> Trained {
        let (valid, valid_path) = desk.frame("v.csv", valid, &columns());
        let valid = Some((&valid, valid_path.as_path()));
        Model::train((&frame, &path), valid, &network(Validation::Given), &(), None).unwrap()
    };
    let clean = train(&data(20, 2).0);
    let poison = train("a,b,site,y\n1e9,-1e9,s9,1e9\n-1e9,5.5,s9,-1e9\n");
    let losses = |trained: &Trained| -> Vec<f64> {
        trained.histories[0].iter().map(|epoch| epoch.loss).collect()
    };
    assert_eq!(losses(&clean), losses(&poison));
    assert_eq!(prepared(&clean), prepared(&poison));
    assert_ne!(clean.histories, poison.histories);

    // Rows that are held out of the same table do not count in its scaling.
    let held =
        Model::train((&frame, &path), None, &network(Validation::Share(0.5)), &(), None).unwrap();
    assert_ne!(prepared(&held), prepared(&clean));
    assert_eq!(held.model.card().train.rows, 30);
}

/// A committee's validation error is that of rows which their own network has not seen: every row once.
#[test]
fn a_committee_uses_every_row() {
    let desk = Desk::new();
    let (text, ..) = data(50, 3);
    let (frame, path) = desk.frame("t.csv", &text, &columns());
    let trained =
        Model::train((&frame, &path), None, &network(Validation::Folds(5)), &(), None).unwrap();
    assert_eq!((trained.model.committee(), trained.histories.len()), (5, 5));
    assert_eq!(trained.model.card().valid.unwrap().rows, 50);
    let predicted = trained.model.predict(&frame.batch, &path, 0).unwrap();
    assert!(predicted.spread.unwrap().iter().all(|&spread| spread > 0.0));
    let offsets: Vec<f64> = prepared(&trained)
        .iter()
        .map(|preparation| match &preparation.inputs[0] {
            Input::Continuous { scale, .. } => scale.offset,
            Input::Categorical { .. } => panic!("`a` is a number"),
        })
        .collect();
    assert!(offsets.windows(2).all(|pair| pair[0] != pair[1]), "each has its own scaling");
    let bytes = trained.model.to_bytes();
    assert_eq!(Model::from_bytes(&bytes, Path::new("m")).unwrap(), trained.model);
}

/// A forest comes back from its file, and predicts better than a line where there is a step.
#[test]
fn forests_are_models_too() {
    let desk = Desk::new();
    let (text, ..) = data(80, 3);
    let (frame, path) = desk.frame("t.csv", &text, &columns());
    let settings = ForestSettings { trees: 30, ..ForestSettings::default() };
    let trained =
        Model::train((&frame, &path), None, &recipe(Kind::Forest(settings)), &(), None).unwrap();
    let bytes = trained.model.to_bytes();
    let read = Model::from_bytes(&bytes, &path).unwrap();
    assert_eq!(read, trained.model);
    assert!(trained.model.card().train.r2.unwrap() > 0.9);
    // A file in which a child stands before its parent would never end.
    let card_end = 8 + usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
    let mut broken = bytes.clone();
    broken[card_end..].fill(0);
    let refused = Model::from_bytes(&broken, &path).unwrap_err().to_string();
    assert!(refused.contains("not a model of windlass"), "{refused}");
}

/// Domains whose hidden cause moves feature and target together; `far` is how much larger shifts are than in training.
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

/// Expecting larger shifts pays where they come, and costs where they do not.
#[test]
fn larger_shifts_are_met_when_they_are_expected() {
    let desk = Desk::new();
    let (frame, path) = desk.frame("t.csv", &confounded(1, 20, 1.0), &columns());
    let train = |larger_shifts| {
        let split = Split::Groups("site".into());
        let kind = Kind::Auto(AutoConfig { folds: 4, split, larger_shifts });
        Model::train((&frame, &path), None, &recipe(kind), &(), None).unwrap().model
    };
    let (usual, wary) = (train(false), train(true));
    let error = |model: &Model, far: f64| {
        let (test, path) = desk.frame("test.csv", &confounded(2, 40, far), &columns());
        model.evaluate(&test, &path).unwrap().1.rmse
    };
    let (strong, same) = (3.0, 1.0);
    let (gain, cost) =
        (error(&wary, strong) / error(&usual, strong), error(&wary, same) / error(&usual, same));
    assert!(gain < 0.8, "under larger shifts {gain}");
    assert!(cost > 0.98, "without them {cost}");
    let choice = wary.card().choice.as_ref().unwrap();
    let far = choice.far_groups.as_ref().unwrap();
    assert!(far.chooses_anchors() && far.groups.len() == 7);
    assert_eq!(choice.candidates.iter().filter(|candidate| candidate.share > 0.0).count(), 1);
    // Errors on left-out domains are what other domains of the same kind have.
    let expected = usual.card().valid.unwrap().rmse / error(&usual, same);
    assert!((0.75..1.35).contains(&expected), "{expected}");
    assert!(usual.card().choice.as_ref().unwrap().worst.is_some());
}

/// Shares of what was chosen add up, members come back from a file, and the same seed chooses the same.
#[test]
fn a_choice_is_a_committee() {
    let desk = Desk::new();
    let (text, ..) = data(40, 3);
    let (frame, path) = desk.frame("t.csv", &text, &columns());
    let kind = Kind::Auto(AutoConfig { folds: 2, split: Split::Rows, larger_shifts: false });
    let train = || Model::train((&frame, &path), None, &recipe(kind.clone()), &(), None).unwrap();
    let model = train().model;
    let choice = model.card().choice.as_ref().unwrap();
    let shares: f64 = choice.candidates.iter().map(|candidate| candidate.share).sum();
    assert!((shares - 1.0).abs() < 1e-12);
    assert!(choice.candidates.windows(2).all(|two| two[0].rmse <= two[1].rmse));
    assert_eq!(choice.fits, 2 * choice.candidates.len());
    assert_eq!(Model::from_bytes(&model.to_bytes(), &path).unwrap(), model);
    assert_eq!(train().model.to_bytes(), model.to_bytes());
    // The target is linear with little noise, so what was chosen is nearly right.
    assert!(model.card().valid.unwrap().rmse < 3.0);
}
