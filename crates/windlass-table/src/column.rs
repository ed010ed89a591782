//! Numbers in and out of columns of any numeric type.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, Float64Array, PrimitiveArray, RecordBatch};
use arrow_schema::DataType;

/// Whether a column can be moved at all.
#[must_use]
pub fn is_numeric(data_type: &DataType) -> bool {
    data_type.is_numeric()
}

/// A type in words.
#[must_use]
pub fn in_words(data_type: &DataType) -> String {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => "text".into(),
        DataType::Boolean => "booleans".into(),
        DataType::Date32 | DataType::Date64 => "dates".into(),
        DataType::Timestamp(..) => "times".into(),
        DataType::Dictionary(..) => "categories".into(),
        integer if integer.is_integer() => "integers".into(),
        float if float.is_floating() => "floats".into(),
        other => other.to_string(),
    }
}

/// The numbers of a column; NaN becomes a missing value.
#[must_use]
pub fn numbers(column: &ArrayRef) -> Float64Array {
    let floats = to_floats(column);
    let floats = floats.as_primitive::<Float64Type>();
    // Without a way out in the middle the loop is one of vectors.
    let has_nan = |values: &[f64]| values.iter().fold(false, |any, value| any | value.is_nan());
    if !floats.values().chunks(1 << 10).any(has_nan) {
        return floats.clone();
    }
    floats.iter().map(|value| value.filter(|value| !value.is_nan())).collect()
}

/// A numeric column as floats. The usual types are converted here: `arrow_cast` is compiled for size, not for speed.
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
        _ => arrow_cast::cast(column, &DataType::Float64).expect("a numeric column"),
    }
}

/// The smallest and the largest number that is there; NaN counts as missing.
pub(crate) fn range(column: &Float64Array) -> Option<(f64, f64)> {
    /// Ranges that are kept side by side, so that the loop is one of vectors.
    const LANES: usize = 8;
    let (mut low, mut high) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
    let mut widen = |lane: usize, value: f64| {
        // Comparisons with NaN are false: it changes nothing.
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

/// Moved numbers as a column of a type, rounded where it has no fractions.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "in some of the types; `as` saturates"
)]
pub(crate) fn to_type(values: Float64Array, data_type: &DataType) -> ArrayRef {
    macro_rules! integers {
        ($type:ty) => {
            Arc::new(rounded::<$type>(&values, |value| {
                // `as` keeps to the ends of the type's range.
                value as <$type as ArrowPrimitiveType>::Native
            }))
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
        // Smaller floats and decimals keep to the ends of their range, as integers do.
        _ => {
            let most = largest(data_type);
            let kept: Float64Array = values.unary(|value: f64| value.clamp(-most, most));
            if data_type == &DataType::Float32 {
                return Arc::new(kept.unary::<_, Float32Type>(|value: f64| value as f32));
            }
            arrow_cast::cast(&kept, data_type).expect("a numeric type")
        }
    }
}

/// The largest number that a type of fractions holds.
fn largest(data_type: &DataType) -> f64 {
    match data_type {
        DataType::Float16 => 65504.0,
        DataType::Float32 => f64::from(f32::MAX),
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => {
            // A little less, because the power of ten may have been rounded up.
            let digits = 10_f64.powi((*precision).into()) * (1.0 - f64::EPSILON) - 1.0;
            digits / 10_f64.powi((*scale).into())
        }
        _ => f64::MAX,
    }
}

fn rounded<T: ArrowPrimitiveType>(
    values: &Float64Array,
    convert: impl Fn(f64) -> T::Native,
) -> PrimitiveArray<T> {
    values.unary(|value| convert(value.round()))
}

/// NaN stays NaN; and where a column cannot be null, NaN stands for what is missing.
pub(crate) fn keep_nans(moved: ArrayRef, original: &ArrayRef, nullable: bool) -> ArrayRef {
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
    let kept = (0..values.len()).map(|row| match values.is_null(row) {
        true if !nullable || was_nan(row) => Some(f64::NAN),
        true => None,
        false => Some(values.value(row)),
    });
    let kept: ArrayRef = Arc::new(kept.collect::<Float64Array>());
    arrow_cast::cast(&kept, moved.data_type()).expect("floats")
}

/// The bytes that the values of a block take. Columns of a file may share one buffer, which is not counted once
/// for each.
pub(crate) fn bytes_of(batch: &RecordBatch) -> u64 {
    let of = |column: &ArrayRef| {
        let data = column.to_data();
        data.get_slice_memory_size().unwrap_or_else(|_| data.get_array_memory_size()) as u64
    };
    batch.columns().iter().map(of).sum()
}
