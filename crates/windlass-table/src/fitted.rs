//! A fitted method: what it knows of the table that it was fitted on, and the rows it makes of any batch.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, Float64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use windlass::Seed;

use crate::augment::{GroupSummary, Manifest};
use crate::column::{in_words, is_numeric, keep_nans, numbers, to_type};
use crate::fitting::bad_part;
use crate::identity::DuplicateCounter;
use crate::maker::{BlockGenerator, CopyGenerator, Generator, Kept};
use crate::profile::Profile;
use crate::roles::Roles;
use crate::rows::{Block, Selector};
use crate::settings::{AugmentConfig, IntegerHandling};
use crate::source::in_blocks;
use crate::{Error, Result, Role, RowIdSource, Sink, WriteOptions, provenance};

/// A method, fitted on a table. It makes rows of that table, or of others with the same columns.
#[derive(Debug)]
pub struct Fitted {
    settings: AugmentConfig,
    columns: Vec<Column>,
    origin: Origin,
    pub(crate) roles: Roles,
    pub(crate) profile: Option<Profile>,
    pub(crate) maker: Generator,
}

/// A column of the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Column {
    name: String,
    holds: String,
    role: Role,
    /// The smallest and the largest number of a moved column.
    range: Option<(f64, f64)>,
}

/// The table that a method was fitted on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Origin {
    rows: u64,
    fingerprint: String,
}

/// [`Fitted`] as it goes into a file.
#[derive(Serialize, Deserialize)]
struct File {
    /// The version that made it.
    version: String,
    settings: AugmentConfig,
    table: Origin,
    columns: Vec<Column>,
    fitted: Kept,
}

impl Fitted {
    pub(crate) fn new(
        schema: &Schema,
        settings: AugmentConfig,
        (profile, roles): (Profile, Roles),
        maker: Generator,
    ) -> Self {
        let moved = roles.moved();
        let column = |(place, field): (usize, &Arc<Field>)| Column {
            name: field.name().clone(),
            holds: in_words(field.data_type()),
            role: roles.roles[place],
            range: profile.columns[place].range.filter(|_| moved.contains(&place)),
        };
        let columns = schema.fields().iter().enumerate().map(column).collect();
        let origin = Origin { rows: profile.rows, fingerprint: profile.fingerprint.clone() };
        Self { settings, columns, origin, roles, profile: Some(profile), maker }
    }

    /// How rows are made.
    #[must_use]
    pub fn settings(&self) -> &AugmentConfig {
        &self.settings
    }

    /// The rows of the table that it was fitted on.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.origin.rows
    }

    /// The groups with their sizes, if the method has any.
    #[must_use]
    pub fn groups(&self) -> Vec<GroupSummary> {
        self.maker.groups()
    }

    /// The columns that have no missing value in the table that it was fitted on; of one that was read from a
    /// file, none are known.
    #[must_use]
    pub fn complete(&self) -> Vec<&str> {
        let found = self.profile.iter().flat_map(|profile| &profile.columns);
        let columns = self.columns.iter().zip(found).filter(|(_, found)| found.missing == 0);
        columns.map(|(column, _)| column.name.as_str()).collect()
    }

    /// How rows of the table that it was fitted on are made.
    #[must_use]
    pub fn manifest(&self) -> Manifest {
        Manifest {
            version: env!("CARGO_PKG_VERSION").into(),
            fingerprint: self.origin.fingerprint.clone(),
            rows: self.origin.rows,
            settings: self.settings.clone(),
            fitted: None,
        }
    }

    /// Whether rows that hold the same must be told apart.
    #[must_use]
    pub fn needs_twins(&self) -> bool {
        self.settings.needs_twins()
    }

    fn file(&self) -> File {
        File {
            version: env!("CARGO_PKG_VERSION").into(),
            settings: self.settings.clone(),
            table: self.origin.clone(),
            columns: self.columns.clone(),
            fitted: self.maker.kept(),
        }
    }

    fn of(file: File) -> Result<Self> {
        let File { settings, table, columns, fitted, .. } = file;
        settings.check()?;
        let reasons = columns.iter().map(|_| "as fitted".to_owned()).collect();
        let roles = Roles::of(columns.iter().map(|column| column.role).collect(), reasons);
        let bad = |why: &str| Error::BadPart { why: why.to_owned() };
        if roles.targets.is_empty() || roles.features.is_empty() {
            return Err(bad("it has no target or no feature"));
        }
        let ranges = columns.iter().filter_map(|column| column.range);
        if ranges.into_iter().any(|(low, high)| low > high || low.is_nan() || high.is_nan()) {
            return Err(bad("a range is empty"));
        }
        let maker = Generator::of(fitted, &settings, &roles)?;
        Ok(Self { settings, columns, origin: table, roles, profile: None, maker })
    }

    /// The text of a file from which it can be read again: for methods that know groups and means.
    pub fn to_json(&self) -> Result<String> {
        let file = self.file();
        if let Kept::Rows(_) = file.fitted {
            return Err(Error::NotSaved { what: self.settings.method.name() });
        }
        Ok(serde_json::to_string_pretty(&file).expect("numbers and words") + "\n")
    }

    /// What [`to_json`](Self::to_json) gave, from the file of that name.
    pub fn from_json(text: &str, path: &Path) -> Result<Self> {
        let bad = |why: String| Error::BadFitted { path: path.to_owned(), why };
        let file: File = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
        Self::of(file).map_err(|error| bad(error.to_string()))
    }

    /// All of it, for another process.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        postcard::to_stdvec(&self.file()).map_err(bad_part)
    }

    /// What another process gave.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::of(postcard::from_bytes(bytes).map_err(bad_part)?)
    }

    /// A hash of what was fitted.
    #[must_use]
    pub(crate) fn fingerprint(&self) -> String {
        let bytes = self.to_bytes().unwrap_or_default();
        format!("xxh3-128:{:032x}", xxhash_rust::xxh3::xxh3_128(&bytes))
    }

    /// Gets ready to make rows of batches with these columns.
    pub fn on(self: Arc<Self>, schema: &SchemaRef) -> Result<BoundFitted> {
        self.check(schema)?;
        let targets = self.roles.targets.clone();
        let needed = if self.settings.drop_missing_target { targets } else { vec![] };
        let selector = Selector::new(needed, &self.settings, schema)?;
        let columns = out_columns(schema, &self.roles, self.settings.columns.integers);
        let source = selector.identify.source_type();
        let out = out_schema(schema, &columns, &self.settings, &source)?;
        Ok(BoundFitted { fitted: self, input: Arc::clone(schema), selector, schema: out, columns })
    }

    fn check(&self, schema: &Schema) -> Result<()> {
        let names = |names: &mut dyn Iterator<Item = &str>| names.collect::<Vec<_>>().join(", ");
        let own = names(&mut self.columns.iter().map(|column| column.name.as_str()));
        let other = names(&mut schema.fields().iter().map(|field| field.name().as_str()));
        if own != other {
            let why = format!("they were {own}, the table has {other}");
            return Err(Error::OtherColumns { why });
        }
        for (column, field) in self.columns.iter().zip(schema.fields()) {
            let holds = in_words(field.data_type());
            if holds != column.holds {
                let why = format!("`{}` held {}, now {holds}", column.name, column.holds);
                return Err(Error::OtherColumns { why });
            }
        }
        // A file may have been changed by hand.
        let numeric = self.roles.moved().into_iter().chain(self.roles.weight);
        for place in numeric.chain(self.maker.numeric()) {
            let (column, holds) = (&self.columns[place].name, &self.columns[place].holds);
            if !is_numeric(schema.field(place).data_type()) {
                let why = format!("`{column}` holds {holds}, not numbers");
                return Err(Error::OtherColumns { why });
            }
        }
        Ok(())
    }
}

/// A fitted method that makes rows of batches with known columns.
#[derive(Debug)]
pub struct BoundFitted {
    pub(crate) fitted: Arc<Fitted>,
    input: SchemaRef,
    pub(crate) selector: Selector,
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

/// What was made of a block, and what there is to say of it.
pub(crate) struct OutputBatch {
    pub(crate) batch: RecordBatch,
    /// For every moved column, how many values lay below and above what was observed.
    pub(crate) outside: Vec<(u64, u64)>,
}

impl BoundFitted {
    /// The columns of the rows that are made.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The numbers of the copies; 0 are the originals.
    pub(crate) fn copies(&self) -> std::ops::RangeInclusive<usize> {
        let settings = &self.fitted.settings;
        usize::from(!settings.originals)..=settings.copies
    }

    /// Makes every copy of the rows of a batch that stands anywhere in a table without an order. Bad values are
    /// refused. Rows that hold the same are told apart by `twins`, where [that matters](Fitted::needs_twins).
    pub fn make(
        &self,
        rows: RecordBatch,
        twins: Option<&mut DuplicateCounter>,
    ) -> Result<Vec<RecordBatch>> {
        let fitted = &self.fitted;
        if fitted.settings.rows_by == RowIdSource::Number {
            return Err(Error::Needs { of: "a table without an order", option: "--rows-by" });
        }
        if fitted.needs_twins() && twins.is_none() {
            return Err(Error::BadPart { why: "rows that hold the same were not counted".into() });
        }
        if rows.schema().fields() != self.input.fields() {
            self.fitted.check(&rows.schema())?;
        }
        let block = self.selector.block(rows, 0, 0, twins)?;
        for (field, column) in self.input.fields().iter().zip(block.batch.columns()) {
            if let Some(nulls) = column.nulls().filter(|nulls| nulls.null_count() > 0)
                && !field.is_nullable()
            {
                let row = nulls.iter().position(|present| !present).unwrap_or(0);
                let (column, row) = (field.name().clone(), block.name(row));
                return Err(Error::NewlyMissing { column, row });
            }
        }
        let mut checked = fitted.roles.moved();
        checked.extend(fitted.roles.weight);
        fitted.roles.check_values(&self.input, &Profile::of_columns(&block, &checked))?;
        let seed = Seed(fitted.settings.seed);
        let labels = fitted.maker.label(&block)?;
        let made = self.copies().map(|copy| {
            let prepared: CopyGenerator<'_> = fitted.maker.copy(copy, seed)?;
            Ok(self.block(copy, &block, &prepared.block(&block, labels.as_ref())?)?.batch)
        });
        made.collect()
    }

    /// Writes every copy of some rows, which stand anywhere in a table without an order, to a file of their own, and
    /// says how many rows it has. A manifest is kept in the file's metadata.
    pub fn write(
        &self,
        rows: impl Iterator<Item = Result<RecordBatch>>,
        mut twins: Option<&mut DuplicateCounter>,
        path: &Path,
        manifest: Option<&Manifest>,
    ) -> Result<u64> {
        let note = manifest.map(|manifest| (Manifest::KEY, manifest.to_json()));
        let mut sink = Sink::create(path, &WriteOptions::default(), &self.schema, note)?;
        let mut written = 0;
        // A value that should not be missing is refused by name.
        let may_be_null = |field: &Arc<Field>| field.as_ref().clone().with_nullable(true);
        let fields: Vec<Field> = self.input.fields().iter().map(may_be_null).collect();
        for block in in_blocks(rows, &Arc::new(Schema::new(fields))) {
            let made = self.make(block?, twins.as_deref_mut())?;
            for (copy, batch) in self.copies().zip(made) {
                written += batch.num_rows() as u64;
                sink.write(copy, &batch)?;
            }
        }
        sink.finish()?;
        Ok(written)
    }

    /// One block of one copy.
    pub(crate) fn block(
        &self,
        copy: usize,
        block: &Block,
        made: &BlockGenerator<'_>,
    ) -> Result<OutputBatch> {
        let settings = &self.fitted.settings;
        let moved = if copy > 0 {
            let move_one = |(index, place): (usize, usize)| {
                let original = block.batch.column(place);
                let values = made.column(index, &numbers(original))?;
                let column = self.columns.iter().find(|column| column.place == place);
                let data_type = &column.expect("moved columns are written").data_type;
                let range = self.fitted.columns[place].range;
                let nullable = self.input.field(place).is_nullable();
                Ok(finish_column(values, original, (data_type, nullable), range, settings.clip))
            };
            let moved = self.fitted.roles.moved().into_par_iter().enumerate();
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
        if settings.provenance {
            columns.extend(provenance::columns(copy, block, made));
        }
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns)
            .expect("columns of the schema's types");
        let batch = match made.kept() {
            Some(keep) => filter_record_batch(&batch, &BooleanArray::from(keep))
                .expect("a word for every row"),
            None => batch,
        };
        Ok(OutputBatch { batch, outside: moved.into_iter().map(|(_, outside)| outside).collect() })
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

fn out_columns(schema: &Schema, roles: &Roles, integers: IntegerHandling) -> Vec<OutColumn> {
    let moved = roles.moved();
    let column = |place: usize| {
        let moved = moved.iter().position(|&other| other == place);
        let own = schema.field(place).data_type();
        let float = moved.is_some() && integers == IntegerHandling::Float && own.is_integer();
        let data_type = if float { DataType::Float64 } else { own.clone() };
        OutColumn { place, moved, data_type }
    };
    let written = (0..roles.roles.len()).filter(|&place| roles.roles[place] != Role::Excluded);
    written.map(column).collect()
}

fn out_schema(
    schema: &Schema,
    columns: &[OutColumn],
    settings: &AugmentConfig,
    source: &DataType,
) -> Result<SchemaRef> {
    let mut fields: Vec<Field> = columns
        .iter()
        .map(|column| schema.field(column.place).clone().with_data_type(column.data_type.clone()))
        .collect();
    if settings.provenance {
        for added in provenance::fields(settings, source) {
            if fields.iter().any(|field| field.name() == added.name()) {
                return Err(Error::ReservedColumn { column: added.name().clone() });
            }
            fields.push(added);
        }
    }
    Ok(Arc::new(Schema::new(fields)))
}
