//! A page that says what a comparison found, and its pictures.

mod page;
mod pictures;
mod search;

use windlass_plot::Size;

use crate::compare::Comparison;
use crate::summary::Summary;
use crate::{Result, Results};
use pictures::{Gallery, Picture};

impl Comparison<'_> {
    /// The files of a report, each with its name: a page that needs no other file, and its pictures. `table` is what
    /// the page calls the table.
    pub fn report(
        &self,
        results: &Results,
        summary: &Summary,
        table: &str,
    ) -> Result<Vec<(String, Vec<u8>)>> {
        let gallery = Gallery { comparison: self, results, summary };
        let pictures: Vec<Picture> = [
            Some(gallery.differences()),
            gallery.curves(),
            Some(gallery.splits()),
            Some(gallery.predicted()),
            Some(gallery.residuals()?),
            gallery.moving(),
        ]
        .into_iter()
        .flatten()
        .collect();
        let page = page::of_comparison(&gallery, &pictures, table);
        let mut files = vec![("report.html".to_owned(), page.into_bytes())];
        for picture in &pictures {
            let svg = (picture.draw)(Size::Page);
            files.push((format!("pictures/{}.svg", picture.name), svg.into_bytes()));
        }
        Ok(files)
    }
}
