//! Models of the core and their files.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use windlass::ParamStyle;
use windlass_model::{
    AutoConfig, BoostingSettings, CrossValidation, DensityWeights, DistillConfig, ForestSettings,
    GaussianProcessSettings, InLoopAugmentConfig, Kind, ModelConfig, NamedTable, NetworkConfig,
    PreAugmentConfig, Split, Validation,
};
use windlass_table::LoadedTable;
use windlass_train::{Epoch, EpochProgress, FittedOn};

use crate::errors::{InputError, Refused as _};
use crate::options;
use crate::runtime::{away, interruptible};
use crate::table::{CancelCheck, NAME, Table, column_roles};

/// A trained model.
#[pyclass(frozen, module = "windlass._windlass")]
pub(crate) struct Model {
    model: windlass_model::Model,
}

/// Stops training on Ctrl-C.
struct Stop<'a>(&'a AtomicBool);

impl EpochProgress for Stop<'_> {
    fn epoch(&self, _run: usize, _epoch: &Epoch) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

/// Augmentation inside the training loop: a method with its parameters, and its layer.
#[derive(FromPyObject)]
pub(crate) struct InLoopInput<'py> {
    #[pyo3(item)]
    name: String,
    #[pyo3(item)]
    options: Bound<'py, PyDict>,
    #[pyo3(item)]
    layer: usize,
    #[pyo3(item)]
    keep_originals: bool,
    #[pyo3(item)]
    per_batch: bool,
}

impl InLoopInput<'_> {
    fn model_config(&self) -> PyResult<InLoopAugmentConfig> {
        Ok(InLoopAugmentConfig {
            method: options::method(&self.name, &self.options)?,
            layer: self.layer,
            originals: self.keep_originals,
            fitted_on: if self.per_batch { FittedOn::Batch } else { FittedOn::TrainingRows },
        })
    }
}

/// A student, and how it is trained.
#[derive(FromPyObject)]
pub(crate) struct Student {
    #[pyo3(item)]
    name: String,
    #[pyo3(item)]
    hidden: Vec<usize>,
    #[pyo3(item)]
    steps: usize,
    #[pyo3(item)]
    out_of_fold_labels: bool,
    #[pyo3(item)]
    expected_error: bool,
    #[pyo3(item)]
    seed: u64,
}

impl Student {
    fn config(self, method: Option<Generator<'_>>) -> PyResult<DistillConfig> {
        let student = match self.name.as_str() {
            "network" => DistillConfig::network(self.hidden),
            "boosting" => Kind::Boosting(BoostingSettings::default()),
            name => {
                let why = format!("student must be network or boosting, got {name}");
                return Err(InputError::new_err(why));
            }
        };
        Ok(DistillConfig {
            student,
            steps: self.steps,
            synthetic: method.map(|method| method.config()).transpose()?,
            out_of_fold_labels: self.out_of_fold_labels,
            estimate_error: self.expected_error,
            seed: self.seed,
            memory: u64::MAX,
        })
    }
}

/// A method with its settings that generates rows before training.
#[derive(FromPyObject)]
pub(crate) struct Generator<'py> {
    #[pyo3(item)]
    name: String,
    #[pyo3(item)]
    options: Bound<'py, PyDict>,
    #[pyo3(item)]
    copies: usize,
}

impl Generator<'_> {
    fn config(&self) -> PyResult<PreAugmentConfig> {
        let method = options::method(&self.name, &self.options)?;
        Ok(PreAugmentConfig { method, copies: self.copies })
    }
}

/// The kind of model of a name; all but networks have default settings.
fn kind(name: &str, network: NetworkConfig, split: Split) -> PyResult<Kind> {
    Ok(match name {
        "mlp" => Kind::Network(Box::new(network)),
        "auto" => Kind::Auto(AutoConfig::new(split)),
        "ridge" => Kind::Ridge { penalty: 1.0 },
        "gp" => Kind::GaussianProcess(GaussianProcessSettings::default()),
        "forest" => Kind::Forest(ForestSettings::default()),
        "extra-trees" => Kind::ExtraTrees(ForestSettings::default()),
        "boosting" => Kind::Boosting(BoostingSettings::default()),
        _ => {
            return Err(InputError::new_err(format!(
                "model must be mlp, auto, ridge, gp, forest, extra-trees or boosting, got {name}"
            )));
        }
    })
}

#[pymethods]
impl Model {
    /// Trains a model on a table; returns it with notes, histories, the epoch in which it diverged, and a warning if
    /// rows are split at random although they have dates.
    #[staticmethod]
    #[pyo3(signature = (table, *, target, roles, network, seed, model="mlp", augment=None, valid=None, density=None))]
    #[expect(clippy::too_many_arguments, reason = "called by keyword, in one place")]
    fn train(
        py: Python<'_>,
        table: &Table,
        target: Vec<String>,
        roles: &Bound<'_, PyDict>,
        network: &Bound<'_, PyDict>,
        seed: u64,
        model: &str,
        augment: Option<InLoopInput<'_>>,
        valid: Option<&Table>,
        density: Option<(f64, bool)>,
    ) -> PyResult<Trained> {
        let said = options::network(network)?;
        let mut network =
            said.options.config(if valid.is_some() { Validation::Table } else { said.valid });
        network.augment = augment.map(|augment| augment.model_config()).transpose()?;
        network.split = said.split;
        let mut columns = column_roles(target, roles)?;
        let split = network.split.clone();
        if let Some(column) = split.group_column() {
            let lists = [&columns.carry, &columns.categorical, &columns.continuous];
            if !lists.into_iter().flatten().any(|name| name == column) {
                columns.carry.push(column.to_owned());
            }
        }
        let validated = said.valid != Validation::None && !matches!(model, "mlp" | "auto");
        let cross_validation =
            validated.then(|| CrossValidation { folds: 5, split: split.clone() });
        let kind = kind(model, network, split)?;
        let model_config = ModelConfig {
            columns,
            drop_missing_target: false,
            scaling: said.scaling,
            target_scaling: said.target_scaling,
            kind,
            pre_augment: None,
            density_weights: density.map(|(alpha, average)| DensityWeights { alpha, average }),
            cross_validation,
            seed,
        };
        let rows = table.rows()?;
        let valid = valid.map(Table::rows).transpose()?;
        let trained = interruptible(py, |stop| {
            let load = |table| {
                LoadedTable::load(table, &model_config.columns, false, u64::MAX, &CancelCheck(stop))
            };
            let loaded = load(&rows)?;
            let valid = valid.as_ref().map(load).transpose()?;
            let path = Path::new(NAME);
            let valid = valid.as_ref().map(|table| NamedTable { table, path });
            let table = NamedTable { table: &loaded, path };
            let warning = model_config.split().note(&loaded.batch, ParamStyle::Python);
            let mut trained =
                windlass_model::Model::train(table, valid, &model_config, &Stop(stop), None)?;
            trained.add_importance()?;
            Ok::<_, windlass_model::Error>((trained, warning.filter(|_| model_config.holds_out())))
        })?;
        let (trained, warning) = trained.refused()?;
        let history = |epochs: Vec<Epoch>| {
            epochs.into_iter().map(|epoch| (epoch.loss, epoch.valid)).collect()
        };
        let histories = trained.histories.into_iter().map(history).collect();
        let notes = trained.model.metadata().notes.clone();
        Ok((Self { model: trained.model }, notes, histories, trained.diverged, warning))
    }

    /// Distills this model on the table that it was trained on; returns the student with notes and the epoch in which
    /// it diverged.
    #[pyo3(signature = (table, *, student, method, unlabeled=None))]
    fn distill(
        &self,
        py: Python<'_>,
        table: &Table,
        student: Student,
        method: Option<Generator<'_>>,
        unlabeled: Option<&Table>,
    ) -> PyResult<(Self, Vec<String>, Option<usize>)> {
        let config = student.config(method)?;
        let rows = table.rows()?;
        let unlabeled = unlabeled.map(Table::rows).transpose()?;
        let distilled = interruptible(py, |stop| {
            let table = self.model.load_for_distillation(&rows, u64::MAX, &CancelCheck(stop))?;
            let table = NamedTable { table: &table, path: Path::new(NAME) };
            let mut distilled =
                self.model.distill(table, unlabeled.as_ref(), &config, &Stop(stop))?;
            distilled.student.add_importance()?;
            distilled.student.model.drop_fold_members();
            Ok::<_, windlass_model::Error>(distilled.student)
        })?;
        let student = distilled.refused()?;
        let metadata = student.model.metadata();
        let of_teacher = metadata.distillation.iter().flat_map(|distilled| &distilled.notes);
        let notes = metadata.notes.iter().chain(of_teacher).cloned().collect();
        Ok((Self { model: student.model }, notes, student.diverged))
    }

    /// Predictions with one column per target, standard deviations over ensemble members, and the bounds of
    /// prediction intervals.
    #[pyo3(signature = (table, interval=None))]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        table: &Table,
        interval: Option<f64>,
    ) -> PyResult<Predicted<'py>> {
        let rows = table.rows()?;
        let predicted = away(py, || {
            let intervals = interval.map(|level| self.model.intervals(level)).transpose()?;
            let (mut means, mut spreads, mut first) = (vec![], vec![], 0);
            let (mut low, mut high) = (vec![], vec![]);
            for block in rows.blocks() {
                let block = block?;
                let made = self.model.predict(&block, Path::new(NAME), first)?;
                if let Some(intervals) = &intervals {
                    let bounds = intervals.bounds(&block, Path::new(NAME), first, &made)?;
                    low.push(bounds.low);
                    high.push(bounds.high);
                }
                first += block.num_rows() as u64;
                means.push(made.mean);
                spreads.extend(made.std);
            }
            Ok::<_, windlass_model::Error>((means, spreads, low, high))
        })?;
        let (means, spreads, low, high) = predicted.refused()?;
        let stack = |parts: &[numpy::ndarray::Array2<f64>]| {
            let views: Vec<_> = parts.iter().map(|part| part.view()).collect();
            let all = numpy::ndarray::concatenate(numpy::ndarray::Axis(0), &views);
            PyArray2::from_owned_array(py, all.expect("the same targets"))
        };
        let spread = (!spreads.is_empty()).then(|| stack(&spreads));
        let bounds = (!low.is_empty()).then(|| (stack(&low), stack(&high)));
        Ok((stack(&means), spread, bounds))
    }

    /// The bytes of a model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.model.to_bytes())
    }

    /// Reads the bytes of a model file; `name` is for messages.
    #[staticmethod]
    #[pyo3(signature = (bytes, name="the model"))]
    fn from_bytes(bytes: &[u8], name: &str) -> PyResult<Self> {
        let model = windlass_model::Model::from_bytes(bytes, Path::new(name)).refused()?;
        Ok(Self { model })
    }

    /// The metadata as JSON.
    #[getter]
    fn metadata(&self) -> PyResult<String> {
        serde_json::to_string(self.model.metadata())
            .map_err(|error| InputError::new_err(error.to_string()))
    }

    /// The names of the targets.
    #[getter]
    fn targets(&self) -> Vec<String> {
        self.model.targets()
    }

    /// The names of the features.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let metadata = self.model.metadata();
        let inputs = metadata.members.iter().flat_map(|member| &member.preprocessing.inputs);
        let mut names: Vec<String> = vec![];
        for input in inputs {
            if !names.iter().any(|name| name == input.name()) {
                names.push(input.name().to_owned());
            }
        }
        names
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let again = py.get_type::<Self>().getattr("from_bytes")?;
        (again, (self.to_bytes(py),)).into_pyobject(py)
    }
}

/// A model with its notes, histories, the epoch in which it diverged, and a warning.
type Trained = (Model, Vec<String>, Vec<History>, Option<usize>, Option<String>);
/// The loss and the validation error of each epoch.
type History = Vec<(f64, Option<f64>)>;
type Matrix<'py> = Bound<'py, PyArray2<f64>>;
/// Means, standard deviations over members, lower and upper bounds.
type Predicted<'py> = (Matrix<'py>, Option<Matrix<'py>>, Option<(Matrix<'py>, Matrix<'py>)>);
