//! Adapts deep networks to the training loop of [`windlass_train`].

use std::sync::Arc;

use burn_tensor::Tensor;
use ndarray::{Array2, ArrayView2, Axis};
use windlass::Seed;
use windlass_train::{Architecture, Error, Learner, Result, Step};

use crate::networks::device::Device;
use crate::networks::mixing;
use crate::networks::network::{Network, Pass, numbers};
use crate::networks::params::ParamLayout;
use crate::networks::pretrained;
use crate::networks::spec::NetworkSpec;

/// A deep network, on a device: what a [`RunSpec`](windlass_train::RunSpec) of one names.
#[derive(Debug, Clone, PartialEq)]
pub struct DeepArchitecture {
    description: NetworkSpec,
    device: Device,
}

impl DeepArchitecture {
    /// Returns an error for invalid sizes and devices that are not built in.
    pub fn new(description: NetworkSpec, device: Device) -> Result<Self> {
        description
            .check()
            .map_err(|why| Error::Network { why: format!("{}: {why}", description.name()) })?;
        device.check()?;
        Ok(Self { description, device })
    }

    /// The specification.
    #[must_use]
    pub fn description(&self) -> &NetworkSpec {
        &self.description
    }

    fn network(&self) -> Arc<dyn Network> {
        match &self.description {
            NetworkSpec::Lstnet(net) => Arc::new(net.clone()),
            NetworkSpec::Resnet18(net) => Arc::new(net.clone()),
            NetworkSpec::Deepdta(net) => Arc::new(net.clone()),
        }
    }
}

impl Architecture for DeepArchitecture {
    type Network = DeepNetwork;

    fn inputs(&self) -> usize {
        self.description.inputs()
    }

    fn outputs(&self) -> usize {
        self.description.outputs()
    }

    fn hidden(&self) -> usize {
        self.description.layers()
    }

    fn is_encoded(&self) -> bool {
        matches!(self.description, NetworkSpec::Deepdta(_))
    }

    fn network(&self, seed: Seed) -> Result<DeepNetwork> {
        let network = self.network();
        let layout = Arc::new(network.layout());
        let mut values = layout.initial_values(seed);
        if let NetworkSpec::Resnet18(net) = &self.description
            && let Some(path) = &net.weights
        {
            pretrained::load(path, &layout, &mut values)?;
        }
        Ok(DeepNetwork { deep: self.clone(), network, layout, values })
    }
}

/// A deep network with its weights.
#[derive(Debug, Clone)]
pub struct DeepNetwork {
    deep: DeepArchitecture,
    network: Arc<dyn Network>,
    layout: Arc<ParamLayout>,
    values: Vec<f32>,
}

/// Gradients of the last pass.
#[derive(Debug, Default)]
pub struct Workspace {
    gradient: Vec<f32>,
    by_outputs: Vec<f32>,
    overflown: bool,
}

impl DeepNetwork {
    /// The input tensor for rows.
    fn input(&self, pass: &Pass<'_>, rows: Vec<f32>, count: usize) -> Tensor<2> {
        let rows = self.network.encode(rows);
        let width = rows.len() / count;
        pass.matrix(rows, [count, width])
    }

    /// The tensors, by PyTorch's names: their shapes and numbers.
    pub fn tensors(&self) -> impl Iterator<Item = (&str, &[usize], &[f32])> {
        self.layout.tensors.iter().enumerate().map(|(place, tensor)| {
            (&tensor.name[..], &tensor.shape[..], &self.values[self.layout.range(place)])
        })
    }

    /// The values of a tensor; `None` if unknown.
    pub fn tensor_mut(&mut self, name: &str) -> Option<&mut [f32]> {
        let place = self.layout.tensors.iter().position(|tensor| tensor.name == name)?;
        Some(&mut self.values[self.layout.range(place)])
    }
}

impl Learner for DeepNetwork {
    type Workspace = Workspace;

    fn parameters(&self) -> &[f32] {
        &self.values
    }

    fn parameters_mut(&mut self) -> &mut [f32] {
        &mut self.values
    }

    fn trainable(&self) -> usize {
        self.layout.trainable_values()
    }

    fn backprop(&mut self, step: &Step<'_>, workspace: &mut Workspace) -> Result<Option<f64>> {
        let pass =
            Pass::new(&self.layout, &self.values, self.deep.device, Some((step.seed, step.number)));
        let input = self.input(&pass, step.x.to_vec(), step.x.rows());
        let outputs = match &step.hidden_mix {
            None => self.network.forward_from(&pass, 0, input),
            Some(inside) => {
                let rows = self.network.forward_to(&pass, inside.layer, input);
                let mut made = mixing::apply(&pass, inside.mixing, rows.clone());
                if inside.originals {
                    let [count, width] = made.dims();
                    made = Tensor::cat(vec![rows.slice([0..count, 0..width]), made], 0);
                }
                self.network.forward_from(&pass, inside.layer, made)
            }
        };
        let predicted = numbers(outputs.clone().detach());
        workspace.overflown = !predicted.iter().all(|value| value.is_finite());
        let width = self.deep.outputs();
        let loss =
            step.loss.mean(&predicted, width, step.y, step.weight, &mut workspace.by_outputs);
        let Some(loss) = loss else { return Ok(None) };
        // The trainer computes the loss and its gradient by the outputs; this sum has the same gradient by the weights.
        let by_outputs = pass.matrix(workspace.by_outputs.clone(), outputs.dims());
        let mut gradients = (outputs * by_outputs).sum().backward();
        workspace.gradient.clear();
        for (place, tensor) in pass.trainable().iter().enumerate() {
            match tensor.grad_remove(&mut gradients) {
                Some(gradient) => workspace.gradient.extend(numbers(gradient)),
                // The outputs do not depend on this tensor.
                None => workspace.gradient.resize(self.layout.range(place).end, 0.0),
            }
        }
        for (place, seen) in pass.into_buffers() {
            self.values[self.layout.range(place)].copy_from_slice(&seen);
        }
        Ok(Some(loss))
    }

    fn gradient(workspace: &mut Workspace) -> &mut [f32] {
        &mut workspace.gradient
    }

    fn has_overflowed(workspace: &Workspace) -> bool {
        workspace.overflown
    }

    fn predict(&self, x: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
        /// Rows at a time: what a network makes of them inside is much larger than they are.
        const ROWS: usize = 128;
        let (expected, got) = (self.deep.inputs(), x.ncols());
        if expected != got {
            return Err(Error::Columns { what: "features", expected, got });
        }
        let pass = Pass::new(&self.layout, &self.values, self.deep.device, None);
        let mut out = Vec::with_capacity(x.nrows() * self.deep.outputs());
        for rows in x.axis_chunks_iter(Axis(0), ROWS) {
            let input = self.input(&pass, rows.iter().copied().collect(), rows.nrows());
            out.extend(numbers(self.network.forward_from(&pass, 0, input)));
        }
        let shape = (x.nrows(), self.deep.outputs());
        Ok(Array2::from_shape_vec(shape, out).expect("an output for every row"))
    }
}
