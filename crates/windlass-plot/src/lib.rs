//! Plots as SVG or PNG, all in one look and with an embedded font: [`Scatter`] shows the rows of an
//! augmentation, [`Lines`] shows how values change along an axis.

mod axis;
mod colour;
mod curve;
mod frame;
mod legend;
mod lines;
mod mark;
mod png;
mod scatter;
mod svg;

pub use lines::{Lines, Series};
pub use png::PlotError;
pub use scatter::{Point, Scatter};
