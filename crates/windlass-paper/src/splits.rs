//! The splits of the published experiments.

use std::collections::BTreeMap;

use rand_mt::Mt;
use serde::{Deserialize, Serialize};
use windlass::ParamName;
use windlass_compare::{Fold, ProvidedSplits, SplitOverlap};
use windlass_table::{LoadedTable, to_f64};

use crate::{Error, Result};

/// Training, validation and test rows; every seed is a split or a training.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PublishedSplits {
    /// A permutation of the rows per seed, that of numpy's `RandomState(seed).permutation`: training rows first,
    /// then validation rows, then test rows.
    Permuted {
        /// Numbers of training, validation and test rows.
        parts: [usize; 3],
        /// The seeds.
        seeds: Vec<u64>,
    },
    /// By domain number, the same for every seed.
    Ordered {
        /// The column of domains.
        column: String,
        /// The last training domain.
        train_to: i64,
        /// The first test domain; those between are for validation.
        test_from: i64,
        /// The seeds.
        seeds: Vec<u64>,
    },
    /// Every value of a column is a training set; the test rows are a separate table.
    Sets {
        /// The column of sets, 0 and up.
        column: String,
        /// The training sets.
        seeds: Vec<u64>,
    },
    /// In table order, the same for every seed.
    InOrder {
        /// Numbers of training, validation and test rows.
        parts: [usize; 3],
        /// The column of domains, if there are any.
        column: Option<String>,
        /// The seeds.
        seeds: Vec<u64>,
    },
}

impl PublishedSplits {
    /// Describes them for a comparison, with this number of trainings per seed.
    #[must_use]
    pub fn describe(&self, trainings: usize) -> ProvidedSplits {
        let count = |seeds: &[u64]| seeds.len() * trainings;
        let (description, domain, overlap) = match self {
            Self::Permuted { seeds, .. } => {
                let (runs, seeds) = (count(seeds), seeds.len());
                let words = format!("{runs} trainings on {seeds} permutations of the rows");
                (words, None, SplitOverlap::Resampled)
            }
            Self::Ordered { column, seeds, .. } => {
                let words =
                    format!("{} trainings, the same values of {column} held out", count(seeds));
                (words, Some(column.clone()), SplitOverlap::SameTestDomains)
            }
            Self::Sets { seeds, .. } => {
                let words = format!("{} training sets, the same test rows", count(seeds));
                (words, None, SplitOverlap::Disjoint)
            }
            Self::InOrder { column, seeds, .. } => {
                let words = format!("{} trainings, the same rows held out", count(seeds));
                (words, column.clone(), SplitOverlap::SameTestRows)
            }
        };
        ProvidedSplits { description, domain, overlap }
    }

    /// The rows of every run.
    pub fn splits(
        &self,
        loaded: &LoadedTable,
        test: Option<&LoadedTable>,
        trainings: usize,
    ) -> Result<Vec<Fold>> {
        let rows = loaded.batch.num_rows();
        let split = |&seed: &u64, train, valid, test| Fold {
            repeat: usize::try_from(seed).unwrap_or(usize::MAX),
            fold: 0,
            train,
            valid,
            test,
        };
        let splits: Vec<Fold> = match self {
            Self::Permuted { parts, seeds } => {
                let [train, valid, held] = *parts;
                if train + valid + held > rows {
                    return Err(too_few(train + valid + held, rows));
                }
                let split = |seed: &u64| {
                    let order = permutation(rows, *seed);
                    let part = |from: usize, count: usize| order[from..from + count].to_vec();
                    let valid_rows = (valid > 0).then(|| part(train, valid));
                    split(seed, part(0, train), valid_rows, part(train + valid, held))
                };
                seeds.iter().map(split).collect()
            }
            Self::Ordered { column, train_to, test_from, seeds } => {
                let groups = numbered(loaded, column)?;
                let of = |wanted: &dyn Fn(i64) -> bool| -> Vec<usize> {
                    let groups = groups.iter().filter(|(number, _)| wanted(**number));
                    groups.flat_map(|(_, rows)| rows.iter().copied()).collect()
                };
                let train = of(&|number| number <= *train_to);
                let valid = of(&|number| *train_to < number && number < *test_from);
                let held = of(&|number| *test_from <= number);
                let split = |seed| split(seed, train.clone(), Some(valid.clone()), held.clone());
                seeds.iter().map(split).collect()
            }
            Self::InOrder { parts, seeds, .. } => {
                let [train, valid, held] = *parts;
                if train + valid + held != rows {
                    return Err(too_few(train + valid + held, rows));
                }
                let part = |from: usize, count: usize| (from..from + count).collect();
                let valid_rows = (valid > 0).then(|| part(train, valid));
                let split = |seed| {
                    split(seed, part(0, train), valid_rows.clone(), part(train + valid, held))
                };
                seeds.iter().map(split).collect()
            }
            Self::Sets { column, seeds } => {
                let mut sets = numbered(loaded, column)?;
                let held: Vec<usize> = (0..test.map_or(0, |test| test.batch.num_rows())).collect();
                let count = sets.len();
                let split = |seed: &u64| {
                    let set = i64::try_from(*seed).ok().and_then(|set| sets.remove(&set));
                    let train = set.ok_or_else(|| Error::BadSeeds {
                        why: format!(
                            "unknown training set {seed}: there are {count}, numbered from 0"
                        ),
                    })?;
                    Ok(split(seed, train, None, held.clone()))
                };
                seeds.iter().map(split).collect::<Result<_>>()?
            }
        };
        // Trainings on the same rows are numbered as folds.
        let each = |split: Fold| (0..trainings).map(move |fold| Fold { fold, ..split.clone() });
        Ok(splits.into_iter().flat_map(each).collect())
    }
}

fn too_few(size: usize, rows: usize) -> Error {
    windlass_compare::Error::LargeSize { size, rows }.into()
}

/// The rows of every whole number in a column.
fn numbered(loaded: &LoadedTable, column: &str) -> Result<BTreeMap<i64, Vec<usize>>> {
    let place = loaded.batch.schema().index_of(column).map_err(|_| {
        let columns = loaded.batch.schema().fields().iter().map(|f| f.name().clone()).collect();
        let (column, param) = (column.to_owned(), ParamName("split"));
        windlass_table::Error::NoSuchColumn { column, param, columns }
    })?;
    let mut groups: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (row, number) in to_f64(loaded.batch.column(place)).iter().enumerate() {
        #[expect(clippy::cast_possible_truncation, reason = "numbers of domains are whole")]
        groups.entry(number.unwrap_or(f64::NAN) as i64).or_default().push(row);
    }
    Ok(groups)
}

/// `numpy.random.RandomState(seed).permutation(rows)`.
fn permutation(rows: usize, seed: u64) -> Vec<usize> {
    #[expect(clippy::cast_possible_truncation, reason = "numpy takes 32 bits of a seed")]
    let mut random = Mt::new(seed as u32);
    let mut order: Vec<usize> = (0..rows).collect();
    for last in (1..rows).rev() {
        // Rejection sampling with the fewest bits that hold `last`.
        let mask = usize::MAX >> last.leading_zeros();
        let other = loop {
            let draw = random.next_u32() as usize & mask;
            if draw <= last {
                break draw;
            }
        };
        order.swap(last, other);
    }
    order
}
