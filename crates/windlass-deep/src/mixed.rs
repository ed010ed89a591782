//! Rows made inside a network: the linear map of a method on tensors, through which gradients flow.
//!
//! As in the core no matrix of rows by rows is made: O(rows · features), on whatever device.

use burn::tensor::{IndexingUpdateOp, Int, Tensor, TensorData};
use windlass::{Form, Mixing, Strength};

use crate::network::Pass;

/// What a mixing makes of rows.
pub(crate) fn mixed(pass: &Pass<'_>, mixing: &Mixing, rows: Tensor<2>) -> Tensor<2> {
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
            // The share of a row in the mean of its group; a group without weight has none.
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
    let normaliser = |row: usize| 1.0 + excess(row) * basis.row(row).dot(&sums);
    let mean = rows.clone().mean_dim(0);
    let off = rows - mean.clone();
    let pulled = q.clone().matmul(q.swap_dims(0, 1).matmul(off.clone()));
    let moved = off + pulled * column(pass, count, excess);
    mean + moved * column(pass, count, |row| 1.0 / normaliser(row))
}

/// A number for every row.
fn column(pass: &Pass<'_>, rows: usize, value: impl Fn(usize) -> f64) -> Tensor<2> {
    #[expect(clippy::cast_possible_truncation, reason = "rounded")]
    let values = (0..rows).map(|row| value(row) as f32).collect();
    pass.matrix(values, [rows, 1])
}
