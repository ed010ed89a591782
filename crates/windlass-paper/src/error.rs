//! Errors of experiments.

use std::path::PathBuf;

use windlass_cli::terminal::Refusal;
use windlass_compare::Error as CompareError;

/// A result with this crate's error.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An invalid argument, file or dataset, with the values needed to correct it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each message names its fields")]
pub enum Error {
    /// An error of a comparison, a model or a table.
    #[error(transparent)]
    Compare(#[from] CompareError),
    /// An invalid option.
    #[error(transparent)]
    Command(Box<windlass_cli::Error>),
    /// An error of a dataset.
    #[error(transparent)]
    Data(#[from] crate::data::Error),
    /// A page that windlass-paper did not write.
    #[error("`{}` exists and was not written by windlass-paper", path.display())]
    NotOurs { path: PathBuf },
    /// No experiment has that name.
    #[error("unknown experiment `{name}`")]
    NoSuchExperiment { name: String, known: Vec<&'static str> },
    /// An invalid experiment file.
    #[error("experiment `{name}`: {why}")]
    BadExperiment { name: String, why: String },
    /// Something that only builds with deep networks can run.
    #[error("`{name}` needs deep networks, which this build does not have")]
    NotBuilt { name: String },
    /// A device that this build does not support.
    #[error("--device {name}: {why}")]
    BadDevice { name: String, why: String },
    /// Invalid pretrained weights.
    #[error("--weights: {why}")]
    BadWeights { why: String },
    /// A checkpoint of another run.
    #[error("`{}` is not a checkpoint of this run: {why}", path.display())]
    OtherCheckpoint { path: PathBuf, why: String },
    /// Invalid seeds.
    #[error("--seeds: {why}")]
    BadSeeds { why: String },
}

impl From<windlass_cli::Error> for Error {
    fn from(error: windlass_cli::Error) -> Self {
        Self::Command(Box::new(error))
    }
}

impl From<windlass_table::Error> for Error {
    fn from(error: windlass_table::Error) -> Self {
        Self::Compare(error.into())
    }
}

impl From<windlass_model::Error> for Error {
    fn from(error: windlass_model::Error) -> Self {
        Self::Compare(error.into())
    }
}

impl From<windlass_train::Error> for Error {
    fn from(error: windlass_train::Error) -> Self {
        windlass_model::Error::from(error).into()
    }
}

impl Refusal for Error {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Compare(error) => return Refusal::hint(error),
            Self::Command(error) => return error.hint(),
            Self::Data(error) => return error.hint(),
            Self::NotOurs { .. } => "choose another folder with --output".into(),
            Self::NoSuchExperiment { known, .. } => {
                format!("experiments are {}, and `all`", known.join(", "))
            }
            Self::BadExperiment { .. } => {
                "`windlass-paper reproduce` lists all experiments".into()
            }
            Self::NotBuilt { .. } => {
                "build it with `cargo build --release --package windlass-paper --features deep`"
                    .into()
            }
            Self::BadDevice { .. } => {
                "devices are cpu, wgpu and cuda (cuda:1 is the second); builds with `--features wgpu` or \
                 `--features cuda` have them"
                    .into()
            }
            Self::BadWeights { .. } => {
                "use torchvision's weights of ResNet-18 with `rcf-mnist`, as a safetensors or PyTorch file"
                    .into()
            }
            Self::OtherCheckpoint { .. } => "delete this file, and run the command again".into(),
            Self::BadSeeds { .. } => "choose other seeds".into(),
        })
    }

    fn exit_code(&self) -> std::result::Result<u8, u8> {
        match self {
            Self::Compare(error) => error.exit_code(),
            Self::Command(error) => error.exit_code(),
            Self::Data(error) if error.is_fault() => Ok(2),
            _ => Ok(1),
        }
    }
}
