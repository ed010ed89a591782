//! The tables that were opened, and everything that is answered at once: columns, previews, single predictions.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_schema::{DataType, Field, Schema, TimeUnit};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tempfile::TempDir;
use windlass::ParamStyle;
use windlass_compare::Similarity;
use windlass_model::{
    Drift, Input, Model, Split, TablePredictor, UnusualRows, groups_of, time_columns,
};
use windlass_table::{
    AugmentConfig, Augmentation, ColumnReport, Columns, DEFAULT_MEMORY, Error as TableError,
    Inspection, LoadedTable, Note, Role, RoleReason, SOURCE, Table, is_numeric, select, to_f64,
    to_strings, type_name,
};

use crate::http::{Failure, Result};
use crate::settings::{Reading, Settings};

/// Memory for tables that are looked at; jobs have the default of the command.
const MEMORY: u64 = 128 << 20;
/// Rows of a table whose histograms are drawn.
const SAMPLE: u64 = 20_000;
/// Rows that are augmented while a slider moves; of a larger table, a sample.
const PREVIEW: usize = 2_000;
/// Synthetic rows that are drawn.
const DRAWN: usize = 20_000;
/// Levels of a category that are drawn; the others are one.
const LEVELS: usize = 24;

/// A file that was opened, by upload or on the command line.
pub(crate) struct Source {
    /// The name in commands.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    opened: Mutex<Option<Arc<Opened>>>,
}

/// A table as it is read, with a sample of its rows.
pub(crate) struct Opened {
    pub(crate) name: String,
    reading: Reading,
    pub(crate) table: Table,
    sample: LoadedTable,
    /// The rows that are augmented while a slider moves, if they are not all.
    preview: Option<Table>,
    distributions: Vec<Distribution>,
    /// The groups of the last preview.
    groups: Mutex<Option<windlass_table::Fitted>>,
}

/// A small histogram.
#[derive(Serialize)]
#[serde(untagged)]
enum Distribution {
    Numbers { low: f64, high: f64, counts: Vec<usize> },
    Levels { levels: Vec<(String, usize)>, others: usize },
}

/// A trained model, and the settings that it was trained with.
pub(crate) struct TrainedModel {
    pub(crate) model: Model,
    pub(crate) settings: Settings,
    pub(crate) view: Value,
}

/// Everything that the server has.
pub(crate) struct Session {
    /// Removed when the server ends.
    pub(crate) folder: TempDir,
    tables: Mutex<BTreeMap<u32, Arc<Source>>>,
    next: AtomicU32,
    /// Files that can be downloaded, by name.
    files: Mutex<BTreeMap<String, PathBuf>>,
    pub(crate) model: Mutex<Option<Arc<TrainedModel>>>,
}

/// A lock; a panic of another request does not end the session.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A note with a change of settings that fixes it.
#[derive(Serialize)]
struct Remark {
    text: String,
    /// Whether nothing works before it is fixed.
    problem: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<Value>,
}

impl Remark {
    fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), problem: false, fix: None }
    }

    fn with_fix(self, label: &str, set: Value) -> Self {
        Self { fix: Some(json!({ "label": label, "set": set })), ..self }
    }
}

impl Session {
    pub(crate) fn new() -> std::io::Result<Self> {
        Ok(Self {
            folder: tempfile::Builder::new().prefix("windlass-studio-").tempdir()?,
            tables: Mutex::default(),
            next: AtomicU32::new(1),
            files: Mutex::default(),
            model: Mutex::default(),
        })
    }

    /// Adds a file of the user.
    pub(crate) fn add(&self, path: PathBuf, name: String) -> u32 {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let source = Source { name, path, opened: Mutex::default() };
        lock(&self.tables).insert(id, Arc::new(source));
        id
    }

    /// The file for an upload of this name.
    pub(crate) fn upload(&self, name: &str) -> std::io::Result<(PathBuf, String, File)> {
        let name = file_name(name);
        let number = self.next.fetch_add(1, Ordering::Relaxed).to_string();
        let folder = self.folder.path().join("tables").join(number);
        std::fs::create_dir_all(&folder)?;
        let path = folder.join(&name);
        let file = File::create(&path)?;
        Ok((path, name, file))
    }

    pub(crate) fn tables(&self) -> Vec<Value> {
        let tables = lock(&self.tables);
        tables.iter().map(|(id, source)| json!({ "id": id, "name": source.name })).collect()
    }

    /// Forgets a table, and removes it if it was uploaded.
    pub(crate) fn forget(&self, id: u32) {
        if let Some(source) = lock(&self.tables).remove(&id)
            && source.path.starts_with(self.folder.path())
        {
            let _ = std::fs::remove_file(&source.path);
        }
    }

    /// A table, read as the settings say.
    pub(crate) fn open(&self, settings: &Settings) -> Result<Arc<Opened>> {
        let source = lock(&self.tables).get(&settings.table).cloned();
        let source = source.ok_or_else(|| Failure::new("the table is not open any more"))?;
        let reading = settings.reading();
        let mut opened = lock(&source.opened);
        if let Some(opened) = opened.as_ref().filter(|opened| opened.reading == reading) {
            return Ok(Arc::clone(opened));
        }
        // The former reading is not needed while the table is read again.
        *opened = None;
        let fresh = Arc::new(Opened::new(&source, reading)?);
        *opened = Some(Arc::clone(&fresh));
        Ok(fresh)
    }

    /// The path of a file to download in the future, and its registration.
    pub(crate) fn output(&self, name: &str) -> std::io::Result<PathBuf> {
        let folder = self.folder.path().join("files");
        std::fs::create_dir_all(&folder)?;
        Ok(folder.join(name))
    }

    pub(crate) fn register(&self, name: &str, path: PathBuf) {
        lock(&self.files).insert(name.to_owned(), path);
    }

    pub(crate) fn file(&self, name: &str) -> Option<PathBuf> {
        lock(&self.files).get(name).cloned()
    }

    /// Text without the folders of uploads.
    pub(crate) fn published(&self, text: &str) -> String {
        let uploads = format!("{}/", self.folder.path().join("tables").display());
        let mut parts = text.split(&uploads);
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            out += part.split_once('/').map_or(part, |(_, rest)| rest);
        }
        out.replace(&format!("{}/", self.folder.path().display()), "")
    }

    /// The columns of a table, with notes.
    pub(crate) fn inspect(&self, settings: &Settings) -> Result<Value> {
        let opened = self.open(settings)?;
        let config = settings.augment_config()?;
        let inspection = Inspection::new(&opened.table, &config, MEMORY, &())?;
        let columns: Vec<Value> = inspection
            .columns
            .iter()
            .zip(&opened.distributions)
            .map(|(column, distribution)| {
                let requested = matches!(column.reason, RoleReason::NamedBy(_));
                json!({
                    "name": column.name,
                    "type": column.holds,
                    "role": column.role,
                    "reason": format!("{:#}", column.reason),
                    "requested": requested,
                    "missing": column.missing,
                    "range": column.range,
                    "distinct": column.levels,
                    "distribution": distribution,
                })
            })
            .collect();
        Ok(json!({
            "name": opened.name,
            "rows": inspection.rows,
            "columns": columns,
            "notes": opened.remarks(settings, &inspection)?,
            "anchors": inspection.suggested_anchors,
            "times": time_columns(&opened.sample.batch),
            "groups": group_columns(&opened.sample, &inspection.columns),
            "preview": opened.preview_table().1,
            "script": settings.inspect_script(&opened.table, &opened.name),
        }))
    }

    /// Original and synthetic rows in two columns.
    pub(crate) fn preview(&self, request: &PreviewRequest) -> Result<Value> {
        let opened = self.open(&request.settings)?;
        let made = opened.augment(&request.settings, [&request.x, &request.y])?;
        Ok(json!({
            "names": made.names,
            "original": made.originals,
            "synthetic": made.synthetic,
            "levels": made.levels,
            "made": made.made,
            "sampled": opened.preview_table().1,
            "script": request.settings.augment_script(&opened.table, &opened.name),
        }))
    }

    /// Marginal distributions and correlations of original and synthetic rows.
    pub(crate) fn similarity(&self, settings: &Settings) -> Result<Value> {
        let opened = self.open(settings)?;
        let (table, _) = opened.preview_table();
        let mut config = opened.augment_config(settings)?;
        config.provenance = false;
        config.originals = false;
        config.copies = config.copies.min((DRAWN / opened.preview_rows().max(1)).max(1));
        let augmentation = Augmentation::fit(table, &config, MEMORY, &())?;
        let mut batches = vec![];
        let mut collect = |_: usize, batch: RecordBatch| {
            batches.push(batch);
            Ok(())
        };
        augmentation.write(&(), None, &mut collect)?;
        let schema = Arc::clone(augmentation.schema());
        let synthetic = Table::from_batches(schema, batches, Path::new("synthetic rows"))?;
        let found = Similarity::measure(&synthetic, table, &config.columns, DEFAULT_MEMORY, &())?;
        Ok(json!({ "words": found.in_words(), "similarity": found }))
    }

    /// The model that was trained last.
    pub(crate) fn trained(&self) -> Result<Arc<TrainedModel>> {
        let trained = lock(&self.model).clone();
        trained.ok_or_else(|| Failure::new("there is no model yet: train one first"))
    }

    /// The prediction for a row that was typed.
    pub(crate) fn predict_row(&self, values: &BTreeMap<String, String>) -> Result<Value> {
        let fitted = self.trained()?;
        let opened = self.open(&fitted.settings)?;
        let (mut fields, mut columns): (Vec<Field>, Vec<ArrayRef>) = (vec![], vec![]);
        for name in fitted.model.metadata().features() {
            let schema = opened.table.schema();
            let holds = schema.field_with_name(name).map_or(&DataType::Utf8, Field::data_type);
            let typed = values.get(name).map(|text| text.trim()).filter(|text| !text.is_empty());
            columns.push(parsed(name, typed, holds)?);
            fields.push(Field::new(name, columns[columns.len() - 1].data_type().clone(), true));
        }
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns);
        let batch = batch.map_err(|error| Failure::new(error.to_string()))?;
        let table = Table::from_batch(&batch, Path::new("the row"))?;
        let (level, predictor) = predictor(&fitted.model, &table)?;
        let block = predictor.predict(&batch, 0)?;
        let mut unusual = UnusualRows::default();
        unusual.add(&fitted.model, &batch);
        let first = |values: &ndarray::Array2<f64>| values.row(0).to_vec();
        Ok(json!({
            "targets": fitted.model.targets(),
            "prediction": first(&block.predictions.mean),
            "low": block.bounds.as_ref().map(|bounds| first(&bounds.low)),
            "high": block.bounds.as_ref().map(|bounds| first(&bounds.high)),
            "level": level,
            "notes": unusual.notes(),
        }))
    }
}

/// A predictor with 90 % intervals, or without if there are too few held-out rows for them.
pub(crate) fn predictor<'a>(
    model: &'a Model,
    table: &'a Table,
) -> Result<(Option<f64>, TablePredictor<'a>)> {
    const LEVEL: f64 = 0.9;
    let level = model.intervals(LEVEL).is_ok().then_some(LEVEL);
    Ok((level, TablePredictor::new(model, table, level)?))
}

/// A value that was typed, as a column of one row.
fn parsed(name: &str, typed: Option<&str>, holds: &DataType) -> Result<ArrayRef> {
    let text: ArrayRef = Arc::new(StringArray::from(vec![typed]));
    let value = arrow_cast::cast(&text, holds);
    let value = value.map_err(|error| Failure::new(format!("`{name}`: {error}")))?;
    match typed {
        Some(typed) if value.is_null(0) => {
            Err(Failure::new(format!("`{name}`: `{typed}` is not one of its {}", type_name(holds))))
        }
        _ => Ok(value),
    }
}

/// Discrete columns whose rows belong together, for splits: several levels, each of several rows.
fn group_columns(sample: &LoadedTable, columns: &[ColumnReport]) -> Vec<String> {
    const MOST: usize = 40;
    let mut names = vec![];
    for column in columns.iter().take(MOST) {
        let discrete = matches!(column.role, "categorical" | "carried");
        let rows = sample.batch.num_rows();
        if discrete
            && let Ok(groups) = groups_of(&sample.batch, &column.name)
            && groups.len() >= 2
            && 2 * groups.len() <= rows
        {
            names.push(column.name.clone());
        }
    }
    names
}

/// What the page asks for when a slider moves.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PreviewRequest {
    settings: Settings,
    /// The columns of the axes; empty for the feature most correlated with the target, and the target.
    x: String,
    y: String,
}

/// Rows of a preview, column by column.
#[derive(Default, Serialize)]
struct Points {
    values: [Vec<Option<f64>>; 2],
    /// Numbers of rows of the table.
    source: Vec<Option<f64>>,
    partner: Vec<Option<f64>>,
    group: Vec<Option<f64>>,
    /// γ or λ.
    strength: Vec<Option<f64>>,
}

#[derive(Default)]
struct PreviewRows {
    names: [String; 2],
    originals: Points,
    synthetic: Points,
    /// For each of the two columns, the names of its levels if it has no numbers.
    levels: [Vec<String>; 2],
    made: u64,
}

impl Opened {
    fn new(source: &Source, reading: Reading) -> Result<Self> {
        let table = Table::open(std::slice::from_ref(&source.path), &reading.options(MEMORY))?;
        let (sample, every) =
            LoadedTable::sample(&table, &Columns::default(), SAMPLE, MEMORY, &())?;
        let rows = sample.batch.num_rows();
        let preview = if every == 1 && rows <= PREVIEW {
            None
        } else {
            let step = rows.div_ceil(PREVIEW);
            let chosen: Vec<usize> = (0..rows).step_by(step).collect();
            Some(Table::from_batch(&select(&sample.batch, &chosen), table.path())?)
        };
        let distributions = sample.batch.columns().iter().map(Distribution::of).collect();
        let name = source.name.clone();
        let groups = Mutex::default();
        Ok(Self { name, reading, table, sample, preview, distributions, groups })
    }

    /// The rows that are augmented while a slider moves, and how many they are if they are a sample.
    fn preview_table(&self) -> (&Table, Option<usize>) {
        match &self.preview {
            Some(preview) => (preview, Some(self.preview_rows())),
            None => (&self.table, None),
        }
    }

    fn preview_rows(&self) -> usize {
        let rows = self.sample.batch.num_rows();
        rows.div_ceil(rows.div_ceil(PREVIEW).max(1))
    }

    /// The settings for the preview. Roles of a sample are those of the table: a row counter would not count any more.
    fn augment_config(&self, settings: &Settings) -> Result<AugmentConfig> {
        let mut config = settings.augment_config()?;
        if self.preview.is_none() {
            return Ok(config);
        }
        let columns = &mut config.columns;
        let requested = [&columns.target, &columns.exclude, &columns.carry, &columns.categorical];
        let requested = requested.into_iter().chain([&columns.continuous]).flatten();
        let requested: Vec<String> = requested.chain(&columns.weight).cloned().collect();
        for (field, role) in self.table.schema().fields().iter().zip(&self.sample.roles.roles) {
            if requested.contains(field.name()) {
                continue;
            }
            match role {
                Role::Continuous => columns.continuous.push(field.name().clone()),
                Role::Categorical => columns.categorical.push(field.name().clone()),
                Role::Carried | Role::Date => columns.carry.push(field.name().clone()),
                Role::Excluded => columns.exclude.push(field.name().clone()),
                Role::Target | Role::Weight => {}
            }
        }
        Ok(config)
    }

    /// Fits the method, or uses the groups of before if only their strength changes.
    fn fit<'a>(&self, table: &'a Table, config: &AugmentConfig) -> Result<Augmentation<'a>> {
        let mut groups = lock(&self.groups);
        if let Some(groups) = groups.as_ref()
            && let Some(fitted) = groups.with_strength(config)?
        {
            return Ok(Augmentation::with(table, Arc::new(fitted), MEMORY, &())?);
        }
        let augmentation = Augmentation::fit(table, config, MEMORY, &())?;
        *groups = augmentation.fitted().with_strength(config)?;
        Ok(augmentation)
    }

    /// Augments the rows of the preview, and collects two columns.
    fn augment(&self, settings: &Settings, axes: [&str; 2]) -> Result<PreviewRows> {
        let (table, _) = self.preview_table();
        let mut config = self.augment_config(settings)?;
        let rows = self.preview_rows().max(1);
        config.copies = config.copies.min((DRAWN / rows).max(1));
        let augmentation = self.fit(table, &config)?;
        let x = match axes[0] {
            "" => augmentation.plot_sample(None)?.x_name,
            name => name.to_owned(),
        };
        let y = match (axes[1], settings.target().first()) {
            ("", Some(target)) => target.clone(),
            (name, _) => name.to_owned(),
        };
        let names = [x, y];
        let mut made = PreviewRows::default();
        for (levels, name) in made.levels.iter_mut().zip(&names) {
            let place = table.schema().index_of(name);
            let place = place.map_err(|_| Failure::new(format!("there is no column `{name}`")))?;
            if !is_drawn_as_numbers(table.schema().field(place).data_type()) {
                *levels = levels_of(&self.sample.batch, place);
            }
        }
        let levels = made.levels.clone();
        let mut collect = |copy: usize, batch: RecordBatch| {
            let points = if copy == 0 { &mut made.originals } else { &mut made.synthetic };
            made.made += if copy == 0 { 0 } else { batch.num_rows() as u64 };
            for ((values, name), levels) in points.values.iter_mut().zip(&names).zip(&levels) {
                let Some(column) = batch.column_by_name(name) else { continue };
                values.extend(if levels.is_empty() {
                    numbers(column)
                } else {
                    codes(column, levels)
                });
            }
            for (values, names) in [
                (&mut points.source, &[SOURCE][..]),
                (&mut points.partner, &["windlass_partner"]),
                (&mut points.group, &["windlass_group"]),
                (&mut points.strength, &["windlass_gamma", "windlass_lambda"]),
            ] {
                if let Some(column) = names.iter().find_map(|name| batch.column_by_name(name)) {
                    values.extend(numbers(column));
                }
            }
            Ok(())
        };
        augmentation.write(&(), None, &mut collect)?;
        made.names = names;
        Ok(made)
    }

    /// Notes on the table, each with a change of settings that fixes it if there is one.
    fn remarks(&self, settings: &Settings, inspection: &Inspection) -> Result<Vec<Remark>> {
        let mut remarks = vec![];
        if let Some(refusal) = &inspection.refusal {
            let hint = refusal.hint(ParamStyle::Command).map(|hint| format!(" Hint: {hint}."));
            let text = format!("{refusal:#}.{}", hint.unwrap_or_default());
            // Models may use dates and categories, which augmentation does not move.
            let problem = !matches!(refusal, TableError::NoFeatures { .. });
            let remark = Remark { problem, ..Remark::new(text) };
            remarks.push(match refusal {
                TableError::BadFeature { column, .. } => {
                    let roles = BTreeMap::from([(column, "carried")]);
                    remark.with_fix("Do not use this column", json!({ "roles": roles }))
                }
                TableError::BadTarget { .. } => {
                    remark.with_fix("Drop these rows", json!({ "drop_missing_target": true }))
                }
                _ => remark,
            });
        }
        for note in self.table.notes() {
            let remark = Remark::new(format!("{note:#}"));
            remarks.push(match note {
                Note::NotNumbers { first, .. } if !first.is_empty() => {
                    let marker = &first[0].0;
                    let label = format!("Read {} as missing", excerpt(marker));
                    remark.with_fix(&label, json!({ "nulls": [marker] }))
                }
                Note::Sheets { others, .. } if !others.is_empty() => {
                    let label = format!("Read sheet {}", excerpt(&others[0]));
                    remark.with_fix(&label, json!({ "sheet": others[0] }))
                }
                _ => remark,
            });
        }
        remarks.extend(role_remarks(&inspection.columns, self.table.schema()));
        remarks.extend(self.order_remarks(settings)?);
        Ok(remarks)
    }

    /// Notes on dates, and on drift along the file.
    fn order_remarks(&self, settings: &Settings) -> Result<Vec<Remark>> {
        let mut remarks = vec![];
        let split = settings.split().unwrap_or_default();
        let time = time_columns(&self.sample.batch).into_iter().next();
        let by_time = |remark: Remark| match &time {
            Some(time) if split == Split::Rows => {
                let set = json!({ "split": format!("time:{time}") });
                remark.with_fix("Hold out later rows", set)
            }
            _ => remark,
        };
        if settings.has_target() {
            let mut sample = self.sample.clone();
            for (field, role) in self.table.schema().fields().iter().zip(&mut sample.roles.roles) {
                if settings.target().contains(field.name()) && is_numeric(field.data_type()) {
                    *role = Role::Target;
                }
            }
            let drift = Drift::check(&sample, &Split::Rows)?;
            if !drift.columns.is_empty() {
                remarks.push(by_time(Remark::new(format!("The table drifts: {drift}."))));
            }
        }
        if remarks.is_empty() {
            let note = split.note(&self.sample.batch, ParamStyle::Command);
            remarks.extend(note.map(|note| by_time(Remark::new(format!("{note}.")))));
        }
        Ok(remarks)
    }

    /// The first row as text, to begin with when a row is typed.
    pub(crate) fn first_row(&self) -> BTreeMap<String, String> {
        let schema = self.table.schema();
        let value = |(field, column): (&Arc<Field>, &ArrayRef)| {
            let text = to_strings(&column.slice(0, 1));
            (text.is_valid(0)).then(|| (field.name().clone(), text.value(0).to_owned()))
        };
        schema.fields().iter().zip(self.sample.batch.columns()).filter_map(value).collect()
    }
}

/// Notes on columns that models do not use, one for each reason.
fn role_remarks(columns: &[ColumnReport], schema: &Schema) -> Vec<Remark> {
    let named = |chosen: &[&ColumnReport]| {
        let names: Vec<String> =
            chosen.iter().take(6).map(|column| format!("`{}`", excerpt(&column.name))).collect();
        let more = chosen.len().saturating_sub(6);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{}{more}", names.join(", "))
    };
    let with = |chosen: &[&ColumnReport], role: &str| {
        let roles: BTreeMap<&str, &str> =
            chosen.iter().map(|column| (column.name.as_str(), role)).collect();
        json!({ "roles": roles })
    };
    let mut remarks = vec![];
    for (reason, what, label, role) in [
        ("row counter", "counts the rows", "Use as a number", "continuous"),
        (
            "named like an identifier",
            "is named like an identifier",
            "Use as a number",
            "continuous",
        ),
        ("constant", "has one value only", "Leave out", "excluded"),
        ("no values", "has no values", "Leave out", "excluded"),
    ] {
        let is = |column: &&ColumnReport| {
            matches!(&column.reason, RoleReason::Inferred(own) if own == reason)
                && column.role == "carried"
        };
        let chosen: Vec<&ColumnReport> = columns.iter().filter(is).collect();
        let numeric = |column: &&ColumnReport| {
            schema.field_with_name(&column.name).is_ok_and(|field| is_numeric(field.data_type()))
        };
        if !chosen.is_empty() {
            let text = match chosen.len() {
                1 => {
                    format!("{} {what}: synthetic rows keep it, models ignore it.", named(&chosen))
                }
                _ => {
                    format!("Synthetic rows keep and models ignore {} ({reason}).", named(&chosen))
                }
            };
            let remark = Remark::new(text);
            let fixable = role == "excluded" || chosen.iter().all(numeric);
            remarks.push(if fixable {
                remark.with_fix(label, with(&chosen, role))
            } else {
                remark
            });
        }
    }
    let many = |column: &&ColumnReport| column.role == "categorical" && column.levels.is_none();
    let many: Vec<&ColumnReport> = columns.iter().filter(many).collect();
    if !many.is_empty() {
        let text =
            format!("{}: too many different texts for a model, which ignores them.", named(&many));
        remarks.push(Remark::new(text).with_fix("Leave out", with(&many, "excluded")));
    }
    remarks
}

impl Distribution {
    fn of(column: &ArrayRef) -> Self {
        const BINS: usize = 24;
        const SHOWN: usize = 8;
        if is_drawn_as_numbers(column.data_type()) {
            let values: Vec<f64> =
                numbers(column).into_iter().flatten().filter(|value| value.is_finite()).collect();
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let mut counts = vec![0; BINS];
            for value in &values {
                // Halves, because the range of numbers may be larger than a number.
                let share = (value / 2.0 - low / 2.0) / (high / 2.0 - low / 2.0);
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a bin"
                )]
                let bin = (share * BINS as f64) as usize;
                counts[bin.min(BINS - 1)] += 1;
            }
            let (low, high) = if values.is_empty() { (0.0, 0.0) } else { (low, high) };
            return Self::Numbers { low, high, counts };
        }
        let mut counted: HashMap<String, usize> = HashMap::new();
        for text in to_strings(column).iter().flatten() {
            *counted.entry(excerpt(text)).or_default() += 1;
        }
        let mut levels: Vec<(String, usize)> = counted.into_iter().collect();
        levels.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let others = levels.iter().skip(SHOWN).map(|(_, count)| count).sum();
        levels.truncate(SHOWN);
        Self::Levels { levels, others }
    }
}

/// The levels of a column, the most frequent first; the last one is for all others if there are more.
fn levels_of(batch: &RecordBatch, place: usize) -> Vec<String> {
    let mut counted: HashMap<&str, usize> = HashMap::new();
    let text = to_strings(batch.column(place));
    for text in text.iter().flatten() {
        *counted.entry(text).or_default() += 1;
    }
    let mut levels: Vec<(&str, usize)> = counted.into_iter().collect();
    levels.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    let mut names: Vec<String> = levels.iter().map(|(text, _)| (*text).to_owned()).collect();
    if names.len() > LEVELS {
        names.truncate(LEVELS - 1);
        names.push("other".to_owned());
    }
    if names.is_empty() {
        names.push("missing".to_owned());
    }
    names
}

/// Whether a column is drawn on an axis of numbers; dates are, in years.
fn is_drawn_as_numbers(data_type: &DataType) -> bool {
    is_numeric(data_type) || is_date(data_type)
}

fn is_date(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Date32 | DataType::Date64 | DataType::Timestamp(..))
}

/// Values as numbers; not a number is missing.
fn numbers(column: &ArrayRef) -> Vec<Option<f64>> {
    const MILLISECONDS_OF_A_YEAR: f64 = 365.2425 * 24.0 * 3600.0 * 1000.0;
    let finite = |value: Option<f64>| value.filter(|value| value.is_finite());
    if is_numeric(column.data_type()) {
        return to_f64(column).iter().map(finite).collect();
    }
    let milliseconds = DataType::Timestamp(TimeUnit::Millisecond, None);
    let years = is_date(column.data_type())
        .then(|| arrow_cast::cast(column, &milliseconds))
        .and_then(|cast| arrow_cast::cast(&cast.ok()?, &DataType::Int64).ok());
    match years {
        Some(years) => {
            let year = |value: f64| 1970.0 + value / MILLISECONDS_OF_A_YEAR;
            to_f64(&years).iter().map(|value| value.map(year)).collect()
        }
        None => vec![None; column.len()],
    }
}

/// The place of every value among the levels.
fn codes(column: &ArrayRef, levels: &[String]) -> Vec<Option<f64>> {
    let places: HashMap<&str, usize> =
        levels.iter().enumerate().map(|(place, level)| (level.as_str(), place)).collect();
    let code = |text: &str| places.get(text).map_or(levels.len() - 1, |&place| place) as f64;
    to_strings(column).iter().map(|text| text.map(code)).collect()
}

/// Text of at most 40 characters.
fn excerpt(text: &str) -> String {
    const LONGEST: usize = 40;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    text.chars().take(LONGEST - 1).chain(['…']).collect()
}

/// The last part of the name of an upload, without characters that a file name or a terminal cannot have.
fn file_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let allowed = |c: &char| !c.is_control() && !"<>:\"|?*".contains(*c);
    let kept: String = last.chars().filter(allowed).collect();
    // From the end, where the extension is.
    let skipped = kept.chars().count().saturating_sub(100);
    let kept: String = kept.chars().skip(skipped).collect();
    match kept.trim_start_matches(['.', '-', ' ']) {
        "" => "table.csv".to_owned(),
        kept => kept.to_owned(),
    }
}

/// What is typed to predict a row: for every column of a model, its kind and its values.
pub(crate) fn inputs(model: &Model) -> Vec<Value> {
    let members = &model.metadata().members;
    let mut shown: Vec<(String, Value)> = vec![];
    for input in members.iter().flat_map(|member| &member.preprocessing.inputs) {
        let name = input.name().to_owned();
        let value = match input {
            Input::Continuous { calendar: None, range, .. } => {
                json!({ "name": name, "kind": "number", "range": range })
            }
            Input::Continuous { .. } => json!({ "name": name, "kind": "date" }),
            Input::Categorical { levels, .. } => {
                let levels: Vec<&String> = levels.iter().flatten().collect();
                json!({ "name": name, "kind": "category", "levels": levels })
            }
        };
        match shown.iter_mut().find(|(own, _)| *own == name) {
            // Integers with few values are numbers in one member and categories in another.
            Some((_, own)) if own["kind"] == "category" && value["kind"] == "number" => {
                *own = value;
            }
            Some(_) => {}
            None => shown.push((name, value)),
        }
    }
    shown.into_iter().map(|(_, value)| value).collect()
}

#[cfg(test)]
mod tests {
    use super::{excerpt, file_name};

    #[test]
    fn names_of_uploads_stay_in_their_folder() {
        for (given, kept) in [
            ("cars.csv", "cars.csv"),
            ("../../etc/passwd", "passwd"),
            ("C:\\data\\my cars.xlsx", "my cars.xlsx"),
            ("..", "table.csv"),
            (".hidden.csv", "hidden.csv"),
            ("-rf.csv", "rf.csv"),
            ("a\u{1b}[31m\n.csv", "a[31m.csv"),
            ("", "table.csv"),
        ] {
            assert_eq!(file_name(given), kept);
        }
        assert!(file_name(&format!("{}.csv", "x".repeat(500))).ends_with("x.csv"));
        assert_eq!(excerpt(&"é".repeat(50)).chars().count(), 40);
    }
}
