//! Gradient boosting for the squared error: every tree is fitted to the residuals of the trees before it.
//!
//! ```text
//! F_0 = mean of y,    F_b = F_{b−1} + η t_b,    t_b grown on y − F_{b−1}
//! ```
//!
//! Each tree sees half of the rows, drawn anew, and leaf values are shrunk by the penalty λ. Trees with the best and
//! with random thresholds take turns: the first fit steps and interactions, the second smooth functions, and together
//! they have a smaller error on small tables than either kind alone (docs/decisions.md). To be a mean of trees like a
//! forest, tree b of B is stored as `F_0 + B η t_b`. Every target has trees of its own.
//!
//! Friedman, *Stochastic gradient boosting*, 2002,
//! [doi:10.1016/S0167-9473(01)00065-2](https://doi.org/10.1016/S0167-9473(01)00065-2).

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use windlass::Seed;

use super::builder::{Builder, Growth, Random, Thresholds, Tree};
use super::{TrainingRows, TreeData, TreeEnsemble, check_trees, leaf, random};
use crate::Result;

/// The default learning rate times the number of trees.
const WHOLE_RATE: f64 = 30.0;
/// The largest default learning rate.
const MAX_RATE: f64 = 0.3;

/// How trees are boosted.
///
/// | Setting | Default | Range |
/// | :-- | :-- | :-- |
/// | `trees` | `1000` | `1, …, 10000` |
/// | `learning_rate` | 30 / trees, at most 0.3 | `(0, 1]` |
/// | `depth` | `4` | `1, …` |
/// | `penalty` | `3` | `[0, 1e6]` |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BoostingSettings {
    /// Number of trees of every target.
    pub trees: usize,
    /// The share η of a tree's values that is added.
    pub learning_rate: Option<f64>,
    /// The most splits between the root and a leaf.
    pub depth: usize,
    /// Penalty λ on squared leaf values, in rows: a leaf of n rows predicts n / (n + λ) of its mean. Row weights are
    /// scaled to a mean of 1.
    pub penalty: f64,
}

impl Default for BoostingSettings {
    fn default() -> Self {
        Self { trees: 1000, learning_rate: None, depth: 4, penalty: 3.0 }
    }
}

impl BoostingSettings {
    /// Returns an error for settings outside their range.
    pub fn check(&self) -> Result<()> {
        check_trees(self.trees)?;
        let rate = self.rate();
        for (name, range, got, accepted) in [
            ("learning_rate", "(0, 1]", rate, rate > 0.0 && rate <= 1.0),
            ("depth", "[1, inf)", self.depth as f64, self.depth > 0),
            ("penalty", "[0, 1e6]", self.penalty, (0.0..=1e6).contains(&self.penalty)),
        ] {
            if !accepted {
                return Err(windlass::Error::OutOfRange { name, range, got }.into());
            }
        }
        Ok(())
    }

    fn rate(&self) -> f64 {
        self.learning_rate.unwrap_or_else(|| (WHOLE_RATE / self.trees as f64).min(MAX_RATE))
    }
}

impl TreeEnsemble {
    /// Fits boosted trees.
    pub fn boosting(data: TreeData<'_>, settings: &BoostingSettings, seed: Seed) -> Result<Self> {
        settings.check()?;
        let data = TrainingRows::new(data, Thresholds::Best)?;
        let targets: Vec<usize> = (0..data.targets).collect();
        let trees: Vec<Vec<Tree>> =
            targets.into_par_iter().map(|target| data.boost(target, settings, seed)).collect();
        // A leaf's mean counts the base once in every tree.
        let factor = settings.rate() * settings.trees as f64 * data.scale;
        let target_of = |tree: usize| tree / settings.trees;
        Ok(data.ensemble(trees.into_iter().flatten().collect(), |value, tree, _| {
            value * factor + data.center[target_of(tree)]
        }))
    }
}

impl TrainingRows {
    /// The trees of a target.
    fn boost(&self, target: usize, settings: &BoostingSettings, seed: Seed) -> Vec<Tree> {
        let growth = |thresholds| Growth {
            thresholds,
            features: usize::MAX,
            leaf: 1,
            depth: settings.depth,
            penalty: settings.penalty,
        };
        let mut builders = [Thresholds::Random, Thresholds::Best]
            .map(|thresholds| Builder::new(&self.features, 1, growth(thresholds)));
        let own = self.y.iter().skip(target).step_by(self.targets);
        let mut residuals: Vec<f64> = own.copied().collect();
        let mut weights = vec![0.0; residuals.len()];
        let mut trees = Vec::with_capacity(settings.trees);
        for number in 0..settings.trees {
            let mut random = random(seed, 3 + target as u64, number);
            self.draw_half(&mut weights, &mut random);
            let tree = builders[number % 2].grow(&residuals, &weights, &mut random);
            for (row, residual) in residuals.iter_mut().enumerate() {
                let value = tree.values[leaf(&tree.nodes, self.features.row(row))];
                *residual -= settings.rate() * value;
            }
            trees.push(tree);
        }
        trees
    }

    /// Draws about half of the rows, and at least one, by setting the weights of the others to 0.
    fn draw_half(&self, weights: &mut [f64], random: &mut Random) {
        let own = |row: usize| self.weights.as_ref().map_or(1.0, |weights| weights[row]);
        loop {
            let mut any = false;
            for (row, weight) in weights.iter_mut().enumerate() {
                *weight = if random.bits() >> 63 == 0 { own(row) } else { 0.0 };
                any |= *weight > 0.0;
            }
            if any {
                return;
            }
        }
    }
}
