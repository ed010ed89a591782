//! The help of every command, as kept in `help.txt`; `WINDLASS_BLESS=1` writes it anew.

mod common;

use std::fmt::Write as _;

use common::TestDir;

const KEPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/help.txt");
const COMMANDS: [&str; 15] = [
    "",
    "augment",
    "inspect",
    "verify",
    "compare",
    "tune",
    "train",
    "distill",
    "predict",
    "regress",
    "show",
    "export",
    "studio",
    "completions",
    "man",
];

/// The short help fits a screen, the long one begins with examples.
#[test]
fn help_is_as_kept() {
    let desk = TestDir::new();
    let mut text = String::new();
    for command in COMMANDS {
        for option in ["-h", "--help"] {
            let said = desk.run(&format!("{command} {option}")).ok();
            if option == "-h" {
                let lines = said.out.lines().count();
                assert!(lines <= 40, "`{command} -h` has {lines} lines");
            } else if !command.is_empty() {
                assert!(said.out.starts_with("Examples:\n  windlass "), "{}", said.out);
            }
            writeln!(text, "$ windlass {command} {option}\n{}", said.out).unwrap();
        }
    }
    if std::env::var_os("WINDLASS_BLESS").is_some() {
        std::fs::write(KEPT, &text).unwrap();
    }
    let kept = std::fs::read_to_string(KEPT).unwrap_or_default();
    assert!(kept == text, "the help changed: look at it, and set WINDLASS_BLESS=1 to keep it");
}
