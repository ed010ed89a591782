//! The page of a report: verdict, figures, numbers and settings in one file.

use std::fmt::Write as _;

use windlass_model::{ErrorsByTarget, Kind, Validation};
use windlass_plot::format::{escape, signed_percent};
use windlass_plot::{Layout, stylesheet};

use super::figures::{Figure, Figures, percent, short};
use crate::candidate::{Candidate, CandidateSpec};
use crate::statistics::Interval;
use crate::summary::{CandidateSummary, ComparisonSummary, Finding, NextStep, p_value};
use crate::{Results, describe};

/// The files of a report, each with its name.
pub(super) fn files(page: &str, figures: &[Figure]) -> Vec<(String, Vec<u8>)> {
    let mut files = vec![("report.html".to_owned(), page.into())];
    files.extend(figures.iter().map(|figure| {
        (format!("pictures/{}.svg", figure.name), (figure.svg)(&Layout::PAGE).into_bytes())
    }));
    files
}

/// The top of a page.
pub(super) struct Head<'a> {
    pub(super) title: &'a str,
    pub(super) about: &'a str,
    /// In large type: the answer, one number and its description.
    pub(super) answer: Option<[&'a str; 3]>,
    /// The recommended next step.
    pub(super) next: Option<&'a NextStep>,
    pub(super) verdict: &'a str,
    pub(super) good: bool,
    pub(super) remarks: &'a [String],
}

/// A page with a head, HTML, figures and the HTML that follows them.
pub(super) fn page(head: &Head<'_>, numbers: &str, figures: &[Figure], rest: &str) -> String {
    let mut out = String::new();
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"generator\" content=\"windlass\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{plots}{style}</style>\n</head>\n\
         <body>\n<main>\n<h1>{title}</h1>\n<p class=\"about\">{about}</p>\n<div class=\"{class}\">\n{answer}\
         <p id=\"verdict\">{verdict}</p>\n{next}</div>\n",
        title = escape(head.title),
        plots = stylesheet(),
        style = include_str!("page.css"),
        about = escape(head.about),
        answer = head.answer.map_or_else(String::new, |[answer, number, what]| format!(
            "<p id=\"answer\">{}</p>\n<p id=\"number\"><b>{}</b> {}</p>\n",
            escape(answer),
            escape(number),
            escape(what)
        )),
        next = head.next.map_or_else(String::new, |next| {
            let command = next.command.as_deref().map(escape);
            format!(
                "<p id=\"next\">Next step: {}{}</p>\n{}",
                escape(&next.text),
                if command.is_some() { ":" } else { "." },
                command.map_or_else(String::new, |command| format!("<pre>{command}</pre>\n"))
            )
        }),
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
    let _ = writeln!(out, "{numbers}<div class=\"cards\">");
    out.extend(figures.iter().map(figure));
    let script = include_str!("slider.js");
    let _ = write!(out, "</div>\n{rest}</main>\n<script>\n{script}</script>\n</body>\n</html>\n");
    out
}

/// The page of a comparison.
pub(super) fn of_comparison(all: &Figures<'_>, figures: &[Figure], table: &str) -> String {
    let (results, summary) = (all.results, all.summary);
    let numbers = numbers(results, summary) + &by_target(results, summary);
    let rest = methods(results) + &settings(results);
    let about = format!(
        "{}, {} rows; {}; windlass {}, seed {}",
        results.config.columns.target.join(", "),
        results.rows,
        all.comparison.describe_splits(),
        results.version,
        results.config.seed
    );
    let number = headline(results, summary);
    let head = Head {
        title: &format!("Does augmentation help on {table}?"),
        about: &about,
        answer: number.as_ref().map(|[number, what]| [summary.answer.as_str(), number, what]),
        next: summary.next.as_ref(),
        verdict: &summary.verdict,
        good: summary.helps,
        remarks: &summary.remarks,
    };
    page(&head, &numbers, figures, &rest)
}

/// One number and its description: the difference of the recommended candidate, or else of the best augmentation.
fn headline(results: &Results, summary: &ComparisonSummary) -> Option<[String; 2]> {
    let next = summary.next.as_ref()?;
    let largest = results.config.sizes.last().copied().flatten();
    let main = || summary.lines.iter().filter(|line| line.size == largest);
    let mean = |line: &CandidateSummary| line.difference.map_or(f64::INFINITY, |found| found.mean);
    let best = main().filter(|line| line.is_augmentation());
    let line = main()
        .find(|line| line.candidate == next.candidate && line.difference.is_some())
        .or_else(|| best.min_by(|a, b| mean(a).total_cmp(&mean(b))))?;
    let found = line.corrected?;
    let [low, high] = [found.low, found.high].map(|ratio| signed_percent(percent(ratio)));
    let name = results.config.name(line.candidate);
    let reference = results.config.compared_with(line.candidate);
    Some([
        signed_percent(percent(found.mean)),
        format!("RMSE of {name} compared with {reference} (95 % interval {low} … {high})"),
    ])
}

fn figure(figure: &Figure) -> String {
    let Figure { name, heading, caption, svg } = figure;
    let slider = match *name {
        "synthetic" => {
            "<label class=\"slider\"><output>γ = 0.50</output><input type=\"range\" min=\"-2\" max=\"2\" \
             step=\"0.05\" value=\"-1\" data-moves=\"synthetic\" aria-label=\"strength γ\"></label>\n"
        }
        _ => "",
    };
    card(name, heading, &format!("{slider}{}", svg(&Layout::CARD)), caption)
}

/// A figure with its heading and caption.
pub(super) fn card(id: &str, heading: &str, svg: &str, caption: &str) -> String {
    format!(
        "<section>\n<h2>{}</h2>\n<figure id=\"{id}\">\n{svg}<figcaption>{}</figcaption>\n\
         </figure>\n</section>\n",
        escape(heading),
        escape(caption)
    )
}

fn numbers(results: &Results, summary: &ComparisonSummary) -> String {
    let several_sizes = results.config.sizes.len() > 1;
    let domains = summary.lines.iter().any(|line| line.worst.is_some());
    let mut out = format!(
        "<section>\n<h2>Numbers</h2>\n<div class=\"scroll\">\n<table>\n<thead><tr><th>method</th>\
         <th>change</th><th>95 % interval</th><th>p</th><th>verdict</th>\
         <th>RMSE</th><th>MAE</th><th>MAPE, %</th><th>R²</th>{}</tr></thead>\n<tbody>\n",
        if domains { "<th>worst domain</th>" } else { "" },
    );
    let mut size = None;
    for line in &summary.lines {
        if several_sizes && size != Some(line.size) {
            size = Some(line.size);
            let rows = line.size.map_or("all".to_owned(), |size| size.to_string());
            let _ = writeln!(out, "<tr><th colspan=\"5\">{rows} training rows</th></tr>");
        }
        let class = match line.finding {
            Finding::Better => "helps",
            Finding::Worse => "hurts",
            _ => "",
        };
        out += "<tr>";
        let mut cell = |class: &str, text: &str| {
            let class =
                if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
            let _ = write!(out, "<td{class}>{}</td>", escape(text));
        };
        cell("", &results.config.name(line.candidate));
        let [mean, ends, p] = line.corrected.map_or_else(Default::default, |found| {
            let [mean, low, high] =
                [found.mean, found.low, found.high].map(|ratio| signed_percent(percent(ratio)));
            [mean, format!("{} … {high}", low.trim_end_matches(" %")), p_value(found.p)]
        });
        for text in [&mean, &ends, &p] {
            cell("", text);
        }
        cell(class, line.finding.name());
        for value in [Some(line.rmse), Some(line.mae), line.mape, line.r2] {
            cell("", &value.map_or_else(String::new, short));
        }
        if domains {
            let worst = |(name, rmse): &(String, f64)| format!("{} ({name})", short(*rmse));
            cell("", &line.worst.as_ref().map_or_else(String::new, worst));
        }
        out += "</tr>\n";
    }
    let corrected = match summary.augmentations {
        0 | 1 => String::new(),
        several => {
            format!(
                " Intervals and p-values of the {several} augmentations are corrected for multiple \
                 comparisons (Holm)."
            )
        }
    };
    let _ = write!(
        out,
        "</tbody>\n</table>\n</div>\n<p class=\"about\">The change is the difference in expected RMSE to no \
         augmentation, for this number of training rows. \
         <i>Better</i> and <i>worse</i>: the 95 % interval excludes 0; <i>probably</i>: the 80 % interval \
         excludes 0.{corrected} Errors are means over splits, on held-out rows.</p>\n</section>\n"
    );
    out
}

/// Errors by the size of the target at the largest training size: bias, fifths, rare rows.
fn by_target(results: &Results, summary: &ComparisonSummary) -> String {
    let size = results.config.sizes.last().copied().flatten();
    let lines = || summary.lines.iter().filter(|line| line.size == size);
    let row = |line: &CandidateSummary| -> Option<TargetRow> {
        let name = results.config.name(line.candidate);
        Some(TargetRow { name, errors: line.by_target.clone()?, rare: line.rare_difference })
    };
    let rows: Vec<TargetRow> = lines().filter_map(row).collect();
    target_section(&rows)
}

/// A row of the table of errors by the size of the target.
pub(super) struct TargetRow {
    pub(super) name: String,
    pub(super) errors: ErrorsByTarget,
    /// The difference on rare rows to the reference.
    pub(super) rare: Option<Interval>,
}

/// The table of errors by the size of the target; nothing if there are no fifths.
pub(super) fn target_section(rows: &[TargetRow]) -> String {
    let Some(TargetRow { errors, .. }) = rows.first().filter(|row| row.errors.fifths.len() > 1)
    else {
        return String::new();
    };
    let mut head = vec![String::new(), "bias".into()];
    head.extend(errors.fifths.iter().map(|fifth| {
        let [low, high] = fifth.range.map(short);
        format!("{low} to {high}")
    }));
    let rare = errors.rare;
    if rare.is_some() {
        head.extend(["rare rows", "change", "95 % interval", "bias", "SERA"].map(str::to_owned));
    }
    let cells = |tag: &str, cells: &[String]| -> String {
        let cell = |cell: &String| format!("<{tag}>{}</{tag}>", escape(cell));
        cells.iter().map(cell).collect::<Vec<_>>().concat()
    };
    let mut out = format!(
        "<section>\n<h2>Errors by the size of the target</h2>\n<div class=\"scroll\">\n<table>\n<thead><tr>{}\
         </tr></thead>\n<tbody>\n",
        cells("th", &head)
    );
    for TargetRow { name, errors, rare } in rows {
        let mut line = vec![name.clone(), short(errors.bias)];
        line.extend(errors.fifths.iter().map(|fifth| short(fifth.rmse)));
        if let Some(found) = errors.rare {
            let [mean, ends] = rare.map_or_else(Default::default, |found| {
                let [mean, low, high] =
                    [found.mean, found.low, found.high].map(|ratio| signed_percent(percent(ratio)));
                [mean, format!("{} … {high}", low.trim_end_matches(" %"))]
            });
            line.extend([short(found.rmse), mean, ends, short(found.bias), short(found.sera)]);
        }
        let _ = writeln!(out, "<tr>{}</tr>", cells("td", &line));
    }
    out += "</tbody>\n</table>\n</div>\n<p class=\"about\">RMSE on held-out rows in fifths of the rows by their \
            target. The bias is the mean of prediction − target.";
    if rare.is_some() {
        out += " Rows are rare if the relevance of their target is at least 0.8; SERA sums squared errors times \
                relevance. Intervals on rare rows are corrected for the number of candidates. Emphasis alone looks \
                like skill on rare rows: compare the error and the bias over all rows.";
    }
    out + "</p>\n</section>\n"
}

/// The list of candidates with a line of help each.
fn methods(results: &Results) -> String {
    let candidates = results.config.candidates();
    let row = |candidate: &Candidate| {
        let (name, help) = (results.config.name(*candidate), candidate.help());
        format!("<dt>{}</dt><dd>{}</dd>\n", escape(&name), escape(&help))
    };
    let rows: String = candidates.iter().chain([&Candidate::BASELINE]).map(row).collect();
    format!("<section>\n<h2>Candidates</h2>\n<dl>\n{rows}</dl>\n</section>\n")
}

fn settings(results: &Results) -> String {
    let protocol = &results.config;
    if protocol.is_external() {
        return settings_elsewhere(results);
    }
    let training = &protocol.network.training;
    let validation = match protocol.network.valid {
        Validation::Folds(members) => format!("averages of {members} networks"),
        Validation::Fraction(share) => {
            format!("{share} of the training rows are validation rows and choose the epoch")
        }
        Validation::None | Validation::Table => String::new(),
    };
    let hidden: Vec<String> = protocol.network.hidden.iter().map(ToString::to_string).collect();
    let mut out = format!(
        "<section>\n<h2>Settings</h2>\n<p>Networks {}, {} epochs, batch size {}; {validation}; {} per \
         candidate, chosen inside the training rows. Everything that is fitted (scaling, imputation, groups, \
         bandwidths) is fitted on training rows only; the roles of columns are inferred once from the whole \
         table. Networks train on the training rows without the validation rows, other models on all training \
         rows.</p>\n",
        hidden.join("-"),
        training.epochs,
        training.batch_size,
        match protocol.tune {
            1 => "default hyperparameters".to_owned(),
            count => format!("{count} hyperparameter settings"),
        },
    );
    if protocol.tune > 1 {
        out += "<details>\n<summary>Chosen hyperparameters by split</summary>\n<div class=\"scroll\"><table>\n";
        for candidate in protocol.candidates() {
            chosen(&mut out, results, candidate);
        }
        out += "</table></div>\n</details>\n";
    }
    out + &repeat(&results.command, &results.tables) + "</section>\n"
}

/// The command, the fingerprint of the data and the files of the report.
pub(super) fn repeat(command: &str, tables: &[String]) -> String {
    format!(
        "<p>Command:</p>\n<pre id=\"command\">{}</pre>\n<p class=\"about\">Fingerprint of the data: {}. \
         All runs are in <code>results.json</code>, the figures in \
         <code>pictures/</code>.</p>\n",
        escape(command),
        escape(&tables.join(", "))
    )
}

/// The settings of a comparison whose models were trained by the caller.
fn settings_elsewhere(results: &Results) -> String {
    let row = |declared: &CandidateSpec| {
        let method = match &declared.enlarge {
            None => "original training rows".to_owned(),
            Some(made) => {
                let method = describe::method(&made.method);
                let copies = match made.copies {
                    0 => "automatic".to_owned(),
                    copies => copies.to_string(),
                };
                format!("{method}; synthetic rows per source row: {copies}")
            }
        };
        format!("<tr><td>{}</td><td>{}</td></tr>\n", escape(&declared.name), escape(&method))
    };
    let rows: String = results.config.specs.iter().map(row).collect();
    format!(
        "<section>\n<h2>Settings</h2>\n<p>Each method was fitted on the training rows of a split and generated \
         synthetic rows from them; the model was trained on both, with the same settings and the same seed. \
         Held-out rows were never augmented.</p>\n<div class=\"scroll\"><table>\n{rows}\
         </table></div>\n<p>The model:</p>\n<pre id=\"command\">{}</pre>\n<p class=\"about\">Fingerprint of the \
         data: {}.</p>\n</section>\n",
        escape(&results.command),
        escape(&results.tables.join(", "))
    )
}

/// The settings that a candidate chose, the most frequent first.
fn chosen(out: &mut String, results: &Results, candidate: Candidate) {
    let mut counts: Vec<(String, usize)> = vec![];
    for run in results.runs.iter().filter(|run| run.key.candidate == candidate) {
        let words = in_words(&run.trials[run.chosen].kind);
        match counts.iter_mut().find(|(other, _)| *other == words) {
            Some((_, count)) => *count += 1,
            None => counts.push((words, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (words, count) in counts {
        let name = results.config.name(candidate);
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td>{count} ×</td><td>{}</td></tr>",
            escape(&name),
            escape(&words)
        );
    }
}

/// The hyperparameters of a model as text.
pub(super) fn in_words(kind: &Kind) -> String {
    match kind {
        Kind::Network(network) => {
            let training = &network.training;
            let method =
                network.augment.as_ref().map(|one| format!(", {}", describe::method(&one.method)));
            let (rate, decay) = (training.learning_rate, training.weight_decay);
            format!("learning rate {rate}, weight decay {decay}{}", method.unwrap_or_default())
        }
        Kind::Ridge { penalty } => format!("penalty {penalty}"),
        Kind::Anchor { gamma, penalty, .. } => format!("γ {gamma}, penalty {penalty}"),
        Kind::Forest(forest) | Kind::ExtraTrees(forest) => {
            let features = forest.features.map_or("all".into(), |features| features.to_string());
            let depth = forest.depth.map(|depth| format!(", depth {depth}")).unwrap_or_default();
            format!("minimum leaf {}{depth}, {features} columns per split", forest.leaf)
        }
        Kind::GaussianProcess(process) => match process.length_per_column {
            None => "length scales chosen by maximum likelihood".into(),
            Some(true) => "one length scale per column".into(),
            Some(false) => "one length scale for all columns".into(),
        },
        Kind::Boosting(boosting) => {
            let (trees, depth, penalty) = (boosting.trees, boosting.depth, boosting.penalty);
            format!("{trees} trees, depth {depth}, penalty {penalty}")
        }
        Kind::Auto(auto) => format!("{} folds", auto.folds),
    }
}
