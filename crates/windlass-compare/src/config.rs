//! How a comparison goes: which rows are learnt from and which are held out, and what every candidate has in common.

use serde::{Deserialize, Serialize};
use windlass::{Seed, Stream};
use windlass_model::{NetworkConfig, Scaling, Split, groups_of};
use windlass_table::{Columns, LoadedTable, to_f64};

use crate::candidate::{Candidate, CandidateSpec, MethodName, ModelName};
use crate::{Error, Result};

/// What tells apart the seeds that are made of one.
pub(crate) mod salt {
    pub(crate) const SPLIT: u64 = 1 << 32;
    pub(crate) const REPEAT: u64 = 1 << 33;
    pub(crate) const PLACEBO: u64 = 1 << 34;
    pub(crate) const OUTER: u64 = 1 << 35;
    pub(crate) const SEARCH: u64 = 1 << 36;
    pub(crate) const TRIAL: u64 = 1 << 37;
}

/// What a comparison must know of splits that the caller provides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    /// What they are, for the report: "3 training sets, the same test rows".
    pub description: String,
    /// The column of domains; errors are reported for each.
    pub domain: Option<String>,
    /// Which rows splits have in common.
    pub common: Common,
}

/// Which rows several splits have in common; it decides how uncertain their mean is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Common {
    /// No training rows.
    Nothing,
    /// The rows of one table, split anew for every repeat; the folds of a repeat are trainings on the same rows.
    Table,
    /// The same domains are held out in every split.
    HeldOutDomains,
    /// The same rows are held out in every split, in the order of time.
    HeldOutRows,
}

/// Which rows are held out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Parts of the rows, at random.
    Rows,
    /// Parts of the groups that a column names.
    Group(String),
    /// What is later, by a column.
    Time(String),
    /// Whole domains, each in turn; of more than ten, parts of them.
    Domain(String),
    /// Rows of a table of their own.
    TestFile,
    /// Splits that the caller provides to [`Comparison::with_splits`](crate::Comparison::with_splits), such as
    /// those of a published experiment.
    Given(Given),
}

impl std::str::FromStr for Rule {
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

impl Rule {
    /// What it keeps apart.
    #[must_use]
    pub fn split(&self) -> Split {
        match self {
            Self::Group(column) | Self::Domain(column) => Split::Groups(column.clone()),
            Self::Time(column) => Split::Time(column.clone()),
            Self::Given(Given { domain: Some(column), common: Common::HeldOutDomains, .. }) => {
                Split::Groups(column.clone())
            }
            Self::Rows | Self::TestFile | Self::Given(_) => Split::Rows,
        }
    }

    /// The column whose values errors are told apart by.
    #[must_use]
    pub fn domain(&self) -> Option<&str> {
        match self {
            Self::Domain(column) => Some(column),
            Self::Given(given) => given.domain.as_deref(),
            _ => None,
        }
    }
}

/// All that decides the results of a comparison, besides the rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareConfig {
    /// Which columns are what.
    pub columns: Columns,
    /// Leave out rows without a finite target.
    pub drop_missing_target: bool,
    /// What continuous columns are brought to.
    pub scaling: Scaling,
    /// What targets are brought to.
    pub target_scaling: Scaling,
    /// The methods on networks.
    pub methods: Vec<MethodName>,
    /// The models.
    pub models: Vec<ModelName>,
    /// Who takes part with settings of their own, in place of every model with every method.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub declared: Vec<CandidateSpec>,
    /// Which rows are held out.
    pub rule: Rule,
    /// Parts that are held out in turn; of splits that the caller provides, trainings on the same rows.
    pub folds: usize,
    /// How often, each time with other parts.
    pub repeats: usize,
    /// Training rows of a run; `None` is all of a part.
    pub sizes: Vec<Option<usize>>,
    /// Settings that every candidate tries inside the training part.
    pub tune: usize,
    /// The network and its training. Its validation rows choose epochs and settings.
    pub network: NetworkConfig,
    /// What random numbers depend on.
    pub seed: u64,
}

/// The rows of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fold {
    /// The repeat, from 0.
    pub repeat: usize,
    /// The fold, from 0.
    pub fold: usize,
    /// Training rows, in an order of which a beginning is a sample.
    pub train: Vec<usize>,
    /// Rows that epochs and settings are chosen by, where they are not to be taken from the training rows.
    pub valid: Option<Vec<usize>>,
    /// Held-out rows: of the table, or of the table of test rows.
    pub test: Vec<usize>,
}

impl Fold {
    /// The rows that a run learns from, in the order of the table.
    #[must_use]
    pub fn training_rows(&self, size: Option<usize>) -> Vec<usize> {
        let mut rows = self.train[..size.unwrap_or(self.train.len())].to_vec();
        rows.sort_unstable();
        rows
    }
}

impl CompareConfig {
    /// Parts that are held out in turn, if not said.
    pub const FOLDS: u16 = 5;
    /// How often, if not said.
    pub const REPEATS: u16 = 3;

    /// Whether the models are trained elsewhere.
    #[must_use]
    pub fn is_elsewhere(&self) -> bool {
        self.declared.iter().any(|declared| declared.kind.is_none())
    }

    /// What methods are tried on, in a word.
    #[must_use]
    pub fn subject(&self) -> &'static str {
        if self.is_elsewhere() { "model" } else { "network" }
    }

    /// Whether there are several kinds of networks, so that names need theirs.
    #[must_use]
    pub fn several_networks(&self) -> bool {
        self.models.iter().filter(|model| model.is_network()).count() > 1
    }

    /// Who takes part.
    #[must_use]
    pub fn candidates(&self) -> Vec<Candidate> {
        if self.declared.is_empty() {
            return Candidate::all(&self.models, &self.methods);
        }
        let candidate = |(place, declared): (usize, &CandidateSpec)| Candidate {
            model: declared.model,
            method: Some(declared.method),
            declared: Some(place),
        };
        self.declared.iter().enumerate().map(candidate).collect()
    }

    /// What a candidate is compared with: the same network without augmentation, or the first network; of
    /// declared ones the last before it that is without augmentation.
    #[must_use]
    pub fn reference(&self, candidate: Candidate) -> Option<Candidate> {
        let Some(place) = candidate.declared else {
            return Some(candidate.reference(&self.models));
        };
        let before = self.candidates().into_iter().take(place + 1).rev();
        before.into_iter().find(|candidate| candidate.method == Some(MethodName::Erm))
    }

    /// What a split is called.
    pub(crate) fn split_name(&self, split: &Fold) -> String {
        let Fold { repeat, fold, .. } = split;
        match self.rule {
            Rule::Given(_) => format!("seed {repeat}"),
            _ => format!("repeat {}, fold {}", repeat + 1, fold + 1),
        }
    }

    /// What a candidate is called.
    #[must_use]
    pub fn name(&self, candidate: Candidate) -> String {
        match candidate.declared {
            Some(place) => self.declared[place].name.clone(),
            None => candidate.name(self.several_networks()),
        }
    }

    /// The seed of whatever is random in a split, the same for every candidate.
    #[must_use]
    pub fn seed_of(&self, split: &Fold) -> Seed {
        let number = salt::SPLIT | (split.repeat as u64) << 16 | split.fold as u64;
        Seed(Seed(self.seed).shared(Stream::Split, number).bits())
    }

    /// The seed of the placebo in a trial, where that of others is this one.
    #[must_use]
    pub fn placebo_seed(seed: Seed, trial: usize) -> Seed {
        Seed(seed.shared(Stream::Split, salt::PLACEBO | trial as u64).bits())
    }

    /// Draws the rows of every run; refuses those that cannot be learnt from.
    pub fn splits(&self, frame: &LoadedTable, test: Option<&LoadedTable>) -> Result<Vec<Fold>> {
        let splits = self.draw(frame, test)?;
        self.check(frame, &splits)?;
        Ok(splits)
    }

    fn draw(&self, frame: &LoadedTable, test: Option<&LoadedTable>) -> Result<Vec<Fold>> {
        let split = self.rule.split();
        let mut splits = vec![];
        let mut moment = vec![0; frame.batch.num_rows()];
        for (place, row) in split.in_time(&frame.batch)?.into_iter().enumerate() {
            moment[row] = place;
        }
        for repeat in 0..self.repeats {
            let seed =
                Seed(Seed(self.seed).shared(Stream::Split, salt::REPEAT | repeat as u64).bits());
            let batch = &frame.batch;
            let sides: Vec<(Vec<usize>, Vec<usize>)> = if let Some(test) = test {
                let whole = || (0..batch.num_rows()).collect();
                (0..self.folds).map(|_| (whole(), (0..test.batch.num_rows()).collect())).collect()
            } else {
                let folds = self.parts(frame)?;
                let sides = split.folds(batch, folds, seed)?;
                sides.into_iter().map(|sides| (sides.train, sides.held_out)).collect()
            };
            for (fold, (mut train, test)) in sides.into_iter().enumerate() {
                match &self.rule {
                    // The latest rows first.
                    Rule::Time(_) => train.sort_by_key(|&row| std::cmp::Reverse(moment[row])),
                    _ => Seed(seed.shared(Stream::Split, 1 + fold as u64).bits())
                        .shared(Stream::Split, 0)
                        .shuffle(&mut train),
                }
                splits.push(Fold { repeat, fold, train, valid: None, test });
            }
            // In the order of time, or without each group in turn, there is no other way to do it.
            if matches!(self.rule, Rule::Time(_)) || self.leaves_one_out(frame)? {
                break;
            }
        }
        Ok(splits)
    }

    fn groups(&self, frame: &LoadedTable) -> Result<Option<usize>> {
        Ok(match &self.rule {
            Rule::Group(column) | Rule::Domain(column) => {
                Some(groups_of(&frame.batch, column)?.len())
            }
            _ => None,
        })
    }

    /// The parts that are held out in turn.
    fn parts(&self, frame: &LoadedTable) -> Result<usize> {
        const MOST_ALONE: usize = 10;
        Ok(match (&self.rule, self.groups(frame)?) {
            (Rule::Domain(_), Some(domains)) if domains <= MOST_ALONE => domains,
            _ => self.folds,
        })
    }

    /// Whether every group is held out alone.
    pub(crate) fn leaves_one_out(&self, frame: &LoadedTable) -> Result<bool> {
        let parts = self.parts(frame)?;
        Ok(self.groups(frame)?.is_some_and(|groups| groups <= parts))
    }

    pub(crate) fn check(&self, frame: &LoadedTable, splits: &[Fold]) -> Result<()> {
        const FEWEST: usize = 5;
        let least = splits.iter().map(|split| split.train.len()).min().unwrap_or(0);
        if let Some(&size) = self.sizes.iter().flatten().find(|&&size| size < FEWEST) {
            return Err(Error::SmallSize { size, least: FEWEST });
        }
        if let Some(&size) = self.sizes.iter().flatten().find(|&&size| size > least) {
            return Err(Error::LargeSize { size, rows: least });
        }
        for &place in frame.roles.targets() {
            let values = to_f64(frame.batch.column(place));
            for split in splits {
                for size in &self.sizes {
                    let train = &split.train[..size.unwrap_or(split.train.len())];
                    let first = train.first().map_or(0.0, |&row| values.value(row));
                    if train.iter().all(|&row| values.value(row) == first) {
                        let column = frame.batch.schema().field(place).name().clone();
                        return Err(Error::ConstantTarget {
                            split: self.split_name(split),
                            column,
                            value: first,
                            rows: train.len(),
                        });
                    }
                }
            }
        }
        Ok(())
    }
}
