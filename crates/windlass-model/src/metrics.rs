//! The metrics that models report.

use ndarray::Array2;
use serde::{Deserialize, Serialize};
use windlass::Relevance;
use windlass::metrics::{Metric, RangeError, by_range, quantile_edges, sera};

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

/// Errors by the size of a target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ErrorsByTarget {
    /// Mean of prediction − target: positive if predictions are too large.
    pub bias: f64,
    /// Errors in fifths of the rows by their target, ascending.
    pub fifths: Vec<RangeError>,
    /// Errors on rare rows, if they are defined.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rare: Option<RareErrors>,
}

/// Errors on rows with rare targets.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RareErrors {
    /// Number of rare rows.
    pub rows: usize,
    /// Root mean squared error of the rare rows; 0 if there are none.
    pub rmse: f64,
    /// Mean of prediction − target over the rare rows; 0 if there are none.
    pub bias: f64,
    /// Squared error-relevance area over all rows.
    pub sera: f64,
}

impl ErrorsByTarget {
    /// Number of ranges of the target.
    const RANGES: usize = 5;

    /// The edges between fifths of targets.
    #[must_use]
    pub fn edges(y: &[f64]) -> Vec<f64> {
        quantile_edges(y, Self::RANGES)
    }

    /// The errors of predictions of one target; `None` without rows, or if one is not finite.
    #[must_use]
    pub fn compute(
        y: &[f64],
        predicted: &[f64],
        edges: &[f64],
        relevance: Option<&Relevance>,
    ) -> Option<Self> {
        let fifths = by_range(y, predicted, edges).ok()?;
        let bias = mean_error(y.iter().zip(predicted));
        let rare = relevance.map(|relevance| {
            let phi: Vec<f64> = y.iter().map(|&y| relevance.at(y)).collect();
            let rare = || y.iter().zip(predicted).filter(|(y, _)| relevance.is_rare(**y));
            let rows = rare().count();
            let squares: f64 = rare().map(|(y, p)| (y - p).powi(2)).sum();
            RareErrors {
                rows,
                rmse: (squares / rows.max(1) as f64).sqrt(),
                bias: mean_error(rare()),
                sera: sera(y, predicted, &phi).unwrap_or(f64::NAN),
            }
        });
        Some(Self { bias, fifths, rare })
    }

    /// The errors over several sets of rows with the same edges between fifths; `None` without any.
    #[must_use]
    pub fn pooled(parts: &[&Self], edges: &[f64]) -> Option<Self> {
        let rows = |part: &Self| part.fifths.iter().map(|fifth| fifth.rows).sum::<usize>();
        let all = parts.iter().map(|part| rows(part)).sum::<usize>();
        if all == 0 {
            return None;
        }
        let mut fifths: Vec<Option<RangeError>> = vec![None; edges.len() + 1];
        for fifth in parts.iter().flat_map(|part| &part.fifths) {
            let place = edges.partition_point(|edge| *edge <= fifth.range[0]);
            fifths[place] = Some(match fifths[place] {
                None => *fifth,
                Some(other) => both(other, *fifth),
            });
        }
        let rare: Option<Vec<RareErrors>> = parts.iter().map(|part| part.rare).collect();
        let rare = rare.map(|parts| {
            let rows: usize = parts.iter().map(|part| part.rows).sum();
            let mean = |of: &dyn Fn(&RareErrors) -> f64| {
                let sum: f64 = parts.iter().map(|part| part.rows as f64 * of(part)).sum();
                sum / rows.max(1) as f64
            };
            RareErrors {
                rows,
                rmse: mean(&|part| part.rmse.powi(2)).sqrt(),
                bias: mean(&|part| part.bias),
                sera: parts.iter().map(|part| part.sera).sum(),
            }
        });
        let bias = parts.iter().map(|part| part.bias * rows(part) as f64).sum::<f64>() / all as f64;
        Some(Self { bias, fifths: fifths.into_iter().flatten().collect(), rare })
    }
}

fn mean_error<'a>(pairs: impl Iterator<Item = (&'a f64, &'a f64)>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for (y, predicted) in pairs {
        sum += predicted - y;
        count += 1.0;
    }
    sum / f64::max(count, 1.0)
}

/// The errors of the rows of both.
fn both(a: RangeError, b: RangeError) -> RangeError {
    let rows = a.rows + b.rows;
    let mean = |of_a: f64, of_b: f64| (of_a * a.rows as f64 + of_b * b.rows as f64) / rows as f64;
    RangeError {
        range: [a.range[0].min(b.range[0]), a.range[1].max(b.range[1])],
        rows,
        rmse: mean(a.rmse.powi(2), b.rmse.powi(2)).sqrt(),
        bias: mean(a.bias, b.bias),
    }
}

#[cfg(test)]
mod tests {
    use windlass::Tails;

    use super::*;

    #[test]
    fn errors_of_parts_pool_to_those_of_all_rows() {
        let y: Vec<f64> = (0..60).map(|i| (f64::from(i) / 10.0).exp()).collect();
        let predicted: Vec<f64> = y.iter().enumerate().map(|(i, y)| y + (i % 7) as f64).collect();
        let edges = ErrorsByTarget::edges(&y);
        let relevance = Relevance::from_box_plot(&y, Tails::High).unwrap();
        let compute = |range: std::ops::Range<usize>| {
            let (y, predicted) = (&y[range.clone()], &predicted[range]);
            ErrorsByTarget::compute(y, predicted, &edges, Some(&relevance)).unwrap()
        };
        let (all, parts) = (compute(0..60), [compute(0..35), compute(35..60)]);
        let pooled = ErrorsByTarget::pooled(&parts.each_ref(), &edges).unwrap();
        assert_eq!(all.fifths.len(), 5);
        for (a, b) in all.fifths.iter().zip(&pooled.fifths) {
            assert_eq!((a.range, a.rows), (b.range, b.rows));
            assert!((a.rmse - b.rmse).abs() < 1e-12 && (a.bias - b.bias).abs() < 1e-12);
        }
        let (a, b) = (all.rare.unwrap(), pooled.rare.unwrap());
        assert!(a.rows == b.rows && a.rows > 0);
        assert!((a.sera / b.sera - 1.0).abs() < 1e-12 && (a.rmse - b.rmse).abs() < 1e-12);
        assert!((all.bias - pooled.bias).abs() < 1e-12);
    }
}
