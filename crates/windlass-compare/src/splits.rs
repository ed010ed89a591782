//! Train/test splits: which rows every run is trained and tested on.

use serde::{Deserialize, Serialize};
use windlass::{Seed, Stream};
use windlass_model::{Split, groups_of};
use windlass_table::LoadedTable;

use crate::Result;

/// Keep the seeds that are derived from one seed apart.
pub(crate) mod salt {
    pub(crate) const SPLIT: u64 = 1 << 32;
    pub(crate) const REPEAT: u64 = 1 << 33;
    pub(crate) const PLACEBO: u64 = 1 << 34;
    pub(crate) const OUTER: u64 = 1 << 35;
    pub(crate) const SEARCH: u64 = 1 << 36;
    pub(crate) const TRIAL: u64 = 1 << 37;
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

/// Which rows are held out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitRule {
    /// k-fold cross-validation over rows.
    Rows,
    /// k-fold cross-validation over the groups of a column.
    Group(String),
    /// Forward chaining in the order of a column: the past predicts the future.
    Time(String),
    /// Leave one domain out; with more than ten domains, k-fold over domains.
    Domain(String),
    /// A separate test table.
    TestFile,
    /// Splits passed to [`Comparison::with_splits`](crate::Comparison::with_splits), such as those of a
    /// published experiment.
    #[serde(rename = "given")]
    Provided(ProvidedSplits),
}

/// What a comparison needs to know about splits that the caller provides.
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

/// Which rows several splits share. It decides how uncertain the mean over splits is.
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

impl std::str::FromStr for SplitRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "rows" => Ok(Self::Rows),
            Some(("group", column)) => Ok(Self::Group(column.into())),
            Some(("domain", column)) => Ok(Self::Domain(column.into())),
            Some(("time", column)) => Ok(Self::Time(column.into())),
            _ => Err("a rule is rows, group:COLUMN, domain:COLUMN or time:COLUMN".into()),
        }
    }
}

impl SplitRule {
    /// The same rule for splits inside the training rows.
    #[must_use]
    pub fn split(&self) -> Split {
        match self {
            Self::Group(column)
            | Self::Domain(column)
            | Self::Provided(ProvidedSplits {
                domain: Some(column),
                overlap: SplitOverlap::SameTestDomains,
                ..
            }) => Split::Groups(column.clone()),
            Self::Time(column) => Split::Time(column.clone()),
            Self::Rows | Self::TestFile | Self::Provided(_) => Split::Rows,
        }
    }

    /// The column of domains for which errors are reported.
    #[must_use]
    pub fn domain(&self) -> Option<&str> {
        match self {
            Self::Domain(column) => Some(column),
            Self::Provided(splits) => splits.domain.as_deref(),
            _ => None,
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
        frame: &LoadedTable,
        test: Option<&LoadedTable>,
        folds: usize,
        repeats: usize,
        seed: Seed,
    ) -> Result<Vec<Fold>> {
        let batch = &frame.batch;
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
                (0..folds).map(|_| (all(frame), all(test))).collect()
            } else {
                let pairs = split.folds(batch, self.fold_count(frame, folds)?, seed)?;
                pairs.into_iter().map(|pair| (pair.train, pair.held_out)).collect()
            };
            for (fold, (mut train, test)) in pairs.into_iter().enumerate() {
                match self {
                    // The latest rows first.
                    Self::Time(_) => {
                        train.sort_by_key(|&row| std::cmp::Reverse(time_rank[row]));
                    }
                    _ => Seed(seed.shared(Stream::Split, 1 + fold as u64).bits())
                        .shared(Stream::Split, 0)
                        .shuffle(&mut train),
                }
                splits.push(Fold { repeat, fold, train, valid: None, test });
            }
            // These splits are not random: a second repeat would be the same.
            if matches!(self, Self::Time(_)) || self.is_leave_one_out(frame, folds)? {
                break;
            }
        }
        Ok(splits)
    }

    fn group_count(&self, frame: &LoadedTable) -> Result<Option<usize>> {
        Ok(match self {
            Self::Group(column) | Self::Domain(column) => {
                Some(groups_of(&frame.batch, column)?.len())
            }
            _ => None,
        })
    }

    fn fold_count(&self, frame: &LoadedTable, folds: usize) -> Result<usize> {
        const MAX_LEAVE_ONE_OUT: usize = 10;
        Ok(match (self, self.group_count(frame)?) {
            (Self::Domain(_), Some(domains)) if domains <= MAX_LEAVE_ONE_OUT => domains,
            _ => folds,
        })
    }

    /// Whether every group is held out alone.
    pub(crate) fn is_leave_one_out(&self, frame: &LoadedTable, folds: usize) -> Result<bool> {
        let folds = self.fold_count(frame, folds)?;
        Ok(self.group_count(frame)?.is_some_and(|groups| groups <= folds))
    }
}
