//! Data augmentation for regression.
//!
//! Synthetic training rows for small regression datasets: Anchor Data Augmentation ([`Ada`]) and other methods
//! ([`METHODS`]) with one interface.
//!
//! ```
//! use ndarray::Array2;
//! use windlass::{Ada, Copies, Method, Plan, Samples, Seed};
//!
//! let x = Array2::from_shape_fn((50, 4), |(i, j)| ((i * 7 + j * 3) % 23) as f64);
//! let y = x.sum_axis(ndarray::Axis(1));
//! let samples = Samples::new(x.view(), y.view())?;
//! let ada = Ada::default().clusters(5).alpha(2.0).fit(&samples, Seed(7))?;
//! let plan = Plan::draw(ada.as_ref(), Copies::new(10), Seed(7))?;
//! let (more_x, more_y) = (plan.features(x.view())?, plan.targets(y.view())?);
//! assert_eq!(more_x.nrows(), 50 + 10 * 50);
//! # Ok::<(), windlass::Error>(())
//! ```
//!
//! | Task | API |
//! | :-- | :-- |
//! | augment a dataset | [`augment`] |
//! | augment a minibatch, or add a method | [`method`] |
//! | augment a hidden layer, or blocks of a large table | [`mixing`], [`mixing::group_mean`] |
//! | group rows | [`anchors`] |
//! | set the distribution of γ | [`gamma`] |
//! | fit anchor regression or ridge | [`regress`] |
//! | compute metrics | [`metrics`] |
//! | find rare targets | [`relevance`] |
//!
//! # Guarantees
//!
//! * **Reproducible**: the same seed gives the same bits for any number of threads. Random numbers are a function of
//!   seed, stream, step and row ([`rng`]), and sums over rows are exact, so their order does not matter.
//! * **No leakage**: everything that is fitted is fitted by `fit`, on the rows passed to it.
//! * **Provenance** of every synthetic row: [`Plan::origin`] and [`Draw::origin`].
//! * **Linear cost**: no n × n matrix anywhere.
//! * **No panics** for any input: invalid input is an [`Error`] with the row, the column and the value.

pub mod anchors;
pub mod augment;
mod choice;
mod data;
pub mod density;
mod error;
pub mod gamma;
pub mod method;
pub mod metrics;
pub mod mixing;
mod moments;
mod param_name;
mod real;
pub mod regress;
pub mod relevance;
pub mod rng;
pub mod simd;
mod sums;

#[doc(inline)]
pub use anchors::{
    AnchorMatrix, AnchorSource, Anchors, Basis, Bins, ClusterCount, ClusterOn, ClusterScaling,
    Clustering, Column, FittedClusters, KMeans, KMeansFit, Partition, RowSample, SAMPLE,
    sample_within,
};
#[doc(inline)]
pub use augment::{Copies, Plan};
pub use data::{Dataset, Samples};
#[doc(inline)]
pub use density::{Density, density_weights};
pub use error::{Error, Result};
#[doc(inline)]
pub use gamma::{GammaDistribution, Gammas, paper_grid, published_grid};
#[doc(inline)]
pub use method::*;
#[doc(inline)]
pub use mixing::group_mean::{GroupMeans, GroupSums};
#[doc(inline)]
pub use mixing::{Form, Mixing, Strength};
pub use param_name::{ParamName, ParamStyle};
pub use real::Real;
#[doc(inline)]
pub use relevance::{ControlPoint, RARE_THRESHOLD, RareSpec, Relevance, Tails};
#[doc(inline)]
pub use rng::{Draws, Seed, Stream};

/// The README's example, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
