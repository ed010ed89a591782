//! A whole table in memory, with what its columns are: what models are fitted on.

use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, UInt64Array};
use arrow_select::concat::concat_batches;
use arrow_select::take::take_record_batch;

use crate::augment::{Watch, with_example};
use crate::column::bytes_of;
use crate::profile::Profile;
use crate::roles::{RequestedRoles, Roles};
use crate::rows::Rows;
use crate::settings::Columns;
use crate::{Error, Result, Table};

/// The rows of a table that have finite targets, and the roles of its columns.
#[derive(Debug, Clone)]
pub struct LoadedTable {
    /// The rows.
    pub batch: RecordBatch,
    /// What the columns hold.
    pub profile: Profile,
    /// What they are.
    pub roles: Roles,
}

impl LoadedTable {
    /// Reads a table and infers the roles of its columns. A target that is missing is refused, or its
    /// row left out.
    pub fn load(
        table: &Table,
        columns: &Columns,
        drop_missing_target: bool,
        memory: u64,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let schema = table.schema();
        let asked = RequestedRoles::new(schema, columns, &[])
            .map_err(|error| with_example(error, table))?;
        let needed = if drop_missing_target { asked.targets() } else { vec![] };
        let rows = Rows::finite(table, needed);
        watch.stage("reading");
        let profile = Profile::of(&rows, memory, watch)?;
        if profile.kept == 0 {
            return Err(Error::NoTargets { path: table.path().to_owned() });
        }
        let roles = asked.settle(schema, |place| profile.columns[place].few);
        roles.check_values(schema, &profile)?;
        let (mut batches, mut bytes) = (vec![], 0);
        for block in rows.blocks() {
            let batch = block?.batch;
            bytes += bytes_of(&batch);
            // The rows, the same as numbers, and what becomes of them.
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
        Ok(Self { batch, profile, roles })
    }

    /// Some of the rows, in the order in which they are named.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        Self { batch: select(&self.batch, rows), ..self.clone() }
    }
}

/// Some rows, in the order in which they are named.
///
/// # Panics
///
/// Where there is no such row.
#[must_use]
pub fn select(batch: &RecordBatch, rows: &[usize]) -> RecordBatch {
    let rows = UInt64Array::from_iter_values(rows.iter().map(|&row| row as u64));
    take_record_batch(batch, &rows).expect("rows of the batch")
}

/// The values of a column as names.
#[must_use]
pub fn words(column: &ArrayRef) -> StringArray {
    let nameless = || StringArray::from(vec![None::<&str>; column.len()]);
    crate::sink::as_text(column).unwrap_or_else(|_| nameless())
}
