//! Series, images and sequences: their rows, and a comparison of deep networks from beginning to end.

use std::path::Path;

use windlass_paper::data::{self, Interactions, Series};
use windlass_paper::reproduce::{
    Experiment, PartConfig, ReportedMetric, Reproduction, Scope, named,
};
use windlass_paper::{Error, PublishedSplits};

/// Series of two waves, an hour a row.
fn waves(rows: usize) -> Series {
    let table = data::cosine(rows, 0.0, true, 0);
    Series::from_table(&table)
}

/// As networks take it.
#[expect(clippy::cast_possible_truncation, reason = "rounded")]
fn single(value: f64) -> f32 {
    value as f32
}

#[test]
fn windows_come_before_their_targets() {
    let series = waves(100);
    let [train, valid, test] = series.split_rows(10, 3).unwrap();
    assert_eq!((train.clone(), valid, test.clone()), (12..60, 60..80, 80..100));
    let (x, y) = series.windows(train, 10, 3);
    assert_eq!((x.dim(), y.dim()), ((48, 20), (48, 2)));
    // The first window is rows 0 to 9; its target is row 12, three steps after the last.
    let value = |row: usize, place: usize| series.values[(row, place)];
    assert_eq!(x[(0, 0)], single(value(0, 0)));
    assert_eq!(x[(0, 19)], single(value(9, 1)));
    assert_eq!((y[(0, 0)], y[(0, 1)]), (value(12, 0), value(12, 1)));
    let (x, y) = series.windows(test, 10, 3);
    assert_eq!(x[(19, 0)], single(value(87, 0)));
    assert_eq!(y[(19, 1)], value(99, 1));
    for (window, horizon) in [(0, 0), (0, 1), (1, 0), (58, 3)] {
        assert!(matches!(series.split_rows(window, horizon), Err(data::Error::ShortSeries { .. })));
    }
}

#[test]
fn every_series_is_divided_by_its_largest_value() {
    let mut series = waves(50);
    series.values.column_mut(1).fill(0.0);
    series.values[(7, 0)] = -20.0;
    let scaled = series.clone().scaled();
    assert_eq!(scaled.values[(7, 0)], -1.0);
    assert_eq!(scaled.values[(3, 0)], series.values[(3, 0)] / 20.0);
    assert!(scaled.values.column(1).iter().all(|&value| value == 0.0));
}

/// The counts of the paper, and the first and the last window by hand.
#[test]
#[expect(clippy::print_stdout, reason = "says what was skipped")]
fn windows_of_exchange_rates_are_those_of_the_paper() {
    let table = match data::named("exchange_rate").unwrap().load() {
        Ok(table) => table,
        Err(data::Error::Absent { .. }) => {
            println!("skipped: data set `exchange_rate` is absent");
            return;
        }
        Err(error) => panic!("{error}"),
    };
    let raw = Series::from_table(&table);
    let series = raw.clone().scaled();
    let parts = series.split_rows(168, 12).unwrap();
    assert_eq!(parts.clone().map(|part| part.len()), [4373, 1518, 1518]);
    assert_eq!((parts[0].start, parts[2].end), (179, 7588));
    // The first line of the file begins with 0.785500, the largest value of that column is 1.102536.
    let (x, y) = series.windows(parts[0].clone(), 168, 12);
    assert!((f64::from(x[(0, 0)]) - 0.7855 / 1.102_536).abs() < 1e-6, "{}", x[(0, 0)]);
    assert_eq!(y[(0, 0)], raw.values[(179, 0)] / 1.102_536);
    let (x, y) = series.windows(parts[2].clone(), 168, 12);
    assert_eq!(x[(1517, 0)], single(series.values[(7588 - 12 - 168, 0)]));
    assert_eq!(y.row(1517), series.values.row(7587));
}

#[test]
fn a_file_of_series_says_where_it_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("electricity.txt");
    std::fs::write(&place, "1,2.5\n3,4\n5,6\n").unwrap();
    let series = Series::read(&place).unwrap();
    assert_eq!(series.values, ndarray::array![[1.0, 2.5], [3.0, 4.0], [5.0, 6.0]]);
    std::fs::write(&place, "1,2.5\n3,four\n5,6\n").unwrap();
    let said = Series::read(&place).unwrap_err().to_string();
    assert!(said.ends_with("line 2, column `1`: `four` is not a number"), "{said}");
    let said = data::electricity(&[folder.path().into()]).unwrap_err();
    assert!(said.to_string().starts_with("`electricity/electricity.txt` is missing in"), "{said}");
    assert!(said.hint().unwrap().contains("multivariate-time-series-data"));
}

/// Synthetic interactions are written and read in the published format, and split by year.
#[test]
fn interactions_are_read_as_they_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let folders = [folder.path().to_owned()];
    assert!(matches!(
        Interactions::load_from(&folders),
        Err(Error::Data(data::Error::NotPut {
            file: "dti_dg_group/bindingdb_patent/train_val.csv",
            ..
        }))
    ));
    let made = Interactions::generate(160, 1);
    made.write(&folder.path().join("dti")).unwrap();
    let again = made.write(&folder.path().join("dti"));
    assert!(matches!(again, Err(Error::Data(data::Error::Exists { .. }))));
    assert_eq!(Interactions::load_from(&folders).unwrap(), made);
    assert_ne!(Interactions::generate(160, 2), made);
    // Each file is for its years: what else is in it does not get into the other part.
    let test = folder.path().join("dti/test.csv");
    let text = std::fs::read_to_string(&test).unwrap();
    std::fs::write(&test, text.clone() + "C,M,1,2017\n").unwrap();
    assert_eq!(Interactions::load_from(&folders).unwrap(), made);
    // Both are of one folder.
    let other = tempfile::tempdir().unwrap();
    std::fs::create_dir(other.path().join("dti")).unwrap();
    std::fs::write(other.path().join("dti/train_val.csv"), "Drug,Target,Y,Year\nC,M,1,2013\n")
        .unwrap();
    let both = [other.path().to_owned(), folder.path().to_owned()];
    assert_eq!(Interactions::load_from(&both).unwrap(), made);
    assert!(made.drugs.iter().all(|drug| (5..100).contains(&drug.len())));
    assert!(made.proteins.iter().all(|protein| (60..250).contains(&protein.len())));
}

#[test]
fn a_file_of_interactions_says_where_it_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("train_val.csv");
    let read = |text: &str| {
        std::fs::write(&place, text).unwrap();
        Interactions::read(&place).map_err(|error| error.to_string())
    };
    // Columns in any order, tabs, quotes, and columns of no interest.
    let good = read("Year\tY\tDrug_ID\tTarget\tDrug\n2013\t6.5\tx\tMTEY\t\"CC(=O)N\"\n").unwrap();
    assert_eq!((&good.drugs[0][..], &good.proteins[0][..]), ("CC(=O)N", "MTEY"));
    assert_eq!((good.scores[0], good.years[0]), (6.5, 2013));
    let said = read("Drug,Target,Y\nC,M,1\n").unwrap_err();
    assert!(said.ends_with("has no column `Year`; its columns are Drug, Target, Y"), "{said}");
    let said = read("Drug,Target,Y,Year\nC,M,1,2013\nC,M,strong,2013\n").unwrap_err();
    assert!(said.ends_with("line 3, column `Y`: `strong` is not a number"), "{said}");
    let said = read("Drug,Target,Y,Year\n,M,1,2013\n").unwrap_err();
    assert!(said.ends_with("line 2, column `Drug`: `` is not a sequence"), "{said}");
    let early = "Drug,Target,Y,Year\nC,M,1,1999\n";
    std::fs::create_dir(folder.path().join("dti")).unwrap();
    for name in ["train_val.csv", "test.csv"] {
        std::fs::write(folder.path().join("dti").join(name), early).unwrap();
    }
    let said = Interactions::load_from(&[folder.path().into()]).unwrap_err().to_string();
    assert!(said.ends_with("has no rows of the years 2013 to 2018"), "{said}");
}

/// Pearson's correlation by hand: targets 1, 2, 3 and predictions 1, 3, 2 have 1/2; what is constant has none.
#[test]
fn correlations_are_by_target() {
    use ndarray::array;
    use windlass_model::Metrics;

    let y = array![[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]];
    let one = Metrics::compute(&y, &array![[1.0, 5.0], [3.0, 6.0], [2.0, 7.0]], None).r.unwrap();
    assert!((one - f64::midpoint(0.5, 1.0)).abs() < 1e-12, "{one}");
    let flat = Metrics::compute(&y, &array![[1.0, 5.0], [3.0, 5.0], [2.0, 5.0]], None).r.unwrap();
    assert!((flat - 0.5).abs() < 1e-12, "{flat}");
    assert_eq!(Metrics::compute(&y, &array![[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]], None).r, None);
    // A row that counts twice is a row that is there twice.
    let twice = array![[1.0], [2.0], [3.0], [3.0]];
    let predicted = array![[1.0], [3.0], [2.0], [2.0]];
    let [a, b] = [
        Metrics::compute(&twice, &predicted, None),
        Metrics::compute(
            &array![[1.0], [2.0], [3.0]],
            &array![[1.0], [3.0], [2.0]],
            Some(&[1.0, 1.0, 2.0]),
        ),
    ];
    assert!((a.r.unwrap() - b.r.unwrap()).abs() < 1e-12);
    assert!(ReportedMetric::R.is_better_high() && !ReportedMetric::Rmse.is_better_high());
    // Results without it are read.
    let old = r#"{"rows": 3, "rmse": 1.0, "mae": 1.0, "mape": null, "r2": null}"#;
    assert_eq!(serde_json::from_str::<Metrics>(old).unwrap().r, None);
}

/// A small network for synthetic pairs; `generated-dti` needs no files.
const SMALL: &str = "title = 't'\npaper = 'p'\nabout = 'a'\n\
    [[part]]\nname = 'one'\ntitle = 't'\nmetrics = ['r', 'worst-r', 'rmse']\nseeds = [0, 1]\n\
    data = { generated-dti = { rows = 96, seed = 0 } }\nsplit = 'in-order'\n\
    training = { optimizer = 'adam', weight-decay = 0.0, rate = 0.001, batch = 16, epochs = 3 }\n\
    [part.network.deepdta]\nunits = 8\npredictor = [8, 8, 8]\n\
    drug = { alphabet = 63, length = 40, channels = [4, 4, 4], kernels = [4, 4, 4] }\n\
    protein = { alphabet = 26, length = 80, channels = [4, 4, 4], kernels = [4, 4, 4] }\n\
    [[part.candidate]]\nname = 'ERM'\nmethod = 'erm'\npublished = { r = [0.9, 0.01] }\n\
    [[part.candidate]]\nname = 'C-Mixup'\nmethod = 'c-mixup'\nbeta = 2.0\nbandwidth = 1.0\nlayers = [1, 3]\n\
    [[part.candidate]]\nname = 'ADA'\nmethod = 'ada-manifold'\nalpha = 2.0\ngroups = 4\non = 'y'\n\
    [[part]]\nname = 'asked'\ntitle = 'All of it'\nonly-when-asked = true\nmetrics = ['r']\nseeds = [0]\n\
    data = { dti = { most-per-year = [10, 10, 10] } }\nsplit = 'in-order'\nnetwork = { deepdta = {} }\n\
    [[part.candidate]]\nname = 'ERM'\nmethod = 'erm'\n";

fn small() -> Experiment {
    Experiment::parse("small", SMALL).unwrap()
}

#[test]
fn parts_with_networks_are_checked() {
    let refused = |from: &str, to: &str| {
        let text = SMALL.replacen(from, to, 1);
        assert_ne!(text, SMALL);
        Experiment::parse("x", &text).unwrap_err().to_string()
    };
    assert!(refused("layers = [1, 3]", "layers = [1, 4]").contains("no hidden layer 4"));
    assert!(refused("'in-order'", "{ permuted = [1, 1, 1] }").contains("in-order"));
    assert!(
        refused("generated-dti = { rows = 96, seed = 0 }", "set = 'airfoil'").contains("arrays")
    );
    assert!(refused("units = 8", "units = 0").contains("`units` must be 1 or more"));
    let config = small().part[0].config().unwrap();
    assert_eq!(config.deep.len(), config.comparison.specs.len());
    let layers = |place: usize| config.deep[place].augment.as_ref().unwrap().layers.clone();
    assert_eq!((layers(1), layers(2)), (vec![1, 3], vec![1]));
    assert!(matches!(
        &config.splits,
        PublishedSplits::InOrder { column: Some(column), .. } if column == "domain"
    ));
    assert_eq!(config.comparison.rule.domain(), Some("domain"));
    // The configuration survives a round trip.
    let text = serde_json::to_string(&config).unwrap();
    assert_eq!(serde_json::from_str::<PartConfig>(&text).unwrap(), config);
}

/// The rows of the rule, the same for every seed.
#[test]
fn rows_in_order_are_split_by_their_counts() {
    let rows = data::cosine(20, 0.1, false, 0);
    let columns = windlass_table::Columns { target: vec!["y".into()], ..Default::default() };
    let table = windlass_table::Table::from_batch(&rows, Path::new("rows")).unwrap();
    let memory = windlass_table::DEFAULT_MEMORY;
    let loaded = windlass_table::LoadedTable::load(&table, &columns, false, memory, &()).unwrap();
    let in_order = |parts, seeds| PublishedSplits::InOrder { parts, column: None, seeds };
    let splits = in_order([12, 3, 5], vec![4, 2]).splits(&loaded, None, 1).unwrap();
    assert_eq!(splits.iter().map(|one| one.repeat).collect::<Vec<_>>(), [4, 2]);
    for split in splits {
        assert_eq!(split.train, (0..12).collect::<Vec<_>>());
        assert_eq!(split.valid, Some((12..15).collect()));
        assert_eq!(split.test, (15..20).collect::<Vec<_>>());
    }
    assert!(in_order([12, 3, 6], vec![0]).splits(&loaded, None, 1).is_err());
}

#[cfg(not(feature = "deep"))]
#[test]
fn builds_without_deep_networks_say_so() {
    use windlass_cli::terminal::Refusal as _;

    let refused = |experiment, device: Option<&str>| {
        let scope = Scope { device: device.map(str::to_owned), ..Scope::default() };
        let error = Reproduction::new(experiment, scope, Path::new("nowhere")).unwrap_err();
        (error.to_string(), error.hint().unwrap())
    };
    let (said, hint) = refused(named("exchange_rate").unwrap(), None);
    assert_eq!(said, "`exchange_rate` needs deep networks, which this build does not have");
    assert_eq!(
        hint,
        "build it with `cargo build --release --package windlass-paper --features deep`"
    );
    let (said, _) = refused(named("airfoil").unwrap(), Some("cuda"));
    assert!(said.starts_with("--device cuda: "), "{said}");
    let index = tempfile::tempdir().unwrap();
    let page = windlass_paper::reproduce::write_index(index.path()).unwrap();
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("Not run: it needs deep networks"), "{page}");
}

#[cfg(feature = "deep")]
mod built {
    use std::path::PathBuf;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use windlass_compare::{Error as CompareError, Key, Run};
    use windlass_paper::DeepProgress;
    use windlass_train::Epoch;

    use super::*;

    /// Cancels after some epochs, and records them.
    struct Stop {
        left: AtomicUsize,
        epochs: Mutex<Vec<(usize, usize)>>,
    }

    impl Stop {
        fn after(epochs: usize) -> Self {
            Self { left: AtomicUsize::new(epochs), epochs: Mutex::new(vec![]) }
        }
    }

    impl DeepProgress for Stop {
        fn epoch(&self, run: Key, epoch: &Epoch, of: usize) {
            assert_eq!(of, 3);
            self.epochs.lock().unwrap().push((run.repeat, epoch.number));
            let _ = self
                .left
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        }
    }

    impl windlass_compare::RunProgress for Stop {
        fn cancelled(&self) -> bool {
            self.left.load(Ordering::Relaxed) == 0
        }
    }

    fn reproduction(output: &Path) -> Reproduction {
        Reproduction::new(small(), Scope::default(), output).unwrap()
    }

    fn states(reproduction: &Reproduction) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(reproduction.folder().join("one.part"));
        let paths = entries.into_iter().flatten().map(|entry| entry.unwrap().path());
        paths.filter(|path| path.extension().is_some_and(|end| end == "safetensors")).collect()
    }

    fn timeless(runs: &[Run]) -> Vec<Run> {
        runs.iter().map(|run| Run { seconds: 0.0, ..run.clone() }).collect()
    }

    #[test]
    fn a_resumed_run_has_the_same_result() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let whole = reproduction(folders[0].path());
        let part = &whole.experiment().part[0];
        assert!(part.is_wanted(None) && !whole.experiment().part[1].is_wanted(None));
        let finished = whole.run(part, &()).unwrap();
        assert_eq!(finished.stored.runs.len(), 6);
        assert!(!whole.folder().join("one.part").exists());

        let stopped = reproduction(folders[1].path());
        let watch = Stop::after(4);
        let ended = stopped.run(part, &watch);
        assert!(matches!(ended, Err(Error::Compare(CompareError::Interrupted))));
        let kept = states(&stopped);
        assert!(!kept.is_empty(), "a run is under way");
        // What belongs to something else is not taken for ours.
        let bytes = std::fs::read(&kept[0]).unwrap();
        std::fs::write(&kept[0], b"something else").unwrap();
        let refused = stopped.run(part, &());
        assert!(matches!(refused, Err(Error::OtherCheckpoint { .. })), "{refused:?}");
        std::fs::write(&kept[0], bytes).unwrap();

        let watch = Stop::after(usize::MAX);
        let again = stopped.run(part, &watch).unwrap();
        assert!(again.stored.runs.iter().all(|run| run.seconds > 0.0));
        let epochs = watch.epochs.lock().unwrap().len();
        assert!(epochs < 6 * 3, "{epochs} epochs: it did not go on, but began again");
        assert_eq!(timeless(&again.stored.runs), timeless(&finished.stored.runs));
        assert!(!stopped.folder().join("one.part").exists());

        // The same folder with other settings is refused.
        let other = SMALL.replacen("epochs = 3", "epochs = 4", 1);
        let other = Experiment::parse("small", &other).unwrap();
        let other = Reproduction::new(other, Scope::default(), folders[1].path()).unwrap();
        let refused = other.run(&other.experiment().part[0], &());
        assert!(
            matches!(refused, Err(Error::Compare(CompareError::OtherResults { .. }))),
            "{refused:?}"
        );

        page_of(&whole, finished);
    }

    fn page_of(whole: &Reproduction, finished: windlass_paper::reproduce::FinishedPart) {
        assert!(
            finished.stored.runs.iter().all(|run| run.blocks.len() == 20 && run.domains.len() == 2)
        );
        let page = std::fs::read_to_string(whole.write(&[finished]).unwrap()).unwrap();
        for words in [
            "DeepDTA, Adam, rate 0.001, batches of 16, 3 epochs",
            "on one of the hidden layers 1, 3, drawn for every step",
            "training, 12 validation and 24 test rows: drugs and proteins that are made up",
            "**R**, ours against the paper. Worse: ERM",
            "* **All of it**: `windlass-paper reproduce small --only asked`, with files of your own.",
        ] {
            assert!(page.contains(words), "{words}: {page}");
        }
    }

    #[test]
    fn missing_devices_are_refused() {
        let refused = |device: &str| {
            let scope = Scope { device: Some(device.to_owned()), ..Scope::default() };
            Reproduction::new(small(), scope, Path::new("nowhere")).unwrap_err().to_string()
        };
        assert!(refused("gpu").starts_with("--device gpu: a device is cpu"));
        if !cfg!(feature = "cuda") {
            assert!(refused("cuda:1").starts_with("--device cuda:1: "));
        }
    }

    #[test]
    fn image_networks_start_from_pretrained_weights() {
        let images = "title = 't'\npaper = 'p'\nabout = 'a'\n\
            [[part]]\nname = 'one'\ntitle = 't'\nmetrics = ['rmse']\nseeds = [0]\nsplit = 'in-order'\n\
            data = { rcf-mnist = { images = 60 } }\n\
            network = { resnet18 = { side = 16, widths = [4, 6, 8, 10] } }\n\
            [[part.candidate]]\nname = 'ERM'\nmethod = 'erm'\n";
        let weights = "tests/networks_golden/resnet18.pth";
        let start = |text: &str, weights: &str| {
            let experiment = Experiment::parse("images", text).unwrap();
            let scope = Scope { weights: Some(weights.into()), ..Scope::default() };
            Reproduction::new(experiment, scope, Path::new("nowhere"))
        };
        let given = start(images, weights).unwrap();
        assert_eq!(given.command(), format!("windlass-paper reproduce images --weights {weights}"));
        let recipes = given.experiment().part[0].config().unwrap().deep;
        let text = serde_json::to_string(&recipes[0]).unwrap();
        assert!(text.contains(weights), "{text}");

        let refused =
            |text: &str, weights: &str| start(text, weights).map(|_| ()).unwrap_err().to_string();
        let said = refused(&images.replace("8, 10]", "8, 12]"), weights);
        assert!(said.starts_with("--weights: ") && said.contains("not [12, 8, 3, 3]"), "{said}");
        let said = refused(images, "absent.pth");
        assert!(said.starts_with("--weights: absent.pth: "), "{said}");
        let said = refused(SMALL, weights);
        assert_eq!(said, "--weights: `images` has no network for images");
    }

    #[test]
    fn every_deep_part_is_small_with_quick() {
        for name in ["exchange_rate", "electricity", "rcf-mnist", "dti"] {
            for part in named(name).unwrap().quick().part {
                assert_eq!(part.rows_at_most, Some(256), "{name}");
                let config = part.config().unwrap();
                assert_eq!(config.deep.len(), config.comparison.specs.len(), "{name}");
                for recipe in config.deep {
                    assert!(recipe.training.epochs <= 2, "{name}");
                }
            }
        }
    }
}
