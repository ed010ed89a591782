//! Counter-based random numbers: a function of seed, stream, step and row.
//!
//! There is no generator state. A [`Seed`] identifies an experiment, a [`Stream`] the purpose (a strength, a partner,
//! noise …), and a step and a row the position. The random numbers are the cipher blocks
//!
//! ```text
//! Philox4x64-10(key = (seed, stream), counter = (block, row, step, 0)),   block = 0, 1, 2, …
//! ```
//!
//! so the same row gets the same numbers on any thread, in any order, in any partitioning of a table,
//! and from any language. Everything drawn from them is computed with [`libm`], whose results do not
//! depend on the platform, and is pinned by the test vectors below.
//!
//! ```
//! use windlass::{Seed, Stream};
//!
//! let seed = Seed(7);
//! let a = seed.at(Stream::Partner, 3, 41).below(1_000);
//! let b = seed.at(Stream::Partner, 3, 41).below(1_000);
//! assert_eq!(a, b);
//! ```

mod philox;

use philox::philox4x64;

/// The random seed of an experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Seed(pub u64);

/// The purpose of a random number; each purpose has an independent stream.
///
/// The discriminants are part of the output format: changing one changes every augmented table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u64)]
#[non_exhaustive]
pub enum Stream {
    /// Starting centers of k-means; the step is the start's number, the row the center's.
    KMeansStart = 1,
    /// The strength γ of an anchor transform.
    Gamma = 2,
    /// The weight λ of a mixup.
    Lambda = 3,
    /// The partner of a row in a mixup.
    Partner = 4,
    /// Noise added to features.
    FeatureNoise = 5,
    /// Noise added to targets.
    TargetNoise = 6,
    /// The order in which rows enter a sample.
    Sample = 7,
    /// The first weights of a network; the step is the layer's number, the row that of the unit.
    Weights = 8,
    /// The order of training rows; the step is the epoch.
    Order = 9,
    /// Which rows are held out.
    Split = 10,
    /// Simulated data; the step is the table's number.
    Made = 11,
    /// The hidden layer that a step augments.
    Layer = 12,
    /// Units dropped in a step; the row is the layer's number.
    Dropout = 13,
}

/// The row number for values that are shared by a batch.
const WHOLE_BATCH: u64 = u64::MAX;

impl Seed {
    /// The random numbers of one row at one step.
    #[must_use]
    pub fn at(self, stream: Stream, step: u64, row: u64) -> Draws {
        Draws { key: [self.0, stream as u64], row, step, block: 0, words: [0; 4], used: 4 }
    }

    /// The random numbers shared by all rows of a step.
    #[must_use]
    pub fn shared(self, stream: Stream, step: u64) -> Draws {
        self.at(stream, step, WHOLE_BATCH)
    }
}

/// An endless sequence of random numbers, from [`Seed::at`].
#[derive(Debug, Clone)]
pub struct Draws {
    key: [u64; 2],
    row: u64,
    step: u64,
    block: u64,
    words: [u64; 4],
    used: usize,
}

impl Draws {
    /// Sixty-four random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        if self.used == self.words.len() {
            self.words = philox4x64([self.block, self.row, self.step, 0], self.key);
            self.block += 1;
            self.used = 0;
        }
        let word = self.words[self.used];
        self.used += 1;
        word
    }

    /// Uniform on `[0, 1)`, a multiple of 2⁻⁵³.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * f64::EPSILON / 2.0
    }

    /// Uniform on `(0, 1)`: safe to take the logarithm of.
    fn open_uniform(&mut self) -> f64 {
        ((self.bits() >> 12) as f64 + 0.5) * f64::EPSILON
    }

    /// Uniform on `0, …, bound − 1`, without bias (Lemire's multiplication with rejection).
    ///
    /// Returns 0 for a bound of 0.
    #[expect(clippy::cast_possible_truncation, reason = "the two halves of a 128-bit product")]
    pub fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u64;
        if bound == 0 {
            return 0;
        }
        let threshold = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.bits()) * u128::from(bound);
            if product as u64 >= threshold {
                return (product >> 64) as usize;
            }
        }
    }

    /// Shuffles a list uniformly (Fisher–Yates).
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for place in (1..list.len()).rev() {
            list.swap(place, self.below(place + 1));
        }
    }

    /// Standard normal (Box–Muller).
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(self.open_uniform()));
        radius * libm::cos(std::f64::consts::TAU * self.uniform())
    }

    /// Gamma distributed with the given shape and scale 1, for a shape above 0.
    ///
    /// Marsaglia and Tsang, *A simple method for generating gamma variables*, 2000,
    /// [doi:10.1145/358407.358414](https://doi.org/10.1145/358407.358414).
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            // Γ(a) is Γ(a + 1) · U^(1/a) in distribution.
            let boost = libm::pow(self.open_uniform(), 1.0 / shape);
            return self.gamma(shape + 1.0) * boost;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / libm::sqrt(9.0 * d);
        loop {
            let z = self.normal();
            let root = 1.0 + c * z;
            if root <= 0.0 {
                continue;
            }
            let v = root * root * root;
            if libm::log(self.open_uniform()) < 0.5 * z * z + d - d * v + d * libm::log(v) {
                return d * v;
            }
        }
    }

    /// Beta distributed with both parameters equal to `a > 0`.
    pub fn symmetric_beta(&mut self, a: f64) -> f64 {
        let first = self.gamma(a);
        let second = self.gamma(a);
        let total = first + second;
        if total > 0.0 {
            first / total
        } else {
            // For a tiny `a` both underflow; the distribution is then a fair coin.
            f64::from(u8::from(self.uniform() < 0.5))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Seed, Stream};

    /// Pinned: a change here changes every augmented table that users have made. The bits are also what
    /// numpy's `Philox(key=stream << 64 | seed, counter=(step << 128 | row << 64) - 1)` gives first.
    #[test]
    fn test_vectors() {
        let draws = || Seed(42).at(Stream::Gamma, 3, 1_000_000);
        assert_eq!(draws().bits(), 5_433_729_625_095_814_623);
        assert_eq!(draws().uniform().to_bits(), 0x3fd2_da1f_1383_568e);
        assert_eq!(draws().normal().to_bits(), 0x3ff0_2de0_1f91_016f);
        assert_eq!(draws().gamma(2.5).to_bits(), 0x4010_167f_aa62_88d1);
        assert_eq!(draws().gamma(0.5).to_bits(), 0x3fb0_0060_ca7f_2929);
        assert_eq!(draws().symmetric_beta(2.0).to_bits(), 0x3fdb_f956_93df_57c4);
        assert_eq!(draws().below(1_000_003), 294_563);
        let mut list = [0, 1, 2, 3, 4, 5, 6, 7];
        draws().shuffle(&mut list);
        assert_eq!(list, [7, 4, 5, 0, 1, 3, 6, 2]);
        assert_eq!(Seed(42).shared(Stream::Lambda, 0).bits(), 6_581_874_993_419_882_845);
    }

    fn moments(draw: impl Fn(u64) -> f64) -> (f64, f64) {
        let n = 40_000_u64;
        let values: Vec<f64> = (0..n).map(draw).collect();
        let mean = values.iter().sum::<f64>() / n as f64;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64;
        (mean, variance)
    }

    /// Mean and variance within five standard errors of the textbook's.
    #[test]
    fn distributions_have_their_moments() {
        let at = |row| Seed(1).at(Stream::TargetNoise, 0, row);
        let close = |got: (f64, f64), mean: f64, variance: f64| {
            let error = 5.0 * (variance / 40_000.0).sqrt();
            assert!((got.0 - mean).abs() < error, "mean {} against {mean}", got.0);
            assert!((got.1 / variance - 1.0).abs() < 0.06, "variance {} against {variance}", got.1);
        };
        close(moments(|row| at(row).uniform()), 0.5, 1.0 / 12.0);
        close(moments(|row| at(row).normal()), 0.0, 1.0);
        close(moments(|row| at(row).gamma(0.4)), 0.4, 0.4);
        close(moments(|row| at(row).gamma(3.0)), 3.0, 3.0);
        close(moments(|row| at(row).symmetric_beta(0.5)), 0.5, 0.125);
        close(moments(|row| at(row).symmetric_beta(2.0)), 0.5, 0.05);
        close(moments(|row| at(row).symmetric_beta(1e-5)), 0.5, 0.25);
        close(moments(|row| at(row).below(10) as f64), 4.5, 8.25);
    }
}
