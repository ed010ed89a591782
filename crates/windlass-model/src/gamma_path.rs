//! Anchor regression along γ: coefficients, and errors on the groups that it was fitted on and on held-out
//! groups.

use arrow_array::RecordBatch;
use serde::Serialize;
use windlass::regress::AnchorRegression;
use windlass::{Dataset, Partition, Seed};
use windlass_table::{AnchorSource, ClusterCount, Columns, select};

use crate::design_matrix::NamedTable;
use crate::preprocessing::{ColumnNote, Input, Preprocessing, Scaling};
use crate::split::originals;
use crate::{Error, Result, groups};

/// Settings of a [`GammaPath`].
#[derive(Debug, Clone, PartialEq)]
pub struct GammaPathConfig {
    /// The roles of columns.
    pub columns: Columns,
    /// The source of the groups of rows.
    pub anchors: AnchorSource,
    /// Number of groups, if they are found by k-means or binning.
    pub clusters: ClusterCount,
    /// The strengths γ.
    pub gammas: Vec<f64>,
    /// The penalty on squared coefficients.
    pub penalty: f64,
    /// The seed of k-means.
    pub seed: u64,
}

/// Anchor regression for several strengths γ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GammaPath {
    /// The features that coefficients belong to.
    pub names: Vec<String>,
    /// The target.
    pub target: String,
    /// Number of groups.
    pub groups: usize,
    /// Number of folds in which groups were held out.
    pub folds: usize,
    /// A row for every γ.
    pub rows: Vec<PathRow>,
    /// Columns that were omitted, and why.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// The regression for one γ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathRow {
    /// The strength γ.
    pub gamma: f64,
    /// The coefficients, in the units of the columns.
    pub coefficients: Vec<f64>,
    /// The intercept.
    pub intercept: f64,
    /// RMSE on the rows that it was fitted on.
    pub in_groups: f64,
    /// RMSE on held-out groups, all together.
    pub out_of_groups: f64,
    /// RMSE on the worst held-out group.
    pub worst_group: f64,
}

impl GammaPath {
    /// Fits the path, then once more per fold; groups are held out one by one, or in ten folds if there are
    /// more.
    pub fn fit(table: NamedTable<'_>, config: &GammaPathConfig) -> Result<Self> {
        const MAX_FOLDS: usize = 10;
        let GammaPathConfig { columns, anchors, clusters, gammas, penalty, seed } = config;
        let batch = &originals(&table.table.batch);
        let synthetic = table.table.batch.num_rows() - batch.num_rows();
        if table.table.roles.targets().len() > 1 {
            return Err(Error::SecondTarget);
        }
        let whole = FitRows::new(table, batch, columns)?;
        let samples = whole.dataset.samples();
        let partition = groups::find(batch, &samples, anchors, *clusters, Seed(*seed))?;
        let names = whole.preprocessing.names();
        let regression = AnchorRegression::new(1.0).penalty(*penalty);
        let points = regression.path(&samples, partition.as_ref(), gammas)?;
        let filled: Vec<usize> =
            (0..partition.groups()).filter(|&group| partition.sizes()[group] > 0).collect();
        if filled.len() < 2 {
            return Err(Error::OneGroup);
        }
        let folds = filled.len().min(MAX_FOLDS);
        // Sums of squared errors for every γ, by group.
        let mut squares = vec![vec![0.0; partition.groups()]; gammas.len()];
        for fold in 0..folds {
            let held = |row: &usize| {
                let group = partition.labels()[*row] as usize;
                filled
                    .iter()
                    .position(|&other| other == group)
                    .is_some_and(|index| index % folds == fold)
            };
            let (held_out, train): (Vec<usize>, Vec<usize>) = (0..partition.rows()).partition(held);
            let fit = FitRows::new(table, &select(batch, &train), columns)?;
            let labels: Vec<u32> = train.iter().map(|&row| partition.labels()[row]).collect();
            let own = Partition::of_categories(&labels)?;
            let points = regression.path(&fit.dataset.samples(), &own, gammas)?;
            let test = select(batch, &held_out);
            let x = fit.preprocessing.features(&test, table.path, 0)?;
            let y = fit.preprocessing.raw_targets(&test);
            for (squares, point) in squares.iter_mut().zip(&points) {
                let predicted = fit.preprocessing.unscale(point.model.predict(x.view())?.view());
                for (index, &row) in held_out.iter().enumerate() {
                    let group = partition.labels()[row] as usize;
                    squares[group] += (predicted[(index, 0)] - y[(index, 0)]).powi(2);
                }
            }
        }
        let y = whole.preprocessing.raw_targets(batch);
        let mut rows = vec![];
        for (point, squares) in points.iter().zip(&squares) {
            let predicted = point.model.predict(whole.dataset.x().view())?;
            let predicted = whole.preprocessing.unscale(predicted.view());
            let inside: f64 = (&predicted - &y).mapv(|off| off * off).sum();
            let count = partition.rows() as f64;
            let worst = filled.iter().map(|&g| squares[g] / partition.sizes()[g] as f64);
            let (coefficients, intercept) = whole.coefficients_in_units(point);
            rows.push(PathRow {
                gamma: point.gamma,
                coefficients,
                intercept,
                in_groups: (inside / count).sqrt(),
                out_of_groups: (squares.iter().sum::<f64>() / count).sqrt(),
                worst_group: worst.fold(0.0, f64::max).sqrt(),
            });
        }
        let target = whole.preprocessing.targets[0].name.clone();
        let (groups, mut notes) = (filled.len(), ColumnNote::lines(whole.notes));
        if synthetic > 0 {
            notes.push(format!("{synthetic} synthetic rows are ignored"));
        }
        Ok(Self { names, target, groups, folds, rows, notes })
    }
}

/// Rows that a regression is fitted on.
struct FitRows {
    preprocessing: Preprocessing,
    notes: Vec<ColumnNote>,
    dataset: Dataset,
}

impl FitRows {
    fn new(table: NamedTable<'_>, rows: &RecordBatch, columns: &Columns) -> Result<Self> {
        let scaling = Scaling::Standard;
        let (preprocessing, notes) =
            Preprocessing::fit(table.table, rows, columns, scaling, scaling)?;
        let dataset = table.dataset(rows, &preprocessing)?;
        Ok(Self { preprocessing, notes, dataset })
    }

    /// Coefficients and intercept in the units of the columns.
    fn coefficients_in_units(&self, point: &windlass::regress::PathPoint) -> (Vec<f64>, f64) {
        let target = self.preprocessing.targets[0].scale;
        let (b, mut c) = (point.model.coefficients(), point.model.intercept()[0]);
        let (mut at, mut out) = (0, vec![]);
        for input in &self.preprocessing.inputs {
            for index in 0..input.width() {
                let coefficient = b[(at + index, 0)];
                out.push(match input {
                    Input::Continuous { scale, .. } if index == 0 => {
                        c -= coefficient * scale.offset / scale.scale;
                        coefficient * target.scale / scale.scale
                    }
                    _ => coefficient * target.scale,
                });
            }
            at += input.width();
        }
        (out, c * target.scale + target.offset)
    }
}
