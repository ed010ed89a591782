//! Laws that every transform obeys, over random shapes, groups and strengths.

#![expect(clippy::cast_possible_truncation, reason = "small numbers")]

use ndarray::{Array1, Array2, ArrayView2, Axis};
use proptest::prelude::*;
use windlass::regress::{AnchorRegression, Ridge};
use windlass::{
    Ada, AnchorMatrix, Anchors, Bandwidth, Batch, CMixup, Clustering, Column, Copies, Draw, Erm,
    Fitted, GammaLaw, GroupSums, How, KMeans, LocalMixup, MeansOf, Method, Mixing, Mixup, Noise,
    On, Partition, Per, Plan, RowSample, Samples, Scale, Seed, Strength,
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

fn group_mean(x: ArrayView2<'_, f64>, groups: &Partition, group: u32) -> Array1<f64> {
    let rows: Vec<usize> = (0..x.nrows()).filter(|&i| groups.labels()[i] == group).collect();
    x.select(Axis(0), &rows).mean_axis(Axis(0)).unwrap()
}

fn one_hot(groups: &Partition) -> AnchorMatrix {
    let shape = (groups.rows(), groups.groups());
    let anchors = Array2::from_shape_fn(shape, |(i, g)| {
        f64::from(u8::from(groups.labels()[i] as usize == g))
    });
    AnchorMatrix::new(anchors).unwrap()
}

#[track_caller]
fn assert_close(got: &Array2<f64>, want: &Array2<f64>, tolerance: f64) {
    assert_eq!(got.dim(), want.dim());
    let size = want.iter().fold(1.0_f64, |size, v| size.max(v.abs()));
    for (got, want) in got.iter().zip(want) {
        assert!((got - want).abs() <= tolerance * size, "{got} against {want}");
    }
}

fn bits(x: &Array2<f64>) -> Vec<u64> {
    x.iter().map(|v| v.to_bits()).collect()
}

/// `Π` as a matrix: the slow and obvious way, by Gram and Schmidt, twice for good measure.
fn naive_projection(a: ArrayView2<'_, f64>) -> Array2<f64> {
    let n = a.nrows();
    let size = a.iter().fold(0.0_f64, |size, v| size.max(v.abs()));
    let mut basis: Vec<Array1<f64>> = vec![];
    for column in a.columns() {
        let mut v = column.to_owned();
        for _ in 0..2 {
            for b in &basis {
                v = &v - &(b * b.dot(&v));
            }
        }
        let norm = v.dot(&v).sqrt();
        if norm > 1e-10 * size * (n as f64) {
            basis.push(v / norm);
        }
    }
    let mut projection = Array2::zeros((n, n));
    for b in &basis {
        projection += &(b.view().insert_axis(Axis(1)).dot(&b.view().insert_axis(Axis(0))));
    }
    projection
}

/// The paper's equation, term by term.
fn naive_ada(x: &Array2<f64>, projection: &Array2<f64>, gamma: f64) -> Array2<f64> {
    let excess = gamma.sqrt() - 1.0;
    let mean = x.mean_axis(Axis(0)).unwrap();
    let centred = x - &mean;
    let moved = &centred + &(projection.dot(&centred) * excess);
    let normaliser = 1.0 + excess * projection.sum_axis(Axis(1));
    moved / normaliser.insert_axis(Axis(1)) + &mean
}

proptest! {
    #[test]
    fn gamma_1_returns_the_rows_to_the_bit((x, groups) in grouped_rows()) {
        let mixing = Mixing::group_mean(groups.clone(), Strength::Shared(1.0)).unwrap();
        prop_assert_eq!(bits(&mixing.apply(x.view()).unwrap()), bits(&x));
        let mixing = Mixing::projection(&one_hot(&groups), Strength::Shared(1.0)).unwrap();
        prop_assert_eq!(bits(&mixing.apply(x.view()).unwrap()), bits(&x));
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
        let normaliser = 1.0 + (gamma.sqrt() - 1.0) * projection.sum_axis(Axis(1));
        let smallest = normaliser.iter().fold(f64::INFINITY, |s: f64, v| s.min(v.abs()));
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
        // No constant in the span; for γ > 1 every normaliser is above 1/2 if row sums are positive.
        let real = Array2::from_shape_fn((n, 1), |(i, _)| 1.0 + (i % 3) as f64);
        let mixings = [
            Mixing::projection(&AnchorMatrix::new(real).unwrap(), Strength::Shared(1.0 + gamma)).unwrap(),
            Mixing::identity(n),
            Mixing::group_mean(groups.clone(), Strength::Shared(gamma)).unwrap(),
            Mixing::group_mean(groups.clone(), per_row()).unwrap(),
            Mixing::weighted_group_mean(groups.clone(), weights, per_row()).unwrap(),
            Mixing::projection(&one_hot(&groups), per_row()).unwrap(),
            Mixing::pairs(n, Strength::PerRow((0..n).map(lambda).collect())).unwrap(),
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

    /// Moving the coefficients in any direction never lowers the objective.
    #[test]
    fn anchor_regression_minimises_its_objective(
        gamma in prop_oneof![Just(0.0), 0.0..20.0_f64], penalty in prop_oneof![Just(0.0), 0.1..5.0_f64], seed in any::<u64>(),
    ) {
        let (n, d, q) = (40, 3, 2);
        let normal = |j: usize, i: usize| Seed(seed).at(windlass::Stream::FeatureNoise, j as u64, i as u64).normal();
        let a = Array2::from_shape_fn((n, q), |(i, j)| normal(j, i));
        let x = Array2::from_shape_fn((n, d), |(i, j)| normal(10 + j, i) + a[(i, j % q)]);
        let y = Array2::from_shape_fn((n, 1), |(i, _)| x[(i, 0)] - 2.0 * x[(i, 1)] + a[(i, 0)] + normal(20, i));
        let samples = Samples::new(x.view(), y.view()).unwrap();
        let anchors = AnchorMatrix::new(a.clone()).unwrap();
        let model = AnchorRegression::new(gamma).penalty(penalty).fit(&samples, &anchors).unwrap();
        let centre = |m: &Array2<f64>| m - &m.mean_axis(Axis(0)).unwrap();
        let (xc, yc, projection) = (centre(&x), centre(&y), naive_projection(centre(&a).view()));
        let objective = |b: &Array2<f64>| {
            let residual = &yc - &xc.dot(b);
            let along = projection.dot(&residual);
            let rest = &residual - &along;
            (&rest * &rest).sum() + gamma * (&along * &along).sum() + penalty * (b * b).sum()
        };
        let best = model.coefficients().to_owned();
        for j in 0..d {
            for step in [-1e-3, 1e-3] {
                let mut moved = best.clone();
                moved[(j, 0)] += step;
                prop_assert!(objective(&moved) >= objective(&best));
            }
        }
        if gamma == 0.0 {
            let ols = AnchorRegression::new(1.0).penalty(penalty).fit(&samples, &anchors).unwrap();
            let ridge = Ridge::new(penalty).fit(&samples).unwrap();
            assert_close(&ols.coefficients().to_owned(), &ridge.coefficients().to_owned(), 1e-9);
        }
    }

    #[test]
    fn a_row_sample_does_not_depend_on_order_or_blocks(seed in any::<u64>(), cut in 0..60_usize) {
        let value = |i: usize| (Seed(seed).at(windlass::Stream::Sample, 0, i as u64).below(25)) as f64;
        let x = Array2::from_shape_fn((60, 1), |(i, _)| value(i));
        let sample = |rows: ArrayView2<'_, f64>| {
            let mut sample = RowSample::new(10, 1, Seed(1));
            sample.add(rows, None).unwrap();
            sample
        };
        let whole = sample(x.view()).rows();
        let (left, right) = x.view().split_at(Axis(0), cut);
        let mut merged = sample(right.slice(ndarray::s![..;-1, ..]));
        merged.merge(&sample(left)).unwrap();
        prop_assert_eq!(merged.rows(), whole.clone());
        for (row, count) in whole.0.iter().zip(&whole.1) {
            prop_assert_eq!(x.iter().filter(|v| *v == row).count() as f64, *count);
        }
    }
}

fn clustered_data(n: usize, d: usize) -> (Array2<f64>, Array1<f64>) {
    let draw = |step: u64, i: usize| Seed(5).at(windlass::Stream::Sample, step, i as u64);
    let x = Array2::from_shape_fn((n, d), |(i, j)| {
        (draw(100, i).below(6) as f64) * ((j % 3) as f64 - 1.0) * 3.0 + draw(j as u64, i).normal()
    });
    let y = Array1::from_shape_fn(n, |i| x.row(i).sum() + draw(99, i).normal());
    (x, y)
}

/// Every method with some of its settings, for `n` rows.
fn every_method(n: usize) -> Vec<(&'static str, Box<dyn Method>)> {
    let levels = Partition::new((0..n).map(|i| u32::from(i % 5 == 0)).collect(), 2).unwrap();
    let anchors =
        Array2::from_shape_fn((n, 2), |(i, j)| if j == 0 { 1.0 } else { (i % 11) as f64 });
    let anchors = AnchorMatrix::new(anchors).unwrap();
    vec![
        ("erm", Box::new(Erm)),
        ("noise", Box::new(Noise::default().features(0.2))),
        ("mixup", Box::new(Mixup::default())),
        ("mixup per row", Box::new(Mixup::default().beta(0.5).per(Per::Row))),
        ("local mixup", Box::new(LocalMixup::new(4.0).per(Per::Row))),
        ("c-mixup", Box::new(CMixup::default())),
        ("c-mixup per row", Box::new(CMixup::default().per(Per::Row))),
        ("ada", Box::new(Ada::default())),
        (
            "ada per row",
            Box::new(Ada::default().per(Per::Row).gamma(GammaLaw::LogUniform { alpha: 3.0 })),
        ),
        ("ada, means of the set", Box::new(Ada::default().means_of(MeansOf::Set))),
        ("ada published", Box::new(Ada::published(4, 2.0))),
        ("ada within", Box::new(Ada::default().clusters(3).within(levels))),
        ("ada, real-valued anchors", Box::new(Ada::default().anchors(anchors))),
    ]
}

/// What a method makes of a data set and of a minibatch, as bits.
fn everything_made(method: &dyn Method, x: &Array2<f64>, y: &Array1<f64>) -> Vec<u64> {
    let samples = Samples::new(x.view(), y.view()).unwrap();
    let fitted = method.fit(&samples, Seed(3)).unwrap();
    let plan = Plan::draw(fitted.as_ref(), Copies::new(2), Seed(4)).unwrap();
    let rows: Vec<usize> = (0..64).map(|i| i * 31 % x.nrows()).collect();
    let draw = fitted.draw(Batch::Rows(&rows), Seed(4), 9).unwrap();
    let mut out = bits(&plan.features(x.view()).unwrap());
    out.extend(plan.targets(y.view()).unwrap().iter().map(|v| v.to_bits()));
    out.extend(bits(&draw.features(x.view()).unwrap()));
    out.extend(draw.targets(y.view()).unwrap().iter().map(|v| v.to_bits()));
    out
}

type Work = Box<dyn Fn() -> Vec<u64> + Sync>;

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let (x, y) = clustered_data(40_000, 9);
    let with_threads = |threads: usize, work: &(dyn Fn() -> Vec<u64> + Sync)| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(work)
    };
    let mut works: Vec<(&str, Work)> = vec![];
    for (name, method) in every_method(x.nrows()) {
        let (x, y) = (x.clone(), y.clone());
        works.push((name, Box::new(move || everything_made(method.as_ref(), &x, &y))));
    }
    let rows = x.clone();
    works.push((
        "k-means",
        Box::new(move || {
            let fit = KMeans::new(12).starts(3).fit(rows.view(), None, Seed(1)).unwrap();
            let mut out = bits(&fit.centres().to_owned());
            out.extend(fit.partition().labels().iter().map(|&l| u64::from(l)));
            out.push(fit.inertia().to_bits());
            out
        }),
    ));
    let (rows, anchors) =
        (x.clone(), AnchorMatrix::new(x.slice(ndarray::s![.., ..3]).to_owned()).unwrap());
    works.push((
        "projection",
        Box::new(move || {
            let mixing = Mixing::projection(&anchors, Strength::Shared(1.7)).unwrap();
            bits(&mixing.apply(rows.view()).unwrap())
        }),
    ));
    for (name, work) in &works {
        let one = with_threads(1, work);
        for threads in [2, 8] {
            assert!(with_threads(threads, work) == one, "{name} with {threads} threads");
        }
    }
}

#[test]
fn every_synthetic_row_can_be_recomputed_from_its_origin() {
    let (x, y) = clustered_data(300, 4);
    let samples = Samples::new(x.view(), y.view()).unwrap();
    let both = ndarray::concatenate(Axis(1), &[x.view(), y.view().insert_axis(Axis(1))]).unwrap();
    for (name, method) in every_method(x.nrows()) {
        let fitted = method.fit(&samples, Seed(3)).unwrap();
        let plan = Plan::draw(fitted.as_ref(), Copies::new(3), Seed(8)).unwrap();
        let (got_x, got_y) = (plan.features(x.view()).unwrap(), plan.targets(y.view()).unwrap());
        assert_eq!((got_x.nrows(), got_y.len()), (plan.rows(), plan.rows()), "{name}");
        let got = ndarray::concatenate(Axis(1), &[got_x.view(), got_y.view().insert_axis(Axis(1))])
            .unwrap();
        assert!(plan.origin(plan.rows()).is_none() && plan.copy(plan.rows()).is_none());
        for row in 0..plan.rows() {
            let origin = plan.origin(row).unwrap();
            assert_eq!(plan.copy(row) == Some(0), row < 300, "{name}");
            let source = both.row(origin.source);
            let want = match origin.how {
                How::Copy => source.to_owned(),
                // Of noise the copy tells the rest: the draw of that step, made again, is the same row.
                How::Noise => {
                    let step = plan.copy(row).unwrap() as u64 - 1;
                    let again = fitted.draw(Batch::Rows(&[origin.source]), Seed(8), step).unwrap();
                    let (x, y) =
                        (again.features(x.view()).unwrap(), again.targets(y.view()).unwrap());
                    let again: Array1<f64> = x.iter().chain(&y).copied().collect();
                    assert_ne!(again, source);
                    again
                }
                How::Pair { partner, lambda } => {
                    lambda * &source + (1.0 - lambda) * &both.row(partner)
                }
                How::Group { group, gamma } => {
                    let groups = fitted.partition().unwrap();
                    assert_eq!(groups.labels()[origin.source], group);
                    let mean = group_mean(both.view(), groups, group);
                    &mean + &((&source - &mean) / gamma.sqrt())
                }
                How::Projection { gamma } => {
                    // A constant is in the span: the row moves toward its fitted value.
                    let fitted_value = naive_fit(&both, origin.source);
                    &fitted_value + &((&source - &fitted_value) / gamma.sqrt())
                }
                other => panic!("{name}: {other:?}"),
            };
            for (got, want) in got.row(row).iter().zip(&want) {
                assert!(
                    (got - want).abs() < 1e-11 * 50.0,
                    "{name} row {row}: {got} against {want}"
                );
            }
        }
    }
}

/// The least squares fit of a row on a constant and `i mod 11`.
fn naive_fit(rows: &Array2<f64>, row: usize) -> Array1<f64> {
    let anchor: Array1<f64> = (0..rows.nrows()).map(|i| (i % 11) as f64).collect();
    let centred = &anchor - anchor.mean().unwrap();
    let slopes = centred.dot(rows) / centred.dot(&centred);
    rows.mean_axis(Axis(0)).unwrap() + slopes * centred[row]
}

/// What is drawn for a row depends on the row, not on the batch around it.
#[test]
fn a_rows_draws_do_not_depend_on_its_batch() {
    let (x, y) = clustered_data(200, 3);
    let samples = Samples::new(x.view(), y.view()).unwrap();
    for (name, method) in every_method(x.nrows()) {
        let fitted = method.fit(&samples, Seed(3)).unwrap();
        let origin = |batch: &[usize], at: usize| -> windlass::Origin {
            let draw: Draw = fitted.draw(Batch::Rows(batch), Seed(1), 5).unwrap();
            draw.origin(at).unwrap()
        };
        assert_eq!(origin(&[7, 50, 3], 1), origin(&[50], 0), "{name}");
        let all = fitted.draw(Batch::All, Seed(1), 5).unwrap();
        assert_eq!(origin(&[50], 0), all.origin(50).unwrap(), "{name}");
    }
}

#[test]
fn a_minibatch_uses_its_own_group_means_unless_told_otherwise() {
    let (x, y) = clustered_data(100, 2);
    let samples = Samples::new(x.view(), y.view()).unwrap();
    let batch = [4, 8, 15, 16, 23, 42];
    for means_of in [MeansOf::Batch, MeansOf::Set] {
        let groups = Partition::new((0..100).map(|i| i % 2).collect(), 2).unwrap();
        let ada = Ada::default()
            .anchors(groups.clone())
            .gamma(GammaLaw::List(vec![4.0]))
            .means_of(means_of);
        let draw =
            ada.fit(&samples, Seed(0)).unwrap().draw(Batch::Rows(&batch), Seed(0), 0).unwrap();
        let got = draw.features(x.view()).unwrap();
        let rows: Vec<usize> = match means_of {
            MeansOf::Batch => batch.to_vec(),
            MeansOf::Set => (0..100).collect(),
        };
        for (at, &row) in batch.iter().enumerate() {
            let mean = group_mean(
                x.select(Axis(0), &rows).view(),
                &groups.select(&rows).unwrap(),
                (row % 2) as u32,
            );
            let want = (&x.row(row) + &mean) / 2.0;
            assert!(
                got.row(at).iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-12),
                "{means_of:?}"
            );
        }
        assert_eq!(draw.mixing().is_ok(), means_of == MeansOf::Batch);
    }
}

#[test]
fn any_number_of_dimensions_comes_back_in_shape() {
    let images = ndarray::Array4::from_shape_fn((12, 3, 4, 5), |(i, c, h, w)| {
        (i * 31 + c * 7 + h * 3 + w) as f32
    });
    let y = Array1::from_shape_fn(12, |i| i as f32);
    let samples = Samples::new(images.view(), y.view()).unwrap();
    let fitted = Ada::default().clusters(3).fit(&samples, Seed(0)).unwrap();
    let plan = Plan::draw(fitted.as_ref(), Copies::new(2).originals(false), Seed(0)).unwrap();
    let got = plan.features(images.view()).unwrap();
    assert_eq!(got.dim(), (24, 3, 4, 5));
    assert_eq!(plan.targets(y.view()).unwrap().dim(), 24);
    // A transposed view holds the same values in another memory order.
    let turned = images.view().reversed_axes().as_standard_layout().reversed_axes().to_owned();
    assert_eq!(plan.features(turned.view()).unwrap(), got);
    let mut buffer = ndarray::Array4::zeros((24, 3, 4, 5));
    plan.features_into(images.view(), buffer.view_mut()).unwrap();
    assert_eq!(buffer, got);
    let draw = fitted.draw(Batch::Rows(&[2, 0, 11]), Seed(0), 4).unwrap();
    let mut buffer = ndarray::Array4::zeros((3, 3, 4, 5));
    draw.features_into(images.view(), buffer.view_mut()).unwrap();
    assert_eq!(buffer, draw.features(images.view()).unwrap());
    // A hidden layer in two steps, gather and mix, gives the same.
    let gathered = draw.gather(images.view()).unwrap();
    draw.mixing().unwrap().apply_into(gathered.view(), buffer.view_mut()).unwrap();
    assert_eq!(buffer, draw.features(images.view()).unwrap());
    // Flattened by hand, the same numbers.
    let flat = images.to_shape((12, 60)).unwrap();
    assert_eq!(plan.features(flat.view()).unwrap(), got.to_shape((24, 60)).unwrap());
}

/// Draws 200,000 partners; every frequency within five standard errors of its probability.
#[test]
fn c_mixup_draws_with_its_probabilities() {
    for outputs in [1, 2] {
        for bandwidth in [0.05, 0.6, 20.0] {
            let y = Array2::from_shape_fn((50, outputs), |(i, j)| {
                Seed(9).at(windlass::Stream::Sample, j as u64, i as u64).normal()
            });
            let samples = Samples::new(y.view(), y.view()).unwrap();
            let settings = CMixup::default().bandwidth(Bandwidth::Absolute(bandwidth));
            let fitted = settings.fit_targets(&samples).unwrap();
            let mut counts = vec![0.0; 50];
            let steps = 200_000;
            let row = 17;
            for step in 0..steps {
                let draw = fitted.draw(Batch::Rows(&[row]), Seed(2), step).unwrap();
                let How::Pair { partner, .. } = draw.origin(0).unwrap().how else {
                    panic!("c-mixup draws pairs")
                };
                counts[partner] += 1.0;
            }
            for (count, p) in counts.iter().zip(fitted.probabilities(row).unwrap()) {
                let expected = p * steps as f64;
                let error = 5.0 * (expected * (1.0 - p)).sqrt() + 1e-9;
                assert!(
                    (count - expected).abs() <= error,
                    "h {bandwidth}: {count} against {expected}"
                );
            }
        }
    }
}

/// The paper's figure 1: on y = cos(πx) the augmented points come closer to the curve as groups shrink.
#[test]
fn more_groups_keep_a_nonlinear_relation_better() {
    let mean_error = |groups: usize| {
        let mut errors = vec![];
        for seed in 0..20 {
            let x = Array2::from_shape_fn((30, 1), |(i, _)| {
                6.0 * Seed(seed).at(windlass::Stream::Sample, 0, i as u64).uniform() - 3.0
            });
            let y = x.mapv(|x| (std::f64::consts::PI * x).cos());
            let samples = Samples::new(x.view(), y.view()).unwrap();
            let gammas = vec![0.5, 2.0 / 3.0, 1.0, 1.5, 2.0];
            let ada = Ada::default().clusters(groups).gamma(GammaLaw::List(gammas));
            let fitted = ada.fit(&samples, Seed(0)).unwrap();
            let plan =
                Plan::draw(fitted.as_ref(), Copies::new(5).originals(false), Seed(0)).unwrap();
            let (x, y) = (plan.features(x.view()).unwrap(), plan.targets(y.view()).unwrap());
            assert_eq!(x.nrows(), 150);
            errors.extend(
                x.iter().zip(&y).map(|(x, y)| (y - (std::f64::consts::PI * x).cos()).abs()),
            );
        }
        errors.iter().sum::<f64>() / errors.len() as f64
    };
    let errors: Vec<f64> = [2, 5, 8, 12, 20].into_iter().map(mean_error).collect();
    assert!(errors.windows(2).all(|pair| pair[1] < pair[0]), "{errors:?}");
    assert!(errors[3] < 0.5 * errors[1], "{errors:?}");
}

#[test]
fn gamma_laws_stay_in_their_range_and_have_their_median() {
    let mut laws = vec![(GammaLaw::Gamma { shape: 4.0, scale: 0.25 }, 0.0, f64::MAX, 0.918)];
    for alpha in [1.01, 2.0, 3.0, 50.0] {
        let low = 1.0 / alpha;
        laws.extend([
            (GammaLaw::Uniform { alpha }, low, alpha, low.midpoint(alpha)),
            (GammaLaw::PaperGrid { alpha, values: 10 }, low, alpha, 1.0),
            (GammaLaw::PublishedGrid { alpha, values: 10 }, low - 1e-4, alpha, 1.0),
            (GammaLaw::LogUniform { alpha }, low, alpha, 1.0),
        ]);
    }
    for (law, low, high, median) in laws {
        let gammas = law.check().unwrap();
        let values: Vec<f64> = (0..20_000).map(|step| gammas.shared(Seed(0), step)).collect();
        assert!(
            values.iter().all(|&g| g > 0.0 && g >= low - 1e-12 && g <= high + 1e-12),
            "{law:?}"
        );
        let below = values.iter().filter(|&&g| g < median).count() as f64 / 20_000.0;
        let at_or_below = values.iter().filter(|&&g| g <= median).count() as f64 / 20_000.0;
        assert!(below < 0.52 && at_or_below > 0.48, "{law:?}: {below} {at_or_below}");
        let per_row: Vec<f64> = (0..3).map(|row| gammas.of_row(Seed(0), 1, row)).collect();
        assert!(per_row[0] != per_row[1] || per_row[1] != per_row[2], "{law:?}");
    }
    let in_turn = GammaLaw::List(vec![0.5, 2.0]).check().unwrap();
    let values: Vec<f64> = (1..=4).map(|step| in_turn.shared(Seed(0), step)).collect();
    assert_eq!(values, [2.0, 0.5, 2.0, 0.5]);
    let (x, y) = clustered_data(20, 2);
    let in_turn = Ada::default().clusters(2).gamma(GammaLaw::List(vec![0.5, 2.0]));
    let fitted = in_turn.fit(&Samples::new(x.view(), y.view()).unwrap(), Seed(0)).unwrap();
    let plan = Plan::draw(fitted.as_ref(), Copies::new(2), Seed(0)).unwrap();
    let gamma_of = |row| match plan.origin(row).unwrap().how {
        How::Group { gamma, .. } => gamma,
        other => panic!("{other:?}"),
    };
    assert_eq!((gamma_of(20), gamma_of(40)), (0.5, 2.0), "the first copy takes the first value");
    assert_eq!(windlass::paper_grid(4.0, 6), [0.25, 1.0 / 3.0, 0.5, 1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn groups_within_levels_never_cross_them() {
    let (x, y) = clustered_data(120, 3);
    let samples = Samples::new(x.view(), y.view()).unwrap();
    let levels = Partition::new((0..120).map(|i| u32::from(i % 7 == 0)).collect(), 2).unwrap();
    let given = Partition::new((0..120).map(|i| i % 3).collect(), 3).unwrap();
    for anchors in [
        Anchors::default(),
        Anchors::KMeans(Clustering { kmeans: KMeans::new(4), on: On::Y, scale: Scale::Raw }),
        Anchors::KMeans(Clustering { kmeans: KMeans::new(30), on: On::X, ..Clustering::default() }),
        Anchors::EqualWidth { of: Column::X(1), bins: 5 },
        Anchors::EqualSize { of: Column::Y(0), bins: 5 },
        given.into(),
    ] {
        let groups = anchors.partition_within(&levels, &samples, Seed(0)).unwrap().unwrap();
        for rows in groups.members() {
            let of_level =
                |level| rows.iter().filter(|&&row| levels.labels()[row] == level).count();
            assert!(of_level(0) == 0 || of_level(1) == 0, "{anchors:?}");
        }
        let plain = anchors.partition(&samples, Seed(0)).unwrap().unwrap();
        assert!(groups.groups() > plain.groups(), "{anchors:?}");
        let ada = Ada::default().anchors(anchors).within(levels.clone());
        assert_eq!(ada.fit(&samples, Seed(0)).unwrap().partition(), Some(groups.as_ref()));
    }
}

#[test]
fn k_means_handles_duplicates_weights_and_samples() {
    let x = Array2::from_shape_fn((40, 2), |(i, _)| (i % 3) as f64);
    let fit = KMeans::new(5).fit(x.view(), None, Seed(0)).unwrap();
    assert_eq!((fit.centres().nrows(), fit.missing_groups(), fit.inertia()), (3, 2, 0.0));

    let (x, _) = clustered_data(500, 3);
    let weights: Vec<f64> = (0..500_usize).map(|i| (i % 4) as f64).collect();
    let repeated: Vec<usize> = (0..500).flat_map(|i| vec![i; i % 4]).collect();
    let weighted = KMeans::new(6).fit(x.view(), Some(&weights), Seed(0)).unwrap();
    let plain = KMeans::new(6).fit(x.select(Axis(0), &repeated).view(), None, Seed(0)).unwrap();
    assert!((weighted.inertia() / plain.inertia() - 1.0).abs() < 1e-3);

    // New rows go to the nearest centre, and a sample larger than the data is the data.
    assert_eq!(weighted.assign(x.view()).unwrap(), weighted.partition().labels());
    let mut sample = RowSample::new(1_000, 3, Seed(0));
    sample.add(x.view(), None).unwrap();
    let sampled = KMeans::new(6).fit_sample(&sample, Seed(0)).unwrap();
    let whole = KMeans::new(6).fit(x.view(), None, Seed(0)).unwrap();
    assert!((sampled.inertia() / whole.inertia() - 1.0).abs() < 1e-3);

    // Fitted on a fifth of the rows, the groups are nearly as good on all of them.
    let (x, _) = clustered_data(50_000, 3);
    let mut sample = RowSample::new(10_000, 3, Seed(0));
    sample.add(x.view(), None).unwrap();
    let sampled = KMeans::new(6).fit_sample(&sample, Seed(0)).unwrap();
    let labels = sampled.assign(x.view()).unwrap();
    let inertia: f64 = x
        .rows()
        .into_iter()
        .zip(&labels)
        .map(|(row, &label)| {
            let gap = &row - &sampled.centres().row(label as usize);
            gap.dot(&gap)
        })
        .sum();
    let whole = KMeans::new(6).fit(x.view(), None, Seed(0)).unwrap();
    assert!(inertia / whole.inertia() < 1.01, "{}", inertia / whole.inertia());
}

/// A linear system of least norm: dependent columns, and more columns than rows.
#[test]
fn regression_handles_rank_deficient_and_wide_features() {
    let (base, y) = clustered_data(30, 3);
    let twice = ndarray::concatenate(Axis(1), &[base.view(), base.view()]).unwrap();
    let fit =
        |x: &Array2<f64>| Ridge::new(0.0).fit(&Samples::new(x.view(), y.view()).unwrap()).unwrap();
    let (plain, doubled) = (fit(&base), fit(&twice));
    assert_close(
        &doubled.predict(twice.view()).unwrap(),
        &plain.predict(base.view()).unwrap(),
        1e-9,
    );
    for j in 0..3 {
        let (a, b) = (doubled.coefficients()[(j, 0)], doubled.coefficients()[(j + 3, 0)]);
        assert!((a - b).abs() < 1e-9, "least norm shares a coefficient equally");
    }

    let wide = Array2::from_shape_fn((5, 30), |(i, j)| {
        Seed(1).at(windlass::Stream::Sample, j as u64, i as u64).normal()
    });
    let y = Array1::from(vec![1.0, -1.0, 2.0, 0.5, 3.0]);
    let samples = Samples::new(wide.view(), y.view()).unwrap();
    let groups = Partition::new(vec![0, 0, 1, 1, 1], 2).unwrap();
    for gamma in [0.0, 1.0, 50.0] {
        let point = AnchorRegression::new(1.0).path(&samples, &groups, &[gamma]).unwrap().remove(0);
        assert!(point.within < 1e-16, "{}", point.within);
        if gamma > 0.0 {
            let got = point.model.predict(wide.view()).unwrap();
            assert_close(&got, &y.clone().insert_axis(Axis(1)), 1e-8);
        }
    }
}

/// A feature that the anchors explain wholly has nothing left at γ = 0 but rounding, which must not be
/// divided by.
#[test]
fn a_feature_in_the_span_of_the_anchors_gets_no_coefficient_at_gamma_0() {
    let normal = |j: u64, i: usize| Seed(6).at(windlass::Stream::Sample, j, i as u64).normal();
    let a = Array2::from_shape_fn((100, 1), |(i, _)| normal(0, i));
    let x = Array2::from_shape_fn(
        (100, 2),
        |(i, j)| if j == 0 { 100.0 * a[(i, 0)] } else { normal(1, i) },
    );
    let y = Array1::from_shape_fn(100, |i| 3.0 * x[(i, 1)] + 0.1 * normal(2, i));
    let samples = Samples::new(x.view(), y.view()).unwrap();
    let model = AnchorRegression::new(0.0).fit(&samples, &AnchorMatrix::new(a).unwrap()).unwrap();
    assert!(model.coefficients()[(0, 0)].abs() < 1e-6, "{}", model.coefficients()[(0, 0)]);
    assert!((model.coefficients()[(1, 0)] - 3.0).abs() < 0.1);
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

/// A row with weight w counts like w rows, in everything that takes weights.
#[test]
fn weights_count_like_repeated_rows_everywhere() {
    let (x, y) = clustered_data(90, 3);
    let weights: Vec<f64> = (0..90_usize).map(|i| (i % 3) as f64).collect();
    let repeated: Vec<usize> = (0..90).flat_map(|i| vec![i; i % 3]).collect();
    let (long_x, long_y) = (x.select(Axis(0), &repeated), y.select(Axis(0), &repeated));
    let weighted = Samples::new(x.view(), y.view()).unwrap().with_weights(&weights).unwrap();
    let long = Samples::new(long_x.view(), long_y.view()).unwrap();
    let groups = Partition::new((0..90).map(|i| i / 30).collect(), 3).unwrap();
    let long_groups = groups.select(&repeated).unwrap();

    for penalty in [0.0, 2.0] {
        for intercept in [true, false] {
            let ridge = Ridge::new(penalty).intercept(intercept);
            let (a, b) = (ridge.fit(&weighted).unwrap(), ridge.fit(&long).unwrap());
            assert_close(&a.coefficients().to_owned(), &b.coefficients().to_owned(), 1e-10);
            assert!((a.intercept()[0] - b.intercept()[0]).abs() < 1e-9);
        }
    }
    let column = |x: &Array2<f64>| AnchorMatrix::new(x.mapv(f64::sin)).unwrap();
    for gamma in [0.0, 0.5, 7.0] {
        let regression = AnchorRegression::new(gamma).penalty(0.1);
        let a = regression.fit(&weighted, &groups).unwrap();
        let b = regression.fit(&long, &long_groups).unwrap();
        assert_close(&a.coefficients().to_owned(), &b.coefficients().to_owned(), 1e-9);
        let a = regression.fit(&weighted, &column(&x)).unwrap();
        let b = regression.fit(&long, &column(&long_x)).unwrap();
        assert_close(&a.coefficients().to_owned(), &b.coefficients().to_owned(), 1e-9);
    }
    for means_of in [MeansOf::Batch, MeansOf::Set] {
        let ada = |groups: &Partition, samples: &Samples<'_>| {
            let settings = Ada::default().anchors(groups.clone()).means_of(means_of);
            let fitted = settings.fit(samples, Seed(1)).unwrap();
            Plan::draw(fitted.as_ref(), Copies::new(2).originals(false), Seed(1)).unwrap()
        };
        let short = ada(&groups, &weighted).features(x.view()).unwrap();
        let long = ada(&long_groups, &long).features(long_x.view()).unwrap();
        let both_copies: Vec<usize> =
            (0..2).flat_map(|c| repeated.iter().map(move |&i| c * 90 + i)).collect();
        assert_close(&short.select(Axis(0), &both_copies), &long, 1e-12);
    }
}

/// γ → ∞ is two-stage least squares: (XᵀΠX)⁻¹XᵀΠy.
#[test]
fn a_huge_gamma_is_two_stage_least_squares() {
    let normal = |j: u64, i: usize| Seed(4).at(windlass::Stream::Sample, j, i as u64).normal();
    let a = Array2::from_shape_fn((200, 2), |(i, j)| normal(j as u64, i));
    let x = Array2::from_shape_fn((200, 1), |(i, _)| a[(i, 0)] + 0.5 * a[(i, 1)] + normal(7, i));
    let y = Array2::from_shape_fn((200, 1), |(i, _)| 3.0 * x[(i, 0)] + normal(8, i) - normal(7, i));
    let samples = Samples::new(x.view(), y.view()).unwrap();
    let got =
        AnchorRegression::new(1e12).fit(&samples, &AnchorMatrix::new(a.clone()).unwrap()).unwrap();
    let centre = |m: &Array2<f64>| m - &m.mean_axis(Axis(0)).unwrap();
    let (xc, yc) = (centre(&x), centre(&y));
    let px = naive_projection(centre(&a).view()).dot(&xc);
    let want = (&px * &yc).sum() / (&px * &xc).sum();
    assert!(
        (got.coefficients()[(0, 0)] - want).abs() < 1e-5,
        "{} against {want}",
        got.coefficients()[(0, 0)]
    );
}

/// Rows just below the limit, with the strongest expansion there is: large, but never infinite.
#[test]
fn what_is_not_refused_stays_finite() {
    let (x, y) = clustered_data(60, 3);
    let largest = x.iter().chain(&y).fold(0.0_f64, |size, v| size.max(v.abs()));
    let wide = |limit: f64| {
        (x.mapv(|v| v / largest * 0.99 * limit), y.mapv(|v| v / largest * 0.99 * limit))
    };
    let (x64, y64) = wide(<f64 as windlass::Real>::LIMIT);
    let (x32, y32) = wide(<f32 as windlass::Real>::LIMIT);
    let (x32, y32) = (x32.mapv(|v| v as f32), y32.mapv(|v| v as f32));
    let extremes = Ada::default().gamma(GammaLaw::List(vec![1e-16, 1e16]));
    let mut methods = every_method(60);
    // k-means on raw rows needs their squares, and refuses.
    methods.retain(|(name, _)| *name != "ada published");
    methods.push(("extremes", Box::new(extremes.clone())));
    let anchors =
        AnchorMatrix::new(Array2::from_shape_fn(
            (60, 2),
            |(i, j)| if j == 0 { 1.0 } else { i as f64 },
        ))
        .unwrap();
    methods.push(("projection", Box::new(extremes.anchors(anchors))));
    for (name, method) in methods {
        let fitted = method.fit(&Samples::new(x64.view(), y64.view()).unwrap(), Seed(0)).unwrap();
        let plan = Plan::draw(fitted.as_ref(), Copies::new(2), Seed(0)).unwrap();
        assert!(plan.features(x64.view()).unwrap().iter().all(|v| v.is_finite()), "{name}");
        assert!(plan.targets(y64.view()).unwrap().iter().all(|v| v.is_finite()), "{name}");
        let fitted = method.fit(&Samples::new(x32.view(), y32.view()).unwrap(), Seed(0)).unwrap();
        let plan = Plan::draw(fitted.as_ref(), Copies::new(2), Seed(0)).unwrap();
        assert!(plan.features(x32.view()).unwrap().iter().all(|v| v.is_finite()), "{name}");
        assert!(plan.targets(y32.view()).unwrap().iter().all(|v| v.is_finite()), "{name}");
    }
    // Linear models need squares; they fit or say that they cannot, and do not panic.
    let samples = Samples::new(x64.view(), y64.view()).unwrap();
    let groups = Partition::new((0..60).map(|i| i % 3).collect(), 3).unwrap();
    for model in [Ridge::new(1.0).fit(&samples), AnchorRegression::new(3.0).fit(&samples, &groups)]
        .into_iter()
        .flatten()
    {
        assert!(model.coefficients().iter().all(|v| v.is_finite()));
    }
}
