//! Text of every dialect, workbooks, what is said of them, and the places of rows.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array as _, ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use windlass_table::{
    AdaConfig, AugmentConfig, Augmentation, Error, MethodConfig, OutputKind, ReadOptions,
    SheetName, Sink, Table, WriteOptions, check_existing,
};

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }
}

fn open(path: &Path) -> Table {
    Table::open(&[path.to_owned()], &ReadOptions::default()).unwrap()
}

fn batch(table: &Table) -> RecordBatch {
    let blocks = table.blocks().collect::<windlass_table::Result<Vec<_>>>().unwrap();
    arrow_select::concat::concat_batches(table.schema(), &blocks).unwrap()
}

fn table_of(name: &str, bytes: impl AsRef<[u8]>) -> (Table, Vec<String>) {
    let folder = Folder::new();
    let table = open(&folder.put(name, bytes));
    let notes = table.notes().iter().map(|note| format!("{note:#}")).collect();
    (table, notes)
}

fn types(table: &Table) -> Vec<DataType> {
    table.schema().fields().iter().map(|field| field.data_type().clone()).collect()
}

fn floats(table: &Table, column: usize) -> Vec<Option<f64>> {
    batch(table).column(column).as_primitive::<Float64Type>().iter().collect()
}

fn integers(table: &Table, column: usize) -> Vec<Option<i64>> {
    batch(table).column(column).as_primitive::<Int64Type>().iter().collect()
}

#[test]
fn the_separator_and_the_decimal_mark_are_detected() {
    let (table, notes) = table_of("t.csv", "a;b;c\n1,5;1.234;x\n-0,25;7;y\n");
    assert_eq!(types(&table), [DataType::Float64, DataType::Int64, DataType::Utf8]);
    assert_eq!(floats(&table, 0), [Some(1.5), Some(-0.25)]);
    assert_eq!(integers(&table, 1), [Some(1234), Some(7)]);
    assert_eq!(
        notes,
        [
            "separator `;` detected; --delimiter sets another",
            "decimal comma detected: `1,5` is read as 1.5"
        ]
    );
    let (table, notes) = table_of("t.csv", "a\tb\n1.5\t2\n");
    assert_eq!((types(&table).len(), notes.len()), (2, 1), "{notes:?}");
    let (table, notes) = table_of("t.tsv", "a|b\n1.5|2\n");
    assert_eq!((types(&table).len(), notes.len()), (2, 1), "{notes:?}");
    // Quoted decimals between commas.
    let (table, _) = table_of("t.csv", "a,b\n\"1,5\",x\n\"2,25\",y\n");
    assert_eq!(floats(&table, 0), [Some(1.5), Some(2.25)]);
    // Thousands or decimals?
    let (table, notes) = table_of("t.csv", "a,b\n\"1,234\",1\n\"2,500\",2\n");
    assert_eq!(types(&table)[0], DataType::Utf8);
    assert!(notes[0].starts_with("column `a` is read as text: in `1,234`"), "{notes:?}");
    // One column stays one.
    let (table, notes) = table_of("t.csv", "a\n1\n2\n");
    assert_eq!((types(&table), notes), (vec![DataType::Int64], vec![]));
}

#[test]
fn a_separator_that_is_given_is_not_detected() {
    let folder = Folder::new();
    let path = folder.put("t.csv", "a;b\n1;2\n");
    let options = ReadOptions { delimiter: Some(b','), ..ReadOptions::default() };
    let table = Table::open(&[path], &options).unwrap();
    assert_eq!((table.schema().field(0).name().as_str(), table.notes()), ("a;b", &[][..]));
}

#[test]
fn late_values_change_types_and_marks() {
    // More than a chunk of integers, then a decimal comma.
    let rows = "7;8\n".repeat(400_000);
    let (table, notes) = table_of("t.csv", format!("a;b\n{rows}1,5;3\n"));
    assert_eq!(types(&table), [DataType::Float64, DataType::Int64]);
    assert!(notes.iter().any(|note| note.starts_with("decimal comma")), "{notes:?}");
    // A decimal comma, then decimal points in another column: it is not clear what a comma is.
    let (table, notes) = table_of("t.csv", format!("a;b\n1,5;3\n{rows}7;2.5\n"));
    assert_eq!(types(&table), [DataType::Utf8, DataType::Float64]);
    assert!(notes.iter().any(|note| note.contains("column `a` is read as text")), "{notes:?}");
}

#[test]
fn markers_of_missing_values_are_recognized_and_counted() {
    let text = "a,b,c,d\n1,true,2024-01-01,x\n?,NA,n/a,?\n#N/A,<NA>,NULL,NA\n\u{2212}4,,?,y\n";
    let (table, notes) = table_of("t.csv", text);
    let expected = [DataType::Int64, DataType::Boolean, DataType::Date32, DataType::Utf8];
    assert_eq!(types(&table), expected);
    assert_eq!(integers(&table, 0), [Some(1), None, None, Some(-4)]);
    // In a column of text they are ordinary values.
    assert_eq!(batch(&table).column(3).as_string::<i32>().value(1), "?");
    assert_eq!(
        notes,
        [
            "column `a`: 1 × `?`, 1 × `#N/A` read as missing",
            "column `b`: 1 × `NA`, 1 × `<NA>` read as missing",
            "column `c`: 1 × `n/a`, 1 × `NULL`, 1 × `?` read as missing",
        ]
    );
    for marker in [
        "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "#N/A N/A", "#NA", "-", "--",
        ".", "#DIV/0!", "#VALUE!",
    ] {
        let (table, notes) = table_of("t.csv", format!("a,b\n1,2\n{marker},3\n"));
        assert_eq!((integers(&table, 0)[1], notes.len()), (None, 1), "{marker}");
    }
}

#[test]
fn a_few_values_that_are_not_numbers_are_reported() {
    let rows = |odd: &[&str]| -> String {
        let numbers = (0..200).map(|row| format!("{row}.5,{}\n", row % 7));
        let odd = odd.iter().map(|value| format!("{value},1\n"));
        "x,y\n".chars().chain(numbers.chain(odd).collect::<String>().chars()).collect()
    };
    for (odd, hint) in [
        ("<0.01", "if it marks a missing value, set --null '<0.01'"),
        ("abc", "if it marks a missing value, set --null 'abc'"),
        ("5%", "write percentages without `%`"),
        ("\"1,234\"", "write numbers without thousands separators"),
    ] {
        let (table, notes) = table_of("t.csv", rows(&[odd]));
        assert_eq!(types(&table)[0], DataType::Utf8, "{odd}");
        let value = odd.trim_matches('"');
        let expected = format!(
            "column `x` is read as text because of 1 of 201 values: `{value}` in row 201 (line 202); {hint}"
        );
        assert_eq!(notes, [expected]);
    }
    // A row of units, and columns of numbers with units.
    let units = "a,b,c\nmm,kg,3\n1.5,2,4\n2.5,3,5\n1,4,6\n";
    let expected = "columns of numbers are read as text because of `mm`, `kg` in row 1 (line 2); delete the row if \
                    these are units";
    assert_eq!(table_of("t.csv", units).1, [expected]);
    let text = "rate,price,code\n5%,\"$1,200\",A1\n4.5%,$900,A2\n7%,$80,A3\n5%,\"$1,000\",A4\n";
    assert_eq!(
        table_of("t.csv", text).1,
        [
            "column `rate` is read as text because of `%` in `5%`; write numbers without it",
            "column `price` is read as text because of `$` in `$1,200`; write numbers without it",
        ]
    );
    let text = "n\n\"12,345,678\"\n\"1,345,678\"\n\"2,000,000\"\n";
    let expected =
        "column `n` is read as text because of `,` in `12,345,678`; write numbers without it";
    assert_eq!(table_of("t.csv", text).1, [expected]);
    // A quarter is few, or ten, but not if they are half of all; words are words.
    assert_eq!(table_of("t.csv", rows(&["a"; 10])).1.len(), 1);
    assert_eq!(table_of("t.csv", rows(&["a"; 80])).1.len(), 0);
    assert_eq!(table_of("t.csv", "x,y\na,1\nb,2\n3,4\n").1.len(), 0);
    // Zip codes are text.
    assert_eq!(table_of("t.csv", "x,y\n01234,1\n23456,2\n").1.len(), 0);
}

#[test]
fn encodings_are_detected() {
    let text = "größe,name\n1.5,Köln\n2.5,Århus\n";
    let latin: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    let wide: Vec<u8> =
        std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    for (bytes, encoding) in [(latin.clone(), "Latin-1 (Windows-1252)"), (wide, "UTF-16")] {
        let (table, notes) = table_of("t.csv", bytes);
        assert_eq!(table.schema().field(0).name(), "größe");
        assert_eq!(batch(&table).column(1).as_string::<i32>().value(1), "Århus");
        assert!(notes[0].contains(&format!("is not UTF-8 and is read as {encoding}")), "{notes:?}");
    }
    // The first letter that is not ASCII comes after more than a chunk.
    let mut late = b"a,name\n".to_vec();
    late.extend(b"1,x\n".repeat(400_000));
    late.extend(b"2,K\xf6ln\n");
    let (table, notes) = table_of("t.csv", &late);
    let all = batch(&table);
    assert_eq!(all.column(1).as_string::<i32>().value(all.num_rows() - 1), "Köln");
    assert_eq!(notes.len(), 1);
    // Damaged UTF-8 is not taken for another encoding.
    let folder = Folder::new();
    let path = folder.put("t.csv", [text.as_bytes(), b"3.5,\xff\n"].concat());
    let error = Table::open(&[path], &ReadOptions::default()).unwrap_err();
    assert!(matches!(error, Error::NotUtf8 { line: 4, .. }), "{error}");
}

#[test]
fn rows_have_places() {
    let (table, _) = table_of("t.csv", "a,b\n1,2\n\n\"x\ny\",3\n4,5\n");
    let places: Vec<String> = (0..3).map(|row| table.places().place(row).to_string()).collect();
    assert_eq!(places, ["1 (line 2)", "2 (line 4)", "3 (line 6)"]);
    let folder = Folder::new();
    let (first, second) = (folder.put("1.csv", "a\n1\n2\n"), folder.put("2.csv", "a\n3\n"));
    let table = Table::open(&[first, second.clone()], &ReadOptions::default()).unwrap();
    let expected = format!("3 (line 2 of `{}`)", second.display());
    assert_eq!(table.places().place(2).to_string(), expected);
    // Behind the first chunk, and without a header.
    let path = folder.put("long.csv", "1,2\n".repeat(500_000));
    let options = ReadOptions { header: false, ..ReadOptions::default() };
    let table = Table::open(&[path], &options).unwrap();
    assert_eq!(table.places().place(499_999).to_string(), "500000 (line 500000)");
}

#[test]
fn errors_name_rows_from_1_and_lines() {
    let (table, _) = table_of("t.csv", "a,y\n1.5,2\n2.5,\n3.5,4\n4.5,NA\n");
    let config = AugmentConfig::new(&["y"]);
    let error = Augmentation::fit(&table, &config, 1 << 30, &()).unwrap_err();
    assert_eq!(error.to_string(), "target `y` is missing in rows 2 (line 3), 4 (line 5)");
    let (table, _) = table_of("t.csv", "a,y\n1.5,2\n2.5,3\n3.5,four\n");
    let error = Augmentation::fit(&table, &config, 1 << 30, &()).unwrap_err();
    assert!(error.to_string().ends_with(", such as `four` in row 3 (line 4)"), "{error}");
}

#[test]
fn text_after_a_closing_quote_is_refused() {
    let (table, _) = table_of("t.csv", "a,y\n\"one \"\"1\"\"\" ,2\nsay \"two\",3\n");
    let words = batch(&table).column(0).as_string::<i32>().clone();
    assert_eq!(words.iter().flatten().collect::<Vec<_>>(), ["one \"1\" ", "say \"two\""]);
    let folder = Folder::new();
    for row in ["\"Hey, I missed \" it\",3", "\"a\"b,3", "\"a \\\"b\\\" c\",3"] {
        let path = folder.put("t.csv", format!("a,y\n\"1\n2\",2\n{row}\n"));
        let error = Table::open(&[path], &ReadOptions::default()).unwrap_err();
        assert!(matches!(error, Error::TextAfterQuote { line: 4, .. }), "{row}: {error}");
    }
}

/// A number as text: with a decimal point, or with a comma and perhaps groups of thousands.
fn spelled(value: Option<f64>, comma: bool, grouped: bool) -> String {
    let Some(value) = value else { return String::new() };
    let text = format!("{value}");
    if !comma {
        return text;
    }
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, "0"));
    let (sign, digits) = match whole.strip_prefix('-') {
        Some(digits) => ("\u{2212}", digits),
        None => ("", whole),
    };
    let mut out = String::from(sign);
    for (place, digit) in digits.chars().enumerate() {
        if grouped && place > 0 && (digits.len() - place) % 3 == 0 {
            out.push('.');
        }
        out.push(digit);
    }
    format!("{out},{decimals}")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_table_has_the_same_values_in_every_dialect(
        rows in vec((option::of(-1e7..1e7_f64), "[a-zé;,|\t\" ]{0,5}"), 1..30),
        separator in prop::sample::select(vec![',', ';', '\t', '|']),
        (comma, grouped) in any::<(bool, bool)>(),
        encoding in 0..4,
    ) {
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let field = |text: &str| if text.contains([separator, '"']) { quoted(text) } else { text.into() };
        let mut text = format!("x{separator}word\n");
        // The last row decides the mark, and that there are words.
        for (value, word) in rows.iter().cloned().chain([(Some(0.5), "word".to_owned())]) {
            let value = field(&spelled(value, comma, grouped));
            text += &[value.as_str(), &separator.to_string(), &quoted(&word), "\n"].concat();
        }
        let bytes: Vec<u8> = match encoding {
            0 => text.clone().into_bytes(),
            // Without U+2212, which Latin-1 does not have.
            1 => text.replace('\u{2212}', "-").chars().map(|c| c as u8).collect(),
            2 => std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect(),
            _ => std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect(),
        };
        let folder = Folder::new();
        let path = folder.put("t.csv", bytes);
        // Words may look like columns: what is not detected is given.
        let options = ReadOptions { delimiter: Some(separator as u8), ..ReadOptions::default() };
        let table = Table::open(&[path], &options).unwrap();
        prop_assert_eq!(&types(&table)[..], &[DataType::Float64, DataType::Utf8][..]);
        let read = batch(&table);
        for (row, (value, word)) in rows.iter().enumerate() {
            let column = read.column(0).as_primitive::<Float64Type>();
            prop_assert_eq!(column.is_valid(row).then(|| column.value(row)), *value);
            prop_assert_eq!(read.column(1).as_string::<i32>().value(row), word);
        }
    }

    #[test]
    fn arbitrary_archives_do_not_panic(
        bytes in vec(any::<u8>(), 0..300),
        xml in "[<>/a-z\"= &;0-9]{0,200}",
        name in "t\\.(xlsx|ods)",
    ) {
        let folder = Folder::new();
        for content in [bytes, archive(&[("content.xml", &xml), ("xl/workbook.xml", &xml), ("_rels/.rels", &xml)])] {
            let path = folder.put(&name, content);
            let _ = Table::open(&[path], &ReadOptions::default());
        }
    }
}

fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(vec![]));
    for (name, text) in files {
        writer.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A workbook whose sheets are the XML of their rows.
fn xlsx(sheets: &[(&str, &str)]) -> Vec<u8> {
    let numbered = |text: fn(usize, &str) -> String| -> String {
        sheets.iter().enumerate().map(|(place, (name, _))| text(place + 1, name)).collect()
    };
    let names =
        numbered(|n, name| format!("<sheet name=\"{name}\" sheetId=\"{n}\" r:id=\"r{n}\"/>"));
    let parts = numbered(|n, _| {
        format!(
            "<Relationship Id=\"r{n}\" Type=\"http://x/worksheet\" Target=\"worksheets/{n}.xml\"/>"
        )
    });
    let mut files = vec![
        (
            "_rels/.rels".to_owned(),
            "<Relationships><Relationship Id=\"a\" Type=\"http://x/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>".to_owned(),
        ),
        ("xl/workbook.xml".to_owned(), format!("<workbook><sheets>{names}</sheets></workbook>")),
        (
            "xl/_rels/workbook.xml.rels".to_owned(),
            format!(
                "<Relationships>{parts}<Relationship Id=\"s\" Type=\"http://x/sharedStrings\" Target=\"sharedStrings.xml\"/>\
                 <Relationship Id=\"t\" Type=\"http://x/styles\" Target=\"/xl/styles.xml\"/></Relationships>"
            ),
        ),
        (
            "xl/sharedStrings.xml".to_owned(),
            "<sst uniqueCount=\"99999999999999\"><si><t>site</t></si><si><r><t>A &amp; </t></r><r><t>B</t></r><rPh><t>x</t></rPh></si></sst>".to_owned(),
        ),
        (
            "xl/styles.xml".to_owned(),
            "<styleSheet><numFmts><numFmt numFmtId=\"164\" formatCode=\"yyyy\\-mm\\-dd hh:mm\"/></numFmts>\
             <cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/><xf numFmtId=\"164\"/></cellXfs></styleSheet>".to_owned(),
        ),
    ];
    for (place, (_, rows)) in sheets.iter().enumerate() {
        let sheet = format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
        files.push((format!("xl/worksheets/{}.xml", place + 1), sheet));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    archive(&files)
}

const ROWS: &str = "<row r=\"2\"><c r=\"B2\" t=\"inlineStr\"><is><t>Measured in 2024</t></is></c></row>\
    <row r=\"4\"><c r=\"B4\" t=\"s\"><v>0</v></c><c r=\"C4\" t=\"str\"><v>day</v></c><c r=\"D4\" t=\"str\"><v>time</v></c>\
    <c r=\"E4\" t=\"str\"><v>n</v></c><c r=\"F4\" t=\"str\"><v>x</v></c><c r=\"G4\" t=\"str\"><v>ok</v></c></row>\
    <row r=\"5\"><c r=\"B5\" t=\"s\"><v>1</v></c><c r=\"C5\" s=\"1\"><v>45351</v></c><c r=\"D5\" s=\"2\"><v>45351.5</v></c>\
    <c r=\"E5\"><v>3</v></c><c r=\"F5\"><v>1.5</v></c><c r=\"G5\" t=\"b\"><v>1</v></c></row>\
    <row r=\"9\"><c r=\"B9\" t=\"s\"><v>1</v></c><c r=\"C9\" s=\"1\"><v>45352</v></c><c r=\"D9\" s=\"2\"><v>45352</v></c>\
    <c r=\"E9\"><v>-4</v></c><c r=\"F9\" t=\"e\"><v>#N/A</v></c><c r=\"G9\" t=\"b\"><v>0</v></c></row>";

fn sheet_types() -> Vec<DataType> {
    let time = DataType::Timestamp(TimeUnit::Millisecond, None);
    vec![
        DataType::Utf8,
        DataType::Date32,
        time,
        DataType::Int64,
        DataType::Float64,
        DataType::Boolean,
    ]
}

#[test]
fn excel_workbooks_are_read() {
    let (table, notes) = table_of("t.xlsx", xlsx(&[("empty", ""), ("data", ROWS), ("more", ROWS)]));
    assert_eq!(types(&table), sheet_types());
    let names: Vec<&str> =
        table.schema().fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["site", "day", "time", "n", "x", "ok"]);
    assert_eq!(integers(&table, 3), [Some(3), Some(-4)]);
    assert_eq!(floats(&table, 4), [Some(1.5), None]);
    let text = windlass_table::to_strings(batch(&table).column(0));
    assert_eq!(text.value(0), "A & B");
    let text = windlass_table::to_strings(batch(&table).column(2));
    assert_eq!((text.value(0), text.value(1)), ("2024-02-29T12:00:00", "2024-03-01T00:00:00"));
    assert!(
        notes[0].ends_with("sheet `data` is read; --sheet chooses another: `empty`, `more`"),
        "{notes:?}"
    );
    assert!(
        notes[1].ends_with("the row above the header was skipped: `Measured in 2024`"),
        "{notes:?}"
    );
    assert_eq!(table.places().place(0).to_string(), "1");
}

#[test]
fn sheets_are_chosen_by_name_or_number() {
    let folder = Folder::new();
    let other = ROWS.replace("<v>3</v>", "<v>33</v>");
    let path = folder.put("t.xlsx", xlsx(&[("data", ROWS), ("2024", &other)]));
    for (sheet, expected) in [("data", 3), ("1", 3), ("2", 33), ("2024", 33)] {
        let sheet = Some(SheetName::new(sheet));
        let options = ReadOptions { sheet, ..ReadOptions::default() };
        let table = Table::open(std::slice::from_ref(&path), &options).unwrap();
        assert_eq!(integers(&table, 3)[0], Some(expected));
        assert!(!table.notes().iter().any(|note| note.to_string().contains("chooses another")));
    }
    let options = ReadOptions { sheet: Some(SheetName::new("three")), ..ReadOptions::default() };
    let error = Table::open(&[path], &options).unwrap_err();
    assert!(error.to_string().ends_with("has no sheet `three`"), "{error}");
    let hint = error.hint(windlass::ParamStyle::Command).unwrap();
    assert_eq!(hint, "the sheets are `data`, `2024`");
}

#[test]
fn open_document_spreadsheets_are_read() {
    let cell =
        |kind: &str, rest: &str| format!("<table:table-cell office:value-type=\"{kind}\" {rest}/>");
    let text = |text: &str| {
        format!(
            "<table:table-cell office:value-type=\"string\"><text:p>{text}</text:p></table:table-cell>"
        )
    };
    let row = |cells: String| format!("<table:table-row>{cells}</table:table-row>");
    let header: String =
        ["site", "day", "time", "n", "x", "ok"].iter().map(|name| text(name)).collect();
    let values = |n: &str, x: String| {
        text("A<text:s text:c=\"2\"/>B")
            + &cell("date", "office:date-value=\"2024-02-29\"")
            + &cell("date", "office:date-value=\"2024-02-29T12:00:00\"")
            + &cell("float", &format!("office:value=\"{n}\""))
            + &x
            + &cell("boolean", "office:boolean-value=\"true\"")
    };
    let error = cell("string", "office:string-value=\"\" calcext:value-type=\"error\"");
    let blank = "<table:table-row table:number-rows-repeated=\"1048000\"><table:table-cell table:number-columns-repeated=\"16384\"/></table:table-row>";
    let rows = [
        row(header),
        row(values("3", cell("percentage", "office:value=\"0.5\""))),
        row(values("4", error))
            .replace("<table:table-row>", "<table:table-row table:number-rows-repeated=\"2\">"),
        blank.to_owned(),
    ];
    let content = format!(
        "<office:document-content><table:table table:name=\"none\">{blank}</table:table>\
         <table:table table:name=\"data\">{}</table:table></office:document-content>",
        rows.concat()
    );
    let (table, notes) = table_of("t.ods", archive(&[("content.xml", &content)]));
    assert_eq!(types(&table), sheet_types());
    assert_eq!(integers(&table, 3), [Some(3), Some(4), Some(4)]);
    assert_eq!(floats(&table, 4), [Some(0.5), None, None]);
    assert_eq!(windlass_table::to_strings(batch(&table).column(0)).value(0), "A  B");
    assert_eq!(notes.len(), 1, "{notes:?}");
}

#[test]
fn hostile_workbooks_are_refused() {
    let folder = Folder::new();
    let options = ReadOptions { memory: 32 << 20, ..ReadOptions::default() };
    let refused = |name: &str, bytes: Vec<u8>| {
        let path = folder.put(name, bytes);
        Table::open(&[path], &options).unwrap_err()
    };
    // A cell that is repeated over all rows and columns.
    let content = "<x><table:table table:name=\"a\"><table:table-row table:number-rows-repeated=\"1048576\">\
        <table:table-cell office:value-type=\"float\" office:value=\"1\" table:number-columns-repeated=\"16384\"/>\
        </table:table-row></table:table></x>";
    let error = refused("t.ods", archive(&[("content.xml", content)]));
    assert!(matches!(error, Error::NeedsMemory { .. }), "{error}");
    // Much XML of nothing.
    let error = refused("t.ods", archive(&[("content.xml", &" ".repeat(20 << 20))]));
    assert!(error.to_string().contains("more than 16 MiB without a tag"), "{error}");
    // Corners that are far apart.
    let far = "<row><c r=\"A1\"><v>1</v></c><c r=\"XFD1\"><v>2</v></c></row><row><c r=\"ZZZZZZ2\"><v>1</v></c></row>";
    let error = refused("t.xlsx", xlsx(&[("a", far)]));
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
    let error = refused("t.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec());
    assert!(matches!(error, Error::Encrypted { .. }), "{error}");
    for bytes in [&b"a,b\n1,2\n"[..], b"PK\x03\x04", b""] {
        refused("t.xlsx", bytes.to_vec());
    }
}

#[test]
fn only_own_files_are_overwritten() {
    let folder = Folder::new();
    let refused = |name: &str, bytes: &[u8], kind: OutputKind| {
        check_existing(&folder.put(name, bytes), kind).is_err()
    };
    assert!(check_existing(&folder.0.path().join("none.csv"), OutputKind::Table).is_ok());
    assert!(!refused("empty.csv", b"", OutputKind::Table));
    assert!(refused("t.csv", b"a,y\n1,2\n", OutputKind::Table));
    assert!(refused("t.csv", b"a,y\n1,2\n", OutputKind::Model));
    assert!(!refused("p.csv", b"a,windlass_source,windlass_copy\n1,0,0\n", OutputKind::Table));
    assert!(refused("t.json", b"{\"a\": 1}", OutputKind::Manifest));
    assert!(refused("t.json", b"{\"a\": 1}", OutputKind::Fitted));
    assert!(refused("t.parquet", b"PAR1 and so on", OutputKind::Table));
    assert!(refused("t.svg", b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>", OutputKind::Plot));
}

#[test]
fn blocks_of_long_text_are_small() {
    let folder = Folder::new();
    let text = "t".repeat(7 << 20);
    let rows: Vec<String> = (0..12).map(|row| format!("{row},{text}\n")).collect();
    let path = folder.put("long.csv", format!("x,t\n{}", rows.concat()));
    let options = ReadOptions { memory: 64 << 20, ..ReadOptions::default() };
    let table = Table::open(std::slice::from_ref(&path), &options).unwrap();
    let rows = table.blocks().map(|block| block.unwrap().num_rows()).collect::<Vec<_>>();
    assert!(rows.len() > 1 && rows.iter().sum::<usize>() == 12, "{rows:?}");
    // The longest line depends on the memory.
    let options = ReadOptions { memory: 40 << 20, ..ReadOptions::default() };
    let error = Table::open(&[path], &options).unwrap_err();
    assert!(matches!(error, Error::LineTooLong { line: 2, limit: 5_242_880, .. }), "{error}");
}

#[test]
fn more_columns_than_memory_allows_are_refused() {
    let folder = Folder::new();
    let names: Vec<String> = (0..10_000).map(|column| format!("x{column}")).collect();
    let values = vec!["1"; 10_000].join(",");
    let path = folder.put("wide.csv", format!("{}\n{values}\n", names.join(",")));
    let options = ReadOptions { memory: 32 << 20, ..ReadOptions::default() };
    let error = Table::open(std::slice::from_ref(&path), &options).unwrap_err();
    let expected = "a table of 8193 columns needs about 33 MiB, but the limit is 32 MiB";
    assert!(error.to_string().ends_with(expected), "{error}");
    assert_eq!(batch(&open(&path)).num_columns(), 10_000);
}

#[test]
fn more_levels_than_memory_allows_are_refused() {
    let folder = Folder::new();
    let rows: Vec<String> =
        (0..40_000).map(|row| format!("k{row},{}.5,{}\n", row % 89, row % 97)).collect();
    let table = open(&folder.put("t.csv", format!("k,x,y\n{}", rows.concat())));
    let ada = AdaConfig { within: Some("k".into()), ..AdaConfig::default() };
    let settings = AugmentConfig { method: MethodConfig::Ada(ada), ..AugmentConfig::new(&["y"]) };
    let error = Augmentation::fit(&table, &settings, 32 << 20, &()).unwrap_err();
    assert!(matches!(error, Error::TooManyGroups { .. }), "{error}");
    Augmentation::fit(&table, &settings, 128 << 20, &()).unwrap();
}

#[test]
fn a_byte_order_mark_of_a_name_is_kept() {
    let folder = Folder::new();
    let name = "\u{feff}x";
    let column: ArrayRef = std::sync::Arc::new(Int64Array::from(vec![1, 2]));
    let rows = RecordBatch::try_from_iter([(name, column)]).unwrap();
    let path = folder.0.path().join("t.csv");
    let mut sink = Sink::create(&path, &WriteOptions::default(), rows.schema_ref(), None).unwrap();
    sink.write(0, &rows).unwrap();
    sink.finish().unwrap();
    assert_eq!(open(&path).schema().field(0).name(), name);
}

#[test]
fn temporary_files_of_killed_processes_are_removed() {
    let folder = Folder::new();
    let old = std::time::SystemTime::now() - std::time::Duration::from_hours(1);
    let put = |name: &str| {
        let path = folder.put(name, "partial");
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(old).unwrap();
        (path, file)
    };
    let (abandoned, _) = put(".windlass-AbCdEf.tmp");
    let (written, lock) = put(".windlass-GhIjKl.tmp");
    lock.lock().unwrap();
    let (others, _) = put(".windlass-notes.txt");
    let young = folder.put(".windlass-MnOpQr.tmp", "partial");
    windlass_table::write_atomic(&folder.0.path().join("out.json"), b"{}").unwrap();
    let exist = [&abandoned, &written, &others, &young].map(|path| path.exists());
    assert_eq!(exist, [false, true, true, true]);
}
