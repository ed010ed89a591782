//! The page of a search.

use std::fmt::Write as _;

use windlass_plot::{Lines, Series, Size, Strip, Strips};

use super::page::{self, Head, escape, in_words};
use super::pictures::{Picture, reference, short, titled};
use crate::Record;
use crate::tune::{Trial, TuneConfig, TuneResult};

impl TuneConfig {
    /// The files of a report, each with its name: a page that needs no other file, and its pictures. `table` is what
    /// the page calls the table, `advice` the commands to use.
    #[must_use]
    pub fn report(
        &self,
        record: &Record<Self, Trial>,
        findings: &TuneResult,
        table: &str,
        advice: &[String],
    ) -> Vec<(String, Vec<u8>)> {
        let pictures = [history(&record.runs), outer(findings)];
        let mut rest = String::new();
        let _ = writeln!(rest, "<section>\n<h2>What to use</h2>");
        for command in advice {
            let _ = writeln!(rest, "<pre>{}</pre>", escape(command));
        }
        let _ = writeln!(
            rest,
            "</section>\n<section>\n<h2>The best settings that were tried on all rows</h2>\n\
             <div class=\"scroll\"><table>\n<thead><tr><th>settings</th><th>RMSE</th></tr></thead>\n<tbody>"
        );
        for attempt in best(&record.runs) {
            let kind = windlass_model::Kind::Network(Box::new(attempt.network.clone()));
            let epochs = attempt.network.training.epochs;
            let method =
                attempt.network.augment.as_ref().map_or("no augmentation".to_owned(), |a| {
                    let place = if a.layer == 0 {
                        String::new()
                    } else {
                        format!(" after layer {}", a.layer)
                    };
                    format!("{}{place}", a.method.name())
                });
            let words = format!("{method}, {epochs} epochs, {}", in_words(&kind));
            let (words, rmse) = (escape(&words), short(attempt.valid));
            let _ = writeln!(rest, "<tr><td>{words}</td><td>{rmse}</td></tr>");
        }
        let _ = writeln!(
            rest,
            "</tbody></table></div>\n<p class=\"about\">Errors on the rows that a search judges by are too \
             low by what it gained from choosing; those on the outer folds are not.</p>\n</section>\n\
             <section>\n<h2>Settings</h2>"
        );
        page::repeat(&mut rest, &record.command, &record.tables);
        rest.push_str("</section>\n");
        let about = format!(
            "{}, {} rows; {} settings tried; windlass {}, seed {}",
            self.columns.target.join(", "),
            record.rows,
            findings.trials,
            record.version,
            self.seed
        );
        let head = Head {
            title: &format!("Which settings suit {table}?"),
            about: &about,
            verdict: &findings.verdict,
            good: findings.helps,
            remarks: &[format!(
                "On held-out rows of the outer folds the RMSE is {} with the best settings found, {} \
                 with the best without augmentation.",
                short(findings.errors.0),
                short(findings.errors.1)
            )],
        };
        let page = page::page(&head, &pictures, &rest);
        let mut files = vec![("report.html".to_owned(), page.into_bytes())];
        for picture in &pictures {
            let svg = (picture.draw)(Size::Page);
            files.push((format!("pictures/{}.svg", picture.name), svg.into_bytes()));
        }
        files
    }
}

/// The last searches' settings, the best first.
fn best(attempts: &[Trial]) -> Vec<&Trial> {
    const SHOWN: usize = 12;
    let mut last: Vec<&Trial> = attempts.iter().filter(|a| a.search.fold.is_none()).collect();
    last.sort_by(|a, b| a.valid.total_cmp(&b.valid));
    last.truncate(SHOWN);
    last
}

/// The error of every trial of the last searches, and the best so far.
fn history(attempts: &[Trial]) -> Picture {
    let mut series = vec![];
    for (augments, name) in [(false, "no augmentation"), (true, "with augmentation")] {
        let of =
            attempts.iter().filter(|a| a.search.fold.is_none() && a.search.augments == augments);
        let mut least = f64::INFINITY;
        let points = of.map(|attempt| {
            least = least.min(attempt.valid);
            (attempt.number as f64 + 1.0, least)
        });
        series.push(Series {
            name: format!("best so far, {name}"),
            points: points.collect(),
            ..Series::default()
        });
    }
    let plot = Lines {
        title: "The search on all rows".into(),
        x_label: "settings tried".into(),
        y_label: "RMSE, held out inside".into(),
        series,
        ..Lines::default()
    };
    Picture {
        name: "history",
        heading: "The search",
        caption: "The least error so far of the two searches on all rows, as each search sees it."
            .into(),
        draw: Box::new(move |size| {
            Lines { size, ..titled(&plot, size, |p| &mut p.title) }.to_svg()
        }),
    }
}

/// The difference in every outer fold.
fn outer(findings: &TuneResult) -> Picture {
    let values = findings.differences.iter().map(|d| 100.0 * d.exp_m1()).collect();
    let row = Strip { name: "outer folds".into(), values, ..Strip::default() };
    let plot = Strips {
        title: "Held-out error against the best without augmentation".into(),
        x_label: "difference in RMSE, %".into(),
        rows: vec![row],
        reference: Some(reference()),
        ..Strips::default()
    };
    Picture {
        name: "outer-folds",
        heading: "What it is worth",
        caption:
            "Each dot is an outer fold, whose held-out rows no search has seen: the best settings \
                  found against the best without augmentation."
                .into(),
        draw: Box::new(move |size| {
            Strips { size, ..titled(&plot, size, |p| &mut p.title) }.to_svg()
        }),
    }
}
