//! Rows that the test table shares with the training table.

use std::collections::HashSet;

use arrow_array::{Array, RecordBatch};
use windlass_table::{LoadedTable, Role, is_numeric, to_f64, to_strings};

/// Number of test rows that equal a training row in all features and targets.
pub(crate) fn shared_rows(train: &LoadedTable, test: &LoadedTable) -> usize {
    let schema = train.batch.schema();
    let used =
        schema.fields().iter().zip(&train.roles.roles).filter(|(_, role)| {
            matches!(role, Role::Target | Role::Continuous | Role::Categorical)
        });
    let names: Vec<&str> = used.map(|(field, _)| field.name().as_str()).collect();
    let (Some(known), Some(tested)) = (keys(&train.batch, &names), keys(&test.batch, &names))
    else {
        return 0;
    };
    let known: HashSet<Vec<u8>> = known.into_iter().collect();
    tested.iter().filter(|key| known.contains(*key)).count()
}

/// The values of every row as bytes; `None` if a column is missing.
fn keys(rows: &RecordBatch, columns: &[&str]) -> Option<Vec<Vec<u8>>> {
    let mut keys = vec![vec![]; rows.num_rows()];
    for column in columns {
        let column = rows.column_by_name(column)?;
        if is_numeric(column.data_type()) {
            // 1 and 1.0 are equal, and so are 0 and −0.
            for (key, value) in keys.iter_mut().zip(&to_f64(column)) {
                key.push(u8::from(value.is_some()));
                key.extend((value.unwrap_or(0.0) + 0.0).to_bits().to_le_bytes());
            }
        } else {
            for (key, value) in keys.iter_mut().zip(&to_strings(column)) {
                let value = value.map(str::as_bytes);
                key.extend(value.map_or(u64::MAX, |value| value.len() as u64).to_le_bytes());
                key.extend(value.unwrap_or_default());
            }
        }
    }
    Some(keys)
}
