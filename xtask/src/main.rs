//! Every check and every benchmark of the workspace.
//!
//! ```text
//! cargo xtask test     format, clippy, tests, doc tests, docs, benches in test mode: what CI runs
//! cargo xtask bench    the benchmarks beside their peers, written to docs/results/
//! ```

mod bench;
mod test;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask test | bench";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // Paths are those of the workspace, wherever the command is called. Cargo says at run time where that
    // is; a path compiled in would go stale when one target folder serves several clones.
    if let Some(package) = std::env::var_os("CARGO_MANIFEST_DIR") {
        let root = std::path::Path::new(&package).join("..");
        if let Err(error) = std::env::set_current_dir(&root) {
            eprintln!("error: cannot enter {}: {error}", root.display());
            return ExitCode::FAILURE;
        }
    }
    let result = match words[..] {
        ["test"] => test::run(),
        ["bench"] => bench::run(),
        _ => Err(anyhow::anyhow!("{USAGE}")),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
