//! Augmentation of arrays: a fitted method, the plan of a whole dataset, and batches.

use numpy::ndarray::{Array2, ArrayD, Axis};
use numpy::{PyArray1, PyArrayDyn, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use windlass::{
    AnchorMatrix, Anchors, Batch, Column, Copies, Dataset, Draw, How, MethodInfo, MethodParams,
    Partition, RareSpec, Real, Relevance, Restricted, RowProvenance, Seed,
};
use windlass_table::{AnchorSource, MethodConfig};

use crate::arrays::{Rows, as_index, partition, row_numbers, with_samples, with_view};
use crate::errors::{InputError, Refused as _};
use crate::options;
use crate::runtime::{away, away_unless, is_little};

/// The training rows, for pickling: enough to fit again without k-means.
enum PickledRows {
    Groups { labels: Partition, weights: Option<Vec<f64>> },
    Matrix(Array2<f64>),
    Rows(Dataset),
}

/// A method fitted on training rows.
#[pyclass(frozen, name = "Fitted", module = "windlass._windlass")]
pub(crate) struct FittedMethod {
    name: String,
    options: Py<PyDict>,
    seed: u64,
    kept: PickledRows,
    core: Box<dyn windlass::Fitted>,
    rare: Option<RareRows>,
}

/// The rare rows, for pickling.
#[derive(Clone)]
struct RareRows {
    relevance: Relevance,
    rows: Vec<usize>,
}

impl RareRows {
    /// The method, whose copies are made of the rare rows only.
    fn restrict(
        rare: Option<&Self>,
        core: Box<dyn windlass::Fitted>,
    ) -> PyResult<Box<dyn windlass::Fitted>> {
        let Some(rare) = rare.filter(|_| core.sources().is_none()) else { return Ok(core) };
        Ok(Box::new(Restricted::new(core, rare.rows.clone()).refused()?))
    }
}

/// φ of each target.
#[pyfunction]
pub(crate) fn relevance<'py>(
    py: Python<'py>,
    y: PyReadonlyArray1<'_, f64>,
    rare: &Bound<'_, PyAny>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (targets, spec) = (y.as_array().to_vec(), options::rare(Some(rare))?.unwrap_or_default());
    let relevance = away(py, || spec.relevance(&targets))?.refused()?;
    Ok(PyArray1::from_vec(py, targets.iter().map(|&y| relevance.at(y)).collect()))
}

fn flat(rows: ArrayD<f64>) -> Array2<f64> {
    let shape = (rows.shape()[0], rows.shape().iter().skip(1).product::<usize>());
    let rows =
        if rows.is_standard_layout() { rows } else { rows.as_standard_layout().into_owned() };
    rows.into_shape_with_order(shape).expect("the same number of values")
}

/// Anchors passed as labels or as a matrix.
enum AnchorInput {
    Labels(Partition),
    Matrix(Array2<f64>),
}

fn anchor_input(anchors: Option<&Bound<'_, PyAny>>) -> PyResult<Option<AnchorInput>> {
    let Some(anchors) = anchors else { return Ok(None) };
    if let Ok(labels) = anchors.extract::<PyReadonlyArray1<'_, i64>>() {
        return partition(&labels).map(|labels| Some(AnchorInput::Labels(labels)));
    }
    let matrix: PyReadonlyArray2<'_, f64> = anchors.extract()?;
    Ok(Some(AnchorInput::Matrix(matrix.as_array().to_owned())))
}

#[pymethods]
impl FittedMethod {
    /// Fits a method; `anchors` and `within` are integer labels, `anchors` may also be a matrix.
    #[new]
    #[pyo3(signature = (name, options, x, y, seed, weights=None, anchors=None, within=None, rare=None))]
    #[expect(clippy::too_many_arguments, reason = "called by keyword, in one place")]
    fn new(
        py: Python<'_>,
        name: &str,
        options: &Bound<'_, PyDict>,
        x: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        seed: u64,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        anchors: Option<&Bound<'_, PyAny>>,
        within: Option<PyReadonlyArray1<'_, i64>>,
        rare: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let method = options::method(name, options)?;
        let rare = options::rare_sources(&method, rare, None)?;
        let (x, y) = (Rows::of(x, "x")?, Rows::of(y, "y")?);
        let weights = weights.map(|weights| weights.as_array().to_vec());
        let anchors = anchor_input(anchors)?;
        let within = within.as_ref().map(partition).transpose()?;
        let matrix = match &anchors {
            Some(AnchorInput::Matrix(matrix)) => Some(matrix.clone()),
            _ => None,
        };
        let rows = x.shape().first().copied().unwrap_or(0);
        let find = |targets: Vec<f64>, spec: &RareSpec| {
            let relevance = spec.relevance(&targets)?;
            let rows = relevance.rare_rows(&targets);
            Ok(RareRows { relevance, rows })
        };
        let rare = rare.map(|rare| {
            with_samples(py, (&x, &y, None), |samples| {
                find(samples.y().column(0).to_vec(), &rare.targets)
            })
        });
        let rare = rare.transpose()?;
        let core = core_method(py, &method, anchors, within, rows, rare.as_ref())?;
        let core = with_samples(py, (&x, &y, weights.as_deref()), |samples| {
            core.fit(samples, Seed(seed))
        })?;
        let core = RareRows::restrict(rare.as_ref(), core)?;
        let kept = match (&method, core.partition(), matrix) {
            (MethodConfig::Ada(_), Some(labels), _) => {
                PickledRows::Groups { labels: labels.clone(), weights }
            }
            (_, _, Some(matrix)) => PickledRows::Matrix(matrix),
            _ => {
                let (x, y) = (flat(x.to_double()), flat(y.to_double()));
                PickledRows::Rows(away(py, || Dataset::new(x, y, weights))?.refused()?)
            }
        };
        let options = options.copy()?.unbind();
        Ok(Self { name: name.to_owned(), options, seed, kept, core, rare })
    }

    /// Restores a pickled method.
    #[staticmethod]
    #[pyo3(signature = (name, options, seed, labels=None, matrix=None, rows=None, weights=None, rare=None, sources=None))]
    #[expect(clippy::too_many_arguments, reason = "called by pickle")]
    fn again(
        py: Python<'_>,
        name: &str,
        options: &Bound<'_, PyDict>,
        seed: u64,
        labels: Option<PyReadonlyArray1<'_, i64>>,
        matrix: Option<PyReadonlyArray2<'_, f64>>,
        rows: Option<(PyReadonlyArray2<'_, f64>, PyReadonlyArray2<'_, f64>)>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
        rare: Option<&Bound<'_, PyAny>>,
        sources: Option<PyReadonlyArray1<'_, i64>>,
    ) -> PyResult<Self> {
        let method = options::method(name, options)?;
        let rare = match (options::rare(rare)?, &sources) {
            (Some(RareSpec::Points(relevance)), Some(sources)) => {
                Some(RareRows { relevance, rows: row_numbers(sources)? })
            }
            _ => None,
        };
        let weights = weights.map(|weights| weights.as_array().to_vec());
        let (anchors, kept) = match (labels, matrix, rows) {
            (Some(labels), ..) => {
                let labels = partition(&labels)?;
                (Some(AnchorInput::Labels(labels.clone())), PickledRows::Groups { labels, weights })
            }
            (None, Some(matrix), _) => {
                let matrix = matrix.as_array().to_owned();
                (Some(AnchorInput::Matrix(matrix.clone())), PickledRows::Matrix(matrix))
            }
            (None, None, Some((x, y))) => {
                let (x, y) = (x.as_array().to_owned(), y.as_array().to_owned());
                (None, PickledRows::Rows(away(py, || Dataset::new(x, y, weights))?.refused()?))
            }
            (None, None, None) => return Err(InputError::new_err("the pickle is incomplete")),
        };
        // If anchors are known, only the number of rows matters.
        let blank = |rows: usize, weights: Option<Vec<f64>>| {
            let blank = || Array2::zeros((rows, 1));
            away(py, || Dataset::new(blank(), blank(), weights))?.refused()
        };
        let dataset = match &kept {
            PickledRows::Groups { labels, weights } => &blank(labels.rows(), weights.clone())?,
            PickledRows::Matrix(matrix) => &blank(matrix.nrows(), None)?,
            PickledRows::Rows(dataset) => dataset,
        };
        let core = core_method(py, &method, anchors, None, dataset.rows(), rare.as_ref())?;
        let core = away(py, || core.fit(&dataset.samples(), Seed(seed)))?.refused()?;
        let core = RareRows::restrict(rare.as_ref(), core)?;
        let options = options.copy()?.unbind();
        Ok(Self { name: name.to_owned(), options, seed, kept, core, rare })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let again = py.get_type::<Self>().getattr("again")?;
        let none = || py.None().into_bound(py);
        let mut state = [none(), none(), none(), none(), none(), none()];
        let weights = match &self.kept {
            PickledRows::Groups { labels, weights } => {
                let labels = labels.labels().iter().map(|&label| label as usize);
                state[0] = as_index(py, labels).into_any();
                weights.clone()
            }
            PickledRows::Matrix(matrix) => {
                state[1] = numpy::PyArray2::from_array(py, matrix).into_any();
                None
            }
            PickledRows::Rows(dataset) => {
                let [x, y] =
                    [dataset.x(), dataset.y()].map(|rows| numpy::PyArray2::from_array(py, rows));
                state[2] = (x, y).into_pyobject(py)?.into_any();
                dataset.weights().map(<[f64]>::to_vec)
            }
        };
        if let Some(weights) = weights {
            state[3] = PyArray1::from_vec(py, weights).into_any();
        }
        if let Some(RareRows { relevance, rows }) = &self.rare {
            let points = relevance.points().into_iter();
            let points = points.map(|point| vec![point.y, point.phi, point.slope.unwrap_or(0.0)]);
            state[4] = points.collect::<Vec<_>>().into_pyobject(py)?;
            state[5] = as_index(py, rows.iter().copied()).into_any();
        }
        let [labels, matrix, rows, weights, rare, sources] = state;
        let options = self.options.bind(py).clone();
        // The anchors are passed, so parameters of k-means no longer apply.
        let arguments =
            (&self.name, options, self.seed, labels, matrix, rows, weights, rare, sources);
        (again, arguments).into_pyobject(py)
    }

    /// The group of each training row, if the method has groups.
    #[getter]
    fn groups<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<i64>>> {
        let labels = self.core.partition()?.labels();
        Some(as_index(py, labels.iter().map(|&label| label as usize)))
    }

    /// The random draws of an augmented dataset.
    #[pyo3(signature = (copies, originals))]
    fn plan(&self, py: Python<'_>, copies: Option<usize>, originals: bool) -> PyResult<Plan> {
        let copies = copies.map_or_else(Copies::auto, Copies::new).originals(originals);
        let draw = || windlass::Plan::draw(self.core.as_ref(), copies, Seed(self.seed));
        let plan = away(py, draw)?.refused()?;
        let groups = self.core.partition().map(|labels| labels.labels().to_vec());
        Ok(Plan { drawn: plan, groups, mixes_pairs: self.mixes_pairs() })
    }

    /// Augmented features and targets of a batch of training rows.
    fn batch<'py>(
        &self,
        py: Python<'py>,
        x: &Bound<'py, PyAny>,
        y: &Bound<'py, PyAny>,
        index: PyReadonlyArray1<'py, i64>,
        step: u64,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let (x, y) = (Rows::of(x, "x")?, Rows::of(y, "y")?);
        let rows = row_numbers(&index)?;
        for (name, shape) in [("x", x.shape()), ("y", y.shape())] {
            let got = shape.first().copied().unwrap_or(0);
            if got != rows.len() {
                let text = format!(
                    "{name} and idx must have the same number of rows, got {got} and {}",
                    rows.len()
                );
                return Err(InputError::new_err(text));
            }
        }
        let values = [&x, &y].map(|side| side.shape().iter().product::<usize>());
        // Room for partners too.
        let little = is_little(2 * (values[0] + values[1]), rows.len());
        let draw = || self.core.draw(Batch::Rows(&rows), Seed(self.seed), step);
        let draw = away_unless(py, little, draw)?.refused()?;
        let x = with_view!(&x, |view| {
            let made = self.side(py, &draw, view, true, little)?;
            PyArrayDyn::from_owned_array(py, made).into_any()
        });
        let y = with_view!(&y, |view| {
            let made = self.side(py, &draw, view, false, little)?;
            PyArrayDyn::from_owned_array(py, made).into_any()
        });
        Ok((x, y))
    }

    /// The random draws of a step for some training rows, or for all.
    #[pyo3(signature = (step, index=None))]
    fn draw<'py>(
        &self,
        py: Python<'py>,
        step: u64,
        index: Option<PyReadonlyArray1<'py, i64>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let rows = index.as_ref().map(row_numbers).transpose()?;
        let batch = rows.as_deref().map_or(Batch::All, Batch::Rows);
        let little = is_little(0, rows.as_ref().map_or(usize::MAX, Vec::len));
        let draw = || self.core.draw(batch, Seed(self.seed), step);
        let draw = away_unless(py, little, draw)?.refused()?;
        let origins = (0..draw.rows()).filter_map(|row| draw.origin(row));
        let origins = origins.map(|origin| (0, origin));
        let out = OriginColumns::of(origins, None, self.mixes_pairs()).into_dict(py)?;
        out.del_item("synthetic")?;
        out.del_item("copy")?;
        if let Some(weights) = draw.row_weights() {
            out.set_item("weight", PyArray1::from_slice(py, weights))?;
        }
        Ok(out)
    }
}

impl FittedMethod {
    /// Whether rows have a partner and λ, even if some, or all, got noise instead.
    fn mixes_pairs(&self) -> bool {
        let method = MethodInfo::named(&self.name);
        method.is_some_and(|method| method.provenance == RowProvenance::Pair)
    }

    /// Features or targets of a batch: rows of the batch, and partners among the training rows.
    fn side<T: Real + numpy::Element>(
        &self,
        py: Python<'_>,
        draw: &Draw,
        batch: numpy::ndarray::ArrayViewD<'_, T>,
        features: bool,
        little: bool,
    ) -> PyResult<ArrayD<T>> {
        let make = |rows: numpy::ndarray::ArrayViewD<'_, T>| {
            let make = || {
                if features { draw.features_of(rows) } else { draw.targets_of(rows) }
            };
            away_unless(py, little, make)?.refused()
        };
        let PickledRows::Rows(dataset) = &self.kept else { return make(batch) };
        let (x, y) = (dataset.x(), dataset.y());
        let partners: Vec<usize> = draw.gathered().skip(batch.shape()[0]).collect();
        if partners.is_empty() {
            return make(batch);
        }
        let kept = if features { x } else { y };
        let expected = batch.shape().iter().skip(1).product::<usize>();
        if expected != kept.ncols() {
            let what = if features { "x" } else { "y" };
            let got = kept.ncols();
            let error = windlass::Error::ColumnMismatch { what, expected: got, got: expected };
            return Err(error).refused();
        }
        let mut shape = batch.raw_dim();
        shape[0] = partners.len();
        let behind = kept.select(Axis(0), &partners).mapv(T::narrow);
        let behind = behind.into_shape_with_order(shape).expect("the same number of values");
        let both = numpy::ndarray::concatenate(Axis(0), &[batch, behind.view()]);
        make(both.expect("the same columns").view())
    }
}

/// A column of arrays, such as `x3`, `y` or `y1`.
fn column(name: &str) -> PyResult<Column> {
    let number = |digits: &str| if digits.is_empty() { Some(0) } else { digits.parse().ok() };
    let column = match name.split_at_checked(1) {
        Some(("x", digits)) if !digits.is_empty() => number(digits).map(Column::X),
        Some(("y", digits)) => number(digits).map(Column::Y),
        _ => None,
    };
    column.ok_or_else(|| {
        let text = format!("columns of arrays are x0, x1, … and y, not `{name}`");
        InputError::new_err(text)
    })
}

fn core_method(
    py: Python<'_>,
    method: &MethodConfig,
    anchors: Option<AnchorInput>,
    within: Option<Partition>,
    rows: usize,
    rare: Option<&RareRows>,
) -> PyResult<std::sync::Arc<dyn windlass::Method>> {
    let ada = match method {
        MethodConfig::Ada(ada) => ada,
        MethodConfig::Other { method, params } => {
            let rare = rare.map(|rare| RareSpec::Points(rare.relevance.clone()));
            return Ok((method.build)(&MethodParams { rare, ..params.clone() }));
        }
    };
    let groups = ada.groups_in(rows as u64, within.as_ref().map_or(1, Partition::groups));
    let anchors: Anchors = match anchors {
        Some(AnchorInput::Labels(labels)) => labels.into(),
        Some(AnchorInput::Matrix(matrix)) => {
            away(py, || AnchorMatrix::new(matrix))?.refused()?.into()
        }
        None => match &ada.anchors {
            AnchorSource::KMeans => {
                if groups > rows {
                    let (clusters, rows) = (groups, rows as u64);
                    let error = windlass_table::Error::MoreClustersThanRows { clusters, rows };
                    return Err(error).refused();
                }
                ada.found(groups)
            }
            AnchorSource::Bins(name) => Anchors::EqualWidth { of: column(name)?, bins: groups },
            AnchorSource::Quantiles(name) => Anchors::EqualSize { of: column(name)?, bins: groups },
            AnchorSource::Column(_) | AnchorSource::Matrix(_) => {
                let text = "in arrays columns have no names: give an array of labels as anchors, \
                            or a DataFrame";
                return Err(InputError::new_err(text));
            }
        },
    };
    Ok(std::sync::Arc::new(ada.method(anchors, within)))
}

/// The random draws of an augmented dataset.
#[pyclass(frozen, module = "windlass._windlass")]
pub(crate) struct Plan {
    drawn: windlass::Plan,
    groups: Option<Vec<u32>>,
    mixes_pairs: bool,
}

#[pymethods]
impl Plan {
    /// The augmented features.
    fn features<'py>(&self, py: Python<'py>, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with_view!(&Rows::of(x, "x")?, |view| {
            let made = away(py, || self.drawn.features(view))?.refused()?;
            Ok(PyArrayDyn::from_owned_array(py, made).into_any())
        })
    }

    /// The augmented targets.
    fn targets<'py>(&self, py: Python<'py>, y: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        with_view!(&Rows::of(y, "y")?, |view| {
            let made = away(py, || self.drawn.targets(view))?.refused()?;
            Ok(PyArrayDyn::from_owned_array(py, made).into_any())
        })
    }

    /// The source row of each row.
    fn sources<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        as_index(py, self.drawn.origins().map(|(_, origin)| origin.source))
    }

    /// The provenance of each row.
    fn provenance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let groups = self.groups.as_deref();
        OriginColumns::of(self.drawn.origins(), groups, self.mixes_pairs).into_dict(py)
    }
}

/// Provenance as columns.
#[derive(Default)]
struct OriginColumns {
    copy: Vec<i32>,
    source: Vec<usize>,
    group: Vec<i64>,
    gamma: Vec<f64>,
    partner: Vec<i64>,
    lambda: Vec<f64>,
    has: [bool; 4],
}

impl OriginColumns {
    /// Builds the columns from the copy and origin of each row; `groups` are those of the training rows.
    fn of(
        rows: impl Iterator<Item = (usize, windlass::Origin)>,
        groups: Option<&[u32]>,
        pairs: bool,
    ) -> Self {
        let mut out = Self { has: [false, false, pairs, pairs], ..Self::default() };
        for (copy, origin) in rows {
            let (mut group, mut gamma) = (-1, f64::NAN);
            let (mut partner, mut lambda) = (-1, f64::NAN);
            if let Some(groups) = groups {
                group = i64::from(groups[origin.source]);
                out.has[0] = true;
            }
            match origin.how {
                How::Group { group: own, gamma: strength } => {
                    (group, gamma) = (i64::from(own), strength);
                    (out.has[0], out.has[1]) = (true, true);
                }
                How::Projection { gamma: strength } => {
                    gamma = strength;
                    out.has[1] = true;
                }
                How::Pair { partner: other, lambda: share } => {
                    (partner, lambda) = (i64::try_from(other).unwrap_or(i64::MAX), share);
                }
                How::Neighborhood { lambda: share } => {
                    lambda = share;
                    out.has[3] = true;
                }
                _ => {}
            }
            out.copy.push(i32::try_from(copy).unwrap_or(i32::MAX));
            out.source.push(origin.source);
            out.group.push(group);
            out.gamma.push(gamma);
            out.partner.push(partner);
            out.lambda.push(lambda);
        }
        out
    }

    fn into_dict(self, py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
        let out = PyDict::new(py);
        let synthetic: Vec<bool> = self.copy.iter().map(|&copy| copy > 0).collect();
        out.set_item("synthetic", PyArray1::from_vec(py, synthetic))?;
        out.set_item("source", as_index(py, self.source.into_iter()))?;
        out.set_item("copy", PyArray1::from_vec(py, self.copy))?;
        let [groups, gammas, pairs, lambdas] = self.has;
        if groups {
            out.set_item("group", PyArray1::from_vec(py, self.group))?;
        }
        if gammas {
            out.set_item("gamma", PyArray1::from_vec(py, self.gamma))?;
        }
        if pairs {
            out.set_item("partner", PyArray1::from_vec(py, self.partner))?;
        }
        if lambdas {
            out.set_item("lambda", PyArray1::from_vec(py, self.lambda))?;
        }
        Ok(out)
    }
}
