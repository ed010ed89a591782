//! What a user says of a method, in words and numbers, and the settings that come of it. The command and the
//! Python package both ask here, so they have the same defaults, words and refusals.

use std::str::FromStr;

use windlass::{Bandwidth, ClusterOn, ClusterScaling, GammaDistribution, Per};

use crate::{AdaConfig, AnchorSource, ClusterCount, Error, Method, Result};

/// A method by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the library's types explain each")]
pub enum MethodName {
    Ada,
    Mixup,
    CMixup,
    LocalMixup,
    Noise,
}

impl FromStr for MethodName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Ok(match text {
            "ada" => Self::Ada,
            "mixup" => Self::Mixup,
            "c-mixup" => Self::CMixup,
            "local-mixup" => Self::LocalMixup,
            "noise" => Self::Noise,
            _ => return Err("methods are ada, mixup, c-mixup, local-mixup and noise".into()),
        })
    }
}

/// What each method may be told; `None` stands for its default.
///
/// | Option | Of | Default |
/// | :-- | :-- | :-- |
/// | `published` | ADA | `false`: start from the choices of the published code |
/// | `anchors` | ADA | k-means |
/// | `clusters` | ADA: k-means, bins | [`ClusterCount::Auto`] |
/// | `on`, `scale` | ADA: k-means | `[x, y]`, standardized |
/// | `within` | ADA | – |
/// | `alpha` | ADA: laws with a range | `2` |
/// | `gamma` | ADA | uniform |
/// | `per` | ADA, mixups | a copy |
/// | `beta` | mixups | `2` |
/// | `bandwidth` | C-Mixup | 0.25 standard deviations |
/// | `epsilon` | Local-Mixup | needed |
/// | `noise_targets`, `noise_features` | noise | `0.1`, `0` |
/// | `noise_absolute` | noise | `false`: in standard deviations of each column |
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "the table explains each field")]
pub struct MethodOptions {
    pub published: bool,
    pub anchors: Option<AnchorSource>,
    pub clusters: Option<ClusterCount>,
    pub on: Option<ClusterOn>,
    pub scale: Option<ClusterScaling>,
    pub within: Option<String>,
    pub alpha: Option<f64>,
    pub gamma: Option<GammaSpec>,
    pub per: Option<Per>,
    pub beta: Option<f64>,
    pub bandwidth: Option<Bandwidth>,
    pub epsilon: Option<f64>,
    pub noise_targets: Option<f64>,
    pub noise_features: Option<f64>,
    pub noise_absolute: bool,
}

impl MethodOptions {
    /// The settings of a method; options that it has no use for are refused, not ignored.
    pub fn method(&self, name: MethodName) -> Result<Method> {
        let per = self.per.unwrap_or_default();
        let beta = self.beta.unwrap_or(2.0);
        let method = match name {
            MethodName::Ada => Method::Ada(self.ada(per)),
            MethodName::Mixup => Method::Mixup { beta, per },
            MethodName::CMixup => {
                let bandwidth = self.bandwidth.unwrap_or(Bandwidth::Deviations(0.25));
                Method::CMixup { bandwidth, beta, per }
            }
            MethodName::LocalMixup => {
                let (of, option) = ("local-mixup", "--epsilon");
                let epsilon = self.epsilon.ok_or(Error::Needs { of, option })?;
                Method::LocalMixup { epsilon, beta, per }
            }
            MethodName::Noise => Method::Noise {
                targets: self.noise_targets.unwrap_or(0.1),
                features: self.noise_features.unwrap_or(0.0),
                relative: !self.noise_absolute,
            },
        };
        self.refuse_others(&method)?;
        Ok(method)
    }

    fn ada(&self, per: Per) -> AdaConfig {
        let usual = AdaConfig::default();
        let alpha = self.alpha.unwrap_or(2.0);
        let gamma = match (&self.gamma, self.published) {
            (Some(gamma), _) => gamma.law(alpha),
            (None, true) => GammaDistribution::PublishedGrid { alpha, values: GammaSpec::GRID },
            (None, false) => GammaDistribution::Uniform { alpha },
        };
        let usual_scale = if self.published { ClusterScaling::Raw } else { usual.scale };
        AdaConfig {
            anchors: self.anchors.clone().unwrap_or_default(),
            clusters: self.clusters.unwrap_or_default(),
            on: self.on.unwrap_or(usual.on),
            scale: self.scale.unwrap_or(usual_scale),
            within: self.within.clone(),
            gamma,
            per,
        }
    }

    /// An option that was given, if any was.
    #[must_use]
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            (self.anchors.is_some(), "--anchors"),
            (self.clusters.is_some(), "--clusters"),
            (self.gamma.is_some(), "--gamma"),
            (self.published, "--preset"),
            (self.on.is_some(), "--on"),
            (self.scale.is_some(), self.scale_option()),
            (self.within.is_some(), "--within"),
            (self.alpha.is_some(), "--alpha"),
            (self.per.is_some(), "--per"),
            (self.beta.is_some(), "--beta"),
            (self.bandwidth.is_some(), "--bandwidth"),
            (self.epsilon.is_some(), "--epsilon"),
            (self.noise_targets.is_some(), "--noise-targets"),
            (self.noise_features.is_some(), "--noise-features"),
            (self.noise_absolute, "--noise-absolute"),
        ];
        given.into_iter().find(|(given, _)| *given).map(|(_, option)| option)
    }

    fn scale_option(&self) -> &'static str {
        if self.scale == Some(ClusterScaling::Raw) { "--raw" } else { "--standardize" }
    }

    fn refuse_others(&self, method: &Method) -> Result<()> {
        let ada = matches!(method, Method::Ada(_));
        let noise = matches!(method, Method::Noise { .. });
        let mixup = !ada && !noise;
        let c_mixup = matches!(method, Method::CMixup { .. });
        let local = matches!(method, Method::LocalMixup { .. });
        let ranged = self.gamma.as_ref().is_none_or(GammaSpec::is_ranged);
        for (given, of_use, option) in [
            (self.published, ada, "--preset"),
            (self.anchors.is_some(), ada, "--anchors"),
            (self.clusters.is_some(), ada, "--clusters"),
            (self.on.is_some(), ada, "--on"),
            (self.scale.is_some(), ada, self.scale_option()),
            (self.within.is_some(), ada, "--within"),
            (self.alpha.is_some(), ada && ranged, "--alpha"),
            (self.gamma.is_some(), ada, "--gamma"),
            (self.per.is_some(), ada || mixup, "--per"),
            (self.beta.is_some(), mixup, "--beta"),
            (self.bandwidth.is_some(), c_mixup, "--bandwidth"),
            (self.epsilon.is_some(), local, "--epsilon"),
            (self.noise_targets.is_some(), noise, "--noise-targets"),
            (self.noise_features.is_some(), noise, "--noise-features"),
            (self.noise_absolute, noise, "--noise-absolute"),
        ] {
            if given && !of_use {
                let to = if ada { "this law of γ" } else { method.name() };
                let to = if ada && option != "--alpha" { "ada" } else { to };
                return Err(Error::DoesNotApply { option, to });
            }
        }
        if let Some(anchors) = &self.anchors {
            anchors.check_clusters(self.clusters)?;
        }
        let found = self.anchors.as_ref().is_none_or(|anchors| *anchors == AnchorSource::KMeans);
        for (given, option) in
            [(self.on.is_some(), "--on"), (self.scale.is_some(), self.scale_option())]
        {
            if given && !found {
                return Err(Error::DoesNotApply { option, to: "anchors other than kmeans" });
            }
        }
        Ok(())
    }
}

impl AnchorSource {
    /// Refuses a number of clusters where groups are not found.
    pub fn check_clusters(&self, clusters: Option<ClusterCount>) -> Result<()> {
        if clusters.is_some() && matches!(self, Self::Column(_) | Self::Matrix(_)) {
            return Err(Error::DoesNotApply { option: "--clusters", to: "these --anchors" });
        }
        Ok(())
    }
}

impl FromStr for AnchorSource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, of) = text.split_once(':').unwrap_or((text, ""));
        let named = |make: fn(String) -> Self| match of {
            "" => Err(format!("`{kind}` needs a name: {kind}:NAME")),
            of => Ok(make(of.to_owned())),
        };
        match kind {
            "kmeans" if of.is_empty() => Ok(Self::KMeans),
            "bins" => named(Self::Bins),
            "quantiles" => named(Self::Quantiles),
            "column" => named(Self::Column),
            "matrix" => named(|path| Self::Matrix(path.into())),
            _ => Err("anchors are kmeans, bins:COLUMN, quantiles:COLUMN, column:COLUMN or \
                      matrix:FILE"
                .into()),
        }
    }
}

impl FromStr for ClusterCount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            _ => match text.parse() {
                Ok(count) if count > 0 => Ok(Self::Count(count)),
                _ => Err("a number from 1 on, or `auto`".into()),
            },
        }
    }
}

/// A law of γ, its range still open.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "GammaLaw explains each")]
pub enum GammaSpec {
    Uniform,
    LogUniform,
    Grid(usize),
    PublishedGrid(usize),
    Gamma { shape: f64, scale: f64 },
    List(Vec<f64>),
}

impl GammaSpec {
    /// The values of a grid, if not said.
    const GRID: usize = 20;

    fn law(&self, alpha: f64) -> GammaDistribution {
        match *self {
            Self::Uniform => GammaDistribution::Uniform { alpha },
            Self::LogUniform => GammaDistribution::LogUniform { alpha },
            Self::Grid(values) => GammaDistribution::PaperGrid { alpha, values },
            Self::PublishedGrid(values) => GammaDistribution::PublishedGrid { alpha, values },
            Self::Gamma { shape, scale } => GammaDistribution::Gamma { shape, scale },
            Self::List(ref list) => GammaDistribution::List(list.clone()),
        }
    }

    /// Whether it has a range `[1/alpha, alpha]`.
    #[must_use]
    pub fn is_ranged(&self) -> bool {
        !matches!(self, Self::Gamma { .. } | Self::List(_))
    }
}

impl FromStr for GammaSpec {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(gamma) = text.parse() {
            return Ok(Self::List(vec![gamma]));
        }
        let (law, of) = text.split_once(':').unwrap_or((text, ""));
        let numbers = || -> Result<Vec<f64>, String> {
            of.split(',')
                .map(|number| number.trim().parse().map_err(|_| format!("`{number}` is no number")))
                .collect()
        };
        let count = || match of {
            "" => Ok(Self::GRID),
            of => of.parse().map_err(|_| format!("`{of}` is no number of values")),
        };
        match law {
            "uniform" if of.is_empty() => Ok(Self::Uniform),
            "log-uniform" if of.is_empty() => Ok(Self::LogUniform),
            "grid" => count().map(Self::Grid),
            "published-grid" => count().map(Self::PublishedGrid),
            "list" => numbers().map(Self::List),
            "gamma" => match numbers()?[..] {
                [shape, scale] => Ok(Self::Gamma { shape, scale }),
                _ => Err("a gamma distribution has two numbers: gamma:SHAPE,SCALE".into()),
            },
            _ => {
                Err("γ is uniform, grid[:K], published-grid[:K], log-uniform, gamma:SHAPE,SCALE, \
                      list:γ,γ,… or a number"
                    .into())
            }
        }
    }
}

/// A bandwidth in the units of the target, or in standard deviations as in `0.25sd`.
pub fn bandwidth(text: &str) -> Result<Bandwidth, String> {
    let (number, make): (_, fn(f64) -> Bandwidth) = match text.strip_suffix("sd") {
        Some(number) => (number, Bandwidth::Deviations),
        None => (text, Bandwidth::Absolute),
    };
    number.trim().parse().map(make).map_err(|_| "a number, or deviations as in 0.25sd".into())
}
