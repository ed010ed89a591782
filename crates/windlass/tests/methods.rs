//! What holds for every method: bits, provenance, shapes, probabilities, ranges.

#![expect(clippy::cast_possible_truncation, reason = "small numbers")]

mod common;

use common::{bits, clustered_data, group_mean};
use ndarray::{Array1, Array2, Axis};
use windlass::regress::{AnchorRegression, Ridge};
use windlass::{
    Ada, AnchorMatrix, Bandwidth, Batch, CMixup, Cems, ClusterScaling, Copies, Draw, Epsilon, Erm,
    Fitted, Foma, GammaDistribution, How, IntrinsicDimension, KMeans, LocalMixup, MeansOf, Method,
    Mixing, Mixup, Neighborhood, Noise, Partition, Per, Plan, RareSpec, Relevance, Restricted, Rho,
    Samples, Seed, Smogn, Smoter, SpectrumVariant, Strength, Tails,
};

/// Every method with some of its settings, for `n` rows.
fn every_method(n: usize) -> Vec<(&'static str, Box<dyn Method>)> {
    let levels = Partition::new((0..n).map(|i| u32::from(i % 5 == 0)).collect(), 2).unwrap();
    let anchors =
        Array2::from_shape_fn((n, 2), |(i, j)| if j == 0 { 1.0 } else { (i % 11) as f64 });
    let anchors = AnchorMatrix::new(anchors).unwrap();
    let per_row = Mixup { per: Per::Row, ..Mixup::default() };
    vec![
        ("erm", Box::new(Erm)),
        ("noise", Box::new(Noise { feature_noise: 0.2, ..Noise::default() })),
        ("mixup", Box::new(Mixup::default())),
        ("mixup per row", Box::new(Mixup { beta: 0.5, per: Per::Row })),
        ("local mixup", Box::new(LocalMixup { epsilon: Epsilon::Absolute(4.0), mixup: per_row })),
        ("local mixup, epsilon from the rows", Box::new(LocalMixup::default())),
        ("c-mixup", Box::new(CMixup::default())),
        ("c-mixup per row", Box::new(CMixup { mixup: per_row, ..CMixup::default() })),
        ("ada", Box::new(Ada::default())),
        (
            "ada per row",
            Box::new(
                Ada::default().per(Per::Row).gamma(GammaDistribution::LogUniform { alpha: 3.0 }),
            ),
        ),
        ("ada, means of the set", Box::new(Ada::default().means_of(MeansOf::Set))),
        ("ada published", Box::new(Ada::published(4, 2.0))),
        ("ada within", Box::new(Ada::default().clusters(3).within(levels))),
        ("ada, real-valued anchors", Box::new(Ada::default().anchors(anchors))),
        ("smoter", Box::new(Smoter::default())),
        ("smoter, sparse targets", Box::new(Smoter { neighbors: 2, rare: RareSpec::Density })),
        ("smogn", Box::new(Smogn { perturbation: 0.5, ..Smogn::default() })),
        ("foma", Box::new(Foma::default())),
        ("foma published", Box::new(foma_published())),
        (
            "foma, by dimension",
            Box::new(Foma {
                rho: Rho::Dimension,
                variant: SpectrumVariant::PublishedTrailing,
                neighborhood: Neighborhood::Near,
                ..Foma::default()
            }),
        ),
        ("cems", Box::new(Cems { neighborhood: Neighborhood::Nearest, ..Cems::default() })),
        (
            "cems, random neighborhoods",
            Box::new(Cems {
                dimension: IntrinsicDimension::Number(2),
                neighborhood: Neighborhood::Random,
                neighborhood_size: 9,
                svd_scale: ClusterScaling::Raw,
                ..Cems::default()
            }),
        ),
        ("cems, rows", Box::new(cems_of_rows())),
    ]
}

fn foma_published() -> Foma {
    Foma {
        rho: Rho::Share(0.9),
        beta: 0.5,
        variant: SpectrumVariant::Published,
        svd_scale: ClusterScaling::Raw,
        ..Foma::default()
    }
}

fn cems_of_rows() -> Cems {
    Cems { neighborhood: Neighborhood::Row, neighborhood_size: 8, ..Cems::default() }
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
        // A decomposition for every row takes its time; 6,000 rows have several cells, too.
        let few = name.starts_with("foma") || name.starts_with("cems");
        let rows = if few { 6000 } else { x.nrows() };
        let x = x.slice(ndarray::s![..rows, ..]).to_owned();
        let y = y.slice(ndarray::s![..rows]).to_owned();
        works.push((name, Box::new(move || everything_made(method.as_ref(), &x, &y))));
    }
    let rows = x.clone();
    works.push((
        "k-means",
        Box::new(move || {
            let fit =
                KMeans { starts: 3, ..KMeans::new(12) }.fit(rows.view(), None, Seed(1)).unwrap();
            let mut out = bits(&fit.centers().to_owned());
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
                // A neighborhood is that of its copy: the draw of that step, made again, is the same row.
                How::Neighborhood { .. } | How::Displacement => {
                    let step = plan.copy(row).unwrap() as u64 - 1;
                    let again = fitted.draw(Batch::All, Seed(8), step).unwrap();
                    let (x, y) =
                        (again.features(x.view()).unwrap(), again.targets(y.view()).unwrap());
                    x.row(origin.source).iter().chain([&y[origin.source]]).copied().collect()
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
    let centered = &anchor - anchor.mean().unwrap();
    let slopes = centered.dot(rows) / centered.dot(&centered);
    rows.mean_axis(Axis(0)).unwrap() + slopes * centered[row]
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
        let every: Vec<usize> = (0..fitted.rows()).collect();
        let all = fitted.draw(Batch::Rows(&every), Seed(1), 5).unwrap();
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
            .gamma(GammaDistribution::List(vec![4.0]))
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
            let settings =
                CMixup { bandwidth: Bandwidth::Absolute(bandwidth), ..CMixup::default() };
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
            let ada = Ada::default().clusters(groups).gamma(GammaDistribution::List(gammas));
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
    let mut laws =
        vec![(GammaDistribution::Gamma { shape: 4.0, scale: 0.25 }, 0.0, f64::MAX, 0.918)];
    for alpha in [1.01, 2.0, 3.0, 50.0] {
        let low = 1.0 / alpha;
        laws.extend([
            (GammaDistribution::Uniform { alpha }, low, alpha, low.midpoint(alpha)),
            (GammaDistribution::PaperGrid { alpha, values: 10 }, low, alpha, 1.0),
            (GammaDistribution::PublishedGrid { alpha, values: 10 }, low - 1e-4, alpha, 1.0),
            (GammaDistribution::LogUniform { alpha }, low, alpha, 1.0),
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
    let in_turn = GammaDistribution::List(vec![0.5, 2.0]).check().unwrap();
    let values: Vec<f64> = (1..=4).map(|step| in_turn.shared(Seed(0), step)).collect();
    assert_eq!(values, [2.0, 0.5, 2.0, 0.5]);
    let (x, y) = clustered_data(20, 2);
    let in_turn = Ada::default().clusters(2).gamma(GammaDistribution::List(vec![0.5, 2.0]));
    let in_turn = in_turn.per(Per::Batch);
    let fitted = in_turn.fit(&Samples::new(x.view(), y.view()).unwrap(), Seed(0)).unwrap();
    let plan = Plan::draw(fitted.as_ref(), Copies::new(2), Seed(0)).unwrap();
    let gamma_of = |row| match plan.origin(row).unwrap().how {
        How::Group { gamma, .. } => gamma,
        other => panic!("{other:?}"),
    };
    assert_eq!((gamma_of(20), gamma_of(40)), (0.5, 2.0), "the first copy takes the first value");
    assert_eq!(windlass::paper_grid(4.0, 6), [0.25, 1.0 / 3.0, 0.5, 1.0, 2.0, 3.0, 4.0]);
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
    let extremes = Ada::default().gamma(GammaDistribution::List(vec![1e-16, 1e16]));
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

/// A batch that a loader has put together is augmented as if it had been gathered here.
#[test]
fn gathered_rows_make_the_same_batch() {
    let (x, y) = clustered_data(200, 4);
    let samples = Samples::new(x.view(), y.view()).unwrap();
    let batch = [7, 3, 150, 42, 7, 199];
    for (name, method) in every_method(x.nrows()) {
        let fitted = method.fit(&samples, Seed(5)).unwrap();
        let draw = fitted.draw(Batch::Rows(&batch), Seed(5), 9).unwrap();
        let (xb, yb) = (draw.gather(x.view()).unwrap(), draw.gather(y.view()).unwrap());
        assert_eq!(
            draw.features_of(xb.view()).unwrap(),
            draw.features(x.view()).unwrap(),
            "{name}"
        );
        assert_eq!(draw.targets_of(yb.view()).unwrap(), draw.targets(y.view()).unwrap(), "{name}");
        let short = xb.slice(ndarray::s![1.., ..]);
        assert!(draw.features_of(short).is_err(), "{name}");
    }
}

/// The strengths of a draw: γ or λ of every row.
fn strengths(draw: &Draw) -> Vec<f64> {
    let strength = |row| match draw.origin(row).unwrap().how {
        How::Group { gamma, .. } | How::Projection { gamma } => gamma,
        How::Pair { lambda, .. } => lambda,
        other => panic!("{other:?}"),
    };
    (0..draw.rows()).map(strength).collect()
}

#[test]
fn a_data_set_has_a_strength_for_each_row_and_a_minibatch_one_for_all() {
    let (x, y) = clustered_data(60, 3);
    let samples = Samples::new(x.view(), y.view()).unwrap();
    let shared = |draw: &Draw| {
        let all = strengths(draw);
        assert!(all.len() > 10);
        all.iter().all(|strength| *strength == all[0])
    };
    let batch: Vec<usize> = (10..40).collect();
    let cases: [(&str, [Box<dyn Method>; 3]); 4] = [
        (
            "ada",
            [Per::Auto, Per::Row, Per::Batch].map(|per| Box::new(Ada::default().per(per)) as _),
        ),
        ("mixup", with_mixup(|mixup| Box::new(mixup))),
        ("c-mixup", with_mixup(|mixup| Box::new(CMixup { mixup, ..CMixup::default() }))),
        (
            "local mixup",
            with_mixup(|mixup| Box::new(LocalMixup { mixup, ..LocalMixup::default() })),
        ),
    ];
    for (name, methods) in cases {
        let draws = methods.map(|method| {
            let fitted = method.fit(&samples, Seed(0)).unwrap();
            let whole = fitted.draw(Batch::All, Seed(0), 0).unwrap();
            (shared(&whole), shared(&fitted.draw(Batch::Rows(&batch), Seed(0), 3).unwrap()))
        });
        assert_eq!(draws, [(false, true), (false, false), (true, true)], "{name}");
    }
    let published = Ada::published(4, 2.0).fit(&samples, Seed(0)).unwrap();
    assert!(shared(&published.draw(Batch::All, Seed(0), 0).unwrap()));
}

fn with_mixup(method: impl Fn(Mixup) -> Box<dyn Method>) -> [Box<dyn Method>; 3] {
    [Per::Auto, Per::Row, Per::Batch].map(|per| method(Mixup { per, ..Mixup::default() }))
}

/// By default about a quarter of the pairs count, whatever the units of the features and the number of
/// rows; they are the pairs that are close together.
#[test]
fn epsilon_is_taken_from_standardized_rows() {
    for rows in [2, 3, 600, 5000] {
        let (x, y) = clustered_data(rows, 3);
        // Powers of two change no digit, and so not the sample of many rows.
        let scaled = &x * &ndarray::array![2_f64.powi(-30), 1.0, 2_f64.powi(30)];
        let draws: Vec<Draw> = [x.view(), scaled.view()]
            .into_iter()
            .map(|x| {
                let fitted = LocalMixup::default()
                    .fit(&Samples::new(x, y.view()).unwrap(), Seed(1))
                    .unwrap();
                fitted.draw(Batch::All, Seed(1), 0).unwrap()
            })
            .collect();
        let weights = draws[0].row_weights().unwrap();
        assert_eq!(weights, draws[1].row_weights().unwrap(), "{rows} rows");
        if rows < 100 {
            continue;
        }
        let kept = weights.iter().sum::<f64>() / rows as f64;
        assert!((0.1..0.4).contains(&kept), "{kept} of {rows} rows");
        let deviations = x.std_axis(Axis(0), 0.0);
        let distance = |row: usize| {
            let How::Pair { partner, .. } = draws[0].origin(row).unwrap().how else { panic!() };
            let standardized = (&x.row(row) - &x.row(partner)) / &deviations;
            standardized.dot(&standardized)
        };
        let farthest = |weight: f64, least: bool| {
            let of = (0..rows).filter(|&row| weights[row] == weight).map(distance);
            if least { of.fold(f64::MAX, f64::min) } else { of.fold(0.0, f64::max) }
        };
        assert!(farthest(1.0, false) <= farthest(0.0, true) * (1.0 + 1e-9));
    }
    // Rows that are all alike are close to each other.
    let (x, y) = (Array2::<f64>::ones((5, 2)), Array1::<f64>::ones(5));
    let same = LocalMixup::default().fit(&Samples::new(x.view(), y.view()).unwrap(), Seed(0));
    let draw = same.unwrap().draw(Batch::All, Seed(0), 0).unwrap();
    assert_eq!(draw.row_weights().unwrap(), [1.0; 5]);
}

/// A target with a long upper tail, of the first feature.
fn skewed_data(n: usize) -> (Array2<f64>, Array1<f64>) {
    let (x, _) = clustered_data(n, 3);
    let y = x.column(0).mapv(|x| (x / 3.0).exp());
    (x, y)
}

/// Rare rows are the only sources; a partner is one of the nearest rare rows of the same tail, λ is in [0, 1), and
/// rows that are not rare stay as they are in a minibatch.
#[test]
fn partners_of_rare_rows_are_their_nearest_rare_rows() {
    let (x, y) = skewed_data(400);
    let samples = Samples::new(x.view(), y.view()).unwrap();
    let relevance = Relevance::from_box_plot(&y.to_vec(), Tails::Both).unwrap();
    let fitted = Smoter::default().fit(&samples, Seed(0)).unwrap();
    let rare = relevance.rare_rows(&y.to_vec());
    assert_eq!(fitted.sources().unwrap(), rare);
    let middle = {
        let mut sorted = y.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted[200]
    };
    let (means, deviations) = (x.mean_axis(Axis(0)).unwrap(), x.std_axis(Axis(0), 0.0));
    let distance = |a: usize, b: usize| {
        let z = |row: usize| (&x.row(row) - &means) / &deviations;
        (z(a) - z(b)).mapv(|v| v * v).sum()
    };
    let mut tails = [0, 0];
    for step in 0..3 {
        let draw = fitted.draw(Batch::All, Seed(1), step).unwrap();
        for row in 0..400 {
            let How::Pair { partner, lambda } = draw.origin(row).unwrap().how else { panic!() };
            if !relevance.is_rare(y[row]) {
                assert_eq!((partner, lambda), (row, 1.0));
                continue;
            }
            tails[usize::from(y[row] > middle)] += 1;
            let same_tail =
                |&other: &usize| other != row && (y[other] > middle) == (y[row] > middle);
            let mut near: Vec<usize> = rare.iter().copied().filter(same_tail).collect();
            near.sort_by(|&a, &b| distance(row, a).total_cmp(&distance(row, b)));
            assert!(near[..5].contains(&partner) && (0.0..1.0).contains(&lambda));
        }
    }
    assert!(tails.iter().all(|&count| count > 30), "{tails:?}");
}

/// Copies of the rare rows are those rows of the copies of all rows, for methods with groups, pairs, weights and noise.
#[test]
fn a_restricted_method_makes_the_same_rows_of_its_sources() {
    let (x, y) = skewed_data(300);
    let samples = Samples::new(x.view(), y.view()).unwrap();
    let relevance = Relevance::from_box_plot(&y.to_vec(), Tails::High).unwrap();
    let rare = relevance.rare_rows(&y.to_vec());
    for (name, method) in every_method(x.nrows()) {
        let fitted = method.fit(&samples, Seed(3)).unwrap();
        if fitted.sources().is_some() {
            continue;
        }
        let all = Plan::draw(fitted.as_ref(), Copies::new(2), Seed(8)).unwrap();
        let only = Restricted::new(fitted, rare.clone()).unwrap();
        let some = Plan::draw(&only, Copies::new(2), Seed(8)).unwrap();
        let kept: Vec<usize> = (0..all.rows())
            .filter(|&row| row < 300 || rare.contains(&all.origin(row).unwrap().source))
            .collect();
        assert_eq!(some.rows(), kept.len(), "{name}");
        assert!(name.starts_with("local") || some.rows() == 300 + 2 * rare.len(), "{name}");
        let want = all.features(x.view()).unwrap().select(Axis(0), &kept);
        assert_eq!(bits(&some.features(x.view()).unwrap()), bits(&want), "{name}");
        let want = all.targets(y.view()).unwrap().select(Axis(0), &kept);
        assert_eq!(some.targets(y.view()).unwrap(), want, "{name}");
        let origins: Vec<_> = some.origins().collect();
        for (row, &place) in kept.iter().enumerate() {
            assert_eq!(some.origin(row), all.origin(place), "{name}");
            assert_eq!(
                (some.copy(row), some.origin(row)),
                (Some(origins[row].0), Some(origins[row].1))
            );
        }
    }
}

/// A rare row without others of its tail is copied, or gets noise; equal rows are neighbors at distance 0.
#[test]
fn few_or_equal_rare_rows() {
    let mut y: Vec<f64> = (0..30).map(|i| f64::from(i % 5)).collect();
    y.extend([50.0, 90.0, 90.0]);
    let (x, y) =
        (Array2::from_shape_fn((33, 2), |(i, j)| (i.min(31) * (j + 1)) as f64), Array1::from(y));
    let samples = Samples::new(x.view(), y.view()).unwrap();
    let one = RareSpec::Points(
        Relevance::from_points(
            &[(4.0, 0.0), (45.0, 1.0), (55.0, 1.0), (60.0, 0.0)]
                .map(|(y, phi)| windlass::ControlPoint { y, phi, slope: None }),
        )
        .unwrap(),
    );
    let smoter = Smoter { rare: one, ..Smoter::default() };
    let fitted = smoter.fit(&samples, Seed(0)).unwrap();
    assert_eq!(fitted.sources(), Some(&[30][..]));
    let draw = fitted.draw(Batch::Rows(&[30]), Seed(0), 0).unwrap();
    assert_eq!(draw.targets(y.view()).unwrap()[0], 50.0);
    let fitted = Smogn { smoter, perturbation: 0.1 }.fit(&samples, Seed(0)).unwrap();
    let draw = fitted.draw(Batch::Rows(&[30]), Seed(0), 0).unwrap();
    assert_eq!(draw.origin(0).unwrap().how, How::Noise);
    let moved = draw.targets(y.view()).unwrap()[0];
    assert!(moved != 50.0 && (moved - 50.0).abs() < 25.0, "{moved}");
    let high = Smoter { neighbors: 1, rare: RareSpec::Tails(Tails::High) };
    let fitted = high.fit(&samples, Seed(0)).unwrap();
    let draw = fitted.draw(Batch::Rows(&[31, 32]), Seed(0), 0).unwrap();
    assert_eq!(draw.gathered().collect::<Vec<_>>(), [31, 32, 32, 31]);
}

/// A copy is a linear map within neighborhoods of similar rows; a minibatch is one.
#[test]
fn foma_moves_rows_within_neighborhoods() {
    let (x, y) = clustered_data(500, 3);
    let samples = Samples::new(x.view(), y.view()).unwrap();
    for neighborhood in [Neighborhood::Nearest, Neighborhood::Near, Neighborhood::Random] {
        let foma = Foma { neighborhood, neighborhood_size: 20, ..Foma::default() };
        let fitted = foma.fit(&samples, Seed(0)).unwrap();
        let draw = fitted.draw(Batch::All, Seed(0), 0).unwrap();
        let windlass::Form::LowRank { subspaces } = draw.mixing().unwrap().form() else { panic!() };
        assert_eq!(subspaces.len(), 25);
        let mut rows: Vec<usize> = subspaces.iter().flat_map(|one| one.rows.clone()).collect();
        rows.sort_unstable();
        assert_eq!(rows, (0..500).collect::<Vec<_>>());
        let spread = |rows: &[usize]| x.select(Axis(0), rows).var_axis(Axis(0), 0.0).sum();
        let within = subspaces.iter().map(|one| spread(&one.rows)).sum::<f64>() / 25.0;
        let all = spread(&rows);
        match neighborhood {
            Neighborhood::Nearest => assert!(within < 0.3 * all, "{within} of {all}"),
            Neighborhood::Near => assert!(within < 0.95 * all, "{within} of {all}"),
            _ => assert!(within > 0.8 * all, "{within} of {all}"),
        }
        // The same neighborhoods are the batches of an epoch.
        let order = fitted.order(20, Seed(0), 0);
        assert_eq!(order.is_none(), neighborhood == Neighborhood::Random);
        let auto = Foma::default().fit(&samples, Seed(0)).unwrap();
        assert!(auto.order(20, Seed(0), 0).is_none());
        if let Some(order) = order {
            let own: Vec<Vec<usize>> = subspaces.iter().map(|one| one.rows.clone()).collect();
            assert_eq!(order.chunks(20).map(<[usize]>::to_vec).collect::<Vec<_>>(), own);
            assert_ne!(fitted.order(20, Seed(0), 1), Some(order));
        }
        // The mean of each neighborhood stays where it is.
        let got = draw.features(x.view()).unwrap();
        for one in subspaces {
            let mean = |of: &Array2<f64>| of.select(Axis(0), &one.rows).mean_axis(Axis(0)).unwrap();
            let change = mean(&got) - mean(&x);
            assert!(change.iter().all(|change| change.abs() < 1e-10), "{change}");
        }
    }
}

/// The published code leaves targets as they are; the paper does not.
#[test]
fn foma_keeps_targets_only_as_published() {
    let (x, y) = clustered_data(60, 3);
    let samples = Samples::new(x.view(), y.view()).unwrap();
    for (variant, keeps) in [
        (SpectrumVariant::Paper, false),
        (SpectrumVariant::Published, true),
        (SpectrumVariant::PublishedTrailing, true),
    ] {
        let foma = Foma { variant, rho: Rho::Share(0.7), ..Foma::default() };
        let fitted = foma.fit(&samples, Seed(0)).unwrap();
        for draw in [
            fitted.draw(Batch::All, Seed(0), 0).unwrap(),
            fitted.draw(Batch::Rows(&[3, 1, 4, 15, 9, 26]), Seed(0), 0).unwrap(),
        ] {
            let sources: Vec<usize> = draw.gathered().collect();
            let own = y.select(Axis(0), &sources);
            assert_eq!(draw.targets(y.view()).unwrap() == own, keeps, "{variant:?}");
            assert_ne!(draw.features(x.view()).unwrap(), x.select(Axis(0), &sources));
        }
    }
}

/// On a curve, second-order steps stay closer than the tangent, and every row moves.
#[test]
fn cems_follows_a_curve() {
    let at = |i: usize| f64::from(i as u32) * 0.01 - 1.5;
    let x = Array2::from_shape_fn((300, 1), |(i, _)| at(i));
    let y = Array1::from_shape_fn(300, |i| at(i) * at(i));
    let samples = Samples::new(x.view(), y.view()).unwrap();
    for neighborhood in [Neighborhood::Nearest, Neighborhood::Row] {
        let cems = Cems { sigma: 0.15, neighborhood, ..Cems::default() };
        let fitted = cems.fit(&samples, Seed(0)).unwrap();
        let draw = fitted.draw(Batch::All, Seed(0), 0).unwrap();
        let (x2, y2) = (draw.features(x.view()).unwrap(), draw.targets(y.view()).unwrap());
        let mut off: Vec<f64> =
            x2.iter().zip(&y2).map(|(x, y): (&f64, &f64)| (y - x * x).abs()).collect();
        off.sort_unstable_by(f64::total_cmp);
        assert!(off[150] < 0.02 && off[285] < 0.2, "{neighborhood:?}: {} {}", off[150], off[285]);
        let moved: Vec<f64> = x2.iter().zip(&x).map(|(a, b)| (a - b).abs()).collect();
        assert!(moved.iter().all(|&moved| moved > 0.0));
        assert!(draw.mixing().is_err() && draw.hidden_displacements().is_none());
    }
}

/// On a hidden layer the directions are those of its outputs with the targets.
#[test]
fn draws_for_a_hidden_layer_depend_on_it() {
    let (x, y) = clustered_data(80, 3);
    let samples = Samples::new(x.view(), y.view()).unwrap();
    let batch: Vec<usize> = (10..40).collect();
    let hidden = x
        .select(Axis(0), &batch)
        .mapv(f64::tanh)
        .dot(&Array2::from_shape_fn((3, 5), |(i, j)| ((i * 5 + j) as f64).sin()));
    let foma = Foma::default().fit(&samples, Seed(0)).unwrap();
    assert!(foma.follows_hidden());
    let draw = foma.draw_hidden(&batch, hidden.view(), Seed(0), 2).unwrap();
    let mixed = draw.mixing().unwrap().apply(hidden.view()).unwrap();
    assert_ne!(mixed, hidden);
    let on_inputs = foma.draw(Batch::Rows(&batch), Seed(0), 2).unwrap();
    assert_ne!(on_inputs.mixing().unwrap().apply(hidden.view()).unwrap(), mixed);
    assert_ne!(draw.targets(y.view()).unwrap(), on_inputs.targets(y.view()).unwrap());

    let cems = Cems::default().fit(&samples, Seed(0)).unwrap();
    let draw = cems.draw_hidden(&batch, hidden.view(), Seed(0), 2).unwrap();
    let moved = draw.hidden_displacements().unwrap();
    assert_eq!(moved.dim(), hidden.dim());
    assert!(moved.iter().all(|value| value.is_finite()) && moved.iter().any(|v| v.abs() > 0.0));
    assert_eq!(draw.mixing().unwrap().apply(hidden.view()).unwrap(), hidden);
    assert_ne!(draw.targets(y.view()).unwrap(), y.select(Axis(0), &batch));
    // Rows without neighbors, and rows that are all alike, stay where they are.
    let same = Array2::<f64>::ones((30, 5));
    for (rows, hidden) in
        [(&batch[..1], hidden.slice(ndarray::s![..1, ..])), (&[7; 30], same.view())]
    {
        let draw = cems.draw_hidden(rows, hidden, Seed(0), 2).unwrap();
        assert!(draw.hidden_displacements().unwrap().iter().all(|&v| v == 0.0));
        let draw = foma.draw_hidden(rows, hidden, Seed(0), 2).unwrap();
        let mixed = draw.mixing().unwrap().apply(hidden).unwrap();
        assert!((&mixed - &hidden).iter().all(|v| v.abs() < 1e-12));
    }
    assert!(foma.draw_hidden(&batch, same.slice(ndarray::s![..3, ..]), Seed(0), 2).is_err());
    assert!(
        cems_of_rows()
            .fit(&samples, Seed(0))
            .unwrap()
            .draw_hidden(&batch, hidden.view(), Seed(0), 2)
            .is_err()
    );
}

#[test]
fn rows_that_do_not_vary_or_are_few_stay_finite() {
    for rows in [1, 2, 3, 5, 33] {
        for (x, y) in
            [(Array2::<f64>::ones((rows, 3)), Array1::<f64>::ones(rows)), clustered_data(rows, 3)]
        {
            let samples = Samples::new(x.view(), y.view()).unwrap();
            for (name, method) in every_method(rows)
                .into_iter()
                .filter(|(name, _)| name.starts_with("foma") || name.starts_with("cems"))
            {
                let fitted = method.fit(&samples, Seed(0)).unwrap();
                let draw = fitted.draw(Batch::All, Seed(0), 0).unwrap();
                let made = draw.features(x.view()).unwrap();
                assert!(made.iter().all(|v| v.is_finite()), "{name}, {rows} rows");
                assert!(draw.targets(y.view()).unwrap().iter().all(|v| v.is_finite()), "{name}");
            }
        }
    }
}
