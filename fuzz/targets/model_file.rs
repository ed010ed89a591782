//! Some bytes as a model file: it is read and predicts, or is refused; never anything else.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use windlass_model::Model;

/// Reads a model and predicts two rows with it, one of them empty.
pub fn read_model(bytes: &[u8]) {
    let path = Path::new("model.windlass");
    let Ok(model) = Model::from_bytes(bytes, path) else { return };
    let names: std::collections::BTreeSet<&str> = model.metadata().features().into_iter().collect();
    let column = || Arc::new(Float64Array::from(vec![Some(1.5), None])) as ArrayRef;
    let columns = names.into_iter().map(|name| (name, column(), true));
    if let Ok(rows) = RecordBatch::try_from_iter_with_nullable(columns) {
        let _ = model.predict(&rows, path, 0);
    }
    let _ = Model::from_bytes(&model.to_bytes(), path).expect("what is written can be read");
}
