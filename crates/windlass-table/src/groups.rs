//! Which rows of a table belong together.

use arrow_array::{Array, RecordBatch};
use arrow_schema::Schema;
use ndarray::Axis;
use serde::{Deserialize, Serialize};
use windlass::{Bins, Clustering, RowSample, Seed, sample_within};

use crate::categories::Categories;
use crate::column::numbers;
use crate::profile::{Profile, matrix};
use crate::roles::Roles;
use crate::settings::{AdaConfig, AnchorSource};
use crate::{Error, Result};

/// The groups of a table, found in passes over its blocks.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Grouping {
    /// Named by the values of columns.
    Named(Categories),
    /// Found among the rows of every level of a category, one after the other.
    Found { levels: Categories, of_level: Vec<Finder> },
}

/// What tells the group of a row inside its level.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Finder {
    Clusters {
        columns: Vec<usize>,
        clusters: windlass::FittedClusters,
    },
    /// Bins of a column; rows without a value are a group of their own.
    Bins {
        column: usize,
        bins: Bins,
    },
    /// One group.
    All,
}

impl Finder {
    fn groups(&self) -> usize {
        match self {
            Self::Clusters { clusters, .. } => clusters.groups(),
            Self::Bins { bins, .. } => bins.bins() + 1,
            Self::All => 1,
        }
    }

    fn label(&self, batch: &RecordBatch) -> Result<Vec<u32>> {
        Ok(match self {
            Self::Clusters { columns, clusters } => clusters.assign_rows(matrix(batch, columns))?,
            Self::Bins { column, bins } => {
                let values = numbers(batch.column(*column));
                let missing = u32::try_from(bins.bins()).unwrap_or(u32::MAX);
                let filled: Vec<f64> = values.iter().map(|value| value.unwrap_or(0.0)).collect();
                let mut labels = bins.assign(&filled)?;
                for (row, label) in labels.iter_mut().enumerate() {
                    if values.is_null(row) {
                        *label = missing;
                    }
                }
                labels
            }
            Self::All => vec![0; batch.num_rows()],
        })
    }
}

impl Grouping {
    pub(crate) fn groups(&self) -> usize {
        match self {
            Self::Named(categories) => categories.len(),
            Self::Found { of_level, .. } => of_level.iter().map(Finder::groups).sum(),
        }
    }

    /// What the groups are called, where they have names.
    pub(crate) fn names(&self) -> Option<Vec<String>> {
        match self {
            Self::Named(categories) => Some(categories.names()),
            Self::Found { .. } => None,
        }
    }

    /// The group of every row.
    pub(crate) fn label(&self, batch: &RecordBatch) -> Result<Vec<u32>> {
        let (levels, of_level) = match self {
            Self::Named(categories) => return categories.label(batch),
            Self::Found { levels, of_level } => (levels, of_level),
        };
        if let [all] = &of_level[..]
            && levels.columns().is_empty()
        {
            return all.label(batch);
        }
        let mut first = vec![];
        let mut next = 0;
        for finder in of_level {
            first.push(next);
            next += u32::try_from(finder.groups()).unwrap_or(u32::MAX);
        }
        let mut labels = vec![0; batch.num_rows()];
        for (level, members) in members(levels, batch)? {
            let inner = of_level[level].label(&select(batch, &members))?;
            for (&row, label) in members.iter().zip(inner) {
                labels[row] = first[level] + label;
            }
        }
        Ok(labels)
    }

    /// Whether a table of so many columns can have these groups.
    pub(crate) fn fits(&self, columns: usize) -> bool {
        let categories = match self {
            Self::Named(categories) => categories,
            Self::Found { levels, of_level } if levels.len() == of_level.len() => levels,
            Self::Found { .. } => return false,
        };
        categories.columns().iter().chain(self.numeric()).all(|&column| column < columns)
    }

    /// The columns whose numbers tell groups apart.
    pub(crate) fn numeric(&self) -> impl Iterator<Item = &usize> {
        let finders = match self {
            Self::Named(_) => &[][..],
            Self::Found { of_level, .. } => of_level,
        };
        finders.iter().flat_map(|finder| match finder {
            Finder::Clusters { columns, .. } => &columns[..],
            Finder::Bins { column, .. } => std::slice::from_ref(column),
            Finder::All => &[],
        })
    }
}

/// What is looked for in the rows of every level of a category.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct GroupingFit {
    levels: Categories,
    /// Groups in every level.
    count: usize,
    by: By,
    seed: u64,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
enum By {
    KMeans {
        columns: Vec<usize>,
        weight: Option<usize>,
        on: windlass::ClusterOn,
        scale: windlass::ClusterScaling,
    },
    Bins {
        column: usize,
        equal_size: bool,
    },
}

/// What is found out before any rows are looked at.
pub(crate) enum Start {
    /// The groups are known.
    Known(Grouping),
    /// They are to be looked for.
    GroupingFit(GroupingFit),
}

impl GroupingFit {
    /// What is to be looked for; `levels` were learnt when the table was profiled.
    pub(crate) fn start(
        schema: &Schema,
        ada: &AdaConfig,
        levels: Categories,
        (profile, roles): (&Profile, &Roles),
        (seed, memory): (u64, u64),
    ) -> Result<Start> {
        let count = ada.groups_in(profile.kept, levels.len());
        if count as u64 > profile.kept {
            return Err(Error::MoreClustersThanRows { clusters: count, rows: profile.kept });
        }
        let by = match &ada.anchors {
            AnchorSource::Column(_) => return Ok(Start::Known(Grouping::Named(levels))),
            AnchorSource::KMeans => {
                let columns = roles.clustered(ada.on);
                let sampled =
                    (levels.len() * sample_within(levels.len()) * columns.len()) as u64 * 8;
                if levels.len() > 1
                    && sampled.min(profile.kept * columns.len() as u64 * 8) > memory / 4
                {
                    return Err(Error::TooManyGroups { groups: levels.len() * count, memory });
                }
                By::KMeans { columns, weight: roles.weight, on: ada.on, scale: ada.scale }
            }
            AnchorSource::Bins(column) | AnchorSource::Quantiles(column) => {
                let column = schema.index_of(column).expect("found before");
                let equal_size = matches!(ada.anchors, AnchorSource::Quantiles(_));
                let needs = profile.kept.saturating_mul(8);
                if equal_size && needs > memory / 4 {
                    let (what, needs) = ("a column to take quantiles of", needs.saturating_mul(4));
                    return Err(Error::NeedsMemory { what, needs, memory });
                }
                By::Bins { column, equal_size }
            }
            AnchorSource::Matrix(_) => unreachable!("a matrix has no groups"),
        };
        Ok(Start::GroupingFit(Self { levels, count, by, seed }))
    }

    /// The columns that are clustered, if all rows are clustered together.
    pub(crate) fn clustered(&self) -> Option<&[usize]> {
        match &self.by {
            By::KMeans { columns, .. } if self.levels.columns().is_empty() => Some(columns),
            _ => None,
        }
    }

    /// Nothing seen yet.
    pub(crate) fn empty(&self) -> GroupingAccumulator {
        let levels = self.levels.len();
        match &self.by {
            By::KMeans { columns, .. } => {
                let sample = RowSample::new(sample_within(levels), columns.len(), Seed(self.seed));
                GroupingAccumulator::Samples(vec![sample; levels])
            }
            By::Bins { .. } => GroupingAccumulator::Values(vec![vec![]; levels]),
        }
    }

    /// Takes the rows of a block.
    pub(crate) fn see(&self, batch: &RecordBatch, seen: &mut GroupingAccumulator) -> Result<()> {
        match (&self.by, seen) {
            (By::KMeans { columns, weight, .. }, GroupingAccumulator::Samples(samples)) => {
                let (values, weights) = (matrix(batch, columns), weights(batch, *weight));
                if let [all] = &mut samples[..] {
                    return Ok(all.add(values.view(), weights.as_deref())?);
                }
                for (level, members) in members(&self.levels, batch)? {
                    let weights: Option<Vec<f64>> =
                        weights.as_ref().map(|all| members.iter().map(|&row| all[row]).collect());
                    let values = values.select(Axis(0), &members);
                    samples[level].add(values.view(), weights.as_deref())?;
                }
            }
            (By::Bins { column, equal_size }, GroupingAccumulator::Values(values)) => {
                let column = numbers(batch.column(*column));
                for (value, level) in column.iter().zip(self.levels.label(batch)?) {
                    let values = &mut values[level as usize];
                    values.extend(value);
                    if !equal_size {
                        ends(values);
                    }
                }
            }
            _ => unreachable!("made by `empty`"),
        }
        Ok(())
    }

    /// Adds what was seen in another part of the table.
    pub(crate) fn merge(
        &self,
        seen: &mut GroupingAccumulator,
        other: GroupingAccumulator,
    ) -> Result<()> {
        match (seen, other) {
            (GroupingAccumulator::Samples(samples), GroupingAccumulator::Samples(others)) => {
                for (sample, other) in samples.iter_mut().zip(&others) {
                    sample.merge(other)?;
                }
            }
            (GroupingAccumulator::Values(values), GroupingAccumulator::Values(others)) => {
                for (values, others) in values.iter_mut().zip(others) {
                    for value in others {
                        values.push(value);
                        if matches!(self.by, By::Bins { equal_size: false, .. }) {
                            ends(values);
                        }
                    }
                }
            }
            _ => return Err(Error::BadPart { why: "it is of another pass".into() }),
        }
        Ok(())
    }

    /// The groups.
    pub(crate) fn finish(self, seen: &GroupingAccumulator) -> Result<Grouping> {
        let of_level = match (&self.by, seen) {
            (By::KMeans { columns, on, scale, .. }, GroupingAccumulator::Samples(samples)) => {
                let clusters = self.count.into();
                let clustering = Clustering { clusters, on: *on, scale: *scale };
                let find = |sample: &RowSample| {
                    let clusters = clustering.fit_sample(sample, Seed(self.seed))?;
                    Ok(Finder::Clusters { columns: columns.clone(), clusters })
                };
                samples.iter().map(find).collect::<Result<_>>()?
            }
            (&By::Bins { column, equal_size }, GroupingAccumulator::Values(values)) => {
                let find = |values: &Vec<f64>| {
                    if values.is_empty() {
                        return Ok(Finder::All);
                    }
                    let bins = if equal_size {
                        Bins::equal_size(values, self.count)?
                    } else {
                        Bins::equal_width(values, self.count)?
                    };
                    Ok(Finder::Bins { column, bins })
                };
                values.iter().map(find).collect::<Result<_>>()?
            }
            _ => unreachable!("made by `empty`"),
        };
        Ok(Grouping::Found { levels: self.levels, of_level })
    }
}

/// What a search has seen so far, level by level.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum GroupingAccumulator {
    Samples(Vec<RowSample>),
    Values(Vec<Vec<f64>>),
}

/// Of equally wide bins only the ends matter.
fn ends(values: &mut Vec<f64>) {
    if let &mut [low, high, more] = &mut values[..] {
        *values = vec![low.min(high).min(more), low.max(high).max(more)];
    }
}

/// The rows of every level that a block has.
fn members(levels: &Categories, batch: &RecordBatch) -> Result<Vec<(usize, Vec<usize>)>> {
    let mut members = vec![vec![]; levels.len()];
    for (row, level) in levels.label(batch)?.into_iter().enumerate() {
        members[level as usize].push(row);
    }
    Ok(members.into_iter().enumerate().filter(|(_, rows)| !rows.is_empty()).collect())
}

fn select(batch: &RecordBatch, rows: &[usize]) -> RecordBatch {
    let rows: arrow_array::UInt64Array = rows.iter().map(|&row| Some(row as u64)).collect();
    arrow_select::take::take_record_batch(batch, &rows).expect("rows of the block")
}

/// The weights of a block.
pub(crate) fn weights(batch: &RecordBatch, weight: Option<usize>) -> Option<Vec<f64>> {
    weight.map(|column| numbers(batch.column(column)).values().to_vec())
}
