//! `windlass show`, and what `predict` says about rows unlike those of the training table.

mod common;

use common::TestDir;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn every_kind_of_file_is_explained() {
    let desk = TestDir::with_cars();
    desk.run("train cars.csv -t mpg --model ridge -o m.windlass").ok();
    let augment = "augment cars.csv -t mpg --save-fitted f.json --manifest m.json -o out.parquet";
    desk.run(augment).ok();
    for (file, kind, expected) in [
        ("m.windlass", "model", ["ridge", "398 rows, xxh3-128:", "RMSE"]),
        ("f.json", "fitted augmentation", ["398 rows", "ada", "seed 0"]),
        ("m.json", "manifest of an augmented table", ["398 rows", "ada", "mpg"]),
        ("out.parquet", "augmented table", ["796", "not marked", "xxh3-128:"]),
    ] {
        let text = desk.run(&format!("show {file}")).ok().out;
        assert!(text.starts_with(&format!("{file}: {kind}\n")), "{text}");
        for word in expected {
            assert!(text.contains(word), "{file}: no `{word}` in\n{text}");
        }
        let value = json(&desk.run(&format!("show {file} --json")).ok().out);
        assert_eq!(value["kind"], kind, "{value}");
        assert!(value["bytes"].as_u64().unwrap() > 0 && value["written"].is_string(), "{value}");
    }
}

#[test]
fn files_of_others_are_refused() {
    let desk = TestDir::with_cars();
    desk.put("a.json", "{\"a\": 1}").put("b.bin", "hello");
    for file in ["cars.csv", "a.json", "b.bin"] {
        let said = desk.run(&format!("show {file}"));
        assert_eq!(said.code, Some(1), "{}", said.err);
    }
    assert!(desk.run("show cars.csv").err.contains("was not written by Windlass"));
    assert!(desk.run("show none.bin").err.contains("does not exist"));
}

#[test]
fn predict_without_output_measures_or_shows_rows() {
    let desk = TestDir::with_cars();
    desk.run("train cars.csv -t mpg --model ridge -o m.windlass").ok();
    let said = desk.run("predict m.windlass cars.csv").ok();
    assert!(said.out.contains("RMSE"), "{}", said.out);
    let header = desk.text("cars.csv").lines().next().unwrap().to_owned();
    let place = header.split(',').position(|name| name == "mpg").unwrap();
    let without_target: String = desk
        .text("cars.csv")
        .lines()
        .map(|line| {
            let cells = line.split(',').enumerate().filter(|(cell, _)| *cell != place);
            cells.map(|(_, cell)| cell).collect::<Vec<_>>().join(",") + "\n"
        })
        .collect();
    desk.put("new.csv", without_target);
    let said = desk.run("predict m.windlass new.csv").ok();
    assert!(said.out.contains("prediction"), "{}", said.out);
    assert_eq!(said.out.lines().count(), 11, "{}", said.out);
    assert!(said.err.contains("398 rows predicted; write all to a file with --output"));
    let said = desk.run("predict m.windlass new.csv -o p.csv").ok();
    assert!(said.err.contains("p.csv: 398 rows with predictions"), "{}", said.err);
}

#[test]
fn predict_counts_rows_outside_the_training_range() {
    let desk = TestDir::new();
    let rows = |low: usize, high: usize| -> String {
        let row = |row| format!("{}.5,{}.25,{}\n", row, row * row % 17, 2 * row);
        (low..high).map(row).collect::<Vec<_>>().concat()
    };
    desk.put("train.csv", format!("a,b,y\n{}", rows(0, 60)));
    desk.put("test.csv", format!("a,b,y\n{}", rows(50, 70)));
    desk.put("gap.csv", "a,b,y\n1.5,,2\n2.5,,4\n");
    desk.run("train train.csv -t y --model ridge -o m.windlass").ok();
    let said = desk.run("predict m.windlass test.csv -o p.csv").ok();
    let note = "note: 10 rows have a value of `a` outside the range of the training rows";
    assert!(said.err.contains(note), "{}", said.err);
    let said = desk.run("predict m.windlass gap.csv -o q.csv").ok();
    assert!(said.err.contains("note: `b` is missing in every row"), "{}", said.err);
}

#[test]
fn manuals_and_completions_create_their_folder() {
    let desk = TestDir::new();
    desk.run("man pages/man1").ok();
    assert!(desk.path("pages/man1/windlass-augment.1").exists());
    desk.run("completions bash shells/bash").ok();
    assert!(desk.path("shells/bash/windlass.bash").exists());
    assert!(desk.run("help augment").ok().out.contains("--copies"));
}
