//! A pass over the rows of a table, which may be spread over processes.

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use serde::{Deserialize, Serialize};

use super::context::PassContext;
use super::group_sums::GroupSumsPass;
use super::grouping::GroupingPass;
use super::load::LoadPass;
use super::profile::ProfilePass;
use crate::config::AugmentConfig;
use crate::rows::block::{Block, BlockReader};
use crate::rows::row_id::{DuplicateCounter, RowIdSource};
use crate::{Error, Result};

/// What a pass computes, with the partial aggregate of the rows so far. Aggregates can be merged in
/// any order.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum Pass {
    Profile(ProfilePass),
    Grouping(GroupingPass),
    GroupSums(GroupSumsPass),
    Load(LoadPass),
}

impl Pass {
    /// Prepares for rows, which come in the order of the table or in any order.
    fn start(&mut self, in_order: bool, context: &PassContext) -> Result<()> {
        match self {
            Self::Profile(pass) => {
                if in_order && context.settings.rows_by == RowIdSource::Number {
                    pass.profile.hash_in_order();
                }
                Ok(())
            }
            Self::GroupSums(pass) => pass.start(in_order, context.memory),
            Self::Grouping(_) | Self::Load(_) => Ok(()),
        }
    }

    fn add(&mut self, block: &Block, context: &PassContext) -> Result<()> {
        match self {
            Self::Profile(pass) => pass.add(block, context),
            Self::Grouping(pass) => pass.add(&block.batch),
            Self::GroupSums(pass) => pass.add(block),
            Self::Load(pass) => pass.add(block, context),
        }
    }

    fn merge(&mut self, other: Self, context: &PassContext) -> Result<()> {
        match (self, other) {
            (Self::Profile(pass), Self::Profile(other)) => pass.merge(other, context.memory),
            (Self::Grouping(pass), Self::Grouping(other)) => pass.merge(other),
            (Self::GroupSums(pass), Self::GroupSums(other)) => pass.merge(&other),
            (Self::Load(pass), Self::Load(other)) => pass.merge(other, context),
            _ => Err(Error::bad_part("it belongs to another pass")),
        }
    }
}

/// A pass to be run over all rows of a table.
#[derive(Clone, Serialize, Deserialize)]
pub struct PassTask {
    pub(super) settings: AugmentConfig,
    pub(super) memory: u64,
    pub(super) pass: Pass,
}

impl PassTask {
    /// A short description of the pass.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.pass {
            Pass::Profile(_) => "reading",
            Pass::Grouping(_) => "finding groups",
            Pass::GroupSums(_) => "taking means",
            Pass::Load(_) => "loading",
        }
    }

    /// Serializes the task for another process.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        postcard::to_stdvec(self).map_err(Error::bad_part)
    }

    /// The task that [`to_bytes`](Self::to_bytes) serialized.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        postcard::from_bytes(bytes).map_err(Error::bad_part)
    }
}

/// Partial aggregate of a pass over some rows.
pub struct PassAccumulator {
    context: PassContext,
    reader: BlockReader,
    pub(super) pass: Pass,
}

impl PassAccumulator {
    /// An empty aggregate for rows in any order.
    pub fn new(task: &PassTask, schema: &Schema) -> Result<Self> {
        Self::start(task, schema, false)
    }

    /// An empty aggregate for all rows of a table, in order. Later passes read them in the same
    /// order.
    pub(crate) fn in_order(task: &PassTask, schema: &Schema) -> Result<Self> {
        Self::start(task, schema, true)
    }

    fn start(task: &PassTask, schema: &Schema, in_order: bool) -> Result<Self> {
        let context = PassContext::new(schema, &task.settings, task.memory)?;
        let mut pass = task.pass.clone();
        pass.start(in_order, &context)?;
        let reader = context.block_reader(schema)?;
        Ok(Self { context, reader, pass })
    }

    /// Adds rows. Equal rows need a `counter` for some methods, if content identifies rows.
    pub fn add(&mut self, rows: RecordBatch, counter: Option<&mut DuplicateCounter>) -> Result<()> {
        let counted = counter.is_some() || !self.context.settings.needs_duplicate_counts();
        if !counted && matches!(self.pass, Pass::Load(_)) {
            return Err(Error::bad_part("duplicate rows were not counted"));
        }
        let block = self.reader.next(rows, counter)?;
        self.add_block(&block)
    }

    pub(crate) fn add_block(&mut self, block: &Block) -> Result<()> {
        self.pass.add(block, &self.context)
    }

    /// Serializes the aggregate for another process.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        postcard::to_stdvec(&self.pass).map_err(Error::bad_part)
    }

    /// Merges the serialized aggregate of other rows, in any order.
    pub fn merge(&mut self, bytes: &[u8]) -> Result<()> {
        let other = postcard::from_bytes(bytes).map_err(Error::bad_part)?;
        self.pass.merge(other, &self.context)
    }
}
