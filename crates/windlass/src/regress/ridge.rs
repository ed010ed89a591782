//! Ridge regression: `argmin_{B, c} Σᵢ wᵢ‖yᵢ − xᵢB − c‖² + λ‖B‖²`, the intercept `c` not penalized.
//!
//! Hoerl, Kennard, *Ridge regression*, 1970,
//! [doi:10.1080/00401706.1970.10488634](https://doi.org/10.1080/00401706.1970.10488634). `λ = 0` is
//! ordinary least squares, with minimum norm if the features are dependent or more than the rows.

use faer::Mat;
use ndarray::ArrayView2;

use super::least_squares::{Sizes, column_norms, condense, least_squares};
use super::{Centered, LinearModel, check_penalty, root_weight};
use crate::{Result, Samples};

/// Ridge regression.
///
/// | Setting | Default | Range | Meaning |
/// | :-- | :-- | :-- | :-- |
/// | [`new`](Self::new) | – | `[0, ∞)` | penalty λ |
/// | [`intercept`](Self::intercept) | `true` | | whether the model has one |
///
/// ```
/// use ndarray::array;
/// use windlass::{Samples, regress::Ridge};
///
/// let (x, y) = (array![[0.0], [1.0], [2.0]], array![1.0, 3.0, 5.0]);
/// let line = Ridge::new(0.0).fit(&Samples::new(x.view(), y.view())?)?;
/// assert!((line.predict(array![[10.0]].view())?[(0, 0)] - 21.0).abs() < 1e-12);
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ridge {
    penalty: f64,
    intercept: bool,
}

impl Ridge {
    /// Ridge regression with this penalty.
    #[must_use]
    pub fn new(penalty: f64) -> Self {
        Self { penalty, intercept: true }
    }

    /// Sets whether the model has an intercept.
    #[must_use]
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.intercept = intercept;
        self
    }

    /// Fits the model with row weights.
    pub fn fit(&self, samples: &Samples<'_>) -> Result<LinearModel> {
        check_penalty(self.penalty)?;
        let prepare = |rows: ArrayView2<'_, f64>| {
            if self.intercept {
                return Centered::new(rows, samples);
            }
            let scaled = |i, j| root_weight(samples, i) * rows[(i, j)];
            let (n, d) = rows.dim();
            Centered { mean: vec![0.0; d], rows: Mat::from_fn(n, d, scaled) }
        };
        let (x, y) = (prepare(samples.x()), prepare(samples.y()));
        let (design, response, _) = condense(x.rows, y.rows);
        let sizes = Sizes { columns: &column_norms(&design), all: design.norm_l2() };
        let coefficients = least_squares(&design, &response, self.penalty, &sizes)?;
        Ok(LinearModel::uncentered(&coefficients, &x.mean, &y.mean))
    }
}
