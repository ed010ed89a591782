//! `windlass augment`: bytes, formats, methods, and manners.

mod common;

use std::fmt::Write as _;
use std::io::Read;
use std::process::Stdio;

use common::TestDir;

/// A table with every kind of column that text can hold, some values missing.
fn mixed_table(rows: usize) -> String {
    let mut text =
        String::from("id,size,count,species,site,when,ok,\"full name, really\",w,y1,y2\n");
    for row in 0..rows {
        let size =
            if row % 17 == 3 { String::new() } else { format!("{}", (row * 29 % 97) as f64 / 8.0) };
        let count = if row % 23 == 5 { "NA".into() } else { (row * 31 % 71).to_string() };
        let _ = writeln!(
            text,
            "r{row:03},{size},{count},{},{},20{:02}-03-01,{},\"a \"\"{}\"\", b\",{},{},{}",
            ["ash", "oak", ""][row % 3],
            row % 4,
            row % 28,
            row % 2 == 0,
            row % 5,
            1.0 + (row % 6) as f64 / 4.0,
            (row * 13 % 37) as f64 + 0.5,
            (row * 7 % 19 + 1) as f64 * -0.25,
        );
    }
    text
}

fn desk_with_table() -> TestDir {
    let desk = TestDir::new();
    desk.put("train.csv", mixed_table(240));
    desk
}

const TARGETS: &str = "-t y1,y2 --carry id --categorical site";

#[test]
fn originals_come_first_and_are_kept() {
    let desk = desk_with_table();
    desk.run(&format!(
        "augment train.csv {TARGETS} --weight w --copies 2 --quiet --force -o out.csv"
    ))
    .ok();
    let (before, after) = (desk.text("train.csv"), desk.text("out.csv"));
    let (before, after): (Vec<&str>, Vec<&str>) =
        (before.lines().collect(), after.lines().collect());
    assert_eq!(after.len(), 1 + 240 * 3);
    assert_eq!(before[0], after[0]);
    // The marker of a missing integer is not kept, nor are decimals that say nothing.
    let plain = |line: &str| (line.replace("NA", "") + ",").replace(".0,", ",");
    for (before, after) in before.iter().zip(&after).skip(1) {
        assert_eq!(plain(before), plain(after));
    }
    // What is carried is carried, what is missing stays missing, and integers stay integers.
    for copy in 1..=2 {
        for row in 0..240 {
            let (source, made) = (fields(after[1 + row]), fields(after[1 + 240 * copy + row]));
            for carried in [0, 3, 4, 5, 6, 7, 8] {
                assert_eq!(source[carried], made[carried]);
            }
            for moved in [1, 2] {
                assert_eq!(source[moved].is_empty(), made[moved].is_empty());
            }
            assert!(made[2].is_empty() || made[2].parse::<i64>().is_ok(), "{}", made[2]);
            assert!(made[9].parse::<f64>().unwrap().is_finite());
        }
    }
}

/// The fields of a line; commas inside quotes do not count.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields.last_mut().unwrap().push(c),
        }
    }
    fields
}

#[test]
fn same_seed_same_bytes() {
    let desk = TestDir::new();
    // Large enough for several blocks of rows and chunks of text.
    let table = mixed_table(150_000);
    desk.put("train.csv", &table);
    let (header, rows) = table.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    for (part, rows) in rows.chunks(rows.len() / 7 + 1).enumerate() {
        desk.put(&format!("parts/{part}.csv"), format!("{header}\n{}\n", rows.join("\n")));
    }
    // The table itself, without a copy, in other formats.
    for (folder, first) in [("parquet", "train.csv"), ("arrow", "train.csv")] {
        desk.convert(first, &format!("{folder}/train.{folder}"));
    }
    for method in [
        "--anchors kmeans --clusters 9 --rare high",
        "--anchors column:site --within species --per row",
    ] {
        for output in ["out.csv", "out.parquet", "out.arrow"] {
            let mut hashes = vec![];
            for (input, more) in [
                ("train.csv", "--threads 1"),
                ("train.csv", "--threads 2"),
                ("train.csv", "--threads 4"),
                ("train.csv", "--memory 32MiB"),
                ("parts", ""),
                ("parquet", ""),
                ("parquet", "--memory 32MiB --threads 3"),
                ("arrow", ""),
            ] {
                // One CSV run says it for the others.
                if output != "out.csv" && more.contains("--threads 4") {
                    continue;
                }
                let words = format!(
                    "augment {input} {TARGETS} {method} --weight w --seed 5 --provenance --decimals full"
                );
                desk.run(&format!("{words} {more} --quiet --force -o {output}")).ok();
                hashes.push(xxhash_rust::xxh3::xxh3_128(&desk.get(output)));
            }
            assert!(
                hashes.iter().all(|hash| *hash == hashes[0]),
                "{method}, {output}: {hashes:x?}"
            );
        }
    }
}

#[test]
fn every_method_can_be_verified_in_every_format() {
    let desk = desk_with_table();
    desk.put("points.csv", "y,phi,slope\n0,0,0\n20,0.5,\n37,1,0\n");
    desk.put("anchors.csv", {
        let rows: Vec<String> = (0..240).map(|row| format!("{},1", row % 10)).collect();
        format!("m,one\n{}\n", rows.join("\n"))
    });
    for (number, options) in [
        "--clusters 12 --alpha 2",
        "--preset published --clusters 5 --alpha 3",
        "--anchors bins:size --clusters 4 --per row",
        "--anchors quantiles:y1 --clusters 4 --within species --gamma log-uniform",
        "--anchors column:site --within species --clip observed --weight w",
        "--method smoter --rare both",
        "--method smogn --rare density",
        "--method c-mixup --rare high --clip observed",
        "--rare points.csv --clusters 4",
        "--anchors matrix:anchors.csv --gamma grid:10",
        "--within species --cluster-on x --cluster-scale raw --gamma gamma:4,0.3",
        "--gamma list:0.5,2 --integers float --categorical count",
        "--features size --exclude w,when",
        "--method mixup --per row",
        "--method c-mixup --bandwidth 1.0",
        "--method c-mixup --bandwidth 0.5sd --beta 0.7",
        "--method local-mixup --epsilon 30",
        "--method noise --feature-noise 0.2",
        "--method foma --rho 0.8 --neighborhood near",
        "--method foma --variant published --rho dimension --svd-scale raw",
        "--method cems --sigma 0.3 --neighborhood-size 10",
        "--method cems --neighborhood row --dimension 2",
        "--method noise --target-noise 3 --noise-units absolute --no-originals",
    ]
    .iter()
    .enumerate()
    {
        let ending = ["parquet", "arrow", "arrows", "csv", "tsv", "csv.gz", "csv.zst"][number % 7];
        let output = format!("out.{ending}");
        let words = format!("augment train.csv {TARGETS} --copies 3 --seed {number} {options}");
        desk.run(&format!("{words} --provenance --manifest out.json --force -o {output}")).ok();
        let matrix = if options.contains("matrix") { "--anchors matrix:anchors.csv" } else { "" };
        let verify = format!("verify {output} --against train.csv --manifest out.json {matrix}");
        let said = desk.run(&verify).ok();
        assert!(said.out.contains("all match"), "{options}: {}", said.out);
        if ending.starts_with("arrow") || ending == "parquet" {
            desk.run(&format!("verify {output} --against train.csv {matrix}")).ok();
        }
        // Another seed makes other rows.
        let other = words.replace(&format!("--seed {number}"), "--seed 99");
        desk.run(&format!("{other} --provenance --quiet --force -o {output}")).ok();
        let said = desk.run(&verify);
        assert_eq!(said.code, Some(1), "{options}: {}{}", said.out, said.err);
    }
}

#[test]
fn rows_without_a_target_can_be_left_out() {
    let desk = TestDir::new();
    desk.put("gaps.csv", "a,b,y\n1.5,1,1\n2.5,2,\n3.5,4,inf\n4.5,3,4\n5.5,9,7\n");
    let words = "augment gaps.csv -t y --drop-missing-target --continuous b --provenance";
    let said =
        desk.run(&format!("{words} --method mixup --manifest m.json --force -o out.csv")).ok();
    assert!(said.err.contains("2 rows without a finite target"), "{}", said.err);
    let text = desk.text("out.csv");
    let sources: Vec<String> = text.lines().skip(1).map(|line| fields(line)[4].clone()).collect();
    assert_eq!(sources, ["0", "3", "4", "0", "3", "4"]);
    desk.run("verify out.csv --against gaps.csv --manifest m.json").ok();
}

#[test]
fn text_of_many_kinds_is_read() {
    let desk = TestDir::new();
    let expected = "a,b,y\n1.5,,3.5\n2.5,x,4.5\n";
    for (words, text) in [
        ("in.csv", &b"\xef\xbb\xbfa,b,y\r\n1.5,,3.5\r\n2.5,x,4.5\r\n"[..]),
        ("in.csv --null ?", b"a,b,y\n1.5,?,3.5\n2.5,x,4.5\n\n"),
        ("in.csv --delimiter ;", b"a;b;y\n1.5;;3.5\n2.5;\"x\";4.5"),
        ("in.tsv", b"a\tb\ty\n1.5\t\t3.5\n2.5\tx\t4.5\n"),
    ] {
        let name = words.split(' ').next().unwrap();
        desk.put(name, text);
        let format = if words.contains("tsv") { "--format csv" } else { "" };
        let copy = format!(
            "augment {words} -t y --gamma list:1 --no-originals {format} --quiet --force -o -"
        );
        let out = desk.run(&copy).ok().out.replace(';', ",");
        assert_eq!(out, expected, "{words}");
    }
    desk.put("bare.csv", "1.5,x,3.5\n2.5,z,4.5\n");
    let bare = "augment bare.csv -t column_3 --no-header --no-originals --gamma list:1 --quiet --force -o -";
    assert_eq!(desk.run(bare).ok().out, "1.5,x,3.5\n2.5,z,4.5\n");
    // Names with spaces, commas and other letters.
    desk.put("odd.csv", "größe cm,\"a,b\",y\n1.5,2.5,3\n2.5,1.5,5\n");
    desk.run("augment odd.csv -t y --carry 'a,b' --features 'größe cm' --quiet --force -o out.csv")
        .ok();
    assert!(desk.text("out.csv").starts_with("größe cm,\"a,b\",y\n"));
}

#[test]
fn pipes_work_both_ways() {
    let desk = TestDir::with_cars();
    let cars = desk.get("cars.csv");
    desk.run("augment cars.csv -t mpg --quiet --force -o out.csv").ok();
    let piped = desk.run_with("augment - -t mpg --quiet --force -o -", &cars).ok();
    assert_eq!(piped.out, desk.text("out.csv"));
    desk.convert("cars.csv", "cars.parquet");
    let again =
        "windlass augment - -t mpg --format parquet -o - --no-originals < cars.parquet 2>&-";
    let said = desk.shell(&format!("{again} | head -c 4"));
    assert_eq!((said.code, said.out.as_str()), (Some(0), "PAR1"));
    // A reader that goes away is no fault.
    let head =
        "windlass augment cars.csv -t mpg --copies 5000 -o - | head -n 1; echo ${PIPESTATUS[0]}";
    let said = desk.shell(head);
    assert!(said.out.ends_with("name\n0\n") && said.err.is_empty(), "{said:?}");
}

#[test]
fn a_summary_for_people_and_for_machines() {
    let desk = TestDir::with_cars();
    let said = desk.run("augment cars.csv -t mpg --clusters 5 --seed 3 -o out.csv").ok();
    assert!(said.out.is_empty());
    let lines: Vec<&str> = said.err.lines().collect();
    assert_eq!(lines[0], "out.csv: 796 rows from 398 by ada");
    assert!(lines.last().unwrap().starts_with("note: split before you augment"), "{}", said.err);
    assert_eq!(said.err.matches("split before").count(), 1);
    assert!(lines[1..].iter().any(|line| line.starts_with("  groups      5 of ")), "{}", said.err);
    let said =
        desk.run("augment cars.csv -t mpg --clusters 5 --seed 3 --json --force -o out.csv").ok();
    let summary: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(summary["rows_out"], 796);
    assert!(!said.err.contains("split before"), "{}", said.err);
    let sizes = summary["groups"].as_array().unwrap().iter();
    assert_eq!(sizes.map(|group| group["rows"].as_u64().unwrap()).sum::<u64>(), 398);
    assert!(desk.run("augment cars.csv -t mpg --quiet --force -o out.csv").ok().err.is_empty());
    // Nobody gets colors who is not at a terminal.
    assert!(!desk.run("augment none.csv -t mpg -o out.csv").err.contains('\x1b'));
}

#[test]
fn every_row_has_a_strength_of_its_own() {
    let desk = TestDir::with_cars();
    let gammas = |options: &str| {
        let words = format!("augment cars.csv -t mpg --provenance --no-originals {options}");
        desk.run(&format!("{words} --quiet -o out.csv")).ok();
        let text = desk.text("out.csv");
        let place = fields(text.lines().next().unwrap()).len() - 1;
        let gamma = |line| fields(line)[place].clone();
        text.lines().skip(1).map(gamma).collect::<std::collections::HashSet<_>>().len()
    };
    for method in ["ada", "mixup", "c-mixup", "local-mixup"] {
        assert!(gammas(&format!("--method {method}")) > 50, "{method}");
        assert_eq!(gammas(&format!("--method {method} --per copy")), 1, "{method}");
    }
    assert_eq!(gammas("--preset published"), 1);
    assert!(gammas("--preset published --per row") > 1);
}

#[test]
fn decimals_are_those_of_the_text() {
    let desk = TestDir::new();
    let mut text = String::from("price,share,n,y\n");
    for row in 0..90 {
        let _ = writeln!(
            text,
            "{:.2},{:.3},{row},{:.1}",
            9.0 + f64::from(row * 31 % 47),
            0.001 * f64::from(row * 7 % 90),
            f64::from(row * 13 % 31) / 2.0
        );
    }
    desk.put("in.csv", &text);
    desk.put("in.tsv", text.replace(',', "\t"));
    let longest = |output: &str| {
        let text = desk.text(output).replace('\t', ",");
        let mut most = [0; 4];
        for line in text.lines().skip(1) {
            for (most, field) in most.iter_mut().zip(line.split(',')) {
                *most = field.split_once('.').map_or(0, |(_, digits)| digits.len()).max(*most);
            }
        }
        most
    };
    desk.run("augment in.csv -t y --copies 3 --provenance --manifest m.json --save-fitted f.json --quiet -o out.csv").ok();
    assert_eq!(longest("out.csv"), [2, 3, 0, 1]);
    desk.run("verify out.csv --against in.csv --manifest m.json").ok();
    desk.run("augment in.csv --fitted f.json --quiet -o again.csv").ok();
    assert_eq!(desk.text("again.csv"), desk.text("out.csv"));
    desk.run("augment in.tsv -t y --quiet -o out.tsv").ok();
    assert_eq!(longest("out.tsv"), [2, 3, 0, 1]);
    desk.run("augment in.csv -t y --decimals full --quiet -o full.csv").ok();
    assert!(
        longest("full.csv").iter().all(|&most| most == 0 || most > 9),
        "{:?}",
        longest("full.csv")
    );
    // Floats that are no text are not rounded.
    desk.convert("in.csv", "in.parquet");
    desk.run("augment in.parquet -t y --quiet --force -o full.csv").ok();
    assert!(longest("full.csv")[0] > 9);
    let manifest: serde_json::Value = serde_json::from_str(&desk.text("m.json")).unwrap();
    assert_eq!(manifest["decimals"]["share"], 3);
    assert_eq!(manifest["settings"]["decimals"], "auto");
}

#[test]
fn values_out_of_range_are_counted_and_bounds_are_kept() {
    let desk = TestDir::with_cars();
    let words = "augment cars.csv -t mpg --gamma 0.3 --copies 2 --force";
    let said = desk.run(&format!("{words} -o out.csv")).ok();
    assert!(said.err.contains("  outside     "), "{}", said.err);
    assert!(said.err.contains(" below and ") || said.err.contains(" above"), "{}", said.err);
    assert!(said.err.contains("\nhint: --clip observed clips values to"), "{}", said.err);
    let said = desk.run(&format!("{words} --clip observed -o out.csv")).ok();
    assert!(said.err.contains("  clipped     ") && !said.err.contains("hint:"), "{}", said.err);
    assert!(said.err.contains("  outside     none"), "{}", said.err);
    assert!(!desk.run(&format!("{words} --clip none -o out.csv")).ok().err.contains("clipped"));
    desk.run(&format!("{words} --bounds mpg=5..50 --bounds acceleration=..25 --manifest m.json --provenance --quiet -o out.csv")).ok();
    let text = desk.text("out.csv");
    let header = fields(text.lines().next().unwrap());
    let column = |name: &str| {
        let place = header.iter().position(|other| other == name).unwrap();
        text.lines().skip(1).map(move |line| fields(line)[place].parse::<f64>().unwrap())
    };
    assert!(column("mpg").all(|mpg| (5.0..=50.0).contains(&mpg)));
    assert!(column("acceleration").all(|value| value <= 25.0));
    desk.run("verify out.csv --against cars.csv --manifest m.json").ok();
}

#[test]
fn local_mixup_says_how_many_rows_it_made() {
    let desk = TestDir::with_cars();
    let words = "augment cars.csv -t mpg --method local-mixup --force";
    let said = desk.run(&format!("{words} -o out.csv")).ok();
    assert!(said.err.contains(" of 398 synthetic rows"), "{}", said.err);
    assert!(said.err.contains("\nhint: a larger --epsilon or more --copies"), "{}", said.err);
    let said = desk.run(&format!("{words} --copies 2 --json -o out.csv")).ok();
    let summary: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(summary["requested"], 796);
    let made = summary["synthetic"].as_u64().unwrap();
    assert!((80..500).contains(&made), "{made}");
    assert_eq!(desk.text("out.csv").lines().count() as u64, 1 + 398 + made);
    let said = desk.run(&format!("{words} --epsilon 100sd -o out.csv")).ok();
    assert!(said.err.contains("796 rows") && !said.err.contains("epsilon"), "{}", said.err);
}

#[test]
fn pictures_are_drawn() {
    let desk = TestDir::with_cars();
    desk.run("augment cars.csv -t mpg --plot cars.svg --quiet --force -o out.csv").ok();
    let svg = desk.text("cars.svg");
    assert!(
        svg.contains("mpg against weight") && svg.matches("<circle").count() + svg.len() > 10_000
    );
    let x = "--plot-x horsepower --quiet --force";
    desk.run(&format!("augment cars.csv -t mpg --plot cars.svg {x} -o out.csv")).ok();
    assert!(desk.text("cars.svg").contains("mpg against horsepower"));
    let said = desk
        .run("augment cars.csv -t mpg --method mixup --plot cars.png --quiet --force -o out.csv");
    if cfg!(feature = "png") {
        said.ok();
        assert!(desk.get("cars.png").starts_with(b"\x89PNG\r\n\x1a\n"));
    } else {
        assert!(said.err.contains("--features png"), "{}", said.err);
    }
}

#[test]
fn wide_tables_work() {
    let desk = TestDir::new();
    let line = |f: &dyn Fn(usize) -> String| (0..10_000).map(f).collect::<Vec<_>>().join(",");
    let mut text = line(&|column| format!("c{column}")) + "\n";
    for row in 0..30 {
        text += &(line(&|column| format!("{}.5", (row * 31 + column) % 17)) + "\n");
    }
    desk.put("wide.csv", &text);
    desk.run("augment wide.csv -t c77 --clusters 3 --quiet --force -o out.csv").ok();
    desk.convert("wide.csv", "wide.parquet");
    desk.run("augment wide.parquet -t c77 --clusters 3 --quiet --force -o again.csv").ok();
    assert_eq!(desk.text("again.csv").lines().count(), 1 + 60);
}

#[test]
fn a_fault_leaves_the_old_output_and_nothing_else() {
    let desk = TestDir::with_cars();
    desk.put("out.csv", "old");
    // Too large a file, as on a full disk: the limit is in blocks of 1024 bytes.
    let full = "trap '' XFSZ; ulimit -f 40; windlass augment cars.csv -t mpg --copies 50 --force -o out.csv";
    let said = desk.shell(full);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.starts_with("error: cannot write `out.csv`: File too large"), "{}", said.err);
    assert_eq!((desk.text("out.csv").as_str(), desk.files().len()), ("old", 2));
    if std::path::Path::new("/dev/full").exists() {
        let said = desk.shell("windlass augment cars.csv -t mpg --quiet --force -o - > /dev/full");
        assert_eq!(said.code, Some(2));
        let words =
            "error: cannot write `-`: No space left on device (os error 28)\nhint: free some space";
        assert!(said.err.starts_with(words), "{}", said.err);
    }
    // A folder that cannot be written to, not even by its owner.
    if std::path::Path::new("/sys/kernel").exists() {
        let said = desk.run("augment cars.csv -t mpg -o /sys/kernel/out.csv");
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.err.contains("cannot write `/sys/kernel/out.csv`: "), "{}", said.err);
    }
}

/// Starts a run that would take minutes, waits until it writes, and sends it a signal.
#[cfg(unix)]
fn interrupted_by(signal: &str) -> (TestDir, Option<i32>) {
    let desk = TestDir::with_cars();
    desk.put("out.csv", "old");
    let mut child = desk
        .command("augment cars.csv -t mpg --copies 1000000 --force -o out.csv")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let writing = |name: &String| name.starts_with(".windlass-");
    while !desk.files().iter().any(writing) {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it wrote");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    std::thread::sleep(std::time::Duration::from_millis(100));
    let kill = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    let mut rest = String::new();
    child.stdout.take().unwrap().read_to_string(&mut rest).unwrap();
    let code = child.wait().unwrap().code();
    assert_eq!(desk.text("out.csv"), "old");
    (desk, code)
}

#[test]
#[cfg(unix)]
fn an_end_in_the_middle_leaves_the_old_output() {
    let (desk, code) = interrupted_by("-INT");
    assert_eq!((desk.files(), code), (vec!["cars.csv".into(), "out.csv".into()], Some(130)));
    // Killed outright, it cannot tidy up, but nothing has the output's name.
    let (_, code) = interrupted_by("-KILL");
    assert_eq!(code, None);
}

#[test]
fn the_examples_of_the_help_run() {
    let desk = TestDir::with_cars();
    let lines = mixed_table(240);
    let numbered = lines.lines().enumerate().map(|(row, line)| match row {
        0 => format!("{line},y\n"),
        _ => format!("{line},{row}\n"),
    });
    desk.put("train.csv", numbered.collect::<String>());
    desk.convert("train.csv", "train.parquet");
    std::fs::create_dir(desk.path("folder")).unwrap();
    std::fs::copy(desk.path("train.parquet"), desk.path("folder/1.parquet")).unwrap();
    std::fs::copy(desk.path("train.parquet"), desk.path("more.parquet")).unwrap();
    let mut run = 0;
    for command in ["augment", "inspect", "verify", "completions", "man"] {
        let help = desk.run(&format!("{command} --help")).ok().out;
        for example in help.lines().filter_map(|line| line.strip_prefix("  windlass ")) {
            if example.starts_with("verify out.csv") {
                let words = "augment train.csv -t y --provenance --manifest out.json --quiet --force -o out.csv";
                desk.run(words).ok();
            } else if example.starts_with("verify out/") {
                std::fs::create_dir(desk.path("out")).unwrap();
                let words =
                    "augment train.parquet --fitted anchors.json --quiet --force -o out/1.parquet";
                desk.run(words).ok();
            }
            // At home in the desk's folder; a pager would wait.
            let line = format!(
                "set -o pipefail; export HOME=$PWD; mkdir -p .local/share/man/man1 .config/fish/completions \
                 .local/share/bash-completion/completions; windlass {}",
                example.replace("| man -l -", "| cat")
            );
            let said = desk.shell(&line);
            assert_eq!(said.code, Some(0), "{example}: {}", said.err);
            run += 1;
        }
    }
    assert_eq!(run, 19);
    assert!(desk.run("--help").ok().out.contains("Exit codes"));
    assert!(desk.run("--version").ok().out.starts_with("windlass 0."));
}

#[test]
fn a_format_can_be_said_and_a_link_stays_a_link() {
    let desk = TestDir::with_cars();
    desk.run("augment cars.csv -t mpg --format parquet --quiet --force -o out").ok();
    assert!(desk.get("out").starts_with(b"PAR1"));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("there.csv", desk.path("link.csv")).unwrap();
        for _ in 0..2 {
            desk.run("augment cars.csv -t mpg --quiet --force -o link.csv").ok();
            assert!(desk.path("link.csv").is_symlink());
            assert_eq!(desk.text("there.csv").lines().count(), 797);
        }
    }
}

#[test]
fn a_file_that_changes_is_refused() {
    let desk = TestDir::new();
    desk.put("grow.csv", mixed_table(400_000));
    let words = format!("augment grow.csv {TARGETS} --memory 32MiB --copies 3000 -o out.csv");
    let child = desk.command(&words).stderr(Stdio::piped()).spawn().unwrap();
    while !desk.files().iter().any(|name| name.starts_with(".windlass-")) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let mut file = std::fs::File::options().append(true).open(desk.path("grow.csv")).unwrap();
    std::io::Write::write_all(&mut file, b"more\n").unwrap();
    drop(file);
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    // As a change of the file, or as the line that does not fit.
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert_eq!(desk.files(), ["grow.csv"]);
}

#[test]
fn duplicate_keys_are_refused() {
    let desk = TestDir::new();
    let rows: Vec<String> =
        (0..20).map(|row| format!("k{},{}.5,{row}\n", row % 19, row * row)).collect();
    desk.put("t.csv", format!("key,x,y\n{}", rows.concat()));
    for per in ["row", "copy"] {
        let said =
            desk.run(&format!("augment t.csv -t y --rows-by column:key --per {per} -o out.csv"));
        assert_eq!(said.code, Some(1), "{per}");
        assert!(said.err.contains("two rows have the key key=k0"), "{}", said.err);
    }
}

#[test]
fn large_numbers_are_short_and_large_integers_are_noted() {
    let desk = TestDir::new();
    let rows: Vec<String> = (0..20)
        .map(|row| format!("{},{}.5,{row}\n", (1_i64 << 60) + row * row * 1_000_003, row * row % 7))
        .collect();
    desk.put("t.csv", format!("n,x,y\n{}", rows.concat()));
    let said = desk.run("augment t.csv -t y -o out.csv").ok();
    let note = "note: column `n` has integers beyond 2^53: they are moved as floats";
    assert!(said.err.contains(note), "{}", said.err);
    let said = desk.run("augment t.csv -t y --carry n --force -o out.csv").ok();
    assert!(!said.err.contains("2^53"), "{}", said.err);
    desk.put("huge.csv", "x,y\n1e308,1\n2,3\n4,5\n");
    let said = desk.run("augment huge.csv -t y -o huge-out.csv");
    assert!(said.err.contains("column `x` is 1e308 in row 1"), "{}", said.err);
    assert!(desk.run("inspect huge.csv").ok().out.contains("2 to 1e308"));
}

/// A table whose target has a long upper tail.
fn skewed_table(rows: usize) -> String {
    let mut text = String::from("a,b,kind,y\n");
    for row in 0..rows {
        let a = (row * 37 % 101) as f64 / 10.0;
        let (b, kind) = (row * 7 % 50, row % 3);
        writeln!(text, "{a},{b},k{kind},{:.3}", (a / 2.0).exp() + b as f64 / 50.0).unwrap();
    }
    text
}

/// The columns of a table with provenance: target, synthetic, source, copy, partner and λ.
fn provenance(text: &str) -> Vec<(f64, bool, usize, usize, Option<usize>)> {
    let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let place = |name: &str| header.iter().position(|&column| column == name);
    let at = |name: &str| place(name).unwrap();
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let partner = place("windlass_partner").and_then(|at| fields[at].parse().ok());
        let number = |name: &str| fields[at(name)].parse().unwrap();
        let synthetic = fields[at("windlass_synthetic")] == "true";
        let (source, copy) = (number("windlass_source"), number("windlass_copy"));
        (fields[at("y")].parse().unwrap(), synthetic, source, copy, partner)
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn only_rare_rows_are_sources() {
    let desk = TestDir::new();
    desk.put("t.csv", skewed_table(300));
    for method in ["smoter", "smogn", "ada", "c-mixup", "local-mixup", "mixup", "noise"] {
        let words = format!("augment t.csv -t y --method {method} --rare high --provenance");
        let said = desk.run(&format!("{words} --json --force -o out.csv")).ok();
        let summary: serde_json::Value = serde_json::from_str(&said.out).unwrap();
        let rows = provenance(&desk.text("out.csv"));
        let rare = &summary["rare"];
        let low = rare["ranges"][0]["low"].as_f64().unwrap();
        let is_rare = |row: &usize| rows[*row].0 >= low;
        let sources: Vec<usize> = (0..300).filter(is_rare).collect();
        assert_eq!(rare["rows"], sources.len(), "{method}");
        assert!((10..100).contains(&sources.len()));
        // Rare rows and their copies are as many as the others, to half a copy of each.
        let copies = usize::try_from(rare["copies"].as_u64().unwrap()).unwrap();
        let balanced = sources.len() * (copies + 1);
        assert!(balanced.abs_diff(300 - sources.len()) <= sources.len() / 2 + 1, "{method}");
        let made: Vec<_> = rows.iter().filter(|row| row.1).collect();
        assert!(made.iter().all(|row| sources.contains(&row.2)), "{method}");
        if method != "local-mixup" {
            assert_eq!(made.len(), sources.len() * copies, "{method}");
        }
        assert_eq!(summary["synthetic"], made.len());
        if ["smoter", "smogn"].contains(&method) {
            let partners: Vec<usize> = made.iter().filter_map(|row| row.4).collect();
            assert!(partners.iter().all(|row| sources.contains(row)), "{method}");
            assert!(method == "smogn" || partners.len() == made.len());
            assert!(method == "smogn" || made.iter().all(|row| row.0 >= low - 0.001));
        }
        desk.run(&format!("{words} --copies 2 --quiet --force -o two.csv")).ok();
        let two = provenance(&desk.text("two.csv"));
        // The first copies do not depend on the number of copies.
        let first = |rows: &[(f64, bool, usize, usize, Option<usize>)]| -> Vec<_> {
            rows.iter().filter(|row| row.3 <= 2).copied().collect()
        };
        assert_eq!(first(&two), if copies >= 2 { first(&rows) } else { first(&two) }, "{method}");
    }
}

#[test]
fn rare_rows_do_not_depend_on_threads_memory_or_files() {
    let desk = TestDir::new();
    let table = skewed_table(9_000);
    desk.put("t.csv", &table);
    let (header, rows) = table.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    for (part, rows) in rows.chunks(1_999).enumerate() {
        desk.put(&format!("parts/{part}.csv"), format!("{header}\n{}\n", rows.join("\n")));
    }
    for method in ["smoter --rare both", "smogn --rare high", "c-mixup --rare density"] {
        let mut all = vec![];
        for (input, more) in
            [("t.csv", "--threads 1"), ("t.csv", "--threads 4 --memory 64MiB"), ("parts", "")]
        {
            let words = format!("augment {input} -t y --method {method} --provenance {more}");
            desk.run(&format!("{words} --quiet --force -o out.csv")).ok();
            all.push(desk.text("out.csv"));
        }
        assert!(all.iter().all(|text| *text == all[0]), "{method}");
    }
}

#[test]
fn a_plot_of_rare_rows_shows_the_relevance() {
    let desk = TestDir::new();
    desk.put("t.csv", skewed_table(300));
    let words = "augment t.csv -t y --rare high --quiet --force -o out.csv --plot plot.svg";
    desk.run(words).ok();
    let svg = desk.text("plot.svg");
    assert!(svg.contains("relevance φ") && svg.contains(">Original (300)<"), "{svg}");
    assert!(svg.contains("<rect x=") && !svg.contains("<circle cx='90"));
    desk.run(&format!("{words} --plot-x a")).ok();
    let svg = desk.text("plot.svg");
    assert!(svg.contains("y against a") && !svg.contains("relevance"));
}

/// The level of a category, a date and a missing value are those of the source row.
#[test]
fn rare_rows_of_a_table_with_every_kind_of_column() {
    let desk = desk_with_table();
    for method in ["smoter", "smogn"] {
        let words = format!("augment train.csv {TARGETS} --method {method} --rare high");
        desk.run(&format!("{words} --provenance --quiet --force -o out.csv")).ok();
        let text = desk.text("out.csv");
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert!(lines.len() > 300, "{}", lines.len());
        for line in &lines[240..] {
            let made = fields(line);
            let source = fields(lines[made[12].parse::<usize>().unwrap()]);
            for carried in [0, 3, 4, 5, 6, 7] {
                assert_eq!(source[carried], made[carried]);
            }
            assert!(!source[1].is_empty() || made[1].is_empty());
        }
    }
}
