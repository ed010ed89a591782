//! What a user says of a network, and the training that comes of it. The command and the Python package both ask
//! here, so they have the same defaults and refusals.

use windlass_train::{Activation, Loss, Optimizer, Order, Schedule, Training};

use crate::{Error, NetworkConfig, Result, Split, Validation};

/// What hidden units do, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "Activation explains each")]
pub enum ActivationName {
    Relu,
    LeakyRelu,
    Sigmoid,
    Tanh,
    Identity,
}

/// How weights follow the gradient, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "Optimizer explains each")]
pub enum OptimizerName {
    #[default]
    AdamW,
    Adam,
    Sgd,
}

/// What may be said of a network and its training; `None` stands for the default.
///
/// | Option | Default |
/// | :-- | :-- |
/// | `hidden`, `activation` | `128,128`, ReLU |
/// | `slope` | `0.1`, of leaky ReLU |
/// | `optimizer` | `AdamW` |
/// | `momentum` | `0.9`, of SGD |
/// | `weight_decay` | that of [`Training`] for `AdamW`, else 0 |
/// | all others | those of [`Training`] |
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "Training explains each field")]
pub struct NetworkOptions {
    pub hidden: Option<Vec<usize>>,
    pub activation: Option<ActivationName>,
    pub slope: Option<f32>,
    pub epochs: Option<usize>,
    pub batch: Option<usize>,
    pub rate: Option<f64>,
    pub schedule: Option<Schedule>,
    pub optimizer: Option<OptimizerName>,
    pub momentum: Option<f64>,
    pub weight_decay: Option<f64>,
    pub clip: Option<f64>,
    pub loss: Option<Loss>,
    pub patience: Option<usize>,
    pub drop_last: bool,
    pub order: Option<Order>,
}

impl NetworkOptions {
    /// The share of rows that choose the epoch, if nothing else is said.
    pub const VALID: Validation = Validation::Share(0.2);

    /// How the network is trained.
    #[must_use]
    pub fn training(&self) -> Training {
        let usual = Training::default();
        let optimizer = self.optimizer.unwrap_or_default();
        Training {
            epochs: self.epochs.unwrap_or(usual.epochs),
            batch: self.batch.unwrap_or(usual.batch),
            drop_last: self.drop_last,
            order: self.order.unwrap_or(usual.order),
            optimizer: match optimizer {
                OptimizerName::AdamW => Optimizer::adam_w(),
                OptimizerName::Adam => Optimizer::adam(),
                OptimizerName::Sgd => Optimizer::Sgd { momentum: self.momentum.unwrap_or(0.9) },
            },
            rate: self.rate.unwrap_or(usual.rate),
            schedule: self.schedule.unwrap_or(usual.schedule),
            // The default is for decay of its own; in the gradient it would be far too strong.
            weight_decay: self.weight_decay.unwrap_or(match optimizer {
                OptimizerName::AdamW => usual.weight_decay,
                OptimizerName::Adam | OptimizerName::Sgd => 0.0,
            }),
            clip: self.clip,
            loss: self.loss.unwrap_or(usual.loss),
            patience: self.patience,
        }
    }

    /// The hidden layers, and what their units do.
    #[must_use]
    pub fn hidden_layers(&self) -> (Vec<usize>, Activation) {
        let activation = match self.activation {
            Some(ActivationName::Relu) | None => Activation::Relu,
            Some(ActivationName::LeakyRelu) => Activation::LeakyRelu(self.slope.unwrap_or(0.1)),
            Some(ActivationName::Sigmoid) => Activation::Sigmoid,
            Some(ActivationName::Tanh) => Activation::Tanh,
            Some(ActivationName::Identity) => Activation::Identity,
        };
        (self.hidden.clone().unwrap_or_else(|| vec![128, 128]), activation)
    }

    /// Refuses options that others make meaningless.
    pub fn check(&self, valid: Validation) -> Result<()> {
        if self.patience.is_some() && valid == Validation::None {
            return Err(Error::DoesNotApply { option: "--patience", to: "--valid none" });
        }
        if self.slope.is_some() && self.activation != Some(ActivationName::LeakyRelu) {
            return Err(Error::DoesNotApply { option: "--slope", to: "this --activation" });
        }
        if self.momentum.is_some() && self.optimizer != Some(OptimizerName::Sgd) {
            return Err(Error::DoesNotApply { option: "--momentum", to: "this --optimizer" });
        }
        Ok(())
    }

    /// The network, without augmentation.
    #[must_use]
    pub fn recipe(&self, valid: Validation) -> NetworkConfig {
        let (hidden, activation) = self.hidden_layers();
        let (training, split) = (self.training(), Split::Rows);
        NetworkConfig {
            hidden,
            activation,
            training,
            augment: None,
            valid,
            split,
            valid_seed: None,
        }
    }
}

/// What is made small: `mse`, `huber` or `huber:DELTA`.
pub fn loss(text: &str) -> Result<Loss, String> {
    match text.split_once(':') {
        None if text == "mse" => Ok(Loss::Squared),
        None if text == "huber" => Ok(Loss::Huber(1.0)),
        Some(("huber", delta)) => {
            delta.parse().map(Loss::Huber).map_err(|_| format!("`{delta}` is no number: huber:1.5"))
        }
        _ => Err("a loss is mse or huber:DELTA".into()),
    }
}
