//! The directory of a comparison or a search: its plan, the runs as they finish, the results.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass_table::write_atomic;

use crate::{Error, Record, Result};

/// The plan of all runs, written before the first. Runs are resumed only under an equal plan.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunPlan<C> {
    /// The command line.
    pub command: String,
    /// The version of Windlass.
    pub version: String,
    /// The configuration.
    #[serde(rename = "protocol")]
    pub config: C,
    /// Fingerprints of the table and of the test table.
    pub tables: Vec<String>,
}

impl<C> RunPlan<C> {
    /// The plan of this version.
    #[must_use]
    pub fn new(command: String, config: C, tables: Vec<String>) -> Self {
        Self { command, version: env!("CARGO_PKG_VERSION").into(), config, tables }
    }
}

/// The first field in which two plans differ, with both values as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanDifference {
    /// Versions, data or settings.
    pub what: &'static str,
    /// In the stored plan.
    pub was: String,
    /// In the new plan.
    pub is: String,
}

const PLAN: &str = "plan.json";
const RUNS: &str = "runs.jsonl";
const RESULTS: &str = "results.json";

/// A directory of results. Every run is appended to a file when it finishes.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    /// The command line that created it.
    command: String,
    runs: Mutex<File>,
    has_runs: AtomicBool,
    /// Whether this process created the directory, and may remove it.
    created: bool,
}

fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { doing, path, source }
}

/// Reads a text file; `None` if it does not exist.
fn read_text(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(io("read", path)(error)),
    }
}

/// Reads a JSON file; `None` if it does not exist.
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let Some(text) = read_text(path)? else { return Ok(None) };
    let bad = |error: serde_json::Error| Error::BadResults {
        path: path.to_owned(),
        why: error.to_string(),
    };
    serde_json::from_str(&text).map(Some).map_err(bad)
}

impl RunDir {
    /// Creates the directory; an error if it has results.
    pub fn create(path: &Path, plan: &RunPlan<impl Serialize>) -> Result<Self> {
        for name in [PLAN, RESULTS, RUNS, "report.html", "pictures"] {
            if path.join(name).exists() {
                return Err(Error::HasResults { folder: path.to_owned() });
            }
        }
        let created = !path.exists();
        fs::create_dir_all(path).map_err(io("create", path))?;
        let opened = write_atomic(&path.join(PLAN), &to_json(plan))
            .map_err(Error::from)
            .and_then(|()| Self::open(path, &plan.command, created));
        // Cleans up, so that the same command works after the cause, such as a full disk, is fixed.
        opened.inspect_err(|error| {
            if !matches!(error, Error::Busy { .. }) {
                remove_run(path, created);
            }
        })
    }

    /// Creates the directory, or replaces the results that it has.
    pub fn replace(path: &Path, plan: &RunPlan<impl Serialize>) -> Result<Self> {
        let created = !path.exists();
        fs::create_dir_all(path).map_err(io("create", path))?;
        for name in [RESULTS, RUNS] {
            let place = path.join(name);
            if place.exists() {
                fs::remove_file(&place).map_err(io("remove", &place))?;
            }
        }
        write_atomic(&path.join(PLAN), &to_json(plan))?;
        Self::open(path, &plan.command, created)
    }

    /// Opens a directory that was created under an equal plan, and returns its runs.
    pub fn resume<C, R>(path: &Path, plan: &RunPlan<C>) -> Result<(Self, Vec<R>)>
    where
        C: Serialize + DeserializeOwned,
        R: DeserializeOwned,
    {
        let folder = || path.to_owned();
        let Some(was) = read_json::<Value>(&path.join(PLAN))? else {
            return Err(Error::NoResults { folder: folder() });
        };
        if let Some(PlanDifference { what, was, is }) = plan_difference(&was, plan) {
            return Err(Error::OtherResults { folder: folder(), what, was, is });
        }
        let mut runs = match read_json::<Record<C, R>>(&path.join(RESULTS))? {
            Some(results) => results.runs,
            None => vec![],
        };
        // Runs appended since the results were written.
        runs.extend(read_runs(&path.join(RUNS))?);
        let command = was.get("command").and_then(Value::as_str).unwrap_or(&plan.command);
        let folder = Self::open(path, command, false)?;
        folder.has_runs.store(true, Ordering::Relaxed);
        Ok((folder, runs))
    }

    /// Resumes if there is a plan, otherwise creates the directory.
    pub fn create_or_resume<C, R>(path: &Path, plan: &RunPlan<C>) -> Result<(Self, Vec<R>)>
    where
        C: Serialize + DeserializeOwned,
        R: DeserializeOwned,
    {
        if path.join(PLAN).exists() {
            return Self::resume(path, plan);
        }
        Ok((Self::create(path, plan)?, vec![]))
    }

    fn open(path: &Path, command: &str, created: bool) -> Result<Self> {
        let place = path.join(RUNS);
        let runs = OpenOptions::new().create(true).append(true).open(&place);
        let runs = runs.map_err(io("write", &place))?;
        // File systems without locks are accepted.
        if matches!(runs.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(Error::Busy { folder: path.to_owned() });
        }
        let (path, command) = (path.to_owned(), command.to_owned());
        let (runs, has_runs) = (Mutex::new(runs), AtomicBool::new(false));
        Ok(Self { path, command, runs, has_runs, created })
    }

    /// The path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The command line that created it.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Appends a run.
    pub fn append(&self, run: &impl Serialize) -> Result<()> {
        let line = serde_json::to_string(run).expect("plain values") + "\n";
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let before = runs.metadata().map(|file| file.len());
        if let Err(source) = runs.write_all(line.as_bytes()) {
            // An incomplete line would make the lines after it unreadable.
            if let Ok(length) = before {
                let _ = runs.set_len(length);
            }
            return Err(io("write", &self.path.join(RUNS))(source));
        }
        self.has_runs.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Writes a file of the directory atomically.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let place = self.path.join(name);
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder).map_err(io("create", folder))?;
        }
        Ok(write_atomic(&place, bytes)?)
    }

    /// Whether it has no runs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.has_runs.load(Ordering::Relaxed)
    }

    /// Removes the plan and the runs, and the directory if this process created it and nothing else is in it.
    pub fn discard(self) {
        remove_run(&self.path, self.created);
    }

    /// Writes all results to one file, which replaces the file of appended runs.
    pub fn finish<C: Serialize, R: Serialize>(
        &self,
        plan: RunPlan<C>,
        rows: usize,
        runs: Vec<R>,
    ) -> Result<Record<C, R>> {
        let RunPlan { version, config, tables, .. } = plan;
        let command = self.command().to_owned();
        let record = Record { version, command, config, tables, rows, runs };
        self.write(RESULTS, &to_json(&record))?;
        let place = self.path.join(RUNS);
        fs::remove_file(&place).map_err(io("remove", &place))?;
        Ok(record)
    }
}

fn remove_run(path: &Path, created: bool) {
    for name in [PLAN, RUNS] {
        let _ = fs::remove_file(path.join(name));
    }
    if created {
        // Fails if the directory is not empty.
        let _ = fs::remove_dir(path);
    }
}

fn to_json(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).expect("plain values");
    bytes.push(b'\n');
    bytes
}

/// The runs appended so far. An incomplete last line is cut off.
fn read_runs<R: DeserializeOwned>(path: &Path) -> Result<Vec<R>> {
    let Some(text) = read_text(path)? else { return Ok(vec![]) };
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    if whole < text.len() {
        let file = OpenOptions::new().write(true).open(path).map_err(io("write", path))?;
        file.set_len(whole as u64).map_err(io("write", path))?;
    }
    text[..whole]
        .lines()
        .enumerate()
        .map(|(line, text)| {
            serde_json::from_str(text).map_err(|error| Error::BadResults {
                path: path.to_owned(),
                why: format!("line {}: {error}", line + 1),
            })
        })
        .collect()
}

/// Compares a stored plan with a new one.
#[must_use]
pub fn plan_difference(was: &Value, is: &RunPlan<impl Serialize>) -> Option<PlanDifference> {
    // Converted through text, which rounds some numbers.
    let is: Value = serde_json::from_slice(&to_json(is)).expect("our own text");
    for (key, what) in [("version", "versions"), ("tables", "data"), ("protocol", "settings")] {
        let value = |plan: &Value| plan.get(key).cloned().unwrap_or_default();
        if let Some((place, was, is)) = first_difference(&value(was), &value(&is)) {
            let describe = |value: Value| format!("{place}{}", abbreviated(&value));
            return Some(PlanDifference { what, was: describe(was), is: describe(is) });
        }
    }
    None
}

/// A value as text; of a long one, the number of its values.
fn abbreviated(value: &Value) -> String {
    const LONGEST: usize = 80;
    match (value, value.to_string()) {
        (Value::Array(values), text) if text.len() > LONGEST => format!("{} values", values.len()),
        (Value::Object(_), text) if text.len() > LONGEST => "others".to_owned(),
        (_, text) => text,
    }
}

/// The path at which two values differ first, with both values there.
fn first_difference(was: &Value, is: &Value) -> Option<(String, Value, Value)> {
    let deeper = |key: &str, was: &Value, is: &Value| {
        let (place, was, is) = first_difference(was, is)?;
        Some((format!("{key} {place}"), was, is))
    };
    match (was, is) {
        (Value::Object(before), Value::Object(now)) => {
            now.keys().chain(before.keys()).find_map(|key| {
                let value = |map: &serde_json::Map<String, Value>| {
                    map.get(key).cloned().unwrap_or_default()
                };
                deeper(key, &value(before), &value(now))
            })
        }
        (Value::Array(before), Value::Array(now)) if before.len() == now.len() => {
            let mut pairs = before.iter().zip(now).enumerate();
            pairs.find_map(|(place, (was, is))| match before.len() {
                1 => first_difference(was, is),
                _ => deeper(&(place + 1).to_string(), was, is),
            })
        }
        _ => (was != is).then(|| (String::new(), was.clone(), is.clone())),
    }
}
