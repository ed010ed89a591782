//! Rows from elsewhere: a simulator, an expert or another generator. They take part in a comparison as a method:
//! they are added to training rows, never to test rows.
//!
//! Rows must not tell a model what it is tested on. Three rules see to it:
//!
//! * A row whose source or partner is known (`windlass_source`, `windlass_partner`) is omitted from the splits that
//!   do not train on it.
//! * A row that equals a row of the table is omitted from the splits that do not train on that row; one that equals
//!   a row of a test table is never used.
//! * Rows that are [close](crate::neighbors::Closeness) to real rows more often than real rows are to each other
//!   were probably derived from them. Leaving out the closest would not make the others fair, so there is no
//!   verdict.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, StringArray};
use serde::{Deserialize, Serialize};
use windlass_model::Split;
use windlass_table::{
    Columns, Error as TableError, LoadedTable, PARTNER, RowIdSource, RowProgress, SOURCE,
    SYNTHETIC, Table, row_ids, select, to_strings,
};

use crate::candidate::{MethodName, ModelName};
use crate::neighbors::{Closeness, Space, first_equal};
use crate::splits::{Fold, SplitRule};
use crate::{Error, Result};

/// Rows from elsewhere, in the columns of a table.
#[derive(Debug, Clone)]
pub struct AddedRows {
    /// The table followed by these rows.
    joined: LoadedTable,
    /// Number of rows of the table.
    real: usize,
    /// The indices of these rows in their file.
    file_rows: Vec<usize>,
    fingerprint: String,
    notes: Vec<String>,
    report: AddedRowsReport,
}

/// What is known about rows from elsewhere.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AddedRowsReport {
    /// The label.
    pub label: String,
    /// The name of the file.
    pub file: String,
    /// Number of rows that may be added.
    pub rows: usize,
    /// Mean number of rows that are added in a split.
    pub rows_per_split: f64,
    /// Rows of the file that are marked as original rows, and are ignored.
    pub originals: usize,
    /// Rows whose source is known.
    pub with_source: usize,
    /// Rows that equal a row of the table or of the test table.
    pub copies: usize,
    /// Rows whose distances were checked, and how many of them are far closer to a held-out row than real rows are
    /// to each other.
    pub checked: usize,
    /// See `checked`.
    pub close: usize,
    /// Real rows that were checked in the same way, and how many of them are close.
    pub checked_real: usize,
    /// See `checked_real`.
    pub close_real: usize,
    /// Whether rows are probably derived from held-out rows, so that there is no verdict.
    pub leaks: bool,
}

impl AddedRowsReport {
    /// The report in sentences.
    #[must_use]
    pub fn in_words(&self) -> Vec<String> {
        let Self { label, file, rows, copies, close, checked, .. } = self;
        let file = if file == label { String::new() } else { format!(" ({file})") };
        let mut first = format!(
            "Rows of {label}{file}: {rows}, of which {:.0} are added to the training rows of a split on average.",
            self.rows_per_split
        );
        if self.with_source > 0 {
            let known = self.with_source;
            let _ = write!(
                first,
                " The sources of {known} are known; they are omitted if a source or partner is held out."
            );
        }
        if *copies > 0 {
            let _ = write!(
                first,
                " Exact copies of rows that are tested on: {copies}; they are omitted if that row is held out."
            );
        }
        let usual = format!("of {} real rows {} are", self.checked_real, self.close_real);
        let second = if self.leaks {
            format!(
                "No verdict on {label}: {close} of {checked} rows are far closer to a held-out row than real rows \
                 are to each other ({usual}). They were probably derived from held-out rows, so errors are too low. \
                 Generate rows from the training rows only and test on other rows, or keep their sources \
                 (windlass_source)."
            )
        } else if self.with_source == *rows {
            return vec![first];
        } else {
            format!(
                "No sign that rows of {label} were derived from held-out rows: {close} of {checked} are far closer \
                 to one than real rows are to each other ({usual}). If their generator was fitted on held-out rows, \
                 errors are too low all the same."
            )
        };
        vec![first, second]
    }
}

/// What rows from elsewhere are added to.
#[derive(Debug, Clone, Copy)]
pub struct AddTo<'a> {
    /// The table whose rows are trained on.
    pub table: &'a LoadedTable,
    /// The separate test table.
    pub test: Option<&'a LoadedTable>,
    /// Which rows are tested on.
    pub rule: &'a SplitRule,
    /// Drop rows without a finite target.
    pub drop_missing_target: bool,
}

impl AddedRows {
    /// Reads rows for the training rows of a comparison.
    pub fn load(
        label: &str,
        file: &Table,
        to: AddTo<'_>,
        memory: u64,
        progress: &dyn RowProgress,
    ) -> Result<Self> {
        check_label(label)?;
        let path = file.path();
        let real = to.table;
        let schema = real.batch.schema();
        let target: Vec<String> =
            real.roles.targets().iter().map(|&place| schema.field(place).name().clone()).collect();
        let names = || file.schema().fields().iter().map(|field| field.name().clone());
        if let Some(column) = target.iter().find(|column| names().all(|name| name != **column)) {
            let (column, columns) = (column.clone(), names().collect());
            let error = TableError::LacksColumn { column, columns };
            return Err(Error::from(error).in_file(path));
        }
        let columns = Columns { target, ..Columns::default() };
        let loaded = LoadedTable::load(file, &columns, to.drop_missing_target, memory, progress);
        let loaded = loaded.map_err(|error| Error::from(error).in_file(path))?;
        Self::new(label, path, &loaded, to)
    }

    fn new(label: &str, path: &Path, file: &LoadedTable, to: AddTo<'_>) -> Result<Self> {
        let AddTo { table: real, test, rule, .. } = to;
        let split = rule.split();
        let aligned = real.align(file, split.column());
        let aligned = aligned.map_err(|error| Error::from(error).in_file(path))?;
        let mut notes = vec![];
        if !aligned.ignored.is_empty() {
            let names: Vec<String> =
                aligned.ignored.iter().map(|name| format!("`{name}`")).collect();
            notes.push(format!(
                "`{}`: columns that the table does not have are ignored: {}",
                path.display(),
                names.join(", ")
            ));
        }
        let marks = file.batch.column_by_name(SYNTHETIC).and_then(|marks| marks.as_boolean_opt());
        let is_original =
            |row: usize| marks.is_some_and(|marks| marks.is_valid(row) && !marks.value(row));
        let all = aligned.batch.num_rows();
        let originals = (0..all).filter(|&row| is_original(row)).count();
        if originals > 0 {
            notes.push(format!(
                "`{}`: {originals} rows are marked as original rows and are ignored",
                path.display()
            ));
        }
        // Rows that equal a test row are never used.
        let tested = test.map(|test| first_equal(real, &test.batch, &aligned.batch));
        let is_test_row = |row: usize| tested.as_ref().is_some_and(|equal| equal[row].is_some());
        let test_copies = (0..all).filter(|&row| !is_original(row) && is_test_row(row)).count();
        let file_rows: Vec<usize> =
            (0..all).filter(|&row| !is_original(row) && !is_test_row(row)).collect();
        if file_rows.is_empty() {
            let why = if test_copies > 0 { "all are test rows" } else { "all are original rows" };
            return Err(Error::NoAddedRows { path: path.to_owned(), why });
        }
        let rows = select(&aligned.batch, &file_rows);
        if let Split::Time(column) = &split
            && let Some(times) = rows.column_by_name(column)
            && let Some(row) = (0..times.len()).find(|&row| times.is_null(row))
        {
            let error = TableError::OtherType {
                column: column.clone(),
                row: file.places.place(file_rows[row] as u64),
                why: "the time is missing".into(),
            };
            return Err(Error::from(error).in_file(path));
        }
        let relations = Relations::find(real, file, &file_rows, &rows);
        if relations.unknown {
            notes.push(format!(
                "`{}`: the values of {SOURCE} do not identify rows of the table and are ignored",
                path.display()
            ));
        }
        let space = Space::new(real);
        let is_known_source = |row, nearest| test.is_none() && relations.relates(row, nearest);
        let found =
            Closeness::measure(&space, test.map(|test| &test.batch), &rows, is_known_source);
        let report = AddedRowsReport {
            label: label.to_owned(),
            file: path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            rows: file_rows.len(),
            rows_per_split: 0.0,
            originals,
            with_source: relations.with_source,
            copies: if test.is_some() { test_copies } else { relations.copies },
            checked: found.checked,
            close: found.close,
            checked_real: found.checked_real,
            close_real: found.close_real,
            leaks: found.is_suspicious(),
        };
        let joined = real.joined(&rows, relations.sources, relations.partners);
        let (count, fingerprint) = (real.batch.num_rows(), file.profile.fingerprint.clone());
        let added = Self { joined, real: count, file_rows, fingerprint, notes, report };
        // Fails for times that cannot be compared with those of the table.
        added.rows_with(&split, &[]).map_err(|error| error.in_file(path))?;
        Ok(added)
    }

    /// The label.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.report.label
    }

    /// Notes for the user on how the file was read.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether the rows were probably derived from held-out rows.
    #[must_use]
    pub fn leaks(&self) -> bool {
        self.report.leaks
    }

    /// The fingerprint of the file.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The table followed by all of these rows, which are marked as synthetic.
    #[must_use]
    pub fn joined(&self) -> &LoadedTable {
        &self.joined
    }

    /// The rows of the file that are added to some training rows of the table.
    pub fn file_rows(&self, split: &Split, train: &[usize]) -> Result<Vec<usize>> {
        let rows = self.rows_with(split, train)?;
        Ok(rows.into_iter().map(|row| self.file_rows[row - self.real]).collect())
    }

    /// Some training rows of the table, and the rows that are added to them.
    pub(crate) fn training_rows(
        &self,
        split: &Split,
        mut train: Vec<usize>,
    ) -> Result<LoadedTable> {
        train.extend(self.rows_with(split, &train)?);
        Ok(self.joined.select(&train))
    }

    fn rows_with(&self, split: &Split, train: &[usize]) -> Result<Vec<usize>> {
        let mut rows = split.synthetic_rows(&self.joined.batch, train)?;
        rows.retain(|&row| row >= self.real);
        Ok(rows)
    }

    /// What is known about the rows in these splits.
    pub(crate) fn report(&self, rule: &SplitRule, splits: &[Fold]) -> Result<AddedRowsReport> {
        let split = rule.split();
        let mut added = 0;
        for fold in splits {
            added += self.rows_with(&split, &fold.train)?.len();
        }
        let rows_per_split = added as f64 / splits.len().max(1) as f64;
        Ok(AddedRowsReport { rows_per_split, ..self.report.clone() })
    }
}

/// A label must not be the name of something else in the results.
fn check_label(label: &str) -> Result<()> {
    const LONGEST: usize = 40;
    let taken =
        MethodName::all().iter().any(|method| [method.name(), method.label()].contains(&label))
            || ModelName::ALL.iter().any(|model| model.name() == label);
    let why = if label.trim().is_empty() {
        "it is empty"
    } else if label.chars().count() > LONGEST {
        "it has more than 40 characters"
    } else if label.chars().any(char::is_control) {
        "it has control characters"
    } else if taken {
        "it is the name of a method or model"
    } else {
        return Ok(());
    };
    Err(Error::BadLabel { label: label.to_owned(), why })
}

/// Returns an error for two tables of rows with one label.
pub fn check_labels<'a>(labels: impl IntoIterator<Item = &'a str>) -> Result<()> {
    let mut known = BTreeSet::new();
    match labels.into_iter().find(|label| !known.insert(*label)) {
        None => Ok(()),
        Some(label) => Err(Error::BadLabel { label: label.to_owned(), why: "it is used twice" }),
    }
}

/// The rows of the table that added rows were derived from, as identifiers of both.
struct Relations {
    sources: StringArray,
    partners: StringArray,
    real: usize,
    with_source: usize,
    copies: usize,
    /// Whether there are sources that are not rows of the table.
    unknown: bool,
}

impl Relations {
    fn find(
        real: &LoadedTable,
        file: &LoadedTable,
        file_rows: &[usize],
        rows: &arrow_array::RecordBatch,
    ) -> Self {
        let count = real.batch.num_rows();
        // Equal rows have one identifier.
        let ids: Vec<String> = match real.batch.column_by_name(SOURCE) {
            Some(own) => to_strings(own).iter().map(|id| id.unwrap_or_default().into()).collect(),
            None => first_equal(real, &real.batch, &real.batch)
                .into_iter()
                .enumerate()
                .map(|(row, first)| first.unwrap_or(row).to_string())
                .collect(),
        };
        let column = |name: &str| {
            let values = to_strings(file.batch.column_by_name(name)?);
            Some(
                file_rows
                    .iter()
                    .map(|&row| values.is_valid(row).then(|| values.value(row).to_owned()))
                    .collect::<Vec<_>>(),
            )
        };
        let of_file = column(SOURCE).unwrap_or_else(|| vec![None; file_rows.len()]);
        let known = identified(real, &of_file);
        let unknown = known.is_none() && of_file.iter().any(Option::is_some);
        let known = known.unwrap_or_default();
        let id = |source: &Option<String>| {
            source.as_ref().and_then(|source| known.get(source)).map(|&row| ids[row].clone())
        };
        let mut sources: Vec<Option<String>> = of_file.iter().map(id).collect();
        let with_source = sources.iter().flatten().count();
        let mut partners: Vec<Option<String>> = match column(PARTNER) {
            Some(partners) => partners.iter().map(id).collect(),
            None => vec![None; file_rows.len()],
        };
        let mut copies = 0;
        for (row, equal) in first_equal(real, &real.batch, rows).into_iter().enumerate() {
            let Some(equal) = equal else { continue };
            copies += 1;
            let place = if sources[row].is_none() { &mut sources } else { &mut partners };
            place[row].get_or_insert_with(|| ids[equal].clone());
        }
        let none: Vec<Option<String>> = match real.batch.column_by_name(PARTNER) {
            Some(own) => to_strings(own).iter().map(|id| id.map(str::to_owned)).collect(),
            None => vec![None; count],
        };
        let sources = ids.into_iter().map(Some).chain(sources).collect();
        let partners = none.into_iter().chain(partners).collect();
        Self { sources, partners, real: count, with_source, copies, unknown }
    }

    /// Whether an added row is known to be derived from a row of the table.
    fn relates(&self, added: usize, real: usize) -> bool {
        let (row, id) = (self.real + added, self.sources.value(real));
        [&self.sources, &self.partners].iter().any(|ids| ids.is_valid(row) && ids.value(row) == id)
    }
}

/// The rows of the table by the identifiers that sources use: row numbers, hashes of the content or a key column;
/// `None` if there are none that identify all sources.
fn identified(real: &LoadedTable, sources: &[Option<String>]) -> Option<HashMap<String, usize>> {
    let rows = real.batch.num_rows();
    let numbers = || (0..rows as u64).map(|row| real.places.place(row).index().to_string());
    let hashes = || {
        let hashes = row_ids(&real.batch, &RowIdSource::Content).unwrap_or_default();
        hashes.into_iter().map(|hash| hash.cast_signed().to_string())
    };
    let of_column = |column: &ArrayRef| -> Vec<String> {
        to_strings(column).iter().map(|key| key.unwrap_or_default().to_owned()).collect()
    };
    let candidates = std::iter::once(numbers().collect())
        .chain(std::iter::once_with(|| hashes().collect()))
        .chain(real.batch.columns().iter().map(of_column));
    let by_id = |ids: Vec<String>| {
        let mut by_id = HashMap::new();
        for (row, id) in ids.into_iter().enumerate() {
            by_id.entry(id).or_insert(row);
        }
        by_id
    };
    if sources.iter().all(Option::is_none) {
        return None;
    }
    candidates.map(by_id).find(|by_id| sources.iter().flatten().all(|id| by_id.contains_key(id)))
}
