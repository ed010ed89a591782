//! The guarantees of a comparison: equal conditions, no leakage, results independent of the order of runs.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;
use windlass::{Seed, Stream};
use windlass_compare::{
    AddTo, AddedRows, Candidate, CandidateSummary, CompareConfig, Comparison, Error, Finding, Fold,
    GroupError, Key, MethodName, ModelName, ProvidedSplits, Run, RunDir, RunPlan, RunProgress,
    SplitOverlap, SplitRule,
};
use windlass_model::{NamedTable, NetworkConfig, Scaling, Split, Validation};
use windlass_table::{Columns, DEFAULT_MEMORY, LoadedTable, ReadOptions, Table};
use windlass_train::{Activation, TrainConfig};

fn draw(step: u64, row: usize) -> f64 {
    Seed(11).at(Stream::Sample, step, row as u64).normal()
}

/// Two features, a kind, a site, a day and a target. Rows selected by `poison` have absurd values.
fn text(rows: usize, poison: impl Fn(usize) -> bool) -> String {
    let mut text = String::from("a,b,kind,site,day,y\n");
    for row in 0..rows {
        let (a, b) = (draw(0, row), draw(1, row));
        let y = 2.0 * a - b + if row % 3 == 0 { 1.0 } else { 0.0 } + 0.3 * draw(2, row);
        let kind = ["u", "v", "w"][row % 3];
        let line = if poison(row) {
            format!("{},{},zzz,s{},{row},{}\n", 1e6 * a, -1e7, row % 6, 1e8 * (y - 3.0))
        } else {
            format!("{a},{b},{kind},s{},{row},{y}\n", row % 6)
        };
        text.push_str(&line);
    }
    text
}

fn loaded(folder: &TempDir, name: &str, text: &str, columns: &Columns) -> LoadedTable {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    let table = Table::open(&[path], &ReadOptions::default()).unwrap();
    LoadedTable::load(&table, columns, false, DEFAULT_MEMORY, &()).unwrap()
}

fn config(rule: SplitRule) -> CompareConfig {
    CompareConfig {
        columns: Columns {
            target: vec!["y".into()],
            carry: vec!["site".into(), "day".into()],
            ..Columns::default()
        },
        rare: None,
        drop_missing_target: false,
        scaling: Scaling::Standard,
        target_scaling: Scaling::Standard,
        methods: MethodName::all(),
        models: vec![ModelName::Mlp, ModelName::Ridge, ModelName::Forest],
        rows: vec![],
        specs: vec![],
        rule,
        folds: 3,
        repeats: 1,
        sizes: vec![None],
        tune: 2,
        network: NetworkConfig {
            hidden: vec![8, 8],
            activation: Activation::Relu,
            training: TrainConfig { epochs: 4, ..TrainConfig::default() },
            augment: None,
            valid: Validation::Fraction(0.2),
            split: Split::Rows,
            valid_seed: None,
        },
        seed: 5,
    }
}

fn rows(table: &LoadedTable) -> NamedTable<'_> {
    NamedTable { table, path: Path::new("t.csv") }
}

/// Runs without their durations.
fn timeless(mut runs: Vec<Run>) -> Vec<Run> {
    for run in &mut runs {
        run.seconds = 0.0;
    }
    runs
}

/// Everything but the test errors.
fn training_outcome(run: &Run) -> String {
    format!("{:?} {:?} {} {}", run.key, run.trials, run.chosen, run.diverged)
}

fn named(name: &str) -> MethodName {
    MethodName::named(name).unwrap()
}

/// The number of candidates: a network with every method, ridge and a forest.
fn candidates() -> usize {
    MethodName::all().len() + 2
}

/// The place of a method among all.
fn place_of(method: MethodName) -> usize {
    MethodName::all().into_iter().position(|other| other == method).unwrap()
}

/// Test rows do not influence training: neither validation errors nor settings that are relative to distances.
#[test]
fn nothing_leaks_from_test_rows() {
    let folder = tempfile::tempdir().unwrap();
    for rule in [
        SplitRule::HeldOut(Split::Rows),
        SplitRule::HeldOut(Split::Group("site".into())),
        SplitRule::HeldOut(Split::Domain("site".into())),
        SplitRule::HeldOut(Split::Time("day".into())),
    ] {
        let config = config(rule);
        let clean = loaded(&folder, "clean.csv", &text(60, |_| false), &config.columns);
        let whole = Comparison::new(&config, rows(&clean), None).unwrap();
        let expected = whole.run(vec![], &()).unwrap();
        let split = &whole.splits()[1];
        let in_test = |row: usize| split.test.contains(&row);
        let later = |row: usize| !split.train.contains(&row);
        for poisoned in [&in_test as &dyn Fn(usize) -> bool, &later] {
            let dirty = loaded(&folder, "dirty.csv", &text(60, poisoned), &config.columns);
            let other = Comparison::new(&config, rows(&dirty), None).unwrap();
            assert_eq!(&other.splits()[1], split);
            let other = other.run(vec![], &()).unwrap();
            let of_fold = |runs: &[Run]| -> Vec<Run> {
                runs.iter().filter(|run| run.key.fold == split.fold).cloned().collect()
            };
            let (clean, dirty) = (of_fold(&expected), of_fold(&other));
            assert_eq!(clean.len(), candidates());
            for (clean, dirty) in clean.iter().zip(&dirty) {
                assert_eq!(training_outcome(clean), training_outcome(dirty));
                // The poisoned rows were tested on.
                assert!(dirty.metrics.rmse > 1e3 * clean.metrics.rmse);
            }
        }
    }
}

/// Every candidate has the same rows, seed, training steps and number of settings; the placebo has another seed.
#[test]
fn conditions_are_equal() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(SplitRule::HeldOut(Split::Rows));
    let table = loaded(&folder, "t.csv", &text(60, |_| false), &config.columns);
    let comparison = Comparison::new(&config, rows(&table), None).unwrap();
    let runs = comparison.run(vec![], &()).unwrap();
    assert_eq!(runs.len(), 3 * candidates());
    for fold in 0..3 {
        let of_fold: Vec<&Run> = runs.iter().filter(|run| run.key.fold == fold).collect();
        let erm = of_fold[0];
        assert_eq!(erm.key.candidate.method, Some(MethodName::Erm));
        for run in &of_fold {
            assert_eq!((run.seed, run.train_rows), (erm.seed, 40));
            assert_eq!((run.trials.len(), run.metrics.rows), (2, 20));
            assert_eq!(run.predicted.len(), 20);
            let (windlass_model::Kind::Network(own), windlass_model::Kind::Network(base)) =
                (&run.trials[1].kind, &erm.trials[1].kind)
            else {
                continue;
            };
            assert_eq!((&own.training, &own.hidden), (&base.training, &base.hidden));
        }
        let placebo =
            of_fold.iter().find(|run| run.key.candidate.method == Some(MethodName::Placebo));
        // It has the same validation rows.
        let mut kind = placebo.unwrap().trials[0].kind.clone();
        if let windlass_model::Kind::Network(network) = &mut kind {
            assert_eq!(network.valid_seed.take(), Some(erm.seed));
        }
        assert_eq!(kind, erm.trials[0].kind);
        assert_ne!(placebo.unwrap().metrics, erm.metrics);
    }
}

/// Cancels after some runs.
struct CancelAfter<'a> {
    left: AtomicUsize,
    seen: Mutex<Vec<Key>>,
    folder: Option<&'a RunDir>,
}

impl RunProgress for CancelAfter<'_> {
    fn done(&self, run: &Run, _done: usize, _all: usize) -> Result<(), Error> {
        let _ =
            self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        self.seen.lock().unwrap().push(run.key);
        self.folder.map_or(Ok(()), |folder| folder.append(run))
    }

    fn cancelled(&self) -> bool {
        self.left.load(Ordering::SeqCst) == 0
    }
}

/// A resumed comparison has the same results, with any number of threads; resuming with other data or settings is
/// refused.
#[test]
fn results_do_not_depend_on_order_or_interruption() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(SplitRule::HeldOut(Split::Rows));
    let table = loaded(&folder, "t.csv", &text(60, |_| false), &config.columns);
    let comparison = Comparison::new(&config, rows(&table), None).unwrap();
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let expected = timeless(alone.install(|| comparison.run(vec![], &()).unwrap()));

    let plan = RunPlan {
        command: "windlass compare".into(),
        version: "1".into(),
        config: config.clone(),
        tables: vec![table.profile.fingerprint.clone()],
    };
    let place = folder.path().join("results");
    let kept = RunDir::create(&place, &plan).unwrap();
    let few =
        CancelAfter { left: AtomicUsize::new(7), seen: Mutex::default(), folder: Some(&kept) };
    let some = comparison.run(vec![], &few).unwrap();
    assert!((7..expected.len()).contains(&some.len()));
    let seen = few.seen.lock().unwrap().len();
    assert!(matches!(RunDir::resume::<_, Run>(&place, &plan), Err(Error::Busy { .. })));
    drop(kept);
    // As if the machine had crashed while a line was written.
    let lines = std::fs::read_to_string(place.join("runs.jsonl")).unwrap();
    std::fs::write(place.join("runs.jsonl"), lines.clone() + &lines[..40]).unwrap();

    assert!(matches!(RunDir::create(&place, &plan), Err(Error::HasResults { .. })));
    let (kept, done) = RunDir::resume::<_, Run>(&place, &plan).unwrap();
    assert_eq!(done.len(), seen);
    let rest = CancelAfter {
        left: AtomicUsize::new(usize::MAX),
        seen: Mutex::default(),
        folder: Some(&kept),
    };
    let all = comparison.run(done.clone(), &rest).unwrap();
    assert_eq!(rest.seen.lock().unwrap().len() + done.len(), expected.len());
    assert_eq!(timeless(all.clone()), expected);

    kept.finish(plan.clone(), 60, all).unwrap();
    assert_eq!(timeless(RunDir::resume(&place, &plan).unwrap().1), expected);

    let says = |plan: &RunPlan<CompareConfig>| {
        RunDir::resume::<_, Run>(&place, plan).unwrap_err().to_string()
    };
    let other = RunPlan { tables: vec!["xxh3-128:0".into()], ..plan.clone() };
    assert!(says(&other).contains("results with different data"));
    let other = RunPlan { config: CompareConfig { folds: 4, ..config.clone() }, ..plan.clone() };
    assert!(says(&other).contains("results with different settings: folds 3, now folds 4"));
}

/// Runs with synthetic errors: `gain` is the relative change of the error.
fn synthetic_runs(comparison: &Comparison<'_>, gain: impl Fn(Key) -> f64) -> Vec<Run> {
    let run = |key: Key| {
        let noise = 0.05 * draw(90 + key.repeat as u64, key.fold);
        let rmse = (1.0 + noise) * (1.0 + gain(key));
        let metrics =
            windlass_model::Metrics { rows: 20, rmse, mae: rmse, mape: None, r2: None, r: None };
        Run {
            key,
            seed: 0,
            train_rows: 40,
            trials: vec![],
            chosen: 0,
            metrics,
            domains: vec![],
            diverged: false,
            predicted: vec![],
            blocks: vec![],
            losses: vec![],
            by_target: None,
            rare_losses: vec![],
            seconds: 0.0,
        }
    };
    comparison.keys().into_iter().map(run).collect()
}

/// If all splits have the same test domains, a gain has to hold in most of them.
#[test]
fn gains_must_hold_in_most_test_domains() {
    let folder = tempfile::tempdir().unwrap();
    let rule = SplitRule::Provided(ProvidedSplits {
        description: "8 trainings, the same days held out".into(),
        domain: Some("day".into()),
        overlap: SplitOverlap::SameTestDomains,
    });
    let config = config(rule);
    let config = CompareConfig { folds: 1, models: vec![ModelName::Mlp], ..config };
    let table = loaded(&folder, "t.csv", &text(60, |_| false), &config.columns);
    // Every row is a day of its own.
    let split = |repeat| Fold {
        repeat,
        fold: 0,
        train: (0..50).collect(),
        valid: Some((50..55).collect()),
        test: (55..60).collect(),
    };
    let splits = (0..8).map(split).collect();
    let comparison = Comparison::with_splits(&config, rows(&table), None, splits).unwrap();
    // Of five days, all trainings agree on each.
    let finding = |gains: [f64; 5]| {
        let mut runs = synthetic_runs(&comparison, |_| 0.0);
        for run in &mut runs {
            let ada = run.key.candidate.method == Some(named("ada"));
            let wobble = 0.002
                * draw(5 + run.key.repeat as u64, run.key.candidate.method.map_or(0, place_of));
            let error = |(day, gain): (usize, f64)| GroupError {
                name: day.to_string(),
                metrics: windlass_model::Metrics {
                    rmse: 1.0 + wobble + if ada { gain } else { 0.0 },
                    rows: 1,
                    ..run.metrics
                },
            };
            run.domains = gains.into_iter().enumerate().map(error).collect();
        }
        let summary = comparison.summary(&runs);
        let ada = |line: &&CandidateSummary| line.candidate.method == Some(named("ada"));
        summary.lines.iter().find(ada).unwrap().finding
    };
    assert_eq!(finding([-0.1; 5]), Finding::Better);
    assert_eq!(finding([-0.5, 0.0, 0.0, 0.0, 0.0]), Finding::CannotTell);
}

/// The verdict on a candidate follows from its interval; what to do now is what has the least error for certain.
#[test]
fn verdict_says_what_is_better_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let config = CompareConfig { repeats: 3, folds: 5, ..config(SplitRule::HeldOut(Split::Rows)) };
    let table = loaded(&folder, "t.csv", &text(60, |_| false), &config.columns);
    let comparison = Comparison::new(&config, rows(&table), None).unwrap();
    let method = |method| Candidate::new(ModelName::Mlp, Some(method));
    let rival = |model| Candidate::new(model, None);
    let wobble = |key: Key, size: f64| {
        let step = 7
            + 31 * key.repeat as u64
            + key.candidate.method.map_or(0, |m| place_of(m) as u64 * 1000);
        size * draw(step, key.fold)
    };
    let gain = |key: Key| match key.candidate {
        Candidate { model: ModelName::Ridge, .. } => 0.5 + wobble(key, 0.01),
        Candidate { model: ModelName::Forest, .. } => wobble(key, 0.01),
        Candidate { method: Some(MethodName::Erm), .. } => 0.0,
        Candidate { method, .. } if method == Some(named("ada-manifold")) => {
            -0.05 + wobble(key, 0.01)
        }
        Candidate { method, .. } if method == Some(named("mixup")) => 0.05 + wobble(key, 0.01),
        _ => wobble(key, 0.01),
    };
    let summary = comparison.summary(&synthetic_runs(&comparison, gain));
    let found =
        |candidate| summary.lines.iter().find(|line| line.candidate == candidate).unwrap().finding;
    assert!(summary.helps);
    let augmentations = MethodName::all().into_iter().filter(|method| method.augments()).count();
    assert_eq!(summary.augmentations, augmentations);
    assert_eq!(found(method(named("ada-manifold"))), Finding::Better);
    assert_eq!(found(method(named("mixup"))), Finding::Worse);
    assert_eq!(found(method(named("ada"))), Finding::CannotTell);
    assert_eq!(found(rival(ModelName::Ridge)), Finding::Worse);
    assert_eq!(summary.answer, "Yes: ada-manifold is better");
    let verdict = &summary.verdict;
    assert!(verdict.starts_with("ada-manifold is better than no augmentation: RMSE "), "{verdict}");
    assert!(verdict.contains(" % lower (95 % interval: "), "{verdict}");
    let ends = format!(
        "over 15 splits (3×5 folds of rows); intervals are corrected for {augmentations} augmentations."
    );
    assert!(verdict.ends_with(&ends), "{verdict}");
    let next = summary.next.as_ref().unwrap();
    assert_eq!(next.candidate, method(named("ada-manifold")));
    assert_eq!(next.in_words(), "Next step: train with ada-manifold.");
    let worse = "Worse than no augmentation: mixup";
    assert!(
        summary.remarks.iter().any(|remark| remark.starts_with(worse)),
        "{:?}",
        summary.remarks
    );

    // The best model is recommended.
    let forest = |key: Key| match key.candidate.model {
        ModelName::Forest => -0.2 + wobble(key, 0.01),
        _ => gain(key),
    };
    let summary = comparison.summary(&synthetic_runs(&comparison, forest));
    assert!(
        summary
            .verdict
            .starts_with("A random forest is better than the network without augmentation")
    );
    assert_eq!(summary.answer, "Use a random forest");
    assert_eq!(summary.next.unwrap().candidate, rival(ModelName::Forest));
    // The augmentation is still better, and so the exit code is 0.
    assert!(summary.helps);

    // Also if a method had a smaller error that is not certain; every better model is named.
    let unsure = |key: Key| match key.candidate {
        Candidate { model: ModelName::Ridge, .. } => -0.1 + wobble(key, 0.01),
        Candidate { method, .. } if method == Some(named("ada-manifold")) => {
            -0.3 + wobble(key, 0.4)
        }
        _ => forest(key),
    };
    let summary = comparison.summary(&synthetic_runs(&comparison, unsure));
    assert_eq!(summary.next.unwrap().candidate, rival(ModelName::Forest));
    let also = "Better than the network without augmentation: ridge";
    assert!(summary.remarks.iter().any(|remark| remark.starts_with(also)), "{:?}", summary.remarks);

    // Nothing is better: train without augmentation.
    let nothing = |key: Key| match key.candidate.method {
        Some(MethodName::Erm) => 0.0,
        _ => 0.2 + wobble(key, 0.01),
    };
    let summary = comparison.summary(&synthetic_runs(&comparison, nothing));
    assert!(!summary.helps);
    assert_eq!(summary.answer, "No");
    assert_eq!(summary.next.unwrap().text, "train without augmentation");

    // Nothing is better or worse than networks that diverged.
    let mut runs = synthetic_runs(&comparison, gain);
    runs[0].diverged = true;
    let summary = comparison.summary(&runs);
    assert!(!summary.helps && summary.answer == "No verdict");
    let told = "Training diverged: no augmentation (1 of 15 runs).";
    assert!(summary.remarks.iter().any(|remark| remark.starts_with(told)), "{:?}", summary.remarks);
}

/// Random sets of results: no verdict contradicts its interval, and no rival changes the verdict on another candidate.
#[test]
fn verdicts_follow_from_intervals_alone() {
    let folder = tempfile::tempdir().unwrap();
    let config = CompareConfig { repeats: 2, folds: 3, ..config(SplitRule::HeldOut(Split::Rows)) };
    let table = loaded(&folder, "t.csv", &text(60, |_| false), &config.columns);
    let fewer = CompareConfig { models: vec![ModelName::Mlp, ModelName::Ridge], ..config.clone() };
    let alone =
        CompareConfig { methods: vec![MethodName::Erm, MethodName::Placebo], ..config.clone() };
    let compared = |config| Comparison::new(config, rows(&table), None).unwrap();
    let (all, fewer, alone) = (compared(&config), compared(&fewer), compared(&alone));
    let mut seen = std::collections::BTreeSet::new();
    for case in 0..300 {
        let mut draws = Seed(case).at(Stream::Sample, 3, 0);
        // Gains and noise of very different sizes, with and without errors of rows.
        let noise = 0.3 * draws.uniform().powi(3);
        let with_rows = draws.uniform() < 0.8;
        let gains: Vec<f64> = (0..20).map(|_| 0.4 * draws.normal() * draws.uniform()).collect();
        let runs: Vec<Run> = synthetic_runs(&all, |_| 0.0)
            .into_iter()
            .enumerate()
            .map(|(place, mut run)| {
                let candidate = run.key.candidate;
                let who = candidate.method.map_or(17 + candidate.model as usize % 3, place_of);
                let mut own = Seed(case).at(Stream::Sample, 4, place as u64);
                let gain = if candidate.method == Some(MethodName::Erm) { 0.0 } else { gains[who] };
                if with_rows {
                    let rows = all.units(all.fold(run.key)).len();
                    let loss = |_| (2.0 * gain).exp() * (noise * own.normal()).exp();
                    run.losses = (0..rows).map(loss).collect();
                }
                run.metrics.rmse = gain.exp() * (0.2 * noise * own.normal()).exp();
                run
            })
            .collect();
        let summary = all.summary(&runs);
        for line in &summary.lines {
            let Some(interval) = line.corrected else { continue };
            let difference = line.difference.unwrap();
            assert!(interval.low <= difference.low && interval.high >= difference.high);
            // The 80 % interval with the same correction; p underflows far from 0.
            let factor = if difference.p > 0.0 { interval.p / difference.p } else { 1.0 };
            let probable = difference.at(0.2 / factor);
            let expected = match line.finding {
                Finding::Reference | Finding::Placebo => continue,
                Finding::Better => interval.high < 0.0,
                Finding::Worse => interval.low > 0.0,
                Finding::ProbablyBetter => interval.high >= 0.0 && probable.high <= 1e-9,
                Finding::ProbablyWorse => interval.low <= 0.0 && probable.low >= -1e-9,
                Finding::CannotTell => {
                    interval.low <= 0.0
                        && interval.high >= 0.0
                        && (interval.p >= 0.2 && (interval.p >= 1.0 || probable.low <= 1e-9))
                }
                Finding::NoVerdict => false,
            };
            assert!(expected, "{line:?}");
            assert_eq!(interval.p < 0.05, interval.low > 0.0 || interval.high < 0.0, "{line:?}");
            seen.insert(line.finding.name());
        }
        // Without the forest, and without augmentations.
        for other in [&fewer, &alone] {
            let kept = other.config().candidates();
            let some: Vec<Run> =
                runs.iter().filter(|run| kept.contains(&run.key.candidate)).cloned().collect();
            for line in other.summary(&some).lines {
                let same =
                    summary.lines.iter().find(|one| one.candidate == line.candidate).unwrap();
                assert_eq!((line.finding, line.corrected), (same.finding, same.corrected));
            }
        }
        let next = summary.next.unwrap().candidate;
        let chosen = summary.lines.iter().find(|line| line.candidate == next).unwrap();
        let good = [Finding::Better, Finding::ProbablyBetter, Finding::Reference];
        assert!(good.contains(&chosen.finding), "{chosen:?}");
    }
    let all: Vec<&str> = seen.into_iter().collect();
    assert_eq!(all, ["better", "cannot tell", "probably better", "probably worse", "worse"]);
}

/// With time splits, a small training set is the latest rows, whatever the order of the file.
#[test]
fn time_splits_train_on_the_latest_rows() {
    let folder = tempfile::tempdir().unwrap();
    let config = CompareConfig {
        sizes: vec![Some(10)],
        ..config(SplitRule::HeldOut(Split::Time("day".into())))
    };
    let straight = text(60, |_| false);
    let (head, rest) = straight.split_once('\n').unwrap();
    let mut lines: Vec<&str> = rest.lines().collect();
    lines.reverse();
    let backwards = format!("{head}\n{}\n", lines.join("\n"));
    let latest = |name: &str, text: &str| -> Vec<Vec<f64>> {
        let table = loaded(&folder, name, text, &config.columns);
        let days = windlass_table::to_f64(table.batch.column_by_name("day").unwrap());
        let splits = config.splits(&table, None).unwrap();
        splits.iter().map(|s| s.train[..10].iter().map(|&row| days.value(row)).collect()).collect()
    };
    let (one, other) = (latest("one.csv", &straight), latest("other.csv", &backwards));
    assert_eq!(one, other);
    assert!(one[0].windows(2).all(|two| two[0] > two[1]));
}

/// Training sets of every size, and refused sizes.
#[test]
fn sizes_are_samples_of_training_rows() {
    let folder = tempfile::tempdir().unwrap();
    let config =
        CompareConfig { sizes: vec![Some(10), None], ..config(SplitRule::HeldOut(Split::Rows)) };
    let table = loaded(&folder, "t.csv", &text(60, |_| false), &config.columns);
    let comparison = Comparison::new(&config, rows(&table), None).unwrap();
    let runs = comparison.run(vec![], &()).unwrap();
    let trained: Vec<usize> = runs.iter().map(|run| run.train_rows).collect();
    assert_eq!(trained.iter().filter(|&&rows| rows == 10).count(), 3 * candidates());
    assert_eq!(trained.iter().filter(|&&rows| rows == 40).count(), 3 * candidates());
    let large = CompareConfig { sizes: vec![Some(41)], ..config.clone() };
    let refused = Comparison::new(&large, rows(&table), None).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "`t.csv`: cannot train on 41 rows: the smallest training set has 40"
    );
    let alone = CompareConfig { methods: vec![named("ada")], ..config.clone() };
    let refused = Comparison::new(&alone, rows(&table), None).unwrap_err();
    assert_eq!(refused.to_string(), "nothing to compare: there is no network without augmentation");
}

/// With a test table every run trains on all rows, and intervals come from repeats and test rows.
#[test]
fn test_table_is_the_same_for_all_runs() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = config(SplitRule::TestFile);
    config.methods = vec![MethodName::Erm, named("ada")];
    config.tune = 1;
    let table = loaded(&folder, "t.csv", &text(60, |_| false), &config.columns);
    let test = loaded(&folder, "test.csv", &text(90, |_| false), &config.columns);
    let comparison = Comparison::new(&config, rows(&table), Some(rows(&test))).unwrap();
    let runs = comparison.run(vec![], &()).unwrap();
    assert!(runs.iter().all(|run| run.train_rows == 60 && run.metrics.rows == 90));
    let erm: Vec<f64> = runs
        .iter()
        .filter(|run| run.key.candidate.method == Some(MethodName::Erm))
        .map(|run| run.metrics.rmse)
        .collect();
    assert!(erm[0] != erm[1] && erm[1] != erm[2]);
    let summary = comparison.summary(&runs);
    let ada = summary.lines[1].difference.unwrap();
    assert!(ada.low.is_finite() && ada.low < ada.mean && ada.mean < ada.high);
}

/// Rows of a table from a number on, with a further column.
fn from_row(first: usize, to: usize, column: &str, value: impl Fn(usize) -> String) -> String {
    let all = text(to, |_| false);
    let mut lines = all.lines();
    let head = lines.next().unwrap();
    let mut out = format!("{head},{column}\n");
    for (row, line) in lines.enumerate().skip(first) {
        writeln!(out, "{line},{}", value(row)).unwrap();
    }
    out
}

fn added(
    folder: &TempDir,
    text: &str,
    table: &LoadedTable,
    test: Option<&LoadedTable>,
    rule: &SplitRule,
) -> Result<AddedRows, Error> {
    let path = folder.path().join("rows.csv");
    std::fs::write(&path, text).unwrap();
    let file = Table::open(&[path], &ReadOptions::default()).unwrap();
    let to = AddTo { table, test, rule, drop_missing_target: false };
    AddedRows::load("sim", &file, to, DEFAULT_MEMORY, &())
}

/// Rows from elsewhere change the errors of their candidates only, and are compared with the same model.
#[test]
fn added_rows_are_trained_on_only() {
    let folder = tempfile::tempdir().unwrap();
    let plain = CompareConfig {
        models: vec![ModelName::Mlp, ModelName::Ridge, ModelName::Forest],
        methods: vec![MethodName::Erm],
        tune: 1,
        ..config(SplitRule::HeldOut(Split::Rows))
    };
    let config = CompareConfig { rows: vec!["sim".into()], ..plain.clone() };
    let table = loaded(&folder, "t.csv", &text(60, |_| false), &config.columns);
    let new = from_row(60, 360, "note", |row| format!("n{row}"));
    let sim = [added(&folder, &new, &table, None, &config.rule).unwrap()];
    assert!(
        sim[0].notes()[0].ends_with("columns that the table does not have are ignored: `note`")
    );
    let comparison = Comparison::new(&config, rows(&table), None).unwrap().with_rows(&sim).unwrap();
    let runs = timeless(comparison.run(vec![], &()).unwrap());
    assert_eq!(runs.len(), 3 * 6);
    let without: Vec<Run> =
        runs.iter().filter(|run| run.key.candidate.rows.is_none()).cloned().collect();
    let expected = Comparison::new(&plain, rows(&table), None).unwrap().run(vec![], &()).unwrap();
    assert_eq!(without, timeless(expected));
    let summary = comparison.summary(&runs);
    let report = &summary.rows[0];
    assert_eq!((report.rows, report.copies, report.leaks), (300, 0, false));
    assert!((report.rows_per_split - 300.0).abs() < 1e-9);
    for line in summary.lines.iter().filter(|line| line.candidate.rows.is_some()) {
        let reference = config.reference(line.candidate).unwrap();
        assert_eq!((reference.model, reference.rows), (line.candidate.model, None));
        // Three hundred more rows of the same kind help all of them.
        assert!(line.difference.unwrap().mean < 0.0, "{}", config.name(line.candidate));
    }
    let names: Vec<String> =
        config.candidates().into_iter().map(|candidate| config.name(candidate)).collect();
    assert_eq!(names[..4], ["no augmentation", "sim", "ridge", "ridge + sim"]);
    // Absurd rows hurt, and are not tested on.
    let absurd = text(300, |row| row >= 60);
    let head = "a,b,kind,site,day,y\n".to_owned();
    let absurd = absurd.lines().skip(61).fold(head, |text, line| text + line + "\n");
    let sim = [added(&folder, &absurd, &table, None, &config.rule).unwrap()];
    let comparison = Comparison::new(&config, rows(&table), None).unwrap().with_rows(&sim).unwrap();
    let runs = comparison.run(vec![], &()).unwrap();
    let of = |rows: Option<usize>| {
        let own = |run: &&Run| {
            run.key.candidate.rows == rows && run.key.candidate.model == ModelName::Ridge
        };
        runs.iter().filter(own).map(|run| run.metrics.rmse).sum::<f64>()
    };
    assert!(of(Some(0)) > 100.0 * of(None));
    assert!(runs.iter().all(|run| run.metrics.rows == 20));
}

/// A row is omitted where its source, partner or the row that it equals is held out, its group is, or it is later.
#[test]
fn relatives_of_held_out_rows_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(SplitRule::HeldOut(Split::Rows));
    let table = loaded(&folder, "t.csv", &text(60, |_| false), &config.columns);
    let sourced = from_row(60, 120, "windlass_source", |row| (row - 60).to_string());
    let partnered = sourced.replacen("windlass_source", "windlass_source,windlass_partner", 1);
    let mut lines = partnered.lines();
    let mut both = lines.next().unwrap().to_owned() + "\n";
    for (row, line) in lines.enumerate() {
        writeln!(both, "{line},{}", (row + 1) % 60).unwrap();
    }
    let copies = from_row(0, 60, "note", |_| String::new());
    let splits = config.splits(&table, None).unwrap();
    for (text, relatives) in [(&sourced, 1), (&both, 2), (&copies, 1)] {
        let rows = added(&folder, text, &table, None, &config.rule).unwrap();
        for fold in &splits {
            let used = rows.file_rows(&Split::Rows, &fold.train).unwrap();
            let related = |row: usize| (0..relatives).map(move |next| (row + next) % 60);
            let expected: Vec<usize> = (0..60)
                .filter(|&row| related(row).all(|real| fold.train.contains(&real)))
                .collect();
            assert_eq!(used, expected);
        }
    }
    // By group and by time.
    let none = from_row(60, 120, "note", |_| String::new());
    for split in [Split::Group("site".into()), Split::Time("day".into())] {
        let rule = SplitRule::HeldOut(split.clone());
        let rows = added(&folder, &none, &table, None, &rule).unwrap();
        let train: Vec<usize> = (0..60).filter(|row| row % 6 < 4).collect();
        let used = rows.file_rows(&split, &train).unwrap();
        match split {
            Split::Group(_) => assert!(used.len() == 40 && used.iter().all(|row| row % 6 < 4)),
            // All of them are later.
            _ => assert!(used.is_empty()),
        }
    }
    // Rows of a test table are never used, and a file of nothing else is refused.
    let test = loaded(&folder, "test.csv", &text(20, |_| false), &config.columns);
    let refused = added(
        &folder,
        &from_row(0, 20, "note", |_| String::new()),
        &table,
        Some(&test),
        &SplitRule::TestFile,
    );
    assert!(refused.unwrap_err().to_string().ends_with("has no rows to add: all are test rows"));
    let rows = added(&folder, &copies, &table, Some(&test), &SplitRule::TestFile).unwrap();
    let used = rows.file_rows(&Split::Rows, &(0..60).collect::<Vec<_>>()).unwrap();
    assert_eq!(used, (20..60).collect::<Vec<_>>());
}

/// Noisy copies of rows that are tested on have no verdict, however good they look.
#[test]
fn there_is_no_verdict_on_rows_that_leak() {
    let folder = tempfile::tempdir().unwrap();
    let config = CompareConfig {
        models: vec![ModelName::Mlp, ModelName::Forest],
        methods: vec![MethodName::Erm, named("ada")],
        rows: vec!["sim".into()],
        tune: 1,
        ..config(SplitRule::HeldOut(Split::Rows))
    };
    let table = loaded(&folder, "t.csv", &text(60, |_| false), &config.columns);
    let mut near = String::from("a,b,kind,site,day,y\n");
    for line in text(60, |_| false).lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let moved = |cell: &str| cell.parse::<f64>().unwrap() + 1e-4;
        writeln!(
            near,
            "{},{},{},{},{},{}",
            moved(cells[0]),
            moved(cells[1]),
            cells[2],
            cells[3],
            cells[4],
            moved(cells[5])
        )
        .unwrap();
    }
    let sim = [added(&folder, &near, &table, None, &config.rule).unwrap()];
    let comparison = Comparison::new(&config, rows(&table), None).unwrap().with_rows(&sim).unwrap();
    let runs = comparison.run(vec![], &()).unwrap();
    let summary = comparison.summary(&runs);
    assert!(summary.rows[0].leaks && summary.rows[0].copies == 0);
    for line in &summary.lines {
        assert_eq!(line.candidate.rows.is_some(), line.finding == Finding::NoVerdict);
    }
    assert!(summary.remarks.iter().any(|remark| remark.starts_with("No verdict on sim: ")));
    assert_eq!(summary.augmentations, 1);
    assert!(summary.next.is_none_or(|next| next.candidate.rows.is_none()));
}

/// Types are those of the table; what cannot be converted is refused by file, column and row.
#[test]
fn added_rows_are_converted_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let config = config(SplitRule::HeldOut(Split::Rows));
    let table = loaded(&folder, "t.csv", &text(60, |_| false), &config.columns);
    let add = |text: &str| added(&folder, text, &table, None, &config.rule);
    // Other orders of columns, columns that models do not use, numbers without decimals.
    assert!(add("y,kind,b,a\n1,u,2,3\n2,7,0,1\n").is_ok());
    let says = |text: &str| add(text).unwrap_err().to_string();
    let lacks = says("y,kind,a\n1,u,3\n");
    assert!(lacks.ends_with("rows.csv`: no column `b`, which the table has"), "{lacks}");
    assert!(says("kind,a,b\nu,1,2\n").ends_with("no column `y`, which the table has"));
    let text = says("y,kind,a,b\n1,u,3,4\n1,u,3,four\n");
    assert!(
        text.ends_with("column `b`, row 2 (line 3): `four`, but the table has floats"),
        "{text}"
    );
    let marked = says("y,kind,a,b,windlass_synthetic\n1,u,3,4,false\n");
    assert!(marked.ends_with("has no rows to add: all are original rows"), "{marked}");
    // The column of groups is needed if rows are split by it.
    let by_site = SplitRule::HeldOut(Split::Group("site".into()));
    let lacks = added(&folder, "y,kind,a,b\n1,u,3,4\n", &table, None, &by_site).unwrap_err();
    assert!(lacks.to_string().ends_with("no column `site`, which the table has"));
    for label in ["", "ada", "forest", "no augmentation", "a\nb"] {
        let path = folder.path().join("rows.csv");
        let file = Table::open(&[path], &ReadOptions::default()).unwrap();
        let to =
            AddTo { table: &table, test: None, rule: &config.rule, drop_missing_target: false };
        let refused = AddedRows::load(label, &file, to, DEFAULT_MEMORY, &()).unwrap_err();
        assert!(matches!(refused, Error::BadLabel { .. }), "{label}");
    }
}
