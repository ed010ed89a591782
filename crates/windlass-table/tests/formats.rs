//! Round trips of every type through every format, and damaged files.

#[path = "../../../fuzz/targets/common.rs"]
#[allow(unreachable_pub, reason = "a module of the fuzzer")]
mod common;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use arrow_array::types::{Int8Type, Int32Type};
use arrow_array::{
    Array as _, ArrayRef, BooleanArray, Date32Array, Date64Array, Decimal128Array, DictionaryArray,
    Float32Array, Float64Array, Int8Array, Int32Array, Int64Array, LargeStringArray, ListArray,
    RecordBatch, RunArray, StringArray, StringViewArray, Time32MillisecondArray, Time32SecondArray,
    TimestampMicrosecondArray, TimestampSecondArray, UInt64Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::DataType;
use parquet::basic::{Repetition, Type as PhysicalType};
use parquet::file::metadata::{FileMetaData, ParquetMetaDataBuilder, ParquetMetaDataWriter};
use parquet::schema::types::{SchemaDescriptor, Type};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use windlass_table::{
    AugmentConfig, Augmentation, DEFAULT_MEMORY, Error, ReadOptions, Sink, Table, Verdict,
    VerifyOptions, WriteOptions,
};

fn write(path: &Path, batch: &RecordBatch) {
    let mut sink = Sink::create(path, &WriteOptions::default(), batch.schema_ref(), None).unwrap();
    sink.write(0, batch).unwrap();
    sink.finish().unwrap();
}

fn read(path: &Path) -> windlass_table::Result<RecordBatch> {
    let table = Table::open(&[path.to_owned()], &ReadOptions::default())?;
    let batches = table.blocks().collect::<windlass_table::Result<Vec<_>>>()?;
    Ok(arrow_select::concat::concat_batches(table.schema(), &batches).unwrap())
}

/// Columns of every type that text can hold.
fn text_columns() -> impl Strategy<Value = Vec<(&'static str, ArrayRef)>> {
    let text = "[a-z\"',;\\r\\n é]{0,6}";
    (1..40_usize).prop_flat_map(move |rows| {
        (
            vec(option::of(any::<i64>()), rows),
            vec(option::of(-1e300..1e300), rows),
            vec(option::of(any::<bool>()), rows),
            vec(option::of(-20_000..20_000_i32), rows),
            vec(option::of(text), rows),
        )
            .prop_map(|(integers, floats, booleans, dates, mut words)| {
                // A value that determines the type of each column.
                words.push(Some("word".into()));
                let one = |mut list: Vec<Option<i64>>| {
                    list.push(Some(7));
                    list
                };
                let mut floats = floats;
                floats.push(Some(0.5));
                let mut booleans = booleans;
                booleans.push(Some(true));
                let mut dates = dates;
                dates.push(Some(0));
                vec![
                    ("integer", Arc::new(Int64Array::from(one(integers))) as ArrayRef),
                    ("float, of 64 bits", Arc::new(Float64Array::from(floats))),
                    ("boolean", Arc::new(BooleanArray::from(booleans))),
                    ("date", Arc::new(Date32Array::from(dates))),
                    ("wörd", Arc::new(StringArray::from(words))),
                ]
            })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_format_round_trips(columns in text_columns()) {
        let batch = RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, column)| (name, column, true)),
        ).unwrap();
        let folder = tempfile::tempdir().unwrap();
        for name in ["t.csv", "t.tsv", "t.csv.gz", "t.tsv.zst", "t.parquet", "t.arrow", "t.arrows"] {
            let path = folder.path().join(name);
            write(&path, &batch);
            prop_assert_eq!(&read(&path).unwrap(), &batch, "{}", name);
        }
    }

    #[test]
    fn arbitrary_bytes_do_not_panic(bytes in vec(any::<u8>(), 0..400), name in "t\\.(csv|parquet|arrow|arrows|csv\\.gz|csv\\.zst)") {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let _ = read(&path);
    }
}

#[test]
fn arrow_types_round_trip() {
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([
        Some(vec![Some(1), None]),
        None,
        Some(vec![]),
    ]);
    let words: DictionaryArray<Int8Type> = ["u", "v", "u"].into_iter().collect();
    let decimals = Decimal128Array::from(vec![Some(1_250), None, Some(-7)]);
    let times = TimestampMicrosecondArray::from(vec![Some(5), None, Some(1_600_000_000_000_000)]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("small", Arc::new(Int8Array::from(vec![Some(-128), None, Some(127)]))),
        ("large", Arc::new(UInt64Array::from(vec![Some(u64::MAX), None, Some(0)]))),
        ("half", Arc::new(Float32Array::from(vec![Some(0.1), None, Some(f32::MAX)]))),
        ("decimal", Arc::new(decimals.with_precision_and_scale(10, 3).unwrap())),
        ("time", Arc::new(times.with_timezone("UTC"))),
        ("long", Arc::new(LargeStringArray::from(vec![Some("x"), None, Some("")]))),
        ("view", Arc::new(StringViewArray::from(vec![Some("a long enough text"), None, Some("")]))),
        ("category", Arc::new(words)),
        ("list", Arc::new(lists)),
    ];
    let batch =
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(n, c)| (n, c, true)))
            .unwrap();
    let folder = tempfile::tempdir().unwrap();
    for name in ["t.parquet", "t.arrow", "t.arrows", "t.arrow.zst"] {
        let path = folder.path().join(name);
        write(&path, &batch);
        assert_eq!(read(&path).unwrap(), batch, "{name}");
    }
}

#[test]
fn types_are_inferred_from_all_rows() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("late.csv");
    let mut text = String::from("a,b,c,d,e\n");
    for row in 0..100_000 {
        writeln!(text, "{row},00{row},{row},,x").unwrap();
    }
    text += "1.5,0.5,word,3,\n";
    std::fs::write(&path, text).unwrap();
    let types: Vec<String> = read(&path)
        .unwrap()
        .schema()
        .fields()
        .iter()
        .map(|field| field.data_type().to_string())
        .collect();
    assert_eq!(types, ["Float64", "Float64", "Utf8", "Int64", "Utf8"]);
}

#[test]
fn types_are_inferred_from_all_files() {
    let folder = tempfile::tempdir().unwrap();
    let name = |name: &str| folder.path().join(name);
    std::fs::write(name("1.csv"), "k,z,y\n,,1.5\n").unwrap();
    std::fs::write(name("2.csv"), "k,z,y\n7,007,2.5\n").unwrap();
    let table = Table::open(&[name("1.csv"), name("2.csv")], &ReadOptions::default()).unwrap();
    let types: Vec<String> =
        table.schema().fields().iter().map(|field| field.data_type().to_string()).collect();
    assert_eq!(types, ["Int64", "Utf8", "Float64"]);
}

#[test]
fn files_may_have_more_categories_than_the_keys_of_one_can_count() {
    let folder = tempfile::tempdir().unwrap();
    let paths = [0, 1].map(|part| {
        let words: Vec<String> = (0..100).map(|word| format!("{part} {word}")).collect();
        let words: DictionaryArray<Int8Type> = words.iter().map(String::as_str).collect();
        let columns: Vec<(&str, ArrayRef)> = vec![("category", Arc::new(words))];
        let path = folder.path().join(format!("{part}.parquet"));
        write(&path, &RecordBatch::try_from_iter(columns).unwrap());
        path
    });
    let table = Table::open(&paths, &ReadOptions::default()).unwrap();
    let rows: usize = table.blocks().map(|block| block.unwrap().num_rows()).sum();
    assert_eq!(rows, 200);
}

#[test]
fn a_wrong_number_of_rows_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("claims.parquet");
    let columns: Vec<(&str, ArrayRef)> = vec![("y", Arc::new(Float64Array::from(vec![1.0, 2.0])))];
    write(&path, &RecordBatch::try_from_iter(columns).unwrap());
    let reader = parquet::file::serialized_reader::SerializedFileReader::try_from(path.as_path());
    let metadata = parquet::file::reader::FileReader::metadata(&reader.unwrap()).clone();
    let claiming = |rows: i64, group_rows: i64| {
        let original = metadata.file_metadata();
        let file = FileMetaData::new(
            original.version(),
            rows,
            original.created_by().map(str::to_owned),
            original.key_value_metadata().cloned(),
            original.schema_descr_ptr(),
            original.column_orders().cloned(),
        );
        let groups = metadata
            .row_groups()
            .iter()
            .map(|group| group.clone().into_builder().set_num_rows(group_rows).build().unwrap());
        let claim = ParquetMetaDataBuilder::new(file).set_row_groups(groups.collect()).build();
        let claimed = folder.path().join("claimed.parquet");
        std::fs::write(&claimed, with_footer(&std::fs::read(&path).unwrap(), &claim)).unwrap();
        read(&claimed)
    };
    for rows in [1_i64 << 60, i64::MAX, -1] {
        let error = claiming(rows, rows).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{rows}: {error}");
    }
    // The row groups count: other readers ignore the total of the file, which may be 0.
    for rows in [0, 1, i64::MAX] {
        assert_eq!(claiming(rows, 2).unwrap().num_rows(), 2);
    }
}

/// As many categories as one-byte keys can count.
#[test]
fn a_full_dictionary_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let keys = Int8Array::from_iter_values((0..=127).rev());
    let words = StringArray::from_iter_values((0..128).map(|word| format!("w{word}")));
    let full = DictionaryArray::new(keys, Arc::new(words));
    let batch = RecordBatch::try_from_iter([("full", Arc::new(full) as ArrayRef)]).unwrap();
    for name in ["full.parquet", "full.arrow"] {
        let path = folder.path().join(name);
        write(&path, &batch);
        let again = read(&path).unwrap();
        assert_eq!(again.schema(), batch.schema());
        let text = |batch: &RecordBatch| {
            arrow_cast::cast(batch.column(0), &arrow_schema::DataType::Utf8).unwrap()
        };
        assert_eq!(&text(&again), &text(&batch));
    }
}

/// Files of the Arrow project's integration tests, written on a big-endian machine.
#[test]
fn big_endian_arrow_is_refused() {
    for name in ["tests/big_endian.arrows", "tests/big_endian.arrow"] {
        let error = read(Path::new(name)).unwrap_err();
        assert!(matches!(error, Error::BigEndian { .. }), "{name}: {error}");
    }
}

fn write_arrow(path: &Path, batch: &RecordBatch, compression: Option<CompressionType>) {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let file = std::fs::File::create(path).unwrap();
    if path.extension().unwrap() == "arrows" {
        let schema = batch.schema();
        let mut writer = StreamWriter::try_new_with_options(file, &schema, options).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
    } else {
        let schema = batch.schema();
        let mut writer = FileWriter::try_new_with_options(file, &schema, options).unwrap();
        writer.write(batch).unwrap();
        writer.finish().unwrap();
    }
}

fn open_within(path: &Path, memory: u64) -> windlass_table::Result<Table> {
    Table::open(&[path.to_owned()], &ReadOptions { memory, ..ReadOptions::default() })
}

#[test]
fn compressed_arrow_with_a_false_length_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let column: ArrayRef = Arc::new(Float64Array::from(vec![0.5; 1000]));
    let batch = RecordBatch::try_from_iter([("y", column)]).unwrap();
    for name in ["t.arrows", "t.arrow"] {
        for compression in [CompressionType::ZSTD, CompressionType::LZ4_FRAME] {
            let path = folder.path().join(name);
            write_arrow(&path, &batch, Some(compression));
            assert_eq!(read(&path).unwrap(), batch);
            let mut bytes = std::fs::read(&path).unwrap();
            let length = 8000_i64.to_le_bytes();
            let at = bytes.windows(8).rposition(|window| window == length).unwrap();
            bytes[at..at + 8].copy_from_slice(&(1_i64 << 45).to_le_bytes());
            std::fs::write(&path, bytes).unwrap();
            let error = read(&path).unwrap_err();
            assert!(matches!(error, Error::TooLarge { .. }), "{name}: {error}");
        }
    }
}

#[test]
fn an_arrow_batch_larger_than_memory_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let column: ArrayRef = Arc::new(Float64Array::from(vec![0.5; 3 << 20]));
    let batch = RecordBatch::try_from_iter([("y", column)]).unwrap();
    for (name, compression) in [
        ("t.arrows", None),
        ("t.arrow", None),
        ("c.arrows", Some(CompressionType::ZSTD)),
        ("c.arrow", Some(CompressionType::ZSTD)),
    ] {
        let path = folder.path().join(name);
        write_arrow(&path, &batch, compression);
        let error = open_within(&path, 16 << 20).unwrap_err();
        assert!(matches!(error, Error::TooLarge { .. }), "{name}: {error}");
        open_within(&path, 64 << 20).unwrap();
    }
}

/// The bytes of a Parquet file with another footer.
fn with_footer(bytes: &[u8], footer: &parquet::file::metadata::ParquetMetaData) -> Vec<u8> {
    let length = u32::from_le_bytes(bytes[bytes.len() - 8..][..4].try_into().unwrap()) as usize;
    let mut bytes = bytes[..bytes.len() - 8 - length].to_vec();
    ParquetMetaDataWriter::new(&mut bytes, footer).finish().unwrap();
    bytes
}

#[test]
fn deeply_nested_parquet_is_refused() {
    let nested = |depth: usize, repetition: Repetition| {
        let leaf = Type::primitive_type_builder("leaf", PhysicalType::INT32);
        let mut node = leaf.with_repetition(Repetition::REQUIRED).build().unwrap();
        for _ in 0..depth {
            let group = Type::group_type_builder("group").with_fields(vec![Arc::new(node)]);
            node = group.with_repetition(repetition).build().unwrap();
        }
        let root = Type::group_type_builder("schema").with_fields(vec![Arc::new(node)]);
        let columns = Arc::new(SchemaDescriptor::new(Arc::new(root.build().unwrap())));
        let file = FileMetaData::new(1, 0, None, None, columns, None);
        let mut bytes = b"PAR1".to_vec();
        let footer = ParquetMetaDataBuilder::new(file).build();
        ParquetMetaDataWriter::new(&mut bytes, &footer).finish().unwrap();
        bytes
    };
    let write_nested =
        move || [nested(5000, Repetition::OPTIONAL), nested(1000, Repetition::REPEATED)];
    // The writer recurses, too.
    let files = std::thread::Builder::new().stack_size(1 << 28).spawn(write_nested).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nested.parquet");
    for bytes in files.join().unwrap() {
        std::fs::write(&path, bytes).unwrap();
        let error = read(&path).unwrap_err();
        assert!(error.to_string().contains("nested more than 64 deep"), "{error}");
    }
}

#[test]
fn parquet_whose_schema_contradicts_its_columns_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("x", Arc::new(Float64Array::from(vec![1.0, 2.5]))),
        ("y", Arc::new(Float64Array::from(vec![3.0, 4.5]))),
    ];
    write(&path, &RecordBatch::try_from_iter(columns).unwrap());
    let reader = parquet::file::serialized_reader::SerializedFileReader::try_from(path.as_path());
    let metadata = parquet::file::reader::FileReader::metadata(&reader.unwrap()).clone();
    let bytes = std::fs::read(&path).unwrap();
    for (name, physical) in [("x", PhysicalType::INT64), ("z", PhysicalType::DOUBLE)] {
        let column = |name: &str, physical| {
            let column = Type::primitive_type_builder(name, physical);
            Arc::new(column.with_repetition(Repetition::REQUIRED).build().unwrap())
        };
        let fields = vec![column(name, physical), column("y", PhysicalType::DOUBLE)];
        let root = Type::group_type_builder("schema").with_fields(fields).build().unwrap();
        let schema = Arc::new(SchemaDescriptor::new(Arc::new(root)));
        let file = FileMetaData::new(1, 2, None, None, schema, None);
        let groups = metadata.row_groups().to_vec();
        let footer = ParquetMetaDataBuilder::new(file).set_row_groups(groups).build();
        let contradicting = folder.path().join("contradicting.parquet");
        std::fs::write(&contradicting, with_footer(&bytes, &footer)).unwrap();
        let error = read(&contradicting).unwrap_err().to_string();
        assert!(error.contains("differs from the schema"), "{error}");
    }
}

#[test]
fn a_parquet_page_larger_than_memory_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let column: ArrayRef = Arc::new(StringArray::from(vec!["0".repeat(40 << 20)]));
    let batch = RecordBatch::try_from_iter([("text", column)]).unwrap();
    write(&path, &batch);
    assert!(std::fs::metadata(&path).unwrap().len() < 4 << 20);
    let error = open_within(&path, 64 << 20).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    assert_eq!(read(&path).unwrap(), batch);
}

#[test]
fn long_text_of_parquet_is_decoded_in_small_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let texts = (0..1000).map(|row| format!("{row:0>60000}"));
    let column: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
    let batch = RecordBatch::try_from_iter([("text", column)]).unwrap();
    write(&path, &batch);
    let table = open_within(&path, 64 << 20).unwrap();
    let rows: Vec<usize> = table.blocks().map(|block| block.unwrap().num_rows()).collect();
    assert!(rows.len() > 1 && rows.iter().sum::<usize>() == 1000, "{rows:?}");
}

#[test]
fn dates_and_times_have_logical_types_in_parquet() {
    const DAY: i64 = 86_400_000;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.parquet");
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("date", Arc::new(Date64Array::from(vec![Some(0), None, Some(19_000 * DAY)]))),
        ("seconds", Arc::new(Time32SecondArray::from(vec![Some(0), None, Some(86_399)]))),
        ("time", Arc::new(TimestampSecondArray::from(vec![Some(5), None, Some(1_600_000_000)]))),
        ("milliseconds", Arc::new(Time32MillisecondArray::from(vec![Some(5), None, Some(7)]))),
    ];
    let columns = columns.into_iter().map(|(name, column)| (name, column, true));
    let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    write(&path, &batch);
    let again = read(&path).unwrap();
    for (column, written) in again.columns().iter().zip(batch.columns()) {
        assert_eq!(&arrow_cast::cast(column, written.data_type()).unwrap(), written);
    }
    let reader = parquet::file::serialized_reader::SerializedFileReader::try_from(path.as_path());
    let metadata = parquet::file::reader::FileReader::metadata(&reader.unwrap()).clone();
    for column in metadata.file_metadata().schema_descr().columns() {
        assert!(column.logical_type_ref().is_some(), "{}", column.name());
    }
}

fn fingerprint(batch: &RecordBatch) -> String {
    let table = Table::from_batch(batch, Path::new("table")).unwrap();
    let settings = AugmentConfig::new(&["y"]);
    let fitted = Augmentation::fit(&table, &settings, DEFAULT_MEMORY, &()).unwrap();
    fitted.profile().fingerprint.clone()
}

/// A table with a column in several forms.
fn with_column(column: ArrayRef) -> RecordBatch {
    let (x, y) = (vec![0.5, 1.5, 4.0, 2.0], vec![1.5, 2.0, 3.25, 0.0]);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("x", Arc::new(Float64Array::from(x))),
        ("text", column),
        ("y", Arc::new(Float64Array::from(y))),
    ];
    let columns = columns.into_iter().map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

/// The same texts, stored in every way: `a`, missing, `b`, `b`.
fn texts() -> Vec<ArrayRef> {
    let plain: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("b"), Some("b")]));
    let dictionary = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
    let types = [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View, dictionary];
    let mut all: Vec<ArrayRef> =
        types.iter().map(|stored| arrow_cast::cast(&plain, stored).unwrap()).collect();
    // A dictionary with a missing value instead of a missing key.
    let values = StringArray::from(vec![Some("b"), None, Some("a")]);
    let keys = Int8Array::from(vec![2, 1, 0, 0]);
    all.push(Arc::new(DictionaryArray::new(keys, Arc::new(values))));
    // Runs of equal values.
    let values = StringArray::from(vec![Some("a"), None, Some("b")]);
    let runs = RunArray::try_new(&Int32Array::from(vec![1, 2, 4]), &values).unwrap();
    all.push(Arc::new(runs));
    all
}

#[test]
fn the_fingerprint_does_not_depend_on_how_text_is_stored() {
    let all: Vec<String> =
        texts().into_iter().map(|text| fingerprint(&with_column(text))).collect();
    assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
    let other: ArrayRef =
        Arc::new(StringArray::from(vec![Some("a"), Some(""), Some("b"), Some("b")]));
    assert_ne!(fingerprint(&with_column(other)), all[0]);
}

#[test]
fn untouched_outputs_hold_however_text_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    for text in texts() {
        let stored = text.data_type().clone();
        let input = Table::from_batch(&with_column(text), Path::new("table")).unwrap();
        let settings = AugmentConfig { provenance: true, ..AugmentConfig::new(&["y"]) };
        let augmentation = Augmentation::fit(&input, &settings, DEFAULT_MEMORY, &()).unwrap();
        let manifest = augmentation.manifest();
        for name in ["t.csv", "t.parquet", "t.arrow", "t.arrows"] {
            let path = folder.path().join(name);
            let schema = augmentation.schema();
            let mut sink = Sink::create(&path, &WriteOptions::default(), schema, None).unwrap();
            augmentation.write(&(), None, &mut sink).unwrap();
            sink.finish().unwrap();
            let options = ReadOptions { as_text: true, ..ReadOptions::default() };
            let output = Table::open(&[path], &options).unwrap();
            // The same rows, whatever the form of the table that they are compared with.
            for text in texts() {
                let input = Table::from_batch(&with_column(text), Path::new("table")).unwrap();
                let how = VerifyOptions { manifest: Some(&manifest), ..VerifyOptions::default() };
                let verdict = Verdict::verify(&output, &input, how, DEFAULT_MEMORY, &()).unwrap();
                assert!(verdict.holds() && verdict.rows == 8, "{stored} {name}: {verdict:?}");
            }
        }
    }
}

/// Files of the fuzzing corpus, and those that 0.1.0 wrote, are read, or return an error.
#[test]
fn the_fuzzing_corpus_does_not_panic() {
    for kind in ["csv", "parquet", "arrow", "arrows", "fitted", "manifest"] {
        let corpus = std::fs::read_dir(format!("../../fuzz/corpus/{kind}")).unwrap();
        let files: Vec<_> = match kind {
            "fitted" | "manifest" => {
                let release = std::fs::read_dir("../windlass-cli/tests/release-0.1.0").unwrap();
                corpus.chain(release).collect()
            }
            _ => corpus.collect(),
        };
        assert!((4..=50).contains(&files.len()), "{kind}: {}", files.len());
        for file in files {
            let bytes = std::fs::read(file.unwrap().path()).unwrap();
            match kind {
                "fitted" => common::read_fitted(&bytes),
                "manifest" => common::read_manifest(&bytes),
                _ => common::read_anything(&bytes, kind),
            }
        }
    }
}
