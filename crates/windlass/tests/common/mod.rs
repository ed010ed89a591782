//! What several test files need.

#![allow(dead_code, reason = "no file needs all of it")]
#![allow(unreachable_pub, missing_docs, reason = "a part of every test file")]

use ndarray::{Array1, Array2, ArrayView2, Axis};
use windlass::{Partition, Seed};

pub fn group_mean(x: ArrayView2<'_, f64>, groups: &Partition, group: u32) -> Array1<f64> {
    let rows: Vec<usize> = (0..x.nrows()).filter(|&i| groups.labels()[i] == group).collect();
    x.select(Axis(0), &rows).mean_axis(Axis(0)).unwrap()
}

#[track_caller]
pub fn assert_close(got: &Array2<f64>, want: &Array2<f64>, tolerance: f64) {
    assert_eq!(got.dim(), want.dim());
    let size = want.iter().fold(1.0_f64, |size, v| size.max(v.abs()));
    for (got, want) in got.iter().zip(want) {
        assert!((got - want).abs() <= tolerance * size, "{got} against {want}");
    }
}

pub fn bits(x: &Array2<f64>) -> Vec<u64> {
    x.iter().map(|v| v.to_bits()).collect()
}

/// `Π` as a matrix: the slow and obvious way, by Gram and Schmidt, twice for good measure.
pub fn naive_projection(a: ArrayView2<'_, f64>) -> Array2<f64> {
    let n = a.nrows();
    let size = a.iter().fold(0.0_f64, |size, v| size.max(v.abs()));
    let mut basis: Vec<Array1<f64>> = vec![];
    for column in a.columns() {
        let mut v = column.to_owned();
        for _ in 0..2 {
            for b in &basis {
                v = &v - &(b * b.dot(&v));
            }
        }
        let norm = v.dot(&v).sqrt();
        if norm > 1e-10 * size * (n as f64) {
            basis.push(v / norm);
        }
    }
    let mut projection = Array2::zeros((n, n));
    for b in &basis {
        projection += &(b.view().insert_axis(Axis(1)).dot(&b.view().insert_axis(Axis(0))));
    }
    projection
}

pub fn clustered_data(n: usize, d: usize) -> (Array2<f64>, Array1<f64>) {
    let draw = |step: u64, i: usize| Seed(5).at(windlass::Stream::Sample, step, i as u64);
    let x = Array2::from_shape_fn((n, d), |(i, j)| {
        (draw(100, i).below(6) as f64) * ((j % 3) as f64 - 1.0) * 3.0 + draw(j as u64, i).normal()
    });
    let y = Array1::from_shape_fn(n, |i| x.row(i).sum() + draw(99, i).normal());
    (x, y)
}
