//! Parts of a table, taken in any split and merged in any order, are the table.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float32Array, Float64Array, Int32Array, Int64Array,
    RecordBatch, StringArray,
};
use arrow_schema::{Field, Schema};
use proptest::prelude::*;
use windlass::{Bandwidth, GammaDistribution, MethodInfo, MethodParams, Per, Seed, Stream};
use windlass_table::{
    AdaConfig, AnchorSource, AugmentConfig, Augmentation, ClusterCount, DEFAULT_MEMORY,
    DuplicateCounter, Error, FitDriver, Fitted, How, IntegerHandling, Manifest, MethodConfig,
    PassAccumulator, ReadOptions, RowIdSource, Table, Verdict, row_ids,
};

/// Rows of every kind of column; with `equal`, without a key, and each twice.
fn table(rows: usize, equal: bool) -> RecordBatch {
    let own = |row: usize| if equal { row / 2 } else { row };
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
    if !equal {
        let key = |row| i64::try_from(row).unwrap() * 7 - 100;
        columns.push(("id", Arc::new(all.clone().map(key).collect::<Int64Array>())));
    }
    RecordBatch::try_from_iter(columns).unwrap()
}

fn settings(method: MethodConfig, equal: bool) -> AugmentConfig {
    let mut settings = AugmentConfig::new(&["y"]);
    settings.method = method;
    settings.copies = 2;
    settings.seed = 5;
    settings.provenance = true;
    settings.rows_by =
        if equal { RowIdSource::Content } else { RowIdSource::Column("id".to_owned()) };
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
            MethodParams { epsilon: Some(1.5), beta: Some(1.0), per, ..default() },
        ),
        method(
            "noise",
            MethodParams { target_noise: Some(0.2), feature_noise: Some(0.1), ..default() },
        ),
    ]
}

/// Of every part, how many of its equal rows came before, in the order in which parts are named.
fn twins(parts: &[RecordBatch]) -> Vec<DuplicateCounter> {
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

fn fitted_in_parts(parts: &[RecordBatch], settings: &AugmentConfig, order: &[usize]) -> Fitted {
    let schema = parts[0].schema();
    let all_twins = twins(parts);
    let mut fitting = FitDriver::new(schema.clone(), settings, DEFAULT_MEMORY).unwrap();
    while let Some(task) = fitting.task() {
        // As it goes to another process and comes back.
        let task = windlass_table::PassTask::from_bytes(&task.to_bytes().unwrap()).unwrap();
        let mut whole = PassAccumulator::new(&task, &schema).unwrap();
        for &place in order {
            let mut part = PassAccumulator::new(&task, &schema).unwrap();
            let mut twins = all_twins[place].clone();
            part.add(parts[place].clone(), Some(&mut twins)).unwrap();
            whole.merge(&part.to_bytes().unwrap()).unwrap();
        }
        fitting.take(whole).unwrap();
    }
    fitting.finish().unwrap()
}

/// The rows of some batches in words, sorted.
fn words(batches: &[RecordBatch]) -> Vec<String> {
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
    fn any_split_and_order_is_the_table(
        method in 0..9_usize,
        equal: bool,
        weighted: bool,
        mut cuts in prop::collection::vec(0..120_usize, 0..6),
        salt: u64,
    ) {
        let rows = table(120, equal);
        let mut settings = settings(methods()[method].clone(), equal);
        settings.columns.weight = weighted.then(|| "w".to_owned());
        settings.columns.integers = if weighted { IntegerHandling::Float } else { IntegerHandling::Round };
        cuts.extend([0, 120]);
        cuts.sort_unstable();
        let parts: Vec<RecordBatch> =
            cuts.windows(2).map(|cut| rows.slice(cut[0], cut[1] - cut[0])).collect();
        let mut order: Vec<usize> = (0..parts.len()).collect();
        Seed(salt).shared(Stream::Order, 0).shuffle(&mut order);

        let whole = Table::of(&rows, Path::new("the table")).unwrap();
        let here = Augmentation::fit(&whole, &settings, DEFAULT_MEMORY, &()).unwrap();
        let mut expected = vec![];
        here.write(&(), None, &mut |_, batch| {
            expected.push(batch);
            Ok(())
        }).unwrap();

        let there = fitted_in_parts(&parts, &settings, &order);
        prop_assert_eq!(there.to_bytes().unwrap(), here.fitted().to_bytes().unwrap());
        let there = Arc::new(Fitted::from_bytes(&there.to_bytes().unwrap()).unwrap());
        let ready = there.on(&rows.schema()).unwrap();
        let mut made = vec![];
        let counted = twins(&parts);
        for (part, mut twins) in parts.into_iter().zip(counted) {
            made.extend(ready.make(part, Some(&mut twins)).unwrap());
        }
        prop_assert_eq!(words(&made), words(&expected));
    }
}

#[test]
fn a_pass_is_saved_where_columns_are_what_they_seem() {
    let rows = table(120, false);
    let passes = |parts: &[RecordBatch], method: &MethodConfig| {
        let settings = settings(method.clone(), false);
        let mut fitting = FitDriver::new(rows.schema(), &settings, DEFAULT_MEMORY).unwrap();
        let mut passes = vec![];
        while let Some(task) = fitting.task() {
            let mut whole = PassAccumulator::new(&task, &rows.schema()).unwrap();
            for rows in parts {
                let mut part = PassAccumulator::new(&task, &rows.schema()).unwrap();
                part.add(rows.clone(), None).unwrap();
                whole.merge(&part.to_bytes().unwrap()).unwrap();
            }
            fitting.take(whole).unwrap();
            passes.push(task.name());
        }
        (passes, fitting.finish().unwrap().to_bytes().unwrap())
    };
    let halves = [rows.slice(0, 60), rows.slice(60, 60)];
    // In a part of two rows the integers of `n` seem to be categories.
    let uneven = [rows.slice(0, 2), rows.slice(2, 118)];
    // And here in every part.
    let slivers: Vec<RecordBatch> = (0..12).map(|part| rows.slice(part * 10, 10)).collect();
    let (kmeans, named) = (&methods()[0], &methods()[2]);
    assert_eq!(passes(&halves, kmeans).0, ["reading", "taking means"]);
    assert_eq!(passes(&uneven, kmeans).0, ["reading", "finding groups", "taking means"]);
    assert_eq!(passes(&halves, kmeans).1, passes(&uneven, kmeans).1);
    assert_eq!(passes(&slivers, kmeans), passes(&uneven, kmeans));
    assert_eq!(passes(&halves, named).0, ["reading"]);
    assert_eq!(passes(&halves, named).1, passes(&uneven, named).1);
}

#[test]
fn parts_written_to_files_are_a_table_that_can_be_verified() {
    for (method, equal) in methods().into_iter().zip([false, true].into_iter().cycle()) {
        let rows = table(120, equal);
        let settings = settings(method, equal);
        let cuts = [(0, 50), (50, 1), (51, 69)];
        let parts = cuts.map(|(first, count)| rows.slice(first, count));
        let fitted = Arc::new(fitted_in_parts(&parts, &settings, &[2, 0, 1]));
        let manifest = fitted.manifest();
        let ready = Arc::clone(&fitted).on(&rows.schema()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let (mut made, mut written) = (vec![], 0);
        for ((place, part), mut twins) in parts.iter().enumerate().zip(twins(&parts)) {
            // Batches come as they come.
            let batches = (0..part.num_rows()).step_by(7);
            let batches =
                batches.map(|first| Ok(part.slice(first, 7.min(part.num_rows() - first))));
            let path = folder.path().join(format!("{place}.parquet"));
            made.extend(ready.make(part.clone(), Some(&mut twins.clone())).unwrap());
            written += ready.write(batches, Some(&mut twins), &path, Some(&manifest)).unwrap();
        }
        let output = Table::open(&[folder.path().to_owned()], &ReadOptions::default()).unwrap();
        let found = output.blocks().collect::<Result<Vec<_>, _>>().unwrap();
        assert_eq!(words(&found), words(&made));
        assert_eq!(found.iter().map(RecordBatch::num_rows).sum::<usize>() as u64, written);

        let note: Manifest = serde_json::from_str(output.note(Manifest::KEY).unwrap()).unwrap();
        let input = Table::of(&rows, Path::new("the table")).unwrap();
        let how = How { manifest: Some(&note), ..How::default() };
        let verdict = Verdict::of(&output, &input, how, DEFAULT_MEMORY, &()).unwrap();
        assert_eq!((verdict.rows, verdict.differing, verdict.absent), (written, 0, 0));
    }
}

#[test]
fn a_part_with_a_bad_value_leaves_no_file() {
    let rows = table(60, false);
    let settings = settings(methods()[0].clone(), false);
    let fitted = Arc::new(fitted_in_parts(std::slice::from_ref(&rows), &settings, &[0]));
    let ready = fitted.on(&rows.schema()).unwrap();
    let mut columns = rows.columns().to_vec();
    let target = rows.schema().index_of("y").unwrap();
    let values = (0..60).map(|row| if row == 41 { f64::NAN } else { 0.5 });
    columns[target] = Arc::new(values.collect::<Float64Array>());
    let bad = RecordBatch::try_new(rows.schema(), columns).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.parquet");
    let refused = ready.write([Ok(bad)].into_iter(), None, &path, None).unwrap_err().to_string();
    assert_eq!(refused, "the target `y` is missing in row id=187");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_column_that_is_never_null_stays_so() {
    let rows = table(60, false);
    let may_be_null = |field: &Arc<Field>| field.as_ref().clone().with_nullable(true);
    let fields: Vec<Field> = rows.schema().fields().iter().map(may_be_null).collect();
    let rows = rows.with_schema(Arc::new(Schema::new(fields))).unwrap();
    let settings = settings(methods()[0].clone(), false);
    let fitted = fitted_in_parts(std::slice::from_ref(&rows), &settings, &[0]);
    let complete = fitted.complete();
    assert!(complete.contains(&"a") && !complete.contains(&"b"), "{complete:?}");
    let never_null = |field: &Arc<Field>| {
        let nullable = !complete.contains(&field.name().as_str());
        field.as_ref().clone().with_nullable(nullable)
    };
    let fields: Vec<Field> = rows.schema().fields().iter().map(never_null).collect();
    let schema = Arc::new(Schema::new(fields));
    let ready = Arc::new(fitted).on(&schema).unwrap();
    assert!(!ready.schema().field_with_name("a").unwrap().is_nullable());
    assert_eq!(ready.make(rows.clone(), None).unwrap().len(), 3);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("part.parquet");
    let written = ready.write([Ok(rows.clone())].into_iter(), None, &path, None).unwrap();
    assert_eq!(written, 180);

    let mut columns = rows.columns().to_vec();
    let values = (0..60).map(|row| (row != 41).then_some(0.5));
    columns[0] = Arc::new(values.collect::<Float64Array>());
    let changed = RecordBatch::try_new(rows.schema(), columns).unwrap();
    let expected = "`a` is missing in row id=187, and was never missing when it was fitted";
    assert_eq!(ready.make(changed.clone(), None).unwrap_err().to_string(), expected);
    let refused = ready.write([Ok(changed)].into_iter(), None, &path, None).unwrap_err();
    assert_eq!(refused.to_string(), expected);
}

#[test]
fn what_is_fitted_goes_through_a_file() {
    let rows = table(120, false);
    for method in &methods()[..5] {
        let settings = settings(method.clone(), false);
        let fitted = fitted_in_parts(std::slice::from_ref(&rows), &settings, &[0]);
        let text = fitted.to_json().unwrap();
        let again = Fitted::from_json(&text, Path::new("fitted.json")).unwrap();
        assert_eq!(again.to_bytes().unwrap(), fitted.to_bytes().unwrap());
        assert_eq!(again.to_json().unwrap(), text);
    }
    let mixup = settings(methods()[5].clone(), false);
    let refused = fitted_in_parts(&[rows], &mixup, &[0]).to_json();
    assert!(matches!(refused, Err(Error::NotSaved { what: "mixup" })));
}

#[test]
fn parts_of_something_else_are_refused() {
    let rows = table(60, false);
    let settings = settings(methods()[0].clone(), false);
    let mut fitting = FitDriver::new(rows.schema(), &settings, DEFAULT_MEMORY).unwrap();
    let look = fitting.task().unwrap();
    let mut part = PassAccumulator::new(&look, &rows.schema()).unwrap();
    part.add(rows.clone(), None).unwrap();
    let bytes = part.to_bytes().unwrap();
    fitting.take(part).unwrap();
    let find = fitting.task().unwrap();
    let mut part = PassAccumulator::new(&find, &rows.schema()).unwrap();
    assert!(matches!(part.merge(&bytes), Err(Error::BadPart { .. })));
    assert!(matches!(part.merge(&[1, 2, 3]), Err(Error::BadPart { .. })));
    assert!(matches!(Fitted::from_bytes(&bytes), Err(Error::BadPart { .. })));
    assert!(fitting.finish().is_err());
}

#[test]
fn rows_that_hold_the_same_have_the_same_hash_whatever_their_types() {
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
