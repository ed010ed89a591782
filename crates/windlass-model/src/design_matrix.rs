//! Rows of a table as the matrices that models are fitted on.

use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use ndarray::{Array2, Axis, concatenate};
use windlass::{Copies, Dataset, ParamName, Plan, Seed};
use windlass_table::LoadedTable;

use crate::config::PreAugmentConfig;
use crate::preprocessing::{Preprocessing, row_weights};
use crate::{Error, Result, groups};

/// A table and its file, for errors.
#[derive(Debug, Clone, Copy)]
pub struct NamedTable<'a> {
    /// The rows.
    pub table: &'a LoadedTable,
    /// The file.
    pub path: &'a Path,
}

impl NamedTable<'_> {
    /// Scaled features and targets of some rows, with the weights in the weight column of this table.
    pub(crate) fn dataset(
        self,
        rows: &RecordBatch,
        preprocessing: &Preprocessing,
    ) -> Result<Dataset> {
        let x = preprocessing.features(rows, self.path, 0)?;
        let y = preprocessing.scaled_targets(rows);
        Ok(Dataset::new(x, y, row_weights(self.table, rows, self.path)?)?)
    }
}

/// A data set whose row weights are multiplied by weights of the density of its target, in the units of the table.
pub(crate) fn density_weighted(dataset: Dataset, y: &Array2<f64>, alpha: f64) -> Result<Dataset> {
    if y.ncols() != 1 {
        let param = ParamName("density_weights");
        return Err(Error::DoesNotApply { param, to: "several targets" });
    }
    let mut weights = windlass::density_weights(&y.iter().copied().collect::<Vec<_>>(), alpha)?;
    for (weight, own) in weights.iter_mut().zip(dataset.weights().into_iter().flatten()) {
        *weight *= own;
    }
    Ok(Dataset::new(dataset.x().clone(), dataset.y().clone(), Some(weights))?)
}

/// A data set followed by synthetic rows, each with the weight of its source row. There are none if the method
/// augments rare rows only and none of the rows is rare.
pub(crate) fn pre_augmented(
    dataset: &Dataset,
    rows: &RecordBatch,
    preprocessing: &Preprocessing,
    config: &PreAugmentConfig,
    seed: Seed,
) -> Result<Dataset> {
    let method = groups::method(rows, &config.method, preprocessing)?;
    let fitted = match method.fit(&dataset.samples(), seed) {
        Err(windlass::Error::NoRareRows { .. }) => return Ok(dataset.clone()),
        fitted => fitted?,
    };
    let copies = if config.copies == 0 { Copies::auto() } else { Copies::new(config.copies) };
    let plan = Plan::draw(fitted.as_ref(), copies, seed)?;
    let source = |row: usize| plan.origin(row).map_or(0, |origin| origin.source);
    let weights = |all: &[f64]| (0..plan.rows()).map(|row| all[source(row)]).collect();
    let (x, y) = (plan.features(dataset.x().view())?, plan.targets(dataset.y().view())?);
    Ok(Dataset::new(x, y, dataset.weights().map(weights))?)
}

/// The data set in the precision of networks.
pub(crate) fn to_f32(dataset: &Dataset) -> Result<Arc<Dataset<f32>>> {
    #[expect(clippy::cast_possible_truncation, reason = "networks have 32 bits")]
    let narrow = |values: &Array2<f64>| values.mapv(|value| value as f32);
    let weights = dataset.weights().map(<[f64]>::to_vec);
    Ok(Arc::new(Dataset::new(narrow(dataset.x()), narrow(dataset.y()), weights)?))
}

/// Matrices with the same columns, one below the other.
pub(crate) fn stacked(parts: &[Array2<f64>]) -> Array2<f64> {
    let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
    concatenate(Axis(0), &views).expect("parts of the same width")
}
