//! Automatic selection of a model by cross-validation.
//!
//! Every entry of a small portfolio (networks with and without manifold ADA, ridge regressions, random forests)
//! is fitted once per fold. Entries are blended with the weights that minimize the error of their out-of-fold
//! predictions ([`Blend`]), and the fits of an entry on different folds are averaged, so that the ensemble is
//! trained on all rows. If rows are split by time, no fit has seen the latest rows, and the entries of the ensemble
//! are fitted again on all rows. The weights are the mean over folds of those selected without the fold, and the
//! reported error of a fold is that of the weights selected without it.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use ndarray::{Array2, Axis};
use rayon::prelude::*;
use windlass::GammaDistribution;
use windlass_table::{AdaConfig, AnchorSource, ClusterCount, MethodConfig, select};
use windlass_train::{Activation, FittedOn, Outcome, RunResult, TrainConfig, Watch, run_all};

use crate::config::{AutoConfig, InLoopAugmentConfig, Kind, NetworkConfig, Validation};
use crate::ensemble::Blend;
use crate::fit::{FitContext, FoldBatches, Trained, check_sizes};
use crate::forest::ForestSettings;
use crate::held_out::{HeldOut, OofPredictions, WeightedFits};
use crate::metadata::{AutoSelection, FarGroups, PortfolioResult};
use crate::metrics::Metrics;
use crate::model::{EnsembleMember, Model};
use crate::network::{NetworkFold, epochs_kept, member_seed};
use crate::preprocessing::ColumnNote;
use crate::split::{Fold, Split, groups_of};
use crate::{Error, Result};

#[derive(Debug, Clone)]
struct PortfolioEntry {
    name: String,
    kind: Kind,
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
        let training = TrainConfig { learning_rate, weight_decay, ..TrainConfig::default() };
        let network = NetworkConfig {
            hidden: vec![128, 128],
            activation: Activation::Relu,
            training,
            augment,
            valid: Validation::Folds(0),
            split: split.clone(),
            valid_seed: None,
        };
        let name = format!("network{with}, rate {learning_rate}, decay {weight_decay}");
        Self { name, kind: Kind::Network(Box::new(network)) }
    }

    fn ridge(penalty: f64) -> Self {
        Self { name: format!("ridge, penalty {penalty}"), kind: Kind::Ridge { penalty } }
    }

    fn forest(leaf: usize) -> Self {
        let settings = ForestSettings { leaf, ..ForestSettings::default() };
        Self { name: format!("forest, leaves of {leaf}"), kind: Kind::Forest(settings) }
    }
}

fn ada(anchors: AnchorSource, gamma: GammaDistribution, layer: usize) -> InLoopAugmentConfig {
    let method = MethodConfig::Ada(AdaConfig { anchors, gamma, ..AdaConfig::default() });
    InLoopAugmentConfig { method, layer, originals: false, fitted_on: FittedOn::TrainingRows }
}

/// The entries for a table of this size. Large tables need less weight decay.
fn portfolio(rows: usize, split: &Split) -> Vec<PortfolioEntry> {
    let decays = match rows {
        0..300 => [1.0, 0.2],
        300..1000 => [0.3, 0.03],
        _ => [0.1, 0.01],
    };
    let mut portfolio = vec![];
    for weight_decay in decays {
        for rate in [1e-3, 4e-3] {
            portfolio.push(PortfolioEntry::network(rate, weight_decay, None, split));
            let manifold = ada(AnchorSource::KMeans, GammaDistribution::default(), 1);
            portfolio.push(PortfolioEntry::network(rate, weight_decay, Some(manifold), split));
        }
    }
    portfolio.extend([0.1, 1.0, 10.0, 100.0].map(PortfolioEntry::ridge));
    portfolio.extend([1, 3].map(PortfolioEntry::forest));
    portfolio
}

impl AutoConfig {
    /// Number of networks that are trained at most for these rows, and the epochs of each.
    #[must_use]
    pub fn networks(&self, rows: &RecordBatch) -> (usize, usize) {
        let portfolio = portfolio(rows.num_rows(), &self.split);
        let networks = portfolio.iter().filter(|entry| matches!(entry.kind, Kind::Network(_)));
        let folds = self.split.fold_count(rows, self.folds).unwrap_or(self.folds);
        let runs = if self.split.refits() { 2 * folds } else { folds };
        (networks.count() * runs, TrainConfig::default().epochs)
    }
}

/// A portfolio entry with its fits, one per fold.
struct FittedEntry {
    entry: PortfolioEntry,
    members: Vec<EnsembleMember>,
    /// Of networks, the epochs that each fit kept.
    epochs: Vec<usize>,
    predictions: OofPredictions,
}

pub(crate) fn train(
    context: &FitContext<'_>,
    config: &AutoConfig,
    watch: &dyn Watch,
) -> Result<Trained> {
    let table = context.train.table;
    if config.folds < 2 {
        let (name, range, got) = ("folds", "[2, inf)", config.folds as f64);
        return Err(windlass::Error::OutOfRange { name, range, got }.into());
    }
    check_sizes(context.train)?;
    let count = config.split.fold_count(&table.batch, config.folds)?;
    let folds = config.split.folds(&table.batch, count, context.seed())?;
    let portfolio = portfolio(table.batch.num_rows(), &config.split);
    let (mut fitted, notes) = fit_portfolio(context, &portfolio, &folds, watch)?;
    let mut fits = portfolio.len() * folds.len();
    let entries: Vec<&OofPredictions> = fitted.iter().map(|entry| &entry.predictions).collect();
    let Blend { mut weights, predicted } = Blend::fit(&entries, &folds);
    let OofPredictions { y, weights: row_weights, .. } = entries[0];
    let mut predictions = OofPredictions { y: y.clone(), predicted, weights: row_weights.clone() };
    let mut far_groups = None;
    if config.larger_shifts
        && let Some(column) = config.split.group_column()
    {
        let (report, anchored, more) = compare_on_far_groups(context, column, watch)?;
        fits += more;
        if report.chooses_anchors() {
            let (mut alone, _) = fit_portfolio(context, &[anchored], &folds, watch)?;
            fits += folds.len();
            predictions.predicted.assign(&alone[0].predictions.predicted);
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
            Some(worst_domain(&select(&table.batch, &held_out), column, &predictions)?)
        }
        Split::Rows | Split::Group(_) | Split::Time(_) => None,
    };
    let rows = folds.iter().map(|fold| select(&table.batch, &fold.held_out)).collect();
    let weighted = fitted.iter().zip(&weights).filter(|(_, weight)| **weight > 0.0);
    let weighted =
        weighted.map(|(fitted, &weight)| WeightedFits { weight, members: fitted.members.clone() });
    let held_out = HeldOut { fits: weighted.collect(), rows, predictions };
    if config.split.refits() {
        fits += refit(context, &mut fitted, &weights, watch)?;
    }
    let (mut members, mut portfolio) = (vec![], vec![]);
    for (fitted, &weight) in fitted.into_iter().zip(&weights) {
        let PortfolioEntry { name, kind } = fitted.entry;
        let rmse = fitted.predictions.metrics().rmse;
        portfolio.push(PortfolioResult { name, kind, rmse, weight });
        if weight > 0.0 {
            let weight = weight / fitted.members.len() as f64;
            let weighted = |member| EnsembleMember { weight, ..member };
            members.extend(fitted.members.into_iter().map(weighted));
        }
    }
    portfolio.sort_by(|a, b| a.rmse.total_cmp(&b.rmse));
    let mut model = Model::new(context.config, members, table, &table.batch)?;
    model.metadata.valid = Some(held_out.predictions.metrics());
    let folds = folds.len();
    model.metadata.selection = Some(AutoSelection { portfolio, fits, folds, worst, far_groups });
    model.metadata.notes = ColumnNote::lines(notes);
    let held_out = Some(held_out);
    Ok(Trained { model, histories: vec![], diverged: None, cancelled: false, held_out })
}

/// Fits every entry once per fold, with notes on omitted columns; refused as interrupted if it is cancelled.
fn fit_portfolio(
    context: &FitContext<'_>,
    portfolio: &[PortfolioEntry],
    folds: &[Fold],
    watch: &dyn Watch,
) -> Result<(Vec<FittedEntry>, Vec<ColumnNote>)> {
    let batch = &context.train.table.batch;
    let folds: Vec<FoldBatches> = folds.iter().map(|fold| FoldBatches::new(batch, fold)).collect();
    let (mut network_folds, mut notes) = (vec![], vec![]);
    for fold in &folds {
        let (fold, omitted) = NetworkFold::new(context, fold)?;
        notes.extend(omitted);
        network_folds.push(fold);
    }
    let mut specs = vec![];
    for entry in portfolio {
        if let Kind::Network(network) = &entry.kind {
            for (number, fold) in network_folds.iter().enumerate() {
                specs.push(fold.spec(network, member_seed(context.seed(), number))?);
            }
        }
    }
    let results: Vec<RunResult> =
        run_all(&specs, watch, |_, _| {}).into_iter().collect::<Result<_, _>>()?;
    if results.iter().any(|result| result.outcome == Outcome::Cancelled) {
        return Err(windlass_table::Error::Interrupted.into());
    }
    let mut results = results.into_iter();
    let mut fitted = vec![];
    for entry in portfolio {
        let mut epochs = vec![];
        let members: Vec<EnsembleMember> = match &entry.kind {
            Kind::Network(_) => {
                let networks = results.by_ref().take(folds.len());
                let trained = network_folds.iter().zip(networks);
                let member = |(fold, result): (&NetworkFold<'_>, RunResult)| {
                    epochs.push(epochs_kept(&result));
                    fold.member(result.network, 1.0)
                };
                trained.map(member).collect()
            }
            kind => folds
                .par_iter()
                .map(|fold| Ok(context.fit(&fold.train, kind)?.0))
                .collect::<Result<_>>()?,
        };
        let predictions = context.out_of_fold_predictions(&members, &folds)?;
        let predictions = predictions.expect("every fold holds out rows");
        fitted.push(FittedEntry { entry: entry.clone(), members, epochs, predictions });
    }
    Ok((fitted, notes))
}

/// Fits the entries that have a weight again on all rows, because the fits on folds have not seen the latest rows:
/// networks as often as before, for as many epochs. Returns the number of fits.
fn refit(
    context: &FitContext<'_>,
    fitted: &mut [FittedEntry],
    weights: &[f64],
    watch: &dyn Watch,
) -> Result<usize> {
    let batch = &context.train.table.batch;
    let whole = FoldBatches { train: batch.clone(), valid: None };
    let whole = NetworkFold::new(context, &whole)?.0;
    let chosen = || fitted.iter().zip(weights).filter(|(_, weight)| **weight > 0.0);
    let mut specs = vec![];
    for (fitted, _) in chosen() {
        if let Kind::Network(network) = &fitted.entry.kind {
            for (number, &epochs) in fitted.epochs.iter().enumerate() {
                specs.push(whole.refit(network, epochs, member_seed(context.seed(), number))?);
            }
        }
    }
    let results: Vec<RunResult> =
        run_all(&specs, watch, |_, _| {}).into_iter().collect::<Result<_, _>>()?;
    if results.iter().any(|result| result.outcome == Outcome::Cancelled) {
        return Err(windlass_table::Error::Interrupted.into());
    }
    let mut fits = results.len();
    let mut results = results.into_iter();
    for (fitted, _) in fitted.iter_mut().zip(weights).filter(|(_, weight)| **weight > 0.0) {
        fitted.members = match &fitted.entry.kind {
            Kind::Network(_) => {
                let networks = results.by_ref().take(fitted.epochs.len());
                networks.map(|result| whole.member(result.network, 1.0)).collect()
            }
            kind => {
                fits += 1;
                vec![context.fit(batch, kind)?.0]
            }
        };
    }
    Ok(fits)
}

/// The domain with the largest error.
fn worst_domain(
    rows: &RecordBatch,
    column: &str,
    predictions: &OofPredictions,
) -> Result<(String, Metrics)> {
    let metrics = |(name, rows): (Option<String>, Vec<usize>)| {
        let pick = |all: &Array2<f64>| all.select(Axis(0), &rows);
        let group = OofPredictions {
            y: pick(&predictions.y),
            predicted: pick(&predictions.predicted),
            weights: predictions
                .weights
                .as_ref()
                .map(|all| rows.iter().map(|&row| all[row]).collect()),
        };
        (name.unwrap_or_else(|| "(missing)".into()), group.metrics())
    };
    let groups = groups_of(rows, column)?.into_iter().map(metrics);
    Ok(groups.max_by(|a, b| a.1.rmse.total_cmp(&b.1.rmse)).expect("two groups at least"))
}

/// The third of the groups whose means are farthest from the mean of all rows, with their rows.
fn farthest_groups(context: &FitContext<'_>, column: &str) -> Result<BTreeMap<String, Vec<usize>>> {
    let batch = &context.train.table.batch;
    let whole = FoldBatches { train: batch.clone(), valid: None };
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
    watch: &dyn Watch,
) -> Result<(FarGroups, PortfolioEntry, usize)> {
    let split = Split::Group(column.to_owned());
    let far = farthest_groups(context, column)?;
    let rows = context.train.table.batch.num_rows();
    let fold = Fold::holding_out(far.values().flatten().copied().collect(), rows);
    let domain = || AnchorSource::Column(column.to_owned());
    let mut entries = portfolio(rows, &split);
    let plain = entries.len();
    for gamma in [2.0, 5.0, 10.0, 30.0, 100.0] {
        let (anchors, clusters) = (domain(), ClusterCount::Auto);
        let kind = Kind::Anchor { anchors, clusters, gamma, penalty: 0.0 };
        entries.push(PortfolioEntry { name: format!("anchor regression, γ = {gamma}"), kind });
    }
    for gamma in [2.0, 5.0, 10.0] {
        let augment = ada(domain(), GammaDistribution::List(vec![gamma]), 0);
        entries.push(PortfolioEntry::network(1e-3, 0.2, Some(augment), &split));
    }
    let (fitted, _) = fit_portfolio(context, &entries, &[fold], watch)?;
    let best = |from: &[FittedEntry]| {
        let error = |fitted: &FittedEntry| fitted.predictions.metrics().rmse;
        let best = from.iter().min_by(|a, b| error(a).total_cmp(&error(b))).expect("an entry");
        (best.entry.clone(), error(best))
    };
    let (plain, anchored) = fitted.split_at(plain);
    let (plain, anchored) = (best(plain), best(anchored));
    let report = FarGroups {
        groups: far.keys().cloned().collect(),
        plain: (plain.0.name, plain.1),
        anchored: (anchored.0.name.clone(), anchored.1),
    };
    Ok((report, anchored.0, entries.len()))
}
