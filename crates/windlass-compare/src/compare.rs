//! The runs of a comparison: every candidate on the same rows.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use ndarray::{Array2, Axis};
use rayon::prelude::*;
use windlass::{Seed, Stream};
use windlass_model::{
    DensityWeights, DistillConfig, ErrorsByTarget, Kind, Metrics, Model, ModelConfig, NamedTable,
    PreAugmentConfig, Preprocessing, Split, Trained, Validation, column_notes, groups_of,
    row_weights,
};
use windlass_table::{LoadedTable, to_f64};
use windlass_train::Epoch;

use crate::added_rows::{AddedRows, AddedRowsReport};
use crate::candidate::{Candidate, Distances, MethodName, ModelName};
use crate::config::CompareConfig;
use crate::neighbors::shared_rows;
use crate::results::{GroupError, Key, Run, SettingsTrial};
use crate::splits::{Fold, ProvidedSplits, SplitOverlap, SplitRule, salt};
use crate::statistics::blocks_in_order;
use crate::{Error, Result};

/// Reports progress, and may cancel the comparison.
pub trait RunProgress: Sync {
    /// Called after every run, in any order, with the number of finished runs and of all.
    fn done(&self, _run: &Run, _done: usize, _all: usize) -> Result<()> {
        Ok(())
    }

    /// Whether to cancel.
    fn cancelled(&self) -> bool {
        false
    }
}

impl RunProgress for () {}

/// Executes one run; `None` if it was cancelled.
pub type RunFn<'a> = dyn Fn(Key) -> Result<Option<Run>> + Sync + 'a;

/// Executes runs on threads, and returns their results in order.
pub type Scheduler<'a> = dyn Fn(&[Key], &RunFn<'_>) -> Vec<Result<Option<Run>>> + 'a;

/// A comparison, ready to run.
#[derive(Debug)]
pub struct Comparison<'a> {
    config: &'a CompareConfig,
    table: NamedTable<'a>,
    test: Option<NamedTable<'a>>,
    splits: Arc<[Fold]>,
    /// Rows from elsewhere, one for each label of the configuration.
    added: &'a [AddedRows],
    added_reports: Vec<AddedRowsReport>,
    /// Rows of the test table that are training rows.
    shared_test_rows: usize,
    /// The unit of every row; none if intervals do not need the errors of rows.
    units: Vec<usize>,
    /// The edges between fifths of the target; none if there are several targets.
    edges: Option<Vec<f64>>,
    /// For every size and fold, statistics for search ranges.
    distances: Vec<Vec<Distances>>,
}

/// Stops training after an epoch if the function returns `true`.
pub(crate) struct CancelIf<F>(pub(crate) F);

impl<F: Fn() -> bool + Sync> windlass_train::EpochProgress for CancelIf<F> {
    fn epoch(&self, _run: usize, _epoch: &Epoch) -> bool {
        !(self.0)()
    }
}

impl<'a> Comparison<'a> {
    /// Draws the splits; an error if nothing can be compared.
    pub fn new(
        config: &'a CompareConfig,
        table: NamedTable<'a>,
        test: Option<NamedTable<'a>>,
    ) -> Result<Self> {
        let splits = config.splits(table.table, test.map(|test| test.table));
        let splits = splits.map_err(|error| error.locate(table.table).in_file(table.path))?;
        Self::prepare(config, table, test, splits)
    }

    /// A comparison on the given splits: for [`SplitRule::Provided`].
    pub fn with_splits(
        config: &'a CompareConfig,
        table: NamedTable<'a>,
        test: Option<NamedTable<'a>>,
        splits: Vec<Fold>,
    ) -> Result<Self> {
        let checked = config.check(table.table, &splits);
        checked.map_err(|error| error.in_file(table.path))?;
        Self::prepare(config, table, test, splits)
    }

    /// Which columns of the table models omit or use in another way.
    pub(crate) fn column_notes(&self) -> Vec<String> {
        column_notes(self.loaded(), &self.config.columns, &self.config.rule.split())
    }

    fn prepare(
        config: &'a CompareConfig,
        table: NamedTable<'a>,
        test: Option<NamedTable<'a>>,
        splits: Vec<Fold>,
    ) -> Result<Self> {
        let candidates = config.candidates();
        let has_reference = |candidate: &Candidate| {
            config.reference(*candidate).is_some_and(|reference| candidates.contains(&reference))
        };
        if config.specs.is_empty() && !candidates.first().is_some_and(has_reference) {
            return Err(Error::NothingToCompare {
                what: "there is no network without augmentation",
            });
        }
        if candidates.len() < 2 && config.specs.is_empty() {
            return Err(Error::NothingToCompare { what: "there is only one candidate" });
        }
        check_weights(config, table, test.unwrap_or(table), &splits)?;
        let shared_test_rows = test.map_or(0, |test| shared_rows(table.table, test.table));
        let splits = splits.into();
        let units = config_units(config, table.table)?;
        let edges = edges(table.table);
        let mut comparison = Self {
            config,
            table,
            test,
            splits,
            added: &[],
            added_reports: vec![],
            shared_test_rows,
            units,
            edges,
            distances: vec![],
        };
        // Fixed settings are not searched.
        let sizes = if config.specs.is_empty() { &config.sizes[..] } else { &[] };
        for &size in sizes {
            let distances = |fold: &Fold| comparison.distances(fold, size);
            let distances = comparison.splits.par_iter().map(distances).collect::<Result<_>>()?;
            comparison.distances.push(distances);
        }
        Ok(comparison)
    }

    /// A comparison of models that the caller trains, on splits drawn before.
    #[must_use]
    pub fn external(config: &'a CompareConfig, table: NamedTable<'a>, splits: Arc<[Fold]>) -> Self {
        // The column was read when the splits were drawn.
        let units = config_units(config, table.table).unwrap_or_default();
        Self {
            config,
            table,
            test: None,
            splits,
            added: &[],
            added_reports: vec![],
            shared_test_rows: 0,
            units,
            edges: edges(table.table),
            distances: vec![],
        }
    }

    /// With the rows from elsewhere whose labels are in the configuration, in its order.
    pub fn with_rows(mut self, added: &'a [AddedRows]) -> Result<Self> {
        if !added.iter().map(AddedRows::label).eq(&self.config.rows) {
            return Err(Error::NothingToCompare { what: "the rows are not those of the labels" });
        }
        let report = |rows: &AddedRows| rows.report(&self.config.rule, &self.splits);
        self.added_reports = added.iter().map(report).collect::<Result<_>>()?;
        self.added = added;
        Ok(self)
    }

    /// What is known about rows from elsewhere.
    #[must_use]
    pub fn added_rows(&self) -> &[AddedRowsReport] {
        &self.added_reports
    }

    /// The units of the test rows of a fold, ascending: rows, or groups of rows that resemble each other. Empty if
    /// intervals do not need the errors of rows.
    #[must_use]
    pub fn units(&self, fold: &Fold) -> Vec<usize> {
        let known = fold.test.iter().filter_map(|&row| self.units.get(row).copied());
        known.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The units with rare test rows of a fold, ascending. Empty if intervals do not need the errors of rows: then test
    /// rows may be those of another table.
    pub(crate) fn rare_units(&self, fold: &Fold) -> Vec<usize> {
        let Some(relevance) = self.config.rare.as_ref().filter(|_| !self.units.is_empty()) else {
            return vec![];
        };
        let y = targets(&self.table.table.select(&fold.test));
        let rows = fold.test.iter().zip(y.rows()).filter(|(_, y)| relevance.is_rare(y[0]));
        let known = rows.filter_map(|(&row, _)| self.units.get(row).copied());
        known.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The edges between fifths of the target.
    pub(crate) fn edges(&self) -> &[f64] {
        self.edges.as_deref().unwrap_or_default()
    }

    /// Squared errors of the test rows, summed over units; empty if one is not finite.
    fn losses(
        &self,
        fold: &Fold,
        y: &Array2<f64>,
        predicted: &Array2<f64>,
        weights: Option<&[f64]>,
        is_counted: &dyn Fn(f64) -> bool,
    ) -> Vec<f64> {
        let mut sums: BTreeMap<usize, f64> = BTreeMap::new();
        for (place, (&row, (y, predicted))) in
            fold.test.iter().zip(y.rows().into_iter().zip(predicted.rows())).enumerate()
        {
            if !is_counted(y[0]) {
                continue;
            }
            let Some(&unit) = self.units.get(row) else { return vec![] };
            let error = &y - &predicted;
            let weight = weights.map_or(1.0, |weights| weights[place]);
            *sums.entry(unit).or_default() += weight * error.dot(&error);
        }
        // Rounded to seven digits, for smaller files.
        let rounded =
            |sum: f64| format!("{sum:.6e}").parse().ok().filter(|sum: &f64| sum.is_finite());
        sums.into_values().map(rounded).collect::<Option<_>>().unwrap_or_default()
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &CompareConfig {
        self.config
    }

    /// The table.
    #[must_use]
    pub fn loaded(&self) -> &LoadedTable {
        self.table.table
    }

    /// Number of rows of the table.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.table.table.batch.num_rows()
    }

    /// The separate test table.
    #[must_use]
    pub fn loaded_test(&self) -> Option<&LoadedTable> {
        self.test.map(|test| test.table)
    }

    /// A warning if rows of the test table are training rows: equal in all features and targets.
    #[must_use]
    pub fn shared_rows_warning(&self) -> Option<String> {
        let rows = self.loaded_test()?.batch.num_rows();
        match self.shared_test_rows {
            0 => None,
            1 if rows > 1 => Some(format!(
                "1 of {rows} test rows is a training row: errors are lower than those of new rows"
            )),
            shared if shared < rows => Some(format!(
                "{shared} of {rows} test rows are training rows: errors are lower than those of new rows"
            )),
            _ => Some(format!(
                "all {rows} test rows are training rows: their errors do not estimate those of new rows"
            )),
        }
    }

    /// Whether all test rows are training rows, so that nothing can be concluded.
    pub(crate) fn tests_training_rows(&self) -> bool {
        self.loaded_test().is_some_and(|test| test.batch.num_rows() == self.shared_test_rows)
    }

    /// The splits.
    #[must_use]
    pub fn splits(&self) -> &Arc<[Fold]> {
        &self.splits
    }

    /// All runs, fold by fold.
    #[must_use]
    pub fn keys(&self) -> Vec<Key> {
        let candidates = self.config.candidates();
        let mut keys = vec![];
        for &size in &self.config.sizes {
            for Fold { repeat, fold, .. } in self.splits.iter() {
                let key = |&candidate| Key { size, repeat: *repeat, fold: *fold, candidate };
                keys.extend(candidates.iter().map(key));
            }
        }
        keys
    }

    /// Executes the runs that are not done yet, in parallel; the results do not depend on the order in which runs
    /// finish. If cancelled, returns the finished runs.
    pub fn run(&self, done: Vec<Run>, progress: &dyn RunProgress) -> Result<Vec<Run>> {
        let in_parallel = |todo: &[Key], run: &RunFn<'_>| {
            todo.par_iter().with_max_len(1).map(|&key| run(key)).collect()
        };
        self.run_with(done, progress, &in_parallel, &|key| self.execute(key, progress))
    }

    /// As [`run`](Self::run), with the caller's function for a run and its own scheduling of runs.
    pub fn run_with(
        &self,
        done: Vec<Run>,
        progress: &dyn RunProgress,
        scheduler: &Scheduler<'_>,
        execute: &RunFn<'_>,
    ) -> Result<Vec<Run>> {
        let keys = self.keys();
        // Ignore duplicates and runs of other comparisons.
        let mut left: BTreeSet<Key> = keys.iter().copied().collect();
        let done: Vec<Run> = done.into_iter().filter(|run| left.remove(&run.key)).collect();
        let todo: Vec<Key> = keys.iter().filter(|key| left.contains(key)).copied().collect();
        let count = AtomicUsize::new(done.len());
        let failed = AtomicBool::new(false);
        let execute_and_report = |key: Key| {
            if progress.cancelled() || failed.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let run = execute(key).and_then(|run| {
                if let Some(run) = &run {
                    let done = 1 + count.fetch_add(1, Ordering::Relaxed);
                    progress.done(run, done, keys.len())?;
                }
                Ok(run)
            });
            failed.fetch_or(run.is_err(), Ordering::Relaxed);
            run
        };
        let mut runs = done;
        for run in scheduler(&todo, &execute_and_report) {
            runs.extend(run?);
        }
        runs.sort_by_cached_key(|run| keys.iter().position(|key| *key == run.key));
        let networks: Vec<&Run> =
            runs.iter().filter(|run| run.key.candidate.model.is_network()).collect();
        if !networks.is_empty() && networks.iter().all(|run| run.diverged) {
            return Err(Error::AllDiverged { runs: networks.len() });
        }
        Ok(runs)
    }

    /// Names the fold in an error.
    fn in_fold<T>(&self, fold: &Fold, result: Result<T, windlass_model::Error>) -> Result<T> {
        let split = || self.config.rule.fold_name(fold);
        result.map_err(|source| Error::InSplit { split: split(), source })
    }

    fn fold_index(&self, key: Key) -> usize {
        let same = |fold: &Fold| fold.repeat == key.repeat && fold.fold == key.fold;
        self.splits.iter().position(same).expect("a fold of this comparison")
    }

    /// The fold of a run.
    #[must_use]
    pub fn fold(&self, key: Key) -> &Fold {
        &self.splits[self.fold_index(key)]
    }

    fn training_rows(&self, fold: &Fold, size: Option<usize>) -> LoadedTable {
        self.table.table.select(&fold.training_rows(size))
    }

    /// The training rows of a run, with rows from elsewhere if its candidate has any.
    fn rows_of_run(&self, key: Key) -> Result<LoadedTable> {
        let fold = self.fold(key);
        let Some(place) = key.candidate.rows else { return Ok(self.training_rows(fold, key.size)) };
        let missing = Error::NothingToCompare { what: "there are no rows for a label" };
        let added = self.added.get(place).ok_or(missing)?;
        added.training_rows(&self.config.rule.split(), fold.training_rows(key.size))
    }

    /// The split inside the training rows.
    fn inner_split(&self, train: &LoadedTable) -> Result<Split> {
        Ok(self.config.rule.split().within(&train.batch)?)
    }

    fn model_config(
        &self,
        kind: Kind,
        enlarge: Option<PreAugmentConfig>,
        density_weights: Option<DensityWeights>,
        seed: Seed,
    ) -> ModelConfig {
        let config = self.config;
        ModelConfig {
            columns: config.columns.clone(),
            drop_missing_target: config.drop_missing_target,
            scaling: config.scaling,
            target_scaling: config.target_scaling,
            kind,
            pre_augment: enlarge,
            density_weights,
            cross_validation: None,
            seed: seed.0,
        }
    }

    /// Distances between pairs of preprocessed training rows, if a method needs them.
    fn distances(&self, fold: &Fold, size: Option<usize>) -> Result<Distances> {
        const MAX_ROWS: usize = 300;
        let train = self.training_rows(fold, size);
        let rows = train.batch.num_rows();
        let config = self.config;
        let CompareConfig { columns, scaling, target_scaling, .. } = config;
        let fitted = Preprocessing::fit(&train, &train.batch, columns, *scaling, *target_scaling);
        let (preprocessing, _) = self.in_fold(fold, fitted)?;
        let columns = preprocessing.width();
        let mut between = vec![];
        if config.methods.iter().any(|method| method.needs_distances()) {
            let x = self.in_fold(fold, preprocessing.features(&train.batch, self.table.path, 0))?;
            let sample: Vec<usize> = (0..rows).step_by(rows.div_ceil(MAX_ROWS)).collect();
            for (place, &a) in sample.iter().enumerate() {
                for &b in &sample[..place] {
                    let difference = &x.index_axis(Axis(0), a) - &x.index_axis(Axis(0), b);
                    between.push(difference.dot(&difference).sqrt());
                }
            }
            between.sort_by(f64::total_cmp);
        }
        Ok(Distances { between, rows, columns })
    }

    /// Executes one run; `None` if cancelled.
    fn execute(&self, key: Key, progress: &dyn RunProgress) -> Result<Option<Run>> {
        let started = Instant::now();
        let fold = self.fold(key);
        let train = self.rows_of_run(key)?;
        let valid = fold.valid.as_ref().map(|rows| self.table.table.select(rows));
        let frames = FoldFrames { train: &train, valid: valid.as_ref(), path: self.table.path };
        let BestTrial { trials, chosen, trained } = match key.candidate.spec {
            Some(place) => {
                let spec = &self.config.specs[place];
                let kind = spec.kind.clone().ok_or(Error::ExternalModel)?;
                let seed = self.config.fold_seed(fold);
                let model_config = self.model_config(kind, spec.enlarge.clone(), None, seed);
                let trained = self.in_fold(fold, frames.fit(&model_config, progress))?;
                BestTrial { trials: vec![], chosen: 0, trained }
            }
            None => match self.best_trial(key, &frames, progress)? {
                Some(best) => best,
                None => return Ok(None),
            },
        };
        if progress.cancelled() || trained.cancelled {
            return Ok(None);
        }
        let test = self.test.unwrap_or(self.table);
        let rows = test.table.select(&fold.test);
        let predicted = self.in_fold(fold, trained.model.predict(&rows.batch, test.path, 0))?;
        let run = self.score(key, &predicted.mean, started.elapsed().as_secs_f64())?;
        Ok(Some(Run { trials, chosen, diverged: trained.diverged.is_some(), ..run }))
    }

    /// Scores predictions for the test rows of a run (rows × targets).
    pub fn score(&self, key: Key, predicted: &Array2<f64>, seconds: f64) -> Result<Run> {
        let fold = self.fold(key);
        let test = self.test.unwrap_or(self.table);
        let rows = test.table.select(&fold.test);
        let y = targets(&rows);
        if predicted.dim() != y.dim() {
            let (got, expected) = (predicted.dim(), y.dim());
            let split = self.config.rule.fold_name(fold);
            return Err(Error::OtherShape { split, got, expected });
        }
        let weights = self.in_fold(fold, row_weights(&rows, &rows.batch, test.path))?;
        let metrics = Metrics::compute(&y, predicted, weights.as_deref());
        let mut domains = vec![];
        if let Some(column) = self.config.rule.domain() {
            for (name, rows) in groups_of(&rows.batch, column)? {
                let weightless = |all: &Vec<f64>| rows.iter().all(|&row| all[row] == 0.0);
                if weights.as_ref().is_some_and(weightless) {
                    continue;
                }
                let name = name.unwrap_or_else(|| "(missing)".into());
                let [y, predicted] = [&y, predicted].map(|all| all.select(Axis(0), &rows));
                let weights: Option<Vec<f64>> =
                    weights.as_ref().map(|all| rows.iter().map(|&row| all[row]).collect());
                let metrics = Metrics::compute(&y, &predicted, weights.as_deref());
                domains.push(GroupError { name, metrics });
            }
        }
        let blocks = match &self.config.rule {
            SplitRule::Provided(ProvidedSplits { overlap: SplitOverlap::SameTestRows, .. }) => {
                block_squared_errors(&y, predicted)
            }
            _ => vec![],
        };
        let losses = self.losses(fold, &y, predicted, weights.as_deref(), &|_| true);
        let rare = self.config.rare.as_ref();
        let rare_losses = rare.map_or_else(Vec::new, |rare| {
            self.losses(fold, &y, predicted, weights.as_deref(), &|y| rare.is_rare(y))
        });
        let by_target = self.edges.as_ref().and_then(|edges| {
            let values = |all: &Array2<f64>| all.iter().copied().collect::<Vec<_>>();
            ErrorsByTarget::compute(&values(&y), &values(predicted), edges, rare)
        });
        let predicted =
            if self.stores_predictions(key) { predicted.iter().copied().collect() } else { vec![] };
        Ok(Run {
            key,
            seed: self.config.fold_seed(fold).0,
            train_rows: key.size.unwrap_or(fold.train.len()),
            trials: vec![],
            chosen: 0,
            metrics,
            domains,
            diverged: false,
            predicted,
            blocks,
            losses,
            by_target,
            rare_losses,
            seconds,
        })
    }

    /// The runs of the baseline, which predicts the mean of the training rows: without training, so they are not
    /// stored.
    pub(crate) fn baseline(&self, size: Option<usize>) -> Vec<Run> {
        if matches!(self.config.rule, SplitRule::Provided(_)) {
            return vec![];
        }
        let test = self.test.unwrap_or(self.table);
        let run = |fold: &Fold| -> Option<Run> {
            let train = self.training_rows(fold, size);
            let y = targets(&train);
            // Weights were checked before the splits were used.
            let weights = row_weights(&train, &train.batch, self.table.path).ok()?;
            let weight = |row: usize| weights.as_ref().map_or(1.0, |weights| weights[row]);
            let all: f64 = (0..y.nrows()).map(weight).sum();
            let mean = |column: usize| {
                (0..y.nrows()).map(|row| weight(row) * y[(row, column)]).sum::<f64>() / all
            };
            let means: Vec<f64> = (0..y.ncols()).map(mean).collect();
            let rows = fold.test.len().min(test.table.batch.num_rows());
            let predicted = Array2::from_shape_fn((rows, means.len()), |(_, column)| means[column]);
            let key =
                Key { size, repeat: fold.repeat, fold: fold.fold, candidate: Candidate::BASELINE };
            self.score(key, &predicted, 0.0).ok()
        };
        self.splits.iter().filter_map(run).collect()
    }

    /// Tries the settings of a candidate; `None` if cancelled.
    fn best_trial(
        &self,
        key: Key,
        frames: &FoldFrames<'_>,
        progress: &dyn RunProgress,
    ) -> Result<Option<BestTrial>> {
        let place = self.fold_index(key);
        let fold = &self.splits[place];
        let size = self.config.sizes.iter().position(|size| *size == key.size);
        let distances = &self.distances[size.expect("a size of this comparison")][place];
        let split = self.inner_split(frames.train)?;
        let seed = self.config.fold_seed(fold);
        let count = if key.candidate.model.selects() { 1 } else { self.config.tune.max(1) };
        let density_weights = key.candidate.method.and_then(MethodName::density_weights);
        let rare = self.config.rare.as_ref();
        let enlarge = |trial| key.candidate.method?.pre_augment(trial, distances, rare);
        let mut trials: Vec<SettingsTrial> = vec![];
        let mut best: Option<(f64, usize, Option<Trained>)> = None;
        for trial in 0..count {
            let kind = key.candidate.settings(trial, &self.config.network, &split, distances);
            let mut kind = kind.ok_or(Error::ExternalModel)?;
            if let Kind::Network(network) = &mut kind {
                if frames.valid.is_some() {
                    network.valid = Validation::Table;
                }
                if key.candidate.method == Some(MethodName::Placebo) {
                    network.valid_seed = Some(seed.0);
                }
            }
            let seed = trial_seed(key.candidate, seed, trial);
            let model_config = self.model_config(kind, enlarge(trial), density_weights, seed);
            let (valid, trained) =
                self.in_fold(fold, self.assess(frames, &model_config, &split, count, progress))?;
            if progress.cancelled() || trained.as_ref().is_some_and(|trained| trained.cancelled) {
                return Ok(None);
            }
            let error = valid.filter(|valid| valid.is_finite()).unwrap_or(f64::INFINITY);
            if best.as_ref().is_none_or(|(least, ..)| error < *least) {
                best = Some((error, trial, trained));
            }
            trials.push(SettingsTrial { kind: model_config.kind, valid });
        }
        let (_, chosen, trained) = best.expect("a trial at least");
        let trained = if let Some(trained) = trained {
            trained
        } else {
            // Models without epochs are refitted on all training rows.
            let seed = trial_seed(key.candidate, seed, chosen);
            let kind = trials[chosen].kind.clone();
            let model_config = self.model_config(kind, enlarge(chosen), density_weights, seed);
            self.in_fold(fold, frames.fit(&model_config, progress))?
        };
        let trained = if key.candidate.model == ModelName::Distilled {
            self.in_fold(fold, frames.distill(&trained.model, seed, progress))?
        } else {
            trained
        };
        Ok(Some(BestTrial { trials, chosen, trained }))
    }

    /// Whether predictions are needed later: for figures, or because all runs have the same test rows.
    fn stores_predictions(&self, key: Key) -> bool {
        let largest = self.config.sizes.last().copied().flatten();
        let first = self.splits[0].repeat;
        self.config.rule == SplitRule::TestFile || (key.repeat == first && key.size == largest)
    }

    /// The validation error of a configuration, and the model if it was trained on all training rows.
    fn assess(
        &self,
        frames: &FoldFrames<'_>,
        model_config: &ModelConfig,
        split: &Split,
        trials: usize,
        progress: &dyn RunProgress,
    ) -> Result<(Option<f64>, Option<Trained>), windlass_model::Error> {
        if frames.valid.is_some() || matches!(model_config.kind, Kind::Network(_) | Kind::Auto(_)) {
            let trained = frames.fit(model_config, progress)?;
            let valid = trained.model.metadata().valid.map(|valid| valid.rmse);
            return Ok((valid, Some(trained)));
        }
        if trials == 1 {
            return Ok((None, None));
        }
        let FoldFrames { train, path, .. } = *frames;
        let seed = Seed(model_config.seed);
        let inner_folds = match self.config.network.valid {
            Validation::Folds(folds) => split.folds(&train.batch, folds, seed)?,
            Validation::Fraction(share) => vec![split.hold_out(&train.batch, share, seed)?],
            Validation::None | Validation::Table => {
                vec![split.hold_out(&train.batch, 0.2, seed)?]
            }
        };
        let (mut squares, mut rows) = (0.0, 0);
        for fold in inner_folds {
            let inner = FoldFrames { train: &train.select(&fold.train), valid: None, path };
            let model = inner.fit(model_config, progress)?.model;
            let metrics =
                model.evaluate(NamedTable { table: &train.select(&fold.held_out), path })?.1;
            squares += metrics.rmse * metrics.rmse * metrics.rows as f64;
            rows += metrics.rows;
        }
        Ok((Some((squares / rows as f64).sqrt()), None))
    }
}

/// The sampling unit of each row. Rows of a group or a domain, and neighbors in time, are correlated and form one
/// unit.
pub(crate) fn units(split: &Split, table: &LoadedTable, seed: Seed) -> Result<Vec<usize>> {
    /// Maximum number of units: more would make files larger, but not intervals better.
    const MOST: usize = 1_000;
    /// Blocks of time, of which the later half is held out.
    const BLOCKS_OF_TIME: usize = 40;
    let rows = table.batch.num_rows();
    let mut units = vec![0; rows];
    match split {
        Split::Rows if rows <= MOST => units = (0..rows).collect(),
        Split::Rows => {
            let mut order: Vec<usize> = (0..rows).collect();
            seed.shared(Stream::Split, salt::UNITS).shuffle(&mut order);
            for (place, row) in order.into_iter().enumerate() {
                units[row] = place % MOST;
            }
        }
        Split::Group(column) | Split::Domain(column) => {
            for (place, (_, rows)) in groups_of(&table.batch, column)?.into_iter().enumerate() {
                for row in rows {
                    units[row] = place % MOST;
                }
            }
        }
        Split::Time(_) => {
            for (place, row) in split.in_time(&table.batch)?.into_iter().enumerate() {
                units[row] = place * BLOCKS_OF_TIME / rows;
            }
        }
    }
    Ok(units)
}

/// The units of a comparison; none if a table is tested.
fn config_units(config: &CompareConfig, table: &LoadedTable) -> Result<Vec<usize>> {
    match &config.rule {
        SplitRule::HeldOut(split) => units(split, table, Seed(config.seed)),
        _ => Ok(vec![]),
    }
}

/// The edges between fifths of the target; `None` if there are several targets.
fn edges(table: &LoadedTable) -> Option<Vec<f64>> {
    let y = targets(table);
    (y.ncols() == 1).then(|| ErrorsByTarget::edges(&y.iter().copied().collect::<Vec<_>>()))
}

/// Returns an error for splits whose training or test rows all have weight 0.
fn check_weights(
    config: &CompareConfig,
    train: NamedTable<'_>,
    test: NamedTable<'_>,
    splits: &[Fold],
) -> Result<()> {
    let weights = |rows: NamedTable<'_>| row_weights(train.table, &rows.table.batch, rows.path);
    let (Some(train), Some(test)) = (weights(train)?, weights(test)?) else { return Ok(()) };
    for fold in splits {
        let smallest = config.sizes.first().copied().flatten().unwrap_or(fold.train.len());
        let parts =
            [("training", &train, &fold.train[..smallest]), ("test", &test, &fold.test[..])];
        for (what, weights, rows) in parts {
            if rows.iter().all(|&row| weights[row] == 0.0) {
                let split = config.rule.fold_name(fold);
                return Err(Error::NoWeight { split, what });
            }
        }
    }
    Ok(())
}

/// Squared errors, summed over blocks of rows.
fn block_squared_errors(y: &Array2<f64>, predicted: &Array2<f64>) -> Vec<f64> {
    let mut sums: Vec<f64> = vec![];
    let errors = y.rows().into_iter().zip(predicted.rows());
    for ((y, predicted), block) in errors.zip(blocks_in_order(y.nrows())) {
        sums.resize(block + 1, 0.0);
        let error = &y - &predicted;
        sums[block] += error.dot(&error);
    }
    sums
}

/// The targets (rows × targets).
fn targets(rows: &LoadedTable) -> Array2<f64> {
    let columns: Vec<_> =
        rows.roles.targets().iter().map(|&place| to_f64(rows.batch.column(place))).collect();
    Array2::from_shape_fn((rows.batch.num_rows(), columns.len()), |(i, j)| columns[j].value(i))
}

/// The settings that were tried, and the model of the best.
struct BestTrial {
    trials: Vec<SettingsTrial>,
    chosen: usize,
    trained: Trained,
}

/// The training and validation rows of a run, and their file.
#[derive(Clone, Copy)]
struct FoldFrames<'a> {
    train: &'a LoadedTable,
    valid: Option<&'a LoadedTable>,
    path: &'a Path,
}

impl FoldFrames<'_> {
    fn fit(
        &self,
        model_config: &ModelConfig,
        progress: &dyn RunProgress,
    ) -> Result<Trained, windlass_model::Error> {
        let named = |table| NamedTable { table, path: self.path };
        let cancel = CancelIf(|| progress.cancelled());
        Model::train(named(self.train), self.valid.map(named), model_config, &cancel, None)
    }

    fn distill(
        &self,
        teacher: &Model,
        seed: Seed,
        progress: &dyn RunProgress,
    ) -> Result<Trained, windlass_model::Error> {
        let table = NamedTable { table: self.train, path: self.path };
        let usual = DistillConfig::default();
        let config = DistillConfig { seed: seed.0, estimate_error: false, ..usual };
        Ok(teacher.distill(table, None, &config, &CancelIf(|| progress.cancelled()))?.student)
    }
}

/// The seed of a trial. The placebo differs from no augmentation only in its initial weights and the order of rows.
#[must_use]
pub fn trial_seed(candidate: Candidate, seed: Seed, trial: usize) -> Seed {
    match candidate.method {
        Some(MethodName::Placebo) => CompareConfig::placebo_seed(seed, trial),
        _ => seed,
    }
}
