//! Methods that mix rows that stand anywhere: the moved columns are in memory.

use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::Int64Type;
use arrow_array::{Array as _, ArrayRef, Float64Array, Int64Array, StringArray, UInt64Array};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use ndarray::{Array2, Axis};
use serde::{Deserialize, Serialize};
use windlass::{AnchorMatrix, Batch, Draw, Fitted, How, Method as _, RowProvenance, Samples, Seed};

use crate::column::{in_words, is_numeric};
use crate::groups::weights;
use crate::maker::in_memory;
use crate::profile::{Profile, matrix};
use crate::roles::Roles;
use crate::rows::Block;
use crate::settings::{AnchorSource, AugmentConfig, MethodConfig};
use crate::{Error, ReadOptions, Result, Table};

/// A method, fitted on rows that are in memory.
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
    /// Whether rows have partners, or a γ.
    pub(crate) pairs: bool,
    pub(crate) gamma: bool,
    /// What it was fitted on, to be fitted again elsewhere.
    pub(crate) loaded: Loaded,
}

/// Rows of a copy of the moved columns.
pub(crate) struct Drawn {
    draw: Draw,
    x: Array2<f64>,
    y: Array2<f64>,
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
    sources: Option<RowLabels>,
}

/// What rows are called.
#[derive(Debug, Clone, Serialize, Deserialize)]
enum RowLabels {
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
                let sources = self.sources.get_or_insert(RowLabels::Numbers(vec![]));
                let number = |row| i64::try_from(block.source(row)).unwrap_or(i64::MAX);
                sources.extend(RowLabels::Numbers((0..block.rows()).map(number).collect()));
            }
            None => {}
            Some(names) => {
                self.ids.get_or_insert_default().extend(&names.ids);
                let called = RowLabels::of(&names.sources);
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

impl RowLabels {
    fn of(sources: &ArrayRef) -> Self {
        match sources.data_type() {
            DataType::Int64 => {
                let numbers = sources.as_primitive::<Int64Type>();
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
        settings: &AugmentConfig,
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
            (MethodConfig::Ada(ada), Some((profile, memory))) => {
                let AnchorSource::Matrix(path) = &ada.anchors else { return Err(bad()) };
                let sources = match &loaded.sources {
                    Some(RowLabels::Numbers(rows)) => Some(&rows[..]),
                    _ => None,
                };
                let anchors = read_anchors(path, profile, sources, memory)?;
                ada.method(anchors.into(), None).fit(&samples, seed)?
            }
            (other, _) => other.without_anchors().ok_or_else(bad)?.fit(&samples, seed)?,
        };
        let gamma = matches!(settings.method, MethodConfig::Ada(_));
        let pairs = settings.method.info().provenance == RowProvenance::Pair;
        let sources = loaded.sources.as_ref().map(RowLabels::array);
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

    /// A whole copy, where it is made as a whole.
    pub(crate) fn copy(&self, seed: Seed, step: u64) -> Result<Option<Arc<Drawn>>> {
        self.whole.then(|| self.draw(Batch::All, seed, step).map(Arc::new)).transpose()
    }

    /// The rows of a copy that belong to a block; `whole` is the copy, where it was made as a whole.
    pub(crate) fn block(
        &self,
        block: &Block,
        whole: Option<&Arc<Drawn>>,
        (seed, step): (Seed, u64),
    ) -> Result<Option<Made>> {
        let places = self.places(block)?;
        Ok(match whole {
            Some(all) => Some(Made { drawn: Arc::clone(all), places }),
            None if places.is_empty() => None,
            None => {
                let drawn = Arc::new(self.draw(Batch::Rows(&places), seed, step)?);
                Some(Made { drawn, places: (0..block.rows()).collect() })
            }
        })
    }

    /// What the partners of rows are called in the output.
    pub(crate) fn called(&self, partners: &[Option<usize>]) -> ArrayRef {
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

/// Rows that were drawn, and which of them the rows of a block are.
pub(crate) struct Made {
    drawn: Arc<Drawn>,
    places: Vec<usize>,
}

impl Made {
    /// The values of a moved column. What is missing stays so, and so does what would be mixed with a missing
    /// value.
    pub(crate) fn column(
        &self,
        mixed: &Mixed,
        index: usize,
        original: &Float64Array,
    ) -> Float64Array {
        let Self { drawn, places } = self;
        let all = match index.checked_sub(mixed.x.ncols()) {
            None => drawn.x.column(index),
            Some(target) => drawn.y.column(target),
        };
        let made = places.iter().map(|&row| all[row]);
        let Some(missing) = &mixed.missing[index] else { return made.collect::<Vec<_>>().into() };
        let partner_missing =
            |row| matches!(self.how(row), Some(How::Pair { partner, .. }) if missing[partner]);
        let present = |row: usize| original.is_valid(row) && !partner_missing(row);
        let nulls: NullBuffer = (0..places.len()).map(present).collect::<Vec<bool>>().into();
        Float64Array::new(made.collect(), Some(nulls))
    }

    /// Which rows count, if not all do.
    pub(crate) fn kept(&self) -> Option<Vec<bool>> {
        let weights = self.drawn.draw.row_weights()?;
        Some(self.places.iter().map(|&row| weights[row] > 0.0).collect())
    }

    /// How a row of the block was made.
    pub(crate) fn how(&self, row: usize) -> Option<How> {
        self.drawn.draw.origin(self.places[row]).map(|origin| origin.how)
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
    path: &Path,
    profile: &Profile,
    sources: Option<&[i64]>,
    memory: u64,
) -> Result<AnchorMatrix> {
    let options = ReadOptions { memory, ..ReadOptions::default() };
    let table = Table::open(&[path.to_owned()], &options)?;
    let schema = table.schema();
    for field in schema.fields() {
        if !is_numeric(field.data_type()) {
            return Err(Error::NotNumeric {
                column: field.name().clone(),
                option: "--anchors",
                holds: in_words(field.data_type()),
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
