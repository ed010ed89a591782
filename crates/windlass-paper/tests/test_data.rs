//! `windlass-paper data`: what it lists, fetches and makes.

#[path = "../../windlass-cli/tests/common/mod.rs"]
mod common;
#[path = "common/server.rs"]
mod server;

use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use common::{CommandOutput, TestDir, said};
use serde_json::Value;
use server::{Server, send, whole_or_rest};

/// Runs `windlass-paper data` with a data folder of its own, and no other.
fn run(desk: &TestDir, words: &str) -> CommandOutput {
    said(command(desk, words).stdin(Stdio::null()))
}

fn command(desk: &TestDir, words: &str) -> std::process::Command {
    let mut command = desk.command(&format!("data {words}"));
    command.env("WINDLASS_DATA", "cache").env("HOME", desk.path("home"));
    command.env_remove("XDG_CACHE_HOME");
    command
}

/// The bytes of a file of the registry, unless they are nowhere.
#[expect(clippy::print_stdout, reason = "says what was skipped")]
fn published(path: &str) -> Option<Vec<u8>> {
    let folder = std::env::var_os("WINDLASS_DATA").map(PathBuf::from);
    let found = folder.map(|folder| folder.join(path)).filter(|path| path.is_file());
    if found.is_none() {
        println!("skipped: `{path}` is absent");
    }
    Some(std::fs::read(found?).unwrap())
}

const AIRFOIL: &str = "airfoil/airfoil_self_noise.dat";

#[test]
fn every_data_set_is_listed() {
    let desk = TestDir::new();
    let table = run(&desk, "list").ok().out;
    for line in [
        "airfoil            1503   6        58 kB   CC BY 4.0       absent",
        "crime              1994   124      1.1 MB  CC BY 4.0       absent",
        "fashion_mnist      70000  -        31 MB   MIT             absent",
        "dti                -      -        -       see the source  later",
    ] {
        assert!(table.lines().any(|found| found == line), "{table}");
    }
    let sets: Value = serde_json::from_str(&run(&desk, "list --json").ok().out).unwrap();
    assert_eq!(sets.as_array().unwrap().len(), table.lines().count() - 1);
    assert_eq!((&sets[0]["name"], &sets[0]["state"]), (&"airfoil".into(), &"absent".into()));
}

#[test]
fn a_data_set_is_described() {
    let desk = TestDir::new();
    let text = run(&desk, "info crime").ok().out;
    for part in [
        "domain   state",
        "target   violent_crimes_per_pop",
        "missing  ?",
        "31 states",
        "d90d85bd66bad9a00fa0ed6c15ac017b5966d528e55ba2940ad028d071353f95",
        "124 columns",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
    let target = ["violent_crimes_per_pop", "float64", "target"];
    assert!(text.lines().any(|line| line.split_whitespace().eq(target)), "{text}");
    let info: Value = serde_json::from_str(&run(&desk, "info auto_mpg --json").ok().out).unwrap();
    assert_eq!(info["columns"][8], serde_json::json!({ "name": "car_name", "type": "utf8" }));
    assert_eq!(info["files"][0]["bytes"], 30_286);
    let partial = run(&desk, "info electricity").ok().out;
    assert!(partial.contains("2 of 321 channels") && partial.contains("not comparable"));
}

#[test]
fn paths_are_printed_or_refused() {
    let desk = TestDir::new();
    let refused = run(&desk, "path airfoil");
    assert_eq!((refused.code, refused.out.as_str()), (Some(1), ""));
    assert!(
        refused.err.contains("download it: windlass-paper data get airfoil"),
        "{}",
        refused.err
    );
    desk.put(&format!("cache/{AIRFOIL}"), "anything");
    let printed = run(&desk, "path airfoil").ok().out;
    assert_eq!(printed, format!("{}\n", PathBuf::from("cache").join(AIRFOIL).display()));
}

#[test]
fn a_mirror_gives_files_once() {
    let Some(bytes) = published(AIRFOIL) else { return };
    let (desk, server) = (TestDir::new(), Server::of(&bytes));
    let get = format!("get airfoil --from {}", server.url("/data"));
    let first = run(&desk, &get).ok();
    assert!(first.out.is_empty() && first.err.contains("fetched from"), "{first:?}");
    assert_eq!(desk.get(&format!("cache/{AIRFOIL}")), bytes);
    assert!(run(&desk, &get).ok().err.contains("already exists"));
    assert!(run(&desk, &format!("{get} --quiet")).ok().err.is_empty());
    assert_eq!(server.requests().len(), 1);
    assert_eq!(server.requests()[0].path, format!("/data/{AIRFOIL}"));
    assert!(run(&desk, "list").ok().out.contains(AIRFOIL));
    run(&desk, &format!("{get} --folder elsewhere")).ok();
    assert_eq!(desk.get(&format!("elsewhere/{AIRFOIL}")), bytes);
}

#[test]
fn other_bytes_are_refused_and_nothing_is_left() {
    let (desk, server) = (TestDir::new(), Server::of(b"other bytes"));
    let said = run(&desk, &format!("get airfoil no2 --from {}", server.url("")));
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    for part in ["`airfoil/airfoil_self_noise.dat`", "`no2/no2.csv`", "58481 bytes", "10ee06e6cf"] {
        assert!(said.err.contains(part), "{part} in {}", said.err);
    }
    assert!(desk.files().iter().all(|name| name == "cache"), "{:?}", desk.files());
    assert!(!desk.path("cache/airfoil").join("airfoil_self_noise.dat").exists());
}

/// A killed download leaves what has come, and the next run asks for the rest alone.
#[test]
fn a_killed_download_leaves_a_part() {
    let Some(bytes) = published(AIRFOIL) else { return };
    let (desk, half) = (TestDir::new(), bytes.len() / 2);
    let sent = bytes.clone();
    let server = Server::new(move |request, stream| match request.from {
        None => {
            let length = format!("Content-Length: {}", sent.len());
            send(stream, "200 OK", &[length], &sent[..half]);
            // Waits until nobody listens any more.
            let _ = std::io::Read::read(stream, &mut [0]);
        }
        Some(_) => whole_or_rest(&sent, request, stream),
    });
    let get = format!("get airfoil --from {}", server.url(""));
    let mut child = command(&desk, &get).stderr(Stdio::null()).spawn().unwrap();
    let part = desk.path(&format!("cache/{AIRFOIL}.part"));
    let begun = Instant::now();
    while part.metadata().map_or(0, |data| data.len()) < half as u64 {
        assert!(begun.elapsed() < Duration::from_secs(30), "nothing came");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let files: Vec<_> = std::fs::read_dir(desk.path("cache/airfoil")).unwrap().collect();
    assert_eq!(files.len(), 1, "{files:?}");
    assert_eq!(std::fs::read(&part).unwrap(), bytes[..half]);
    run(&desk, &get).ok();
    assert_eq!(desk.get(&format!("cache/{AIRFOIL}")), bytes);
    assert!(!part.exists());
    assert_eq!(server.requests()[1].from, Some(half));
}

#[test]
fn tables_are_made_from_seeds() {
    let desk = TestDir::new();
    run(&desk, "make cosine --output a.csv --seed 5").ok();
    run(&desk, "make cosine --output b.csv --seed 5").ok();
    run(&desk, "make cosine --output c.csv --seed 6 --rows 7 --noise 0 --equidistant").ok();
    let text = desk.text("a.csv");
    assert_eq!((text.lines().next(), text.lines().count()), (Some("x,y"), 31));
    assert_eq!(text, desk.text("b.csv"));
    assert_eq!(desk.text("c.csv").lines().count(), 8);
    run(
        &desk,
        "make linear --output l.csv --rows 10 --sets 3 --features 2 --valid v.csv --valid-rows 4",
    )
    .ok();
    let text = desk.text("l.csv");
    assert_eq!((text.lines().next(), text.lines().count()), (Some("set,x1,x2,y"), 31));
    assert_eq!(desk.text("v.csv").lines().next(), Some("x1,x2,y"));
    for ending in ["parquet", "arrow"] {
        run(&desk, &format!("make cosine --output d.{ending}")).ok();
        let inspect = ["inspect".into(), desk.path(&format!("d.{ending}")).into_os_string()];
        assert_eq!(windlass_cli::run(inspect.into()), 0, "{ending}");
    }
}

#[test]
fn rcf_mnist_is_made_from_a_seed() {
    let desk = TestDir::new();
    for part in ["train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"] {
        let path = format!("fashion_mnist/{part}");
        let Some(bytes) = published(&path) else { return };
        desk.put(&format!("cache/{path}"), bytes);
    }
    run(&desk, "make rcf-mnist --output a --images 60 --sheet sheet.png").ok();
    run(&desk, "make rcf-mnist --output b --images 60").ok();
    let mut names: Vec<_> = std::fs::read_dir(desk.path("a"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names.len(), 13);
    for name in &names {
        assert_eq!(desk.get(&format!("a/{name}")), desk.get(&format!("b/{name}")), "{name}");
    }
    assert_eq!(desk.get("a/train_images.npy").len(), 128 + 40 * 3 * 28 * 28);
    let recipe: Value = serde_json::from_str(&desk.text("a/recipe.json")).unwrap();
    assert_eq!(recipe["parts"]["test"]["images"], 10);
    assert!(desk.get("sheet.png").starts_with(b"\x89PNG"));
    let again = run(&desk, "make rcf-mnist --output a --images 60");
    assert!(again.code == Some(1) && again.err.contains("already exists"), "{again:?}");
    let few = run(&desk, "make rcf-mnist --output c --images 5");
    assert!(few.code == Some(1) && few.err.contains("in [6, 60000]"), "{few:?}");
}
