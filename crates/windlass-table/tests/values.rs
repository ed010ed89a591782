//! Synthetic values: their decimals, and the bounds that they keep to.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt8Type};
use arrow_array::{
    ArrayRef, DictionaryArray, DurationSecondArray, ListArray, RecordBatch, StringArray, UInt8Array,
};
use tempfile::TempDir;
use windlass::{
    ClusterCount, GammaDistribution, MethodInfo, MethodParams, ParamStyle, Seed, Stream,
};
use windlass_table::{
    AdaConfig, AugmentConfig, AugmentSummary, Augmentation, Bounds, DEFAULT_MEMORY, Decimals,
    Fitted, Inspection, Manifest, MethodConfig, ReadOptions, Sink, Table, Verdict, VerifyOptions,
    WriteOptions,
};

fn open(path: &Path) -> Table {
    Table::open(&[path.to_owned()], &ReadOptions::default()).unwrap()
}

fn put(dir: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = dir.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn made(table: &Table, settings: &AugmentConfig) -> (Vec<RecordBatch>, AugmentSummary) {
    let augmentation = Augmentation::fit(table, settings, DEFAULT_MEMORY, &()).unwrap();
    made_by(&augmentation)
}

fn made_by(augmentation: &Augmentation<'_>) -> (Vec<RecordBatch>, AugmentSummary) {
    let mut batches = vec![];
    let summary = augmentation.write(&(), None, &mut |copy, batch| {
        if copy > 0 {
            batches.push(batch);
        }
        Ok(())
    });
    (batches, summary.unwrap())
}

fn floats(batches: &[RecordBatch], name: &str) -> Vec<f64> {
    let column = |batch: &RecordBatch| {
        batch.column_by_name(name).unwrap().as_primitive::<Float64Type>().values().to_vec()
    };
    batches.iter().flat_map(column).collect()
}

/// The number of decimals of a float as it is printed.
fn decimals(value: f64) -> i32 {
    let text = value.to_string();
    assert!(!text.contains('e'), "{text}");
    text.split_once('.').map_or(0, |(_, digits)| i32::try_from(digits.len()).unwrap())
}

fn most_decimals(batches: &[RecordBatch], name: &str) -> i32 {
    floats(batches, name).into_iter().map(decimals).max().unwrap()
}

/// Columns with 2, 0 to 3 and 5 decimals (in scientific notation), one of integers, and a target with 1.
fn table_of(rows: usize) -> String {
    let mut text = String::from("price,mixed,tiny,n,y\n");
    for row in 0..rows {
        let draw = |step| Seed(3).at(Stream::Sample, step, row as u64).normal();
        let mixed = match row % 3 {
            0 => format!("{:.0}", 9.0 * draw(1)),
            1 => format!("{:.1}", 9.0 * draw(1)),
            _ => format!("{:.3}", 9.0 * draw(1)),
        };
        let (price, tiny, y) = (100.0 + 20.0 * draw(0), 1 + row % 89, 50.0 * draw(3));
        writeln!(text, "{price:.2},{mixed},{tiny}e-5,{row},{y:.1}").unwrap();
    }
    text
}

#[test]
fn text_keeps_its_decimals_and_other_formats_all() {
    let dir = tempfile::tempdir().unwrap();
    let path = put(&dir, "in.csv", &table_of(300));
    let table = open(&path);
    let settings = AugmentConfig { copies: 2, ..AugmentConfig::new(&["y"]) };
    let (rounded, _) = made(&table, &settings);
    let expected = [("price", 2), ("mixed", 3), ("tiny", 5), ("y", 1)];
    for (name, most) in expected {
        assert_eq!(most_decimals(&rounded, name), most, "{name}");
        assert!(floats(&rounded, name).iter().all(|value| value.to_bits() != (-0.0_f64).to_bits()));
    }
    let full = AugmentConfig { decimals: Decimals::Full, ..settings.clone() };
    let (exact, _) = made(&table, &full);
    for (name, most) in expected {
        assert!(most_decimals(&exact, name) > 10, "{name}");
        let half = 0.5 * 10_f64.powi(-most);
        for (rounded, exact) in floats(&rounded, name).iter().zip(floats(&exact, name)) {
            assert!((rounded - exact).abs() <= half * (1.0 + 1e-9), "{name}: {rounded}, {exact}");
        }
    }
    // Every method rounds.
    for name in ["mixup", "local-mixup", "noise", "foma", "cems"] {
        let method = MethodInfo::named(name).unwrap();
        let method = MethodConfig::new(method, &MethodParams::default()).unwrap();
        let (rows, _) = made(&table, &AugmentConfig { method, ..settings.clone() });
        assert_eq!(most_decimals(&rows, "y"), 1, "{name}");
    }
    let parquet = dir.path().join("in.parquet");
    let schema = table.schema();
    let mut sink = Sink::create(&parquet, &WriteOptions::default(), schema, None).unwrap();
    for block in table.blocks() {
        sink.write(0, &block.unwrap()).unwrap();
    }
    sink.finish().unwrap();
    let (same, _) = made(&open(&parquet), &settings);
    assert_eq!(same, exact);
}

/// The longest value is far from the first chunk, and the type of its column is known only there.
#[test]
fn decimals_do_not_depend_on_chunks() {
    let dir = tempfile::tempdir().unwrap();
    let mut lines: Vec<String> = table_of(120_000).lines().map(str::to_owned).collect();
    lines[60_001] = "1.00000,1,1e-5,1.25,1".into();
    let whole = put(&dir, "whole.csv", &(lines.join("\n") + "\n"));
    let table = open(&whole);
    let most = table.decimals();
    assert_eq!(most.values().copied().collect::<Vec<_>>(), [3, 2, 5, 5, 1]);
    let small = ReadOptions { memory: 32 << 20, ..ReadOptions::default() };
    assert_eq!(Table::open(&[whole], &small).unwrap().decimals(), most);
    let parts: Vec<PathBuf> = lines[1..]
        .chunks(7001)
        .enumerate()
        .map(|(part, rows)| {
            let text = format!("{}\n{}\n", lines[0], rows.join("\n"));
            put(&dir, &format!("part{part}.csv"), &text)
        })
        .collect();
    assert_eq!(Table::open(&parts, &ReadOptions::default()).unwrap().decimals(), most);
}

#[test]
fn decimals_are_fitted_and_verified() {
    let dir = tempfile::tempdir().unwrap();
    let path = put(&dir, "in.csv", &table_of(100));
    let table = open(&path);
    let settings = AugmentConfig { provenance: true, ..AugmentConfig::new(&["y"]) };
    let augmentation = Augmentation::fit(&table, &settings, DEFAULT_MEMORY, &()).unwrap();
    let manifest = augmentation.manifest();
    assert_eq!(manifest.decimals["price"], 2);
    assert!(!manifest.decimals.contains_key("n"));
    let json = augmentation.fitted().to_json().unwrap();
    // Another table with more decimals gets those that were fitted.
    let more = put(&dir, "more.csv", &table_of(100).replace(".5\n", ".505\n"));
    let fitted = || std::sync::Arc::new(Fitted::from_json(&json, &path).unwrap());
    let other = open(&more);
    let by_fitted = Augmentation::with(&other, fitted(), DEFAULT_MEMORY, &()).unwrap();
    assert_eq!(most_decimals(&made_by(&by_fitted).0, "y"), 1);
    // The same table in another format verifies by the manifest.
    let output = dir.path().join("out.parquet");
    let copy = dir.path().join("in.parquet");
    for (path, schema) in [(&output, augmentation.schema()), (&copy, table.schema())] {
        let mut sink = Sink::create(path, &WriteOptions::default(), schema, None).unwrap();
        if path == &output {
            augmentation.write(&(), None, &mut sink).unwrap();
        } else {
            table.blocks().for_each(|block| sink.write(0, &block.unwrap()).unwrap());
        }
        sink.finish().unwrap();
    }
    let read: Manifest = serde_json::from_str(&manifest.to_json()).unwrap();
    let holds = |manifest: &Manifest, input: &Path| {
        let options = VerifyOptions { manifest: Some(manifest), ..VerifyOptions::default() };
        let verdict = Verdict::verify(&open(&output), &open(input), options, DEFAULT_MEMORY, &());
        verdict.unwrap().holds()
    };
    assert!(holds(&read, &path) && holds(&read, &copy));
    assert!(!holds(&Manifest { decimals: [("price".into(), 1)].into(), ..read }, &path));
    let by_hash = Manifest { fitted: by_fitted.manifest().fitted, ..manifest };
    assert!(by_hash.fitted.is_some());
}

fn expanding(gamma: f64) -> AugmentConfig {
    let gamma = GammaDistribution::List(vec![gamma]);
    let ada = AdaConfig { clusters: ClusterCount::Count(1), gamma, ..AdaConfig::default() };
    AugmentConfig { method: MethodConfig::Ada(ada), ..AugmentConfig::new(&["y"]) }
}

#[test]
fn bounds_clip_synthetic_values_and_refuse_others() {
    let dir = tempfile::tempdir().unwrap();
    let text = "hours,n,y\n1.0,1,2.0\n12.5,2,4.0\n23.0,30,6.0\n";
    let path = put(&dir, "in.csv", text);
    let table = open(&path);
    let bounded = |bounds: &[(&str, &str)]| {
        let mut settings = expanding(0.01);
        settings.columns.continuous = vec!["n".into()];
        let bound = |(name, text): &(&str, &str)| ((*name).to_owned(), text.parse().unwrap());
        settings.bounds = bounds.iter().map(bound).collect();
        settings
    };
    // An end between two values of the column's decimals is not passed.
    let (rows, summary) = made(&table, &bounded(&[("hours", "0.96..24"), ("n", "0.5..31.5")]));
    assert_eq!(floats(&rows, "hours"), [1.0, 15.5, 24.0]);
    let n = rows[0].column_by_name("n").unwrap().as_primitive::<Int64Type>().values().to_vec();
    assert_eq!(n, [1, 1, 31]);
    let outside: Vec<_> = summary
        .outside
        .iter()
        .map(|of| (of.column.as_str(), of.below, of.above, of.clipped))
        .collect();
    assert_eq!(outside, [("hours", 1, 1, true), ("n", 2, 1, true), ("y", 1, 1, false)]);
    let (rows, _) = made(&table, &bounded(&[("hours", "0..")]));
    assert_eq!(floats(&rows, "hours")[0], 0.0);
    assert!(floats(&rows, "hours")[2] > 100.0);
    // Within the observed range and the bounds.
    let both = AugmentConfig { clip: true, ..bounded(&[("hours", "0..24")]) };
    let (rows, _) = made(&table, &both);
    assert_eq!(floats(&rows, "hours"), [1.0, 15.5, 23.0]);

    for (bounds, message, hint) in [
        (
            ("hours", "..20"),
            "column `hours` is 23 in row 3 (line 4), outside its bounds ..20",
            "--bounds",
        ),
        (("n", "2..40"), "column `n` is 1 in row 1 (line 2), outside its bounds 2..40", "wider"),
        (("hour", "0..24"), "no such column: `hour`, named by --bounds", "`hours`?"),
    ] {
        let refused = Augmentation::fit(&table, &bounded(&[bounds]), DEFAULT_MEMORY, &());
        let refused = refused.unwrap_err();
        assert_eq!(format!("{refused:#}"), message);
        assert!(refused.hint(ParamStyle::Command).unwrap().contains(hint));
    }
    // Also in a table that is augmented with what was fitted on another.
    let fitted = Augmentation::fit(&table, &bounded(&[("hours", "0..24")]), DEFAULT_MEMORY, &());
    let json = fitted.unwrap().fitted().to_json().unwrap();
    assert!(json.contains("\"hours\": \"0..24\""), "{json}");
    let other = put(&dir, "other.csv", &text.replace("12.5", "25.5"));
    let fitted = std::sync::Arc::new(Fitted::from_json(&json, &path).unwrap());
    let refused = Augmentation::with(&open(&other), fitted, DEFAULT_MEMORY, &()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "column `hours` is 25.5 in row 2 (line 3), outside its bounds 0..24"
    );
}

#[test]
fn bounds_are_read() {
    for text in ["0..24", "..24", "-1.5..", "1e-3..2.5", "-5..-2"] {
        let bounds: Bounds = text.parse().unwrap();
        assert_eq!(bounds.to_string().parse::<Bounds>().unwrap(), bounds);
    }
    for text in ["", "..", "24", "2..1", "a..b", "nan..1", "0..inf"] {
        assert!(text.parse::<Bounds>().is_err(), "{text}");
    }
}

#[test]
fn distinct_floats_are_counted_and_a_plot_needs_values_that_vary() {
    let dir = tempfile::tempdir().unwrap();
    let mut text = String::from("same,two,gap,x,word,y\n");
    for row in 0..80 {
        let two = if row % 2 == 0 { 0.5 } else { 1.5 };
        let x = f64::from(row * 7 % 50) / 8.0;
        writeln!(text, "2.5,{two},,{x},w{row},{}", 100.0 * two + x + 0.5).unwrap();
    }
    let table = open(&put(&dir, "in.csv", &text));
    let settings = AugmentConfig::new(&["y"]);
    let inspection = Inspection::new(&table, &settings, DEFAULT_MEMORY, &()).unwrap();
    let levels: Vec<Option<usize>> =
        inspection.columns.iter().map(|column| column.levels).collect();
    assert_eq!(levels, [Some(1), Some(2), None, None, None, None]);
    let augmentation = Augmentation::fit(&table, &settings, DEFAULT_MEMORY, &()).unwrap();
    let x_name = |x| augmentation.plot_sample(x).map(|sample| sample.x_name);
    assert_eq!(x_name(None).unwrap(), "x");
    assert_eq!(x_name(Some("two")).unwrap(), "two");
    let refused = x_name(Some("word")).unwrap_err();
    assert_eq!(
        format!("{refused:#}"),
        "column `word` of --plot-x is not numeric: it contains text"
    );
    assert!(x_name(Some("z")).is_err());
}

#[test]
fn distinct_values_of_lists_and_durations_are_counted() {
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([
        Some(vec![]),
        Some(vec![None]),
        Some(vec![Some(1), None]),
        None,
    ]);
    // Seconds that no text can show.
    let durations = DurationSecondArray::from(vec![i64::MAX, i64::MAX - 1, 5, 5]);
    let numbers = UInt8Array::from(vec![0, 1, 1, 0]);
    // A missing value of a dictionary is missing, although its key is not.
    let words = StringArray::from(vec![None, Some("a")]);
    let words = DictionaryArray::<UInt8Type>::new(numbers, Arc::new(words));
    let columns: Vec<(&str, ArrayRef, bool)> = vec![
        ("lists", Arc::new(lists), true),
        ("durations", Arc::new(durations), false),
        ("words", Arc::new(words), true),
    ];
    let rows = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let table = Table::from_batch(&rows, Path::new("t.arrow")).unwrap();
    let config = AugmentConfig::new(&[]);
    let inspection = Inspection::new(&table, &config, DEFAULT_MEMORY, &()).unwrap();
    let columns = inspection.columns.iter().map(|column| (column.missing, column.levels));
    let expected = [(1, Some(3)), (0, Some(3)), (2, Some(1))];
    assert_eq!(columns.collect::<Vec<_>>(), expected);
}

#[test]
fn fewer_rows_than_asked_for_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let table = open(&put(&dir, "in.csv", &table_of(600)));
    let method = MethodInfo::named("local-mixup").unwrap();
    let method = MethodConfig::new(method, &MethodParams::default()).unwrap();
    let settings = AugmentConfig { method, copies: 3, ..AugmentConfig::new(&["y"]) };
    let (_, summary) = made(&table, &settings);
    assert_eq!(summary.requested, 1800);
    assert_eq!(summary.rows_out, 600 + summary.synthetic);
    assert!((180..900).contains(&summary.synthetic), "{}", summary.synthetic);
}
