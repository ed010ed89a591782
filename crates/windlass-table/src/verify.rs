//! Is an output what it says it is? Every row is made again and compared, bit by bit.
//!
//! The output may have lost rows (a head, a filter) but not their order; unless its rows go by a key or by what
//! they hold, as on a cluster: then they may come in any order.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, SchemaRef};
use serde::Serialize;

use crate::augment::{Manifest, Watch};
use crate::identity::contents;
use crate::provenance::{COPY, SOURCE};
use crate::settings::{AnchorSource, MethodConfig};
use crate::sink::as_text;
use crate::{Augmentation, Error, Fitted, Result, RowIdSource, Table};

/// A row that is not what it should be.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The row of the output, counted from 0.
    pub row: u64,
    /// The column, or none where the row should not be there at all.
    pub column: Option<String>,
    /// What the output has.
    pub found: String,
    /// What was computed again.
    pub expected: String,
}

/// What was found out about an output.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Verdict {
    /// Rows of the output.
    pub rows: u64,
    /// Rows among them that differ.
    pub differing: u64,
    /// The first of them.
    pub first: Vec<Difference>,
    /// Rows that were made but are not there.
    pub absent: u64,
}

/// How an output says that it was made.
#[derive(Debug, Clone, Default)]
pub struct How<'a> {
    /// What it says itself. Without it the fitted method says how.
    pub manifest: Option<&'a Manifest>,
    /// The method, if it was fitted before.
    pub fitted: Option<Arc<Fitted>>,
    /// The anchor matrix, if there was one.
    pub matrix: Option<&'a Path>,
}

impl Verdict {
    const SHOWN: usize = 10;

    /// Makes the rows of an output again, from its input and how it was made, and compares. An output in text is
    /// read [as text](crate::ReadOptions::as_text).
    pub fn of(
        output: &Table,
        input: &Table,
        how: How<'_>,
        memory: u64,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let augmentation = how.augmentation(output, input, memory, watch)?;
        let mut verdict = Self::default();
        if augmentation.fitted().settings().rows_by != RowIdSource::Number {
            Unordered::read(output, &augmentation, memory, watch)?.compare(output, &mut verdict)?;
            return Ok(verdict);
        }
        let mut found = Found::new(output, augmentation.schema())?;
        augmentation.write(watch, None, &mut |_, expected: RecordBatch| {
            found.compare(&expected, &mut verdict)
        })?;
        found.rest(&mut verdict)?;
        Ok(verdict)
    }

    /// Whether every row is what it should be.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.differing == 0
    }

    fn differ(&mut self, difference: Difference) {
        self.differing += 1;
        if self.first.len() < Self::SHOWN {
            self.first.push(difference);
        }
    }
}

impl How<'_> {
    fn augmentation<'a>(
        self,
        output: &Table,
        input: &'a Table,
        memory: u64,
        watch: &dyn Watch,
    ) -> Result<Augmentation<'a>> {
        let (of, option) = ("an output made with --fitted", "--fitted FILE.json");
        let given = self.manifest.and_then(|manifest| manifest.fitted.as_ref());
        let augmentation = match (self.fitted, self.manifest) {
            (Some(fitted), _) => {
                if let Some(expected) = given.filter(|hash| **hash != fitted.fingerprint()) {
                    let path = output.path().to_owned();
                    let why = format!("it was made with something else fitted: {expected}");
                    return Err(Error::BadManifest { path, why });
                }
                Augmentation::with(input, fitted, memory, watch)?
            }
            (None, Some(manifest)) if given.is_none() => {
                let mut settings = manifest.settings.clone();
                // A path from inside a file is not followed: the matrix is given, or there is none.
                if let MethodConfig::Ada(ada) = &mut settings.method
                    && let AnchorSource::Matrix(path) = &mut ada.anchors
                {
                    let of = "an output made with an anchor matrix";
                    let option = "--anchors matrix:FILE";
                    self.matrix.ok_or(Error::Needs { of, option })?.clone_into(path);
                }
                Augmentation::fit(input, &settings, memory, watch)?
            }
            (None, _) => return Err(Error::Needs { of, option }),
        };
        let got = &augmentation.profile().fingerprint;
        if let Some(manifest) = self.manifest.filter(|manifest| manifest.fingerprint != *got) {
            return Err(Error::OtherInput {
                path: output.path().to_owned(),
                expected: manifest.fingerprint.clone(),
                got: got.clone(),
            });
        }
        Ok(augmentation)
    }
}

/// The rows that there should be, in any order: how often each occurs, by a hash of all that it holds.
struct Unordered {
    expected: HashMap<u64, u32>,
    schema: SchemaRef,
}

impl Unordered {
    fn read(
        output: &Table,
        augmentation: &Augmentation<'_>,
        memory: u64,
        watch: &dyn Watch,
    ) -> Result<Self> {
        check_columns(output, augmentation.schema())?;
        let text = output.format().is_text();
        let mut expected = HashMap::new();
        augmentation.write(watch, None, &mut |_, rows: RecordBatch| {
            for hash in contents(&if text { in_text(&rows) } else { rows }) {
                *expected.entry(hash).or_insert(0) += 1;
            }
            // About what an entry takes.
            let needs = expected.len() as u64 * 32;
            if needs > memory {
                let what = "comparing rows that come in any order";
                return Err(Error::NeedsMemory { what, needs, memory });
            }
            Ok(())
        })?;
        Ok(Self { expected, schema: SchemaRef::clone(augmentation.schema()) })
    }

    fn compare(mut self, output: &Table, verdict: &mut Verdict) -> Result<()> {
        for rows in output.blocks() {
            let mut rows = rows?;
            if !output.format().is_text() {
                rows = as_schema(&rows, &self.schema);
            }
            for (row, hash) in contents(&rows).into_iter().enumerate() {
                if let Some(count) = self.expected.get_mut(&hash).filter(|count| **count > 0) {
                    *count -= 1;
                } else {
                    let name = |name| rows.column_by_name(name).map(|all| shown(all, row));
                    let found = match (name(COPY), name(SOURCE)) {
                        (Some(copy), Some(source)) => format!("copy {copy} of row {source}"),
                        _ => "a row".into(),
                    };
                    let (row, expected) = (verdict.rows, "no such row".into());
                    verdict.differ(Difference { row, column: None, found, expected });
                }
                verdict.rows += 1;
            }
        }
        verdict.absent = self.expected.values().map(|&count| u64::from(count)).sum();
        Ok(())
    }
}

/// A batch with its values as they would be written.
fn in_text(rows: &RecordBatch) -> RecordBatch {
    let schema = rows.schema();
    let columns = schema.fields().iter().zip(rows.columns()).map(|(field, column)| {
        let text = as_text(column).map_or_else(|_| ArrayRef::clone(column), |text| Arc::new(text));
        (field.name().clone(), text)
    });
    RecordBatch::try_from_iter(columns.collect::<Vec<_>>()).expect("the same rows")
}

/// A batch with columns of these types, as far as they can be had.
fn as_schema(rows: &RecordBatch, schema: &SchemaRef) -> RecordBatch {
    let columns = schema.fields().iter().zip(rows.columns()).map(|(field, column)| {
        let cast = arrow_cast::cast(column, field.data_type());
        (field.name().clone(), cast.unwrap_or_else(|_| ArrayRef::clone(column)))
    });
    RecordBatch::try_from_iter(columns.collect::<Vec<_>>()).expect("the same rows")
}

/// Refuses an output that has not the columns that it should have.
fn check_columns(output: &Table, schema: &SchemaRef) -> Result<()> {
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

/// The output, read along.
struct Found<'a> {
    blocks: Box<dyn Iterator<Item = Result<RecordBatch>> + Send + 'a>,
    schema: SchemaRef,
    /// Whether its values are compared as they are written.
    text: bool,
    pending: Option<RecordBatch>,
    /// The row of the output that is compared next.
    row: u64,
}

impl<'a> Found<'a> {
    fn new(output: &'a Table, schema: &SchemaRef) -> Result<Self> {
        check_columns(output, schema)?;
        let (schema, text) = (SchemaRef::clone(schema), output.format().is_text());
        Ok(Self { blocks: output.blocks(), schema, text, pending: None, row: 0 })
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

    /// Compares the rows of the output that some expected rows should be.
    fn compare(&mut self, expected: &RecordBatch, verdict: &mut Verdict) -> Result<()> {
        let keys = Keys::of(expected);
        let mut at = 0;
        while at < expected.num_rows() {
            let Some(found) = self.peek()? else {
                verdict.absent += (expected.num_rows() - at) as u64;
                return Ok(());
            };
            let found = found.clone();
            let found_keys = Keys::of(&found);
            // As many rows as agree on where they come from.
            let most = found.num_rows().min(expected.num_rows() - at);
            let same = (0..most).take_while(|&row| match (&keys, &found_keys) {
                (Some(keys), Some(found)) => keys.at(at + row) == found.at(row),
                _ => true,
            });
            let same = same.count();
            if same > 0 {
                self.compare_rows(&expected.slice(at, same), &found.slice(0, same), verdict);
                verdict.rows += same as u64;
                self.skip(same);
                at += same;
                continue;
            }
            let (Some(keys), Some(found_keys)) = (&keys, &found_keys) else { unreachable!("same") };
            if found_keys.at(0) > keys.at(at) {
                verdict.absent += 1;
                at += 1;
            } else {
                self.unexpected(verdict);
            }
        }
        Ok(())
    }

    /// A row of the output that nothing accounts for.
    fn unexpected(&mut self, verdict: &mut Verdict) {
        let front = self.pending.as_ref().expect("peeked");
        let found = match Keys::of(front) {
            Some(keys) => {
                format!("copy {} of row {}", shown_key(keys.at(0).0), shown_key(keys.at(0).1))
            }
            None => "a further row".into(),
        };
        let expected = "no such row here".into();
        verdict.differ(Difference { row: self.row, column: None, found, expected });
        verdict.rows += 1;
        self.skip(1);
    }

    /// Rows behind the last expected one.
    fn rest(&mut self, verdict: &mut Verdict) -> Result<()> {
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
                // Every value as it would be written; what could not be written differs.
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
            verdict.differ(Difference {
                row: self.row + row as u64,
                column: Some(self.schema.field(column).name().clone()),
                found: shown(found.column(column), row),
                expected: shown(expected.column(column), row),
            });
        }
    }
}

fn same(a: &ArrayRef, b: &ArrayRef) -> bool {
    a.data_type() == b.data_type() && a.to_data() == b.to_data()
}

fn shown(column: &ArrayRef, row: usize) -> String {
    if column.is_null(row) {
        return "missing".into();
    }
    let formatter = ArrayFormatter::try_new(column.as_ref(), &FormatOptions::new());
    formatter.map_or_else(|_| "?".into(), |formatter| formatter.value(row).to_string())
}

/// Which copy of which row each row says it is.
struct Keys {
    copies: ArrayRef,
    sources: ArrayRef,
}

impl Keys {
    fn of(batch: &RecordBatch) -> Option<Self> {
        // Numbers, also if they are written.
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

fn shown_key(key: Option<impl ToString>) -> String {
    key.map_or_else(|| "?".into(), |key| key.to_string())
}
