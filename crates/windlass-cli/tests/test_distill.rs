//! `windlass distill`, `train --auto --distill` and `compare --models distilled`.

mod common;

use std::fmt::Write as _;

use common::TestDir;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
}

/// A curve with noise: trees and a Gaussian process follow it, a line does not.
fn curve(rows: usize, shift: usize) -> String {
    let mut text = String::from("id,a,b,kind,y\n");
    for row in shift..shift + rows {
        let (a, b) = ((row * 37 % 101) as f64 / 10.0, (row * 53 % 89) as f64 / 10.0);
        let noise = (row * 71 % 17) as f64 / 40.0;
        let y = a.sin() * 3.0 + 0.3 * b + [0.0, 2.0][row % 2] + noise;
        writeln!(text, "r{row},{a},{b},{},{y}", ["x", "y"][row % 2]).unwrap();
    }
    text
}

#[test]
fn a_model_is_distilled_used_and_shown() {
    let desk = TestDir::new();
    desk.put("train.csv", curve(120, 0))
        .put("test.csv", curve(60, 500))
        .put("more.csv", curve(50, 900));
    desk.run("train train.csv -t y --auto -o t.windlass --quiet").ok();
    let said = desk.run("distill t.windlass train.csv -o s.windlass --json").ok();
    let summary = json(&said.out);
    let (student, teacher) = (&summary["student"], &summary["teacher"]);
    assert_eq!(summary["rows"], 120);
    assert_eq!(summary["labeled"], 120 * 41);
    for side in [student, teacher] {
        assert_eq!(side["expected"]["rows"], 120, "{summary}");
        assert!(number(&side["microseconds"]) > 0.0);
    }
    assert!(
        number(&student["bytes"]) < 1e5 && number(&student["bytes"]) < number(&teacher["bytes"])
    );
    assert!(summary["difference"]["low"].is_number() && summary["clearly_worse"].is_boolean());
    // The expected error is about that of new rows.
    let metrics = json(&desk.run("predict s.windlass test.csv --metrics --json").ok().out);
    let ratio = number(&metrics["rmse"]) / number(&student["expected"]["rmse"]);
    assert!((0.5..1.6).contains(&ratio), "{ratio}");
    desk.run("predict s.windlass test.csv --interval 90% -o p.csv --quiet").ok();
    assert!(desk.text("p.csv").starts_with("id,a,b,kind,y,prediction,prediction_low"));
    desk.run("export s.windlass s.onnx").ok();
    let shown = desk.run("show s.windlass").ok().out;
    for words in [
        "network 64-64",
        "teacher    ensemble of",
        "120 of the table (out-of-fold), 4800 synthetic (mixup)",
        "expected",
    ] {
        assert!(shown.contains(words), "no `{words}` in\n{shown}");
    }
    let shown = json(&desk.run("show s.windlass --json").ok().out);
    assert!(shown["distillation"]["teacher"]["auto"].is_object(), "{shown}");

    // The same seed, the same student, whatever the number of threads; another seed, another one.
    desk.run("distill t.windlass train.csv -o s1.windlass --threads 1 --quiet").ok();
    assert_eq!(desk.get("s.windlass"), desk.get("s1.windlass"));
    desk.run("distill t.windlass train.csv -o s2.windlass --seed 1 --quiet").ok();
    assert_ne!(desk.get("s.windlass"), desk.get("s2.windlass"));

    let words = "distill t.windlass train.csv --unlabeled more.csv --method ada --alpha 5 --copies 3 \
                 --hidden 16 --steps 300 --in-sample-labels -o u.windlass";
    let said = desk.run(words).ok();
    for words in [
        "network 16",
        "120 of the table (in-sample), 360 synthetic (ada), 50 unlabeled",
        "teacher",
        "kB",
        "µs",
    ] {
        assert!(said.err.contains(words), "no `{words}` in\n{}", said.err);
    }
    let words =
        "distill t.windlass train.csv --student boosting --no-expected-error --json -o b.windlass";
    let summary = json(&desk.run(words).ok().out);
    assert!(summary["student"]["expected"].is_null() && summary["difference"].is_null());
    assert!(desk.run("show b.windlass").ok().out.contains("boosted trees"));
}

/// A tiny student cannot follow the curve: the command says so, and what to do.
#[test]
fn a_student_that_is_clearly_worse_is_reported() {
    let desk = TestDir::new();
    desk.put("train.csv", curve(120, 0));
    desk.run("train train.csv -t y --model gp --split rows -o t.windlass --quiet").ok();
    let worse = "distill t.windlass train.csv --hidden 1 --steps 50";
    let said = desk.run(&format!("{worse} -o s.windlass")).ok();
    assert!(
        said.err.contains("It is clearly worse than its teacher. Try more --copies"),
        "{}",
        said.err
    );
    let summary = json(&desk.run(&format!("{worse} -o s.windlass --force --json")).ok().out);
    assert_eq!(summary["clearly_worse"], true);
    assert!(number(&summary["difference"]["low"]) > 0.0);
}

#[test]
fn automatic_selection_is_trained_and_distilled_at_once() {
    let desk = TestDir::new();
    desk.put("train.csv", curve(60, 0));
    let said = desk.run("train train.csv -t y --auto --distill -o s.windlass --report r.html").ok();
    assert!(said.err.starts_with("s.windlass: network 64-64"), "{}", said.err);
    assert!(said.err.contains("teacher    ensemble of"), "{}", said.err);
    assert!(desk.text("r.html").contains("Expected error on new rows"));
    desk.run("train train.csv -t y --auto -o t.windlass --quiet").ok();
    desk.run("distill t.windlass train.csv -o again.windlass --quiet").ok();
    assert_eq!(desk.get("s.windlass"), desk.get("again.windlass"));
    let said = desk.run("train train.csv -t y --distill -o no.windlass");
    assert!(said.code != Some(0) && said.err.contains("--auto"), "{}", said.err);
}

#[test]
fn distilled_networks_are_compared() {
    let desk = TestDir::new();
    desk.put("train.csv", curve(120, 0));
    let words = "compare train.csv -t y --methods none --models mlp,distilled --epochs 2 --folds 3 \
                 --repeats 1 -o out --json";
    let said = desk.run(words);
    assert!(matches!(said.code, Some(0 | 3)), "{}", said.err);
    let summary = json(&said.out);
    let is_distilled = |line: &&Value| line["entrant"]["model"] == "distilled";
    let line = summary["lines"].as_array().unwrap().iter().find(is_distilled).unwrap();
    // It follows the curve, and a network after two epochs does not.
    assert_eq!(line["finding"], "better", "{line}");
    assert!(
        said.out.contains("train --auto --distill") || said.out.contains("--auto --distill"),
        "{}",
        said.out
    );
}
