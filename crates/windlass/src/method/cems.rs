//! CEMS: rows move along the curved surface that their neighborhood lies on.
//!
//! ```text
//! B = the first d right singular vectors of (neighbors − center),    uⱼ = Bᵀ(zⱼ − z),    z = [x, y]
//! (g, H): ridge regression of the part of zⱼ − z outside B on ψ(uⱼ),    ψ(u) = [u, ½u², uᵢuⱼ (i < j)]
//! z̃ = z + Bν + g·ν + ½νᵀHν,    ν ~ N(0, σ²I_d)
//! ```
//!
//! d is the intrinsic dimension. The penalty of the ridge regression is the Frobenius norm of the design, averaged
//! over the rows of the neighborhood. Two ways to choose neighbors: a neighborhood that all of its rows share, with
//! one B, centered at its mean (a minibatch is one; a whole dataset is split), or [`Neighborhood::Row`], the nearest
//! rows of every row, centered at the row, which is the default. The quadratic is fitted around every row in both, as in the published
//! code.
//!
//! `g·ν + ½νᵀHν = Σⱼ wⱼ(zⱼ − z)` without its part in B, with weights `w = Ψ(ΨᵀΨ + penalty·I)⁻¹ψ(ν)`, so that
//! neither g and H nor a basis of the normal space is formed.
//!
//! Kaufman, Azencot, [*Curvature Enhanced Data Augmentation for Regression*](https://arxiv.org/abs/2506.06853),
//! 2025. Departures: by default columns are divided by their standard deviations (`svd_scale`), so σ is in these
//! units; with neighborhoods of rows each has its own penalty; on a hidden layer d is that of the training rows, and
//! the displacement has no gradient.
//!
//! Cost of a copy of n rows with D columns, neighborhoods of b rows and p = d(d + 3)/2: one decomposition,
//! O(bD·min(b, D)), per neighborhood or row, and O(bp·min(b, p) + bdD) per row, besides the search for neighbors
//! (linear in n, see `neighborhoods.rs`). Neighbors, B and the factorization of a row are kept for the next draw if
//! those of all rows fit in 64 MB. Minibatches of more than 256 rows are split into neighborhoods.

use std::sync::{Arc, OnceLock};

use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;

use super::neighborhoods::{Directions, Points, check_size, even_size, means};
use super::registry::{DIMENSION, NEIGHBORHOOD, NEIGHBORHOOD_SIZE, SIGMA, SVD_SCALE};
use super::values::{IntrinsicDimension, Neighborhood};
use super::{Added, Batch, Draw, Fitted, HiddenInfo, Method, MethodInfo, RowProvenance};
use crate::anchors::ClusterScaling;
use crate::{Error, Mixing, Result, Samples, Seed, Stream};

/// The largest minibatch that is one neighborhood.
const LARGEST_BATCH: usize = 256;

/// Maximum number of values in the surfaces that are kept for the next draw: 64 MB.
const CACHE: usize = 1 << 23;

/// Curvature Enhanced Manifold Sampling.
///
/// | Setting | Default | Range | Meaning |
/// | :-- | :-- | :-- | :-- |
/// | `sigma` | `0.1` | `[0, 1e6]` | standard deviation of the step along the surface |
/// | `dimension` | [`IntrinsicDimension::Auto`] | `1, …` | dimension of the surface |
/// | `neighborhood` | [`Neighborhood::Auto`] | | which rows form a neighborhood: `Row`, on hidden layers the batch |
/// | `neighborhood_size` | `32` | `[2, 4096]` | rows of a neighborhood of a dataset or of a row |
/// | `svd_scale` | standardized | | scaling for distances, directions and `sigma` |
///
/// ```
/// use ndarray::{Array1, Array2};
/// use windlass::{Batch, Cems, Method, Samples, Seed};
///
/// // Rows on a line: synthetic rows are on it, too.
/// let x = Array2::from_shape_fn((20, 1), |(i, _)| i as f64);
/// let y = Array1::from_shape_fn(20, |i| 3.0 * i as f64 + 1.0);
/// let cems = Cems::default().fit(&Samples::new(x.view(), y.view())?, Seed(0))?;
/// let draw = cems.draw(Batch::All, Seed(0), 0)?;
/// let (x2, y2) = (draw.features(x.view())?, draw.targets(y.view())?);
/// assert!(x2 != x);
/// assert!(x2.iter().zip(&y2).all(|(x, y)| (y - (3.0 * x + 1.0)).abs() < 1e-9));
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the table explains each field")]
pub struct Cems {
    pub sigma: f64,
    pub dimension: IntrinsicDimension,
    pub neighborhood: Neighborhood,
    pub neighborhood_size: usize,
    pub svd_scale: ClusterScaling,
}

impl Default for Cems {
    fn default() -> Self {
        Self {
            sigma: 0.1,
            dimension: IntrinsicDimension::Auto,
            neighborhood: Neighborhood::Auto,
            neighborhood_size: 32,
            svd_scale: ClusterScaling::Standardized,
        }
    }
}

pub(super) static INFO: MethodInfo = MethodInfo {
    name: "cems",
    title: "CEMS",
    help: "Move rows along the curved surface of their neighborhood",
    on_hidden_layer: Some(HiddenInfo { name: "cems-manifold", title: "CEMS on the hidden layer" }),
    params: &[&SIGMA, &DIMENSION, &NEIGHBORHOOD, &NEIGHBORHOOD_SIZE, &SVD_SCALE],
    provenance: RowProvenance::Source,
    draws_together: true,
    search: &[&[&SIGMA]],
    in_tune: true,
    rare: false,
    in_comparisons: false,
    build: |params| {
        let default = Cems::default();
        Arc::new(Cems {
            sigma: params.sigma.unwrap_or(default.sigma),
            dimension: params.dimension.unwrap_or(default.dimension),
            neighborhood: params.neighborhood.unwrap_or(default.neighborhood),
            neighborhood_size: params.neighborhood_size.unwrap_or(default.neighborhood_size),
            svd_scale: params.svd_scale.unwrap_or(default.svd_scale),
        })
    },
};

impl Cems {
    /// Whether each row has its own neighborhood.
    fn has_own(&self) -> bool {
        [Neighborhood::Row, Neighborhood::Auto].contains(&self.neighborhood)
    }
}

impl Method for Cems {
    fn check(&self) -> Result<()> {
        let (name, got) = ("sigma", self.sigma);
        if !(0.0..=1e6).contains(&got) {
            return Err(Error::OutOfRange { name, range: "[0, 1e6]", got });
        }
        if self.dimension == IntrinsicDimension::Number(0) {
            return Err(Error::OutOfRange { name: "dimension", range: "[1, inf)", got: 0.0 });
        }
        check_size(self.neighborhood_size)
    }

    fn fit(&self, samples: &Samples<'_>, _seed: Seed) -> Result<Box<dyn Fitted>> {
        self.check()?;
        let points = Points::new(samples, self.svd_scale);
        let dimension = match self.dimension {
            IntrinsicDimension::Auto => points.dimension()?,
            IntrinsicDimension::Number(number) => number.min(points.columns() - 1).max(1),
        };
        let (cells, cell_of) =
            if self.has_own() { points.cells_of_rows() } else { (vec![], vec![]) };
        let unknowns = (dimension * (dimension + 3) / 2).min(self.neighborhood_size);
        let size = self.neighborhood_size + points.columns() * dimension + unknowns * unknowns;
        let cached =
            if self.has_own() && points.rows() * size <= CACHE { points.rows() } else { 0 };
        let surfaces = (0..cached).map(|_| OnceLock::new()).collect();
        let cems = self.clone();
        Ok(Box::new(FittedCems { points, dimension, cells, cell_of, surfaces, cems }))
    }
}

#[derive(Debug)]
struct FittedCems {
    points: Points,
    dimension: usize,
    /// The rows among which neighbors of a row are searched; empty if neighborhoods are shared.
    cells: Vec<Vec<usize>>,
    cell_of: Vec<usize>,
    /// The surface of every row, if all fit in [`CACHE`].
    surfaces: Vec<OnceLock<Surface>>,
    cems: Cems,
}

/// What does not depend on the draw: the nearest rows, B, and the factor of the ridge regression.
#[derive(Debug)]
struct Surface {
    neighbors: Vec<usize>,
    basis: Array2<f64>,
    factor: Array2<f64>,
}

/// The displacements of the rows of a draw, in the units of the data.
#[derive(Debug)]
pub(super) struct Displacements {
    pub(super) features: Array2<f64>,
    pub(super) targets: Array2<f64>,
    /// Whether the features are the outputs of a hidden layer.
    pub(super) hidden: bool,
}

/// Where a draw gets its random numbers.
#[derive(Clone, Copy)]
struct Source {
    seed: Seed,
    step: u64,
    sigma: f64,
}

impl Source {
    /// ν of a training row.
    fn tangent(self, row: usize, dimension: usize) -> Vec<f64> {
        let mut draws = self.seed.at(Stream::FeatureNoise, self.step, row as u64);
        (0..dimension).map(|_| self.sigma * draws.normal()).collect()
    }
}

impl FittedCems {
    /// Displaces all rows of a neighborhood, given their values.
    fn shared(
        &self,
        rows: &[usize],
        points: ArrayView2<'_, f64>,
        from: Source,
    ) -> Result<Array2<f64>> {
        let directions = Directions::of(points, &means(points))?;
        let dimension = self.dimension.min(directions.singular.len()).min(rows.len() - 1);
        let basis = directions.right.slice(ndarray::s![.., ..dimension]);
        let mut out = Array2::zeros(points.dim());
        if dimension == 0 {
            return Ok(out);
        }
        let local = points.dot(&basis);
        let designs: Vec<Array2<f64>> = (0..rows.len())
            .map(|row| {
                let others = (0..rows.len()).filter(|&other| other != row);
                let others: Vec<usize> = others.collect();
                design(&(local.select(Axis(0), &others) - local.row(row)))
            })
            .collect();
        let penalty = designs.iter().map(norm).sum::<f64>() / rows.len() as f64;
        for (row, design) in designs.iter().enumerate() {
            let factor = factorize(design, penalty);
            let others = (0..rows.len()).filter(|&other| other != row);
            let neighbors = others.map(|other| points.row(other));
            let tangent = from.tangent(rows[row], dimension);
            let mut to = out.row_mut(row);
            let to = to.as_slice_mut().expect("standard layout");
            displace(to, basis, &tangent, (design, &factor), (points.row(row), neighbors));
        }
        Ok(out)
    }

    /// The surface through the neighbors of a row.
    fn surface(&self, row: usize) -> Result<Surface> {
        let cell = &self.cells[self.cell_of[row]];
        let neighbors = self.points.nearest(row, cell, self.cems.neighborhood_size);
        let (center, points) = (self.points.select(&[row]), self.points.select(&neighbors));
        let directions = Directions::of(points.view(), center.as_slice().expect("one row"))?;
        let dimension = self.dimension.min(directions.singular.len());
        let basis = directions.right.slice(ndarray::s![.., ..dimension]).to_owned();
        let design = design(&(&points - &center.row(0)).dot(&basis));
        let factor = factorize(&design, norm(&design));
        Ok(Surface { neighbors, basis, factor })
    }

    /// Displaces a row by its own neighborhood.
    fn own(&self, row: usize, from: Source) -> Result<Vec<f64>> {
        let cached = self.surfaces.get(row);
        if let Some(surface) = cached.and_then(OnceLock::get) {
            return Ok(self.displaced(row, surface, from));
        }
        let surface = self.surface(row)?;
        let out = self.displaced(row, &surface, from);
        if let Some(cached) = cached {
            cached.get_or_init(|| surface);
        }
        Ok(out)
    }

    /// Displaces a row along a surface.
    fn displaced(&self, row: usize, surface: &Surface, from: Source) -> Vec<f64> {
        let Surface { neighbors, basis, factor } = surface;
        let (center, points) = (self.points.select(&[row]), self.points.select(neighbors));
        let design = design(&(&points - &center.row(0)).dot(basis));
        let tangent = from.tangent(row, basis.ncols());
        let mut out = vec![0.0; self.points.columns()];
        let neighbors = (center.row(0), points.rows().into_iter());
        displace(&mut out, basis.view(), &tangent, (&design, factor), neighbors);
        out
    }

    /// The draw of displacements in `units`.
    fn drawn(
        &self,
        sources: Option<&[usize]>,
        mut moved: Array2<f64>,
        units: &[f64],
        hidden: bool,
    ) -> Draw {
        for (mut column, unit) in moved.columns_mut().into_iter().zip(units) {
            column *= *unit;
        }
        let features = units.len() - (self.points.columns() - self.points.features);
        let (first, second) = moved.view().split_at(Axis(1), features);
        let standard = |side: ArrayView2<'_, f64>| side.as_standard_layout().into_owned();
        let (features, targets) = (standard(first), standard(second));
        let added = Added::Displacements(Arc::new(Displacements { features, targets, hidden }));
        let mixing = Mixing::identity(moved.nrows());
        Draw { added: Some(added), ..Draw::of(self.points.rows(), sources, mixing) }
    }

    /// The random numbers of a step; σ in the units of the points.
    fn source(&self, seed: Seed, step: u64) -> Source {
        let unit = match self.cems.svd_scale {
            ClusterScaling::Standardized => 1.0,
            ClusterScaling::Raw => self.points.units[0],
        };
        Source { seed, step, sigma: self.cems.sigma / unit }
    }

    fn unchanged(&self, sources: Option<&[usize]>) -> Draw {
        let rows = sources.map_or(self.points.rows(), <[usize]>::len);
        Draw::of(self.points.rows(), sources, Mixing::identity(rows))
    }
}

impl Fitted for FittedCems {
    fn rows(&self) -> usize {
        self.points.rows()
    }

    fn draw(&self, batch: Batch<'_>, seed: Seed, step: u64) -> Result<Draw> {
        let sources = batch.check(self.rows())?;
        if self.cems.sigma == 0.0 {
            return Ok(self.unchanged(sources));
        }
        let (from, neighborhood) = (self.source(seed, step), self.cems.neighborhood);
        let rows = sources.map_or_else(|| (0..self.rows()).collect(), <[usize]>::to_vec);
        let mut moved = Array2::zeros((rows.len(), self.points.columns()));
        if self.cems.has_own() {
            let out = moved.as_slice_mut().expect("standard layout");
            let width = self.points.columns();
            let own = |(out, &row): (&mut [f64], &usize)| -> Result<()> {
                out.copy_from_slice(&self.own(row, from)?);
                Ok(())
            };
            // A small batch stays on its thread, as in a forked process, which has no others.
            out.par_chunks_mut(width).zip(&rows).with_min_len(LARGEST_BATCH).try_for_each(own)?;
            return Ok(self.drawn(sources, moved, &self.points.units, false));
        }
        // Neighborhoods as lists of training rows; a row that occurs twice in a batch is displaced twice alike.
        let mut distinct = rows.clone();
        let size = if sources.is_some() && rows.len() <= LARGEST_BATCH {
            rows.len()
        } else {
            distinct.sort_unstable();
            distinct.dedup();
            let size = even_size(distinct.len(), self.cems.neighborhood_size);
            distinct = self.points.order(distinct, size, neighborhood, (seed, step));
            size
        };
        let parts: Vec<Array2<f64>> = distinct
            .par_chunks(size)
            .map(|rows| self.shared(rows, self.points.select(rows).view(), from))
            .collect::<Result<_>>()?;
        let mut place_of = vec![(0, 0); self.rows()];
        for (part, rows) in distinct.chunks(size).enumerate() {
            for (place, &row) in rows.iter().enumerate() {
                place_of[row] = (part, place);
            }
        }
        for (mut to, &row) in moved.rows_mut().into_iter().zip(&rows) {
            let (part, place) = place_of[row];
            to.assign(&parts[part].row(place));
        }
        Ok(self.drawn(sources, moved, &self.points.units, false))
    }

    fn order(&self, batch_size: usize, seed: Seed, epoch: u64) -> Option<Vec<usize>> {
        self.points.epoch_order(batch_size, self.cems.neighborhood, (seed, epoch))
    }

    fn follows_hidden(&self) -> bool {
        true
    }

    fn draw_hidden(
        &self,
        rows: &[usize],
        hidden: ArrayView2<'_, f64>,
        seed: Seed,
        step: u64,
    ) -> Result<Draw> {
        Batch::Rows(rows).check(self.rows())?;
        if self.cems.neighborhood == Neighborhood::Row {
            return Err(Error::NeedsBatches);
        }
        if self.cems.sigma == 0.0 {
            return Ok(self.unchanged(Some(rows)));
        }
        let (points, units) = self.points.with_hidden(rows, hidden, self.cems.svd_scale)?;
        let moved = self.shared(rows, points.view(), self.source(seed, step))?;
        Ok(self.drawn(Some(rows), moved, &units, true))
    }
}

/// ψ of every row.
fn design(local: &Array2<f64>) -> Array2<f64> {
    let d = local.ncols();
    let mut out = Array2::zeros((local.nrows(), d * (d + 3) / 2));
    for (u, mut out) in local.rows().into_iter().zip(out.rows_mut()) {
        let u: Vec<f64> = u.to_vec();
        features(&u, out.as_slice_mut().expect("standard layout"));
    }
    out
}

/// `ψ(u) = [u, ½uᵢ², uᵢuⱼ (i < j)]`.
fn features(u: &[f64], out: &mut [f64]) {
    let d = u.len();
    out[..d].copy_from_slice(u);
    let mut next = d;
    for i in 0..d {
        for j in i..d {
            out[next] = if i == j { 0.5 * u[i] * u[i] } else { u[i] * u[j] };
            next += 1;
        }
    }
}

/// The Frobenius norm.
fn norm(design: &Array2<f64>) -> f64 {
    design.iter().map(|value| value * value).sum::<f64>().sqrt()
}

/// The displacement `Bν + Σⱼ wⱼ(I − BBᵀ)(zⱼ − z)`.
fn displace<'a>(
    out: &mut [f64],
    basis: ArrayView2<'_, f64>,
    tangent: &[f64],
    (design, factor): (&Array2<f64>, &Array2<f64>),
    (center, neighbors): (
        ndarray::ArrayView1<'_, f64>,
        impl Iterator<Item = ndarray::ArrayView1<'a, f64>>,
    ),
) {
    let mut wanted = vec![0.0; design.ncols()];
    features(tangent, &mut wanted);
    for (neighbor, weight) in neighbors.zip(weights(design, factor, &wanted)) {
        for ((out, &z), &center) in out.iter_mut().zip(neighbor).zip(center) {
            *out += weight * (z - center);
        }
    }
    for (direction, &step) in basis.columns().into_iter().zip(tangent) {
        let inside: f64 = direction.iter().zip(&*out).map(|(b, out)| b * out).sum();
        for (out, &b) in out.iter_mut().zip(direction) {
            *out += (step - inside) * b;
        }
    }
}

/// `w = Ψ(ΨᵀΨ + penalty·I)⁻¹ψ = (ΨΨᵀ + penalty·I)⁻¹Ψψ`, by the factor of the smaller of the two matrices.
fn weights(design: &Array2<f64>, factor: &Array2<f64>, wanted: &[f64]) -> Vec<f64> {
    let wanted = ndarray::ArrayView1::from(wanted);
    let (rows, columns) = design.dim();
    if factor.is_empty() {
        return vec![0.0; rows];
    }
    if columns <= rows {
        design.dot(&ndarray::Array1::from(solve(factor, wanted.to_vec()))).to_vec()
    } else {
        solve(factor, design.dot(&wanted).to_vec())
    }
}

/// The Cholesky factor of `ΨᵀΨ + penalty·I` or `ΨΨᵀ + penalty·I`, the smaller of the two; empty if Ψ is 0.
fn factorize(design: &Array2<f64>, penalty: f64) -> Array2<f64> {
    if design.is_empty() || penalty == 0.0 {
        return Array2::zeros((0, 0));
    }
    let (rows, columns) = design.dim();
    let mut a = if columns <= rows { design.t().dot(design) } else { design.dot(&design.t()) };
    let n = a.nrows();
    for i in 0..n {
        a[(i, i)] += penalty;
    }
    for j in 0..n {
        for i in j..n {
            let dot: f64 = (0..j).map(|k| a[(i, k)] * a[(j, k)]).sum();
            let value = a[(i, j)] - dot;
            // Positive but for rounding, because the penalty is.
            a[(i, j)] =
                if i == j { value.max(f64::MIN_POSITIVE).sqrt() } else { value / a[(j, j)] };
        }
    }
    a
}

/// Solves `LLᵀx = b`.
fn solve(factor: &Array2<f64>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for i in 0..n {
        let dot: f64 = (0..i).map(|k| factor[(i, k)] * b[k]).sum();
        b[i] = (b[i] - dot) / factor[(i, i)];
    }
    for i in (0..n).rev() {
        let dot: f64 = (i + 1..n).map(|k| factor[(k, i)] * b[k]).sum();
        b[i] = (b[i] - dot) / factor[(i, i)];
    }
    b
}
