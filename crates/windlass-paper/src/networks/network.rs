//! What every network here is: forward to a hidden layer, and forward from one.

use std::cell::RefCell;
use std::fmt::Debug;

use burn_tensor::module::linear;
use burn_tensor::{Device, Tensor, TensorData};
use windlass::{Seed, Stream};

use crate::networks::values::{Layout, Named};

/// A network. Rows are flat everywhere: what a layer gives for a row is one list of numbers, so that a method of
/// augmentation needs to know nothing of channels, steps and pictures.
pub(crate) trait Network: Debug + Send + Sync {
    /// Its tensors: what is learnt, and what is remembered of the rows.
    fn tensors(&self) -> (Vec<Named>, Vec<Named>);

    /// Its input, where rows are codes.
    fn encode(&self, codes: Vec<f32>) -> Vec<f32> {
        codes
    }

    /// What a hidden layer gives for the input; layer 0 is the input.
    fn forward_to(&self, pass: &Pass<'_>, layer: usize, input: Tensor<2>) -> Tensor<2>;

    /// The output for what a hidden layer gave.
    fn forward_from(&self, pass: &Pass<'_>, layer: usize, given: Tensor<2>) -> Tensor<2>;
}

/// One way through a network, with its weights on a device.
pub(crate) struct Pass<'a> {
    layout: &'a Layout,
    device: Device,
    on_cpu: bool,
    /// What is learnt, then what is remembered; flat.
    tensors: Vec<Tensor<1>>,
    /// The seed and the number of the step, in training.
    step: Option<(Seed, u64)>,
    /// What batch normalization saw in training: places of tensors, and their new values.
    seen: RefCell<Vec<(usize, Vec<f32>)>>,
}

impl<'a> Pass<'a> {
    pub(crate) fn new(
        layout: &'a Layout,
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
            if step.is_some() && place < layout.learnt { tensor.require_grad() } else { tensor }
        };
        let tensors = (0..layout.tensors.len()).map(tensor).collect();
        Self { layout, device, on_cpu, tensors, step, seen: RefCell::default() }
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

    /// What is learnt, flat, as it was taken into the pass.
    pub(crate) fn learnt(&self) -> &[Tensor<1>] {
        &self.tensors[..self.layout.learnt]
    }

    /// What was seen in training.
    pub(crate) fn into_seen(self) -> Vec<(usize, Vec<f32>)> {
        self.seen.into_inner()
    }

    /// A dense layer.
    pub(crate) fn linear(&self, name: &str, x: Tensor<2>) -> Tensor<2> {
        let weight = self.tensor::<2>(&format!("{name}.weight")).swap_dims(0, 1);
        linear(x, weight, Some(self.tensor(&format!("{name}.bias"))))
    }

    /// Leaves out a share of the units in training, and scales the others up.
    pub(crate) fn dropout(&self, share: f64, number: u64, x: Tensor<2>) -> Tensor<2> {
        let Some((seed, step)) = self.step.filter(|_| share > 0.0) else { return x };
        let [rows, width] = x.dims();
        // Sixteen bits of chance for every unit are plenty.
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

    /// Batch normalization, with PyTorch's settings: by the rows of the batch in training, and by what was
    /// remembered of those otherwise.
    pub(crate) fn normalized(&self, name: &str, x: Tensor<4>) -> Tensor<4> {
        const EPSILON: f32 = 1e-5;
        const MOMENTUM: f32 = 0.1;
        let channels = x.dims()[1];
        let wide = |tensor: Tensor<1>| tensor.reshape([1, channels, 1, 1]);
        let [mean_name, variance_name] =
            ["running_mean", "running_var"].map(|what| format!("{name}.{what}"));
        let remembered = |name: &str| self.tensor::<1>(name);
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
                let new = remembered(&name) * (1.0 - MOMENTUM) + now;
                self.seen.borrow_mut().push((self.layout.place(&name), numbers(new)));
            }
            (mean, variance)
        } else {
            (wide(remembered(&mean_name)), wide(remembered(&variance_name)))
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
        let layout = Layout::new(vec![], vec![]);
        let given = |step: Option<(Seed, u64)>, share: f64, number: u64| {
            let pass = Pass::new(&layout, &[], crate::networks::Device::Cpu, step);
            let ones = pass.matrix(vec![1.0; 40_000], [200, 200]);
            numbers(pass.dropout(share, number, ones))
        };
        let step = |seed, step| Some((Seed(seed), step));
        let kept = given(step(1, 7), 0.2, 0);
        // A fifth to sixteen bits; the mean stays what it was.
        let factor = 65_536.0 / (65_536.0 - 13_107.0);
        assert!(kept.iter().all(|&value| value == 0.0 || (value - factor).abs() < 1e-6));
        let left_out = kept.iter().filter(|&&value| value == 0.0).count() as f64 / 40_000.0;
        assert!((left_out - 0.2).abs() < 0.01, "{left_out}");
        // The same for the same step, and others for another step, layer or seed.
        assert_eq!(kept, given(step(1, 7), 0.2, 0));
        for other in
            [given(step(1, 8), 0.2, 0), given(step(1, 7), 0.2, 1), given(step(2, 7), 0.2, 0)]
        {
            assert_ne!(kept, other);
        }
        // Only in training, and only where it is asked for.
        assert_eq!(given(None, 0.2, 0), vec![1.0; 40_000]);
        assert_eq!(given(step(1, 7), 0.0, 0), vec![1.0; 40_000]);
    }
}
