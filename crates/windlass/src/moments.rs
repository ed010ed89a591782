//! Means and standard deviations of columns, from exact sums.

use ndarray::{Array2, ArrayView2, Axis, s};
use rayon::prelude::*;

use crate::data::row_slices;
use crate::sums::{ExactSums, exact_sum};

/// The weighted mean and standard deviation of every column, both with the sum of weights as divisor.
pub(crate) fn moments(rows: ArrayView2<'_, f64>, weights: Option<&[f64]>) -> (Vec<f64>, Vec<f64>) {
    let mut means = averages(rows, weights, |x, _| x);
    // The rounded mean of a constant may differ from the constant, and its standard deviation would not be 0.
    for (mean, column) in means.iter_mut().zip(rows.axis_iter(Axis(1))) {
        if let Some(&first) = column.first().filter(|&first| column.iter().all(|x| x == first)) {
            *mean = first;
        }
    }
    let units: Vec<f64> = rows.axis_iter(Axis(1)).map(|column| unit(column.iter())).collect();
    let variances = averages(rows, weights, |x, j| {
        let centered = (x - means[j]) / units[j];
        centered * centered
    });
    let deviations = variances.iter().zip(&units).map(|(v, unit)| v.sqrt() * unit).collect();
    (means, deviations)
}

/// Rows in standard deviations from the mean of each column; a constant column is only centered.
pub(crate) fn standardize(mut rows: Array2<f64>, weights: Option<&[f64]>) -> Array2<f64> {
    let (means, deviations) = moments(rows.view(), weights);
    for (mut column, (mean, deviation)) in
        rows.columns_mut().into_iter().zip(means.into_iter().zip(deviations))
    {
        let unit = if deviation > 0.0 { deviation } else { 1.0 };
        column.mapv_inplace(|value| (value - mean) / unit);
    }
    rows
}

/// A power of two that keeps squares from overflowing: 1 except for enormous values.
fn unit<'a>(column: impl Iterator<Item = &'a f64>) -> f64 {
    let largest = column.fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if largest > 1e100 { f64::powi(2.0, 600) } else { 1.0 }
}

/// The weighted average of `of(value, column)` in every column.
fn averages(
    rows: ArrayView2<'_, f64>,
    weights: Option<&[f64]>,
    of: impl Fn(f64, usize) -> f64 + Sync,
) -> Vec<f64> {
    const BLOCK: usize = 256;
    let (n, d) = rows.dim();
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    let add_block = |mut sums: ExactSums, first: usize| {
        let mut block = rows.slice(s![first..n.min(first + BLOCK), ..]).to_owned();
        for mut row in block.rows_mut() {
            for (j, x) in row.iter_mut().enumerate() {
                *x = of(*x, j);
            }
        }
        let block = block.as_standard_layout();
        let row = row_slices(block.view());
        sums.add_rows((0..block.nrows()).map(|i| (0, weight(first + i), row(i))));
        sums
    };
    let empty = || ExactSums::new(1, d);
    let blocks = (0..n).into_par_iter().step_by(BLOCK).with_min_len(16);
    let sums = blocks.fold(empty, add_block).reduce(empty, |mut a, b| {
        a.merge(&b);
        a
    });
    let total = match weights {
        Some(weights) => exact_sum(weights.iter().copied()).unwrap_or(f64::INFINITY),
        None => n as f64,
    };
    sums.totals().into_iter().map(|sum| sum / total).collect()
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::moments;

    #[test]
    fn weights_count_and_size_does_not_matter() {
        for size in [1.0, 1e-100, 1e200, 1e276] {
            let rows = array![[1.0, 0.1], [2.0, 0.1], [4.0, 0.1]] * size;
            let (means, deviations) = moments(rows.view(), Some(&[1.0, 2.0, 1.0]));
            assert!((means[0] / (2.25 * size) - 1.0).abs() < 1e-15);
            assert!((deviations[0] / (1.1875_f64.sqrt() * size) - 1.0).abs() < 1e-12, "{size}");
            assert_eq!(deviations[1], 0.0);
        }
    }
}
