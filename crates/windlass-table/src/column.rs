//! Columns and their values: types, conversion from and to `f64`, selection of rows.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, UInt64Array};
use arrow_schema::{DataType, Schema, TimeUnit};
use arrow_select::take::take_record_batch;
use ndarray::{Array2, ArrayView2};
use windlass::ParamName;

use crate::dates::{is_temporal, temporal_to_f64};
use crate::{Error, Result};

/// The start of the names of columns that Windlass writes; they are never features.
pub const MARK: &str = "windlass_";
/// The columns of provenance.
pub(crate) const PROVENANCE: [&str; 8] = [
    SYNTHETIC,
    SOURCE,
    "windlass_copy",
    "windlass_twin",
    "windlass_group",
    "windlass_gamma",
    PARTNER,
    "windlass_lambda",
];
/// The column that marks synthetic rows.
pub const SYNTHETIC: &str = "windlass_synthetic";
/// The column that names the source of a row.
pub const SOURCE: &str = "windlass_source";
/// The column that names the other row that a row was mixed with.
pub const PARTNER: &str = "windlass_partner";

/// Whether values of a type are numbers.
#[must_use]
pub fn is_numeric(data_type: &DataType) -> bool {
    data_type.is_numeric()
}

/// Whether values of a type can be group labels or keys.
pub(crate) fn is_discrete(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_discrete(values),
        DataType::Boolean
        | DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Date32
        | DataType::Date64
        | DataType::Timestamp(..)
        | DataType::Time32(_)
        | DataType::Time64(_) => true,
        other => other.is_integer(),
    }
}

/// The type of the values of a column, however they are stored: all text is `Utf8`.
pub(crate) fn logical_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => logical_type(values),
        DataType::LargeUtf8 | DataType::Utf8View => &DataType::Utf8,
        other => other,
    }
}

/// The type as which Parquet stores a column. It has no dates in milliseconds and no seconds: the
/// `parquet` crate would write integers, which other readers do not read as dates and times.
pub(crate) fn stored_type(data_type: &DataType) -> Cow<'_, DataType> {
    match data_type {
        DataType::Date64 => Cow::Owned(DataType::Date32),
        DataType::Time32(TimeUnit::Second) => Cow::Owned(DataType::Time32(TimeUnit::Millisecond)),
        DataType::Timestamp(TimeUnit::Second, zone) => {
            Cow::Owned(DataType::Timestamp(TimeUnit::Millisecond, zone.clone()))
        }
        other => Cow::Borrowed(other),
    }
}

/// The name of a type for users, such as "text" or "integers".
#[must_use]
pub fn type_name(data_type: &DataType) -> String {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text".into(),
        DataType::Boolean => "booleans".into(),
        DataType::Date32 | DataType::Date64 => "dates".into(),
        DataType::Timestamp(..) | DataType::Time32(_) | DataType::Time64(_) => "times".into(),
        DataType::Dictionary(..) => "categories".into(),
        integer if integer.is_integer() => "integers".into(),
        float if float.is_floating() => "floats".into(),
        other => other.to_string(),
    }
}

/// The index of the column that a parameter names.
pub(crate) fn find_column(schema: &Schema, column: &str, param: ParamName) -> Result<usize> {
    schema.index_of(column).map_err(|_| Error::NoSuchColumn {
        column: column.to_owned(),
        param,
        columns: schema.fields().iter().map(|field| field.name().clone()).collect(),
    })
}

/// The values of a numeric column as `f64`; NaN becomes a missing value. Dates and times are the
/// integers that they are stored as.
#[must_use]
pub fn to_f64(column: &ArrayRef) -> Float64Array {
    let floats = to_floats(column);
    let floats = floats.as_primitive::<Float64Type>();
    // Without an early exit inside a chunk the loop is vectorized.
    let has_nan = |values: &[f64]| values.iter().fold(false, |any, value| any | value.is_nan());
    if !floats.values().chunks(1 << 10).any(has_nan) {
        return floats.clone();
    }
    floats.iter().map(|value| value.filter(|value| !value.is_nan())).collect()
}

/// The values of a numeric column, without a copy if they are stored as 64-bit floats or integers.
#[derive(Debug)]
pub enum Numbers<'a> {
    /// Floats; NaN is a missing value.
    Floats(&'a Float64Array),
    /// Integers.
    Integers(&'a Int64Array),
    /// Values of another type.
    Converted(Float64Array),
}

impl<'a> Numbers<'a> {
    /// The values as [`to_f64`] gives them.
    #[must_use]
    pub fn new(column: &'a ArrayRef) -> Self {
        match column.data_type() {
            DataType::Float64 => Self::Floats(column.as_primitive()),
            DataType::Int64 => Self::Integers(column.as_primitive()),
            _ => Self::Converted(to_f64(column)),
        }
    }

    /// The value of a row; `None` if it is missing.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<f64> {
        match self {
            Self::Floats(values) => {
                values.is_valid(row).then(|| values.value(row)).filter(|value| !value.is_nan())
            }
            Self::Integers(values) => values.is_valid(row).then(|| values.value(row) as f64),
            Self::Converted(values) => values.is_valid(row).then(|| values.value(row)),
        }
    }
}

/// A numeric column as floats. The usual types are converted here, because `arrow_cast` is compiled
/// for size, not for speed.
#[expect(clippy::cast_lossless, reason = "not in all of the types")]
fn to_floats(column: &ArrayRef) -> ArrayRef {
    macro_rules! floats {
        ($type:ty) => {
            Arc::new(column.as_primitive::<$type>().unary::<_, Float64Type>(|value| value as f64))
        };
    }
    match column.data_type() {
        DataType::Float64 => Arc::clone(column),
        DataType::Float32 => floats!(Float32Type),
        DataType::Int8 => floats!(Int8Type),
        DataType::Int16 => floats!(Int16Type),
        DataType::Int32 => floats!(Int32Type),
        DataType::Int64 => floats!(Int64Type),
        DataType::UInt8 => floats!(UInt8Type),
        DataType::UInt16 => floats!(UInt16Type),
        DataType::UInt32 => floats!(UInt32Type),
        DataType::UInt64 => floats!(UInt64Type),
        temporal if is_temporal(temporal) => Arc::new(temporal_to_f64(column)),
        _ => arrow_cast::cast(column, &DataType::Float64).expect("a numeric column"),
    }
}

/// The smallest and the largest value; NaN counts as missing.
pub(crate) fn range(column: &Float64Array) -> Option<(f64, f64)> {
    /// Independent ranges, so that the loop is vectorized.
    const LANES: usize = 8;
    let (mut low, mut high) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    let mut widen = |lane: usize, value: f64| {
        // Comparisons with NaN are false, so it changes nothing.
        low[lane] = if value < low[lane] { value } else { low[lane] };
        high[lane] = if value > high[lane] { value } else { high[lane] };
    };
    if column.null_count() == 0 {
        let (rows, rest) = column.values().as_chunks::<LANES>();
        for row in rows {
            for (lane, &value) in row.iter().enumerate() {
                widen(lane, value);
            }
        }
        for &value in rest {
            widen(0, value);
        }
    } else {
        column.iter().flatten().for_each(|value| widen(0, value));
    }
    let low = low.into_iter().fold(f64::INFINITY, f64::min);
    let high = high.into_iter().fold(f64::NEG_INFINITY, f64::max);
    (low <= high).then_some((low, high))
}

/// A value rounded to `decimals`: the nearest number whose shortest text has at most this many.
pub(crate) fn round_decimals(value: f64, decimals: u8) -> f64 {
    /// Larger floats are farther apart than decimals.
    const WHOLE: f64 = (1_u64 << 53) as f64;
    // Powers up to 10²² are exact, and so the quotient is the nearest float.
    let unit = 10_f64.powi(decimals.min(22).into());
    let scaled = (value * unit).round();
    // Adding 0 turns −0 into 0.
    if scaled.abs() < WHOLE { scaled / unit + 0.0 } else { value }
}

/// Moved values as a column of a type; rounded for integers, and clamped to the range of the type.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "in some of the types; `as` saturates"
)]
pub(crate) fn to_type(values: Float64Array, data_type: &DataType) -> ArrayRef {
    macro_rules! integers {
        ($type:ty) => {
            Arc::new(values.unary::<_, $type>(|value| value.round() as _))
        };
    }
    match data_type {
        DataType::Float64 => Arc::new(values),
        DataType::Int8 => integers!(Int8Type),
        DataType::Int16 => integers!(Int16Type),
        DataType::Int32 => integers!(Int32Type),
        DataType::Int64 => integers!(Int64Type),
        DataType::UInt8 => integers!(UInt8Type),
        DataType::UInt16 => integers!(UInt16Type),
        DataType::UInt32 => integers!(UInt32Type),
        DataType::UInt64 => integers!(UInt64Type),
        DataType::Date32 | DataType::Time32(_) => {
            arrow_cast::cast(&to_type(values, &DataType::Int32), data_type).expect("from integers")
        }
        DataType::Date64 => {
            // Whole days, in milliseconds.
            const DAY: f64 = 86_400_000.0;
            let days = values.unary(|value: f64| (value / DAY).round() * DAY);
            arrow_cast::cast(&to_type(days, &DataType::Int64), data_type).expect("from integers")
        }
        temporal if is_temporal(temporal) => {
            arrow_cast::cast(&to_type(values, &DataType::Int64), data_type).expect("from integers")
        }
        // Smaller floats and decimals saturate too.
        _ => {
            let limit = largest(data_type);
            let clamped: Float64Array = values.unary(|value: f64| value.clamp(-limit, limit));
            if data_type == &DataType::Float32 {
                return Arc::new(clamped.unary::<_, Float32Type>(|value: f64| value as f32));
            }
            arrow_cast::cast(&clamped, data_type).expect("a numeric type")
        }
    }
}

/// The largest value of a float or decimal type.
fn largest(data_type: &DataType) -> f64 {
    match data_type {
        DataType::Float16 => 65504.0,
        DataType::Float32 => f64::from(f32::MAX),
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => {
            // Slightly less, because the power of ten may have been rounded up.
            let digits = 10_f64.powi((*precision).into()) * (1.0 - f64::EPSILON) - 1.0;
            digits / 10_f64.powi((*scale).into())
        }
        _ => f64::MAX,
    }
}

/// Puts NaN in place of null if the original was NaN, or if the column cannot be null.
pub(crate) fn restore_nans(moved: ArrayRef, original: &ArrayRef, nullable: bool) -> ArrayRef {
    if moved.null_count() == 0
        || !original.data_type().is_floating()
        || !moved.data_type().is_floating()
    {
        return moved;
    }
    let wide = |array: &ArrayRef| arrow_cast::cast(array, &DataType::Float64).expect("floats");
    let (values, from) = (wide(&moved), wide(original));
    let (values, from) = (values.as_primitive::<Float64Type>(), from.as_primitive::<Float64Type>());
    let was_nan = |row: usize| from.is_valid(row) && from.value(row).is_nan();
    let restored = (0..values.len()).map(|row| match values.is_null(row) {
        true if !nullable || was_nan(row) => Some(f64::NAN),
        true => None,
        false => Some(values.value(row)),
    });
    let restored: ArrayRef = Arc::new(restored.collect::<Float64Array>());
    arrow_cast::cast(&restored, moved.data_type()).expect("floats")
}

/// The memory of a batch. Shared buffers are counted once.
pub(crate) fn memory_size(batch: &RecordBatch) -> u64 {
    /// An array without its values.
    const ARRAY: u64 = 256;
    let size = |column: &ArrayRef| {
        let data = column.to_data();
        let values = data.get_slice_memory_size().unwrap_or_else(|_| data.get_array_memory_size());
        ARRAY + values as u64
    };
    batch.columns().iter().map(size).sum()
}

/// The values of some columns as a row-major matrix; missing values are NaN.
pub(crate) fn matrix(batch: &RecordBatch, columns: &[usize]) -> Array2<f64> {
    /// Rows that stay in the cache until the last column is written.
    const TILE: usize = 128;
    let columns: Vec<Float64Array> =
        columns.iter().map(|&column| to_f64(batch.column(column))).collect();
    let mut all = Vec::with_capacity(batch.num_rows() * columns.len());
    for first in (0..batch.num_rows()).step_by(TILE) {
        let rows = TILE.min(batch.num_rows() - first);
        let start = all.len();
        all.resize(start + rows * columns.len(), f64::NAN);
        let tile = &mut all[start..];
        for (place, column) in columns.iter().enumerate() {
            let values = &column.values()[first..first + rows];
            let out = tile[place..].iter_mut().step_by(columns.len());
            match column.nulls().filter(|nulls| nulls.null_count() > 0) {
                None => out.zip(values).for_each(|(out, &value)| *out = value),
                Some(nulls) => {
                    for (row, (out, &value)) in out.zip(values).enumerate() {
                        if nulls.is_valid(first + row) {
                            *out = value;
                        }
                    }
                }
            }
        }
    }
    Array2::from_shape_vec((batch.num_rows(), columns.len()), all).expect("rows × columns values")
}

/// The weight of every row, if there is a weight column.
pub(crate) fn row_weights(batch: &RecordBatch, weight: Option<usize>) -> Option<Vec<f64>> {
    weight.map(|column| to_f64(batch.column(column)).values().to_vec())
}

/// The rows with these indices, in this order.
///
/// # Panics
///
/// If there is no such row.
#[must_use]
pub fn select(batch: &RecordBatch, rows: &[usize]) -> RecordBatch {
    let rows = UInt64Array::from_iter_values(rows.iter().map(|&row| row as u64));
    take_record_batch(batch, &rows).expect("rows of the batch")
}

/// The values of a column without those that are missing.
pub(crate) struct PresentValues {
    values: Float64Array,
    /// The rows that have a value, if some have none.
    pub(crate) rows: Option<Vec<usize>>,
}

impl PresentValues {
    pub(crate) fn new(column: &Float64Array) -> Self {
        match column.nulls().filter(|nulls| nulls.null_count() > 0) {
            None => Self { values: column.clone(), rows: None },
            Some(nulls) => {
                let rows: Vec<usize> = nulls.valid_indices().collect();
                let values = rows.iter().map(|&row| column.value(row)).collect::<Vec<_>>();
                Self { values: values.into(), rows: Some(rows) }
            }
        }
    }

    pub(crate) fn view(&self) -> ArrayView2<'_, f64> {
        let values = self.values.values();
        ArrayView2::from_shape((values.len(), 1), values).expect("one column")
    }

    /// The items of the rows that have a value.
    pub(crate) fn select<'a, T: Copy>(&self, all: &'a [T]) -> std::borrow::Cow<'a, [T]> {
        match &self.rows {
            None => all.into(),
            Some(rows) => rows.iter().map(|&row| all[row]).collect(),
        }
    }
}
