//! Two models of one table, compared by their out-of-fold predictions.

use std::collections::BTreeMap;

use windlass::Seed;
use windlass_model::{OutOfFold, Split};
use windlass_table::LoadedTable;

use crate::Result;
use crate::compare::units;
use crate::statistics::{FoldLosses, Interval, over_folds};

/// The difference between a model and a reference that predict the same held-out rows of a table, in the same order;
/// see [`over_folds`]. Targets have equal shares.
pub fn out_of_fold_difference(
    model: &OutOfFold,
    reference: &OutOfFold,
    split: &Split,
    table: &LoadedTable,
) -> Result<Interval> {
    let units = units(split, table, Seed(0))?;
    let variance = reference.y.var_axis(ndarray::Axis(0), 0.0);
    let loss = |of: &OutOfFold, row: usize| -> f64 {
        let weight = of.weights.as_ref().map_or(1.0, |weights| weights[row]);
        let off = &of.y.row(row) - &of.predicted.row(row);
        weight * off.iter().zip(&variance).map(|(off, variance)| off * off / variance).sum::<f64>()
    };
    // By fold and unit, the sums of the model and of the reference.
    let mut sums: BTreeMap<u32, BTreeMap<usize, (f64, f64)>> = BTreeMap::new();
    for (place, (&fold, &row)) in reference.folds.iter().zip(&reference.rows).enumerate() {
        let unit = usize::try_from(row).ok().and_then(|row| units.get(row).copied());
        let sum = sums.entry(fold).or_default().entry(unit.unwrap_or(place)).or_default();
        *sum = (sum.0 + loss(model, place), sum.1 + loss(reference, place));
    }
    let fold = |sums: BTreeMap<usize, (f64, f64)>| FoldLosses {
        repeat: 0,
        units: sums.keys().copied().collect(),
        method: sums.values().map(|sum| sum.0).collect(),
        reference: sums.values().map(|sum| sum.1).collect(),
    };
    Ok(over_folds(&sums.into_values().map(fold).collect::<Vec<_>>()))
}
