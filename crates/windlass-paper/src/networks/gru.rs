//! A gated recurrent unit, forward and backward through time, as `PyTorch`'s `nn.GRU` defines it.
//!
//! One layer, one direction, a zero first state; only the last state is the output:
//!
//! ```text
//! r = sigmoid(W_ir x + b_ir + W_hr h + b_hr)
//! z = sigmoid(W_iz x + b_iz + W_hz h + b_hz)
//! n = tanh(W_in x + b_in + r (W_hn h + b_hn))
//! h' = (1 - z) n + z h
//! ```
//!
//! Rows go through all steps in blocks, so that what one step touches stays in the nearest caches.
//! Inside a block a value per unit and row is stored unit by unit (rows are contiguous): loops over
//! gates are then one flat run of any length, however few units there are. The sums of a step's
//! gates are four parts in a row (n by the input; r; z; n by the state): the input's product goes
//! to the first three, the state's to the last three, and gates take their place on the tape.
//!
//! Blocks depend on the sizes alone and their gradients are added in order: bits do not depend on
//! the number of threads.

use rayon::prelude::*;
use windlass::simd::vectorized;

/// The sizes of one call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Steps of time.
    pub(crate) steps: usize,
    /// Rows of a batch.
    pub(crate) rows: usize,
    /// Inputs of a row at a step.
    pub(crate) inputs: usize,
    /// Units of the state.
    pub(crate) hidden: usize,
}

/// Weights with gates in the order r, z, n.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Weights<'a> {
    /// `[3 hidden, inputs]`.
    pub(crate) input: &'a [f32],
    /// `[3 hidden, hidden]`.
    pub(crate) hidden: &'a [f32],
    /// `[3 hidden]`.
    pub(crate) input_bias: &'a [f32],
    /// `[3 hidden]`.
    pub(crate) hidden_bias: &'a [f32],
}

/// The gates and states of every step, for the backward pass.
#[derive(Clone, Debug)]
pub(crate) struct Tape {
    /// For each block of rows and each step: n, r, z, the state's part of n, and the new state.
    blocks: Vec<Vec<f32>>,
}

/// Gradients, shaped like what they belong to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Gradients {
    /// `[steps, rows, inputs]`.
    pub(crate) x: Vec<f32>,
    /// `[3 hidden, inputs]`.
    pub(crate) input: Vec<f32>,
    /// `[3 hidden, hidden]`.
    pub(crate) hidden: Vec<f32>,
    /// `[3 hidden]`.
    pub(crate) input_bias: Vec<f32>,
    /// `[3 hidden]`.
    pub(crate) hidden_bias: Vec<f32>,
}

/// Parts of a step on the tape.
const PARTS: usize = 5;

/// The last state `[rows, hidden]` after `x` (`[steps, rows, inputs]`), and a [`Tape`] to go back.
///
/// Panics if a slice is not as long as `sizes` say.
#[must_use]
pub(crate) fn forward(sizes: &Sizes, x: &[f32], weights: &Weights<'_>) -> (Vec<f32>, Tape) {
    check(sizes, x, weights);
    let Sizes { steps, rows, hidden, .. } = *sizes;
    let mut output = vec![0.0; rows * hidden];
    if rows == 0 || hidden == 0 || steps == 0 {
        return (output, Tape { blocks: Vec::new() });
    }
    let input = rotated(weights.input, hidden * sizes.inputs);
    let bias = gate_bias(weights, hidden);
    let height = block_rows(sizes);
    let work = |(index, output): (usize, &mut [f32])| {
        let block = RowBlock { first: index * height, rows: output.len() / hidden };
        let tape = forward_block(sizes, block, x, [&input, weights.hidden, &bias]);
        let last = &tape[tape.len() - hidden * block.rows..];
        transpose(last, output, block.rows);
        tape
    };
    let blocks = output.par_chunks_mut(height * hidden).enumerate().map(work).collect();
    (output, Tape { blocks })
}

/// Gradients by everything, given those by the output of [`forward`] (`[rows, hidden]`).
///
/// Panics if a slice is not as long as `sizes` say, or if `tape` is of other sizes.
#[must_use]
pub(crate) fn backward(
    sizes: &Sizes,
    x: &[f32],
    weights: &Weights<'_>,
    tape: &Tape,
    by_output: &[f32],
) -> Gradients {
    check(sizes, x, weights);
    let Sizes { steps, rows, inputs, hidden } = *sizes;
    assert_eq!(by_output.len(), rows * hidden, "gradients by the output");
    let mut by_x = vec![0.0; steps * rows * inputs];
    let mut total = Sums::new(sizes);
    if rows > 0 && hidden > 0 && steps > 0 {
        let height = block_rows(sizes);
        assert_eq!(tape.blocks.len(), rows.div_ceil(height), "blocks of the tape");
        // Each block owns its rows of every step.
        let mut parts: Vec<Vec<&mut [f32]>> =
            tape.blocks.iter().map(|_| Vec::with_capacity(steps)).collect();
        if inputs > 0 {
            for step in by_x.chunks_exact_mut(rows * inputs) {
                for (part, rows) in parts.iter_mut().zip(step.chunks_mut(height * inputs)) {
                    part.push(rows);
                }
            }
        }
        let input = rotated(weights.input, hidden * inputs);
        let state = transposed(weights.hidden, hidden);
        let work = |(index, by_x): (usize, Vec<&mut [f32]>)| {
            let first = index * height;
            let block = RowBlock { first, rows: height.min(rows - first) };
            let by_output = &by_output[first * hidden..][..block.rows * hidden];
            let given =
                BackwardInputs { x, tape: &tape.blocks[index], input: &input, state: &state };
            backward_block(sizes, block, &given, by_x, by_output)
        };
        let sums: Vec<Sums> = parts.into_par_iter().enumerate().map(work).collect();
        for sums in &sums {
            total.add(sums);
        }
    }
    total.gradients(sizes, by_x)
}

/// Rows of a block, by the sizes alone.
///
/// 32 rows of 50 units keep a step's gates in the nearest cache, and make two threads' work of a
/// batch of 64; narrow states take more rows, so that each call has enough to do.
fn block_rows(sizes: &Sizes) -> usize {
    (1600 / sizes.hidden.max(1)).next_multiple_of(32).clamp(32, 256)
}

/// Checks lengths.
fn check(sizes: &Sizes, x: &[f32], weights: &Weights<'_>) {
    let Sizes { steps, rows, inputs, hidden } = *sizes;
    assert_eq!(x.len(), steps * rows * inputs, "inputs");
    assert_eq!(weights.input.len(), 3 * hidden * inputs, "weights of the input");
    assert_eq!(weights.hidden.len(), 3 * hidden * hidden, "weights of the state");
    assert_eq!(weights.input_bias.len(), 3 * hidden, "biases of the input");
    assert_eq!(weights.hidden_bias.len(), 3 * hidden, "biases of the state");
}

/// Some rows of all steps.
#[derive(Clone, Copy)]
struct RowBlock {
    first: usize,
    rows: usize,
}

impl RowBlock {
    /// Where the inputs of step `step` are.
    fn inputs(self, sizes: &Sizes, step: usize) -> std::ops::Range<usize> {
        let start = (step * sizes.rows + self.first) * sizes.inputs;
        start..start + self.rows * sizes.inputs
    }
}

/// One block through all steps, on a tape. Weights are the rotated input's, the state's, biases.
fn forward_block(
    sizes: &Sizes,
    block: RowBlock,
    x: &[f32],
    [input, state, bias]: [&[f32]; 3],
) -> Vec<f32> {
    let Sizes { steps, inputs, hidden, .. } = *sizes;
    let rows = block.rows;
    let part = hidden * rows;
    let mut tape = Vec::with_capacity(steps * PARTS * part);
    let zero = vec![0.0; part];
    for step in 0..steps {
        // The tape grows step by step, so that what is written next is in the caches.
        let start = tape.len();
        for &bias in bias {
            tape.resize(tape.len() + rows, bias);
        }
        tape.resize(tape.len() + part, 0.0);
        let (past, new) = tape.split_at_mut(start);
        if inputs > 0 {
            let x = Matrix::new(&x[block.inputs(sizes, step)], rows, inputs).transposed();
            product(&mut new[..3 * part], true, Matrix::new(input, 3 * hidden, inputs), x);
        }
        let before = if step == 0 {
            &zero[..]
        } else {
            let before = &past[start - part..];
            let by_state = Matrix::new(state, 3 * hidden, hidden);
            product(&mut new[part..4 * part], true, by_state, Matrix::new(before, hidden, rows));
            before
        };
        vectorized(
            (before, new),
            #[inline(always)]
            |(before, new)| activate(before, new),
        );
    }
    tape
}

/// Turns the sums of a step's gates on the tape into gates, and adds the new state.
#[inline(always)]
fn activate(before: &[f32], new: &mut [f32]) {
    let part = before.len();
    let (n, rest) = new.split_at_mut(part);
    let (r, rest) = rest.split_at_mut(part);
    let (z, rest) = rest.split_at_mut(part);
    let (q, rest) = rest.split_at_mut(part);
    let (before, n, q, state) = (&before[..part], &mut n[..part], &q[..part], &mut rest[..part]);
    for i in 0..part {
        let reset = sigmoid(r[i]);
        let kept = sigmoid(z[i]);
        let fresh = tanh(reset.mul_add(q[i], n[i]));
        r[i] = reset;
        z[i] = kept;
        n[i] = fresh;
        state[i] = kept.mul_add(before[i] - fresh, fresh);
    }
}

/// The inputs of the backward pass of a block.
struct BackwardInputs<'a> {
    x: &'a [f32],
    tape: &'a [f32],
    /// Rotated weights of the input.
    input: &'a [f32],
    /// Transposed weights of the state.
    state: &'a [f32],
}

/// One block back through all steps: its part of the sums; gradients by its inputs go to `by_x`.
fn backward_block(
    sizes: &Sizes,
    block: RowBlock,
    given: &BackwardInputs<'_>,
    mut by_x: Vec<&mut [f32]>,
    by_output: &[f32],
) -> Sums {
    let Sizes { steps, inputs, hidden, .. } = *sizes;
    let rows = block.rows;
    let part = hidden * rows;
    assert_eq!(given.tape.len(), steps * PARTS * part, "length of the tape");
    let mut sums = Sums::new(sizes);
    let mut by_gates = vec![0.0; 4 * part];
    let mut by_bias = vec![0.0; 4 * part];
    let mut by_state = vec![0.0; part];
    transpose(by_output, &mut by_state, hidden);
    let zero = vec![0.0; part];
    for step in (0..steps).rev() {
        let (past, rest) = given.tape.split_at(step * PARTS * part);
        let before = if step == 0 { &zero[..] } else { &past[past.len() - part..] };
        vectorized(
            (&rest[..PARTS * part], before, &mut by_state[..], &mut by_gates[..], &mut by_bias[..]),
            #[inline(always)]
            |(taped, before, by_state, by_gates, by_bias)| {
                deactivate(taped, before, by_state, by_gates);
                for (sum, by_gate) in by_bias.iter_mut().zip(by_gates) {
                    *sum += *by_gate;
                }
            },
        );
        let of_input = Matrix::new(&by_gates[..3 * part], 3 * hidden, rows);
        let of_state = Matrix::new(&by_gates[part..], 3 * hidden, rows);
        if step > 0 {
            product(&mut by_state, true, Matrix::new(given.state, hidden, 3 * hidden), of_state);
            let before = Matrix::new(before, hidden, rows).transposed();
            product(&mut sums.hidden, true, of_state, before);
        }
        if inputs > 0 {
            let x = Matrix::new(&given.x[block.inputs(sizes, step)], rows, inputs);
            product(&mut sums.input, true, of_input, x);
            let input = Matrix::new(given.input, 3 * hidden, inputs);
            product(by_x[step], false, of_input.transposed(), input);
        }
    }
    for (sum, rows) in sums.bias.iter_mut().zip(by_bias.chunks_exact(rows)) {
        *sum = rows.iter().sum();
    }
    sums
}

/// Gradients by the sums of the gates; `by_state` becomes the part that passes the gates by.
#[inline(always)]
fn deactivate(taped: &[f32], before: &[f32], by_state: &mut [f32], by_gates: &mut [f32]) {
    let part = before.len();
    let (n, rest) = taped.split_at(part);
    let (r, rest) = rest.split_at(part);
    let (z, rest) = rest.split_at(part);
    let (q, before, by_state) = (&rest[..part], &before[..part], &mut by_state[..part]);
    let (by_n, rest) = by_gates.split_at_mut(part);
    let (by_r, rest) = rest.split_at_mut(part);
    let (by_z, rest) = rest.split_at_mut(part);
    let by_q = &mut rest[..part];
    for i in 0..part {
        let by = by_state[i];
        let fresh = by * (1.0 - z[i]) * (-n[i]).mul_add(n[i], 1.0);
        let passed = by * z[i];
        by_n[i] = fresh;
        by_q[i] = fresh * r[i];
        by_r[i] = fresh * r[i] * q[i] * (1.0 - r[i]);
        by_z[i] = passed * (before[i] - n[i]) * (1.0 - z[i]);
        by_state[i] = passed;
    }
}

/// Gradients by weights, summed over rows and steps. The input's are rotated (n, r, z).
struct Sums {
    input: Vec<f32>,
    hidden: Vec<f32>,
    /// The four parts of the gates.
    bias: Vec<f32>,
}

impl Sums {
    fn new(sizes: &Sizes) -> Self {
        let Sizes { inputs, hidden, .. } = *sizes;
        Self {
            input: vec![0.0; 3 * hidden * inputs],
            hidden: vec![0.0; 3 * hidden * hidden],
            bias: vec![0.0; 4 * hidden],
        }
    }

    fn add(&mut self, other: &Self) {
        let pairs = [
            (&mut self.input, &other.input),
            (&mut self.hidden, &other.hidden),
            (&mut self.bias, &other.bias),
        ];
        for (into, from) in pairs {
            for (into, from) in into.iter_mut().zip(from) {
                *into += from;
            }
        }
    }

    fn gradients(mut self, sizes: &Sizes, x: Vec<f32>) -> Gradients {
        let Sizes { inputs, hidden, .. } = *sizes;
        self.input.rotate_left(hidden * inputs);
        let hidden_bias = self.bias[hidden..].to_vec();
        self.bias.truncate(3 * hidden);
        self.bias.rotate_left(hidden);
        Gradients { x, input: self.input, hidden: self.hidden, input_bias: self.bias, hidden_bias }
    }
}

/// `weights` with gates in the order n, r, z; a gate has `length` of them.
fn rotated(weights: &[f32], length: usize) -> Vec<f32> {
    let mut rotated = weights.to_vec();
    rotated.rotate_right(length);
    rotated
}

/// Biases of the four parts of the gates.
fn gate_bias(weights: &Weights<'_>, hidden: usize) -> Vec<f32> {
    let mut bias = vec![0.0; 4 * hidden];
    bias[hidden..].copy_from_slice(weights.hidden_bias);
    let (first, rest) = bias.split_at_mut(hidden);
    first.copy_from_slice(&weights.input_bias[2 * hidden..]);
    for (bias, input) in rest.iter_mut().zip(&weights.input_bias[..2 * hidden]) {
        *bias += input;
    }
    bias
}

/// `from` transposed; it has rows of `width`.
fn transposed(from: &[f32], width: usize) -> Vec<f32> {
    let mut into = vec![0.0; from.len()];
    transpose(from, &mut into, width);
    into
}

/// `into` becomes `from` transposed; `from` has rows of `width`.
fn transpose(from: &[f32], into: &mut [f32], width: usize) {
    let height = from.len() / width;
    for (column, into) in into.chunks_exact_mut(height).enumerate() {
        for (into, from) in into.iter_mut().zip(from.chunks_exact(width)) {
            *into = from[column];
        }
    }
}

/// `1 / (1 + exp(-x))` to a few units in the last place; NaN stays NaN.
#[inline(always)]
fn sigmoid(x: f32) -> f32 {
    // Below -87 the answer is 1e-38 in place of even less.
    let (power, rest) = exponential((-x).clamp(-87.0, 87.0));
    1.0 / (1.0 + power.mul_add(rest, power))
}

/// The hyperbolic tangent to a few units in the last place; NaN stays NaN.
#[inline(always)]
fn tanh(x: f32) -> f32 {
    // exp(2 |x|) - 1 keeps the digits of small values; beyond 20 the answer is one.
    let (power, rest) = exponential((2.0 * x.abs()).clamp(0.0, 40.0));
    let less_one = power.mul_add(rest, power - 1.0);
    (less_one / (less_one + 2.0)).copysign(x)
}

/// `(p, e)` such that `exp(x) = p (1 + e)` for `x` within 87 of zero; `p` is a power of two.
#[inline(always)]
fn exponential(x: f32) -> (f32, f32) {
    // Adding 1.5 * 2^23 rounds to an integer, and leaves it in the low bits.
    const ROUND: f32 = 12_582_912.0;
    // ln 2 in two parts, of which the first has zeros at the end.
    const HIGH: f32 = 0.693_359_4;
    const LOW: f32 = -2.121_944_4e-4;
    let shifted = x.mul_add(std::f32::consts::LOG2_E, ROUND);
    let count = shifted - ROUND;
    let x = count.mul_add(-LOW, count.mul_add(-HIGH, x));
    let mut rest = 1.987_569_1e-4_f32;
    for coefficient in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_6e-1, 0.5] {
        rest = rest.mul_add(x, coefficient);
    }
    let rest = (rest * x).mul_add(x, x);
    let power = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    (power, rest)
}

/// A matrix in a slice.
#[derive(Clone, Copy)]
struct Matrix<'a> {
    values: &'a [f32],
    rows: usize,
    columns: usize,
    transposed: bool,
}

impl<'a> Matrix<'a> {
    /// Row by row.
    fn new(values: &'a [f32], rows: usize, columns: usize) -> Self {
        Self { values, rows, columns, transposed: false }
    }

    /// Its transpose.
    fn transposed(self) -> Self {
        Self { rows: self.columns, columns: self.rows, transposed: !self.transposed, ..self }
    }

    /// From a row to the next, and from a column to the next.
    fn strides(&self) -> (isize, isize) {
        let width = if self.transposed { self.rows } else { self.columns };
        let width = isize::try_from(width).expect("slices are shorter than isize::MAX");
        if self.transposed { (1, width) } else { (width, 1) }
    }
}

/// `into` (row by row) becomes `left right`, or is increased by it, on this thread.
#[expect(unsafe_code, reason = "the product takes addresses and strides")]
fn product(into: &mut [f32], add: bool, left: Matrix<'_>, right: Matrix<'_>) {
    assert_eq!(left.columns, right.rows);
    assert_eq!(left.values.len(), left.rows * left.columns);
    assert_eq!(right.values.len(), right.rows * right.columns);
    assert_eq!(into.len(), left.rows * right.columns);
    let (left_row, left_column) = left.strides();
    let (right_row, right_column) = right.strides();
    let width = isize::try_from(right.columns).expect("slices are shorter than isize::MAX");
    // SAFETY: the slices are as long as the sizes say, strides stay within them, and `into` is
    // borrowed alone.
    unsafe {
        gemm::gemm(
            left.rows,
            right.columns,
            left.columns,
            into.as_mut_ptr(),
            1,
            width,
            add,
            left.values.as_ptr(),
            left_column,
            left_row,
            right.values.as_ptr(),
            right_column,
            right_row,
            1.0,
            1.0,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A problem of random numbers.
    struct Problem {
        sizes: Sizes,
        x: Vec<f32>,
        weights: [Vec<f32>; 4],
        by_output: Vec<f32>,
    }

    impl Problem {
        fn new(steps: usize, rows: usize, inputs: usize, hidden: usize) -> Self {
            let mut seed = 7_u64;
            let mut draw = |length: usize| {
                let draws = (0..length).map(|_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695);
                    (seed >> 40) as f32 / 8_388_608.0 - 1.0
                });
                draws.collect::<Vec<f32>>()
            };
            let x = draw(steps * rows * inputs);
            let by_output = draw(rows * hidden);
            let weights = [3 * hidden * inputs, 3 * hidden * hidden, 3 * hidden, 3 * hidden];
            let weights = weights.map(|length| {
                draw(length).into_iter().map(|w| w / (hidden as f32).sqrt()).collect()
            });
            Self { sizes: Sizes { steps, rows, inputs, hidden }, x, weights, by_output }
        }

        fn weights(&self) -> Weights<'_> {
            let [input, hidden, input_bias, hidden_bias] = &self.weights;
            Weights { input, hidden, input_bias, hidden_bias }
        }

        /// The output, and gradients by the inputs and the four weights.
        fn fused(&self) -> (Vec<f32>, [Vec<f32>; 5]) {
            let weights = self.weights();
            let (output, tape) = forward(&self.sizes, &self.x, &weights);
            let by = backward(&self.sizes, &self.x, &weights, &tape, &self.by_output);
            (output, [by.x, by.input, by.hidden, by.input_bias, by.hidden_bias])
        }

        /// Inputs and weights in double precision.
        fn doubles(&self) -> [Vec<f64>; 5] {
            let [a, b, c, d] = &self.weights;
            [&self.x, a, b, c, d].map(|from| from.iter().map(|&v| f64::from(v)).collect())
        }
    }

    /// Gates and states of one row at one step, from the definition.
    struct Step {
        r: Vec<f64>,
        z: Vec<f64>,
        n: Vec<f64>,
        q: Vec<f64>,
        h: Vec<f64>,
    }

    fn reference_row(sizes: &Sizes, given: &[Vec<f64>; 5], row: usize) -> Vec<Step> {
        let Sizes { steps, rows, inputs, hidden } = *sizes;
        let [x, input, state, input_bias, state_bias] = given;
        let mut h = vec![0.0; hidden];
        let mut taken = Vec::new();
        for step in 0..steps {
            let x = &x[(step * rows + row) * inputs..][..inputs];
            let dot = |w: &[f64], v: &[f64]| w.iter().zip(v).map(|(w, v)| w * v).sum::<f64>();
            let by_input =
                |unit: usize| dot(&input[unit * inputs..][..inputs], x) + input_bias[unit];
            let by_state = |unit: usize, h: &[f64]| {
                dot(&state[unit * hidden..][..hidden], h) + state_bias[unit]
            };
            let gate = |unit: usize| 1.0 / (1.0 + (-by_input(unit) - by_state(unit, &h)).exp());
            let r: Vec<f64> = (0..hidden).map(gate).collect();
            let z: Vec<f64> = (hidden..2 * hidden).map(gate).collect();
            let q: Vec<f64> = (2 * hidden..3 * hidden).map(|u| by_state(u, &h)).collect();
            let n: Vec<f64> =
                (0..hidden).map(|u| (by_input(2 * hidden + u) + r[u] * q[u]).tanh()).collect();
            h = (0..hidden).map(|u| (1.0 - z[u]) * n[u] + z[u] * h[u]).collect();
            taken.push(Step { r, z, n, q, h: h.clone() });
        }
        taken
    }

    /// What [`Problem::fused`] gives, from the definition, row by row and unit by unit.
    fn reference(problem: &Problem) -> (Vec<f64>, [Vec<f64>; 5]) {
        let Sizes { steps, rows, inputs, hidden } = problem.sizes;
        let given = problem.doubles();
        let mut output = Vec::new();
        let mut by = given.clone().map(|v| vec![0.0; v.len()]);
        for row in 0..rows {
            let taken = reference_row(&problem.sizes, &given, row);
            output.extend(&taken[steps - 1].h);
            let by_output = &problem.by_output[row * hidden..][..hidden];
            let mut by_h: Vec<f64> = by_output.iter().map(|&v| f64::from(v)).collect();
            for step in (0..steps).rev() {
                let Step { r, z, n, q, .. } = &taken[step];
                let zero = vec![0.0; hidden];
                let before = if step == 0 { &zero } else { &taken[step - 1].h };
                let mut by_before: Vec<f64> = by_h.iter().zip(z).map(|(by, z)| by * z).collect();
                for u in 0..hidden {
                    let by_n = by_h[u] * (1.0 - z[u]) * (1.0 - n[u] * n[u]);
                    let by_r = by_n * q[u] * r[u] * (1.0 - r[u]);
                    let by_z = by_h[u] * (before[u] - n[u]) * z[u] * (1.0 - z[u]);
                    let sums = [(by_r, by_r), (by_z, by_z), (by_n, by_n * r[u])];
                    for (gate, (of_input, of_state)) in sums.into_iter().enumerate() {
                        let unit = gate * hidden + u;
                        by[3][unit] += of_input;
                        by[4][unit] += of_state;
                        for i in 0..inputs {
                            let at = (step * rows + row) * inputs + i;
                            by[1][unit * inputs + i] += of_input * given[0][at];
                            by[0][at] += of_input * given[1][unit * inputs + i];
                        }
                        for i in 0..hidden {
                            by[2][unit * hidden + i] += of_state * before[i];
                            by_before[i] += of_state * given[2][unit * hidden + i];
                        }
                    }
                }
                by_h = by_before;
            }
        }
        (output, by)
    }

    /// The greatest difference relative to the greatest value.
    fn difference(ours: &[f32], reference: &[f64]) -> f64 {
        assert_eq!(ours.len(), reference.len());
        let scale = reference.iter().fold(1e-3_f64, |most, v| most.max(v.abs()));
        let pairs = ours.iter().zip(reference);
        pairs.fold(0.0_f64, |most, (&a, b)| most.max((f64::from(a) - b).abs())) / scale
    }

    #[test]
    fn agrees_with_the_definition() {
        let shapes = [
            (5, 3, 4, 3),
            (1, 3, 4, 3),
            (1, 1, 1, 1),
            (4, 1, 3, 2),
            (3, 2, 1, 1),
            (2, 7, 2, 9),
            (6, 600, 5, 5),
            (9, 70, 11, 50),
        ];
        for (steps, rows, inputs, hidden) in shapes {
            let problem = Problem::new(steps, rows, inputs, hidden);
            let (output, by) = problem.fused();
            let (true_output, true_by) = reference(&problem);
            assert!(difference(&output, &true_output) < 1e-6, "{:?}", problem.sizes);
            for (part, (ours, reference)) in by.iter().zip(&true_by).enumerate() {
                let difference = difference(ours, reference);
                assert!(difference < 2e-6, "{:?}, part {part}: {difference}", problem.sizes);
            }
        }
    }

    #[test]
    fn gradients_are_slopes() {
        let problem = Problem::new(5, 3, 4, 3);
        let loss = |given: &[Vec<f64>; 5]| {
            let mut loss = 0.0;
            for row in 0..problem.sizes.rows {
                let taken = reference_row(&problem.sizes, given, row);
                let by = &problem.by_output[row * 3..][..3];
                let last = taken.last().expect("a step");
                loss += by.iter().zip(&last.h).map(|(&by, h)| f64::from(by) * h).sum::<f64>();
            }
            loss
        };
        let (_, by) = problem.fused();
        let given = problem.doubles();
        for part in 0..5 {
            for (at, &slope) in by[part].iter().enumerate() {
                let at_distance = |distance: f64| {
                    let mut given = given.clone();
                    given[part][at] += distance;
                    loss(&given)
                };
                let expected = (at_distance(1e-5) - at_distance(-1e-5)) / 2e-5;
                let error = (f64::from(slope) - expected).abs();
                assert!(error < 1e-6, "part {part}, {at}: {slope} for {expected}");
            }
        }
    }

    #[test]
    fn bits_do_not_depend_on_threads() {
        let problem = Problem::new(4, 700, 3, 5);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
            pool.expect("a pool").install(|| problem.fused())
        };
        let bits = |(output, by): (Vec<f32>, [Vec<f32>; 5])| {
            output.into_iter().chain(by.into_iter().flatten()).map(f32::to_bits).collect::<Vec<_>>()
        };
        let one = bits(on(1));
        assert_eq!(one, bits(on(2)));
        assert_eq!(one, bits(on(3)));
    }

    #[test]
    fn nothing_is_no_trouble() {
        for (steps, rows, inputs, hidden) in
            [(0, 2, 3, 4), (2, 0, 3, 4), (2, 3, 0, 4), (2, 3, 4, 0), (0, 0, 0, 0)]
        {
            let problem = Problem::new(steps, rows, inputs, hidden);
            let (output, by) = problem.fused();
            assert_eq!(output.len(), rows * hidden);
            assert_eq!(by.map(|by| by.len()), problem.doubles().map(|given| given.len()));
        }
    }

    #[test]
    fn functions_are_accurate() {
        let (mut worst_sigmoid, mut worst_tanh) = (0.0_f64, 0.0_f64);
        for i in -400_000..=400_000 {
            // Dense near zero, and out to 85.
            let x = (i as f32 / 400_000.0).powi(3) * 85.0;
            let wide = f64::from(x);
            let expected = 1.0 / (1.0 + (-wide).exp());
            worst_sigmoid = worst_sigmoid.max((f64::from(sigmoid(x)) / expected - 1.0).abs());
            if x != 0.0 {
                worst_tanh = worst_tanh.max((f64::from(tanh(x)) / wide.tanh() - 1.0).abs());
            }
        }
        assert!(worst_sigmoid < 2.5e-7, "{worst_sigmoid}");
        assert!(worst_tanh < 2.5e-7, "{worst_tanh}");
        let ends = [f32::NEG_INFINITY, -200.0, 0.0, 200.0, f32::INFINITY];
        assert_eq!(ends.map(tanh), [-1.0, -1.0, 0.0, 1.0, 1.0]);
        assert_eq!(ends.map(|x| sigmoid(x).max(1e-30)), [1e-30, 1e-30, 0.5, 1.0, 1.0]);
        assert!(sigmoid(f32::NAN).is_nan() && tanh(f32::NAN).is_nan());
        assert!(sigmoid(-f32::NAN).is_nan() && tanh(f32::from_bits(0x7fff_ffff)).is_nan());
    }
}
