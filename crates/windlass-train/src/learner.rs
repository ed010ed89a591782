//! What a [`Trainer`](crate::Trainer) trains: any network that can say how a loss changes with its weights.
//!
//! The loop, the optimizers, the methods of augmentation, checkpoints and the choice of the best epoch are
//! the same for all networks. A kind of network has an [`Architecture`], of which a [`RunSpec`](crate::RunSpec)
//! speaks, and a [`Learner`] with the weights.

use std::fmt::Debug;

use ndarray::{Array2, ArrayView2};
use windlass::{Mixing, Seed};

use crate::{Loss, Result};

/// A kind of network, of some size.
pub trait Architecture: Debug + Clone + Send + Sync {
    /// The network with its weights.
    type Network: Learner;

    /// The numbers of a row.
    fn inputs(&self) -> usize;

    /// Targets.
    fn outputs(&self) -> usize;

    /// Hidden layers, numbered from 1, after which rows may be made.
    fn hidden(&self) -> usize;

    /// Whether the numbers of a row are codes, such as letters, which mean nothing when mixed: the network then
    /// makes its input of them, and rows made on the input are made of that.
    fn is_encoded(&self) -> bool {
        false
    }

    /// A network with the weights that training starts from.
    fn network(&self, seed: Seed) -> Result<Self::Network>;
}

/// A network that learns.
pub trait Learner: Debug + Send {
    /// Room for a pass, used again by the next.
    type Workspace: Debug + Default + Send;

    /// All that it knows: first what is learnt by gradients, then, perhaps, what it remembers of the rows it saw.
    fn values(&self) -> &[f32];

    /// The same, to be changed.
    fn values_mut(&mut self) -> &mut [f32];

    /// How many of the values are learnt by gradients.
    fn learnt(&self) -> usize {
        self.values().len()
    }

    /// The loss of a step, if any of its rows counts. Its gradient by what is learnt stays in the room.
    fn pass(&mut self, step: &Step<'_>, workspace: &mut Self::Workspace) -> Result<Option<f64>>;

    /// The gradient that the last pass left.
    fn gradient(workspace: &mut Self::Workspace) -> &mut [f32];

    /// Whether the last pass met a number that is not finite, or too large to be mixed.
    fn has_overflown(workspace: &Self::Workspace) -> bool;

    /// The output for every row.
    fn predict(&self, x: ArrayView2<'_, f32>) -> Result<Array2<f32>>;
}

/// The rows of a step and what is to be learnt from them.
#[derive(Clone, Copy)]
pub struct Step<'a> {
    /// The rows that enter the network.
    pub x: Rows<'a>,
    /// Rows that are made inside the network, in place of those that enter.
    pub inside: Option<HiddenMix<'a>>,
    /// The targets of the rows that come out.
    pub y: ArrayView2<'a, f32>,
    /// What is made small.
    pub loss: Loss,
    /// How much every row that comes out counts.
    pub weight: &'a dyn Fn(usize) -> f64,
    /// The seed of the run, for networks that are random themselves, and the number of the step.
    pub random: (Seed, u64),
}

/// Rows that enter a network.
#[derive(Clone, Copy)]
pub enum Rows<'a> {
    /// Some of the rows of a matrix in standard layout.
    Some(&'a Array2<f32>, &'a [usize]),
    /// All of these.
    All(ArrayView2<'a, f32>),
}

impl Rows<'_> {
    /// How many they are.
    #[must_use]
    pub fn count(&self) -> usize {
        match self {
            Self::Some(_, rows) => rows.len(),
            Self::All(rows) => rows.nrows(),
        }
    }

    /// The numbers of all rows, one row after the other.
    #[must_use]
    pub fn to_vec(&self) -> Vec<f32> {
        match self {
            Self::Some(all, rows) => {
                let mut out = Vec::with_capacity(rows.len() * all.ncols());
                rows.iter().for_each(|&row| out.extend(all.row(row)));
                out
            }
            Self::All(rows) => rows.iter().copied().collect(),
        }
    }
}

/// Where synthetic rows are made inside a network.
#[derive(Debug, Clone, Copy)]
pub struct HiddenMix<'a> {
    /// After so many hidden layers; 0 is the input that a network makes of codes.
    pub layer: usize,
    /// How they are made.
    pub mixing: &'a Mixing,
    /// Whether the rows themselves go on in front of the synthetic ones.
    pub originals: bool,
}
