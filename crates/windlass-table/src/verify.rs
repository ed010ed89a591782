//! Is an output what it says it is? Every row is made again and compared, bit by bit.
//!
//! The output may have lost rows (a head, a filter) but not their order.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{DataType, SchemaRef};
use serde::Serialize;

use crate::augment::{Manifest, Watch};
use crate::provenance::{COPY, SOURCE};
use crate::settings::{AnchorChoice, Method};
use crate::sink::as_text;
use crate::{Augmentation, Error, Result, Table};

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

impl Verdict {
    const SHOWN: usize = 10;

    /// Makes the rows of an output again, from its input, its manifest and, if it had one, its anchor
    /// matrix, and compares. An output in text is read [as text](crate::ReadOptions::as_text).
    pub fn of(
        output: &Table,
        input: &Table,
        manifest: &Manifest,
        matrix: Option<&Path>,
        memory: u64,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let mut settings = manifest.settings.clone();
        // A path from inside a file is not followed: the matrix is given, or there is none.
        if let Method::Ada(ada) = &mut settings.method
            && let AnchorChoice::Matrix(path) = &mut ada.anchors
        {
            let (of, option) = ("an output made with an anchor matrix", "--anchors matrix:FILE");
            matrix.ok_or(Error::Needs { of, option })?.clone_into(path);
        }
        let augmentation = Augmentation::fit(input, &settings, memory, watch)?;
        let fingerprint = &augmentation.profile().fingerprint;
        if *fingerprint != manifest.fingerprint {
            return Err(Error::OtherInput {
                path: output.path().to_owned(),
                expected: manifest.fingerprint.clone(),
                got: fingerprint.clone(),
            });
        }
        let mut found = Found::new(output, augmentation.schema())?;
        let mut verdict = Self::default();
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
        let names = |schema: &SchemaRef| -> Vec<String> {
            schema.fields().iter().map(|field| field.name().clone()).collect()
        };
        if names(output.schema()) != names(schema) {
            return Err(Error::BadManifest {
                path: output.path().to_owned(),
                why: format!(
                    "its columns are {}, but would be {}",
                    names(output.schema()).join(", "),
                    names(schema).join(", ")
                ),
            });
        }
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
