//! `windlass export` to C: a compiled header predicts what `windlass predict` predicts.

mod common;

use std::fmt::Write as _;
use std::process::{Command, Stdio};

use common::{TestDir, said};

/// A column's name in the table and its macro in the header.
const COLUMNS: [(&str, &str); 8] = [
    ("size", "WINDLASS_IN_SIZE"),
    ("a*/b", "WINDLASS_IN_A_B"),
    ("a\nb \u{202e}", "WINDLASS_IN_A_B_2"),
    ("größe", "WINDLASS_IN_GR_E"),
    ("rooms", "WINDLASS_IN_ROOMS"),
    ("kind", "WINDLASS_IN_KIND"),
    ("new?", "WINDLASS_IN_NEW"),
    ("when", "WINDLASS_IN_WHEN"),
];
const KINDS: [(&str, &str); 5] = [
    ("*/ hut", "WINDLASS_KIND_HUT"),
    ("hut", "WINDLASS_KIND_HUT_2"),
    ("flat \\", "WINDLASS_KIND_FLAT"),
    ("castle ??/", "WINDLASS_UNKNOWN"),
    ("", "NAN"),
];
const PREDICTED: usize = 1000;

/// The cells of a row as text of the table and as C expressions; `far` rows have what training rows have not.
fn row(number: usize, far: bool) -> (Vec<String>, Vec<String>) {
    let share = |factor: usize, of: usize| (number * factor % of) as f64 / of as f64;
    let stretch = if far && number.is_multiple_of(7) { 1e6 } else { 1.0 };
    let numbers = [share(37, 101), share(53, 89) - 0.5, share(29, 97) * 1e-3, share(61, 83) * 1e5];
    let mut text = vec![];
    for (column, value) in numbers.iter().enumerate() {
        // The last has no missing values in training rows.
        let missing = number % (11 + column) == 3 && (far || column < 3);
        text.push(if missing { String::new() } else { (value * stretch).to_string() });
    }
    text.push((number * 7 % if far { 9 } else { 5 } + 2).to_string());
    let mut cells: Vec<String> = text
        .iter()
        .map(|cell| if cell.is_empty() { "NAN".to_owned() } else { cell.clone() })
        .collect();
    let (kind, constant) = KINDS[number * 2 % if far { 5 } else { 3 }];
    let (is_new, is_new_constant) =
        [("true", "WINDLASS_NEW_TRUE"), ("false", "WINDLASS_NEW_FALSE")][number % 2];
    let (year, month, day) =
        (2019 + number % if far { 9 } else { 3 }, number % 12 + 1, number % 28 + 1);
    let hour = number * 7 % 24;
    let when = format!("{year}-{month:02}-{day:02} {hour:02}:30:00");
    text.extend([kind.to_owned(), is_new.to_owned(), when]);
    // Days since 1970 of a date after it.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468;
    let seconds = days * 86_400 + hour * 3600 + 1800;
    cells.extend([constant.to_owned(), is_new_constant.to_owned(), seconds.to_string()]);
    (text, cells)
}

fn table(rows: usize, far: bool) -> String {
    let quoted = |cells: &[String]| {
        let cells = cells.iter().map(|cell| format!("\"{}\"", cell.replace('"', "\"\"")));
        cells.collect::<Vec<_>>().join(",")
    };
    let mut text = quoted(&COLUMNS.map(|(name, _)| name.to_owned())) + ",price,*/ cost\n";
    for number in 0..rows {
        let (cells, _) = row(number, far);
        let value = |column: usize| cells[column].parse::<f64>().unwrap_or(0.5);
        let hour = (number * 7 % 24) as f64 / 24.0;
        let price = 3.0 * value(0) - value(1)
            + 1e3 * value(2)
            + (value(4) - 4.0).abs()
            + (number * 2 % 3) as f64 * 2.0
            + (std::f64::consts::TAU * hour).sin() * 5.0
            + (number % 12) as f64 * 0.3;
        writeln!(text, "{},{price},{}", quoted(&cells), value(0) * value(3) - price).unwrap();
    }
    text
}

/// A program that prints the predictions of all rows. It sets every input that the header has.
fn program(header: &str) -> String {
    let used = |index: usize| header.contains(&format!("#define {} ", COLUMNS[index].1));
    let mut text = String::from(
        "#include \"model.h\"\n#include \"model.h\"\n#include <stdio.h>\n#ifndef WINDLASS_UNKNOWN\n\
         #define WINDLASS_UNKNOWN (-1)\n#endif\n",
    );
    let used: Vec<usize> = (0..COLUMNS.len()).filter(|&index| used(index)).collect();
    assert!(!used.is_empty());
    writeln!(text, "static const double rows[{PREDICTED}][{}] = {{", used.len()).unwrap();
    for number in 0..PREDICTED {
        let (_, cells) = row(number, true);
        let cells: Vec<&str> = used.iter().map(|&index| cells[index].as_str()).collect();
        writeln!(text, "{{{}}},", cells.join(",")).unwrap();
    }
    text += "};\nint main(void) {\n double inputs[WINDLASS_N_INPUTS], outputs[WINDLASS_N_OUTPUTS];\n int r, o;\n";
    writeln!(text, " for (r = 0; r < {PREDICTED}; ++r) {{").unwrap();
    for (place, &index) in used.iter().enumerate() {
        writeln!(text, "  inputs[{}] = rows[r][{place}];", COLUMNS[index].1).unwrap();
    }
    text += "  windlass_predict(inputs, outputs);\n";
    text += "  for (o = 0; o < WINDLASS_N_OUTPUTS; ++o) printf(\"%.17g \", outputs[o]);\n  puts(\"\");\n }\n";
    text += " inputs[0] = INFINITY;\n windlass_predict(inputs, outputs);\n";
    text + " return outputs[0] == outputs[0];\n}\n"
}

fn run(desk: &TestDir, command: &str) -> common::CommandOutput {
    let mut words = command.split_whitespace();
    let mut command = Command::new(words.next().unwrap());
    said(command.args(words).current_dir(desk.path(".")).stdin(Stdio::null()))
}

fn has(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok()
}

#[test]
#[expect(clippy::print_stdout, reason = "says what was skipped")]
fn compiled_models_predict_the_same() {
    if !has("cc") {
        println!("skipped: no C compiler; install one, such as gcc, as `cc`");
        return;
    }
    let desk = TestDir::new();
    desk.put("train.csv", table(300, false)).put("far.csv", table(PREDICTED, true));
    for (number, settings) in [
        "--epochs 20",
        "--epochs 20 --committee 3 --augment ada --manifold 1",
        "--epochs 20 --hidden 7,5 --activation tanh --scale minmax --target 'price,*/ cost'",
        "--epochs 5 --model fcn3 --features size,rooms --target-scale none",
        "--epochs 5 --hidden 9 --activation sigmoid --categorical rooms",
        "--epochs 5 --hidden 37 --activation relu",
        "--model ridge --penalty 0.5",
        "--model anchor --anchors column:kind --anchor-gamma 3",
        "--model forest --trees 30",
        "--model forest --trees 10 --target 'price,*/ cost'",
        "--model gp",
        "--model gp --target 'price,*/ cost' --target-scale none --scale minmax",
        "--model extra-trees --trees 30",
        "--model boosting --trees 30 --target 'price,*/ cost'",
        "--auto",
    ]
    .into_iter()
    .enumerate()
    {
        let target =
            if settings.contains("--target '") { "" } else { "--target price --exclude '*/ cost'" };
        desk.run(&format!("train train.csv {target} {settings} --force --quiet -o m")).ok();
        desk.run("export m model.h").ok();
        let header = desk.text("model.h");
        desk.put("main.c", program(&header));
        let flags = "-Wall -Wextra -pedantic -Werror -O1";
        run(&desk, &format!("cc -std=c99 {flags} main.c -o main -lm")).ok();
        if number == 2 && has("c++") {
            run(&desk, &format!("c++ -std=c++11 {flags} -x c++ main.c -o main -lm")).ok();
        }
        let got = run(&desk, desk.path("main").to_str().unwrap()).ok().out;
        desk.run("predict m far.csv --force --quiet -o out.csv").ok();
        let expected = desk.text("out.csv");
        // Cells of the names have line breaks, those of the values do not.
        let lines: Vec<&str> = expected.lines().rev().take(PREDICTED).collect();
        for (row, (got, line)) in got.lines().zip(lines.iter().rev()).enumerate() {
            let got: Vec<f64> = got.split_whitespace().map(|cell| cell.parse().unwrap()).collect();
            let mut cells: Vec<&str> = line.rsplit(',').collect();
            // Committees have standard deviations after the predictions.
            let sd = expected.contains("prediction_sd");
            let expected = cells.drain(usize::from(sd)..).take(got.len());
            for (place, (value, expected)) in got.iter().rev().zip(expected).enumerate() {
                let expected: f64 = expected.parse().unwrap();
                // Costs, the last of two targets, have five digits: near 0 their last digits are rounding.
                let unit = if place == 0 && got.len() == 2 { 1e5 } else { 10.0 };
                let close = (value - expected).abs() <= 1e-6 * expected.abs().max(1e-3 * unit);
                assert!(close, "{settings}, row {row}: {value} instead of {expected}");
            }
        }
        assert_eq!(got.lines().count(), PREDICTED);
        if settings.contains("ridge") {
            for (name, macro_name) in COLUMNS.iter().chain(&KINDS[..3]) {
                assert!(header.contains(&format!("#define {macro_name} ")), "{name}");
            }
        }
    }
}
