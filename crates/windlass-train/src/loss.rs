//! What training makes small: the weighted mean over rows and outputs of
//!
//! ```text
//! squared error   (p − y)²
//! Huber, δ        (p − y)² for |p − y| ≤ δ,   δ(2|p − y| − δ) beyond
//! ```
//!
//! Huber's loss is twice what is often given, so that it is the squared error where errors are small.

use serde::{Deserialize, Serialize};

use crate::{Error, Result};

/// A loss.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// The squared error.
    #[default]
    Squared,
    /// The squared error, linear beyond a distance.
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

    /// The mean over rows that weigh something, `None` if none does, and its gradient by the predictions.
    ///
    /// Predictions and gradient have rows of `width` numbers, of which the first are the outputs.
    pub fn mean(
        self,
        predicted: &[f32],
        width: usize,
        y: ndarray::ArrayView2<'_, f32>,
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
            let share = weight(row) / total;
            #[expect(clippy::cast_possible_truncation, reason = "rounded")]
            let factor = (2.0 * share) as f32;
            for ((&predicted, gradient), &y) in predicted.iter().zip(gradient).zip(y) {
                let (loss, half) = self.at(predicted - y);
                sum += share * f64::from(loss);
                *gradient = factor * half;
            }
        }
        Some(sum)
    }
}
