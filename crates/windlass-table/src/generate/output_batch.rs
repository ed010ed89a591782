//! The columns of the output, and its batches.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::filter::filter;
use rayon::prelude::*;

use crate::column::{range, restore_nans, round_decimals, to_f64, to_type};
use crate::config::{AugmentConfig, IntegerHandling};
use crate::generate::generated_block::GeneratedBlock;
use crate::generate::provenance;
use crate::rows::block::Block;
use crate::schema::roles::{Role, Roles};
use crate::{Error, Result};

/// The columns of the output.
#[derive(Debug)]
pub(crate) struct OutputLayout {
    pub(crate) schema: SchemaRef,
    columns: Vec<OutputColumn>,
    provenance: bool,
}

/// The range and decimals of an input column.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ObservedColumn {
    pub(crate) range: Option<(f64, f64)>,
    /// The number of decimals of its synthetic values; `None` if they are not rounded.
    pub(crate) decimals: Option<u8>,
}

#[derive(Debug)]
struct OutputColumn {
    /// The index in the input.
    place: usize,
    /// The index among the moved columns.
    moved: Option<usize>,
    data_type: DataType,
    nullable: bool,
    /// The number of decimals of moved values; `None` if they are not rounded.
    decimals: Option<u8>,
    /// The bounds of a moved column, or its observed range.
    limits: Option<(f64, f64)>,
    /// Whether moved values are clipped to the limits.
    clip: bool,
}

/// Number of values outside the limits of a column.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct OutOfRange {
    pub(crate) below: u64,
    pub(crate) above: u64,
    /// Whether they were clipped.
    pub(crate) clipped: bool,
}

pub(crate) struct OutputBatch {
    pub(crate) batch: RecordBatch,
    /// One per moved column; empty for originals.
    pub(crate) out_of_range: Vec<OutOfRange>,
    /// Which rows of the block are in the batch, if not all are.
    pub(crate) kept: Option<BooleanArray>,
}

impl OutputBatch {
    /// The numbers of the rows that are kept.
    pub(crate) fn keep_numbers(&self, values: Float64Array) -> Float64Array {
        keep_numbers(values, self.kept.as_ref())
    }

    /// The groups of the rows that are kept.
    pub(crate) fn keep_groups(&self, groups: Vec<u32>) -> Vec<u32> {
        let Some(kept) = &self.kept else { return groups };
        groups
            .into_iter()
            .zip(kept.values())
            .filter(|(_, kept)| *kept)
            .map(|(own, _)| own)
            .collect()
    }
}

fn keep_numbers(values: Float64Array, kept: Option<&BooleanArray>) -> Float64Array {
    match kept {
        Some(kept) => filter(&values, kept).expect("a flag for every row").as_primitive().clone(),
        None => values,
    }
}

/// The values of the rows that are kept.
fn keep(values: &ArrayRef, kept: Option<&BooleanArray>) -> ArrayRef {
    match kept {
        Some(kept) => filter(values, kept).expect("a flag for every row"),
        None => Arc::clone(values),
    }
}

impl OutputLayout {
    /// `source_type` is the type of `windlass_source`.
    pub(crate) fn new(
        input: &Schema,
        roles: &Roles,
        observed: &[ObservedColumn],
        settings: &AugmentConfig,
        source_type: &DataType,
    ) -> Result<Self> {
        let moved = roles.moved();
        let column = |place: usize| {
            let moved = moved.iter().position(|&other| other == place);
            let field = input.field(place);
            let to_float = settings.columns.integers == IntegerHandling::Float;
            let float = moved.is_some() && to_float && field.data_type().is_integer();
            let data_type = if float { DataType::Float64 } else { field.data_type().clone() };
            let ObservedColumn { range, decimals } = observed[place];
            let decimals = decimals.filter(|_| data_type.is_floating());
            let bounds = settings.bounds.get(field.name());
            let (limits, clip) = match bounds {
                Some(bounds) if !settings.clip => (Some(bounds.range()), true),
                _ => (range, settings.clip),
            };
            let digits = if data_type.is_integer() { Some(0) } else { decimals };
            let limits = limits.map(|limits| on_grid(limits, digits));
            let nullable = field.is_nullable();
            OutputColumn { place, moved, data_type, nullable, decimals, limits, clip }
        };
        let written = (0..roles.roles.len()).filter(|&place| roles.roles[place] != Role::Excluded);
        let columns: Vec<OutputColumn> = written.map(column).collect();
        let field = |column: &OutputColumn| {
            input.field(column.place).clone().with_data_type(column.data_type.clone())
        };
        let mut fields: Vec<Field> = columns.iter().map(field).collect();
        if settings.provenance {
            for added in provenance::fields(settings, source_type) {
                if fields.iter().any(|field| field.name() == added.name()) {
                    return Err(Error::ReservedColumn { column: added.name().clone() });
                }
                fields.push(added);
            }
        }
        let provenance = settings.provenance;
        Ok(Self { schema: Arc::new(Schema::new(fields)), columns, provenance })
    }

    /// A block of a copy; copy 0 are the originals. Only `sources` are part of it, if given.
    pub(crate) fn batch(
        &self,
        copy: usize,
        block: &Block,
        generated: &dyn GeneratedBlock,
        sources: Option<&[bool]>,
    ) -> Result<OutputBatch> {
        let kept = match (generated.keep(), sources) {
            (Some(own), Some(sources)) => {
                Some(own.iter().zip(sources).map(|(own, source)| *own && *source).collect())
            }
            (own, sources) => own.or_else(|| sources.map(<[bool]>::to_vec)),
        };
        let kept = kept.map(BooleanArray::from);
        let column = |column: &OutputColumn| -> Result<_> {
            let original = block.batch.column(column.place);
            Ok(match column.moved {
                Some(index) if copy > 0 => {
                    let values = generated.column(index, &to_f64(original))?;
                    let values = keep_numbers(values, kept.as_ref());
                    let original = keep(original, kept.as_ref());
                    let (values, outside) = column.finish(values, &original);
                    (values, Some((index, outside)))
                }
                _ if original.data_type() == &column.data_type => {
                    (keep(original, kept.as_ref()), None)
                }
                _ => {
                    let cast = arrow_cast::cast(original, &column.data_type).expect("a number");
                    (keep(&cast, kept.as_ref()), None)
                }
            })
        };
        let columns = self.columns.par_iter().map(column).collect::<Result<Vec<_>>>()?;
        let (mut columns, outside): (Vec<ArrayRef>, Vec<_>) = columns.into_iter().unzip();
        let mut outside: Vec<(usize, OutOfRange)> = outside.into_iter().flatten().collect();
        outside.sort_by_key(|&(index, _)| index);
        if self.provenance {
            let provenance = provenance::columns(copy, block, generated);
            columns.extend(provenance.iter().map(|column| keep(column, kept.as_ref())));
        }
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .expect("columns of the schema's types");
        let out_of_range = outside.into_iter().map(|(_, outside)| outside).collect();
        Ok(OutputBatch { batch, out_of_range, kept })
    }
}

impl OutputColumn {
    /// Moved values in the type of the column, and how many are below and above its limits.
    fn finish(&self, values: Float64Array, original: &ArrayRef) -> (ArrayRef, OutOfRange) {
        let values = match self.decimals {
            Some(decimals) => values.unary(|value| round_decimals(value, decimals)),
            None => values,
        };
        let Some((low, high)) = self.limits else {
            return (self.convert(values, original), OutOfRange::default());
        };
        // Values inside the range after rounding are not counted.
        let integer = self.data_type.is_integer();
        let (mut below, mut above) = (0, 0);
        let mut count = |value: f64| {
            let value = if integer { value.round() } else { value };
            below += u64::from(value < low);
            above += u64::from(value > high);
        };
        let inside = range(&values).is_none_or(|(least, most)| least >= low && most <= high);
        match values.null_count() {
            _ if inside => {}
            0 => values.values().iter().for_each(|&value| count(value)),
            _ => values.iter().flatten().for_each(count),
        }
        let clipped = self.clip && below + above > 0;
        let values = if clipped { values.unary(|value| value.clamp(low, high)) } else { values };
        (self.convert(values, original), OutOfRange { below, above, clipped })
    }

    fn convert(&self, values: Float64Array, original: &ArrayRef) -> ArrayRef {
        restore_nans(to_type(values, &self.data_type), original, self.nullable)
    }
}

/// The range of values with this number of decimals inside the limits; the limits themselves if there are none.
fn on_grid((low, high): (f64, f64), decimals: Option<u8>) -> (f64, f64) {
    let Some(decimals) = decimals else { return (low, high) };
    let unit = 10_f64.powi(-i32::from(decimals));
    let rounded = |value: f64| round_decimals(value, decimals);
    let up = if rounded(low) < low { rounded(rounded(low) + unit) } else { rounded(low) };
    let down = if rounded(high) > high { rounded(rounded(high) - unit) } else { rounded(high) };
    if up <= down { (up, down) } else { (low, high) }
}
