//! The command line of this process, for reports and suggested commands.

use std::path::{Path, PathBuf};

use windlass_compare::describe::quoted;

use crate::terminal;

/// The first input's name without its folder.
pub(super) fn table_name(inputs: &[PathBuf]) -> String {
    let name = inputs[0].file_name().unwrap_or(inputs[0].as_os_str());
    name.to_string_lossy().into_owned()
}

/// The command line, or the one that resumes it.
pub(super) fn command(resume: Option<&Path>) -> String {
    let mut words = vec!["windlass".to_owned()];
    match resume {
        None => words.extend(typed().iter().map(|word| quoted(word))),
        Some(folder) => {
            words.extend(typed_without(&["--output", "-o", "--resume"], &[]));
            words.extend(["--resume".to_owned(), quoted(&folder.to_string_lossy())]);
        }
    }
    words.join(" ")
}

/// A command without absolute paths, for reports: they become relative to the current folder or, outside of it,
/// file names.
pub(super) fn published(command: &str) -> String {
    let folder = std::env::current_dir().unwrap_or_default();
    let words = unquoted(command).into_iter().map(|word| quoted(&published_word(&word, &folder)));
    words.collect::<Vec<_>>().join(" ")
}

/// The words of a command: the inverse of [`quoted`].
fn unquoted(command: &str) -> Vec<String> {
    let (mut words, mut inside, mut chars) = (vec![String::new()], false, command.chars());
    while let Some(c) = chars.next() {
        match c {
            '\'' => inside = !inside,
            ' ' if !inside => words.push(String::new()),
            _ => {
                let c = if c == '\\' && !inside { chars.next() } else { Some(c) };
                words.last_mut().expect("one word at least").extend(c);
            }
        }
    }
    words
}

fn published_word(word: &str, folder: &Path) -> String {
    // After `--output=`, `-o` or `matrix:`.
    let Some(at) = word.find('/').filter(|&at| Path::new(&word[at..]).is_absolute()) else {
        return word.to_owned();
    };
    let (option, path) = word.split_at(at);
    let ends = option.ends_with(['=', ':']) || option.is_empty() || option == "-o";
    if !ends {
        return word.to_owned();
    }
    let path = Path::new(path);
    let short = match path.strip_prefix(folder) {
        Ok(inside) if inside.as_os_str().is_empty() => Path::new("."),
        Ok(inside) => inside,
        Err(_) => path.file_name().map_or(path, Path::new),
    };
    format!("{option}{}", short.display())
}

/// The arguments of this process.
fn typed() -> Vec<String> {
    terminal::arguments().iter().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// The arguments quoted for a shell, without some options with a value and some flags.
pub(super) fn typed_without(valued: &[&str], flags: &[&str]) -> Vec<String> {
    without(typed(), valued, flags)
}

fn without(typed: Vec<String>, valued: &[&str], flags: &[&str]) -> Vec<String> {
    let mut kept = vec![];
    let mut words = typed.into_iter();
    while let Some(mut word) = words.next() {
        // `-q` is the only short option without a value: others may follow it in the same word.
        if let Some(rest) = word.strip_prefix("-q").filter(|rest| !rest.is_empty()) {
            let rest = format!("-{rest}");
            if !flags.contains(&"-q") {
                kept.push("-q".to_owned());
            }
            word = rest;
        }
        let joined = |option: &&str| {
            let long = option.starts_with("--");
            word.strip_prefix(option).is_some_and(|rest| !long || rest.starts_with('='))
        };
        if valued.contains(&word.as_str()) {
            words.next();
        } else if !flags.contains(&word.as_str()) && !valued.iter().any(joined) {
            kept.push(quoted(&word));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use windlass_compare::describe::quoted;

    use super::{published_word, unquoted, without};

    #[test]
    fn absolute_paths_are_not_published() {
        for (typed, published) in [
            ("/home/me/work/a/t.csv", "a/t.csv"),
            ("/data/secret/t.csv", "t.csv"),
            ("--output=/data/secret/out/", "--output=out"),
            ("-o/home/me/work/out", "-oout"),
            ("matrix:/data/m.npy", "matrix:m.npy"),
            ("/data/my file.csv", "my file.csv"),
            ("/home/me/work", "."),
            ("a/t.csv", "a/t.csv"),
            ("../t.csv", "../t.csv"),
            ("--lr", "--lr"),
            ("1/2", "1/2"),
        ] {
            assert_eq!(published_word(typed, Path::new("/home/me/work")), published);
        }
        let words = ["train", "it's a \\ file", "", "'", "a b"];
        let command = words.map(quoted).join(" ");
        assert_eq!(unquoted(&command), words);
    }

    #[test]
    fn options_are_left_out_however_they_are_typed() {
        let rest = |words: &str| -> String {
            let words = words.split(' ').map(str::to_owned).collect();
            without(words, &["--output", "-o"], &["--json"]).join(" ")
        };
        for given in ["-o out", "-oout", "--output out", "--output=out", "--json -o out"] {
            assert_eq!(rest(&format!("compare t.csv {given} -t y")), "compare t.csv -t y");
        }
        assert_eq!(rest("compare -qo out t.csv"), "compare -q t.csv");
        // Values that end like an option, or in a letter of several bytes.
        assert_eq!(rest("compare -tzoo t.csv --outputs"), "compare -tzoo t.csv --outputs");
        assert_eq!(rest("compare -tα t.csv"), "compare '-tα' t.csv");
    }
}
