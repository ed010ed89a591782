//! LSTNet: a convolution over time, a recurrent layer, a recurrent layer with skips, and a parallel autoregression.

use burn_tensor::Tensor;
use burn_tensor::activation::relu;
use burn_tensor::module::linear;

use crate::networks::network::{Network, Pass};
use crate::networks::params::{ParamLayout, layer};
use crate::networks::recurrent;
use crate::networks::spec::Lstnet;

impl Lstnet {
    /// The convolution: from windows (steps × series) to steps × channels.
    fn convolved(&self, pass: &Pass<'_>, windows: Tensor<2>) -> Tensor<2> {
        let rows = windows.dims()[0];
        let (seen, steps) = (self.kernel * self.series, self.steps());
        // Steps are one after the other, so what a kernel sees is one stretch of numbers.
        let seen_at: Tensor<3> = windows.unfold(1, seen, self.series);
        let weight = pass.tensor::<4>("conv.weight").reshape([self.channels, seen]);
        let activations = linear(
            seen_at.reshape([rows * steps, seen]),
            weight.swap_dims(0, 1),
            Some(pass.tensor("conv.bias")),
        );
        let activations = relu(activations).reshape([rows, steps * self.channels]);
        pass.dropout(self.dropout, 0, activations)
    }

    /// The steps of a window that the autoregression takes.
    fn recent(&self, windows: Tensor<2>) -> Tensor<2> {
        let [rows, width] = windows.dims();
        windows.slice([0..rows, width - self.highway * self.series..width])
    }

    /// The output, from the activations of the convolution and the last steps of the window.
    fn forecast(&self, pass: &Pass<'_>, activations: Tensor<2>, recent: Tensor<2>) -> Tensor<2> {
        let rows = activations.dims()[0];
        let steps = activations.reshape([rows, self.steps(), self.channels]);
        let hidden = recurrent::gru(pass, "gru", steps.clone().swap_dims(0, 1));
        let hidden = pass.dropout(self.dropout, 1, hidden);

        let count = self.skip_steps() * self.skip;
        let last = steps.slice([0..rows, self.steps() - count..self.steps(), 0..self.channels]);
        let apart = last.reshape([rows, self.skip_steps(), self.skip, self.channels]);
        let apart = apart.swap_dims(0, 1);
        let apart = apart.reshape([self.skip_steps(), rows * self.skip, self.channels]);
        let skipped = recurrent::gru(pass, "skip", apart);
        let skipped = skipped.reshape([rows, self.skip * self.skip_hidden]);
        let skipped = pass.dropout(self.dropout, 2, skipped);

        let found = pass.linear("linear", Tensor::cat(vec![hidden, skipped], 1));
        let recent = recent.reshape([rows, self.highway, self.series]).swap_dims(1, 2);
        let straight = pass.linear("highway", recent.reshape([rows * self.series, self.highway]));
        found + straight.reshape([rows, self.series])
    }
}

impl Network for Lstnet {
    fn layout(&self) -> ParamLayout {
        let mut trainable = vec![];
        trainable.extend(layer("conv", &[self.channels, 1, self.kernel, self.series]));
        trainable.extend(recurrent::tensors("gru", self.channels, self.hidden));
        trainable.extend(recurrent::tensors("skip", self.channels, self.skip_hidden));
        let joined = self.hidden + self.skip * self.skip_hidden;
        trainable.extend(layer("linear", &[self.series, joined]));
        trainable.extend(layer("highway", &[1, self.highway]));
        ParamLayout::new(trainable, vec![])
    }

    /// After the convolution a row has what that gave, and the steps that the autoregression takes.
    fn forward_to(&self, pass: &Pass<'_>, layer: usize, input: Tensor<2>) -> Tensor<2> {
        if layer == 0 {
            return input;
        }
        let recent = self.recent(input.clone());
        Tensor::cat(vec![self.convolved(pass, input), recent], 1)
    }

    fn forward_from(&self, pass: &Pass<'_>, layer: usize, activations: Tensor<2>) -> Tensor<2> {
        if layer == 0 {
            let recent = self.recent(activations.clone());
            return self.forecast(pass, self.convolved(pass, activations), recent);
        }
        let [rows, width] = activations.dims();
        let middle = self.steps() * self.channels;
        let recent = activations.clone().slice([0..rows, middle..width]);
        self.forecast(pass, activations.slice([0..rows, 0..middle]), recent)
    }
}
