//! Fitting, in passes over a table that may be taken in parts: here, or on many machines.
//!
//! ```
//! use std::sync::Arc;
//! use arrow_array::{ArrayRef, Float64Array, RecordBatch};
//! use windlass_table::{FitDriver, RowIdSource, PassAccumulator, AugmentConfig};
//!
//! let column = |values: Vec<f64>| Arc::new(Float64Array::from(values)) as ArrayRef;
//! let batch = |x, y| RecordBatch::try_from_iter([("x", column(x)), ("y", column(y))]).unwrap();
//! let parts = [batch(vec![1.0, 2.0], vec![3.0, 5.0]), batch(vec![8.0, 9.0], vec![17.0, 19.0])];
//!
//! let settings = AugmentConfig { rows_by: RowIdSource::Content, ..AugmentConfig::new(&["y"]) };
//! let mut fitting = FitDriver::new(parts[0].schema(), &settings, 512 << 20)?;
//! while let Some(task) = fitting.task() {
//!     // Each part anywhere, from the bytes of the task; the bytes of what was found come back.
//!     let found = parts.iter().map(|rows| {
//!         let mut part = PassAccumulator::new(&task, &rows.schema())?;
//!         part.add(rows.clone(), None)?;
//!         part.to_bytes()
//!     });
//!     let mut all = PassAccumulator::new(&task, &parts[0].schema())?;
//!     for bytes in found.collect::<Result<Vec<_>, _>>()? {
//!         all.merge(&bytes)?;
//!     }
//!     fitting.take(all)?;
//! }
//! let fitted = fitting.finish()?;
//! assert_eq!(fitted.rows(), 4);
//! # Ok::<(), windlass_table::Error>(())
//! ```

use arrow_array::RecordBatch;
use arrow_schema::{Schema, SchemaRef};
use serde::{Deserialize, Serialize};

use crate::ahead::Speculation;
use crate::augment::named_columns;
use crate::categories::Categories;
use crate::fitted::Fitted;
use crate::groups::{Grouping, GroupingAccumulator, GroupingFit, Start};
use crate::identity::DuplicateCounter;
use crate::maker::{Generator, Sums};
use crate::mixed::{Loaded, Mixed};
use crate::profile::{Profile, ProfileAccumulator};
use crate::roles::{RequestedRoles, Roles};
use crate::rows::{Block, Selector};
use crate::settings::{AnchorSource, AugmentConfig, MethodConfig};
use crate::{Error, Result, RowIdSource};

/// A method that is being fitted.
pub struct FitDriver {
    schema: SchemaRef,
    settings: AugmentConfig,
    memory: u64,
    asked: RequestedRoles,
    stage: Stage,
    /// What the first pass found.
    found: Option<(Profile, Roles)>,
}

enum Stage {
    Pass(Pass),
    Done(Box<Generator>),
}

/// One pass over the rows.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Pass {
    /// What do the columns hold?
    ProfileAccumulator,
    /// Which rows belong together?
    Find(GroupingFit),
    /// What are the means of groups?
    Mean { grouping: Grouping, moved: Vec<usize>, weight: Option<usize>, rows: u64 },
    /// All rows are needed.
    Load { moved: Vec<usize>, weight: Option<usize>, numbers: bool },
}

/// What is to be done with every part of a table in one pass.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PassTask {
    settings: AugmentConfig,
    memory: u64,
    pass: Pass,
}

impl PassTask {
    /// What the pass does, in a word or two.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self.pass {
            Pass::ProfileAccumulator => "reading",
            Pass::Find(_) => "finding groups",
            Pass::Mean { .. } => "taking means",
            Pass::Load { .. } => "loading",
        }
    }

    /// The task as it goes to another process.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        postcard::to_stdvec(self).map_err(bad_part)
    }

    /// A task that came from another process.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        postcard::from_bytes(bytes).map_err(bad_part)
    }
}

pub(crate) fn bad_part(error: postcard::Error) -> Error {
    Error::BadPart { why: error.to_string() }
}

/// What was found so far in some rows.
pub struct PassAccumulator {
    task: PassTask,
    asked: RequestedRoles,
    selector: Selector,
    found: Found,
    seen: u64,
    kept: u64,
}

#[derive(Serialize, Deserialize)]
enum Found {
    ProfileAccumulator(ProfileAccumulator, Option<Box<Speculation>>),
    GroupingAccumulator(GroupingAccumulator),
    Sums(Sums),
    Loaded(Loaded),
}

impl PassAccumulator {
    /// Nothing yet, of rows that come in any order.
    pub fn new(task: &PassTask, schema: &Schema) -> Result<Self> {
        Self::of(task, schema, false)
    }

    /// Nothing yet, of a whole table, whose rows come in their order, and again so.
    pub(crate) fn in_order(task: &PassTask, schema: &Schema) -> Result<Self> {
        Self::of(task, schema, true)
    }

    fn of(task: &PassTask, schema: &Schema, in_order: bool) -> Result<Self> {
        let PassTask { settings, memory, pass } = task;
        let (asked, named) = asked(schema, settings)?;
        let found = match pass {
            Pass::ProfileAccumulator => {
                let ahead = (&named[..], asked.may_move(schema));
                let ahead = Speculation::start(settings, &asked, ahead, *memory).map(Box::new);
                let (columns, names) = (schema.fields().len(), Categories::of_columns(named));
                let look = if in_order {
                    ProfileAccumulator::of_table(columns, names, &settings.rows_by)
                } else {
                    ProfileAccumulator::in_any_order(columns, names)
                };
                Found::ProfileAccumulator(look, ahead)
            }
            Pass::Find(search) => Found::GroupingAccumulator(search.empty()),
            Pass::Mean { grouping, moved, rows, .. } => {
                let mut sums = Sums::new(grouping.groups(), moved.len(), *memory)?;
                if in_order {
                    sums.keep_labels(*rows, *memory);
                }
                Found::Sums(sums)
            }
            Pass::Load { moved, .. } => Found::Loaded(Loaded::new(moved.len())),
        };
        let selector = selector(&asked, settings, schema)?;
        Ok(Self { task: task.clone(), asked, selector, found, seen: 0, kept: 0 })
    }

    /// Takes some rows. Rows that hold the same are told apart by `twins`, where that matters.
    pub fn add(&mut self, rows: RecordBatch, twins: Option<&mut DuplicateCounter>) -> Result<()> {
        let counted = twins.is_some() || !self.task.settings.needs_twins();
        if !counted && matches!(self.task.pass, Pass::Load { .. }) {
            return Err(Error::BadPart { why: "rows that hold the same were not counted".into() });
        }
        let block = self.selector.block(rows, self.kept, self.seen, twins)?;
        self.add_block(&block)
    }

    pub(crate) fn add_block(&mut self, block: &Block) -> Result<()> {
        match (&self.task.pass, &mut self.found) {
            (Pass::ProfileAccumulator, Found::ProfileAccumulator(look, ahead)) => {
                look.add(block, self.task.memory)?;
                let schema = block.batch.schema();
                let seem = || self.asked.settle(&schema, |column| look.few(column));
                ahead.take_if(|all| !all.add(block, seem, self.task.memory).unwrap_or(false));
            }
            (Pass::Find(search), Found::GroupingAccumulator(seen)) => {
                search.see(&block.batch, seen)?
            }
            (Pass::Mean { grouping, moved, weight, .. }, Found::Sums(sums)) => {
                sums.add(block, grouping, (moved, *weight))?;
            }
            (Pass::Load { moved, weight, numbers }, Found::Loaded(loaded)) => {
                loaded.add(block, moved, *weight, *numbers);
                self.task.check_loaded(loaded.rows() as u64, moved.len())?;
            }
            _ => unreachable!("a part is of its pass"),
        }
        self.seen += block.whole.num_rows() as u64;
        self.kept += block.rows() as u64;
        Ok(())
    }

    /// What was found, as it goes to another process.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        postcard::to_stdvec(&self.found).map_err(bad_part)
    }

    /// Adds what was found in other rows, in any order.
    pub fn merge(&mut self, bytes: &[u8]) -> Result<()> {
        let other = postcard::from_bytes(bytes).map_err(bad_part)?;
        match (&self.task.pass, &mut self.found, other) {
            (
                Pass::ProfileAccumulator,
                Found::ProfileAccumulator(look, ahead),
                Found::ProfileAccumulator(other, others),
            ) => {
                let both = ahead.take().zip(others);
                *ahead = both.and_then(|(mut all, others)| {
                    all.merge(*others, self.task.memory).unwrap_or(false).then_some(all)
                });
                look.merge(other, self.task.memory)
            }
            (
                Pass::Find(search),
                Found::GroupingAccumulator(seen),
                Found::GroupingAccumulator(other),
            ) => search.merge(seen, other),
            (_, Found::Sums(sums), Found::Sums(other)) => sums.merge(&other),
            (Pass::Load { moved, .. }, Found::Loaded(loaded), Found::Loaded(other)) => {
                loaded.merge(other);
                self.task.check_loaded(loaded.rows() as u64, moved.len())
            }
            _ => Err(Error::BadPart { why: "it is of another pass".into() }),
        }
    }
}

impl PassTask {
    fn check_loaded(&self, rows: u64, moved: usize) -> Result<()> {
        let needs = Loaded::bytes(rows, moved);
        if needs <= self.memory {
            return Ok(());
        }
        let what = match &self.settings.method {
            MethodConfig::Ada(_) => "an anchor matrix",
            method => method.name(),
        };
        Err(Error::NeedsMemory { what, needs, memory: self.memory })
    }
}

/// What options say of columns, and the columns that name groups.
fn asked(schema: &Schema, settings: &AugmentConfig) -> Result<(RequestedRoles, Vec<usize>)> {
    let named = named_columns(schema, &settings.method)?;
    let mut fixed = named.clone();
    if let RowIdSource::Column(column) = &settings.rows_by
        && let Ok(place) = schema.index_of(column)
        && !named.iter().any(|&(other, _)| other == place)
    {
        // A key that is moved would be none.
        fixed.push((place, "--rows-by"));
    }
    let asked = RequestedRoles::new(schema, &settings.columns, &fixed)?;
    Ok((asked, named.into_iter().map(|(place, _)| place).collect()))
}

/// Which rows are augmented, and what they go by.
fn selector(asked: &RequestedRoles, settings: &AugmentConfig, schema: &Schema) -> Result<Selector> {
    let needed = if settings.drop_missing_target { asked.targets() } else { vec![] };
    Selector::new(needed, settings, schema)
}

impl FitDriver {
    /// Begins to fit a method on a table with these columns. What is refused before any row is read is refused
    /// here.
    pub fn new(schema: SchemaRef, settings: &AugmentConfig, memory: u64) -> Result<Self> {
        settings.check()?;
        if settings.rows_by != RowIdSource::Number
            && let MethodConfig::Ada(ada) = &settings.method
            && matches!(ada.anchors, AnchorSource::Matrix(_))
        {
            return Err(Error::DoesNotApply { option: "--rows-by", to: "an anchor matrix" });
        }
        let (asked, _) = asked(&schema, settings)?;
        selector(&asked, settings, &schema)?;
        let stage = Stage::Pass(Pass::ProfileAccumulator);
        Ok(Self { schema, settings: settings.clone(), memory, asked, stage, found: None })
    }

    /// Which rows are augmented, and what they go by.
    pub(crate) fn selector(&self) -> Result<Selector> {
        selector(&self.asked, &self.settings, &self.schema)
    }

    /// The next pass; nothing when there is no more.
    #[must_use]
    pub fn task(&self) -> Option<PassTask> {
        let Stage::Pass(pass) = &self.stage else { return None };
        Some(PassTask { settings: self.settings.clone(), memory: self.memory, pass: pass.clone() })
    }

    /// Takes what a pass found in all rows.
    pub fn take(&mut self, part: PassAccumulator) -> Result<()> {
        let stage = match (part.task.pass, part.found) {
            (Pass::ProfileAccumulator, Found::ProfileAccumulator(look, ahead)) => {
                let (profile, levels) = look.finish(&self.schema);
                let (roles, pass) = self.looked(&profile, levels)?;
                self.found = Some((profile, roles));
                self.skip_ahead(pass, ahead.map(|ahead| *ahead))?
            }
            (Pass::Find(search), Found::GroupingAccumulator(seen)) => {
                Stage::Pass(self.mean(search.finish(&seen)?))
            }
            (Pass::Mean { grouping, .. }, Found::Sums(sums)) => self.finished(grouping, sums)?,
            (Pass::Load { .. }, Found::Loaded(mut loaded)) => {
                let key = match &self.settings.rows_by {
                    RowIdSource::Column(column) => Some(column.as_str()),
                    _ => None,
                };
                loaded.sort(key)?;
                let (profile, roles) = self.found.as_ref().expect("the first pass was taken");
                let whole = Some((profile, self.memory));
                let mixed = Mixed::new(loaded, &self.settings, roles, whole)?;
                Stage::Done(Box::new(Generator::Mixed(mixed)))
            }
            _ => unreachable!("a part is of its pass"),
        };
        self.stage = stage;
        Ok(())
    }

    /// What columns are, and the pass after the first.
    fn looked(&self, profile: &Profile, levels: Categories) -> Result<(Roles, Pass)> {
        if profile.kept == 0 {
            return Err(Error::NoTargets { path: "the table".into() });
        }
        let roles = self.asked.settle(&self.schema, |place| profile.columns[place].few);
        roles.check(&self.schema, profile)?;
        let pass = match &self.settings.method {
            MethodConfig::Ada(ada) if !matches!(ada.anchors, AnchorSource::Matrix(_)) => {
                let limits = (self.settings.seed, self.memory);
                let found = (profile, &roles);
                match GroupingFit::start(&self.schema, ada, levels, found, limits)? {
                    Start::Known(grouping) => mean(grouping, profile, &roles),
                    Start::GroupingFit(search) => Pass::Find(search),
                }
            }
            _ => {
                let moved = roles.moved();
                let numbers = profile.kept < profile.rows;
                let pass = Pass::Load { moved, weight: roles.weight, numbers };
                let task = PassTask { settings: self.settings.clone(), memory: self.memory, pass };
                task.check_loaded(profile.kept, roles.moved().len())?;
                task.pass
            }
        };
        Ok((roles, pass))
    }

    /// The stage of this pass, or the one after it if the pass was taken along with the first.
    fn skip_ahead(&self, pass: Pass, ahead: Option<Speculation>) -> Result<Stage> {
        Ok(match (pass, ahead) {
            (Pass::Mean { grouping, moved, weight, rows }, Some(Speculation::Sums(sums))) => {
                let settled = match &grouping {
                    Grouping::Named(groups) => sums.settle(groups, &moved, self.memory),
                    Grouping::Found { .. } => None,
                };
                match settled {
                    Some(sums) => self.finished(grouping, sums)?,
                    None => Stage::Pass(Pass::Mean { grouping, moved, weight, rows }),
                }
            }
            (Pass::Find(search), Some(Speculation::Sample(sample))) => {
                match search.clustered().and_then(|columns| sample.settle(columns)) {
                    Some(sample) => {
                        let seen = GroupingAccumulator::Samples(vec![sample]);
                        Stage::Pass(self.mean(search.finish(&seen)?))
                    }
                    None => Stage::Pass(Pass::Find(search)),
                }
            }
            (pass, _) => Stage::Pass(pass),
        })
    }

    fn mean(&self, grouping: Grouping) -> Pass {
        let (profile, roles) = self.found.as_ref().expect("the first pass was taken");
        mean(grouping, profile, roles)
    }

    fn finished(&self, grouping: Grouping, sums: Sums) -> Result<Stage> {
        let MethodConfig::Ada(ada) = &self.settings.method else {
            unreachable!("only ADA has groups")
        };
        Ok(Stage::Done(Box::new(sums.finish(grouping, ada)?)))
    }

    /// The fitted method, after the last pass.
    pub fn finish(self) -> Result<Fitted> {
        let (Stage::Done(maker), Some((profile, roles))) = (self.stage, self.found) else {
            return Err(Error::BadPart { why: "there are passes to come".into() });
        };
        Ok(Fitted::new(&self.schema, self.settings, (profile, roles), *maker))
    }
}

fn mean(grouping: Grouping, profile: &Profile, roles: &Roles) -> Pass {
    Pass::Mean { grouping, moved: roles.moved(), weight: roles.weight, rows: profile.kept }
}
