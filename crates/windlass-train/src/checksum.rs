//! The checksum of model files and checkpoints: a hash of the tensors and of the metadata, at the end of the
//! metadata, which is a JSON object.

use safetensors::tensor::{SafeTensors, TensorView};
use xxhash_rust::xxh3::Xxh3;

const KEY: &str = ",\"hash\":\"";
const ALGORITHM: &str = "xxh3-128:";
const DIGITS: usize = 32;
const END: &str = "\"}";
const LENGTH: usize = KEY.len() + ALGORITHM.len() + DIGITS + END.len();

/// Adds the checksum to metadata.
#[must_use]
pub fn with_checksum<'a, 'b>(
    metadata: &str,
    tensors: impl IntoIterator<Item = (&'a str, &'a TensorView<'b>)>,
) -> String
where
    'b: 'a,
{
    let object = metadata.strip_suffix('}').expect("a JSON object");
    let hash = digest(metadata, tensors.into_iter());
    format!("{object}{KEY}{ALGORITHM}{hash:032x}{END}")
}

/// Metadata without its checksum. An error if the file differs from its checksum; files of 0.1.0 have none.
pub fn without_checksum(metadata: &str, tensors: &SafeTensors<'_>) -> Result<String, String> {
    let at = metadata.len().saturating_sub(LENGTH);
    let bytes = &metadata.as_bytes()[at..];
    let is = |at: usize, part: &str| bytes[at.min(bytes.len())..].starts_with(part.as_bytes());
    // A damaged checksum is not an absent one.
    if !is(0, KEY) && !is(KEY.len(), ALGORITHM) {
        return Ok(metadata.to_owned());
    }
    let damaged = || "it is damaged: its contents differ from its checksum".to_owned();
    let object = metadata.get(..at).ok_or_else(damaged)?.to_owned() + "}";
    let views: Vec<(&str, TensorView<'_>)> = tensors.iter().collect();
    let views = views.iter().map(|(name, view)| (*name, view));
    if with_checksum(&object, views) == metadata { Ok(object) } else { Err(damaged()) }
}

/// The hash does not depend on the order of the tensors.
fn digest<'a, 'b: 'a>(
    metadata: &str,
    tensors: impl Iterator<Item = (&'a str, &'a TensorView<'b>)>,
) -> u128 {
    let mut tensors: Vec<_> = tensors.collect();
    tensors.sort_unstable_by_key(|(name, _)| *name);
    let mut hash = Xxh3::new();
    let mut add = |bytes: &[u8]| {
        hash.update(&(bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    add(metadata.as_bytes());
    for (name, view) in tensors {
        add(name.as_bytes());
        add(format!("{:?} {:?}", view.dtype(), view.shape()).as_bytes());
        add(view.data());
    }
    hash.digest128()
}
