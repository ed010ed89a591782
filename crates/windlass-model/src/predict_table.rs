//! Predictions for the rows of a table, as columns that are added to it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use ndarray::{Array2, ArrayView1};
use windlass_table::{Table, is_numeric, to_f64};

use crate::interval::{Intervals, PredictionBounds};
use crate::model::{Model, Predictions};
use crate::preprocessing::Input;
use crate::{Error, Result};

/// Predicts the rows of a table block by block.
#[derive(Debug)]
pub struct TablePredictor<'a> {
    model: &'a Model,
    table: &'a Table,
    intervals: Option<Intervals<'a>>,
    added: Vec<String>,
    schema: SchemaRef,
}

/// The predictions for a block of rows.
#[derive(Debug)]
pub struct PredictedBlock {
    /// The predictions.
    pub predictions: Predictions,
    /// The bounds of prediction intervals, if requested.
    pub bounds: Option<PredictionBounds>,
}

impl PredictedBlock {
    /// The values of the added columns, in the order of [`TablePredictor::added`].
    #[must_use]
    pub fn values(&self) -> Vec<&Array2<f64>> {
        let bounds = self.bounds.as_ref().map(|bounds| [&bounds.low, &bounds.high]);
        [&self.predictions.mean]
            .into_iter()
            .chain(&self.predictions.std)
            .chain(bounds.into_iter().flatten())
            .collect()
    }
}

impl<'a> TablePredictor<'a> {
    /// With prediction intervals of this coverage, if given. A column of the table that has the name of an added one
    /// is an error.
    pub fn new(model: &'a Model, table: &'a Table, level: Option<f64>) -> Result<Self> {
        let intervals = level.map(|level| model.intervals(level)).transpose()?;
        let added = added_columns(model, intervals.is_some());
        let mut fields: Vec<Field> =
            table.schema().fields().iter().map(|field| field.as_ref().clone()).collect();
        for name in &added {
            if table.schema().index_of(name).is_ok() {
                let (column, path) = (name.clone(), table.path().to_owned());
                return Err(Error::ColumnTaken { column, path });
            }
            // `prediction_low` of `y` is the name of the prediction of `low_y`.
            if fields.iter().any(|field| field.name() == name) {
                return Err(Error::SamePredictions { column: name.clone() });
            }
            fields.push(Field::new(name, DataType::Float64, false));
        }
        let schema = Schema::new_with_metadata(fields, table.schema().metadata().clone());
        Ok(Self { model, table, intervals, added, schema: Arc::new(schema) })
    }

    /// The names of the added columns: `prediction`, and `prediction_sd` of ensembles, `prediction_low` and
    /// `prediction_high` of intervals; with several targets, one of each per target.
    #[must_use]
    pub fn added(&self) -> &[String] {
        &self.added
    }

    /// The columns of the table and those that are added.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Predicts a block of the table; `first` is the number of its first row.
    pub fn predict(&self, batch: &RecordBatch, first: u64) -> Result<PredictedBlock> {
        let path = self.table.path();
        let predict = || {
            let predictions = self.model.predict(batch, path, first)?;
            let bounds = match &self.intervals {
                Some(intervals) => Some(intervals.bounds(batch, path, first, &predictions)?),
                None => None,
            };
            Ok(PredictedBlock { predictions, bounds })
        };
        predict().map_err(|error: Error| error.locate(self.table.places()))
    }

    /// A block with the added columns.
    #[must_use]
    pub fn with_columns(&self, batch: &RecordBatch, predicted: &PredictedBlock) -> RecordBatch {
        let mut columns = batch.columns().to_vec();
        let column =
            |column: ArrayView1<'_, f64>| Arc::new(Float64Array::from(column.to_vec())) as ArrayRef;
        for values in predicted.values() {
            columns.extend(values.columns().into_iter().map(column));
        }
        RecordBatch::try_new(Arc::clone(&self.schema), columns).expect("columns of the schema")
    }

    /// A note about columns that the model does not use, if there are any: a name may be misspelled.
    #[must_use]
    pub fn unused_columns(&self) -> Option<String> {
        const SHOWN: usize = 8;
        let members = &self.model.metadata().members;
        let known: BTreeSet<&str> = members
            .iter()
            .flat_map(|member| {
                let inputs = member.preprocessing.inputs.iter().map(Input::name);
                inputs.chain(member.preprocessing.targets.iter().map(|target| target.name.as_str()))
            })
            .collect();
        let fields = self.table.schema().fields().iter().map(|field| field.name());
        let extra: Vec<String> = fields
            .filter(|name| !known.contains(name.as_str()))
            .map(|name| format!("`{name}`"))
            .collect();
        let more = if extra.len() > SHOWN { ", …" } else { "" };
        let shown = extra.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
        (!extra.is_empty()).then(|| format!("columns not used by the model: {shown}{more}"))
    }
}

fn added_columns(model: &Model, intervals: bool) -> Vec<String> {
    let targets = model.targets();
    let names = |what: &str| -> Vec<String> {
        match &targets[..] {
            [_] => vec![what.to_owned()],
            several => several.iter().map(|target| format!("{what}_{target}")).collect(),
        }
    };
    let mut added = names("prediction");
    if model.member_count() > 1 {
        added.extend(names("prediction_sd"));
    }
    if intervals {
        added.extend(names("prediction_low"));
        added.extend(names("prediction_high"));
    }
    added
}

/// Counts of rows unlike the training rows, by column.
#[derive(Debug, Default)]
pub struct UnusualRows {
    rows: u64,
    unknown: BTreeMap<String, u64>,
    outside: BTreeMap<String, u64>,
    missing: BTreeMap<String, u64>,
}

impl UnusualRows {
    /// Counts the rows of a block.
    pub fn add(&mut self, model: &Model, batch: &RecordBatch) {
        self.rows += batch.num_rows() as u64;
        for (column, count) in model.unknown_categories(batch) {
            *self.unknown.entry(column).or_default() += count;
        }
        for (column, count) in model.outside_range(batch) {
            *self.outside.entry(column).or_default() += count;
        }
        let members = &model.metadata().members;
        let inputs = members.iter().flat_map(|member| &member.preprocessing.inputs);
        let names: BTreeSet<&str> = inputs.map(Input::name).collect();
        for name in names {
            let Some(column) = batch.column_by_name(name) else { continue };
            let missing = if is_numeric(column.data_type()) {
                to_f64(column).null_count()
            } else {
                column.logical_null_count()
            };
            *self.missing.entry(name.to_owned()).or_default() += missing as u64;
        }
    }

    /// A sentence for each column.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let have = |count: u64| if count == 1 { "row has" } else { "rows have" };
        let all_missing = self.missing.iter().filter(|(_, missing)| **missing == self.rows);
        let all_missing =
            all_missing.map(|(column, _)| format!("`{column}` is missing in every row"));
        let unknown = self.unknown.iter().map(|(column, &count)| {
            format!("{count} {} a value of `{column}` not seen in training", have(count))
        });
        let outside = self.outside.iter().map(|(column, &count)| {
            let have = have(count);
            format!("{count} {have} a value of `{column}` outside the range of the training rows")
        });
        all_missing.chain(unknown).chain(outside).collect()
    }
}
