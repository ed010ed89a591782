//! First pass: statistics of all columns, and a speculative second pass.

use arrow_schema::Schema;
use serde::{Deserialize, Serialize};

use super::context::PassContext;
use super::speculative::Speculation;
use crate::Result;
use crate::rows::block::Block;
use crate::schema::categories::Categories;
use crate::schema::profile::ProfileAccumulator;

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct ProfilePass {
    pub(super) profile: ProfileAccumulator,
    /// `None` once it failed.
    pub(super) speculation: Option<Speculation>,
}

impl ProfilePass {
    pub(super) fn new(schema: &Schema, context: &PassContext) -> Self {
        let categories = Categories::new(context.requested.group_columns.clone());
        Self {
            profile: ProfileAccumulator::new(schema.fields().len(), categories),
            speculation: Speculation::new(schema, context),
        }
    }

    pub(super) fn add(&mut self, block: &Block, context: &PassContext) -> Result<()> {
        block.check_bounds(&context.settings.bounds)?;
        self.profile.add(block, context.memory)?;
        let schema = block.batch.schema();
        let guess = || context.requested.infer(&schema, |place| self.profile.column(place));
        self.speculation.take_if(|all| all.add(block, guess, context.memory).is_none());
        Ok(())
    }

    pub(super) fn merge(&mut self, other: Self, memory: u64) -> Result<()> {
        let both = self.speculation.take().zip(other.speculation);
        self.speculation = both.and_then(|(mut all, other)| all.merge(other, memory).map(|()| all));
        self.profile.merge(other.profile, memory)
    }
}
