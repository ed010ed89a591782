//! Anchor regression.

use numpy::ndarray::Array2;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use windlass::AnchorMatrix;
use windlass::regress::{self, Exogenous, PathPoint};

use crate::arrays::{Rows, partition, with_samples};
use crate::errors::Refused as _;
use crate::runtime::away;
use crate::table::to_vec;

/// The sufficient statistics of anchor regression, for any γ.
#[pyclass(frozen, module = "windlass._windlass")]
pub(crate) struct Condensed(regress::Condensed);

#[pymethods]
impl Condensed {
    #[new]
    #[pyo3(signature = (x, y, anchors, weights=None))]
    fn new(
        py: Python<'_>,
        x: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        anchors: &Bound<'_, PyAny>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Self> {
        let (x, y, weights) = (Rows::of(x, "x")?, Rows::of(y, "y")?, to_vec(weights));
        let rows = (&x, &y, weights.as_deref());
        let condensed = if let Ok(labels) = anchors.extract::<PyReadonlyArray1<'_, i64>>() {
            let groups = partition(&labels)?;
            with_samples(py, rows, |rows| regress::Condensed::new(rows, Exogenous::Groups(&groups)))
        } else {
            let matrix: PyReadonlyArray2<'_, f64> = anchors.extract()?;
            let matrix = matrix.as_array().to_owned();
            with_samples(py, rows, |rows| {
                let matrix = AnchorMatrix::new(matrix)?;
                regress::Condensed::new(rows, Exogenous::Matrix(&matrix))
            })
        };
        condensed.map(Self)
    }

    /// Restores pickled statistics.
    #[staticmethod]
    fn again(
        means: [Vec<f64>; 2],
        within: [PyReadonlyArray2<'_, f64>; 2],
        between: [PyReadonlyArray2<'_, f64>; 2],
        rest: f64,
        size: f64,
        weight: f64,
    ) -> Self {
        let owned =
            |parts: [PyReadonlyArray2<'_, f64>; 2]| parts.map(|part| part.as_array().to_owned());
        let (within, between) = (owned(within), owned(between));
        Self(regress::Condensed { means, within, between, rest, size, weight })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let regress::Condensed { means, within, between, rest, size, weight } = &self.0;
        let arrays = |parts: &[Array2<f64>; 2]| {
            let [x, y] = [&parts[0], &parts[1]].map(|part| PyArray2::from_array(py, part));
            (x, y)
        };
        let state = (means.clone(), arrays(within), arrays(between), *rest, *size, *weight);
        (py.get_type::<Self>().getattr("again")?, state).into_pyobject(py)
    }

    /// The model for γ and a penalty.
    fn fit<'py>(&self, py: Python<'py>, gamma: f64, penalty: f64) -> PyResult<Bound<'py, PyDict>> {
        let PathPoint { model, within, between, .. } =
            away(py, || self.0.fit(gamma, penalty))?.refused()?;
        let out = PyDict::new(py);
        out.set_item("coef", PyArray2::from_array(py, &model.coefficients().t()))?;
        out.set_item("intercept", PyArray1::from_array(py, &model.intercept()))?;
        out.set_item("within", within)?;
        out.set_item("between", between)?;
        Ok(out)
    }
}

/// Predictions of a linear model: a row of coefficients for every target.
#[pyfunction]
pub(crate) fn predict_linear<'py>(
    py: Python<'py>,
    x: PyReadonlyArray2<'py, f64>,
    coef: PyReadonlyArray2<'py, f64>,
    intercept: PyReadonlyArray1<'py, f64>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let coefficients = coef.as_array().t().to_owned();
    let model = regress::LinearModel::new(coefficients, intercept.as_array().to_owned());
    let (model, x) = (model.refused()?, x.as_array());
    let predicted = away(py, || model.predict(x))?.refused()?;
    Ok(PyArray2::from_owned_array(py, predicted))
}
