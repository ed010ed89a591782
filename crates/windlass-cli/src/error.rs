//! Errors of the command. Parameters are shown as options, `--clusters`.

use std::path::PathBuf;

use windlass::{ParamName, ParamStyle};
use windlass_compare::Error as CompareError;
use windlass_model::Error as ModelError;
use windlass_table::Error as TableError;

use crate::terminal::{self, Refusal};

/// A result with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An invalid option, or an error of a library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message names its fields")]
pub enum Error {
    /// An error of a comparison, a model or a table.
    #[error(transparent)]
    Library(#[from] CompareError),
    /// An option that does not apply to the rest of the command line.
    #[error("{option} does not apply to {to}")]
    DoesNotApply { option: String, to: &'static str },
    /// A required option is missing.
    #[error("{of} needs {option}")]
    Needs { of: &'static str, option: &'static str },
    /// A file that Windlass did not write.
    #[error("`{}` was not written by Windlass", path.display())]
    NotWritten { path: PathBuf },
    /// No target column.
    #[error("--target is missing: name the column to predict")]
    NoTarget { path: PathBuf, columns: Vec<String> },
    /// A memory limit below the minimum.
    #[error("--memory must be at least {} MiB", least >> 20)]
    LittleMemory { least: u64 },
    /// A plot with an unknown file name extension.
    #[error("unknown plot format of `{}`", path.display())]
    PlotExtension { path: PathBuf },
    /// A PNG, from a build without the feature.
    #[error("`{}` would be a PNG, which this build does not write", path.display())]
    NoPng { path: PathBuf },
    /// The page, in a build without the feature.
    #[error("this build has no Windlass Studio")]
    NoStudio,
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
            Self::DoesNotApply { .. } => "omit it".into(),
            Self::NoTarget { path, columns } => {
                format!("the columns of `{}` are {}", path.display(), columns.join(", "))
            }
            Self::Needs { .. } => "add it".into(),
            Self::NotWritten { .. } => "`windlass inspect` shows the columns of any table".into(),
            Self::LittleMemory { .. } => "omit it for the default of 512 MiB".into(),
            Self::PlotExtension { .. } => "use the extension .svg or .png".into(),
            Self::NoPng { .. } => {
                "use the extension .svg; the Python package and release binaries write PNG, or \
                                   `cargo install windlass-cli --features png`"
                    .into()
            }
            Self::NoStudio => {
                "the Python package and release binaries have it; otherwise add `--features studio` to \
                               `cargo run` or `cargo install`"
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

/// The hint for users of the command, if it differs from the hint of the library.
fn command_hint(error: &CompareError) -> Option<String> {
    let error = match error {
        CompareError::Model(error) | CompareError::InSplit { source: error, .. } => error,
        CompareError::InFile { source, .. } => return command_hint(source),
        _ => return None,
    };
    let hint = match error {
        ModelError::NotAModel { .. } => "`windlass train` writes model files",
        ModelError::OtherType { .. } => {
            "convert the column, or set markers of missing values with --null"
        }
        ModelError::Table(TableError::NotNumeric { param: ParamName("target"), .. }) => {
            "targets must be numeric; set markers of missing values with --null"
        }
        // There is no option to omit a column from predictions.
        ModelError::Table(TableError::NoSuchType { .. } | TableError::ReservedColumn { .. })
            if terminal::arguments().first().is_some_and(|command| command == "predict") =>
        {
            "write Parquet or Arrow, or remove the column from the table"
        }
        ModelError::Table(TableError::NoFeatures { .. }) => {
            "--continuous COLUMN makes a column of 0/1 or of dates continuous; `windlass inspect` shows all roles"
        }
        ModelError::Table(TableError::Needs { param: ParamName("anchors"), .. }) => {
            "set --anchors matrix:FILE"
        }
        ModelError::Table(TableError::Needs { param: ParamName("fitted"), .. }) => {
            "set --fitted FILE.json"
        }
        ModelError::Table(TableError::Needs { .. } | TableError::Setting(_)) => {
            "see `windlass augment --help`"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}
