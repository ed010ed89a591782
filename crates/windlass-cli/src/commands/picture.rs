//! Plots as files, in the format of their ending.

use std::path::Path;

use windlass_plot::{Lines, PlotError, Scatter, Sheet};
use windlass_table::{Error, Result};

/// The format of a plot.
#[derive(Debug, Clone, Copy)]
pub enum Picture {
    /// SVG.
    Svg,
    /// PNG.
    Png,
}

impl Picture {
    /// The format of a file by its ending; any other than .svg and .png is refused.
    pub fn of(path: &Path) -> Result<Self> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some(ending) if ending.eq_ignore_ascii_case("svg") => Ok(Self::Svg),
            Some(ending) if ending.eq_ignore_ascii_case("png") => Ok(Self::Png),
            _ => Err(Error::PictureEnding { path: path.to_owned() }),
        }
    }

    pub(super) fn scatter(self, path: &Path, plot: &Scatter) -> Result<Vec<u8>> {
        self.draw(path, || plot.to_svg(), || plot.to_png())
    }

    pub(super) fn lines(self, path: &Path, plot: &Lines) -> Result<Vec<u8>> {
        self.draw(path, || plot.to_svg(), || plot.to_png())
    }

    /// Draws a grid of images.
    pub fn sheet(self, path: &Path, plot: &Sheet) -> Result<Vec<u8>> {
        self.draw(path, || plot.to_svg(), || plot.to_png())
    }

    fn draw(
        self,
        path: &Path,
        svg: impl Fn() -> String,
        png: impl Fn() -> Result<Vec<u8>, PlotError>,
    ) -> Result<Vec<u8>> {
        match self {
            Self::Svg => Ok(svg().into_bytes()),
            Self::Png => png().map_err(|error| {
                let (path, why) = (path.to_owned(), error.to_string());
                Error::Plot { path, why }
            }),
        }
    }
}
