//! Numbers that are too large are refused before anything is allocated.

mod common;

use std::fmt::Write as _;

use common::Desk;
use common::refusals::table;

#[track_caller]
fn refused(desk: &Desk, words: &str, why: &str) {
    let before = desk.files();
    let said = desk.run(words);
    assert!(matches!(said.code, Some(1 | 2)), "{words}: {said:?}");
    assert!(said.err.contains(why), "{words}: {}", said.err);
    assert!(!said.err.contains("panicked"), "{words}: {}", said.err);
    assert_eq!(desk.files(), before, "{words}");
}

#[test]
fn categories_with_many_levels_are_counted_before_they_are_fitted() {
    let desk = Desk::new();
    let mut text = String::from("a,id,y\n");
    for row in 0..3000 {
        writeln!(text, "{}.5,n{row},{}.25", row * 37 % 101, row % 11).unwrap();
    }
    desk.put("t.csv", text);
    let train = "train t.csv -t y -o m --categorical id --memory 64MiB";
    for model in ["--model ridge", "--model forest", "--auto", "--epochs 1"] {
        let words = format!("{train} {model}");
        refused(&desk, &words, "column `id` has 3000 levels");
        refused(&desk, &words, "--exclude id");
    }
    let compare = "compare t.csv -t y -o c --epochs 1 --categorical id --memory 64MiB";
    refused(&desk, compare, "column `id` has 3000 levels");
    // What the hint says works.
    desk.run("train t.csv -t y -o m --model ridge --memory 64MiB --exclude id").ok();
}
