//! ResNet-18 for images of three channels and one output, with torchvision's layers and names.

use burn_tensor::Tensor;
use burn_tensor::activation::relu;
use burn_tensor::module::{conv2d, max_pool2d};
use burn_tensor::ops::{ConvOptions, MaxPoolOptions};

use crate::networks::description::ResNet18;
use crate::networks::network::{Network, Pass};
use crate::networks::values::{First, Named, layer};

/// Rows and columns of a window of the first convolution, and of all others.
const FIRST: usize = 7;
const KERNEL: usize = 3;

/// A block of two convolutions, and a way past them.
struct Block {
    name: String,
    inputs: usize,
    outputs: usize,
    stride: usize,
}

impl ResNet18 {
    /// The two blocks of a stage, from 1.
    fn blocks(&self, stage: usize) -> [Block; 2] {
        let outputs = self.widths[stage - 1];
        let (inputs, stride) = if stage == 1 { (outputs, 1) } else { (self.widths[stage - 2], 2) };
        let name = |place| format!("layer{stage}.{place}");
        [
            Block { name: name(0), inputs, outputs, stride },
            Block { name: name(1), inputs: outputs, outputs, stride: 1 },
        ]
    }

    /// Rows and columns of what a hidden layer gives.
    fn side_after(&self, layer: usize) -> usize {
        let halved = |side: usize, times: usize| (0..times).fold(side, |side, _| side.div_ceil(2));
        match layer {
            0 => self.side,
            1 | 2 => halved(self.side, 2),
            _ => halved(self.side, layer),
        }
    }

    fn channels_after(&self, layer: usize) -> usize {
        match layer {
            0 => Self::CHANNELS,
            1 => self.widths[0],
            _ => self.widths[layer - 2],
        }
    }

    /// From one hidden layer to another.
    fn between(&self, pass: &Pass<'_>, layers: (usize, usize), given: Tensor<2>) -> Tensor<4> {
        let (from, to) = layers;
        let (rows, side) = (given.dims()[0], self.side_after(from));
        let mut x = given.reshape([rows, self.channels_after(from), side, side]);
        for layer in from + 1..=to {
            x = if layer == 1 {
                let x = convolved(pass, "conv1", x, (2, FIRST / 2));
                let x = relu(pass.normalized("bn1", x));
                let options = MaxPoolOptions::new([KERNEL; 2]).with_stride([2; 2]);
                max_pool2d(x, options.with_padding([KERNEL / 2; 2]))
            } else {
                self.blocks(layer - 1).iter().fold(x, |x, block| block.forward(pass, x))
            };
        }
        x
    }
}

fn convolved(
    pass: &Pass<'_>,
    name: &str,
    x: Tensor<4>,
    (stride, padding): (usize, usize),
) -> Tensor<4> {
    let options = ConvOptions::new([stride; 2], [padding; 2], [1; 2], 1);
    conv2d(x, pass.tensor(&format!("{name}.weight")), None, options)
}

impl Block {
    fn is_reduced(&self) -> bool {
        self.stride != 1 || self.inputs != self.outputs
    }

    fn forward(&self, pass: &Pass<'_>, x: Tensor<4>) -> Tensor<4> {
        let name = |what: &str| format!("{}.{what}", self.name);
        let y = convolved(pass, &name("conv1"), x.clone(), (self.stride, 1));
        let y = relu(pass.normalized(&name("bn1"), y));
        let y = pass.normalized(&name("bn2"), convolved(pass, &name("conv2"), y, (1, 1)));
        let past = if self.is_reduced() {
            let past = convolved(pass, &name("downsample.0"), x, (self.stride, 0));
            pass.normalized(&name("downsample.1"), past)
        } else {
            x
        };
        relu(y + past)
    }
}

impl Network for ResNet18 {
    fn tensors(&self) -> (Vec<Named>, Vec<Named>) {
        let (mut learnt, mut remembered) = (vec![], vec![]);
        let convolution = |name: String, outputs: usize, inputs: usize, kernel: usize| {
            // He et al., 2015: by what goes out.
            let first = First::Normal((2.0 / (outputs * kernel * kernel) as f64).sqrt());
            Named::new(format!("{name}.weight"), &[outputs, inputs, kernel, kernel], first)
        };
        let mut normal = |learnt: &mut Vec<Named>, name: String, channels: usize| {
            for (what, value) in [("weight", 1.0), ("bias", 0.0)] {
                let name = format!("{name}.{what}");
                learnt.push(Named::new(name, &[channels], First::Constant(value)));
            }
            for (what, value) in [("running_mean", 0.0), ("running_var", 1.0)] {
                let name = format!("{name}.{what}");
                remembered.push(Named::new(name, &[channels], First::Constant(value)));
            }
        };
        learnt.push(convolution("conv1".into(), self.widths[0], Self::CHANNELS, FIRST));
        normal(&mut learnt, "bn1".into(), self.widths[0]);
        for stage in 1..=self.widths.len() {
            for block in self.blocks(stage) {
                let Block { inputs, outputs, .. } = block;
                let name = |what: &str| format!("{}.{what}", block.name);
                learnt.push(convolution(name("conv1"), outputs, inputs, KERNEL));
                normal(&mut learnt, name("bn1"), outputs);
                learnt.push(convolution(name("conv2"), outputs, outputs, KERNEL));
                normal(&mut learnt, name("bn2"), outputs);
                if block.is_reduced() {
                    learnt.push(convolution(name("downsample.0"), outputs, inputs, 1));
                    normal(&mut learnt, name("downsample.1"), outputs);
                }
            }
        }
        learnt.extend(layer("fc", &[1, self.widths[3]]));
        (learnt, remembered)
    }

    fn forward_to(&self, pass: &Pass<'_>, layer: usize, input: Tensor<2>) -> Tensor<2> {
        let given = self.between(pass, (0, layer), input);
        given.flatten(1, 3)
    }

    fn forward_from(&self, pass: &Pass<'_>, layer: usize, given: Tensor<2>) -> Tensor<2> {
        let last = self.between(pass, (layer, self.widths.len() + 1), given);
        let pooled = last.mean_dims(&[2, 3]).flatten(1, 3);
        pass.linear("fc", pooled)
    }
}
