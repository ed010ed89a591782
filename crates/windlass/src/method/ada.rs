//! Anchor Data Augmentation: each row moves toward or away from the mean of its group.
//!
//! ```text
//! x̃ᵢ = x̄ + [(xᵢ − x̄) + (√γ − 1)·Πᵢ(X − x̄)] / [1 + (√γ − 1)·Σⱼ Πᵢⱼ],    Π = A(AᵀA)†Aᵀ
//! ```
//!
//! and the same for y with the same `Π` and `γ`, so that the relation between them is approximately
//! preserved. With groups as anchors this is `mean + (xᵢ − mean)/√γ`: γ > 1 moves toward the mean, γ < 1
//! away from it, and γ = 1 changes nothing.
//!
//! Schneider, Goshtasbpour, Perez-Cruz, [*Anchor Data Augmentation*](https://arxiv.org/abs/2311.06965),
//! NeurIPS 2023, equations 8 and 9 and algorithm 1; after Rothenhäusler, Meinshausen, Bühlmann, Peters,
//! *Anchor regression*, 2021, [doi:10.1111/rssb.12398](https://doi.org/10.1111/rssb.12398).

use std::sync::Arc;

use super::registry::{ALPHA, ANCHORS, CLUSTER_ON, CLUSTER_SCALE, CLUSTERS, GAMMA, PER, WITHIN};
use super::{Batch, Draw, Fitted, HiddenInfo, Method, MethodInfo, Per, RowProvenance, SetMeans};
use crate::anchors::{Anchors, ClusterCount, ClusterOn, ClusterScaling, Clustering};
use crate::gamma::{GammaDistribution, Gammas};
use crate::mixing::group_mean::GroupMean;
use crate::mixing::projection::{Projection, Span};
use crate::mixing::{Gather, Map, Strength};
use crate::{AnchorMatrix, Error, Mixing, Partition, Result, Samples, Seed};

/// The rows whose group means a minibatch uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MeansOf {
    /// The batch, as in the paper's algorithm 1.
    #[default]
    Batch,
    /// All training rows.
    Set,
}

/// Anchor Data Augmentation.
///
/// | Setting | Default | Range | Meaning |
/// | :-- | :-- | :-- | :-- |
/// | [`anchors`](Self::anchors) | k-means on standardized `[x, y]` | | grouping of rows |
/// | [`clusters`](Self::clusters) | [`ClusterCount::Auto`] | `1, …` | groups of k-means |
/// | [`gamma`](Self::gamma) | uniform on `[1/2, 2]` | see [`GammaDistribution`] | distribution of γ |
/// | [`alpha`](Self::alpha) | `2.0` | `(1, 1e16]` | range `[1/α, α]` of γ |
/// | [`per`](Self::per) | [`Per::Auto`] | | one γ per row of a dataset, one per minibatch |
/// | [`means_of`](Self::means_of) | [`MeansOf::Batch`] | | whose group means a minibatch uses |
/// | [`within`](Self::within) | – | | groups never cross the levels of this partition |
///
/// Row weights of the [`Samples`] apply to group means and k-means. Real-valued anchors support neither weights nor
/// means of the set.
///
/// ```
/// use ndarray::array;
/// use windlass::{Ada, Batch, GammaDistribution, How, Method, Partition, Samples, Seed};
///
/// let (x, y) = (array![[0.0], [4.0], [7.0]], array![1.0, 3.0, 9.0]);
/// let ada = Ada::default()
///     .anchors(Partition::new(vec![0, 0, 1], 2)?)
///     .gamma(GammaDistribution::List(vec![4.0]))
///     .fit(&Samples::new(x.view(), y.view())?, Seed(0))?;
/// let draw = ada.draw(Batch::All, Seed(0), 1)?;
/// assert_eq!(draw.features(x.view())?, array![[1.0], [3.0], [7.0]]);
/// assert_eq!(draw.targets(y.view())?, array![1.5, 2.5, 9.0]);
/// assert_eq!(draw.origin(2).unwrap().how, How::Group { group: 1, gamma: 4.0 });
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ada {
    anchors: Anchors,
    gamma: GammaDistribution,
    per: Per,
    means_of: MeansOf,
    within: Option<Arc<Partition>>,
}

impl Ada {
    /// The settings of the published code: k-means on raw `[x, y]`, its 20-value grid of γ, one γ per batch or copy.
    #[must_use]
    pub fn published(clusters: usize, alpha: f64) -> Self {
        Self {
            anchors: Anchors::KMeans(Clustering {
                clusters: clusters.into(),
                on: ClusterOn::Xy,
                scale: ClusterScaling::Raw,
            }),
            gamma: GammaDistribution::PublishedGrid { alpha, values: 20 },
            per: Per::Batch,
            ..Self::default()
        }
    }

    /// Sets the source of the anchors.
    #[must_use]
    pub fn anchors(mut self, anchors: impl Into<Anchors>) -> Self {
        self.anchors = anchors.into();
        self
    }

    /// Sets the number of k-means groups; other anchors become k-means.
    #[must_use]
    pub fn clusters(mut self, clusters: impl Into<ClusterCount>) -> Self {
        let mut clustering = match self.anchors {
            Anchors::KMeans(clustering) => clustering,
            _ => Clustering::default(),
        };
        clustering.clusters = clusters.into();
        self.anchors = Anchors::KMeans(clustering);
        self
    }

    /// Sets the distribution of γ.
    #[must_use]
    pub fn gamma(mut self, distribution: GammaDistribution) -> Self {
        self.gamma = distribution;
        self
    }

    /// Sets the range `[1/alpha, alpha]` of γ; distributions without a range become uniform.
    #[must_use]
    pub fn alpha(mut self, alpha: f64) -> Self {
        self.gamma = self.gamma.with_alpha(alpha);
        self
    }

    /// Sets whether a batch shares its γ: see [`Per`].
    #[must_use]
    pub fn per(mut self, per: Per) -> Self {
        self.per = per;
        self
    }

    /// Sets whose group means a minibatch uses.
    #[must_use]
    pub fn means_of(mut self, means_of: MeansOf) -> Self {
        self.means_of = means_of;
        self
    }

    /// Forms groups separately within the levels of a partition. An error for real-valued anchors.
    #[must_use]
    pub fn within(mut self, levels: Partition) -> Self {
        self.within = Some(Arc::new(levels));
        self
    }
}

#[derive(Debug)]
struct FittedAda {
    rows: usize,
    anchors: FittedAnchors,
    gammas: Gammas,
    per: Per,
}

#[derive(Debug)]
enum FittedAnchors {
    Groups {
        partition: Arc<Partition>,
        weights: Option<Arc<[f64]>>,
        /// Set if batches use the means of all rows.
        centers: Option<Arc<SetMeans>>,
    },
    Matrix {
        anchors: Arc<AnchorMatrix>,
        /// The span of all rows.
        span: Arc<Span>,
    },
}

pub(super) static INFO: MethodInfo = MethodInfo {
    name: "ada",
    title: "ADA",
    help: "Anchor Data Augmentation: move each row toward or away from its group's mean",
    on_hidden_layer: Some(HiddenInfo { name: "ada-manifold", title: "ADA on the hidden layer" }),
    params: &[&ANCHORS, &CLUSTERS, &CLUSTER_ON, &CLUSTER_SCALE, &WITHIN, &ALPHA, &GAMMA, &PER],
    provenance: RowProvenance::Group,
    draws_together: true,
    search: &[&[&ALPHA], &[&CLUSTERS], &[&GAMMA], &[&CLUSTER_ON]],
    in_tune: true,
    rare: false,
    in_comparisons: true,
    // Anchors from columns need a table, so windlass-table resolves them.
    build: |params| {
        Arc::new(Ada {
            anchors: Anchors::KMeans(Clustering {
                clusters: params.clusters.unwrap_or_default(),
                on: params.cluster_on.unwrap_or_default(),
                scale: params.cluster_scale.unwrap_or_default(),
            }),
            gamma: params.gamma(),
            per: params.per.unwrap_or_default(),
            ..Ada::default()
        })
    },
};

impl Method for Ada {
    fn check(&self) -> Result<()> {
        self.anchors.check()?;
        self.gamma.check().map(|_| ())
    }

    fn fit(&self, samples: &Samples<'_>, seed: Seed) -> Result<Box<dyn Fitted>> {
        self.check()?;
        let gammas = self.gamma.check()?;
        let partition = match &self.within {
            Some(levels) => self.anchors.partition_within(levels, samples, seed)?,
            None => self.anchors.partition(samples, seed)?,
        };
        let anchors = match (&self.anchors, partition) {
            (_, Some(partition)) => self.fit_groups(samples, partition)?,
            (Anchors::Matrix(anchors), None) => {
                if samples.weights().is_some() {
                    return Err(Error::NeedsGroups { what: "a row weight" });
                }
                if self.means_of == MeansOf::Set {
                    return Err(Error::NeedsGroups { what: "a mean of the set" });
                }
                let span = Arc::new(Span::of(anchors));
                FittedAnchors::Matrix { anchors: Arc::clone(anchors), span }
            }
            (_, None) => unreachable!("anchors that are no matrix are groups"),
        };
        Ok(Box::new(FittedAda { rows: samples.rows(), anchors, gammas, per: self.per }))
    }
}

impl Ada {
    fn fit_groups(
        &self,
        samples: &Samples<'_>,
        partition: Arc<Partition>,
    ) -> Result<FittedAnchors> {
        let weights: Option<Arc<[f64]>> = samples.weights().map(Into::into);
        let mut centers = None;
        // With weights the means are always computed, to report groups whose weights sum to 0.
        if self.means_of == MeansOf::Set || weights.is_some() {
            let shared = Strength::Shared(1.0);
            let all = GroupMean::new(Arc::clone(&partition), weights.clone(), shared)?;
            let means = SetMeans {
                features: all.means_of("x", samples.x(), Gather::default())?,
                targets: all.means_of("y", samples.y(), Gather::default())?,
            };
            centers = (self.means_of == MeansOf::Set).then(|| Arc::new(means));
        }
        Ok(FittedAnchors::Groups { partition, weights, centers })
    }
}

impl FittedAda {
    fn strength(&self, batch: Batch<'_>, seed: Seed, step: u64) -> Strength {
        if !self.per.is_row(batch) {
            return Strength::Shared(self.gammas.shared(seed, step));
        }
        let of_row = |row: usize| self.gammas.of_row(seed, step, row as u64);
        Strength::PerRow(match batch {
            Batch::All => (0..self.rows).map(of_row).collect(),
            Batch::Rows(rows) => rows.iter().copied().map(of_row).collect(),
        })
    }
}

impl Fitted for FittedAda {
    fn rows(&self) -> usize {
        self.rows
    }

    fn draw(&self, batch: Batch<'_>, seed: Seed, step: u64) -> Result<Draw> {
        let sources = batch.check(self.rows)?;
        let gamma = self.strength(batch, seed, step);
        let mut set_means = None;
        let map = match (&self.anchors, sources) {
            (FittedAnchors::Groups { partition, weights, centers }, sources) => {
                set_means.clone_from(centers);
                let (partition, weights) = match sources {
                    None => (Arc::clone(partition), weights.clone()),
                    Some(rows) => {
                        let of_batch =
                            |all: &Arc<[f64]>| rows.iter().map(|&row| all[row]).collect();
                        (Arc::new(partition.select(rows)?), weights.as_ref().map(of_batch))
                    }
                };
                Map::GroupMean(GroupMean::new(partition, weights, gamma)?)
            }
            (FittedAnchors::Matrix { span, .. }, None) => {
                Map::Projection(Projection::new(Arc::clone(span), gamma)?)
            }
            (FittedAnchors::Matrix { anchors, .. }, Some(rows)) => {
                let span = Arc::new(Span::of(&anchors.select(rows)?));
                Map::Projection(Projection::new(span, gamma)?)
            }
        };
        Ok(Draw { centers: set_means, ..Draw::of(self.rows, sources, Mixing(map)) })
    }

    fn partition(&self) -> Option<&Partition> {
        match &self.anchors {
            FittedAnchors::Groups { partition, .. } => Some(partition),
            FittedAnchors::Matrix { .. } => None,
        }
    }
}
