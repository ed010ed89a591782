//! What a table holds, and what augmenting it would do.

use serde::Serialize;

use crate::augment::{GroupSummary, Watch};
use crate::categories::can_name;
use crate::column::in_words;
use crate::profile::Profile;
use crate::roles::{RequestedRoles, Role};
use crate::rows::Rows;
use crate::settings::AugmentConfig;
use crate::{Augmentation, Error, Result, Table};

/// One column.
#[derive(Debug, Clone, Serialize)]
pub struct ColumnReport {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub holds: String,
    /// What becomes of it in a synthetic row.
    pub role: &'static str,
    /// Why.
    pub reason: String,
    /// Missing values.
    pub missing: u64,
    /// The smallest and the largest number.
    pub range: Option<(f64, f64)>,
    /// Distinct values, if few.
    pub levels: Option<usize>,
    /// Something to think about.
    pub note: Option<String>,
}

/// A table, looked at.
#[derive(Debug, Serialize)]
pub struct Inspection {
    /// Its rows.
    pub rows: u64,
    /// Its columns.
    pub columns: Vec<ColumnReport>,
    /// Columns that could say which rows belong together.
    pub suggested_anchors: Vec<String>,
    /// The synthetic rows that augment would make.
    pub made: u64,
    /// The groups that augment would use; none where no target was given, or the method has no groups.
    pub groups: Vec<GroupSummary>,
    /// Why augment would refuse the table, in words.
    pub refused: Option<String>,
    /// Why augment would refuse the table.
    #[serde(skip)]
    pub refusal: Option<Error>,
}

impl Inspection {
    /// Looks at a table with the settings that augment would have; without a target, at its columns only.
    pub fn of(
        table: &Table,
        settings: &AugmentConfig,
        memory: u64,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let schema = table.schema();
        let mut fitted = None;
        let mut refusal = None;
        if !settings.columns.target.is_empty() {
            match Augmentation::fit(table, settings, memory, watch) {
                Ok(augmentation) => fitted = Some(augmentation),
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(error) => refusal = Some(error),
            }
        }
        // What augment refuses can still be looked at.
        let looked_at = if fitted.is_some() {
            None
        } else {
            let asked = RequestedRoles::new(schema, &settings.columns, &[])?;
            watch.stage("reading");
            let profile = Profile::of(&Rows::all(table), memory, watch)?;
            Some((asked.settle(schema, |place| profile.columns[place].few), profile))
        };
        let (roles, profile) = match (&fitted, &looked_at) {
            (Some(fitted), _) => (fitted.roles(), fitted.profile()),
            (None, Some((roles, profile))) => (roles, profile),
            (None, None) => unreachable!("looked at if not fitted"),
        };
        let report = |place: usize| {
            let (field, column) = (schema.field(place), &profile.columns[place]);
            let role = roles.roles[place];
            let id = role == Role::Continuous && column.counts_rows;
            ColumnReport {
                name: field.name().clone(),
                holds: in_words(field.data_type()),
                role: role.name(),
                reason: roles.reasons[place].clone(),
                missing: column.missing,
                range: column.range,
                levels: column.levels,
                note: id.then(|| format!("counts the rows: an id? --carry {}", field.name())),
            }
        };
        let columns: Vec<ColumnReport> = (0..schema.fields().len()).map(report).collect();
        let suggested = |&place: &usize| {
            let kept = matches!(roles.roles[place], Role::Categorical | Role::Carried);
            // Groups of fewer than 5 rows have means that say little.
            let levels = profile.columns[place].levels.unwrap_or(0) as u64;
            let enough = levels > 1 && levels * 5 <= profile.kept;
            kept && enough && can_name(schema.field(place).data_type())
        };
        let suggested_anchors = (0..columns.len()).filter(suggested);
        let suggested_anchors =
            suggested_anchors.map(|place| columns[place].name.clone()).collect();
        let made = match &fitted {
            Some(fitted) => profile.kept.saturating_mul(fitted.copies() as u64),
            None => 0,
        };
        let groups = fitted.as_ref().map(Augmentation::groups).unwrap_or_default();
        let rows = profile.rows;
        let refused = refusal.as_ref().map(ToString::to_string);
        Ok(Self { rows, columns, suggested_anchors, made, groups, refused, refusal })
    }
}
