//! Tables in the first sheet of an XLS workbook, with a header row.

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use calamine::{Data, DataType, Range, Reader, Xls};

use super::{DataSet, Error, FileBytes, Result, check_rows};

/// Reads a table of numbers.
pub(super) fn read(
    set: &DataSet,
    contents: &FileBytes,
    columns: &[&'static str],
) -> Result<RecordBatch> {
    // Verify before decoding: the library then sees only known bytes.
    contents.verify()?;
    let path = &contents.path;
    let refused = |why: String| Error::NotAWorkbook { path: path.clone(), why };
    let mut book = Xls::new(Cursor::new(&contents.bytes)).map_err(|e| refused(e.to_string()))?;
    let sheet = book.worksheet_range_at(0).ok_or_else(|| refused("it has none".into()))?;
    table(set, path, columns, &sheet.map_err(|e| refused(e.to_string()))?)
}

fn table(
    set: &DataSet,
    path: &Path,
    columns: &[&'static str],
    sheet: &Range<Data>,
) -> Result<RecordBatch> {
    let mut values = vec![Vec::with_capacity(set.rows); columns.len()];
    for (line, row) in (1..).zip(sheet.rows()).skip(1) {
        for (at, &column) in columns.iter().enumerate() {
            let cell = row.get(at);
            let cell = cell.ok_or_else(|| Error::ShortLine { path: path.into(), line, column })?;
            let number = if cell.is_float() || cell.is_int() { cell.as_f64() } else { None };
            values[at].push(number.ok_or_else(|| Error::BadValue {
                path: path.into(),
                line,
                column: column.into(),
                value: cell.to_string().chars().take(40).collect(),
                expected: "a number",
            })?);
        }
    }
    check_rows(set, path, sheet.height().saturating_sub(1), sheet.height())?;
    let arrays = values.into_iter().map(|values| Arc::new(Float64Array::from(values)) as ArrayRef);
    let named = columns.iter().zip(arrays);
    Ok(RecordBatch::try_from_iter(named).expect("every row gave every column a value"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use calamine::{Cell, Data, Range};

    use super::table;
    use crate::data::named;

    /// What is said of a sheet of two columns whose second row ends with this cell.
    fn said_of(cell: Data) -> String {
        let name = |text: &str| Data::String(text.into());
        let cells = vec![
            Cell::new((0, 0), name("a")),
            Cell::new((0, 1), name("b")),
            Cell::new((1, 0), Data::Int(3)),
            Cell::new((1, 1), cell),
        ];
        let set = named("concrete").unwrap();
        let sheet = Range::from_sparse(cells);
        table(set, Path::new("book.xls"), &["a", "b"], &sheet).unwrap_err().to_string()
    }

    #[test]
    fn cells_that_are_no_numbers_are_refused() {
        let text = "`book.xls`, line 2, column `b`: `1.5x` is not a number";
        assert_eq!(said_of(Data::String("1.5x".into())), text);
        assert_eq!(said_of(Data::Empty), "`book.xls`, line 2, column `b`: `` is not a number");
    }

    #[test]
    fn a_sheet_of_too_few_rows_is_refused() {
        let text = "`book.xls` ends with line 2: expected 1030 rows, got 1";
        assert_eq!(said_of(Data::Float(1.5)), text);
    }
}
