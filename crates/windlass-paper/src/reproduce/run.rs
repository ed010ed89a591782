//! Runs the parts of an experiment and stores their results.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};
use windlass_compare::{
    Comparison, Error as CompareError, Key, PlanDifference, Run, RunDir, RunPlan, plan_difference,
    read_json,
};
use windlass_model::NamedTable;
use windlass_plot::stack_figures;
use windlass_table::{LoadedTable, write_atomic};
use windlass_train::Epoch;

use super::dataset::DatasetSpec;
use super::lower::PartConfig;
use super::markdown::{self, Page};
use super::pictures;
use super::spec::{Experiment, ExperimentPart, Picture};
use super::stored::{FinishedPart, StoredPart};
use crate::deep::{self, Arrays, DeepProgress, DeepRuns};
use crate::networks::NetworkSpec;
use crate::{Error, Result};

/// How much of an experiment is run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scope {
    /// Seeds in place of those of the file.
    pub seeds: Option<Vec<u64>>,
    /// Few epochs, seeds and settings.
    pub quick: bool,
    /// The device for deep networks, if not the CPU: `wgpu`, `cuda`, or `cuda:1` for the second GPU.
    pub device: Option<String>,
    /// A file of pretrained weights for image networks.
    pub weights: Option<PathBuf>,
}

/// An experiment and the directory of its results.
#[derive(Debug)]
pub struct Reproduction {
    experiment: Experiment,
    scope: Scope,
    /// The fingerprint of the pretrained weights.
    weights: Option<String>,
    folder: PathBuf,
}

/// The rows and the configuration of a part.
struct PartInputs {
    config: PartConfig,
    loaded: LoadedTable,
    test: Option<LoadedTable>,
    /// The features, if they are arrays instead of a table.
    arrays: Option<Arrays>,
}

/// Stores runs as they finish, and forwards progress.
struct RunRecorder<'a> {
    folder: &'a RunDir,
    watch: &'a dyn DeepProgress,
}

impl windlass_compare::RunProgress for RunRecorder<'_> {
    fn done(&self, run: &Run, done: usize, all: usize) -> windlass_compare::Result<()> {
        self.folder.append(run)?;
        // The checkpoint is no longer needed; most runs have none.
        let _ = std::fs::remove_file(deep::checkpoint_path(self.folder.path(), run.key));
        self.watch.done(run, done, all)
    }

    fn cancelled(&self) -> bool {
        self.watch.cancelled()
    }
}

impl DeepProgress for RunRecorder<'_> {
    fn epoch(&self, run: Key, epoch: &Epoch, epochs: usize) {
        self.watch.epoch(run, epoch, epochs);
    }
}

impl Reproduction {
    /// Prepares an experiment, whose results go to a subdirectory of `output`. An error if this build cannot run it.
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
            Some(path) => Some(use_pretrained(&mut experiment, path)?),
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

    /// Checks before anything is run that data sets are present and that the page may be overwritten. With `only`,
    /// other parts are checked only if they are finished, and so appear on the page.
    pub fn check(&self, only: Option<&str>) -> Result<()> {
        markdown::check_overwrite(&self.page_path())?;
        let shown =
            |part: &&ExperimentPart| part.is_wanted(only) || self.results_path(part).exists();
        let parts = self.experiment.part.iter().filter(shown);
        let sources = parts.flat_map(|part| [Some(&part.data), part.test.as_ref()]);
        sources.flatten().try_for_each(DatasetSpec::check)
    }

    fn results_path(&self, part: &ExperimentPart) -> PathBuf {
        self.folder.join(format!("{}.json", part.name))
    }

    fn page_path(&self) -> PathBuf {
        self.folder.join("README.md")
    }

    /// The folder of its results.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn not_run(&self, finished: &[FinishedPart]) -> impl Iterator<Item = &ExperimentPart> {
        let there = |part: &&ExperimentPart| !finished.iter().any(|one| one.part.name == part.name);
        self.experiment.part.iter().filter(there)
    }

    /// The command line that reproduces it.
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

    /// The stored results of a part, if it was finished by the same command before.
    pub fn finished(&self, part: &ExperimentPart) -> Result<Option<FinishedPart>> {
        self.load_or_run(part, None)
    }

    /// Runs a part or resumes it; reads the results if it is finished.
    pub fn run(&self, part: &ExperimentPart, watch: &dyn DeepProgress) -> Result<FinishedPart> {
        Ok(self.load_or_run(part, Some(watch))?.expect("it was run"))
    }

    fn load_or_run(
        &self,
        part: &ExperimentPart,
        watch: Option<&dyn DeepProgress>,
    ) -> Result<Option<FinishedPart>> {
        let place = self.results_path(part);
        if watch.is_none() && !place.exists() {
            return Ok(None);
        }
        let PartInputs { config, loaded, test, arrays } = self.load(part)?;
        let mut tables = vec![loaded.profile.fingerprint.clone()];
        tables.extend(test.iter().map(|test| test.profile.fingerprint.clone()));
        tables.extend(arrays.as_ref().map(Arrays::fingerprint));
        tables.extend(self.weights.clone());
        let plan = RunPlan::new(self.command(), config.clone(), tables);

        let (path, test_path) = (part.data.path(), part.test.as_ref().map(DatasetSpec::path));
        let table = NamedTable { table: &loaded, path: &path };
        let test = test.as_ref().zip(test_path.as_deref());
        let test = test.map(|(loaded, path)| NamedTable { table: loaded, path });
        let splits = config.splits.splits(&loaded, test.map(|test| test.table), part.trainings)?;
        let comparison = Comparison::with_splits(&config.comparison, table, test, splits)?;
        if let Some(was) = read_stored(&place, &plan)? {
            // The summary is recomputed: the statistics may have changed.
            let stored = StoredPart { summary: comparison.summary(&was.runs), ..was.clone() };
            if stored != was {
                write_atomic(&place, stored.to_json().as_bytes())?;
            }
            return Ok(Some(FinishedPart { part: part.clone(), stored }));
        }
        let Some(watch) = watch else { return Ok(None) };
        let (folder, done) = RunDir::create_or_resume(&self.run_dir_path(part), &plan)?;
        let watch = &RunRecorder { folder: &folder, watch };
        let mut runs = match arrays {
            Some(arrays) => {
                DeepRuns::new(&comparison, &config.deep, arrays, folder.path(), watch)?.run(done)?
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
        let rows = loaded.batch.num_rows();
        let stored = StoredPart { command, version, config, tables, rows, summary, runs };
        write_atomic(&place, stored.to_json().as_bytes())?;
        let path = folder.path().to_owned();
        folder.discard();
        // A stopped run may have created it.
        let _ = std::fs::remove_dir(path);
        Ok(Some(FinishedPart { part: part.clone(), stored }))
    }

    /// Loads the rows of a part and lowers its specification.
    fn load(&self, part: &ExperimentPart) -> Result<PartInputs> {
        let Some(network) = &part.network else {
            let config = part.config()?;
            let columns = &config.comparison.columns;
            let loaded = part.data.loaded(columns, part.prepared)?;
            let test = part.test.as_ref();
            let test =
                test.map(|test| test.loaded(&test_columns(columns), part.prepared)).transpose()?;
            return Ok(PartInputs { config, loaded, test, arrays: None });
        };
        let arrays = part.data.arrays(network, part.rows_at_most)?;
        let mut config = part.config_with_counts(arrays.counts())?;
        for deep in &mut config.deep {
            deep.device.clone_from(&self.scope.device);
        }
        let loaded = part.data.load_batch(&arrays.table(), &config.comparison.columns)?;
        Ok(PartInputs { config, loaded, test: None, arrays: Some(arrays) })
    }

    fn run_dir_path(&self, part: &ExperimentPart) -> PathBuf {
        self.folder.join(format!("{}.part", part.name))
    }

    /// The pictures whose part is finished.
    fn pictures(&self, finished: &[FinishedPart]) -> impl Iterator<Item = &Picture> {
        let there = |picture: &&Picture| {
            picture.draw.part().is_none_or(|name| finished.iter().any(|one| one.part.name == name))
        };
        self.experiment.picture.iter().filter(there)
    }

    /// Writes the page and the pictures of the finished parts.
    pub fn write(&self, finished: &[FinishedPart]) -> Result<PathBuf> {
        let page = self.page_path();
        markdown::check_overwrite(&page)?;
        std::fs::create_dir_all(&self.folder).map_err(|source| {
            let path = self.folder.clone();
            CompareError::Io { doing: "create", path, source }
        })?;
        let mut figures = vec![];
        for picture in self.pictures(finished) {
            let drawn = pictures::draw(picture, finished)?;
            write_atomic(&self.folder.join(format!("{}.png", picture.name)), &drawn.png)?;
            figures.push((picture.name.as_str(), drawn.svg));
        }
        if !figures.is_empty() {
            let place = self.folder.join(pictures::FIGURES);
            write_atomic(&place, stack_figures(&figures).as_bytes())?;
        }
        let rendered = markdown::render(&Page {
            experiment: &self.experiment,
            command: self.command(),
            quick: self.scope.quick,
            folder: &self.folder,
            finished,
            not_run: self.not_run(finished).collect(),
            pictures: self.pictures(finished).collect(),
        });
        write_atomic(&page, rendered.as_bytes())?;
        Ok(page)
    }
}

/// Makes image networks start from pretrained weights; returns their fingerprint.
fn use_pretrained(experiment: &mut Experiment, path: &Path) -> Result<String> {
    let networks = experiment.part.iter_mut().filter_map(|part| part.network.as_mut());
    let mut any = false;
    for network in networks {
        if let NetworkSpec::Resnet18(net) = network {
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

/// Returns an error for duplicate seeds and seeds above 16 bits.
fn check_seeds(seeds: &[u64]) -> Result<()> {
    const MOST: u64 = 65_535;
    let bad = |why: String| Err(Error::BadSeeds { why });
    for (place, seed) in seeds.iter().enumerate() {
        if *seed > MOST {
            return bad(format!("{seed} is above {MOST}"));
        }
        if seeds[..place].contains(seed) {
            return bad(format!("{seed} occurs twice"));
        }
    }
    if seeds.is_empty() { bad("there are none".into()) } else { Ok(()) }
}

/// The column of training sets is not in the test table.
fn test_columns(columns: &windlass_table::Columns) -> windlass_table::Columns {
    windlass_table::Columns { carry: vec![], exclude: vec![], ..columns.clone() }
}

/// Reads stored results; an error if they belong to another plan.
fn read_stored(place: &Path, plan: &RunPlan<PartConfig>) -> Result<Option<StoredPart>> {
    let Some(was) = read_json::<Value>(place)? else { return Ok(None) };
    if let Some(PlanDifference { what, was, is }) = plan_difference(&was, plan) {
        return Err(CompareError::OtherResults { folder: place.to_owned(), what, was, is }.into());
    }
    Ok(read_json(place)?)
}
