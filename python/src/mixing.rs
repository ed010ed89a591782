//! The differentiable maps of `windlass.torch`, and their transposes for gradients.

use numpy::{PyArrayDyn, PyReadonlyArray1};
use pyo3::prelude::*;
use windlass::{Mixing, Strength};

use crate::arrays::{Rows, partition, with_view};
use crate::errors::{InputTypeError, Refused as _};
use crate::runtime::{away_unless, is_little};

fn strength(value: &Bound<'_, PyAny>, name: &str) -> PyResult<Strength> {
    if let Ok(shared) = value.extract::<f64>() {
        return Ok(Strength::Shared(shared));
    }
    let rows: PyReadonlyArray1<'_, f64> = value.extract().map_err(|_| {
        InputTypeError::new_err(format!("{name} must be a number, or one number per row"))
    })?;
    Ok(Strength::PerRow(rows.as_array().to_vec()))
}

fn mapped<'py>(
    py: Python<'py>,
    mixing: &Mixing,
    rows: &Bound<'py, PyAny>,
    transposed: bool,
) -> PyResult<Bound<'py, PyAny>> {
    with_view!(&Rows::of(rows, "rows")?, |view| {
        let little = is_little(view.len(), view.shape().first().copied().unwrap_or(0));
        let map = || if transposed { mixing.apply_transposed(view) } else { mixing.apply(view) };
        let made = away_unless(py, little, map)?.refused()?;
        Ok(PyArrayDyn::from_owned_array(py, made).into_any())
    })
}

/// Moves each row along the line through its group's mean; the transposed map is for gradients.
#[pyfunction]
#[pyo3(signature = (rows, labels, gamma, transposed=false))]
pub(crate) fn group_mean<'py>(
    py: Python<'py>,
    rows: &Bound<'py, PyAny>,
    labels: PyReadonlyArray1<'py, i64>,
    gamma: &Bound<'py, PyAny>,
    transposed: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let mixing = Mixing::group_mean(partition(&labels)?, strength(gamma, "gamma")?).refused()?;
    mapped(py, &mixing, rows, transposed)
}

/// A step number from the rows of a batch and the epoch, independent of the worker.
#[pyfunction]
pub(crate) fn step_of(index: PyReadonlyArray1<'_, i64>, epoch: u64) -> u64 {
    let rows = index.as_array();
    let bytes: Vec<u8> = rows.iter().flat_map(|row| row.to_le_bytes()).collect();
    xxhash_rust::xxh3::xxh3_64_with_seed(&bytes, epoch)
}
