//! The groups of a table: assigns a group to every row.

use arrow_array::{Array, RecordBatch};
use serde::{Deserialize, Serialize};
use windlass::{Bins, FittedClusters};

use crate::Result;
use crate::column::{matrix, select, to_f64};
use crate::schema::categories::Categories;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Grouping {
    /// One group for each value of a column, or pair of values of two.
    Named(Categories),
    /// Groups within every level of a category, numbered level by level.
    #[serde(rename = "found")]
    WithinLevels {
        levels: Categories,
        #[serde(rename = "of_level")]
        groupings: Vec<LevelGrouping>,
    },
}

/// The groups within a level.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LevelGrouping {
    Clusters {
        columns: Vec<usize>,
        clusters: FittedClusters,
    },
    /// Bins of a column; rows without a value form a separate group.
    Bins {
        column: usize,
        bins: Bins,
    },
    /// One group.
    All,
}

impl LevelGrouping {
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
                let values = to_f64(batch.column(*column));
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
            Self::WithinLevels { groupings, .. } => {
                groupings.iter().map(LevelGrouping::groups).sum()
            }
        }
    }

    /// The names of the groups, if they have names.
    pub(crate) fn names(&self) -> Option<Vec<String>> {
        match self {
            Self::Named(categories) => Some(categories.names()),
            Self::WithinLevels { .. } => None,
        }
    }

    /// The group of every row.
    pub(crate) fn label(&self, batch: &RecordBatch) -> Result<Vec<u32>> {
        let (levels, groupings) = match self {
            Self::Named(categories) => return categories.label(batch),
            Self::WithinLevels { levels, groupings } => (levels, groupings),
        };
        if let [all] = &groupings[..]
            && levels.columns().is_empty()
        {
            return all.label(batch);
        }
        let mut first = vec![];
        let mut next = 0;
        for grouping in groupings {
            first.push(next);
            next += u32::try_from(grouping.groups()).unwrap_or(u32::MAX);
        }
        let mut labels = vec![0; batch.num_rows()];
        for (level, rows) in rows_by_level(levels, batch)? {
            let inner = groupings[level].label(&select(batch, &rows))?;
            for (&row, label) in rows.iter().zip(inner) {
                labels[row] = first[level] + label;
            }
        }
        Ok(labels)
    }

    /// Whether the groups are valid for a table with this number of columns.
    pub(crate) fn fits(&self, columns: usize) -> bool {
        let categories = match self {
            Self::Named(categories) => categories,
            Self::WithinLevels { levels, groupings } if levels.len() == groupings.len() => levels,
            Self::WithinLevels { .. } => return false,
        };
        categories.columns().iter().chain(self.numeric_columns()).all(|&column| column < columns)
    }

    /// The columns whose numbers determine the groups.
    pub(crate) fn numeric_columns(&self) -> impl Iterator<Item = &usize> {
        let groupings = match self {
            Self::Named(_) => &[][..],
            Self::WithinLevels { groupings, .. } => groupings,
        };
        groupings.iter().flat_map(|grouping| match grouping {
            LevelGrouping::Clusters { columns, .. } => &columns[..],
            LevelGrouping::Bins { column, .. } => std::slice::from_ref(column),
            LevelGrouping::All => &[],
        })
    }
}

/// The rows of a batch in every level that occurs.
pub(crate) fn rows_by_level(
    levels: &Categories,
    batch: &RecordBatch,
) -> Result<Vec<(usize, Vec<usize>)>> {
    let mut rows = vec![vec![]; levels.len()];
    for (row, level) in levels.label(batch)?.into_iter().enumerate() {
        rows[level as usize].push(row);
    }
    Ok(rows.into_iter().enumerate().filter(|(_, rows)| !rows.is_empty()).collect())
}
