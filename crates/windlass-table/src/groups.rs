//! Which rows of a table belong together.

use arrow_array::{Array, RecordBatch};
use ndarray::Axis;
use windlass::{Bins, Clustering, KMeans, RowSample, Seed, sample_within};

use crate::categories::Categories;
use crate::column::numbers;
use crate::profile::{Profile, matrix};
use crate::roles::Roles;
use crate::rows::Rows;
use crate::settings::{AdaSettings, AnchorChoice};
use crate::{Error, Result, Watch};

/// The groups of a table, found in passes over its blocks.
#[derive(Debug)]
pub(crate) enum Grouping {
    /// Named by the values of columns.
    Named(Categories),
    /// Found among the rows of every level of a category, one after the other.
    Found { levels: Categories, of_level: Vec<Finder>, first: Vec<u32> },
}

/// What tells the group of a row inside its level.
#[derive(Debug)]
pub(crate) enum Finder {
    Clusters {
        columns: Vec<usize>,
        clusters: windlass::Clusters,
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
    /// Finds the groups; `levels` were learnt when the table was profiled.
    pub(crate) fn fit(
        rows: &Rows<'_>,
        ada: &AdaSettings,
        categories: Categories,
        (profile, roles): (&Profile, &Roles),
        (seed, memory): (Seed, u64),
        watch: &dyn Watch,
    ) -> Result<Self> {
        let levels = categories;
        let count = ada.groups_in(profile.kept, levels.len());
        if count as u64 > profile.kept {
            return Err(Error::MoreClustersThanRows { clusters: count, rows: profile.kept });
        }
        let of_level = match &ada.anchors {
            AnchorChoice::Column(_) => return Ok(Self::Named(levels)),
            AnchorChoice::KMeans => {
                let kmeans = KMeans::new(count);
                let clustering = Clustering { kmeans, on: ada.on, scale: ada.scale };
                let columns = match ada.on {
                    windlass::On::X => roles.features.clone(),
                    windlass::On::Y => roles.targets.clone(),
                    windlass::On::Xy => roles.moved(),
                };
                let sampled =
                    (levels.len() * sample_within(levels.len()) * columns.len()) as u64 * 8;
                if levels.len() > 1
                    && sampled.min(profile.kept * columns.len() as u64 * 8) > memory / 4
                {
                    return Err(Error::TooManyGroups { groups: levels.len() * count, memory });
                }
                clusters(rows, &clustering, &columns, &levels, roles.weight, seed, watch)?
            }
            AnchorChoice::Bins(column) | AnchorChoice::Quantiles(column) => {
                let column = rows.table.schema().index_of(column).expect("found before");
                let equal_size = matches!(ada.anchors, AnchorChoice::Quantiles(_));
                let needs = profile.kept.saturating_mul(8);
                if equal_size && needs > memory / 4 {
                    let what = "a column to take quantiles of";
                    return Err(Error::NeedsMemory {
                        what,
                        needs: needs.saturating_mul(4),
                        memory,
                    });
                }
                bins(rows, column, &levels, (count, equal_size), watch)?
            }
            AnchorChoice::Matrix(_) => unreachable!("a matrix has no groups"),
        };
        let mut first = vec![];
        let mut next = 0;
        for finder in &of_level {
            first.push(next);
            next += u32::try_from(finder.groups()).unwrap_or(u32::MAX);
        }
        Ok(Self::Found { levels, of_level, first })
    }

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
        let (levels, of_level, first) = match self {
            Self::Named(categories) => return categories.label(batch).ok_or_else(changed),
            Self::Found { levels, of_level, first } => (levels, of_level, first),
        };
        if let [all] = &of_level[..] {
            return all.label(batch);
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
}

/// The rows of every level that a block has.
fn members(levels: &Categories, batch: &RecordBatch) -> Result<Vec<(usize, Vec<usize>)>> {
    let mut members = vec![vec![]; levels.len()];
    for (row, level) in levels.label(batch).ok_or_else(changed)?.into_iter().enumerate() {
        members[level as usize].push(row);
    }
    Ok(members.into_iter().enumerate().filter(|(_, rows)| !rows.is_empty()).collect())
}

/// A value turned up that was not there when the table was read first.
fn changed() -> Error {
    Error::Changed { path: "the table".into() }
}

fn select(batch: &RecordBatch, rows: &[usize]) -> RecordBatch {
    let rows: arrow_array::UInt64Array = rows.iter().map(|&row| Some(row as u64)).collect();
    arrow_select::take::take_record_batch(batch, &rows).expect("rows of the block")
}

/// The weights of a block.
pub(crate) fn weights(batch: &RecordBatch, weight: Option<usize>) -> Option<Vec<f64>> {
    weight.map(|column| numbers(batch.column(column)).values().to_vec())
}

fn clusters(
    rows: &Rows<'_>,
    clustering: &Clustering,
    columns: &[usize],
    levels: &Categories,
    weight: Option<usize>,
    seed: Seed,
    watch: &dyn Watch,
) -> Result<Vec<Finder>> {
    watch.stage("finding groups");
    let capacity = sample_within(levels.len());
    let mut samples = vec![RowSample::new(capacity, columns.len(), seed); levels.len()];
    for block in rows.blocks() {
        let batch = block?.batch;
        watch.advance(batch.num_rows() as u64)?;
        let (values, weights) = (matrix(&batch, columns), weights(&batch, weight));
        if let [all] = &mut samples[..] {
            all.add(values.view(), weights.as_deref())?;
            continue;
        }
        for (level, members) in members(levels, &batch)? {
            let weights: Option<Vec<f64>> =
                weights.as_ref().map(|all| members.iter().map(|&row| all[row]).collect());
            samples[level].add(values.select(Axis(0), &members).view(), weights.as_deref())?;
        }
    }
    let find = |sample: &RowSample| {
        let clusters = clustering.fit_sample(sample, seed)?;
        Ok(Finder::Clusters { columns: columns.to_vec(), clusters })
    };
    samples.iter().map(find).collect()
}

fn bins(
    rows: &Rows<'_>,
    column: usize,
    levels: &Categories,
    (count, equal_size): (usize, bool),
    watch: &dyn Watch,
) -> Result<Vec<Finder>> {
    watch.stage("finding groups");
    let mut values = vec![vec![]; levels.len()];
    for block in rows.blocks() {
        let batch = block?.batch;
        watch.advance(batch.num_rows() as u64)?;
        let column = numbers(batch.column(column));
        for (value, level) in column.iter().zip(levels.label(&batch).ok_or_else(changed)?) {
            let values: &mut Vec<f64> = &mut values[level as usize];
            values.extend(value);
            // Of equally wide bins only the ends matter.
            if let (false, &[low, high, more]) = (equal_size, &values[..]) {
                *values = vec![low.min(high).min(more), low.max(high).max(more)];
            }
        }
    }
    let find = |values: &Vec<f64>| {
        if values.is_empty() {
            return Ok(Finder::All);
        }
        let bins = if equal_size {
            Bins::equal_size(values, count)?
        } else {
            Bins::equal_width(values, count)?
        };
        Ok(Finder::Bins { column, bins })
    };
    values.iter().map(find).collect()
}
