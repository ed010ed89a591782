//! The memory of a fit, estimated before it begins.

use std::collections::BTreeSet;

use windlass_table::{Columns, LoadedTable, Role};

use crate::config::Kind;
use crate::gp::GaussianProcess;
use crate::preprocessing::levels;
use crate::{Error, Result};

const F64: u64 = 8;
/// Bytes per weight of a network: weights, optimizer state, best weights so far, gradients and a backup.
const WEIGHT_BYTES: u64 = 4 * 7;

/// Returns an error if a fit does not fit in memory: one-hot encoded columns with many levels, networks with many
/// weights, or matrices of a Gaussian process. `at_once` models are trained at the same time.
///
/// Rows without categories are counted when they are [loaded](LoadedTable::load).
pub fn check_memory(
    kind: &Kind,
    table: &LoadedTable,
    columns: &Columns,
    at_once: usize,
    memory: u64,
) -> Result<()> {
    let (rows, mut width, mut widest) = (table.batch.num_rows() as u64, 0_u64, None);
    for (index, field) in table.batch.schema().fields().iter().enumerate() {
        let count = match table.roles.roles[index] {
            Role::Continuous => 1,
            Role::Date => 4,
            Role::Categorical => match table.profile.columns[index].levels {
                Some(levels) => levels as u64,
                None if columns.categorical.contains(field.name()) => {
                    let words = levels(table.batch.column(index));
                    words.iter().collect::<BTreeSet<_>>().len() as u64
                }
                None => 0,
            },
            _ => continue,
        };
        width = width.saturating_add(count);
        if table.roles.roles[index] == Role::Categorical
            && widest.as_ref().is_none_or(|(_, most)| count > *most)
        {
            widest = Some((field.name().clone(), count));
        }
    }
    let weights = match kind {
        Kind::Network(network) => {
            let first =
                network.hidden.first().map_or(0, |&units| width.saturating_mul(units as u64));
            network.hidden.windows(2).fold(first, |sum, ends| {
                sum.saturating_add((ends[0] as u64).saturating_mul(ends[1] as u64))
            })
        }
        _ => 0,
    };
    let weights = weights.saturating_mul(WEIGHT_BYTES).saturating_mul(at_once as u64);
    let design = rows.saturating_mul(width).saturating_mul(F64);
    let needs = match kind {
        // The dataset in 64 and in 32 bits, and validation rows.
        Kind::Network(_) => design.saturating_mul(3).saturating_add(weights),
        // The dataset by rows, validated and padded, and the order of every column, once for each thread.
        Kind::Forest(_) | Kind::ExtraTrees(_) | Kind::Boosting(_) => {
            design.saturating_mul(4 + rayon::current_num_threads() as u64)
        }
        // The dataset, and standardized by columns: all rows and the sample.
        Kind::GaussianProcess(_) => design.saturating_mul(3),
        // Centered and scaled copies, and the factors of the normal matrix or of the rows, if they are fewer.
        Kind::Ridge { .. } | Kind::Anchor { .. } | Kind::Auto(_) => {
            let factors = rows.min(width).saturating_mul(width).saturating_mul(4 * F64);
            design.saturating_mul(6).saturating_add(factors)
        }
    };
    let kernels = match kind {
        Kind::GaussianProcess(_) | Kind::Auto(_) => {
            let targets = table.roles.targets().len();
            let in_folds = at_once > 1 || matches!(kind, Kind::Auto(_));
            GaussianProcess::peak_bytes(table.batch.num_rows(), targets, at_once, in_folds)
        }
        _ => 0,
    };
    match widest {
        _ if weights > memory => Err(Error::LargeNetwork { needs: weights, memory }),
        Some((column, levels)) if needs > memory => {
            Err(Error::ManyLevels { column, levels, needs, memory })
        }
        _ if kernels > memory => Err(Error::LargeKernel { needs: kernels, memory }),
        _ => Ok(()),
    }
}
