//! Neighborhoods of training rows in [x, y], their directions, and their intrinsic dimension.
//!
//! Rows are split into neighborhoods as in the code that was published with the methods: a random row and the
//! nearest rows that are left (`nearest`), or rows drawn with probability ∝ 1/distance (`near`), or any rows
//! (`random`). To keep the cost linear in the number of rows n, more than 4,096 rows are first split at medians of
//! random directions, and neighbors are searched within these cells: O(n · columns · (4,096 + log n)) for
//! neighborhoods of one row, 1/size of that for those of `size` rows. No n × n matrix is formed.

use std::cmp::Ordering;

use faer::Mat;
use ndarray::{Array2, ArrayView2, Axis, concatenate};
use rayon::prelude::*;

use super::values::Neighborhood;
use crate::anchors::ClusterScaling;
use crate::error::same_rows;
use crate::moments::moments;
use crate::{Error, Result, RowSample, Samples, Seed, Stream};

/// Maximum number of rows among which neighbors are searched.
const CELL: usize = 1 << 12;
/// Maximum number of distinct rows for the intrinsic dimension.
const SAMPLE: usize = 1 << 11;

/// The training rows [x, y] in the units in which distances and directions are computed.
#[derive(Debug)]
pub(super) struct Points {
    values: Array2<f64>,
    /// The unit of every column.
    pub(super) units: Vec<f64>,
    /// The number of features.
    pub(super) features: usize,
}

impl Points {
    pub(super) fn new(samples: &Samples<'_>, scale: ClusterScaling) -> Self {
        let mut values = concatenate(Axis(1), &[samples.x(), samples.y()]).expect("equal rows");
        let units = match scale {
            ClusterScaling::Standardized => {
                let (means, deviations) = moments(values.view(), samples.weights());
                for (mut column, mean) in values.columns_mut().into_iter().zip(means) {
                    column -= mean;
                }
                // A constant column has standard deviation 0 and no distances.
                deviations.into_iter().map(|unit| if unit > 0.0 { unit } else { 1.0 }).collect()
            }
            // Fourth powers of enormous values would overflow.
            ClusterScaling::Raw => {
                let largest = values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
                let unit = if largest > 1e60 { largest } else { 1.0 };
                vec![unit; values.ncols()]
            }
        };
        for (mut column, &unit) in values.columns_mut().into_iter().zip(&units) {
            column /= unit;
        }
        let values = values.as_standard_layout().into_owned();
        Self { values, units, features: samples.x().ncols() }
    }

    pub(super) fn rows(&self) -> usize {
        self.values.nrows()
    }

    pub(super) fn columns(&self) -> usize {
        self.values.ncols()
    }

    pub(super) fn select(&self, rows: &[usize]) -> Array2<f64> {
        self.values.select(Axis(0), rows)
    }

    /// The outputs of a hidden layer for some rows with their targets, and the unit of every column. Standardized
    /// outputs are in units of their standard deviation in the batch.
    pub(super) fn with_hidden(
        &self,
        rows: &[usize],
        hidden: ArrayView2<'_, f64>,
        scale: ClusterScaling,
    ) -> Result<(Array2<f64>, Vec<f64>)> {
        same_rows(("the batch", rows.len()), ("the hidden layer", hidden.nrows()))?;
        let (_, targets) = self.values.view().split_at(Axis(1), self.features);
        let targets = targets.select(Axis(0), rows);
        let target_units = &self.units[self.features..];
        let mut points = concatenate(Axis(1), &[hidden, targets.view()]).expect("equal rows");
        let mut units = vec![target_units[0]; hidden.ncols()];
        if scale == ClusterScaling::Standardized {
            units = hidden.columns().into_iter().map(|column| column.std(0.0)).collect();
            units.iter_mut().filter(|unit| **unit == 0.0).for_each(|unit| *unit = 1.0);
        }
        for (mut column, unit) in points.columns_mut().into_iter().zip(&units) {
            column /= *unit;
        }
        units.extend(target_units);
        Ok((points, units))
    }

    fn point(&self, row: usize) -> &[f64] {
        let width = self.columns();
        &self.values.as_slice().expect("standard layout")[row * width..(row + 1) * width]
    }

    fn squared_distance(&self, a: usize, b: usize) -> f64 {
        self.point(a).iter().zip(self.point(b)).map(|(a, b)| (a - b) * (a - b)).sum()
    }

    /// The order of the training rows in an epoch, if its batches are neighborhoods.
    pub(super) fn epoch_order(
        &self,
        size: usize,
        neighborhood: Neighborhood,
        (seed, epoch): (Seed, u64),
    ) -> Option<Vec<usize>> {
        let batches = matches!(neighborhood, Neighborhood::Nearest | Neighborhood::Near);
        let rows = (0..self.values.nrows()).collect();
        batches.then(|| self.order(rows, size, neighborhood, (seed, epoch)))
    }

    /// `rows` in an order in which every `size` consecutive ones are a neighborhood; the last may have fewer.
    pub(super) fn order(
        &self,
        mut rows: Vec<usize>,
        size: usize,
        neighborhood: Neighborhood,
        (seed, step): (Seed, u64),
    ) -> Vec<usize> {
        seed.shared(Stream::Partner, step).shuffle(&mut rows);
        if neighborhood == Neighborhood::Random || rows.len() <= size {
            return rows;
        }
        let near = neighborhood == Neighborhood::Near;
        let cells = self.cells(rows, size, (seed, step));
        cells
            .into_par_iter()
            .flat_map_iter(|cell| self.neighborhoods(cell, size, near, (seed, step)))
            .collect()
    }

    /// Splits rows into cells of neighbors, all but the last with a multiple of `size` rows.
    fn cells(&self, rows: Vec<usize>, size: usize, (seed, step): (Seed, u64)) -> Vec<Vec<usize>> {
        let (mut cells, mut open) = (vec![], vec![(1_u64, rows)]);
        while let Some((node, rows)) = open.pop() {
            let middle = rows.len() / 2 / size * size;
            if rows.len() <= CELL || middle == 0 {
                cells.push(rows);
                continue;
            }
            let mut draws = seed.at(Stream::Partner, step, !node);
            let direction: Vec<f64> = (0..self.columns()).map(|_| draws.normal()).collect();
            let along = |&row: &usize| -> (f64, usize) {
                (self.point(row).iter().zip(&direction).map(|(a, b)| a * b).sum(), row)
            };
            let mut places: Vec<(f64, usize)> = rows.par_iter().map(along).collect();
            places.select_nth_unstable_by(middle, ascending);
            let low = |row: &usize| ascending(&along(row), &places[middle]) == Ordering::Less;
            let (first, second) = rows.into_iter().partition(low);
            open.extend([(2 * node + 1, second), (2 * node, first)]);
        }
        cells
    }

    /// Each first row that is left with its nearest rows, or rows drawn by their distance.
    fn neighborhoods(
        &self,
        mut left: Vec<usize>,
        size: usize,
        near: bool,
        (seed, step): (Seed, u64),
    ) -> Vec<usize> {
        let mut ordered = Vec::with_capacity(left.len());
        while left.len() > size {
            let center = left[0];
            let mut draws = seed.at(Stream::Partner, step, center as u64);
            // The smallest of exponential variables divided by weights are a draw without replacement.
            let mut keys: Vec<(f64, usize)> = (1..left.len())
                .map(|place| {
                    let distance = self.squared_distance(center, left[place]);
                    let key = if near {
                        distance.sqrt() * -libm::log(1.0 - draws.uniform())
                    } else {
                        distance
                    };
                    (key, place)
                })
                .collect();
            ordered.push(center);
            let mut taken = vec![false; left.len()];
            taken[0] = true;
            if size > 1 {
                keys.select_nth_unstable_by(size - 2, ascending);
                keys.truncate(size - 1);
                for (_, place) in keys {
                    taken[place] = true;
                }
            }
            let mut place = 0;
            left.retain(|&row| {
                let stays = !taken[place];
                if !stays && place > 0 {
                    ordered.push(row);
                }
                place += 1;
                stays
            });
        }
        ordered.extend(left);
        ordered
    }

    /// The cell of every row in which its neighbors are searched.
    pub(super) fn cells_of_rows(&self) -> (Vec<Vec<usize>>, Vec<usize>) {
        // A fixed seed: neighbors do not depend on the seed of the augmentation.
        let cells = self.cells((0..self.rows()).collect(), 1, (Seed(0), 0));
        let mut cell_of = vec![0; self.rows()];
        for (index, cell) in cells.iter().enumerate() {
            for &row in cell {
                cell_of[row] = index;
            }
        }
        (cells, cell_of)
    }

    /// The `count` rows of a cell nearest to `row`, which is not among them.
    pub(super) fn nearest(&self, row: usize, cell: &[usize], count: usize) -> Vec<usize> {
        let others = cell.iter().filter(|&&other| other != row);
        let mut keys: Vec<(f64, usize)> =
            others.map(|&other| (self.squared_distance(row, other), other)).collect();
        if keys.len() > count {
            keys.select_nth_unstable_by(count, ascending);
            keys.truncate(count);
        }
        keys.sort_unstable_by(ascending);
        keys.into_iter().map(|(_, other)| other).collect()
    }

    /// The intrinsic dimension of the training rows, rounded up: at least 1, below the number of columns.
    pub(super) fn dimension(&self) -> Result<usize> {
        let estimate = intrinsic_dimension(self.values.view())?.ceil();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let estimate = estimate as usize;
        Ok(estimate.min(self.columns() - 1).max(1))
    }
}

/// Returns an error for sizes of neighborhoods outside their range.
pub(super) fn check_size(size: usize) -> Result<()> {
    if (2..=4096).contains(&size) {
        return Ok(());
    }
    Err(Error::OutOfRange { name: "neighborhood_size", range: "[2, 4096]", got: size as f64 })
}

fn ascending(a: &(f64, usize), b: &(f64, usize)) -> Ordering {
    a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))
}

/// Rows split into as few neighborhoods of at most `size` rows as possible, of nearly the same size.
pub(super) fn even_size(rows: usize, size: usize) -> usize {
    rows.div_ceil(rows.div_ceil(size.max(1)).max(1)).max(1)
}

/// The singular value decomposition of some rows, without singular values at the level of rounding.
pub(super) struct Directions {
    /// Descending.
    pub(super) singular: Vec<f64>,
    /// Left singular vectors, rows × rank.
    pub(super) left: Array2<f64>,
    /// Right singular vectors, columns × rank.
    pub(super) right: Array2<f64>,
}

impl Directions {
    /// Decomposes `rows − center`. The largest entry of every right singular vector is positive.
    pub(super) fn of(rows: ArrayView2<'_, f64>, center: &[f64]) -> Result<Self> {
        let (n, d) = rows.dim();
        let centered = |i: usize, j: usize| rows[(i, j)] - center[j];
        let largest = (0..n)
            .flat_map(|i| (0..d).map(move |j| (i, j)))
            .fold(0.0_f64, |most, (i, j)| most.max(centered(i, j).abs()));
        if largest == 0.0 {
            let none = |rows: usize| Array2::zeros((rows, 0));
            return Ok(Self { singular: vec![], left: none(n), right: none(d) });
        }
        let svd = Mat::from_fn(n, d, |i, j| centered(i, j) / largest)
            .thin_svd()
            .map_err(|_| Error::NoConvergence { rows: n, columns: d })?;
        let singular: Vec<f64> = svd.S().column_vector().iter().copied().collect();
        let tolerance = singular.first().copied().unwrap_or(0.0) * 1e-13 * n.max(d) as f64;
        let rank = singular.iter().take_while(|&&value| value > tolerance).count();
        let (u, v) = (svd.U(), svd.V());
        let sign = |k: usize| {
            let entries = (0..d).map(|j| v[(j, k)]);
            let most = entries.fold(0.0_f64, |most, x| if x.abs() > most.abs() { x } else { most });
            if most < 0.0 { -1.0 } else { 1.0 }
        };
        let signs: Vec<f64> = (0..rank).map(sign).collect();
        Ok(Self {
            singular: singular[..rank].iter().map(|value| value * largest).collect(),
            left: Array2::from_shape_fn((n, rank), |(i, k)| u[(i, k)] * signs[k]),
            right: Array2::from_shape_fn((d, rank), |(j, k)| v[(j, k)] * signs[k]),
        })
    }
}

/// The mean of every column of a few rows.
pub(super) fn means(rows: ArrayView2<'_, f64>) -> Vec<f64> {
    let count = rows.nrows().max(1) as f64;
    rows.columns().into_iter().map(|column| column.iter().sum::<f64>() / count).collect()
}

/// The intrinsic dimension of rows by their two nearest neighbors.
///
/// With μ the ratio of the distances to the second and to the first neighbor and F its empirical distribution
/// function, −log(1 − F(μ)) = dimension · log μ: the slope of the line through 0 and the smallest nine tenths of
/// all μ. Distinct rows only; of more than 2,048 a sample. 1 if there are too few.
///
/// Facco, d'Errico, Rodriguez, Laio, *Estimating the intrinsic dimension of datasets by a minimal neighborhood
/// information*, 2017, [doi:10.1038/s41598-017-11873-y](https://doi.org/10.1038/s41598-017-11873-y).
pub fn intrinsic_dimension(rows: ArrayView2<'_, f64>) -> Result<f64> {
    // A fixed seed: the dimension does not depend on the seed of the augmentation.
    let mut sample = RowSample::new(SAMPLE, rows.ncols(), Seed(0));
    sample.add(rows, None)?;
    let (rows, _) = sample.rows();
    let log_ratio = |row: usize| {
        let (mut first, mut second) = (f64::INFINITY, f64::INFINITY);
        for other in (0..rows.nrows()).filter(|&other| other != row) {
            let pairs = rows.row(row).into_iter().zip(rows.row(other));
            let distance: f64 = pairs.map(|(a, b)| (a - b) * (a - b)).sum();
            if distance < first {
                (first, second) = (distance, first);
            } else if distance < second {
                second = distance;
            }
        }
        (first > 0.0 && second > first && second.is_finite())
            .then(|| 0.5 * libm::log(second / first))
    };
    let mut logs: Vec<f64> = (0..rows.nrows()).into_par_iter().filter_map(log_ratio).collect();
    logs.sort_unstable_by(f64::total_cmp);
    let count = logs.len() as f64;
    let used = (logs.len() * 9 / 10).min(logs.len().saturating_sub(2));
    let (mut products, mut squares) = (0.0, 0.0);
    for (place, &x) in logs[..used].iter().enumerate() {
        products += x * -libm::log(1.0 - (place + 1) as f64 / count);
        squares += x * x;
    }
    Ok(if squares > 0.0 { products / squares } else { 1.0 })
}
