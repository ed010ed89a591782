//! The figures of a report, each for the page and as a file.

use std::collections::BTreeMap;

use windlass::{Anchors, Samples, Seed, Stream};
use windlass_model::{Input, Preprocessing, groups_of};
use windlass_plot::{
    Emphasis, ForestPlot, ForestRow, GammaSlider, Labels, Layout, LinePlot, LineSeries,
    PointSeries, ReferenceLine, Scatter, SliderPoint, StripPlot, StripRow,
};
use windlass_table::{LoadedTable, to_f64};

use crate::candidate::Candidate;
use crate::compare::Comparison;
use crate::config::CompareConfig;
pub(super) use crate::describe::short;
use crate::results::Run;
use crate::summary::{CandidateSummary, ComparisonSummary, Finding};
use crate::{Result, Results};

/// A plot with its texts on the page; it is drawn in two layouts.
pub(super) struct Figure {
    pub(super) name: &'static str,
    pub(super) heading: &'static str,
    pub(super) caption: String,
    pub(super) svg: Box<dyn Fn(&Layout) -> String>,
}

/// Range of the axes in percent; longer intervals are cut off.
fn max_difference(lines: &[CandidateSummary]) -> f64 {
    let compared = lines.iter().filter(|line| !line.is_baseline());
    let means = compared.filter_map(|line| Some(percent(line.difference?.mean).abs()));
    3.0 * means.filter(|mean| mean.is_finite()).fold(10.0, f64::max)
}

pub(super) fn percent(log_ratio: f64) -> f64 {
    100.0 * log_ratio.exp_m1()
}

fn zero(below: &str, above: &str) -> ReferenceLine {
    ReferenceLine { at: 0.0, below: below.into(), above: above.into() }
}

/// Differences in RMSE, one dot per split.
pub(super) fn strip_plot(title: &str, rows: Vec<StripRow>) -> StripPlot {
    StripPlot {
        labels: Labels::new(title, "difference in RMSE, %", ""),
        rows,
        quartiles: false,
        reference: Some(zero("better", "worse")),
    }
}

/// The data of the figures.
pub(super) struct Figures<'a> {
    pub(super) comparison: &'a Comparison<'a>,
    pub(super) results: &'a Results,
    pub(super) summary: &'a ComparisonSummary,
}

impl Figures<'_> {
    fn largest(&self) -> Option<usize> {
        self.results.config.sizes.last().copied().flatten()
    }

    fn main(&self) -> impl Iterator<Item = &CandidateSummary> {
        let size = self.largest();
        self.summary.lines.iter().filter(move |line| line.size == size)
    }

    /// Means with intervals.
    pub(super) fn differences(&self) -> Figure {
        let max = max_difference(&self.summary.lines);
        // Longer intervals extend to the border.
        let low = |end: f64| if end < -max { f64::NEG_INFINITY } else { end };
        let high = |end: f64| if end > max { f64::INFINITY } else { end };
        let row = |line: &CandidateSummary| {
            let found = line.corrected.filter(|_| !line.is_baseline())?;
            Some(ForestRow {
                name: self.results.config.name(line.candidate),
                mean: percent(found.mean),
                low: low(percent(found.low)),
                high: high(percent(found.high)),
                emphasis: match line.finding {
                    Finding::Better => Emphasis::Good,
                    Finding::Worse => Emphasis::Bad,
                    _ => Emphasis::Plain,
                },
                ..ForestRow::default()
            })
        };
        let plot = ForestPlot {
            labels: Labels::new("Error compared with no augmentation", "difference in RMSE, %", ""),
            rows: self.main().filter_map(row).collect(),
            reference: Some(zero("better", "worse")),
        };
        Figure {
            name: "differences",
            heading: "Difference to no augmentation",
            caption: format!(
                "Difference in RMSE to the {} without augmentation, with 95 % intervals{}. Green: better; red: \
                 worse; gray: the interval contains 0.{}",
                self.results.config.subject(),
                match self.summary.augmentations {
                    0 | 1 => String::new(),
                    several => format!(", corrected for {several} augmentations"),
                },
                if self.results.config.rows.is_empty() {
                    ""
                } else {
                    " A model with added rows (+) is compared with the same model without them."
                }
            ),
            svg: Box::new(move |layout| plot.to_svg(layout)),
        }
    }

    /// The difference in every split.
    pub(super) fn splits(&self) -> Figure {
        let row = |line: &CandidateSummary| {
            line.difference.filter(|_| !line.is_baseline())?;
            let values = line.differences.iter().map(|&d| percent(d)).collect();
            Some(StripRow { name: self.results.config.name(line.candidate), values })
        };
        let plot = strip_plot("Differences by split", self.main().filter_map(row).collect());
        Figure {
            name: "splits",
            heading: "Differences by split",
            caption: format!(
                "Each dot is one split, in which both models were trained on the same rows, {}. The tick \
                 is the mean.",
                if self.results.config.is_external() {
                    "with the same seed"
                } else {
                    "from the same initial weights"
                }
            ),
            svg: Box::new(move |layout| plot.to_svg(layout)),
        }
    }

    /// The error by the number of training rows.
    pub(super) fn errors_by_rows(&self) -> Option<Figure> {
        let protocol = &self.results.config;
        if protocol.sizes.len() < 2 {
            return None;
        }
        let best = |kind: fn(&CandidateSummary) -> bool| {
            let own = self.main().filter(|line| kind(line));
            own.min_by(|a, b| a.rmse.total_cmp(&b.rmse)).map(|line| line.candidate)
        };
        let shown = [
            best(|line| line.finding == Finding::Reference),
            best(CandidateSummary::is_augmentation),
            best(|line| {
                !line.is_augmentation() && line.candidate.method.is_none() && !line.is_baseline()
            }),
        ];
        let series = |candidate: Candidate| {
            let point = |(place, size): (usize, &Option<usize>)| {
                let same =
                    |line: &&CandidateSummary| line.size == *size && line.candidate == candidate;
                Some((place as f64, self.summary.lines.iter().find(same)?.rmse))
            };
            LineSeries {
                name: protocol.name(candidate),
                points: protocol.sizes.iter().enumerate().filter_map(point).collect(),
                spread: vec![],
            }
        };
        let title = "Error by training rows";
        let plot = LinePlot {
            labels: Labels::new(title, "training rows", format!("RMSE of {}", self.target())),
            series: shown.into_iter().flatten().map(series).collect(),
            x_names: Some(self.size_names()),
            ..LinePlot::default()
        };
        Some(Figure {
            name: "errors-by-rows",
            heading: "Error by training rows",
            caption: "The error on held-out rows of no augmentation, the best augmentation and the best other \
                      model. If a line still falls at its end, more rows are likely to lower the error."
                .into(),
            svg: Box::new(move |layout| plot.to_svg(layout)),
        })
    }

    fn size_names(&self) -> Vec<(f64, String)> {
        let name = |(place, size): (usize, &Option<usize>)| {
            (place as f64, size.map_or("all".to_owned(), |size| size.to_string()))
        };
        self.results.config.sizes.iter().enumerate().map(name).collect()
    }

    /// Differences over the number of training rows.
    pub(super) fn curves(&self) -> Option<Figure> {
        let protocol = &self.results.config;
        if protocol.sizes.len() < 2 {
            return None;
        }
        let max = max_difference(&self.summary.lines);
        let of = |candidate: Candidate| {
            let lines: Vec<(f64, &CandidateSummary)> = protocol
                .sizes
                .iter()
                .enumerate()
                .filter_map(|(place, size)| {
                    let same = |line: &&CandidateSummary| {
                        line.size == *size && line.candidate == candidate
                    };
                    Some((place as f64, self.summary.lines.iter().find(same)?))
                })
                .collect();
            let ends = |line: &CandidateSummary| match line.corrected {
                Some(found) => (percent(found.low).max(-max), percent(found.high).min(max)),
                None => (0.0, 0.0),
            };
            let mean =
                |line: &CandidateSummary| line.difference.map_or(0.0, |found| percent(found.mean));
            LineSeries {
                name: self.results.config.name(candidate),
                points: lines.iter().map(|(at, line)| (*at, mean(line))).collect(),
                spread: lines.iter().map(|(_, line)| ends(line)).collect(),
            }
        };
        let title = "Error compared with no augmentation, by training rows";
        let plot = LinePlot {
            labels: Labels::new(title, "training rows", "difference in RMSE, %"),
            series: protocol.candidates().into_iter().map(of).collect(),
            x_names: Some(self.size_names()),
            ..LinePlot::default()
        };
        Some(Figure {
            name: "learning-curves",
            heading: "Learning curves",
            caption:
                "Below 0 is better than no augmentation with the same number of training rows. Bars \
                      are 95 % intervals; very long ones are cut off."
                    .into(),
            svg: Box::new(move |layout| plot.to_svg(layout)),
        })
    }

    /// Candidates whose predictions are shown: no augmentation, and the best.
    fn shown(&self) -> Vec<Candidate> {
        let best = self
            .main()
            .filter(|line| !matches!(line.finding, Finding::Reference | Finding::Placebo))
            .filter(|line| !line.is_baseline())
            .min_by(|a, b| a.rmse.total_cmp(&b.rmse))
            .map(|line| line.candidate);
        let reference = best.and_then(|best| self.results.config.reference(best));
        reference.into_iter().chain(best).collect()
    }

    /// Row, true value and prediction of the held-out rows of the first repeat.
    fn predictions(&self, candidate: Candidate) -> Vec<(usize, f64, f64)> {
        let loaded = self.test_table();
        let Some(&target) = loaded.roles.targets().first() else { return vec![] };
        let (truth, targets) = (to_f64(loaded.batch.column(target)), loaded.roles.targets().len());
        let first = |run: &&Run| {
            let same = run.key.candidate == candidate && run.key.size == self.largest();
            same && run.key.repeat == 0
                && (self.comparison.loaded_test().is_none() || run.key.fold == 0)
        };
        let mut out = vec![];
        for run in self.results.runs.iter().filter(first) {
            let same = |s: &&crate::Fold| s.repeat == run.key.repeat && s.fold == run.key.fold;
            let Some(split) = self.comparison.splits().iter().find(same) else { continue };
            for (&row, predicted) in split.test.iter().zip(run.predicted.chunks(targets)) {
                out.push((row, truth.value(row), predicted[0]));
            }
        }
        out
    }

    /// The table of the test rows.
    fn test_table(&self) -> &LoadedTable {
        self.comparison.loaded_test().unwrap_or(self.comparison.loaded())
    }

    fn target(&self) -> String {
        let loaded = self.comparison.loaded();
        let place = loaded.roles.targets().first().copied().unwrap_or(0);
        loaded.batch.schema().field(place).name().clone()
    }

    /// Predicted and true values.
    pub(super) fn predicted(&self) -> Figure {
        let series = |candidate: Candidate| {
            let points = self.predictions(candidate).into_iter().map(|(_, y, p)| (y, p));
            PointSeries::new(self.results.config.name(candidate), points)
        };
        let target = self.target();
        let title = format!("Predicted and true {target}");
        let plot = Scatter {
            labels: Labels::new(title, format!("true {target}"), format!("predicted {target}")),
            series: self.shown().into_iter().map(series).collect(),
            diagonal: true,
            ..Scatter::default()
        };
        Figure {
            name: "predicted",
            heading: "Predicted and true values",
            caption: "Held-out rows of the first repeat. Predictions on the line are exact.".into(),
            svg: Box::new(move |layout| plot.to_svg(layout)),
        }
    }

    /// Residuals by group: of the split, or fifths of the target.
    pub(super) fn residuals(&self) -> Result<Figure> {
        const MOST: usize = 12;
        let candidate = self.shown().last().copied();
        let found = candidate.map(|candidate| self.predictions(candidate)).unwrap_or_default();
        let off: BTreeMap<usize, f64> = found.iter().map(|&(row, y, p)| (row, p - y)).collect();
        let target = self.target();
        let column = match &self.results.config.rule {
            crate::SplitRule::HeldOut(split) => split.group_column(),
            _ => None,
        };
        let groups: Vec<(String, Vec<usize>)> = if let Some(column) = column {
            let groups = groups_of(&self.test_table().batch, column)?;
            let name = |name: Option<String>| name.unwrap_or_else(|| "(missing)".into());
            let mut groups: Vec<(String, Vec<usize>)> =
                groups.into_iter().map(|(word, rows)| (name(word), rows)).collect();
            groups.sort_by_key(|(_, rows)| std::cmp::Reverse(rows.len()));
            groups.truncate(MOST);
            groups
        } else {
            let mut rows: Vec<(f64, usize)> = found.iter().map(|&(row, y, _)| (y, row)).collect();
            rows.sort_by(|a, b| a.0.total_cmp(&b.0));
            let fifth = rows.len().div_ceil(5).max(1);
            let name = |part: &[(f64, usize)]| {
                let ends = [part[0].0, part[part.len() - 1].0].map(short);
                format!("{} to {}", ends[0], ends[1])
            };
            rows.chunks(fifth)
                .map(|part| (name(part), part.iter().map(|&(_, row)| row).collect()))
                .collect()
        };
        let strip = |(name, rows): (String, Vec<usize>)| {
            let values = rows.iter().filter_map(|row| off.get(row).copied()).collect();
            StripRow { name, values }
        };
        let who = candidate.map_or(String::new(), |candidate| self.results.config.name(candidate));
        let by = column.map_or(format!("fifths of {target}"), str::to_owned);
        let title = format!("Residuals of {who} by {by}");
        let plot = StripPlot {
            labels: Labels::new(title, format!("predicted − true {target}"), ""),
            rows: groups.into_iter().map(strip).collect(),
            quartiles: true,
            reference: Some(zero("too low", "too high")),
        };
        Ok(Figure {
            name: "residuals",
            heading: "Residuals by group",
            caption: format!(
                "Held-out rows of the first repeat, {who}, by {by}: median and quartiles."
            ),
            svg: Box::new(move |layout| plot.to_svg(layout)),
        })
    }

    /// Original rows and synthetic rows of ADA, with a slider for γ; `None` if groups cannot be formed.
    pub(super) fn gamma_slider(&self) -> Option<Figure> {
        const MOST: usize = 300;
        let loaded = self.comparison.loaded();
        let rows = loaded.batch.num_rows();
        let protocol = &self.results.config;
        let mut few: Vec<usize> = (0..rows).collect();
        Seed(protocol.seed).shared(Stream::Sample, 0).shuffle(&mut few);
        few.truncate(MOST);
        let loaded = loaded.select(&few);
        let CompareConfig { columns, scaling, target_scaling, .. } = protocol;
        let fitted = Preprocessing::fit(&loaded, &loaded.batch, columns, *scaling, *target_scaling);
        let preprocessing = fitted.ok()?.0;
        let x = preprocessing.features(&loaded.batch, std::path::Path::new("-"), 0).ok()?;
        let y = preprocessing.scaled_targets(&loaded.batch);
        let samples = Samples::new(x.view(), y.view()).ok()?;
        let anchors = Anchors::default();
        let groups = anchors.partition(&samples, Seed(protocol.seed)).ok()??;
        let target = self.target();
        let truth = column(&loaded, &target);
        // The column most correlated with the target.
        let best = preprocessing
            .inputs
            .iter()
            .filter_map(|input| match input {
                Input::Continuous { name, calendar: None, .. } => {
                    Some((name, column(&loaded, name)))
                }
                Input::Continuous { .. } | Input::Categorical { .. } => None,
            })
            .max_by(|a, b| correlation(&a.1, &truth).total_cmp(&correlation(&b.1, &truth)));
        let (name, values) = best?;
        let labels = groups.labels();
        let mut sums: BTreeMap<u32, (f64, f64, f64)> = BTreeMap::new();
        for ((&label, x), y) in labels.iter().zip(&values).zip(&truth) {
            if let (Some(x), Some(y)) = (x, y) {
                let sum = sums.entry(label).or_default();
                *sum = (sum.0 + x, sum.1 + y, sum.2 + 1.0);
            }
        }
        let points = labels.iter().zip(values.iter().zip(&truth)).filter_map(|(label, (x, y))| {
            let &(x_sum, y_sum, count) = sums.get(label)?;
            let mean = (x_sum / count, y_sum / count);
            Some(SliderPoint { row: ((*x)?, (*y)?), mean, group: *label })
        });
        let plot = GammaSlider {
            labels: Labels::new("Synthetic rows of ADA", name, target),
            points: points.collect(),
            gamma: 0.5,
            range: (0.25, 4.0),
        };
        Some(Figure {
            name: "synthetic",
            heading: "Original and synthetic rows",
            caption: format!(
                "Original rows and synthetic rows of ADA by group, over {name}. γ below 1 moves rows \
                 away from the mean of their group, γ above 1 toward it."
            ),
            svg: Box::new(move |layout| plot.to_svg(layout)),
        })
    }
}

fn column(loaded: &LoadedTable, name: &str) -> Vec<Option<f64>> {
    match loaded.batch.column_by_name(name) {
        Some(column) => to_f64(column).iter().collect(),
        None => vec![None; loaded.batch.num_rows()],
    }
}

/// Absolute correlation of the rows that have both values.
fn correlation(a: &[Option<f64>], b: &[Option<f64>]) -> f64 {
    let (a, b): (Vec<f64>, Vec<f64>) =
        a.iter().zip(b).filter_map(|(a, b)| Some(((*a)?, (*b)?))).unzip();
    windlass::metrics::correlation(a[..].into(), b[..].into(), None).map_or(0.0, f64::abs)
}
