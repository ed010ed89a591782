//! The grids of γ of the paper and of the published code.
//!
//! ```text
//! βᵢ = 1 + (α − 1)·i/(k/2),   i = 1, …, k/2
//! paper       1/α, …, 1/β₁, 1, β₁, …, α                            k + 1 values
//! published   α, …, β₁, 1/β₁, …, 1/α, each rounded to 4 decimals   2·⌊k/2⌋ values
//! ```
//!
//! The published code rounds `βᵢ` first and then its reciprocal, and omits 1.

/// The paper's grid, ascending, for `alpha ≥ 1` and an even `k ≥ 2` (an odd `k` counts as `k − 1`).
///
/// ```
/// assert_eq!(windlass::paper_grid(2.0, 4), [0.5, 1.0 / 1.5, 1.0, 1.5, 2.0]);
/// ```
#[must_use]
pub fn paper_grid(alpha: f64, k: usize) -> Vec<f64> {
    let half = k / 2;
    let below = (1..=half).rev().map(|i| 1.0 / beta(alpha, i, half));
    let above = (1..=half).map(|i| beta(alpha, i, half));
    below.chain([1.0]).chain(above).collect()
}

/// The published code's grid, descending, for `alpha ≥ 1` and `k ≥ 2`.
///
/// ```
/// assert_eq!(windlass::published_grid(2.0, 4), [2.0, 1.5, 0.6667, 0.5]);
/// ```
#[must_use]
pub fn published_grid(alpha: f64, k: usize) -> Vec<f64> {
    let half = k / 2;
    let above: Vec<f64> =
        (1..=half).rev().map(|i| round_to_4_decimals(beta(alpha, i, half))).collect();
    let below = above.iter().rev().map(|beta| round_to_4_decimals(1.0 / beta));
    above.iter().copied().chain(below).collect()
}

fn beta(alpha: f64, i: usize, half: usize) -> f64 {
    1.0 + (alpha - 1.0) * i as f64 / half as f64
}

/// The decimal with 4 places nearest to the binary value.
fn round_to_4_decimals(value: f64) -> f64 {
    // Formatting rounds the exact binary value, which scaling by 10⁴ first would not.
    format!("{value:.4}").parse().unwrap_or(value)
}
