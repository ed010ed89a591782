//! Loss functions: the weighted mean over rows and outputs of
//!
//! ```text
//! squared error   (p − y)²
//! Huber, δ        (p − y)² for |p − y| ≤ δ,   δ(2|p − y| − δ) beyond
//! ```
//!
//! Huber's loss is twice its usual definition, so that it equals the squared error for small errors.

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};
use windlass::Dataset;

use crate::{Error, Result};

/// A loss function.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// The squared error.
    #[default]
    Squared,
    /// The squared error, linear beyond the distance δ.
    Huber(f32),
}

impl Loss {
    pub(crate) fn check(self) -> Result<()> {
        match self {
            Self::Huber(delta) if !(delta > 0.0 && delta.is_finite()) => {
                Err(Error::OutOfRange { name: "delta", range: "(0, inf)", got: delta.into() })
            }
            _ => Ok(()),
        }
    }

    /// The loss of an error, and half of its derivative.
    fn at(self, error: f32) -> (f32, f32) {
        match self {
            Self::Huber(delta) if error.abs() > delta => {
                (delta * (2.0 * error.abs() - delta), delta * error.signum())
            }
            _ => (error * error, error),
        }
    }

    /// The weighted mean, `None` if all rows weigh 0; `gradient` becomes its gradient with respect to the
    /// predictions.
    ///
    /// Predictions and gradient have rows of `width` numbers, of which the first are the outputs.
    pub fn mean(
        self,
        predicted: &[f32],
        width: usize,
        y: ArrayView2<'_, f32>,
        weight: impl Fn(usize) -> f64,
        gradient: &mut Vec<f32>,
    ) -> Option<f64> {
        let total: f64 = (0..y.nrows()).map(&weight).sum::<f64>() * y.ncols() as f64;
        gradient.clear();
        gradient.resize(y.nrows() * width, 0.0);
        if total <= 0.0 {
            return None;
        }
        let mut sum = 0.0;
        let rows = predicted.chunks_exact(width).zip(gradient.chunks_exact_mut(width));
        for (row, ((predicted, gradient), y)) in rows.zip(y.rows()).enumerate() {
            let row_weight = weight(row) / total;
            #[expect(clippy::cast_possible_truncation, reason = "rounded")]
            let factor = (2.0 * row_weight) as f32;
            for ((&predicted, gradient), &y) in predicted.iter().zip(gradient).zip(y) {
                let (loss, half) = self.at(predicted - y);
                sum += row_weight * f64::from(loss);
                *gradient = factor * half;
            }
        }
        Some(sum)
    }
}

/// The weighted mean over rows and outputs of the squared error.
#[must_use]
pub fn mean_squared_error(dataset: &Dataset<f32>, predicted: &Array2<f32>) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for (row, (predicted, y)) in predicted.rows().into_iter().zip(dataset.y().rows()).enumerate() {
        let weight = dataset.weight(row);
        for (&predicted, &y) in predicted.iter().zip(y) {
            sum += weight * (f64::from(predicted) - f64::from(y)).powi(2);
            total += weight;
        }
    }
    sum / total
}
