//! Candidates of a comparison: methods on networks and other models, with the settings of their trials.

use serde::{Deserialize, Serialize};
use windlass::{METHODS, MethodInfo, MethodParams, Param, RareSpec, Relevance, SearchRange};
use windlass_model::{
    AutoConfig, BoostingSettings, DensityWeights, ForestSettings, GaussianProcessSettings,
    InLoopAugmentConfig, Kind, NetworkConfig, PreAugmentConfig, Split,
};
use windlass_table::MethodConfig;
use windlass_train::{Activation, FittedOn, Optimizer, TrainConfig};

/// A way to train a network: without augmentation, or with a method of the registry on inputs or on a hidden layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub enum MethodName {
    /// No augmentation: the reference.
    Erm,
    /// A method of the registry.
    Augmentation {
        /// Its index in [`METHODS`].
        place: usize,
        /// After the first hidden layer instead of on inputs.
        hidden: bool,
    },
    /// No augmentation, rows weighted by the density of the target.
    DensityWeights,
    /// The average of no augmentation and of density weights.
    DensityAverage,
    /// No augmentation with another seed: differences by chance.
    Placebo,
}

impl MethodName {
    /// All methods.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let augmentations = METHODS.iter().enumerate().flat_map(|(place, method)| {
            let inputs = Some(Self::Augmentation { place, hidden: false });
            let hidden = method.on_hidden_layer.as_ref();
            inputs.into_iter().chain(hidden.map(|_| Self::Augmentation { place, hidden: true }))
        });
        let others = [Self::DensityWeights, Self::DensityAverage, Self::Placebo];
        std::iter::once(Self::Erm).chain(augmentations).chain(others).collect()
    }

    /// The method of this name. `erm` (empirical risk minimization) of 0.1.0 is no augmentation.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = if name == "erm" { Self::Erm.name() } else { name };
        Self::all().into_iter().find(|method| method.name() == name)
    }

    /// The method of the registry, if it augments.
    #[must_use]
    pub fn info(self) -> Option<&'static MethodInfo> {
        match self {
            Self::Augmentation { place, .. } => Some(METHODS[place]),
            Self::Erm | Self::DensityWeights | Self::DensityAverage | Self::Placebo => None,
        }
    }

    /// Whether it augments a hidden layer.
    #[must_use]
    pub fn is_hidden(self) -> bool {
        matches!(self, Self::Augmentation { hidden: true, .. })
    }

    /// The name in the command.
    #[must_use]
    pub fn name(self) -> &'static str {
        match (self, self.info()) {
            (Self::Placebo, _) => "placebo",
            (Self::DensityWeights, _) => "density-weights",
            (Self::DensityAverage, _) => "density-average",
            (_, None) => "none",
            (_, Some(MethodInfo { on_hidden_layer: Some(own), .. })) if self.is_hidden() => {
                own.name
            }
            (_, Some(method)) => method.name,
        }
    }

    /// The name in prose.
    #[must_use]
    pub fn title(self) -> &'static str {
        match (self, self.info()) {
            (Self::Placebo, _) => "placebo",
            (Self::DensityWeights, _) => "density weights",
            (Self::DensityAverage, _) => "average with density weights",
            (_, None) => "no augmentation",
            (_, Some(MethodInfo { on_hidden_layer: Some(own), .. })) if self.is_hidden() => {
                own.title
            }
            (_, Some(method)) => method.title,
        }
    }

    /// One line of help.
    #[must_use]
    pub fn help(self) -> String {
        match (self, self.info()) {
            (Self::Placebo, _) => "No augmentation with another seed: differences by chance".into(),
            (Self::DensityWeights, _) => {
                "No augmentation, rows weighted by the rarity of their target".into()
            }
            (Self::DensityAverage, _) => {
                "Average of a network without augmentation and one with density weights".into()
            }
            (_, None) => "No augmentation: the reference of all differences".into(),
            (_, Some(method)) if self.is_hidden() => {
                format!("{}, after the first hidden layer", method.help)
            }
            (_, Some(method)) => method.help.into(),
        }
    }

    /// The name in tables: that of the command, except for no augmentation.
    #[must_use]
    pub fn label(self) -> &'static str {
        if self == Self::Erm { self.title() } else { self.name() }
    }

    /// The row weights of the method, if any.
    pub(crate) fn density_weights(self) -> Option<DensityWeights> {
        let average = self == Self::DensityAverage;
        (average || self == Self::DensityWeights).then_some(DensityWeights { alpha: 1.0, average })
    }

    /// Whether the method is for tables with rare targets only, so that it must be requested.
    #[must_use]
    pub fn is_for_rare_targets(self) -> bool {
        self.density_weights().is_some() || self.info().is_some_and(|method| method.rare)
    }

    /// Whether comparisons include it by default.
    #[must_use]
    pub fn is_default(self) -> bool {
        match self.info() {
            Some(method) => method.in_comparisons,
            None => self.density_weights().is_none(),
        }
    }

    /// Whether it generates synthetic rows.
    #[must_use]
    pub fn augments(self) -> bool {
        self.info().is_some()
    }

    /// Whether its settings depend on the distances between rows.
    pub(crate) fn needs_distances(self) -> bool {
        let by_distance =
            |param: &&Param| matches!(param.search, Some(SearchRange::DistanceQuantile { .. }));
        self.info()
            .is_some_and(|method| method.params.iter().copied().any(|param| by_distance(&param)))
    }

    /// The augmentation inside the training loop in a trial, if any.
    fn augment(self, trial: usize, distances: &Distances) -> Option<InLoopAugmentConfig> {
        let method = self.info().filter(|method| !method.rare)?;
        let params = Self::params(method, trial, distances);
        let method = MethodConfig::new(method, &params).expect("parameters of the method");
        Some(InLoopAugmentConfig {
            method,
            layer: usize::from(self.is_hidden()),
            originals: false,
            fitted_on: FittedOn::TrainingRows,
        })
    }

    /// The synthetic rows that a trial adds before training, if any: those of methods for rare targets, as many as
    /// make rare rows as many as the others.
    pub(crate) fn pre_augment(
        self,
        trial: usize,
        distances: &Distances,
        rare: Option<&Relevance>,
    ) -> Option<PreAugmentConfig> {
        let method = self.info().filter(|method| method.rare)?;
        let rare = rare.cloned().map(RareSpec::Points);
        let params = MethodParams { rare, ..Self::params(method, trial, distances) };
        let method = MethodConfig::new(method, &params).expect("parameters of the method");
        Some(PreAugmentConfig { method, copies: 0 })
    }

    /// The parameters of a trial.
    fn params(method: &MethodInfo, trial: usize, distances: &Distances) -> MethodParams {
        let mut params = MethodParams::default();
        for param in method.params {
            let (Some(varied), Some(range)) = (param.trial, param.search) else { continue };
            let at = point(trial, varied.coordinate);
            let number = |low, high| tried(trial, varied.first.unwrap_or(low), (low, high), at);
            let value = match range {
                SearchRange::Log { low, high } => number(low, high).to_string(),
                SearchRange::LogDeviations { low, high } => format!("{}sd", number(low, high)),
                SearchRange::DistanceQuantile { low, high } => {
                    distances.quantile(number(low, high)).to_string()
                }
                SearchRange::Clusters if trial > 0 => distances.groups(at).to_string(),
                SearchRange::Clusters | SearchRange::Choices(_) => continue,
            };
            (param.set)(&mut params, &value).expect("values of the search range");
        }
        params
    }
}

impl From<MethodName> for &'static str {
    fn from(method: MethodName) -> Self {
        method.name()
    }
}

impl TryFrom<String> for MethodName {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        Self::named(&name).ok_or_else(|| format!("unknown method `{name}`"))
    }
}

/// A kind of model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ModelName {
    /// A network.
    Mlp,
    /// The paper's network for tables.
    Fcn3,
    /// A linear model with a penalty.
    Ridge,
    /// A random forest.
    Forest,
    /// A Gaussian process.
    Gp,
    /// A forest of trees with random thresholds.
    ExtraTrees,
    /// Gradient-boosted trees.
    Boosting,
    /// Automatic model selection.
    Auto,
    /// A small network distilled from automatic model selection.
    Distilled,
    /// A model that is trained by the caller, on augmented rows.
    Estimator,
    /// The baseline of every comparison: predicts the mean of the training rows.
    Mean,
}

impl ModelName {
    /// All models.
    pub(crate) const ALL: [Self; 11] = [
        Self::Mlp,
        Self::Fcn3,
        Self::Ridge,
        Self::Forest,
        Self::Gp,
        Self::ExtraTrees,
        Self::Boosting,
        Self::Auto,
        Self::Distilled,
        Self::Estimator,
        Self::Mean,
    ];

    /// The name in the command.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mlp => "mlp",
            Self::Fcn3 => "fcn3",
            Self::Ridge => "ridge",
            Self::Forest => "forest",
            Self::Gp => "gp",
            Self::ExtraTrees => "extra-trees",
            Self::Boosting => "boosting",
            Self::Auto => "auto",
            Self::Distilled => "distilled",
            Self::Estimator => "estimator",
            Self::Mean => "predict the mean",
        }
    }

    /// One line of help.
    #[must_use]
    pub fn help(self) -> &'static str {
        match self {
            Self::Mlp => "Multilayer perceptron",
            Self::Fcn3 => "Network of the ADA paper for tables",
            Self::Ridge => "Ridge regression: a linear model with an L2 penalty",
            Self::Forest => "Random forest: the average of many decision trees",
            Self::Gp => "Gaussian process: a smooth function of the features",
            Self::ExtraTrees => "Extremely randomized trees: a forest with random thresholds",
            Self::Boosting => {
                "Gradient-boosted trees: each corrects the errors of the previous ones"
            }
            Self::Auto => {
                "Automatic model selection: a weighted average of several kinds of models"
            }
            Self::Distilled => "A small network distilled from automatic model selection",
            Self::Estimator => "The estimator that was passed",
            Self::Mean => "Baseline: predicts the mean target of the training rows",
        }
    }

    /// Whether it selects its settings itself, so that there is one trial only.
    pub(crate) fn selects(self) -> bool {
        matches!(self, Self::Auto | Self::Distilled)
    }

    /// Whether methods apply to it.
    #[must_use]
    pub fn is_network(self) -> bool {
        matches!(self, Self::Mlp | Self::Fcn3)
    }
}

/// A model with a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Candidate {
    /// The model.
    pub model: ModelName,
    /// The method; models that are not networks have none.
    pub method: Option<MethodName>,
    /// Its index among the candidates with fixed settings.
    #[serde(rename = "declared", default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<usize>,
    /// The index of the [rows from elsewhere](crate::AddedRows) that are added to its training rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<usize>,
}

/// A candidate with its own settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CandidateSpec {
    /// The name.
    pub name: String,
    /// The model.
    pub model: ModelName,
    /// The method.
    pub method: MethodName,
    /// The model to train; `None` for a model that is trained by the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// Augmentation before training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub enlarge: Option<PreAugmentConfig>,
    /// The index of the rows from elsewhere that are added to its training rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<usize>,
}

impl Candidate {
    /// The parameters of a training of this candidate, with their values; flags have none.
    #[must_use]
    pub fn train_params(self) -> Vec<(&'static str, Option<&'static str>)> {
        let mut params = match self.model {
            ModelName::Mlp => vec![],
            ModelName::Auto => vec![("auto", None)],
            ModelName::Distilled => vec![("auto", None), ("distill", None)],
            model => vec![("model", Some(model.name()))],
        };
        if let Some(method) = self.method {
            params.extend(method.info().map(|info| ("augment", Some(info.name))));
            if method.is_hidden() {
                params.push(("manifold", Some("1")));
            }
            match method {
                MethodName::DensityWeights => params.push(("density_weights", None)),
                MethodName::DensityAverage => params.push(("density_average", None)),
                _ => {}
            }
        }
        params
    }
    /// The baseline.
    pub const BASELINE: Self = Self::new(ModelName::Mean, None);

    /// A model with a method, without rows from elsewhere.
    #[must_use]
    pub const fn new(model: ModelName, method: Option<MethodName>) -> Self {
        Self { model, method, spec: None, rows: None }
    }

    /// Every model with every method that applies to it, and without augmentation with each of `rows` tables of
    /// rows from elsewhere.
    #[must_use]
    pub fn all(models: &[ModelName], methods: &[MethodName], rows: usize) -> Vec<Self> {
        let of_model = |&model: &ModelName| -> Vec<Self> {
            let (mut own, plain) = if model.is_network() {
                let own = methods.iter().map(|&method| Self::new(model, Some(method))).collect();
                (own, Self::new(model, Some(MethodName::Erm)))
            } else {
                let plain = Self::new(model, None);
                (vec![plain], plain)
            };
            own.extend((0..rows).map(|rows| Self { rows: Some(rows), ..plain }));
            own
        };
        models.iter().flat_map(of_model).collect()
    }

    /// Whether this is the reference of methods: no augmentation.
    #[must_use]
    pub fn is_plain(self) -> bool {
        self.method == Some(MethodName::Erm) && self.rows.is_none()
    }

    /// Whether its training rows are augmented, or rows from elsewhere are added to them.
    #[must_use]
    pub fn augments(self) -> bool {
        self.rows.is_some() || self.method.is_some_and(MethodName::augments)
    }

    /// One line of help.
    #[must_use]
    pub fn help(self) -> String {
        let model = self.model.help();
        match self.method {
            _ if self.rows.is_some() => {
                format!("{model}, with rows from a file added to the training rows")
            }
            Some(method) => method.help(),
            None => model.to_owned(),
        }
    }

    /// The reference: the same network without augmentation, or the first network of a comparison; of rows from
    /// elsewhere, the same model without them.
    #[must_use]
    pub fn reference(self, models: &[ModelName]) -> Self {
        if self.rows.is_some() {
            return Self { rows: None, ..self };
        }
        let network = models.iter().copied().find(|model| model.is_network());
        let model = if self.model.is_network() { Some(self.model) } else { network };
        let model = model.unwrap_or(self.model);
        Self::new(model, Some(MethodName::Erm))
    }

    /// The name in tables, with the model if there are `several` networks.
    #[must_use]
    pub fn name(self, several: bool) -> String {
        match self.method {
            None => self.model.name().to_owned(),
            Some(method) if several => format!("{} {}", self.model.name(), method.label()),
            Some(method) => method.label().to_owned(),
        }
    }

    /// The settings of a trial; the first has the defaults. Networks of all methods have the same learning rate and
    /// weight decay in a trial. Models that are trained by the caller have no settings.
    #[must_use]
    pub fn settings(
        self,
        trial: usize,
        network: &NetworkConfig,
        split: &Split,
        distances: &Distances,
    ) -> Option<Kind> {
        let method = self.method.unwrap_or(MethodName::Erm);
        Some(match self.model {
            ModelName::Mlp | ModelName::Fcn3 => {
                let mut network = network.clone();
                if self.model == ModelName::Fcn3 {
                    network.hidden = vec![128, 128];
                    network.activation = Activation::LeakyRelu(0.1);
                }
                let training = &mut network.training;
                training.learning_rate =
                    tried(trial, training.learning_rate, (5e-4, 1e-2), point(trial, 1));
                training.adapt_weight_decay &= trial == 0;
                training.weight_decay =
                    tried(trial, training.weight_decay, decays(training), point(trial, 2));
                network.augment = method.augment(trial, distances);
                network.split = split.clone();
                Kind::Network(Box::new(network))
            }
            ModelName::Ridge => {
                Kind::Ridge { penalty: tried(trial, 1.0, (0.01, 1000.0), point(trial, 1)) }
            }
            ModelName::Forest => Kind::Forest(forest_settings(trial, distances)),
            ModelName::ExtraTrees => Kind::ExtraTrees(forest_settings(trial, distances)),
            ModelName::Boosting => {
                let usual = BoostingSettings::default();
                let depth = if trial == 0 { usual.depth } else { 1 + count(8.0, point(trial, 1)) };
                let penalty = tried(trial, usual.penalty, (0.3, 30.0), point(trial, 2));
                Kind::Boosting(BoostingSettings { depth, penalty, ..usual })
            }
            ModelName::Gp => {
                let length_per_column = (trial > 0).then_some(trial.is_multiple_of(2));
                let usual = GaussianProcessSettings::default();
                Kind::GaussianProcess(GaussianProcessSettings { length_per_column, ..usual })
            }
            // The teacher, if it is distilled.
            ModelName::Auto | ModelName::Distilled => Kind::Auto(AutoConfig::new(split.clone())),
            ModelName::Estimator | ModelName::Mean => return None,
        })
    }
}

/// The settings of a forest or of extra trees in a trial.
fn forest_settings(trial: usize, distances: &Distances) -> ForestSettings {
    let usual = ForestSettings::default();
    if trial == 0 {
        return usual;
    }
    let features = count(distances.columns as f64, point(trial, 1));
    let leaf = count(8.0, point(trial, 2).powi(2));
    ForestSettings { leaf, features: Some(features), ..usual }
}

/// One of `1, …, most`, for a number in `[0, 1)`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few")]
fn count(most: f64, at: f64) -> usize {
    1 + (at * most) as usize
}

/// Statistics of the training rows that search ranges depend on.
#[derive(Debug, Clone, PartialEq)]
pub struct Distances {
    /// Distances between pairs of training rows, ascending.
    pub between: Vec<f64>,
    /// Number of training rows.
    pub rows: usize,
    /// Number of columns.
    pub columns: usize,
}

impl Distances {
    fn quantile(&self, share: f64) -> f64 {
        let place = (share * self.between.len() as f64).floor();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place")]
        let place = (place as usize).min(self.between.len().saturating_sub(1));
        self.between.get(place).copied().filter(|&far| far > 0.0).unwrap_or(1.0)
    }

    /// A number of groups, from 2 to a quarter of the rows, at most 64.
    fn groups(&self, at: f64) -> usize {
        let most = (self.rows as f64 / 4.0).clamp(2.0, 64.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "2 to 64")]
        let groups = (2.0 * (most / 2.0).powf(at)).round() as usize;
        groups.min(self.rows)
    }
}

/// The range of weight decay: in the gradient it is far stronger than decoupled.
pub(crate) fn decays(training: &TrainConfig) -> (f64, f64) {
    match training.optimizer {
        Optimizer::AdamW { .. } => (0.01, 2.0),
        _ => (1e-6, 1e-2),
    }
}

/// The default in the first trial, then a value of a range on a logarithmic scale.
fn tried(trial: usize, usual: f64, (low, high): (f64, f64), at: f64) -> f64 {
    if trial == 0 {
        return usual;
    }
    let value = low * (high / low).powf(at);
    // Rounded to three digits, for readability.
    format!("{value:.2e}").parse().unwrap_or(value)
}

/// A coordinate of a trial in [0, 1), from the Halton sequence, which fills a box evenly for any number of points.
pub(crate) fn point(trial: usize, coordinate: usize) -> f64 {
    let base = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61][coordinate - 1];
    let (mut rest, mut unit, mut out) = (trial, 1.0, 0.0);
    while rest > 0 {
        unit /= base as f64;
        out += unit * (rest % base) as f64;
        rest /= base;
    }
    out
}
