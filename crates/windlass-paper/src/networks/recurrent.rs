//! A gated recurrent layer on tensors.
//!
//! On the CPU it is one operation with a backward of its own ([`crate::networks::gru`]): burn's own layer is a graph of a
//! dozen small operations for every step of time, and took twice PyTorch's time. On other devices it is such a graph.

use std::sync::Arc;

use burn_autodiff::Autodiff;
use burn_autodiff::checkpoint::base::Checkpointer;
use burn_autodiff::checkpoint::strategy::NoCheckpointing;
use burn_autodiff::grads::Gradients;
use burn_autodiff::ops::{Backward, Ops, OpsKind};
use burn_flex::{Flex, FlexTensor};
use burn_tensor::activation::{sigmoid, tanh};
use burn_tensor::module::linear;
use burn_tensor::{Tensor, TensorData};

use crate::networks::gru::{self, Sizes, Tape, Weights};
use crate::networks::network::Pass;
use crate::networks::params::{Init, TensorSpec};

/// The names of a layer's tensors after its own name: input weights, state weights, and their biases.
const TENSORS: [&str; 4] = ["weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"];

/// The tensors of a layer, with PyTorch's names and initialization: gates in the order reset, update, new.
pub(crate) fn tensors(name: &str, inputs: usize, hidden: usize) -> [TensorSpec; 4] {
    let shapes =
        [vec![3 * hidden, inputs], vec![3 * hidden, hidden], vec![3 * hidden], vec![3 * hidden]];
    let init = Init::Uniform(1.0 / (hidden as f64).sqrt());
    let mut shapes = shapes.iter();
    TENSORS.map(|what| {
        let shape = shapes.next().expect("a shape for each");
        TensorSpec::new(format!("{name}.{what}"), shape, init)
    })
}

/// The last state of a layer after steps of rows of inputs, from a state of zeros.
pub(crate) fn gru(pass: &Pass<'_>, name: &str, steps: Tensor<3>) -> Tensor<2> {
    let [input, state, input_bias, state_bias] = TENSORS.map(|what| format!("{name}.{what}"));
    let input: Tensor<2> = pass.tensor(&input);
    let state: Tensor<2> = pass.tensor(&state);
    let biases: [Tensor<1>; 2] = [pass.tensor(&input_bias), pass.tensor(&state_bias)];
    let layer = Layer { input, state, biases };
    if !pass.is_on_cpu() {
        return layer.step_by_step(steps);
    }
    if pass.is_training() { layer.fused(steps) } else { layer.fused_forward(steps) }
}

struct Layer {
    input: Tensor<2>,
    state: Tensor<2>,
    biases: [Tensor<1>; 2],
}

impl Layer {
    /// As a graph of burn's operations.
    fn step_by_step(self, steps: Tensor<3>) -> Tensor<2> {
        let [count, rows, inputs] = steps.dims();
        let hidden = self.state.dims()[1];
        let [input_bias, state_bias] = self.biases;
        let flat = steps.reshape([count * rows, inputs]);
        let by_input = linear(flat, self.input.swap_dims(0, 1), Some(input_bias));
        let by_input = by_input.reshape([count, rows, 3 * hidden]);
        let weights = self.state.swap_dims(0, 1);
        let mut state = Tensor::<2>::zeros([rows, hidden], &by_input.device());
        for step in 0..count {
            let by_input = by_input.clone().narrow(0, step, 1).reshape([rows, 3 * hidden]);
            let by_state = linear(state.clone(), weights.clone(), Some(state_bias.clone()));
            let gate = |of: &Tensor<2>, place: usize| {
                of.clone().slice([0..rows, place * hidden..(place + 1) * hidden])
            };
            let reset = sigmoid(gate(&by_input, 0) + gate(&by_state, 0));
            let update = sigmoid(gate(&by_input, 1) + gate(&by_state, 1));
            let new = tanh(gate(&by_input, 2) + reset * gate(&by_state, 2));
            state = new.clone() + update * (state - new);
        }
        state
    }

    /// In one operation, through which gradients flow.
    fn fused(self, steps: Tensor<3>) -> Tensor<2> {
        let [input_bias, state_bias] = self.biases;
        let parents = [
            tracked(steps),
            tracked(self.input),
            tracked(self.state),
            tracked(input_bias),
            tracked(state_bias),
        ];
        let tensors = Tensors(parents.each_ref().map(|tensor| tensor.primitive().to_contiguous()));
        let (output, tape) = tensors.forward();
        let nodes = parents.each_ref().map(Tracked::node);
        let output = match Gru.prepare::<NoCheckpointing>(nodes).compute_bound().stateful() {
            OpsKind::Tracked(prepared) => prepared.finish((tensors, Arc::new(tape)), output),
            OpsKind::UnTracked(prepared) => prepared.finish(output),
        };
        Tensor::from_primitive::<Autodiff<Flex>>(output)
    }

    /// In one operation, for predictions.
    fn fused_forward(self, steps: Tensor<3>) -> Tensor<2> {
        let [input_bias, state_bias] = self.biases;
        let tensors = Tensors([
            plain(steps),
            plain(self.input),
            plain(self.state),
            plain(input_bias),
            plain(state_bias),
        ]);
        Tensor::from_primitive::<Flex>(tensors.forward().0)
    }
}

type Tracked = burn_backend::tensor::FloatTensor<Autodiff<Flex>>;

fn tracked<const D: usize>(tensor: Tensor<D>) -> Tracked {
    tensor.try_into_primitive::<Autodiff<Flex>>().expect("a pass of training on the CPU")
}

fn plain<const D: usize>(tensor: Tensor<D>) -> FlexTensor {
    tensor.try_into_primitive::<Flex>().expect("a pass on the CPU").to_contiguous()
}

/// Steps, weights by the input and by the state, and the biases of both.
#[derive(Debug, Clone)]
struct Tensors([FlexTensor; 5]);

impl Tensors {
    fn sizes(&self) -> Sizes {
        let [steps, _, state, ..] = &self.0;
        let shape = steps.layout().shape();
        let hidden = state.layout().shape()[1];
        Sizes { steps: shape[0], rows: shape[1], inputs: shape[2], hidden }
    }

    fn slices(&self) -> (&[f32], Weights<'_>) {
        let slice = |tensor| FlexTensor::as_slice::<f32>(tensor).expect("contiguous, of 32 bits");
        let [steps, input, hidden, input_bias, hidden_bias] = self.0.each_ref().map(slice);
        (steps, Weights { input, hidden, input_bias, hidden_bias })
    }

    fn forward(&self) -> (FlexTensor, Tape) {
        let sizes = self.sizes();
        let (steps, weights) = self.slices();
        let (output, tape) = gru::forward(&sizes, steps, &weights);
        let data = TensorData::new(output, [sizes.rows, sizes.hidden]);
        (FlexTensor::from_data(data), tape)
    }
}

#[derive(Debug)]
struct Gru;

impl Backward<Flex, 5> for Gru {
    type State = (Tensors, Arc<Tape>);

    fn backward(
        self,
        ops: Ops<Self::State, 5>,
        gradients: &mut Gradients,
        _checkpointer: &mut Checkpointer,
    ) {
        let (tensors, tape) = ops.state;
        let by_output = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let by_output = by_output.as_slice().expect("contiguous, of 32 bits");
        let sizes = tensors.sizes();
        let (steps, weights) = tensors.slices();
        let gru::Gradients { x, input, hidden, input_bias, hidden_bias } =
            gru::backward(&sizes, steps, &weights, &tape, by_output);
        let found = [x, input, hidden, input_bias, hidden_bias];
        for ((parent, found), tensor) in ops.parents.into_iter().zip(found).zip(&tensors.0) {
            if let Some(node) = parent {
                let data = TensorData::new(found, tensor.layout().shape().clone());
                gradients.register::<Flex>(node.id, FlexTensor::from_data(data));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use windlass::Seed;

    use super::*;
    use crate::networks::network::numbers;
    use crate::networks::params::ParamLayout;

    /// What runs on other devices is what runs on the CPU, and so are its gradients.
    #[test]
    fn the_graph_is_the_fused_layer() {
        let (steps, rows, inputs, hidden) = (4, 5, 3, 2);
        let mut named = tensors("gru", inputs, hidden).to_vec();
        named.push(TensorSpec::new("x", &[steps, rows, inputs], Init::Uniform(1.0)));
        let layout = ParamLayout::new(named, vec![]);
        let values = layout.initial_values(Seed(4));
        let run = |fused: bool| {
            let pass =
                Pass::new(&layout, &values, crate::networks::Device::Cpu, Some((Seed(0), 0)));
            let x: Tensor<3> = pass.tensor("x");
            let layer = Layer {
                input: pass.tensor("gru.weight_ih_l0"),
                state: pass.tensor("gru.weight_hh_l0"),
                biases: [pass.tensor("gru.bias_ih_l0"), pass.tensor("gru.bias_hh_l0")],
            };
            let out = if fused { layer.fused(x) } else { layer.step_by_step(x) };
            let mut all = numbers(out.clone().detach());
            let mut gradients = (out.clone() * out).sum().backward();
            for tensor in pass.trainable() {
                all.extend(numbers(tensor.grad_remove(&mut gradients).expect("a gradient")));
            }
            all
        };
        let (fused, graph) = (run(true), run(false));
        assert_eq!(fused.len(), rows * hidden + values.len());
        assert_eq!(fused.len(), graph.len());
        for (fused, graph) in fused.iter().zip(&graph) {
            assert!((fused - graph).abs() < 1e-5, "{fused}, {graph}");
        }
    }
}
