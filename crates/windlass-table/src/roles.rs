//! What each column is: given by the user, or inferred from what it holds.

use arrow_schema::{Field, Schema};
use serde::{Deserialize, Serialize};
use windlass::ClusterOn;

use crate::column::{in_words, is_numeric};
use crate::profile::Profile;
use crate::settings::Columns;
use crate::{Error, Result};

/// What becomes of a column in a synthetic row.
///
/// | Column | Role |
/// | :-- | :-- |
/// | floats, decimals, integers with more than 20 distinct values | continuous |
/// | text, booleans, dates, integers with few distinct values | categorical |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Moved with the features; never missing.
    Target,
    /// Moved.
    Continuous,
    /// The source row's value: a name of something.
    Categorical,
    /// The source row's value, because the user said so.
    Carried,
    /// The source row's value; says how much a row counts.
    Weight,
    /// Not written.
    Excluded,
}

impl Role {
    /// The role in a word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Continuous => "continuous",
            Self::Categorical => "categorical",
            Self::Carried => "carried",
            Self::Weight => "weight",
            Self::Excluded => "excluded",
        }
    }
}

/// The roles of all columns, each with its reason.
#[derive(Debug, Clone)]
pub struct Roles {
    /// The role of every column.
    pub roles: Vec<Role>,
    /// Why each column has its role.
    pub reasons: Vec<String>,
    /// The continuous features.
    pub(crate) features: Vec<usize>,
    /// The targets, in the order of the table.
    pub(crate) targets: Vec<usize>,
    pub(crate) weight: Option<usize>,
}

impl Roles {
    /// The columns that are moved: features, then targets.
    pub(crate) fn moved(&self) -> Vec<usize> {
        self.features.iter().chain(&self.targets).copied().collect()
    }

    /// The columns that are clustered.
    pub(crate) fn clustered(&self, on: ClusterOn) -> Vec<usize> {
        match on {
            ClusterOn::X => self.features.clone(),
            ClusterOn::Y => self.targets.clone(),
            ClusterOn::Xy => self.moved(),
        }
    }
}

/// The place of a column that an option names.
pub(crate) fn find(schema: &Schema, column: &str, option: &'static str) -> Result<usize> {
    schema.index_of(column).map_err(|_| Error::NoSuchColumn {
        column: column.to_owned(),
        option,
        columns: schema.fields().iter().map(|field| field.name().clone()).collect(),
    })
}

/// What options say of each column, before anything is read.
pub(crate) struct RequestedRoles {
    /// The role asked for, and by which option.
    of_column: Vec<Option<(Role, &'static str)>>,
    only_features: bool,
}

impl RequestedRoles {
    /// Finds the columns that options name. `fixed` are columns that name groups, which must not move.
    pub(crate) fn new(
        schema: &Schema,
        columns: &Columns,
        fixed: &[(usize, &'static str)],
    ) -> Result<Self> {
        let mut of_column = vec![None; schema.fields().len()];
        let weight: Vec<String> = columns.weight.iter().cloned().collect();
        let features = columns.features.clone().unwrap_or_default();
        for (names, role, option) in [
            (&columns.target, Role::Target, "--target"),
            (&weight, Role::Weight, "--weight"),
            (&features, Role::Continuous, "--features"),
            (&columns.exclude, Role::Excluded, "--exclude"),
            (&columns.carry, Role::Carried, "--carry"),
            (&columns.categorical, Role::Categorical, "--categorical"),
            (&columns.continuous, Role::Continuous, "--continuous"),
        ] {
            for name in names {
                let place = find(schema, name, option)?;
                match of_column[place] {
                    Some((other, first)) if other != role => {
                        let (column, second) = (name.clone(), option);
                        return Err(Error::TwoRoles { column, first, second });
                    }
                    _ => of_column[place] = Some((role, option)),
                }
            }
        }
        for &(place, option) in fixed {
            match of_column[place] {
                Some((Role::Target | Role::Continuous | Role::Excluded, first)) => {
                    let column = schema.field(place).name().clone();
                    return Err(Error::TwoRoles { column, first, second: option });
                }
                Some(_) => {}
                None => of_column[place] = Some((Role::Carried, option)),
            }
        }
        for (field, asked) in schema.fields().iter().zip(&of_column) {
            if let Some((Role::Target | Role::Continuous | Role::Weight, option)) = asked
                && !is_numeric(field.data_type())
            {
                return Err(Error::NotNumeric {
                    column: field.name().clone(),
                    option,
                    holds: in_words(field.data_type()),
                    example: String::new(),
                });
            }
        }
        Ok(Self { of_column, only_features: columns.features.is_some() })
    }

    fn having(&self, role: Role) -> impl Iterator<Item = usize> {
        let of_column = self.of_column.iter().enumerate();
        of_column
            .filter(move |(_, asked)| asked.is_some_and(|(own, _)| own == role))
            .map(|(place, _)| place)
    }

    pub(crate) fn targets(&self) -> Vec<usize> {
        self.having(Role::Target).collect()
    }

    pub(crate) fn weight(&self) -> Option<usize> {
        self.having(Role::Weight).next()
    }

    /// The columns that may turn out to be moved.
    pub(crate) fn may_move(&self, schema: &Schema) -> Vec<usize> {
        let may = |&place: &usize| match self.of_column[place] {
            Some((role, _)) => matches!(role, Role::Target | Role::Continuous),
            None => !self.only_features && is_numeric(schema.field(place).data_type()),
        };
        (0..self.of_column.len()).filter(may).collect()
    }

    /// The role of every column; `few` says how many distinct integers it has, if they are few.
    pub(crate) fn settle(&self, schema: &Schema, few: impl Fn(usize) -> Option<usize>) -> Roles {
        let mut roles = vec![];
        let mut reasons = vec![];
        for (place, field) in schema.fields().iter().enumerate() {
            let (role, reason) = match self.of_column[place] {
                Some((role, option)) => (role, option.to_owned()),
                None if self.only_features => (Role::Carried, "not in --features".to_owned()),
                None => inferred(field, few(place)),
            };
            roles.push(role);
            reasons.push(reason);
        }
        Roles::of(roles, reasons)
    }
}

impl Roles {
    pub(crate) fn of(roles: Vec<Role>, reasons: Vec<String>) -> Self {
        let having = |role: Role| -> Vec<usize> {
            roles.iter().enumerate().filter(|(_, r)| **r == role).map(|(place, _)| place).collect()
        };
        let (features, targets) = (having(Role::Continuous), having(Role::Target));
        let weight = having(Role::Weight).first().copied();
        Self { roles, reasons, features, targets, weight }
    }
}

fn inferred(field: &Field, few: Option<usize>) -> (Role, String) {
    let data_type = field.data_type();
    match few {
        // Integers that stand for something else, such as the months of pandas.
        _ if field.extension_type_name().is_some() => {
            (Role::Categorical, "values of an extension type".to_owned())
        }
        _ if !is_numeric(data_type) => (Role::Categorical, in_words(data_type)),
        Some(1) => (Role::Categorical, "integers, 1 distinct value".to_owned()),
        Some(few) => (Role::Categorical, format!("integers, {few} distinct values")),
        None => (Role::Continuous, in_words(data_type)),
    }
}

impl Roles {
    /// The continuous features.
    #[must_use]
    pub fn features(&self) -> &[usize] {
        &self.features
    }

    /// The targets, in the order of the table.
    #[must_use]
    pub fn targets(&self) -> &[usize] {
        &self.targets
    }

    /// The column that says how much a row counts.
    #[must_use]
    pub fn weight(&self) -> Option<usize> {
        self.weight
    }

    /// Refuses columns that cannot play their roles.
    pub(crate) fn check(&self, schema: &Schema, profile: &Profile) -> Result<()> {
        self.check_values(schema, profile)?;
        self.check_features(schema)
    }

    /// Refuses columns with values that they must not have.
    pub(crate) fn check_values(&self, schema: &Schema, profile: &Profile) -> Result<()> {
        let name = |place: usize| schema.field(place).name().clone();
        for &place in &self.targets {
            let column = &profile.columns[place];
            for (rows, what) in [(&column.absent, "missing"), (&column.infinite, "infinite")] {
                if !rows.is_empty() {
                    let (column, rows) = (name(place), rows.clone());
                    return Err(Error::BadTarget { column, what, rows });
                }
            }
        }
        for place in self.moved() {
            if let Some((row, value)) = profile.columns[place].extreme.clone() {
                return Err(Error::BadFeature { column: name(place), row, value });
            }
        }
        if let Some(place) = self.weight {
            let rows = &profile.columns[place].no_weight;
            if !rows.is_empty() {
                let (column, rows) = (name(place), rows.clone());
                return Err(Error::BadWeight { column, rows });
            }
        }
        Ok(())
    }

    fn check_features(&self, schema: &Schema) -> Result<()> {
        let name = |place: usize| schema.field(place).name().clone();
        if self.features.is_empty() {
            let others = self.roles.iter().filter(|role| **role != Role::Target).count();
            let why = if others == 0 {
                "the table has no other column than the target".to_owned()
            } else {
                let held = (0..self.roles.len()).filter(|place| !self.targets.contains(place));
                let held: Vec<String> = held
                    .take(5)
                    .map(|place| format!("`{}` ({})", name(place), self.reasons[place]))
                    .collect();
                format!("the other columns are {}", held.join(", "))
            };
            return Err(Error::NoFeatures { why });
        }
        Ok(())
    }
}
