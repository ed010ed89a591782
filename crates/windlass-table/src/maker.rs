//! What makes synthetic values: fitted to a table, then asked for block after block of a copy.

use std::sync::Arc;

use arrow_array::builder::Float64Builder;
use arrow_array::{Array, ArrayRef, Float64Array, Int64Array, StringArray, UInt64Array};
use arrow_buffer::NullBuffer;
use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use windlass::{
    AnchorMatrix, Batch, Draw, Fitted, Gammas, GroupMeans, GroupSums, How, Method as _, Per,
    Samples, Seed, Strength,
};

use crate::augment::GroupSummary;
use crate::column::numbers;
use crate::groups::{Grouping, weights};
use crate::profile::{Profile, matrix};
use crate::roles::Roles;
use crate::rows::Block;
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
    /// What rows are called in the output, if not by their place here.
    sources: Option<ArrayRef>,
    /// What rows go by, in growing order, if not by their place here.
    ids: Option<Vec<u64>>,
    /// Whether a copy is made as a whole, because all rows count in each of its rows.
    whole: bool,
    pairs: bool,
    gamma: bool,
    /// What it was fitted on, to be fitted again elsewhere.
    loaded: Loaded,
}

/// A fitted method as it goes to other processes and into files.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kept {
    Groups { grouping: Grouping, sizes: Vec<u64>, means: Vec<KeptMeans> },
    Rows(Loaded),
}

/// The means of a moved column in every group, and what each sum was divided by.
#[derive(Serialize, Deserialize)]
pub(crate) struct KeptMeans {
    means: Vec<f64>,
    divisors: Vec<f64>,
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
    /// A method that was fitted before, on a table with these roles.
    pub(crate) fn of(kept: Kept, settings: &Settings, roles: &Roles) -> Result<Self> {
        let moved = roles.moved().len();
        match (kept, &settings.method) {
            (Kept::Groups { grouping, sizes, means }, Method::Ada(ada)) => {
                let bad = |why: &str| Error::BadPart { why: why.to_owned() };
                let groups = grouping.groups();
                if !grouping.fits(roles.roles.len()) {
                    return Err(bad("its groups are of columns that it does not have"));
                }
                if means.len() != moved || sizes.len() != groups {
                    return Err(bad("it has not as many means as groups and columns"));
                }
                let mean = |KeptMeans { means, divisors }: KeptMeans| {
                    let column = ArrayView2::from_shape((means.len(), 1), &means[..]);
                    let column = column.expect("one column");
                    if means.len() != groups {
                        return Err(bad("it has not as many means as groups"));
                    }
                    Ok(GroupMeans::new(column, divisors)?)
                };
                let means = means.into_iter().map(mean).collect::<Result<_>>()?;
                Groups::new(grouping, sizes, means, None, ada).map(Self::Groups)
            }
            (Kept::Rows(loaded), _) => Mixed::new(loaded, settings, roles, None).map(Self::Mixed),
            (Kept::Groups { .. }, _) => {
                Err(Error::BadPart { why: "groups go with ada alone".into() })
            }
        }
    }

    /// What another process needs to make the same; nothing where all rows are needed and not kept.
    pub(crate) fn kept(&self) -> Kept {
        match self {
            Self::Groups(groups) => {
                let mean = |means: &GroupMeans| KeptMeans {
                    means: means.means().iter().copied().collect(),
                    divisors: means.divisors().to_vec(),
                };
                Kept::Groups {
                    grouping: groups.grouping.clone(),
                    sizes: groups.sizes.clone(),
                    means: groups.means.iter().map(mean).collect(),
                }
            }
            Self::Mixed(mixed) => Kept::Rows(mixed.loaded.clone()),
        }
    }

    /// The columns whose numbers tell groups apart.
    pub(crate) fn numeric(&self) -> Vec<usize> {
        match self {
            Self::Groups(groups) => groups.grouping.numeric().copied().collect(),
            Self::Mixed(_) => vec![],
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
            (Self::Mixed(mixed), Some(step)) if mixed.whole => {
                Some(Arc::new(mixed.draw(Batch::All, seed, step)?))
            }
            _ => None,
        };
        Ok(MadeCopy { maker: self, seed, step, drawn })
    }
}

/// Sums of the rows of every group, as far as they were read.
#[derive(Serialize, Deserialize)]
pub(crate) struct Sums {
    of_column: Vec<GroupSums>,
    sizes: Vec<u64>,
    /// Of tables that are read again, and have few groups.
    #[serde(skip)]
    labels: Option<Labels>,
}

impl Sums {
    /// Nothing yet.
    pub(crate) fn new(groups: usize, moved: usize, memory: u64) -> Result<Self> {
        // The sums, twice while they become means.
        if (groups as u64).saturating_mul(moved as u64 * 64) > memory / 2 {
            return Err(Error::TooManyGroups { groups, memory });
        }
        let of_column = vec![GroupSums::new(groups, 1); moved];
        Ok(Self { of_column, sizes: vec![0; groups], labels: None })
    }

    /// Keeps the groups of so many rows, which will come again in the same order, if there is room.
    pub(crate) fn keep_labels(&mut self, rows: u64, memory: u64) {
        self.labels = Labels::new(self.sizes.len(), rows, memory);
    }

    pub(crate) fn add(
        &mut self,
        block: &Block,
        grouping: &Grouping,
        (moved, weight): (&[usize], Option<usize>),
    ) -> Result<()> {
        let own = grouping.label(&block.batch)?;
        for &label in &own {
            self.sizes[label as usize] += 1;
        }
        if let Some(labels) = &mut self.labels {
            labels.extend(&own);
        }
        let weights = weights(&block.batch, weight);
        self.of_column.par_iter_mut().zip(moved).try_for_each(|(sums, &place)| {
            let present = Present::of(&numbers(block.batch.column(place)));
            let weights = weights.as_ref().map(|weights| present.pick(weights));
            let labels = present.pick(&own);
            sums.add(present.view(), &labels, weights.as_deref())
        })?;
        Ok(())
    }

    pub(crate) fn merge(&mut self, other: &Self) -> Result<()> {
        let shape = |sums: &Self| (sums.of_column.len(), sums.sizes.len());
        if shape(self) != shape(other) {
            return Err(Error::BadPart { why: "it has other groups or columns".into() });
        }
        for (sums, other) in self.of_column.iter_mut().zip(&other.of_column) {
            sums.merge(other)?;
        }
        for (size, more) in self.sizes.iter_mut().zip(&other.sizes) {
            *size += more;
        }
        Ok(())
    }

    pub(crate) fn finish(self, grouping: Grouping, ada: &AdaSettings) -> Result<Maker> {
        let means = self.of_column.into_iter().map(GroupSums::finish);
        let means = means.collect::<windlass::Result<_>>()?;
        Groups::new(grouping, self.sizes, means, self.labels, ada).map(Maker::Groups)
    }
}

impl Groups {
    fn new(
        grouping: Grouping,
        sizes: Vec<u64>,
        means: Vec<GroupMeans>,
        labels: Option<Labels>,
        ada: &AdaSettings,
    ) -> Result<Self> {
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

/// The moved columns of the rows of a table, side by side.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Loaded {
    width: usize,
    /// Row after row; missing values are NaN.
    values: Vec<f64>,
    weights: Option<Vec<f64>>,
    /// What the rows go by, if not by their number.
    ids: Option<Vec<u64>>,
    /// What the rows are called in the output, if not by their place here.
    sources: Option<Called>,
}

/// What rows are called.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum Called {
    Numbers(Vec<i64>),
    Words(Vec<String>),
}

impl Loaded {
    /// Nothing yet.
    pub(crate) fn new(moved: usize) -> Self {
        Self { width: moved, values: vec![], weights: None, ids: None, sources: None }
    }

    /// How many bytes so many rows need: as they are read and as they are kept, pairs of them, a copy, and the
    /// table itself.
    pub(crate) fn bytes(rows: u64, moved: usize) -> u64 {
        rows.saturating_mul(moved as u64 * 8 * 6)
    }

    /// Adds the rows of a block; `numbers` says whether what they are called is to be kept.
    pub(crate) fn add(
        &mut self,
        block: &Block,
        moved: &[usize],
        weight: Option<usize>,
        numbers: bool,
    ) {
        self.values.extend(matrix(&block.batch, moved));
        if let Some(more) = weights(&block.batch, weight) {
            self.weights.get_or_insert_default().extend(more);
        }
        match &block.names {
            None if numbers => {
                let sources = self.sources.get_or_insert(Called::Numbers(vec![]));
                let number = |row| i64::try_from(block.source(row)).unwrap_or(i64::MAX);
                sources.extend(Called::Numbers((0..block.rows()).map(number).collect()));
            }
            None => {}
            Some(names) => {
                self.ids.get_or_insert_default().extend(&names.ids);
                let called = Called::of(&names.sources);
                match &mut self.sources {
                    Some(sources) => sources.extend(called),
                    none => *none = Some(called),
                }
            }
        }
    }

    /// Adds the rows of another part of the table.
    pub(crate) fn merge(&mut self, other: Self) {
        self.values.extend(other.values);
        if let Some(more) = other.weights {
            self.weights.get_or_insert_default().extend(more);
        }
        if let Some(more) = other.ids {
            self.ids.get_or_insert_default().extend(more);
        }
        match (&mut self.sources, other.sources) {
            (Some(sources), Some(more)) => sources.extend(more),
            (none, more) => *none = none.take().or(more),
        }
    }

    pub(crate) fn rows(&self) -> usize {
        self.values.len() / self.width.max(1)
    }

    /// Puts the rows in the order of what they go by, so that it does not matter how they came. Two rows with one
    /// key are refused.
    pub(crate) fn sort(&mut self, key: Option<&str>) -> Result<()> {
        let Some(ids) = &self.ids else { return Ok(()) };
        let mut order: Vec<usize> = (0..ids.len()).collect();
        order.sort_by_key(|&row| ids[row]);
        let (values, width) = (&self.values, self.width);
        let values = order.iter().flat_map(|&row| &values[row * width..(row + 1) * width]);
        let sorted = Self {
            width,
            values: values.copied().collect(),
            weights: self.weights.as_ref().map(|all| order.iter().map(|&row| all[row]).collect()),
            ids: Some(order.iter().map(|&row| ids[row]).collect()),
            sources: self.sources.as_ref().map(|sources| sources.take(&order)),
        };
        *self = sorted;
        let ids = self.ids.as_ref().expect("they were sorted by them");
        if let Some(row) = ids.windows(2).position(|pair| pair[0] == pair[1])
            && let (Some(column), Some(sources)) = (key, &self.sources)
        {
            let (column, key) = (column.to_owned(), sources.word(row));
            return Err(Error::SameKey { column, key });
        }
        Ok(())
    }
}

impl Called {
    fn of(sources: &ArrayRef) -> Self {
        use arrow_array::cast::AsArray as _;
        match sources.data_type() {
            arrow_schema::DataType::Int64 => {
                let numbers = sources.as_primitive::<arrow_array::types::Int64Type>();
                Self::Numbers(numbers.values().to_vec())
            }
            _ => Self::Words(
                sources.as_string::<i32>().iter().map(|w| w.unwrap_or("").to_owned()).collect(),
            ),
        }
    }

    fn extend(&mut self, more: Self) {
        match (self, more) {
            (Self::Numbers(all), Self::Numbers(more)) => all.extend(more),
            (Self::Words(all), Self::Words(more)) => all.extend(more),
            _ => {}
        }
    }

    fn take(&self, rows: &[usize]) -> Self {
        match self {
            Self::Numbers(all) => Self::Numbers(rows.iter().map(|&row| all[row]).collect()),
            Self::Words(all) => Self::Words(rows.iter().map(|&row| all[row].clone()).collect()),
        }
    }

    fn word(&self, row: usize) -> String {
        match self {
            Self::Numbers(all) => all[row].to_string(),
            Self::Words(all) => all[row].clone(),
        }
    }

    fn array(&self) -> ArrayRef {
        match self {
            Self::Numbers(all) => Arc::new(Int64Array::from(all.clone())),
            Self::Words(all) => Arc::new(StringArray::from_iter_values(all)),
        }
    }
}

impl Mixed {
    /// Fits the method on the rows of a table, whose profile is needed for an anchor matrix.
    pub(crate) fn new(
        loaded: Loaded,
        settings: &Settings,
        roles: &Roles,
        profile: Option<(&Profile, u64)>,
    ) -> Result<Self> {
        let bad = || Error::BadPart { why: "it has not the columns of the table".into() };
        let shape = (loaded.rows(), roles.moved().len());
        let mut all = Array2::from_shape_vec(shape, loaded.values.clone()).map_err(|_| bad())?;
        let missing = fill(&mut all);
        let (x, y) = all.view().split_at(Axis(1), roles.features.len());
        let (x, y) = (x.to_owned(), y.to_owned());
        let mut samples = Samples::new(x.view(), y.view())?;
        if let Some(weights) = &loaded.weights {
            samples = samples.with_weights(weights)?;
        }
        let seed = Seed(settings.seed);
        let fitted = match (&settings.method, profile) {
            (Method::Ada(ada), Some((profile, memory))) => {
                let AnchorChoice::Matrix(path) = &ada.anchors else { return Err(bad()) };
                let sources = match &loaded.sources {
                    Some(Called::Numbers(rows)) => Some(&rows[..]),
                    _ => None,
                };
                let anchors = read_anchors(path, profile, sources, memory)?;
                ada.method(anchors.into(), None).fit(&samples, seed)?
            }
            (other, _) => other.without_anchors().ok_or_else(bad)?.fit(&samples, seed)?,
        };
        let gamma = matches!(settings.method, Method::Ada(_));
        let pairs = !gamma && !matches!(settings.method, Method::Noise { .. });
        let sources = loaded.sources.as_ref().map(Called::array);
        let ids = loaded.ids.clone();
        Ok(Self { fitted, x, y, missing, sources, ids, whole: gamma, pairs, gamma, loaded })
    }

    /// The places of a block's rows among those that were fitted.
    fn places(&self, block: &Block) -> Result<Vec<usize>> {
        let Some(ids) = &self.ids else {
            let first = in_memory(block.first);
            return Ok((first..first + block.rows()).collect());
        };
        let place = |row| {
            let place = ids.binary_search(&block.id(row));
            place.map_err(|_| Error::Changed { path: "the table".into() })
        };
        (0..block.rows()).map(place).collect()
    }

    fn draw(&self, batch: Batch<'_>, seed: Seed, step: u64) -> Result<Drawn> {
        let draw = self.fitted.draw(batch, seed, step)?;
        let x = draw.features(self.x.view())?;
        let y = draw.targets(self.y.view())?;
        Ok(Drawn { draw, x, y })
    }

    /// What the partners of rows are called in the output.
    fn called(&self, partners: &[Option<usize>]) -> ArrayRef {
        let places = partners.iter().map(|place| place.map(|place| place as u64));
        match &self.sources {
            None => {
                let places =
                    places.map(|place| place.map(|place| i64::try_from(place).unwrap_or(i64::MAX)));
                Arc::new(places.collect::<Int64Array>())
            }
            Some(sources) => {
                let places: UInt64Array = places.collect();
                arrow_select::take::take(sources, &places, None).expect("places of rows")
            }
        }
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
    sources: Option<&[i64]>,
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
        let rows: Vec<usize> = sources.iter().map(|&row| in_memory(row.unsigned_abs())).collect();
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
    /// The whole copy, where it is made as a whole.
    drawn: Option<Arc<Drawn>>,
}

/// Rows of a copy of the moved columns.
struct Drawn {
    draw: Draw,
    x: Array2<f64>,
    y: Array2<f64>,
}

impl MadeCopy<'_> {
    /// Prepares a block.
    pub(crate) fn block(&self, block: &Block) -> Result<MadeBlock<'_>> {
        let rows = block.rows();
        let mut made =
            MadeBlock { maker: self.maker, rows, labels: None, strength: None, drawn: None };
        match self.maker {
            Maker::Groups(groups) => {
                made.labels = Some(groups.label(block)?);
                made.strength = self.step.map(|step| match groups.per {
                    Per::Batch => Strength::Shared(groups.gammas.shared(self.seed, step)),
                    Per::Row => {
                        let gamma = |row| groups.gammas.of_row(self.seed, step, block.id(row));
                        Strength::PerRow((0..rows).map(gamma).collect())
                    }
                });
            }
            Maker::Mixed(mixed) => {
                if let Some(step) = self.step {
                    let places = mixed.places(block)?;
                    made.drawn = Some(match &self.drawn {
                        Some(all) => Made { drawn: Arc::clone(all), places },
                        None if rows == 0 => return Ok(made),
                        None => {
                            let batch = Batch::Rows(&places);
                            let drawn = Arc::new(mixed.draw(batch, self.seed, step)?);
                            Made { drawn, places: (0..rows).collect() }
                        }
                    });
                }
            }
        }
        Ok(made)
    }
}

/// Rows that were drawn, and which of them the rows of a block are.
struct Made {
    drawn: Arc<Drawn>,
    places: Vec<usize>,
}

/// A block of a copy.
pub(crate) struct MadeBlock<'a> {
    maker: &'a Maker,
    rows: usize,
    labels: Option<Vec<u32>>,
    strength: Option<Strength>,
    drawn: Option<Made>,
}

impl MadeBlock<'_> {
    /// The values of a moved column, from the originals. What is missing stays so, and so does what would
    /// be mixed with a missing value.
    pub(crate) fn column(&self, index: usize, original: &Float64Array) -> Result<Float64Array> {
        match (self.maker, &self.drawn, &self.labels, &self.strength) {
            (Maker::Groups(groups), _, Some(labels), Some(strength)) => {
                move_toward(&groups.means[index], original, labels, strength)
            }
            (Maker::Mixed(mixed), Some(made), ..) => Ok(self.mixed(mixed, made, index, original)),
            _ => Ok(original.clone()),
        }
    }

    fn mixed(
        &self,
        mixed: &Mixed,
        Made { drawn, places }: &Made,
        index: usize,
        original: &Float64Array,
    ) -> Float64Array {
        let all = match index.checked_sub(mixed.x.ncols()) {
            None => drawn.x.column(index),
            Some(target) => drawn.y.column(target),
        };
        let made = places.iter().map(|&row| all[row]);
        let Some(missing) = &mixed.missing[index] else { return made.collect::<Vec<_>>().into() };
        let partner_missing = |row: usize| match drawn.draw.origin(row).map(|origin| origin.how) {
            Some(How::Pair { partner, .. }) => missing[partner],
            _ => false,
        };
        let present = |row: usize| original.is_valid(row) && !partner_missing(places[row]);
        let nulls: NullBuffer = (0..self.rows).map(present).collect::<Vec<bool>>().into();
        Float64Array::new(made.collect(), Some(nulls))
    }

    /// Which rows count, if not all do.
    pub(crate) fn kept(&self) -> Option<Vec<bool>> {
        let Made { drawn, places } = self.drawn.as_ref()?;
        let weights = drawn.draw.row_weights()?;
        Some(places.iter().map(|&row| weights[row] > 0.0).collect())
    }

    /// The group of every row, if the method has groups.
    pub(crate) fn groups(&self) -> Option<Vec<u32>> {
        let Maker::Groups(groups) = self.maker else { return None };
        let labels = self.labels.as_ref()?;
        Some(labels.iter().map(|&label| groups.numbers[label as usize]).collect())
    }

    pub(crate) fn has_gamma(&self) -> bool {
        match self.maker {
            Maker::Groups(_) => true,
            Maker::Mixed(mixed) => mixed.gamma,
        }
    }

    fn how(&self, row: usize) -> Option<How> {
        let Made { drawn, places } = self.drawn.as_ref()?;
        drawn.draw.origin(places[row]).map(|origin| origin.how)
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

    /// The partners of the rows, as they are called in the output, and λ of each; none for originals.
    pub(crate) fn pairs(&self) -> Option<(ArrayRef, Float64Array)> {
        let Maker::Mixed(mixed) = self.maker else { return None };
        let pair = |row| match self.how(row) {
            Some(How::Pair { partner, lambda }) => (Some(partner), Some(lambda)),
            _ => (None, None),
        };
        let (partners, lambdas): (Vec<_>, Vec<_>) = (0..self.rows).map(pair).unzip();
        mixed.pairs.then(|| (mixed.called(&partners), lambdas.into()))
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
