//! All tensors of a network in one list of numbers, so that optimizers and checkpoints need not know them.

use std::collections::HashMap;

use windlass::{Seed, Stream};

/// A tensor of a network, and the values that it starts from.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    /// Its name, as PyTorch has it.
    pub(crate) name: String,
    pub(crate) shape: Vec<usize>,
    pub(crate) first: First,
}

/// The values that a tensor starts from.
#[derive(Debug, Clone, Copy)]
pub(crate) enum First {
    /// Uniform on ± a bound.
    Uniform(f64),
    /// Normal, by deviation.
    Normal(f64),
    /// All the same.
    Constant(f32),
}

impl Named {
    pub(crate) fn new(name: impl Into<String>, shape: &[usize], first: First) -> Self {
        Self { name: name.into(), shape: shape.to_vec(), first }
    }

    pub(crate) fn len(&self) -> usize {
        self.shape.iter().product()
    }
}

/// The weight and the bias of a layer that sees so many inputs at a time, with PyTorch's first values.
pub(crate) fn layer(name: &str, shape: &[usize]) -> [Named; 2] {
    let inputs: usize = shape[1..].iter().product();
    let first = First::Uniform(1.0 / (inputs as f64).sqrt());
    [
        Named::new(format!("{name}.weight"), shape, first),
        Named::new(format!("{name}.bias"), &shape[..1], first),
    ]
}

/// Where the tensors of a network are in its list of numbers.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) tensors: Vec<Named>,
    /// Where each begins; and the end.
    starts: Vec<usize>,
    places: HashMap<String, usize>,
    /// How many tensors are learnt by gradients; the others are remembered of the rows.
    pub(crate) learnt: usize,
}

impl Layout {
    pub(crate) fn new(learnt: Vec<Named>, remembered: Vec<Named>) -> Self {
        let count = learnt.len();
        let tensors: Vec<Named> = learnt.into_iter().chain(remembered).collect();
        let mut starts = vec![0];
        for tensor in &tensors {
            starts.push(starts[starts.len() - 1] + tensor.len());
        }
        let places = tensors.iter().enumerate().map(|(place, one)| (one.name.clone(), place));
        Self { places: places.collect(), starts, learnt: count, tensors }
    }

    /// The place of a tensor; all names are the networks' own.
    pub(crate) fn place(&self, name: &str) -> usize {
        self.places[name]
    }

    pub(crate) fn range(&self, place: usize) -> std::ops::Range<usize> {
        self.starts[place]..self.starts[place + 1]
    }

    /// How many numbers are learnt.
    pub(crate) fn learnt_values(&self) -> usize {
        self.starts[self.learnt]
    }

    /// The values that training starts from.
    pub(crate) fn first(&self, seed: Seed) -> Vec<f32> {
        let mut values = Vec::with_capacity(self.starts[self.tensors.len()]);
        for (place, tensor) in self.tensors.iter().enumerate() {
            let mut draws = seed.at(Stream::Weights, place as u64, 0);
            #[expect(clippy::cast_possible_truncation, reason = "rounded")]
            let next = || match tensor.first {
                First::Uniform(bound) => (bound * (2.0 * draws.uniform() - 1.0)) as f32,
                First::Normal(deviation) => (deviation * draws.normal()) as f32,
                First::Constant(value) => value,
            };
            values.extend(std::iter::repeat_with(next).take(tensor.len()));
        }
        values
    }
}
