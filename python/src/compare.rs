//! Comparisons of models that are trained in Python: the core splits the rows, and evaluates the predictions.

use std::path::Path;
use std::sync::Arc;

use arrow_schema::Schema;
use numpy::{PyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict as _, PyDict};
use windlass::ParamStyle;
use windlass::metrics::RangeError;
use windlass_compare::{
    AddTo, AddedRows, Candidate, CandidateSpec, CompareConfig, Comparison, Fold, Key, MethodName,
    ModelName, Results, Run, check_labels,
};
use windlass_model::{NamedTable, NetworkOptions, PreAugmentConfig, Scaling, Split};
use windlass_table::{LoadedTable, is_numeric};

use crate::arrays::as_index;
use crate::errors::{InputError, Refused as _};
use crate::options;
use crate::runtime::{away, interruptible};
use crate::table::{CancelCheck, NAME, Table, column_roles};

/// A comparison: its candidates and splits.
#[pyclass(frozen, module = "windlass._windlass")]
pub(crate) struct EstimatorComparison {
    config: CompareConfig,
    loaded: LoadedTable,
    splits: Arc<[Fold]>,
    omitted: Option<String>,
    added: Arc<[AddedRows]>,
}

/// The column of a split that is not a feature: groups, domains, and times that are not numbers.
fn omitted(split: &Split, schema: &Schema) -> Option<String> {
    let numeric = |column: &str| {
        schema.field_with_name(column).is_ok_and(|field| is_numeric(field.data_type()))
    };
    let column = match split {
        Split::Time(column) => Some(column.as_str()).filter(|column| !numeric(column)),
        _ => split.group_column(),
    };
    column.map(str::to_owned)
}

/// A candidate.
#[derive(FromPyObject)]
struct CandidateInput<'py> {
    #[pyo3(item)]
    label: String,
    /// The name of the method.
    #[pyo3(item)]
    method: String,
    /// The parameters of an augmentation method.
    #[pyo3(item)]
    options: Option<Bound<'py, PyDict>>,
    #[pyo3(item)]
    copies: usize,
    /// The index of the rows that are added to its training rows.
    #[pyo3(item)]
    rows: Option<usize>,
}

impl CandidateInput<'_> {
    fn spec(&self) -> PyResult<CandidateSpec> {
        let method = MethodName::named(&self.method).ok_or_else(|| {
            let known: Vec<&str> = MethodName::all().into_iter().map(MethodName::name).collect();
            let text =
                format!("unknown method `{}`: methods are {}", self.method, known.join(", "));
            InputError::new_err(text)
        })?;
        let enlarge = match &self.options {
            None => None,
            Some(options) => {
                let made = options::method(&self.method, options)?;
                Some(PreAugmentConfig { method: made, copies: self.copies })
            }
        };
        let name = self.label.clone();
        let (model, rows) = (ModelName::Estimator, self.rows);
        Ok(CandidateSpec { name, model, method, kind: None, enlarge, rows })
    }
}

impl EstimatorComparison {
    fn comparison(&self) -> Comparison<'_> {
        let rows = NamedTable { table: &self.loaded, path: Path::new(NAME) };
        Comparison::external(&self.config, rows, Arc::clone(&self.splits))
    }

    fn comparison_with_rows(&self) -> windlass_compare::Result<Comparison<'_>> {
        self.comparison().with_rows(&self.added)
    }
}

#[pymethods]
impl EstimatorComparison {
    #[new]
    #[pyo3(signature = (table, *, target, roles, candidates, rows, split, folds, repeats, sizes, seed, rare=None))]
    #[expect(clippy::too_many_arguments, reason = "called by keyword, in one place")]
    fn new(
        py: Python<'_>,
        table: &Table,
        target: Vec<String>,
        roles: &Bound<'_, PyDict>,
        candidates: Vec<CandidateInput<'_>>,
        rows: Vec<(String, PyRef<'_, Table>)>,
        split: &str,
        folds: usize,
        repeats: usize,
        sizes: Vec<Option<usize>>,
        seed: u64,
        rare: Option<&str>,
    ) -> PyResult<Self> {
        let split = options::split(split)?;
        for (name, least, got) in [("cv", 2, folds), ("repeats", 1, repeats)] {
            if got < least {
                let text = format!("{name} must be in [{least}, inf), got {got}");
                return Err(InputError::new_err(text));
            }
        }
        let specs = candidates.iter().map(CandidateInput::spec).collect::<PyResult<Vec<_>>>()?;
        let labels: Vec<String> = rows.iter().map(|(label, _)| label.clone()).collect();
        check_labels(labels.iter().map(String::as_str)).refused()?;
        let others: Vec<windlass_table::Table> = rows
            .iter()
            .map(|(label, table)| table.rows_named(Path::new(label)))
            .collect::<PyResult<_>>()?;
        let rows = table.rows()?;
        let omitted = omitted(&split, rows.schema());
        let mut columns = column_roles(target, roles)?;
        columns.carry.extend(omitted.clone());
        let mut config = CompareConfig {
            rare: None,
            columns,
            drop_missing_target: false,
            scaling: Scaling::default(),
            target_scaling: Scaling::default(),
            methods: specs.iter().map(|spec| spec.method).collect(),
            models: vec![ModelName::Estimator],
            rows: labels,
            specs,
            rule: split.into(),
            folds,
            repeats,
            sizes,
            tune: 1,
            network: NetworkOptions::default().config(NetworkOptions::VALID),
            seed,
        };
        let part = |stop: &_| {
            let loaded =
                LoadedTable::load(&rows, &config.columns, false, u64::MAX, &CancelCheck(stop))?;
            config.rare = rare.map(|rare| config.relevance(rare, &loaded)).transpose()?;
            let table = NamedTable { table: &loaded, path: Path::new(NAME) };
            let splits = Arc::clone(Comparison::new(&config, table, None)?.splits());
            let (rule, drop_missing_target) = (&config.rule, false);
            let to = AddTo { table: &loaded, test: None, rule, drop_missing_target };
            let load = |(label, file): (&String, &windlass_table::Table)| {
                AddedRows::load(label, file, to, u64::MAX, &CancelCheck(stop))
            };
            let added = config.rows.iter().zip(&others).map(load).collect::<Result<_, _>>()?;
            Ok::<_, windlass_compare::Error>((loaded, splits, added))
        };
        let (loaded, splits, added) = interruptible(py, part)?.refused()?;
        Ok(Self { config, loaded, splits, omitted, added })
    }

    /// Notes on the rows that are added.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.added.iter().flat_map(|rows| rows.notes().to_vec()).collect()
    }

    /// The column of the split, if it is not a feature.
    #[getter]
    fn omitted(&self) -> Option<&str> {
        self.omitted.as_deref()
    }

    /// A warning if rows are split at random although they have dates.
    #[getter]
    fn warning(&self) -> Option<String> {
        self.config.rule.split().note(&self.loaded.batch, ParamStyle::Python)
    }

    /// Every split: its position, its seed, the seed of the placebo, and the training and test rows.
    fn splits<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let mut splits = vec![];
        for &size in &self.config.sizes {
            for split in self.splits.iter() {
                let out = PyDict::new(py);
                let seed = self.config.fold_seed(split);
                out.set_item("size", size)?;
                out.set_item("repeat", split.repeat)?;
                out.set_item("fold", split.fold)?;
                out.set_item("seed", seed.0)?;
                out.set_item("placebo", CompareConfig::placebo_seed(seed, 0).0)?;
                let train = split.training_rows(size);
                let rule = self.config.rule.split();
                let added = self.added.iter().map(|rows| rows.file_rows(&rule, &train).refused());
                let added = added.map(|rows| Ok(as_index(py, rows?.into_iter())));
                out.set_item("added", added.collect::<PyResult<Vec<_>>>()?)?;
                out.set_item("train", as_index(py, train.into_iter()))?;
                out.set_item("test", as_index(py, split.test.iter().copied()))?;
                splits.push(out);
            }
        }
        Ok(splits)
    }

    /// Evaluates the predictions of a candidate for the held-out rows of a split.
    fn judge(
        &self,
        py: Python<'_>,
        candidate: usize,
        split: (Option<usize>, usize, usize),
        predicted: PyReadonlyArray2<'_, f64>,
        seconds: f64,
    ) -> PyResult<String> {
        let (size, repeat, fold) = split;
        let Some(spec) = self.config.specs.get(candidate) else {
            return Err(InputError::new_err(format!("there is no candidate {candidate}")));
        };
        let (model, method, rows) = (spec.model, Some(spec.method), spec.rows);
        let candidate = Candidate { model, method, spec: Some(candidate), rows };
        let key = Key { size, repeat, fold, candidate };
        let predicted = predicted.as_array().to_owned();
        let run = away(py, || self.comparison().score(key, &predicted, seconds))?.refused()?;
        serde_json::to_string(&run).map_err(|error| InputError::new_err(error.to_string()))
    }

    /// Summarizes the runs. `next` has the code that trains each candidate.
    fn outcome(
        &self,
        py: Python<'_>,
        runs: Vec<String>,
        command: String,
        next: Vec<String>,
    ) -> PyResult<Outcome> {
        let bad = |error: serde_json::Error| InputError::new_err(error.to_string());
        let runs = runs.iter().map(|run| serde_json::from_str(run));
        let mut runs = runs.collect::<Result<Vec<Run>, _>>().map_err(bad)?;
        let comparison = self.comparison_with_rows().refused()?;
        let keys = comparison.keys();
        runs.sort_by_cached_key(|run| keys.iter().position(|key| *key == run.key));
        let mut summary = away(py, || comparison.summary(&runs))?;
        if let Some(step) = &mut summary.next {
            step.command = step.candidate.spec.and_then(|place| next.get(place).cloned());
        }
        let results = Results {
            version: env!("CARGO_PKG_VERSION").into(),
            command,
            config: self.config.clone(),
            tables: std::iter::once(self.loaded.profile.fingerprint.clone())
                .chain(self.added.iter().map(|rows| rows.fingerprint().to_owned()))
                .collect(),
            rows: self.loaded.batch.num_rows(),
            runs,
        };
        let how = comparison.describe_splits();
        Ok(Outcome {
            comparison: Self {
                config: self.config.clone(),
                loaded: self.loaded.clone(),
                splits: Arc::clone(&self.splits),
                omitted: self.omitted.clone(),
                added: Arc::clone(&self.added),
            },
            results,
            summary,
            how,
        })
    }
}

/// The results of a comparison.
#[pyclass(frozen, module = "windlass._windlass")]
pub(crate) struct Outcome {
    comparison: EstimatorComparison,
    results: Results,
    summary: windlass_compare::ComparisonSummary,
    how: String,
}

#[pymethods]
impl Outcome {
    /// The verdict in a sentence.
    #[getter]
    fn verdict(&self) -> &str {
        &self.summary.verdict
    }

    /// The recommended next step.
    #[getter]
    fn next(&self) -> Option<String> {
        self.summary.next.as_ref().map(windlass_compare::NextStep::in_words)
    }

    /// Whether an augmentation is better.
    #[getter]
    fn helps(&self) -> bool {
        self.summary.helps
    }

    /// Other conclusions, and warnings.
    #[getter]
    fn remarks(&self) -> Vec<String> {
        self.summary.remarks.clone()
    }

    /// What is known about rows that were added, as JSON.
    #[getter]
    fn rows(&self) -> PyResult<String> {
        serde_json::to_string(&self.summary.rows)
            .map_err(|error| InputError::new_err(error.to_string()))
    }

    /// How rows were held out.
    #[getter]
    fn how(&self) -> &str {
        &self.how
    }

    /// One entry per method and number of training rows.
    fn lines<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let percent = |ratio: f64| 100.0 * ratio.exp_m1();
        let mut lines = vec![];
        for line in &self.summary.lines {
            let out = PyDict::new(py);
            out.set_item("method", self.results.config.name(line.candidate))?;
            out.set_item("rows", line.size)?;
            out.set_item("splits", line.splits)?;
            out.set_item("rmse", line.rmse)?;
            out.set_item("mae", line.mae)?;
            out.set_item("mape", line.mape)?;
            out.set_item("r2", line.r2)?;
            out.set_item("difference", line.difference.map(|found| percent(found.mean)))?;
            out.set_item("low", line.corrected.map(|found| percent(found.low)))?;
            out.set_item("high", line.corrected.map(|found| percent(found.high)))?;
            out.set_item("p", line.corrected.map(|found| found.p))?;
            out.set_item("finding", line.finding.name())?;
            out.set_item("seconds", line.seconds)?;
            let each = line.differences.iter().map(|&ratio| percent(ratio)).collect();
            out.set_item("differences", PyArray1::<f64>::from_vec(py, each))?;
            if let Some(errors) = &line.by_target {
                out.set_item("bias", errors.bias)?;
                let fifth = |fifth: &RangeError| {
                    let RangeError { range: [low, high], rows, rmse, bias } = *fifth;
                    [
                        ("low", low),
                        ("high", high),
                        ("rows", rows as f64),
                        ("rmse", rmse),
                        ("bias", bias),
                    ]
                    .into_py_dict(py)
                };
                let fifths = errors.fifths.iter().map(fifth).collect::<PyResult<Vec<_>>>()?;
                out.set_item("fifths", fifths)?;
                if let Some(rare) = &errors.rare {
                    out.set_item("rare_rmse", rare.rmse)?;
                    out.set_item("rare_bias", rare.bias)?;
                    out.set_item("sera", rare.sera)?;
                    let difference = line.rare_difference;
                    out.set_item("rare_difference", difference.map(|found| percent(found.mean)))?;
                    out.set_item("rare_low", difference.map(|found| percent(found.low)))?;
                    out.set_item("rare_high", difference.map(|found| percent(found.high)))?;
                }
            }
            if let Some((domain, rmse)) = &line.worst {
                out.set_item("worst", (domain, rmse))?;
            }
            lines.push(out);
        }
        Ok(lines)
    }

    /// All runs and settings as JSON.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string_pretty(&self.results)
            .map_err(|error| InputError::new_err(error.to_string()))
    }

    /// The report page and its figures, each with its name.
    fn report(&self, py: Python<'_>, table: &str) -> PyResult<Vec<(String, Vec<u8>)>> {
        let comparison = self.comparison.comparison_with_rows().refused()?;
        away(py, || comparison.report(&self.results, &self.summary, table))?.refused()
    }
}
