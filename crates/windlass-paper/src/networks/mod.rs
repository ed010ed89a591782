//! Networks for series, images and sequences, trained with augmentation inside the loop.
//!
//! The networks of the paper's second half: [`Lstnet`] for time series, [`ResNet18`] for images and [`DeepDta`]
//! for pairs of a molecule and a protein. A `DeepArchitecture` is one of them on a `Device`; it is trained by
//! [`windlass_train`]'s own loop, so that every method, optimizer, checkpoint and measure of dense networks
//! serves here too.
//!
//! ```
//! # #[cfg(feature = "deep")] {
//! use std::sync::Arc;
//! use ndarray::Array2;
//! use windlass::{Ada, Dataset, Seed};
//! use windlass_paper::networks::{DeepArchitecture, NetworkSpec, Device, Lstnet};
//! use windlass_train::{Augment, Learner, RunSpec, TrainConfig};
//!
//! // Windows of 12 steps of 2 series, one after the other.
//! let net = Lstnet { window: 12, series: 2, kernel: 3, skip: 3, highway: 4, ..Lstnet::default() };
//! let x = Array2::from_shape_fn((32, 24), |(i, j)| ((i + j / 2) as f32 * 0.3 + (j % 2) as f32).sin());
//! let y = Array2::from_shape_fn((32, 2), |(i, j)| ((i + 12) as f32 * 0.3 + j as f32).sin());
//! let spec = RunSpec {
//!     train: Arc::new(Dataset::new(x.clone(), y, None)?),
//!     valid: None,
//!     shape: DeepArchitecture::new(NetworkSpec::Lstnet(net), Device::Cpu)?,
//!     training: TrainConfig { epochs: 3, learning_rate: 1e-3, ..TrainConfig::default() },
//!     augment: Some(Augment::new(Ada::default().clusters(4)).after(1)),
//!     seed: Seed(0),
//! };
//! let result = spec.run(|_| true)?;
//! assert_eq!(result.network.predict(x.view())?.dim(), (32, 2));
//! # }
//! # Ok::<(), windlass_train::Error>(())
//! ```
//!
//! # Promises
//!
//! * **Same seed, same bits** on the same machine, whatever the number of threads; a run that was stopped and
//!   resumed ends with the same weights. Unlike those of dense networks the bits may differ between kinds of
//!   processors and devices: products of matrices are burn's.
//! * **PyTorch's numbers**: outputs and gradients for the same weights, tested on small networks.
//!
//! # Features
//!
//! | Feature | |
//! | :-- | :-- |
//! | `deep` | networks on the CPU, by [burn](https://burn.dev); without it there are only descriptions |
//! | `wgpu`, `cuda` | on a GPU as well; not tested |

pub mod sequences;
mod spec;

#[cfg(feature = "deep")]
mod deepdta;
#[cfg(feature = "deep")]
mod device;
#[cfg(feature = "deep")]
mod gru;
#[cfg(feature = "deep")]
mod learner;
#[cfg(feature = "deep")]
mod lstnet;
#[cfg(feature = "deep")]
mod mixing;
#[cfg(feature = "deep")]
mod network;
#[cfg(feature = "deep")]
mod params;
#[cfg(feature = "deep")]
mod pretrained;
#[cfg(feature = "deep")]
mod recurrent;
#[cfg(feature = "deep")]
mod resnet;

#[cfg(feature = "deep")]
pub use device::Device;
#[cfg(feature = "deep")]
pub use learner::{DeepArchitecture, DeepNetwork};
pub use spec::{DeepDta, Lstnet, NetworkSpec, ResNet18, Tower};
