//! The Markdown page of an experiment: our numbers and the published ones, conclusions, pictures, configuration.

use std::fmt::Write as _;
use std::path::Path;

use windlass_compare::{Candidate, Finding, MethodName, describe};
use windlass_model::{Kind, NetworkConfig, Scaling};
use windlass_train::{FittedOn, Optimizer, TrainConfig};

use super::dataset::{DatasetSpec, PreprocessingScope};
use super::pictures::FIGURES;
use super::spec::{Experiment, ExperimentPart, Picture, ReportedMetric};
use super::stored::{FinishedPart, MeanStd, StoredPart, with_equal_budget};
use crate::deep::DeepConfig;
use crate::networks::NetworkSpec;
use crate::{Error, PublishedSplits, Result};

/// The content of a page.
pub(super) struct Page<'a> {
    pub(super) experiment: &'a Experiment,
    /// The command that reproduces it.
    pub(super) command: String,
    pub(super) quick: bool,
    /// The directory of the page.
    pub(super) folder: &'a Path,
    pub(super) finished: &'a [FinishedPart],
    pub(super) not_run: Vec<&'a ExperimentPart>,
    pub(super) pictures: Vec<&'a Picture>,
}

/// The first line of a page that we wrote.
const MARK: &str = "<!-- Made by windlass-paper reproduce -->";

/// A page written by hand with a section about each experiment; generated pages link to it if it exists.
const CONCLUSIONS: &str = "../conclusions.md";

/// Returns an error for an existing page that windlass-paper did not write.
pub(super) fn check_overwrite(place: &Path) -> Result<()> {
    match std::fs::read(place) {
        Ok(bytes) if !bytes.starts_with(MARK.as_bytes()) => {
            Err(Error::NotOurs { path: place.to_owned() })
        }
        _ => Ok(()),
    }
}

/// Renders the page.
pub(super) fn render(page: &Page<'_>) -> String {
    let Page { experiment, finished, .. } = *page;
    let mut out = String::new();
    let version = env!("CARGO_PKG_VERSION");
    let _ = write!(
        out,
        "{MARK}\n# {}\n\nThe paper: {}. Made by `{}` with windlass {version}{}.\n\n{}\n",
        experiment.title,
        experiment.paper,
        page.command,
        if experiment.part.is_empty() { "" } else { ", seeds as below" },
        experiment.about.trim()
    );
    if page.folder.join(CONCLUSIONS).exists() {
        let name = &experiment.name;
        let _ =
            writeln!(out, "\nWhat we conclude, and what to know: [{name}]({CONCLUSIONS}#{name}).");
    }
    if page.quick {
        out += "\n**A quick look, no result**: a few epochs, two seeds, few settings. It shows that everything runs.\n";
    }
    for (main, equal) in with_equal_budget(finished) {
        let _ = write!(out, "\n## {}\n\n", main.part.title);
        if main.stored.config.comparison.sizes.len() > 1 {
            table_by_size(&mut out, main);
        } else {
            table_of_methods(&mut out, main, equal);
        }
        if page.quick {
            continue;
        }
        out.push('\n');
        for sentence in conclusions(main, equal) {
            let _ = writeln!(out, "* {sentence}");
        }
    }
    if !page.pictures.is_empty() {
        out += "\n## Pictures\n";
        for picture in &page.pictures {
            let (title, name) = (&picture.title, &picture.name);
            let _ = write!(out, "\n![{title}]({FIGURES}#{name})\n\n{title}\n");
        }
    }
    not_run(&mut out, page);
    if !finished.is_empty() {
        how_it_was_run(&mut out, finished);
    }
    out
}

/// Parts that are run only if `--only` names them.
fn not_run(out: &mut String, page: &Page<'_>) {
    let left: Vec<&ExperimentPart> =
        page.not_run.iter().copied().filter(|part| part.only_when_asked).collect();
    if left.is_empty() {
        return;
    }
    out.push_str("\n## What was not run\n\n");
    for part in left {
        let experiment = &page.experiment.name;
        let needs = match part.data {
            DatasetSpec::WindowsOfElectricity { .. } | DatasetSpec::Dti { .. } => {
                ", with files of your own"
            }
            _ => "",
        };
        let _ = writeln!(
            out,
            "* **{}**: `windlass-paper reproduce {experiment} --only {}`{needs}.",
            part.title, part.name
        );
    }
}

fn table_of_methods(out: &mut String, main: &FinishedPart, equal: Option<&FinishedPart>) {
    let metrics = &main.part.metrics;
    let candidates = main.candidates();
    let any_published = |metric: &ReportedMetric| {
        candidates.iter().any(|&candidate| main.published(candidate, *metric).is_some())
    };
    let mut heads = vec![String::new()];
    for metric in metrics {
        let name = metric.name();
        if any_published(metric) {
            heads.push(format!("{name}, published"));
        }
        heads.push(format!("{name}, ours"));
        if equal.is_some() {
            heads.push(format!("{name}, ours, equal budget"));
        }
    }
    let rule = " --: |".repeat(heads.len() - 1);
    let runs = |part: &FinishedPart| part.part.seeds.len() * part.part.trainings;
    let mut words = format!("Means ± standard deviations over {} runs", runs(main));
    if let Some(equal) = equal {
        let _ = write!(words, ", at equal budgets over {}", runs(equal));
    }
    if main.part.prints_std() {
        words += ", published over three seeds";
    }
    let _ = writeln!(out, "{words}.\n\n| {} |\n| :-- |{rule}", heads.join(" | "));
    let decimals = main.part.decimals;
    let words = |value: Option<MeanStd>| {
        value.map_or_else(|| "–".to_owned(), |value| value.format(decimals))
    };
    let line =
        |out: &mut String, name: &str, candidate: Option<Candidate>, other: Option<Candidate>| {
            let mut cells = vec![name.to_owned()];
            for metric in metrics {
                let of = |part: &FinishedPart, candidate: Option<Candidate>| {
                    candidate.and_then(|candidate| part.ours(None, candidate, *metric))
                };
                if any_published(metric) {
                    cells.push(words(
                        candidate.and_then(|candidate| main.published(candidate, *metric)),
                    ));
                }
                cells.push(words(of(main, candidate)));
                if let Some(equal) = equal {
                    cells.push(words(of(equal, other)));
                }
            }
            let _ = writeln!(out, "| {} |", cells.join(" | "));
        };
    let mut matched = vec![];
    for &candidate in &candidates {
        let other = equal.and_then(|equal| main.counterpart(candidate, equal));
        matched.extend(other);
        line(out, &main.stored.config.comparison.name(candidate), Some(candidate), other);
    }
    // Candidates that the published comparison does not have.
    if let Some(equal) = equal {
        for candidate in
            equal.candidates().into_iter().filter(|candidate| !matched.contains(candidate))
        {
            let name = candidate.method.map_or("", MethodName::title);
            line(out, name, None, Some(candidate));
        }
    }
}

fn table_by_size(out: &mut String, main: &FinishedPart) {
    let metric = main.part.metrics[0];
    let sizes = &main.stored.config.comparison.sizes;
    let heads: Vec<String> = sizes.iter().flatten().map(usize::to_string).collect();
    let _ = writeln!(
        out,
        "{}, mean ± standard deviation over {} runs, by the number of training rows. **Bold**: differs from the line \
         without augmentation above it at 5 % after Holm's correction over the methods of a column.\n\n| | {} |\n| :-- |{}",
        metric.name(),
        main.part.seeds.len() * main.part.trainings,
        heads.join(" | "),
        " --: |".repeat(heads.len())
    );
    for candidate in main.candidates() {
        let cell = |&size: &Option<usize>| {
            let words = main
                .ours(size, candidate, metric)
                .map_or_else(|| "–".to_owned(), |value| value.format(main.part.decimals));
            let significant = main
                .stored
                .line(size, candidate)
                .is_some_and(|line| matches!(line.finding, Finding::Better | Finding::Worse));
            if significant { format!("**{words}**") } else { words }
        };
        let cells: Vec<String> = sizes.iter().map(cell).collect();
        let _ = writeln!(
            out,
            "| {} | {} |",
            main.stored.config.comparison.name(candidate),
            cells.join(" | ")
        );
    }
}

fn conclusions(main: &FinishedPart, equal: Option<&FinishedPart>) -> Vec<String> {
    let mut sentences = vec![];
    for &metric in &main.part.metrics {
        sentences.extend(against_paper(main, metric));
    }
    sentences.extend(order(main));
    // A published standard deviation makes the comparison with the paper sufficient.
    if main.stored.config.comparison.sizes.len() > 1 {
        sentences.extend(by_size(main));
    } else if !main.part.prints_std() {
        sentences.push(main.stored.summary.verdict.clone());
    }
    if let Some(FinishedPart { part, stored }) = equal {
        sentences.push(format!("**{}.** {}", part.title, stored.summary.verdict));
        sentences.extend(stored.summary.remarks.iter().cloned());
    }
    sentences
}

/// Which published numbers were reproduced.
fn against_paper(main: &FinishedPart, metric: ReportedMetric) -> Option<String> {
    let decimals = main.part.decimals;
    let first = metric == main.part.metrics[0];
    let (mut same, mut better, mut worse, mut single) = (vec![], vec![], vec![], vec![]);
    for candidate in main.candidates() {
        let name = main.stored.config.comparison.name(candidate);
        let Some((published, ours)) =
            main.published(candidate, metric).zip(main.ours(None, candidate, metric))
        else {
            continue;
        };
        let within = main.part.within.filter(|_| first);
        let Some(reach) = within.or(published.std) else {
            let values = main.stored.values(None, candidate, metric);
            let good = |&&value: &&f64| {
                if metric.is_better_high() {
                    value >= published.mean
                } else {
                    value <= published.mean
                }
            };
            let low = values.iter().filter(good).count();
            single.push(format!("{name}: {low}"));
            continue;
        };
        let off = ours.mean - published.mean;
        let sign = if off < 0.0 { '−' } else { '+' };
        let words = format!("{name} ({sign}{:.decimals$}", off.abs());
        if off.abs() <= reach {
            same.push(words + ")");
            continue;
        }
        let words = match triples_beyond(main, candidate, metric, published.mean) {
            Some(share) => format!("{words}; {share:.0} % of our triples of seeds are as far off)"),
            None => words + ")",
        };
        let is_worse = (off > 0.0) != metric.is_better_high();
        if is_worse { worse.push(words) } else { better.push(words) }
    }
    if !single.is_empty() {
        let (runs, metric) = (main.part.seeds.len(), metric.name());
        return Some(format!(
            "The paper prints the {metric} of one draw of points. Of our {runs} draws so many have one as good: {}.",
            single.join("; ")
        ));
    }
    let reach = match main.part.within.filter(|_| first) {
        Some(within) => format!("Reproduced, within {within} of the published mean"),
        None => "Reproduced, within one published deviation".to_owned(),
    };
    let mut words = String::new();
    for (what, names) in [(reach.as_str(), same), ("Better", better), ("Worse", worse)] {
        if !names.is_empty() {
            let _ = write!(words, " {what}: {}.", names.join(", "));
        }
    }
    (!words.is_empty()).then(|| format!("**{}**, ours against the paper.{words}", metric.name()))
}

/// The published means are over three seeds: the percentage of means over three of our seeds that are at least as
/// far from our mean as the published one, on the same side.
fn triples_beyond(
    main: &FinishedPart,
    candidate: Candidate,
    metric: ReportedMetric,
    published: f64,
) -> Option<f64> {
    let own = main.stored.runs.iter().filter(|run| run.key.candidate == candidate);
    let runs: Vec<(usize, f64)> = own.map(|run| (run.key.repeat, metric.value(run))).collect();
    let above = published > runs.iter().map(|run| run.1).sum::<f64>() / runs.len() as f64;
    let (mut all, mut beyond) = (0_u32, 0_u32);
    for (place, one) in runs.iter().enumerate() {
        for (place, two) in runs.iter().enumerate().skip(place + 1) {
            for three in &runs[place + 1..] {
                if one.0 == two.0 || two.0 == three.0 || one.0 == three.0 {
                    continue;
                }
                let mean = (one.1 + two.1 + three.1) / 3.0;
                all += 1;
                beyond += u32::from(if above { mean >= published } else { mean <= published });
            }
        }
    }
    // A single triple has no distribution.
    (all > 1).then(|| 100.0 * f64::from(beyond) / f64::from(all))
}

/// The ranking of the methods, published and ours.
fn order(main: &FinishedPart) -> Option<String> {
    let metric = main.part.metrics[0];
    let ranked = |of: &dyn Fn(Candidate) -> Option<MeanStd>| -> Option<String> {
        let printed =
            main.candidates().into_iter().filter(|&one| main.published(one, metric).is_some());
        let mut found: Vec<(Candidate, f64)> =
            printed.filter_map(|candidate| Some((candidate, of(candidate)?.mean))).collect();
        if found.is_empty() {
            return None;
        }
        // NaN comes last.
        let sign = if metric.is_better_high() { -1.0 } else { 1.0 };
        let place = |value: f64| (value.is_nan(), sign * value);
        found.sort_by(|a, b| {
            let (a, b) = (place(a.1), place(b.1));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        let names: Vec<String> = found
            .iter()
            .map(|(candidate, _)| main.stored.config.comparison.name(*candidate))
            .collect();
        Some(names.join(if metric.is_better_high() { " > " } else { " < " }))
    };
    let published = ranked(&|candidate| main.published(candidate, metric))?;
    let ours = ranked(&|candidate| main.ours(None, candidate, metric))?;
    let metric = metric.name();
    Some(if published == ours {
        format!("The order by {metric} is the published one: {ours}.")
    } else {
        format!("By {metric}, published: {published}. Ours: {ours}.")
    })
}

/// The training sizes at which methods differ from no augmentation.
fn by_size(main: &FinishedPart) -> Vec<String> {
    let config = &main.stored.config.comparison;
    let mut sentences = vec![];
    for candidate in main.candidates() {
        let Some(reference) = config.reference(candidate).filter(|one| *one != candidate) else {
            continue;
        };
        let at = |wanted: Finding| -> String {
            let found: Vec<String> = config
                .sizes
                .iter()
                .filter_map(|&size| {
                    let line = main.stored.line(size, candidate)?;
                    let percent = 100.0 * line.difference?.mean.exp_m1().abs();
                    (line.finding == wanted).then(|| Some(format!("{} ({percent:.0} %)", size?)))?
                })
                .collect();
            if found.is_empty() { "no size".into() } else { found.join(", ") }
        };
        sentences.push(format!(
            "{}: a smaller RMSE than {} at {}; a larger one at {}.",
            config.name(candidate),
            config.name(reference),
            at(Finding::Better),
            at(Finding::Worse)
        ));
    }
    sentences
}

fn how_it_was_run(out: &mut String, finished: &[FinishedPart]) {
    out.push_str("\n## How it was run\n");
    for FinishedPart { part, stored } in finished {
        let _ = write!(
            out,
            "\n**{}** ({} rows, {}{}): {}. The times of all {} runs add up to {:.0} s; the command above writes each of them \
             to `{}.json`.\n",
            part.title,
            stored.rows,
            seeds(part),
            if part.trainings > 1 {
                format!(", {} trainings on each", part.trainings)
            } else {
                String::new()
            },
            describe_rows(stored, part),
            stored.runs.len(),
            stored.seconds(),
            part.name
        );
        if stored.config.comparison.specs.is_empty() {
            let _ = writeln!(
                out,
                "Every method tries {} settings (rate, weight decay and its own strength; the same rates and decays for \
                 all) and keeps the one with the least error on the validation rows. The first setting: {}.",
                stored.config.comparison.tune,
                describe_network(&stored.config.comparison.network)
            );
            continue;
        }
        out.push_str("\n| | settings |\n| :-- | :-- |\n");
        for (place, spec) in stored.config.comparison.specs.iter().enumerate() {
            let mut words = match (&spec.kind, stored.config.deep.get(place)) {
                (_, Some(config)) => describe_deep(config),
                (Some(Kind::Network(settings)), _) => describe_network(settings),
                (Some(Kind::Ridge { penalty }), _) => {
                    format!("ridge regression, penalty {penalty}")
                }
                _ => String::new(),
            };
            if let Some(enlarge) = &spec.enlarge {
                let _ = write!(
                    words,
                    "; {} rows made of every row beforehand by {}",
                    enlarge.copies,
                    describe::method(&enlarge.method)
                );
            }
            let _ = writeln!(out, "| {} | {words} |", spec.name);
        }
    }
}

fn seeds(part: &ExperimentPart) -> String {
    match part.seeds[..] {
        [only] => format!("seed {only}"),
        [first, .., last] if part.seeds.is_sorted_by(|a, b| a + 1 == *b) => {
            format!("seeds {first} to {last}")
        }
        _ => {
            let seeds: Vec<String> = part.seeds.iter().map(u64::to_string).collect();
            format!("seeds {}", seeds.join(", "))
        }
    }
}

/// Describes training, validation and test rows.
fn describe_rows(stored: &StoredPart, part: &ExperimentPart) -> String {
    let mut words = match &stored.config.splits {
        PublishedSplits::Permuted { parts: [train, 0, test], .. } => {
            format!("{train} training and {test} test rows of a permutation by the seed")
        }
        PublishedSplits::Permuted { parts: [train, valid, test], .. } => format!(
            "{train} training, {valid} validation and {test} test rows of a permutation by the seed"
        ),
        PublishedSplits::Ordered { column, train_to, test_from, .. } => format!(
            "training rows are those with `{column}` up to {train_to}, test rows those from {test_from}, \
             validation rows those between"
        ),
        PublishedSplits::Sets { .. } => {
            "every seed has a training set of its own, all the same test rows".into()
        }
        PublishedSplits::InOrder { parts: [train, valid, test], .. } => {
            let what = part.data.describe();
            format!("{train} training, {valid} validation and {test} test rows: {what}")
        }
    };
    if part.network.is_some() {
        return words;
    }
    words += match part.prepared {
        PreprocessingScope::AllRows => {
            "; features scaled to 0…1 and filled over all rows, test rows among them, as published; targets "
        }
        PreprocessingScope::TrainingRows => {
            return words + "; scales and fillings from training rows only";
        }
    };
    words
        + match part.target_scale {
            Scaling::None => "as they are",
            Scaling::MinMax => "scaled to 0…1 by the training rows",
            Scaling::Standard => "standardized by the training rows",
        }
}

/// Describes a dense network and its training.
fn describe_network(config: &NetworkConfig) -> String {
    let hidden: Vec<String> = config.hidden.iter().map(usize::to_string).collect();
    let mut words =
        format!("network d-{}-1, {}", hidden.join("-"), describe_training(&config.training));
    if let Some(augment) = &config.augment {
        let place = if augment.layer == 0 { "inputs" } else { "the first hidden layer" };
        let _ = write!(words, "; {} on {place}", describe::method(&augment.method));
    }
    words
}

/// Describes a deep network and its training.
fn describe_deep(config: &DeepConfig) -> String {
    let mut words = config.network.name().to_owned();
    match &config.network {
        NetworkSpec::Lstnet(net) => {
            let _ = write!(
                words,
                " ({} channels, {} and {} recurrent units)",
                net.channels, net.hidden, net.skip_hidden
            );
        }
        NetworkSpec::Resnet18(net) => {
            words += match net.weights {
                Some(_) => " (weights of a file at first)",
                None => " (fresh weights: no ImageNet weights were given)",
            };
        }
        NetworkSpec::Deepdta(_) => {}
    }
    let _ = write!(words, ", {}", describe_training(&config.training));
    if let Some(augment) = &config.augment {
        let layers: Vec<String> = augment.layers.iter().map(usize::to_string).collect();
        let place = match &augment.layers[..] {
            [0] => "inputs".to_owned(),
            [layer] => format!("hidden layer {layer}"),
            _ => format!("one of the hidden layers {}, drawn for every step", layers.join(", ")),
        };
        let _ = write!(words, "; {} on {place}", describe::method(&augment.method));
        if augment.fitted_on == FittedOn::Batch {
            words += ", partners of the same batch";
        }
    }
    if let Some(device) = &config.device {
        let _ = write!(words, "; trained on {device}");
    }
    words
}

/// Describes the training settings.
fn describe_training(training: &TrainConfig) -> String {
    let optimizer = match training.optimizer {
        Optimizer::Adam { .. } => "Adam",
        Optimizer::AdamW { .. } => "AdamW",
        Optimizer::Sgd { .. } => "SGD",
    };
    let mut words = format!(
        "{optimizer}, rate {}, batches of {}, {} epochs",
        training.learning_rate, training.batch_size, training.epochs
    );
    if training.weight_decay > 0.0 {
        let _ = write!(words, ", weight decay {}", training.weight_decay);
    }
    words
}

/// The index of all experiments.
pub(super) fn index(experiments: &[Experiment], output: &Path) -> String {
    let mut out = format!(
        "{MARK}\n# The paper, reproduced\n\nEvery experiment of *Anchor Data Augmentation* (NeurIPS 2023) that fits our networks, and \
         the tables of two successors, from raw data to the page, by `windlass-paper reproduce all`. Each page compares our numbers with the published ones.\n\n\
         | experiment | in the paper | |\n| :-- | :-- | :-- |\n",
    );
    for experiment in experiments {
        let (name, title, paper) = (&experiment.name, &experiment.title, &experiment.paper);
        let there = experiment.can_run() || output.join(name).join("README.md").exists();
        let _ = if there {
            writeln!(out, "| [{name}]({name}/README.md) | {paper} | {title} |")
        } else {
            writeln!(out, "| {name} | {paper} | {title}. Not run: it needs deep networks. |")
        };
    }
    out
}
