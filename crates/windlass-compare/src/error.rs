//! What can be wrong with a comparison.

use std::fmt::{self, Display as _};
use std::path::{Path, PathBuf};

use windlass::ParamStyle;

/// The result of something that can be refused.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What the caller got wrong, with the values needed to put it right.
///
/// Parameters are named in the [style](ParamStyle) of the format: `{}`, `{:#}` or `{:+}`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message names its fields")]
pub enum Error {
    /// A model was refused.
    #[error(transparent)]
    Model(#[from] windlass_model::Error),
    /// Something was refused about a file.
    #[error(fmt = in_file)]
    InFile { path: PathBuf, source: Box<Error> },
    /// A model was refused in one split.
    #[error(fmt = in_split)]
    InSplit { split: String, source: windlass_model::Error },
    /// A split that has nothing to learn.
    #[error("{split}: target `{column}` is {value} in all {rows} training rows")]
    ConstantTarget { split: String, column: String, value: f64, rows: usize },
    /// A split whose rows count for nothing.
    #[error("{split}: the {what} rows have no weight: all their weights are 0")]
    NoWeight { split: String, what: &'static str },
    /// More training rows than there are.
    #[error("cannot train on {size} rows: the smallest training part has {rows}")]
    LargeSize { size: usize, rows: usize },
    /// Fewer training rows than can be parted.
    #[error("cannot train on {size} rows: at least {least} are needed")]
    SmallSize { size: usize, least: usize },
    /// No network converged.
    #[error("all {runs} trainings of networks diverged: the loss was no number any more")]
    AllDiverged { runs: usize },
    /// Predictions are not those of the held-out rows.
    #[error("{split}: {} rows of {} predictions, where {} rows of {} are held out", got.0, got.1, expected.0, expected.1)]
    OtherShape { split: String, got: (usize, usize), expected: (usize, usize) },
    /// The caller trains the model.
    #[error("its models are trained elsewhere")]
    ExternalModel,
    /// A comparison without what to compare with.
    #[error("nothing to compare: there is {what}")]
    NothingToCompare { what: &'static str },
    /// A folder that has results already.
    #[error("`{}` has results of a comparison already", folder.display())]
    HasResults { folder: PathBuf },
    /// A folder that has no results.
    #[error("`{}` has no comparison to go on with", folder.display())]
    NoResults { folder: PathBuf },
    /// Results of something else.
    #[error("`{}` has results of other {what}: {was}, now {is}", folder.display())]
    OtherResults { folder: PathBuf, what: &'static str, was: String, is: String },
    /// A folder that another process writes to.
    #[error("another process writes to `{}`", folder.display())]
    Busy { folder: PathBuf },
    /// A file where a folder is asked for.
    #[error("`{}` is a file, not a folder", path.display())]
    NotAFolder { path: PathBuf },
    /// Results that cannot be read.
    #[error("`{}` is not a file of results: {why}", path.display())]
    BadResults { path: PathBuf, why: String },
    /// A file that cannot be read or written.
    #[error("cannot {doing} `{}`: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: std::io::Error },
    /// A picture that cannot be drawn.
    #[error("cannot draw `{name}`: {why}")]
    Picture { name: String, why: String },
    /// It was ended.
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
    /// The same, with the place of its row in the table that was read.
    pub(crate) fn locate(self, table: &windlass_table::LoadedTable) -> Self {
        match self {
            Self::Model(error) => Self::Model(error.locate(&table.places)),
            other => other,
        }
    }

    /// The same, with the name of the file that it is about.
    #[must_use]
    pub fn in_file(self, path: &Path) -> Self {
        match self {
            Self::Interrupted => self,
            _ => Self::InFile { path: path.to_owned(), source: Box::new(self) },
        }
    }

    /// What to do, with names of parameters in a style.
    #[must_use]
    pub fn hint(&self, style: ParamStyle) -> Option<String> {
        let param = |name| style.name(name);
        Some(match self {
            Self::Io { source, .. }
            | Self::Model(windlass_model::Error::Table(windlass_table::Error::Io {
                source, ..
            })) if source.kind() == std::io::ErrorKind::PermissionDenied => {
                "check who may read and write the file and its folder: ls -ld".into()
            }
            Self::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => {
                format!("free some space; go on with runs that were kept with {}", param("resume"))
            }
            Self::Model(error) | Self::InSplit { source: error, .. } => return error.hint(style),
            Self::InFile { source, .. } => return source.hint(style),
            Self::ConstantTarget { .. } => format!(
                "is it the right column? otherwise choose fewer {}, or another {}",
                param("folds"),
                param("split")
            ),
            Self::NoWeight { .. } => format!(
                "omit groups without weight from the table, or choose another {} or fewer {}",
                param("split"),
                param("folds")
            ),
            Self::LargeSize { .. } => format!("choose smaller {}, or `all`", param("sizes")),
            Self::SmallSize { .. } => format!("choose larger {}", param("sizes")),
            Self::AllDiverged { .. } => {
                format!("choose a smaller {}, or {} 1", param("lr"), param("clip_norm"))
            }
            Self::NothingToCompare { .. } => format!(
                "name a network with {} and several {}, one of them none",
                param("models"),
                param("methods")
            ),
            Self::HasResults { .. } => {
                format!(
                    "go on with it: {}, name another folder, or replace them with {}",
                    param("resume"),
                    param("force")
                )
            }
            Self::NoResults { .. } => format!("start one: {}", param("output")),
            Self::OtherResults { .. } => format!(
                "name another folder with {}, or repeat the first command as it was",
                param("output")
            ),
            Self::BadResults { .. } => "remove this file, and run the command again".into(),
            Self::Busy { .. } => "wait for it to end".into(),
            Self::NotAFolder { .. } => {
                format!("name another folder with {}", param("output"))
            }
            Self::OtherShape { .. } => "a prediction for every held-out row, in their order".into(),
            Self::Picture { .. } | Self::Io { .. } | Self::ExternalModel | Self::Interrupted => {
                return None;
            }
        })
    }

    /// Whether it is a fault of the system and not of what was asked for.
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
