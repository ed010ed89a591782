//! `windlass verify`: what it finds.

mod common;

use common::TestDir;

fn desk_with_output() -> TestDir {
    let desk = TestDir::with_cars();
    let words = "augment cars.csv -t mpg --copies 2 --provenance --manifest out.json --quiet";
    desk.run(&format!("{words} --force -o out.csv")).ok();
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
        "out.csv: 2 of 1194 rows differ\n  row 4 (line 5), column `name`: amc rebel instead of amc rebel sst\n  \
         row 501 (line 502), column `acceleration`: {} instead of {value}\n",
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
    assert_eq!(desk.run(VERIFY).code, Some(1));
    let said = desk.run(&format!("{VERIFY} --partial")).ok();
    assert!(said.out.contains("398 rows that augment wrote are missing"), "{}", said.out);
    let mut doubled = lines.clone();
    doubled.insert(10, lines[9]);
    desk.put("out.csv", doubled.join("\n"));
    let said = desk.run(VERIFY);
    assert_eq!(said.code, Some(1));
    assert!(
        said.out.contains("row 10 (line 11): copy 0 of source 8 instead of no row"),
        "{}",
        said.out
    );
    let json = desk.run(&format!("{VERIFY} --json"));
    let verdict: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(verdict["differing"], 1);
}

#[test]
fn what_is_written_is_compared_as_it_is_written() {
    let desk = TestDir::new();
    // Words that look like something else, in a table that knows that they are words.
    let table = "code,x,y\n\"007\",1.5,2\nTrue,2.5,3\n0.50,4.5,1\nNA,8.5,7\n,3.5,4\nword,1.0,2\n";
    desk.put("words.csv", table);
    desk.convert("words.csv", "words.parquet");
    let words = "augment words.parquet -t y --clusters 2 --provenance --manifest m.json --quiet";
    desk.run(&format!("{words} --force -o out.csv")).ok();
    let verify = "verify out.csv --against words.parquet --manifest m.json";
    desk.run(verify).ok();
    // A value that would be cut off, and one that would be missing, in the right type.
    let text = desk.text("out.csv");
    for (from, to) in [(",2.5,3,", ",2.5,3.9,"), (",2.5,", ",garbage,"), ("True", "true")] {
        desk.put("out.csv", text.replacen(from, to, 1));
        let said = desk.run(verify);
        assert_eq!(said.code, Some(1), "{from}: {}{}", said.out, said.err);
    }
}

#[test]
fn a_path_inside_a_file_is_not_followed() {
    let desk = TestDir::with_cars();
    let anchors: Vec<String> = (0..398).map(|row| format!("1,{}", row % 7)).collect();
    desk.put("anchors.csv", format!("one,m\n{}\n", anchors.join("\n")));
    let words = "augment cars.csv -t mpg --anchors matrix:anchors.csv --provenance --quiet";
    desk.run(&format!("{words} -o out.parquet")).ok();
    let said = desk.run("verify out.parquet --against cars.csv");
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("needs --anchors\nhint: set --anchors matrix:FILE"), "{}", said.err);
    desk.run("verify out.parquet --against cars.csv --anchors matrix:anchors.csv").ok();
}

#[test]
fn an_output_without_a_header_is_verified() {
    let desk = TestDir::with_cars();
    let text = desk.text("cars.csv");
    desk.put("rows.csv", text.split_once('\n').unwrap().1);
    let words = "augment rows.csv --no-header -t column_1 --provenance --manifest out.json";
    desk.run(&format!("{words} --quiet -o out.csv")).ok();
    let verify = "verify out.csv --no-header --against rows.csv --manifest out.json";
    let said = desk.run(verify).ok();
    assert_eq!(said.out, "out.csv: 796 rows, all match\n");
    let changed = desk.text("out.csv").replacen("amc rebel sst", "amc rebel", 1);
    desk.put("out.csv", changed);
    let said = desk.run(verify);
    assert_eq!(said.code, Some(1));
    assert!(
        said.out.contains("column `column_9`: amc rebel instead of amc rebel sst"),
        "{}",
        said.out
    );
}
