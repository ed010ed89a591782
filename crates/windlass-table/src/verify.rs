//! Verification of an output: every row is generated again and compared bit by bit.
//!
//! Rows of the output may be missing, as after a filter, but must be in order. If a key or content
//! identifies rows, as in a distributed table, they may be in any order.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, SchemaRef};
use serde::Serialize;
use windlass::ParamName;

use crate::augment::Augmentation;
use crate::column::{SOURCE, logical_type, stored_type};
use crate::config::{AnchorSource, MethodConfig};
use crate::fit::fitted::Fitted;
use crate::generate::provenance::COPY;
use crate::io::read::table::{Blocks, Table};
use crate::manifest::Manifest;
use crate::progress::RowProgress;
use crate::row_place::{RowPlace, RowPlaces};
use crate::rows::row_id::{RowIdSource, content_hashes};
use crate::text::as_text;
use crate::{Error, Result};

/// A row that differs from the expected one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The row number in the output, from 1.
    pub row: u64,
    /// Its line in a text file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The column; `None` if the row is unexpected.
    pub column: Option<String>,
    /// The value in the output.
    pub found: String,
    /// The value that was generated again.
    pub expected: String,
}

/// The result of a verification.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Verdict {
    /// Number of rows of the output.
    pub rows: u64,
    /// Number of rows that differ.
    pub differing: u64,
    /// The first differences.
    pub first: Vec<Difference>,
    /// Number of expected rows that are missing.
    pub absent: u64,
}

/// How an output was generated.
#[derive(Debug, Clone, Default)]
pub struct VerifyOptions<'a> {
    /// The manifest of the output. Without it, a fitted method is needed.
    pub manifest: Option<&'a Manifest>,
    /// The fitted method, if it was fitted on another table.
    pub fitted: Option<Arc<Fitted>>,
    /// The file of the anchor matrix, if there is one.
    pub matrix: Option<&'a Path>,
}

impl Verdict {
    const SHOWN: usize = 10;

    /// Generates the rows of an output again from its input, and compares. A CSV output must be
    /// read [as text](crate::ReadOptions::as_text).
    pub fn verify(
        output: &Table,
        input: &Table,
        options: VerifyOptions<'_>,
        memory: u64,
        progress: &dyn RowProgress,
    ) -> Result<Self> {
        let augmentation = options.augmentation(output, input, memory, progress)?;
        let mut verdict = Self::default();
        if augmentation.fitted().settings().rows_by != RowIdSource::Number {
            ExpectedRows::generate(output, &augmentation, memory, progress)?
                .compare(output, &mut verdict)?;
            return Ok(verdict);
        }
        let mut reader = OutputReader::new(output, augmentation.schema())?;
        augmentation.write(progress, None, &mut |_, expected: RecordBatch| {
            reader.compare(&expected, &mut verdict)
        })?;
        reader.finish(&mut verdict)?;
        Ok(verdict)
    }

    /// Whether no row differs.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.differing == 0
    }

    fn differ(&mut self, row: RowPlace, column: Option<String>, found: String, expected: String) {
        self.differing += 1;
        if self.first.len() < Self::SHOWN {
            let (row, line) = (row.index() + 1, row.line());
            self.first.push(Difference { row, line, column, found, expected });
        }
    }
}

impl VerifyOptions<'_> {
    fn augmentation<'a>(
        self,
        output: &Table,
        input: &'a Table,
        memory: u64,
        progress: &dyn RowProgress,
    ) -> Result<Augmentation<'a>> {
        let (of, param) = ("an output of a saved fitted state", ParamName("fitted"));
        let prefitted = self.manifest.and_then(|manifest| manifest.fitted.as_ref());
        let augmentation = match (self.fitted, self.manifest) {
            (Some(fitted), _) => {
                if let Some(expected) = prefitted.filter(|hash| **hash != fitted.fingerprint()) {
                    let path = output.path().to_owned();
                    let why = format!("the output was generated with another one: {expected}");
                    return Err(Error::BadManifest { path, why });
                }
                Augmentation::with(input, fitted, memory, progress)?
            }
            (None, Some(manifest)) if prefitted.is_none() => {
                let mut settings = manifest.settings.clone();
                // The path in an untrusted manifest is not followed.
                if let MethodConfig::Ada(ada) = &mut settings.method
                    && let AnchorSource::Matrix(path) = &mut ada.anchors
                {
                    let of = "an output of an anchor matrix";
                    let param = ParamName("anchors");
                    self.matrix.ok_or(Error::Needs { of, param })?.clone_into(path);
                }
                Augmentation::fit_rounded(input, &settings, &manifest.decimals, memory, progress)?
            }
            (None, _) => return Err(Error::Needs { of, param }),
        };
        let got = &augmentation.profile().fingerprint;
        let same = |manifest: &&Manifest| {
            let profile = augmentation.profile();
            [&profile.fingerprint, &profile.storage_fingerprint].contains(&&manifest.fingerprint)
        };
        if let Some(manifest) = self.manifest.filter(|manifest| !same(manifest)) {
            return Err(Error::OtherInput {
                path: output.path().to_owned(),
                expected: manifest.fingerprint.clone(),
                got: got.clone(),
            });
        }
        Ok(augmentation)
    }
}

/// The expected rows in any order: the number of rows for each content hash.
struct ExpectedRows {
    counts: HashMap<u64, u32>,
    schema: SchemaRef,
}

impl ExpectedRows {
    fn generate(
        output: &Table,
        augmentation: &Augmentation<'_>,
        memory: u64,
        progress: &dyn RowProgress,
    ) -> Result<Self> {
        check_columns(output, augmentation.schema())?;
        let text = output.format().is_text();
        let mut counts = HashMap::new();
        augmentation.write(progress, None, &mut |_, rows: RecordBatch| {
            for hash in content_hashes(&if text { to_text(&rows) } else { rows }) {
                *counts.entry(hash).or_insert(0) += 1;
            }
            // About the size of an entry.
            let needs = counts.len() as u64 * 32;
            if needs > memory {
                let what = "comparing rows in any order";
                return Err(Error::NeedsMemory { what, needs, memory });
            }
            Ok(())
        })?;
        Ok(Self { counts, schema: SchemaRef::clone(augmentation.schema()) })
    }

    fn compare(mut self, output: &Table, verdict: &mut Verdict) -> Result<()> {
        for rows in output.blocks() {
            let mut rows = named(&rows?, &self.schema);
            if !output.format().is_text() {
                rows = cast_to_schema(&rows, &self.schema);
            }
            for (row, hash) in content_hashes(&rows).into_iter().enumerate() {
                if let Some(count) = self.counts.get_mut(&hash).filter(|count| **count > 0) {
                    *count -= 1;
                } else {
                    let name = |name| rows.column_by_name(name).map(|all| describe_value(all, row));
                    let found = match (name(COPY), name(SOURCE)) {
                        (Some(copy), Some(source)) => format!("copy {copy} of source {source}"),
                        _ => "a row".into(),
                    };
                    let place = output.places().place(verdict.rows);
                    verdict.differ(place, None, found, "no such row".into());
                }
                verdict.rows += 1;
            }
        }
        verdict.absent = self.counts.values().map(|&count| u64::from(count)).sum();
        Ok(())
    }
}

/// A batch with all values as text.
fn to_text(rows: &RecordBatch) -> RecordBatch {
    let schema = rows.schema();
    let columns = schema.fields().iter().zip(rows.columns()).map(|(field, column)| {
        let text = as_text(column).map_or_else(|_| ArrayRef::clone(column), |text| Arc::new(text));
        (field.name().clone(), text)
    });
    RecordBatch::try_from_iter(columns.collect::<Vec<_>>()).expect("the same rows")
}

/// A batch with columns cast to the types of the schema, if possible.
fn cast_to_schema(rows: &RecordBatch, schema: &SchemaRef) -> RecordBatch {
    let columns = schema.fields().iter().zip(rows.columns()).map(|(field, column)| {
        let cast = arrow_cast::cast(column, field.data_type());
        (field.name().clone(), cast.unwrap_or_else(|_| ArrayRef::clone(column)))
    });
    RecordBatch::try_from_iter(columns.collect::<Vec<_>>()).expect("the same rows")
}

/// A batch with the names of the schema, for an output without a header.
fn named(rows: &RecordBatch, schema: &SchemaRef) -> RecordBatch {
    let columns = schema.fields().iter().zip(rows.columns());
    let columns = columns.map(|(field, column)| (field.name().clone(), Arc::clone(column)));
    RecordBatch::try_from_iter(columns.collect::<Vec<_>>()).expect("the same rows")
}

/// Returns an error if the output does not have the expected columns.
fn check_columns(output: &Table, schema: &SchemaRef) -> Result<()> {
    if !output.has_names() && output.schema().fields().len() == schema.fields().len() {
        return Ok(());
    }
    let names = |schema: &SchemaRef| -> Vec<String> {
        schema.fields().iter().map(|field| field.name().clone()).collect()
    };
    if names(output.schema()) == names(schema) {
        return Ok(());
    }
    Err(Error::BadManifest {
        path: output.path().to_owned(),
        why: format!(
            "its columns are {}, but would be {}",
            names(output.schema()).join(", "),
            names(schema).join(", ")
        ),
    })
}

/// Reads the output in step with the expected rows.
struct OutputReader<'a> {
    blocks: Blocks<'a>,
    schema: SchemaRef,
    /// Whether values are compared as text.
    text: bool,
    pending: Option<RecordBatch>,
    /// The index of the next row.
    row: u64,
    places: &'a RowPlaces,
}

impl<'a> OutputReader<'a> {
    fn new(output: &'a Table, schema: &SchemaRef) -> Result<Self> {
        check_columns(output, schema)?;
        let (schema, text) = (SchemaRef::clone(schema), output.format().is_text());
        let names = Arc::clone(&schema);
        let blocks = output.blocks().map(move |rows| Ok(named(&rows?, &names)));
        let (blocks, places): (Blocks<'a>, _) = (Box::new(blocks), output.places());
        Ok(Self { blocks, schema, text, pending: None, row: 0, places })
    }

    /// The next rows of the output.
    fn peek(&mut self) -> Result<Option<&RecordBatch>> {
        while self.pending.as_ref().is_none_or(|batch| batch.num_rows() == 0) {
            self.pending = self.blocks.next().transpose()?;
            if self.pending.is_none() {
                break;
            }
        }
        Ok(self.pending.as_ref())
    }

    fn skip(&mut self, rows: usize) {
        let front = self.pending.as_mut().expect("peeked");
        *front = front.slice(rows, front.num_rows() - rows);
        self.row += rows as u64;
    }

    /// Compares some expected rows with the next rows of the output.
    fn compare(&mut self, expected: &RecordBatch, verdict: &mut Verdict) -> Result<()> {
        let keys = RowKeys::new(expected);
        let mut at = 0;
        while at < expected.num_rows() {
            let Some(found) = self.peek()? else {
                verdict.absent += (expected.num_rows() - at) as u64;
                return Ok(());
            };
            let found = found.clone();
            let found_keys = RowKeys::new(&found);
            // Rows from the same source.
            let most = found.num_rows().min(expected.num_rows() - at);
            let same = match (&keys, &found_keys) {
                (Some(keys), Some(found)) => {
                    (0..most).take_while(|&row| keys.at(at + row) == found.at(row)).count()
                }
                _ => most,
            };
            if same > 0 {
                self.compare_rows(&expected.slice(at, same), &found.slice(0, same), verdict);
                verdict.rows += same as u64;
                self.skip(same);
                at += same;
            } else if found_keys.map(|found| found.at(0)) > keys.as_ref().map(|keys| keys.at(at)) {
                verdict.absent += 1;
                at += 1;
            } else {
                self.unexpected(verdict);
            }
        }
        Ok(())
    }

    /// Reports the next row of the output as unexpected.
    fn unexpected(&mut self, verdict: &mut Verdict) {
        let front = self.pending.as_ref().expect("peeked");
        let found = match RowKeys::new(front) {
            Some(keys) => {
                format!(
                    "copy {} of source {}",
                    describe_key(keys.at(0).0),
                    describe_key(keys.at(0).1)
                )
            }
            None => "an additional row".into(),
        };
        let expected = "no row".into();
        verdict.differ(self.places.place(self.row), None, found, expected);
        verdict.rows += 1;
        self.skip(1);
    }

    /// Reports the rows after the last expected one.
    fn finish(&mut self, verdict: &mut Verdict) -> Result<()> {
        while self.peek()?.is_some() {
            self.unexpected(verdict);
        }
        Ok(())
    }

    fn compare_rows(&self, expected: &RecordBatch, found: &RecordBatch, verdict: &mut Verdict) {
        let mut differs = vec![None; expected.num_rows()];
        for column in 0..expected.num_columns() {
            let (mut a, b) = (ArrayRef::clone(expected.column(column)), found.column(column));
            if self.text {
                // A value without text differs.
                if let Ok(text) = as_text(&a) {
                    a = Arc::new(text);
                }
            }
            if same(&a, b) {
                continue;
            }
            for (row, slot) in differs.iter_mut().enumerate().filter(|(_, slot)| slot.is_none()) {
                if !same(&a.slice(row, 1), &b.slice(row, 1)) {
                    *slot = Some(column);
                }
            }
        }
        for (row, column) in differs.into_iter().enumerate() {
            let Some(column) = column else { continue };
            verdict.differ(
                self.places.place(self.row + row as u64),
                Some(self.schema.field(column).name().clone()),
                describe_value(found.column(column), row),
                describe_value(expected.column(column), row),
            );
        }
    }
}

/// Whether values are the same bit by bit, however text, dates and times are stored.
fn same(a: &ArrayRef, b: &ArrayRef) -> bool {
    let (a, b) = (comparable(a), comparable(b));
    a.data_type() == b.data_type() && a.to_data() == b.to_data()
}

fn comparable(column: &ArrayRef) -> ArrayRef {
    let logical = logical_type(column.data_type());
    let plain = match logical {
        // Several long texts may not fit in a `Utf8`.
        DataType::Utf8 => Cow::Owned(DataType::LargeUtf8),
        logical => stored_type(logical),
    };
    if *plain == *column.data_type() {
        return ArrayRef::clone(column);
    }
    arrow_cast::cast(column, &plain).expect("the same values in another form")
}

fn describe_value(column: &ArrayRef, row: usize) -> String {
    if column.is_null(row) {
        return "missing".into();
    }
    let formatter = ArrayFormatter::try_new(column.as_ref(), &FormatOptions::new());
    formatter.map_or_else(|_| "?".into(), |formatter| formatter.value(row).to_string())
}

/// The copy and the source of each row.
struct RowKeys {
    copies: ArrayRef,
    sources: ArrayRef,
}

impl RowKeys {
    fn new(batch: &RecordBatch) -> Option<Self> {
        // The columns may be text.
        let numbers =
            |name, data_type| arrow_cast::cast(batch.column_by_name(name)?, &data_type).ok();
        let (copies, sources) =
            (numbers(COPY, DataType::Int32)?, numbers(SOURCE, DataType::Int64)?);
        Some(Self { copies, sources })
    }

    fn at(&self, row: usize) -> (Option<i32>, Option<i64>) {
        let copies = self.copies.as_primitive::<Int32Type>();
        let sources = self.sources.as_primitive::<Int64Type>();
        (
            copies.is_valid(row).then(|| copies.value(row)),
            sources.is_valid(row).then(|| sources.value(row)),
        )
    }
}

fn describe_key(key: Option<impl ToString>) -> String {
    key.map_or_else(|| "?".into(), |key| key.to_string())
}
