//! Products of small matrices, with one order of additions on every machine.
//!
//! Every matrix has rows of a multiple of [`LANES`] numbers, zeros behind the last, so that no loop has
//! an end to treat apart. An entry of a product is summed from the first term to the last with fused
//! multiplications and additions: its bits do not depend on how wide the machine's vectors are.

pub(crate) use windlass::simd::vectorized;

/// Numbers that are worked on side by side.
pub(crate) const LANES: usize = 16;

/// A width with room for whole lanes.
pub(crate) fn padded(width: usize) -> usize {
    width.next_multiple_of(LANES)
}

/// The left factor of a product: any matrix, told by its strides.
#[derive(Clone, Copy)]
pub(crate) struct Left<'a> {
    pub(crate) values: &'a [f32],
    pub(crate) rows: usize,
    /// From one row to the next, and from one entry of a row to the next.
    pub(crate) strides: (usize, usize),
}

impl<'a> Left<'a> {
    /// Some rows as they are.
    pub(crate) fn plain(values: &'a [f32], rows: usize, width: usize) -> Self {
        Self { values, rows, strides: (width, 1) }
    }

    /// The transpose of rows of `width` numbers, of which `rows` count.
    pub(crate) fn transposed(values: &'a [f32], rows: usize, width: usize) -> Self {
        Self { values, rows, strides: (1, width) }
    }
}

/// `out = left · right + start`, with `right` of `inner` rows and rows of `width` numbers.
pub(crate) fn product(
    left: Left<'_>,
    inner: usize,
    right: &[f32],
    width: usize,
    start: Option<&[f32]>,
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
                    let place = Place { row, column, inner, width };
                    match rows {
                        6 => tile::<6>(left, right, start, out, place),
                        5 => tile::<5>(left, right, start, out, place),
                        4 => tile::<4>(left, right, start, out, place),
                        3 => tile::<3>(left, right, start, out, place),
                        2 => tile::<2>(left, right, start, out, place),
                        _ => tile::<1>(left, right, start, out, place),
                    }
                }
                row += rows;
            }
        },
    );
}

#[derive(Clone, Copy)]
struct Place {
    row: usize,
    column: usize,
    inner: usize,
    width: usize,
}

#[inline(always)]
fn tile<const ROWS: usize>(
    left: Left<'_>,
    right: &[f32],
    start: Option<&[f32]>,
    out: &mut [f32],
    place: Place,
) {
    let Place { row, column, inner, width } = place;
    let first = match start {
        Some(start) => *start[column..].first_chunk::<LANES>().expect("whole lanes"),
        None => [0.0; LANES],
    };
    let mut sums = [first; ROWS];
    let (down, along) = left.strides;
    let left = &left.values[row * down..];
    for (k, right) in right.chunks_exact(width).enumerate().take(inner) {
        let right = right[column..].first_chunk::<LANES>().expect("whole lanes");
        for (r, sums) in sums.iter_mut().enumerate() {
            let factor = left[r * down + k * along];
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

/// `out = left · rightᵀ + start`, for a `right` of few rows: entries of `out` are scalar products.
pub(crate) fn product_with_rows(
    left: &[f32],
    right: &[f32],
    width: usize,
    start: &[f32],
    out: &mut [f32],
    out_width: usize,
) {
    vectorized(
        out,
        #[inline(always)]
        |out| {
            let rows = out.chunks_exact_mut(out_width);
            for (left, out) in left.chunks_exact(width).zip(rows) {
                for ((right, &start), out) in right.chunks_exact(width).zip(start).zip(out) {
                    *out = dot(left, right) + start;
                }
            }
        },
    );
}

/// Writes the transpose of some rows of `width` numbers; rows of `out` are `out_width` long, zeros behind the
/// last number.
pub(crate) fn transpose(values: &[f32], width: usize, out: &mut [f32], out_width: usize) {
    /// Numbers of a square that is turned in registers.
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
                        let turned = std::array::from_fn::<f32, SIDE, _>(|r| square[r][c]);
                        out[row..row + SIDE].copy_from_slice(&turned);
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
    use super::{LANES, Left, column_sums, padded, product, product_with_rows, transpose};

    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        let next = |state: &mut u32| {
            *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Some(f32::from((*state >> 16) as u16) / 65536.0 - 0.5)
        };
        let mut state = seed;
        std::iter::from_fn(|| next(&mut state)).take(count).collect()
    }

    /// Every form of a product against the definition in double precision, all sizes of a last tile.
    #[test]
    fn products_are_products() {
        for rows in 1..14 {
            for inner in [1, 2, 5, 16, 33] {
                for width in [LANES, 3 * LANES] {
                    let (a, b) = (numbers(rows * inner, 1), numbers(inner * width, 2));
                    let start = numbers(width, 3);
                    let entry = |i: usize, j: usize| {
                        let terms = (0..inner)
                            .map(|k| f64::from(a[i * inner + k]) * f64::from(b[k * width + j]));
                        terms.sum::<f64>() + f64::from(start[j])
                    };
                    let mut turned = vec![0.0; inner * rows];
                    for i in 0..rows {
                        for k in 0..inner {
                            turned[k * rows + i] = a[i * inner + k];
                        }
                    }
                    let lefts =
                        [Left::plain(&a, rows, inner), Left::transposed(&turned, rows, rows)];
                    for left in lefts {
                        let mut out = vec![f32::NAN; rows * width];
                        product(left, inner, &b, width, Some(&start), &mut out);
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
        let start = [0.5, -0.25, 0.0];
        let mut out = vec![0.0; rows * LANES];
        product_with_rows(&a, &b, width, &start, &mut out, LANES);
        for i in 0..rows {
            for j in 0..few {
                let terms =
                    (0..width).map(|k| f64::from(a[i * width + k]) * f64::from(b[j * width + k]));
                let want = terms.sum::<f64>() + f64::from(start[j]);
                assert!((f64::from(out[i * LANES + j]) - want).abs() < 1e-5);
            }
            assert_eq!(out[i * LANES + few..][..LANES - few], [0.0; LANES - 3]);
        }
        let mut turned = vec![f32::NAN; width * padded(rows)];
        transpose(&a, width, &mut turned, padded(rows));
        let mut sums = vec![f32::NAN; width];
        column_sums(&a, width, &mut sums);
        for column in 0..width {
            let own: Vec<f32> = (0..rows).map(|row| a[row * width + column]).collect();
            assert_eq!(turned[column * padded(rows)..][..rows], own);
            assert_eq!(turned[column * padded(rows)..][rows..padded(rows)], [0.0; LANES - 13]);
            assert!((sums[column] - own.iter().sum::<f32>()).abs() < 1e-5);
        }
    }
}
