//! ResNet-18 for images of three channels and one output, with torchvision's layers and names.

use std::ops::Range;

use burn_tensor::Tensor;
use burn_tensor::activation::relu;
use burn_tensor::module::{conv2d, max_pool2d};
use burn_tensor::ops::{ConvOptions, MaxPoolOptions};

use crate::networks::network::{Network, Pass};
use crate::networks::params::{Init, ParamLayout, TensorSpec, layer};
use crate::networks::spec::ResNet18;

/// Rows and columns of a window of the first convolution, and of all others.
const FIRST: usize = 7;
const KERNEL: usize = 3;

/// A residual block of two convolutions.
struct ResidualBlock {
    name: String,
    inputs: usize,
    outputs: usize,
    stride: usize,
}

impl ResNet18 {
    /// The two blocks of a stage, from 1.
    fn blocks(&self, stage: usize) -> [ResidualBlock; 2] {
        let outputs = self.widths[stage - 1];
        let (inputs, stride) = if stage == 1 { (outputs, 1) } else { (self.widths[stage - 2], 2) };
        let name = |place| format!("layer{stage}.{place}");
        [
            ResidualBlock { name: name(0), inputs, outputs, stride },
            ResidualBlock { name: name(1), inputs: outputs, outputs, stride: 1 },
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
    fn between(&self, pass: &Pass<'_>, layers: Range<usize>, activations: Tensor<2>) -> Tensor<4> {
        let (rows, side) = (activations.dims()[0], self.side_after(layers.start));
        let mut x = activations.reshape([rows, self.channels_after(layers.start), side, side]);
        for layer in layers.start + 1..=layers.end {
            x = if layer == 1 {
                let x = convolved(pass, "conv1", x, 2, FIRST / 2);
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
    stride: usize,
    padding: usize,
) -> Tensor<4> {
    let options = ConvOptions::new([stride; 2], [padding; 2], [1; 2], 1);
    conv2d(x, pass.tensor(&format!("{name}.weight")), None, options)
}

impl ResidualBlock {
    fn is_reduced(&self) -> bool {
        self.stride != 1 || self.inputs != self.outputs
    }

    fn forward(&self, pass: &Pass<'_>, x: Tensor<4>) -> Tensor<4> {
        let name = |what: &str| format!("{}.{what}", self.name);
        let y = convolved(pass, &name("conv1"), x.clone(), self.stride, 1);
        let y = relu(pass.normalized(&name("bn1"), y));
        let y = pass.normalized(&name("bn2"), convolved(pass, &name("conv2"), y, 1, 1));
        let shortcut = if self.is_reduced() {
            let shortcut = convolved(pass, &name("downsample.0"), x, self.stride, 0);
            pass.normalized(&name("downsample.1"), shortcut)
        } else {
            x
        };
        relu(y + shortcut)
    }
}

impl Network for ResNet18 {
    fn layout(&self) -> ParamLayout {
        let (mut trainable, mut buffers) = (vec![], vec![]);
        let convolution = |name: String, outputs: usize, inputs: usize, kernel: usize| {
            // He et al., 2015, fan-out.
            let init = Init::Normal((2.0 / (outputs * kernel * kernel) as f64).sqrt());
            TensorSpec::new(format!("{name}.weight"), &[outputs, inputs, kernel, kernel], init)
        };
        let mut normal = |trainable: &mut Vec<TensorSpec>, name: String, channels: usize| {
            for (what, value) in [("weight", 1.0), ("bias", 0.0)] {
                let name = format!("{name}.{what}");
                trainable.push(TensorSpec::new(name, &[channels], Init::Constant(value)));
            }
            for (what, value) in [("running_mean", 0.0), ("running_var", 1.0)] {
                let name = format!("{name}.{what}");
                buffers.push(TensorSpec::new(name, &[channels], Init::Constant(value)));
            }
        };
        trainable.push(convolution("conv1".into(), self.widths[0], Self::CHANNELS, FIRST));
        normal(&mut trainable, "bn1".into(), self.widths[0]);
        for stage in 1..=self.widths.len() {
            for block in self.blocks(stage) {
                let ResidualBlock { inputs, outputs, .. } = block;
                let name = |what: &str| format!("{}.{what}", block.name);
                trainable.push(convolution(name("conv1"), outputs, inputs, KERNEL));
                normal(&mut trainable, name("bn1"), outputs);
                trainable.push(convolution(name("conv2"), outputs, outputs, KERNEL));
                normal(&mut trainable, name("bn2"), outputs);
                if block.is_reduced() {
                    trainable.push(convolution(name("downsample.0"), outputs, inputs, 1));
                    normal(&mut trainable, name("downsample.1"), outputs);
                }
            }
        }
        trainable.extend(layer("fc", &[1, self.widths[3]]));
        ParamLayout::new(trainable, buffers)
    }

    fn forward_to(&self, pass: &Pass<'_>, layer: usize, input: Tensor<2>) -> Tensor<2> {
        let activations = self.between(pass, 0..layer, input);
        activations.flatten(1, 3)
    }

    fn forward_from(&self, pass: &Pass<'_>, layer: usize, activations: Tensor<2>) -> Tensor<2> {
        let last = self.between(pass, layer..self.widths.len() + 1, activations);
        let pooled = last.mean_dims(&[2, 3]).flatten(1, 3);
        pass.linear("fc", pooled)
    }
}
