//! Greedy k-means++: the next center is the best of a few rows drawn with probability ∝ wᵢDᵢ², where
//! Dᵢ is the distance to the nearest center so far; best is the one that leaves the smallest Σ wᵢDᵢ².
//!
//! The first start also tries exchanges, a few more than there are centers: a row drawn in the same way
//! replaces the center whose removal costs least, if that decreases Σ wᵢDᵢ² (Lattanzi, Sohler,
//! *A better k-means++ algorithm via local search*, ICML 2019). The other starts skip this, for diversity.
//! The best of several finished runs is refined in the same way, if rows are not too many.
//!
//! For large data each start first converges on its own sample of rows, which fits in a cache. Only the two starts
//! that then fit all rows best continue on all rows.
//!
//! Distances are computed on blocks of rows stored column by column, which vectorizes over rows. Sums
//! are taken per block and then over blocks, in the same order whatever the number of threads.

use crate::simd::vectorized;
use ndarray::{Array2, Axis};
use rayon::prelude::*;

use super::Points;
use super::centers::{Assigned, Centers};
use super::lloyd::{Lloyd, Stop};
use crate::rng::Draws;
use crate::{Seed, Stream};

/// Rows in a block.
const BLOCK: usize = 128;
/// Rows whose distances are computed together, in registers.
const LANES: usize = 16;
/// Minimum number of blocks per parallel task.
const TASK: usize = 32;

/// The rows, block by block, each block column by column; the last is filled up with zeros.
struct Blocks {
    width: usize,
    rows: usize,
    values: Vec<f64>,
    weights: Vec<f64>,
}

impl Blocks {
    fn new(points: &Points<'_>) -> Self {
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

    fn weights_of(&self, block: usize) -> &[f64] {
        &self.weights[block * BLOCK..(block + 1) * BLOCK]
    }

    fn len(&self) -> usize {
        self.rows.div_ceil(BLOCK)
    }
}

/// Number of exchanges in addition to one per group.
const EXCHANGES: usize = 16;
/// Minimum number of rows of a start's sample.
const SAMPLE: usize = 1 << 14;
/// Maximum number of steps on a sample.
const SAMPLE_STEPS: usize = 100;
/// Minimum number of rows per group of a start's sample.
const SAMPLE_PER_GROUP: usize = 64;

/// Starting centers; fewer than `groups` only if there are fewer distinct rows.
pub(super) fn centers(
    points: &Points<'_>,
    groups: usize,
    stop: Stop,
    seed: Seed,
    (start, starts): (u64, usize),
) -> Centers {
    let size = sample_size(groups, starts);
    if points.len() > 2 * size {
        let mut draws = seed.at(Stream::KMeansStart, start, u64::MAX);
        let rows: Vec<usize> = (0..size).map(|_| draws.below(points.len())).collect();
        let values = points.rows.select(Axis(0), &rows);
        let weights: Vec<f64> = rows.iter().map(|&row| points.weight(row)).collect();
        let sample = Points::new(values.view(), Some(&weights));
        let found = plus_plus(&sample, groups, seed, start);
        if found.len() == groups {
            let stop = Stop { iterations: SAMPLE_STEPS, ..stop };
            return Lloyd::run(&sample, found, stop).centers;
        }
    }
    plus_plus(points, groups, seed, start)
}

/// Sample size of a start; smaller with several starts, since the best is used.
fn sample_size(groups: usize, starts: usize) -> usize {
    let size = if starts > 1 { SAMPLE / 2 } else { SAMPLE };
    size.max(SAMPLE_PER_GROUP * groups)
}

/// The starts that continue on all rows: for large data those whose centers, found on a sample, fit all rows best.
pub(super) fn finalists(points: &Points<'_>, starts: Vec<Centers>) -> Vec<Centers> {
    const FINALISTS: usize = 2;
    let groups = starts.first().map_or(0, Centers::len);
    if points.len() <= 2 * sample_size(groups, starts.len()) || starts.len() <= FINALISTS {
        return starts;
    }
    let score = |centers: Centers| {
        let assigned = Assigned::new(points, centers);
        let terms = assigned.found.iter().enumerate();
        let inertia: f64 = terms.map(|(i, found)| points.weight(i) * found.square).sum();
        (inertia, assigned.centers)
    };
    let mut scored: Vec<(f64, Centers)> = starts.into_par_iter().map(score).collect();
    scored.sort_by(|a, b| a.0.total_cmp(&b.0));
    scored.into_iter().take(FINALISTS).map(|(_, centers)| centers).collect()
}

fn plus_plus(points: &Points<'_>, groups: usize, seed: Seed, start: u64) -> Centers {
    let blocks = Blocks::new(points);
    let draws = |center: usize| seed.at(Stream::KMeansStart, start, center as u64);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 44")]
    let candidates = 2 + libm::log(groups as f64) as usize;
    // Before there is a center, rows are drawn by their weights alone.
    let weight_sums = block_sums(&blocks.weights);
    let first = pick(&mut draws(0), &weight_sums, &blocks.weights, blocks.rows);
    let mut nearest = Nearest::new(&blocks, points.row(first));
    let mut chosen = vec![first];
    while chosen.len() < groups && nearest.potential.iter().sum::<f64>() > 0.0 {
        let weighted: Vec<f64> = nearest
            .squares
            .iter()
            .zip(&blocks.weights)
            .map(|(square, weight)| square * weight)
            .collect();
        let mut draws = draws(chosen.len());
        let tried: Vec<usize> = (0..candidates)
            .map(|_| pick(&mut draws, &nearest.potential, &weighted, blocks.rows))
            .collect();
        let rows: Vec<&[f64]> = tried.iter().map(|&row| points.row(row)).collect();
        let left = nearest.potentials_with(&blocks, &rows);
        let best = smallest(&left).map_or(first, |best| tried[best]);
        chosen.push(best);
        nearest.update(&blocks, points.row(best));
    }
    let shape = (chosen.len(), points.width());
    let rows = Array2::from_shape_fn(shape, |(c, j)| points.row(chosen[c])[j]);
    let mut assigned = Assigned::new(points, Centers::new(rows));
    if start == 0 {
        for attempt in 0..EXCHANGES + groups {
            let Some(exchange) = assigned.exchange(points, &blocks, &mut draws(groups + attempt))
            else {
                break;
            };
            if exchange.gain > 0.0 {
                assigned.apply(points, &exchange);
            }
        }
    }
    assigned.centers
}

/// Refines a finished run: exchanges a center, continues, and uses the better result.
pub(super) fn refined(points: &Points<'_>, best: Lloyd, stop: Stop, seed: Seed) -> Lloyd {
    if points.len() >= 2 * SAMPLE {
        return best;
    }
    let blocks = Blocks::new(points);
    let mut best = best;
    for attempt in 0..(EXCHANGES + best.centers.len()) as u64 {
        let mut draws = seed.at(Stream::KMeansStart, u64::MAX, attempt);
        let mut assigned = Assigned::new(points, best.centers.clone());
        let Some(exchange) = assigned.exchange(points, &blocks, &mut draws) else {
            break;
        };
        assigned.centers = assigned.centers.with_row(exchange.gone, points.row(exchange.row));
        let next = Lloyd::run(points, assigned.centers, stop);
        if next.inertia < best.inertia {
            best = Lloyd { iterations: best.iterations + next.iterations, ..next };
        }
    }
    best
}

/// The first of the smallest values.
fn smallest(values: &[f64]) -> Option<usize> {
    (0..values.len()).reduce(|best, next| if values[next] < values[best] { next } else { best })
}

/// A row that may replace a center.
struct Exchange {
    row: usize,
    gone: usize,
    /// The decrease of Σ wᵢDᵢ².
    gain: f64,
    /// The squared distance of every row to the new center.
    distances: Vec<[f64; BLOCK]>,
}

impl Assigned {
    /// A row drawn with probability ∝ wᵢDᵢ², and the best center to replace; `None` if every row equals a center.
    fn exchange(
        &self,
        points: &Points<'_>,
        blocks: &Blocks,
        draws: &mut Draws,
    ) -> Option<Exchange> {
        let k = self.centers.len();
        let mut weighted = vec![0.0; blocks.weights.len()];
        for ((out, found), &weight) in weighted.iter_mut().zip(&self.found).zip(&blocks.weights) {
            *out = found.square * weight;
        }
        let sums = block_sums(&weighted);
        let now: f64 = sums.iter().sum();
        if now <= 0.0 {
            return None;
        }
        let row = pick(draws, &sums, &weighted, blocks.rows);
        let candidate = points.row(row);
        // Σ wᵢ·min(Dᵢ², dᵢ²), and for every center the cost of its removal.
        let (costs, distances): (Vec<Vec<f64>>, Vec<[f64; BLOCK]>) = self
            .found
            .par_chunks(BLOCK)
            .enumerate()
            .with_min_len(TASK)
            .map(|(block, found)| {
                let mut distances = [0.0; BLOCK];
                let mut costs = vec![0.0; k + 1];
                let (values, weights) = (blocks.block(block), blocks.weights_of(block));
                vectorized(
                    (&mut costs, &mut distances),
                    #[inline(always)]
                    |(costs, distances)| {
                        let groups = distances.as_chunks_mut::<LANES>().0.iter_mut();
                        for (group, out) in groups.enumerate() {
                            *out = squared_distances(values, group * LANES, candidate);
                        }
                        let mut kept_sum = 0.0;
                        for ((found, &distance), weight) in
                            found.iter().zip(&*distances).zip(weights)
                        {
                            let kept = smaller(found.square, distance);
                            let fallback = smaller(found.second_square, distance);
                            kept_sum += weight * kept;
                            costs[found.first] += weight * (fallback - kept);
                        }
                        costs[k] = kept_sum;
                    },
                );
                (costs, distances)
            })
            .unzip();
        let total = |of: usize| costs.iter().map(|costs| costs[of]).sum::<f64>();
        let losses: Vec<f64> = (0..k).map(total).collect();
        let gone = smallest(&losses)?;
        Some(Exchange { row, gone, gain: now - (total(k) + losses[gone]), distances })
    }

    fn apply(&mut self, points: &Points<'_>, exchange: &Exchange) {
        let gone = exchange.gone;
        self.centers = self.centers.with_row(gone, points.row(exchange.row));
        let centers = &self.centers;
        let blocks = self.found.par_chunks_mut(BLOCK).zip(&exchange.distances).enumerate();
        blocks.with_min_len(TASK).for_each(|(block, (found, distances))| {
            let mut scratch = centers.scratch();
            vectorized(
                found,
                #[inline(always)]
                |found| {
                    for (lane, (found, &distance)) in found.iter_mut().zip(distances).enumerate() {
                        if found.first == gone || found.second == gone {
                            let row = points.row(block * BLOCK + lane);
                            *found = centers.nearest(row, &mut scratch);
                        } else {
                            found.offer(gone, distance);
                        }
                    }
                },
            );
        });
    }
}

/// The squared distance of every row to the nearest center, and the weighted sum of each block.
struct Nearest {
    squares: Vec<f64>,
    potential: Vec<f64>,
}

impl Nearest {
    fn new(blocks: &Blocks, center: &[f64]) -> Self {
        let squares = vec![f64::INFINITY; blocks.weights.len()];
        let mut nearest = Self { squares, potential: vec![] };
        nearest.update(blocks, center);
        nearest
    }

    fn update(&mut self, blocks: &Blocks, center: &[f64]) {
        self.potential = self
            .squares
            .par_chunks_mut(BLOCK)
            .enumerate()
            .with_min_len(TASK)
            .map(|(block, squares)| {
                let (values, weights) = (blocks.block(block), blocks.weights_of(block));
                vectorized(
                    squares,
                    #[inline(always)]
                    |squares| {
                        let mut sums = [0.0; LANES];
                        for first in (0..BLOCK).step_by(LANES) {
                            let distances = squared_distances(values, first, center);
                            for lane in 0..LANES {
                                let square = &mut squares[first + lane];
                                *square = smaller(*square, distances[lane]);
                                sums[lane] += *square * weights[first + lane];
                            }
                        }
                        sums.iter().sum()
                    },
                )
            })
            .collect();
    }

    /// The weighted sum over all rows if each candidate were the next center.
    fn potentials_with(&self, blocks: &Blocks, candidates: &[&[f64]]) -> Vec<f64> {
        let parts: Vec<Vec<f64>> = (0..blocks.len())
            .into_par_iter()
            .with_min_len(TASK)
            .map(|block| {
                let (values, weights) = (blocks.block(block), blocks.weights_of(block));
                let squares = &self.squares[block * BLOCK..(block + 1) * BLOCK];
                let mut totals = vec![0.0; candidates.len()];
                vectorized(
                    &mut totals,
                    #[inline(always)]
                    |totals| {
                        for (total, candidate) in totals.iter_mut().zip(candidates) {
                            let mut sums = [0.0; LANES];
                            for first in (0..BLOCK).step_by(LANES) {
                                let distances = squared_distances(values, first, candidate);
                                for lane in 0..LANES {
                                    let square = smaller(squares[first + lane], distances[lane]);
                                    sums[lane] += square * weights[first + lane];
                                }
                            }
                            *total = sums.iter().sum();
                        }
                    },
                );
                totals
            })
            .collect();
        (0..candidates.len()).map(|c| parts.iter().map(|part| part[c]).sum()).collect()
    }
}

/// The squared distances of the rows `first .. first + LANES` of a block to a point.
#[inline(always)]
fn squared_distances(block: &[f64], first: usize, point: &[f64]) -> [f64; LANES] {
    let mut sums = [0.0; LANES];
    for (column, &x) in block.as_chunks::<BLOCK>().0.iter().zip(point) {
        let values: &[f64; LANES] = column[first..].first_chunk().expect("whole groups of lanes");
        for lane in 0..LANES {
            let difference = values[lane] - x;
            sums[lane] += difference * difference;
        }
    }
    sums
}

/// `min(a, b)`, for numbers that are not NaN: one instruction.
#[inline(always)]
fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
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
