//! Devices.

use std::str::FromStr;

use windlass_train::{Error, Result};

/// A device that networks run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Device {
    /// The processor.
    #[default]
    Cpu,
    /// A GPU, by Vulkan, Metal or `DirectX`.
    Wgpu,
    /// A GPU of NVIDIA, by its number.
    Cuda(usize),
}

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "cpu" => Ok(Self::Cpu),
            None if text == "wgpu" => Ok(Self::Wgpu),
            None if text == "cuda" => Ok(Self::Cuda(0)),
            Some(("cuda", number)) if number.parse::<usize>().is_ok() => {
                Ok(Self::Cuda(number.parse().unwrap_or_default()))
            }
            _ => Err("a device is cpu, wgpu, cuda or cuda:NUMBER".into()),
        }
    }
}

impl std::fmt::Display for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Wgpu => f.write_str("wgpu"),
            Self::Cuda(number) => write!(f, "cuda:{number}"),
        }
    }
}

impl Device {
    /// Returns an error for a device that is not built in.
    pub fn check(self) -> Result<()> {
        let built = match self {
            Self::Cpu => true,
            Self::Wgpu => cfg!(feature = "wgpu"),
            Self::Cuda(_) => cfg!(feature = "cuda"),
        };
        if built {
            return Ok(());
        }
        let name = if self == Self::Wgpu { "wgpu" } else { "cuda" };
        let why = format!("this build does not include {name}: build it with `--features {name}`");
        Err(Error::Network { why })
    }

    /// The same as burn has it.
    pub(crate) fn open(self) -> burn_tensor::Device {
        match self {
            #[cfg(feature = "wgpu")]
            Self::Wgpu => burn_tensor::Device::wgpu(burn_tensor::DeviceKind::DefaultDevice),
            #[cfg(feature = "cuda")]
            Self::Cuda(number) => burn_tensor::Device::cuda(number),
            // Other devices were rejected before.
            _ => burn_tensor::Device::flex(),
        }
    }
}
