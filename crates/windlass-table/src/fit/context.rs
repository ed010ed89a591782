//! The input of all passes.

use arrow_schema::Schema;
use windlass::ParamName;

use crate::column::{find_column, is_numeric, type_name};
use crate::config::AugmentConfig;
use crate::rows::block::BlockReader;
use crate::schema::roles::RequestedRoles;
use crate::{Error, Result};

pub(super) struct PassContext {
    pub(super) settings: AugmentConfig,
    pub(super) requested: RequestedRoles,
    /// Memory limit in bytes.
    pub(super) memory: u64,
}

impl PassContext {
    pub(super) fn new(schema: &Schema, settings: &AugmentConfig, memory: u64) -> Result<Self> {
        let requested = RequestedRoles::for_augmentation(schema, settings)?;
        for name in settings.bounds.keys() {
            let param = ParamName("bounds");
            let field = schema.field(find_column(schema, name, param)?);
            if !is_numeric(field.data_type()) {
                let (column, holds) = (name.clone(), type_name(field.data_type()));
                return Err(Error::NotNumeric { column, param, holds, example: String::new() });
            }
        }
        Ok(Self { settings: settings.clone(), requested, memory })
    }

    pub(super) fn block_reader(&self, schema: &Schema) -> Result<BlockReader> {
        BlockReader::new(schema, &self.settings, &self.requested.targets())
    }
}
