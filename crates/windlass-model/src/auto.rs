//! Automatic selection of a model by cross-validation.
//!
//! Every entry of a small portfolio (ridge regressions, a Gaussian process, a random forest, extra trees, boosted
//! trees, networks with and without manifold ADA) is fitted once per fold. Entries are blended with the weights that
//! minimize the error of their out-of-fold predictions ([`Blend`]), and entries with a weight are fitted again on all
//! rows: networks once for every fold, with the seeds of the folds. Networks are trained for a fixed number of epochs with a learning rate that falls to
//! 0: held-out rows that chose the best epoch would have errors that are too small, and networks too much weight.
//!
//! The weights are the mean over folds of those selected without the fold, and the reported error of a fold is that
//! of the weights selected without it. The model keeps the fits on folds: prediction intervals need them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use ndarray::{Array2, Axis};
use windlass::GammaDistribution;
use windlass_table::{AdaConfig, AnchorSource, ClusterCount, LoadedTable, MethodConfig, select};
use windlass_train::{Activation, Epoch, EpochProgress, FittedOn, RunSpec, Schedule, TrainConfig};

use crate::config::{AutoConfig, InLoopAugmentConfig, Kind, NetworkConfig, Validation};
use crate::ensemble::Blend;
use crate::fit::{FitContext, FoldBatches, Trained, check_sizes};
use crate::gp::GaussianProcessSettings;
use crate::metadata::{
    AutoSelection, DomainMetrics, EntryError, FarGroups, FoldWeight, PortfolioResult,
};
use crate::metrics::Metrics;
use crate::model::{EnsembleMember, Model};
use crate::network::{NetworkFold, member_seed, run_networks};
use crate::out_of_fold::OutOfFold;
use crate::preprocessing::{ColumnNote, Encoding};
use crate::split::{Fold, Split, groups_of};
use crate::trees::{BoostingSettings, ForestSettings};
use crate::{Error, Result};

#[derive(Debug, Clone)]
struct PortfolioEntry {
    name: String,
    kind: Kind,
    encoding: Encoding,
}

impl PortfolioEntry {
    fn network(
        learning_rate: f64,
        weight_decay: f64,
        augment: Option<InLoopAugmentConfig>,
        split: &Split,
    ) -> Self {
        let with = augment.as_ref().map_or(String::new(), |augment| {
            let layer = if augment.layer == 0 { "" } else { "manifold " };
            let gamma = match &augment.method {
                MethodConfig::Ada(AdaConfig { gamma: GammaDistribution::List(list), .. }) => {
                    format!(", γ = {}", list[0])
                }
                _ => String::new(),
            };
            format!(" with {layer}{}{gamma}", augment.method.name())
        });
        let schedule = Schedule::Cosine;
        let usual = TrainConfig::default();
        let training = TrainConfig { learning_rate, weight_decay, schedule, ..usual };
        let network = NetworkConfig {
            hidden: vec![128, 128],
            activation: Activation::Relu,
            training,
            augment,
            valid: Validation::None,
            split: split.clone(),
            valid_seed: None,
        };
        let name = format!("network{with}, rate {learning_rate}, decay {weight_decay}");
        Self::new(name, Kind::Network(Box::new(network)))
    }

    fn ridge(penalty: f64) -> Self {
        Self::new(format!("ridge, penalty {penalty}"), Kind::Ridge { penalty })
    }

    fn trees() -> [Self; 3] {
        [
            Self::new("random forest".into(), Kind::Forest(ForestSettings::default())),
            Self::new("extra trees".into(), Kind::ExtraTrees(ForestSettings::default())),
            Self::new("boosted trees".into(), Kind::Boosting(BoostingSettings::default())),
        ]
    }

    fn gaussian_process() -> Self {
        let settings = GaussianProcessSettings::default();
        Self::new("Gaussian process".into(), Kind::GaussianProcess(settings))
    }

    fn new(name: String, kind: Kind) -> Self {
        Self { name, kind, encoding: Encoding::Numeric }
    }

    /// The same with one-hot encoding of integers with few values.
    fn one_hot(self) -> Self {
        let name = format!("{}, integers one-hot", self.name);
        Self { name, encoding: Encoding::OneHot, ..self }
    }
}

fn ada(anchors: AnchorSource, gamma: GammaDistribution, layer: usize) -> InLoopAugmentConfig {
    let method = MethodConfig::Ada(AdaConfig { anchors, gamma, ..AdaConfig::default() });
    InLoopAugmentConfig { method, layer, originals: false, fitted_on: FittedOn::TrainingRows }
}

/// The entries for a table. Large tables need less weight decay.
fn portfolio(table: &LoadedTable, split: &Split) -> Vec<PortfolioEntry> {
    let decays = match table.batch.num_rows() {
        0..300 => [1.0, 0.2],
        300..1000 => [0.3, 0.03],
        _ => [0.1, 0.01],
    };
    // What takes little time comes first.
    let mut portfolio: Vec<PortfolioEntry> =
        [0.1, 1.0, 10.0, 100.0].map(PortfolioEntry::ridge).into();
    portfolio.push(PortfolioEntry::gaussian_process());
    portfolio.extend(PortfolioEntry::trees());
    for weight_decay in decays {
        for rate in [1e-3, 4e-3] {
            portfolio.push(PortfolioEntry::network(rate, weight_decay, None, split));
            let manifold = ada(AnchorSource::KMeans, GammaDistribution::default(), 1);
            portfolio.push(PortfolioEntry::network(rate, weight_decay, Some(manifold), split));
        }
    }
    if Encoding::matters(table) {
        portfolio.push(PortfolioEntry::ridge(1.0).one_hot());
        portfolio.push(PortfolioEntry::network(4e-3, decays[1], None, split).one_hot());
    }
    portfolio
}

impl AutoConfig {
    /// The networks that are trained at most for these rows.
    #[must_use]
    pub fn networks(&self, table: &LoadedTable) -> NetworkRuns {
        let portfolio = portfolio(table, &self.split);
        let rows = &table.batch;
        let networks = portfolio.iter().filter(|entry| matches!(entry.kind, Kind::Network(_)));
        let folds = self.split.fold_count(rows, self.folds).unwrap_or(self.folds);
        // Each is fitted again on all rows if it has a weight.
        NetworkRuns { count: 2 * networks.count() * folds, epochs: TrainConfig::default().epochs }
    }
}

/// Networks to be trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NetworkRuns {
    /// Number of networks.
    pub count: usize,
    /// Epochs of each.
    pub epochs: usize,
}

/// A portfolio entry with its fits, one per fold.
struct FittedEntry {
    entry: PortfolioEntry,
    members: Vec<EnsembleMember>,
    predictions: OutOfFold,
}

pub(crate) fn train(
    context: &FitContext<'_>,
    config: &AutoConfig,
    progress: &dyn EpochProgress,
) -> Result<Trained> {
    let table = context.train.table;
    if config.folds < 2 {
        let (name, range, got) = ("folds", "[2, inf)", config.folds as f64);
        return Err(windlass::Error::OutOfRange { name, range, got }.into());
    }
    check_sizes(context.train)?;
    let folds = context.folds()?;
    let portfolio = portfolio(table, &config.split);
    let mut fitted = fit_in_time(context, &portfolio, &folds, config.time_limit, progress)?;
    let not_fitted = portfolio[fitted.len()..].iter().map(|entry| entry.name.clone()).collect();
    let mut fits = fitted.len() * folds.len();
    let entries: Vec<&OutOfFold> = fitted.iter().map(|entry| &entry.predictions).collect();
    let Blend { mut weights, predicted, .. } = Blend::fit(&entries);
    let mut out_of_fold = OutOfFold { predicted, ..entries[0].clone() };
    let mut far_groups = None;
    if config.larger_shifts
        && let Some(column) = config.split.group_column()
    {
        let (report, anchored, more) = compare_on_far_groups(context, column, progress)?;
        fits += more;
        if report.chooses_anchors() {
            let mut alone = fit_portfolio(context, &[anchored], &folds, progress)?;
            fits += folds.len();
            out_of_fold.predicted.assign(&alone[0].predictions.predicted);
            weights = vec![0.0; fitted.len()];
            weights.push(1.0);
            fitted.append(&mut alone);
        }
        far_groups = Some(report);
    }
    let worst = match &config.split {
        Split::Domain(column) => {
            let held_out: Vec<usize> =
                folds.iter().flat_map(|fold| fold.held_out.iter().copied()).collect();
            Some(worst_domain(&select(&table.batch, &held_out), column, &out_of_fold)?)
        }
        Split::Rows | Split::Group(_) | Split::Time(_) => None,
    };
    let mut portfolio: Vec<PortfolioResult> = vec![];
    for (fitted, &weight) in fitted.iter().zip(&weights) {
        let PortfolioEntry { name, kind, .. } = fitted.entry.clone();
        let rmse = fitted.predictions.metrics().rmse;
        portfolio.push(PortfolioResult { name, kind, rmse, weight });
    }
    portfolio.sort_by(|a, b| a.rmse.total_cmp(&b.rmse));
    let chosen = fitted.into_iter().zip(weights).filter(|(_, weight)| *weight > 0.0).collect();
    let FinalMembers { averaged, fold_only, refits } = final_members(context, chosen, progress)?;
    fits += refits;
    let model = Model::new(context.config, averaged, table, &table.batch)?;
    let mut model = model.with_out_of_fold(Some(out_of_fold), fold_only);
    let count = folds.len();
    model.metadata.selection =
        Some(AutoSelection { portfolio, fits, not_fitted, folds: count, worst, far_groups });
    model.metadata.notes = ColumnNote::lines(context.preprocessing(&table.batch)?.1);
    Ok(Trained::complete(model, folds))
}

/// Fits entries one after the other as long as there is time, the first in any case; without a limit, all of them at
/// once.
fn fit_in_time(
    context: &FitContext<'_>,
    portfolio: &[PortfolioEntry],
    folds: &[FoldBatches],
    limit: Option<f64>,
    progress: &dyn EpochProgress,
) -> Result<Vec<FittedEntry>> {
    /// The fits on all rows take the rest.
    const FOR_FOLDS: f64 = 0.8;
    let Some(limit) = limit else { return fit_portfolio(context, portfolio, folds, progress) };
    if !(limit > 0.0 && limit.is_finite()) {
        let (name, range, got) = ("time", "(0, inf)", limit);
        return Err(windlass::Error::OutOfRange { name, range, got }.into());
    }
    let end = Instant::now() + Duration::from_secs_f64((FOR_FOLDS * limit).min(MAX_SECONDS));
    let deadline = Deadline { progress, end, cancelled: AtomicBool::new(false) };
    let mut fitted = vec![];
    for entry in portfolio {
        if !fitted.is_empty() && deadline.has_passed() {
            break;
        }
        match fit_portfolio(context, std::slice::from_ref(entry), folds, &deadline) {
            Ok(mut entries) => fitted.append(&mut entries),
            Err(Error::Table(windlass_table::Error::Interrupted))
                if !fitted.is_empty() && !deadline.cancelled.load(Ordering::Relaxed) =>
            {
                break;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(fitted)
}

/// A year: more than any run takes.
const MAX_SECONDS: f64 = 3e7;

/// Cancels training at a time.
struct Deadline<'a> {
    progress: &'a dyn EpochProgress,
    end: Instant,
    /// Whether it was cancelled before.
    cancelled: AtomicBool,
}

impl Deadline<'_> {
    fn has_passed(&self) -> bool {
        Instant::now() >= self.end
    }
}

impl EpochProgress for Deadline<'_> {
    fn epoch(&self, run: usize, epoch: &Epoch) -> bool {
        let proceed = self.progress.epoch(run, epoch);
        if !proceed {
            self.cancelled.store(true, Ordering::Relaxed);
        }
        proceed && !self.has_passed()
    }
}

/// Fits every entry once per fold; the error `Interrupted` if cancelled.
fn fit_portfolio(
    context: &FitContext<'_>,
    portfolio: &[PortfolioEntry],
    folds: &[FoldBatches],
    progress: &dyn EpochProgress,
) -> Result<Vec<FittedEntry>> {
    let mut network_folds = vec![];
    for encoding in [Encoding::Numeric, Encoding::OneHot] {
        let context = context.with_encoding(encoding);
        let is_used = |entry: &PortfolioEntry| {
            entry.encoding == encoding && matches!(entry.kind, Kind::Network(_))
        };
        for fold in folds.iter().filter(|_| portfolio.iter().any(is_used)) {
            network_folds.push((encoding, NetworkFold::new(&context, fold)?.0));
        }
    }
    let of_entry = |entry: &PortfolioEntry| {
        let encoding = entry.encoding;
        network_folds.iter().filter(move |fold| fold.0 == encoding).map(|(_, fold)| fold)
    };
    let mut specs = vec![];
    for entry in portfolio {
        if let Kind::Network(network) = &entry.kind {
            for (number, fold) in of_entry(entry).enumerate() {
                let spec = fold.spec(network, member_seed(context.seed(), number))?;
                specs.push(RunSpec { valid: None, ..spec });
            }
        }
    }
    let mut results = run_networks(&specs, progress)?.into_iter();
    let mut fitted = vec![];
    for entry in portfolio {
        let context = context.with_encoding(entry.encoding);
        let members: Vec<EnsembleMember> = match &entry.kind {
            Kind::Network(_) => {
                let trained = of_entry(entry).zip(results.by_ref());
                trained.map(|(fold, result)| fold.member(result.network, 0.0)).collect()
            }
            kind => context.fit_folds(folds, kind)?,
        };
        let predictions = context.out_of_fold_predictions(&members, folds)?;
        let predictions = predictions.expect("every fold holds out rows");
        fitted.push(FittedEntry { entry: entry.clone(), members, predictions });
    }
    Ok(fitted)
}

/// The members of a model.
struct FinalMembers {
    averaged: Vec<EnsembleMember>,
    /// Members that only predict their fold.
    fold_only: Vec<EnsembleMember>,
    /// Number of fits on all rows.
    refits: usize,
}

/// The members of the model: entries fitted again on all rows, networks as often as there are folds.
fn final_members(
    context: &FitContext<'_>,
    chosen: Vec<(FittedEntry, f64)>,
    progress: &dyn EpochProgress,
) -> Result<FinalMembers> {
    let batch = &context.train.table.batch;
    let whole = FoldBatches::whole(batch, None);
    // All rows after preprocessing, once for each encoding that networks use.
    let mut encoded: Vec<(Encoding, NetworkFold<'_>)> = vec![];
    let mut specs = vec![];
    for (fitted, _) in &chosen {
        let (Kind::Network(network), encoding) = (&fitted.entry.kind, fitted.entry.encoding) else {
            continue;
        };
        if encoded.iter().all(|(known, _)| *known != encoding) {
            let rows = NetworkFold::new(&context.with_encoding(encoding), &whole)?.0;
            encoded.push((encoding, rows));
        }
        let rows = rows_of(&encoded, encoding);
        for number in 0..fitted.members.len() {
            specs.push(rows.spec(network, member_seed(context.seed(), number))?);
        }
    }
    let mut networks = run_networks(&specs, progress)?.into_iter().map(|run| run.network);
    let (mut averaged, mut fold_only, mut refits) = (vec![], vec![], specs.len());
    for (fitted, weight) in chosen {
        let context = context.with_encoding(fitted.entry.encoding);
        let count = fitted.members.len();
        match &fitted.entry.kind {
            Kind::Network(_) => {
                let rows = rows_of(&encoded, fitted.entry.encoding);
                let networks = networks.by_ref().take(count);
                averaged.extend(networks.map(|one| rows.member(one, weight / count as f64)));
            }
            kind => {
                refits += 1;
                averaged.push(EnsembleMember { weight, ..context.fit(batch, kind)?.0 });
            }
        }
        fold_only.extend(fitted.members.into_iter().enumerate().map(|(fold, member)| {
            let fold = Some(FoldWeight { fold, weight });
            EnsembleMember { weight: 0.0, fold, ..member }
        }));
    }
    Ok(FinalMembers { averaged, fold_only, refits })
}

/// The rows of an encoding that is there.
fn rows_of<'a, 'b>(
    encoded: &'a [(Encoding, NetworkFold<'b>)],
    encoding: Encoding,
) -> &'a NetworkFold<'b> {
    let found = encoded.iter().find(|(known, _)| *known == encoding);
    &found.expect("networks of the encoding are chosen").1
}

/// The domain with the largest error.
fn worst_domain(
    rows: &RecordBatch,
    column: &str,
    predictions: &OutOfFold,
) -> Result<DomainMetrics> {
    let metrics = |(name, rows): (Option<String>, Vec<usize>)| {
        let pick = |all: &Array2<f64>| all.select(Axis(0), &rows);
        let weights: Option<Vec<f64>> =
            predictions.weights.as_ref().map(|all| rows.iter().map(|&row| all[row]).collect());
        let (y, predicted) = (pick(&predictions.y), pick(&predictions.predicted));
        let metrics = Metrics::compute(&y, &predicted, weights.as_deref());
        DomainMetrics { domain: name.unwrap_or_else(|| "(missing)".into()), metrics }
    };
    let groups = groups_of(rows, column)?.into_iter().map(metrics);
    Ok(groups
        .max_by(|a, b| a.metrics.rmse.total_cmp(&b.metrics.rmse))
        .expect("two groups at least"))
}

/// The third of the groups whose means are farthest from the mean of all rows, with their rows.
fn farthest_groups(context: &FitContext<'_>, column: &str) -> Result<BTreeMap<String, Vec<usize>>> {
    let batch = &context.train.table.batch;
    let whole = FoldBatches::whole(batch, None);
    let x = NetworkFold::new(context, &whole)?.0.train.x().mapv(f64::from);
    let mean = x.mean_axis(Axis(0)).expect("there are rows");
    let mut groups: Vec<(f64, String, Vec<usize>)> = groups_of(batch, column)?
        .into_iter()
        .map(|(name, rows)| {
            let own = x.select(Axis(0), &rows).mean_axis(Axis(0)).expect("a row at least");
            let distance = (&own - &mean).mapv(|off| off * off).sum();
            (distance, name.unwrap_or_else(|| "(missing)".into()), rows)
        })
        .collect();
    groups.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let third = groups.len().div_ceil(3);
    if groups.len() < 3 {
        let (column, found) = (column.to_owned(), groups.len());
        return Err(Error::FewDomains { column, found });
    }
    Ok(groups.into_iter().take(third).map(|(_, name, rows)| (name, rows)).collect())
}

/// Trains on the groups that are near to each other and tests on those that are far, with and without
/// anchors. Returns the errors, the best entry with anchors and the number of fits.
fn compare_on_far_groups(
    context: &FitContext<'_>,
    column: &str,
    progress: &dyn EpochProgress,
) -> Result<(FarGroups, PortfolioEntry, usize)> {
    let split = Split::Group(column.to_owned());
    let far = farthest_groups(context, column)?;
    let rows = context.train.table.batch.num_rows();
    let fold = Fold::holding_out(far.values().flatten().copied().collect(), rows);
    let fold = FoldBatches::new(&context.train.table.batch, &fold);
    let domain = || AnchorSource::Column(column.to_owned());
    let mut entries = portfolio(context.train.table, &split);
    let plain = entries.len();
    for gamma in [2.0, 5.0, 10.0, 30.0, 100.0] {
        let (anchors, clusters) = (domain(), ClusterCount::Auto);
        let kind = Kind::Anchor { anchors, clusters, gamma, penalty: 0.0 };
        entries.push(PortfolioEntry::new(format!("anchor regression, γ = {gamma}"), kind));
    }
    for gamma in [2.0, 5.0, 10.0] {
        let augment = ada(domain(), GammaDistribution::List(vec![gamma]), 0);
        entries.push(PortfolioEntry::network(1e-3, 0.2, Some(augment), &split));
    }
    let fitted = fit_portfolio(context, &entries, &[fold], progress)?;
    let best = |from: &[FittedEntry]| {
        let error = |fitted: &FittedEntry| fitted.predictions.metrics().rmse;
        let best = from.iter().min_by(|a, b| error(a).total_cmp(&error(b))).expect("an entry");
        (best.entry.clone(), EntryError { name: best.entry.name.clone(), rmse: error(best) })
    };
    let (plain, anchored) = fitted.split_at(plain);
    let ((_, plain), (entry, anchored)) = (best(plain), best(anchored));
    let groups = far.keys().cloned().collect();
    Ok((FarGroups { groups, plain, anchored }, entry, entries.len()))
}
