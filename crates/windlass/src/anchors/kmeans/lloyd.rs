//! Lloyd's algorithm with Hamerly's bounds.
//!
//! Every row keeps an upper bound `u` on the distance to its own centre and a lower bound `l` on the
//! distance to any other. If `u` is below `l`, or below half the distance from its centre to the nearest
//! other centre, no other centre can be closer and nothing is computed. When centres move by `pᵢ`,
//! `u` grows by the own shift and `l` falls by the largest shift of another.
//!
//! Bounds are widened by more than the rounding of the distances, so that a row is skipped only where
//! the plain algorithm, with its own rounding, would have come to the same group.

use ndarray::Array2;
use pulp::Arch;
use rayon::prelude::*;

use super::{CHUNK, Points};
use crate::anchors::partition::to_label;
use crate::sums::{ExactSums, exact_sum};

/// Centres, row-major for one distance and column-major for all of them.
#[derive(Debug, Clone)]
pub(super) struct Centres {
    rows: Array2<f64>,
    /// Columns × `padded`, filled up with infinity, which is never nearest.
    columns: Vec<f64>,
    padded: usize,
}

/// Centres whose distances are computed together.
const LANES: usize = 8;

/// The two centres nearest to a row, by squared distance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nearest {
    pub(super) nearest: usize,
    square: f64,
    second: f64,
}

impl Centres {
    pub(super) fn new(rows: Array2<f64>) -> Self {
        let (k, d) = rows.dim();
        let padded = k.next_multiple_of(LANES);
        let mut columns = vec![f64::INFINITY; d * padded];
        for ((c, j), &value) in rows.indexed_iter() {
            columns[j * padded + c] = value;
        }
        Self { rows, columns, padded }
    }

    pub(super) fn into_rows(self) -> Array2<f64> {
        self.rows
    }

    fn len(&self) -> usize {
        self.rows.nrows()
    }

    fn row(&self, centre: usize) -> &[f64] {
        let d = self.rows.ncols();
        &self.rows.as_slice().expect("standard layout")[centre * d..(centre + 1) * d]
    }

    /// A buffer for [`nearest`](Self::nearest).
    pub(super) fn scratch(&self) -> Vec<f64> {
        vec![0.0; self.padded]
    }

    /// The nearest centre, the first of them in a tie, and the second nearest.
    #[inline(always)]
    pub(super) fn nearest(&self, x: &[f64], distances: &mut [f64]) -> Nearest {
        for (first, out) in distances.chunks_exact_mut(LANES).enumerate() {
            let mut sums = [0.0; LANES];
            for (column, &x) in self.columns.chunks_exact(self.padded).zip(x) {
                let column = &column[first * LANES..(first + 1) * LANES];
                for lane in 0..LANES {
                    let difference = x - column[lane];
                    sums[lane] += difference * difference;
                }
            }
            out.copy_from_slice(&sums);
        }
        let mut found = Nearest { nearest: 0, square: f64::INFINITY, second: f64::INFINITY };
        for (centre, &square) in distances[..self.len()].iter().enumerate() {
            if square < found.square {
                found = Nearest { nearest: centre, square, second: found.square };
            } else if square < found.second {
                found.second = square;
            }
        }
        found
    }
}

#[inline(always)]
fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 4;
    let mut sums = [0.0; LANES];
    let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let tail = a_chunks.remainder().iter().zip(b_chunks.remainder());
    let tail: f64 = tail.map(|(a, b)| (a - b) * (a - b)).sum();
    for (a, b) in a_chunks.zip(b_chunks) {
        for lane in 0..LANES {
            sums[lane] += (a[lane] - b[lane]) * (a[lane] - b[lane]);
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + tail
}

/// A finished run.
#[derive(Debug)]
pub(super) struct Lloyd {
    pub(super) centres: Centres,
    pub(super) labels: Vec<u32>,
    pub(super) inertia: f64,
    pub(super) iterations: usize,
}

impl Lloyd {
    pub(super) fn run(
        points: &Points<'_>,
        start: Centres,
        max_iterations: usize,
        tolerance: f64,
    ) -> Self {
        let mut state = State::new(points, start);
        let mut iterations = 0;
        let mut changed = true;
        while changed && iterations < max_iterations {
            iterations += 1;
            let shifted = state.move_centres();
            changed = state.assign();
            if shifted <= tolerance {
                break;
            }
        }
        let inertia = state.inertia();
        Self { centres: state.centres, labels: state.labels, inertia, iterations }
    }
}

struct State<'a, 'p> {
    points: &'a Points<'p>,
    centres: Centres,
    labels: Vec<u32>,
    upper: Vec<f64>,
    lower: Vec<f64>,
    sums: ExactSums,
    weights: ExactSums,
    /// How far each centre moved in the last step.
    shifts: Vec<f64>,
    /// Relative widening of a distance: more than its rounding.
    slack: f64,
}

impl<'a, 'p> State<'a, 'p> {
    fn new(points: &'a Points<'p>, centres: Centres) -> Self {
        let (n, d, k) = (points.len(), points.width(), centres.len());
        let mut state = Self {
            points,
            labels: vec![u32::MAX; n],
            upper: vec![f64::INFINITY; n],
            lower: vec![0.0; n],
            sums: ExactSums::new(k, d),
            weights: ExactSums::new(k, 1),
            shifts: vec![0.0; k],
            slack: (d as f64 + 8.0) * f64::EPSILON,
            centres,
        };
        state.assign();
        state
    }

    /// Puts every row into the group of its nearest centre; whether any changed.
    fn assign(&mut self) -> bool {
        let k = self.centres.len();
        let half_gaps = self.half_gaps();
        let farthest = farthest_shifts(&self.shifts);
        let (points, centres, shifts, slack) =
            (self.points, &self.centres, &self.shifts, self.slack);
        let width = points.width();
        let moves: Vec<Option<Moves>> = self
            .labels
            .par_chunks_mut(CHUNK)
            .zip(self.upper.par_chunks_mut(CHUNK))
            .zip(self.lower.par_chunks_mut(CHUNK))
            .enumerate()
            .map(|(chunk, ((labels, upper), lower))| {
                let mut changes: Vec<(usize, u32)> = vec![];
                let mut distances = centres.scratch();
                Arch::new().dispatch(
                    #[inline(always)]
                    || {
                        let rows = labels.iter_mut().zip(upper).zip(lower).enumerate();
                        for (offset, ((label, upper), lower)) in rows {
                            let i = chunk * CHUNK + offset;
                            if *label != u32::MAX {
                                let own = *label as usize;
                                *upper = (*upper + shifts[own]) * (1.0 + slack);
                                *lower -= farthest.other_than(own) + slack * *lower;
                                let safe = lower.max(half_gaps[own]);
                                if *upper < safe {
                                    continue;
                                }
                                let square = squared_distance(points.row(i), centres.row(own));
                                *upper = square.sqrt() * (1.0 + slack);
                                if *upper < safe {
                                    continue;
                                }
                            }
                            let found = centres.nearest(points.row(i), &mut distances);
                            *upper = found.square.sqrt() * (1.0 + slack);
                            *lower = found.second.sqrt() * (1.0 - slack);
                            let nearest = to_label(found.nearest);
                            if nearest != *label {
                                changes.push((i, std::mem::replace(label, nearest)));
                            }
                        }
                    },
                );
                (!changes.is_empty()).then(|| Moves::new(points, k, width, &changes, |i| {
                    labels[i - chunk * CHUNK]
                }))
            })
            .collect();
        let mut changed = false;
        for moves in moves.into_iter().flatten() {
            self.sums.merge(&moves.sums);
            self.weights.merge(&moves.weights);
            changed = true;
        }
        changed
    }

    /// Half the distance from each centre to the nearest other, from below.
    fn half_gaps(&self) -> Vec<f64> {
        let k = self.centres.len();
        let mut gaps = vec![f64::INFINITY; k];
        for a in 0..k {
            for b in 0..a {
                let square = squared_distance(self.centres.row(a), self.centres.row(b));
                gaps[a] = gaps[a].min(square);
                gaps[b] = gaps[b].min(square);
            }
        }
        gaps.into_iter().map(|square| 0.5 * square.sqrt() * (1.0 - self.slack)).collect()
    }

    /// Moves every centre to the mean of its group; the squared shift of all centres.
    fn move_centres(&mut self) -> f64 {
        self.fill_empty_groups();
        let (k, d) = self.centres.rows.dim();
        let (totals, weights) = (self.sums.totals(), self.weights.totals());
        let mut rows = self.centres.rows.clone();
        for ((c, j), value) in rows.indexed_iter_mut() {
            // A group stays empty only if every row already sits on its centre.
            if weights[c] > 0.0 {
                *value = totals[c * d + j] / weights[c];
            }
        }
        let moved = Centres::new(rows);
        let squares: Vec<f64> =
            (0..k).map(|c| squared_distance(self.centres.row(c), moved.row(c))).collect();
        self.shifts = squares.iter().map(|square| square.sqrt() * (1.0 + self.slack)).collect();
        self.centres = moved;
        squares.iter().sum()
    }

    /// Gives every empty group the row that is farthest from its own centre.
    fn fill_empty_groups(&mut self) {
        loop {
            let weights = self.weights.totals();
            let Some(empty) = weights.iter().position(|&weight| weight <= 0.0) else { return };
            let distance = |i: usize| {
                let own = self.centres.row(self.labels[i] as usize);
                squared_distance(self.points.row(i), own)
            };
            let farthest = (0..self.points.len())
                .filter(|&i| self.points.weight(i) > 0.0)
                .map(|i| (i, distance(i)))
                .reduce(|best, next| if next.1 > best.1 { next } else { best });
            let Some((row, square)) = farthest else { return };
            // Rows alone in their group, or on their centre, stay: moving them would empty another.
            let alone = weights[self.labels[row] as usize] <= self.points.weight(row);
            if square <= 0.0 || alone {
                return;
            }
            let from = std::mem::replace(&mut self.labels[row], to_label(empty));
            let moves = Moves::new(
                self.points,
                weights.len(),
                self.points.width(),
                &[(row, from)],
                |_| to_label(empty),
            );
            self.sums.merge(&moves.sums);
            self.weights.merge(&moves.weights);
            self.upper[row] = f64::INFINITY;
            self.lower[row] = 0.0;
        }
    }

    fn inertia(&self) -> f64 {
        let term = |i: usize| {
            let own = self.centres.row(self.labels[i] as usize);
            self.points.weight(i) * squared_distance(self.points.row(i), own)
        };
        let terms: Vec<f64> = (0..self.points.len()).into_par_iter().with_min_len(CHUNK).map(term).collect();
        exact_sum(terms).unwrap_or(f64::INFINITY)
    }
}

/// What some rows that changed their group change in the groups' sums.
struct Moves {
    sums: ExactSums,
    weights: ExactSums,
}

impl Moves {
    /// `changes` are rows with the group that each left (`u32::MAX`: none).
    fn new(
        points: &Points<'_>,
        groups: usize,
        width: usize,
        changes: &[(usize, u32)],
        now: impl Fn(usize) -> u32,
    ) -> Self {
        let mut moves =
            Self { sums: ExactSums::new(groups, width), weights: ExactSums::new(groups, 1) };
        let leaving = changes.iter().filter(|&&(_, from)| from != u32::MAX);
        let signed = leaving
            .map(|&(i, from)| (i, from, -1.0))
            .chain(changes.iter().map(|&(i, _)| (i, now(i), 1.0)));
        moves.sums.add_rows(
            signed.clone().map(|(i, group, sign)| (group as usize, sign * points.weight(i), points.row(i))),
        );
        moves.weights.add_rows(
            signed.map(|(i, group, sign)| (group as usize, sign * points.weight(i), ONE)),
        );
        moves
    }
}

const ONE: &[f64] = &[1.0];

/// The largest shift of a centre, and the largest without it.
struct FarthestShifts {
    centre: usize,
    largest: f64,
    second: f64,
}

impl FarthestShifts {
    #[inline(always)]
    fn other_than(&self, centre: usize) -> f64 {
        if centre == self.centre { self.second } else { self.largest }
    }
}

fn farthest_shifts(shifts: &[f64]) -> FarthestShifts {
    let mut found = FarthestShifts { centre: 0, largest: 0.0, second: 0.0 };
    for (centre, &shift) in shifts.iter().enumerate() {
        if shift > found.largest {
            found = FarthestShifts { centre, largest: shift, second: found.largest };
        } else if shift > found.second {
            found.second = shift;
        }
    }
    found
}
