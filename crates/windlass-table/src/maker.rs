//! What makes synthetic values: fitted to a table, then asked for block after block of a copy.

use std::sync::Arc;

use arrow_array::builder::Float64Builder;
use arrow_array::{Array, ArrayRef, Float64Array};
use ndarray::ArrayView2;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use windlass::{Gammas, GroupMeans, GroupSums, How, Per, Seed, Strength};

use crate::augment::GroupSummary;
use crate::column::numbers;
use crate::groups::{Grouping, weights};
use crate::mixed::{Drawn, Loaded, Made, Mixed};
use crate::roles::Roles;
use crate::rows::Block;
use crate::settings::{AdaConfig, AugmentConfig, MethodConfig};
use crate::{Error, Result};

/// A fitted method.
pub(crate) enum Generator {
    /// ADA on groups: knows the means, and reads the table block by block.
    Groups(Groups),
    /// Methods that mix rows that stand anywhere: the moved columns are in memory.
    Mixed(Mixed),
}

impl std::fmt::Debug for Generator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Groups(_) => "Groups",
            Self::Mixed(_) => "Mixed",
        })
    }
}

pub(crate) struct Groups {
    grouping: Grouping,
    sizes: Vec<u64>,
    /// The number that each group has for users, who see no empty ones.
    numbers: Vec<u32>,
    /// For every moved column: its missing values do not count.
    means: Vec<GroupMeans>,
    labels: Option<Labels>,
    gammas: Gammas,
    per: Per,
}

/// A fitted method as it goes to other processes and into files.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kept {
    Groups { grouping: Grouping, sizes: Vec<u64>, means: Vec<KeptMeans> },
    Rows(Loaded),
}

/// The means of a moved column in every group, and what each sum was divided by.
#[derive(Serialize, Deserialize)]
pub(crate) struct KeptMeans {
    means: Vec<f64>,
    divisors: Vec<f64>,
}

/// The group of every row, in as few bytes as will do.
enum Labels {
    Bytes(Vec<u8>),
    Words(Vec<u16>),
}

impl Labels {
    /// Room for the labels of so many groups and rows, if there is any.
    fn new(groups: usize, rows: u64, memory: u64) -> Option<Self> {
        let (labels, bytes) = match groups {
            0..=0x100 => (Self::Bytes(vec![]), rows),
            0x101..=0x1_0000 => (Self::Words(vec![]), rows.saturating_mul(2)),
            _ => return None,
        };
        (bytes <= memory / 8).then_some(labels)
    }

    #[expect(clippy::cast_possible_truncation, reason = "there are no more groups than fit")]
    fn extend(&mut self, labels: &[u32]) {
        match self {
            Self::Bytes(all) => all.extend(labels.iter().map(|&label| label as u8)),
            Self::Words(all) => all.extend(labels.iter().map(|&label| label as u16)),
        }
    }

    /// The labels of some rows; nothing for rows that were not there before.
    fn get(&self, first: u64, rows: usize) -> Option<Vec<u32>> {
        let range = in_memory(first)..in_memory(first) + rows;
        Some(match self {
            Self::Bytes(all) => all.get(range)?.iter().map(|&label| label.into()).collect(),
            Self::Words(all) => all.get(range)?.iter().map(|&label| label.into()).collect(),
        })
    }
}

pub(crate) fn in_memory(row: u64) -> usize {
    usize::try_from(row).expect("what is in memory can be counted")
}

impl Generator {
    /// A method that was fitted before, on a table with these roles.
    pub(crate) fn of(kept: Kept, settings: &AugmentConfig, roles: &Roles) -> Result<Self> {
        let moved = roles.moved().len();
        match (kept, &settings.method) {
            (Kept::Groups { grouping, sizes, means }, MethodConfig::Ada(ada)) => {
                let bad = |why: &str| Error::BadPart { why: why.to_owned() };
                let groups = grouping.groups();
                if !grouping.fits(roles.roles.len()) {
                    return Err(bad("its groups are of columns that it does not have"));
                }
                if means.len() != moved || sizes.len() != groups {
                    return Err(bad("it has not as many means as groups and columns"));
                }
                let mean = |KeptMeans { means, divisors }: KeptMeans| {
                    let column = ArrayView2::from_shape((means.len(), 1), &means[..]);
                    let column = column.expect("one column");
                    if means.len() != groups {
                        return Err(bad("it has not as many means as groups"));
                    }
                    Ok(GroupMeans::new(column, divisors)?)
                };
                let means = means.into_iter().map(mean).collect::<Result<_>>()?;
                Groups::new(grouping, sizes, means, None, ada).map(Self::Groups)
            }
            (Kept::Rows(loaded), _) => Mixed::new(loaded, settings, roles, None).map(Self::Mixed),
            (Kept::Groups { .. }, _) => {
                Err(Error::BadPart { why: "groups go with ada alone".into() })
            }
        }
    }

    /// What another process needs to make the same; nothing where all rows are needed and not kept.
    pub(crate) fn kept(&self) -> Kept {
        match self {
            Self::Groups(groups) => {
                let mean = |means: &GroupMeans| KeptMeans {
                    means: means.means().iter().copied().collect(),
                    divisors: means.divisors().to_vec(),
                };
                Kept::Groups {
                    grouping: groups.grouping.clone(),
                    sizes: groups.sizes.clone(),
                    means: groups.means.iter().map(mean).collect(),
                }
            }
            Self::Mixed(mixed) => Kept::Rows(mixed.loaded.clone()),
        }
    }

    /// The columns whose numbers tell groups apart.
    pub(crate) fn numeric(&self) -> Vec<usize> {
        match self {
            Self::Groups(groups) => groups.grouping.numeric().copied().collect(),
            Self::Mixed(_) => vec![],
        }
    }

    /// Whether many copies can be at hand at once.
    pub(crate) fn is_small(&self) -> bool {
        matches!(self, Self::Groups(_))
    }

    /// The groups with their sizes.
    pub(crate) fn groups(&self) -> Vec<GroupSummary> {
        let Self::Groups(groups) = self else { return vec![] };
        let names = groups.grouping.names();
        let summary = |(group, &rows): (usize, &u64)| GroupSummary {
            group,
            name: names.as_ref().map(|names| names[group].clone()),
            rows,
        };
        let filled = groups.sizes.iter().filter(|&&size| size > 0);
        filled.enumerate().map(summary).collect()
    }

    /// The groups of the rows of a block, the same in every copy, if the method has groups.
    pub(crate) fn label(&self, block: &Block) -> Result<Option<Arc<[u32]>>> {
        match self {
            Self::Groups(groups) => groups.label(block).map(|labels| Some(labels.into())),
            Self::Mixed(_) => Ok(None),
        }
    }

    /// Prepares a copy; copy 0 are the originals.
    pub(crate) fn copy(&self, copy: usize, seed: Seed) -> Result<CopyGenerator<'_>> {
        let step = copy.checked_sub(1).map(|step| step as u64);
        let drawn = match (self, step) {
            (Self::Mixed(mixed), Some(step)) => mixed.copy(seed, step)?,
            _ => None,
        };
        Ok(CopyGenerator { maker: self, seed, step, drawn })
    }
}

/// Sums of the rows of every group, as far as they were read.
#[derive(Serialize, Deserialize)]
pub(crate) struct Sums {
    of_column: Vec<GroupSums>,
    sizes: Vec<u64>,
    /// Of tables that are read again, and have few groups.
    #[serde(skip)]
    labels: Option<Labels>,
}

impl Sums {
    /// Whether there is room for sums, twice while they become means.
    fn fits(groups: usize, moved: usize, memory: u64) -> bool {
        (groups as u64).saturating_mul(moved as u64 * 64) <= memory / 2
    }

    /// Nothing yet.
    pub(crate) fn new(groups: usize, moved: usize, memory: u64) -> Result<Self> {
        if !Self::fits(groups, moved, memory) {
            return Err(Error::TooManyGroups { groups, memory });
        }
        let of_column = vec![GroupSums::new(groups, 1); moved];
        Ok(Self { of_column, sizes: vec![0; groups], labels: None })
    }

    /// Keeps the groups of so many rows, which will come again in the same order, if there is room.
    pub(crate) fn keep_labels(&mut self, rows: u64, memory: u64) {
        self.labels = Labels::new(self.sizes.len(), rows, memory);
    }

    pub(crate) fn add(
        &mut self,
        block: &Block,
        grouping: &Grouping,
        (moved, weight): (&[usize], Option<usize>),
    ) -> Result<()> {
        let labels = grouping.label(&block.batch)?;
        if let Some(all) = &mut self.labels {
            all.extend(&labels);
        }
        self.add_labeled(block, &labels, (moved, weight))
    }

    /// Adds rows whose groups are known.
    pub(crate) fn add_labeled(
        &mut self,
        block: &Block,
        labels: &[u32],
        (moved, weight): (&[usize], Option<usize>),
    ) -> Result<()> {
        for &label in labels {
            self.sizes[label as usize] += 1;
        }
        let weights = weights(&block.batch, weight);
        self.of_column.par_iter_mut().zip(moved).try_for_each(|(sums, &place)| {
            let present = Present::of(&numbers(block.batch.column(place)));
            let weights = weights.as_ref().map(|weights| present.pick(weights));
            sums.add(present.view(), &present.pick(labels), weights.as_deref())
        })?;
        Ok(())
    }

    /// Makes room for more groups; whether there is any.
    pub(crate) fn grow(&mut self, groups: usize, memory: u64) -> bool {
        if !Self::fits(groups, self.of_column.len(), memory) {
            return false;
        }
        self.of_column.iter_mut().for_each(|sums| sums.grow(groups));
        self.sizes.resize(groups, 0);
        true
    }

    /// Adds sums whose groups have other numbers: their places here.
    pub(crate) fn merge_at(&mut self, other: &Self, places: &[u32]) -> Result<()> {
        for (sums, other) in self.of_column.iter_mut().zip(&other.of_column) {
            sums.merge_at(other, places)?;
        }
        for (&place, more) in places.iter().zip(&other.sizes) {
            self.sizes[place as usize] += more;
        }
        Ok(())
    }

    /// The sums of some of the columns.
    pub(crate) fn of(mut self, columns: &[usize]) -> Self {
        self.of_column = columns.iter().map(|&column| self.of_column[column].clone()).collect();
        self
    }

    pub(crate) fn merge(&mut self, other: &Self) -> Result<()> {
        let shape = |sums: &Self| (sums.of_column.len(), sums.sizes.len());
        if shape(self) != shape(other) {
            return Err(Error::BadPart { why: "it has other groups or columns".into() });
        }
        for (sums, other) in self.of_column.iter_mut().zip(&other.of_column) {
            sums.merge(other)?;
        }
        for (size, more) in self.sizes.iter_mut().zip(&other.sizes) {
            *size += more;
        }
        Ok(())
    }

    pub(crate) fn finish(self, grouping: Grouping, ada: &AdaConfig) -> Result<Generator> {
        let means = self.of_column.into_iter().map(GroupSums::finish);
        let means = means.collect::<windlass::Result<_>>()?;
        Groups::new(grouping, self.sizes, means, self.labels, ada).map(Generator::Groups)
    }
}

impl Groups {
    fn new(
        grouping: Grouping,
        sizes: Vec<u64>,
        means: Vec<GroupMeans>,
        labels: Option<Labels>,
        ada: &AdaConfig,
    ) -> Result<Self> {
        let mut next = 0;
        let number = |&size: &u64| {
            let number = next;
            next += u32::from(size > 0);
            number
        };
        let numbers = sizes.iter().map(number).collect();
        let (gammas, per) = (ada.gamma.check()?, ada.per);
        Ok(Self { grouping, sizes, numbers, means, labels, gammas, per })
    }

    fn label(&self, block: &Block) -> Result<Vec<u32>> {
        match &self.labels {
            Some(labels) => labels
                .get(block.first, block.rows())
                .ok_or_else(|| Error::Changed { path: "the table".into() }),
            None => self.grouping.label(&block.batch),
        }
    }
}

/// The values of a column that are there.
struct Present {
    values: Float64Array,
    /// Their rows, if some are missing.
    rows: Option<Vec<usize>>,
}

impl Present {
    fn of(column: &Float64Array) -> Self {
        match column.nulls().filter(|nulls| nulls.null_count() > 0) {
            None => Self { values: column.clone(), rows: None },
            Some(nulls) => {
                let rows: Vec<usize> = nulls.valid_indices().collect();
                let values = rows.iter().map(|&row| column.value(row)).collect::<Vec<_>>();
                Self { values: values.into(), rows: Some(rows) }
            }
        }
    }

    fn view(&self) -> ArrayView2<'_, f64> {
        let values = self.values.values();
        ArrayView2::from_shape((values.len(), 1), values).expect("one column")
    }

    fn pick<'a, T: Copy>(&self, all: &'a [T]) -> std::borrow::Cow<'a, [T]> {
        match &self.rows {
            None => all.into(),
            Some(rows) => rows.iter().map(|&row| all[row]).collect(),
        }
    }
}

/// A copy, as far as it can be made at once.
pub(crate) struct CopyGenerator<'a> {
    maker: &'a Generator,
    seed: Seed,
    /// `None` for the originals.
    step: Option<u64>,
    /// The whole copy, where it is made as a whole.
    drawn: Option<Arc<Drawn>>,
}

impl CopyGenerator<'_> {
    /// Prepares a block, whose rows have these groups, if there are groups.
    pub(crate) fn block(
        &self,
        block: &Block,
        labels: Option<&Arc<[u32]>>,
    ) -> Result<BlockGenerator<'_>> {
        let (rows, labels) = (block.rows(), labels.cloned());
        let mut made =
            BlockGenerator { maker: self.maker, rows, labels, strength: None, drawn: None };
        match self.maker {
            Generator::Groups(groups) => {
                made.strength = self.step.map(|step| match groups.per {
                    Per::Batch => Strength::Shared(groups.gammas.shared(self.seed, step)),
                    Per::Row => {
                        let gamma = |row| groups.gammas.of_row(self.seed, step, block.id(row));
                        Strength::PerRow((0..rows).map(gamma).collect())
                    }
                });
            }
            Generator::Mixed(mixed) => {
                if let Some(step) = self.step {
                    made.drawn = mixed.block(block, self.drawn.as_ref(), (self.seed, step))?;
                }
            }
        }
        Ok(made)
    }
}

/// A block of a copy.
pub(crate) struct BlockGenerator<'a> {
    maker: &'a Generator,
    rows: usize,
    labels: Option<Arc<[u32]>>,
    strength: Option<Strength>,
    drawn: Option<Made>,
}

impl BlockGenerator<'_> {
    /// The values of a moved column, from the originals. What is missing stays so, and so does what would
    /// be mixed with a missing value.
    pub(crate) fn column(&self, index: usize, original: &Float64Array) -> Result<Float64Array> {
        match (self.maker, &self.drawn, &self.labels, &self.strength) {
            (Generator::Groups(groups), _, Some(labels), Some(strength)) => {
                move_toward(&groups.means[index], original, labels, strength)
            }
            (Generator::Mixed(mixed), Some(made), ..) => Ok(made.column(mixed, index, original)),
            _ => Ok(original.clone()),
        }
    }

    /// Which rows count, if not all do.
    pub(crate) fn kept(&self) -> Option<Vec<bool>> {
        self.drawn.as_ref()?.kept()
    }

    /// The group of every row, if the method has groups.
    pub(crate) fn groups(&self) -> Option<Vec<u32>> {
        let Generator::Groups(groups) = self.maker else { return None };
        let labels = self.labels.as_ref()?;
        Some(labels.iter().map(|&label| groups.numbers[label as usize]).collect())
    }

    pub(crate) fn has_gamma(&self) -> bool {
        match self.maker {
            Generator::Groups(_) => true,
            Generator::Mixed(mixed) => mixed.gamma,
        }
    }

    fn how(&self, row: usize) -> Option<How> {
        self.drawn.as_ref()?.how(row)
    }

    /// The strength of a row; none for an original.
    pub(crate) fn gamma(&self, row: usize) -> Option<f64> {
        match &self.strength {
            Some(Strength::Shared(gamma)) => Some(*gamma),
            Some(Strength::PerRow(gammas)) => Some(gammas[row]),
            None => match self.how(row) {
                Some(How::Projection { gamma }) => Some(gamma),
                _ => None,
            },
        }
    }

    /// The partners of the rows, as they are called in the output, and λ of each; none for originals.
    pub(crate) fn pairs(&self) -> Option<(ArrayRef, Float64Array)> {
        let Generator::Mixed(mixed) = self.maker else { return None };
        let pair = |row| match self.how(row) {
            Some(How::Pair { partner, lambda }) => (Some(partner), Some(lambda)),
            _ => (None, None),
        };
        let (partners, lambdas): (Vec<_>, Vec<_>) = (0..self.rows).map(pair).unzip();
        mixed.pairs.then(|| (mixed.called(&partners), lambdas.into()))
    }

    /// The smallest and the largest strength.
    pub(crate) fn gammas(&self) -> Option<(f64, f64)> {
        let rows = match &self.strength {
            Some(Strength::Shared(gamma)) => return Some((*gamma, *gamma)),
            _ if self.has_gamma() => 0..self.rows,
            _ => 0..0,
        };
        let gammas = rows.filter_map(|row| self.gamma(row));
        gammas.fold(None, |range, gamma| {
            let (low, high) = range.unwrap_or((gamma, gamma));
            Some((gamma.min(low), gamma.max(high)))
        })
    }
}

/// Moves the values of a column that are there.
fn move_toward(
    means: &GroupMeans,
    column: &Float64Array,
    labels: &[u32],
    strength: &Strength,
) -> Result<Float64Array> {
    let present = Present::of(column);
    let strength = match strength {
        Strength::PerRow(all) => Strength::PerRow(present.pick(all).into_owned()),
        shared @ Strength::Shared(_) => shared.clone(),
    };
    let moved = means.apply(present.view(), &present.pick(labels), &strength)?;
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
