//! Optimizers, with the update rules of PyTorch.
//!
//! ```text
//! SGD      m ← μ·m + g,   w ← w − η·m
//! Adam     m ← β₁m + (1 − β₁)g,   v ← β₂v + (1 − β₂)g²,
//!          w ← w − η/(1 − β₁ᵗ) · m / (√v/√(1 − β₂ᵗ) + ε)
//! ```
//!
//! Weight decay is added to the gradient (`g + λw`), except in `AdamW`, where the weights shrink by `1 − ηλ`
//! before the step (Loshchilov, Hutter, *Decoupled weight decay regularization*, ICLR 2019).

use serde::{Deserialize, Serialize};

use crate::gemm::vectorized;
use crate::{Error, Result};

/// An optimizer with its hyperparameters.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Optimizer {
    /// Adam, with weight decay added to the gradient.
    Adam {
        /// Decay rates of the moving averages of gradients and of their squares.
        betas: (f64, f64),
        /// Added to the denominator for numerical stability.
        epsilon: f64,
    },
    /// Adam, with decoupled weight decay.
    AdamW {
        /// Decay rates of the moving averages of gradients and of their squares.
        betas: (f64, f64),
        /// Added to the denominator for numerical stability.
        epsilon: f64,
    },
    /// Stochastic gradient descent.
    Sgd {
        /// Momentum.
        momentum: f64,
    },
}

impl Default for Optimizer {
    fn default() -> Self {
        Self::adam_w()
    }
}

impl Optimizer {
    /// Adam with PyTorch's defaults.
    #[must_use]
    pub fn adam() -> Self {
        Self::Adam { betas: (0.9, 0.999), epsilon: 1e-8 }
    }

    /// `AdamW` with PyTorch's defaults, except for its weight decay.
    #[must_use]
    pub fn adam_w() -> Self {
        Self::AdamW { betas: (0.9, 0.999), epsilon: 1e-8 }
    }

    pub(crate) fn check(self) -> Result<()> {
        let refuse = |name, range, got| Err(Error::OutOfRange { name, range, got });
        match self {
            Self::Adam { betas, epsilon } | Self::AdamW { betas, epsilon } => {
                for beta in [betas.0, betas.1] {
                    if !(0.0..1.0).contains(&beta) {
                        return refuse("beta", "[0, 1)", beta);
                    }
                }
                if !(epsilon > 0.0 && epsilon.is_finite()) {
                    return refuse("epsilon", "(0, inf)", epsilon);
                }
            }
            Self::Sgd { momentum } if !(0.0..1.0).contains(&momentum) => {
                return refuse("momentum", "[0, 1)", momentum);
            }
            Self::Sgd { .. } => {}
        }
        Ok(())
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OptimizerState {
    /// Number of steps taken.
    pub(crate) step: u64,
    /// The momentum buffer of SGD, or the moving average of Adam's gradients.
    pub(crate) first_moment: Vec<f32>,
    /// The moving average of Adam's squared gradients; empty for SGD.
    pub(crate) second_moment: Vec<f32>,
}

impl OptimizerState {
    pub(crate) fn new(optimizer: Optimizer, weights: usize) -> Self {
        let second = match optimizer {
            Optimizer::Sgd { .. } => 0,
            Optimizer::Adam { .. } | Optimizer::AdamW { .. } => weights,
        };
        Self { step: 0, first_moment: vec![0.0; weights], second_moment: vec![0.0; second] }
    }

    /// Updates the weights by one step down the gradient.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "settings are rounded to the weights' type"
    )]
    pub(crate) fn update(
        &mut self,
        optimizer: Optimizer,
        learning_rate: f64,
        weight_decay: f64,
        gradient: &[f32],
        weights: &mut [f32],
    ) {
        self.step += 1;
        match optimizer {
            Optimizer::Sgd { momentum } => {
                let (rate, decay) = (learning_rate as f32, weight_decay as f32);
                let momentum = momentum as f32;
                vectorized(
                    (weights, &mut self.first_moment[..]),
                    #[inline(always)]
                    |(weights, buffer)| {
                        for ((w, m), &g) in weights.iter_mut().zip(buffer).zip(gradient) {
                            *m = momentum * *m + (g + decay * *w);
                            *w -= rate * *m;
                        }
                    },
                );
            }
            Optimizer::Adam { betas, epsilon } | Optimizer::AdamW { betas, epsilon } => {
                let decoupled = matches!(optimizer, Optimizer::AdamW { .. });
                let bias_correction = |beta: f64| 1.0 - libm::pow(beta, self.step as f64);
                let step_size = (learning_rate / bias_correction(betas.0)) as f32;
                let root = libm::sqrt(bias_correction(betas.1)) as f32;
                let shrink =
                    if decoupled { (1.0 - learning_rate * weight_decay) as f32 } else { 1.0 };
                let decay = if decoupled { 0.0 } else { weight_decay as f32 };
                let (beta_1, rest_1) = (betas.0 as f32, (1.0 - betas.0) as f32);
                let (beta_2, rest_2) = (betas.1 as f32, (1.0 - betas.1) as f32);
                let epsilon = epsilon as f32;
                vectorized(
                    (weights, &mut self.first_moment[..], &mut self.second_moment[..]),
                    #[inline(always)]
                    |(weights, first, second)| {
                        let moments = first.iter_mut().zip(second);
                        for ((w, (m, v)), &g) in weights.iter_mut().zip(moments).zip(gradient) {
                            let g = g + decay * *w;
                            *m = beta_1 * *m + rest_1 * g;
                            *v = beta_2 * *v + rest_2 * (g * g);
                            *w = *w * shrink - step_size * (*m / (v.sqrt() / root + epsilon));
                        }
                    },
                );
            }
        }
    }
}
