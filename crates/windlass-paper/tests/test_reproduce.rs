//! `reproduce`: end to end.

#[path = "../../windlass-cli/tests/common/mod.rs"]
mod common;

use std::process::Stdio;
use std::time::{Duration, Instant};

use common::TestDir;

#[test]
fn without_a_name_it_lists_all() {
    let said = TestDir::new().run("reproduce").ok();
    for name in ["figure1", "linear", "airfoil", "sensitivity", "electricity", "dti"] {
        assert!(said.out.lines().any(|line| line.starts_with(name)), "{name}: {}", said.out);
    }
    assert!(said.out.contains("published, equal, splits"), "{}", said.out);
    assert!(said.out.contains("reduced, full (only when asked)"), "{}", said.out);
    let refused = said.out.contains("(needs deep networks: build with --features deep)");
    assert_eq!(refused, !cfg!(feature = "deep"), "{}", said.out);
}

#[test]
fn pictures_and_numbers_in_a_folder() {
    let desk = TestDir::new();
    let said = desk.run("reproduce figure1 cosine-range --quick --seeds 3").ok();
    assert!(said.err.contains("cosine-range"), "{}", said.err);
    assert_eq!(desk.files(), ["paper-quick"]);
    for (page, picture) in
        [("figure1", "groups-5"), ("figure1", "groups-12"), ("cosine-range", "points-10")]
    {
        let svg = desk.text(&format!("paper-quick/{page}/figures.svg"));
        assert!(svg.starts_with("<svg") && svg.contains(&format!("<view id='{picture}' ")));
        assert!(desk.get(&format!("paper-quick/{page}/{picture}.png")).starts_with(b"\x89PNG"));
    }
    let page = desk.text("paper-quick/cosine-range/README.md");
    assert!(page.contains("`windlass-paper reproduce cosine-range --quick --seeds 3`"), "{page}");
    assert!(page.contains("seed 3") && page.contains("| α = 5 | 0.470 |"), "{page}");
    // Whatever says what was run is there: the command, the seeds, the version, every run.
    let runs = desk.text("paper-quick/cosine-range/fits.json");
    assert_eq!(runs.matches("\"train_rows\"").count(), 5);
    assert!(runs.contains("\"seeds\"") && runs.contains("\"version\""));
}

#[test]
fn one_part_of_several() {
    let desk = TestDir::new();
    desk.run("reproduce linear --quick --only mlp-10 --output out").ok();
    let figures = desk.text("out/linear/figures.svg");
    assert!(figures.contains("id='mlp-10'") && !figures.contains("id='ridge-10'"));
    let page = desk.text("out/linear/README.md");
    assert!(page.contains("A quick look, no result") && !page.contains("#ridge-10"), "{page}");
}

#[test]
fn ctrl_c_keeps_what_was_run() {
    let desk = TestDir::new();
    let words = "reproduce cosine-groups --seeds 0,1";
    let part = desk.path("paper/cosine-groups/fits.part/runs.jsonl");
    let mut child =
        desk.command(words).stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    let has_a_run = || std::fs::metadata(&part).is_ok_and(|file| file.len() > 0);
    while !has_a_run() {
        assert!(started.elapsed() < Duration::from_mins(2), "no run has ended");
        std::thread::sleep(Duration::from_millis(5));
    }
    let stopped = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(stopped.success());
    let code = child.wait().unwrap().code();
    // It may have come to its end before it heard.
    if code == Some(0) {
        return;
    }
    assert_eq!(code, Some(130));
    assert!(has_a_run() && !desk.path("paper/cosine-groups/README.md").exists());
    desk.run(words).ok();
    assert!(!part.exists() && desk.path("paper/cosine-groups/fits.json").exists());
}
