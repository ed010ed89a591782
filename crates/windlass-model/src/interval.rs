//! Prediction intervals from the residuals of held-out rows: CV+ (Barber, Candès, Ramdas, Tibshirani, *Predictive
//! inference with the jackknife+*, 2021, [doi:10.1214/20-AOS1965](https://doi.org/10.1214/20-AOS1965)).
//!
//! Held-out row i has the residual `rᵢ = |yᵢ − ŷᵢ|`, and `μᵢ(x)` is the prediction for a new row x by the members
//! that were not trained on i. With n held-out rows and level 1 − α, the interval is
//!
//! ```text
//! [ the ⌊α(n + 1)⌋-th smallest of μᵢ(x) − rᵢ,  the ⌈(1 − α)(n + 1)⌉-th smallest of μᵢ(x) + rᵢ ]
//! ```
//!
//! widened to contain the prediction itself. For random rows its coverage is at least about 1 − 2α for any model and
//! distribution, and 1 − α in practice. Coverage is an average over all rows: if the noise differs between rows, it
//! is
//! too high for some and too low for others. By group, domain or time, it holds if new groups, domains or times
//! differ
//! from those in the table as those differ from each other.
//!
//! Without the members of the folds ([`Model::drop_fold_members`], files of earlier versions have none) `μᵢ(x)` is
//! the prediction itself.

use std::path::Path;

use arrow_array::RecordBatch;
use ndarray::{Array2, Axis};

use crate::model::{Model, Predictions};
use crate::{Error, Result};

/// Lower and upper bounds, a column for every target.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictionBounds {
    /// The lower bounds.
    pub low: Array2<f64>,
    /// The upper bounds.
    pub high: Array2<f64>,
}

/// Prediction intervals of a model at some level.
#[derive(Debug)]
pub struct Intervals<'a> {
    model: &'a Model,
    /// For every target and fold, the sorted residuals.
    pub(crate) residuals: Vec<Vec<Vec<f64>>>,
    /// The rank, from 0, of the upper bound among all residuals of a target; that of the lower one is as far from
    /// the end.
    pub(crate) rank: usize,
}

impl Model {
    /// Prediction intervals with this coverage.
    pub fn intervals(&self, level: f64) -> Result<Intervals<'_>> {
        if !(level > 0.0 && level < 1.0) {
            let (name, range, got) = ("interval", "(0, 1)", level);
            return Err(windlass::Error::OutOfRange { name, range, got }.into());
        }
        let out_of_fold = self.out_of_fold().ok_or(Error::NothingHeldOut)?;
        let by_fold = self.has_fold_members();
        let folds = match out_of_fold.folds.iter().max() {
            Some(&last) if by_fold => last as usize + 1,
            _ => 1,
        };
        let mut residuals = vec![vec![vec![]; folds]; out_of_fold.y.ncols()];
        let off = (&out_of_fold.y - &out_of_fold.predicted).mapv(f64::abs);
        for (row, &fold) in off.rows().into_iter().zip(&out_of_fold.folds) {
            for (residuals, &off) in residuals.iter_mut().zip(row) {
                residuals[if by_fold { fold as usize } else { 0 }].push(off);
            }
        }
        let held_out = out_of_fold.folds.len();
        for fold in residuals.iter_mut().flatten() {
            fold.sort_by(f64::total_cmp);
            thin(fold, held_out);
        }
        let count: usize = residuals[0].iter().map(Vec::len).sum();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank")]
        let rank = (level * (count + 1) as f64 - 1e-9).ceil().max(1.0) as usize;
        if rank > count {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
            let needed = (level / (1.0 - level) - 1e-9).ceil() as usize;
            return Err(Error::FewHeldOut { percent: 100.0 * level, rows: held_out, needed });
        }
        Ok(Intervals { model: self, residuals, rank: rank - 1 })
    }
}

/// Leaves about [`MOST`] residuals of all folds: evenly spaced ones of each.
fn thin(sorted: &mut Vec<f64>, of_all_folds: usize) {
    /// More residuals hardly change the bounds.
    const MOST: usize = 4_000;
    let step = of_all_folds.div_ceil(MOST);
    if step > 1 {
        *sorted = sorted.iter().skip(step / 2).step_by(step).copied().collect();
    }
}

impl Intervals<'_> {
    /// The bounds for rows with these predictions; `first` is the number of the first row, for error messages.
    pub fn bounds(
        &self,
        batch: &RecordBatch,
        path: &Path,
        first: u64,
        predictions: &Predictions,
    ) -> Result<PredictionBounds> {
        let folds = self.residuals[0].len();
        let centers = if self.model.has_fold_members() {
            let of_fold = |fold| self.model.predict_fold(fold, batch, path, first);
            (0..folds).map(of_fold).collect::<Result<Vec<_>>>()?
        } else {
            vec![predictions.mean.clone()]
        };
        let (mut low, mut high) = (predictions.mean.clone(), predictions.mean.clone());
        let mut values = vec![];
        for (target, residuals) in self.residuals.iter().enumerate() {
            let mut low = low.index_axis_mut(Axis(1), target);
            let mut high = high.index_axis_mut(Axis(1), target);
            for row in 0..batch.num_rows() {
                // The bounds on one side of the centers; those on the other are the same, mirrored.
                let mut bound = |sign: f64| {
                    values.clear();
                    for (center, residuals) in centers.iter().zip(residuals) {
                        let center = sign * center[(row, target)];
                        values.extend(residuals.iter().map(|residual| center + residual));
                    }
                    sign * *values.select_nth_unstable_by(self.rank, f64::total_cmp).1
                };
                low[row] = low[row].min(bound(-1.0));
                high[row] = high[row].max(bound(1.0));
            }
        }
        Ok(PredictionBounds { low, high })
    }
}
