//! Model files: safetensors, with [`ModelMetadata`] as JSON in the header.

use std::collections::HashMap;
use std::path::Path;

use ndarray::{Array1, Array2};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::Deserialize;
use windlass::regress::LinearModel;
use windlass_train::{LayerParameters, Network, Shape, with_checksum, without_checksum};

use crate::gp::GaussianProcess;
use crate::metadata::{EstimatorMetadata, FORMAT, MemberMetadata, ModelMetadata, OLDEST_FORMAT};
use crate::model::{EnsembleMember, Estimator, Model};
use crate::out_of_fold::OutOfFold;
use crate::trees::{TreeArrays, TreeEnsemble};
use crate::{Error, Result};

/// Prefix of the tensor names of members.
const MEMBER: &str = "member";
const FOLD_MEMBER: &str = "fold_member";
/// Prefix of the tensor names of held-out rows.
const OUT_OF_FOLD: &str = "out_of_fold";
/// The key of the metadata in the header.
const KEY: &str = "windlass-model";

/// The part of the metadata that every format has.
#[derive(Deserialize)]
struct FormatVersion {
    format: u32,
    version: String,
}

/// The tensors of a member to be written.
struct MemberWriter {
    prefix: String,
    tensors: Vec<(String, Dtype, Vec<usize>, Vec<u8>)>,
}

impl MemberWriter {
    fn new(prefix: String) -> Self {
        Self { prefix, tensors: vec![] }
    }

    fn put(&mut self, name: &str, dtype: Dtype, shape: &[usize], bytes: Vec<u8>) {
        self.tensors.push((format!("{}.{name}", self.prefix), dtype, shape.to_vec(), bytes));
    }

    fn floats<'a>(&mut self, name: &str, shape: &[usize], values: impl Iterator<Item = &'a f32>) {
        self.put(name, Dtype::F32, shape, values.flat_map(|value| value.to_le_bytes()).collect());
    }

    fn doubles<'a>(&mut self, name: &str, shape: &[usize], values: impl Iterator<Item = &'a f64>) {
        self.put(name, Dtype::F64, shape, values.flat_map(|value| value.to_le_bytes()).collect());
    }

    fn counts(&mut self, name: &str, values: &[u32]) {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.put(name, Dtype::U32, &[values.len()], bytes);
    }

    fn estimator(&mut self, estimator: &Estimator) {
        match estimator {
            Estimator::Network(network) => {
                for (layer, parameters) in network.to_parameters().iter().enumerate() {
                    let LayerParameters { weights, bias } = parameters;
                    let name = |what: &str| format!("layer{layer}.{what}");
                    self.floats(&name("weight"), weights.shape(), weights.iter());
                    self.floats(&name("bias"), &[bias.len()], bias.iter());
                }
            }
            Estimator::Linear(linear) => {
                let (b, c) = (linear.coefficients(), linear.intercept());
                self.doubles("coefficients", b.shape(), b.iter());
                self.doubles("intercept", c.shape(), c.iter());
            }
            Estimator::Trees(trees) => {
                let arrays = trees.to_arrays();
                let starts = arrays.starts.iter().flat_map(|start| start.to_le_bytes()).collect();
                self.put("trees", Dtype::U64, &[arrays.starts.len()], starts);
                self.counts("feature", &arrays.feature);
                self.counts("left", &arrays.left);
                self.counts("right", &arrays.right);
                let nodes = arrays.feature.len();
                self.put("missing_left", Dtype::U8, &[nodes], arrays.missing_left);
                self.doubles("threshold", &[nodes], arrays.threshold.iter());
                self.doubles("value", &[nodes, trees.outputs()], arrays.value.iter());
            }
            Estimator::GaussianProcess(process) => {
                for (name, shape, values) in process.to_arrays() {
                    self.doubles(name, &shape, values.iter());
                }
            }
        }
    }
}

/// The tensors of a member to be read. Files may be damaged: everything is checked.
struct MemberReader<'a> {
    prefix: String,
    tensors: &'a SafeTensors<'a>,
}

type WhyRefused = String;

impl MemberReader<'_> {
    fn list<T, const N: usize>(
        &self,
        name: &str,
        dtype: Dtype,
        of: fn([u8; N]) -> T,
    ) -> Result<(Vec<usize>, Vec<T>), WhyRefused> {
        let name = format!("{}.{name}", self.prefix);
        let tensor = self.tensors.tensor(&name).map_err(|error| error.to_string())?;
        if tensor.dtype() != dtype {
            return Err(format!("`{name}` holds {:?}", tensor.dtype()));
        }
        let values = tensor.data().as_chunks::<N>().0.iter().map(|&bytes| of(bytes)).collect();
        Ok((tensor.shape().to_vec(), values))
    }

    fn has(&self, name: &str) -> bool {
        self.tensors.tensor(&format!("{}.{name}", self.prefix)).is_ok()
    }

    fn floats(&self, name: &str) -> Result<(Vec<usize>, Vec<f32>), WhyRefused> {
        self.list(name, Dtype::F32, f32::from_le_bytes)
    }

    fn doubles(&self, name: &str) -> Result<Vec<f64>, WhyRefused> {
        Ok(self.list(name, Dtype::F64, f64::from_le_bytes)?.1)
    }

    fn counts(&self, name: &str) -> Result<Vec<u32>, WhyRefused> {
        Ok(self.list(name, Dtype::U32, u32::from_le_bytes)?.1)
    }

    fn out_of_fold(&self, targets: usize) -> Result<Option<OutOfFold>, WhyRefused> {
        if !self.has("fold") {
            return Ok(None);
        }
        let folds = self.counts("fold")?;
        let rows = self.list("row", Dtype::U64, u64::from_le_bytes)?.1;
        let weights = if self.has("weight") { Some(self.doubles("weight")?) } else { None };
        let count = folds.len();
        let as_many = |length: usize| length == count;
        if !(rows.is_empty() || as_many(rows.len()))
            || !weights.as_ref().is_none_or(|weights| as_many(weights.len()))
            || folds.iter().any(|&fold| fold as usize >= count)
        {
            return Err("its held-out rows are inconsistent".into());
        }
        let y = matrix((count, targets), self.doubles("target")?)?;
        let predicted = matrix((count, targets), self.doubles("prediction")?)?;
        Ok(Some(OutOfFold { rows, folds, y, predicted, weights }))
    }

    fn estimator(&self, metadata: &MemberMetadata) -> Result<Estimator, WhyRefused> {
        let preprocessing = &metadata.preprocessing;
        let (inputs, outputs) = (preprocessing.width(), preprocessing.targets.len());
        Ok(match &metadata.estimator {
            EstimatorMetadata::Network(shape) => {
                if shape.outputs != outputs {
                    return Err("its metadata are inconsistent".into());
                }
                let shape = Shape { inputs, ..shape.clone() };
                let mut parameters: Vec<LayerParameters> = vec![];
                for layer in 0..=shape.hidden.len() {
                    let (sizes, values) = self.floats(&format!("layer{layer}.weight"))?;
                    let [units, width] = sizes[..] else {
                        return Err("its weights are not a matrix".into());
                    };
                    let weights = matrix((units, width), values)?;
                    let bias = self.floats(&format!("layer{layer}.bias"))?.1;
                    parameters.push(LayerParameters { weights, bias });
                }
                let network = Network::with_parameters(shape, &parameters);
                Estimator::Network(network.map_err(|error| error.to_string())?)
            }
            EstimatorMetadata::Linear => {
                let b = matrix((inputs, outputs), self.doubles("coefficients")?)?;
                let c = Array1::from(self.doubles("intercept")?);
                Estimator::Linear(LinearModel::new(b, c).map_err(|error| error.to_string())?)
            }
            EstimatorMetadata::Trees => {
                let arrays = TreeArrays {
                    width: inputs,
                    targets: outputs,
                    starts: self.list("trees", Dtype::U64, u64::from_le_bytes)?.1,
                    feature: self.counts("feature")?,
                    threshold: self.doubles("threshold")?,
                    left: self.counts("left")?,
                    right: self.counts("right")?,
                    // 0.1.0 had no missing values in trees.
                    missing_left: if self.has("missing_left") {
                        self.list("missing_left", Dtype::U8, |[byte]: [u8; 1]| byte)?.1
                    } else {
                        vec![]
                    },
                    value: self.doubles("value")?,
                };
                Estimator::Trees(TreeEnsemble::from_arrays(arrays)?)
            }
            EstimatorMetadata::GaussianProcess => {
                let read = |name: &str| self.doubles(name);
                Estimator::GaussianProcess(GaussianProcess::from_arrays(inputs, outputs, read)?)
            }
        })
    }
}

fn matrix<T>(shape: (usize, usize), values: Vec<T>) -> Result<Array2<T>, WhyRefused> {
    Array2::from_shape_vec(shape, values).map_err(|error| error.to_string())
}

impl Model {
    /// The bytes of a model file.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut tensors = vec![];
        for (members, prefix) in [(&self.members, MEMBER), (&self.fold_members, FOLD_MEMBER)] {
            for (number, member) in members.iter().enumerate() {
                let mut writer = MemberWriter::new(format!("{prefix}{number}"));
                writer.estimator(&member.estimator);
                tensors.extend(writer.tensors);
            }
        }
        if let Some(OutOfFold { rows, folds, y, predicted, weights }) = &self.out_of_fold {
            let mut writer = MemberWriter::new(OUT_OF_FOLD.to_owned());
            let bytes = rows.iter().flat_map(|row| row.to_le_bytes()).collect();
            writer.put("row", Dtype::U64, &[rows.len()], bytes);
            writer.counts("fold", folds);
            writer.doubles("target", y.shape(), y.iter());
            writer.doubles("prediction", predicted.shape(), predicted.iter());
            if let Some(weights) = weights {
                writer.doubles("weight", &[weights.len()], weights.iter());
            }
            tensors.extend(writer.tensors);
        }
        let mut views = vec![];
        for (name, dtype, shape, data) in &tensors {
            let view = TensorView::new(*dtype, shape.clone(), data);
            views.push((name.clone(), view.expect("its own shape")));
        }
        let metadata = serde_json::to_string(&self.metadata).expect("plain values");
        let metadata =
            with_checksum(&metadata, views.iter().map(|(name, view)| (name.as_str(), view)));
        let metadata = HashMap::from([(KEY.to_owned(), metadata)]);
        safetensors::serialize(views, Some(metadata)).expect("names are different")
    }

    /// Reads a model file.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self> {
        let bad = |why: String| Error::NotAModel { path: path.to_owned(), why };
        let text = |error: &dyn std::fmt::Display| bad(error.to_string());
        let (_, metadata) = SafeTensors::read_metadata(bytes).map_err(|error| text(&error))?;
        let tensors = SafeTensors::deserialize(bytes).map_err(|error| text(&error))?;
        let json = metadata.metadata().as_ref().and_then(|entries| entries.get(KEY));
        let json = json.ok_or_else(|| bad("it has no metadata".into()))?;
        let json = &without_checksum(json, &tensors).map_err(bad)?;
        let head: FormatVersion = serde_json::from_str(json).map_err(|error| text(&error))?;
        if !(OLDEST_FORMAT..=FORMAT).contains(&head.format) {
            let (path, format, version) = (path.to_owned(), head.format, head.version);
            return Err(Error::OtherFormat { path, format, version });
        }
        let metadata: ModelMetadata = serde_json::from_str(json).map_err(|error| text(&error))?;
        let Some(first) = metadata.members.first() else {
            return Err(bad("it has no members".into()));
        };
        let targets = |of: &MemberMetadata| of.preprocessing.targets.len();
        let outputs = targets(first);
        if outputs == 0 {
            return Err(bad("its members have no targets".into()));
        }
        let read = |members: &[MemberMetadata], prefix: &str| {
            let read = |(number, member): (usize, &MemberMetadata)| {
                if targets(member) != outputs {
                    return Err(bad("its members differ in their targets".into()));
                }
                let reader =
                    MemberReader { prefix: format!("{prefix}{number}"), tensors: &tensors };
                let estimator = reader.estimator(member).map_err(bad)?;
                let MemberMetadata { preprocessing, weight, fold, .. } = member.clone();
                Ok(EnsembleMember { preprocessing, estimator, weight, fold })
            };
            members.iter().enumerate().map(read).collect::<Result<Vec<_>>>()
        };
        let members = read(&metadata.members, MEMBER)?;
        let fold_members = read(&metadata.fold_members, FOLD_MEMBER)?;
        let reader = MemberReader { prefix: OUT_OF_FOLD.to_owned(), tensors: &tensors };
        let out_of_fold = reader.out_of_fold(outputs).map_err(bad)?;
        let weights = || members.iter().map(|member| member.weight);
        if !weights().all(|weight| weight > 0.0) || (weights().sum::<f64>() - 1.0).abs() > 1e-6 {
            return Err(bad("the weights of its members do not sum to 1".into()));
        }
        Ok(Self { metadata, members, fold_members, out_of_fold })
    }
}
