//! The options of a network and its training.

use std::path::PathBuf;

use crate::{Error, Result};
use clap::{Args, ValueEnum};
use windlass_model::{self as model, NetworkConfig, NetworkOptions, Validation, parse_loss};
use windlass_train::{Activation, Loss, Schedule, Shuffle, TrainConfig};

/// A network and its training.
#[derive(Debug, Args)]
#[command(next_help_heading = "Network")]
pub(super) struct NetworkArgs {
    /// Units of every hidden layer [default: 128,128]
    #[arg(long, value_name = "N,N,…", value_delimiter = ',')]
    hidden: Option<Vec<usize>>,
    /// What hidden units do [default: relu]
    #[arg(long, value_name = "FUNCTION")]
    activation: Option<ActivationName>,
    /// leaky-relu: the slope of negative sums [default: 0.1]
    #[arg(long, value_name = "SLOPE")]
    slope: Option<f32>,
    /// Times that all rows are seen [default: 200]
    #[arg(long, value_name = "N")]
    epochs: Option<usize>,
    /// Rows of a step [default: 16]
    #[arg(long, value_name = "N")]
    batch: Option<usize>,
    /// The learning rate [default: 0.002]
    #[arg(long, value_name = "η")]
    lr: Option<f64>,
    /// How the rate changes [default: constant]
    #[arg(long, value_name = "WAY")]
    schedule: Option<ScheduleName>,
    /// How weights follow the gradient [default: adamw]
    #[arg(long, value_name = "NAME")]
    optimizer: Option<OptimizerName>,
    /// sgd: how much of the last step goes on [default: 0.9]
    #[arg(long, value_name = "μ")]
    momentum: Option<f64>,
    /// How strongly weights are drawn to zero [default: 0.5 for adamw, else 0]
    #[arg(long, value_name = "λ")]
    weight_decay: Option<f64>,
    /// Cut gradients that are longer
    #[arg(long, value_name = "LENGTH")]
    clip: Option<f64>,
    /// What is made small: mse, huber, or huber:DELTA in units of the scaled target [default: mse]
    #[arg(long, value_name = "LOSS", value_parser = parse_loss)]
    loss: Option<Loss>,
    /// End after so many epochs without a better validation error
    #[arg(long, value_name = "EPOCHS")]
    patience: Option<usize>,
    /// Leave out a last batch that is not full
    #[arg(long)]
    drop_last: bool,
    /// When rows are shuffled [default: epoch]
    #[arg(long, value_name = "WHEN")]
    shuffle: Option<ShuffleName>,
    /// Rows that the best epoch is chosen by: a share, a file, or `none` [default: 0.2]
    #[arg(long, value_name = "SHARE|FILE")]
    pub(super) valid: Option<String>,
    /// Train so many networks, each validated on another part of the rows, and average them
    #[arg(long, value_name = "K", conflicts_with = "valid")]
    pub(super) committee: Option<usize>,
    /// Keep the run in a file, every second, and go on from it if it is there
    #[arg(long, value_name = "FILE")]
    pub(super) checkpoint: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ActivationName {
    Relu,
    LeakyRelu,
    Sigmoid,
    Tanh,
    Identity,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ScheduleName {
    Constant,
    Cosine,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum OptimizerName {
    Adamw,
    Adam,
    Sgd,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum ShuffleName {
    /// Every epoch anew
    Epoch,
    Once,
    Never,
}

impl NetworkArgs {
    fn options(&self) -> NetworkOptions {
        NetworkOptions {
            hidden: self.hidden.clone(),
            activation: self.activation.map(|name| match name {
                ActivationName::Relu => model::ActivationName::Relu,
                ActivationName::LeakyRelu => model::ActivationName::LeakyRelu,
                ActivationName::Sigmoid => model::ActivationName::Sigmoid,
                ActivationName::Tanh => model::ActivationName::Tanh,
                ActivationName::Identity => model::ActivationName::Identity,
            }),
            slope: self.slope,
            epochs: self.epochs,
            batch_size: self.batch,
            learning_rate: self.lr,
            schedule: self.schedule.map(|name| match name {
                ScheduleName::Constant => Schedule::Constant,
                ScheduleName::Cosine => Schedule::Cosine,
            }),
            optimizer: self.optimizer.map(|name| match name {
                OptimizerName::Adamw => model::OptimizerName::AdamW,
                OptimizerName::Adam => model::OptimizerName::Adam,
                OptimizerName::Sgd => model::OptimizerName::Sgd,
            }),
            momentum: self.momentum,
            weight_decay: self.weight_decay,
            clip_norm: self.clip,
            loss: self.loss,
            patience: self.patience,
            drop_last: self.drop_last,
            shuffle: self.shuffle.map(|name| match name {
                ShuffleName::Epoch => Shuffle::EveryEpoch,
                ShuffleName::Once => Shuffle::Once,
                ShuffleName::Never => Shuffle::Never,
            }),
        }
    }

    pub(super) fn training(&self) -> TrainConfig {
        self.options().training()
    }

    /// Refuses options that others make meaningless.
    pub(super) fn check(&self) -> Result<()> {
        Ok(self.options().check(self.valid().0)?)
    }

    /// An option that says how layers are, if one was given.
    pub(super) fn shape_given(&self) -> Option<&'static str> {
        let given =
            [(self.hidden.is_some(), "--hidden"), (self.activation.is_some(), "--activation")];
        given.into_iter().find(|(given, _)| *given).map(|(_, option)| option)
    }

    /// The hidden layers, and what their units do.
    pub(super) fn hidden_layers(&self) -> (Vec<usize>, Activation) {
        self.options().hidden_layers()
    }

    /// The network of a search, which has its own validation rows.
    pub(super) fn searched(&self) -> Result<NetworkConfig> {
        let given = [(self.committee.is_some(), "--committee"), (self.valid.is_some(), "--valid")];
        if let Some((_, option)) = given.into_iter().find(|(given, _)| *given) {
            return Err(Error::does_not_apply(option, "tune"));
        }
        self.compared("tune")
    }

    /// The network of a command that trains many and holds out rows itself.
    pub(super) fn compared(&self, to: &'static str) -> Result<NetworkConfig> {
        let refuse = |option| Err(Error::does_not_apply(option, to));
        if self.checkpoint.is_some() {
            return refuse("--checkpoint");
        }
        let (valid, file) = self.valid();
        if file.is_some() || valid == Validation::None {
            return refuse("--valid without a share");
        }
        Ok(self.options().config(valid))
    }

    /// An option that was given, of those that only networks have.
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
            (self.clip.is_some(), "--clip"),
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
