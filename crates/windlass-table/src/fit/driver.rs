//! Fitting in passes over a table, in one process or distributed over many.
//!
//! ```
//! use std::sync::Arc;
//! use arrow_array::{ArrayRef, Float64Array, RecordBatch};
//! use windlass_table::{AugmentConfig, FitDriver, PassAccumulator, RowIdSource};
//!
//! let column = |values: Vec<f64>| Arc::new(Float64Array::from(values)) as ArrayRef;
//! let batch = |x, y| RecordBatch::try_from_iter([("x", column(x)), ("y", column(y))]).unwrap();
//! let partitions = [batch(vec![1.0, 2.0], vec![3.0, 5.0]), batch(vec![8.0, 9.0], vec![17.0, 19.0])];
//!
//! let settings = AugmentConfig { rows_by: RowIdSource::Content, ..AugmentConfig::new(&["y"]) };
//! let mut driver = FitDriver::new(partitions[0].schema(), &settings, 512 << 20)?;
//! while let Some(task) = driver.task() {
//!     // Workers receive the task as bytes, and send partial aggregates as bytes.
//!     let partial = partitions.iter().map(|rows| {
//!         let mut accumulator = PassAccumulator::new(&task, &rows.schema())?;
//!         accumulator.add(rows.clone(), None)?;
//!         accumulator.to_bytes()
//!     });
//!     let mut total = PassAccumulator::new(&task, &partitions[0].schema())?;
//!     for bytes in partial.collect::<Result<Vec<_>, _>>()? {
//!         total.merge(&bytes)?;
//!     }
//!     driver.take(total)?;
//! }
//! let fitted = driver.finish()?;
//! assert_eq!(fitted.rows(), 4);
//! # Ok::<(), windlass_table::Error>(())
//! ```

use arrow_schema::SchemaRef;
use windlass::{Copies, ParamName, Relevance, sample_within};

use super::context::PassContext;
use super::fitted::Fitted;
use super::group_sums::GroupSumsPass;
use super::grouping::GroupingPass;
use super::load::LoadPass;
use super::pass::{Pass, PassAccumulator, PassTask};
use super::profile::ProfilePass;
use super::speculative::Speculation;
use crate::config::{AdaConfig, AnchorSource, AugmentConfig, MethodConfig};
use crate::generate::generator::Generator;
use crate::generate::grouping::Grouping;
use crate::rows::block::BlockReader;
use crate::rows::row_id::RowIdSource;
use crate::schema::categories::Categories;
use crate::schema::profile::Profile;
use crate::schema::roles::Roles;
use crate::{Error, Result};

/// Plans the passes of a fit, and turns their aggregates into a fitted method.
pub struct FitDriver {
    schema: SchemaRef,
    context: PassContext,
    /// After the first pass.
    profiled: Option<ProfiledTable>,
    /// After the first pass, if only rare rows are sources.
    relevance: Option<Relevance>,
    next: Step,
}

/// The result of the first pass.
struct ProfiledTable {
    profile: Profile,
    roles: Roles,
}

enum Step {
    Pass(Pass),
    Done(Generator),
}

impl FitDriver {
    /// Checks the settings for a table with these columns.
    pub fn new(schema: SchemaRef, settings: &AugmentConfig, memory: u64) -> Result<Self> {
        settings.check()?;
        if settings.rows_by != RowIdSource::Number
            && let MethodConfig::Ada(ada) = &settings.method
            && matches!(ada.anchors, AnchorSource::Matrix(_))
        {
            let param = ParamName("rows_by");
            return Err(Error::DoesNotApply { param, to: "an anchor matrix" });
        }
        let context = PassContext::new(&schema, settings, memory)?;
        context.block_reader(&schema)?;
        let next = Step::Pass(Pass::Profile(ProfilePass::new(&schema, &context)));
        Ok(Self { schema, context, profiled: None, relevance: None, next })
    }

    pub(crate) fn block_reader(&self) -> Result<BlockReader> {
        self.context.block_reader(&self.schema)
    }

    /// The next pass; `None` after the last.
    #[must_use]
    pub fn task(&self) -> Option<PassTask> {
        let Step::Pass(pass) = &self.next else { return None };
        let PassContext { settings, memory, .. } = &self.context;
        Some(PassTask { settings: settings.clone(), memory: *memory, pass: pass.clone() })
    }

    /// Takes the aggregate of a pass over all rows.
    pub fn take(&mut self, total: PassAccumulator) -> Result<()> {
        self.next = match total.pass {
            Pass::Profile(pass) => self.finish_profile(pass)?,
            Pass::Grouping(pass) => Step::Pass(self.group_sums(pass.finish()?)?),
            Pass::GroupSums(pass) => self.finish_groups(pass)?,
            Pass::Load(pass) => {
                let ProfiledTable { profile, roles } = self.profiled()?;
                let generator =
                    pass.finish(profile, roles, &self.context, self.relevance.as_ref())?;
                Step::Done(Generator::InMemory(generator))
            }
        };
        Ok(())
    }

    /// The fitted method, after the last pass.
    pub fn finish(self) -> Result<Fitted> {
        let (Step::Done(generator), Some(table)) = (self.next, self.profiled) else {
            return Err(Error::bad_part("not all passes are done"));
        };
        let ProfiledTable { profile, roles } = table;
        let settings = self.context.settings;
        Ok(Fitted::new(&self.schema, settings, profile, roles, generator, self.relevance))
    }

    fn profiled(&self) -> Result<&ProfiledTable> {
        self.profiled.as_ref().ok_or_else(|| Error::bad_part("it belongs to another pass"))
    }

    /// The second pass, or the third if the speculation in the first was right.
    fn finish_profile(&mut self, pass: ProfilePass) -> Result<Step> {
        let ProfilePass { profile, speculation, targets } = pass;
        let (profile, levels) = profile.finish(&self.schema);
        if profile.kept == 0 {
            return Err(Error::no_targets("the table".as_ref(), profile.synthetic));
        }
        let column = |place: usize| profile.columns[place].clone();
        let roles = self.context.requested.infer(&self.schema, column);
        roles.check_values(&self.schema, &profile)?;
        roles.check_features(&self.schema)?;
        if let (Some(rare), Some(targets)) = (self.context.settings.rare_targets(), targets) {
            let relevance = rare.relevance(&targets)?;
            let settings = &mut self.context.settings;
            if settings.rare.as_ref().is_some_and(|rare| rare.balance) {
                let rare = relevance.rare_rows(&targets).len() as u64;
                settings.copies = Copies::balancing(rare, targets.len() as u64 - rare);
            }
            self.relevance = Some(relevance);
        }
        let table = self.profiled.insert(ProfiledTable { profile, roles });
        let pass = second_pass(table, levels, &self.schema, &self.context)?;
        match (pass, speculation) {
            (Pass::GroupSums(mut pass), Some(Speculation::Sums(guess))) => {
                if let Grouping::Named(groups) = &pass.grouping
                    && let Some(totals) = guess.confirm(groups, &pass.moved, self.context.memory)
                {
                    pass.totals = totals;
                    return self.finish_groups(pass);
                }
                Ok(Step::Pass(Pass::GroupSums(pass)))
            }
            (Pass::Grouping(mut pass), Some(Speculation::Sample(guess))) => {
                if let Some((columns, sample)) = pass.single_sample()
                    && let Some(confirmed) = guess.confirm(columns)
                {
                    *sample = confirmed;
                    return Ok(Step::Pass(self.group_sums(pass.finish()?)?));
                }
                Ok(Step::Pass(Pass::Grouping(pass)))
            }
            (pass, _) => Ok(Step::Pass(pass)),
        }
    }

    fn group_sums(&self, grouping: Grouping) -> Result<Pass> {
        let ProfiledTable { profile, roles } = self.profiled()?;
        Ok(Pass::GroupSums(GroupSumsPass::new(grouping, profile, roles)))
    }

    fn finish_groups(&self, pass: GroupSumsPass) -> Result<Step> {
        match &self.context.settings.method {
            MethodConfig::Ada(ada) => {
                pass.finish(ada).map(|groups| Step::Done(Generator::Groups(groups)))
            }
            MethodConfig::Other { .. } => Err(Error::bad_part("it belongs to another pass")),
        }
    }
}

/// The pass after the first. `levels` are the groups of columns, or the levels within which groups are formed.
fn second_pass(
    table: &ProfiledTable,
    levels: Categories,
    schema: &SchemaRef,
    context: &PassContext,
) -> Result<Pass> {
    /// About the size of the name, the clusters and the sums of a level.
    const LEVEL_BYTES: u64 = 1 << 10;
    let ProfiledTable { profile, roles } = table;
    let memory = context.memory;
    let load = || LoadPass::new(profile, roles, context).map(Pass::Load);
    let MethodConfig::Ada(ada) = &context.settings.method else { return load() };
    Ok(match &ada.anchors {
        AnchorSource::Matrix(_) => return load(),
        AnchorSource::Column(_) => {
            groups_per_level(ada, profile, &levels)?;
            Pass::GroupSums(GroupSumsPass::new(Grouping::Named(levels), profile, roles))
        }
        AnchorSource::KMeans => {
            let count = groups_per_level(ada, profile, &levels)?;
            let columns = roles.clustered(ada.on);
            let row_bytes = columns.len() as u64 * 8;
            let sampled_rows = (levels.len() * sample_within(levels.len())) as u64;
            let sample_bytes = sampled_rows.min(profile.kept) * row_bytes;
            let level_bytes = levels.len() as u64 * LEVEL_BYTES;
            if levels.len() > 1 && (sample_bytes > memory / 4 || level_bytes > memory / 2) {
                return Err(Error::TooManyGroups { groups: levels.len() * count, memory });
            }
            let (weight, seed) = (roles.weight, context.settings.seed);
            Pass::Grouping(GroupingPass::kmeans(levels, count, columns, weight, ada, seed))
        }
        AnchorSource::Bins(column) | AnchorSource::Quantiles(column) => {
            let count = groups_per_level(ada, profile, &levels)?;
            let column = schema.index_of(column).expect("checked with the requested roles");
            let equal_size = matches!(ada.anchors, AnchorSource::Quantiles(_));
            let needs = profile.kept.saturating_mul(8);
            if equal_size && needs > memory / 4 {
                let (what, needs) = ("computing quantiles of a column", needs.saturating_mul(4));
                return Err(Error::NeedsMemory { what, needs, memory });
            }
            Pass::Grouping(GroupingPass::bins(levels, count, column, equal_size))
        }
    })
}

fn groups_per_level(ada: &AdaConfig, profile: &Profile, levels: &Categories) -> Result<usize> {
    let clusters = ada.groups_in(profile.kept, levels.len());
    if clusters as u64 > profile.kept {
        return Err(Error::MoreClustersThanRows { clusters, rows: profile.kept });
    }
    Ok(clusters)
}
