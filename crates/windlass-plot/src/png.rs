//! Plots as PNG, rendered from their SVG.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg;

use crate::glyphs::outline_text;

/// Pixels of the PNG per unit of the SVG.
const PNG_SCALE: f32 = 2.0;

/// The reason why a PNG could not be rendered.
#[derive(Debug, thiserror::Error)]
pub enum PlotError {
    /// The renderer did not read the SVG.
    #[error("the plot could not be laid out: {0}")]
    Svg(#[from] usvg::Error),
    /// There is no memory for the pixels.
    #[error("no memory for the pixels of the plot")]
    Memory,
    /// The encoder failed.
    #[error("the plot could not be encoded as PNG: {0}")]
    Png(String),
}

/// The SVG of a plot as a PNG of twice the size, with text in an embedded font.
pub fn render_png(svg: &str) -> Result<Vec<u8>, PlotError> {
    let options = usvg::Options {
        // The default resolvers open files.
        image_href_resolver: usvg::ImageHrefResolver {
            resolve_data: Box::new(|_, _, _| None),
            resolve_string: Box::new(|_, _| None),
        },
        ..usvg::Options::default()
    };
    let tree = usvg::Tree::from_str(&outline_text(svg), &options)?;
    let size = tree.size().to_int_size().scale_by(PNG_SCALE);
    let pixels = size.and_then(|size| Pixmap::new(size.width(), size.height()));
    let mut pixels = pixels.ok_or(PlotError::Memory)?;
    resvg::render(&tree, Transform::from_scale(PNG_SCALE, PNG_SCALE), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| PlotError::Png(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_png_has_twice_the_size_and_the_same_bytes_every_time() {
        let svg = crate::LinePlot::default().to_svg(&crate::Layout::PAGE);
        let png = render_png(&svg).unwrap();
        assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
        assert_eq!(png[16..24], [0, 0, 7, 8, 0, 0, 4, 176]);
        assert_eq!(png, render_png(&svg).unwrap());
    }
}
