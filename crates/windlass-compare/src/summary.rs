//! What the differences amount to, in numbers and in a plain sentence.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use windlass::Seed;
use windlass_model::row_weights;
use windlass_table::to_f64;

use crate::candidate::{Candidate, MethodName, ModelName};
use crate::compare::Comparison;
use crate::config::{Common, Rule};
use crate::results::{GroupError, Run};
use crate::statistics::{
    Interval, Sizes, holm, log_ratio, over_repeats, over_splits, random_blocks,
};

/// What can be said of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// It is what others are compared with.
    Reference,
    /// It shows what chance alone does.
    Placebo,
    /// It is better, and by more than chance.
    Helps,
    /// It is worse.
    Hurts,
    /// Neither can be said.
    NoEvidence,
}

/// A candidate with so many training rows, over all splits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Training rows; `None` is all of a part.
    pub size: Option<usize>,
    /// Who.
    pub candidate: Candidate,
    /// Splits that it ran on.
    pub splits: usize,
    /// The mean over splits of the root mean squared error.
    pub rmse: f64,
    /// Of the mean absolute error.
    pub mae: f64,
    /// Of the mean absolute error in percent.
    pub mape: Option<f64>,
    /// Of the share of the variance that is explained.
    pub r2: Option<f64>,
    /// The domain with the largest error (RMSE), where domains are left out.
    pub worst: Option<(String, f64)>,
    /// For every split, the logarithm of its error over the reference's.
    pub differences: Vec<f64>,
    /// Their mean, with an interval.
    pub difference: Option<Interval>,
    /// The p-value, adjusted for the number of candidates.
    pub p: Option<f64>,
    /// What can be said.
    pub finding: Finding,
    /// Runs that diverged.
    pub diverged: usize,
    /// Seconds of all its runs.
    pub seconds: f64,
}

/// What a comparison found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Every candidate with every number of training rows.
    pub lines: Vec<Line>,
    /// Whether an augmentation helps on all rows.
    pub helps: bool,
    /// The answer, in a sentence.
    pub verdict: String,
    /// What else there is to say.
    pub remarks: Vec<String>,
}

/// A ratio's logarithm in percent, with its direction: `4.2 % lower`.
#[must_use]
pub fn in_percent(log_ratio: f64) -> String {
    if !log_ratio.is_finite() {
        return if log_ratio < 0.0 {
            "any amount lower".into()
        } else {
            "any amount higher".into()
        };
    }
    let percent = 100.0 * log_ratio.exp_m1();
    let size = format!("{:.1}", percent.abs());
    if size == "0.0" {
        return "the same".into();
    }
    format!("{size} % {}", if percent < 0.0 { "lower" } else { "higher" })
}

impl Interval {
    /// `4.2 % lower (95 % interval: 1.0 % lower to 7.1 % lower)`.
    #[must_use]
    pub fn in_words(&self) -> String {
        let (low, high) = (in_percent(self.low), in_percent(self.high));
        format!("{} (95 % interval: {low} to {high})", in_percent(self.mean))
    }
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value, count + 1.0));
    sum / count
}

/// The mean of those there are, if all are there.
fn mean_of_all<'a>(runs: &[&'a Run], of: impl Fn(&'a Run) -> Option<f64>) -> Option<f64> {
    let values: Option<Vec<f64>> = runs.iter().map(|run| of(run)).collect();
    values.filter(|values| !values.is_empty()).map(|values| mean(values.into_iter()))
}

/// The domain with the largest error, each pooled over the splits that hold it out.
fn worst_domain(runs: &[&Run]) -> Option<(String, f64)> {
    let mut domains: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for domain in runs.iter().flat_map(|run| &run.domains) {
        let rows = domain.metrics.rows as f64;
        let (squares, all) = domains.entry(&domain.name).or_default();
        *squares += rows * domain.metrics.rmse.powi(2);
        *all += rows;
    }
    let error =
        |(name, (squares, rows)): (&str, (f64, f64))| (name.to_owned(), (squares / rows).sqrt());
    domains.into_iter().map(error).max_by(|a, b| a.1.total_cmp(&b.1))
}

impl Comparison<'_> {
    /// What runs amount to; splits that a candidate or its reference lacks are left out.
    #[must_use]
    pub fn summary(&self, runs: &[Run]) -> Summary {
        let candidates = self.protocol().candidates();
        let mut lines = vec![];
        for &size in &self.protocol().sizes {
            let mut of_size: Vec<Line> = candidates
                .iter()
                .filter_map(|&candidate| self.line(runs, size, candidate))
                .collect();
            judge(&mut of_size);
            lines.extend(of_size);
        }
        let largest = self.protocol().sizes.last().copied().flatten();
        let main: Vec<&Line> = lines.iter().filter(|line| line.size == largest).collect();
        let augments = |line: &&&Line| line.candidate.method.is_some_and(MethodName::augments);
        let helps = main.iter().filter(augments).any(|line| line.finding == Finding::Helps);
        let (verdict, remarks) = self.in_words(&main, &lines);
        Summary { lines, helps, verdict, remarks }
    }

    fn line(&self, runs: &[Run], size: Option<usize>, candidate: Candidate) -> Option<Line> {
        let of = |candidate: Candidate| -> Vec<&Run> {
            runs.iter()
                .filter(|run| run.key.size == size && run.key.candidate == candidate)
                .collect()
        };
        let own = of(candidate);
        if own.is_empty() {
            return None;
        }
        let reference = self.protocol().reference(candidate)?;
        let same = |a: &Run, b: &Run| (a.key.repeat, a.key.fold) == (b.key.repeat, b.key.fold);
        let pairs: Vec<(&Run, &Run)> = of(reference)
            .into_iter()
            .filter_map(|erm| Some((*own.iter().find(|run| same(run, erm))?, erm)))
            .collect();
        let differences: Vec<f64> =
            pairs.iter().map(|(run, erm)| log_ratio(run.metrics.rmse, erm.metrics.rmse)).collect();
        let difference = (candidate != reference && !pairs.is_empty())
            .then(|| self.interval(&pairs, &differences));
        Some(Line {
            size,
            candidate,
            splits: own.len(),
            rmse: mean(own.iter().map(|run| run.metrics.rmse)),
            mae: mean(own.iter().map(|run| run.metrics.mae)),
            mape: mean_of_all(&own, |run| run.metrics.mape),
            r2: mean_of_all(&own, |run| run.metrics.r2),
            worst: worst_domain(&own),
            differences,
            difference,
            p: None,
            finding: match candidate.method {
                Some(MethodName::Erm) => Finding::Reference,
                Some(MethodName::Placebo) => Finding::Placebo,
                _ => Finding::NoEvidence,
            },
            diverged: own.iter().filter(|run| run.diverged).count(),
            seconds: own.iter().map(|run| run.seconds).sum(),
        })
    }

    fn interval(&self, pairs: &[(&Run, &Run)], differences: &[f64]) -> Interval {
        match &self.protocol().rule {
            Rule::Rows | Rule::Group(_) | Rule::Domain(_) | Rule::Time(_) => {
                over_splits(differences, self.sizes(pairs))
            }
            Rule::TestFile => self.on_test_rows(pairs),
            Rule::Given(given) => self.interval_of(given.common, pairs, differences),
        }
    }

    fn interval_of(&self, common: Common, pairs: &[(&Run, &Run)], differences: &[f64]) -> Interval {
        match common {
            Common::Nothing => over_splits(differences, Sizes { train: 1, test: 0, all: 1 }),
            // How far the same domains differ says what others would do.
            Common::HeldOutDomains => {
                let squares = |run: &Run| -> Vec<f64> {
                    let of = |domain: &GroupError| {
                        domain.metrics.rmse.powi(2) * domain.metrics.rows as f64
                    };
                    run.domains.iter().map(of).collect()
                };
                let own: Vec<Vec<f64>> = pairs.iter().map(|(run, _)| squares(run)).collect();
                let erm: Vec<Vec<f64>> = pairs.iter().map(|(_, erm)| squares(erm)).collect();
                let domains = own.first().map_or(0, Vec::len);
                over_repeats(&own, &erm, &(0..domains).collect::<Vec<_>>())
            }
            Common::HeldOutRows => {
                let own: Vec<Vec<f64>> = pairs.iter().map(|(run, _)| run.blocks.clone()).collect();
                let erm: Vec<Vec<f64>> = pairs.iter().map(|(_, erm)| erm.blocks.clone()).collect();
                let blocks = own.first().map_or(0, Vec::len);
                over_repeats(&own, &erm, &(0..blocks).collect::<Vec<_>>())
            }
            Common::Table => {
                // Trainings on the same rows count as one.
                let mut splits: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
                for ((run, _), difference) in pairs.iter().zip(differences) {
                    splits.entry(run.key.repeat).or_default().push(*difference);
                }
                let means: Vec<f64> =
                    splits.into_values().map(|values| mean(values.into_iter())).collect();
                over_splits(&means, self.sizes(pairs))
            }
        }
    }

    /// How many rows splits have.
    fn sizes(&self, pairs: &[(&Run, &Run)]) -> Sizes {
        let rows = |of: &dyn Fn(&Run) -> usize| {
            pairs.iter().map(|(run, _)| of(run)).sum::<usize>() / pairs.len()
        };
        Sizes {
            train: rows(&|run| run.train_rows),
            test: rows(&|run| run.metrics.rows),
            all: self.rows(),
        }
    }

    /// Where all runs are judged by the rows of a table of their own.
    fn on_test_rows(&self, pairs: &[(&Run, &Run)]) -> Interval {
        let test = self.test_frame().unwrap_or(self.frame());
        let targets: Vec<_> =
            test.roles.targets().iter().map(|&place| to_f64(test.batch.column(place))).collect();
        // Weights were looked at when the rows were first evaluated.
        let weights = row_weights(test, &test.batch, Path::new("-")).unwrap_or_default();
        let squares = |run: &Run| -> Vec<f64> {
            let of_row = |(row, predicted): (usize, &[f64])| {
                let square =
                    |(y, p): (&arrow_array::Float64Array, &f64)| (y.value(row) - p).powi(2);
                let weight = weights.as_ref().map_or(1.0, |weights| weights[row]);
                weight * targets.iter().zip(predicted).map(square).sum::<f64>()
            };
            run.predicted.chunks(targets.len()).enumerate().map(of_row).collect()
        };
        let own: Vec<Vec<f64>> = pairs.iter().map(|(run, _)| squares(run)).collect();
        let erm: Vec<Vec<f64>> = pairs.iter().map(|(_, erm)| squares(erm)).collect();
        let blocks = random_blocks(test.batch.num_rows(), Seed(self.protocol().seed));
        over_repeats(&own, &erm, &blocks)
    }

    /// The answer and what else there is to say of the largest training parts and of smaller ones.
    fn in_words(&self, main: &[&Line], lines: &[Line]) -> (String, Vec<String>) {
        let name = |line: &Line| self.protocol().name(line.candidate);
        let subject = self.protocol().subject();
        let of = |finding: Finding, rival: bool| -> Vec<(&Line, Interval)> {
            let mut found: Vec<(&Line, Interval)> = main
                .iter()
                .filter(|line| line.finding == finding && line.candidate.method.is_none() == rival)
                .filter_map(|line| Some((*line, line.difference?)))
                .collect();
            found.sort_by(|a, b| a.1.mean.total_cmp(&b.1.mean));
            found
        };
        let each = |found: &[(&Line, Interval)]| -> String {
            let words = |(line, interval): &(&Line, Interval)| {
                format!("{} (RMSE {})", name(line), in_percent(interval.mean))
            };
            found.iter().map(words).collect::<Vec<_>>().join(", ")
        };
        let over =
            format!("over {} splits ({})", main.first().map_or(0, |line| line.splits), self.how());
        let (helping, rivals) = (of(Finding::Helps, false), of(Finding::Helps, true));
        let undecided = of(Finding::NoEvidence, false);
        let mut verdict = match (helping.first(), undecided.first()) {
            (Some((line, interval)), _) => {
                format!("{} helps: RMSE {}, {over}.", name(line), interval.in_words())
            }
            (None, Some((line, interval))) => format!(
                "No evidence{} that augmentation helps. The best was {}: RMSE {}, {over}.",
                if interval.high < 0.0 && line.p.is_some_and(|p| p >= 0.05) {
                    ", after adjusting for the number of comparisons,"
                } else {
                    ""
                },
                name(line),
                interval.in_words()
            ),
            (None, None) if of(Finding::Hurts, false).is_empty() => {
                format!("No augmentation took part, {over}.")
            }
            (None, None) => format!("No augmentation helps, {over}."),
        };
        let least = helping.first().map_or(0.0, |(_, interval)| interval.mean);
        let mut remarks = vec![];
        let mut other_rivals = &rivals[..];
        if let Some((line, interval)) = rivals.first().filter(|(_, rival)| rival.mean < least) {
            let what = match line.candidate.model {
                ModelName::Forest => "Use a forest here",
                ModelName::Ridge => "Use ridge here",
                _ => "Use `windlass train --auto` here",
            };
            let words = interval.in_words();
            let than = format!("than that of the {subject} without augmentation");
            verdict = format!("{what}: its RMSE is {words} {than}. {verdict}");
            other_rivals = &rivals[1..];
        }
        if helping.len() > 1 {
            remarks.push(format!("Also better than no augmentation: {}.", each(&helping[1..])));
        }
        if !other_rivals.is_empty() {
            let words = each(other_rivals);
            remarks.push(format!("Also better than the {subject} without augmentation: {words}."));
        }
        let worse = [of(Finding::Hurts, false), of(Finding::Hurts, true)].concat();
        if !worse.is_empty() {
            let words = each(&worse);
            remarks.push(format!("Worse than the {subject} without augmentation: {words}."));
        }
        for (line, interval) in of(Finding::NoEvidence, true) {
            let words = interval.in_words();
            remarks.push(format!(
                "No evidence, after adjusting for the number of comparisons, that {} is better or worse than \
                 the {subject} without augmentation: RMSE {words}.",
                name(line)
            ));
        }
        self.remark_on_others(main, lines, &mut remarks);
        (verdict, remarks)
    }

    fn remark_on_others(&self, main: &[&Line], lines: &[Line], remarks: &mut Vec<String>) {
        let diverged: Vec<String> = main
            .iter()
            .filter(|line| line.diverged > 0)
            .map(|line| {
                let (lost, all) = (line.diverged, line.splits);
                format!("{} ({lost} of {all} runs)", self.protocol().name(line.candidate))
            })
            .collect();
        if !diverged.is_empty() {
            remarks.push(format!(
                "Training diverged: {}. The last good weights count, and nothing is said to help against a \
                 network that diverged; choose a smaller --lr, or --clip 1.",
                diverged.join(", ")
            ));
        }
        if let Some(placebo) = main.iter().find(|line| line.finding == Finding::Placebo)
            && let Some(interval) = placebo.difference
        {
            let words = interval.in_words();
            remarks.push(format!("Another seed alone (the placebo) gives an RMSE {words}."));
        }
        let largest = self.protocol().sizes.last().copied().flatten();
        for rows in self.protocol().sizes.iter().filter(|&&size| size != largest).flatten() {
            let helping: Vec<String> = lines
                .iter()
                .filter(|line| line.size == Some(*rows) && line.finding == Finding::Helps)
                .filter_map(|line| {
                    let by = in_percent(line.difference?.mean);
                    Some(format!("{} (RMSE {by})", self.protocol().name(line.candidate)))
                })
                .collect();
            remarks.push(match helping.join(", ") {
                none if none.is_empty() => {
                    format!("With {rows} training rows nothing is better for certain.")
                }
                names => format!("With {rows} training rows better: {names}."),
            });
        }
        if self.frame().roles.targets().len() > 1 {
            remarks.push(
                "Errors are over all targets, in their units: the target with the largest counts most.".into(),
            );
        }
        if self.protocol().tune <= 1 && self.protocol().declared.is_empty() {
            remarks.push(
                "Every method had its usual settings; --tune 8 lets each try eight, inside the \
                 training rows."
                    .into(),
            );
        }
    }

    /// How rows were held out, in words.
    #[must_use]
    pub fn how(&self) -> String {
        let splits = self.splits();
        let repeats = splits.iter().map(|split| split.repeat + 1).max().unwrap_or(0);
        let folds = splits.iter().map(|split| split.fold + 1).max().unwrap_or(0);
        match &self.protocol().rule {
            Rule::Rows => format!("{repeats}×{folds} folds of rows"),
            Rule::Group(column) => format!("{repeats}×{folds} folds of the groups of {column}"),
            Rule::Domain(column)
                if self.protocol().leaves_one_out(self.frame()).unwrap_or(false) =>
            {
                format!("without each {column} in turn")
            }
            Rule::Domain(column) => {
                format!("{repeats}×{folds} parts of the values of {column} left out")
            }
            Rule::Time(column) => {
                format!("the past predicts the future by {column}, {folds} times")
            }
            Rule::TestFile => format!("{} trainings, the same test rows", splits.len()),
            Rule::Given(given) => given.description.clone(),
        }
    }
}

/// What can be said of candidates with the same number of training rows.
fn judge(lines: &mut [Line]) {
    let tested: Vec<usize> = (0..lines.len())
        .filter(|&place| lines[place].finding == Finding::NoEvidence)
        .filter(|&place| lines[place].difference.is_some())
        .collect();
    let raw: Vec<f64> =
        tested.iter().filter_map(|&place| lines[place].difference).map(|d| d.p).collect();
    let lost = lines.iter().any(|line| line.finding == Finding::Reference && line.diverged > 0);
    // What chance does: a gain has to be larger.
    let chance: BTreeMap<ModelName, f64> = lines
        .iter()
        .filter(|line| line.finding == Finding::Placebo)
        .filter_map(|line| Some((line.candidate.model, line.difference?.low)))
        .filter(|(_, low)| low.is_finite())
        .collect();
    for (place, p) in tested.into_iter().zip(holm(&raw)) {
        let line = &mut lines[place];
        let Some(difference) = line.difference else { continue };
        line.p = Some(p);
        let by_chance = match line.candidate.method {
            Some(_) => chance.get(&line.candidate.model).copied(),
            None => None,
        };
        line.finding = match difference.mean {
            _ if p >= 0.05 => Finding::NoEvidence,
            mean if mean > 0.0 => Finding::Hurts,
            mean if by_chance.is_some_and(|low| mean >= low) => Finding::NoEvidence,
            // Better than a network that diverged is not good.
            _ if lost => Finding::NoEvidence,
            _ => Finding::Helps,
        };
    }
}
