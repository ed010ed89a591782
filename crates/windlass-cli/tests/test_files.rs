//! Files of every kind that people have, and files that must not be lost.

mod common;

use std::fmt::Write as _;

use common::TestDir;

/// A table with a target that follows from `x`, in any dialect.
fn table(separator: &str, decimal: &str) -> String {
    let mut text = format!("x{separator}site{separator}y\n");
    for row in 0..60_u32 {
        let (x, y) = (f64::from(row * 37 % 101) / 4.0, f64::from(row * 7 % 50) / 8.0 + 0.125);
        let site = if row % 2 == 0 { "north" } else { "south" };
        let line = format!("{x}|{site}|{y}");
        writeln!(text, "{}", line.replace('.', decimal).replace('|', separator)).unwrap();
    }
    text
}

#[test]
fn a_table_of_another_dialect_is_augmented_like_the_usual_one() {
    let desk = TestDir::new();
    desk.put("usual.csv", table(",", ".")).put("other.csv", table(";", ","));
    let usual = desk.run("augment usual.csv -t y -o usual.out.csv").ok();
    assert!(!usual.err.contains("detected"), "{}", usual.err);
    let other = desk.run("augment other.csv -t y --manifest m.json -o other.out.csv").ok();
    assert!(other.err.contains("note: separator `;` detected; --delimiter sets another\n"));
    assert!(other.err.contains("note: decimal comma detected"), "{}", other.err);
    assert_eq!(desk.text("usual.out.csv"), desk.text("other.out.csv"));
    desk.run("verify other.out.csv --against other.csv --manifest m.json").ok();
    // Every command that reads a table says so, unless it is told to be quiet.
    for words in ["inspect other.csv", "train other.csv -t y --model ridge -o m"] {
        assert!(desk.run(words).ok().err.contains("separator `;` detected"), "{words}");
    }
    assert_eq!(desk.run("train other.csv -t y --model ridge -q -o m").ok().err, "");
    desk.run("predict m usual.csv -o predicted.csv --metrics").ok();
}

#[test]
fn a_value_that_is_not_a_number_is_reported() {
    let desk = TestDir::new();
    desk.put("t.csv", table(",", ".").replacen("0.125\n", "?\n", 1));
    let said = desk.run("inspect t.csv").ok();
    assert!(said.err.contains("note: column `y`: 1 × `?` read as missing"), "{}", said.err);
    assert!(said.out.contains("y       floats"), "{}", said.out);
    desk.put("t.csv", table(",", ".").replacen("9.25,", "<0.01,", 1));
    let said = desk.run("inspect t.csv").ok();
    let expected = "note: column `x` is read as text because of 1 of 60 values: `<0.01` in row 2 (line 3); \
                    if it marks a missing value, set --null '<0.01'\n";
    assert_eq!(said.err, expected);
    let said = desk.run("inspect t.csv --null <0.01").ok();
    assert!(said.err.is_empty() && said.out.contains("x       floats"), "{}{}", said.out, said.err);
}

#[test]
fn encodings_are_read() {
    let desk = TestDir::new();
    let text = table(",", ".").replace("site", "fläche");
    let latin: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    desk.put("t.csv", latin);
    let said = desk.run("inspect t.csv").ok();
    assert!(said.out.contains("fläche") && said.err.contains("read as Latin-1"), "{}", said.err);
    assert!(desk.run("inspect t.csv --encoding latin-1").ok().err.is_empty());
    assert_eq!(desk.run("inspect t.csv --encoding utf-8").code, Some(1));
    let wide = std::iter::once(0xfeff).chain(text.encode_utf16());
    desk.put("t.csv", wide.flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
    let said = desk.run("inspect t.csv").ok();
    assert!(said.out.contains("fläche") && said.err.contains("read as UTF-16"), "{}", said.err);
}

#[test]
fn the_columns_are_listed_if_the_target_is_missing() {
    let desk = TestDir::new();
    desk.put("t.csv", table(",", "."));
    for words in
        ["augment t.csv -o o.csv", "train t.csv -o m", "compare t.csv -o c", "regress t.csv"]
    {
        let said = desk.run(words);
        let hint = "hint: the columns of `t.csv` are x (floats), site (text), y (floats)\n";
        assert!(said.code == Some(1) && said.err.ends_with(hint), "{words}: {}", said.err);
    }
}

#[test]
fn files_of_others_are_not_overwritten() {
    let desk = TestDir::new();
    desk.put("t.csv", table(",", ".")).put("precious.csv", "id,notes\n1,mine\n");
    for words in [
        "augment t.csv -t y -o precious.csv",
        "train t.csv -t y --model ridge -o precious.csv",
        "regress t.csv -t y --plot precious.svg",
    ] {
        desk.put("precious.svg", "<svg/>");
        let said = desk.run(words);
        assert_eq!(said.code, Some(1), "{words}");
        assert!(said.err.contains("exists, and "), "{}", said.err);
        assert!(said.err.contains("hint: choose another name, or overwrite it with --force"));
        assert_eq!(desk.text("precious.csv"), "id,notes\n1,mine\n");
        desk.run(&format!("{words} --force")).ok();
        desk.put("precious.csv", "id,notes\n1,mine\n");
    }
}

#[test]
fn own_files_are_overwritten_by_their_kind_only() {
    let desk = TestDir::new();
    desk.put("t.csv", table(",", "."));
    let commands = [
        "augment t.csv -t y --manifest m.json --save-fitted f.json --plot p.svg -o out.parquet",
        "augment t.csv -t y --provenance -o out.csv",
        "augment t.csv -t y -o out.arrow",
        "train t.csv -t y --model ridge -o model",
        "predict model t.csv -o predicted.parquet",
        "export model model.onnx",
    ];
    for _ in 0..2 {
        for words in commands {
            desk.run(words).ok();
        }
    }
    for words in [
        "train t.csv -t y --model ridge -o out.parquet",
        "augment t.csv -t y --format parquet -o model",
        "augment t.csv -t y --manifest f.svg --plot m.svg -o other.csv",
        "augment t.csv -t y --save-fitted p.svg -o other.csv",
    ] {
        desk.put("f.svg", "{}").put("m.svg", desk.get("m.json"));
        assert_eq!(desk.run(words).code, Some(1), "{words}");
    }
    // A folder of results is replaced on demand.
    let compare = "compare t.csv -t y --hidden 4 --epochs 2 --folds 2 --repeats 1 --methods erm,noise --models mlp -q -o c";
    desk.run(compare);
    let again = desk.run(compare);
    assert!(again.err.contains("overwrite with --force"), "{}", again.err);
    assert!(matches!(desk.run(&format!("{compare} --force")).code, Some(0 | 3)));
}

#[test]
fn the_first_command_of_the_readme_can_be_repeated() {
    let desk = TestDir::with_cars();
    let words = "augment cars.csv --target mpg --copies 3 --output more.csv";
    desk.run(words).ok();
    let said = desk.run(words);
    assert_eq!(said.code, Some(1));
    let expected = "error: `more.csv` exists, and has no mark that Windlass wrote it\n\
                    hint: choose another name, or overwrite it with --force\n";
    assert_eq!(said.err, expected);
    desk.run(&format!("{words} --force")).ok();
}

#[test]
#[cfg(target_os = "linux")]
fn a_wide_table_stays_within_memory() {
    const COLUMNS: usize = 50_001;
    let desk = TestDir::new();
    let names: Vec<String> = (0..COLUMNS).map(|column| format!("x{column}")).collect();
    let mut text = names.join(",") + "\n";
    for row in 0..40 {
        let values: Vec<String> =
            (0..COLUMNS).map(|column| format!("{}.25", (row * 7 + column) % 89)).collect();
        text += &(values.join(",") + "\n");
    }
    desk.put("wide.csv", text);
    // Addresses, not only memory: the table alone took eleven times as many.
    let said = desk.shell("ulimit -v 1500000; windlass inspect wide.csv --memory 512MiB").ok();
    assert!(said.out.starts_with("wide.csv: 40 rows, 50001 columns"), "{}", &said.out[..99]);
}

#[test]
fn escape_sequences_are_not_printed() {
    let desk = TestDir::new();
    let red = "\u{1b}[31m\u{9b}2J\u{202e}größe";
    let rows: Vec<String> =
        (0..20).map(|row| format!("{}.5,{},{red}\n", row * row % 7, row)).collect();
    desk.put("t.csv", format!("{red},y,g\n{}", rows.concat()));
    let shown = r"\u001b[31m\u009b2J\u202egröße";
    let said = desk.run("inspect t.csv").ok();
    assert!(said.out.contains(shown) && !said.out.contains('\u{1b}'), "{}", said.out);
    let said = desk.run("inspect t.csv --json").ok();
    assert!(!said.out.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{}", said.out);
    let json: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(json["columns"][0]["name"], red);
    let said = desk.run(&format!("inspect '{red}.csv'"));
    assert!(said.err.contains(shown) && !said.err.contains('\u{1b}'), "{}", said.err);
}

/// Also the command as the README builds it names what is missing, before it does anything.
#[test]
fn files_that_need_a_cargo_feature_are_read_or_name_it() {
    let desk = TestDir::new();
    desk.put("brotli.parquet", std::fs::read("tests/brotli.parquet").unwrap());
    let said = desk.run("inspect brotli.parquet");
    if cfg!(feature = "brotli") {
        assert!(said.ok().out.contains("8 rows"));
    } else {
        let refused = "has columns compressed with Brotli, which this build does not read";
        assert!(said.err.contains(refused), "{}", said.err);
        assert!(said.err.contains("cargo feature `brotli`"), "{}", said.err);
    }
}
