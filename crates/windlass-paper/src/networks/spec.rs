//! Specifications of networks: plain data that can be serialized and compared, and does not need burn.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::networks::sequences;

/// A network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkSpec {
    /// For windows of time series.
    Lstnet(Lstnet),
    /// For images.
    Resnet18(ResNet18),
    /// For pairs of a molecule and a protein.
    Deepdta(DeepDta),
}

impl NetworkSpec {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Lstnet(_) => "LSTNet",
            Self::Resnet18(_) => "ResNet-18",
            Self::Deepdta(_) => "DeepDTA",
        }
    }

    /// Number of inputs.
    #[must_use]
    pub fn inputs(&self) -> usize {
        match self {
            Self::Lstnet(net) => net.window * net.series,
            Self::Resnet18(net) => ResNet18::CHANNELS * net.side * net.side,
            Self::Deepdta(net) => net.drug.length + net.protein.length,
        }
    }

    /// Number of outputs.
    #[must_use]
    pub fn outputs(&self) -> usize {
        match self {
            Self::Lstnet(net) => net.series,
            Self::Resnet18(_) | Self::Deepdta(_) => 1,
        }
    }

    /// Number of hidden layers that can be augmented, counted from 1: of LSTNet the convolution; of ResNet-18 the stem
    /// and the four stages; of DeepDTA the convolutions.
    #[must_use]
    pub fn layers(&self) -> usize {
        match self {
            Self::Lstnet(_) => 1,
            Self::Resnet18(_) => 5,
            Self::Deepdta(_) => 3,
        }
    }

    /// Returns an error for invalid sizes.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Self::Lstnet(net) => net.check(),
            Self::Resnet18(net) => net.check(),
            Self::Deepdta(net) => net.check(),
        }
    }
}

/// Returns an error for sizes of 0.
fn positive(sizes: &[(&str, usize)]) -> Result<(), String> {
    match sizes.iter().find(|(_, size)| *size == 0) {
        Some((name, _)) => Err(format!("`{name}` must be 1 or more")),
        None => Ok(()),
    }
}

/// The network for time series (Lai et al., *Modeling long- and short-term temporal patterns*, 2018): a
/// convolution over time, a recurrent layer, a recurrent layer with skips, and a parallel autoregression.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Lstnet {
    /// Steps of a window.
    pub window: usize,
    /// Series.
    pub series: usize,
    /// Channels of the convolution.
    pub channels: usize,
    /// Kernel size of the convolution, in steps.
    pub kernel: usize,
    /// Units of the recurrent layer.
    pub hidden: usize,
    /// Units of the recurrent layer with skips.
    pub skip_hidden: usize,
    /// Length of a skip, in steps.
    pub skip: usize,
    /// Steps of the autoregression.
    pub highway: usize,
    /// Dropout rate.
    pub dropout: f64,
}

impl Default for Lstnet {
    fn default() -> Self {
        Self {
            window: 168,
            series: 8,
            channels: 50,
            kernel: 6,
            hidden: 50,
            skip_hidden: 5,
            skip: 24,
            highway: 24,
            dropout: 0.2,
        }
    }
}

impl Lstnet {
    /// Output steps of the convolution.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.window - self.kernel + 1
    }

    /// Steps of the recurrent layer with skips.
    #[must_use]
    pub fn skip_steps(&self) -> usize {
        (self.window - self.kernel) / self.skip
    }

    fn check(&self) -> Result<(), String> {
        positive(&[
            ("series", self.series),
            ("channels", self.channels),
            ("kernel", self.kernel),
            ("hidden", self.hidden),
            ("skip-hidden", self.skip_hidden),
            ("skip", self.skip),
            ("highway", self.highway),
        ])?;
        if self.window < self.kernel + self.skip || self.window < self.highway {
            return Err(format!(
                "a window of {} steps is too short for a kernel of {}, a skip of {} and a highway of {}",
                self.window, self.kernel, self.skip, self.highway
            ));
        }
        if !(0.0..1.0).contains(&self.dropout) {
            return Err(format!("`dropout` must be in [0, 1), got {}", self.dropout));
        }
        Ok(())
    }
}

/// The network for images (He et al., *Deep residual learning for image recognition*, 2016), with one output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ResNet18 {
    /// Rows and columns of an image.
    pub side: usize,
    /// Channels of the four stages.
    pub widths: [usize; 4],
    /// A file (safetensors or PyTorch) of pretrained weights with torchvision's names; without it, weights are random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<PathBuf>,
}

impl ResNet18 {
    /// Red, green and blue.
    pub const CHANNELS: usize = 3;

    fn check(&self) -> Result<(), String> {
        positive(&[("side", self.side)])?;
        positive(&self.widths.map(|width| ("widths", width)))
    }
}

impl Default for ResNet18 {
    fn default() -> Self {
        Self { side: 28, widths: [64, 128, 256, 512], weights: None }
    }
}

/// The network for sequences (Öztürk et al., *DeepDTA*, 2018): a tower of convolutions for the molecule and one
/// for the protein, and layers that join them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct DeepDta {
    /// The tower of molecules.
    pub drug: Tower,
    /// The tower of proteins.
    pub protein: Tower,
    /// Output units of each tower.
    pub units: usize,
    /// Units of the joint layers.
    pub predictor: [usize; 3],
}

/// Convolutions over the letters of a sequence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Tower {
    /// Size of the alphabet.
    pub alphabet: usize,
    /// Length of a sequence.
    pub length: usize,
    /// Channels of its convolutions.
    pub channels: [usize; 3],
    /// Kernel sizes of its convolutions.
    pub kernels: [usize; 3],
}

impl Default for DeepDta {
    fn default() -> Self {
        let channels = [32, 64, 96];
        Self {
            drug: Tower {
                alphabet: sequences::DRUG.len(),
                length: sequences::DRUG_LENGTH,
                channels,
                kernels: [4, 6, 8],
            },
            protein: Tower {
                alphabet: sequences::PROTEIN.len(),
                length: sequences::PROTEIN_LENGTH,
                channels,
                kernels: [4, 8, 12],
            },
            units: 256,
            predictor: [256, 128, 128],
        }
    }
}

impl DeepDta {
    fn check(&self) -> Result<(), String> {
        for tower in [&self.drug, &self.protein] {
            positive(&[("alphabet", tower.alphabet)])?;
            positive(&tower.channels.map(|channels| ("channels", channels)))?;
            positive(&tower.kernels.map(|kernel| ("kernels", kernel)))?;
            if tower.lengths()[2] == 0 {
                let Tower { length, kernels, .. } = tower;
                return Err(format!("{length} letters are too few for kernels of {kernels:?}"));
            }
        }
        positive(&[("units", self.units)])?;
        positive(&self.predictor.map(|units| ("predictor", units)))
    }
}

impl Tower {
    /// Output length of each convolution.
    #[must_use]
    pub fn lengths(&self) -> [usize; 3] {
        let mut length = self.length + 1;
        self.kernels.map(|kernel| {
            length = length.saturating_sub(kernel);
            let output = length;
            length += 1;
            output
        })
    }
}
