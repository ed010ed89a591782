//! Points for a plot of an augmentation: the target against the feature that correlates best with
//! it.

use arrow_array::{Array, RecordBatch};
use ndarray::ArrayView1;

use crate::Result;
use crate::column::{matrix, to_f64};
use crate::rows::block::TableRows;
use crate::schema::roles::Roles;

/// A row of the plot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlotPoint {
    /// The feature.
    pub x: f64,
    /// The target.
    pub y: f64,
    /// The group, if the method has groups.
    pub group: Option<u32>,
}

/// Rows sampled for a plot while they are written.
#[derive(Debug, Clone)]
pub struct PlotSample {
    /// The name of the feature.
    pub x_name: String,
    /// The name of the first target.
    pub y_name: String,
    /// Every `stride`-th row is sampled.
    pub stride: usize,
    /// Original rows.
    pub originals: Vec<PlotPoint>,
    /// Synthetic rows.
    pub synthetic: Vec<PlotPoint>,
}

/// Maximum number of points, for originals and synthetic rows each.
const MAX_POINTS: u64 = 1 << 18;
/// Number of rows for the correlations.
const CORRELATION_ROWS: u64 = 1 << 16;

impl PlotSample {
    /// Empty, with the feature that correlates best with the first target.
    pub(crate) fn new(
        rows: &TableRows<'_>,
        roles: &Roles,
        row_count: u64,
        copies: usize,
    ) -> Result<Self> {
        let feature = roles.features[best_feature(rows, roles, row_count)?];
        let name = |place: usize| rows.table.schema().field(place).name().clone();
        let synthetic = row_count.saturating_mul(copies as u64);
        let stride = usize::try_from(synthetic.div_ceil(MAX_POINTS)).unwrap_or(usize::MAX).max(1);
        Ok(Self {
            x_name: name(feature),
            y_name: name(roles.targets[0]),
            stride,
            originals: vec![],
            synthetic: vec![],
        })
    }

    /// Samples rows of the output, with their groups.
    pub(crate) fn add(&mut self, copy: usize, batch: &RecordBatch, groups: Option<&[u32]>) {
        let column = |name| batch.column_by_name(name).map(to_f64);
        let (Some(x), Some(y)) = (column(&self.x_name), column(&self.y_name)) else { return };
        let points = if copy == 0 { &mut self.originals } else { &mut self.synthetic };
        for row in (0..batch.num_rows()).step_by(self.stride) {
            if x.is_valid(row) && y.is_valid(row) {
                let group = groups.map(|groups| groups[row]);
                points.push(PlotPoint { x: x.value(row), y: y.value(row), group });
            }
        }
    }
}

/// The index among the features of the one with the largest absolute correlation.
fn best_feature(rows: &TableRows<'_>, roles: &Roles, row_count: u64) -> Result<usize> {
    let columns: Vec<usize> = roles.features.iter().chain(&roles.targets[..1]).copied().collect();
    let stride = usize::try_from(row_count.div_ceil(CORRELATION_ROWS)).unwrap_or(usize::MAX).max(1);
    let mut values = ndarray::Array2::zeros((0, columns.len()));
    for block in rows.blocks() {
        let block = matrix(&block?.batch, &columns);
        let some = block.slice(ndarray::s![..;stride, ..]);
        values.append(ndarray::Axis(0), some).expect("the same columns");
    }
    let target = values.column(columns.len() - 1);
    let score = |feature: usize| correlation(values.column(feature), target).map_or(0.0, f64::abs);
    let best = (0..roles.features.len()).map(|feature| (score(feature), feature));
    // Of equal ones the first.
    Ok(best.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).map_or(0, |(_, place)| place))
}

/// Pearson's correlation over rows that have both values.
fn correlation(x: ArrayView1<'_, f64>, y: ArrayView1<'_, f64>) -> Option<f64> {
    let pairs = x.iter().zip(y).filter(|(x, y)| !x.is_nan() && !y.is_nan());
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.unzip();
    windlass::metrics::correlation(x[..].into(), y[..].into(), None)
}
