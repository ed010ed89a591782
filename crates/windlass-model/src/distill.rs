//! Distillation: a small model, the student, is trained on rows that a large one, the teacher, labels.
//!
//! The student learns from the training rows, from synthetic rows generated from them, and from unlabeled rows if
//! there are any, all with predictions of the teacher as targets (Buciluă, Caruana, Niculescu-Mizil, *Model
//! compression*, 2006, [doi:10.1145/1150402.1150464](https://doi.org/10.1145/1150402.1150464); Fakoor, Mueller,
//! Erickson, Chaudhari, Smola, *Fast, accurate, and simple models for tabular data via augmented distillation*, 2020,
//! [arXiv:2006.14284](https://arxiv.org/abs/2006.14284)). Training rows have the teacher's out-of-fold predictions:
//! predictions of rows that it was trained on repeat their noise.
//!
//! For the expected error, a student per fold of the teacher is trained on rows that are generated from the fold's
//! training rows and labeled by members of the teacher that were not trained on the fold, and predicts the fold. It
//! is as unbiased as the teacher's own expected error, and of the same rows.

use std::path::Path;
use std::time::{Duration, Instant};

use arrow_array::RecordBatch;
use ndarray::{Array2, Axis};
use rayon::prelude::*;
use windlass::{Copies, Dataset, MethodInfo, MethodParams, ParamName, Seed};
use windlass_table::{
    AdaConfig, AnchorSource, AugmentConfig, Augmentation, Columns, DEFAULT_MEMORY, LoadedTable,
    MethodConfig, RowProgress, Table, select,
};
use windlass_train::{Activation, EpochProgress, Outcome, Schedule, TrainConfig};

use crate::config::{
    CrossValidation, Kind, ModelConfig, NetworkConfig, PreAugmentConfig, Validation,
};
use crate::design_matrix::{NamedTable, stacked};
use crate::drift::Drift;
use crate::ensemble::Blend;
use crate::fit::{FitContext, FoldBatches, Trained, check_sizes, note_on_copies};
use crate::metadata::{Distillation, FoldWeight};
use crate::metrics::Metrics;
use crate::model::{EnsembleMember, Model};
use crate::network::{NetworkFold, member_seed, run_networks};
use crate::out_of_fold::OutOfFold;
use crate::preprocessing::{ColumnNote, Encoding, Preprocessing, Scaling, row_weights};
use crate::split::Split;
use crate::{Error, Result};

/// Settings of a distillation.
///
/// | Setting | Default |
/// | :-- | :-- |
/// | `student` | a [network](Self::network) with two hidden layers of 64 units |
/// | `steps` | 6,000 |
/// | `synthetic` | 40 rows by Mixup for every training row |
/// | `out_of_fold_labels`, `estimate_error` | `true` |
/// | `memory` | 512 MiB |
#[derive(Debug, Clone, PartialEq)]
pub struct DistillConfig {
    /// The student: a network, or any model without epochs but anchor regression.
    pub student: Kind,
    /// Number of optimizer steps of a network, which replaces its number of epochs.
    pub steps: usize,
    /// Synthetic rows; `None` to train on the training rows and unlabeled rows only.
    pub synthetic: Option<PreAugmentConfig>,
    /// Label training rows by the teacher's out-of-fold predictions instead of its predictions.
    pub out_of_fold_labels: bool,
    /// Train a student per fold, which estimates the error of new rows.
    pub estimate_error: bool,
    /// The seed of all randomness.
    pub seed: u64,
    /// Memory limit in bytes.
    pub memory: u64,
}

impl Default for DistillConfig {
    fn default() -> Self {
        Self {
            student: Self::network(vec![64, 64]),
            steps: 6_000,
            synthetic: Some(PreAugmentConfig { method: Self::method(), copies: Self::COPIES }),
            out_of_fold_labels: true,
            estimate_error: true,
            seed: 0,
            memory: DEFAULT_MEMORY,
        }
    }
}

impl DistillConfig {
    /// The default number of synthetic rows for every training row.
    pub const COPIES: usize = 40;

    /// The default generator of synthetic rows: Mixup.
    #[must_use]
    pub fn method() -> MethodConfig {
        let mixup = MethodInfo::named("mixup").expect("Mixup is a method");
        MethodConfig::new(mixup, &MethodParams::default()).expect("parameters of the method")
    }

    /// A network as a student. Labels have no noise, so it needs next to no weight decay.
    #[must_use]
    pub fn network(hidden: Vec<usize>) -> Kind {
        let training = TrainConfig {
            batch_size: 32,
            learning_rate: 1e-2,
            schedule: Schedule::Cosine,
            weight_decay: 0.01,
            ..TrainConfig::default()
        };
        Kind::Network(Box::new(NetworkConfig {
            hidden,
            activation: Activation::Relu,
            training,
            augment: None,
            valid: Validation::None,
            split: Split::Rows,
            valid_seed: None,
        }))
    }

    /// Refuses settings outside their range, before any table is read.
    pub fn check(&self) -> Result<()> {
        let refuse = |param, to| Err(Error::DoesNotApply { param: ParamName(param), to });
        match &self.student {
            Kind::Auto(_) | Kind::Anchor { .. } => {
                return refuse("student", "automatic selection and anchor regression");
            }
            Kind::Network(network) if network.augment.is_some() => {
                return refuse("augment", "students, whose rows are augmented beforehand");
            }
            Kind::Network(network) if network.valid != Validation::None => {
                return refuse("valid", "students, which are validated by the teacher's folds");
            }
            _ => {}
        }
        if self.steps == 0 {
            let (name, range, got) = ("steps", "[1, inf)", 0.0);
            return Err(windlass::Error::OutOfRange { name, range, got }.into());
        }
        if let Some(PreAugmentConfig { method, copies }) = &self.synthetic {
            Copies::new(*copies).check()?;
            method.check()?;
            if matches!(
                method,
                MethodConfig::Ada(AdaConfig { anchors: AnchorSource::Matrix(_), .. })
            ) {
                return Err(Error::AnchorMatrix);
            }
        }
        Ok(())
    }
}

/// A student and what it is compared with.
#[derive(Debug)]
pub struct Distilled {
    /// The student, with the students of the folds as fold members.
    pub student: Trained,
    /// The teacher's out-of-fold predictions, of the same rows in the same order as the student's.
    pub teacher: Option<OutOfFold>,
}

impl Model {
    /// Loads the table to distill this teacher with: columns have the roles that they had for the teacher.
    pub fn load_for_distillation(
        &self,
        table: &Table,
        memory: u64,
        progress: &dyn RowProgress,
    ) -> Result<LoadedTable> {
        let ModelConfig { columns, drop_missing_target, .. } = &self.metadata.config;
        let named = [
            &columns.target,
            &columns.exclude,
            &columns.carry,
            &columns.categorical,
            &columns.continuous,
        ];
        let named = named.into_iter().chain(&columns.features).flatten().chain(&columns.weight);
        for column in named {
            if table.schema().index_of(column).is_err() {
                let (column, path) = (column.clone(), table.path().to_owned());
                return Err(Error::NotTheTeachersTable { column, path });
            }
        }
        Ok(LoadedTable::load(table, columns, *drop_missing_target, memory, progress)?)
    }

    /// Distills this teacher into a student.
    ///
    /// `table` is the table that the teacher was trained on, or one with the same columns, of which the student uses
    /// those that the teacher uses; [`load_for_distillation`](Self::load_for_distillation) loads it. `unlabeled` are
    /// further rows; a target in them is ignored. If the teacher's file has no models of folds, its configuration is
    /// fitted again on folds of the table. On rows that the teacher was not trained on, its own predictions are
    /// evaluated, and those of students that it labels the other folds for.
    pub fn distill(
        &self,
        table: NamedTable<'_>,
        unlabeled: Option<&Table>,
        config: &DistillConfig,
        progress: &dyn EpochProgress,
    ) -> Result<Distilled> {
        config.check()?;
        let rows = table.table.batch.num_rows();
        if rows < 2 {
            return Err(Error::TooFewRows { path: table.path.to_owned(), rows });
        }
        // The rows of the teacher's folds.
        let distinct = table.table.distinct();
        let copies = note_on_copies(table.table, distinct.as_ref());
        let table = NamedTable { table: distinct.as_ref().unwrap_or(table.table), ..table };
        let names = |&index: &usize| table.table.batch.schema().field(index).name().clone();
        let targets: Vec<String> = table.table.roles.targets().iter().map(names).collect();
        if let Some(column) = self.targets().into_iter().find(|target| !targets.contains(target)) {
            return Err(Error::NotTheTeachersTable { column, path: table.path.to_owned() });
        }
        check_sizes(table)?;
        // Refuses a table that the teacher cannot predict before anything is fitted.
        let labels = self.predict(&table.table.batch, table.path, 0);
        let labels = labels.map_err(|error| error.locate(&table.table.places))?.mean;
        let validated = if self.has_seen(table, rows, &labels)? {
            let own_table = self.was_trained_on(table.table, rows);
            Validated::new(self, table, own_table, config, progress)?
        } else {
            Validated::on_new_rows(self, table, &labels, config)?
        };
        let student_config = self.student_config(config, &validated);
        let context = FitContext {
            train: table,
            valid: None,
            config: &student_config,
            encoding: Encoding::Numeric,
        };
        let distiller = Distiller { teacher: self, context, config, unlabeled };
        let mut distilled = distiller.run(labels, &validated, progress)?;
        distilled.student.model.metadata.rows = rows as u64;
        distilled.student.model.metadata.notes.extend(copies);
        Ok(distilled)
    }

    /// The median time that the prediction of one row takes, over rows of a table.
    pub fn latency(&self, rows: &RecordBatch, path: &Path) -> Result<Duration> {
        const MOST_CALLS: usize = 200;
        const FEWEST_CALLS: usize = 5;
        const BUDGET: Duration = Duration::from_millis(100);
        let (mut times, started) = (vec![], Instant::now());
        while times.len() < FEWEST_CALLS || (times.len() < MOST_CALLS && started.elapsed() < BUDGET)
        {
            let row = rows.slice(times.len() % rows.num_rows().max(1), rows.num_rows().min(1));
            let call = Instant::now();
            std::hint::black_box(self.predict(&row, path, 0)?);
            times.push(call.elapsed());
        }
        times.sort_unstable();
        Ok(times[times.len() / 2])
    }

    fn student_config(&self, config: &DistillConfig, validated: &Validated<'_>) -> ModelConfig {
        let mut kind = config.student.clone();
        let split = validated.model.metadata.config.split().clone();
        let folds = validated.folds.len();
        let mut cross_validation = None;
        match &mut kind {
            Kind::Network(network) => network.split = split,
            _ if folds > 0 => cross_validation = Some(CrossValidation { folds, split }),
            _ => {}
        }
        ModelConfig {
            scaling: Scaling::Standard,
            target_scaling: Scaling::Standard,
            kind,
            pre_augment: None,
            density_weights: None,
            cross_validation,
            seed: config.seed,
            ..self.metadata.config.clone()
        }
    }

    /// Whether the model was trained on these rows, in this order or another: they are as many, with the same error.
    fn has_seen(&self, table: NamedTable<'_>, rows: usize, labels: &Array2<f64>) -> Result<bool> {
        let NamedTable { table, path } = table;
        let y = self.members[0].preprocessing.raw_targets(&table.batch);
        let weights = row_weights(table, &table.batch, path)?;
        let (found, known) =
            (Metrics::compute(&y, labels, weights.as_deref()), self.metadata.train);
        let close = (found.rmse - known.rmse).abs() <= 1e-6 * known.rmse;
        Ok(self.was_trained_on(table, rows) || (self.metadata.rows == rows as u64 && close))
    }

    /// Whether the model was trained on this table, whose repeated rows are counted in `rows`.
    fn was_trained_on(&self, table: &LoadedTable, rows: usize) -> bool {
        let same_targets = |out_of_fold: &OutOfFold| {
            let y = self.members[0].preprocessing.raw_targets(&table.batch);
            out_of_fold.rows.iter().zip(out_of_fold.y.rows()).all(|(&row, own)| {
                usize::try_from(row).is_ok_and(|row| row < y.nrows() && y.row(row) == own)
            })
        };
        self.metadata.fingerprint == table.profile.fingerprint
            && self.metadata.rows == rows as u64
            && self.out_of_fold.as_ref().is_none_or(same_targets)
    }

    /// The folds of this model, if its out-of-fold predictions are those of these folds of a table.
    fn folds_of(&self, table: &LoadedTable) -> Result<Option<Vec<FoldBatches>>> {
        let (Some(out_of_fold), Some(folds)) =
            (&self.out_of_fold, self.metadata.config.folds(&table.batch)?)
        else {
            return Ok(None);
        };
        let rows = (0_u32..)
            .zip(&folds)
            .flat_map(|(number, fold)| fold.held_out.iter().map(move |&row| (row as u64, number)));
        let same = rows.eq(out_of_fold.rows.iter().copied().zip(out_of_fold.folds.iter().copied()));
        let batches = folds.iter().map(|fold| FoldBatches::new(&table.batch, fold)).collect();
        Ok(same.then_some(batches))
    }

    /// The configuration of this model with cross-validation.
    fn cross_validated_config(&self, rows: usize) -> ModelConfig {
        const FOLDS: usize = 5;
        let most = (rows / 2).max(2);
        let mut config = self.metadata.config.clone();
        match &mut config.kind {
            Kind::Network(network) => {
                let folds =
                    if let Validation::Folds(folds) = network.valid { folds } else { FOLDS };
                network.valid = Validation::Folds(folds.min(most));
            }
            Kind::Auto(auto) => auto.folds = auto.folds.min(most),
            _ => {
                let usual = CrossValidation { folds: FOLDS, split: Split::Rows };
                let cross_validation = config.cross_validation.get_or_insert(usual);
                cross_validation.folds = cross_validation.folds.min(most);
            }
        }
        config
    }
}

/// A teacher, or its configuration fitted again with cross-validation.
enum ValidatedModel<'a> {
    Stored(&'a Model),
    FittedAgain(Box<Model>),
}

impl std::ops::Deref for ValidatedModel<'_> {
    type Target = Model;

    fn deref(&self) -> &Model {
        match self {
            Self::Stored(model) => model,
            Self::FittedAgain(model) => model,
        }
    }
}

/// A teacher with folds of the table.
struct Validated<'a> {
    model: ValidatedModel<'a>,
    /// The folds that students estimate the error on; none if they do not.
    folds: Vec<FoldBatches>,
    /// Whether the out-of-fold predictions are labels of training rows.
    labels_rows: bool,
    /// The teacher's predictions of the rows of the folds, if it was not trained on them: it labels all rows.
    on_new_rows: Option<OutOfFold>,
    notes: Vec<String>,
}

impl<'a> Validated<'a> {
    /// A teacher that was not trained on the table.
    fn on_new_rows(
        teacher: &'a Model,
        table: NamedTable<'_>,
        labels: &Array2<f64>,
        config: &DistillConfig,
    ) -> Result<Self> {
        let NamedTable { table, path } = table;
        let batch = &table.batch;
        let note = "the teacher was trained on other rows: it labels all rows, and errors are measured on this table";
        let mut validated = Self {
            model: ValidatedModel::Stored(teacher),
            folds: vec![],
            labels_rows: false,
            on_new_rows: None,
            notes: vec![note.to_owned()],
        };
        if config.estimate_error {
            let folds = teacher.cross_validated_config(batch.num_rows()).folds(batch)?;
            let folds = folds.expect("it has cross-validation");
            let rows: Vec<usize> =
                folds.iter().flat_map(|fold| fold.held_out.iter().copied()).collect();
            let numbers = (0_u32..).zip(&folds);
            let numbers =
                numbers.flat_map(|(number, fold)| fold.held_out.iter().map(move |_| number));
            let held_out = select(batch, &rows);
            validated.on_new_rows = Some(OutOfFold {
                rows: rows.iter().map(|&row| row as u64).collect(),
                folds: numbers.collect(),
                y: teacher.members[0].preprocessing.raw_targets(&held_out),
                predicted: labels.select(Axis(0), &rows),
                weights: row_weights(table, &held_out, path)?,
            });
            validated.folds = folds.iter().map(|fold| FoldBatches::new(batch, fold)).collect();
        }
        Ok(validated)
    }

    fn new(
        teacher: &'a Model,
        table: NamedTable<'_>,
        own_table: bool,
        config: &DistillConfig,
        progress: &dyn EpochProgress,
    ) -> Result<Self> {
        let stored = if own_table { teacher.folds_of(table.table)? } else { None };
        let labels_rows = own_table && config.out_of_fold_labels;
        let mut notes = vec![];
        if !own_table && config.out_of_fold_labels {
            notes.push(
                "the teacher was trained on these rows in another table: rows have its predictions as labels"
                    .to_owned(),
            );
        }
        let lacks_labels = labels_rows && stored.is_none();
        let lacks_members =
            config.estimate_error && (stored.is_none() || !teacher.has_fold_members());
        let (model, folds) = match stored {
            Some(folds) if !lacks_members => (ValidatedModel::Stored(teacher), folds),
            _ if !lacks_labels && !lacks_members => (ValidatedModel::Stored(teacher), vec![]),
            _ => {
                if teacher.metadata.distillation.is_some() {
                    return Err(Error::StudentAsTeacher);
                }
                let cross_validated = teacher.cross_validated_config(table.table.batch.num_rows());
                let trained = Model::train(table, None, &cross_validated, progress, None)?;
                if trained.cancelled {
                    return Err(windlass_table::Error::Interrupted.into());
                }
                notes.push(
                    "the teacher's configuration was fitted again on folds of the table".to_owned(),
                );
                let folds = trained.model.folds_of(table.table)?;
                let folds = folds.expect("cross-validation holds out rows in turn");
                (ValidatedModel::FittedAgain(Box::new(trained.model)), folds)
            }
        };
        let folds = if config.estimate_error { folds } else { vec![] };
        Ok(Self { model, folds, labels_rows, on_new_rows: None, notes })
    }

    /// For each fold, the members that were not trained on it, with weights that were selected without it: those in
    /// the file are means over all folds.
    fn labelers(&self, path: &Path) -> Result<Vec<Vec<(f64, &EnsembleMember)>>> {
        if self.on_new_rows.is_some() {
            return Ok(vec![]);
        }
        let mut labelers: Vec<Vec<(f64, &EnsembleMember)>> =
            (0..self.folds.len()).map(|fold| self.model.members_of_fold(fold).collect()).collect();
        let entries = labelers.first().map_or(0, Vec::len);
        let Some(out_of_fold) = &self.model.out_of_fold else { return Ok(labelers) };
        if entries < 2 || labelers.iter().any(|members| members.len() != entries) {
            return Ok(labelers);
        }
        let predictions = |entry: usize| -> Result<OutOfFold> {
            let mut predicted = vec![];
            for (members, fold) in labelers.iter().zip(&self.folds) {
                let rows = fold.valid.as_ref().expect("folds hold out rows");
                predicted.push(members[entry].1.predict_rows(rows, path, 0)?);
            }
            Ok(OutOfFold { predicted: stacked(&predicted), ..out_of_fold.clone() })
        };
        let predictions: Vec<OutOfFold> =
            (0..entries).into_par_iter().map(predictions).collect::<Result<_>>()?;
        let blend = Blend::fit(&predictions.iter().collect::<Vec<_>>());
        for (members, weights) in labelers.iter_mut().zip(blend.by_fold) {
            for ((weight, _), selected) in members.iter_mut().zip(weights) {
                *weight = selected;
            }
            members.retain(|(weight, _)| *weight > 0.0);
        }
        Ok(labelers)
    }
}

/// Labels rows; they are those of a file, from a number on.
type Labeler<'a> = dyn Fn(&RecordBatch, &Path, u64) -> Result<Array2<f64>> + Sync + 'a;

/// A student to be trained.
struct StudentData {
    preprocessing: Preprocessing,
    notes: Vec<ColumnNote>,
    dataset: Dataset,
    /// Number of unlabeled rows in it.
    unlabeled: u64,
}

struct Distiller<'a> {
    teacher: &'a Model,
    context: FitContext<'a>,
    config: &'a DistillConfig,
    unlabeled: Option<&'a Table>,
}

impl Distiller<'_> {
    /// `labels` are the teacher's predictions of the rows of the table.
    fn run(
        &self,
        mut labels: Array2<f64>,
        validated: &Validated<'_>,
        progress: &dyn EpochProgress,
    ) -> Result<Distilled> {
        let NamedTable { table, path } = self.context.train;
        let teacher = |rows: &RecordBatch, path: &Path, first: u64| -> Result<Array2<f64>> {
            Ok(self.teacher.predict(rows, path, first)?.mean)
        };
        if validated.labels_rows
            && let Some(out_of_fold) = &validated.model.out_of_fold
        {
            // By time, the earliest rows are never held out and keep the predictions of the teacher.
            for (&row, predicted) in out_of_fold.rows.iter().zip(out_of_fold.predicted.rows()) {
                #[expect(clippy::cast_possible_truncation, reason = "a row of the table")]
                labels.row_mut(row as usize).assign(&predicted);
            }
        }
        self.check_memory(1 + validated.folds.len())?;
        let labelers = validated.labelers(path)?;
        // The first student is that of all rows, the others are those of the folds. Training rows of a fold have
        // labels of the members that label all others: out-of-fold predictions of theirs are made by models that were
        // trained on the fold.
        let student = |number: usize| {
            let seed = self.context.seed();
            let Some(fold) = number.checked_sub(1) else {
                return self.data(&table.batch, Some(&labels), &teacher, seed);
            };
            let of_fold = |rows: &RecordBatch, path: &Path, first: u64| {
                if labelers.is_empty() {
                    return teacher(rows, path, first);
                }
                let mut mean = Array2::zeros((rows.num_rows(), labels.ncols()));
                for (weight, member) in &labelers[fold] {
                    mean.scaled_add(*weight, &member.predict_rows(rows, path, first)?);
                }
                Ok(mean)
            };
            self.data(&validated.folds[fold].train, None, &of_fold, member_seed(seed, fold))
        };
        // All results before the first error, so that it does not depend on threads.
        let data: Vec<Result<StudentData>> =
            (0..=validated.folds.len()).into_par_iter().map(student).collect();
        let data = data.into_iter().collect::<Result<Vec<_>>>()?;
        let (count, unlabeled) = (data[0].dataset.rows() as u64, data[0].unlabeled);
        let (mut trained, columns) = self.train(data, &validated.folds, progress)?;
        let of_folds = (!validated.folds.is_empty()).then(|| validated.model.out_of_fold.clone());
        let teacher = validated.on_new_rows.clone().or(of_folds.flatten());
        let mut notes = validated.notes.clone();
        if self.config.synthetic.is_some() && self.moved().is_empty() {
            notes.push("no column is continuous: there are no synthetic rows".to_owned());
        }
        let metadata = &mut trained.model.metadata;
        metadata.notes = ColumnNote::lines(columns);
        metadata.drift = Some(Drift::check(table, self.context.config.split())?);
        metadata.distillation = Some(Distillation {
            teacher: self.teacher.metadata.config.kind.clone(),
            teacher_members: self.teacher.members.len(),
            teacher_fingerprint: self.teacher.metadata.fingerprint.clone(),
            teacher_valid: teacher.as_ref().map(OutOfFold::metrics),
            synthetic: self.config.synthetic.clone(),
            out_of_fold_labels: validated.labels_rows,
            unlabeled,
            rows: count,
            notes,
        });
        Ok(Distilled { student: trained, teacher })
    }

    /// The rows that a student is trained on, with labels: some rows, synthetic rows generated from them, and unlabeled
    /// rows.
    fn data(
        &self,
        rows: &RecordBatch,
        labels: Option<&Array2<f64>>,
        label: &Labeler<'_>,
        seed: Seed,
    ) -> Result<StudentData> {
        let NamedTable { table, path } = self.context.train;
        let (preprocessing, notes) = self.preprocessing(rows)?;
        let (mut x, mut y) = (vec![], vec![]);
        let mut add =
            |rows: &RecordBatch, path: &Path, first: u64, labels: Option<&Array2<f64>>| {
                x.push(preprocessing.features(rows, path, first)?);
                let labels = labels.cloned().map_or_else(|| label(rows, path, first), Ok)?;
                y.push(preprocessing.scale(labels));
                Ok::<_, Error>(())
            };
        add(rows, path, 0, labels).map_err(|error| error.locate(&table.places))?;
        let mut weights = row_weights(table, rows, path)?;
        let usual = weights.as_ref().map(|all| all.iter().sum::<f64>() / all.len() as f64);
        for batch in self.synthetic(rows, seed)? {
            add(&batch, Path::new("synthetic rows"), 0, None)?;
            let more = row_weights(table, &batch, path)?;
            if let Some(all) = &mut weights {
                all.extend(more.iter().flatten());
            }
        }
        let mut unlabeled = 0;
        for batch in self.unlabeled.iter().flat_map(|table| table.blocks()) {
            let (batch, table) = (batch?, self.unlabeled.expect("it has blocks"));
            add(&batch, table.path(), unlabeled, None)
                .map_err(|error| error.locate(table.places()))?;
            unlabeled += batch.num_rows() as u64;
            // An unlabeled row counts as much as a training row does on average.
            if let Some(all) = &mut weights {
                all.extend(usual.iter().cycle().take(batch.num_rows()));
            }
        }
        let dataset = Dataset::new(stacked(&x), stacked(&y), weights)?;
        Ok(StudentData { preprocessing, notes, dataset, unlabeled })
    }

    /// Preprocessing of the columns that the teacher uses.
    fn preprocessing(&self, rows: &RecordBatch) -> Result<(Preprocessing, Vec<ColumnNote>)> {
        let (mut preprocessing, notes) = self.context.preprocessing(rows)?;
        let used = self.teacher.metadata.features();
        preprocessing.inputs.retain(|input| used.contains(&input.name()));
        if preprocessing.inputs.is_empty() {
            let why = ": columns that the teacher uses are constant in the training rows".into();
            return Err(Error::NoInputs { why });
        }
        Ok((preprocessing, notes))
    }

    /// Synthetic rows generated from some rows: columns that the teacher uses as numbers are moved, others are those of the
    /// source row. There are none without such columns.
    fn synthetic(&self, rows: &RecordBatch, seed: Seed) -> Result<Vec<RecordBatch>> {
        let NamedTable { table, path } = self.context.train;
        let (Some(PreAugmentConfig { method, copies }), moved) =
            (&self.config.synthetic, self.moved())
        else {
            return Ok(vec![]);
        };
        if moved.is_empty() {
            return Ok(vec![]);
        }
        let weight = table.roles.weight().map(|index| rows.schema().field(index).name().clone());
        let target = self.teacher.targets();
        let columns = Columns { target, features: Some(moved), weight, ..Columns::default() };
        let settings = AugmentConfig {
            columns,
            method: method.clone(),
            copies: *copies,
            originals: false,
            seed: seed.0,
            ..AugmentConfig::new(&[])
        };
        let source = Table::from_batch(rows, path)?;
        let augmentation = Augmentation::fit(&source, &settings, self.config.memory, &())?;
        let mut batches = vec![];
        let mut collect = |_: usize, batch: RecordBatch| {
            batches.push(batch);
            Ok(())
        };
        augmentation.write(&(), None, &mut collect)?;
        Ok(batches)
    }

    /// The columns that augmentation changes.
    fn moved(&self) -> Vec<String> {
        let table = self.context.train.table;
        let used = self.teacher.metadata.features();
        // Columns that name groups stay as they are.
        let groups: Vec<&str> = match &self.config.synthetic {
            Some(PreAugmentConfig { method: MethodConfig::Ada(ada), .. }) => {
                let anchors = match &ada.anchors {
                    AnchorSource::Column(column) => Some(column),
                    _ => None,
                };
                anchors.into_iter().chain(&ada.within).map(String::as_str).collect()
            }
            _ => vec![],
        };
        let name = |&index: &usize| table.batch.schema().field(index).name().clone();
        let names = table.roles.features().iter().map(name);
        names.filter(|name| used.contains(&&**name) && !groups.contains(&&**name)).collect()
    }

    /// Returns an error if the labeled rows do not fit in memory.
    fn check_memory(&self, students: usize) -> Result<()> {
        const F64: u64 = 8;
        let NamedTable { table, .. } = self.context.train;
        let (preprocessing, _) = self.preprocessing(&table.batch)?;
        let copies = self.config.synthetic.as_ref().map_or(0, |synthetic| synthetic.copies as u64);
        let rows = (table.batch.num_rows() as u64).saturating_mul(1 + copies);
        let mut unlabeled = 0;
        for batch in self.unlabeled.iter().flat_map(|table| table.blocks()) {
            unlabeled += batch?.num_rows() as u64;
        }
        let width = (preprocessing.width() + preprocessing.targets.len()) as u64;
        // Of each student, features and labels in parts, stacked and in the precision of networks.
        let (rows, memory) = (rows.saturating_add(unlabeled), self.config.memory);
        let bytes = [width, 3 * F64, students as u64];
        let needs = bytes.into_iter().fold(rows, u64::saturating_mul);
        if needs > memory {
            return Err(Error::ManyLabeledRows { rows, needs, memory });
        }
        Ok(())
    }

    /// Trains a student on all rows, and one for each fold.
    fn train(
        &self,
        data: Vec<StudentData>,
        folds: &[FoldBatches],
        progress: &dyn EpochProgress,
    ) -> Result<(Trained, Vec<ColumnNote>)> {
        let table = self.context.train.table;
        let whole = FoldBatches::whole(&table.batch, None);
        let batches = || std::iter::once(&whole).chain(folds);
        let mut student_config = self.context.config.clone();
        let (mut histories, mut diverged) = (vec![], None);
        let notes = data[0].notes.clone();
        let mut members: Vec<EnsembleMember> = match &mut student_config.kind {
            Kind::Network(network) => {
                let (mut students, mut specs) = (vec![], vec![]);
                for (number, (one, batches)) in data.into_iter().zip(batches()).enumerate() {
                    let StudentData { preprocessing, dataset, .. } = one;
                    let training = &mut network.training;
                    let batch_size = training.batch_size.max(1);
                    training.epochs =
                        self.config.steps.div_ceil(dataset.rows().div_ceil(batch_size).max(1));
                    let student = NetworkFold::with_data(batches, preprocessing, &dataset)?;
                    let seed = self.context.seed();
                    let seed = number.checked_sub(1).map_or(seed, |fold| member_seed(seed, fold));
                    specs.push(student.spec(network, seed)?);
                    students.push(student);
                }
                network.training = specs[0].training.clone();
                let results = run_networks(&specs, progress)?;
                histories.push(results[0].history.clone());
                let last = results.iter().find(|result| result.outcome == Outcome::Diverged);
                diverged = last.map(|result| result.history.len() + 1);
                let members = students.iter().zip(results);
                members.map(|(student, result)| student.member(result.network, 1.0)).collect()
            }
            kind => {
                let students: Vec<_> = data.into_iter().zip(batches()).collect();
                let fit = |(one, batches): (StudentData, &FoldBatches)| {
                    let StudentData { preprocessing, dataset, .. } = one;
                    self.context.fit_data(&batches.train, preprocessing, &dataset, kind)
                };
                students.into_par_iter().map(fit).collect::<Result<_>>()?
            }
        };
        let fold_members: Vec<EnsembleMember> = (members.drain(1..).enumerate())
            .map(|(fold, member)| {
                let fold = Some(FoldWeight { fold, weight: 1.0 });
                EnsembleMember { weight: 0.0, fold, ..member }
            })
            .collect();
        let out_of_fold = self.context.out_of_fold_predictions(&fold_members, folds)?;
        let model = Model::new(&student_config, members, table, &table.batch)?;
        let model = model.with_out_of_fold(out_of_fold, fold_members);
        let held_out = folds.iter().filter_map(|fold| fold.valid.clone()).collect();
        Ok((Trained { model, histories, diverged, cancelled: false, held_out }, notes))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Float64Array, StringArray, UInt64Array};
    use windlass::Stream;

    use super::*;
    use crate::trees::{BoostingSettings, ForestSettings};

    const NAME: &str = "rows.csv";

    /// Two features, a category, a group, a time and two targets; `changed` rows have other targets.
    fn rows(count: usize, changed: &[usize]) -> RecordBatch {
        let draw = |step, row: usize| Seed(3).at(Stream::Sample, step, row as u64).normal();
        let column = |value: &dyn Fn(usize) -> f64| -> ArrayRef {
            Arc::new(Float64Array::from_iter_values((0..count).map(value)))
        };
        let target = |sign: f64| {
            column(&move |row| {
                let change = if changed.contains(&row) { 5.0 } else { 0.0 };
                sign * draw(0, row) + draw(1, row).abs() + 0.5 * draw(2, row) + change
            })
        };
        let words = |prefix: &str, every: usize| -> ArrayRef {
            let word = |row: usize| format!("{prefix}{}", row % every);
            Arc::new(StringArray::from((0..count).map(word).collect::<Vec<_>>()))
        };
        let days: ArrayRef =
            Arc::new(UInt64Array::from_iter_values((0..count).map(|row| row as u64 / 2)));
        let columns = [
            ("a", column(&|row| draw(0, row))),
            ("b", column(&|row| draw(1, row))),
            ("kind", words("k", 3)),
            ("site", words("s", 6)),
            ("day", days),
            ("y", target(2.0)),
            ("z", target(-1.0)),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    fn columns(targets: &[&str]) -> Columns {
        let all = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        let exclude = if targets.contains(&"z") { vec![] } else { vec!["z".to_owned()] };
        Columns {
            target: all(targets),
            carry: all(&["site", "day"]),
            exclude,
            ..Columns::default()
        }
    }

    fn in_memory(batch: &RecordBatch) -> Table {
        Table::from_batch(batch, Path::new(NAME)).unwrap()
    }

    fn load(batch: &RecordBatch, targets: &[&str]) -> LoadedTable {
        let table = in_memory(batch);
        LoadedTable::load(&table, &columns(targets), false, DEFAULT_MEMORY, &()).unwrap()
    }

    fn named(table: &LoadedTable) -> NamedTable<'_> {
        NamedTable { table, path: Path::new(NAME) }
    }

    fn teacher(table: &LoadedTable, kind: Kind, split: Option<Split>) -> Model {
        let names: Vec<&str> = ["y", "z"].into_iter().take(table.roles.targets().len()).collect();
        let config = ModelConfig {
            columns: columns(&names),
            drop_missing_target: false,
            scaling: Scaling::Standard,
            target_scaling: Scaling::Standard,
            kind,
            pre_augment: None,
            density_weights: None,
            cross_validation: split.map(|split| CrossValidation { folds: 3, split }),
            seed: 5,
        };
        Model::train(named(table), None, &config, &(), None).unwrap().model
    }

    fn ridge() -> Kind {
        Kind::Ridge { penalty: 1.0 }
    }

    /// A small network, or a model without epochs.
    fn small(student: Option<Kind>) -> DistillConfig {
        let usual = DistillConfig::default();
        let synthetic =
            usual.synthetic.clone().map(|usual| PreAugmentConfig { copies: 2, ..usual });
        let student = student.unwrap_or_else(|| DistillConfig::network(vec![8]));
        DistillConfig { student, steps: 60, synthetic, ..usual }
    }

    fn distill(teacher: &Model, table: &LoadedTable, config: &DistillConfig) -> Distilled {
        teacher.distill(named(table), None, config, &()).unwrap()
    }

    fn predictions(model: &Model, table: &LoadedTable) -> Array2<f64> {
        model.predict(&table.batch, Path::new(NAME), 0).unwrap().mean
    }

    #[test]
    fn a_student_does_not_depend_on_the_targets_of_its_fold() {
        let boosting = Kind::Boosting(BoostingSettings { trees: 5, ..BoostingSettings::default() });
        let splits = [Split::Rows, Split::Group("site".into()), Split::Domain("site".into())];
        for (split, student) in splits.into_iter().zip([None, Some(boosting), None]) {
            let run = |changed: &[usize]| {
                let table = load(&rows(48, changed), &["y"]);
                let teacher = teacher(&table, ridge(), Some(split.clone()));
                let distilled = distill(&teacher, &table, &small(student.clone()));
                assert_eq!(distilled.teacher.as_ref(), teacher.out_of_fold());
                (distilled.student.model, table)
            };
            let (model, table) = run(&[]);
            let out_of_fold = model.out_of_fold().unwrap();
            let held_out: Vec<usize> = (out_of_fold.rows.iter().zip(&out_of_fold.folds))
                .filter(|(_, fold)| **fold == 1)
                .map(|(&row, _)| usize::try_from(row).unwrap())
                .collect();
            assert!(!held_out.is_empty() && held_out.len() < 48);
            let (other, _) = run(&held_out);
            let of_fold = |model: &Model, fold| {
                model.predict_fold(fold, &table.batch, Path::new(NAME), 0).unwrap()
            };
            assert_eq!(of_fold(&model, 1), of_fold(&other, 1), "{split}");
            assert_ne!(of_fold(&model, 0), of_fold(&other, 0), "{split}");
            assert_ne!(predictions(&model, &table), predictions(&other, &table), "{split}");
        }
    }

    /// By time, a student of a fold is trained on earlier rows only.
    #[test]
    fn students_respect_time() {
        let table = load(&rows(60, &[]), &["y"]);
        let split = Split::Time("day".into());
        let model = teacher(&table, ridge(), Some(split.clone()));
        let student = distill(&model, &table, &small(None)).student.model;
        assert_eq!(student.metadata().config.split(), &split);
        assert_eq!(student.out_of_fold().unwrap().rows, model.out_of_fold().unwrap().rows);
        let last: Vec<usize> = (50..60).collect();
        let changed = load(&rows(60, &last), &["y"]);
        let model = teacher(&changed, ridge(), Some(split));
        let other = distill(&model, &changed, &small(None)).student.model;
        let of_first =
            |student: &Model| student.predict_fold(0, &table.batch, Path::new(NAME), 0).unwrap();
        assert_eq!(of_first(&student), of_first(&other));
    }

    /// Extra trees repeat the targets of their training rows: with these labels, a linear student is that of the
    /// targets, noise included. Out-of-fold predictions are the labels instead.
    #[test]
    fn training_rows_have_out_of_fold_labels() {
        let table = load(&rows(60, &[]), &["y"]);
        let forest = Kind::ExtraTrees(ForestSettings { trees: 20, ..ForestSettings::default() });
        let model = teacher(&table, forest, Some(Split::Rows));
        let config = DistillConfig { synthetic: None, ..small(Some(ridge())) };
        let student = distill(&model, &table, &config).student.model;
        let in_sample = DistillConfig { out_of_fold_labels: false, ..config };
        let noisy = distill(&model, &table, &in_sample).student.model;
        let of_targets = teacher(&table, ridge(), None);
        let off = &predictions(&noisy, &table) - &predictions(&of_targets, &table);
        assert!(off.iter().all(|off| off.abs() < 1e-9), "{off}");
        // The same regression by hand.
        let mut batch = table.batch.columns().to_vec();
        let out_of_fold = model.out_of_fold().unwrap();
        let mut labels = vec![0.0; 60];
        for (&row, label) in out_of_fold.rows.iter().zip(&out_of_fold.predicted) {
            labels[usize::try_from(row).unwrap()] = *label;
        }
        let place = table.batch.schema().index_of("y").unwrap();
        batch[place] = Arc::new(Float64Array::from(labels));
        let labeled = load(&RecordBatch::try_new(table.batch.schema(), batch).unwrap(), &["y"]);
        let by_hand = teacher(&labeled, ridge(), None);
        let off = &predictions(&student, &table) - &predictions(&by_hand, &table);
        assert!(off.iter().all(|off| off.abs() < 1e-9), "{off}");
        assert!(student.metadata().distillation.as_ref().unwrap().out_of_fold_labels);
    }

    #[test]
    fn unlabeled_rows_are_used_without_their_targets() {
        let table = load(&rows(40, &[]), &["y"]);
        let model = teacher(&table, ridge(), Some(Split::Rows));
        let config = DistillConfig { estimate_error: false, ..small(None) };
        let more = rows(90, &[]).slice(40, 50);
        let run = |more: Option<&RecordBatch>| {
            let more = more.map(in_memory);
            let distilled = model.distill(named(&table), more.as_ref(), &config, &()).unwrap();
            distilled.student.model
        };
        let with = run(Some(&more));
        let distillation = with.metadata().distillation.as_ref().unwrap();
        assert_eq!((distillation.unlabeled, distillation.rows), (50, 40 + 80 + 50));
        assert_ne!(predictions(&with, &table), predictions(&run(None), &table));
        let without_target = more.project(&[2, 1, 0]).unwrap();
        assert_eq!(predictions(&with, &table), predictions(&run(Some(&without_target)), &table));
        let lacking = in_memory(&more.project(&[0, 2]).unwrap());
        let refused = model.distill(named(&table), Some(&lacking), &config, &()).unwrap_err();
        let told = format!("`{NAME}` has no column `b`, which the model needs");
        assert_eq!(refused.to_string(), told);
    }

    #[test]
    fn threads_do_not_change_a_student() {
        let table = load(&rows(40, &[]), &["y", "z"]);
        let model = teacher(&table, ridge(), Some(Split::Rows));
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| distill(&model, &table, &small(None)).student.model.to_bytes())
        };
        let bytes = run(1);
        assert_eq!(bytes, run(3));
        let student = Model::from_bytes(&bytes, Path::new("student")).unwrap();
        assert_eq!(student.targets(), ["y", "z"]);
        assert_eq!(student.out_of_fold().unwrap().predicted.dim(), (40, 2));
        assert!(student.has_fold_members() && student.intervals(0.9).is_ok());
    }

    /// Members of folds that are not in the file are fitted again, to the same students.
    #[test]
    fn teachers_without_folds_are_fitted_again() {
        let table = load(&rows(40, &[]), &["y"]);
        let model = teacher(&table, ridge(), Some(Split::Rows));
        let mut compact = model.clone();
        compact.drop_fold_members();
        let notes = |student: &Model| student.metadata().distillation.clone().unwrap().notes;
        let [with, without] =
            [&model, &compact].map(|model| distill(model, &table, &small(None)).student.model);
        assert_eq!(with.out_of_fold(), without.out_of_fold());
        assert_eq!((notes(&with).len(), notes(&without).len()), (0, 1));
        let single = teacher(&table, ridge(), None);
        let student = distill(&single, &table, &small(None)).student.model;
        assert_eq!(student.out_of_fold().unwrap().rows.len(), 40);
        assert!(notes(&student)[0].contains("fitted again"));
        // Other rows are labeled by the teacher itself, and its errors are those on them.
        let other = load(&rows(30, &[1]), &["y"]);
        let student = distill(&model, &other, &small(None)).student.model;
        let distillation = student.metadata().distillation.clone().unwrap();
        assert!(!distillation.out_of_fold_labels);
        assert!(notes(&student)[0].contains("other rows"));
        let on_other =
            model.evaluate(NamedTable { table: &other, path: Path::new("t") }).unwrap().1;
        let off = distillation.teacher_valid.unwrap().rmse - on_other.rmse;
        assert!(off.abs() < 1e-9 * on_other.rmse);
        // The same rows in another order are known.
        let batch = rows(40, &[]);
        let order: Vec<usize> = (0..40).rev().collect();
        let shuffled = load(&select(&batch, &order), &["y"]);
        let student = distill(&model, &shuffled, &small(None)).student.model;
        assert!(notes(&student)[0].contains("in another table"));
    }

    /// What a student is trained with does not depend on columns that its teacher does not use.
    #[test]
    fn students_use_the_columns_of_their_teacher() {
        let batch = rows(40, &[]);
        let table = load(&batch.project(&[0, 2, 3, 4, 5, 6]).unwrap(), &["y"]);
        let model = teacher(&table, ridge(), Some(Split::Rows));
        let student = distill(&model, &load(&batch, &["y"]), &small(None)).student.model;
        assert_eq!(student.metadata().features(), ["a", "kind"]);
        // Without numbers there is nothing to generate rows from.
        let categories = load(&batch.project(&[2, 3, 4, 5, 6]).unwrap(), &["y"]);
        let model = teacher(&categories, ridge(), Some(Split::Rows));
        let student = distill(&model, &categories, &small(None)).student.model;
        let distillation = student.metadata().distillation.as_ref().unwrap();
        assert_eq!(distillation.rows, 40);
        assert!(distillation.notes[0].contains("no synthetic rows"));
    }

    #[test]
    fn impossible_distillations_are_refused() {
        let table = load(&rows(40, &[]), &["y"]);
        let model = teacher(&table, ridge(), Some(Split::Rows));
        let refused = |model: &Model, table: &LoadedTable, config: &DistillConfig| {
            model.distill(named(table), None, config, &()).unwrap_err().to_string()
        };
        let auto = Kind::Auto(crate::AutoConfig::new(Split::Rows));
        let told = refused(&model, &table, &small(Some(auto)));
        assert_eq!(told, "student does not apply to automatic selection and anchor regression");
        let told = refused(&model, &table, &DistillConfig { steps: 0, ..small(None) });
        assert!(told.contains("steps"), "{told}");
        let told = refused(&model, &table, &DistillConfig { memory: 1 << 10, ..small(None) });
        assert!(told.contains("labeled rows take about"), "{told}");
        let told = refused(&model, &load(&rows(40, &[]), &["z"]), &small(None));
        assert_eq!(told, format!("`{NAME}` has no column `y`, which the teacher was trained with"));
        let lacking = in_memory(&rows(40, &[]).project(&[0, 1, 3, 4, 5]).unwrap());
        let told = model.load_for_distillation(&lacking, DEFAULT_MEMORY, &()).unwrap_err();
        let expected = format!("`{NAME}` has no column `z`, which the teacher was trained with");
        assert_eq!(told.to_string(), expected);
        let mut student = distill(&model, &table, &small(None)).student.model;
        // With students of folds, a student can be a teacher.
        distill(
            &student,
            &table,
            &DistillConfig { out_of_fold_labels: false, estimate_error: false, ..small(None) },
        );
        student.drop_fold_members();
        assert!(refused(&student, &table, &small(None)).contains("a student itself"));
    }
}
