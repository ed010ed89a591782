//! The pictures of a report, each for the page and as a file.

use std::collections::BTreeMap;

use windlass::{Anchors, ClusterOn, ClusterScaling, Clustering, KMeans, Samples, Seed, Stream};
use windlass_model::{Input, Preprocessing, groups_of};
use windlass_plot::{
    Cloud, Dots, Emphasis, Interval, Intervals, Lines, Moving, MovingPoint, Reference, Series,
    Size, Strip, Strips, Summary as Shown,
};
use windlass_table::{ClusterCount, LoadedTable, numbers};

use crate::candidate::Candidate;
use crate::compare::Comparison;
use crate::results::Run;
use crate::summary::{CandidateSummary, Finding, Summary};
use crate::{Result, Results};

/// A picture: its name, what it shows, and how it is drawn in a size.
pub(super) struct Picture {
    pub(super) name: &'static str,
    pub(super) heading: &'static str,
    pub(super) caption: String,
    pub(super) draw: Box<dyn Fn(Size) -> String>,
}

/// How far pictures reach, in percent: intervals that are much longer would leave no room for the rest.
fn reach(lines: &[CandidateSummary]) -> f64 {
    let means = lines.iter().filter_map(|line| Some(percent(line.difference?.mean).abs()));
    3.0 * means.filter(|mean| mean.is_finite()).fold(10.0, f64::max)
}

fn percent(log_ratio: f64) -> f64 {
    100.0 * log_ratio.exp_m1()
}

pub(super) fn reference() -> Reference {
    Reference { at: 0.0, below: "better".into(), above: "worse".into() }
}

/// Where a prediction is right.
fn no_error() -> Reference {
    Reference { at: 0.0, below: "too low".into(), above: "too high".into() }
}

/// What pictures are drawn from.
pub(super) struct Gallery<'a> {
    pub(super) comparison: &'a Comparison<'a>,
    pub(super) results: &'a Results,
    pub(super) summary: &'a Summary,
}

impl Gallery<'_> {
    fn largest(&self) -> Option<usize> {
        self.results.config.sizes.last().copied().flatten()
    }

    fn main(&self) -> impl Iterator<Item = &CandidateSummary> {
        let size = self.largest();
        self.summary.lines.iter().filter(move |line| line.size == size)
    }

    /// Means with intervals.
    pub(super) fn differences(&self) -> Picture {
        let reach = reach(&self.summary.lines);
        // What goes farther is drawn open to the border.
        let low = |end: f64| if end < -reach { f64::NEG_INFINITY } else { end };
        let high = |end: f64| if end > reach { f64::INFINITY } else { end };
        let row = |line: &CandidateSummary| {
            let found = line.difference?;
            Some(Interval {
                name: self.results.config.name(line.candidate),
                mean: percent(found.mean),
                low: low(percent(found.low)),
                high: high(percent(found.high)),
                emphasis: match line.finding {
                    Finding::Helps => Emphasis::Good,
                    Finding::Hurts => Emphasis::Bad,
                    Finding::Reference | Finding::Placebo | Finding::NoEvidence => Emphasis::Plain,
                },
                ..Interval::default()
            })
        };
        let plot = Intervals {
            title: "Error against no augmentation".into(),
            x_label: "difference in RMSE, %".into(),
            rows: self.main().filter_map(row).collect(),
            reference: Some(reference()),
            ..Intervals::default()
        };
        Picture {
            name: "differences",
            heading: "Difference to no augmentation",
            caption: format!(
                "Mean difference to the {} without augmentation, with 95 % intervals that allow for splits \
                 that share rows. Green: better; red: worse; gray: no evidence.",
                self.results.config.subject()
            ),
            draw: Box::new(move |size| {
                Intervals { size, ..titled(&plot, size, |p| &mut p.title) }.to_svg()
            }),
        }
    }

    /// The difference in every split.
    pub(super) fn splits(&self) -> Picture {
        let row = |line: &CandidateSummary| {
            line.difference?;
            let values = line.differences.iter().map(|&d| percent(d)).collect();
            Some(Strip {
                name: self.results.config.name(line.candidate),
                values,
                ..Strip::default()
            })
        };
        let plot = Strips {
            title: "Split by split".into(),
            x_label: "difference in RMSE, %".into(),
            rows: self.main().filter_map(row).collect(),
            summary: Shown::Mean,
            reference: Some(reference()),
            ..Strips::default()
        };
        Picture {
            name: "splits",
            heading: "Split by split",
            caption: format!(
                "Each dot is one split: the method and no augmentation learnt from the same rows, {}. \
                 The tick is the mean.",
                if self.results.config.is_external() {
                    "with the same seed"
                } else {
                    "from the same initial weights"
                }
            ),
            draw: Box::new(move |size| {
                Strips { size, ..titled(&plot, size, |p| &mut p.title) }.to_svg()
            }),
        }
    }

    /// Errors over the number of training rows.
    pub(super) fn curves(&self) -> Option<Picture> {
        let protocol = &self.results.config;
        if protocol.sizes.len() < 2 {
            return None;
        }
        let names = protocol.sizes.iter().enumerate().map(|(place, size)| {
            (place as f64, size.map_or("all".to_owned(), |size| size.to_string()))
        });
        let reach = reach(&self.summary.lines);
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
            let ends = |line: &CandidateSummary| match line.difference {
                Some(found) => (percent(found.low).max(-reach), percent(found.high).min(reach)),
                None => (0.0, 0.0),
            };
            let mean =
                |line: &CandidateSummary| line.difference.map_or(0.0, |found| percent(found.mean));
            Series {
                name: self.results.config.name(candidate),
                points: lines.iter().map(|(at, line)| (*at, mean(line))).collect(),
                spread: lines.iter().map(|(_, line)| ends(line)).collect(),
            }
        };
        let plot = Lines {
            title: "Error against no augmentation, by training rows".into(),
            x_label: "training rows".into(),
            y_label: "difference in RMSE, %".into(),
            series: protocol.candidates().into_iter().map(of).collect(),
            x_names: Some(names.collect()),
            ..Lines::default()
        };
        Some(Picture {
            name: "learning-curves",
            heading: "Learning curves",
            caption:
                "Below 0 is better than no augmentation with as many training rows. Bars are 95 % \
                      intervals, cut off where they are very long."
                    .into(),
            draw: Box::new(move |size| {
                Lines { size, ..titled(&plot, size, |p| &mut p.title) }.to_svg()
            }),
        })
    }

    /// Who is shown row by row: the best, and no augmentation.
    fn shown(&self) -> Vec<Candidate> {
        let best = self
            .main()
            .filter(|line| !matches!(line.finding, Finding::Reference | Finding::Placebo))
            .min_by(|a, b| a.rmse.total_cmp(&b.rmse))
            .map(|line| line.candidate);
        let reference = best.map(|best| best.reference(&self.results.config.models));
        reference.into_iter().chain(best).collect()
    }

    /// Row of the table, truth and prediction, of the first repeat.
    fn predictions(&self, candidate: Candidate) -> Vec<(usize, f64, f64)> {
        let frame = self.judged();
        let Some(&target) = frame.roles.targets().first() else { return vec![] };
        let (truth, targets) = (numbers(frame.batch.column(target)), frame.roles.targets().len());
        let first = |run: &&Run| {
            let same = run.key.candidate == candidate && run.key.size == self.largest();
            same && run.key.repeat == 0
                && (self.comparison.test_frame().is_none() || run.key.fold == 0)
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

    /// The table whose rows are predicted.
    fn judged(&self) -> &LoadedTable {
        self.comparison.test_frame().unwrap_or(self.comparison.frame())
    }

    fn target(&self) -> String {
        let frame = self.comparison.frame();
        let place = frame.roles.targets().first().copied().unwrap_or(0);
        frame.batch.schema().field(place).name().clone()
    }

    /// Predicted against true.
    pub(super) fn predicted(&self) -> Picture {
        let of = |candidate: Candidate| Dots {
            name: self.results.config.name(candidate),
            points: self.predictions(candidate).iter().map(|&(_, y, p)| (y, p)).collect(),
        };
        let target = self.target();
        let plot = Cloud {
            title: format!("Predicted and true {target}"),
            x_label: format!("true {target}"),
            y_label: format!("predicted {target}"),
            series: self.shown().into_iter().map(of).collect(),
            diagonal: true,
            ..Cloud::default()
        };
        Picture {
            name: "predicted",
            heading: "Predicted against true",
            caption: "Held-out rows of the first repeat. On the line a prediction is right.".into(),
            draw: Box::new(move |size| {
                Cloud { size, ..titled(&plot, size, |p| &mut p.title) }.to_svg()
            }),
        }
    }

    /// Residuals by group: of the split, or fifths of the target.
    pub(super) fn residuals(&self) -> Result<Picture> {
        const MOST: usize = 12;
        let candidate = self.shown().last().copied();
        let found = candidate.map(|candidate| self.predictions(candidate)).unwrap_or_default();
        let off: BTreeMap<usize, f64> = found.iter().map(|&(row, y, p)| (row, p - y)).collect();
        let target = self.target();
        let column = match &self.results.config.rule {
            crate::SplitRule::Group(column) | crate::SplitRule::Domain(column) => Some(column),
            _ => None,
        };
        let groups: Vec<(String, Vec<usize>)> = if let Some(column) = column {
            let groups = groups_of(&self.judged().batch, column)?;
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
            Strip { name, values, ..Strip::default() }
        };
        let who = candidate.map_or(String::new(), |candidate| self.results.config.name(candidate));
        let by = column.map_or(format!("fifths of {target}"), Clone::clone);
        let plot = Strips {
            title: format!("Residuals of {who} by {by}"),
            x_label: format!("predicted − true {target}"),
            rows: groups.into_iter().map(strip).collect(),
            summary: Shown::Quartiles,
            reference: Some(no_error()),
            ..Strips::default()
        };
        Ok(Picture {
            name: "residuals",
            heading: "Residuals by group",
            caption: format!(
                "Held-out rows of the first repeat, {who}, by {by}: median and quartiles."
            ),
            draw: Box::new(move |size| {
                Strips { size, ..titled(&plot, size, |p| &mut p.title) }.to_svg()
            }),
        })
    }

    /// Rows and what ADA makes of them, for a strength that a slider changes; none where too little varies.
    pub(super) fn moving(&self) -> Option<Picture> {
        const MOST: usize = 300;
        let frame = self.comparison.frame();
        let rows = frame.batch.num_rows();
        let protocol = &self.results.config;
        let mut few: Vec<usize> = (0..rows).collect();
        Seed(protocol.seed).shared(Stream::Sample, 0).shuffle(&mut few);
        few.truncate(MOST);
        let frame = frame.select(&few);
        let scalings = (protocol.scaling, protocol.target_scaling);
        let (preparation, _) =
            Preprocessing::fit(&frame, &frame.batch, &protocol.columns, scalings).ok()?;
        let x = preparation.features(&frame.batch, std::path::Path::new("-"), 0).ok()?;
        let y = preparation.scaled_targets(&frame.batch);
        let samples = Samples::new(x.view(), y.view()).ok()?;
        let kmeans = KMeans::new(ClusterCount::Auto.of(few.len() as u64));
        let anchors = Anchors::KMeans(Clustering {
            kmeans,
            on: ClusterOn::Xy,
            scale: ClusterScaling::Standardized,
        });
        let groups = anchors.partition(&samples, Seed(protocol.seed)).ok()??;
        let target = self.target();
        let truth = column(&frame, &target);
        // The column that goes with the target most.
        let best = preparation
            .inputs
            .iter()
            .filter_map(|input| match input {
                Input::Continuous { name, .. } => Some((name, column(&frame, name))),
                Input::Categorical { .. } => None,
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
            Some(MovingPoint { x: (*x)?, y: (*y)?, mean, group: *label })
        });
        let plot = Moving {
            title: "What ADA makes of the rows".into(),
            x_label: name.clone(),
            y_label: target,
            points: points.collect(),
            gamma: 0.5,
            range: (0.25, 4.0),
            ..Moving::default()
        };
        Some(Picture {
            name: "synthetic",
            heading: "Synthetic against original rows",
            caption: format!(
                "Original rows and what ADA makes of them, by group, over {name}. Below 1, γ moves \
                 rows away from the mean of their group; above 1, toward it."
            ),
            draw: Box::new(move |size| {
                Moving { size, ..titled(&plot, size, |p| &mut p.title) }.to_svg()
            }),
        })
    }
}

/// A plot without its title where a heading of the page says it.
pub(super) fn titled<P: Clone>(plot: &P, size: Size, title: impl Fn(&mut P) -> &mut String) -> P {
    let mut plot = plot.clone();
    if size == Size::Card {
        title(&mut plot).clear();
    }
    plot
}

fn column(frame: &LoadedTable, name: &str) -> Vec<Option<f64>> {
    match frame.batch.column_by_name(name) {
        Some(column) => numbers(column).iter().collect(),
        None => vec![None; frame.batch.num_rows()],
    }
}

/// The size of the correlation of the values that both have.
fn correlation(a: &[Option<f64>], b: &[Option<f64>]) -> f64 {
    let pairs: Vec<(f64, f64)> =
        a.iter().zip(b).filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect();
    let count = pairs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
    let (a_mean, b_mean) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let (mut ab, mut aa, mut bb) = (0.0, 0.0, 0.0);
    for (a, b) in &pairs {
        let (a, b) = (a - a_mean, b - b_mean);
        (ab, aa, bb) = (ab + a * b, aa + a * a, bb + b * b);
    }
    if aa > 0.0 && bb > 0.0 { (ab / (aa * bb).sqrt()).abs() } else { 0.0 }
}

/// Three digits that count.
pub(super) fn short(value: f64) -> String {
    if value != 0.0 && !(1e-3..1e5).contains(&value.abs()) {
        return format!("{value:.2e}");
    }
    let whole = value.abs().max(1.0).log10().floor();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 3")]
    let decimals = (3.0 - whole).max(0.0) as usize;
    format!("{value:.decimals$}").replace('-', "−")
}
