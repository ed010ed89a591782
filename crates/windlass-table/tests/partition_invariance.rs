//! A fit does not depend on how a table is partitioned, or on the order in which partitions are
//! merged; and its output not on how the table is stored, on memory and threads.

#[path = "../../../fuzz/targets/storage.rs"]
#[allow(unreachable_pub, reason = "a module of the fuzzer")]
mod storage;

use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float32Array, Float64Array, Int32Array, Int64Array,
    RecordBatch, StringArray,
};
use arrow_schema::{Field, Schema};
use proptest::prelude::*;
use windlass::{
    Bandwidth, Epsilon, GammaDistribution, MethodInfo, MethodParams, Per, RareSpec, Seed, Stream,
};
use windlass_table::{
    AdaConfig, AnchorSource, AugmentConfig, Augmentation, ClusterCount, DEFAULT_MEMORY,
    DuplicateCounter, Error, FitDriver, Fitted, IntegerHandling, Manifest, MethodConfig,
    PassAccumulator, RareSources, ReadOptions, RowIdSource, Table, Verdict, VerifyOptions, row_ids,
};

/// Columns of all types. With `duplicates` every row occurs twice, and there is no key.
fn table(rows: usize, duplicates: bool) -> RecordBatch {
    let own = |row: usize| if duplicates { row / 2 } else { row };
    let draw = |step: u64, row: usize| Seed(3).at(Stream::Sample, step, own(row) as u64).normal();
    let all = 0..rows;
    let missing = |row: usize| own(row) % 7 == 0;
    let level = |row: usize| ["oslo", "bergen", "molde"][own(row) % 3];
    let floats = |value: &dyn Fn(usize) -> f64| -> ArrayRef {
        Arc::new(all.clone().map(value).collect::<Float64Array>())
    };
    #[expect(clippy::cast_possible_truncation, reason = "narrow floats are wanted")]
    let single = |row| (!missing(row)).then(|| draw(2, row) as f32);
    let whole = |times: usize, below: usize| -> Vec<i32> {
        all.clone().map(|row| i32::try_from(own(row) * times % below).unwrap()).collect()
    };
    let good = all.clone().map(|row| Some(own(row) % 2 == 0));
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("a", floats(&|row| draw(1, row))),
        ("b", Arc::new(all.clone().map(single).collect::<Float32Array>())),
        ("n", Arc::new(Int32Array::from(whole(37, 91)))),
        ("site", Arc::new(StringArray::from_iter_values(all.clone().map(level)))),
        ("day", Arc::new(Date32Array::from(whole(1, 40)))),
        ("good", Arc::new(good.collect::<BooleanArray>())),
        ("w", floats(&|row| (own(row) % 4) as f64 + 0.5)),
        ("y", floats(&|row| 2.0 * draw(1, row) + draw(3, row))),
    ];
    if !duplicates {
        let key = |row| i64::try_from(row).unwrap() * 7 - 100;
        columns.push(("id", Arc::new(all.clone().map(key).collect::<Int64Array>())));
    }
    RecordBatch::try_from_iter(columns).unwrap()
}

fn settings(method: MethodConfig, duplicates: bool) -> AugmentConfig {
    let mut settings = AugmentConfig::new(&["y"]);
    settings.method = method;
    settings.copies = 2;
    settings.seed = 5;
    settings.provenance = true;
    // Rare rows of methods with and without groups, and with a default.
    let rare = ["ada", "c-mixup", "smogn"].contains(&settings.method.name())
        && settings.method != ada(|ada| ada.clusters = ClusterCount::Count(5));
    settings.rare = rare.then_some(RareSources { targets: RareSpec::Density, balance: true });
    settings.rows_by =
        if duplicates { RowIdSource::Content } else { RowIdSource::Column("id".to_owned()) };
    settings
}

fn ada(make: impl FnOnce(&mut AdaConfig)) -> MethodConfig {
    let mut ada = AdaConfig::default();
    make(&mut ada);
    MethodConfig::Ada(ada)
}

/// A method of the registry with some parameters.
fn method(name: &str, params: MethodParams) -> MethodConfig {
    MethodConfig::new(MethodInfo::named(name).unwrap(), &params).unwrap()
}

fn methods() -> Vec<MethodConfig> {
    let (per, default) = (Some(Per::Row), MethodParams::default);
    vec![
        ada(|ada| ada.clusters = ClusterCount::Count(5)),
        ada(|ada| {
            ada.clusters = ClusterCount::Count(2);
            ada.within = Some("site".into());
            ada.per = Per::Row;
            ada.gamma = GammaDistribution::LogUniform { alpha: 3.0 };
        }),
        ada(|ada| ada.anchors = AnchorSource::Column("site".into())),
        ada(|ada| ada.anchors = AnchorSource::Bins("a".into())),
        ada(|ada| ada.anchors = AnchorSource::Quantiles("n".into())),
        method("mixup", MethodParams { per, ..default() }),
        method("c-mixup", MethodParams { bandwidth: Some(Bandwidth::Absolute(0.5)), ..default() }),
        method(
            "local-mixup",
            MethodParams {
                epsilon: Some(Epsilon::Absolute(1.5)),
                beta: Some(1.0),
                per,
                ..default()
            },
        ),
        method(
            "noise",
            MethodParams { target_noise: Some(0.2), feature_noise: Some(0.1), ..default() },
        ),
        method("smoter", default()),
        method("smogn", default()),
        method("foma", MethodParams { neighborhood_size: Some(7), ..default() }),
        method("cems", MethodParams { sigma: Some(0.3), ..default() }),
    ]
}

/// For every partition, the number of equal rows in the partitions before it.
fn duplicate_counters(parts: &[RecordBatch]) -> Vec<DuplicateCounter> {
    let mut before = std::collections::HashMap::new();
    let count = |part: &RecordBatch| {
        let ids = row_ids(part, &RowIdSource::Content).unwrap();
        let here =
            DuplicateCounter::new(ids.iter().map(|id| (*id, before.get(id).copied().unwrap_or(0))));
        for id in ids {
            *before.entry(id).or_insert(0) += 1;
        }
        here
    };
    parts.iter().map(count).collect()
}

fn fit_partitions(parts: &[RecordBatch], settings: &AugmentConfig, order: &[usize]) -> Fitted {
    let schema = parts[0].schema();
    let counters = duplicate_counters(parts);
    let mut driver = FitDriver::new(schema.clone(), settings, DEFAULT_MEMORY).unwrap();
    while let Some(task) = driver.task() {
        // As it is sent to another process.
        let task = windlass_table::PassTask::from_bytes(&task.to_bytes().unwrap()).unwrap();
        let mut total = PassAccumulator::new(&task, &schema).unwrap();
        for &place in order {
            let mut partial = PassAccumulator::new(&task, &schema).unwrap();
            let mut counter = counters[place].clone();
            partial.add(parts[place].clone(), Some(&mut counter)).unwrap();
            total.merge(&partial.to_bytes().unwrap()).unwrap();
        }
        driver.take(total).unwrap();
    }
    driver.finish().unwrap()
}

/// The rows as text, sorted.
fn sorted_rows(batches: &[RecordBatch]) -> Vec<String> {
    let options = arrow_cast::display::FormatOptions::new().with_null("-");
    let mut rows = vec![];
    for batch in batches {
        let columns: Vec<_> = batch
            .columns()
            .iter()
            .map(|column| arrow_cast::display::ArrayFormatter::try_new(column, &options).unwrap())
            .collect();
        for row in 0..batch.num_rows() {
            let cells: Vec<String> =
                columns.iter().map(|column| column.value(row).to_string()).collect();
            rows.push(cells.join(" "));
        }
    }
    rows.sort();
    rows
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn any_split_and_order_gives_the_same_fit(
        method in 0..13_usize,
        duplicates: bool,
        weighted: bool,
        mut cuts in prop::collection::vec(0..120_usize, 0..6),
        salt: u64,
    ) {
        let rows = table(120, duplicates);
        let mut settings = settings(methods()[method].clone(), duplicates);
        settings.columns.weight = weighted.then(|| "w".to_owned());
        settings.columns.integers = if weighted { IntegerHandling::Float } else { IntegerHandling::Round };
        cuts.extend([0, 120]);
        cuts.sort_unstable();
        let parts: Vec<RecordBatch> =
            cuts.windows(2).map(|cut| rows.slice(cut[0], cut[1] - cut[0])).collect();
        let mut order: Vec<usize> = (0..parts.len()).collect();
        Seed(salt).shared(Stream::Order, 0).shuffle(&mut order);

        let whole = Table::from_batch(&rows, Path::new("the table")).unwrap();
        let local = Augmentation::fit(&whole, &settings, DEFAULT_MEMORY, &()).unwrap();
        let mut expected = vec![];
        local.write(&(), None, &mut |_, batch| {
            expected.push(batch);
            Ok(())
        }).unwrap();

        let distributed = fit_partitions(&parts, &settings, &order);
        prop_assert_eq!(distributed.to_bytes().unwrap(), local.fitted().to_bytes().unwrap());
        let distributed = Arc::new(Fitted::from_bytes(&distributed.to_bytes().unwrap()).unwrap());
        let bound = distributed.bind(&rows.schema()).unwrap();
        let mut generated = vec![];
        let counters = duplicate_counters(&parts);
        for (part, mut counter) in parts.into_iter().zip(counters) {
            generated.extend(bound.generate(part, Some(&mut counter)).unwrap());
        }
        prop_assert_eq!(sorted_rows(&generated), sorted_rows(&expected));
    }

    #[test]
    fn any_storage_memory_and_threads_give_the_same_bytes(choices in prop::collection::vec(any::<u8>(), 64)) {
        storage::same_bytes(&choices);
    }
}

#[test]
fn a_right_guess_of_roles_saves_a_pass() {
    let rows = table(120, false);
    let passes = |parts: &[RecordBatch], method: &MethodConfig| {
        let settings = settings(method.clone(), false);
        let mut driver = FitDriver::new(rows.schema(), &settings, DEFAULT_MEMORY).unwrap();
        let mut passes = vec![];
        while let Some(task) = driver.task() {
            let mut total = PassAccumulator::new(&task, &rows.schema()).unwrap();
            for rows in parts {
                let mut partial = PassAccumulator::new(&task, &rows.schema()).unwrap();
                partial.add(rows.clone(), None).unwrap();
                total.merge(&partial.to_bytes().unwrap()).unwrap();
            }
            driver.take(total).unwrap();
            passes.push(task.name());
        }
        (passes, driver.finish().unwrap().to_bytes().unwrap())
    };
    let halves = [rows.slice(0, 60), rows.slice(60, 60)];
    // In a partition of one row all columns are constant.
    let uneven = [rows.slice(0, 1), rows.slice(1, 119)];
    // Here in every partition.
    let slivers: Vec<RecordBatch> = (0..120).map(|part| rows.slice(part, 1)).collect();
    let (kmeans, named) = (&methods()[0], &methods()[2]);
    assert_eq!(passes(&halves, kmeans).0, ["reading", "taking means"]);
    assert_eq!(passes(&uneven, kmeans).0, ["reading", "finding groups", "taking means"]);
    assert_eq!(passes(&halves, kmeans).1, passes(&uneven, kmeans).1);
    assert_eq!(passes(&slivers, kmeans), passes(&uneven, kmeans));
    assert_eq!(passes(&halves, named).0, ["reading"]);
    assert_eq!(passes(&halves, named).1, passes(&uneven, named).1);
}

#[test]
fn partitions_written_to_files_can_be_verified() {
    for (method, duplicates) in methods().into_iter().zip([false, true].into_iter().cycle()) {
        let rows = table(120, duplicates);
        let settings = settings(method, duplicates);
        let cuts = [(0, 50), (50, 1), (51, 69)];
        let parts = cuts.map(|(first, count)| rows.slice(first, count));
        let fitted = Arc::new(fit_partitions(&parts, &settings, &[2, 0, 1]));
        let manifest = fitted.manifest();
        let bound = Arc::clone(&fitted).bind(&rows.schema()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (mut generated, mut written) = (vec![], 0);
        for ((place, part), mut counter) in parts.iter().enumerate().zip(duplicate_counters(&parts))
        {
            // Small batches.
            let batches = (0..part.num_rows()).step_by(7);
            let batches =
                batches.map(|first| Ok(part.slice(first, 7.min(part.num_rows() - first))));
            let path = folder.path().join(format!("{place}.parquet"));
            generated.extend(bound.generate(part.clone(), Some(&mut counter.clone())).unwrap());
            written += bound.write(batches, Some(&mut counter), &path, Some(&manifest)).unwrap();
        }
        let output = Table::open(&[folder.path().to_owned()], &ReadOptions::default()).unwrap();
        let written_rows = output.blocks().collect::<Result<Vec<_>, _>>().unwrap();
        assert_eq!(sorted_rows(&written_rows), sorted_rows(&generated));
        assert_eq!(written_rows.iter().map(RecordBatch::num_rows).sum::<usize>() as u64, written);

        let manifest: Manifest =
            serde_json::from_str(output.metadata(Manifest::KEY).unwrap()).unwrap();
        let input = Table::from_batch(&rows, Path::new("the table")).unwrap();
        let options = VerifyOptions { manifest: Some(&manifest), ..VerifyOptions::default() };
        let verdict = Verdict::verify(&output, &input, options, DEFAULT_MEMORY, &()).unwrap();
        assert_eq!((verdict.rows, verdict.differing, verdict.absent), (written, 0, 0));
    }
}

#[test]
fn a_partition_with_an_invalid_value_leaves_no_file() {
    let rows = table(60, false);
    let settings = settings(methods()[0].clone(), false);
    let fitted = Arc::new(fit_partitions(std::slice::from_ref(&rows), &settings, &[0]));
    let bound = fitted.bind(&rows.schema()).unwrap();
    let mut columns = rows.columns().to_vec();
    let target = rows.schema().index_of("y").unwrap();
    let values = (0..60).map(|row| if row == 41 { f64::NAN } else { 0.5 });
    columns[target] = Arc::new(values.collect::<Float64Array>());
    let bad = RecordBatch::try_new(rows.schema(), columns).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.parquet");
    let refused = bound.write([Ok(bad)].into_iter(), None, &path, None).unwrap_err().to_string();
    assert_eq!(refused, "target `y` is missing in row id=187");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_column_that_is_never_null_stays_so() {
    let rows = table(60, false);
    let nullable = |field: &Arc<Field>| field.as_ref().clone().with_nullable(true);
    let fields: Vec<Field> = rows.schema().fields().iter().map(nullable).collect();
    let rows = rows.with_schema(Arc::new(Schema::new(fields))).unwrap();
    let settings = settings(methods()[0].clone(), false);
    let fitted = fit_partitions(std::slice::from_ref(&rows), &settings, &[0]);
    let complete = fitted.complete();
    assert!(complete.contains(&"a") && !complete.contains(&"b"), "{complete:?}");
    let never_null = |field: &Arc<Field>| {
        let nullable = !complete.contains(&field.name().as_str());
        field.as_ref().clone().with_nullable(nullable)
    };
    let fields: Vec<Field> = rows.schema().fields().iter().map(never_null).collect();
    let schema = Arc::new(Schema::new(fields));
    let bound = Arc::new(fitted).bind(&schema).unwrap();
    assert!(!bound.schema().field_with_name("a").unwrap().is_nullable());
    assert_eq!(bound.generate(rows.clone(), None).unwrap().len(), 3);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.parquet");
    let written = bound.write([Ok(rows.clone())].into_iter(), None, &path, None).unwrap();
    assert_eq!(written, 180);

    let mut columns = rows.columns().to_vec();
    let values = (0..60).map(|row| (row != 41).then_some(0.5));
    columns[0] = Arc::new(values.collect::<Float64Array>());
    let changed = RecordBatch::try_new(rows.schema(), columns).unwrap();
    let expected = "`a` is missing in row id=187, but was never missing in the fitted table";
    assert_eq!(bound.generate(changed.clone(), None).unwrap_err().to_string(), expected);
    let refused = bound.write([Ok(changed)].into_iter(), None, &path, None).unwrap_err();
    assert_eq!(refused.to_string(), expected);
}

#[test]
fn a_fitted_method_round_trips_through_json() {
    let rows = table(120, false);
    for method in &methods()[..5] {
        let settings = settings(method.clone(), false);
        let fitted = fit_partitions(std::slice::from_ref(&rows), &settings, &[0]);
        let text = fitted.to_json().unwrap();
        let again = Fitted::from_json(&text, Path::new("fitted.json")).unwrap();
        assert_eq!(again.to_bytes().unwrap(), fitted.to_bytes().unwrap());
        assert_eq!(again.to_json().unwrap(), text);
    }
    let mixup = settings(methods()[5].clone(), false);
    let refused = fit_partitions(&[rows], &mixup, &[0]).to_json();
    assert!(matches!(refused, Err(Error::NotSaved { what: "mixup" })));
}

#[test]
fn other_strengths_need_no_other_fit() {
    let rows = table(120, false);
    let fit =
        |settings: &AugmentConfig| fit_partitions(std::slice::from_ref(&rows), settings, &[0]);
    let settings = settings(methods()[0].clone(), false);
    let MethodConfig::Ada(ada) = &settings.method else { unreachable!("ADA is the first") };
    let fitted = fit(&settings);
    let gamma = GammaDistribution::default().with_alpha(5.0);
    let method = MethodConfig::Ada(AdaConfig { gamma, ..ada.clone() });
    let stronger = AugmentConfig { method, copies: 3, ..settings.clone() };
    let again = fitted.with_strength(&stronger).unwrap().unwrap();
    assert_eq!(again.to_bytes().unwrap(), fit(&stronger).to_bytes().unwrap());
    // Groups depend on everything else, and other methods have none.
    let method = MethodConfig::Ada(AdaConfig { clusters: ClusterCount::Count(3), ..ada.clone() });
    for other in [
        AugmentConfig { method, ..settings.clone() },
        AugmentConfig { seed: 6, ..settings.clone() },
        AugmentConfig { method: methods()[5].clone(), ..settings.clone() },
    ] {
        assert!(fitted.with_strength(&other).unwrap().is_none());
    }
}

#[test]
fn aggregates_of_another_pass_are_an_error() {
    let rows = table(60, false);
    let settings = settings(methods()[0].clone(), false);
    let mut driver = FitDriver::new(rows.schema(), &settings, DEFAULT_MEMORY).unwrap();
    let profile = driver.task().unwrap();
    let mut total = PassAccumulator::new(&profile, &rows.schema()).unwrap();
    total.add(rows.clone(), None).unwrap();
    let bytes = total.to_bytes().unwrap();
    driver.take(total).unwrap();
    let next = driver.task().unwrap();
    let mut total = PassAccumulator::new(&next, &rows.schema()).unwrap();
    assert!(matches!(total.merge(&bytes), Err(Error::BadPart { .. })));
    assert!(matches!(total.merge(&[1, 2, 3]), Err(Error::BadPart { .. })));
    assert!(matches!(Fitted::from_bytes(&bytes), Err(Error::BadPart { .. })));
    assert!(driver.finish().is_err());
}

#[test]
fn content_hashes_do_not_depend_on_the_width_of_types() {
    let narrow = RecordBatch::try_from_iter([
        ("n", Arc::new(Int32Array::from(vec![Some(3), None])) as ArrayRef),
        ("x", Arc::new(Float32Array::from(vec![0.5, -0.0])) as ArrayRef),
    ]);
    let wide = RecordBatch::try_from_iter([
        ("n", Arc::new(Int64Array::from(vec![Some(3), None])) as ArrayRef),
        ("x", Arc::new(Float64Array::from(vec![0.5, 0.0])) as ArrayRef),
    ]);
    let ids = |batch: RecordBatch| row_ids(&batch, &RowIdSource::Content).unwrap();
    let (narrow, wide) = (ids(narrow.unwrap()), ids(wide.unwrap()));
    assert_eq!(narrow, wide);
    assert_ne!(narrow[0], narrow[1]);
}
