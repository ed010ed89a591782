//! Which targets are rare, as a user writes it.

use std::path::Path;

use windlass::{ControlPoint, Error as CoreError, ParamName, RareSpec, Relevance};

use crate::column::{is_numeric, matrix, type_name};
use crate::io::read::table::{ReadOptions, Table};
use crate::{Error, Result};

/// One of the words `high`, `low`, `both` and `density`, or the control points of a file: a table with the columns `y`,
/// `phi` and, optionally, `slope`.
///
/// ```
/// use windlass_table::read_rare;
///
/// assert_eq!(read_rare("high")?.to_string(), "high");
/// let file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
/// std::fs::write(file.path(), "y,phi\n10,0\n20,1\n").unwrap();
/// let targets = read_rare(file.path().to_str().unwrap())?;
/// assert_eq!(targets.relevance(&[0.0, 15.0, 20.0])?.at(15.0), 0.5);
/// # Ok::<(), windlass_table::Error>(())
/// ```
pub fn read_rare(text: &str) -> Result<RareSpec> {
    if let Some(named) = RareSpec::named(text) {
        return Ok(named);
    }
    let path = Path::new(text);
    if !path.exists() {
        return Err(Error::UnknownRare { text: text.to_owned() });
    }
    read_points(path).map(RareSpec::Points)
}

fn read_points(path: &Path) -> Result<Relevance> {
    let table = Table::open(&[path.to_owned()], &ReadOptions::default())?;
    let schema = table.schema();
    let refuse = |row, why: String| Error::BadRelevance { path: path.to_owned(), row, why };
    let mut columns = vec![];
    for name in ["y", "phi", "slope"] {
        let Ok(place) = schema.index_of(name) else {
            if name == "slope" {
                continue;
            }
            return Err(refuse(None, format!("it has no column `{name}`")));
        };
        let data_type = schema.field(place).data_type();
        if !is_numeric(data_type) {
            let (column, holds) = (name.to_owned(), type_name(data_type));
            let (param, example) = (ParamName("rare"), String::new());
            let Error::NotNumeric { holds, example, .. } =
                table.with_example(Error::NotNumeric { column, param, holds, example })
            else {
                unreachable!("an example is added to the same error")
            };
            let why = format!("column `{name}` is not numeric: it contains {holds}{example}");
            return Err(refuse(None, why));
        }
        columns.push(place);
    }
    let mut points = vec![];
    for batch in table.blocks() {
        for row in matrix(&batch?, &columns).rows() {
            // A missing slope is derived from the neighbors, like that of a file without slopes.
            let slope = row.get(2).copied().filter(|slope| !slope.is_nan());
            points.push(ControlPoint { y: row[0], phi: row[1], slope });
        }
    }
    Relevance::from_points(&points).map_err(|error| match error {
        CoreError::BadControlPoint { point, why } => {
            refuse(Some(table.places().place(point as u64).to_string()), why.to_owned())
        }
        other => refuse(None, other.to_string()),
    })
}
