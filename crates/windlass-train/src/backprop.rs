//! Backpropagation: the loss of a batch and its gradient with respect to every weight.
//!
//! A method of augmentation is a linear map on rows ([`Mixing`](windlass::Mixing)), so it can follow any layer.
//! Forward, the map turns the outputs of hidden layer l for the rows of the batch (for mixups, the pairs) into
//! those of the synthetic rows; backward, its transpose carries the gradient back.

use ndarray::{Array2, ArrayView2};
use windlass::Real;

use crate::Result;
use crate::gemm::{Strided, column_sums, matmul, padded, transpose};
use crate::learner::{BatchInput, HiddenMix, Learner, Step};
use crate::network::{Network, pad_rows, pad_selected_rows};

impl Learner for Network {
    type Workspace = Backprop;

    fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    fn parameters_mut(&mut self) -> &mut [f32] {
        &mut self.parameters
    }

    fn backprop(&mut self, step: &Step<'_>, workspace: &mut Backprop) -> Result<Option<f64>> {
        workspace.run(self, step)
    }

    fn gradient(workspace: &mut Backprop) -> &mut [f32] {
        &mut workspace.weight_gradient
    }

    fn has_overflowed(workspace: &Backprop) -> bool {
        workspace.has_overflowed()
    }

    fn predict(&self, x: ArrayView2<'_, f32>) -> Result<Array2<f32>> {
        Network::predict(self, x)
    }

    fn hidden(&self, x: ArrayView2<'_, f32>, layer: usize) -> Result<Array2<f32>> {
        Ok(Network::hidden(self, x, layer))
    }
}

/// Buffers of a step, reused by the next. All rows are padded to whole lanes.
#[derive(Debug, Default)]
pub struct Backprop {
    input: Vec<f32>,
    /// The outputs of every layer.
    activations: Vec<Vec<f32>>,
    /// The inputs of the layer after [`HiddenMix`].
    mixed: Vec<f32>,
    /// The gradient with respect to the outputs of a layer, and to its inputs.
    output_gradient: Vec<f32>,
    input_gradient: Vec<f32>,
    output_gradient_transposed: Vec<f32>,
    input_gradient_transposed: Vec<f32>,
    pub(crate) weight_gradient: Vec<f32>,
}

impl Backprop {
    /// The loss of a step, `None` if all its rows weigh 0; the gradient is in `weight_gradient`.
    pub(crate) fn run(&mut self, network: &Network, step: &Step<'_>) -> Result<Option<f64>> {
        match step.x {
            BatchInput::Selected { x, rows } => pad_selected_rows(x, rows, &mut self.input),
            BatchInput::All(x) => pad_rows(x, &mut self.input),
        }
        let (rows, hidden_mix) = (step.x.rows(), step.hidden_mix.as_ref());
        self.forward(network, rows, hidden_mix)?;
        let outputs = self.activations.last().expect("a network has a layer");
        let width = padded(network.shape().outputs);
        let mean = step.loss.mean(outputs, width, step.y, step.weight, &mut self.output_gradient);
        let Some(mean) = mean else { return Ok(None) };
        self.weight_gradient.resize(network.parameters.len(), 0.0);
        self.backward(network, rows, hidden_mix)?;
        Ok(Some(mean))
    }

    /// Whether an activation or gradient is not finite, or too large to be mixed.
    fn has_overflowed(&self) -> bool {
        let limit = <f32 as Real>::LIMIT;
        let forward = self.activations.iter().flatten().chain(&self.mixed);
        let mut values = forward.chain(&self.output_gradient).chain(&self.input_gradient);
        !values.all(|value| f64::from(value.abs()) < limit)
    }

    fn forward(
        &mut self,
        network: &Network,
        mut rows: usize,
        hidden_mix: Option<&HiddenMix<'_>>,
    ) -> Result<()> {
        self.activations.resize_with(network.layers.len(), Vec::new);
        for (index, layer) in network.layers.iter().enumerate() {
            let (before, rest) = self.activations.split_at_mut(index);
            let mut input = before.last().unwrap_or(&self.input);
            if let Some(mix) = hidden_mix.filter(|mix| mix.layer == index) {
                let view = ArrayView2::from_shape((rows, padded(layer.inputs)), input);
                let mut synthetic = mix.mixing.apply(view.expect("rows of whole lanes"))?;
                for (mut row, moved) in synthetic.rows_mut().into_iter().zip(mix.moved()) {
                    row.iter_mut().zip(moved).for_each(|(to, &moved)| *to += f32::narrow(moved));
                }
                self.mixed.clear();
                if mix.originals {
                    let originals = mix.mixing.rows_out() * padded(layer.inputs);
                    self.mixed.extend_from_slice(&input[..originals]);
                }
                self.mixed.extend_from_slice(synthetic.as_slice().expect("standard layout"));
                rows = self.mixed.len() / padded(layer.inputs);
                input = &self.mixed;
            }
            network.forward(layer, input, rows, &mut rest[0]);
        }
        Ok(())
    }

    fn backward(
        &mut self,
        network: &Network,
        rows: usize,
        hidden_mix: Option<&HiddenMix<'_>>,
    ) -> Result<()> {
        for (index, layer) in network.layers.iter().enumerate().rev() {
            let (from, to) = (padded(layer.inputs), padded(layer.outputs));
            let count = self.output_gradient.len() / to;
            if !layer.last {
                let activation = network.shape().activation;
                activation.backward(&self.activations[index], &mut self.output_gradient);
            }
            let mix = hidden_mix.filter(|mix| mix.layer == index);
            let input = match (mix, index) {
                (Some(_), _) => &self.mixed,
                (None, 0) => &self.input,
                (None, _) => &self.activations[index - 1],
            };
            let (weights, bias) = (layer.weights.0..layer.weights.1, layer.bias.0..layer.bias.1);
            column_sums(&self.output_gradient, to, &mut self.weight_gradient[bias]);
            let weight_gradient = &mut self.weight_gradient[weights];
            if layer.last {
                let left = Strided::transposed(&self.output_gradient, layer.outputs, to);
                matmul(left, count, input, from, None, weight_gradient);
            } else {
                let left = Strided::transposed(input, layer.inputs, from);
                matmul(left, count, &self.output_gradient, to, None, weight_gradient);
            }
            if index == 0 {
                break;
            }
            let weights = network.weights(layer);
            self.input_gradient.resize(count * from, 0.0);
            if layer.last {
                let left = Strided::row_major(&self.output_gradient, count, to);
                matmul(left, layer.outputs, weights, from, None, &mut self.input_gradient);
            } else {
                // Units lie along the lanes, so the sums over units are those of a transposed product.
                let lanes = padded(count);
                self.output_gradient_transposed.resize(to * lanes, 0.0);
                transpose(&self.output_gradient, to, &mut self.output_gradient_transposed, lanes);
                self.input_gradient_transposed.resize(from * lanes, 0.0);
                let left = Strided::row_major(weights, layer.inputs, to);
                let right = &self.output_gradient_transposed;
                let out = &mut self.input_gradient_transposed[..layer.inputs * lanes];
                matmul(left, layer.outputs, right, lanes, None, out);
                self.input_gradient_transposed[layer.inputs * lanes..].fill(0.0);
                self.input_gradient.resize(lanes * from, 0.0);
                transpose(&self.input_gradient_transposed, lanes, &mut self.input_gradient, from);
                self.input_gradient.truncate(count * from);
            }
            if let Some(mix) = mix {
                self.backward_through_mixing(mix, rows, from)?;
            }
            std::mem::swap(&mut self.output_gradient, &mut self.input_gradient);
        }
        Ok(())
    }

    /// Turns `input_gradient` of the mixed rows into that of the rows they were mixed from.
    fn backward_through_mixing(
        &mut self,
        mix: &HiddenMix<'_>,
        rows: usize,
        width: usize,
    ) -> Result<()> {
        let synthetic = mix.mixing.rows_out();
        let split = if mix.originals { synthetic * width } else { 0 };
        let (originals, mixed) = self.input_gradient.split_at(split);
        let mixed = ArrayView2::from_shape((synthetic, width), mixed).expect("rows of whole lanes");
        let mut gradient = mix.mixing.apply_transposed(mixed)?.into_raw_vec_and_offset().0;
        for (gradient, own) in gradient.iter_mut().zip(originals) {
            *gradient += own;
        }
        debug_assert_eq!(gradient.len(), rows * width);
        self.input_gradient = gradient;
        Ok(())
    }
}

#[cfg(test)]
#[expect(clippy::cast_possible_truncation, reason = "small numbers")]
mod tests {
    use ndarray::{Array2, ArrayView2, Axis};
    use serde_json::Value;
    use windlass::{Draw, Mixing, Partition, Strength};

    use super::Backprop;
    use crate::optimizer::OptimizerState;
    use crate::{
        Activation, BatchInput, HiddenMix, LayerParameters, Loss, Network, Optimizer, Shape, Step,
    };

    fn step<'a>(
        x: ArrayView2<'a, f32>,
        hidden_mix: Option<HiddenMix<'a>>,
        loss: Loss,
        y: ArrayView2<'a, f32>,
        weight: &'a dyn Fn(usize) -> f64,
    ) -> Step<'a> {
        let (x, seed) = (BatchInput::All(x), windlass::Seed(0));
        Step { x, hidden_mix, y, loss, weight, seed, number: 0 }
    }

    fn array(value: &Value) -> Array2<f32> {
        let sizes: Vec<usize> = value["shape"]
            .as_array()
            .unwrap()
            .iter()
            .map(|n| n.as_u64().unwrap() as usize)
            .collect();
        let data = value["data"].as_array().unwrap().iter().map(|x| x.as_f64().unwrap() as f32);
        let shape = (sizes[0], sizes.get(1).copied().unwrap_or(1));
        Array2::from_shape_vec(shape, data.collect()).unwrap()
    }

    fn rows(value: &Value) -> Vec<usize> {
        value.as_array().unwrap().iter().map(|row| row.as_u64().unwrap() as usize).collect()
    }

    fn parameters(value: &Value) -> Vec<LayerParameters> {
        let layer = |n| {
            let weights = array(&value[format!("w{n}")]);
            let bias = array(&value[format!("b{n}")]);
            LayerParameters { weights, bias: bias.into_raw_vec_and_offset().0 }
        };
        (1..=3).map(layer).collect()
    }

    fn largest_difference(got: &[LayerParameters], want: &[LayerParameters]) -> f32 {
        let pairs = got.iter().zip(want).flat_map(|(got, want)| {
            let weights = got.weights.iter().zip(&want.weights);
            weights.chain(got.bias.iter().zip(&want.bias)).map(|(a, b)| (a - b).abs())
        });
        pairs.fold(0.0, f32::max)
    }

    /// Twelve steps of the published training code, for each of its methods.
    #[test]
    fn steps_equal_the_published_code() {
        let golden = include_str!("../tests/golden/training_steps.json");
        let golden: Value = serde_json::from_str(golden).unwrap();
        let (x, y) = (array(&golden["X"]), array(&golden["y"]));
        let labels: Vec<u32> = rows(&golden["labels"]).iter().map(|&label| label as u32).collect();
        let groups = golden["q"].as_u64().unwrap() as usize;
        let hidden = golden["hidden"].as_u64().unwrap() as usize;
        let shape = Shape {
            inputs: x.ncols(),
            hidden: vec![hidden, hidden],
            outputs: 1,
            activation: Activation::LeakyRelu(golden["leaky_slope"].as_f64().unwrap() as f32),
        };
        let runs = golden["runs"].as_array().unwrap();
        assert_eq!(runs.len(), 5);
        for run in runs {
            let method = run["method"].as_str().unwrap();
            let start = parameters(&golden["initial_parameters"]);
            let mut network = Network::with_parameters(shape.clone(), &start).unwrap();
            let mut state = OptimizerState::new(Optimizer::adam(), network.parameters.len());
            let mut backprop = Backprop::default();
            for step in 0..12 {
                let batch = rows(&golden["batches"][step]);
                let draw = if method.starts_with("ada") {
                    let own: Vec<u32> = batch.iter().map(|&row| labels[row]).collect();
                    let gamma = Strength::Shared(golden["gammas"][step].as_f64().unwrap());
                    let partition = Partition::new(own, groups).unwrap();
                    let mixing = Mixing::group_mean(partition, gamma).unwrap();
                    Draw::new(x.nrows(), batch.clone(), vec![], mixing)
                } else if method.starts_with("mixup") {
                    let lambda = golden["mix_lambdas"][step].as_f64().unwrap();
                    let mixing = Mixing::pairs(batch.len(), Strength::Shared(lambda)).unwrap();
                    let partners = rows(&golden["mix_partners"][step]);
                    Draw::new(x.nrows(), batch.clone(), partners, mixing)
                } else {
                    let mixing = Mixing::identity(batch.len());
                    Draw::new(x.nrows(), batch.clone(), vec![], mixing)
                };
                let draw = draw.unwrap();
                let targets = draw.targets(y.view()).unwrap();
                let hidden_mix = method.ends_with("manifold").then(|| HiddenMix {
                    layer: 1,
                    mixing: draw.mixing().unwrap(),
                    displacements: None,
                    originals: false,
                });
                let input = match hidden_mix {
                    Some(_) => draw.gather(x.view()).unwrap(),
                    None => draw.features(x.view()).unwrap(),
                };
                let (loss, y) = (Loss::Squared, targets.view());
                let batch = self::step(input.view(), hidden_mix, loss, y, &|_| 1.0);
                let loss = backprop.run(&network, &batch).unwrap().unwrap();
                let want = run["losses"][step].as_f64().unwrap();
                assert!((loss / want - 1.0).abs() < 2e-6, "{method}, step {step}: {loss}, {want}");
                if step == 0 {
                    let mut gradient = network.clone();
                    gradient.parameters.clone_from(&backprop.weight_gradient);
                    let want = parameters(&run["first_gradient"]);
                    let off = largest_difference(&gradient.to_parameters(), &want);
                    assert!(off < 1e-6, "{method}: gradient off by {off}");
                }
                let rate = golden["lr"].as_f64().unwrap();
                let gradient = &backprop.weight_gradient;
                state.update(Optimizer::adam(), rate, 0.0, gradient, &mut network.parameters);
            }
            let want = parameters(&run["final_parameters"]);
            let off = largest_difference(&network.to_parameters(), &want);
            assert!(off < 5e-6, "{method}: weights off by {off}");
            let predicted = network.predict(x.view()).unwrap();
            let want = array(&run["final_predictions"]);
            let off = (&predicted - &want).iter().fold(0.0_f32, |most, d| most.max(d.abs()));
            assert!(off < 1e-5, "{method}: predictions off by {off}");
        }
    }

    fn numbers(shape: (usize, usize), salt: usize) -> Array2<f32> {
        Array2::from_shape_fn(shape, |(i, j)| {
            libm::sin(((i * 31 + j * 17 + salt) as f64) * 1.7) as f32
        })
    }

    /// The gradient against finite differences for every weight: every activation, both losses, several
    /// outputs, row weights, and every kind of mixing, on the input and after each layer.
    #[test]
    fn gradients_equal_finite_differences() {
        let (batch, inputs, outputs) = (6, 3, 2);
        let partition = Partition::new(vec![0, 1, 0, 1, 0, 2], 3).unwrap();
        let group = Mixing::group_mean(partition, Strength::Shared(2.5)).unwrap();
        let lambdas = Strength::PerRow(vec![0.1, 0.9, 0.4, 0.5, 0.7, 0.3]);
        let pairs = Mixing::pairs(batch, lambdas).unwrap();
        let anchors = numbers((batch, 2), 5).mapv(f64::from);
        let anchors = windlass::AnchorMatrix::new(anchors).unwrap();
        let projection = Mixing::projection(&anchors, Strength::Shared(1.8)).unwrap();
        let rows: Vec<usize> = (0..batch).collect();
        let (x, y) = (numbers((batch, 3), 6), numbers((batch, 1), 7));
        let has_neighborhoods = |method: &&&windlass::MethodInfo| {
            method.provenance == windlass::RowProvenance::Neighborhood
        };
        let method = windlass::METHODS.iter().find(has_neighborhoods).unwrap();
        let method = (method.build)(&windlass::MethodParams::default());
        let samples = windlass::Samples::new(x.view(), y.view()).unwrap();
        let fitted = method.fit(&samples, windlass::Seed(0)).unwrap();
        let draw = fitted.draw(windlass::Batch::Rows(&rows), windlass::Seed(0), 0).unwrap();
        let low_rank = draw.mixing().unwrap();
        let activations = [
            Activation::Relu,
            Activation::LeakyRelu(0.3),
            Activation::Sigmoid,
            Activation::Tanh,
            Activation::Identity,
        ];
        for (salt, activation) in activations.into_iter().enumerate() {
            let shape = Shape { inputs, hidden: vec![5, 4], outputs, activation };
            let network = Network::new(shape, windlass::Seed(salt as u64)).unwrap();
            for (loss, mixing) in [
                (Loss::Squared, None),
                (Loss::Huber(0.4), None),
                (Loss::Squared, Some(&group)),
                (Loss::Squared, Some(&pairs)),
                (Loss::Huber(0.6), Some(&projection)),
                (Loss::Squared, Some(low_rank)),
            ] {
                let layers = if mixing.is_some() { 1..3 } else { 0..1 };
                for (layer, originals) in layers.flat_map(|layer| [(layer, false), (layer, true)]) {
                    // Displacements are constant: they have no gradient.
                    let moved = numbers((batch, [inputs, 5, 4][layer]), salt + 80).mapv(f64::from);
                    let hidden_mix = mixing.map(|mixing| HiddenMix {
                        layer,
                        mixing,
                        displacements: originals.then_some(&moved),
                        originals,
                    });
                    let rows = mixing.map_or(batch, Mixing::rows_in);
                    let x = numbers((rows, inputs), salt);
                    let made = if originals && mixing.is_some() { 2 * batch } else { batch };
                    let y = numbers((made, outputs), salt + 40);
                    check(&network, x.view(), hidden_mix, loss, y.view());
                }
            }
        }
    }

    fn check(
        network: &Network,
        x: ArrayView2<'_, f32>,
        hidden_mix: Option<HiddenMix<'_>>,
        loss: Loss,
        y: ArrayView2<'_, f32>,
    ) {
        const STEP: f32 = 2e-3;
        let weight = |row: usize| 0.5 + row as f64;
        let value = |network: &Network| {
            let mut backprop = Backprop::default();
            let mean = backprop.run(network, &step(x, hidden_mix, loss, y, &weight));
            (mean.unwrap().unwrap(), backprop.weight_gradient)
        };
        let (here, gradient) = value(network);
        for (index, &got) in gradient.iter().enumerate() {
            let got = f64::from(got);
            if network.parameters[index] == 0.0 {
                assert_eq!(got, 0.0, "padding");
                continue;
            }
            let mut moved = network.clone();
            moved.parameters[index] += STEP;
            let above = value(&moved).0;
            moved.parameters[index] -= 2.0 * STEP;
            let below = value(&moved).0;
            // If the function has a kink on one side, the difference on the other side is right.
            let slopes = [above - here, here - below, (above - below) / 2.0];
            let slopes = slopes.map(|rise| rise / f64::from(STEP));
            let near = slopes.iter().any(|slope| (got - slope).abs() < 2e-3);
            assert!(near, "{index}: {got} against {slopes:?}");
        }
    }

    #[test]
    fn rows_of_weight_zero_are_ignored() {
        let network = Network::new(Shape::fcn3(3, 1), windlass::Seed(1)).unwrap();
        let (x, y) = (numbers((8, 3), 1), numbers((8, 1), 2));
        let run =
            |x: ArrayView2<'_, f32>, y: ArrayView2<'_, f32>, weight: &dyn Fn(usize) -> f64| {
                let mut backprop = Backprop::default();
                let step = step(x, None, Loss::Squared, y, weight);
                (backprop.run(&network, &step).unwrap(), backprop.weight_gradient)
            };
        let half = run(x.view(), y.view(), &|row| if row < 4 { 2.0 } else { 0.0 });
        let few: Vec<usize> = (0..4).collect();
        let (x4, y4) = (x.select(Axis(0), &few), y.select(Axis(0), &few));
        let alone = run(x4.view(), y4.view(), &|_| 1.0);
        assert!((half.0.unwrap() - alone.0.unwrap()).abs() < 1e-9);
        assert!(half.1.iter().zip(&alone.1).all(|(a, b)| (a - b).abs() < 1e-7));
        assert_eq!(run(x.view(), y.view(), &|_| 0.0).0, None);
    }
}
