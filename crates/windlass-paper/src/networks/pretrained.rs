//! Pretrained weights from a safetensors or PyTorch file.

use std::collections::HashMap;
use std::path::Path;

use pytorch_reader::{DType, PytorchReader};
use safetensors::tensor::{Dtype, SafeTensors};
use windlass_train::{Error, Result};

use crate::networks::params::ParamLayout;

/// The output layer, which is not loaded: it was trained for other targets.
const OUTPUT_LAYER: &str = "fc.";

/// Replaces initial values by those of a file, except in the output layer.
pub(crate) fn load(path: &Path, layout: &ParamLayout, values: &mut [f32]) -> Result<()> {
    let bad = |why: String| Error::Network { why: format!("{}: {why}", path.display()) };
    let tensors = read(path).map_err(bad)?;
    for (place, tensor) in layout.tensors.iter().enumerate() {
        if tensor.name.starts_with(OUTPUT_LAYER) {
            continue;
        }
        let pretrained = tensors.get(&tensor.name);
        let (shape, numbers) =
            pretrained.ok_or_else(|| bad(format!("there is no tensor `{}`", tensor.name)))?;
        if *shape != tensor.shape {
            let (name, wanted) = (&tensor.name, &tensor.shape);
            return Err(bad(format!("`{name}` is of shape {shape:?}, not {wanted:?}")));
        }
        if numbers.len() != tensor.len() {
            return Err(bad(format!("`{}` is cut short", tensor.name)));
        }
        if !numbers.iter().all(|number| number.is_finite()) {
            return Err(bad(format!("`{}` has a number that is not finite", tensor.name)));
        }
        values[layout.range(place)].copy_from_slice(numbers);
    }
    Ok(())
}

type Tensors = HashMap<String, (Vec<usize>, Vec<f32>)>;

/// Reads all 32-bit tensors.
fn read(path: &Path) -> Result<Tensors, String> {
    let floats = |bytes: &[u8]| -> Vec<f32> {
        bytes.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
    };
    if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("safetensors")) {
        let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
        let file = SafeTensors::deserialize(&bytes).map_err(|error| error.to_string())?;
        let wide = file.iter().filter(|(_, tensor)| tensor.dtype() == Dtype::F32);
        return Ok(wide
            .map(|(name, tensor)| {
                (name.to_owned(), (tensor.shape().to_vec(), floats(tensor.data())))
            })
            .collect());
    }
    // The reader may panic on malformed files.
    std::panic::catch_unwind(|| pickled(path, floats))
        .unwrap_or_else(|_| Err("it is broken in a way that its reader does not know".into()))
}

/// Reads all 32-bit tensors of a PyTorch file.
fn pickled(path: &Path, floats: impl Fn(&[u8]) -> Vec<f32>) -> Result<Tensors, String> {
    let reader = PytorchReader::new(path).map_err(|error| error.to_string())?;
    let mut tensors = Tensors::new();
    for (name, tensor) in reader.tensors() {
        if tensor.dtype() == DType::F32 {
            let bytes = tensor.read().map_err(|error| error.to_string())?;
            tensors.insert(name.clone(), (tensor.shape().to_vec(), floats(&bytes)));
        }
    }
    Ok(tensors)
}
