//! Methods in words.

use windlass::{Bandwidth, ClusterOn, GammaDistribution};
use windlass_plot::format::trimmed;
use windlass_table::{ClusterCount, Method};

/// A method with its settings.
#[must_use]
pub fn method(method: &Method) -> String {
    match method {
        Method::Ada(ada) => {
            let groups = match ada.clusters {
                ClusterCount::Auto => "as many groups as usual".to_owned(),
                ClusterCount::Count(groups) => format!("{groups} groups"),
            };
            let of = match ada.on {
                ClusterOn::X => " of features",
                ClusterOn::Y => " of targets",
                ClusterOn::Xy => "",
            };
            format!("ADA, {groups}{of}, {}", gamma(&ada.gamma))
        }
        Method::Mixup { beta, .. } => format!("Mixup, Beta({beta}, {beta})"),
        Method::CMixup { bandwidth, beta, .. } => {
            let bandwidth = match bandwidth {
                Bandwidth::Absolute(width) => format!("bandwidth {width}"),
                Bandwidth::Deviations(width) => format!("bandwidth {width} deviations"),
            };
            format!("C-Mixup, {bandwidth}, Beta({beta}, {beta})")
        }
        Method::LocalMixup { epsilon, beta, .. } => {
            format!("Local-Mixup, ε {}, Beta({beta}, {beta})", trimmed(*epsilon, 3))
        }
        Method::Noise { targets, features, relative } => {
            let what = if *relative { "times the deviation" } else { "as deviation" };
            let on_features = if *features == 0.0 {
                String::new()
            } else {
                format!(", {} on features", trimmed(*features, 3))
            };
            format!("noise, {} {what} on targets{on_features}", trimmed(*targets, 3))
        }
    }
}

fn gamma(law: &GammaDistribution) -> String {
    match law {
        GammaDistribution::Uniform { alpha } => format!("γ between 1/{alpha} and {alpha}"),
        GammaDistribution::LogUniform { alpha } => {
            format!("γ between 1/{alpha} and {alpha}, as often above 1 as below")
        }
        GammaDistribution::PaperGrid { alpha, values }
        | GammaDistribution::PublishedGrid { alpha, values } => {
            format!("γ from {values} values between 1/{alpha} and {alpha}")
        }
        GammaDistribution::List(values) => {
            let ends = [f64::min, f64::max].map(|end| values.iter().copied().fold(f64::NAN, end));
            format!("γ from {} values between {} and {}", values.len(), ends[0], ends[1])
        }
        GammaDistribution::Gamma { shape, scale } => {
            format!("γ of a gamma distribution ({shape}, {scale})")
        }
        _ => "γ at random".to_owned(),
    }
}
