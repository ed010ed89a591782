//! The place of a row for messages: its number from 1, and its line in a text file.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// A row for messages: `3`, or `3 (line 4)` in a text file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowPlace {
    /// Its index in the table, from 0.
    index: u64,
    /// Boxed, because it is part of errors.
    line: Option<Box<Line>>,
}

/// A line of a text file.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    /// From 1.
    number: u64,
    /// The file, if there are several.
    path: Option<PathBuf>,
}

impl RowPlace {
    /// The index of the row, from 0.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// Its line in the text file, from 1.
    #[must_use]
    pub fn line(&self) -> Option<u64> {
        self.line.as_ref().map(|line| line.number)
    }
}

impl From<u64> for RowPlace {
    fn from(index: u64) -> Self {
        Self { index, line: None }
    }
}

impl From<usize> for RowPlace {
    fn from(index: usize) -> Self {
        (index as u64).into()
    }
}

impl fmt::Display for RowPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.index.saturating_add(1))?;
        let Some(Line { number, path }) = self.line.as_deref() else { return Ok(()) };
        match path {
            None => write!(f, " (line {number})"),
            Some(path) => write!(f, " (line {number} of `{}`)", path.display()),
        }
    }
}

/// The places of the rows of a table.
#[derive(Debug, Clone, Default)]
pub struct RowPlaces {
    lines: Option<Arc<LineIndex>>,
    /// The row numbers, if some rows were dropped.
    numbers: Option<Arc<[u64]>>,
}

impl RowPlaces {
    pub(crate) fn new(lines: Option<Arc<LineIndex>>) -> Self {
        Self { lines, numbers: None }
    }

    /// The places of the rows with these numbers.
    pub(crate) fn with_numbers(self, numbers: Vec<u64>) -> Self {
        Self { numbers: Some(numbers.into()), ..self }
    }

    /// The places of some of these rows.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        let number = |&row: &usize| match &self.numbers {
            Some(numbers) => numbers[row],
            None => row as u64,
        };
        self.clone().with_numbers(rows.iter().map(number).collect())
    }

    /// The places of `rows` rows, followed by those of `added` rows of no file.
    pub(crate) fn with_added(&self, rows: usize, added: usize) -> Self {
        let own: Vec<u64> = (0..rows as u64).map(|row| self.place(row).index()).collect();
        let next = own.iter().max().map_or(0, |last| last + 1);
        let numbers = own.into_iter().chain(next..next + added as u64).collect();
        self.clone().with_numbers(numbers)
    }

    /// The place of a row by its index.
    #[must_use]
    pub fn place(&self, index: u64) -> RowPlace {
        let number = |numbers: &Arc<[u64]>| numbers.get(usize::try_from(index).ok()?).copied();
        let index = self.numbers.as_ref().and_then(number).unwrap_or(index);
        let line = self.lines.as_ref().and_then(|lines| lines.line(index));
        RowPlace { index, line: line.map(Box::new) }
    }
}

/// The lines of the rows of text files.
#[derive(Debug, Default)]
pub(crate) struct LineIndex {
    chunks: Vec<ChunkLines>,
    rows: u64,
    paths: Vec<PathBuf>,
    /// Number of rows whose line is stored.
    stored: usize,
}

/// The lines of consecutive rows.
#[derive(Debug)]
struct ChunkLines {
    file: usize,
    first_row: u64,
    first_line: u64,
    lines: Lines,
}

#[derive(Debug)]
pub(crate) enum Lines {
    /// A line for each row.
    Consecutive,
    /// The offset of each row from the first line, if there are empty lines or fields of several lines.
    Each(Vec<u32>),
    Unknown,
}

impl LineIndex {
    const MOST: usize = 1 << 22;

    pub(crate) fn new(paths: Vec<PathBuf>) -> Self {
        Self { paths, ..Self::default() }
    }

    /// Adds the next rows.
    pub(crate) fn add(&mut self, file: usize, rows: usize, first_line: u64, lines: Lines) {
        let lines = match lines {
            Lines::Each(each) if self.stored + each.len() <= Self::MOST => {
                self.stored += each.len();
                Lines::Each(each)
            }
            Lines::Each(_) => Lines::Unknown,
            other => other,
        };
        self.chunks.push(ChunkLines { file, first_row: self.rows, first_line, lines });
        self.rows += rows as u64;
    }

    fn line(&self, row: u64) -> Option<Line> {
        if row >= self.rows {
            return None;
        }
        let after = self.chunks.partition_point(|chunk| chunk.first_row <= row);
        let chunk = &self.chunks[after.checked_sub(1)?];
        let offset = row - chunk.first_row;
        let lines = match &chunk.lines {
            Lines::Consecutive => offset,
            Lines::Each(each) => (*each.get(usize::try_from(offset).ok()?)?).into(),
            Lines::Unknown => return None,
        };
        let path = (self.paths.len() > 1).then(|| self.paths[chunk.file].clone());
        Some(Line { number: chunk.first_line + lines, path })
    }
}
