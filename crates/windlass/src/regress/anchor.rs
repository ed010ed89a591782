//! Anchor regression: least squares that is robust to shifts along the anchors.
//!
//! ```text
//! argmin_B ‖(I − Π)(Y − XB)‖² + γ‖Π(Y − XB)‖² + λ‖B‖²,    Π the projection onto the anchors      (1)
//! ```
//!
//! with X, Y and the anchors centered. `γ = 0` partials the anchors out, `γ = 1` is ordinary least
//! squares, `γ → ∞` two-stage least squares. (1) is least squares on `X + (√γ − 1)ΠX`, and with an
//! orthonormal basis `Q` of the anchors and a factorization `(I − Π)X = PR` it is
//!
//! ```text
//! ‖Pᵀ(I − Π)Y − RB‖² + γ‖QᵀY − QᵀXB‖² + λ‖B‖² + constant                                       (2)
//! ```
//!
//! with at most as many rows as features and anchors together ([`Condensed`]), so a path of γ costs little more
//! than one fit and does not need the data again.
//!
//! Rothenhäusler, Meinshausen, Bühlmann, Peters, *Anchor regression: heterogeneous data meet
//! causality*, 2021, [doi:10.1111/rssb.12398](https://doi.org/10.1111/rssb.12398). By its theorem 1 the
//! [worst risk](PathPoint::worst_risk) over all shifts along the anchors up to strength γ is the
//! objective (1) divided by n.

use faer::{Mat, Scale, concat};
use ndarray::Array2;

use super::least_squares::{Sizes, column_norms, condense, least_squares};
use super::{Centered, LinearModel, check_not_negative, check_penalty, root_weight};
use crate::error::same_rows;
use crate::mixing::Gather;
use crate::mixing::Strength;
use crate::mixing::group_mean::GroupMean;
use crate::moments::moments;
use crate::sums::exact_sum;
use crate::{AnchorMatrix, Partition, Result, Samples};

/// The anchors of a regression: exogenous variables.
#[derive(Debug, Clone, Copy)]
pub enum Exogenous<'a> {
    /// A group for every row.
    Groups(&'a Partition),
    /// Real-valued anchors for every row.
    Matrix(&'a AnchorMatrix),
}

impl<'a> From<&'a Partition> for Exogenous<'a> {
    fn from(partition: &'a Partition) -> Self {
        Self::Groups(partition)
    }
}

impl<'a> From<&'a AnchorMatrix> for Exogenous<'a> {
    fn from(matrix: &'a AnchorMatrix) -> Self {
        Self::Matrix(matrix)
    }
}

/// Anchor regression.
///
/// | Setting | Default | Range | Meaning |
/// | :-- | :-- | :-- | :-- |
/// | [`new`](Self::new) | – | `[0, ∞)` | γ: expected strength of shifts; 1 is least squares |
/// | [`penalty`](Self::penalty) | `0.0` | `[0, ∞)` | ridge penalty λ |
///
/// ```
/// use ndarray::array;
/// use windlass::{Partition, Samples, regress::AnchorRegression};
///
/// let (x, y) = (array![[0.0], [1.0], [5.0], [7.0]], array![0.0, 1.0, 9.0, 11.0]);
/// let samples = Samples::new(x.view(), y.view())?;
/// let sites = Partition::new(vec![0, 0, 1, 1], 2)?;
/// let robust = AnchorRegression::new(10.0).fit(&samples, &sites)?;
/// let path = AnchorRegression::new(1.0).path(&samples, &sites, &[0.0, 1.0, 10.0])?;
/// assert_eq!(path[2].model, robust);
/// assert!(path[2].between < path[1].between);
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AnchorRegression {
    gamma: f64,
    penalty: f64,
}

/// One point of a γ path.
#[derive(Debug, Clone, PartialEq)]
pub struct PathPoint {
    /// The strength.
    pub gamma: f64,
    /// The model fitted with it.
    pub model: LinearModel,
    /// `‖(I − Π)(Y − XB)‖²/n`: the error that the anchors do not explain.
    pub within: f64,
    /// `‖Π(Y − XB)‖²/n`: the error along the anchors.
    pub between: f64,
}

impl PathPoint {
    /// The largest mean squared error under shifts along the anchors up to a strength.
    #[must_use]
    pub fn worst_risk(&self, strength: f64) -> f64 {
        self.within + strength * self.between
    }
}

/// Default values of a path of γ: from partialling out over least squares to strong shifts.
pub const GAMMAS: [f64; 7] = [0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0];

impl Default for AnchorRegression {
    /// Least squares.
    fn default() -> Self {
        Self::new(1.0)
    }
}

impl AnchorRegression {
    /// The strength γ.
    #[must_use]
    pub fn gamma(&self) -> f64 {
        self.gamma
    }

    /// The ridge penalty λ.
    #[must_use]
    pub fn ridge(&self) -> f64 {
        self.penalty
    }

    /// Anchor regression of this strength.
    #[must_use]
    pub fn new(gamma: f64) -> Self {
        Self { gamma, penalty: 0.0 }
    }

    /// Sets the ridge penalty.
    #[must_use]
    pub fn penalty(mut self, penalty: f64) -> Self {
        self.penalty = penalty;
        self
    }

    /// Fits the model with row weights.
    pub fn fit<'a>(
        &self,
        samples: &Samples<'_>,
        anchors: impl Into<Exogenous<'a>>,
    ) -> Result<LinearModel> {
        let mut path = self.path(samples, anchors, &[self.gamma])?;
        Ok(path.remove(0).model)
    }

    /// Fits the model for each of several γ, ignoring its own.
    pub fn path<'a>(
        &self,
        samples: &Samples<'_>,
        anchors: impl Into<Exogenous<'a>>,
        gammas: &[f64],
    ) -> Result<Vec<PathPoint>> {
        check_penalty(self.penalty)?;
        gammas.iter().try_for_each(|&gamma| check_not_negative("gamma", gamma))?;
        let condensed = Condensed::new(samples, anchors)?;
        gammas.iter().map(|&gamma| condensed.fit(gamma, self.penalty)).collect()
    }
}

/// The sufficient statistics of a regression for any γ: the sums of (2).
#[derive(Debug, Clone, PartialEq)]
pub struct Condensed {
    /// The means of features and of targets.
    pub means: [Vec<f64>; 2],
    /// `R` and `Pᵀ(I − Π)Y`.
    pub within: [Array2<f64>; 2],
    /// `QᵀX` and `QᵀY`.
    pub between: [Array2<f64>; 2],
    /// The constant of (2): the squared part of `(I − Π)Y` that no feature explains.
    pub rest: f64,
    /// The norm of the centered features, the scale of rounding errors.
    pub size: f64,
    /// The sum of the weights, or the number of rows without weights.
    pub weight: f64,
}

struct Side {
    mean: Vec<f64>,
    /// `(I − Π)X`, n rows.
    within: Mat<f64>,
    /// `QᵀX`, a row for every anchor direction.
    between: Mat<f64>,
}

impl Condensed {
    /// Condenses rows with their weights.
    pub fn new<'a>(samples: &Samples<'_>, anchors: impl Into<Exogenous<'a>>) -> Result<Self> {
        let anchors = anchors.into();
        let anchor_rows = match anchors {
            Exogenous::Groups(partition) => partition.rows(),
            Exogenous::Matrix(matrix) => matrix.rows(),
        };
        same_rows(("the anchors", anchor_rows), ("x", samples.rows()))?;
        let sides = [samples.x(), samples.y()];
        let [x, y] = match anchors {
            Exogenous::Groups(partition) => {
                let weights = samples.weights().map(Into::into);
                let groups =
                    GroupMean::new(partition.clone().into(), weights, Strength::Shared(1.0))?;
                let split = |rows| split_by_groups(rows, partition, &groups, samples);
                let [x, y] = sides.map(split);
                [x?, y?]
            }
            Exogenous::Matrix(matrix) => {
                let scaled = to_array(&Centered::new(matrix.view(), samples).rows);
                let basis = AnchorMatrix::new(scaled)?.basis();
                let basis = Mat::from_fn(basis.rows(), basis.rank(), |i, k| basis.view()[(i, k)]);
                sides.map(|rows| {
                    let Centered { mean, rows } = Centered::new(rows, samples);
                    let between = basis.transpose() * &rows;
                    let within = rows - &basis * &between;
                    Side { mean, within, between }
                })
            }
        };
        let weight = match samples.weights() {
            Some(weights) => exact_sum(weights.iter().copied()).unwrap_or(f64::INFINITY),
            None => samples.rows() as f64,
        };
        let size = x.within.norm_l2().hypot(x.between.norm_l2());
        let (design, response, rest) = condense(x.within, y.within);
        Ok(Self {
            means: [x.mean, y.mean],
            within: [design, response].map(|part| to_array(&part)),
            between: [x.between, y.between].map(|part| to_array(&part)),
            rest,
            size,
            weight,
        })
    }

    /// Fits the model for γ and a penalty.
    pub fn fit(&self, gamma: f64, penalty: f64) -> Result<PathPoint> {
        check_penalty(penalty)?;
        check_not_negative("gamma", gamma)?;
        let root = Scale(gamma.sqrt());
        let [x_within, y_within] = [&self.within[0], &self.within[1]].map(to_matrix);
        let [x_between, y_between] = [&self.between[0], &self.between[1]].map(to_matrix);
        let design = concat![[&x_within], [root * &x_between]];
        let response = concat![[&y_within], [root * &y_between]];
        let parts = column_norms(&x_within).into_iter().zip(column_norms(&x_between));
        let columns: Vec<f64> = parts.map(|(within, between)| within.hypot(between)).collect();
        let sizes = Sizes { columns: &columns, all: self.size };
        let coefficients = least_squares(&design, &response, penalty, &sizes)?;
        let error = |x: &Mat<f64>, y: &Mat<f64>| (y - x * &coefficients).squared_norm_l2();
        let [x_mean, y_mean] = &self.means;
        Ok(PathPoint {
            gamma,
            within: (error(&x_within, &y_within) + self.rest) / self.weight,
            between: error(&x_between, &y_between) / self.weight,
            model: LinearModel::uncentered(&coefficients, x_mean, y_mean),
        })
    }
}

fn to_array(matrix: &Mat<f64>) -> Array2<f64> {
    Array2::from_shape_fn((matrix.nrows(), matrix.ncols()), |(i, j)| matrix[(i, j)])
}

fn to_matrix(array: &Array2<f64>) -> Mat<f64> {
    Mat::from_fn(array.nrows(), array.ncols(), |i, j| array[(i, j)])
}

/// For groups, `ΠX` holds group means and `QᵀX` their distances to the mean, times the root of the
/// group's weight: no anchor matrix is formed.
fn split_by_groups(
    rows: ndarray::ArrayView2<'_, f64>,
    partition: &Partition,
    groups: &GroupMean,
    samples: &Samples<'_>,
) -> Result<Side> {
    let means = groups.means_of("x", rows, Gather::default())?;
    let (mean, _) = moments(rows, samples.weights());
    let (n, d) = rows.dim();
    let within = Mat::from_fn(n, d, |i, j| {
        let group = partition.labels()[i] as usize;
        root_weight(samples, i) * (rows[(i, j)] - means.means()[(group, j)])
    });
    let between = Mat::from_fn(partition.groups(), d, |g, j| {
        let weight = means.divisors()[g];
        if weight > 0.0 { weight.sqrt() * (means.means()[(g, j)] - mean[j]) } else { 0.0 }
    });
    Ok(Side { mean, within, between })
}
