//! Augmentation of a table, block by block.
//!
//! ADA on groups needs one pass to see what the table holds, one or two to find groups and their means, and
//! one for every copy. The other methods mix rows that stand anywhere, or measure all rows first, so they
//! hold the moved columns in memory, or refuse to.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use windlass::Seed;

use crate::categories::{Categories, can_name};
use crate::column::{in_words, is_numeric, keep_nans, numbers, to_type};
use crate::maker::{MadeBlock, Maker};
use crate::profile::Profile;
use crate::roles::{Asked, Roles, find};
use crate::rows::{Block, Rows};
use crate::settings::{AnchorChoice, Integers, Method, Settings};
use crate::{Error, Result, Role, Sink, Sketch, Table, provenance};

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
    pub settings: Settings,
}

impl Manifest {
    /// The key in the metadata of a file.
    pub const KEY: &'static str = "windlass";
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
    pub outside: Vec<Outside>,
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
pub struct Outside {
    /// The column.
    pub column: String,
    /// Values below its smallest; after clipping, those that were.
    pub below: u64,
    /// Values above its largest.
    pub above: u64,
}

/// A table, looked at and fitted: ready to be augmented.
#[derive(Debug)]
pub struct Augmentation<'a> {
    rows: Rows<'a>,
    settings: Settings,
    profile: Profile,
    roles: Roles,
    maker: Maker,
    schema: SchemaRef,
    columns: Vec<OutColumn>,
}

/// A column of the output.
#[derive(Debug)]
struct OutColumn {
    /// Its place in the input.
    place: usize,
    /// Its place among the moved columns.
    moved: Option<usize>,
    data_type: DataType,
}

impl<'a> Augmentation<'a> {
    /// Reads the table, infers roles and fits the method.
    pub fn fit(
        table: &'a Table,
        settings: &Settings,
        memory: u64,
        watch: &dyn Watch,
    ) -> Result<Self> {
        settings.check()?;
        let schema = table.schema();
        let named = named_columns(schema, &settings.method)?;
        let asked = Asked::new(schema, &settings.columns, &named)
            .map_err(|error| with_example(error, table))?;
        let needed = if settings.drop_missing_target { asked.targets() } else { vec![] };
        let rows = Rows::new(table, needed);
        let columns = named.iter().map(|&(place, _)| place).collect();
        let mut categories = [Categories::of_columns(columns)];
        watch.stage("reading");
        let profile = Profile::of(&rows, &mut categories, memory, watch)?;
        if profile.kept == 0 {
            return Err(Error::NoTargets { path: table.path().to_owned() });
        }
        let roles = asked.settle(schema, &profile);
        roles.check(schema, &profile)?;
        let [categories] = categories;
        let columns = out_columns(schema, &roles, settings.columns.integers);
        let out = out_schema(schema, &columns, settings)?;
        let maker = Maker::fit(&rows, settings, categories, (&profile, &roles), memory, watch)?;
        Ok(Self { rows, settings: settings.clone(), profile, roles, maker, schema: out, columns })
    }

    /// The columns of the output.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// What the table was found to hold.
    #[must_use]
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// What became of its columns.
    #[must_use]
    pub fn roles(&self) -> &Roles {
        &self.roles
    }

    pub(crate) fn rows(&self) -> &Rows<'a> {
        &self.rows
    }

    pub(crate) fn copies(&self) -> usize {
        self.settings.copies
    }

    /// How the output is made.
    #[must_use]
    pub fn manifest(&self) -> Manifest {
        Manifest {
            version: env!("CARGO_PKG_VERSION").into(),
            fingerprint: self.profile.fingerprint.clone(),
            rows: self.profile.rows,
            settings: self.settings.clone(),
        }
    }

    /// The groups, if the method has any.
    #[must_use]
    pub fn groups(&self) -> Vec<GroupSummary> {
        self.maker.groups()
    }

    /// Makes the output, a batch at a time: first the rows themselves, then copy after copy, unless the
    /// output takes them in any order.
    ///
    /// A [`Sketch`] gathers rows for a picture on the way.
    pub fn write(
        &self,
        watch: &dyn Watch,
        mut sketch: Option<&mut Sketch>,
        output: &mut impl Output,
    ) -> Result<Summary> {
        /// Copies that are made of a block while it is at hand.
        const TOGETHER: usize = 8;
        let mut tally = Tally::new(self.roles.moved().len());
        let first = usize::from(!self.settings.originals);
        let together = if output.any_order() && self.maker.is_small() { TOGETHER } else { 1 };
        watch.stage("writing");
        let copies: Vec<usize> = (first..=self.settings.copies).collect();
        for copies in copies.chunks(together) {
            let made = copies.iter().map(|&copy| self.maker.copy(copy, Seed(self.settings.seed)));
            let made = made.collect::<Result<Vec<_>>>()?;
            for block in self.rows.blocks() {
                let block = block?;
                for (&copy, made) in copies.iter().zip(&made) {
                    watch.advance(block.rows() as u64)?;
                    let made = made.block(&block)?;
                    let batch = self.block(copy, &block, &made, &mut tally)?;
                    if let Some(sketch) = &mut sketch {
                        sketch.add(copy, &batch, made.groups().as_deref());
                    }
                    output.write(copy, batch)?;
                }
            }
        }
        Ok(self.summary(&tally))
    }

    fn summary(&self, tally: &Tally) -> Summary {
        let fields = self.rows.table.schema().fields();
        let outside = self.roles.moved().into_iter().zip(&tally.outside);
        let outside = outside.filter(|(_, (below, above))| below + above > 0);
        let mut roles: Vec<(String, Vec<String>)> = vec![];
        for (field, role) in fields.iter().zip(&self.roles.roles) {
            match roles.iter_mut().find(|(name, _)| name == role.name()) {
                Some((_, columns)) => columns.push(field.name().clone()),
                None => roles.push((role.name().into(), vec![field.name().clone()])),
            }
        }
        Summary {
            method: self.settings.method.name().into(),
            rows_in: self.profile.rows,
            rows_dropped: self.profile.rows - self.profile.kept,
            rows_out: tally.rows,
            roles,
            groups: self.groups(),
            gamma: tally.gamma,
            outside: outside
                .map(|(place, &(below, above))| Outside {
                    column: fields[place].name().clone(),
                    below,
                    above,
                })
                .collect(),
            clipped: self.settings.clip,
            fingerprint: self.profile.fingerprint.clone(),
            seed: self.settings.seed,
        }
    }

    /// One block of one copy.
    fn block(
        &self,
        copy: usize,
        block: &Block,
        made: &MadeBlock<'_>,
        tally: &mut Tally,
    ) -> Result<RecordBatch> {
        let moved = if copy > 0 {
            let move_one = |(index, place): (usize, usize)| {
                let original = block.batch.column(place);
                let values = made.column(index, &numbers(original))?;
                let column = self.columns.iter().find(|column| column.place == place);
                let data_type = &column.expect("moved columns are written").data_type;
                let range = self.profile.columns[place].range;
                let nullable = self.rows.table.schema().field(place).is_nullable();
                let clip = self.settings.clip;
                Ok(finish_column(values, original, (data_type, nullable), range, clip))
            };
            let moved = self.roles.moved().into_par_iter().enumerate();
            moved.map(move_one).collect::<Result<Vec<_>>>()?
        } else {
            vec![]
        };
        let mut columns: Vec<ArrayRef> = vec![];
        for column in &self.columns {
            columns.push(match column.moved {
                Some(index) if copy > 0 => Arc::clone(&moved[index].0),
                _ => {
                    let original = block.batch.column(column.place);
                    if original.data_type() == &column.data_type {
                        Arc::clone(original)
                    } else {
                        arrow_cast::cast(original, &column.data_type).expect("a number")
                    }
                }
            });
        }
        if self.settings.provenance {
            columns.extend(provenance::columns(copy, block, made));
        }
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .expect("columns of the schema's types");
        let batch = match made.kept() {
            Some(keep) => filter_record_batch(&batch, &BooleanArray::from(keep))
                .expect("a word for every row"),
            None => batch,
        };
        tally.add(&batch, moved.iter().map(|(_, outside)| *outside), made.gammas());
        Ok(batch)
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

    fn add(
        &mut self,
        batch: &RecordBatch,
        outside: impl Iterator<Item = (u64, u64)>,
        gammas: Option<(f64, f64)>,
    ) {
        self.rows += batch.num_rows() as u64;
        for (all, more) in self.outside.iter_mut().zip(outside) {
            *all = (all.0 + more.0, all.1 + more.1);
        }
        if let Some((low, high)) = gammas {
            let (least, most) = self.gamma.unwrap_or((low, high));
            self.gamma = Some((least.min(low), most.max(high)));
        }
    }
}

/// Moved values as a column of the output, and how many lay below and above what was observed.
fn finish_column(
    values: Float64Array,
    original: &ArrayRef,
    (data_type, nullable): (&DataType, bool),
    range: Option<(f64, f64)>,
    clip: bool,
) -> (ArrayRef, (u64, u64)) {
    let Some((low, high)) = range else {
        return (keep_nans(to_type(values, data_type), original, nullable), (0, 0));
    };
    // What is rounded back into the range was never outside.
    let whole = data_type.is_integer();
    let (mut below, mut above) = (0, 0);
    let mut count = |value: f64| {
        let value = if whole { value.round() } else { value };
        below += u64::from(value < low);
        above += u64::from(value > high);
    };
    let inside =
        crate::column::range(&values).is_none_or(|found| found.0 >= low && found.1 <= high);
    match values.null_count() {
        _ if inside => {}
        0 => values.values().iter().for_each(|&value| count(value)),
        _ => values.iter().flatten().for_each(count),
    }
    let values = if clip && below + above > 0 {
        values.unary(|value| value.clamp(low, high))
    } else {
        values
    };
    (keep_nans(to_type(values, data_type), original, nullable), (below, above))
}

/// Columns that name groups, and the options that name them.
fn named_columns(schema: &Schema, method: &Method) -> Result<Vec<(usize, &'static str)>> {
    let Method::Ada(ada) = method else { return Ok(vec![]) };
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
        AnchorChoice::Column(column) => name(column, "--anchors")?,
        AnchorChoice::Bins(column) | AnchorChoice::Quantiles(column) => {
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
        AnchorChoice::Matrix(_) if ada.within.is_some() => {
            return Err(Error::DoesNotApply { option: "--within", to: "an anchor matrix" });
        }
        AnchorChoice::KMeans | AnchorChoice::Matrix(_) => {}
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

fn out_columns(schema: &Schema, roles: &Roles, integers: Integers) -> Vec<OutColumn> {
    let moved = roles.moved();
    let column = |place: usize| {
        let moved = moved.iter().position(|&other| other == place);
        let own = schema.field(place).data_type();
        let float = moved.is_some() && integers == Integers::Float && own.is_integer();
        let data_type = if float { DataType::Float64 } else { own.clone() };
        OutColumn { place, moved, data_type }
    };
    let written = (0..roles.roles.len()).filter(|&place| roles.roles[place] != Role::Excluded);
    written.map(column).collect()
}

fn out_schema(schema: &Schema, columns: &[OutColumn], settings: &Settings) -> Result<SchemaRef> {
    let mut fields: Vec<Field> = columns
        .iter()
        .map(|column| schema.field(column.place).clone().with_data_type(column.data_type.clone()))
        .collect();
    if settings.provenance {
        for added in provenance::fields(&settings.method) {
            if fields.iter().any(|field| field.name() == added.name()) {
                return Err(Error::ReservedColumn { column: added.name().clone() });
            }
            fields.push(added);
        }
    }
    Ok(Arc::new(Schema::new(fields)))
}
