//! `windlass inspect`: what it shows.

mod common;

use common::TestDir;

#[test]
fn the_example_is_shown() {
    let desk = TestDir::with_cars();
    let said = desk.run("inspect cars.csv --target mpg --anchors column:origin").ok();
    let expected = "\
cars.csv: 398 rows, 9 columns

column        type      role         missing  range         distinct  reason
mpg           floats    target       0        9 to 46.6     many      --target
cylinders     integers  continuous   0        3 to 8        5         integers
displacement  floats    continuous   0        68 to 455     many      floats
horsepower    integers  continuous   6        46 to 230     many      integers
weight        integers  continuous   0        1613 to 5140  many      integers
acceleration  floats    continuous   0        8 to 24.8     many      floats
model_year    dates     date         0        -             12        dates
origin        text      carried      0        -             3         --anchors
name          text      categorical  0        -             many      text

other possible anchors: --anchors column:cylinders, --anchors column:model_year, --anchors column:origin

augment would generate 398 rows by ada
groups: 3 of 70 to 249 rows: Europe 70, Japan 79, USA 249
";
    assert_eq!(said.out, expected);
    assert!(said.err.is_empty(), "{}", said.err);
}

#[test]
fn it_shows_what_augment_does() {
    let desk = TestDir::new();
    let rows: Vec<String> = (0..60)
        .map(|row| format!("{row},{}.5,{}", row * 7 % 50, if row == 7 { "inf" } else { "1.5" }))
        .collect();
    desk.put("sites.csv", format!("site,a,y\n{}\n", rows.join("\n")));
    let said = desk.run("inspect sites.csv -t y --anchors column:site --drop-missing-target").ok();
    assert!(said.out.contains("site    integers  carried"), "{}", said.out);
    assert!(said.out.contains("augment would generate 59 rows by ada"), "{}", said.out);
    let cars = TestDir::with_cars();
    let said = cars.run("inspect cars.csv -t mpg --anchors column:model_year").ok();
    assert!(said.out.contains("1970-01-01 29, 1971-01-01 28"), "{}", said.out);
}

#[test]
fn without_a_target_it_shows_columns() {
    let desk = TestDir::with_cars();
    let said = desk.run("inspect cars.csv").ok();
    assert!(said.out.contains("set --target to see what augment would do"), "{}", said.out);
    let json = desk.run("inspect cars.csv --target mpg --json").ok().out;
    let inspection: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (inspection["rows"].as_u64(), inspection["groups"].as_array().unwrap().len()),
        (Some(398), 14)
    );
}

#[test]
fn it_says_what_augment_would_refuse() {
    let desk = TestDir::new();
    let ids: Vec<String> = (0..40)
        .map(|row| format!("{row},{}.5,{}", row % 9, if row == 7 { "" } else { "1.5" }))
        .collect();
    desk.put("gaps.csv", format!("id,a,y\n{}\n", ids.join("\n")));
    let said = desk.run("inspect gaps.csv --target y");
    assert_eq!(said.code, Some(1));
    assert!(said.out.contains("row counter"), "{}", said.out);
    assert!(said.err.contains("target `y` is missing in row 8 (line 9)"), "{}", said.err);
}

#[test]
fn few_values_are_counted_in_any_type() {
    let desk = TestDir::new();
    let rows: Vec<String> =
        (0..60).map(|row| format!("2.5,{}.5,,{},{}.25", row % 2, row % 3, row * 7 % 50)).collect();
    desk.put("few.csv", format!("same,two,none,three,y\n{}\n", rows.join("\n")));
    let said = desk.run("inspect few.csv").ok();
    let distinct: Vec<&str> = said.out.lines().skip(3).take(5).collect();
    for (line, words) in distinct.iter().zip([
        "2.5 to 2.5    constant",
        "0.5 to 1.5    2",
        "-             none",
        "0 to 2        3",
        "0.25 to 49.25  many",
    ]) {
        let one_space = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(one_space(line).contains(&one_space(words)), "{words}: {}", said.out);
    }
}
