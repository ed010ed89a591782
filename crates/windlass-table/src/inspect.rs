//! A report on a table and what augmenting it would do.

use serde::Serialize;

use crate::augment::Augmentation;
use crate::column::{is_discrete, is_numeric, type_name};
use crate::config::AugmentConfig;
use crate::generate::groups::GroupSummary;
use crate::io::read::table::Table;
use crate::progress::RowProgress;
use crate::rows::block::TableRows;
use crate::schema::profile::Profile;
use crate::schema::roles::{RequestedRoles, Role, RoleReason, Roles};
use crate::{Error, Result};

/// A column of an [`Inspection`].
#[derive(Debug, Clone, Serialize)]
pub struct ColumnReport {
    /// Its name.
    pub name: String,
    /// The type of its values.
    pub holds: String,
    /// The role.
    pub role: &'static str,
    /// The reason for the role.
    pub reason: RoleReason,
    /// Number of missing values.
    pub missing: u64,
    /// Minimum and maximum.
    pub range: Option<(f64, f64)>,
    /// Number of distinct values, if few.
    pub levels: Option<usize>,
}

/// A report on a table.
#[derive(Debug, Serialize)]
pub struct Inspection {
    /// Number of rows.
    pub rows: u64,
    /// Its columns.
    pub columns: Vec<ColumnReport>,
    /// Notes for the user on how the table was read.
    pub notes: Vec<String>,
    /// Columns that are suitable as anchors.
    pub suggested_anchors: Vec<String>,
    /// Number of synthetic rows that augment would generate.
    pub made: u64,
    /// The groups that augment would use; empty without a target, or if the method has none.
    pub groups: Vec<GroupSummary>,
    /// The message of [`refusal`](Self::refusal).
    pub refused: Option<String>,
    /// The error that augment would return.
    #[serde(skip)]
    pub refusal: Option<Error>,
}

impl Inspection {
    /// Inspects a table with the settings of augment; without a target only its columns.
    pub fn new(
        table: &Table,
        settings: &AugmentConfig,
        memory: u64,
        progress: &dyn RowProgress,
    ) -> Result<Self> {
        let fit = || Augmentation::fit(table, settings, memory, progress);
        let refusal = match (!settings.columns.target.is_empty()).then(fit) {
            Some(Ok(fitted)) => {
                let mut inspection = Self::from_profile(table, fitted.roles(), fitted.profile());
                inspection.made = fitted.profile().kept.saturating_mul(fitted.copies() as u64);
                inspection.groups = fitted.groups();
                return Ok(inspection);
            }
            Some(Err(Error::Interrupted)) => return Err(Error::Interrupted),
            Some(Err(error)) => Some(error),
            None => None,
        };
        let schema = table.schema();
        let requested = RequestedRoles::new(schema, &settings.columns)?;
        progress.stage("reading");
        let profile = Profile::read(&TableRows::finite(table, vec![]), memory, progress)?;
        let roles = requested.infer(schema, |place| profile.columns[place].clone());
        let refused = refusal.as_ref().map(ToString::to_string);
        Ok(Self { refused, refusal, ..Self::from_profile(table, &roles, &profile) })
    }

    fn from_profile(table: &Table, roles: &Roles, profile: &Profile) -> Self {
        let schema = table.schema();
        let report = |place: usize| {
            let (field, column) = (schema.field(place), &profile.columns[place]);
            let role = roles.roles[place];
            ColumnReport {
                name: field.name().clone(),
                holds: type_name(field.data_type()),
                role: role.name(),
                reason: roles.reasons[place].clone(),
                missing: column.missing,
                range: column.range.filter(|_| is_numeric(field.data_type())),
                levels: column.levels,
            }
        };
        let columns: Vec<ColumnReport> = (0..schema.fields().len()).map(report).collect();
        let suggested = |&place: &usize| {
            let named = !matches!(roles.roles[place], Role::Target | Role::Weight | Role::Excluded);
            // The mean of fewer than 5 rows is too noisy.
            let levels = profile.columns[place].levels.unwrap_or(0) as u64;
            let enough = levels > 1 && levels * 5 <= profile.kept;
            named && enough && is_discrete(schema.field(place).data_type())
        };
        let suggested_anchors = (0..columns.len()).filter(suggested);
        let suggested_anchors =
            suggested_anchors.map(|place| columns[place].name.clone()).collect();
        Self {
            rows: profile.rows,
            columns,
            notes: table.notes().iter().map(ToString::to_string).collect(),
            suggested_anchors,
            made: 0,
            groups: vec![],
            refused: None,
            refusal: None,
        }
    }
}
