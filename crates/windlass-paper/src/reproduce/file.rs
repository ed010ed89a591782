//! The file of an experiment.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use windlass::ClusterOn;
use windlass_compare::{MethodName, ModelName, Run};
use windlass_model::Scaling;
use windlass_train::{Activation, FittedOn, Optimizer, Order, Training};

use super::source::{Prepared, Source};
use crate::networks::Description;
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
    /// Where in the paper it is.
    pub paper: String,
    /// What it is about.
    pub about: String,
    /// Entrants that several parts have, by a name.
    #[serde(default)]
    candidates: BTreeMap<String, Vec<CandidateFile>>,
    /// What is run.
    #[serde(default)]
    pub part: Vec<Part>,
    /// What is drawn.
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

    /// The same with little of everything: a look at whether it runs, not a result.
    #[must_use]
    pub fn quick(mut self) -> Self {
        const ROWS: usize = 256;
        // Four of six are to learn from.
        const IMAGES: usize = 192;
        for part in &mut self.part {
            let epochs = if part.network.is_some() { 2 } else { 5 };
            if part.network.is_some() {
                part.rows_at_most = Some(part.rows_at_most.map_or(ROWS, |rows| rows.min(ROWS)));
            }
            if let Source::RcfMnist { images, .. } = &mut part.data {
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
pub struct Part {
    /// Its name, and that of the file of its runs.
    pub name: String,
    /// What it is, in a few words.
    pub title: String,
    /// Whether it has other numbers for the methods of the part before: at equal budgets.
    #[serde(default)]
    pub equal: bool,
    /// Whether it is run only where it is asked for by name: it takes days, or files that users bring themselves.
    #[serde(default)]
    pub only_when_asked: bool,
    /// The rows.
    pub data: Source,
    /// At most so many rows of every part, where they are arrays.
    pub rows_at_most: Option<usize>,
    /// The rows that all are judged by, where they are a table of their own.
    pub test: Option<Source>,
    /// Which rows scales and fillings are taken from.
    #[serde(default)]
    pub prepared: Prepared,
    /// What features are brought to.
    #[serde(default = "standard")]
    pub scale: Scaling,
    /// What targets are brought to.
    #[serde(default = "standard")]
    pub target_scale: Scaling,
    /// Columns that are left out.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// Which rows are held out.
    pub split: SplitSpec,
    /// One split, or one training set, for each.
    pub seeds: Vec<u64>,
    /// Trainings on each of them, from other initial weights.
    #[serde(default = "once")]
    pub trainings: usize,
    /// Numbers of training rows; none is all.
    #[serde(default)]
    pub sizes: Vec<usize>,
    /// What is reported, the most important first.
    pub metrics: Vec<Metric>,
    /// Digits behind the point.
    #[serde(default = "three")]
    pub decimals: usize,
    /// How far from the published mean still is the same, in the first metric; otherwise one published
    /// deviation.
    pub within: Option<f64>,
    /// The network, where rows are arrays and no table.
    pub network: Option<Description>,
    /// Units of the hidden layers.
    #[serde(default = "fcn3")]
    pub hidden: Vec<usize>,
    /// What they do.
    #[serde(default = "leaky")]
    pub activation: Activation,
    /// How networks are trained.
    #[serde(default)]
    pub training: TrainingSettings,
    /// Methods that are tuned alike.
    #[serde(default)]
    pub methods: Vec<MethodName>,
    /// Settings that each tries.
    #[serde(default)]
    pub tune: usize,
    /// Methods with settings of their own.
    #[serde(default)]
    pub candidate: Vec<CandidateFile>,
    /// More of them, shared with other parts.
    candidates: Option<String>,
    /// Whether predictions are kept, for pictures.
    #[serde(default)]
    pub predictions: bool,
}

impl Part {
    /// Whether it is run, where only this part is asked for, or none by name.
    #[must_use]
    pub fn is_wanted(&self, only: Option<&str>) -> bool {
        only.map_or(!self.only_when_asked, |only| only == self.name)
    }

    /// Refuses what does not go together.
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

    /// Whether the paper printed means with deviations.
    #[must_use]
    pub fn prints_deviations(&self) -> bool {
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

/// How rows are parted.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum SplitSpec {
    /// By a permutation: rows to learn from, to choose by, and held out.
    Permuted([usize; 3]),
    /// By domains in the order of their numbers.
    #[serde(rename_all = "kebab-case")]
    Ordered {
        /// The last to learn from.
        train_to: i64,
        /// The first that is held out.
        test_from: i64,
    },
    /// Every value of a column is a training set.
    Sets(String),
    /// As the rows come: to learn from, to choose by, and held out.
    InOrder,
}

/// How a network is trained; what is not said is as the part has it, or else as usual.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TrainingSettings {
    pub optimizer: Option<OptimizerName>,
    pub rate: Option<f64>,
    pub weight_decay: Option<f64>,
    pub batch: Option<usize>,
    pub epochs: Option<usize>,
    pub order: Option<Order>,
    pub drop_last: Option<bool>,
}

/// An optimizer with PyTorch's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptimizerName {
    Adam,
    AdamW,
}

impl TrainingSettings {
    /// Over what is said for all.
    #[must_use]
    pub fn training(&self, all: &Self) -> Training {
        let usual = Training::default();
        let optimizer = match self.optimizer.or(all.optimizer) {
            Some(OptimizerName::Adam) => Optimizer::adam(),
            Some(OptimizerName::AdamW) => Optimizer::adam_w(),
            None => usual.optimizer,
        };
        Training {
            epochs: self.epochs.or(all.epochs).unwrap_or(usual.epochs),
            batch: self.batch.or(all.batch).unwrap_or(usual.batch),
            drop_last: self.drop_last.or(all.drop_last).unwrap_or(usual.drop_last),
            order: self.order.or(all.order).unwrap_or(usual.order),
            optimizer,
            rate: self.rate.or(all.rate).unwrap_or(usual.rate),
            weight_decay: self.weight_decay.or(all.weight_decay).unwrap_or(usual.weight_decay),
            ..usual
        }
    }
}

/// One value, or several that are all tried.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum OneOrMany<T> {
    /// One.
    One(T),
    /// Several.
    Many(Vec<T>),
}

impl<T: Copy> OneOrMany<T> {
    /// All of them.
    #[must_use]
    pub fn all(&self) -> Vec<T> {
        match self {
            Self::One(value) => vec![*value],
            Self::Many(values) => values.clone(),
        }
    }
}

/// A method with settings of its own; where a setting has several values, each is a candidate.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct CandidateFile {
    /// What it is called; `{alpha}`, `{groups}` and `{copies}` stand for its settings.
    pub name: String,
    /// The method.
    pub method: MethodName,
    /// The model.
    #[serde(default = "network")]
    pub model: ModelName,
    /// Units of the hidden layers, if not those of the part.
    pub hidden: Option<Vec<usize>>,
    /// How it is trained, where it differs.
    #[serde(default)]
    pub training: TrainingSettings,
    /// Whether it works after the first hidden layer, where its name does not say so.
    #[serde(default)]
    pub manifold: bool,
    /// The hidden layers of a deep network that it works after; of several, one is drawn for every step.
    #[serde(default)]
    pub layers: Vec<usize>,
    /// What its groups and partners are found in.
    #[serde(default)]
    pub fitted_on: FittedOn,
    /// The penalty of ridge regression.
    #[serde(default = "one")]
    pub penalty: f64,
    /// Rows made beforehand for every row; without it batches are augmented.
    pub copies: Option<OneOrMany<usize>>,
    /// The range of γ: its grid goes from 1/α to α.
    pub alpha: Option<OneOrMany<f64>>,
    /// The number of groups.
    pub groups: Option<OneOrMany<usize>>,
    /// What groups are found in.
    #[serde(default)]
    pub on: ClusterOn,
    /// The parameter of the Beta distribution.
    pub beta: Option<f64>,
    /// The bandwidth, in units of the target.
    pub bandwidth: Option<f64>,
    /// The largest distance that counts.
    pub epsilon: Option<f64>,
    /// The deviation of noise on the target.
    pub noise: Option<f64>,
    /// What the paper printed: the mean and, where it has one, the deviation.
    #[serde(default)]
    pub published: BTreeMap<Metric, Vec<f64>>,
}

fn network() -> ModelName {
    ModelName::Mlp
}

fn one() -> f64 {
    1.0
}

/// A measure of error, or of how well predictions follow targets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// The root of the mean squared error.
    Rmse,
    /// The mean squared error.
    Mse,
    /// The mean absolute error in percent of the target.
    Mape,
    /// The root mean squared error of the worst domain.
    Worst,
    /// Pearson's correlation of targets with predictions.
    R,
    /// That of the worst domain.
    WorstR,
}

impl Metric {
    /// What it is called.
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

    /// Whether more is better.
    #[must_use]
    pub fn is_better_high(self) -> bool {
        matches!(self, Self::R | Self::WorstR)
    }

    /// What it is of a run.
    #[must_use]
    pub fn of(self, run: &Run) -> f64 {
        match self {
            Self::Rmse => run.metrics.rmse,
            Self::Mse => run.metrics.rmse.powi(2),
            Self::Mape => run.metrics.mape.unwrap_or(f64::NAN),
            Self::Worst => {
                run.domains.iter().map(|domain| domain.metrics.rmse).fold(f64::NAN, f64::max)
            }
            Self::R => run.metrics.r.unwrap_or(f64::NAN),
            Self::WorstR => {
                // Where predictions are all the same there is no correlation, and nothing is worse.
                let each = run.domains.iter().map(|domain| domain.metrics.r.unwrap_or(f64::NAN));
                each.reduce(|a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) })
                    .unwrap_or(f64::NAN)
            }
        }
    }
}

/// What is drawn.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Picture {
    /// The name of its file.
    pub name: String,
    /// Its heading.
    pub title: String,
    /// What it shows.
    pub draw: Drawing,
}

/// A kind of picture.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Drawing {
    /// Rows on a line and what becomes of them: each γ makes a copy.
    Augmented {
        /// The rows.
        data: Source,
        /// The number of groups.
        groups: usize,
        /// The strengths.
        gammas: Vec<f64>,
    },
    /// Errors against the number of training rows.
    Curves {
        /// The part.
        part: String,
        /// Only these candidates; `*` at the end of a name stands for anything.
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
        /// Only these candidates; `*` at the end of a name stands for anything.
        #[serde(default)]
        only: Vec<String>,
    },
    /// Images of all kinds: turned, and in colors that mislead.
    Images {
        /// Images of all parts.
        images: usize,
        /// The seed.
        #[serde(default)]
        seed: u64,
    },
    /// Every method: published, ours, and at equal budgets.
    Methods {
        /// The part with the published numbers; that at equal budgets follows it.
        part: String,
        /// The measure.
        metric: Metric,
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

/// A setting that errors are drawn against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// The range of γ.
    Alpha,
    /// The number of groups.
    Groups,
}
