//! Linear models in closed form: ridge, and anchor regression.

mod anchor;
mod least_squares;
mod ridge;

pub use anchor::{AnchorRegression, Condensed, Exogenous, GAMMAS, PathPoint};
pub use ridge::Ridge;

use faer::Mat;
use ndarray::{Array1, Array2, ArrayView, ArrayView1, ArrayView2, Dimension};

use crate::data::{check_finite, flatten};
use crate::moments::moments;
use crate::{Error, Result, Samples};

/// A linear model `p = xB + c`.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearModel {
    coefficients: Array2<f64>,
    intercept: Array1<f64>,
}

impl LinearModel {
    /// A model with given coefficients, one row per feature, and one intercept per target.
    pub fn new(coefficients: Array2<f64>, intercept: Array1<f64>) -> Result<Self> {
        let (expected, got) = (coefficients.ncols(), intercept.len());
        if expected != got {
            return Err(Error::ColumnMismatch { what: "the intercept", expected, got });
        }
        check_finite("the coefficients", coefficients.as_standard_layout().view())?;
        let row = intercept.view().insert_axis(ndarray::Axis(0));
        check_finite("the intercept", row.as_standard_layout().view())?;
        Ok(Self { coefficients, intercept })
    }

    /// `B`: one row per feature, one column per target.
    #[must_use]
    pub fn coefficients(&self) -> ArrayView2<'_, f64> {
        self.coefficients.view()
    }

    /// `c`: one value per target.
    #[must_use]
    pub fn intercept(&self) -> ArrayView1<'_, f64> {
        self.intercept.view()
    }

    /// The predictions, one column per target.
    pub fn predict<D: Dimension>(&self, x: ArrayView<'_, f64, D>) -> Result<Array2<f64>> {
        let x = flatten(x);
        let expected = self.coefficients.nrows();
        if x.ncols() != expected {
            return Err(Error::ColumnMismatch { what: "x", expected, got: x.ncols() });
        }
        check_finite("x", x.view())?;
        Ok(x.dot(&self.coefficients) + &self.intercept)
    }

    /// Converts a model of centered rows to a model of the original rows.
    fn uncentered(coefficients: &Mat<f64>, x_mean: &[f64], y_mean: &[f64]) -> Self {
        let shape = (coefficients.nrows(), coefficients.ncols());
        let coefficients = Array2::from_shape_fn(shape, |(j, k)| coefficients[(j, k)]);
        let x_mean = ArrayView1::from(x_mean);
        let intercept = ArrayView1::from(y_mean).to_owned() - x_mean.dot(&coefficients);
        Self { coefficients, intercept }
    }
}

/// Centered rows, each multiplied by the square root of its weight.
struct Centered {
    mean: Vec<f64>,
    rows: Mat<f64>,
}

impl Centered {
    fn new(rows: ArrayView2<'_, f64>, samples: &Samples<'_>) -> Self {
        let (mean, _) = moments(rows, samples.weights());
        let centered = Mat::from_fn(rows.nrows(), rows.ncols(), |i, j| {
            root_weight(samples, i) * (rows[(i, j)] - mean[j])
        });
        Self { mean, rows: centered }
    }
}

fn root_weight(samples: &Samples<'_>, row: usize) -> f64 {
    samples.weights().map_or(1.0, |weights| weights[row].sqrt())
}

/// Returns an error if the penalty is not in `[0, ∞)`.
fn check_penalty(penalty: f64) -> Result<()> {
    check_not_negative("penalty", penalty)
}

fn check_not_negative(name: &'static str, got: f64) -> Result<()> {
    if got >= 0.0 && got.is_finite() {
        return Ok(());
    }
    Err(Error::OutOfRange { name, range: "[0, inf)", got })
}
