//! A model: what is done to rows, networks or coefficients, and what is known of how it was made; in one
//! file of the safetensors format.

use std::collections::HashMap;
use std::path::Path;

use arrow_array::RecordBatch;
use ndarray::{Array1, Array2};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use windlass::regress::LinearModel;
use windlass_table::Frame;
use windlass_train::{Network, Parameters, Shape};

use crate::fit::Metrics;
use crate::preparation::{Unknown, weights};
use crate::{Error, Preparation, Recipe, Result};

/// The key of the card in the file's metadata.
const KEY: &str = "windlass-model";
/// Raised when a file can no longer be read as before.
const FORMAT: u32 = 1;

/// As much of a card as any format has.
#[derive(Deserialize)]
struct Head {
    format: u32,
    version: String,
}

/// What is known of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// The format of the file.
    pub format: u32,
    /// The version that made it.
    pub version: String,
    /// How it was made.
    pub recipe: Recipe,
    /// The fingerprint of the training table.
    pub fingerprint: String,
    /// The rows that it was made of.
    pub rows: u64,
    /// The network's shape; none for a linear model.
    pub shape: Option<Shape>,
    /// What is done to rows, for every member.
    pub preparations: Vec<Preparation>,
    /// Errors on the rows that it learnt from.
    pub train: Metrics,
    /// Errors on validation rows, each judged by a network that did not learn from it.
    pub valid: Option<Metrics>,
}

/// A network or a linear model with its own preparation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Member {
    pub(crate) preparation: Preparation,
    pub(crate) body: Body,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Body {
    Network(Network),
    Linear(LinearModel),
}

impl Member {
    /// Predictions in the units of the targets.
    pub(crate) fn predict(&self, x: &Array2<f64>) -> Result<Array2<f64>> {
        let scaled = match &self.body {
            Body::Network(network) => {
                #[expect(clippy::cast_possible_truncation, reason = "networks have 32 bits")]
                let x = x.mapv(|value| value as f32);
                network.predict(x.view())?.mapv(f64::from)
            }
            Body::Linear(linear) => linear.predict(x.view())?,
        };
        Ok(self.preparation.unscaled(scaled.view()))
    }
}

/// A trained model.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    card: Card,
    pub(crate) members: Vec<Member>,
}

/// What a model says of some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Predicted {
    /// A row of targets for each: the mean over members.
    pub mean: Array2<f64>,
    /// How far members are apart: their standard deviation. None where there is one.
    pub spread: Option<Array2<f64>>,
    /// Categories that were never seen in training, by column.
    pub unknown: Unknown,
}

impl Model {
    pub(crate) fn new(
        recipe: &Recipe,
        members: Vec<Member>,
        frame: &Frame,
        learnt_from: &RecordBatch,
        valid: Option<Metrics>,
    ) -> Result<Self> {
        let shape = match &members[0].body {
            Body::Network(network) => Some(network.shape().clone()),
            Body::Linear(_) => None,
        };
        let nothing = Metrics { rows: 0, rmse: 0.0, mae: 0.0, mape: None, r2: None };
        let card = Card {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            recipe: recipe.clone(),
            fingerprint: frame.profile.fingerprint.clone(),
            rows: frame.batch.num_rows() as u64,
            shape,
            preparations: members.iter().map(|member| member.preparation.clone()).collect(),
            train: nothing,
            valid,
        };
        let mut model = Self { card, members };
        let predicted = model.predict(learnt_from, Path::new("-"), 0)?.mean;
        let y = model.members[0].preparation.raw_targets(learnt_from);
        let weights = weights(frame, learnt_from, Path::new("-"))?;
        model.card.train = Metrics::of(&y, &predicted, weights.as_deref());
        Ok(model)
    }

    /// What is known of it.
    #[must_use]
    pub fn card(&self) -> &Card {
        &self.card
    }

    /// The names of the targets.
    #[must_use]
    pub fn targets(&self) -> Vec<String> {
        self.members[0].preparation.targets.iter().map(|target| target.name.clone()).collect()
    }

    /// The networks that are averaged; 1 if there is nothing to average.
    #[must_use]
    pub fn committee(&self) -> usize {
        self.members.len()
    }

    /// Predicts rows of a table; `first` is the number of the first.
    pub fn predict(&self, batch: &RecordBatch, path: &Path, first: u64) -> Result<Predicted> {
        let mut each = vec![];
        for member in &self.members {
            each.push(member.predict(&member.preparation.features(batch, path, first)?)?);
        }
        let preparations: Vec<&Preparation> =
            self.members.iter().map(|member| &member.preparation).collect();
        let unknown = Preparation::unknown(&preparations, batch);
        let count = each.len() as f64;
        let mut mean = Array2::zeros(each[0].raw_dim());
        for one in &each {
            mean += one;
        }
        mean /= count;
        let spread = (each.len() > 1).then(|| {
            let mut square = Array2::zeros(mean.raw_dim());
            for one in &each {
                square += &(one - &mean).mapv(|off| off * off);
            }
            square.mapv(|square: f64| (square / (count - 1.0)).sqrt())
        });
        Ok(Predicted { mean, spread, unknown })
    }

    /// The coefficients of a linear model: the numbers' names, a row for each, and the intercept, all in
    /// the scaled units that it works in.
    #[must_use]
    pub fn linear(&self) -> Option<(Vec<String>, &LinearModel)> {
        match &self.members[0].body {
            Body::Linear(linear) => Some((self.members[0].preparation.names(), linear)),
            Body::Network(_) => None,
        }
    }

    /// The bytes of a model file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut tensors: Vec<(String, Dtype, Vec<usize>, Vec<u8>)> = vec![];
        for (number, member) in self.members.iter().enumerate() {
            match &member.body {
                Body::Network(network) => {
                    for (place, (weights, bias)) in network.to_parameters().into_iter().enumerate()
                    {
                        let name = |what: &str| format!("member{number}.layer{place}.{what}");
                        let bytes = |values: &mut dyn Iterator<Item = &f32>| -> Vec<u8> {
                            values.flat_map(|value| value.to_le_bytes()).collect()
                        };
                        let shape = weights.shape().to_vec();
                        let data = bytes(&mut weights.iter());
                        tensors.push((name("weight"), Dtype::F32, shape, data));
                        let (shape, data) = (vec![bias.len()], bytes(&mut bias.iter()));
                        tensors.push((name("bias"), Dtype::F32, shape, data));
                    }
                }
                Body::Linear(linear) => {
                    let (b, c) = (linear.coefficients(), linear.intercept());
                    let data = b.iter().flat_map(|value| value.to_le_bytes()).collect();
                    let shape = b.shape().to_vec();
                    tensors.push((format!("member{number}.coefficients"), Dtype::F64, shape, data));
                    let data = c.iter().flat_map(|value| value.to_le_bytes()).collect();
                    let shape = vec![c.len()];
                    tensors.push((format!("member{number}.intercept"), Dtype::F64, shape, data));
                }
            }
        }
        let views = tensors.iter().map(|(name, dtype, shape, data)| {
            (name.clone(), TensorView::new(*dtype, shape.clone(), data).expect("its own shape"))
        });
        let card = serde_json::to_string(&self.card).expect("plain values");
        let metadata = HashMap::from([(KEY.to_owned(), card)]);
        safetensors::serialize(views, Some(metadata)).expect("names are different")
    }

    /// Reads a model file.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self> {
        let bad = |why: String| Error::NotAModel { path: path.to_owned(), why };
        let text = |error: &dyn std::fmt::Display| bad(error.to_string());
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| text(&error))?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| text(&error))?;
        let card = metadata.metadata().as_ref().and_then(|notes| notes.get(KEY));
        let card = card.ok_or_else(|| bad("it has no card".into()))?;
        let head: Head = serde_json::from_str(card).map_err(|error| text(&error))?;
        if head.format != FORMAT {
            let (path, format, version) = (path.to_owned(), head.format, head.version);
            return Err(Error::OtherFormat { path, format, version });
        }
        let card: Card = serde_json::from_str(card).map_err(|error| text(&error))?;
        let values = |name: &str, dtype: Dtype| -> Result<(Vec<usize>, Vec<u8>)> {
            let tensor = tensors.tensor(name).map_err(|error| text(&error))?;
            if tensor.dtype() != dtype {
                return Err(bad(format!("`{name}` holds {:?}", tensor.dtype())));
            }
            Ok((tensor.shape().to_vec(), tensor.data().to_vec()))
        };
        let mut members = vec![];
        for (number, preparation) in card.preparations.iter().enumerate() {
            let (inputs, outputs) = (preparation.width(), preparation.targets.len());
            if outputs != card.preparations[0].targets.len() {
                return Err(bad("its members differ in their targets".into()));
            }
            let name = |what: &str| format!("member{number}.{what}");
            let body = if let Some(shape) = &card.shape {
                if shape.outputs != outputs {
                    return Err(bad("its card contradicts itself".into()));
                }
                let shape = Shape { inputs, ..shape.clone() };
                let mut parameters: Vec<Parameters> = vec![];
                for layer in 0..=shape.hidden.len() {
                    let (sizes, data) = values(&name(&format!("layer{layer}.weight")), Dtype::F32)?;
                    let [units, width] = sizes[..] else {
                        return Err(bad("its weights are no matrix".into()));
                    };
                    let weights = Array2::from_shape_vec((units, width), floats(&data));
                    let weights = weights.map_err(|error| text(&error))?;
                    let (_, data) = values(&name(&format!("layer{layer}.bias")), Dtype::F32)?;
                    parameters.push((weights, floats(&data)));
                }
                let network = Network::with_parameters(shape, &parameters);
                Body::Network(network.map_err(|error| text(&error))?)
            } else {
                let (_, data) = values(&name("coefficients"), Dtype::F64)?;
                let b = Array2::from_shape_vec((inputs, outputs), doubles(&data));
                let (_, data) = values(&name("intercept"), Dtype::F64)?;
                let c = Array1::from(doubles(&data));
                let linear = LinearModel::new(b.map_err(|error| text(&error))?, c);
                Body::Linear(linear.map_err(|error| text(&error))?)
            };
            members.push(Member { preparation: preparation.clone(), body });
        }
        if members.is_empty() {
            return Err(bad("it has no members".into()));
        }
        Ok(Self { card, members })
    }
}

fn floats(data: &[u8]) -> Vec<f32> {
    data.as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes)).collect()
}

fn doubles(data: &[u8]) -> Vec<f64> {
    data.as_chunks::<8>().0.iter().map(|&bytes| f64::from_le_bytes(bytes)).collect()
}
