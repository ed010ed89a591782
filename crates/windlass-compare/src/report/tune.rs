//! The page of a search.

use std::fmt::Write as _;

use windlass_model::Kind;
use windlass_plot::format::escape;
use windlass_plot::{Labels, LinePlot, LineSeries, StripRow};

use super::figures::{Figure, percent, short, strip_plot};
use super::page::{self, Head, in_words};
use crate::Record;
use crate::tune::{Trial, TuneConfig, TuneResult};

impl TuneConfig {
    /// The files of a report, each with its name: a self-contained page, and its figures. `table`
    /// is the name of the table on the page, `advice` the recommended commands.
    #[must_use]
    pub fn report(
        &self,
        record: &Record<Self, Trial>,
        findings: &TuneResult,
        table: &str,
        advice: &[String],
    ) -> Vec<(String, Vec<u8>)> {
        let figures = [history(&record.runs), outer(findings)];
        let mut rest = String::new();
        let _ = writeln!(rest, "<section>\n<h2>Commands with the best settings</h2>");
        for command in advice {
            let _ = writeln!(rest, "<pre>{}</pre>", escape(command));
        }
        let _ = writeln!(
            rest,
            "</section>\n<section>\n<h2>Best trials on all rows</h2>\n\
             <div class=\"scroll\"><table>\n<thead><tr><th>settings</th><th>RMSE</th></tr></thead>\n<tbody>"
        );
        for attempt in best(&record.runs) {
            let method = match attempt.settings.augment() {
                None => "no augmentation".to_owned(),
                Some((method, 0)) => method.name().to_owned(),
                Some((method, layer)) => format!("{} after layer {layer}", method.name()),
            };
            let epochs = match &attempt.settings.kind {
                Kind::Network(network) => format!("{} epochs, ", network.training.epochs),
                _ => String::new(),
            };
            let words = format!("{method}, {epochs}{}", in_words(&attempt.settings.kind));
            let (words, rmse) = (escape(&words), short(attempt.valid));
            let _ = writeln!(rest, "<tr><td>{words}</td><td>{rmse}</td></tr>");
        }
        let _ = writeln!(
            rest,
            "</tbody></table></div>\n<p class=\"about\">These validation errors are optimistic, because the \
             search minimizes them; the errors on the outer folds are not.</p>\n</section>\n\
             <section>\n<h2>Settings</h2>"
        );
        rest += &(page::repeat(&record.command, &record.tables) + "</section>\n");
        let about = format!(
            "{}, {} rows; {} trials; windlass {}, seed {}",
            self.columns.target.join(", "),
            record.rows,
            findings.trials,
            record.version,
            self.seed
        );
        let head = Head {
            title: &format!("Hyperparameter search on {table}"),
            about: &about,
            answer: None,
            next: None,
            verdict: &findings.verdict,
            good: findings.helps,
            remarks: &[format!(
                "RMSE on the held-out rows of the outer folds: {} with the best settings, {} with the best \
                 settings without augmentation.",
                short(findings.errors.augmented),
                short(findings.errors.plain)
            )],
        };
        page::files(&page::page(&head, "", &figures, &rest), &figures)
    }
}

/// The trials of the searches on all rows, the best first.
fn best(attempts: &[Trial]) -> Vec<&Trial> {
    const SHOWN: usize = 12;
    let mut last: Vec<&Trial> = attempts.iter().filter(|a| a.search.fold.is_none()).collect();
    last.sort_by(|a, b| a.valid.total_cmp(&b.valid));
    last.truncate(SHOWN);
    last
}

/// The lowest error so far of the searches on all rows.
fn history(trials: &[Trial]) -> Figure {
    let series = |(augments, name): (bool, &str)| {
        let trials =
            trials.iter().filter(|t| t.search.fold.is_none() && t.search.augments == augments);
        let mut least = f64::INFINITY;
        let points = trials.map(|trial| {
            least = least.min(trial.valid);
            (trial.number as f64 + 1.0, least)
        });
        LineSeries::new(format!("best so far, {name}"), points)
    };
    let searches = [(false, "no augmentation"), (true, "with augmentation")];
    let plot = LinePlot {
        labels: Labels::new("Search on all rows", "trial", "validation RMSE"),
        series: searches.map(series).into(),
        ..LinePlot::default()
    };
    Figure {
        name: "history",
        heading: "Search history",
        caption: "Lowest validation error so far in the two searches on all rows.".into(),
        svg: Box::new(move |layout| plot.to_svg(layout)),
    }
}

/// The difference in every outer fold.
fn outer(findings: &TuneResult) -> Figure {
    let values = findings.differences.iter().map(|&difference| percent(difference)).collect();
    let row = StripRow { name: "outer folds".into(), values };
    let plot = strip_plot("Held-out error compared with no augmentation", vec![row]);
    Figure {
        name: "outer-folds",
        heading: "Gain from augmentation",
        caption: "Each dot is an outer fold: the difference of the best settings with and without \
                  augmentation on its held-out rows, which no search used."
            .into(),
        svg: Box::new(move |layout| plot.to_svg(layout)),
    }
}
