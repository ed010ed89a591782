//! Permutation importance: how much the error on held-out rows grows when a column is shuffled.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{RecordBatch, UInt64Array};
use arrow_select::take::take;
use rayon::prelude::*;
use windlass::{Seed, Stream};
use windlass_table::select;

use crate::Result;
use crate::design_matrix::stacked;
use crate::metadata::Importance;
use crate::metrics::Metrics;
use crate::model::Model;

/// Held-out rows of a model, whose fold members were not trained on them.
pub(crate) struct HeldOutRows<'a> {
    pub(crate) model: &'a Model,
    /// The held-out rows of every fold.
    pub(crate) rows: &'a [RecordBatch],
}

impl HeldOutRows<'_> {
    /// The importance of every column, the largest first. Of a large fold, rows at equal distances are used.
    pub(crate) fn importance(&self, seed: Seed) -> Result<Vec<Importance>> {
        const MAX_ROWS: usize = 2_000;
        let sample = |rows: &RecordBatch| {
            let step = rows.num_rows().div_ceil(MAX_ROWS).max(1);
            select(rows, &(0..rows.num_rows()).step_by(step).collect::<Vec<_>>())
        };
        let rows: Vec<RecordBatch> = self.rows.iter().map(sample).collect();
        let mut columns: Vec<&str> = vec![];
        let members = self.model.all_members();
        for input in members.flat_map(|member| &member.preprocessing.inputs) {
            if !columns.contains(&input.name()) {
                columns.push(input.name());
            }
        }
        let plain = self.rmse(&rows)?;
        let importance = |(number, column): (usize, &&str)| -> Result<Importance> {
            let mut random = seed.shared(Stream::Split, (1 << 32) + number as u64);
            let mut shuffled = vec![];
            for rows in &rows {
                let mut order: Vec<usize> = (0..rows.num_rows()).collect();
                random.shuffle(&mut order);
                shuffled.push(with_column_in_order(rows, column, &order));
            }
            let rmse_increase = self.rmse(&shuffled)? - plain;
            Ok(Importance { column: (*column).to_owned(), rmse_increase })
        };
        let mut all =
            columns.par_iter().enumerate().map(importance).collect::<Result<Vec<Importance>>>()?;
        all.sort_by(|a, b| b.rmse_increase.total_cmp(&a.rmse_increase));
        Ok(all)
    }

    fn rmse(&self, rows: &[RecordBatch]) -> Result<f64> {
        let (mut y, mut predicted) = (vec![], vec![]);
        for (fold, rows) in rows.iter().enumerate() {
            y.push(self.model.members[0].preprocessing.raw_targets(rows));
            predicted.push(self.model.predict_fold(fold, rows, Path::new("-"), 0)?);
        }
        Ok(Metrics::compute(&stacked(&y), &stacked(&predicted), None).rmse)
    }
}

fn with_column_in_order(rows: &RecordBatch, column: &str, order: &[usize]) -> RecordBatch {
    let Ok(place) = rows.schema().index_of(column) else { return rows.clone() };
    let order = UInt64Array::from_iter_values(order.iter().map(|&row| row as u64));
    let mut columns = rows.columns().to_vec();
    columns[place] = take(&columns[place], &order, None).expect("rows of the batch");
    RecordBatch::try_new(Arc::clone(&rows.schema()), columns).expect("the same types")
}
