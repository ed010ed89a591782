//! Groups and linear models: k-means, samples of rows, ridge, anchor regression.

mod common;

use common::{assert_close, clustered_data, naive_projection};
use ndarray::{Array1, Array2, ArrayView2, Axis};
use proptest::prelude::*;
use windlass::regress::{AnchorRegression, Ridge};
use windlass::{
    Ada, AnchorMatrix, Anchors, ClusterOn, ClusterScaling, Clustering, Column, Copies, KMeans,
    MeansOf, Method, Partition, Per, Plan, RowSample, Samples, Seed,
};

proptest! {
    /// Moving the coefficients in any direction never lowers the objective.
    #[test]
    fn anchor_regression_minimizes_its_objective(
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
        let center = |m: &Array2<f64>| m - &m.mean_axis(Axis(0)).unwrap();
        let (xc, yc, projection) = (center(&x), center(&y), naive_projection(center(&a).view()));
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

#[test]
fn groups_within_levels_never_cross_them() {
    let (x, y) = clustered_data(120, 3);
    let samples = Samples::new(x.view(), y.view()).unwrap();
    let levels = Partition::new((0..120).map(|i| u32::from(i % 7 == 0)).collect(), 2).unwrap();
    let given = Partition::new((0..120).map(|i| i % 3).collect(), 3).unwrap();
    for anchors in [
        Anchors::default(),
        Anchors::KMeans(Clustering {
            clusters: 4.into(),
            on: ClusterOn::Y,
            scale: ClusterScaling::Raw,
        }),
        Anchors::KMeans(Clustering {
            clusters: 30.into(),
            on: ClusterOn::X,
            ..Clustering::default()
        }),
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
fn clusters_do_not_depend_on_the_order_of_rows() {
    let (x, y) = clustered_data(300, 3);
    let y = y.insert_axis(Axis(1));
    let order: Vec<usize> = (0..300).map(|i| i * 91 % 300).collect();
    let (other_x, other_y) = (x.select(Axis(0), &order), y.select(Axis(0), &order));
    for scale in [ClusterScaling::Raw, ClusterScaling::Standardized] {
        let clustering = Clustering { clusters: 7.into(), on: ClusterOn::Xy, scale };
        let samples = Samples::new(x.view(), y.view()).unwrap();
        let permuted = Samples::new(other_x.view(), other_y.view()).unwrap();
        let clusters = clustering.fit(&samples, Seed(3)).unwrap();
        assert_eq!(clusters, clustering.fit(&permuted, Seed(3)).unwrap());
        assert_eq!((clusters.groups(), clusters.missing_groups()), (7, 0));

        // A missing value counts as the mean of its column.
        let mut all = ndarray::concatenate(Axis(1), &[x.view(), y.view()]).unwrap();
        all[(5, 1)] = f64::NAN;
        let mut sample = RowSample::new(1_000, 4, Seed(3));
        sample.add(all.view(), None).unwrap();
        let gapped = clustering.fit_sample(&sample, Seed(3)).unwrap();
        let mean = (x.column(1).sum() - x[(5, 1)]) / 299.0;
        let labels = gapped.assign_rows(all.clone()).unwrap();
        all[(5, 1)] = mean;
        assert_eq!(gapped.assign_rows(all.clone()).unwrap(), labels);
    }
}

#[test]
fn k_means_handles_duplicates_weights_and_samples() {
    let x = Array2::from_shape_fn((40, 2), |(i, _)| (i % 3) as f64);
    let fit = KMeans::new(5).fit(x.view(), None, Seed(0)).unwrap();
    assert_eq!((fit.centers().nrows(), fit.missing_groups(), fit.inertia()), (3, 2, 0.0));

    let (x, _) = clustered_data(500, 3);
    let weights: Vec<f64> = (0..500_usize).map(|i| (i % 4) as f64).collect();
    let repeated: Vec<usize> = (0..500).flat_map(|i| vec![i; i % 4]).collect();
    let weighted = KMeans::new(6).fit(x.view(), Some(&weights), Seed(0)).unwrap();
    let plain = KMeans::new(6).fit(x.select(Axis(0), &repeated).view(), None, Seed(0)).unwrap();
    assert!((weighted.inertia() / plain.inertia() - 1.0).abs() < 1e-3);

    let fit_sample = |sample: &RowSample| {
        let (rows, weights) = sample.rows();
        KMeans::new(6).fit(rows.view(), Some(&weights), Seed(0)).unwrap()
    };
    // New rows go to the nearest center, and a sample larger than the data is the data.
    assert_eq!(weighted.assign(x.view()).unwrap(), weighted.partition().labels());
    let mut sample = RowSample::new(1_000, 3, Seed(0));
    sample.add(x.view(), None).unwrap();
    let sampled = fit_sample(&sample);
    let whole = KMeans::new(6).fit(x.view(), None, Seed(0)).unwrap();
    assert!((sampled.inertia() / whole.inertia() - 1.0).abs() < 1e-3);

    // Fitted on a fifth of the rows, the groups are nearly as good on all of them.
    let (x, _) = clustered_data(50_000, 3);
    let mut sample = RowSample::new(10_000, 3, Seed(0));
    sample.add(x.view(), None).unwrap();
    let sampled = fit_sample(&sample);
    let labels = sampled.assign(x.view()).unwrap();
    let inertia: f64 = x
        .rows()
        .into_iter()
        .zip(&labels)
        .map(|(row, &label)| {
            let gap = &row - &sampled.centers().row(label as usize);
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

/// Powers of a feature are independent, although the smallest is rounding compared with the largest.
#[test]
fn columns_of_very_different_size_keep_their_digits() {
    let at = |i: usize| -8.8 + 5.7 * i as f64 / 81.0;
    let x = Array2::from_shape_fn((82, 10), |(i, k)| at(i).powf(1.0 + k as f64));
    let y = Array1::from_shape_fn(82, |i| (1..=10).map(|k| (at(i) / 9.0).powi(k)).sum::<f64>());
    let samples = Samples::new(x.view(), y.view()).unwrap();
    let groups = Partition::new((0..82).map(|i| i % 4).collect(), 4).unwrap();
    let ridge = Ridge::new(0.0).fit(&samples).unwrap();
    let anchor = AnchorRegression::new(1.0).fit(&samples, &groups).unwrap();
    for model in [ridge, anchor] {
        for (k, got) in (1..).zip(model.coefficients()) {
            let want = 9_f64.powi(-k);
            assert!((got / want - 1.0).abs() < 1e-4, "power {k}: {got} against {want}");
        }
    }
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
            let settings =
                Ada::default().anchors(groups.clone()).means_of(means_of).per(Per::Batch);
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
    let center = |m: &Array2<f64>| m - &m.mean_axis(Axis(0)).unwrap();
    let (xc, yc) = (center(&x), center(&y));
    let px = naive_projection(center(&a).view()).dot(&xc);
    let want = (&px * &yc).sum() / (&px * &xc).sum();
    assert!(
        (got.coefficients()[(0, 0)] - want).abs() < 1e-5,
        "{} against {want}",
        got.coefficients()[(0, 0)]
    );
}
