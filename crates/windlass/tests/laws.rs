//! Laws that every mixing obeys, over random shapes, groups and strengths.

#![expect(clippy::cast_possible_truncation, reason = "small numbers")]

mod common;

use common::{assert_close, bits, group_mean, naive_projection};
use ndarray::{Array2, Axis};
use proptest::prelude::*;
use windlass::{
    AnchorMatrix, Batch, Cems, ClusterScaling, Foma, GroupSums, Method, Mixing, Partition, Rho,
    Samples, Seed, SpectrumVariant, Strength,
};

/// Rows of some width, with a group for each.
fn grouped_rows() -> impl Strategy<Value = (Array2<f64>, Partition)> {
    (1..40_usize, 1..7_usize, 1..6_usize).prop_flat_map(|(n, d, q)| {
        let values = prop::collection::vec(-10.0..10.0_f64, n * d);
        let labels = prop::collection::vec(0..q as u32, n);
        (values, labels).prop_map(move |(values, labels)| {
            let x = Array2::from_shape_vec((n, d), values).unwrap();
            (x, Partition::new(labels, q).unwrap())
        })
    })
}

/// A strength for all rows, or one for each of up to 40.
fn strength() -> impl Strategy<Value = (f64, Vec<f64>)> {
    (0.1..10.0_f64, prop::collection::vec(0.1..10.0_f64, 40))
}

fn one_hot(groups: &Partition) -> AnchorMatrix {
    let shape = (groups.rows(), groups.groups());
    let anchors = Array2::from_shape_fn(shape, |(i, g)| {
        f64::from(u8::from(groups.labels()[i] as usize == g))
    });
    AnchorMatrix::new(anchors).unwrap()
}

/// The map of neighborhoods of at most 7 rows.
fn foma(x: &Array2<f64>, variant: SpectrumVariant, svd_scale: ClusterScaling) -> Mixing {
    let foma =
        Foma { rho: Rho::Share(0.6), variant, svd_scale, neighborhood_size: 7, ..Foma::default() };
    let y = x.sum_axis(Axis(1));
    let fitted = foma.fit(&Samples::new(x.view(), y.view()).unwrap(), Seed(1)).unwrap();
    fitted.draw(Batch::All, Seed(1), 0).unwrap().mixing().unwrap().clone()
}

/// The paper's equation, term by term.
fn naive_ada(x: &Array2<f64>, projection: &Array2<f64>, gamma: f64) -> Array2<f64> {
    let excess = gamma.sqrt() - 1.0;
    let mean = x.mean_axis(Axis(0)).unwrap();
    let centered = x - &mean;
    let moved = &centered + &(projection.dot(&centered) * excess);
    let normalizer = 1.0 + excess * projection.sum_axis(Axis(1));
    moved / normalizer.insert_axis(Axis(1)) + &mean
}

proptest! {
    #[test]
    fn gamma_1_returns_the_rows_to_the_bit((x, groups) in grouped_rows()) {
        let mixing = Mixing::group_mean(groups.clone(), Strength::Shared(1.0)).unwrap();
        prop_assert_eq!(bits(&mixing.apply(x.view()).unwrap()), bits(&x));
        let mixing = Mixing::projection(&one_hot(&groups), Strength::Shared(1.0)).unwrap();
        prop_assert_eq!(bits(&mixing.apply(x.view()).unwrap()), bits(&x));
    }

    /// All directions stay, whatever λ.
    #[test]
    fn rho_1_returns_the_rows((x, _) in grouped_rows(), raw in any::<bool>(), seed in any::<u64>()) {
        let svd_scale = if raw { ClusterScaling::Raw } else { ClusterScaling::Standardized };
        let foma = Foma { rho: Rho::Share(1.0), svd_scale, neighborhood_size: 9, ..Foma::default() };
        let y = x.sum_axis(Axis(1));
        let fitted = foma.fit(&Samples::new(x.view(), y.view()).unwrap(), Seed(seed)).unwrap();
        let draw = fitted.draw(Batch::All, Seed(seed), 0).unwrap();
        assert_close(&draw.features(x.view()).unwrap(), &x, 1e-9);
        let rows: Vec<usize> = (0..x.nrows()).rev().collect();
        let draw = fitted.draw(Batch::Rows(&rows), Seed(seed), 0).unwrap();
        assert_close(&draw.features(x.view()).unwrap(), &x.select(Axis(0), &rows), 1e-9);
    }

    /// λ = 1, which Beta(β, β) with a tiny β draws half of the time, returns the rows to the bit; λ = 0 leaves the
    /// projection, which is idempotent.
    #[test]
    fn lambda_1_returns_the_rows_to_the_bit((x, _) in grouped_rows(), seed in any::<u64>()) {
        let foma = Foma { rho: Rho::Share(0.5), beta: 1e-300, ..Foma::default() };
        let y = x.sum_axis(Axis(1));
        let fitted = foma.fit(&Samples::new(x.view(), y.view()).unwrap(), Seed(0)).unwrap();
        let rows: Vec<usize> = (0..x.nrows()).collect();
        let draw = fitted.draw(Batch::Rows(&rows), Seed(seed), 0).unwrap();
        let got = draw.features(x.view()).unwrap();
        let windlass::How::Neighborhood { lambda } = draw.origin(0).unwrap().how else { panic!() };
        if lambda == 1.0 {
            prop_assert_eq!(bits(&got), bits(&x));
        } else {
            prop_assert_eq!(lambda, 0.0);
            assert_close(&draw.mixing().unwrap().apply(got.view()).unwrap(), &got, 1e-9);
        }
    }

    #[test]
    fn sigma_0_returns_the_rows_to_the_bit((x, _) in grouped_rows()) {
        let y = x.sum_axis(Axis(1));
        let cems = Cems { sigma: 0.0, ..Cems::default() };
        let fitted = cems.fit(&Samples::new(x.view(), y.view()).unwrap(), Seed(0)).unwrap();
        let draw = fitted.draw(Batch::All, Seed(0), 0).unwrap();
        prop_assert_eq!(bits(&draw.features(x.view()).unwrap()), bits(&x));
        prop_assert_eq!(draw.targets(y.view()).unwrap(), y);
    }

    /// With one-hot anchors the equation is `λxᵢ + (1 − λ)(mean of i's group)`, λ = 1/√γ: a point on the
    /// line through the row and its group's mean.
    #[test]
    fn rows_move_along_the_line_through_their_groups_mean(
        (x, groups) in grouped_rows(), (_, gammas) in strength(),
    ) {
        let gammas = gammas[..x.nrows()].to_vec();
        let mixing = Mixing::group_mean(groups.clone(), Strength::PerRow(gammas.clone())).unwrap();
        let got = mixing.apply(x.view()).unwrap();
        for (i, row) in got.rows().into_iter().enumerate() {
            let lambda = gammas[i].sqrt().recip();
            let mean = group_mean(x.view(), &groups, groups.labels()[i]);
            let want = lambda * &x.row(i) + (1.0 - lambda) * mean;
            for (got, want) in row.iter().zip(&want) {
                prop_assert!((got - want).abs() < 1e-12 * 40.0);
            }
        }
    }

    #[test]
    fn group_means_are_kept((x, groups) in grouped_rows(), (gamma, _) in strength()) {
        let mixing = Mixing::group_mean(groups.clone(), Strength::Shared(gamma)).unwrap();
        let got = mixing.apply(x.view()).unwrap();
        for &group in groups.labels() {
            let (before, after) = (group_mean(x.view(), &groups, group), group_mean(got.view(), &groups, group));
            for (a, b) in before.iter().zip(&after) {
                prop_assert!((a - b).abs() < 1e-12 * 40.0);
            }
        }
    }

    #[test]
    fn shifting_and_scaling_the_rows_shifts_and_scales_the_result(
        (x, groups) in grouped_rows(), (gamma, _) in strength(), shift in -100.0..100.0_f64, scale in 0.01..100.0_f64,
    ) {
        for mixing in [
            Mixing::group_mean(groups.clone(), Strength::Shared(gamma)).unwrap(),
            Mixing::projection(&one_hot(&groups), Strength::Shared(gamma)).unwrap(),
        ] {
            let plain = mixing.apply(x.view()).unwrap();
            let moved = mixing.apply((&x * scale + shift).view()).unwrap();
            assert_close(&moved, &(plain * scale + shift), 1e-11);
        }
    }

    /// Sums are exact, so the order of rows cannot change a bit.
    #[test]
    fn permuting_the_rows_permutes_the_result(
        (x, groups) in grouped_rows(), (gamma, _) in strength(), seed in any::<u64>(),
    ) {
        let mut order: Vec<usize> = (0..x.nrows()).collect();
        order.sort_by_key(|&i| (i as u64).wrapping_mul(seed | 1) ^ seed);
        let mixing = |groups: Partition| Mixing::group_mean(groups, Strength::Shared(gamma)).unwrap();
        let permuted = mixing(groups.select(&order).unwrap()).apply(x.select(Axis(0), &order).view()).unwrap();
        let want = mixing(groups).apply(x.view()).unwrap().select(Axis(0), &order);
        prop_assert_eq!(bits(&permuted), bits(&want));
    }

    #[test]
    fn groups_equal_their_one_hot_matrix((x, groups) in grouped_rows(), (gamma, gammas) in strength()) {
        for gamma in [Strength::Shared(gamma), Strength::PerRow(gammas[..x.nrows()].to_vec())] {
            let by_groups = Mixing::group_mean(groups.clone(), gamma.clone()).unwrap();
            let by_matrix = Mixing::projection(&one_hot(&groups), gamma).unwrap();
            assert_close(&by_groups.apply(x.view()).unwrap(), &by_matrix.apply(x.view()).unwrap(), 1e-12);
        }
    }

    /// Random anchors, some columns repeated so that the rank is not full.
    #[test]
    fn general_anchors_equal_the_naive_formula(
        n in 2..25_usize, d in 1..5_usize, q in 1..5_usize, repeat in any::<bool>(), (gamma, _) in strength(), seed in any::<u64>(),
    ) {
        let normal = |stream, i: usize, j: usize| {
            Seed(seed).at(stream, j as u64, i as u64).normal()
        };
        let x = Array2::from_shape_fn((n, d), |(i, j)| normal(windlass::Stream::FeatureNoise, i, j));
        let a = Array2::from_shape_fn((n, q), |(i, j)| {
            normal(windlass::Stream::TargetNoise, i, if repeat { j % 2 } else { j })
        });
        let projection = naive_projection(a.view());
        let normalizer = 1.0 + (gamma.sqrt() - 1.0) * projection.sum_axis(Axis(1));
        let smallest = normalizer.iter().fold(f64::INFINITY, |s: f64, v| s.min(v.abs()));
        prop_assume!(smallest > 1e-3);
        let mixing = Mixing::projection(&AnchorMatrix::new(a).unwrap(), Strength::Shared(gamma)).unwrap();
        assert_close(&mixing.apply(x.view()).unwrap(), &naive_ada(&x, &projection, gamma), 1e-9);
    }

    /// `⟨Mx, g⟩ = ⟨x, Mᵀg⟩` for every kind of mixing: the gradient that a hidden layer gets.
    #[test]
    fn the_transposed_map_is_the_transpose((x, groups) in grouped_rows(), (gamma, gammas) in strength()) {
        let n = x.nrows();
        let per_row = || Strength::PerRow(gammas[..n].to_vec());
        let weights: Vec<f64> = (0..n).map(|i| 0.5 + (i % 4) as f64).collect();
        let lambda = |i: usize| gammas[i] / 10.0;
        // No constant in the span; for γ > 1 every normalizer is above 1/2 if row sums are positive.
        let real = Array2::from_shape_fn((n, 1), |(i, _)| 1.0 + (i % 3) as f64);
        let mixings = [
            Mixing::projection(&AnchorMatrix::new(real).unwrap(), Strength::Shared(1.0 + gamma)).unwrap(),
            Mixing::identity(n),
            Mixing::group_mean(groups.clone(), Strength::Shared(gamma)).unwrap(),
            Mixing::group_mean(groups.clone(), per_row()).unwrap(),
            Mixing::weighted_group_mean(groups.clone(), weights, per_row()).unwrap(),
            Mixing::projection(&one_hot(&groups), per_row()).unwrap(),
            Mixing::pairs(n, Strength::PerRow((0..n).map(lambda).collect())).unwrap(),
            foma(&x, SpectrumVariant::Paper, ClusterScaling::Standardized),
            foma(&x, SpectrumVariant::Published, ClusterScaling::Raw),
        ];
        for mixing in mixings {
            let input = ndarray::concatenate(Axis(0), &[x.view(), (&x * 0.3 + 1.0).view()]).unwrap();
            let input = input.slice(ndarray::s![..mixing.rows_in(), ..]).to_owned();
            let gradient = Array2::from_shape_fn((n, x.ncols()), |(i, j)| ((i * 7 + j * 3) % 5) as f64 - 2.0);
            let forward = (&mixing.apply(input.view()).unwrap() * &gradient).sum();
            let backward = (&input * &mixing.apply_transposed(gradient.view()).unwrap()).sum();
            prop_assert!((forward - backward).abs() < 1e-9 * 100.0, "{forward} against {backward} of {mixing:?}");
        }
    }

    #[test]
    fn a_weight_counts_like_repeated_rows((x, groups) in grouped_rows(), (gamma, _) in strength()) {
        let n = x.nrows();
        let weights: Vec<f64> = (0..n).map(|i| (1 + i % 3) as f64).collect();
        let repeated: Vec<usize> = (0..n).flat_map(|i| vec![i; 1 + i % 3]).collect();
        let mixing = Mixing::weighted_group_mean(groups.clone(), weights, Strength::Shared(gamma)).unwrap();
        let long = Mixing::group_mean(groups.select(&repeated).unwrap(), Strength::Shared(gamma)).unwrap();
        let want = long.apply(x.select(Axis(0), &repeated).view()).unwrap();
        let got = mixing.apply(x.view()).unwrap().select(Axis(0), &repeated);
        assert_close(&got, &want, 1e-13);

        // Blocks without weights count 1 a row, whichever block comes first.
        let weights: Vec<f64> = (0..n).map(|i| if i < n / 2 { 1.0 } else { 3.0 }).collect();
        let labels = groups.labels();
        let (plain, weighted) = x.view().split_at(Axis(0), n / 2);
        let mut first = GroupSums::new(groups.groups(), x.ncols());
        first.add(plain, &labels[..n / 2], None).unwrap();
        let mut second = first.clone();
        second.add(weighted, &labels[n / 2..], Some(&weights[n / 2..])).unwrap();
        let mut third = GroupSums::new(groups.groups(), x.ncols());
        third.add(weighted, &labels[n / 2..], Some(&weights[n / 2..])).unwrap();
        let mut fourth = third.clone();
        third.merge(&first).unwrap();
        first.merge(&fourth).unwrap();
        fourth.add(plain, &labels[..n / 2], None).unwrap();
        let mut whole = GroupSums::new(groups.groups(), x.ncols());
        whole.add(x.view(), labels, Some(&weights)).unwrap();
        let want = whole.finish().unwrap();
        for sums in [first, second, third, fourth] {
            prop_assert_eq!(&sums.finish().unwrap(), &want);
        }
    }

    /// Blocks of any size, merged in any order, then applied block by block: the bits of one call.
    #[test]
    fn blocks_give_the_bits_of_the_whole((x, groups) in grouped_rows(), (gamma, _) in strength(), size in 1..9_usize) {
        let (n, d) = x.dim();
        let block = |first: usize| first..n.min(first + size);
        let rows = |first: usize| x.slice(ndarray::s![block(first), ..]);
        let labels = |first: usize| &groups.labels()[block(first)];
        let mut sums = GroupSums::new(groups.groups(), d);
        for first in (0..n).step_by(size).rev() {
            let mut partial = GroupSums::new(groups.groups(), d);
            partial.add(rows(first), labels(first), None).unwrap();
            partial.merge(&sums).unwrap();
            sums = partial;
        }
        let means = sums.finish().unwrap();
        let gamma = Strength::Shared(gamma);
        let whole = Mixing::group_mean(groups.clone(), gamma.clone()).unwrap().apply(x.view()).unwrap();
        for first in (0..n).step_by(size) {
            let got = means.apply(rows(first), labels(first), &gamma).unwrap();
            prop_assert_eq!(bits(&got), bits(&whole.slice(ndarray::s![block(first), ..]).to_owned()));
        }
    }

    /// Groups that come to light block by block, with other numbers in every block.
    #[test]
    fn groups_may_be_numbered_anew((x, groups) in grouped_rows(), weighted: bool, half in 0..9_usize) {
        let n = x.nrows();
        let half = half.min(n);
        let most = u32::try_from(groups.groups()).unwrap();
        let weights: Vec<f64> = (0..n).map(|i| (1 + i % 3) as f64).collect();
        let mut whole = GroupSums::new(groups.groups(), x.ncols());
        whole.add(x.view(), groups.labels(), weighted.then_some(&weights[..])).unwrap();

        let (first, second) = x.view().split_at(Axis(0), half);
        let mut sums = GroupSums::new(0, x.ncols());
        sums.grow(groups.groups());
        sums.add(first, &groups.labels()[..half], weighted.then_some(&weights[..half])).unwrap();
        // The other block has its groups in the opposite order.
        let turned: Vec<u32> = groups.labels()[half..].iter().map(|&label| most - 1 - label).collect();
        let mut others = GroupSums::new(groups.groups(), x.ncols());
        others.add(second, &turned, weighted.then_some(&weights[half..])).unwrap();
        let places: Vec<u32> = (0..most).rev().collect();
        sums.merge_at(&others, &places).unwrap();
        prop_assert_eq!(sums.finish().unwrap(), whole.finish().unwrap());
    }

    #[test]
    fn single_precision_agrees_to_its_own((x, groups) in grouped_rows(), (gamma, _) in strength()) {
        for mixing in [
            Mixing::group_mean(groups.clone(), Strength::Shared(gamma)).unwrap(),
            Mixing::projection(&one_hot(&groups), Strength::Shared(gamma)).unwrap(),
        ] {
            let want = mixing.apply(x.view()).unwrap();
            let got = mixing.apply(x.mapv(|v| v as f32).view()).unwrap().mapv(f64::from);
            assert_close(&got, &want, 1e-5);
        }
    }
}

/// Few rows that are wide: parts must not outnumber them.
#[test]
fn a_single_wide_row_is_its_own_mean() {
    let row = Array2::from_elem((1, 1 << 18), 0.3);
    let mixing =
        Mixing::group_mean(Partition::new(vec![0], 1).unwrap(), Strength::Shared(4.0)).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(8).build().unwrap();
    let got = pool.install(|| mixing.apply(row.view()).unwrap());
    assert_eq!(got, row);
}
