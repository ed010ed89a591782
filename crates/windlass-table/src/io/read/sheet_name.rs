//! The sheet of a workbook to read.

/// A sheet of a workbook, by its name or its number from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SheetName(String);

impl std::fmt::Display for SheetName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "`{}`", self.0)
    }
}

impl SheetName {
    /// A sheet by name, or by number if no sheet has that name.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The place of the sheet among names.
    #[cfg(feature = "spreadsheets")]
    pub(super) fn find<S: AsRef<str>>(&self, names: &[S]) -> Option<usize> {
        let by_name = names.iter().position(|name| name.as_ref() == self.0);
        by_name.or_else(|| {
            let number = self.0.parse::<usize>().ok()?;
            number.checked_sub(1).filter(|&place| place < names.len())
        })
    }
}
