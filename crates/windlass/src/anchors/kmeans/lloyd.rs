//! Lloyd's algorithm with Hamerly's bounds.
//!
//! Every row keeps an upper bound `u` on the distance to its own center and a lower bound `l` on the
//! distance to any other. If `u` is below `l`, or below half the distance from its center to the nearest
//! other center, no other center can be closer and nothing is computed. When centers move by `pᵢ`,
//! `u` grows by the own shift and `l` falls by the largest shift of another.
//!
//! Bounds are widened by more than the rounding of the distances, so that a row is skipped only where
//! the plain algorithm, with its own rounding, would have come to the same group.

use crate::simd::vectorized;
use rayon::prelude::*;

use super::centers::{Assigned, Centers, squared_distance};
use super::{CHUNK, Points};
use crate::anchors::partition::to_label;
use crate::sums::{ExactSums, exact_sum};

/// When a run ends, in addition to the case that no row changes its group.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stop {
    /// Maximum number of steps.
    pub(super) iterations: usize,
    /// When the squared shift of all centers is at most this.
    pub(super) shift: f64,
}

/// A finished run.
#[derive(Debug)]
pub(super) struct Lloyd {
    pub(super) centers: Centers,
    pub(super) labels: Vec<u32>,
    pub(super) inertia: f64,
    pub(super) iterations: usize,
}

impl Lloyd {
    pub(super) fn run(points: &Points<'_>, start: Centers, stop: Stop) -> Self {
        let mut state = State::new(points, start);
        let mut iterations = 0;
        let mut changed = true;
        while changed && iterations < stop.iterations {
            iterations += 1;
            let shifted = state.move_centers();
            changed = state.assign();
            if shifted <= stop.shift {
                break;
            }
        }
        let inertia = state.inertia();
        Self { centers: state.centers, labels: state.labels, inertia, iterations }
    }
}

struct State<'a, 'p> {
    points: &'a Points<'p>,
    centers: Centers,
    labels: Vec<u32>,
    upper: Vec<f64>,
    lower: Vec<f64>,
    /// The sum of every group's rows, and of their weights.
    members: Moves,
    /// How far each center moved in the last step.
    shifts: Vec<f64>,
    /// Relative widening of a distance: more than its rounding.
    slack: f64,
}

impl<'a, 'p> State<'a, 'p> {
    fn new(points: &'a Points<'p>, start: Centers) -> Self {
        let Assigned { centers, found } = Assigned::new(points, start);
        let (d, k) = (points.width(), centers.len());
        let slack = (d as f64 + 8.0) * f64::EPSILON;
        let labels: Vec<u32> = found.iter().map(|found| to_label(found.first)).collect();
        let every: Vec<usize> = (0..points.len()).collect();
        let joining = every
            .par_chunks(CHUNK)
            .map(|rows| {
                let mut moves = Moves::new(k, d);
                moves.add(points, rows.iter().map(|&i| (i, labels[i], 1.0)));
                moves
            })
            .reduce(|| Moves::new(k, d), Moves::merged);
        Self {
            upper: found.iter().map(|found| found.square.sqrt() * (1.0 + slack)).collect(),
            lower: found.iter().map(|found| found.second_square.sqrt() * (1.0 - slack)).collect(),
            labels,
            members: joining,
            shifts: vec![0.0; k],
            points,
            centers,
            slack,
        }
    }

    /// Assigns each row to its nearest center; returns whether any row changed.
    fn assign(&mut self) -> bool {
        let k = self.centers.len();
        let half_gaps = self.half_gaps();
        let farthest = farthest_shifts(&self.shifts);
        let (points, centers, shifts, slack) =
            (self.points, &self.centers, &self.shifts, self.slack);
        let moves: Vec<Moves> = self
            .labels
            .par_chunks_mut(CHUNK)
            .zip(self.upper.par_chunks_mut(CHUNK))
            .zip(self.lower.par_chunks_mut(CHUNK))
            .enumerate()
            .filter_map(|(chunk, ((labels, upper), lower))| {
                let first = chunk * CHUNK;
                let mut changes: Vec<(usize, u32)> = vec![];
                let mut distances = centers.scratch();
                vectorized(
                    (&mut *labels, upper, lower),
                    #[inline(always)]
                    |(labels, upper, lower)| {
                        let rows = labels.iter_mut().zip(upper.iter_mut().zip(lower)).enumerate();
                        for (offset, (label, (upper, lower))) in rows {
                            let own = *label as usize;
                            *upper = (*upper + shifts[own]) * (1.0 + slack);
                            *lower -= farthest.other_than(own) + slack * *lower;
                            let safe = lower.max(half_gaps[own]);
                            if *upper < safe {
                                continue;
                            }
                            let x = points.row(first + offset);
                            *upper = squared_distance(x, centers.row(own)).sqrt() * (1.0 + slack);
                            if *upper < safe {
                                continue;
                            }
                            let found = centers.nearest(x, &mut distances);
                            *upper = found.square.sqrt() * (1.0 + slack);
                            *lower = found.second_square.sqrt() * (1.0 - slack);
                            let nearest = to_label(found.first);
                            if nearest != *label {
                                changes.push((offset, std::mem::replace(label, nearest)));
                            }
                        }
                    },
                );
                if changes.is_empty() {
                    return None;
                }
                let mut moves = Moves::new(k, points.width());
                moves.add(points, changes.iter().map(|&(i, left)| (first + i, left, -1.0)));
                moves.add(points, changes.iter().map(|&(i, _)| (first + i, labels[i], 1.0)));
                Some(moves)
            })
            .collect();
        for moves in &moves {
            self.members.merge(moves);
        }
        !moves.is_empty()
    }

    /// A lower bound of half the distance from each center to the nearest other.
    fn half_gaps(&self) -> Vec<f64> {
        let k = self.centers.len();
        let mut gaps = vec![f64::INFINITY; k];
        for a in 0..k {
            for b in 0..a {
                let square = squared_distance(self.centers.row(a), self.centers.row(b));
                gaps[a] = gaps[a].min(square);
                gaps[b] = gaps[b].min(square);
            }
        }
        gaps.into_iter().map(|square| 0.5 * square.sqrt() * (1.0 - self.slack)).collect()
    }

    /// Moves each center to the mean of its group; returns the squared shift of all centers.
    fn move_centers(&mut self) -> f64 {
        self.fill_empty_groups();
        let (k, d) = self.centers.rows.dim();
        let (totals, weights) = (self.members.sums.totals(), self.members.weights.totals());
        let mut rows = self.centers.rows.clone();
        for ((c, j), value) in rows.indexed_iter_mut() {
            // A group stays empty only if every row already sits on its center.
            if weights[c] > 0.0 {
                *value = totals[c * d + j] / weights[c];
            }
        }
        let moved = Centers::new(rows);
        let squares: Vec<f64> =
            (0..k).map(|c| squared_distance(self.centers.row(c), moved.row(c))).collect();
        self.shifts = squares.iter().map(|square| square.sqrt() * (1.0 + self.slack)).collect();
        self.centers = moved;
        squares.iter().sum()
    }

    /// Gives every empty group the row that is farthest from its own center.
    fn fill_empty_groups(&mut self) {
        loop {
            let weights = self.members.weights.totals();
            let Some(empty) = weights.iter().position(|&weight| weight <= 0.0) else {
                return;
            };
            let distance = |i: usize| {
                let own = self.centers.row(self.labels[i] as usize);
                squared_distance(self.points.row(i), own)
            };
            // A row that is alone in its group stays: moving it would empty another.
            let movable = |&i: &usize| {
                let weight = self.points.weight(i);
                weight > 0.0 && weights[self.labels[i] as usize] > weight
            };
            let farthest = (0..self.points.len())
                .filter(movable)
                .map(|i| (i, distance(i)))
                .reduce(|best, next| if next.1 > best.1 { next } else { best });
            let Some((row, _)) = farthest.filter(|&(_, square)| square > 0.0) else {
                return;
            };
            let left = std::mem::replace(&mut self.labels[row], to_label(empty));
            self.members
                .add(self.points, [(row, left, -1.0), (row, to_label(empty), 1.0)].into_iter());
            self.upper[row] = f64::INFINITY;
            self.lower[row] = 0.0;
        }
    }

    fn inertia(&self) -> f64 {
        let term = |i: usize| {
            let own = self.centers.row(self.labels[i] as usize);
            self.points.weight(i) * squared_distance(self.points.row(i), own)
        };
        let terms: Vec<f64> =
            (0..self.points.len()).into_par_iter().with_min_len(CHUNK).map(term).collect();
        exact_sum(terms).unwrap_or(f64::INFINITY)
    }
}

/// Changes of group sums.
#[derive(Debug, Clone)]
struct Moves {
    sums: ExactSums,
    weights: ExactSums,
}

impl Moves {
    fn new(groups: usize, width: usize) -> Self {
        Self { sums: ExactSums::new(groups, width), weights: ExactSums::new(groups, 1) }
    }

    /// Adds rows, given as number, group and sign: 1 for one that joins, −1 for one that leaves.
    fn add(&mut self, points: &Points<'_>, rows: impl Iterator<Item = (usize, u32, f64)> + Clone) {
        const ONE: &[f64] = &[1.0];
        let weighted = rows.map(|(i, group, sign)| (i, group as usize, sign * points.weight(i)));
        self.weights.add_rows(weighted.clone().map(|(_, group, weight)| (group, weight, ONE)));
        self.sums.add_rows(weighted.map(|(i, group, weight)| (group, weight, points.row(i))));
    }

    fn merge(&mut self, other: &Self) {
        self.sums.merge(&other.sums);
        self.weights.merge(&other.weights);
    }

    fn merged(mut self, other: Self) -> Self {
        self.merge(&other);
        self
    }
}

/// The largest shift of a center, and the largest without it.
struct FarthestShifts {
    center: usize,
    largest: f64,
    second: f64,
}

impl FarthestShifts {
    #[inline(always)]
    fn other_than(&self, center: usize) -> f64 {
        if center == self.center { self.second } else { self.largest }
    }
}

fn farthest_shifts(shifts: &[f64]) -> FarthestShifts {
    let mut found = FarthestShifts { center: 0, largest: 0.0, second: 0.0 };
    for (center, &shift) in shifts.iter().enumerate() {
        if shift > found.largest {
            found = FarthestShifts { center, largest: shift, second: found.largest };
        } else if shift > found.second {
            found.second = shift;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, Axis};
    use proptest::prelude::*;

    use super::{Centers, Lloyd, State, Stop};
    use crate::anchors::kmeans::Points;
    use crate::sums::ExactSums;

    /// Lloyd's algorithm without bounds.
    fn plain(x: &Array2<f64>, mut centers: Array2<f64>, steps: usize) -> (Vec<usize>, Array2<f64>) {
        let d = x.ncols();
        let nearest = |centers: &Array2<f64>| -> Vec<usize> {
            let square = |row: usize, c: usize| -> f64 {
                (0..d).map(|j| (x[(row, j)] - centers[(c, j)]).powi(2)).sum()
            };
            let best = |row: usize| {
                (0..centers.nrows())
                    .fold(0, |best, c| if square(row, c) < square(row, best) { c } else { best })
            };
            (0..x.nrows()).map(best).collect()
        };
        let mut labels = nearest(&centers);
        for _ in 0..steps {
            for (c, mut center) in centers.rows_mut().into_iter().enumerate() {
                let members: Vec<usize> = (0..x.nrows()).filter(|&i| labels[i] == c).collect();
                let rows = x.select(Axis(0), &members);
                let mut sums = ExactSums::new(1, d);
                sums.add_rows(rows.rows().into_iter().map(|row| (0, 1.0, row.to_slice().unwrap())));
                for (value, total) in center.iter_mut().zip(sums.totals()) {
                    *value = total / members.len() as f64;
                }
            }
            labels = nearest(&centers);
        }
        (labels, centers)
    }

    proptest! {
        /// Values on a coarse grid make many ties, which the bounds must not break otherwise.
        #[test]
        fn bounds_change_nothing(
            n in 8..80_usize, d in 1..4_usize, k in 1..6_usize, steps in 0..12_usize, coarse in any::<bool>(), seed in any::<u64>(),
        ) {
            let value = |(i, j): (usize, usize)| {
                let mut draws = crate::Seed(seed).at(crate::Stream::Sample, j as u64, i as u64);
                if coarse { draws.below(5) as f64 } else { draws.normal() }
            };
            let x = Array2::from_shape_fn((n, d), value);
            let start = x.select(Axis(0), &(0..k).collect::<Vec<_>>());
            let (labels, centers) = plain(&x, start.clone(), steps);
            // A group that runs empty is repaired, which the plain algorithm does not do.
            prop_assume!(centers.iter().all(|v| v.is_finite()));
            let points = Points::new(x.view(), None);
            let mut state = State::new(&points, Centers::new(start));
            for _ in 0..steps {
                state.move_centers();
                state.assign();
            }
            prop_assert_eq!(state.centers.rows, centers);
            prop_assert_eq!(state.labels.iter().map(|&l| l as usize).collect::<Vec<_>>(), labels);
        }
    }

    #[test]
    fn an_empty_group_gets_the_farthest_row() {
        let x = ndarray::array![[0.0], [0.1], [0.2], [9.0]];
        let start = ndarray::array![[0.0], [1e6]];
        let points = Points::new(x.view(), None);
        let run = Lloyd::run(&points, Centers::new(start), Stop { iterations: 20, shift: 0.0 });
        assert_eq!(run.labels, [0, 0, 0, 1]);
        assert_eq!(run.centers.into_rows()[(1, 0)], 9.0);
        assert!((run.inertia - 0.02).abs() < 1e-12);
    }
}
