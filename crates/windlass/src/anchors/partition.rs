//! Groups of rows: the one-hot anchors of the paper as one label per row.

use std::collections::BTreeMap;

use crate::error::same_rows;
use crate::{Error, Result};

/// A group label for every row: one-hot anchors without the matrix.
///
/// Groups are numbered `0, …, groups − 1`; a group may be empty.
///
/// ```
/// use windlass::Partition;
///
/// let sites = Partition::of_categories(&["oslo", "bergen", "oslo"])?;
/// assert_eq!(sites.labels(), [1, 0, 1]); // numbered in sorted order
/// assert_eq!(sites.sizes(), [1, 2]);
/// # Ok::<(), windlass::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Partition {
    labels: Vec<u32>,
    sizes: Vec<usize>,
}

impl Partition {
    /// Labels that are already numbers below `groups`; some groups may be empty.
    pub fn new(labels: Vec<u32>, groups: usize) -> Result<Self> {
        if groups == 0 || labels.is_empty() {
            let missing = if labels.is_empty() { "rows" } else { "groups" };
            return Err(Error::Empty { what: "the partition", missing });
        }
        let mut sizes = vec![0; groups];
        for (row, &label) in labels.iter().enumerate() {
            let size = sizes.get_mut(label as usize);
            *size.ok_or(Error::NoSuchGroup { row, label, groups })? += 1;
        }
        Ok(Self { labels, sizes })
    }

    /// One group per distinct category, numbered in sorted order, so that row order does not matter.
    pub fn of_categories<C: Ord>(categories: &[C]) -> Result<Self> {
        let mut numbers: BTreeMap<&C, u32> = categories.iter().map(|c| (c, 0)).collect();
        for (number, slot) in (0..).zip(numbers.values_mut()) {
            *slot = number;
        }
        let labels = categories.iter().map(|category| numbers[category]).collect();
        Self::new(labels, numbers.len())
    }

    /// A finer partition: groups formed separately inside each group of this partition.
    ///
    /// `split` is called with the row numbers of each non-empty group and partitions them.
    ///
    /// ```
    /// use windlass::{Bins, Partition};
    ///
    /// let species = Partition::of_categories(&["cod", "eel", "cod", "eel", "eel"])?;
    /// let length = [30.0, 70.0, 90.0, 40.0, 41.0];
    /// let groups = species.within(|rows| {
    ///     let lengths: Vec<f64> = rows.iter().map(|&row| length[row]).collect();
    ///     let bins = Bins::equal_width(&lengths, 2)?;
    ///     Partition::new(bins.assign(&lengths)?, bins.bins())
    /// })?;
    /// assert_eq!(groups.labels(), [0, 3, 1, 2, 2]);
    /// # Ok::<(), windlass::Error>(())
    /// ```
    pub fn within(&self, mut split: impl FnMut(&[usize]) -> Result<Self>) -> Result<Self> {
        let mut labels = vec![0; self.labels.len()];
        let mut groups = 0;
        for rows in self.members().into_iter().filter(|rows| !rows.is_empty()) {
            let inner = split(&rows)?;
            same_rows(("an inner partition", inner.rows()), ("its group", rows.len()))?;
            // Only groups that have rows get a number, so there are never more groups than rows.
            let mut numbers = vec![0; inner.groups()];
            for (number, _) in numbers.iter_mut().zip(&inner.sizes).filter(|(_, size)| **size > 0) {
                *number = to_label(groups);
                groups += 1;
            }
            for (&row, &label) in rows.iter().zip(&inner.labels) {
                labels[row] = numbers[label as usize];
            }
        }
        Self::new(labels, groups)
    }

    /// The partition of some of the rows, with the same groups (some may become empty).
    pub fn select(&self, rows: &[usize]) -> Result<Self> {
        let labels = rows
            .iter()
            .map(|&row| {
                self.labels.get(row).copied().ok_or(Error::NoSuchRow { row, rows: self.rows() })
            })
            .collect::<Result<_>>()?;
        Self::new(labels, self.groups())
    }

    /// The group of every row.
    #[must_use]
    pub fn labels(&self) -> &[u32] {
        &self.labels
    }

    /// The number of groups, empty ones included.
    #[must_use]
    pub fn groups(&self) -> usize {
        self.sizes.len()
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// The number of rows in every group.
    #[must_use]
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// The row numbers of every group, ascending.
    #[must_use]
    pub fn members(&self) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.groups()];
        for (row, &label) in self.labels.iter().enumerate() {
            members[label as usize].push(row);
        }
        members
    }
}

/// A group number as `u32`, saturating: 2³² groups would need 2³² rows.
pub(crate) fn to_label(group: usize) -> u32 {
    u32::try_from(group).unwrap_or(u32::MAX)
}
