//! A finished part of an experiment: its specification, and its results as stored.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};
use windlass_compare::statistics::mean_and_variance;
use windlass_compare::{Candidate, CandidateSummary, ComparisonSummary, Run};

use super::lower::PartConfig;
use super::spec::{CandidateGrid, ExperimentPart, ReportedMetric};

/// A part with its results.
#[derive(Debug, Clone, PartialEq)]
pub struct FinishedPart {
    /// The specification.
    pub part: ExperimentPart,
    /// The results.
    pub stored: StoredPart,
}

/// The results file of a part: its configuration, summary and runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredPart {
    /// The command line.
    pub command: String,
    /// The version of Windlass.
    pub version: String,
    /// The configuration.
    #[serde(rename = "protocol")]
    pub config: PartConfig,
    /// Fingerprints of the rows.
    pub tables: Vec<String>,
    /// Number of rows.
    pub rows: usize,
    /// Statistics over all runs.
    pub summary: ComparisonSummary,
    /// All runs.
    pub runs: Vec<Run>,
}

/// A mean and a standard deviation.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct MeanStd {
    pub(super) mean: f64,
    pub(super) std: Option<f64>,
}

impl MeanStd {
    pub(super) fn from_values(values: &[f64]) -> Self {
        let (mean, variance) = mean_and_variance(values);
        Self { mean, std: (values.len() > 1).then(|| variance.sqrt()) }
    }

    pub(super) fn format(self, decimals: usize) -> String {
        match self.std {
            Some(std) => format!("{:.decimals$} ± {std:.decimals$}", self.mean),
            None => format!("{:.decimals$}", self.mean),
        }
    }
}

impl StoredPart {
    /// The file, with one line per run.
    pub(super) fn to_json(&self) -> String {
        let head = Self { runs: vec![], ..self.clone() };
        let head = serde_json::to_string_pretty(&head).expect("plain values");
        let runs: Vec<String> =
            self.runs.iter().map(|run| serde_json::to_string(run).expect("plain values")).collect();
        let mut out = head.strip_suffix("[]\n}").expect("runs come last").to_owned();
        let _ = write!(out, "[\n{}\n]}}\n", runs.join(",\n"));
        out
    }

    /// The values of a metric over seeds.
    #[must_use]
    pub fn values(
        &self,
        size: Option<usize>,
        candidate: Candidate,
        metric: ReportedMetric,
    ) -> Vec<f64> {
        let own = |run: &&Run| run.key.size == size && run.key.candidate == candidate;
        self.runs.iter().filter(own).map(|run| metric.value(run)).collect()
    }

    /// The summary of a candidate at a training size.
    #[must_use]
    pub fn line(&self, size: Option<usize>, candidate: Candidate) -> Option<&CandidateSummary> {
        let own = |line: &&CandidateSummary| line.size == size && line.candidate == candidate;
        self.summary.lines.iter().find(own)
    }

    /// Total duration of all runs.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.runs.iter().map(|run| run.seconds).sum()
    }
}

impl FinishedPart {
    pub(super) fn candidates(&self) -> Vec<Candidate> {
        self.stored.config.comparison.candidates()
    }

    /// What the paper printed for a candidate.
    pub(super) fn published(
        &self,
        candidate: Candidate,
        metric: ReportedMetric,
    ) -> Option<MeanStd> {
        let name = self.stored.config.comparison.name(candidate);
        let named = |grid: &&CandidateGrid| grid.name == name;
        let printed = self.part.candidate.iter().find(named)?.published.get(&metric)?;
        Some(MeanStd { mean: *printed.first()?, std: printed.get(1).copied() })
    }

    /// Our result for a candidate.
    pub(super) fn ours(
        &self,
        size: Option<usize>,
        candidate: Candidate,
        metric: ReportedMetric,
    ) -> Option<MeanStd> {
        let values = self.stored.values(size, candidate, metric);
        (!values.is_empty()).then(|| MeanStd::from_values(&values))
    }

    /// The first candidate of another part with the same method, if this candidate is the first here.
    pub(super) fn counterpart(&self, candidate: Candidate, other: &Self) -> Option<Candidate> {
        let first =
            |part: &Self| part.candidates().into_iter().find(|one| one.method == candidate.method);
        first(other).filter(|_| first(self) == Some(candidate))
    }
}

/// The parts, each with the part at equal budgets that follows it.
pub(super) fn with_equal_budget(
    finished: &[FinishedPart],
) -> Vec<(&FinishedPart, Option<&FinishedPart>)> {
    let mut pairs: Vec<(&FinishedPart, Option<&FinishedPart>)> = vec![];
    for part in finished {
        match pairs.last_mut() {
            Some((main, equal @ None)) if part.part.equal && !main.part.equal => {
                *equal = Some(part);
            }
            _ => pairs.push((part, None)),
        }
    }
    pairs
}
