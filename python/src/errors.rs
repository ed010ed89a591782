//! What a caller got wrong, in the core's words.

use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use windlass::ParamStyle;

create_exception!(
    windlass,
    InputError,
    PyValueError,
    "A value that cannot be used; the message says which, and what to do."
);
create_exception!(
    windlass,
    NeedsMemoryError,
    InputError,
    "A method needs more of a table in memory than was allowed."
);
create_exception!(
    windlass,
    InputTypeError,
    PyTypeError,
    "Data of a kind that cannot be used; the message says which, and what to do."
);

/// The text of an error, which names parameters in Python's style, and what to do.
fn message(error: &dyn std::fmt::Display, hint: Option<String>) -> String {
    let hint = hint.map(|hint| format!("\nhint: {hint}"));
    format!("{error:+}{}", hint.unwrap_or_default())
}

/// Errors of the core as errors of Python.
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
                Some("leave such rows out; windlass.augment does with drop_missing_target".into())
            }
            Self::NoFeatures { .. } => {
                Some("text, dates, columns of 0 and 1 and constants are not moved".into())
            }
            Self::NoRows { .. } => Some("a table needs at least one row".into()),
            Self::NotAKey { .. } => {
                Some("a key is a column of integers, text or times; or no key".into())
            }
            Self::MissingKey { .. } | Self::SameKey { .. } => {
                Some("a key has another value in every row; or no key".into())
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

/// What parsers of words say.
impl Refusal for String {
    fn refuse(self) -> PyErr {
        InputError::new_err(self)
    }
}

/// Any of these errors, turned.
pub(crate) trait Refused<T> {
    fn refused(self) -> PyResult<T>;
}

impl<T, E: Refusal> Refused<T> for Result<T, E> {
    fn refused(self) -> PyResult<T> {
        self.map_err(Refusal::refuse)
    }
}
