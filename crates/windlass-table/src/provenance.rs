//! Where every row comes from, as columns of the output.
//!
//! | Column | Of | Meaning |
//! | :-- | :-- | :-- |
//! | `windlass_synthetic` | all methods | whether the row was made |
//! | `windlass_source` | all methods | the row of the input that it is, or was made from: counted from 0, by its key, or by a hash of what it holds |
//! | `windlass_twin` | rows by what they hold, methods that draw for every row | of rows that hold the same, which it is |
//! | `windlass_copy` | all methods | the number of the copy; 0 for originals |
//! | `windlass_group` | ADA on groups | the group of the row and of its source |
//! | `windlass_gamma` | ADA | the strength; null for originals |
//! | `windlass_partner`, `windlass_lambda` | mixups | the other row, and how much the source counts; null for originals |

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray, Float64Array, Int32Array};
use arrow_schema::{DataType, Field};
use windlass::RowProvenance;

use crate::maker::BlockGenerator;
use crate::rows::Block;
use crate::settings::{AnchorSource, AugmentConfig, MethodConfig};

pub(crate) const SOURCE: &str = "windlass_source";
pub(crate) const COPY: &str = "windlass_copy";
pub(crate) const TWIN: &str = "windlass_twin";

/// The columns that a method adds.
pub(crate) fn fields(settings: &AugmentConfig, source: &DataType) -> Vec<Field> {
    let mut fields = vec![
        Field::new("windlass_synthetic", DataType::Boolean, false),
        Field::new(SOURCE, source.clone(), false),
        Field::new(COPY, DataType::Int32, false),
    ];
    if settings.needs_twins() {
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
            fields.push(Field::new("windlass_partner", source.clone(), true));
            fields.push(number("windlass_lambda"));
        }
        RowProvenance::Source => {}
    }
    fields
}

/// The values of these columns for one block of a copy.
pub(crate) fn columns(copy: usize, block: &Block, made: &BlockGenerator<'_>) -> Vec<ArrayRef> {
    let rows = block.rows();
    let copy_number = i32::try_from(copy).unwrap_or(i32::MAX);
    let mut columns: Vec<ArrayRef> = vec![
        Arc::new(BooleanArray::from(vec![copy > 0; rows])),
        block.source_column(),
        Arc::new(Int32Array::from(vec![copy_number; rows])),
    ];
    if let Some(twins) = block.names.as_ref().and_then(|names| names.twins.as_ref()) {
        let twins = twins.iter().map(|&twin| i32::try_from(twin).unwrap_or(i32::MAX));
        columns.push(Arc::new(twins.collect::<Int32Array>()));
    }
    if let Some(groups) = made.groups() {
        let groups = groups.into_iter().map(|group| i32::try_from(group).unwrap_or(i32::MAX));
        columns.push(Arc::new(groups.collect::<Int32Array>()));
    }
    if made.has_gamma() {
        columns.push(Arc::new((0..rows).map(|row| made.gamma(row)).collect::<Float64Array>()));
    }
    if let Some((partners, lambdas)) = made.pairs() {
        columns.push(partners);
        columns.push(Arc::new(lambdas));
    }
    columns
}
