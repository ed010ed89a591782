//! Steps down the gradient, as PyTorch takes them.
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

/// How weights follow the gradient.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Optimizer {
    /// Adam, with weight decay in the gradient.
    Adam {
        /// How long gradients, and their squares, are remembered.
        betas: (f64, f64),
        /// Keeps the step finite where there is no gradient.
        epsilon: f64,
    },
    /// Adam, with weight decay of its own.
    AdamW {
        /// How long gradients, and their squares, are remembered.
        betas: (f64, f64),
        /// Keeps the step finite where there is no gradient.
        epsilon: f64,
    },
    /// Gradient descent.
    Sgd {
        /// How much of the last step goes on.
        momentum: f64,
    },
}

impl Default for Optimizer {
    fn default() -> Self {
        Self::adam_w()
    }
}

impl Optimizer {
    /// Adam with PyTorch's settings.
    #[must_use]
    pub fn adam() -> Self {
        Self::Adam { betas: (0.9, 0.999), epsilon: 1e-8 }
    }

    /// `AdamW` with PyTorch's settings, but for its weight decay.
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

/// What an optimizer remembers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OptimizerState {
    pub(crate) steps: u64,
    pub(crate) first: Vec<f32>,
    /// Of squares; empty where it is not needed.
    pub(crate) second: Vec<f32>,
}

impl OptimizerState {
    pub(crate) fn new(optimizer: Optimizer, weights: usize) -> Self {
        let squares = match optimizer {
            Optimizer::Sgd { .. } => 0,
            Optimizer::Adam { .. } | Optimizer::AdamW { .. } => weights,
        };
        Self { steps: 0, first: vec![0.0; weights], second: vec![0.0; squares] }
    }

    /// Takes a step.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "settings are rounded to the weights' type"
    )]
    pub(crate) fn step(
        &mut self,
        optimizer: Optimizer,
        (rate, decay): (f64, f64),
        gradient: &[f32],
        weights: &mut [f32],
    ) {
        self.steps += 1;
        match optimizer {
            Optimizer::Sgd { momentum } => {
                let (momentum, rate, decay) = (momentum as f32, rate as f32, decay as f32);
                vectorized(
                    (weights, &mut self.first[..]),
                    #[inline(always)]
                    |(weights, memory)| {
                        for ((w, m), &g) in weights.iter_mut().zip(memory).zip(gradient) {
                            *m = momentum * *m + (g + decay * *w);
                            *w -= rate * *m;
                        }
                    },
                );
            }
            Optimizer::Adam { betas, epsilon } | Optimizer::AdamW { betas, epsilon } => {
                let apart = matches!(optimizer, Optimizer::AdamW { .. });
                let since = |beta: f64| 1.0 - libm::pow(beta, self.steps as f64);
                let size = (rate / since(betas.0)) as f32;
                let root = libm::sqrt(since(betas.1)) as f32;
                let shrink = if apart { (1.0 - rate * decay) as f32 } else { 1.0 };
                let decay = if apart { 0.0 } else { decay as f32 };
                let (beta, rest) = (betas.0 as f32, (1.0 - betas.0) as f32);
                let (beta_squares, rest_squares) = (betas.1 as f32, (1.0 - betas.1) as f32);
                let epsilon = epsilon as f32;
                vectorized(
                    (weights, &mut self.first[..], &mut self.second[..]),
                    #[inline(always)]
                    |(weights, first, second)| {
                        let memory = first.iter_mut().zip(second);
                        for ((w, (m, v)), &g) in weights.iter_mut().zip(memory).zip(gradient) {
                            let g = g + decay * *w;
                            *m = beta * *m + rest * g;
                            *v = beta_squares * *v + rest_squares * (g * g);
                            *w = *w * shrink - size * (*m / (v.sqrt() / root + epsilon));
                        }
                    },
                );
            }
        }
    }
}
