//! Executes runs of deep networks, with checkpoints.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ndarray::Array2;
use windlass::Dataset;
use windlass_compare::{Comparison, Key, Run, RunFn, trial_seed};
use windlass_table::write_atomic;
use windlass_train::{Architecture, Epoch, Learner as _, Outcome, RunSpec, Trainer};

use super::{Arrays, DeepConfig};
use crate::{Error, Result};

/// Reports runs and epochs as they end, and may cancel.
pub trait DeepProgress: windlass_compare::RunProgress {
    /// An epoch of a deep network ended; `epochs` is how many a run has.
    fn epoch(&self, _run: Key, _epoch: &Epoch, _epochs: usize) {}
}

impl DeepProgress for () {}

const CHECKPOINT_INTERVAL: Duration = Duration::from_secs(30);
/// Memory for the training rows of concurrent runs.
const MEMORY_BYTES: usize = 8 << 30;

/// The checkpoint file of a run.
pub(crate) fn checkpoint_path(folder: &Path, key: Key) -> PathBuf {
    let Key { repeat, fold, candidate, .. } = key;
    folder.join(format!("{repeat}-{fold}-{}.safetensors", candidate.spec.unwrap_or(0)))
}

/// The runs of a comparison of deep networks.
pub(crate) struct DeepRuns<'a> {
    comparison: &'a Comparison<'a>,
    /// The network of every candidate.
    configs: &'a [DeepConfig],
    train: Arc<Dataset<f32>>,
    valid: Option<Arc<Dataset<f32>>>,
    test: Array2<f32>,
    /// The directory of checkpoints.
    folder: &'a Path,
    watch: &'a dyn DeepProgress,
    /// Whether a run failed, so that the others should stop.
    failed: AtomicBool,
}

impl<'a> DeepRuns<'a> {
    /// Prepares the rows.
    pub(crate) fn new(
        comparison: &'a Comparison<'a>,
        configs: &'a [DeepConfig],
        arrays: Arrays,
        folder: &'a Path,
        watch: &'a dyn DeepProgress,
    ) -> Result<Self> {
        let [train, valid, test] = arrays.x;
        let [train_y, valid_y, _] = arrays.y;
        #[expect(clippy::cast_possible_truncation, reason = "networks have 32 bits")]
        let dataset = |x: Array2<f32>, y: Array2<f64>| -> Result<Arc<Dataset<f32>>> {
            let examples = Dataset::new(x, y.mapv(|value| value as f32), None);
            Ok(Arc::new(examples.map_err(windlass_train::Error::from)?))
        };
        let train = dataset(train, train_y)?;
        let valid = (valid.nrows() > 0).then(|| dataset(valid, valid_y)).transpose()?;
        let failed = AtomicBool::new(false);
        Ok(Self { comparison, configs, train, valid, test, folder, watch, failed })
    }

    /// Executes the runs that are not done yet.
    pub(crate) fn run(&self, done: Vec<Run>) -> Result<Vec<Run>> {
        let most = if self.configs.iter().all(|config| config.device.is_none()) {
            // Some methods keep a 64-bit copy of the rows, and need another while fitting.
            (MEMORY_BYTES / (self.train.x().len() * 2 * size_of::<f64>()).max(1)).max(1)
        } else {
            1
        };
        let scheduler = |todo: &[Key], execute: &RunFn<'_>| run_in_own_pools(todo, most, execute);
        // The comparison has its own error type; ours is kept here.
        let error = Mutex::new(None);
        let execute = |key| {
            self.execute(key).map_err(|refused| {
                self.failed.store(true, Ordering::Relaxed);
                error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(refused);
                windlass_compare::Error::Interrupted
            })
        };
        let runs = self.comparison.run_with(done, self.watch, &scheduler, &execute);
        if let Some(error) = error.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        let runs = runs?;
        if !runs.is_empty() && runs.iter().all(|run| run.diverged) {
            return Err(windlass_compare::Error::AllDiverged { runs: runs.len() }.into());
        }
        Ok(runs)
    }

    /// Executes one run; `None` if cancelled.
    #[cfg(feature = "deep")]
    fn execute(&self, key: Key) -> Result<Option<Run>> {
        let config = self.config(key);
        let device = device(config.device.as_deref())?;
        let network = crate::networks::DeepArchitecture::new(config.network.clone(), device)?;
        self.train(key, config, network)
    }

    /// This build has no deep networks.
    #[cfg(not(feature = "deep"))]
    fn execute(&self, key: Key) -> Result<Option<Run>> {
        let name = self.config(key).network.name().to_owned();
        Err(Error::NotBuilt { name })
    }

    fn config(&self, key: Key) -> &'a DeepConfig {
        &self.configs[key.candidate.spec.expect("deep networks are declared")]
    }

    /// Trains and tests a network.
    #[cfg_attr(not(feature = "deep"), expect(dead_code, reason = "for deep networks"))]
    fn train<S: Architecture>(
        &self,
        key: Key,
        config: &DeepConfig,
        shape: S,
    ) -> Result<Option<Run>> {
        let started = Instant::now();
        let split = self.comparison.fold(key);
        let seed = self.comparison.config().fold_seed(split);
        let spec = RunSpec {
            train: Arc::clone(&self.train),
            valid: self.valid.clone(),
            shape,
            training: config.training.clone(),
            augment: config.augment.as_ref().map(|augment| augment.augment(self.train.rows())),
            seed: trial_seed(key.candidate, seed, 0),
        };
        let Some(trainer) = self.train_or_resume(key, &spec)? else { return Ok(None) };
        let earlier = trainer.seconds_before();
        let result = trainer.into_result();
        let predicted = result.network.predict(self.test.view())?.mapv(f64::from);
        let seconds = earlier + started.elapsed().as_secs_f64();
        let run = self.comparison.score(key, &predicted, seconds)?;
        Ok(Some(Run { diverged: result.outcome == Outcome::Diverged, ..run }))
    }

    /// Trains from the checkpoint, if there is one; writes a checkpoint and returns `None` if cancelled.
    fn train_or_resume<'s, S: Architecture>(
        &self,
        key: Key,
        spec: &'s RunSpec<S>,
    ) -> Result<Option<Trainer<'s, S>>> {
        let place = checkpoint_path(self.folder, key);
        let mut trainer = match std::fs::read(&place) {
            Ok(bytes) => Trainer::resume(spec, &bytes).map_err(|error| match error {
                windlass_train::Error::BadState { why } => {
                    Error::OtherCheckpoint { path: place.clone(), why }
                }
                other => other.into(),
            })?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Trainer::new(spec)?,
            Err(source) => {
                let error = windlass_compare::Error::Io { doing: "read", path: place, source };
                return Err(error.into());
            }
        };
        let mut saved = Instant::now();
        while !trainer.is_finished() {
            if let Some(epoch) = trainer.epoch()? {
                self.watch.epoch(key, &epoch, spec.training.epochs);
            }
            let stop = self.watch.cancelled() || self.failed.load(Ordering::Relaxed);
            if stop || (saved.elapsed() >= CHECKPOINT_INTERVAL && !trainer.is_finished()) {
                write_atomic(&place, &trainer.save())?;
                saved = Instant::now();
            }
            if stop {
                return Ok(None);
            }
        }
        Ok(Some(trainer))
    }
}

/// Executes the runs in order, at most `most` at a time, each in its own thread pool. In a shared pool, a thread
/// that waits inside a training step could start another run of minutes first.
fn run_in_own_pools(
    todo: &[Key],
    most: usize,
    execute: &RunFn<'_>,
) -> Vec<windlass_compare::Result<Option<Run>>> {
    let threads = rayon::current_num_threads();
    let workers = threads.min(todo.len()).min(most).max(1);
    let next = AtomicUsize::new(0);
    let work = || {
        let places = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let keys = places.map_while(|place| Some((place, *todo.get(place)?)));
        keys.map(|(place, key)| (place, execute(key))).collect::<Vec<_>>()
    };
    let mut done = std::thread::scope(|scope| {
        let start = |_| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads / workers).build();
            scope.spawn(|| match pool {
                Ok(pool) => pool.install(work),
                // Fall back to the global pool.
                Err(_) => work(),
            })
        };
        let started: Vec<_> = (0..workers).map(start).collect();
        let ended = started.into_iter().flat_map(|worker| match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        ended.collect::<Vec<_>>()
    });
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, run)| run).collect()
}

/// Parses a device; the default is the CPU.
#[cfg(feature = "deep")]
pub(super) fn device(name: Option<&str>) -> Result<crate::networks::Device> {
    let Some(name) = name else { return Ok(crate::networks::Device::Cpu) };
    let bad = |why: String| Error::BadDevice { name: name.to_owned(), why };
    let device: crate::networks::Device = name.parse().map_err(bad)?;
    device.check().map_err(|error| bad(error.to_string()))?;
    Ok(device)
}
