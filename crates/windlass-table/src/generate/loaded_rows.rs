//! The moved columns of all rows in memory.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{Array as _, ArrayRef, Int64Array, StringArray};
use arrow_schema::DataType;
use serde::{Deserialize, Serialize};

use crate::column::{matrix, row_weights};
use crate::rows::block::Block;
use crate::{Error, Result};

/// The moved columns of the rows of a table.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct LoadedRows {
    width: usize,
    /// Row-major; missing values are NaN.
    pub(crate) values: Vec<f64>,
    pub(crate) weights: Option<Vec<f64>>,
    /// The row identifiers, if not row numbers.
    pub(crate) ids: Option<Vec<u64>>,
    /// The values of `windlass_source`, if not the indices of the rows.
    pub(crate) sources: Option<RowLabels>,
}

/// Values of `windlass_source`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum RowLabels {
    Numbers(Vec<i64>),
    Text(Vec<String>),
}

impl LoadedRows {
    pub(crate) fn new(moved: usize) -> Self {
        Self { width: moved, values: vec![], weights: None, ids: None, sources: None }
    }

    /// Memory for rows: as they are read and stored, pairs of them, a copy, and the table itself.
    pub(crate) fn memory_size(rows: u64, moved: usize) -> u64 {
        rows.saturating_mul(moved as u64 * 8 * 6)
    }

    /// Adds the rows of a block. `row_numbers` are stored if rows are dropped, so that indices
    /// differ from them.
    pub(crate) fn add(
        &mut self,
        block: &Block,
        moved: &[usize],
        weight: Option<usize>,
        row_numbers: bool,
    ) {
        self.values.extend(matrix(&block.batch, moved));
        if let Some(more) = row_weights(&block.batch, weight) {
            self.weights.get_or_insert_default().extend(more);
        }
        if let Some(ids) = &block.row_ids {
            self.ids.get_or_insert_default().extend(&ids.ids);
            self.add_sources(RowLabels::from_array(&ids.sources));
        } else if row_numbers {
            self.add_sources(RowLabels::Numbers(block.signed_row_numbers()));
        }
    }

    fn add_sources(&mut self, more: RowLabels) {
        match (&mut self.sources, more) {
            (Some(RowLabels::Numbers(all)), RowLabels::Numbers(more)) => all.extend(more),
            (Some(RowLabels::Text(all)), RowLabels::Text(more)) => all.extend(more),
            (sources, more) => {
                sources.get_or_insert(more);
            }
        }
    }

    /// Adds other rows.
    pub(crate) fn merge(&mut self, other: Self) {
        self.values.extend(other.values);
        if let Some(more) = other.weights {
            self.weights.get_or_insert_default().extend(more);
        }
        if let Some(more) = other.ids {
            self.ids.get_or_insert_default().extend(more);
        }
        if let Some(more) = other.sources {
            self.add_sources(more);
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.values.len() / self.width.max(1)
    }

    /// Sorts the rows by identifier, so that the result does not depend on the order in which they
    /// were added. Equal values of the `key` column are an error.
    pub(crate) fn sort(&mut self, key: Option<&str>) -> Result<()> {
        let Some(ids) = &self.ids else { return Ok(()) };
        let mut order: Vec<usize> = (0..ids.len()).collect();
        order.sort_by_key(|&row| ids[row]);
        let (values, width) = (&self.values, self.width);
        let values = order.iter().flat_map(|&row| &values[row * width..(row + 1) * width]);
        let sorted = Self {
            width,
            values: values.copied().collect(),
            weights: self.weights.as_ref().map(|all| order.iter().map(|&row| all[row]).collect()),
            ids: Some(order.iter().map(|&row| ids[row]).collect()),
            sources: self.sources.as_ref().map(|sources| sources.select(&order)),
        };
        *self = sorted;
        let ids = self.ids.as_ref().expect("sorted by identifier");
        if let Some(row) = ids.windows(2).position(|pair| pair[0] == pair[1])
            && let (Some(column), Some(sources)) = (key, &self.sources)
        {
            let (column, key) = (column.to_owned(), sources.describe(row));
            return Err(Error::SameKey { column, key });
        }
        Ok(())
    }
}

impl RowLabels {
    fn from_array(sources: &ArrayRef) -> Self {
        match sources.data_type() {
            DataType::Int64 => Self::Numbers(sources.as_primitive::<Int64Type>().values().to_vec()),
            _ => Self::Text(
                sources
                    .as_string::<i32>()
                    .iter()
                    .map(|text| text.unwrap_or("").to_owned())
                    .collect(),
            ),
        }
    }

    fn select(&self, rows: &[usize]) -> Self {
        match self {
            Self::Numbers(all) => Self::Numbers(rows.iter().map(|&row| all[row]).collect()),
            Self::Text(all) => Self::Text(rows.iter().map(|&row| all[row].clone()).collect()),
        }
    }

    fn describe(&self, row: usize) -> String {
        match self {
            Self::Numbers(all) => all[row].to_string(),
            Self::Text(all) => all[row].clone(),
        }
    }

    pub(crate) fn to_array(&self) -> ArrayRef {
        match self {
            Self::Numbers(all) => Arc::new(Int64Array::from(all.clone())),
            Self::Text(all) => Arc::new(StringArray::from_iter_values(all)),
        }
    }
}
