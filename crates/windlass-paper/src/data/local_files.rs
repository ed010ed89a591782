//! Files that users provide, because their licenses forbid redistribution.

use std::path::{Path, PathBuf};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_select::concat::concat_batches;
use windlass_table::{ReadOptions, Table, to_strings};

use super::{Error, Result};

/// Reads a text file into memory.
pub(super) fn read_table(path: &Path, options: &ReadOptions) -> Result<RecordBatch, crate::Error> {
    let table = Table::open(&[path.to_owned()], options)?;
    let blocks = table.blocks().collect::<windlass_table::Result<Vec<_>>>()?;
    Ok(concat_batches(table.schema(), &blocks).expect("blocks of one table"))
}

/// Parses a text column as numbers; `first` is the line of its first row, for messages.
pub(super) fn parse_numbers(
    column: &ArrayRef,
    path: &Path,
    name: &str,
    first: usize,
) -> Result<Vec<f64>> {
    let words = to_strings(column);
    let number = |(row, word): (usize, Option<&str>)| {
        let word = word.unwrap_or_default();
        let value = word.trim().parse().ok().filter(|value: &f64| value.is_finite());
        value.ok_or_else(|| Error::BadValue {
            path: path.to_owned(),
            line: first + row,
            column: name.to_owned(),
            value: word.chars().take(40).collect(),
            expected: "a number",
        })
    };
    words.iter().enumerate().map(number).collect()
}

/// Finds a file in the first of these directories that has it under one of its names.
pub(super) fn find_file(
    names: &[&'static str],
    source_of: &'static str,
    folders: &[PathBuf],
) -> Result<PathBuf> {
    let places = folders.iter().flat_map(|folder| names.iter().map(move |name| folder.join(name)));
    places.into_iter().find(|place| place.is_file()).ok_or_else(|| Error::NotPut {
        file: names[0],
        source_of,
        folders: folders.to_vec(),
    })
}
