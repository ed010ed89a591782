//! Rows as models see them.

use std::path::Path;

use arrow_array::RecordBatch;
use ndarray::Array2;
use windlass::{Copies, Plan, Samples, Seed};
use windlass_table::LoadedTable;

use crate::config::PreAugmentConfig;
use crate::preprocessing::weights;
use crate::{Preprocessing, Result, groups};

/// Scaled features and targets, and how much rows count.
pub(crate) struct Numbers {
    pub(crate) x: Array2<f64>,
    pub(crate) y: Array2<f64>,
    pub(crate) weights: Option<Vec<f64>>,
}

impl Numbers {
    /// The numbers of some rows of a table.
    pub(crate) fn of(
        frame: &LoadedTable,
        rows: &RecordBatch,
        path: &Path,
        preparation: &Preprocessing,
    ) -> Result<Self> {
        Ok(Self {
            x: preparation.features(rows, path, 0)?,
            y: preparation.scaled_targets(rows),
            weights: weights(frame, rows, path)?,
        })
    }

    /// The same, as methods take them.
    pub(crate) fn samples(&self) -> Result<Samples<'_>> {
        let samples = Samples::new(self.x.view(), self.y.view())?;
        Ok(match &self.weights {
            Some(weights) => samples.with_weights(weights)?,
            None => samples,
        })
    }

    /// With synthetic rows behind them, each of which counts as much as the row it was made of.
    pub(crate) fn enlarged(
        self,
        rows: &RecordBatch,
        enlarge: &PreAugmentConfig,
        seed: Seed,
    ) -> Result<Self> {
        let fitted = groups::method(rows, &enlarge.method)?.fit(&self.samples()?, seed)?;
        let plan = Plan::draw(fitted.as_ref(), Copies::new(enlarge.copies), seed)?;
        let source = |row: usize| plan.origin(row).map_or(0, |origin| origin.source);
        let of_rows = |weights: Vec<f64>| -> Vec<f64> {
            (0..plan.rows()).map(|row| weights[source(row)]).collect()
        };
        Ok(Self {
            x: plan.features(self.x.view())?,
            y: plan.targets(self.y.view())?,
            weights: self.weights.map(of_rows),
        })
    }
}
