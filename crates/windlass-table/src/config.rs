//! The settings of an augmentation, as stored in the metadata of an output.

use std::collections::BTreeMap;
use std::fmt;

use arrow_schema::Schema;
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap as _, SerializeTuple as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use windlass::{
    Ada, Anchors, ClusterOn, ClusterScaling, Clustering, GammaDistribution, METHODS, MethodInfo,
    MethodParams, ParamName, Partition, Per, RareSpec, RowProvenance,
};
pub use windlass::{AnchorSource, ClusterCount};

use crate::bounds::Bounds;
use crate::{Error, Result, RowIdSource};

/// The settings of an augmentation.
///
/// | Setting | Default | Meaning |
/// | :-- | :-- | :-- |
/// | `columns` | – | requested roles of columns |
/// | `method` | ADA | augmentation method |
/// | `copies` | `1` | number of synthetic rows per row |
/// | `rare` | – | which rows are sources of synthetic rows, if only those with rare targets are |
/// | `originals` | `true` | whether the original rows are written too, before the copies |
/// | `seed` | `0` | random seed |
/// | `clip` | `false` | clip synthetic values to the observed range of their column |
/// | `bounds` | – | bounds of columns: synthetic values are clipped, original values outside are an error |
/// | `decimals` | those of the input | decimals of synthetic values for text input |
/// | `drop_missing_target` | `false` | drop rows without a finite target instead of returning an error |
/// | `provenance` | `false` | add columns with the provenance of each row |
/// | `rows_by` | row number | row identifier |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the table explains each field")]
pub struct AugmentConfig {
    pub columns: Columns,
    pub method: MethodConfig,
    pub copies: usize,
    pub originals: bool,
    pub seed: u64,
    pub clip: bool,
    pub drop_missing_target: bool,
    pub provenance: bool,
    #[serde(default)]
    pub rows_by: RowIdSource,
    #[serde(default)]
    pub bounds: BTreeMap<String, Bounds>,
    #[serde(default = "Decimals::of_0_1_0")]
    pub decimals: Decimals,
    #[serde(default)]
    pub rare: Option<RareSources>,
}

/// Rows with rare targets as the only sources of synthetic rows. Rows are rare by the first target.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RareSources {
    /// Which targets are rare.
    pub targets: RareSpec,
    /// Whether `copies` is set by the rows: [as many as make rare rows as many as the
    /// others](windlass::Copies::balancing).
    pub balance: bool,
}

/// The decimals of synthetic values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decimals {
    /// The maximum number of decimals of the column in a text file. Values of Parquet, Arrow and memory are not
    /// rounded.
    #[default]
    Auto,
    /// Not rounded.
    Full,
}

impl Decimals {
    /// The default for files of 0.1.0.
    fn of_0_1_0() -> Self {
        Self::Full
    }
}

impl AugmentConfig {
    /// The defaults for these targets.
    #[must_use]
    pub fn new(targets: &[&str]) -> Self {
        let target = targets.iter().map(ToString::to_string).collect();
        Self {
            columns: Columns { target, ..Columns::default() },
            method: MethodConfig::Ada(AdaConfig::default()),
            copies: 1,
            originals: true,
            seed: 0,
            clip: false,
            drop_missing_target: false,
            provenance: false,
            rows_by: RowIdSource::Number,
            bounds: BTreeMap::new(),
            decimals: Decimals::Auto,
            rare: None,
        }
    }

    /// Returns an error for settings outside their range, before any file is read.
    pub fn check(&self) -> windlass::Result<()> {
        // Without copies only the original rows are written.
        if self.copies > 0 || !self.originals {
            windlass::Copies::new(self.copies).check()?;
        }
        self.method.check()
    }

    /// The sources of synthetic rows, if they are rare rows only: as set, or by the defaults of the method.
    pub(crate) fn rare_targets(&self) -> Option<RareSpec> {
        let default = || self.method.info().rare.then(RareSpec::default);
        self.rare.as_ref().map(|rare| rare.targets.clone()).or_else(default)
    }

    /// Whether random numbers depend on rows, so that rows need identifiers.
    #[must_use]
    pub fn draws_for_rows(&self) -> bool {
        !matches!(&self.method, MethodConfig::Ada(ada) if ada.per.of_table() == Per::Batch)
    }

    /// Whether duplicate rows must be counted.
    pub(crate) fn needs_duplicate_counts(&self) -> bool {
        self.rows_by == RowIdSource::Content && self.draws_for_rows()
    }
}

/// Requested roles of columns; the others are inferred (see [`Role`](crate::Role)).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Columns {
    /// The columns to predict.
    pub target: Vec<String>,
    /// The only columns to augment, if given; the others are carried.
    pub features: Option<Vec<String>>,
    /// Columns omitted from the output.
    pub exclude: Vec<String>,
    /// Columns copied from the source row, such as ids.
    pub carry: Vec<String>,
    /// Columns copied from the source row as categories.
    pub categorical: Vec<String>,
    /// Columns to augment although they are dates, times, 0/1, a row counter or an identifier.
    pub continuous: Vec<String>,
    /// The column of row weights in means, standard deviations and clusters.
    pub weight: Option<String>,
    /// The type of synthetic values in integer columns.
    pub integers: IntegerHandling,
    /// How roles that were not requested are inferred.
    #[serde(default = "RoleRules::of_0_1_0")]
    pub rules: RoleRules,
}

impl Columns {
    /// The same, with the role "carried" for a column of the table that has no requested role.
    #[must_use]
    pub fn carrying(mut self, column: Option<&str>, schema: &Schema) -> Self {
        let Some(name) = column.filter(|name| schema.index_of(name).is_ok()) else { return self };
        let is = |other: &String| other == name;
        let lists = [&self.exclude, &self.carry, &self.categorical, &self.continuous];
        let requested = lists.iter().any(|list| list.iter().any(is));
        let chosen = self.features.as_ref().is_some_and(|features| features.iter().any(is));
        if !requested && !chosen && !self.target.iter().any(is) {
            self.carry.push(name.to_owned());
        }
        self
    }
}

/// The rules by which roles are inferred, so that old outputs can be verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum RoleRules {
    /// 0.1.0: integers with at most 20 values and dates are categories, all other numbers continuous.
    #[serde(rename = "1")]
    V1,
    /// See [`Role`](crate::Role).
    #[default]
    #[serde(rename = "2")]
    V2,
}

impl RoleRules {
    fn of_0_1_0() -> Self {
        Self::V1
    }
}

/// The type of synthetic values in integer columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IntegerHandling {
    /// Rounded to the nearest integer of the column's type.
    #[default]
    Round,
    /// The column becomes floats.
    Float,
}

/// A method with its parameters.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "one per table")]
pub enum MethodConfig {
    /// [`windlass::Ada`], whose anchors may be columns of the table.
    Ada(AdaConfig),
    /// A method that needs only the numeric values of rows.
    Other {
        /// The method.
        method: &'static MethodInfo,
        /// All of its parameters.
        params: MethodParams,
    },
}

impl MethodConfig {
    /// A method with some parameters and the defaults of the others. Parameters that do not apply are an error.
    pub fn new(method: &'static MethodInfo, params: &MethodParams) -> Result<Self> {
        if let Some(param) = params.given().find(|param| !method.has(param)) {
            return Err(Error::DoesNotApply { param: ParamName(param.name), to: method.name });
        }
        if method.provenance == RowProvenance::Group {
            return AdaConfig::new(params).map(Self::Ada);
        }
        Ok(Self::Other { method, params: params.clone().with_defaults(method) })
    }

    /// The method's entry in the registry.
    #[must_use]
    pub fn info(&self) -> &'static MethodInfo {
        match self {
            Self::Ada(_) => MethodInfo::named("ada").expect("ADA is a method"),
            Self::Other { method, .. } => method,
        }
    }

    /// The name of the method.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.info().name
    }

    /// The parameters of the method, for descriptions.
    #[must_use]
    pub fn params(&self) -> MethodParams {
        match self {
            Self::Ada(ada) => MethodParams {
                anchors: Some(ada.anchors.clone()),
                clusters: Some(ada.clusters),
                cluster_on: Some(ada.on),
                cluster_scale: Some(ada.scale),
                within: ada.within.clone(),
                alpha: ada.gamma.alpha(),
                gamma: Some(ada.gamma.clone()),
                per: Some(ada.per),
                ..MethodParams::default()
            },
            Self::Other { params, .. } => params.clone(),
        }
    }

    /// Returns an error for parameters outside their range.
    pub fn check(&self) -> windlass::Result<()> {
        self.info().check(&self.params())
    }
}

/// In JSON `{"mixup": {"beta": 2.0, "per": "batch"}}`; in binary formats the place of the method in the registry,
/// then its parameters (0 is ADA, whose bytes are those of 0.1.0).
impl Serialize for MethodConfig {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            let mut map = serializer.serialize_map(Some(1))?;
            match self {
                Self::Ada(ada) => map.serialize_entry("ada", ada)?,
                Self::Other { method, params } => map.serialize_entry(method.name, params)?,
            }
            return map.end();
        }
        let mut tuple = serializer.serialize_tuple(2)?;
        match self {
            Self::Ada(ada) => {
                tuple.serialize_element(&0_u32)?;
                tuple.serialize_element(ada)?;
            }
            Self::Other { method, params } => {
                let place = METHODS.iter().position(|other| other == method).unwrap_or(0);
                let params = serde_json::to_string(params).map_err(serde::ser::Error::custom)?;
                tuple.serialize_element(&u32::try_from(place + 1).unwrap_or(0))?;
                tuple.serialize_element(&params)?;
            }
        }
        tuple.end()
    }
}

impl<'de> Deserialize<'de> for MethodConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Config;

        impl<'de> Visitor<'de> for Config {
            type Value = MethodConfig;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a method with its parameters")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<MethodConfig, A::Error> {
                let name: String = map.next_key()?.ok_or_else(|| A::Error::custom("no method"))?;
                if name == "ada" {
                    return map.next_value().map(MethodConfig::Ada);
                }
                let method = MethodInfo::named(&name)
                    .ok_or_else(|| A::Error::custom(format!("unknown method `{name}`")))?;
                let params = map.next_value()?;
                MethodConfig::new(method, &params).map_err(A::Error::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<MethodConfig, A::Error> {
                let short = || A::Error::custom("a method has parameters");
                let place: u32 = seq.next_element()?.ok_or_else(short)?;
                let Some(place) = (place as usize).checked_sub(1) else {
                    return seq.next_element()?.map(MethodConfig::Ada).ok_or_else(short);
                };
                let method =
                    METHODS.get(place).ok_or_else(|| A::Error::custom("unknown method"))?;
                let params: String = seq.next_element()?.ok_or_else(short)?;
                let params = serde_json::from_str(&params).map_err(A::Error::custom)?;
                MethodConfig::new(method, &params).map_err(A::Error::custom)
            }
        }

        if deserializer.is_human_readable() {
            deserializer.deserialize_map(Config)
        } else {
            deserializer.deserialize_tuple(2, Config)
        }
    }
}

/// Settings of Anchor Data Augmentation on a table.
///
/// | Setting | Default | Meaning |
/// | :-- | :-- | :-- |
/// | `anchors` | k-means | grouping of rows |
/// | `clusters` | automatic | groups of k-means, or bins |
/// | `on`, `scale` | `[x, y]`, standardized | columns and scaling for k-means |
/// | `within` | – | a categorical column within whose levels groups are formed |
/// | `gamma` | uniform on `[1/2, 2]` | distribution of γ |
/// | `per` | [`Per::Auto`] | one γ per row of a table, one per minibatch |
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "the table explains each field")]
pub struct AdaConfig {
    pub anchors: AnchorSource,
    pub clusters: ClusterCount,
    pub on: ClusterOn,
    pub scale: ClusterScaling,
    pub within: Option<String>,
    pub gamma: GammaDistribution,
    pub per: Per,
}

impl AdaConfig {
    /// ADA with some parameters; those that do not apply to the anchors are an error.
    pub fn new(params: &MethodParams) -> Result<Self> {
        let anchors = params.anchors.clone().unwrap_or_default();
        if params.clusters.is_some() {
            check_clusters(&anchors)?;
        }
        if anchors != AnchorSource::KMeans
            && let Some(param) = params.given().find(|param| param.name.starts_with("cluster_"))
        {
            let to = "anchors other than kmeans";
            return Err(Error::DoesNotApply { param: ParamName(param.name), to });
        }
        let gamma = params.gamma();
        if params.alpha.is_some() && gamma.alpha().is_none() {
            let to = "this distribution of γ";
            return Err(Error::DoesNotApply { param: ParamName("alpha"), to });
        }
        Ok(Self {
            anchors,
            clusters: params.clusters.unwrap_or_default(),
            on: params.cluster_on.unwrap_or_default(),
            scale: params.cluster_scale.unwrap_or_default(),
            within: params.within.clone(),
            gamma,
            per: params.per.unwrap_or_default(),
        })
    }

    /// The library's method on these anchors.
    #[must_use]
    pub fn method(&self, anchors: Anchors, within: Option<Partition>) -> Ada {
        let ada = Ada::default().anchors(anchors).gamma(self.gamma.clone()).per(self.per);
        match within {
            Some(levels) => ada.within(levels),
            None => ada,
        }
    }

    /// The number of groups in each of `levels` levels.
    #[must_use]
    pub fn groups_in(&self, rows: u64, levels: usize) -> usize {
        self.clusters.resolve(rows / (levels as u64).max(1))
    }

    /// k-means anchors with this number of groups.
    #[must_use]
    pub fn found(&self, groups: usize) -> Anchors {
        Anchors::KMeans(Clustering { clusters: groups.into(), on: self.on, scale: self.scale })
    }
}

/// Returns an error for a number of clusters if the anchors are not k-means or bins.
pub fn check_clusters(anchors: &AnchorSource) -> Result<()> {
    if matches!(anchors, AnchorSource::Column(_) | AnchorSource::Matrix(_)) {
        return Err(Error::DoesNotApply { param: ParamName("clusters"), to: "these anchors" });
    }
    Ok(())
}
