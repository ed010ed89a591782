//! The interface between the [`Trainer`](crate::Trainer) and a network.
//!
//! The loop, optimizers, augmentation, checkpoints and the choice of the best epoch are the same for all
//! networks. A kind of network implements [`Architecture`], which a [`RunSpec`](crate::RunSpec) holds, and
//! [`Learner`], the network with its weights.

use std::fmt::Debug;

use ndarray::{Array2, ArrayView1, ArrayView2};
use windlass::{Mixing, Seed};

use crate::loss::Loss;
use crate::{Error, Result};

/// A kind of network with its layer sizes.
pub trait Architecture: Debug + Clone + Send + Sync {
    /// The network with its weights.
    type Network: Learner;

    /// Number of features.
    fn inputs(&self) -> usize;

    /// Number of targets.
    fn outputs(&self) -> usize;

    /// Number of hidden layers after which rows can be mixed, numbered from 1.
    fn hidden(&self) -> usize;

    /// Whether features are codes, such as letters, that cannot be mixed: the network then embeds them, and
    /// mixing "on the input" (layer 0) mixes the embedding.
    fn is_encoded(&self) -> bool {
        false
    }

    /// A network with initial weights.
    fn network(&self, seed: Seed) -> Result<Self::Network>;
}

/// A network that is trained by gradient descent.
pub trait Learner: Debug + Send {
    /// Buffers of [`backprop`](Self::backprop), reused by the next step.
    type Workspace: Debug + Default + Send;

    /// All state: trainable parameters, then buffers such as batch-norm statistics.
    fn parameters(&self) -> &[f32];

    /// Mutable [`parameters`](Self::parameters).
    fn parameters_mut(&mut self) -> &mut [f32];

    /// Number of trainable parameters.
    fn trainable(&self) -> usize {
        self.parameters().len()
    }

    /// The loss of a step, `None` if all its rows have weight 0. The gradient with respect to the trainable
    /// parameters stays in the workspace.
    fn backprop(&mut self, step: &Step<'_>, workspace: &mut Self::Workspace)
    -> Result<Option<f64>>;

    /// The gradient of the last step.
    fn gradient(workspace: &mut Self::Workspace) -> &mut [f32];

    /// Whether the last step produced a number that is not finite, or too large to be mixed.
    fn has_overflowed(workspace: &Self::Workspace) -> bool;

    /// The output for every row.
    fn predict(&self, x: ArrayView2<'_, f32>) -> Result<Array2<f32>>;

    /// The outputs of a hidden layer, for methods whose draws depend on them; an error if the network has no such
    /// function.
    fn hidden(&self, _x: ArrayView2<'_, f32>, _layer: usize) -> Result<Array2<f32>> {
        Err(Error::NotOnHiddenLayer)
    }
}

/// The rows of one optimization step.
#[derive(Clone, Copy)]
pub struct Step<'a> {
    /// The input rows.
    pub x: BatchInput<'a>,
    /// Mixing inside the network.
    pub hidden_mix: Option<HiddenMix<'a>>,
    /// The targets of the output rows.
    pub y: ArrayView2<'a, f32>,
    /// The loss function.
    pub loss: Loss,
    /// The weight of each output row.
    pub weight: &'a dyn Fn(usize) -> f64,
    /// The seed of the run, for networks with dropout.
    pub seed: Seed,
    /// The number of the step.
    pub number: u64,
}

/// The rows that enter a network.
#[derive(Clone, Copy)]
pub enum BatchInput<'a> {
    /// Some rows of a matrix in standard layout.
    Selected {
        /// The matrix.
        x: &'a Array2<f32>,
        /// The rows.
        rows: &'a [usize],
    },
    /// All rows of a matrix.
    All(ArrayView2<'a, f32>),
}

impl BatchInput<'_> {
    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            Self::Selected { rows, .. } => rows.len(),
            Self::All(x) => x.nrows(),
        }
    }

    /// All values, row by row.
    #[must_use]
    pub fn to_vec(&self) -> Vec<f32> {
        match self {
            Self::Selected { x, rows } => {
                let mut out = Vec::with_capacity(rows.len() * x.ncols());
                rows.iter().for_each(|&row| out.extend(x.row(row)));
                out
            }
            Self::All(x) => x.iter().copied().collect(),
        }
    }
}

/// Mixing of rows inside a network.
#[derive(Debug, Clone, Copy)]
pub struct HiddenMix<'a> {
    /// The hidden layer whose outputs are mixed; 0 is the embedding of an encoded input.
    pub layer: usize,
    /// The linear map from rows to synthetic rows.
    pub mixing: &'a Mixing,
    /// What is added to the synthetic rows, if anything.
    pub displacements: Option<&'a Array2<f64>>,
    /// Whether the original rows stay in the batch, before the synthetic rows.
    pub originals: bool,
}

impl<'a> HiddenMix<'a> {
    /// The displacements, row by row.
    pub(crate) fn moved(&self) -> impl Iterator<Item = ArrayView1<'a, f64>> + use<'a> {
        self.displacements.into_iter().flat_map(|all| all.rows())
    }
}
