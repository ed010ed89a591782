//! Augmentation of a table, block by block.
//!
//! ADA on groups needs one pass to see what the table holds, one or two to find groups and their means, and
//! one for every copy. The other methods mix rows that stand anywhere, or measure all rows first, so they
//! hold the moved columns in memory, or refuse to.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema, SchemaRef};
use serde::{Deserialize, Serialize};
use windlass::Seed;

use crate::categories::{Categories, can_name};
use crate::column::{in_words, is_numeric};
use crate::fitted::{BoundFitted, Fitted, OutputBatch};
use crate::fitting::{FitDriver, PassAccumulator};
use crate::identity::DuplicateCounter;
use crate::profile::{Profile, ProfileAccumulator};
use crate::roles::{Roles, find};
use crate::rows::{Block, Rows};
use crate::settings::{AnchorSource, AugmentConfig, MethodConfig};
use crate::{Error, PlotSample, Result, RowIdSource, Sink, Table};

/// Hears how far the work has come, and may stop it.
pub trait Watch: Sync {
    /// The next pass begins.
    fn stage(&self, _name: &str) {}

    /// So many more rows were read; an error stops the work.
    fn advance(&self, _rows: u64) -> Result<()> {
        Ok(())
    }
}

impl Watch for () {}

/// Where the rows of an augmentation go.
pub trait Output {
    /// Whether copies may come in any order, or a little of each in turn.
    fn any_order(&self) -> bool {
        false
    }

    /// Takes some rows of a copy; copy 0 are the originals.
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

/// How an output was made: enough to make it again from its input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version that made it.
    pub version: String,
    /// The fingerprint of the input.
    pub fingerprint: String,
    /// The rows of the input.
    pub rows: u64,
    /// Everything that decides which rows are made.
    pub settings: AugmentConfig,
    /// A hash of what was fitted, if not on this input.
    #[serde(default)]
    pub fitted: Option<String>,
}

impl Manifest {
    /// The key in the metadata of a file.
    pub const KEY: &'static str = "windlass";

    /// Its text, in the metadata of a file or in a file of its own.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("numbers and words")
    }
}

/// What was done, in numbers.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Summary {
    /// The method's name.
    pub method: String,
    /// Rows of the input.
    pub rows_in: u64,
    /// Rows left out for want of a target.
    pub rows_dropped: u64,
    /// Rows of the output.
    pub rows_out: u64,
    /// Columns by role.
    pub roles: Vec<(String, Vec<String>)>,
    /// The groups with their sizes.
    pub groups: Vec<GroupSummary>,
    /// The smallest and the largest γ.
    pub gamma: Option<(f64, f64)>,
    /// Synthetic values beyond what was observed in their column, by column.
    pub outside: Vec<OutOfRangeCount>,
    /// Whether such values were clipped.
    pub clipped: bool,
    /// The fingerprint of the input.
    pub fingerprint: String,
    /// The seed.
    pub seed: u64,
}

/// One group.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GroupSummary {
    /// Its number, as in `windlass_group`.
    pub group: usize,
    /// What it is called, where groups have names.
    pub name: Option<String>,
    /// Its rows.
    pub rows: u64,
}

/// Synthetic values beyond the observed range of a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OutOfRangeCount {
    /// The column.
    pub column: String,
    /// Values below its smallest; after clipping, those that were.
    pub below: u64,
    /// Values above its largest.
    pub above: u64,
}

/// A table, looked at, and a method that was fitted: ready to be augmented.
#[derive(Debug)]
pub struct Augmentation<'a> {
    rows: Rows<'a>,
    profile: Profile,
    ready: BoundFitted,
    /// A hash of what was fitted, if it was fitted before.
    given: Option<String>,
}

impl<'a> Augmentation<'a> {
    /// Reads the table, infers roles and fits the method.
    pub fn fit(
        table: &'a Table,
        settings: &AugmentConfig,
        memory: u64,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let schema = table.schema();
        let mut fitting = FitDriver::new(Arc::clone(schema), settings, memory)
            .map_err(|error| with_example(error, table))?;
        let mut rows = Rows::new(table, fitting.selector()?);
        let mut ids = Ids::new(settings, memory);
        while let Some(task) = fitting.task() {
            watch.stage(task.name());
            let mut part = PassAccumulator::in_order(&task, schema)?;
            for block in rows.blocks() {
                let block = block?;
                watch.advance(block.rows() as u64)?;
                part.add_block(&block)?;
                if let Some(ids) = &mut ids {
                    ids.add(&block)?;
                }
            }
            fitting.take(part).map_err(|error| at(error, table))?;
            if let Some(ids) = ids.take() {
                ids.tell_apart(&mut rows)?;
            }
        }
        let mut fitted = fitting.finish()?;
        let profile = fitted.profile.take().expect("it was fitted here");
        let ready = Arc::new(fitted).on(schema)?;
        Ok(Self { rows, profile, ready, given: None })
    }

    /// Reads the table and checks its values, for a method that was fitted before.
    pub fn with(
        table: &'a Table,
        fitted: Arc<Fitted>,
        memory: u64,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let schema = table.schema();
        let given = Some(fitted.fingerprint());
        let ready = fitted.on(schema)?;
        let settings = ready.fitted.settings();
        let mut rows = Rows::new(table, ready.selector.clone());
        watch.stage("reading");
        let columns = schema.fields().len();
        let mut look =
            ProfileAccumulator::of_table(columns, Categories::default(), &settings.rows_by);
        let mut ids = Ids::new(settings, memory);
        for block in rows.blocks() {
            let block = block?;
            watch.advance(block.rows() as u64)?;
            look.add(&block, memory)?;
            if let Some(ids) = &mut ids {
                ids.add(&block)?;
            }
        }
        if let Some(ids) = ids {
            ids.tell_apart(&mut rows)?;
        }
        let profile = look.finish(schema).0;
        if profile.kept == 0 {
            return Err(Error::NoTargets { path: table.path().to_owned() });
        }
        ready.fitted.roles.check_values(schema, &profile)?;
        Ok(Self { rows, profile, ready, given })
    }

    /// The columns of the output.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        self.ready.schema()
    }

    /// What the table was found to hold.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// What became of its columns.
    #[must_use]
    pub fn roles(&self) -> &Roles {
        &self.ready.fitted.roles
    }

    /// The fitted method.
    #[must_use]
    pub fn fitted(&self) -> &Fitted {
        &self.ready.fitted
    }

    pub(crate) fn rows(&self) -> &Rows<'a> {
        &self.rows
    }

    pub(crate) fn copies(&self) -> usize {
        self.fitted().settings().copies
    }

    /// How the output is made.
    #[must_use]
    pub fn manifest(&self) -> Manifest {
        Manifest {
            fingerprint: self.profile.fingerprint.clone(),
            rows: self.profile.rows,
            fitted: self.given.clone(),
            ..self.fitted().manifest()
        }
    }

    /// The groups, if the method has any.
    #[must_use]
    pub fn groups(&self) -> Vec<GroupSummary> {
        self.fitted().groups()
    }

    /// Makes the output, a batch at a time: first the rows themselves, then copy after copy, unless the
    /// output takes them in any order.
    ///
    /// A [`PlotSample`] gathers rows for a picture on the way.
    pub fn write(
        &self,
        watch: &dyn Watch,
        mut sketch: Option<&mut PlotSample>,
        output: &mut impl Output,
    ) -> Result<Summary> {
        /// Copies that are made of a block while it is at hand.
        const TOGETHER: usize = 8;
        let mut tally = Tally::new(self.roles().moved().len());
        let maker = &self.fitted().maker;
        let together = if output.any_order() && maker.is_small() { TOGETHER } else { 1 };
        watch.stage("writing");
        let copies: Vec<usize> = self.ready.copies().collect();
        for copies in copies.chunks(together) {
            let seed = Seed(self.fitted().settings().seed);
            let made = copies.iter().map(|&copy| maker.copy(copy, seed));
            let made = made.collect::<Result<Vec<_>>>()?;
            for block in self.rows.blocks() {
                let block = block?;
                let labels = maker.label(&block)?;
                for (&copy, made) in copies.iter().zip(&made) {
                    watch.advance(block.rows() as u64)?;
                    let made = made.block(&block, labels.as_ref())?;
                    let rows = self.ready.block(copy, &block, &made)?;
                    tally.add(&rows, made.gammas());
                    if let Some(sketch) = &mut sketch {
                        sketch.add(copy, &rows.batch, made.groups().as_deref());
                    }
                    output.write(copy, rows.batch)?;
                }
            }
        }
        Ok(self.summary(&tally))
    }

    fn summary(&self, tally: &Tally) -> Summary {
        let fields = self.rows.table.schema().fields();
        let (roles_of, settings) = (self.roles(), self.fitted().settings());
        let outside = roles_of.moved().into_iter().zip(&tally.outside);
        let outside = outside.filter(|(_, (below, above))| below + above > 0);
        let mut roles: Vec<(String, Vec<String>)> = vec![];
        for (field, role) in fields.iter().zip(&roles_of.roles) {
            match roles.iter_mut().find(|(name, _)| name == role.name()) {
                Some((_, columns)) => columns.push(field.name().clone()),
                None => roles.push((role.name().into(), vec![field.name().clone()])),
            }
        }
        Summary {
            method: settings.method.name().into(),
            rows_in: self.profile.rows,
            rows_dropped: self.profile.rows - self.profile.kept,
            rows_out: tally.rows,
            roles,
            groups: self.groups(),
            gamma: tally.gamma,
            outside: outside
                .map(|(place, &(below, above))| OutOfRangeCount {
                    column: fields[place].name().clone(),
                    below,
                    above,
                })
                .collect(),
            clipped: settings.clip,
            fingerprint: self.profile.fingerprint.clone(),
            seed: settings.seed,
        }
    }
}

/// What the rows of a table go by, gathered where it must tell them apart.
struct Ids {
    all: Vec<u64>,
    key: Option<String>,
    memory: u64,
}

impl Ids {
    fn new(settings: &AugmentConfig, memory: u64) -> Option<Self> {
        let key = match &settings.rows_by {
            RowIdSource::Number => return None,
            RowIdSource::Column(column) => Some(column.clone()),
            RowIdSource::Content => None,
        };
        settings.draws_for_rows().then_some(Self { all: vec![], key, memory })
    }

    fn add(&mut self, block: &Block) -> Result<()> {
        self.all.extend((0..block.rows()).map(|row| block.id(row)));
        let needs = self.all.len() as u64 * 32;
        if needs > self.memory {
            let what = "telling rows apart by what they hold";
            return Err(Error::NeedsMemory { what, needs, memory: self.memory });
        }
        Ok(())
    }

    /// Counts equal rows from here on; two rows with one key are refused.
    fn tell_apart(self, rows: &mut Rows<'_>) -> Result<()> {
        let twins = DuplicateCounter::among(self.all);
        match (self.key, twins.any()) {
            (None, _) => rows.count(twins),
            (Some(_), None) => {}
            (Some(column), Some(id)) => {
                for block in rows.blocks() {
                    let block = block?;
                    if let Some(row) = (0..block.rows()).find(|&row| block.id(row) == id) {
                        return Err(Error::SameKey { column, key: block.name(row) });
                    }
                }
            }
        }
        Ok(())
    }
}

/// Names the table in an error that does not know its name.
fn at(error: Error, table: &Table) -> Error {
    match error {
        Error::NoTargets { .. } => Error::NoTargets { path: table.path().to_owned() },
        other => other,
    }
}

/// What was written so far.
struct Tally {
    rows: u64,
    /// Values below and above the observed range, for every moved column.
    outside: Vec<(u64, u64)>,
    gamma: Option<(f64, f64)>,
}

impl Tally {
    fn new(moved: usize) -> Self {
        Self { rows: 0, outside: vec![(0, 0); moved], gamma: None }
    }

    fn add(&mut self, made: &OutputBatch, gammas: Option<(f64, f64)>) {
        self.rows += made.batch.num_rows() as u64;
        for (all, more) in self.outside.iter_mut().zip(&made.outside) {
            *all = (all.0 + more.0, all.1 + more.1);
        }
        if let Some((low, high)) = gammas {
            let (least, most) = self.gamma.unwrap_or((low, high));
            self.gamma = Some((least.min(low), most.max(high)));
        }
    }
}

/// Columns that name groups, and the options that name them.
pub(crate) fn named_columns(
    schema: &Schema,
    method: &MethodConfig,
) -> Result<Vec<(usize, &'static str)>> {
    let MethodConfig::Ada(ada) = method else { return Ok(vec![]) };
    let mut named = vec![];
    let mut name = |column: &String, option| {
        let place = find(schema, column, option)?;
        let data_type = schema.field(place).data_type();
        if !can_name(data_type) {
            let (column, holds) = (column.clone(), in_words(data_type));
            return Err(Error::NotCategories { column, option, holds });
        }
        named.push((place, option));
        Ok(())
    };
    if let Some(within) = &ada.within {
        name(within, "--within")?;
    }
    match &ada.anchors {
        AnchorSource::Column(column) => name(column, "--anchors")?,
        AnchorSource::Bins(column) | AnchorSource::Quantiles(column) => {
            let place = find(schema, column, "--anchors")?;
            let data_type = schema.field(place).data_type();
            if !is_numeric(data_type) {
                return Err(Error::NotNumeric {
                    column: column.clone(),
                    option: "--anchors",
                    holds: in_words(data_type),
                    example: String::new(),
                });
            }
        }
        AnchorSource::Matrix(_) if ada.within.is_some() => {
            return Err(Error::DoesNotApply { option: "--within", to: "an anchor matrix" });
        }
        AnchorSource::KMeans | AnchorSource::Matrix(_) => {}
    }
    Ok(named)
}

/// Says which value of a column is not a number, if it is text.
pub(crate) fn with_example(mut error: Error, table: &Table) -> Error {
    if let Error::NotNumeric { column, example, .. } = &mut error
        && let Ok(place) = table.schema().index_of(column)
    {
        let mut row = 0;
        for batch in table.blocks() {
            let Ok(batch) = batch else { break };
            let words = arrow_cast::cast(batch.column(place), &DataType::LargeUtf8);
            let Ok(words) = words else { break };
            let words = arrow_array::cast::AsArray::as_string::<i64>(&words);
            let no_number = |word: &str| word.trim().parse::<f64>().is_err();
            if let Some(found) = words.iter().position(|word| word.is_some_and(no_number)) {
                *example = format!(" (`{}` in row {})", words.value(found), row + found);
                break;
            }
            row += batch.num_rows();
        }
    }
    error
}
