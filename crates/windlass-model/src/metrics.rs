//! The metrics that models report.

use ndarray::Array2;
use serde::{Deserialize, Serialize};
use windlass::metrics::Metric;

/// Metrics in the units of the targets, averaged over targets. See [`windlass::metrics`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    /// Number of rows.
    pub rows: usize,
    /// Root mean squared error.
    pub rmse: f64,
    /// Mean absolute error.
    pub mae: f64,
    /// Mean absolute percentage error over targets that are not 0.
    pub mape: Option<f64>,
    /// Coefficient of determination.
    pub r2: Option<f64>,
    /// Pearson's correlation of targets and predictions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r: Option<f64>,
}

impl Metrics {
    /// Compares targets with predictions, weighted by row.
    #[must_use]
    pub fn compute(y: &Array2<f64>, predicted: &Array2<f64>, weights: Option<&[f64]>) -> Self {
        let value = |metric: Metric| metric.value(y.view(), predicted.view(), weights);
        Self {
            rows: y.nrows(),
            rmse: value(Metric::Rmse).unwrap_or(f64::NAN),
            mae: value(Metric::Mae).unwrap_or(f64::NAN),
            mape: value(Metric::Mape),
            r2: value(Metric::Determination),
            r: value(Metric::R),
        }
    }
}
