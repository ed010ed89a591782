//! `windlass train`, `predict` and `export`.

mod common;

use std::fmt::Write as _;

use common::TestDir;
use serde_json::Value;

const FAST: &str = "--epochs 30 --quiet";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A table with a number, a number with gaps, a category and an id; the target follows all but the id.
fn shop(rows: usize, shift: usize) -> String {
    let mut text = String::from("id,size,age,kind,price\n");
    for row in 0..rows {
        let row = row + shift;
        let (size, age) = ((row * 37 % 101) as f64 / 10.0, (row * 53 % 89) as f64 / 10.0);
        let kind = ["flat", "house", "hut"][row % 3];
        let price = 3.0 * size - age + [0.0, 5.0, -4.0][row % 3];
        let age = if row.is_multiple_of(11) { String::new() } else { age.to_string() };
        writeln!(text, "r{row},{size},{age},{kind},{price}").unwrap();
    }
    text
}

#[test]
fn a_model_is_trained_used_and_measured() {
    let desk = TestDir::new();
    desk.put("train.csv", shop(300, 0)).put("test.csv", shop(60, 1000));
    let words = "train train.csv --target price --carry id --model mlp --hidden 32,32 --augment ada \
                 --clusters 8 --alpha 2 --manifold 1 --epochs 80 --batch 16 --lr 0.005 \
                 --weight-decay 0.01 --valid 0.2 --seed 0 -o model.windlass --json";
    let said = desk.run(words).ok();
    let summary = json(&said.out);
    assert_eq!(summary["inputs"].as_array().unwrap().len(), 3, "{summary}");
    assert_eq!(summary["rows"], 300);
    assert_eq!(summary["valid"]["rows"], 60);
    assert!(summary["valid"]["r2"].as_f64().unwrap() > 0.98, "{summary}");

    let said = desk.run("predict model.windlass test.csv --force -o out.csv --metrics --json").ok();
    let metrics = json(&said.out);
    assert_eq!(metrics["rows"], 60);
    assert!(metrics["r2"].as_f64().unwrap() > 0.98, "{metrics}");
    let out = desk.text("out.csv");
    let mut lines = out.lines();
    assert_eq!(lines.next(), Some("id,size,age,kind,price,prediction"));
    // The metric is that of the column.
    let mut sum = 0.0;
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let number = |cell: &str| cell.parse::<f64>().unwrap();
        sum += (number(cells[4]) - number(cells[5])).powi(2);
    }
    let rmse = (sum / 60.0).sqrt();
    assert!((rmse - metrics["rmse"].as_f64().unwrap()).abs() < 1e-9);

    // The same bits again, from Parquet, and with another number of threads.
    desk.run(&words.replace("model.windlass --json", "again.windlass -q --threads 1")).ok();
    assert!(desk.get("model.windlass") == desk.get("again.windlass"));
    desk.run("predict model.windlass test.csv --force -o out.parquet -q").ok();
    desk.run("predict model.windlass out.parquet --force -o taken.csv -q")
        .code
        .filter(|&c| c == 1)
        .unwrap();
}

/// There are not more folds than rows.
#[test]
fn models_of_very_few_rows_are_trained() {
    let desk = TestDir::new();
    desk.put("train.csv", shop(2, 0));
    let said = desk.run("train train.csv -t price --model ridge -o model.windlass");
    assert!(
        said.err.contains("`train.csv` has 2 distinct rows, too few to learn from"),
        "{}",
        said.err
    );
    desk.run("train train.csv -t price --model ridge --valid none -o model.windlass").ok();
    for rows in 3..7 {
        desk.put("train.csv", shop(rows, 0));
        for model in ["--auto", "--model ridge", "--model gp", "--model forest", "--model boosting"]
        {
            let words =
                format!("train train.csv -t price {model} --force --json -o model.windlass");
            let summary = json(&desk.run(&words).ok().out);
            assert_eq!(summary["valid"]["rows"], rows, "{model}: {summary}");
        }
    }
}

#[test]
fn a_committee_says_how_sure_it_is() {
    let desk = TestDir::new();
    desk.put("train.csv", shop(120, 0));
    let said =
        desk.run(&format!("train train.csv -t price --carry id --committee 4 {FAST} --json -o c"));
    let summary = json(&said.ok().out);
    assert_eq!(
        (summary["networks"].as_u64(), summary["valid"]["rows"].as_u64()),
        (Some(4), Some(120))
    );
    desk.run("predict c train.csv --force -o out.csv -q").ok();
    let out = desk.text("out.csv");
    assert!(out.starts_with("id,size,age,kind,price,prediction,prediction_sd\n"));
    let spread = |line: &str| line.rsplit(',').next().unwrap().parse::<f64>().unwrap();
    assert!(out.lines().skip(1).all(|line| spread(line) > 0.0));
}

#[test]
fn linear_models_and_their_errors() {
    let desk = TestDir::new();
    desk.put("train.csv", shop(120, 0)).put("test.csv", shop(40, 500));
    for words in [
        "--model ridge --penalty 0.001",
        "--model anchor --anchors column:kind --anchor-gamma 2 --categorical kind",
    ] {
        desk.run(&format!("train train.csv -t price --carry id {words} --valid test.csv -o m -q"))
            .ok();
        let said = desk.run("predict m test.csv --metrics --json -q").ok();
        // Missing ages cost a little.
        assert!(json(&said.out)["r2"].as_f64().unwrap() > 0.97, "{words}: {}", said.out);
    }
}

#[test]
fn several_targets() {
    let desk = TestDir::new();
    desk.put("train.csv", shop(90, 0));
    desk.run(&format!("train train.csv -t price,size --carry id {FAST} -o m")).ok();
    desk.run("predict m train.csv --force -o out.csv -q").ok();
    let header = desk.text("out.csv").lines().next().unwrap().to_owned();
    assert_eq!(header, "id,size,age,kind,price,prediction_size,prediction_price");
}

#[test]
fn a_run_goes_on_from_its_checkpoint() {
    let desk = TestDir::new();
    desk.put("train.csv", shop(90, 0));
    let words = |epochs: usize, rest: &str| {
        format!("train train.csv -t price --carry id --epochs {epochs} --quiet {rest}")
    };
    desk.run(&words(12, "-o straight.windlass")).ok();
    desk.run(&words(12, "-o m --checkpoint run.state")).ok();
    assert!(desk.get("m") == desk.get("straight.windlass"));
    // Finished: nothing is left to do, and the model is the same.
    desk.run(&words(12, "-o again --checkpoint run.state")).ok();
    assert!(desk.get("again") == desk.get("m"));
    let other = desk.run(&words(13, "-o other --checkpoint run.state"));
    assert_eq!(other.code, Some(1));
    assert!(other.err.contains("different rows or settings"), "{}", other.err);
}

/// Killed in the middle of a long run, then called again: the weights of a run that nothing happened to.
#[cfg(unix)]
#[test]
fn a_killed_run_loses_nothing() {
    let desk = TestDir::new();
    desk.put("train.csv", shop(300, 0));
    let words =
        "train train.csv -t price --carry id --epochs 600 --quiet --checkpoint run.state -o m";
    let mut child = desk.command(words).spawn().unwrap();
    while !desk.path("run.state").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!desk.path("m").exists());
    desk.run(words).ok();
    desk.run(&words.replace("--checkpoint run.state -o m", "-o straight")).ok();
    assert!(desk.get("m") == desk.get("straight"));
}

#[test]
fn a_diverging_run_says_so_and_keeps_the_last_good_weights() {
    let desk = TestDir::new();
    desk.put("train.csv", shop(90, 0));
    let said = desk.run(
        "train train.csv -t price --carry id --optimizer sgd --lr 1000 --weight-decay 0 --quiet --force -o m",
    );
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("training diverged in epoch"), "{}", said.err);
    desk.run("predict m train.csv --force -o out.csv -q").ok();
}

#[test]
fn what_is_unknown_is_counted() {
    let desk = TestDir::new();
    desk.put("train.csv", shop(90, 0));
    desk.run(&format!("train train.csv -t price --carry id {FAST} -o m")).ok();
    desk.put("new.csv", "kind,size,age,colour\ncastle,1,2,red\nhut,1,,red\ntent,,3,blue\n");
    let said = desk.run("predict m new.csv --force -o out.csv").ok();
    assert_eq!(
        said.err,
        "note: columns not used by the model: `colour`\nnote: 2 rows have a value of `kind` not seen in training\n\
         out.csv: 3 rows with predictions\n"
    );
    assert_eq!(desk.text("out.csv").lines().count(), 4);
}

#[test]
fn pictures_of_training() {
    let desk = TestDir::new();
    desk.put("train.csv", shop(90, 0));
    desk.run(&format!("train train.csv -t price --carry id {FAST} -o m --plot curve.svg")).ok();
    let svg = desk.text("curve.svg");
    for words in ["training loss", "validation", "best: epoch", "epoch"] {
        assert!(svg.contains(words), "{words}");
    }
    if cfg!(feature = "png") {
        desk.run(&format!("train train.csv -t price --carry id {FAST} -o m --plot curve.png")).ok();
        assert!(desk.get("curve.png").starts_with(b"\x89PNG"));
    }
}

/// Every way in which a model file can be broken.
#[test]
fn broken_models_are_refused_by_name() {
    let desk = TestDir::new();
    desk.put("train.csv", shop(60, 0));
    desk.run(&format!("train train.csv -t price --carry id {FAST} -o good")).ok();
    let good = desk.get("good");
    let text = String::from_utf8_lossy(&good).into_owned();
    let header = 8 + usize::try_from(u64::from_le_bytes(good[..8].try_into().unwrap())).unwrap();
    let needle = b"format\\\":3";
    let at = good.windows(needle.len()).position(|window| window == needle).unwrap();
    let mut other_format = good.clone();
    other_format[at + needle.len() - 1] = b'9';
    let mut nan = good.clone();
    nan[header..header + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    assert!(text.contains("windlass-model"));
    for (name, bytes) in [
        ("empty", vec![]),
        ("cut", good[..good.len() - 5].to_vec()),
        ("text", b"this is no model, but a text that is long enough".to_vec()),
        ("nan", nan),
        ("format", other_format),
    ] {
        desk.put(name, &bytes);
        let said = desk.run(&format!("predict {name} train.csv --force -o out.csv"));
        assert_eq!(said.code, Some(1), "{name}: {}", said.err);
        assert!(said.err.contains(&format!("`{name}`")), "{name}: {}", said.err);
        assert!(said.err.contains("hint:"), "{name}: {}", said.err);
        assert!(!desk.path("out.csv").exists());
    }
}

/// Weights are found by name wherever they stand, rows that do not count change nothing, and neither does
/// the order of columns.
#[test]
fn rows_that_do_not_count_are_not_there() {
    let desk = TestDir::new();
    let weighted = |shift| {
        let mut lines = shop(80, shift).lines().map(str::to_owned).collect::<Vec<_>>();
        lines[0] += ",w";
        for line in &mut lines[1..] {
            *line += ",1";
        }
        lines
    };
    let plain = weighted(0);
    desk.put("plain.csv", plain.join("\n") + "\n");
    let mut outliers = plain.clone();
    outliers.push("x1,1e6,-1e6,palace,1e7,0".into());
    desk.put("outliers.csv", outliers.join("\n") + "\n");
    // The validation table has its columns in another order.
    let turned: Vec<String> = weighted(500)
        .iter()
        .map(|line| line.split(',').rev().collect::<Vec<_>>().join(","))
        .collect();
    desk.put("valid.csv", turned.join("\n") + "\n");
    desk.put("test.csv", shop(40, 900));
    for model in ["--model ridge", "--epochs 20 --batch 200 --shuffle never"] {
        let errors: Vec<f64> = ["plain", "outliers"]
            .iter()
            .map(|table| {
                let options = "--weight w --carry id --quiet --valid valid.csv -o m";
                desk.run(&format!("train {table}.csv -t price {model} {options}")).ok();
                let said = desk.run("predict m test.csv --metrics --json -q").ok();
                json(&said.out)["rmse"].as_f64().unwrap()
            })
            .collect();
        assert!((errors[0] / errors[1] - 1.0).abs() < 1e-3, "{model}: {errors:?}");
    }
}

/// A column of whole numbers is the same category as integers and as floats; and a level that any member
/// of a committee has seen is known.
#[test]
fn levels_are_known_by_value() {
    let desk = TestDir::new();
    let mut text = String::from("doors,size,price\n");
    for row in 0..60 {
        let (doors, size) = ([3, 4, 5][row % 3], row * 37 % 101);
        writeln!(text, "{doors},{size}.5,{}", size * 2 + doors).unwrap();
    }
    // A level that is in one fold only.
    text.push_str("9,3.5,20\n");
    desk.put("train.csv", &text);
    desk.run(&format!("train train.csv -t price --categorical doors --committee 3 {FAST} -o m"))
        .ok();
    let said = desk.run("predict m train.csv --force -o out.csv").ok();
    assert_eq!(said.err, "out.csv: 61 rows with predictions\n");
    desk.put("floats.csv", "doors,size\n3.0,1.5\n5.0,2.5\n,3.5\n4.5,3.5\n");
    let said = desk.run("predict m floats.csv --force -o floats.out.csv").ok();
    assert!(said.err.starts_with("note: 2 rows have a value of `doors` not seen in training\n"));
}

#[test]
fn what_is_left_out_is_said() {
    let desk = TestDir::new();
    let mut text = String::from("same,empty,word,name,a,y\n");
    for row in 0..60 {
        writeln!(text, "7.5,,w,n{row},{}.5,{}", row * 37 % 101, row * 37 % 101).unwrap();
    }
    desk.put("t.csv", text);
    let said = desk.run("train t.csv -t y --epochs 2 -o m").ok();
    let notes: Vec<&str> = said.err.lines().filter(|line| line.contains("note")).collect();
    assert_eq!(
        notes,
        [
            "  note     `same`, `word`: omitted, constant",
            "  note     `name`: omitted, more than 32 different values (name it as categorical to keep it)",
            "  note     `empty`: omitted, no values",
        ]
    );
}

/// Any learning rate in reach trains well without further options: weight decay and schedule fit it.
#[test]
#[expect(clippy::print_stdout, reason = "says what was skipped")]
fn defaults_fit_the_learning_rate() {
    let data = std::env::var_os("WINDLASS_DATA").map(std::path::PathBuf::from);
    let file = data.map(|data| data.join("airfoil/airfoil_self_noise.dat"));
    let Some(text) = file.and_then(|file| std::fs::read_to_string(file).ok()) else {
        println!("skipped: WINDLASS_DATA has no airfoil data");
        return;
    };
    let mut rows: Vec<String> = text.lines().map(|line| line.replace('\t', ",") + "\n").collect();
    rows.sort_by_key(|row| xxhash_rust::xxh3::xxh3_64(row.as_bytes()));
    let (test, train) = rows.split_at(200);
    let desk = TestDir::new();
    for (name, rows) in [("train.csv", train), ("test.csv", test)] {
        desk.put(
            name,
            format!("frequency,angle,chord,velocity,thickness,level\n{}", rows.concat()),
        );
    }
    for lr in ["0.001", "0.01", "0.02"] {
        let words = "train train.csv -t level --augment ada --clusters 8 --manifold 1 --epochs 200";
        desk.run(&format!("{words} --batch 16 --lr {lr} --quiet -o m.windlass")).ok();
        let said = desk.run("predict m.windlass test.csv --metrics --json").ok();
        let metrics: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        let rmse = metrics["rmse"].as_f64().unwrap();
        assert!(rmse <= 1.7, "rate {lr}: {rmse}");
    }
}

/// Emphasis on rare targets: density weights, their average with a plain model, and rows of rare targets.
#[test]
fn rare_targets_are_emphasized() {
    let desk = TestDir::new();
    let mut text = String::from("a,b,y\n");
    for row in 0..120 {
        let (a, b) = (f64::from(row * 37 % 101) / 25.0, f64::from(row * 23 % 97) / 97.0);
        writeln!(text, "{a},{b},{}", a.exp() + b).unwrap();
    }
    desk.put("t.csv", text);
    let errors = |words: &str| -> serde_json::Value {
        desk.run(&format!("train t.csv -t y {words} --quiet --force -o m")).ok();
        let said = desk.run("predict m t.csv --metrics --rare high --json").ok();
        serde_json::from_str(&said.out).unwrap()
    };
    let bias = |errors: &serde_json::Value| errors["rare"]["bias"].as_f64().unwrap();
    let plain = errors("--model ridge");
    assert_eq!(plain["fifths"].as_array().unwrap().len(), 5);
    // A line is too low for the highest of a convex function.
    assert!(bias(&plain) < 0.0, "{plain}");
    let weighted = errors("--model ridge --density-weights");
    let average = errors("--model ridge --density-average=1");
    assert!(bias(&weighted) > bias(&plain), "{weighted}");
    let middle = f64::midpoint(bias(&plain), bias(&weighted));
    assert!((bias(&average) - middle).abs() < 1e-9, "{average}");
    let said = desk.run("train t.csv -t y --augment smoter --rare high --epochs 5 -o rare").ok();
    assert!(said.err.contains("augment  smoter before training"), "{}", said.err);
    let said =
        desk.run("train t.csv -t y --density-average --model ridge --split rows -o both").ok();
    let line = "weights  1 − 1 × density of the target, averaged with a model without weights";
    assert!(said.err.contains(line), "{}", said.err);
    let said = desk.run("predict both t.csv --metrics --rare high").ok();
    assert!(said.out.contains("SERA ") && said.out.contains("rare rows"), "{}", said.out);
    for (words, why) in [
        ("--density-weights=-1 --model ridge", "expected a number from 0 to 1e6"),
        ("--density-weights --density-average", "cannot be used with"),
        ("--rare high", "--rare needs --augment smoter or smogn"),
        ("--augment smoter --manifold 1", "--manifold does not apply to smoter"),
        ("-t b --density-weights --model ridge", "does not apply to several targets"),
    ] {
        let said = desk.run(&format!("train t.csv -t y {words} -o refused"));
        assert!(said.code != Some(0) && said.err.contains(why), "{words}: {said:?}");
        assert!(!desk.path("refused").exists(), "{words}");
    }
}
