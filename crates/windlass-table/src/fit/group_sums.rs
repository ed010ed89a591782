//! Last pass for groups: sums of the moved columns in every group.

use arrow_array::RecordBatch;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use windlass::GroupSums;

use crate::column::{PresentValues, row_weights, to_f64};
use crate::config::AdaConfig;
use crate::generate::grouping::Grouping;
use crate::generate::groups::GroupGenerator;
use crate::generate::label_cache::LabelCache;
use crate::rows::block::Block;
use crate::schema::profile::Profile;
use crate::schema::roles::Roles;
use crate::{Error, Result};

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct GroupSumsPass {
    pub(super) grouping: Grouping,
    pub(super) moved: Vec<usize>,
    weight: Option<usize>,
    /// Number of rows of the table.
    rows: u64,
    pub(super) totals: GroupTotals,
    /// For a table whose rows will be read again in the same order.
    #[serde(skip)]
    labels: Option<LabelCache>,
}

impl GroupSumsPass {
    pub(super) fn new(grouping: Grouping, profile: &Profile, roles: &Roles) -> Self {
        let moved = roles.moved();
        let totals = GroupTotals::new(moved.len());
        let (weight, rows) = (roles.weight, profile.kept);
        Self { grouping, moved, weight, rows, totals, labels: None }
    }

    /// Allocates the sums.
    pub(super) fn start(&mut self, in_order: bool, memory: u64) -> Result<()> {
        let groups = self.grouping.groups();
        self.totals.grow(groups, memory)?;
        if in_order {
            self.labels = LabelCache::new(groups, self.rows, memory);
        }
        Ok(())
    }

    pub(super) fn add(&mut self, block: &Block) -> Result<()> {
        let labels = self.grouping.label(&block.batch)?;
        if let Some(all) = &mut self.labels {
            all.extend(&labels);
        }
        self.totals.add(&block.batch, &labels, &self.moved, self.weight)
    }

    pub(super) fn merge(&mut self, other: &Self) -> Result<()> {
        self.totals.merge(&other.totals)
    }

    pub(super) fn finish(self, ada: &AdaConfig) -> Result<GroupGenerator> {
        let means = self.totals.sums.into_iter().map(GroupSums::finish);
        let means = means.collect::<windlass::Result<_>>()?;
        GroupGenerator::new(self.grouping, self.totals.sizes, means, self.labels, ada)
    }
}

/// The size of every group, and the sums of some columns in it.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct GroupTotals {
    /// One per column.
    sums: Vec<GroupSums>,
    sizes: Vec<u64>,
}

impl GroupTotals {
    /// Totals of no groups.
    pub(super) fn new(columns: usize) -> Self {
        Self { sums: vec![GroupSums::new(0, 1); columns], sizes: vec![] }
    }

    /// Adds empty groups. An error if sums and means would take more than half of the memory.
    pub(super) fn grow(&mut self, groups: usize, memory: u64) -> Result<()> {
        if (groups as u64).saturating_mul(self.sums.len() as u64 * 64) > memory / 2 {
            return Err(Error::TooManyGroups { groups, memory });
        }
        self.sums.iter_mut().for_each(|sums| sums.grow(groups));
        self.sizes.resize(groups, 0);
        Ok(())
    }

    /// Adds rows with the group of each.
    pub(super) fn add(
        &mut self,
        batch: &RecordBatch,
        labels: &[u32],
        columns: &[usize],
        weight: Option<usize>,
    ) -> Result<()> {
        for &label in labels {
            self.sizes[label as usize] += 1;
        }
        let weights = row_weights(batch, weight);
        self.sums.par_iter_mut().zip(columns).try_for_each(|(sums, &column)| {
            let present = PresentValues::new(&to_f64(batch.column(column)));
            let weights = weights.as_ref().map(|weights| present.select(weights));
            sums.add(present.view(), &present.select(labels), weights.as_deref())
        })?;
        Ok(())
    }

    fn merge(&mut self, other: &Self) -> Result<()> {
        let shape = |totals: &Self| (totals.sums.len(), totals.sizes.len());
        if shape(self) != shape(other) {
            return Err(Error::bad_part("it has different groups or columns"));
        }
        for (sums, other) in self.sums.iter_mut().zip(&other.sums) {
            sums.merge(other)?;
        }
        for (size, more) in self.sizes.iter_mut().zip(&other.sizes) {
            *size += more;
        }
        Ok(())
    }

    /// Merges totals whose groups have other numbers here.
    pub(super) fn merge_at(&mut self, other: &Self, numbers: &[u32]) -> Result<()> {
        for (sums, other) in self.sums.iter_mut().zip(&other.sums) {
            sums.merge_at(other, numbers)?;
        }
        for (&number, more) in numbers.iter().zip(&other.sizes) {
            self.sizes[number as usize] += more;
        }
        Ok(())
    }

    /// The totals of some of the columns.
    pub(super) fn select(self, columns: &[usize]) -> Self {
        let sums = columns.iter().map(|&column| self.sums[column].clone()).collect();
        Self { sums, ..self }
    }
}
