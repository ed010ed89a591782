//! The summaries of the main commands, compared with `summaries.txt`; `WINDLASS_BLESS=1` writes that file.

mod common;

use std::fmt::Write as _;

use common::TestDir;

const SNAPSHOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/summaries.txt");

/// Commands that run in one folder, in this order.
const COMMANDS: [&str; 23] = [
    "inspect cars.csv",
    "inspect cars.csv --target mpg",
    "augment cars.csv --target mpg --provenance --manifest m.json --save-fitted f.json -o out.csv",
    "augment cars.csv --target mpg --method local-mixup --epsilon 0.1sd -o out.parquet",
    "augment cars.csv --target mpg --method smogn -o rare.csv",
    "augment cars.csv --target mpg --rare high --copies 3 -o high.csv",
    "verify out.csv --against cars.csv --manifest m.json",
    "verify cut.csv --against cars.csv --manifest m.json",
    "compare few.csv -t mpg --epochs 5 --repeats 1 --methods none,ada,placebo --models mlp,ridge -o compared",
    "tune few.csv -t mpg --trials 2 --folds 3 -o tuned",
    "train cars.csv -t mpg --epochs 5 --augment ada -o network.windlass",
    "train cars.csv -t mpg --model ridge --split time:model_year -o ridge.windlass",
    "train few.csv -t mpg --auto -o auto.windlass",
    "predict network.windlass new.csv",
    "predict network.windlass cars.csv",
    "predict auto.windlass cars.csv --interval 80% --metrics -o predictions.csv",
    "regress cars.csv -t mpg --anchors column:origin",
    "show network.windlass",
    "show auto.windlass",
    "show out.parquet",
    "show f.json",
    "show m.json",
    "export network.windlass network.onnx",
];

#[test]
fn summaries_are_as_kept() {
    let desk = TestDir::with_cars();
    let cars = desk.text("cars.csv");
    let lines: Vec<&str> = cars.lines().collect();
    desk.put("few.csv", lines[..81].join("\n") + "\n");
    // Unknown categories, values outside the training range and no target.
    let (head, rows) = (lines[0].replacen("mpg,", "", 1), &lines[1..4]);
    let row = |row: &&str| row.split_once(',').unwrap().1.to_owned();
    let rows: Vec<String> = rows.iter().map(row).collect();
    desk.put("new.csv", format!("{head},extra\n{},1\n", rows.join(",1\n")));
    let mut text = String::new();
    for command in COMMANDS {
        let said = desk.run(command);
        if command.ends_with("-o out.csv") {
            let out = desk.text("out.csv").replacen("18", "19", 1);
            let rows: Vec<&str> = out.lines().take(700).collect();
            desk.put("cut.csv", rows.join("\n") + "\n");
        }
        let code = said.code.unwrap_or(-1);
        let printed = normalized(&(said.out + &said.err));
        writeln!(text, "$ windlass {command}\n{printed}[{code}]\n").unwrap();
    }
    if std::env::var_os("WINDLASS_BLESS").is_some() {
        std::fs::write(SNAPSHOT, &text).unwrap();
    }
    let kept = std::fs::read_to_string(SNAPSHOT).unwrap_or_default();
    for (now, then) in text.split("\n$ ").zip(kept.split("\n$ ")) {
        assert_eq!(now, then, "a summary changed: check it, and set WINDLASS_BLESS=1 to accept it");
    }
    assert_eq!(text, kept);
}

/// Replaces the version, and numbers and dates that depend on the machine or the version.
fn normalized(text: &str) -> String {
    let text = text.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    text.lines().map(|line| without_sizes(line) + "\n").collect()
}

/// Replaces the numbers before ` s` and ` bytes`, and the size and the date of a file.
fn without_sizes(line: &str) -> String {
    let line = match line.strip_prefix("  file ") {
        Some(_) => "  file       SIZE, DATE".to_owned(),
        None => line.to_owned(),
    };
    let mut words: Vec<&str> = line.split(' ').collect();
    for place in 1..words.len() {
        let unit = words[place].trim_end_matches([',', ')']);
        let word = words[place - 1];
        let number = word.trim_start_matches('(');
        if matches!(unit, "s" | "bytes") && number.parse::<f64>().is_ok() {
            words[place - 1] = if number == word { "N" } else { "(N" };
        }
    }
    words.join(" ")
}
