//! Files written by 0.1.0 are read, with the same predictions and rows (release-0.1.0/README.md).

mod common;

use std::path::Path;

use common::TestDir;

fn kept(name: &str) -> Vec<u8> {
    std::fs::read(Path::new("tests/release-0.1.0").join(name)).unwrap()
}

fn desk_with(names: &[&str]) -> TestDir {
    let desk = TestDir::new();
    for name in names {
        desk.put(name, kept(name));
    }
    desk
}

/// The columns that a model added, line by line.
fn kept_predictions(model: &str) -> Vec<String> {
    let text = String::from_utf8(kept("predictions.csv")).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let prefix = format!("{model}:");
    let columns: Vec<usize> =
        (0..rows[0].len()).filter(|&column| rows[0][column].starts_with(&prefix)).collect();
    let line = |row: &Vec<&str>| {
        let cells: Vec<&str> =
            columns.iter().map(|&column| row[column].trim_start_matches(&prefix)).collect();
        cells.join(",")
    };
    // line.csv has fewer rows than cars.csv.
    rows.iter().map(line).filter(|line| line != ",").collect()
}

#[test]
fn models_predict_the_same() {
    for kind in ["network", "committee", "ridge", "forest", "anchor", "auto"] {
        let table = if kind == "auto" { "line.csv" } else { "cars.csv" };
        let model = format!("{kind}.windlass");
        let desk = desk_with(&[table, &model]);
        desk.run(&format!("predict {model} {table} --force --output out.csv")).ok();
        let expected = kept_predictions(kind);
        let columns = expected[0].split(',').count();
        let last = |line: &str| {
            let (before, _) = line.rmatch_indices(',').nth(columns - 1).unwrap();
            line[before + 1..].to_owned()
        };
        let predicted: Vec<String> = desk.text("out.csv").lines().map(last).collect();
        assert_eq!(predicted, expected, "{kind}");
    }
}

#[test]
fn fitted_state_makes_the_same_rows() {
    let desk = desk_with(&["cars.csv", "fitted.json"]);
    desk.run("augment cars.csv --fitted fitted.json --manifest out.json --output out.csv").ok();
    // The hash by which an output of 0.1.0 knows what it was made with.
    assert!(desk.text("out.json").contains("xxh3-128:3adb8fe0d8d4d1767823517040b68064"));
    assert_eq!(desk.text("out.csv"), String::from_utf8(kept("fitted-augmented.csv")).unwrap());
}

#[test]
fn augmented_table_and_manifest_are_verified() {
    let desk = desk_with(&["cars.csv", "augmented.parquet", "manifest.json"]);
    desk.run("verify augmented.parquet --against cars.csv").ok();
    desk.run("verify augmented.parquet --against cars.csv --manifest manifest.json").ok();
    // Today's rows differ, because defaults changed, so the checks above can fail.
    desk.run("augment cars.csv --target mpg --provenance --output again.csv").ok();
    let said = desk.run("verify again.csv --against cars.csv --manifest manifest.json");
    assert_ne!(said.code, Some(0), "{}", said.out);
}
