//! Anchor regression along γ: coefficients, and the errors inside the groups it was fitted on and in groups
//! that it has not seen.

use std::path::Path;

use arrow_array::RecordBatch;
use serde::Serialize;
use windlass::regress::AnchorRegression;
use windlass::{Partition, Samples, Seed};
use windlass_table::{AnchorSource, ClusterCount, Columns, LoadedTable, select};

use crate::preprocessing::weights;
use crate::{Error, Preprocessing, Result, Scaling, groups};

/// Anchor regression for several strengths.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GammaPath {
    /// The numbers that coefficients are for.
    pub names: Vec<String>,
    /// The target.
    pub target: String,
    /// The groups.
    pub groups: usize,
    /// The parts in which groups were left out.
    pub folds: usize,
    /// A row for every strength.
    pub rows: Vec<PathRow>,
    /// Columns that were left out, and why.
    #[serde(skip)]
    pub notes: Vec<String>,
}

/// One strength.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathRow {
    /// The strength.
    pub gamma: f64,
    /// The coefficients, in the units of the columns.
    pub coefficients: Vec<f64>,
    /// The intercept.
    pub intercept: f64,
    /// The root mean squared error on the rows that it was fitted on.
    pub in_groups: f64,
    /// The same on groups left out of the fit, all together.
    pub out_of_groups: f64,
    /// The same on the worst of them.
    pub worst_group: f64,
}

impl GammaPath {
    /// Fits the path, then again without each group (of more than ten, without a tenth of them).
    pub fn fit(
        (frame, path): (&LoadedTable, &Path),
        columns: &Columns,
        (anchors, clusters): (&AnchorSource, ClusterCount),
        gammas: &[f64],
        penalty: f64,
        seed: u64,
    ) -> Result<Self> {
        const MOST_FOLDS: usize = 10;
        if frame.roles.targets().len() > 1 {
            return Err(Error::DoesNotApply { option: "a second --target", to: "regress" });
        }
        let whole = Fit::new((frame, path), &frame.batch, columns)?;
        let partition =
            groups::of(&frame.batch, &whole.samples()?, (anchors, clusters), Seed(seed))?;
        let names = whole.preparation.names();
        let regression = AnchorRegression::new(1.0).penalty(penalty);
        let points = regression.path(&whole.samples()?, partition.as_ref(), gammas)?;
        let filled: Vec<usize> =
            (0..partition.groups()).filter(|&group| partition.sizes()[group] > 0).collect();
        if filled.len() < 2 {
            return Err(Error::OneGroup);
        }
        let folds = filled.len().min(MOST_FOLDS);
        // Squared errors of every strength, by group.
        let mut squares = vec![vec![0.0; partition.groups()]; gammas.len()];
        for fold in 0..folds {
            let held = |row: &usize| {
                let group = partition.labels()[*row] as usize;
                filled
                    .iter()
                    .position(|&other| other == group)
                    .is_some_and(|place| place % folds == fold)
            };
            let (out, kept): (Vec<usize>, Vec<usize>) = (0..partition.rows()).partition(held);
            let fit = Fit::new((frame, path), &select(&frame.batch, &kept), columns)?;
            let labels: Vec<u32> = kept.iter().map(|&row| partition.labels()[row]).collect();
            let own = Partition::of_categories(&labels)?;
            let points = regression.path(&fit.samples()?, &own, gammas)?;
            let test = select(&frame.batch, &out);
            let x = fit.preparation.features(&test, path, 0)?;
            let y = fit.preparation.raw_targets(&test);
            for (squares, point) in squares.iter_mut().zip(&points) {
                let predicted = fit.preparation.unscaled(point.model.predict(x.view())?.view());
                for (place, &row) in out.iter().enumerate() {
                    let group = partition.labels()[row] as usize;
                    squares[group] += (predicted[(place, 0)] - y[(place, 0)]).powi(2);
                }
            }
        }
        let y = whole.preparation.raw_targets(&frame.batch);
        let mut rows = vec![];
        for (point, squares) in points.iter().zip(&squares) {
            let predicted = point.model.predict(whole.x.view())?;
            let predicted = whole.preparation.unscaled(predicted.view());
            let inside: f64 = (&predicted - &y).mapv(|off| off * off).sum();
            let count = partition.rows() as f64;
            let worst = filled.iter().map(|&g| squares[g] / partition.sizes()[g] as f64);
            let (coefficients, intercept) = whole.in_units(point);
            rows.push(PathRow {
                gamma: point.gamma,
                coefficients,
                intercept,
                in_groups: (inside / count).sqrt(),
                out_of_groups: (squares.iter().sum::<f64>() / count).sqrt(),
                worst_group: worst.fold(0.0, f64::max).sqrt(),
            });
        }
        let target = whole.preparation.targets[0].name.clone();
        let (groups, notes) = (filled.len(), whole.notes);
        Ok(Self { names, target, groups, folds, rows, notes })
    }
}

/// Rows that a regression is fitted on.
struct Fit {
    preparation: Preprocessing,
    notes: Vec<String>,
    x: ndarray::Array2<f64>,
    y: ndarray::Array2<f64>,
    weights: Option<Vec<f64>>,
}

impl Fit {
    fn new(
        (frame, path): (&LoadedTable, &Path),
        rows: &RecordBatch,
        columns: &Columns,
    ) -> Result<Self> {
        let scalings = (Scaling::Standard, Scaling::Standard);
        let (preparation, notes) = Preprocessing::fit(frame, rows, columns, scalings)?;
        let x = preparation.features(rows, path, 0)?;
        let y = preparation.scaled_targets(rows);
        let weights = weights(frame, rows, path)?;
        Ok(Self { preparation, notes, x, y, weights })
    }

    fn samples(&self) -> Result<Samples<'_>> {
        let samples = Samples::new(self.x.view(), self.y.view())?;
        Ok(match &self.weights {
            Some(weights) => samples.with_weights(weights)?,
            None => samples,
        })
    }

    /// Coefficients and intercept in the units of the columns.
    fn in_units(&self, point: &windlass::regress::PathPoint) -> (Vec<f64>, f64) {
        let target = self.preparation.targets[0].scale;
        let (b, mut c) = (point.model.coefficients(), point.model.intercept()[0]);
        let (mut at, mut out) = (0, vec![]);
        for input in &self.preparation.inputs {
            for place in 0..input.width() {
                let coefficient = b[(at + place, 0)];
                out.push(match input {
                    crate::Input::Continuous { scale, .. } if place == 0 => {
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
