//! Metrics and row weights by the size of the target.

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use windlass::metrics::{by_range, quantile_edges};

use crate::errors::Refused as _;

/// The squared error-relevance area.
#[pyfunction]
pub(crate) fn sera(
    y: PyReadonlyArray1<'_, f64>,
    predicted: PyReadonlyArray1<'_, f64>,
    relevance: PyReadonlyArray1<'_, f64>,
) -> PyResult<f64> {
    let [y, predicted, relevance] =
        [y, predicted, relevance].map(|values| values.as_array().to_vec());
    windlass::metrics::sera(&y, &predicted, &relevance).refused()
}

/// The errors in ranges of the target with about the same number of rows.
#[pyfunction]
pub(crate) fn errors_by_range<'py>(
    py: Python<'py>,
    y: PyReadonlyArray1<'py, f64>,
    predicted: PyReadonlyArray1<'py, f64>,
    ranges: usize,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let [y, predicted] = [y, predicted].map(|values| values.as_array().to_vec());
    let mut out = vec![];
    for error in by_range(&y, &predicted, &quantile_edges(&y, ranges)).refused()? {
        let line = PyDict::new(py);
        line.set_item("low", error.range[0])?;
        line.set_item("high", error.range[1])?;
        line.set_item("rows", error.rows)?;
        line.set_item("rmse", error.rmse)?;
        line.set_item("bias", error.bias)?;
        out.push(line);
    }
    Ok(out)
}

/// Row weights that are larger where the target is rare.
#[pyfunction]
pub(crate) fn density_weights<'py>(
    py: Python<'py>,
    y: PyReadonlyArray1<'py, f64>,
    alpha: f64,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let weights = windlass::density_weights(&y.as_array().to_vec(), alpha).refused()?;
    Ok(PyArray1::from_vec(py, weights))
}
