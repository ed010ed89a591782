//! All tensors of a network in one flat vector, which is what optimizers and checkpoints work on.

use std::collections::HashMap;

use windlass::{Seed, Stream};

/// A tensor of a network and its initialization.
#[derive(Debug, Clone)]
pub(crate) struct TensorSpec {
    /// Its name, as PyTorch has it.
    pub(crate) name: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) init: Init,
}

/// The initial values of a tensor.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Init {
    /// Uniform on [−bound, bound].
    Uniform(f64),
    /// Normal, by standard deviation.
    Normal(f64),
    /// Constant.
    Constant(f32),
}

impl TensorSpec {
    pub(crate) fn new(name: impl Into<String>, shape: &[usize], init: Init) -> Self {
        Self { name: name.into(), shape: shape.to_vec(), init }
    }

    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product()
    }
}

/// The weight and the bias of a dense or convolutional layer, with PyTorch's initialization.
pub(crate) fn layer(name: &str, shape: &[usize]) -> [TensorSpec; 2] {
    let inputs: usize = shape[1..].iter().product();
    let init = Init::Uniform(1.0 / (inputs as f64).sqrt());
    [
        TensorSpec::new(format!("{name}.weight"), shape, init),
        TensorSpec::new(format!("{name}.bias"), &shape[..1], init),
    ]
}

/// The positions of the tensors in the flat vector.
#[derive(Debug, Clone)]
pub(crate) struct ParamLayout {
    pub(crate) tensors: Vec<TensorSpec>,
    /// The start of each tensor, and the end.
    starts: Vec<usize>,
    places: HashMap<String, usize>,
    /// Number of trainable tensors; the others are buffers such as batch-norm statistics.
    pub(crate) trainable: usize,
}

impl ParamLayout {
    pub(crate) fn new(trainable: Vec<TensorSpec>, buffers: Vec<TensorSpec>) -> Self {
        let count = trainable.len();
        let tensors: Vec<TensorSpec> = trainable.into_iter().chain(buffers).collect();
        let mut starts = vec![0];
        for tensor in &tensors {
            starts.push(starts[starts.len() - 1] + tensor.len());
        }
        let places = tensors.iter().enumerate().map(|(place, one)| (one.name.clone(), place));
        Self { places: places.collect(), starts, trainable: count, tensors }
    }

    /// The place of a tensor; all names are the networks' own.
    pub(crate) fn place(&self, name: &str) -> usize {
        self.places[name]
    }

    pub(crate) fn range(&self, place: usize) -> std::ops::Range<usize> {
        self.starts[place]..self.starts[place + 1]
    }

    /// Number of trainable values.
    pub(crate) fn trainable_values(&self) -> usize {
        self.starts[self.trainable]
    }

    /// The initial values.
    pub(crate) fn initial_values(&self, seed: Seed) -> Vec<f32> {
        let mut values = Vec::with_capacity(self.starts[self.tensors.len()]);
        for (place, tensor) in self.tensors.iter().enumerate() {
            let mut draws = seed.at(Stream::Weights, place as u64, 0);
            #[expect(clippy::cast_possible_truncation, reason = "rounded")]
            let next = || match tensor.init {
                Init::Uniform(bound) => (bound * (2.0 * draws.uniform() - 1.0)) as f32,
                Init::Normal(deviation) => (deviation * draws.normal()) as f32,
                Init::Constant(value) => value,
            };
            values.extend(std::iter::repeat_with(next).take(tensor.len()));
        }
        values
    }
}
