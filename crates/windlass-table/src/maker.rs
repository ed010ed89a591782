//! What makes synthetic values: fitted to a table, then asked for block after block of a copy.

use arrow_array::builder::Float64Builder;
use arrow_array::{Array, Float64Array};
use arrow_buffer::NullBuffer;
use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;
use windlass::{
    AnchorMatrix, Batch, Draw, Fitted, Gammas, GroupMeans, GroupSums, How, Method as _, Per,
    Samples, Seed, Strength,
};

use crate::augment::{GroupSummary, Watch};
use crate::categories::Categories;
use crate::column::numbers;
use crate::groups::{Grouping, weights};
use crate::profile::{Profile, matrix};
use crate::roles::Roles;
use crate::rows::{Block, Rows};
use crate::settings::{AdaSettings, AnchorChoice, Method, Settings};
use crate::{Error, ReadOptions, Result, Table};

/// A fitted method.
pub(crate) enum Maker {
    /// ADA on groups: knows the means, and reads the table block by block.
    Groups(Groups),
    /// Methods that mix rows that stand anywhere: the moved columns are in memory.
    Mixed(Mixed),
}

impl std::fmt::Debug for Maker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Groups(_) => "Groups",
            Self::Mixed(_) => "Mixed",
        })
    }
}

pub(crate) struct Groups {
    grouping: Grouping,
    sizes: Vec<u64>,
    /// The number that each group has for users, who see no empty ones.
    numbers: Vec<u32>,
    /// For every moved column: its missing values do not count.
    means: Vec<GroupMeans>,
    labels: Option<Labels>,
    gammas: Gammas,
    per: Per,
}

pub(crate) struct Mixed {
    fitted: Box<dyn Fitted>,
    x: Array2<f64>,
    y: Array2<f64>,
    /// Rows without a value, for moved columns that have such.
    missing: Vec<Option<Vec<bool>>>,
    /// Where rows stand in the table, if some were left out.
    sources: Option<Vec<u64>>,
    pairs: bool,
    gamma: bool,
}

/// The group of every row, in as few bytes as will do.
enum Labels {
    Bytes(Vec<u8>),
    Words(Vec<u16>),
}

impl Labels {
    /// Room for the labels of so many groups and rows, if there is any.
    fn new(groups: usize, rows: u64, memory: u64) -> Option<Self> {
        let (labels, bytes) = match groups {
            0..=0x100 => (Self::Bytes(vec![]), rows),
            0x101..=0x1_0000 => (Self::Words(vec![]), rows.saturating_mul(2)),
            _ => return None,
        };
        (bytes <= memory / 8).then_some(labels)
    }

    #[expect(clippy::cast_possible_truncation, reason = "there are no more groups than fit")]
    fn extend(&mut self, labels: &[u32]) {
        match self {
            Self::Bytes(all) => all.extend(labels.iter().map(|&label| label as u8)),
            Self::Words(all) => all.extend(labels.iter().map(|&label| label as u16)),
        }
    }

    /// The labels of some rows; nothing for rows that were not there before.
    fn get(&self, first: u64, rows: usize) -> Option<Vec<u32>> {
        let range = in_memory(first)..in_memory(first) + rows;
        Some(match self {
            Self::Bytes(all) => all.get(range)?.iter().map(|&label| label.into()).collect(),
            Self::Words(all) => all.get(range)?.iter().map(|&label| label.into()).collect(),
        })
    }
}

fn in_memory(row: u64) -> usize {
    usize::try_from(row).expect("what is in memory can be counted")
}

impl Maker {
    /// Fits the method in some passes over the table.
    pub(crate) fn fit(
        rows: &Rows<'_>,
        settings: &Settings,
        categories: Categories,
        found: (&Profile, &Roles),
        memory: u64,
        watch: &dyn Watch,
    ) -> Result<Self> {
        match &settings.method {
            Method::Ada(ada) if !matches!(ada.anchors, AnchorChoice::Matrix(_)) => {
                let seed = Seed(settings.seed);
                let grouping = Grouping::fit(rows, ada, categories, found, (seed, memory), watch)?;
                Groups::fit(rows, ada, grouping, found, memory, watch).map(Self::Groups)
            }
            _ => Mixed::fit(rows, settings, found, memory, watch).map(Self::Mixed),
        }
    }

    /// Whether many copies can be at hand at once.
    pub(crate) fn is_small(&self) -> bool {
        matches!(self, Self::Groups(_))
    }

    /// The groups with their sizes.
    pub(crate) fn groups(&self) -> Vec<GroupSummary> {
        let Self::Groups(groups) = self else { return vec![] };
        let names = groups.grouping.names();
        let summary = |(group, &rows): (usize, &u64)| GroupSummary {
            group,
            name: names.as_ref().map(|names| names[group].clone()),
            rows,
        };
        let filled = groups.sizes.iter().filter(|&&size| size > 0);
        filled.enumerate().map(summary).collect()
    }

    /// Prepares a copy; copy 0 are the originals.
    pub(crate) fn copy(&self, copy: usize, seed: Seed) -> Result<MadeCopy<'_>> {
        let step = copy.checked_sub(1).map(|step| step as u64);
        let drawn = match (self, step) {
            (Self::Mixed(mixed), Some(step)) => {
                let draw = mixed.fitted.draw(Batch::All, seed, step)?;
                let x = draw.features(mixed.x.view())?;
                let y = draw.targets(mixed.y.view())?;
                Some(Drawn { draw, x, y })
            }
            _ => None,
        };
        Ok(MadeCopy { maker: self, seed, step, drawn })
    }
}

impl Groups {
    fn fit(
        rows: &Rows<'_>,
        ada: &AdaSettings,
        grouping: Grouping,
        (profile, roles): (&Profile, &Roles),
        memory: u64,
        watch: &dyn Watch,
    ) -> Result<Self> {
        watch.stage("taking means");
        let groups = grouping.groups();
        let moved = roles.moved();
        // The sums, twice while they become means.
        if (groups as u64).saturating_mul(moved.len() as u64 * 64) > memory / 2 {
            return Err(Error::TooManyGroups { groups, memory });
        }
        let mut sums = vec![GroupSums::new(groups, 1); moved.len()];
        let mut sizes = vec![0; groups];
        let mut labels = Labels::new(groups, profile.kept, memory);
        for block in rows.blocks() {
            let batch = block?.batch;
            watch.advance(batch.num_rows() as u64)?;
            let own = grouping.label(&batch)?;
            for &label in &own {
                sizes[label as usize] += 1;
            }
            if let Some(labels) = &mut labels {
                labels.extend(&own);
            }
            let weights = weights(&batch, roles.weight);
            sums.par_iter_mut().zip(&moved).try_for_each(|(sums, &place)| {
                let present = Present::of(&numbers(batch.column(place)));
                let weights = weights.as_ref().map(|weights| present.pick(weights));
                let labels = present.pick(&own);
                sums.add(present.view(), &labels, weights.as_deref())
            })?;
        }
        let means = sums.into_iter().map(GroupSums::finish).collect::<windlass::Result<_>>()?;
        let mut next = 0;
        let number = |&size: &u64| {
            let number = next;
            next += u32::from(size > 0);
            number
        };
        let numbers = sizes.iter().map(number).collect();
        let (gammas, per) = (ada.gamma.check()?, ada.per);
        Ok(Self { grouping, sizes, numbers, means, labels, gammas, per })
    }

    fn label(&self, block: &Block) -> Result<Vec<u32>> {
        match &self.labels {
            Some(labels) => labels
                .get(block.first, block.rows())
                .ok_or_else(|| Error::Changed { path: "the table".into() }),
            None => self.grouping.label(&block.batch),
        }
    }
}

/// The values of a column that are there.
struct Present {
    values: Float64Array,
    /// Their rows, if some are missing.
    rows: Option<Vec<usize>>,
}

impl Present {
    fn of(column: &Float64Array) -> Self {
        match column.nulls().filter(|nulls| nulls.null_count() > 0) {
            None => Self { values: column.clone(), rows: None },
            Some(nulls) => {
                let rows: Vec<usize> = nulls.valid_indices().collect();
                let values = rows.iter().map(|&row| column.value(row)).collect::<Vec<_>>();
                Self { values: values.into(), rows: Some(rows) }
            }
        }
    }

    fn view(&self) -> ArrayView2<'_, f64> {
        let values = self.values.values();
        ArrayView2::from_shape((values.len(), 1), values).expect("one column")
    }

    fn pick<'a, T: Copy>(&self, all: &'a [T]) -> std::borrow::Cow<'a, [T]> {
        match &self.rows {
            None => all.into(),
            Some(rows) => rows.iter().map(|&row| all[row]).collect(),
        }
    }
}

impl Mixed {
    fn fit(
        rows: &Rows<'_>,
        settings: &Settings,
        (profile, roles): (&Profile, &Roles),
        memory: u64,
        watch: &dyn Watch,
    ) -> Result<Self> {
        let moved = roles.moved();
        // The columns as they are read and as they are kept, pairs of them, a copy, and the table itself.
        let needs = profile.kept.saturating_mul(moved.len() as u64 * 8 * 6);
        if needs > memory {
            let what = match &settings.method {
                Method::Ada(_) => "an anchor matrix",
                method => method.name(),
            };
            return Err(Error::NeedsMemory { what, needs, memory });
        }
        watch.stage("loading");
        let mut all = Array2::zeros((0, moved.len()));
        let mut all_weights = roles.weight.map(|_| vec![]);
        let mut sources = vec![];
        for block in rows.blocks() {
            let block = block?;
            watch.advance(block.rows() as u64)?;
            let values = matrix(&block.batch, &moved);
            all.append(Axis(0), values.view()).expect("the same columns");
            if let (Some(all), Some(more)) = (&mut all_weights, weights(&block.batch, roles.weight))
            {
                all.extend(more);
            }
            if profile.kept < profile.rows {
                sources.extend((0..block.rows()).map(|row| block.source(row)));
            }
        }
        let sources = (profile.kept < profile.rows).then_some(sources);
        let missing = fill(&mut all);
        let (x, y) = all.view().split_at(Axis(1), roles.features.len());
        let (x, y) = (x.to_owned(), y.to_owned());
        let mut samples = Samples::new(x.view(), y.view())?;
        if let Some(weights) = &all_weights {
            samples = samples.with_weights(weights)?;
        }
        let seed = Seed(settings.seed);
        let fitted = match &settings.method {
            Method::Ada(ada) => {
                let AnchorChoice::Matrix(path) = &ada.anchors else {
                    unreachable!("groups need no table in memory")
                };
                let anchors = read_anchors(path, profile, sources.as_deref(), memory)?;
                ada.method(anchors.into(), None).fit(&samples, seed)?
            }
            other => other.without_anchors().expect("not ADA").fit(&samples, seed)?,
        };
        let gamma = matches!(settings.method, Method::Ada(_));
        let pairs = !gamma && !matches!(settings.method, Method::Noise { .. });
        Ok(Self { fitted, x, y, missing, sources, pairs, gamma })
    }

    /// Where a row stands in the table.
    fn source(&self, row: usize) -> u64 {
        self.sources.as_ref().map_or(row as u64, |sources| sources[row])
    }
}

/// Puts the mean of its column in the place of every missing value, and says which rows had none.
fn fill(rows: &mut Array2<f64>) -> Vec<Option<Vec<bool>>> {
    rows.columns_mut()
        .into_iter()
        .map(|mut column| {
            let missing: Vec<bool> = column.iter().map(|value| value.is_nan()).collect();
            if !missing.contains(&true) {
                return None;
            }
            let present: Vec<f64> =
                column.iter().copied().filter(|value| !value.is_nan()).collect();
            let mean = present.iter().sum::<f64>() / (present.len() as f64).max(1.0);
            column.mapv_inplace(|value| if value.is_nan() { mean } else { value });
            Some(missing)
        })
        .collect()
}

fn read_anchors(
    path: &std::path::Path,
    profile: &Profile,
    sources: Option<&[u64]>,
    memory: u64,
) -> Result<AnchorMatrix> {
    let options = ReadOptions { memory, ..ReadOptions::default() };
    let table = Table::open(&[path.to_owned()], &options)?;
    let schema = table.schema();
    for field in schema.fields() {
        if !crate::column::is_numeric(field.data_type()) {
            return Err(Error::NotNumeric {
                column: field.name().clone(),
                option: "--anchors",
                holds: crate::column::in_words(field.data_type()),
                example: String::new(),
            });
        }
    }
    let columns: Vec<usize> = (0..schema.fields().len()).collect();
    let mut all = Array2::zeros((0, columns.len()));
    for batch in table.blocks() {
        all.append(Axis(0), matrix(&batch?, &columns).view()).expect("the same columns");
    }
    if all.nrows() as u64 != profile.rows {
        let (path, expected, got) = (path.to_owned(), profile.rows, all.nrows() as u64);
        return Err(Error::MatrixRows { path, expected, got });
    }
    if let Some(sources) = sources {
        let rows: Vec<usize> = sources.iter().map(|&row| in_memory(row)).collect();
        all = all.select(Axis(0), &rows);
    }
    Ok(AnchorMatrix::new(all)?)
}

/// A copy, as far as it can be made at once.
pub(crate) struct MadeCopy<'a> {
    maker: &'a Maker,
    seed: Seed,
    /// `None` for the originals.
    step: Option<u64>,
    drawn: Option<Drawn>,
}

/// A whole copy of the moved columns.
struct Drawn {
    draw: Draw,
    x: Array2<f64>,
    y: Array2<f64>,
}

impl MadeCopy<'_> {
    /// Prepares a block.
    pub(crate) fn block(&self, block: &Block) -> Result<MadeBlock<'_>> {
        let (mut labels, mut strength) = (None, None);
        if let Maker::Groups(groups) = self.maker {
            labels = Some(groups.label(block)?);
            strength = self.step.map(|step| match groups.per {
                Per::Batch => Strength::Shared(groups.gammas.shared(self.seed, step)),
                Per::Row => {
                    let rows = block.first..block.first + block.rows() as u64;
                    let gamma = |row| groups.gammas.of_row(self.seed, step, row);
                    Strength::PerRow(rows.map(gamma).collect())
                }
            });
        }
        Ok(MadeBlock { copy: self, first: block.first, rows: block.rows(), labels, strength })
    }
}

/// A block of a copy.
pub(crate) struct MadeBlock<'a> {
    copy: &'a MadeCopy<'a>,
    first: u64,
    rows: usize,
    labels: Option<Vec<u32>>,
    strength: Option<Strength>,
}

impl MadeBlock<'_> {
    /// The values of a moved column, from the originals. What is missing stays so, and so does what would
    /// be mixed with a missing value.
    pub(crate) fn column(&self, index: usize, original: &Float64Array) -> Result<Float64Array> {
        match (self.copy.maker, &self.copy.drawn, &self.labels, &self.strength) {
            (Maker::Groups(groups), _, Some(labels), Some(strength)) => {
                move_toward(&groups.means[index], original, labels, strength)
            }
            (Maker::Mixed(mixed), Some(drawn), ..) => Ok(self.mixed(mixed, drawn, index, original)),
            _ => Ok(original.clone()),
        }
    }

    fn mixed(
        &self,
        mixed: &Mixed,
        drawn: &Drawn,
        index: usize,
        original: &Float64Array,
    ) -> Float64Array {
        let all = match index.checked_sub(mixed.x.ncols()) {
            None => drawn.x.column(index),
            Some(target) => drawn.y.column(target),
        };
        let first = in_memory(self.first);
        let made = (first..first + self.rows).map(|row| all[row]);
        let Some(missing) = &mixed.missing[index] else { return made.collect::<Vec<_>>().into() };
        let partner_missing = |row: usize| match drawn.draw.origin(row).map(|origin| origin.how) {
            Some(How::Pair { partner, .. }) => missing[partner],
            _ => false,
        };
        let present = |row: usize| original.is_valid(row) && !partner_missing(first + row);
        let nulls: NullBuffer = (0..self.rows).map(present).collect::<Vec<bool>>().into();
        Float64Array::new(made.collect(), Some(nulls))
    }

    /// Which rows count, if not all do.
    pub(crate) fn kept(&self) -> Option<Vec<bool>> {
        let weights = self.copy.drawn.as_ref()?.draw.row_weights()?;
        let first = in_memory(self.first);
        Some(weights[first..first + self.rows].iter().map(|&weight| weight > 0.0).collect())
    }

    /// The group of every row, if the method has groups.
    pub(crate) fn groups(&self) -> Option<Vec<u32>> {
        let Maker::Groups(groups) = self.copy.maker else { return None };
        let labels = self.labels.as_ref()?;
        Some(labels.iter().map(|&label| groups.numbers[label as usize]).collect())
    }

    pub(crate) fn has_gamma(&self) -> bool {
        match self.copy.maker {
            Maker::Groups(_) => true,
            Maker::Mixed(mixed) => mixed.gamma,
        }
    }

    pub(crate) fn has_partner(&self) -> bool {
        matches!(self.copy.maker, Maker::Mixed(mixed) if mixed.pairs)
    }

    fn how(&self, row: usize) -> Option<How> {
        let drawn = self.copy.drawn.as_ref()?;
        drawn.draw.origin(in_memory(self.first) + row).map(|origin| origin.how)
    }

    /// The strength of a row; none for an original.
    pub(crate) fn gamma(&self, row: usize) -> Option<f64> {
        match &self.strength {
            Some(Strength::Shared(gamma)) => Some(*gamma),
            Some(Strength::PerRow(gammas)) => Some(gammas[row]),
            None => match self.how(row) {
                Some(How::Projection { gamma }) => Some(gamma),
                _ => None,
            },
        }
    }

    /// The partner of a row, as it stands in the table, and λ; none for an original.
    pub(crate) fn pair(&self, row: usize) -> Option<(u64, f64)> {
        match (self.copy.maker, self.how(row)) {
            (Maker::Mixed(mixed), Some(How::Pair { partner, lambda })) => {
                Some((mixed.source(partner), lambda))
            }
            _ => None,
        }
    }

    /// The smallest and the largest strength.
    pub(crate) fn gammas(&self) -> Option<(f64, f64)> {
        let rows = match &self.strength {
            Some(Strength::Shared(gamma)) => return Some((*gamma, *gamma)),
            _ if self.has_gamma() => 0..self.rows,
            _ => 0..0,
        };
        let gammas = rows.filter_map(|row| self.gamma(row));
        gammas.fold(None, |range, gamma| {
            let (low, high) = range.unwrap_or((gamma, gamma));
            Some((gamma.min(low), gamma.max(high)))
        })
    }
}

/// Moves the values of a column that are there.
fn move_toward(
    means: &GroupMeans,
    column: &Float64Array,
    labels: &[u32],
    strength: &Strength,
) -> Result<Float64Array> {
    let present = Present::of(column);
    let strength = match strength {
        Strength::PerRow(all) => Strength::PerRow(present.pick(all).into_owned()),
        shared @ Strength::Shared(_) => shared.clone(),
    };
    let moved = means.apply(present.view(), &present.pick(labels), &strength)?;
    let moved = moved.into_raw_vec_and_offset().0;
    let Some(rows) = &present.rows else { return Ok(moved.into()) };
    let mut out = Float64Builder::with_capacity(column.len());
    let mut moved = rows.iter().zip(moved).peekable();
    for row in 0..column.len() {
        match moved.next_if(|(present, _)| **present == row) {
            Some((_, value)) => out.append_value(value),
            None => out.append_null(),
        }
    }
    Ok(out.finish())
}
