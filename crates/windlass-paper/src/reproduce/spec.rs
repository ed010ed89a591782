//! The specification of an experiment: its TOML file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use windlass::ClusterOn;
use windlass_compare::{MethodName, ModelName, Run};
use windlass_model::Scaling;
use windlass_train::{Activation, FittedOn, Optimizer, Shuffle, TrainConfig};

use super::dataset::{DatasetSpec, PreprocessingScope};
use crate::networks::NetworkSpec;
use crate::{Error, Result, deep};

/// An experiment of the paper.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Experiment {
    /// Its name.
    #[serde(skip)]
    pub name: String,
    /// Its heading.
    pub title: String,
    /// Its place in the paper.
    pub paper: String,
    /// A short description.
    pub about: String,
    /// Named lists of candidates that several parts share.
    #[serde(default)]
    candidates: BTreeMap<String, Vec<CandidateGrid>>,
    /// The comparisons.
    #[serde(default)]
    pub part: Vec<ExperimentPart>,
    /// The pictures.
    #[serde(default)]
    pub picture: Vec<Picture>,
}

impl Experiment {
    /// Reads a file.
    pub fn parse(name: &str, text: &str) -> Result<Self> {
        let bad = |why: String| Error::BadExperiment { name: name.to_owned(), why };
        let mut experiment: Self = toml::from_str(text).map_err(|error| bad(error.to_string()))?;
        name.clone_into(&mut experiment.name);
        for part in &mut experiment.part {
            if let Some(name) = &part.candidates {
                let shared = experiment.candidates.get(name);
                let shared =
                    shared.ok_or_else(|| bad(format!("there are no candidates `{name}`")))?;
                part.candidate.extend(shared.iter().cloned());
            }
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            if part.name.is_empty() || !part.name.chars().all(plain) {
                return Err(bad(format!("`{}` is not a name of a part", part.name)));
            }
            if part.metrics.is_empty() || part.seeds.is_empty() {
                return Err(bad(format!("part `{}` needs `metrics` and `seeds`", part.name)));
            }
            part.check().map_err(|why| bad(format!("part `{}`: {why}", part.name)))?;
            if part.methods.is_empty() == part.candidate.is_empty() {
                return Err(bad(format!(
                    "part `{}` has either `methods`, which are tuned, or `candidate`s with settings",
                    part.name
                )));
            }
        }
        Ok(experiment)
    }

    /// Whether it has deep networks.
    #[must_use]
    pub fn is_deep(&self) -> bool {
        self.part.iter().any(|part| part.network.is_some())
    }

    /// Whether this build can run it.
    #[must_use]
    pub fn can_run(&self) -> bool {
        deep::is_built() || !self.is_deep()
    }

    /// A smoke test: the same with few epochs, seeds and rows.
    #[must_use]
    pub fn quick(mut self) -> Self {
        const ROWS: usize = 256;
        // Two thirds are for training.
        const IMAGES: usize = 192;
        for part in &mut self.part {
            let epochs = if part.network.is_some() { 2 } else { 5 };
            if part.network.is_some() {
                part.rows_at_most = Some(part.rows_at_most.map_or(ROWS, |rows| rows.min(ROWS)));
            }
            if let DatasetSpec::RcfMnist { images, .. } = &mut part.data {
                *images = (*images).min(IMAGES);
            }
            part.seeds.truncate(2);
            part.trainings = 1;
            part.tune = part.tune.min(2);
            if let [first, .., last] = part.sizes[..] {
                part.sizes = vec![first, last];
            }
            let shorten = |training: &mut TrainingSettings| {
                training.epochs = training.epochs.map(|most| most.min(epochs));
            };
            part.training.epochs.get_or_insert(epochs);
            shorten(&mut part.training);
            part.candidate.iter_mut().for_each(|candidate| shorten(&mut candidate.training));
        }
        self
    }
}

/// One comparison of an experiment.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ExperimentPart {
    /// Its name and that of its results file.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// Whether it repeats the part before it with equal tuning budgets.
    #[serde(default)]
    pub equal: bool,
    /// Whether it is run only if named: it takes days, or needs files that users provide.
    #[serde(default)]
    pub only_when_asked: bool,
    /// The rows.
    pub data: DatasetSpec,
    /// Maximum number of rows of every split, for arrays.
    pub rows_at_most: Option<usize>,
    /// A separate test table.
    pub test: Option<DatasetSpec>,
    /// The rows that scaling and imputation are fitted on.
    #[serde(default)]
    pub prepared: PreprocessingScope,
    /// Scaling of features.
    #[serde(default = "standard")]
    pub scale: Scaling,
    /// Scaling of targets.
    #[serde(default = "standard")]
    pub target_scale: Scaling,
    /// Excluded columns.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Which rows are held out.
    pub split: SplitSpec,
    /// Seeds: one split or training set each.
    pub seeds: Vec<u64>,
    /// Trainings per split, with other initial weights.
    #[serde(default = "once")]
    pub trainings: usize,
    /// Training set sizes; empty is all rows.
    #[serde(default)]
    pub sizes: Vec<usize>,
    /// Reported metrics, the most important first.
    pub metrics: Vec<ReportedMetric>,
    /// Decimal places.
    #[serde(default = "three")]
    pub decimals: usize,
    /// Tolerance for the published mean of the first metric; by default one published standard deviation.
    pub within: Option<f64>,
    /// The deep network, for arrays.
    pub network: Option<NetworkSpec>,
    /// Units of the hidden layers.
    #[serde(default = "fcn3")]
    pub hidden: Vec<usize>,
    /// The activation function.
    #[serde(default = "leaky")]
    pub activation: Activation,
    /// Training settings.
    #[serde(default)]
    pub training: TrainingSettings,
    /// Methods with equal tuning budgets.
    #[serde(default)]
    pub methods: Vec<MethodName>,
    /// Settings that each method tries.
    #[serde(default)]
    pub tune: usize,
    /// Candidates with fixed settings.
    #[serde(default)]
    pub candidate: Vec<CandidateGrid>,
    /// The name of a shared list of candidates.
    candidates: Option<String>,
    /// Whether predictions are stored, for pictures.
    #[serde(default)]
    pub predictions: bool,
}

impl ExperimentPart {
    /// Whether it is run, given the value of `--only`.
    #[must_use]
    pub fn is_wanted(&self, only: Option<&str>) -> bool {
        only.map_or(!self.only_when_asked, |only| only == self.name)
    }

    /// Returns an error for inconsistent settings.
    fn check(&self) -> Result<(), String> {
        let in_order = self.split == SplitSpec::InOrder;
        let Some(network) = &self.network else {
            if self.data.is_arrays() || in_order {
                return Err("rows that are arrays need a `network`".into());
            }
            let layers = self.candidate.iter().find(|candidate| !candidate.layers.is_empty());
            return match layers {
                Some(candidate) => {
                    Err(format!("`layers` of `{}` need a `network`", candidate.name))
                }
                None => Ok(()),
            };
        };
        network.check()?;
        if !self.data.is_arrays() || !in_order || self.test.is_some() || !self.sizes.is_empty() {
            return Err("a `network` needs rows that are arrays, and `split = \"in-order\"`".into());
        }
        if !self.methods.is_empty() {
            return Err("a `network` needs `candidate`s with settings".into());
        }
        for candidate in &self.candidate {
            if candidate.copies.is_some() || candidate.hidden.is_some() {
                let name = &candidate.name;
                return Err(format!("`{name}` has a deep network, without `copies` and `hidden`"));
            }
            if let Some(layer) = candidate.layers.iter().find(|&&layer| layer > network.layers()) {
                let (name, layers) = (network.name(), network.layers());
                return Err(format!("there is no hidden layer {layer}: {name} has {layers}"));
            }
        }
        Ok(())
    }

    /// Whether the paper printed standard deviations.
    #[must_use]
    pub fn prints_std(&self) -> bool {
        let mut printed = self.candidate.iter().flat_map(|candidate| candidate.published.values());
        printed.any(|printed| printed.len() > 1)
    }
}

fn standard() -> Scaling {
    Scaling::Standard
}

fn once() -> usize {
    1
}

fn three() -> usize {
    3
}

fn fcn3() -> Vec<usize> {
    vec![128, 128]
}

fn leaky() -> Activation {
    Activation::LeakyRelu(0.1)
}

/// How rows are split.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum SplitSpec {
    /// Random permutation: numbers of training, validation and test rows.
    Permuted([usize; 3]),
    /// By domain number.
    #[serde(rename_all = "kebab-case")]
    Ordered {
        /// The last training domain.
        train_to: i64,
        /// The first test domain.
        test_from: i64,
    },
    /// Every value of a column is a training set.
    Sets(String),
    /// In file order: training, validation and test rows.
    InOrder,
}

/// Training settings; unset ones are those of the part, or the defaults.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TrainingSettings {
    pub optimizer: Option<SpecOptimizer>,
    pub rate: Option<f64>,
    pub weight_decay: Option<f64>,
    pub batch: Option<usize>,
    pub epochs: Option<usize>,
    pub order: Option<Shuffle>,
    pub drop_last: Option<bool>,
}

/// An optimizer with PyTorch's defaults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpecOptimizer {
    Adam,
    AdamW,
}

impl TrainingSettings {
    /// Merges with the settings of the part and the defaults.
    #[must_use]
    pub fn merge(&self, part: &Self) -> TrainConfig {
        let usual = TrainConfig::default();
        let optimizer = match self.optimizer.or(part.optimizer) {
            Some(SpecOptimizer::Adam) => Optimizer::adam(),
            Some(SpecOptimizer::AdamW) => Optimizer::adam_w(),
            None => usual.optimizer,
        };
        TrainConfig {
            epochs: self.epochs.or(part.epochs).unwrap_or(usual.epochs),
            batch_size: self.batch.or(part.batch).unwrap_or(usual.batch_size),
            drop_last: self.drop_last.or(part.drop_last).unwrap_or(usual.drop_last),
            shuffle: self.order.or(part.order).unwrap_or(usual.shuffle),
            optimizer,
            learning_rate: self.rate.or(part.rate).unwrap_or(usual.learning_rate),
            weight_decay: self.weight_decay.or(part.weight_decay).unwrap_or(usual.weight_decay),
            ..usual
        }
    }
}

/// One value or a list.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany<T> {
    /// One.
    One(T),
    /// Several.
    Many(Vec<T>),
}

impl<T: Copy> OneOrMany<T> {
    /// All values.
    #[must_use]
    pub fn to_vec(&self) -> Vec<T> {
        match self {
            Self::One(value) => vec![*value],
            Self::Many(values) => values.clone(),
        }
    }
}

/// A method with fixed settings. Every combination of settings that are lists is a candidate.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CandidateGrid {
    /// Its name; `{alpha}`, `{groups}` and `{copies}` are replaced by its settings.
    pub name: String,
    /// The method.
    pub method: MethodName,
    /// The model.
    #[serde(default = "network")]
    pub model: ModelName,
    /// Units of the hidden layers, if they differ from the part's.
    pub hidden: Option<Vec<usize>>,
    /// Training settings that differ from the part's.
    #[serde(default)]
    pub training: TrainingSettings,
    /// Whether it augments the first hidden layer, if the method's name does not say so.
    #[serde(default)]
    pub manifold: bool,
    /// The hidden layers of a deep network that it augments; of several, one is drawn per step.
    #[serde(default)]
    pub layers: Vec<usize>,
    /// The rows in which groups and partners are searched.
    #[serde(default)]
    pub fitted_on: FittedOn,
    /// The penalty of ridge regression.
    #[serde(default = "one")]
    pub penalty: f64,
    /// Synthetic rows per row, generated before training; without it, batches are augmented.
    pub copies: Option<OneOrMany<usize>>,
    /// α: γ is in [1/α, α].
    pub alpha: Option<OneOrMany<f64>>,
    /// The number of groups.
    pub groups: Option<OneOrMany<usize>>,
    /// The columns that are clustered.
    #[serde(default)]
    pub on: ClusterOn,
    /// The parameter of the Beta distribution.
    pub beta: Option<f64>,
    /// The bandwidth, in units of the target.
    pub bandwidth: Option<f64>,
    /// The largest distance between partners.
    pub epsilon: Option<f64>,
    /// Standard deviation of the noise on the target.
    pub noise: Option<f64>,
    /// Other parameters of the method, by the names of the registry.
    #[serde(default)]
    pub params: BTreeMap<String, ParamValue>,
    /// Published mean and, if printed, standard deviation.
    #[serde(default)]
    pub published: BTreeMap<ReportedMetric, Vec<f64>>,
}

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum ParamValue {
    /// A number.
    Number(f64),
    /// A word.
    Text(String),
}

impl std::fmt::Display for ParamValue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => f.write_str(text),
        }
    }
}

fn network() -> ModelName {
    ModelName::Mlp
}

fn one() -> f64 {
    1.0
}

/// A metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReportedMetric {
    /// Root mean squared error.
    Rmse,
    /// Mean squared error.
    Mse,
    /// Mean absolute percentage error.
    Mape,
    /// RMSE of the worst domain.
    Worst,
    /// Pearson correlation of targets and predictions.
    R,
    /// Pearson correlation of the worst domain.
    WorstR,
}

impl ReportedMetric {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Rmse => "RMSE",
            Self::Mse => "MSE",
            Self::Mape => "MAPE",
            Self::Worst => "worst RMSE",
            Self::R => "R",
            Self::WorstR => "worst R",
        }
    }

    /// Whether larger is better.
    #[must_use]
    pub fn is_better_high(self) -> bool {
        matches!(self, Self::R | Self::WorstR)
    }

    /// Its value for a run; NaN if undefined.
    #[must_use]
    pub fn value(self, run: &Run) -> f64 {
        match self {
            Self::Rmse => run.metrics.rmse,
            Self::Mse => run.metrics.rmse.powi(2),
            Self::Mape => run.metrics.mape.unwrap_or(f64::NAN),
            Self::Worst => {
                run.domains.iter().map(|domain| domain.metrics.rmse).fold(f64::NAN, f64::max)
            }
            Self::R => run.metrics.r.unwrap_or(f64::NAN),
            Self::WorstR => {
                // Constant predictions have no correlation, and NaN is the worst value.
                let each = run.domains.iter().map(|domain| domain.metrics.r.unwrap_or(f64::NAN));
                each.reduce(|a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) })
                    .unwrap_or(f64::NAN)
            }
        }
    }
}

/// A picture.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Picture {
    /// The name of its PNG file, and of its part of `figures.svg`.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// Its content.
    pub draw: Drawing,
}

/// A kind of picture.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Drawing {
    /// One-dimensional rows and an augmented copy per γ.
    Augmented {
        /// The rows.
        data: DatasetSpec,
        /// The number of groups.
        groups: usize,
        /// The values of γ.
        gammas: Vec<f64>,
    },
    /// Learning curves.
    Curves {
        /// The part.
        part: String,
        /// Only these candidates; a trailing `*` is a wildcard.
        #[serde(default)]
        only: Vec<String>,
    },
    /// Errors by α and the number of groups.
    Heat {
        /// The part.
        part: String,
    },
    /// Errors against α for every number of groups, or the other way round.
    Along {
        /// The part.
        part: String,
        /// The axis.
        by: Axis,
    },
    /// Fitted curves of the first seed, with the rows.
    Fits {
        /// The part.
        part: String,
        /// Only these candidates; a trailing `*` is a wildcard.
        #[serde(default)]
        only: Vec<String>,
    },
    /// Images of RCF-MNIST.
    Images {
        /// Total number of images.
        images: usize,
        /// The seed.
        #[serde(default)]
        seed: u64,
    },
    /// Every method: published, ours, and at equal budgets.
    Methods {
        /// The part with the published numbers, followed by that at equal budgets.
        part: String,
        /// The metric.
        metric: ReportedMetric,
    },
}

impl Drawing {
    /// The part that it needs.
    #[must_use]
    pub fn part(&self) -> Option<&str> {
        match self {
            Self::Augmented { .. } | Self::Images { .. } => None,
            Self::Curves { part, .. }
            | Self::Heat { part }
            | Self::Along { part, .. }
            | Self::Fits { part, .. }
            | Self::Methods { part, .. } => Some(part),
        }
    }
}

/// The x axis of [`Drawing::Along`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// α: γ is in [1/α, α].
    Alpha,
    /// The number of groups.
    Groups,
}
