//! The input of all passes.

use arrow_schema::Schema;

use crate::Result;
use crate::rows::block::BlockReader;
use crate::schema::roles::RequestedRoles;
use crate::settings::AugmentConfig;

pub(super) struct PassContext {
    pub(super) settings: AugmentConfig,
    pub(super) requested: RequestedRoles,
    /// Memory limit in bytes.
    pub(super) memory: u64,
}

impl PassContext {
    pub(super) fn new(schema: &Schema, settings: &AugmentConfig, memory: u64) -> Result<Self> {
        let requested = RequestedRoles::for_augmentation(schema, settings)?;
        Ok(Self { settings: settings.clone(), requested, memory })
    }

    pub(super) fn block_reader(&self, schema: &Schema) -> Result<BlockReader> {
        BlockReader::new(schema, &self.settings, &self.requested.targets())
    }
}
