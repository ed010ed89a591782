//! Synthetic tables follow their equations, and depend only on the seed.

use std::f64::consts::PI;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use windlass_paper::data;

fn numbers<'a>(table: &'a RecordBatch, column: &str) -> &'a [f64] {
    table.column_by_name(column).unwrap().as_primitive::<Float64Type>().values()
}

fn moments(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt())
}

/// y − cos x is the noise; its mean is within five standard errors of 0.
#[test]
fn the_cosine_has_its_equation() {
    for (noise, equidistant) in [(0.1, false), (0.5, true)] {
        let table = data::cosine(20_000, noise, equidistant, 3);
        let (x, y) = (numbers(&table, "x"), numbers(&table, "y"));
        assert!(x.iter().all(|x| (-3.0 * PI..=3.0 * PI).contains(x)));
        let (mean, deviation) = moments(x);
        assert!(mean.abs() < 0.2 && (deviation / (PI * 3_f64.sqrt()) - 1.0).abs() < 0.02);
        let rest: Vec<f64> = x.iter().zip(y).map(|(x, y)| y - x.cos()).collect();
        let (mean, deviation) = moments(&rest);
        assert!(
            mean.abs() < 5.0 * noise / 20_000_f64.sqrt() && (deviation / noise - 1.0).abs() < 0.03
        );
    }
}

#[test]
fn equal_steps_go_from_end_to_end() {
    let table = data::cosine(7, 0.0, true, 0);
    for (at, (x, y)) in (0..).zip(numbers(&table, "x").iter().zip(numbers(&table, "y"))) {
        let want = f64::from(at - 3) * PI;
        assert!((x - want).abs() < 1e-14 && (y - want.cos()).abs() < 1e-14, "{x}, {y}");
    }
    assert_eq!(numbers(&data::cosine(1, 0.0, true, 0), "x"), [-3.0 * PI]);
    assert_eq!(data::cosine(0, 0.1, true, 0).num_rows(), 0);
}

/// Without noise, differences of rows fit one b in all sets and in the validation rows.
#[test]
fn the_sets_of_a_linear_model_have_one_model() {
    let (train, valid) = (data::linear(50, 3, 1, 0.0, 9), data::linear_valid(40, 1, 0.0, 9));
    let points = |table: &RecordBatch| -> Vec<(f64, f64)> {
        numbers(table, "x1").iter().copied().zip(numbers(table, "y").iter().copied()).collect()
    };
    let all = [points(&train), points(&valid)].concat();
    let slope = (all[1].1 - all[0].1) / (all[1].0 - all[0].0);
    for (x, y) in &all[2..] {
        assert!((y - all[0].1 - slope * (x - all[0].0)).abs() < 1e-9);
    }
    let mut x: Vec<u64> = all.iter().map(|(x, _)| x.to_bits()).collect();
    x.sort_unstable();
    x.dedup();
    assert_eq!(x.len(), 190, "no row twice");
}

#[test]
fn linear_tables_have_their_columns_and_noise() {
    let table = data::linear(100, 20, 19, 0.1, 0);
    let schema = table.schema();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!((names[0], names[1], names[19], names[20]), ("set", "x1", "x19", "y"));
    let sets = table.column(0).as_primitive::<Int64Type>();
    let count = |set: i64| sets.values().iter().filter(|&&value| value == set).count();
    assert_eq!((0..20).map(count).collect::<Vec<_>>(), [100; 20]);
    let (mean, deviation) = moments(numbers(&table, "x7"));
    assert!(mean.abs() < 0.12 && (deviation - 1.0).abs() < 0.08);
    let bare = data::linear(100, 20, 19, 0.0, 0);
    let pairs = numbers(&table, "y").iter().zip(numbers(&bare, "y"));
    let (mean, deviation) = moments(&pairs.map(|(y, bare)| y - bare).collect::<Vec<_>>());
    assert!(mean.abs() < 0.012 && (deviation / 0.1 - 1.0).abs() < 0.08);
}

/// Pinned: the experiments name a seed and not a file.
#[test]
fn seeds_have_their_bits() {
    let first = |table: &RecordBatch, column: &str| numbers(table, column)[0].to_bits();
    let (cosine, linear) = (data::cosine(30, 0.1, false, 0), data::linear(10, 2, 19, 0.1, 0));
    let valid = data::linear_valid(10, 19, 0.1, 0);
    let got = [first(&cosine, "x"), first(&cosine, "y"), first(&linear, "x1"), first(&linear, "y")];
    let want = [
        0xbff5_5636_7bda_2df0,
        0x3fd0_10c6_b8c4_4ba2,
        0xbfe0_1af1_4802_7f54,
        0x4007_1dbc_01be_0157,
    ];
    assert_eq!(got, want, "{got:#x?}");
    let got = [first(&valid, "x19"), first(&valid, "y")];
    assert_eq!(got, [0x3ff4_18c0_48a8_b61e, 0xbfe8_97a9_24a9_a853], "{got:#x?}");
    assert_ne!(data::cosine(30, 0.1, false, 1), cosine);
    assert_eq!(data::cosine(40, 0.1, false, 0).slice(0, 30), cosine);
}
