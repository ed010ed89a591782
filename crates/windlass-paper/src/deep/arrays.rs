//! Rows that are arrays instead of a table.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
use ndarray::Array2;
use sha2::{Digest, Sha256};

/// The column of domains in the table of targets.
pub(crate) const DOMAIN: &str = "domain";

/// Features and targets of the training, validation and test rows, in this order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Arrays {
    /// Features.
    pub(crate) x: [Array2<f32>; 3],
    /// Targets.
    pub(crate) y: [Array2<f64>; 3],
    /// Names of the targets.
    pub(crate) targets: Vec<String>,
    /// The domain of every row, in the order of the splits.
    pub(crate) domains: Option<Vec<String>>,
}

impl Arrays {
    /// Numbers of training, validation and test rows.
    pub(crate) fn counts(&self) -> [usize; 3] {
        [0, 1, 2].map(|part| self.y[part].nrows())
    }

    /// The table of targets and domains.
    pub(crate) fn table(&self) -> RecordBatch {
        let target = |(place, name): (usize, &String)| {
            let values = self.y.iter().flat_map(|part| part.column(place).into_iter().copied());
            (name.clone(), Arc::new(Float64Array::from_iter_values(values)) as ArrayRef)
        };
        let targets = self.targets.iter().enumerate().map(target);
        let domains = self.domains.iter().map(|domains| {
            let names = StringArray::from_iter_values(domains);
            (DOMAIN.to_owned(), Arc::new(names) as ArrayRef)
        });
        RecordBatch::try_from_iter(targets.chain(domains)).expect("as many of each")
    }

    /// A hash of the features.
    pub(crate) fn fingerprint(&self) -> String {
        let mut hash = Sha256::new();
        for part in &self.x {
            hash.update((part.nrows() as u64).to_le_bytes());
            for row in part.rows() {
                let bytes: Vec<u8> = row.iter().flat_map(|value| value.to_le_bytes()).collect();
                hash.update(&bytes);
            }
        }
        format!("sha256:{:x}", hash.finalize())
    }
}
