//! The rows of a table are the same as those of the core, bit by bit; and what tables add to the
//! core.

use std::fmt::Write as _;
use std::path::PathBuf;

use arrow_array::cast::AsArray;
use std::sync::Arc;

use arrow_array::types::{Decimal128Type, Float32Type, Float64Type, Int8Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, Decimal128Array, Float32Array, Float64Array, Int8Array, RecordBatch,
    UInt64Array,
};
use ndarray::{Array2, Axis};
use tempfile::TempDir;
use windlass::{
    Ada, Anchors, CMixup, ClusterOn, ClusterScaling, Clustering, Copies, Fitted, GammaDistribution,
    Method as _, MethodInfo, MethodParams, Mixup, Noise, Partition, Per, Plan, RareSpec, Relevance,
    Restricted, Samples, Seed, Smogn, Smoter, Stream, Tails,
};
use windlass_table::{
    AdaConfig, AnchorSource, AugmentConfig, Augmentation, ClusterCount, DEFAULT_MEMORY, Decimals,
    IntegerHandling, LoadedTable, MethodConfig, RareSources, ReadOptions, Sink, Table,
    WriteOptions,
};

struct TestDir(TempDir);

impl TestDir {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn table(&self, text: &str) -> Table {
        let path: PathBuf = self.0.path().join("table.csv");
        std::fs::write(&path, text).unwrap();
        Table::open(&[path], &ReadOptions::default()).unwrap()
    }
}

fn augmented(table: &Table, settings: &AugmentConfig) -> Vec<RecordBatch> {
    let augmentation = Augmentation::fit(table, settings, DEFAULT_MEMORY, &()).unwrap();
    let mut batches = vec![];
    augmentation
        .write(&(), None, &mut |_, batch| {
            batches.push(batch);
            Ok(())
        })
        .unwrap();
    batches
}

fn column(batches: &[RecordBatch], name: &str) -> Vec<Option<f64>> {
    let values = |batch: &RecordBatch| -> Vec<Option<f64>> {
        batch.column_by_name(name).unwrap().as_primitive::<Float64Type>().iter().collect()
    };
    batches.iter().flat_map(values).collect()
}

/// Three features, a level, and a target; as numbers and as text.
fn data(rows: usize) -> (Array2<f64>, Array2<f64>, Vec<u32>, String) {
    let draw = |step, row| Seed(11).at(Stream::Sample, step, row as u64);
    let x = Array2::from_shape_fn((rows, 3), |(i, j)| {
        draw(9, i).below(4) as f64 * 5.0 + draw(j as u64, i).normal()
    });
    let y = (x.sum_axis(Axis(1)) * 0.3).insert_axis(Axis(1));
    let levels: Vec<u32> = (0..rows).map(|row| (row % 5 == 2).into()).collect();
    let mut text = String::from("a,b,level,c,y\n");
    for i in 0..rows {
        let (a, b, c) = (x[(i, 0)], x[(i, 1)], x[(i, 2)]);
        let level = ["low", "up"][levels[i] as usize];
        writeln!(text, "{a:?},{b:?},{level},{c:?},{:?}", y[(i, 0)]).unwrap();
    }
    (x, y, levels, text)
}

fn same_as_core(
    rows: usize,
    method: MethodConfig,
    fitted: &dyn Fn(&Samples<'_>) -> Box<dyn Fitted>,
) {
    same_rare_rows_as_core(rows, method, None, fitted);
}

/// With `rare`, the number of copies is automatic.
fn same_rare_rows_as_core(
    rows: usize,
    method: MethodConfig,
    rare: Option<RareSpec>,
    fitted: &dyn Fn(&Samples<'_>) -> Box<dyn Fitted>,
) {
    let (x, y, _, text) = data(rows);
    let samples = Samples::new(x.view(), y.view()).unwrap();
    let copies = if rare.is_some() { Copies::auto() } else { Copies::new(3) };
    let plan = Plan::draw(fitted(&samples).as_ref(), copies, Seed(7)).unwrap();
    let rare = rare.map(|targets| RareSources { targets, balance: true });
    let (more_x, more_y) = (plan.features(x.view()).unwrap(), plan.targets(y.view()).unwrap());
    let table = TestDir::new();
    let table = table.table(&text);
    let decimals = Decimals::Full;
    let settings =
        AugmentConfig { method, copies: 3, seed: 7, decimals, rare, ..AugmentConfig::new(&["y"]) };
    let batches = augmented(&table, &settings);
    for (name, expected) in [
        ("a", more_x.column(0)),
        ("b", more_x.column(1)),
        ("c", more_x.column(2)),
        ("y", more_y.column(0)),
    ] {
        let bits = |value: f64| value.to_bits();
        let actual: Vec<u64> =
            column(&batches, name).into_iter().map(|v| bits(v.unwrap())).collect();
        let expected: Vec<u64> = expected.iter().copied().map(bits).collect();
        assert_eq!(actual, expected, "{name}");
    }
}

#[test]
fn groups_are_those_of_the_core() {
    let kmeans =
        |clusters| AdaConfig { clusters: ClusterCount::Count(clusters), ..AdaConfig::default() };
    same_as_core(400, MethodConfig::Ada(kmeans(6)), &|samples| {
        Ada::default().clusters(6).fit(samples, Seed(7)).unwrap()
    });
    // More rows than a sample or a block has.
    same_as_core(70_000, MethodConfig::Ada(kmeans(4)), &|samples| {
        Ada::default().clusters(4).fit(samples, Seed(7)).unwrap()
    });
    let rows = AdaConfig {
        on: ClusterOn::X,
        scale: ClusterScaling::Raw,
        within: Some("level".into()),
        gamma: GammaDistribution::LogUniform { alpha: 3.0 },
        per: Per::Row,
        ..kmeans(3)
    };
    for rows_in in [400, 80_000] {
        same_as_core(rows_in, MethodConfig::Ada(rows.clone()), &|samples| {
            let levels = Partition::new(data(rows_in).2, 2).unwrap();
            let clustering =
                Clustering { clusters: 3.into(), on: ClusterOn::X, scale: ClusterScaling::Raw };
            Ada::default()
                .anchors(Anchors::KMeans(clustering))
                .within(levels)
                .gamma(GammaDistribution::LogUniform { alpha: 3.0 })
                .per(Per::Row)
                .fit(samples, Seed(7))
                .unwrap()
        });
    }
    let bins = AdaConfig { anchors: AnchorSource::Bins("b".into()), ..kmeans(5) };
    same_as_core(400, MethodConfig::Ada(bins), &|samples| {
        let anchors = Anchors::EqualWidth { of: windlass::Column::X(1), bins: 5 };
        Ada::default().anchors(anchors).fit(samples, Seed(7)).unwrap()
    });
    let level = AdaConfig { anchors: AnchorSource::Column("level".into()), ..AdaConfig::default() };
    same_as_core(400, MethodConfig::Ada(level), &|samples| {
        Ada::default()
            .anchors(Partition::new(data(400).2, 2).unwrap())
            .fit(samples, Seed(7))
            .unwrap()
    });
}

/// A method of the registry with some parameters.
fn method(name: &str, params: MethodParams) -> MethodConfig {
    MethodConfig::new(MethodInfo::named(name).unwrap(), &params).unwrap()
}

#[test]
fn other_methods_are_those_of_the_core() {
    let default = MethodParams::default;
    same_as_core(400, method("mixup", default()), &|samples| {
        Mixup::default().fit(samples, Seed(7)).unwrap()
    });
    same_as_core(400, method("c-mixup", default()), &|samples| {
        CMixup::default().fit(samples, Seed(7)).unwrap()
    });
    let noise = method("noise", MethodParams { feature_noise: Some(0.3), ..default() });
    same_as_core(400, noise, &|samples| {
        Noise { feature_noise: 0.3, ..Noise::default() }.fit(samples, Seed(7)).unwrap()
    });
}

#[test]
fn rare_rows_are_those_of_the_core() {
    let high = RareSpec::Tails(Tails::High);
    for rare in [RareSpec::default(), high.clone(), RareSpec::Density] {
        let smoter = Smoter { rare: rare.clone(), ..Smoter::default() };
        let smogn = Smogn { smoter: smoter.clone(), ..Smogn::default() };
        let config = method("smoter", MethodParams::default());
        same_rare_rows_as_core(400, config, Some(rare.clone()), &|samples| {
            smoter.fit(samples, Seed(7)).unwrap()
        });
        let config = method("smogn", MethodParams::default());
        same_rare_rows_as_core(400, config, Some(rare), &|samples| {
            smogn.fit(samples, Seed(7)).unwrap()
        });
    }
    // More rows than a block has, and groups that are streamed.
    let kmeans = AdaConfig { clusters: ClusterCount::Count(4), ..AdaConfig::default() };
    let restricted = |fitted: Box<dyn Fitted>, samples: &Samples<'_>| -> Box<dyn Fitted> {
        let targets = samples.y().column(0).to_vec();
        let rare = Relevance::from_box_plot(&targets, Tails::High).unwrap().rare_rows(&targets);
        Box::new(Restricted::new(fitted, rare).unwrap())
    };
    same_rare_rows_as_core(70_000, MethodConfig::Ada(kmeans), Some(high.clone()), &|samples| {
        restricted(Ada::default().clusters(4).fit(samples, Seed(7)).unwrap(), samples)
    });
    same_rare_rows_as_core(
        400,
        method("local-mixup", MethodParams::default()),
        Some(high),
        &|samples| {
            restricted(windlass::LocalMixup::default().fit(samples, Seed(7)).unwrap(), samples)
        },
    );
}

#[test]
fn means_use_weights_and_skip_missing_values() {
    let dir = TestDir::new();
    let text = "site,x,n,w,y\n\
        u,1.0,10,1,2.0\n\
        u,,20,3,4.0\n\
        u,4.0,,2,6.0\n\
        v,8.0,40,1,8.0\n";
    let table = dir.table(text);
    let ada = AdaConfig {
        anchors: AnchorSource::Column("site".into()),
        gamma: GammaDistribution::List(vec![4.0]),
        ..AdaConfig::default()
    };
    let mut settings =
        AugmentConfig { method: MethodConfig::Ada(ada), ..AugmentConfig::new(&["y"]) };
    settings.originals = false;
    settings.decimals = Decimals::Full;
    settings.columns.continuous = vec!["n".into()];
    settings.columns.weight = Some("w".into());
    let batches = augmented(&table, &settings);
    // Half way to the weighted mean of the present values: (1·1 + 2·4)/3, (1·10 + 3·20)/4.
    assert_eq!(column(&batches, "x"), [Some(2.0), None, Some(3.5), Some(8.0)]);
    let n: Vec<Option<i64>> =
        batches[0].column_by_name("n").unwrap().as_primitive::<Int64Type>().iter().collect();
    assert_eq!(n, [Some(14), Some(19), None, Some(40)]);
    let mean = (2.0 + 12.0 + 12.0) / 6.0;
    let half = |y: f64| Some(mean + (y - mean) / 2.0);
    assert_eq!(column(&batches, "y"), [half(2.0), half(4.0), half(6.0), Some(8.0)]);
}

#[test]
fn clipping_and_floats() {
    let dir = TestDir::new();
    let table = dir.table("x,n,y\n1.0,1,2.0\n2.0,2,4.0\n6.0,9,6.0\n");
    let ada = AdaConfig {
        clusters: ClusterCount::Count(1),
        gamma: GammaDistribution::List(vec![0.25]),
        ..AdaConfig::default()
    };
    let mut settings =
        AugmentConfig { method: MethodConfig::Ada(ada), ..AugmentConfig::new(&["y"]) };
    settings.originals = false;
    settings.columns.continuous = vec!["n".into()];
    settings.columns.integers = windlass_table::IntegerHandling::Float;
    let free = augmented(&table, &settings);
    assert_eq!(column(&free, "x"), [Some(-1.0), Some(1.0), Some(9.0)]);
    assert_eq!(column(&free, "n"), [Some(-2.0), Some(0.0), Some(14.0)]);
    settings.clip = true;
    let clipped = augmented(&table, &settings);
    assert_eq!(column(&clipped, "x"), [Some(1.0), Some(1.0), Some(6.0)]);
    assert_eq!(column(&clipped, "y"), [Some(2.0), Some(4.0), Some(6.0)]);
}

#[test]
fn a_column_that_was_moved_keeps_its_rows_in_order() {
    let (_, _, _, text) = data(100);
    let dir = TestDir::new();
    let table = dir.table(&text);
    let batches = augmented(&table, &AugmentConfig::new(&["y"]));
    let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
    assert_eq!(rows, 200);
    for batch in &batches {
        assert!(batch.columns().iter().all(|column| column.null_count() == 0));
    }
}

/// A table of one batch.
fn parquet(dir: &TestDir, columns: Vec<(&str, ArrayRef, bool)>) -> Table {
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let path = dir.0.path().join("table.parquet");
    let mut sink = Sink::create(&path, &WriteOptions::default(), batch.schema_ref(), None).unwrap();
    sink.write(0, &batch).unwrap();
    sink.finish().unwrap();
    Table::open(&[path], &ReadOptions::default()).unwrap()
}

/// Values far from the mean are clamped to the range of their type.
#[test]
fn small_types_do_not_overflow() {
    let dir = TestDir::new();
    let decimals = Decimal128Array::from_iter_values((0..40).map(|row| 900 + row));
    let floats = (0..40_u16).map(|row| 1e38 + f32::from(row) * 6e36);
    let table = parquet(
        &dir,
        vec![
            ("d", Arc::new(decimals.with_precision_and_scale(3, 1).unwrap()), false),
            ("f", Arc::new(floats.collect::<Float32Array>()), false),
            ("n", Arc::new(Float64Array::from(vec![f64::NAN; 40])), false),
            ("y", Arc::new((0..40_i8).collect::<Int8Array>()), false),
        ],
    );
    let gamma = GammaDistribution::List(vec![1e-6]);
    let ada = AdaConfig { gamma, clusters: ClusterCount::Count(1), ..AdaConfig::default() };
    let settings = AugmentConfig { method: MethodConfig::Ada(ada), ..AugmentConfig::new(&["y"]) };
    let synthetic = augmented(&table, &settings).pop().unwrap();
    let decimals = synthetic.column(0).as_primitive::<Decimal128Type>();
    assert_eq!((decimals.null_count(), decimals.value(0), decimals.value(39)), (0, -999, 999));
    let floats = synthetic.column(1).as_primitive::<Float32Type>();
    assert_eq!((floats.value(0), floats.value(39)), (f32::MIN, f32::MAX));
    assert!(
        synthetic
            .column(2)
            .as_primitive::<Float64Type>()
            .iter()
            .all(|value| value.unwrap().is_nan())
    );
    let targets = synthetic.column(3).as_primitive::<Int8Type>();
    assert_eq!((targets.value(0), targets.value(39)), (-128, 127));
}

#[test]
fn a_value_mixed_with_a_missing_one_is_missing() {
    let dir = TestDir::new();
    let mut text = String::from("x,k,y\n");
    for row in 0..60 {
        let missing = row % 5 == 1;
        let value = |number: i32| if missing { String::new() } else { number.to_string() };
        writeln!(text, "{}.5,{},{row}", row % 9, value(row * 7 % 40)).unwrap();
    }
    let text = text.replacen("1.5,", "NaN,", 1);
    let table = dir.table(&text);
    for integers in [IntegerHandling::Round, IntegerHandling::Float] {
        let params = MethodParams { per: Some(Per::Row), ..MethodParams::default() };
        let mixup = method("mixup", params);
        let mut settings =
            AugmentConfig { method: mixup, provenance: true, ..AugmentConfig::new(&["y"]) };
        settings.columns.integers = integers;
        let batches = augmented(&table, &settings);
        let (originals, synthetic) = (&batches[0], &batches[1]);
        let partners = synthetic.column_by_name("windlass_partner").unwrap();
        let partners = partners.as_primitive::<Int64Type>();
        for column in 0..2 {
            for row in 0..60 {
                let partner = usize::try_from(partners.value(row)).unwrap();
                let missing = |row: usize| originals.column(column).is_null(row);
                let expected = missing(row) || missing(partner);
                assert_eq!(synthetic.column(column).is_null(row), expected, "{column}, {row}");
            }
        }
    }
}

#[test]
fn large_integers_name_groups() {
    let dir = TestDir::new();
    let large = u64::MAX - 1;
    let names = UInt64Array::from(vec![Some(large), Some(large + 1), None, Some(5), Some(large)]);
    let table = parquet(
        &dir,
        vec![
            ("u", Arc::new(names), true),
            ("x", Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0, 4.0, 6.0])), true),
            ("y", Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0, 4.0, 6.0])), true),
        ],
    );
    let anchors = AnchorSource::Column("u".into());
    let ada = AdaConfig { anchors, ..AdaConfig::default() };
    let settings = AugmentConfig { method: MethodConfig::Ada(ada), ..AugmentConfig::new(&["y"]) };
    let groups = Augmentation::fit(&table, &settings, DEFAULT_MEMORY, &()).unwrap().groups();
    let named: Vec<(String, u64)> =
        groups.into_iter().map(|group| (group.name.unwrap(), group.rows)).collect();
    let expected =
        [("(missing)", 1), ("5", 1), ("18446744073709551614", 2), ("18446744073709551615", 1)];
    assert_eq!(named, expected.map(|(name, rows)| (name.to_owned(), rows)));
}

/// Parquet is written block by block, several copies of each; a reader sees copy after copy. Uses
/// many blocks, and more copies than are interleaved.
#[test]
fn parquet_puts_copies_in_their_order() {
    let dir = TestDir::new();
    let (_, _, _, text) = data(150_000);
    let table = dir.table(&text);
    let settings = AugmentConfig { copies: 11, provenance: true, ..AugmentConfig::new(&["y"]) };
    let expected = augmented(&table, &settings);
    let path = dir.0.path().join("out.parquet");
    let augmentation = Augmentation::fit(&table, &settings, DEFAULT_MEMORY, &()).unwrap();
    let schema = augmentation.schema();
    let mut sink = Sink::create(&path, &WriteOptions::default(), schema, None).unwrap();
    assert!(sink.any_order());
    augmentation.write(&(), None, &mut sink).unwrap();
    sink.finish().unwrap();
    let written = Table::open(&[path], &ReadOptions::default()).unwrap();
    let written = written.blocks().collect::<windlass_table::Result<Vec<_>>>().unwrap();
    assert!(written.len() > 12);
    let whole = |batches: &[RecordBatch]| {
        arrow_select::concat::concat_batches(batches[0].schema_ref(), batches).unwrap()
    };
    assert_eq!(whole(&written), whole(&expected));
}

/// Columns of an Arrow file share one buffer, which is counted once.
#[test]
fn a_wide_arrow_file_fits_in_memory() {
    let dir = TestDir::new();
    let values: ArrayRef = Arc::new(Float64Array::from_iter_values((0..2000).map(f64::from)));
    let names: Vec<String> = (0..100).map(|place| format!("c{place}")).collect();
    let columns = names.iter().map(|name| (name.as_str(), Arc::clone(&values)));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let path = dir.0.path().join("wide.arrow");
    let file = std::fs::File::create(&path).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let table = Table::open(&[path], &ReadOptions::default()).unwrap();
    // 1.6 MB of values, four times.
    let loaded =
        LoadedTable::load(&table, &AugmentConfig::new(&["c0"]).columns, false, 8 << 20, &())
            .unwrap();
    assert_eq!(loaded.batch.num_rows(), 2000);
    let refused =
        LoadedTable::load(&table, &AugmentConfig::new(&["c0"]).columns, false, 4 << 20, &());
    assert!(refused.is_err());
}
