//! The statistics and the conclusions of a comparison.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use windlass::Seed;
use windlass_model::{Drift, ErrorsByTarget, Split, row_weights};
use windlass_plot::format::significant;
use windlass_table::to_f64;

use crate::added_rows::AddedRowsReport;
use crate::candidate::{Candidate, MethodName, ModelName};
use crate::compare::Comparison;
use crate::config::CompareConfig;
use crate::results::{GroupError, Run};
use crate::splits::{SplitOverlap, SplitRule};
use crate::statistics::{
    FoldLosses, Interval, PROBABLE, SplitSizes, holm, log_ratio, over_folds, over_repeats,
    over_splits, random_blocks,
};

/// The verdict on a candidate. It depends only on the interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finding {
    /// No augmentation: the reference of all differences.
    Reference,
    /// No augmentation with another seed: the difference by chance.
    Placebo,
    /// The 95 % interval is below 0.
    #[serde(alias = "helps")]
    Better,
    /// The 80 % interval is below 0.
    ProbablyBetter,
    /// The 80 % interval contains 0.
    #[serde(alias = "no-evidence")]
    CannotTell,
    /// The 80 % interval is above 0.
    ProbablyWorse,
    /// The 95 % interval is above 0.
    #[serde(alias = "hurts")]
    Worse,
    /// The test rows are training rows, rows from elsewhere were derived from them, or the reference diverged.
    NoVerdict,
}

impl Finding {
    /// The verdict of an interval.
    #[must_use]
    pub fn of(interval: &Interval) -> Self {
        let Interval { mean, low, high, p, .. } = *interval;
        match mean {
            _ if high < 0.0 => Self::Better,
            _ if low > 0.0 => Self::Worse,
            mean if p < PROBABLE && mean < 0.0 => Self::ProbablyBetter,
            _ if p < PROBABLE => Self::ProbablyWorse,
            _ => Self::CannotTell,
        }
    }

    /// The verdict in tables: `probably better`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Reference => "reference",
            Self::Placebo => "chance",
            Self::Better => "better",
            Self::ProbablyBetter => "probably better",
            Self::CannotTell => "cannot tell",
            Self::ProbablyWorse => "probably worse",
            Self::Worse => "worse",
            Self::NoVerdict => "no verdict",
        }
    }
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
    /// The difference with its 95 % interval, not corrected.
    pub difference: Option<Interval>,
    /// The interval that is shown and decides the verdict: for augmentations corrected for multiple comparisons
    /// (Holm).
    #[serde(default)]
    pub corrected: Option<Interval>,
    /// Errors by the size of the target, over the test rows of all folds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_target: Option<ErrorsByTarget>,
    /// The difference on rare rows with its 95 % interval, corrected for the number of candidates (Holm).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rare_difference: Option<Interval>,
    /// The verdict.
    pub finding: Finding,
    /// Runs that diverged.
    pub diverged: usize,
    /// Total duration of its runs.
    pub seconds: f64,
}

/// The recommended next step after a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NextStep {
    /// The candidate to train.
    pub candidate: Candidate,
    /// A phrase: `train a network with ada`.
    pub text: String,
    /// The command that trains it, set by the caller.
    pub command: Option<String>,
}

impl NextStep {
    /// `Next step: train with ada:`, and the command.
    #[must_use]
    pub fn in_words(&self) -> String {
        match &self.command {
            Some(command) => format!("Next step: {}:\n  {command}", self.text),
            None => format!("Next step: {}.", self.text),
        }
    }
}

/// The outcome of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComparisonSummary {
    /// Every candidate at every training size.
    pub lines: Vec<CandidateSummary>,
    /// Whether an augmentation is better at the largest training size.
    pub helps: bool,
    /// Number of augmentations, for which their intervals are corrected.
    #[serde(default)]
    pub augmentations: usize,
    /// The answer, in a few words.
    #[serde(default)]
    pub answer: String,
    /// The answer, in a sentence.
    pub verdict: String,
    /// The next step; `None` without a verdict.
    #[serde(default)]
    pub next: Option<NextStep>,
    /// Other conclusions, and warnings.
    pub remarks: Vec<String>,
    /// What is known about rows from elsewhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<AddedRowsReport>,
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
        if low == high {
            // Both round to no change.
            return "the same (95 % interval: within 0.05 %)".to_owned();
        }
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

/// The losses of a candidate's run and of its reference in a fold; `None` if they are not known for all units.
fn fold_losses(
    (run, other): &(&Run, &Run),
    units: Vec<usize>,
    losses: fn(&Run) -> &Vec<f64>,
) -> Option<FoldLosses> {
    let [method, reference] = [losses(run), losses(other)].map(Clone::clone);
    let known = !units.is_empty() && [&method, &reference].iter().all(|of| of.len() == units.len());
    known.then_some(FoldLosses { repeat: run.key.repeat, units, method, reference })
}

impl Comparison<'_> {
    /// Summarizes runs. Folds without a run of the candidate or of its reference are ignored.
    #[must_use]
    pub fn summary(&self, runs: &[Run]) -> ComparisonSummary {
        let candidates = self.config().candidates();
        let mut lines = vec![];
        for &size in &self.config().sizes {
            let of_size: Vec<Run> =
                runs.iter().filter(|run| run.key.size == size).cloned().collect();
            let baseline = if of_size.is_empty() { vec![] } else { self.baseline(size) };
            let of_size = [of_size, baseline].concat();
            let everyone = candidates.iter().chain([&Candidate::BASELINE]);
            let mut of_size: Vec<CandidateSummary> =
                everyone.filter_map(|&candidate| self.line(&of_size, size, candidate)).collect();
            let leaks = |candidate: Candidate| self.leaks(candidate);
            assign_findings(&mut of_size, self.tests_training_rows(), leaks);
            lines.extend(of_size);
        }
        let largest = self.config().sizes.last().copied().flatten();
        let main: Vec<&CandidateSummary> =
            lines.iter().filter(|line| line.size == largest).collect();
        let is_tested =
            |line: &&&CandidateSummary| line.is_augmentation() && !self.leaks(line.candidate);
        let augmentations = main.iter().filter(is_tested).count();
        let better = |line: &&&CandidateSummary| line.finding == Finding::Better;
        let helps = main.iter().filter(|line| line.is_augmentation()).any(|line| better(&line));
        let warning = self.shared_rows_warning();
        let Conclusion { answer, verdict, next, mut remarks } = match &warning {
            Some(warning) if self.tests_training_rows() => Conclusion {
                answer: "No verdict".into(),
                verdict: format!("No verdict: {warning}."),
                next: None,
                remarks: vec![],
            },
            _ => self.conclusion(&main, &lines),
        };
        let rows = self.added_rows().to_vec();
        remarks.splice(0..0, rows.iter().flat_map(AddedRowsReport::in_words));
        if let Some(warning) = warning.filter(|_| next.is_some()) {
            remarks.insert(0, format!("Warning: {warning}."));
        }
        remarks.extend(self.column_notes().iter().map(|note| format!("Column {note}.")));
        let drift = Drift::check(self.loaded(), &self.config().rule.split()).ok();
        remarks.extend(drift.as_ref().map(|drift| format!("Drift: {drift}.")));
        ComparisonSummary {
            lines,
            helps,
            augmentations,
            answer,
            verdict,
            next,
            remarks,
            rows,
            drift,
        }
    }

    /// Whether rows of a candidate were probably derived from held-out rows.
    fn leaks(&self, candidate: Candidate) -> bool {
        let rows = candidate.rows.and_then(|place| self.added_rows().get(place));
        rows.is_some_and(|rows| rows.leaks)
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
            .filter_map(|other| Some((*own.iter().find(|run| same_fold(run, other))?, other)))
            .collect();
        let differences: Vec<f64> = pairs
            .iter()
            .map(|(run, other)| log_ratio(run.metrics.rmse, other.metrics.rmse))
            .collect();
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
            corrected: difference,
            by_target: {
                let parts: Option<Vec<_>> = own.iter().map(|run| run.by_target.as_ref()).collect();
                parts.and_then(|parts| ErrorsByTarget::pooled(&parts, self.edges()))
            },
            rare_difference: (candidate != reference && !pairs.is_empty())
                .then(|| self.interval_of_rare_rows(&pairs))
                .flatten(),
            finding: match candidate.method {
                _ if candidate.is_plain() => Finding::Reference,
                Some(MethodName::Placebo) => Finding::Placebo,
                _ => Finding::CannotTell,
            },
            diverged: own.iter().filter(|run| run.diverged).count(),
            seconds: own.iter().map(|run| run.seconds).sum(),
        })
    }

    fn interval(&self, pairs: &[(&Run, &Run)], differences: &[f64]) -> Interval {
        match &self.config().rule {
            SplitRule::HeldOut(_) => self
                .interval_of_rows(pairs)
                .unwrap_or_else(|| over_splits(differences, self.split_sizes(pairs))),
            SplitRule::TestFile => self.interval_on_test_table(pairs),
            SplitRule::Provided(splits) => {
                self.interval_by_overlap(splits.overlap, pairs, differences)
            }
        }
    }

    /// The interval from the errors of held-out rows; `None` if a run has none.
    fn interval_of_rows(&self, pairs: &[(&Run, &Run)]) -> Option<Interval> {
        let losses = |pair: &(&Run, &Run)| {
            fold_losses(pair, self.units(self.fold(pair.0.key)), |run| &run.losses)
        };
        let folds: Option<Vec<FoldLosses>> = pairs.iter().map(losses).collect();
        folds.map(|folds| over_folds(&folds))
    }

    /// The interval of the errors of rare held-out rows; `None` if they are not known. Folds without rare rows are
    /// ignored.
    fn interval_of_rare_rows(&self, pairs: &[(&Run, &Run)]) -> Option<Interval> {
        let losses = |pair: &(&Run, &Run)| {
            fold_losses(pair, self.rare_units(self.fold(pair.0.key)), |run| &run.rare_losses)
        };
        let folds: Vec<FoldLosses> = pairs.iter().filter_map(losses).collect();
        (!folds.is_empty()).then(|| over_folds(&folds))
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
            // The blocks are domains: the interval is for new domains.
            SplitOverlap::SameTestDomains => {
                let squares =
                    |domain: &GroupError| domain.metrics.rmse.powi(2) * domain.metrics.rows as f64;
                let [own, reference] =
                    of_pairs(pairs, |run| run.domains.iter().map(squares).collect());
                let domains = own.first().map_or(0, Vec::len);
                over_repeats(&own, &reference, &(0..domains).collect::<Vec<_>>())
            }
            SplitOverlap::SameTestRows => {
                let [own, reference] = of_pairs(pairs, |run| run.blocks.clone());
                let blocks = own.first().map_or(0, Vec::len);
                over_repeats(&own, &reference, &(0..blocks).collect::<Vec<_>>())
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
        let test = self.loaded_test().unwrap_or(self.loaded());
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
        let [own, reference] = of_pairs(pairs, squares);
        let blocks = random_blocks(test.batch.num_rows(), Seed(self.config().seed));
        over_repeats(&own, &reference, &blocks)
    }

    /// The conclusion at the largest training size, and remarks on all sizes.
    fn conclusion(&self, main: &[&CandidateSummary], lines: &[CandidateSummary]) -> Conclusion {
        let verdicts = Verdicts { main, config: self.config() };
        let splits = main.first().map_or(0, |line| line.splits);
        let over = format!("over {splits} splits ({})", self.describe_splits());
        let (mut answer, mut verdict) = verdicts.augmentation(&over);
        let chosen = verdicts.chosen();
        if let Some((line, interval)) = chosen.filter(|(line, _)| line.is_rival()) {
            let what = match line.candidate.method {
                Some(method) => format!("a network with {}", method.title()),
                None => model_in_words(line.candidate.model).to_owned(),
            };
            answer = format!("Use {what}");
            verdict = capitalized(&format!(
                "{what} is {} than the {} without augmentation: RMSE {}. {verdict}",
                line.finding.name(),
                self.config().subject(),
                interval.in_words()
            ));
        }
        let reference = main.iter().find(|line| line.finding == Finding::Reference);
        let next = chosen.map(|(line, _)| line).or(reference.copied());
        let next = next.map(|line| NextStep {
            candidate: line.candidate,
            text: match line.candidate.method {
                _ if line.candidate.rows.is_some() => {
                    format!("train with the added rows: {}", self.config().name(line.candidate))
                }
                Some(MethodName::Erm) => "train without augmentation".into(),
                Some(_) => format!("train with {}", self.config().name(line.candidate)),
                None if line.candidate.model == ModelName::Auto => {
                    "train with automatic model selection".into()
                }
                None => format!("train {}", model_in_words(line.candidate.model)),
            },
            command: None,
        });
        let mut remarks = verdicts.remarks(next.as_ref().map(|next| next.candidate));
        remarks.extend(verdicts.rare_rows());
        self.remark_on_others(main, lines, &mut remarks);
        Conclusion { answer, verdict, next, remarks }
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
                "Training diverged: {}. The weights before divergence are used, and there is no verdict if the \
                 reference diverged; choose a smaller learning rate, or clip the gradient norm.",
                diverged.join(", ")
            ));
        }
        let baseline = main.iter().find(|line| line.is_baseline());
        let others = || main.iter().filter(|line| !line.is_baseline());
        if let Some(baseline) = baseline
            && others().all(|line| line.rmse >= baseline.rmse)
        {
            let rmse = significant(baseline.rmse, 4);
            remarks.push(format!(
                "No candidate predicts better than the mean of the target (RMSE {rmse}): the features explain \
                 little of it."
            ));
        }
        if let Some(placebo) = main.iter().find(|line| line.finding == Finding::Placebo)
            && let Some(interval) = placebo.difference
        {
            let words = interval.in_words();
            remarks.push(format!("Placebo (no augmentation, another seed): RMSE {words}."));
        }
        let largest = self.config().sizes.last().copied().flatten();
        for rows in self.config().sizes.iter().filter(|&&size| size != largest).flatten() {
            let better: Vec<String> = lines
                .iter()
                .filter(|line| line.size == Some(*rows) && line.finding == Finding::Better)
                .filter_map(|line| {
                    let by = in_percent(line.difference?.mean);
                    Some(format!("{} (RMSE {by})", self.config().name(line.candidate)))
                })
                .collect();
            remarks.push(match better.join(", ") {
                none if none.is_empty() => {
                    format!("With {rows} training rows, no candidate is better.")
                }
                names => format!("Better with {rows} training rows: {names}."),
            });
        }
        remarks.extend(self.remark_on_rows(lines));
        if self.loaded().roles.targets().len() > 1 {
            remarks.push(
                "Errors are pooled over targets in their units, so targets with large values dominate.".into(),
            );
        }
        if self.config().tune <= 1 && self.config().specs.is_empty() {
            remarks.push(
                "All methods used their default hyperparameters; tuning tries several inside the \
                 training rows."
                    .into(),
            );
        }
    }

    /// The error of the best candidate with all training rows and with fewer.
    fn remark_on_rows(&self, lines: &[CandidateSummary]) -> Option<String> {
        let [.., fewer, most] = self.config().sizes[..] else { return None };
        let of = |size| lines.iter().filter(move |line| line.size == size && !line.is_baseline());
        let best = of(most).min_by(|a, b| a.rmse.total_cmp(&b.rmse))?;
        let before = of(fewer).find(|line| line.candidate == best.candidate)?;
        let change = in_percent(log_ratio(best.rmse, before.rmse));
        Some(format!(
            "More rows: from {} to {} training rows, the RMSE of {} changes from {} to {} ({change}).",
            fewer?,
            most.map_or_else(|| "all".to_owned(), |rows| rows.to_string()),
            self.config().name(best.candidate),
            significant(before.rmse, 4),
            significant(best.rmse, 4)
        ))
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
                    .is_leave_one_out(self.loaded(), self.config().folds)
                    .unwrap_or(false) =>
            {
                format!("leaving out one {column} at a time")
            }
            SplitRule::HeldOut(Split::Domain(column)) => {
                format!("{repeats}×{folds} folds of the values of {column}")
            }
            SplitRule::HeldOut(Split::Time(column)) => {
                format!("forward in time by {column}, {folds} folds")
            }
            SplitRule::TestFile => format!("{} training runs, the same test rows", splits.len()),
            SplitRule::Provided(splits) => splits.description.clone(),
        }
    }
}

/// The conclusion of a comparison.
struct Conclusion {
    answer: String,
    verdict: String,
    next: Option<NextStep>,
    remarks: Vec<String>,
}

impl CandidateSummary {
    /// Whether this is an augmentation: its interval is corrected.
    pub(crate) fn is_augmentation(&self) -> bool {
        self.candidate.augments()
    }

    /// Whether this is the baseline.
    pub(crate) fn is_baseline(&self) -> bool {
        self.candidate == Candidate::BASELINE
    }

    /// Whether this is another model, or the network with row weights, whose interval is not corrected.
    fn is_rival(&self) -> bool {
        let is_weighted = |method: MethodName| method.density_weights().is_some();
        let Candidate { method, rows, .. } = self.candidate;
        method.is_none_or(is_weighted) && rows.is_none() && !self.is_baseline()
    }
}

type IsKind = fn(&CandidateSummary) -> bool;

/// The candidates of the largest training size, with their verdicts.
struct Verdicts<'a> {
    main: &'a [&'a CandidateSummary],
    config: &'a CompareConfig,
}

impl<'a> Verdicts<'a> {
    /// Candidates with one of these verdicts, the best first.
    fn found(&self, wanted: &[Finding], kind: IsKind) -> Vec<(&'a CandidateSummary, Interval)> {
        let mut found: Vec<(&CandidateSummary, Interval)> = self
            .main
            .iter()
            .filter(|line| wanted.contains(&line.finding) && kind(line))
            .filter_map(|line| Some((*line, line.corrected?)))
            .collect();
        found.sort_by(|a, b| self.level(a.0).total_cmp(&self.level(b.0)));
        found
    }

    /// The difference to the network without augmentation, also of candidates that are compared with another model.
    fn level(&self, line: &CandidateSummary) -> f64 {
        let own = line.corrected.map_or(0.0, |found| found.mean);
        let reference = self.config.reference(line.candidate).filter(|other| !other.is_plain());
        let of_reference = |other| self.main.iter().find(|line| line.candidate == other);
        own + reference.and_then(of_reference).map_or(0.0, |other| self.level(other))
    }

    /// The best augmentation by its verdict.
    fn best_augmentation(&self) -> Option<(&'a CandidateSummary, Interval)> {
        use Finding::{Better, CannotTell, ProbablyBetter, ProbablyWorse, Worse};
        let ranks: [&[Finding]; 4] =
            [&[Better], &[ProbablyBetter], &[CannotTell], &[ProbablyWorse, Worse]];
        ranks
            .into_iter()
            .find_map(|rank| self.found(rank, CandidateSummary::is_augmentation).first().copied())
    }

    /// Whether augmentation helps: a short answer and a sentence.
    fn augmentation(&self, over: &str) -> (String, String) {
        let augmentations = self.main.iter().filter(|line| line.is_augmentation()).count();
        let Some((line, interval)) = self.best_augmentation() else {
            if augmentations == 0 {
                let answer = "No augmentation was compared";
                return (answer.into(), format!("{answer}, {over}."));
            }
            let subject = self.config.subject();
            let references = self.main.iter().filter(|line| line.finding == Finding::Reference);
            let why = if references.clone().any(|line| line.diverged > 0) {
                format!("the {subject} without augmentation diverged")
            } else {
                "the added rows were probably derived from held-out rows".to_owned()
            };
            return ("No verdict".into(), format!("No verdict: {why}, {over}."));
        };
        let (name, words) = (self.config.name(line.candidate), interval.in_words());
        let (verdict, than) = (line.finding.name(), self.config.compared_with(line.candidate));
        let (answer, sentence) = match line.finding {
            Finding::Better => (
                format!("Yes: {name} is better"),
                format!("{name} is better than {than}: RMSE {words}"),
            ),
            Finding::ProbablyBetter => (
                format!("Probably: {name} is probably better"),
                format!("{name} is probably better than {than}: RMSE {words}"),
            ),
            Finding::CannotTell => (
                "Cannot tell".to_owned(),
                format!(
                    "Cannot tell whether augmentation is better or worse. The best was {name}: RMSE {words}"
                ),
            ),
            _ => (
                "No".to_owned(),
                format!("No augmentation is better. The best, {name}, is {verdict}: RMSE {words}"),
            ),
        };
        let is_tested = |line: &&&CandidateSummary| {
            line.is_augmentation() && line.finding != Finding::NoVerdict
        };
        let corrected = match self.main.iter().filter(is_tested).count() {
            1 => String::new(),
            several => format!("; intervals are corrected for {several} augmentations"),
        };
        (answer, format!("{sentence}, {over}{corrected}."))
    }

    /// The recommended candidate: the smallest error among those that are better, or else probably better.
    fn chosen(&self) -> Option<(&'a CandidateSummary, Interval)> {
        [Finding::Better, Finding::ProbablyBetter].into_iter().find_map(|rank| {
            let found = self.found(&[rank], |line| !line.is_baseline());
            // Rows that help a model may leave it worse than the network.
            found.first().copied().filter(|(line, _)| self.level(line) < 0.0)
        })
    }

    /// Remarks on rare rows: who is better there, with the error and the bias over all rows.
    fn rare_rows(&self) -> Vec<String> {
        let errors = |line: &CandidateSummary| {
            line.by_target.clone().and_then(|by| by.rare.map(|rare| (by.bias, rare)))
        };
        let Some((reference_bias, reference)) = self
            .main
            .iter()
            .find(|line| line.finding == Finding::Reference)
            .and_then(|line| errors(line))
        else {
            return vec![];
        };
        let mut remarks = vec![];
        let number = |value: f64| significant(value, 3);
        for line in self.main.iter().filter(|line| !line.is_baseline()) {
            let (Some(interval), Some((bias, rare))) = (line.rare_difference, errors(line)) else {
                continue;
            };
            let finding = Finding::of(&interval);
            if !matches!(finding, Finding::Better | Finding::ProbablyBetter) {
                continue;
            }
            let overall =
                line.difference.map_or_else(|| "unknown".into(), |all| in_percent(all.mean));
            remarks.push(format!(
                "On rare rows {} is {}: RMSE {}, bias {} instead of {}. Over all rows its RMSE is {overall} and its \
                 bias {} instead of {}.",
                self.config.name(line.candidate),
                finding.name(),
                interval.in_words(),
                number(rare.bias),
                number(reference.bias),
                number(bias),
                number(reference_bias)
            ));
        }
        if remarks.is_empty() && self.main.iter().any(|line| line.rare_difference.is_some()) {
            remarks.push("No candidate is better on rare rows.".into());
        }
        remarks.push(
            "A model that only predicts larger or smaller values also has smaller errors on rare rows: judge by the \
             error and the bias over all rows, too."
                .into(),
        );
        remarks
    }

    /// Remarks on the candidates that the verdict does not name.
    fn remarks(&self, next: Option<Candidate>) -> Vec<String> {
        let best = self.best_augmentation().map(|(line, _)| line.candidate);
        let without = format!("than the {} without augmentation", self.config.subject());
        let kinds: [(&str, IsKind); 2] = [
            ("than no augmentation", CandidateSummary::is_augmentation),
            (&without, CandidateSummary::is_rival),
        ];
        let mut remarks = vec![];
        for (than, kind) in kinds {
            for finding in [
                Finding::Better,
                Finding::ProbablyBetter,
                Finding::CannotTell,
                Finding::ProbablyWorse,
                Finding::Worse,
            ] {
                // The verdict names the best augmentation already.
                if finding == Finding::CannotTell && than == kinds[0].0 {
                    continue;
                }
                let words = |(line, interval): (&CandidateSummary, Interval)| {
                    let (name, by) = (self.config.name(line.candidate), in_percent(interval.mean));
                    format!("{name} (RMSE {by})")
                };
                let others = self.found(&[finding], kind).into_iter().filter(|(line, _)| {
                    Some(line.candidate) != next && Some(line.candidate) != best
                });
                let others: Vec<String> = others.map(words).collect();
                if !others.is_empty() {
                    let verdict = match finding {
                        Finding::CannotTell => "Cannot tell whether better or worse",
                        other => &capitalized(other.name()),
                    };
                    remarks.push(format!("{verdict} {than}: {}.", others.join(", ")));
                }
            }
        }
        remarks
    }
}

fn model_in_words(model: ModelName) -> &'static str {
    match model {
        ModelName::Ridge => "ridge regression",
        ModelName::Forest => "a random forest",
        ModelName::Gp => "a Gaussian process",
        ModelName::ExtraTrees => "extra trees",
        ModelName::Boosting => "boosted trees",
        ModelName::Auto => "automatic model selection",
        ModelName::Distilled => "a distilled network",
        _ => model.name(),
    }
}

fn capitalized(sentence: &str) -> String {
    let mut chars = sentence.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Assigns the verdicts of candidates with the same training size. Augmentations are corrected for multiple
/// comparisons; every other verdict depends only on the candidate and its reference. There is none if the test rows
/// are training rows, or if a candidate `leaks`.
fn assign_findings(
    lines: &mut [CandidateSummary],
    training_rows: bool,
    leaks: impl Fn(Candidate) -> bool,
) {
    let is_tested = |line: &CandidateSummary| {
        line.is_augmentation() && line.difference.is_some() && !leaks(line.candidate)
    };
    let tested: Vec<usize> = (0..lines.len()).filter(|&place| is_tested(&lines[place])).collect();
    let raw: Vec<f64> =
        tested.iter().filter_map(|&place| lines[place].difference).map(|d| d.p).collect();
    for (place, p) in tested.into_iter().zip(holm(&raw)) {
        let line = &mut lines[place];
        line.corrected = line.difference.map(|difference| difference.corrected(p));
    }
    let rare: Vec<usize> =
        (0..lines.len()).filter(|&place| lines[place].rare_difference.is_some()).collect();
    let raw: Vec<f64> =
        rare.iter().filter_map(|&place| lines[place].rare_difference).map(|d| d.p).collect();
    for (place, p) in rare.into_iter().zip(holm(&raw)) {
        let line = &mut lines[place];
        line.rare_difference = line.rare_difference.map(|difference| difference.corrected(p));
    }
    let diverged = lines.iter().any(|line| line.finding == Finding::Reference && line.diverged > 0);
    for line in lines {
        if line.finding == Finding::CannotTell
            && let Some(interval) = &line.corrected
        {
            let no_verdict = diverged || training_rows || leaks(line.candidate);
            line.finding = if no_verdict { Finding::NoVerdict } else { Finding::of(interval) };
        }
    }
}
