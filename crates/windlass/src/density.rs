//! The kernel density of a target, and row weights that emphasize rare targets.
//!
//! ```text
//! p(y) = Σᵢ wᵢ K((y − yᵢ)/h) / Σᵢ wᵢ,    K Gaussian,    h = 0.9 · min(sd, IQR/1.34) · n^(−1/5)
//! p'(y) = (p(y) − min p(yᵢ)) / (max p(yᵢ) − min p(yᵢ)),    weight(y) ∝ max(1 − α·p'(y), 10⁻⁶), with mean 1
//! ```
//!
//! The weights are `DenseWeight`: Steininger, Kobs, Davidson, Krause, Hotho, [*Density-based weighting for imbalanced
//! regression*](https://doi.org/10.1007/s10994-021-06023-5), 2021. The bandwidth is Silverman's.
//!
//! The weight of a target is divided between the two nearest bins of a width of h/16 (linear binning), and kernels end at
//! 6 h, so the cost is linear in the rows.

use std::collections::BTreeMap;

use crate::data::check_weights;
use crate::sums::exact_sum;
use crate::{Error, Result};

/// Bins of a bandwidth.
const BINS: f64 = 16.0;
/// Where a kernel ends, in bandwidths.
const REACH: f64 = 6.0;
/// The least weight before normalization.
const LEAST: f64 = 1e-6;

/// The density of one target, relative to that of the training rows. See the [module](self).
///
/// ```
/// use windlass::density::Density;
///
/// let density = Density::fit(&[1.0, 1.1, 1.2, 5.0], None)?;
/// assert_eq!(density.scaled(5.0), 0.0);
/// assert_eq!(density.scaled(1.1), 1.0);
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Density {
    /// The values of occupied bins, in bandwidths, and their weights, ascending.
    bins: Vec<(f64, f64)>,
    bandwidth: f64,
    /// The smallest and the largest density of a training row.
    least: f64,
    most: f64,
}

impl Density {
    /// Fits the density of the targets of training rows, with optional row weights.
    pub fn fit(y: &[f64], weights: Option<&[f64]>) -> Result<Self> {
        if let Some((row, &value)) = y.iter().enumerate().find(|(_, y)| !y.is_finite()) {
            return Err(Error::NotFinite { what: "the target", row, column: 0, value });
        }
        weights.map_or(Ok(()), |weights| check_weights(weights, y.len()))?;
        let bandwidth = bandwidth(y).ok_or(Error::Empty {
            what: "the density of the target",
            missing: "two different values",
        })?;
        // In order, because rounded sums depend on it.
        let weight = |row: usize| weights.map_or(1.0, |all| all[row]);
        let mut rows: Vec<(f64, f64)> = y.iter().copied().zip((0..y.len()).map(weight)).collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut sums: BTreeMap<i64, f64> = BTreeMap::new();
        for (y, weight) in rows {
            let place = y / bandwidth * BINS;
            let above = place - place.floor();
            for (bin, share) in [(place.floor(), 1.0 - above), (place.ceil(), above)] {
                if share > 0.0 {
                    *sums.entry(number(bin)).or_default() += share * weight;
                }
            }
        }
        let bins = sums.into_iter().map(|(bin, sum)| (bin as f64 / BINS, sum)).collect();
        let mut density = Self { bins, bandwidth, least: f64::INFINITY, most: 0.0 };
        for &y in y {
            let found = density.at(y);
            density.least = density.least.min(found);
            density.most = density.most.max(found);
        }
        Ok(density)
    }

    /// The bandwidth, in units of the target.
    #[must_use]
    pub fn bandwidth(&self) -> f64 {
        self.bandwidth
    }

    /// The density at a value of the target: 0 where training rows are rarest, 1 where they are densest.
    #[must_use]
    pub fn scaled(&self, y: f64) -> f64 {
        let found = self.at(y);
        if self.most > self.least {
            ((found - self.least) / (self.most - self.least)).clamp(0.0, 1.0)
        } else {
            1.0
        }
    }

    /// The density at a value of the target, without its constant factor.
    fn at(&self, y: f64) -> f64 {
        let value = y / self.bandwidth;
        let first = self.bins.partition_point(|(bin, _)| *bin < value - REACH);
        let near = self.bins[first..].iter().take_while(|(bin, _)| *bin <= value + REACH);
        near.map(|(bin, weight)| weight * (-0.5 * (value - bin).powi(2)).exp()).sum()
    }
}

/// The number of a bin; extreme outliers share the outermost bins.
#[expect(clippy::cast_possible_truncation, reason = "saturates")]
fn number(bin: f64) -> i64 {
    bin as i64
}

/// Silverman's bandwidth; `None` if there are no two different values.
fn bandwidth(y: &[f64]) -> Option<f64> {
    let mut sorted = y.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (first, last) = (*sorted.first()?, *sorted.last()?);
    if first == last {
        return None;
    }
    let quantile = |share: f64| {
        let place = share * (sorted.len() - 1) as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place")]
        let below = place.floor() as usize;
        let above = (below + 1).min(sorted.len() - 1);
        sorted[below] + (place - place.floor()) * (sorted[above] - sorted[below])
    };
    let n = sorted.len() as f64;
    let range = last - first;
    let mean = sorted.iter().map(|y| (y - first) / range).sum::<f64>() / n;
    let variance = sorted.iter().map(|y| ((y - first) / range - mean).powi(2)).sum::<f64>() / n;
    let deviation = variance.sqrt() * range;
    let spread = (quantile(0.75) - quantile(0.25)) / 1.34;
    let scale = if spread > 0.0 { deviation.min(spread) } else { deviation };
    let bandwidth = 0.9 * scale * n.powf(-0.2);
    (bandwidth.is_finite() && bandwidth > 0.0).then_some(bandwidth)
}

/// Row weights with mean 1 that are larger where the target is rare; `alpha` is their strength, 0 for equal weights.
///
/// ```
/// let weights = windlass::density::density_weights(&[1.0, 1.1, 1.2, 5.0], 1.0)?;
/// assert!(weights[3] > weights[0] && weights[0] > weights[1]);
/// # Ok::<(), windlass::Error>(())
/// ```
pub fn density_weights(y: &[f64], alpha: f64) -> Result<Vec<f64>> {
    check_alpha(alpha)?;
    let density = Density::fit(y, None)?;
    let weights: Vec<f64> =
        y.iter().map(|&y| (1.0 - alpha * density.scaled(y)).max(LEAST)).collect();
    let sum = exact_sum(weights.iter().copied()).expect("weights are at most 1");
    let mean = sum / weights.len() as f64;
    Ok(weights.into_iter().map(|weight| weight / mean).collect())
}

/// Returns an error for a strength outside its range.
pub fn check_alpha(alpha: f64) -> Result<()> {
    if (0.0..=1e6).contains(&alpha) {
        return Ok(());
    }
    Err(Error::OutOfRange { name: "density_weights", range: "[0, 1e6]", got: alpha })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum over all rows, without bins.
    fn directly(y: &[f64], at: f64, bandwidth: f64) -> f64 {
        y.iter().map(|y| (-0.5 * ((at - y) / bandwidth).powi(2)).exp()).sum()
    }

    #[test]
    fn bins_change_the_density_by_less_than_a_thousandth() {
        let y: Vec<f64> = (0..500).map(|i| (f64::from(i) * 0.7).sin().powi(3) * 40.0).collect();
        let density = Density::fit(&y, None).unwrap();
        for &at in y.iter().step_by(7) {
            let exact = directly(&y, at, density.bandwidth());
            let got = density.at(at);
            assert!((got / exact - 1.0).abs() < 2e-3, "{got} {exact}");
        }
    }

    #[test]
    fn weights_have_mean_one_and_grow_with_rarity() {
        let mut y: Vec<f64> = (0..200).map(|i| f64::from(i % 20)).collect();
        y.push(100.0);
        for alpha in [0.0, 0.5, 1.0, 2.0] {
            let weights = density_weights(&y, alpha).unwrap();
            let mean = weights.iter().sum::<f64>() / weights.len() as f64;
            assert!((mean - 1.0).abs() < 1e-12);
            let most = weights.iter().copied().fold(0.0, f64::max);
            assert_eq!(weights[200], most);
            assert_eq!(alpha == 0.0, weights.iter().all(|&weight| weight == 1.0));
        }
    }

    #[test]
    fn weights_of_rows_count_as_repeated_rows() {
        let repeated = Density::fit(&[1.0, 1.0, 2.0, 4.0, 4.0, 4.0], None).unwrap();
        let weighted = Density::fit(&[1.0, 2.0, 4.0], Some(&[2.0, 1.0, 3.0])).unwrap();
        let total = |density: &Density| density.bins.iter().map(|(_, sum)| *sum).sum::<f64>();
        assert!((total(&weighted) - total(&repeated)).abs() < 1e-12);
    }

    #[test]
    fn the_order_of_rows_does_not_matter() {
        let mut y: Vec<f64> = (0..300).map(|i| (f64::from(i) * 0.37).sin() / 3.0).collect();
        let weights: Vec<f64> = y.iter().map(|y| y.abs() + 0.1).collect();
        let density = Density::fit(&y, Some(&weights)).unwrap();
        y.reverse();
        let weights: Vec<f64> = weights.into_iter().rev().collect();
        assert_eq!(Density::fit(&y, Some(&weights)).unwrap(), density);
    }

    #[test]
    fn refuses_constants_and_what_is_not_finite() {
        assert!(Density::fit(&[], None).is_err());
        assert!(Density::fit(&[2.0; 5], None).is_err());
        assert!(Density::fit(&[1.0, f64::NAN], None).is_err());
        assert!(density_weights(&[1.0, 2.0], -0.1).is_err());
        assert!(density_weights(&[1.0, 2.0], f64::NAN).is_err());
    }

    #[test]
    fn an_outlier_far_away_does_not_hide_the_rest() {
        let mut y: Vec<f64> = (0..100).map(f64::from).collect();
        y.push(1e12);
        let density = Density::fit(&y, None).unwrap();
        assert_eq!(density.scaled(1e12), 0.0);
        assert!(density.scaled(50.0) > 0.9);
    }
}
