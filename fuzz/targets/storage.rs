//! Some bytes as choices: a table, a method, and two ways of storing and reading the table. Both give the same fitted
//! method and the same output, to the byte.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Float32Array, Float64Array, Int64Array, RecordBatch,
    StringArray,
};
use windlass::{METHODS, MethodParams, RareSpec};
use windlass_table::{
    AugmentConfig, Augmentation, DEFAULT_MEMORY, Error, MethodConfig, RareSources, ReadOptions,
    Result, RowIdSource, Sink, Table, WriteOptions,
};

/// Decisions read from bytes; 0 when they are used up.
struct Choices<'a>(&'a [u8]);

impl Choices<'_> {
    fn below(&mut self, bound: usize) -> usize {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(first) % bound
    }

    fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    fn yes(&mut self) -> bool {
        self.below(2) == 1
    }
}

/// A number that looks random (`SplitMix64`).
fn hash(seed: usize, column: usize, row: usize) -> u64 {
    let mut z = (seed as u64) << 48 ^ (column as u64) << 32 ^ row as u64;
    z = z.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

/// A column of one of nine kinds.
fn column(kind: usize, seed: usize, index: usize, rows: usize) -> ArrayRef {
    let random = |row| hash(seed, index, row);
    let integer = |row, below: u64| i64::try_from(random(row) % below).expect("a small number");
    let number = |row| integer(row, 20_001) as f64 / 64.0 - 150.0;
    let index_of = |row| usize::try_from(random(row) % 4).expect("a small number");
    let missing = |row| random(row) >> 60 == 0;
    let rows = 0..rows;
    match kind {
        0 => Arc::new(rows.map(|row| Some(number(row))).collect::<Float64Array>()),
        1 => {
            Arc::new(rows.map(|row| (!missing(row)).then(|| number(row))).collect::<Float64Array>())
        }
        #[expect(clippy::cast_possible_truncation, reason = "narrow floats are wanted")]
        2 => Arc::new(rows.map(|row| Some(number(row) as f32)).collect::<Float32Array>()),
        3 => Arc::new(rows.map(|row| Some(integer(row, 40))).collect::<Int64Array>()),
        4 => Arc::new(
            rows.map(|row| (!missing(row)).then(|| integer(row, 1 << 50))).collect::<Int64Array>(),
        ),
        5 => {
            let word = |row| ["oslo", "bergen", "molde, \"north\"", "ålesund"][index_of(row)];
            Arc::new(rows.map(|row| (!missing(row)).then(|| word(row))).collect::<StringArray>())
        }
        6 => Arc::new(
            rows.map(|row| i32::try_from(integer(row, 9_000)).ok()).collect::<Date32Array>(),
        ),
        7 => Arc::new(rows.map(|row| Some(random(row) % 2 == 0)).collect::<BooleanArray>()),
        _ => Arc::new(rows.map(|_| Some(2.5)).collect::<Float64Array>()),
    }
}

fn table(choices: &mut Choices<'_>) -> RecordBatch {
    let rows = choices.of(&[2, 7, 30, 120, 500, 1_500, 4_000]) + choices.below(20);
    let (seed, columns) = (choices.below(256), 1 + choices.below(24));
    let mut all: Vec<(String, ArrayRef)> = (0..columns)
        .map(|index| (format!("c{index}"), column(choices.below(9), seed, index, rows)))
        .collect();
    all.push(("y".into(), column(choices.of(&[0, 2]), seed, columns, rows)));
    let weight = |row| 0.5 + (hash(seed, 98, row) % 4) as f64;
    all.push((
        "w".into(),
        Arc::new((0..rows).map(|row| Some(weight(row))).collect::<Float64Array>()),
    ));
    let key = |row: usize| Some(i64::try_from(row).expect("a small number") * 7 - 100);
    all.push(("key".into(), Arc::new((0..rows).map(key).collect::<Int64Array>())));
    RecordBatch::try_from_iter_with_nullable(
        all.into_iter().map(|(name, column)| (name, column, true)),
    )
    .expect("columns of one length")
}

fn settings(choices: &mut Choices<'_>) -> AugmentConfig {
    let mut settings = AugmentConfig::new(&["y"]);
    let method = choices.of(&METHODS);
    settings.method = MethodConfig::new(method, &MethodParams::default()).expect("the defaults");
    settings.copies = 1 + choices.below(3);
    settings.seed = choices.below(256) as u64;
    settings.originals = !choices.yes();
    settings.clip = choices.yes();
    settings.provenance = choices.yes();
    settings.columns.weight = choices.yes().then(|| "w".into());
    settings.rows_by = match choices.below(3) {
        0 => RowIdSource::Number,
        1 => RowIdSource::Content,
        _ => RowIdSource::Column("key".into()),
    };
    settings.rare =
        choices.yes().then(|| RareSources { targets: RareSpec::Density, balance: choices.yes() });
    settings
}

/// How a table is stored and read.
struct Storage {
    extension: &'static str,
    files: usize,
    /// Rows written at once: a batch of Arrow.
    block: usize,
    memory: u64,
    threads: usize,
}

impl Storage {
    fn write(&self, rows: &RecordBatch, folder: &Path) -> Vec<PathBuf> {
        let count = rows.num_rows();
        let write = |file: usize| {
            let path = folder.join(format!("{file}.{}", self.extension));
            let (first, end) = (count * file / self.files, count * (file + 1) / self.files);
            let options = WriteOptions::default();
            let mut sink =
                Sink::create(&path, &options, rows.schema_ref(), None).expect("a temporary file");
            for first in (first..end).step_by(self.block) {
                let block = rows.slice(first, self.block.min(end - first));
                sink.write(0, &block).expect("a temporary file");
            }
            sink.finish().expect("a temporary file");
            path
        };
        (0..self.files).map(write).collect()
    }

    /// The fitted method and the output file.
    fn augment(
        &self,
        rows: &RecordBatch,
        settings: &AugmentConfig,
        output: &str,
    ) -> Result<(Vec<u8>, Vec<u8>)> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let paths = self.write(rows, folder.path());
        let options = ReadOptions { memory: self.memory, ..ReadOptions::default() };
        let path = folder.path().join(format!("output.{output}"));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build();
        pool.expect("threads").install(|| {
            let table = Table::open(&paths, &options)?;
            let augmentation = Augmentation::fit(&table, settings, self.memory, &())?;
            let mut sink =
                Sink::create(&path, &WriteOptions::default(), augmentation.schema(), None)?;
            augmentation.write(&(), None, &mut sink)?;
            sink.finish()?;
            Ok((augmentation.fitted().to_bytes()?, std::fs::read(&path).expect("the output")))
        })
    }
}

/// Augments a table that is stored in two ways.
///
/// # Panics
///
/// If they differ.
pub fn same_bytes(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let (settings, rows) = (settings(&mut choices), table(&mut choices));
    // Types and decimals of text are inferred, so that text equals text.
    let families: [&[&str]; 2] =
        [&["parquet", "arrow", "arrows", "arrow.zst"], &["csv", "tsv", "csv.gz", "csv.zst"]];
    let extensions = choices.of(&families);
    let output = choices.of(&["parquet", "arrow", "arrows", "csv", "csv.gz"]);
    let plain = Storage {
        extension: extensions[0],
        files: 1,
        block: rows.num_rows(),
        memory: DEFAULT_MEMORY,
        threads: 1,
    };
    let other = Storage {
        extension: choices.of(extensions),
        files: 1 + choices.below(3).min(rows.num_rows() - 1),
        block: choices.of(&[1, 3, 64, 1_000, 5_000]).max(rows.num_rows() / 500),
        memory: 1 << choices.of(&[20, 21, 22, 23, 25, 29]),
        threads: 1 + choices.below(4),
    };
    match (plain.augment(&rows, &settings, output), other.augment(&rows, &settings, output)) {
        (Ok(plain), Ok(other)) => {
            assert!(plain.0 == other.0, "the fitted methods differ");
            assert!(plain.1 == other.1, "the outputs differ");
        }
        (Ok(_), Err(error)) => {
            let memory = matches!(
                error,
                Error::NeedsMemory { .. } | Error::TooLarge { .. } | Error::TooManyGroups { .. }
            );
            assert!(memory && other.memory < DEFAULT_MEMORY, "refused: {error}");
        }
        (Err(error), Ok(_)) => panic!("refused only if it is stored plainly: {error}"),
        (Err(_), Err(_)) => {}
    }
}
