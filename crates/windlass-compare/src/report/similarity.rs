//! The page of synthetic rows compared with real rows.

use std::fmt::Write as _;

use windlass_plot::format::escape;
use windlass_plot::{Labels, Layout, LinePlot, LineSeries};

use super::figures::{Figure, short};
use super::page::{self, Head};
use crate::similarity::{ColumnSimilarity, Similarity};

/// A self-contained page on the similarity of synthetic rows to real rows. `synthetic` and `real` are the names of the
/// tables on the page, `command` is the command line.
#[must_use]
pub fn similarity_report(found: &Similarity, synthetic: &str, real: &str, command: &str) -> String {
    let mut remarks = vec![Similarity::NOT_ANONYMOUS.to_owned()];
    remarks.extend(found.notes.iter().cloned());
    let about = format!(
        "{} synthetic rows, {} real rows; windlass {}",
        found.synthetic_rows,
        found.real_rows,
        env!("CARGO_PKG_VERSION")
    );
    let head = Head {
        title: &format!("How similar are the rows of {synthetic} to those of {real}?"),
        about: &about,
        answer: None,
        next: None,
        verdict: &found.in_words(),
        good: found.copies == 0 && !found.follows_real_rows,
        remarks: &remarks,
    };
    let figures: Vec<Figure> = distances(found).into_iter().collect();
    let numbers = distance_table(found) + &column_table(found);
    let rest = histograms(found)
        + &correlation_table(found)
        + &format!(
            "<section>\n<h2>Settings</h2>\n<p>Command:</p>\n<pre id=\"command\">{}</pre>\n</section>\n",
            escape(command)
        );
    page::page(&head, &numbers, &figures, &rest)
}

/// A table of texts; the first row is the header.
fn table(heading: &str, rows: &[Vec<String>], note: &str) -> String {
    let mut out =
        format!("<section>\n<h2>{}</h2>\n<div class=\"scroll\">\n<table>\n", escape(heading));
    for (place, row) in rows.iter().enumerate() {
        let (open, tag, close) = match place {
            0 => ("<thead>", "th", "</thead>\n<tbody>"),
            _ => ("", "td", ""),
        };
        let _ = write!(out, "{open}<tr>");
        for cell in row {
            let _ = write!(out, "<{tag}>{}</{tag}>", escape(cell));
        }
        let _ = writeln!(out, "</tr>{close}");
    }
    let _ = writeln!(
        out,
        "</tbody>\n</table>\n</div>\n<p class=\"about\">{}</p>\n</section>",
        escape(note)
    );
    out
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

fn distance_table(found: &Similarity) -> String {
    let (Some(synthetic), Some(real)) = (found.distances, found.real_distances) else {
        return String::new();
    };
    let row =
        |name: &str, values: [f64; 5]| [vec![name.to_owned()], values.map(short).to_vec()].concat();
    let rows = [
        words(["distance to the closest real row", "5 %", "25 %", "median", "75 %", "95 %"]),
        row("synthetic rows", synthetic),
        row("real rows, to other rows", real),
    ];
    table(
        "Distances",
        &rows,
        "Quantiles, in standard deviations of the columns; a category that differs counts 1. Synthetic rows that \
         are much closer than real rows are to each other follow single real rows.",
    )
}

fn column_table(found: &Similarity) -> String {
    let mut rows = vec![words([
        "column",
        "mean, real",
        "synthetic",
        "sd, real",
        "synthetic",
        "range, real",
        "synthetic",
        "outside",
        "missing, real",
        "synthetic",
    ])];
    for column in &found.columns {
        let value = |value: Option<f64>| value.map_or_else(String::new, |v| column.text(v));
        let spread = |value: Option<f64>| value.map_or_else(String::new, |v| column.spread(v));
        let range = |low: Option<f64>, high: Option<f64>| match (low, high) {
            (Some(low), Some(high)) => format!("{} … {}", column.text(low), column.text(high)),
            _ => String::new(),
        };
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let (real, made) = (&column.real, &column.synthetic);
        rows.push(vec![
            column.name.clone(),
            value(real.mean),
            value(made.mean),
            spread(real.sd),
            spread(made.sd),
            range(real.min, real.max),
            range(made.min, made.max),
            column.outside.to_string(),
            percent(real.missing),
            percent(made.missing),
        ]);
    }
    table(
        "Columns",
        &rows,
        "Outside: synthetic values beyond the range of the real values; of a category, values that real rows do \
         not have.",
    )
}

fn correlation_table(found: &Similarity) -> String {
    let Some(mean) = found.correlation_difference else { return String::new() };
    let mut rows = vec![words(["columns", "real", "synthetic", "difference"])];
    for pair in &found.correlations {
        let [a, b] = &pair.columns;
        let off = pair.synthetic - pair.real;
        rows.push(vec![
            format!("{a}, {b}"),
            format!("{:.3}", pair.real),
            format!("{:.3}", pair.synthetic),
            format!("{off:+.3}"),
        ]);
    }
    let note = format!(
        "The largest differences of {} pairs; the mean absolute difference is {mean:.3}.",
        found.correlated_pairs
    );
    table("Correlations", &rows, &note)
}

/// The outline of a histogram.
fn outline(edges: &[f64], shares: &[f64]) -> Vec<(f64, f64)> {
    let bins = edges.windows(2).zip(shares);
    let steps = bins.flat_map(|(ends, &share)| [(ends[0], share), (ends[1], share)]);
    let (first, last) = (edges[0], edges[edges.len() - 1]);
    std::iter::once((first, 0.0)).chain(steps).chain([(last, 0.0)]).collect()
}

fn histogram(labels: Labels, edges: &[f64], real: &[f64], synthetic: &[f64]) -> LinePlot {
    let percent = |shares: &[f64]| shares.iter().map(|share| 100.0 * share).collect::<Vec<_>>();
    LinePlot {
        labels,
        series: vec![
            LineSeries::new("real", outline(edges, &percent(real))),
            LineSeries::new("synthetic", outline(edges, &percent(synthetic))),
        ],
        ..LinePlot::default()
    }
}

/// The distances of synthetic and of real rows.
fn distances(found: &Similarity) -> Option<Figure> {
    const BINS: usize = 24;
    let [synthetic, real] = &found.all_distances;
    let largest = synthetic.last()?.max(*real.last()?);
    if !(largest > 0.0 && largest.is_finite()) {
        return None;
    }
    let edges: Vec<f64> = (0..=BINS).map(|bin| largest * bin as f64 / BINS as f64).collect();
    let shares = |values: &[f64]| -> Vec<f64> {
        let count = |ends: &[f64]| {
            let is_last = ends[1] >= largest;
            let inside = |value: &&f64| **value >= ends[0] && (**value < ends[1] || is_last);
            values.iter().filter(inside).count() as f64 / values.len() as f64
        };
        edges.windows(2).map(count).collect()
    };
    let labels = Labels::new("Distances", "distance to the closest real row", "rows, %");
    let plot = histogram(labels, &edges, &shares(real), &shares(synthetic));
    Some(Figure {
        name: "distances",
        heading: "Distance to the closest real row",
        caption: "Of a real row, to the closest other row. New rows of the same distribution have the distances of \
                  real rows."
            .into(),
        svg: Box::new(move |layout| plot.to_svg(layout)),
    })
}

/// The histograms of the columns, side by side; those of the first columns if there are many.
fn histograms(found: &Similarity) -> String {
    const SHOWN: usize = 24;
    let drawn = |column: &&ColumnSimilarity| column.edges.len() + column.levels.len() > 1;
    let mut columns: Vec<&ColumnSimilarity> = found.columns.iter().filter(drawn).collect();
    let all = columns.len();
    columns.sort_by_key(|column| column.role != "target");
    columns.truncate(SHOWN);
    let mut out = String::from("<div class=\"cards\">\n");
    for (place, column) in columns.iter().enumerate() {
        let labels = Labels::new(&column.name, "", "rows, %");
        let (real, made) = (&column.real_shares, &column.synthetic_shares);
        let plot = if column.levels.is_empty() {
            let plot = histogram(labels, &column.edges, real, made);
            LinePlot { x_names: ticks(column), ..plot }
        } else {
            let edges: Vec<f64> =
                (0..=column.levels.len()).map(|level| level as f64 - 0.5).collect();
            let names = column.levels.iter().enumerate();
            let names = names.map(|(level, name)| (level as f64, name.clone())).collect();
            LinePlot { x_names: Some(names), ..histogram(labels, &edges, real, made) }
        };
        out += &page::card(
            &format!("column-{place}"),
            &column.name,
            &plot.to_svg(&Layout::CARD),
            &format!("{} column, real and synthetic rows.", column.role),
        );
    }
    out += "</div>\n";
    if all > SHOWN {
        let _ = writeln!(
            out,
            "<p class=\"about\">Histograms of {SHOWN} of {all} columns are shown; the table above has all.</p>"
        );
    }
    out
}

/// The dates at three places of the x axis; `None` for numbers.
fn ticks(column: &ColumnSimilarity) -> Option<Vec<(f64, String)>> {
    let (first, last) = (column.edges.first()?, column.edges.last()?);
    let middle = f64::midpoint(*first, *last);
    let tick = |at: f64| (at, column.text(at));
    (column.role == "date").then(|| [*first, middle, *last].map(tick).to_vec())
}
