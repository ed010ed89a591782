//! Numbers that are too large are refused before anything is allocated.

mod common;

use std::fmt::Write as _;

use common::TestDir;
use common::refusals::table;

const HUGE: &str = "18446744073709551615";

#[track_caller]
fn refused(desk: &TestDir, words: &str, why: &str) {
    let before = desk.files();
    let said = desk.run(words);
    assert!(matches!(said.code, Some(1 | 2)), "{words}: {said:?}");
    assert!(said.err.contains(why), "{words}: {}", said.err);
    assert!(!said.err.contains("panicked"), "{words}: {}", said.err);
    assert_eq!(desk.files(), before, "{words}");
}

#[test]
fn options_have_upper_limits() {
    let desk = TestDir::new();
    desk.put("t.csv", table(60));
    let augment = "augment t.csv -t y -o out.csv";
    refused(&desk, &format!("{augment} --copies {HUGE}"), "copies must be in [1, 1e6]");
    refused(&desk, &format!("{augment} --copies 1000001"), "copies must be in [1, 1e6]");
    for grid in ["grid", "published-grid"] {
        let words = format!("{augment} --gamma {grid}:{HUGE}");
        refused(&desk, &words, "values must be in [2, 1e6]");
    }
    refused(&desk, &format!("{augment} --clusters {HUGE}"), "clusters");
    refused(&desk, &format!("{augment} --anchors bins:a --clusters {HUGE}"), "");
    let train = "train t.csv -t y -o m";
    refused(
        &desk,
        &format!("{train} --model forest --trees {HUGE}"),
        "trees must be in [1, 10000]",
    );
    refused(&desk, &format!("{train} --epochs {HUGE}"), "epochs must be in [1, 1e6]");
    refused(&desk, &format!("{train} --hidden {HUGE}"), "training this network needs");
    refused(&desk, &format!("{train} --hidden {HUGE},{HUGE}"), "training this network needs");
    refused(&desk, &format!("{train} --augment ada --manifold {HUGE}"), "hint: ");
    for split in ["rows", "time:a"] {
        let words = format!("{train} --committee {HUGE} --split {split}");
        refused(&desk, &words, "an average of 18446744073709551615");
    }
    // More rows than there are is all of them.
    desk.run(&format!("{train} --batch {HUGE} --patience {HUGE} --epochs 2 --hidden 4")).ok();
    desk.run(&format!("{train} --force --model forest --trees 2 --leaf {HUGE}")).ok();
    let compare = "compare t.csv -t y -o c --epochs 1";
    for option in ["--folds", "--repeats", "--tune"] {
        refused(&desk, &format!("{compare} {option} 65535"), "is not in ");
    }
    refused(&desk, &format!("{compare} --sizes {HUGE}"), "cannot train on");
    refused(&desk, "tune t.csv -t y -o c --trials 65535", "is not in 2..=10000");
}

/// The same numbers in files.
#[test]
fn files_have_the_limits_of_options() {
    let desk = TestDir::new();
    desk.put("t.csv", table(60));
    desk.run("augment t.csv -t y -o out.csv --manifest m.json --save-fitted f.json").ok();
    desk.run("verify out.csv --against t.csv --manifest m.json").ok();
    for name in ["m.json", "f.json"] {
        let text = desk.text(name);
        let changed = text.replacen("\"copies\": 1", &format!("\"copies\": {HUGE}"), 1);
        let changed = changed.replacen("\"copies\":1", &format!("\"copies\":{HUGE}"), 1);
        assert_ne!(text, changed, "{name}");
        desk.put(name, changed);
    }
    refused(
        &desk,
        "verify out.csv --against t.csv --manifest m.json",
        "copies must be in [1, 1e6]",
    );
    refused(&desk, "augment t.csv --fitted f.json -o new.csv", "copies must be in [1, 1e6]");
}

#[test]
fn categories_with_many_levels_are_counted_before_they_are_fitted() {
    let desk = TestDir::new();
    let mut text = String::from("a,id,y\n");
    for row in 0..3000 {
        writeln!(text, "{}.5,n{row},{}.25", row * 37 % 101, row % 11).unwrap();
    }
    desk.put("t.csv", text);
    let train = "train t.csv -t y -o m --categorical id --memory 64MiB";
    for model in ["--model ridge", "--model forest", "--model gp", "--auto", "--epochs 1"] {
        let words = format!("{train} {model}");
        refused(&desk, &words, "column `id` has 3000 levels");
        refused(&desk, &words, "--exclude id");
    }
    let compare = "compare t.csv -t y -o c --epochs 1 --categorical id --memory 64MiB";
    refused(&desk, compare, "column `id` has 3000 levels");
    // What the hint says works.
    desk.run("train t.csv -t y -o m --model ridge --memory 64MiB --exclude id").ok();
    let words = "train t.csv -t y -o m --model gp --valid none --memory 32MiB --exclude id";
    refused(&desk, words, "covariance matrices need 45 MiB, but the limit is 32 MiB");
    refused(&desk, words, "--memory");
    // Folds have fewer rows than the table, and so exact processes with larger matrices.
    for model in ["--auto", "--model gp"] {
        let words = format!("train t.csv -t y -o m {model} --memory 64MiB --exclude id");
        refused(&desk, &words, "covariance matrices need ");
    }
}

/// Reports and plans can be passed on without saying where files lie on this machine.
#[test]
fn folders_of_the_machine_are_not_written_to_outputs() {
    let desk = TestDir::new();
    desk.put("in/t.csv", table(60)).put("here/x", "");
    let place = desk.path("").display().to_string();
    let quick = "--hidden 4 --epochs 1";
    let line = format!(
        "cd here && windlass compare {place}/in/t.csv -t y -o {place}/here/c {quick} --folds 2 --repeats 1 \
         --methods erm,ada --models mlp; windlass train {place}/in/t.csv -t y --output={place}/m {quick} \
         --report {place}/here/r.html; windlass tune {place}/in/t.csv -t y -o {place}/here/s {quick} \
         --trials 2 --folds 2"
    );
    let said = desk.shell(&line);
    let place = place.trim_end_matches('/');
    for name in ["c/report.html", "c/plan.json", "c/results.json", "r.html", "s/report.html"] {
        let text = desk.text(&format!("here/{name}"));
        assert!(!text.contains(place) && text.contains("t.csv"), "{name}: {said:?}");
    }
    assert!(desk.text("here/c/results.json").contains("compare t.csv -t y -o c "));
}

/// What the hints name exists.
#[test]
#[cfg(unix)]
fn files_that_may_not_be_read_have_a_hint() {
    use std::os::unix::fs::PermissionsExt as _;
    let desk = TestDir::new();
    desk.put("t.csv", table(60));
    std::fs::set_permissions(desk.path("t.csv"), std::fs::Permissions::from_mode(0o0)).unwrap();
    if std::fs::File::open(desk.path("t.csv")).is_ok() {
        eprintln!("skipped: permissions do not apply to this user");
        return;
    }
    let said = desk.run("inspect t.csv -t y");
    assert!(said.err.contains("hint: check who may read"), "{}", said.err);
}
