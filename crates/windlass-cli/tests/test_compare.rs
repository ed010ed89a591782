//! `compare`, `tune` and what chooses by itself: end to end.

mod common;

use std::fmt::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use common::TestDir;

/// Small and quick; what it finds is of no interest.
const QUICK: &str = "--hidden 8 --epochs 3 --folds 2 --repeats 2 --methods none,ada,placebo \
                     --models mlp,ridge,forest";

fn seconds_removed(results: &str) -> String {
    results.lines().filter(|line| !line.contains("\"seconds\"")).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_comparison_is_a_table_a_page_and_numbers() {
    let desk = TestDir::with_cars();
    let said = desk.run(&format!("compare cars.csv --target mpg {QUICK} --output out"));
    assert!(matches!(said.code, Some(0 | 3)), "{said:?}");
    for words in [
        "no augmentation",
        "placebo",
        "forest",
        "predict the mean",
        "95 % interval",
        "4 splits (2×2 folds of rows)",
    ] {
        assert!(said.out.contains(words), "{}", said.out);
    }
    assert!(!said.out.contains("erm ") && !said.out.contains("0.000"), "{}", said.out);
    let (table, _) = said.out.split_once("\n\n").unwrap();
    assert_eq!(table.lines().count(), 7, "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    // Next step is a command that works.
    let next = said.out.split("Next step: train ").nth(1).unwrap().lines().nth(1).unwrap();
    assert!(next.starts_with("  windlass train cars.csv --target mpg "), "{next}");
    desk.shell(next.trim()).ok();
    assert!(desk.path("model.windlass").exists());
    std::fs::remove_file(desk.path("model.windlass")).unwrap();
    assert!(said.err.contains("report.html"), "{}", said.err);
    assert_eq!(desk.files(), ["cars.csv", "out"]);
    let page = desk.text("out/report.html");
    // Nothing outside the page is asked for.
    let links = page.matches("http").count();
    assert_eq!(links, page.matches("http://www.w3.org/2000/svg").count());
    assert!(page.contains("windlass compare cars.csv --target mpg --hidden 8"));
    for part in ["id=\"answer\"", "id=\"number\"", "Next step: train", "<h2>Candidates</h2>"] {
        assert!(page.contains(part), "{part}");
    }
    assert!(page.contains("<pre>windlass train cars.csv --target mpg"));
    assert!(!page.contains(">erm<") && !page.contains("ERM") && !page.contains(">0.000<"));
    assert!(!page.contains("<script src") && !page.contains("<link"));
    for picture in ["differences", "splits", "predicted", "residuals", "synthetic"] {
        assert!(desk.text(&format!("out/pictures/{picture}.svg")).starts_with("<svg"));
    }
    let results = desk.text("out/results.json");
    assert_eq!(results.matches("\"chosen\"").count(), 4 * 5);

    // The same again, on one thread; and a summary for machines.
    let said =
        desk.run(&format!("compare cars.csv --target mpg {QUICK} --output two --threads 1 --json"));
    assert!(said.out.trim_start().starts_with('{') && said.out.contains("\"verdict\""));
    let strip = |text: &str| {
        seconds_removed(text).replace("--output two --threads 1 --json", "--output out")
    };
    assert_eq!(strip(&desk.text("out/results.json")), strip(&desk.text("two/results.json")));

    // A folder that is finished has nothing to be gone on with, and says the same.
    let again = desk.run(&format!("compare cars.csv --target mpg {QUICK} --resume out"));
    assert!(again.out.contains("95 % interval"), "{again:?}");
    let strip = |text: &str| seconds_removed(text).replace("--resume out", "--output out");
    assert_eq!(strip(&desk.text("out/results.json")), strip(&results));
}

#[test]
fn ctrl_c_keeps_what_is_finished() {
    let desk = TestDir::with_cars();
    let words = "compare cars.csv --target mpg --methods none,ada,mixup --models mlp --epochs 60 --hidden 64,64 \
                 --folds 4 --repeats 2";
    let child = desk
        .command(&format!("{words} --output out"))
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let started = Instant::now();
    let kept = || std::fs::read_to_string(desk.path("out/runs.jsonl")).unwrap_or_default();
    while kept().lines().count() < 2 && started.elapsed() < Duration::from_mins(1) {
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(130), "{err}");
    assert!(err.contains("of 24 runs, which are saved. To resume:"), "{err}");
    let next = err.lines().find_map(|line| line.trim().strip_prefix("windlass ")).unwrap();
    assert!(next.ends_with("--resume out"), "{next}");
    let before = kept().lines().count();
    assert!((2..24).contains(&before), "{before}");
    let said = desk.run(next);
    assert!(matches!(said.code, Some(0 | 3)), "{said:?}");
    // What is repeated is the command that started it.
    let page = desk.text("out/report.html");
    let command = page.split("id=\"command\">").nth(1).unwrap().split('<').next().unwrap();
    assert!(command.ends_with("--repeats 2 --output out"), "{command}");
    let whole = desk.run(&format!("{words} --output whole"));
    assert!(matches!(whole.code, Some(0 | 3)), "{whole:?}");
    let strip = |name: &str| -> String {
        let text = seconds_removed(&desk.text(&format!("{name}/results.json")));
        text.lines().filter(|line| !line.contains("\"command\"")).collect()
    };
    assert_eq!(strip("out"), strip("whole"));
}

#[test]
fn a_search_prints_commands_that_run() {
    let desk = TestDir::with_cars();
    let words = "tune cars.csv --target mpg --trials 3 --folds 2 --hidden 8 --seed 7 --scale minmax --output out";
    let said = desk.run(words).ok();
    assert!(said.out.contains("over 2 outer folds"), "{}", said.out);
    let train = said.out.lines().find(|line| line.starts_with("windlass train")).unwrap();
    assert!(train.contains("--hidden 8 --seed 7 --scale minmax --committee 3"), "{train}");
    desk.shell(train).ok();
    assert!(desk.files().contains(&"model.windlass".to_owned()));
    let page = desk.text("out/report.html");
    assert!(page.contains("Hyperparameter search on cars.csv") && page.contains("id=\"history\""));
    assert!(page.contains("windlass train cars.csv --target mpg"));
    assert_eq!(desk.text("out/results.json").matches("\"number\"").count(), 2 * 3 * 3);
    // Gone on with, nothing is tried again.
    let again = desk.run(&words.replace("--output", "--resume")).ok();
    assert_eq!(again.out, said.out);
    // A little time is enough for the usual settings.
    let hurried = desk.run("tune cars.csv --target mpg --folds 2 --hidden 8 --time 0s --json").ok();
    assert!(hurried.out.contains("\"attempts\": 6"), "{}", hurried.out);
}

#[test]
fn every_model_is_searched() {
    let desk = TestDir::with_cars();
    for (model, setting) in [
        ("ridge", "--penalty"),
        ("forest", "--leaf"),
        ("extra-trees", "--leaf"),
        ("boosting", "--trees"),
        ("gp", ""),
    ] {
        let folder = format!("searched-{model}");
        let words = format!(
            "tune cars.csv --target mpg --model {model} --features weight,horsepower --trials 4 --folds 2 --output \
             {folder}"
        );
        let said = desk.run(&words).ok();
        let train = said.out.lines().find(|line| line.starts_with("windlass train")).unwrap();
        assert!(train.contains(setting) && !train.contains("--committee"), "{train}");
        desk.shell(&format!("{train} --force")).ok();
        let results: serde_json::Value =
            serde_json::from_str(&desk.text(&format!("{folder}/results.json"))).unwrap();
        let runs = results["runs"].as_array().unwrap();
        let augmented: Vec<_> = runs.iter().filter(|run| run["augments"] == true).collect();
        // The first trial is the default; the others have a method, each another one.
        assert_eq!(augmented.len(), 3 * 4);
        assert!(augmented.iter().any(|run| run["settings"].get("pre_augment").is_some()));
        assert!(desk.text(&format!("{folder}/report.html")).contains("no augmentation"));
    }
    let refused = desk.run("tune cars.csv --target mpg --model gp --hidden 8");
    assert!(refused.err.contains("--hidden does not apply to models other than networks"));
}

#[test]
fn models_other_than_networks_learn_from_synthetic_rows() {
    let desk = TestDir::with_cars();
    let words =
        "train cars.csv --target mpg --model forest --trees 20 --split rows --json --force -o m";
    let plain: serde_json::Value = serde_json::from_str(&desk.run(words).ok().out).unwrap();
    let augmented = desk.run(&format!("{words} --augment ada --clusters 12")).ok();
    let augmented: serde_json::Value = serde_json::from_str(&augmented.out).unwrap();
    let error = |summary: &serde_json::Value| summary["valid"]["rmse"].as_f64().unwrap();
    assert_ne!(error(&plain), error(&augmented));
    // Synthetic rows are made of the training rows of each fold; held-out rows are original.
    assert_eq!(plain["valid"]["rows"], augmented["valid"]["rows"]);
    let said = desk.run("train cars.csv --target mpg --model gp --augment mixup --force -o m").ok();
    assert!(said.err.contains("mixup before training"), "{}", said.err);
    let refused =
        desk.run("train cars.csv --target mpg --model gp --augment ada --manifold 1 -o n");
    assert!(refused.err.contains("--manifold does not apply to Gaussian processes"));
}

/// A target that has nothing to do with the features, and few rows.
fn noise(rows: usize) -> String {
    let mut text = String::from("a,b,site,y\n");
    for row in 0..rows {
        let (a, b, y) = (row * 37 % 41, row * 53 % 43, row * 71 % 47);
        writeln!(text, "{a}.5,{b}.25,s{},{y}.75", row % 4).unwrap();
    }
    text
}

#[test]
fn auto_leaves_rows_alone_where_nothing_helps() {
    let desk = TestDir::new();
    let text = noise(24);
    desk.put("noise.csv", &text);
    let said = desk.run("augment noise.csv --target y --method auto --output out.csv").ok();
    assert!(
        said.err.contains("no augmentation helps: writing the original rows only"),
        "{}",
        said.err
    );
    assert_eq!(desk.text("out.csv"), text);
}

#[test]
fn auto_says_what_it_chose_and_how_good_it_is() {
    let desk = TestDir::new();
    desk.put("t.csv", noise(40));
    let said =
        desk.run("train t.csv --target y --auto --split domain:site --output auto.windlass").ok();
    for words in
        ["ensemble weights minimize the error of 4-fold cross-validation", "expected", "worst    s"]
    {
        assert!(said.err.contains(words), "{}", said.err);
    }
    desk.run("predict auto.windlass t.csv --output p.csv").ok();
    assert_eq!(desk.text("p.csv").lines().count(), 41);
    let said =
        desk.run("train t.csv --target y --model forest --trees 20 --output f.windlass").ok();
    assert!(said.err.contains("forest of 20 trees"), "{}", said.err);
    desk.run("export f.windlass f.onnx").ok();
    for (model, words) in [("extra-trees", "20 extra trees"), ("boosting", "20 boosted trees")] {
        let train =
            format!("train t.csv --target y --model {model} --trees 20 --depth 3 --force -o m");
        let said = desk.run(&train).ok();
        assert!(said.err.contains(words), "{}", said.err);
        desk.run("predict m t.csv --force --output p.csv").ok();
        assert_eq!(desk.text("p.csv").lines().count(), 41);
    }
}

/// Trees of all kinds take part in a comparison, with settings that are tried.
#[test]
fn trees_are_compared() {
    let desk = TestDir::new();
    desk.put("t.csv", noise(40));
    let said = desk.run(
        "compare t.csv --target y --methods erm --models mlp,extra-trees,boosting --folds 2 --repeats 1 \
         --epochs 2 --tune 2 --output c",
    );
    for words in ["extra-trees", "boosting"] {
        assert!(said.out.contains(words), "{}{}", said.out, said.err);
    }
}

/// A smooth function of two columns.
#[test]
fn gaussian_processes_take_part() {
    let desk = TestDir::new();
    let mut text = String::from("a,b,y\n");
    for row in 0..60 {
        let (a, b) = (f64::from(row * 37 % 61) / 20.0, f64::from(row * 23 % 53) / 20.0);
        writeln!(text, "{a},{b},{}", (2.0 * a).sin() + a * b).unwrap();
    }
    desk.put("t.csv", text);
    let said = desk.run(
        "compare t.csv -t y --methods erm --models mlp,ridge,gp --epochs 2 --folds 3 --tune 3 -o out",
    );
    assert!(said.out.contains("A Gaussian process is better than the network"), "{said:?}");
    let chosen =
        ["length scale per column", "one length scale for all columns", "maximum likelihood"];
    let page = desk.text("out/report.html");
    assert!(chosen.iter().any(|words| page.contains(words)), "{page}");
    let train = "train t.csv -t y --model gp";
    let said = desk.run(&format!("{train} --split rows -o m --report r.html")).ok();
    assert!(said.err.contains("Gaussian process") && said.err.contains("expected"), "{said:?}");
    let said = desk.run(&format!("{train} --trees 3 -o n"));
    assert!(said.err.contains("--trees does not apply to Gaussian processes"), "{said:?}");
}

/// A name that is no text is no reason to lose a comparison.
#[test]
#[cfg(target_os = "linux")]
fn names_of_files_need_not_be_text() {
    use std::os::unix::ffi::OsStrExt as _;
    let desk = TestDir::new();
    let name = std::ffi::OsStr::from_bytes(b"b\xff.csv");
    std::fs::write(desk.path("").join(name), noise(24)).unwrap();
    let mut command =
        desk.command("compare --target y --output out --hidden 4 --epochs 2 --folds 2 --repeats 1");
    let ended = command.arg(name).stdin(Stdio::null()).output().unwrap();
    assert!(matches!(ended.status.code(), Some(0 | 3)), "{ended:?}");
    assert!(desk.text("out/report.html").contains("id=\"verdict\""));
}

/// A trend by day, in the order of time.
fn days(rows: usize) -> String {
    let mut text = String::from("day,a,b,site,y\n");
    for row in 0..rows {
        let (a, b) = (row * 37 % 41, row * 53 % 43);
        let (month, day) = (1 + row / 28, 1 + row % 28);
        writeln!(text, "2024-{month:02}-{day:02},{a}.5,{b}.25,s{},{}.5", row % 4, a + row / 2)
            .unwrap();
    }
    text
}

#[test]
fn the_split_is_one_option_of_every_command() {
    const QUIET: &str = "note: rows are split at random; if new rows will be later than these, use --split time:day";
    let desk = TestDir::new();
    desk.put("t.csv", days(80));
    let quick = "--hidden 4 --epochs 3";
    // Every kind of model says what to expect by the split, and is trained on all rows by time.
    for (split, said_of_it) in [
        ("time:day", "  split    held-out rows are later in `day`"),
        ("group:site", "  split    rows with the same `site` are held out together"),
        ("domain:site", "  split    each value of `site` is held out as a whole"),
        ("rows", QUIET),
    ] {
        for kind in [quick.to_owned(), format!("{quick} --committee 3"), "--model ridge".into()] {
            let said = desk.run(&format!("train t.csv -t y {kind} --split {split} -o m")).ok();
            assert!(said.err.contains(said_of_it), "{}", said.err);
            assert_eq!(said.err.contains(QUIET), split == "rows", "{}", said.err);
            let label = if kind.contains("ridge") { "  expected " } else { "  validation " };
            assert!(said.err.contains(label), "{}", said.err);
            assert!(said.err.contains("  drift    `y` differs between the "), "{}", said.err);
            let all = said.err.lines().any(|line| line.starts_with("  training         80"));
            assert_eq!(all, split == "time:day" || kind != quick, "{}", said.err);
        }
    }
    // By the split of the command, in JSON and in the model.
    let said =
        desk.run("train t.csv -t y --model forest --trees 5 --split time:day --json -o m").ok();
    for words in ["\"split\": \"time:day\"", "\"drift\": {", "\"level\": 0.001"] {
        assert!(said.out.contains(words), "{}", said.out);
    }
    let model = String::from_utf8_lossy(&desk.get("m")).into_owned();
    assert!(model.contains(r#"\"split\":{\"time\":\"day\"}"#) && model.contains(r#"\"drift\":"#));
    // Without options, rows are held out at random; with --valid none, there is no expected error.
    let said = desk.run("train t.csv -t y --model ridge -o m").ok();
    assert!(said.err.contains("  expected ") && said.err.contains(QUIET), "{}", said.err);
    let said = desk.run("train t.csv -t y --model ridge --valid none -o m").ok();
    assert!(!said.err.contains("expected") && !said.err.contains(QUIET), "{}", said.err);
    // Searches and comparisons.
    let said =
        desk.run(&format!("tune t.csv -t y {quick} --trials 2 --folds 2 --split time:day")).ok();
    assert!(
        said.out.contains("over 2 outer folds") && said.out.contains("--split time:day"),
        "{}",
        said.out
    );
    assert!(said.err.contains("drift: `y` differs") && !said.err.contains(QUIET), "{}", said.err);
    let said =
        desk.run(&format!("tune t.csv -t y {quick} --trials 2 --folds 2 --split domain:site")).ok();
    assert!(said.out.contains("over 4 outer folds"), "{}", said.out);
    let said = desk.run(&format!("compare t.csv -t y {QUICK} --output rows"));
    assert!(said.err.contains(QUIET) && said.out.contains("Drift: `y` differs"), "{said:?}");
    let said = desk.run(&format!("compare t.csv -t y {QUICK} --split time:day --output time"));
    assert!(
        said.out.contains("forward in time by day, 2 folds") && !said.err.contains(QUIET),
        "{said:?}"
    );
    desk.put("few.csv", days(24));
    let said =
        desk.run("augment few.csv -t y --method auto --split time:day --output out.csv").ok();
    assert!(said.err.contains("over 5 outer folds") && !said.err.contains(QUIET), "{}", said.err);
}

#[test]
fn test_rows_that_are_training_rows_are_no_evidence() {
    let desk = TestDir::new();
    let text = days(60);
    let (head, rest) = text.split_once('\n').unwrap();
    let lines: Vec<&str> = rest.lines().collect();
    let some = |lines: &[&str]| format!("{head}\n{}\n", lines.join("\n"));
    desk.put("train.csv", some(&lines[..40]));
    desk.put("overlap.csv", some(&lines[30..]));
    desk.put("new.csv", some(&lines[40..]));
    // In another order, and some of them only.
    desk.put("same.csv", some(&lines[5..25].iter().rev().copied().collect::<Vec<_>>()));
    let run = |test: &str| {
        desk.run(&format!("compare train.csv -t y {QUICK} --test {test}.csv --output {test}"))
    };
    let said = run("new");
    assert!(!said.err.contains("warning") && !said.out.contains("test rows are"), "{said:?}");
    let said = run("overlap");
    let warning = "10 of 30 test rows are training rows: errors are lower than those of new rows";
    assert!(said.err.contains(&format!("warning: {warning}")), "{}", said.err);
    assert!(said.out.contains(&format!("Warning: {warning}.")), "{}", said.out);
    let said = run("same");
    assert_eq!(said.code, Some(3));
    let verdict = "No verdict: all 20 test rows are training rows: their errors do not estimate";
    assert!(said.out.contains(verdict), "{}", said.out);
    for words in ["Use a random forest", "Use ridge", "better", "worse", "cannot tell", "Next step"]
    {
        assert!(!said.out.contains(words), "{words}: {}", said.out);
    }
    assert!(desk.text("same/report.html").contains("No verdict"));
}

/// Everything in a folder, with its contents.
fn contents(desk: &TestDir, folder: &str) -> Vec<(String, String)> {
    let Ok(entries) = std::fs::read_dir(desk.path(folder)) else { return vec![] };
    let name = |entry: std::fs::DirEntry| entry.file_name().into_string().unwrap();
    let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
    names.sort();
    names.into_iter().map(|name| (name.clone(), desk.text(&format!("{folder}/{name}")))).collect()
}

#[test]
fn files_of_others_in_the_folder_stay() {
    let desk = TestDir::new();
    desk.put("t.csv", noise(2000)).put("f/bert.safetensors", "precious").put("f/a.json", "too");
    std::fs::create_dir(desk.path("empty")).unwrap();
    let before = contents(&desk, "f");
    let quick = "--epochs 2 --folds 2 --repeats 1 --methods erm,ada --models mlp --hidden 4";
    let diverging = format!("{quick} --lr 1e30 --optimizer sgd --weight-decay 0");
    // Files larger than 8 KiB cannot be written, as on a disk that is full at the first run.
    let full = "trap '' XFSZ; ulimit -f 8; windlass";
    for (command, code, folder) in [
        (format!("windlass compare t.csv -t y -o f {diverging}"), 1, "f"),
        (format!("windlass compare t.csv -t y -o empty {diverging}"), 1, "empty"),
        (format!("windlass compare t.csv -t y -o new {diverging}"), 1, "new"),
        (format!("{full} compare t.csv -t y -o f {quick}"), 2, "f"),
        (format!("{full} compare t.csv -t y -o new {quick}"), 2, "new"),
        (format!("trap '' XFSZ; ulimit -f 0; windlass compare t.csv -t y -o f {quick}"), 2, "f"),
        (
            format!("trap '' XFSZ; ulimit -f 0; windlass compare t.csv -t y -o new {quick}"),
            2,
            "new",
        ),
        (
            "trap '' XFSZ; ulimit -f 0; windlass tune t.csv -t y -o f --trials 2 --folds 2 --hidden 4"
                .to_owned(),
            2,
            "f",
        ),
    ] {
        let said = desk.shell(&command);
        assert_eq!(said.code, Some(code), "{command}: {said:?}");
        match folder {
            "f" => assert_eq!(contents(&desk, "f"), before, "{command}"),
            "empty" => assert!(desk.path("empty").exists() && contents(&desk, "empty").is_empty()),
            _ => assert!(!desk.path("new").exists(), "{command}"),
        }
    }
}

#[test]
fn a_fold_without_weight_is_refused_and_leaves_no_folder() {
    let desk = TestDir::new();
    let mut text = String::from("a,b,site,w,y\n");
    for row in 0..60 {
        let (a, b, y) = (row * 37 % 41, row * 53 % 43, row * 71 % 47);
        writeln!(text, "{a}.5,{b}.25,s{},{},{y}.75", row % 3, u8::from(row % 3 > 0)).unwrap();
    }
    desk.put("t.csv", text);
    let quick = "--epochs 2 --repeats 1 --methods erm,ada --models mlp --hidden 4 -o out";
    for split in ["group:site --folds 3", "domain:site"] {
        let said = desk.run(&format!("compare t.csv -t y --weight w --split {split} {quick}"));
        assert_eq!(said.code, Some(1), "{said:?}");
        assert!(said.err.contains("all weights of the test rows are 0"), "{}", said.err);
        assert!(said.err.contains("hint: ") && !desk.path("out").exists(), "{}", said.err);
    }
    let said = desk.run(&format!("compare t.csv -t y --split domain:site {quick}"));
    assert!(matches!(said.code, Some(0 | 3)), "{said:?}");
}

/// Automatic selection takes part in comparisons of small tables, unless models are named.
#[test]
fn small_tables_are_compared_with_automatic_selection() {
    let desk = TestDir::new();
    let table = |rows: u32| {
        let mut text = String::from("a,b,y\n");
        for row in 0..rows {
            let (a, b) = (f64::from(row * 37 % 61) / 20.0, f64::from(row * 23 % 53) / 20.0);
            writeln!(text, "{a},{b},{}", a * b).unwrap();
        }
        text
    };
    desk.put("small.csv", table(40)).put("large.csv", table(2_001));
    let quick = "--target y --methods none --hidden 4 --epochs 2 --folds 2 --repeats 1 --json";
    let models = |words: &str| {
        let said = desk.run(&format!("compare {words} {quick}"));
        said.out.contains(r#""model": "auto""#)
    };
    assert!(models("small.csv --output a"));
    assert!(!models("small.csv --models mlp,ridge --output b"));
    assert!(!models("large.csv --output c"));
}

/// A table whose high targets are rare.
fn skewed(rows: u32) -> String {
    let mut text = String::from("a,b,y\n");
    for row in 0..rows {
        let (a, b) = (f64::from(row * 37 % 101) / 25.0, f64::from(row * 23 % 97) / 97.0);
        writeln!(text, "{a},{b},{}", a.exp() + b).unwrap();
    }
    text
}

/// With --rare, methods for rare targets take part, and errors on rare rows are shown with the bias of all rows.
#[test]
fn rare_rows_are_compared() {
    let desk = TestDir::new();
    desk.put("t.csv", skewed(101));
    let quick = "--target y --models mlp,ridge --hidden 8 --epochs 20 --folds 3 --repeats 2";
    let methods = "--methods none,smoter,smogn,density-weights,density-average";
    let said = desk.run(&format!("compare t.csv {quick} {methods} --rare high --output a"));
    assert!(matches!(said.code, Some(0 | 3)), "{said:?}");
    assert!(said.out.contains("rare rows") && said.out.contains("bias of all"), "{}", said.out);
    assert!(said.out.contains("judge by the error and the bias over all rows"), "{}", said.out);
    let page = std::fs::read_to_string(desk.path("a/report.html")).unwrap();
    assert!(page.contains("Errors by the size of the target") && page.contains("<th>SERA</th>"));
    let results: serde_json::Value =
        serde_json::from_slice(&std::fs::read(desk.path("a/results.json")).unwrap()).unwrap();
    let runs = results["runs"].as_array().unwrap();
    let sera = |method: &str| -> f64 {
        let of = |run: &&serde_json::Value| run["method"] == method;
        runs.iter().filter(of).map(|run| run["by_target"]["rare"]["sera"].as_f64().unwrap()).sum()
    };
    let methods = ["none", "smoter", "smogn", "density-weights", "density-average"];
    let all: Vec<String> = methods.iter().map(|method| sera(method).to_string()).collect();
    let distinct: std::collections::BTreeSet<&String> = all.iter().collect();
    assert_eq!(distinct.len(), methods.len(), "{all:?}");
    // The average of two models has no larger squared error than their mean.
    let mean = f64::midpoint(sera("none"), sera("density-weights"));
    assert!(sera("density-average") <= mean * (1.0 + 1e-9), "{all:?}");
    // A test table with more rows than the table: errors, but no intervals and no claim about rare rows.
    desk.put("few.csv", skewed(40));
    let words = "compare few.csv --target y --models mlp --hidden 4 --epochs 3 --repeats 2";
    let words = format!("{words} --methods none,smoter --test t.csv --rare high --output d");
    let said = desk.run(&words);
    assert!(matches!(said.code, Some(0 | 3)), "{said:?}");
    assert!(said.out.contains("bias of all"), "{}", said.out);
    assert!(!said.out.contains("better on rare rows"), "{}", said.out);
    // Not by default, and not with several targets.
    let said = desk.run(&format!("compare t.csv {quick} --json --output b"));
    assert!(!said.out.contains("smoter") && !said.out.contains("density"), "{}", said.out);
    let said = desk.run(&format!("compare t.csv {quick} -t b --rare high --output c"));
    assert!(
        said.code == Some(1) && said.err.contains("does not apply to several targets"),
        "{said:?}"
    );
}

/// Rows of a file take part, their fingerprint is part of the plan, and the next step is a command that works.
#[test]
fn rows_from_a_file_take_part() {
    let desk = TestDir::new();
    desk.put("t.csv", noise(40));
    let more: String = noise(160).lines().enumerate().fold(String::new(), |text, (row, line)| {
        if row == 0 || row > 40 { text + line + "\n" } else { text }
    });
    desk.put("sim.csv", &more);
    let words = "compare t.csv --target y --hidden 8 --epochs 3 --folds 2 --repeats 1 --methods none,ada \
                 --models mlp,forest --rows sim=sim.csv";
    let said = desk.run(&format!("{words} --output out"));
    assert!(matches!(said.code, Some(0 | 3)), "{said:?}");
    for words in ["\nsim ", "forest + sim", "Rows of sim (sim.csv): 120, of which 120 are added"] {
        assert!(said.out.contains(words), "{words}: {}", said.out);
    }
    let page = desk.text("out/report.html");
    assert!(
        page.contains("Rows of sim (sim.csv)") && page.contains("compared with the same model")
    );
    let json = desk.run(&format!("{words} --resume out --json"));
    let summary: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(summary["rows"][0]["label"], "sim");
    assert_eq!(summary["rows"][0]["rows"], 120);
    // A changed file is noticed.
    desk.put("sim.csv", more.replace("41.", "42."));
    let changed = desk.run(&format!("{words} --resume out"));
    assert!(changed.err.contains("contains results with different data"), "{}", changed.err);
    // Training on them holds out rows of the table only.
    let said =
        desk.run("train t.csv --target y --model forest --split rows --rows sim.csv -o m.windlass");
    assert!(
        said.err.contains("160 rows") && said.err.contains("expected         40"),
        "{}",
        said.err
    );
    desk.run("predict m.windlass t.csv -o p.csv").ok();
    let twice = desk.run(&format!("{words} --rows sim=t.csv --output two"));
    assert!(twice.err.contains("the label `sim` of rows cannot be used: it is used twice"));
}
