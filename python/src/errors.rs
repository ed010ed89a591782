//! What a caller got wrong, in the core's words.

use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;

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

/// What the command calls otherwise.
const RENAMED: [(&str, &str); 13] = [
    ("--rows-by content", "no key"),
    ("--clusters", "n_anchors"),
    ("--noise-targets", "targets"),
    ("--noise-features", "features"),
    ("--noise-absolute", "relative=False"),
    ("--gamma", "law"),
    ("--raw", "scale"),
    ("--standardize", "scale"),
    ("--seed", "random_state"),
    ("--folds", "cv"),
    ("--manifold", "layer"),
    ("--keep-originals", "keep_originals"),
    ("--per-batch", "per_batch"),
];

/// A message with options of the command as the names that they have in Python.
pub(crate) fn in_python(text: &str) -> String {
    let mut out = text.to_owned();
    for (option, name) in RENAMED {
        out = out.replace(option, name);
    }
    let mut said = String::with_capacity(out.len());
    let mut rest = out.as_str();
    while let Some(start) = rest.find("--") {
        said.push_str(&rest[..start]);
        let option = &rest[start + 2..];
        let end =
            option.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(option.len());
        if end == 0 {
            said.push_str("--");
        }
        said.push_str(&option[..end].replace('-', "_"));
        rest = &option[end..];
    }
    said + rest
}

fn message(error: &dyn std::fmt::Display, hint: Option<String>) -> String {
    let hint = hint
        .filter(|hint| !hint.contains("`windlass ") && !hint.contains("--null"))
        .map(|hint| format!("\nhint: {hint}"));
    in_python(&format!("{error}{}", hint.unwrap_or_default()))
}

/// Errors of the core as errors of Python.
pub(crate) trait Refusal {
    fn refuse(self) -> PyErr;
}

impl Refusal for windlass::Error {
    fn refuse(self) -> PyErr {
        InputError::new_err(in_python(&self.to_string()))
    }
}

impl Refusal for windlass_table::Error {
    fn refuse(self) -> PyErr {
        let hint = match &self {
            Self::BadTarget { .. } => {
                Some("leave such rows out; windlass.augment does with drop_missing_target".into())
            }
            Self::NoFeatures { .. } => Some(
                "integers with few values are names; X.astype(float) makes them numbers".into(),
            ),
            Self::NoRows { .. } => Some("a table needs at least one row".into()),
            error => error.hint(),
        };
        let text = message(&self, hint);
        match self {
            Self::Interrupted => PyKeyboardInterrupt::new_err(()),
            Self::NotNumeric { .. } | Self::NotCategories { .. } => InputTypeError::new_err(text),
            Self::NeedsMemory { .. } => NeedsMemoryError::new_err(text),
            error if error.is_fault() => PyOSError::new_err(text),
            _ => InputError::new_err(text),
        }
    }
}

impl Refusal for windlass_model::Error {
    fn refuse(self) -> PyErr {
        let text = message(&self, self.hint());
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
        let text = message(&self, self.hint());
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
        InputError::new_err(in_python(&self))
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
