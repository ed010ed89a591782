//! A model chosen by rows held out in turn.
//!
//! Every candidate of a small portfolio (networks with and without manifold ADA, ridge, random forests) is
//! fitted once for each part of the rows that is held out, and judged by those. Candidates are then averaged with the
//! shares that make the error of held-out rows least (greedy selection: Caruana et al., *Ensemble selection
//! from libraries of models*, 2004,
//! [doi:10.1145/1015330.1015432](https://doi.org/10.1145/1015330.1015432)), and the fits of a candidate with
//! each other: a committee that has seen all rows. Shares are chosen without each part in turn and
//! averaged, and the error that is reported for a part is that of the shares chosen without it.

use std::collections::BTreeMap;

use arrow_array::RecordBatch;
use ndarray::{Array2, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use windlass::{GammaDistribution, Seed};
use windlass_table::{AdaConfig, AnchorSource, ClusterCount, MethodConfig, select};
use windlass_train::{Activation, FittedOn, Outcome, RunResult, Training, Watch, run_all};

use crate::config::{AutoConfig, InLoopAugmentConfig, Kind, NetworkConfig, Validation};
use crate::model::EnsembleMember;
use crate::split::groups_of;
use crate::train::{
    FoldBatches, OofPredictions, Prepared, Task, Trained, check_sizes, member_seed,
};
use crate::{Error, Fold, ForestSettings, Metrics, Model, Result, Split};

/// How a model was chosen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// What was tried, the best first.
    pub candidates: Vec<PortfolioResult>,
    /// Fits in all.
    pub fits: usize,
    /// Parts that were held out in turn.
    pub folds: usize,
    /// The group with the largest error, where groups were held out.
    pub worst: Option<(String, Metrics)>,
    /// Under larger shifts: the errors of the best candidates with and without anchors on the groups that
    /// lie farthest from the rest, when only the rest was learnt from.
    pub far_groups: Option<FarGroups>,
}

/// Errors on groups that are far from those that were learnt from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FarGroups {
    /// The groups.
    pub groups: Vec<String>,
    /// The best of the candidates that have no anchors, and its error.
    pub plain: (String, f64),
    /// The best of those that have.
    pub anchored: (String, f64),
}

impl FarGroups {
    /// Whether anchors are chosen: larger shifts are expected than those between these groups and the rest, so
    /// they may cost a little here.
    #[must_use]
    pub fn chooses_anchors(&self) -> bool {
        const COST: f64 = 1.05;
        self.anchored.1 < COST * self.plain.1
    }
}

/// A model that was tried.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PortfolioResult {
    /// In words.
    pub name: String,
    /// The model.
    pub kind: Kind,
    /// Its error (RMSE) on held-out rows.
    pub rmse: f64,
    /// Its share of the predictions.
    pub share: f64,
}

/// An idea of a model.
#[derive(Debug, Clone)]
struct PortfolioEntry {
    name: String,
    kind: Kind,
}

impl PortfolioEntry {
    fn network(
        rate: f64,
        weight_decay: f64,
        augment: Option<InLoopAugmentConfig>,
        split: &Split,
    ) -> Self {
        let with = augment.as_ref().map_or(String::new(), |augment| {
            let place = if augment.layer == 0 { "" } else { "manifold " };
            let gamma = match &augment.method {
                MethodConfig::Ada(AdaConfig { gamma: GammaDistribution::List(list), .. }) => {
                    format!(", γ = {}", list[0])
                }
                _ => String::new(),
            };
            format!(" with {place}{}{gamma}", augment.method.name())
        });
        let training = Training { rate, weight_decay, ..Training::default() };
        let network = NetworkConfig {
            hidden: vec![128, 128],
            activation: Activation::Relu,
            training,
            augment,
            valid: Validation::Folds(0),
            split: split.clone(),
            valid_seed: None,
        };
        let name = format!("network{with}, rate {rate}, decay {weight_decay}");
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

/// What is tried on so many rows. Large tables need less decay.
fn portfolio(rows: usize, split: &Split) -> Vec<PortfolioEntry> {
    let decays = match rows {
        0..300 => [1.0, 0.2],
        300..1000 => [0.3, 0.03],
        _ => [0.1, 0.01],
    };
    let mut ideas = vec![];
    for weight_decay in decays {
        for rate in [1e-3, 4e-3] {
            ideas.push(PortfolioEntry::network(rate, weight_decay, None, split));
            let manifold = ada(AnchorSource::KMeans, GammaDistribution::default(), 1);
            ideas.push(PortfolioEntry::network(rate, weight_decay, Some(manifold), split));
        }
    }
    ideas.extend([0.1, 1.0, 10.0, 100.0].map(PortfolioEntry::ridge));
    ideas.extend([1, 3].map(PortfolioEntry::forest));
    ideas
}

impl AutoConfig {
    /// The networks that are trained, and the epochs of each.
    #[must_use]
    pub fn networks(&self, rows: usize) -> (usize, usize) {
        let ideas = portfolio(rows, &self.split);
        let networks = ideas.iter().filter(|idea| matches!(idea.kind, Kind::Network(_))).count();
        (networks * self.folds, Training::default().epochs)
    }
}

/// A candidate with its fits and what they say of held-out rows.
struct FittedEntry {
    idea: PortfolioEntry,
    members: Vec<EnsembleMember>,
    judged: OofPredictions,
}

pub(crate) fn train(task: &Task<'_>, settings: &AutoConfig, watch: &dyn Watch) -> Result<Trained> {
    let Task { frame, path, recipe, .. } = *task;
    let seed = Seed(recipe.seed);
    if settings.folds < 2 {
        let (name, range, got) = ("folds", "[2, inf)", settings.folds as f64);
        return Err(windlass::Error::OutOfRange { name, range, got }.into());
    }
    check_sizes(&frame.batch, frame, path)?;
    let sides = settings.split.folds(&frame.batch, settings.folds, seed)?;
    let ideas = portfolio(frame.batch.num_rows(), &settings.split);
    let Some((mut pool, notes)) = attempt(task, &ideas, &sides, seed, watch)? else {
        return Err(windlass_table::Error::Interrupted.into());
    };
    let mut fits = ideas.len() * sides.len();
    let blend = Blend::of(&pool, &sides);
    let mut shares = blend.shares;
    let mut far_groups = None;
    let held: Vec<usize> = sides.iter().flat_map(|sides| sides.held.iter().copied()).collect();
    let mut honest = OofPredictions {
        y: pool[0].judged.y.clone(),
        predicted: blend.honest,
        weights: pool[0].judged.weights.clone(),
    };
    if settings.larger_shifts
        && let Split::Groups(column) = &settings.split
    {
        let far = farthest(task, column)?;
        let (report, anchored, more) = against_shifts(task, column, &far, watch)?;
        fits += more;
        if report.chooses_anchors() {
            let Some((mut alone, _)) = attempt(task, &[anchored], &sides, seed, watch)? else {
                return Err(windlass_table::Error::Interrupted.into());
            };
            fits += sides.len();
            honest.predicted.assign(&alone[0].judged.predicted);
            shares = vec![0.0; pool.len()];
            shares.push(1.0);
            pool.append(&mut alone);
        }
        far_groups = Some(report);
    }
    let worst = match &settings.split {
        Split::Groups(column) => Some(worst_group(&select(&frame.batch, &held), column, &honest)?),
        Split::Rows | Split::Time(_) => None,
    };
    let (mut members, mut candidates) = (vec![], vec![]);
    for (tried, &share) in pool.into_iter().zip(&shares) {
        let PortfolioEntry { name, kind } = tried.idea;
        candidates.push(PortfolioResult { name, kind, rmse: tried.judged.metrics().rmse, share });
        if share > 0.0 {
            let weight = share / tried.members.len() as f64;
            members.extend(
                tried.members.into_iter().map(|member| EnsembleMember { weight, ..member }),
            );
        }
    }
    candidates.sort_by(|a, b| a.rmse.total_cmp(&b.rmse));
    let choice = Choice { candidates, fits, folds: sides.len(), worst, far_groups };
    let valid = Some(honest.metrics());
    let model = Model::new(recipe, members, frame, &frame.batch, (valid, Some(choice)))?;
    Ok(Trained { model, notes, histories: vec![], diverged: None, cancelled: false })
}

/// Fits every idea without each part in turn; `None` if the watcher ended it.
fn attempt(
    task: &Task<'_>,
    ideas: &[PortfolioEntry],
    sides: &[Fold],
    seed: Seed,
    watch: &dyn Watch,
) -> Result<Option<(Vec<FittedEntry>, Vec<String>)>> {
    let parts: Vec<FoldBatches> =
        sides.iter().map(|sides| FoldBatches::of(&task.frame.batch, sides)).collect();
    let mut notes = vec![];
    let mut prepared: Vec<Prepared<'_>> = vec![];
    for part in &parts {
        let (part, left_out) = task.prepare(part)?;
        notes.extend(left_out);
        prepared.push(part);
    }
    notes.sort();
    notes.dedup();
    let mut specs = vec![];
    for idea in ideas {
        if let Kind::Network(network) = &idea.kind {
            for (fold, part) in prepared.iter().enumerate() {
                specs.push(part.spec(network, member_seed(seed, fold))?);
            }
        }
    }
    let results: Vec<RunResult> =
        run_all(&specs, watch, |_, _| {}).into_iter().collect::<Result<_, _>>()?;
    if results.iter().any(|result| result.outcome == Outcome::Cancelled) {
        return Ok(None);
    }
    let mut results = results.into_iter();
    let mut all_members: Vec<Vec<EnsembleMember>> = vec![];
    for idea in ideas {
        all_members.push(match &idea.kind {
            Kind::Network(_) => {
                let networks = results.by_ref().take(parts.len());
                prepared.iter().zip(networks).map(|(p, r)| p.member(r.network, 1.0)).collect()
            }
            kind => parts
                .par_iter()
                .map(|part| Ok(task.fit(&part.train, kind)?.0))
                .collect::<Result<_>>()?,
        });
    }
    let mut pool = vec![];
    for (idea, members) in ideas.iter().zip(all_members) {
        let judged = task.judge(&members, &parts)?.expect("parts are held out");
        pool.push(FittedEntry { idea: idea.clone(), members, judged });
    }
    Ok(Some((pool, notes)))
}

/// Shares of candidates.
struct Blend {
    shares: Vec<f64>,
    /// For every held-out row the prediction with shares that were chosen without its part.
    honest: Array2<f64>,
}

impl Blend {
    fn of(pool: &[FittedEntry], sides: &[Fold]) -> Self {
        let truth = &pool[0].judged;
        let spread =
            truth.y.var_axis(Axis(0), 0.0).mapv(|variance| variance.max(f64::MIN_POSITIVE));
        // Products of the errors of every two candidates, for each part.
        let mut products: Vec<Array2<f64>> = vec![];
        let mut first = 0;
        for part in sides {
            let rows = first..first + part.held.len();
            first = rows.end;
            products.push(Array2::from_shape_fn((pool.len(), pool.len()), |(a, b)| {
                let off = |of: usize, row: usize, target: usize| {
                    pool[of].judged.predicted[(row, target)] - truth.y[(row, target)]
                };
                let mut sum = 0.0;
                for row in rows.clone() {
                    let weight = truth.weights.as_ref().map_or(1.0, |weights| weights[row]);
                    for target in 0..truth.y.ncols() {
                        sum += weight * off(a, row, target) * off(b, row, target) / spread[target];
                    }
                }
                sum
            }));
        }
        let all =
            products.iter().fold(Array2::zeros((pool.len(), pool.len())), |sum, one| sum + one);
        let mut shares = vec![0.0; pool.len()];
        let mut honest = Array2::zeros(truth.y.raw_dim());
        let mut first = 0;
        for (part, product) in sides.iter().zip(&products) {
            let chosen = greedy(&(&all - product));
            for (share, chosen) in shares.iter_mut().zip(&chosen) {
                *share += chosen / sides.len() as f64;
            }
            for row in first..first + part.held.len() {
                for (tried, chosen) in pool.iter().zip(&chosen) {
                    let mut row_of = honest.row_mut(row);
                    row_of.scaled_add(*chosen, &tried.judged.predicted.row(row));
                }
            }
            first += part.held.len();
        }
        Self { shares, honest }
    }
}

/// Shares that make an error least, found one step at a time: each step adds the candidate that helps most,
/// perhaps again.
fn greedy(products: &Array2<f64>) -> Vec<f64> {
    const STEPS: usize = 20;
    let count = products.nrows();
    let mut taken = vec![0.0; count];
    // Σ over those taken of their products with each candidate, and of all with all.
    let (mut with, mut within) = (vec![0.0; count], 0.0);
    for step in 0..STEPS {
        let error = |one: usize| {
            let sum: f64 = within + 2.0 * with[one] + products[(one, one)];
            sum / ((step + 1) * (step + 1)) as f64
        };
        let best = (0..count).min_by(|&a, &b| error(a).total_cmp(&error(b))).expect("candidates");
        within += 2.0 * with[best] + products[(best, best)];
        taken[best] += 1.0;
        for (one, with) in with.iter_mut().enumerate() {
            *with += products[(one, best)];
        }
    }
    taken.iter().map(|taken| taken / STEPS as f64).collect()
}

/// The group with the largest error.
fn worst_group(
    rows: &RecordBatch,
    column: &str,
    judged: &OofPredictions,
) -> Result<(String, Metrics)> {
    let groups = groups_of(rows, column)?;
    let of = |(name, rows): (Option<String>, Vec<usize>)| {
        let pick = |of: &Array2<f64>| of.select(Axis(0), &rows);
        let weights: Option<Vec<f64>> =
            judged.weights.as_ref().map(|all| rows.iter().map(|&row| all[row]).collect());
        let metrics = Metrics::of(&pick(&judged.y), &pick(&judged.predicted), weights.as_deref());
        (name.unwrap_or_else(|| "(missing)".into()), metrics)
    };
    let worst = groups.into_iter().map(of).max_by(|a, b| a.1.rmse.total_cmp(&b.1.rmse));
    Ok(worst.expect("two groups at least"))
}

/// The third of the groups whose means lie farthest from those of all rows.
fn farthest(task: &Task<'_>, column: &str) -> Result<BTreeMap<String, Vec<usize>>> {
    let batch = &task.frame.batch;
    let part = FoldBatches { train: batch.clone(), valid: None };
    let (prepared, _) = task.prepare(&part)?;
    let x = prepared.features().mapv(f64::from);
    let mean = x.mean_axis(Axis(0)).expect("there are rows");
    let mut groups: Vec<(f64, String, Vec<usize>)> = groups_of(batch, column)?
        .into_iter()
        .map(|(name, rows)| {
            let own = x.select(Axis(0), &rows).mean_axis(Axis(0)).expect("a row at least");
            let far = (&own - &mean).mapv(|off| off * off).sum();
            (far, name.unwrap_or_else(|| "(missing)".into()), rows)
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

/// Learns from the groups that are near to each other and judges by those that are far: what larger shifts
/// than those learnt from do to candidates with and without anchors.
fn against_shifts(
    task: &Task<'_>,
    column: &str,
    far: &BTreeMap<String, Vec<usize>>,
    watch: &dyn Watch,
) -> Result<(FarGroups, PortfolioEntry, usize)> {
    let split = Split::Groups(column.to_owned());
    let mut held: Vec<usize> = far.values().flatten().copied().collect();
    held.sort_unstable();
    let rows = task.frame.batch.num_rows();
    let train = (0..rows).filter(|row| held.binary_search(row).is_err()).collect();
    let sides = [Fold { train, held }];
    let domain = || AnchorSource::Column(column.to_owned());
    let plain: Vec<PortfolioEntry> = portfolio(rows, &split);
    let mut ideas = plain.clone();
    for gamma in [2.0, 5.0, 10.0, 30.0, 100.0] {
        let (anchors, clusters) = (domain(), ClusterCount::Auto);
        let kind = Kind::Anchor { anchors, clusters, gamma, penalty: 0.0 };
        ideas.push(PortfolioEntry { name: format!("anchor regression, γ = {gamma}"), kind });
    }
    for gamma in [2.0, 5.0, 10.0] {
        let augment = ada(domain(), GammaDistribution::List(vec![gamma]), 0);
        ideas.push(PortfolioEntry::network(1e-3, 0.2, Some(augment), &split));
    }
    let seed = Seed(task.recipe.seed);
    let Some((pool, _)) = attempt(task, &ideas, &sides, seed, watch)? else {
        return Err(windlass_table::Error::Interrupted.into());
    };
    let best = |from: &[FittedEntry]| {
        let error = |tried: &FittedEntry| tried.judged.metrics().rmse;
        let best = from.iter().min_by(|a, b| error(a).total_cmp(&error(b))).expect("candidates");
        (best.idea.clone(), error(best))
    };
    let (without, with) = pool.split_at(plain.len());
    let (plain, anchored) = (best(without), best(with));
    let report = FarGroups {
        groups: far.keys().cloned().collect(),
        plain: (plain.0.name, plain.1),
        anchored: (anchored.0.name.clone(), anchored.1),
    };
    Ok((report, anchored.0, ideas.len()))
}
