//! Grids of small images.

use crate::color::Color;
use crate::frame;
use crate::svg::{group, num, text, truncate, xml};

/// The side of an image, the space between two, the height of a caption, and the margin.
const SIDE: f64 = 70.0;
const GAP: f64 = 10.0;
const CAPTION: f64 = 24.0;
const MARGIN: f64 = 24.0;
/// Heights of a heading and of the title.
const HEADING: f64 = 30.0;
const TITLE: f64 = 30.0;

/// A small image.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thumbnail {
    /// Pixels in a row of it.
    pub width: usize,
    /// Red, green and blue, row by row from the top.
    pub pixels: Vec<[u8; 3]>,
    /// Text below it.
    pub caption: String,
}

/// A row of images.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageRow {
    /// A heading above the row.
    pub heading: Option<String>,
    /// The images, from the left.
    pub images: Vec<Thumbnail>,
}

/// A grid of images, as large as they need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageGrid {
    /// Heading of the grid.
    pub title: String,
    /// The rows, from the top.
    pub rows: Vec<ImageRow>,
}

impl ImageGrid {
    /// The grid as an SVG document without external references.
    #[must_use]
    pub fn to_svg(&self) -> String {
        let most = self.rows.iter().map(|row| row.images.len()).max().unwrap_or(0).max(1) as f64;
        let width = 2.0 * MARGIN + most * (SIDE + GAP) - GAP;
        let headings = self.rows.iter().filter(|row| row.heading.is_some()).count() as f64;
        let rows = self.rows.len() as f64 * (SIDE + CAPTION);
        let height = 2.0 * MARGIN + TITLE + headings * HEADING + rows;
        let mut svg = vec![frame::begin(&self.title, width, height)];
        let title = xml(&truncate(&self.title, (width - 2.0 * MARGIN) / 18.0));
        let words = text(MARGIN, MARGIN + 12.0, "start", Color::Ink, &title);
        svg.push(format!("<g font-size='18'>{words}</g>"));
        let mut y = MARGIN + TITLE;
        for row in &self.rows {
            if let Some(heading) = &row.heading {
                let words = xml(&truncate(heading, (width - 2.0 * MARGIN) / 12.0));
                svg.push(text(MARGIN, y + 18.0, "start", Color::Ink, &words));
                y += HEADING;
            }
            for (place, image) in row.images.iter().enumerate() {
                image.draw(&mut svg, MARGIN + place as f64 * (SIDE + GAP), y);
            }
            y += SIDE + CAPTION;
        }
        frame::end(svg)
    }
}

impl Thumbnail {
    fn draw(&self, svg: &mut Vec<String>, left: f64, top: f64) {
        let width = self.width.max(1);
        let lines = self.pixels.len().div_ceil(width).max(width);
        let unit = SIDE / lines as f64;
        let mut pixels = vec![];
        for (y, line) in self.pixels.chunks(width).enumerate() {
            let mut x = 0;
            // Neighbors of one color are one rectangle.
            for run in line.chunk_by(|a, b| a == b) {
                let ([red, green, blue], length) = (run[0], run.len());
                pixels.push(format!(
                    "<rect x='{x}' y='{y}' width='{length}' height='1' fill='#{red:02x}{green:02x}{blue:02x}'/>"
                ));
                x += length;
            }
        }
        // The coordinates of pixels are integers, so that their edges meet.
        let place = format!("translate({} {}) scale({unit})", num(left), num(top));
        group(svg, &format!(" transform='{place}' shape-rendering='crispEdges'"), pixels);
        let caption = xml(&truncate(&self.caption, SIDE / 12.0 + 1.0));
        svg.push(text(left + SIDE / 2.0, top + SIDE + 15.0, "middle", Color::Faint, &caption));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render_png;

    fn image(width: usize, pixels: usize) -> Thumbnail {
        let pixels = (0..pixels).map(|at| [u8::try_from(at / 2).unwrap(), 0, 9]).collect();
        Thumbnail { width, pixels, caption: "<a>".to_owned() }
    }

    #[test]
    fn neighbors_of_one_color_are_one_rectangle() {
        let row = ImageRow { heading: Some("r".to_owned()), images: vec![image(4, 8)] };
        let grid = ImageGrid { title: "t".to_owned(), rows: vec![row] };
        let svg = grid.to_svg();
        assert_eq!(svg.matches("<rect x=").count(), 4);
        assert!(svg.contains("x='2' y='1' width='2' height='1' fill='#030009'"));
        assert!(svg.contains("&lt;a>") || svg.contains("&lt;a&gt;"));
    }

    #[test]
    fn odd_images_are_drawn() {
        for (width, pixels) in [(0, 0), (0, 3), (5, 3), (1, 9)] {
            let row = ImageRow { heading: None, images: vec![image(width, pixels)] };
            let grid = ImageGrid { title: String::new(), rows: vec![row, ImageRow::default()] };
            assert!(render_png(&grid.to_svg()).is_ok(), "{width}, {pixels}");
        }
        assert!(render_png(&ImageGrid::default().to_svg()).is_ok());
    }
}
