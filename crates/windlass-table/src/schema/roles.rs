//! The role of each column: requested by the user, or inferred from its values.

use std::fmt;

use arrow_schema::{Field, Schema};
use serde::{Deserialize, Serialize, Serializer};
use windlass::{ClusterOn, ParamName};

use crate::column::{MARK, PROVENANCE, find_column, is_discrete, is_numeric, type_name};
use crate::config::{AnchorSource, AugmentConfig, Columns, MethodConfig, RoleRules};
use crate::dates::is_temporal;
use crate::rows::row_id::RowIdSource;
use crate::schema::profile::{ColumnProfile, Profile};
use crate::{Error, Result};

/// How a column is treated in a synthetic row, and by models.
///
/// | Column | Role |
/// | :-- | :-- |
/// | floats, decimals, integers | continuous |
/// | text, booleans, the numbers 0 and 1 | categorical |
/// | dates and times, also as text | date |
/// | row counters, constants, columns without values | carried |
/// | columns that Windlass wrote | excluded |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Moved with the features; never missing.
    Target,
    /// Moved.
    Continuous,
    /// Copied from the source row: a category. Models encode it.
    Categorical,
    /// Copied from the source row; not used by models.
    Carried,
    /// Copied from the source row: the weight of the row.
    Weight,
    /// Not written, and not used by models.
    Excluded,
    /// Copied from the source row: dates or times. Models use calendar features of it.
    Date,
}

impl Role {
    /// The lowercase name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Target => "target",
            Self::Continuous => "continuous",
            Self::Categorical => "categorical",
            Self::Date => "date",
            Self::Carried => "carried",
            Self::Weight => "weight",
            Self::Excluded => "excluded",
        }
    }
}

/// The reason for the role of a column; parameters are named in the [style](windlass::ParamStyle) of the format.
#[derive(Debug, Clone, PartialEq)]
pub enum RoleReason {
    /// A parameter names the column.
    NamedBy(ParamName),
    /// A parameter names other columns.
    NotNamedBy(ParamName),
    /// The role follows from the column's type or values, which are described here.
    Inferred(String),
}

impl fmt::Display for RoleReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NamedBy(param) => param.fmt(f),
            Self::NotNamedBy(param) => {
                f.write_str("not in ")?;
                param.fmt(f)
            }
            Self::Inferred(text) => f.write_str(text),
        }
    }
}

impl Serialize for RoleReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The roles of all columns.
#[derive(Debug, Clone)]
pub struct Roles {
    /// The role of every column.
    pub roles: Vec<Role>,
    /// The reason for the role of each column.
    pub reasons: Vec<RoleReason>,
    /// The continuous features.
    pub(crate) features: Vec<usize>,
    /// The targets, in table order.
    pub(crate) targets: Vec<usize>,
    pub(crate) weight: Option<usize>,
}

impl Roles {
    pub(crate) fn new(roles: Vec<Role>, reasons: Vec<RoleReason>) -> Self {
        let having = |role: Role| -> Vec<usize> {
            roles.iter().enumerate().filter(|(_, r)| **r == role).map(|(place, _)| place).collect()
        };
        let (features, targets) = (having(Role::Continuous), having(Role::Target));
        let weight = having(Role::Weight).first().copied();
        Self { roles, reasons, features, targets, weight }
    }

    /// The columns that are moved: features, then targets.
    pub(crate) fn moved(&self) -> Vec<usize> {
        self.features.iter().chain(&self.targets).copied().collect()
    }

    /// The columns for k-means.
    pub(crate) fn clustered(&self, on: ClusterOn) -> Vec<usize> {
        match on {
            ClusterOn::X => self.features.clone(),
            ClusterOn::Y => self.targets.clone(),
            ClusterOn::Xy => self.moved(),
        }
    }

    /// The continuous features.
    #[must_use]
    pub fn features(&self) -> &[usize] {
        &self.features
    }

    /// The targets, in table order.
    #[must_use]
    pub fn targets(&self) -> &[usize] {
        &self.targets
    }

    /// The weight column.
    #[must_use]
    pub fn weight(&self) -> Option<usize> {
        self.weight
    }

    /// Returns an error if a column has values that its role forbids.
    pub(crate) fn check_values(&self, schema: &Schema, profile: &Profile) -> Result<()> {
        let name = |place: usize| schema.field(place).name().clone();
        for &place in &self.targets {
            let column = &profile.columns[place];
            for (rows, what) in
                [(&column.missing_rows, "missing"), (&column.infinite_rows, "infinite")]
            {
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
            let rows = &profile.columns[place].invalid_weights;
            if !rows.is_empty() {
                let (column, rows) = (name(place), rows.clone());
                return Err(Error::BadWeight { column, rows });
            }
        }
        Ok(())
    }

    /// Returns an error if there is no feature.
    pub(crate) fn check_features(&self, schema: &Schema) -> Result<()> {
        let name = |place: usize| schema.field(place).name().clone();
        if self.features.is_empty() {
            let others = self.roles.iter().filter(|role| **role != Role::Target).count();
            let why = if others == 0 {
                "the table has no column but the target".to_owned()
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

/// The roles that the user requested, before any row is read.
pub(crate) struct RequestedRoles {
    /// The role of each column, and the parameter that requested it.
    by_column: Vec<Option<(Role, ParamName)>>,
    /// If features are named: whether each column is one of them.
    features: Option<Vec<bool>>,
    rules: RoleRules,
    /// The columns of the groups.
    pub(crate) group_columns: Vec<usize>,
}

impl RequestedRoles {
    /// The requested roles of a table whose named features are moved, so they must be numeric.
    pub(crate) fn new(schema: &Schema, columns: &Columns) -> Result<Self> {
        Self::with_fixed(schema, columns, &[])
    }

    /// The requested roles for models: named features may be of any type, and are encoded like others.
    pub(crate) fn for_models(schema: &Schema, columns: &Columns) -> Result<Self> {
        const FEATURES: ParamName = ParamName("features");
        let Some(names) = &columns.features else { return Self::new(schema, columns) };
        let all = Columns { features: None, ..columns.clone() };
        let requested = Self::new(schema, &all)?;
        let mut features = vec![false; schema.fields().len()];
        for name in names {
            let place = find_column(schema, name, FEATURES)?;
            check_origin(name, FEATURES)?;
            match requested.by_column[place] {
                None | Some((Role::Continuous | Role::Categorical, _)) => features[place] = true,
                Some((_, first)) => {
                    let column = name.clone();
                    return Err(Error::TwoRoles { column, first, second: FEATURES });
                }
            }
        }
        Ok(Self { features: Some(features), ..requested })
    }

    /// The requested roles for an augmentation, which carries the key and the columns of groups.
    pub(crate) fn for_augmentation(schema: &Schema, settings: &AugmentConfig) -> Result<Self> {
        let mut fixed = group_columns(schema, &settings.method)?;
        let group_columns: Vec<usize> = fixed.iter().map(|&(place, _)| place).collect();
        if let RowIdSource::Column(column) = &settings.rows_by
            && let Ok(place) = schema.index_of(column)
            && !group_columns.contains(&place)
        {
            fixed.push((place, ParamName("rows_by")));
        }
        let requested = Self::with_fixed(schema, &settings.columns, &fixed)?;
        Ok(Self { group_columns, ..requested })
    }

    /// `fixed` are columns that must not be augmented, each with the parameter that names it.
    fn with_fixed(
        schema: &Schema,
        columns: &Columns,
        fixed: &[(usize, ParamName)],
    ) -> Result<Self> {
        let mut by_column = vec![None; schema.fields().len()];
        let weight: Vec<String> = columns.weight.iter().cloned().collect();
        let features = columns.features.clone().unwrap_or_default();
        for (names, role, param) in [
            (&columns.target, Role::Target, "target"),
            (&weight, Role::Weight, "weight"),
            (&features, Role::Continuous, "features"),
            (&columns.exclude, Role::Excluded, "exclude"),
            (&columns.carry, Role::Carried, "carry"),
            (&columns.categorical, Role::Categorical, "categorical"),
            (&columns.continuous, Role::Continuous, "continuous"),
        ] {
            for name in names {
                let param = ParamName(param);
                let place = find_column(schema, name, param)?;
                if role != Role::Excluded {
                    check_origin(name, param)?;
                }
                match by_column[place] {
                    Some((other, first)) if other != role => {
                        let (column, second) = (name.clone(), param);
                        return Err(Error::TwoRoles { column, first, second });
                    }
                    _ => by_column[place] = Some((role, param)),
                }
            }
        }
        for &(place, param) in fixed {
            match by_column[place] {
                Some((Role::Target | Role::Continuous | Role::Excluded, first)) => {
                    let column = schema.field(place).name().clone();
                    return Err(Error::TwoRoles { column, first, second: param });
                }
                Some(_) => {}
                None => by_column[place] = Some((Role::Carried, param)),
            }
        }
        for (field, requested) in schema.fields().iter().zip(&by_column) {
            let movable = |role| role == Role::Continuous && is_temporal(field.data_type());
            if let Some((role @ (Role::Target | Role::Continuous | Role::Weight), param)) =
                *requested
                && !is_numeric(field.data_type())
                && !movable(role)
            {
                return Err(Error::NotNumeric {
                    column: field.name().clone(),
                    param,
                    holds: type_name(field.data_type()),
                    example: String::new(),
                });
            }
        }
        let features = columns.features.is_some().then(|| {
            by_column.iter().map(|own| matches!(own, Some((Role::Continuous, _)))).collect()
        });
        let rules = columns.rules;
        Ok(Self { by_column, features, rules, group_columns: vec![] })
    }

    fn with_role(&self, role: Role) -> impl Iterator<Item = usize> {
        let by_column = self.by_column.iter().enumerate();
        by_column
            .filter(move |(_, requested)| requested.is_some_and(|(own, _)| own == role))
            .map(|(place, _)| place)
    }

    pub(crate) fn targets(&self) -> Vec<usize> {
        self.with_role(Role::Target).collect()
    }

    pub(crate) fn weight(&self) -> Option<usize> {
        self.with_role(Role::Weight).next()
    }

    /// The columns that may be moved, depending on their values.
    pub(crate) fn movable(&self, schema: &Schema) -> Vec<usize> {
        let movable = |&place: &usize| match self.by_column[place] {
            Some((role, _)) => matches!(role, Role::Target | Role::Continuous),
            None => !self.is_omitted(place) && is_numeric(schema.field(place).data_type()),
        };
        (0..self.by_column.len()).filter(movable).collect()
    }

    /// Whether features are named and the column is not one of them.
    fn is_omitted(&self, place: usize) -> bool {
        self.features.as_ref().is_some_and(|features| !features[place])
    }

    /// The role of every column, inferred from its profile if it was not requested.
    pub(crate) fn infer(&self, schema: &Schema, profile: impl Fn(usize) -> ColumnProfile) -> Roles {
        let mut roles = vec![];
        let mut reasons = vec![];
        let mut counters = vec![];
        for (place, field) in schema.fields().iter().enumerate() {
            let (role, reason) = match self.by_column[place] {
                Some((role, param)) => (role, RoleReason::NamedBy(param)),
                None if self.rules == RoleRules::V2 && is_provenance(field.name()) => {
                    (Role::Excluded, RoleReason::Inferred("written by Windlass".to_owned()))
                }
                None if self.is_omitted(place) => {
                    (Role::Carried, RoleReason::NotNamedBy(ParamName("features")))
                }
                None => {
                    let profile = profile(place);
                    let (role, why) = match self.rules {
                        RoleRules::V1 => infer_role_v1(field, &profile),
                        RoleRules::V2 => infer_role(field, &profile),
                    };
                    if self.features.is_some() && role == Role::Carried && is_number(field) {
                        // Named in spite of its values.
                        (Role::Continuous, RoleReason::NamedBy(ParamName("features")))
                    } else {
                        if profile.counts_rows && role == Role::Carried {
                            counters.push(place);
                        }
                        (role, RoleReason::Inferred(why))
                    }
                }
            };
            roles.push(role);
            reasons.push(reason);
        }
        // In a table of two columns, consecutive integers are the feature.
        let is_feature =
            |role: &Role| matches!(role, Role::Continuous | Role::Categorical | Role::Date);
        if !roles.iter().any(is_feature) {
            for place in counters {
                roles[place] = Role::Continuous;
                reasons[place] = RoleReason::Inferred("integers; the only feature".to_owned());
            }
        }
        Roles::new(roles, reasons)
    }
}

fn infer_role(field: &Field, profile: &ColumnProfile) -> (Role, String) {
    let data_type = field.data_type();
    let holds = type_name(data_type);
    let is_constant = profile.range.map_or(profile.levels == Some(1), |(low, high)| low == high);
    let (role, why) = if field.name().starts_with(MARK) {
        (Role::Carried, "named like a column of Windlass")
    } else if profile.is_empty {
        (Role::Carried, "no values")
    } else if is_constant {
        (Role::Carried, "constant")
    } else if profile.counts_rows {
        (Role::Carried, "row counter")
    } else if data_type.is_integer() && profile.levels.is_none() && is_identifier(field.name()) {
        (Role::Carried, "named like an identifier")
    } else if field.extension_type_name().is_some() {
        // Integers that encode something else, such as the periods of pandas.
        (Role::Categorical, "values of an extension type")
    } else if let Some(order) = profile.date_order.filter(|_| !is_temporal(data_type)) {
        return (Role::Date, format!("text: {order}"));
    } else if is_temporal(data_type) {
        (Role::Date, &*holds)
    } else if !is_numeric(data_type) {
        (Role::Categorical, &*holds)
    } else if profile.is_binary {
        (Role::Categorical, "0 and 1")
    } else {
        (Role::Continuous, &*holds)
    };
    (role, why.to_owned())
}

/// Whether Windlass wrote a column as provenance.
fn is_provenance(name: &str) -> bool {
    PROVENANCE.contains(&name)
}

fn is_number(field: &Field) -> bool {
    is_numeric(field.data_type()) && field.extension_type_name().is_none()
}

/// Returns an error for a column of provenance, which must not have a role.
fn check_origin(column: &str, param: ParamName) -> Result<()> {
    if is_provenance(column) {
        return Err(Error::ProvenanceRole { column: column.to_owned(), param });
    }
    Ok(())
}

/// The rules of 0.1.0.
fn infer_role_v1(field: &Field, profile: &ColumnProfile) -> (Role, String) {
    let data_type = field.data_type();
    let few = data_type.is_integer() && profile.levels.is_some_and(|levels| levels <= 20);
    let continuous = is_numeric(data_type) && !few && field.extension_type_name().is_none();
    (if continuous { Role::Continuous } else { Role::Categorical }, type_name(data_type))
}

/// Whether a name is that of an index or identifier.
fn is_identifier(name: &str) -> bool {
    let lower = name.trim().to_ascii_lowercase();
    let is_index = matches!(&*lower, "id" | "index" | "rownames" | "unnamed: 0" | "");
    let has_suffix = ["_id", " id", "-id", ".id"].iter().any(|suffix| lower.ends_with(suffix));
    // `sampleId`, `SampleID`, but not `grid`.
    let camel = name.strip_suffix("Id").or_else(|| name.strip_suffix("ID"));
    let has_camel = camel.is_some_and(|rest| rest.ends_with(|c: char| c.is_ascii_lowercase()));
    is_index || has_suffix || has_camel
}

/// The columns of groups, each with the parameter that names it.
fn group_columns(schema: &Schema, method: &MethodConfig) -> Result<Vec<(usize, ParamName)>> {
    let MethodConfig::Ada(ada) = method else { return Ok(vec![]) };
    let mut columns = vec![];
    let mut add = |column: &String, param| {
        let place = find_column(schema, column, param)?;
        let data_type = schema.field(place).data_type();
        if !is_discrete(data_type) {
            let (column, holds) = (column.clone(), type_name(data_type));
            return Err(Error::NotCategories { column, param, holds });
        }
        columns.push((place, param));
        Ok(())
    };
    if let Some(within) = &ada.within {
        add(within, ParamName("within"))?;
    }
    let anchors = ParamName("anchors");
    match &ada.anchors {
        AnchorSource::Column(column) => add(column, anchors)?,
        AnchorSource::Bins(column) | AnchorSource::Quantiles(column) => {
            let place = find_column(schema, column, anchors)?;
            let data_type = schema.field(place).data_type();
            if !is_numeric(data_type) {
                return Err(Error::NotNumeric {
                    column: column.clone(),
                    param: anchors,
                    holds: type_name(data_type),
                    example: String::new(),
                });
            }
        }
        AnchorSource::Matrix(_) if ada.within.is_some() => {
            let param = ParamName("within");
            return Err(Error::DoesNotApply { param, to: "an anchor matrix" });
        }
        AnchorSource::KMeans | AnchorSource::Matrix(_) => {}
    }
    Ok(columns)
}
