//! The statistics of a comparison, in numbers and in a sentence.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use windlass::Seed;
use windlass_model::{Drift, Split, row_weights};
use windlass_table::to_f64;

use crate::candidate::{Candidate, MethodName, ModelName};
use crate::compare::Comparison;
use crate::results::{GroupError, Run};
use crate::splits::{SplitOverlap, SplitRule};
use crate::statistics::{
    Interval, SplitSizes, holm, log_ratio, over_repeats, over_splits, random_blocks,
};

/// The conclusion about a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// No augmentation: the baseline.
    Reference,
    /// No augmentation with another seed: what chance alone does.
    Placebo,
    /// Significantly better, and by more than the placebo.
    Helps,
    /// Significantly worse.
    Hurts,
    /// No significant difference.
    NoEvidence,
}

/// The results of a candidate at one training size, over all folds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CandidateSummary {
    /// Training set size; `None` is all training rows of a fold.
    pub size: Option<usize>,
    /// The candidate.
    #[serde(rename = "entrant")]
    pub candidate: Candidate,
    /// Number of folds.
    pub splits: usize,
    /// Mean RMSE over folds.
    pub rmse: f64,
    /// Mean of the mean absolute error.
    pub mae: f64,
    /// Mean of the mean absolute percentage error.
    pub mape: Option<f64>,
    /// Mean R².
    pub r2: Option<f64>,
    /// The domain with the largest RMSE, if errors are reported by domain.
    pub worst: Option<(String, f64)>,
    /// For every fold, the log ratio of its RMSE to that of the reference.
    pub differences: Vec<f64>,
    /// Their mean, with a confidence interval.
    pub difference: Option<Interval>,
    /// The p-value, adjusted for the number of candidates (Holm).
    pub p: Option<f64>,
    /// The conclusion.
    pub finding: Finding,
    /// Runs that diverged.
    pub diverged: usize,
    /// Total duration of its runs.
    pub seconds: f64,
}

/// The outcome of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Every candidate at every training size.
    pub lines: Vec<CandidateSummary>,
    /// Whether an augmentation helps at the largest training size.
    pub helps: bool,
    /// The answer, in a sentence.
    pub verdict: String,
    /// Further conclusions and warnings.
    pub remarks: Vec<String>,
    /// Whether the table drifts; `None` if its rows cannot be ordered.
    #[serde(default)]
    pub drift: Option<Drift>,
}

/// A p-value, which is never 0: `0.013`, `< 0.001`.
#[must_use]
pub fn p_value(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

/// A log ratio as a change in percent: `4.2 % lower`.
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

/// The mean of a metric; `None` if a run lacks it.
fn mean_if_all<'a>(runs: &[&'a Run], metric: impl Fn(&'a Run) -> Option<f64>) -> Option<f64> {
    let values: Option<Vec<f64>> = runs.iter().map(|run| metric(run)).collect();
    values.filter(|values| !values.is_empty()).map(|values| mean(values.into_iter()))
}

/// The domain with the largest RMSE, pooled over the folds that hold it out.
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

/// A list of values of every run: of the candidate's runs and of the reference's.
fn of_pairs(pairs: &[(&Run, &Run)], values: impl Fn(&Run) -> Vec<f64>) -> [Vec<Vec<f64>>; 2] {
    [
        pairs.iter().map(|(run, _)| values(run)).collect(),
        pairs.iter().map(|(_, reference)| values(reference)).collect(),
    ]
}

impl Comparison<'_> {
    /// Summarizes runs. Folds without a run of the candidate or of its reference are ignored.
    #[must_use]
    pub fn summary(&self, runs: &[Run]) -> Summary {
        let candidates = self.config().candidates();
        let mut lines = vec![];
        for &size in &self.config().sizes {
            let mut of_size: Vec<CandidateSummary> = candidates
                .iter()
                .filter_map(|&candidate| self.line(runs, size, candidate))
                .collect();
            // Errors on training rows are no evidence.
            if !self.tests_training_rows() {
                assign_findings(&mut of_size);
            }
            lines.extend(of_size);
        }
        let largest = self.config().sizes.last().copied().flatten();
        let main: Vec<&CandidateSummary> =
            lines.iter().filter(|line| line.size == largest).collect();
        let augments =
            |line: &&&CandidateSummary| line.candidate.method.is_some_and(MethodName::augments);
        let helps = main.iter().filter(augments).any(|line| line.finding == Finding::Helps);
        let (verdict, mut remarks) = match self.shared_rows_warning() {
            Some(warning) if self.tests_training_rows() => {
                (format!("No verdict: {warning}."), vec![])
            }
            warning => {
                let (verdict, remarks) = self.verdict(&main, &lines);
                let warning = warning.map(|warning| format!("Warning: {warning}."));
                (verdict, warning.into_iter().chain(remarks).collect())
            }
        };
        let drift = Drift::check(self.frame(), &self.config().rule.split()).ok();
        remarks.extend(drift.as_ref().map(|drift| format!("Drift: {drift}.")));
        Summary { lines, helps, verdict, remarks, drift }
    }

    fn line(
        &self,
        runs: &[Run],
        size: Option<usize>,
        candidate: Candidate,
    ) -> Option<CandidateSummary> {
        let runs_of = |candidate: Candidate| -> Vec<&Run> {
            let own = |run: &&Run| run.key.size == size && run.key.candidate == candidate;
            runs.iter().filter(own).collect()
        };
        let own = runs_of(candidate);
        if own.is_empty() {
            return None;
        }
        let reference = self.config().reference(candidate)?;
        let same_fold = |a: &Run, b: &Run| (a.key.repeat, a.key.fold) == (b.key.repeat, b.key.fold);
        let pairs: Vec<(&Run, &Run)> = runs_of(reference)
            .into_iter()
            .filter_map(|erm| Some((*own.iter().find(|run| same_fold(run, erm))?, erm)))
            .collect();
        let differences: Vec<f64> =
            pairs.iter().map(|(run, erm)| log_ratio(run.metrics.rmse, erm.metrics.rmse)).collect();
        let difference = (candidate != reference && !pairs.is_empty())
            .then(|| self.interval(&pairs, &differences));
        Some(CandidateSummary {
            size,
            candidate,
            splits: own.len(),
            rmse: mean(own.iter().map(|run| run.metrics.rmse)),
            mae: mean(own.iter().map(|run| run.metrics.mae)),
            mape: mean_if_all(&own, |run| run.metrics.mape),
            r2: mean_if_all(&own, |run| run.metrics.r2),
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
        match &self.config().rule {
            SplitRule::HeldOut(_) => over_splits(differences, self.split_sizes(pairs)),
            SplitRule::TestFile => self.interval_on_test_table(pairs),
            SplitRule::Provided(splits) => {
                self.interval_by_overlap(splits.overlap, pairs, differences)
            }
        }
    }

    fn interval_by_overlap(
        &self,
        overlap: SplitOverlap,
        pairs: &[(&Run, &Run)],
        differences: &[f64],
    ) -> Interval {
        match overlap {
            SplitOverlap::Disjoint => {
                over_splits(differences, SplitSizes { train: 1, test: 0, all: 1 })
            }
            // Domains are the blocks: new domains would vary as much as these.
            SplitOverlap::SameTestDomains => {
                let squares =
                    |domain: &GroupError| domain.metrics.rmse.powi(2) * domain.metrics.rows as f64;
                let [own, erm] = of_pairs(pairs, |run| run.domains.iter().map(squares).collect());
                let domains = own.first().map_or(0, Vec::len);
                over_repeats(&own, &erm, &(0..domains).collect::<Vec<_>>())
            }
            SplitOverlap::SameTestRows => {
                let [own, erm] = of_pairs(pairs, |run| run.blocks.clone());
                let blocks = own.first().map_or(0, Vec::len);
                over_repeats(&own, &erm, &(0..blocks).collect::<Vec<_>>())
            }
            SplitOverlap::Resampled => {
                // Trainings on the same rows are averaged.
                let mut splits: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
                for ((run, _), difference) in pairs.iter().zip(differences) {
                    splits.entry(run.key.repeat).or_default().push(*difference);
                }
                let means: Vec<f64> =
                    splits.into_values().map(|values| mean(values.into_iter())).collect();
                over_splits(&means, self.split_sizes(pairs))
            }
        }
    }

    /// Mean sizes of the splits.
    fn split_sizes(&self, pairs: &[(&Run, &Run)]) -> SplitSizes {
        let mean = |count: &dyn Fn(&Run) -> usize| {
            pairs.iter().map(|(run, _)| count(run)).sum::<usize>() / pairs.len()
        };
        SplitSizes {
            train: mean(&|run| run.train_rows),
            test: mean(&|run| run.metrics.rows),
            all: self.rows(),
        }
    }

    /// The interval if all runs are tested on a separate table.
    fn interval_on_test_table(&self, pairs: &[(&Run, &Run)]) -> Interval {
        let test = self.test_frame().unwrap_or(self.frame());
        let targets: Vec<_> =
            test.roles.targets().iter().map(|&place| to_f64(test.batch.column(place))).collect();
        // Weights were checked when the rows were first evaluated.
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
        let [own, erm] = of_pairs(pairs, squares);
        let blocks = random_blocks(test.batch.num_rows(), Seed(self.config().seed));
        over_repeats(&own, &erm, &blocks)
    }

    /// The verdict at the largest training size, and remarks on all sizes.
    fn verdict(
        &self,
        main: &[&CandidateSummary],
        lines: &[CandidateSummary],
    ) -> (String, Vec<String>) {
        let name = |line: &CandidateSummary| self.config().name(line.candidate);
        let subject = self.config().subject();
        let of = |finding: Finding, rival: bool| -> Vec<(&CandidateSummary, Interval)> {
            let mut found: Vec<(&CandidateSummary, Interval)> = main
                .iter()
                .filter(|line| line.finding == finding && line.candidate.method.is_none() == rival)
                .filter_map(|line| Some((*line, line.difference?)))
                .collect();
            found.sort_by(|a, b| a.1.mean.total_cmp(&b.1.mean));
            found
        };
        let each = |found: &[(&CandidateSummary, Interval)]| -> String {
            let words = |(line, interval): &(&CandidateSummary, Interval)| {
                format!("{} (RMSE {})", name(line), in_percent(interval.mean))
            };
            found.iter().map(words).collect::<Vec<_>>().join(", ")
        };
        let over = format!(
            "over {} splits ({})",
            main.first().map_or(0, |line| line.splits),
            self.describe_splits()
        );
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
                ModelName::Gp => "Use a Gaussian process here",
                _ => "Use automatic model selection here",
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

    fn remark_on_others(
        &self,
        main: &[&CandidateSummary],
        lines: &[CandidateSummary],
        remarks: &mut Vec<String>,
    ) {
        let diverged: Vec<String> = main
            .iter()
            .filter(|line| line.diverged > 0)
            .map(|line| {
                let (lost, all) = (line.diverged, line.splits);
                format!("{} ({lost} of {all} runs)", self.config().name(line.candidate))
            })
            .collect();
        if !diverged.is_empty() {
            remarks.push(format!(
                "Training diverged: {}. The last good weights count, and nothing is said to help against a \
                 network that diverged; choose a smaller learning rate, or clip the gradient norm.",
                diverged.join(", ")
            ));
        }
        if let Some(placebo) = main.iter().find(|line| line.finding == Finding::Placebo)
            && let Some(interval) = placebo.difference
        {
            let words = interval.in_words();
            remarks.push(format!("Another seed alone (the placebo) gives an RMSE {words}."));
        }
        let largest = self.config().sizes.last().copied().flatten();
        for rows in self.config().sizes.iter().filter(|&&size| size != largest).flatten() {
            let helping: Vec<String> = lines
                .iter()
                .filter(|line| line.size == Some(*rows) && line.finding == Finding::Helps)
                .filter_map(|line| {
                    let by = in_percent(line.difference?.mean);
                    Some(format!("{} (RMSE {by})", self.config().name(line.candidate)))
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
        if self.config().tune <= 1 && self.config().specs.is_empty() {
            remarks.push(
                "Every method had its usual settings; tuning lets each try several, inside the \
                 training rows."
                    .into(),
            );
        }
    }

    /// Describes the splits.
    #[must_use]
    pub fn describe_splits(&self) -> String {
        let splits = self.splits();
        let repeats = splits.iter().map(|split| split.repeat + 1).max().unwrap_or(0);
        let folds = splits.iter().map(|split| split.fold + 1).max().unwrap_or(0);
        match &self.config().rule {
            SplitRule::HeldOut(Split::Rows) => format!("{repeats}×{folds} folds of rows"),
            SplitRule::HeldOut(Split::Group(column)) => {
                format!("{repeats}×{folds} folds of the groups of {column}")
            }
            SplitRule::HeldOut(Split::Domain(column))
                if self
                    .config()
                    .rule
                    .is_leave_one_out(self.frame(), self.config().folds)
                    .unwrap_or(false) =>
            {
                format!("without each {column} in turn")
            }
            SplitRule::HeldOut(Split::Domain(column)) => {
                format!("{repeats}×{folds} folds of the values of {column}")
            }
            SplitRule::HeldOut(Split::Time(column)) => {
                format!("forward in time by {column}, {folds} folds")
            }
            SplitRule::TestFile => format!("{} trainings, the same test rows", splits.len()),
            SplitRule::Provided(splits) => splits.description.clone(),
        }
    }
}

/// Draws the conclusions about candidates with the same training size.
fn assign_findings(lines: &mut [CandidateSummary]) {
    let tested: Vec<usize> = (0..lines.len())
        .filter(|&place| lines[place].finding == Finding::NoEvidence)
        .filter(|&place| lines[place].difference.is_some())
        .collect();
    let raw: Vec<f64> =
        tested.iter().filter_map(|&place| lines[place].difference).map(|d| d.p).collect();
    let reference_diverged =
        lines.iter().any(|line| line.finding == Finding::Reference && line.diverged > 0);
    // A gain must exceed what another seed alone achieves.
    let placebo: BTreeMap<ModelName, f64> = lines
        .iter()
        .filter(|line| line.finding == Finding::Placebo)
        .filter_map(|line| Some((line.candidate.model, line.difference?.low)))
        .filter(|(_, low)| low.is_finite())
        .collect();
    for (place, p) in tested.into_iter().zip(holm(&raw)) {
        let line = &mut lines[place];
        let Some(difference) = line.difference else { continue };
        line.p = Some(p);
        let placebo_low = match line.candidate.method {
            Some(_) => placebo.get(&line.candidate.model).copied(),
            None => None,
        };
        line.finding = match difference.mean {
            _ if p >= 0.05 => Finding::NoEvidence,
            mean if mean > 0.0 => Finding::Hurts,
            mean if placebo_low.is_some_and(|low| mean >= low) => Finding::NoEvidence,
            // Being better than a diverged network proves nothing.
            _ if reference_diverged => Finding::NoEvidence,
            _ => Finding::Helps,
        };
    }
}
