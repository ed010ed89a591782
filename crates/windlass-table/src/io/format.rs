//! File formats and compression, by name or by content.

use std::path::Path;

use crate::{Error, Result};

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values.
    Csv,
    /// Tab-separated values.
    Tsv,
    /// Apache Parquet.
    Parquet,
    /// Arrow IPC file.
    Arrow,
    /// Arrow IPC stream.
    ArrowStream,
    /// Excel workbook, which is read only.
    Xlsx,
    /// An `.ods` spreadsheet, which is read only.
    Ods,
}

/// How a file is compressed as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// Not at all.
    None,
    /// `.gz`
    Gzip,
    /// `.zst`
    Zstd,
}

impl Format {
    /// The format and the compression for the extension of a file name.
    ///
    /// ```
    /// use windlass_table::{Compression, Format};
    ///
    /// let detected = Format::from_path("cars.csv.gz".as_ref())?;
    /// assert_eq!(detected, (Format::Csv, Compression::Gzip));
    /// # Ok::<(), windlass_table::Error>(())
    /// ```
    pub fn from_path(path: &Path) -> Result<(Self, Compression)> {
        let compression = Compression::from_path(path);
        let stem = match compression {
            Compression::None => path,
            _ => Path::new(path.file_stem().unwrap_or_default()),
        };
        let ending = stem.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let is_sheet = compression == Compression::None;
        let format = match ending.to_ascii_lowercase().as_str() {
            "csv" | "txt" => Self::Csv,
            "tsv" | "tab" => Self::Tsv,
            "parquet" | "pq" => Self::Parquet,
            "arrow" | "feather" | "ipc" => Self::Arrow,
            "arrows" => Self::ArrowStream,
            "xlsx" | "xlsm" if is_sheet => Self::Xlsx,
            "ods" if is_sheet => Self::Ods,
            _ => return Err(Error::UnknownEnding { path: path.to_owned() }),
        };
        if format == Self::Parquet && compression != Compression::None {
            return Err(Error::CompressedParquet { path: path.to_owned() });
        }
        Ok((format, compression))
    }

    /// The format for the first bytes of a stream; text is CSV.
    pub(crate) fn from_magic(first: &[u8]) -> Self {
        match first {
            [b'P', b'A', b'R', b'1', ..] => Self::Parquet,
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Self::Arrow,
            [0xff, 0xff, 0xff, 0xff, ..] => Self::ArrowStream,
            // A zip archive; the reader of workbooks looks inside.
            [b'P', b'K', 3, 4, ..] => Self::Xlsx,
            _ => Self::Csv,
        }
    }

    /// Whether tables are only read in this format.
    pub(crate) fn is_read_only(self) -> bool {
        matches!(self, Self::Xlsx | Self::Ods)
    }

    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Csv | Self::Tsv)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Csv => "CSV",
            Self::Tsv => "TSV",
            Self::Parquet => "Parquet",
            Self::Arrow => "Arrow IPC",
            Self::ArrowStream => "Arrow IPC stream",
            Self::Xlsx => "an Excel workbook",
            Self::Ods => "an OpenDocument spreadsheet",
        }
    }
}

impl Compression {
    fn from_path(path: &Path) -> Self {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some(ending) if ending.eq_ignore_ascii_case("gz") => Self::Gzip,
            Some(ending) if ending.eq_ignore_ascii_case("zst") => Self::Zstd,
            _ => Self::None,
        }
    }

    pub(crate) fn from_magic(first: &[u8]) -> Self {
        match first {
            [0x1f, 0x8b, ..] => Self::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Self::Zstd,
            _ => Self::None,
        }
    }
}
