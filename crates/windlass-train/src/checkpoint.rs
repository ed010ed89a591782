//! Checkpoints: safetensors with the weights, the optimizer state and the best weights so far.

use std::collections::HashMap;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use crate::checksum::{with_checksum, without_checksum};
use crate::config::RunSpec;
use crate::learner::{Architecture, Learner};
use crate::trainer::{BestEpoch, Epoch, Trainer};
use crate::{Error, Result};

/// The key of [`CheckpointMetadata`] in the file's metadata.
const KEY: &str = "windlass-run";

#[derive(Serialize, Deserialize)]
struct CheckpointMetadata {
    version: String,
    fingerprint: String,
    step: u64,
    /// The best epoch so far, of which the weights are in the tensor `best`, and its validation error.
    best: Option<(usize, f64)>,
    history: Vec<Epoch>,
    seconds: f64,
}

impl<'a, A: Architecture> Trainer<'a, A> {
    /// The state of the run, for [`resume`](Self::resume).
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let metadata = CheckpointMetadata {
            version: env!("CARGO_PKG_VERSION").into(),
            fingerprint: self.fingerprint().to_owned(),
            step: self.optimizer_state.step,
            best: self.best.as_ref().map(|best| (best.epoch, best.valid)),
            history: self.history.clone(),
            seconds: self.seconds(),
        };
        let metadata = serde_json::to_string(&metadata).expect("plain values");
        let lists = [
            ("weights", Some(self.network.parameters())),
            ("first_moment", Some(&self.optimizer_state.first_moment[..])),
            ("second_moment", Some(&self.optimizer_state.second_moment[..])),
            ("best", self.best.as_ref().map(|best| &best.parameters[..])),
        ];
        let bytes: Vec<(&str, Vec<u8>)> = lists
            .into_iter()
            .filter_map(|(name, values)| {
                Some((name, values?.iter().flat_map(|value| value.to_le_bytes()).collect()))
            })
            .collect();
        let mut views = vec![];
        for (name, bytes) in &bytes {
            let view = TensorView::new(Dtype::F32, vec![bytes.len() / 4], bytes);
            views.push((*name, view.expect("four bytes per number")));
        }
        let metadata = with_checksum(&metadata, views.iter().map(|(name, view)| (*name, view)));
        let metadata = HashMap::from([(KEY.to_owned(), metadata)]);
        safetensors::serialize(views, Some(metadata)).expect("names are different")
    }

    /// Resumes a saved run; an error if it was saved with other rows or settings.
    pub fn resume(spec: &'a RunSpec<A>, bytes: &[u8]) -> Result<Self> {
        let bad = |why: &dyn std::fmt::Display| Error::BadState { why: why.to_string() };
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| bad(&error))?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| bad(&error))?;
        let metadata = metadata.metadata().as_ref().and_then(|entries| entries.get(KEY));
        let metadata = metadata.ok_or_else(|| bad(&"it has no metadata of a run"))?;
        let metadata = without_checksum(metadata, &tensors).map_err(|why| bad(&why))?;
        let metadata: CheckpointMetadata =
            serde_json::from_str(&metadata).map_err(|error| bad(&error))?;
        let mut trainer = Self::new(spec)?;
        if metadata.fingerprint != trainer.fingerprint() {
            return Err(bad(&"it was saved with different rows or settings"));
        }
        let list = |name: &str, length: usize| -> Result<Vec<f32>> {
            let tensor = tensors.tensor(name).map_err(|error| bad(&error))?;
            let values: Vec<f32> =
                tensor.data().as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b)).collect();
            let right = tensor.dtype() == Dtype::F32 && values.len() == length;
            if right { Ok(values) } else { Err(bad(&format!("`{name}` has the wrong size"))) }
        };
        let weights = trainer.network.parameters().len();
        trainer.network.parameters_mut().copy_from_slice(&list("weights", weights)?);
        let state = &mut trainer.optimizer_state;
        state.first_moment = list("first_moment", state.first_moment.len())?;
        state.second_moment = list("second_moment", state.second_moment.len())?;
        state.step = metadata.step;
        trainer.best = match metadata.best {
            Some((epoch, valid)) => {
                Some(BestEpoch { epoch, valid, parameters: list("best", weights)? })
            }
            None => None,
        };
        trainer.history = metadata.history;
        trainer.seconds_before = metadata.seconds;
        trainer.stop_if_out_of_patience();
        Ok(trainer)
    }
}
