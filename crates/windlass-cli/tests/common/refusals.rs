//! Refusals and their exact words, compared with a file.

use std::fmt::Write as _;

use super::{CommandOutput, TestDir, name};

const SNAPSHOT: &str = "tests/refusals.txt";

/// A table of some rows, big enough to have pages.
pub(crate) fn table(rows: usize) -> String {
    let mut text = String::from("a,b,kind,y\n");
    for row in 0..rows {
        let value = (row * 37 % 101) as f64;
        writeln!(text, "{value}.5,{},k{},{}.25", row * 7 % 50, row % 3, row % 11).unwrap();
    }
    text
}

/// The words of the command that a case runs; the desk is prepared before.
pub(crate) fn case(log: &mut String, title: &str, words: &str, prepare: impl FnOnce(&TestDir)) {
    let desk = TestDir::new();
    desk.put("good.csv", table(60));
    prepare(&desk);
    let before = desk.files();
    let said = desk.run(words);
    record(log, title, words, &said);
    assert_eq!(desk.files(), before, "{title}: nothing is left behind");
    assert!(matches!(said.code, Some(1 | 2)), "{title}: {said:?}");
    assert!(!said.err.contains("panicked"), "{title}: {}", said.err);
    assert!(said.out.is_empty(), "{title}: {}", said.out);
}

fn record(log: &mut String, title: &str, words: &str, said: &CommandOutput) {
    let (name, code) = (name(), said.code.unwrap_or(-1));
    writeln!(log, "## {title}\n$ {name} {words}\n{}[{code}]\n", said.err).unwrap();
}

/// Compares what was logged with `refusals.txt`; with `WINDLASS_BLESS=1` it writes that file anew first.
pub(crate) fn compare(log: &str) {
    if std::env::var_os("WINDLASS_BLESS").is_some() {
        std::fs::write(SNAPSHOT, log).unwrap();
    }
    let expected = std::fs::read_to_string(SNAPSHOT).unwrap();
    for (now, then) in log.split("## ").zip(expected.split("## ")) {
        assert_eq!(now, then);
    }
    assert_eq!(log, expected);
}
