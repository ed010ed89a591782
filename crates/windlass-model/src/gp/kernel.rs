//! The kernel, and covariances of rows.

use faer::Mat;
use windlass::simd::vectorized;

/// Hyperparameters, for standardized columns and targets.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Kernel {
    /// Variance `s²` of the Matérn kernel.
    pub(crate) signal: f64,
    /// Lengths `ℓ`: one for every column, or one for all.
    pub(crate) lengths: Vec<f64>,
    /// Variance `v` of the linear kernel.
    pub(crate) linear: f64,
    /// Variance `σ²` of the noise of a row of weight 1.
    pub(crate) noise: f64,
}

impl Kernel {
    pub(super) fn from_logs(logs: &[f64]) -> Self {
        let values: Vec<f64> = logs.iter().map(|&log| libm::exp(log)).collect();
        Self::from_values(&values)
    }

    /// In the order of [`values`](Self::values).
    pub(super) fn from_values(values: &[f64]) -> Self {
        let last = values.len() - 1;
        let (signal, linear, noise) = (values[0], values[last - 1], values[last]);
        Self { signal, lengths: values[1..last - 1].to_vec(), linear, noise }
    }

    pub(super) fn values(&self) -> Vec<f64> {
        let ends = [self.linear, self.noise];
        [self.signal].iter().chain(&self.lengths).chain(&ends).copied().collect()
    }

    pub(crate) fn length(&self, column: usize) -> f64 {
        self.lengths[if self.lengths.len() == 1 { 0 } else { column }]
    }

    /// `k(z, z)`.
    pub(super) fn at_zero(&self, square_norm: f64) -> f64 {
        self.signal + self.linear * (1.0 + square_norm)
    }
}

/// Of a squared distance in lengths, the Matérn-5/2 kernel, and the factor of a column's squared distance in its
/// derivative by the logarithm of that column's length.
#[inline(always)]
pub(super) fn matern(square: f64) -> (f64, f64) {
    // Farther away both are 0.
    let u = (5.0 * square.min(1e6)).sqrt();
    let decay = libm::exp(-u);
    ((1.0 + u + u * u / 3.0) * decay, 5.0 / 3.0 * (1.0 + u) * decay)
}

/// Standardized rows, column by column, and their noise in proportion to `σ²`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rows {
    pub(super) columns: Vec<f64>,
    pub(super) noise: Vec<f64>,
}

impl Rows {
    pub(super) fn count(&self) -> usize {
        self.noise.len()
    }

    pub(super) fn width(&self) -> usize {
        self.columns.len() / self.count()
    }

    pub(super) fn row(&self, row: usize) -> Vec<f64> {
        row_of(&self.columns, self.count(), row)
    }

    pub(super) fn select(&self, rows: &[usize]) -> Self {
        let pick = |list: &[f64]| rows.iter().map(|&row| list[row]).collect::<Vec<f64>>();
        let columns = self.columns.chunks_exact(self.count()).flat_map(pick).collect();
        Self { columns, noise: pick(&self.noise) }
    }

    /// The columns, each divided by its length.
    pub(super) fn in_lengths(&self, kernel: &Kernel) -> Vec<f64> {
        let mut columns = self.columns.clone();
        for (index, column) in columns.chunks_exact_mut(self.count()).enumerate() {
            let length = kernel.length(index);
            for value in column.iter_mut() {
                *value /= length;
            }
        }
        columns
    }

    /// The covariances of all rows with each other, without noise: the lower triangle.
    pub(super) fn covariances(&self, kernel: &Kernel) -> Mat<f64> {
        let (n, scaled) = (self.count(), self.in_lengths(kernel));
        let mut out = Mat::zeros(n, n);
        for j in 0..n {
            let (near, z) = (row_of(&scaled, n, j), self.row(j));
            kernel_column(&scaled, &near, kernel, &mut out.col_as_slice_mut(j)[j..]);
            add_linear(&self.columns, &z, kernel.linear, &mut out.col_as_slice_mut(j)[j..]);
        }
        out
    }
}

/// A row of a table that is stored column by column.
pub(super) fn row_of(columns: &[f64], count: usize, row: usize) -> Vec<f64> {
    columns.chunks_exact(count).map(|column| column[row]).collect()
}

/// The Matérn kernel between a row and the last rows of a table, as many as `out` has.
fn kernel_column(scaled: &[f64], row: &[f64], kernel: &Kernel, out: &mut [f64]) {
    squares(scaled, row, out);
    for value in out.iter_mut() {
        *value = kernel.signal * matern(*value).0;
    }
}

/// Squared distances between a row and the last rows of a table, as many as `out` has.
pub(super) fn squares(columns: &[f64], row: &[f64], out: &mut [f64]) {
    vectorized(
        out,
        #[inline(always)]
        |out| {
            out.fill(0.0);
            for (column, &value) in columns.chunks_exact(columns.len() / row.len()).zip(row) {
                let rest = &column[column.len() - out.len()..];
                for (sum, other) in out.iter_mut().zip(rest) {
                    *sum += (other - value) * (other - value);
                }
            }
        },
    );
}

/// Adds the linear kernel between a row and the last rows of a table.
pub(super) fn add_linear(columns: &[f64], row: &[f64], variance: f64, out: &mut [f64]) {
    vectorized(
        out,
        #[inline(always)]
        |out| {
            for value in out.iter_mut() {
                *value += variance;
            }
            for (column, &value) in columns.chunks_exact(columns.len() / row.len()).zip(row) {
                let rest = &column[column.len() - out.len()..];
                for (sum, other) in out.iter_mut().zip(rest) {
                    *sum += variance * other * value;
                }
            }
        },
    );
}

/// Covariances between the rows of a process (down) and others, without noise.
pub(super) fn cross_covariances(
    rows: &Rows,
    scaled: &[f64],
    others: &[Vec<f64>],
    kernel: &Kernel,
) -> Mat<f64> {
    let mut out = Mat::zeros(rows.count(), others.len());
    for (index, z) in others.iter().enumerate() {
        let lengths = z.iter().enumerate().map(|(column, z)| z / kernel.length(column));
        let column = out.col_as_slice_mut(index);
        kernel_column(scaled, &lengths.collect::<Vec<f64>>(), kernel, column);
        add_linear(&rows.columns, z, kernel.linear, column);
    }
    out
}
