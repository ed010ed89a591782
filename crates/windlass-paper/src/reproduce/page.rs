//! The page of an experiment: numbers beside the published ones, what they say, pictures, how it was run.

use std::fmt::Write as _;
use std::path::Path;

use windlass_compare::statistics::mean_and_variance;
use windlass_compare::{Candidate, Finding, MethodName, describe};
use windlass_model::{Kind, NetworkConfig};
use windlass_train::{FittedOn, Optimizer, Training};

use super::file::{CandidateFile, Experiment, Metric, Part, Picture};
use super::run::{Finished, Kept, Reproduction};
use super::source::{Prepared, Source};
use crate::deep::DeepRecipe;
use crate::networks::Description;
use crate::{Error, PublishedSplits, Result};

/// A mean and a deviation.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Spread {
    pub(super) mean: f64,
    pub(super) deviation: Option<f64>,
}

impl Spread {
    pub(super) fn of(values: &[f64]) -> Self {
        let (mean, variance) = mean_and_variance(values);
        Self { mean, deviation: (values.len() > 1).then(|| variance.sqrt()) }
    }

    fn in_words(self, decimals: usize) -> String {
        match self.deviation {
            Some(deviation) => format!("{:.decimals$} ± {deviation:.decimals$}", self.mean),
            None => format!("{:.decimals$}", self.mean),
        }
    }
}

impl Finished {
    /// Who took part.
    pub(super) fn candidates(&self) -> Vec<Candidate> {
        self.kept.config.comparison.candidates()
    }

    /// What the paper printed of a candidate.
    pub(super) fn published(&self, candidate: Candidate, metric: Metric) -> Option<Spread> {
        let name = self.kept.config.comparison.name(candidate);
        let named = |file: &&CandidateFile| file.name == name;
        let printed = self.part.candidate.iter().find(named)?.published.get(&metric)?;
        Some(Spread { mean: *printed.first()?, deviation: printed.get(1).copied() })
    }

    /// What came of a candidate.
    pub(super) fn ours(
        &self,
        size: Option<usize>,
        candidate: Candidate,
        metric: Metric,
    ) -> Option<Spread> {
        let values = self.kept.values(size, candidate, metric);
        (!values.is_empty()).then(|| Spread::of(&values))
    }

    /// The candidate of another part with the same method; it stands for the first with that method.
    pub(super) fn counterpart(&self, candidate: Candidate, other: &Self) -> Option<Candidate> {
        let first =
            |part: &Self| part.candidates().into_iter().find(|one| one.method == candidate.method);
        first(other).filter(|_| first(self) == Some(candidate))
    }
}

/// The parts, each with the one at equal budgets that has other numbers for its methods.
pub(super) fn pairs(finished: &[Finished]) -> Vec<(&Finished, Option<&Finished>)> {
    let mut pairs: Vec<(&Finished, Option<&Finished>)> = vec![];
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

/// What a page of ours begins with.
const MARK: &str = "<!-- Made by windlass-paper reproduce -->";

/// A page written by hand, which the generated page links to if it exists.
const CONCLUSIONS: &str = "conclusions.md";

/// Refuses to write over a page of someone else.
pub(super) fn check(place: &Path) -> Result<()> {
    match std::fs::read(place) {
        Ok(bytes) if !bytes.starts_with(MARK.as_bytes()) => {
            Err(Error::NotOurs { path: place.to_owned() })
        }
        _ => Ok(()),
    }
}

/// The page.
pub(super) fn page(reproduction: &Reproduction, finished: &[Finished]) -> String {
    let experiment = reproduction.experiment();
    let mut out = String::new();
    let version = env!("CARGO_PKG_VERSION");
    let _ = write!(
        out,
        "{MARK}\n# {}\n\nThe paper: {}. Made by `{}` with windlass {version}{}.\n\n{}\n",
        experiment.title,
        experiment.paper,
        reproduction.command(),
        if reproduction.experiment().part.is_empty() { "" } else { ", seeds as below" },
        experiment.about.trim()
    );
    if reproduction.folder().join(CONCLUSIONS).exists() {
        let _ =
            writeln!(out, "\nWhat we conclude, and what to know: [{CONCLUSIONS}]({CONCLUSIONS}).");
    }
    if reproduction.is_quick() {
        out += "\n**A quick look, no result**: a few epochs, two seeds, few settings. It shows that everything runs.\n";
    }
    for (main, equal) in pairs(finished) {
        let _ = write!(out, "\n## {}\n\n", main.part.title);
        if main.kept.config.comparison.sizes.len() > 1 {
            table_by_size(&mut out, main);
        } else {
            table_of_methods(&mut out, main, equal);
        }
        if reproduction.is_quick() {
            continue;
        }
        out.push('\n');
        for sentence in result(main, equal) {
            let _ = writeln!(out, "* {sentence}");
        }
    }
    let pictures: Vec<&Picture> = reproduction.pictures(finished).collect();
    if !pictures.is_empty() {
        out += "\n## Pictures\n";
        for picture in pictures {
            let (title, name) = (&picture.title, &picture.name);
            let _ = write!(out, "\n![{title}]({name}.svg)\n\n{title}\n");
        }
    }
    not_run(&mut out, reproduction, finished);
    if !finished.is_empty() {
        how_it_was_run(&mut out, finished);
    }
    out
}

/// The parts that are run only where they are asked for, and were not.
fn not_run(out: &mut String, reproduction: &Reproduction, finished: &[Finished]) {
    let left: Vec<&Part> =
        reproduction.left_out(finished).filter(|part| part.only_when_asked).collect();
    if left.is_empty() {
        return;
    }
    out.push_str("\n## What was not run\n\n");
    for part in left {
        let experiment = &reproduction.experiment().name;
        let needs = match part.data {
            Source::WindowsOfElectricity { .. } | Source::Dti { .. } => ", with files of your own",
            _ => "",
        };
        let _ = writeln!(
            out,
            "* **{}**: `windlass-paper reproduce {experiment} --only {}`{needs}.",
            part.title, part.name
        );
    }
}

fn table_of_methods(out: &mut String, main: &Finished, equal: Option<&Finished>) {
    let metrics = &main.part.metrics;
    let candidates = main.candidates();
    let any_published = |metric: &Metric| {
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
    let runs = |part: &Finished| part.part.seeds.len() * part.part.trainings;
    let mut words = format!("Means ± standard deviations over {} runs", runs(main));
    if let Some(equal) = equal {
        let _ = write!(words, ", at equal budgets over {}", runs(equal));
    }
    if main.part.prints_deviations() {
        words += ", published over three seeds";
    }
    let _ = writeln!(out, "{words}.\n\n| {} |\n| :-- |{rule}", heads.join(" | "));
    let decimals = main.part.decimals;
    let words = |spread: Option<Spread>| {
        spread.map_or_else(|| "–".to_owned(), |spread| spread.in_words(decimals))
    };
    let line =
        |out: &mut String, name: &str, candidate: Option<Candidate>, other: Option<Candidate>| {
            let mut cells = vec![name.to_owned()];
            for metric in metrics {
                let of = |part: &Finished, candidate: Option<Candidate>| {
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
    let mut met = vec![];
    for &candidate in &candidates {
        let other = equal.and_then(|equal| main.counterpart(candidate, equal));
        met.extend(other);
        line(out, &main.kept.config.comparison.name(candidate), Some(candidate), other);
    }
    // Those that the published comparison has not.
    if let Some(equal) = equal {
        for candidate in equal.candidates().into_iter().filter(|candidate| !met.contains(candidate))
        {
            let name = candidate.method.map_or("", MethodName::in_words);
            line(out, name, None, Some(candidate));
        }
    }
}

fn table_by_size(out: &mut String, main: &Finished) {
    let metric = main.part.metrics[0];
    let sizes = &main.kept.config.comparison.sizes;
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
                .map_or_else(|| "–".to_owned(), |spread| spread.in_words(main.part.decimals));
            let told = main
                .kept
                .line(size, candidate)
                .is_some_and(|line| matches!(line.finding, Finding::Helps | Finding::Hurts));
            if told { format!("**{words}**") } else { words }
        };
        let cells: Vec<String> = sizes.iter().map(cell).collect();
        let _ = writeln!(
            out,
            "| {} | {} |",
            main.kept.config.comparison.name(candidate),
            cells.join(" | ")
        );
    }
}

/// What the numbers say.
fn result(main: &Finished, equal: Option<&Finished>) -> Vec<String> {
    let mut told = vec![];
    for &metric in &main.part.metrics {
        told.extend(against_paper(main, metric));
    }
    told.extend(order(main));
    // Where the paper has its own deviations, its comparison stands for itself.
    if main.kept.config.comparison.sizes.len() > 1 {
        told.extend(by_size(main));
    } else if !main.part.prints_deviations() {
        told.push(main.kept.summary.verdict.clone());
    }
    if let Some(Finished { part, kept }) = equal {
        told.push(format!("**{}.** {}", part.title, kept.summary.verdict));
        told.extend(kept.summary.remarks.iter().cloned());
    }
    told
}

/// Which published numbers came out again.
fn against_paper(main: &Finished, metric: Metric) -> Option<String> {
    let decimals = main.part.decimals;
    let first = metric == main.part.metrics[0];
    let (mut same, mut better, mut worse, mut single) = (vec![], vec![], vec![], vec![]);
    for candidate in main.candidates() {
        let name = main.kept.config.comparison.name(candidate);
        let Some((published, ours)) =
            main.published(candidate, metric).zip(main.ours(None, candidate, metric))
        else {
            continue;
        };
        let Some(deviation) = published.deviation else {
            let values = main.kept.values(None, candidate, metric);
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
        if off.abs() <= main.part.within.filter(|_| first).unwrap_or(deviation) {
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

/// The paper's means are over three seeds: in percent, how many means of three of our runs, of other seeds each, are
/// as far from our mean as the published one, on its side.
fn triples_beyond(
    main: &Finished,
    candidate: Candidate,
    metric: Metric,
    published: f64,
) -> Option<f64> {
    let own = main.kept.runs.iter().filter(|run| run.key.candidate == candidate);
    let runs: Vec<(usize, f64)> = own.map(|run| (run.key.repeat, metric.of(run))).collect();
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
    // One triple says nothing of the others.
    (all > 1).then(|| 100.0 * f64::from(beyond) / f64::from(all))
}

/// The methods by their error, as published and as found.
fn order(main: &Finished) -> Option<String> {
    let metric = main.part.metrics[0];
    let ranked = |of: &dyn Fn(Candidate) -> Option<Spread>| -> Option<String> {
        let printed =
            main.candidates().into_iter().filter(|&one| main.published(one, metric).is_some());
        let mut found: Vec<(Candidate, f64)> =
            printed.filter_map(|candidate| Some((candidate, of(candidate)?.mean))).collect();
        if found.is_empty() {
            return None;
        }
        // What is no number comes last, whatever is better.
        let sign = if metric.is_better_high() { -1.0 } else { 1.0 };
        let place = |value: f64| (value.is_nan(), sign * value);
        found.sort_by(|a, b| {
            let (a, b) = (place(a.1), place(b.1));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
        let names: Vec<String> = found
            .iter()
            .map(|(candidate, _)| main.kept.config.comparison.name(*candidate))
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

/// Where methods differ from no augmentation, with few rows and with many.
fn by_size(main: &Finished) -> Vec<String> {
    let config = &main.kept.config.comparison;
    let mut told = vec![];
    for candidate in main.candidates() {
        let Some(reference) = config.reference(candidate).filter(|one| *one != candidate) else {
            continue;
        };
        let at = |wanted: Finding| -> String {
            let found: Vec<String> = config
                .sizes
                .iter()
                .filter_map(|&size| {
                    let line = main.kept.line(size, candidate)?;
                    let percent = 100.0 * line.difference?.mean.exp_m1().abs();
                    (line.finding == wanted).then(|| Some(format!("{} ({percent:.0} %)", size?)))?
                })
                .collect();
            if found.is_empty() { "no size".into() } else { found.join(", ") }
        };
        told.push(format!(
            "{}: a smaller RMSE than {} at {}; a larger one at {}.",
            config.name(candidate),
            config.name(reference),
            at(Finding::Helps),
            at(Finding::Hurts)
        ));
    }
    told
}

fn how_it_was_run(out: &mut String, finished: &[Finished]) {
    out.push_str("\n## How it was run\n");
    for Finished { part, kept } in finished {
        let _ = write!(
            out,
            "\n**{}** ({} rows, {}{}): {}. The times of all {} runs add up to {:.0} s; the command above writes each of them \
             to `{}.json`.\n",
            part.title,
            kept.rows,
            seeds(part),
            if part.trainings > 1 {
                format!(", {} trainings on each", part.trainings)
            } else {
                String::new()
            },
            rows_of(kept, part),
            kept.runs.len(),
            kept.seconds(),
            part.name
        );
        if kept.config.comparison.specs.is_empty() {
            let _ = writeln!(
                out,
                "Every method tries {} settings (rate, weight decay and its own strength; the same rates and decays for \
                 all) and keeps the one with the least error on the validation rows. The first setting: {}.",
                kept.config.comparison.tune,
                network(&kept.config.comparison.network)
            );
            continue;
        }
        out.push_str("\n| | settings |\n| :-- | :-- |\n");
        for (place, spec) in kept.config.comparison.specs.iter().enumerate() {
            let mut words = match (&spec.kind, kept.config.deep.get(place)) {
                (_, Some(recipe)) => deep(recipe),
                (Some(Kind::Network(settings)), _) => network(settings),
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

fn seeds(part: &Part) -> String {
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

/// Which rows are learnt from and which are held out.
fn rows_of(kept: &Kept, part: &Part) -> String {
    let mut words = match &kept.config.splits {
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
            let what = part.data.in_words();
            format!("{train} training, {valid} validation and {test} test rows: {what}")
        }
    };
    if part.network.is_some() {
        return words;
    }
    words += match part.prepared {
        Prepared::AllRows => {
            "; features scaled to 0…1 and filled over all rows, test rows among them, as published; targets as they are"
        }
        Prepared::TrainingRows => "; scales and fillings from training rows only",
    };
    words
}

/// A network and its training, in words.
fn network(recipe: &NetworkConfig) -> String {
    let hidden: Vec<String> = recipe.hidden.iter().map(usize::to_string).collect();
    let mut words = format!("network d-{}-1, {}", hidden.join("-"), training(&recipe.training));
    if let Some(augment) = &recipe.augment {
        let place = if augment.layer == 0 { "inputs" } else { "the first hidden layer" };
        let _ = write!(words, "; {} on {place}", describe::method(&augment.method));
    }
    words
}

/// A deep network and its training, in words.
fn deep(recipe: &DeepRecipe) -> String {
    let mut words = recipe.network.name().to_owned();
    match &recipe.network {
        Description::Lstnet(net) => {
            let _ = write!(
                words,
                " ({} channels, {} and {} recurrent units)",
                net.channels, net.hidden, net.skip_hidden
            );
        }
        Description::Resnet18(net) => {
            words += match net.weights {
                Some(_) => " (weights of a file at first)",
                None => " (fresh weights: no ImageNet weights were given)",
            };
        }
        Description::Deepdta(_) => {}
    }
    let _ = write!(words, ", {}", training(&recipe.training));
    if let Some(augment) = &recipe.augment {
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
    if let Some(device) = &recipe.device {
        let _ = write!(words, "; trained on {device}");
    }
    words
}

/// A training, in words.
fn training(training: &Training) -> String {
    let optimizer = match training.optimizer {
        Optimizer::Adam { .. } => "Adam",
        Optimizer::AdamW { .. } => "AdamW",
        Optimizer::Sgd { .. } => "SGD",
    };
    let mut words = format!(
        "{optimizer}, rate {}, batches of {}, {} epochs",
        training.rate, training.batch, training.epochs
    );
    if training.weight_decay > 0.0 {
        let _ = write!(words, ", weight decay {}", training.weight_decay);
    }
    words
}

/// The list of all experiments.
pub(super) fn index(experiments: &[Experiment], output: &Path) -> String {
    let mut out = format!(
        "{MARK}\n# The paper, reproduced\n\nEvery experiment of *Anchor Data Augmentation* (NeurIPS 2023) that fits our networks, \
         from raw data to the page, by `windlass-paper reproduce all`. Each page has our numbers beside the published ones.\n\n\
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
