//! burn's part of `cargo xtask bench train`: the step of the paper's network, as one line of JSON.

use std::time::Instant;

use burn::module::Module;
use burn::nn::{Linear, LinearConfig};
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::activation::leaky_relu;
use burn::tensor::{Device, Distribution, Tensor};

#[derive(Module, Debug)]
struct Network {
    first: Linear,
    second: Linear,
    third: Linear,
}

impl Network {
    fn forward(&self, x: Tensor<2>) -> Tensor<2> {
        let x = leaky_relu(self.first.forward(x), 0.1);
        let x = leaky_relu(self.second.forward(x), 0.1);
        self.third.forward(x)
    }
}

const EPOCHS: usize = 20;
const STEPS: usize = 250;
const BATCH: usize = 16;

fn main() {
    let device = Device::flex().autodiff();
    let mut network = Network {
        first: LinearConfig::new(5, 128).init(&device),
        second: LinearConfig::new(128, 128).init(&device),
        third: LinearConfig::new(128, 1).init(&device),
    };
    let mut optimizer = AdamConfig::new().with_epsilon(1e-8).init();
    // Batches are made before: what is timed is the step alone.
    let batches: Vec<(Tensor<2>, Tensor<2>)> = (0..STEPS)
        .map(|_| {
            let x = Tensor::<2>::random([BATCH, 5], Distribution::Uniform(0.0, 1.0), &device);
            let y = x.clone().sum_dim(1);
            (x, y)
        })
        .collect();
    let mut times = vec![];
    for _ in 0..EPOCHS {
        let started = Instant::now();
        for (x, y) in &batches {
            let error = network.forward(x.clone()) - y.clone();
            let loss = (error.clone() * error).mean();
            let gradients = GradientsParams::from_grads(loss.backward(), &network);
            network = optimizer.step(1e-4, network, gradients);
        }
        times.push(started.elapsed().as_secs_f64() * 1e6 / STEPS as f64);
    }
    times.sort_by(f64::total_cmp);
    println!(
        "{{\"work\": \"step_erm\", \"best\": {}, \"median\": {}}}",
        times[0],
        times[EPOCHS / 2]
    );
}
