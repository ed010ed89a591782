//! A fitted method, and the blocks of the copies that it generates.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use windlass::{Relevance, Seed};

use crate::config::{AugmentConfig, MethodConfig};
use crate::generate::generated_block::GeneratedBlock;
use crate::generate::groups::{GroupGenerator, GroupSummary, SavedGroups};
use crate::generate::in_memory::{DrawnCopy, InMemoryGenerator};
use crate::generate::loaded_rows::LoadedRows;
use crate::rows::block::Block;
use crate::schema::roles::Roles;
use crate::{Error, Result};

pub(crate) enum Generator {
    Groups(GroupGenerator),
    InMemory(InMemoryGenerator),
}

impl std::fmt::Debug for Generator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Groups(_) => "Groups",
            Self::InMemory(_) => "InMemory",
        })
    }
}

/// A serialized [`Generator`].
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SavedGenerator {
    Groups(SavedGroups),
    Rows(LoadedRows),
}

impl Generator {
    pub(crate) fn from_saved(
        saved: SavedGenerator,
        settings: &AugmentConfig,
        roles: &Roles,
        relevance: Option<&Relevance>,
    ) -> Result<Self> {
        match (saved, &settings.method) {
            (SavedGenerator::Groups(groups), MethodConfig::Ada(ada)) => {
                GroupGenerator::from_saved(groups, ada, roles).map(Self::Groups)
            }
            (SavedGenerator::Groups(_), _) => Err(Error::bad_part("only ada has groups")),
            (SavedGenerator::Rows(rows), _) => {
                let generator = InMemoryGenerator::fit(rows, settings, roles, relevance, None)?;
                Ok(Self::InMemory(generator))
            }
        }
    }

    pub(crate) fn to_saved(&self) -> SavedGenerator {
        match self {
            Self::Groups(groups) => SavedGenerator::Groups(groups.to_saved()),
            Self::InMemory(generator) => SavedGenerator::Rows(generator.rows.clone()),
        }
    }

    /// The columns whose numbers determine the groups.
    pub(crate) fn numeric_columns(&self) -> Vec<usize> {
        match self {
            Self::Groups(groups) => groups.numeric_columns(),
            Self::InMemory(_) => vec![],
        }
    }

    /// Whether a copy needs no memory, so that several can be generated from a block.
    pub(crate) fn is_streaming(&self) -> bool {
        matches!(self, Self::Groups(_))
    }

    pub(crate) fn groups(&self) -> Vec<GroupSummary> {
        match self {
            Self::Groups(groups) => groups.summary(),
            Self::InMemory(_) => vec![],
        }
    }

    /// The groups of the rows of a block, the same in every copy; empty if the method has no
    /// groups.
    pub(crate) fn label(&self, block: &Block) -> Result<Arc<[u32]>> {
        match self {
            Self::Groups(groups) => groups.label(block).map(Into::into),
            Self::InMemory(_) => Ok(Arc::default()),
        }
    }

    /// Prepares a copy; copy 0 are the originals.
    pub(crate) fn copy(&self, copy: usize, seed: Seed) -> Result<CopyGenerator<'_>> {
        let step = copy.checked_sub(1).map(|step| step as u64);
        let whole = match (self, step) {
            (Self::InMemory(generator), Some(step)) => generator.copy(seed, step)?,
            _ => None,
        };
        Ok(CopyGenerator { generator: self, seed, step, whole })
    }
}

pub(crate) struct CopyGenerator<'a> {
    generator: &'a Generator,
    seed: Seed,
    /// `None` for the originals.
    step: Option<u64>,
    /// The copy, if its rows must be drawn together.
    whole: Option<Arc<DrawnCopy>>,
}

impl CopyGenerator<'_> {
    /// Prepares a block, whose rows have these [labels](Generator::label).
    pub(crate) fn block<'a>(
        &'a self,
        block: &Block,
        labels: &Arc<[u32]>,
    ) -> Result<Box<dyn GeneratedBlock + 'a>> {
        Ok(match self.generator {
            Generator::Groups(groups) => {
                Box::new(groups.block(block, labels, self.seed, self.step))
            }
            Generator::InMemory(generator) => {
                Box::new(generator.block(block, self.whole.as_ref(), self.seed, self.step)?)
            }
        })
    }
}
