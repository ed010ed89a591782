//! Plots as SVG or PNG, all in one look and with an embedded font.
//!
//! | Plot | What it shows |
//! | :-- | :-- |
//! | [`Scatter`] | the rows of an augmentation |
//! | [`Moving`] | how they move with its strength |
//! | [`Lines`] | how values change along an axis |
//! | [`Intervals`] | means with intervals, in named rows |
//! | [`Strips`] | all values, in named rows |
//! | [`Fits`] | rows with one feature, and the curves fitted to them |
//! | [`HeatMap`] | a value for each pair of names |
//! | [`Cloud`] | one value against another, such as predicted against true |
//! | [`Sheet`] | small images with captions, in rows |
//!
//! Each but the last has a [`Size`]. A page that holds them as inline SVG can have them follow its colors with
//! [`stylesheet`].

mod axis;
mod cloud;
mod color;
mod curve;
mod dots;
mod fits;
mod frame;
mod glyphs;
mod groups;
mod heat_map;
mod intervals;
mod legend;
mod lines;
mod mark;
mod moving;
mod png;
mod rows;
mod scatter;
mod sheet;
mod size;
mod strips;
mod svg;

pub use cloud::Cloud;
pub use color::stylesheet;
pub use dots::Dots;
pub use fits::Fits;
pub use heat_map::{Best, HeatMap};
pub use intervals::{Emphasis, Interval, Intervals};
pub use lines::{Lines, Series};
pub use moving::{Moving, MovingPoint};
pub use png::PlotError;
pub use rows::Reference;
pub use scatter::{Point, Scatter};
pub use sheet::{Sheet, SheetRow, Thumbnail};
pub use size::Size;
pub use strips::{Strip, Strips, Summary};
