//! SMOTER: each row with a rare target is mixed with one of its nearest rare neighbors.
//!
//! ```text
//! x̃ᵢ = λxᵢ + (1 − λ)xⱼ,    ỹᵢ = λyᵢ + (1 − λ)yⱼ,    j one of the k nearest rare rows,    λ uniform on [0, 1)
//! ```
//!
//! Torgo, Ribeiro, Pfahringer, Branco, *SMOTE for regression*, 2013,
//! [doi:10.1007/978-3-642-40669-0_33](https://doi.org/10.1007/978-3-642-40669-0_33). There the target is the mean of
//! yᵢ and yⱼ, weighted by the inverse distances to the new row, which is the same λ.
//!
//! Targets are rare if their [relevance](crate::relevance) is high. Neighbors are rare rows of the same range of
//! targets, so low and high extremes are not mixed. Distances are those of standardized features; of equal ones the
//! first row is nearer. A rare row without a neighbor is copied. Copies of a dataset are made of rare rows only
//! ([`Fitted::sources`]), and all other rows are kept, of which the paper drops some. In a minibatch they stay
//! unchanged.
//!
//! All pairs of rare rows of a range are compared, in blocks that fit into a cache: m²d operations for m rare rows of
//! d features, and O(mk) memory.

use std::sync::Arc;

use ndarray::{Array2, Axis};
use rayon::prelude::*;

use super::mixup::listed;
use super::registry::NEIGHBORS;
use super::{Batch, Draw, Fitted, Method, MethodInfo, MethodParams, RowProvenance};
use crate::data::row_slices;
use crate::mixing::pairs::Pairs;
use crate::mixing::{Map, Strength};
use crate::moments::standardize;
use crate::simd::vectorized;
use crate::{Error, Mixing, RareSpec, Result, Samples, Seed, Stream};

/// Maximum number of neighbors.
const MAX_NEIGHBORS: usize = 1_000;

/// SMOTER: rows with rare targets are mixed with rare neighbors.
///
/// | Setting | Default | Range | Meaning |
/// | :-- | :-- | :-- | :-- |
/// | `neighbors` | `5` | `1, …, 1000` | number of nearest rare rows of which one is the partner |
/// | `rare` | both extremes | | which targets are rare |
///
/// ```
/// use ndarray::{Array, Axis};
/// use windlass::{Copies, Method, Plan, RareSpec, Samples, Seed, Smoter, Tails};
///
/// let y = Array::from_iter((0..40).map(|i| f64::from(i * i)));
/// let x = y.sqrt().insert_axis(Axis(1));
/// let smoter = Smoter { rare: RareSpec::Tails(Tails::High), ..Smoter::default() };
/// let smoter = smoter.fit(&Samples::new(x.view(), y.view())?, Seed(0))?;
/// // The five highest of 40 targets are rare: six copies make rare rows as many as the 35 others.
/// assert_eq!(smoter.sources().unwrap(), [35, 36, 37, 38, 39]);
/// let plan = Plan::draw(smoter.as_ref(), Copies::auto(), Seed(0))?;
/// assert_eq!(plan.targets(y.view())?.len(), 40 + 6 * 5);
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the table explains each field")]
pub struct Smoter {
    pub neighbors: usize,
    pub rare: RareSpec,
}

impl Default for Smoter {
    fn default() -> Self {
        Self { neighbors: 5, rare: RareSpec::default() }
    }
}

pub(super) static INFO: MethodInfo = MethodInfo {
    name: "smoter",
    title: "SMOTER",
    help: "Mix each row of rare target with a rare neighbor",
    on_hidden_layer: None,
    params: &[&NEIGHBORS],
    provenance: RowProvenance::Pair,
    draws_together: false,
    search: &[],
    in_tune: false,
    rare: true,
    in_comparisons: false,
    build: |params| Arc::new(Smoter::new(params)),
};

impl Smoter {
    pub(super) fn new(params: &MethodParams) -> Self {
        let default = Self::default();
        Self {
            neighbors: params.neighbors.unwrap_or(default.neighbors),
            rare: params.rare.clone().unwrap_or(default.rare),
        }
    }

    /// Finds the rare rows and their neighbors.
    pub(super) fn find(&self, samples: &Samples<'_>) -> Result<RareNeighbors> {
        self.check()?;
        let targets = samples.y().column(0).to_vec();
        let relevance = self.rare.relevance(&targets)?;
        let features = standardize(samples.x().to_owned(), samples.weights());
        let sources = relevance.rare_rows(&targets);
        let mut near = vec![Near::default(); sources.len()];
        for (low, high) in relevance.rare_ranges() {
            let is_inside = |slot: &usize| (low..=high).contains(&targets[sources[*slot]]);
            let slots: Vec<usize> = (0..sources.len()).filter(is_inside).collect();
            let rows: Vec<usize> = slots.iter().map(|&slot| sources[slot]).collect();
            let found = nearest(&features.select(Axis(0), &rows), self.neighbors);
            for (slot, mut found) in slots.into_iter().zip(found) {
                for neighbor in &mut found.neighbors {
                    neighbor.row = rows[neighbor.row];
                }
                near[slot] = found;
            }
        }
        Ok(RareNeighbors { rows: samples.rows(), sources, near })
    }
}

impl Method for Smoter {
    fn check(&self) -> Result<()> {
        if (1..=MAX_NEIGHBORS).contains(&self.neighbors) {
            return Ok(());
        }
        let got = self.neighbors as f64;
        Err(Error::OutOfRange { name: "neighbors", range: "[1, 1000]", got })
    }

    fn fit(&self, samples: &Samples<'_>, _seed: Seed) -> Result<Box<dyn Fitted>> {
        Ok(Box::new(FittedSmoter(self.find(samples)?)))
    }
}

#[derive(Debug)]
struct FittedSmoter(RareNeighbors);

impl Fitted for FittedSmoter {
    fn rows(&self) -> usize {
        self.0.rows
    }

    fn draw(&self, batch: Batch<'_>, seed: Seed, step: u64) -> Result<Draw> {
        let pair = |row| match self.0.draw(row, seed, step) {
            Some((_, Some((partner, lambda)))) => (partner.row, lambda),
            _ => (row, 1.0),
        };
        self.0.pairs(batch, pair)
    }

    fn sources(&self) -> Option<&[usize]> {
        Some(&self.0.sources)
    }
}

/// The rare rows of a dataset, and the nearest others of each.
#[derive(Debug)]
pub(super) struct RareNeighbors {
    rows: usize,
    /// In order.
    pub(super) sources: Vec<usize>,
    /// One for each source.
    near: Vec<Near>,
}

/// The nearest rows of a row.
#[derive(Debug, Clone)]
pub(super) struct Near {
    /// The nearest first.
    neighbors: Vec<Neighbor>,
    /// The median distance to the others; infinite without any.
    pub(super) median: f64,
}

impl Default for Near {
    fn default() -> Self {
        Self { neighbors: vec![], median: f64::INFINITY }
    }
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Neighbor {
    pub(super) row: usize,
    pub(super) distance: f64,
}

impl RareNeighbors {
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The neighborhood of a rare row, with a partner and λ if it has neighbors; `None` for other rows.
    pub(super) fn draw(
        &self,
        row: usize,
        seed: Seed,
        step: u64,
    ) -> Option<(&Near, Option<(Neighbor, f64)>)> {
        let near = &self.near[self.sources.binary_search(&row).ok()?];
        let count = near.neighbors.len();
        let partner = (count > 0).then(|| {
            let partner = seed.at(Stream::Partner, step, row as u64).below(count);
            let lambda = seed.at(Stream::Lambda, step, row as u64).uniform();
            (near.neighbors[partner], lambda)
        });
        Some((near, partner))
    }

    /// The draw with a partner and λ for each row of a batch.
    pub(super) fn pairs(
        &self,
        batch: Batch<'_>,
        pair: impl FnMut(usize) -> (usize, f64),
    ) -> Result<Draw> {
        let sources = listed(batch, self.rows)?;
        let (partners, lambdas): (Vec<usize>, Vec<f64>) = sources.iter().copied().map(pair).unzip();
        let pairs = Pairs::new(sources.len(), Strength::PerRow(lambdas), None)?;
        Ok(Draw {
            sources: Some(sources),
            partners: Some(partners),
            ..Draw::of(self.rows, None, Mixing(Map::Pairs(pairs)))
        })
    }
}

/// Rows that are compared at once with a row.
const LANES: usize = 8;
/// Rows of a task.
const TASK: usize = 16;

/// The `k` nearest others of each row.
fn nearest(rows: &Array2<f64>, k: usize) -> Vec<Near> {
    let (count, width) = rows.dim();
    let blocks = count.div_ceil(LANES);
    // Column by column in each block, so that a lane sums the columns in order, whatever the width of vectors.
    let mut lanes = vec![[0.0; LANES]; blocks * width];
    for ((row, column), &value) in rows.indexed_iter() {
        lanes[row / LANES * width + column][row % LANES] = value;
    }
    let row = row_slices(rows.view());
    let task = |first: usize| {
        let own = first..count.min(first + TASK);
        let mut squares = vec![[0.0; LANES]; own.len() * blocks];
        vectorized(
            &mut squares[..],
            #[inline(always)]
            |squares| {
                for block in 0..blocks {
                    let columns = &lanes[block * width..(block + 1) * width];
                    for (place, own) in own.clone().enumerate() {
                        squares[place * blocks + block] = squared_distances(row(own), columns);
                    }
                }
            },
        );
        let near = |(place, own): (usize, usize)| {
            Near::new(
                &squares[place * blocks..(place + 1) * blocks].as_flattened()[..count],
                own,
                k,
            )
        };
        own.clone().enumerate().map(near).collect::<Vec<_>>()
    };
    (0..count).into_par_iter().step_by(TASK).flat_map_iter(task).collect()
}

#[inline(always)]
fn squared_distances(row: &[f64], columns: &[[f64; LANES]]) -> [f64; LANES] {
    let mut sums = [0.0; LANES];
    for (&value, others) in row.iter().zip(columns) {
        for (sum, other) in sums.iter_mut().zip(others) {
            *sum += (value - other) * (value - other);
        }
    }
    sums
}

impl Near {
    /// From the squared distances of row `own` to all rows.
    fn new(squares: &[f64], own: usize, k: usize) -> Self {
        let all = squares.iter().copied().enumerate().filter(|(row, _)| *row != own);
        let mut others: Vec<(usize, f64)> = all.collect();
        if others.is_empty() {
            return Self::default();
        }
        let order = |a: &(usize, f64), b: &(usize, f64)| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0));
        let middle = others.len() / 2;
        let upper = others.select_nth_unstable_by(middle, order).1.1.sqrt();
        let median = if others.len() % 2 == 1 {
            upper
        } else {
            let lower = others[..middle].iter().map(|other| other.1).fold(0.0, f64::max);
            f64::midpoint(lower.sqrt(), upper)
        };
        let k = k.min(others.len());
        others.select_nth_unstable_by(k - 1, order);
        others.truncate(k);
        others.sort_unstable_by(order);
        let neighbor = |(row, square): (usize, f64)| Neighbor { row, distance: square.sqrt() };
        Self { neighbors: others.into_iter().map(neighbor).collect(), median }
    }
}
