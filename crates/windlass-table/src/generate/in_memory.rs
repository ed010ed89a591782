//! Methods that mix arbitrary rows, or use all of them: the moved columns are in memory.

use std::path::Path;
use std::sync::Arc;

use arrow_array::{Array as _, ArrayRef, Float64Array, Int64Array, UInt64Array};
use arrow_buffer::NullBuffer;
use ndarray::{Array2, Axis};
use windlass::{
    AnchorMatrix, Batch, Draw, Fitted, How, Method as _, MethodInfo, MethodParams, ParamName, Per,
    RareSpec, Relevance, RowProvenance, Samples, Seed,
};

use crate::column::{is_numeric, matrix, type_name};
use crate::config::{AnchorSource, AugmentConfig, MethodConfig};
use crate::generate::generated_block::GeneratedBlock;
use crate::generate::loaded_rows::{LoadedRows, RowLabels};
use crate::io::read::table::{ReadOptions, Table};
use crate::rows::block::Block;
use crate::schema::roles::Roles;
use crate::{Error, Result};

/// A method fitted on rows in memory.
pub(crate) struct InMemoryGenerator {
    fitted: Box<dyn Fitted>,
    x: Array2<f64>,
    y: Array2<f64>,
    /// Whether a row has no value, for moved columns with missing values.
    missing: Vec<Option<Vec<bool>>>,
    /// The values of `windlass_source`, if not the indices of the rows.
    sources: Option<ArrayRef>,
    detail: RowProvenance,
    draws_together: bool,
    /// The training rows, for another process that fits the method again.
    pub(crate) rows: LoadedRows,
}

/// The rows of a copy.
pub(crate) struct DrawnCopy {
    draw: Draw,
    x: Array2<f64>,
    y: Array2<f64>,
}

/// The training table of a method.
pub(crate) struct TrainingTable {
    pub(crate) rows: u64,
    pub(crate) memory: u64,
}

impl InMemoryGenerator {
    /// Fits the method. Without the training table, an anchor matrix is an error.
    pub(crate) fn fit(
        rows: LoadedRows,
        settings: &AugmentConfig,
        roles: &Roles,
        relevance: Option<&Relevance>,
        table: Option<&TrainingTable>,
    ) -> Result<Self> {
        let mismatch = || Error::bad_part("its columns differ from those of the table");
        let shape = (rows.rows(), roles.moved().len());
        let mut all = Array2::from_shape_vec(shape, rows.values.clone()).map_err(|_| mismatch())?;
        let missing = impute_means(&mut all);
        let (x, y) = all.view().split_at(Axis(1), roles.features.len());
        let (x, y) = (x.to_owned(), y.to_owned());
        let mut samples = Samples::new(x.view(), y.view())?;
        if let Some(weights) = &rows.weights {
            samples = samples.with_weights(weights)?;
        }
        let seed = Seed(settings.seed);
        let fitted = match (&settings.method, table) {
            (MethodConfig::Ada(ada), Some(table)) => {
                let AnchorSource::Matrix(path) = &ada.anchors else { return Err(mismatch()) };
                let row_numbers = match &rows.sources {
                    Some(RowLabels::Numbers(numbers)) => Some(&numbers[..]),
                    _ => None,
                };
                let anchors = read_anchors(path, table, row_numbers)?;
                ada.method(anchors.into(), None).fit(&samples, seed)?
            }
            (MethodConfig::Ada(_), None) => return Err(mismatch()),
            (MethodConfig::Other { method, params }, _) => {
                // Blocks are drawn one by one, but `Per::Auto` means that of a whole table.
                let per = params.per.map(Per::of_table);
                let rare = relevance.cloned().map(RareSpec::Points);
                (method.build)(&MethodParams { per, rare, ..params.clone() }).fit(&samples, seed)?
            }
        };
        let MethodInfo { provenance: detail, draws_together, .. } = *settings.method.info();
        let sources = rows.sources.as_ref().map(RowLabels::to_array);
        Ok(Self { fitted, x, y, missing, sources, detail, draws_together, rows })
    }

    /// The indices of the rows of a block among the training rows.
    fn indices(&self, block: &Block) -> Result<Vec<usize>> {
        let Some(ids) = &self.rows.ids else {
            let first = block.first_index();
            return Ok((first..first + block.rows()).collect());
        };
        let index = |row| {
            let index = ids.binary_search(&block.id(row));
            index.map_err(|_| Error::Changed { path: "the table".into() })
        };
        (0..block.rows()).map(index).collect()
    }

    fn draw(&self, batch: Batch<'_>, seed: Seed, step: u64) -> Result<DrawnCopy> {
        let draw = self.fitted.draw(batch, seed, step)?;
        let x = draw.features(self.x.view())?;
        let y = draw.targets(self.y.view())?;
        Ok(DrawnCopy { draw, x, y })
    }

    /// A whole copy, if all rows must be drawn together.
    pub(crate) fn copy(&self, seed: Seed, step: u64) -> Result<Option<Arc<DrawnCopy>>> {
        self.draws_together.then(|| self.draw(Batch::All, seed, step).map(Arc::new)).transpose()
    }

    /// A block of a copy: rows of the `whole` copy if there is one, otherwise rows that are drawn
    /// now. `step` is `None` for the originals.
    pub(crate) fn block(
        &self,
        block: &Block,
        whole: Option<&Arc<DrawnCopy>>,
        seed: Seed,
        step: Option<u64>,
    ) -> Result<InMemoryBlock<'_>> {
        let mut drawn = None;
        if let Some(step) = step {
            let indices = self.indices(block)?;
            drawn = match whole {
                Some(copy) => Some(DrawnRows { copy: Arc::clone(copy), indices }),
                None if indices.is_empty() => None,
                None => {
                    let copy = Arc::new(self.draw(Batch::Rows(&indices), seed, step)?);
                    Some(DrawnRows { copy, indices: (0..block.rows()).collect() })
                }
            };
        }
        Ok(InMemoryBlock { generator: self, rows: block.rows(), drawn })
    }

    /// The values of `windlass_source` of some rows.
    fn source_column(&self, rows: &[Option<usize>]) -> ArrayRef {
        let rows = rows.iter().map(|row| row.map(|row| row as u64));
        match &self.sources {
            None => {
                let signed = |row: u64| i64::try_from(row).unwrap_or(i64::MAX);
                Arc::new(rows.map(|row| row.map(signed)).collect::<Int64Array>())
            }
            Some(sources) => {
                let rows: UInt64Array = rows.collect();
                arrow_select::take::take(sources, &rows, None).expect("training rows")
            }
        }
    }
}

/// A block of a copy.
pub(crate) struct InMemoryBlock<'a> {
    generator: &'a InMemoryGenerator,
    rows: usize,
    /// `None` for the originals.
    drawn: Option<DrawnRows>,
}

/// The rows of a block among those of a copy.
struct DrawnRows {
    copy: Arc<DrawnCopy>,
    indices: Vec<usize>,
}

impl InMemoryBlock<'_> {
    fn how(&self, row: usize) -> Option<How> {
        let DrawnRows { copy, indices } = self.drawn.as_ref()?;
        copy.draw.origin(indices[row]).map(|origin| origin.how)
    }
}

impl GeneratedBlock for InMemoryBlock<'_> {
    /// A missing value stays missing, and so does a value mixed with a missing one.
    fn column(&self, index: usize, original: &Float64Array) -> Result<Float64Array> {
        let Some(DrawnRows { copy, indices }) = &self.drawn else { return Ok(original.clone()) };
        let all = match index.checked_sub(self.generator.x.ncols()) {
            None => copy.x.column(index),
            Some(target) => copy.y.column(target),
        };
        let values = indices.iter().map(|&row| all[row]);
        let Some(missing) = &self.generator.missing[index] else {
            return Ok(values.collect::<Vec<_>>().into());
        };
        let partner_missing =
            |row| matches!(self.how(row), Some(How::Pair { partner, .. }) if missing[partner]);
        let present = |row: usize| original.is_valid(row) && !partner_missing(row);
        let nulls: NullBuffer = (0..indices.len()).map(present).collect::<Vec<bool>>().into();
        Ok(Float64Array::new(values.collect(), Some(nulls)))
    }

    /// Rows with a positive weight.
    fn keep(&self) -> Option<Vec<bool>> {
        let DrawnRows { copy, indices } = self.drawn.as_ref()?;
        let weights = copy.draw.row_weights()?;
        Some(indices.iter().map(|&row| weights[row] > 0.0).collect())
    }

    fn gammas(&self) -> Option<Float64Array> {
        let gamma = |row| match self.how(row) {
            Some(How::Projection { gamma }) => Some(gamma),
            _ => None,
        };
        let has_gamma = self.generator.detail == RowProvenance::Group;
        has_gamma.then(|| (0..self.rows).map(gamma).collect())
    }

    fn lambdas(&self) -> Option<Float64Array> {
        let lambda = |row| match self.how(row) {
            Some(How::Neighborhood { lambda }) => Some(lambda),
            _ => None,
        };
        let has_lambda = self.generator.detail == RowProvenance::Neighborhood;
        has_lambda.then(|| (0..self.rows).map(lambda).collect())
    }

    fn partners(&self) -> Option<(ArrayRef, Float64Array)> {
        let pair = |row| match self.how(row) {
            Some(How::Pair { partner, lambda }) => (Some(partner), Some(lambda)),
            _ => (None, None),
        };
        (self.generator.detail == RowProvenance::Pair).then(|| {
            let (partners, lambdas): (Vec<_>, Vec<_>) = (0..self.rows).map(pair).unzip();
            (self.generator.source_column(&partners), lambdas.into())
        })
    }
}

/// Replaces missing values by the mean of their column, and returns which rows had none.
fn impute_means(rows: &mut Array2<f64>) -> Vec<Option<Vec<bool>>> {
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

/// Reads an anchor matrix; of its rows only `row_numbers`, if given.
fn read_anchors(
    path: &Path,
    training: &TrainingTable,
    row_numbers: Option<&[i64]>,
) -> Result<AnchorMatrix> {
    let options = ReadOptions { memory: training.memory, ..ReadOptions::default() };
    let table = Table::open(&[path.to_owned()], &options)?;
    let schema = table.schema();
    for field in schema.fields() {
        if !is_numeric(field.data_type()) {
            return Err(Error::NotNumeric {
                column: field.name().clone(),
                param: ParamName("anchors"),
                holds: type_name(field.data_type()),
                example: String::new(),
            });
        }
    }
    let columns: Vec<usize> = (0..schema.fields().len()).collect();
    let mut all = Array2::zeros((0, columns.len()));
    for batch in table.blocks() {
        all.append(Axis(0), matrix(&batch?, &columns).view()).expect("the same columns");
    }
    if all.nrows() as u64 != training.rows {
        let (path, expected, got) = (path.to_owned(), training.rows, all.nrows() as u64);
        return Err(Error::MatrixRows { path, expected, got });
    }
    if let Some(numbers) = row_numbers {
        let row = |number: &i64| usize::try_from(*number).expect("rows in memory");
        all = all.select(Axis(0), &numbers.iter().map(row).collect::<Vec<_>>());
    }
    Ok(AnchorMatrix::new(all)?)
}
