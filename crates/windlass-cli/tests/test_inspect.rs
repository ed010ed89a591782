//! `windlass inspect`: what it shows.

mod common;

use std::fmt::Write as _;

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

models omit `name` (more than 32 different values)

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

/// Synthetic rows compared with real rows: as text, as JSON and as a page, by both commands.
#[test]
fn synthetic_rows_are_compared_with_real_rows() {
    let desk = TestDir::with_cars();
    let augment = "augment cars.csv --target mpg --copies 2 --report page.html -o out.csv";
    desk.run(augment).ok();
    let said = desk.run("inspect out.csv --against cars.csv --target mpg").ok();
    for words in [
        "out.csv: 796 synthetic rows, compared with 398 real rows of cars.csv",
        "exact cop",
        "distance to the closest real row",
        "398 original rows of out.csv are not compared.",
        "These rows are not anonymous",
        "model_year ",
    ] {
        assert!(said.out.contains(words), "{words}: {}", said.out);
    }
    let json = desk.run("inspect out.csv --against cars.csv --target mpg --json").ok().out;
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(found["synthetic_rows"], 796);
    assert_eq!(found["columns"].as_array().unwrap().len(), 9);
    let page = desk.text("page.html");
    for part in [
        "How similar are the rows of out.csv",
        "id=\"distances\"",
        "id=\"column-0\"",
        "not anonymous",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("<script src") && !page.contains("<link"));
    // Marks say the same as the order of rows, in any format.
    desk.run("augment cars.csv --target mpg --copies 2 --provenance -o out.parquet").ok();
    let marked = desk.run("inspect out.parquet --against cars.csv --target mpg --json").ok().out;
    let marked: serde_json::Value = serde_json::from_str(&marked).unwrap();
    assert_eq!((&marked["copies"], &marked["close"]), (&found["copies"], &found["close"]));
    // Names and values are escaped.
    desk.put("odd.csv", "<b>x</b>,k,y\n1,<i>,2\n2,&,3\n3,<i>,5\n4,&,4\n");
    let odd = "inspect odd.csv --against odd.csv --report odd.html";
    assert!(desk.run(odd).ok().out.contains("4 of 4 synthetic rows are exact copies"));
    assert!(!desk.text("odd.html").contains("<b>x</b>") && !desk.text("odd.html").contains("<i>"));
    let refused = desk.run("augment cars.csv --target mpg --report page.html -o -");
    assert!(refused.err.contains("--report does not apply to rows on standard output"));
    desk.put("mine.html", "<p>mine</p>");
    let refused = desk.run("inspect out.csv --against cars.csv --report mine.html");
    assert!(refused.err.contains("is not a report that Windlass wrote"), "{}", refused.err);
    desk.put("other.csv", "a,b\n1,2\n3,4\n");
    let refused = desk.run("inspect other.csv --against cars.csv");
    assert!(refused.err.contains("`other.csv`: no column `mpg`, which the table has"));
}

/// Hundreds of columns and many rows are compared within seconds, on a sample that is stated.
#[test]
fn wide_and_long_tables_are_compared() {
    let desk = TestDir::new();
    let line = |row: usize, columns: usize, off: f64| {
        let cell = |column: usize| (row * (7 + column) % 1009) as f64 + off;
        (0..columns).map(|column| cell(column).to_string()).collect::<Vec<_>>().join(",")
    };
    let table = |rows: usize, columns: usize, off: f64| {
        let head: Vec<String> = (0..columns).map(|column| format!("c{column}")).collect();
        let rows: Vec<String> = (0..rows).map(|row| line(row, columns, off)).collect();
        format!("{}\n{}\n", head.join(","), rows.join("\n"))
    };
    desk.put("wide.csv", table(60, 250, 0.0)).put("made.csv", table(50, 250, 0.25));
    let said = desk.run("inspect made.csv --against wide.csv --report wide.html").ok();
    assert!(said.out.contains("Correlations are those of the first 100 columns"), "{}", said.out);
    assert!(desk.text("wide.html").contains("Histograms of 24 of 250 columns"));
    desk.put("long.csv", table(120_000, 3, 0.0)).put("more.csv", table(30_000, 3, 0.5));
    let said = desk.run("inspect more.csv --against long.csv").ok();
    assert!(said.out.contains("Of long.csv, one row of 2 was read."), "{}", said.out);
    assert!(said.out.contains("Distances were measured for 2"), "{}", said.out);
}

#[test]
fn a_long_name_or_one_of_several_lines_is_one_cell() {
    let desk = TestDir::new();
    let name = "n".repeat(70_000);
    desk.put("t.csv", format!("{name},\"two\nlines\t\",y\n1.5,2.5,3\n4.5,5,6.5\n"));
    let said = desk.run("inspect t.csv").ok();
    let rows: Vec<&str> = said.out.lines().filter(|line| line.contains("  floats  ")).collect();
    assert!(rows.len() == 3 && rows[0].starts_with(&name), "{}", said.out.len());
    assert!(rows[1].starts_with(r"two\u000alines\u0009  "), "{}", rows[1]);
    assert!(said.out.len() < 2 * name.len(), "{}", said.out.len());
}

#[test]
fn ranges_have_few_digits_and_long_lists_of_features_are_cut() {
    let desk = TestDir::new();
    let head: Vec<String> = (0..60).map(|column| format!("c{column}")).collect();
    let mut text = format!("{},y\n", head.join(","));
    for row in 0..30 {
        let cell = |column: u32| (f64::from((row * 7 + column * 13) % 31) / 7.0).to_string();
        let cells: Vec<String> = (0..60).map(cell).collect();
        writeln!(text, "{},{}", cells.join(","), 1_000_000 + row).unwrap();
    }
    desk.put("t.csv", text);
    let said = desk.run("inspect t.csv -t y").ok();
    assert!(said.out.contains(" 0 to 4.28571 "), "{}", said.out);
    assert!(said.out.contains(" 1000000 to 1000029 "), "{}", said.out);
    let said = desk.run("train t.csv -t y --model ridge -o m").ok();
    assert!(said.err.contains("c38, c39 and 20 more\n"), "{}", said.err);
}
