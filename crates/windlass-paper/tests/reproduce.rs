//! The paper's experiments: their files, their splits, and one from beginning to end.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::RecordBatch;
use serde_json::Value;
use windlass::{GammaDistribution, published_grid};
use windlass_compare::{CandidateSpec, Comparison, Error as CompareError, Fold, Run};
use windlass_model::{Kind, NamedTable};
use windlass_paper::reproduce::{
    Experiment, PartConfig, Reproduction, Scope, named, names, write_index,
};
use windlass_paper::{DeepProgress, Error, data};
use windlass_table::{ClusterCount, DEFAULT_MEMORY, LoadedTable, MethodConfig, Table};

fn golden(name: &str) -> Value {
    let path = Path::new("tests/golden").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn rows(value: &Value) -> Vec<usize> {
    let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
    value.as_array().unwrap().iter().map(number).collect()
}

/// The protocol of a part of an experiment.
fn config(experiment: &str, part: &str) -> PartConfig {
    let experiment = named(experiment).unwrap();
    experiment.part.iter().find(|one| one.name == part).unwrap().config().unwrap()
}

fn load(rows: &RecordBatch, config: &PartConfig) -> LoadedTable {
    let table = Table::from_batch(rows, Path::new("rows")).unwrap();
    LoadedTable::load(&table, &config.comparison.columns, false, DEFAULT_MEMORY, &()).unwrap()
}

/// The splits of a protocol, which a comparison accepts.
fn splits(config: &PartConfig, loaded: &LoadedTable, test: Option<&LoadedTable>) -> Vec<Fold> {
    let trainings = config.comparison.folds;
    let splits = config.splits.splits(loaded, test, trainings).unwrap();
    let rows = |loaded| NamedTable { table: loaded, path: Path::new("rows") };
    let (table, test) = (rows(loaded), test.map(rows));
    Comparison::with_splits(&config.comparison, table, test, splits.clone()).unwrap();
    splits
}

/// A data set, unless it is absent.
#[expect(clippy::print_stdout, reason = "says what was skipped")]
fn loaded(name: &str) -> Option<RecordBatch> {
    match data::named(name).unwrap().load() {
        Ok(rows) => Some(rows),
        Err(data::Error::Absent { .. }) => {
            println!("skipped: data set `{name}` is absent");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// The golden splits of a data set, with those of ours for the same seed.
fn golden_splits(name: &str, config: &PartConfig, rows: &RecordBatch) -> Vec<(Value, Fold)> {
    let splits = splits(config, &load(rows, config), None);
    let golden = golden("splits.json");
    let seeds = golden[name]["seeds"].as_array().unwrap();
    assert_eq!(seeds.len(), 3);
    let of = |golden: &Value| {
        let seed = usize::try_from(golden["seed"].as_u64().unwrap()).unwrap();
        let ours = splits.iter().find(|split| split.repeat == seed).unwrap();
        (golden.clone(), ours.clone())
    };
    seeds.iter().map(of).collect()
}

#[test]
fn the_splits_of_airfoil_are_the_published_ones_row_by_row() {
    let Some(table) = loaded("airfoil") else { return };
    for part in ["published", "equal", "splits"] {
        for (golden, ours) in golden_splits("airfoil", &config("airfoil", part), &table) {
            assert_eq!(ours.train, rows(&golden["train"]));
            assert_eq!(ours.valid.unwrap(), rows(&golden["valid"]));
            assert_eq!(ours.test, rows(&golden["test"]));
        }
    }
}

#[test]
fn the_splits_of_crime_and_skillcraft_have_the_published_rows() {
    for name in ["crime", "skillcraft"] {
        let Some(table) = loaded(name) else { continue };
        for part in ["published", "equal"] {
            for (golden, ours) in golden_splits(name, &config(name, part), &table) {
                let set = |rows: Vec<usize>| -> BTreeSet<usize> { rows.into_iter().collect() };
                assert_eq!(set(ours.train), set(rows(&golden["train"])), "{name}");
                assert_eq!(set(ours.valid.unwrap()), set(rows(&golden["valid"])), "{name}");
                assert_eq!(set(ours.test), set(rows(&golden["test"])), "{name}");
            }
        }
    }
}

#[test]
fn parts_have_the_sizes_of_the_paper() {
    let sizes = |experiment: &str, part: &str, rows: usize| -> Vec<[usize; 3]> {
        let mut config = config(experiment, part);
        // What is in the rows does not matter.
        config.comparison.columns.target = vec!["y".into()];
        config.comparison.columns.carry.clear();
        config.comparison.columns.exclude.clear();
        let made = data::cosine(rows, 0.1, false, 0);
        let splits = splits(&config, &load(&made, &config), None);
        let count = |split: &Fold| {
            let valid = split.valid.as_ref().map_or(0, Vec::len);
            [split.train.len(), valid, split.test.len()]
        };
        splits.iter().map(count).collect()
    };
    assert_eq!(sizes("airfoil", "published", 1503), vec![[1003, 300, 200]; 27]);
    assert_eq!(sizes("no2", "published", 500), vec![[200, 200, 100]; 20]);
    assert_eq!(sizes("housing", "california", 20640), vec![[406, 10117, 10117]; 10]);
    assert_eq!(sizes("housing", "boston", 506), vec![[406, 50, 50]; 10]);
    assert_eq!(sizes("uci", "auto_mpg", 392), vec![[196, 98, 98]; 9]);
    assert_eq!(sizes("uci", "concrete", 1030), vec![[515, 257, 258]; 9]);
    assert_eq!(sizes("uci", "yacht", 308), vec![[154, 77, 77]; 9]);
    // Smaller training sets are beginnings of larger ones; ten steps.
    let housing = config("housing", "boston");
    let steps: Vec<usize> = housing.comparison.sizes.iter().flatten().copied().collect();
    assert_eq!((steps.len(), steps[0], steps[9]), (10, 41, 406));
}

#[test]
fn training_sets_have_no_row_in_common() {
    let linear = config("linear", "ridge-10");
    let made = data::linear(100, 20, 19, 0.1, 0);
    let test = data::linear_valid(50, 19, 0.1, 0);
    let mut valid = linear.clone();
    valid.comparison.columns.carry.clear();
    let splits = splits(&linear, &load(&made, &linear), Some(&load(&test, &valid)));
    assert_eq!(splits.len(), 20);
    let all: BTreeSet<usize> = splits.iter().flat_map(|one| one.train.clone()).collect();
    assert_eq!(all.len(), 2000);
    assert!(splits.iter().all(|one| one.train.len() == 100 && one.test.len() == 50));
}

fn ada(spec: &CandidateSpec) -> Option<(&GammaDistribution, ClusterCount)> {
    let method = match (&spec.kind, &spec.enlarge) {
        (_, Some(enlarge)) => &enlarge.method,
        (Some(Kind::Network(network)), None) => &network.augment.as_ref()?.method,
        _ => return None,
    };
    match method {
        MethodConfig::Ada(ada) => Some((&ada.gamma, ada.clusters)),
        MethodConfig::Other { .. } => None,
    }
}

#[test]
fn gammas_are_those_of_the_published_grids() {
    let grid = |experiment: &str| {
        let config = config(experiment, "published");
        let found = config.comparison.specs.iter().find(|one| one.name == "ADA").unwrap();
        let (gamma, groups) = ada(found).unwrap();
        (gamma.clone(), groups)
    };
    let published = |alpha, groups| {
        (GammaDistribution::PublishedGrid { alpha, values: 20 }, ClusterCount::Count(groups))
    };
    assert_eq!(grid("airfoil"), published(2.0, 8));
    assert_eq!(grid("no2"), published(3.5, 4));
    assert_eq!(grid("crime"), published(2.5, 2));
    assert_eq!(grid("skillcraft"), published(4.0, 16));
    // Rows made beforehand: every copy has a strength of its own, from 1/α to α.
    let ridge = config("linear", "ridge-100");
    let alphas: Vec<f64> = ridge
        .comparison
        .specs
        .iter()
        .filter_map(|spec| match ada(spec)? {
            (GammaDistribution::List(values), ClusterCount::Count(8)) => {
                assert_eq!(values.len(), 100);
                assert_eq!(values, &published_grid(values[0], 100));
                Some(values[0])
            }
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(alphas, [2.0, 4.0, 6.0, 8.0, 10.0]);
    let grid: BTreeSet<(String, usize)> = config("sensitivity", "crime")
        .comparison
        .specs
        .iter()
        .filter_map(ada)
        .map(|(gamma, groups)| match (gamma, groups) {
            (
                GammaDistribution::PublishedGrid { alpha, values: 20 },
                ClusterCount::Count(groups),
            ) => (alpha.to_string(), groups),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(grid.len(), 36);
}

#[test]
fn every_experiment_makes_sense() {
    let mut refused = vec![];
    for name in names() {
        let experiment = named(name).unwrap();
        match Reproduction::new(experiment, Scope::default(), Path::new("nowhere")) {
            Ok(reproduction) => {
                for part in &reproduction.experiment().part {
                    assert!(part.config().is_ok(), "{name}");
                }
            }
            Err(Error::NotBuilt { name: said }) => {
                assert_eq!(said, name);
                refused.push(name);
            }
            Err(error) => panic!("{name}: {error}"),
        }
    }
    let deep = ["exchange_rate", "electricity", "rcf-mnist", "dti"];
    assert_eq!(refused, if cfg!(feature = "deep") { &[][..] } else { &deep });
    for part in deep.map(|name| named(name).unwrap()).iter().flat_map(|one| &one.part) {
        assert!(part.config().is_ok(), "{}", part.name);
    }
    assert!(matches!(named("figure2"), Err(Error::NoSuchExperiment { .. })));
}

#[test]
fn a_file_that_makes_no_sense_is_refused() {
    let head = "title = 't'\npaper = 'p'\nabout = 'a'\n";
    let part = "[[part]]\nname = 'one'\ntitle = 't'\ndata = { set = 'airfoil' }\nseeds = [0]\n\
                metrics = ['rmse']\nsplit = { permuted = [5, 5, 5] }\n";
    let refused = |text: String| match Experiment::parse("x", &text) {
        Err(Error::BadExperiment { why, .. }) => why,
        other => panic!("{other:?}"),
    };
    assert!(refused(format!("{head}typo = 1\n")).contains("typo"));
    assert!(refused(format!("{head}{part}")).contains("methods"));
    assert!(refused(format!("{head}{}", part.replace("'one'", "'../one'"))).contains("name"));
    assert!(refused(format!("{head}{}", part.replace("['rmse']", "[]"))).contains("metrics"));
    let mixup = format!("{head}{part}[[part.candidate]]\nname = 'm'\nmethod = 'mixup'\n");
    let experiment = Experiment::parse("x", &mixup).unwrap();
    let why = experiment.part[0].config().unwrap_err().to_string();
    assert!(why.contains("needs `beta`"), "{why}");
}

/// Cancels after some runs.
struct Stop(AtomicUsize);

impl windlass_compare::RunProgress for Stop {
    fn done(&self, _run: &Run, _done: usize, _all: usize) -> windlass_compare::Result<()> {
        self.0.fetch_sub(1, Ordering::Relaxed);
        Ok(())
    }

    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

impl DeepProgress for Stop {}

fn quick(output: &Path) -> Reproduction {
    let scope = Scope { quick: true, ..Scope::default() };
    Reproduction::new(named("cosine-groups").unwrap(), scope, output).unwrap()
}

/// The file of runs without what differs from run to run, and without most predictions.
fn runs(path: &Path) -> Value {
    fn timeless(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.remove("seconds");
                fields.remove("version");
                // The first few tell as much as all.
                if let Some(Value::Array(predicted)) = fields.get_mut("predicted") {
                    predicted.truncate(10);
                }
                fields.values_mut().for_each(timeless);
            }
            Value::Array(values) => values.iter_mut().for_each(timeless),
            _ => {}
        }
    }
    let mut value: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    timeless(&mut value);
    value
}

#[test]
fn an_experiment_from_beginning_to_end() {
    let folder = tempfile::tempdir().unwrap();
    let reproduction = quick(folder.path());
    let part = &reproduction.experiment().part[0];
    // Stopped, nothing is finished; what was run is kept.
    let stopped = reproduction.run(part, &Stop(AtomicUsize::new(3)));
    assert!(matches!(stopped, Err(Error::Compare(CompareError::Interrupted))));
    assert!(reproduction.finished(part).unwrap().is_none());
    let finished = reproduction.run(part, &()).unwrap();
    assert_eq!(finished.stored.runs.len(), 2 * 4);
    let page = reproduction.write(std::slice::from_ref(&finished)).unwrap();
    let there: BTreeSet<String> = std::fs::read_dir(reproduction.folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let wanted = ["README.md", "figures.svg", "fits.json", "fits.png"].map(str::to_owned);
    assert_eq!(there, wanted.into());
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("`windlass-paper reproduce cosine-groups --quick`"), "{page}");
    assert!(page.contains("| 5 groups | 0.069 |"), "{page}");
    assert!(page.contains("![") && page.contains("(figures.svg#fits)"), "{page}");
    assert!(!page.contains(".png"), "{page}");

    // The same from the start without a stop, and as it was on the day it was written down.
    let whole = tempfile::tempdir().unwrap();
    let again = quick(whole.path());
    again.run(part, &()).unwrap();
    let file = |reproduction: &Reproduction| reproduction.folder().join("fits.json");
    let found = runs(&file(&reproduction));
    assert_eq!(found, runs(&file(&again)));
    let place = Path::new("tests/golden/cosine-groups.json");
    if std::env::var_os("WINDLASS_BLESS").is_some() {
        std::fs::write(place, serde_json::to_string_pretty(&found).unwrap() + "\n").unwrap();
    }
    let same = found == golden("cosine-groups.json");
    assert!(same, "the golden file differs: WINDLASS_BLESS=1 writes it anew, git diff shows where");

    // What is finished is read, not run again; and never taken for something else.
    let read = reproduction.run(part, &Stop(AtomicUsize::new(0))).unwrap();
    assert_eq!(read, finished);
    let scope = Scope { quick: true, seeds: Some(vec![5]), ..Scope::default() };
    let other = Reproduction::new(named("cosine-groups").unwrap(), scope, folder.path()).unwrap();
    let refused = other.run(&other.experiment().part[0], &());
    assert!(
        matches!(refused, Err(Error::Compare(CompareError::OtherResults { what: "settings", .. }))),
        "{refused:?}"
    );
}

/// A network of the kind that the published tables have, on a few points of a cosine.
const LEAKY: &str = "title = 't'\npaper = 'p'\nabout = 'a'\n\
    [[part]]\nname = 'one'\ntitle = 't'\nmetrics = ['rmse']\nseeds = [3, 1]\n\
    data = { cosine = { rows = 40 } }\nsplit = { permuted = [20, 10, 10] }\n\
    hidden = [4]\ntraining = { epochs = 2 }\nmethods = ['erm', 'ada']\ntune = 1\n\
    [[part]]\nname = 'two'\ntitle = 't'\nmetrics = ['rmse']\nseeds = [0, 5, 2]\ntrainings = 2\n\
    data = { cosine = { rows = 40 } }\nsplit = { permuted = [20, 10, 10] }\n\
    hidden = [4]\ntraining = { epochs = 2 }\n\
    [[part.candidate]]\nname = 'ERM'\nmethod = 'erm'\npublished = { rmse = [0.1, 0.01] }\n\
    [[part.candidate]]\nname = 'C-Mixup'\nmethod = 'c-mixup'\nbeta = 2.0\nbandwidth = 1.0\n\
    [[picture]]\nname = 'methods'\ntitle = 't'\ndraw = { methods = { part = 'two', metric = 'rmse' } }\n";

fn leaky(output: &Path) -> Reproduction {
    let experiment = Experiment::parse("leaky", LEAKY).unwrap();
    Reproduction::new(experiment, Scope::default(), output).unwrap()
}

#[test]
fn what_was_run_is_known_again_and_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let reproduction = leaky(folder.path());
    let [one, two] = &reproduction.experiment().part[..] else { panic!("two parts") };
    assert!(reproduction.run(one, &Stop(AtomicUsize::new(2))).is_err());
    // As two processes at once would leave it.
    let runs = reproduction.folder().join("one.part/runs.jsonl");
    let kept = std::fs::read_to_string(&runs).unwrap();
    std::fs::write(&runs, kept.repeat(3)).unwrap();
    let finished = reproduction.run(one, &()).unwrap();
    assert_eq!(finished.stored.runs.len(), 4);
    let bytes = std::fs::read(reproduction.folder().join("one.json")).unwrap();
    assert_eq!(leaky(folder.path()).run(one, &Stop(AtomicUsize::new(0))).unwrap(), finished);
    assert_eq!(std::fs::read(reproduction.folder().join("one.json")).unwrap(), bytes);

    // With one part of two there is a page of that part; with both, of both.
    let page =
        |finished: &[_]| std::fs::read_to_string(reproduction.write(finished).unwrap()).unwrap();
    let alone = page(std::slice::from_ref(&finished));
    assert!(alone.contains("seeds 3, 1") && !alone.contains("figures.svg"), "{alone}");
    let other = reproduction.run(two, &()).unwrap();
    assert_eq!(other.stored.runs.len(), 3 * 2 * 2);
    let line = &other.stored.summary.lines[1];
    assert_eq!(line.difference.unwrap().runs, 3, "trainings on the same rows count as one");
    let both = page(&[finished, other]);
    assert!(both.contains("seeds 0, 5, 2, 2 trainings on each"), "{both}");
    assert!(both.contains("figures.svg#methods") && both.contains("Worse: ERM"), "{both}");
    // A page of someone else stays.
    std::fs::write(reproduction.folder().join("README.md"), "mine").unwrap();
    assert!(matches!(reproduction.check(None), Err(Error::NotOurs { .. })));
    assert!(matches!(reproduction.write(&[]), Err(Error::NotOurs { .. })));
}

/// The page links conclusions written by hand, if there are any, and leaves them as they are.
#[test]
fn a_page_links_conclusions_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let reproduction = leaky(folder.path());
    let name = &reproduction.experiment().name;
    let link = format!("[{name}](../conclusions.md#{name})");
    let finished = [reproduction.run(&reproduction.experiment().part[0], &()).unwrap()];
    let page = || std::fs::read_to_string(reproduction.write(&finished).unwrap()).unwrap();
    let without = page();
    assert!(!without.contains("conclusions.md"), "{without}");
    let place = reproduction.folder().join("../conclusions.md");
    std::fs::write(&place, "# Conclusions\n").unwrap();
    let with = page();
    assert_eq!(with.matches(&link).count(), 1, "{with}");
    // Nothing but one paragraph is added.
    let other = with.replacen(&format!("\nWhat we conclude, and what to know: {link}.\n"), "", 1);
    assert_eq!(other, without);
    assert_eq!(std::fs::read_to_string(&place).unwrap(), "# Conclusions\n");
    std::fs::remove_file(&place).unwrap();
    assert_eq!(page(), without);
}

#[test]
fn results_of_a_broken_plan_are_not_taken_for_ours() {
    let folder = tempfile::tempdir().unwrap();
    let reproduction = leaky(folder.path());
    let part = &reproduction.experiment().part[0];
    assert!(reproduction.run(part, &Stop(AtomicUsize::new(1))).is_err());
    std::fs::write(reproduction.folder().join("one.part/plan.json"), "{}").unwrap();
    let refused = reproduction.run(part, &());
    assert!(
        matches!(refused, Err(Error::Compare(CompareError::OtherResults { .. }))),
        "{refused:?}"
    );
}

#[test]
fn the_index_names_every_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let index = std::fs::read_to_string(write_index(folder.path()).unwrap()).unwrap();
    for name in names() {
        assert!(index.contains(name), "{name}");
    }
    assert!(index.contains("[airfoil](airfoil/README.md)"));
    assert_eq!(index.contains("(dti/README.md)"), cfg!(feature = "deep"));
}
