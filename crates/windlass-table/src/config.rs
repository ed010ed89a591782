//! What a user can ask for, as it is kept in the metadata of an output.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap as _, SerializeTuple as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use windlass::{
    Ada, Anchors, ClusterOn, ClusterScaling, Clustering, GammaDistribution, METHODS, MethodInfo,
    MethodParams, ParamName, Partition, Per, RowProvenance,
};
pub use windlass::{AnchorSource, ClusterCount};

use crate::bounds::Bounds;
use crate::{Error, Result, RowIdSource};

/// Everything that decides which rows are made.
///
/// | Setting | Default | Meaning |
/// | :-- | :-- | :-- |
/// | `columns` | – | which columns are what |
/// | `method` | ADA | how rows are made |
/// | `copies` | `1` | synthetic rows for every row |
/// | `originals` | `true` | whether the rows themselves are written too, before the copies |
/// | `seed` | `0` | what random numbers depend on |
/// | `clip` | `false` | keep synthetic values inside the observed range of their column |
/// | `bounds` | – | what columns may hold: synthetic values are clipped, others refused |
/// | `decimals` | those of the input | how many decimals synthetic values of text input have |
/// | `drop_missing_target` | `false` | leave out rows without a finite target instead of refusing them |
/// | `provenance` | `false` | say in further columns where every row comes from |
/// | `rows_by` | their number | what tells rows apart |
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
}

/// How many decimals synthetic values have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decimals {
    /// As many as the longest value of the column has in a text file. Values of Parquet, Arrow and memory
    /// are not rounded.
    #[default]
    Auto,
    /// As many as they need.
    Full,
}

impl Decimals {
    /// Files of 0.1.0 do not say.
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
        }
    }

    /// Refuses settings outside their range, before any file is read.
    pub fn check(&self) -> windlass::Result<()> {
        // Without copies the rows are written as they are.
        if self.copies > 0 || !self.originals {
            windlass::Copies::new(self.copies).check()?;
        }
        self.method.check()
    }

    /// Whether what is made of a row depends on random numbers of its own, so that rows must be told apart.
    #[must_use]
    pub fn draws_for_rows(&self) -> bool {
        !matches!(&self.method, MethodConfig::Ada(ada) if ada.per.of_table() == Per::Batch)
    }

    /// Whether rows that hold the same must be told apart.
    pub(crate) fn needs_twins(&self) -> bool {
        self.rows_by == RowIdSource::Content && self.draws_for_rows()
    }
}

/// Which columns are what; the rest is inferred (see [`Role`](crate::Role)).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Columns {
    /// The numbers to predict.
    pub target: Vec<String>,
    /// The only columns to move, if given; the rest is carried.
    pub features: Option<Vec<String>>,
    /// Left out of the output.
    pub exclude: Vec<String>,
    /// Kept as they are in the source row: ids, folds.
    pub carry: Vec<String>,
    /// Kept as they are in the source row, because their numbers are names.
    pub categorical: Vec<String>,
    /// Moved, although dates, times, 0 and 1, a row counter or an identifier.
    pub continuous: Vec<String>,
    /// How much a row counts in means, deviations and clusters.
    pub weight: Option<String>,
    /// What becomes of moved integers.
    pub integers: IntegerHandling,
    /// How roles that were not requested are inferred.
    #[serde(default = "RoleRules::of_0_1_0")]
    pub rules: RoleRules,
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

/// What becomes of integers that are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum IntegerHandling {
    /// They are rounded to the nearest integer of their type.
    #[default]
    Round,
    /// Their column becomes one of floats.
    Float,
}

/// A method with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub enum MethodConfig {
    /// [`windlass::Ada`], whose anchors may be columns of the table.
    Ada(AdaConfig),
    /// A method that needs the numbers of rows only.
    Other {
        /// The method.
        method: &'static MethodInfo,
        /// All of its parameters.
        params: MethodParams,
    },
}

impl MethodConfig {
    /// A method with some parameters and the defaults of the others. Parameters that do not apply are refused.
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

    /// Refuses parameters outside their range.
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
/// | `anchors` | k-means | who belongs together |
/// | `clusters` | automatic | groups of k-means, or bins |
/// | `on`, `scale` | `[x, y]`, standardized | what k-means compares |
/// | `within` | – | a category whose levels no group crosses |
/// | `gamma` | uniform on `[1/2, 2]` | how far rows move |
/// | `per` | [`Per::Auto`] | one γ for each row of a table, one for a minibatch |
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
    /// ADA with some parameters; those that other anchors make meaningless are refused.
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

    /// How many groups are found in each of so many levels.
    #[must_use]
    pub fn groups_in(&self, rows: u64, levels: usize) -> usize {
        self.clusters.resolve(rows / (levels as u64).max(1))
    }

    /// Anchors of so many groups that k-means finds.
    #[must_use]
    pub fn found(&self, groups: usize) -> Anchors {
        Anchors::KMeans(Clustering { clusters: groups.into(), on: self.on, scale: self.scale })
    }
}

/// Refuses a number of clusters for anchors that are not found.
pub fn check_clusters(anchors: &AnchorSource) -> Result<()> {
    if matches!(anchors, AnchorSource::Column(_) | AnchorSource::Matrix(_)) {
        return Err(Error::DoesNotApply { param: ParamName("clusters"), to: "these anchors" });
    }
    Ok(())
}
