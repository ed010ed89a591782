//! From the file of an experiment to a protocol.

use serde::{Deserialize, Serialize};
use windlass::{
    Bandwidth, ClusterScaling, GammaDistribution, MethodParams, NoiseUnits, published_grid,
};
use windlass_compare::{CandidateSpec, CompareConfig, ModelName, Rule};
use windlass_model::{
    InLoopAugmentConfig, Kind, NetworkConfig, PreAugmentConfig, Scaling, Split, Validation,
};
use windlass_table::{Columns, MethodConfig};

use super::file::{CandidateFile, OneOrMany, Part, SplitRule};
use crate::deep::{DeepAugment, DeepRecipe};
use crate::networks::Description;
use crate::{Error, PublishedSplits, Result};

/// Values of the published grid of γ, from which every batch draws one.
const GRID: usize = 20;

/// All that decides the results of a part, besides its rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PartProtocol {
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
    pub fn protocol(&self) -> Result<PartProtocol> {
        self.protocol_of([0; 3])
    }

    /// The same where so many rows in order are to learn from, to choose by and held out.
    pub(crate) fn protocol_of(&self, parts: [usize; 3]) -> Result<PartProtocol> {
        let seeds = self.seeds.clone();
        let splits = match &self.split {
            SplitRule::Permuted(parts) => PublishedSplits::Permuted { parts: *parts, seeds },
            &SplitRule::Ordered { train_to, test_from } => {
                let column = self.data.roles()?.1.unwrap_or_default().to_owned();
                PublishedSplits::Ordered { column, train_to, test_from, seeds }
            }
            SplitRule::Sets(column) => PublishedSplits::Sets { column: column.clone(), seeds },
            SplitRule::InOrder => {
                let column = self.data.roles()?.1.map(str::to_owned);
                PublishedSplits::InOrder { parts, column, seeds }
            }
        };
        let is_deep = self.network.is_some();
        let (mut declared, mut deep) = (vec![], vec![]);
        for candidate in &self.candidate {
            for (one, recipe) in self.declared(candidate)? {
                declared.push(one);
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
            declared,
            rule: Rule::Given(splits.given(self.trainings)),
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
        Ok(PartProtocol { splits, comparison, deep })
    }

    /// What epochs are chosen by.
    fn valid(&self) -> Validation {
        match self.split {
            SplitRule::Permuted([_, 0, _]) | SplitRule::Sets(_) => Validation::None,
            SplitRule::Permuted(_) | SplitRule::Ordered { .. } | SplitRule::InOrder => {
                Validation::Table
            }
        }
    }

    /// Every combination of the settings of a candidate.
    fn declared(&self, file: &CandidateFile) -> Result<Vec<(CandidateSpec, Option<DeepRecipe>)>> {
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
        let manifold = file.manifold || file.method.is_hidden();
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
        let declared = CandidateSpec {
            name: choice.named(&file.name),
            model: file.model,
            method: file.method,
            kind: Some(kind),
            enlarge,
        };
        Ok((declared, None))
    }

    /// A deep network, with a method on the input or inside of it.
    fn deep(
        &self,
        file: &CandidateFile,
        choice: Choice,
        network: &Description,
        method: Option<(MethodConfig, bool)>,
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
        let declared = CandidateSpec {
            name: choice.named(&file.name),
            model: ModelName::Estimator,
            method: file.method,
            kind: None,
            enlarge: None,
        };
        (declared, Some(deep))
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
    fn method(&self, choice: Choice) -> Result<Option<MethodConfig>> {
        let needs = |what: &str| Error::BadExperiment {
            name: self.name.clone(),
            why: format!("`{}` needs `{what}`", self.method.name()),
        };
        let Some(method) = self.method.info() else { return Ok(None) };
        // Every copy has a strength of its own.
        let gamma = match choice.copies {
            Some(copies) => GammaDistribution::List(published_grid(choice.alpha, copies)),
            None => GammaDistribution::PublishedGrid { alpha: choice.alpha, values: GRID },
        };
        let params = MethodParams {
            clusters: Some(choice.groups.into()),
            cluster_on: Some(self.on),
            cluster_scale: Some(ClusterScaling::Raw),
            alpha: choice.copies.is_none().then_some(choice.alpha),
            gamma: Some(gamma),
            beta: self.beta,
            epsilon: self.epsilon,
            bandwidth: self.bandwidth.map(Bandwidth::Absolute),
            target_noise: self.noise,
            noise_units: Some(NoiseUnits::Absolute),
            ..MethodParams::default()
        }
        .restricted_to(method);
        // What the published settings say is not left to a default.
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
