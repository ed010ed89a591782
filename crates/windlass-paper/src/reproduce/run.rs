//! Runs the parts of an experiment, and keeps what comes of them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use windlass_compare::{
    Candidate, CandidateSummary, Comparison, Error as CompareError, Key, PlanDifference, Rows, Run,
    RunDir, RunPlan, Summary, plan_difference, read_json,
};
use windlass_table::{LoadedTable, write_atomic};
use windlass_train::Epoch;

use super::file::{Experiment, Metric, Part, Picture};
use super::parts::PartConfig;
use super::source::Source;
use super::{page, pictures};
use crate::deep::{self, Arrays, Trainings, Watch};
use crate::networks::Description;
use crate::{Error, Result};

/// How much of an experiment is run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scope {
    /// Seeds in place of those of the file.
    pub seeds: Option<Vec<u64>>,
    /// Little of everything.
    pub quick: bool,
    /// What deep networks are trained on, if not the CPU: `wgpu`, `cuda`, or `cuda:1` for the second.
    pub device: Option<String>,
    /// A file with the weights that networks for images start from.
    pub weights: Option<PathBuf>,
}

/// An experiment and the folder that its results go to.
#[derive(Debug)]
pub struct Reproduction {
    experiment: Experiment,
    scope: Scope,
    /// Tells the weights that networks start from, if they are given, from any other.
    weights: Option<String>,
    folder: PathBuf,
}

/// A part that was run.
#[derive(Debug, Clone, PartialEq)]
pub struct Finished {
    /// What was asked for.
    pub part: Part,
    /// What came of it.
    pub kept: Kept,
}

/// The file of a part: how it was run, what it says, and every run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kept {
    /// The command.
    pub command: String,
    /// The version that ran it.
    pub version: String,
    /// How it went.
    #[serde(rename = "protocol")]
    pub config: PartConfig,
    /// The fingerprints of the rows.
    pub tables: Vec<String>,
    /// The number of rows.
    pub rows: usize,
    /// What the runs amount to.
    pub summary: Summary,
    /// Every run.
    pub runs: Vec<Run>,
}

/// The rows of a part, and how its comparison goes.
struct Loaded {
    config: PartConfig,
    frame: LoadedTable,
    test: Option<LoadedTable>,
    /// What describes the rows, where that is no table.
    arrays: Option<Arrays>,
}

/// Keeps runs as they end, and passes them on.
struct Keeping<'a> {
    folder: &'a RunDir,
    watch: &'a dyn Watch,
}

impl windlass_compare::Watch for Keeping<'_> {
    fn done(&self, run: &Run, done: usize, all: usize) -> windlass_compare::Result<()> {
        self.folder.append(run)?;
        // What was kept of it on the way is no longer needed; most runs have no such file.
        let _ = std::fs::remove_file(deep::checkpoint(self.folder.path(), run.key));
        self.watch.done(run, done, all)
    }

    fn cancelled(&self) -> bool {
        self.watch.cancelled()
    }
}

impl Watch for Keeping<'_> {
    fn epoch(&self, run: Key, epoch: &Epoch, epochs: usize) {
        self.watch.epoch(run, epoch, epochs);
    }
}

impl Reproduction {
    /// An experiment of which results go to a folder of its own in this one. What cannot be run is refused.
    pub fn new(experiment: Experiment, scope: Scope, output: &Path) -> Result<Self> {
        if !experiment.can_run() {
            return Err(Error::NotBuilt { name: experiment.name });
        }
        let device = scope.device.filter(|device| device != "cpu");
        if let Some(device) = &device {
            deep::check_device(device)?;
        }
        let scope = Scope { device, ..scope };
        let mut experiment = if scope.quick { experiment.quick() } else { experiment };
        if let Some(seeds) = &scope.seeds {
            check_seeds(seeds)?;
            for part in &mut experiment.part {
                part.seeds.clone_from(seeds);
            }
        }
        let weights = match &scope.weights {
            Some(path) => Some(start_from(&mut experiment, path)?),
            None => None,
        };
        if output.is_file() {
            return Err(CompareError::NotAFolder { path: output.to_owned() }.into());
        }
        let folder = output.join(&experiment.name);
        Ok(Self { experiment, scope, weights, folder })
    }

    /// The experiment, as it is run.
    #[must_use]
    pub fn experiment(&self) -> &Experiment {
        &self.experiment
    }

    /// Refuses what could not be finished, before anything is run: data sets that are not there, and a page of
    /// someone else in the place of ours. Where only one part is asked for, others are looked at only if they were
    /// finished before, and so are on the page.
    pub fn check(&self, only: Option<&str>) -> Result<()> {
        page::check(&self.page())?;
        let shown = |part: &&Part| part.is_wanted(only) || self.place(part).exists();
        let parts = self.experiment.part.iter().filter(shown);
        let sources = parts.flat_map(|part| [Some(&part.data), part.test.as_ref()]);
        sources.flatten().try_for_each(Source::check)
    }

    /// Where the results of a part are.
    fn place(&self, part: &Part) -> PathBuf {
        self.folder.join(format!("{}.json", part.name))
    }

    fn page(&self) -> PathBuf {
        self.folder.join("README.md")
    }

    /// Whether it was made short.
    pub(super) fn is_quick(&self) -> bool {
        self.scope.quick
    }

    /// The folder of its results.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The parts that are not among these.
    pub(super) fn left_out(&self, finished: &[Finished]) -> impl Iterator<Item = &Part> {
        let there = |part: &&Part| !finished.iter().any(|one| one.part.name == part.name);
        self.experiment.part.iter().filter(there)
    }

    /// The command that does the same.
    #[must_use]
    pub fn command(&self) -> String {
        let mut command = format!("windlass-paper reproduce {}", self.experiment.name);
        if self.scope.quick {
            command += " --quick";
        }
        if let Some(seeds) = &self.scope.seeds {
            let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
            let _ = write!(command, " --seeds {}", seeds.join(","));
        }
        if let Some(device) = &self.scope.device {
            let _ = write!(command, " --device {device}");
        }
        if let Some(weights) = &self.scope.weights {
            let _ = write!(command, " --weights {}", weights.display());
        }
        command
    }

    /// What was finished of a part before, by another run of the same command.
    pub fn finished(&self, part: &Part) -> Result<Option<Finished>> {
        self.trial(part, None)
    }

    /// Runs a part, or what is left of it. One that was finished before is read.
    pub fn run(&self, part: &Part, watch: &dyn Watch) -> Result<Finished> {
        Ok(self.trial(part, Some(watch))?.expect("it was run"))
    }

    fn trial(&self, part: &Part, watch: Option<&dyn Watch>) -> Result<Option<Finished>> {
        let place = self.place(part);
        if watch.is_none() && !place.exists() {
            return Ok(None);
        }
        let Loaded { config, frame, test, arrays } = self.load(part)?;
        let mut tables = vec![frame.profile.fingerprint.clone()];
        tables.extend(test.iter().map(|test| test.profile.fingerprint.clone()));
        tables.extend(arrays.as_ref().map(Arrays::fingerprint));
        tables.extend(self.weights.clone());
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let plan = RunPlan { command: self.command(), version, config: config.clone(), tables };

        let (path, test_path) = (part.data.path(), part.test.as_ref().map(Source::path));
        let table = Rows { frame: &frame, path: &path };
        let test = test.as_ref().zip(test_path.as_deref());
        let test = test.map(|(frame, path)| Rows { frame, path });
        let splits = config.splits.splits(&frame, test.map(|test| test.frame), part.trainings)?;
        let comparison = Comparison::with_splits(&config.comparison, table, test, splits)?;
        if let Some(was) = finished(&place, &plan)? {
            // What runs amount to is a matter of today's statistics.
            let kept = Kept { summary: comparison.summary(&was.runs), ..was.clone() };
            if kept != was {
                write_atomic(&place, kept.to_json().as_bytes())?;
            }
            return Ok(Some(Finished { part: part.clone(), kept }));
        }
        let Some(watch) = watch else { return Ok(None) };
        let (folder, done) = RunDir::create_or_resume(&self.under_way(part), &plan)?;
        let watch = &Keeping { folder: &folder, watch };
        let mut runs = match arrays {
            Some(arrays) => {
                Trainings::new(&comparison, &config.deep, arrays, folder.path(), watch)?
                    .run(done)?
            }
            None => comparison.run(done, watch)?,
        };
        if runs.len() < comparison.keys().len() {
            return Err(CompareError::Interrupted.into());
        }
        let summary = comparison.summary(&runs);
        if !part.predictions {
            for run in &mut runs {
                run.predicted.clear();
            }
        }
        let RunPlan { command, version, tables, .. } = plan;
        let rows = frame.batch.num_rows();
        let kept = Kept { command, version, config, tables, rows, summary, runs };
        write_atomic(&place, kept.to_json().as_bytes())?;
        folder.discard();
        Ok(Some(Finished { part: part.clone(), kept }))
    }

    /// The rows of a part, and how its comparison goes.
    fn load(&self, part: &Part) -> Result<Loaded> {
        let Some(network) = &part.network else {
            let config = part.config()?;
            let columns = &config.comparison.columns;
            let frame = part.data.frame(columns, part.prepared)?;
            let test = part.test.as_ref();
            let test = test.map(|test| test.frame(&apart(columns), part.prepared)).transpose()?;
            return Ok(Loaded { config, frame, test, arrays: None });
        };
        let arrays = part.data.arrays(network, part.rows_at_most)?;
        let mut config = part.config_with_counts(arrays.counts())?;
        for recipe in &mut config.deep {
            recipe.device.clone_from(&self.scope.device);
        }
        let frame = part.data.framed(&arrays.table(), &config.comparison.columns)?;
        Ok(Loaded { config, frame, test: None, arrays: Some(arrays) })
    }

    fn under_way(&self, part: &Part) -> PathBuf {
        self.folder.join(format!("{}.part", part.name))
    }

    /// The pictures that these parts are enough for.
    pub(super) fn pictures(&self, finished: &[Finished]) -> impl Iterator<Item = &Picture> {
        let there = |picture: &&Picture| {
            picture.draw.part().is_none_or(|name| finished.iter().any(|one| one.part.name == name))
        };
        self.experiment.picture.iter().filter(there)
    }

    /// Writes the page and the pictures of an experiment, as far as its parts are finished.
    pub fn write(&self, finished: &[Finished]) -> Result<PathBuf> {
        let page = self.page();
        page::check(&page)?;
        std::fs::create_dir_all(&self.folder).map_err(|source| {
            let path = self.folder.clone();
            CompareError::Io { doing: "create", path, source }
        })?;
        for picture in self.pictures(finished) {
            let drawn = pictures::draw(picture, finished)?;
            let place = |ending: &str| self.folder.join(format!("{}.{ending}", picture.name));
            write_atomic(&place("svg"), drawn.svg.as_bytes())?;
            write_atomic(&place("png"), &drawn.png)?;
        }
        write_atomic(&page, page::page(self, finished).as_bytes())?;
        Ok(page)
    }
}

/// Networks for images start from these weights; gives what tells them from any other.
fn start_from(experiment: &mut Experiment, path: &Path) -> Result<String> {
    let networks = experiment.part.iter_mut().filter_map(|part| part.network.as_mut());
    let mut any = false;
    for network in networks {
        if let Description::Resnet18(net) = network {
            net.weights = Some(path.to_owned());
            deep::check_weights(network)?;
            any = true;
        }
    }
    if !any {
        let why = format!("`{}` has no network for images", experiment.name);
        return Err(Error::BadWeights { why });
    }
    let read = |source| CompareError::Io { doing: "read", path: path.to_owned(), source };
    let bytes = std::fs::read(path).map_err(read)?;
    Ok(format!("sha256:{:x}", Sha256::digest(bytes)))
}

/// Refuses seeds that come twice or are too large to be told apart.
fn check_seeds(seeds: &[u64]) -> Result<()> {
    const MOST: u64 = 65_535;
    let bad = |why: String| Err(Error::BadSeeds { why });
    for (place, seed) in seeds.iter().enumerate() {
        if *seed > MOST {
            return bad(format!("{seed} is above {MOST}"));
        }
        if seeds[..place].contains(seed) {
            return bad(format!("{seed} is there twice"));
        }
    }
    if seeds.is_empty() { bad("there are none".into()) } else { Ok(()) }
}

/// A column of sets is not in the table of test rows.
fn apart(columns: &windlass_table::Columns) -> windlass_table::Columns {
    windlass_table::Columns { carry: vec![], exclude: vec![], ..columns.clone() }
}

/// What was finished before by this very plan.
fn finished(place: &Path, plan: &RunPlan<PartConfig>) -> Result<Option<Kept>> {
    let Some(was) = read_json::<Value>(place)? else { return Ok(None) };
    if let Some(PlanDifference { what, was, is }) = plan_difference(&was, plan) {
        return Err(CompareError::OtherResults { folder: place.to_owned(), what, was, is }.into());
    }
    Ok(read_json(place)?)
}

impl Kept {
    /// The file: a line for every run.
    fn to_json(&self) -> String {
        let head = Self { runs: vec![], ..self.clone() };
        let head = serde_json::to_string_pretty(&head).expect("plain values");
        let runs: Vec<String> =
            self.runs.iter().map(|run| serde_json::to_string(run).expect("plain values")).collect();
        let mut out = head.strip_suffix("[]\n}").expect("runs come last").to_owned();
        let _ = write!(out, "[\n{}\n]}}\n", runs.join(",\n"));
        out
    }

    /// The values of a metric over seeds.
    #[must_use]
    pub fn values(&self, size: Option<usize>, candidate: Candidate, metric: Metric) -> Vec<f64> {
        let own = |run: &&Run| run.key.size == size && run.key.candidate == candidate;
        self.runs.iter().filter(own).map(|run| metric.of(run)).collect()
    }

    /// What the runs of a candidate amount to.
    #[must_use]
    pub fn line(&self, size: Option<usize>, candidate: Candidate) -> Option<&CandidateSummary> {
        let own = |line: &&CandidateSummary| line.size == size && line.candidate == candidate;
        self.summary.lines.iter().find(own)
    }

    /// Seconds of all runs.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.runs.iter().map(|run| run.seconds).sum()
    }
}
