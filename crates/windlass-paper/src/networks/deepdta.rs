//! DeepDTA: convolutions over the letters of a molecule and of a protein, and layers that join them.
//!
//! As published, the layers that join the towers have no activations between them.

use std::ops::Range;

use burn_tensor::Tensor;
use burn_tensor::activation::relu;
use burn_tensor::module::conv1d;
use burn_tensor::ops::ConvOptions;

use crate::networks::network::{Network, Pass};
use crate::networks::params::{ParamLayout, TensorSpec, layer};
use crate::networks::spec::{DeepDta, Tower};

impl Tower {
    /// Channels and length of what a hidden layer gives.
    fn size_after(&self, layer: usize) -> (usize, usize) {
        match layer {
            0 => (self.alphabet, self.length),
            _ => (self.channels[layer - 1], self.lengths()[layer - 1]),
        }
    }

    /// The numbers of a row after a hidden layer.
    fn width_after(&self, layer: usize) -> usize {
        let (channels, length) = self.size_after(layer);
        channels * length
    }

    /// From one hidden layer to another.
    fn between(
        &self,
        pass: &Pass<'_>,
        name: &str,
        layers: Range<usize>,
        activations: Tensor<2>,
    ) -> Tensor<3> {
        let (channels, length) = self.size_after(layers.start);
        let rows = activations.dims()[0];
        let mut x = activations.reshape([rows, channels, length]);
        for place in layers {
            let [weight, bias] =
                ["weight", "bias"].map(|what| format!("{name}.conv.{place}.{what}"));
            let options = ConvOptions::new([1], [0], [1], 1);
            x = relu(conv1d(x, pass.tensor(&weight), Some(pass.tensor(&bias)), options));
        }
        x
    }

    fn tensors(&self, name: &str, units: usize) -> Vec<TensorSpec> {
        let mut inputs = self.alphabet;
        let mut tensors = vec![];
        for (place, (&channels, &kernel)) in self.channels.iter().zip(&self.kernels).enumerate() {
            tensors.extend(layer(&format!("{name}.conv.{place}"), &[channels, inputs, kernel]));
            inputs = channels;
        }
        tensors.extend(layer(&format!("{name}.fc"), &[units, inputs]));
        tensors
    }
}

impl DeepDta {
    fn towers(&self) -> [(&'static str, &Tower); 2] {
        [("drug", &self.drug), ("protein", &self.protein)]
    }

    /// The parts of rows that belong to each tower after a hidden layer.
    fn split_towers(&self, layer: usize, activations: Tensor<2>) -> [Tensor<2>; 2] {
        let [rows, width] = activations.dims();
        let middle = self.drug.width_after(layer);
        [0..middle, middle..width].map(|part| activations.clone().slice([0..rows, part]))
    }
}

impl Network for DeepDta {
    fn layout(&self) -> ParamLayout {
        let towers = self.towers().map(|(name, tower)| tower.tensors(name, self.units));
        let mut trainable = towers.concat();
        let mut inputs = 2 * self.units;
        for (place, &units) in self.predictor.iter().enumerate() {
            trainable.extend(layer(&format!("predictor.{place}"), &[units, inputs]));
            inputs = units;
        }
        trainable.extend(layer("output", &[1, inputs]));
        ParamLayout::new(trainable, vec![])
    }

    /// One-hot encoding; codes outside the alphabet are all zeros.
    fn encode(&self, codes: Vec<f32>) -> Vec<f32> {
        let row = self.drug.length + self.protein.length;
        let width = self.drug.width_after(0) + self.protein.width_after(0);
        let mut out = vec![0.0; codes.len() / row * width];
        for (codes, out) in codes.chunks_exact(row).zip(out.chunks_exact_mut(width)) {
            let (drug, protein) = codes.split_at(self.drug.length);
            let (drug_out, protein_out) = out.split_at_mut(self.drug.width_after(0));
            let sides = [(drug, drug_out, &self.drug), (protein, protein_out, &self.protein)];
            for (codes, out, tower) in sides {
                for (place, &code) in codes.iter().enumerate() {
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "codes are small whole numbers"
                    )]
                    let letter = code as usize;
                    if letter < tower.alphabet && code >= 0.0 {
                        out[letter * tower.length + place] = 1.0;
                    }
                }
            }
        }
        out
    }

    fn forward_to(&self, pass: &Pass<'_>, layer: usize, input: Tensor<2>) -> Tensor<2> {
        let parts = self.split_towers(0, input);
        let activations =
            self.towers().into_iter().zip(parts).map(|((name, tower), part)| {
                tower.between(pass, name, 0..layer, part).flatten(1, 2)
            });
        Tensor::cat(activations.collect(), 1)
    }

    fn forward_from(&self, pass: &Pass<'_>, layer: usize, activations: Tensor<2>) -> Tensor<2> {
        let parts = self.split_towers(layer, activations);
        let found = self.towers().into_iter().zip(parts).map(|((name, tower), part)| {
            let last = tower.between(pass, name, layer..tower.channels.len(), part);
            pass.linear(&format!("{name}.fc"), last.max_dim(2).flatten(1, 2))
        });
        let mut x = Tensor::cat(found.collect(), 1);
        for place in 0..self.predictor.len() {
            x = pass.linear(&format!("predictor.{place}"), x);
        }
        pass.linear("output", x)
    }
}
