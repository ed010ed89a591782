//! The data sets: what is in them, and what is refused. Numbers are those that their publishers and the
//! published protocol state.

use std::collections::BTreeSet;
use std::path::PathBuf;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;
use windlass_paper::data::{self, DataSet, Error, MnistSplit, RcfMnist, RcfSplit};

/// The path of a data set's first file, unless it is absent.
#[expect(clippy::print_stdout, reason = "says what was skipped")]
fn path(name: &str) -> Option<PathBuf> {
    match data::named(name).unwrap().paths(&data::search_dirs()) {
        Ok(paths) => Some(paths[0].clone()),
        Err(Error::Absent { .. }) => {
            println!("skipped: data set `{name}` is absent");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// The table, unless it is absent.
fn table(name: &str) -> Option<RecordBatch> {
    path(name)?;
    Some(data::named(name).unwrap().load().unwrap())
}

fn numbers(table: &RecordBatch, column: &str) -> Vec<f64> {
    let column = table.column_by_name(column).unwrap().as_primitive::<Float64Type>();
    assert_eq!(column.null_count(), 0);
    column.values().to_vec()
}

fn domains(table: &RecordBatch, column: &str) -> Vec<i64> {
    let column = table.column_by_name(column).unwrap().as_primitive::<Int64Type>();
    assert_eq!(column.null_count(), 0);
    column.values().to_vec()
}

fn names(table: &RecordBatch) -> Vec<String> {
    table.schema().fields().iter().map(|field| field.name().clone()).collect()
}

/// Numbers of missing values by column.
fn missing(table: &RecordBatch) -> Vec<(String, usize)> {
    let counts = names(table).into_iter().zip(table.columns()).map(|(n, c)| (n, c.null_count()));
    counts.filter(|(_, count)| *count > 0).collect()
}

/// Checks rows, columns and missing values; mean, deviation, least and largest of the target, as far as their
/// digits are stated. Returns the table, unless it is absent.
fn checked(
    name: &str,
    shape: (usize, usize, usize),
    [mean, std, min, max]: [f64; 4],
) -> Option<RecordBatch> {
    let table = table(name)?;
    let set = data::named(name).unwrap();
    let nulls = missing(&table).iter().map(|(_, count)| count).sum::<usize>();
    assert_eq!((table.num_rows(), table.num_columns(), nulls), shape);
    assert_eq!(table.num_rows(), set.rows);
    let y = numbers(&table, set.target.unwrap());
    assert_moments(name, &y, [mean, std, min, max]);
    Some(table)
}

fn assert_moments(name: &str, y: &[f64], [mean, std, min, max]: [f64; 4]) {
    let n = y.len() as f64;
    let y_mean = y.iter().sum::<f64>() / n;
    let variance = y.iter().map(|v| (v - y_mean).powi(2)).sum::<f64>() / n;
    let least = y.iter().copied().fold(f64::INFINITY, f64::min);
    let largest = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // The deviations are stated to four digits at least, all else to six or in full.
    let near = |got: f64, want: f64, tolerance: f64| {
        assert!((got - want).abs() <= tolerance * want.abs(), "{name}: {got}, expected {want}");
    };
    near(variance.sqrt(), std, 1e-4);
    for (got, want) in [(y_mean, mean), (least, min), (largest, max)] {
        near(got, want, 5e-6);
    }
}

#[test]
fn airfoil() {
    checked("airfoil", (1503, 6, 0), [124.836, 6.896, 103.38, 140.987]);
}

#[test]
fn no2() {
    checked("no2", (500, 8, 0), [3.69837, 0.74985, 1.22378, 6.39509]);
}

#[test]
fn boston() {
    checked("boston", (506, 14, 0), [22.5328, 9.18801, 5.0, 50.0]);
}

#[test]
fn concrete() {
    let Some(table) = checked("concrete", (1030, 9, 0), [35.8178, 16.6976, 2.33181, 82.5992])
    else {
        return;
    };
    let columns: Vec<Vec<f64>> = names(&table).iter().map(|name| numbers(&table, name)).collect();
    let row = |at: usize| columns.iter().map(|column| column[at].to_bits()).collect::<Vec<u64>>();
    let distinct: BTreeSet<Vec<u64>> = (0..1030).map(row).collect();
    assert_eq!(1030 - distinct.len(), 25);
}

#[test]
fn yacht() {
    checked("yacht", (308, 7, 0), [10.4954, 15.1359, 0.01, 62.42]);
}

#[test]
fn auto_mpg() {
    let Some(table) = checked("auto_mpg", (398, 9, 6), [23.5146, 7.80616, 9.0, 46.6]) else {
        return;
    };
    assert_eq!(missing(&table), [("horsepower".into(), 6)]);
    let cars = table.column_by_name("car_name").unwrap().as_string::<i32>();
    assert_eq!((cars.value(0), cars.value(397)), ("chevrolet chevelle malibu", "chevy s-10"));
}

/// scikit-learn's columns, their order, and its first row.
#[test]
fn california() {
    let target = [2.06856, 1.15393, 0.14999, 5.00001];
    let Some(table) = checked("california", (20640, 9, 0), target) else { return };
    let first = [
        ("MedInc", 8.3252),
        ("HouseAge", 41.0),
        ("AveRooms", 880.0 / 126.0),
        ("AveBedrms", 129.0 / 126.0),
        ("Population", 322.0),
        ("AveOccup", 322.0 / 126.0),
        ("Latitude", 37.88),
        ("Longitude", -122.23),
        ("MedHouseVal", 4.526),
    ];
    assert_eq!(names(&table), first.map(|(name, _)| name));
    for (name, want) in first {
        assert_eq!(numbers(&table, name)[0], want, "{name}");
    }
    let largest = numbers(&table, "MedHouseVal").into_iter().filter(|&value| value == 5.00001);
    assert_eq!(largest.count(), 965);
}

/// 17 inputs, the target and the league; no number of the game.
#[test]
fn skillcraft() {
    let target = [63.7394, 19.236, 24.0936, 176.372];
    let Some(table) = checked("skillcraft", (3395, 19, 168), target) else { return };
    assert!(!names(&table).contains(&"game_id".to_owned()));
    let want = [("age", 55), ("hours_per_week", 56), ("total_hours", 57)];
    assert_eq!(missing(&table), want.map(|(name, count)| (name.to_owned(), count)));
    let leagues = domains(&table, "league");
    let rows = |league: i64| leagues.iter().filter(|&&value| value == league).count();
    let counts: Vec<usize> = (1..=8).map(rows).collect();
    assert_eq!(counts, [167, 347, 553, 811, 806, 621, 35, 55]);
}

/// 122 inputs, the target and the state; nothing else that names a place.
#[test]
fn crime() {
    let target = [0.237_979, 0.232_926, 0.0, 1.0];
    let Some(table) = checked("crime", (1994, 124, 36_851), target) else { return };
    assert_eq!(names(&table)[..2], ["state", "population"]);
    let missing = missing(&table);
    assert_eq!(missing[0], ("other_per_cap".into(), 1));
    assert_eq!((missing[1].0.as_str(), missing.len()), ("lemas_sworn_ft", 23));
    assert_eq!(missing[22].0, "polic_budg_per_pop");
    assert!(missing[1..].iter().all(|(_, count)| *count == 1675));
    let states: BTreeSet<i64> = domains(&table, "state").into_iter().collect();
    assert_eq!(states.len(), 46);
}

/// Eight rates of 7588 days, none of them to be predicted from the others.
#[test]
fn exchange_rate() {
    let Some(table) = table("exchange_rate") else { return };
    assert_eq!((table.num_rows(), table.num_columns()), (7588, 8));
    assert!(missing(&table).is_empty());
    let columns: Vec<Vec<f64>> = names(&table).iter().map(|name| numbers(&table, name)).collect();
    let all = || columns.iter().flatten().copied();
    assert_eq!(all().fold(f64::INFINITY, f64::min), 0.006_254);
    assert_eq!(all().fold(f64::NEG_INFINITY, f64::max), 2.109);
    let repeats = (1..7588).filter(|&row| columns.iter().all(|c| c[row] == c[row - 1]));
    assert_eq!(repeats.count(), 182);
    assert_eq!(
        columns.iter().map(|column| column[0]).collect::<Vec<_>>()[..3],
        [0.7855, 1.611, 0.861_698]
    );
}

/// Two parts of one data set agree where they overlap.
#[test]
fn electricity() {
    let (Some(all_hours), Some(channels)) = (table("electricity"), table("electricity_1000h"))
    else {
        return;
    };
    assert_eq!((all_hours.num_rows(), all_hours.num_columns()), (26_304, 3));
    assert_eq!((channels.num_rows(), channels.num_columns()), (1000, 204));
    assert!(missing(&all_hours).is_empty() && missing(&channels).is_empty());
    for (name, mean, largest) in [("0", 23.26, 140.0), ("OT", 3335.88, 6035.0)] {
        let values = numbers(&all_hours, name);
        let found = values.iter().sum::<f64>() / values.len() as f64;
        assert!((found - mean).abs() < 0.005, "{name}: {found}");
        assert_eq!(values.iter().copied().fold(0.0, f64::max), largest);
        assert_eq!(values[..1000], numbers(&channels, name));
    }
    for name in ["electricity", "electricity_1000h"] {
        let note = data::named(name).unwrap().note.unwrap();
        assert!(note.contains("not comparable"), "{note}");
    }
}

#[test]
#[expect(clippy::print_stdout, reason = "says what was skipped")]
fn fashion_mnist() {
    for (part, count, mean) in
        [(MnistSplit::Train, 60_000, 0.28604), (MnistSplit::T10k, 10_000, 0.28685)]
    {
        let images = match data::fashion_mnist_from(part, &data::search_dirs()) {
            Err(Error::Absent { .. }) => {
                println!("skipped: data set `fashion_mnist` is absent");
                return;
            }
            images => images.unwrap(),
        };
        assert_eq!(images.pixels.dim(), (count, 28, 28));
        let sum: u64 = images.pixels.iter().map(|&pixel| u64::from(pixel)).sum();
        let found = sum as f64 / (count * 28 * 28) as f64 / 255.0;
        assert!((found - mean).abs() < 5e-6, "{found}");
        let mut classes = [0; 10];
        for &label in &images.labels {
            classes[usize::from(label)] += 1;
        }
        assert_eq!(classes, [count / 10; 10]);
    }
    let refused = data::named("fashion_mnist").unwrap().load().unwrap_err();
    assert_eq!(refused.to_string(), "dataset `fashion_mnist` contains images, not a table");
}

/// Copies of the ten thousand whose labels end early, are altered, or are no gzip at all.
#[test]
fn damaged_images_are_refused() {
    let Some(path) = path("fashion_mnist") else { return };
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("fashion_mnist");
    std::fs::create_dir_all(&own).unwrap();
    let (images, labels) = ("t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz");
    std::fs::copy(path.with_file_name(images), own.join(images)).unwrap();
    let whole = std::fs::read(path.with_file_name(labels)).unwrap();
    let said = |bytes: &[u8]| {
        std::fs::write(own.join(labels), bytes).unwrap();
        let error =
            data::fashion_mnist_from(MnistSplit::T10k, &[folder.path().into()]).unwrap_err();
        assert!(error.hint().is_some() && !error.is_fault());
        let message = error.to_string();
        assert!(message.contains(labels), "{message}");
        message
    };
    for at in [0, 5, 17, 40, 1000, whole.len() - 1] {
        assert!(said(&whole[..at]).contains("is not a complete gzip file"));
        let mut altered = whole.clone();
        altered[at] ^= 1;
        said(&altered);
    }
    assert!(said(b"no gzip").contains("is not a complete gzip file"));
    std::fs::copy(path.with_file_name(images), own.join(labels)).unwrap();
    let error = data::fashion_mnist_from(MnistSplit::T10k, &[folder.path().into()]).unwrap_err();
    assert!(error.to_string().ends_with("of labels: it begins with [0, 0, 8, 3]"), "{error}");
}

#[test]
fn unavailable_sets_are_refused_with_their_source() {
    for name in ["dti", "poverty_map"] {
        let set = data::named(name).unwrap();
        let error = set.load().unwrap_err();
        assert_eq!(error.to_string(), format!("dataset `{name}` is not available yet"));
        assert!(error.hint().unwrap().contains("https://") && set.is_unavailable());
    }
}

/// Every image has the angle and the color that its part says.
#[test]
fn rcf_mnist_has_its_colors() {
    let Some(_) = path("fashion_mnist") else { return };
    let source = data::fashion_mnist_from(MnistSplit::Train, &data::search_dirs()).unwrap();
    let made = RcfMnist::generate(&source, 600, 3).unwrap();
    assert_eq!(made, RcfMnist::generate(&source, 600, 3).unwrap());
    assert_ne!(made, RcfMnist::generate(&source, 600, 4).unwrap());
    let follow = |part: &RcfSplit| {
        let pairs = part.red.iter().zip(&part.targets);
        pairs.filter(|(red, g)| red == g).count()
    };
    let parts = [&made.train, &made.valid, &made.test];
    assert_eq!(parts.map(|part| part.pixels.dim().0), [400, 100, 100]);
    assert_eq!(parts.map(follow), [320, 0, 20]);
    for part in [&made.train, &made.test] {
        assert!(part.red.iter().zip(&part.targets).all(|(r, g)| r == g || *r == 1.0 - g));
    }
    let mut sources: Vec<usize> = parts.iter().flat_map(|part| &part.sources).copied().collect();
    sources.sort_unstable();
    sources.dedup();
    assert_eq!(sources.len(), 600, "no image twice");
    for part in parts {
        assert!(part.targets.iter().all(|g| (0.0..1.0).contains(g)));
        for (at, red) in part.red.iter().enumerate() {
            let sum = |channel| {
                let pixels = part.pixels.slice(ndarray::s![at, channel, .., ..]);
                pixels.iter().map(|&pixel| f64::from(pixel)).sum::<f64>()
            };
            let share = sum(0) / (sum(0) + sum(2));
            assert!((share - red).abs() < 0.03, "{share} against {red}");
        }
    }
    for bad in [0, 5, 60_001] {
        let error = RcfMnist::generate(&source, bad, 0).unwrap_err();
        assert!(matches!(error, Error::Images { .. }) && error.hint().is_some());
    }
}

#[test]
fn types_say_what_a_column_is() {
    for set in data::all().iter().filter(|set| !set.columns().is_empty()) {
        let Some(table) = table(set.name) else { continue };
        assert!(set.target.is_none_or(|target| table.column_by_name(target).is_some()));
        let columns = set.columns().into_iter().map(|column| (column.name, column.kind));
        let schema = table.schema();
        let found = schema.fields().iter().map(|field| {
            let kind = field.data_type().to_string().to_lowercase();
            (field.name().clone(), kind)
        });
        let want = columns.map(|(name, kind)| (name.to_owned(), kind.to_owned()));
        assert_eq!(found.collect::<Vec<_>>(), want.collect::<Vec<_>>());
        for field in table.schema().fields() {
            let want = match field.name().as_str() {
                "car_name" | "date" => DataType::Utf8,
                name if Some(name) == set.domain => DataType::Int64,
                _ => DataType::Float64,
            };
            assert_eq!(*field.data_type(), want, "{} of {}", field.name(), set.name);
        }
    }
}

#[test]
fn files_have_the_sizes_of_the_registry() {
    for set in data::all().iter().filter(|set| !set.is_unavailable()) {
        let Some(_) = path(set.name) else { continue };
        for (file, path) in set.files.iter().zip(set.paths(&data::search_dirs()).unwrap()) {
            assert_eq!(path.metadata().unwrap().len(), file.bytes, "{}", file.path);
        }
    }
}

/// A folder in which a data set's file holds these bytes.
fn folder_with(set: &DataSet, bytes: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(set.files[0].path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
    folder
}

/// Why these bytes are refused; the path of the file must be said, and is `FILE` here.
fn refusal(name: &str, bytes: &[u8]) -> String {
    let set = data::named(name).unwrap();
    let folder = folder_with(set, bytes);
    let error = set.load_from(&[folder.path().into()]).unwrap_err();
    assert!(error.hint().is_some() && !error.is_fault(), "{error}");
    let path = format!("`{}`", folder.path().join(set.files[0].path).display());
    let message = error.to_string();
    assert!(message.contains(&path), "{message}");
    message.replace(&path, "FILE")
}

#[test]
fn damage_is_refused_by_line_and_column() {
    const GOOD: &str = "800\t0\t0.3\t71.3\t0.002\t126.2\n";
    let after = |line: &str| refusal("airfoil", format!("{GOOD}{line}").as_bytes());
    let not_a_number =
        |value: &str| format!("FILE, line 2, column `chord_length`: `{value}` is not a number");
    for value in ["x", "nan", "inf", "1e999", "?", "0,3"] {
        assert_eq!(after(&GOOD.replace("0.3", value)), not_a_number(value));
    }
    assert_eq!(after("800\t0\t\"0.3"), not_a_number("\"0.3"));
    assert_eq!(after("800\t0\t0.3\n"), "FILE, line 2 ends before column `free_stream_velocity`");
    assert_eq!(after("\n800\t0\n"), "FILE, line 2 ends before column `frequency`");
    let want = "FILE, line 2 has fields after the last column `scaled_sound_pressure_level`";
    assert_eq!(after(&GOOD.replace('\n', "\t7\n")), want);
    assert_eq!(after(GOOD), "FILE ends with line 2: expected 1503 rows, got 2");
    assert_eq!(refusal("airfoil", b""), "FILE ends with line 0: expected 1503 rows, got 0");
}

#[test]
fn damage_of_names_quotes_and_domains_is_refused() {
    let car = b"18.0   8   307.0      130.0      3504.      12.0   70  1\t\"chevrolet\n";
    let want = "FILE, line 1, column `car_name`: `\"chevrolet` is not a name";
    assert_eq!(refusal("auto_mpg", car), want);
    let car = b"18.0 8 307.0 130.0 3504. 12.0 70 1\t\"\xff\"\n";
    let want = "FILE, line 1, column `car_name`: `\"\u{fffd}\"` is not a name";
    assert_eq!(refusal("auto_mpg", car), want);
    let want = "FILE, line 2, column `league`: `5.5` is not a whole number";
    assert_eq!(refusal("skillcraft", b"\"GameID\"\r\n52,5.5,27\r\n"), want);
    let want = "FILE, line 2 ends before column `hours_per_week`";
    assert_eq!(refusal("skillcraft", b"\"GameID\"\n52,5,\"?\"\n"), want);
}

#[test]
fn other_bytes_are_refused_with_both_checksums() {
    let rows = "800\t0\t0.3\t71.3\t0.002\t126.2\n".repeat(1503);
    let want = "FILE has SHA-256 56aabe1b10b051317a91e85a9ad17940a456b4d615f050f52d670468a9642004, \
                expected 10ee06e6cfb27dae6b44213d421d217012fb1f9b697592e73a4e4016b52d425f";
    assert_eq!(refusal("airfoil", rows.as_bytes()), want);
    let want = "FILE has SHA-256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855, \
                expected 0233dedd4c6f36b73ce7ffe2dd607eb5373ea74de1fe2a88c1b69fd69fabfad3";
    assert_eq!(refusal("concrete", b""), want);
}

/// Wherever a file ends too early, and whichever byte of it is another, it is refused.
#[test]
fn shortened_and_altered_copies_are_refused() {
    for set in data::all().iter().filter(|set| !set.columns().is_empty()) {
        let Some(path) = path(set.name) else { continue };
        let whole = std::fs::read(path).unwrap();
        let step = whole.len() / 23;
        for at in (step / 2..whole.len()).step_by(step) {
            refusal(set.name, &whole[..at]);
            let mut altered = whole.clone();
            altered[at] ^= 1;
            refusal(set.name, &altered);
        }
        refusal(set.name, &whole[..whole.len() - 1]);
    }
}

#[test]
fn absent_sets_are_refused_with_every_place_and_what_to_do() {
    let set = data::named("yacht").unwrap();
    let error = set.load_from(&["/nowhere".into(), "/elsewhere".into()]).unwrap_err();
    let want = "dataset `yacht` is missing: no `yacht/yacht_hydrodynamics.data` in `/nowhere`, \
                `/elsewhere`";
    assert_eq!(error.to_string(), want);
    let hint = error.hint().unwrap();
    assert!(hint.contains("WINDLASS_DATA") && hint.contains("github.com/yaringal"), "{hint}");
}

#[test]
fn the_first_folder_that_has_a_set_is_taken() {
    let set = data::named("yacht").unwrap();
    let none = tempfile::tempdir().unwrap();
    let (first, second) = (folder_with(set, b"1"), folder_with(set, b"2"));
    let folders = [&none, &first, &second].map(|folder| folder.path().to_path_buf());
    assert_eq!(set.paths(&folders).unwrap(), [first.path().join(set.files[0].path)]);
}

#[test]
fn unknown_names_are_refused_with_the_known() {
    let error = data::named("titanic").unwrap_err();
    assert_eq!(error.to_string(), "unknown dataset `titanic`");
    let want = "datasets are airfoil, no2, boston, concrete, yacht, auto_mpg, california, \
                skillcraft, crime, exchange_rate, electricity, electricity_1000h, fashion_mnist, \
                dti, poverty_map";
    assert_eq!(error.hint().unwrap(), want);
}

#[test]
fn errors_can_be_sent() {
    fn sent<T: Send + Sync + 'static>() {}
    sent::<Error>();
}
