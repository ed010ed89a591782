//! Drift: whether the target and the features at the end of a table are distributed as at its beginning.
//!
//! Every column is compared between the first and the last half of the rows by the two-sample Kolmogorov–Smirnov
//! test (a category by the tests of its levels), and its p-value is multiplied by the number of tests (Bonferroni).
//! Columns that only order the rows, such as dates and row counters, are not compared.

use std::fmt;

use arrow_array::{Array, RecordBatch};
use serde::{Deserialize, Serialize};
use windlass_table::{LoadedTable, MAX_LEVELS, Role, is_numeric, to_f64};

use crate::Result;
use crate::split::{Split, groups_of, time_columns};

/// The outcome of the drift check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Drift {
    /// The level: with this probability at most, columns are reported although nothing drifts.
    pub level: f64,
    /// The column that orders the rows; `None` is their order in the file.
    pub time: Option<String>,
    /// Number of columns that were compared.
    pub tested: usize,
    /// The columns that differ between the halves, targets first.
    pub columns: Vec<DriftingColumn>,
}

/// A column that differs between the halves of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DriftingColumn {
    /// The column.
    pub name: String,
    /// Whether it is a target.
    pub target: bool,
    /// The largest distance between the two distribution functions.
    pub statistic: f64,
    /// The p-value, multiplied by the number of tests.
    pub p: f64,
}

impl Drift {
    /// The level of the check.
    pub const LEVEL: f64 = 0.001;

    /// Compares the halves of a table, in the order of time if rows are split by it.
    pub fn check(table: &LoadedTable, split: &Split) -> Result<Self> {
        let rows = &table.batch;
        let order = split.in_time(rows)?;
        let (first, last) = order.split_at(order.len() / 2);
        let mut ordering = time_columns(rows);
        ordering.extend(split.column().map(str::to_owned));
        let mut found = vec![];
        for (index, field) in rows.schema().fields().iter().enumerate() {
            let target = match table.roles.roles[index] {
                Role::Target => true,
                Role::Continuous | Role::Categorical if !ordering.contains(field.name()) => false,
                _ => continue,
            };
            let test =
                if is_numeric(field.data_type()) && table.roles.roles[index] != Role::Categorical {
                    compare_numbers(rows, index, first, last, target)
                } else {
                    compare_levels(rows, field.name(), first, last)?
                };
            if let Some((statistic, p)) = test {
                found.push(DriftingColumn { name: field.name().clone(), target, statistic, p });
            }
        }
        let tested = found.len();
        for column in &mut found {
            column.p = (column.p * tested as f64).min(1.0);
        }
        found.retain(|column| column.p < Self::LEVEL);
        found.sort_by_key(|column| !column.target);
        let time = match split {
            Split::Time(column) => Some(column.clone()),
            _ => None,
        };
        Ok(Self { level: Self::LEVEL, time, tested, columns: found })
    }
}

/// Compares the present values of a column; `None` if there is nothing to compare, or if a feature only counts rows.
fn compare_numbers(
    rows: &RecordBatch,
    index: usize,
    first: &[usize],
    last: &[usize],
    target: bool,
) -> Option<(f64, f64)> {
    let values = to_f64(rows.column(index));
    let present = |rows: &[usize]| -> Vec<f64> {
        let present = rows.iter().filter(|&&row| values.is_valid(row));
        present.map(|&row| values.value(row)).collect()
    };
    let (mut first, mut last) = (present(first), present(last));
    let ordered = |rises: bool| {
        let all: Vec<f64> = first.iter().chain(&last).copied().collect();
        all.windows(2).all(|two| if rises { two[0] < two[1] } else { two[0] > two[1] })
    };
    if !target && (ordered(true) || ordered(false)) {
        return None;
    }
    kolmogorov_smirnov(&mut first, &mut last)
}

/// Compares the frequencies of the levels of a category; `None` if there are too many for a model.
fn compare_levels(
    rows: &RecordBatch,
    column: &str,
    first: &[usize],
    last: &[usize],
) -> Result<Option<(f64, f64)>> {
    let levels = groups_of(rows, column)?;
    if !(2..=MAX_LEVELS).contains(&levels.len()) {
        return Ok(None);
    }
    let mut is_first = vec![false; rows.num_rows()];
    for &row in first {
        is_first[row] = true;
    }
    let distance = |level: &Vec<usize>| {
        let early = level.iter().filter(|&&row| is_first[row]).count();
        let late = level.len() - early;
        (early as f64 / first.len() as f64 - late as f64 / last.len() as f64).abs()
    };
    let statistic = levels.values().map(distance).fold(0.0, f64::max);
    let tests = (levels.len() - 1) as f64;
    Ok(p_value(statistic, first.len(), last.len()).map(|p| (statistic, (tests * p).min(1.0))))
}

/// The statistic and the p-value of the two-sample Kolmogorov–Smirnov test; `None` if a sample is empty.
fn kolmogorov_smirnov(first: &mut [f64], last: &mut [f64]) -> Option<(f64, f64)> {
    first.sort_by(f64::total_cmp);
    last.sort_by(f64::total_cmp);
    let (mut i, mut j, mut statistic) = (0, 0, 0.0_f64);
    while i < first.len() && j < last.len() {
        let value = first[i].min(last[j]);
        while i < first.len() && first[i] <= value {
            i += 1;
        }
        while j < last.len() && last[j] <= value {
            j += 1;
        }
        let distance = i as f64 / first.len() as f64 - j as f64 / last.len() as f64;
        statistic = statistic.max(distance.abs());
    }
    Some((statistic, p_value(statistic, first.len(), last.len())?))
}

/// The asymptotic p-value with the correction of Stephens (1970); conservative for values with ties.
fn p_value(statistic: f64, first: usize, last: usize) -> Option<f64> {
    if first == 0 || last == 0 {
        return None;
    }
    let root = libm::sqrt(first as f64 * last as f64 / (first + last) as f64);
    let scaled = (root + 0.12 + 0.11 / root) * statistic;
    // The series converges slowly only if it is 1.
    if scaled < 0.3 {
        return Some(1.0);
    }
    let term = |k: i32| {
        let sign = if k % 2 == 1 { 2.0 } else { -2.0 };
        sign * libm::exp(-2.0 * f64::from(k * k) * scaled * scaled)
    };
    Some((1..=20).map(term).sum::<f64>().clamp(0.0, 1.0))
}

impl fmt::Display for Drift {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 5;
        let halves = match &self.time {
            Some(time) => format!("the earlier and the later half by `{time}`"),
            None => "the first and the last half of the file".to_owned(),
        };
        let columns = if self.tested == 1 { "column" } else { "columns" };
        let test =
            format!("Kolmogorov–Smirnov at level {} over {} {columns}", self.level, self.tested);
        if self.columns.is_empty() {
            return write!(f, "none between {halves} ({test})");
        }
        let mut names: Vec<String> =
            self.columns.iter().take(SHOWN).map(|column| format!("`{}`", column.name)).collect();
        if self.columns.len() > SHOWN {
            names.push(format!("{} more", self.columns.len() - SHOWN));
        }
        let list = match names.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
            _ => names.concat(),
        };
        let verb = if self.columns.len() == 1 { "differs" } else { "differ" };
        write!(f, "{list} {verb} between {halves} ({test})")?;
        match self.time {
            Some(_) => Ok(()),
            None => f.write_str("; the error of later rows may be higher"),
        }
    }
}

#[cfg(test)]
mod tests {
    use windlass::{Seed, Stream};

    use super::*;

    /// The p-values of `scipy.stats.ks_2samp(method="asymp")`, which has no correction, are close for large samples.
    #[test]
    fn p_values_are_those_of_the_kolmogorov_distribution() {
        // The critical values of the limit distribution.
        for (scaled, p) in [(1.224, 0.1), (1.358, 0.05), (1.628, 0.01), (1.949, 0.001)] {
            let rows = 2_000_000;
            let found = p_value(scaled / 1000.0, rows, rows).unwrap();
            assert!((found / p - 1.0).abs() < 0.01, "{found} {p}");
        }
        assert_eq!(kolmogorov_smirnov(&mut [], &mut [1.0]), None);
        let (statistic, p) = kolmogorov_smirnov(&mut [1.0, 2.0, 2.0], &mut [3.0, 4.0]).unwrap();
        assert!(statistic == 1.0 && p > 0.01);
        // 1/3 of the first and 2/3 of the second are at most 1.
        let (statistic, _) =
            kolmogorov_smirnov(&mut [1.0, 3.0, 2.0], &mut [3.0, 1.0, 0.0]).unwrap();
        assert!((statistic - 1.0 / 3.0).abs() < 1e-15);
    }

    /// Under the null hypothesis p-values below α have a frequency of at most about α.
    #[test]
    fn equal_distributions_are_seldom_told_apart() {
        let mut small = 0;
        for trial in 0..2000 {
            let draw = |row| Seed(4).at(Stream::Sample, trial, row).normal();
            let (mut first, mut last): (Vec<f64>, Vec<f64>) =
                ((0..40).map(draw).collect(), (40..80).map(draw).collect());
            small += u32::from(kolmogorov_smirnov(&mut first, &mut last).unwrap().1 < 0.05);
        }
        assert!((40..=120).contains(&small), "{small} of 2000");
    }
}
