//! The page of a trained model.

use std::fmt::Write as _;

use windlass_model::{ErrorsByTarget, Trained};
use windlass_plot::format::escape;
use windlass_plot::{Labels, PointSeries, ReferenceLine, Scatter, StripPlot, StripRow};

use super::figures::{Figure, short};
use super::page::{self, Head, TargetRow};

/// A self-contained page about a trained model. `table` is the name of its table on the page, `command` the command
/// line of the training.
#[must_use]
pub fn model_report(trained: &Trained, table: &str, command: &str) -> String {
    let metadata = trained.model.metadata();
    let targets = trained.model.targets().join(", ");
    let verdict = match metadata.valid {
        Some(valid) => {
            let r2 = valid.r2.map_or_else(String::new, |r2| format!(", R² {r2:.3}"));
            format!("Expected error on new rows: RMSE {}{r2}.", short(valid.rmse))
        }
        None => "No rows were held out, so the error on new rows is unknown.".to_owned(),
    };
    let mut remarks = vec![];
    if let Some(valid) = metadata.valid {
        remarks.push(format!("Estimated from {} held-out rows.", valid.rows));
    }
    remarks.extend(within(trained));
    remarks.push(format!("RMSE on the training rows: {}.", short(metadata.train.rmse)));
    remarks.extend(metadata.drift.iter().map(|drift| format!("Drift: {drift}.")));
    remarks.extend(metadata.notes.iter().cloned());
    let figures: Vec<Figure> =
        [importance(trained), predicted(trained, &targets)].into_iter().flatten().collect();
    let about = format!(
        "{targets}, {} rows; windlass {}, seed {}",
        metadata.rows, metadata.version, metadata.config.seed
    );
    let head = Head {
        title: &format!("Model for {targets}, trained on {table}"),
        about: &about,
        answer: None,
        next: None,
        verdict: &verdict,
        good: metadata.valid.is_some(),
        remarks: &remarks,
    };
    page::page(&head, &by_target(trained), &figures, &members(trained, command))
}

/// The 90 % quantile of absolute errors, as a sentence.
fn within(trained: &Trained) -> Option<String> {
    let out_of_fold = trained.model.out_of_fold()?;
    let mut off: Vec<f64> =
        (&out_of_fold.y - &out_of_fold.predicted).iter().map(|off| off.abs()).collect();
    if trained.model.targets().len() > 1 || off.len() < 10 {
        return None;
    }
    off.sort_by(f64::total_cmp);
    let bound = short(off[off.len() * 9 / 10]);
    Some(format!("90 % of the held-out predictions are within {bound} of the target."))
}

/// Errors of held-out rows by the size of the target.
fn by_target(trained: &Trained) -> String {
    let Some(out_of_fold) = trained.model.out_of_fold() else { return String::new() };
    if trained.model.targets().len() > 1 {
        return String::new();
    }
    let values = |all: &ndarray::Array2<f64>| all.iter().copied().collect::<Vec<_>>();
    let (y, predicted) = (values(&out_of_fold.y), values(&out_of_fold.predicted));
    let errors = ErrorsByTarget::compute(&y, &predicted, &ErrorsByTarget::edges(&y), None);
    let row = errors.map(|errors| TargetRow { name: "held-out rows".into(), errors, rare: None });
    page::target_section(row.as_slice())
}

/// The columns by their permutation importance.
fn importance(trained: &Trained) -> Option<Figure> {
    const SHOWN: usize = 16;
    let importance = &trained.model.metadata().importance;
    if importance.is_empty() {
        return None;
    }
    let row = |one: &windlass_model::Importance| StripRow {
        name: one.column.clone(),
        values: vec![one.rmse_increase],
    };
    let plot = StripPlot {
        labels: Labels::new("Permutation importance", "increase in RMSE", ""),
        rows: importance.iter().take(SHOWN).map(row).collect(),
        quartiles: false,
        reference: Some(ReferenceLine { at: 0.0, below: String::new(), above: String::new() }),
    };
    Some(Figure {
        name: "importance",
        heading: "Importance of columns",
        caption:
            "Permutation importance: the increase in RMSE on held-out rows if the values of a \
                  column are shuffled. Correlated columns share their importance."
                .into(),
        svg: Box::new(move |layout| plot.to_svg(layout)),
    })
}

fn predicted(trained: &Trained, target: &str) -> Option<Figure> {
    let out_of_fold = trained.model.out_of_fold()?;
    let points = out_of_fold.y.iter().copied().zip(out_of_fold.predicted.iter().copied());
    let title = format!("Predicted and true {target}");
    let plot = Scatter {
        labels: Labels::new(title, format!("true {target}"), format!("predicted {target}")),
        series: vec![PointSeries::new("held-out rows", points)],
        diagonal: true,
        ..Scatter::default()
    };
    Some(Figure {
        name: "predicted",
        heading: "Predicted and true values",
        caption: "Held-out rows. Predictions on the line are exact.".into(),
        svg: Box::new(move |layout| plot.to_svg(layout)),
    })
}

/// The members of an ensemble, and the command.
fn members(trained: &Trained, command: &str) -> String {
    let mut out = String::new();
    if let Some(selection) = &trained.model.metadata().selection {
        out += "<section>\n<h2>Members</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th>model</th>\
                <th>weight</th><th>RMSE alone</th></tr></thead>\n<tbody>\n";
        for result in &selection.portfolio {
            let (name, weight) = (escape(&result.name), 100.0 * result.weight);
            let rmse = short(result.rmse);
            let _ = writeln!(out, "<tr><td>{name}</td><td>{weight:.0} %</td><td>{rmse}</td></tr>");
        }
        out += "</tbody></table></div>\n</section>\n";
    }
    let (command, fingerprint) = (escape(command), escape(&trained.model.metadata().fingerprint));
    out + &format!(
        "<section>\n<h2>Settings</h2>\n<p>Command:</p>\n<pre id=\"command\">{command}</pre>\n\
         <p class=\"about\">Fingerprint of the data: {fingerprint}.</p>\n</section>\n"
    )
}
