//! A whole table in memory, with the roles of its columns: the input of models.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, RecordBatch, StringArray, new_null_array,
};
use arrow_schema::{DataType, Field, Schema};
use arrow_select::concat::{concat, concat_batches};
use windlass::ParamName;

use crate::column::{
    MARK, PARTNER, SOURCE, SYNTHETIC, is_numeric, memory_size, select, to_f64, to_type, type_name,
};
use crate::config::Columns;
use crate::io::read::table::Table;
use crate::progress::RowProgress;
use crate::row_place::RowPlaces;
use crate::rows::block::TableRows;
use crate::rows::row_id::content_hashes;
use crate::schema::profile::Profile;
use crate::schema::roles::{RequestedRoles, Role, RoleReason, Roles};
use crate::text::to_strings;
use crate::{Error, Result};

/// The column in which [`LoadedTable::distinct`] counts rows, if the table has no weights.
pub const ROW_COUNT: &str = "windlass_rows";

/// The rows of a table that have finite targets, and the roles of its columns.
#[derive(Debug, Clone)]
pub struct LoadedTable {
    /// The rows.
    pub batch: RecordBatch,
    /// Statistics of the columns.
    pub profile: Profile,
    /// The roles of the columns.
    pub roles: Roles,
    /// The places of the rows in the table, for messages.
    pub places: RowPlaces,
}

/// Rows of another table, in the columns of a [`LoadedTable`].
#[derive(Debug, Clone)]
pub struct AlignedRows {
    /// The rows.
    pub batch: RecordBatch,
    /// Columns of the other table that this one lacks, without those of provenance.
    pub ignored: Vec<String>,
}

impl LoadedTable {
    /// Reads a table and infers the roles of its columns. A missing target is an error, unless such
    /// rows are dropped.
    pub fn load(
        table: &Table,
        columns: &Columns,
        drop_missing_target: bool,
        memory: u64,
        progress: &dyn RowProgress,
    ) -> Result<Self> {
        let (loaded, _) =
            Self::load_every(table, columns, drop_missing_target, memory, progress, |_| 1)?;
        loaded.roles.check_values(table.schema(), &loaded.profile)?;
        Ok(loaded)
    }

    /// As [`load`](Self::load) with any target, but every n-th row only, if there are more rows than `most` or than
    /// fit in the memory. Returns n too; the profile is that of all rows.
    pub fn sample(
        table: &Table,
        columns: &Columns,
        most: u64,
        memory: u64,
        progress: &dyn RowProgress,
    ) -> Result<(Self, u64)> {
        // Text has about this many bytes, and four copies are counted.
        const VALUE: u64 = 16 * 4;
        let width = table.schema().fields().len() as u64;
        let mut most = most.min(memory / (VALUE * width.max(1))).max(1);
        loop {
            let every = |profile: &Profile| profile.rows.div_ceil(most).max(1);
            match Self::load_every(table, columns, false, memory, progress, every) {
                // Longer text than that.
                Err(Error::NeedsMemory { what: "training", .. }) if most > 100 => most /= 4,
                loaded => return loaded,
            }
        }
    }

    fn load_every(
        table: &Table,
        columns: &Columns,
        drop_missing_target: bool,
        memory: u64,
        progress: &dyn RowProgress,
        every: impl Fn(&Profile) -> u64,
    ) -> Result<(Self, u64)> {
        let schema = table.schema();
        let requested = RequestedRoles::for_models(schema, columns)
            .map_err(|error| table.with_example(error))?;
        let required = if drop_missing_target { requested.targets() } else { vec![] };
        let rows = TableRows::finite(table, required);
        progress.stage("reading");
        let profile = Profile::read(&rows, memory, progress)?;
        if profile.kept == 0 {
            return Err(Error::NoTargets { path: table.path().to_owned() });
        }
        let roles = requested.infer(schema, |place| profile.columns[place].clone());
        let every = every(&profile);
        let (mut batches, mut numbers, mut bytes) = (vec![], vec![], 0);
        for block in rows.blocks() {
            let block = block?;
            let chosen: Vec<usize> = (0..block.rows())
                .filter(|&row| every == 1 || (block.first + row as u64).is_multiple_of(every))
                .collect();
            if profile.kept < profile.rows || every > 1 {
                numbers.extend(chosen.iter().map(|&row| block.row_number(row)));
            }
            let batch = if every == 1 { block.batch } else { select(&block.batch, &chosen) };
            bytes += memory_size(&batch);
            // The rows, the design matrix, and copies of it.
            if bytes.saturating_mul(4) > memory {
                let needs = bytes.saturating_mul(4);
                return Err(Error::NeedsMemory { what: "training", needs, memory });
            }
            batches.push(batch);
        }
        let batch = concat_batches(schema, &batches).map_err(|error| Error::Damaged {
            path: table.path().to_owned(),
            why: error.to_string(),
        })?;
        let places = table.places().clone();
        let places = if numbers.is_empty() { places } else { places.with_numbers(numbers) };
        Ok((Self { batch, profile, roles, places }, every))
    }

    /// The rows with these indices, in this order.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let (batch, places) = (select(&self.batch, rows), self.places.select(rows));
        Self { batch, places, profile: self.profile.clone(), roles: self.roles.clone() }
    }

    /// Each distinct row once, in an order that depends on the rows alone, with the number of rows that it stands for
    /// as its weight, or the sum of their weights; rows without weight are absent. So a row of weight 2 is the same
    /// as two rows, and copies of a row are not both trained on and held out. `None` if all rows are distinct and
    /// have no weights: they stay in their order.
    #[must_use]
    pub fn distinct(&self) -> Option<Self> {
        let place = self.roles.weight();
        let others: Vec<usize> =
            (0..self.batch.num_columns()).filter(|&column| Some(column) != place).collect();
        let hashes = content_hashes(&self.batch.project(&others).expect("columns of the table"));
        let weights = place.map(|place| to_f64(self.batch.column(place)));
        let weight = |row: usize| match &weights {
            Some(weights) if weights.is_null(row) => 0.0,
            Some(weights) => weights.value(row),
            None => 1.0,
        };
        let mut found: BTreeMap<u64, (usize, f64)> = BTreeMap::new();
        for (row, hash) in hashes.into_iter().enumerate().filter(|&(row, _)| weight(row) > 0.0) {
            found.entry(hash).or_insert((row, 0.0)).1 += weight(row);
        }
        // One row is not enough for a model, and rows without any weight are refused there.
        if found.len() < 2 || (place.is_none() && found.len() == self.batch.num_rows()) {
            return None;
        }
        let (rows, totals): (Vec<usize>, Vec<f64>) = found.into_values().unzip();
        let mut distinct = self.select(&rows);
        let schema = self.batch.schema();
        let mut fields: Vec<Field> =
            schema.fields().iter().map(|field| field.as_ref().clone()).collect();
        let mut columns = distinct.batch.columns().to_vec();
        let totals: ArrayRef = Arc::new(Float64Array::from(totals));
        if let Some(place) = place {
            fields[place] = Field::new(fields[place].name(), DataType::Float64, false);
            columns[place] = totals;
        } else {
            fields.push(Field::new(ROW_COUNT, DataType::Float64, false));
            columns.push(totals);
            let Roles { mut roles, mut reasons, .. } = distinct.roles;
            roles.push(Role::Weight);
            reasons.push(RoleReason::NamedBy(ParamName("weight")));
            distinct.roles = Roles::new(roles, reasons);
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns);
        distinct.batch = batch.expect("columns of the same length");
        Some(distinct)
    }

    /// The same with floats instead of integers if a column of another table has floats.
    #[must_use]
    pub fn widened(mut self, other: &Self) -> Self {
        let schema = self.batch.schema();
        let mut fields: Vec<Field> =
            schema.fields().iter().map(|field| field.as_ref().clone()).collect();
        let mut columns = self.batch.columns().to_vec();
        for (field, column) in fields.iter_mut().zip(&mut columns) {
            let others = other.batch.column_by_name(field.name());
            if field.data_type().is_integer()
                && others.is_some_and(|others| others.data_type().is_floating())
            {
                *column = Arc::new(to_f64(column));
                *field = Field::new(field.name(), DataType::Float64, true);
            }
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns);
        self.batch = batch.expect("columns of the same length");
        self
    }

    /// The rows of another table, converted to the types of this table's columns.
    ///
    /// The other table must have the columns that models use, and `also`; a missing value is inserted for other
    /// columns that it lacks. Its further columns are ignored.
    pub fn align(&self, other: &Self, also: Option<&str>) -> Result<AlignedRows> {
        let (schema, others) = (self.batch.schema(), other.batch.schema());
        let mut columns: Vec<ArrayRef> = vec![];
        for (field, role) in schema.fields().iter().zip(&self.roles.roles) {
            let column = field.name();
            let unused = matches!(role, Role::Carried | Role::Excluded);
            let needed = !unused || also == Some(column.as_str());
            let missing = || new_null_array(field.data_type(), other.batch.num_rows());
            columns.push(match other.batch.column_by_name(column) {
                Some(values) => match convert(values, field.data_type()) {
                    Ok(values) => values,
                    Err(_) if !needed => missing(),
                    Err(row) => {
                        let text = to_strings(values);
                        let value = if text.is_valid(row) { text.value(row) } else { "" };
                        let expected = type_name(field.data_type());
                        return Err(Error::OtherType {
                            column: column.clone(),
                            row: other.places.place(row as u64),
                            why: format!("`{value}`, but the table has {expected}"),
                        });
                    }
                },
                None if !needed => missing(),
                None => {
                    let columns = others.fields().iter().map(|field| field.name().clone());
                    return Err(Error::LacksColumn {
                        column: column.clone(),
                        columns: columns.collect(),
                    });
                }
            });
        }
        let batch = RecordBatch::try_new(Arc::new(nullable(&schema)), columns);
        let batch = batch.expect("columns of the table's types");
        let names = others.fields().iter().map(|field| field.name());
        let unknown = |name: &&String| schema.index_of(name).is_err() && !name.starts_with(MARK);
        Ok(AlignedRows { batch, ignored: names.filter(unknown).cloned().collect() })
    }

    /// This table followed by [aligned](Self::align) rows, which are marked as synthetic: they are trained on, but
    /// not held out. `sources` and `partners` name the rows that each row of both was derived from.
    #[must_use]
    pub fn joined(&self, rows: &RecordBatch, sources: StringArray, partners: StringArray) -> Self {
        let (own, added) = (self.batch.num_rows(), rows.num_rows());
        let schema = self.batch.schema();
        let mut fields: Vec<Field> =
            nullable(&schema).fields().iter().map(|field| field.as_ref().clone()).collect();
        let both = self.batch.columns().iter().zip(rows.columns());
        let mut columns: Vec<ArrayRef> =
            both.map(|(a, b)| concat(&[a.as_ref(), b.as_ref()]).expect("one type")).collect();
        let marks = self.batch.column_by_name(SYNTHETIC).and_then(|marks| marks.as_boolean_opt());
        let is_marked = |row: usize| {
            marks.is_some_and(|marks| row < own && marks.is_valid(row) && marks.value(row))
        };
        let synthetic: BooleanArray =
            (0..own + added).map(|row| Some(row >= own || is_marked(row))).collect();
        let mut roles = self.roles.clone();
        let provenance: [(&str, ArrayRef); 3] = [
            (SYNTHETIC, Arc::new(synthetic)),
            (SOURCE, Arc::new(sources)),
            (PARTNER, Arc::new(partners)),
        ];
        for (name, values) in provenance {
            let field = Field::new(name, values.data_type().clone(), true);
            if let Ok(place) = schema.index_of(name) {
                (fields[place], columns[place]) = (field, values);
            } else {
                fields.push(field);
                columns.push(values);
                roles.roles.push(Role::Excluded);
                roles.reasons.push(RoleReason::NamedBy(ParamName("rows")));
            }
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns);
        Self {
            batch: batch.expect("columns of the same length"),
            profile: self.profile.clone(),
            roles: Roles::new(roles.roles, roles.reasons),
            places: self.places.with_added(own, added),
        }
    }
}

/// The same columns, which may have missing values.
fn nullable(schema: &Schema) -> Schema {
    let fields = schema.fields().iter().map(|field| field.as_ref().clone().with_nullable(true));
    Schema::new(fields.collect::<Vec<_>>())
}

/// A column as another type: numbers are rounded to integers, and numbers without decimals are written without
/// them. The error is the first row whose value cannot be converted.
fn convert(values: &ArrayRef, to: &DataType) -> Result<ArrayRef, usize> {
    let from = values.data_type();
    if from == to {
        return Ok(Arc::clone(values));
    }
    let cast = |values: &dyn Array| arrow_cast::cast(values, to).map_err(|_| 0_usize);
    let converted = if is_numeric(to) && is_numeric(from) {
        to_type(to_f64(values), to)
    } else if is_numeric(to) && *from != DataType::Boolean && !from.is_temporal() {
        let text = to_strings(values);
        let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| !number.is_nan());
        let numbers = text.iter().map(|text| text.and_then(number));
        to_type(numbers.collect(), to)
    } else if from.is_floating() && !to.is_temporal() {
        // 3.0 is the category 3.
        let whole = |value: f64| value.fract() == 0.0 && value.abs() < 1e15;
        let text = to_strings(values);
        let numbers = to_f64(values);
        let text = text.iter().zip(&numbers).map(|(text, number)| match number {
            Some(number) if whole(number) => Some(format!("{number:.0}")),
            Some(_) => text.map(str::to_owned),
            None => None,
        });
        let text: StringArray = text.collect();
        match to {
            DataType::Boolean => cast(&numbers)?,
            _ => cast(&text)?,
        }
    } else {
        match cast(values) {
            Ok(converted) => converted,
            Err(_) => cast(&to_strings(values))?,
        }
    };
    let (before, after) = (values.logical_nulls(), converted.logical_nulls());
    // NaN is missing, too.
    let floats = from.is_floating().then(|| to_f64(values));
    let is_nan = |row: usize| floats.as_ref().is_some_and(|floats| floats.is_null(row));
    let missing = |nulls: &Option<arrow_buffer::NullBuffer>, row| {
        nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    };
    let lost = |&row: &usize| missing(&after, row) && !missing(&before, row) && !is_nan(row);
    match (0..values.len()).find(lost) {
        Some(row) => Err(row),
        None => Ok(converted),
    }
}
