//! Plots as files, in the format of their extension.

use std::path::Path;

use crate::{Error, Result};

/// The format of a plot.
#[derive(Debug, Clone, Copy)]
pub enum PlotFormat {
    /// SVG.
    Svg,
    /// PNG.
    #[cfg(feature = "png")]
    Png,
}

impl PlotFormat {
    /// The format of a file by its extension: .svg or .png.
    pub fn from_path(path: &Path) -> Result<Self> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some(extension) if extension.eq_ignore_ascii_case("svg") => Ok(Self::Svg),
            #[cfg(feature = "png")]
            Some(extension) if extension.eq_ignore_ascii_case("png") => Ok(Self::Png),
            #[cfg(not(feature = "png"))]
            Some(extension) if extension.eq_ignore_ascii_case("png") => {
                Err(Error::NoPng { path: path.to_owned() })
            }
            _ => Err(Error::PlotExtension { path: path.to_owned() }),
        }
    }

    /// The bytes of the file at `path`.
    #[cfg_attr(not(feature = "png"), expect(unused_variables, reason = "SVG cannot fail"))]
    pub fn encode(self, path: &Path, svg: String) -> Result<Vec<u8>> {
        match self {
            Self::Svg => Ok(svg.into_bytes()),
            #[cfg(feature = "png")]
            Self::Png => windlass_plot::render_png(&svg)
                .map_err(|error| Error::Plot { path: path.to_owned(), why: error.to_string() }),
        }
    }
}
