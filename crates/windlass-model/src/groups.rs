//! Groups of training rows, and methods with groups.

use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use windlass::{Anchors, Bins, ParamName, Partition, RareSpec, Samples, Seed};
use windlass_table::{
    AdaConfig, AnchorSource, ClusterCount, Error as TableError, MethodConfig, is_numeric, to_f64,
    to_strings,
};

use crate::preprocessing::{FittedScaling, Preprocessing};
use crate::{Error, Result};

/// The groups of columns; `None` for k-means.
pub(crate) fn partition(
    rows: &RecordBatch,
    choice: &AnchorSource,
    clusters: ClusterCount,
) -> Result<Option<Partition>> {
    Ok(Some(match choice {
        AnchorSource::KMeans => return Ok(None),
        AnchorSource::Column(column) => categories(rows, column, ParamName("anchors"))?,
        AnchorSource::Bins(column) => bins(rows, column, clusters, Bins::equal_width)?,
        AnchorSource::Quantiles(column) => bins(rows, column, clusters, Bins::equal_size)?,
        AnchorSource::Matrix(_) => {
            return Err(Error::AnchorMatrix);
        }
    }))
}

fn place(rows: &RecordBatch, column: &str, param: ParamName) -> Result<usize> {
    rows.schema().index_of(column).map_err(|_| {
        let columns = rows.schema().fields().iter().map(|field| field.name().clone()).collect();
        TableError::NoSuchColumn { column: column.to_owned(), param, columns }.into()
    })
}

/// One group per level of a column.
pub(crate) fn categories(rows: &RecordBatch, column: &str, param: ParamName) -> Result<Partition> {
    let words = to_strings(rows.column(place(rows, column, param)?));
    let words: Vec<Option<&str>> = words.iter().collect();
    Ok(Partition::of_categories(&words)?)
}

fn bins(
    rows: &RecordBatch,
    column: &str,
    clusters: ClusterCount,
    find: fn(&[f64], usize) -> windlass::Result<Bins>,
) -> Result<Partition> {
    let values = rows.column(place(rows, column, ParamName("anchors"))?);
    if !is_numeric(values.data_type()) {
        return Err(TableError::NotNumeric {
            column: column.to_owned(),
            param: ParamName("anchors"),
            holds: windlass_table::type_name(values.data_type()),
            example: String::new(),
        }
        .into());
    }
    let values = to_f64(values);
    let present: Vec<f64> = values.iter().flatten().collect();
    let bins = find(&present, clusters.resolve(rows.num_rows() as u64))?;
    let missing = u32::try_from(bins.bins()).unwrap_or(u32::MAX);
    let mut found = bins.assign(&present)?.into_iter();
    let label = |row| if values.is_valid(row) { found.next().unwrap_or(missing) } else { missing };
    let labels: Vec<u32> = (0..values.len()).map(label).collect();
    Ok(Partition::of_categories(&labels)?)
}

/// A method on training rows, for targets in the units of their preprocessing.
pub(crate) fn method(
    rows: &RecordBatch,
    method: &MethodConfig,
    preprocessing: &Preprocessing,
) -> Result<Arc<dyn windlass::Method>> {
    let ada = match method {
        MethodConfig::Ada(ada) => ada,
        MethodConfig::Other { method, params } => {
            let mut params = params.clone();
            if let Some(RareSpec::Points(relevance)) = &mut params.rare {
                let FittedScaling { offset, scale } = preprocessing.targets[0].scale;
                *relevance = relevance.in_units(offset, scale);
            }
            return Ok((method.build)(&params));
        }
    };
    let within = ada.within.as_ref().map(|within| categories(rows, within, ParamName("within")));
    let within = within.transpose()?;
    let anchors = match partition(rows, &ada.anchors, ada.clusters)? {
        Some(groups) => groups.into(),
        None => found(rows.num_rows(), within.as_ref().map_or(1, Partition::groups), ada)?,
    };
    Ok(Arc::new(ada.method(anchors, within)))
}

/// k-means anchors for each of some levels.
fn found(rows: usize, levels: usize, ada: &AdaConfig) -> Result<Anchors> {
    let clusters = ada.groups_in(rows as u64, levels);
    if clusters > rows {
        return Err(Error::TooManyClusters { clusters, rows });
    }
    Ok(ada.found(clusters))
}

/// The groups of training rows, by columns or by k-means.
pub(crate) fn find(
    rows: &RecordBatch,
    samples: &Samples<'_>,
    anchors: &AnchorSource,
    clusters: ClusterCount,
    seed: Seed,
) -> Result<Arc<Partition>> {
    if let Some(groups) = partition(rows, anchors, clusters)? {
        return Ok(Arc::new(groups));
    }
    let usual = AdaConfig { clusters, ..AdaConfig::default() };
    let anchors = found(samples.rows(), 1, &usual)?;
    Ok(anchors.partition(samples, seed)?.expect("k-means finds groups"))
}
