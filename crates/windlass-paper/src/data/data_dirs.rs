//! The directories that are searched for data sets and that they are downloaded to.

use std::ffi::OsString;
use std::path::PathBuf;

/// The directories that are searched for data sets: `WINDLASS_DATA`, then `windlass/data` in the user's cache.
#[must_use]
pub fn search_dirs() -> Vec<PathBuf> {
    data_dirs().search_dirs()
}

/// The directory that data sets are downloaded to: `WINDLASS_DATA`, or `windlass/data` in the user's cache
/// (`XDG_CACHE_HOME` or the default of the operating system).
#[must_use]
pub fn download_dir() -> Option<PathBuf> {
    data_dirs().download_dir()
}

/// The directories, by environment variables.
struct DataDirs {
    named: Option<PathBuf>,
    cached: Option<PathBuf>,
}

fn data_dirs() -> DataDirs {
    DataDirs::from_env(|name| std::env::var_os(name), std::env::consts::OS)
}

impl DataDirs {
    fn from_env(variable: impl Fn(&str) -> Option<OsString>, system: &str) -> Self {
        let folder = |name| variable(name).map(PathBuf::from).filter(|f| !f.as_os_str().is_empty());
        // The XDG specification ignores relative paths.
        let cache = folder("XDG_CACHE_HOME").filter(|cache| cache.is_absolute());
        let cache = cache.or_else(|| match system {
            "windows" => folder("LOCALAPPDATA"),
            "macos" => folder("HOME").map(|home| home.join("Library/Caches")),
            _ => folder("HOME").map(|home| home.join(".cache")),
        });
        let cached = cache.map(|cache| cache.join("windlass/data"));
        Self { named: folder("WINDLASS_DATA"), cached }
    }

    fn search_dirs(self) -> Vec<PathBuf> {
        [self.named, self.cached].into_iter().flatten().collect()
    }

    fn download_dir(self) -> Option<PathBuf> {
        self.named.or(self.cached)
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::DataDirs;

    fn places(variables: &[(&str, &str)], system: &str) -> DataDirs {
        let variable =
            |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| value.into());
        DataDirs::from_env(variable, system)
    }

    fn found(variables: &[(&str, &str)]) -> Vec<PathBuf> {
        places(variables, "linux").search_dirs()
    }

    #[test]
    fn the_variable_comes_first_and_the_cache_last() {
        let all = [("WINDLASS_DATA", "/d"), ("XDG_CACHE_HOME", "/c"), ("HOME", "/h")];
        let want = ["/d", "/c/windlass/data"].map(Path::new);
        assert_eq!(found(&all), want);
        assert_eq!(places(&all, "linux").download_dir(), Some("/d".into()));
    }

    #[test]
    fn without_a_cache_folder_of_its_own_it_is_in_the_home() {
        let want = ["/h/.cache/windlass/data"].map(Path::new);
        assert_eq!(found(&[("HOME", "/h")]), want);
        assert_eq!(found(&[("HOME", "/h"), ("XDG_CACHE_HOME", "here")]), want);
        assert_eq!(found(&[("HOME", "/h"), ("WINDLASS_DATA", "")]), want);
    }

    #[test]
    fn every_system_has_its_cache() {
        let variables = [("HOME", "/h"), ("LOCALAPPDATA", "/l")];
        let cache = |system| places(&variables, system).download_dir().unwrap();
        assert_eq!(cache("linux"), Path::new("/h/.cache/windlass/data"));
        assert_eq!(cache("macos"), Path::new("/h/Library/Caches/windlass/data"));
        assert_eq!(cache("windows"), Path::new("/l/windlass/data"));
    }

    #[test]
    fn without_a_home_there_is_no_cache() {
        assert_eq!(found(&[]), Vec::<PathBuf>::new());
        assert_eq!(places(&[], "linux").download_dir(), None);
    }
}
