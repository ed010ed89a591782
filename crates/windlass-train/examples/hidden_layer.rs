//! A network with and without ADA on a hidden layer: `cargo run -p windlass-train --example hidden_layer`.
#![expect(clippy::print_stdout, reason = "an example")]

use std::sync::Arc;

use ndarray::Array2;
use windlass::{Ada, Dataset, Seed};
use windlass_train::{Activation, Augment, Result, RunSpec, Shape, TrainConfig, run_all};

/// Rows of a noiseless curve, which begin at `first` and skip every other one.
fn rows(first: u16) -> Result<Arc<Dataset<f32>>> {
    let x: Vec<f32> = (first..80).step_by(2).map(|row| f32::from(row) / 40.0 - 1.0).collect();
    let y = x.iter().map(|x| x * x).collect();
    let column = |values| Array2::from_shape_vec((40, 1), values).expect("40 rows");
    Ok(Arc::new(Dataset::new(column(x), column(y), None)?))
}

fn main() -> Result<()> {
    let plain = RunSpec {
        train: rows(0)?,
        valid: Some(rows(1)?),
        shape: Shape::mlp(1, 32, Activation::Relu, 1),
        training: TrainConfig { epochs: 40, weight_decay: 0.0, ..TrainConfig::default() },
        augment: None,
        seed: Seed(7),
    };
    let augment = Augment::new(Ada::default().clusters(4).alpha(1.5)).after(1);
    let augmented = RunSpec { augment: Some(augment), ..plain.clone() };

    let results = run_all(&[plain, augmented], &(), |_, _| {});
    for (name, result) in ["no augmentation", "ADA after hidden layer 1"].into_iter().zip(results) {
        let result = result?;
        let error = result.valid.expect("there are validation rows");
        println!("{name}: validation MSE {error:.5} at epoch {}", result.epoch);
        assert!(error < 0.05, "both learn the curve");
    }
    Ok(())
}
