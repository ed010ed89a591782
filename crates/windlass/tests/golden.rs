//! Numbers of the published implementation and of scikit-learn. `golden/README.md` says where each
//! file came from.

#![expect(clippy::cast_possible_truncation, reason = "small numbers")]
#![expect(clippy::print_stdout, reason = "says what was skipped")]

use std::path::{Path, PathBuf};

use ndarray::{Array2, ArrayD, ArrayViewD, Axis, IxDyn};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use windlass::metrics::Metric;
use windlass::regress::{AnchorRegression, Exogenous, Ridge};
use windlass::{
    AnchorMatrix, Bandwidth, Batch, CMixup, Cems, ClusterScaling, ControlPoint, Foma, How,
    IntrinsicDimension, KMeans, Method, Mixing, Neighborhood, Partition, RareSpec, Relevance, Rho,
    Samples, Seed, Smogn, Smoter, SpectrumVariant, Strength, intrinsic_dimension, published_grid,
};

#[derive(Deserialize)]
struct Cases<C> {
    cases: Vec<C>,
}

#[derive(Deserialize, Clone)]
struct Golden {
    shape: Vec<usize>,
    data: Vec<f64>,
}

impl Golden {
    fn array(&self) -> ArrayD<f64> {
        ArrayD::from_shape_vec(IxDyn(&self.shape), self.data.clone()).unwrap()
    }

    /// Two dimensions; a single one becomes a column.
    fn matrix(&self) -> Array2<f64> {
        let columns = self.shape[1..].iter().product();
        Array2::from_shape_vec((self.shape[0], columns), self.data.clone()).unwrap()
    }
}

fn read<T: DeserializeOwned>(file: &str) -> T {
    // Relative: cargo runs tests in the crate's folder, while a path compiled in would go stale when one
    // target folder serves several clones.
    let path = Path::new("tests/golden").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn cases<C: DeserializeOwned>(file: &str) -> Vec<C> {
    read::<Cases<C>>(file).cases
}

/// The cases of one topic, from a file of several.
fn topic_cases<C: DeserializeOwned>(file: &str, topic: &str) -> Vec<C> {
    let topic = read::<serde_json::Value>(file)[topic].take();
    serde_json::from_value::<Cases<C>>(topic).unwrap().cases
}

/// The largest difference, relative to the largest value.
#[track_caller]
fn assert_close(got: ArrayViewD<'_, f64>, want: ArrayViewD<'_, f64>, tolerance: f64, what: &str) {
    assert_eq!(got.shape(), want.shape(), "{what}");
    let size = want.iter().fold(1.0_f64, |size, value| size.max(value.abs()));
    for (got, want) in got.iter().zip(want) {
        assert!((got - want).abs() <= tolerance * size, "{what}: {got} against {want}");
    }
}

#[derive(Deserialize)]
struct AdaCase {
    name: String,
    anchor_kind: String,
    #[serde(rename = "X")]
    x: Golden,
    y: Golden,
    #[serde(rename = "A")]
    a: Golden,
    labels: Option<Vec<u32>>,
    outputs: Vec<AdaOutput>,
}

#[derive(Deserialize)]
struct AdaOutput {
    gamma: f64,
    #[serde(rename = "X_til")]
    x_til: Golden,
    y_til: Golden,
    y_til_column_mean: Option<Golden>,
    y_til_column_mean_f32: Option<Golden>,
}

#[test]
fn ada_equals_the_published_implementation() {
    let mut compared = 0;
    for case in cases::<AdaCase>("ada_transform.json") {
        let (x, y) = (case.x.array(), case.y.matrix());
        for output in &case.outputs {
            let gamma = || Strength::Shared(output.gamma);
            let anchors = AnchorMatrix::new(case.a.matrix()).unwrap();
            let mut mixings = vec![Mixing::projection(&anchors, gamma()).unwrap()];
            if case.anchor_kind == "one_hot" {
                let labels = case.labels.clone().unwrap();
                let partition = Partition::new(labels, case.a.shape[1]).unwrap();
                mixings.push(Mixing::group_mean(partition, gamma()).unwrap());
            }
            for mixing in mixings {
                let what = format!("{} at gamma {}", case.name, output.gamma);
                let got = mixing.apply(x.view()).unwrap();
                assert_close(got.view(), output.x_til.array().view(), 1e-9, &what);
                let got = mixing.apply(y.view()).unwrap().into_dyn();
                let want = output.y_til_column_mean.as_ref().unwrap_or(&output.y_til);
                assert_close(got.view(), want.matrix().into_dyn().view(), 1e-9, &what);
                if let Some(want) = &output.y_til_column_mean_f32 {
                    let got = mixing.apply(y.mapv(|v| v as f32).view()).unwrap();
                    let got = got.mapv(f64::from).into_dyn();
                    assert_close(got.view(), want.matrix().into_dyn().view(), 1e-5, &what);
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 80, "only {compared} transforms were compared");
}

#[derive(Deserialize)]
struct GammaCase {
    a: f64,
    n: usize,
    gammas: Vec<f64>,
}

#[test]
fn gamma_grid_equals_the_published_one() {
    for case in topic_cases::<GammaCase>("published.json", "gammas") {
        assert_eq!(published_grid(case.a, case.n), case.gammas, "a = {}, n = {}", case.a, case.n);
    }
}

#[derive(Deserialize)]
struct RegressionCase {
    name: String,
    anchor_kind: String,
    #[serde(rename = "X")]
    x: Golden,
    y: Golden,
    #[serde(rename = "A")]
    a: Golden,
    outputs: Vec<RegressionOutput>,
}

#[derive(Deserialize)]
struct RegressionOutput {
    gamma: f64,
    #[serde(rename = "coef_centred_anchor")]
    coef_centered_anchor: Golden,
    #[serde(rename = "intercept_centred_anchor")]
    intercept_centered_anchor: f64,
    #[serde(rename = "objective_centred_anchor")]
    objective_centered_anchor: f64,
    coef_ivmodels: Option<Golden>,
}

#[test]
fn anchor_regression_equals_least_squares_on_modified_data_and_ivmodels() {
    for case in cases::<RegressionCase>("anchor_regression.json") {
        let (x, y, a) = (case.x.matrix(), case.y.matrix(), case.a.matrix());
        let samples = Samples::new(x.view(), y.view()).unwrap();
        let matrix = AnchorMatrix::new(a.clone()).unwrap();
        let labels =
            a.rows().into_iter().map(|row| row.iter().position(|&v| v == 1.0).unwrap_or(0));
        let groups = Partition::new(labels.map(|l| l as u32).collect(), a.ncols()).unwrap();
        let mut anchors = vec![Exogenous::Matrix(&matrix)];
        if case.anchor_kind == "one_hot" {
            anchors.push(Exogenous::Groups(&groups));
        }
        let gammas: Vec<f64> = case.outputs.iter().map(|output| output.gamma).collect();
        for anchors in anchors {
            let path = AnchorRegression::new(1.0).path(&samples, anchors, &gammas).unwrap();
            for (point, want) in path.iter().zip(&case.outputs) {
                let what = format!("{} at gamma {}", case.name, want.gamma);
                let got = point.model.coefficients().to_owned().into_dyn();
                let coef = want.coef_centered_anchor.matrix().into_dyn();
                assert_close(got.view(), coef.view(), 1e-9, &what);
                let intercept = point.model.intercept()[0];
                assert!((intercept - want.intercept_centered_anchor).abs() < 1e-9, "{what}");
                let objective = point.worst_risk(point.gamma);
                assert!((objective - want.objective_centered_anchor).abs() < 1e-9, "{what}");
                if let Some(coef) = &want.coef_ivmodels {
                    assert_close(got.view(), coef.matrix().into_dyn().view(), 1e-9, &what);
                }
            }
        }
    }
}

#[derive(Deserialize)]
struct RateCase {
    name: String,
    bandwidth: f64,
    y: Golden,
    rates: Golden,
}

#[test]
fn c_mixup_probabilities_equal_the_published_rates() {
    for case in topic_cases::<RateCase>("published.json", "cmixup_rates") {
        let y = case.y.matrix();
        let samples = Samples::new(y.view(), y.view()).unwrap();
        let settings =
            CMixup { bandwidth: Bandwidth::Absolute(case.bandwidth), ..CMixup::default() };
        let fitted = settings.fit_targets(&samples).unwrap();
        for (row, want) in case.rates.matrix().rows().into_iter().enumerate() {
            let got = fitted.probabilities(row).unwrap();
            for (got, want) in got.iter().zip(want) {
                assert!((got - want).abs() < 1e-9, "{} row {row}: {got} against {want}", case.name);
            }
        }
    }
}

#[derive(Deserialize)]
struct RidgeCase {
    name: String,
    #[serde(rename = "X")]
    x: Golden,
    y: Golden,
    outputs: Vec<RidgeOutput>,
}

#[derive(Deserialize)]
struct RidgeOutput {
    alpha: f64,
    coef: Golden,
    intercept: Golden,
    coef_no_intercept: Golden,
}

#[test]
fn ridge_equals_scikit_learn() {
    for case in topic_cases::<RidgeCase>("scikit_learn.json", "ridge") {
        let (x, y) = (case.x.matrix(), case.y.matrix());
        let samples = Samples::new(x.view(), y.view()).unwrap();
        for output in &case.outputs {
            let what = format!("{} at alpha {}", case.name, output.alpha);
            // scikit-learn gives outputs × features.
            let features_first = |golden: &Golden| {
                Array2::from_shape_vec((y.ncols(), x.ncols()), golden.data.clone())
                    .unwrap()
                    .reversed_axes()
                    .into_dyn()
            };
            let model = Ridge::new(output.alpha).fit(&samples).unwrap();
            let got = model.coefficients().to_owned().into_dyn();
            assert_close(got.view(), features_first(&output.coef).view(), 1e-9, &what);
            let intercept = model.intercept().to_owned().into_dyn();
            assert_close(intercept.view(), output.intercept.array().view(), 1e-9, &what);
            let model = Ridge::new(output.alpha).intercept(false).fit(&samples).unwrap();
            let got = model.coefficients().to_owned().into_dyn();
            assert_close(got.view(), features_first(&output.coef_no_intercept).view(), 1e-9, &what);
        }
    }
}

#[derive(Deserialize)]
struct MetricCase {
    name: String,
    y: Golden,
    pred: Golden,
    mse: f64,
    rmse: f64,
    mape: f64,
    r: f64,
    r2: f64,
}

#[test]
fn metrics_equal_the_published_ones() {
    for case in topic_cases::<MetricCase>("published.json", "metrics") {
        let (y, pred) = (case.y.array(), case.pred.array());
        for (metric, want) in [
            (Metric::Mse, case.mse),
            (Metric::Rmse, case.rmse),
            (Metric::Mape, case.mape),
            (Metric::R, case.r),
            (Metric::RSquared, case.r2),
        ] {
            let got = metric.score(y.view(), pred.view(), None).unwrap();
            assert!(
                (got - want).abs() < 1e-9 * want.abs().max(1.0),
                "{} {metric:?}: {got} against {want}",
                case.name
            );
        }
    }
}

#[derive(Deserialize)]
struct KMeansCase {
    name: String,
    k: usize,
    #[serde(rename = "X")]
    x: Golden,
    labels: Vec<u32>,
    centroids: Golden,
    inertia: f64,
}

#[test]
fn k_means_finds_the_optimum() {
    for case in topic_cases::<KMeansCase>("scikit_learn.json", "kmeans") {
        let x = case.x.matrix();
        for weights in [None, Some(vec![1.0; x.nrows()])] {
            let fit = KMeans::new(case.k).fit(x.view(), weights.as_deref(), Seed(0)).unwrap();
            assert!(
                (fit.inertia() - case.inertia).abs() < 1e-9,
                "{}: {}",
                case.name,
                fit.inertia()
            );
            let centroids = case.centroids.matrix();
            for (row, &label) in case.labels.iter().enumerate() {
                let got = fit.centers().row(fit.partition().labels()[row] as usize).to_owned();
                let want = centroids.row(label as usize).to_owned().into_dyn();
                assert_close(got.into_dyn().view(), want.view(), 1e-9, &case.name);
            }
        }
    }
}

#[derive(Deserialize)]
struct RealCase {
    name: String,
    #[serde(rename = "X")]
    x: Option<Golden>,
    file: Option<PathBuf>,
    rows: Option<usize>,
    fits: Vec<RealFit>,
}

#[derive(Deserialize)]
struct RealFit {
    scale: String,
    k: usize,
    inertia: f64,
}

/// A file of the paper's data sets: in `WINDLASS_DATA`, or in the user's cache.
fn data_file(file: &Path) -> Option<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let cache = variable("XDG_CACHE_HOME").or(variable("HOME").map(|home| home.join(".cache")));
    let folders = [variable("WINDLASS_DATA"), cache.map(|cache| cache.join("windlass/data"))];
    folders.into_iter().flatten().map(|folder| folder.join(file)).find(|path| path.is_file())
}

/// The rows of a file that are all numbers, separated by commas or blanks.
fn numbers(path: &Path) -> Array2<f64> {
    let text = std::fs::read_to_string(path).unwrap();
    let separators = [',', ' ', '\t', '\r'];
    let rows: Vec<Vec<f64>> = text
        .lines()
        .filter_map(|line| {
            line.split(separators).filter(|f| !f.is_empty()).map(|f| f.parse().ok()).collect()
        })
        .filter(|row: &Vec<f64>| !row.is_empty())
        .collect();
    let shape = (rows.len(), rows[0].len());
    Array2::from_shape_vec(shape, rows.into_iter().flatten().collect()).unwrap()
}

#[test]
fn k_means_is_as_good_as_scikit_learn_on_real_data() {
    for case in cases::<RealCase>("kmeans_real.json") {
        let x = match (&case.x, case.file.as_deref().and_then(data_file)) {
            (Some(x), _) => x.matrix(),
            (None, Some(file)) => numbers(&file),
            (None, None) => {
                println!(
                    "skipped: data set `{}` is absent; set WINDLASS_DATA to its folder",
                    case.name
                );
                continue;
            }
        };
        if let Some(rows) = case.rows {
            assert_eq!(x.nrows(), rows, "{}", case.name);
        }
        let deviations = x.std_axis(Axis(0), 0.0);
        let standardized = (&x - &x.mean_axis(Axis(0)).unwrap()) / &deviations;
        for want in &case.fits {
            let rows = if want.scale == "raw" { &x } else { &standardized };
            let fit = KMeans::new(want.k).fit(rows.view(), None, Seed(0)).unwrap();
            let ratio = fit.inertia() / want.inertia;
            println!("{} {} k={}: inertia ratio {ratio:.4}", case.name, want.scale, want.k);
            assert!(ratio < 1.01, "{} {} k={}: {ratio}", case.name, want.scale, want.k);
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RareCase {
    Relevance {
        relevance: String,
        #[serde(default)]
        points: Vec<(f64, f64, Option<f64>)>,
        y: Vec<f64>,
        phi: Vec<f64>,
    },
    Method {
        method: String,
        seed: u64,
        step: u64,
        neighbors: usize,
        perturbation: Option<f64>,
        x: Golden,
        y: Vec<f64>,
        made: MadeRows,
    },
}

#[derive(Deserialize)]
struct MadeRows {
    rows: Vec<usize>,
    partner: Vec<Option<usize>>,
    lambda: Vec<Option<f64>>,
    x: Vec<f64>,
    y: Vec<f64>,
}

#[test]
fn relevance_equals_an_independent_implementation() {
    let mut compared = 0;
    for case in cases::<RareCase>("rare_targets.json") {
        let RareCase::Relevance { relevance: kind, points, y, phi } = case else { continue };
        let point = |&(y, phi, slope): &(f64, f64, Option<f64>)| ControlPoint { y, phi, slope };
        let points: Vec<ControlPoint> = points.iter().map(point).collect();
        let relevance = match RareSpec::named(&kind) {
            Some(spec) => spec.relevance(&y).unwrap(),
            None => Relevance::from_points(&points).unwrap(),
        };
        for (&y, phi) in y.iter().zip(phi) {
            let got = relevance.at(y);
            assert!((got - phi).abs() < 1e-14, "{kind} at {y}: {got} against {phi}");
        }
        compared += 1;
    }
    assert_eq!(compared, 5);
}

/// Partners and λ to the bit, since the random numbers are numpy's; rows to rounding.
#[test]
fn smoter_and_smogn_equal_an_independent_implementation() {
    let mut compared = 0;
    for case in cases::<RareCase>("rare_targets.json") {
        let RareCase::Method { method, seed, step, neighbors, perturbation, x, y, made } = case
        else {
            continue;
        };
        let (x, y) = (x.matrix(), ndarray::Array1::from(y));
        let smoter = Smoter { neighbors, ..Smoter::default() };
        let built: Box<dyn Method> = match perturbation {
            Some(perturbation) => Box::new(Smogn { smoter, perturbation }),
            None => Box::new(smoter),
        };
        let fitted = built.fit(&Samples::new(x.view(), y.view()).unwrap(), Seed(seed)).unwrap();
        assert_eq!(fitted.sources(), Some(&made.rows[..]), "{method}");
        let draw = fitted.draw(Batch::Rows(&made.rows), Seed(seed), step).unwrap();
        for (row, expected) in made.partner.iter().zip(&made.lambda).enumerate() {
            let got = match draw.origin(row).unwrap().how {
                How::Pair { partner, lambda } => (Some(partner), Some(lambda)),
                _ => (None, None),
            };
            assert_eq!(got, (*expected.0, *expected.1), "{method}, row {row}");
        }
        let want = Array2::from_shape_vec((made.rows.len(), x.ncols()), made.x).unwrap();
        let got = draw.features(x.view()).unwrap();
        assert_close(got.view().into_dyn(), want.view().into_dyn(), 1e-13, &method);
        let (got, want) = (draw.targets(y.view()).unwrap(), ndarray::Array1::from(made.y));
        assert_close(got.view().into_dyn(), want.view().into_dyn(), 1e-13, &method);
        compared += 1;
    }
    assert_eq!(compared, 6);
}

#[derive(Deserialize)]
struct NeighborhoodCase {
    x: Golden,
    y: Golden,
    dimension: std::collections::BTreeMap<String, f64>,
    foma: Vec<FomaCase>,
    cems: Vec<CemsCase>,
}

#[derive(Deserialize)]
struct FomaCase {
    scale: String,
    rho: f64,
    span: Golden,
    with_mean: Golden,
}

#[derive(Deserialize)]
struct CemsCase {
    scale: String,
    /// Rows of the neighborhood of each row; none if all rows share one.
    size: Option<usize>,
    d: usize,
    sigma: f64,
    seed: u64,
    step: u64,
    z: Golden,
}

#[test]
fn foma_and_cems_equal_their_equations() {
    for case in cases::<NeighborhoodCase>("neighborhoods.json") {
        let (x, y) = (case.x.matrix(), case.y.matrix());
        let z = ndarray::concatenate(Axis(1), &[x.view(), y.view()]).unwrap();
        let samples = Samples::new(x.view(), y.view()).unwrap();
        let scaling = |name: &str| name.parse::<ClusterScaling>().unwrap();
        for (scale, want) in case.dimension {
            let mut rows = z.clone();
            if scale == "standard" {
                rows /= &z.std_axis(Axis(0), 0.0);
            }
            let got = intrinsic_dimension(rows.view()).unwrap();
            assert!((got - want).abs() < 1e-10, "{got} against {want}");
        }
        let rows: Vec<usize> = (0..x.nrows()).collect();
        let made = |draw: &windlass::Draw| {
            let (x, y) = (draw.features(x.view()).unwrap(), draw.targets(y.view()).unwrap());
            ndarray::concatenate(Axis(1), &[x.view(), y.view()]).unwrap()
        };
        for one in case.foma {
            for variant in [
                SpectrumVariant::Paper,
                SpectrumVariant::Published,
                SpectrumVariant::PublishedTrailing,
            ] {
                let (rho, svd_scale) = (Rho::Share(one.rho), scaling(&one.scale));
                let foma = Foma { rho, svd_scale, variant, ..Foma::default() };
                let fitted = foma.fit(&samples, Seed(0)).unwrap();
                for step in 0..5 {
                    let draw = fitted.draw(Batch::Rows(&rows), Seed(0), step).unwrap();
                    let How::Neighborhood { lambda } = draw.origin(0).unwrap().how else {
                        panic!()
                    };
                    let (span, with_mean) = (one.span.matrix(), one.with_mean.matrix());
                    let mut want = match variant {
                        SpectrumVariant::Published => &z - &(span * (1.0 - lambda)),
                        _ => lambda * &z + (1.0 - lambda) * with_mean,
                    };
                    if variant != SpectrumVariant::Paper {
                        want.slice_mut(ndarray::s![.., x.ncols()..]).assign(&y);
                    }
                    let what = format!("{} rho {} {variant:?}", one.scale, one.rho);
                    assert_close(
                        made(&draw).view().into_dyn(),
                        want.view().into_dyn(),
                        1e-12,
                        &what,
                    );
                }
            }
        }
        for one in case.cems {
            let cems = Cems {
                sigma: one.sigma,
                dimension: IntrinsicDimension::Number(one.d),
                neighborhood: one.size.map_or(Neighborhood::Nearest, |_| Neighborhood::Row),
                neighborhood_size: one.size.unwrap_or(32),
                svd_scale: scaling(&one.scale),
            };
            let fitted = cems.fit(&samples, Seed(0)).unwrap();
            let what = format!("{} {:?} {}", one.scale, one.size, one.d);
            let draw = fitted.draw(Batch::Rows(&rows), Seed(one.seed), one.step).unwrap();
            let want = one.z.matrix();
            assert_close(made(&draw).view().into_dyn(), want.view().into_dyn(), 1e-10, &what);
            if one.size.is_some() {
                let draw = fitted.draw(Batch::All, Seed(one.seed), one.step).unwrap();
                assert_close(made(&draw).view().into_dyn(), want.view().into_dyn(), 1e-10, &what);
            }
        }
    }
}
