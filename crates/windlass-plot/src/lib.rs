//! Plots as SVG or PNG, in one style and with an embedded font.
//!
//! | Plot | Shows |
//! | :-- | :-- |
//! | [`Scatter`] | series of points, such as the rows of an augmentation or predicted against true values |
//! | [`GammaSlider`] | how the rows of an augmentation move with its strength |
//! | [`LinePlot`] | how values change along an axis |
//! | [`ForestPlot`] | means with intervals, in named rows |
//! | [`StripPlot`] | all values, in named rows |
//! | [`CurveFit`] | rows with one feature, and the curves fitted to them |
//! | [`Histogram`] | how values are distributed, in stacked bars |
//! | [`HeatMap`] | a value for each pair of names |
//! | [`ImageGrid`] | small images with captions, in rows |
//!
//! Each has `to_svg`, for a [`Layout`]; `render_png` (feature `png`, on by default) turns the SVG
//! into a PNG, and [`stack_figures`] puts several into one SVG file. A page with inline SVG can
//! include [`stylesheet`], so that plots follow its color scheme. [`mod@format`] has the numbers and
//! the escaping of plots, reports and the terminal.
//!
//! ```
//! use windlass_plot::{Annotation, Labels, Layout, LinePlot, LineSeries, render_png};
//!
//! let plot = LinePlot {
//!     labels: Labels::new("Training", "epoch", "loss"),
//!     series: vec![LineSeries::new("validation", [(1.0, 0.9), (2.0, 0.4), (3.0, 0.5)])],
//!     annotation: Some(Annotation { at: (2.0, 0.4), text: "best".to_owned() }),
//!     ..LinePlot::default()
//! };
//! let svg = plot.to_svg(&Layout::PAGE);
//! assert!(svg.contains("validation") && render_png(&svg)?.starts_with(b"\x89PNG"));
//! # Ok::<(), windlass_plot::PlotError>(())
//! ```

mod annotation;
mod axis;
mod color;
mod curve;
mod curve_fit;
mod forest_plot;
pub mod format;
mod frame;
mod gamma_slider;
#[cfg(feature = "png")]
mod glyphs;
mod heat_map;
mod histogram;
mod image_grid;
mod layout;
mod legend;
mod line_plot;
#[cfg(feature = "png")]
mod png;
mod row_plot;
mod scatter;
mod strip_plot;
mod svg;

pub use annotation::Annotation;
pub use color::stylesheet;
pub use curve_fit::CurveFit;
pub use forest_plot::{Emphasis, ForestPlot, ForestRow};
pub use frame::{Labels, stack_figures};
pub use gamma_slider::{GammaSlider, SliderPoint};
pub use heat_map::HeatMap;
pub use histogram::Histogram;
pub use image_grid::{ImageGrid, ImageRow, Thumbnail};
pub use layout::Layout;
pub use line_plot::{LinePlot, LineSeries};
#[cfg(feature = "png")]
pub use png::{PlotError, render_png};
pub use row_plot::ReferenceLine;
pub use scatter::{Point, PointSeries, Scatter};
pub use strip_plot::{StripPlot, StripRow};

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
