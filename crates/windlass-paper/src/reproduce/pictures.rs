//! The pictures of an experiment.

use ndarray::Array2;
use windlass::{
    Ada, Anchors, ClusterOn, Clustering, Copies, GammaDistribution, Method as _, Plan, Samples,
};
use windlass::{ClusterScaling, Seed};
use windlass_compare::{Candidate, CandidateSpec, Error};
use windlass_model::{Kind, Metrics};
use windlass_plot::format::trimmed;
use windlass_plot::{
    CurveFit, Emphasis, ForestPlot, ForestRow, HeatMap, Labels, Layout, LinePlot, LineSeries,
    PointSeries, render_png,
};
use windlass_table::{ClusterCount, MethodConfig, to_f64};

use super::dataset::DatasetSpec;
use super::spec::{Axis, Drawing, Picture, ReportedMetric};
use super::stored::{FinishedPart, MeanStd, with_equal_budget};
use crate::{Result, data};

/// The file with the SVGs of all pictures of a page.
pub(super) const FIGURES: &str = "figures.svg";

/// A picture in both forms.
pub(super) struct Rendered {
    pub(super) svg: String,
    pub(super) png: Vec<u8>,
}

/// Draws a picture.
pub(super) fn draw(picture: &Picture, finished: &[FinishedPart]) -> Result<Rendered> {
    let title = picture.title.clone();
    let bad = |why: String| Error::Picture { name: picture.name.clone(), why };
    let part = |name: &str| {
        let found = finished.iter().find(|part| part.part.name == name);
        found.ok_or_else(|| bad(format!("unknown part `{name}`")))
    };
    let layout = &Layout::PAGE;
    let svg = match &picture.draw {
        Drawing::Augmented { data, groups, gammas } => {
            augmented(title, data, *groups, gammas)?.to_svg(layout)
        }
        Drawing::Curves { part: name, only } => curves(title, part(name)?, only).to_svg(layout),
        Drawing::Heat { part: name } => heat(title, part(name)?).to_svg(layout),
        Drawing::Along { part: name, by } => along(title, part(name)?, *by).to_svg(layout),
        Drawing::Fits { part: name, only } => fits(title, part(name)?, only)?.to_svg(layout),
        &Drawing::Images { images, seed } => {
            let source = data::fashion_mnist(data::MnistSplit::Train)?;
            data::RcfMnist::generate(&source, images, seed)?.image_grid().to_svg()
        }
        Drawing::Methods { part: name, metric } => {
            methods(title, name, finished, *metric).to_svg(layout)
        }
    };
    let png = render_png(&svg).map_err(|error| bad(error.to_string()))?;
    Ok(Rendered { svg, png })
}

/// Two columns of numbers.
fn points(source: &DatasetSpec) -> Result<Vec<(f64, f64)>> {
    let rows = source.load()?;
    let of = |name: &str| to_f64(rows.column_by_name(name).expect("rows on a line"));
    let (x, y) = (of("x"), of("y"));
    Ok(x.values().iter().copied().zip(y.values().iter().copied()).collect())
}

/// The cosine without its noise.
fn truth() -> Vec<(f64, f64)> {
    const STEPS: u32 = 400;
    let reach = 3.0 * std::f64::consts::PI;
    let x = |step: u32| reach * (2.0 * f64::from(step) / f64::from(STEPS) - 1.0);
    (0..=STEPS).map(x).map(|x| (x, x.cos())).collect()
}

/// Points and fits with the cosine that they come from.
fn cosine(title: String, points: Vec<PointSeries>, curves: Vec<LineSeries>) -> CurveFit {
    CurveFit {
        labels: Labels::new(title, "x", "y"),
        truth: LineSeries::new("cos x", truth()),
        points,
        curves,
        y_range: (-2.0, 2.0),
    }
}

fn augmented(title: String, data: &DatasetSpec, groups: usize, gammas: &[f64]) -> Result<CurveFit> {
    let given = points(data)?;
    let column = |of: &dyn Fn(&(f64, f64)) -> f64| {
        Array2::from_shape_vec((given.len(), 1), given.iter().map(of).collect()).expect("a column")
    };
    let (x, y) = (column(&|point| point.0), column(&|point| point.1));
    let wrong = |error: windlass::Error| Error::Model(error.into());
    let samples = Samples::new(x.view(), y.view()).map_err(wrong)?;
    let clustering =
        Clustering { clusters: groups.into(), on: ClusterOn::X, scale: ClusterScaling::Raw };
    let mut clouds = vec![PointSeries::new("given", given.iter().copied())];
    for &gamma in gammas.iter().filter(|&&gamma| gamma != 1.0) {
        let ada = Ada::default()
            .anchors(Anchors::KMeans(clustering))
            .gamma(GammaDistribution::List(vec![gamma]));
        let fitted = ada.fit(&samples, Seed(0)).map_err(wrong)?;
        let copies = Copies::new(1).originals(false);
        let plan = Plan::draw(fitted.as_ref(), copies, Seed(0)).map_err(wrong)?;
        let x = plan.features(x.view()).map_err(wrong)?;
        let y = plan.targets(y.view()).map_err(wrong)?;
        let points = x.iter().copied().zip(y.iter().copied());
        clouds.push(PointSeries::new(format!("γ = {}", trimmed(gamma, 2)), points));
    }
    Ok(cosine(title, clouds, vec![]))
}

fn wanted(name: &str, only: &[String]) -> bool {
    let matches = |pattern: &String| match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    };
    only.is_empty() || only.iter().any(matches)
}

fn curves(title: String, part: &FinishedPart, only: &[String]) -> LinePlot {
    let metric = part.part.metrics[0];
    let config = &part.stored.config.comparison;
    let mut series = vec![];
    for candidate in part.candidates() {
        let name = config.name(candidate);
        if !wanted(&name, only) {
            continue;
        }
        let (mut points, mut spread) = (vec![], vec![]);
        for &size in &config.sizes {
            let Some((found, rows)) = part.ours(size, candidate, metric).zip(size) else {
                continue;
            };
            let values = part.stored.values(size, candidate, metric);
            // The error of the mean: bands of single runs would hide each other.
            let half = found.std.unwrap_or(0.0) / (values.len() as f64).sqrt();
            points.push((rows as f64, found.mean));
            spread.push((found.mean - half, found.mean + half));
        }
        series.push(LineSeries { name, points, spread });
    }
    let values = || series.iter().flat_map(|series| series.points.iter().map(|point| point.1));
    let (least, most) = (values().fold(f64::NAN, f64::min), values().fold(f64::NAN, f64::max));
    let y_label = format!("{} (mean ± its standard error)", metric.name());
    LinePlot {
        labels: Labels::new(title, "training rows", y_label),
        series,
        log_y: most > 20.0 * least,
        bands: true,
        ..LinePlot::default()
    }
}

/// The range of γ and the number of groups of a candidate that has both.
fn grid_place(spec: &CandidateSpec) -> Option<(f64, usize)> {
    let ada = match (&spec.kind, &spec.enlarge) {
        (_, Some(enlarge)) => &enlarge.method,
        (Some(Kind::Network(network)), None) => &network.augment.as_ref()?.method,
        _ => return None,
    };
    match ada {
        MethodConfig::Ada(ada) => match (&ada.gamma, ada.clusters) {
            (GammaDistribution::PublishedGrid { alpha, .. }, ClusterCount::Count(groups)) => {
                Some((*alpha, groups))
            }
            _ => None,
        },
        MethodConfig::Other { .. } => None,
    }
}

/// Means over seeds by α and the number of groups, both ascending.
struct Grid {
    alphas: Vec<f64>,
    groups: Vec<usize>,
    found: Vec<(f64, usize, MeanStd)>,
}

impl Grid {
    fn of(part: &FinishedPart) -> Self {
        let metric = part.part.metrics[0];
        let mut found = vec![];
        for candidate in part.candidates() {
            let spec = candidate.spec.map(|place| &part.stored.config.comparison.specs[place]);
            let place = spec.and_then(grid_place);
            if let Some(((alpha, groups), spread)) = place.zip(part.ours(None, candidate, metric)) {
                found.push((alpha, groups, spread));
            }
        }
        let mut alphas: Vec<f64> = found.iter().map(|cell| cell.0).collect();
        alphas.sort_by(f64::total_cmp);
        alphas.dedup();
        let mut groups: Vec<usize> = found.iter().map(|cell| cell.1).collect();
        groups.sort_unstable();
        groups.dedup();
        Self { alphas, groups, found }
    }

    fn at(&self, alpha: f64, groups: usize) -> Option<MeanStd> {
        let here = |cell: &&(f64, usize, MeanStd)| cell.0 == alpha && cell.1 == groups;
        self.found.iter().find(here).map(|cell| cell.2)
    }
}

fn heat(title: String, part: &FinishedPart) -> HeatMap {
    let grid = Grid::of(part);
    let row = |&groups: &usize| -> Vec<Option<f64>> {
        grid.alphas.iter().map(|&alpha| grid.at(alpha, groups).map(|cell| cell.mean)).collect()
    };
    HeatMap {
        labels: Labels::new(title, "α: γ from 1/α to α", "groups q"),
        x_names: grid.alphas.iter().map(f64::to_string).collect(),
        y_names: grid.groups.iter().map(usize::to_string).collect(),
        values: grid.groups.iter().map(row).collect(),
        value_label: part.part.metrics[0].name().into(),
        decimals: part.part.decimals,
        higher_is_better: part.part.metrics[0].is_better_high(),
    }
}

fn along(title: String, part: &FinishedPart, by: Axis) -> LinePlot {
    let grid = Grid::of(part);
    let line = |name: String, cells: Vec<(f64, Option<MeanStd>)>| {
        let cells: Vec<(f64, MeanStd)> =
            cells.into_iter().filter_map(|(x, cell)| Some((x, cell?))).collect();
        let spread = cells.iter().map(|(_, cell)| {
            let off = cell.std.unwrap_or(0.0);
            (cell.mean - off, cell.mean + off)
        });
        let spread = spread.collect();
        LineSeries { name, points: cells.iter().map(|(x, cell)| (*x, cell.mean)).collect(), spread }
    };
    let alphas: Vec<String> = grid.alphas.iter().map(f64::to_string).collect();
    let groups: Vec<String> = grid.groups.iter().map(usize::to_string).collect();
    let (names, lines, of, x_label) = match by {
        Axis::Alpha => (alphas, groups, "q", "α: γ from 1/α to α"),
        Axis::Groups => (groups, alphas, "α", "groups q"),
    };
    let cell = |place: usize, line: usize| match by {
        Axis::Alpha => grid.at(grid.alphas[place], grid.groups[line]),
        Axis::Groups => grid.at(grid.alphas[line], grid.groups[place]),
    };
    let series = lines.iter().enumerate().map(|(number, name)| {
        let cells = (0..names.len()).map(|place| (place as f64, cell(place, number)));
        line(format!("{of} = {name}"), cells.collect())
    });
    let series: Vec<LineSeries> = series.collect();
    let x_names =
        Some(names.into_iter().enumerate().map(|(place, name)| (place as f64, name)).collect());
    let y_label = format!("{} (mean ± deviation over seeds)", part.part.metrics[0].name());
    LinePlot {
        labels: Labels::new(title, x_label, y_label),
        series,
        x_names,
        ..LinePlot::default()
    }
}

fn fits(title: String, part: &FinishedPart, only: &[String]) -> Result<CurveFit> {
    let test = part.part.test.as_ref().map(points).transpose()?.unwrap_or_default();
    let first = part.part.seeds.first().copied().unwrap_or(0);
    let set = match part.part.data.clone() {
        DatasetSpec::Cosine { rows, noise, equidistant, seed, .. } => {
            DatasetSpec::Cosine { rows, sets: 1, noise, equidistant, seed: seed + first }
        }
        other => other,
    };
    let mut lines = vec![];
    for run in part.stored.runs.iter().filter(|run| run.key.repeat as u64 == first) {
        let name = part.stored.config.comparison.name(run.key.candidate);
        if run.predicted.is_empty() || !wanted(&name, only) {
            continue;
        }
        let mut points: Vec<(f64, f64)> = test
            .iter()
            .zip(&run.predicted)
            .map(|(point, predicted)| (point.0, *predicted))
            .collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let Metrics { rmse, .. } = run.metrics;
        let name = format!("{name}: MSE {:.3}", rmse * rmse);
        lines.push(LineSeries::new(name, points));
    }
    let rows = PointSeries::new("training rows", points(&set)?);
    Ok(cosine(title, vec![rows], lines))
}

fn methods(
    title: String,
    name: &str,
    finished: &[FinishedPart],
    metric: ReportedMetric,
) -> ForestPlot {
    let mut rows = vec![];
    let mut row = |heading: Option<String>, name: &str, found: MeanStd, points: Vec<f64>| {
        let half = found.std.unwrap_or(0.0);
        rows.push(ForestRow {
            name: name.to_owned(),
            mean: found.mean,
            low: found.mean - half,
            high: found.mean + half,
            points,
            emphasis: if name == "published" { Emphasis::Plain } else { Emphasis::Good },
            heading,
        });
    };
    for (main, equal) in
        with_equal_budget(finished).into_iter().filter(|(main, _)| main.part.name == name)
    {
        for candidate in main.candidates() {
            let mut heading = Some(main.stored.config.comparison.name(candidate));
            if let Some(found) = main.published(candidate, metric) {
                row(heading.take(), "published", found, vec![]);
            }
            let of = |part: &FinishedPart, candidate: Candidate| {
                let values = part.stored.values(None, candidate, metric);
                (!values.is_empty()).then(|| (MeanStd::from_values(&values), values))
            };
            if let Some((found, values)) = of(main, candidate) {
                row(heading.take(), "ours", found, values);
            }
            let other = equal.and_then(|equal| of(equal, main.counterpart(candidate, equal)?));
            if let Some((found, values)) = other {
                row(heading.take(), "ours, equal budget", found, values);
            }
        }
    }
    let x_label = format!("{} (mean ± deviation over seeds)", metric.name());
    ForestPlot { labels: Labels::new(title, x_label, ""), rows, reference: None }
}
