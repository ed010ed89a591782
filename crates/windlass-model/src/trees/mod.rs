//! Random forests, extra trees and boosted trees: the mean of regression trees.
//!
//! ```text
//! ŷ(x) = 1/B Σ_b t_b(x)
//! ```
//!
//! | model | a tree is grown on | thresholds |
//! | :-- | :-- | :-- |
//! | random forest | rows drawn with replacement, in proportion to their weights | the best |
//! | extra trees | all rows | the best of one random threshold per column |
//! | boosting | the residuals of the trees before it ([`boosting`]) | the best and random ones, in turn |
//!
//! A split sends `x ≤ threshold` to the left, and missing values (NaN) to the side that was better in training. Trees
//! of forests have a value for every target in each leaf. Every tree has random numbers of its own, so the same seed
//! gives the same bits on any number of threads.
//!
//! Breiman, *Random forests*, 2001, [doi:10.1023/A:1010933404324](https://doi.org/10.1023/A:1010933404324); Geurts,
//! Ernst and Wehenkel, *Extremely randomized trees*, 2006,
//! [doi:10.1007/s10994-006-6226-1](https://doi.org/10.1007/s10994-006-6226-1).
//!
//! ```
//! use ndarray::Array2;
//! use windlass::Seed;
//! use windlass_model::{ForestSettings, TreeData, TreeEnsemble};
//!
//! let x = Array2::from_shape_fn((100, 1), |(i, _)| i as f64);
//! let y = x.mapv(|x| if x < 50.0 { 0.0 } else { 1.0 });
//! let data = TreeData { x: x.view(), y: y.view(), weights: None };
//! let forest = TreeEnsemble::random_forest(data, &ForestSettings::default(), Seed(0))?;
//! let predicted = forest.predict(x.view())?;
//! assert!(predicted[(10, 0)] < 0.01 && predicted[(90, 0)] > 0.99);
//! # Ok::<(), windlass_model::Error>(())
//! ```

mod boosting;
mod builder;

use ndarray::{Array2, ArrayView2};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use windlass::{Dataset, Real, Samples, Seed, Stream};

use self::builder::{Builder, Features, Growth, Random, Thresholds, Tree};
use crate::Result;

pub use self::boosting::BoostingSettings;

/// The most trees of a target.
const MAX_TREES: usize = 10_000;
/// Rows that go through a tree together, while it is in the processor's cache.
const ROWS: usize = 256;
/// Leaves have smaller values; sums over trees cannot overflow.
const MAX_VALUE: f64 = f64::LIMIT * (1_u64 << 40) as f64;

/// How a random forest or extra trees are grown.
///
/// | Setting | Default | Range |
/// | :-- | :-- | :-- |
/// | `trees` | `200` | `1, …, 10000` |
/// | `features` | all columns | `1, …` |
/// | `leaf` | `1` | `1, …` |
/// | `depth` | none | `1, …` |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ForestSettings {
    /// Number of trees.
    pub trees: usize,
    /// Columns that are tried at a split, drawn anew for each; columns that are constant in a node are not counted.
    pub features: Option<usize>,
    /// Fewest distinct rows of a leaf.
    pub leaf: usize,
    /// The most splits between the root and a leaf.
    pub depth: Option<usize>,
}

impl Default for ForestSettings {
    fn default() -> Self {
        Self { trees: 200, features: None, leaf: 1, depth: None }
    }
}

impl ForestSettings {
    /// Returns an error for settings outside their range.
    pub fn check(&self) -> Result<()> {
        check_trees(self.trees)?;
        let counts = [("leaf", Some(self.leaf))];
        let optional = [("features", self.features), ("depth", self.depth)];
        for (name, value) in counts.into_iter().chain(optional) {
            if value == Some(0) {
                let range = "[1, inf)";
                return Err(windlass::Error::OutOfRange { name, range, got: 0.0 }.into());
            }
        }
        Ok(())
    }

    fn growth(&self, thresholds: Thresholds) -> Growth {
        Growth {
            thresholds,
            features: self.features.unwrap_or(usize::MAX),
            leaf: self.leaf,
            depth: self.depth.unwrap_or(usize::MAX),
            penalty: 0.0,
        }
    }
}

fn check_trees(trees: usize) -> Result<()> {
    if (1..=MAX_TREES).contains(&trees) {
        return Ok(());
    }
    let (name, range, got) = ("trees", "[1, 10000]", trees as f64);
    Err(windlass::Error::OutOfRange { name, range, got }.into())
}

/// The feature of a leaf.
const LEAF: u32 = u32::MAX;

/// A split or a leaf. Children are numbered inside their tree and come after their parent.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Node {
    threshold: f64,
    feature: u32,
    left: u32,
    right: u32,
    missing_left: bool,
}

/// Trees whose mean is the prediction.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeEnsemble {
    width: usize,
    targets: usize,
    nodes: Vec<Node>,
    /// Values of every node: one for each target, or one if every target has trees of its own.
    values: Vec<f64>,
    /// The first node of every tree; the trees of a target follow each other if it has trees of its own.
    starts: Vec<usize>,
}

/// Trees as lists of plain numbers, for files.
///
/// `feature`, `threshold`, `left`, `right` and `missing_left` have an entry for every node. A tree is the nodes from
/// its start to the next tree's, the root first.
#[derive(Debug, Clone, PartialEq)]
pub struct TreeArrays {
    /// The columns of rows.
    pub width: usize,
    /// The targets.
    pub targets: usize,
    /// The first node of every tree. If targets have trees of their own: those of the first target, then those of the
    /// second, as many for each.
    pub starts: Vec<u64>,
    /// The column that a split looks at; [`u32::MAX`] for a leaf.
    pub feature: Vec<u32>,
    /// What goes to the left at most; 0 for a leaf.
    pub threshold: Vec<f64>,
    /// The left child, counted from the tree's start; 0 for a leaf.
    pub left: Vec<u32>,
    /// The right child, likewise.
    pub right: Vec<u32>,
    /// Whether a split sends missing values to the left: 1 or 0. Empty is 0 for all.
    pub missing_left: Vec<u8>,
    /// The prediction of a leaf, 0 for a split: one value per target, or one value if targets have separate trees.
    pub value: Vec<f64>,
}

/// Rows to grow trees on. Unlike a [`Dataset`], `x` may have missing values (NaN).
#[derive(Debug, Clone, Copy)]
pub struct TreeData<'a> {
    /// The features, one row per sample.
    pub x: ArrayView2<'a, f64>,
    /// The targets, one row per sample.
    pub y: ArrayView2<'a, f64>,
    /// A weight for every row.
    pub weights: Option<&'a [f64]>,
}

impl<'a> From<&'a Dataset> for TreeData<'a> {
    fn from(data: &'a Dataset) -> Self {
        Self { x: data.x().view(), y: data.y().view(), weights: data.weights() }
    }
}

/// Training rows, checked, with targets that are centered and scaled so that their squares neither overflow nor vanish.
struct TrainingRows {
    features: Features,
    targets: usize,
    y: Vec<f64>,
    weights: Option<Vec<f64>>,
    center: Vec<f64>,
    scale: f64,
}

impl TrainingRows {
    fn new(TreeData { x, y, weights }: TreeData<'_>, thresholds: Thresholds) -> Result<Self> {
        // Missing values are allowed; everything else is checked as for other models.
        let present = x.mapv(|value| if value.is_nan() { 0.0 } else { value });
        let samples = Samples::new(present.view(), y)?;
        if let Some(weights) = weights {
            samples.with_weights(weights)?;
        }
        let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        let whole: f64 = (0..y.nrows()).map(weight).sum();
        let rows = y.nrows() as f64;
        let weights = weights.map(|all| all.iter().map(|one| one / whole * rows).collect());
        let center: Vec<f64> = y
            .columns()
            .into_iter()
            .map(|y| y.iter().enumerate().map(|(row, y)| y * (weight(row) / whole)).sum())
            .collect();
        let moved = || y.rows().into_iter().flat_map(|row| row.into_iter().zip(&center));
        let largest = moved().map(|(y, center)| (y - center).abs()).fold(0.0, f64::max);
        let scale = if largest > 0.0 { libm::ldexp(1.0, libm::frexp(largest).1) } else { 1.0 };
        let y = moved().map(|(y, center)| (y - center) / scale).collect();
        let (features, targets) = (Features::new(x, thresholds), center.len());
        Ok(Self { features, targets, y, weights, center, scale })
    }

    fn rows(&self) -> usize {
        self.y.len() / self.targets
    }
}

/// The random numbers of a tree.
fn random(seed: Seed, kind: u64, tree: usize) -> Random {
    // Step 0 of the stream belongs to samples of rows for k-means.
    Random(seed.at(Stream::Sample, kind, tree as u64).bits())
}

impl TreeEnsemble {
    /// Fits a random forest; trees draw rows in proportion to their weights.
    pub fn random_forest(
        data: TreeData<'_>,
        settings: &ForestSettings,
        seed: Seed,
    ) -> Result<Self> {
        settings.check()?;
        let data = TrainingRows::new(data, Thresholds::Best)?;
        let mut sum = 0.0;
        let bounds: Option<Vec<f64>> = data.weights.as_ref().map(|weights| {
            let add = |weight: &f64| {
                sum += weight;
                sum
            };
            weights.iter().map(add).collect()
        });
        let last = bounds.as_ref().map_or(0, |bounds| bounds.partition_point(|&b| b < sum));
        let growth = settings.growth(Thresholds::Best);
        Ok(data.grow_all(settings.trees, growth, |tree| {
            let mut random = random(seed, 1, tree);
            let mut drawn = vec![0.0; data.rows()];
            for _ in 0..data.rows() {
                let row = match &bounds {
                    None => random.below(data.rows()),
                    Some(bounds) => {
                        let at = random.uniform() * sum;
                        bounds.partition_point(|&bound| bound <= at).min(last)
                    }
                };
                drawn[row] += 1.0;
            }
            (drawn, random)
        }))
    }

    /// Fits extra trees.
    pub fn extra_trees(data: TreeData<'_>, settings: &ForestSettings, seed: Seed) -> Result<Self> {
        settings.check()?;
        let data = TrainingRows::new(data, Thresholds::Random)?;
        let growth = settings.growth(Thresholds::Random);
        Ok(data.grow_all(settings.trees, growth, |tree| {
            let weights = data.weights.clone().unwrap_or_else(|| vec![1.0; data.rows()]);
            (weights, random(seed, 2, tree))
        }))
    }

    /// The predictions for some rows, a column for every target.
    pub fn predict(&self, x: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        if x.ncols() != self.width {
            let (expected, got) = (self.width, x.ncols());
            return Err(windlass::Error::ColumnMismatch { what: "x", expected, got }.into());
        }
        if let Some(((row, column), &value)) = x.indexed_iter().find(|(_, x)| x.is_infinite()) {
            return Err(windlass::Error::NotFinite { what: "x", row, column, value }.into());
        }
        let x = x.as_standard_layout();
        let rows = x.as_slice().expect("standard layout");
        let (outputs, targets) = (self.outputs(), self.targets);
        let each = self.trees() * outputs / targets;
        let mut out = vec![0.0; x.nrows() * targets];
        out.par_chunks_mut(ROWS * targets).zip(rows.par_chunks(ROWS * self.width)).for_each(
            |(out, rows)| {
                for (number, (start, tree)) in self.each_tree().enumerate() {
                    let target = if outputs == targets { 0 } else { number / each };
                    let out = out.chunks_exact_mut(targets);
                    for (out, row) in out.zip(rows.chunks_exact(self.width)) {
                        let values = &self.values[(start + leaf(tree, row)) * outputs..][..outputs];
                        out[target..].iter_mut().zip(values).for_each(|(out, value)| *out += value);
                    }
                }
                for out in out {
                    *out /= each as f64;
                }
            },
        );
        Ok(Array2::from_shape_vec((x.nrows(), targets), out).expect("a row for every row"))
    }

    /// The number of trees; if targets have separate trees, the total.
    #[must_use]
    pub fn trees(&self) -> usize {
        self.starts.len()
    }

    /// The number of splits and leaves.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The columns that rows must have.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of targets.
    #[must_use]
    pub fn targets(&self) -> usize {
        self.targets
    }

    /// Values of a leaf: one for every target, or one.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.values.len() / self.nodes.len()
    }

    /// Every tree with its first node's number.
    fn each_tree(&self) -> impl Iterator<Item = (usize, &[Node])> {
        let ends = self.starts[1..].iter().copied().chain([self.nodes.len()]);
        self.starts.iter().zip(ends).map(|(&start, end)| (start, &self.nodes[start..end]))
    }

    /// The trees as lists of numbers.
    #[must_use]
    pub fn to_arrays(&self) -> TreeArrays {
        TreeArrays {
            width: self.width,
            targets: self.targets,
            starts: self.starts.iter().map(|&start| start as u64).collect(),
            feature: self.nodes.iter().map(|node| node.feature).collect(),
            threshold: self.nodes.iter().map(|node| node.threshold).collect(),
            left: self.nodes.iter().map(|node| node.left).collect(),
            right: self.nodes.iter().map(|node| node.right).collect(),
            missing_left: self.nodes.iter().map(|node| node.missing_left.into()).collect(),
            value: self.values.clone(),
        }
    }

    /// Reads trees from lists, or returns what is wrong with them. Everything is validated, so that predictions are
    /// finite
    /// for every row.
    pub fn from_arrays(arrays: TreeArrays) -> Result<Self, String> {
        let TreeArrays { width, targets, starts, feature, threshold, left, right, .. } = arrays;
        let TreeArrays { mut missing_left, value, .. } = arrays;
        let count = feature.len();
        if missing_left.is_empty() {
            missing_left.resize(count, 0);
        }
        if [threshold.len(), left.len(), right.len(), missing_left.len()] != [count; 4] {
            return Err("the lists of the nodes of trees differ in length".into());
        }
        if width == 0 {
            return Err("trees have no columns to look at".into());
        }
        // Targets share trees if leaves have a value for each.
        let shared = Some(value.len()) == count.checked_mul(targets);
        if !shared && value.len() != count {
            return Err("the lists of the nodes of trees differ in length".into());
        }
        let own = if shared { 1 } else { targets };
        if targets == 0 || starts.is_empty() || starts.len() % own != 0 {
            let trees = starts.len();
            return Err(format!("{trees} trees cannot be shared by {targets} targets"));
        }
        let ends = starts[1..].iter().copied().chain([count as u64]);
        if starts[0] != 0 || !starts.iter().zip(ends).all(|(&start, end)| start < end) {
            return Err("trees overlap, or have no nodes".into());
        }
        let starts = starts.iter().map(|&start| usize::try_from(start));
        let starts: Vec<usize> = starts.collect::<Result<_, _>>().expect("below a length");
        let node = |at: usize| match feature[at] {
            LEAF => Node { threshold: 0.0, feature: LEAF, left: 0, right: 0, missing_left: false },
            feature => Node {
                threshold: threshold[at],
                feature,
                left: left[at],
                right: right[at],
                missing_left: missing_left[at] != 0,
            },
        };
        let nodes = (0..count).map(node).collect();
        let ensemble = Self { width, targets, nodes, values: value, starts };
        ensemble.check()?;
        Ok(ensemble)
    }

    fn check(&self) -> Result<(), String> {
        let outputs = self.outputs();
        for (number, (start, tree)) in self.each_tree().enumerate() {
            for (place, node) in tree.iter().enumerate() {
                let bad = |what: &str| Err(format!("node {place} of tree {number} {what}"));
                let values = &self.values[(start + place) * outputs..][..outputs];
                let small = |value: f64, limit: f64| value.abs() < limit;
                if !small(node.threshold, f64::LIMIT)
                    || !values.iter().all(|&v| small(v, MAX_VALUE))
                {
                    return bad("has a number that is too large or none");
                }
                if node.feature == LEAF {
                    continue;
                }
                if node.feature as usize >= self.width {
                    return bad("looks at a column that is not there");
                }
                let after = |child: u32| (place + 1..tree.len()).contains(&(child as usize));
                if !(after(node.left) && after(node.right)) {
                    return bad("has a child that does not come after it in its tree");
                }
            }
        }
        Ok(())
    }
}

impl TrainingRows {
    /// Grows trees in parallel; `draw` gives the weights of rows and the random numbers of a tree.
    fn grow_all(
        &self,
        trees: usize,
        growth: Growth,
        draw: impl Fn(usize) -> (Vec<f64>, Random) + Sync,
    ) -> TreeEnsemble {
        let grow = |builder: &mut Builder<'_>, tree: usize| {
            let (weights, mut random) = draw(tree);
            builder.grow(&self.y, &weights, &mut random)
        };
        let trees: Vec<Tree> = (0..trees)
            .into_par_iter()
            .map_init(|| Builder::new(&self.features, self.targets, growth), grow)
            .collect();
        self.ensemble(trees, |value, _, target| value * self.scale + self.center[target])
    }

    /// Puts trees together; `unscale` gives a value of a leaf of a tree in the units of its target.
    fn ensemble(
        &self,
        trees: Vec<Tree>,
        unscale: impl Fn(f64, usize, usize) -> f64,
    ) -> TreeEnsemble {
        let (mut nodes, mut values, mut starts) = (vec![], vec![], vec![]);
        for (number, tree) in trees.into_iter().enumerate() {
            starts.push(nodes.len());
            let outputs = tree.values.len() / tree.nodes.len();
            for (node, own) in tree.nodes.iter().zip(tree.values.chunks_exact(outputs)) {
                let value = |(output, &value): (usize, &f64)| match node.feature {
                    LEAF => unscale(value, number, output),
                    _ => 0.0,
                };
                values.extend(own.iter().enumerate().map(value));
            }
            nodes.extend(tree.nodes);
        }
        let (width, targets) = (self.features.width(), self.targets);
        TreeEnsemble { width, targets, nodes, values, starts }
    }
}

/// The leaf of a row, as a place in its tree.
fn leaf(tree: &[Node], row: &[f64]) -> usize {
    let mut place = 0;
    loop {
        let node = &tree[place];
        if node.feature == LEAF {
            return place;
        }
        let value = row[node.feature as usize];
        let left = value <= node.threshold || (node.missing_left && value.is_nan());
        place = if left { node.left } else { node.right } as usize;
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Array2, Axis, array, concatenate, s};
    use windlass::{Seed, Stream};

    use super::builder::{Builder, Thresholds};
    use super::{
        BoostingSettings, ForestSettings, LEAF, Node, TrainingRows, TreeArrays, TreeData,
        TreeEnsemble, random,
    };

    fn uniform(rows: usize, columns: usize) -> Array2<f64> {
        Array2::from_shape_fn((rows, columns), |(i, j)| {
            Seed(3).at(Stream::FeatureNoise, j as u64, i as u64).uniform()
        })
    }

    /// A step and a line, each in a column of its own.
    fn targets(x: &Array2<f64>) -> Array2<f64> {
        Array2::from_shape_fn((x.nrows(), 2), |(i, target)| match target {
            0 => f64::from(u8::from(x[(i, 1)] > 0.4)),
            _ => 3.0 * x[(i, 0)] - 2.0 * x[(i, 1)],
        })
    }

    fn mean_square(values: &Array2<f64>) -> Array1<f64> {
        values.mapv(|value| value * value).mean_axis(Axis(0)).expect("rows")
    }

    fn small() -> ForestSettings {
        ForestSettings { trees: 45, features: Some(2), leaf: 2, depth: Some(6) }
    }

    fn few() -> BoostingSettings {
        BoostingSettings { trees: 60, ..BoostingSettings::default() }
    }

    type Fit = fn(&Array2<f64>, &Array2<f64>, Option<&[f64]>, Seed) -> super::Result<TreeEnsemble>;

    fn rows<'a>(
        x: &'a Array2<f64>,
        y: &'a Array2<f64>,
        weights: Option<&'a [f64]>,
    ) -> TreeData<'a> {
        TreeData { x: x.view(), y: y.view(), weights }
    }

    /// All three, with settings away from their defaults.
    const EVERY: [(&str, Fit); 3] = [
        ("forest", |x, y, w, seed| TreeEnsemble::random_forest(rows(x, y, w), &small(), seed)),
        ("extra trees", |x, y, w, seed| TreeEnsemble::extra_trees(rows(x, y, w), &small(), seed)),
        ("boosting", |x, y, w, seed| TreeEnsemble::boosting(rows(x, y, w), &few(), seed)),
    ];

    /// A single tree with the best thresholds on all rows.
    fn one_tree(
        x: &Array2<f64>,
        y: &Array2<f64>,
        weights: Option<&[f64]>,
        settings: &ForestSettings,
    ) -> TreeEnsemble {
        let data = TrainingRows::new(rows(x, y, weights), Thresholds::Best).unwrap();
        data.grow_all(1, settings.growth(Thresholds::Best), |tree| {
            let weights = data.weights.clone().unwrap_or_else(|| vec![1.0; data.rows()]);
            (weights, random(Seed(0), 1, tree))
        })
    }

    #[test]
    fn learns_a_step_and_a_line() {
        let x = uniform(400, 3);
        let y = targets(&x);
        let (fitted, held) = (x.slice(s![..300, ..]).to_owned(), x.slice(s![300.., ..]));
        let (known, truth) = (y.slice(s![..300, ..]).to_owned(), y.slice(s![300.., ..]));
        let of_mean = mean_square(&(&truth - &known.mean_axis(Axis(0)).unwrap()));
        for (name, fit) in EVERY {
            let trees = fit(&fitted, &known, None, Seed(1)).unwrap();
            let errors = mean_square(&(&trees.predict(held).unwrap() - &truth));
            for (error, of_mean) in errors.iter().zip(&of_mean) {
                assert!(*error < 0.15 * of_mean, "{name}: {error} against {of_mean}");
            }
            assert_eq!((trees.targets(), trees.width()), (2, 3));
        }
    }

    /// Predictions of scikit-learn's single trees; the script that made the file is `make_trees.py`.
    #[test]
    fn a_single_tree_is_that_of_scikit_learn() {
        let golden = include_str!("../../tests/golden_trees.json");
        let golden: serde_json::Value = serde_json::from_str(golden).unwrap();
        let matrix = |case: &serde_json::Value, name: &str| {
            let rows: Vec<Vec<Option<f64>>> = serde_json::from_value(case[name].clone()).unwrap();
            let shape = (rows.len(), rows[0].len());
            Array2::from_shape_fn(shape, |(i, j)| rows[i][j].unwrap_or(f64::NAN))
        };
        let cases = golden["cases"].as_array().unwrap();
        assert!(cases.len() >= 5);
        for case in cases {
            let (x, y, new) = (matrix(case, "x"), matrix(case, "y"), matrix(case, "new"));
            let weights: Option<Vec<f64>> =
                serde_json::from_value(case["weights"].clone()).unwrap();
            let leaf = usize::try_from(case["leaf"].as_u64().unwrap()).unwrap();
            let depth: Option<usize> = serde_json::from_value(case["depth"].clone()).unwrap();
            let settings = ForestSettings { leaf, depth, ..ForestSettings::default() };
            let tree = one_tree(&x, &y, weights.as_deref(), &settings);
            let (predicted, expected) =
                (tree.predict(new.view()).unwrap(), matrix(case, "predicted"));
            for (row, (got, expected)) in predicted.iter().zip(&expected).enumerate() {
                let close = (got - expected).abs() < 1e-9 * (1.0 + expected.abs());
                assert!(close, "{}: value {row}: {got}, {expected}", case["name"]);
            }
        }
    }

    #[test]
    fn weights_are_repetitions() {
        let (x, weights) = (uniform(60, 3), (0..60).map(|row| f64::from(row % 3)));
        let (y, weights) = (targets(&x), weights.collect::<Vec<_>>());
        let repeated: Vec<usize> = (0..60).flat_map(|row| vec![row; row % 3]).collect();
        let (rx, ry) = (x.select(Axis(0), &repeated), y.select(Axis(0), &repeated));
        let settings = ForestSettings { depth: Some(4), ..ForestSettings::default() };
        let weighted = one_tree(&x, &y, Some(&weights), &settings).predict(x.view()).unwrap();
        let repeated = one_tree(&rx, &ry, None, &settings).predict(x.view()).unwrap();
        assert!((&weighted - &repeated).iter().all(|off| off.abs() < 1e-9));
    }

    #[test]
    fn same_seed_same_bits_on_any_number_of_threads() {
        let x = uniform(300, 3);
        let y = targets(&x);
        for (name, fit) in EVERY {
            let run = |threads: usize, seed: u64| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let trees = fit(&x, &y, None, Seed(seed)).unwrap();
                    let predicted = trees.predict(x.view()).unwrap();
                    (trees, predicted)
                })
            };
            assert_eq!(run(1, 5), run(4, 5), "{name}");
            assert_ne!(run(1, 5), run(1, 6), "{name}");
        }
    }

    #[test]
    fn trees_differ() {
        let x = uniform(50, 2);
        let y = targets(&x);
        for (name, fit) in EVERY {
            let trees = fit(&x, &y, None, Seed(0)).unwrap();
            let outputs = trees.outputs();
            let values = |start: usize, nodes: &[Node]| {
                trees.values[start * outputs..(start + nodes.len()) * outputs].to_vec()
            };
            let trees: Vec<_> = trees
                .each_tree()
                .map(|(start, nodes)| (nodes.to_vec(), values(start, nodes)))
                .collect();
            for (place, tree) in trees.iter().enumerate() {
                assert!(!trees[..place].contains(tree), "{name}: tree {place} is another's copy");
            }
        }
    }

    #[test]
    fn leaf_and_depth_bound_trees() {
        let x = uniform(200, 3);
        let y = targets(&x);
        for fit in [TreeEnsemble::random_forest, TreeEnsemble::extra_trees] {
            let nodes = |leaf, depth| {
                let settings =
                    ForestSettings { trees: 3, leaf, depth, ..ForestSettings::default() };
                let forest = fit(rows(&x, &y, None), &settings, Seed(0)).unwrap();
                forest.each_tree().map(|(_, tree)| tree.len()).max().unwrap()
            };
            assert_eq!(nodes(1, Some(1)), 3);
            assert_eq!(nodes(1, Some(2)), 7);
            // Leaves of at least 20 of at most 200 rows: at most 10 of them.
            assert!(nodes(20, None) <= 19 && nodes(1, None) > 100);
            assert_eq!(nodes(1, None), nodes(1, Some(usize::MAX)));
            assert_eq!(nodes(usize::MAX, None), 1);
        }
        let settings = BoostingSettings { depth: 2, ..few() };
        let trees = TreeEnsemble::boosting(rows(&x, &y, None), &settings, Seed(0)).unwrap();
        assert!(trees.each_tree().all(|(_, tree)| tree.len() <= 7));
    }

    /// Some columns alone decide the target, with every number of columns that a split tries.
    #[test]
    fn few_features_still_split_on_the_columns_that_vary() {
        let mut x = Array2::zeros((40, 6));
        x.column_mut(4).assign(&uniform(40, 1).column(0));
        let y = x.column(4).mapv(|x| 10.0 * x).insert_axis(Axis(1));
        let settings = ForestSettings { features: Some(1), trees: 20, ..ForestSettings::default() };
        for fit in [TreeEnsemble::random_forest, TreeEnsemble::extra_trees] {
            let trees = fit(rows(&x, &y, None), &settings, Seed(0)).unwrap();
            let error = mean_square(&(&trees.predict(x.view()).unwrap() - &y))[0];
            assert!(error < 0.1, "{error}");
        }
    }

    #[test]
    fn rows_without_weight_do_not_count() {
        let x = uniform(60, 2);
        let weights: Vec<f64> = (0..60).map(|row| f64::from(row % 2)).collect();
        let y = Array2::from_shape_fn((60, 1), |(row, _)| if row % 2 == 1 { 7.0 } else { 1000.0 });
        for (name, fit) in EVERY {
            let trees = fit(&x, &y, Some(&weights), Seed(0)).unwrap();
            let predicted = trees.predict(x.view()).unwrap();
            assert!(predicted.iter().all(|value| (value - 7.0).abs() < 1e-9), "{name}");
            let refused = fit(&x, &y, Some(&[0.0; 60]), Seed(0)).unwrap_err();
            assert_eq!(refused.to_string(), "all row weights are zero");
            // The scale of weights does not matter.
            let tiny: Vec<f64> = weights.iter().map(|weight| weight * 0.5_f64.powi(600)).collect();
            assert_eq!(fit(&x, &y, Some(&tiny), Seed(0)).unwrap(), trees, "{name}");
        }
    }

    /// A constant column, one row, two rows, duplicates, a constant target, more columns than rows, huge targets.
    #[test]
    fn small_and_strange_tables() {
        for (name, fit) in EVERY {
            let fit = |x: &Array2<f64>, y: &Array2<f64>| fit(x, y, None, Seed(0)).unwrap();
            let trees = fit(&array![[1.0], [1.0], [1.0]], &array![[0.0], [3.0], [6.0]]);
            assert_eq!(trees.nodes(), trees.trees(), "{name}");
            let trees = fit(&array![[1.0, 2.0]], &array![[5.0]]);
            assert_eq!(trees.predict(array![[9.0, 9.0]].view()).unwrap(), array![[5.0]]);
            let trees = fit(&array![[1.0], [2.0]], &array![[1.0], [2.0]]);
            let predicted = trees.predict(array![[1.0], [2.0]].view()).unwrap();
            assert!(predicted.iter().all(|value| (0.9..=2.1).contains(value)), "{name}");
            let x = uniform(5, 40);
            let trees = fit(&x, &targets(&x));
            assert!(trees.predict(x.view()).unwrap().iter().all(|value| value.is_finite()));
            assert_eq!(trees.predict(Array2::zeros((0, 40)).view()).unwrap().dim(), (0, 2));
            let constant = fit(&x, &Array2::from_elem((5, 1), 0.1));
            assert!(
                constant.predict(x.view()).unwrap().iter().all(|value| (value - 0.1).abs() < 1e-15)
            );
            for size in [1e270, 1e-300] {
                let x = uniform(30, 2);
                let y = targets(&x).mapv(|y| y * size);
                let trees = fit(&x, &y);
                assert!(trees.nodes() > trees.trees(), "{name}, {size}");
                let again = TreeEnsemble::from_arrays(trees.to_arrays()).unwrap();
                assert!(again.predict(x.view()).unwrap().iter().all(|value| value.is_finite()));
            }
            let twice = concatenate![Axis(0), uniform(30, 2), uniform(30, 2)];
            let y = targets(&twice);
            assert!(fit(&twice, &y).predict(twice.view()).unwrap().iter().all(|v| v.is_finite()));
        }
    }

    /// A missing value says more than the values: it goes to its own side, also if only present values were seen.
    #[test]
    fn missing_values_go_to_the_better_side() {
        let mut x = uniform(200, 2);
        x.slice_mut(s![..80, 0]).fill(f64::NAN);
        let known = Array2::from_shape_fn((200, 1), |(row, _)| match x[(row, 0)] {
            value if value.is_nan() => 5.0,
            value => value,
        });
        for (name, fit) in EVERY {
            let trees = fit(&x, &known, None, Seed(0)).unwrap();
            let error = mean_square(&(&trees.predict(x.view()).unwrap() - &known))[0];
            assert!(error < 0.1, "{name}: {error}");
            let full = x.slice(s![80.., ..]).to_owned();
            let trees = fit(&full, &known.slice(s![80.., ..]).to_owned(), None, Seed(0)).unwrap();
            let predicted = trees.predict(array![[f64::NAN, 0.5]].view()).unwrap();
            assert!((-0.1..1.1).contains(&predicted[(0, 0)]), "{name}: {predicted}");
            let all_missing = Array2::from_elem((200, 2), f64::NAN);
            let trees = fit(&all_missing, &known, None, Seed(0)).unwrap();
            assert_eq!(trees.nodes(), trees.trees());
        }
        // Present values that are all equal are split from missing ones, and no child is empty.
        let flag =
            Array2::from_shape_fn((31, 1), |(row, _)| if row % 3 == 0 { f64::NAN } else { 0.1 });
        let weights: Vec<f64> = (0..31).map(|row| 0.1 * f64::from(1 + row % 7)).collect();
        let y =
            Array2::from_shape_fn((31, 1), |(row, _)| (row % 3).min(1) as f64 + 0.01 * row as f64);
        for (name, fit) in EVERY {
            let trees = fit(&flag, &y, Some(&weights), Seed(0)).unwrap();
            let predicted = trees.predict(array![[f64::NAN], [0.1]].view()).unwrap();
            assert!(predicted[(1, 0)] - predicted[(0, 0)] > 0.7, "{name}: {predicted}");
        }
        // A single tree finds the split between missing and present values.
        let settings = ForestSettings { depth: Some(1), ..ForestSettings::default() };
        let tree = one_tree(&x, &known, None, &settings);
        let predicted = tree.predict(x.view()).unwrap();
        assert!(predicted.iter().take(80).all(|value| (value - 5.0).abs() < 1e-12));
    }

    #[test]
    fn refuses_bad_settings_and_rows() {
        let (x, y) = (array![[1.0], [2.0]], array![[1.0], [2.0]]);
        let default = ForestSettings::default;
        for (name, settings) in [
            ("trees", ForestSettings { trees: 0, ..default() }),
            ("features", ForestSettings { features: Some(0), ..default() }),
            ("leaf", ForestSettings { leaf: 0, ..default() }),
            ("depth", ForestSettings { depth: Some(0), ..default() }),
        ] {
            for fit in [TreeEnsemble::random_forest, TreeEnsemble::extra_trees] {
                let refused = fit(rows(&x, &y, None), &settings, Seed(0)).unwrap_err();
                let range = if name == "trees" { "[1, 10000]" } else { "[1, inf)" };
                assert_eq!(refused.to_string(), format!("{name} must be in {range}, got 0"));
            }
        }
        let default = BoostingSettings::default;
        for (why, settings) in [
            (
                "trees must be in [1, 10000], got 10001",
                BoostingSettings { trees: 10_001, ..default() },
            ),
            ("depth must be in [1, inf), got 0", BoostingSettings { depth: 0, ..default() }),
            (
                "learning_rate must be in (0, 1], got 0",
                BoostingSettings { learning_rate: Some(0.0), ..default() },
            ),
            (
                "learning_rate must be in (0, 1], got NaN",
                BoostingSettings { learning_rate: Some(f64::NAN), ..default() },
            ),
            (
                "penalty must be in [0, 1e6], got -1",
                BoostingSettings { penalty: -1.0, ..default() },
            ),
        ] {
            let refused = TreeEnsemble::boosting(rows(&x, &y, None), &settings, Seed(0));
            assert_eq!(refused.unwrap_err().to_string(), why);
        }
        let bad = array![[1.0], [f64::INFINITY]];
        for (_, fit) in EVERY {
            let refused = fit(&bad, &y, None, Seed(0)).unwrap_err();
            assert_eq!(refused.to_string(), "x must be finite, got inf in row 1, column 0");
            let trees = fit(&x, &y, None, Seed(0)).unwrap();
            let refused = trees.predict(bad.view()).unwrap_err();
            assert_eq!(refused.to_string(), "x must be finite, got inf in row 1, column 0");
            let refused = trees.predict(array![[1.0, 2.0]].view()).unwrap_err();
            assert_eq!(refused.to_string(), "x must have 1 columns, got 2");
        }
    }

    #[test]
    fn arrays_give_the_trees_back() {
        let mut x = uniform(80, 3);
        x[(3, 1)] = f64::NAN;
        let y = Array2::from_shape_fn((80, 2), |(row, target)| x[(row, 2 * target)]);
        for (name, fit) in EVERY {
            let trees = fit(&x, &y, None, Seed(2)).unwrap();
            let arrays = trees.to_arrays();
            assert!(arrays.feature.contains(&LEAF) && arrays.feature.contains(&2));
            assert_eq!(trees.outputs(), if name == "boosting" { 1 } else { 2 });
            let again = TreeEnsemble::from_arrays(arrays.clone()).unwrap();
            assert_eq!(again, trees);
            assert_eq!(again.to_arrays(), arrays);
        }
    }

    /// Two trees: a split with two leaves, and a leaf.
    fn two_trees() -> TreeArrays {
        TreeArrays {
            width: 2,
            targets: 1,
            starts: vec![0, 3],
            feature: vec![1, LEAF, LEAF, LEAF],
            threshold: vec![0.5, 0.0, 0.0, 0.0],
            left: vec![1, 0, 0, 0],
            right: vec![2, 0, 0, 0],
            missing_left: vec![],
            value: vec![0.0, 4.0, 6.0, 10.0],
        }
    }

    #[test]
    fn equal_to_the_threshold_goes_left() {
        let trees = TreeEnsemble::from_arrays(two_trees()).unwrap();
        let x = array![[9.0, 0.5], [0.0, 0.5_f64.next_up()], [0.0, f64::NAN]];
        assert_eq!(trees.predict(x.view()).unwrap(), array![[7.0], [8.0], [8.0]]);
        let left = TreeArrays { missing_left: vec![1, 0, 0, 0], ..two_trees() };
        let trees = TreeEnsemble::from_arrays(left).unwrap();
        assert_eq!(trees.predict(x.view()).unwrap(), array![[7.0], [8.0], [7.0]]);
        // Each target has a tree of its own, as in files of 0.1.0; or both share the trees.
        let own = TreeEnsemble::from_arrays(TreeArrays { targets: 2, ..two_trees() }).unwrap();
        assert_eq!(own.predict(x.slice(s![..1, ..])).unwrap(), array![[4.0, 10.0]]);
        let value = vec![0.0, 0.0, 4.0, 1.0, 6.0, 2.0, 10.0, 3.0];
        let shared = TreeArrays { targets: 2, value, ..two_trees() };
        let shared = TreeEnsemble::from_arrays(shared).unwrap();
        assert_eq!(shared.predict(x.slice(s![..1, ..])).unwrap(), array![[7.0, 2.0]]);
    }

    #[test]
    fn crafted_arrays_are_refused() {
        type Spoil = fn(&mut TreeArrays);
        let cases: &[(&str, Spoil)] = &[
            ("differ in length", |a| a.left.truncate(3)),
            ("differ in length", |a| a.value.push(1.0)),
            ("no columns", |a| a.width = 0),
            ("2 trees cannot be shared by 0", |a| a.targets = 0),
            ("2 trees cannot be shared by 3", |a| a.targets = 3),
            ("0 trees cannot", |a| a.starts.clear()),
            ("overlap", |a| a.starts = vec![1, 3]),
            ("overlap", |a| a.starts = vec![0, 0]),
            ("overlap", |a| a.starts = vec![0, 4]),
            ("overlap", |a| a.starts = vec![0, u64::MAX]),
            ("node 0 of tree 0 looks at a column", |a| a.feature[0] = 2),
            ("node 0 of tree 0 has a child", |a| a.left[0] = 0),
            ("node 0 of tree 0 has a child", |a| a.right[0] = 3),
            ("node 0 of tree 1 has a child", |a| a.feature[3] = 0),
            ("node 0 of tree 0 has a number", |a| a.threshold[0] = f64::NAN),
            ("node 0 of tree 0 has a number", |a| a.threshold[0] = f64::NEG_INFINITY),
            ("node 1 of tree 0 has a number", |a| a.value[1] = f64::INFINITY),
            ("node 0 of tree 1 has a number", |a| a.value[3] = f64::MAX),
            ("differ in length", |a| a.missing_left = vec![1]),
            ("differ in length", |a| a.value = vec![1.0; 8]),
        ];
        for (why, spoil) in cases {
            let mut arrays = two_trees();
            spoil(&mut arrays);
            let refused = TreeEnsemble::from_arrays(arrays).unwrap_err();
            assert!(refused.contains(why), "{refused} instead of {why}");
        }
    }

    /// Pinned: another generator or another order of sums gives every seed other trees.
    #[test]
    fn test_vectors() {
        let x = uniform(60, 3);
        let y = targets(&x);
        let bits = EVERY.map(|(_, fit)| {
            let trees = fit(&x, &y, None, Seed(42)).unwrap();
            let predicted = trees.predict(array![[0.3, 0.5, 0.7]].view()).unwrap();
            predicted.iter().map(|value| value.to_bits()).collect::<Vec<u64>>()
        });
        let expected = [
            [4_606_615_298_846_941_123, 13_809_087_553_696_702_928],
            [4_605_604_230_002_349_111, 13_799_498_926_481_107_512],
            [4_606_778_712_904_616_155, 13_817_811_623_728_251_524],
        ];
        assert_eq!(bits, expected);
    }

    /// Trees do not depend on those that a builder has grown before.
    #[test]
    fn a_builder_can_be_used_again() {
        let x = uniform(40, 3);
        let y = targets(&x);
        for thresholds in [Thresholds::Best, Thresholds::Random] {
            let data = TrainingRows::new(rows(&x, &y, None), thresholds).unwrap();
            let mut builder = Builder::new(&data.features, 2, small().growth(thresholds));
            let mut grow = || builder.grow(&data.y, &[1.0; 40], &mut random(Seed(0), 1, 0));
            let (first, second) = (grow(), grow());
            assert_eq!((&first.nodes, &first.values), (&second.nodes, &second.values));
        }
    }
}
