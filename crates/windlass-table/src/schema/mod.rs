//! What the columns of a table hold, and the role that each plays.

pub(crate) mod categories;
pub(crate) mod profile;
pub(crate) mod roles;
