//! Runs from start to end; independent runs in parallel.
//!
//! ```
//! use std::sync::Arc;
//! use ndarray::Array2;
//! use windlass::{Dataset, Seed};
//! use windlass_train::{Activation, RunSpec, Shape, TrainConfig, run_all};
//!
//! let x = Array2::from_shape_fn((64, 2), |(i, j)| ((i * (3 + 4 * j)) % 17) as f32 / 17.0);
//! let y = Array2::from_shape_fn((64, 1), |(i, _)| 2.0 * x[(i, 0)] - x[(i, 1)]);
//! let train = Arc::new(Dataset::new(x, y, None)?);
//! let training = TrainConfig { epochs: 50, learning_rate: 0.01, ..TrainConfig::default() };
//! let spec = RunSpec {
//!     train,
//!     valid: None,
//!     shape: Shape::mlp(2, 16, Activation::Relu, 1),
//!     training: TrainConfig { weight_decay: 0.0, ..training },
//!     augment: None,
//!     seed: Seed(0),
//! };
//! let specs: Vec<RunSpec> = (0..4).map(|seed| RunSpec { seed: Seed(seed), ..spec.clone() }).collect();
//! for result in run_all(&specs, &(), |_, _| {}) {
//!     let result = result?;
//!     assert!(result.history.last().unwrap().loss < 0.05);
//! }
//! # Ok::<(), windlass_train::Error>(())
//! ```

use std::time::Instant;

use rayon::prelude::*;

use crate::Result;
use crate::config::RunSpec;
use crate::learner::Architecture;
use crate::trainer::{Epoch, RunResult, Trainer};

impl<A: Architecture> RunSpec<A> {
    /// Trains to the end; `progress` is called after every epoch, and cancels the run if it returns `false`.
    pub fn run(&self, mut progress: impl FnMut(&Epoch) -> bool) -> Result<RunResult<A::Network>> {
        let mut trainer = Trainer::new(self)?;
        while !trainer.is_finished() {
            let epoch = trainer.epoch()?;
            if epoch.is_some_and(|epoch| !progress(&epoch)) {
                trainer.cancel();
            }
        }
        Ok(trainer.into_result())
    }
}

/// Progress of several runs, which may cancel each.
pub trait EpochProgress: Sync {
    /// An epoch of a run ended; `false` cancels the run.
    fn epoch(&self, _run: usize, _epoch: &Epoch) -> bool {
        true
    }
}

impl EpochProgress for () {}

/// Executes runs in parallel, each on one thread; `each` receives results as runs end, in any order. The
/// results do not depend on that order.
pub fn run_all<A: Architecture>(
    specs: &[RunSpec<A>],
    progress: &dyn EpochProgress,
    each: impl Fn(usize, &Result<RunResult<A::Network>>) + Sync,
) -> Vec<Result<RunResult<A::Network>>> {
    // Chunks of one run, so that the first thread to be free takes the next.
    specs
        .par_iter()
        .with_max_len(1)
        .enumerate()
        .map(|(index, spec)| {
            let started = Instant::now();
            let mut result = spec.run(|epoch| progress.epoch(index, epoch));
            if let Ok(result) = &mut result {
                result.seconds = started.elapsed().as_secs_f64();
            }
            each(index, &result);
            result
        })
        .collect()
}
