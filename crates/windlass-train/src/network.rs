//! Dense networks: layers of `activation(x·W + b)`, the last without an activation.
//!
//! ```
//! use ndarray::array;
//! use windlass::Seed;
//! use windlass_train::{Network, Shape};
//!
//! let network = Network::new(Shape::fcn3(5, 1), Seed(0))?;
//! assert_eq!(network.parameter_count(), (5 + 1) * 128 + (128 + 1) * 128 + 129);
//! let prediction = network.predict(array![[0.1, 0.2, 0.3, 0.4, 0.5_f32]].view())?;
//! assert_eq!(prediction.dim(), (1, 1));
//! # Ok::<(), windlass_train::Error>(())
//! ```

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};
use windlass::{Seed, Stream};

use crate::gemm::{Strided, matmul, matmul_transposed, padded, vectorized};
use crate::learner::Architecture;
use crate::{Error, Result};

/// An activation function.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// `max(x, 0)`.
    #[default]
    Relu,
    /// `x` if it is positive, else `x` times a slope.
    LeakyRelu(f32),
    /// `1 / (1 + e⁻ˣ)`.
    Sigmoid,
    /// `tanh x`.
    Tanh,
    /// `x`.
    Identity,
}

impl Activation {
    fn check(self) -> Result<()> {
        match self {
            // With a negative slope, the output does not determine the sign of the input.
            Self::LeakyRelu(slope) if !(0.0..=1.0).contains(&slope) => {
                Err(Error::OutOfRange { name: "slope", range: "[0, 1]", got: slope.into() })
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn apply(self, values: &mut [f32], width: usize, units: usize) {
        match self {
            Self::Relu => leaky_relu(values, 0.0),
            Self::LeakyRelu(slope) => leaky_relu(values, slope),
            Self::Tanh => values.iter_mut().for_each(|x| *x = libm::tanhf(*x)),
            Self::Sigmoid => {
                for row in values.chunks_exact_mut(width) {
                    for x in &mut row[..units] {
                        *x = 1.0 / (1.0 + libm::expf(-*x));
                    }
                }
            }
            Self::Identity => {}
        }
    }

    /// Multiplies a gradient by the derivative, a function of the outputs of the units.
    pub(crate) fn backward(self, activations: &[f32], gradient: &mut [f32]) {
        match self {
            Self::Relu => leaky_relu_backward(activations, gradient, 0.0),
            Self::LeakyRelu(slope) => leaky_relu_backward(activations, gradient, slope),
            Self::Sigmoid => {
                for (g, &h) in gradient.iter_mut().zip(activations) {
                    *g *= h * (1.0 - h);
                }
            }
            Self::Tanh => {
                for (g, &h) in gradient.iter_mut().zip(activations) {
                    *g *= 1.0 - h * h;
                }
            }
            Self::Identity => {}
        }
    }
}

fn leaky_relu(values: &mut [f32], slope: f32) {
    // The slope is passed by value, so that the compiler knows that it does not alias.
    vectorized(
        (values, slope),
        #[inline(always)]
        |(values, slope)| {
            for x in values {
                *x *= if *x > 0.0 { 1.0 } else { slope };
            }
        },
    );
}

fn leaky_relu_backward(activations: &[f32], gradient: &mut [f32], slope: f32) {
    vectorized(
        (gradient, activations, slope),
        #[inline(always)]
        |(gradient, activations, slope)| {
            for (g, &h) in gradient.iter_mut().zip(activations) {
                *g *= if h > 0.0 { 1.0 } else { slope };
            }
        },
    );
}

/// The layer sizes and the activation function of a dense network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// Number of features.
    pub inputs: usize,
    /// Units of every hidden layer; a linear model has none.
    pub hidden: Vec<usize>,
    /// Number of targets.
    pub outputs: usize,
    /// The activation function of hidden layers.
    pub activation: Activation,
}

impl Shape {
    /// The paper's network for tables: two hidden layers of 128 units, `LeakyReLU` with slope 0.1.
    #[must_use]
    pub fn fcn3(inputs: usize, outputs: usize) -> Self {
        let activation = Activation::LeakyRelu(0.1);
        Self { inputs, hidden: vec![128, 128], outputs, activation }
    }

    /// One hidden layer.
    #[must_use]
    pub fn mlp(inputs: usize, hidden: usize, activation: Activation, outputs: usize) -> Self {
        Self { inputs, hidden: vec![hidden], outputs, activation }
    }

    /// The paper's network for curves: five hidden layers of 50 units, `ReLU`.
    #[must_use]
    pub fn mlp5x50(inputs: usize, outputs: usize) -> Self {
        Self { inputs, hidden: vec![50; 5], outputs, activation: Activation::Relu }
    }

    fn check(&self) -> Result<()> {
        /// Maximum number of weights.
        const MOST: usize = 1 << 28;
        self.activation.check()?;
        let widths = [&[self.inputs][..], &self.hidden, &[self.outputs]].concat();
        if widths.contains(&0) {
            return Err(Error::NoUnits);
        }
        let weights = widths
            .windows(2)
            .try_fold(0_usize, |sum, ends| sum.checked_add(ends[0].checked_mul(padded(ends[1]))?));
        match weights {
            Some(weights) if weights <= MOST => Ok(()),
            _ => Err(Error::TooManyWeights { most: MOST }),
        }
    }
}

/// The ranges of a layer in the parameters of a network.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Layer {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// A hidden layer has `inputs` rows of units, the last layer `outputs` rows of inputs; rows are padded to
    /// whole lanes. The last layer has few units, so lanes of them would be mostly empty.
    pub(crate) weights: (usize, usize),
    pub(crate) bias: (usize, usize),
    pub(crate) last: bool,
}

/// A network with its weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    shape: Shape,
    pub(crate) layers: Vec<Layer>,
    /// All weights and biases, padded with zeros to whole lanes.
    pub(crate) parameters: Vec<f32>,
}

/// The parameters of a layer in the layout of PyTorch.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerParameters {
    /// One row per unit.
    pub weights: Array2<f32>,
    /// One value per unit.
    pub bias: Vec<f32>,
}

impl Network {
    fn zeros(shape: Shape) -> Result<Self> {
        shape.check()?;
        let widths = [&[shape.inputs][..], &shape.hidden, &[shape.outputs]].concat();
        let (mut layers, mut end) = (vec![], 0);
        let mut take = |count: usize| {
            let start = end;
            end += count;
            (start, end)
        };
        for (index, ends) in widths.windows(2).enumerate() {
            let (inputs, outputs) = (ends[0], ends[1]);
            let last = index == shape.hidden.len();
            let weights =
                take(if last { outputs * padded(inputs) } else { inputs * padded(outputs) });
            layers.push(Layer { inputs, outputs, weights, bias: take(padded(outputs)), last });
        }
        Ok(Self { shape, layers, parameters: vec![0.0; end] })
    }

    /// A network with random weights, uniform on ±1/√inputs of the layer, as in PyTorch's `Linear`.
    pub fn new(shape: Shape, seed: Seed) -> Result<Self> {
        let mut network = Self::zeros(shape)?;
        for (number, layer) in network.layers.clone().into_iter().enumerate() {
            let bound = 1.0 / (layer.inputs as f64).sqrt();
            for unit in 0..layer.outputs {
                let mut draws = seed.at(Stream::Weights, number as u64, unit as u64);
                #[expect(clippy::cast_possible_truncation, reason = "rounded")]
                let mut next = || (bound * (2.0 * draws.uniform() - 1.0)) as f32;
                for input in 0..layer.inputs {
                    let index = layer.index(unit, input);
                    network.parameters[index] = next();
                }
                network.parameters[layer.bias.0 + unit] = next();
            }
        }
        Ok(network)
    }

    /// A network with the given weights.
    pub fn with_parameters(shape: Shape, parameters: &[LayerParameters]) -> Result<Self> {
        let mut network = Self::zeros(shape)?;
        if parameters.len() != network.layers.len() {
            return Err(Error::OtherShape { what: "layers" });
        }
        for (layer, parameters) in network.layers.clone().iter().zip(parameters) {
            let LayerParameters { weights, bias } = parameters;
            if weights.dim() != (layer.outputs, layer.inputs) || bias.len() != layer.outputs {
                return Err(Error::OtherShape { what: "units" });
            }
            for ((unit, input), &weight) in weights.indexed_iter() {
                let index = layer.index(unit, input);
                network.parameters[index] = weight;
            }
            network.parameters[layer.bias.0..][..layer.outputs].copy_from_slice(bias);
        }
        if !network.parameters.iter().all(|value| value.is_finite()) {
            return Err(Error::NotFinite { what: "a weight" });
        }
        Ok(network)
    }

    /// The weights and bias of every layer.
    #[must_use]
    pub fn to_parameters(&self) -> Vec<LayerParameters> {
        let layer = |layer: &Layer| {
            let weight = |(unit, input)| self.parameters[layer.index(unit, input)];
            let weights = Array2::from_shape_fn((layer.outputs, layer.inputs), weight);
            let bias = self.parameters[layer.bias.0..][..layer.outputs].to_vec();
            LayerParameters { weights, bias }
        };
        self.layers.iter().map(layer).collect()
    }

    /// The layer sizes and the activation function.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The number of weights and biases.
    #[must_use]
    pub fn parameter_count(&self) -> usize {
        self.layers.iter().map(|layer| (layer.inputs + 1) * layer.outputs).sum()
    }

    /// The output for every row.
    pub fn predict(&self, x: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
        /// Rows at a time: their hidden units stay in the cache.
        const ROWS: usize = 64;
        if x.ncols() != self.shape.inputs {
            let (expected, got) = (self.shape.inputs, x.ncols());
            return Err(Error::Columns { what: "features", expected, got });
        }
        let mut out = Array2::zeros((x.nrows(), self.shape.outputs));
        let (mut input, mut next) = (vec![], vec![]);
        for (from, mut to) in x
            .axis_chunks_iter(ndarray::Axis(0), ROWS)
            .zip(out.axis_chunks_iter_mut(ndarray::Axis(0), ROWS))
        {
            pad_rows(from, &mut input);
            for layer in &self.layers {
                self.forward(layer, &input, from.nrows(), &mut next);
                std::mem::swap(&mut input, &mut next);
            }
            let width = padded(self.shape.outputs);
            for (mut to, from) in to.rows_mut().into_iter().zip(input.chunks_exact(width)) {
                to.iter_mut().zip(from).for_each(|(to, &from)| *to = from);
            }
        }
        Ok(out)
    }

    /// The outputs of hidden layer `layer`, from 1, for every row.
    pub(crate) fn hidden(&self, x: ArrayView2<'_, f32>, layer: usize) -> Array2<f32> {
        let (mut input, mut next, mut width) = (vec![], vec![], x.ncols());
        pad_rows(x, &mut input);
        for layer in self.layers.iter().take(layer) {
            self.forward(layer, &input, x.nrows(), &mut next);
            std::mem::swap(&mut input, &mut next);
            width = layer.outputs;
        }
        let padded = input.len() / x.nrows().max(1);
        Array2::from_shape_fn((x.nrows(), width), |(i, j)| input[i * padded + j])
    }

    /// The outputs of a layer for padded rows.
    pub(crate) fn forward(&self, layer: &Layer, input: &[f32], rows: usize, out: &mut Vec<f32>) {
        let (weights, bias) = (self.weights(layer), self.bias(layer));
        let (from, to) = (padded(layer.inputs), padded(layer.outputs));
        out.resize(rows * to, 0.0);
        if layer.last {
            // The product does not write the padding.
            out.fill(0.0);
            matmul_transposed(input, weights, from, &bias[..layer.outputs], out, to);
        } else {
            let left = Strided::row_major(input, rows, from);
            matmul(left, layer.inputs, weights, to, Some(bias), out);
            self.shape.activation.apply(out, to, layer.outputs);
        }
    }

    pub(crate) fn weights(&self, layer: &Layer) -> &[f32] {
        &self.parameters[layer.weights.0..layer.weights.1]
    }

    fn bias(&self, layer: &Layer) -> &[f32] {
        &self.parameters[layer.bias.0..layer.bias.1]
    }
}

impl Architecture for Shape {
    type Network = Network;

    fn inputs(&self) -> usize {
        self.inputs
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn hidden(&self) -> usize {
        self.hidden.len()
    }

    fn network(&self, seed: Seed) -> Result<Network> {
        Network::new(self.clone(), seed)
    }
}

impl Layer {
    fn index(&self, unit: usize, input: usize) -> usize {
        let offset = if self.last {
            unit * padded(self.inputs) + input
        } else {
            input * padded(self.outputs) + unit
        };
        self.weights.0 + offset
    }
}

/// Copies rows, padded to whole lanes.
pub(crate) fn pad_rows(rows: ArrayView2<'_, f32>, out: &mut Vec<f32>) {
    let width = padded(rows.ncols());
    out.clear();
    out.resize(rows.nrows() * width, 0.0);
    for (row, out) in rows.rows().into_iter().zip(out.chunks_exact_mut(width)) {
        row.iter().zip(out).for_each(|(&value, out)| *out = value);
    }
}

/// Copies some rows of a matrix in standard layout, padded to whole lanes.
pub(crate) fn pad_selected_rows(all: &Array2<f32>, rows: &[usize], out: &mut Vec<f32>) {
    let (columns, width) = (all.ncols(), padded(all.ncols()));
    let all = all.as_slice().expect("standard layout");
    out.clear();
    out.resize(rows.len() * width, 0.0);
    for (&row, out) in rows.iter().zip(out.chunks_exact_mut(width)) {
        out[..columns].copy_from_slice(&all[row * columns..][..columns]);
    }
}
