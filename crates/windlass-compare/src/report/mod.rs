//! Reports: a page with the results of a comparison, of a search or of a training, and its figures.

mod figures;
mod model;
mod page;
mod similarity;
mod tune;

pub use model::model_report;
pub use similarity::similarity_report;

use crate::compare::Comparison;
use crate::summary::ComparisonSummary;
use crate::{Result, Results};
use figures::{Figure, Figures};

impl Comparison<'_> {
    /// The files of a report, each with its name: a self-contained page, and its figures. `table`
    /// is the name of the table on the page.
    pub fn report(
        &self,
        results: &Results,
        summary: &ComparisonSummary,
        table: &str,
    ) -> Result<Vec<(String, Vec<u8>)>> {
        let all = Figures { comparison: self, results, summary };
        let figures: Vec<Figure> = [
            Some(all.differences()),
            all.errors_by_rows(),
            all.curves(),
            Some(all.splits()),
            Some(all.predicted()),
            Some(all.residuals()?),
            all.gamma_slider(),
        ]
        .into_iter()
        .flatten()
        .collect();
        Ok(page::files(&page::of_comparison(&all, &figures, table), &figures))
    }
}
