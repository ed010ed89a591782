//! A folder with the results of a comparison or a search, while it goes on and after.

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

/// What results belong to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan<P> {
    /// The command that started it.
    pub command: String,
    /// The version that makes them.
    pub version: String,
    /// How they are made.
    pub protocol: P,
    /// The fingerprint of the table, and of the table of test rows.
    pub tables: Vec<String>,
}

const PLAN: &str = "plan.json";
const RUNS: &str = "runs.jsonl";
const RESULTS: &str = "results.json";

/// A folder of results. Every run is in it as soon as it has ended.
#[derive(Debug)]
pub struct RunDir {
    path: PathBuf,
    /// The command that started it.
    command: String,
    runs: Mutex<File>,
    /// Whether there is anything that would be lost.
    kept: AtomicBool,
}

fn io(doing: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { doing, path, source }
}

/// Reads a file of JSON, if it exists.
pub fn read<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io("read", path)(error)),
    };
    let bad = |error: serde_json::Error| Error::BadResults {
        path: path.to_owned(),
        why: error.to_string(),
    };
    serde_json::from_str(&text).map(Some).map_err(bad)
}

impl RunDir {
    /// Starts a folder; one that has results is refused.
    pub fn create(path: &Path, plan: &Plan<impl Serialize>) -> Result<Self> {
        for name in [PLAN, RESULTS, RUNS, "report.html", "pictures"] {
            if path.join(name).exists() {
                return Err(Error::HasResults { folder: path.to_owned() });
            }
        }
        fs::create_dir_all(path).map_err(io("create", path))?;
        write_atomic(&path.join(PLAN), &to_json(plan))?;
        Self::open(path, &plan.command)
    }

    /// Goes on in a folder: the one that these rows and settings belong to, or it is refused.
    pub fn resume<P, R>(path: &Path, plan: &Plan<P>) -> Result<(Self, Vec<R>)>
    where
        P: Serialize + DeserializeOwned,
        R: DeserializeOwned,
    {
        let folder = || path.to_owned();
        let Some(was) = read::<Value>(&path.join(PLAN))? else {
            return Err(Error::NoResults { folder: folder() });
        };
        if let Some((what, was, is)) = other(&was, plan) {
            return Err(Error::OtherResults { folder: folder(), what, was, is });
        }
        let mut runs = match read::<Record<P, R>>(&path.join(RESULTS))? {
            Some(results) => results.runs,
            None => vec![],
        };
        // What was added to finished results, and not finished itself.
        runs.extend(kept_runs(&path.join(RUNS))?);
        let command = was.get("command").and_then(Value::as_str).unwrap_or(&plan.command);
        let folder = Self::open(path, command)?;
        folder.kept.store(true, Ordering::Relaxed);
        Ok((folder, runs))
    }

    /// Goes on where there is something to go on with, otherwise starts.
    pub fn start_or_resume<P, R>(path: &Path, plan: &Plan<P>) -> Result<(Self, Vec<R>)>
    where
        P: Serialize + DeserializeOwned,
        R: DeserializeOwned,
    {
        if path.join(PLAN).exists() {
            return Self::resume(path, plan);
        }
        Ok((Self::create(path, plan)?, vec![]))
    }

    fn open(path: &Path, command: &str) -> Result<Self> {
        let place = path.join(RUNS);
        let runs = OpenOptions::new().create(true).append(true).open(&place);
        let runs = runs.map_err(io("write", &place))?;
        // Where files cannot be locked, nobody is kept away.
        if matches!(runs.try_lock(), Err(TryLockError::WouldBlock)) {
            return Err(Error::Busy { folder: path.to_owned() });
        }
        let (path, command) = (path.to_owned(), command.to_owned());
        Ok(Self { path, command, runs: Mutex::new(runs), kept: AtomicBool::new(false) })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The command that started it.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.command
    }

    /// Keeps a run.
    pub fn keep(&self, run: &impl Serialize) -> Result<()> {
        let line = serde_json::to_string(run).expect("plain values") + "\n";
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.write_all(line.as_bytes()).map_err(io("write", &self.path.join(RUNS)))?;
        self.kept.store(true, Ordering::Relaxed);
        Ok(())
    }

    /// Writes a file of the folder, whole.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let place = self.path.join(name);
        if let Some(folder) = place.parent() {
            fs::create_dir_all(folder).map_err(io("create", folder))?;
        }
        Ok(write_atomic(&place, bytes)?)
    }

    /// Whether there is nothing in it that would be lost.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        !self.kept.load(Ordering::Relaxed)
    }

    /// Removes what a comparison that was refused has left, and the folder if nothing else is in it.
    pub fn discard(self) {
        for name in [PLAN, RUNS] {
            let _ = fs::remove_file(self.path.join(name));
        }
        let _ = fs::remove_dir(&self.path);
    }

    /// Writes all results in one file, which takes the place of the list that grew.
    pub fn finish<P: Serialize, R: Serialize>(&self, results: &Record<P, R>) -> Result<()> {
        self.write(RESULTS, &to_json(results))?;
        let place = self.path.join(RUNS);
        fs::remove_file(&place).map_err(io("remove", &place))
    }
}

fn to_json(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).expect("plain values");
    bytes.push(b'\n');
    bytes
}

/// The runs that were kept; a last line that was cut off is not one.
fn kept_runs<R: DeserializeOwned>(path: &Path) -> Result<Vec<R>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(vec![]),
        Err(error) => return Err(io("read", path)(error)),
    };
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

/// What a plan differs in from one that was kept, if it does: in words, what it was and what it is.
#[must_use]
pub fn other(was: &Value, is: &Plan<impl Serialize>) -> Option<(&'static str, String, String)> {
    // As text has it: some numbers are longer in memory.
    let is: Value = serde_json::from_slice(&to_json(is)).expect("our own text");
    for (key, what) in [("version", "versions"), ("tables", "data"), ("protocol", "settings")] {
        let value = |of: &Value| of.get(key).cloned().unwrap_or_default();
        if let Some((place, was, is)) = differing(&value(was), &value(&is)) {
            let of = |value: Value| format!("{place}{}", in_short(&value));
            return Some((what, of(was), of(is)));
        }
    }
    None
}

/// A value, or how many values it has.
fn in_short(value: &Value) -> String {
    const LONGEST: usize = 80;
    match (value, value.to_string()) {
        (Value::Array(values), text) if text.len() > LONGEST => format!("{} values", values.len()),
        (Value::Object(_), text) if text.len() > LONGEST => "others".to_owned(),
        (_, text) => text,
    }
}

/// The first place in which two values differ, with both.
fn differing(was: &Value, is: &Value) -> Option<(String, Value, Value)> {
    let deeper = |key: &str, was: &Value, is: &Value| {
        let (place, was, is) = differing(was, is)?;
        Some((format!("{key} {place}"), was, is))
    };
    match (was, is) {
        (Value::Object(before), Value::Object(now)) => {
            now.keys().chain(before.keys()).find_map(|key| {
                let value =
                    |of: &serde_json::Map<String, Value>| of.get(key).cloned().unwrap_or_default();
                deeper(key, &value(before), &value(now))
            })
        }
        (Value::Array(before), Value::Array(now)) if before.len() == now.len() => {
            let mut pairs = before.iter().zip(now).enumerate();
            pairs.find_map(|(place, (was, is))| match before.len() {
                1 => differing(was, is),
                _ => deeper(&(place + 1).to_string(), was, is),
            })
        }
        _ => (was != is).then(|| (String::new(), was.clone(), is.clone())),
    }
}
