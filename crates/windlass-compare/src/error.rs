//! Errors of comparisons and searches.

use std::fmt::{self, Display as _};
use std::path::{Path, PathBuf};

use windlass::ParamStyle;

/// A result with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An invalid argument or file, with the values needed to correct it.
///
/// Parameters are named in the [style](ParamStyle) of the format: `{}`, `{:#}` or `{:+}`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message names its fields")]
pub enum Error {
    /// An error of a model.
    #[error(transparent)]
    Model(#[from] windlass_model::Error),
    /// An error about a file.
    #[error(fmt = in_file)]
    InFile { path: PathBuf, source: Box<Error> },
    /// An error of a model in one split.
    #[error(fmt = in_split)]
    InSplit { split: String, source: windlass_model::Error },
    /// The target is constant in the training rows of a split.
    #[error("{split}: target `{column}` is {value} in all {rows} training rows")]
    ConstantTarget { split: String, column: String, value: f64, rows: usize },
    /// All weights of a split's training or test rows are 0.
    #[error("{split}: all weights of the {what} rows are 0")]
    NoWeight { split: String, what: &'static str },
    /// A training size larger than a training set.
    #[error("cannot train on {size} rows: the smallest training set has {rows}")]
    LargeSize { size: usize, rows: usize },
    /// A training size that is too small to hold out validation rows.
    #[error("cannot train on {size} rows: the minimum is {least}")]
    SmallSize { size: usize, least: usize },
    /// No network converged.
    #[error("all {runs} networks diverged: the loss is NaN or infinite")]
    AllDiverged { runs: usize },
    /// Predictions have the wrong shape.
    #[error(
        "{split}: predictions must have shape {expected:?}, the held-out rows and targets, got {got:?}"
    )]
    OtherShape { split: String, got: (usize, usize), expected: (usize, usize) },
    /// The models of this comparison are trained by the caller.
    #[error("the models of this comparison are trained by the caller")]
    ExternalModel,
    /// A comparison with fewer than two candidates, or without a reference.
    #[error("nothing to compare: {what}")]
    NothingToCompare { what: &'static str },
    /// A label of rows from elsewhere that cannot be used.
    #[error("the label `{label}` of rows cannot be used: {why}")]
    BadLabel { label: String, why: &'static str },
    /// A file with rows from elsewhere, none of which can be added.
    #[error("`{}` has no rows to add: {why}", path.display())]
    NoAddedRows { path: PathBuf, why: &'static str },
    /// A folder that already has results.
    #[error("`{}` already contains results", folder.display())]
    HasResults { folder: PathBuf },
    /// A folder without results to resume.
    #[error("`{}` contains no run to resume", folder.display())]
    NoResults { folder: PathBuf },
    /// Results of a run with other settings or tables.
    #[error("`{}` contains results with different {what}: {was}, now {is}", folder.display())]
    OtherResults { folder: PathBuf, what: &'static str, was: String, is: String },
    /// A folder that another process writes to.
    #[error("another process is writing to `{}`", folder.display())]
    Busy { folder: PathBuf },
    /// A file instead of a folder.
    #[error("`{}` is a file, not a folder", path.display())]
    NotAFolder { path: PathBuf },
    /// Results that cannot be read.
    #[error("cannot read the results in `{}`: {why}", path.display())]
    BadResults { path: PathBuf, why: String },
    /// A file that cannot be read or written.
    #[error("cannot {doing} `{}`: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: std::io::Error },
    /// A figure that cannot be drawn.
    #[error("cannot draw `{name}`: {why}")]
    Picture { name: String, why: String },
    /// Ctrl-C, or cancelled by the caller.
    #[error("interrupted")]
    Interrupted,
}

impl From<windlass_table::Error> for Error {
    fn from(error: windlass_table::Error) -> Self {
        Self::Model(error.into())
    }
}

fn in_file(path: &Path, source: &Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "`{}`: ", path.display())?;
    source.fmt(f)
}

fn in_split(
    split: &str,
    source: &windlass_model::Error,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    write!(f, "{split}: ")?;
    source.fmt(f)
}

impl Error {
    /// Adds the line of the row in the file that was read.
    pub(crate) fn locate(self, table: &windlass_table::LoadedTable) -> Self {
        match self {
            Self::Model(error) => Self::Model(error.locate(&table.places)),
            other => other,
        }
    }

    /// Adds the name of a file.
    #[must_use]
    pub fn in_file(self, path: &Path) -> Self {
        match self {
            Self::Interrupted => self,
            _ => Self::InFile { path: path.to_owned(), source: Box::new(self) },
        }
    }

    /// The next step for the user, with names of parameters in a style.
    #[must_use]
    pub fn hint(&self, style: ParamStyle) -> Option<String> {
        let param = |name| style.name(name);
        Some(match self {
            Self::Io { source, .. }
            | Self::Model(windlass_model::Error::Table(windlass_table::Error::Io {
                source, ..
            })) if source.kind() == std::io::ErrorKind::PermissionDenied => {
                "check the permissions of the file and its folder: ls -ld".into()
            }
            Self::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => {
                format!("free some space, then resume the saved runs with {}", param("resume"))
            }
            Self::Model(error) | Self::InSplit { source: error, .. } => return error.hint(style),
            Self::InFile { source, .. } => return source.hint(style),
            Self::ConstantTarget { .. } => format!(
                "check that this is the right column, or choose fewer {} or another {}",
                param("folds"),
                param("split")
            ),
            Self::NoWeight { .. } => format!(
                "remove groups of weight 0 from the table, or choose another {} or fewer {}",
                param("split"),
                param("folds")
            ),
            Self::LargeSize { .. } => format!("choose smaller {}, or `all`", param("sizes")),
            Self::SmallSize { .. } => format!("choose larger {}", param("sizes")),
            Self::AllDiverged { .. } => {
                format!("choose a smaller {}, or {} 1", param("lr"), param("clip_norm"))
            }
            Self::NothingToCompare { .. } => format!(
                "choose a network in {} and several {}, one of them none",
                param("models"),
                param("methods")
            ),
            Self::BadLabel { .. } => "choose another label".into(),
            Self::NoAddedRows { .. } => "pass a file of synthetic rows".into(),
            Self::HasResults { .. } => {
                format!(
                    "resume with {}, choose another folder, or overwrite with {}",
                    param("resume"),
                    param("force")
                )
            }
            Self::NoResults { .. } => format!("start a run with {}", param("output")),
            Self::OtherResults { .. } => format!(
                "choose another folder with {}, or repeat the original command",
                param("output")
            ),
            Self::BadResults { .. } => "delete this file, and run the command again".into(),
            Self::Busy { .. } => "wait for it to end".into(),
            Self::NotAFolder { .. } => {
                format!("choose another folder with {}", param("output"))
            }
            Self::OtherShape { .. } => {
                "return one prediction per held-out row, in the order of the rows".into()
            }
            Self::Picture { .. } | Self::Io { .. } | Self::ExternalModel | Self::Interrupted => {
                return None;
            }
        })
    }

    /// Whether this is a system error rather than invalid input.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        match self {
            Self::Model(error) | Self::InSplit { source: error, .. } => error.is_fault(),
            Self::InFile { source, .. } => source.is_fault(),
            Self::Picture { .. } => true,
            Self::Io { source, .. } => source.kind() != std::io::ErrorKind::NotFound,
            _ => false,
        }
    }
}
