//! Predictions of held-out rows. They are stored in the model: prediction intervals are computed from its residuals,
//! and distillation takes them as labels.

use ndarray::Array2;

use crate::metrics::Metrics;

/// Out-of-fold predictions: each row is predicted by members that were not trained on it.
#[derive(Debug, Clone, PartialEq)]
pub struct OutOfFold {
    /// The rows of the training table, from 0, one fold after the other; empty if held-out rows are those of a
    /// validation table.
    pub rows: Vec<u64>,
    /// The fold of every held-out row.
    pub folds: Vec<u32>,
    /// The targets.
    pub y: Array2<f64>,
    /// The predictions.
    pub predicted: Array2<f64>,
    /// The weights of the rows, if they have any.
    pub weights: Option<Vec<f64>>,
}

impl OutOfFold {
    /// The error of the predictions.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        Metrics::compute(&self.y, &self.predicted, self.weights.as_deref())
    }
}
