//! A run on disk: safetensors with the weights, what the optimizer remembers and the best weights so far.

use std::collections::HashMap;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};

use crate::trainer::Best;
use crate::{Architecture, Epoch, Error, Learner, Result, RunSpec, Trainer};

/// The key of the notes in the file's metadata.
const KEY: &str = "windlass-run";

#[derive(Serialize, Deserialize)]
struct Notes {
    version: String,
    fingerprint: String,
    steps: u64,
    best: Option<(usize, f64)>,
    history: Vec<Epoch>,
    #[serde(default)]
    seconds: f64,
}

impl<'a, S: Architecture> Trainer<'a, S> {
    /// The state of the run, for [`resume`](Self::resume).
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let notes = Notes {
            version: env!("CARGO_PKG_VERSION").into(),
            fingerprint: self.fingerprint().to_owned(),
            steps: self.memory.steps,
            best: self.best.as_ref().map(|best| (best.epoch, best.valid)),
            history: self.history.clone(),
            seconds: self.seconds(),
        };
        let notes = serde_json::to_string(&notes).expect("plain values");
        let best = self.best.as_ref().map(|best| &best.values[..]);
        let lists = [
            ("weights", Some(self.network.values())),
            ("first", Some(&self.memory.first[..])),
            ("second", Some(&self.memory.second[..])),
            ("best", best),
        ];
        let bytes: Vec<(&str, Vec<u8>)> = lists
            .into_iter()
            .filter_map(|(name, values)| {
                Some((name, values?.iter().flat_map(|value| value.to_le_bytes()).collect()))
            })
            .collect();
        let views = bytes.iter().map(|(name, bytes)| {
            let view = TensorView::new(Dtype::F32, vec![bytes.len() / 4], bytes);
            (*name, view.expect("four bytes a number"))
        });
        let metadata = HashMap::from([(KEY.to_owned(), notes)]);
        safetensors::serialize(views, Some(metadata)).expect("names are different")
    }

    /// Goes on with a saved run: the one that these settings and rows belong to, or it is refused.
    pub fn resume(spec: &'a RunSpec<S>, bytes: &[u8]) -> Result<Self> {
        let bad = |why: &dyn std::fmt::Display| Error::BadState { why: why.to_string() };
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| bad(&error))?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| bad(&error))?;
        let notes = metadata.metadata().as_ref().and_then(|notes| notes.get(KEY));
        let notes: Notes = notes
            .ok_or_else(|| bad(&"it has no notes of a run"))
            .and_then(|notes| serde_json::from_str(notes).map_err(|error| bad(&error)))?;
        let mut trainer = Self::new(spec)?;
        if notes.fingerprint != trainer.fingerprint() {
            return Err(bad(&"it was saved with other rows or settings"));
        }
        let list = |name: &str, length: usize| -> Result<Vec<f32>> {
            let tensor = tensors.tensor(name).map_err(|error| bad(&error))?;
            let values: Vec<f32> =
                tensor.data().as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b)).collect();
            let right = tensor.dtype() == Dtype::F32 && values.len() == length;
            if right { Ok(values) } else { Err(bad(&format!("`{name}` has another size"))) }
        };
        let weights = trainer.network.values().len();
        trainer.network.values_mut().copy_from_slice(&list("weights", weights)?);
        trainer.memory.first = list("first", trainer.memory.first.len())?;
        trainer.memory.second = list("second", trainer.memory.second.len())?;
        trainer.memory.steps = notes.steps;
        trainer.best = match notes.best {
            Some((epoch, valid)) => Some(Best { epoch, valid, values: list("best", weights)? }),
            None => None,
        };
        trainer.history = notes.history;
        trainer.before = notes.seconds;
        trainer.stop_if_waited();
        Ok(trainer)
    }
}
