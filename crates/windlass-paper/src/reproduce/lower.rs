//! Lowers the specification of an experiment to the configuration of comparisons.

use serde::{Deserialize, Serialize};
use windlass::{
    Bandwidth, ClusterScaling, Epsilon, GammaDistribution, MethodParams, NoiseUnits, Per,
    published_grid,
};
use windlass_compare::{CandidateSpec, CompareConfig, ModelName, SplitRule};
use windlass_model::{
    InLoopAugmentConfig, Kind, NetworkConfig, PreAugmentConfig, Scaling, Split, Validation,
};
use windlass_table::{Columns, MethodConfig, RoleRules};

use super::dataset::Roles;
use super::spec::{CandidateGrid, ExperimentPart, OneOrMany, SplitSpec};
use crate::deep::{DeepAugment, DeepConfig};
use crate::networks::NetworkSpec;
use crate::{Error, PublishedSplits, Result};

/// Size of the published grid of γ, from which every batch draws one value.
const GRID_SIZE: usize = 20;

/// The settings of a part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartConfig {
    /// The splits.
    pub splits: PublishedSplits,
    /// The comparison.
    pub comparison: CompareConfig,
    /// The network of every candidate, if rows are arrays and not a table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deep: Vec<DeepConfig>,
}

/// A candidate, with the configuration of its deep network if it has one.
struct LoweredCandidate {
    spec: CandidateSpec,
    deep: Option<DeepConfig>,
}

impl ExperimentPart {
    /// Column roles.
    pub(crate) fn columns(&self) -> Result<Columns> {
        let Roles { targets, domain } = self.data.roles()?;
        Ok(Columns {
            target: targets,
            carry: domain.iter().map(|&column| column.to_owned()).collect(),
            exclude: self.exclude.clone(),
            // The rules that the stored results were made with.
            rules: RoleRules::V1,
            ..Columns::default()
        })
    }

    /// The configuration of its comparison. For arrays, whose numbers of rows are known only when loaded, the splits
    /// are empty.
    pub fn config(&self) -> Result<PartConfig> {
        self.config_with_counts([0; 3])
    }

    /// The configuration, with the numbers of training, validation and test rows of arrays.
    pub(crate) fn config_with_counts(&self, parts: [usize; 3]) -> Result<PartConfig> {
        let seeds = self.seeds.clone();
        let splits = match &self.split {
            SplitSpec::Permuted(parts) => PublishedSplits::Permuted { parts: *parts, seeds },
            &SplitSpec::Ordered { train_to, test_from } => {
                let column = self.data.roles()?.domain.unwrap_or_default().to_owned();
                PublishedSplits::Ordered { column, train_to, test_from, seeds }
            }
            SplitSpec::Sets(column) => PublishedSplits::Sets { column: column.clone(), seeds },
            SplitSpec::InOrder => {
                let column = self.data.roles()?.domain.map(str::to_owned);
                PublishedSplits::InOrder { parts, column, seeds }
            }
        };
        let is_deep = self.network.is_some();
        let (mut specs, mut deep) = (vec![], vec![]);
        for candidate in &self.candidate {
            for lowered in self.expand(candidate)? {
                specs.push(lowered.spec);
                deep.extend(lowered.deep);
            }
        }
        let sizes = self.sizes.iter().map(|&size| Some(size)).collect();
        let comparison = CompareConfig {
            rare: None,
            columns: self.columns()?,
            drop_missing_target: false,
            scaling: if is_deep { Scaling::None } else { self.scale },
            target_scaling: if is_deep { Scaling::None } else { self.target_scale },
            methods: self.methods.clone(),
            models: vec![if is_deep { ModelName::Estimator } else { ModelName::Mlp }],
            rows: vec![],
            specs,
            rule: SplitRule::Provided(splits.describe(self.trainings)),
            folds: self.trainings,
            repeats: 1,
            sizes: if self.sizes.is_empty() { vec![None] } else { sizes },
            tune: self.tune,
            network: NetworkConfig {
                hidden: self.hidden.clone(),
                activation: self.activation,
                training: self.training.merge(&self.training),
                augment: None,
                valid: self.valid(),
                split: Split::Rows,
                valid_seed: None,
            },
            seed: 0,
        };
        Ok(PartConfig { splits, comparison, deep })
    }

    /// The validation rows.
    fn valid(&self) -> Validation {
        match self.split {
            SplitSpec::Permuted([_, 0, _]) | SplitSpec::Sets(_) => Validation::None,
            SplitSpec::Permuted(_) | SplitSpec::Ordered { .. } | SplitSpec::InOrder => {
                Validation::Table
            }
        }
    }

    /// Expands the grid of a candidate.
    fn expand(&self, grid: &CandidateGrid) -> Result<Vec<LoweredCandidate>> {
        let alphas = grid.alpha.as_ref().map_or(vec![2.0], OneOrMany::to_vec);
        let groups = grid.groups.as_ref().map_or(vec![8], OneOrMany::to_vec);
        let copies: Vec<Option<usize>> = match &grid.copies {
            Some(copies) => copies.to_vec().into_iter().map(Some).collect(),
            None => vec![None],
        };
        let mut lowered = vec![];
        for &copies in &copies {
            for &alpha in &alphas {
                for &groups in &groups {
                    lowered.push(self.lower(grid, GridPoint { alpha, groups, copies })?);
                }
            }
        }
        Ok(lowered)
    }

    fn lower(&self, grid: &CandidateGrid, point: GridPoint) -> Result<LoweredCandidate> {
        let method = grid.method(point)?;
        let manifold = grid.manifold || grid.method.is_hidden();
        if let Some(network) = &self.network {
            return Ok(self.lower_deep(grid, point, network, method, manifold));
        }
        let (mut augment, mut enlarge) = (None, None);
        match (method, point.copies) {
            (None, _) => {}
            (Some(method), Some(copies)) => enlarge = Some(PreAugmentConfig { method, copies }),
            (Some(method), None) => {
                augment = Some(InLoopAugmentConfig {
                    method,
                    layer: usize::from(manifold),
                    originals: false,
                    fitted_on: grid.fitted_on,
                });
            }
        }
        let kind = match grid.model {
            ModelName::Ridge => Kind::Ridge { penalty: grid.penalty },
            _ => Kind::Network(Box::new(NetworkConfig {
                hidden: grid.hidden.clone().unwrap_or_else(|| self.hidden.clone()),
                activation: self.activation,
                training: grid.training.merge(&self.training),
                augment,
                valid: self.valid(),
                split: Split::Rows,
                valid_seed: None,
            })),
        };
        let spec = CandidateSpec {
            name: point.named(&grid.name),
            model: grid.model,
            method: grid.method,
            kind: Some(kind),
            enlarge,
            rows: None,
        };
        Ok(LoweredCandidate { spec, deep: None })
    }

    /// A deep network, with a method on its input or on a hidden layer.
    fn lower_deep(
        &self,
        grid: &CandidateGrid,
        point: GridPoint,
        network: &NetworkSpec,
        method: Option<MethodConfig>,
        manifold: bool,
    ) -> LoweredCandidate {
        let augment = method.map(|method| DeepAugment {
            method,
            layers: match &grid.layers[..] {
                [] => vec![usize::from(manifold)],
                layers => layers.to_vec(),
            },
            fitted_on: grid.fitted_on,
        });
        let deep = DeepConfig {
            network: network.clone(),
            training: grid.training.merge(&self.training),
            augment,
            device: None,
        };
        let spec = CandidateSpec {
            name: point.named(&grid.name),
            model: ModelName::Estimator,
            method: grid.method,
            kind: None,
            enlarge: None,
            rows: None,
        };
        LoweredCandidate { spec, deep: Some(deep) }
    }
}

/// One point of the grid of a candidate.
#[derive(Clone, Copy)]
struct GridPoint {
    alpha: f64,
    groups: usize,
    copies: Option<usize>,
}

impl GridPoint {
    fn named(&self, name: &str) -> String {
        let copies = self.copies.map_or_else(String::new, |copies| copies.to_string());
        name.replace("{alpha}", &self.alpha.to_string())
            .replace("{groups}", &self.groups.to_string())
            .replace("{copies}", &copies)
    }
}

impl CandidateGrid {
    /// The method with its settings; `None` without augmentation.
    fn method(&self, point: GridPoint) -> Result<Option<MethodConfig>> {
        let needs = |what: &str| Error::BadExperiment {
            name: self.name.clone(),
            why: format!("`{}` needs `{what}`", self.method.name()),
        };
        let Some(method) = self.method.info() else { return Ok(None) };
        // Each copy has its own γ.
        let gamma = match point.copies {
            Some(copies) => GammaDistribution::List(published_grid(point.alpha, copies)),
            None => GammaDistribution::PublishedGrid { alpha: point.alpha, values: GRID_SIZE },
        };
        let mut params = MethodParams {
            clusters: Some(point.groups.into()),
            cluster_on: Some(self.on),
            cluster_scale: Some(ClusterScaling::Raw),
            alpha: point.copies.is_none().then_some(point.alpha),
            gamma: Some(gamma),
            beta: self.beta,
            epsilon: self.epsilon.map(Epsilon::Absolute),
            per: Some(Per::Batch),
            bandwidth: self.bandwidth.map(Bandwidth::Absolute),
            target_noise: self.noise,
            noise_units: Some(NoiseUnits::Absolute),
            ..MethodParams::default()
        }
        .restricted_to(method);
        for (name, value) in &self.params {
            let why = |why: String| Error::BadExperiment {
                name: self.name.clone(),
                why: format!("`{name}`: {why}"),
            };
            let param = method.params.iter().find(|param| param.name == name.as_str());
            let param = param.ok_or_else(|| why("no such parameter of the method".into()))?;
            (param.set)(&mut params, &value.to_string()).map_err(why)?;
        }
        // Published settings are set explicitly, not by defaults.
        for (name, key) in [
            ("beta", "beta"),
            ("epsilon", "epsilon"),
            ("bandwidth", "bandwidth"),
            ("target_noise", "noise"),
        ] {
            let own = method.params.iter().find(|param| param.name == name);
            if own.is_some_and(|param| (param.get)(&params).is_none()) {
                return Err(needs(key));
            }
        }
        let bad = |error: windlass_table::Error| Error::BadExperiment {
            name: self.name.clone(),
            why: error.to_string(),
        };
        MethodConfig::new(method, &params).map(Some).map_err(bad)
    }
}
