//! Hyperparameter search, and an unbiased estimate of the gain from augmentation.
//!
//! A search tries settings one after the other and chooses the next by those before (tree-structured Parzen
//! estimators: Bergstra et al., *Algorithms for hyper-parameter optimization*, 2011). Settings are scored by
//! cross-validation inside the training rows. This is nested in an outer cross-validation: in every outer fold, one
//! search may augment and one of the same length may not; their difference on the test rows, which neither uses, is
//! the gain of augmentation. Two final searches on all rows find the settings to use.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::{Duration, Instant};

use rand_core::TryRng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use tpe::density_estimation::DefaultEstimatorBuilder;
use tpe::{TpeOptimizer, TpeOptimizerBuilder};
use windlass::{
    Draws, METHODS, MethodInfo, MethodParams, RowProvenance, SearchRange, Seed, Stream,
};
use windlass_model::{
    CrossValidation, Drift, InLoopAugmentConfig, Kind, Metrics, Model, ModelConfig, NamedTable,
    PreAugmentConfig, Scaling, Split, Validation,
};
use windlass_table::{Columns, LoadedTable, MethodConfig};
use windlass_train::{FittedOn, TrainConfig};

use crate::candidate::{decays, point};
use crate::compare::CancelIf;
use crate::splits::salt;
use crate::statistics::{Interval, SplitSizes, log_ratio, over_splits};
use crate::{Error, Result};

/// The settings of a search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TuneConfig {
    /// Column roles.
    pub columns: Columns,
    /// Drop rows without a finite target.
    pub drop_missing_target: bool,
    /// Scaling of continuous columns.
    pub scaling: Scaling,
    /// Scaling of targets.
    pub target_scaling: Scaling,
    /// How rows are held out, in outer folds and inside them.
    pub split: Split,
    /// Outer folds; see [`Split::fold_count`].
    pub folds: usize,
    /// Folds inside the training rows.
    #[serde(rename = "inner")]
    pub inner_folds: usize,
    /// Trials of one search.
    pub trials: usize,
    /// Augment inputs only, not hidden layers.
    pub on_tables: bool,
    /// The model; its settings and its augmentation are searched: the learning rate, weight decay and epochs of a
    /// network, the penalty of ridge regression, the size of trees, nothing else of a Gaussian process.
    pub kind: Kind,
    /// The random seed.
    pub seed: u64,
}

/// Identifies a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SearchKey {
    /// The outer fold, from 0; `None` is all rows.
    pub fold: Option<usize>,
    /// Whether it may augment.
    pub augments: bool,
}

/// The settings of a trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrialSettings {
    /// The model. Networks augment inside the training loop.
    pub kind: Kind,
    /// Synthetic rows for a model that is not a network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pre_augment: Option<PreAugmentConfig>,
}

impl TrialSettings {
    /// A model without augmentation.
    fn plain(mut kind: Kind) -> Self {
        if let Kind::Network(network) = &mut kind {
            network.augment = None;
        }
        Self { kind, pre_augment: None }
    }

    /// The method, and the hidden layer after which it applies, if they augment.
    #[must_use]
    pub fn augment(&self) -> Option<(&MethodConfig, usize)> {
        match &self.kind {
            Kind::Network(network) => {
                network.augment.as_ref().map(|augment| (&augment.method, augment.layer))
            }
            _ => self.pre_augment.as_ref().map(|augment| (&augment.method, 0)),
        }
    }

    fn set_augment(&mut self, method: MethodConfig, layer: usize) {
        match &mut self.kind {
            Kind::Network(network) => {
                let (originals, fitted_on) = (false, FittedOn::TrainingRows);
                network.augment = Some(InLoopAugmentConfig { method, layer, originals, fitted_on });
            }
            _ => self.pre_augment = Some(PreAugmentConfig { method, copies: 0 }),
        }
    }
}

/// One evaluated setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The search.
    #[serde(flatten)]
    pub search: SearchKey,
    /// Its number in the search, from 0.
    pub number: usize,
    /// The settings.
    pub settings: TrialSettings,
    /// Validation RMSE, by which the search chooses.
    pub valid: f64,
    /// Errors on the test rows of the outer fold, which no search uses.
    pub test: Option<Metrics>,
    /// Duration.
    pub seconds: f64,
}

/// Mean test RMSE of the best settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(into = "(f64, f64)")]
pub struct TuneErrors {
    /// With augmentation.
    pub augmented: f64,
    /// Without.
    pub plain: f64,
}

impl From<TuneErrors> for (f64, f64) {
    fn from(errors: TuneErrors) -> Self {
        (errors.augmented, errors.plain)
    }
}

/// The outcome of all searches.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TuneResult {
    /// The log ratio of test RMSE with and without augmentation.
    pub difference: Interval,
    /// The same in every outer fold.
    pub differences: Vec<f64>,
    /// Mean test RMSE.
    pub errors: TuneErrors,
    /// Whether augmentation helps.
    pub helps: bool,
    /// The settings to use.
    pub settings: TrialSettings,
    /// Whether the table drifts.
    pub drift: Drift,
    /// The answer, in a sentence.
    pub verdict: String,
    /// Total number of trials.
    #[serde(rename = "attempts")]
    pub trials: usize,
}

/// Reports progress, and may cancel the search.
pub trait TrialProgress: Sync {
    /// Called after every trial.
    fn trial_done(&self, _trial: &Trial) -> Result<()> {
        Ok(())
    }

    /// Whether to cancel.
    fn cancelled(&self) -> bool {
        false
    }
}

impl TrialProgress for () {}

impl TuneConfig {
    /// Number of trials of all searches, without a time limit.
    #[must_use]
    pub fn total_trials(&self) -> usize {
        2 * (self.folds + 1) * self.trials
    }

    /// Runs all searches in parallel; trials in `done` are not repeated. With a time limit, every search gets an
    /// equal
    /// fraction of it. `None` if cancelled.
    pub fn run(
        &self,
        table: NamedTable<'_>,
        done: Vec<Trial>,
        time: Option<Duration>,
        progress: &dyn TrialProgress,
    ) -> Result<Option<Vec<Trial>>> {
        let loaded = table.table;
        let seed = Seed(Seed(self.seed).shared(Stream::Split, salt::OUTER).bits());
        let outer_folds = self
            .split
            .fold_count(&loaded.batch, self.folds)
            .and_then(|folds| self.split.folds(&loaded.batch, folds, seed))
            .map_err(|error| Error::from(error.locate(&loaded.places)).in_file(table.path))?;
        let searches = searches(outer_folds.len());
        let time_per_search = time.map(|time| {
            let rounds = searches.len().div_ceil(rayon::current_num_threads());
            time / u32::try_from(rounds).unwrap_or(u32::MAX)
        });
        let known: BTreeMap<(SearchKey, usize), Trial> =
            done.into_iter().map(|trial| ((trial.search, trial.number), trial)).collect();
        let results: Vec<Result<Vec<Trial>>> = searches
            .par_iter()
            .with_max_len(1)
            .map(|&key| {
                let (train, test) = match key.fold.map(|fold| &outer_folds[fold]) {
                    Some(fold) => (loaded.select(&fold.train), Some(loaded.select(&fold.held_out))),
                    None => (loaded.clone(), None),
                };
                let search = Search {
                    config: self,
                    key,
                    train: NamedTable { table: &train, path: table.path },
                    test,
                    known: &known,
                    deadline: time_per_search.map(|time| Instant::now() + time),
                    progress,
                };
                search.run()
            })
            .collect();
        let mut all = vec![];
        for trials in results {
            all.extend(trials?);
        }
        Ok((!progress.cancelled()).then_some(all))
    }

    /// Chooses the best settings and estimates the gain of augmentation.
    pub fn summarize(&self, table: NamedTable<'_>, trials: &[Trial]) -> Result<TuneResult> {
        let of = |fold: Option<usize>, augments: bool| {
            trials.iter().filter(move |trial| trial.search == SearchKey { fold, augments })
        };
        // The same number of trials of both searches: a time limit may have ended one earlier.
        let best = |fold: Option<usize>, augments: bool| {
            let both = of(fold, true).count().min(of(fold, false).count());
            let own = of(fold, augments).filter(|trial| trial.number < both);
            own.min_by(|a, b| a.valid.total_cmp(&b.valid))
        };
        let folds =
            trials.iter().filter_map(|trial| Some(trial.search.fold? + 1)).max().unwrap_or(0);
        let (mut differences, mut with, mut without, mut test_rows) = (vec![], 0.0, 0.0, 0);
        for fold in 0..folds {
            let test = |augments| best(Some(fold), augments).and_then(|trial| trial.test);
            if let (Some(own), Some(plain)) = (test(true), test(false)) {
                differences.push(log_ratio(own.rmse, plain.rmse));
                with += own.rmse;
                without += plain.rmse;
                test_rows += own.rows;
            }
        }
        let (Some(plain), Some(augmented)) = (best(None, false), best(None, true)) else {
            return Err(Error::NothingToCompare {
                what: "the time limit ended before the first trial",
            });
        };
        let count = differences.len().max(1);
        let all = table.table.batch.num_rows();
        let sizes = SplitSizes { train: all - test_rows / count, test: test_rows / count, all };
        let difference = over_splits(&differences, sizes);
        let helps = difference.high < 0.0 && augmented.settings.augment().is_some();
        let over = format!("over {} outer folds", differences.len());
        let verdict = if helps {
            format!("Augmentation helps: RMSE {}, {over}.", difference.in_words())
        } else {
            format!(
                "Train without augmentation: no evidence that it helps. RMSE {}, {over}.",
                difference.in_words()
            )
        };
        let settings = if helps { &augmented.settings } else { &plain.settings };
        Ok(TuneResult {
            difference,
            differences,
            errors: TuneErrors { augmented: with / count as f64, plain: without / count as f64 },
            helps,
            settings: settings.clone(),
            drift: Drift::check(table.table, &self.split)?,
            verdict,
            trials: trials.len(),
        })
    }
}

/// All searches: with and without augmentation, in every outer fold and on all rows.
fn searches(folds: usize) -> Vec<SearchKey> {
    let folds = (0..folds).map(Some).chain([None]);
    let both = |fold| [false, true].map(|augments| SearchKey { fold, augments });
    folds.flat_map(both).collect()
}

/// Random bits for the search, by seed and trial.
struct TpeRng(Draws);

impl TryRng for TpeRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.0.bits() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.0.bits())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.0.bits().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

/// A setting that is searched: a number on a logarithmic scale, or one of several choices.
struct TpeParam {
    optimizer: TpeOptimizer<DefaultEstimatorBuilder>,
    /// The range of the optimizer: logarithms, or indices of a list.
    ends: (f64, f64),
    range: Option<(f64, f64)>,
}

impl TpeParam {
    fn build(
        estimator: DefaultEstimatorBuilder,
        range: tpe::range::Range,
    ) -> TpeOptimizer<DefaultEstimatorBuilder> {
        // A quarter of the trials count as good: with few trials a tenth would be one or two.
        let built = TpeOptimizerBuilder::new().gamma(0.25).build(estimator, range);
        built.expect("settings in their range")
    }

    fn number(low: f64, high: f64) -> Self {
        let range = tpe::range(low.ln(), high.ln()).expect("two ends");
        let optimizer = Self::build(tpe::parzen_estimator(), range);
        Self { optimizer, ends: (low.ln(), high.ln()), range: Some((low, high)) }
    }

    fn choice(count: usize) -> Self {
        let range = tpe::categorical_range(count).expect("a choice");
        let optimizer = Self::build(tpe::histogram_estimator(), range);
        Self { optimizer, ends: (0.0, count as f64), range: None }
    }

    fn ask(&mut self, bits: &mut TpeRng) -> f64 {
        self.optimizer.ask(bits).expect("values that were told are in the range")
    }

    /// The value at a fraction of the range.
    fn at(&self, share: f64) -> f64 {
        let (low, high) = self.ends;
        low + share * (high - low)
    }

    fn tell(&mut self, value: f64, error: f64) {
        self.optimizer.tell(value, error).expect("values that were asked for");
    }

    /// Rounded to three digits, for readability.
    fn value(&self, asked: f64) -> f64 {
        match self.range {
            Some((low, high)) => {
                let value = asked.exp().clamp(low, high);
                format!("{value:.2e}").parse().unwrap_or(value)
            }
            None => asked.floor(),
        }
    }
}

/// The hyperparameters of a search. Each is updated only by the trials that used it.
struct SearchSpace {
    /// In the order of [`COORDINATES`].
    params: Vec<(&'static str, TpeParam)>,
    augments: bool,
    layers: usize,
    rows: usize,
}

/// Trials that fill the space, after the default settings.
const START: usize = 10;
const EPOCHS: [usize; 3] = [100, 200, 400];
/// Depths of the trees of forests.
const DEPTHS: [Option<usize>; 4] = [None, Some(4), Some(8), Some(16)];
/// Numbers of boosted trees.
const TREES: [usize; 3] = [300, 1000, 3000];
/// The largest depth of boosted trees.
const BOOSTED_DEPTH: usize = 8;
/// The coordinate of the Halton sequence that each hyperparameter follows in the first trials. Append only:
/// another order would be another search.
const COORDINATES: [&str; 18] = [
    "alpha",
    "bandwidth",
    "beta",
    "weight_decay",
    "epochs",
    "clusters",
    "gamma",
    "layer",
    "method",
    "target_noise",
    "cluster_on",
    "rate",
    "rho",
    "sigma",
    "penalty",
    "leaf",
    "depth",
    "trees",
];

/// The methods that are searched; the first is none.
fn methods() -> Vec<Option<&'static MethodInfo>> {
    let mut methods: Vec<&MethodInfo> =
        METHODS.iter().copied().filter(|method| method.in_tune).collect();
    methods.sort_by_key(|method| method.name);
    std::iter::once(None).chain(methods.into_iter().map(Some)).collect()
}

impl SearchSpace {
    fn new(config: &TuneConfig, augments: bool, rows: usize) -> Self {
        let (layers, decays) = match &config.kind {
            Kind::Network(network) => (network.hidden.len().min(2), decays(&network.training)),
            _ => (0, decays(&TrainConfig::default())),
        };
        let layers = if config.on_tables { 0 } else { layers };
        let depths =
            if matches!(config.kind, Kind::Boosting(_)) { BOOSTED_DEPTH } else { DEPTHS.len() };
        let most_clusters = (rows as f64 / 4.0).clamp(3.0, 64.0);
        let param = |name: &'static str| {
            let param = match name {
                "rate" => TpeParam::number(5e-4, 1e-2),
                "weight_decay" => TpeParam::number(decays.0, decays.1),
                "epochs" => TpeParam::choice(EPOCHS.len()),
                "penalty" => TpeParam::number(0.01, 1000.0),
                "leaf" => TpeParam::number(1.0, 10.0),
                "depth" => TpeParam::choice(depths),
                "trees" => TpeParam::choice(TREES.len()),
                "method" => TpeParam::choice(methods().len()),
                "layer" => TpeParam::choice(layers + 1),
                _ => match windlass::Param::named(name).and_then(|param| param.search) {
                    Some(
                        SearchRange::Log { low, high } | SearchRange::LogDeviations { low, high },
                    ) => TpeParam::number(low, high),
                    Some(SearchRange::Choices(choices)) => TpeParam::choice(choices.len()),
                    _ => TpeParam::number(2.0, most_clusters),
                },
            };
            (name, param)
        };
        Self { params: COORDINATES.map(param).into(), augments, layers, rows }
    }

    /// The next settings to try, and the value of each hyperparameter. The first trials fill the space evenly, with
    /// each method in turn.
    fn ask(
        &mut self,
        default: &Kind,
        number: usize,
        rng: &mut TpeRng,
    ) -> (TrialSettings, Vec<(&'static str, f64)>) {
        let (methods, mut asked) = (methods(), vec![]);
        let mut ask = |name: &'static str| {
            let place = COORDINATES.iter().position(|other| *other == name).unwrap_or(0);
            let param = &mut self.params[place].1;
            let value = match (number <= START, name) {
                (false, _) => param.ask(rng),
                (true, "method") => (number % methods.len()) as f64,
                (true, _) => param.at(point(number, 1 + place)),
            };
            asked.push((name, value));
            param.value(value)
        };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small")]
        let index = |value: f64| value as usize;
        let mut settings = TrialSettings::plain(default.clone());
        match &mut settings.kind {
            Kind::Network(network) => {
                network.training.learning_rate = ask("rate");
                network.training.weight_decay = ask("weight_decay");
                network.training.adapt_weight_decay = false;
                network.training.epochs = EPOCHS[index(ask("epochs"))];
            }
            Kind::Ridge { penalty } => *penalty = ask("penalty"),
            Kind::Forest(forest) | Kind::ExtraTrees(forest) => {
                forest.leaf = index(ask("leaf").round());
                forest.depth = DEPTHS[index(ask("depth"))];
            }
            Kind::Boosting(boosting) => {
                boosting.depth = 1 + index(ask("depth"));
                boosting.trees = TREES[index(ask("trees"))];
            }
            Kind::GaussianProcess(_) | Kind::Anchor { .. } | Kind::Auto(_) => {}
        }
        let method = if self.augments { methods[index(ask("method"))] } else { None };
        if let Some(method) = method {
            let mut params = MethodParams::default();
            for shared in method.search {
                let value = ask(shared[0].name);
                for param in *shared {
                    let text = match param.search {
                        Some(SearchRange::Choices(choices)) => choices[index(value)].to_owned(),
                        Some(SearchRange::LogDeviations { .. }) => format!("{value}sd"),
                        Some(SearchRange::Clusters) => {
                            index(value.round()).min(self.rows).to_string()
                        }
                        _ => value.to_string(),
                    };
                    (param.set)(&mut params, &text).expect("values of the search range");
                }
            }
            let hidden = self.layers > 0 && method.provenance != RowProvenance::Source;
            let layer = if hidden { index(ask("layer")) } else { 0 };
            let method = MethodConfig::new(method, &params).expect("parameters of the method");
            settings.set_augment(method, layer);
        }
        (settings, asked)
    }

    fn tell(&mut self, asked: Vec<(&'static str, f64)>, error: f64) {
        for (name, value) in asked {
            if let Some((_, param)) = self.params.iter_mut().find(|(own, _)| *own == name) {
                param.tell(value, error);
            }
        }
    }
}

/// One search inside the training rows.
struct Search<'a> {
    config: &'a TuneConfig,
    key: SearchKey,
    train: NamedTable<'a>,
    test: Option<LoadedTable>,
    known: &'a BTreeMap<(SearchKey, usize), Trial>,
    deadline: Option<Instant>,
    progress: &'a dyn TrialProgress,
}

impl Search<'_> {
    fn run(&self) -> Result<Vec<Trial>> {
        let config = self.config;
        let mut space =
            SearchSpace::new(config, self.key.augments, self.train.table.batch.num_rows());
        let fold = self.key.fold.map_or(0, |fold| fold as u64 + 1);
        let mut trials: Vec<Trial> = vec![];
        for number in 0..config.trials {
            let known = self.known.get(&(self.key, number));
            let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if known.is_none() && (self.progress.cancelled() || (late && number > 0)) {
                break;
            }
            let draws = Seed(config.seed).at(Stream::Split, salt::SEARCH | fold, number as u64);
            let mut bits = TpeRng(draws);
            // The default settings without augmentation come first, so that no search is worse than them.
            let (settings, asked) = match number {
                0 => (TrialSettings::plain(config.kind.clone()), vec![]),
                _ => space.ask(&config.kind, number, &mut bits),
            };
            let trial = if let Some(trial) = known {
                trial.clone()
            } else {
                // The same settings again: few can be chosen.
                let same = trials.iter().find(|trial| trial.settings == settings);
                let trial = match same {
                    Some(trial) => Some(Trial { number, seconds: 0.0, ..trial.clone() }),
                    None => self.evaluate(number, settings)?,
                };
                let Some(trial) = trial else { break };
                self.progress.trial_done(&trial)?;
                trial
            };
            space.tell(asked, trial.valid);
            trials.push(trial);
        }
        Ok(trials)
    }

    /// Evaluates settings; `None` if cancelled.
    fn evaluate(&self, number: usize, settings: TrialSettings) -> Result<Option<Trial>> {
        let (started, config) = (Instant::now(), self.config);
        let NamedTable { table: loaded, path } = self.train;
        let (folds, split) = (config.inner_folds, config.split.within(&loaded.batch)?);
        let mut kind = settings.kind.clone();
        let cross_validation = match &mut kind {
            Kind::Network(network) => {
                (network.valid, network.split) = (Validation::Folds(folds), split);
                None
            }
            _ => Some(CrossValidation { folds, split }),
        };
        let model_config = ModelConfig {
            columns: config.columns.clone(),
            drop_missing_target: config.drop_missing_target,
            scaling: config.scaling,
            target_scaling: config.target_scaling,
            kind,
            pre_augment: settings.pre_augment.clone(),
            density_weights: None,
            cross_validation,
            // All trials of a fold share validation rows and initial weights.
            seed: Seed(config.seed)
                .shared(
                    Stream::Split,
                    salt::TRIAL | self.key.fold.map_or(0, |fold| fold as u64 + 1),
                )
                .bits(),
        };
        let cancel = CancelIf(|| self.progress.cancelled());
        let trained = Model::train(self.train, None, &model_config, &cancel, None)?;
        if trained.cancelled {
            return Ok(None);
        }
        let valid = trained.model.metadata().valid.map_or(f64::MAX, |valid| valid.rmse);
        let test = match &self.test {
            Some(test) => Some(trained.model.evaluate(NamedTable { table: test, path })?.1),
            None => None,
        };
        Ok(Some(Trial {
            search: self.key,
            number,
            settings,
            valid: if valid.is_finite() { valid } else { f64::MAX },
            test,
            seconds: started.elapsed().as_secs_f64(),
        }))
    }
}
