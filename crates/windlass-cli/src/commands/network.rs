//! The options of commands that train networks.

use std::path::PathBuf;
use std::str::FromStr as _;

use clap::Args;
use windlass::ParamStyle;
use windlass_model::{
    ActivationName, NetworkConfig, NetworkOptions, OptimizerName, Scaling, Split, Validation,
    parse_loss,
};
use windlass_table::{Columns, LoadedTable, Table};
use windlass_train::{Activation, Loss, Schedule, Shuffle, TrainConfig};

use crate::options::{ColumnArgs, ReadArgs, choices};
use crate::{Error, Result, terminal};

/// Options of commands that train models: input, output, split and networks.
#[derive(Debug, Args)]
pub(super) struct TrainingArgs {
    /// Input files or folders, read as one table; `-` is stdin
    #[arg(required = true, value_name = "INPUT")]
    pub(super) inputs: Vec<PathBuf>,
    /// Column to predict, or several separated by commas
    #[arg(short, long, value_name = "COLUMNS")]
    pub(super) target: Vec<String>,
    /// Overwrite existing files, including files that Windlass did not write
    #[arg(long)]
    pub(super) force: bool,
    /// Print a JSON summary to stdout
    #[arg(long)]
    pub(super) json: bool,
    /// Print no summary, notes or progress
    #[arg(short, long)]
    pub(super) quiet: bool,
    /// Random seed; the same seed gives the same results
    #[arg(short, long, value_name = "N", default_value_t = 0)]
    pub(super) seed: u64,
    /// Drop rows without a finite target instead of reporting an error
    #[arg(long)]
    pub(super) drop_missing_target: bool,
    /// How to hold out rows: rows (random), group:COLUMN (groups stay together), domain:COLUMN (one domain at a
    /// time) or time:COLUMN (later rows) [default: rows]
    #[arg(long, value_name = "SPLIT", value_parser = Split::from_str)]
    pub(super) split: Option<Split>,
    #[command(flatten)]
    pub(super) network: NetworkArgs,
    /// Scaling of continuous features
    #[arg(long, value_name = "SCALE", default_value = "standard", help_heading = "Preprocessing", value_parser = choices(&SCALES))]
    pub(super) scale: Scaling,
    /// Scaling of targets; predictions and errors stay in the original units
    #[arg(long, value_name = "SCALE", default_value = "standard", help_heading = "Preprocessing", value_parser = choices(&SCALES))]
    pub(super) target_scale: Scaling,
    #[command(flatten)]
    pub(super) columns: ColumnArgs,
    #[command(flatten)]
    pub(super) read: ReadArgs,
}

impl TrainingArgs {
    /// How rows are held out.
    pub(super) fn split(&self) -> Split {
        self.split.clone().unwrap_or_default()
    }

    /// The roles of columns; one that names groups or domains is not a feature unless it is requested as one.
    pub(super) fn roles(&self, table: &Table) -> Columns {
        let columns = self.columns.columns(&self.target, table);
        columns.carrying(self.split().group_column(), table.schema())
    }

    /// Prints a note if rows are split at random although the table has dates.
    pub(super) fn note_random_split(&self, rows: &LoadedTable) {
        let note = self.split().note(&rows.batch, ParamStyle::Command);
        if let Some(note) = note.filter(|_| !self.quiet) {
            terminal::say(&format!("note: {note}"));
        }
    }
}

static SCALES: [(&str, &str, Scaling); 3] = [
    ("standard", "Mean 0, standard deviation 1", Scaling::Standard),
    ("minmax", "Range 0 to 1", Scaling::MinMax),
    ("none", "No scaling", Scaling::None),
];

/// A network and its training.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network")]
pub(super) struct NetworkArgs {
    /// Units of each hidden layer [default: 128,128]
    #[arg(long, value_name = "N,N,…", value_delimiter = ',')]
    hidden: Option<Vec<usize>>,
    /// Activation function [default: relu]
    #[arg(long, value_name = "FUNCTION", value_parser = choices(&[
        ("relu", "", ActivationName::Relu),
        ("leaky-relu", "", ActivationName::LeakyRelu),
        ("sigmoid", "", ActivationName::Sigmoid),
        ("tanh", "", ActivationName::Tanh),
        ("identity", "", ActivationName::Identity),
    ]))]
    activation: Option<ActivationName>,
    /// leaky-relu: slope for negative inputs [default: 0.1]
    #[arg(long, value_name = "SLOPE")]
    slope: Option<f32>,
    /// Number of training epochs [default: 200]
    #[arg(long, value_name = "N")]
    epochs: Option<usize>,
    /// Batch size [default: 16]
    #[arg(long, value_name = "N")]
    batch: Option<usize>,
    /// Learning rate [default: 0.002]
    #[arg(long, value_name = "η")]
    lr: Option<f64>,
    /// Learning rate schedule [default: constant; cosine for rates above 0.002, and for more
    /// than 20 batches in an epoch]
    #[arg(long, value_name = "SCHEDULE", value_parser = choices(&[
        ("constant", "", Schedule::Constant),
        ("cosine", "", Schedule::Cosine),
    ]))]
    schedule: Option<Schedule>,
    /// Optimizer [default: adamw]
    #[arg(long, value_name = "OPTIMIZER", value_parser = choices(&[
        ("adamw", "", OptimizerName::AdamW),
        ("adam", "", OptimizerName::Adam),
        ("sgd", "", OptimizerName::Sgd),
    ]))]
    optimizer: Option<OptimizerName>,
    /// sgd: momentum [default: 0.9]
    #[arg(long, value_name = "μ")]
    momentum: Option<f64>,
    /// Weight decay; adamw multiplies it by the learning rate η in each step [default: for adamw 0.001/η, at most
    /// 0.5, times (20/batches)⁴ if an epoch has more than 20 batches; else 0]
    #[arg(long, value_name = "λ")]
    weight_decay: Option<f64>,
    /// Clip the gradient norm
    #[arg(long, value_name = "NORM")]
    clip_norm: Option<f64>,
    /// Loss function: mse, huber, or huber:DELTA in units of the scaled target [default: mse]
    #[arg(long, value_name = "LOSS", value_parser = parse_loss)]
    loss: Option<Loss>,
    /// Early stopping: end after this many epochs without a better validation error
    #[arg(long, value_name = "EPOCHS")]
    patience: Option<usize>,
    /// Drop the last batch of an epoch if it is not full
    #[arg(long)]
    drop_last: bool,
    /// When to shuffle rows [default: epoch]
    #[arg(long, value_name = "WHEN", value_parser = choices(&[
        ("epoch", "Before every epoch", Shuffle::EveryEpoch),
        ("once", "Before the first epoch", Shuffle::Once),
        ("never", "Keep the order of the table", Shuffle::Never),
    ]))]
    shuffle: Option<Shuffle>,
    /// Validation rows, which choose the best epoch: a fraction, a file, or `none` [default: 0.2]
    #[arg(long, value_name = "FRACTION|FILE")]
    pub(super) valid: Option<String>,
    /// Average K networks, each validated on another fold
    #[arg(long, value_name = "K", conflicts_with = "valid")]
    pub(super) committee: Option<usize>,
    /// Save the training state to a file every second, and resume from it if it exists
    #[arg(long, value_name = "FILE")]
    pub(super) checkpoint: Option<PathBuf>,
}

impl NetworkArgs {
    fn options(&self) -> NetworkOptions {
        NetworkOptions {
            hidden: self.hidden.clone(),
            activation: self.activation,
            slope: self.slope,
            epochs: self.epochs,
            batch_size: self.batch,
            learning_rate: self.lr,
            schedule: self.schedule,
            optimizer: self.optimizer,
            momentum: self.momentum,
            weight_decay: self.weight_decay,
            clip_norm: self.clip_norm,
            loss: self.loss,
            patience: self.patience,
            drop_last: self.drop_last,
            shuffle: self.shuffle,
        }
    }

    pub(super) fn training(&self) -> TrainConfig {
        self.options().training()
    }

    /// Returns an error for options that do not apply with the others.
    pub(super) fn check(&self) -> Result<()> {
        Ok(self.options().check(self.valid().0)?)
    }

    /// The first option for the shape of the network that is set.
    pub(super) fn shape_given(&self) -> Option<&'static str> {
        let given =
            [(self.hidden.is_some(), "--hidden"), (self.activation.is_some(), "--activation")];
        given.into_iter().find(|(given, _)| *given).map(|(_, option)| option)
    }

    /// The hidden layers and their activation function.
    pub(super) fn hidden_layers(&self) -> (Vec<usize>, Activation) {
        self.options().hidden_layers()
    }

    /// The network of a search, which chooses the validation rows.
    pub(super) fn searched(&self) -> Result<NetworkConfig> {
        let given = [(self.committee.is_some(), "--committee"), (self.valid.is_some(), "--valid")];
        if let Some((_, option)) = given.into_iter().find(|(given, _)| *given) {
            return Err(Error::does_not_apply(option, "tune"));
        }
        self.compared("tune")
    }

    /// The network of a command that trains many networks and chooses the test rows.
    pub(super) fn compared(&self, to: &'static str) -> Result<NetworkConfig> {
        let refuse = |option| Err(Error::does_not_apply(option, to));
        if self.checkpoint.is_some() {
            return refuse("--checkpoint");
        }
        let (valid, file) = self.valid();
        if file.is_some() || valid == Validation::None {
            return refuse("--valid without a fraction");
        }
        Ok(self.options().config(valid))
    }

    /// The first option that is set and applies to networks only.
    pub(super) fn given(&self) -> Option<&'static str> {
        let given = [
            (self.hidden.is_some(), "--hidden"),
            (self.activation.is_some(), "--activation"),
            (self.slope.is_some(), "--slope"),
            (self.epochs.is_some(), "--epochs"),
            (self.batch.is_some(), "--batch"),
            (self.lr.is_some(), "--lr"),
            (self.schedule.is_some(), "--schedule"),
            (self.optimizer.is_some(), "--optimizer"),
            (self.momentum.is_some(), "--momentum"),
            (self.weight_decay.is_some(), "--weight-decay"),
            (self.clip_norm.is_some(), "--clip-norm"),
            (self.loss.is_some(), "--loss"),
            (self.patience.is_some(), "--patience"),
            (self.drop_last, "--drop-last"),
            (self.shuffle.is_some(), "--shuffle"),
            (self.committee.is_some(), "--committee"),
            (self.checkpoint.is_some(), "--checkpoint"),
        ];
        given.into_iter().find(|(given, _)| *given).map(|(_, option)| option)
    }

    pub(super) fn valid(&self) -> (Validation, Option<PathBuf>) {
        match (&self.committee, self.valid.as_deref()) {
            (Some(members), _) => (Validation::Folds(*members), None),
            (None, None) => (NetworkOptions::VALID, None),
            (None, Some("none")) => (Validation::None, None),
            (None, Some(text)) => match text.parse() {
                Ok(share) => (Validation::Fraction(share), None),
                Err(_) => (Validation::Table, Some(text.into())),
            },
        }
    }
}
