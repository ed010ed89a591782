//! Spreadsheets: a sheet becomes text, which is read like CSV.

use std::path::Path;

use super::file::Input;
use super::guard::catch_panic;
use super::sheet_name::SheetName;
use super::workbook::{self, Cells};
use crate::io::format::Format;
use crate::note::Note;
use crate::{Error, Result};

/// A sheet as CSV with the names of columns in the first line, unless there is no header.
pub(super) fn to_text(
    input: &Input,
    format: Format,
    wanted: Option<&SheetName>,
    header: bool,
    memory: u64,
    notes: &mut Vec<Note>,
) -> Result<Input> {
    let path = &input.path;
    let read = || workbook::read(input, format, wanted, memory);
    let mut sheet = catch_panic(read).map_err(Error::damaged(path))??;
    if !sheet.others.is_empty() && wanted.is_none() {
        let (sheet, others) = (sheet.name.clone(), std::mem::take(&mut sheet.others));
        notes.push(Note::Sheets { path: path.clone(), sheet, others });
    }
    let mut rows = sheet.rows;
    if header {
        skip_titles(&mut rows, path, notes);
    }
    input.with_text(&write_csv(&rows, header))
}

/// Removes rows above the header that have one text in the first column.
fn skip_titles(rows: &mut Vec<Cells>, path: &Path, notes: &mut Vec<Note>) {
    let first_column = rows.iter().filter_map(|row| row.first()).map(|(column, _)| *column).min();
    let titles = rows.windows(2).take_while(|pair| {
        let (title, next) = (&pair[0], &pair[1]);
        let is_text = |text: &str| text.parse::<f64>().is_err();
        let single = matches!(&title[..], [(column, text)]
            if Some(*column) == first_column && is_text(text));
        let header = next.len() > 1 && next.iter().all(|(_, text)| is_text(text));
        single && (header || next.len() == 1)
    });
    let titles = titles.count();
    // A table of one column has no title.
    if rows.get(titles).is_some_and(|header| header.len() > 1) {
        for (_, text) in rows.drain(..titles).flatten() {
            notes.push(Note::Title { path: path.to_owned(), text });
        }
    }
}

fn write_csv(rows: &[Cells], header: bool) -> Vec<u8> {
    let mut used = vec![];
    for (column, _) in rows.iter().flatten() {
        let column = *column;
        if used.len() <= column {
            used.resize(column + 1, false);
        }
        used[column] = true;
    }
    let mut out = vec![];
    for (number, row) in rows.iter().enumerate() {
        let mut cells = row.iter().peekable();
        let columns = (0..used.len()).filter(|&column| used[column]);
        for (place, column) in columns.enumerate() {
            if place > 0 {
                out.push(b',');
            }
            match cells.next_if(|(own, _)| *own == column) {
                Some((_, text)) => write_field(text, &mut out),
                None if header && number == 0 => {
                    out.extend_from_slice(format!("column_{}", place + 1).as_bytes());
                }
                None => {}
            }
        }
        out.push(b'\n');
    }
    out
}

fn write_field(text: &str, out: &mut Vec<u8>) {
    if !text.contains([',', '"', '\n', '\r']) {
        return out.extend_from_slice(text.as_bytes());
    }
    out.push(b'"');
    out.extend_from_slice(text.replace('"', "\"\"").as_bytes());
    out.push(b'"');
}
