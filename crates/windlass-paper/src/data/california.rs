//! California housing as in scikit-learn: averages per household instead of totals per block.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, Float64Array, RecordBatch};

use super::{DataSet, FileBytes, Result, schemas, text};

/// scikit-learn's columns, in its order.
pub(super) const COLUMNS: [&str; 9] = [
    "MedInc",
    "HouseAge",
    "AveRooms",
    "AveBedrms",
    "Population",
    "AveOccup",
    "Latitude",
    "Longitude",
    "MedHouseVal",
];

/// The unit of the target in dollars.
const UNIT: f64 = 100_000.0;

/// Reads the published columns and derives scikit-learn's.
pub(super) fn read(set: &DataSet, contents: &FileBytes) -> Result<RecordBatch> {
    let published = text::read(set, &contents.path, &contents.bytes, &schemas::CALIFORNIA)?;
    let column = |name: &str| {
        published.column_by_name(name).expect("the layout has it").as_primitive::<Float64Type>()
    };
    let households = column("households");
    let per_household = |name: &str| {
        let pairs = column(name).values().iter().zip(households.values());
        Arc::new(Float64Array::from_iter_values(pairs.map(|(total, count)| total / count)))
    };
    let same = |name: &str| Arc::new(column(name).clone()) as ArrayRef;
    let value = column("median_house_value").unary::<_, Float64Type>(|dollars| dollars / UNIT);
    let derived: [ArrayRef; 9] = [
        same("median_income"),
        same("housing_median_age"),
        per_household("total_rooms"),
        per_household("total_bedrooms"),
        same("population"),
        per_household("population"),
        same("latitude"),
        same("longitude"),
        Arc::new(value),
    ];
    let named = COLUMNS.into_iter().zip(derived);
    Ok(RecordBatch::try_from_iter(named).expect("every column has the rows of the file"))
}
