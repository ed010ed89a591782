//! No augmentation: empirical risk minimization.

use super::{Batch, Draw, Fitted, Method};
use crate::{Mixing, Result, Samples, Seed};

/// No augmentation: every synthetic row is its source.
///
/// ```
/// use ndarray::array;
/// use windlass::{Batch, Erm, Fitted, Method, Samples, Seed};
///
/// let (x, y) = (array![[1.0], [2.0]], array![3.0, 4.0]);
/// let erm = Erm.fit(&Samples::new(x.view(), y.view())?, Seed(0))?;
/// assert_eq!(erm.draw(Batch::Rows(&[1]), Seed(0), 0)?.targets(y.view())?, array![4.0]);
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Erm;

#[derive(Debug)]
struct FittedErm {
    rows: usize,
}

impl Method for Erm {
    fn fit(&self, samples: &Samples<'_>, _seed: Seed) -> Result<Box<dyn Fitted>> {
        Ok(Box::new(FittedErm { rows: samples.rows() }))
    }
}

impl Fitted for FittedErm {
    fn rows(&self) -> usize {
        self.rows
    }

    fn draw(&self, batch: Batch<'_>, _seed: Seed, _step: u64) -> Result<Draw> {
        let sources = batch.check(self.rows)?;
        let rows = sources.map_or(self.rows, <[usize]>::len);
        Ok(Draw::of(self.rows, sources, Mixing::identity(rows)))
    }
}
