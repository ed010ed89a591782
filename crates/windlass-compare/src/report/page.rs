//! The page: verdict, pictures, numbers, settings; all in one file.

use std::fmt::Write as _;

use windlass_model::{Kind, Validation};
use windlass_plot::{Size, stylesheet};

use super::pictures::{Gallery, Picture, short};
use crate::candidate::Candidate;
use crate::describe;
use crate::summary::{CandidateSummary, Finding};

/// Any text in a page.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c => out.push(c),
        }
    }
    out
}

/// What stands at the top of a page.
pub(super) struct Head<'a> {
    pub(super) title: &'a str,
    pub(super) about: &'a str,
    pub(super) verdict: &'a str,
    pub(super) good: bool,
    pub(super) remarks: &'a [String],
}

/// A page with a head, pictures and what follows them.
pub(super) fn page(head: &Head<'_>, pictures: &[Picture], rest: &str) -> String {
    let mut out = String::new();
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{plots}{style}</style>\n</head>\n\
         <body>\n<main>\n<h1>{title}</h1>\n<p class=\"about\">{about}</p>\n\
         <p class=\"{class}\" id=\"verdict\">{verdict}</p>\n",
        title = escape(head.title),
        plots = stylesheet(),
        style = include_str!("page.css"),
        about = escape(head.about),
        class = if head.good { "verdict helps" } else { "verdict" },
        verdict = escape(head.verdict),
    );
    if !head.remarks.is_empty() {
        out += "<ul>\n";
        for remark in head.remarks {
            let _ = writeln!(out, "<li>{}</li>", escape(remark));
        }
        out += "</ul>\n";
    }
    out += "<div class=\"cards\">\n";
    for picture in pictures {
        figure(&mut out, picture);
    }
    out += "</div>\n";
    out += rest;
    let script = include_str!("slider.js");
    let _ = write!(out, "</main>\n<script>\n{script}</script>\n</body>\n</html>\n");
    out
}

/// The page of a comparison.
pub(super) fn of_comparison(gallery: &Gallery<'_>, pictures: &[Picture], table: &str) -> String {
    let (results, summary) = (gallery.results, gallery.summary);
    let mut rest = String::new();
    numbers(&mut rest, gallery);
    settings(&mut rest, gallery);
    let about = format!(
        "{}, {} rows; {}; windlass {}, seed {}",
        results.config.columns.target.join(", "),
        results.rows,
        gallery.comparison.describe_splits(),
        results.version,
        results.config.seed
    );
    let head = Head {
        title: &format!("Does augmentation help on {table}?"),
        about: &about,
        verdict: &summary.verdict,
        good: summary.helps,
        remarks: &summary.remarks,
    };
    page(&head, pictures, &rest)
}

fn figure(out: &mut String, picture: &Picture) {
    let (name, heading) = (picture.name, picture.heading);
    let caption = escape(&picture.caption);
    let _ = writeln!(out, "<section>\n<h2>{heading}</h2>\n<figure id=\"{name}\">");
    if name == "synthetic" {
        let _ = writeln!(
            out,
            "<label class=\"slider\"><output>γ = 0.50</output><input type=\"range\" min=\"-2\" max=\"2\" \
             step=\"0.05\" value=\"-1\" data-moves=\"{name}\" aria-label=\"strength γ\"></label>"
        );
    }
    let svg = (picture.draw)(Size::Card);
    let _ = writeln!(out, "{svg}<figcaption>{caption}</figcaption>\n</figure>\n</section>");
}

fn numbers(out: &mut String, gallery: &Gallery<'_>) {
    let lines = &gallery.summary.lines;
    let sizes = &gallery.results.config.sizes;
    let domains = lines.iter().any(|line| line.worst.is_some());
    out.push_str(
        "<section>\n<h2>Numbers</h2>\n<div class=\"scroll\">\n<table>\n<thead><tr><th>method</th>",
    );
    if sizes.len() > 1 {
        out.push_str("<th>rows</th>");
    }
    out.push_str("<th>RMSE</th><th>MAE</th><th>MAPE, %</th><th>R²</th>");
    if domains {
        out.push_str("<th>worst domain</th>");
    }
    out.push_str("<th>difference</th><th>95 % interval</th><th>p (Holm)</th><th></th></tr></thead>\n<tbody>\n");
    for line in lines {
        row(out, gallery, line, (sizes.len() > 1, domains));
    }
    out.push_str("</tbody>\n</table>\n</div>\n<p class=\"about\">Means over splits, on held-out rows.</p>\n</section>\n");
}

fn row(
    out: &mut String,
    gallery: &Gallery<'_>,
    line: &CandidateSummary,
    (sizes, domains): (bool, bool),
) {
    let (class, says) = match line.finding {
        Finding::Helps => ("helps", "helps"),
        Finding::Hurts => ("hurts", "hurts"),
        Finding::Placebo => ("", "chance"),
        Finding::Reference => ("", "reference"),
        Finding::NoEvidence => ("", ""),
    };
    let optional = |value: Option<f64>| value.map_or_else(String::new, short);
    let percent = |ratio: f64| format!("{:+.1} %", 100.0 * ratio.exp_m1()).replace('-', "−");
    let mut cells = vec![gallery.results.config.name(line.candidate)];
    if sizes {
        cells.push(line.size.map_or("all".into(), |size| size.to_string()));
    }
    cells.extend([short(line.rmse), short(line.mae), optional(line.mape), optional(line.r2)]);
    if domains {
        let worst = |(name, rmse): &(String, f64)| format!("{} ({name})", short(*rmse));
        cells.push(line.worst.as_ref().map_or_else(String::new, worst));
    }
    match &line.difference {
        Some(found) => {
            let ends = format!("{} … {}", percent(found.low), percent(found.high));
            cells.extend([percent(found.mean), ends]);
            cells.push(line.p.map_or_else(String::new, |p| format!("{p:.3}")));
        }
        None => cells.extend([String::new(), String::new(), String::new()]),
    }
    cells.push(says.to_owned());
    let _ = write!(out, "<tr class=\"{class}\">");
    for text in &cells {
        let _ = write!(out, "<td>{}</td>", escape(text));
    }
    out.push_str("</tr>\n");
}

fn settings(out: &mut String, gallery: &Gallery<'_>) {
    let protocol = &gallery.results.config;
    if protocol.is_external() {
        return settings_elsewhere(out, gallery);
    }
    let training = &protocol.network.training;
    let validation = match protocol.network.valid {
        Validation::Folds(members) => format!("committees of {members} networks"),
        Validation::Share(share) => format!("{share} of the training rows choose the epoch"),
        Validation::None | Validation::Given => String::new(),
    };
    let hidden: Vec<String> = protocol.network.hidden.iter().map(ToString::to_string).collect();
    let _ = write!(
        out,
        "<section>\n<h2>Settings</h2>\n<p>Networks {} with {} epochs of batches of {}; {validation}; {} \
         tried by each candidate inside its training rows. All that is fitted (scales, \
         missing values, groups, bandwidths) is fitted on training rows only; which columns are numbers and which \
         are names is decided once, for the table. Networks learn from the training rows without those that \
         choose the epoch, ridge and forests from all.</p>\n",
        hidden.join("-"),
        training.epochs,
        training.batch,
        match protocol.tune {
            1 => "the usual settings".to_owned(),
            count => format!("{count} settings"),
        },
    );
    if protocol.tune > 1 {
        out.push_str("<details>\n<summary>Settings that were chosen, split by split</summary>\n<div class=\"scroll\"><table>\n");
        for candidate in protocol.candidates() {
            chosen(out, gallery, candidate);
        }
        out.push_str("</table></div>\n</details>\n");
    }
    repeat(out, &gallery.results.command, &gallery.results.tables);
    out.push_str("</section>\n");
}

/// The command, the data and where the rest is.
pub(super) fn repeat(out: &mut String, command: &str, tables: &[String]) {
    let _ = writeln!(
        out,
        "<p>To repeat it:</p>\n<pre id=\"command\">{}</pre>\n<p class=\"about\">Fingerprint of the data: {}. \
         Every run is in <code>results.json</code>, the pictures are in \
         <code>pictures/</code>.</p>",
        escape(command),
        escape(&tables.join(", "))
    );
}

/// The settings of a comparison whose models were trained elsewhere.
fn settings_elsewhere(out: &mut String, gallery: &Gallery<'_>) {
    out.push_str(
        "<section>\n<h2>Settings</h2>\n<p>Every method made its rows from the training rows of a split, fitted on \
         them alone; the model learnt from both, with the same settings and the same seed. Rows held out were never \
         augmented.</p>\n<div class=\"scroll\"><table>\n",
    );
    for declared in &gallery.results.config.specs {
        let says = match &declared.enlarge {
            None => "the training rows as they are".to_owned(),
            Some(made) => {
                format!(
                    "{}; rows made of every row: {}",
                    describe::method(&made.method),
                    made.copies
                )
            }
        };
        let name = escape(&declared.name);
        let _ = writeln!(out, "<tr><td>{name}</td><td>{}</td></tr>", escape(&says));
    }
    let _ = writeln!(
        out,
        "</table></div>\n<p>The model:</p>\n<pre id=\"command\">{}</pre>\n<p class=\"about\">Fingerprint of the \
         data: {}.</p>\n</section>",
        escape(&gallery.results.command),
        escape(&gallery.results.tables.join(", "))
    );
}

/// The settings that a candidate chose, the most frequent first.
fn chosen(out: &mut String, gallery: &Gallery<'_>, candidate: Candidate) {
    let mut counts: Vec<(String, usize)> = vec![];
    for run in gallery.results.runs.iter().filter(|run| run.key.candidate == candidate) {
        let words = in_words(&run.trials[run.chosen].kind);
        match counts.iter_mut().find(|(other, _)| *other == words) {
            Some((_, count)) => *count += 1,
            None => counts.push((words, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (words, count) in counts {
        let name = gallery.results.config.name(candidate);
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td>{count} ×</td><td>{}</td></tr>",
            escape(&name),
            escape(&words)
        );
    }
}

/// Settings in words.
pub(super) fn in_words(kind: &Kind) -> String {
    match kind {
        Kind::Network(network) => {
            let training = &network.training;
            let method =
                network.augment.as_ref().map(|one| format!(", {}", describe::method(&one.method)));
            let (rate, decay) = (training.rate, training.weight_decay);
            format!("rate {rate}, decay {decay}{}", method.unwrap_or_default())
        }
        Kind::Ridge { penalty } => format!("penalty {penalty}"),
        Kind::Anchor { gamma, penalty, .. } => format!("γ {gamma}, penalty {penalty}"),
        Kind::Forest(forest) => {
            let features = forest.features.map_or("all".into(), |features| features.to_string());
            format!("leaves of {}, {features} columns a split", forest.leaf)
        }
        Kind::Auto(auto) => format!("{} folds", auto.folds),
    }
}
