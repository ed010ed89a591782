//! The splits of published experiments.

use std::collections::BTreeMap;

use rand_mt::Mt;
use windlass_table::{Frame, numbers};

use crate::protocol::{Protocol, Rule, Sitting};
use crate::{Error, Result};

/// The rows of every run, where the rule names them; `None` where they are to be drawn.
pub(crate) fn given(
    protocol: &Protocol,
    frame: &Frame,
    test: Option<&Frame>,
) -> Result<Option<Vec<Sitting>>> {
    let rows = frame.batch.num_rows();
    let sitting = |&seed: &u64, train, valid, test| Sitting {
        repeat: usize::try_from(seed).unwrap_or(usize::MAX),
        fold: 0,
        train,
        valid,
        test,
    };
    let sittings: Vec<Sitting> = match &protocol.rule {
        Rule::Permuted { parts, seeds } => {
            let [train, valid, held] = *parts;
            if train + valid + held > rows {
                return Err(Error::LargeSize { size: train + valid + held, rows });
            }
            let split = |seed: &u64| {
                let order = permutation(rows, *seed);
                let part = |from: usize, count: usize| order[from..from + count].to_vec();
                let valid_rows = (valid > 0).then(|| part(train, valid));
                sitting(seed, part(0, train), valid_rows, part(train + valid, held))
            };
            seeds.iter().map(split).collect()
        }
        Rule::Ordered { column, train_to, test_from, seeds } => {
            let groups = numbered(frame, column)?;
            let of = |wanted: &dyn Fn(i64) -> bool| -> Vec<usize> {
                let groups = groups.iter().filter(|(number, _)| wanted(**number));
                groups.flat_map(|(_, rows)| rows.iter().copied()).collect()
            };
            let train = of(&|number| number <= *train_to);
            let valid = of(&|number| *train_to < number && number < *test_from);
            let held = of(&|number| *test_from <= number);
            let split = |seed| sitting(seed, train.clone(), Some(valid.clone()), held.clone());
            seeds.iter().map(split).collect()
        }
        Rule::InOrder { parts, seeds, .. } => {
            let [train, valid, held] = *parts;
            if train + valid + held != rows {
                return Err(Error::LargeSize { size: train + valid + held, rows });
            }
            let part = |from: usize, count: usize| (from..from + count).collect();
            let valid_rows = (valid > 0).then(|| part(train, valid));
            let split =
                |seed| sitting(seed, part(0, train), valid_rows.clone(), part(train + valid, held));
            seeds.iter().map(split).collect()
        }
        Rule::Sets { column, seeds } => {
            let mut sets = numbered(frame, column)?;
            let held: Vec<usize> = (0..test.map_or(0, |test| test.batch.num_rows())).collect();
            let count = sets.len();
            let split = |seed: &u64| {
                let set = i64::try_from(*seed).ok().and_then(|set| sets.remove(&set));
                let train = set.ok_or_else(|| Error::BadSeeds {
                    why: format!("there is no training set {seed}: {count} are numbered from 0"),
                })?;
                Ok(sitting(seed, train, None, held.clone()))
            };
            seeds.iter().map(split).collect::<Result<_>>()?
        }
        _ => return Ok(None),
    };
    // Other trainings on the same rows are told apart as folds are.
    let trainings =
        |sitting: Sitting| (0..protocol.folds).map(move |fold| Sitting { fold, ..sitting.clone() });
    Ok(Some(sittings.into_iter().flat_map(trainings).collect()))
}

/// The rows of every whole number in a column.
fn numbered(frame: &Frame, column: &str) -> Result<BTreeMap<i64, Vec<usize>>> {
    let place = frame.batch.schema().index_of(column).map_err(|_| {
        let columns = frame.batch.schema().fields().iter().map(|f| f.name().clone()).collect();
        let option = "the rule of splits";
        windlass_table::Error::NoSuchColumn { column: column.to_owned(), option, columns }
    })?;
    let mut groups: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (row, number) in numbers(frame.batch.column(place)).iter().enumerate() {
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
        // The fewest bits that hold it, again until they are not more.
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
