//! numpy arrays of float32 or float64, without copies.

use numpy::ndarray::ArrayD;
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods as _, PyReadonlyArray1, PyReadonlyArrayDyn};
use pyo3::prelude::*;
use windlass::{Partition, Samples};

use crate::errors::{InputError, InputTypeError, Refused as _};
use crate::runtime::away;

/// Rows of floats.
pub(crate) enum Rows<'py> {
    Single(PyReadonlyArrayDyn<'py, f32>),
    Double(PyReadonlyArrayDyn<'py, f64>),
}

/// Runs the same expression for float32 and float64 rows.
macro_rules! with_view {
    ($rows:expr, |$view:ident| $body:expr) => {
        match $rows {
            $crate::arrays::Rows::Single(rows) => {
                let $view = rows.as_array();
                $body
            }
            $crate::arrays::Rows::Double(rows) => {
                let $view = rows.as_array();
                $body
            }
        }
    };
}
pub(crate) use with_view;

impl<'py> Rows<'py> {
    pub(crate) fn of(object: &Bound<'py, PyAny>, name: &str) -> PyResult<Self> {
        if let Ok(rows) = object.cast::<PyArrayDyn<f64>>() {
            check_aligned::<f64>(rows, name)?;
            return Ok(Self::Double(rows.readonly()));
        }
        if let Ok(rows) = object.cast::<PyArrayDyn<f32>>() {
            check_aligned::<f32>(rows, name)?;
            return Ok(Self::Single(rows.readonly()));
        }
        let text = format!("{name} must be a numpy array of float32 or float64");
        Err(InputTypeError::new_err(text))
    }

    pub(crate) fn shape(&self) -> &[usize] {
        use numpy::PyUntypedArrayMethods as _;
        match self {
            Self::Single(rows) => rows.shape(),
            Self::Double(rows) => rows.shape(),
        }
    }

    /// The rows as float64.
    pub(crate) fn to_double(&self) -> ArrayD<f64> {
        match self {
            Self::Single(rows) => rows.as_array().mapv(f64::from),
            Self::Double(rows) => rows.as_array().to_owned(),
        }
    }
}

/// Returns an error for unaligned arrays, such as fields of packed records, which cannot be read in place. The Python
/// code copies such arrays before.
fn check_aligned<T: numpy::Element>(rows: &Bound<'_, PyArrayDyn<T>>, name: &str) -> PyResult<()> {
    use numpy::PyUntypedArrayMethods as _;
    let size = isize::try_from(size_of::<T>()).unwrap_or(isize::MAX);
    let aligned = rows.data().addr() % align_of::<T>() == 0
        && rows.strides().iter().all(|stride| stride % size == 0);
    if aligned {
        return Ok(());
    }
    Err(InputTypeError::new_err(format!("{name} must be an aligned array")))
}

/// Runs `work` on features, targets and weights without the interpreter's lock; features and targets have the same
/// type.
pub(crate) fn with_samples<T: Send>(
    py: Python<'_>,
    (x, y, weights): (&Rows<'_>, &Rows<'_>, Option<&[f64]>),
    work: impl FnOnce(&Samples<'_>) -> windlass::Result<T> + Send,
) -> PyResult<T> {
    fn weighted<'a>(
        samples: windlass::Result<Samples<'a>>,
        weights: Option<&'a [f64]>,
    ) -> windlass::Result<Samples<'a>> {
        match weights {
            Some(weights) => samples?.with_weights(weights),
            None => samples,
        }
    }
    match (x, y) {
        (Rows::Double(x), Rows::Double(y)) => {
            let (x, y) = (x.as_array(), y.as_array());
            away(py, || work(&weighted(Samples::new(x, y), weights)?))?.refused()
        }
        (Rows::Single(x), Rows::Single(y)) => {
            let (x, y) = (x.as_array(), y.as_array());
            away(py, || work(&weighted(Samples::new(x, y), weights)?))?.refused()
        }
        _ => Err(InputTypeError::new_err("x and y must have the same dtype")),
    }
}

fn no_such_row(row: i64) -> PyErr {
    InputError::new_err(format!("row {row} does not exist"))
}

/// Row indices; negative ones are an error.
pub(crate) fn row_numbers(index: &PyReadonlyArray1<'_, i64>) -> PyResult<Vec<usize>> {
    let number = |&row: &i64| usize::try_from(row).map_err(|_| no_such_row(row));
    index.as_array().iter().map(number).collect()
}

/// Group labels, numbered from 0.
pub(crate) fn partition(labels: &PyReadonlyArray1<'_, i64>) -> PyResult<Partition> {
    let labels: Vec<i64> = labels.as_array().to_vec();
    if let Some(numbered) = numbered(&labels) {
        return numbered.refused();
    }
    Partition::of_categories(&labels).refused()
}

/// Numbers labels from a small range, with a lookup table instead of a search.
fn numbered(labels: &[i64]) -> Option<windlass::Result<Partition>> {
    let (low, high) = (*labels.iter().min()?, *labels.iter().max()?);
    let width = usize::try_from(high.checked_sub(low)?).ok()?;
    if width > 4 * labels.len() {
        return None;
    }
    let place = |label: i64| usize::try_from(label - low).unwrap_or(0);
    let mut numbers = vec![0; width + 1];
    for &label in labels {
        numbers[place(label)] = 1;
    }
    let mut groups = 0;
    for number in &mut numbers {
        let found = *number;
        *number = groups;
        groups += found;
    }
    let labels = labels.iter().map(|&label| numbers[place(label)]).collect();
    Some(Partition::new(labels, groups as usize))
}

/// Row indices as a numpy array.
pub(crate) fn as_index(
    py: Python<'_>,
    rows: impl Iterator<Item = usize>,
) -> Bound<'_, PyArray1<i64>> {
    let rows: Vec<i64> = rows.map(|row| i64::try_from(row).unwrap_or(i64::MAX)).collect();
    PyArray1::from_vec(py, rows)
}

/// Values rounded and clipped to the range of an integer dtype.
#[pyfunction]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "`as` keeps to the ends of a type's range"
)]
pub(crate) fn rounded<'py>(
    py: Python<'py>,
    values: PyReadonlyArrayDyn<'py, f64>,
    dtype: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let values = values.as_array();
    macro_rules! integers {
        ($type:ty) => {
            PyArrayDyn::from_owned_array(py, values.mapv(|value| value.round() as $type)).into_any()
        };
    }
    Ok(match dtype {
        "int8" => integers!(i8),
        "int16" => integers!(i16),
        "int32" => integers!(i32),
        "int64" => integers!(i64),
        "uint8" => integers!(u8),
        "uint16" => integers!(u16),
        "uint32" => integers!(u32),
        "uint64" => integers!(u64),
        _ => return Err(InputTypeError::new_err(format!("{dtype} is not an integer type"))),
    })
}
