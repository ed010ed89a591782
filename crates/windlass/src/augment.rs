//! Whole datasets: originals and any number of synthetic copies, with the origin of each row.
//!
//! ```
//! use ndarray::Array2;
//! use windlass::{Ada, Copies, Method, Plan, Samples, Seed};
//!
//! let x = Array2::from_shape_fn((50, 4), |(i, j)| ((i * 7 + j * 3) % 23) as f64);
//! let y = x.sum_axis(ndarray::Axis(1));
//! let fitted = Ada::default().clusters(5).fit(&Samples::new(x.view(), y.view())?, Seed(7))?;
//! let plan = Plan::draw(fitted.as_ref(), Copies::new(3), Seed(7))?;
//! let (x2, y2) = (plan.features(x.view())?, plan.targets(y.view())?);
//! assert_eq!((x2.dim(), y2.dim()), ((200, 4), 200)); // 50 originals, then 3 × 50
//! assert_eq!(plan.origin(57).unwrap().source, 7);
//! # Ok::<(), windlass::Error>(())
//! ```

use ndarray::{Array, ArrayView, ArrayView2, ArrayViewMut, Dimension};
use rayon::prelude::*;

use crate::data::flatten;
use crate::error::same_rows;
use crate::method::Side;
use crate::mixing::{Prepared, buffer, task_rows, with_rows};
use crate::{Batch, Draw, Error, Fitted, How, Origin, Real, Result, Seed};

const MAX_COPIES: usize = 1_000_000;

/// The number of synthetic copies of each row, and whether originals come first.
///
/// | Setting | Default | Range |
/// | :-- | :-- | :-- |
/// | [`new`](Self::new), [`auto`](Self::auto) | – | `1, …, 1e6` |
/// | [`originals`](Self::originals) | `true` | |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copies {
    /// `None`: automatic.
    count: Option<usize>,
    originals: bool,
}

impl Copies {
    /// This many synthetic copies of every row, after the originals.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self { count: Some(count), originals: true }
    }

    /// One synthetic copy of every row; if copies are made of [some rows](Fitted::sources) only, the number that
    /// makes these and their copies [as many as the others](Self::balancing).
    #[must_use]
    pub fn auto() -> Self {
        Self { count: None, originals: true }
    }

    /// The number of copies of some rows that makes them, with their copies, as many as the others: `others/some − 1`,
    /// rounded, and at least 1.
    ///
    /// ```
    /// use windlass::Copies;
    ///
    /// assert_eq!([10, 30, 45, 90].map(|rare| Copies::balancing(rare, 100 - rare)), [8, 1, 1, 1]);
    /// ```
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "bounded")]
    #[expect(clippy::cast_sign_loss, reason = "at least 1")]
    pub fn balancing(some: u64, others: u64) -> usize {
        (others as f64 / (some as f64).max(1.0) - 1.0).round().clamp(1.0, MAX_COPIES as f64)
            as usize
    }

    /// Returns an error for a number outside its range.
    pub fn check(self) -> Result<()> {
        match self.count {
            Some(count) if !(1..=MAX_COPIES).contains(&count) => {
                Err(Error::OutOfRange { name: "copies", range: "[1, 1e6]", got: count as f64 })
            }
            _ => Ok(()),
        }
    }

    /// Sets whether the originals come first.
    #[must_use]
    pub fn originals(mut self, originals: bool) -> Self {
        self.originals = originals;
        self
    }
}

/// The random draws of an augmented dataset; [`features`](Self::features) and [`targets`](Self::targets) compute it.
///
/// Copy `c`, counted from 1, is the draw of step `c − 1`, so the first copies of a plan do not depend on the number
/// of copies. Rows with weight 0 are omitted.
#[derive(Debug, Clone)]
pub struct Plan {
    training_rows: usize,
    originals: bool,
    copies: Vec<DrawnCopy>,
}

/// A copy of a dataset.
#[derive(Debug, Clone)]
struct DrawnCopy {
    draw: Draw,
    /// The rows of the draw that are part of the copy; `None`: all.
    kept: Option<Vec<usize>>,
}

impl DrawnCopy {
    fn rows(&self) -> usize {
        self.kept.as_ref().map_or(self.draw.rows(), Vec::len)
    }

    /// The row of the draw that is a row of the copy.
    fn row(&self, row: usize) -> usize {
        self.kept.as_ref().map_or(row, |kept| kept[row])
    }
}

impl Plan {
    /// Draws every copy, of the [sources](Fitted::sources) of the method.
    pub fn draw(fitted: &dyn Fitted, copies: Copies, seed: Seed) -> Result<Self> {
        copies.check()?;
        let (rows, sources) = (fitted.rows(), fitted.sources());
        let count = copies.count.unwrap_or_else(|| {
            let some = sources.map_or(rows, <[usize]>::len);
            Copies::balancing(some as u64, (rows - some) as u64)
        });
        let is_source = sources.map(|sources| {
            let mut is_source = vec![false; rows];
            for &row in sources {
                is_source[row] = true;
            }
            is_source
        });
        let copy = |step| {
            let draw = fitted.draw(Batch::All, seed, step)?.without_weightless_rows();
            let kept = is_source.as_ref().map(|is_source| {
                let sources = draw.gathered().take(draw.rows()).enumerate();
                sources.filter(|(_, source)| is_source[*source]).map(|(row, _)| row).collect()
            });
            Ok(DrawnCopy { draw, kept })
        };
        let drawn = (0..count as u64).map(copy).collect::<Result<_>>()?;
        Ok(Self { training_rows: rows, originals: copies.originals, copies: drawn })
    }

    /// The number of rows, originals included.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.original_rows() + self.copies.iter().map(DrawnCopy::rows).sum::<usize>()
    }

    /// The number of originals that come first.
    #[must_use]
    pub fn original_rows(&self) -> usize {
        if self.originals { self.training_rows } else { 0 }
    }

    /// The copy of a row, 0 for originals; `None` after the last row.
    #[must_use]
    pub fn copy(&self, row: usize) -> Option<usize> {
        let mut end = self.original_rows();
        if row < end {
            return Some(0);
        }
        self.copies
            .iter()
            .position(|copy| {
                end += copy.rows();
                row < end
            })
            .map(|copy| copy + 1)
    }

    /// The origin of a row; `None` after the last row.
    #[must_use]
    pub fn origin(&self, row: usize) -> Option<Origin> {
        if row < self.original_rows() {
            return Some(Origin { source: row, how: How::Copy });
        }
        let mut row = row - self.original_rows();
        for copy in &self.copies {
            if row < copy.rows() {
                return copy.draw.origin(copy.row(row));
            }
            row -= copy.rows();
        }
        None
    }

    /// The copy and the origin of every row, in order.
    pub fn origins(&self) -> impl Iterator<Item = (usize, Origin)> + '_ {
        let original = |source| (0, Origin { source, how: How::Copy });
        let copies = self.copies.iter().enumerate().flat_map(|(number, copy)| {
            let origin = |row| copy.draw.origin(copy.row(row)).expect("a row of the draw");
            (0..copy.rows()).map(move |row| (number + 1, origin(row)))
        });
        (0..self.original_rows()).map(original).chain(copies)
    }

    /// The augmented features, from the training features.
    pub fn features<T: Real, D: Dimension>(
        &self,
        training: ArrayView<'_, T, D>,
    ) -> Result<Array<T, D>> {
        self.make(Side::Features, training)
    }

    /// The augmented targets, from the training targets.
    pub fn targets<T: Real, D: Dimension>(
        &self,
        training: ArrayView<'_, T, D>,
    ) -> Result<Array<T, D>> {
        self.make(Side::Targets, training)
    }

    /// [`features`](Self::features) into a buffer in standard layout.
    pub fn features_into<T: Real, D: Dimension>(
        &self,
        training: ArrayView<'_, T, D>,
        out: ArrayViewMut<'_, T, D>,
    ) -> Result<()> {
        self.make_into(Side::Features, training, out)
    }

    /// [`targets`](Self::targets) into a buffer in standard layout.
    pub fn targets_into<T: Real, D: Dimension>(
        &self,
        training: ArrayView<'_, T, D>,
        out: ArrayViewMut<'_, T, D>,
    ) -> Result<()> {
        self.make_into(Side::Targets, training, out)
    }

    fn make<T: Real, D: Dimension>(
        &self,
        side: Side,
        training: ArrayView<'_, T, D>,
    ) -> Result<Array<T, D>> {
        let mut out = Array::zeros(self.shape(&training)?);
        self.make_into(side, training, out.view_mut())?;
        Ok(out)
    }

    /// The shape of the result.
    fn shape<T, D: Dimension>(&self, training: &ArrayView<'_, T, D>) -> Result<D> {
        let got = training.shape().first().copied().unwrap_or(0);
        same_rows(("the plan", self.training_rows), ("the data", got))?;
        Ok(with_rows(training, self.rows()))
    }

    fn make_into<T: Real, D: Dimension>(
        &self,
        side: Side,
        training: ArrayView<'_, T, D>,
        out: ArrayViewMut<'_, T, D>,
    ) -> Result<()> {
        let out = buffer(out, &self.shape(&training)?)?;
        let training = flatten(training);
        self.write(side, training.view(), out)
    }

    fn write<T: Real>(&self, side: Side, training: ArrayView2<'_, T>, out: &mut [T]) -> Result<()> {
        let width = training.ncols();
        if width == 0 {
            return Ok(());
        }
        let (ready, uses) = self.prepare(side, training)?;
        let step = task_rows(width);
        let source = training.to_slice().expect("standard layout");
        let mut tasks: Vec<Task<'_, T>> = Vec::with_capacity(out.len() / (step * width) + 1);
        let (originals, mut rest) = out.split_at_mut(self.original_rows() * width);
        tasks.extend(Task::split(None, originals, step, width));
        for copy in 0..self.copies.len() {
            let (own, behind) = rest.split_at_mut(self.copies[copy].rows() * width);
            tasks.extend(Task::split(Some(copy), own, step, width));
            rest = behind;
        }
        // All copies of a block one after the other: its rows are read from memory once.
        tasks.sort_by_key(|task| task.first);
        tasks.into_par_iter().for_each(|Task { copy, first, out }| {
            let Some(copy) = copy else {
                return out.copy_from_slice(&source[first * width..][..out.len()]);
            };
            let DrawnCopy { draw, kept } = &self.copies[copy];
            let (ready, rows) = (&ready[uses[copy]], (training, draw.gather_map()));
            let Some(kept) = kept else {
                let range = first..first + out.len() / width;
                return draw.write(side, ready, rows, range, out);
            };
            for (&row, out) in kept[first..].iter().zip(out.chunks_exact_mut(width)) {
                draw.write(side, ready, rows, row..row + 1, out);
            }
        });
        Ok(())
    }

    /// The statistics of all rows that the draws need, and which of them each draw uses: copies that differ only in
    /// strength share their group means.
    fn prepare<T: Real>(
        &self,
        side: Side,
        training: ArrayView2<'_, T>,
    ) -> Result<(Vec<Prepared<T>>, Vec<usize>)> {
        let mut ready: Vec<Prepared<T>> = vec![];
        let mut uses = Vec::with_capacity(self.copies.len());
        for (i, DrawnCopy { draw, .. }) in self.copies.iter().enumerate() {
            if i == 0 || !draw.shares_preparation(&self.copies[i - 1].draw) {
                ready.push(draw.prepare(side, training, draw.gather_map())?);
            }
            uses.push(ready.len() - 1);
        }
        Ok((ready, uses))
    }
}

/// Some rows of one copy, written by one task.
struct Task<'a, T> {
    /// Which copy, or `None` for originals.
    copy: Option<usize>,
    first: usize,
    out: &'a mut [T],
}

impl<'a, T> Task<'a, T> {
    fn split(
        copy: Option<usize>,
        out: &'a mut [T],
        step: usize,
        width: usize,
    ) -> impl Iterator<Item = Self> {
        let parts = out.chunks_mut(step * width).enumerate();
        parts.map(move |(part, out)| Self { copy, first: part * step, out })
    }
}
