//! Options of a network, shared by the command and the Python package: the same defaults and errors.

use windlass::ParamName;
use windlass_train::{Activation, Loss, Optimizer, Schedule, Shuffle, TrainConfig};

use crate::config::{NetworkConfig, Validation};
use crate::split::Split;
use crate::{Error, Result};

/// An activation function, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "Activation explains each")]
pub enum ActivationName {
    Relu,
    LeakyRelu,
    Sigmoid,
    Tanh,
    Identity,
}

/// An optimizer, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(missing_docs, reason = "Optimizer explains each")]
pub enum OptimizerName {
    #[default]
    AdamW,
    Adam,
    Sgd,
}

/// Options of a network and its training; `None` is the default.
///
/// | Option | Default |
/// | :-- | :-- |
/// | `hidden`, `activation` | `128,128`, ReLU |
/// | `slope` | `0.1`, of leaky ReLU |
/// | `optimizer` | `AdamW` |
/// | `momentum` | `0.9`, of SGD |
/// | `weight_decay` | [`TrainConfig::default_weight_decay`], [reduced](TrainConfig::for_rows) for larger tables, for `AdamW`, else 0 |
/// | `schedule` | [`TrainConfig::default_schedule`], [a cosine](TrainConfig::for_rows) for larger tables |
/// | all others | those of [`TrainConfig`] |
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "TrainConfig explains each field")]
pub struct NetworkOptions {
    pub hidden: Option<Vec<usize>>,
    pub activation: Option<ActivationName>,
    pub slope: Option<f32>,
    pub epochs: Option<usize>,
    pub batch_size: Option<usize>,
    pub learning_rate: Option<f64>,
    pub schedule: Option<Schedule>,
    pub optimizer: Option<OptimizerName>,
    pub momentum: Option<f64>,
    pub weight_decay: Option<f64>,
    pub clip_norm: Option<f64>,
    pub loss: Option<Loss>,
    pub patience: Option<usize>,
    pub drop_last: bool,
    pub shuffle: Option<Shuffle>,
}

impl NetworkOptions {
    /// The default validation rows.
    pub const VALID: Validation = Validation::Fraction(0.2);

    /// The training loop.
    #[must_use]
    pub fn training(&self) -> TrainConfig {
        let default = TrainConfig::default();
        let optimizer = self.optimizer.unwrap_or_default();
        let learning_rate = self.learning_rate.unwrap_or(default.learning_rate);
        TrainConfig {
            epochs: self.epochs.unwrap_or(default.epochs),
            batch_size: self.batch_size.unwrap_or(default.batch_size),
            drop_last: self.drop_last,
            shuffle: self.shuffle.unwrap_or(default.shuffle),
            optimizer: match optimizer {
                OptimizerName::AdamW => Optimizer::adam_w(),
                OptimizerName::Adam => Optimizer::adam(),
                OptimizerName::Sgd => Optimizer::Sgd { momentum: self.momentum.unwrap_or(0.9) },
            },
            learning_rate,
            schedule: self.schedule.unwrap_or_else(|| TrainConfig::default_schedule(learning_rate)),
            // The default is for decoupled weight decay; in the gradient it would be far too strong.
            weight_decay: self.weight_decay.unwrap_or(match optimizer {
                OptimizerName::AdamW => TrainConfig::default_weight_decay(learning_rate),
                OptimizerName::Adam | OptimizerName::Sgd => 0.0,
            }),
            adapt_weight_decay: self.weight_decay.is_none(),
            adapt_schedule: self.schedule.is_none(),
            clip_norm: self.clip_norm,
            loss: self.loss.unwrap_or(default.loss),
            patience: self.patience,
        }
    }

    /// The units of the hidden layers, and their activation function.
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

    /// Returns an error for parameters that do not apply with the others.
    pub fn check(&self, valid: Validation) -> Result<()> {
        if self.patience.is_some() && valid == Validation::None {
            let to = "training without validation rows";
            return Err(Error::DoesNotApply { param: ParamName("patience"), to });
        }
        if self.slope.is_some() && self.activation != Some(ActivationName::LeakyRelu) {
            let to = "this activation function";
            return Err(Error::DoesNotApply { param: ParamName("slope"), to });
        }
        if self.momentum.is_some() && self.optimizer != Some(OptimizerName::Sgd) {
            let to = "this optimizer";
            return Err(Error::DoesNotApply { param: ParamName("momentum"), to });
        }
        Ok(())
    }

    /// The network, without augmentation.
    #[must_use]
    pub fn config(&self, valid: Validation) -> NetworkConfig {
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

/// A loss function by name: `mse`, `huber` or `huber:DELTA`.
pub fn parse_loss(text: &str) -> Result<Loss, String> {
    match text.split_once(':') {
        None if text == "mse" => Ok(Loss::Squared),
        None if text == "huber" => Ok(Loss::Huber(1.0)),
        Some(("huber", delta)) => {
            delta.parse().map(Loss::Huber).map_err(|_| format!("`{delta}` is not a number"))
        }
        _ => Err("expected mse, huber or huber:DELTA".into()),
    }
}
