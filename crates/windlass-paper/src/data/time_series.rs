//! Windows of time series and their targets some steps later.
//!
//! ```text
//! row        0  …  i−h−w+1 … i−h   …   i  …  n−1
//!                  └─ window x ─┘      y
//! training:    w + h − 1 ≤ i < ⌊0.6 n⌋
//! validation:  ⌊0.6 n⌋   ≤ i < ⌊0.8 n⌋
//! test:        ⌊0.8 n⌋   ≤ i < n
//! ```
//!
//! As in Lai et al., [*Modeling Long- and Short-Term Temporal Patterns with Deep Neural
//! Networks*](https://arxiv.org/abs/1703.07015), 2018: every series is divided by its largest absolute value over all
//! rows, test rows among them.

use std::ops::Range;
use std::path::{Path, PathBuf};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use arrow_schema::DataType;
use ndarray::{Array2, s};
use windlass_table::{Format, ReadOptions};

use super::local_files::{find_file, parse_numbers, read_table};
use super::{Error, Result};

/// Finds the file of all 321 clients of `electricity`, which users provide: `electricity/electricity.txt`, optionally
/// gzipped.
pub fn electricity(folders: &[PathBuf]) -> Result<PathBuf> {
    let names = ["electricity/electricity.txt", "electricity/electricity.txt.gz"];
    find_file(&names, "https://github.com/laiguokun/multivariate-time-series-data", folders)
}

/// Several series, measured at the same times.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Their names.
    pub names: Vec<String>,
    /// Time × series.
    pub values: Array2<f64>,
}

impl Series {
    /// The numeric columns of a table without missing values.
    ///
    /// ```
    /// use windlass_paper::data::{self, Series};
    ///
    /// let series = Series::from_table(&data::cosine(100, 0.1, true, 0));
    /// assert_eq!((series.names.len(), series.values.nrows()), (2, 100));
    /// ```
    #[must_use]
    pub fn from_table(table: &RecordBatch) -> Self {
        let schema = table.schema();
        let numbers: Vec<usize> = (0..table.num_columns())
            .filter(|&place| schema.field(place).data_type() == &DataType::Float64)
            .collect();
        let names = numbers.iter().map(|&place| schema.field(place).name().clone()).collect();
        let mut values = Array2::zeros((table.num_rows(), numbers.len()));
        for (mut to, &place) in values.columns_mut().into_iter().zip(&numbers) {
            let from = table.column(place).as_primitive::<Float64Type>();
            to.iter_mut().zip(from.values()).for_each(|(to, from)| *to = *from);
        }
        Self { names, values }
    }

    /// Reads comma-separated text without a header, one line per time step, optionally gzipped.
    pub fn read(path: &Path) -> Result<Self, crate::Error> {
        let options = ReadOptions {
            format: Some(Format::Csv),
            header: false,
            as_text: true,
            memory: u64::MAX,
            ..ReadOptions::default()
        };
        let table = read_table(path, &options)?;
        let mut values = Array2::zeros((table.num_rows(), table.num_columns()));
        let names: Vec<String> = (0..table.num_columns()).map(|place| place.to_string()).collect();
        for (place, name) in names.iter().enumerate() {
            let column = parse_numbers(table.column(place), path, name, 1)?;
            values.column_mut(place).iter_mut().zip(column).for_each(|(to, from)| *to = from);
        }
        Ok(Self { names, values })
    }

    /// Every series divided by its largest absolute value.
    #[must_use]
    pub fn scaled(mut self) -> Self {
        for mut series in self.values.columns_mut() {
            let largest = series.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
            if largest > 0.0 {
                series /= largest;
            }
        }
        self
    }

    /// The target rows of the training, validation and test splits.
    pub fn split_rows(&self, window: usize, horizon: usize) -> Result<[Range<usize>; 3]> {
        let rows = self.values.nrows();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
        let share = |share: f64| (share * rows as f64) as usize;
        let (train, valid) = (share(0.6), share(0.8));
        let first = (window + horizon).checked_sub(1).filter(|&first| first < train);
        match first {
            Some(first) if window > 0 && horizon > 0 => {
                Ok([first..train, train..valid, valid..rows])
            }
            _ => Err(Error::ShortSeries { rows, window, horizon }),
        }
    }

    /// The flattened windows (time-major) before these target rows, and the targets.
    #[must_use]
    pub fn windows(
        &self,
        targets: Range<usize>,
        window: usize,
        horizon: usize,
    ) -> (Array2<f32>, Array2<f64>) {
        let series = self.values.ncols();
        let mut x = Array2::zeros((targets.len(), window * series));
        for (mut to, target) in x.rows_mut().into_iter().zip(targets.clone()) {
            let end = target + 1 - horizon;
            let from = self.values.slice(s![end - window..end, ..]);
            #[expect(clippy::cast_possible_truncation, reason = "networks have 32 bits")]
            to.iter_mut().zip(from).for_each(|(to, from)| *to = *from as f32);
        }
        (x, self.values.slice(s![targets, ..]).to_owned())
    }
}
