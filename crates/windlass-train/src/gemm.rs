//! Products of small matrices, with the same order of additions on every machine.
//!
//! Rows are padded with zeros to a multiple of [`LANES`] numbers, so that no loop has a remainder. Each entry
//! of a product is summed from the first term to the last with fused multiply-add: its bits do not depend on
//! the vector width of the machine.

pub(crate) use windlass::simd::vectorized;

/// Numbers that are processed together.
pub(crate) const LANES: usize = 16;

/// A width rounded up to whole lanes.
pub(crate) fn padded(width: usize) -> usize {
    width.next_multiple_of(LANES)
}

/// A matrix in any layout, the left operand of [`matmul`].
#[derive(Clone, Copy)]
pub(crate) struct Strided<'a> {
    values: &'a [f32],
    rows: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> Strided<'a> {
    /// `rows` rows of `width` numbers.
    pub(crate) fn row_major(values: &'a [f32], rows: usize, width: usize) -> Self {
        Self { values, rows, row_stride: width, column_stride: 1 }
    }

    /// The transpose of rows of `width` numbers, of which the first `rows` columns are used.
    pub(crate) fn transposed(values: &'a [f32], rows: usize, width: usize) -> Self {
        Self { values, rows, row_stride: 1, column_stride: width }
    }
}

/// `out = left · right + bias`, with `right` of `inner` rows and rows of `width` numbers.
pub(crate) fn matmul(
    left: Strided<'_>,
    inner: usize,
    right: &[f32],
    width: usize,
    bias: Option<&[f32]>,
    out: &mut [f32],
) {
    /// Rows of a tile: with 16 columns, its sums fill 12 registers of 8 numbers.
    const TILE: usize = 6;
    debug_assert_eq!(width % LANES, 0);
    let right = &right[..inner * width];
    vectorized(
        out,
        #[inline(always)]
        |out| {
            let mut row = 0;
            while row < left.rows {
                let rows = TILE.min(left.rows - row);
                for column in (0..width).step_by(LANES) {
                    let tile = Tile { row, column, inner, width };
                    match rows {
                        6 => compute_tile::<6>(left, right, bias, out, tile),
                        5 => compute_tile::<5>(left, right, bias, out, tile),
                        4 => compute_tile::<4>(left, right, bias, out, tile),
                        3 => compute_tile::<3>(left, right, bias, out, tile),
                        2 => compute_tile::<2>(left, right, bias, out, tile),
                        _ => compute_tile::<1>(left, right, bias, out, tile),
                    }
                }
                row += rows;
            }
        },
    );
}

#[derive(Clone, Copy)]
struct Tile {
    row: usize,
    column: usize,
    inner: usize,
    width: usize,
}

#[inline(always)]
fn compute_tile<const ROWS: usize>(
    left: Strided<'_>,
    right: &[f32],
    bias: Option<&[f32]>,
    out: &mut [f32],
    tile: Tile,
) {
    let Tile { row, column, inner, width } = tile;
    let bias = match bias {
        Some(bias) => *bias[column..].first_chunk::<LANES>().expect("whole lanes"),
        None => [0.0; LANES],
    };
    let mut sums = [bias; ROWS];
    let Strided { row_stride, column_stride, .. } = left;
    let left = &left.values[row * row_stride..];
    for (k, right) in right.chunks_exact(width).enumerate().take(inner) {
        let right = right[column..].first_chunk::<LANES>().expect("whole lanes");
        for (r, sums) in sums.iter_mut().enumerate() {
            let factor = left[r * row_stride + k * column_stride];
            for (sum, &right) in sums.iter_mut().zip(right) {
                *sum = factor.mul_add(right, *sum);
            }
        }
    }
    for (r, sums) in sums.iter().enumerate() {
        out[(row + r) * width + column..][..LANES].copy_from_slice(sums);
    }
}

/// The scalar product of two vectors of whole lanes.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let (a, b) = (a.as_chunks::<LANES>().0, b.as_chunks::<LANES>().0);
    for (a, b) in a.iter().zip(b) {
        for ((sum, &a), &b) in sums.iter_mut().zip(a).zip(b) {
            *sum = a.mul_add(b, *sum);
        }
    }
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            sums[lane] += sums[lane + half];
        }
        half /= 2;
    }
    sums[0]
}

/// `out = left · rightᵀ + bias`, for a `right` of few rows: entries of `out` are scalar products.
pub(crate) fn matmul_transposed(
    left: &[f32],
    right: &[f32],
    width: usize,
    bias: &[f32],
    out: &mut [f32],
    out_width: usize,
) {
    vectorized(
        out,
        #[inline(always)]
        |out| {
            let rows = out.chunks_exact_mut(out_width);
            for (left, out) in left.chunks_exact(width).zip(rows) {
                for ((right, &bias), out) in right.chunks_exact(width).zip(bias).zip(out) {
                    *out = dot(left, right) + bias;
                }
            }
        },
    );
}

/// Writes the transpose of rows of `width` numbers; rows of `out` are padded with zeros to `out_width`.
pub(crate) fn transpose(values: &[f32], width: usize, out: &mut [f32], out_width: usize) {
    /// Side of a square that is transposed in registers.
    const SIDE: usize = 8;
    let rows = values.len() / width;
    let whole = rows / SIDE * SIDE;
    vectorized(
        out,
        #[inline(always)]
        |out| {
            for column in (0..width).step_by(SIDE) {
                let out = &mut out[column * out_width..][..SIDE * out_width];
                for row in (0..whole).step_by(SIDE) {
                    let mut square = [[0.0; SIDE]; SIDE];
                    for (r, square) in square.iter_mut().enumerate() {
                        square.copy_from_slice(&values[(row + r) * width + column..][..SIDE]);
                    }
                    for (c, out) in out.chunks_exact_mut(out_width).enumerate() {
                        let transposed = std::array::from_fn::<f32, SIDE, _>(|r| square[r][c]);
                        out[row..row + SIDE].copy_from_slice(&transposed);
                    }
                }
                for (c, out) in out.chunks_exact_mut(out_width).enumerate() {
                    for (row, out) in out.iter_mut().enumerate().skip(whole) {
                        *out = if row < rows { values[row * width + column + c] } else { 0.0 };
                    }
                }
            }
        },
    );
}

/// The sum of every column.
pub(crate) fn column_sums(values: &[f32], width: usize, out: &mut [f32]) {
    vectorized(
        out,
        #[inline(always)]
        |out| {
            out.fill(0.0);
            for row in values.chunks_exact(width) {
                for (sum, &value) in out.iter_mut().zip(row) {
                    *sum += value;
                }
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::{LANES, Strided, column_sums, matmul, matmul_transposed, padded, transpose};

    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        let next = |state: &mut u32| {
            *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Some(f32::from((*state >> 16) as u16) / 65536.0 - 0.5)
        };
        let mut state = seed;
        std::iter::from_fn(|| next(&mut state)).take(count).collect()
    }

    /// Both layouts against the definition in double precision, for every size of a last tile.
    #[test]
    fn matmul_equals_the_definition() {
        for rows in 1..14 {
            for inner in [1, 2, 5, 16, 33] {
                for width in [LANES, 3 * LANES] {
                    let (a, b) = (numbers(rows * inner, 1), numbers(inner * width, 2));
                    let bias = numbers(width, 3);
                    let entry = |i: usize, j: usize| {
                        let terms = (0..inner)
                            .map(|k| f64::from(a[i * inner + k]) * f64::from(b[k * width + j]));
                        terms.sum::<f64>() + f64::from(bias[j])
                    };
                    let mut transposed = vec![0.0; inner * rows];
                    for i in 0..rows {
                        for k in 0..inner {
                            transposed[k * rows + i] = a[i * inner + k];
                        }
                    }
                    let lefts = [
                        Strided::row_major(&a, rows, inner),
                        Strided::transposed(&transposed, rows, rows),
                    ];
                    for left in lefts {
                        let mut out = vec![f32::NAN; rows * width];
                        matmul(left, inner, &b, width, Some(&bias), &mut out);
                        for i in 0..rows {
                            for j in 0..width {
                                let got = f64::from(out[i * width + j]);
                                assert!((got - entry(i, j)).abs() < 1e-5, "{rows}×{inner}×{width}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn scalar_products_transposes_and_sums() {
        let (rows, width, few) = (13, 2 * LANES, 3);
        let (a, b) = (numbers(rows * width, 1), numbers(few * width, 2));
        let bias = [0.5, -0.25, 0.0];
        let mut out = vec![0.0; rows * LANES];
        matmul_transposed(&a, &b, width, &bias, &mut out, LANES);
        for i in 0..rows {
            for j in 0..few {
                let terms =
                    (0..width).map(|k| f64::from(a[i * width + k]) * f64::from(b[j * width + k]));
                let want = terms.sum::<f64>() + f64::from(bias[j]);
                assert!((f64::from(out[i * LANES + j]) - want).abs() < 1e-5);
            }
            assert_eq!(out[i * LANES + few..][..LANES - few], [0.0; LANES - 3]);
        }
        let mut transposed = vec![f32::NAN; width * padded(rows)];
        transpose(&a, width, &mut transposed, padded(rows));
        let mut sums = vec![f32::NAN; width];
        column_sums(&a, width, &mut sums);
        for column in 0..width {
            let own: Vec<f32> = (0..rows).map(|row| a[row * width + column]).collect();
            assert_eq!(transposed[column * padded(rows)..][..rows], own);
            assert_eq!(transposed[column * padded(rows)..][rows..padded(rows)], [0.0; LANES - 13]);
            assert!((sums[column] - own.iter().sum::<f32>()).abs() < 1e-5);
        }
    }
}
