//! Statistics and roles of the columns of a table.

pub(crate) mod categories;
pub(crate) mod profile;
pub(crate) mod roles;
