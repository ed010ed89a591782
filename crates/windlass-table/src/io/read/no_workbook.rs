//! In place of `workbook`, without the feature `spreadsheets`.

use super::file::Input;
use super::sheet_name::SheetName;
use crate::io::format::Format;
use crate::{Error, Result};

pub(super) type Cells = Vec<(usize, String)>;

pub(super) struct Sheet {
    pub(super) name: String,
    pub(super) rows: Vec<Cells>,
    pub(super) others: Vec<String>,
}

pub(super) fn read(input: &Input, _: Format, _: Option<&SheetName>, _: u64) -> Result<Sheet> {
    let (path, needs, feature) = (input.path.clone(), "is a spreadsheet", "spreadsheets");
    Err(Error::MissingFeature { path, needs, feature })
}
