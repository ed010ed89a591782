//! Dense networks: layers of `activation(x·W + b)`, the last without an activation.
//!
//! ```
//! use ndarray::array;
//! use windlass::Seed;
//! use windlass_train::{Network, Shape};
//!
//! let network = Network::new(Shape::fcn3(5, 1), Seed(0))?;
//! assert_eq!(network.parameters(), (5 + 1) * 128 + (128 + 1) * 128 + 129);
//! let prediction = network.predict(array![[0.1, 0.2, 0.3, 0.4, 0.5_f32]].view())?;
//! assert_eq!(prediction.dim(), (1, 1));
//! # Ok::<(), windlass_train::Error>(())
//! ```

use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};
use windlass::{Seed, Stream};

use crate::backprop::Backprop;
use crate::gemm::{Left, padded, product, product_with_rows, vectorized};
use crate::{Architecture, Error, Learner, Result, Step};

/// What a hidden unit makes of its sum.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// `max(x, 0)`.
    #[default]
    Relu,
    /// `x`, times a slope where it is negative.
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
            // A negative slope would make the value of a unit say nothing of its sum's sign.
            Self::LeakyRelu(slope) if !(0.0..=1.0).contains(&slope) => {
                Err(Error::OutOfRange { name: "slope", range: "[0, 1]", got: slope.into() })
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn apply(self, values: &mut [f32], width: usize, units: usize) {
        match self {
            Self::Relu => bend(values, 0.0),
            Self::LeakyRelu(slope) => bend(values, slope),
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

    /// Multiplies a gradient by the derivative, told by what the units gave.
    pub(crate) fn back(self, given: &[f32], gradient: &mut [f32]) {
        match self {
            Self::Relu => bend_back(given, gradient, 0.0),
            Self::LeakyRelu(slope) => bend_back(given, gradient, slope),
            Self::Sigmoid => {
                for (g, &h) in gradient.iter_mut().zip(given) {
                    *g *= h * (1.0 - h);
                }
            }
            Self::Tanh => {
                for (g, &h) in gradient.iter_mut().zip(given) {
                    *g *= 1.0 - h * h;
                }
            }
            Self::Identity => {}
        }
    }
}

fn bend(values: &mut [f32], slope: f32) {
    // By value: the compiler would not know that the slope is none of the values.
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

fn bend_back(given: &[f32], gradient: &mut [f32], slope: f32) {
    vectorized(
        (gradient, given, slope),
        #[inline(always)]
        |(gradient, given, slope)| {
            for (g, &h) in gradient.iter_mut().zip(given) {
                *g *= if h > 0.0 { 1.0 } else { slope };
            }
        },
    );
}

/// How many units a network has, and what they do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Shape {
    /// Features.
    pub inputs: usize,
    /// Units of every hidden layer; none make a linear model.
    pub hidden: Vec<usize>,
    /// Targets.
    pub outputs: usize,
    /// What hidden units do.
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
        /// Weights of a network: more would be a mistake, not a model of a table.
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

/// One layer: where its weights are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Layer {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    /// Of a hidden layer `inputs` rows of whole lanes of units; of the last `outputs` rows of whole lanes
    /// of inputs: it has few units, and lanes of them would be mostly empty.
    pub(crate) weights: (usize, usize),
    pub(crate) bias: (usize, usize),
    pub(crate) last: bool,
}

/// A network with its weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    shape: Shape,
    pub(crate) layers: Vec<Layer>,
    /// All weights and biases, with zeros where lanes are not full.
    pub(crate) values: Vec<f32>,
}

/// The weights and the bias of a layer, as PyTorch has them: a row of weights for every unit.
pub type Parameters = (Array2<f32>, Vec<f32>);

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
        for (place, ends) in widths.windows(2).enumerate() {
            let (inputs, outputs) = (ends[0], ends[1]);
            let last = place == shape.hidden.len();
            let weights =
                take(if last { outputs * padded(inputs) } else { inputs * padded(outputs) });
            layers.push(Layer { inputs, outputs, weights, bias: take(padded(outputs)), last });
        }
        Ok(Self { shape, layers, values: vec![0.0; end] })
    }

    /// A network with fresh weights, uniform on ±1/√inputs of the layer, as PyTorch's `Linear` has them.
    pub fn new(shape: Shape, seed: Seed) -> Result<Self> {
        let mut network = Self::zeros(shape)?;
        for (place, layer) in network.layers.clone().into_iter().enumerate() {
            let bound = 1.0 / (layer.inputs as f64).sqrt();
            for unit in 0..layer.outputs {
                let mut draws = seed.at(Stream::Weights, place as u64, unit as u64);
                #[expect(clippy::cast_possible_truncation, reason = "rounded")]
                let mut next = || (bound * (2.0 * draws.uniform() - 1.0)) as f32;
                for input in 0..layer.inputs {
                    let index = layer.index(unit, input);
                    network.values[index] = next();
                }
                network.values[layer.bias.0 + unit] = next();
            }
        }
        Ok(network)
    }

    /// A network with given weights.
    pub fn with_parameters(shape: Shape, parameters: &[Parameters]) -> Result<Self> {
        let mut network = Self::zeros(shape)?;
        if parameters.len() != network.layers.len() {
            return Err(Error::OtherShape { what: "layers" });
        }
        for (layer, (weights, bias)) in network.layers.clone().iter().zip(parameters) {
            if weights.dim() != (layer.outputs, layer.inputs) || bias.len() != layer.outputs {
                return Err(Error::OtherShape { what: "units" });
            }
            for ((unit, input), &weight) in weights.indexed_iter() {
                let index = layer.index(unit, input);
                network.values[index] = weight;
            }
            network.values[layer.bias.0..][..layer.outputs].copy_from_slice(bias);
        }
        if !network.values.iter().all(|value| value.is_finite()) {
            return Err(Error::NotFinite { what: "a weight" });
        }
        Ok(network)
    }

    /// The weights and bias of every layer.
    #[must_use]
    pub fn to_parameters(&self) -> Vec<Parameters> {
        let layer = |layer: &Layer| {
            let weight = |(unit, input)| self.values[layer.index(unit, input)];
            let weights = Array2::from_shape_fn((layer.outputs, layer.inputs), weight);
            (weights, self.values[layer.bias.0..][..layer.outputs].to_vec())
        };
        self.layers.iter().map(layer).collect()
    }

    /// Its shape.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The number of weights and biases.
    #[must_use]
    pub fn parameters(&self) -> usize {
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
            spread(from, &mut input);
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

    /// What a layer makes of some rows.
    pub(crate) fn forward(&self, layer: &Layer, input: &[f32], rows: usize, out: &mut Vec<f32>) {
        let (weights, bias) = (self.weights(layer), self.bias(layer));
        let (from, to) = (padded(layer.inputs), padded(layer.outputs));
        out.resize(rows * to, 0.0);
        if layer.last {
            // Behind the last unit nothing is written.
            out.fill(0.0);
            product_with_rows(input, weights, from, &bias[..layer.outputs], out, to);
        } else {
            let left = Left::plain(input, rows, from);
            product(left, layer.inputs, weights, to, Some(bias), out);
            self.shape.activation.apply(out, to, layer.outputs);
        }
    }

    pub(crate) fn weights(&self, layer: &Layer) -> &[f32] {
        &self.values[layer.weights.0..layer.weights.1]
    }

    fn bias(&self, layer: &Layer) -> &[f32] {
        &self.values[layer.bias.0..layer.bias.1]
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

impl Learner for Network {
    type Workspace = Backprop;

    fn values(&self) -> &[f32] {
        &self.values
    }

    fn values_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    fn pass(&mut self, step: &Step<'_>, workspace: &mut Backprop) -> Result<Option<f64>> {
        workspace.run(self, step)
    }

    fn gradient(workspace: &mut Backprop) -> &mut [f32] {
        &mut workspace.by_weights
    }

    fn has_overflown(workspace: &Backprop) -> bool {
        workspace.has_overflown()
    }

    fn predict(&self, x: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
        Network::predict(self, x)
    }
}

impl Layer {
    fn index(&self, unit: usize, input: usize) -> usize {
        let place = if self.last {
            unit * padded(self.inputs) + input
        } else {
            input * padded(self.outputs) + unit
        };
        self.weights.0 + place
    }
}

/// Rows in whole lanes.
pub(crate) fn spread(rows: ArrayView2<'_, f32>, out: &mut Vec<f32>) {
    let width = padded(rows.ncols());
    out.clear();
    out.resize(rows.nrows() * width, 0.0);
    for (row, out) in rows.rows().into_iter().zip(out.chunks_exact_mut(width)) {
        row.iter().zip(out).for_each(|(&value, out)| *out = value);
    }
}

/// Some of the rows of a matrix in standard layout, in whole lanes.
pub(crate) fn spread_some(all: &Array2<f32>, rows: &[usize], out: &mut Vec<f32>) {
    let (given, width) = (all.ncols(), padded(all.ncols()));
    let all = all.as_slice().expect("standard layout");
    out.clear();
    out.resize(rows.len() * width, 0.0);
    for (&row, out) in rows.iter().zip(out.chunks_exact_mut(width)) {
        out[..given].copy_from_slice(&all[row * given..][..given]);
    }
}
