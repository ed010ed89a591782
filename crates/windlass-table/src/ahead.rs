//! The second pass, taken along with the first.
//!
//! What columns are is known after the first pass, and what the second does depends on it. But sums can be taken
//! of every column that may turn out to be moved, and a sample of the columns that seem to be features. Where
//! that was right, as it nearly always is, a table is read once less; where not, nothing is lost but the work.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use windlass::{ClusterOn, RowSample, Seed, sample_within};

use crate::Result;
use crate::categories::{Categories, Key};
use crate::groups::weights;
use crate::maker::Sums;
use crate::profile::matrix;
use crate::roles::{RequestedRoles, Roles};
use crate::rows::Block;
use crate::settings::{AnchorSource, AugmentConfig, MethodConfig};

/// What was found ahead.
#[derive(Serialize, Deserialize)]
pub(crate) enum Speculation {
    /// For groups that columns name.
    Sums(NamedSums),
    /// For k-means on all rows.
    Sample(GuessedSample),
}

impl Speculation {
    /// Nothing yet; none where the second pass cannot be begun. `named` are the columns that name groups, and
    /// `moved` those that may turn out to be moved.
    pub(crate) fn start(
        settings: &AugmentConfig,
        asked: &RequestedRoles,
        (named, moved): (&[usize], Vec<usize>),
        memory: u64,
    ) -> Option<Self> {
        let MethodConfig::Ada(ada) = &settings.method else { return None };
        let weight = asked.weight();
        match ada.anchors {
            AnchorSource::Column(_) => {
                let sums = Sums::new(0, moved.len(), memory).ok()?;
                let (keys, numbers) = (vec![], HashMap::new());
                let columns = named.to_vec();
                Some(Self::Sums(NamedSums { columns, moved, weight, keys, sums, numbers }))
            }
            AnchorSource::KMeans if ada.within.is_none() => {
                let (on, seed) = (ada.on, settings.seed);
                Some(Self::Sample(GuessedSample { on, seed, weight, found: None }))
            }
            _ => None,
        }
    }

    /// Takes the rows of a block, and says whether it is of use still; after an error it is not. `seem` says what
    /// columns seem to be.
    pub(crate) fn add(
        &mut self,
        block: &Block,
        seem: impl FnOnce() -> Roles,
        memory: u64,
    ) -> Result<bool> {
        match self {
            Self::Sums(sums) => sums.add(block, memory),
            Self::Sample(sample) => sample.add(block, seem),
        }
    }

    /// Adds what was found in other rows, and says whether it is of use still.
    pub(crate) fn merge(&mut self, other: Self, memory: u64) -> Result<bool> {
        match (self, other) {
            (Self::Sums(sums), Self::Sums(other)) => sums.merge(&other, memory),
            (Self::Sample(sample), Self::Sample(other)) => sample.merge(other),
            _ => Ok(false),
        }
    }
}

/// Sums of all columns that may turn out to be moved, for groups that come to light with the rows.
#[derive(Serialize, Deserialize)]
pub(crate) struct NamedSums {
    /// The columns that name groups.
    columns: Vec<usize>,
    moved: Vec<usize>,
    weight: Option<usize>,
    /// What the groups are named by, in the order in which they were met.
    keys: Vec<Vec<Key>>,
    sums: Sums,
    /// The number of every group.
    #[serde(skip)]
    numbers: HashMap<Vec<Key>, u32>,
}

impl NamedSums {
    /// The numbers of some groups, known or not; none where there are too many.
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
        self.sums.grow(self.keys.len(), memory).then_some(numbers)
    }

    fn add(&mut self, block: &Block, memory: u64) -> Result<bool> {
        let (codes, keys) = Categories::of_columns(self.columns.clone()).encode(&block.batch);
        let Some(numbers) = self.number(keys, memory) else { return Ok(false) };
        let labels: Vec<u32> = codes.into_iter().map(|code| numbers[code as usize]).collect();
        self.sums.add_labeled(block, &labels, (&self.moved, self.weight))?;
        Ok(true)
    }

    fn merge(&mut self, other: &Self, memory: u64) -> Result<bool> {
        if (&self.columns, &self.moved) != (&other.columns, &other.moved) {
            return Ok(false);
        }
        let Some(places) = self.number(other.keys.clone(), memory) else { return Ok(false) };
        self.sums.merge_at(&other.sums, &places)?;
        Ok(true)
    }

    /// The sums of the columns that are moved, for groups in their order.
    pub(crate) fn settle(self, groups: &Categories, moved: &[usize], memory: u64) -> Option<Sums> {
        let place = |column| self.moved.iter().position(|other| other == column);
        let columns = moved.iter().map(place).collect::<Option<Vec<usize>>>()?;
        let places = self.keys.iter().map(|keys| groups.number(keys));
        let places = places.collect::<Option<Vec<u32>>>()?;
        let mut sums = Sums::new(groups.len(), moved.len(), memory).ok()?;
        sums.merge_at(&self.sums.of(&columns), &places).ok()?;
        Some(sums)
    }
}

/// A sample of the columns that seem to be features, or targets.
#[derive(Serialize, Deserialize)]
pub(crate) struct GuessedSample {
    on: ClusterOn,
    seed: u64,
    weight: Option<usize>,
    /// The columns and their sample, after some rows.
    found: Option<(Vec<usize>, RowSample)>,
}

impl GuessedSample {
    fn add(&mut self, block: &Block, seem: impl FnOnce() -> Roles) -> Result<bool> {
        if block.rows() == 0 {
            return Ok(true);
        }
        let (columns, sample) = self.found.get_or_insert_with(|| {
            let columns = seem().clustered(self.on);
            let sample = RowSample::new(sample_within(1), columns.len(), Seed(self.seed));
            (columns, sample)
        });
        let weights = weights(&block.batch, self.weight);
        sample.add(matrix(&block.batch, columns).view(), weights.as_deref())?;
        Ok(true)
    }

    fn merge(&mut self, other: Self) -> Result<bool> {
        match (&mut self.found, other.found) {
            (_, None) => Ok(true),
            (found @ None, other) => {
                *found = other;
                Ok(true)
            }
            (Some((columns, sample)), Some((others, other))) => {
                if *columns != others {
                    return Ok(false);
                }
                sample.merge(&other)?;
                Ok(true)
            }
        }
    }

    /// The sample, if it is of these columns.
    pub(crate) fn settle(self, columns: &[usize]) -> Option<RowSample> {
        self.found.filter(|(guessed, _)| guessed == columns).map(|(_, sample)| sample)
    }
}
