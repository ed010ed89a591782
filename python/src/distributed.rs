//! Distributed tables: partial aggregates of passes, and synthetic rows of any batch.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{Int64Array, RecordBatch};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict};
use windlass_table::{
    AugmentConfig, Decimals, DuplicateCounter, Error, OutputKind, PassTask, RowIdSource,
    check_existing, row_ids, write_atomic,
};

use crate::errors::{InputTypeError, Refused as _};
use crate::options::{self, CLIP};
use crate::runtime::away;
use crate::table::{NAME, Table, column_roles, read, stream};

/// The schema of an object with `__arrow_c_schema__`.
fn schema_of(object: &Bound<'_, PyAny>) -> PyResult<SchemaRef> {
    let capsule = object.call_method0("__arrow_c_schema__")?.cast_into::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(c"arrow_schema"))?.cast::<FFI_ArrowSchema>();
    #[expect(
        unsafe_code,
        reason = "the capsule's name says what it holds, and it outlives the use"
    )]
    let schema = Schema::try_from(unsafe { pointer.as_ref() });
    let schema = schema.map_err(|error| InputTypeError::new_err(error.to_string()))?;
    Ok(Arc::new(schema))
}

fn identity(text: &str) -> PyResult<RowIdSource> {
    text.parse::<RowIdSource>().refused()
}

/// Numbers of duplicate rows in the partitions before this one.
fn duplicate_counter(before: Option<Vec<(i64, u32)>>) -> Option<DuplicateCounter> {
    before.map(|pairs| {
        DuplicateCounter::new(pairs.into_iter().map(|(id, before)| (id.cast_unsigned(), before)))
    })
}

/// The driver of a fit in passes over distributed rows.
#[pyclass(module = "windlass._windlass")]
pub(crate) struct FitDriver {
    core: Option<windlass_table::FitDriver>,
}

#[pymethods]
impl FitDriver {
    #[new]
    #[pyo3(signature = (schema, name, options, *, target, roles, copies, rare, originals, seed, clip, bounds, drop_missing_target, provenance, rows_by, memory))]
    #[expect(clippy::too_many_arguments, reason = "called by keyword, in one place")]
    fn new(
        schema: &Bound<'_, PyAny>,
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
        provenance: bool,
        rows_by: &str,
        memory: u64,
    ) -> PyResult<Self> {
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
            provenance,
            rows_by: identity(rows_by)?,
            decimals: Decimals::default(),
        };
        let core =
            windlass_table::FitDriver::new(schema_of(schema)?, &settings, memory).refused()?;
        Ok(Self { core: Some(core) })
    }

    /// The name and the task of the next pass; `None` after the last.
    fn task<'py>(&self, py: Python<'py>) -> PyResult<Option<(&'static str, Bound<'py, PyBytes>)>> {
        let Some(task) = self.core.as_ref().and_then(windlass_table::FitDriver::task) else {
            return Ok(None);
        };
        Ok(Some((task.name(), PyBytes::new(py, &task.to_bytes().refused()?))))
    }

    /// Finishes a pass with its merged aggregate.
    fn take(&mut self, py: Python<'_>, part: &mut PassAccumulator) -> PyResult<()> {
        let (Some(core), Some(part)) = (&mut self.core, part.core.take()) else {
            return Err(InputTypeError::new_err("the accumulator was already used"));
        };
        away(py, || core.take(part))?.refused()
    }

    /// The fitted method, after the last pass.
    fn finish(&mut self) -> PyResult<FittedTable> {
        let core = self
            .core
            .take()
            .ok_or_else(|| InputTypeError::new_err("the fit is already finished"))?;
        Ok(FittedTable { core: Arc::new(core.finish().refused()?) })
    }
}

/// The partial aggregate of some rows.
#[pyclass(module = "windlass._windlass")]
pub(crate) struct PassAccumulator {
    core: Option<windlass_table::PassAccumulator>,
    duplicate_counts: Option<DuplicateCounter>,
}

#[pymethods]
impl PassAccumulator {
    #[new]
    #[pyo3(signature = (task, schema, duplicate_counts=None))]
    fn new(
        task: &[u8],
        schema: &Bound<'_, PyAny>,
        duplicate_counts: Option<Vec<(i64, u32)>>,
    ) -> PyResult<Self> {
        let task = PassTask::from_bytes(task).refused()?;
        let core = windlass_table::PassAccumulator::new(&task, &*schema_of(schema)?).refused()?;
        Ok(Self { core: Some(core), duplicate_counts: duplicate_counter(duplicate_counts) })
    }

    /// Adds the rows of an object with the Arrow interface.
    fn add(&mut self, py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<()> {
        let (_, batches) = read(rows)?;
        let Self { core: Some(core), duplicate_counts } = self else {
            return Err(InputTypeError::new_err("the accumulator was already used"));
        };
        let add =
            || batches.into_iter().try_for_each(|batch| core.add(batch, duplicate_counts.as_mut()));
        away(py, add)?.refused()
    }

    /// Merges another partial aggregate.
    fn merge(&mut self, py: Python<'_>, found: &[u8]) -> PyResult<()> {
        let Some(core) = &mut self.core else {
            return Err(InputTypeError::new_err("the accumulator was already used"));
        };
        away(py, || core.merge(found))?.refused()
    }

    /// The serialized aggregate.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let Some(core) = &self.core else {
            return Err(InputTypeError::new_err("the accumulator was already used"));
        };
        Ok(PyBytes::new(py, &core.to_bytes().refused()?))
    }
}

/// A method fitted on a table.
///
/// Returned by :func:`windlass.spark.fit` and :func:`windlass.ray.fit`. Its files are those of the
/// options ``--save-fitted`` and ``--fitted`` of ``windlass augment``.
#[pyclass(frozen, module = "windlass._windlass")]
pub(crate) struct FittedTable {
    core: Arc<windlass_table::Fitted>,
}

#[pymethods]
impl FittedTable {
    /// Write the fitted state to a file, for ``--fitted`` of the command.
    ///
    /// Parameters
    /// ----------
    /// path : str or path-like
    ///     Output file. It is written atomically.
    /// force : bool, default False
    ///     Whether to overwrite an existing file that is not a fitted state.
    #[pyo3(signature = (path, *, force=false))]
    fn save(&self, path: PathBuf, force: bool) -> PyResult<()> {
        if !force {
            check_existing(&path, OutputKind::Fitted).refused()?;
        }
        write_atomic(&path, self.core.to_json().refused()?.as_bytes()).refused()
    }

    /// Read a file that :meth:`save` or ``windlass augment --save-fitted`` wrote.
    ///
    /// Parameters
    /// ----------
    /// path : str or path-like
    ///     File to read.
    ///
    /// Returns
    /// -------
    /// fitted
    ///     The fitted state.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        let text = std::fs::read_to_string(&path)?;
        let core = Arc::new(windlass_table::Fitted::from_json(&text, &path).refused()?);
        Ok(Self { core })
    }

    /// Return the serialized state.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.core.to_bytes().refused()?))
    }

    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<Self> {
        Ok(Self { core: Arc::new(windlass_table::Fitted::from_bytes(bytes).refused()?) })
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((make, (self.to_bytes(py)?,)))
    }

    /// The number of rows of the table that it was fitted on.
    #[getter]
    fn rows(&self) -> u64 {
        self.core.rows()
    }

    /// The number of rows of each group.
    #[getter]
    fn groups(&self) -> Vec<u64> {
        self.core.groups().into_iter().map(|group| group.rows).collect()
    }

    /// The columns without missing values in the fitted table, if it was fitted in this process.
    #[getter]
    fn complete(&self) -> Vec<&str> {
        self.core.complete()
    }

    /// The row identifier: "number", "content" or "column:NAME".
    #[getter]
    fn rows_by(&self) -> String {
        match &self.core.settings().rows_by {
            RowIdSource::Number => "number".into(),
            RowIdSource::Column(name) => format!("column:{name}"),
            RowIdSource::Content => "content".into(),
        }
    }

    /// Whether random numbers depend on rows, so that rows need identifiers.
    #[getter]
    fn draws_for_rows(&self) -> bool {
        self.core.settings().draws_for_rows()
    }

    fn __repr__(&self) -> String {
        let settings = self.core.settings();
        let target = settings.columns.target.join(", ");
        let (method, rows) = (settings.method.name(), self.core.rows());
        format!("<FittedTable: {method} for {target}, fitted on {rows} rows>")
    }
}

/// Generates rows from batches with a fitted method.
#[pyclass(module = "windlass._windlass")]
pub(crate) struct RowGenerator {
    core: windlass_table::BoundFitted,
    duplicate_counts: Option<DuplicateCounter>,
}

#[pymethods]
impl RowGenerator {
    #[new]
    #[pyo3(signature = (fitted, schema, duplicate_counts=None))]
    fn new(
        fitted: &FittedTable,
        schema: &Bound<'_, PyAny>,
        duplicate_counts: Option<Vec<(i64, u32)>>,
    ) -> PyResult<Self> {
        let core = Arc::clone(&fitted.core).bind(&schema_of(schema)?).refused()?;
        Ok(Self { core, duplicate_counts: duplicate_counter(duplicate_counts) })
    }

    /// An empty table with the schema of the output.
    #[getter]
    fn empty(&self) -> Table {
        Table { schema: Arc::clone(self.core.schema()), batches: vec![] }
    }

    /// All copies of the rows of an object with the Arrow interface.
    fn make(&mut self, py: Python<'_>, rows: &Bound<'_, PyAny>) -> PyResult<Table> {
        let (_, batches) = read(rows)?;
        let Self { core, duplicate_counts } = self;
        let made = away(py, || {
            let made =
                batches.into_iter().map(|batch| core.generate(batch, duplicate_counts.as_mut()));
            made.collect::<Result<Vec<_>, _>>()
        });
        let batches = made?.refused()?.concat();
        Ok(Table { schema: Arc::clone(core.schema()), batches })
    }
}

/// Writes the output of a stream of rows to a file, and returns its number of rows. With `own`, the method was fitted
/// on the table of these rows, and the file gets a manifest.
#[pyfunction]
#[pyo3(signature = (fitted, schema, rows, path, *, duplicate_counts=None, own=false))]
pub(crate) fn write_rows(
    py: Python<'_>,
    fitted: &FittedTable,
    schema: &Bound<'_, PyAny>,
    rows: &Bound<'_, PyAny>,
    path: PathBuf,
    duplicate_counts: Option<Vec<(i64, u32)>>,
    own: bool,
) -> PyResult<u64> {
    let ready = Arc::clone(&fitted.core).bind(&schema_of(schema)?).refused()?;
    let manifest = own.then(|| fitted.core.manifest());
    let mut duplicate_counts = duplicate_counter(duplicate_counts);
    let rows = stream(rows)?.map(|batch| {
        batch.map_err(|error| Error::Damaged { path: NAME.into(), why: error.to_string() })
    });
    away(py, || ready.write(rows, duplicate_counts.as_mut(), &path, manifest.as_ref()))?.refused()
}

/// The row identifiers of a batch, as a column `id`.
#[pyfunction]
pub(crate) fn ids_of_rows(rows: &Bound<'_, PyAny>, rows_by: &str) -> PyResult<Table> {
    let (_, batches) = read(rows)?;
    let identity = identity(rows_by)?;
    let field = Field::new("id", DataType::Int64, false);
    let schema = Arc::new(Schema::new(vec![field]));
    let ids = |batch: RecordBatch| {
        let ids = row_ids(&batch, &identity).refused()?;
        let ids: Int64Array = ids.into_iter().map(u64::cast_signed).collect();
        let made = RecordBatch::try_new(Arc::clone(&schema), vec![Arc::new(ids)]);
        made.map_err(|error| InputTypeError::new_err(error.to_string()))
    };
    let batches = batches.into_iter().map(ids).collect::<PyResult<_>>()?;
    Ok(Table { schema, batches })
}
