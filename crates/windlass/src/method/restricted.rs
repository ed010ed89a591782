//! A method whose copies of a dataset are made of some of its rows.

use super::{Batch, Draw, Fitted};
use crate::{Error, Partition, Result, Seed};

/// A fitted method whose copies of a dataset are made of some rows only, such as those with rare targets. It is fitted
/// on all rows, and partners may be any row; draws for minibatches do not change.
///
/// ```
/// use ndarray::{Array, Axis};
/// use windlass::{Ada, Copies, Method, Plan, Relevance, Restricted, Samples, Seed, Tails};
///
/// let y = Array::from_iter((0..40).map(|i| f64::from(i * i)));
/// let x = y.sqrt().insert_axis(Axis(1));
/// let ada = Ada::default().fit(&Samples::new(x.view(), y.view())?, Seed(0))?;
/// let relevance = Relevance::from_box_plot(&y.to_vec(), Tails::High)?;
/// let rare = Restricted::new(ada, relevance.rare_rows(&y.to_vec()))?;
/// let plan = Plan::draw(&rare, Copies::auto(), Seed(0))?;
/// assert_eq!((plan.rows(), plan.origin(40).unwrap().source), (70, 35));
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug)]
pub struct Restricted {
    fitted: Box<dyn Fitted>,
    sources: Vec<usize>,
}

impl Restricted {
    /// Restricts the copies of a fitted method to these rows.
    pub fn new(fitted: Box<dyn Fitted>, mut sources: Vec<usize>) -> Result<Self> {
        sources.sort_unstable();
        sources.dedup();
        match (sources.last(), fitted.rows()) {
            (Some(&row), rows) if row >= rows => Err(Error::NoSuchRow { row, rows }),
            _ => Ok(Self { fitted, sources }),
        }
    }
}

impl Fitted for Restricted {
    fn rows(&self) -> usize {
        self.fitted.rows()
    }

    fn draw(&self, batch: Batch<'_>, seed: Seed, step: u64) -> Result<Draw> {
        self.fitted.draw(batch, seed, step)
    }

    fn sources(&self) -> Option<&[usize]> {
        Some(&self.sources)
    }

    fn partition(&self) -> Option<&Partition> {
        self.fitted.partition()
    }
}
