//! The configuration of a comparison: candidates, splits, and what all candidates share.

use serde::{Deserialize, Serialize};
use windlass::{ParamName, Relevance, Seed, Stream};
use windlass_model::{Kind, NetworkConfig, NetworkOptions, Scaling, Split, check_memory};
use windlass_table::{Columns, LoadedTable, Role, read_rare, to_f64};

use crate::candidate::{Candidate, CandidateSpec, MethodName, ModelName};
use crate::splits::{Fold, SplitRule, salt};
use crate::{Error, Result};

/// The settings of a comparison.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompareConfig {
    /// Column roles.
    pub columns: Columns,
    /// Drop rows without a finite target.
    pub drop_missing_target: bool,
    /// Scaling of continuous columns.
    pub scaling: Scaling,
    /// Scaling of targets.
    pub target_scaling: Scaling,
    /// The methods on networks.
    pub methods: Vec<MethodName>,
    /// The models.
    pub models: Vec<ModelName>,
    /// Labels of the [rows from elsewhere](crate::AddedRows) that are added to training rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<String>,
    /// Candidates with fixed settings, instead of every model with every method.
    #[serde(rename = "declared", default, skip_serializing_if = "Vec::is_empty")]
    pub specs: Vec<CandidateSpec>,
    /// The rule for held-out rows.
    pub rule: SplitRule,
    /// Folds of a repeat; of provided splits, trainings on the same rows.
    pub folds: usize,
    /// Repeats, each with other folds.
    pub repeats: usize,
    /// Training set sizes, ascending; `None` is all training rows of a fold.
    pub sizes: Vec<Option<usize>>,
    /// Settings that every candidate tries inside the training rows.
    pub tune: usize,
    /// The network and its training. Its validation rows choose epochs and settings.
    pub network: NetworkConfig,
    /// The relevance of targets, which says which rows are rare.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rare: Option<Relevance>,
    /// The random seed.
    pub seed: u64,
}

impl CompareConfig {
    /// Default number of folds.
    pub const FOLDS: u16 = 5;
    /// Default number of repeats.
    pub const REPEATS: u16 = 3;

    /// The defaults: methods and models that comparisons include without being asked, on random splits of all rows.
    #[must_use]
    pub fn new(columns: Columns) -> Self {
        Self {
            columns,
            drop_missing_target: false,
            scaling: Scaling::Standard,
            target_scaling: Scaling::Standard,
            methods: MethodName::all().into_iter().filter(|method| method.is_default()).collect(),
            models: vec![ModelName::Mlp, ModelName::Ridge, ModelName::Forest],
            rows: vec![],
            specs: vec![],
            rule: SplitRule::HeldOut(Split::Rows),
            folds: Self::FOLDS.into(),
            repeats: Self::REPEATS.into(),
            sizes: vec![None],
            tune: 1,
            network: NetworkOptions::default().config(NetworkOptions::VALID),
            rare: None,
            seed: 0,
        }
    }

    /// Automatic selection, if the table is small enough for it to be a default model: it trains more models than all
    /// others together.
    #[must_use]
    pub fn automatic(table: &LoadedTable) -> Option<ModelName> {
        const MAX_VALUES: usize = 4_000;
        let is_feature =
            |role: &&Role| matches!(role, Role::Continuous | Role::Categorical | Role::Date);
        let features = table.roles.roles.iter().filter(is_feature).count();
        (table.batch.num_rows() * features <= MAX_VALUES).then_some(ModelName::Auto)
    }

    /// Returns an error if the training of networks or ridge regressions on a table needs more memory.
    pub fn check_memory(&self, table: &LoadedTable, memory: u64) -> Result<()> {
        let network = Kind::Network(Box::new(self.network.clone()));
        let ridge = self.models.contains(&ModelName::Ridge).then_some(Kind::Ridge { penalty: 1.0 });
        for kind in ridge.iter().chain([&network]) {
            check_memory(kind, table, &self.columns, rayon::current_num_threads(), memory)?;
        }
        Ok(())
    }

    /// Whether the caller trains the models.
    #[must_use]
    pub fn is_external(&self) -> bool {
        self.specs.iter().any(|spec| spec.kind.is_none())
    }

    /// The noun for what methods are applied to.
    #[must_use]
    pub fn subject(&self) -> &'static str {
        if self.is_external() { "model" } else { "network" }
    }

    /// Whether there are several kinds of networks, so that candidate names need the kind.
    #[must_use]
    pub fn several_networks(&self) -> bool {
        self.models.iter().filter(|model| model.is_network()).count() > 1
    }

    /// All candidates.
    #[must_use]
    pub fn candidates(&self) -> Vec<Candidate> {
        if self.specs.is_empty() {
            return Candidate::all(&self.models, &self.methods, self.rows.len());
        }
        let candidate = |(place, spec): (usize, &CandidateSpec)| Candidate {
            model: spec.model,
            method: Some(spec.method),
            spec: Some(place),
            rows: spec.rows,
        };
        self.specs.iter().enumerate().map(candidate).collect()
    }

    /// The reference of a candidate: the same network without augmentation, or the first network. A
    /// candidate with fixed settings is compared with the last one before it without augmentation.
    #[must_use]
    pub fn reference(&self, candidate: Candidate) -> Option<Candidate> {
        let place = match candidate.spec {
            Some(place) => place,
            // The baseline is compared with the last one without augmentation.
            None if !self.specs.is_empty() => self.specs.len() - 1,
            None => return Some(candidate.reference(&self.models)),
        };
        let mut before = self.candidates().into_iter().take(place + 1).rev();
        before.find(|candidate| candidate.is_plain())
    }

    /// The name of a candidate.
    #[must_use]
    pub fn name(&self, candidate: Candidate) -> String {
        let label = candidate.rows.and_then(|place| self.rows.get(place));
        match (candidate.spec, label) {
            (Some(place), _) => self.specs[place].name.clone(),
            (None, None) => candidate.name(self.several_networks()),
            (None, Some(label)) if candidate.model.is_network() && !self.several_networks() => {
                label.clone()
            }
            (None, Some(label)) => format!("{} + {label}", candidate.model.name()),
        }
    }

    /// What a candidate is compared with: `no augmentation`, or `forest`.
    #[must_use]
    pub fn compared_with(&self, candidate: Candidate) -> String {
        match self.reference(candidate) {
            Some(reference) if !reference.is_plain() => self.name(reference),
            _ => MethodName::Erm.title().to_owned(),
        }
    }

    /// The seed of a fold, the same for every candidate.
    #[must_use]
    pub fn fold_seed(&self, fold: &Fold) -> Seed {
        let number = salt::SPLIT | (fold.repeat as u64) << 16 | fold.fold as u64;
        Seed(Seed(self.seed).shared(Stream::Split, number).bits())
    }

    /// The seed of the placebo in a trial, given that of the other candidates.
    #[must_use]
    pub fn placebo_seed(seed: Seed, trial: usize) -> Seed {
        Seed(seed.shared(Stream::Split, salt::PLACEBO | trial as u64).bits())
    }

    /// The relevance of the target of a table, for words or a file that say which targets are rare.
    pub fn relevance(&self, rare: &str, loaded: &LoadedTable) -> Result<Relevance> {
        let &[target] = loaded.roles.targets() else {
            let (param, to) = (ParamName("rare"), "several targets");
            return Err(windlass_model::Error::DoesNotApply { param, to }.into());
        };
        let y: Vec<f64> = to_f64(loaded.batch.column(target)).values().to_vec();
        let relevance = read_rare(rare)?.relevance(&y);
        Ok(relevance.map_err(windlass_table::Error::from)?)
    }

    /// Draws the splits; an error if a split cannot be trained on.
    pub fn splits(&self, loaded: &LoadedTable, test: Option<&LoadedTable>) -> Result<Vec<Fold>> {
        let splits = self.rule.draw(loaded, test, self.folds, self.repeats, Seed(self.seed))?;
        self.check(loaded, &splits)?;
        Ok(splits)
    }

    pub(crate) fn check(&self, loaded: &LoadedTable, splits: &[Fold]) -> Result<()> {
        const FEWEST: usize = 5;
        let least = splits.iter().map(|split| split.train.len()).min().unwrap_or(0);
        if let Some(&size) = self.sizes.iter().flatten().find(|&&size| size < FEWEST) {
            return Err(Error::SmallSize { size, least: FEWEST });
        }
        if let Some(&size) = self.sizes.iter().flatten().find(|&&size| size > least) {
            return Err(Error::LargeSize { size, rows: least });
        }
        for &place in loaded.roles.targets() {
            let values = to_f64(loaded.batch.column(place));
            for split in splits {
                for size in &self.sizes {
                    let train = &split.train[..size.unwrap_or(split.train.len())];
                    let first = train.first().map_or(0.0, |&row| values.value(row));
                    if train.iter().all(|&row| values.value(row) == first) {
                        let column = loaded.batch.schema().field(place).name().clone();
                        return Err(Error::ConstantTarget {
                            split: self.rule.fold_name(split),
                            column,
                            value: first,
                            rows: train.len(),
                        });
                    }
                }
            }
        }
        Ok(())
    }
}
