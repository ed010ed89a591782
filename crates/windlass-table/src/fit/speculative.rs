//! Speculative second pass, run together with the first.
//!
//! The second pass depends on the roles of columns, which are only known after the first. But the
//! sums can be computed for every column that may be moved, and a sample can be drawn of the
//! columns that look like features. The guess is nearly always right, and saves reading the table
//! once more; if it is wrong, the work is discarded.

use std::collections::HashMap;

use arrow_schema::Schema;
use serde::{Deserialize, Serialize};
use windlass::{ClusterOn, RowSample, Seed, sample_within};

use super::context::PassContext;
use super::group_sums::GroupTotals;
use crate::column::{matrix, row_weights};
use crate::config::{AnchorSource, MethodConfig};
use crate::rows::block::Block;
use crate::schema::categories::{Categories, Key};
use crate::schema::roles::Roles;

/// Methods return `None` if the speculation failed, and must be discarded.
#[derive(Clone, Serialize, Deserialize)]
pub(super) enum Speculation {
    /// Sums for groups that are values of columns.
    Sums(SpeculativeSums),
    /// A sample for k-means on all rows.
    Sample(SpeculativeSample),
}

impl Speculation {
    /// `None` if nothing can be computed in the first pass.
    pub(super) fn new(schema: &Schema, context: &PassContext) -> Option<Self> {
        let MethodConfig::Ada(ada) = &context.settings.method else { return None };
        let requested = &context.requested;
        let weight = requested.weight();
        match ada.anchors {
            AnchorSource::Column(_) => {
                let moved = requested.movable(schema);
                Some(Self::Sums(SpeculativeSums {
                    columns: requested.group_columns.clone(),
                    totals: GroupTotals::new(moved.len()),
                    moved,
                    weight,
                    keys: vec![],
                    numbers: HashMap::new(),
                }))
            }
            AnchorSource::KMeans if ada.within.is_none() => {
                let (on, seed) = (ada.on, context.settings.seed);
                Some(Self::Sample(SpeculativeSample { on, seed, weight, sample: None }))
            }
            _ => None,
        }
    }

    /// Adds a block; `guess` are the roles inferred from the rows so far.
    pub(super) fn add(
        &mut self,
        block: &Block,
        guess: impl FnOnce() -> Roles,
        memory: u64,
    ) -> Option<()> {
        match self {
            Self::Sums(sums) => sums.add(block, memory),
            Self::Sample(sample) => sample.add(block, guess),
        }
    }

    /// Adds the result for other rows.
    pub(super) fn merge(&mut self, other: Self, memory: u64) -> Option<()> {
        match (self, other) {
            (Self::Sums(sums), Self::Sums(other)) => sums.merge(other, memory),
            (Self::Sample(sample), Self::Sample(other)) => sample.merge(other),
            _ => None,
        }
    }
}

/// Sums of all columns that may be moved, for groups that are discovered with the rows.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct SpeculativeSums {
    /// The columns of the groups.
    columns: Vec<usize>,
    moved: Vec<usize>,
    weight: Option<usize>,
    /// The keys of the groups, in the order of their discovery.
    keys: Vec<Vec<Key>>,
    totals: GroupTotals,
    /// The number of every group.
    #[serde(skip)]
    numbers: HashMap<Vec<Key>, u32>,
}

impl SpeculativeSums {
    /// The numbers of some groups, known or new; `None` if there are too many.
    fn number(&mut self, keys: Vec<Vec<Key>>, memory: u64) -> Option<Vec<u32>> {
        if self.numbers.len() < self.keys.len() {
            self.numbers = self.keys.iter().cloned().zip(0..).collect();
        }
        let mut numbers = Vec::with_capacity(keys.len());
        for keys in keys {
            let next = u32::try_from(self.keys.len()).ok()?;
            let number = *self.numbers.entry(keys).or_insert_with_key(|keys| {
                self.keys.push(keys.clone());
                next
            });
            numbers.push(number);
        }
        self.totals.grow(self.keys.len(), memory).ok()?;
        Some(numbers)
    }

    fn add(&mut self, block: &Block, memory: u64) -> Option<()> {
        let (codes, keys) = Categories::new(self.columns.clone()).encode(&block.batch);
        let numbers = self.number(keys, memory)?;
        let labels: Vec<u32> = codes.into_iter().map(|code| numbers[code as usize]).collect();
        self.totals.add(&block.batch, &labels, &self.moved, self.weight).ok()
    }

    fn merge(&mut self, other: Self, memory: u64) -> Option<()> {
        if (&self.columns, &self.moved) != (&other.columns, &other.moved) {
            return None;
        }
        let numbers = self.number(other.keys, memory)?;
        self.totals.merge_at(&other.totals, &numbers).ok()
    }

    /// The totals of these moved columns and groups, in this order.
    pub(super) fn confirm(
        self,
        groups: &Categories,
        moved: &[usize],
        memory: u64,
    ) -> Option<GroupTotals> {
        let place = |column| self.moved.iter().position(|other| other == column);
        let columns = moved.iter().map(place).collect::<Option<Vec<usize>>>()?;
        let numbers = self.keys.iter().map(|keys| groups.number(keys));
        let numbers = numbers.collect::<Option<Vec<u32>>>()?;
        let mut totals = GroupTotals::new(moved.len());
        totals.grow(groups.len(), memory).ok()?;
        totals.merge_at(&self.totals.select(&columns), &numbers).ok()?;
        Some(totals)
    }
}

/// A sample of the columns that look like features or targets.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct SpeculativeSample {
    on: ClusterOn,
    seed: u64,
    weight: Option<usize>,
    /// The guessed columns and their sample, once there are rows.
    sample: Option<(Vec<usize>, RowSample)>,
}

impl SpeculativeSample {
    fn add(&mut self, block: &Block, guess: impl FnOnce() -> Roles) -> Option<()> {
        if block.rows() == 0 {
            return Some(());
        }
        let (columns, sample) = self.sample.get_or_insert_with(|| {
            let columns = guess().clustered(self.on);
            let sample = RowSample::new(sample_within(1), columns.len(), Seed(self.seed));
            (columns, sample)
        });
        let weights = row_weights(&block.batch, self.weight);
        sample.add(matrix(&block.batch, columns).view(), weights.as_deref()).ok()
    }

    fn merge(&mut self, other: Self) -> Option<()> {
        match (&mut self.sample, other.sample) {
            (_, None) => Some(()),
            (sample @ None, other) => {
                *sample = other;
                Some(())
            }
            (Some((columns, sample)), Some((other_columns, other))) => {
                (*columns == other_columns).then(|| sample.merge(&other).ok()).flatten()
            }
        }
    }

    /// The sample, if it is of these columns.
    pub(super) fn confirm(self, columns: &[usize]) -> Option<RowSample> {
        self.sample.filter(|(guess, _)| guess == columns).map(|(_, sample)| sample)
    }
}
