//! Local-Mixup: mixup in which a pair that is far apart does not count.
//!
//! ```text
//! x̃ᵢ, ỹᵢ as in mixup;    row weight 1 if ‖xᵢ − xⱼ‖ ≤ ε, else 0
//! ```
//!
//! Baena, Drumetz, Gripon, [*Preventing manifold intrusion with locality: Local
//! Mixup*](https://arxiv.org/abs/2201.04368), 2022. The baseline published with ADA multiplies the mean
//! loss of the batch by the share of pairs kept instead; here each row has its own weight, as the method
//! says. In copies of a whole data set the rows that do not count are left out.

use std::sync::Arc;

use ndarray::Array2;

use super::mixup::{listed, uniform_partners};
use super::registry::{BETA, EPSILON, PER};
use super::{Batch, Draw, Fitted, Method, MethodInfo, Mixup, RowProvenance};
use crate::gamma::check_positive;
use crate::{Result, Samples, Seed};

/// Mixup of pairs that are close together.
///
/// | Setting | Default | Range | Meaning |
/// | :-- | :-- | :-- | :-- |
/// | `epsilon` | – | `(0, ∞)` | ε: the largest distance between features that counts |
/// | `mixup` | as in [`Mixup`] | | how λ is drawn |
///
/// ```
/// use ndarray::array;
/// use windlass::{Batch, LocalMixup, Method, Samples, Seed};
///
/// let (x, y) = (array![[0.0], [100.0]], array![0.0, 1.0]);
/// let local = LocalMixup::new(1.0).fit(&Samples::new(x.view(), y.view())?, Seed(0))?;
/// let draw = local.draw(Batch::Rows(&[0; 50]), Seed(0), 0)?;
/// for (row, &weight) in draw.row_weights().unwrap().iter().enumerate() {
///     let far = draw.gathered().nth(50 + row) == Some(1);
///     assert_eq!(weight, if far { 0.0 } else { 1.0 });
/// }
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the table explains each field")]
pub struct LocalMixup {
    pub epsilon: f64,
    pub mixup: Mixup,
}

impl LocalMixup {
    /// Mixup of pairs at most this far apart.
    #[must_use]
    pub fn new(epsilon: f64) -> Self {
        Self { epsilon, mixup: Mixup::default() }
    }
}

pub(super) static INFO: MethodInfo = MethodInfo {
    name: "local-mixup",
    title: "Local-Mixup",
    help: "Mix every row with a row of similar features",
    on_hidden_layer: None,
    params: &[&EPSILON, &BETA, &PER],
    provenance: RowProvenance::Pair,
    search: &[&[&BETA], &[&EPSILON]],
    in_tune: false,
    build: |params| {
        let epsilon = params.epsilon.unwrap_or(f64::NAN);
        Arc::new(LocalMixup { epsilon, mixup: Mixup::new(params) })
    },
};

#[derive(Debug)]
struct FittedLocalMixup {
    features: Array2<f64>,
    squared_epsilon: f64,
    mixup: Mixup,
}

impl Method for LocalMixup {
    fn check(&self) -> Result<()> {
        check_positive("epsilon", self.epsilon)?;
        self.mixup.check()
    }

    fn fit(&self, samples: &Samples<'_>, _seed: Seed) -> Result<Box<dyn Fitted>> {
        self.check()?;
        Ok(Box::new(FittedLocalMixup {
            features: samples.x().to_owned(),
            squared_epsilon: self.epsilon * self.epsilon,
            mixup: self.mixup,
        }))
    }
}

impl FittedLocalMixup {
    fn is_close(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.features.row(a), self.features.row(b));
        let square: f64 = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum();
        square <= self.squared_epsilon
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
        self.mixup.pairs(self.rows(), sources, partners, Some(weights), (seed, step))
    }
}
