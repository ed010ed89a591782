//! The structure of the workspace: crates depend downward, and modules of a crate have no import cycles.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::bench::{cargo, run_command};

/// The crates from the top to the core. A crate may depend only on later ones.
const CRATES: [&str; 10] = [
    "windlass-python",
    "windlass-paper",
    "windlass-cli",
    "windlass-studio",
    "windlass-compare",
    "windlass-model",
    "windlass-train",
    "windlass-table",
    "windlass-plot",
    "windlass",
];

/// Returns an error for a dependency that points upward or an import cycle.
pub(crate) fn check() -> Result<()> {
    let mut faults = upward_dependencies()?;
    let mut folders: Vec<PathBuf> = fs::read_dir("crates")?
        .map(|entry| Ok(entry?.path().join("src")))
        .collect::<Result<_>>()?;
    folders.push("python/src".into());
    folders.sort();
    for folder in folders {
        let modules = Modules::read(&folder)?;
        let cycle = modules.cycle();
        faults.extend(cycle.map(|cycle| format!("{}: {cycle}", folder.display())));
    }
    if faults.is_empty() {
        return Ok(());
    }
    bail!("{}", faults.join("\n"))
}

fn upward_dependencies() -> Result<Vec<String>> {
    let text = run_command(cargo().args(["metadata", "--format-version", "1", "--no-deps"]))?;
    let metadata: Value = serde_json::from_str(&text)?;
    let packages = metadata["packages"].as_array().context("cargo lists no packages")?;
    let mut faults = vec![];
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let Some(place) = CRATES.iter().position(|known| *known == name) else {
            if name != "xtask" {
                faults.push(format!("{name} has no place in the order of crates"));
            }
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            // Tests may use any crate.
            let used = dependency["name"].as_str().filter(|_| dependency["kind"].is_null());
            let upward = CRATES[..=place].iter().find(|known| Some(**known) == used);
            if let Some(used) = upward {
                faults.push(format!("{name} depends on {used}, which is above it"));
            }
        }
    }
    Ok(faults)
}

/// The path of a module below its crate: `["fit", "driver"]`; the root is empty.
type ModulePath = Vec<String>;

/// The modules of a crate and which of them each imports.
#[derive(Default)]
struct Modules {
    /// The paths that each module imports, each relative to the root.
    imports: BTreeMap<ModulePath, Vec<ModulePath>>,
    /// Re-exports of a module.
    reexports: BTreeMap<ModulePath, ModulePath>,
}

impl Modules {
    fn read(folder: &Path) -> Result<Self> {
        let mut modules = Self::default();
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(&next)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "rs") {
                    let relative = path.strip_prefix(folder)?.with_extension("");
                    let mut module: ModulePath =
                        relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
                    if module.last().is_some_and(|last| last == "mod" || last == "lib") {
                        module.pop();
                    }
                    modules.add(module, &fs::read_to_string(&path)?);
                }
            }
        }
        Ok(modules)
    }

    fn add(&mut self, module: ModulePath, text: &str) {
        let text = code(text);
        let mut imports = vec![];
        for (path, passed_on) in paths(&text) {
            if let Some(target) = absolute(&module, &path) {
                if passed_on && let Some(name) = path.last() {
                    let mut own = module.clone();
                    own.push(name.clone());
                    self.reexports.insert(own, target.clone());
                }
                // Imports from own children do not count.
                if matches!(path[0].as_str(), "crate" | "super") {
                    imports.push(target);
                }
            }
        }
        self.imports.insert(module, imports);
    }

    /// The module that a path leads to, through re-exports.
    fn module_of(&self, path: &[String]) -> ModulePath {
        let mut path = path.to_vec();
        for _ in 0..8 {
            let known = (0..=path.len()).rev().find(|&end| self.imports.contains_key(&path[..end]));
            let end = known.unwrap_or(0);
            match path.get(..=end).and_then(|name| self.reexports.get(name)) {
                Some(target) if target != &path => {
                    path = target.iter().chain(&path[end + 1..]).cloned().collect();
                }
                _ => return path[..end].to_vec(),
            }
        }
        vec![]
    }

    /// An import cycle, if any. The root module does not count.
    fn cycle(&self) -> Option<String> {
        let edges: BTreeMap<&ModulePath, BTreeSet<ModulePath>> = self
            .imports
            .iter()
            .map(|(module, paths)| {
                let targets = paths.iter().map(|path| self.module_of(path));
                (module, targets.filter(|target| target != module && !target.is_empty()).collect())
            })
            .collect();
        edges.keys().filter(|module| !module.is_empty()).find_map(|start| {
            let mut way = vec![(*start).clone()];
            let mut seen = BTreeSet::new();
            walk(start, start, &edges, &mut seen, &mut way).then(|| {
                let names: Vec<String> = way.iter().map(|module| module.join("::")).collect();
                format!("modules import each other: {}", names.join(" -> "))
            })
        })
    }
}

/// Whether `module` leads back to `start`; `way` is then the path.
fn walk(
    start: &ModulePath,
    module: &ModulePath,
    edges: &BTreeMap<&ModulePath, BTreeSet<ModulePath>>,
    seen: &mut BTreeSet<ModulePath>,
    way: &mut Vec<ModulePath>,
) -> bool {
    for next in edges.get(module).into_iter().flatten() {
        way.push(next.clone());
        if next == start || (seen.insert(next.clone()) && walk(start, next, edges, seen, way)) {
            return true;
        }
        way.pop();
    }
    false
}

/// The text without comments, strings and tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    let mut out = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or(line);
        // Single-line strings are enough: longer ones contain no paths.
        out.extend(line.split('"').step_by(2));
        out.push('\n');
    }
    out
}

/// Every path that begins with `crate`, `super` or `self` or that a `pub use` names, and whether it is passed on.
fn paths(code: &str) -> Vec<(ModulePath, bool)> {
    let mut found = vec![];
    let mut rest = code;
    while let Some(start) = rest.find("use ") {
        let head = &rest[..start];
        let is_word = head.chars().last().is_some_and(|c| c.is_alphanumeric() || c == '_');
        let after = &rest[start + 4..];
        let Some(end) = after.find(';').filter(|_| !is_word) else {
            rest = after;
            continue;
        };
        let line = head.rsplit('\n').next().unwrap_or_default().trim();
        expand(&[], &after[..end], line.starts_with("pub"), &mut found);
        rest = &after[end..];
    }
    let is_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    for word in code.split(|c| !is_path(c)) {
        if word.starts_with("crate::") || word.starts_with("super::") {
            found.push((segments(word), false));
        }
    }
    let local = |(path, passed_on): &(ModulePath, bool)| {
        let first = path.first().map(String::as_str);
        matches!(first, Some("crate" | "super" | "self")) || (*passed_on && path.len() > 1)
    };
    found.retain(local);
    found
}

fn segments(path: &str) -> ModulePath {
    path.split("::").map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// Adds the paths of a `use` tree such as `a::{b, c::{self, d as e}}`.
fn expand(prefix: &[String], tree: &str, passed_on: bool, found: &mut Vec<(ModulePath, bool)>) {
    let (mut depth, mut start) = (0, 0);
    let mut parts = vec![];
    for (place, c) in tree.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&tree[start..place]);
                start = place + 1;
            }
            _ => {}
        }
    }
    parts.push(&tree[start..]);
    for part in parts.into_iter().map(str::trim).filter(|part| !part.is_empty()) {
        let mut path = prefix.to_vec();
        if let Some((head, inner)) = part.split_once('{') {
            path.extend(segments(head));
            expand(&path, inner.strip_suffix('}').unwrap_or(inner), passed_on, found);
        } else {
            let name = part.split(" as ").next().unwrap_or(part);
            path.extend(segments(name));
            if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
                path.pop();
            }
            found.push((path, passed_on));
        }
    }
}

/// A path as it is seen from the root of the crate; none for a path into another crate.
fn absolute(module: &[String], path: &[String]) -> Option<ModulePath> {
    let (first, rest) = path.split_first()?;
    Some(match first.as_str() {
        "crate" => rest.to_vec(),
        "self" => [module, rest].concat(),
        "super" => {
            let ups = path.iter().take_while(|part| *part == "super").count();
            let above = module.len().checked_sub(ups)?;
            [&module[..above], &path[ups..]].concat()
        }
        // A re-export of a child.
        _ => [module, path].concat(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modules(files: &[(&str, &str)]) -> Modules {
        let mut modules = Modules::default();
        for (path, text) in files {
            modules.add(segments(path), text);
        }
        modules
    }

    #[test]
    fn an_import_cycle_is_named() {
        let files = [
            ("", "pub use a::A; mod a; mod b;"),
            ("a", "use crate::b::{self, B}; pub struct A;"),
            ("b", "fn f() -> crate::A { todo!() } pub struct B;"),
        ];
        let cycle = modules(&files).cycle().unwrap();
        assert_eq!(cycle, "modules import each other: a -> b -> a");
    }

    #[test]
    fn a_tree_has_no_import_cycle() {
        let files = [
            ("", "pub use method::*; mod method; mod data;"),
            ("method", "mod ada; pub use ada::Ada; use crate::data::Data; pub trait Method {}"),
            ("method::ada", "use super::Method; // use crate::method::ada\nlet s = \"crate::x\";"),
            ("data", "pub struct Data;\n#[cfg(test)]\nmod tests { use crate::method::Ada; }"),
        ];
        assert_eq!(modules(&files).cycle(), None);
    }
}
