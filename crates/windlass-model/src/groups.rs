//! Which training rows belong together, and the methods that ask.

use std::sync::Arc;

use arrow_array::{Array, RecordBatch};
use windlass::{
    Ada, Anchors, Bins, CMixup, Clustering, KMeans, LocalMixup, Mixup, Noise, On, Partition,
    Samples, Scale, Seed,
};
use windlass_table::{
    AnchorChoice, Clusters, Error as TableError, Method, is_numeric, numbers, words,
};

use crate::{Error, Result};

/// The groups that columns of the rows name; `None` where k-means is to find them.
pub(crate) fn partition(
    rows: &RecordBatch,
    choice: &AnchorChoice,
    clusters: Clusters,
) -> Result<Option<Partition>> {
    Ok(Some(match choice {
        AnchorChoice::KMeans => return Ok(None),
        AnchorChoice::Column(column) => categories(rows, column, "--anchors")?,
        AnchorChoice::Bins(column) => bins(rows, column, clusters, Bins::equal_width)?,
        AnchorChoice::Quantiles(column) => bins(rows, column, clusters, Bins::equal_size)?,
        AnchorChoice::Matrix(_) => {
            let option = "--anchors matrix:FILE";
            return Err(Error::DoesNotApply { option, to: "models" });
        }
    }))
}

fn place(rows: &RecordBatch, column: &str, option: &'static str) -> Result<usize> {
    rows.schema().index_of(column).map_err(|_| {
        let columns = rows.schema().fields().iter().map(|field| field.name().clone()).collect();
        TableError::NoSuchColumn { column: column.to_owned(), option, columns }.into()
    })
}

/// A group for every name in a column.
pub(crate) fn categories(
    rows: &RecordBatch,
    column: &str,
    option: &'static str,
) -> Result<Partition> {
    let words = words(rows.column(place(rows, column, option)?));
    let words: Vec<Option<&str>> = words.iter().collect();
    Ok(Partition::of_categories(&words)?)
}

fn bins(
    rows: &RecordBatch,
    column: &str,
    clusters: Clusters,
    find: fn(&[f64], usize) -> windlass::Result<Bins>,
) -> Result<Partition> {
    let values = rows.column(place(rows, column, "--anchors")?);
    if !is_numeric(values.data_type()) {
        return Err(TableError::NotNumeric {
            column: column.to_owned(),
            option: "--anchors",
            holds: windlass_table::in_words(values.data_type()),
            example: String::new(),
        }
        .into());
    }
    let values = numbers(values);
    let present: Vec<f64> = values.iter().flatten().collect();
    let bins = find(&present, clusters.of(rows.num_rows() as u64))?;
    let missing = u32::try_from(bins.bins()).unwrap_or(u32::MAX);
    let mut found = bins.assign(&present)?.into_iter();
    let label = |row| if values.is_valid(row) { found.next().unwrap_or(missing) } else { missing };
    let labels: Vec<u32> = (0..values.len()).map(label).collect();
    Ok(Partition::of_categories(&labels)?)
}

/// A method on training rows.
pub(crate) fn method(rows: &RecordBatch, method: &Method) -> Result<Arc<dyn windlass::Method>> {
    Ok(match method {
        Method::Ada(ada) => {
            let groups = partition(rows, &ada.anchors, ada.clusters)?;
            let anchors = match groups {
                Some(groups) => groups.into(),
                None => found(rows.num_rows(), ada.clusters, ada.on, ada.scale)?,
            };
            let mut made = Ada::default().anchors(anchors).gamma(ada.gamma.clone()).per(ada.per);
            if let Some(within) = &ada.within {
                made = made.within(categories(rows, within, "--within")?);
            }
            Arc::new(made)
        }
        Method::Mixup { beta, per } => Arc::new(Mixup::default().beta(*beta).per(*per)),
        Method::CMixup { bandwidth, beta, per } => {
            Arc::new(CMixup::default().bandwidth(*bandwidth).beta(*beta).per(*per))
        }
        Method::LocalMixup { epsilon, beta, per } => {
            Arc::new(LocalMixup::new(*epsilon).beta(*beta).per(*per))
        }
        Method::Noise { targets, features, relative } => {
            Arc::new(Noise::default().targets(*targets).features(*features).relative(*relative))
        }
    })
}

/// Anchors that k-means finds.
fn found(rows: usize, clusters: Clusters, on: On, scale: Scale) -> Result<Anchors> {
    let clusters = clusters.of(rows as u64);
    if clusters > rows {
        return Err(Error::TooManyClusters { clusters, rows });
    }
    Ok(Anchors::KMeans(Clustering { kmeans: KMeans::new(clusters), on, scale }))
}

/// The groups of training rows, named by columns or found by k-means in their numbers.
pub(crate) fn of(
    rows: &RecordBatch,
    samples: &Samples<'_>,
    (anchors, clusters): (&AnchorChoice, Clusters),
    seed: Seed,
) -> Result<Arc<Partition>> {
    if let Some(groups) = partition(rows, anchors, clusters)? {
        return Ok(Arc::new(groups));
    }
    let anchors = found(samples.rows(), clusters, On::Xy, Scale::Standardised)?;
    Ok(anchors.partition(samples, seed)?.expect("k-means finds groups"))
}
