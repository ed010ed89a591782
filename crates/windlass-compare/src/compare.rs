//! Every candidate on the same rows: the runs of a comparison.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use ndarray::{Array2, Axis};
use rayon::prelude::*;
use windlass::Seed;
use windlass_model::{
    Kind, Metrics, Model, ModelConfig, NamedTable, PreAugmentConfig, Preprocessing, Split, Trained,
    Validation, groups_of, row_weights,
};
use windlass_table::{LoadedTable, to_f64};
use windlass_train::Epoch;

use crate::candidate::{Candidate, Distances, MethodName, ModelName};
use crate::config::{Common, CompareConfig, Fold, Given, Rule};
use crate::results::{GroupError, Key, Run, SettingsTrial};
use crate::statistics::blocks_in_order;
use crate::{Error, Result};

/// Hears of runs as they end, and may end the comparison.
pub trait Watch: Sync {
    /// A run ended; so many of all are done. Runs end in any order.
    fn done(&self, _run: &Run, _done: usize, _all: usize) -> Result<()> {
        Ok(())
    }

    /// Whether to stop.
    fn cancelled(&self) -> bool {
        false
    }
}

impl Watch for () {}

/// Executes one run; `None` if it was cancelled.
pub type Each<'a> = dyn Fn(Key) -> Result<Option<Run>> + Sync + 'a;

/// Executes runs on threads, and returns their outcomes in order.
pub type Spread<'a> = dyn Fn(&[Key], &Each<'_>) -> Vec<Result<Option<Run>>> + 'a;

/// A comparison that can be run.
#[derive(Debug)]
pub struct Comparison<'a> {
    protocol: &'a CompareConfig,
    table: NamedTable<'a>,
    test: Option<NamedTable<'a>>,
    splits: Arc<[Fold]>,
    /// For every size and split, what settings are in proportion to.
    distances: Vec<Vec<Distances>>,
}

/// Ends the trainings of a run when the comparison is to stop.
pub(crate) struct Ear<'a>(pub(crate) &'a dyn Watch);

impl windlass_train::Watch for Ear<'_> {
    fn epoch(&self, _run: usize, _epoch: &Epoch) -> bool {
        !self.0.cancelled()
    }
}

impl<'a> Comparison<'a> {
    /// Splits the rows and refuses what cannot be compared.
    pub fn new(
        protocol: &'a CompareConfig,
        table: NamedTable<'a>,
        test: Option<NamedTable<'a>>,
    ) -> Result<Self> {
        let splits = protocol.splits(table.table, test.map(|test| test.table));
        let splits = splits.map_err(|error| error.in_file(table.path))?;
        Self::prepare(protocol, table, test, splits)
    }

    /// A comparison on splits that the caller provides: for [`Rule::Given`].
    pub fn with_splits(
        protocol: &'a CompareConfig,
        table: NamedTable<'a>,
        test: Option<NamedTable<'a>>,
        splits: Vec<Fold>,
    ) -> Result<Self> {
        let checked = protocol.check(table.table, &splits);
        checked.map_err(|error| error.in_file(table.path))?;
        Self::prepare(protocol, table, test, splits)
    }

    fn prepare(
        protocol: &'a CompareConfig,
        table: NamedTable<'a>,
        test: Option<NamedTable<'a>>,
        splits: Vec<Fold>,
    ) -> Result<Self> {
        let candidates = protocol.candidates();
        let has_reference = |candidate: &Candidate| {
            protocol.reference(*candidate).is_some_and(|reference| candidates.contains(&reference))
        };
        if protocol.declared.is_empty() && !candidates.first().is_some_and(has_reference) {
            return Err(Error::NothingToCompare { what: "no network without augmentation (erm)" });
        }
        if candidates.len() < 2 && protocol.declared.is_empty() {
            return Err(Error::NothingToCompare { what: "one candidate only" });
        }
        let mut comparison =
            Self { protocol, table, test, splits: splits.into(), distances: vec![] };
        // Declared settings are in proportion to nothing.
        let sizes = if protocol.declared.is_empty() { &protocol.sizes[..] } else { &[] };
        for &size in sizes {
            let of = |split: &Fold| comparison.distances(split, size);
            let distances: Vec<Distances> =
                comparison.splits.par_iter().map(of).collect::<Result<_>>()?;
            comparison.distances.push(distances);
        }
        Ok(comparison)
    }

    /// A comparison of models that are trained elsewhere, of which the rows are parted already.
    #[must_use]
    pub fn of_splits(
        protocol: &'a CompareConfig,
        table: NamedTable<'a>,
        splits: Arc<[Fold]>,
    ) -> Self {
        Self { protocol, table, test: None, splits, distances: vec![] }
    }

    /// How it goes.
    #[must_use]
    pub fn protocol(&self) -> &CompareConfig {
        self.protocol
    }

    /// The table.
    #[must_use]
    pub fn frame(&self) -> &LoadedTable {
        self.table.table
    }

    /// The rows of the table.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.table.table.batch.num_rows()
    }

    /// The table of test rows, if there is one.
    #[must_use]
    pub fn test_frame(&self) -> Option<&LoadedTable> {
        self.test.map(|test| test.table)
    }

    /// The rows of every split.
    #[must_use]
    pub fn splits(&self) -> &Arc<[Fold]> {
        &self.splits
    }

    /// Every run, whole splits one after the other.
    #[must_use]
    pub fn keys(&self) -> Vec<Key> {
        let candidates = self.protocol.candidates();
        let mut keys = vec![];
        for &size in &self.protocol.sizes {
            for Fold { repeat, fold, .. } in self.splits.iter() {
                let key = |&candidate| Key { size, repeat: *repeat, fold: *fold, candidate };
                keys.extend(candidates.iter().map(key));
            }
        }
        keys
    }

    /// Runs what is not done yet, side by side. The results do not depend on the order in which runs end.
    /// When the watcher stops it, the runs that have ended are returned all the same.
    pub fn run(&self, done: Vec<Run>, watch: &dyn Watch) -> Result<Vec<Run>> {
        let spread = |todo: &[Key], one: &Each<'_>| {
            todo.par_iter().with_max_len(1).map(|&key| one(key)).collect()
        };
        self.run_by(done, watch, &spread, &|key| self.one(key, watch))
    }

    /// The same with models that the caller trains: `one` executes a run, `spread` distributes runs over threads.
    pub fn run_by(
        &self,
        done: Vec<Run>,
        watch: &dyn Watch,
        spread: &Spread<'_>,
        one: &Each<'_>,
    ) -> Result<Vec<Run>> {
        let keys = self.keys();
        // Each run once, and only those that belong here.
        let mut left: BTreeSet<Key> = keys.iter().copied().collect();
        let done: Vec<Run> = done.into_iter().filter(|run| left.remove(&run.key)).collect();
        let todo: Vec<Key> = keys.iter().filter(|key| left.contains(key)).copied().collect();
        let count = AtomicUsize::new(done.len());
        let failed = AtomicBool::new(false);
        let told = |key: Key| {
            if watch.cancelled() || failed.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let run = one(key).and_then(|run| {
                if let Some(run) = &run {
                    let done = 1 + count.fetch_add(1, Ordering::Relaxed);
                    watch.done(run, done, keys.len())?;
                }
                Ok(run)
            });
            failed.fetch_or(run.is_err(), Ordering::Relaxed);
            run
        };
        let mut runs = done;
        for run in spread(&todo, &told) {
            runs.extend(run?);
        }
        let place = |run: &Run| keys.iter().position(|key| *key == run.key);
        runs.sort_by_cached_key(place);
        let networks = runs.iter().filter(|run| run.key.candidate.model.is_network());
        let (all, lost) =
            networks.fold((0, 0), |(all, lost), run| (all + 1, lost + usize::from(run.diverged)));
        if all > 0 && all == lost {
            return Err(Error::AllDiverged { runs: all });
        }
        Ok(runs)
    }

    fn in_split<T>(&self, split: &Fold, result: Result<T, windlass_model::Error>) -> Result<T> {
        let split = || self.protocol.split_name(split);
        result.map_err(|source| Error::InSplit { split: split(), source })
    }

    /// The rows of a run, and their place among all splits.
    #[must_use]
    pub fn split(&self, key: Key) -> (usize, &Fold) {
        let same = |split: &Fold| split.repeat == key.repeat && split.fold == key.fold;
        let place = self.splits.iter().position(same).expect("a split of this comparison");
        (place, &self.splits[place])
    }

    /// The rows that a run learns from, in the order of the table.
    fn training_rows(&self, split: &Fold, size: Option<usize>) -> LoadedTable {
        self.table.table.select(&split.training_rows(size))
    }

    /// How rows of a training part are held out inside it: as the part itself was, where it has groups enough.
    fn inner(&self, train: &LoadedTable) -> Result<Split> {
        let split = self.protocol.rule.split();
        Ok(match &split {
            Split::Groups(column) if groups_of(&train.batch, column)?.len() < 2 => Split::Rows,
            _ => split,
        })
    }

    fn recipe(&self, kind: Kind, enlarge: Option<PreAugmentConfig>, seed: Seed) -> ModelConfig {
        let protocol = self.protocol;
        ModelConfig {
            columns: protocol.columns.clone(),
            drop_missing_target: protocol.drop_missing_target,
            scaling: protocol.scaling,
            target_scaling: protocol.target_scaling,
            kind,
            pre_augment: enlarge,
            seed: seed.0,
        }
    }

    /// Distances between pairs of training rows as networks see them, if a method asks.
    fn distances(&self, split: &Fold, size: Option<usize>) -> Result<Distances> {
        const MOST: usize = 300;
        let train = self.training_rows(split, size);
        let rows = train.batch.num_rows();
        let protocol = self.protocol;
        let CompareConfig { columns, scaling, target_scaling, .. } = protocol;
        let fitted = Preprocessing::fit(&train, &train.batch, columns, *scaling, *target_scaling);
        let (preprocessing, _) = self.in_split(split, fitted)?;
        let columns = preprocessing.width();
        let mut between = vec![];
        if protocol.methods.iter().any(|method| method.needs_distances()) {
            let x =
                self.in_split(split, preprocessing.features(&train.batch, self.table.path, 0))?;
            let few: Vec<usize> = (0..rows).step_by(rows.div_ceil(MOST)).collect();
            for (place, &one) in few.iter().enumerate() {
                for &other in &few[..place] {
                    let off = &x.index_axis(Axis(0), one) - &x.index_axis(Axis(0), other);
                    between.push(off.dot(&off).sqrt());
                }
            }
            between.sort_by(f64::total_cmp);
        }
        Ok(Distances { between, rows, columns })
    }

    /// One run; `None` if it was stopped.
    fn one(&self, key: Key, watch: &dyn Watch) -> Result<Option<Run>> {
        let started = Instant::now();
        let split = self.split(key).1;
        let train = self.training_rows(split, key.size);
        let valid = split.valid.as_ref().map(|rows| self.table.table.select(rows));
        let part = Part { train: &train, valid: valid.as_ref(), path: self.table.path };
        let (trials, chosen, trained) = match key.candidate.declared {
            Some(place) => {
                let declared = &self.protocol.declared[place];
                let seed = self.protocol.seed_of(split);
                let kind = declared.kind.clone().ok_or(Error::Elsewhere)?;
                let recipe = self.recipe(kind, declared.enlarge.clone(), seed);
                (vec![], 0, self.in_split(split, part.fit(&recipe, watch))?)
            }
            None => match self.best_trial(key, &part, watch)? {
                Some(found) => found,
                None => return Ok(None),
            },
        };
        if watch.cancelled() || trained.cancelled {
            return Ok(None);
        }
        let test = self.test.unwrap_or(self.table);
        let held = test.table.select(&split.test);
        let predicted = self.in_split(split, trained.model.predict(&held.batch, test.path, 0))?;
        let run = self.judge(key, &predicted.mean, started.elapsed().as_secs_f64())?;
        Ok(Some(Run { trials, chosen, diverged: trained.diverged.is_some(), ..run }))
    }

    /// What predictions for the held-out rows of a run amount to, a column for every target.
    pub fn judge(&self, key: Key, predicted: &Array2<f64>, seconds: f64) -> Result<Run> {
        let split = self.split(key).1;
        let test = self.test.unwrap_or(self.table);
        let held = test.table.select(&split.test);
        let y = targets(&held);
        if predicted.dim() != y.dim() {
            let (got, expected) = (predicted.dim(), y.dim());
            return Err(Error::OtherShape {
                split: self.protocol.split_name(split),
                got,
                expected,
            });
        }
        let weights = self.in_split(split, row_weights(&held, &held.batch, test.path))?;
        let metrics = Metrics::compute(&y, predicted, weights.as_deref());
        let mut domains = vec![];
        if let Some(column) = self.protocol.rule.domain() {
            for (name, rows) in groups_of(&held.batch, column)? {
                let name = name.unwrap_or_else(|| "(missing)".into());
                let [y, predicted] = [&y, predicted].map(|all| all.select(Axis(0), &rows));
                let weights: Option<Vec<f64>> =
                    weights.as_ref().map(|all| rows.iter().map(|&row| all[row]).collect());
                let metrics = Metrics::compute(&y, &predicted, weights.as_deref());
                domains.push(GroupError { name, metrics });
            }
        }
        let blocks = match &self.protocol.rule {
            Rule::Given(Given { common: Common::HeldOutRows, .. }) => {
                squares_of_blocks(&y, predicted)
            }
            _ => vec![],
        };
        let predicted =
            if self.keeps_predictions(key) { predicted.iter().copied().collect() } else { vec![] };
        Ok(Run {
            key,
            seed: self.protocol.seed_of(split).0,
            train_rows: key.size.unwrap_or(split.train.len()),
            trials: vec![],
            chosen: 0,
            metrics,
            domains,
            diverged: false,
            predicted,
            blocks,
            seconds,
        })
    }

    /// Every setting that a candidate tries, and what came of the best; `None` if it was stopped.
    fn best_trial(&self, key: Key, part: &Part<'_>, watch: &dyn Watch) -> Result<Option<Tried>> {
        let (place, outer) = self.split(key);
        let size = self.protocol.sizes.iter().position(|size| *size == key.size);
        let distances = &self.distances[size.expect("a size of this comparison")][place];
        let split = self.inner(part.train)?;
        let seed = self.protocol.seed_of(outer);
        let trials =
            if key.candidate.model == ModelName::Auto { 1 } else { self.protocol.tune.max(1) };
        let mut tried: Vec<SettingsTrial> = vec![];
        let mut best: Option<(f64, usize, Option<Trained>)> = None;
        for trial in 0..trials {
            let mut kind = key.candidate.settings(trial, &self.protocol.network, &split, distances);
            if let Kind::Network(network) = &mut kind {
                if part.valid.is_some() {
                    network.valid = Validation::Table;
                }
                if key.candidate.method == Some(MethodName::Placebo) {
                    network.valid_seed = Some(seed.0);
                }
            }
            let recipe = self.recipe(kind, None, trial_seed(key.candidate, seed, trial));
            let (valid, trained) =
                self.in_split(outer, self.assess(part, &recipe, &split, trials, watch))?;
            if watch.cancelled() || trained.as_ref().is_some_and(|trained| trained.cancelled) {
                return Ok(None);
            }
            let error = valid.filter(|valid| valid.is_finite()).unwrap_or(f64::INFINITY);
            if best.as_ref().is_none_or(|(least, ..)| error < *least) {
                best = Some((error, trial, trained));
            }
            tried.push(SettingsTrial { kind: recipe.kind, valid });
        }
        let (_, chosen, trained) = best.expect("a trial at least");
        let trained = if let Some(trained) = trained {
            trained
        } else {
            // What is not trained step by step needs no validation rows in the end.
            let seed = trial_seed(key.candidate, seed, chosen);
            let recipe = self.recipe(tried[chosen].kind.clone(), None, seed);
            self.in_split(outer, part.fit(&recipe, watch))?
        };
        Ok(Some((tried, chosen, trained)))
    }

    /// Whether predictions are needed later: for pictures, or because all runs have the same test rows.
    fn keeps_predictions(&self, key: Key) -> bool {
        let largest = self.protocol.sizes.last().copied().flatten();
        let first = self.splits[0].repeat;
        self.protocol.rule == Rule::TestFile || (key.repeat == first && key.size == largest)
    }

    /// The error of settings on the validation rows of a training part, and the model where that is made at the
    /// same time.
    fn assess(
        &self,
        part: &Part<'_>,
        recipe: &ModelConfig,
        split: &Split,
        trials: usize,
        watch: &dyn Watch,
    ) -> Result<(Option<f64>, Option<Trained>), windlass_model::Error> {
        if part.valid.is_some() || matches!(recipe.kind, Kind::Network(_) | Kind::Auto(_)) {
            let trained = part.fit(recipe, watch)?;
            let valid = trained.model.metadata().valid.map(|valid| valid.rmse);
            return Ok((valid, Some(trained)));
        }
        if trials == 1 {
            return Ok((None, None));
        }
        let Part { train, path, .. } = *part;
        let seed = Seed(recipe.seed);
        let sides = match self.protocol.network.valid {
            Validation::Folds(folds) => split.folds(&train.batch, folds, seed)?,
            Validation::Fraction(share) => vec![split.hold_out(&train.batch, share, seed)?],
            Validation::None | Validation::Table => {
                vec![split.hold_out(&train.batch, 0.2, seed)?]
            }
        };
        let (mut squares, mut rows) = (0.0, 0);
        for sides in sides {
            let inner = Part { train: &train.select(&sides.train), valid: None, path };
            let test = NamedTable { table: &train.select(&sides.held_out), path };
            let Metrics { rmse, rows: held, .. } =
                inner.fit(recipe, watch)?.model.evaluate(test)?.1;
            squares += rmse * rmse * held as f64;
            rows += held;
        }
        Ok((Some((squares / rows as f64).sqrt()), None))
    }
}

/// The squared errors of rows, summed over blocks of them.
fn squares_of_blocks(y: &Array2<f64>, predicted: &Array2<f64>) -> Vec<f64> {
    let mut sums: Vec<f64> = vec![];
    let errors = y.rows().into_iter().zip(predicted.rows());
    for ((y, predicted), block) in errors.zip(blocks_in_order(y.nrows())) {
        sums.resize(block + 1, 0.0);
        let off = &y - &predicted;
        sums[block] += off.dot(&off);
    }
    sums
}

/// The targets of rows, a column for each.
fn targets(rows: &LoadedTable) -> Array2<f64> {
    let columns: Vec<_> =
        rows.roles.targets().iter().map(|&place| to_f64(rows.batch.column(place))).collect();
    Array2::from_shape_fn((rows.batch.num_rows(), columns.len()), |(i, j)| columns[j].value(i))
}

/// What was tried, which of it was best, and the model that it made.
type Tried = (Vec<SettingsTrial>, usize, Trained);

/// The rows that a run learns from and chooses by, and their file.
#[derive(Clone, Copy)]
struct Part<'a> {
    train: &'a LoadedTable,
    valid: Option<&'a LoadedTable>,
    path: &'a Path,
}

impl Part<'_> {
    fn fit(
        &self,
        recipe: &ModelConfig,
        watch: &dyn Watch,
    ) -> Result<Trained, windlass_model::Error> {
        let named = |table| NamedTable { table, path: self.path };
        Model::train(named(self.train), self.valid.map(named), recipe, &Ear(watch), None)
    }
}

/// The seed of a trial. The placebo differs from no augmentation in its initial weights and the order of rows only.
#[must_use]
pub fn trial_seed(candidate: Candidate, seed: Seed, trial: usize) -> Seed {
    match candidate.method {
        Some(MethodName::Placebo) => CompareConfig::placebo_seed(seed, trial),
        _ => seed,
    }
}
