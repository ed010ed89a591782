//! Rows that go by a key or by what they hold, and methods that are fitted in one place and used in another.

mod common;

use common::TestDir;

/// A table with a key, a category, integers, missing values, weights and, if asked for, rows that are equal.
fn table(rows: usize, equal: bool) -> Vec<String> {
    let mut lines = vec![];
    for row in 0..rows {
        let base = if equal { row / 2 } else { row };
        let x = (base * 37 % 101) as f64 / 7.0;
        let z = if base % 13 == 0 { String::new() } else { (base * 53 % 89).to_string() };
        let site = ["oslo", "bergen", "molde"][base % 3];
        let key = if equal { String::new() } else { format!("{},", row * 7 + 3) };
        let w = base % 4 + 1;
        lines.push(format!("{key}{x},{z},{site},{w},{}", 2.0 * x + (base % 5) as f64));
    }
    lines
}

fn put(desk: &TestDir, name: &str, header: &str, lines: &[String]) {
    desk.put(name, format!("{header}\n{}\n", lines.join("\n")));
}

/// The lines of a file but the header, sorted.
fn sorted(desk: &TestDir, name: &str) -> Vec<String> {
    let mut lines: Vec<String> = desk.text(name).lines().skip(1).map(str::to_owned).collect();
    lines.sort();
    lines
}

const KEYED: &str = "id,x,z,site,w,y";
const KEYLESS: &str = "x,z,site,w,y";
const METHODS: [&str; 12] = [
    "--clusters 5",
    "--clusters 3 --within site --per row --weight w",
    "--anchors column:site --clip observed",
    "--anchors bins:x --clusters 4 --integers float",
    "--anchors quantiles:x --clusters 4 --per row",
    "--method mixup --per row",
    "--method c-mixup --bandwidth 1.5",
    "--method noise --feature-noise 0.1",
    "--method smoter",
    "--method smogn --rare high --weight w",
    "--method c-mixup --rare density",
    "--clusters 4 --rare low --per row",
];

#[test]
fn the_order_of_rows_does_not_matter() {
    let desk = TestDir::new();
    for (equal, header, by) in [(false, KEYED, "column:id"), (true, KEYLESS, "content")] {
        let mut lines = table(150, equal);
        put(&desk, "a.csv", header, &lines);
        lines.reverse();
        lines.rotate_left(41);
        put(&desk, "b.csv", header, &lines);
        for method in METHODS {
            let words = format!("-t y {method} --rows-by {by} --copies 2 --provenance --quiet");
            desk.run(&format!("augment a.csv {words} --force -o a.out.csv")).ok();
            desk.run(&format!("augment b.csv {words} --force -o b.out.csv")).ok();
            let made = sorted(&desk, "a.out.csv");
            assert_eq!(made, sorted(&desk, "b.out.csv"), "{by} {method}");
            let rare = ["--rare", "smoter"].iter().any(|word| method.contains(word));
            assert!(made.len() > if rare { 150 } else { 299 }, "{method}: {}", made.len());
        }
    }
}

#[test]
fn equal_rows_have_random_numbers_of_their_own() {
    let desk = TestDir::new();
    put(&desk, "t.csv", KEYLESS, &table(60, true));
    let words =
        "-t y --per row --rows-by content --no-originals --provenance --quiet --force -o out.csv";
    desk.run(&format!("augment t.csv {words}")).ok();
    let text = desk.text("out.csv");
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let place = |name: &str| header.iter().position(|&column| column == name).unwrap();
    let (source, twin, gamma) =
        (place("windlass_source"), place("windlass_twin"), place("windlass_gamma"));
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|line| line.split(',').collect()).collect();
    let mut pairs = 0;
    for (a, first) in rows.iter().enumerate() {
        for second in &rows[a + 1..] {
            if first[source] == second[source] {
                pairs += 1;
                assert_ne!(first[twin], second[twin]);
                assert_ne!(first[gamma], second[gamma]);
            }
        }
    }
    assert_eq!(pairs, 30);
}

/// Which rows are rare is part of the fitted state, also for rows of another table.
#[test]
fn rare_rows_are_those_of_the_fitted_table() {
    let desk = TestDir::new();
    let lines = table(150, false);
    put(&desk, "t.csv", KEYED, &lines);
    let words = "-t y --clusters 3 --rare high --rows-by column:id --provenance --quiet";
    desk.run(&format!("augment t.csv {words} --save-fitted fitted.json -o out.csv")).ok();
    desk.run("augment t.csv --fitted fitted.json --quiet --force -o again.csv").ok();
    assert_eq!(desk.text("out.csv"), desk.text("again.csv"));
    put(&desk, "part.csv", KEYED, &lines[20..90]);
    desk.run("augment part.csv --fitted fitted.json --quiet --force --manifest p.json -o p.csv")
        .ok();
    let (all, part) = (sorted(&desk, "out.csv"), sorted(&desk, "p.csv"));
    assert!(part.len() > 70 && part.iter().all(|line| all.contains(line)));
    desk.run("verify p.csv --against part.csv --manifest p.json --fitted fitted.json").ok();
    let shown = desk.run("show fitted.json").ok().out;
    assert!(shown.contains("rare       high"), "{shown}");
}

#[test]
fn what_was_fitted_makes_the_same_rows_again_and_rows_of_other_tables() {
    let desk = TestDir::new();
    let lines = table(150, false);
    put(&desk, "t.csv", KEYED, &lines);
    let words = "-t y --clusters 3 --within site --weight w --per row --clip observed --copies 3 \
                 --rows-by column:id --provenance --quiet";
    desk.run(&format!("augment t.csv {words} --save-fitted fitted.json -o out.csv")).ok();
    desk.run("augment t.csv --fitted fitted.json --quiet --force -o again.csv").ok();
    assert_eq!(desk.text("out.csv"), desk.text("again.csv"));
    // A part of the table has the rows that the whole has.
    put(&desk, "part.csv", KEYED, &lines[40..60]);
    desk.run("augment part.csv --fitted fitted.json --quiet --force -o part.out.csv").ok();
    let (all, part) = (sorted(&desk, "out.csv"), sorted(&desk, "part.out.csv"));
    assert_eq!(part.len(), 80);
    assert!(part.iter().all(|line| all.contains(line)));
    // Verified with what was fitted, and not without.
    let made = "augment part.csv --fitted fitted.json --quiet --manifest part.json --force -o part.out.csv";
    desk.run(made).ok();
    let verify = "verify part.out.csv --against part.csv --manifest part.json";
    desk.run(&format!("{verify} --fitted fitted.json")).ok();
    assert!(desk.run(verify).err.contains("needs --fitted\nhint: set --fitted FILE.json"));
}

#[test]
fn an_output_in_any_order_is_verified() {
    let desk = TestDir::new();
    put(&desk, "t.csv", KEYED, &table(90, false));
    let words = "-t y --rows-by column:id --provenance --quiet --save-fitted fitted.json";
    desk.run(&format!("augment t.csv {words} --force -o out.csv")).ok();
    let text = desk.text("out.csv");
    let mut lines: Vec<String> = text.lines().skip(1).map(str::to_owned).collect();
    lines.reverse();
    let header = text.lines().next().unwrap();
    put(&desk, "turned.csv", header, &lines);
    let verify =
        |name: &str| desk.run(&format!("verify {name} --against t.csv --fitted fitted.json"));
    assert_eq!(verify("turned.csv").ok().out, "turned.csv: 180 rows, all match\n");
    // One value, one row less, one row twice.
    let changed = lines[5].replacen(|c: char| c.is_ascii_digit(), "9", 3);
    assert_ne!(changed, lines[5]);
    let spoilt = [std::slice::from_ref(&changed), &lines[6..], &lines[7..8]].concat();
    put(&desk, "spoilt.csv", header, &spoilt);
    let said = verify("spoilt.csv");
    assert_eq!(said.code, Some(1));
    assert!(said.out.starts_with("spoilt.csv: 2 of 176 rows differ\n"), "{}", said.out);
    assert!(said.out.contains("no such row"), "{}", said.out);
    assert!(said.out.contains("6 rows that augment wrote are missing"), "{}", said.out);
}

#[test]
fn what_was_not_fitted_is_refused() {
    let desk = TestDir::new();
    let lines = table(30, false);
    put(&desk, "t.csv", KEYED, &lines);
    let fit = "augment t.csv -t y --within site --clusters 2 --save-fitted fitted.json --quiet --force -o out.csv";
    desk.run(fit).ok();
    let refused = |words: &str, expected: &str| {
        let said = desk.run(&format!("augment {words} -o refused.csv"));
        assert!(matches!(said.code, Some(1 | 2)), "{words}: {said:?}");
        assert!(said.err.contains(expected), "{words}: {}", said.err);
        assert!(!desk.files().contains(&"refused.csv".to_owned()), "{words}");
    };
    let mut new = lines.clone();
    new[9] = new[9].replace("oslo", "paris");
    put(&desk, "new.csv", KEYED, &new);
    refused(
        "new.csv --fitted fitted.json",
        "`paris` does not belong to a group: it was not in `site` when",
    );
    put(&desk, "less.csv", KEYLESS, &table(30, true));
    refused("less.csv --fitted fitted.json", "fitted id, x, z, site, w, y, got x, z");
    let words = lines.iter().map(|line| line.replacen("oslo", "7", 1));
    let words: Vec<String> =
        words.map(|line| line.replace("bergen", "8").replace("molde", "9")).collect();
    put(&desk, "types.csv", KEYED, &words);
    refused("types.csv --fitted fitted.json", "`site` held text, now integers");
    let mut absent = lines.clone();
    absent.push("999,2.5,3,oslo,1,".into());
    put(&desk, "absent.csv", KEYED, &absent);
    refused("absent.csv --fitted fitted.json", "target `y` is missing in row 31 (line 32)");
    refused("absent.csv -t y --rows-by column:id", "target `y` is missing in row id=999");
    refused("t.csv --fitted none.json", "`none.json` does not exist");
    refused("t.csv --fitted t.csv", "`t.csv` is not a fitted state");
    let text = desk.text("fitted.json");
    for (what, from, to) in [
        ("a centre less", "\"centres\": [\n", "\"centres\": [ [1.0],\n"),
        ("no target", "\"role\": \"target\"", "\"role\": \"carried\""),
        ("a column that is not there", "\"columns\": [\n", "\"columns\": [\n 77,\n"),
    ] {
        let broken = text.replacen(from, to, 1);
        assert_ne!(broken, text, "{what}");
        desk.put("broken.json", broken);
        refused("t.csv --fitted broken.json", "`broken.json` is not a fitted state");
    }
    // Roles that columns cannot play: what was text is to be moved, and a feature is not.
    let swapped = text.replacen("\"role\": \"continuous\"", "\"role\": \"@\"", 1);
    let swapped = swapped.replacen("\"role\": \"carried\"", "\"role\": \"continuous\"", 1);
    desk.put("swapped.json", swapped.replace("\"@\"", "\"carried\""));
    refused("t.csv --fitted swapped.json", "`site` holds text, not numbers");
    refused("t.csv --fitted fitted.json --copies 3", "cannot be used with");
    refused("t.csv -t y --method mixup --save-fitted f.json", "its fitted state is the table");
    refused("t.csv -t y --rows-by column:x", "cannot identify rows");
    refused("t.csv -t y --rows-by column:site --per row", "two rows have the key");
    refused("t.csv -t y --rows-by column:none", "no such column: `none`");
    refused("t.csv -t y --rows-by id", "column:NAME");
}
