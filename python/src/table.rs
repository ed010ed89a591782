//! Tables by the Arrow C stream interface, without copies.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::cast::AsArray as _;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, Float64Array, Int64Array, RecordBatch, RecordBatchIterator, RecordBatchReader,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use numpy::ndarray::ArrayView2;
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use windlass_compare::{Similarity, similarity_report};
use windlass_table::{
    AugmentConfig, Augmentation, Columns, Decimals, IntegerHandling, OutputKind, RoleRules,
    RowIdSource, RowProgress, Table as Rows,
};

use crate::errors::{InputError, InputTypeError, Refused as _};
use crate::options::{self, CLIP, INTEGERS};
use crate::runtime::interruptible;

/// The name of a table in memory in messages.
pub(crate) const NAME: &str = "the table";

const CAPSULE: &std::ffi::CStr = c"arrow_array_stream";

/// An iterator of the batches of an object with `__arrow_c_stream__`.
pub(crate) fn stream(object: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let stream = object.call_method0("__arrow_c_stream__")?.cast_into::<PyCapsule>()?;
    let pointer = stream.pointer_checked(Some(CAPSULE))?.cast::<FFI_ArrowArrayStream>();
    #[expect(
        unsafe_code,
        reason = "the capsule's name says what it holds; it is moved out, as agreed"
    )]
    let stream = unsafe { FFI_ArrowArrayStream::from_raw(pointer.as_ptr()) };
    let reader = RecordBatchStreamReader::try_new(stream);
    reader.map_err(|error| InputTypeError::new_err(error.to_string()))
}

/// All batches of an object with `__arrow_c_stream__`.
pub(crate) fn read(object: &Bound<'_, PyAny>) -> PyResult<(SchemaRef, Vec<RecordBatch>)> {
    let reader = stream(object)?;
    let schema = reader.schema();
    let batches = reader.collect::<Result<_, _>>();
    Ok((schema, batches.map_err(|error| InputTypeError::new_err(error.to_string()))?))
}

/// The columns of a matrix as named Arrow arrays.
fn named<T: Clone, A: Array + From<Vec<T>> + 'static>(
    rows: ArrayView2<'_, T>,
    names: Vec<String>,
) -> PyResult<Vec<(Field, ArrayRef)>> {
    if names.len() != rows.ncols() {
        let text = format!("{} names for {} columns", names.len(), rows.ncols());
        return Err(InputError::new_err(text));
    }
    let column = |(name, column): (String, numpy::ndarray::ArrayView1<'_, T>)| {
        let values: ArrayRef = Arc::new(A::from(column.to_vec()));
        (Field::new(name, values.data_type().clone(), true), values)
    };
    Ok(names.into_iter().zip(rows.columns()).map(column).collect())
}

/// A table in memory.
#[pyclass(frozen, module = "windlass._windlass")]
pub(crate) struct Table {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Vec<RecordBatch>,
}

#[pymethods]
impl Table {
    /// Reads an object with `__arrow_c_stream__`.
    #[staticmethod]
    fn read(data: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (schema, batches) = read(data)?;
        Ok(Self { schema, batches })
    }

    /// A table of the columns of a matrix.
    #[staticmethod]
    fn of_arrays(x: PyReadonlyArray2<'_, f64>, names: Vec<String>) -> PyResult<Self> {
        let columns = named::<f64, Float64Array>(x.as_array(), names)?;
        let (fields, values): (Vec<Field>, Vec<ArrayRef>) = columns.into_iter().unzip();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), values);
        let batch = batch.map_err(|error| InputError::new_err(error.to_string()))?;
        Ok(Self { schema: batch.schema(), batches: vec![batch] })
    }

    /// Appends the columns of a matrix of floats or integers.
    fn with_columns(&self, y: &Bound<'_, PyAny>, names: Vec<String>) -> PyResult<Self> {
        let more = if let Ok(whole) = y.extract::<PyReadonlyArray2<'_, i64>>() {
            named::<i64, Int64Array>(whole.as_array(), names)?
        } else {
            let floats = y.extract::<PyReadonlyArray2<'_, f64>>()?;
            named::<f64, Float64Array>(floats.as_array(), names)?
        };
        let (rows, got) = (self.__len__(), more.first().map_or(0, |(_, values)| values.len()));
        if rows != got {
            let text = format!("x and y must have the same number of rows, got {rows} and {got}");
            return Err(InputError::new_err(text));
        }
        let mut fields: Vec<_> = self.schema.fields().iter().cloned().collect();
        fields.extend(more.iter().map(|(field, _)| Arc::new(field.clone())));
        let metadata = self.schema.metadata().clone();
        let schema = Arc::new(Schema::new_with_metadata(fields, metadata));
        let (mut batches, mut first) = (vec![], 0);
        for own in &self.batches {
            let mut values = own.columns().to_vec();
            values.extend(more.iter().map(|(_, all)| all.slice(first, own.num_rows())));
            first += own.num_rows();
            let both = RecordBatch::try_new(Arc::clone(&schema), values);
            batches.push(both.map_err(|error| InputError::new_err(error.to_string()))?);
        }
        Ok(Self { schema, batches })
    }

    /// Selects columns.
    fn select(&self, names: Vec<String>) -> PyResult<Self> {
        let refuse = |error: arrow_schema::ArrowError| InputError::new_err(error.to_string());
        let place = |name: &String| self.schema.index_of(name).map_err(refuse);
        let places = names.iter().map(place).collect::<PyResult<Vec<_>>>()?;
        let batches = self.batches.iter().map(|batch| batch.project(&places).map_err(refuse));
        let schema = Arc::new(self.schema.project(&places).map_err(refuse)?);
        Ok(Self { schema, batches: batches.collect::<PyResult<_>>()? })
    }

    /// A column as an array: booleans, integers of 64 bits (missing: -1), or floats (missing: NaN).
    fn numbers<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let refuse = |error: arrow_schema::ArrowError| InputError::new_err(error.to_string());
        let place = self.schema.index_of(name).map_err(refuse)?;
        let data_type = self.schema.field(place).data_type();
        let columns = || self.batches.iter().map(|batch| batch.column(place));
        if *data_type == DataType::Boolean {
            let all: Vec<bool> =
                columns().flat_map(|part| part.as_boolean().values().iter()).collect();
            return Ok(PyArray1::from_vec(py, all).into_any());
        }
        let floats = columns().map(windlass_table::to_f64);
        if data_type.is_integer() {
            let whole: Vec<i64> = columns()
                .flat_map(|part| match part.data_type() {
                    DataType::Int64 => {
                        let part = part.as_primitive::<Int64Type>();
                        part.iter().map(|value| value.unwrap_or(-1)).collect::<Vec<_>>()
                    }
                    DataType::Int32 => {
                        let part = part.as_primitive::<Int32Type>();
                        part.iter().map(|value| value.map_or(-1, i64::from)).collect()
                    }
                    _ => vec![],
                })
                .collect();
            if whole.len() == self.__len__() {
                return Ok(PyArray1::from_vec(py, whole).into_any());
            }
        }
        let all: Vec<f64> = floats
            .flat_map(|part| part.iter().map(|value| value.unwrap_or(f64::NAN)).collect::<Vec<_>>())
            .collect();
        Ok(PyArray1::from_vec(py, all).into_any())
    }

    /// The column names.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The number of rows.
    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows to ignore the requested schema.
        let _ = requested_schema;
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        let reader = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        let reader: Box<dyn RecordBatchReader + Send> = Box::new(reader);
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(reader), CAPSULE)
    }
}

impl Table {
    pub(crate) fn rows(&self) -> PyResult<Rows> {
        self.rows_named(Path::new(NAME))
    }

    /// The rows, with a name for messages.
    pub(crate) fn rows_named(&self, name: &Path) -> PyResult<Rows> {
        Rows::from_batches(Arc::clone(&self.schema), self.batches.clone(), name).refused()
    }
}

/// Checks for Ctrl-C.
pub(crate) struct CancelCheck<'a>(pub(crate) &'a AtomicBool);

impl RowProgress for CancelCheck<'_> {
    fn advance(&self, _rows: u64) -> windlass_table::Result<()> {
        if self.0.load(Ordering::Relaxed) {
            return Err(windlass_table::Error::Interrupted);
        }
        Ok(())
    }
}

/// The roles of columns, from keyword arguments.
pub(crate) fn column_roles(target: Vec<String>, roles: &Bound<'_, PyDict>) -> PyResult<Columns> {
    let list = |name: &str| -> PyResult<Option<Vec<String>>> {
        match roles.get_item(name)? {
            Some(value) if !value.is_none() => value.extract().map(Some),
            _ => Ok(None),
        }
    };
    let integers = match roles.get_item("integers")? {
        Some(word) if !word.is_none() => {
            options::word("integers", &word.extract::<String>()?, &INTEGERS)?
        }
        _ => IntegerHandling::default(),
    };
    Ok(Columns {
        target,
        features: list("features")?,
        exclude: list("exclude")?.unwrap_or_default(),
        carry: list("carry")?.unwrap_or_default(),
        categorical: list("categorical")?.unwrap_or_default(),
        continuous: list("continuous")?.unwrap_or_default(),
        weight: match roles.get_item("weight")? {
            Some(name) if !name.is_none() => Some(name.extract()?),
            _ => None,
        },
        integers,
        rules: RoleRules::default(),
    })
}

/// Augments a table with provenance; returns it with the names of the augmented columns.
#[pyfunction]
#[pyo3(signature = (table, name, options, *, target, roles, copies, rare, originals, seed, clip, bounds, drop_missing_target))]
#[expect(clippy::too_many_arguments, reason = "called by keyword, in one place")]
pub(crate) fn augment(
    py: Python<'_>,
    table: &Table,
    name: &str,
    options: &Bound<'_, PyDict>,
    target: Vec<String>,
    roles: &Bound<'_, PyDict>,
    copies: Option<usize>,
    rare: Option<&Bound<'_, PyAny>>,
    originals: bool,
    seed: u64,
    clip: &str,
    bounds: BTreeMap<String, (Option<f64>, Option<f64>)>,
    drop_missing_target: bool,
) -> PyResult<(Table, Vec<String>)> {
    let method = options::method(name, options)?;
    let settings = AugmentConfig {
        columns: column_roles(target, roles)?,
        rare: options::rare_sources(&method, rare, copies)?,
        method,
        copies: copies.unwrap_or(1),
        originals,
        seed,
        clip: options::word("clip", clip, &CLIP)?,
        bounds: options::bounds(bounds)?,
        drop_missing_target,
        provenance: true,
        rows_by: RowIdSource::Number,
        decimals: Decimals::default(),
    };
    windlass::Copies::new(settings.copies).check().refused()?;
    let rows = table.rows()?;
    let made = interruptible(py, |stop| {
        let cancel = CancelCheck(stop);
        let augmentation = Augmentation::fit(&rows, &settings, u64::MAX, &cancel)?;
        let schema = Arc::clone(augmentation.schema());
        let mut batches = vec![];
        let mut keep = |_: usize, batch: RecordBatch| {
            batches.push(batch);
            Ok(())
        };
        augmentation.write(&cancel, None, &mut keep)?;
        let roles = augmentation.roles();
        let moved = roles.features().iter().chain(roles.targets());
        let moved = moved.map(|&place| rows.schema().field(place).name().clone()).collect();
        Ok::<_, windlass_table::Error>((schema, batches, moved))
    })?;
    let (schema, batches, moved) = made.refused()?;
    Ok((Table { schema, batches }, moved))
}

/// Compares synthetic rows with real rows; returns the comparison as JSON, and its page.
#[pyfunction]
#[pyo3(signature = (real, synthetic, *, target))]
pub(crate) fn similarity(
    py: Python<'_>,
    real: &Table,
    synthetic: &Table,
    target: Vec<String>,
) -> PyResult<(String, Vec<u8>)> {
    let columns = Columns { target, ..Columns::default() };
    let (rows, against) = (synthetic.rows_named(Path::new("synthetic"))?, real.rows()?);
    let found = interruptible(py, |stop| {
        Similarity::measure(&rows, &against, &columns, u64::MAX, &CancelCheck(stop))
    })?;
    let found = found.refused()?;
    let page =
        similarity_report(&found, "synthetic", "real", "windlass.similarity(real, synthetic)");
    let json = serde_json::to_string(&found);
    Ok((json.map_err(|error| InputError::new_err(error.to_string()))?, page.into_bytes()))
}

/// Writes a model or a report atomically. Existing files of another kind are overwritten only with `force`.
#[pyfunction]
#[pyo3(signature = (path, bytes, kind, *, force))]
pub(crate) fn write_atomic(
    path: std::path::PathBuf,
    bytes: &[u8],
    kind: &str,
    force: bool,
) -> PyResult<()> {
    let kind = match kind {
        "model" => OutputKind::Model,
        _ => OutputKind::Report,
    };
    if !force {
        windlass_table::check_existing(&path, kind).refused()?;
    }
    windlass_table::write_atomic(&path, bytes).refused()
}

/// Row weights as a numpy array.
pub(crate) fn to_vec(values: Option<PyReadonlyArray1<'_, f64>>) -> Option<Vec<f64>> {
    values.map(|values| values.as_array().to_vec())
}
