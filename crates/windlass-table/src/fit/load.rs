//! Pass for methods that need all rows in memory.

use serde::{Deserialize, Serialize};
use windlass::Relevance;

use super::context::PassContext;
use crate::config::MethodConfig;
use crate::generate::in_memory::{InMemoryGenerator, TrainingTable};
use crate::generate::loaded_rows::LoadedRows;
use crate::rows::block::Block;
use crate::rows::row_id::RowIdSource;
use crate::schema::profile::Profile;
use crate::schema::roles::Roles;
use crate::{Error, Result};

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct LoadPass {
    moved: Vec<usize>,
    weight: Option<usize>,
    /// Whether to store row numbers, because rows are dropped.
    row_numbers: bool,
    rows: LoadedRows,
}

impl LoadPass {
    pub(super) fn new(profile: &Profile, roles: &Roles, context: &PassContext) -> Result<Self> {
        let moved = roles.moved();
        check_memory(profile.kept, moved.len(), context)?;
        let rows = LoadedRows::new(moved.len());
        let row_numbers = profile.kept < profile.rows;
        Ok(Self { moved, weight: roles.weight, row_numbers, rows })
    }

    pub(super) fn add(&mut self, block: &Block, context: &PassContext) -> Result<()> {
        self.rows.add(block, &self.moved, self.weight, self.row_numbers);
        check_memory(self.rows.rows() as u64, self.moved.len(), context)
    }

    pub(super) fn merge(&mut self, other: Self, context: &PassContext) -> Result<()> {
        self.rows.merge(other.rows);
        check_memory(self.rows.rows() as u64, self.moved.len(), context)
    }

    pub(super) fn finish(
        mut self,
        profile: &Profile,
        roles: &Roles,
        context: &PassContext,
        relevance: Option<&Relevance>,
    ) -> Result<InMemoryGenerator> {
        let key = match &context.settings.rows_by {
            RowIdSource::Column(column) => Some(column.as_str()),
            RowIdSource::Number | RowIdSource::Content => None,
        };
        self.rows.sort(key)?;
        let table = TrainingTable { rows: profile.rows, memory: context.memory };
        InMemoryGenerator::fit(self.rows, &context.settings, roles, relevance, Some(&table))
    }
}

fn check_memory(rows: u64, moved: usize, context: &PassContext) -> Result<()> {
    let (needs, memory) = (LoadedRows::memory_size(rows, moved), context.memory);
    if needs <= memory {
        return Ok(());
    }
    let what = match &context.settings.method {
        MethodConfig::Ada(_) => "an anchor matrix",
        MethodConfig::Other { method, .. } => method.name,
    };
    Err(Error::NeedsMemory { what, needs, memory })
}
