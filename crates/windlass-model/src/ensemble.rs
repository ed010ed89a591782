//! Weights of an ensemble by greedy selection: Caruana et al., *Ensemble selection from libraries of models*,
//! 2004, [doi:10.1145/1015330.1015432](https://doi.org/10.1145/1015330.1015432).

use ndarray::{Array2, Axis};

use crate::held_out::OofPredictions;
use crate::split::Fold;

/// Weights that minimize the squared error of out-of-fold predictions.
pub(crate) struct Blend {
    /// The mean over folds of the weights that were selected without the fold.
    pub(crate) weights: Vec<f64>,
    /// For every held-out row, the prediction with the weights that were selected without its fold.
    pub(crate) predicted: Array2<f64>,
}

impl Blend {
    /// Selects weights for entries that have predictions for the same held-out rows, fold by fold.
    pub(crate) fn fit(entries: &[&OofPredictions], folds: &[Fold]) -> Self {
        let count = entries.len();
        let OofPredictions { y, weights: row_weights, .. } = entries[0];
        let variance = y.var_axis(Axis(0), 0.0).mapv(|variance| variance.max(f64::MIN_POSITIVE));
        // For each fold, the sums over its rows of the products of the errors of every two entries.
        let mut products: Vec<Array2<f64>> = vec![];
        let mut first = 0;
        for fold in folds {
            let rows = first..first + fold.held_out.len();
            first = rows.end;
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
        let mut weights = vec![0.0; count];
        let mut predicted = Array2::zeros(y.raw_dim());
        let mut first = 0;
        for (fold, product) in folds.iter().zip(&products) {
            let selected = greedy_selection(&(&all - product));
            for (weight, selected) in weights.iter_mut().zip(&selected) {
                *weight += selected / folds.len() as f64;
            }
            for row in first..first + fold.held_out.len() {
                for (entry, selected) in entries.iter().zip(&selected) {
                    predicted.row_mut(row).scaled_add(*selected, &entry.predicted.row(row));
                }
            }
            first += fold.held_out.len();
        }
        Self { weights, predicted }
    }
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
