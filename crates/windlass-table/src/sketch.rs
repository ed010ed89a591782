//! What a picture of an augmentation shows: the target against the feature that goes with it best.

use arrow_array::{Array, RecordBatch};
use ndarray::ArrayView1;

use crate::column::numbers;
use crate::profile::matrix;
use crate::rows::Rows;
use crate::{Augmentation, Result};

/// A row of the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlotPoint {
    /// The feature.
    pub x: f64,
    /// The target.
    pub y: f64,
    /// The group, if the method has groups.
    pub group: Option<u32>,
}

/// Rows gathered for a picture while they are written.
#[derive(Debug, Clone)]
pub struct PlotSample {
    /// The feature's name.
    pub x_name: String,
    /// The first target's name.
    pub y_name: String,
    /// Of how many rows one is kept.
    pub stride: usize,
    /// Original rows.
    pub originals: Vec<PlotPoint>,
    /// Synthetic rows.
    pub synthetic: Vec<PlotPoint>,
}

/// Rows of a kind that are kept.
const MOST: u64 = 1 << 18;
/// Rows that correlations are taken over.
const LOOKED_AT: u64 = 1 << 16;

impl Augmentation<'_> {
    /// An empty sketch, with the feature that correlates best with the first target.
    pub fn sketch(&self) -> Result<PlotSample> {
        let (roles, profile) = (self.roles(), self.profile());
        let feature = roles.features[best_feature(self.rows(), roles, profile.kept)?];
        let name = |place: usize| self.rows().table.schema().field(place).name().clone();
        let synthetic = profile.kept.saturating_mul(self.copies() as u64);
        let stride = usize::try_from(synthetic.div_ceil(MOST)).unwrap_or(usize::MAX).max(1);
        Ok(PlotSample {
            x_name: name(feature),
            y_name: name(roles.targets[0]),
            stride,
            originals: vec![],
            synthetic: vec![],
        })
    }
}

impl PlotSample {
    /// Takes rows of a batch of the output, with their groups.
    pub(crate) fn add(&mut self, copy: usize, batch: &RecordBatch, groups: Option<&[u32]>) {
        let column = |name| batch.column_by_name(name).map(numbers);
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

/// The place among the features of the one with the largest correlation, in size.
fn best_feature(rows: &Rows<'_>, roles: &crate::Roles, kept: u64) -> Result<usize> {
    let columns: Vec<usize> = roles.features.iter().chain(&roles.targets[..1]).copied().collect();
    let stride = usize::try_from(kept.div_ceil(LOOKED_AT)).unwrap_or(usize::MAX).max(1);
    let mut values = ndarray::Array2::zeros((0, columns.len()));
    for block in rows.blocks() {
        let block = matrix(&block?.batch, &columns);
        let some = block.slice(ndarray::s![..;stride, ..]);
        values.append(ndarray::Axis(0), some).expect("the same columns");
    }
    let target = values.column(columns.len() - 1);
    let score = |feature: usize| correlation(values.column(feature), target).map_or(0.0, f64::abs);
    let best = (0..roles.features.len()).map(|feature| (score(feature), feature));
    // Of equals the first.
    Ok(best.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1))).map_or(0, |(_, place)| place))
}

/// Pearson's correlation over rows that have both values.
fn correlation(x: ArrayView1<'_, f64>, y: ArrayView1<'_, f64>) -> Option<f64> {
    let pairs = x.iter().zip(y).filter(|(x, y)| !x.is_nan() && !y.is_nan());
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.unzip();
    windlass::metrics::correlation(x[..].into(), y[..].into(), None)
}
