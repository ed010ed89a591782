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
use crate::mixing::{Ready, buffer, task_rows, with_rows};
use crate::{Batch, Draw, Error, Fitted, How, Origin, Real, Result, Seed};

/// The number of synthetic copies of each row, and whether originals come first.
///
/// | Setting | Default | Range |
/// | :-- | :-- | :-- |
/// | [`new`](Self::new) | – | `1, …, 1e6` |
/// | [`originals`](Self::originals) | `true` | |
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copies {
    count: usize,
    originals: bool,
}

impl Copies {
    /// This many synthetic copies of every row, after the originals.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Self { count, originals: true }
    }

    /// Returns an error for a number outside its range.
    pub fn check(self) -> Result<()> {
        const MAX: usize = 1_000_000;
        if (1..=MAX).contains(&self.count) {
            return Ok(());
        }
        Err(Error::OutOfRange { name: "copies", range: "[1, 1e6]", got: self.count as f64 })
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
    draws: Vec<Draw>,
}

impl Plan {
    /// Draws every copy.
    pub fn draw(fitted: &dyn Fitted, copies: Copies, seed: Seed) -> Result<Self> {
        copies.check()?;
        let draw = |copy| fitted.draw(Batch::All, seed, copy).map(Draw::without_weightless_rows);
        let draws = (0..copies.count as u64).map(draw).collect::<Result<_>>()?;
        Ok(Self { training_rows: fitted.rows(), originals: copies.originals, draws })
    }

    /// The number of rows, originals included.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.original_rows() + self.draws.iter().map(Draw::rows).sum::<usize>()
    }

    /// The number of originals that come first.
    #[must_use]
    pub fn original_rows(&self) -> usize {
        if self.originals { self.training_rows } else { 0 }
    }

    /// The draw of every copy, in order.
    #[must_use]
    pub fn draws(&self) -> &[Draw] {
        &self.draws
    }

    /// The copy of a row, 0 for originals; `None` after the last row.
    #[must_use]
    pub fn copy(&self, row: usize) -> Option<usize> {
        let mut end = self.original_rows();
        if row < end {
            return Some(0);
        }
        self.draws
            .iter()
            .position(|draw| {
                end += draw.rows();
                row < end
            })
            .map(|draw| draw + 1)
    }

    /// The origin of a row; `None` after the last row.
    #[must_use]
    pub fn origin(&self, row: usize) -> Option<Origin> {
        if row < self.original_rows() {
            return Some(Origin { source: row, how: How::Copy });
        }
        let mut row = row - self.original_rows();
        for draw in &self.draws {
            if row < draw.rows() {
                return draw.origin(row);
            }
            row -= draw.rows();
        }
        None
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
        for draw in 0..self.draws.len() {
            let (copy, behind) = rest.split_at_mut(self.draws[draw].rows() * width);
            tasks.extend(Task::split(Some(draw), copy, step, width));
            rest = behind;
        }
        // All copies of a block one after the other: its rows are read from memory once.
        tasks.sort_by_key(|task| task.first);
        tasks.into_par_iter().for_each(|Task { draw, first, out }| match draw {
            None => out.copy_from_slice(&source[first * width..][..out.len()]),
            Some(draw) => {
                let range = first..first + out.len() / width;
                let draw_rows = (training, self.draws[draw].gather_map());
                self.draws[draw].write(side, &ready[uses[draw]], draw_rows, range, out);
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
    ) -> Result<(Vec<Ready<T>>, Vec<usize>)> {
        let mut ready: Vec<Ready<T>> = vec![];
        let mut uses = Vec::with_capacity(self.draws.len());
        for (i, draw) in self.draws.iter().enumerate() {
            if i == 0 || !draw.shares_preparation(&self.draws[i - 1]) {
                ready.push(draw.prepare(side, training, draw.gather_map())?);
            }
            uses.push(ready.len() - 1);
        }
        Ok((ready, uses))
    }
}

/// Some rows of one copy, written by one task.
struct Task<'a, T> {
    /// Which draw, or `None` for originals.
    draw: Option<usize>,
    first: usize,
    out: &'a mut [T],
}

impl<'a, T> Task<'a, T> {
    fn split(
        draw: Option<usize>,
        out: &'a mut [T],
        step: usize,
        width: usize,
    ) -> impl Iterator<Item = Self> {
        let parts = out.chunks_mut(step * width).enumerate();
        parts.map(move |(part, out)| Self { draw, first: part * step, out })
    }
}
