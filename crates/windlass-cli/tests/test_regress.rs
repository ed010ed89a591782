//! `windlass regress`.

mod common;

use std::fmt::Write as _;

use common::TestDir;
use serde_json::Value;

/// Sites shift x, and a hidden cause moves x and y together: least squares is misled, and the more so at
/// a new site.
fn sites() -> String {
    let mut text = String::from("site,x,y\n");
    for row in 0..400_u32 {
        let site = row % 8;
        let noise = |salt: u32| f64::from((row * 7919 + salt * 104_729) % 1000) / 500.0 - 1.0;
        let (hidden, own) = (noise(1), noise(2));
        let x = f64::from(site) - 3.5 + hidden + 0.3 * own;
        let y = x - 3.0 * hidden + 0.3 * noise(3);
        writeln!(text, "s{site},{x},{y}").unwrap();
    }
    text
}

#[test]
fn the_path_goes_from_least_squares_to_the_anchors() {
    let desk = TestDir::new();
    desk.put("sites.csv", sites());
    let words = "regress sites.csv --target y --anchors column:site --anchor-gamma 0,1,10,1000";
    let said = desk.run(&format!("{words} --json --plot path.svg")).ok();
    let path: Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((path["groups"].as_u64(), path["folds"].as_u64()), (Some(8), Some(8)));
    assert_eq!(path["names"], serde_json::json!(["x"]));
    let of = |row: usize, what: &str| path["rows"][row][what].as_f64().unwrap();
    let slope = |row: usize| path["rows"][row]["coefficients"][0].as_f64().unwrap();
    // The truth is 1; what goes on within sites says −2 or so.
    assert!(slope(0) < -1.0 && (slope(3) - 1.0).abs() < 0.1, "{path}");
    assert!(slope(0) < slope(1) && slope(1) < slope(2) && slope(2) < slope(3));
    // Least squares is best on the rows it has seen.
    assert!((0..4).all(|row| of(1, "in_groups") <= of(row, "in_groups") + 1e-12));
    assert!(of(3, "worst_group") < of(0, "worst_group"));
    for words in ["within groups", "out of groups", "worst group", "γ"] {
        assert!(desk.text("path.svg").contains(words), "{words}");
    }
    let table = desk.run(words).ok().out;
    assert!(table.contains("out of groups") && table.contains("intercept"), "{table}");
}

/// Coefficients are those of least squares in the units of the table, found here by hand.
#[test]
fn coefficients_have_units() {
    let desk = TestDir::new();
    let mut text = String::from("g,a,b,y\n");
    for row in 0..40_u32 {
        let (a, b) = (f64::from(row * 13 % 37) * 100.0, f64::from(row * 29 % 31) / 1000.0);
        let y = 0.5 * a - 300.0 * b + 7.0;
        writeln!(text, "{},{a},{b},{y}", ["u", "v"][row as usize % 2]).unwrap();
    }
    desk.put("t.csv", text);
    let said = desk.run("regress t.csv -t y --anchors column:g --anchor-gamma 1 --json").ok();
    let path: Value = serde_json::from_str(&said.out).unwrap();
    let row = &path["rows"][0];
    for (got, want) in [
        (&row["coefficients"][0], 0.5),
        (&row["coefficients"][1], -300.0),
        (&row["intercept"], 7.0),
    ] {
        assert!((got.as_f64().unwrap() / want - 1.0).abs() < 1e-9, "{path}");
    }
    assert!(row["out_of_groups"].as_f64().unwrap() < 1e-8);
}
