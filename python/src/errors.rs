//! Errors of the core as Python exceptions.

use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use windlass::ParamStyle;

create_exception!(
    windlass,
    InputError,
    PyValueError,
    "An invalid value; the message contains the value and a hint."
);
create_exception!(
    windlass,
    NeedsMemoryError,
    InputError,
    "A method needs more memory than the limit."
);
create_exception!(
    windlass,
    InputTypeError,
    PyTypeError,
    "Data of an unsupported type; the message contains the type and a hint."
);

/// The text of an error with its hint; parameters are named in Python's style.
fn message(error: &dyn std::fmt::Display, hint: Option<String>) -> String {
    let hint = hint.map(|hint| format!("\nhint: {hint}"));
    format!("{error:+}{}", hint.unwrap_or_default())
}

/// Converts errors to Python exceptions.
pub(crate) trait Refusal {
    fn refuse(self) -> PyErr;
}

impl Refusal for windlass::Error {
    fn refuse(self) -> PyErr {
        InputError::new_err(message(&self, None))
    }
}

impl Refusal for windlass_table::Error {
    fn refuse(self) -> PyErr {
        let hint = match &self {
            Self::BadTarget { .. } => {
                Some("drop such rows; windlass.augment does with drop_missing_target".into())
            }
            Self::NoFeatures { .. } => {
                Some("text, dates, 0/1 columns and constants are not augmented".into())
            }
            Self::NoRows { .. } => Some("a table needs at least one row".into()),
            Self::NotAKey { .. } => {
                Some("choose a column of integers, text or times, or omit key".into())
            }
            Self::MissingKey { .. } | Self::SameKey { .. } => {
                Some("choose a column with a unique value in every row, or omit key".into())
            }
            error => error.hint(ParamStyle::Python),
        };
        let text = message(&self, hint);
        match self {
            Self::Interrupted => PyKeyboardInterrupt::new_err(()),
            Self::NotNumeric { .. } | Self::NotCategories { .. } => InputTypeError::new_err(text),
            Self::NeedsMemory { .. } | Self::TooLarge { .. } => NeedsMemoryError::new_err(text),
            error if error.is_fault() => PyOSError::new_err(text),
            _ => InputError::new_err(text),
        }
    }
}

impl Refusal for windlass_model::Error {
    fn refuse(self) -> PyErr {
        let text = message(&self, self.hint(ParamStyle::Python));
        match self {
            Self::Table(error) => error.refuse(),
            Self::OtherType { .. } => InputTypeError::new_err(text),
            error if error.is_fault() => PyOSError::new_err(text),
            _ => InputError::new_err(text),
        }
    }
}

impl Refusal for windlass_compare::Error {
    fn refuse(self) -> PyErr {
        let text = message(&self, self.hint(ParamStyle::Python));
        match self {
            Self::Model(error) => error.refuse(),
            Self::Interrupted => PyKeyboardInterrupt::new_err(()),
            error if error.is_fault() => PyOSError::new_err(text),
            _ => InputError::new_err(text),
        }
    }
}

/// Converts the message of a parser.
impl Refusal for String {
    fn refuse(self) -> PyErr {
        InputError::new_err(self)
    }
}

/// Converts any of these errors.
pub(crate) trait Refused<T> {
    fn refused(self) -> PyResult<T>;
}

impl<T, E: Refusal> Refused<T> for Result<T, E> {
    fn refused(self) -> PyResult<T> {
        self.map_err(Refusal::refuse)
    }
}
