//! Work that takes longer than an answer: on its own thread, with progress and cancellation.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use arrow_array::Array as _;
use ndarray::Array2;
use serde::Serialize;
use serde_json::{Value, json};
use windlass_compare::{
    CompareConfig, Comparison, ComparisonSummary, Run, RunDir, RunPlan, RunProgress,
    out_of_fold_difference,
};
use windlass_model::{
    DistillConfig, Kind, Metrics, Model, NamedTable, UnusualRows, c_export, check_memory, onnx,
};
use windlass_table::{
    Augmentation, DEFAULT_MEMORY, Error as TableError, LoadedTable, Manifest, RowProgress, Sink,
    Table, WriteOptions, is_numeric, to_f64, write_atomic,
};
use windlass_train::{Epoch, EpochProgress};

use crate::http::{Failure, Result};
use crate::session::{Session, TrainedModel, inputs, lock, predictor};
use crate::settings::Settings;

/// The kinds of jobs. There is one of each at a time.
pub(crate) const KINDS: [&str; 5] = ["augment", "compare", "train", "distill", "predict"];

/// The last job of every kind.
pub(crate) type Jobs = Mutex<HashMap<String, Arc<Job>>>;

/// A job that runs or has ended.
pub(crate) struct Job {
    stop: AtomicBool,
    state: Mutex<State>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Running,
    Done,
    Stopped,
    Failed,
}

struct State {
    status: Status,
    stage: String,
    done: u64,
    /// 0 if it is not known.
    all: u64,
    /// What is known from the beginning, such as the candidates of a comparison.
    info: Value,
    /// What happened, in order, such as runs of a comparison.
    events: Vec<Value>,
    result: Value,
    error: Option<Failure>,
    started: Instant,
    seconds: f64,
}

impl Job {
    fn new() -> Self {
        let state = State {
            status: Status::Running,
            stage: String::new(),
            done: 0,
            all: 0,
            info: Value::Null,
            events: vec![],
            result: Value::Null,
            error: None,
            started: Instant::now(),
            seconds: 0.0,
        };
        Self { stop: AtomicBool::new(false), state: Mutex::new(state) }
    }

    /// The state, with the events after the first `since`.
    pub(crate) fn view(&self, since: usize) -> Value {
        let state = lock(&self.state);
        let running = state.status == Status::Running;
        let seconds = if running { state.started.elapsed().as_secs_f64() } else { state.seconds };
        json!({
            "status": state.status,
            "stopping": running && self.is_stopped(),
            "stage": state.stage,
            "done": state.done,
            "all": state.all,
            "info": state.info,
            "events": state.events.get(since..).unwrap_or_default(),
            "result": state.result,
            "error": state.error.as_ref().map(|error| &error.message),
            "hint": state.error.as_ref().and_then(|error| error.hint.as_ref()),
            "seconds": seconds,
        })
    }

    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn is_running(&self) -> bool {
        lock(&self.state).status == Status::Running
    }

    fn begin(&self, stage: &str, all: u64) {
        let mut state = lock(&self.state);
        stage.clone_into(&mut state.stage);
        (state.done, state.all) = (0, all);
    }

    fn end(&self, ended: Result<Value>) {
        let mut state = lock(&self.state);
        state.seconds = state.started.elapsed().as_secs_f64();
        match ended {
            Ok(result) => (state.status, state.result) = (Status::Done, result),
            Err(failure) if failure.interrupted => state.status = Status::Stopped,
            Err(failure) => (state.status, state.error) = (Status::Failed, Some(failure)),
        }
    }
}

impl RowProgress for Job {
    fn stage(&self, name: &str) {
        self.begin(name, 0);
    }

    fn advance(&self, rows: u64) -> windlass_table::Result<()> {
        lock(&self.state).done += rows;
        if self.is_stopped() { Err(TableError::Interrupted) } else { Ok(()) }
    }
}

impl EpochProgress for Job {
    fn epoch(&self, _run: usize, _epoch: &Epoch) -> bool {
        lock(&self.state).done += 1;
        !self.is_stopped()
    }
}

/// Stores each run of a comparison, and shows it.
struct Runs<'a> {
    job: &'a Job,
    folder: &'a RunDir,
    config: &'a CompareConfig,
}

impl Runs<'_> {
    fn show(&self, run: &Run, done: usize) {
        let candidates = self.config.candidates();
        let place = candidates.iter().position(|candidate| *candidate == run.key.candidate);
        let event = json!({
            "candidate": place,
            "repeat": run.key.repeat,
            "fold": run.key.fold,
            "rmse": run.metrics.rmse,
        });
        let mut state = lock(&self.job.state);
        state.events.push(event);
        state.done = done as u64;
    }
}

impl RunProgress for Runs<'_> {
    fn done(&self, run: &Run, done: usize, _all: usize) -> windlass_compare::Result<()> {
        self.folder.append(run)?;
        self.show(run, done);
        Ok(())
    }

    fn cancelled(&self) -> bool {
        self.job.is_stopped()
    }
}

/// Starts a job, unless one of its kind is running.
pub(crate) fn start(
    jobs: &Jobs,
    session: &Arc<Session>,
    kind: &str,
    settings: Settings,
) -> Result<()> {
    let work = match kind {
        "augment" => augment,
        "compare" => compare,
        "train" => train,
        "distill" => distill,
        "predict" => predict,
        _ => return Err(Failure::new(format!("unknown job `{kind}`"))),
    };
    let job = Arc::new(Job::new());
    {
        let mut jobs = lock(jobs);
        if jobs.get(kind).is_some_and(|job| job.is_running()) {
            return Err(Failure::new("this is running already: stop it first"));
        }
        jobs.insert(kind.to_owned(), Arc::clone(&job));
    }
    let session = Arc::clone(session);
    std::thread::spawn(move || {
        // Threads of its own, so that a preview does not wait for a comparison.
        let pool = rayon::ThreadPoolBuilder::new().build();
        let run = || work(&session, &job, &settings);
        let ended = catch_unwind(AssertUnwindSafe(|| match &pool {
            Ok(pool) => pool.install(run),
            Err(_) => run(),
        }));
        let ended = ended.unwrap_or_else(|_| Err(Failure::new("internal error: please report it")));
        job.end(ended.map_err(|failure| Failure {
            message: session.published(&failure.message),
            ..failure
        }));
    });
    Ok(())
}

/// Writes the augmented table.
fn augment(session: &Session, job: &Job, settings: &Settings) -> Result<Value> {
    let opened = session.open(settings)?;
    let config = settings.augment_config()?;
    let augmentation = Augmentation::fit(&opened.table, &config, DEFAULT_MEMORY, job)?;
    let name = settings.output();
    let path = session.output(name).map_err(io(name))?;
    let note = Some((Manifest::KEY, augmentation.manifest().to_json()));
    let mut sink = Sink::create(&path, &WriteOptions::default(), augmentation.schema(), note)?;
    let summary = augmentation.write(job, None, &mut sink)?;
    sink.finish()?;
    session.register(name, path);
    Ok(json!({ "file": name, "summary": summary }))
}

/// Compares methods and models on held-out rows.
fn compare(session: &Session, job: &Job, settings: &Settings) -> Result<Value> {
    let opened = session.open(settings)?;
    let mut config = settings.compare_config(opened.table.schema())?;
    let drop = config.drop_missing_target;
    let loaded = LoadedTable::load(&opened.table, &config.columns, drop, DEFAULT_MEMORY, job)?;
    if settings.has_default_models() {
        config.models.extend(CompareConfig::automatic(&loaded));
    }
    config.check_memory(&loaded, DEFAULT_MEMORY)?;
    let rows = NamedTable { table: &loaded, path: opened.table.path() };
    let comparison = Comparison::new(&config, rows, None)?;
    let script = settings.compare_script(&opened.table, &opened.name);
    let tables = vec![loaded.profile.fingerprint.clone()];
    let plan = RunPlan::new(script.command, config.clone(), tables);
    let path = session.folder.path().join("comparison");
    let (folder, finished) = if settings.resume {
        RunDir::resume(&path, &plan)?
    } else {
        let _ = std::fs::remove_dir_all(&path);
        (RunDir::create(&path, &plan)?, vec![])
    };
    let candidates = config.candidates();
    let info = |candidate: &windlass_compare::Candidate| {
        let reference = config.reference(*candidate);
        let reference = candidates.iter().position(|other| Some(*other) == reference);
        json!({ "name": config.name(*candidate), "reference": reference })
    };
    job.begin("comparing", comparison.keys().len() as u64);
    lock(&job.state).info = json!({
        "candidates": candidates.iter().map(info).collect::<Vec<_>>(),
        "splits": comparison.splits().len(),
        "how": comparison.describe_splits(),
    });
    let runs = Runs { job, folder: &folder, config: &config };
    finished.iter().enumerate().for_each(|(place, run)| runs.show(run, place + 1));
    let runs = comparison.run(finished, &runs)?;
    if runs.len() < comparison.keys().len() {
        return Err(Failure::interrupted());
    }
    let mut summary = comparison.summary(&runs);
    if let Some(next) = &mut summary.next {
        next.command = Some(settings.train_command(&opened.name, &next.candidate.train_params()));
    }
    let results = folder.finish(plan, loaded.batch.num_rows(), runs)?;
    for (name, bytes) in comparison.report(&results, &summary, &opened.name)? {
        folder.write(&name, &bytes)?;
    }
    for name in ["report.html", "results.json"] {
        session.register(name, folder.path().join(name));
    }
    Ok(summary_view(&config, &summary))
}

fn summary_view(config: &CompareConfig, summary: &ComparisonSummary) -> Value {
    let percent = |ratio: f64| 100.0 * ratio.exp_m1();
    let line = |line: &windlass_compare::CandidateSummary| {
        json!({
            "name": config.name(line.candidate),
            "rmse": line.rmse,
            "mean": line.corrected.map(|found| percent(found.mean)),
            "low": line.corrected.map(|found| percent(found.low)),
            "high": line.corrected.map(|found| percent(found.high)),
            "finding": line.finding.name(),
        })
    };
    json!({
        "verdict": summary.verdict,
        "answer": summary.answer,
        "helps": summary.helps,
        "remarks": summary.remarks,
        "next": summary.next.as_ref().map(|next| &next.text),
        "command": summary.next.as_ref().and_then(|next| next.command.as_ref()),
        "lines": summary.lines.iter().map(line).collect::<Vec<_>>(),
    })
}

/// Trains a model by automatic selection.
fn train(session: &Session, job: &Job, settings: &Settings) -> Result<Value> {
    let opened = session.open(settings)?;
    let config = settings.model_config(opened.table.schema())?;
    let drop = config.drop_missing_target;
    let loaded = LoadedTable::load(&opened.table, &config.columns, drop, DEFAULT_MEMORY, job)?;
    let runs = match &config.kind {
        Kind::Auto(auto) => auto.networks(&loaded),
        _ => unreachable!("automatic selection"),
    };
    let at_once = runs.count.min(rayon::current_num_threads());
    check_memory(&config.kind, &loaded, &config.columns, at_once, DEFAULT_MEMORY)?;
    job.begin("training", (runs.count * runs.epochs) as u64);
    let rows = NamedTable { table: &loaded, path: opened.table.path() };
    let mut trained = Model::train(rows, None, &config, job, None)?;
    if trained.cancelled || job.is_stopped() {
        return Err(Failure::interrupted());
    }
    job.begin("measuring which columns matter", 0);
    trained.add_importance()?;
    if let Some(epoch) = trained.diverged {
        return Err(windlass_model::Error::Diverged { epoch }.into());
    }
    let mut view = model_view(&trained.model);
    view["first"] = json!(opened.first_row());
    write_model(session, "model", &trained.model)?;
    let fitted =
        TrainedModel { model: trained.model, settings: settings.clone(), view: view.clone() };
    *lock(&session.model) = Some(Arc::new(fitted));
    Ok(view)
}

/// Writes a model as a model file, as ONNX and as C.
fn write_model(session: &Session, name: &str, model: &Model) -> Result<()> {
    for (ending, bytes) in [
        ("windlass", model.to_bytes()),
        ("onnx", onnx::export(model, None)?),
        ("h", c_export::export(model).into_bytes()),
    ] {
        let name = format!("{name}.{ending}");
        let path = session.output(&name).map_err(io(&name))?;
        write_atomic(&path, &bytes)?;
        session.register(&name, path);
    }
    Ok(())
}

fn model_view(model: &Model) -> Value {
    /// Held-out rows that are drawn.
    const DRAWN: usize = 5_000;
    let metadata = model.metadata();
    let held_out = model.out_of_fold().map(|held_out| {
        let step = held_out.y.nrows().div_ceil(DRAWN).max(1);
        let column = |values: &Array2<f64>| -> Vec<f64> {
            values.column(0).iter().step_by(step).copied().collect()
        };
        json!({ "y": column(&held_out.y), "predicted": column(&held_out.predicted) })
    });
    let portfolio = metadata.selection.iter().flat_map(|selection| &selection.portfolio);
    let portfolio: Vec<Value> = portfolio
        .map(|entry| json!({ "name": entry.name, "weight": entry.weight, "rmse": entry.rmse }))
        .collect();
    json!({
        "rows": metadata.rows,
        "targets": model.targets(),
        "features": metadata.features(),
        "train": metadata.train,
        "valid": metadata.valid,
        "split": metadata.config.split().to_string(),
        "importance": metadata.importance,
        "portfolio": portfolio,
        "notes": metadata.notes,
        "drift": metadata.drift.as_ref().filter(|drift| !drift.columns.is_empty())
            .map(ToString::to_string),
        "held_out": held_out,
        "inputs": inputs(model),
        "bytes": model.to_bytes().len(),
        "members": model.member_count(),
    })
}

/// Distills the model into one small network.
fn distill(session: &Session, job: &Job, _settings: &Settings) -> Result<Value> {
    let teacher = session.trained()?;
    let opened = session.open(&teacher.settings)?;
    let rows = teacher.model.load_for_distillation(&opened.table, DEFAULT_MEMORY, job)?;
    let rows = NamedTable { table: &rows, path: opened.table.path() };
    job.begin("distilling", 0);
    let config = DistillConfig { memory: DEFAULT_MEMORY, ..DistillConfig::default() };
    let mut distilled = teacher.model.distill(rows, None, &config, job)?;
    if job.is_stopped() {
        return Err(Failure::interrupted());
    }
    distilled.student.add_importance()?;
    if let Some(epoch) = distilled.student.diverged {
        return Err(windlass_model::Error::Diverged { epoch }.into());
    }
    let student = &mut distilled.student.model;
    student.drop_fold_members();
    write_model(session, "small", student)?;
    let difference = match (student.out_of_fold(), &distilled.teacher) {
        (Some(own), Some(reference)) => {
            let split = student.metadata().config.split();
            Some(out_of_fold_difference(own, reference, split, rows.table)?.in_words())
        }
        _ => None,
    };
    let metadata = student.metadata();
    let cost = |model: &Model, expected: Option<Metrics>| -> Result<Value> {
        let latency = model.latency(&rows.table.batch, rows.path)?;
        let microseconds = 1e6 * latency.as_secs_f64();
        Ok(
            json!({ "valid": expected, "bytes": model.to_bytes().len(), "microseconds": microseconds }),
        )
    };
    let teacher_valid = metadata.distillation.as_ref().and_then(|of| of.teacher_valid);
    Ok(json!({
        "teacher": cost(&teacher.model, teacher_valid)?,
        "student": cost(student, metadata.valid)?,
        "difference": difference,
        "script": teacher.settings.distill_script(&opened.table, &opened.name),
    }))
}

/// Predicts the rows of another table.
fn predict(session: &Session, job: &Job, settings: &Settings) -> Result<Value> {
    /// Rows that are shown.
    const SHOWN: usize = 50;
    let fitted = session.trained()?;
    let (model, of_model) = (&fitted.model, &fitted.settings);
    let opened = session.open(settings)?;
    let table = &opened.table;
    let (level, predictor) = predictor(model, table)?;
    let name = "predictions.csv";
    let path = session.output(name).map_err(io(name))?;
    let mut sink = Sink::create(&path, &WriteOptions::default(), predictor.schema(), None)?;
    let mut measured = Measured::new(model, table);
    let (mut rows, mut unusual, mut shown) = (0, UnusualRows::default(), vec![]);
    RowProgress::stage(job, "predicting");
    for batch in table.blocks() {
        let batch = batch?;
        job.advance(batch.num_rows() as u64)?;
        let block = predictor.predict(&batch, rows)?;
        rows += batch.num_rows() as u64;
        unusual.add(model, &batch);
        for row in 0..batch.num_rows().min(SHOWN - shown.len()) {
            let values = block.values();
            let line: Vec<f64> =
                values.iter().flat_map(|values| values.row(row).to_vec()).collect();
            shown.push(line);
        }
        measured.add(&batch, &block.predictions.mean);
        sink.write(0, &predictor.with_columns(&batch, &block))?;
    }
    sink.finish()?;
    session.register(name, path);
    let notes: Vec<String> =
        predictor.unused_columns().into_iter().chain(unusual.notes()).collect();
    Ok(json!({
        "file": name,
        "table": opened.name,
        "rows": rows,
        "level": level,
        "columns": predictor.added(),
        "shown": shown,
        "notes": notes,
        "metrics": measured.metrics(),
        "script": of_model.predict_script(table, &opened.name),
    }))
}

/// Targets and predictions of a table that has the target.
struct Measured {
    /// The place of each target.
    places: Option<Vec<usize>>,
    y: Vec<f64>,
    predicted: Vec<f64>,
}

impl Measured {
    fn new(model: &Model, table: &Table) -> Self {
        let place = |target: &String| {
            let place = table.schema().index_of(target).ok()?;
            is_numeric(table.schema().field(place).data_type()).then_some(place)
        };
        Self { places: model.targets().iter().map(place).collect(), y: vec![], predicted: vec![] }
    }

    fn add(&mut self, batch: &arrow_array::RecordBatch, predicted: &Array2<f64>) {
        let Some(places) = &self.places else { return };
        let targets: Vec<_> = places.iter().map(|&place| to_f64(batch.column(place))).collect();
        for (row, predicted) in predicted.rows().into_iter().enumerate() {
            let known = targets.iter().all(|y| y.is_valid(row) && y.value(row).is_finite());
            if known {
                self.y.extend(targets.iter().map(|y| y.value(row)));
                self.predicted.extend(predicted);
            }
        }
    }

    fn metrics(self) -> Option<Metrics> {
        let columns = self.places?.len();
        let rows = self.y.len().checked_div(columns).filter(|&rows| rows > 0)?;
        let array = |values| Array2::from_shape_vec((rows, columns), values).ok();
        Some(Metrics::compute(&array(self.y)?, &array(self.predicted)?, None))
    }
}

fn io(name: &str) -> impl FnOnce(std::io::Error) -> Failure {
    let path = Path::new(name).to_owned();
    move |source| TableError::Io { doing: "write", path, source }.into()
}
