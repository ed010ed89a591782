//! First pass: statistics of all columns, and a speculative second pass.

use arrow_schema::Schema;
use serde::{Deserialize, Serialize};

use super::context::PassContext;
use super::speculative::Speculation;
use crate::column::matrix;
use crate::rows::block::Block;
use crate::schema::categories::Categories;
use crate::schema::profile::ProfileAccumulator;
use crate::{Error, Result};

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct ProfilePass {
    pub(super) profile: ProfileAccumulator,
    /// `None` once it failed.
    pub(super) speculation: Option<Speculation>,
    /// The first target of all rows, if some of them may be rare.
    pub(super) targets: Option<Vec<f64>>,
}

impl ProfilePass {
    pub(super) fn new(schema: &Schema, context: &PassContext) -> Self {
        let categories = Categories::new(context.requested.group_columns.clone());
        Self {
            profile: ProfileAccumulator::new(schema.fields().len(), categories),
            speculation: Speculation::new(schema, context),
            targets: context.settings.rare_targets().map(|_| vec![]),
        }
    }

    pub(super) fn add(&mut self, block: &Block, context: &PassContext) -> Result<()> {
        block.check_bounds(&context.settings.bounds)?;
        self.profile.add(block, context.memory)?;
        if let (Some(all), Some(&target)) = (&mut self.targets, context.requested.targets().first())
        {
            all.extend(matrix(&block.batch, &[target]));
            check_memory(all, context.memory)?;
        }
        let schema = block.batch.schema();
        let guess = || context.requested.infer(&schema, |place| self.profile.column(place));
        self.speculation.take_if(|all| all.add(block, guess, context.memory).is_none());
        Ok(())
    }

    pub(super) fn merge(&mut self, other: Self, memory: u64) -> Result<()> {
        let both = self.speculation.take().zip(other.speculation);
        self.speculation = both.and_then(|(mut all, other)| all.merge(other, memory).map(|()| all));
        if let (Some(all), Some(more)) = (&mut self.targets, other.targets) {
            all.extend(more);
            check_memory(all, memory)?;
        }
        self.profile.merge(other.profile, memory)
    }
}

/// Returns an error if the targets of all rows take a large part of the memory.
fn check_memory(targets: &[f64], memory: u64) -> Result<()> {
    // The targets, and the same in order.
    let needs = targets.len() as u64 * 16;
    if needs <= memory / 4 {
        return Ok(());
    }
    let (what, needs) = ("finding rare targets", needs.saturating_mul(4));
    Err(Error::NeedsMemory { what, needs, memory })
}
