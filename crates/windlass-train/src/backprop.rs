//! Forward through a network and back: the loss of a batch and its gradient by every weight.
//!
//! A method of augmentation is a linear map on rows ([`Mixing`]), so it may stand after any layer. Behind
//! hidden layer l the rows of the batch (for mixups, the pairs) come out of the layer, the map makes the
//! synthetic rows of them, and its transpose carries their gradient back.

use ndarray::ArrayView2;
use windlass::Real;

use crate::gemm::{Left, column_sums, padded, product, transpose};
use crate::network::{Network, spread, spread_some};
use crate::{HiddenMix, Result, Rows, Step};

/// Room for a pass, used again by the next.
#[derive(Debug, Default)]
pub struct Backprop {
    /// The rows that enter, in whole lanes.
    input: Vec<f32>,
    /// What every layer gave.
    given: Vec<Vec<f32>>,
    /// What the next layer takes where rows were made inside the network.
    mixed: Vec<f32>,
    /// The gradient by the outputs of a layer, and by its inputs.
    gradient: Vec<f32>,
    before: Vec<f32>,
    turned: Vec<f32>,
    before_turned: Vec<f32>,
    /// The gradient by every weight.
    pub(crate) by_weights: Vec<f32>,
}

impl Backprop {
    /// The loss of a step, if any of its rows counts; the gradient is in `by_weights`.
    pub(crate) fn run(&mut self, network: &Network, step: &Step<'_>) -> Result<Option<f64>> {
        match step.x {
            Rows::Some(all, rows) => spread_some(all, rows, &mut self.input),
            Rows::All(rows) => spread(rows, &mut self.input),
        }
        let (rows, inside) = (step.x.count(), step.inside.as_ref());
        self.forward(network, rows, inside)?;
        let outputs = self.given.last().expect("a network has a layer");
        let width = padded(network.shape().outputs);
        let mean = step.loss.mean(outputs, width, step.y, step.weight, &mut self.gradient);
        let Some(mean) = mean else { return Ok(None) };
        self.by_weights.resize(network.values.len(), 0.0);
        self.back(network, rows, inside)?;
        Ok(Some(mean))
    }

    /// Whether a value on the way was not finite, or beyond what can be mixed.
    pub(crate) fn has_overflown(&self) -> bool {
        let limit = <f32 as Real>::LIMIT;
        let given = self.given.iter().flatten();
        let mut values = given.chain(&self.mixed).chain(&self.gradient).chain(&self.before);
        !values.all(|value| f64::from(value.abs()) < limit)
    }

    fn forward(
        &mut self,
        network: &Network,
        mut rows: usize,
        inside: Option<&HiddenMix<'_>>,
    ) -> Result<()> {
        self.given.resize_with(network.layers.len(), Vec::new);
        for (place, layer) in network.layers.iter().enumerate() {
            let (before, rest) = self.given.split_at_mut(place);
            let mut input = before.last().unwrap_or(&self.input);
            if let Some(inside) = inside.filter(|inside| inside.layer == place) {
                let view = ArrayView2::from_shape((rows, padded(layer.inputs)), input);
                let made = inside.mixing.apply(view.expect("rows of whole lanes"))?;
                self.mixed.clear();
                if inside.originals {
                    let kept = inside.mixing.rows_out() * padded(layer.inputs);
                    self.mixed.extend_from_slice(&input[..kept]);
                }
                self.mixed.extend_from_slice(made.as_slice().expect("standard layout"));
                rows = self.mixed.len() / padded(layer.inputs);
                input = &self.mixed;
            }
            network.forward(layer, input, rows, &mut rest[0]);
        }
        Ok(())
    }

    fn back(
        &mut self,
        network: &Network,
        rows: usize,
        inside: Option<&HiddenMix<'_>>,
    ) -> Result<()> {
        for (place, layer) in network.layers.iter().enumerate().rev() {
            let (from, to) = (padded(layer.inputs), padded(layer.outputs));
            let count = self.gradient.len() / to;
            if !layer.last {
                network.shape().activation.back(&self.given[place], &mut self.gradient);
            }
            let inside = inside.filter(|inside| inside.layer == place);
            let input = match (inside, place) {
                (Some(_), _) => &self.mixed,
                (None, 0) => &self.input,
                (None, _) => &self.given[place - 1],
            };
            let (weights, bias) = (layer.weights.0..layer.weights.1, layer.bias.0..layer.bias.1);
            column_sums(&self.gradient, to, &mut self.by_weights[bias]);
            let by_weights = &mut self.by_weights[weights];
            if layer.last {
                let left = Left::transposed(&self.gradient, layer.outputs, to);
                product(left, count, input, from, None, by_weights);
            } else {
                let left = Left::transposed(input, layer.inputs, from);
                product(left, count, &self.gradient, to, None, by_weights);
            }
            if place == 0 {
                break;
            }
            let weights = network.weights(layer);
            self.before.resize(count * from, 0.0);
            if layer.last {
                let left = Left::plain(&self.gradient, count, to);
                product(left, layer.outputs, weights, from, None, &mut self.before);
            } else {
                // With units along the lanes, the sums over units are those of a transposed product.
                let lanes = padded(count);
                self.turned.resize(to * lanes, 0.0);
                transpose(&self.gradient, to, &mut self.turned, lanes);
                self.before_turned.resize(from * lanes, 0.0);
                let left = Left::plain(weights, layer.inputs, to);
                let out = &mut self.before_turned[..layer.inputs * lanes];
                product(left, layer.outputs, &self.turned, lanes, None, out);
                self.before_turned[layer.inputs * lanes..].fill(0.0);
                self.before.resize(lanes * from, 0.0);
                transpose(&self.before_turned, lanes, &mut self.before, from);
                self.before.truncate(count * from);
            }
            if let Some(inside) = inside {
                self.through(inside, rows, from)?;
            }
            std::mem::swap(&mut self.gradient, &mut self.before);
        }
        Ok(())
    }

    /// Carries a gradient in `before` back through the map, to the rows that it was made of.
    fn through(&mut self, inside: &HiddenMix<'_>, rows: usize, width: usize) -> Result<()> {
        let kept = if inside.originals { inside.mixing.rows_out() * width } else { 0 };
        let made = ArrayView2::from_shape((inside.mixing.rows_out(), width), &self.before[kept..]);
        let pulled = inside.mixing.apply_transposed(made.expect("rows of whole lanes"))?;
        let mut pulled = pulled.into_raw_vec_and_offset().0;
        for (pulled, own) in pulled.iter_mut().zip(&self.before[..kept]) {
            *pulled += own;
        }
        debug_assert_eq!(pulled.len(), rows * width);
        self.before = pulled;
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
    use crate::{Activation, HiddenMix, Loss, Network, Optimizer, Parameters, Rows, Shape, Step};

    fn step<'a>(
        x: ArrayView2<'a, f32>,
        inside: Option<HiddenMix<'a>>,
        (loss, y): (Loss, ArrayView2<'a, f32>),
        weight: &'a dyn Fn(usize) -> f64,
    ) -> Step<'a> {
        Step { x: Rows::All(x), inside, y, loss, weight, random: (windlass::Seed(0), 0) }
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

    fn parameters(value: &Value) -> Vec<Parameters> {
        let layer = |n| {
            let weights = array(&value[format!("w{n}")]);
            let bias = array(&value[format!("b{n}")]);
            (weights, bias.into_raw_vec_and_offset().0)
        };
        (1..=3).map(layer).collect()
    }

    fn largest_difference(got: &[Parameters], want: &[Parameters]) -> f32 {
        let pairs = got.iter().zip(want).flat_map(|(got, want)| {
            let weights = got.0.iter().zip(&want.0);
            weights.chain(got.1.iter().zip(&want.1)).map(|(a, b)| (a - b).abs())
        });
        pairs.fold(0.0, f32::max)
    }

    /// Twelve steps of the published training code, for each of its methods.
    #[test]
    fn steps_are_those_of_the_published_code() {
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
            let mut memory = OptimizerState::new(Optimizer::adam(), network.values.len());
            let mut pass = Backprop::default();
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
                let inside = method.ends_with("manifold").then(|| HiddenMix {
                    layer: 1,
                    mixing: draw.mixing().unwrap(),
                    originals: false,
                });
                let input = match inside {
                    Some(_) => draw.gather(x.view()).unwrap(),
                    None => draw.features(x.view()).unwrap(),
                };
                let loss = (Loss::Squared, targets.view());
                let loss = pass.run(&network, &self::step(input.view(), inside, loss, &|_| 1.0));
                let loss = loss.unwrap().unwrap();
                let want = run["losses"][step].as_f64().unwrap();
                assert!((loss / want - 1.0).abs() < 2e-6, "{method}, step {step}: {loss}, {want}");
                if step == 0 {
                    let mut gradient = network.clone();
                    gradient.values.clone_from(&pass.by_weights);
                    let want = parameters(&run["first_gradient"]);
                    let off = largest_difference(&gradient.to_parameters(), &want);
                    assert!(off < 1e-6, "{method}: gradient off by {off}");
                }
                let rate = golden["lr"].as_f64().unwrap();
                let gradient = &pass.by_weights;
                memory.step(Optimizer::adam(), (rate, 0.0), gradient, &mut network.values);
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

    /// Every weight's part of the gradient against a difference of losses: every activation, both losses,
    /// several outputs, weights of rows, and every kind of map, on the input and after each layer.
    #[test]
    fn gradients_are_slopes() {
        let (batch, inputs, outputs) = (6, 3, 2);
        let partition = Partition::new(vec![0, 1, 0, 1, 0, 2], 3).unwrap();
        let group = Mixing::group_mean(partition, Strength::Shared(2.5)).unwrap();
        let lambdas = Strength::PerRow(vec![0.1, 0.9, 0.4, 0.5, 0.7, 0.3]);
        let pairs = Mixing::pairs(batch, lambdas).unwrap();
        let anchors = numbers((batch, 2), 5).mapv(f64::from);
        let anchors = windlass::AnchorMatrix::new(anchors).unwrap();
        let projection = Mixing::projection(&anchors, Strength::Shared(1.8)).unwrap();
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
            ] {
                let layers = if mixing.is_some() { 1..3 } else { 0..1 };
                for (layer, originals) in layers.flat_map(|layer| [(layer, false), (layer, true)]) {
                    let inside = mixing.map(|mixing| HiddenMix { layer, mixing, originals });
                    let rows = mixing.map_or(batch, Mixing::rows_in);
                    let x = numbers((rows, inputs), salt);
                    let made = if originals && mixing.is_some() { 2 * batch } else { batch };
                    let y = numbers((made, outputs), salt + 40);
                    check(&network, x.view(), inside, loss, y.view());
                }
            }
        }
    }

    fn check(
        network: &Network,
        x: ArrayView2<'_, f32>,
        inside: Option<HiddenMix<'_>>,
        loss: Loss,
        y: ArrayView2<'_, f32>,
    ) {
        const STEP: f32 = 2e-3;
        let weight = |row: usize| 0.5 + row as f64;
        let value = |network: &Network| {
            let mut pass = Backprop::default();
            let mean = pass.run(network, &step(x, inside, (loss, y), &weight)).unwrap().unwrap();
            (mean, pass.by_weights)
        };
        let (here, gradient) = value(network);
        for (index, &got) in gradient.iter().enumerate() {
            let got = f64::from(got);
            if network.values[index] == 0.0 {
                assert_eq!(got, 0.0, "a lane that is not used");
                continue;
            }
            let mut moved = network.clone();
            moved.values[index] += STEP;
            let above = value(&moved).0;
            moved.values[index] -= 2.0 * STEP;
            let below = value(&moved).0;
            // A kink may stand on one side, but then not on the other.
            let slopes = [above - here, here - below, (above - below) / 2.0];
            let slopes = slopes.map(|rise| rise / f64::from(STEP));
            let near = slopes.iter().any(|slope| (got - slope).abs() < 2e-3);
            assert!(near, "{index}: {got} against {slopes:?}");
        }
    }

    #[test]
    fn rows_of_no_weight_do_not_count() {
        let network = Network::new(Shape::fcn3(3, 1), windlass::Seed(1)).unwrap();
        let (x, y) = (numbers((8, 3), 1), numbers((8, 1), 2));
        let run =
            |x: ArrayView2<'_, f32>, y: ArrayView2<'_, f32>, weight: &dyn Fn(usize) -> f64| {
                let mut pass = Backprop::default();
                let step = step(x, None, (Loss::Squared, y), weight);
                (pass.run(&network, &step).unwrap(), pass.by_weights)
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
