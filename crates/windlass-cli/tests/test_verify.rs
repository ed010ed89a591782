//! `windlass verify`: what it finds.

mod common;

use common::Desk;

fn desk_with_output() -> Desk {
    let desk = Desk::with_cars();
    let words = "augment cars.csv -t mpg --copies 2 --provenance --manifest out.json --quiet";
    desk.run(&format!("{words} -o out.csv")).ok();
    desk
}

const VERIFY: &str = "verify out.csv --against cars.csv --manifest out.json";

#[test]
fn a_changed_value_is_found() {
    let desk = desk_with_output();
    let mut lines: Vec<String> = desk.text("out.csv").lines().map(str::to_owned).collect();
    // Row 500 of the output: an acceleration, in its last digit.
    let mut fields: Vec<String> = lines[501].split(',').map(str::to_owned).collect();
    let value: f64 = fields[5].parse().unwrap();
    fields[5] = f64::from_bits(value.to_bits() + 1).to_string();
    lines[501] = fields.join(",");
    // Row 3: an original, its name.
    lines[4] = lines[4].replace("amc rebel sst", "amc rebel");
    desk.put("out.csv", lines.join("\n"));
    let said = desk.run(VERIFY);
    assert_eq!(said.code, Some(1));
    let expected = format!(
        "out.csv: 2 of 1194 rows differ\n  row 3, column `name`: amc rebel instead of amc rebel sst\n  \
         row 500, column `acceleration`: {} instead of {value}\n",
        fields[5]
    );
    assert_eq!(said.out, expected);
}

#[test]
fn rows_may_be_missing_but_not_added_or_reordered() {
    let desk = desk_with_output();
    let text = desk.text("out.csv");
    let lines: Vec<&str> = text.lines().collect();
    let kept: Vec<&str> =
        lines.iter().enumerate().filter(|(at, _)| at % 3 != 1).map(|(_, line)| *line).collect();
    desk.put("out.csv", kept.join("\n"));
    let said = desk.run(VERIFY).ok();
    assert!(said.out.contains("398 rows that augment wrote are not there"), "{}", said.out);
    let mut doubled = lines.clone();
    doubled.insert(10, lines[9]);
    desk.put("out.csv", doubled.join("\n"));
    let said = desk.run(VERIFY);
    assert_eq!(said.code, Some(1));
    assert!(
        said.out.contains("row 9: copy 0 of row 8 instead of no such row here"),
        "{}",
        said.out
    );
    let json = desk.run(&format!("{VERIFY} --json"));
    let verdict: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(verdict["differing"], 1);
}
