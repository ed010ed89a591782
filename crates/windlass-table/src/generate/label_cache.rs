//! The group of every row of a table that is read again.

/// Group labels in one or two bytes each.
#[derive(Clone)]
pub(crate) enum LabelCache {
    U8(Vec<u8>),
    U16(Vec<u16>),
}

impl LabelCache {
    /// An empty cache; `None` if the labels would not fit in an eighth of the memory.
    pub(crate) fn new(groups: usize, rows: u64, memory: u64) -> Option<Self> {
        let (labels, bytes) = match groups {
            0..=0x100 => (Self::U8(vec![]), rows),
            0x101..=0x1_0000 => (Self::U16(vec![]), rows.saturating_mul(2)),
            _ => return None,
        };
        (bytes <= memory / 8).then_some(labels)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the type fits the number of groups")]
    pub(crate) fn extend(&mut self, labels: &[u32]) {
        match self {
            Self::U8(all) => all.extend(labels.iter().map(|&label| label as u8)),
            Self::U16(all) => all.extend(labels.iter().map(|&label| label as u16)),
        }
    }

    /// The labels of consecutive rows; `None` for rows beyond those that were added.
    pub(crate) fn get(&self, first: usize, rows: usize) -> Option<Vec<u32>> {
        let range = first..first + rows;
        Some(match self {
            Self::U8(all) => all.get(range)?.iter().map(|&label| label.into()).collect(),
            Self::U16(all) => all.get(range)?.iter().map(|&label| label.into()).collect(),
        })
    }
}
