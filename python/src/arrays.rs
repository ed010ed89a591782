//! numpy arrays of 32 or 64 bits, without copies.

use numpy::ndarray::{ArrayD, ArrayViewD};
use numpy::{PyArray1, PyArrayDyn, PyArrayMethods as _, PyReadonlyArray1, PyReadonlyArrayDyn};
use pyo3::prelude::*;
use windlass::{Partition, Samples};

use crate::errors::{InputError, InputTypeError, Refused as _};
use crate::work::away;

/// Rows of floats.
pub(crate) enum Rows<'py> {
    Single(PyReadonlyArrayDyn<'py, f32>),
    Double(PyReadonlyArrayDyn<'py, f64>),
}

/// Does the same for rows of either width.
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
            return Ok(Self::Double(rows.readonly()));
        }
        if let Ok(rows) = object.cast::<PyArrayDyn<f32>>() {
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

    /// The rows in 64 bits.
    pub(crate) fn to_double(&self) -> ArrayD<f64> {
        match self {
            Self::Single(rows) => rows.as_array().mapv(f64::from),
            Self::Double(rows) => rows.as_array().to_owned(),
        }
    }
}

/// Works on features and targets with their weights, away from the interpreter; both are of the same width.
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

/// Numbers of rows; negative ones are refused, not taken from behind.
pub(crate) fn row_numbers(index: &PyReadonlyArray1<'_, i64>) -> PyResult<Vec<usize>> {
    let number = |&row: &i64| {
        usize::try_from(row).map_err(|_| InputError::new_err(format!("row {row} does not exist")))
    };
    index.as_array().iter().map(number).collect()
}

/// Labels of groups, numbered from 0.
pub(crate) fn partition(labels: &PyReadonlyArray1<'_, i64>) -> PyResult<Partition> {
    let labels: Vec<i64> = labels.as_array().to_vec();
    Partition::of_categories(&labels).refused()
}

/// Row numbers as numpy has them.
pub(crate) fn as_index(
    py: Python<'_>,
    rows: impl Iterator<Item = usize>,
) -> Bound<'_, PyArray1<i64>> {
    let rows: Vec<i64> = rows.map(|row| i64::try_from(row).unwrap_or(i64::MAX)).collect();
    PyArray1::from_vec(py, rows)
}

/// A view of any number of dimensions as a matrix of rows.
pub(crate) fn width(view: &ArrayViewD<'_, f64>) -> usize {
    view.shape().iter().skip(1).product()
}

/// Values as integers of a dtype: rounded, and kept to the ends of its range.
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
        _ => return Err(InputTypeError::new_err(format!("{dtype} holds no integers"))),
    })
}
