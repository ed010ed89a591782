//! Weights of an ensemble: the mean of greedy selection (Caruana et al., *Ensemble selection from libraries of
//! models*, 2004, [doi:10.1145/1015330.1015432](https://doi.org/10.1145/1015330.1015432)) and of least squares on
//! the simplex (Breiman, *Stacked regressions*, 1996,
//! [doi:10.1007/BF00117832](https://doi.org/10.1007/BF00117832)).

use std::ops::Range;

use ndarray::{Array2, Axis};

use crate::out_of_fold::OutOfFold;

/// Weights that minimize the squared error of out-of-fold predictions.
pub(crate) struct Blend {
    /// The mean over folds of the weights that were selected without the fold.
    pub(crate) weights: Vec<f64>,
    /// For each fold, the weights that were selected without it.
    pub(crate) by_fold: Vec<Vec<f64>>,
    /// For every held-out row, the prediction with the weights that were selected without its fold.
    pub(crate) predicted: Array2<f64>,
}

impl Blend {
    /// Selects weights for entries that have predictions for the same held-out rows, fold by fold.
    pub(crate) fn fit(entries: &[&OutOfFold]) -> Self {
        let count = entries.len();
        let OutOfFold { y, folds, weights: row_weights, .. } = entries[0];
        // The rows of every fold, one fold after the other.
        let mut parts: Vec<Range<usize>> = vec![];
        for part in folds.chunk_by(|a, b| a == b) {
            let first = parts.last().map_or(0, |last| last.end);
            parts.push(first..first + part.len());
        }
        let variance = y.var_axis(Axis(0), 0.0).mapv(|variance| variance.max(f64::MIN_POSITIVE));
        // For each fold, the sums over its rows of the products of the errors of every two entries.
        let mut products: Vec<Array2<f64>> = vec![];
        for rows in &parts {
            products.push(Array2::from_shape_fn((count, count), |(a, b)| {
                let error = |entry: usize, row: usize, target: usize| {
                    entries[entry].predicted[(row, target)] - y[(row, target)]
                };
                let mut sum = 0.0;
                for row in rows.clone() {
                    let weight = row_weights.as_ref().map_or(1.0, |weights| weights[row]);
                    for target in 0..y.ncols() {
                        sum += weight * error(a, row, target) * error(b, row, target)
                            / variance[target];
                    }
                }
                sum
            }));
        }
        let all = products.iter().fold(Array2::zeros((count, count)), |sum, fold| sum + fold);
        let (mut weights, mut by_fold) = (vec![0.0; count], vec![]);
        let mut predicted = Array2::zeros(y.raw_dim());
        for (rows, product) in parts.iter().zip(&products) {
            let selected = select_weights(&(&all - product));
            for (weight, selected) in weights.iter_mut().zip(&selected) {
                *weight += selected / parts.len() as f64;
            }
            for row in rows.clone() {
                for (entry, selected) in entries.iter().zip(&selected) {
                    predicted.row_mut(row).scaled_add(*selected, &entry.predicted.row(row));
                }
            }
            by_fold.push(selected);
        }
        Self { weights: without_small(weights), by_fold, predicted }
    }
}

/// Drops entries with little weight: they cost as much as others.
fn without_small(weights: Vec<f64>) -> Vec<f64> {
    const LEAST: f64 = 0.01;
    let large = |weight: f64| if weight < LEAST { 0.0 } else { weight };
    let total: f64 = weights.iter().map(|&weight| large(weight)).sum();
    weights.into_iter().map(|weight| large(weight) / total).collect()
}

/// The mean of two selections that err in different ways: greedy selection prefers few entries, least squares the
/// weights of the least error.
fn select_weights(products: &Array2<f64>) -> Vec<f64> {
    let (greedy, least) = (greedy_selection(products), least_squares(products));
    greedy.iter().zip(least).map(|(greedy, least)| f64::midpoint(*greedy, least)).collect()
}

/// The weights on the simplex with the least squared error, shrunk toward equal ones. `products` has the sums of
/// products of the errors of every two entries.
fn least_squares(products: &Array2<f64>) -> Vec<f64> {
    /// The penalty on squared weights, as a fraction of the mean squared error of an entry.
    const SHRINKAGE: f64 = 0.01;
    const SWEEPS: usize = 500;
    let count = products.nrows();
    let penalty = SHRINKAGE * products.diag().sum() / count as f64;
    let penalized = products + &(Array2::<f64>::eye(count) * penalty);
    let mut weights = vec![1.0 / count as f64; count];
    // Half of the gradient.
    let mut gradient = penalized.dot(&ndarray::ArrayView1::from(&weights));
    for _ in 0..SWEEPS {
        let mut moved: f64 = 0.0;
        // Moves weight between every two entries, as far as it lowers the error.
        for to in 0..count {
            for from in 0..to {
                let curvature =
                    penalized[(to, to)] + penalized[(from, from)] - 2.0 * penalized[(to, from)];
                if curvature <= 0.0 {
                    continue;
                }
                let step = (gradient[from] - gradient[to]) / curvature;
                let step = step.clamp(-weights[to], weights[from]);
                weights[to] += step;
                weights[from] -= step;
                gradient.scaled_add(step, &penalized.row(to));
                gradient.scaled_add(-step, &penalized.row(from));
                moved = moved.max(step.abs());
            }
        }
        if moved < 1e-9 {
            break;
        }
    }
    weights
}

/// Selects with replacement, each time the entry that reduces the squared error most. `products` has the sums
/// of products of the errors of every two entries.
fn greedy_selection(products: &Array2<f64>) -> Vec<f64> {
    const STEPS: usize = 20;
    let count = products.nrows();
    let mut selected = vec![0.0; count];
    // Sums of products of each entry with the selected ones, and of the selected ones with each other.
    let (mut with_selected, mut within) = (vec![0.0; count], 0.0);
    for step in 0..STEPS {
        let error = |entry: usize| {
            let sum: f64 = within + 2.0 * with_selected[entry] + products[(entry, entry)];
            sum / ((step + 1) * (step + 1)) as f64
        };
        let best = (0..count).min_by(|&a, &b| error(a).total_cmp(&error(b))).expect("an entry");
        within += 2.0 * with_selected[best] + products[(best, best)];
        selected[best] += 1.0;
        for (entry, sum) in with_selected.iter_mut().enumerate() {
            *sum += products[(entry, best)];
        }
    }
    selected.iter().map(|times| times / STEPS as f64).collect()
}
