//! Where data sets are looked for.

use std::ffi::OsString;
use std::path::PathBuf;

/// The folders that may hold data sets, first choice first: what the environment variable `WINDLASS_DATA` names,
/// `../shared/data`, and `windlass/data` in the user's cache.
#[must_use]
pub fn folders() -> Vec<PathBuf> {
    folders_by(|name| std::env::var_os(name))
}

fn folders_by(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let folder = |name| variable(name).map(PathBuf::from).filter(|f| !f.as_os_str().is_empty());
    // The XDG specification has relative paths ignored.
    let cache = folder("XDG_CACHE_HOME").filter(|cache| cache.is_absolute());
    let cache = cache.or_else(|| folder("HOME").map(|home| home.join(".cache")));
    let folders = [
        folder("WINDLASS_DATA"),
        Some("../shared/data".into()),
        cache.map(|cache| cache.join("windlass/data")),
    ];
    folders.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::folders_by;

    fn found(variables: &[(&str, &str)]) -> Vec<PathBuf> {
        folders_by(|name| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into()))
    }

    #[test]
    fn the_variable_comes_first_and_the_cache_last() {
        let all = [("WINDLASS_DATA", "/d"), ("XDG_CACHE_HOME", "/c"), ("HOME", "/h")];
        let want = ["/d", "../shared/data", "/c/windlass/data"].map(Path::new);
        assert_eq!(found(&all), want);
    }

    #[test]
    fn without_a_cache_folder_of_its_own_it_is_in_the_home() {
        let want = ["../shared/data", "/h/.cache/windlass/data"].map(Path::new);
        assert_eq!(found(&[("HOME", "/h")]), want);
        assert_eq!(found(&[("HOME", "/h"), ("XDG_CACHE_HOME", "here")]), want);
        assert_eq!(found(&[("HOME", "/h"), ("WINDLASS_DATA", "")]), want);
    }

    #[test]
    fn without_a_home_there_is_no_cache() {
        assert_eq!(found(&[]), [Path::new("../shared/data")]);
    }
}
