//! Errors of the command, which names parameters as options.

use std::path::PathBuf;

use windlass::{ParamName, ParamStyle};
use windlass_compare::Error as CompareError;
use windlass_model::Error as ModelError;
use windlass_table::Error as TableError;

use crate::terminal::{self, Refusal};

/// A result with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A refused option, or an error of a library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message names its fields")]
pub enum Error {
    /// A comparison, a model or a table was refused.
    #[error(transparent)]
    Library(#[from] CompareError),
    /// An option that another makes meaningless.
    #[error("{option} does not apply to {to}")]
    DoesNotApply { option: String, to: &'static str },
    /// An option that is missing.
    #[error("{of} needs {option}")]
    Needs { of: &'static str, option: &'static str },
    /// A file of another program.
    #[error("`{}` was not written by Windlass", path.display())]
    NotWritten { path: PathBuf },
    /// The column to predict is not given.
    #[error("--target is missing: which column is to be predicted?")]
    NoTarget { path: PathBuf, columns: Vec<String> },
    /// A memory limit below which nothing can be done.
    #[error("--memory must be at least {} MiB", least >> 20)]
    LittleMemory { least: u64 },
    /// A file name extension without a known format of plots.
    #[error("cannot tell the format of the picture `{}` from its name", path.display())]
    PlotExtension { path: PathBuf },
    /// A PNG, from a build without the feature.
    #[error("`{}` would be a PNG, which this build does not write", path.display())]
    NoPng { path: PathBuf },
    /// A plot that cannot be drawn.
    #[error("cannot draw `{}`: {why}", path.display())]
    Plot { path: PathBuf, why: String },
}

impl From<TableError> for Error {
    fn from(error: TableError) -> Self {
        Self::Library(error.into())
    }
}

impl From<ModelError> for Error {
    fn from(error: ModelError) -> Self {
        Self::Library(error.into())
    }
}

impl From<windlass::Error> for Error {
    fn from(error: windlass::Error) -> Self {
        TableError::from(error).into()
    }
}

impl Error {
    pub(crate) fn does_not_apply(option: impl Into<String>, to: &'static str) -> Self {
        Self::DoesNotApply { option: option.into(), to }
    }
}

impl Refusal for Error {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Library(error) => return Refusal::hint(error),
            Self::DoesNotApply { .. } => "leave it out".into(),
            Self::NoTarget { path, columns } => {
                format!("the columns of `{}` are {}", path.display(), columns.join(", "))
            }
            Self::Needs { .. } => "add it".into(),
            Self::NotWritten { .. } => "`windlass inspect` shows the columns of any table".into(),
            Self::LittleMemory { .. } => "leave it out for 512 MiB".into(),
            Self::PlotExtension { .. } => "name it .svg or .png".into(),
            Self::NoPng { .. } => {
                "name it .svg; the Python package and release binaries write PNG, or \
                                   `cargo install windlass-cli --features png`"
                    .into()
            }
            Self::Plot { .. } => return None,
        })
    }

    fn exit_code(&self) -> std::result::Result<u8, u8> {
        match self {
            Self::Library(error) => error.exit_code(),
            Self::Plot { .. } => Ok(2),
            _ => Ok(1),
        }
    }
}

impl Refusal for CompareError {
    fn hint(&self) -> Option<String> {
        command_hint(self).or_else(|| self.hint(ParamStyle::Command))
    }

    fn exit_code(&self) -> std::result::Result<u8, u8> {
        match self {
            Self::Model(ModelError::Table(error)) if error.is_closed_pipe() => Err(0),
            Self::Model(ModelError::Table(TableError::Interrupted)) | Self::Interrupted => Err(130),
            _ => Ok(if self.is_fault() { 2 } else { 1 }),
        }
    }
}

/// The next step for users of the command, if it differs from that for users of the libraries.
fn command_hint(error: &CompareError) -> Option<String> {
    let error = match error {
        CompareError::Model(error) | CompareError::InSplit { source: error, .. } => error,
        CompareError::InFile { source, .. } => return command_hint(source),
        _ => return None,
    };
    let hint = match error {
        ModelError::NotAModel { .. } => "models are made by `windlass train`",
        ModelError::OtherType { .. } => "convert the column, or mark what is missing with --null",
        ModelError::Table(TableError::NotNumeric { param: ParamName("target"), .. }) => {
            "a target is a number; set other markers of missing values with --null"
        }
        // There is no option to omit a column from predictions.
        ModelError::Table(TableError::NoSuchType { .. } | TableError::ReservedColumn { .. })
            if terminal::arguments().first().is_some_and(|command| command == "predict") =>
        {
            "write Parquet or Arrow, or remove the column from the table"
        }
        ModelError::Table(TableError::NoFeatures { .. }) => {
            "--continuous COLUMN moves a column of 0 and 1 or of dates; `windlass inspect` shows all roles"
        }
        ModelError::Table(TableError::Needs { param: ParamName("anchors"), .. }) => {
            "name the matrix: --anchors matrix:FILE"
        }
        ModelError::Table(TableError::Needs { param: ParamName("fitted"), .. }) => {
            "name the file: --fitted FILE.json"
        }
        ModelError::Table(TableError::Needs { .. } | TableError::Setting(_)) => {
            "`windlass augment --help` explains it"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}
