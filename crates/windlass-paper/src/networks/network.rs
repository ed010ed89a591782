//! The interface of all networks: forward to a hidden layer, and forward from one.

use std::cell::RefCell;
use std::fmt::Debug;

use burn_tensor::module::linear;
use burn_tensor::{Device, Tensor, TensorData};
use windlass::{Seed, Stream};

use crate::networks::params::ParamLayout;

/// A network. Activations are flat, one vector per row, so that augmentation does not depend on channels and
/// time steps.
pub(crate) trait Network: Debug + Send + Sync {
    /// Its parameters and buffers.
    fn layout(&self) -> ParamLayout;

    /// One-hot encodes rows of integer codes.
    fn encode(&self, codes: Vec<f32>) -> Vec<f32> {
        codes
    }

    /// From the input to the activations of a hidden layer; layer 0 is the input.
    fn forward_to(&self, pass: &Pass<'_>, layer: usize, input: Tensor<2>) -> Tensor<2>;

    /// From the activations of a hidden layer to the output.
    fn forward_from(&self, pass: &Pass<'_>, layer: usize, activations: Tensor<2>) -> Tensor<2>;
}

/// A forward pass: the weights of a network on a device.
pub(crate) struct Pass<'a> {
    layout: &'a ParamLayout,
    device: Device,
    on_cpu: bool,
    /// Trainable tensors, then buffers; flat.
    tensors: Vec<Tensor<1>>,
    /// The seed and the step number, in training.
    step: Option<(Seed, u64)>,
    /// Batch-norm statistics updated in training: indices of tensors and their new values.
    updated_buffers: RefCell<Vec<(usize, Vec<f32>)>>,
}

impl<'a> Pass<'a> {
    pub(crate) fn new(
        layout: &'a ParamLayout,
        values: &[f32],
        device: crate::networks::Device,
        step: Option<(Seed, u64)>,
    ) -> Self {
        let on_cpu = device == crate::networks::Device::Cpu;
        let device = if step.is_some() { device.open().autodiff() } else { device.open() };
        let tensor = |place: usize| {
            let part = values[layout.range(place)].to_vec();
            let size = part.len();
            let tensor = Tensor::from_data(TensorData::new(part, [size]), &device);
            if step.is_some() && place < layout.trainable { tensor.require_grad() } else { tensor }
        };
        let tensors = (0..layout.tensors.len()).map(tensor).collect();
        Self { layout, device, on_cpu, tensors, step, updated_buffers: RefCell::default() }
    }

    /// A matrix on the device.
    pub(crate) fn matrix(&self, values: Vec<f32>, shape: [usize; 2]) -> Tensor<2> {
        Tensor::from_data(TensorData::new(values, shape), &self.device)
    }

    pub(crate) fn device(&self) -> &Device {
        &self.device
    }

    pub(crate) fn is_training(&self) -> bool {
        self.step.is_some()
    }

    pub(crate) fn is_on_cpu(&self) -> bool {
        self.on_cpu
    }

    /// A tensor of the network.
    pub(crate) fn tensor<const D: usize>(&self, name: &str) -> Tensor<D> {
        let place = self.layout.place(name);
        let shape: [usize; D] =
            self.layout.tensors[place].shape.clone().try_into().expect("as many dimensions");
        self.tensors[place].clone().reshape(shape)
    }

    /// The trainable tensors, flat.
    pub(crate) fn trainable(&self) -> &[Tensor<1>] {
        &self.tensors[..self.layout.trainable]
    }

    /// The updated buffers.
    pub(crate) fn into_buffers(self) -> Vec<(usize, Vec<f32>)> {
        self.updated_buffers.into_inner()
    }

    /// A dense layer.
    pub(crate) fn linear(&self, name: &str, x: Tensor<2>) -> Tensor<2> {
        let weight = self.tensor::<2>(&format!("{name}.weight")).swap_dims(0, 1);
        linear(x, weight, Some(self.tensor(&format!("{name}.bias"))))
    }

    /// Dropout, in training only.
    pub(crate) fn dropout(&self, share: f64, number: u64, x: Tensor<2>) -> Tensor<2> {
        let Some((seed, step)) = self.step.filter(|_| share > 0.0) else { return x };
        let [rows, width] = x.dims();
        // Sixteen random bits per unit.
        let limit = (share * 65_536.0).round();
        let kept = 65_536.0 / (65_536.0 - limit);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "16 bits")]
        let (limit, kept) = (limit as u64, kept as f32);
        let mut draws = seed.at(Stream::Dropout, step, number);
        let mut mask = Vec::with_capacity(rows * width + 3);
        while mask.len() < rows * width {
            let bits = draws.bits();
            mask.extend(
                [0, 16, 32, 48].map(
                    |from| {
                        if (bits >> from) & 0xffff < limit { 0.0 } else { kept }
                    },
                ),
            );
        }
        mask.truncate(rows * width);
        x * self.matrix(mask, [rows, width])
    }

    /// Batch normalization with PyTorch's defaults: by batch statistics in training, otherwise by running ones.
    pub(crate) fn normalized(&self, name: &str, x: Tensor<4>) -> Tensor<4> {
        const EPSILON: f32 = 1e-5;
        const MOMENTUM: f32 = 0.1;
        let channels = x.dims()[1];
        let wide = |tensor: Tensor<1>| tensor.reshape([1, channels, 1, 1]);
        let [mean_name, variance_name] =
            ["running_mean", "running_var"].map(|what| format!("{name}.{what}"));
        let buffers = |name: &str| self.tensor::<1>(name);
        let (mean, variance) = if self.step.is_some() {
            let [rows, _, height, width] = x.dims();
            let count = (rows * height * width) as f32;
            let mean = x.clone().mean_dims(&[0, 2, 3]);
            let off = x.clone() - mean.clone();
            let variance = (off.clone() * off).mean_dims(&[0, 2, 3]);
            let unbiased = count / (count - 1.0).max(1.0);
            let seen =
                [(mean_name, mean.clone(), 1.0), (variance_name, variance.clone(), unbiased)];
            for (name, seen, factor) in seen {
                let now = seen.detach().reshape([channels]) * (MOMENTUM * factor);
                let new = buffers(&name) * (1.0 - MOMENTUM) + now;
                self.updated_buffers.borrow_mut().push((self.layout.place(&name), numbers(new)));
            }
            (mean, variance)
        } else {
            (wide(buffers(&mean_name)), wide(buffers(&variance_name)))
        };
        let weight = wide(self.tensor(&format!("{name}.weight")));
        let bias = wide(self.tensor(&format!("{name}.bias")));
        (x - mean) * (weight / (variance + EPSILON).sqrt()) + bias
    }
}

/// The numbers of a tensor.
pub(crate) fn numbers<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_into_vec().expect("32 bits")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropout_leaves_out_a_share_and_scales_the_rest() {
        let layout = ParamLayout::new(vec![], vec![]);
        let activations = |step: Option<(Seed, u64)>, share: f64, number: u64| {
            let pass = Pass::new(&layout, &[], crate::networks::Device::Cpu, step);
            let ones = pass.matrix(vec![1.0; 40_000], [200, 200]);
            numbers(pass.dropout(share, number, ones))
        };
        let step = |seed, step| Some((Seed(seed), step));
        let kept = activations(step(1, 7), 0.2, 0);
        // A fifth to sixteen bits; the mean stays what it was.
        let factor = 65_536.0 / (65_536.0 - 13_107.0);
        assert!(kept.iter().all(|&value| value == 0.0 || (value - factor).abs() < 1e-6));
        let left_out = kept.iter().filter(|&&value| value == 0.0).count() as f64 / 40_000.0;
        assert!((left_out - 0.2).abs() < 0.01, "{left_out}");
        // The same for the same step, and others for another step, layer or seed.
        assert_eq!(kept, activations(step(1, 7), 0.2, 0));
        for other in [
            activations(step(1, 8), 0.2, 0),
            activations(step(1, 7), 0.2, 1),
            activations(step(2, 7), 0.2, 0),
        ] {
            assert_ne!(kept, other);
        }
        // Only in training, and not with a rate of 0.
        assert_eq!(activations(None, 0.2, 0), vec![1.0; 40_000]);
        assert_eq!(activations(step(1, 7), 0.0, 0), vec![1.0; 40_000]);
    }
}
