//! Local-Mixup: mixup in which pairs that are far apart have weight 0.
//!
//! ```text
//! x̃ᵢ, ỹᵢ as in mixup;    row weight 1 if ‖xᵢ − xⱼ‖ ≤ ε, else 0
//! ```
//!
//! By default features are standardized, and ε is the median over rows of the distance to the
//! ⌈(m − 1)/4⌉-th nearest of m distinct rows, which admits about a quarter of the pairs. For more than 1,024
//! distinct rows a sample of 1,024 is used, which does not depend on the order of rows.
//!
//! Baena, Drumetz, Gripon, [*Preventing manifold intrusion with locality: Local
//! Mixup*](https://arxiv.org/abs/2201.04368), 2022. The baseline published with ADA multiplies the mean
//! loss of the batch by the fraction of admitted pairs instead; here each row has its own weight, as in the paper.
//! Copies of a whole dataset omit the rows with weight 0.

use std::sync::Arc;

use ndarray::{Array2, ArrayView1, ArrayView2};
use rayon::prelude::*;

use super::mixup::{listed, uniform_partners};
use super::registry::{BETA, EPSILON, PER};
use super::values::Epsilon;
use super::{Batch, Draw, Fitted, Method, MethodInfo, Mixup, RowProvenance};
use crate::gamma::check_positive;
use crate::moments::standardize;
use crate::{Result, RowSample, Samples, Seed};

/// Maximum number of distinct rows for the default ε.
const SAMPLE: usize = 1 << 10;

/// Mixup of pairs that are close together.
///
/// | Setting | Default | Range | Meaning |
/// | :-- | :-- | :-- | :-- |
/// | `epsilon` | [`Epsilon::Auto`] | `(0, ∞)` | ε: maximum distance between features of partners |
/// | `mixup` | as in [`Mixup`] | | how λ is drawn |
///
/// ```
/// use ndarray::array;
/// use windlass::{Batch, Epsilon, LocalMixup, Method, Samples, Seed};
///
/// let (x, y) = (array![[0.0], [100.0]], array![0.0, 1.0]);
/// let local = LocalMixup { epsilon: Epsilon::Absolute(1.0), ..LocalMixup::default() };
/// let local = local.fit(&Samples::new(x.view(), y.view())?, Seed(0))?;
/// let draw = local.draw(Batch::Rows(&[0; 50]), Seed(0), 0)?;
/// for (row, &weight) in draw.row_weights().unwrap().iter().enumerate() {
///     let far = draw.gathered().nth(50 + row) == Some(1);
///     assert_eq!(weight, if far { 0.0 } else { 1.0 });
/// }
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the table explains each field")]
pub struct LocalMixup {
    pub epsilon: Epsilon,
    pub mixup: Mixup,
}

pub(super) static INFO: MethodInfo = MethodInfo {
    name: "local-mixup",
    title: "Local-Mixup",
    help: "Mix each row with a row of similar features",
    on_hidden_layer: None,
    params: &[&EPSILON, &BETA, &PER],
    provenance: RowProvenance::Pair,
    draws_together: false,
    search: &[&[&BETA], &[&EPSILON]],
    in_tune: false,
    rare: false,
    in_comparisons: true,
    build: |params| {
        let epsilon = params.epsilon.unwrap_or_default();
        Arc::new(LocalMixup { epsilon, mixup: Mixup::new(params) })
    },
};

#[derive(Debug)]
struct FittedLocalMixup {
    /// In the units of ε.
    features: Array2<f64>,
    squared_epsilon: f64,
    mixup: Mixup,
}

impl Method for LocalMixup {
    fn check(&self) -> Result<()> {
        if let Epsilon::Absolute(epsilon) | Epsilon::Deviations(epsilon) = self.epsilon {
            check_positive("epsilon", epsilon)?;
        }
        self.mixup.check()
    }

    fn fit(&self, samples: &Samples<'_>, _seed: Seed) -> Result<Box<dyn Fitted>> {
        self.check()?;
        let mut features = samples.x().to_owned();
        if !matches!(self.epsilon, Epsilon::Absolute(_)) {
            features = standardize(features, samples.weights());
        }
        let squared_epsilon = match self.epsilon {
            Epsilon::Absolute(epsilon) | Epsilon::Deviations(epsilon) => epsilon * epsilon,
            Epsilon::Auto => near(features.view())?,
        };
        Ok(Box::new(FittedLocalMixup { features, squared_epsilon, mixup: self.mixup }))
    }
}

/// The square of the default ε.
fn near(features: ArrayView2<'_, f64>) -> Result<f64> {
    // A fixed seed: ε does not depend on the seed of the augmentation.
    let mut sample = RowSample::new(SAMPLE, features.ncols(), Seed(0));
    sample.add(features, None)?;
    let (rows, _) = sample.rows();
    let others = rows.nrows().saturating_sub(1);
    if others == 0 {
        return Ok(0.0);
    }
    let nearest_quarter = |row: usize| {
        let other = (0..rows.nrows()).filter(|&other| other != row);
        let mut all: Vec<f64> =
            other.map(|other| squared_distance(rows.row(row), rows.row(other))).collect();
        *all.select_nth_unstable_by(others.div_ceil(4) - 1, f64::total_cmp).1
    };
    let mut distances: Vec<f64> = (0..rows.nrows()).into_par_iter().map(nearest_quarter).collect();
    let middle = (distances.len() - 1) / 2;
    Ok(*distances.select_nth_unstable_by(middle, f64::total_cmp).1)
}

fn squared_distance(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

impl FittedLocalMixup {
    fn is_close(&self, a: usize, b: usize) -> bool {
        squared_distance(self.features.row(a), self.features.row(b)) <= self.squared_epsilon
    }
}

impl Fitted for FittedLocalMixup {
    fn rows(&self) -> usize {
        self.features.nrows()
    }

    fn draw(&self, batch: Batch<'_>, seed: Seed, step: u64) -> Result<Draw> {
        let sources = listed(batch, self.rows())?;
        let partners = uniform_partners(&sources, self.rows(), seed, step);
        let pairs = sources.iter().zip(&partners);
        let weights = pairs.map(|(&a, &b)| f64::from(u8::from(self.is_close(a, b)))).collect();
        self.mixup.pairs(self.rows(), batch, sources, partners, Some(weights), (seed, step))
    }
}
