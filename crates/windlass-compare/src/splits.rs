//! Train/test splits: which rows every run is trained and tested on.

use serde::{Deserialize, Serialize};
use windlass::{Seed, Stream};
use windlass_model::{Split, groups_of};
use windlass_table::LoadedTable;

use crate::Result;

/// Salts for independent seeds derived from one seed.
pub(crate) mod salt {
    pub(crate) const SPLIT: u64 = 1 << 32;
    pub(crate) const REPEAT: u64 = 1 << 33;
    pub(crate) const PLACEBO: u64 = 1 << 34;
    pub(crate) const OUTER: u64 = 1 << 35;
    pub(crate) const SEARCH: u64 = 1 << 36;
    pub(crate) const TRIAL: u64 = 1 << 37;
    pub(crate) const UNITS: u64 = 1 << 38;
}

/// One train/test split.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// The repeat, from 0.
    pub repeat: usize,
    /// The fold, from 0.
    pub fold: usize,
    /// Training rows, ordered such that the first n are a sample of n.
    pub train: Vec<usize>,
    /// Validation rows; `None` takes them from the training rows.
    pub valid: Option<Vec<usize>>,
    /// Test rows: of the table, or of the separate test table.
    pub test: Vec<usize>,
}

impl Fold {
    /// The training rows of a run with this training size, in table order.
    #[must_use]
    pub fn training_rows(&self, size: Option<usize>) -> Vec<usize> {
        let mut rows = self.train[..size.unwrap_or(self.train.len())].to_vec();
        rows.sort_unstable();
        rows
    }
}

/// Which rows are tested on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitRule {
    /// A separate test table.
    TestFile,
    /// Splits passed to [`Comparison::with_splits`](crate::Comparison::with_splits), such as those of a
    /// published experiment.
    #[serde(rename = "given")]
    Provided(ProvidedSplits),
    /// Held-out rows of the table.
    #[serde(untagged)]
    HeldOut(Split),
}

impl From<Split> for SplitRule {
    fn from(split: Split) -> Self {
        Self::HeldOut(split)
    }
}

/// Properties of splits that the caller provides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvidedSplits {
    /// For the report: "3 training sets, the same test rows".
    pub description: String,
    /// The column of domains; errors are reported for each.
    pub domain: Option<String>,
    /// Rows that the splits share.
    #[serde(rename = "common")]
    pub overlap: SplitOverlap,
}

/// The rows that splits share, which determines the variance of the mean over splits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SplitOverlap {
    /// Disjoint training rows.
    #[serde(rename = "nothing")]
    Disjoint,
    /// Resamples of one table, one per repeat; the folds of a repeat are trainings on the same rows.
    #[serde(rename = "table")]
    Resampled,
    /// All splits have the same test domains.
    #[serde(rename = "held-out-domains")]
    SameTestDomains,
    /// All splits have the same test rows, in time order.
    #[serde(rename = "held-out-rows")]
    SameTestRows,
}

impl SplitRule {
    /// The same rule for splits inside the training rows.
    #[must_use]
    pub fn split(&self) -> Split {
        match self {
            Self::HeldOut(split) => split.clone(),
            Self::Provided(ProvidedSplits {
                domain: Some(column),
                overlap: SplitOverlap::SameTestDomains,
                ..
            }) => Split::Group(column.clone()),
            Self::TestFile | Self::Provided(_) => Split::Rows,
        }
    }

    /// The column of domains for which errors are reported.
    #[must_use]
    pub fn domain(&self) -> Option<&str> {
        match self {
            Self::HeldOut(Split::Domain(column)) => Some(column),
            Self::Provided(splits) => splits.domain.as_deref(),
            Self::HeldOut(_) | Self::TestFile => None,
        }
    }

    /// Names a fold in messages.
    pub(crate) fn fold_name(&self, fold: &Fold) -> String {
        let Fold { repeat, fold, .. } = fold;
        match self {
            Self::Provided(_) => format!("seed {repeat}"),
            _ => format!("repeat {}, fold {}", repeat + 1, fold + 1),
        }
    }

    /// Draws the splits of all repeats.
    pub(crate) fn draw(
        &self,
        loaded: &LoadedTable,
        test: Option<&LoadedTable>,
        folds: usize,
        repeats: usize,
        seed: Seed,
    ) -> Result<Vec<Fold>> {
        let batch = &loaded.batch;
        let split = self.split();
        let mut splits = vec![];
        let mut time_rank = vec![0; batch.num_rows()];
        for (rank, row) in split.in_time(batch)?.into_iter().enumerate() {
            time_rank[row] = rank;
        }
        for repeat in 0..repeats {
            let seed = Seed(seed.shared(Stream::Split, salt::REPEAT | repeat as u64).bits());
            let pairs: Vec<(Vec<usize>, Vec<usize>)> = if let Some(test) = test {
                let all = |table: &LoadedTable| (0..table.batch.num_rows()).collect();
                (0..folds).map(|_| (all(loaded), all(test))).collect()
            } else {
                let pairs = split.folds(batch, split.fold_count(batch, folds)?, seed)?;
                pairs.into_iter().map(|pair| (pair.train, pair.held_out)).collect()
            };
            for (fold, (mut train, test)) in pairs.into_iter().enumerate() {
                match split {
                    // The latest rows first.
                    Split::Time(_) => {
                        train.sort_by_key(|&row| std::cmp::Reverse(time_rank[row]));
                    }
                    _ => Seed(seed.shared(Stream::Split, 1 + fold as u64).bits())
                        .shared(Stream::Split, 0)
                        .shuffle(&mut train),
                }
                splits.push(Fold { repeat, fold, train, valid: None, test });
            }
            // These splits are not random: a second repeat would be the same.
            if matches!(split, Split::Time(_)) || self.is_leave_one_out(loaded, folds)? {
                break;
            }
        }
        Ok(splits)
    }

    /// Whether every group is held out alone.
    pub(crate) fn is_leave_one_out(&self, loaded: &LoadedTable, folds: usize) -> Result<bool> {
        let Self::HeldOut(split) = self else { return Ok(false) };
        let Some(column) = split.group_column() else { return Ok(false) };
        let folds = split.fold_count(&loaded.batch, folds)?;
        Ok(groups_of(&loaded.batch, column)?.len() <= folds)
    }
}
