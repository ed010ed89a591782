//! C-Mixup: mixup with a partner whose target is similar.
//!
//! ```text
//! P(j | i) = exp(−‖yᵢ − yⱼ‖²/2h²) / Σₖ exp(−‖yᵢ − yₖ‖²/2h²),    i itself included
//! ```
//!
//! Yao, Wang, Zhang, Zou, Finn, [*C-Mixup: improving generalization in
//! regression*](https://arxiv.org/abs/2210.05775), 2022.
//!
//! The n × n matrix of these probabilities is never formed. A k-d tree over the targets (in one
//! dimension: the sorted targets) has cells at most `0.75·h` across. To draw a partner for row i, every
//! cell within reach gets the largest weight that a row in it could have; a cell is drawn by these
//! bounds, then a row in it uniformly, and the row is accepted with the ratio of its true weight to the
//! bound. This is exact, needs O(n) memory, and its time does not grow with n once cells are full. Rows with a total
//! probability below 2⁻⁶⁴ are omitted.

use std::sync::Arc;

use ndarray::{Array2, ArrayView2};

use super::mixup::listed;
use super::registry::{BANDWIDTH, BETA, PER};
use super::values::Bandwidth;
use super::{Batch, Draw, Fitted, Method, MethodInfo, Mixup, RowProvenance};
use crate::gamma::check_positive;
use crate::moments::moments;
use crate::rng::Draws;
use crate::sums::exact_sum;
use crate::{Error, Result, Samples, Seed, Stream};

/// C-Mixup: partners with similar targets.
///
/// | Setting | Default | Range | Meaning |
/// | :-- | :-- | :-- | :-- |
/// | `bandwidth` | 0.25 standard deviations | `(0, ∞)` | width of the kernel |
/// | `mixup` | as in [`Mixup`] | | how λ is drawn |
///
/// ```
/// use ndarray::array;
/// use windlass::{Bandwidth, CMixup, Samples};
///
/// let (x, y) = (array![[1.0], [2.0], [3.0]], array![0.0, 1.0, 100.0]);
/// let c_mixup = CMixup { bandwidth: Bandwidth::Absolute(1.0), ..CMixup::default() };
/// let fitted = c_mixup.fit_targets(&Samples::new(x.view(), y.view())?)?;
/// let probabilities = fitted.probabilities(0)?;
/// let e = (-0.5_f64).exp();
/// assert!((probabilities[1] - e / (1.0 + e)).abs() < 1e-15);
/// assert_eq!(probabilities[2], 0.0);
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the table explains each field")]
pub struct CMixup {
    pub bandwidth: Bandwidth,
    pub mixup: Mixup,
}

impl Default for CMixup {
    fn default() -> Self {
        Self { bandwidth: Bandwidth::Deviations(0.25), mixup: Mixup::default() }
    }
}

impl CMixup {
    /// [`fit`](Method::fit) with a result type that has [`probabilities`](FittedCMixup::probabilities).
    pub fn fit_targets(&self, samples: &Samples<'_>) -> Result<FittedCMixup> {
        self.check()?;
        let mut targets = samples.y().to_owned();
        let units = match self.bandwidth {
            Bandwidth::Absolute(width) => vec![width; targets.ncols()],
            Bandwidth::Deviations(width) => {
                let (_, deviations) = moments(targets.view(), samples.weights());
                deviations.into_iter().map(|deviation| deviation * width).collect()
            }
        };
        for (mut column, unit) in targets.columns_mut().into_iter().zip(units) {
            // A constant target has standard deviation 0 and is not scaled.
            if unit > 0.0 {
                column /= unit;
            }
        }
        let (Bandwidth::Absolute(got) | Bandwidth::Deviations(got)) = self.bandwidth;
        if targets.iter().any(|target| !target.is_finite()) {
            let range = "a range that does not overflow target / bandwidth";
            return Err(Error::OutOfRange { name: "bandwidth", range, got });
        }
        Ok(FittedCMixup { tree: Tree::new(targets.view()), targets, mixup: self.mixup })
    }
}

pub(super) static INFO: MethodInfo = MethodInfo {
    name: "c-mixup",
    title: "C-Mixup",
    help: "Mix each row with a row of similar target",
    on_hidden_layer: None,
    params: &[&BANDWIDTH, &BETA, &PER],
    provenance: RowProvenance::Pair,
    draws_together: false,
    search: &[&[&BANDWIDTH], &[&BETA]],
    in_tune: true,
    rare: false,
    in_comparisons: true,
    build: |params| {
        let bandwidth = params.bandwidth.unwrap_or(CMixup::default().bandwidth);
        Arc::new(CMixup { bandwidth, mixup: Mixup::new(params) })
    },
};

impl Method for CMixup {
    fn check(&self) -> Result<()> {
        let (Bandwidth::Absolute(width) | Bandwidth::Deviations(width)) = self.bandwidth;
        check_positive("bandwidth", width)?;
        self.mixup.check()
    }

    fn fit(&self, samples: &Samples<'_>, _seed: Seed) -> Result<Box<dyn Fitted>> {
        Ok(Box::new(self.fit_targets(samples)?))
    }
}

/// C-Mixup fitted on training targets.
#[derive(Debug)]
pub struct FittedCMixup {
    /// In units of the bandwidth.
    targets: Array2<f64>,
    tree: Tree,
    mixup: Mixup,
}

impl FittedCMixup {
    /// The probability of each training row to be the partner of `row`, in O(n).
    pub fn probabilities(&self, row: usize) -> Result<Vec<f64>> {
        let rows = self.rows();
        if row >= rows {
            return Err(Error::NoSuchRow { row, rows });
        }
        let mut weights: Vec<f64> =
            (0..rows).map(|other| kernel(self.squared_distance(row, other))).collect();
        let total = exact_sum(weights.iter().copied()).unwrap_or(f64::INFINITY);
        for weight in &mut weights {
            *weight /= total;
        }
        Ok(weights)
    }

    fn squared_distance(&self, a: usize, b: usize) -> f64 {
        let (a, b) = (self.targets.row(a), self.targets.row(b));
        a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
    }

    fn partner(&self, row: usize, draws: &mut Draws, reach: &mut Vec<Reached>) -> usize {
        self.tree.reach(self.targets.row(row).as_slice().expect("standard layout"), reach);
        let total: f64 = reach.iter().map(|cell| cell.bound).sum();
        loop {
            let mut left = draws.uniform() * total;
            // Rounding may leave `left` slightly above 0 after the last cell.
            let cell = reach.iter().find(|cell| {
                left -= cell.bound;
                left < 0.0
            });
            let Some(cell) = cell.or(reach.last()) else {
                return row;
            };
            let rows = &self.tree.order[cell.start..cell.end];
            let candidate = rows[draws.below(rows.len())];
            let weight = kernel(self.squared_distance(row, candidate));
            if draws.uniform() * cell.bound <= weight * rows.len() as f64 {
                return candidate;
            }
        }
    }
}

impl Fitted for FittedCMixup {
    fn rows(&self) -> usize {
        self.targets.nrows()
    }

    fn draw(&self, batch: Batch<'_>, seed: Seed, step: u64) -> Result<Draw> {
        use rayon::prelude::*;
        let sources = listed(batch, self.rows())?;
        let partner = |reach: &mut Vec<Reached>, &row: &usize| {
            self.partner(row, &mut seed.at(Stream::Partner, step, row as u64), reach)
        };
        let partners = sources.par_iter().with_min_len(256).map_init(Vec::new, partner).collect();
        self.mixup.pairs(self.rows(), batch, sources, partners, None, (seed, step))
    }
}

/// `exp(−d²/2)`.
fn kernel(squared_distance: f64) -> f64 {
    libm::exp(-0.5 * squared_distance)
}

/// A k-d tree whose leaves are narrow, or have few rows.
#[derive(Debug)]
struct Tree {
    /// Row numbers; every node owns a range of them.
    order: Vec<usize>,
    nodes: Vec<Node>,
    /// Lowest and highest corner of every node's box.
    corners: Vec<f64>,
    dimensions: usize,
    /// The squared distance above which rows are omitted.
    horizon: f64,
}

#[derive(Debug)]
struct Node {
    start: usize,
    end: usize,
    /// The second child; the first comes right after the node itself. 0 for a leaf.
    second: usize,
}

/// A leaf within reach of a row, and the largest total weight that its rows can have.
#[derive(Debug)]
struct Reached {
    start: usize,
    end: usize,
    bound: f64,
}

/// The diameter at which a cell is narrow enough, in bandwidths.
const CELL: f64 = 0.75;
/// The number of rows at which a cell is small enough.
const FEW: usize = 4;

impl Tree {
    fn new(points: ArrayView2<'_, f64>) -> Self {
        let (n, dimensions) = points.dim();
        // exp(−horizon/2) = 2⁻⁶⁴/n, against a total of at least 1: the row itself.
        let horizon = 2.0 * (64.0 * std::f64::consts::LN_2 + libm::log(n as f64));
        let order = (0..n).collect();
        let mut tree = Self { order, nodes: vec![], corners: vec![], dimensions, horizon };
        tree.build(points, 0, n);
        tree
    }

    /// Adds the node of a range, and all below it.
    fn build(&mut self, points: ArrayView2<'_, f64>, start: usize, end: usize) {
        let rows = &self.order[start..end];
        let mut widest = (0, 0.0);
        let mut squared_diameter = 0.0;
        let mut high = Vec::with_capacity(self.dimensions);
        for j in 0..self.dimensions {
            let values = rows.iter().map(|&row| points[(row, j)]);
            let (lo, hi) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), value| {
                (lo.min(value), hi.max(value))
            });
            self.corners.push(lo);
            high.push(hi);
            let width = hi - lo;
            squared_diameter += width * width;
            if width > widest.1 {
                widest = (j, width);
            }
        }
        self.corners.extend(high);
        let node = self.nodes.len();
        self.nodes.push(Node { start, end, second: 0 });
        if squared_diameter <= CELL * CELL || end - start <= FEW {
            return;
        }
        let middle = (end - start) / 2;
        // Ties are broken by row number, so that the tree is deterministic.
        self.order[start..end].select_nth_unstable_by(middle, |&a, &b| {
            points[(a, widest.0)].total_cmp(&points[(b, widest.0)]).then(a.cmp(&b))
        });
        self.build(points, start, start + middle);
        self.nodes[node].second = self.nodes.len();
        self.build(points, start + middle, end);
    }

    /// Finds the leaves within reach of a point.
    fn reach(&self, point: &[f64], found: &mut Vec<Reached>) {
        found.clear();
        let mut open = vec![0];
        while let Some(index) = open.pop() {
            let distance = self.squared_distance_to_box(index, point);
            if distance > self.horizon {
                continue;
            }
            let Node { start, end, second } = self.nodes[index];
            if second == 0 {
                let bound = kernel(distance) * (end - start) as f64;
                found.push(Reached { start, end, bound });
            } else {
                open.extend([second, index + 1]);
            }
        }
    }

    fn squared_distance_to_box(&self, node: usize, point: &[f64]) -> f64 {
        let m = self.dimensions;
        let (low, high) = self.corners[2 * m * node..2 * m * (node + 1)].split_at(m);
        let outside = |((&lo, &hi), &x): ((&f64, &f64), &f64)| (lo - x).max(x - hi).max(0.0);
        low.iter().zip(high).zip(point).map(outside).map(|gap| gap * gap).sum()
    }
}
