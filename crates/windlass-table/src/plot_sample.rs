//! Points for a plot of an augmentation: the target against a column, by default the feature most correlated with it.

use arrow_array::{Array, RecordBatch};
use arrow_schema::Schema;
use ndarray::ArrayView1;
use windlass::ParamName;

use crate::column::{find_column, is_numeric, matrix, to_f64, type_name};
use crate::rows::block::TableRows;
use crate::schema::profile::Profile;
use crate::schema::roles::{Role, Roles};
use crate::{Error, Result};

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
    /// An empty sample for a column, by default the feature most correlated with the first target.
    pub(crate) fn new(
        rows: &TableRows<'_>,
        roles: &Roles,
        profile: &Profile,
        copies: usize,
        x: Option<&str>,
    ) -> Result<Self> {
        let (schema, row_count) = (rows.table.schema(), profile.kept);
        let feature = match x {
            Some(name) => find_number(schema, roles, name)?,
            None => best_feature(rows, roles, profile)?,
        };
        let name = |place: usize| schema.field(place).name().clone();
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

/// The column of this name, which must be in the output and numeric.
fn find_number(schema: &Schema, roles: &Roles, name: &str) -> Result<usize> {
    let param = ParamName("plot_x");
    let place = find_column(schema, name, param)?;
    let data_type = schema.field(place).data_type();
    if roles.roles[place] == Role::Excluded {
        return Err(Error::DoesNotApply { param, to: "a column that is excluded" });
    }
    if !is_numeric(data_type) {
        let (column, holds) = (name.to_owned(), type_name(data_type));
        return Err(Error::NotNumeric { column, param, holds, example: String::new() });
    }
    Ok(place)
}

/// The feature with the largest absolute correlation. One with at most two values is drawn only if the
/// others have no more.
fn best_feature(rows: &TableRows<'_>, roles: &Roles, profile: &Profile) -> Result<usize> {
    let values = |&place: &usize| profile.columns[place].levels.unwrap_or(usize::MAX).min(3);
    let most = roles.features.iter().map(values).max().unwrap_or(0);
    let features: Vec<usize> =
        roles.features.iter().copied().filter(|place| values(place) == most).collect();
    let columns: Vec<usize> = features.iter().chain(&roles.targets[..1]).copied().collect();
    let row_count = profile.kept;
    let stride = usize::try_from(row_count.div_ceil(CORRELATION_ROWS)).unwrap_or(usize::MAX).max(1);
    let mut values = ndarray::Array2::zeros((0, columns.len()));
    for block in rows.blocks() {
        let block = matrix(&block?.batch, &columns);
        let some = block.slice(ndarray::s![..;stride, ..]);
        values.append(ndarray::Axis(0), some).expect("the same columns");
    }
    let target = values.column(columns.len() - 1);
    let score = |feature: usize| correlation(values.column(feature), target).map_or(0.0, f64::abs);
    let best = (0..features.len()).map(|feature| (score(feature), feature));
    // Of equal ones the first.
    let best = best.max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    Ok(features[best.map_or(0, |(_, feature)| feature)])
}

/// Pearson's correlation over rows that have both values.
fn correlation(x: ArrayView1<'_, f64>, y: ArrayView1<'_, f64>) -> Option<f64> {
    let pairs = x.iter().zip(y).filter(|(x, y)| !x.is_nan() && !y.is_nan());
    let (x, y): (Vec<f64>, Vec<f64>) = pairs.unzip();
    windlass::metrics::correlation(x[..].into(), y[..].into(), None)
}
