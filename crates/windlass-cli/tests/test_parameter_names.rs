//! Libraries name parameters, and only the command writes them as options: `ParamName`.

use std::fs;
use std::path::Path;

const LIBRARIES: [&str; 5] =
    ["windlass", "windlass-table", "windlass-train", "windlass-model", "windlass-compare"];

fn names_the_command(line: &str) -> bool {
    let after_dashes = |(at, _): (usize, &str)| line.as_bytes().get(at + 2).copied();
    let is_option =
        line.match_indices("--").filter_map(after_dashes).any(|b| b.is_ascii_lowercase());
    is_option || line.contains("`windlass ")
}

fn search(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            search(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let source = text.split("#[cfg(test)]").next().unwrap();
            let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
            let naming = code.filter(|line| names_the_command(line));
            found.extend(naming.map(|line| format!("{}: {}", path.display(), line.trim())));
        }
    }
}

#[test]
fn libraries_do_not_name_options_of_the_command() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = vec![];
    for library in LIBRARIES {
        search(&crates.join(library).join("src"), &mut found);
    }
    assert!(found.is_empty(), "name the parameter instead:\n{}", found.join("\n"));
}
