//! Sheets of small images.

use crate::color::Color;
use crate::frame;
use crate::png::{self, PlotError};
use crate::svg::{num, text, xml};

/// The side of an image, and what is left between two, below one for its caption, and around the sheet.
const SIDE: f64 = 70.0;
const GAP: f64 = 10.0;
const CAPTION: f64 = 24.0;
const MARGIN: f64 = 24.0;
/// What a heading takes, and the title.
const HEADING: f64 = 30.0;
const TITLE: f64 = 30.0;

/// A small image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thumbnail {
    /// Pixels in a row of it.
    pub width: usize,
    /// Red, green and blue, row by row from the top.
    pub pixels: Vec<[u8; 3]>,
    /// What stands below it.
    pub caption: String,
}

/// A row of images.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SheetRow {
    /// A heading before the row.
    pub heading: Option<String>,
    /// The images, from the left.
    pub images: Vec<Thumbnail>,
}

/// A sheet of images, as large as they need.
///
/// ```
/// use windlass_plot::{Sheet, SheetRow, Thumbnail};
///
/// let pixels = vec![[255, 0, 0], [0, 0, 255]];
/// let image = Thumbnail { width: 2, pixels, caption: "flag".to_owned() };
/// let sheet = Sheet { rows: vec![SheetRow { heading: None, images: vec![image] }], ..Sheet::default() };
/// assert!(sheet.to_svg().contains("#ff0000"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sheet {
    /// Heading of the sheet.
    pub title: String,
    /// The rows, from the top.
    pub rows: Vec<SheetRow>,
}

impl Sheet {
    /// The sheet as an SVG document that refers to nothing outside itself.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let most = self.rows.iter().map(|row| row.images.len()).max().unwrap_or(0).max(1) as f64;
        let width = 2.0 * MARGIN + most * (SIDE + GAP) - GAP;
        let headings = self.rows.iter().filter(|row| row.heading.is_some()).count() as f64;
        let rows = self.rows.len() as f64 * (SIDE + CAPTION);
        let height = 2.0 * MARGIN + TITLE + headings * HEADING + rows;
        let mut svg = vec![frame::begin(&self.title, width, height)];
        let title = xml(&self.title, (width - 2.0 * MARGIN) / 18.0);
        let words = text(MARGIN, MARGIN + 12.0, "start", Color::Ink, &title);
        svg.push(format!("<g font-size='18'>{words}</g>"));
        let mut y = MARGIN + TITLE;
        for row in &self.rows {
            if let Some(heading) = &row.heading {
                let words = xml(heading, (width - 2.0 * MARGIN) / 12.0);
                svg.push(text(MARGIN, y + 18.0, "start", Color::Ink, &words));
                y += HEADING;
            }
            for (place, image) in row.images.iter().enumerate() {
                image.draw(&mut svg, MARGIN + place as f64 * (SIDE + GAP), y);
            }
            y += SIDE + CAPTION;
        }
        frame::close(svg)
    }

    /// The sheet as a PNG of twice the size of the SVG, its text in an embedded font.
    pub fn to_png(&self) -> Result<Vec<u8>, PlotError> {
        png::render(&self.to_svg())
    }
}

impl Thumbnail {
    fn draw(&self, svg: &mut Vec<String>, left: f64, top: f64) {
        let width = self.width.max(1);
        let lines = self.pixels.len().div_ceil(width).max(width);
        let unit = SIDE / lines as f64;
        // The coordinates of pixels are whole, so that their edges meet.
        svg.push(format!(
            "<g transform='translate({} {}) scale({unit})' shape-rendering='crispEdges'>",
            num(left),
            num(top)
        ));
        for (y, line) in self.pixels.chunks(width).enumerate() {
            let mut x = 0;
            // Neighbors of one color are one rectangle.
            for run in line.chunk_by(|a, b| a == b) {
                let ([red, green, blue], length) = (run[0], run.len());
                svg.push(format!(
                    "<rect x='{x}' y='{y}' width='{length}' height='1' fill='#{red:02x}{green:02x}{blue:02x}'/>"
                ));
                x += length;
            }
        }
        svg.push("</g>".to_owned());
        let caption = xml(&self.caption, SIDE / 12.0 + 1.0);
        svg.push(text(left + SIDE / 2.0, top + SIDE + 15.0, "middle", Color::Faint, &caption));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(width: usize, pixels: usize) -> Thumbnail {
        let pixels = (0..pixels).map(|at| [u8::try_from(at / 2).unwrap(), 0, 9]).collect();
        Thumbnail { width, pixels, caption: "<a>".to_owned() }
    }

    #[test]
    fn neighbors_of_one_color_are_one_rectangle() {
        let row = SheetRow { heading: Some("r".to_owned()), images: vec![image(4, 8)] };
        let sheet = Sheet { title: "t".to_owned(), rows: vec![row] };
        let svg = sheet.to_svg();
        assert_eq!(svg.matches("<rect x=").count(), 4);
        assert!(svg.contains("x='2' y='1' width='2' height='1' fill='#030009'"));
        assert!(svg.contains("&lt;a>") || svg.contains("&lt;a&gt;"));
    }

    #[test]
    fn odd_images_are_drawn() {
        for (width, pixels) in [(0, 0), (0, 3), (5, 3), (1, 9)] {
            let row = SheetRow { heading: None, images: vec![image(width, pixels)] };
            let sheet = Sheet { title: String::new(), rows: vec![row, SheetRow::default()] };
            assert!(sheet.to_png().is_ok(), "{width}, {pixels}");
        }
        assert!(Sheet::default().to_png().is_ok());
    }
}
