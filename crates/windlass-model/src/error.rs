//! Errors of models.

use std::fmt::{self, Display as _};
use std::path::PathBuf;

use windlass::{ParamName, ParamStyle};
use windlass_table::{RowPlace, RowPlaces, format_number};

/// A result with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A rejected argument or file, with the values needed to correct it.
///
/// Parameters are named in the [style](ParamStyle) of the format: `{}`, `{:#}` or `{:+}`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message names its fields")]
pub enum Error {
    /// An error of a table.
    #[error(transparent)]
    Table(#[from] windlass_table::Error),
    /// An error of training.
    #[error(transparent)]
    Train(#[from] windlass_train::Error),
    /// An error of the core.
    #[error(transparent)]
    Core(#[from] windlass::Error),
    /// A table with too few different rows.
    #[error("`{}` has {rows} distinct row{}, too few to learn from", path.display(), if *rows == 1 { "" } else { "s" })]
    TooFewRows { path: PathBuf, rows: usize },
    /// A target that does not vary.
    #[error("target `{column}` is {} in every training row: a constant cannot be learned", format_number(*value))]
    ConstantTarget { column: String, value: f64 },
    /// No column can be used as a feature.
    #[error("no column can be used as a feature{why}")]
    NoInputs { why: String },
    /// A validation fraction that leaves no training or no validation rows.
    #[error(
        "holding out {share} of {rows} rows leaves {train} training and {valid} validation rows"
    )]
    EmptySplit { share: f64, rows: usize, train: usize, valid: usize },
    /// More ensemble members than half of the rows.
    #[error(
        "an average of {members} networks needs at least twice that number of rows, got {rows}"
    )]
    LargeCommittee { members: usize, rows: usize },
    /// More groups than rows.
    #[error("cannot form {clusters} clusters from {rows} rows")]
    TooManyClusters { clusters: usize, rows: usize },
    /// Anchors with a single group.
    #[error("the anchors form only one group, so there is no group to hold out")]
    OneGroup,
    /// A column by which rows cannot be split.
    #[error("column `{column}` has only one value, so it cannot split the rows")]
    OneValue { column: String },
    /// Fewer rows or groups than folds.
    #[error("cannot form {folds} folds from {found} {what}")]
    FewForFolds { folds: usize, found: usize, what: &'static str },
    /// Too few domains to hold out the farthest.
    #[error("larger shifts need at least three domains, but column `{column}` has {found}")]
    FewDomains { column: String, found: usize },
    /// A time that cannot be ordered.
    #[error(
        "column `{column}` contains {holds} such as `{value}` in row {row}, which is not a time"
    )]
    NotSortable { column: String, holds: String, row: RowPlace, value: String },
    /// Rows without a time.
    #[error(
        "time column `{column}` is missing in row {row}{}",
        if *more > 0 { format!(" and {more} more") } else { String::new() }
    )]
    NoTime { column: String, row: RowPlace, more: usize },
    /// A network that does not fit in memory.
    #[error("training this network needs {} MiB, but the limit is {} MiB", needs >> 20, memory >> 20)]
    LargeNetwork { needs: u64, memory: u64 },
    /// A Gaussian process that does not fit in memory.
    #[error(
        "covariance matrices need {} MiB, but the limit is {} MiB", needs >> 20, memory >> 20
    )]
    LargeKernel { needs: u64, memory: u64 },
    /// A one-hot encoding that does not fit in memory.
    #[error(
        "column `{column}` has {levels} levels; fitting their one-hot encoding needs {} MiB, but the limit \
         is {} MiB",
        needs >> 20, memory >> 20
    )]
    ManyLevels { column: String, levels: u64, needs: u64, memory: u64 },
    /// The loss became NaN or infinite.
    #[error("training diverged in epoch {epoch}: the loss is NaN or infinite")]
    Diverged { epoch: usize },
    /// A file that is not a model file.
    #[error("`{}` is not a model file: {why}", path.display())]
    NotAModel { path: PathBuf, why: String },
    /// A model file in a format of another version.
    #[error("`{}` has format {format} of windlass {version}, which windlass {} cannot read", path.display(), env!("CARGO_PKG_VERSION"))]
    OtherFormat { path: PathBuf, format: u32, version: String },
    /// A column that the model needs is missing.
    #[error("`{}` has no column `{column}`, which the model needs", path.display())]
    MissingColumn { column: String, path: PathBuf },
    /// A column of another type.
    #[error("column `{column}` of `{}` contains {holds}, but the model was trained on {expected}", path.display())]
    OtherType { column: String, path: PathBuf, holds: String, expected: String },
    /// A value that models cannot represent.
    #[error("column `{column}` of `{}` is {value:?} in row {row}", path.display())]
    BadValue { column: String, path: PathBuf, row: RowPlace, value: f64 },
    /// An output column that the table has already.
    #[error("two columns of predictions would be named `{column}`")]
    SamePredictions { column: String },
    /// A column that predictions would have is in the table.
    #[error("`{}` already has a column `{column}`", path.display())]
    ColumnTaken { column: String, path: PathBuf },
    /// Metrics without a target.
    #[error("`{}` has no target `{column}`, which the metrics need", path.display())]
    NoTarget { column: String, path: PathBuf },
    /// Metrics without a row that has a target.
    #[error("no row has a target to compare with")]
    NothingToCompare,
    /// Prediction intervals of a model without held-out rows.
    #[error("the model was trained without held-out rows, so its prediction error is unknown")]
    NothingHeldOut,
    /// Prediction intervals of a higher level than the number of held-out rows allows.
    #[error(
        "an interval of {percent} % needs at least {needed} held-out rows, but the model has {rows}"
    )]
    FewHeldOut { percent: f64, rows: usize, needed: usize },
    /// A parameter that does not apply.
    #[error(fmt = does_not_apply)]
    DoesNotApply { param: ParamName, to: &'static str },
    /// An anchor matrix has a row for each row of one table; a model predicts for others.
    #[error("an anchor matrix does not apply to models")]
    AnchorMatrix,
    /// Anchor regression along a path of γ with several targets.
    #[error("a second target does not apply to regress")]
    SecondTarget,
    /// Rows generated before training, for a model that augments or forms groups itself.
    #[error("augmenting before training does not apply to models with groups or augmentation")]
    PreAugmented,
    /// A table without a column that the teacher was trained with.
    #[error("`{}` has no column `{column}`, which the teacher was trained with", path.display())]
    NotTheTeachersTable { column: String, path: PathBuf },
    /// More rows to label than there is memory for.
    #[error(
        "{rows} labeled rows take about {} MiB, but only {} MiB are allowed", needs >> 20, memory >> 20
    )]
    ManyLabeledRows { rows: u64, needs: u64, memory: u64 },
    /// A teacher that is a student itself, without models of folds.
    #[error("the teacher is a student itself, without models of folds")]
    StudentAsTeacher,
    /// A file name extension without a known format.
    #[error("unknown export format of `{}`", path.display())]
    ExportEnding { path: PathBuf },
}

fn does_not_apply(param: &ParamName, to: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    param.fmt(f)?;
    write!(f, " does not apply to {to}")
}

impl Error {
    /// The same error with the place of its row in the table that was read.
    #[must_use]
    pub fn locate(mut self, places: &RowPlaces) -> Self {
        if let Self::NotSortable { row, .. } | Self::NoTime { row, .. } | Self::BadValue { row, .. } =
            &mut self
            && row.line().is_none()
        {
            *row = places.place(row.index());
        }
        self
    }

    /// The next step for the user, with names of parameters in a style.
    #[must_use]
    pub fn hint(&self, style: ParamStyle) -> Option<String> {
        let param = |name| style.name(name);
        Some(match self {
            Self::Table(error) => return error.hint(style),
            Self::Train(windlass_train::Error::NoFullBatch { .. }) => {
                format!("choose a smaller {}, or omit {}", param("batch"), param("drop_last"))
            }
            Self::Train(windlass_train::Error::NoSuchLayer { hidden, .. }) => {
                format!("choose {} from 0 (the input) to {hidden}", param("manifold"))
            }
            Self::Train(windlass_train::Error::NotOnHiddenLayer) => {
                format!("omit {}, or choose ada or a mixup method", param("manifold"))
            }
            Self::Train(windlass_train::Error::BadState { .. }) => {
                "delete the checkpoint to start again, or use another file name".into()
            }
            Self::Train(windlass_train::Error::OutOfRange { range, .. })
            | Self::Core(windlass::Error::OutOfRange { range, .. }) => {
                format!("choose a value in {range}")
            }
            Self::Core(windlass::Error::NoWeight)
            | Self::Train(windlass_train::Error::Core(windlass::Error::NoWeight)) => format!(
                "training and held-out rows need a positive total weight: omit groups of weight 0, or choose another {}",
                param("split")
            ),
            Self::Train(_) | Self::Core(_) | Self::NotAModel { .. } => return None,
            Self::TooFewRows { .. } => "add rows".into(),
            Self::ConstantTarget { .. } => "check that this is the right column".into(),
            Self::NoInputs { .. } => format!(
                "name columns with {} or {}, or add columns",
                param("features"),
                param("categorical")
            ),
            Self::EmptySplit { .. } => {
                format!("choose another fraction, or use a file: {} FILE", param("valid"))
            }
            Self::LargeCommittee { .. } => format!("choose a smaller {}", param("committee")),
            Self::Diverged { .. } => format!(
                "choose a smaller {}, or {} 1; the last good weights were saved",
                param("lr"),
                param("clip_norm")
            ),
            Self::LargeNetwork { .. } => {
                format!("raise {}, or choose fewer units", param("memory"))
            }
            Self::LargeKernel { .. } => {
                format!("raise {}, or choose another model", param("memory"))
            }
            Self::ManyLevels { column, .. } => format!(
                "omit the column ({} {column}), merge its rare levels, or raise {}",
                param("exclude"),
                param("memory")
            ),
            Self::TooManyClusters { .. } => format!("choose fewer {}", param("clusters")),
            Self::OneGroup => {
                format!("choose a column with several values, or more {}", param("clusters"))
            }
            Self::OneValue { .. } => "choose a column with several values".into(),
            Self::SamePredictions { .. } => "rename a target, and train again".into(),
            Self::FewForFolds { .. } => "use more rows, or fewer folds".into(),
            Self::FewDomains { .. } => format!(
                "omit {}, or choose another {}",
                param("expect_larger_shifts"),
                param("split")
            ),
            Self::NotSortable { .. } => {
                "use numbers, dates such as 2024-05-01, or times such as 2024-05-01 13:00".into()
            }
            Self::NoTime { .. } => "fill in the times, or remove the rows".into(),
            Self::OtherFormat { .. } => "train the model again, or use that version".into(),
            Self::MissingColumn { .. } => "add the column; it may be empty".into(),
            Self::OtherType { .. } => "convert the column".into(),
            Self::BadValue { .. } => "fix the value, or leave it empty".into(),
            Self::ColumnTaken { .. } => "rename the column, or remove it from the table".into(),
            Self::NoTarget { .. } | Self::NothingToCompare => {
                format!("omit {}", param("metrics"))
            }
            Self::NothingHeldOut => {
                format!("train the model again, with held-out rows: omit {}", param("valid"))
            }
            Self::FewHeldOut { .. } => "choose a lower level".into(),
            Self::DoesNotApply { .. } | Self::AnchorMatrix | Self::SecondTarget => "omit it".into(),
            Self::PreAugmented => "augment the table, or use another model".into(),
            Self::NotTheTeachersTable { .. } => {
                "use the table that the teacher was trained on, or one with the same columns".into()
            }
            Self::ManyLabeledRows { .. } => {
                format!("choose fewer {}, or raise {}", param("copies"), param("memory"))
            }
            Self::StudentAsTeacher => "distill its own teacher".into(),
            Self::ExportEnding { .. } => "use the extension .onnx, or .h for C".into(),
        })
    }

    /// Whether this is a system error rather than invalid input.
    #[must_use]
    pub fn is_fault(&self) -> bool {
        match self {
            Self::Table(error) => error.is_fault(),
            _ => false,
        }
    }
}
