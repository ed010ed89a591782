//! From the file of an experiment to a protocol.

use serde::{Deserialize, Serialize};
use windlass::{Bandwidth, ClusterScaling, GammaDistribution, Per, published_grid};
use windlass_compare::{CandidateSpec, CompareConfig, MethodName, ModelName, SplitRule};
use windlass_model::{
    InLoopAugmentConfig, Kind, NetworkConfig, PreAugmentConfig, Scaling, Split, Validation,
};
use windlass_table::{AdaConfig, ClusterCount, Columns, Method};

use super::file::{CandidateFile, OneOrMany, Part, SplitSpec};
use crate::deep::{DeepAugment, DeepRecipe};
use crate::networks::Description;
use crate::{Error, PublishedSplits, Result};

/// Values of the published grid of γ, from which every batch draws one.
const GRID: usize = 20;

/// All that decides the results of a part, besides its rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartConfig {
    /// Which rows are held out.
    pub splits: PublishedSplits,
    /// How methods are compared.
    pub comparison: CompareConfig,
    /// The network of every candidate, if rows are arrays and not a table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deep: Vec<DeepRecipe>,
}

impl Part {
    /// Which columns are what.
    pub(crate) fn columns(&self) -> Result<Columns> {
        let (target, apart) = self.data.roles()?;
        Ok(Columns {
            target,
            carry: apart.iter().map(|&column| column.to_owned()).collect(),
            exclude: self.exclude.clone(),
            ..Columns::default()
        })
    }

    /// How its comparison goes. Of rows that are arrays it is known when they are there how many each part has: until
    /// then, none.
    pub fn config(&self) -> Result<PartConfig> {
        self.config_with_counts([0; 3])
    }

    /// The same where so many rows in order are to learn from, to choose by and held out.
    pub(crate) fn config_with_counts(&self, parts: [usize; 3]) -> Result<PartConfig> {
        let seeds = self.seeds.clone();
        let splits = match &self.split {
            SplitSpec::Permuted(parts) => PublishedSplits::Permuted { parts: *parts, seeds },
            &SplitSpec::Ordered { train_to, test_from } => {
                let column = self.data.roles()?.1.unwrap_or_default().to_owned();
                PublishedSplits::Ordered { column, train_to, test_from, seeds }
            }
            SplitSpec::Sets(column) => PublishedSplits::Sets { column: column.clone(), seeds },
            SplitSpec::InOrder => {
                let column = self.data.roles()?.1.map(str::to_owned);
                PublishedSplits::InOrder { parts, column, seeds }
            }
        };
        let is_deep = self.network.is_some();
        let (mut specs, mut deep) = (vec![], vec![]);
        for candidate in &self.candidate {
            for (spec, recipe) in self.candidate_specs(candidate)? {
                specs.push(spec);
                deep.extend(recipe);
            }
        }
        let sizes = self.sizes.iter().map(|&size| Some(size)).collect();
        let comparison = CompareConfig {
            columns: self.columns()?,
            drop_missing_target: false,
            scaling: if is_deep { Scaling::None } else { self.scale },
            target_scaling: if is_deep { Scaling::None } else { self.target_scale },
            methods: self.methods.clone(),
            models: vec![if is_deep { ModelName::Estimator } else { ModelName::Mlp }],
            specs,
            rule: SplitRule::Provided(splits.describe(self.trainings)),
            folds: self.trainings,
            repeats: 1,
            sizes: if self.sizes.is_empty() { vec![None] } else { sizes },
            tune: self.tune,
            network: NetworkConfig {
                hidden: self.hidden.clone(),
                activation: self.activation,
                training: self.training.training(&self.training),
                augment: None,
                valid: self.valid(),
                split: Split::Rows,
                valid_seed: None,
            },
            seed: 0,
        };
        Ok(PartConfig { splits, comparison, deep })
    }

    /// What epochs are chosen by.
    fn valid(&self) -> Validation {
        match self.split {
            SplitSpec::Permuted([_, 0, _]) | SplitSpec::Sets(_) => Validation::None,
            SplitSpec::Permuted(_) | SplitSpec::Ordered { .. } | SplitSpec::InOrder => {
                Validation::Given
            }
        }
    }

    /// Every combination of the settings of a candidate.
    fn candidate_specs(
        &self,
        file: &CandidateFile,
    ) -> Result<Vec<(CandidateSpec, Option<DeepRecipe>)>> {
        let alphas = file.alpha.as_ref().map_or(vec![2.0], OneOrMany::all);
        let groups = file.groups.as_ref().map_or(vec![8], OneOrMany::all);
        let copies: Vec<Option<usize>> = match &file.copies {
            Some(copies) => copies.all().into_iter().map(Some).collect(),
            None => vec![None],
        };
        let mut made = vec![];
        for &copies in &copies {
            for &alpha in &alphas {
                for &groups in &groups {
                    made.push(self.one(file, Choice { alpha, groups, copies })?);
                }
            }
        }
        Ok(made)
    }

    fn one(
        &self,
        file: &CandidateFile,
        choice: Choice,
    ) -> Result<(CandidateSpec, Option<DeepRecipe>)> {
        let method = file.method(choice)?;
        let manifold = file.manifold
            || matches!(file.method, MethodName::ManifoldMixup | MethodName::AdaManifold);
        if let Some(network) = &self.network {
            return Ok(self.deep(file, choice, network, method.map(|method| (method, manifold))));
        }
        let (mut augment, mut enlarge) = (None, None);
        match (method, choice.copies) {
            (None, _) => {}
            (Some(method), Some(copies)) => enlarge = Some(PreAugmentConfig { method, copies }),
            (Some(method), None) => {
                augment = Some(InLoopAugmentConfig {
                    method,
                    layer: usize::from(manifold),
                    originals: false,
                    fitted_on: file.fitted_on,
                });
            }
        }
        let kind = match file.model {
            ModelName::Ridge => Kind::Ridge { penalty: file.penalty },
            _ => Kind::Network(Box::new(NetworkConfig {
                hidden: file.hidden.clone().unwrap_or_else(|| self.hidden.clone()),
                activation: self.activation,
                training: file.training.training(&self.training),
                augment,
                valid: self.valid(),
                split: Split::Rows,
                valid_seed: None,
            })),
        };
        let spec = CandidateSpec {
            name: choice.named(&file.name),
            model: file.model,
            method: file.method,
            kind: Some(kind),
            enlarge,
        };
        Ok((spec, None))
    }

    /// A deep network, with a method on the input or inside of it.
    fn deep(
        &self,
        file: &CandidateFile,
        choice: Choice,
        network: &Description,
        method: Option<(Method, bool)>,
    ) -> (CandidateSpec, Option<DeepRecipe>) {
        let augment = method.map(|(method, manifold)| DeepAugment {
            method,
            layers: match &file.layers[..] {
                [] => vec![usize::from(manifold)],
                layers => layers.to_vec(),
            },
            fitted_on: file.fitted_on,
        });
        let deep = DeepRecipe {
            network: network.clone(),
            training: file.training.training(&self.training),
            augment,
            device: None,
        };
        let spec = CandidateSpec {
            name: choice.named(&file.name),
            model: ModelName::Estimator,
            method: file.method,
            kind: None,
            enlarge: None,
        };
        (spec, Some(deep))
    }
}

/// One combination of settings.
#[derive(Clone, Copy)]
struct Choice {
    alpha: f64,
    groups: usize,
    copies: Option<usize>,
}

impl Choice {
    fn named(&self, name: &str) -> String {
        let copies = self.copies.map_or_else(String::new, |copies| copies.to_string());
        name.replace("{alpha}", &self.alpha.to_string())
            .replace("{groups}", &self.groups.to_string())
            .replace("{copies}", &copies)
    }
}

impl CandidateFile {
    /// The method with its settings; none where nothing is augmented.
    fn method(&self, choice: Choice) -> Result<Option<Method>> {
        let needs = |what: &str| Error::BadExperiment {
            name: self.name.clone(),
            why: format!("`{}` needs `{what}`", self.method.name()),
        };
        let per = Per::Batch;
        let beta = || self.beta.ok_or_else(|| needs("beta"));
        Ok(Some(match self.method {
            MethodName::Erm | MethodName::Placebo => return Ok(None),
            MethodName::Noise => {
                let targets = self.noise.ok_or_else(|| needs("noise"))?;
                Method::Noise { targets, features: 0.0, relative: false }
            }
            MethodName::Mixup | MethodName::ManifoldMixup => Method::Mixup { beta: beta()?, per },
            MethodName::LocalMixup => {
                let epsilon = self.epsilon.ok_or_else(|| needs("epsilon"))?;
                Method::LocalMixup { epsilon, beta: beta()?, per }
            }
            MethodName::CMixup => {
                let bandwidth = self.bandwidth.ok_or_else(|| needs("bandwidth"))?;
                Method::CMixup { bandwidth: Bandwidth::Absolute(bandwidth), beta: beta()?, per }
            }
            MethodName::Ada | MethodName::AdaManifold => {
                let gamma = match choice.copies {
                    // Every copy has a strength of its own.
                    Some(copies) => GammaDistribution::List(published_grid(choice.alpha, copies)),
                    None => GammaDistribution::PublishedGrid { alpha: choice.alpha, values: GRID },
                };
                Method::Ada(AdaConfig {
                    clusters: ClusterCount::Count(choice.groups),
                    on: self.on,
                    scale: ClusterScaling::Raw,
                    gamma,
                    ..AdaConfig::default()
                })
            }
        }))
    }
}
