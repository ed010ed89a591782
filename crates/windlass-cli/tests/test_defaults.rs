//! Defaults that are right on tables of strangers: roles of columns, and tables that Windlass wrote itself.

mod common;

use std::fmt::Write as _;

use common::TestDir;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Reproducible random numbers.
struct Random(u64);

impl Random {
    /// Uniform on [0, 1).
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// Alloys whose hardness depends on a temperature of few values, on hours and on carbon.
fn alloys(rows: usize, temperatures: &[f64], seed: u64) -> String {
    let mut random = Random(seed);
    let mut text = String::from("temperature,hours,carbon,hardness\n");
    for row in 0..rows {
        let temperature = temperatures[row % temperatures.len()];
        let (hours, carbon) = (1.0 + 20.0 * random.uniform(), random.uniform());
        let hardness = 100.0 + 0.3 * temperature + 12.0 * f64::ln(hours) + 80.0 * carbon;
        let hardness = hardness + 3.0 * random.normal();
        writeln!(text, "{temperature},{hours:.3},{carbon:.4},{hardness:.3}").unwrap();
    }
    text
}

fn rmse(desk: &TestDir, model: &str, test: &str) -> f64 {
    let said = desk.run(&format!("predict {model} {test} --metrics --json")).ok();
    json(&said.out)["rmse"].as_f64().unwrap()
}

#[test]
fn integers_with_few_values_are_numbers() {
    let desk = TestDir::new();
    desk.put("train.csv", alloys(200, &[300.0, 400.0, 500.0, 600.0, 700.0], 1));
    desk.put("test.csv", alloys(200, &[450.0], 2));
    for (name, options) in [("plain", ""), ("continuous", "--continuous temperature")] {
        let command =
            format!("train train.csv -t hardness --auto {options} -o {name}.windlass --quiet");
        desk.run(&command).ok();
    }
    let (plain, continuous) =
        (rmse(&desk, "plain.windlass", "test.csv"), rmse(&desk, "continuous.windlass", "test.csv"));
    assert!(plain < 1.5 * continuous, "{plain} {continuous}");
    assert!(plain < 5.0, "noise has a standard deviation of 3: {plain}");
    // A synthetic row moves the temperature together with the target.
    desk.run("augment train.csv -t hardness --no-originals -o more.csv").ok();
    let moved = |line: &str| !line.split(',').next().unwrap().ends_with("00");
    let more = desk.text("more.csv");
    assert!(more.lines().skip(1).filter(|line| moved(line)).count() > 100, "{more}");
}

/// Daily counts with a season and weather; dates are written in some way.
fn counts(rows: usize, seed: u64, date: impl Fn(usize) -> String) -> (String, String) {
    let mut random = Random(seed);
    let header = "date,temperature,workday,count\n";
    let (mut train, mut test) = (String::from(header), String::from(header));
    for day in 0..rows + 200 {
        let season = (std::f64::consts::TAU * day as f64 / 365.25).sin();
        let temperature = 12.0 + 10.0 * season + 3.0 * random.normal();
        let workday = u8::from(day % 7 < 5);
        let trend = 0.05 * day as f64;
        let count = 100.0 + trend + 4.0 * temperature - 30.0 * f64::from(workday);
        let count = count + 8.0 * random.normal();
        let text = if day < rows { &mut train } else { &mut test };
        writeln!(text, "{},{temperature:.1},{workday},{count:.0}", date(day)).unwrap();
    }
    (train, test)
}

/// The date of a day since 2021-01-01, for years of 365 days and months of 30.
fn iso(day: usize) -> String {
    let (year, rest) = (2021 + day / 360, day % 360);
    format!("{year}-{:02}-{:02}", 1 + rest / 30, 1 + (rest % 30).min(27))
}

#[test]
fn dates_become_calendar_features_and_do_no_harm() {
    let mut ratios = vec![];
    for seed in 1..=2 {
        let desk = TestDir::new();
        let (train, test) = counts(500, seed, iso);
        desk.put("train.csv", train).put("test.csv", test);
        let said = desk.run("train train.csv -t count --auto -o with.windlass --quiet").ok();
        assert!(!said.err.contains("different values"), "{}", said.err);
        desk.run("train train.csv -t count --auto --exclude date -o without.windlass --quiet").ok();
        let (with, without) =
            (rmse(&desk, "with.windlass", "test.csv"), rmse(&desk, "without.windlass", "test.csv"));
        ratios.push(with / without);
    }
    let mean = ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64;
    assert!(mean.exp() < 1.02, "{ratios:?}");
}

/// The date of a day since 2021-01-01, in years without a leap day.
fn calendar_date(day: usize) -> String {
    const LENGTHS: [usize; 12] = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let (year, mut rest, mut month) = (2021 + day / 365, day % 365, 0);
    while rest >= LENGTHS[month] {
        rest -= LENGTHS[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02}", month + 1, rest + 1)
}

/// Weekends are a fiftieth of the variance before the season is in the model, and half of it afterwards.
#[test]
fn weekdays_are_used_next_to_a_season() {
    let desk = TestDir::new();
    let mut random = Random(3);
    let mut train = String::from("day,sold\n");
    for day in 0..700 {
        let season = (std::f64::consts::TAU * day as f64 / 365.0).sin();
        // 2021 began on a Friday.
        let weekend = f64::from(u8::from(day % 7 == 1 || day % 7 == 2));
        let sold = 100.0 + 40.0 * season + 10.0 * weekend + 4.0 * random.normal();
        writeln!(train, "{},{sold:.0}", calendar_date(day)).unwrap();
    }
    desk.put("train.csv", train);
    let said = desk.run("train train.csv -t sold --model ridge -o model.windlass").ok();
    assert!(said.err.contains("`day`: a date, used as month, "), "{}", said.err);
    let used = said.err.split(" would not help").next().unwrap();
    assert!(used.contains(", weekday"), "{}", said.err);
}

#[test]
fn dates_are_recognized_in_other_spellings() {
    let american = |day| {
        let iso = iso(day);
        format!("{}/{}/{}", &iso[5..7], &iso[8..], &iso[..4])
    };
    let with_time = |day| format!("{} 06:30:00", iso(day));
    for date in [&american as &dyn Fn(usize) -> String, &with_time] {
        let desk = TestDir::new();
        let (train, test) = counts(300, 1, date);
        desk.put("train.csv", train.clone()).put("test.csv", test);
        let said = desk.run("inspect train.csv -t count --json").ok();
        assert_eq!(json(&said.out)["columns"][0]["role"], "date", "{}", said.out);
        let said = desk.run("train train.csv -t count --model ridge -o m.windlass").ok();
        assert!(said.err.contains("`date`: a date, "), "{}", said.err);
        desk.run("predict m.windlass test.csv -o p.csv").ok();
        // A synthetic row has the date of its source, letter by letter.
        desk.run("augment train.csv -t count --no-originals -o more.csv").ok();
        for (line, source) in desk.text("more.csv").lines().zip(train.lines()) {
            assert_eq!(line.split(',').next(), source.split(',').next());
        }
    }
}

#[test]
fn dates_move_if_continuous() {
    let desk = TestDir::new();
    desk.put("t.csv", counts(100, 1, iso).0);
    desk.run("augment t.csv -t count --no-originals --continuous date -o more.csv").ok();
    let dates = |name: &str| -> Vec<String> {
        let text = desk.text(name);
        text.lines().skip(1).map(|line| line.split(',').next().unwrap().to_owned()).collect()
    };
    let (before, after) = (dates("t.csv"), dates("more.csv"));
    assert!(after.iter().all(|date| date.len() == 10 && date.starts_with("202")), "{after:?}");
    assert!(before.iter().zip(&after).filter(|(before, after)| before != after).count() > 50);
}

#[test]
fn ids_constants_and_empty_columns_are_omitted_and_reported() {
    let desk = TestDir::new();
    let mut random = Random(3);
    let mut text = String::from("id,customer_id,unit,empty,flag,x,y\n");
    for row in 0..120 {
        let x = random.uniform();
        let customer = 1000 + (row * 7919) % 5003;
        let y = 3.0 * x + 0.1 * random.normal();
        writeln!(text, "{},{customer},kg,,{},{x},{y}", row + 1, row % 2).unwrap();
    }
    desk.put("t.csv", text);
    let said = desk.run("train t.csv -t y --model ridge -o m.windlass").ok();
    for note in [
        "`id`: omitted, row counter",
        "`customer_id`: omitted, named like an identifier",
        "`unit`: omitted, constant",
        "`empty`: omitted, no values",
        "`flag`: 0 and 1, used as a category",
    ] {
        assert!(said.err.contains(note), "{note}: {}", said.err);
    }
    let summary = json(&desk.run("train t.csv -t y --model ridge -o n.windlass --json").ok().out);
    assert_eq!(summary["inputs"].as_array().unwrap().len(), 2, "{summary}");
    let columns = json(&desk.run("inspect t.csv -t y --json").ok().out)["columns"].clone();
    let reasons: Vec<(&str, &str)> = columns
        .as_array()
        .unwrap()
        .iter()
        .map(|column| (column["role"].as_str().unwrap(), column["reason"].as_str().unwrap()))
        .collect();
    assert_eq!(reasons[0], ("carried", "row counter"));
    assert_eq!(reasons[4], ("categorical", "0 and 1"));
    assert_eq!(reasons[5].0, "continuous");
    // What a name says can be overruled.
    let said = desk.run("train t.csv -t y --continuous id,customer_id -o o.windlass --model ridge");
    assert!(!said.ok().err.contains("`id`"));
}

#[test]
fn a_row_counter_that_is_the_only_feature_is_used() {
    let desk = TestDir::new();
    let rows: Vec<String> = (0..50).map(|row| format!("{row},{}", row * 2)).collect();
    desk.put("t.csv", format!("x,y\n{}\n", rows.join("\n")));
    desk.run("train t.csv -t y --model ridge -o m.windlass").ok();
    desk.run("augment t.csv -t y -o more.csv").ok();
}

#[test]
fn its_own_columns_are_never_features() {
    let desk = TestDir::with_cars();
    desk.run("augment cars.csv -t mpg --provenance -o p.parquet").ok();
    let command = "train p.parquet -t mpg --model ridge -o m.windlass";
    let said = desk.run(&format!("{command} --json")).ok();
    let summary = json(&said.out);
    let inputs = summary["inputs"].to_string();
    assert!(!inputs.contains("windlass_"), "{inputs}");
    // Rows without the columns can be predicted.
    desk.run("predict m.windlass cars.csv -o out.csv").ok();
}

#[test]
fn an_augmented_table_is_augmented_from_its_originals() {
    let desk = TestDir::with_cars();
    for file in ["p.csv", "p.parquet"] {
        desk.run(&format!("augment cars.csv -t mpg --provenance -o {file}")).ok();
        let said = desk.run(&format!("augment {file} -t mpg --provenance -o again-{file}")).ok();
        assert!(said.err.contains("398 synthetic rows of the input"), "{}", said.err);
        desk.run(&format!(
            "verify again-{file} --against {file}{}",
            match file {
                "p.csv" => " --manifest m.json",
                _ => "",
            }
        ));
    }
    // The same rows as from the original table.
    let first = desk.text("p.csv");
    assert_eq!(first, desk.text("again-p.csv"));
    // Without provenance they cannot be told apart.
    desk.run("augment cars.csv -t mpg -o plain.parquet").ok();
    let said = desk.run("train plain.parquet -t mpg --model ridge -o m.windlass").ok();
    assert!(said.err.contains("`plain.parquet` has synthetic rows that are not marked"));
    let said = desk.run("augment plain.parquet -t mpg -o no.csv");
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("already has synthetic rows"), "{}", said.err);
    assert!(said.err.contains("--provenance"), "{}", said.err);
}

/// Rows with a linear relation.
fn linear(rows: usize) -> String {
    let mut random = Random(rows as u64);
    let mut text = String::from("x,z,y\n");
    for _ in 0..rows {
        let (x, z) = (random.normal(), random.normal());
        writeln!(text, "{x:.4},{z:.4},{:.4}", x - 2.0 * z + 0.1 * random.normal()).unwrap();
    }
    text
}

/// Columns of provenance have no role, however they are named, and named features exclude them.
#[test]
fn provenance_never_becomes_a_feature() {
    let desk = TestDir::new();
    desk.put("t.csv", linear(40));
    desk.run("augment t.csv -t y --provenance -o p.csv -q").ok();
    for words in [
        "train p.csv -t y --features x,windlass_group --model ridge -o m.windlass",
        "train p.csv -t y --continuous windlass_group --model ridge -o m.windlass",
        "train p.csv -t windlass_gamma --model ridge -o m.windlass",
        "augment p.csv -t y --features x,windlass_group -o q.csv",
        "regress p.csv -t y --features windlass_group",
    ] {
        let said = desk.run(words);
        assert_eq!(said.code, Some(1), "{}", said.err);
        assert!(said.err.contains("was written by windlass"), "{words}: {}", said.err);
    }
    // The originals only, also if features are named; a second time there are no more.
    desk.run("augment p.csv -t y --features x -o q.csv -q --provenance").ok();
    assert_eq!(desk.text("q.csv").lines().count(), 81);
    let said = desk.run("augment p.csv -t y --no-originals --provenance -o n.csv -q");
    said.ok();
    let said = desk.run("augment n.csv -t y -o o.csv");
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(said.err.contains("its rows are synthetic"), "{}", said.err);
    // Anchor regression uses the originals, as if there were no others.
    let [own, all] = ["t.csv", "p.csv"]
        .map(|table| json(&desk.run(&format!("regress {table} -t y --json")).ok().out));
    assert_eq!(own["rows"][0]["out_of_groups"], all["rows"][0]["out_of_groups"]);
    let said = desk.run("regress p.csv -t y").ok();
    assert!((said.out + &said.err).contains("40 synthetic rows are ignored"));
}

/// Text tables have no metadata: the manifest next to them says that they have synthetic rows.
#[test]
fn a_manifest_next_to_a_table_marks_it() {
    let desk = TestDir::new();
    desk.put("t.csv", linear(40));
    desk.run("augment t.csv -t y -o a.csv --manifest a.json -q").ok();
    let said = desk.run("train a.csv -t y --model ridge -o m.windlass").ok();
    assert!(said.err.contains("has synthetic rows that are not marked"), "{}", said.err);
    let said = desk.run("augment a.csv -t y -o b.csv");
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(said.err.contains("already has synthetic rows"), "{}", said.err);
    let said = desk.run("show a.csv").ok();
    assert!(said.out.contains("synthetic rows are not marked"), "{}", said.out);
    // Another table of that name is none of its outputs.
    desk.put("a.csv", linear(50));
    desk.run("augment a.csv -t y -o b.csv").ok();
}

/// Named features of models may be of any type, and are encoded as others are.
#[test]
fn features_of_models_keep_their_encoding() {
    let desk = TestDir::new();
    let mut text = String::from("x,site,day,z,y\n");
    for row in 0..60 {
        let (site, day) = (["a", "b", "c"][row % 3], 1 + row % 28);
        writeln!(text, "{row},{site},2024-01-{day:02},{},{}", row * 7 % 11, row + row % 3).unwrap();
    }
    desk.put("t.csv", text);
    let words = "train t.csv -t y --features z,site,day --model ridge -o m.windlass --json";
    let summary = json(&desk.run(words).ok().out);
    assert!(summary["inputs"].as_array().unwrap().contains(&"site".into()), "{summary}");
    assert!(!summary["inputs"].as_array().unwrap().contains(&"x".into()), "{summary}");
    assert!(summary["notes"].to_string().contains("`day`: a date"), "{summary}");
    let said = desk.run("augment t.csv -t y --features site -o a.csv");
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert!(said.err.contains("is not numeric"), "{}", said.err);
}

/// `compare` and `tune` say which columns they omit.
#[test]
fn comparisons_report_omitted_columns() {
    let desk = TestDir::new();
    let mut text = String::from("id,x,site,y\n");
    for row in 0..40 {
        writeln!(text, "{row},{},{},{}", row * 3 % 17, row % 4, row * 3 % 17 + row % 2).unwrap();
    }
    desk.put("t.csv", text);
    let words = "compare t.csv -t y --models ridge --folds 2 --repeats 1 --epochs 1 --split group:site -o c";
    let said = desk.run(words);
    for note in
        ["`id`: omitted, row counter", "`site`: omitted, its values are held out as a whole"]
    {
        assert!(said.out.contains(note), "{note}: {}", said.out);
    }
    assert!(desk.text("c/report.html").contains("row counter"));
    let said = desk.run("tune t.csv -t y --model ridge --folds 2 --trials 2");
    assert!(said.err.contains("`id`: omitted, row counter"), "{}", said.err);
}
