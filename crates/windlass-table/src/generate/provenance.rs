//! Provenance columns of the output.
//!
//! | Column | Methods | Meaning |
//! | :-- | :-- | :-- |
//! | `windlass_synthetic` | all | whether the row is synthetic |
//! | `windlass_source` | all | the source row: its number from 0, its key, or a hash of its content |
//! | `windlass_twin` | content hashes, random numbers per row | number of equal rows before the source |
//! | `windlass_copy` | all | the number of the copy; 0 for originals |
//! | `windlass_group` | ADA on groups | the group of the source |
//! | `windlass_gamma` | ADA | γ; null for originals |
//! | `windlass_partner`, `windlass_lambda` | mixup | the other row, and the weight of the source; null for originals |
//! | `windlass_lambda` | neighborhoods | λ of the row's neighborhood; null for originals |

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Int32Array};
use arrow_schema::{DataType, Field};
use windlass::RowProvenance;

use crate::column::{PARTNER, SOURCE, SYNTHETIC};
use crate::config::{AnchorSource, AugmentConfig, MethodConfig};
use crate::generate::generated_block::GeneratedBlock;
use crate::rows::block::Block;

pub(crate) const COPY: &str = "windlass_copy";
const TWIN: &str = "windlass_twin";

/// The columns for a method.
pub(crate) fn fields(settings: &AugmentConfig, source: &DataType) -> Vec<Field> {
    let mut fields = vec![
        Field::new(SYNTHETIC, DataType::Boolean, false),
        Field::new(SOURCE, source.clone(), false),
        Field::new(COPY, DataType::Int32, false),
    ];
    if settings.needs_duplicate_counts() {
        fields.push(Field::new(TWIN, DataType::Int32, false));
    }
    let number = |name: &str| Field::new(name, DataType::Float64, true);
    match settings.method.info().provenance {
        RowProvenance::Group => {
            let matrix = matches!(&settings.method, MethodConfig::Ada(ada)
                if matches!(ada.anchors, AnchorSource::Matrix(_)));
            if !matrix {
                fields.push(Field::new("windlass_group", DataType::Int32, false));
            }
            fields.push(number("windlass_gamma"));
        }
        RowProvenance::Pair => {
            fields.push(Field::new(PARTNER, source.clone(), true));
            fields.push(number("windlass_lambda"));
        }
        RowProvenance::Neighborhood => fields.push(number("windlass_lambda")),
        RowProvenance::Source => {}
    }
    fields
}

/// The values of these columns for one block of a copy.
pub(crate) fn columns(copy: usize, block: &Block, generated: &dyn GeneratedBlock) -> Vec<ArrayRef> {
    let rows = block.rows();
    let copy_number = i32::try_from(copy).unwrap_or(i32::MAX);
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(BooleanArray::from(vec![copy > 0; rows])),
        block.source_column(),
        Arc::new(Int32Array::from(vec![copy_number; rows])),
    ];
    let numbers = |numbers: &[u32]| -> ArrayRef {
        let number = |&number: &u32| i32::try_from(number).unwrap_or(i32::MAX);
        Arc::new(numbers.iter().map(number).collect::<Int32Array>())
    };
    let duplicates = block.row_ids.as_ref().and_then(|ids| ids.duplicates.as_deref());
    columns.extend(duplicates.map(numbers));
    columns.extend(generated.groups().as_deref().map(numbers));
    if let Some(gammas) = generated.gammas() {
        columns.push(Arc::new(gammas));
    }
    if let Some(lambdas) = generated.lambdas() {
        columns.push(Arc::new(lambdas));
    }
    if let Some((partners, lambdas)) = generated.partners() {
        columns.push(partners);
        columns.push(Arc::new(lambdas));
    }
    columns
}
