//! Augmentation of hidden layers: the linear map of a method on tensors, with gradients.
//!
//! As in the core, no n × n matrix is formed: O(rows · features), on any device.

use burn_tensor::{IndexingUpdateOp, Int, Tensor, TensorData};
use windlass::{Form, Mixing, Strength};

use crate::networks::network::Pass;

/// Applies a mixing to rows.
pub(crate) fn apply(pass: &Pass<'_>, mixing: &Mixing, rows: Tensor<2>) -> Tensor<2> {
    let count = mixing.rows_out();
    match mixing.form() {
        Form::Identity => rows,
        Form::Pairs { lambda } => {
            let width = rows.dims()[1];
            let first = rows.clone().slice([0..count, 0..width]);
            let second = rows.slice([count..2 * count, 0..width]);
            let share = column(pass, count, |row| lambda.at(row));
            second.clone() + (first - second) * share
        }
        Form::GroupMean { partition, weights, gamma } => {
            let labels: Vec<i64> = partition.labels().iter().map(|&label| label.into()).collect();
            let labels =
                Tensor::<1, Int>::from_data(TensorData::new(labels, [count]), pass.device());
            let mut totals = vec![0.0; partition.groups()];
            for (row, &label) in partition.labels().iter().enumerate() {
                totals[label as usize] += weights.map_or(1.0, |weights| weights[row]);
            }
            // The weight of a row in the mean of its group; 0 if the group has no weight.
            let share = |row: usize| {
                let total: f64 = totals[partition.labels()[row] as usize];
                if total > 0.0 { weights.map_or(1.0, |weights| weights[row]) / total } else { 0.0 }
            };
            let parts = rows.clone() * column(pass, count, share);
            let shape = [partition.groups(), rows.dims()[1]];
            let none = Tensor::<2>::zeros(shape, pass.device());
            let means = none.select_assign(0, labels.clone(), parts, IndexingUpdateOp::Add);
            let mean = means.select(0, labels);
            mean.clone() + (rows - mean) * column(pass, count, |row| 1.0 / gamma.at(row).sqrt())
        }
        Form::Projection { basis, gamma } => projected(pass, basis, gamma, rows),
        Form::LowRank { subspaces } => {
            let mut factors = vec![(1.0, 0.0); count];
            for subspace in subspaces {
                subspace.rows.iter().for_each(|&row| factors[row] = subspace.factors());
            }
            let mut out = rows.clone() * column(pass, count, |row| factors[row].0);
            for subspace in subspaces {
                let (size, rank) = subspace.basis.dim();
                let places = subspace.rows.iter().map(|&row| i64::try_from(row).unwrap_or(0));
                let places = TensorData::new(places.collect::<Vec<_>>(), [size]);
                let places = Tensor::<1, Int>::from_data(places, pass.device());
                #[expect(clippy::cast_possible_truncation, reason = "rounded")]
                let basis = subspace.basis.iter().map(|&value| value as f32).collect();
                let q = pass.matrix(basis, [size, rank]);
                let own = rows.clone().select(0, places.clone());
                let inside = q.clone().matmul(q.swap_dims(0, 1).matmul(own));
                let inside = inside * column(pass, size, |_| subspace.factors().1);
                out = out.select_assign(0, places, inside, IndexingUpdateOp::Add);
            }
            out
        }
    }
}

/// ADA's equation for anchors of any kind, by a basis of their span. See [`windlass::mixing::projection`].
fn projected(
    pass: &Pass<'_>,
    basis: ndarray::ArrayView2<'_, f64>,
    gamma: &Strength,
    rows: Tensor<2>,
) -> Tensor<2> {
    let (count, rank) = basis.dim();
    #[expect(clippy::cast_possible_truncation, reason = "rounded")]
    let q = pass.matrix(basis.iter().map(|&value| value as f32).collect(), [count, rank]);
    let sums = basis.sum_axis(ndarray::Axis(0));
    let excess = |row: usize| gamma.at(row).sqrt() - 1.0;
    let normalizer = |row: usize| 1.0 + excess(row) * basis.row(row).dot(&sums);
    let mean = rows.clone().mean_dim(0);
    let off = rows - mean.clone();
    let pulled = q.clone().matmul(q.swap_dims(0, 1).matmul(off.clone()));
    let moved = off + pulled * column(pass, count, excess);
    mean + moved * column(pass, count, |row| 1.0 / normalizer(row))
}

/// A number for every row.
fn column(pass: &Pass<'_>, rows: usize, value: impl Fn(usize) -> f64) -> Tensor<2> {
    #[expect(clippy::cast_possible_truncation, reason = "rounded")]
    let values = (0..rows).map(|row| value(row) as f32).collect();
    pass.matrix(values, [rows, 1])
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;
    use windlass::{AnchorMatrix, Mixing, Partition, Seed, Strength};

    use super::*;
    use crate::networks::network::numbers;
    use crate::networks::params::{Init, ParamLayout, TensorSpec};

    fn wave(rows: usize, columns: usize) -> Array2<f32> {
        Array2::from_shape_fn((rows, columns), |(i, j)| ((i * 5 + j * 3) as f32).sin())
    }

    /// On tensors a method does what it does in the core, and so does its gradient.
    #[test]
    fn maps_and_their_gradients_are_those_of_the_core() {
        let partition = Partition::new(vec![0, 2, 0, 2, 2, 3], 4).unwrap();
        let per_row = |values: [f64; 6]| Strength::PerRow(values.to_vec());
        let gammas = per_row([0.5, 2.0, 1.0, 3.0, 0.2, 5.0]);
        let weights = vec![1.0, 0.0, 2.5, 4.0, 0.5, 0.0];
        let anchors = wave(6, 2).mapv(f64::from);
        let anchors = AnchorMatrix::new(anchors).unwrap();
        let maps = [
            Mixing::identity(6),
            Mixing::pairs(3, Strength::PerRow(vec![0.1, 0.5, 1.0])).unwrap(),
            Mixing::group_mean(partition.clone(), Strength::Shared(2.5)).unwrap(),
            Mixing::group_mean(partition.clone(), gammas.clone()).unwrap(),
            Mixing::projection(&anchors, gammas.clone()).unwrap(),
            Mixing::weighted_group_mean(
                Partition::new(vec![0, 1, 0, 1, 1, 0], 2).unwrap(),
                weights,
                gammas,
            )
            .unwrap(),
        ];
        let layout =
            ParamLayout::new(vec![TensorSpec::new("rows", &[6, 7], Init::Constant(0.0))], vec![]);
        for mixing in maps {
            let rows = wave(6, 7);
            let flat: Vec<f32> = rows.iter().copied().collect();
            let pass = Pass::new(&layout, &flat, crate::networks::Device::Cpu, Some((Seed(0), 0)));
            let made = apply(&pass, &mixing, pass.tensor("rows"));
            let want = mixing.apply(rows.view()).unwrap();
            let near = |got: &[f32], want: &Array2<f32>, what: &str| {
                assert_eq!(got.len(), want.len(), "{what}, {mixing:?}");
                for (got, want) in got.iter().zip(want) {
                    assert!((got - want).abs() < 2e-6, "{what}, {mixing:?}: {got}, {want}");
                }
            };
            near(&numbers(made.clone().detach()), &want, "rows");
            let by_made = wave(mixing.rows_out(), 7).mapv(|value| value * 0.7 + 0.1);
            let seen = pass.matrix(by_made.iter().copied().collect(), [mixing.rows_out(), 7]);
            let mut gradients = (made * seen).sum().backward();
            let got = numbers(pass.trainable()[0].grad_remove(&mut gradients).unwrap());
            near(&got, &mixing.apply_transposed(by_made.view()).unwrap(), "gradients");
        }
    }
}
