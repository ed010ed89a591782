//! Plots as files, in the format of their extension.

use std::path::Path;

use windlass_plot::render_png;

use crate::{Error, Result};

/// The format of a plot.
#[derive(Debug, Clone, Copy)]
pub enum PlotFormat {
    /// SVG.
    Svg,
    /// PNG.
    Png,
}

impl PlotFormat {
    /// The format of a file by its extension: .svg or .png.
    pub fn from_path(path: &Path) -> Result<Self> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some(extension) if extension.eq_ignore_ascii_case("svg") => Ok(Self::Svg),
            Some(extension) if extension.eq_ignore_ascii_case("png") => Ok(Self::Png),
            _ => Err(Error::PlotExtension { path: path.to_owned() }),
        }
    }

    /// The bytes of the file at `path`.
    pub fn encode(self, path: &Path, svg: String) -> Result<Vec<u8>> {
        match self {
            Self::Svg => Ok(svg.into_bytes()),
            Self::Png => render_png(&svg)
                .map_err(|error| Error::Plot { path: path.to_owned(), why: error.to_string() }),
        }
    }
}
