//! What is refused, and with which words.

#![expect(clippy::cast_possible_truncation, reason = "small numbers")]

use ndarray::{Array1, Array2, array};
use windlass::metrics::Metric;
use windlass::regress::{AnchorRegression, Ridge};
use windlass::{
    Ada, AnchorMatrix, Anchors, Bandwidth, Batch, Bins, CMixup, Cems, Column, ControlPoint, Copies,
    Draw, Epsilon, Erm, Error, Fitted, Foma, GammaDistribution, GroupSums, IntrinsicDimension,
    KMeans, LocalMixup, MeansOf, Method, Mixing, Mixup, Neighborhood, Noise, Partition, Plan,
    RareSpec, Relevance, Restricted, Result, Rho, RowSample, Samples, Seed, Smogn, Smoter,
    Strength,
};

#[track_caller]
fn refused<T>(result: Result<T>, message: &str) {
    match result {
        Ok(_) => panic!("accepted; expected: {message}"),
        Err(error) => assert_eq!(error.to_string(), message),
    }
}

fn data() -> (Array2<f64>, Array1<f64>) {
    let x = Array2::from_shape_fn((6, 2), |(i, j)| (i * (j + 1)) as f64);
    (x, Array1::from_shape_fn(6, |i| i as f64))
}

fn fit(method: &dyn Method) -> Result<Box<dyn Fitted>> {
    let (x, y) = data();
    method.fit(&Samples::new(x.view(), y.view()).unwrap(), Seed(0))
}

#[test]
fn data_that_cannot_be_used() {
    let (x, y) = data();
    let mut nan = x.clone();
    nan[(3, 1)] = f64::NAN;
    let finite = "must be finite, got";
    refused(Samples::new(nan.view(), y.view()), &format!("x {finite} NaN in row 3, column 1"));
    let mut infinite = y.clone();
    infinite[5] = f64::NEG_INFINITY;
    refused(
        Samples::new(x.view(), infinite.view()),
        &format!("y {finite} -inf in row 5, column 0"),
    );
    let mut huge = x.clone();
    huge[(0, 0)] = 1e300;
    let message = "x must be below 8.9e276 in magnitude, got 1e300 in row 0, column 0";
    refused(Samples::new(huge.view(), y.view()), message);
    let huge = x.mapv(|v| v as f32 * 1e30);
    let message =
        "x must be below 7.9e28 in magnitude, got 1.0000000150474662e30 in row 1, column 0";
    refused(Samples::new(huge.view(), huge.view()), message);
    let none = Array2::<f64>::zeros((0, 2));
    let no_y = Array1::<f64>::zeros(0);
    refused(Samples::new(none.view(), no_y.view()), "x has no rows");
    refused(Samples::new(Array2::<f64>::zeros((6, 0)).view(), y.view()), "x has no columns");
    refused(
        Samples::new(x.view(), no_y.view()),
        "x and y must have the same number of rows, got 6 and 0",
    );
    let samples = || Samples::new(x.view(), y.view()).unwrap();
    refused(
        samples().with_weights(&[1.0]),
        "the weights and x must have the same number of rows, got 1 and 6",
    );
    refused(
        samples().with_weights(&[1.0, 1.0, -1.0, 1.0, 1.0, 1.0]),
        "the weight of row 2 must be in [0, 2^50], got -1",
    );

    // The same where no `Samples` is involved.
    let groups = || Partition::new(vec![0; 6], 1).unwrap();
    let mixing = Mixing::group_mean(groups(), Strength::Shared(2.0)).unwrap();
    refused(mixing.apply(nan.view()), &format!("the batch {finite} NaN in row 3, column 1"));
    refused(
        Mixing::pairs(3, Strength::Shared(0.5)).unwrap().apply(nan.view()),
        &format!("the batch {finite} NaN in row 3, column 1"),
    );
    let anchors = AnchorMatrix::new(Array2::ones((6, 1))).unwrap();
    let projection = Mixing::projection(&anchors, Strength::Shared(2.0)).unwrap();
    refused(projection.apply(nan.view()), &format!("the batch {finite} NaN in row 3, column 1"));
    refused(
        projection.apply_transposed(nan.view()),
        &format!("the gradient {finite} NaN in row 3, column 1"),
    );
    refused(
        mixing.apply(x.slice(ndarray::s![..4, ..])),
        "the mixing and the batch must have the same number of rows, got 6 and 4",
    );
    let mut sums = GroupSums::new(1, 2);
    refused(sums.add(nan.view(), &[0; 6], None), &format!("x {finite} NaN in row 3, column 1"));
    let plan = Plan::draw(
        fit(&Ada::default().anchors(groups())).unwrap().as_ref(),
        Copies::new(1),
        Seed(0),
    )
    .unwrap();
    refused(plan.features(nan.view()), &format!("x {finite} NaN in row 3, column 1"));
    refused(
        plan.targets(array![1.0].view()),
        "the plan and the data must have the same number of rows, got 6 and 1",
    );
}

#[test]
fn settings_of_neighborhoods_outside_their_range() {
    for (rho, got) in [(0.0, "0"), (1.5, "1.5"), (f64::NAN, "NaN")] {
        refused(
            fit(&Foma { rho: Rho::Share(rho), ..Foma::default() }),
            &format!("rho must be in (0, 1], got {got}"),
        );
    }
    refused(fit(&Foma { beta: -1.0, ..Foma::default() }), "beta must be in (0, inf), got -1");
    refused(
        fit(&Foma { neighborhood: Neighborhood::Row, ..Foma::default() }),
        "neighborhood row is not defined here: choose nearest, near or random",
    );
    for size in [1, 4097] {
        let message = format!("neighborhood_size must be in [2, 4096], got {size}");
        refused(fit(&Foma { neighborhood_size: size, ..Foma::default() }), &message);
        refused(fit(&Cems { neighborhood_size: size, ..Cems::default() }), &message);
    }
    for (sigma, got) in [(-0.1, "-0.1"), (f64::INFINITY, "inf")] {
        refused(
            fit(&Cems { sigma, ..Cems::default() }),
            &format!("sigma must be in [0, 1e6], got {got}"),
        );
    }
    refused(
        fit(&Cems { dimension: IntrinsicDimension::Number(0), ..Cems::default() }),
        "dimension must be in [1, inf), got 0",
    );
}

#[test]
fn settings_outside_their_range() {
    for (alpha, shown) in [(1.0, "1"), (0.5, "0.5"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        refused(
            fit(&Ada::default().alpha(alpha)),
            &format!("alpha must be in (1, 1e16], got {shown}"),
        );
    }
    refused(fit(&Ada::default().clusters(0)), "clusters must be in [1, inf), got 0");
    // More groups than rows are no mistake: every distinct row gets its own, and no more.
    assert_eq!(fit(&Ada::default().clusters(7)).unwrap().partition().unwrap().groups(), 6);
    let grid = GammaDistribution::PublishedGrid { alpha: 1e5, values: 2 };
    let message = "alpha must be in a range whose reciprocal does not round to 0, got 100000";
    refused(fit(&Ada::default().gamma(grid)), message);
    let gamma = |law| fit(&Ada::default().clusters(2).gamma(law));
    refused(
        gamma(GammaDistribution::List(vec![1.0, -2.0])),
        "gamma must be in [1e-16, 1e16], got -2",
    );
    refused(gamma(GammaDistribution::List(vec![])), "the list of gammas has no values");
    refused(
        gamma(GammaDistribution::PaperGrid { alpha: 2.0, values: 1 }),
        "values must be in [2, 1e6], got 1",
    );
    refused(
        gamma(GammaDistribution::Gamma { shape: 0.0, scale: 1.0 }),
        "shape must be in (0, inf), got 0",
    );
    refused(fit(&Mixup { beta: 0.0, ..Mixup::default() }), "beta must be in (0, inf), got 0");
    let epsilon = |epsilon| fit(&LocalMixup { epsilon, ..LocalMixup::default() });
    refused(epsilon(Epsilon::Absolute(-1.0)), "epsilon must be in (0, inf), got -1");
    refused(epsilon(Epsilon::Deviations(0.0)), "epsilon must be in (0, inf), got 0");
    refused(
        fit(&CMixup { bandwidth: Bandwidth::Absolute(0.0), ..CMixup::default() }),
        "bandwidth must be in (0, inf), got 0",
    );
    refused(
        fit(&CMixup { bandwidth: Bandwidth::Absolute(1e-320), ..CMixup::default() }),
        &format!(
            "bandwidth must be in a range that does not overflow target / bandwidth, got {}",
            1e-320
        ),
    );
    refused(
        fit(&Noise { target_noise: -0.1, ..Noise::default() }),
        "target_noise must be in [0, inf), got -0.1",
    );
    let far = array![[1e151], [0.0]];
    refused(
        KMeans::new(1).fit(far.view(), None, Seed(0)),
        "x must be below 1.0e150 in magnitude, got 1e151 in row 0, column 0",
    );
    let kmeans = |settings: KMeans| settings.fit(data().0.view(), None, Seed(0));
    refused(kmeans(KMeans { starts: 0, ..KMeans::new(2) }), "starts must be in [1, inf), got 0");
    refused(
        kmeans(KMeans { max_iterations: 0, ..KMeans::new(2) }),
        "max_iterations must be in [1, inf), got 0",
    );
    refused(
        kmeans(KMeans { tolerance: -1.0, ..KMeans::new(2) }),
        "tolerance must be in [0, inf), got -1",
    );
    refused(
        KMeans::new(2).fit(data().0.view(), Some(&[0.0; 6]), Seed(0)),
        "all row weights are zero",
    );
    let erm = fit(&Erm).unwrap();
    for (copies, got) in [(0, "0"), (1_000_001, "1000001"), (usize::MAX, "18446744073709552000")] {
        let plan = Plan::draw(erm.as_ref(), Copies::new(copies), Seed(0));
        refused(plan, &format!("copies must be in [1, 1e6], got {got}"));
    }
    for values in [1_000_001, usize::MAX] {
        let grid = GammaDistribution::PaperGrid { alpha: 2.0, values };
        assert!(
            grid.check().unwrap_err().to_string().starts_with("values must be in [2, 1e6], got")
        );
    }
    refused(Bins::equal_width(&[1.0], 0), "bins must be in [1, inf), got 0");
    refused(Bins::equal_size(&[], 1), "the values to bin has no rows");
    for gamma in [0.0, -1.0, f64::NAN] {
        assert!(matches!(
            Mixing::group_mean(Partition::new(vec![0], 1).unwrap(), Strength::Shared(gamma)),
            Err(Error::OutOfRange { name: "gamma", .. })
        ));
    }
    refused(Mixing::pairs(2, Strength::Shared(1.5)), "lambda must be in [0, 1], got 1.5");
    refused(
        Mixing::pairs(2, Strength::PerRow(vec![0.5])),
        "lambda and the batch must have the same number of rows, got 1 and 2",
    );
}

#[test]
fn rare_targets_that_do_not_exist() {
    let none = |neighbors| Smoter { neighbors, ..Smoter::default() };
    refused(fit(&none(0)), "neighbors must be in [1, 1000], got 0");
    refused(fit(&none(1001)), "neighbors must be in [1, 1000], got 1001");
    for perturbation in [-0.1, f64::NAN] {
        let smogn = Smogn { perturbation, ..Smogn::default() };
        refused(fit(&smogn), &format!("perturbation must be in [0, inf), got {perturbation}"));
    }
    let (x, y) = data();
    let constant = y.mapv(|_| 3.0);
    let samples = Samples::new(x.view(), constant.view()).unwrap();
    let message = "no row has a rare target: the target is constant";
    for rare in [RareSpec::default(), RareSpec::Density] {
        refused(Smoter { rare, ..Smoter::default() }.fit(&samples, Seed(0)), message);
    }
    let point = |y, phi| ControlPoint { y, phi, slope: None };
    let points = Relevance::from_points(&[point(0.0, 0.0), point(100.0, 1.0)]).unwrap();
    let far = Smoter { rare: RareSpec::Points(points), ..Smoter::default() };
    let message = "no row has a rare target: their relevance is below 0.8 everywhere; choose other \
                   control points";
    refused(fit(&far), message);
    let refused_point = Relevance::from_points(&[point(0.0, 0.0), point(1.0, 1.5)]);
    refused(refused_point, "control point 1 of the relevance: phi must be in [0, 1]");
    let erm = Erm.fit(&Samples::new(x.view(), y.view()).unwrap(), Seed(0)).unwrap();
    refused(Restricted::new(erm, vec![2, 6]), "row 6 does not exist: there are 6 rows");
}

#[test]
fn groups_and_anchors_that_do_not_fit() {
    refused(Partition::new(vec![0, 2], 2), "row 1 has group 2, but there are 2 groups");
    refused(Partition::new(vec![], 2), "the partition has no rows");
    refused(Partition::new(vec![0], 0), "the partition has no groups");
    let groups = || Partition::new(vec![0, 1], 2).unwrap();
    refused(
        fit(&Ada::default().anchors(groups())),
        "the groups and x must have the same number of rows, got 2 and 6",
    );
    refused(
        fit(&Ada::default().clusters(2).within(groups())),
        "the levels and x must have the same number of rows, got 2 and 6",
    );
    refused(groups().select(&[5]), "row 5 does not exist: there are 2 rows");
    refused(AnchorMatrix::new(Array2::zeros((3, 0))), "the anchor matrix has no columns");
    let column = Anchors::EqualSize { of: Column::X(2), bins: 2 };
    refused(fit(&Ada::default().anchors(column)), "column 2 does not exist: x has 2 columns");
    let (x, y) = data();
    let weights = [1.0; 6];
    let weighted = Samples::new(x.view(), y.view()).unwrap().with_weights(&weights).unwrap();
    let matrix = || Ada::default().anchors(AnchorMatrix::new(Array2::ones((6, 1))).unwrap());
    let needs_groups = "needs groups, but the anchors are real-valued";
    refused(matrix().fit(&weighted, Seed(0)), &format!("a row weight {needs_groups}"));
    refused(fit(&matrix().means_of(MeansOf::Set)), &format!("a mean of the set {needs_groups}"));
    let levels = Partition::new(vec![0; 6], 1).unwrap();
    refused(fit(&matrix().within(levels)), &format!("within {needs_groups}"));
    let zeros = [0.0; 6];
    refused(
        Samples::new(x.view(), y.view()).unwrap().with_weights(&zeros),
        "all row weights are zero",
    );
    // A group that weighs nothing is refused when it is fitted, not later.
    let half = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0];
    let weighted = Samples::new(x.view(), y.view()).unwrap().with_weights(&half).unwrap();
    let groups_of_three = Partition::new(vec![0, 0, 0, 1, 1, 1], 2).unwrap();
    refused(
        Ada::default().anchors(groups_of_three).fit(&weighted, Seed(0)),
        "the row weights of group 0 sum to 0",
    );
    // Anchors whose normalizer vanishes: one row, Π = 1/2 everywhere, √γ − 1 = −2 is out of reach, but
    // with opposite signs the sum of a row of Π is 0 and with unequal ones it can exceed 1.
    let anchors = AnchorMatrix::new(array![[3.0], [1.0]]).unwrap();
    let sum = 3.0 * 4.0 / 10.0; // Σⱼ Π₀ⱼ
    let gamma = (1.0_f64 - 1.0 / sum).powi(2);
    let result = Mixing::projection(&anchors, Strength::Shared(gamma));
    assert!(matches!(result, Err(Error::VanishingNormalizer { row: 0, .. })), "{result:?}");
    let weights: Vec<f64> = vec![0.0, 1.0];
    let mixing = Mixing::weighted_group_mean(groups(), weights, Strength::Shared(2.0)).unwrap();
    refused(mixing.apply(array![[1.0], [2.0]].view()), "the row weights of group 0 sum to 0");
    refused(
        mixing.apply_transposed(array![[1.0], [2.0]].view()),
        "the row weights of group 0 sum to 0",
    );
    let mut sums = GroupSums::new(2, 1);
    refused(
        sums.add(array![[1.0]].view(), &[2], None),
        "row 0 has group 2, but there are 2 groups",
    );
    refused(
        sums.add(array![[1.0, 2.0]].view(), &[0], None),
        "the block must have 1 columns, got 2",
    );
    sums.add(array![[1.0]].view(), &[0], None).unwrap();
    let means = sums.clone().finish().unwrap();
    refused(
        means.apply(array![[1.0]].view(), &[1], &Strength::Shared(2.0)),
        "row 0 belongs to group 1, which has no mean: it was empty when fitted",
    );
    let mut spoilt = sums.clone();
    let message = "x must be finite, got NaN in row 0, column 0";
    refused(spoilt.add(array![[f64::NAN]].view(), &[0], None), message);
    refused(spoilt.finish(), message);
    let other = RowSample::new(4, 1, Seed(1));
    refused(
        RowSample::new(4, 1, Seed(0)).merge(&other),
        "samples must have the same capacity, width and seed to be merged",
    );
    refused(sums.merge(&GroupSums::new(2, 3)), "merged sums must have 1 columns, got 3");
    refused(
        sums.merge_at(&GroupSums::new(2, 1), &[0, 2]),
        "row 1 has group 2, but there are 2 groups",
    );
    refused(
        RowSample::new(4, 1, Seed(0)).add(array![[1.0, 2.0]].view(), None),
        "the block must have 1 columns, got 2",
    );
}

#[test]
fn batches_and_buffers_that_do_not_fit() {
    let erm = fit(&Erm).unwrap();
    refused(erm.draw(Batch::Rows(&[1, 6]), Seed(0), 0), "row 6 does not exist: there are 6 rows");
    refused(erm.draw(Batch::Rows(&[]), Seed(0), 0), "the batch has no rows");
    let (x, _) = data();
    let plan = Plan::draw(erm.as_ref(), Copies::new(1), Seed(0)).unwrap();
    let mut small = Array2::zeros((3, 2));
    refused(
        plan.features_into(x.view(), small.view_mut()),
        "the output buffer must have shape [12, 2] in standard layout, got [3, 2]",
    );
    let pairs = || Mixing::pairs(1, Strength::Shared(0.5)).unwrap();
    refused(Draw::new(3, vec![0], vec![3], pairs()), "row 3 does not exist: there are 3 rows");
    refused(
        Draw::new(3, vec![0], vec![], pairs()),
        "the mixing and sources and partners must have the same number of rows, got 2 and 1",
    );
    let none = ndarray::arr0(1.0);
    let message = "the mixing and the batch must have the same number of rows, got 0 and 0";
    refused(Mixing::identity(0).apply(none.view()), message);
    let hidden =
        "noise and group means of all rows apply to features and targets, not to a hidden layer";
    let noise = fit(&Noise::default()).unwrap();
    let draw = noise.draw(Batch::All, Seed(0), 0).unwrap();
    refused(draw.mixing(), hidden);
    refused(
        draw.features(array![[1.0, 2.0, 3.0]].view()),
        "the fitted rows and the data must have the same number of rows, got 6 and 1",
    );
    refused(
        draw.features(Array2::<f64>::zeros((6, 3)).view()),
        "the data must have 2 columns, got 3",
    );
    let set = fit(&Ada::default().clusters(2).means_of(MeansOf::Set)).unwrap();
    refused(set.draw(Batch::All, Seed(0), 0).unwrap().mixing(), hidden);
}

#[test]
fn models_and_metrics_that_do_not_fit() {
    let (x, y) = data();
    let samples = Samples::new(x.view(), y.view()).unwrap();
    let groups = Partition::new(vec![0, 0, 0, 1, 1, 1], 2).unwrap();
    refused(Ridge::new(-1.0).fit(&samples), "penalty must be in [0, inf), got -1");
    refused(
        AnchorRegression::new(-1.0).fit(&samples, &groups),
        "gamma must be in [0, inf), got -1",
    );
    refused(
        AnchorRegression::new(f64::NAN).fit(&samples, &groups),
        "gamma must be in [0, inf), got NaN",
    );
    let short = Partition::new(vec![0], 1).unwrap();
    refused(
        AnchorRegression::new(1.0).fit(&samples, &short),
        "the anchors and x must have the same number of rows, got 1 and 6",
    );
    let model = Ridge::new(1.0).fit(&samples).unwrap();
    refused(model.predict(array![[1.0]].view()), "x must have 2 columns, got 1");
    let zeros = Array1::<f64>::zeros(6);
    refused(
        Metric::Mape.score(zeros.view(), y.view(), None),
        "the metric has no targets to average over",
    );
    refused(
        Metric::R.score(zeros.view(), y.view(), None),
        "the metric has no targets to average over",
    );
    let mut nan = y.clone();
    nan[2] = f64::NAN;
    refused(
        Metric::Mse.score(nan.view(), y.view(), None),
        "the targets must be finite, got NaN in row 2, column 0",
    );
    refused(
        Metric::Mse.score(y.view(), nan.view(), None),
        "the predictions must be finite, got NaN in row 2, column 0",
    );
    refused(
        Metric::Mse.score(y.view(), x.view(), None),
        "the predictions must have 1 columns, got 2",
    );
}
