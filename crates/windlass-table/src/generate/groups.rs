//! ADA on groups: rows move along the line through the mean of their group. The table is read block
//! by block.

use std::sync::Arc;

use arrow_array::Float64Array;
use arrow_array::builder::Float64Builder;
use ndarray::ArrayView2;
use serde::{Deserialize, Serialize};
use windlass::{Gammas, GroupMeans, Per, Seed, Strength};

use crate::column::PresentValues;
use crate::config::AdaConfig;
use crate::generate::generated_block::GeneratedBlock;
use crate::generate::grouping::Grouping;
use crate::generate::label_cache::LabelCache;
use crate::rows::block::Block;
use crate::schema::roles::Roles;
use crate::{Error, Result};

/// A group of rows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupSummary {
    /// The number of the group, as in `windlass_group`.
    pub group: usize,
    /// The name, if groups have names.
    pub name: Option<String>,
    /// Number of rows.
    pub rows: u64,
}

/// Groups with their sizes and means: a fitted ADA.
pub(crate) struct GroupGenerator {
    grouping: Grouping,
    sizes: Vec<u64>,
    /// The number of each group in the output, which skips empty groups.
    numbers: Vec<u32>,
    /// One per moved column, because each has its own missing values.
    means: Vec<GroupMeans>,
    labels: Option<LabelCache>,
    gammas: Gammas,
    per: Per,
}

/// A serialized [`GroupGenerator`].
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedGroups {
    grouping: Grouping,
    sizes: Vec<u64>,
    means: Vec<SavedMeans>,
}

/// The means of a moved column in every group, and the divisor of each mean.
#[derive(Serialize, Deserialize)]
struct SavedMeans {
    means: Vec<f64>,
    divisors: Vec<f64>,
}

impl GroupGenerator {
    pub(crate) fn new(
        grouping: Grouping,
        sizes: Vec<u64>,
        means: Vec<GroupMeans>,
        labels: Option<LabelCache>,
        ada: &AdaConfig,
    ) -> Result<Self> {
        let mut next = 0;
        let number = |&size: &u64| {
            let number = next;
            next += u32::from(size > 0);
            number
        };
        let numbers = sizes.iter().map(number).collect();
        let (gammas, per) = (ada.gamma.check()?, ada.per.of_table());
        Ok(Self { grouping, sizes, numbers, means, labels, gammas, per })
    }

    pub(crate) fn from_saved(saved: SavedGroups, ada: &AdaConfig, roles: &Roles) -> Result<Self> {
        let SavedGroups { grouping, sizes, means } = saved;
        let groups = grouping.groups();
        if !grouping.fits(roles.roles.len()) {
            return Err(Error::bad_part("its groups refer to columns that do not exist"));
        }
        if means.len() != roles.moved().len() || sizes.len() != groups {
            return Err(Error::bad_part("the number of means differs from groups × columns"));
        }
        let restore = |SavedMeans { means, divisors }: SavedMeans| {
            if means.len() != groups {
                return Err(Error::bad_part(
                    "the number of means differs from the number of groups",
                ));
            }
            let column = ArrayView2::from_shape((groups, 1), &means[..]).expect("one column");
            Ok(GroupMeans::new(column, divisors)?)
        };
        let means = means.into_iter().map(restore).collect::<Result<_>>()?;
        Self::new(grouping, sizes, means, None, ada)
    }

    pub(crate) fn to_saved(&self) -> SavedGroups {
        let save = |means: &GroupMeans| SavedMeans {
            means: means.means().iter().copied().collect(),
            divisors: means.divisors().to_vec(),
        };
        SavedGroups {
            grouping: self.grouping.clone(),
            sizes: self.sizes.clone(),
            means: self.means.iter().map(save).collect(),
        }
    }

    /// The columns whose numbers determine the groups.
    pub(crate) fn numeric_columns(&self) -> Vec<usize> {
        self.grouping.numeric_columns().copied().collect()
    }

    pub(crate) fn summary(&self) -> Vec<GroupSummary> {
        let names = self.grouping.names();
        let summary = |(group, &rows): (usize, &u64)| GroupSummary {
            group,
            name: names.as_ref().map(|names| names[group].clone()),
            rows,
        };
        self.sizes.iter().filter(|&&size| size > 0).enumerate().map(summary).collect()
    }

    /// The group of every row of a block.
    pub(crate) fn label(&self, block: &Block) -> Result<Vec<u32>> {
        match &self.labels {
            Some(labels) => labels
                .get(block.first_index(), block.rows())
                .ok_or_else(|| Error::Changed { path: "the table".into() }),
            None => self.grouping.label(&block.batch),
        }
    }

    /// A block of a copy; `step` is `None` for the originals.
    pub(crate) fn block(
        &self,
        block: &Block,
        labels: &Arc<[u32]>,
        seed: Seed,
        step: Option<u64>,
    ) -> GroupBlock<'_> {
        let strength = step.map(|step| {
            if self.per == Per::Batch {
                return Strength::Shared(self.gammas.shared(seed, step));
            }
            let gamma = |row| self.gammas.of_row(seed, step, block.id(row));
            Strength::PerRow((0..block.rows()).map(gamma).collect())
        });
        GroupBlock { groups: self, labels: Arc::clone(labels), strength }
    }
}

/// A block of a copy.
pub(crate) struct GroupBlock<'a> {
    groups: &'a GroupGenerator,
    labels: Arc<[u32]>,
    /// `None` for the originals.
    strength: Option<Strength>,
}

impl GeneratedBlock for GroupBlock<'_> {
    fn column(&self, index: usize, original: &Float64Array) -> Result<Float64Array> {
        match &self.strength {
            Some(strength) => {
                move_toward(&self.groups.means[index], original, &self.labels, strength)
            }
            None => Ok(original.clone()),
        }
    }

    fn groups(&self) -> Option<Vec<u32>> {
        Some(self.labels.iter().map(|&label| self.groups.numbers[label as usize]).collect())
    }

    fn gammas(&self) -> Option<Float64Array> {
        let rows = self.labels.len();
        Some(match &self.strength {
            None => Float64Array::new_null(rows),
            Some(Strength::Shared(gamma)) => vec![*gamma; rows].into(),
            Some(Strength::PerRow(gammas)) => gammas.clone().into(),
        })
    }
}

/// Moves the values of a column that are not missing.
fn move_toward(
    means: &GroupMeans,
    column: &Float64Array,
    labels: &[u32],
    strength: &Strength,
) -> Result<Float64Array> {
    let present = PresentValues::new(column);
    let strength = match strength {
        Strength::PerRow(all) => Strength::PerRow(present.select(all).into_owned()),
        shared @ Strength::Shared(_) => shared.clone(),
    };
    let moved = means.apply(present.view(), &present.select(labels), &strength)?;
    let moved = moved.into_raw_vec_and_offset().0;
    let Some(rows) = &present.rows else { return Ok(moved.into()) };
    let mut out = Float64Builder::with_capacity(column.len());
    let mut moved = rows.iter().zip(moved).peekable();
    for row in 0..column.len() {
        match moved.next_if(|(present, _)| **present == row) {
            Some((_, value)) => out.append_value(value),
            None => out.append_null(),
        }
    }
    Ok(out.finish())
}
