//! A whole table in memory, with the roles of its columns: the input of models.

use arrow_array::RecordBatch;
use arrow_select::concat::concat_batches;

use crate::column::{memory_size, select};
use crate::config::Columns;
use crate::io::read::table::Table;
use crate::progress::RowProgress;
use crate::row_place::RowPlaces;
use crate::rows::block::TableRows;
use crate::schema::profile::Profile;
use crate::schema::roles::{RequestedRoles, Roles};
use crate::{Error, Result};

/// The rows of a table that have finite targets, and the roles of its columns.
#[derive(Debug, Clone)]
pub struct LoadedTable {
    /// The rows.
    pub batch: RecordBatch,
    /// Statistics of the columns.
    pub profile: Profile,
    /// The roles of the columns.
    pub roles: Roles,
    /// The places of the rows in the table, for messages.
    pub places: RowPlaces,
}

impl LoadedTable {
    /// Reads a table and infers the roles of its columns. A missing target is an error, unless such
    /// rows are dropped.
    pub fn load(
        table: &Table,
        columns: &Columns,
        drop_missing_target: bool,
        memory: u64,
        progress: &dyn RowProgress,
    ) -> Result<Self> {
        let schema = table.schema();
        let requested =
            RequestedRoles::new(schema, columns).map_err(|error| table.with_example(error))?;
        let required = if drop_missing_target { requested.targets() } else { vec![] };
        let rows = TableRows::finite(table, required);
        progress.stage("reading");
        let profile = Profile::read(&rows, memory, progress)?;
        if profile.kept == 0 {
            return Err(Error::NoTargets { path: table.path().to_owned() });
        }
        let roles = requested.infer(schema, |place| profile.columns[place].clone());
        roles.check_values(schema, &profile)?;
        let (mut batches, mut numbers, mut bytes) = (vec![], vec![], 0);
        for block in rows.blocks() {
            let block = block?;
            if profile.kept < profile.rows {
                numbers.extend((0..block.rows()).map(|row| block.row_number(row)));
            }
            let batch = block.batch;
            bytes += memory_size(&batch);
            // The rows, the design matrix, and copies of it.
            if bytes.saturating_mul(4) > memory {
                let needs = bytes.saturating_mul(4);
                return Err(Error::NeedsMemory { what: "training", needs, memory });
            }
            batches.push(batch);
        }
        let batch = concat_batches(schema, &batches).map_err(|error| Error::Damaged {
            path: table.path().to_owned(),
            why: error.to_string(),
        })?;
        let places = table.places().clone();
        let places = if numbers.is_empty() { places } else { places.with_numbers(numbers) };
        Ok(Self { batch, profile, roles, places })
    }

    /// The rows with these indices, in this order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let (batch, places) = (select(&self.batch, rows), self.places.select(rows));
        Self { batch, places, profile: self.profile.clone(), roles: self.roles.clone() }
    }
}
