//! A fitted method, which generates rows from any batch with the columns of its training table.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};
use serde::{Deserialize, Serialize};
use windlass::{ParamName, Relevance, Seed};

use crate::column::{is_numeric, to_f64, type_name};
use crate::config::{AdaConfig, AugmentConfig, Decimals, MethodConfig, RoleRules};
use crate::dates::is_temporal;
use crate::generate::generator::{Generator, SavedGenerator};
use crate::generate::groups::GroupSummary;
use crate::generate::output_batch::{ObservedColumn, OutputLayout};
use crate::io::read::rechunk::rechunk;
use crate::io::write::sink::{Sink, WriteOptions};
use crate::manifest::Manifest;
use crate::rows::block::{Block, BlockReader};
use crate::rows::row_id::{DuplicateCounter, RowIdSource};
use crate::schema::profile::Profile;
use crate::schema::roles::{Role, RoleReason, Roles};
use crate::{Error, Result};

/// A method fitted on a table. It augments that table, or others with the same columns.
#[derive(Debug)]
pub struct Fitted {
    settings: AugmentConfig,
    columns: Vec<FittedColumn>,
    table: TableInfo,
    pub(crate) roles: Roles,
    /// `None` if it was fitted in another process.
    pub(crate) profile: Option<Profile>,
    pub(crate) generator: Generator,
    /// Decides which rows are sources of synthetic rows, if not all are.
    pub(crate) relevance: Option<Relevance>,
}

/// A column of the training table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct FittedColumn {
    name: String,
    holds: String,
    role: Role,
    /// The observed range of a moved column.
    range: Option<(f64, f64)>,
    /// The number of decimals of synthetic values; `None` if they are not rounded.
    #[serde(default)]
    decimals: Option<u8>,
}

/// The training table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct TableInfo {
    rows: u64,
    fingerprint: String,
}

/// A serialized [`Fitted`].
#[derive(Serialize, Deserialize)]
struct FittedFile {
    /// The version of Windlass.
    version: String,
    settings: AugmentConfig,
    table: TableInfo,
    columns: Vec<FittedColumn>,
    fitted: SavedGenerator,
    #[serde(default)]
    relevance: Option<Relevance>,
}

impl Fitted {
    pub(crate) fn new(
        schema: &Schema,
        settings: AugmentConfig,
        profile: Profile,
        roles: Roles,
        generator: Generator,
        relevance: Option<Relevance>,
    ) -> Self {
        let moved = roles.moved();
        let column = |(place, field): (usize, &Arc<Field>)| FittedColumn {
            name: field.name().clone(),
            holds: type_name(field.data_type()),
            role: roles.roles[place],
            range: profile.columns[place].range.filter(|_| moved.contains(&place)),
            decimals: None,
        };
        let columns = schema.fields().iter().enumerate().map(column).collect();
        let table = TableInfo { rows: profile.rows, fingerprint: profile.fingerprint.clone() };
        let profile = Some(profile);
        Self { settings, columns, table, roles, profile, generator, relevance }
    }

    /// The configuration.
    #[must_use]
    pub fn settings(&self) -> &AugmentConfig {
        &self.settings
    }

    /// Sets the decimals of synthetic values by column, unless all are requested.
    pub(crate) fn round_to(&mut self, decimals: &BTreeMap<String, u8>) {
        let moved = self.roles.moved();
        for (place, column) in self.columns.iter_mut().enumerate() {
            let rounded = self.settings.decimals == Decimals::Auto && moved.contains(&place);
            column.decimals = decimals.get(&column.name).copied().filter(|_| rounded);
        }
    }

    /// Number of rows of the training table.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.table.rows
    }

    /// The columns of the training table by role.
    #[must_use]
    pub fn columns_by_role(&self) -> Vec<(&'static str, Vec<&str>)> {
        let mut roles: Vec<(&'static str, Vec<&str>)> = vec![];
        for column in &self.columns {
            let role = column.role.name();
            match roles.iter_mut().find(|(name, _)| *name == role) {
                Some((_, columns)) => columns.push(&column.name),
                None => roles.push((role, vec![&column.name])),
            }
        }
        roles
    }

    /// The groups; empty if the method has none.
    #[must_use]
    pub fn groups(&self) -> Vec<GroupSummary> {
        self.generator.groups()
    }

    /// The columns without missing values in the training table; empty if it was fitted in another
    /// process.
    #[must_use]
    pub fn complete(&self) -> Vec<&str> {
        let profiles = self.profile.iter().flat_map(|profile| &profile.columns);
        let columns = self.columns.iter().zip(profiles).filter(|(_, profile)| profile.missing == 0);
        columns.map(|(column, _)| column.name.as_str()).collect()
    }

    /// The manifest of an augmentation of the training table.
    #[must_use]
    pub fn manifest(&self) -> Manifest {
        Manifest {
            version: env!("CARGO_PKG_VERSION").into(),
            fingerprint: self.table.fingerprint.clone(),
            rows: self.table.rows,
            settings: self.settings.clone(),
            fitted: None,
            decimals: self
                .columns
                .iter()
                .filter_map(|column| Some((column.name.clone(), column.decimals?)))
                .collect(),
            output_bytes: None,
        }
    }

    /// Which rows of a block are sources of synthetic rows, if not all are.
    pub(crate) fn sources(&self, block: &Block) -> Option<Vec<bool>> {
        let relevance = self.relevance.as_ref()?;
        let targets = to_f64(block.batch.column(self.roles.targets[0]));
        Some(targets.values().iter().map(|&y| relevance.is_rare(y)).collect())
    }

    /// Whether equal rows must be counted with a [`DuplicateCounter`].
    #[must_use]
    pub fn needs_duplicate_counts(&self) -> bool {
        self.settings.needs_duplicate_counts()
    }

    fn to_file(&self) -> FittedFile {
        FittedFile {
            version: env!("CARGO_PKG_VERSION").into(),
            settings: self.settings.clone(),
            table: self.table.clone(),
            columns: self.columns.clone(),
            fitted: self.generator.to_saved(),
            relevance: self.relevance.clone(),
        }
    }

    fn from_file(file: FittedFile) -> Result<Self> {
        let FittedFile { settings, table, columns, fitted, relevance, .. } = file;
        settings.check()?;
        if settings.rare_targets().is_some() != relevance.is_some() {
            return Err(Error::bad_part("its relevance of targets is missing or not needed"));
        }
        let reasons =
            columns.iter().map(|_| RoleReason::Inferred("as fitted".to_owned())).collect();
        let roles = Roles::new(columns.iter().map(|column| column.role).collect(), reasons);
        if roles.targets.is_empty() || roles.features.is_empty() {
            return Err(Error::bad_part("it has no target or no feature"));
        }
        let ranges = columns.iter().filter_map(|column| column.range);
        if ranges.into_iter().any(|(low, high)| low > high || low.is_nan() || high.is_nan()) {
            return Err(Error::bad_part("a range is empty"));
        }
        let generator = Generator::from_saved(fitted, &settings, &roles, relevance.as_ref())?;
        Ok(Self { settings, columns, table, roles, profile: None, generator, relevance })
    }

    /// What a fit with these settings would give, if they differ only in the distribution of γ and the number of
    /// copies: the same groups. `None` if they differ in more, or the method has no groups.
    pub fn with_strength(&self, settings: &AugmentConfig) -> Result<Option<Self>> {
        let (MethodConfig::Ada(own), MethodConfig::Ada(ada)) =
            (&self.settings.method, &settings.method)
        else {
            return Ok(None);
        };
        let ada = AdaConfig { gamma: own.gamma.clone(), per: own.per, ..ada.clone() };
        let (method, copies) = (MethodConfig::Ada(ada), self.settings.copies);
        let same_groups = AugmentConfig { method, copies, ..settings.clone() } == self.settings;
        // The number of copies of rare rows may depend on the table.
        let streaming = self.generator.is_streaming() && self.relevance.is_none();
        if !same_groups || !streaming {
            return Ok(None);
        }
        Self::from_file(FittedFile { settings: settings.clone(), ..self.to_file() }).map(Some)
    }

    /// JSON, for methods with groups. Others would have to save the whole table.
    pub fn to_json(&self) -> Result<String> {
        let file = self.to_file();
        if let SavedGenerator::Rows(_) = file.fitted {
            return Err(Error::NotSaved { what: self.settings.method.name() });
        }
        Ok(serde_json::to_string_pretty(&file).expect("a fitted method is JSON") + "\n")
    }

    /// Parses the result of [`to_json`](Self::to_json); `path` is for messages.
    pub fn from_json(text: &str, path: &Path) -> Result<Self> {
        let bad = |why: String| Error::BadFitted { path: path.to_owned(), why };
        let file: FittedFile =
            serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
        Self::from_file(file).map_err(|error| bad(error.to_string()))
    }

    /// Serializes any method for another process.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        postcard::to_stdvec(&self.to_file()).map_err(Error::bad_part)
    }

    /// The method that [`to_bytes`](Self::to_bytes) serialized.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::from_file(postcard::from_bytes(bytes).map_err(Error::bad_part)?)
    }

    /// A hash of the fitted method.
    pub(crate) fn fingerprint(&self) -> String {
        let FittedFile { settings, table, columns, fitted, relevance, .. } = self.to_file();
        let rounded: Vec<Option<u8>> = columns.iter().map(|column| column.decimals).collect();
        let own = &settings.columns;
        let extras = (settings.decimals, &settings.bounds, &rounded, own.rules);
        let is_old = settings.decimals == Decimals::Full
            && settings.bounds.is_empty()
            && own.rules == RoleRules::V1
            && relevance.is_none();
        // The layout of 0.1.0, so that its fitted methods have the same hash.
        let config = (
            (&own.target, &own.features, &own.exclude, &own.carry),
            (&own.categorical, &own.continuous, &own.weight, own.integers),
            (&settings.method, settings.copies, settings.originals),
            (settings.seed, settings.clip, settings.drop_missing_target, settings.provenance),
            &settings.rows_by,
        );
        let column = |column: &FittedColumn| {
            (column.name.clone(), column.holds.clone(), column.role, column.range)
        };
        let columns: Vec<_> = columns.iter().map(column).collect();
        let old = ("0.1.0", config, &table, columns, &fitted);
        let mut bytes = postcard::to_stdvec(&old).unwrap_or_default();
        if !is_old {
            bytes.extend(postcard::to_stdvec(&extras).unwrap_or_default());
        }
        if let Some(relevance) = relevance {
            bytes.extend(postcard::to_stdvec(&relevance).unwrap_or_default());
        }
        format!("xxh3-128:{:032x}", xxhash_rust::xxh3::xxh3_128(&bytes))
    }

    /// Binds the method to the columns of the batches to augment.
    pub fn bind(self: Arc<Self>, schema: &SchemaRef) -> Result<BoundFitted> {
        self.check(schema)?;
        let reader = BlockReader::new(schema, &self.settings, &self.roles.targets)?;
        let observed = |column: &FittedColumn| ObservedColumn {
            range: column.range,
            decimals: column.decimals,
        };
        let observed: Vec<ObservedColumn> = self.columns.iter().map(observed).collect();
        let source_type = reader.resolver.source_type();
        let output =
            OutputLayout::new(schema, &self.roles, &observed, &self.settings, &source_type)?;
        Ok(BoundFitted { fitted: self, input: Arc::clone(schema), reader, output })
    }

    fn check(&self, schema: &Schema) -> Result<()> {
        let names = |names: &mut dyn Iterator<Item = &str>| names.collect::<Vec<_>>().join(", ");
        let own = names(&mut self.columns.iter().map(|column| column.name.as_str()));
        let other = names(&mut schema.fields().iter().map(|field| field.name().as_str()));
        if own != other {
            let why = format!("fitted {own}, got {other}");
            return Err(Error::OtherColumns { why });
        }
        for (column, field) in self.columns.iter().zip(schema.fields()) {
            let holds = type_name(field.data_type());
            if holds != column.holds {
                let why = format!("`{}` held {}, now {holds}", column.name, column.holds);
                return Err(Error::OtherColumns { why });
            }
        }
        // A file may have been edited.
        let numeric = self.roles.moved().into_iter().chain(self.roles.weight);
        for place in numeric.chain(self.generator.numeric_columns()) {
            let (column, holds) = (&self.columns[place].name, &self.columns[place].holds);
            let data_type = schema.field(place).data_type();
            if !is_numeric(data_type) && !is_temporal(data_type) {
                let why = format!("`{column}` holds {holds}, not numbers");
                return Err(Error::OtherColumns { why });
            }
        }
        Ok(())
    }
}

/// A fitted method for batches with known columns.
#[derive(Debug)]
pub struct BoundFitted {
    pub(crate) fitted: Arc<Fitted>,
    input: SchemaRef,
    pub(crate) reader: BlockReader,
    pub(crate) output: OutputLayout,
}

impl BoundFitted {
    /// The columns of the output.
    #[must_use]
    pub fn schema(&self) -> &SchemaRef {
        &self.output.schema
    }

    /// The numbers of the copies; 0 are the originals.
    pub(crate) fn copies(&self) -> std::ops::RangeInclusive<usize> {
        let settings = &self.fitted.settings;
        usize::from(!settings.originals)..=settings.copies
    }

    /// Generates every copy of some rows of a table without an order. Invalid values are an error.
    /// Equal rows need a `counter` if [`needs_duplicate_counts`](Fitted::needs_duplicate_counts).
    pub fn generate(
        &self,
        rows: RecordBatch,
        counter: Option<&mut DuplicateCounter>,
    ) -> Result<Vec<RecordBatch>> {
        let fitted = &self.fitted;
        if fitted.settings.rows_by == RowIdSource::Number {
            let param = ParamName("rows_by");
            return Err(Error::Needs { of: "a table without an order", param });
        }
        if fitted.needs_duplicate_counts() && counter.is_none() {
            return Err(Error::bad_part("duplicate rows were not counted"));
        }
        if rows.schema().fields() != self.input.fields() {
            fitted.check(&rows.schema())?;
        }
        let block = self.reader.clone().next(rows, counter)?;
        block.check_bounds(&fitted.settings.bounds)?;
        for (field, column) in self.input.fields().iter().zip(block.batch.columns()) {
            if let Some(nulls) = column.nulls().filter(|nulls| nulls.null_count() > 0)
                && !field.is_nullable()
            {
                let row = nulls.iter().position(|present| !present).unwrap_or(0);
                let (column, row) = (field.name().clone(), block.describe_row(row));
                return Err(Error::NewlyMissing { column, row });
            }
        }
        let mut checked = fitted.roles.moved();
        checked.extend(fitted.roles.weight);
        fitted.roles.check_values(&self.input, &Profile::from_block(&block, &checked))?;
        let seed = Seed(fitted.settings.seed);
        let labels = fitted.generator.label(&block)?;
        let sources = self.fitted.sources(&block);
        let generate = |copy| {
            let copy_generator = fitted.generator.copy(copy, seed)?;
            let generated = copy_generator.block(&block, &labels)?;
            let sources = sources.as_deref().filter(|_| copy > 0);
            Ok(self.output.batch(copy, &block, generated.as_ref(), sources)?.batch)
        };
        self.copies().map(generate).collect()
    }

    /// [Generates](Self::generate) every copy of some rows, writes them to a file, and returns
    /// their number. The manifest is stored in the metadata of the file.
    pub fn write(
        &self,
        rows: impl Iterator<Item = Result<RecordBatch>>,
        mut counter: Option<&mut DuplicateCounter>,
        path: &Path,
        manifest: Option<&Manifest>,
    ) -> Result<u64> {
        let metadata = manifest.map(|manifest| (Manifest::KEY, manifest.to_json()));
        let mut sink = Sink::create(path, &WriteOptions::default(), self.schema(), metadata)?;
        let mut written = 0;
        // Nulls in a column that should have none are an error of `generate`, which names the row.
        let nullable = |field: &Arc<Field>| field.as_ref().clone().with_nullable(true);
        let fields: Vec<Field> = self.input.fields().iter().map(nullable).collect();
        for block in rechunk(rows, &Arc::new(Schema::new(fields)), Path::new("the table")) {
            let copies = self.generate(block?, counter.as_deref_mut())?;
            for (copy, batch) in self.copies().zip(copies) {
                written += batch.num_rows() as u64;
                sink.write(copy, &batch)?;
            }
        }
        sink.finish()?;
        Ok(written)
    }
}
