//! Augmentation of a table, block by block.
//!
//! ADA on groups reads the table once for the statistics of its columns, once or twice for groups
//! and their means, and once for every copy. The other methods mix arbitrary rows, or use all of
//! them, and hold the moved columns in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use serde::Serialize;
use windlass::{Relevance, Seed};

use crate::column::{range, to_f64};
use crate::config::AugmentConfig;
use crate::fit::driver::FitDriver;
use crate::fit::fitted::{BoundFitted, Fitted};
use crate::fit::pass::PassAccumulator;
use crate::generate::generated_block::GeneratedBlock;
use crate::generate::groups::GroupSummary;
use crate::generate::output_batch::{OutOfRange, OutputBatch};
use crate::io::read::table::{SyntheticRows, Table};
use crate::io::write::sink::Sink;
use crate::manifest::Manifest;
use crate::note::Note;
use crate::plot_sample::PlotSample;
use crate::progress::RowProgress;
use crate::rows::block::{IdCollector, TableRows};
use crate::schema::categories::Categories;
use crate::schema::profile::{Profile, ProfileAccumulator};
use crate::schema::roles::Roles;
use crate::{Error, Result};

/// Receives the rows of an augmentation.
pub trait Output {
    /// Whether copies may be written in any order, or interleaved.
    fn any_order(&self) -> bool {
        false
    }

    /// Writes rows of a copy; copy 0 are the originals.
    fn write(&mut self, copy: usize, batch: RecordBatch) -> Result<()>;
}

impl Output for Sink {
    fn any_order(&self) -> bool {
        Sink::any_order(self)
    }

    fn write(&mut self, copy: usize, batch: RecordBatch) -> Result<()> {
        Sink::write(self, copy, &batch)
    }
}

impl<F: FnMut(usize, RecordBatch) -> Result<()>> Output for F {
    fn write(&mut self, copy: usize, batch: RecordBatch) -> Result<()> {
        self(copy, batch)
    }
}

/// Statistics of an augmentation.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AugmentSummary {
    /// The name of the method.
    pub method: String,
    /// Number of input rows.
    pub rows_in: u64,
    /// Number of rows dropped because of a missing target.
    pub rows_dropped: u64,
    /// Number of synthetic input rows, which are dropped.
    pub rows_synthetic: u64,
    /// Number of output rows.
    pub rows_out: u64,
    /// Number of synthetic rows.
    pub synthetic: u64,
    /// Requested number of synthetic rows: copies × rows, or rare rows. A method may generate fewer.
    pub requested: u64,
    /// Columns by role.
    pub roles: Vec<(String, Vec<String>)>,
    /// The rows with rare targets, if only those are sources of synthetic rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rare: Option<RareSummary>,
    /// The groups.
    pub groups: Vec<GroupSummary>,
    /// Minimum and maximum of γ.
    pub gamma: Option<(f64, f64)>,
    /// Synthetic values outside the bounds or, without bounds, the observed range of a column.
    pub outside: Vec<OutOfRangeCount>,
    /// The fingerprint of the input.
    pub fingerprint: String,
    /// The seed.
    pub seed: u64,
}

/// The rows with rare targets.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RareSummary {
    /// The target that decides.
    pub target: String,
    /// Number of rare rows.
    pub rows: u64,
    /// Number of synthetic rows for each.
    pub copies: usize,
    /// The ranges of rare targets.
    pub ranges: Vec<RareRange>,
}

/// A range of rare targets.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct RareRange {
    /// The least rare target; `None`: no limit.
    pub low: Option<f64>,
    /// The greatest rare target; `None`: no limit.
    pub high: Option<f64>,
    /// Number of rare rows in it.
    pub rows: u64,
}

impl RareSummary {
    fn new(target: String, copies: usize, relevance: &Relevance) -> Self {
        let finite = |end: f64| end.is_finite().then_some(end);
        let range = |(low, high)| RareRange { low: finite(low), high: finite(high), rows: 0 };
        let ranges = relevance.rare_ranges().into_iter().map(range).collect();
        Self { target, rows: 0, copies, ranges }
    }

    /// Counts a rare row.
    fn count(&mut self, y: f64) {
        self.rows += 1;
        let range = self.ranges.iter_mut().find(|range| range.high.is_none_or(|high| y <= high));
        if let Some(range) = range {
            range.rows += 1;
        }
    }
}

/// Synthetic values outside the bounds or the observed range of a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutOfRangeCount {
    /// The column.
    pub column: String,
    /// Number of values below the minimum, before clipping.
    pub below: u64,
    /// Number of values above the maximum, before clipping.
    pub above: u64,
    /// Whether they were clipped.
    pub clipped: bool,
}

/// A table and a method that was fitted on it, or on another table with the same columns.
#[derive(Debug)]
pub struct Augmentation<'a> {
    rows: TableRows<'a>,
    profile: Profile,
    bound: BoundFitted,
    /// A hash of the fitted method, if it was fitted on another table.
    prefitted: Option<String>,
}

impl<'a> Augmentation<'a> {
    /// Reads the table, infers roles and fits the method.
    pub fn fit(
        table: &'a Table,
        settings: &AugmentConfig,
        memory: u64,
        progress: &dyn RowProgress,
    ) -> Result<Self> {
        Self::fit_rounded(table, settings, &table.decimals(), memory, progress)
    }

    /// [`fit`](Self::fit), with decimals of columns that may be those of another file of the same table.
    pub(crate) fn fit_rounded(
        table: &'a Table,
        settings: &AugmentConfig,
        decimals: &BTreeMap<String, u8>,
        memory: u64,
        progress: &dyn RowProgress,
    ) -> Result<Self> {
        check_originals(table)?;
        let schema = table.schema();
        let mut driver = FitDriver::new(Arc::clone(schema), settings, memory)
            .map_err(|error| table.with_example(error))?;
        let mut rows = TableRows::new(table, driver.block_reader()?);
        let mut ids = IdCollector::new(settings, memory);
        while let Some(task) = driver.task() {
            progress.stage(task.name());
            let mut accumulator = PassAccumulator::in_order(&task, schema)?;
            for block in rows.blocks() {
                let block = block?;
                progress.advance(block.rows() as u64)?;
                accumulator.add_block(&block)?;
                if let Some(ids) = &mut ids {
                    ids.add(&block)?;
                }
            }
            driver.take(accumulator).map_err(|error| with_path(error, table))?;
            if let Some(ids) = ids.take() {
                rows.resolve_duplicates(ids)?;
            }
        }
        let mut fitted = driver.finish()?;
        fitted.round_to(decimals);
        let profile = fitted.profile.take().expect("fitted in this process");
        let bound = Arc::new(fitted).bind(schema)?;
        Ok(Self { rows, profile, bound, prefitted: None })
    }

    /// Reads the table and checks its values, for a method that was fitted before.
    pub fn with(
        table: &'a Table,
        fitted: Arc<Fitted>,
        memory: u64,
        progress: &dyn RowProgress,
    ) -> Result<Self> {
        check_originals(table)?;
        let schema = table.schema();
        let prefitted = Some(fitted.fingerprint());
        let bound = fitted.bind(schema)?;
        let settings = bound.fitted.settings();
        let mut rows = TableRows::new(table, bound.reader.clone());
        progress.stage("reading");
        let columns = schema.fields().len();
        let mut profile =
            ProfileAccumulator::for_table(columns, Categories::default(), &settings.rows_by);
        let mut ids = IdCollector::new(settings, memory);
        for block in rows.blocks() {
            let block = block?;
            progress.advance(block.rows() as u64)?;
            block.check_bounds(&settings.bounds)?;
            profile.add(&block, memory)?;
            if let Some(ids) = &mut ids {
                ids.add(&block)?;
            }
        }
        if let Some(ids) = ids {
            rows.resolve_duplicates(ids)?;
        }
        let profile = profile.finish(schema).0;
        if profile.kept == 0 {
            return Err(Error::no_targets(table.path(), profile.synthetic));
        }
        bound.fitted.roles.check_values(schema, &profile)?;
        Ok(Self { rows, profile, bound, prefitted })
    }

    /// The columns of the output.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        self.bound.schema()
    }

    /// Statistics of the table.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Notes for the user on augmented columns.
    #[must_use]
    pub fn notes(&self) -> Vec<Note> {
        /// Floats represent all integers up to this one.
        const EXACT: f64 = (1_u64 << 53) as f64;
        let schema = self.rows.table.schema();
        let is_large = |&place: &usize| {
            let range = self.profile.columns[place].range;
            schema.field(place).data_type().is_integer()
                && range.is_some_and(|(low, high)| low < -EXACT || high > EXACT)
        };
        let column = |place: usize| schema.field(place).name().clone();
        let large = self.roles().moved().into_iter().filter(is_large);
        large.map(|place| Note::LargeIntegers { column: column(place) }).collect()
    }

    /// The roles of the columns.
    #[must_use]
    pub fn roles(&self) -> &Roles {
        &self.bound.fitted.roles
    }

    /// The fitted method.
    #[must_use]
    pub fn fitted(&self) -> &Fitted {
        &self.bound.fitted
    }

    pub(crate) fn copies(&self) -> usize {
        self.fitted().settings().copies
    }

    /// An empty sample for a plot of the first target against a column; without one, against the feature
    /// most correlated with the target.
    pub fn plot_sample(&self, x: Option<&str>) -> Result<PlotSample> {
        PlotSample::new(&self.rows, self.roles(), &self.profile, self.copies(), x)
    }

    /// The manifest of the output.
    #[must_use]
    pub fn manifest(&self) -> Manifest {
        Manifest {
            fingerprint: self.profile.fingerprint.clone(),
            rows: self.profile.rows,
            fitted: self.prefitted.clone(),
            ..self.fitted().manifest()
        }
    }

    /// The groups; empty if the method has none.
    #[must_use]
    pub fn groups(&self) -> Vec<GroupSummary> {
        self.fitted().groups()
    }

    /// The relevance of the first target, if only rare rows are sources of synthetic rows.
    #[must_use]
    pub fn relevance(&self) -> Option<&Relevance> {
        self.fitted().relevance.as_ref()
    }

    /// Writes the output batch by batch: the originals, then copy after copy, unless the output
    /// accepts any order.
    ///
    /// `sample` collects rows for a plot.
    pub fn write(
        &self,
        progress: &dyn RowProgress,
        mut sample: Option<&mut PlotSample>,
        output: &mut impl Output,
    ) -> Result<AugmentSummary> {
        /// Copies that are generated from a block before the next block is read.
        const INTERLEAVED_COPIES: usize = 8;
        let mut tally = Tally::new(self.roles().moved().len());
        tally.rare = self.fitted().relevance.as_ref().map(|relevance| {
            let target = self.rows.table.schema().field(self.roles().targets[0]).name().clone();
            RareSummary::new(target, self.copies(), relevance)
        });
        let generator = &self.fitted().generator;
        let interleaved = output.any_order() && generator.is_streaming();
        progress.stage("writing");
        let mut left = self.bound.copies();
        loop {
            let at_once = if interleaved { INTERLEAVED_COPIES } else { 1 };
            let copies: Vec<usize> = left.by_ref().take(at_once).collect();
            if copies.is_empty() {
                return Ok(self.summary(tally));
            }
            let seed = Seed(self.fitted().settings().seed);
            let generators = copies.iter().map(|&copy| generator.copy(copy, seed));
            let generators = generators.collect::<Result<Vec<_>>>()?;
            for block in self.rows.blocks() {
                let block = block?;
                let labels = generator.label(&block)?;
                let sources = self.fitted().sources(&block);
                if let (Some(rare), Some(sources)) = (&mut tally.rare, &sources)
                    && copies[0] == *self.bound.copies().start()
                {
                    let targets = to_f64(block.batch.column(self.roles().targets[0]));
                    let targets = targets.values().iter().zip(sources);
                    targets.filter(|(_, rare)| **rare).for_each(|(&y, _)| rare.count(y));
                }
                for (&copy, generator) in copies.iter().zip(&generators) {
                    progress.advance(block.rows() as u64)?;
                    let generated = generator.block(&block, &labels)?;
                    let sources = sources.as_deref().filter(|_| copy > 0);
                    let rows =
                        self.bound.output.batch(copy, &block, generated.as_ref(), sources)?;
                    tally.add(copy, &rows, generated.as_ref());
                    if let Some(sample) = &mut sample {
                        let groups = generated.groups().map(|groups| rows.keep_groups(groups));
                        sample.add(copy, &rows.batch, groups.as_deref());
                    }
                    output.write(copy, rows.batch)?;
                }
            }
        }
    }

    fn summary(&self, tally: Tally) -> AugmentSummary {
        let sources = tally.rare.as_ref().map_or(self.profile.kept, |rare| rare.rows);
        let fields = self.rows.table.schema().fields();
        let settings = self.fitted().settings();
        let outside = self.roles().moved().into_iter().zip(&tally.out_of_range);
        let outside = outside.filter(|(_, outside)| outside.below + outside.above > 0);
        let roles = self.fitted().columns_by_role().into_iter();
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
        let roles = roles.map(|(role, names)| (role.to_owned(), owned(names))).collect();
        AugmentSummary {
            method: settings.method.name().into(),
            rows_in: self.profile.rows,
            rows_dropped: self.profile.rows - self.profile.kept - self.profile.synthetic,
            rows_synthetic: self.profile.synthetic,
            rows_out: tally.rows,
            synthetic: tally.synthetic,
            requested: sources.saturating_mul(settings.copies as u64),
            roles,
            rare: tally.rare,
            groups: self.groups(),
            gamma: tally.gamma,
            outside: outside
                .map(|(place, &OutOfRange { below, above, clipped })| OutOfRangeCount {
                    column: fields[place].name().clone(),
                    below,
                    above,
                    clipped,
                })
                .collect(),
            fingerprint: self.profile.fingerprint.clone(),
            seed: settings.seed,
        }
    }
}

/// Returns an error for a table with synthetic rows that nothing marks.
fn check_originals(table: &Table) -> Result<()> {
    if table.synthetic_rows() == Some(SyntheticRows::Unmarked) {
        return Err(Error::AlreadyAugmented { path: table.path().to_owned() });
    }
    Ok(())
}

/// Adds the path to an error of the driver, which has none.
fn with_path(error: Error, table: &Table) -> Error {
    match error {
        Error::NoTargets { .. } => Error::NoTargets { path: table.path().to_owned() },
        Error::NoOriginals { .. } => Error::NoOriginals { path: table.path().to_owned() },
        other => other,
    }
}

/// Statistics of the rows written so far.
struct Tally {
    rows: u64,
    synthetic: u64,
    /// One per moved column.
    out_of_range: Vec<OutOfRange>,
    gamma: Option<(f64, f64)>,
    rare: Option<RareSummary>,
}

impl Tally {
    fn new(moved: usize) -> Self {
        Self {
            rows: 0,
            synthetic: 0,
            out_of_range: vec![OutOfRange::default(); moved],
            gamma: None,
            rare: None,
        }
    }

    fn add(&mut self, copy: usize, rows: &OutputBatch, generated: &dyn GeneratedBlock) {
        let written = rows.batch.num_rows() as u64;
        self.rows += written;
        self.synthetic += if copy > 0 { written } else { 0 };
        for (all, more) in self.out_of_range.iter_mut().zip(&rows.out_of_range) {
            all.below += more.below;
            all.above += more.above;
            all.clipped |= more.clipped;
        }
        let gammas = generated.gammas().map(|gammas| rows.keep_numbers(gammas));
        if let Some((low, high)) = gammas.and_then(|gammas| range(&gammas)) {
            let (least, most) = self.gamma.unwrap_or((low, high));
            self.gamma = Some((least.min(low), most.max(high)));
        }
    }
}
