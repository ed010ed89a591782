//! Centers, and the search for the nearest.

use ndarray::Array2;
use rayon::prelude::*;

use super::{CHUNK, Points};
use crate::simd::vectorized;

/// Centers, row-major for one distance and column-major for all of them.
#[derive(Debug, Clone)]
pub(super) struct Centers {
    pub(super) rows: Array2<f64>,
    /// Columns × `padded`, filled up with infinity, which is never nearest.
    columns: Vec<f64>,
    padded: usize,
}

/// Centers whose distances are computed together.
const LANES: usize = 8;

/// The two centers nearest to a row, and their squared distances.
#[derive(Debug, Clone, Copy)]
pub(super) struct Nearest {
    pub(super) first: usize,
    pub(super) square: f64,
    pub(super) second: usize,
    pub(super) second_square: f64,
}

impl Nearest {
    /// Takes a center into account.
    #[inline(always)]
    pub(super) fn offer(&mut self, center: usize, square: f64) {
        if square < self.square {
            let (second, second_square) = (self.first, self.square);
            *self = Self { first: center, square, second, second_square };
        } else if square < self.second_square {
            (self.second, self.second_square) = (center, square);
        }
    }
}

/// Centers, and the nearest center of each row.
pub(super) struct Assigned {
    pub(super) centers: Centers,
    pub(super) found: Vec<Nearest>,
}

impl Assigned {
    pub(super) fn new(points: &Points<'_>, centers: Centers) -> Self {
        let nothing = Nearest { first: 0, square: 0.0, second: 0, second_square: 0.0 };
        let mut found = vec![nothing; points.len()];
        found.par_chunks_mut(CHUNK).enumerate().for_each(|(chunk, found)| {
            let mut distances = centers.scratch();
            vectorized(
                found,
                #[inline(always)]
                |found| {
                    for (i, found) in (chunk * CHUNK..).zip(found) {
                        *found = centers.nearest(points.row(i), &mut distances);
                    }
                },
            );
        });
        Self { centers, found }
    }
}

impl Centers {
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

    pub(super) fn len(&self) -> usize {
        self.rows.nrows()
    }

    pub(super) fn row(&self, center: usize) -> &[f64] {
        let d = self.rows.ncols();
        &self.rows.as_slice().expect("standard layout")[center * d..(center + 1) * d]
    }

    /// A buffer for [`nearest`](Self::nearest).
    pub(super) fn scratch(&self) -> Vec<f64> {
        vec![0.0; self.padded]
    }

    /// The nearest center, the first of them in a tie, and the second nearest.
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
        let far = f64::INFINITY;
        let mut found = Nearest { first: 0, square: far, second: 0, second_square: far };
        for (center, &square) in distances[..self.len()].iter().enumerate() {
            found.offer(center, square);
        }
        found
    }

    /// The same centers with one replaced.
    pub(super) fn with_row(&self, center: usize, row: &[f64]) -> Self {
        let mut changed = self.clone();
        for (j, &value) in row.iter().enumerate() {
            changed.rows[(center, j)] = value;
            changed.columns[j * self.padded + center] = value;
        }
        changed
    }
}

#[inline(always)]
pub(super) fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::squared_distance;

    #[test]
    fn the_distance_of_two_rows_counts_every_column() {
        for d in 0..10 {
            let (a, b) = (vec![1.0; d], vec![3.0; d]);
            assert_eq!(squared_distance(&a, &b), 4.0 * d as f64);
        }
    }
}
