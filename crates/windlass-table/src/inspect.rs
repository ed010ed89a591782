//! What a table holds, and what augmenting it would do.

use serde::Serialize;

use crate::augment::{GroupSummary, Watch};
use crate::categories::can_name;
use crate::column::in_words;
use crate::profile::Profile;
use crate::roles::{Asked, Role};
use crate::rows::Rows;
use crate::settings::Settings;
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
    /// The groups that augment would use; none where no target was given, or the method has no groups.
    pub groups: Vec<GroupSummary>,
    /// Why augment would refuse the table.
    #[serde(skip)]
    pub refusal: Option<Error>,
}

impl Inspection {
    /// Looks at a table with the settings that augment would have; without a target, at its columns only.
    pub fn of(table: &Table, settings: &Settings, memory: u64, watch: &dyn Watch) -> Result<Self> {
        let schema = table.schema();
        let asked = Asked::new(schema, &settings.columns, &[])?;
        let rows = Rows::new(table, vec![]);
        watch.stage("reading");
        let profile = Profile::of(&rows, &mut [], watch)?;
        let roles = asked.settle(schema, &profile);
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
        let (mut groups, mut refusal) = (vec![], None);
        if !settings.columns.target.is_empty() {
            match Augmentation::fit(table, settings, memory, watch) {
                Ok(augmentation) => groups = augmentation.groups(),
                Err(Error::Interrupted) => return Err(Error::Interrupted),
                Err(error) => refusal = Some(error),
            }
        }
        Ok(Self { rows: profile.rows, columns, suggested_anchors, groups, refusal })
    }
}
