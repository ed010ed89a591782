//! Descriptions of methods and their parameters: names, defaults, ranges, help.
//!
//! The command's options, Python's defaults, the report's descriptions and the search spaces of `compare` and
//! `tune` come from this table. A method is described in its file (`INFO`) and listed in
//! [`METHODS`](super::METHODS); parameters are listed in [`PARAMS`].

use std::str::FromStr;
use std::sync::Arc;

use super::values::{
    Bandwidth, Epsilon, IntrinsicDimension, Neighborhood, NoiseUnits, Rho, SpectrumVariant,
};
use super::{Method, Per};
use crate::anchors::{AnchorSource, ClusterCount, ClusterOn, ClusterScaling};
use crate::{GammaDistribution, RareSpec, Result};

/// The description of an augmentation method.
#[derive(Debug)]
pub struct MethodInfo {
    /// The name in the command: `c-mixup`.
    pub name: &'static str,
    /// The name in prose: `C-Mixup`.
    pub title: &'static str,
    /// One line of help.
    pub help: &'static str,
    /// The same method on a hidden layer, if comparisons offer that.
    pub on_hidden_layer: Option<HiddenInfo>,
    /// The parameters that apply to it.
    pub params: &'static [&'static Param],
    /// Provenance of synthetic rows in addition to the source row.
    pub provenance: RowProvenance,
    /// Whether a synthetic row depends on other rows of its batch, so that the rows of a copy are drawn together.
    pub draws_together: bool,
    /// Parameters of a hyperparameter search, in order; parameters of one entry have the same value.
    pub search: &'static [&'static [&'static Param]],
    /// Whether `tune` searches the method.
    pub in_tune: bool,
    /// Whether its sources are rows with rare targets only.
    pub rare: bool,
    /// Whether comparisons include it by default.
    pub in_comparisons: bool,
    /// Creates the method.
    pub build: fn(&MethodParams) -> Arc<dyn Method>,
}

/// The names of a method on a hidden layer.
#[derive(Debug)]
#[expect(missing_docs, reason = "as in MethodInfo")]
pub struct HiddenInfo {
    pub name: &'static str,
    pub title: &'static str,
}

/// Provenance of a synthetic row in addition to its source row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowProvenance {
    /// None.
    Source,
    /// The group and γ.
    Group,
    /// The partner and λ.
    Pair,
    /// λ of its neighborhood.
    Neighborhood,
}

impl PartialEq for MethodInfo {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl MethodInfo {
    /// The method of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        super::METHODS.iter().copied().find(|method| method.name == name)
    }

    /// Whether a parameter applies to the method.
    #[must_use]
    pub fn has(&self, param: &Param) -> bool {
        self.params.iter().any(|own| own.name == param.name)
    }

    /// Returns an error if a parameter is outside its range.
    pub fn check(&self, params: &MethodParams) -> Result<()> {
        (self.build)(params).check()
    }
}

/// A parameter of methods.
#[derive(Debug)]
pub struct Param {
    /// The name in Rust and Python; the option `cluster_on` is `--cluster-on`.
    pub name: &'static str,
    /// The placeholder of the value in help texts.
    pub placeholder: &'static str,
    /// The default, as text; `None` if the parameter is required or has no effect by default.
    pub default: Option<&'static str>,
    /// The valid values, for help texts.
    pub range: &'static str,
    /// Whether all values are numbers.
    pub is_number: bool,
    /// One line of help.
    pub help: &'static str,
    /// The search space of `tune` and `compare`.
    pub search: Option<SearchRange>,
    /// How `compare` varies it from trial to trial.
    pub trial: Option<TrialSpec>,
    /// Parses and stores a value.
    pub set: fn(&mut MethodParams, &str) -> Result<(), String>,
    /// The value as text, if it is set.
    pub get: fn(&MethodParams) -> Option<String>,
}

/// How a parameter varies over the trials of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrialSpec {
    /// The coordinate of the Halton sequence.
    pub coordinate: usize,
    /// The value of the first trial; `None` is the default.
    pub first: Option<f64>,
}

/// A search space of one parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the ends of a range")]
pub enum SearchRange {
    /// Numbers on a logarithmic scale.
    Log { low: f64, high: f64 },
    /// Multiples of the standard deviation, on a logarithmic scale.
    LogDeviations { low: f64, high: f64 },
    /// Numbers of clusters, from 2 to a quarter of the rows.
    Clusters,
    /// Quantiles of the distances between training rows.
    DistanceQuantile { low: f64, high: f64 },
    /// One of several words.
    Choices(&'static [&'static str]),
}

impl Param {
    /// The parameter of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        PARAMS.iter().copied().find(|param| param.name == name)
    }
}

/// Values of parameters; `None` is the default.
///
/// ```
/// use windlass::{MethodInfo, MethodParams, Param};
///
/// let beta = Param::named("beta").unwrap();
/// let mut params = MethodParams::default();
/// (beta.set)(&mut params, "0.5").unwrap();
/// assert_eq!(params.beta, Some(0.5));
/// let mixup = MethodInfo::named("mixup").unwrap();
/// assert!(mixup.has(beta) && mixup.check(&params).is_ok());
/// ```
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[derive(Debug, Clone, PartialEq, Default)]
#[expect(missing_docs, reason = "PARAMS has a line of help for each")]
pub struct MethodParams {
    #[cfg_attr(feature = "serde", serde(skip))]
    pub anchors: Option<AnchorSource>,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub clusters: Option<ClusterCount>,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub cluster_on: Option<ClusterOn>,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub cluster_scale: Option<ClusterScaling>,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub within: Option<String>,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub alpha: Option<f64>,
    #[cfg_attr(feature = "serde", serde(skip))]
    pub gamma: Option<GammaDistribution>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub bandwidth: Option<Bandwidth>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub epsilon: Option<Epsilon>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub beta: Option<f64>,
    #[cfg_attr(
        feature = "serde",
        serde(rename = "targets", skip_serializing_if = "Option::is_none")
    )]
    pub target_noise: Option<f64>,
    #[cfg_attr(
        feature = "serde",
        serde(rename = "features", skip_serializing_if = "Option::is_none")
    )]
    pub feature_noise: Option<f64>,
    #[cfg_attr(
        feature = "serde",
        serde(rename = "relative", skip_serializing_if = "Option::is_none")
    )]
    pub noise_units: Option<NoiseUnits>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub per: Option<Per>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub neighbors: Option<usize>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub perturbation: Option<f64>,
    /// Which targets are rare, for methods with [`MethodInfo::rare`]. Not in `PARAMS`: it applies to more than the
    /// method.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub rare: Option<RareSpec>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub rho: Option<Rho>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub variant: Option<SpectrumVariant>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub sigma: Option<f64>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub dimension: Option<IntrinsicDimension>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub neighborhood: Option<Neighborhood>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub neighborhood_size: Option<usize>,
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub svd_scale: Option<ClusterScaling>,
}

impl MethodParams {
    /// The parameters that are set.
    pub fn given(&self) -> impl Iterator<Item = &'static Param> + '_ {
        PARAMS.iter().copied().filter(|param| (param.get)(self).is_some())
    }

    /// Sets every parameter of a method that is not set to its default.
    #[must_use]
    pub fn with_defaults(mut self, method: &MethodInfo) -> Self {
        for param in method.params {
            if let (None, Some(default)) = ((param.get)(&self), param.default) {
                (param.set)(&mut self, default).expect("defaults are in their range");
            }
        }
        self
    }

    /// The parameters that apply to a method.
    #[must_use]
    pub fn restricted_to(&self, method: &MethodInfo) -> Self {
        let mut own = Self { rare: self.rare.clone(), ..Self::default() };
        for param in method.params {
            if let Some(text) = (param.get)(self) {
                (param.set)(&mut own, &text).expect("values can be read again");
            }
        }
        own
    }

    /// The distribution of γ, with its range.
    #[must_use]
    pub fn gamma(&self) -> GammaDistribution {
        let gamma = self.gamma.clone().unwrap_or_default();
        match (gamma.alpha(), self.alpha) {
            (Some(_), Some(alpha)) => gamma.with_alpha(alpha),
            _ => gamma,
        }
    }
}

fn store<T: FromStr<Err = String>>(slot: &mut Option<T>, text: &str) -> Result<(), String> {
    *slot = Some(text.parse()?);
    Ok(())
}

fn store_number(slot: &mut Option<f64>, text: &str) -> Result<(), String> {
    *slot = Some(text.trim().parse().map_err(|_| format!("`{text}` is not a number"))?);
    Ok(())
}

fn text(value: Option<&impl ToString>) -> Option<String> {
    value.map(ToString::to_string)
}

/// Every parameter, in the order of help texts.
pub static PARAMS: [&Param; 23] = [
    &ANCHORS,
    &CLUSTERS,
    &CLUSTER_ON,
    &CLUSTER_SCALE,
    &WITHIN,
    &ALPHA,
    &GAMMA,
    &PER,
    &BETA,
    &BANDWIDTH,
    &EPSILON,
    &TARGET_NOISE,
    &FEATURE_NOISE,
    &NOISE_UNITS,
    &NEIGHBORS,
    &PERTURBATION,
    &RHO,
    &VARIANT,
    &SIGMA,
    &DIMENSION,
    &NEIGHBORHOOD,
    &NEIGHBORHOOD_SIZE,
    &SVD_SCALE,
];

/// A parameter without a default that neither a search nor a comparison varies.
const TEXT: Param = Param {
    name: "",
    placeholder: "",
    default: None,
    range: "",
    is_number: false,
    help: "",
    search: None,
    trial: None,
    set: |_, _| Ok(()),
    get: |_| None,
};

pub(super) static ANCHORS: Param = Param {
    name: "anchors",
    placeholder: "ANCHORS",
    default: Some("kmeans"),
    range: "kmeans, bins:COLUMN, quantiles:COLUMN, column:COLUMN, matrix:FILE",
    help: "How to group rows",
    set: |params, text| store(&mut params.anchors, text),
    get: |params| text(params.anchors.as_ref()),
    ..TEXT
};

pub(super) static CLUSTERS: Param = Param {
    name: "clusters",
    placeholder: "N|auto",
    default: Some("auto"),
    range: "[1, inf), auto: √(rows/2), at least 2, at most 32",
    help: "Number of clusters or bins",
    search: Some(SearchRange::Clusters),
    trial: Some(TrialSpec { coordinate: 4, first: None }),
    set: |params, text| store(&mut params.clusters, text),
    get: |params| text(params.clusters.as_ref()),
    ..TEXT
};

pub(super) static CLUSTER_ON: Param = Param {
    name: "cluster_on",
    placeholder: "COLUMNS",
    default: Some("xy"),
    range: "x, y, xy",
    help: "Columns for k-means: features, targets or both",
    search: Some(SearchRange::Choices(&["x", "y", "xy"])),
    set: |params, text| store(&mut params.cluster_on, text),
    get: |params| text(params.cluster_on.as_ref()),
    ..TEXT
};

pub(super) static CLUSTER_SCALE: Param = Param {
    name: "cluster_scale",
    placeholder: "SCALE",
    default: Some("standard"),
    range: "standard, raw",
    help: "Standardize columns before k-means, or use raw values",
    set: |params, text| store(&mut params.cluster_scale, text),
    get: |params| text(params.cluster_scale.as_ref()),
    ..TEXT
};

pub(super) static WITHIN: Param = Param {
    name: "within",
    placeholder: "COLUMN",
    range: "a categorical column",
    help: "Form groups separately within each level of this column",
    set: |params, text| {
        params.within = Some(text.to_owned());
        Ok(())
    },
    get: |params| params.within.clone(),
    ..TEXT
};

pub(super) static ALPHA: Param = Param {
    name: "alpha",
    placeholder: "α",
    default: Some("2"),
    range: "(1, 1e16]",
    is_number: true,
    help: "Draw γ from [1/α, α]",
    search: Some(SearchRange::Log { low: 1.2, high: 8.0 }),
    trial: Some(TrialSpec { coordinate: 3, first: Some(2.0) }),
    set: |params, text| store_number(&mut params.alpha, text),
    get: |params| text(params.alpha.as_ref()),
};

pub(super) static GAMMA: Param = Param {
    name: "gamma",
    placeholder: "DISTRIBUTION",
    default: Some("uniform"),
    range: "uniform, grid[:K], published-grid[:K], log-uniform, gamma:SHAPE,SCALE, list:γ,γ,… (in \
            turn), or one number",
    help: "Distribution of γ",
    search: Some(SearchRange::Choices(&["uniform", "log-uniform", "grid"])),
    set: |params, text| store(&mut params.gamma, text),
    get: |params| text(params.gamma.as_ref()),
    ..TEXT
};

pub(super) static PER: Param = Param {
    name: "per",
    placeholder: "WHAT",
    default: Some("auto"),
    range: "row, copy, auto: row for tables, copy in training",
    help: "Draw one γ or λ per row, or one per copy (in training, per batch)",
    set: |params, text| store(&mut params.per, text),
    get: |params| text(params.per.as_ref()),
    ..TEXT
};

pub(super) static BETA: Param = Param {
    name: "beta",
    placeholder: "β",
    default: Some("2"),
    range: "(0, inf)",
    is_number: true,
    help: "Draw λ from Beta(β, β)",
    search: Some(SearchRange::Log { low: 0.1, high: 4.0 }),
    trial: Some(TrialSpec { coordinate: 3, first: Some(2.0) }),
    set: |params, text| store_number(&mut params.beta, text),
    get: |params| text(params.beta.as_ref()),
};

pub(super) static BANDWIDTH: Param = Param {
    name: "bandwidth",
    placeholder: "H",
    default: Some("0.25sd"),
    range: "(0, inf), in units of the target, or in standard deviations such as 0.25sd",
    help: "Bandwidth of the Gaussian kernel on targets that chooses partners",
    search: Some(SearchRange::LogDeviations { low: 0.05, high: 2.0 }),
    trial: Some(TrialSpec { coordinate: 4, first: Some(0.25) }),
    set: |params, text| store(&mut params.bandwidth, text),
    get: |params| text(params.bandwidth.as_ref()),
    ..TEXT
};

pub(super) static EPSILON: Param = Param {
    name: "epsilon",
    placeholder: "ε",
    default: Some("auto"),
    range: "(0, inf), in units of the features, or of standardized features such as 1.5sd; auto: a \
            distance that admits about a quarter of all pairs",
    help: "Maximum distance between the features of partners",
    search: Some(SearchRange::DistanceQuantile { low: 0.01, high: 1.0 }),
    trial: Some(TrialSpec { coordinate: 4, first: Some(0.5) }),
    set: |params, text| store(&mut params.epsilon, text),
    get: |params| text(params.epsilon.as_ref()),
    ..TEXT
};

pub(super) static TARGET_NOISE: Param = Param {
    name: "target_noise",
    placeholder: "σ",
    default: Some("0.1"),
    range: "[0, inf)",
    is_number: true,
    help: "Standard deviation of the noise on targets",
    search: Some(SearchRange::Log { low: 0.01, high: 0.5 }),
    trial: Some(TrialSpec { coordinate: 3, first: Some(0.1) }),
    set: |params, text| store_number(&mut params.target_noise, text),
    get: |params| text(params.target_noise.as_ref()),
};

pub(super) static FEATURE_NOISE: Param = Param {
    name: "feature_noise",
    placeholder: "σ",
    default: Some("0"),
    range: "[0, inf)",
    is_number: true,
    help: "Standard deviation of the noise on features",
    search: Some(SearchRange::Log { low: 0.01, high: 0.5 }),
    trial: Some(TrialSpec { coordinate: 4, first: Some(0.1) }),
    set: |params, text| store_number(&mut params.feature_noise, text),
    get: |params| text(params.feature_noise.as_ref()),
};

pub(super) static NOISE_UNITS: Param = Param {
    name: "noise_units",
    placeholder: "UNITS",
    default: Some("sd"),
    range: "sd, absolute",
    help: "Units of the noise: standard deviations of each column, or units of the column",
    set: |params, text| store(&mut params.noise_units, text),
    get: |params| text(params.noise_units.as_ref()),
    ..TEXT
};

pub(super) static NEIGHBORS: Param = Param {
    name: "neighbors",
    placeholder: "K",
    default: Some("5"),
    range: "[1, 1000]",
    is_number: true,
    help: "Number of nearest rare rows of which one is the partner",
    set: |params, text| {
        params.neighbors =
            Some(text.trim().parse().map_err(|_| format!("`{text}` is not a whole number"))?);
        Ok(())
    },
    get: |params| text(params.neighbors.as_ref()),
    ..TEXT
};

pub(super) static PERTURBATION: Param = Param {
    name: "perturbation",
    placeholder: "P",
    default: Some("0.02"),
    range: "[0, inf)",
    is_number: true,
    help: "Standard deviation of the noise, in standard deviations of each column",
    set: |params, text| store_number(&mut params.perturbation, text),
    get: |params| text(params.perturbation.as_ref()),
    ..TEXT
};

pub(super) static RHO: Param = Param {
    name: "rho",
    placeholder: "ρ",
    default: Some("0.95"),
    range: "(0, 1], dimension: as many directions as the intrinsic dimension of the rows",
    help: "Share of the sum of singular values of the directions that stay",
    search: Some(SearchRange::Log { low: 0.7, high: 0.99 }),
    trial: Some(TrialSpec { coordinate: 4, first: Some(0.95) }),
    set: |params, text| store(&mut params.rho, text),
    get: |params| text(params.rho.as_ref()),
    ..TEXT
};

pub(super) static VARIANT: Param = Param {
    name: "variant",
    placeholder: "VARIANT",
    default: Some("paper"),
    range: "paper, published: shrink leading singular values and keep targets, \
            published-trailing: keep targets",
    help: "Shrink trailing singular values of features and targets, or do as the published code",
    set: |params, text| store(&mut params.variant, text),
    get: |params| text(params.variant.as_ref()),
    ..TEXT
};

pub(super) static SIGMA: Param = Param {
    name: "sigma",
    placeholder: "σ",
    default: Some("0.1"),
    range: "[0, 1e6]",
    is_number: true,
    help: "Standard deviation of the step along the surface",
    search: Some(SearchRange::Log { low: 0.01, high: 0.5 }),
    trial: Some(TrialSpec { coordinate: 3, first: Some(0.1) }),
    set: |params, text| store_number(&mut params.sigma, text),
    get: |params| text(params.sigma.as_ref()),
};

pub(super) static DIMENSION: Param = Param {
    name: "dimension",
    placeholder: "D|auto",
    default: Some("auto"),
    range: "[1, inf), auto: estimated by two nearest neighbors",
    help: "Dimension of the surface that rows lie on",
    set: |params, text| store(&mut params.dimension, text),
    get: |params| text(params.dimension.as_ref()),
    ..TEXT
};

pub(super) static NEIGHBORHOOD: Param = Param {
    name: "neighborhood",
    placeholder: "ROWS",
    default: Some("auto"),
    range: "nearest, near: probability ∝ 1/distance, random, row: one for each row, auto: row if \
            possible, else nearest in tables and random in training",
    help: "Rows of a neighborhood; in training, of a batch",
    set: |params, text| store(&mut params.neighborhood, text),
    get: |params| text(params.neighborhood.as_ref()),
    ..TEXT
};

pub(super) static NEIGHBORHOOD_SIZE: Param = Param {
    name: "neighborhood_size",
    placeholder: "N",
    default: Some("32"),
    range: "[2, 4096]",
    is_number: true,
    help: "Number of rows of a neighborhood, unless a batch is one",
    set: |params, text| {
        let number = text.trim().parse().map_err(|_| format!("`{text}` is not a whole number"))?;
        params.neighborhood_size = Some(number);
        Ok(())
    },
    get: |params| text(params.neighborhood_size.as_ref()),
    ..TEXT
};

pub(super) static SVD_SCALE: Param = Param {
    name: "svd_scale",
    placeholder: "SCALE",
    default: Some("standard"),
    range: "standard, raw",
    help: "Standardize columns before finding neighbors and directions, or use raw values",
    set: |params, text| store(&mut params.svd_scale, text),
    get: |params| text(params.svd_scale.as_ref()),
    ..TEXT
};
