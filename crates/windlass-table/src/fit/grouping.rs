//! Pass for groups that are fitted: k-means clusters, or bins of a column.

use arrow_array::RecordBatch;
use ndarray::Axis;
use serde::{Deserialize, Serialize};
use windlass::{Bins, ClusterOn, ClusterScaling, Clustering, RowSample, Seed, sample_within};

use crate::column::{matrix, row_weights, to_f64};
use crate::config::AdaConfig;
use crate::generate::grouping::{Grouping, LevelGrouping, rows_by_level};
use crate::schema::categories::Categories;
use crate::{Error, Result};

/// Finds groups within every level of a category.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct GroupingPass {
    levels: Categories,
    groups_per_level: usize,
    method: GroupingMethod,
}

/// The method of grouping, with the data of each level so far.
#[derive(Clone, Serialize, Deserialize)]
enum GroupingMethod {
    KMeans {
        columns: Vec<usize>,
        weight: Option<usize>,
        on: ClusterOn,
        scale: ClusterScaling,
        seed: u64,
        samples: Vec<RowSample>,
    },
    Bins {
        column: usize,
        /// Bins with equal numbers of rows, instead of equal width. Needs all values; equal width
        /// only the range.
        equal_size: bool,
        values: Vec<Vec<f64>>,
    },
}

impl GroupingPass {
    pub(super) fn kmeans(
        levels: Categories,
        groups_per_level: usize,
        columns: Vec<usize>,
        weight: Option<usize>,
        ada: &AdaConfig,
        seed: u64,
    ) -> Self {
        let sample = RowSample::new(sample_within(levels.len()), columns.len(), Seed(seed));
        let samples = vec![sample; levels.len()];
        let (on, scale) = (ada.on, ada.scale);
        let method = GroupingMethod::KMeans { columns, weight, on, scale, seed, samples };
        Self { levels, groups_per_level, method }
    }

    pub(super) fn bins(
        levels: Categories,
        groups_per_level: usize,
        column: usize,
        equal_size: bool,
    ) -> Self {
        let values = vec![vec![]; levels.len()];
        let method = GroupingMethod::Bins { column, equal_size, values };
        Self { levels, groups_per_level, method }
    }

    /// The columns and the sample of k-means on all rows; `None` for other groups.
    pub(super) fn single_sample(&mut self) -> Option<(&[usize], &mut RowSample)> {
        match &mut self.method {
            GroupingMethod::KMeans { columns, samples, .. } if self.levels.columns().is_empty() => {
                Some((columns, samples.first_mut()?))
            }
            _ => None,
        }
    }

    pub(super) fn add(&mut self, batch: &RecordBatch) -> Result<()> {
        match &mut self.method {
            GroupingMethod::KMeans { columns, weight, samples, .. } => {
                let (values, weights) = (matrix(batch, columns), row_weights(batch, *weight));
                if let [all] = &mut samples[..] {
                    return Ok(all.add(values.view(), weights.as_deref())?);
                }
                for (level, rows) in rows_by_level(&self.levels, batch)? {
                    let weights: Option<Vec<f64>> =
                        weights.as_ref().map(|all| rows.iter().map(|&row| all[row]).collect());
                    let values = values.select(Axis(0), &rows);
                    samples[level].add(values.view(), weights.as_deref())?;
                }
            }
            GroupingMethod::Bins { column, equal_size, values } => {
                let column = to_f64(batch.column(*column));
                for (value, level) in column.iter().zip(self.levels.label(batch)?) {
                    add_values(&mut values[level as usize], value, *equal_size);
                }
            }
        }
        Ok(())
    }

    pub(super) fn merge(&mut self, other: Self) -> Result<()> {
        match (&mut self.method, other.method) {
            (
                GroupingMethod::KMeans { samples, .. },
                GroupingMethod::KMeans { samples: others, .. },
            ) => {
                for (sample, other) in samples.iter_mut().zip(&others) {
                    sample.merge(other)?;
                }
            }
            (
                GroupingMethod::Bins { values, equal_size, .. },
                GroupingMethod::Bins { values: others, .. },
            ) => {
                for (values, others) in values.iter_mut().zip(others) {
                    add_values(values, others, *equal_size);
                }
            }
            _ => return Err(Error::bad_part("it belongs to another pass")),
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Grouping> {
        let count = self.groups_per_level;
        let groupings = match self.method {
            GroupingMethod::KMeans { columns, on, scale, seed, samples, .. } => {
                let clustering = Clustering { clusters: count.into(), on, scale };
                let fit = |sample: &RowSample| {
                    let clusters = clustering.fit_sample(sample, Seed(seed))?;
                    Ok(LevelGrouping::Clusters { columns: columns.clone(), clusters })
                };
                samples.iter().map(fit).collect::<Result<_>>()?
            }
            GroupingMethod::Bins { column, equal_size, values } => {
                let fit = |values: &Vec<f64>| {
                    if values.is_empty() {
                        return Ok(LevelGrouping::All);
                    }
                    let bins = if equal_size {
                        Bins::equal_size(values, count)?
                    } else {
                        Bins::equal_width(values, count)?
                    };
                    Ok(LevelGrouping::Bins { column, bins })
                };
                values.iter().map(fit).collect::<Result<_>>()?
            }
        };
        Ok(Grouping::WithinLevels { levels: self.levels, groupings })
    }
}

/// Adds values; only the minimum and the maximum remain unless all are needed.
fn add_values(values: &mut Vec<f64>, more: impl IntoIterator<Item = f64>, keep_all: bool) {
    for value in more {
        values.push(value);
        if let &mut [low, high, more] = &mut values[..]
            && !keep_all
        {
            *values = vec![low.min(high).min(more), low.max(high).max(more)];
        }
    }
}
