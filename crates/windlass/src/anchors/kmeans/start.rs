//! Greedy k-means++: the next centre is the best of a few rows drawn with probability ∝ wᵢDᵢ², where
//! Dᵢ is the distance to the nearest centre so far; best is the one that leaves the smallest Σ wᵢDᵢ².
//!
//! Distances are computed on blocks of rows stored column by column, which vectorises over rows. Sums
//! are taken per block and then over blocks, in the same order whatever the number of threads.

use ndarray::Array2;
use pulp::Arch;
use rayon::prelude::*;

use super::Points;
use super::lloyd::Centres;
use crate::rng::Draws;
use crate::{Seed, Stream};

/// Rows in a block.
const BLOCK: usize = 256;
/// Blocks that are worth a task.
const TASK: usize = 16;

/// The rows, block by block, each block column by column; the last is filled up with zeros.
pub(super) struct Blocks {
    width: usize,
    rows: usize,
    values: Vec<f64>,
    weights: Vec<f64>,
}

impl Blocks {
    pub(super) fn new(points: &Points<'_>) -> Self {
        let (rows, width) = (points.len(), points.width());
        let blocks = rows.div_ceil(BLOCK);
        let mut values = vec![0.0; blocks * BLOCK * width];
        values.par_chunks_mut(BLOCK * width).enumerate().for_each(|(block, values)| {
            let first = block * BLOCK;
            for lane in 0..BLOCK.min(rows - first) {
                for (j, &x) in points.row(first + lane).iter().enumerate() {
                    values[j * BLOCK + lane] = x;
                }
            }
        });
        let mut weights: Vec<f64> = (0..rows).map(|i| points.weight(i)).collect();
        weights.resize(blocks * BLOCK, 0.0);
        Self { width, rows, values, weights }
    }

    fn block(&self, block: usize) -> &[f64] {
        let size = BLOCK * self.width;
        &self.values[block * size..(block + 1) * size]
    }

    fn len(&self) -> usize {
        self.rows.div_ceil(BLOCK)
    }
}

/// Starting centres; fewer than `groups` where there are not so many distinct rows.
pub(super) fn plus_plus(
    points: &Points<'_>,
    blocks: &Blocks,
    groups: usize,
    seed: Seed,
    start: u64,
) -> Centres {
    let draws = |centre: usize| seed.at(Stream::KMeansStart, start, centre as u64);
    let candidates = 2 + libm::log(groups as f64) as usize;
    // wᵢDᵢ² of every row; before there is a centre, the weights alone.
    let mut nearest = Nearest { squares: vec![f64::INFINITY; blocks.weights.len()], potential: vec![] };
    nearest.potential = block_sums(&blocks.weights);
    let first = pick(&mut draws(0), &nearest.potential, &blocks.weights, blocks.rows);
    let mut chosen = vec![first];
    nearest.update(blocks, points.row(first));
    let mut weighted = vec![0.0; blocks.weights.len()];
    while chosen.len() < groups && nearest.potential.iter().sum::<f64>() > 0.0 {
        for ((out, &square), &weight) in
            weighted.iter_mut().zip(&nearest.squares).zip(&blocks.weights)
        {
            *out = square * weight;
        }
        let mut draws = draws(chosen.len());
        let tried: Vec<usize> = (0..candidates)
            .map(|_| pick(&mut draws, &nearest.potential, &weighted, blocks.rows))
            .collect();
        let left: Vec<f64> =
            nearest.potentials_with(blocks, &tried.iter().map(|&i| points.row(i)).collect::<Vec<_>>());
        let best = (0..tried.len())
            .reduce(|best, next| if left[next] < left[best] { next } else { best })
            .map_or(tried[0], |best| tried[best]);
        chosen.push(best);
        nearest.update(blocks, points.row(best));
    }
    let d = points.width();
    Centres::new(Array2::from_shape_fn((chosen.len(), d), |(c, j)| points.row(chosen[c])[j]))
}

/// The squared distance of every row to the nearest centre, and the weighted sum of each block.
struct Nearest {
    squares: Vec<f64>,
    potential: Vec<f64>,
}

impl Nearest {
    fn update(&mut self, blocks: &Blocks, centre: &[f64]) {
        self.potential = self
            .squares
            .par_chunks_mut(BLOCK)
            .enumerate()
            .with_min_len(TASK)
            .map(|(block, squares)| {
                let lanes: &mut [f64; BLOCK] = squares.try_into().expect("a whole block");
                let mut distances = [0.0; BLOCK];
                Arch::new().dispatch(
                    #[inline(always)]
                    || {
                        squared_distances(blocks.block(block), centre, &mut distances);
                        for (nearest, distance) in lanes.iter_mut().zip(&distances) {
                            *nearest = nearest.min(*distance);
                        }
                        weighted_sum(lanes, &blocks.weights[block * BLOCK..(block + 1) * BLOCK])
                    },
                )
            })
            .collect();
    }

    /// The weighted sum over all rows if each candidate were the next centre.
    fn potentials_with(&self, blocks: &Blocks, candidates: &[&[f64]]) -> Vec<f64> {
        let parts: Vec<Vec<f64>> = (0..blocks.len())
            .into_par_iter()
            .with_min_len(TASK)
            .map(|block| {
                let range = block * BLOCK..(block + 1) * BLOCK;
                let (squares, weights) = (&self.squares[range.clone()], &blocks.weights[range]);
                let mut distances = [0.0; BLOCK];
                Arch::new().dispatch(
                    #[inline(always)]
                    || {
                        candidates
                            .iter()
                            .map(|candidate| {
                                squared_distances(blocks.block(block), candidate, &mut distances);
                                for (distance, &nearest) in distances.iter_mut().zip(squares) {
                                    *distance = distance.min(nearest);
                                }
                                weighted_sum(&distances, weights)
                            })
                            .collect()
                    },
                )
            })
            .collect();
        (0..candidates.len()).map(|c| parts.iter().map(|part| part[c]).sum()).collect()
    }
}

#[inline(always)]
fn squared_distances(block: &[f64], point: &[f64], out: &mut [f64; BLOCK]) {
    out.fill(0.0);
    for (column, &x) in block.chunks_exact(BLOCK).zip(point) {
        for (out, &value) in out.iter_mut().zip(column) {
            let difference = value - x;
            *out += difference * difference;
        }
    }
}

#[inline(always)]
fn weighted_sum(values: &[f64; BLOCK], weights: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    for (values, weights) in values.chunks_exact(LANES).zip(weights.chunks_exact(LANES)) {
        for lane in 0..LANES {
            sums[lane] += values[lane] * weights[lane];
        }
    }
    sums.iter().sum()
}

fn block_sums(values: &[f64]) -> Vec<f64> {
    values.chunks_exact(BLOCK).map(|block| block.iter().sum()).collect()
}

/// A row drawn with probability proportional to its value.
fn pick(draws: &mut Draws, block_sums: &[f64], values: &[f64], rows: usize) -> usize {
    let mut left = draws.uniform() * block_sums.iter().sum::<f64>();
    let mut block = 0;
    while block + 1 < block_sums.len() && left >= block_sums[block] {
        left -= block_sums[block];
        block += 1;
    }
    let range = block * BLOCK..((block + 1) * BLOCK).min(rows);
    // Rounding may carry `left` past the block's last value: the last row that can be drawn is taken.
    let mut picked = None;
    for i in range.clone() {
        if values[i] > 0.0 {
            picked = Some(i);
            if left < values[i] {
                break;
            }
            left -= values[i];
        }
    }
    picked.or_else(|| (0..rows).find(|&i| values[i] > 0.0)).unwrap_or(range.start)
}
